/* packet-iggy-commands-system.c
 * Layouts of the system, login and session commands: codes 1, 10..16, 20..22, 38..40, 44, 45 (commands.md 4).
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include <stdio.h>

#include "packet-iggy-commands.h"
#include "packet-iggy-fields.h"
#include "packet-iggy-headers.h"
#include "packet-iggy-names.h"
#include "packet-iggy-options.h"
#include "packet-iggy-values.h"

/* statistics */
static int hf_iggy_stats_process_id = IGGY_UNREGISTERED;
static int hf_iggy_stats_cpu_usage = IGGY_UNREGISTERED;
static int hf_iggy_stats_total_cpu_usage = IGGY_UNREGISTERED;
static int hf_iggy_stats_memory_usage = IGGY_UNREGISTERED;
static int hf_iggy_stats_total_memory = IGGY_UNREGISTERED;
static int hf_iggy_stats_available_memory = IGGY_UNREGISTERED;
static int hf_iggy_stats_run_time = IGGY_UNREGISTERED;
static int hf_iggy_stats_start_time = IGGY_UNREGISTERED;
static int hf_iggy_stats_read_bytes = IGGY_UNREGISTERED;
static int hf_iggy_stats_written_bytes = IGGY_UNREGISTERED;
static int hf_iggy_stats_messages_size_bytes = IGGY_UNREGISTERED;
static int hf_iggy_stats_streams_count = IGGY_UNREGISTERED;
static int hf_iggy_stats_clients_count = IGGY_UNREGISTERED;
static int hf_iggy_stats_hostname = IGGY_UNREGISTERED;
static int hf_iggy_stats_hostname_length = IGGY_UNREGISTERED;
static int hf_iggy_stats_os_name = IGGY_UNREGISTERED;
static int hf_iggy_stats_os_name_length = IGGY_UNREGISTERED;
static int hf_iggy_stats_os_version = IGGY_UNREGISTERED;
static int hf_iggy_stats_os_version_length = IGGY_UNREGISTERED;
static int hf_iggy_stats_kernel_version = IGGY_UNREGISTERED;
static int hf_iggy_stats_kernel_version_length = IGGY_UNREGISTERED;
static int hf_iggy_stats_server_semver = IGGY_UNREGISTERED;
static int hf_iggy_stats_cache_metrics_count = IGGY_UNREGISTERED;
static int hf_iggy_stats_cache_metric = IGGY_UNREGISTERED;
static int hf_iggy_stats_cache_metric_hits = IGGY_UNREGISTERED;
static int hf_iggy_stats_cache_metric_misses = IGGY_UNREGISTERED;
static int hf_iggy_stats_cache_metric_hit_ratio = IGGY_UNREGISTERED;
static int hf_iggy_stats_threads_count = IGGY_UNREGISTERED;
static int hf_iggy_stats_free_disk_space = IGGY_UNREGISTERED;
static int hf_iggy_stats_total_disk_space = IGGY_UNREGISTERED;
static int hf_iggy_stats_open_files_count = IGGY_UNREGISTERED;
static int hf_iggy_stats_open_files_limit = IGGY_UNREGISTERED;

/* snapshot */
static int hf_iggy_snapshot_compression = IGGY_UNREGISTERED;
static int hf_iggy_snapshot_types_count = IGGY_UNREGISTERED;
static int hf_iggy_snapshot_type = IGGY_UNREGISTERED;
static int hf_iggy_snapshot_data = IGGY_UNREGISTERED;

/* cluster */
static int hf_iggy_cluster_name = IGGY_UNREGISTERED;
static int hf_iggy_cluster_name_length = IGGY_UNREGISTERED;
static int hf_iggy_nodes_count = IGGY_UNREGISTERED;
static int hf_iggy_node = IGGY_UNREGISTERED;
static int hf_iggy_node_replica = IGGY_UNREGISTERED;
static int hf_iggy_node_name = IGGY_UNREGISTERED;
static int hf_iggy_node_name_length = IGGY_UNREGISTERED;
static int hf_iggy_node_ip = IGGY_UNREGISTERED;
static int hf_iggy_node_ip_length = IGGY_UNREGISTERED;
static int hf_iggy_node_tcp_port = IGGY_UNREGISTERED;
static int hf_iggy_node_quic_port = IGGY_UNREGISTERED;
static int hf_iggy_node_http_port = IGGY_UNREGISTERED;
static int hf_iggy_node_websocket_port = IGGY_UNREGISTERED;
static int hf_iggy_node_role = IGGY_UNREGISTERED;
static int hf_iggy_node_status = IGGY_UNREGISTERED;

/* options of the server, resources */
static int hf_iggy_option_scope = IGGY_UNREGISTERED;
static int hf_iggy_option_descriptors_count = IGGY_UNREGISTERED;
static int hf_iggy_option_descriptor = IGGY_UNREGISTERED;
static int hf_iggy_option_flags = IGGY_UNREGISTERED;
static int hf_iggy_option_flags_updatable = IGGY_UNREGISTERED;
static int hf_iggy_option_flags_resettable = IGGY_UNREGISTERED;
static int hf_iggy_option_flags_secret = IGGY_UNREGISTERED;
static int hf_iggy_option_flags_read_only = IGGY_UNREGISTERED;
static int hf_iggy_option_flags_critical = IGGY_UNREGISTERED;
static int hf_iggy_option_description = IGGY_UNREGISTERED;
static int hf_iggy_option_description_length = IGGY_UNREGISTERED;
static int hf_iggy_option_reset_count = IGGY_UNREGISTERED;
static int hf_iggy_option_reset_key = IGGY_UNREGISTERED;
static int hf_iggy_option_reset_key_length = IGGY_UNREGISTERED;

