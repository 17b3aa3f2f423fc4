/* packet-iggy-commands-changes.c
 * Layouts of get_metadata_changes (17): what changed in the metadata, record by record, or as it is now (commands.md 4).
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-bodies.h"
#include "packet-iggy-commands.h"
#include "packet-iggy-fields.h"
#include "packet-iggy-item.h"
#include "packet-iggy-limits.h"
#include "packet-iggy-names.h"

/* request and reply */
static int hf_iggy_change_start = IGGY_UNREGISTERED;
static int hf_iggy_change_has_since = IGGY_UNREGISTERED;
static int hf_iggy_change_since = IGGY_UNREGISTERED;
static int hf_iggy_change_has_until = IGGY_UNREGISTERED;
static int hf_iggy_change_until = IGGY_UNREGISTERED;
static int hf_iggy_change_page_limit = IGGY_UNREGISTERED;
static int hf_iggy_change_groups_count = IGGY_UNREGISTERED;
static int hf_iggy_change_group = IGGY_UNREGISTERED;
static int hf_iggy_change_status = IGGY_UNREGISTERED;
static int hf_iggy_change_phase = IGGY_UNREGISTERED;
static int hf_iggy_change_has_log_id = IGGY_UNREGISTERED;
static int hf_iggy_change_log_id = IGGY_UNREGISTERED;
static int hf_iggy_change_oldest_op = IGGY_UNREGISTERED;
static int hf_iggy_change_retained_since = IGGY_UNREGISTERED;
static int hf_iggy_change_head_op = IGGY_UNREGISTERED;
static int hf_iggy_change_has_next = IGGY_UNREGISTERED;
static int hf_iggy_change_has_more = IGGY_UNREGISTERED;

/* cursor and page token */
static int hf_iggy_change_cursor = IGGY_UNREGISTERED;
static int hf_iggy_change_cursor_op = IGGY_UNREGISTERED;
static int hf_iggy_change_checksum = IGGY_UNREGISTERED;
static int hf_iggy_change_ordinal = IGGY_UNREGISTERED;
static int hf_iggy_change_token = IGGY_UNREGISTERED;
static int hf_iggy_change_token_length = IGGY_UNREGISTERED;
static int hf_iggy_change_token_required_head = IGGY_UNREGISTERED;
static int hf_iggy_change_token_groups_mask = IGGY_UNREGISTERED;
static int hf_iggy_change_mask_streams = IGGY_UNREGISTERED;
static int hf_iggy_change_mask_topics = IGGY_UNREGISTERED;
static int hf_iggy_change_mask_partitions = IGGY_UNREGISTERED;
static int hf_iggy_change_mask_consumer_groups = IGGY_UNREGISTERED;
static int hf_iggy_change_mask_members = IGGY_UNREGISTERED;
static int hf_iggy_change_mask_users = IGGY_UNREGISTERED;
static int hf_iggy_change_mask_tokens = IGGY_UNREGISTERED;
static int hf_iggy_change_mask_sessions = IGGY_UNREGISTERED;
static int hf_iggy_change_token_key = IGGY_UNREGISTERED;
static int hf_iggy_change_token_key_length = IGGY_UNREGISTERED;

/* records and items */
static int hf_iggy_change_records_count = IGGY_UNREGISTERED;
static int hf_iggy_change_record = IGGY_UNREGISTERED;
static int hf_iggy_change_items_count = IGGY_UNREGISTERED;
static int hf_iggy_change_item = IGGY_UNREGISTERED;
static int hf_iggy_change_op = IGGY_UNREGISTERED;
static int hf_iggy_change_timestamp = IGGY_UNREGISTERED;
static int hf_iggy_change_has_actor = IGGY_UNREGISTERED;
static int hf_iggy_change_actor = IGGY_UNREGISTERED;
static int hf_iggy_change_kind = IGGY_UNREGISTERED;
static int hf_iggy_change_body_length = IGGY_UNREGISTERED;
static int hf_iggy_change_stream_created_op = IGGY_UNREGISTERED;
static int hf_iggy_change_topic_created_op = IGGY_UNREGISTERED;
static int hf_iggy_change_user_created_at = IGGY_UNREGISTERED;
static int hf_iggy_change_options_state = IGGY_UNREGISTERED;
static int hf_iggy_change_has_requested_op = IGGY_UNREGISTERED;
static int hf_iggy_change_requested_op = IGGY_UNREGISTERED;
static int hf_iggy_change_removed_count = IGGY_UNREGISTERED;
static int hf_iggy_change_has_member = IGGY_UNREGISTERED;
static int hf_iggy_change_member_partitions_count = IGGY_UNREGISTERED;
static int hf_iggy_change_has_permissions = IGGY_UNREGISTERED;
static int hf_iggy_change_leave_reason = IGGY_UNREGISTERED;
static int hf_iggy_change_permissions_reason = IGGY_UNREGISTERED;
static int hf_iggy_change_token_reason = IGGY_UNREGISTERED;
static int hf_iggy_change_session_reason = IGGY_UNREGISTERED;
static int hf_iggy_change_body = IGGY_UNREGISTERED;

static int ett_iggy_change_cursor = IGGY_UNREGISTERED;
static int ett_iggy_change_token = IGGY_UNREGISTERED;
static int ett_iggy_change_mask = IGGY_UNREGISTERED;
static int ett_iggy_change_token_key = IGGY_UNREGISTERED;
static int ett_iggy_change_record = IGGY_UNREGISTERED;
static int ett_iggy_change_item = IGGY_UNREGISTERED;

static expert_field ei_iggy_change_unknown = EI_INIT;
static expert_field ei_iggy_change_group = EI_INIT;
static expert_field ei_iggy_change_phase = EI_INIT;

#define START_AFTER 2
#define START_CURRENT 3

