/* packet-iggy-operations.c
 * One row an operation (operations.tsv), and the bodies of prepares (commands.md 9, replica.md 4 and 11), in the order of the
 * reference. Most client operations are prepared as the client sent them.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-replica.h"

#include "packet-iggy-batch.h"
#include "packet-iggy-bodies.h"
#include "packet-iggy-commands.h"
#include "packet-iggy-fields.h"
#include "packet-iggy-headers.h"
#include "packet-iggy-shown.h"

static int hf_iggy_request_body = IGGY_UNREGISTERED;
static int hf_iggy_request_body_length = IGGY_UNREGISTERED;
static int hf_iggy_assignment = IGGY_UNREGISTERED;
static int hf_iggy_assignments_count = IGGY_UNREGISTERED;
static int hf_iggy_assignment_group = IGGY_UNREGISTERED;
static int hf_iggy_assignment_view = IGGY_UNREGISTERED;
static int hf_iggy_assignment_members = IGGY_UNREGISTERED;
static int hf_iggy_created_view = IGGY_UNREGISTERED;
static int hf_iggy_partition_op = IGGY_UNREGISTERED;
static int hf_iggy_metadata_op = IGGY_UNREGISTERED;
static int hf_iggy_debt = IGGY_UNREGISTERED;
static int hf_iggy_debts_count = IGGY_UNREGISTERED;
static int hf_iggy_completion = IGGY_UNREGISTERED;
static int hf_iggy_completions_count = IGGY_UNREGISTERED;
static int hf_iggy_stream_keys = IGGY_UNREGISTERED;
static int hf_iggy_stream_keys_count = IGGY_UNREGISTERED;
static int hf_iggy_created_op = IGGY_UNREGISTERED;
static int hf_iggy_key_fingerprint = IGGY_UNREGISTERED;
static int hf_iggy_wrapped_keys = IGGY_UNREGISTERED;
static int hf_iggy_wrapped_keys_length = IGGY_UNREGISTERED;
static int hf_iggy_token_hash = IGGY_UNREGISTERED;
static int hf_iggy_only_if_expired = IGGY_UNREGISTERED;
static int hf_iggy_in_flight_count = IGGY_UNREGISTERED;
static int hf_iggy_retired_session = IGGY_UNREGISTERED;
static int hf_iggy_paid_through = IGGY_UNREGISTERED;
static int hf_iggy_next_group_id = IGGY_UNREGISTERED;
static int hf_iggy_live_groups_count = IGGY_UNREGISTERED;
static int hf_iggy_live_group_id = IGGY_UNREGISTERED;

static int ett_iggy_request_body = IGGY_UNREGISTERED;
static int ett_iggy_assignment = IGGY_UNREGISTERED;
static int ett_iggy_assignment_members = IGGY_UNREGISTERED;
static int ett_iggy_debt = IGGY_UNREGISTERED;
static int ett_iggy_completion = IGGY_UNREGISTERED;
static int ett_iggy_stream_keys = IGGY_UNREGISTERED;
static int ett_iggy_retired_session = IGGY_UNREGISTERED;

#define IGGY_SESSION_IDENTITY 32 /* bytes of one in encodings.md 12.3 */

/* ---- calls ---- */

/* The body of the client's request with this operation. */
static int call_client_body(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    const iggy_command_t *command = iggy_command_of_operation(walk->pdu->operation);
    if (!command || !command->request)
        return iggy_walk_fail(walk, row, offset, "the client's request has no known layout");
    return iggy_walk_rows(walk, command->request, tree, offset);
}

/* Puts row->is into a register. */
static int call_set(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree _U_, int offset)
{
    walk->reg[row->put] = row->is;
    return offset;
}

/* How many session identities there are: what is left over by the division is the tail of 0.12.2. */
static int call_count_sessions(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree _U_, int offset)
{
    walk->reg[row->put] = offset < walk->end ? (uint64_t)(walk->end - offset) / IGGY_SESSION_IDENTITY : 0;
    return offset;
}

