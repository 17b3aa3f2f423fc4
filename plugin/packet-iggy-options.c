/* packet-iggy-options.c
 * Typed key/value lists: options and user headers (encodings.md 9 and 10).
 *
 * An entry is shown as a line "key = value"; its value stands there as text whatever its kind, and beside it as a number,
 * a float or bytes over the same bytes, so that filters can compare.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-options.h"

#include <stdlib.h>
#include <string.h>

#include "packet-iggy-fields.h"
#include "packet-iggy-item.h"
#include "packet-iggy-limits.h"
#include "packet-iggy-shown.h"
#include "packet-iggy-wanted.h"

#define OPTIONS_MAX 1024    /* entries of an options list */
#define ENTRY_MIN 12        /* bytes of the smallest entry */
#define KEY_OR_VALUE_MAX 255u

static int hf_iggy_option = IGGY_UNREGISTERED;
static int hf_iggy_option_explicit = IGGY_UNREGISTERED;
static int hf_iggy_option_explicit_length = IGGY_UNREGISTERED;
static int hf_iggy_option_derived = IGGY_UNREGISTERED;
static int hf_iggy_option_derived_length = IGGY_UNREGISTERED;
int hf_iggy_option_key = IGGY_UNREGISTERED;
static int hf_iggy_option_key_kind = IGGY_UNREGISTERED;
int hf_iggy_option_key_length = IGGY_UNREGISTERED;
static int hf_iggy_option_value = IGGY_UNREGISTERED;
int hf_iggy_option_value_kind = IGGY_UNREGISTERED;
int hf_iggy_option_value_length = IGGY_UNREGISTERED;
static int hf_iggy_option_value_int = IGGY_UNREGISTERED;
static int hf_iggy_option_value_uint = IGGY_UNREGISTERED;
static int hf_iggy_option_value_float = IGGY_UNREGISTERED;
static int hf_iggy_option_value_bytes = IGGY_UNREGISTERED;

static int hf_iggy_message_header = IGGY_UNREGISTERED;
static int hf_iggy_message_header_key = IGGY_UNREGISTERED;
static int hf_iggy_message_header_key_kind = IGGY_UNREGISTERED;
static int hf_iggy_message_header_key_length = IGGY_UNREGISTERED;
static int hf_iggy_message_header_value = IGGY_UNREGISTERED;
static int hf_iggy_message_header_value_kind = IGGY_UNREGISTERED;
static int hf_iggy_message_header_value_length = IGGY_UNREGISTERED;
static int hf_iggy_message_header_value_int = IGGY_UNREGISTERED;
static int hf_iggy_message_header_value_uint = IGGY_UNREGISTERED;
static int hf_iggy_message_header_value_float = IGGY_UNREGISTERED;
static int hf_iggy_message_header_value_bytes = IGGY_UNREGISTERED;

static int ett_iggy_option = IGGY_UNREGISTERED;
static int ett_iggy_option_explicit = IGGY_UNREGISTERED;
static int ett_iggy_option_derived = IGGY_UNREGISTERED;
static int ett_iggy_message_header = IGGY_UNREGISTERED;

static expert_field ei_iggy_option_duplicate = EI_INIT;
static expert_field ei_iggy_option_key_kind = EI_INIT;
static expert_field ei_iggy_value_length = EI_INIT;

const value_string iggy_value_kind_vals[] = {
    { IGGY_VALUE_RAW, "raw" },
    { IGGY_VALUE_STRING, "string" },
    { IGGY_VALUE_BOOL, "bool" },
    { IGGY_VALUE_INT8, "int8" },
    { IGGY_VALUE_INT16, "int16" },
    { IGGY_VALUE_INT32, "int32" },
    { IGGY_VALUE_INT64, "int64" },
    { IGGY_VALUE_INT128, "int128" },
    { IGGY_VALUE_UINT8, "uint8" },
    { IGGY_VALUE_UINT16, "uint16" },
    { IGGY_VALUE_UINT32, "uint32" },
    { IGGY_VALUE_UINT64, "uint64" },
    { IGGY_VALUE_UINT128, "uint128" },
    { IGGY_VALUE_FLOAT32, "float32" },
    { IGGY_VALUE_FLOAT64, "float64" },
    { 0, NULL }
};