#define GROUP_STREAMS 1
#define GROUP_TOPICS 2
#define GROUP_PARTITIONS 3
#define GROUP_CONSUMER_GROUPS 4
#define GROUP_MEMBERS 5
#define GROUP_USERS 6
#define GROUP_TOKENS 7
#define GROUP_SESSIONS 8

static const value_string start_vals[] = {
    { 0, "earliest" }, { 1, "latest" }, { START_AFTER, "after" }, { START_CURRENT, "current" }, { 0, NULL }
};
/* Strict flags: no other value is legal (encodings.md 1.2). */
static const value_string presence_vals[] = { { 0, "absent" }, { 1, "present" }, { 0, NULL } };
static const value_string status_vals[] = { { 0, "ok" }, { 1, "behind" }, { 2, "expired" }, { 3, "reset" }, { 0, NULL } };
static const value_string phase_vals[] = { { 0, "changes" }, { 1, "current" }, { 0, NULL } };
static const value_string options_state_vals[] = { { 0, "readable" }, { 1, "unreadable" }, { 0, NULL } };
static const value_string leave_reason_vals[] = { { 0, "left" }, { 1, "session_ended" }, { 0, NULL } };
static const value_string permissions_reason_vals[] = { { 0, "updated" }, { 1, "resource_deleted" }, { 0, NULL } };
static const value_string token_reason_vals[] = { { 0, "deleted" }, { 1, "expired" }, { 0, NULL } };
static const value_string session_reason_vals[] = { { 0, "logout" }, { 1, "expired" }, { 2, "revoked" }, { 0, NULL } };
static const value_string group_vals[] = {
    { GROUP_STREAMS, "streams" },
    { GROUP_TOPICS, "topics" },
    { GROUP_PARTITIONS, "partitions" },
    { GROUP_CONSUMER_GROUPS, "consumer_groups" },
    { GROUP_MEMBERS, "consumer_group_members" },
    { GROUP_USERS, "users" },
    { GROUP_TOKENS, "personal_access_tokens" },
    { GROUP_SESSIONS, "sessions" },
    { 0, NULL }
};
static const iggy_sentinel_t all_groups[] = { { 0, "all groups" }, { 0, NULL } };

/* ---- pieces that several bodies share ---- */

static const iggy_row_t stream_key_rows[] = {
    IGGY_U32(hf_iggy_stream_id, .fact = IGGY_FACT_STREAM_ID, .label = ", stream |"),
    IGGY_U64(hf_iggy_change_stream_created_op),
    IGGY_ROWS_END
};

static const iggy_row_t topic_key_rows[] = {
    IGGY_ROWS(stream_key_rows),
    IGGY_U32(hf_iggy_topic_id, .fact = IGGY_FACT_TOPIC_ID, .label = ", topic |"),
    IGGY_U64(hf_iggy_change_topic_created_op),
    IGGY_ROWS_END
};

static const iggy_row_t group_key_rows[] = {
    IGGY_ROWS(topic_key_rows),
    IGGY_U32(hf_iggy_consumer_group_id, .fact = IGGY_FACT_CONSUMER_GROUP_ID, .label = ", group |"),
    IGGY_ROWS_END
};

static const iggy_row_t member_key_rows[] = {
    IGGY_ROWS(group_key_rows),
    IGGY_U32(hf_iggy_consumer_group_member_id, .label = ", member |"),
    IGGY_FIXED(hf_iggy_client, 16),
    IGGY_ROWS_END
};

static const iggy_row_t user_key_rows[] = {
    IGGY_U32(hf_iggy_user_id, .fact = IGGY_FACT_USER_ID, .label = ", user |"),
    IGGY_TIME(hf_iggy_change_user_created_at),
    IGGY_ROWS_END
};

static const iggy_row_t requested_op_rows[] = {
    IGGY_U8(hf_iggy_change_has_requested_op, .put = IGGY_REG_HAS_2, .flags = IGGY_KNOWN),
    IGGY_U64(hf_iggy_change_requested_op, .when = IGGY_REG_HAS_2, .is = 1),
    IGGY_ROWS_END
};

static const iggy_row_t change_options_rows[] = {
    IGGY_U8(hf_iggy_change_options_state, .put = IGGY_REG_STATUS, .flags = IGGY_KNOWN),
    IGGY_ROWS(iggy_rows_explicit_options, .when = IGGY_REG_STATUS, .is = 0),
    IGGY_ROWS(iggy_rows_derived_options, .when = IGGY_REG_STATUS, .is = 0),
    IGGY_ROWS_END
};

static const iggy_row_t opt_permissions_rows[] = {
    IGGY_U8(hf_iggy_change_has_permissions, .put = IGGY_REG_HAS_2, .flags = IGGY_KNOWN),
    IGGY_ROWS(iggy_rows_permissions, .when = IGGY_REG_HAS_2, .is = 1),
    IGGY_ROWS_END
};

static const iggy_row_t member_partitions_rows[] = {
    IGGY_U32(hf_iggy_change_member_partitions_count, .put = IGGY_REG_COUNT_2),
    IGGY_LIST_BARE(IGGY_REG_COUNT_2, iggy_rows_partition_id, 4, .flags = IGGY_SCOPED),
    IGGY_ROWS_END
};

#define STREAM_NAME IGGY_NAME(hf_iggy_stream_name, hf_iggy_stream_name_length, .fact = IGGY_FACT_STREAM_NAME, \
                              .flags = IGGY_NOT_EMPTY, .label = ": |")
#define TOPIC_NAME IGGY_NAME(hf_iggy_topic_name, hf_iggy_topic_name_length, .fact = IGGY_FACT_TOPIC_NAME, \
                             .flags = IGGY_NOT_EMPTY, .label = ": |")
#define GROUP_NAME IGGY_NAME(hf_iggy_consumer_group_name, hf_iggy_consumer_group_name_length, \
                             .fact = IGGY_FACT_CONSUMER_GROUP_NAME, .flags = IGGY_NOT_EMPTY, .label = ": |")
