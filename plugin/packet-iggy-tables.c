/* packet-iggy-tables.c
 * Statistics that are tables and not trees: messages and bytes of streams, topics and partitions, and who had sessions.
 *
 * The nodes of Wireshark's trees count in 32 bits with a sign, which bytes pass at 2 GiB; a cell of a table is a double, exact
 * up to 2^53.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-statistics.h"

#include <string.h>

#include <epan/stat_tap_ui.h>
#include <epan/to_str.h>

#include "packet-iggy-pdu.h"

typedef stat_tap_table_item_type cell_t;

/* ---- rows that are found by their texts ---- */

/* Rows of a table by their key -> number of the row + 1. The first cell of the first row keeps it. */
static GHashTable *index_of(const stat_tap_table *table)
{
    if (!table->num_elements)
        return NULL;
    return (GHashTable *)stat_tap_get_field_data(table, 0, 0)->user_data.ptr_value;
}

static cell_t *add_row(stat_tap_table *table, const stat_tap_table_ui *ui, const char *key)
{
    GHashTable *numbers = index_of(table);
    unsigned row = table->num_elements;
    cell_t *cells = g_new0(cell_t, ui->nfields);
    for (size_t i = 0; i < ui->nfields; i++) {
        cells[i].type = ui->fields[i].type;
        if (cells[i].type == TABLE_ITEM_STRING)
            cells[i].value.string_value = g_strdup("");
    }
    if (!numbers)
        cells[0].user_data.ptr_value = numbers = g_hash_table_new_full(wmem_str_hash, g_str_equal, g_free, NULL);
    stat_tap_init_table_row(table, row, (unsigned)ui->nfields, cells);
    g_free(cells);
    g_hash_table_insert(numbers, g_strdup(key), GUINT_TO_POINTER(row + 1));
    return stat_tap_get_field_data(table, row, 0);
}

/* The cells of the row with this key; a new one has empty texts and zeros. */
static cell_t *row_of(const stat_data_t *data, unsigned table_number, const char *key)
{
    const stat_tap_table_ui *ui = data->stat_tap_data;
    stat_tap_table *table = g_array_index(ui->tables, stat_tap_table *, table_number);
    GHashTable *numbers = index_of(table);
    unsigned row = numbers ? GPOINTER_TO_UINT(g_hash_table_lookup(numbers, key)) : 0;
    return row ? stat_tap_get_field_data(table, row - 1, 0) : add_row(table, ui, key);
}

static void set_text(cell_t *cell, const char *text)
{
    if (!g_strcmp0(cell->value.string_value, text))
        return;
    g_free((char *)cell->value.string_value);
    cell->value.string_value = g_strdup(text);
}

static void free_cell(stat_tap_table *table _U_, unsigned row, unsigned column, cell_t *cell)
{
    if (row == 0 && column == 0 && cell->user_data.ptr_value)
        g_hash_table_destroy((GHashTable *)cell->user_data.ptr_value);
    if (cell->type == TABLE_ITEM_STRING)
        g_free((char *)cell->value.string_value);
}

/* Rows come as they are met, so that a table begins without any. */
static void reset_table(stat_tap_table *table)
{
    for (unsigned row = 0; row < table->num_elements; row++) {
        for (unsigned column = 0; column < table->num_fields; column++)
            free_cell(table, row, column, stat_tap_get_field_data(table, row, column));
        g_free(table->elements[row]);
    }
    table->num_elements = 0;
}

static void init_table(stat_tap_table_ui *ui, const char *title)
{
    stat_tap_table *table = stat_tap_find_table(ui, title);
    if (table)
        reset_table(table);
    else
        stat_tap_add_table(ui, stat_tap_init_table(title, (int)ui->nfields, 0, NULL));
}

/* ---- messages and their bytes by stream, topic and partition ---- */

enum { TOPIC_DIRECTION, TOPIC_STREAM, TOPIC_TOPIC, TOPIC_PARTITION, TOPIC_MESSAGES, TOPIC_BYTES, TOPIC_MEAN, TOPIC_LEAST,
       TOPIC_MOST };