/* ---- typed values ---- */

/* What a kind is made of; length 0: any. */
static const struct {
    uint8_t length;
    uint8_t form; /* iggy_typed_form_t */
} kinds[] = {
    [IGGY_VALUE_RAW] = { 0, IGGY_TYPED_BYTES },     [IGGY_VALUE_STRING] = { 0, IGGY_TYPED_TEXT },
    [IGGY_VALUE_BOOL] = { 1, IGGY_TYPED_BOOL },     [IGGY_VALUE_INT8] = { 1, IGGY_TYPED_INT },
    [IGGY_VALUE_INT16] = { 2, IGGY_TYPED_INT },     [IGGY_VALUE_INT32] = { 4, IGGY_TYPED_INT },
    [IGGY_VALUE_INT64] = { 8, IGGY_TYPED_INT },     [IGGY_VALUE_INT128] = { 16, IGGY_TYPED_WIDE },
    [IGGY_VALUE_UINT8] = { 1, IGGY_TYPED_UINT },    [IGGY_VALUE_UINT16] = { 2, IGGY_TYPED_UINT },
    [IGGY_VALUE_UINT32] = { 4, IGGY_TYPED_UINT },   [IGGY_VALUE_UINT64] = { 8, IGGY_TYPED_UINT },
    [IGGY_VALUE_UINT128] = { 16, IGGY_TYPED_WIDE }, [IGGY_VALUE_FLOAT32] = { 4, IGGY_TYPED_FLOAT },
    [IGGY_VALUE_FLOAT64] = { 8, IGGY_TYPED_FLOAT },
};

const char *iggy_decimal128(wmem_allocator_t *pool, tvbuff_t *tvb, int offset, bool is_signed)
{
    uint32_t limbs[4];
    for (int i = 0; i < 4; i++)
        limbs[i] = tvb_get_letohl(tvb, offset + 4 * i);
    bool negative = is_signed && (limbs[3] & 0x80000000u);
    uint64_t carry = 1;
    for (int i = 0; negative && i < 4; i++) {
        carry += (uint32_t)~limbs[i];
        limbs[i] = (uint32_t)carry;
        carry >>= 32;
    }
    char digits[41]; /* 2^128 has 39 digits; a sign; the end */
    char *at = digits + sizeof digits - 1;
    *at = '\0';
    do {
        uint64_t rest = 0;
        for (int i = 3; i >= 0; i--) {
            rest = rest << 32 | limbs[i];
            limbs[i] = (uint32_t)(rest / 10);
            rest %= 10;
        }
        *--at = (char)('0' + rest);
    } while (limbs[0] | limbs[1] | limbs[2] | limbs[3]);
    if (negative)
        *--at = '-';
    return wmem_strdup(pool, at);
}

/* The shortest text that reads back as the same number, with a point in every locale. */
static const char *float_text(wmem_allocator_t *pool, double value, bool single)
{
    static const char *const formats[] = { "%.6g", "%.7g", "%.8g", "%.9g", "%.15g", "%.16g", "%.17g" };
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    for (size_t i = 0; i < G_N_ELEMENTS(formats); i++) {
        double back = g_ascii_strtod(g_ascii_formatd(text, sizeof text, formats[i], value), NULL);
        if (single ? (float)back == (float)value : back == value)
            break;
    }
    return wmem_strdup(pool, text);
}

static void read_integer(iggy_typed_t *typed, wmem_allocator_t *pool, tvbuff_t *tvb, int offset, int length)
{
    uint64_t value = 0;
    for (int i = length - 1; i >= 0; i--)
        value = value << 8 | tvb_get_uint8(tvb, offset + i);
    typed->number = value;
    if (typed->form == IGGY_TYPED_INT) {
        uint64_t sign = UINT64_C(1) << (8 * length - 1);
        typed->integer = (int64_t)((value ^ sign) - sign);
        typed->text = wmem_strdup_printf(pool, "%" PRId64, typed->integer);
    } else if (typed->form == IGGY_TYPED_BOOL && value <= 1) {
        typed->text = value ? "true" : "false";
    } else {
        typed->text = wmem_strdup_printf(pool, "%" PRIu64, value);
    }
}

