/* packet-iggy-sessions.c
 * Sessions (framing.md 7): begun by a login or a bind, known by the client id on all connections, ended by a logout or an
 * eviction. What a frame shows is what was known up to it.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-sessions.h"

#include <string.h>

#include <epan/conversation_filter.h>
#include <epan/proto_data.h>
#include <epan/to_str.h>

#include "packet-iggy-connection.h"
#include "packet-iggy-names.h"
#include "packet-iggy-text.h"
#include "packet-iggy-time.h"
#include "packet-iggy-values.h"
#include "packet-iggy-wanted.h"

#define CODE_BIND         15u
#define CODE_SYNC         606u
#define OPERATION_JOIN    148u
#define OPERATION_LEAVE   149u
#define PARTITIONS_SHOWN  64u
#define MEMBERSHIPS_LIMIT 64u  /* of a session; the oldest is forgotten first, since each change copies them all */
#define STATES_TRIED      256u /* of a client, newest first, for a request that names an older session */
#define SESSION_KEY       0x53u /* of the packet's data: the session of its first frame */

/* What holds for a client from a frame on; NULL: no session. */
typedef struct {
    uint64_t since; /* iggy_conversation_order() */
    const iggy_session_t *session;
    const iggy_session_t *before; /* of a login that is not answered yet: what holds if it is refused */
} state_t;

struct iggy_session_history {
    state_t *states;
    unsigned count, room;
};

static int hf_iggy_session_state = IGGY_UNREGISTERED;
static int hf_iggy_session_client = IGGY_UNREGISTERED;
static int hf_iggy_session_number = IGGY_UNREGISTERED;
static int hf_iggy_session_user = IGGY_UNREGISTERED;
static int hf_iggy_session_user_id = IGGY_UNREGISTERED;
static int hf_iggy_session_sdk = IGGY_UNREGISTERED;
static int hf_iggy_session_sdk_version = IGGY_UNREGISTERED;
static int hf_iggy_session_protocol_version = IGGY_UNREGISTERED;
static int hf_iggy_session_server_version = IGGY_UNREGISTERED;
static int hf_iggy_session_server_build = IGGY_UNREGISTERED;
static int hf_iggy_session_login_time = IGGY_UNREGISTERED;
static int hf_iggy_session_consumer_group = IGGY_UNREGISTERED;
static int hf_iggy_session_assignment = IGGY_UNREGISTERED;
static int ett_iggy_session = IGGY_UNREGISTERED;

/* ---- states ---- */

static void enter(iggy_client_t *client, uint64_t since, const iggy_session_t *session, const iggy_session_t *before)
{
    struct iggy_session_history *history = client->sessions;
    if (!history)
        client->sessions = history = wmem_new0(wmem_file_scope(), struct iggy_session_history);
    if (!history->states || history->count == history->room) {
        history->room += MAX(history->room / 2, 2);
        size_t room = history->room * sizeof *history->states;
        history->states = (state_t *)wmem_realloc(wmem_file_scope(), history->states, room);
    }
    history->states[history->count++] = (state_t){ since, session, before };
}

static const state_t *last_state(const iggy_client_t *client)
{
    const struct iggy_session_history *history = client ? client->sessions : NULL;
    return history && history->count ? &history->states[history->count - 1] : NULL;
}

static const iggy_session_t *present(const iggy_client_t *client)
{
    const state_t *state = last_state(client);
    return state ? state->session : NULL;
}

/* The newest of `count` states; but a request that names an older session belongs to that one, though the client has a newer. */
static const iggy_session_t *named_by(const iggy_pdu_t *pdu, const struct iggy_session_history *history, unsigned count)
{
    if (!history || !count)
        return NULL;
    uint64_t named = pdu->command == IGGY_REQUEST ? iggy_fact(pdu->facts, IGGY_FACT_SESSION, 0) : 0;
    const iggy_session_t *session = history->states[count - 1].session;
    if (!session || !named || named >= session->number)
        return session;
    for (unsigned tried = 0; count && tried < STATES_TRIED; count--, tried++) {
        session = history->states[count - 1].session;
        if (session && session->number == named)
            return session;
    }
    return NULL;
}

const iggy_session_t *iggy_sessions_of(const iggy_pdu_t *pdu)
{
    const iggy_client_t *client = pdu->frame ? iggy_conversation_client(pdu) : NULL;
    const struct iggy_session_history *history = client ? client->sessions : NULL;
    uint64_t order = pdu->frame ? iggy_conversation_order(pdu) : 0;
    unsigned low = 0, high = history ? history->count : 0;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (history->states[middle].since <= order)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? named_by(pdu, history, low) : NULL;
}

