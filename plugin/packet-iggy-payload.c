/* packet-iggy-payload.c
 * Payloads of messages: bytes, text where they are printable, and the hand-off to other dissectors.
 *
 * Who gets a payload, the first that takes it:
 *   1. the protocol of the first row of the user table that fits stream and topic,
 *   2. the entry for "stream/topic" in the dissector table "iggy.topic" (Decode As, other plugins, Lua),
 *   3. the entry for the content type of the user headers in the table "media_type",
 *   4. the heuristic dissectors in the list "iggy.payload",
 *   5. the JSON dissector, if the payload is JSON.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-payload.h"

#include <stdio.h>
#include <string.h>

#include <epan/conversation.h>
#include <epan/decode_as.h>
#include <epan/exceptions.h>
#include <epan/prefs.h>
#include <epan/proto_data.h>
#include <epan/show_exception.h>
#include <epan/uat.h>
#include <wsutil/wsjson.h>

#include "packet-iggy-conversation.h"
#include "packet-iggy-names.h"
#include "packet-iggy-wanted.h"

#define TEXT_LIMIT 65536   /* bytes of a payload that are looked at as text */
#define TREE_LIMIT 450000u /* items of a packet's tree from which on nothing is handed off: Wireshark gives up at 1,000,000 */
#define PAYLOAD_ITEMS_A_BYTE 2u /* at most, of what another dissector makes of a payload */
#define LAYERS_KEPT 16u    /* protocols of payloads that a packet names: it may have 500 layers, and messages are many */
#define TOPIC_KEY 0x70u    /* of the packet's data for Decode As */

static int hf_iggy_message_payload = IGGY_UNREGISTERED;
static int hf_iggy_message_payload_text = IGGY_UNREGISTERED;
static int ett_iggy_message_payload = IGGY_UNREGISTERED;

static iggy_bool hand_off = true;
static iggy_bool show_text = true;

static dissector_table_t      topic_table, media_type_table;
static heur_dissector_list_t  heuristics;
static dissector_handle_t     json_handle, protobuf_handle;

/* ---- the user table ---- */

typedef enum { MATCH_EQUALS, MATCH_CONTAINS, MATCH_REGEX } match_kind_t;

static const value_string match_vals[] = {
    { MATCH_EQUALS, "equals" }, { MATCH_CONTAINS, "contains" }, { MATCH_REGEX, "regex" }, { 0, NULL }
};

typedef struct {
    char    *stream;   /* name or id; empty: any */
    unsigned match;    /* match_kind_t, of the topic */
    char    *topic;    /* name or id, or part of it, or a pattern; empty: any */
    char    *protocol; /* a dissector's name */
    char    *argument; /* protobuf: the full name of the message type */
    GRegex  *regex;
    dissector_handle_t handle;
} payload_rule_t;

static payload_rule_t *rules;
static unsigned        rules_count;

UAT_CSTRING_CB_DEF(rules, stream, payload_rule_t)
UAT_VS_DEF(rules, match, payload_rule_t, unsigned, MATCH_EQUALS, "equals")
UAT_CSTRING_CB_DEF(rules, topic, payload_rule_t)
UAT_CSTRING_CB_DEF(rules, protocol, payload_rule_t)
UAT_CSTRING_CB_DEF(rules, argument, payload_rule_t)

static void *rule_copy(void *to, const void *from, size_t length _U_)
{
    payload_rule_t *copy = (payload_rule_t *)to;
    const payload_rule_t *rule = (const payload_rule_t *)from;

    copy->stream = g_strdup(rule->stream);
    copy->match = rule->match;
    copy->topic = g_strdup(rule->topic);
    copy->protocol = g_strdup(rule->protocol);
    copy->argument = g_strdup(rule->argument);
    copy->regex = rule->regex ? g_regex_ref(rule->regex) : NULL;
    copy->handle = rule->handle;
    return copy;
}

static bool rule_pattern(payload_rule_t *rule, char **error)
{
    GError *why = NULL;

    if (rule->regex)
        g_regex_unref(rule->regex);
    rule->regex = rule->match == MATCH_REGEX ? g_regex_new(rule->topic, G_REGEX_OPTIMIZE, (GRegexMatchFlags)0, &why) : NULL;
    if (!why)
        return true;
    *error = g_strdup_printf("The topic is no pattern: %s", why->message);
    g_error_free(why);
    return false;
}

