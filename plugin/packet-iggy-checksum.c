/* packet-iggy-checksum.c
 * Checksums: XXH3-64 of frames, prepares, bodies, batches and messages (replica.md 3, messages.md 2.4).
 *
 * Wireshark's proto_tree_add_checksum() takes 32 bits at most, so the status items are made here, with its values.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-checksum.h"

#include <inttypes.h>
#include <string.h>
#include <xxhash.h>

#include <epan/prefs.h>

#include "packet-iggy-text.h"
#include "packet-iggy-wanted.h"

static int hf_iggy_checksum = IGGY_UNREGISTERED;
static int hf_iggy_checksum_status = IGGY_UNREGISTERED;
static int hf_iggy_checksum_body = IGGY_UNREGISTERED;
static int hf_iggy_checksum_body_status = IGGY_UNREGISTERED;
static int hf_iggy_request_checksum_status = IGGY_UNREGISTERED;

int hf_iggy_request_checksum = IGGY_UNREGISTERED;

static expert_field ei_iggy_bad_seal = EI_INIT;
static expert_field ei_iggy_missing_seal = EI_INIT;
static expert_field ei_iggy_bad_identity = EI_INIT;
static expert_field ei_iggy_bad_body_hash = EI_INIT;
static expert_field ei_iggy_missing_body_hash = EI_INIT;
static expert_field ei_iggy_other_body_hash = EI_INIT;
static expert_field ei_iggy_bad_request_checksum = EI_INIT;

static iggy_bool verify_checksums = 1;

static const iggy_checksum_fields_t seal_fields = { &hf_iggy_checksum, &hf_iggy_checksum_status, &ei_iggy_bad_seal };
static const iggy_checksum_fields_t identity_fields = { &hf_iggy_checksum, &hf_iggy_checksum_status, &ei_iggy_bad_identity };
static const iggy_checksum_fields_t body_fields = { &hf_iggy_checksum_body, &hf_iggy_checksum_body_status,
                                                    &ei_iggy_bad_body_hash };
/* Where the codec does not fix the field a mismatch is a note. */
static const iggy_checksum_fields_t loose_body_fields = { &hf_iggy_checksum_body, &hf_iggy_checksum_body_status,
                                                          &ei_iggy_other_body_hash };
static const iggy_checksum_fields_t request_fields = { &hf_iggy_request_checksum, &hf_iggy_request_checksum_status,
                                                       &ei_iggy_bad_request_checksum };

/* ---- computing ---- */

bool iggy_hash64(tvbuff_t *tvb, int offset, int length, uint64_t *hash)
{
    if (offset < 0 || length < 0 || (int64_t)offset + length > (int64_t)tvb_captured_length(tvb))
        return false;
    *hash = XXH3_64bits(length ? tvb_get_ptr(tvb, offset, length) : NULL, (size_t)length);
    return true;
}

bool iggy_prepare_identity(tvbuff_t *tvb, int offset, uint64_t *hash)
{
    uint8_t header[IGGY_HEADER_SIZE];
    if (offset < 0 || (int64_t)offset + (int64_t)sizeof header > (int64_t)tvb_captured_length(tvb))
        return false;
    tvb_memcpy(tvb, header, offset, sizeof header);
    memset(header, 0, 16);     /* the identity itself */
    memset(header + 52, 0, 4); /* the view: a prepare sent again keeps its identity */
    header[IGGY_COMMAND_OFFSET] = IGGY_PREPARE; /* of repair_prepare too */
    *hash = XXH3_64bits(header, sizeof header);
    return true;
}

iggy_checksum_t iggy_checksum_compare(uint64_t stored, uint64_t computed)
{
    iggy_checksum_t sum = { stored == computed ? PROTO_CHECKSUM_E_GOOD : PROTO_CHECKSUM_E_BAD, computed };
    return sum;
}

iggy_checksum_t iggy_checksum_unverified(void)
{
    iggy_checksum_t sum = { PROTO_CHECKSUM_E_UNVERIFIED, 0 };
    return sum;
}

