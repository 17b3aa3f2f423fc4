/* packet-iggy-legacy.h
 * Connections of the generation before 0.9, which spoke another protocol on the same port.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_LEGACY_H
#define PACKET_IGGY_LEGACY_H

#include "packet-iggy.h"

struct tcpinfo;

/**
 * The first bytes of a connection whose SYN was seen, from the client, on a port that is Iggy's, where they are no frame of
 * today's protocol. If they are an older client's login (or the ping that some send before it) the connection is taken over from
 * this packet on.
 * @param tcp what TCP hands to its dissectors
 * @return as a dissector of TCP does; 0: not ours
 */
int iggy_legacy_begin(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, const struct tcpinfo *tcp);

void iggy_register_legacy(void);

#endif
