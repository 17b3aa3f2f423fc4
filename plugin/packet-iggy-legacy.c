/* packet-iggy-legacy.c
 * Servers up to 0.8 on the same port: requests are [length u32][code u32] and a body, length counting code and body; replies are
 * [status u32][length u32] and a body, length counting the body. Answers come in the order of the requests.
 *
 * Eight bytes are no evidence, so a connection is only taken at its beginning, on a port that is Iggy's, by a login or
 * by the ping before one.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-legacy.h"

#include <epan/conversation.h>
#include <epan/expert.h>
#include <epan/dissectors/packet-tcp.h>

#include "packet-iggy-commands.h"
#include "packet-iggy-item.h"
#include "packet-iggy-values.h"

#define PREFIX 8
#define LENGTH_LIMIT 67108864u /* a prefix that asks for more has lost its place */
#define OPEN_LIMIT 4096u       /* requests that wait: each piece behind a hole is compared with all of them */

#define CODE_PING 1u
#define CODE_LOGIN 38u
#define CODE_LOGIN_WITH_TOKEN 44u

static int proto_iggy_legacy = IGGY_UNREGISTERED;
static int hf_iggy_legacy_length = IGGY_UNREGISTERED;
static int hf_iggy_legacy_code = IGGY_UNREGISTERED;
static int hf_iggy_legacy_status = IGGY_UNREGISTERED;
static int hf_iggy_legacy_body = IGGY_UNREGISTERED;
static int hf_iggy_legacy_hidden = IGGY_UNREGISTERED;
static int hf_iggy_legacy_response_in = IGGY_UNREGISTERED;
static int hf_iggy_legacy_response_to = IGGY_UNREGISTERED;
static int hf_iggy_legacy_response_time = IGGY_UNREGISTERED;
static int ett_iggy_legacy = IGGY_UNREGISTERED;
static expert_field ei_iggy_legacy_error = EI_INIT;
static expert_field ei_iggy_legacy_lost = EI_INIT;
static dissector_handle_t legacy_handle;

/* ---- state: requests and their replies, in order ---- */

typedef struct {
    uint32_t code;
    uint32_t request_frame, reply_frame; /* packets, 0 = not in the capture */
    uint32_t received; /* bytes that the client had when it asked: where the reply begins if nothing else was asked for */
    nstime_t request_time;
} iggy_legacy_exchange_t;

/* Where a direction is, by sequence numbers; first pass. */
typedef struct {
    uint32_t next; /* the next frame begins here */
    uint32_t end;  /* and ends here, if it was begun and the rest is waited for; else the same as `next` */
    bool     seen;
    bool     lost; /* nobody knows where frames begin */
} iggy_legacy_side_t;

/* What the first pass made of a piece that does not begin with a frame. */
typedef struct {
    uint32_t skip; /* bytes of a frame that was begun before */
    bool     lost;
} iggy_legacy_piece_t;

typedef struct {
    address      client;
    uint32_t     client_port;
    wmem_list_t *open;    /* unanswered exchanges, oldest first */
    wmem_map_t  *frames;  /* packet and sequence number -> exchange */
    wmem_map_t  *pieces;  /* packet and sequence number -> iggy_legacy_piece_t */
    iggy_legacy_side_t sides[2]; /* of the server, of the client */
    bool         reply_lost; /* the next reply is not that of the oldest open exchange */
} iggy_legacy_t;

/* Key of a frame in all passes: a packet may complete several. */
static uint64_t frame_key(const packet_info *pinfo, uint32_t position) { return (uint64_t)pinfo->num << 32 | position; }

static iggy_legacy_exchange_t *known_exchange(const iggy_legacy_t *legacy, uint64_t key)
{
    return (iggy_legacy_exchange_t *)wmem_map_lookup(legacy->frames, &key);
}

static void keep_exchange(iggy_legacy_t *legacy, uint64_t key, iggy_legacy_exchange_t *exchange)
{
    wmem_map_insert(legacy->frames, wmem_memdup(wmem_file_scope(), &key, sizeof key), exchange);
}

