/* packet-iggy-checks.c
 * What a receiver tests in a header, and what it does with a frame that fails (framing.md 3, "receiver checks"). Seals, hashes
 * and reserved bytes are tested where they are shown.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-headers-rows.h"

#include "packet-iggy-commands.h"
#include "packet-iggy-links-state.h"

static expert_field ei_iggy_client_zero = EI_INIT;
static expert_field ei_iggy_operation_refused = EI_INIT;
static expert_field ei_iggy_operation_evicted = EI_INIT;
static expert_field ei_iggy_request_numbers = EI_INIT;
static expert_field ei_iggy_wrong_plane = EI_INIT;
static expert_field ei_iggy_unused_command = EI_INIT;
static expert_field ei_iggy_eviction_invalid = EI_INIT;
static expert_field ei_iggy_handshake_invalid = EI_INIT;
static expert_field ei_iggy_field_zero = EI_INIT;
static expert_field ei_iggy_field_not_zero = EI_INIT;
static expert_field ei_iggy_out_of_range = EI_INIT;
static expert_field ei_iggy_size_rule = EI_INIT;
static expert_field ei_iggy_order = EI_INIT;

/* Operations that log records are made of: a request needs a number and a session (framing.md 4). */
#define FIRST_REPLICATED 64u

/* ---- tests that numbers in the table cannot say; true: the frame fails ---- */

typedef bool (*iggy_test_t)(const iggy_pdu_t *pdu);

static uint64_t fact(const iggy_pdu_t *pdu, iggy_fact_t which) { return iggy_fact(pdu->facts, which, 0); }

static uint32_t body_size(const iggy_pdu_t *pdu) { return pdu->size > IGGY_HEADER_SIZE ? pdu->size - IGGY_HEADER_SIZE : 0; }

/* A client's request: the routed form between servers is not tested so. */
static bool from_client(const iggy_pdu_t *pdu) { return pdu->command == IGGY_REQUEST && !(pdu->place && pdu->place->replica); }

/* A frame between servers on a connection where a client has asked before. */
static bool not_for_clients(const iggy_pdu_t *pdu)
{
    return pdu->command > IGGY_REQUEST && pdu->command != IGGY_REPLY && pdu->command != IGGY_EVICTION && pdu->frame &&
           iggy_conversation_client(pdu) != NULL;
}

/* 0 to 4: legal headers that nobody sends. */
static bool never_sent(const iggy_pdu_t *pdu) { return pdu->command < IGGY_REQUEST; }

/* A reply or eviction where a server has told its replica id before. */
static bool not_for_replicas(const iggy_pdu_t *pdu)
{
    const iggy_ends_t *ends = pdu->frame ? pdu->place->conversation->ends : NULL;
    uint64_t order = iggy_conversation_order(pdu);
    return ends && ((ends->since[0] && ends->since[0] < order) || (ends->since[1] && ends->since[1] < order));
}

static bool client_zero(const iggy_pdu_t *pdu)
{
    const iggy_fact_value_t *client = &pdu->facts->at[IGGY_FACT_CLIENT];
    return from_client(pdu) && client->value == 0 && tvb_get_letoh64(pdu->tvb, client->offset + 8) == 0;
}

static bool operation_unknown(const iggy_pdu_t *pdu)
{
    return from_client(pdu) && (pdu->operation == 0 || !iggy_operation(pdu->operation));
}

static bool operation_internal(const iggy_pdu_t *pdu)
{
    return from_client(pdu) && iggy_operation(pdu->operation) &&
           ((pdu->operation >= FIRST_REPLICATED && pdu->operation < 128) || pdu->operation > 162);
}

static bool register_numbers(const iggy_pdu_t *pdu)
{
    return from_client(pdu) && pdu->operation == IGGY_OP_REGISTER &&
           (fact(pdu, IGGY_FACT_REQUEST) != 0 || fact(pdu, IGGY_FACT_SESSION) != 0);
}

static bool replicated_numbers(const iggy_pdu_t *pdu)
{
    return from_client(pdu) && iggy_operation(pdu->operation) && pdu->operation >= FIRST_REPLICATED &&
           (fact(pdu, IGGY_FACT_REQUEST) == 0 || fact(pdu, IGGY_FACT_SESSION) == 0);
}

/* The window of versions is there for reason 14 alone, and its ends are in order. */
static bool eviction_window(const iggy_pdu_t *pdu)
{
    uint32_t most = tvb_get_letohl(pdu->tvb, 144), least = tvb_get_letohl(pdu->tvb, 148);
    if (fact(pdu, IGGY_FACT_REASON) == 14)
        return most == 0 || least == 0 || least > most;
    return most != 0 || least != 0;
}

