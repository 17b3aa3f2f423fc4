/* packet-iggy-limits.c
 * Limits of values (encodings.md 18, messages.md 4), and commands that are not in a version (commands.md 2).
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-limits.h"

#include "packet-iggy-commands.h"
#include "packet-iggy-shown.h"

int hf_iggy_empty_reply = IGGY_UNREGISTERED;
static expert_field ei_iggy_range = EI_INIT;
static expert_field ei_iggy_retired_code = EI_INIT;
static expert_field ei_iggy_later_code = EI_INIT;
static expert_field ei_iggy_refused_code = EI_INIT;

/* Kept in the tables of the codec, but no server answers them (commands.md 1.5). */
#define CODE_LOGIN_USER 38u
#define CODE_LOGIN_WITH_TOKEN 44u

int iggy_check_range(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    uint64_t value = walk->reg[row->count];

    if (!iggy_walk_shows(walk) || (value >= row->min && value <= row->is))
        return offset;
    const char *name = proto_registrar_get_nth((unsigned)*row->hf)->abbrev;
    if (row->is == IGGY_NO_LIMIT)
        proto_tree_add_expert_format(tree, walk->pdu->pinfo, &ei_iggy_range, walk->tvb, offset, 0,
                                     "%s is %" PRIu64 ", the server wants %u at least", name, value, row->min);
    else
        proto_tree_add_expert_format(tree, walk->pdu->pinfo, &ei_iggy_range, walk->tvb, offset, 0,
                                     "%s is %" PRIu64 ", the server wants %u to %u", name, value, row->min, row->is);
    walk->items++;
    return offset;
}

void iggy_warn_range(iggy_walk_t *walk, proto_tree *tree, int offset, int length, const char *why)
{
    proto_tree_add_expert_format(tree, walk->pdu->pinfo, &ei_iggy_range, walk->tvb, offset, length, "%s", why);
    walk->items++;
}

void iggy_check_code(iggy_pdu_t *pdu)
{
    const iggy_command_t *command = pdu->command == IGGY_REQUEST && pdu->code ? iggy_command(pdu->code) : NULL;

    if (!command)
        return;
    if (pdu->code == CODE_LOGIN_USER || pdu->code == CODE_LOGIN_WITH_TOKEN)
        expert_add_info(pdu->pinfo, pdu->item, &ei_iggy_refused_code);
    if (command->until && pdu->version > command->until)
        expert_add_info_format(pdu->pinfo, pdu->item, &ei_iggy_retired_code, "%s is not in this version any more", command->name);
    if (pdu->version < command->since)
        expert_add_info_format(pdu->pinfo, pdu->item, &ei_iggy_later_code, "%s is not in this version yet", command->name);
}

void iggy_show_empty_reply(iggy_pdu_t *pdu)
{
    const iggy_command_t *command = pdu->command == IGGY_REPLY && pdu->size == IGGY_HEADER_SIZE ? iggy_command(pdu->code) : NULL;

    if (command && command->empty && !iggy_fact(pdu->facts, IGGY_FACT_STATUS, 0))
        proto_item_set_generated(proto_tree_add_string(pdu->tree, hf_iggy_empty_reply, pdu->tvb, 0, 0, command->empty));
}

void iggy_register_limits(int proto)
{
    static const iggy_shown_t shown[] = { { .call = iggy_check_range } };
    static hf_register_info hf[] = {
        { &hf_iggy_empty_reply, { "Empty reply", "iggy.empty_reply", FT_STRING, BASE_NONE, NULL, 0,
                                  "What it means that nothing is in it: not found, none, nothing stored, not a member", HFILL } },
    };
    static ei_register_info ei[] = {
        { &ei_iggy_range, { "iggy.expert.range", PI_PROTOCOL, PI_WARN, "A value that the server refuses", EXPFILL } },
        { &ei_iggy_retired_code,
          { "iggy.expert.retired_code", PI_PROTOCOL, PI_WARN, "The command is not in this version any more",
            EXPFILL } },
        { &ei_iggy_later_code,
          { "iggy.expert.later_code", PI_PROTOCOL, PI_WARN, "The command is not in this version yet", EXPFILL } },
        { &ei_iggy_refused_code,
          { "iggy.expert.refused_code", PI_PROTOCOL, PI_WARN, "Servers refuse this login: an eviction with reason 15",
            EXPFILL } },
    };

    proto_register_field_array(proto, hf, array_length(hf));
    expert_register_field_array(expert_register_protocol(proto), ei, array_length(ei));
    iggy_register_shown(shown, array_length(shown));
}