/* The exchange that a request opens; NULL only in later passes for what the first did not see. */
static iggy_legacy_exchange_t *exchange_of_request(iggy_legacy_t *legacy, packet_info *pinfo, uint64_t key, uint32_t code,
                                                   uint32_t received)
{
    if (PINFO_FD_VISITED(pinfo))
        return known_exchange(legacy, key);
    iggy_legacy_exchange_t *exchange = wmem_new0(wmem_file_scope(), iggy_legacy_exchange_t);
    exchange->code = code;
    exchange->received = received;
    exchange->request_frame = pinfo->num;
    exchange->request_time = pinfo->abs_ts;
    if (wmem_list_count(legacy->open) >= OPEN_LIMIT) {
        wmem_list_remove_frame(legacy->open, wmem_list_head(legacy->open));
        legacy->reply_lost = true;
    }
    wmem_list_append(legacy->open, exchange);
    keep_exchange(legacy, key, exchange);
    return exchange;
}

/*
 * Replies are missing: which exchanges are over, nobody tells. Only one whose client had received all before this position
 * when it asked is sure to be answered there.
 */
static void drop_until(iggy_legacy_t *legacy, uint32_t position)
{
    wmem_list_frame_t *oldest;
    while ((oldest = wmem_list_head(legacy->open)) &&
           ((const iggy_legacy_exchange_t *)wmem_list_frame_data(oldest))->received != position)
        wmem_list_remove_frame(legacy->open, oldest);
    legacy->reply_lost = false;
}

/* The oldest exchange that is open; NULL if there is none. */
static iggy_legacy_exchange_t *exchange_of_reply(iggy_legacy_t *legacy, packet_info *pinfo, uint64_t key)
{
    if (PINFO_FD_VISITED(pinfo))
        return known_exchange(legacy, key);
    if (legacy->reply_lost)
        drop_until(legacy, (uint32_t)key);
    wmem_list_frame_t *oldest = wmem_list_head(legacy->open);
    if (!oldest)
        return NULL;
    iggy_legacy_exchange_t *exchange = (iggy_legacy_exchange_t *)wmem_list_frame_data(oldest);
    wmem_list_remove_frame(legacy->open, oldest);
    exchange->reply_frame = pinfo->num;
    keep_exchange(legacy, key, exchange);
    return exchange;
}

/* ---- one frame ---- */

static void show_link(proto_tree *tree, tvbuff_t *tvb, int hf, uint32_t packet)
{
    if (packet)
        proto_item_set_generated(proto_tree_add_uint(tree, hf, tvb, 0, 0, packet));
}

static void show_time(proto_tree *tree, tvbuff_t *tvb, packet_info *pinfo, const iggy_legacy_exchange_t *exchange)
{
    nstime_t span;
    nstime_delta(&span, &pinfo->abs_ts, &exchange->request_time);
    proto_item_set_generated(proto_tree_add_time(tree, hf_iggy_legacy_response_time, tvb, 0, 0, &span));
}

/* Passwords and tokens stand in the bodies of logins, of user commands, and in the reply to create_personal_access_token. */
static bool is_secret(uint32_t code, bool from_client)
{
    static const uint32_t codes[] = { 33, 37, CODE_LOGIN, CODE_LOGIN_WITH_TOKEN };
    for (unsigned i = 0; from_client && i < G_N_ELEMENTS(codes); i++)
        if (codes[i] == code)
            return true;
    return !from_client && (code == 42 || code == 0); /* 0: the request is not in the capture */
}

static void show_body(proto_tree *tree, tvbuff_t *tvb, uint32_t code, bool from_client)
{
    int length = (int)tvb_reported_length(tvb) - PREFIX;
    if (length <= 0)
        return;
    int hf = iggy_hide_secrets && is_secret(code, from_client) ? hf_iggy_legacy_hidden : hf_iggy_legacy_body;
    proto_tree_add_item(tree, hf, tvb, PREFIX, length, ENC_NA);
}

