/* packet-iggy-limits.h
 * Limits of values, and which command belongs to which version: what a server refuses though the layout fits; and what it
 * means that a reply is empty.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_LIMITS_H
#define PACKET_IGGY_LIMITS_H

#include "packet-iggy-layout.h"

extern int hf_iggy_empty_reply; /* iggy_show_empty_reply() */

/** For rows, by IGGY_RANGE: a warning where the register is not within row->min..row->is. Reads and consumes nothing. */
int iggy_check_range(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset);

/* The value of `field`, just put into `reg`, must be from `low` (16 bits) to `high` (32 bits). */
#define IGGY_RANGE(reg, field, low, high) \
    { .kind = IGGY_ROW_CALL, .call = iggy_check_range, .hf = &(field), .count = (reg), .min = (low), .is = (high), \
      .flags = IGGY_ASIDE }

/** A warning of the same kind at these bytes; `why` is a whole sentence. */
void iggy_warn_range(iggy_walk_t *walk, proto_tree *tree, int offset, int length, const char *why);

#define IGGY_NO_LIMIT 0xffffffffu

/** A warning where a request's code is not in the connection's version, or is one that servers refuse always. */
void iggy_check_code(iggy_pdu_t *pdu);

/** What an empty reply without an error means, generated: that there is no such object, or none at all. */
void iggy_show_empty_reply(iggy_pdu_t *pdu);

void iggy_register_limits(int proto);

#endif
