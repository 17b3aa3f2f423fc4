/* packet-iggy-headers.c
 * The 256-byte headers: what all commands share, and those of clients and servers (framing.md 2, 3: commands 0..5, 8, 13);
 * the result section (framing.md 5). The headers of the replica plane are in packet-iggy-headers-replica.c.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-headers.h"

#include "packet-iggy-checksum.h"
#include "packet-iggy-commands.h"
#include "packet-iggy-fields.h"
#include "packet-iggy-headers-rows.h"
#include "packet-iggy-names.h"
#include "packet-iggy-shown.h"
#include "packet-iggy-values.h"

int hf_iggy_size = IGGY_UNREGISTERED;
int hf_iggy_command = IGGY_UNREGISTERED;
int hf_iggy_code = IGGY_UNREGISTERED;
int hf_iggy_status = IGGY_UNREGISTERED;

static int hf_iggy_cluster = IGGY_UNREGISTERED;
static int hf_iggy_release = IGGY_UNREGISTERED;
static int hf_iggy_reserved_command = IGGY_UNREGISTERED;
static int hf_iggy_context = IGGY_UNREGISTERED;
static int hf_iggy_committed_result = IGGY_UNREGISTERED;
static int hf_iggy_eviction_reason = IGGY_UNREGISTERED;
static int hf_iggy_eviction_version = IGGY_UNREGISTERED;
static int hf_iggy_eviction_version_min = IGGY_UNREGISTERED;
static int hf_iggy_result_count = IGGY_UNREGISTERED;
static int hf_iggy_result_entry = IGGY_UNREGISTERED;
static int hf_iggy_result_index = IGGY_UNREGISTERED;
static int hf_iggy_result = IGGY_UNREGISTERED;

static int ett_iggy_group = IGGY_UNREGISTERED;
static int ett_iggy_result_entry = IGGY_UNREGISTERED;

static expert_field ei_iggy_group_invalid = EI_INIT;
static expert_field ei_iggy_failed = EI_INIT;

/* ---- calls ---- */

/* An error code: under row->hf always, and as iggy.error where it is one. */
static int call_error_code(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    if (!iggy_walk_there(walk, row, offset, 4))
        return offset;
    uint32_t code = tvb_get_letohl(walk->tvb, offset);
    iggy_walk_note(walk, (iggy_fact_t)row->fact, code, offset, 4, NULL);
    if (!iggy_walk_shows(walk))
        return offset + 4;
    proto_tree_add_uint(tree, *row->hf, walk->tvb, offset, 4, code);
    if (code) {
        proto_item *item = proto_tree_add_uint(tree, hf_iggy_error, walk->tvb, offset, 4, code);
        expert_add_info_format(walk->pdu->pinfo, item, &ei_iggy_failed, "The request failed: %s",
                               val_to_str_ext_const(code, &iggy_error_vals_ext, "unknown error"));
    }
    return offset + 4;
}

/* Count of result entries. No entry is success, which later layers read as result 0. */
static int call_result_count(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    if (!iggy_walk_there(walk, row, offset, 4))
        return offset;
    uint32_t count = tvb_get_letohl(walk->tvb, offset);
    walk->reg[row->put] = count;
    if (count == 0)
        iggy_walk_note(walk, IGGY_FACT_RESULT, 0, offset, 4, NULL);
    if (iggy_walk_shows(walk))
        proto_tree_add_uint(tree, hf_iggy_result_count, walk->tvb, offset, 4, count);
    return offset + 4;
}

int iggy_call_version(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    if (!iggy_walk_there(walk, row, offset, 4))
        return offset;
    uint32_t version = tvb_get_letohl(walk->tvb, offset);
    iggy_walk_note(walk, (iggy_fact_t)row->fact, version, offset, 4, NULL);
    if (!iggy_walk_shows(walk))
        return offset + 4;
    if (version == 0) {
        proto_tree_add_uint_format_value(tree, *row->hf, walk->tvb, offset, 4, version, "none");
        return offset + 4;
    }
    iggy_version_spell(proto_tree_add_uint(tree, *row->hf, walk->tvb, offset, 4, version), version);
    return offset + 4;
}

/* Requests have two forms; the routed one, between servers, is told by the connection, not by its bytes. */
static int call_plane(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree _U_, int offset)
{
    walk->reg[row->put] = walk->pdu->place && walk->pdu->place->replica;
    return offset;
}