/* clients, login */
static int hf_iggy_connection = IGGY_UNREGISTERED;
static int hf_iggy_connection_transport = IGGY_UNREGISTERED;
static int hf_iggy_connection_address = IGGY_UNREGISTERED;
static int hf_iggy_connection_address_length = IGGY_UNREGISTERED;
static int hf_iggy_connection_consumer_group = IGGY_UNREGISTERED;
static int hf_iggy_login_context = IGGY_UNREGISTERED;
static int hf_iggy_login_context_length = IGGY_UNREGISTERED;
static int hf_iggy_login_client_version = IGGY_UNREGISTERED;
static int hf_iggy_login_client_version_length = IGGY_UNREGISTERED;

static int ett_iggy_cache_metric = IGGY_UNREGISTERED;
static int ett_iggy_node = IGGY_UNREGISTERED;
static int ett_iggy_option_descriptor = IGGY_UNREGISTERED;
static int ett_iggy_option_flags = IGGY_UNREGISTERED;
static int ett_iggy_connection = IGGY_UNREGISTERED;
static int ett_iggy_connection_consumer_group = IGGY_UNREGISTERED;

static expert_field ei_iggy_nothing_to_update = EI_INIT;

static const value_string snapshot_compression_vals[] = {
    { 1, "stored" }, { 2, "deflated" }, { 3, "bzip2" }, { 4, "zstd" }, { 5, "lzma" }, { 6, "xz" }, { 0, NULL }
};

static const value_string snapshot_type_vals[] = {
    { 1, "filesystem_overview" },
    { 2, "process_list" },
    { 3, "resource_usage" },
    { 4, "test" },
    { 5, "server_logs" },
    { 6, "server_config" },
    { 100, "all" },
    { 0, NULL }
};

static const value_string node_role_vals[] = { { 0, "leader" }, { 1, "follower" }, { 0, NULL } };

static const value_string node_status_vals[] = {
    { 0, "healthy" },     { 1, "starting" }, { 2, "stopping" }, { 3, "unreachable" },
    { 4, "maintenance" }, { 5, "unknown" },  { 0, NULL }
};

static const value_string transport_vals[] = {
    { 1, "tcp" }, { 2, "quic" }, { 3, "http" }, { 4, "websocket" }, { 0, NULL }
};

static const iggy_sentinel_t not_logged_in[] = { { 0xffffffffu, "not logged in" }, { 0, NULL } };
static const iggy_sentinel_t not_offered[] = { { 0, "not offered" }, { 0, NULL } };
static const iggy_sentinel_t not_reported[] = { { 0, "not reported" }, { 0, NULL } };

/* get_stats (10) */

static const iggy_row_t cache_metric_rows[] = {
    IGGY_U32(hf_iggy_stream_id, .fact = IGGY_FACT_STREAM_ID, .flags = IGGY_NAMED, .label = " stream |"),
    IGGY_U32(hf_iggy_topic_id, .fact = IGGY_FACT_TOPIC_ID, .flags = IGGY_NAMED, .label = ", topic |"),
    IGGY_U32(hf_iggy_partition_id, .fact = IGGY_FACT_PARTITION, .label = ", partition |"),
    IGGY_U64(hf_iggy_stats_cache_metric_hits, .label = ", hits |"),
    IGGY_U64(hf_iggy_stats_cache_metric_misses, .label = ", misses |"),
    IGGY_FIXED(hf_iggy_stats_cache_metric_hit_ratio, 4),
    IGGY_ROWS_END
};

static const iggy_row_t stats_rows[] = {
    IGGY_U32(hf_iggy_stats_process_id),
    IGGY_FIXED(hf_iggy_stats_cpu_usage, 4),
    IGGY_FIXED(hf_iggy_stats_total_cpu_usage, 4),
    IGGY_U64(hf_iggy_stats_memory_usage),
    IGGY_U64(hf_iggy_stats_total_memory),
    IGGY_U64(hf_iggy_stats_available_memory),
    IGGY_U64(hf_iggy_stats_run_time),
    IGGY_TIME(hf_iggy_stats_start_time),
    IGGY_U64(hf_iggy_stats_read_bytes),
    IGGY_U64(hf_iggy_stats_written_bytes),
    IGGY_U64(hf_iggy_stats_messages_size_bytes),
    IGGY_U32(hf_iggy_stats_streams_count),
    IGGY_U32(hf_iggy_topics_count),
    IGGY_U32(hf_iggy_partitions_count),
    IGGY_U32(hf_iggy_segments_count),
    IGGY_U64(hf_iggy_messages_count),
    IGGY_U32(hf_iggy_stats_clients_count),
    IGGY_U32(hf_iggy_consumer_groups_count),
    IGGY_STR32(hf_iggy_stats_hostname, hf_iggy_stats_hostname_length),
    IGGY_STR32(hf_iggy_stats_os_name, hf_iggy_stats_os_name_length),
    IGGY_STR32(hf_iggy_stats_os_version, hf_iggy_stats_os_version_length),
    IGGY_STR32(hf_iggy_stats_kernel_version, hf_iggy_stats_kernel_version_length),
    IGGY_STR32(hf_iggy_server_build, hf_iggy_server_build_length, .fact = IGGY_FACT_SERVER_VERSION_TEXT),
    IGGY_U32(hf_iggy_stats_server_semver, .sentinels = not_reported),
    IGGY_U32(hf_iggy_stats_cache_metrics_count, .put = IGGY_REG_COUNT),
    IGGY_LIST(IGGY_REG_COUNT, cache_metric_rows, hf_iggy_stats_cache_metric, ett_iggy_cache_metric, 32,
              .flags = IGGY_SCOPED),
    IGGY_U32(hf_iggy_stats_threads_count),
    IGGY_U64(hf_iggy_stats_free_disk_space),
    IGGY_U64(hf_iggy_stats_total_disk_space),
    IGGY_U64(hf_iggy_stats_open_files_count, .since = IGGY_0_12_0, .flags = IGGY_IF_LEFT),
    IGGY_U64(hf_iggy_stats_open_files_limit, .since = IGGY_0_12_0, .flags = IGGY_IF_LEFT),
    IGGY_ROWS_END
};

