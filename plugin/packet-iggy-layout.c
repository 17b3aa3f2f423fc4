/* packet-iggy-layout.c
 * The interpreter of layouts: one function a kind of row, with a tree, for facts alone, or dry.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-layout.h"

#include <string.h>

#include <epan/prefs.h>

#include "packet-iggy-fields.h"
#include "packet-iggy-item.h"
#include "packet-iggy-names.h"
#include "packet-iggy-shown.h"
#include "packet-iggy-wanted.h"

#define IGGY_ITEMS_LIMIT 450000u /* all levels of a frame; Wireshark gives up at 1,000,000 a packet, faked ones counted */

static unsigned elements_limit = 20000;

static const char *const why_short = "the bytes end before it does";
static const char *const why_cut = "the capture has no more bytes of this frame";

void iggy_walk_init(iggy_walk_t *walk, iggy_pdu_t *pdu, iggy_walk_mode_t mode, uint8_t version, int end)
{
    memset(walk, 0, sizeof *walk);
    int reported = (int)tvb_reported_length(pdu->tvb);
    walk->pdu = pdu;
    walk->tvb = pdu->tvb;
    walk->mode = mode;
    walk->version = version;
    walk->end = end < reported ? end : reported;
    walk->captured = (int)tvb_captured_length(pdu->tvb);
    walk->bytes = tvb_get_ptr(pdu->tvb, 0, walk->captured);
    walk->facts = mode == IGGY_WALK_FIT ? NULL : pdu->facts;
    walk->reg[IGGY_REG_OPERATION] = pdu->operation;
}

int iggy_walk_fail(iggy_walk_t *walk, const iggy_row_t *row, int offset, const char *why)
{
    if (!walk->failed) {
        walk->failed = true;
        walk->failed_at = offset;
        walk->failed_row = row;
        walk->failed_why = why;
    }
    return offset;
}

/* The bytes before `offset` say which facts there are. */
static inline void decides(iggy_walk_t *walk, int offset)
{
    if (offset > walk->decided)
        walk->decided = offset;
}

static inline void needs(iggy_walk_t *walk, int offset)
{
    if (offset > walk->needed)
        walk->needed = offset;
}

static inline void note(iggy_walk_t *walk, unsigned fact, uint64_t value, int offset, int length, const char *text)
{
    if (!walk->facts || fact == IGGY_FACT_NONE || fact >= IGGY_FACT_LIMIT)
        return;
    iggy_fact_value_t *at = &walk->facts->at[fact];
    walk->facts->has[fact] = 1;
    at->value = value;
    at->offset = offset;
    at->length = length;
    at->text = text;
    if (iggy_fact_is_kept(fact))
        decides(walk, offset + length);
}

void iggy_walk_note(iggy_walk_t *walk, iggy_fact_t fact, uint64_t value, int offset, int length, const char *text)
{
    note(walk, fact, value, offset, length, text);
}

/* Whether `length` bytes from `offset` belong to the extent and are in the capture; else the walk fails. */
static inline bool there(iggy_walk_t *walk, const iggy_row_t *row, int offset, uint64_t length)
{
    if (offset > walk->end || length > (uint64_t)(walk->end - offset)) {
        iggy_walk_fail(walk, row, offset, why_short);
        return false;
    }
    if ((uint64_t)offset + length > (uint64_t)walk->captured) {
        iggy_walk_fail(walk, row, offset, why_cut);
        return false;
    }
    needs(walk, offset + (int)length);
    return true;
}

bool iggy_walk_there(iggy_walk_t *walk, const iggy_row_t *row, int offset, uint64_t length)
{
    return there(walk, row, offset, length);
}

/* A number of 1 to 8 bytes that are there, least significant first. */
static inline uint64_t number_at(const iggy_walk_t *walk, int offset, unsigned size)
{
    const uint8_t *bytes = walk->bytes + offset;
    uint64_t value = 0;
    uint32_t half;
    switch (size) {
    case 1:
        return bytes[0];
    case 4:
        memcpy(&half, bytes, sizeof half);
        return GUINT32_FROM_LE(half);
    case 8:
        memcpy(&value, bytes, sizeof value);
        return GUINT64_FROM_LE(value);
    default:
        for (unsigned i = 0; i < size; i++)
            value |= (uint64_t)bytes[i] << 8 * i;
        return value;
    }
}

/* Bytes that no row reads. */
static proto_item *show_unread(iggy_walk_t *walk, proto_tree *tree, int hf, int offset, int length)
{
    return iggy_add_unread(walk->pdu->pinfo, tree, hf, walk->tvb, offset, length);
}