iggy_checksum_t iggy_checksum_not_present(void)
{
    iggy_checksum_t sum = { PROTO_CHECKSUM_E_NOT_PRESENT, 0 };
    return sum;
}

bool iggy_checksum_wanted(proto_tree *tree, const iggy_checksum_fields_t *fields)
{
    if (!verify_checksums)
        return false;
    return iggy_experts_wanted() || (tree && (proto_field_is_referenced(tree, *fields->hf_status) ||
                                         proto_field_is_referenced(tree, fields->ei_bad->hf)));
}

/* ---- showing ---- */

/* What a line says of a checksum after its value. */
static void add_verdict(iggy_text_t *line, iggy_checksum_t sum)
{
    static const char *const words[] = { " incorrect, should be 0x", " [correct]", " [unverified]", " [not present]" };
    iggy_text_string(line, words[sum.status]);
    if (sum.status == PROTO_CHECKSUM_E_BAD)
        iggy_text_hex(line, sum.computed, 16);
}

static void show_status(iggy_pdu_t *pdu, proto_tree *tree, proto_item *item, tvbuff_t *tvb, int offset,
                        const iggy_checksum_fields_t *fields, iggy_checksum_t sum)
{
    if (sum.status == PROTO_CHECKSUM_E_BAD)
        expert_add_info_format(pdu->pinfo, item, fields->ei_bad, "%s [should be 0x%016" PRIx64 "]",
                               expert_get_summary(fields->ei_bad), sum.computed);
    proto_item *status = proto_tree_add_uint(tree, *fields->hf_status, tvb, offset, 0, sum.status);
    proto_item_set_generated(status);
}

proto_item *iggy_add_checksum64(iggy_pdu_t *pdu, proto_tree *tree, tvbuff_t *tvb, int offset,
                                const iggy_checksum_fields_t *fields, iggy_checksum_t sum)
{
    uint64_t stored = tvb_get_letoh64(tvb, offset);
    iggy_line_t line;
    iggy_line_field(&line, *fields->hf);
    iggy_text_string(&line.text, "0x");
    iggy_text_hex(&line.text, stored, 16);
    add_verdict(&line.text, sum);
    proto_item *item = proto_tree_add_uint64_format(tree, *fields->hf, tvb, offset, 8, stored, "%s", line.buffer);
    show_status(pdu, tree, item, tvb, offset, fields, sum);
    return item;
}

proto_item *iggy_add_checksum128(iggy_pdu_t *pdu, proto_tree *tree, int offset, const iggy_checksum_fields_t *fields,
                                 iggy_checksum_t sum)
{
    const uint8_t *stored = tvb_get_ptr(pdu->tvb, offset, 16);
    iggy_line_t line;
    iggy_line_field(&line, *fields->hf);
    if (sum.status == PROTO_CHECKSUM_E_NOT_PRESENT)
        iggy_text_string(&line.text, "00000000000000000000000000000000");
    else
        iggy_text_guid(&line.text, stored, false);
    add_verdict(&line.text, sum);
    proto_item *item = proto_tree_add_bytes_format(tree, *fields->hf, pdu->tvb, offset, 16, stored, "%s", line.buffer);
    show_status(pdu, tree, item, pdu->tvb, offset, fields, sum);
    return item;
}

/* ---- the three checksums of a header ---- */

typedef enum { SUM_NONE = 0, SUM_SEAL, SUM_IDENTITY } sum_kind_t;
typedef enum {
    BODY_NONE = 0, /* never verified by anybody */
    BODY_HASH,     /* verified where not zero */
    BODY_MUST,     /* a body has a hash */
    BODY_LOOSE     /* the codec does not fix it: a mismatch is a note */
} body_kind_t;