static bool suffix_size(const iggy_pdu_t *pdu)
{
    return body_size(pdu) % IGGY_HEADER_SIZE != 0 || body_size(pdu) / IGGY_HEADER_SIZE > 128;
}

static bool log_view_above_view(const iggy_pdu_t *pdu) { return tvb_get_letohl(pdu->tvb, 152) > fact(pdu, IGGY_FACT_VIEW); }

static bool commit_above_op(const iggy_pdu_t *pdu) { return fact(pdu, IGGY_FACT_COMMIT) > fact(pdu, IGGY_FACT_OP); }

/* A bit of an entry that is not there. */
static bool bits_beyond(const iggy_pdu_t *pdu)
{
    uint32_t entries = body_size(pdu) / IGGY_HEADER_SIZE;
    for (uint32_t bit = entries; bit < 128; bit++)
        for (int bitset = 224; bitset <= 240; bitset += 16)
            if (tvb_get_uint8(pdu->tvb, bitset + (int)(bit / 8)) >> (bit % 8) & 1)
                return true;
    return false;
}

static bool unknown_flags(const iggy_pdu_t *pdu) { return (tvb_get_uint8(pdu->tvb, 156) & ~1u) != 0; }

static bool ops_in_order(const iggy_pdu_t *pdu) { return fact(pdu, IGGY_FACT_FROM_OP) > fact(pdu, IGGY_FACT_TO_OP); }

static bool refusal_with_body(const iggy_pdu_t *pdu) { return fact(pdu, IGGY_FACT_AVAILABLE) == 0 && body_size(pdu) != 0; }

static bool transient_offer(const iggy_pdu_t *pdu)
{
    return fact(pdu, IGGY_FACT_AVAILABLE) == 1 && tvb_get_uint8(pdu->tvb, 161) != 0;
}

/* 256 in 0.11.0, 296 from 0.12.0 on: the size tells the version, not the other way round. */
static bool forward_register_size(const iggy_pdu_t *pdu) { return body_size(pdu) != 0 && body_size(pdu) != 40; }

static bool session_report_size(const iggy_pdu_t *pdu) { return body_size(pdu) % 24 != 0 || body_size(pdu) / 24 > 1024; }

static bool completion_operation(const iggy_pdu_t *pdu) { return pdu->operation != 67 && pdu->operation != 71; }

static bool completion_size(const iggy_pdu_t *pdu)
{
    uint32_t size = body_size(pdu);
    if (pdu->operation == 67)
        return size != 80;
    return pdu->operation == 71 && (size < 32 || size % 16 != 0 || size > 16 + 16 * 1024);
}

static bool completion_reporter(const iggy_pdu_t *pdu) { return pdu->operation == 67 && tvb_get_letohs(pdu->tvb, 128) != 0; }

static bool rebalance_size(const iggy_pdu_t *pdu)
{
    return body_size(pdu) % 60 != 0 || (body_size(pdu) != 0 && fact(pdu, IGGY_FACT_KIND) > 1);
}

static bool hash_of_nothing(const iggy_pdu_t *pdu)
{
    return body_size(pdu) == 0 && (tvb_get_letoh64(pdu->tvb, 16) != 0 || tvb_get_letoh64(pdu->tvb, 24) != 0);
}

static bool quorum_age(const iggy_pdu_t *pdu) { return tvb_get_letoh64(pdu->tvb, 168) != UINT64_MAX; }

/* ---- the table ---- */

typedef enum { TEST_CALL = 0, TEST_SET, TEST_ZERO, TEST_MOST, TEST_HEADER_ONLY } iggy_test_kind_t;

typedef struct {
    uint8_t  command;      /* 0: all */
    uint8_t  kind;         /* SET: must not be zero; ZERO: must be; MOST: at most `most`; HEADER_ONLY: no body */
    uint8_t  offset, size; /* field of the header */
    uint8_t  since, until; /* versions, 0 = unbounded */
    uint8_t  fact;         /* holds for frames whose fact (0..31) is in `values`; NONE: for all */
    uint32_t values;
    uint32_t most;
    iggy_test_t test;
    expert_field *ei;
    const char *text;      /* before the summary of the expert item */
} iggy_check_t;

#define FIELD(number, where, bytes, item, words) \
    .command = (number), .offset = (where), .size = (bytes), .ei = &(item), .text = (words)