bool iggy_walk_wants(const iggy_walk_t *walk, proto_tree *tree, int hf)
{
    return iggy_walk_shows(walk) && (!walk->rows_alone || iggy_field_wanted(tree, hf));
}

/* Counts an item of this frame; beyond the limit nothing more is shown. */
static bool may_show(iggy_walk_t *walk)
{
    if (!iggy_walk_shows(walk))
        return false;
    if (++walk->items >= IGGY_ITEMS_LIMIT)
        walk->silent = true;
    return true;
}

/* ---- labels of elements ---- */

static const char *number_name(int hf, uint64_t value)
{
    const header_field_info *info = iggy_field_info(hf);
    bool plain = info->strings && FIELD_DISPLAY(info->display) <= BASE_DEC_HEX && value <= UINT32_MAX &&
                 !(info->display & (BASE_RANGE_STRING | BASE_EXT_STRING | BASE_VAL64_STRING | BASE_UNIT_STRING)) &&
                 info->type != FT_BOOLEAN && info->type != FT_ABSOLUTE_TIME;
    return plain ? try_val_to_str((uint32_t)value, (const value_string *)info->strings) : NULL;
}

void iggy_walk_label(iggy_walk_t *walk, const char *before, const char *value, const char *after)
{
    if (!walk->line)
        return;
    iggy_text_string(walk->line, before);
    iggy_text_string(walk->line, value);
    iggy_text_string(walk->line, after);
}

/* Append what the label says before the value; returns what it says after it. */
static const char *append_before(iggy_walk_t *walk, const iggy_row_t *row)
{
    const char *bar = row->label;
    while (*bar && *bar != '|')
        bar++;
    iggy_text_bytes(walk->line, row->label, (size_t)(bar - row->label));
    return *bar ? bar + 1 : bar;
}

/* Append "before value after" to the line of the enclosing element. */
static void append_label(iggy_walk_t *walk, const iggy_row_t *row, const char *value)
{
    if (!row->label || !walk->line || !value)
        return;
    const char *after = append_before(walk, row);
    iggy_text_string(walk->line, value);
    iggy_text_string(walk->line, after);
}

static void append_number_label(iggy_walk_t *walk, const iggy_row_t *row, uint64_t value)
{
    if (!row->label || !walk->line)
        return;
    const char *name = number_name(*row->hf, value), *after = append_before(walk, row);
    if (name)
        iggy_text_string(walk->line, name);
    else
        iggy_text_decimal(walk->line, value);
    iggy_text_string(walk->line, after);
}

/* An element of the tree begins: its line is written when it ends. */
static void begin_element(iggy_walk_t *walk, proto_item *item, iggy_line_t *line)
{
    bool visible = item && PTREE_DATA(item)->visible;
    if (visible)
        iggy_line_begin(line, item);
    walk->element = item;
    walk->line = visible ? &line->text : NULL;
}

static void end_element(const iggy_walk_t *walk, iggy_line_t *line)
{
    if (walk->line == &line->text)
        iggy_line_end(line, walk->element);
}

/* ---- rows of one value ---- */

/* An id that no name follows: its name, learnt from earlier frames. */
static void name_item(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    static const struct {
        iggy_fact_t id;
        const int  *hf;
    } names[] = {
        { IGGY_FACT_STREAM_ID, &hf_iggy_stream_name },
        { IGGY_FACT_TOPIC_ID, &hf_iggy_topic_name },
        { IGGY_FACT_CONSUMER_GROUP_ID, &hf_iggy_consumer_group_name },
        { IGGY_FACT_USER_ID, &hf_iggy_user_name },
    };
    iggy_fact_t id = (iggy_fact_t)row->fact;
    walk->facts->has[id + 1] = 0;
    if (!iggy_names_complete(walk->pdu, walk->facts, id) || !may_show(walk))
        return;
    const char *name = walk->facts->at[id + 1].text;
    for (size_t i = 0; i < array_length(names); i++)
        if (names[i].id == id)
            proto_item_set_generated(proto_tree_add_string(tree, *names[i].hf, walk->tvb, offset, row->size, name));
    iggy_walk_label(walk, " (", name, ")");
}