#define USER_NAME IGGY_NAME(hf_iggy_user_name, hf_iggy_user_name_length, .fact = IGGY_FACT_USER_NAME, \
                            .flags = IGGY_NOT_EMPTY, .label = ": |")
#define TOKEN_NAME IGGY_NAME(hf_iggy_token_name, hf_iggy_token_name_length, .fact = IGGY_FACT_TOKEN_NAME, \
                             .flags = IGGY_NOT_EMPTY, .label = ": |")

/* ---- bodies, in the order of the reference ---- */

static const iggy_row_t stream_rows[] = {
    IGGY_ROWS(stream_key_rows),
    IGGY_TIME(hf_iggy_created_at),
    STREAM_NAME,
    IGGY_ROWS(change_options_rows),
    IGGY_ROWS_END
};

static const iggy_row_t stream_deleted_rows[] = {
    IGGY_ROWS(stream_key_rows),
    IGGY_TIME(hf_iggy_created_at),
    STREAM_NAME,
    IGGY_ROWS(requested_op_rows),
    IGGY_ROWS_END
};

static const iggy_row_t topic_rows[] = {
    IGGY_ROWS(topic_key_rows),
    IGGY_TIME(hf_iggy_created_at),
    TOPIC_NAME,
    IGGY_U32(hf_iggy_partitions_count, .label = ", | partitions"),
    IGGY_ROWS(change_options_rows),
    IGGY_ROWS_END
};

static const iggy_row_t topic_item_rows[] = {
    IGGY_ROWS(topic_key_rows),
    IGGY_TIME(hf_iggy_created_at),
    TOPIC_NAME,
    IGGY_ROWS(change_options_rows),
    IGGY_ROWS_END
};

static const iggy_row_t topic_deleted_rows[] = {
    IGGY_ROWS(topic_key_rows),
    IGGY_TIME(hf_iggy_created_at),
    TOPIC_NAME,
    IGGY_ROWS(requested_op_rows),
    IGGY_ROWS_END
};

static const iggy_row_t partitions_changed_rows[] = {
    IGGY_ROWS(topic_key_rows),
    IGGY_U32(hf_iggy_partitions_count, .label = ", | partitions"),
    IGGY_U32(hf_iggy_change_removed_count, .put = IGGY_REG_COUNT_2),
    IGGY_LIST_BARE(IGGY_REG_COUNT_2, iggy_rows_partition_id, 4, .flags = IGGY_SCOPED),
    IGGY_ROWS(requested_op_rows),
    IGGY_ROWS_END
};

static const iggy_row_t partitions_rows[] = {
    IGGY_ROWS(topic_key_rows),
    IGGY_U32(hf_iggy_partitions_count, .label = ", | partitions"),
    IGGY_ROWS_END
};

static const iggy_row_t group_rows[] = {
    IGGY_ROWS(group_key_rows),
    GROUP_NAME,
    IGGY_ROWS_END
};

static const iggy_row_t group_created_rows[] = {
    IGGY_ROWS(group_rows),
    IGGY_U32(hf_iggy_consumer_groups_count),
    IGGY_ROWS_END
};

static const iggy_row_t group_deleted_rows[] = {
    IGGY_ROWS(group_created_rows),
    IGGY_ROWS(requested_op_rows),
    IGGY_ROWS_END
};

static const iggy_row_t member_joined_rows[] = {
    IGGY_ROWS(member_key_rows),
    IGGY_U32(hf_iggy_members_count),
    IGGY_ROWS(member_partitions_rows),
    IGGY_ROWS_END
};

static const iggy_row_t member_left_rows[] = {
    IGGY_ROWS(member_key_rows),
    IGGY_U32(hf_iggy_members_count),
    IGGY_U8(hf_iggy_change_leave_reason, .label = ", |", .flags = IGGY_KNOWN),
    IGGY_ROWS_END
};

static const iggy_row_t handed_over_rows[] = {
    IGGY_ROWS(group_key_rows),
    IGGY_U32(hf_iggy_partition_id, .fact = IGGY_FACT_PARTITION, .label = ", partition |"),
    IGGY_U8(hf_iggy_change_has_member, .put = IGGY_REG_HAS_2, .flags = IGGY_KNOWN),
    IGGY_U32(hf_iggy_consumer_group_member_id, .when = IGGY_REG_HAS_2, .is = 1, .label = ", member |"),
    IGGY_ROWS_END
};

static const iggy_row_t member_rows[] = {
    IGGY_ROWS(member_key_rows),
    IGGY_ROWS(member_partitions_rows),
    IGGY_ROWS_END
};

static const iggy_row_t user_rows[] = {
    IGGY_ROWS(user_key_rows),
    USER_NAME,
    IGGY_U8(hf_iggy_user_status, .flags = IGGY_KNOWN),
    IGGY_ROWS(opt_permissions_rows),
    IGGY_ROWS(change_options_rows),
    IGGY_ROWS_END
};

static const iggy_row_t user_name_rows[] = {
    IGGY_ROWS(user_key_rows),
    USER_NAME,
    IGGY_ROWS_END
};

static const iggy_row_t user_permissions_rows[] = {
    IGGY_ROWS(user_key_rows),
    USER_NAME,
    IGGY_ROWS(opt_permissions_rows),
    IGGY_U8(hf_iggy_change_permissions_reason, .label = ", |", .flags = IGGY_KNOWN),
    IGGY_ROWS_END
};

static const iggy_row_t token_rows[] = {
    IGGY_ROWS(user_key_rows),
    TOKEN_NAME,
    IGGY_TIME(hf_iggy_token_expiry_at, .sentinels = iggy_never_0),
    IGGY_ROWS_END
};

static const iggy_row_t token_deleted_rows[] = {
    IGGY_ROWS(user_key_rows),
    TOKEN_NAME,
    IGGY_U8(hf_iggy_change_token_reason, .label = ", |", .flags = IGGY_KNOWN),
    IGGY_ROWS_END
};

