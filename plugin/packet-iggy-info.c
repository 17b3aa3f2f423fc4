/* packet-iggy-info.c
 * The line of a frame in the Info column: "Request #7 send_messages orders/events partition 3, 10 messages, 1.2 kB".
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-info.h"

#include <string.h>

#include <wsutil/utf8_entities.h>

#include "packet-iggy-commands.h"
#include "packet-iggy-conversation.h"
#include "packet-iggy-headers.h"
#include "packet-iggy-text.h"
#include "packet-iggy-values.h"

#define NAME_LIMIT 60u /* bytes of a name */

/* ---- appending: a line is made for each frame, and most of its cost would be that of printf ---- */

static inline void append_decimal(iggy_text_t *line, const char *before, uint64_t value)
{
    iggy_text_string(line, before);
    iggy_text_decimal(line, value);
}

static inline void append_pair(iggy_text_t *line, const char *before, const char *text)
{
    iggy_text_string(line, before);
    iggy_text_string(line, text);
}

/* Printable ASCII that needs no escapes. */
static bool is_plain(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] < ' ' || text[i] > '~' || text[i] == '\\' || text[i] == '"')
            return false;
    return true;
}

/* ---- objects ---- */

/* Names are what a client sent: up to 255 bytes, of any kind. A line shows their beginning, escaped. */
static void append_name(iggy_text_t *line, const char *before, const char *name)
{
    size_t length = strlen(name), shown = MIN(length, NAME_LIMIT);
    while (shown && shown < length && ((uint8_t)name[shown] & 0xc0) == 0x80)
        shown--;
    iggy_text_string(line, before);
    if (shown == length && is_plain(name, length)) {
        iggy_text_bytes(line, name, length);
        return;
    }
    char *escaped = iggy_format_text(NULL, name, shown);
    append_pair(line, escaped, shown < length ? UTF8_HORIZONTAL_ELLIPSIS : "");
    wmem_free(NULL, escaped);
}

static bool append_text(const iggy_facts_t *facts, iggy_text_t *line, const char *before, iggy_fact_t fact)
{
    bool known = iggy_has(facts, fact) && facts->at[fact].text;
    if (known)
        append_name(line, before, facts->at[fact].text);
    return known;
}

static bool append_number(const iggy_facts_t *facts, iggy_text_t *line, const char *before, iggy_fact_t fact)
{
    bool known = iggy_has(facts, fact);
    if (known)
        append_decimal(line, before, facts->at[fact].value);
    return known;
}

/* A name if there is one, else its id; nothing and false if neither is known. */
static bool append_object(const iggy_facts_t *facts, iggy_text_t *line, const char *before, iggy_fact_t id)
{
    return append_text(facts, line, before, (iggy_fact_t)(id + 1)) || append_number(facts, line, before, id);
}

/* What the frame is about: stream/topic, partition, group or consumer, user, connection, token. */
static void append_objects(const iggy_facts_t *facts, iggy_text_t *line)
{
    bool stream = append_object(facts, line, " ", IGGY_FACT_STREAM_ID);
    if (stream)
        append_object(facts, line, "/", IGGY_FACT_TOPIC_ID);
    append_number(facts, line, " partition ", IGGY_FACT_PARTITION);
    append_object(facts, line, " group ", IGGY_FACT_CONSUMER_GROUP_ID);
    append_object(facts, line, " consumer ", IGGY_FACT_CONSUMER_ID);
    bool user = append_object(facts, line, " user ", IGGY_FACT_USER_ID);
    append_number(facts, line, " connection ", IGGY_FACT_CONNECTION_ID);
    append_text(facts, line, " token ", IGGY_FACT_TOKEN_NAME);
    append_text(facts, line, " to ", IGGY_FACT_NEW_NAME);
    if (iggy_has(facts, IGGY_FACT_SCOPE) && !stream && !user)
        append_pair(line, " ", val_to_str_const((uint32_t)facts->at[IGGY_FACT_SCOPE].value, iggy_option_scope_vals,
                                                "unknown scope"));
}

/* ---- numbers ---- */

static void append_bytes(iggy_text_t *line, uint64_t bytes)
{
    static const char *const units[] = { "kB", "MB", "GB", "TB" };
    if (bytes < 1000) {
        append_decimal(line, ", ", bytes);
        iggy_text_string(line, " B");
        return;
    }
    if (bytes < 1000000 && bytes % 100 != 50) { /* printf rounds halves as binary numbers have them */
        append_decimal(line, ", ", (bytes + 50) / 1000);
        append_decimal(line, ".", (bytes + 50) / 100 % 10);
        iggy_text_string(line, " kB");
        return;
    }
    unsigned unit = 0;
    double scaled = (double)bytes / 1000.0;
    for (; scaled >= 1000.0 && unit + 1 < G_N_ELEMENTS(units); unit++)
        scaled /= 1000.0;
    char number[32]; /* with a point in every locale, as above */
    append_pair(line, ", ", g_ascii_formatd(number, sizeof number, "%.1f", scaled));
    append_pair(line, " ", units[unit]);
}