static int walk_item(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    if (!there(walk, row, offset, row->size))
        return offset;
    uint64_t value = number_at(walk, offset, row->size <= 8 ? row->size : 8);
    bool unknown = (row->flags & IGGY_KNOWN) && !number_name(*row->hf, value);
    if (unknown && walk->mode == IGGY_WALK_FIT)
        return iggy_walk_fail(walk, row, offset, "a value that is not defined");
    walk->reg[row->put] = value;
    if (row->put && !(row->flags & IGGY_ASIDE))
        decides(walk, offset + row->size);
    iggy_walk_note(walk, (iggy_fact_t)row->fact, value, offset, row->size, NULL);
    if (may_show(walk)) {
        proto_item *item = iggy_show_item(walk, row, tree, offset, value);
        if (unknown)
            expert_add_info(walk->pdu->pinfo, item, &ei_iggy_bad_kind);
        append_number_label(walk, row, value);
    }
    if ((row->flags & IGGY_NAMED) && walk->facts)
        name_item(walk, row, tree, offset);
    return offset + row->size;
}

static bool all_zero(const uint8_t *bytes, int length)
{
    return length <= 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, (size_t)length - 1) == 0);
}

static int walk_reserved(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    if (!there(walk, row, offset, row->size))
        return offset;
    if (walk->mode == IGGY_WALK_FACTS || all_zero(walk->bytes + offset, row->size))
        return offset + row->size;
    bool enforced = (row->flags & IGGY_ENFORCED) != 0;
    if (walk->mode == IGGY_WALK_FIT && enforced)
        return iggy_walk_fail(walk, row, offset, "reserved bytes are not zero");
    if (may_show(walk)) {
        proto_item *item = proto_tree_add_item(tree, row->hf ? *row->hf : hf_iggy_reserved, walk->tvb, offset, row->size, ENC_NA);
        expert_add_info(walk->pdu->pinfo, item, enforced ? &ei_iggy_reserved_enforced : &ei_iggy_reserved);
    }
    return offset + row->size;
}

/* ---- texts, bytes, identifiers ---- */

/* Most names are ASCII: nothing is there to be made of them. */
static bool is_ascii(const uint8_t *bytes, int length)
{
    for (int i = 0; i < length; i++)
        if (bytes[i] == 0 || bytes[i] >= 0x80)
            return false;
    return true;
}

static const char *text_at(iggy_walk_t *walk, int offset, int length)
{
    if (is_ascii(walk->bytes + offset, length))
        return wmem_strndup(walk->pdu->pinfo->pool, (const char *)walk->bytes + offset, (size_t)length);
    return (const char *)tvb_get_string_enc(walk->pdu->pinfo->pool, walk->tvb, offset, length, ENC_UTF_8 | ENC_NA);
}

/* A text that was read already; what it lacks behind a 0 is read again. */
static proto_item *show_text(iggy_walk_t *walk, int hf, proto_tree *tree, int offset, int length, const char *text)
{
    if (text && strlen(text) == (size_t)length)
        return proto_tree_add_string(tree, hf, walk->tvb, offset, length, text);
    return proto_tree_add_item(tree, hf, walk->tvb, offset, length, ENC_UTF_8 | ENC_NA);
}

/* A text or byte string; the value of a secret is replaced if the preference says so. */
static void show_string(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset, int length, const char *value)
{
    int hf = *row->hf;
    bool text = iggy_field_info(hf)->type == FT_STRING;
    proto_item *item;
    if ((row->flags & (IGGY_SECRET | IGGY_OPAQUE)) && iggy_hide_secrets) {
        item = text ? proto_tree_add_string(tree, hf, walk->tvb, offset, length, "[hidden]")
                    : iggy_add_hidden(walk->pdu->pinfo, tree, hf, walk->tvb, offset, length);
    } else {
        item = text ? show_text(walk, hf, tree, offset, length, value)
                    : proto_tree_add_item(tree, hf, walk->tvb, offset, length, ENC_NA);
    }
    iggy_note_secret(walk, row, item);
    if (length == 0 && (row->flags & IGGY_NOT_EMPTY))
        expert_add_info(walk->pdu->pinfo, item, &ei_iggy_empty_name);
}

