/* packet-iggy-learnt.h
 * Generated items of what a frame is about but does not carry: names behind ids, objects of the request in its reply.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_LEARNT_H
#define PACKET_IGGY_LEARNT_H

#include "packet-iggy.h"

/** After iggy_conversation_after_body(): an item for each fact of the request that it answers (has = 3). */
void iggy_learnt_show(iggy_pdu_t *pdu, proto_tree *tree);

#endif