/* ---- 1, 3, client operations ---- */

static const iggy_row_t register_identity[] = {
    IGGY_TIME(hf_iggy_created_at),
    IGGY_FIXED(hf_iggy_bind_verifier, 32),
    IGGY_ROWS_END
};

/* Empty in 0.11.0, 40 bytes from 0.12.0 on: the length tells. */
const iggy_row_t iggy_rows_register_prepare[] = {
    IGGY_ROWS(register_identity, .flags = IGGY_IF_LEFT),
    IGGY_ROWS_END
};

static const iggy_row_t as_client[] = {
    IGGY_CALL(call_client_body),
    IGGY_ROWS_END
};

/* 161, 162: the group's name has become its id; from 0.12.0 on the generation of its owner follows. */
static const iggy_row_t offset_prepare[] = {
    IGGY_CALL(call_client_body),
    IGGY_U64(hf_iggy_context_owner_generation, .since = IGGY_0_12_0),
    IGGY_ROWS_END
};

/* ---- 64, 65: creates with assignments (commands.md 9.3) ---- */

static const iggy_row_t assignment[] = {
    IGGY_U32(hf_iggy_partition_id, .label = " partition |"),
    IGGY_U64(hf_iggy_assignment_group, .label = ", group |"),
    IGGY_U32(hf_iggy_assignment_view, .since = IGGY_0_12_0),
    IGGY_ROWS_END
};

static const iggy_row_t one_member[] = {
    IGGY_U8(hf_iggy_partition_member, .label = " |"),
    IGGY_ROWS_END
};

static const iggy_row_t members_of_partition[] = {
    IGGY_LIST_BARE(IGGY_REG_GROUP_SIZE, one_member, 1),
    IGGY_ROWS_END
};

static const iggy_row_t members[] = {
    IGGY_U8(hf_iggy_partition_members_count, .put = IGGY_REG_GROUP_SIZE),
    IGGY_LIST(IGGY_REG_COUNT, members_of_partition, hf_iggy_assignment_members, ett_iggy_assignment_members, 1),
    IGGY_ROWS_END
};

static const iggy_row_t assignments[] = {
    IGGY_U32(hf_iggy_assignments_count, .put = IGGY_REG_COUNT),
    IGGY_LIST(IGGY_REG_COUNT, assignment, hf_iggy_assignment, ett_iggy_assignment, 12),
    IGGY_U32(hf_iggy_created_view, .until = IGGY_0_11_0, .flags = IGGY_IF_LEFT),
    IGGY_ROWS(members, .since = IGGY_0_12_2, .flags = IGGY_IF_LEFT),
    IGGY_ROWS_END
};

static const iggy_row_t create_topic_with_assignments[] = {
    IGGY_BLOCK(4, hf_iggy_request_body_length, iggy_rows_create_topic, hf_iggy_request_body, ett_iggy_request_body),
    IGGY_ROWS(iggy_rows_derived_options),
    IGGY_ROWS(assignments),
    IGGY_ROWS_END
};

static const iggy_row_t create_partitions_with_assignments[] = {
    IGGY_BLOCK(4, hf_iggy_request_body_length, iggy_rows_create_partitions, hf_iggy_request_body, ett_iggy_request_body),
    IGGY_ROWS(assignments),
    IGGY_ROWS_END
};

/* ---- 66 .. 71 ---- */

static const iggy_row_t remove_consumer_group_member[] = {
    IGGY_FIXED(hf_iggy_client, 16),
    IGGY_ROWS_END
};

static const iggy_row_t install_consumer_group_owner[] = {
    IGGY_U64(hf_iggy_context_partition_incarnation),
    IGGY_U64(hf_iggy_consumer_group_id, .fact = IGGY_FACT_CONSUMER_GROUP_ID),
    IGGY_ROWS(iggy_rows_owner),
    IGGY_U64(hf_iggy_metadata_op),
    IGGY_ROWS_END
};

