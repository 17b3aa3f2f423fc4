/* packet-iggy-wanted.c
 * Who looks? A filter hands a dissector a faked tree in which only the fields that it names count.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-wanted.h"

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

bool iggy_wanted(proto_tree *tree, const int *const *fields, unsigned count)
{
    for (unsigned i = 0; tree && i < count; i++)
        if (proto_field_is_referenced(tree, *fields[i]))
            return true;
    return iggy_experts_wanted();
}

bool iggy_range_wanted(proto_tree *tree, int first, int last)
{
    for (int hf = first; tree && hf <= last; hf++)
        if (proto_field_is_referenced(tree, hf))
            return true;
    return iggy_experts_wanted();
}

void iggy_register_wanted(module_t *preferences)
{
    prefs_register_bool_preference(preferences, "decode_always", "Decode everything in every pass",
        "Walk messages, verify checksums and hand payloads to other dissectors also where nobody looks: for dissectors of payloads "
        "that remember earlier ones or have statistics of their own.", &always);
}