iggy_typed_t iggy_typed_value(wmem_allocator_t *pool, tvbuff_t *tvb, int offset, int length, uint8_t kind)
{
    iggy_typed_t typed = { .form = IGGY_TYPED_BYTES };
    if (kind < G_N_ELEMENTS(kinds)) { /* 0 is no kind: bytes of any length */
        typed.mismatch = kinds[kind].length && kinds[kind].length != length;
        if (!typed.mismatch)
            typed.form = (iggy_typed_form_t)kinds[kind].form;
    }
    switch (typed.form) {
    case IGGY_TYPED_TEXT:
        typed.text = (const char *)tvb_get_string_enc(pool, tvb, offset, length, ENC_UTF_8 | ENC_NA);
        break;
    case IGGY_TYPED_BOOL:
    case IGGY_TYPED_INT:
    case IGGY_TYPED_UINT:
        read_integer(&typed, pool, tvb, offset, length);
        break;
    case IGGY_TYPED_FLOAT:
        typed.real = length == 4 ? (double)tvb_get_letohieee_float(tvb, offset) : tvb_get_letohieee_double(tvb, offset);
        typed.text = float_text(pool, typed.real, length == 4);
        break;
    case IGGY_TYPED_WIDE:
        typed.text = iggy_decimal128(pool, tvb, offset, kind == IGGY_VALUE_INT128);
        break;
    case IGGY_TYPED_BYTES:
        typed.text = tvb_bytes_to_str(pool, tvb, offset, length);
        break;
    }
    return typed;
}

/* ---- what known options mean ---- */

typedef enum { MEANS_ITSELF, MEANS_DURATION, MEANS_SIZE, MEANS_SECRET, MEANS_NEW_NAME } option_meaning_t;

/* Keys whose value says more than it shows (encodings.md 10.1). */
static const struct {
    const char *key;
    uint8_t     meaning; /* option_meaning_t */
    const iggy_sentinel_t *sentinels;
} known_options[] = {
    { "message_expiry", MEANS_DURATION, iggy_expiry_sentinels },
    { "max_topic_size", MEANS_SIZE, iggy_size_sentinels },
    { "segment_size", MEANS_SIZE, NULL },
    { "size_of_messages_required_to_save", MEANS_SIZE, NULL },
    { "encryption_key", MEANS_SECRET, NULL },
    { "name", MEANS_NEW_NAME, NULL }, /* only in update_resource */
    { "username", MEANS_NEW_NAME, NULL },
};

static int known_option(const uint8_t *key, size_t length)
{
    for (int i = 0; i < (int)G_N_ELEMENTS(known_options); i++)
        if (strlen(known_options[i].key) == length && memcmp(known_options[i].key, key, length) == 0)
            return i;
    return -1;
}

/* A number in the largest unit that divides it; NULL if that is the unit it is in. */
static const char *in_units(wmem_allocator_t *pool, uint64_t value, option_meaning_t meaning)
{
    static const struct {
        uint64_t    size;
        const char *name;
    } durations[] = { { UINT64_C(86400000000), "d" }, { UINT64_C(3600000000), "h" }, { 60000000, "min" },
                      { 1000000, "s" },               { 1000, "ms" },                { 0, NULL } },
      sizes[] = { { UINT64_C(1) << 40, "TiB" }, { 1 << 30, "GiB" }, { 1 << 20, "MiB" }, { 1 << 10, "KiB" }, { 0, NULL } };

    for (int i = 0; value; i++) {
        uint64_t size = meaning == MEANS_SIZE ? sizes[i].size : durations[i].size;
        if (!size)
            break;
        if (value % size == 0)
            return wmem_strdup_printf(pool, "%" PRIu64 " %s", value / size,
                                      meaning == MEANS_SIZE ? sizes[i].name : durations[i].name);
    }
    return NULL;
}

/* What a value of a known option means beyond its text, or NULL. A request may send a number as a string. */
static const char *option_meaning(wmem_allocator_t *pool, int known, const iggy_typed_t *typed)
{
    uint64_t value = typed->number;
    if (known < 0 || (typed->form != IGGY_TYPED_UINT && typed->form != IGGY_TYPED_TEXT))
        return NULL;
    option_meaning_t meaning = (option_meaning_t)known_options[known].meaning;
    if (meaning != MEANS_DURATION && meaning != MEANS_SIZE)
        return NULL;
    if (typed->form == IGGY_TYPED_TEXT) {
        char *end = NULL;
        value = g_ascii_strtoull(typed->text, &end, 10);
        if (!end || *end || end == typed->text)
            return NULL;
    }
    for (const iggy_sentinel_t *s = known_options[known].sentinels; s && s->text; s++)
        if (s->value == value)
            return s->text;
    return in_units(pool, value, meaning);
}

