/* packet-iggy-statistics.c
 * Trees of commands, errors, evictions, messages and replica frames, and response times by command.
 *
 * All read the facts of frames that the tap "iggy" hands on, and the messages of "iggy_eo"; none touches a layout.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-statistics.h"

#include <string.h>

#include <epan/srt_table.h>
#include <epan/stats_tree.h>
#include <epan/to_str.h>

#include "packet-iggy-commands.h"
#include "packet-iggy-conversation.h"
#include "packet-iggy-export.h"
#include "packet-iggy-links.h"
#include "packet-iggy-pdu.h"
#include "packet-iggy-sessions.h"
#include "packet-iggy-values.h"

/* ---- what the trees have in common ---- */

/* Tick every node of a path below `parent`; nodes appear as they are needed. The last one has no children. */
static void add_path(stats_tree *st, int parent, const char *const *path, unsigned length)
{
    for (unsigned i = 0; i < length; i++)
        parent = tick_stat_node(st, path[i], parent, i + 1 < length);
}

/* Status, or result of a rejection (commands.md 1.4). */
uint32_t iggy_statistics_error(const iggy_pdu_t *pdu)
{
    if (pdu->command != IGGY_REPLY)
        return 0;
    uint64_t status = iggy_fact(pdu->facts, IGGY_FACT_STATUS, 0);
    return (uint32_t)(status ? status : iggy_fact(pdu->facts, IGGY_FACT_RESULT, 0));
}

static const char *error_name(const iggy_pdu_t *pdu, uint32_t error)
{
    const char *name = try_val_to_str_ext(error, &iggy_error_vals_ext);
    return name ? name : wmem_strdup_printf(pdu->pinfo->pool, "error %u", error);
}

/* Replies whose request is not in the capture may have no code; their operation may still tell. */
static const char *command_name(const iggy_pdu_t *pdu)
{
    if (pdu->code)
        return iggy_code_name(pdu->pinfo, pdu->code);
    if (pdu->operation == IGGY_OP_NON_REPLICATED)
        return "request not captured";
    return iggy_operation_name(pdu->pinfo, pdu->operation);
}

const char *iggy_statistics_object(const iggy_pdu_t *pdu, iggy_fact_t id, const char *kind)
{
    iggy_fact_t name = (iggy_fact_t)(id + 1);
    const char *text = iggy_has(pdu->facts, name) ? pdu->facts->at[name].text : NULL;
    if (text)
        return iggy_format_text(pdu->pinfo->pool, text, strlen(text));
    if (iggy_has(pdu->facts, id))
        return wmem_strdup_printf(pdu->pinfo->pool, "%s %" PRIu64, kind, pdu->facts->at[id].value);
    return wmem_strdup_printf(pdu->pinfo->pool, "unknown %s", kind);
}

/* ---- commands ---- */

static int node_requests, node_replies, node_failures, node_retries;

static void commands_init(stats_tree *st)
{
    node_requests = stats_tree_create_node(st, "Requests", 0, STAT_DT_INT, true);
    node_replies = stats_tree_create_node(st, "Replies", 0, STAT_DT_INT, true);
    node_failures = stats_tree_create_node(st, "Replies with an error", 0, STAT_DT_INT, true);
    node_retries = stats_tree_create_node(st, "Retries", 0, STAT_DT_INT, true);
}

/* A node made at the start, and the command below it. */
static void tick_command(stats_tree *st, const char *node, int id, const char *command)
{
    tick_stat_node(st, node, 0, true);
    tick_stat_node(st, command, id, false);
}

static tap_packet_status commands_packet(stats_tree *st, packet_info *pinfo _U_, epan_dissect_t *edt _U_, const void *data,
                                         tap_flags_t flags _U_)
{
    const iggy_pdu_t *pdu = (const iggy_pdu_t *)data;
    if (pdu->command != IGGY_REQUEST && pdu->command != IGGY_REPLY)
        return TAP_PACKET_DONT_REDRAW;
    const char *command = command_name(pdu);
    if (pdu->command == IGGY_REQUEST) {
        tick_command(st, "Requests", node_requests, command);
        if (iggy_is_retry(pdu->exchange))
            tick_command(st, "Retries", node_retries, command);
        return TAP_PACKET_REDRAW;
    }
    tick_command(st, "Replies", node_replies, command);
    if (iggy_statistics_error(pdu))
        tick_command(st, "Replies with an error", node_failures, command);
    return TAP_PACKET_REDRAW;
}

/* ---- errors ---- */

static int node_by_error, node_by_command;