/* Which checksums a command has (replica.md 3). Commands that are not here have none. */
static const struct {
    uint8_t sum, body;
} rules[] = {
    [IGGY_PREPARE] = { SUM_IDENTITY, BODY_HASH },
    [IGGY_PREPARE_OK] = { SUM_SEAL, BODY_LOOSE },
    [IGGY_COMMIT] = { SUM_SEAL, BODY_LOOSE },
    [IGGY_START_VIEW_CHANGE] = { SUM_SEAL, BODY_LOOSE },
    [IGGY_DO_VIEW_CHANGE] = { SUM_SEAL, BODY_MUST },
    [IGGY_START_VIEW] = { SUM_SEAL, BODY_MUST },
    [IGGY_REQUEST_START_VIEW] = { SUM_SEAL, BODY_LOOSE },
    [IGGY_REQUEST_PREPARES] = { SUM_SEAL, BODY_LOOSE },
    [IGGY_REPAIR_PREPARE] = { SUM_IDENTITY, BODY_HASH },
    [IGGY_REPAIR_DONE] = { SUM_SEAL, BODY_LOOSE },
    [IGGY_RANGE_EVICTED] = { SUM_SEAL, BODY_LOOSE },
    [IGGY_REQUEST_STATE_TRANSFER] = { SUM_SEAL, BODY_LOOSE },
    [IGGY_STATE_TRANSFER_TARGET] = { SUM_SEAL, BODY_LOOSE },
    [IGGY_REQUEST_STATE_CHUNK] = { SUM_SEAL, BODY_LOOSE },
    [IGGY_STATE_CHUNK] = { SUM_SEAL, BODY_LOOSE },
    [IGGY_FORWARD_REGISTER] = { SUM_SEAL, BODY_LOOSE },
    [IGGY_FORWARD_REGISTER_RESULT] = { SUM_SEAL, BODY_LOOSE },
    [IGGY_FORWARD_LOGOUT] = { SUM_SEAL, BODY_LOOSE },
    [IGGY_FORWARD_LOGOUT_RESULT] = { SUM_SEAL, BODY_LOOSE },
    [IGGY_CONSUMER_SESSION_HEARTBEAT] = { SUM_SEAL, BODY_LOOSE },
    [IGGY_SESSION_RETIREMENT_PROGRESS] = { SUM_SEAL, BODY_LOOSE },
    [IGGY_FORWARD_COMPLETION] = { SUM_SEAL, BODY_LOOSE },
    [IGGY_PRIMARY_REBALANCE] = { SUM_SEAL, BODY_HASH },
    [IGGY_SEGMENT_DELETE] = { SUM_SEAL, BODY_LOOSE },
    [IGGY_COMMIT_REPLY] = { SUM_SEAL, BODY_LOOSE },
    [IGGY_PREPARE_PROGRESS] = { SUM_SEAL, BODY_LOOSE },
};

static sum_kind_t sum_kind(uint8_t command) { return command < array_length(rules) ? (sum_kind_t)rules[command].sum : SUM_NONE; }
static body_kind_t body_kind(uint8_t command)
{
    return command < array_length(rules) ? (body_kind_t)rules[command].body : BODY_NONE;
}

static bool zero16(const uint8_t *bytes)
{
    static const uint8_t zeros[16];
    return memcmp(bytes, zeros, sizeof zeros) == 0;
}

/* A zero-extended 64-bit hash against what it should be: a high half that is not zero is wrong whatever the low one says. */
static iggy_checksum_t compare16(tvbuff_t *tvb, int offset, bool computed, uint64_t hash)
{
    if (!computed)
        return iggy_checksum_unverified();
    iggy_checksum_t sum = iggy_checksum_compare(tvb_get_letoh64(tvb, offset), hash);
    if (tvb_get_letoh64(tvb, offset + 8) != 0)
        sum.status = PROTO_CHECKSUM_E_BAD;
    return sum;
}

/* A sealed frame or one that must have a hash has none: known without computing. */
static void show_missing(iggy_pdu_t *pdu, proto_tree *tree, int offset, const iggy_checksum_fields_t *fields, expert_field *ei)
{
    proto_item *item = proto_tree_add_item(tree, *fields->hf, pdu->tvb, offset, 16, ENC_NA);
    expert_add_info(pdu->pinfo, item, ei);
    proto_item *status = proto_tree_add_uint(tree, *fields->hf_status, pdu->tvb, offset, 0, PROTO_CHECKSUM_E_BAD);
    proto_item_set_generated(status);
}