/* ---- consensus groups (replica.md 2) ---- */

static void note_group(iggy_walk_t *walk, uint64_t group, int offset)
{
    iggy_walk_note(walk, IGGY_FACT_STREAM_ID, iggy_group_stream(group), offset, 8, NULL);
    iggy_walk_note(walk, IGGY_FACT_TOPIC_ID, iggy_group_topic(group), offset, 8, NULL);
    iggy_walk_note(walk, IGGY_FACT_PARTITION, iggy_group_partition(group), offset, 8, NULL);
    iggy_names_complete(walk->pdu, walk->facts, IGGY_FACT_STREAM_ID);
    iggy_names_complete(walk->pdu, walk->facts, IGGY_FACT_TOPIC_ID);
}

static void show_generated_number(iggy_walk_t *walk, proto_tree *tree, int field, int offset, uint64_t value)
{
    bool wide = proto_registrar_get_nth((unsigned)field)->type == FT_UINT64;
    proto_item *item = wide ? proto_tree_add_uint64(tree, field, walk->tvb, offset, 8, value)
                            : proto_tree_add_uint(tree, field, walk->tvb, offset, 8, (uint32_t)value);
    proto_item_set_generated(item);
}

static void show_learnt_name(iggy_walk_t *walk, proto_tree *tree, int field, int offset, const iggy_name_key_t *key)
{
    const char *name = iggy_names_name(walk->pdu, key);
    if (name)
        proto_item_set_generated(proto_tree_add_string(tree, field, walk->tvb, offset, 8, name));
}

static void show_group_parts(iggy_walk_t *walk, proto_item *item, int offset, uint64_t group)
{
    uint32_t stream = iggy_group_stream(group), topic = iggy_group_topic(group), partition = iggy_group_partition(group);
    iggy_name_key_t stream_key = { IGGY_NAME_STREAM, 0, 0, stream };
    iggy_name_key_t topic_key = { IGGY_NAME_TOPIC, stream, 0, topic };
    proto_tree *parts = proto_item_add_subtree(item, ett_iggy_group);
    proto_item_append_text(item, " (stream %u, topic %u, partition %u)", stream, topic, partition);
    show_generated_number(walk, parts, hf_iggy_stream_id, offset, stream);
    show_learnt_name(walk, parts, hf_iggy_stream_name, offset, &stream_key);
    show_generated_number(walk, parts, hf_iggy_topic_id, offset, topic);
    show_learnt_name(walk, parts, hf_iggy_topic_name, offset, &topic_key);
    show_generated_number(walk, parts, hf_iggy_partition_id, offset, partition);
}

static void show_group(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset, uint64_t group)
{
    proto_item *item = proto_tree_add_uint64(tree, *row->hf, walk->tvb, offset, 8, group);
    if (group == IGGY_GROUP_METADATA)
        proto_item_append_text(item, " (metadata)");
    else if (iggy_group_is_partition(group))
        show_group_parts(walk, item, offset, group);
    else
        expert_add_info(walk->pdu->pinfo, item, &ei_iggy_group_invalid);
}

int iggy_call_group(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    if (!iggy_walk_there(walk, row, offset, 8))
        return offset;
    uint64_t group = tvb_get_letoh64(walk->tvb, offset);
    iggy_walk_note(walk, (iggy_fact_t)row->fact, group, offset, 8, NULL);
    if (row->fact == IGGY_FACT_GROUP && walk->facts && iggy_group_is_partition(group))
        note_group(walk, group, offset);
    if (iggy_walk_shows(walk))
        show_group(walk, row, tree, offset, group);
    return offset + 8;
}

/* A group that does not matter in this frame: primary_rebalance kinds 0 and 1 leave it 0, which is no partition there. */
int iggy_call_group_unless_0(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    if (!iggy_walk_there(walk, row, offset, 8))
        return offset;
    if (tvb_get_letoh64(walk->tvb, offset) != 0)
        return iggy_call_group(walk, row, tree, offset);
    if (iggy_walk_shows(walk))
        proto_item_append_text(proto_tree_add_uint64(tree, *row->hf, walk->tvb, offset, 8, 0), " (none)");
    return offset + 8;
}

/* ---- rows ---- */