#define CALL(number, function, where, bytes, item, words) { FIELD(number, where, bytes, item, words), .test = (function) }
#define SET(number, where, bytes, words, ...) \
    { FIELD(number, where, bytes, ei_iggy_field_zero, words), .kind = TEST_SET, __VA_ARGS__ }
#define ZERO(number, where, bytes, words, ...) \
    { FIELD(number, where, bytes, ei_iggy_field_not_zero, words), .kind = TEST_ZERO, __VA_ARGS__ }
#define MOST(number, where, bytes, limit, words, ...) \
    { FIELD(number, where, bytes, ei_iggy_out_of_range, words), .kind = TEST_MOST, .most = (limit), __VA_ARGS__ }
#define HEADER_ONLY(number) { FIELD(number, 48, 4, ei_iggy_size_rule, "the frame has a body"), .kind = TEST_HEADER_ONLY }
#define NO_RELEASE(number) ZERO(number, 56, 4, "release")
#define UNLESS_OK .fact = IGGY_FACT_OUTCOME, .values = ~1u
#define KINDS(bits) .fact = IGGY_FACT_KIND, .values = (bits)

static const iggy_check_t checks[] = {
    CALL(0, not_for_clients, 60, 1, ei_iggy_wrong_plane, "a listener for clients drops everything but requests"),
    CALL(0, never_sent, 60, 1, ei_iggy_unused_command, "command"),
    CALL(IGGY_REQUEST, client_zero, 128, 16, ei_iggy_client_zero, "client"),
    CALL(IGGY_REQUEST, operation_unknown, 176, 1, ei_iggy_operation_refused, "operation"),
    CALL(IGGY_REQUEST, operation_internal, 176, 1, ei_iggy_operation_evicted, "operation"),
    CALL(IGGY_REQUEST, register_numbers, 168, 8, ei_iggy_request_numbers, "register with a request number or a session"),
    CALL(IGGY_REQUEST, replicated_numbers, 168, 8, ei_iggy_request_numbers,
         "a replicated operation without request number or session"),
    CALL(IGGY_REPLY, not_for_replicas, 60, 1, ei_iggy_wrong_plane, "a listener for replicas rejects replies"),
    CALL(IGGY_EVICTION, not_for_replicas, 60, 1, ei_iggy_wrong_plane, "a listener for replicas rejects evictions"),
    HEADER_ONLY(IGGY_COMMIT),
    NO_RELEASE(IGGY_START_VIEW_CHANGE),
    NO_RELEASE(IGGY_DO_VIEW_CHANGE),
    CALL(IGGY_DO_VIEW_CHANGE, log_view_above_view, 152, 4, ei_iggy_order, "log_view is above view"),
    CALL(IGGY_DO_VIEW_CHANGE, commit_above_op, 136, 8, ei_iggy_order, "commit is above op"),
    CALL(IGGY_DO_VIEW_CHANGE, suffix_size, 48, 4, ei_iggy_size_rule, "the body is not a number of entries up to 128"),
    CALL(IGGY_DO_VIEW_CHANGE, bits_beyond, 224, 32, ei_iggy_out_of_range, "a bit of an entry that is not there"),
    { .command = IGGY_DO_VIEW_CHANGE, .test = unknown_flags, .offset = 156, .size = 1, .since = IGGY_0_12_0,
      .ei = &ei_iggy_out_of_range, .text = "an unknown flag" },
    NO_RELEASE(IGGY_START_VIEW),
    CALL(IGGY_START_VIEW, commit_above_op, 136, 8, ei_iggy_order, "commit is above op"),
    CALL(IGGY_START_VIEW, suffix_size, 48, 4, ei_iggy_size_rule, "the body is not a number of entries up to 128"),
    { .command = IGGY_EVICTION, .kind = TEST_HEADER_ONLY, .offset = 48, .size = 4, .ei = &ei_iggy_eviction_invalid,
      .text = "it has a body" },
    { .command = IGGY_EVICTION, .kind = TEST_SET, .offset = 128, .size = 16, .ei = &ei_iggy_eviction_invalid,
      .text = "client is zero" },
    { .command = IGGY_EVICTION, .kind = TEST_SET, .offset = 255, .size = 1, .ei = &ei_iggy_eviction_invalid,
      .text = "reason is zero" },
    { .command = IGGY_EVICTION, .kind = TEST_MOST, .offset = 255, .size = 1, .most = 15, .ei = &ei_iggy_eviction_invalid,
      .text = "reason is not known" },
    CALL(IGGY_EVICTION, eviction_window, 144, 8, ei_iggy_eviction_invalid, "the window of versions does not go with the reason"),
    { .command = IGGY_REPLICA_HELLO, .kind = TEST_MOST, .offset = 61, .size = 1, .most = 31, .ei = &ei_iggy_handshake_invalid,
      .text = "no cluster has more than 32 replicas" },
    NO_RELEASE(IGGY_REQUEST_START_VIEW),
    SET(IGGY_REQUEST_PREPARES, 144, 8, "from_op"),
    CALL(IGGY_REQUEST_PREPARES, ops_in_order, 144, 16, ei_iggy_order, "from_op is above to_op"),
    HEADER_ONLY(IGGY_REQUEST_STATE_TRANSFER),
    MOST(IGGY_STATE_TRANSFER_TARGET, 160, 1, 1, "available"),
    MOST(IGGY_STATE_TRANSFER_TARGET, 161, 1, 1, "unavailable_transient"),
    CALL(IGGY_STATE_TRANSFER_TARGET, refusal_with_body, 48, 4, ei_iggy_size_rule, "a refusal has no body"),
    CALL(IGGY_STATE_TRANSFER_TARGET, transient_offer, 161, 1, ei_iggy_field_not_zero, "unavailable_transient of an offer"),
    HEADER_ONLY(IGGY_REQUEST_STATE_CHUNK),
    SET(IGGY_REQUEST_STATE_CHUNK, 160, 4, "len"),
    SET(IGGY_FORWARD_REGISTER, 128, 16, "client"),
    SET(IGGY_FORWARD_REGISTER, 144, 16, "nonce"),
    CALL(IGGY_FORWARD_REGISTER, forward_register_size, 48, 4, ei_iggy_size_rule, "the body is neither empty nor of 40 bytes"),
    HEADER_ONLY(IGGY_FORWARD_REGISTER_RESULT),
    SET(IGGY_FORWARD_REGISTER_RESULT, 128, 16, "nonce"),
    SET(IGGY_FORWARD_REGISTER_RESULT, 144, 16, "client"),
    ZERO(IGGY_FORWARD_REGISTER_RESULT, 160, 8, "epoch of a failure", UNLESS_OK),
    ZERO(IGGY_FORWARD_REGISTER_RESULT, 168, 8, "watermark of a failure", UNLESS_OK),
    MOST(IGGY_FORWARD_REGISTER_RESULT, 255, 1, 6, "outcome", .until = IGGY_0_11_0),
    MOST(IGGY_FORWARD_REGISTER_RESULT, 255, 1, 7, "outcome", .since = IGGY_0_12_0),
    HEADER_ONLY(IGGY_FORWARD_LOGOUT),
    SET(IGGY_FORWARD_LOGOUT, 128, 16, "client"),
    SET(IGGY_FORWARD_LOGOUT, 144, 16, "nonce"),
    SET(IGGY_FORWARD_LOGOUT, 160, 8, "session"),
    SET(IGGY_FORWARD_LOGOUT, 168, 8, "request"),
    HEADER_ONLY(IGGY_FORWARD_LOGOUT_RESULT),
    SET(IGGY_FORWARD_LOGOUT_RESULT, 128, 16, "nonce"),
    SET(IGGY_FORWARD_LOGOUT_RESULT, 144, 16, "client"),
    ZERO(IGGY_FORWARD_LOGOUT_RESULT, 160, 8, "commit of a failure", UNLESS_OK),
    MOST(IGGY_FORWARD_LOGOUT_RESULT, 255, 1, 4, "outcome", .until = IGGY_0_11_0),
    MOST(IGGY_FORWARD_LOGOUT_RESULT, 255, 1, 6, "outcome", .since = IGGY_0_12_0),
    CALL(IGGY_CONSUMER_SESSION_HEARTBEAT, session_report_size, 48, 4, ei_iggy_size_rule,
         "the body is not a number of entries up to 1024"),
    MOST(IGGY_CONSUMER_SESSION_HEARTBEAT, 128, 1, 1, "incomplete"),
    NO_RELEASE(IGGY_CONSUMER_SESSION_HEARTBEAT),
    ZERO(IGGY_CONSUMER_SESSION_HEARTBEAT, 248, 8, "namespace_revision"),
    CALL(IGGY_SESSION_RETIREMENT_PROGRESS, session_report_size, 48, 4, ei_iggy_size_rule,
         "the body is not a number of entries up to 1024"),
    MOST(IGGY_SESSION_RETIREMENT_PROGRESS, 128, 1, 1, "incomplete"),
    NO_RELEASE(IGGY_SESSION_RETIREMENT_PROGRESS),
    CALL(IGGY_FORWARD_COMPLETION, completion_operation, 130, 1, ei_iggy_out_of_range, "operation is neither 67 nor 71"),
    CALL(IGGY_FORWARD_COMPLETION, completion_size, 48, 4, ei_iggy_size_rule, "the body does not go with the operation"),
    NO_RELEASE(IGGY_FORWARD_COMPLETION),
    CALL(IGGY_FORWARD_COMPLETION, completion_reporter, 128, 2, ei_iggy_field_not_zero, "reporter of operation 67"),
    CALL(IGGY_PRIMARY_REBALANCE, rebalance_size, 48, 4, ei_iggy_size_rule, "the body does not go with the kind"),
    CALL(IGGY_PRIMARY_REBALANCE, hash_of_nothing, 16, 16, ei_iggy_field_not_zero, "checksum_body without a body"),
    NO_RELEASE(IGGY_PRIMARY_REBALANCE),
    SET(IGGY_PRIMARY_REBALANCE, 128, 16, "nonce"),
    ZERO(IGGY_PRIMARY_REBALANCE, 144, 8, "namespace of kinds 0 and 1", KINDS(0x03)),
    ZERO(IGGY_PRIMARY_REBALANCE, 152, 8, "created_revision of kinds 0 and 1", KINDS(0x03)),
    SET(IGGY_PRIMARY_REBALANCE, 152, 8, "created_revision of kinds 2 to 6", KINDS(0x7c)),
    ZERO(IGGY_PRIMARY_REBALANCE, 160, 8, "commit of kind 1", KINDS(0x02)),
    { .command = IGGY_PRIMARY_REBALANCE, .test = quorum_age, .offset = 168, .size = 8, KINDS(0x7e),
      .ei = &ei_iggy_out_of_range, .text = "quorum_age_ns of kinds 1 to 6" },
    ZERO(IGGY_PRIMARY_REBALANCE, 176, 4, "partition_view of kinds 0 and 1", KINDS(0x03)),
    MOST(IGGY_PRIMARY_REBALANCE, 180, 1, 6, "kind"),
    MOST(IGGY_PRIMARY_REBALANCE, 181, 1, 1, "ready"),
    ZERO(IGGY_PRIMARY_REBALANCE, 181, 1, "ready of what is no reply", KINDS(0x55)),
    ZERO(IGGY_PRIMARY_REBALANCE, 182, 1, "target of kinds 0 to 5", KINDS(0x3f)),
    HEADER_ONLY(IGGY_SEGMENT_DELETE),
    ZERO(IGGY_SEGMENT_DELETE, 16, 16, "checksum_body"),
    NO_RELEASE(IGGY_SEGMENT_DELETE),
    SET(IGGY_SEGMENT_DELETE, 128, 16, "nonce"),
    SET(IGGY_SEGMENT_DELETE, 152, 8, "created_revision"),
    ZERO(IGGY_SEGMENT_DELETE, 168, 8, "up_to_offset of what is not resolved", KINDS(~2u)),
    HEADER_ONLY(IGGY_COMMIT_REPLY),
    NO_RELEASE(IGGY_COMMIT_REPLY),
    HEADER_ONLY(IGGY_PREPARE_PROGRESS),
    NO_RELEASE(IGGY_PREPARE_PROGRESS),
    MOST(IGGY_PREPARE_PROGRESS, 184, 1, 1, "kind"),
    MOST(IGGY_PREPARE_PROGRESS, 185, 1, 1, "ready"),
};