static void append_count(const iggy_facts_t *facts, iggy_text_t *line, iggy_fact_t fact, const char *one, const char *many)
{
    if (!iggy_has(facts, fact))
        return;
    uint64_t n = facts->at[fact].value;
    append_decimal(line, ", ", n);
    append_pair(line, " ", n == 1 ? one : many);
}

/* "up to 10 from offset 50", "up to 10 from next" */
static void append_poll(const iggy_facts_t *facts, iggy_text_t *line)
{
    append_number(facts, line, ", up to ", IGGY_FACT_POLL_COUNT);
    const char *strategy = iggy_has(facts, IGGY_FACT_STRATEGY)
                               ? try_val_to_str((uint32_t)facts->at[IGGY_FACT_STRATEGY].value, iggy_poll_strategy_vals) : NULL;
    if (strategy)
        append_pair(line, " from ", strategy);
    append_number(facts, line, strategy ? " " : ", offset ", IGGY_FACT_OFFSET);
}

static void append_offsets(const iggy_facts_t *facts, iggy_text_t *line)
{
    uint64_t first = iggy_fact(facts, IGGY_FACT_FIRST_OFFSET, 0);
    bool several = iggy_fact(facts, IGGY_FACT_LAST_OFFSET, first) != first;
    if (append_number(facts, line, several ? ", offsets " : ", offset ", IGGY_FACT_FIRST_OFFSET) && several)
        append_number(facts, line, "-", IGGY_FACT_LAST_OFFSET);
    append_number(facts, line, ", stored ", IGGY_FACT_STORED_OFFSET);
}

/* Numbers of the body: what is carried, asked for, and where. */
static void append_numbers(const iggy_facts_t *facts, iggy_text_t *line)
{
    append_count(facts, line, IGGY_FACT_MESSAGES_COUNT, "message", "messages");
    if (iggy_has(facts, IGGY_FACT_MESSAGES_BYTES) && iggy_fact(facts, IGGY_FACT_MESSAGES_COUNT, 1) != 0)
        append_bytes(line, facts->at[IGGY_FACT_MESSAGES_BYTES].value);
    append_poll(facts, line);
    append_offsets(facts, line);
    append_count(facts, line, IGGY_FACT_PARTITIONS_COUNT, "partition", "partitions");
    append_count(facts, line, IGGY_FACT_SEGMENTS_COUNT, "segment", "segments");
    append_number(facts, line, ", primary ", IGGY_FACT_PRIMARY);
    append_count(facts, line, IGGY_FACT_COUNT, "entry", "entries");
}

/* ---- the client plane ---- */

static void append_version(iggy_text_t *line, const char *before, uint64_t packed)
{
    append_decimal(line, before, (uint32_t)(packed >> 20));
    append_decimal(line, ".", (unsigned)(packed >> 10) & 0x3ff);
    append_decimal(line, ".", (unsigned)packed & 0x3ff);
}

static void append_login(const iggy_facts_t *facts, iggy_text_t *line)
{
    append_text(facts, line, ", ", IGGY_FACT_SDK_NAME);
    append_text(facts, line, " ", IGGY_FACT_SDK_VERSION);
    if (iggy_has(facts, IGGY_FACT_LOGIN_VERSION))
        append_version(line, ", protocol ", facts->at[IGGY_FACT_LOGIN_VERSION].value);
    append_text(facts, line, ", server ", IGGY_FACT_SERVER_VERSION_TEXT);
    if (iggy_has(facts, IGGY_FACT_SERVER_VERSION))
        append_version(line, ", protocol ", facts->at[IGGY_FACT_SERVER_VERSION].value);
}

static uint32_t error_of(const iggy_pdu_t *pdu)
{
    uint32_t status = pdu->command == IGGY_REPLY ? (uint32_t)iggy_fact(pdu->facts, IGGY_FACT_STATUS, 0) : 0;
    return status ? status : (uint32_t)iggy_fact(pdu->facts, IGGY_FACT_RESULT, 0);
}

/* The client command by name: from its code, else from the operation. Of a reply operation 2 alone names none. */
static const char *client_command(const iggy_pdu_t *pdu)
{
    if (pdu->code)
        return iggy_code_name(pdu->pinfo, pdu->code);
    if (pdu->response && pdu->operation == IGGY_OP_NON_REPLICATED)
        return "(request not captured)";
    const iggy_operation_t *operation = iggy_operation(pdu->operation);
    const iggy_command_t *command = operation ? iggy_command_of_operation(operation->request) : NULL;
    return command ? command->name : iggy_operation_name(pdu->pinfo, pdu->operation);
}

