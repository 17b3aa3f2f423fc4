/* packet-iggy-fields.c
 * Fields and rows that more than one room uses: names, ids, counts, and the shared shapes of bodies (encodings.md 2..16).
 * Options and user headers have a file of their own (-options), so have permissions.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-fields.h"

#include <stdio.h>
#include <string.h>

#include "packet-iggy-commands.h"
#include "packet-iggy-headers.h"
#include "packet-iggy-limits.h"
#include "packet-iggy-permissions.h"
#include "packet-iggy-values.h"

int hf_iggy_stream_id = IGGY_UNREGISTERED;
int hf_iggy_stream_name = IGGY_UNREGISTERED;
int hf_iggy_stream_name_length = IGGY_UNREGISTERED;
int hf_iggy_stream_new_name = IGGY_UNREGISTERED;
int hf_iggy_stream_new_name_length = IGGY_UNREGISTERED;
int hf_iggy_topic_id = IGGY_UNREGISTERED;
int hf_iggy_topic_name = IGGY_UNREGISTERED;
int hf_iggy_topic_name_length = IGGY_UNREGISTERED;
int hf_iggy_topic_new_name = IGGY_UNREGISTERED;
int hf_iggy_topic_new_name_length = IGGY_UNREGISTERED;
int hf_iggy_partition_id = IGGY_UNREGISTERED;
int hf_iggy_partition_member = IGGY_UNREGISTERED;
int hf_iggy_partition_members_count = IGGY_UNREGISTERED;
int hf_iggy_partition_in_sync_member = IGGY_UNREGISTERED;
int hf_iggy_partition_in_sync_members_count = IGGY_UNREGISTERED;
int hf_iggy_consumer_id = IGGY_UNREGISTERED;
int hf_iggy_consumer_name = IGGY_UNREGISTERED;
int hf_iggy_consumer_kind = IGGY_UNREGISTERED;
int hf_iggy_consumer_group_id = IGGY_UNREGISTERED;
int hf_iggy_consumer_group_name = IGGY_UNREGISTERED;
int hf_iggy_consumer_group_name_length = IGGY_UNREGISTERED;
int hf_iggy_user_id = IGGY_UNREGISTERED;
int hf_iggy_user_name = IGGY_UNREGISTERED;
int hf_iggy_user_name_length = IGGY_UNREGISTERED;
int hf_iggy_user_new_name = IGGY_UNREGISTERED;
int hf_iggy_user_new_name_length = IGGY_UNREGISTERED;
int hf_iggy_user_status = IGGY_UNREGISTERED;
int hf_iggy_has_new_name = IGGY_UNREGISTERED;
int hf_iggy_has_user_status = IGGY_UNREGISTERED;
int hf_iggy_has_permissions = IGGY_UNREGISTERED;
int hf_iggy_token_name = IGGY_UNREGISTERED;
int hf_iggy_token_name_length = IGGY_UNREGISTERED;
int hf_iggy_connection_id = IGGY_UNREGISTERED;
int hf_iggy_client = IGGY_UNREGISTERED;
int hf_iggy_session = IGGY_UNREGISTERED;
int hf_iggy_identifier_kind = IGGY_UNREGISTERED;
int hf_iggy_identifier_length = IGGY_UNREGISTERED;

int hf_iggy_messages_count = IGGY_UNREGISTERED;
int hf_iggy_poll_count = IGGY_UNREGISTERED;
int hf_iggy_partitions_count = IGGY_UNREGISTERED;
int hf_iggy_topics_count = IGGY_UNREGISTERED;
int hf_iggy_members_count = IGGY_UNREGISTERED;
int hf_iggy_consumer_groups_count = IGGY_UNREGISTERED;
int hf_iggy_segments_count = IGGY_UNREGISTERED;
int hf_iggy_size_bytes = IGGY_UNREGISTERED;
int hf_iggy_created_at = IGGY_UNREGISTERED;
int hf_iggy_current_offset = IGGY_UNREGISTERED;
int hf_iggy_stored_offset = IGGY_UNREGISTERED;
int hf_iggy_offset = IGGY_UNREGISTERED;
int hf_iggy_ack = IGGY_UNREGISTERED;

int hf_iggy_op = IGGY_UNREGISTERED;
int hf_iggy_commit = IGGY_UNREGISTERED;
int hf_iggy_view = IGGY_UNREGISTERED;
int hf_iggy_timestamp = IGGY_UNREGISTERED;
int hf_iggy_request = IGGY_UNREGISTERED;
int hf_iggy_operation = IGGY_UNREGISTERED;
int hf_iggy_consensus_group = IGGY_UNREGISTERED;
int hf_iggy_nonce = IGGY_UNREGISTERED;
int hf_iggy_acting_user = IGGY_UNREGISTERED;
int hf_iggy_replica = IGGY_UNREGISTERED;
int hf_iggy_context_partition_incarnation = IGGY_UNREGISTERED;
int hf_iggy_context_owner_generation = IGGY_UNREGISTERED;
int hf_iggy_context_minimum_metadata_op = IGGY_UNREGISTERED;
int hf_iggy_metadata_watermark = IGGY_UNREGISTERED;
int hf_iggy_namespace_revision = IGGY_UNREGISTERED;
int hf_iggy_created_revision = IGGY_UNREGISTERED;
int hf_iggy_partition_view = IGGY_UNREGISTERED;
int hf_iggy_up_to_offset = IGGY_UNREGISTERED;
int hf_iggy_error = IGGY_UNREGISTERED;
int hf_iggy_extra = IGGY_UNREGISTERED;
int hf_iggy_undecoded = IGGY_UNREGISTERED;
int hf_iggy_reserved = IGGY_UNREGISTERED;
int hf_iggy_unused = IGGY_UNREGISTERED;

int hf_iggy_login_version = IGGY_UNREGISTERED;
int hf_iggy_sdk_name = IGGY_UNREGISTERED;
int hf_iggy_sdk_name_length = IGGY_UNREGISTERED;
int hf_iggy_sdk_version = IGGY_UNREGISTERED;
int hf_iggy_sdk_version_length = IGGY_UNREGISTERED;
int hf_iggy_server_version = IGGY_UNREGISTERED;
int hf_iggy_server_build = IGGY_UNREGISTERED;
int hf_iggy_server_build_length = IGGY_UNREGISTERED;
int hf_iggy_password = IGGY_UNREGISTERED;
int hf_iggy_password_length = IGGY_UNREGISTERED;
int hf_iggy_new_password = IGGY_UNREGISTERED;
int hf_iggy_new_password_length = IGGY_UNREGISTERED;
int hf_iggy_token = IGGY_UNREGISTERED;
int hf_iggy_token_length = IGGY_UNREGISTERED;
int hf_iggy_bind_secret = IGGY_UNREGISTERED;
int hf_iggy_bind_verifier = IGGY_UNREGISTERED;

/* of the shapes below alone */
static int hf_iggy_partition_present = IGGY_UNREGISTERED;
static int hf_iggy_partitioning_kind = IGGY_UNREGISTERED;
static int hf_iggy_partitioning_length = IGGY_UNREGISTERED;
static int hf_iggy_partitioning_key = IGGY_UNREGISTERED;
static int hf_iggy_poll_strategy = IGGY_UNREGISTERED;
static int hf_iggy_poll_offset = IGGY_UNREGISTERED;
static int hf_iggy_poll_timestamp = IGGY_UNREGISTERED;