static const iggy_row_t session_rows[] = {
    IGGY_ROWS(user_key_rows),
    IGGY_FIXED(hf_iggy_client, 16),
    IGGY_U64(hf_iggy_session, .label = ", session |"),
    IGGY_ROWS_END
};

static const iggy_row_t session_closed_rows[] = {
    IGGY_ROWS(session_rows),
    IGGY_U8(hf_iggy_change_session_reason, .label = ", |", .flags = IGGY_KNOWN),
    IGGY_ROWS_END
};

/* Last keys of page tokens: ids alone. */

static const iggy_row_t stream_id_rows[] = {
    IGGY_U32(hf_iggy_stream_id, .fact = IGGY_FACT_STREAM_ID),
    IGGY_ROWS_END
};

static const iggy_row_t topic_id_rows[] = {
    IGGY_ROWS(stream_id_rows),
    IGGY_U32(hf_iggy_topic_id, .fact = IGGY_FACT_TOPIC_ID),
    IGGY_ROWS_END
};

static const iggy_row_t group_id_rows[] = {
    IGGY_ROWS(topic_id_rows),
    IGGY_U32(hf_iggy_consumer_group_id, .fact = IGGY_FACT_CONSUMER_GROUP_ID),
    IGGY_ROWS_END
};

static const iggy_row_t member_id_rows[] = {
    IGGY_ROWS(group_id_rows),
    IGGY_U32(hf_iggy_consumer_group_member_id),
    IGGY_ROWS_END
};

static const iggy_row_t user_id_rows[] = {
    IGGY_U32(hf_iggy_user_id, .fact = IGGY_FACT_USER_ID),
    IGGY_ROWS_END
};

static const iggy_row_t token_id_rows[] = {
    IGGY_ROWS(user_id_rows),
    TOKEN_NAME,
    IGGY_ROWS_END
};

static const iggy_row_t session_id_rows[] = {
    IGGY_U64(hf_iggy_session),
    IGGY_ROWS_END
};

/* ---- which body a kind or a group has ---- */

/* One body: of a record by kind, of an item or a last key by group. */
typedef struct {
    uint8_t value;
    uint8_t group; /* a record of this kind in another group is refused */
    const char *name;
    const iggy_row_t *rows;
    iggy_done_t learn; /* items: what is now has this name */
} change_body_t;

static const change_body_t record_bodies[] = {
    { 1, GROUP_STREAMS, "stream_created", stream_rows, NULL },
    { 2, GROUP_STREAMS, "stream_updated", stream_rows, NULL },
    { 3, GROUP_STREAMS, "stream_deleted", stream_deleted_rows, NULL },
    { 10, GROUP_TOPICS, "topic_created", topic_rows, NULL },
    { 11, GROUP_TOPICS, "topic_updated", topic_rows, NULL },
    { 12, GROUP_TOPICS, "topic_deleted", topic_deleted_rows, NULL },
    { 20, GROUP_PARTITIONS, "partitions_changed", partitions_changed_rows, NULL },
    { 30, GROUP_CONSUMER_GROUPS, "consumer_group_created", group_created_rows, NULL },
    { 31, GROUP_CONSUMER_GROUPS, "consumer_group_deleted", group_deleted_rows, NULL },
    { 40, GROUP_MEMBERS, "consumer_group_member_joined", member_joined_rows, NULL },
    { 41, GROUP_MEMBERS, "consumer_group_member_left", member_left_rows, NULL },
    { 42, GROUP_MEMBERS, "consumer_group_partition_handed_over", handed_over_rows, NULL },
    { 50, GROUP_USERS, "user_created", user_rows, NULL },
    { 51, GROUP_USERS, "user_updated", user_rows, NULL },
    { 52, GROUP_USERS, "user_deleted", user_name_rows, NULL },
    { 53, GROUP_USERS, "user_password_changed", user_name_rows, NULL },
    { 54, GROUP_USERS, "user_permissions_updated", user_permissions_rows, NULL },
    { 60, GROUP_TOKENS, "personal_access_token_created", token_rows, NULL },
    { 61, GROUP_TOKENS, "personal_access_token_deleted", token_deleted_rows, NULL },
    { 70, GROUP_SESSIONS, "session_registered", session_rows, NULL },
    { 71, GROUP_SESSIONS, "session_closed", session_closed_rows, NULL },
};

static const change_body_t item_bodies[] = {
    { GROUP_STREAMS, GROUP_STREAMS, "streams", stream_rows, iggy_learn_stream },
    { GROUP_TOPICS, GROUP_TOPICS, "topics", topic_item_rows, iggy_learn_topic },
    { GROUP_PARTITIONS, GROUP_PARTITIONS, "partitions", partitions_rows, NULL },
    { GROUP_CONSUMER_GROUPS, GROUP_CONSUMER_GROUPS, "consumer_groups", group_rows, iggy_learn_consumer_group },
    { GROUP_MEMBERS, GROUP_MEMBERS, "consumer_group_members", member_rows, NULL },
    { GROUP_USERS, GROUP_USERS, "users", user_rows, iggy_learn_user },
    { GROUP_TOKENS, GROUP_TOKENS, "personal_access_tokens", token_rows, NULL },
    { GROUP_SESSIONS, GROUP_SESSIONS, "sessions", session_rows, NULL },
};

static const change_body_t key_bodies[] = {
    { GROUP_STREAMS, GROUP_STREAMS, "streams", stream_id_rows, NULL },
    { GROUP_TOPICS, GROUP_TOPICS, "topics", topic_id_rows, NULL },
    { GROUP_PARTITIONS, GROUP_PARTITIONS, "partitions", topic_id_rows, NULL },
    { GROUP_CONSUMER_GROUPS, GROUP_CONSUMER_GROUPS, "consumer_groups", group_id_rows, NULL },
    { GROUP_MEMBERS, GROUP_MEMBERS, "consumer_group_members", member_id_rows, NULL },
    { GROUP_USERS, GROUP_USERS, "users", user_id_rows, NULL },
    { GROUP_TOKENS, GROUP_TOKENS, "personal_access_tokens", token_id_rows, NULL },
    { GROUP_SESSIONS, GROUP_SESSIONS, "sessions", session_id_rows, NULL },
};