/* get_snapshot_file (11) */

static const iggy_row_t snapshot_type_rows[] = {
    IGGY_U8(hf_iggy_snapshot_type, .flags = IGGY_KNOWN),
    IGGY_ROWS_END
};

static const iggy_row_t snapshot_request_rows[] = {
    IGGY_U8(hf_iggy_snapshot_compression, .flags = IGGY_KNOWN),
    IGGY_U8(hf_iggy_snapshot_types_count, .put = IGGY_REG_COUNT),
    IGGY_LIST_BARE(IGGY_REG_COUNT, snapshot_type_rows, 1),
    IGGY_ROWS_END
};

static const iggy_row_t snapshot_reply_rows[] = {
    IGGY_REST(hf_iggy_snapshot_data, .fact = IGGY_FACT_LEN, .flags = IGGY_OPAQUE), /* a ZIP archive */
    IGGY_ROWS_END
};

/* get_cluster_metadata (12); the node alone also in replies to 103 and 123 */

const iggy_row_t iggy_rows_node[] = {
    IGGY_U8(hf_iggy_node_replica, .since = IGGY_0_12_0, .label = " |"),
    IGGY_STR32(hf_iggy_node_name, hf_iggy_node_name_length, .label = ": |"),
    IGGY_STR32(hf_iggy_node_ip, hf_iggy_node_ip_length, .label = ", |"),
    IGGY_U16(hf_iggy_node_tcp_port, .sentinels = not_offered),
    IGGY_U16(hf_iggy_node_quic_port, .sentinels = not_offered),
    IGGY_U16(hf_iggy_node_http_port, .sentinels = not_offered),
    IGGY_U16(hf_iggy_node_websocket_port, .sentinels = not_offered),
    IGGY_U8(hf_iggy_node_role, .label = ", |"),
    IGGY_U8(hf_iggy_node_status, .label = ", |"),
    IGGY_ROWS_END
};

static const iggy_row_t cluster_rows[] = {
    IGGY_STR32(hf_iggy_cluster_name, hf_iggy_cluster_name_length),
    IGGY_U32(hf_iggy_nodes_count, .put = IGGY_REG_COUNT, .fact = IGGY_FACT_COUNT),
    IGGY_LIST(IGGY_REG_COUNT, iggy_rows_node, hf_iggy_node, ett_iggy_node, 18),
    IGGY_ROWS_END
};

const iggy_row_t iggy_rows_one_node[] = {
    IGGY_ROWS(iggy_rows_node, .hf = &hf_iggy_node, .ett = &ett_iggy_node),
    IGGY_ROWS_END
};

/* describe_options (13) */

/* The flags byte with its bits (encodings.md 10.3). */
static int show_option_flags(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    static int *const bits[] = {
        &hf_iggy_option_flags_updatable, &hf_iggy_option_flags_resettable, &hf_iggy_option_flags_secret,
        &hf_iggy_option_flags_read_only, &hf_iggy_option_flags_critical,   NULL
    };

    if (!iggy_walk_there(walk, row, offset, 1))
        return offset;
    if (iggy_walk_shows(walk))
        proto_tree_add_bitmask(tree, walk->tvb, offset, hf_iggy_option_flags, ett_iggy_option_flags, bits,
                               ENC_LITTLE_ENDIAN);
    return offset + 1;
}

static const iggy_row_t option_descriptor_rows[] = {
    IGGY_NAME(hf_iggy_option_key, hf_iggy_option_key_length, .flags = IGGY_NOT_EMPTY, .label = ": |"),
    IGGY_U8(hf_iggy_option_value_kind, .put = IGGY_REG_VALUE_KIND, .label = ", |"),
    IGGY_CALL(show_option_flags, .size = 1, .since = IGGY_0_12_0),
    IGGY_U32(hf_iggy_option_value_length, .put = IGGY_REG_VALUE_LENGTH),
    /* length 0: no default */
    IGGY_CALL(iggy_option_default, .hf = &hf_iggy_option_value_kind, .when = IGGY_REG_VALUE_LENGTH, .flags = IGGY_NOT),
    IGGY_STR32(hf_iggy_option_description, hf_iggy_option_description_length),
    IGGY_ROWS_END
};

