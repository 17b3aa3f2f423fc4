/* packet-iggy-payload.h
 * Payloads of messages: bytes, text, or what another dissector makes of them.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_PAYLOAD_H
#define PACKET_IGGY_PAYLOAD_H

#include "packet-iggy-layout.h"

/**
 * Show the payload of a message and hand it to another dissector if there is one for it. Nothing for 0 bytes.
 * @param offset, length the payload in walk->tvb, all of it captured
 * @param content_type   what the user headers say that it is, NULL if they do not
 */
void iggy_show_payload(iggy_walk_t *walk, proto_tree *tree, int offset, int length, const char *content_type);

/** Whether somebody looks at what other dissectors make of payloads. */
bool iggy_payload_wanted(proto_tree *tree);

void iggy_register_payload(int proto);
void iggy_handoff_payload(void);

#endif