/* What only client frames have: of a login the session that it began, of a snapshot its size. */
static void append_result(const iggy_pdu_t *pdu, const iggy_command_t *command, iggy_text_t *line)
{
    if (pdu->response && command && (command->flags & IGGY_ENTERS))
        append_number(pdu->facts, line, ", session ", IGGY_FACT_SESSION);
    append_numbers(pdu->facts, line);
    if (iggy_has(pdu->facts, IGGY_FACT_LEN))
        append_bytes(line, pdu->facts->at[IGGY_FACT_LEN].value);
}

static void client_info(iggy_pdu_t *pdu, iggy_text_t *line)
{
    const iggy_facts_t *facts = pdu->facts;
    append_decimal(line, pdu->command == IGGY_REQUEST ? "Request #" : "Reply #", iggy_fact(facts, IGGY_FACT_REQUEST, 0));
    append_pair(line, " ", client_command(pdu));
    append_objects(facts, line);
    append_login(facts, line);
    const iggy_command_t *command = iggy_command(pdu->code);
    uint32_t error = error_of(pdu);
    if (error)
        append_pair(line, ": ", val_to_str_ext_const(error, &iggy_error_vals_ext, "unknown error"));
    else if (pdu->command == IGGY_REPLY && pdu->size == IGGY_HEADER_SIZE && command && command->empty)
        append_pair(line, ": ", command->empty);
    else
        append_result(pdu, command, line);
    if (pdu->command == IGGY_REQUEST && iggy_is_retry(pdu->exchange))
        iggy_text_string(line, " [retry]");
}

static void eviction_info(iggy_pdu_t *pdu, iggy_text_t *line)
{
    uint32_t reason = (uint32_t)iggy_fact(pdu->facts, IGGY_FACT_REASON, 0);
    append_pair(line, "Eviction ", val_to_str_const(reason, iggy_reason_vals, "for an unknown reason"));
    if (iggy_fact(pdu->facts, IGGY_FACT_HEADER_VERSION, 0))
        append_version(line, ", server accepts up to ", pdu->facts->at[IGGY_FACT_HEADER_VERSION].value);
}

/* ---- the replica plane ---- */

/* The facts that tell a replica frame's story, in order; a label of NULL ends them. */
typedef struct {
    uint8_t fact;
    const char *label;
} iggy_part_t;

#define IGGY_MOST_PARTS 5

static const struct {
    uint8_t command;
    iggy_part_t parts[IGGY_MOST_PARTS];
} replica_parts[] = {
    { IGGY_PREPARE, { { IGGY_FACT_VIEW, " view " }, { IGGY_FACT_OP, " op " } } },
    { IGGY_PREPARE_OK, { { IGGY_FACT_OP, " op " } } },
    { IGGY_COMMIT, { { IGGY_FACT_COMMIT, " " } } },
    { IGGY_START_VIEW_CHANGE, { { IGGY_FACT_VIEW, " view " } } },
    { IGGY_DO_VIEW_CHANGE, { { IGGY_FACT_VIEW, " view " }, { IGGY_FACT_OP, " op " }, { IGGY_FACT_COMMIT, " commit " } } },
    { IGGY_START_VIEW, { { IGGY_FACT_VIEW, " view " }, { IGGY_FACT_OP, " op " }, { IGGY_FACT_COMMIT, " commit " } } },
    { IGGY_REPLICA_HELLO, { { IGGY_FACT_REPLICA, " replica " } } },
    { IGGY_REPLICA_CHALLENGE, { { IGGY_FACT_REPLICA, " replica " } } },
    { IGGY_REPLICA_FINISH, { { IGGY_FACT_REPLICA, " replica " } } },
    { IGGY_REQUEST_START_VIEW, { { IGGY_FACT_VIEW, " view " } } },
    { IGGY_REQUEST_PREPARES, { { IGGY_FACT_FROM_OP, " ops " }, { IGGY_FACT_TO_OP, "-" } } },
    { IGGY_REPAIR_PREPARE, { { IGGY_FACT_VIEW, " view " }, { IGGY_FACT_OP, " op " } } },
    { IGGY_REPAIR_DONE, { { IGGY_FACT_OP, " op " } } },
    { IGGY_RANGE_EVICTED, { { IGGY_FACT_OP, " oldest op " } } },
    { IGGY_STATE_TRANSFER_TARGET, { { IGGY_FACT_AVAILABLE, " available " }, { IGGY_FACT_COMMIT, " commit " } } },
    { IGGY_REQUEST_STATE_CHUNK,
      { { IGGY_FACT_ARTIFACT, " artifact " }, { IGGY_FACT_CHUNK_OFFSET, " offset " }, { IGGY_FACT_LEN, " length " } } },
    { IGGY_STATE_CHUNK, { { IGGY_FACT_ARTIFACT, " artifact " }, { IGGY_FACT_CHUNK_OFFSET, " offset " } } },
    { IGGY_FORWARD_REGISTER, { { IGGY_FACT_ACTING_USER, " user " } } },
    { IGGY_FORWARD_LOGOUT, { { IGGY_FACT_SESSION, " session " }, { IGGY_FACT_REQUEST, " request " } } },
    { IGGY_SEGMENT_DELETE, { { IGGY_FACT_KIND, " kind " } } },
    { IGGY_COMMIT_REPLY, { { IGGY_FACT_COUNTER, " counter " } } },
    { IGGY_PREPARE_PROGRESS, { { IGGY_FACT_KIND, " kind " }, { IGGY_FACT_OP, " op " }, { IGGY_FACT_COMMIT, " commit " } } },
    { IGGY_PRIMARY_REBALANCE, { { IGGY_FACT_KIND, " kind " } } },
};