static const iggy_row_t revocation_0_11[] = {
    IGGY_U64(hf_iggy_consumer_group_id, .fact = IGGY_FACT_CONSUMER_GROUP_ID),
    IGGY_FIXED(hf_iggy_client, 16),
    IGGY_U32(hf_iggy_partition_id, .fact = IGGY_FACT_PARTITION),
    IGGY_ROWS_END
};

static const iggy_row_t revocation_0_12[] = {
    IGGY_U32(hf_iggy_partition_id, .fact = IGGY_FACT_PARTITION),
    IGGY_ROWS(install_consumer_group_owner),
    IGGY_U64(hf_iggy_partition_op),
    IGGY_ROWS_END
};

const iggy_row_t iggy_rows_complete_revocation[] = {
    IGGY_ROWS(iggy_rows_stream_topic),
    IGGY_ROWS(revocation_0_11, .until = IGGY_0_11_0),
    IGGY_ROWS(revocation_0_12, .since = IGGY_0_12_0),
    IGGY_ROWS_END
};

static const iggy_row_t truncate_partition[] = {
    IGGY_ROWS(iggy_rows_stream_topic),
    IGGY_U32(hf_iggy_partition_id, .fact = IGGY_FACT_PARTITION),
    IGGY_U64(hf_iggy_up_to_offset, .fact = IGGY_FACT_OFFSET),
    IGGY_U64(hf_iggy_created_revision, .since = IGGY_0_12_0, .flags = IGGY_IF_LEFT),
    IGGY_ROWS_END
};

/* Partitions that a session still owes something to: their group and incarnation. */
static const iggy_row_t debt[] = {
    IGGY_CALL(iggy_call_group, .hf = &hf_iggy_consensus_group),
    IGGY_U64(hf_iggy_created_revision),
    IGGY_ROWS_END
};

static const iggy_row_t debts[] = {
    IGGY_U32(hf_iggy_debts_count, .put = IGGY_REG_COUNT),
    IGGY_LIST(IGGY_REG_COUNT, debt, hf_iggy_debt, ett_iggy_debt, 16),
    IGGY_ROWS_END
};

static const iggy_row_t finalize_session[] = {
    IGGY_ROWS(iggy_rows_session_identity),
    IGGY_U64(hf_iggy_namespace_revision),
    IGGY_ROWS(debts, .since = IGGY_0_12_2, .flags = IGGY_IF_LEFT),
    IGGY_ROWS_END
};

static const iggy_row_t completion[] = {
    IGGY_U32(hf_iggy_topic_id, .label = " topic |"),
    IGGY_U32(hf_iggy_partition_id, .label = ", partition |"),
    IGGY_U64(hf_iggy_partition_op, .label = ", op |"),
    IGGY_ROWS_END
};

const iggy_row_t iggy_rows_complete_lifecycle[] = {
    IGGY_U64(hf_iggy_metadata_op),
    IGGY_U32(hf_iggy_stream_id, .fact = IGGY_FACT_STREAM_ID, .flags = IGGY_NAMED),
    IGGY_U32(hf_iggy_completions_count, .put = IGGY_REG_COUNT),
    IGGY_LIST(IGGY_REG_COUNT, completion, hf_iggy_completion, ett_iggy_completion, 16),
    IGGY_ROWS_END
};

/* ---- 72 .. 75 ---- */

#define IGGY_BOTH_OPTIONS IGGY_ROWS(iggy_rows_explicit_options), IGGY_ROWS(iggy_rows_derived_options)
#define IGGY_NEW_NAME(of) \
    IGGY_U8(hf_iggy_has_new_name, .put = IGGY_REG_HAS), \
    IGGY_NAME(hf_iggy_##of##_new_name, hf_iggy_##of##_new_name_length, .when = IGGY_REG_HAS, .is = 1, \
              .fact = IGGY_FACT_NEW_NAME, .flags = IGGY_NOT_EMPTY)