static const iggy_row_t describe_request_rows[] = {
    IGGY_U8(hf_iggy_option_scope, .fact = IGGY_FACT_SCOPE, .flags = IGGY_KNOWN),
    IGGY_ROWS_END
};

static const iggy_row_t describe_reply_rows[] = {
    IGGY_U32(hf_iggy_option_descriptors_count, .put = IGGY_REG_COUNT, .fact = IGGY_FACT_COUNT),
    IGGY_LIST(IGGY_REG_COUNT, option_descriptor_rows, hf_iggy_option_descriptor, ett_iggy_option_descriptor, 10,
              .flags = IGGY_SCOPED),
    IGGY_ROWS_END
};

/* login result (commands.md 3.12) */

static const iggy_row_t login_result_rows[] = {
    IGGY_U32(hf_iggy_user_id, .fact = IGGY_FACT_USER_ID, .flags = IGGY_NAMED),
    IGGY_U64(hf_iggy_session, .fact = IGGY_FACT_SESSION),
    IGGY_CALL(iggy_call_version, .size = 4, .hf = &hf_iggy_server_version, .fact = IGGY_FACT_SERVER_VERSION),
    IGGY_NAME(hf_iggy_server_build, hf_iggy_server_build_length, .fact = IGGY_FACT_SERVER_VERSION_TEXT,
              .flags = IGGY_NOT_EMPTY),
    IGGY_ROWS_END
};

/* bind_session (15) */

static const iggy_row_t bind_request_rows[] = {
    IGGY_ROWS(iggy_rows_version_info),
    IGGY_ROWS(iggy_rows_session_identity),
    IGGY_FIXED(hf_iggy_bind_secret, 32, .flags = IGGY_SECRET),
    IGGY_ROWS_END
};

/* update_resource (16) */

#define SCOPE_TOPIC  1
#define SCOPE_STREAM 2
#define SCOPE_USER   3

static const iggy_row_t reset_key_rows[] = {
    IGGY_NAME(hf_iggy_option_reset_key, hf_iggy_option_reset_key_length, .flags = IGGY_NOT_EMPTY),
    IGGY_ROWS_END
};

/* Both lists empty: the server refuses it. */
static int check_something_to_update(iggy_walk_t *walk, const iggy_row_t *row _U_, proto_tree *tree, int offset)
{
    if (iggy_walk_shows(walk) && walk->reg[IGGY_REG_COUNT] == 0 && offset >= walk->end)
        proto_tree_add_expert(tree, walk->pdu->pinfo, &ei_iggy_nothing_to_update, walk->tvb, offset - 1, 1);
    return offset;
}

static int check_scope(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree _U_, int offset)
{
    uint64_t scope = walk->reg[IGGY_REG_SCOPE];

    if (scope < SCOPE_TOPIC || scope > SCOPE_USER)
        return iggy_walk_fail(walk, row, offset, "invalid scope");
    return offset;
}

static const iggy_row_t update_resource_rows[] = {
    IGGY_U8(hf_iggy_option_scope, .put = IGGY_REG_SCOPE, .fact = IGGY_FACT_SCOPE, .flags = IGGY_KNOWN),
    IGGY_CALL(check_scope, .hf = &hf_iggy_option_scope),
    IGGY_ROWS(iggy_rows_stream_topic, .when = IGGY_REG_SCOPE, .is = SCOPE_TOPIC),
    IGGY_IDENT(hf_iggy_stream_id, hf_iggy_stream_name, IGGY_FACT_STREAM_ID, .when = IGGY_REG_SCOPE,
               .is = SCOPE_STREAM),
    IGGY_IDENT(hf_iggy_user_id, hf_iggy_user_name, IGGY_FACT_USER_ID, .when = IGGY_REG_SCOPE, .is = SCOPE_USER),
    IGGY_U8(hf_iggy_option_reset_count, .put = IGGY_REG_COUNT),
    IGGY_CALL(iggy_check_reset_keys),
    IGGY_LIST_BARE(IGGY_REG_COUNT, reset_key_rows, 2),
    IGGY_CALL(check_something_to_update),
    IGGY_ROWS(iggy_rows_options),
    IGGY_ROWS_END
};

/* get_me (20), get_client (21), get_clients (22) */

static const iggy_row_t client_header_rows[] = {
    IGGY_U32(hf_iggy_connection_id, .fact = IGGY_FACT_CONNECTION_ID, .label = " |"),
    IGGY_U32(hf_iggy_user_id, .fact = IGGY_FACT_USER_ID, .flags = IGGY_NAMED, .sentinels = not_logged_in, .label = ": user |"),
    IGGY_U8(hf_iggy_connection_transport, .label = ", |", .flags = IGGY_KNOWN),
    IGGY_STR32(hf_iggy_connection_address, hf_iggy_connection_address_length, .label = ", |"),
    IGGY_U32(hf_iggy_consumer_groups_count, .put = IGGY_REG_COUNT, .label = ", | consumer groups"),
    IGGY_ROWS_END
};

