/* packet-iggy-wanted.h
 * Who looks? Work is done only where somebody does.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_WANTED_H
#define PACKET_IGGY_WANTED_H

#include "packet-iggy-compat.h"

/** Whether expert items are listened to, or all of them are filtered for. */
bool iggy_experts_wanted(void);

/** Whether the tree is visible, one of `count` fields is referenced, or expert items are wanted: their tap works
 * without a tree. */
bool iggy_wanted(proto_tree *tree, const int *const *fields, unsigned count);

/** The same for all fields and expert items whose numbers are from `first` to `last`. */
bool iggy_range_wanted(proto_tree *tree, int first, int last);

#endif
