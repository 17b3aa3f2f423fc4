/* packet-iggy-headers-rows.h
 * What the files of header layouts share among themselves.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_HEADERS_ROWS_H
#define PACKET_IGGY_HEADERS_ROWS_H

#include "packet-iggy-fields.h"
#include "packet-iggy-headers.h"

extern const iggy_row_t iggy_rows_common[];   /* bytes 0..61 */

/* Bytes 0..127; STRICT where the receiver rejects a frame whose bytes 62..127 are not zero. */
#define IGGY_COMMON        IGGY_ROWS(iggy_rows_common), IGGY_RESERVED(66)
#define IGGY_COMMON_STRICT IGGY_ROWS(iggy_rows_common), IGGY_RESERVED(66, .flags = IGGY_ENFORCED)

#define IGGY_GROUP(...) \
    IGGY_CALL(iggy_call_group, .size = 8, .hf = &hf_iggy_consensus_group, .fact = IGGY_FACT_GROUP, __VA_ARGS__)

/** As iggy_call_group(), for a field that is 0 where the frame is about no group. */
int iggy_call_group_unless_0(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset);

/** Rows of the headers 6, 7, 9..12, 14..36; NULL for others. */
const iggy_row_t *iggy_replica_header_rows(uint8_t command);

void iggy_register_headers_replica(int proto);
void iggy_register_checks(int proto);

#endif
