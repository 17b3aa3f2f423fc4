/* packet-iggy-lookup.h
 * The conversation of a packet.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_LOOKUP_H
#define PACKET_IGGY_LOOKUP_H

#include "packet-iggy-compat.h"

#include <epan/conversation.h>

/** As find_or_create_conversation(), which hashes addresses and ports of each packet, often twice. Never NULL. */
conversation_t *iggy_conversation_of(packet_info *pinfo);

void iggy_register_lookup(void);

#endif