/* ---- entries ---- */

/* The fields of one kind of list. */
typedef struct {
    const int *key, *value, *value_int, *value_uint, *value_float, *value_bytes;
    bool       options; /* known keys have a meaning */
} entry_fields_t;

static const entry_fields_t option_fields = {
    &hf_iggy_option_key,        &hf_iggy_option_value,       &hf_iggy_option_value_int, &hf_iggy_option_value_uint,
    &hf_iggy_option_value_float, &hf_iggy_option_value_bytes, true
};

static const entry_fields_t message_header_fields = {
    &hf_iggy_message_header_key,         &hf_iggy_message_header_value,
    &hf_iggy_message_header_value_int,   &hf_iggy_message_header_value_uint,
    &hf_iggy_message_header_value_float, &hf_iggy_message_header_value_bytes,
    false
};

/* Kind and length just read must be possible, and the bytes be there. */
static bool entry_part(iggy_walk_t *walk, const iggy_row_t *row, int offset, uint64_t kind, uint64_t length)
{
    if (kind == 0)
        iggy_walk_fail(walk, row, offset, "kind 0");
    else if (length == 0 || length > KEY_OR_VALUE_MAX)
        iggy_walk_fail(walk, row, offset, "a length that is not 1 to 255");
    return !walk->failed && iggy_walk_there(walk, row, offset, length);
}

static int walk_key(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    uint64_t length = walk->reg[IGGY_REG_KEY_LENGTH];
    uint8_t kind = (uint8_t)walk->reg[IGGY_REG_KEY_KIND];
    if (!entry_part(walk, row, offset, kind, length))
        return offset;
    if (iggy_walk_shows(walk)) {
        iggy_typed_t key = iggy_typed_value(walk->pdu->pinfo->pool, walk->tvb, offset, (int)length, kind);
        proto_tree_add_string(tree, *row->hf, walk->tvb, offset, (int)length, key.text);
        iggy_walk_label(walk, ": ", key.text, "");
    }
    return offset + (int)length;
}

static int walk_option_key(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    if (walk->reg[IGGY_REG_KEY_KIND] != IGGY_VALUE_STRING) {
        if (walk->mode == IGGY_WALK_FIT)
            return iggy_walk_fail(walk, row, offset, "the key of an option is a string");
        if (iggy_walk_shows(walk))
            expert_add_info(walk->pdu->pinfo, walk->element, &ei_iggy_option_key_kind);
    }
    return walk_key(walk, row, tree, offset);
}

/* Integers that an int64 holds go to one field whatever their sign; only larger ones need the other. */
static void show_typed(iggy_walk_t *walk, proto_tree *tree, const entry_fields_t *fields, const iggy_typed_t *typed,
                       int offset)
{
    int length = (int)walk->reg[IGGY_REG_VALUE_LENGTH];
    if (typed->form == IGGY_TYPED_BYTES)
        proto_tree_add_item(tree, *fields->value_bytes, walk->tvb, offset, length, ENC_NA);
    else if (typed->form == IGGY_TYPED_FLOAT)
        proto_tree_add_double(tree, *fields->value_float, walk->tvb, offset, length, typed->real);
    else if (typed->form == IGGY_TYPED_INT)
        proto_tree_add_int64(tree, *fields->value_int, walk->tvb, offset, length, typed->integer);
    else if (typed->form == IGGY_TYPED_UINT && typed->number <= INT64_MAX)
        proto_tree_add_int64(tree, *fields->value_int, walk->tvb, offset, length, (int64_t)typed->number);
    else if (typed->form == IGGY_TYPED_UINT)
        proto_tree_add_uint64(tree, *fields->value_uint, walk->tvb, offset, length, typed->number);
}