/* Bytes 0..61 of every frame (framing.md 2). */
const iggy_row_t iggy_rows_common[] = {
    IGGY_CALL(iggy_call_checksum, .size = 16),
    IGGY_CALL(iggy_call_checksum_body, .size = 16),
    IGGY_FIXED(hf_iggy_cluster, 16),
    IGGY_U32(hf_iggy_size, .fact = IGGY_FACT_SIZE),
    IGGY_U32(hf_iggy_view, .fact = IGGY_FACT_VIEW),
    IGGY_U32(hf_iggy_release),
    IGGY_U8(hf_iggy_command, .fact = IGGY_FACT_COMMAND),
    IGGY_U8(hf_iggy_replica, .fact = IGGY_FACT_REPLICA),
    IGGY_ROWS_END
};

/* 0..4, and commands that are not known */
static const iggy_row_t generic[] = {
    IGGY_COMMON,
    IGGY_FIXED(hf_iggy_reserved_command, 128),
    IGGY_ROWS_END
};

/* From 0.12.0 on what a request captured of the partition follows the code; IGGY_REG_HAS: on the replica plane. */
static const iggy_row_t request_context[] = {
    IGGY_U64(hf_iggy_context_partition_incarnation),
    IGGY_U64(hf_iggy_context_owner_generation),
    IGGY_U64(hf_iggy_context_minimum_metadata_op),
    IGGY_RESERVED(16),
    IGGY_RESERVED(16, .when = IGGY_REG_HAS, .is = 0),
    IGGY_U64(hf_iggy_metadata_watermark, .when = IGGY_REG_HAS, .is = 1),
    IGGY_ROWS_END
};

static const iggy_row_t request[] = {
    IGGY_COMMON,
    IGGY_FIXED(hf_iggy_client, 16, .fact = IGGY_FACT_CLIENT),
    IGGY_CALL(iggy_call_request_checksum, .size = 16, .until = IGGY_0_11_0),
    IGGY_FIXED(hf_iggy_request_checksum, 16, .fact = IGGY_FACT_REQUEST_CHECKSUM, .since = IGGY_0_12_0),
    IGGY_TIME(hf_iggy_timestamp, .fact = IGGY_FACT_TIMESTAMP, .sentinels = iggy_not_set_0),
    IGGY_U64(hf_iggy_request, .fact = IGGY_FACT_REQUEST),
    IGGY_U8(hf_iggy_operation, .fact = IGGY_FACT_OPERATION, .put = IGGY_REG_OPERATION),
    IGGY_RESERVED(7),
    IGGY_U64(hf_iggy_session, .fact = IGGY_FACT_SESSION),
    IGGY_U32(hf_iggy_acting_user, .fact = IGGY_FACT_ACTING_USER),
    IGGY_U32(hf_iggy_code, .fact = IGGY_FACT_CODE, .when = IGGY_REG_OPERATION, .is = IGGY_OP_NON_REPLICATED),
    IGGY_RESERVED(4, .when = IGGY_REG_OPERATION, .is = IGGY_OP_NON_REPLICATED, .flags = IGGY_NOT),
    IGGY_CALL(call_plane, .put = IGGY_REG_HAS),
    IGGY_RESERVED(48, .until = IGGY_0_11_0),
    IGGY_RESERVED(8, .until = IGGY_0_11_0, .when = IGGY_REG_HAS, .is = 0),
    IGGY_ROWS(request_context, .since = IGGY_0_12_0),
    IGGY_GROUP(.when = IGGY_REG_HAS, .is = 1),
    IGGY_ROWS_END
};

static const iggy_row_t reply_reserved[] = {
    IGGY_U8(hf_iggy_committed_result),
    IGGY_RESERVED(3),
    IGGY_U64(hf_iggy_context_partition_incarnation),
    IGGY_RESERVED(24),
    IGGY_ROWS_END
};

static const iggy_row_t reply[] = {
    IGGY_COMMON,
    IGGY_FIXED(hf_iggy_request_checksum, 16, .fact = IGGY_FACT_REQUEST_CHECKSUM),
    IGGY_FIXED(hf_iggy_context, 16),
    IGGY_FIXED(hf_iggy_client, 16, .fact = IGGY_FACT_CLIENT),
    IGGY_U64(hf_iggy_op, .fact = IGGY_FACT_OP),
    IGGY_U64(hf_iggy_commit, .fact = IGGY_FACT_COMMIT),
    IGGY_TIME(hf_iggy_timestamp, .fact = IGGY_FACT_TIMESTAMP, .sentinels = iggy_not_set_0),
    IGGY_U64(hf_iggy_request, .fact = IGGY_FACT_REQUEST),
    IGGY_U8(hf_iggy_operation, .fact = IGGY_FACT_OPERATION, .put = IGGY_REG_OPERATION),
    IGGY_RESERVED(7),
    IGGY_CALL(call_error_code, .size = 4, .hf = &hf_iggy_status, .fact = IGGY_FACT_STATUS),
    IGGY_RESERVED(36, .until = IGGY_0_11_0),
    IGGY_ROWS(reply_reserved, .since = IGGY_0_12_0),
    IGGY_ROWS_END
};