expert_field ei_iggy_reserved = EI_INIT;
expert_field ei_iggy_reserved_enforced = EI_INIT;
expert_field ei_iggy_layout = EI_INIT;
expert_field ei_iggy_cut = EI_INIT;
expert_field ei_iggy_extra = EI_INIT;
expert_field ei_iggy_empty_name = EI_INIT;
expert_field ei_iggy_bad_kind = EI_INIT;
expert_field ei_iggy_count = EI_INIT;
expert_field ei_iggy_secret = EI_INIT;
expert_field ei_iggy_items_limit = EI_INIT;

static const value_string identifier_kind_vals[] = {
    { 1, "numeric" },
    { 2, "string" },
    { 0, NULL }
};

static const value_string consumer_kind_vals[] = {
    { 1, "consumer" },
    { 2, "consumer_group" },
    { 3, "external_group" },
    { 0, NULL }
};

static const value_string partitioning_kind_vals[] = {
    { 1, "balanced" },
    { 2, "partition_id" },
    { 3, "messages_key" },
    { 0, NULL }
};

static const value_string ack_vals[] = {
    { 0, "no_ack" },
    { 1, "quorum" },
    { 0, NULL }
};

static const value_string user_status_vals[] = {
    { 1, "active" },
    { 2, "inactive" },
    { 0, NULL }
};

/* Only 1 is present, every other value is absent (encodings.md 1.2). */
static const value_string presence_vals[] = {
    { 0, "absent" },
    { 1, "present" },
    { 0, NULL }
};

/* encodings.md 1.3 */
const iggy_sentinel_t iggy_never_0[] = {
    { 0, "never" },
    { 0, NULL }
};