static void errors_init(stats_tree *st)
{
    node_by_error = stats_tree_create_node(st, "By error", 0, STAT_DT_INT, true);
    node_by_command = stats_tree_create_node(st, "By command", 0, STAT_DT_INT, true);
}

static tap_packet_status errors_packet(stats_tree *st, packet_info *pinfo _U_, epan_dissect_t *edt _U_, const void *data,
                                       tap_flags_t flags _U_)
{
    const iggy_pdu_t *pdu = (const iggy_pdu_t *)data;
    uint32_t code = iggy_statistics_error(pdu);
    if (!code)
        return TAP_PACKET_DONT_REDRAW;
    const char *error = error_name(pdu, code), *command = command_name(pdu);
    const char *by_error[] = { error, command }, *by_command[] = { command, error };
    tick_stat_node(st, "By error", 0, true);
    add_path(st, node_by_error, by_error, G_N_ELEMENTS(by_error));
    tick_stat_node(st, "By command", 0, true);
    add_path(st, node_by_command, by_command, G_N_ELEMENTS(by_command));
    return TAP_PACKET_REDRAW;
}

/* ---- evictions ---- */

static int node_evictions;

static void evictions_init(stats_tree *st)
{
    node_evictions = stats_tree_create_node(st, "Evictions", 0, STAT_DT_INT, true);
}

/* Reason, and which client it met: after an upgrade one reason meets many. */
static tap_packet_status evictions_packet(stats_tree *st, packet_info *pinfo, epan_dissect_t *edt _U_, const void *data,
                                          tap_flags_t flags _U_)
{
    const iggy_pdu_t *pdu = (const iggy_pdu_t *)data;
    if (pdu->command != IGGY_EVICTION)
        return TAP_PACKET_DONT_REDRAW;
    uint32_t value = (uint32_t)iggy_fact(pdu->facts, IGGY_FACT_REASON, 0);
    const char *reason = iggy_val_to_str(pinfo->pool, value, iggy_reason_vals, "reason %u");
    const char *path[] = { reason, address_to_str(pinfo->pool, &pinfo->dst) };
    tick_stat_node(st, "Evictions", 0, true);
    add_path(st, node_evictions, path, G_N_ELEMENTS(path));
    return TAP_PACKET_REDRAW;
}

/* ---- messages by stream, topic and partition ---- */

static int node_messages;

static void messages_init(stats_tree *st)
{
    node_messages = stats_tree_create_node(st, "Messages", 0, STAT_DT_INT, true);
}

const char *iggy_statistics_direction(const iggy_pdu_t *pdu)
{
    switch (pdu->command) {
    case IGGY_REQUEST:
        return "sent";
    case IGGY_REPLY:
        return "polled";
    default:
        return "replicated";
    }
}

const char *iggy_statistics_partition(const iggy_pdu_t *pdu, const iggy_message_t *message)
{
    if (!message->has_partition && !iggy_has(pdu->facts, IGGY_FACT_PARTITION))
        return "partition chosen by the server";
    uint64_t id = message->has_partition ? message->partition : iggy_fact(pdu->facts, IGGY_FACT_PARTITION, 0);
    return wmem_strdup_printf(pdu->pinfo->pool, "partition %" PRIu64, id);
}

/* Each message counts in its direction, stream, topic and partition, with the mean, least and most bytes of payloads. */
static tap_packet_status messages_packet(stats_tree *st, packet_info *pinfo _U_, epan_dissect_t *edt _U_, const void *data,
                                         tap_flags_t flags _U_)
{
    const iggy_messages_t *messages = (const iggy_messages_t *)data;
    const iggy_pdu_t *pdu = messages->pdu;
    const char *path[] = { iggy_statistics_direction(pdu), iggy_statistics_object(pdu, IGGY_FACT_STREAM_ID, "stream"),
                           iggy_statistics_object(pdu, IGGY_FACT_TOPIC_ID, "topic"), NULL };
    for (const iggy_message_t *message = messages->first; message; message = message->next) {
        int bytes = (int)MIN(message->length, (uint32_t)INT_MAX), parent = node_messages;
        path[3] = iggy_statistics_partition(pdu, message);
        avg_stat_node_add_value_int(st, "Messages", 0, true, bytes);
        for (unsigned i = 0; i < G_N_ELEMENTS(path); i++)
            parent = avg_stat_node_add_value_int(st, path[i], parent, i + 1 < G_N_ELEMENTS(path), bytes);
    }
    return TAP_PACKET_REDRAW;
}