static iggy_bool rule_update(void *record, char **error)
{
    payload_rule_t *rule = (payload_rule_t *)record;

    g_strstrip(rule->protocol);
    rule->handle = find_dissector(rule->protocol);
    if (!rule->handle) {
        *error = g_strdup_printf("There is no dissector \"%s\"", rule->protocol);
        return false;
    }
    return rule_pattern(rule, error);
}

static void rule_free(void *record)
{
    payload_rule_t *rule = (payload_rule_t *)record;

    g_free(rule->stream);
    g_free(rule->topic);
    g_free(rule->protocol);
    g_free(rule->argument);
    if (rule->regex)
        g_regex_unref(rule->regex);
}

/* ---- where a payload belongs ---- */

/* Texts of stream and topic, in packet scope: names and ids, NULL where they are not known. */
typedef struct {
    const char *stream_name, *stream_id, *topic_name, *topic_id;
    const char *content_type;
} place_t;

/* A reply seldom says whose messages it carries: its request has. */
static const iggy_kept_fact_t *request_fact(const iggy_pdu_t *pdu, iggy_fact_t fact)
{
    return pdu->exchange ? iggy_kept_fact((const iggy_kept_t *)pdu->exchange->request_facts, fact) : NULL;
}

static const char *fact_text(const iggy_pdu_t *pdu, iggy_fact_t fact)
{
    const iggy_kept_fact_t *kept = request_fact(pdu, fact);

    if (iggy_has(pdu->facts, fact))
        return pdu->facts->at[fact].text;
    return kept && kept->has ? kept->text : NULL;
}

static const char *fact_number(const iggy_pdu_t *pdu, iggy_fact_t fact)
{
    const iggy_kept_fact_t *kept = request_fact(pdu, fact);

    if (!iggy_has(pdu->facts, fact) && !(kept && kept->has))
        return NULL;
    uint64_t value = iggy_has(pdu->facts, fact) ? pdu->facts->at[fact].value : kept->value;
    return wmem_strdup_printf(pdu->pinfo->pool, "%" PRIu64, value);
}

static place_t place_of(iggy_pdu_t *pdu, const char *content_type)
{
    place_t place = {
        fact_text(pdu, IGGY_FACT_STREAM_NAME), fact_number(pdu, IGGY_FACT_STREAM_ID),
        fact_text(pdu, IGGY_FACT_TOPIC_NAME),  fact_number(pdu, IGGY_FACT_TOPIC_ID),
        content_type,
    };
    return place;
}

static bool same(const char *text, const char *other) { return text && strcmp(text, other) == 0; }

static bool topic_fits(const payload_rule_t *rule, const place_t *place)
{
    if (!*rule->topic)
        return true;
    if (rule->match == MATCH_EQUALS)
        return same(place->topic_name, rule->topic) || same(place->topic_id, rule->topic);
    if (!place->topic_name)
        return false;
    if (rule->match == MATCH_CONTAINS)
        return strstr(place->topic_name, rule->topic) != NULL;
    return rule->regex && g_regex_match(rule->regex, place->topic_name, (GRegexMatchFlags)0, NULL);
}

static const payload_rule_t *find_rule(const place_t *place)
{
    for (unsigned i = 0; i < rules_count; i++) {
        const payload_rule_t *rule = &rules[i];
        bool stream_fits = !*rule->stream || same(place->stream_name, rule->stream) || same(place->stream_id, rule->stream);
        if (stream_fits && topic_fits(rule, place))
            return rule;
    }
    return NULL;
}

/* "stream/topic" by names if both are known, else by ids; NULL if neither is whole. */
static const char *topic_path(packet_info *pinfo, const place_t *place, bool by_name)
{
    const char *stream = by_name ? place->stream_name : place->stream_id;
    const char *topic = by_name ? place->topic_name : place->topic_id;

    return stream && topic ? wmem_strdup_printf(pinfo->pool, "%s/%s", stream, topic) : NULL;
}

/* ---- Decode As ---- */

static void *topic_value(packet_info *pinfo)
{
    const char *topic = (const char *)p_get_proto_data(pinfo->pool, pinfo, proto_iggy, TOPIC_KEY);
    return topic && *topic ? (void *)topic : NULL;
}

