/* packet-iggy-connection.h
 * The state of one connection and the record of one frame; for the rooms that keep state there: conversation, names, sessions.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_CONNECTION_H
#define PACKET_IGGY_CONNECTION_H

#include "packet-iggy-pairs.h"

/* The records of one direction in the order of the capture, in blocks: small ones first. */
typedef struct {
    iggy_frame_t **blocks;
    unsigned       blocks_room, count;
    unsigned       cursor;         /* index of the record that was asked for last */
    unsigned       last_packet_at; /* index of the first record of the last packet */
    uint32_t       last_packet_top; /* the highest position of its frames */
} iggy_records_t;

/* Who talks on the connection from a frame on. */
typedef struct {
    uint64_t       since; /* iggy_conversation_order() */
    iggy_client_t *client;
} iggy_speaker_t;

struct iggy_names_view;
struct iggy_ends;
struct iggy_repeats;

struct iggy_conversation {
    iggy_records_t  records[2];
    iggy_versions_t versions;
    iggy_pairs_t    pairs;
    iggy_speaker_t *speakers;
    unsigned        speakers_count, speakers_room;
    uint32_t        last_packet;
    uint16_t        last_ordinal;
    struct iggy_names_view *names; /* of the room of names */
    struct iggy_repeats *repeats;  /* of the room of repeats */
    struct iggy_ends *ends;        /* of the room of links: who the two ends are, on the replica plane */
};

/** The client of the last request at or before this frame, NULL if there is none. */
iggy_client_t *iggy_conversation_client(const iggy_pdu_t *pdu);

#endif