static proto_tree *open_tree(proto_tree *tree, tvbuff_t *tvb, packet_info *pinfo, const char *line)
{
    col_set_str(pinfo->cinfo, COL_PROTOCOL, "Iggy (before 0.9)");
    col_clear(pinfo->cinfo, COL_INFO);
    col_append_sep_str(pinfo->cinfo, COL_INFO, " | ", line);
    col_set_fence(pinfo->cinfo, COL_INFO);
    proto_item *item = proto_tree_add_item(tree, proto_iggy_legacy, tvb, 0, -1, ENC_NA);
    proto_item_append_text(item, ", %s", line);
    return proto_item_add_subtree(item, ett_iggy_legacy);
}

static void dissect_request(iggy_legacy_t *legacy, tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree,
                            const struct tcpinfo *tcp, uint64_t key)
{
    uint32_t code = tvb_get_letohl(tvb, 4);
    const iggy_legacy_exchange_t *exchange = exchange_of_request(legacy, pinfo, key, code, tcp->lastackseq);
    tree = open_tree(tree, tvb, pinfo, wmem_strdup_printf(pinfo->pool, "Request %s", iggy_code_name(pinfo, code)));
    proto_tree_add_item(tree, hf_iggy_legacy_length, tvb, 0, 4, ENC_LITTLE_ENDIAN);
    proto_tree_add_item(tree, hf_iggy_legacy_code, tvb, 4, 4, ENC_LITTLE_ENDIAN);
    if (exchange && PINFO_FD_VISITED(pinfo)) /* links forward are known from the second pass on */
        show_link(tree, tvb, hf_iggy_legacy_response_in, exchange->reply_frame);
    show_body(tree, tvb, code, true);
}

static const char *status_name(wmem_allocator_t *pool, uint32_t status)
{
    const char *name = try_val_to_str_ext(status, &iggy_error_vals_ext);
    return name ? name : wmem_strdup_printf(pool, "error %u", status);
}

static void dissect_reply(iggy_legacy_t *legacy, tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, uint64_t key)
{
    uint32_t status = tvb_get_letohl(tvb, 0);
    const iggy_legacy_exchange_t *exchange = exchange_of_reply(legacy, pinfo, key);
    const char *error = status_name(pinfo->pool, status);
    tree = open_tree(tree, tvb, pinfo,
                     wmem_strdup_printf(pinfo->pool, "Reply %s%s%s", exchange ? iggy_code_name(pinfo, exchange->code) : "",
                                        exchange ? ", " : "", error));
    proto_item *item = proto_tree_add_item(tree, hf_iggy_legacy_status, tvb, 0, 4, ENC_LITTLE_ENDIAN);
    if (status)
        expert_add_info_format(pinfo, item, &ei_iggy_legacy_error, "The server refused: %s", error);
    proto_tree_add_item(tree, hf_iggy_legacy_length, tvb, 4, 4, ENC_LITTLE_ENDIAN);
    if (exchange) {
        proto_item_set_generated(proto_tree_add_uint(tree, hf_iggy_legacy_code, tvb, 0, 0, exchange->code));
        show_link(tree, tvb, hf_iggy_legacy_response_to, exchange->request_frame);
        show_time(tree, tvb, pinfo, exchange);
    }
    show_body(tree, tvb, exchange ? exchange->code : 0, false);
}

/* ---- the stream ---- */

/* Bytes of the frame at `offset`, whose prefix is captured; 0 if no frame can be so long or so short. */
static uint32_t frame_length(tvbuff_t *tvb, int offset, bool from_client)
{
    uint32_t length = tvb_get_letohl(tvb, offset + (from_client ? 0 : 4));
    if (length > LENGTH_LIMIT || (from_client && length < 4))
        return 0;
    return from_client ? 4 + length : PREFIX + length;
}

/* Ask TCP for what is missing; true if it will come. */
static bool ask_for_more(packet_info *pinfo, int offset, uint32_t missing)
{
    if (!pinfo->can_desegment)
        return false;
    pinfo->desegment_offset = offset;
    pinfo->desegment_len = missing;
    return true;
}

