/* packet-iggy-pdu.c
 * One frame: its header, its place in the conversation, its body, its line in the columns, its facts for the taps.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-pdu.h"

#include <string.h>

#include <epan/tap.h>

#include "packet-iggy-batch.h"
#include "packet-iggy-commands.h"
#include "packet-iggy-conversation.h"
#include "packet-iggy-export.h"
#include "packet-iggy-fields.h"
#include "packet-iggy-headers.h"
#include "packet-iggy-info.h"
#include "packet-iggy-names.h"
#include "packet-iggy-learnt.h"
#include "packet-iggy-links.h"
#include "packet-iggy-limits.h"
#include "packet-iggy-options.h"
#include "packet-iggy-payload.h"
#include "packet-iggy-repeats.h"
#include "packet-iggy-replica.h"
#include "packet-iggy-sessions.h"
#include "packet-iggy-shown.h"
#include "packet-iggy-values.h"
#include "packet-iggy-wanted.h"

int iggy_tap;

static int hf_iggy_header = IGGY_UNREGISTERED;
static int hf_iggy_body = IGGY_UNREGISTERED;
static int hf_iggy_opaque = IGGY_UNREGISTERED;
static int ett_iggy = IGGY_UNREGISTERED;
static int ett_iggy_header = IGGY_UNREGISTERED;
static int ett_iggy_body = IGGY_UNREGISTERED;
static expert_field ei_iggy_unknown_command = EI_INIT;
static expert_field ei_iggy_unknown_code = EI_INIT;
static expert_field ei_iggy_unknown_operation = EI_INIT;

/* Fields of the rooms of bodies: their numbers are one range, since they are registered in a row. */
static int first_body_field, last_body_field;

/* Whether anybody looks for any field of any body. */
static bool bodies_wanted(proto_tree *tree)
{
    static iggy_answer_t answer;
    if (!tree)
        return iggy_experts_wanted() || iggy_payload_wanted(NULL);
    if (!iggy_answered(&answer))
        answer.yes = iggy_range_wanted(tree, first_body_field, last_body_field) || iggy_payload_wanted(tree);
    return answer.yes;
}

/* ---- the header ---- */

/* Facts of the header, dry: the version is not known yet. */
static void read_header(iggy_pdu_t *pdu)
{
    iggy_walk_t walk;
    iggy_walk_init(&walk, pdu, IGGY_WALK_FACTS, IGGY_0_12_2, (int)IGGY_HEADER_SIZE);
    if (walk.captured >= (int)IGGY_HEADER_SIZE)
        iggy_walk_steps(&walk, iggy_header_steps(pdu->command), 0);
    else
        iggy_walk_rows(&walk, iggy_header_rows(pdu->command), NULL, 0);
    pdu->operation = (uint8_t)iggy_fact(pdu->facts, IGGY_FACT_OPERATION, 0);
    pdu->response = pdu->command == IGGY_REPLY || pdu->command == IGGY_EVICTION;
}

/* Whether the line of the Info column, a tap or an export asks for facts, with a tree or without. */
static bool facts_wanted(const packet_info *pinfo)
{
    return col_get_writable(pinfo->cinfo, COL_INFO) || have_tap_listener(iggy_tap) || iggy_export_wanted();
}

/* A header that names a consensus group is read before the connection is known, and so are the names of what it names. */
static void name_group(iggy_pdu_t *pdu)
{
    if (!iggy_has(pdu->facts, IGGY_FACT_STREAM_ID) || !facts_wanted(pdu->pinfo))
        return;
    iggy_names_complete(pdu, pdu->facts, IGGY_FACT_STREAM_ID);
    iggy_names_complete(pdu, pdu->facts, IGGY_FACT_TOPIC_ID);
}

static void show_unknown(iggy_pdu_t *pdu)
{
    if (!try_val_to_str_ext(pdu->command, &iggy_command_vals_ext))
        expert_add_info_format(pdu->pinfo, pdu->item, &ei_iggy_unknown_command, "Unknown command %u", pdu->command);
    if (iggy_has(pdu->facts, IGGY_FACT_OPERATION) && !iggy_operation(pdu->operation))
        expert_add_info_format(pdu->pinfo, pdu->item, &ei_iggy_unknown_operation, "Unknown operation %u", pdu->operation);
    else if (pdu->command == IGGY_REQUEST && pdu->operation == IGGY_OP_NON_REPLICATED && !iggy_command(pdu->code))
        expert_add_info_format(pdu->pinfo, pdu->item, &ei_iggy_unknown_code, "Unknown command code %u", pdu->code);
}