static const iggy_row_t eviction[] = {
    IGGY_COMMON_STRICT,
    IGGY_FIXED(hf_iggy_client, 16, .fact = IGGY_FACT_CLIENT),
    IGGY_CALL(iggy_call_version, .size = 4, .hf = &hf_iggy_eviction_version, .fact = IGGY_FACT_HEADER_VERSION),
    IGGY_CALL(iggy_call_version, .size = 4, .hf = &hf_iggy_eviction_version_min),
    IGGY_RESERVED(103, .flags = IGGY_ENFORCED),
    IGGY_U8(hf_iggy_eviction_reason, .fact = IGGY_FACT_REASON),
    IGGY_ROWS_END
};

const iggy_row_t *iggy_header_rows(uint8_t command)
{
    static const iggy_row_t *const client_plane[] = {
        [IGGY_REQUEST] = request,
        [IGGY_REPLY] = reply,
        [IGGY_EVICTION] = eviction,
    };
    const iggy_row_t *rows = command < array_length(client_plane) ? client_plane[command] : NULL;
    if (!rows)
        rows = iggy_replica_header_rows(command);
    return rows ? rows : generic;
}

/* `command`, `operation`, `request` and `code` stand at the same place in all versions: the newest one reads them all. */
const iggy_step_t *iggy_header_steps(uint8_t command)
{
    static const iggy_step_t *steps[IGGY_COMMANDS + 1];
    unsigned number = command < IGGY_COMMANDS ? command : IGGY_COMMANDS;
    if (!steps[number])
        steps[number] = iggy_steps(iggy_header_rows((uint8_t)number), IGGY_0_12_2);
    return steps[number];
}

const iggy_step_t *iggy_header_steps_shown(uint8_t command, uint8_t version)
{
    static const iggy_step_t *steps[IGGY_COMMANDS + 1][IGGY_0_12_2 + 1];
    unsigned number = command < IGGY_COMMANDS ? command : IGGY_COMMANDS;
    if (!steps[number][version])
        steps[number][version] = iggy_steps_shown(iggy_header_rows((uint8_t)number), version);
    return steps[number][version];
}

/* ---- who looks at a header ---- */

static const int *const of_group[] = {
    &hf_iggy_stream_id, &hf_iggy_stream_name, &hf_iggy_topic_id, &hf_iggy_topic_name, &hf_iggy_partition_id,
};
static const int *const of_error[] = { &hf_iggy_error };

static const iggy_shown_t shown[] = {
    { iggy_call_group, IGGY_SHOWS(of_group) },
    { iggy_call_group_unless_0, IGGY_SHOWS(of_group) },
    { call_error_code, IGGY_SHOWS(of_error) },
    { .call = call_result_count },
    { .call = iggy_call_version },
    { .call = call_plane },
    { .call = iggy_call_checksum },
    { .call = iggy_call_checksum_body },
    { .call = iggy_call_request_checksum },
};

/* A header with a call that is in no table is shown always. */
static bool always_wanted(proto_tree *tree) { return tree != NULL; }

bool iggy_header_wanted(proto_tree *tree, uint8_t command)
{
    return iggy_rows_wanted(tree, iggy_header_rows(command), always_wanted);
}

static const iggy_row_t result_entry[] = {
    IGGY_U32(hf_iggy_result_index),
    IGGY_CALL(call_error_code, .size = 4, .hf = &hf_iggy_result, .fact = IGGY_FACT_RESULT),
    IGGY_ROWS_END
};

const iggy_row_t iggy_rows_result_section[] = {
    IGGY_CALL(call_result_count, .size = 4, .hf = &hf_iggy_result_count, .put = IGGY_REG_COUNT),
    IGGY_LIST(IGGY_REG_COUNT, result_entry, hf_iggy_result_entry, ett_iggy_result_entry, 8),
    IGGY_ROWS_END
};