const iggy_sentinel_t iggy_not_set_0[] = {
    { 0, "not set" },
    { 0, NULL }
};

const iggy_sentinel_t iggy_expiry_sentinels[] = {
    { 0, "server default" },
    { UINT64_MAX, "never" },
    { 0, NULL }
};

const iggy_sentinel_t iggy_size_sentinels[] = {
    { 0, "server default" },
    { UINT64_MAX, "unlimited" },
    { 0, NULL }
};

const iggy_row_t iggy_rows_none[] = {
    IGGY_ROWS_END
};

/* encodings.md 4: what kind 1 names is a consumer, what 2 and 3 name is a group. */
static const iggy_row_t rows_consumer_not_managed[] = {
    IGGY_IDENT(hf_iggy_consumer_group_id, hf_iggy_consumer_group_name, IGGY_FACT_CONSUMER_GROUP_ID,
               .when = IGGY_REG_KIND, .is = 3),
    IGGY_IDENT(hf_iggy_consumer_id, hf_iggy_consumer_name, IGGY_FACT_CONSUMER_ID,
               .when = IGGY_REG_KIND, .is = 3, .flags = IGGY_NOT),
    IGGY_ROWS_END
};

const iggy_row_t iggy_rows_consumer[] = {
    IGGY_U8(hf_iggy_consumer_kind, .put = IGGY_REG_KIND, .flags = IGGY_KNOWN),
    { .kind = IGGY_ROW_CALL, .call = iggy_check_range, .hf = &hf_iggy_consumer_kind, .count = IGGY_REG_KIND, .min = 1, .is = 2,
      .until = IGGY_0_11_0, .flags = IGGY_ASIDE }, /* 0.11.0 refuses external groups */
    IGGY_IDENT(hf_iggy_consumer_group_id, hf_iggy_consumer_group_name, IGGY_FACT_CONSUMER_GROUP_ID,
               .when = IGGY_REG_KIND, .is = 2),
    IGGY_ROWS(rows_consumer_not_managed, .when = IGGY_REG_KIND, .is = 2, .flags = IGGY_NOT),
    IGGY_ROWS_END
};

const iggy_row_t iggy_rows_stream_topic[] = {
    IGGY_IDENT(hf_iggy_stream_id, hf_iggy_stream_name, IGGY_FACT_STREAM_ID),
    IGGY_IDENT(hf_iggy_topic_id, hf_iggy_topic_name, IGGY_FACT_TOPIC_ID),
    IGGY_ROWS_END
};

const iggy_row_t iggy_rows_stream_topic_group[] = {
    IGGY_ROWS(iggy_rows_stream_topic),
    IGGY_IDENT(hf_iggy_consumer_group_id, hf_iggy_consumer_group_name, IGGY_FACT_CONSUMER_GROUP_ID),
    IGGY_ROWS_END
};

/* encodings.md 5: what is absent has no id. */
const iggy_row_t iggy_rows_opt_partition[] = {
    IGGY_U8(hf_iggy_partition_present, .put = IGGY_REG_HAS),
    IGGY_U32(hf_iggy_partition_id, .fact = IGGY_FACT_PARTITION, .when = IGGY_REG_HAS, .is = 1),
    IGGY_FIXED(hf_iggy_unused, 4, .when = IGGY_REG_HAS, .is = 1, .flags = IGGY_NOT),
    IGGY_ROWS_END
};

const iggy_row_t iggy_rows_partition_id[] = {
    IGGY_U32(hf_iggy_partition_id),
    IGGY_ROWS_END
};

static const iggy_row_t rows_partitioning_id[] = {
    IGGY_U32(hf_iggy_partition_id, .fact = IGGY_FACT_PARTITION),
    IGGY_ROWS_END
};

/* encodings.md 6 */
static const iggy_row_t rows_partitioning_other[] = {
    IGGY_SPAN(hf_iggy_partitioning_key, IGGY_REG_LENGTH, .when = IGGY_REG_KIND, .is = 3),
    IGGY_SPAN(hf_iggy_unused, IGGY_REG_LENGTH, .when = IGGY_REG_KIND, .is = 3, .flags = IGGY_NOT),
    IGGY_ROWS_END
};

const iggy_row_t iggy_rows_partitioning[] = {
    IGGY_U8(hf_iggy_partitioning_kind, .put = IGGY_REG_KIND, .flags = IGGY_KNOWN),
    IGGY_U8(hf_iggy_partitioning_length, .put = IGGY_REG_LENGTH),
    { .kind = IGGY_ROW_EXTENT, .count = IGGY_REG_LENGTH, .rows = rows_partitioning_id, .when = IGGY_REG_KIND, .is = 2 },
    IGGY_ROWS(rows_partitioning_other, .when = IGGY_REG_KIND, .is = 2, .flags = IGGY_NOT),
    IGGY_ROWS_END
};