static int walk_string(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    if (!there(walk, row, offset, row->size))
        return offset;
    uint64_t length = number_at(walk, offset, row->size);
    int at = offset + row->size;
    decides(walk, at);
    if (walk->mode == IGGY_WALK_FIT && length == 0 && (row->flags & IGGY_NOT_EMPTY))
        return iggy_walk_fail(walk, row, offset, "an empty name");
    if (may_show(walk))
        proto_tree_add_item(tree, *row->hf_2, walk->tvb, offset, row->size, ENC_LITTLE_ENDIAN);
    walk->reg[row->put] = length;
    if (!there(walk, row, at, length))
        return at;
    int n = (int)length;
    bool text = row->kind == IGGY_ROW_TEXT;
    const char *value = text && walk->mode != IGGY_WALK_FIT && (row->fact || row->label) ? text_at(walk, at, n) : NULL;
    iggy_walk_note(walk, (iggy_fact_t)row->fact, length, at, n, value);
    if ((n || text) && may_show(walk)) {
        show_string(walk, row, tree, at, n, value);
        append_label(walk, row, value);
    }
    return at + n;
}

static int walk_bytes_left(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset, uint64_t length)
{
    if (!there(walk, row, offset, length))
        return offset;
    iggy_walk_note(walk, (iggy_fact_t)row->fact, length, offset, (int)length, NULL);
    if (length && row->hf && may_show(walk))
        show_string(walk, row, tree, offset, (int)length, NULL);
    return offset + (int)length;
}

static int walk_span(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    return walk_bytes_left(walk, row, tree, offset, walk->reg[row->count]);
}

static int walk_rest(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    walk->to_end = true;
    int end = walk->end < walk->captured ? walk->end : walk->captured;
    return walk_bytes_left(walk, row, tree, offset, offset < end ? (uint64_t)(end - offset) : 0);
}

/* The counterpart of an identifier, learnt from earlier frames, as a generated item. */
static void show_learnt(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset, int length, bool name_learnt)
{
    const iggy_fact_value_t *at = &walk->facts->at[row->fact + (name_learnt ? 1 : 0)];
    proto_item *item;
    if (name_learnt)
        item = proto_tree_add_string(tree, *row->hf_2, walk->tvb, offset, length, at->text ? at->text : "");
    else if (iggy_field_info(*row->hf)->type == FT_UINT64)
        item = proto_tree_add_uint64(tree, *row->hf, walk->tvb, offset, length, at->value);
    else
        item = proto_tree_add_uint(tree, *row->hf, walk->tvb, offset, length, (uint32_t)at->value);
    proto_item_set_generated(item);
}

static void identifier_value(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset, int length, bool numeric)
{
    const char *text = NULL;
    if (numeric) {
        uint64_t id = number_at(walk, offset, 4);
        iggy_walk_note(walk, (iggy_fact_t)row->fact, id, offset, 4, NULL);
        if (row->fact)
            walk->facts->has[row->fact + 1] = 0;
    } else {
        text = text_at(walk, offset, length);
        if (row->fact) {
            iggy_walk_note(walk, (iggy_fact_t)(row->fact + 1), (uint64_t)length, offset, length, text);
            walk->facts->has[row->fact] = 0;
        }
    }
    bool learnt = row->fact && iggy_names_complete(walk->pdu, walk->facts, (iggy_fact_t)row->fact);
    if (!may_show(walk))
        return;
    if (numeric)
        proto_tree_add_item(tree, *row->hf, walk->tvb, offset, length, ENC_LITTLE_ENDIAN);
    else
        show_text(walk, *row->hf_2, tree, offset, length, text);
    if (learnt)
        show_learnt(walk, row, tree, offset, length, numeric);
    if (numeric && !learnt)
        append_number_label(walk, row, number_at(walk, offset, 4));
    else
        append_label(walk, row, numeric ? walk->facts->at[row->fact + 1].text : text);
}

/* Identifier: kind, length, value (encodings.md 3). A wrong kind is shown as bytes: its length is known. */
static int walk_ident(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    if (!there(walk, row, offset, 2))
        return offset;
    uint8_t kind = tvb_get_uint8(walk->tvb, offset);
    uint8_t length = tvb_get_uint8(walk->tvb, offset + 1);
    bool good = (kind == 1 && length == 4) || (kind == 2 && length > 0);
    if (walk->mode == IGGY_WALK_FIT && !good)
        return iggy_walk_fail(walk, row, offset, "no identifier");
    proto_item *item = NULL;
    if (may_show(walk)) {
        item = proto_tree_add_uint(tree, hf_iggy_identifier_kind, walk->tvb, offset, 1, kind);
        proto_tree_add_uint(tree, hf_iggy_identifier_length, walk->tvb, offset + 1, 1, length);
    }
    if (!good && item)
        expert_add_info(walk->pdu->pinfo, item, &ei_iggy_bad_kind);
    if (!there(walk, row, offset + 2, length))
        return offset + 2;
    decides(walk, offset + 2 + length);
    if (good && walk->mode != IGGY_WALK_FIT)
        identifier_value(walk, row, tree, offset + 2, length, kind == 1);
    else if (!good && length && iggy_walk_shows(walk))
        show_unread(walk, tree, hf_iggy_undecoded, offset + 2, length);
    return offset + 2 + length;
}