/* ---- registration ---- */

static hf_register_info hf[] = {
    { &hf_iggy_cluster, { "Cluster", "iggy.cluster", FT_GUID, BASE_NONE, NULL, 0,
                          "First 16 bytes of the BLAKE3 hash of the cluster's name; zero in requests of clients", HFILL } },
    { &hf_iggy_size, { "Size", "iggy.size", FT_UINT32, BASE_DEC, NULL, 0, "Length of the frame, header and body", HFILL } },
    { &hf_iggy_release, { "Release", "iggy.release", FT_UINT32, BASE_DEC, NULL, 0, "Always 0: not the version", HFILL } },
    { &hf_iggy_command, { "Command", "iggy.command", FT_UINT8, BASE_DEC | BASE_EXT_STRING, &iggy_command_vals_ext, 0,
                          "Command of the header, not the client's command code (iggy.code)", HFILL } },
    { &hf_iggy_code, { "Command code", "iggy.code", FT_UINT32, BASE_DEC, NULL, 0,
                       "What the client asks for: from the header of a request with operation non_replicated, else from the "
                       "operation, the login's body or the matched request", HFILL } },
    { &hf_iggy_reserved_command, { "Bytes of the command", "iggy.reserved_command", FT_BYTES, BASE_NONE, NULL, 0,
                                   "The second half of a header without a known layout", HFILL } },
    { &hf_iggy_context, { "Context", "iggy.context", FT_BYTES, BASE_NONE, NULL, 0, "Zero: no server sets it", HFILL } },
    { &hf_iggy_status, { "Status", "iggy.status", FT_UINT32, BASE_DEC | BASE_EXT_STRING, &iggy_error_vals_ext, 0,
                         "0, or an error code: then the body is empty", HFILL } },
    { &hf_iggy_committed_result, { "Committed result", "iggy.committed_result", FT_UINT8, BASE_DEC, NULL, 0,
                                   "1 with status 0: the final result of a committed operation", HFILL } },
    { &hf_iggy_eviction_reason, { "Reason", "iggy.eviction.reason", FT_UINT8, BASE_DEC, VALS(iggy_reason_vals), 0, NULL,
                                  HFILL } },
    { &hf_iggy_eviction_version, { "Highest accepted version", "iggy.eviction.server_protocol_version", FT_UINT32, BASE_HEX,
                                   VALS(iggy_version_vals), 0, NULL, HFILL } },
    { &hf_iggy_eviction_version_min, { "Lowest accepted version", "iggy.eviction.server_protocol_version_min", FT_UINT32,
                                       BASE_HEX, VALS(iggy_version_vals), 0, NULL, HFILL } },
    { &hf_iggy_result_count, { "Results", "iggy.result.count", FT_UINT32, BASE_DEC, NULL, 0,
                               "0: the operation succeeded and its payload follows", HFILL } },
    { &hf_iggy_result_entry, { "Result", "iggy.result.entry", FT_NONE, BASE_NONE, NULL, 0, NULL, HFILL } },
    { &hf_iggy_result_index, { "Index", "iggy.result.index", FT_UINT32, BASE_DEC, NULL, 0, NULL, HFILL } },
    { &hf_iggy_result, { "Result code", "iggy.result", FT_UINT32, BASE_DEC | BASE_EXT_STRING, &iggy_error_vals_ext, 0, NULL,
                         HFILL } },
};

static ei_register_info ei[] = {
    { &ei_iggy_group_invalid, { "iggy.expert.group_invalid", PI_PROTOCOL, PI_WARN,
                                "Neither the metadata group nor a partition: no receiver has such a group", EXPFILL } },
    { &ei_iggy_failed, { "iggy.expert.failed", PI_RESPONSE_CODE, PI_NOTE, "The request failed", EXPFILL } },
};

void iggy_register_headers(int proto)
{
    static int *const ett[] = { &ett_iggy_group, &ett_iggy_result_entry };
    for (size_t i = 0; i < array_length(hf); i++)
        if (hf[i].p_id == &hf_iggy_code)
            iggy_name_codes(&hf[i]);
    proto_register_field_array(proto, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    expert_register_field_array(expert_register_protocol(proto), ei, array_length(ei));
    iggy_register_shown(shown, array_length(shown));
    iggy_register_headers_replica(proto);
    iggy_register_checks(proto);
}