static void show_checksum(iggy_walk_t *walk, proto_tree *tree, int offset)
{
    iggy_pdu_t *pdu = walk->pdu;
    sum_kind_t kind = sum_kind(pdu->command);
    const iggy_checksum_fields_t *fields = kind == SUM_IDENTITY ? &identity_fields : &seal_fields;
    bool zero = zero16(walk->bytes + offset);
    if (zero && kind == SUM_SEAL) {
        show_missing(pdu, tree, offset, fields, &ei_iggy_missing_seal);
        return;
    }
    iggy_checksum_t sum = zero ? iggy_checksum_not_present() : iggy_checksum_unverified();
    if (!zero && kind != SUM_NONE && iggy_checksum_wanted(tree, fields)) {
        uint64_t hash = 0;
        bool done = kind == SUM_SEAL ? iggy_hash64(pdu->tvb, offset + 16, (int)IGGY_HEADER_SIZE - 16, &hash)
                                     : iggy_prepare_identity(pdu->tvb, offset, &hash);
        sum = compare16(pdu->tvb, offset, done, hash);
    }
    iggy_add_checksum128(pdu, tree, offset, fields, sum);
}

/*
 * The hash of a body. That of an empty body is 0 by the reference; prepares of servers carry the XXH3 of nothing
 * (register, logout).
 * 0 never comes here.
 */
static bool body_hash(const iggy_pdu_t *pdu, uint64_t *hash)
{
    if (pdu->size > INT32_MAX)
        return false;
    int length = pdu->size > IGGY_HEADER_SIZE ? (int)(pdu->size - IGGY_HEADER_SIZE) : 0;
    return iggy_hash64(pdu->tvb, length ? (int)IGGY_HEADER_SIZE : 0, length, hash);
}

static void show_body_checksum(iggy_walk_t *walk, proto_tree *tree, int offset)
{
    iggy_pdu_t *pdu = walk->pdu;
    body_kind_t kind = body_kind(pdu->command);
    const iggy_checksum_fields_t *fields = kind == BODY_LOOSE ? &loose_body_fields : &body_fields;
    bool zero = zero16(walk->bytes + offset);
    if (zero && kind == BODY_MUST && pdu->size > IGGY_HEADER_SIZE) {
        show_missing(pdu, tree, offset, fields, &ei_iggy_missing_body_hash);
        return;
    }
    iggy_checksum_t sum = zero ? iggy_checksum_not_present() : iggy_checksum_unverified();
    if (!zero && kind != BODY_NONE && iggy_checksum_wanted(tree, fields)) {
        uint64_t hash = 0;
        bool done = body_hash(pdu, &hash);
        sum = compare16(pdu->tvb, offset, done, hash);
    }
    iggy_add_checksum128(pdu, tree, offset, fields, sum);
}

int iggy_call_checksum(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    if (!iggy_walk_there(walk, row, offset, 16))
        return offset;
    if (iggy_walk_shows(walk) && !walk->rows_alone)
        show_checksum(walk, tree, offset);
    return offset + 16;
}

int iggy_call_checksum_body(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    if (!iggy_walk_there(walk, row, offset, 16))
        return offset;
    if (iggy_walk_shows(walk) && !walk->rows_alone)
        show_body_checksum(walk, tree, offset);
    return offset + 16;
}

/*
 * request_checksum of a 0.11.0 request (framing.md 3, request): the hash of the body, where it is not zero. Partition
 * operations and operation 2 are not stamped, and what stands there is not verified.
 */