static void topic_prompt(packet_info *pinfo, char *result)
{
    const char *topic = (const char *)topic_value(pinfo);
    snprintf(result, MAX_DECODE_AS_PROMPT_LEN, "Iggy topic %s as", topic ? topic : "unknown");
}

static void register_topic_table(int proto)
{
    static build_valid_func values[] = { topic_value };
    static decode_as_value_t prompts[] = { { topic_prompt, 1, values } };
    static decode_as_t topic_decode_as = {
        "iggy", "iggy.topic", 1, 0, prompts, NULL, NULL, decode_as_default_populate_list, decode_as_default_reset,
        decode_as_default_change, NULL,
    };

    topic_table = register_dissector_table("iggy.topic", "Iggy stream/topic", proto, FT_STRING, STRING_CASE_SENSITIVE);
    register_decode_as(&topic_decode_as);
}

/* ---- who looks at payloads ---- */

/* Protocols that a content type, or the bytes, may hand a payload to. */
static const char *const usual_protocols[] = {
    "json", "xml", "protobuf", "msgpack", "cbor", "data-text-lines", "urlencoded-form", "mime_multipart", "png", "image-gif",
    "image-jfif",
};

/*
 * Of all protocols that may get a payload what the registry knows: the usual ones, those that tell by the bytes, those of the
 * rules and of Decode As. Gathered once a capture: whoever changes rules or Decode As has it dissected anew.
 */
static GPtrArray *receivers;
static unsigned   takers; /* of them those that tell by the bytes, and those of Decode As */
static bool       states; /* one of them is none of the usual ones, and may keep state */

static void forget_receivers(void)
{
    if (receivers)
        g_ptr_array_free(receivers, TRUE);
    receivers = NULL;
    takers = 0;
    states = false;
}

static void add_receiver(int number)
{
    if (number > 0)
        g_ptr_array_add(receivers, proto_registrar_get_nth((unsigned)number));
}

static void add_handle(dissector_handle_t handle)
{
    if (handle)
        add_receiver(dissector_handle_get_protocol_index(handle));
}

static void add_entry(const char *table _U_, ftenum_t type _U_, void *key _U_, void *value, void *data _U_)
{
    takers++;
    add_handle(dtbl_entry_get_handle((dtbl_entry_t *)value));
}

static void add_heuristic(const char *table _U_, struct heur_dtbl_entry *entry, void *data _U_)
{
    takers++;
    if (entry->protocol)
        add_receiver(proto_get_id(entry->protocol));
}

/* Whether one of those after the first `count` is none of these. */
static bool any_beyond(unsigned count)
{
    for (unsigned i = count; i < receivers->len; i++) {
        unsigned at = 0;
        while (at < count && g_ptr_array_index(receivers, at) != g_ptr_array_index(receivers, i))
            at++;
        if (at == count)
            return true;
    }
    return false;
}

static void gather_receivers(void)
{
    receivers = g_ptr_array_new();
    for (unsigned i = 0; i < array_length(usual_protocols); i++)
        add_receiver(proto_get_id_by_filter_name(usual_protocols[i]));
    unsigned usual = receivers->len;
    heur_dissector_table_foreach("iggy.payload", add_heuristic, NULL);
    for (unsigned i = 0; i < rules_count; i++)
        add_handle(rules[i].handle);
    dissector_table_foreach("iggy.topic", add_entry, NULL);
    states = any_beyond(usual);
}

/* Who keeps state has to see all payloads in the first pass, in which nobody may look: the second would show less. */
static bool keeps_state(void)
{
    if (!receivers)
        gather_receivers();
    return states;
}

static unsigned takers_count(void)
{
    if (!receivers)
        gather_receivers();
    return takers;
}

static bool look_at_all(proto_tree *tree)
{
    if (PTREE_DATA(tree)->visible || !PTREE_DATA(tree)->fake_protocols)
        return true;
    if (!receivers)
        gather_receivers();
    for (unsigned i = 0; i < receivers->len; i++)
        if (((const header_field_info *)g_ptr_array_index(receivers, i))->ref_type != HF_REF_TYPE_NONE)
            return true;
    return false;
}

bool iggy_payload_wanted(proto_tree *tree)
{
    static iggy_answer_t answer;

    if (!hand_off || iggy_always_wanted())
        return hand_off;
    if (keeps_state() || !tree)
        return keeps_state();
    if (!iggy_answered(&answer))
        answer.yes = look_at_all(tree);
    return answer.yes;
}

