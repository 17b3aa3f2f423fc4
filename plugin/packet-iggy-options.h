/* packet-iggy-options.h
 * Typed key/value lists: options and user headers (encodings.md 9 and 10). The rows stand in packet-iggy-fields.h.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_OPTIONS_H
#define PACKET_IGGY_OPTIONS_H

#include "packet-iggy-layout.h"

/* Kinds of keys and values. */
typedef enum {
    IGGY_VALUE_RAW = 1,
    IGGY_VALUE_STRING = 2,
    IGGY_VALUE_BOOL = 3,
    IGGY_VALUE_INT8 = 4,
    IGGY_VALUE_INT16 = 5,
    IGGY_VALUE_INT32 = 6,
    IGGY_VALUE_INT64 = 7,
    IGGY_VALUE_INT128 = 8,
    IGGY_VALUE_UINT8 = 9,
    IGGY_VALUE_UINT16 = 10,
    IGGY_VALUE_UINT32 = 11,
    IGGY_VALUE_UINT64 = 12,
    IGGY_VALUE_UINT128 = 13,
    IGGY_VALUE_FLOAT32 = 14,
    IGGY_VALUE_FLOAT64 = 15
} iggy_value_kind_t;

extern const value_string iggy_value_kind_vals[];

/* What the bytes of a typed value mean. */
typedef enum { IGGY_TYPED_BYTES, IGGY_TYPED_TEXT, IGGY_TYPED_BOOL, IGGY_TYPED_INT, IGGY_TYPED_UINT, IGGY_TYPED_FLOAT,
               IGGY_TYPED_WIDE } iggy_typed_form_t;

typedef struct {
    iggy_typed_form_t form; /* BYTES: raw, an unknown kind, or a length that does not go with the kind */
    bool        mismatch;   /* the kind is known and the length is not its own */
    const char *text;       /* always: how the value reads; in the pool */
    int64_t     integer;    /* INT */
    uint64_t    number;     /* UINT, BOOL */
    double      real;       /* FLOAT */
} iggy_typed_t;

/** Read a value of `kind` in `length` bytes at `offset`, which must be captured. */
iggy_typed_t iggy_typed_value(wmem_allocator_t *pool, tvbuff_t *tvb, int offset, int length, uint8_t kind);

/** 16 bytes, least significant first, as a decimal number. */
const char *iggy_decimal128(wmem_allocator_t *pool, tvbuff_t *tvb, int offset, bool is_signed);

/* of lists of options, and of the server's descriptions of options */
extern int hf_iggy_option_key, hf_iggy_option_key_length, hf_iggy_option_value_kind, hf_iggy_option_value_length;

/** For rows: the default value of a described option, its kind in IGGY_REG_VALUE_KIND, its length in IGGY_REG_VALUE_LENGTH. */
int iggy_option_default(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset);

/**
 * For rows, before the list of keys to reset, their count in IGGY_REG_COUNT: a warning where one stands there twice, or in the
 * list of options behind it, too. Reads ahead and consumes nothing.
 */
int iggy_check_reset_keys(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset);

/** Whether somebody looks at user headers. */
bool iggy_user_headers_wanted(proto_tree *tree);

void iggy_register_options(int proto);

#endif