static value_string kind_vals[array_length(record_bodies) + 1]; /* made from the table at registration */

static const change_body_t *body_of(const change_body_t *bodies, unsigned count, uint64_t value)
{
    for (unsigned i = 0; i < count; i++)
        if (bodies[i].value == value)
            return &bodies[i];
    return NULL;
}

/* A body that the protocol does not define: legal, skipped by its length. `why` says so, or that the group is wrong. */
static int walk_opaque(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset, expert_field *why)
{
    if (!iggy_walk_there(walk, row, offset, (uint64_t)(walk->end - offset)))
        return offset;
    if (iggy_walk_shows(walk) && walk->end > offset) {
        proto_item *item = iggy_add_unread(walk->pdu->pinfo, tree, hf_iggy_change_body, walk->tvb, offset, walk->end - offset);
        expert_add_info(walk->pdu->pinfo, item, why);
    }
    return walk->end;
}

static int walk_record_body(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    const change_body_t *body = body_of(record_bodies, array_length(record_bodies), walk->reg[IGGY_REG_KIND]);

    if (!body)
        return walk_opaque(walk, row, tree, offset, &ei_iggy_change_unknown);
    if (body->group != walk->reg[IGGY_REG_GROUP])
        return walk_opaque(walk, row, tree, offset, &ei_iggy_change_group);
    return iggy_walk_rows(walk, body->rows, tree, offset);
}

static int walk_item_body(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    const change_body_t *body = body_of(item_bodies, array_length(item_bodies), walk->reg[IGGY_REG_GROUP]);

    if (!body)
        return walk_opaque(walk, row, tree, offset, &ei_iggy_change_unknown);
    int end = iggy_walk_rows(walk, body->rows, tree, offset);
    if (body->learn && walk->mode != IGGY_WALK_FIT && !walk->failed)
        body->learn(walk, NULL, offset, end);
    return end;
}

static int walk_token_key(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    const change_body_t *body = body_of(key_bodies, array_length(key_bodies), walk->reg[IGGY_REG_GROUP]);

    return body ? iggy_walk_rows(walk, body->rows, tree, offset)
                : walk_opaque(walk, row, tree, offset, &ei_iggy_change_unknown);
}

/* ---- request and reply ---- */

static const iggy_row_t cursor_rows[] = {
    IGGY_FIXED(hf_iggy_change_log_id, 16),
    IGGY_U64(hf_iggy_change_cursor_op, .label = ": op |"),
    IGGY_FIXED(hf_iggy_change_checksum, 16),
    IGGY_U32(hf_iggy_change_ordinal, .label = ", ordinal |"),
    IGGY_ROWS_END
};

#define CURSOR(...) IGGY_ROWS(cursor_rows, .hf = &hf_iggy_change_cursor, .ett = &ett_iggy_change_cursor, __VA_ARGS__)

static const iggy_row_t token_key_rows[] = {
    IGGY_CALL(walk_token_key),
    IGGY_ROWS_END
};

/* The groups that are listed: bit g - 1 is group g. */
static int walk_groups_mask(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    static int *const bits[] = {
        &hf_iggy_change_mask_streams,
        &hf_iggy_change_mask_topics,
        &hf_iggy_change_mask_partitions,
        &hf_iggy_change_mask_consumer_groups,
        &hf_iggy_change_mask_members,
        &hf_iggy_change_mask_users,
        &hf_iggy_change_mask_tokens,
        &hf_iggy_change_mask_sessions,
        NULL
    };

    if (!iggy_walk_there(walk, row, offset, 1))
        return offset;
    if (iggy_walk_shows(walk))
        proto_tree_add_bitmask(tree, walk->tvb, offset, hf_iggy_change_token_groups_mask, ett_iggy_change_mask, bits,
                               ENC_LITTLE_ENDIAN);
    return offset + 1;
}

static const iggy_row_t page_token_rows[] = {
    CURSOR(.when = IGGY_REG_NONE),
    IGGY_U64(hf_iggy_change_token_required_head),
    IGGY_CALL(walk_groups_mask, .size = 1),
    IGGY_U8(hf_iggy_change_group, .put = IGGY_REG_GROUP, .label = ": |"),
    IGGY_U16(hf_iggy_change_token_key_length, .put = IGGY_REG_KEY_LENGTH),
    IGGY_RANGE(IGGY_REG_KEY_LENGTH, hf_iggy_change_token_key_length, 0, 260),
    IGGY_EXTENT(IGGY_REG_KEY_LENGTH, token_key_rows, hf_iggy_change_token_key, ett_iggy_change_token_key,
                .when = IGGY_REG_KEY_LENGTH, .flags = IGGY_NOT),
    IGGY_ROWS_END
};

#define PAGE_TOKEN \
    IGGY_U16(hf_iggy_change_token_length, .put = IGGY_REG_LENGTH), \
    IGGY_EXTENT(IGGY_REG_LENGTH, page_token_rows, hf_iggy_change_token, ett_iggy_change_token, \
                .when = IGGY_REG_LENGTH, .flags = IGGY_NOT)

static const iggy_row_t group_list_rows[] = {
    IGGY_U8(hf_iggy_change_group),
    IGGY_ROWS_END
};

/* Behind the token: one is there only when the listing of what is current goes on (commands.md 3). */
static int check_token(iggy_walk_t *walk, const iggy_row_t *row _U_, proto_tree *tree, int offset)
{
    uint64_t length = walk->reg[IGGY_REG_LENGTH];

    if (iggy_walk_shows(walk) && length && length <= (uint64_t)offset && walk->reg[IGGY_REG_START] != START_CURRENT)
        iggy_warn_range(walk, tree, offset - (int)length, (int)length, "A page token goes with start current alone");
    return offset;
}