/* The index of the key of the entry that is being walked: it lies before the value's kind and length. */
static int entry_key(iggy_walk_t *walk, int value_offset)
{
    int length = (int)walk->reg[IGGY_REG_KEY_LENGTH];
    return known_option(walk->bytes + value_offset - 5 - length, (size_t)length);
}

static void show_value(iggy_walk_t *walk, proto_tree *tree, const entry_fields_t *fields, int offset)
{
    packet_info *pinfo = walk->pdu->pinfo;
    int length = (int)walk->reg[IGGY_REG_VALUE_LENGTH];
    int known = fields->options ? entry_key(walk, offset) : -1;
    bool secret = known >= 0 && known_options[known].meaning == MEANS_SECRET;
    uint8_t kind = (uint8_t)walk->reg[IGGY_REG_VALUE_KIND];
    iggy_typed_t typed = iggy_typed_value(pinfo->pool, walk->tvb, offset, length, kind);
    bool hidden = secret && iggy_hide_secrets;
    const char *text = hidden ? "[hidden]" : typed.text;
    const char *meaning = option_meaning(pinfo->pool, known, &typed);
    proto_item *item = proto_tree_add_string(tree, *fields->value, walk->tvb, offset, length, text);
    iggy_walk_label(walk, " = ", text, "");
    if (meaning) {
        iggy_append_strings(item, " (", meaning, ")");
        iggy_walk_label(walk, " (", meaning, ")");
    }
    if (secret)
        expert_add_info(pinfo, item, &ei_iggy_secret);
    if (typed.mismatch)
        expert_add_info(pinfo, item, &ei_iggy_value_length);
    if (!hidden)
        show_typed(walk, tree, fields, &typed, offset);
}

static int walk_value(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset,
                      const entry_fields_t *fields)
{
    uint64_t length = walk->reg[IGGY_REG_VALUE_LENGTH];
    if (!entry_part(walk, row, offset, walk->reg[IGGY_REG_VALUE_KIND], length))
        return offset;
    if (iggy_walk_shows(walk))
        show_value(walk, tree, fields, offset);
    return offset + (int)length;
}

/* A rename is an option too (commands.md 4, update_resource). */
static void note_new_name(iggy_walk_t *walk, int offset)
{
    int length = (int)walk->reg[IGGY_REG_VALUE_LENGTH], known = entry_key(walk, offset);
    if (known < 0 || known_options[known].meaning != MEANS_NEW_NAME || walk->reg[IGGY_REG_VALUE_KIND] != IGGY_VALUE_STRING)
        return;
    iggy_walk_note(walk, IGGY_FACT_NEW_NAME, (uint64_t)length, offset, length,
                   (const char *)tvb_get_string_enc(walk->pdu->pinfo->pool, walk->tvb, offset, length, ENC_UTF_8 | ENC_NA));
}

static int walk_option_value(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    int after = walk_value(walk, row, tree, offset, &option_fields);
    if (walk->mode != IGGY_WALK_FIT && !walk->failed)
        note_new_name(walk, offset);
    return after;
}

static int walk_message_header_value(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    return walk_value(walk, row, tree, offset, &message_header_fields);
}

/* The default of an option that the server describes: no key in front of it, any length (commands.md 4, describe_options). */
int iggy_option_default(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    entry_fields_t fields = option_fields;
    uint64_t length = walk->reg[IGGY_REG_VALUE_LENGTH];
    fields.options = false;
    if (!iggy_walk_there(walk, row, offset, length))
        return offset;
    if (iggy_walk_shows(walk))
        show_value(walk, tree, &fields, offset);
    return offset + (int)length;
}

/* ---- rules of a whole list of options ---- */

typedef struct {
    const uint8_t *bytes;
    unsigned       length;
} option_key_t;

static int compare_keys(const void *a, const void *b)
{
    const option_key_t *x = (const option_key_t *)a;
    const option_key_t *y = (const option_key_t *)b;
    unsigned both = MIN(x->length, y->length);
    int order = both ? memcmp(x->bytes, y->bytes, both) : 0; /* a name of no bytes is NULL */
    return order ? order : (x->length > y->length) - (x->length < y->length);
}