/* ---- running it ---- */

static bool all_zero(tvbuff_t *tvb, int offset, int length)
{
    for (int i = 0; i < length; i++)
        if (tvb_get_uint8(tvb, offset + i))
            return false;
    return true;
}

static bool above(tvbuff_t *tvb, const iggy_check_t *check)
{
    return !all_zero(tvb, check->offset + 1, check->size - 1) || tvb_get_uint8(tvb, check->offset) > check->most;
}

static bool applies(const iggy_pdu_t *pdu, const iggy_check_t *check)
{
    if (pdu->version < check->since || (check->until && pdu->version > check->until))
        return false;
    if (check->fact == IGGY_FACT_NONE)
        return true;
    uint64_t value = fact(pdu, (iggy_fact_t)check->fact);
    return value < 32 && (check->values >> value & 1) != 0;
}

static bool fails(const iggy_pdu_t *pdu, const iggy_check_t *check)
{
    if (check->test)
        return check->test(pdu);
    if (check->kind == TEST_HEADER_ONLY)
        return body_size(pdu) != 0;
    if (check->kind == TEST_MOST)
        return above(pdu->tvb, check);
    return all_zero(pdu->tvb, check->offset, check->size) == (check->kind == TEST_SET);
}

static bool is_for(const iggy_check_t *check, uint8_t command) { return !check->command || check->command == command; }