static const iggy_row_t update_stream_resolved[] = {
    IGGY_IDENT(hf_iggy_stream_id, hf_iggy_stream_name, IGGY_FACT_STREAM_ID),
    IGGY_NEW_NAME(stream),
    IGGY_BOTH_OPTIONS,
    IGGY_ROWS_END
};

static const iggy_row_t update_topic_resolved[] = {
    IGGY_ROWS(iggy_rows_stream_topic),
    IGGY_NEW_NAME(topic),
    IGGY_BOTH_OPTIONS,
    IGGY_ROWS_END
};

static const iggy_row_t update_user_resolved[] = {
    IGGY_IDENT(hf_iggy_user_id, hf_iggy_user_name, IGGY_FACT_USER_ID),
    IGGY_NEW_NAME(user),
    IGGY_U8(hf_iggy_has_user_status, .put = IGGY_REG_HAS_2),
    IGGY_U8(hf_iggy_user_status, .when = IGGY_REG_HAS_2, .is = 1),
    IGGY_BOTH_OPTIONS,
    IGGY_ROWS_END
};

static const iggy_row_t stream_keys[] = {
    IGGY_U32(hf_iggy_stream_id, .label = " of stream |"),
    IGGY_U64(hf_iggy_created_op),
    IGGY_FIXED(hf_iggy_key_fingerprint, 8),
    { .kind = IGGY_ROW_BYTES, .size = 1, .hf = &hf_iggy_wrapped_keys, .hf_2 = &hf_iggy_wrapped_keys_length,
      .flags = IGGY_SECRET },
    IGGY_ROWS_END
};

static const iggy_row_t rewrap_stream_keys[] = {
    IGGY_U32(hf_iggy_stream_keys_count, .put = IGGY_REG_COUNT),
    IGGY_LIST(IGGY_REG_COUNT, stream_keys, hf_iggy_stream_keys, ett_iggy_stream_keys, 21),
    IGGY_ROWS_END
};

/* ---- 146 .. 149: what the server makes of the client's request ---- */

static const iggy_row_t create_token_prepare[] = {
    IGGY_U32(hf_iggy_user_id, .fact = IGGY_FACT_USER_ID, .flags = IGGY_NAMED),
    IGGY_NAME(hf_iggy_token_name, hf_iggy_token_name_length, .fact = IGGY_FACT_TOKEN_NAME, .flags = IGGY_NOT_EMPTY),
    IGGY_U64(hf_iggy_token_expiry, .sentinels = iggy_expiry_sentinels),
    IGGY_CALL(call_set, .put = IGGY_REG_LENGTH, .is = 64),
    IGGY_SPAN(hf_iggy_token_hash, IGGY_REG_LENGTH, .flags = IGGY_SECRET),
    IGGY_ROWS_END
};

static const iggy_row_t delete_token_prepare[] = {
    IGGY_U32(hf_iggy_user_id, .fact = IGGY_FACT_USER_ID, .flags = IGGY_NAMED),
    IGGY_NAME(hf_iggy_token_name, hf_iggy_token_name_length, .fact = IGGY_FACT_TOKEN_NAME, .flags = IGGY_NOT_EMPTY),
    IGGY_U8(hf_iggy_only_if_expired),
    IGGY_ROWS_END
};

static const iggy_row_t in_flight[] = {
    IGGY_U32(hf_iggy_in_flight_count, .put = IGGY_REG_COUNT),
    IGGY_LIST_BARE(IGGY_REG_COUNT, iggy_rows_partition_id, 4),
    IGGY_ROWS_END
};

static const iggy_row_t join_group_prepare[] = {
    IGGY_ROWS(iggy_rows_stream_topic_group),
    IGGY_FIXED(hf_iggy_client, 16),
    IGGY_ROWS(in_flight, .until = IGGY_0_11_0),
    IGGY_U64(hf_iggy_session, .since = IGGY_0_12_0),
    IGGY_ROWS_END
};