static const iggy_row_t changes_request_rows[] = {
    IGGY_U8(hf_iggy_change_start, .put = IGGY_REG_START, .flags = IGGY_KNOWN),
    CURSOR(.when = IGGY_REG_START, .is = START_AFTER),
    IGGY_RESERVED(44, .when = IGGY_REG_START, .is = START_AFTER, .flags = IGGY_NOT | IGGY_ENFORCED),
    IGGY_U8(hf_iggy_change_has_since, .put = IGGY_REG_HAS, .flags = IGGY_KNOWN),
    IGGY_TIME(hf_iggy_change_since, .when = IGGY_REG_HAS, .is = 1),
    IGGY_U8(hf_iggy_change_has_until, .put = IGGY_REG_HAS, .flags = IGGY_KNOWN),
    IGGY_TIME(hf_iggy_change_until, .when = IGGY_REG_HAS, .is = 1),
    IGGY_U32(hf_iggy_change_page_limit, .put = IGGY_REG_COUNT),
    IGGY_RANGE(IGGY_REG_COUNT, hf_iggy_change_page_limit, 1, 1000),
    IGGY_U8(hf_iggy_change_groups_count, .put = IGGY_REG_COUNT, .sentinels = all_groups),
    IGGY_LIST_BARE(IGGY_REG_COUNT, group_list_rows, 1),
    PAGE_TOKEN,
    IGGY_CALL(check_token),
    IGGY_ROWS_END
};

static const iggy_row_t record_body_rows[] = {
    IGGY_CALL(walk_record_body),
    IGGY_ROWS_END
};

static const iggy_row_t record_rows[] = {
    IGGY_U64(hf_iggy_change_op, .label = ": op |"),
    IGGY_U32(hf_iggy_change_ordinal),
    IGGY_FIXED(hf_iggy_change_checksum, 16),
    IGGY_TIME(hf_iggy_change_timestamp),
    IGGY_U8(hf_iggy_change_has_actor, .put = IGGY_REG_HAS, .flags = IGGY_KNOWN),
    IGGY_U32(hf_iggy_change_actor, .when = IGGY_REG_HAS, .is = 1),
    IGGY_U8(hf_iggy_change_group, .put = IGGY_REG_GROUP),
    IGGY_U8(hf_iggy_change_kind, .put = IGGY_REG_KIND, .label = ", |"),
    IGGY_U32(hf_iggy_change_body_length, .put = IGGY_REG_LENGTH),
    { .kind = IGGY_ROW_EXTENT, .count = IGGY_REG_LENGTH, .rows = record_body_rows },
    IGGY_ROWS_END
};

static const iggy_row_t item_body_rows[] = {
    IGGY_CALL(walk_item_body),
    IGGY_ROWS_END
};

static const iggy_row_t item_rows[] = {
    IGGY_U8(hf_iggy_change_group, .put = IGGY_REG_GROUP, .label = ": |"),
    IGGY_U32(hf_iggy_change_body_length, .put = IGGY_REG_LENGTH),
    { .kind = IGGY_ROW_EXTENT, .count = IGGY_REG_LENGTH, .rows = item_body_rows },
    IGGY_ROWS_END
};

/* Records are of phase 0, items of phase 1, never both. */
static int check_phase(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    if (iggy_walk_shows(walk) && walk->reg[IGGY_REG_COUNT] && walk->reg[IGGY_REG_SCOPE] != row->is)
        proto_tree_add_expert(tree, walk->pdu->pinfo, &ei_iggy_change_phase, walk->tvb, offset - 4, 4);
    return offset;
}

#define PHASE_CHANGES 0
#define PHASE_CURRENT 1

/* `is` of these calls is the phase that goes with the list, not a condition. */
static const iggy_row_t changes_reply_rows[] = {
    IGGY_U8(hf_iggy_change_status, .flags = IGGY_KNOWN),
    IGGY_U8(hf_iggy_change_phase, .put = IGGY_REG_SCOPE, .flags = IGGY_KNOWN),
    IGGY_U8(hf_iggy_change_has_log_id, .put = IGGY_REG_HAS, .flags = IGGY_KNOWN),
    IGGY_FIXED(hf_iggy_change_log_id, 16, .when = IGGY_REG_HAS, .is = 1),
    IGGY_U64(hf_iggy_change_oldest_op),
    IGGY_TIME(hf_iggy_change_retained_since),
    IGGY_U64(hf_iggy_change_head_op),
    IGGY_U8(hf_iggy_change_has_next, .put = IGGY_REG_HAS, .flags = IGGY_KNOWN),
    CURSOR(.when = IGGY_REG_HAS, .is = 1),
    IGGY_U8(hf_iggy_change_has_more),
    IGGY_U32(hf_iggy_change_records_count, .put = IGGY_REG_COUNT, .fact = IGGY_FACT_COUNT),
    IGGY_CALL(check_phase, .is = PHASE_CHANGES),
    IGGY_LIST(IGGY_REG_COUNT, record_rows, hf_iggy_change_record, ett_iggy_change_record, 43, .flags = IGGY_SCOPED),
    IGGY_U32(hf_iggy_change_items_count, .put = IGGY_REG_COUNT),
    IGGY_CALL(check_phase, .is = PHASE_CURRENT),
    IGGY_LIST(IGGY_REG_COUNT, item_rows, hf_iggy_change_item, ett_iggy_change_item, 5, .fact = IGGY_FACT_COUNT,
              .when = IGGY_REG_COUNT, .flags = IGGY_SCOPED | IGGY_NOT),
    PAGE_TOKEN,
    IGGY_ROWS_END
};