static iggy_session_t *copy_of(const iggy_client_t *client, const iggy_session_t *session)
{
    iggy_session_t *copy = wmem_new0(wmem_file_scope(), iggy_session_t);
    if (session)
        *copy = *session;
    memcpy(copy->client, client->id, sizeof copy->client);
    return copy;
}

/* ---- logins ---- */

static const char *text_of(const iggy_facts_t *facts, iggy_fact_t fact)
{
    return facts->has[fact] && facts->at[fact].text ? iggy_names_intern(facts->at[fact].text) : NULL;
}

static bool is_login(const iggy_pdu_t *pdu)
{
    const iggy_exchange_t *exchange = pdu->exchange;
    return exchange && (exchange->operation == IGGY_OP_REGISTER || exchange->code == CODE_BIND);
}

static void begin(const iggy_pdu_t *pdu, iggy_client_t *client)
{
    const iggy_session_t *before = present(client);
    bool joins = pdu->operation != IGGY_OP_REGISTER; /* a bind goes on with the session that it names */
    iggy_session_t *session = copy_of(client, joins ? before : NULL);
    if (!joins)
        session->user = text_of(pdu->facts, IGGY_FACT_USER_NAME);
    session->sdk = text_of(pdu->facts, IGGY_FACT_SDK_NAME);
    session->sdk_version = text_of(pdu->facts, IGGY_FACT_SDK_VERSION);
    session->version = (uint32_t)iggy_fact(pdu->facts, IGGY_FACT_LOGIN_VERSION, 0);
    enter(client, iggy_conversation_order(pdu), session, before);
}

static void succeed(const iggy_pdu_t *pdu, iggy_client_t *client)
{
    iggy_session_t *session = copy_of(client, present(client));
    const iggy_facts_t *facts = pdu->facts;
    session->number = iggy_fact(facts, IGGY_FACT_SESSION, session->number);
    session->server_version = (uint32_t)iggy_fact(facts, IGGY_FACT_SERVER_VERSION, 0);
    session->server_build = text_of(facts, IGGY_FACT_SERVER_VERSION_TEXT);
    if (facts->has[IGGY_FACT_USER_ID] == 1) {
        session->user_id = (uint32_t)facts->at[IGGY_FACT_USER_ID].value;
        session->has_user_id = true;
    }
    if (!session->logged_in)
        session->login_time = pdu->pinfo->abs_ts;
    session->logged_in = true;
    enter(client, iggy_conversation_order(pdu), session, NULL);
}

/* The frame that ends a session still belongs to it. */
static void end(const iggy_pdu_t *pdu, iggy_client_t *client, const iggy_session_t *after)
{
    if (present(client) != after)
        enter(client, iggy_conversation_order(pdu) + 1, after, NULL);
}

static void refuse(const iggy_pdu_t *pdu, iggy_client_t *client)
{
    const state_t *state = last_state(client);
    end(pdu, client, state ? state->before : NULL);
}

/* A session whose login is not in the capture has a number at least. */
static void note_number(const iggy_pdu_t *pdu, iggy_client_t *client)
{
    uint64_t number = iggy_fact(pdu->facts, IGGY_FACT_SESSION, 0);
    const iggy_session_t *session = present(client);
    if (!number || number < client->session || (session && session->number == number))
        return;
    iggy_session_t *known = copy_of(client, session && !session->number ? session : NULL);
    known->number = number;
    enter(client, iggy_conversation_order(pdu), known, NULL);
}

/* ---- consumer groups ---- */

static const char *object_of(const iggy_pdu_t *pdu, iggy_fact_t id)
{
    const iggy_facts_t *facts = pdu->facts;
    if (facts->has[id + 1] && facts->at[id + 1].text)
        return facts->at[id + 1].text;
    return facts->has[id] ? wmem_strdup_printf(pdu->pinfo->pool, "%" PRIu64, facts->at[id].value) : NULL;
}

static const char *group_of(const iggy_pdu_t *pdu)
{
    const char *stream = object_of(pdu, IGGY_FACT_STREAM_ID), *topic = object_of(pdu, IGGY_FACT_TOPIC_ID);
    const char *group = object_of(pdu, IGGY_FACT_CONSUMER_GROUP_ID);
    if (!stream || !topic || !group)
        return NULL;
    return iggy_names_intern(wmem_strdup_printf(pdu->pinfo->pool, "%s/%s/%s", stream, topic, group));
}