static const iggy_row_t client_group_rows[] = {
    IGGY_U32(hf_iggy_stream_id, .fact = IGGY_FACT_STREAM_ID, .flags = IGGY_NAMED, .label = " of stream |"),
    IGGY_U32(hf_iggy_topic_id, .fact = IGGY_FACT_TOPIC_ID, .flags = IGGY_NAMED, .label = ", topic |"),
    IGGY_U32(hf_iggy_consumer_group_id, .fact = IGGY_FACT_CONSUMER_GROUP_ID, .flags = IGGY_NAMED, .label = ": |"),
    IGGY_ROWS_END
};

static const iggy_row_t client_details_rows[] = {
    IGGY_ROWS(client_header_rows),
    IGGY_LIST(IGGY_REG_COUNT, client_group_rows, hf_iggy_connection_consumer_group,
              ett_iggy_connection_consumer_group, 12, .flags = IGGY_SCOPED),
    IGGY_ROWS_END
};

/* An empty reply of 21 means "not found". */
static const iggy_row_t client_reply_rows[] = {
    IGGY_ROWS(client_details_rows, .flags = IGGY_IF_LEFT),
    IGGY_ROWS_END
};

static const iggy_row_t client_request_rows[] = {
    IGGY_U32(hf_iggy_connection_id, .fact = IGGY_FACT_CONNECTION_ID),
    IGGY_ROWS_END
};

static const iggy_row_t clients_rows[] = {
    IGGY_REPEAT(client_header_rows, hf_iggy_connection, ett_iggy_connection, .fact = IGGY_FACT_COUNT,
                .flags = IGGY_SCOPED),
    IGGY_ROWS_END
};

/* login_user (38), login_with_personal_access_token (44): declared, refused by every server seen */

static const iggy_row_t login_user_rows[] = {
    IGGY_NAME(hf_iggy_user_name, hf_iggy_user_name_length, .fact = IGGY_FACT_USER_NAME, .flags = IGGY_NOT_EMPTY),
    IGGY_NAME(hf_iggy_password, hf_iggy_password_length, .flags = IGGY_SECRET),
    IGGY_STR32(hf_iggy_login_client_version, hf_iggy_login_client_version_length),
    IGGY_STR32(hf_iggy_login_context, hf_iggy_login_context_length),
    IGGY_ROWS_END
};

static const iggy_row_t login_token_rows[] = {
    IGGY_NAME(hf_iggy_token, hf_iggy_token_length, .flags = IGGY_SECRET | IGGY_NOT_EMPTY),
    IGGY_ROWS_END
};

static const iggy_row_t login_user_reply_rows[] = {
    IGGY_U32(hf_iggy_user_id, .fact = IGGY_FACT_USER_ID),
    IGGY_ROWS_END
};

/* login_register (40), login_register_with_pat (45) */

static const iggy_row_t login_register_rows[] = {
    IGGY_ROWS(iggy_rows_version_info),
    IGGY_FIXED(hf_iggy_bind_secret, 32, .since = IGGY_0_12_0, .flags = IGGY_SECRET),
    IGGY_NAME(hf_iggy_user_name, hf_iggy_user_name_length, .fact = IGGY_FACT_USER_NAME, .flags = IGGY_NOT_EMPTY),
    IGGY_NAME(hf_iggy_password, hf_iggy_password_length, .flags = IGGY_SECRET),
    IGGY_STR32(hf_iggy_login_context, hf_iggy_login_context_length),
    IGGY_ROWS_END
};

static const iggy_row_t login_register_pat_rows[] = {
    IGGY_ROWS(iggy_rows_version_info),
    IGGY_FIXED(hf_iggy_bind_secret, 32, .since = IGGY_0_12_0, .flags = IGGY_SECRET),
    IGGY_NAME(hf_iggy_token, hf_iggy_token_length, .flags = IGGY_SECRET),
    IGGY_STR32(hf_iggy_login_context, hf_iggy_login_context_length),
    IGGY_ROWS_END
};

/* An empty reply is a failed login (framing.md 3): it has no result section either. */
static const iggy_row_t login_reply_rows[] = {
    IGGY_ROWS(login_result_rows, .flags = IGGY_IF_LEFT, .done = iggy_learn_user),
    IGGY_ROWS_END
};