const iggy_command_t iggy_commands_changes[] = {
    { .code = 17, .operation = IGGY_OP_NON_REPLICATED, .since = IGGY_0_12_0, .name = "get_metadata_changes",
      .flags = IGGY_LEARN,
      .request = changes_request_rows, .reply = changes_reply_rows },
    { .name = NULL }
};

static void name_kinds(void)
{
    for (unsigned i = 0; i < array_length(record_bodies); i++) {
        kind_vals[i].value = record_bodies[i].value;
        kind_vals[i].strptr = record_bodies[i].name;
    }
}

void iggy_register_commands_changes(int proto)
{
    static hf_register_info hf[] = {
        { &hf_iggy_change_start,
          { "Start", "iggy.change.start", FT_UINT8, BASE_DEC, VALS(start_vals), 0x0,
            "Where the listing begins", HFILL } },
        { &hf_iggy_change_has_since,
          { "Since is present", "iggy.change.has_since", FT_UINT8, BASE_DEC, VALS(presence_vals), 0x0, NULL, HFILL } },
        { &hf_iggy_change_since,
          { "Since", "iggy.change.since", FT_ABSOLUTE_TIME, ABSOLUTE_TIME_UTC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_change_has_until,
          { "Until is present", "iggy.change.has_until", FT_UINT8, BASE_DEC, VALS(presence_vals), 0x0, NULL, HFILL } },
        { &hf_iggy_change_until,
          { "Until", "iggy.change.until", FT_ABSOLUTE_TIME, ABSOLUTE_TIME_UTC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_change_page_limit,
          { "Limit", "iggy.change.limit", FT_UINT32, BASE_DEC, NULL, 0x0,
            "Most records or items of a page, 1 to 1000", HFILL } },
        { &hf_iggy_change_groups_count,
          { "Groups", "iggy.change.groups_count", FT_UINT8, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_change_group,
          { "Group", "iggy.change.group", FT_UINT8, BASE_DEC, VALS(group_vals), 0x0, NULL, HFILL } },
        { &hf_iggy_change_status,
          { "Status", "iggy.change.status", FT_UINT8, BASE_DEC, VALS(status_vals), 0x0, NULL, HFILL } },
        { &hf_iggy_change_phase,
          { "Phase", "iggy.change.phase", FT_UINT8, BASE_DEC, VALS(phase_vals), 0x0, NULL, HFILL } },
        { &hf_iggy_change_has_log_id,
          { "Log id is present", "iggy.change.has_log_id", FT_UINT8, BASE_DEC, VALS(presence_vals), 0x0, NULL,
            HFILL } },
        { &hf_iggy_change_log_id,
          { "Log id", "iggy.change.log_id", FT_GUID, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_change_oldest_op,
          { "Oldest op", "iggy.change.oldest_op", FT_UINT64, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_change_retained_since,
          { "Retained since", "iggy.change.retained_since", FT_ABSOLUTE_TIME, ABSOLUTE_TIME_UTC, NULL, 0x0, NULL,
            HFILL } },
        { &hf_iggy_change_head_op,
          { "Head op", "iggy.change.head_op", FT_UINT64, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_change_has_next,
          { "Next cursor is present", "iggy.change.has_next", FT_UINT8, BASE_DEC, VALS(presence_vals), 0x0, NULL,
            HFILL } },
        { &hf_iggy_change_has_more,
          { "More to come", "iggy.change.has_more", FT_BOOLEAN, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_change_cursor,
          { "Cursor", "iggy.change.cursor", FT_NONE, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_change_cursor_op,
          { "Op", "iggy.change.cursor.op", FT_UINT64, BASE_DEC, NULL, 0x0, "0: before the first record", HFILL } },
        { &hf_iggy_change_checksum,
          { "Checksum of the prepare", "iggy.change.checksum", FT_BYTES, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_change_ordinal,
          { "Ordinal", "iggy.change.ordinal", FT_UINT32, BASE_DEC, NULL, 0x0,
            "Number of the record within its op", HFILL } },
        { &hf_iggy_change_token,
          { "Page token", "iggy.change.token", FT_NONE, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_change_token_length,
          { "Page token length", "iggy.change.token.length", FT_UINT16, BASE_DEC | BASE_UNIT_STRING,
            &units_byte_bytes, 0x0, NULL, HFILL } },
        { &hf_iggy_change_token_required_head,
          { "Required head", "iggy.change.token.required_head", FT_UINT64, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_change_token_groups_mask,
          { "Groups", "iggy.change.token.groups_mask", FT_UINT8, BASE_HEX, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_change_mask_streams,
          { "Streams", "iggy.change.token.groups_mask.streams", FT_BOOLEAN, 8, NULL, 0x01, NULL, HFILL } },
        { &hf_iggy_change_mask_topics,
          { "Topics", "iggy.change.token.groups_mask.topics", FT_BOOLEAN, 8, NULL, 0x02, NULL, HFILL } },
        { &hf_iggy_change_mask_partitions,
          { "Partitions", "iggy.change.token.groups_mask.partitions", FT_BOOLEAN, 8, NULL, 0x04, NULL, HFILL } },
        { &hf_iggy_change_mask_consumer_groups,
          { "Consumer groups", "iggy.change.token.groups_mask.consumer_groups", FT_BOOLEAN, 8, NULL, 0x08, NULL,
            HFILL } },
        { &hf_iggy_change_mask_members,
          { "Members of consumer groups", "iggy.change.token.groups_mask.consumer_group_members", FT_BOOLEAN, 8, NULL,
            0x10, NULL, HFILL } },
        { &hf_iggy_change_mask_users,
          { "Users", "iggy.change.token.groups_mask.users", FT_BOOLEAN, 8, NULL, 0x20, NULL, HFILL } },
        { &hf_iggy_change_mask_tokens,
          { "Personal access tokens", "iggy.change.token.groups_mask.personal_access_tokens", FT_BOOLEAN, 8, NULL,
            0x40, NULL, HFILL } },
        { &hf_iggy_change_mask_sessions,
          { "Sessions", "iggy.change.token.groups_mask.sessions", FT_BOOLEAN, 8, NULL, 0x80, NULL, HFILL } },
        { &hf_iggy_change_token_key,
          { "Last key", "iggy.change.token.key", FT_NONE, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_change_token_key_length,
          { "Last key length", "iggy.change.token.key.length", FT_UINT16, BASE_DEC | BASE_UNIT_STRING,
            &units_byte_bytes, 0x0, NULL, HFILL } },
        { &hf_iggy_change_records_count,
          { "Records", "iggy.change.records_count", FT_UINT32, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_change_record,
          { "Record", "iggy.change.record", FT_NONE, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_change_items_count,
          { "Items", "iggy.change.items_count", FT_UINT32, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_change_item,
          { "Item", "iggy.change.item", FT_NONE, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_change_op,
          { "Op", "iggy.change.op", FT_UINT64, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_change_timestamp,
          { "Timestamp", "iggy.change.timestamp", FT_ABSOLUTE_TIME, ABSOLUTE_TIME_UTC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_change_has_actor,
          { "Actor is present", "iggy.change.has_actor", FT_UINT8, BASE_DEC, VALS(presence_vals), 0x0, NULL, HFILL } },
        { &hf_iggy_change_actor,
          { "Actor", "iggy.change.actor", FT_UINT32, BASE_DEC, NULL, 0x0, "User who made the change", HFILL } },
        { &hf_iggy_change_kind,
          { "Kind", "iggy.change.kind", FT_UINT8, BASE_DEC, VALS(kind_vals), 0x0, NULL, HFILL } },
        { &hf_iggy_change_body_length,
          { "Body length", "iggy.change.body.length", FT_UINT32, BASE_DEC | BASE_UNIT_STRING, &units_byte_bytes, 0x0,
            NULL, HFILL } },
        { &hf_iggy_change_stream_created_op,
          { "Op that created the stream", "iggy.change.stream_created_op", FT_UINT64, BASE_DEC, NULL, 0x0, NULL,
            HFILL } },
        { &hf_iggy_change_topic_created_op,
          { "Op that created the topic", "iggy.change.topic_created_op", FT_UINT64, BASE_DEC, NULL, 0x0, NULL,
            HFILL } },
        { &hf_iggy_change_user_created_at,
          { "Creation of the user", "iggy.change.user_created_at", FT_ABSOLUTE_TIME, ABSOLUTE_TIME_UTC, NULL, 0x0,
            NULL, HFILL } },
        { &hf_iggy_change_options_state,
          { "State of options", "iggy.change.options_state", FT_UINT8, BASE_DEC, VALS(options_state_vals), 0x0, NULL,
            HFILL } },
        { &hf_iggy_change_has_requested_op,
          { "Requested op is present", "iggy.change.has_requested_op", FT_UINT8, BASE_DEC, VALS(presence_vals), 0x0,
            NULL, HFILL } },
        { &hf_iggy_change_requested_op,
          { "Requested op", "iggy.change.requested_op", FT_UINT64, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_change_removed_count,
          { "Removed partitions", "iggy.change.removed_count", FT_UINT32, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_change_has_member,
          { "Member is present", "iggy.change.has_member", FT_UINT8, BASE_DEC, VALS(presence_vals), 0x0, NULL,
            HFILL } },
        { &hf_iggy_change_member_partitions_count,
          { "Partitions of the member", "iggy.change.member_partitions_count", FT_UINT32, BASE_DEC, NULL, 0x0, NULL,
            HFILL } },
        { &hf_iggy_change_has_permissions,
          { "Permissions are present", "iggy.change.has_permissions", FT_UINT8, BASE_DEC, VALS(presence_vals), 0x0,
            NULL, HFILL } },
        { &hf_iggy_change_leave_reason,
          { "Reason", "iggy.change.leave_reason", FT_UINT8, BASE_DEC, VALS(leave_reason_vals), 0x0, NULL, HFILL } },
        { &hf_iggy_change_permissions_reason,
          { "Reason", "iggy.change.permissions_reason", FT_UINT8, BASE_DEC, VALS(permissions_reason_vals), 0x0, NULL,
            HFILL } },
        { &hf_iggy_change_token_reason,
          { "Reason", "iggy.change.token_reason", FT_UINT8, BASE_DEC, VALS(token_reason_vals), 0x0, NULL, HFILL } },
        { &hf_iggy_change_session_reason,
          { "Reason", "iggy.change.session_reason", FT_UINT8, BASE_DEC, VALS(session_reason_vals), 0x0, NULL, HFILL } },
        { &hf_iggy_change_body,
          { "Body", "iggy.change.body", FT_BYTES, BASE_NONE, NULL, 0x0,
            "Of a kind or group that is not known", HFILL } },
    };
    static int *ett[] = {
        &ett_iggy_change_cursor,    &ett_iggy_change_token,  &ett_iggy_change_mask,
        &ett_iggy_change_token_key, &ett_iggy_change_record, &ett_iggy_change_item,
    };
    static ei_register_info ei[] = {
        { &ei_iggy_change_unknown,
          { "iggy.expert.change_unknown", PI_UNDECODED, PI_NOTE, "A kind or group that is not known: legal, skipped by its length",
            EXPFILL } },
        { &ei_iggy_change_group,
          { "iggy.expert.change_group", PI_PROTOCOL, PI_WARN, "A record of this kind does not belong to this group",
            EXPFILL } },
        { &ei_iggy_change_phase,
          { "iggy.expert.change_phase", PI_PROTOCOL, PI_WARN,
            "Records belong to phase \"changes\", items to phase \"current\"", EXPFILL } },
    };

    name_kinds();
    proto_register_field_array(proto, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    expert_register_field_array(expert_register_protocol(proto), ei, array_length(ei));
}