static stat_tap_table_item topic_fields[] = {
    { TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Direction", "%-10s" },
    { TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Stream", "%-20s" },
    { TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Topic", "%-20s" },
    { TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Partition", "%-12s" },
    { TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Messages", "%10u" },
    { TABLE_ITEM_FLOAT, TAP_ALIGN_RIGHT, "Payload bytes", "%14.0f" },
    { TABLE_ITEM_FLOAT, TAP_ALIGN_RIGHT, "Mean", "%10.1f" },
    { TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Least", "%9u" },
    { TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Most", "%9u" },
};

/* The first texts of a row, more of them from table to table. */
static const char *const topic_tables[] = { "By stream", "By topic", "By partition" };

static void topics_init(stat_tap_table_ui *ui)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(topic_tables); i++)
        init_table(ui, topic_tables[i]);
}

/* Messages that lie one after the other in one partition. */
typedef struct {
    unsigned count;
    uint64_t bytes;
    uint32_t least, most;
} share_t;

static void add_share(const stat_data_t *data, wmem_allocator_t *pool, const char *const *texts, const share_t *share)
{
    const char *key = "";
    for (unsigned i = 0; i <= TOPIC_PARTITION; i++) {
        key = wmem_strdup_printf(pool, "%s%s\n", key, texts[i]);
        if (i < TOPIC_STREAM)
            continue;
        cell_t *row = row_of(data, i - TOPIC_STREAM, key);
        bool fresh = !row[TOPIC_MESSAGES].value.uint_value;
        for (unsigned j = 0; fresh && j <= i; j++)
            set_text(&row[j], texts[j]);
        row[TOPIC_MESSAGES].value.uint_value += share->count;
        row[TOPIC_BYTES].value.float_value += (double)share->bytes;
        row[TOPIC_MEAN].value.float_value = row[TOPIC_BYTES].value.float_value / row[TOPIC_MESSAGES].value.uint_value;
        if (fresh || share->least < row[TOPIC_LEAST].value.uint_value)
            row[TOPIC_LEAST].value.uint_value = share->least;
        row[TOPIC_MOST].value.uint_value = MAX(row[TOPIC_MOST].value.uint_value, share->most);
    }
}

static bool same_partition(const iggy_message_t *one, const iggy_message_t *other)
{
    return one->has_partition == other->has_partition && one->partition == other->partition;
}

static tap_packet_status topics_packet(void *tapdata, packet_info *pinfo, epan_dissect_t *edt _U_, const void *data,
                                       tap_flags_t flags _U_)
{
    const iggy_messages_t *messages = (const iggy_messages_t *)data;
    const char *texts[TOPIC_PARTITION + 1] = { iggy_statistics_direction(messages->pdu),
                                               iggy_statistics_object(messages->pdu, IGGY_FACT_STREAM_ID, "stream"),
                                               iggy_statistics_object(messages->pdu, IGGY_FACT_TOPIC_ID, "topic"), NULL };
    for (const iggy_message_t *first = messages->first, *message = first; message; first = message) {
        share_t share = { .least = UINT32_MAX };
        for (; message; message = message->next) {
            if (!same_partition(first, message))
                break;
            share.count++;
            share.bytes += message->length;
            share.least = MIN(share.least, message->length);
            share.most = MAX(share.most, message->length);
        }
        texts[TOPIC_PARTITION] = iggy_statistics_partition(messages->pdu, first);
        add_share((const stat_data_t *)tapdata, pinfo->pool, texts, &share);
    }
    return messages->first ? TAP_PACKET_REDRAW : TAP_PACKET_DONT_REDRAW;
}

/* ---- sessions ---- */

enum { SESSION_USER, SESSION_CLIENT, SESSION_SDK, SESSION_PROTOCOL, SESSION_SERVER, SESSION_LOGIN, SESSION_LOGINS,
       SESSION_REQUESTS, SESSION_ERRORS, SESSION_EVICTIONS, SESSION_SENT, SESSION_RECEIVED, SESSION_GROUPS };

static stat_tap_table_item session_fields[] = {
    { TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "User", "%-12s" },
    { TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Client", "%-36s" },
    { TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "SDK", "%-24s" },
    { TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Protocol", "%-8s" },
    { TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Server", "%-12s" },
    { TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Last login", "%-31s" },
    { TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Logins", "%6u" },
    { TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Requests", "%8u" },
    { TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Errors", "%6u" },
    { TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Evictions", "%9u" },
    { TABLE_ITEM_FLOAT, TAP_ALIGN_RIGHT, "Bytes sent", "%12.0f" },
    { TABLE_ITEM_FLOAT, TAP_ALIGN_RIGHT, "Bytes received", "%14.0f" },
    { TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Consumer groups", "%s" },
};

static void clients_init(stat_tap_table_ui *ui) { init_table(ui, "By client and user"); }

/* "shop/orders/workers: 0, 2; shop/orders/audit" */
static const char *groups_of(wmem_allocator_t *pool, const iggy_session_t *session)
{
    wmem_strbuf_t *text = wmem_strbuf_new(pool, "");
    for (unsigned i = 0; i < session->memberships_count; i++) {
        const iggy_membership_t *one = &session->memberships[i];
        wmem_strbuf_append_printf(text, "%s%s%s%s", i ? "; " : "", one->group, one->partitions ? ": " : "",
                                  one->partitions ? one->partitions : "");
    }
    return wmem_strbuf_get_str(text);
}

static void set_printable(cell_t *cell, wmem_allocator_t *pool, const char *text)
{
    if (text && *text)
        set_text(cell, iggy_format_text(pool, text, strlen(text)));
}

/* What the newest frame knows of the session; what it does not know stays. */
static void describe(cell_t *row, wmem_allocator_t *pool, const iggy_session_t *session)
{
    if (session->sdk)
        set_printable(&row[SESSION_SDK], pool,
                      wmem_strdup_printf(pool, "%s %s", session->sdk, session->sdk_version ? session->sdk_version : ""));
    if (session->version)
        set_text(&row[SESSION_PROTOCOL], wmem_strdup_printf(pool, "%u.%u.%u", session->version >> 20,
                                                            session->version >> 10 & 0x3ff, session->version & 0x3ff));
    set_printable(&row[SESSION_SERVER], pool, session->server_build);
    if (session->logged_in)
        set_text(&row[SESSION_LOGIN], abs_time_to_str(pool, &session->login_time, ABSOLUTE_TIME_UTC, true));
    set_printable(&row[SESSION_GROUPS], pool, groups_of(pool, session));
}

static void count_frame(cell_t *row, const iggy_pdu_t *pdu)
{
    bool request = pdu->command == IGGY_REQUEST;
    row[request ? SESSION_SENT : SESSION_RECEIVED].value.float_value += pdu->size;
    row[SESSION_REQUESTS].value.uint_value += request;
    row[SESSION_EVICTIONS].value.uint_value += pdu->command == IGGY_EVICTION;
    row[SESSION_ERRORS].value.uint_value += iggy_statistics_error(pdu) != 0;
    row[SESSION_LOGINS].value.uint_value += iggy_statistics_is_login(pdu);
}

static tap_packet_status clients_packet(void *tapdata, packet_info *pinfo, epan_dissect_t *edt _U_, const void *data,
                                        tap_flags_t flags _U_)
{
    const iggy_pdu_t *pdu = (const iggy_pdu_t *)data;
    const iggy_session_t *session = pdu->place->replica ? NULL : iggy_sessions_of(pdu);
    if (!session)
        return TAP_PACKET_DONT_REDRAW;
    e_guid_t guid = iggy_session_guid(session);
    const char *client = guid_to_str(pinfo->pool, &guid), *user = iggy_statistics_user(pdu, session);
    cell_t *row = row_of((const stat_data_t *)tapdata, 0, wmem_strdup_printf(pinfo->pool, "%s\n%s", client, user));
    set_printable(&row[SESSION_USER], pinfo->pool, user);
    set_text(&row[SESSION_CLIENT], client);
    describe(row, pinfo->pool, session);
    count_frame(row, pdu);
    return TAP_PACKET_REDRAW;
}

/* ---- registration ---- */

/* Wireshark makes submenus of trees alone: these stand beside them. */
void iggy_register_tables(void)
{
    static stat_tap_table_ui uis[] = {
        { REGISTER_PACKET_STAT_GROUP_UNSORTED, "Iggy Topics", "iggy_eo", "iggy,topics", topics_init, topics_packet,
          reset_table, free_cell, NULL, G_N_ELEMENTS(topic_fields), topic_fields, 0, NULL, NULL, 0 },
        { REGISTER_PACKET_STAT_GROUP_UNSORTED, "Iggy Clients", "iggy", "iggy,clients", clients_init, clients_packet,
          reset_table, free_cell, NULL, G_N_ELEMENTS(session_fields), session_fields, 0, NULL, NULL, 0 },
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(uis); i++)
        register_stat_tap_table_ui(&uis[i]);
}