/* encodings.md 7: kinds 1 and 2 have a value. */
static const iggy_row_t rows_strategy_not_offset[] = {
    IGGY_TIME(hf_iggy_poll_timestamp, .when = IGGY_REG_KIND, .is = 2),
    IGGY_FIXED(hf_iggy_unused, 8, .when = IGGY_REG_KIND, .is = 2, .flags = IGGY_NOT),
    IGGY_ROWS_END
};

const iggy_row_t iggy_rows_strategy[] = {
    IGGY_U8(hf_iggy_poll_strategy, .put = IGGY_REG_KIND, .fact = IGGY_FACT_STRATEGY, .flags = IGGY_KNOWN),
    IGGY_U64(hf_iggy_poll_offset, .fact = IGGY_FACT_OFFSET, .when = IGGY_REG_KIND, .is = 1),
    IGGY_ROWS(rows_strategy_not_offset, .when = IGGY_REG_KIND, .is = 1, .flags = IGGY_NOT),
    IGGY_ROWS_END
};

/* encodings.md 8 */
const iggy_row_t iggy_rows_ack[] = {
    IGGY_U8(hf_iggy_ack, .flags = IGGY_KNOWN),
    IGGY_ROWS_END
};

/* encodings.md 14 */
const iggy_row_t iggy_rows_version_info[] = {
    IGGY_CALL(iggy_call_version, .size = 4, .hf = &hf_iggy_login_version, .fact = IGGY_FACT_LOGIN_VERSION),
    IGGY_NAME(hf_iggy_sdk_name, hf_iggy_sdk_name_length, .fact = IGGY_FACT_SDK_NAME, .flags = IGGY_NOT_EMPTY),
    IGGY_NAME(hf_iggy_sdk_version, hf_iggy_sdk_version_length, .fact = IGGY_FACT_SDK_VERSION, .flags = IGGY_NOT_EMPTY),
    IGGY_ROWS_END
};

/* encodings.md 12.1 */
const iggy_row_t iggy_rows_context[] = {
    IGGY_U64(hf_iggy_context_partition_incarnation),
    IGGY_U64(hf_iggy_context_owner_generation),
    IGGY_U64(hf_iggy_context_minimum_metadata_op),
    IGGY_ROWS_END
};

/* encodings.md 12.3 */
const iggy_row_t iggy_rows_session_identity[] = {
    IGGY_FIXED(hf_iggy_client, 16),
    IGGY_U64(hf_iggy_session),
    IGGY_U64(hf_iggy_metadata_watermark),
    IGGY_ROWS_END
};

/* encodings.md 12.2 */
const iggy_row_t iggy_rows_owner[] = {
    IGGY_FIXED(hf_iggy_client, 16),
    IGGY_U64(hf_iggy_session),
    IGGY_U64(hf_iggy_context_owner_generation),
    IGGY_ROWS_END
};

/*
 * Fields of headers alone; no row of a body may use them: a filter on them does not make bodies be walked. The strings of the
 * operation are made from the tables.
 */