/* ---- containers ---- */

static int walk_element(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    proto_item *outer = walk->element, *item = NULL;
    iggy_text_t *outer_line = walk->line;
    iggy_line_t line;
    proto_tree *subtree = tree;
    if (row->hf && may_show(walk) && iggy_walk_wants(walk, tree, *row->hf)) {
        item = proto_tree_add_item(tree, *row->hf, walk->tvb, offset, 0, ENC_NA);
        subtree = proto_item_add_subtree(item, *row->ett);
        begin_element(walk, item, &line);
    }
    int end = iggy_walk_rows(walk, row->rows, subtree, offset);
    if (item && end > offset)
        proto_item_set_len(item, end - offset);
    if (item)
        end_element(walk, &line);
    if (row->done && walk->mode != IGGY_WALK_FIT && !walk->failed)
        row->done(walk, item, offset, end);
    walk->element = outer;
    walk->line = outer_line;
    return end;
}

/* Facts of one element of a listing are its own: they start as those of the outer walk and are dropped after. */
static int walk_scoped(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset, iggy_facts_t *scratch)
{
    iggy_facts_t *outer = walk->facts;
    if (scratch) {
        *scratch = *outer;
        walk->facts = scratch;
    }
    offset = walk_element(walk, row, tree, offset);
    walk->facts = outer;
    return offset;
}

static iggy_facts_t *scratch_for(iggy_walk_t *walk, const iggy_row_t *row)
{
    return (row->flags & IGGY_SCOPED) && walk->facts ? wmem_new(walk->pdu->pinfo->pool, iggy_facts_t) : NULL;
}

/* Beyond the limit of elements nothing is shown any more, but all is walked; `from` is where the rest begins. */
static void count_element(iggy_walk_t *walk, int offset, int *from)
{
    if (iggy_walk_shows(walk) && ++walk->elements > elements_limit)
        walk->silent = true;
    if (walk->silent && *from < 0)
        *from = offset;
}

static void show_unshown(iggy_walk_t *walk, proto_tree *tree, int from, int end, bool was_silent)
{
    if (from < 0 || was_silent || walk->mode != IGGY_WALK_SHOW || end <= from)
        return;
    proto_item *item = show_unread(walk, tree, hf_iggy_undecoded, from, end - from);
    expert_add_info(walk->pdu->pinfo, item, &ei_iggy_items_limit);
}

/* The three loops are one: `count` elements, or until the extent ends, or while a register is not 0. */
static int walk_elements(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset, uint64_t count)
{
    bool was_silent = walk->silent;
    iggy_facts_t *scratch = scratch_for(walk, row);
    int unshown = -1;
    uint64_t n = 0;
    while (!walk->failed) {
        if (row->kind == IGGY_ROW_LIST    ? n >= count
            : row->kind == IGGY_ROW_WHILE ? walk->reg[row->when] == 0
                                          : offset >= walk->end)
            break;
        count_element(walk, offset, &unshown);
        int next = walk_scoped(walk, row, tree, offset, scratch);
        if (next <= offset && !walk->failed)
            iggy_walk_fail(walk, row, offset, "an element of no bytes");
        offset = next;
        n++;
    }
    show_unshown(walk, tree, unshown, offset, was_silent);
    if (row->fact)
        iggy_walk_note(walk, (iggy_fact_t)row->fact, n, -1, 0, NULL);
    return offset;
}

/* A count is bounded by the bytes left before anything is read. */
static int walk_list(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    uint64_t count = walk->reg[row->count];
    uint64_t least = row->min ? row->min : 1;
    uint64_t fits = offset < walk->end ? (uint64_t)(walk->end - offset) / least : 0;
    if (count <= fits) {
        needs(walk, offset + (int)(count * least));
        return walk_elements(walk, row, tree, offset, count);
    }
    if (walk->mode == IGGY_WALK_FIT)
        return iggy_walk_fail(walk, row, offset, "more elements than bytes");
    offset = walk_elements(walk, row, tree, offset, fits);
    return iggy_walk_fail(walk, row, offset, "the count says more elements than there are bytes");
}