/* The header's item has no bytes: one of 256 would look like a frame to tools that find frames in PDML by their size. */
static void show_header(iggy_pdu_t *pdu)
{
    bool rows_alone = iggy_rows_alone(pdu->tree);
    if (rows_alone && !iggy_field_wanted(pdu->tree, hf_iggy_header) && !iggy_header_wanted(pdu->tree, pdu->command))
        return;
    proto_item *item = proto_tree_add_item(pdu->tree, hf_iggy_header, pdu->tvb, 0, 0, ENC_NA);
    proto_tree *tree = proto_item_add_subtree(item, ett_iggy_header);
    iggy_walk_t walk;
    iggy_walk_init(&walk, pdu, IGGY_WALK_SHOW, pdu->version, (int)IGGY_HEADER_SIZE);
    walk.rows_alone = rows_alone;
    int after = rows_alone && walk.captured >= (int)IGGY_HEADER_SIZE
                    ? iggy_walk_steps_shown(&walk, iggy_header_steps_shown(pdu->command, pdu->version), tree, 0)
                    : iggy_walk_rows(&walk, iggy_header_rows(pdu->command), tree, 0);
    iggy_walk_close(&walk, tree, after);
    if (rows_alone)
        return;
    show_unknown(pdu);
    iggy_check_code(pdu);
    iggy_check_header(pdu, tree);
}

/* ---- the body ---- */

bool iggy_result_framed(const iggy_pdu_t *pdu)
{
    const iggy_operation_t *operation = iggy_operation(pdu->operation);
    return pdu->command == IGGY_REPLY && operation && (operation->flags & IGGY_RESULT_FRAMED) &&
           !iggy_fact(pdu->facts, IGGY_FACT_STATUS, 0) &&
           (pdu->operation != IGGY_OP_REGISTER || pdu->size > IGGY_HEADER_SIZE);
}

/* The client command of a request or reply: by code, else by the operation or the one that it was renamed from. */
static const iggy_command_t *client_command(const iggy_pdu_t *pdu)
{
    if (pdu->code)
        return iggy_command(pdu->code);
    if (pdu->operation == IGGY_OP_REGISTER)
        return iggy_command(40);
    const iggy_operation_t *operation = iggy_operation(pdu->operation);
    return operation ? iggy_command_of_operation(operation->request) : NULL;
}

const iggy_row_t *iggy_body_rows(const iggy_pdu_t *pdu)
{
    if (pdu->command != IGGY_REQUEST && pdu->command != IGGY_REPLY)
        return iggy_replica_rows(pdu);
    const iggy_command_t *command = client_command(pdu);
    if (!command)
        return NULL;
    return pdu->response ? command->reply : command->request;
}

static const iggy_row_t *payload_rows(const iggy_pdu_t *pdu)
{
    return iggy_fact(pdu->facts, IGGY_FACT_STATUS, 0) && pdu->response ? iggy_rows_none : iggy_body_rows(pdu);
}

/* A filter's tree asks for few fields, and most bodies have none of them: to look at the fields of all would cost more than all
 * else that a filter on the header needs. */
static bool body_wanted(const iggy_pdu_t *pdu)
{
    static const int *const own[] = { &hf_iggy_body, &hf_iggy_opaque, &hf_iggy_empty_reply };
    if (!iggy_rows_alone(pdu->tree))
        return bodies_wanted(pdu->tree);
    for (size_t i = 0; i < array_length(own); i++)
        if (iggy_field_wanted(pdu->tree, *own[i]))
            return true;
    if (iggy_payload_wanted(pdu->tree))
        return true;
    const iggy_row_t *rows = payload_rows(pdu);
    return (iggy_result_framed(pdu) && iggy_rows_wanted(pdu->tree, iggy_rows_result_section, bodies_wanted)) ||
           (rows && iggy_rows_wanted(pdu->tree, rows, bodies_wanted));
}

/* A reply's result section, then rows; after a rejection or a status nothing follows. */
static int walk_payload(iggy_pdu_t *pdu, iggy_walk_t *walk, proto_tree *tree)
{
    int offset = (int)IGGY_HEADER_SIZE;
    if (iggy_result_framed(pdu)) {
        offset = iggy_walk_rows(walk, iggy_rows_result_section, tree, offset);
        if (walk->failed || iggy_fact(pdu->facts, IGGY_FACT_RESULT, 0))
            return offset;
    }
    if (offset >= walk->end && pdu->response)
        return offset;
    const iggy_row_t *rows = payload_rows(pdu);
    static const iggy_row_t opaque[] = { IGGY_REST(hf_iggy_opaque, .flags = IGGY_OPAQUE), IGGY_ROWS_END };
    return iggy_walk_rows(walk, rows ? rows : opaque, tree, offset);
}