/* The partitions of a sync_consumer_group reply: generation, count, ids (commands.md 8). Empty: not a member. */
static const char *assigned(const iggy_pdu_t *pdu)
{
    unsigned captured = tvb_captured_length(pdu->tvb), offset = IGGY_HEADER_SIZE + 12;
    if (captured < offset)
        return NULL;
    uint32_t count = tvb_get_letohl(pdu->tvb, (int)offset - 4);
    wmem_strbuf_t *text = wmem_strbuf_new(pdu->pinfo->pool, count ? "" : "none");
    for (uint32_t i = 0; i < count && offset + 4 * (i + 1) <= captured; i++) {
        if (i == PARTITIONS_SHOWN) {
            wmem_strbuf_append(text, ", ...");
            break;
        }
        wmem_strbuf_append_printf(text, "%s%u", i ? ", " : "", tvb_get_letohl(pdu->tvb, (int)(offset + 4 * i)));
    }
    return iggy_names_intern(wmem_strbuf_get_str(text));
}

/* Index of the membership in the group, the count of all if there is none. */
static unsigned membership_of(const iggy_session_t *session, const char *group)
{
    unsigned i = 0;
    while (i < session->memberships_count && session->memberships[i].group != group)
        i++;
    return i;
}

/* The session with this membership set, or without it. */
static void change_membership(const iggy_pdu_t *pdu, iggy_client_t *client, bool member, const char *partitions)
{
    const iggy_session_t *session = present(client);
    const char *group = group_of(pdu);
    if (!session || !group)
        return;
    unsigned known = session->memberships_count, at = membership_of(session, group), count = 0;
    if (at == known ? !member : member && session->memberships[at].partitions == partitions)
        return; /* as before */
    iggy_membership_t *changed = wmem_alloc_array(wmem_file_scope(), iggy_membership_t, known + 1);
    for (unsigned i = at == known && known == MEMBERSHIPS_LIMIT; i < known; i++)
        if (i != at)
            changed[count++] = session->memberships[i];
    if (member)
        changed[count++] = (iggy_membership_t){ group, partitions };
    iggy_session_t *copy = copy_of(client, session);
    copy->memberships = changed;
    copy->memberships_count = count;
    enter(client, iggy_conversation_order(pdu), copy, NULL);
}

/* ---- the first pass ---- */

static void answered(iggy_pdu_t *pdu, iggy_client_t *client)
{
    const iggy_exchange_t *exchange = pdu->exchange;
    bool failed = iggy_reply_error(pdu) != 0;
    if (is_login(pdu)) {
        if (failed || (pdu->frame->notes & IGGY_NOTE_FAILED_LOGIN))
            refuse(pdu, client);
        else
            succeed(pdu, client);
    } else if (!failed && exchange->operation == IGGY_OP_LOGOUT) {
        end(pdu, client, NULL);
    } else if (!failed && exchange->operation == OPERATION_JOIN) {
        change_membership(pdu, client, true, NULL);
    } else if (!failed && exchange->operation == OPERATION_LEAVE) {
        change_membership(pdu, client, false, NULL);
    } else if (!failed && exchange->code == CODE_SYNC) {
        const char *partitions = assigned(pdu);
        change_membership(pdu, client, partitions != NULL, partitions);
    }
}

void iggy_sessions_after_body(iggy_pdu_t *pdu)
{
    if (PINFO_FD_VISITED(pdu->pinfo) || !pdu->frame || pdu->place->replica)
        return;
    iggy_client_t *client = iggy_conversation_client(pdu);
    if (!client)
        return;
    if (pdu->command == IGGY_REQUEST && is_login(pdu))
        begin(pdu, client);
    else if (pdu->command == IGGY_REQUEST)
        note_number(pdu, client);
    else if (pdu->command == IGGY_REPLY && pdu->exchange)
        answered(pdu, client);
    else if (pdu->command == IGGY_EVICTION && is_login(pdu))
        refuse(pdu, client);
    else if (pdu->command == IGGY_EVICTION)
        end(pdu, client, NULL);
}

/* ---- what is shown ---- */

e_guid_t iggy_session_guid(const iggy_session_t *session)
{
    const uint8_t *id = session->client;
    e_guid_t guid;
    guid.data1 = (uint32_t)id[0] << 24 | (uint32_t)id[1] << 16 | (uint32_t)id[2] << 8 | id[3];
    guid.data2 = (uint16_t)(id[4] << 8 | id[5]);
    guid.data3 = (uint16_t)(id[6] << 8 | id[7]);
    memcpy(guid.data4, id + 8, sizeof guid.data4);
    return guid;
}

static const char *user_of(iggy_pdu_t *pdu, const iggy_session_t *session)
{
    iggy_name_key_t key = { IGGY_NAME_USER, 0, 0, session->user_id };
    return session->user || !session->has_user_id ? session->user : iggy_names_name(pdu, &key);
}