static int walk_loop(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    walk->to_end |= row->kind == IGGY_ROW_REPEAT;
    return walk_elements(walk, row, tree, offset, 0);
}

static int walk_inline(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    return walk_element(walk, row, tree, offset);
}

/* What did not fit, as bytes, with a warning that names the field and the place. */
static void show_misfit(iggy_walk_t *walk, proto_tree *tree, int end)
{
    const iggy_row_t *row = walk->failed_row;
    const int *hf = row ? (row->kind == IGGY_ROW_IDENT || row->hf ? row->hf : row->hf_2) : NULL;
    int at = walk->failed_at;
    const char *why = walk->failed_why ? walk->failed_why : "it does not fit";
    if (end > walk->captured)
        end = walk->captured;
    proto_item *item = tree;
    if (end > at)
        item = show_unread(walk, tree, hf_iggy_undecoded, at, end - at);
    expert_add_info_format(walk->pdu->pinfo, item, why == why_cut ? &ei_iggy_cut : &ei_iggy_layout, "%s at offset %d: %s",
                           hf ? iggy_field_info(*hf)->abbrev : "layout", at, why);
}

static void show_extra(iggy_walk_t *walk, proto_tree *tree, int offset, int end)
{
    if (end > walk->captured)
        end = walk->captured;
    if (end <= offset)
        return;
    proto_item *item = show_unread(walk, tree, hf_iggy_extra, offset, end - offset);
    expert_add_info(walk->pdu->pinfo, item, &ei_iggy_extra);
}

/* After the rows of an extent: one rule for all. Dry, a misfit or bytes left are no fit; else the extent's end is trusted. */
static void close_extent(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    if (walk->mode == IGGY_WALK_FIT) {
        if (!walk->failed && offset != walk->end)
            iggy_walk_fail(walk, row, offset, "bytes are left over");
        return;
    }
    if (walk->failed && walk->failed_why == why_cut)
        return;
    if (walk->failed) {
        if (iggy_walk_shows(walk))
            show_misfit(walk, tree, walk->end);
        walk->failed = false;
    } else if (iggy_walk_shows(walk)) {
        show_extra(walk, tree, offset, walk->end);
    }
}

/* Content that may legally be anything: does it fit the rows? */
static bool soft_fits(iggy_walk_t *walk, const iggy_row_t *row, int offset, int end)
{
    iggy_walk_t dry = *walk;
    dry.mode = IGGY_WALK_FIT;
    dry.facts = NULL;
    dry.end = end;
    int after = iggy_walk_rows(&dry, row->rows, NULL, offset);
    return !dry.failed && after == end;
}

static int walk_within(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset, uint64_t length)
{
    if (offset > walk->end || length > (uint64_t)(walk->end - offset))
        return iggy_walk_fail(walk, row, offset, why_short);
    int outer_end = walk->end;
    proto_item *outer_element = walk->element;
    iggy_text_t *outer_line = walk->line;
    iggy_line_t line;
    int end = offset + (int)length;
    needs(walk, end);
    if (row->flags & IGGY_SOFT)
        decides(walk, end);
    if (length && (row->flags & IGGY_SOFT) && !soft_fits(walk, row, offset, end)) {
        if (end > walk->captured)
            return iggy_walk_fail(walk, row, offset, why_cut);
        if (may_show(walk) && row->hf_2)
            proto_tree_add_item(tree, *row->hf_2, walk->tvb, offset, (int)length, ENC_NA);
        return end;
    }
    proto_item *item = NULL;
    proto_tree *subtree = tree;
    if (row->hf && length && may_show(walk)) {
        item = proto_tree_add_item(tree, *row->hf, walk->tvb, offset, end > walk->captured ? 0 : (int)length, ENC_NA);
        subtree = proto_item_add_subtree(item, *row->ett);
        begin_element(walk, item, &line);
    }
    walk->end = end;
    close_extent(walk, row, subtree, iggy_walk_rows(walk, row->rows, subtree, offset));
    if (item)
        end_element(walk, &line);
    if (row->done && walk->mode != IGGY_WALK_FIT && !walk->failed)
        row->done(walk, item, offset, end);
    walk->end = outer_end;
    walk->element = outer_element;
    walk->line = outer_line;
    return walk->failed ? walk->failed_at : end;
}

static int walk_block(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    if (!there(walk, row, offset, row->size))
        return offset;
    uint64_t length = number_at(walk, offset, row->size);
    walk->reg[row->put] = length;
    decides(walk, offset + row->size);
    if (row->hf_2 && may_show(walk))
        proto_tree_add_item(tree, *row->hf_2, walk->tvb, offset, row->size, ENC_LITTLE_ENDIAN);
    return walk_within(walk, row, tree, offset + row->size, length);
}

