/* packet-iggy-conversation.c
 * The record of each frame: version, exchange, notes. The first pass writes them, all passes show what they say.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-conversation.h"

#include <string.h>

#include <epan/conversation_filter.h>
#include <epan/expert.h>
#include <epan/proto_data.h>

#include "packet-iggy-commands.h"
#include "packet-iggy-connection.h"
#include "packet-iggy-headers.h"
#include "packet-iggy-names.h"
#include "packet-iggy-sessions.h"
#include "packet-iggy-text.h"
#include "packet-iggy-values.h"
#include "packet-iggy-wanted.h"

#define BLOCK_SMALL 16u  /* records in each of the first blocks; connections are often short */
#define BLOCKS_SMALL 8u
#define BLOCK_LARGE 256u /* in all later ones */

static int hf_iggy_version = IGGY_UNREGISTERED;
static int hf_iggy_version_known = IGGY_UNREGISTERED;
int hf_iggy_response_in = IGGY_UNREGISTERED;
int hf_iggy_response_to = IGGY_UNREGISTERED;
int hf_iggy_response_time = IGGY_UNREGISTERED;
static int hf_iggy_retry = IGGY_UNREGISTERED;
static int hf_iggy_retry_of = IGGY_UNREGISTERED;
static int hf_iggy_retried_in = IGGY_UNREGISTERED;
static int hf_iggy_cancels = IGGY_UNREGISTERED;
static int hf_iggy_cancelled_in = IGGY_UNREGISTERED;
static int hf_iggy_evicted_in = IGGY_UNREGISTERED;

static expert_field ei_iggy_version_newer = EI_INIT;
static expert_field ei_iggy_version_older = EI_INIT;
static expert_field ei_iggy_version_assumed = EI_INIT;
static expert_field ei_iggy_no_request = EI_INIT;
static expert_field ei_iggy_reply_again = EI_INIT;
static expert_field ei_iggy_other_connection = EI_INIT;
static expert_field ei_iggy_no_reply = EI_INIT;
static expert_field ei_iggy_in_doubt = EI_INIT;
static expert_field ei_iggy_given_up = EI_INIT;
static expert_field ei_iggy_evicted = EI_INIT;
static expert_field ei_iggy_retry = EI_INIT;
static expert_field ei_iggy_stale_write = EI_INIT;
static expert_field ei_iggy_fenced = EI_INIT;
static expert_field ei_iggy_failed_login = EI_INIT;

static const value_string known_vals[] = {
    { IGGY_KNOWN_PREFERENCE, "preference" },
    { IGGY_KNOWN_SIGN, "sign" },
    { IGGY_KNOWN_LAYOUT, "layout" },
    { IGGY_KNOWN_CLUSTER, "cluster" },
    { IGGY_KNOWN_SESSION, "session" },
    { IGGY_KNOWN_LOGIN, "login" },
    { 0, NULL }
};

iggy_conversation_t *iggy_conversation_new(void)
{
    iggy_conversation_t *conversation = wmem_new0(wmem_file_scope(), iggy_conversation_t);
    iggy_versions_init(&conversation->versions);
    iggy_pairs_init(&conversation->pairs);
    return conversation;
}

/* ---- records ---- */

/* Block and place in it of the record with this index. */
static inline unsigned block_of(unsigned number, unsigned *at, unsigned *room)
{
    const unsigned small = BLOCKS_SMALL * BLOCK_SMALL; /* records in small blocks */
    bool large = number >= small;
    *room = large ? BLOCK_LARGE : BLOCK_SMALL;
    number -= large ? small : 0;
    *at = number % *room;
    return number / *room + (large ? BLOCKS_SMALL : 0);
}

static iggy_frame_t *record_at(const iggy_records_t *records, unsigned number)
{
    unsigned at, room, block = block_of(number, &at, &room);
    return &records->blocks[block][at];
}