static const iggy_row_t leave_group_prepare[] = {
    IGGY_ROWS(iggy_rows_stream_topic_group),
    IGGY_FIXED(hf_iggy_client, 16),
    IGGY_ROWS_END
};

/* ---- 166 .. 169: internal operations of partitions ---- */

static const iggy_row_t retire_session[] = {
    IGGY_CALL(call_count_sessions, .put = IGGY_REG_COUNT),
    IGGY_LIST(IGGY_REG_COUNT, iggy_rows_session_identity, hf_iggy_retired_session, ett_iggy_retired_session,
              IGGY_SESSION_IDENTITY),
    IGGY_U64(hf_iggy_paid_through, .since = IGGY_0_12_2, .flags = IGGY_IF_LEFT),
    IGGY_ROWS_END
};

static const iggy_row_t transition_partition_history[] = {
    IGGY_U64(hf_iggy_context_partition_incarnation),
    IGGY_U64(hf_iggy_metadata_op),
    IGGY_ROWS_END
};

static const iggy_row_t live_group[] = {
    IGGY_U64(hf_iggy_live_group_id),
    IGGY_ROWS_END
};

static const iggy_row_t retire_consumer_group_owners[] = {
    IGGY_U64(hf_iggy_context_partition_incarnation),
    IGGY_U64(hf_iggy_metadata_op),
    IGGY_U64(hf_iggy_next_group_id),
    IGGY_U32(hf_iggy_live_groups_count, .put = IGGY_REG_COUNT),
    IGGY_LIST_BARE(IGGY_REG_COUNT, live_group, 8),
    IGGY_ROWS_END
};

/* ---- the table ---- */

#define FRAMED IGGY_RESULT_FRAMED
#define V11 IGGY_0_11_0
#define V12 IGGY_0_12_0

/* value, since, until, flags, operation of the request, name, body of the prepare. Replies to register are framed only when
 * their body is not empty (commands.md 1.4). */
const iggy_operation_t iggy_operations[] = {
    { 0, V11, 0, 0, 0, "reserved", iggy_rows_none },
    { 1, V11, 0, FRAMED, 1, "register", iggy_rows_register_prepare },
    { 2, V11, 0, 0, 2, "non_replicated", NULL },
    { 3, V11, 0, 0, 3, "logout", iggy_rows_none },
    { 64, V11, 0, FRAMED, 132, "create_topic_with_assignments", create_topic_with_assignments },
    { 65, V11, 0, FRAMED, 136, "create_partitions_with_assignments", create_partitions_with_assignments },
    { 66, V11, 0, FRAMED, 66, "remove_consumer_group_member", remove_consumer_group_member },
    { 67, V11, 0, FRAMED, 67, "complete_consumer_group_revocation", iggy_rows_complete_revocation },
    { 68, V11, 0, FRAMED, 138, "truncate_partition", truncate_partition },
    { 70, V12, 0, FRAMED, 70, "finalize_session", finalize_session },
    { 71, V12, 0, FRAMED, 71, "complete_lifecycle", iggy_rows_complete_lifecycle },
    { 72, V12, 0, FRAMED, 150, "update_stream_resolved", update_stream_resolved },
    { 73, V12, 0, FRAMED, 150, "update_topic_resolved", update_topic_resolved },
    { 74, V12, 0, FRAMED, 150, "update_user_resolved", update_user_resolved },
    { 75, V12, 0, FRAMED, 75, "rewrap_stream_keys", rewrap_stream_keys },
    { 128, V11, 0, FRAMED, 128, "create_stream", as_client },
    { 129, V11, V11, FRAMED, 129, "update_stream", as_client },
    { 130, V11, 0, FRAMED, 130, "delete_stream", as_client },
    { 131, V11, V11, FRAMED, 131, "purge_stream", as_client },
    { 132, V11, 0, FRAMED, 132, "create_topic", as_client },
    { 133, V11, V11, FRAMED, 133, "update_topic", as_client },
    { 134, V11, 0, FRAMED, 134, "delete_topic", as_client },
    { 135, V11, V11, FRAMED, 135, "purge_topic", as_client },
    { 136, V11, 0, FRAMED, 136, "create_partitions", as_client },
    { 137, V11, 0, FRAMED, 137, "delete_partitions", as_client },
    { 138, V11, 0, 0, 138, "delete_segments", as_client },
    { 139, V11, 0, FRAMED, 139, "create_consumer_group", as_client },
    { 140, V11, 0, FRAMED, 140, "delete_consumer_group", as_client },
    { 141, V11, 0, FRAMED, 141, "create_user", as_client },
    { 142, V11, V11, FRAMED, 142, "update_user", as_client },
    { 143, V11, 0, FRAMED, 143, "delete_user", as_client },
    { 144, V11, 0, FRAMED, 144, "change_password", as_client },
    { 145, V11, 0, FRAMED, 145, "update_permissions", as_client },
    { 146, V11, 0, FRAMED, 146, "create_personal_access_token", create_token_prepare },
    { 147, V11, 0, FRAMED, 147, "delete_personal_access_token", delete_token_prepare },
    { 148, V11, 0, FRAMED, 148, "join_consumer_group", join_group_prepare },
    { 149, V11, 0, FRAMED, 149, "leave_consumer_group", leave_group_prepare },
    { 150, V12, 0, FRAMED, 150, "update_resource", as_client },
    { 160, V11, 0, 0, 160, "send_messages", iggy_rows_batch },
    { 161, V11, 0, FRAMED, 161, "store_consumer_offset", offset_prepare },
    { 162, V11, 0, FRAMED, 162, "delete_consumer_offset", offset_prepare },
    { 166, V12, 0, 0, 166, "retire_session", retire_session },
    { 167, V12, 0, 0, 167, "install_consumer_group_owner", install_consumer_group_owner },
    { 168, V12, 0, 0, 168, "transition_partition_history", transition_partition_history },
    { 169, V12, 0, 0, 169, "retire_consumer_group_owners", retire_consumer_group_owners },
    { 0, 0, 0, 0, 0, NULL, NULL }
};