const iggy_command_t iggy_commands_system[] = {
    { .code = 1, .operation = 2, .name = "ping",
      .request = iggy_rows_none, .reply = iggy_rows_none },
    { .code = 10, .operation = 2, .name = "get_stats", .flags = IGGY_TELLS,
      .request = iggy_rows_none, .reply = stats_rows },
    { .code = 11, .operation = 2, .name = "get_snapshot_file",
      .request = snapshot_request_rows, .reply = snapshot_reply_rows },
    { .code = 12, .operation = 2, .name = "get_cluster_metadata", .flags = IGGY_TELLS,
      .request = iggy_rows_none, .reply = cluster_rows },
    { .code = 13, .operation = 2, .name = "describe_options", .flags = IGGY_TELLS,
      .request = describe_request_rows, .reply = describe_reply_rows },
    { .code = 14, .operation = 2, .since = IGGY_0_11_0, .until = IGGY_0_11_0, .name = "attach_consumer_session",
      .request = iggy_rows_session_identity, .reply = iggy_rows_none },
    { .code = 15, .operation = 2, .since = IGGY_0_12_0, .name = "bind_session", .flags = IGGY_LEARN | IGGY_ENTERS,
      .request = bind_request_rows, .reply = login_result_rows },
    { .code = 16, .operation = 150, .since = IGGY_0_12_0, .name = "update_resource",
      .request = update_resource_rows, .reply = iggy_rows_none },
    { .code = 20, .operation = 2, .name = "get_me",
      .request = iggy_rows_none, .reply = client_details_rows },
    { .code = 21, .operation = 2, .name = "get_client",
      .request = client_request_rows, .reply = client_reply_rows, .empty = "not found" },
    { .code = 22, .operation = 2, .name = "get_clients",
      .request = iggy_rows_none, .reply = clients_rows, .empty = "none" },
    { .code = 38, .operation = 2, .name = "login_user", .flags = IGGY_ENTERS,
      .request = login_user_rows, .reply = login_user_reply_rows },
    { .code = 39, .operation = 3, .name = "logout_user",
      .request = iggy_rows_none, .reply = iggy_rows_none },
    { .code = 40, .operation = IGGY_OP_REGISTER, .name = "login_register", .flags = IGGY_LEARN | IGGY_ENTERS,
      .request = login_register_rows, .reply = login_reply_rows },
    { .code = 44, .operation = 2, .name = "login_with_personal_access_token", .flags = IGGY_ENTERS,
      .request = login_token_rows, .reply = login_user_reply_rows },
    { .code = 45, .operation = IGGY_OP_REGISTER, .name = "login_register_with_pat", .flags = IGGY_LEARN | IGGY_ENTERS,
      .request = login_register_pat_rows, .reply = login_reply_rows },
    { .name = NULL }
};

/* A packed version of the login: major << 20 | minor << 10 | patch. Only 0.12.0 and later have a bind secret. */
static uint8_t login_layout_version(uint32_t packed)
{
    return packed >= (12u << 10) ? IGGY_0_12_0 : IGGY_0_11_0;
}

uint32_t iggy_login_code(iggy_pdu_t *pdu)
{
    int start = (int)IGGY_HEADER_SIZE, end = (int)tvb_reported_length(pdu->tvb);

    if ((int)tvb_captured_length(pdu->tvb) < start + 4)
        return 40;
    uint8_t version = login_layout_version(tvb_get_letohl(pdu->tvb, start));
    /* The server tries 40 first; where neither fits the login is malformed and shown in that layout as far as it goes. */
    if (iggy_layout_fits(pdu, login_register_rows, version, start, end))
        return 40;
    return iggy_layout_fits(pdu, login_register_pat_rows, version, start, end) ? 45 : 40;
}

static void format_semver(char *text, uint32_t packed)
{
    snprintf(text, ITEM_LABEL_LENGTH, "%u.%u.%u", packed / 1000000, packed / 1000 % 1000, packed % 1000);
}