static void walk_body(iggy_pdu_t *pdu, iggy_walk_mode_t mode, proto_tree *tree)
{
    iggy_walk_t walk;
    iggy_walk_init(&walk, pdu, mode, pdu->version, (int)MIN(pdu->size, tvb_reported_length(pdu->tvb)));
    walk.rows_alone = iggy_rows_alone(tree);
    int after = walk_payload(pdu, &walk, tree);
    if (!PINFO_FD_VISITED(pdu->pinfo) && !walk.failed)
        iggy_repeats_note(pdu, &walk);
    iggy_walk_close(&walk, tree, after);
}

static void show_body(iggy_pdu_t *pdu)
{
    unsigned length = tvb_captured_length(pdu->tvb);
    proto_tree *tree = pdu->tree;
    if (length > IGGY_HEADER_SIZE) {
        proto_item *item = proto_tree_add_item(pdu->tree, hf_iggy_body, pdu->tvb, (int)IGGY_HEADER_SIZE,
                                               (int)(length - IGGY_HEADER_SIZE), ENC_NA);
        tree = proto_item_add_subtree(item, ett_iggy_body);
    }
    walk_body(pdu, IGGY_WALK_SHOW, tree);
    iggy_show_empty_reply(pdu);
}

/* Whether the body is needed in the first pass, whoever looks: a reply is about what its request says, and names are learnt. */
static bool teaches(const iggy_pdu_t *pdu)
{
    const iggy_command_t *command = pdu->response ? client_command(pdu) : NULL;
    return pdu->command == IGGY_REQUEST || (command && (command->flags & IGGY_LEARN)) || iggy_names_teaches(pdu);
}

/* Walk the body once: with the tree if it is looked at, else for facts if Info, names or a tap need them. */
static void dissect_body(iggy_pdu_t *pdu, bool first_pass)
{
    if (tvb_reported_length(pdu->tvb) < pdu->size || pdu->size < IGGY_HEADER_SIZE)
        return;
    if (body_wanted(pdu)) {
        show_body(pdu);
        return;
    }
    bool looked_at = facts_wanted(pdu->pinfo);
    bool needed = first_pass && teaches(pdu);
    bool repeats = needed && iggy_repeats(pdu); /* then its exchange has the facts that are kept of it */
    pdu->taught = repeats && !looked_at;
    if (looked_at || (needed && !pdu->taught))
        walk_body(pdu, IGGY_WALK_FACTS, NULL);
}

/* ---- columns ---- */

#define SEPARATOR " | " /* between those of a packet; col_append_sep_str() would read all that is there several times */

/* Several frames of a packet stand one after the other; the fence keeps what an earlier one wrote. */
static void fill_columns(iggy_pdu_t *pdu)
{
    column_info *columns = pdu->pinfo->cinfo;
    bool info = col_get_writable(columns, COL_INFO) != 0;
    bool visible = pdu->tree && PTREE_DATA(pdu->tree)->visible;
    if (!info && !visible)
        return;
    char line[COL_MAX_INFO_LEN];
    const char *text = line + strlen(SEPARATOR);
    iggy_text_t writer;
    iggy_text_begin(&writer, line, sizeof line);
    iggy_text_string(&writer, SEPARATOR);
    iggy_info(pdu, &writer);
    if (info) {
        col_set_str(columns, COL_PROTOCOL, "Iggy");
        col_clear(columns, COL_INFO);
        const char *before = col_get_text(columns, COL_INFO);
        col_add_str(columns, COL_INFO, before && *before ? line : text);
        col_set_fence(columns, COL_INFO);
    }
    iggy_append_strings(pdu->item, ", ", text, "");
}

/* ---- the frame ---- */

static void open_tree(iggy_pdu_t *pdu, proto_tree *tree)
{
    int length = (int)tvb_captured_length(pdu->tvb);
    pdu->item = proto_tree_add_item(tree, proto_iggy, pdu->tvb, 0, length, ENC_NA);
    pdu->tree = proto_item_add_subtree(pdu->item, ett_iggy);
}