/* ---- the hand-off ---- */

/* What a foreign dissector may change and must not: the rest of the packet goes on as if it had not been called. */
typedef struct {
    const char *protocol, *match_string;
    uint32_t    match_number, source_port, destination_port, desegment_length;
    port_type   ports;
    iggy_bool   writable, by_ports, fragmented;
    int         desegment_offset;
    uint16_t    can_desegment, saved_can_desegment;
    uint8_t     layer;
    unsigned    layers;
    struct conversation_element *conversation;
    address     addresses[6];
} guard_t;

/* A packet as a payload brings addresses of its own. */
static void copy_addresses(address *to, const packet_info *pinfo)
{
    const address all[] = { pinfo->src, pinfo->dst, pinfo->net_src, pinfo->net_dst, pinfo->dl_src, pinfo->dl_dst };
    memcpy(to, all, sizeof all);
}

static void restore_addresses(packet_info *pinfo, const address *from)
{
    pinfo->src = from[0];
    pinfo->dst = from[1];
    pinfo->net_src = from[2];
    pinfo->net_dst = from[3];
    pinfo->dl_src = from[4];
    pinfo->dl_dst = from[5];
}

/* A conversation of the topic, so that no dissector of payloads lands in the TCP connection's. */
static struct conversation_element *topic_conversation(packet_info *pinfo, const char *topic)
{
    conversation_element_t *elements = wmem_alloc0_array(pinfo->pool, conversation_element_t, 2);

    elements[0].type = CE_STRING;
    elements[0].str_val = wmem_strdup_printf(pinfo->pool, "iggy %s", topic ? topic : "");
    elements[1].type = CE_CONVERSATION_TYPE;
    elements[1].conversation_type_val = CONVERSATION_NONE;
    return elements;
}

static guard_t guard_up(packet_info *pinfo, const char *topic)
{
    guard_t guard = {
        .protocol = pinfo->current_proto, .match_string = pinfo->match_string, .match_number = pinfo->match_uint,
        .source_port = pinfo->srcport, .destination_port = pinfo->destport, .desegment_length = pinfo->desegment_len,
        .ports = pinfo->ptype, .writable = col_get_writable(pinfo->cinfo, -1),
        .by_ports = pinfo->use_conv_addr_port_endpoints, .fragmented = pinfo->fragmented,
        .desegment_offset = pinfo->desegment_offset, .can_desegment = pinfo->can_desegment,
        .saved_can_desegment = pinfo->saved_can_desegment, .layer = (uint8_t)pinfo->curr_layer_num,
        .layers = wmem_list_count(pinfo->layers), .conversation = pinfo->conv_elements,
    };

    copy_addresses(guard.addresses, pinfo);
    col_set_writable(pinfo->cinfo, -1, false);
    pinfo->can_desegment = 0;
    pinfo->use_conv_addr_port_endpoints = false;
    pinfo->conv_elements = topic_conversation(pinfo, topic);
    pinfo->ptype = PT_NONE;
    pinfo->srcport = pinfo->destport = 0;
    return guard;
}

static void guard_down(packet_info *pinfo, const guard_t *guard, bool failed)
{
    col_set_writable(pinfo->cinfo, -1, guard->writable);
    pinfo->current_proto = guard->protocol;
    pinfo->match_string = guard->match_string;
    pinfo->match_uint = guard->match_number;
    pinfo->srcport = guard->source_port;
    pinfo->destport = guard->destination_port;
    pinfo->ptype = guard->ports;
    pinfo->use_conv_addr_port_endpoints = guard->by_ports;
    pinfo->conv_elements = guard->conversation;
    pinfo->fragmented = guard->fragmented;
    pinfo->can_desegment = guard->can_desegment;
    pinfo->saved_can_desegment = guard->saved_can_desegment;
    pinfo->desegment_offset = guard->desegment_offset;
    pinfo->desegment_len = guard->desegment_length;
    restore_addresses(pinfo, guard->addresses);
    pinfo->curr_layer_num = guard->layer;
    while (wmem_list_count(pinfo->layers) > guard->layers && (failed || guard->layers > LAYERS_KEPT))
        wmem_list_remove_frame(pinfo->layers, wmem_list_tail(pinfo->layers));
}