/* Keys of the entries as far as they are whole; more than `limit` are not looked at. */
static unsigned collect_keys(tvbuff_t *tvb, int offset, int end, option_key_t *keys, unsigned limit)
{
    unsigned n = 0;
    while (n < limit && end - offset >= ENTRY_MIN) {
        uint32_t key_length = tvb_get_letohl(tvb, offset + 1);
        if (key_length == 0 || key_length > KEY_OR_VALUE_MAX || end - offset < 10 + (int)key_length)
            break;
        uint32_t value_length = tvb_get_letohl(tvb, offset + 6 + (int)key_length);
        keys[n].bytes = tvb_get_ptr(tvb, offset + 5, (int)key_length);
        keys[n++].length = key_length;
        if (value_length > KEY_OR_VALUE_MAX || end - offset < 10 + (int)(key_length + value_length))
            break;
        offset += 10 + (int)(key_length + value_length);
    }
    return n;
}

/* encodings.md 10: no key twice, at most 1,024 entries. Writers sort, so the sort is seldom needed. */
static bool keys_repeat(option_key_t *keys, unsigned count)
{
    bool ascending = true;
    for (unsigned i = 1; i < count && ascending; i++)
        ascending = compare_keys(&keys[i - 1], &keys[i]) < 0;
    if (ascending)
        return false;
    qsort(keys, count, sizeof *keys, compare_keys);
    for (unsigned i = 1; i < count; i++)
        if (compare_keys(&keys[i - 1], &keys[i]) == 0)
            return true;
    return false;
}

/* Reads ahead and consumes nothing. */
static int check_options(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    option_key_t keys[OPTIONS_MAX + 1];
    int end = walk->end < walk->captured ? walk->end : walk->captured;
    if (walk->mode == IGGY_WALK_FACTS || end - offset < 2 * ENTRY_MIN)
        return offset;
    unsigned count = collect_keys(walk->tvb, offset, end, keys, OPTIONS_MAX + 1);
    bool many = count > OPTIONS_MAX;
    bool repeat = !many && keys_repeat(keys, count);
    if (walk->mode == IGGY_WALK_FIT && (many || repeat))
        return iggy_walk_fail(walk, row, offset, many ? "more than 1024 options" : "an option stands twice");
    if (!iggy_walk_shows(walk))
        return offset;
    if (many)
        proto_tree_add_expert(tree, walk->pdu->pinfo, &ei_iggy_count, walk->tvb, offset, end - offset);
    if (repeat)
        proto_tree_add_expert(tree, walk->pdu->pinfo, &ei_iggy_option_duplicate, walk->tvb, offset, end - offset);
    return offset;
}

/* Names, a byte of length before each; `at` is moved behind them. As many as are whole. */
static unsigned collect_names(tvbuff_t *tvb, int *at, int end, option_key_t *keys, unsigned count)
{
    unsigned n = 0;
    for (; n < count && *at < end; n++) {
        unsigned length = tvb_get_uint8(tvb, *at);
        if (length >= (unsigned)(end - *at))
            break;
        keys[n].bytes = tvb_get_ptr(tvb, *at + 1, (int)length);
        keys[n].length = length;
        *at += 1 + (int)length;
    }
    return n;
}

int iggy_check_reset_keys(iggy_walk_t *walk, const iggy_row_t *row _U_, proto_tree *tree, int offset)
{
    option_key_t keys[UINT8_MAX + OPTIONS_MAX];
    int end = walk->end < walk->captured ? walk->end : walk->captured, at = offset;
    unsigned count = (unsigned)MIN(walk->reg[IGGY_REG_COUNT], UINT8_MAX);

    if (!iggy_walk_shows(walk) || !count || collect_names(walk->tvb, &at, end, keys, count) != count)
        return offset;
    if (keys_repeat(keys, count)) {
        iggy_warn_range(walk, tree, offset, at - offset, "An option is reset twice");
        return offset;
    }
    unsigned set = collect_keys(walk->tvb, at, end, keys + count, OPTIONS_MAX);
    if (!keys_repeat(keys + count, set) && keys_repeat(keys, count + set))
        iggy_warn_range(walk, tree, offset, end - offset, "An option is both reset and set");
    return offset;
}

/* ---- rows ---- */