/* ---- registration ---- */

void iggy_register_operations(int proto)
{
    static const iggy_shown_t shown[] = { { .call = call_set }, { .call = call_count_sessions } };
    static hf_register_info hf[] = {
        { &hf_iggy_request_body,
          { "Request of the client", "iggy.request_body", FT_NONE, BASE_NONE, NULL, 0, NULL, HFILL } },
        { &hf_iggy_request_body_length,
          { "Length of the request", "iggy.request_body.length", FT_UINT32, BASE_DEC, NULL, 0, NULL, HFILL } },
        { &hf_iggy_assignment, { "Assignment", "iggy.assignment", FT_NONE, BASE_NONE, NULL, 0, NULL, HFILL } },
        { &hf_iggy_assignments_count,
          { "Assignments", "iggy.assignments_count", FT_UINT32, BASE_DEC, NULL, 0,
            "One for each new partition", HFILL } },
        { &hf_iggy_assignment_group,
          { "Allocated group", "iggy.assignment.group", FT_UINT64, BASE_DEC, NULL, 0,
            "Number allocated to the consensus group of the partition", HFILL } },
        { &hf_iggy_assignment_view,
          { "Initial view", "iggy.assignment.initial_view", FT_UINT32, BASE_DEC, NULL, 0, NULL, HFILL } },
        { &hf_iggy_assignment_members,
          { "Members of a partition", "iggy.assignment.members", FT_NONE, BASE_NONE, NULL, 0,
            "Replicas that hold the partition, in the order of the assignments", HFILL } },
        { &hf_iggy_created_view, { "Created view", "iggy.created_view", FT_UINT32, BASE_DEC, NULL, 0, NULL, HFILL } },
        { &hf_iggy_partition_op,
          { "Partition op", "iggy.partition_op", FT_UINT64, BASE_DEC, NULL, 0,
            "Position in the log of the partition", HFILL } },
        { &hf_iggy_metadata_op,
          { "Metadata op", "iggy.metadata_op", FT_UINT64, BASE_DEC, NULL, 0, "Position in the metadata log", HFILL } },
        { &hf_iggy_debt,
          { "Partition to settle", "iggy.debt", FT_NONE, BASE_NONE, NULL, 0,
            "A partition that has not retired the session yet", HFILL } },
        { &hf_iggy_debts_count,
          { "Partitions to settle", "iggy.debts_count", FT_UINT32, BASE_DEC, NULL, 0, NULL, HFILL } },
        { &hf_iggy_completion, { "Completion", "iggy.completion", FT_NONE, BASE_NONE, NULL, 0, NULL, HFILL } },
        { &hf_iggy_completions_count,
          { "Completions", "iggy.completions_count", FT_UINT32, BASE_DEC, NULL, 0, NULL, HFILL } },
        { &hf_iggy_stream_keys, { "Keys", "iggy.stream_keys", FT_NONE, BASE_NONE, NULL, 0, NULL, HFILL } },
        { &hf_iggy_stream_keys_count,
          { "Streams with keys", "iggy.stream_keys_count", FT_UINT32, BASE_DEC, NULL, 0, NULL, HFILL } },
        { &hf_iggy_created_op,
          { "Created op", "iggy.stream_keys.created_op", FT_UINT64, BASE_DEC, NULL, 0,
            "Op that created the stream", HFILL } },
        { &hf_iggy_key_fingerprint,
          { "Fingerprint", "iggy.stream_keys.fingerprint", FT_BYTES, BASE_NONE, NULL, 0,
            "Fingerprint of the key that wraps the others", HFILL } },
        { &hf_iggy_wrapped_keys,
          { "Wrapped keys", "iggy.stream_keys.wrapped", FT_BYTES, BASE_NONE, NULL, 0, NULL, HFILL } },
        { &hf_iggy_wrapped_keys_length,
          { "Length of the wrapped keys", "iggy.stream_keys.wrapped.length", FT_UINT8, BASE_DEC, NULL, 0,
            "78 bytes a key", HFILL } },
        { &hf_iggy_token_hash,
          { "Hash of the token", "iggy.token.hash", FT_STRING, BASE_NONE, NULL, 0, "Hexadecimal", HFILL } },
        { &hf_iggy_only_if_expired,
          { "Only if expired", "iggy.token.only_if_expired", FT_UINT8, BASE_DEC, NULL, 0, NULL, HFILL } },
        { &hf_iggy_in_flight_count,
          { "Partitions in flight", "iggy.in_flight_count", FT_UINT32, BASE_DEC, NULL, 0,
            "Partitions of other members with polls that are not acknowledged", HFILL } },
        { &hf_iggy_retired_session,
          { "Retired session", "iggy.retired_session", FT_NONE, BASE_NONE, NULL, 0, NULL, HFILL } },
        { &hf_iggy_paid_through,
          { "Paid through", "iggy.paid_through", FT_UINT64, BASE_DEC, NULL, 0,
            "Metadata op up to which all retirements are settled", HFILL } },
        { &hf_iggy_next_group_id,
          { "Next group id", "iggy.next_group_id", FT_UINT64, BASE_DEC, NULL, 0, NULL, HFILL } },
        { &hf_iggy_live_groups_count,
          { "Live groups", "iggy.live_groups_count", FT_UINT32, BASE_DEC, NULL, 0, NULL, HFILL } },
        { &hf_iggy_live_group_id, { "Live group", "iggy.live_group_id", FT_UINT64, BASE_DEC, NULL, 0, NULL, HFILL } },
    };
    static int *ett[] = {
        &ett_iggy_request_body, &ett_iggy_assignment, &ett_iggy_assignment_members, &ett_iggy_debt,
        &ett_iggy_completion, &ett_iggy_stream_keys, &ett_iggy_retired_session,
    };
    proto_register_field_array(proto, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    iggy_register_shown(shown, array_length(shown));
}
