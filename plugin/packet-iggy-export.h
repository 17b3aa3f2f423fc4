/* packet-iggy-export.h
 * Messages for the taps: File > Export Objects > Iggy, `--export-objects iggy,DIR`, and the statistics of messages.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_EXPORT_H
#define PACKET_IGGY_EXPORT_H

#include "packet-iggy-layout.h"

/* One message of a frame, in packet scope. */
typedef struct iggy_message {
    struct iggy_message *next;     /* set by iggy_export_message() */
    tvbuff_t   *payload;           /* its bytes, clear if they could be decrypted; as many as the capture has */
    const char *content_type;      /* of the user headers; NULL: none */
    uint64_t    partition;         /* valid if has_partition */
    uint64_t    offset;            /* valid if has_offset: base_offset + offset_delta */
    uint32_t    length;            /* bytes of the payload on the wire */
    bool        has_partition;     /* false in requests: the batch header's partition_id means nothing there */
    bool        has_offset;        /* false in requests: the server has not given it one */
} iggy_message_t;

/* All messages of one frame; what the tap "iggy_eo" gets, once a frame, since its queue holds 5000 entries a packet. */
typedef struct iggy_messages {
    iggy_pdu_t     *pdu;
    iggy_message_t *first, *last;
} iggy_messages_t;

/** Whether anybody listens: batches are then walked to their messages, also without a tree. */
bool iggy_export_wanted(void);

/**
 * Hand one message of `pdu` to the taps, in the order of the frame. The message is copied; its payload must live as long as the
 * packet. Does nothing when nobody listens. The frame's facts (stream, topic) are read later, after the whole frame.
 */
void iggy_export_message(iggy_pdu_t *pdu, const iggy_message_t *message);

/**
 * What the user headers say that the payload is: the text of the header content-type (also content_type, contentType; any case),
 * in packet scope; NULL if there is none. Encrypted headers are opened if a key fits.
 * @param offset, length the user headers in walk->tvb, all of them captured
 */
const char *iggy_content_type(iggy_walk_t *walk, int offset, int length);

void iggy_register_export(int proto);

#endif