/* Whether bytes behind a hole look like the beginning of a frame. */
static bool looks_like_frame(const iggy_legacy_t *legacy, tvbuff_t *tvb, uint32_t position, bool from_client)
{
    if (tvb_captured_length(tvb) < PREFIX || !frame_length(tvb, 0, from_client))
        return false;
    if (from_client)
        return iggy_command(tvb_get_letohl(tvb, 4)) != NULL;
    for (wmem_list_frame_t *open = wmem_list_head(legacy->open); open; open = wmem_list_frame_next(open))
        if (((const iggy_legacy_exchange_t *)wmem_list_frame_data(open))->received == position)
            return true;
    return false;
}

/* First pass: how a piece goes on where the one before ended. */
static iggy_legacy_piece_t place_piece(iggy_legacy_t *legacy, tvbuff_t *tvb, uint32_t position, bool from_client)
{
    iggy_legacy_side_t *side = &legacy->sides[from_client];
    iggy_legacy_piece_t piece = { 0, false };
    int32_t ahead = (int32_t)(position - side->next), begun = (int32_t)(side->end - position);
    uint32_t length = tvb_captured_length(tvb);
    bool in_step = !side->seen || (!side->lost && ahead == 0);
    if (in_step)
        return piece;
    if (!side->lost && ahead < 0) {
        piece.skip = MIN((uint32_t)-(int64_t)ahead, length);
        return piece;
    }
    if (!side->lost && begun >= 0) {
        piece.skip = MIN((uint32_t)begun, length);
        side->next = side->end; /* what else comes of it is skipped, too */
    } else {
        piece.lost = !looks_like_frame(legacy, tvb, position, from_client);
    }
    legacy->reply_lost |= !from_client;
    return piece;
}

/* All passes: what the first one made of the piece. */
static iggy_legacy_piece_t piece_at(iggy_legacy_t *legacy, tvbuff_t *tvb, const packet_info *pinfo, uint32_t position,
                                    bool from_client)
{
    const iggy_legacy_piece_t in_step = { 0, false };
    uint64_t key = frame_key(pinfo, position);
    if (PINFO_FD_VISITED(pinfo)) {
        const iggy_legacy_piece_t *known = (const iggy_legacy_piece_t *)wmem_map_lookup(legacy->pieces, &key);
        return known ? *known : in_step;
    }
    iggy_legacy_piece_t piece = place_piece(legacy, tvb, position, from_client);
    if (piece.skip || piece.lost)
        wmem_map_insert(legacy->pieces, wmem_memdup(wmem_file_scope(), &key, sizeof key),
                        wmem_memdup(wmem_file_scope(), &piece, sizeof piece));
    return piece;
}

static void show_bytes(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, uint32_t length)
{
    tvbuff_t *part = tvb_new_subset_length(tvb, 0, (int)length);
    const char *line = wmem_strdup_printf(pinfo->pool, "Continuation, %u bytes", length);
    int hf = iggy_hide_secrets ? hf_iggy_legacy_hidden : hf_iggy_legacy_body;
    proto_tree_add_item(open_tree(tree, part, pinfo, line), hf, part, 0, -1, ENC_NA);
}

static void show_lost(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, uint32_t offset)
{
    tvbuff_t *rest = tvb_new_subset_remaining(tvb, (int)offset);
    proto_tree_add_expert(open_tree(tree, rest, pinfo, "Bytes out of step"), pinfo, &ei_iggy_legacy_lost, rest, 0, -1);
}