int iggy_call_request_checksum(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    if (!iggy_walk_there(walk, row, offset, 16))
        return offset;
    iggy_walk_note(walk, IGGY_FACT_REQUEST_CHECKSUM, tvb_get_letoh64(walk->tvb, offset), offset, 16, NULL);
    if (!iggy_walk_shows(walk) || walk->rows_alone)
        return offset + 16;
    iggy_pdu_t *pdu = walk->pdu;
    bool zero = zero16(walk->bytes + offset);
    iggy_checksum_t sum = zero ? iggy_checksum_not_present() : iggy_checksum_unverified();
    bool stamped = pdu->operation != IGGY_OP_NON_REPLICATED && pdu->operation < IGGY_OP_SEND_MESSAGES;
    if (!zero && stamped && iggy_checksum_wanted(tree, &request_fields)) {
        uint64_t hash = 0;
        bool done = body_hash(pdu, &hash);
        sum = compare16(pdu->tvb, offset, done, hash);
    }
    iggy_add_checksum128(pdu, tree, offset, &request_fields, sum);
    return offset + 16;
}

/* ---- registration ---- */

static void register_experts(int proto)
{
    static ei_register_info ei[] = {
        { &ei_iggy_bad_seal, { "iggy.expert.bad_seal", PI_CHECKSUM, PI_ERROR,
                               "Bad frame seal: the receiver rejects the frame", EXPFILL } },
        { &ei_iggy_missing_seal, { "iggy.expert.missing_seal", PI_CHECKSUM, PI_ERROR,
                                   "The frame has no seal: the receiver rejects it", EXPFILL } },
        { &ei_iggy_bad_identity, { "iggy.expert.bad_identity", PI_CHECKSUM, PI_ERROR,
                                   "Bad prepare identity: the receiver rejects the frame", EXPFILL } },
        { &ei_iggy_bad_body_hash, { "iggy.expert.bad_body_hash", PI_CHECKSUM, PI_ERROR,
                                    "Bad hash of the body: the receiver rejects the frame", EXPFILL } },
        { &ei_iggy_missing_body_hash, { "iggy.expert.missing_body_hash", PI_CHECKSUM, PI_ERROR,
                                        "The body has no hash: the receiver rejects the frame", EXPFILL } },
        { &ei_iggy_other_body_hash, { "iggy.expert.other_body_hash", PI_CHECKSUM, PI_NOTE,
                                      "Not the hash of the body; the protocol does not fix this field here", EXPFILL } },
        { &ei_iggy_bad_request_checksum, { "iggy.expert.bad_request_checksum", PI_CHECKSUM, PI_ERROR,
                                           "Not the hash of the body: the server refuses the request", EXPFILL } },
    };
    expert_register_field_array(expert_register_protocol(proto), ei, array_length(ei));
}

void iggy_register_checksum(int proto)
{
    static hf_register_info hf[] = {
        { &hf_iggy_checksum, { "Checksum", "iggy.checksum", FT_BYTES, BASE_NONE, NULL, 0,
                               "Frame seal, or identity of a prepare: XXH3-64, zero-extended; zero on the client plane",
                                HFILL } },
        { &hf_iggy_checksum_status, { "Checksum status", "iggy.checksum.status", FT_UINT8, BASE_NONE,
                                      VALS(proto_checksum_vals), 0, NULL, HFILL } },
        { &hf_iggy_checksum_body, { "Body checksum", "iggy.checksum_body", FT_BYTES, BASE_NONE, NULL, 0,
                                    "XXH3-64 of the body, zero-extended; zero where there is none", HFILL } },
        { &hf_iggy_checksum_body_status, { "Body checksum status", "iggy.checksum_body.status", FT_UINT8, BASE_NONE,
                                           VALS(proto_checksum_vals), 0, NULL, HFILL } },
        { &hf_iggy_request_checksum, { "Request checksum", "iggy.request_checksum", FT_BYTES, BASE_NONE, NULL, 0,
                                       "0.11.0: hash of the body; 0.12.0 and later: random id of the request, kept by retries",
                                       HFILL } },
        { &hf_iggy_request_checksum_status, { "Request checksum status", "iggy.request_checksum.status", FT_UINT8,
                                              BASE_NONE, VALS(proto_checksum_vals), 0, NULL, HFILL } },
    };
    proto_register_field_array(proto, hf, array_length(hf));
    register_experts(proto);
    prefs_register_bool_preference(iggy_preferences, "verify_checksums", "Verify checksums",
                                   "Verify seals, identities, hashes of bodies, and the checksums of batches and messages.",
                                   &verify_checksums);
}