static const iggy_row_t rows_option[] = {
    IGGY_U8(hf_iggy_option_key_kind, .put = IGGY_REG_KEY_KIND),
    IGGY_U32(hf_iggy_option_key_length, .put = IGGY_REG_KEY_LENGTH),
    IGGY_CALL(walk_option_key, .hf = &hf_iggy_option_key),
    IGGY_U8(hf_iggy_option_value_kind, .put = IGGY_REG_VALUE_KIND),
    IGGY_U32(hf_iggy_option_value_length, .put = IGGY_REG_VALUE_LENGTH),
    IGGY_CALL(walk_option_value, .hf = &hf_iggy_option_value),
    IGGY_ROWS_END
};

const iggy_row_t iggy_rows_options[] = {
    IGGY_CALL(check_options, .hf = &hf_iggy_option),
    IGGY_REPEAT(rows_option, hf_iggy_option, ett_iggy_option),
    IGGY_ROWS_END
};

const iggy_row_t iggy_rows_explicit_options[] = {
    IGGY_BLOCK(4, hf_iggy_option_explicit_length, iggy_rows_options, hf_iggy_option_explicit, ett_iggy_option_explicit),
    IGGY_ROWS_END
};

const iggy_row_t iggy_rows_derived_options[] = {
    IGGY_BLOCK(4, hf_iggy_option_derived_length, iggy_rows_options, hf_iggy_option_derived, ett_iggy_option_derived),
    IGGY_ROWS_END
};

static const iggy_row_t rows_message_header[] = {
    IGGY_U8(hf_iggy_message_header_key_kind, .put = IGGY_REG_KEY_KIND),
    IGGY_U32(hf_iggy_message_header_key_length, .put = IGGY_REG_KEY_LENGTH),
    IGGY_CALL(walk_key, .hf = &hf_iggy_message_header_key),
    IGGY_U8(hf_iggy_message_header_value_kind, .put = IGGY_REG_VALUE_KIND),
    IGGY_U32(hf_iggy_message_header_value_length, .put = IGGY_REG_VALUE_LENGTH),
    IGGY_CALL(walk_message_header_value, .hf = &hf_iggy_message_header_value),
    IGGY_ROWS_END
};

const iggy_row_t iggy_rows_user_headers[] = {
    IGGY_REPEAT(rows_message_header, hf_iggy_message_header, ett_iggy_message_header),
    IGGY_ROWS_END
};

bool iggy_user_headers_wanted(proto_tree *tree)
{
    return iggy_range_wanted(tree, hf_iggy_message_header, hf_iggy_message_header_value_bytes) ||
           (tree && proto_field_is_referenced(tree, ei_iggy_value_length.hf));
}

static bool options_wanted(proto_tree *tree)
{
    return iggy_range_wanted(tree, hf_iggy_option, hf_iggy_option_value_bytes);
}

static const iggy_shown_t shown[] = {
    { .call = walk_option_key, .wanted = options_wanted },
    { .call = walk_option_value, .wanted = options_wanted },
    { .call = check_options },
};