/* Frames from `offset` on. Returns where the direction is after them. */
static iggy_legacy_side_t dissect_frames(iggy_legacy_t *legacy, tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree,
                                         const struct tcpinfo *tcp, uint32_t offset, bool from_client)
{
    uint32_t end = tvb_captured_length(tvb);
    while (offset < end) {
        uint32_t left = end - offset, position = tcp->seq + offset;
        uint32_t length = left < PREFIX ? PREFIX : frame_length(tvb, (int)offset, from_client);
        if (!length) {
            show_lost(tvb, pinfo, tree, offset);
            return (iggy_legacy_side_t){ .seen = true, .lost = true };
        }
        uint32_t missing = left < PREFIX ? DESEGMENT_ONE_MORE_SEGMENT : length - left;
        if (left < length && ask_for_more(pinfo, (int)offset, missing))
            return (iggy_legacy_side_t){ position, position + (left < PREFIX ? 0 : length), true, false };
        if (left < PREFIX)
            return (iggy_legacy_side_t){ .seen = true, .lost = true };
        tvbuff_t *frame = tvb_new_subset_length_caplen(tvb, (int)offset, (int)MIN(left, length), (int)length);
        if (from_client)
            dissect_request(legacy, frame, pinfo, tree, tcp, frame_key(pinfo, position));
        else
            dissect_reply(legacy, frame, pinfo, tree, frame_key(pinfo, position));
        if (left < length)
            return (iggy_legacy_side_t){ position + length, position + length, true, false };
        offset += length;
    }
    return (iggy_legacy_side_t){ tcp->seq + offset, tcp->seq + offset, true, false };
}

static int dissect_legacy(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    const struct tcpinfo *tcp = (const struct tcpinfo *)data;
    const conversation_t *conversation = find_conversation_pinfo(pinfo, 0);
    iggy_legacy_t *legacy = conversation ? (iggy_legacy_t *)conversation_get_proto_data(conversation, proto_iggy_legacy) : NULL;
    if (!legacy || !tcp)
        return 0;
    bool from_client = pinfo->srcport == legacy->client_port && addresses_equal(&pinfo->src, &legacy->client);
    iggy_legacy_piece_t piece = piece_at(legacy, tvb, pinfo, tcp->seq, from_client);
    iggy_legacy_side_t *side = &legacy->sides[from_client], after = { .seen = true, .lost = true };
    if (piece.skip)
        show_bytes(tvb, pinfo, tree, piece.skip);
    if (piece.lost)
        show_lost(tvb, pinfo, tree, 0);
    else
        after = dissect_frames(legacy, tvb, pinfo, tree, tcp, piece.skip, from_client);
    bool older = side->seen && !side->lost && !after.lost && (int32_t)(after.next - side->next) < 0;
    if (!PINFO_FD_VISITED(pinfo) && !older)
        *side = after;
    return (int)tvb_captured_length(tvb);
}

/* ---- the beginning ---- */

/* End of a text of 1 to 255 bytes with a length byte before it; 0 if it does not lie before `end`. */
static int after_text(tvbuff_t *tvb, int offset, int end)
{
    if (offset + 1 >= end)
        return 0;
    int length = tvb_get_uint8(tvb, offset);
    return length && length < end - offset ? offset + 1 + length : 0;
}

/* End of a text that may be empty, with an u32 of its length before it; 0 if it does not lie before `end`. */
static int after_long_text(tvbuff_t *tvb, int offset, int end)
{
    if (end - offset < 4)
        return 0;
    uint32_t length = tvb_get_letohl(tvb, offset);
    return length <= (uint32_t)(end - offset - 4) ? offset + 4 + (int)length : 0;
}

/* User, password, and since 0.5 the version of the client and a context. */
static bool is_login(tvbuff_t *tvb, int end)
{
    int offset = after_text(tvb, PREFIX, end);
    offset = offset ? after_text(tvb, offset, end) : 0;
    if (!offset || offset == end)
        return offset != 0;
    offset = after_long_text(tvb, offset, end);
    return offset && after_long_text(tvb, offset, end) == end;
}

/* Whether a client of the old generation begins so: with a whole login or, before it, a ping. */
static bool begins(tvbuff_t *tvb)
{
    if (tvb_captured_length(tvb) < PREFIX)
        return false;
    uint32_t code = tvb_get_letohl(tvb, 4);
    uint32_t length = frame_length(tvb, 0, true);
    if (!length || length > tvb_captured_length(tvb))
        return false;
    switch (code) {
    case CODE_PING:
        return length == PREFIX;
    case CODE_LOGIN:
        return is_login(tvb, (int)length);
    case CODE_LOGIN_WITH_TOKEN:
        return after_text(tvb, PREFIX, (int)length) == (int)length;
    default:
        return false;
    }
}