static void show_text(iggy_pdu_t *pdu, proto_tree *tree, int hf, const char *text)
{
    if (text)
        proto_item_set_generated(proto_tree_add_string(tree, hf, pdu->tvb, 0, 0, text));
}

static void show_number(iggy_pdu_t *pdu, proto_tree *tree, int hf, bool known, uint32_t value)
{
    if (known)
        proto_item_set_generated(proto_tree_add_uint(tree, hf, pdu->tvb, 0, 0, value));
}

static void show_version(iggy_pdu_t *pdu, proto_tree *tree, int hf, uint32_t packed)
{
    if (!packed)
        return;
    proto_item *item = proto_tree_add_uint(tree, hf, pdu->tvb, 0, 0, packed);
    proto_item_set_generated(item);
    iggy_version_spell(item, packed);
}

static void show_time(iggy_pdu_t *pdu, proto_tree *tree, int hf, nstime_t when)
{
    proto_item_set_generated(iggy_add_time(tree, hf, pdu->tvb, 0, 0, &when));
}

static void show_memberships(iggy_pdu_t *pdu, proto_tree *tree, const iggy_session_t *session)
{
    for (unsigned i = 0; i < session->memberships_count; i++) {
        const iggy_membership_t *one = &session->memberships[i];
        show_text(pdu, tree, hf_iggy_session_consumer_group, one->group);
        if (one->partitions)
            show_text(pdu, tree, hf_iggy_session_assignment,
                      wmem_strdup_printf(pdu->pinfo->pool, "%s: %s", one->group, one->partitions));
    }
}

/* "Session: iggy, rust-sdk 0.9.0" */
static void append_line(proto_item *item, const char *user, const iggy_session_t *session)
{
    if (!PTREE_DATA(item)->visible)
        return;
    iggy_line_t line;
    iggy_line_begin(&line, item);
    if (user) {
        iggy_text_string(&line.text, ": ");
        iggy_text_string(&line.text, user);
    }
    if (session->sdk) {
        iggy_text_string(&line.text, user ? ", " : ": ");
        iggy_text_string(&line.text, session->sdk);
        iggy_text_string(&line.text, " ");
        iggy_text_string(&line.text, session->sdk_version ? session->sdk_version : "");
    }
    iggy_line_end(&line, item);
}

static void show_session(iggy_pdu_t *pdu, proto_tree *tree, const iggy_session_t *session)
{
    const char *user = user_of(pdu, session);
    proto_item *item = proto_tree_add_item(tree, hf_iggy_session_state, pdu->tvb, 0, 0, ENC_NA);
    proto_tree *below = proto_item_add_subtree(item, ett_iggy_session);
    proto_item_set_generated(item);
    append_line(item, user, session);
    e_guid_t guid = iggy_session_guid(session);
    proto_item_set_generated(proto_tree_add_guid(below, hf_iggy_session_client, pdu->tvb, 0, 0, &guid));
    if (session->number)
        proto_item_set_generated(proto_tree_add_uint64(below, hf_iggy_session_number, pdu->tvb, 0, 0, session->number));
    show_text(pdu, below, hf_iggy_session_user, user);
    show_number(pdu, below, hf_iggy_session_user_id, session->has_user_id, session->user_id);
    show_text(pdu, below, hf_iggy_session_sdk, session->sdk);
    show_text(pdu, below, hf_iggy_session_sdk_version, session->sdk_version);
    show_version(pdu, below, hf_iggy_session_protocol_version, session->version);
    show_version(pdu, below, hf_iggy_session_server_version, session->server_version);
    show_text(pdu, below, hf_iggy_session_server_build, session->server_build);
    if (session->logged_in)
        show_time(pdu, below, hf_iggy_session_login_time, session->login_time);
    show_memberships(pdu, below, session);
}

static bool session_wanted(proto_tree *tree)
{
    static iggy_answer_t answer;
    return iggy_items_wanted(tree, &answer, hf_iggy_session_state, hf_iggy_session_assignment);
}

void iggy_sessions_show(iggy_pdu_t *pdu, proto_tree *tree)
{
    if (!session_wanted(tree))
        return;
    const iggy_session_t *session = pdu->place->replica ? NULL : iggy_sessions_of(pdu);
    if (!session)
        return;
    if (tree)
        show_session(pdu, tree, session);
    /* the first frame's, for the filters in the menu */
    if (!p_get_proto_data(pdu->pinfo->pool, pdu->pinfo, proto_iggy, SESSION_KEY))
        p_add_proto_data(pdu->pinfo->pool, pdu->pinfo, proto_iggy, SESSION_KEY, (void *)session);
}