static int walk_extent(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    return walk_within(walk, row, tree, offset, walk->reg[row->count]);
}

static int walk_call(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    int decided = walk->decided, needed = walk->needed;
    bool to_end = walk->to_end;
    int after = row->call(walk, row, tree, offset);
    if (row->flags & IGGY_ASIDE) {
        walk->decided = decided;
        walk->needed = needed;
        walk->to_end = to_end;
    } else {
        decides(walk, after);
        walk->to_end |= !row->size; /* it may have read anything */
    }
    return after;
}

/* ---- the walk ---- */

/* An item for its value alone, or reserved bytes: what most rows of a walk without a tree come to. */
static inline int read_item(iggy_walk_t *walk, const iggy_row_t *row, int offset)
{
    if (!there(walk, row, offset, row->size))
        return offset;
    if (row->put || row->fact) {
        uint64_t value = number_at(walk, offset, row->size <= 8 ? row->size : 8);
        walk->reg[row->put] = value;
        if (row->put && !(row->flags & IGGY_ASIDE))
            decides(walk, offset + row->size);
        note(walk, row->fact, value, offset, row->size, NULL);
    }
    return offset + row->size;
}

static inline bool row_holds(iggy_walk_t *walk, const iggy_row_t *row, int offset)
{
    if (walk->version < row->since || (row->until && walk->version > row->until))
        return false;
    if (row->flags & IGGY_IF_LEFT) {
        walk->to_end = true;
        if (offset >= walk->end)
            return false;
    }
    if (row->when && row->kind != IGGY_ROW_WHILE)
        return (walk->reg[row->when] == row->is) != ((row->flags & IGGY_NOT) != 0);
    return true;
}

/* Items and reserved bytes that are not shown: those of a walk for facts, and in a filter's tree those that it does not name. */
static inline bool is_read_only(const iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree)
{
    if (row->kind > IGGY_ROW_RESERVED || (row->flags & IGGY_NAMED))
        return false;
    if (walk->mode == IGGY_WALK_FACTS)
        return true;
    return walk->rows_alone && (row->kind == IGGY_ROW_RESERVED || !iggy_field_wanted(tree, *row->hf));
}

static int (*const walk_kind[])(iggy_walk_t *, const iggy_row_t *, proto_tree *, int) = {
    [IGGY_ROW_ITEM] = walk_item,     [IGGY_ROW_RESERVED] = walk_reserved, [IGGY_ROW_TEXT] = walk_string,
    [IGGY_ROW_BYTES] = walk_string,  [IGGY_ROW_SPAN] = walk_span,         [IGGY_ROW_REST] = walk_rest,
    [IGGY_ROW_IDENT] = walk_ident,   [IGGY_ROW_ROWS] = walk_inline,       [IGGY_ROW_LIST] = walk_list,
    [IGGY_ROW_REPEAT] = walk_loop,   [IGGY_ROW_WHILE] = walk_loop,        [IGGY_ROW_BLOCK] = walk_block,
    [IGGY_ROW_EXTENT] = walk_extent, [IGGY_ROW_CALL] = walk_call,
};

int iggy_walk_rows(iggy_walk_t *walk, const iggy_row_t *rows, proto_tree *tree, int offset)
{
    for (const iggy_row_t *row = rows; row->kind != IGGY_ROW_END && !walk->failed; row++) {
        if (!row_holds(walk, row, offset))
            continue;
        if (is_read_only(walk, row, tree))
            offset = read_item(walk, row, offset);
        else
            offset = walk_kind[row->kind](walk, row, tree, offset);
    }
    return offset;
}

/* ---- rows of a fixed length, for their facts alone ---- */

/* A call of a fixed size without fact and register has nothing to say without a tree. */
static bool is_mute(const iggy_row_t *row)
{
    bool fixed = row->kind == IGGY_ROW_ITEM || row->kind == IGGY_ROW_RESERVED || (row->kind == IGGY_ROW_CALL && row->size);
    return fixed && !row->put && !row->fact;
}

/* Reserved bytes, and calls that show what stands beside rows: nothing of it is asked for where rows are alone. */
static bool is_never_named(const iggy_row_t *row)
{
    return row->kind == IGGY_ROW_RESERVED ||
           (row->kind == IGGY_ROW_CALL && row->size && !row->put && !row->hf && !row->hf_2 && iggy_shows_nothing(row->call));
}

