/* packet-iggy-item.h
 * How the value of a row is shown.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_ITEM_H
#define PACKET_IGGY_ITEM_H

#include "packet-iggy-layout.h"

extern iggy_bool iggy_hide_secrets; /* preference: passwords, tokens and keys are not shown */

/** Bytes that are not to be seen: zeros of the same length, "[hidden]". `length` is captured. */
proto_item *iggy_add_hidden(packet_info *pinfo, proto_tree *tree, int hf, tvbuff_t *tvb, int offset, int length);

/**
 * Add bytes that nobody reads. What they are is not known, so a secret may be among them: the preference that hides secrets
 * hides them, too. `hf` is FT_BYTES; `offset` and `length` are captured.
 */
proto_item *iggy_add_unread(packet_info *pinfo, proto_tree *tree, int hf, tvbuff_t *tvb, int offset, int length);

/** The note that goes with a row that is a secret; none else. */
void iggy_note_secret(iggy_walk_t *walk, const iggy_row_t *row, proto_item *item);

/**
 * Add the item of an IGGY_ROW_ITEM, all of whose bytes are captured.
 * @param value the number that its first 8 bytes are
 * @return NULL where it stands for something else than a value, or is hidden
 */
proto_item *iggy_show_item(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset, uint64_t value);

void iggy_register_item(void);

#endif
