/* packet-iggy-checksum.h
 * Checksums: XXH3-64 of frames, prepares, bodies, batches and messages, shown with Wireshark's status values.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_CHECKSUM_H
#define PACKET_IGGY_CHECKSUM_H

#include "packet-iggy-layout.h"

/* The fields of one kind of checksum. */
typedef struct {
    const int    *hf;        /* the stored value: FT_UINT64 (8 bytes), or FT_BYTES of 16 bytes, zero-extended */
    const int    *hf_status; /* FT_UINT8, VALS(proto_checksum_vals) */
    expert_field *ei_bad;
} iggy_checksum_fields_t;

/* What a verification found. */
typedef struct {
    uint8_t  status;   /* PROTO_CHECKSUM_E_BAD, _GOOD, _UNVERIFIED, _NOT_PRESENT */
    uint64_t computed; /* of GOOD and BAD */
} iggy_checksum_t;

/**
 * XXH3-64, seed 0, of bytes of the tvb.
 * @return false (and `hash` is left alone) if not all of them are captured; length 0 is the hash of nothing
 */
bool iggy_hash64(tvbuff_t *tvb, int offset, int length, uint64_t *hash);

/** Whether anybody looks: the preference is on, and the tree is visible or one of the fields or an expert item is asked for. */
bool iggy_checksum_wanted(proto_tree *tree, const iggy_checksum_fields_t *fields);

/** GOOD or BAD; the verdict on a value that was computed. */
iggy_checksum_t iggy_checksum_compare(uint64_t stored, uint64_t computed);
/** Not computed (cut short by the capture, or nobody looks), or not there. */
iggy_checksum_t iggy_checksum_unverified(void);
iggy_checksum_t iggy_checksum_not_present(void);

/**
 * Add the 8-byte checksum at `offset` and its generated status; a bad one gets the expert item.
 * Never computes: callers hash only when iggy_checksum_wanted() says so, else pass iggy_checksum_unverified().
 * @return the checksum's item
 */
proto_item *iggy_add_checksum64(iggy_pdu_t *pdu, proto_tree *tree, tvbuff_t *tvb, int offset,
                                const iggy_checksum_fields_t *fields, iggy_checksum_t sum);

/** As iggy_add_checksum64(), for 16 bytes of the frame: a 64-bit hash, zero-extended. */
proto_item *iggy_add_checksum128(iggy_pdu_t *pdu, proto_tree *tree, int offset, const iggy_checksum_fields_t *fields,
                                 iggy_checksum_t sum);

/**
 * The identity of the prepare whose 256-byte header stands at `offset` (also of a suffix entry or a repair_prepare).
 * @return false if not all of the header is captured
 */
bool iggy_prepare_identity(tvbuff_t *tvb, int offset, uint64_t *hash);

/* Calls of header rows, 16 bytes each: the item, its status, and what is wrong with it. */
int iggy_call_checksum(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset);
int iggy_call_checksum_body(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset);
int iggy_call_request_checksum(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset);

extern int hf_iggy_request_checksum; /* FT_BYTES */

void iggy_register_checksum(int proto);

#endif
