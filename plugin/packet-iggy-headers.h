/* packet-iggy-headers.h
 * The 256-byte headers of all commands as rows (framing.md 3), the result section (framing.md 5), and what receivers test.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_HEADERS_H
#define PACKET_IGGY_HEADERS_H

#include "packet-iggy-layout.h"

extern int hf_iggy_size, hf_iggy_command;
extern int hf_iggy_code;   /* FT_UINT32: in a request with operation 2 an item of the header, elsewhere generated */
extern int hf_iggy_status; /* of a reply, also when 0 */

/** Rows of the whole header, bytes 0..255, of a command; unknown ones have their last 128 bytes as one item. Never NULL. */
const iggy_row_t *iggy_header_rows(uint8_t command);

/** Whether a field that the rows of a header show is looked for: checksums, reserved bytes and expert items left aside. */
bool iggy_header_wanted(proto_tree *tree, uint8_t command);

/** The same for facts alone, whatever the version. */
const iggy_step_t *iggy_header_steps(uint8_t command);
/** The same for a filter's tree, of a version that is known: what rows show, as iggy_steps_shown() has it. */
const iggy_step_t *iggy_header_steps_shown(uint8_t command, uint8_t version);

/** Result section of a reply (encodings.md 16): count, entries; IGGY_FACT_RESULT, 0 when there is no entry. */
extern const iggy_row_t iggy_rows_result_section[];

/** Expert items for every test of a receiver (framing.md 3) that the frame fails; needs the header's facts. */
void iggy_check_header(iggy_pdu_t *pdu, proto_tree *tree);

/** IGGY_CALL for a version of the protocol (4 bytes, packed) under row->hf; one without a name is spelt out. Fact: row->fact. */
int iggy_call_version(struct iggy_walk *walk, const struct iggy_row *row, proto_tree *tree, int offset);

/** A consensus group that names a partition (replica.md 2): below 2^52. */
#define IGGY_GROUP_METADATA (UINT64_C(1) << 63)
static inline bool iggy_group_is_partition(uint64_t group) { return group < (UINT64_C(1) << 52); }
static inline uint32_t iggy_group_stream(uint64_t group) { return (uint32_t)(group >> 32) & 0xfffff; }
static inline uint32_t iggy_group_topic(uint64_t group) { return (uint32_t)(group >> 20) & 0xfff; }
static inline uint32_t iggy_group_partition(uint64_t group) { return (uint32_t)group & 0xfffff; }

/**
 * IGGY_CALL for a consensus group (8 bytes): the number under row->hf, stream, topic and partition taken apart as generated
 * items below it. Facts: row->fact, and when that is IGGY_FACT_GROUP the ids too.
 */
int iggy_call_group(struct iggy_walk *walk, const struct iggy_row *row, proto_tree *tree, int offset);

/** Calls registration of fields and expert items; also those of the replica headers and of the tests. */
void iggy_register_headers(int proto);

#endif