static void add_steps(GArray *steps, const iggy_row_t *rows, uint8_t version, uint16_t *skip,
                      bool (*is_empty)(const iggy_row_t *))
{
    for (const iggy_row_t *row = rows; row->kind != IGGY_ROW_END; row++) {
        if (version < row->since || (row->until && version > row->until))
            continue;
        if (row->kind == IGGY_ROW_ROWS && !row->when) {
            add_steps(steps, row->rows, version, skip, is_empty);
        } else if (is_empty(row) && !row->when) {
            *skip = (uint16_t)(*skip + row->size);
        } else {
            iggy_step_t step = { .kind = is_empty(row) ? IGGY_ROW_RESERVED : row->kind, .size = row->size, .skip = *skip,
                                 .put = row->put, .fact = row->fact, .when = row->when,
                                 .unless = (row->flags & IGGY_NOT) != 0, .is = row->is, .row = row };
            g_array_append_val(steps, step);
            *skip = 0;
        }
    }
}

static const iggy_step_t *make_steps(const iggy_row_t *rows, uint8_t version, bool (*is_empty)(const iggy_row_t *))
{
    GArray *steps = g_array_new(FALSE, FALSE, sizeof(iggy_step_t));
    uint16_t skip = 0;
    add_steps(steps, rows, version, &skip, is_empty);
    iggy_step_t end = { .kind = IGGY_ROW_END, .skip = skip };
    g_array_append_val(steps, end);
    return (const iggy_step_t *)(void *)g_array_free(steps, FALSE);
}

const iggy_step_t *iggy_steps(const iggy_row_t *rows, uint8_t version) { return make_steps(rows, version, is_mute); }

const iggy_step_t *iggy_steps_shown(const iggy_row_t *rows, uint8_t version) { return make_steps(rows, version, is_never_named); }

int iggy_walk_steps(iggy_walk_t *walk, const iggy_step_t *steps, int offset)
{
    const iggy_step_t *step = steps;
    for (; step->kind != IGGY_ROW_END; step++) {
        offset += step->skip;
        if (step->when && (walk->reg[step->when] == step->is) == step->unless)
            continue;
        if (step->kind == IGGY_ROW_ITEM) {
            uint64_t value = number_at(walk, offset, step->size <= 8 ? step->size : 8);
            walk->reg[step->put] = value;
            note(walk, step->fact, value, offset, step->size, NULL);
            offset += step->size;
        } else if (step->kind == IGGY_ROW_RESERVED) {
            offset += step->size;
        } else {
            offset = walk_kind[step->kind](walk, step->row, NULL, offset);
        }
    }
    return offset + step->skip;
}

int iggy_walk_steps_shown(iggy_walk_t *walk, const iggy_step_t *steps, proto_tree *tree, int offset)
{
    const iggy_step_t *step = steps;
    for (; step->kind != IGGY_ROW_END; step++) {
        offset += step->skip;
        if (step->when && (walk->reg[step->when] == step->is) == step->unless)
            continue;
        if (step->kind == IGGY_ROW_RESERVED || is_read_only(walk, step->row, tree)) {
            if (step->put)
                walk->reg[step->put] = number_at(walk, offset, step->size <= 8 ? step->size : 8);
            offset += step->size;
        } else {
            offset = walk_kind[step->kind](walk, step->row, tree, offset);
        }
    }
    return offset + step->skip;
}

bool iggy_layout_fits(iggy_pdu_t *pdu, const iggy_row_t *rows, uint8_t version, int offset, int end)
{
    iggy_walk_t walk;
    iggy_walk_init(&walk, pdu, IGGY_WALK_FIT, version, end);
    if (walk.end < end || walk.captured < end)
        return false;
    int after = iggy_walk_rows(&walk, rows, NULL, offset);
    return !walk.failed && after == end;
}

void iggy_walk_close(iggy_walk_t *walk, proto_tree *tree, int offset)
{
    if (walk->mode != IGGY_WALK_SHOW)
        return;
    if (walk->failed)
        show_misfit(walk, tree, walk->end);
    else
        show_extra(walk, tree, offset, walk->end);
}

void iggy_register_layout(int proto _U_)
{
    prefs_register_uint_preference(iggy_preferences, "elements_limit", "Most elements of a frame to show",
                                   "Messages and list elements of one frame beyond this number are shown as bytes.", 10,
                                   &elements_limit);
}