/* ---- sessions ---- */

static int node_users, node_logins;

static void sessions_init(stats_tree *st)
{
    node_users = stats_tree_create_node(st, "Requests by user", 0, STAT_DT_INT, true);
    node_logins = stats_tree_create_node(st, "Logins by client", 0, STAT_DT_INT, true);
}

const char *iggy_statistics_user(const iggy_pdu_t *pdu, const iggy_session_t *session)
{
    if (session->user)
        return iggy_format_text(pdu->pinfo->pool, session->user, strlen(session->user));
    return session->has_user_id ? wmem_strdup_printf(pdu->pinfo->pool, "user %u", session->user_id) : "unknown user";
}

/* "rust-sdk 0.11.0, protocol 0.12.2" */
static const char *client_name(const iggy_pdu_t *pdu, const iggy_session_t *session)
{
    return wmem_strdup_printf(pdu->pinfo->pool, "%s %s, protocol %u.%u.%u", session->sdk ? session->sdk : "unknown client",
                              session->sdk_version ? session->sdk_version : "", session->version >> 20,
                              session->version >> 10 & 0x3ff, session->version & 0x3ff);
}

bool iggy_statistics_is_login(const iggy_pdu_t *pdu)
{
    return pdu->command == IGGY_REPLY && pdu->operation == IGGY_OP_REGISTER && pdu->size > IGGY_HEADER_SIZE &&
           !iggy_statistics_error(pdu);
}

static tap_packet_status sessions_packet(stats_tree *st, packet_info *pinfo _U_, epan_dissect_t *edt _U_, const void *data,
                                         tap_flags_t flags _U_)
{
    const iggy_pdu_t *pdu = (const iggy_pdu_t *)data;
    const iggy_session_t *session = iggy_sessions_of(pdu);
    if (!session || (pdu->command != IGGY_REQUEST && !iggy_statistics_is_login(pdu)))
        return TAP_PACKET_DONT_REDRAW;
    const char *user = iggy_statistics_user(pdu, session);
    if (pdu->command == IGGY_REQUEST) {
        const char *path[] = { user, command_name(pdu) };
        tick_stat_node(st, "Requests by user", 0, true);
        add_path(st, node_users, path, G_N_ELEMENTS(path));
    } else {
        const char *path[] = { client_name(pdu, session), user };
        tick_stat_node(st, "Logins by client", 0, true);
        add_path(st, node_logins, path, G_N_ELEMENTS(path));
    }
    return TAP_PACKET_REDRAW;
}

/* ---- replica frames ---- */

#define PREPARE_OK_TIME "Microseconds from prepare to prepare_ok"

static int node_by_frame, node_by_replica, node_time;

static void replication_init(stats_tree *st)
{
    node_by_frame = stats_tree_create_node(st, "By command", 0, STAT_DT_INT, true);
    node_by_replica = stats_tree_create_node(st, "By replica", 0, STAT_DT_INT, true);
    node_time = stats_tree_create_node(st, PREPARE_OK_TIME, 0, STAT_DT_INT, true);
}

/* How long the replica took to acknowledge a prepare, in microseconds. */
static void add_prepare_ok_time(stats_tree *st, const iggy_pdu_t *pdu, const char *replica)
{
    nstime_t span;
    if (pdu->command != IGGY_PREPARE_OK || !iggy_links_prepare_ok_time(pdu, &span))
        return;
    double microseconds = nstime_to_sec(&span) * 1e6;
    int value = (int)CLAMP(microseconds, 0, INT_MAX);
    avg_stat_node_add_value_int(st, PREPARE_OK_TIME, 0, true, value);
    avg_stat_node_add_value_int(st, replica, node_time, false, value);
}

static tap_packet_status replication_packet(stats_tree *st, packet_info *pinfo, epan_dissect_t *edt _U_, const void *data,
                                            tap_flags_t flags _U_)
{
    const iggy_pdu_t *pdu = (const iggy_pdu_t *)data;
    if (pdu->command == IGGY_REQUEST || pdu->command == IGGY_REPLY || pdu->command == IGGY_EVICTION)
        return TAP_PACKET_DONT_REDRAW;
    const char *known = try_val_to_str_ext(pdu->command, &iggy_command_vals_ext);
    const char *command = known ? known : wmem_strdup_printf(pinfo->pool, "command %u", pdu->command);
    const char *replica = wmem_strdup_printf(pinfo->pool, "replica %" PRIu64, iggy_fact(pdu->facts, IGGY_FACT_REPLICA, 0));
    const char *by_frame[] = { command, replica }, *by_replica[] = { replica, command };
    tick_stat_node(st, "By command", 0, true);
    add_path(st, node_by_frame, by_frame, G_N_ELEMENTS(by_frame));
    tick_stat_node(st, "By replica", 0, true);
    add_path(st, node_by_replica, by_replica, G_N_ELEMENTS(by_replica));
    add_prepare_ok_time(st, pdu, replica);
    return TAP_PACKET_REDRAW;
}

