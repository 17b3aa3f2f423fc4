/* packet-iggy-item.c
 * How the value of a row is shown: numbers, times and ids by their meaning, secrets hidden.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-item.h"

#include <epan/prefs.h>

#include "packet-iggy-fields.h"
#include "packet-iggy-time.h"
#include "packet-iggy-wanted.h"

iggy_bool iggy_hide_secrets;

/* ---- secrets ---- */

proto_item *iggy_add_hidden(packet_info *pinfo, proto_tree *tree, int hf, tvbuff_t *tvb, int offset, int length)
{
    uint8_t *zeros = (uint8_t *)wmem_alloc0(pinfo->pool, (size_t)length + 1);
    return proto_tree_add_bytes_format_value(tree, hf, tvb, offset, length, zeros, "[hidden]");
}

proto_item *iggy_add_unread(packet_info *pinfo, proto_tree *tree, int hf, tvbuff_t *tvb, int offset, int length)
{
    return iggy_hide_secrets ? iggy_add_hidden(pinfo, tree, hf, tvb, offset, length)
                             : proto_tree_add_item(tree, hf, tvb, offset, length, ENC_NA);
}

/* ---- values ---- */

static const char *sentinel_text(const iggy_row_t *row, uint64_t value)
{
    for (const iggy_sentinel_t *s = row->sentinels; s && s->text; s++)
        if (s->value == value)
            return s->text;
    return NULL;
}

void iggy_note_secret(iggy_walk_t *walk, const iggy_row_t *row, proto_item *item)
{
    if (row->flags & IGGY_SECRET)
        expert_add_info(walk->pdu->pinfo, item, &ei_iggy_secret);
}

/* A value that stands for something else is shown by its meaning, with the number kept for filters. */
static void show_sentinel(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset, uint64_t value,
                          const char *text, enum ftenum type)
{
    iggy_line_t line;
    iggy_line_field(&line, *row->hf);
    iggy_text_string(&line.text, text);
    if (type == FT_ABSOLUTE_TIME) {
        nstime_t span = iggy_time_of(value);
        proto_tree_add_time_format(tree, *row->hf, walk->tvb, offset, row->size, &span, "%s", line.buffer);
        return;
    }
    iggy_text_string(&line.text, " (");
    iggy_text_decimal(&line.text, value);
    iggy_text_string(&line.text, ")");
    if (type == FT_UINT64)
        proto_tree_add_uint64_format(tree, *row->hf, walk->tvb, offset, row->size, value, "%s", line.buffer);
    else
        proto_tree_add_uint_format(tree, *row->hf, walk->tvb, offset, row->size, (uint32_t)value, "%s", line.buffer);
}

/* Client ids of one half are numbers: "efcdab89-6745-2301-0000-000000000000 (81985529216486895)". All frames of a connection
 * have the same one, so that its text is kept. */
static const char *spell_id(const uint8_t *bytes)
{
    static struct {
        uint8_t bytes[16];
        char    spelt[64];
    } last;
    if (!*last.spelt || memcmp(last.bytes, bytes, sizeof last.bytes)) {
        uint64_t number;
        iggy_text_t text;
        memcpy(last.bytes, bytes, sizeof last.bytes);
        memcpy(&number, bytes, sizeof number);
        iggy_text_begin(&text, last.spelt, sizeof last.spelt);
        iggy_text_guid(&text, bytes, true);
        iggy_text_string(&text, " (");
        iggy_text_decimal(&text, GUINT64_FROM_LE(number));
        iggy_text_string(&text, ")");
    }
    return last.spelt;
}

static proto_item *show_guid(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    if (!tree || !PTREE_DATA(tree)->visible || tvb_get_letoh64(walk->tvb, offset + 8) != 0)
        return proto_tree_add_item(tree, *row->hf, walk->tvb, offset, row->size, ENC_BIG_ENDIAN);
    e_guid_t guid;
    tvb_get_guid(walk->tvb, offset, &guid, ENC_BIG_ENDIAN);
    iggy_line_t line;
    iggy_line_field(&line, *row->hf);
    iggy_text_string(&line.text, spell_id(walk->bytes + offset));
    return proto_tree_add_guid_format(tree, *row->hf, walk->tvb, offset, row->size, &guid, "%s", line.buffer);
}

/* What has been read already is not read again. */
static proto_item *show_value(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset, uint64_t value,
                              enum ftenum type)
{
    switch (type) {
    case FT_UINT8:
    case FT_UINT16:
    case FT_UINT32:
        return proto_tree_add_uint(tree, *row->hf, walk->tvb, offset, row->size, (uint32_t)value);
    case FT_UINT64:
        return proto_tree_add_uint64(tree, *row->hf, walk->tvb, offset, row->size, value);
    case FT_ABSOLUTE_TIME: {
        nstime_t when = iggy_time_of(value);
        return iggy_add_time(tree, *row->hf, walk->tvb, offset, row->size, &when);
    }
    case FT_GUID:
        return show_guid(walk, row, tree, offset);
    default:
        return proto_tree_add_item(tree, *row->hf, walk->tvb, offset, row->size,
                                   type == FT_BYTES ? ENC_NA : ENC_LITTLE_ENDIAN);
    }
}

proto_item *iggy_show_item(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset, uint64_t value)
{
    enum ftenum type = iggy_field_info(*row->hf)->type;
    const char *text = row->sentinels ? sentinel_text(row, value) : NULL;
    if (text) {
        show_sentinel(walk, row, tree, offset, value, text, type);
        return NULL;
    }
    if (type == FT_BYTES && (row->flags & IGGY_SECRET) && iggy_hide_secrets) {
        iggy_add_hidden(walk->pdu->pinfo, tree, *row->hf, walk->tvb, offset, row->size);
        return NULL;
    }
    proto_item *item = show_value(walk, row, tree, offset, value, type);
    iggy_note_secret(walk, row, item);
    return item;
}

void iggy_register_item(void)
{
    prefs_register_bool_preference(iggy_preferences, "hide_secrets", "Hide secrets",
                                   "Show a placeholder in tree and columns for passwords, tokens, hashes, keys and bind "
                                   "secrets, and for bytes among which there may be one: parts of frames, bodies that are "
                                   "not known. The bytes of the packet stay what they are: the bytes pane shows them, TCP "
                                   "has items of its own with them, and so have PDML (value) and JSON (tcp.payload).",
                                   &iggy_hide_secrets);
}