void iggy_register_options(int proto)
{
    static hf_register_info hf[] = {
        { &hf_iggy_option,
          { "Option", "iggy.option", FT_NONE, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_option_explicit,
          { "Explicit options", "iggy.option.explicit", FT_NONE, BASE_NONE, NULL, 0x0,
            "Options that a client has set", HFILL } },
        { &hf_iggy_option_explicit_length,
          { "Length of the explicit options", "iggy.option.explicit.length", FT_UINT32, BASE_DEC, NULL, 0x0,
            NULL, HFILL } },
        { &hf_iggy_option_derived,
          { "Derived options", "iggy.option.derived", FT_NONE, BASE_NONE, NULL, 0x0,
            "Options that the server filled in or computed", HFILL } },
        { &hf_iggy_option_derived_length,
          { "Length of the derived options", "iggy.option.derived.length", FT_UINT32, BASE_DEC, NULL, 0x0,
            NULL, HFILL } },
        { &hf_iggy_option_key_kind,
          { "Key kind", "iggy.option.key.kind", FT_UINT8, BASE_DEC, VALS(iggy_value_kind_vals), 0x0, NULL, HFILL } },
        { &hf_iggy_option_key_length,
          { "Key length", "iggy.option.key.length", FT_UINT32, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_option_key,
          { "Key", "iggy.option.key", FT_STRING, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_option_value_kind,
          { "Value kind", "iggy.option.value.kind", FT_UINT8, BASE_DEC, VALS(iggy_value_kind_vals), 0x0, NULL, HFILL } },
        { &hf_iggy_option_value_length,
          { "Value length", "iggy.option.value.length", FT_UINT32, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_option_value,
          { "Value", "iggy.option.value", FT_STRING, BASE_NONE, NULL, 0x0,
            "The value as text, whatever its kind", HFILL } },
        { &hf_iggy_option_value_int,
          { "Value as integer", "iggy.option.value_int", FT_INT64, BASE_DEC, NULL, 0x0,
            "Integers of every kind up to 2^63-1", HFILL } },
        { &hf_iggy_option_value_uint,
          { "Value as unsigned integer", "iggy.option.value_uint", FT_UINT64, BASE_DEC, NULL, 0x0,
            "Integers of kind uint64 from 2^63 on", HFILL } },
        { &hf_iggy_option_value_float,
          { "Value as float", "iggy.option.value_float", FT_DOUBLE, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_option_value_bytes,
          { "Value as bytes", "iggy.option.value_bytes", FT_BYTES, BASE_NONE, NULL, 0x0,
            "Raw values, unknown kinds, and lengths that do not go with the kind", HFILL } },
        { &hf_iggy_message_header,
          { "User header", "iggy.message.header", FT_NONE, BASE_NONE, NULL, 0x0,
            "A key and a value that the producer added", HFILL } },
        { &hf_iggy_message_header_key_kind,
          { "Key kind", "iggy.message.header.key.kind", FT_UINT8, BASE_DEC, VALS(iggy_value_kind_vals), 0x0,
            NULL, HFILL } },
        { &hf_iggy_message_header_key_length,
          { "Key length", "iggy.message.header.key.length", FT_UINT32, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_message_header_key,
          { "Key", "iggy.message.header.key", FT_STRING, BASE_NONE, NULL, 0x0,
            "The key as text, whatever its kind", HFILL } },
        { &hf_iggy_message_header_value_kind,
          { "Value kind", "iggy.message.header.value.kind", FT_UINT8, BASE_DEC, VALS(iggy_value_kind_vals), 0x0,
            NULL, HFILL } },
        { &hf_iggy_message_header_value_length,
          { "Value length", "iggy.message.header.value.length", FT_UINT32, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_message_header_value,
          { "Value", "iggy.message.header.value", FT_STRING, BASE_NONE, NULL, 0x0,
            "The value as text, whatever its kind", HFILL } },
        { &hf_iggy_message_header_value_int,
          { "Value as integer", "iggy.message.header.value_int", FT_INT64, BASE_DEC, NULL, 0x0,
            "Integers of every kind up to 2^63-1", HFILL } },
        { &hf_iggy_message_header_value_uint,
          { "Value as unsigned integer", "iggy.message.header.value_uint", FT_UINT64, BASE_DEC, NULL, 0x0,
            "Integers of kind uint64 from 2^63 on", HFILL } },
        { &hf_iggy_message_header_value_float,
          { "Value as float", "iggy.message.header.value_float", FT_DOUBLE, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_message_header_value_bytes,
          { "Value as bytes", "iggy.message.header.value_bytes", FT_BYTES, BASE_NONE, NULL, 0x0,
            "Raw values, unknown kinds, and lengths that do not go with the kind", HFILL } },
    };
    static int *ett[] = {
        &ett_iggy_option,
        &ett_iggy_option_explicit,
        &ett_iggy_option_derived,
        &ett_iggy_message_header,
    };
    static ei_register_info ei[] = {
        { &ei_iggy_option_duplicate,
          { "iggy.expert.option_duplicate", PI_PROTOCOL, PI_WARN, "An option stands twice in the list", EXPFILL } },
        { &ei_iggy_option_key_kind,
          { "iggy.expert.option_key_kind", PI_PROTOCOL, PI_WARN, "The key of an option must be a string", EXPFILL } },
        { &ei_iggy_value_length,
          { "iggy.expert.value_length", PI_PROTOCOL, PI_WARN,
            "The length of the value does not go with its kind", EXPFILL } },
    };
    proto_register_field_array(proto, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    expert_register_field_array(expert_register_protocol(proto), ei, array_length(ei));
    iggy_register_shown(shown, array_length(shown));
}