static iggy_frame_t *add_record(iggy_records_t *records)
{
    unsigned at, room, block = block_of(records->count, &at, &room);
    if (block >= records->blocks_room) {
        records->blocks_room = records->blocks_room ? 2 * records->blocks_room : 2;
        records->blocks = (iggy_frame_t **)wmem_realloc(wmem_file_scope(), records->blocks,
                                                        records->blocks_room * sizeof *records->blocks);
    }
    if (!at)
        records->blocks[block] = wmem_alloc_array(wmem_file_scope(), iggy_frame_t, room);
    records->count++;
    return &records->blocks[block][at];
}

/* Index of the first record of a packet, or of the first after it. */
static unsigned first_of_packet(const iggy_records_t *records, uint32_t packet)
{
    unsigned low = 0, high = records->count;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (record_at(records, middle)->packet < packet)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Frames are mostly asked for in order, so that the next record is the right one, or in the first pass there is none yet. */
static iggy_frame_t *find_record(iggy_records_t *records, uint32_t packet, uint32_t position)
{
    uint32_t last = records->count ? record_at(records, records->count - 1)->packet : 0;
    if (last < packet)
        return NULL;
    for (unsigned i = records->cursor; i < records->count && i < records->cursor + 2; i++) {
        iggy_frame_t *frame = record_at(records, i);
        if (frame->packet == packet && frame->position == position) {
            records->cursor = i;
            return frame;
        }
    }
    if (last == packet && (int32_t)(position - records->last_packet_top) > 0)
        return NULL; /* behind all that the packet had so far: it may have very many frames */
    unsigned first = last == packet ? records->last_packet_at : first_of_packet(records, packet);
    for (unsigned i = first; i < records->count; i++) {
        iggy_frame_t *frame = record_at(records, i);
        if (frame->packet != packet)
            return NULL;
        if (frame->position == position) {
            records->cursor = i;
            return frame;
        }
    }
    return NULL;
}

static iggy_frame_t *make_record(iggy_conversation_t *conversation, const iggy_pdu_t *pdu)
{
    iggy_records_t *records = &conversation->records[pdu->place->side];
    if (!records->count || record_at(records, records->count - 1)->packet != pdu->pinfo->num)
        records->last_packet_at = records->count;
    if (records->last_packet_at == records->count || (int32_t)(pdu->place->position - records->last_packet_top) > 0)
        records->last_packet_top = pdu->place->position;
    iggy_frame_t *frame = add_record(records);
    memset(frame, 0, sizeof *frame);
    frame->packet = pdu->pinfo->num;
    frame->position = pdu->place->position;
    if (conversation->last_packet != frame->packet)
        conversation->last_ordinal = 0;
    if (conversation->last_ordinal < UINT16_MAX)
        conversation->last_ordinal++;
    conversation->last_packet = frame->packet;
    frame->ordinal = conversation->last_ordinal;
    return frame;
}

uint64_t iggy_conversation_order(const iggy_pdu_t *pdu)
{
    return (uint64_t)pdu->pinfo->num << 16 | (pdu->frame ? pdu->frame->ordinal : UINT16_MAX);
}

/* ---- the first pass ---- */

static void note_speaker(iggy_conversation_t *conversation, const iggy_pdu_t *pdu, iggy_client_t *client)
{
    if (conversation->speakers_count && conversation->speakers[conversation->speakers_count - 1].client == client)
        return;
    if (conversation->speakers_count == conversation->speakers_room) {
        conversation->speakers_room = conversation->speakers_room ? 2 * conversation->speakers_room : 1;
        conversation->speakers = (iggy_speaker_t *)wmem_realloc(wmem_file_scope(), conversation->speakers,
                                                                conversation->speakers_room * sizeof *conversation->speakers);
    }
    iggy_speaker_t *speaker = &conversation->speakers[conversation->speakers_count++];
    speaker->since = iggy_conversation_order(pdu);
    speaker->client = client;
}

iggy_client_t *iggy_conversation_client(const iggy_pdu_t *pdu)
{
    const iggy_conversation_t *conversation = pdu->place->conversation;
    if (!conversation)
        return NULL;
    uint64_t order = iggy_conversation_order(pdu);
    unsigned low = 0, high = conversation->speakers_count;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (conversation->speakers[middle].since <= order)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? conversation->speakers[low - 1].client : NULL;
}

static uint32_t request_code(iggy_pdu_t *pdu)
{
    if (pdu->operation == IGGY_OP_NON_REPLICATED)
        return (uint32_t)iggy_fact(pdu->facts, IGGY_FACT_CODE, 0);
    if (pdu->operation == IGGY_OP_REGISTER)
        return iggy_login_code(pdu);
    const iggy_command_t *command = iggy_command_of_operation(pdu->operation);
    return command ? command->code : 0;
}

/* The code that a reply's operation names, 0 for the operations of several commands. */
static uint32_t reply_code(const iggy_pdu_t *pdu)
{
    const iggy_operation_t *operation = iggy_operation(pdu->operation);
    const iggy_command_t *command = operation ? iggy_command_of_operation(operation->request) : NULL;
    return command ? command->code : 0;
}

static uint32_t number_of(const iggy_exchange_t *exchange) { return exchange ? exchange->number : 0; }

static void first_request(iggy_conversation_t *conversation, iggy_pdu_t *pdu, iggy_frame_t *frame)
{
    iggy_client_t *client = iggy_pairs_client(pdu, &conversation->pairs);
    if (client && client->version.known)
        iggy_versions_adopt(&conversation->versions, &client->version);
    const iggy_version_state_t *state = iggy_versions_at(&conversation->versions,
                                                         iggy_versions_current(&conversation->versions));
    if (client && state->known >= IGGY_KNOWN_SESSION)
        client->version = *state;
    if (client)
        note_speaker(conversation, pdu, client);
    pdu->code = request_code(pdu);
    frame->exchange = number_of(iggy_pairs_request(pdu, &conversation->pairs, &conversation->versions, &frame->notes));
}

static void first_reply(iggy_conversation_t *conversation, iggy_pdu_t *pdu, iggy_frame_t *frame)
{
    const iggy_exchange_t *exchange = iggy_pairs_reply(pdu, &conversation->pairs, &conversation->versions, &frame->notes);
    frame->exchange = number_of(exchange);
    pdu->code = exchange && exchange->code ? exchange->code : reply_code(pdu);
}

static iggy_frame_t *first_pass(iggy_conversation_t *conversation, iggy_pdu_t *pdu)
{
    iggy_frame_t *frame = make_record(conversation, pdu);
    pdu->frame = frame;
    iggy_names_attach(pdu);
    iggy_versions_before(pdu, &conversation->versions);
    bool keyed = iggy_has(pdu->facts, IGGY_FACT_REQUEST) && iggy_has(pdu->facts, IGGY_FACT_OPERATION);
    if (!pdu->place->replica) {
        if (pdu->command == IGGY_REQUEST && keyed)
            first_request(conversation, pdu, frame);
        else if (pdu->command == IGGY_REPLY && keyed)
            first_reply(conversation, pdu, frame);
        else if (pdu->command == IGGY_EVICTION)
            frame->exchange = number_of(iggy_pairs_eviction(pdu, &conversation->pairs));
    }
    iggy_versions_after(pdu, &conversation->versions);
    frame->version = (uint8_t)iggy_versions_current(&conversation->versions);
    return frame;
}

/* ---- all passes ---- */

static void fill_code(iggy_pdu_t *pdu)
{
    const iggy_exchange_t *exchange = pdu->exchange;
    if (exchange && exchange->code)
        pdu->code = exchange->code;
    else if (pdu->command == IGGY_REPLY)
        pdu->code = reply_code(pdu);
    else if (pdu->command == IGGY_REQUEST && !exchange)
        pdu->code = request_code(pdu);
}

void iggy_conversation_frame(iggy_pdu_t *pdu)
{
    iggy_conversation_t *conversation = pdu->place->conversation;
    pdu->response = pdu->command == IGGY_REPLY || pdu->command == IGGY_EVICTION;
    iggy_frame_t *frame = NULL;
    if (conversation) {
        frame = find_record(&conversation->records[pdu->place->side], pdu->pinfo->num, pdu->place->position);
        if (!frame && !PINFO_FD_VISITED(pdu->pinfo))
            frame = first_pass(conversation, pdu);
    }
    pdu->frame = frame;
    pdu->exchange = frame && !pdu->place->replica ? iggy_pairs_exchange(frame->exchange) : NULL;
    pdu->version = frame ? iggy_versions_at(&conversation->versions, frame->version)->version : iggy_version_preferred();
    fill_code(pdu);
}

bool iggy_conversation_response_time(const iggy_pdu_t *pdu, nstime_t *span)
{
    const iggy_exchange_t *exchange = pdu->exchange;
    if (!pdu->response || !exchange || !exchange->request_frame || exchange->state != IGGY_EXCHANGE_ANSWERED ||
        exchange->reply_frame != pdu->pinfo->num || (pdu->frame->notes & (IGGY_NOTE_AGAIN | IGGY_NOTE_LATER)))
        return false;
    nstime_t asked = iggy_request_time(exchange, &pdu->pinfo->abs_ts);
    nstime_delta(span, &pdu->pinfo->abs_ts, &asked);
    return true;
}

/* ---- what is shown ---- */

static proto_item *show_link(iggy_pdu_t *pdu, proto_tree *tree, int hf, uint32_t packet)
{
    proto_item *item = proto_tree_add_uint(tree, hf, pdu->tvb, 0, 0, packet);
    proto_item_set_generated(item);
    return item;
}

/* Bodies that differ between versions, and nothing tells which it is. */
static bool is_assumed(const iggy_pdu_t *pdu, const iggy_version_state_t *state)
{
    const iggy_command_t *command = pdu->command == IGGY_REPLY ? iggy_command(pdu->code) : NULL;
    bool differs = pdu->command == IGGY_PREPARE || pdu->command == IGGY_REPAIR_PREPARE ||
                   (command && (command->flags & IGGY_TELLS));
    return state->known == IGGY_KNOWN_PREFERENCE && pdu->size > IGGY_HEADER_SIZE && differs;
}

/* "Protocol version: 0.12.0 (0x00003000) (from the login)" */
static proto_item *add_version(iggy_pdu_t *pdu, proto_tree *tree, const iggy_version_state_t *state)
{
    const char *spelt = try_val_to_str(state->packed, iggy_version_vals);
    const char *known = val_to_str_const(state->known, known_vals, "preference");
    if (!spelt || !tree || !PTREE_DATA(tree)->visible) {
        proto_item *item = proto_tree_add_uint(tree, hf_iggy_version, pdu->tvb, 0, 0, state->packed);
        iggy_version_spell(item, state->packed);
        proto_item_append_text(item, " (from the %s)", known);
        return item;
    }
    iggy_line_t line;
    iggy_line_field(&line, hf_iggy_version);
    iggy_text_string(&line.text, spelt);
    iggy_text_string(&line.text, " (0x");
    iggy_text_hex(&line.text, state->packed, 8);
    iggy_text_string(&line.text, ") (from the ");
    iggy_text_string(&line.text, known);
    iggy_text_string(&line.text, ")");
    return proto_tree_add_uint_format(tree, hf_iggy_version, pdu->tvb, 0, 0, state->packed, "%s", line.buffer);
}

static void show_version(iggy_pdu_t *pdu, proto_tree *tree)
{
    const iggy_versions_t *versions = &pdu->place->conversation->versions;
    const iggy_version_state_t *state = iggy_versions_at(versions, pdu->frame->version);
    uint32_t packed = state->packed;
    proto_item *item = add_version(pdu, tree, state);
    proto_item_set_generated(item);
    if (packed > iggy_version_packed(IGGY_0_12_2))
        expert_add_info(pdu->pinfo, item, &ei_iggy_version_newer);
    else if (packed < iggy_version_packed(IGGY_0_11_0))
        expert_add_info(pdu->pinfo, item, &ei_iggy_version_older);
    else if (is_assumed(pdu, state))
        expert_add_info(pdu->pinfo, item, &ei_iggy_version_assumed);
    item = proto_tree_add_uint(tree, hf_iggy_version_known, pdu->tvb, 0, 0, state->known);
    proto_item_set_generated(item);
}

static void show_code(iggy_pdu_t *pdu, proto_tree *tree)
{
    bool on_the_wire = pdu->command == IGGY_REQUEST && pdu->operation == IGGY_OP_NON_REPLICATED;
    bool client = pdu->command == IGGY_REQUEST || pdu->response;
    if (iggy_rows_alone(tree) && !iggy_field_wanted(tree, hf_iggy_code))
        return;
    if (pdu->code && client && !on_the_wire)
        proto_item_set_generated(proto_tree_add_uint(tree, hf_iggy_code, pdu->tvb, 0, 0, pdu->code));
}

static void show_retry(iggy_pdu_t *pdu, proto_tree *tree, const iggy_exchange_t *exchange)
{
    const iggy_exchange_t *first = iggy_exchange_first(exchange);
    if (!first)
        return;
    if (exchange->flags & IGGY_EXCHANGE_CANCELS) {
        show_link(pdu, tree, hf_iggy_cancels, first->request_frame);
        return;
    }
    proto_item *item = proto_tree_add_boolean(tree, hf_iggy_retry, pdu->tvb, 0, 0, true);
    proto_item_set_generated(item);
    expert_add_info(pdu->pinfo, item, &ei_iggy_retry);
    show_link(pdu, tree, hf_iggy_retry_of, first->request_frame);
}

static void show_asides(iggy_pdu_t *pdu, proto_tree *tree, const iggy_exchange_t *exchange)
{
    const iggy_aside_t *aside = iggy_pairs_aside(exchange);
    if (!aside)
        return;
    if (aside->repeated_in)
        show_link(pdu, tree, hf_iggy_retried_in, aside->repeated_in);
    if (aside->cancelled_in)
        show_link(pdu, tree, hf_iggy_cancelled_in, aside->cancelled_in);
    if (aside->evicted_in) {
        proto_item *item = show_link(pdu, tree, hf_iggy_evicted_in, aside->evicted_in);
        expert_add_info(pdu->pinfo, item, &ei_iggy_evicted);
    }
}

/* Links forward: what became of a request is known once the capture was read. */
static void show_outcome(iggy_pdu_t *pdu, proto_tree *tree, const iggy_exchange_t *exchange)
{
    show_asides(pdu, tree, exchange);
    switch (exchange->state) {
    case IGGY_EXCHANGE_ANSWERED:
        show_link(pdu, tree, hf_iggy_response_in, exchange->reply_frame);
        break;
    case IGGY_EXCHANGE_OPEN:
        expert_add_info(pdu->pinfo, pdu->item,
                        exchange->flags & IGGY_EXCHANGE_IN_DOUBT ? &ei_iggy_in_doubt : &ei_iggy_no_reply);
        break;
    case IGGY_EXCHANGE_LOST:
        expert_add_info(pdu->pinfo, pdu->item, &ei_iggy_in_doubt);
        break;
    case IGGY_EXCHANGE_DROPPED:
        expert_add_info(pdu->pinfo, pdu->item, &ei_iggy_given_up);
        break;
    default:
        break;
    }
}

static void show_request(iggy_pdu_t *pdu, proto_tree *tree)
{
    const iggy_exchange_t *exchange = pdu->exchange;
    if (exchange) {
        show_retry(pdu, tree, exchange);
        if (PINFO_FD_VISITED(pdu->pinfo))
            show_outcome(pdu, tree, exchange);
    }
    if (pdu->frame->notes & IGGY_NOTE_STALE_WRITE)
        expert_add_info(pdu->pinfo, pdu->item, &ei_iggy_stale_write);
    if (pdu->frame->notes & IGGY_NOTE_FENCED)
        expert_add_info(pdu->pinfo, pdu->item, &ei_iggy_fenced);
}

static void show_response(iggy_pdu_t *pdu, proto_tree *tree)
{
    const iggy_exchange_t *exchange = pdu->exchange;
    uint8_t notes = pdu->frame->notes;
    bool known = exchange && exchange->request_frame && (!(notes & IGGY_NOTE_LATER) || PINFO_FD_VISITED(pdu->pinfo));
    if (known)
        show_link(pdu, tree, hf_iggy_response_to, exchange->request_frame);
    if (known && !(notes & IGGY_NOTE_LATER)) {
        nstime_t span, asked = iggy_request_time(exchange, &pdu->pinfo->abs_ts);
        nstime_delta(&span, &pdu->pinfo->abs_ts, &asked);
        proto_item_set_generated(proto_tree_add_time(tree, hf_iggy_response_time, pdu->tvb, 0, 0, &span));
    }
    if (notes & IGGY_NOTE_NO_REQUEST)
        expert_add_info_format(pdu->pinfo, pdu->item, &ei_iggy_no_request,
                               "The request of this reply is not in the capture before it%s",
                               notes & IGGY_NOTE_GIVEN_UP ? ", or was no longer waited for" : "");
    if (notes & IGGY_NOTE_AGAIN)
        expert_add_info(pdu->pinfo, pdu->item, &ei_iggy_reply_again);
    if (notes & IGGY_NOTE_ELSEWHERE)
        expert_add_info(pdu->pinfo, pdu->item, &ei_iggy_other_connection);
    if (notes & IGGY_NOTE_FAILED_LOGIN)
        expert_add_info(pdu->pinfo, pdu->item, &ei_iggy_failed_login);
}

/* Whether somebody looks for what earlier and later frames tell. */
static bool links_wanted(proto_tree *tree)
{
    static iggy_answer_t answer;
    return iggy_items_wanted(tree, &answer, hf_iggy_version, hf_iggy_evicted_in);
}

void iggy_conversation_show(iggy_pdu_t *pdu, proto_tree *tree)
{
    if (!pdu->frame)
        return;
    show_code(pdu, tree);
    if (!links_wanted(tree))
        return;
    if (pdu->command == IGGY_REQUEST)
        show_request(pdu, tree);
    else if (pdu->response)
        show_response(pdu, tree);
    show_version(pdu, tree);
}

void iggy_conversation_after_body(iggy_pdu_t *pdu)
{
    iggy_names_after_body(pdu);
    iggy_sessions_after_body(pdu);
}

/* ---- registration ---- */

static void register_fields(int proto)
{
    static hf_register_info hf[] = {
        { &hf_iggy_version, { "Protocol version", "iggy.version", FT_UINT32, BASE_HEX, VALS(iggy_version_vals), 0,
                              "Version that the connection speaks, packed as on the wire", HFILL } },
        { &hf_iggy_version_known, { "Version known from", "iggy.version.known", FT_UINT8, BASE_DEC, VALS(known_vals), 0,
                                    "How the version of the connection is known", HFILL } },
        { &hf_iggy_response_in, { "Response in", "iggy.response_in", FT_FRAMENUM, BASE_NONE,
                                  FRAMENUM_TYPE(FT_FRAMENUM_RESPONSE), 0, "The packet that completes the reply", HFILL } },
        { &hf_iggy_response_to, { "Response to", "iggy.response_to", FT_FRAMENUM, BASE_NONE,
                                  FRAMENUM_TYPE(FT_FRAMENUM_REQUEST), 0, "The packet that completes the request", HFILL } },
        { &hf_iggy_response_time, { "Response time", "iggy.response_time", FT_RELATIVE_TIME, BASE_NONE, NULL, 0,
                                    "Time from the end of the request to the end of the reply", HFILL } },
        { &hf_iggy_retry, { "Retry", "iggy.retry", FT_BOOLEAN, BASE_NONE, NULL, 0,
                            "The client sends this request again; absent where it does not", HFILL } },
        { &hf_iggy_retry_of, { "Retry of", "iggy.retry_of", FT_FRAMENUM, BASE_NONE,
                               FRAMENUM_TYPE(FT_FRAMENUM_RETRANS_PREV), 0, "The packet of the first request", HFILL } },
        { &hf_iggy_retried_in, { "Retried in", "iggy.retried_in", FT_FRAMENUM, BASE_NONE,
                                 FRAMENUM_TYPE(FT_FRAMENUM_RETRANS_NEXT), 0, "The packet of the last retry", HFILL } },
        { &hf_iggy_cancels, { "Cancels", "iggy.cancels", FT_FRAMENUM, BASE_NONE, FRAMENUM_TYPE(FT_FRAMENUM_REQUEST), 0,
                              "The packet of the request that this cancels", HFILL } },
        { &hf_iggy_cancelled_in, { "Cancelled in", "iggy.cancelled_in", FT_FRAMENUM, BASE_NONE, FRAMENUM_TYPE(FT_FRAMENUM_NONE),
                                   0, "The packet of the cancellation", HFILL } },
        { &hf_iggy_evicted_in, { "Evicted in", "iggy.evicted_in", FT_FRAMENUM, BASE_NONE, FRAMENUM_TYPE(FT_FRAMENUM_NONE), 0,
                                 "The packet of the eviction that ended the session before the reply", HFILL } },
    };
    proto_register_field_array(proto, hf, array_length(hf));
}

static void register_expert(int proto)
{
    static ei_register_info ei[] = {
        { &ei_iggy_version_newer, { "iggy.expert.version_newer", PI_ASSUMPTION, PI_NOTE,
                                    "The version is newer than any that is known here: read with the newest", EXPFILL } },
        { &ei_iggy_version_older, { "iggy.expert.version_older", PI_ASSUMPTION, PI_NOTE,
                                    "The version is older than any that is known here: read as 0.11.0", EXPFILL } },
        { &ei_iggy_version_assumed, { "iggy.expert.version_assumed", PI_ASSUMPTION, PI_NOTE,
                                      "Nothing tells the version: read with the one that the preferences name", EXPFILL } },
        { &ei_iggy_no_request, { "iggy.expert.no_request", PI_SEQUENCE, PI_NOTE,
                                 "The request of this reply is not in the capture before it", EXPFILL } },
        { &ei_iggy_reply_again, { "iggy.expert.reply_again", PI_SEQUENCE, PI_NOTE,
                                  "One more reply to a request that was answered before", EXPFILL } },
        { &ei_iggy_other_connection, { "iggy.expert.other_connection", PI_SEQUENCE, PI_NOTE,
                                       "The request went over another connection of the session", EXPFILL } },
        { &ei_iggy_no_reply, { "iggy.expert.no_reply", PI_SEQUENCE, PI_NOTE, "No reply to this request in the capture",
                               EXPFILL } },
        { &ei_iggy_in_doubt, { "iggy.expert.in_doubt", PI_SEQUENCE, PI_NOTE,
                               "No reply seen, but bytes of the server are missing in the capture", EXPFILL } },
        { &ei_iggy_given_up, { "iggy.expert.given_up", PI_ASSUMPTION, PI_NOTE,
                               "No reply within 900 seconds and 4096 later requests: no longer waited for", EXPFILL } },
        { &ei_iggy_evicted, { "iggy.expert.evicted_before_reply", PI_SEQUENCE, PI_NOTE,
                              "An eviction ended the session before the reply", EXPFILL } },
        { &ei_iggy_retry, { "iggy.expert.retry", PI_SEQUENCE, PI_NOTE, "The client sends this request again", EXPFILL } },
        { &ei_iggy_stale_write, { "iggy.expert.stale_write", PI_SEQUENCE, PI_WARN,
                                  "The number is 128 or more below the highest of this client: answered with success, "
                                  "not executed",
                                  EXPFILL } },
        { &ei_iggy_fenced, { "iggy.expert.fenced", PI_SEQUENCE, PI_WARN,
                             "The session is older than the newest of this client: the server refuses or evicts it", EXPFILL } },
        { &ei_iggy_failed_login, { "iggy.expert.failed_login", PI_RESPONSE_CODE, PI_WARN,
                                   "An empty reply to a login: it failed", EXPFILL } },
    };
    expert_register_field_array(expert_register_protocol(proto), ei, array_length(ei));
}

void iggy_register_conversation(int proto)
{
    register_fields(proto);
    register_expert(proto);
    iggy_register_sessions(proto);
    iggy_register_version();
    iggy_register_pairs();
}