/* Only protobuf knows what to do with a text; other dissectors would take it for a struct of their own. */
static void *rule_argument(packet_info *pinfo, const payload_rule_t *rule)
{
    if (rule->handle != protobuf_handle || !*rule->argument)
        return NULL;
    if (strchr(rule->argument, ','))
        return rule->argument;
    return wmem_strdup_printf(pinfo->pool, "message,%s", rule->argument);
}

static bool try_topic(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, const place_t *place)
{
    for (int by_name = 1; by_name >= 0; by_name--) {
        const char *topic = topic_path(pinfo, place, by_name);
        if (topic && iggy_try_string(topic_table, topic, tvb, pinfo, tree))
            return true;
    }
    return false;
}

/* Type and subtype alone: parameters are no key of the table, which does not mind the case. */
static bool try_content_type(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, const char *content_type)
{
    if (!content_type || !media_type_table)
        return false;
    char *type = wmem_strndup(pinfo->pool, content_type, strcspn(content_type, "; \t"));
    return iggy_try_string(media_type_table, type, tvb, pinfo, tree) > 0;
}

static bool is_json(const uint8_t *bytes, unsigned length)
{
    unsigned first = 0;

    while (first < length && g_ascii_isspace(bytes[first]))
        first++;
    return first < length && (bytes[first] == '{' || bytes[first] == '[') && json_validate(bytes, length);
}

static bool try_all(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, const place_t *place, const char *topic)
{
    heur_dtbl_entry_t *entry = NULL;
    const payload_rule_t *rule = find_rule(place);

    if (rule && call_dissector_only(rule->handle, tvb, pinfo, tree, rule_argument(pinfo, rule)) > 0)
        return true;
    if (try_topic(tvb, pinfo, tree, place) || try_content_type(tvb, pinfo, tree, place->content_type))
        return true;
    char *data = wmem_strdup(pinfo->pool, topic ? topic : "");
    if (dissector_try_heuristic(heuristics, tvb, pinfo, tree, &entry, data))
        return true;
    unsigned length = tvb_captured_length(tvb);
    return json_handle && is_json(tvb_get_ptr(tvb, 0, (int)length), length) &&
           call_dissector_only(json_handle, tvb, pinfo, tree, NULL) > 0;
}

/* Whether nobody but JSON's dissector may take a payload of this content type, and the packet's topic is told. */
static bool is_for_json_alone(packet_info *pinfo, const char *content_type)
{
    return !content_type && !rules_count && !takers_count() && p_get_proto_data(pinfo->pool, pinfo, proto_iggy, TOPIC_KEY);
}

/* Another dissector gets the payload; whatever it does, only its own part of the tree is lost. */
static void hand_to_others(iggy_walk_t *walk, int offset, int length, proto_tree *tree, const char *content_type)
{
    packet_info *pinfo = walk->pdu->pinfo;
    if (is_for_json_alone(pinfo, content_type) && !is_json(tvb_get_ptr(walk->tvb, offset, length), (unsigned)length))
        return;
    tvbuff_t *tvb = tvb_new_subset_length(walk->tvb, offset, length);
    place_t place = place_of(walk->pdu, content_type);
    const char *by_name = topic_path(pinfo, &place, true);
    const char *topic = by_name ? by_name : topic_path(pinfo, &place, false);
    volatile bool failed = false;

    if (!p_get_proto_data(pinfo->pool, pinfo, proto_iggy, TOPIC_KEY))
        p_add_proto_data(pinfo->pool, pinfo, proto_iggy, TOPIC_KEY, wmem_strdup(pinfo->pool, topic ? topic : ""));
    guard_t guard = guard_up(pinfo, topic);
    TRY
    {
        try_all(tvb, pinfo, tree, &place, topic);
    }
    CATCH_ALL
    {
        if (EXCEPT_CODE == OutOfMemoryError)
            RETHROW;
        failed = true;
        show_exception(tvb, pinfo, tree, EXCEPT_CODE, GET_MESSAGE);
    }
    ENDTRY;
    guard_down(pinfo, &guard, failed);
}

/* ---- showing ---- */

/* UTF-8 without control characters but tab and the ends of lines. */
static bool is_text(const uint8_t *bytes, int length)
{
    for (int i = 0; i < length; i++)
        if ((bytes[i] < 0x20 && bytes[i] != '\t' && bytes[i] != '\n' && bytes[i] != '\r') || bytes[i] == 0x7f)
            return false;
    return g_utf8_validate((const char *)bytes, length, NULL);
}

