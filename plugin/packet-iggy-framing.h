/* packet-iggy-framing.h
 * Carriers hand their bytes over here; frames are cut out of them and shown.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_FRAMING_H
#define PACKET_IGGY_FRAMING_H

#include <epan/conversation.h>
#include <epan/prefs.h>

#include "packet-iggy-stream.h"

/* How a carrier hands over a piece of a byte stream. `piece` has position, direction, start, one_segment, sender and trust. */
typedef struct {
    conversation_t *conversation; /* keeps the stream */
    int             key;          /* the protocol number under which it is kept: one for each layer that carries frames */
    iggy_piece_t    piece;
} iggy_handover_t;

/**
 * Find the frames of a piece of a byte stream and show them; asks through pinfo->desegment_* where pinfo->can_desegment lets it.
 * @return bytes of the tvb if something of it was ours (or more is asked for), 0 if nothing was: then nothing is asked for
 */
int iggy_dissect_piece(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, iggy_handover_t *handover);

/** Direction of a packet in its conversation, the same for all packets of one sender: 0 or 1. */
uint8_t iggy_direction(const packet_info *pinfo);

/** Who sends, by the ports that are ours: known only if one of the two is. */
iggy_sender_t iggy_sender_by_port(const packet_info *pinfo);

/** One frame that a carrier has cut out; what goes wrong in it does not take those behind it along. */
void iggy_show_frame(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, const iggy_place_t *place);

/** Short name of the heuristic of TCP. */
#define IGGY_TCP_HEURISTIC "iggy_tcp"

/**
 * A dissector of TCP segments that takes what the heuristic would take: for ports that belong to others.
 * @param data struct tcpinfo, as TCP gives it
 * @return bytes taken, 0 if nothing is Iggy's
 */
int iggy_tcp_as_heuristic(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data);

/** Whether the heuristic has recognised another connection with one of the two ends of this packet as its server. */
bool iggy_is_known_server(const packet_info *pinfo);

/** The preference: largest size of a frame. */
uint32_t iggy_maximum_frame_size(void);

void iggy_register_framing(int proto, module_t *preferences);
void iggy_handoff_framing(void);

#endif