/* ---- filters in Wireshark's menu ---- */

static const iggy_session_t *session_of_packet(packet_info *pinfo)
{
    return (const iggy_session_t *)p_get_proto_data(pinfo->pool, pinfo, proto_iggy, SESSION_KEY);
}

static char *client_filter(packet_info *pinfo)
{
    const iggy_session_t *session = session_of_packet(pinfo);
    if (!session)
        return NULL;
    e_guid_t guid = iggy_session_guid(session);
    return g_strdup_printf("iggy.session.client == %s", guid_to_str(pinfo->pool, &guid));
}

static char *session_filter(packet_info *pinfo)
{
    const iggy_session_t *session = session_of_packet(pinfo);
    char *client = client_filter(pinfo);
    if (!client || !session->number)
        return client;
    char *filter = g_strdup_printf("%s && iggy.session.number == %" PRIu64, client, session->number);
    g_free(client);
    return filter;
}

static iggy_bool has_client(packet_info *pinfo IGGY_FILTER_DATA) { return session_of_packet(pinfo) != NULL; }

static iggy_bool has_session(packet_info *pinfo IGGY_FILTER_DATA)
{
    const iggy_session_t *session = session_of_packet(pinfo);
    return session && session->number;
}

static char *build_client_filter(packet_info *pinfo IGGY_FILTER_DATA) { return client_filter(pinfo); }

static char *build_session_filter(packet_info *pinfo IGGY_FILTER_DATA) { return session_filter(pinfo); }

/* ---- registration ---- */

void iggy_register_sessions(int proto)
{
    static hf_register_info hf[] = {
        { &hf_iggy_session_state, { "Session", "iggy.session.state", FT_NONE, BASE_NONE, NULL, 0,
                                    "What earlier frames told of the session, on all its connections", HFILL } },
        { &hf_iggy_session_client, { "Client", "iggy.session.client", FT_GUID, BASE_NONE, NULL, 0,
                                     "The client id of the session, on replies too", HFILL } },
        { &hf_iggy_session_number, { "Session number", "iggy.session.number", FT_UINT64, BASE_DEC, NULL, 0,
                                     "Given by the server at the login", HFILL } },
        { &hf_iggy_session_user, { "User", "iggy.session.user", FT_STRING, BASE_NONE, NULL, 0,
                                   "Who logged in; of a login by token as soon as the id has a name", HFILL } },
        { &hf_iggy_session_user_id, { "User id", "iggy.session.user_id", FT_UINT32, BASE_DEC, NULL, 0, NULL, HFILL } },
        { &hf_iggy_session_sdk, { "SDK", "iggy.session.sdk", FT_STRING, BASE_NONE, NULL, 0, "Name of the client's SDK", HFILL } },
        { &hf_iggy_session_sdk_version, { "SDK version", "iggy.session.sdk_version", FT_STRING, BASE_NONE, NULL, 0, NULL,
                                          HFILL } },
        { &hf_iggy_session_protocol_version, { "Protocol version of the client", "iggy.session.protocol_version", FT_UINT32,
                                               BASE_HEX, VALS(iggy_version_vals), 0, NULL, HFILL } },
        { &hf_iggy_session_server_version, { "Protocol version of the server", "iggy.session.server_protocol_version",
                                             FT_UINT32, BASE_HEX, VALS(iggy_version_vals), 0, NULL, HFILL } },
        { &hf_iggy_session_server_build, { "Server", "iggy.session.server_build", FT_STRING, BASE_NONE, NULL, 0,
                                           "Build of the server", HFILL } },
        { &hf_iggy_session_login_time, { "Login time", "iggy.session.login_time", FT_ABSOLUTE_TIME, ABSOLUTE_TIME_UTC, NULL, 0,
                                         "When the server answered the login", HFILL } },
        { &hf_iggy_session_consumer_group, { "Consumer group", "iggy.session.consumer_group", FT_STRING, BASE_NONE, NULL, 0,
                                             "Stream, topic and group that the session joined", HFILL } },
        { &hf_iggy_session_assignment, { "Assignment", "iggy.session.assignment", FT_STRING, BASE_NONE, NULL, 0,
                                         "Partitions that the group gave to this session", HFILL } },
    };
    static int *ett[] = { &ett_iggy_session };
    proto_register_field_array(proto, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    iggy_register_conversation_filter("Iggy Client", has_client, build_client_filter);
    iggy_register_conversation_filter("Iggy Session", has_session, build_session_filter);
}
