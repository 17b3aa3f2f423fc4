/* packet-iggy-wanted.c
 * Who looks? A filter hands a dissector a faked tree in which only the fields that it names count.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-wanted.h"

#include <string.h>

#include <epan/prefs.h>
#include <epan/tap.h>

static iggy_bool always = false;
static unsigned round_number = 1;

void iggy_wanted_round(void) { round_number++; }

bool iggy_answered(iggy_answer_t *answer)
{
    bool answered = answer->round == round_number;
    answer->round = round_number;
    return answered;
}

bool iggy_always_wanted(void) { return always; }

/* ---- what the registry knows of our fields ---- */

const header_field_info **iggy_fields;
int iggy_first_field;

/* Those that are shown beside rows or by checks: their numbers do not stand in a row. */
static const header_field_info **aside;
static unsigned aside_count;

static bool is_aside(const char *name)
{
    static const char *const beginnings[] = {
        "iggy.expert.", "iggy.checksum", "iggy.request_checksum", "iggy.reserved", "iggy.undecoded", "iggy.extra",
    };
    for (unsigned i = 0; i < array_length(beginnings); i++)
        if (g_str_has_prefix(name, beginnings[i]))
            return true;
    return false;
}

/* Fields are numbered in the order of their registration. */
int iggy_last_field(int proto)
{
    void *cookie = NULL;
    int last = proto;
    for (header_field_info *f = proto_get_first_protocol_field(proto, &cookie); f;
         f = proto_get_next_protocol_field(proto, &cookie))
        if (f->id > last)
            last = f->id;
    return last;
}

void iggy_wanted_registered(int proto)
{
    unsigned fields_count = (unsigned)(iggy_last_field(proto) - proto + 1);
    iggy_first_field = proto;
    iggy_fields = g_new0(const header_field_info *, fields_count);
    aside = g_new0(const header_field_info *, fields_count);
    for (unsigned i = 0; i < fields_count; i++) {
        iggy_fields[i] = proto_registrar_get_nth((unsigned)proto + i);
        if (is_aside(iggy_fields[i]->abbrev))
            aside[aside_count++] = iggy_fields[i];
    }
}

/* Four at a time: a filter for one of our fields has hundreds of them looked at. */
static bool any_referenced(const header_field_info *const *of, unsigned count)
{
    unsigned referenced = HF_REF_TYPE_NONE;
    for (; count >= 4; count -= 4, of += 4)
        referenced |= (unsigned)of[0]->ref_type | (unsigned)of[1]->ref_type | (unsigned)of[2]->ref_type |
                      (unsigned)of[3]->ref_type;
    for (; count; count--, of++)
        referenced |= (unsigned)of[0]->ref_type;
    return referenced != HF_REF_TYPE_NONE;
}

/* ---- answers ---- */

/* Both are registered after the dissectors, so asked for late. */
bool iggy_experts_wanted(void)
{
    static int proto, tap;
    if (always)
        return true;
    if (!tap) {
        proto = proto_get_id_by_filter_name("_ws.expert");
        tap = find_tap_id("expert");
    }
    return have_tap_listener(tap) || (proto > 0 && proto_registrar_get_nth((unsigned)proto)->ref_type != HF_REF_TYPE_NONE);
}

bool iggy_fields_wanted(proto_tree *tree, const header_field_info *const *of, unsigned count)
{
    return tree && (PTREE_DATA(tree)->visible || any_referenced(of, count));
}

bool iggy_range_wanted(proto_tree *tree, int first, int last)
{
    const header_field_info **from = iggy_fields + (first - iggy_first_field);
    if (tree && (PTREE_DATA(tree)->visible || any_referenced(from, (unsigned)(last - first + 1))))
        return true;
    return iggy_experts_wanted();
}

bool iggy_rows_alone(proto_tree *tree)
{
    static iggy_answer_t answer;
    if (!tree)
        return false;
    if (!iggy_answered(&answer))
        answer.yes = !PTREE_DATA(tree)->visible && !iggy_experts_wanted() && !any_referenced(aside, aside_count);
    return answer.yes;
}

bool iggy_items_wanted(proto_tree *tree, iggy_answer_t *answer, int first, int last)
{
    if (!iggy_rows_alone(tree))
        return true;
    if (!iggy_answered(answer))
        answer->yes = iggy_range_wanted(tree, first, last);
    return answer->yes;
}

void iggy_register_wanted(module_t *preferences)
{
    prefs_register_bool_preference(preferences, "decode_always", "Decode everything in every pass",
        "Walk messages, verify checksums and hand payloads to other dissectors also where nobody looks: for dissectors of "
        "payloads that remember earlier ones or have statistics of their own.", &always);
}
