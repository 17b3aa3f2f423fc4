/* packet-iggy-time.h
 * Points in time.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_TIME_H
#define PACKET_IGGY_TIME_H

#include "packet-iggy-compat.h"

/** Microseconds since the epoch as Wireshark has times. */
nstime_t iggy_time_of(uint64_t microseconds);

/** proto_tree_add_time() of an FT_ABSOLUTE_TIME in UTC. */
proto_item *iggy_add_time(proto_tree *tree, int hf, tvbuff_t *tvb, int offset, int length, nstime_t *when);

void iggy_register_time(void);

#endif