void iggy_register_header_fields(int proto)
{
    static hf_register_info hf[] = {
        { &hf_iggy_operation,
          { "Operation", "iggy.operation", FT_UINT8, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_op,
          { "Op", "iggy.op", FT_UINT64, BASE_DEC, NULL, 0x0, "Position in the log of a consensus group", HFILL } },
        { &hf_iggy_view,
          { "View", "iggy.view", FT_UINT32, BASE_DEC, NULL, 0x0, "Number of the view; each has one primary", HFILL } },
        { &hf_iggy_timestamp,
          { "Timestamp", "iggy.timestamp", FT_ABSOLUTE_TIME, ABSOLUTE_TIME_UTC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_request,
          { "Request", "iggy.request", FT_UINT64, BASE_DEC, NULL, 0x0, "Request number of the client", HFILL } },
        { &hf_iggy_nonce,
          { "Nonce", "iggy.nonce", FT_BYTES, BASE_NONE, NULL, 0x0,
            "Random bytes that name a handshake, repair or transfer", HFILL } },
        { &hf_iggy_acting_user,
          { "Acting user", "iggy.acting_user", FT_UINT32, BASE_DEC, NULL, 0x0,
            "Id of the user on whose behalf a request is done", HFILL } },
        { &hf_iggy_replica,
          { "Replica", "iggy.replica", FT_UINT8, BASE_DEC, NULL, 0x0,
            "Node id of the replica that made the frame", HFILL } },
    };
    iggy_name_operations(&hf[0]);
    proto_register_field_array(proto, hf, array_length(hf));
}

static void register_names(int proto)
{
    static hf_register_info hf[] = {
        { &hf_iggy_stream_id,
          { "Stream", "iggy.stream.id", FT_UINT32, BASE_DEC, NULL, 0x0, "Numeric id of a stream", HFILL } },
        { &hf_iggy_stream_name,
          { "Stream name", "iggy.stream.name", FT_STRING, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_stream_name_length,
          { "Length of the stream name", "iggy.stream.name.length", FT_UINT8, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_stream_new_name,
          { "New stream name", "iggy.stream.new_name", FT_STRING, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_stream_new_name_length,
          { "Length of the new stream name", "iggy.stream.new_name.length", FT_UINT8, BASE_DEC, NULL, 0x0,
            NULL, HFILL } },
        { &hf_iggy_topic_id,
          { "Topic", "iggy.topic.id", FT_UINT32, BASE_DEC, NULL, 0x0,
            "Numeric id of a topic within its stream", HFILL } },
        { &hf_iggy_topic_name,
          { "Topic name", "iggy.topic.name", FT_STRING, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_topic_name_length,
          { "Length of the topic name", "iggy.topic.name.length", FT_UINT8, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_topic_new_name,
          { "New topic name", "iggy.topic.new_name", FT_STRING, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_topic_new_name_length,
          { "Length of the new topic name", "iggy.topic.new_name.length", FT_UINT8, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_partition_id,
          { "Partition", "iggy.partition.id", FT_UINT64, BASE_DEC, NULL, 0x0,
            "Id of a partition within its topic", HFILL } },
        { &hf_iggy_partition_present,
          { "Partition id", "iggy.partition.present", FT_UINT8, BASE_DEC, VALS(presence_vals), 0x0,
            "Whether the request names a partition; only the value 1 says so", HFILL } },
        { &hf_iggy_partition_member,
          { "Member", "iggy.partition.member", FT_UINT8, BASE_DEC, NULL, 0x0,
            "Node id of a replica of the partition", HFILL } },
        { &hf_iggy_partition_members_count,
          { "Members", "iggy.partition.members_count", FT_UINT8, BASE_DEC, NULL, 0x0,
            "Number of replicas of the partition", HFILL } },
        { &hf_iggy_partition_in_sync_member,
          { "In-sync member", "iggy.partition.in_sync_member", FT_UINT8, BASE_DEC, NULL, 0x0,
            "Node id of a replica that has all of the partition's log", HFILL } },
        { &hf_iggy_partition_in_sync_members_count,
          { "In-sync members", "iggy.partition.in_sync_members_count", FT_UINT8, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_consumer_kind,
          { "Consumer kind", "iggy.consumer.kind", FT_UINT8, BASE_DEC, VALS(consumer_kind_vals), 0x0, NULL, HFILL } },
        { &hf_iggy_consumer_id,
          { "Consumer", "iggy.consumer.id", FT_UINT32, BASE_DEC, NULL, 0x0,
            "Numeric id of a consumer of its own", HFILL } },
        { &hf_iggy_consumer_name,
          { "Consumer name", "iggy.consumer.name", FT_STRING, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_consumer_group_id,
          { "Consumer group", "iggy.consumer_group.id", FT_UINT64, BASE_DEC, NULL, 0x0,
            "Numeric id of a consumer group within its topic", HFILL } },
        { &hf_iggy_consumer_group_name,
          { "Consumer group name", "iggy.consumer_group.name", FT_STRING, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_consumer_group_name_length,
          { "Length of the consumer group name", "iggy.consumer_group.name.length", FT_UINT8, BASE_DEC, NULL, 0x0,
            NULL, HFILL } },
        { &hf_iggy_user_id,
          { "User", "iggy.user.id", FT_UINT32, BASE_DEC, NULL, 0x0,
            "Numeric id of a user; 0 is the root user", HFILL } },
        { &hf_iggy_user_name,
          { "User name", "iggy.user.name", FT_STRING, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_user_name_length,
          { "Length of the user name", "iggy.user.name.length", FT_UINT8, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_user_new_name,
          { "New user name", "iggy.user.new_name", FT_STRING, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_user_new_name_length,
          { "Length of the new user name", "iggy.user.new_name.length", FT_UINT8, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_user_status,
          { "User status", "iggy.user.status", FT_UINT8, BASE_DEC, VALS(user_status_vals), 0x0, NULL, HFILL } },
        { &hf_iggy_has_new_name,
          { "New name", "iggy.has_new_name", FT_UINT8, BASE_DEC, VALS(presence_vals), 0x0,
            "Whether the name changes", HFILL } },
        { &hf_iggy_has_user_status,
          { "New status", "iggy.user.has_status", FT_UINT8, BASE_DEC, VALS(presence_vals), 0x0,
            "Whether the status changes", HFILL } },
        { &hf_iggy_has_permissions,
          { "Permissions", "iggy.user.has_permissions", FT_UINT8, BASE_DEC, VALS(presence_vals), 0x0,
            "Whether the user has permissions of its own", HFILL } },
        { &hf_iggy_token_name,
          { "Access token name", "iggy.token.name", FT_STRING, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_token_name_length,
          { "Length of the access token name", "iggy.token.name.length", FT_UINT8, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_connection_id,
          { "Connection", "iggy.connection.id", FT_UINT32, BASE_DEC, NULL, 0x0,
            "Low 32 bits of the server's own id of a connection; not the client id of headers", HFILL } },
        { &hf_iggy_client,
          { "Client", "iggy.client", FT_GUID, BASE_NONE, NULL, 0x0,
            "Client id: 16 bytes in the order of the wire", HFILL } },
        { &hf_iggy_session,
          { "Session", "iggy.session", FT_UINT64, BASE_DEC, NULL, 0x0,
            "Number of the session; 0 before the login", HFILL } },
        { &hf_iggy_identifier_kind,
          { "Identifier kind", "iggy.identifier.kind", FT_UINT8, BASE_DEC, VALS(identifier_kind_vals), 0x0,
            NULL, HFILL } },
        { &hf_iggy_identifier_length,
          { "Identifier length", "iggy.identifier.length", FT_UINT8, BASE_DEC, NULL, 0x0, NULL, HFILL } },
    };
    proto_register_field_array(proto, hf, array_length(hf));
}

static void register_counts(int proto)
{
    static hf_register_info hf[] = {
        { &hf_iggy_messages_count,
          { "Messages", "iggy.messages_count", FT_UINT64, BASE_DEC, NULL, 0x0,
            "Number of messages that there are", HFILL } },
        { &hf_iggy_poll_count,
          { "Messages wanted", "iggy.poll.count", FT_UINT32, BASE_DEC, NULL, 0x0,
            "Most messages that the poll asks for", HFILL } },
        { &hf_iggy_partitions_count,
          { "Partitions", "iggy.partitions_count", FT_UINT32, BASE_DEC, NULL, 0x0, "Number of partitions", HFILL } },
        { &hf_iggy_topics_count,
          { "Topics", "iggy.topics_count", FT_UINT32, BASE_DEC, NULL, 0x0, "Number of topics", HFILL } },
        { &hf_iggy_members_count,
          { "Members", "iggy.members_count", FT_UINT32, BASE_DEC, NULL, 0x0,
            "Number of members of a consumer group", HFILL } },
        { &hf_iggy_consumer_groups_count,
          { "Consumer groups", "iggy.consumer_groups_count", FT_UINT32, BASE_DEC, NULL, 0x0,
            "Number of consumer groups", HFILL } },
        { &hf_iggy_segments_count,
          { "Segments", "iggy.segments_count", FT_UINT32, BASE_DEC, NULL, 0x0,
            "Number of segments of a partition", HFILL } },
        { &hf_iggy_size_bytes,
          { "Size", "iggy.size_bytes", FT_UINT64, BASE_DEC | BASE_UNIT_STRING, &units_byte_bytes, 0x0,
            "Bytes that the messages take on the server", HFILL } },
        { &hf_iggy_created_at,
          { "Created at", "iggy.created_at", FT_ABSOLUTE_TIME, ABSOLUTE_TIME_UTC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_current_offset,
          { "Current offset", "iggy.current_offset", FT_UINT64, BASE_DEC, NULL, 0x0,
            "Last offset of the partition", HFILL } },
        { &hf_iggy_stored_offset,
          { "Stored offset", "iggy.stored_offset", FT_UINT64, BASE_DEC, NULL, 0x0,
            "Offset that the server keeps for the consumer or group", HFILL } },
        { &hf_iggy_offset,
          { "Offset", "iggy.offset", FT_UINT64, BASE_DEC, NULL, 0x0, "Offset of a message in its partition", HFILL } },
        { &hf_iggy_ack,
          { "Acknowledgement", "iggy.ack", FT_UINT8, BASE_DEC, VALS(ack_vals), 0x0,
            "What the server waits for before it answers", HFILL } },
        { &hf_iggy_partitioning_kind,
          { "Partitioning", "iggy.partitioning.kind", FT_UINT8, BASE_DEC, VALS(partitioning_kind_vals), 0x0,
            "How the partition of messages is chosen", HFILL } },
        { &hf_iggy_partitioning_length,
          { "Length of the partitioning value", "iggy.partitioning.length", FT_UINT8, BASE_DEC, NULL, 0x0,
            NULL, HFILL } },
        { &hf_iggy_partitioning_key,
          { "Messages key", "iggy.partitioning.key", FT_BYTES, BASE_NONE, NULL, 0x0,
            "Messages of one key go to one partition", HFILL } },
        { &hf_iggy_poll_strategy,
          { "Polling strategy", "iggy.poll.strategy", FT_UINT8, BASE_DEC, VALS(iggy_poll_strategy_vals), 0x0,
            "Where the poll starts", HFILL } },
        { &hf_iggy_poll_offset,
          { "Poll from offset", "iggy.poll.offset", FT_UINT64, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_poll_timestamp,
          { "Poll from time", "iggy.poll.timestamp", FT_ABSOLUTE_TIME, ABSOLUTE_TIME_UTC, NULL, 0x0, NULL, HFILL } },
    };
    proto_register_field_array(proto, hf, array_length(hf));
}

static void register_log(int proto)
{
    static hf_register_info hf[] = {
        { &hf_iggy_commit,
          { "Commit", "iggy.commit", FT_UINT64, BASE_DEC, NULL, 0x0,
            "Highest position of the log that is committed", HFILL } },
        { &hf_iggy_consensus_group,
          { "Consensus group", "iggy.consensus_group", FT_UINT64, BASE_HEX, NULL, 0x0,
            "The metadata group (bit 63), or stream, topic and partition of a partition's group", HFILL } },
        { &hf_iggy_context_partition_incarnation,
          { "Partition incarnation", "iggy.context.partition_incarnation", FT_UINT64, BASE_DEC, NULL, 0x0,
            "Which life of the partition; 0: not known", HFILL } },
        { &hf_iggy_context_owner_generation,
          { "Owner generation", "iggy.context.owner_generation", FT_UINT64, BASE_DEC, NULL, 0x0,
            "Generation of the ownership by a member of a consumer group; 0: no group owner", HFILL } },
        { &hf_iggy_context_minimum_metadata_op,
          { "Metadata op", "iggy.context.minimum_metadata_op", FT_UINT64, BASE_DEC, NULL, 0x0,
            "Position of the metadata log that this was read at or that it needs", HFILL } },
        { &hf_iggy_metadata_watermark,
          { "Metadata watermark", "iggy.metadata_watermark", FT_UINT64, BASE_DEC, NULL, 0x0,
            "Position of the metadata log that the session has seen", HFILL } },
        { &hf_iggy_namespace_revision,
          { "Namespace revision", "iggy.namespace_revision", FT_UINT64, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_partition_view,
          { "Partition view", "iggy.partition_view", FT_UINT32, BASE_DEC, NULL, 0x0,
            "View of a partition's consensus group", HFILL } },
        { &hf_iggy_up_to_offset,
          { "Up to offset", "iggy.up_to_offset", FT_UINT64, BASE_DEC, NULL, 0x0,
            "Offset up to which the segments hold messages", HFILL } },
        { &hf_iggy_created_revision,
          { "Created revision", "iggy.created_revision", FT_UINT64, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_error,
          { "Error", "iggy.error", FT_UINT32, BASE_DEC | BASE_EXT_STRING, &iggy_error_vals_ext, 0x0,
            "An error code, wherever it stands; absent where there is no error", HFILL } },
        { &hf_iggy_extra,
          { "Extra data", "iggy.extra", FT_BYTES, BASE_NONE, NULL, 0x0, "Bytes after the last field", HFILL } },
        { &hf_iggy_undecoded,
          { "Undecoded", "iggy.undecoded", FT_BYTES, BASE_NONE, NULL, 0x0,
            "Bytes that do not fit the layout or are not walked", HFILL } },
        { &hf_iggy_reserved,
          { "Reserved", "iggy.reserved", FT_BYTES, BASE_NONE, NULL, 0x0, "Reserved bytes that are not zero", HFILL } },
        { &hf_iggy_unused,
          { "Unused", "iggy.unused", FT_BYTES, BASE_NONE, NULL, 0x0,
            "Bytes that mean nothing here: the place of a value that is absent", HFILL } },
    };
    proto_register_field_array(proto, hf, array_length(hf));
}

static void register_login(int proto)
{
    static hf_register_info hf[] = {
        { &hf_iggy_login_version,
          { "Protocol version of the client", "iggy.login.version", FT_UINT32, BASE_HEX, VALS(iggy_version_vals), 0x0,
            NULL, HFILL } },
        { &hf_iggy_sdk_name,
          { "SDK", "iggy.sdk.name", FT_STRING, BASE_NONE, NULL, 0x0, "Name of the client library", HFILL } },
        { &hf_iggy_sdk_name_length,
          { "Length of the SDK name", "iggy.sdk.name.length", FT_UINT8, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_sdk_version,
          { "SDK version", "iggy.sdk.version", FT_STRING, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_sdk_version_length,
          { "Length of the SDK version", "iggy.sdk.version.length", FT_UINT8, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_server_version,
          { "Protocol version of the server", "iggy.server.version", FT_UINT32, BASE_HEX, VALS(iggy_version_vals), 0x0,
            NULL, HFILL } },
        { &hf_iggy_server_build,
          { "Server build", "iggy.server.build", FT_STRING, BASE_NONE, NULL, 0x0,
            "Version of the server as text", HFILL } },
        { &hf_iggy_server_build_length,
          { "Length of the server build", "iggy.server.build.length", FT_UINT32, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_password,
          { "Password", "iggy.password", FT_STRING, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_password_length,
          { "Length of the password", "iggy.password.length", FT_UINT8, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_new_password,
          { "New password", "iggy.new_password", FT_STRING, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_new_password_length,
          { "Length of the new password", "iggy.new_password.length", FT_UINT8, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_token,
          { "Access token", "iggy.token", FT_STRING, BASE_NONE, NULL, 0x0, "The personal access token itself", HFILL } },
        { &hf_iggy_token_length,
          { "Length of the access token", "iggy.token.length", FT_UINT8, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_bind_secret,
          { "Bind secret", "iggy.bind_secret", FT_BYTES, BASE_NONE, NULL, 0x0,
            "Attaches further connections to the session", HFILL } },
        { &hf_iggy_bind_verifier,
          { "Bind verifier", "iggy.bind_verifier", FT_BYTES, BASE_NONE, NULL, 0x0,
            "What servers keep of the bind secret", HFILL } },
    };
    proto_register_field_array(proto, hf, array_length(hf));
}

static void register_expert(int proto)
{
    static ei_register_info ei[] = {
        { &ei_iggy_reserved,
          { "iggy.expert.reserved", PI_PROTOCOL, PI_NOTE, "Reserved bytes are not zero", EXPFILL } },
        { &ei_iggy_reserved_enforced,
          { "iggy.expert.reserved_enforced", PI_PROTOCOL, PI_WARN,
            "Reserved bytes are not zero: the receiver rejects the frame", EXPFILL } },
        { &ei_iggy_layout,
          { "iggy.expert.layout", PI_UNDECODED, PI_WARN, "The bytes do not fit the layout", EXPFILL } },
        { &ei_iggy_cut,
          { "iggy.expert.cut", PI_UNDECODED, PI_NOTE, "The capture has only the beginning of this frame", EXPFILL } },
        { &ei_iggy_extra,
          { "iggy.expert.extra", PI_UNDECODED, PI_NOTE, "Bytes are left after the last field", EXPFILL } },
        { &ei_iggy_empty_name,
          { "iggy.expert.empty_name", PI_PROTOCOL, PI_WARN, "A name must not be empty", EXPFILL } },
        { &ei_iggy_bad_kind,
          { "iggy.expert.bad_kind", PI_PROTOCOL, PI_WARN, "A value that the protocol does not define", EXPFILL } },
        { &ei_iggy_count,
          { "iggy.expert.count", PI_PROTOCOL, PI_WARN, "A count or length that the protocol does not allow", EXPFILL } },
        { &ei_iggy_secret,
          { "iggy.expert.secret", PI_SECURITY, PI_NOTE, "A secret in the clear", EXPFILL } },
        { &ei_iggy_items_limit,
          { "iggy.expert.items_limit", PI_UNDECODED, PI_NOTE,
            "More elements than are shown: a preference sets how many", EXPFILL } },
    };
    expert_register_field_array(expert_register_protocol(proto), ei, array_length(ei));
}

void iggy_register_fields(int proto)
{
    register_names(proto);
    register_counts(proto);
    register_log(proto);
    register_login(proto);
    register_expert(proto);
    iggy_register_permissions(proto);
}
