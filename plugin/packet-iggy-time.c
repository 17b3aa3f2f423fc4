/* packet-iggy-time.c
 * Points in time: the same ones stand in a tree over and over, and to spell one costs more than all else of its line.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-time.h"

#include <string.h>

#include "packet-iggy-text.h"

#define KEPT_BITS 6

/* A time that was seen, and from its second appearance on how Wireshark spells it. */
typedef struct {
    nstime_t when;
    char     text[48];
} kept_time_t;

static kept_time_t kept_times[1 << KEPT_BITS];

/* Preferences change the spelling. */
static void forget(void) { memset(kept_times, 0, sizeof kept_times); }

nstime_t iggy_time_of(uint64_t microseconds)
{
    nstime_t span = { (time_t)(microseconds / 1000000), (int)(microseconds % 1000000) * 1000 };
    return span;
}

static kept_time_t *slot_of(const nstime_t *when)
{
    uint64_t number = (uint64_t)when->secs * 1000000 + (uint64_t)when->nsecs / 1000;
    return &kept_times[(number * 0x9e3779b97f4a7c15u) >> (64 - KEPT_BITS)];
}

/* Take the spelling from a new item, whose line then need not be made again. */
static void keep(kept_time_t *kept, proto_item *item)
{
    const field_info *field = PITEM_FINFO(item);
    char line[ITEM_LABEL_LENGTH];
    size_t before = strlen(field->hfinfo->name) + strlen(": ");

    iggy_fill_label(PITEM_FINFO(item), line);
    if (strlen(line) > before)
        g_strlcpy(kept->text, line + before, sizeof kept->text);
    proto_item_set_text(item, "%s", line);
}

proto_item *iggy_add_time(proto_tree *tree, int hf, tvbuff_t *tvb, int offset, int length, nstime_t *when)
{
    kept_time_t *kept = slot_of(when);
    bool again = nstime_cmp(&kept->when, when) == 0;

    if (tree && PTREE_DATA(tree)->visible && again && *kept->text) {
        iggy_line_t line;
        iggy_line_field(&line, hf);
        iggy_text_string(&line.text, kept->text);
        return proto_tree_add_time_format(tree, hf, tvb, offset, length, when, "%s", line.buffer);
    }
    proto_item *item = proto_tree_add_time(tree, hf, tvb, offset, length, when);
    if (!item || !PITEM_FINFO(item) || !PTREE_DATA(item)->visible)
        return item;
    if (again) {
        keep(kept, item);
    } else {
        kept->when = *when;
        *kept->text = '\0';
    }
    return item;
}

void iggy_register_time(void) { register_init_routine(forget); }