void iggy_register_commands_system(int proto)
{
    static hf_register_info hf[] = {
        { &hf_iggy_stats_process_id,
          { "Process ID", "iggy.stats.process_id", FT_UINT32, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_stats_cpu_usage,
          { "CPU usage", "iggy.stats.cpu_usage", FT_FLOAT, BASE_NONE, NULL, 0x0,
            "Of the server's process, in percent", HFILL } },
        { &hf_iggy_stats_total_cpu_usage,
          { "Total CPU usage", "iggy.stats.total_cpu_usage", FT_FLOAT, BASE_NONE, NULL, 0x0,
            "Of the machine, in percent", HFILL } },
        { &hf_iggy_stats_memory_usage,
          { "Memory usage", "iggy.stats.memory_usage", FT_UINT64, BASE_DEC | BASE_UNIT_STRING, &units_byte_bytes, 0x0,
            NULL, HFILL } },
        { &hf_iggy_stats_total_memory,
          { "Total memory", "iggy.stats.total_memory", FT_UINT64, BASE_DEC | BASE_UNIT_STRING, &units_byte_bytes, 0x0,
            NULL, HFILL } },
        { &hf_iggy_stats_available_memory,
          { "Available memory", "iggy.stats.available_memory", FT_UINT64, BASE_DEC | BASE_UNIT_STRING,
            &units_byte_bytes, 0x0, NULL, HFILL } },
        { &hf_iggy_stats_run_time,
          { "Run time", "iggy.stats.run_time", FT_UINT64, BASE_DEC | BASE_UNIT_STRING, &units_microseconds, 0x0, NULL,
            HFILL } },
        { &hf_iggy_stats_start_time,
          { "Start time", "iggy.stats.start_time", FT_ABSOLUTE_TIME, ABSOLUTE_TIME_UTC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_stats_read_bytes,
          { "Read bytes", "iggy.stats.read_bytes", FT_UINT64, BASE_DEC | BASE_UNIT_STRING, &units_byte_bytes, 0x0,
            NULL, HFILL } },
        { &hf_iggy_stats_written_bytes,
          { "Written bytes", "iggy.stats.written_bytes", FT_UINT64, BASE_DEC | BASE_UNIT_STRING, &units_byte_bytes,
            0x0, NULL, HFILL } },
        { &hf_iggy_stats_messages_size_bytes,
          { "Size of messages", "iggy.stats.messages_size_bytes", FT_UINT64, BASE_DEC | BASE_UNIT_STRING,
            &units_byte_bytes, 0x0, NULL, HFILL } },
        { &hf_iggy_stats_streams_count,
          { "Streams", "iggy.stats.streams_count", FT_UINT32, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_stats_clients_count,
          { "Clients", "iggy.stats.clients_count", FT_UINT32, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_stats_hostname,
          { "Host name", "iggy.stats.hostname", FT_STRING, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_stats_hostname_length,
          { "Host name length", "iggy.stats.hostname.length", FT_UINT32, BASE_DEC | BASE_UNIT_STRING,
            &units_byte_bytes, 0x0, NULL, HFILL } },
        { &hf_iggy_stats_os_name,
          { "Operating system", "iggy.stats.os_name", FT_STRING, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_stats_os_name_length,
          { "Operating system length", "iggy.stats.os_name.length", FT_UINT32, BASE_DEC | BASE_UNIT_STRING,
            &units_byte_bytes, 0x0, NULL, HFILL } },
        { &hf_iggy_stats_os_version,
          { "Version of the operating system", "iggy.stats.os_version", FT_STRING, BASE_NONE, NULL, 0x0, NULL,
            HFILL } },
        { &hf_iggy_stats_os_version_length,
          { "Version of the operating system length", "iggy.stats.os_version.length", FT_UINT32,
            BASE_DEC | BASE_UNIT_STRING, &units_byte_bytes, 0x0, NULL, HFILL } },
        { &hf_iggy_stats_kernel_version,
          { "Kernel version", "iggy.stats.kernel_version", FT_STRING, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_stats_kernel_version_length,
          { "Kernel version length", "iggy.stats.kernel_version.length", FT_UINT32, BASE_DEC | BASE_UNIT_STRING,
            &units_byte_bytes, 0x0, NULL, HFILL } },
        { &hf_iggy_stats_server_semver,
          { "Server version number", "iggy.stats.server_semver", FT_UINT32, BASE_CUSTOM, CF_FUNC(format_semver), 0x0,
            "Packed in decimal: major * 1,000,000 + minor * 1,000 + patch", HFILL } },
        { &hf_iggy_stats_cache_metrics_count,
          { "Cache metrics", "iggy.stats.cache_metrics_count", FT_UINT32, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_stats_cache_metric,
          { "Cache metric", "iggy.stats.cache_metric", FT_NONE, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_stats_cache_metric_hits,
          { "Hits", "iggy.stats.cache_metric.hits", FT_UINT64, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_stats_cache_metric_misses,
          { "Misses", "iggy.stats.cache_metric.misses", FT_UINT64, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_stats_cache_metric_hit_ratio,
          { "Hit ratio", "iggy.stats.cache_metric.hit_ratio", FT_FLOAT, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_stats_threads_count,
          { "Threads", "iggy.stats.threads_count", FT_UINT32, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_stats_free_disk_space,
          { "Free disk space", "iggy.stats.free_disk_space", FT_UINT64, BASE_DEC | BASE_UNIT_STRING,
            &units_byte_bytes, 0x0, NULL, HFILL } },
        { &hf_iggy_stats_total_disk_space,
          { "Total disk space", "iggy.stats.total_disk_space", FT_UINT64, BASE_DEC | BASE_UNIT_STRING,
            &units_byte_bytes, 0x0, NULL, HFILL } },
        { &hf_iggy_stats_open_files_count,
          { "Open files", "iggy.stats.open_files_count", FT_UINT64, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_stats_open_files_limit,
          { "Limit of open files", "iggy.stats.open_files_limit", FT_UINT64, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_snapshot_compression,
          { "Snapshot compression", "iggy.snapshot.compression", FT_UINT8, BASE_DEC, VALS(snapshot_compression_vals),
            0x0, NULL, HFILL } },
        { &hf_iggy_snapshot_types_count,
          { "Snapshot types", "iggy.snapshot.types_count", FT_UINT8, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_snapshot_type,
          { "Snapshot type", "iggy.snapshot.type", FT_UINT8, BASE_DEC, VALS(snapshot_type_vals), 0x0, NULL, HFILL } },
        { &hf_iggy_snapshot_data,
          { "Snapshot", "iggy.snapshot.data", FT_BYTES, BASE_NONE, NULL, 0x0, "A ZIP archive", HFILL } },
        { &hf_iggy_cluster_name,
          { "Cluster name", "iggy.cluster.name", FT_STRING, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_cluster_name_length,
          { "Cluster name length", "iggy.cluster.name.length", FT_UINT32, BASE_DEC | BASE_UNIT_STRING,
            &units_byte_bytes, 0x0, NULL, HFILL } },
        { &hf_iggy_nodes_count,
          { "Nodes", "iggy.nodes_count", FT_UINT32, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_node,
          { "Node", "iggy.node", FT_NONE, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_node_replica,
          { "Replica", "iggy.node.replica", FT_UINT8, BASE_DEC, NULL, 0x0,
            "Number of the node in its cluster", HFILL } },
        { &hf_iggy_node_name,
          { "Node name", "iggy.node.name", FT_STRING, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_node_name_length,
          { "Node name length", "iggy.node.name.length", FT_UINT32, BASE_DEC | BASE_UNIT_STRING, &units_byte_bytes,
            0x0, NULL, HFILL } },
        { &hf_iggy_node_ip,
          { "Address", "iggy.node.ip", FT_STRING, BASE_NONE, NULL, 0x0,
            "Address or host name that clients use", HFILL } },
        { &hf_iggy_node_ip_length,
          { "Address length", "iggy.node.ip.length", FT_UINT32, BASE_DEC | BASE_UNIT_STRING, &units_byte_bytes, 0x0,
            NULL, HFILL } },
        { &hf_iggy_node_tcp_port,
          { "TCP port", "iggy.node.tcp_port", FT_UINT16, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_node_quic_port,
          { "QUIC port", "iggy.node.quic_port", FT_UINT16, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_node_http_port,
          { "HTTP port", "iggy.node.http_port", FT_UINT16, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_node_websocket_port,
          { "WebSocket port", "iggy.node.websocket_port", FT_UINT16, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_node_role,
          { "Role", "iggy.node.role", FT_UINT8, BASE_DEC, VALS(node_role_vals), 0x0, NULL, HFILL } },
        { &hf_iggy_node_status,
          { "Status", "iggy.node.status", FT_UINT8, BASE_DEC, VALS(node_status_vals), 0x0, NULL, HFILL } },
        { &hf_iggy_option_scope,
          { "Scope", "iggy.option.scope", FT_UINT8, BASE_DEC, VALS(iggy_option_scope_vals), 0x0, NULL, HFILL } },
        { &hf_iggy_option_descriptors_count,
          { "Option descriptors", "iggy.option.descriptors_count", FT_UINT32, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_option_descriptor,
          { "Option", "iggy.option.descriptor", FT_NONE, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_option_flags,
          { "Flags", "iggy.option.flags", FT_UINT8, BASE_HEX, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_option_flags_updatable,
          { "Can be updated after creation", "iggy.option.flags.updatable", FT_BOOLEAN, 8, NULL, 0x01, NULL, HFILL } },
        { &hf_iggy_option_flags_resettable,
          { "Can be reset to the default", "iggy.option.flags.resettable", FT_BOOLEAN, 8, NULL, 0x02, NULL, HFILL } },
        { &hf_iggy_option_flags_secret,
          { "Secret, never returned", "iggy.option.flags.secret", FT_BOOLEAN, 8, NULL, 0x04, NULL, HFILL } },
        { &hf_iggy_option_flags_read_only,
          { "Read only, computed by the server", "iggy.option.flags.read_only", FT_BOOLEAN, 8, NULL, 0x08, NULL,
            HFILL } },
        { &hf_iggy_option_flags_critical,
          { "A node that does not know it must refuse", "iggy.option.flags.critical", FT_BOOLEAN, 8, NULL, 0x10, NULL,
            HFILL } },
        { &hf_iggy_option_description,
          { "Description", "iggy.option.description", FT_STRING, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_option_description_length,
          { "Description length", "iggy.option.description.length", FT_UINT32, BASE_DEC | BASE_UNIT_STRING,
            &units_byte_bytes, 0x0, NULL, HFILL } },
        { &hf_iggy_option_reset_count,
          { "Options to reset", "iggy.option.reset_count", FT_UINT8, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_option_reset_key,
          { "Option to reset", "iggy.option.reset_key", FT_STRING, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_option_reset_key_length,
          { "Option to reset length", "iggy.option.reset_key.length", FT_UINT8, BASE_DEC | BASE_UNIT_STRING,
            &units_byte_bytes, 0x0, NULL, HFILL } },
        { &hf_iggy_connection,
          { "Client", "iggy.connection", FT_NONE, BASE_NONE, NULL, 0x0,
            "A connection of a client, as the server describes it", HFILL } },
        { &hf_iggy_connection_transport,
          { "Transport", "iggy.connection.transport", FT_UINT8, BASE_DEC, VALS(transport_vals), 0x0, NULL, HFILL } },
        { &hf_iggy_connection_address,
          { "Address", "iggy.connection.address", FT_STRING, BASE_NONE, NULL, 0x0,
            "Address and port of the client's end", HFILL } },
        { &hf_iggy_connection_address_length,
          { "Address length", "iggy.connection.address.length", FT_UINT32, BASE_DEC | BASE_UNIT_STRING,
            &units_byte_bytes, 0x0, NULL, HFILL } },
        { &hf_iggy_connection_consumer_group,
          { "Consumer group", "iggy.connection.consumer_group", FT_NONE, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_login_context,
          { "Client context", "iggy.login.context", FT_STRING, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_login_context_length,
          { "Client context length", "iggy.login.context.length", FT_UINT32, BASE_DEC | BASE_UNIT_STRING,
            &units_byte_bytes, 0x0, NULL, HFILL } },
        { &hf_iggy_login_client_version,
          { "Client version", "iggy.login.client_version", FT_STRING, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_login_client_version_length,
          { "Client version length", "iggy.login.client_version.length", FT_UINT32, BASE_DEC | BASE_UNIT_STRING,
            &units_byte_bytes, 0x0, NULL, HFILL } },
    };
    static int *ett[] = {
        &ett_iggy_cache_metric, &ett_iggy_node,       &ett_iggy_option_descriptor,
        &ett_iggy_option_flags, &ett_iggy_connection, &ett_iggy_connection_consumer_group,
    };
    static ei_register_info ei[] = {
        { &ei_iggy_nothing_to_update,
          { "iggy.expert.nothing_to_update", PI_PROTOCOL, PI_WARN, "Neither an option to set nor one to reset",
            EXPFILL } },
    };

    proto_register_field_array(proto, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    expert_register_field_array(expert_register_protocol(proto), ei, array_length(ei));
}