/* Names of numbers that Info shows by name. */
static const struct {
    uint8_t command, fact;
    const value_string *names;
} replica_names[] = {
    { IGGY_REPLICA_CHALLENGE, IGGY_FACT_STATUS, iggy_handshake_status_vals },
    { IGGY_STATE_TRANSFER_TARGET, IGGY_FACT_AVAILABLE, iggy_available_vals },
    { IGGY_FORWARD_REGISTER_RESULT, IGGY_FACT_OUTCOME, iggy_forward_register_outcome_vals },
    { IGGY_FORWARD_LOGOUT_RESULT, IGGY_FACT_OUTCOME, iggy_forward_logout_outcome_vals },
    { IGGY_SEGMENT_DELETE, IGGY_FACT_KIND, iggy_segment_delete_kind_vals },
    { IGGY_PREPARE_PROGRESS, IGGY_FACT_KIND, iggy_progress_kind_vals },
    { IGGY_PRIMARY_REBALANCE, IGGY_FACT_KIND, iggy_rebalance_kind_vals },
};

static const char *fact_name(const iggy_pdu_t *pdu, uint8_t fact)
{
    for (size_t i = 0; i < G_N_ELEMENTS(replica_names); i++)
        if (replica_names[i].command == pdu->command && replica_names[i].fact == fact)
            return try_val_to_str((uint32_t)iggy_fact(pdu->facts, (iggy_fact_t)fact, 0), replica_names[i].names);
    return NULL;
}

static void append_parts(const iggy_pdu_t *pdu, iggy_text_t *line, const iggy_part_t *parts)
{
    for (unsigned i = 0; i < IGGY_MOST_PARTS && parts[i].label; i++) {
        if (!iggy_has(pdu->facts, (iggy_fact_t)parts[i].fact))
            continue;
        const char *name = fact_name(pdu, parts[i].fact);
        if (name)
            append_pair(line, " ", name);
        else
            append_decimal(line, parts[i].label, pdu->facts->at[parts[i].fact].value);
    }
}

static void replica_info(iggy_pdu_t *pdu, iggy_text_t *line)
{
    const char *command = try_val_to_str_ext(pdu->command, &iggy_command_vals_ext);
    if (command)
        iggy_text_string(line, command);
    else
        append_decimal(line, "unknown command ", pdu->command);
    for (size_t i = 0; i < G_N_ELEMENTS(replica_parts); i++)
        if (replica_parts[i].command == pdu->command)
            append_parts(pdu, line, replica_parts[i].parts);
    bool by_kind = pdu->command == IGGY_REPLICA_CHALLENGE;
    const char *outcome = fact_name(pdu, by_kind ? IGGY_FACT_STATUS : IGGY_FACT_OUTCOME);
    if (outcome)
        append_pair(line, ": ", outcome);
    if (pdu->operation)
        append_pair(line, " ", iggy_operation_name(pdu->pinfo, pdu->operation));
    else if (iggy_fact(pdu->facts, IGGY_FACT_GROUP, 0) == IGGY_GROUP_METADATA) /* an operation says so itself */
        iggy_text_string(line, " metadata");
    append_objects(pdu->facts, line); /* those of a partition's group too */
    append_numbers(pdu->facts, line);
}

void iggy_info(iggy_pdu_t *pdu, iggy_text_t *line)
{
    if (pdu->command == IGGY_REQUEST || pdu->command == IGGY_REPLY)
        client_info(pdu, line);
    else if (pdu->command == IGGY_EVICTION)
        eviction_info(pdu, line);
    else
        replica_info(pdu, line);
}