/* The checks of a command, as a list that ends with NULL; gathered once. */
static const iggy_check_t *const *checks_of(uint8_t command)
{
    static const iggy_check_t **lists[IGGY_COMMANDS + 1];
    unsigned number = command < IGGY_COMMANDS ? command : IGGY_COMMANDS;
    if (lists[number])
        return lists[number];
    lists[number] = g_new0(const iggy_check_t *, array_length(checks) + 1);
    for (size_t i = 0, n = 0; i < array_length(checks); i++)
        if (is_for(&checks[i], command))
            lists[number][n++] = &checks[i];
    return lists[number];
}

void iggy_check_header(iggy_pdu_t *pdu, proto_tree *tree)
{
    if (tvb_captured_length(pdu->tvb) < IGGY_HEADER_SIZE)
        return;
    for (const iggy_check_t *const *at = checks_of(pdu->command); *at; at++) {
        const iggy_check_t *check = *at;
        if (applies(pdu, check) && fails(pdu, check))
            proto_tree_add_expert_format(tree, pdu->pinfo, check->ei, pdu->tvb, check->offset, check->size, "%s: %s",
                                         check->text, expert_get_summary(check->ei));
    }
}

void iggy_register_checks(int proto)
{
    static ei_register_info ei[] = {
        { &ei_iggy_client_zero, { "iggy.expert.client_zero", PI_PROTOCOL, PI_WARN,
                                  "Must not be zero: the server drops the request without an answer", EXPFILL } },
        { &ei_iggy_operation_refused, { "iggy.expert.operation_refused", PI_PROTOCOL, PI_WARN,
                                        "Not known: the server drops the request without an answer", EXPFILL } },
        { &ei_iggy_operation_evicted, { "iggy.expert.operation_evicted", PI_PROTOCOL, PI_WARN,
                                        "Internal, not for clients: the server answers with an eviction", EXPFILL } },
        { &ei_iggy_request_numbers, { "iggy.expert.request_numbers", PI_PROTOCOL, PI_WARN,
                                      "The server drops the request without an answer", EXPFILL } },
        { &ei_iggy_wrong_plane, { "iggy.expert.wrong_plane", PI_PROTOCOL, PI_WARN,
                                  "The command belongs to the other plane and has no effect", EXPFILL } },
        { &ei_iggy_unused_command, { "iggy.expert.unused_command", PI_PROTOCOL, PI_NOTE,
                                     "Defined, but no server or client sends it: a listener drops the frame", EXPFILL } },
        { &ei_iggy_eviction_invalid, { "iggy.expert.eviction_invalid", PI_PROTOCOL, PI_WARN,
                                       "The client rejects the eviction", EXPFILL } },
        { &ei_iggy_handshake_invalid, { "iggy.expert.handshake_invalid", PI_PROTOCOL, PI_WARN,
                                        "The acceptor closes the connection", EXPFILL } },
        { &ei_iggy_field_zero, { "iggy.expert.field_zero", PI_PROTOCOL, PI_WARN,
                                 "Must not be zero: the receiver rejects the frame", EXPFILL } },
        { &ei_iggy_field_not_zero, { "iggy.expert.field_not_zero", PI_PROTOCOL, PI_WARN,
                                     "Must be zero: the receiver rejects the frame", EXPFILL } },
        { &ei_iggy_out_of_range, { "iggy.expert.out_of_range", PI_PROTOCOL, PI_WARN,
                                   "Out of range: the receiver rejects the frame", EXPFILL } },
        { &ei_iggy_size_rule, { "iggy.expert.size_rule", PI_PROTOCOL, PI_WARN,
                                "Wrong size: the receiver rejects the frame", EXPFILL } },
        { &ei_iggy_order, { "iggy.expert.order", PI_PROTOCOL, PI_WARN,
                            "Out of order: the receiver rejects the frame", EXPFILL } },
    };
    expert_register_field_array(expert_register_protocol(proto), ei, array_length(ei));
}