/* The layer of a dissector that adds nothing is dropped: frame.protocols would not name it. One item a call will do. */
static void name_layer(tvbuff_t *tvb, proto_tree *tree)
{
    static iggy_answer_t named;
    if (tree && !iggy_answered(&named))
        proto_tree_add_item(tree, proto_iggy, tvb, 0, (int)tvb_captured_length(tvb), ENC_NA);
}

static iggy_pdu_t *new_pdu(tvbuff_t *tvb, packet_info *pinfo, const iggy_place_t *place)
{
    iggy_pdu_t *pdu = wmem_new0(pinfo->pool, iggy_pdu_t);
    pdu->facts = wmem_new0(pinfo->pool, iggy_facts_t);
    pdu->pinfo = pinfo;
    pdu->tvb = tvb;
    pdu->place = (const iggy_place_t *)wmem_memdup(pinfo->pool, place, sizeof *place); /* taps run when the carrier is gone */
    if (tvb_captured_length(tvb) > IGGY_COMMAND_OFFSET) {
        pdu->size = tvb_get_letohl(tvb, IGGY_SIZE_OFFSET);
        pdu->command = tvb_get_uint8(tvb, IGGY_COMMAND_OFFSET);
    }
    return pdu;
}

void dissect_iggy_pdu(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, const iggy_place_t *place)
{
    bool looked_at = (tree && proto_field_is_referenced(tree, proto_iggy)) || iggy_experts_wanted() || iggy_payload_wanted(tree);
    if (!looked_at)
        name_layer(tvb, tree);
    if (!looked_at && PINFO_FD_VISITED(pinfo) && !facts_wanted(pinfo))
        return; /* all that it teaches is known */
    iggy_pdu_t *pdu = new_pdu(tvb, pinfo, place);
    read_header(pdu);
    iggy_conversation_frame(pdu);
    iggy_links_frame(pdu);
    name_group(pdu);
    if (looked_at) {
        open_tree(pdu, tree);
        show_header(pdu);
        iggy_conversation_show(pdu, pdu->tree);
        iggy_links_show(pdu, pdu->tree);
    }
    dissect_body(pdu, !PINFO_FD_VISITED(pinfo));
    iggy_conversation_after_body(pdu);
    if (looked_at) {
        iggy_learnt_show(pdu, pdu->tree);
        iggy_sessions_show(pdu, pdu->tree);
    }
    fill_columns(pdu);
    tap_queue_packet(iggy_tap, pinfo, pdu);
}

/* ---- registration ---- */

void iggy_register_bodies(int proto)
{
    static hf_register_info hf[] = {
        { &hf_iggy_body, { "Body", "iggy.body", FT_NONE, BASE_NONE, NULL, 0, NULL, HFILL } },
        { &hf_iggy_opaque, { "Opaque", "iggy.opaque", FT_BYTES, BASE_NONE, NULL, 0,
                             "Bytes whose layout is not known: the command is unknown, or the request is not in the capture",
                             HFILL } },
    };
    iggy_register_header_fields(proto);
    first_body_field = iggy_last_field(proto) + 1;
    proto_register_field_array(proto, hf, array_length(hf));
    iggy_register_fields(proto);
    iggy_register_options(proto);
    iggy_register_limits(proto);
    iggy_register_commands_system(proto);
    iggy_register_commands_changes(proto);
    iggy_register_commands_users(proto);
    iggy_register_commands_messages(proto);
    iggy_register_commands_streams(proto);
    iggy_register_commands_groups(proto);
    iggy_register_batch(proto);
    iggy_register_replica(proto);
    last_body_field = iggy_last_field(proto);
}

void iggy_register_pdu(int proto)
{
    static hf_register_info hf[] = {
        { &hf_iggy_header, { "Header", "iggy.header", FT_NONE, BASE_NONE, NULL, 0, "The 256 bytes that every frame begins with",
                             HFILL } },
    };
    static int *ett[] = { &ett_iggy, &ett_iggy_header, &ett_iggy_body };
    static ei_register_info ei[] = {
        { &ei_iggy_unknown_command, { "iggy.expert.unknown_command", PI_UNDECODED, PI_NOTE, "Unknown command", EXPFILL } },
        { &ei_iggy_unknown_code, { "iggy.expert.unknown_code", PI_UNDECODED, PI_NOTE, "Unknown command code", EXPFILL } },
        { &ei_iggy_unknown_operation,
          { "iggy.expert.unknown_operation", PI_UNDECODED, PI_NOTE, "Unknown operation", EXPFILL } },
    };
    proto_register_field_array(proto, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    expert_register_field_array(expert_register_protocol(proto), ei, array_length(ei));
    iggy_tap = register_tap("iggy");
}