static bool room_for(proto_tree *tree, int length)
{
    return !tree || PTREE_DATA(tree)->count + (uint64_t)length * PAYLOAD_ITEMS_A_BYTE < TREE_LIMIT;
}

void iggy_show_payload(iggy_walk_t *walk, proto_tree *tree, int offset, int length, const char *content_type)
{
    if (length <= 0)
        return;
    proto_item *item = NULL;
    if (iggy_walk_wants(walk, tree, hf_iggy_message_payload))
        item = proto_tree_add_item(tree, hf_iggy_message_payload, walk->tvb, offset, length, ENC_NA);
    walk->items++;
    if (show_text && length <= TEXT_LIMIT && iggy_walk_wants(walk, tree, hf_iggy_message_payload_text) &&
        is_text(tvb_get_ptr(walk->tvb, offset, length), length)) {
        proto_tree_add_item(tree, hf_iggy_message_payload_text, walk->tvb, offset, length, ENC_UTF_8 | ENC_NA);
        walk->items++;
    }
    if (hand_off && (!walk->rows_alone || iggy_payload_wanted(tree)) && room_for(tree, length))
        hand_to_others(walk, offset, length, item ? proto_item_add_subtree(item, ett_iggy_message_payload) : tree, content_type);
}

/* ---- registration ---- */

static void register_preferences(void)
{
    static uat_field_t fields[] = {
        UAT_FLD_CSTRING(rules, stream, "Stream", "Name or id of the stream; empty: all streams"),
        UAT_FLD_VS(rules, match, "Match", match_vals, "How the next column is compared with the topic's name"),
        UAT_FLD_CSTRING(rules, topic, "Topic", "Name or id, part of the name, or pattern; empty: all topics"),
        UAT_FLD_CSTRING(rules, protocol, "Protocol", "Dissector for the payload"),
        UAT_FLD_CSTRING(rules, argument, "Argument", "protobuf: full name of the message type"),
        UAT_END_FIELDS
    };
    uat_t *table = uat_new("Iggy payloads", sizeof(payload_rule_t), "iggy_payloads", true, &rules, &rules_count,
                           UAT_AFFECTS_DISSECTION | UAT_AFFECTS_FIELDS, NULL, rule_copy, rule_update, rule_free, NULL, NULL,
                           fields);

    prefs_register_bool_preference(iggy_preferences, "payload_hand_off", "Hand payloads to other dissectors",
                                   "By the table below, Decode As, content type of the user headers, or because it is JSON.",
                                   &hand_off);
    prefs_register_uat_preference(iggy_preferences, "payloads", "Payloads", "Dissectors for payloads by stream and topic",
                                  table);
    prefs_register_bool_preference(iggy_preferences, "payload_text", "Show payloads as text",
                                   "Show a payload that is printable UTF-8 as text beside its bytes.", &show_text);
}

void iggy_register_payload(int proto)
{
    static hf_register_info hf[] = {
        { &hf_iggy_message_payload,
          { "Payload", "iggy.message.payload", FT_BYTES, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_message_payload_text,
          { "Payload as text", "iggy.message.payload_text", FT_STRING, BASE_NONE, NULL, 0x0, "Where it is printable UTF-8",
            HFILL } },
    };
    static int *ett[] = { &ett_iggy_message_payload };

    proto_register_field_array(proto, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    heuristics = register_heur_dissector_list("iggy.payload", proto);
    register_topic_table(proto);
    register_preferences();
    register_init_routine(forget_receivers);
}

/* What Decode As offers for a topic; a plugin that has more adds itself. */
static void offer_dissectors(void)
{
    static const char *const names[] = {
        "json", "xml", "protobuf", "msgpack", "cbor", "data-text-lines", "syslog", "hl7", "fix", "thrift",
    };

    for (unsigned i = 0; i < array_length(names); i++) {
        dissector_handle_t handle = find_dissector(names[i]);
        if (handle)
            dissector_add_for_decode_as("iggy.topic", handle);
    }
}

void iggy_handoff_payload(void)
{
    offer_dissectors();
    media_type_table = find_dissector_table("media_type");
    json_handle = find_dissector("json");
    protobuf_handle = find_dissector("protobuf");
}