/* ---- response times ---- */

#define SRT_ROWS 1024 /* row = command code, so that the table can filter by it; higher codes share row 0 with unknown ones */

static void srt_init(struct register_srt *srt _U_, GArray *tables)
{
    srt_stat_table *table = init_srt_table("Iggy commands", "Commands", tables, SRT_ROWS, "Command", "iggy.code", NULL);
    init_srt_table_row(table, 0, "other");
    for (int row = 1; row < SRT_ROWS; row++) {
        const iggy_command_t *command = iggy_command((uint32_t)row);
        init_srt_table_row(table, row, command ? command->name : "unknown code");
    }
}

/* Requests that a retry's reply has answered -> the packet of that reply. Few, and gone with the capture file. */
static wmem_map_t *answered_by_retry;

/*
 * A request counts once, from its first copy to the first reply to any copy (framing.md 7): the request's first copy if this
 * frame is that reply, else NULL. The packet is kept, so that a second look at the capture counts the same.
 */
static const iggy_exchange_t *answered_now(const iggy_pdu_t *pdu)
{
    nstime_t span;
    if (pdu->command != IGGY_REPLY || !iggy_conversation_response_time(pdu, &span))
        return NULL;
    const iggy_exchange_t *exchange = pdu->exchange, *first = iggy_is_retry(exchange) ? iggy_exchange_first(exchange) : exchange;
    void *packet = GUINT_TO_POINTER(pdu->pinfo->num), *counted = wmem_map_lookup(answered_by_retry, first);
    if (counted && counted != packet)
        return NULL;
    if (first != exchange && first->reply_frame && first->reply_frame <= pdu->pinfo->num)
        return NULL;
    if (first != exchange)
        wmem_map_insert(answered_by_retry, first, packet);
    return first;
}

static tap_packet_status srt_packet(void *tapdata, packet_info *pinfo, epan_dissect_t *edt _U_, const void *data,
                                    tap_flags_t flags _U_)
{
    const iggy_pdu_t *pdu = (const iggy_pdu_t *)data;
    const iggy_exchange_t *first = answered_now(pdu);
    if (!first)
        return TAP_PACKET_DONT_REDRAW;
    nstime_t asked = iggy_request_time(first, &pinfo->abs_ts);
    srt_stat_table *table = g_array_index(((srt_data_t *)tapdata)->srt_array, srt_stat_table *, 0);
    add_srt_table_data(table, pdu->code < SRT_ROWS ? (int)pdu->code : 0, &asked, pinfo);
    return TAP_PACKET_REDRAW;
}

/* ---- registration ---- */

typedef struct {
    const char *tap, *abbreviation, *name;
    stat_tree_packet_cb packet;
    stat_tree_init_cb init;
} iggy_tree_t;

static const iggy_tree_t trees[] = {
    { "iggy", "iggy_commands", "Iggy" IGGY_MENU_SEPARATOR "Commands", commands_packet, commands_init },
    { "iggy", "iggy_errors", "Iggy" IGGY_MENU_SEPARATOR "Errors", errors_packet, errors_init },
    { "iggy", "iggy_evictions", "Iggy" IGGY_MENU_SEPARATOR "Evictions", evictions_packet, evictions_init },
    { "iggy_eo", "iggy_messages", "Iggy" IGGY_MENU_SEPARATOR "Messages by Topic", messages_packet, messages_init },
    { "iggy", "iggy_sessions", "Iggy" IGGY_MENU_SEPARATOR "Sessions", sessions_packet, sessions_init },
    { "iggy", "iggy_replication", "Iggy" IGGY_MENU_SEPARATOR "Replication", replication_packet, replication_init },
};

void iggy_register_statistics(int proto)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(trees); i++)
        stats_tree_register_plugin(trees[i].tap, trees[i].abbreviation, trees[i].name, 0, trees[i].packet, trees[i].init, NULL);
    answered_by_retry = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), g_direct_hash, g_direct_equal);
    iggy_register_tables();
    register_srt_table(proto, "iggy", 1, srt_packet, srt_init, NULL);
}