int iggy_legacy_begin(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, const struct tcpinfo *tcp)
{
    if (!begins(tvb))
        return 0;
    conversation_t *conversation = find_or_create_conversation(pinfo);
    if (!conversation_get_proto_data(conversation, proto_iggy_legacy)) {
        if (PINFO_FD_VISITED(pinfo))
            return 0;
        iggy_legacy_t *legacy = wmem_new0(wmem_file_scope(), iggy_legacy_t);
        copy_address_wmem(wmem_file_scope(), &legacy->client, &pinfo->src);
        legacy->client_port = pinfo->srcport;
        legacy->open = wmem_list_new(wmem_file_scope());
        legacy->frames = wmem_map_new(wmem_file_scope(), wmem_int64_hash, g_int64_equal);
        legacy->pieces = wmem_map_new(wmem_file_scope(), wmem_int64_hash, g_int64_equal);
        conversation_add_proto_data(conversation, proto_iggy_legacy, legacy);
        conversation_set_dissector_from_frame_number(conversation, pinfo->num, legacy_handle);
    }
    return dissect_legacy(tvb, pinfo, tree, (void *)tcp);
}

/* ---- registration ---- */

void iggy_register_legacy(void)
{
    static hf_register_info hf[] = {
        { &hf_iggy_legacy_length,
          { "Length", "iggy.legacy.length", FT_UINT32, BASE_DEC, NULL, 0x0,
            "Bytes that follow: of code and body in a request, of the body in a reply", HFILL } },
        { &hf_iggy_legacy_code,
          { "Code", "iggy.legacy.code", FT_UINT32, BASE_DEC, NULL, 0x0, "Command; generated in replies", HFILL } },
        { &hf_iggy_legacy_status,
          { "Status", "iggy.legacy.status", FT_UINT32, BASE_DEC | BASE_EXT_STRING, &iggy_error_vals_ext, 0x0,
            "0, or an error code", HFILL } },
        { &hf_iggy_legacy_body, { "Body", "iggy.legacy.body", FT_BYTES, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_legacy_hidden,
          { "Body with a secret", "iggy.legacy.hidden", FT_NONE, BASE_NONE, NULL, 0x0,
            "Has a password or token; a preference hides it", HFILL } },
        { &hf_iggy_legacy_response_in,
          { "Response in", "iggy.legacy.response_in", FT_FRAMENUM, BASE_NONE, FRAMENUM_TYPE(FT_FRAMENUM_RESPONSE), 0x0, NULL,
            HFILL } },
        { &hf_iggy_legacy_response_to,
          { "Response to", "iggy.legacy.response_to", FT_FRAMENUM, BASE_NONE, FRAMENUM_TYPE(FT_FRAMENUM_REQUEST), 0x0, NULL,
            HFILL } },
        { &hf_iggy_legacy_response_time,
          { "Response time", "iggy.legacy.response_time", FT_RELATIVE_TIME, BASE_NONE, NULL, 0x0, NULL, HFILL } },
    };
    static int *ett[] = { &ett_iggy_legacy };
    static ei_register_info ei[] = {
        { &ei_iggy_legacy_error, { "iggy.legacy.expert.error", PI_RESPONSE_CODE, PI_NOTE, "The server refused", EXPFILL } },
        { &ei_iggy_legacy_lost,
          { "iggy.legacy.expert.out_of_step", PI_PROTOCOL, PI_WARN, "A prefix that no frame has: out of step", EXPFILL } },
    };
    iggy_name_codes(&hf[1]);
    proto_iggy_legacy = proto_register_protocol("Apache Iggy (before 0.9)", "Iggy (before 0.9)", "iggy.legacy");
    proto_register_field_array(proto_iggy_legacy, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    expert_register_field_array(expert_register_protocol(proto_iggy_legacy), ei, array_length(ei));
    legacy_handle = create_dissector_handle(dissect_legacy, proto_iggy_legacy);
}
