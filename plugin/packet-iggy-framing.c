/* packet-iggy-framing.c
 * Carriers hand their bytes over here; frames are cut out of them and shown. TCP is one of the carriers.
 *
 * Not tcp_dissect_pdus(): its length function cannot search, and Iggy has no signature to search for (framing.md 1, 8).
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-framing.h"

#include <epan/dissectors/packet-tcp.h>
#include <epan/exceptions.h>
#include <epan/expert.h>
#include <epan/show_exception.h>

#include "packet-iggy-item.h"
#include "packet-iggy-legacy.h"
#include "packet-iggy-lookup.h"
#include "packet-iggy-recognise.h"
#include "packet-iggy-wanted.h"

#define DEFAULT_PORTS      "8090,9090" /* clients; servers of a cluster */
#define DEFAULT_MAXIMUM    67108864u   /* message_bus.max_message_size */
#define PACKET_ITEMS_FULL  980000u     /* at 1,000,000 Wireshark gives up */
#define PACKET_ITEMS_NOTED 995000u
#define FRAME_ITEMS        480000u     /* a frame adds less, with those that stand beside rows, */
#define FRAME_ITEMS_FIXED  300u        /* and less than these and so many for each byte of it */
#define FRAME_ITEMS_A_BYTE 10u

/* packet-tcp.c: flags of tcp_flow_t.static_flags, beside the one that says that the base is known. */
#define TCP_SAW_SYN    0x02u
#define TCP_SAW_SYNACK 0x04u

static int iggy_proto = IGGY_UNREGISTERED;
static int hf_iggy_continuation = IGGY_UNREGISTERED;
static int ett_iggy_continuation = IGGY_UNREGISTERED;
static expert_field ei_iggy_bad_size = EI_INIT;
static expert_field ei_iggy_lost_sync = EI_INIT;
static expert_field ei_iggy_continuation = EI_INIT;
static expert_field ei_iggy_packet_full = EI_INIT;

static dissector_handle_t iggy_tcp_handle;
static wmem_map_t *servers; /* of a file: server_t, found by the heuristic */

static iggy_bool desegment = 1;
static unsigned  maximum_size = DEFAULT_MAXIMUM;

/* ---- what was found, shown ---- */

static void fill_place(iggy_place_t *place, const iggy_stream_t *stream, const iggy_run_t *run, uint32_t offset, uint32_t size)
{
    place->conversation = iggy_stream_conversation(stream);
    place->position = (uint32_t)(run->position + offset);
    place->lane = 0;
    place->side = run->flags & IGGY_RUN_SERVER ? IGGY_SIDE_SERVER : IGGY_SIDE_CLIENT;
    place->replica = (run->flags & IGGY_RUN_REPLICA) != 0;
    iggy_stream_fill_place(stream, (uint32_t)place->position + size, place);
    place->after_hole = (run->flags & IGGY_RUN_HOLE) != 0 && offset == run->offset;
}

uint32_t iggy_maximum_frame_size(void) { return maximum_size; }

/* The tree for one more frame of the packet; none where there is no room: a message of WebSocket may have 200,000 of them. */
static proto_tree *tree_with_room(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree)
{
    uint64_t most = FRAME_ITEMS_FIXED + (uint64_t)FRAME_ITEMS_A_BYTE * tvb_captured_length(tvb);
    if (!tree || PTREE_DATA(tree)->count + MIN(most, FRAME_ITEMS) < PACKET_ITEMS_FULL)
        return tree;
    if (PTREE_DATA(tree)->count < PACKET_ITEMS_NOTED)
        expert_add_info(pinfo, proto_tree_add_item(tree, iggy_proto, tvb, 0, (int)tvb_captured_length(tvb), ENC_NA),
                        &ei_iggy_packet_full);
    return NULL;
}

void iggy_show_frame(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, const iggy_place_t *place)
{
    proto_tree *shown = tree_with_room(tvb, pinfo, tree);
    TRY {
        dissect_iggy_pdu(tvb, pinfo, shown, place);
    }
    CATCH_NONFATAL_ERRORS {
        show_exception(tvb, pinfo, tree, EXCEPT_CODE, GET_MESSAGE);
    }
    ENDTRY;
}

static tvbuff_t *part_of(tvbuff_t *tvb, uint32_t offset, uint32_t length)
{
    if (offset == 0 && length == tvb_reported_length(tvb))
        return tvb;
    int here = tvb_captured_length_remaining(tvb, (int)offset);
    return tvb_new_subset_length_caplen(tvb, (int)offset, MIN(here, (int)length), (int)length);
}

static void show_frames(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, const iggy_stream_t *stream,
                        const iggy_run_t *run)
{
    uint32_t offset = run->offset, end = run->offset + run->length;
    while (offset < end && tvb_captured_length_remaining(tvb, (int)offset) >= (int)IGGY_SIZE_END) {
        uint32_t size = tvb_get_letohl(tvb, (int)(offset + IGGY_SIZE_OFFSET));
        if (run->kind != IGGY_RUN_FRAMES || size > end - offset || size < IGGY_HEADER_SIZE)
            size = end - offset; /* the one frame of a run that has no whole ones */
        iggy_place_t place;
        fill_place(&place, stream, run, offset, size);
        iggy_show_frame(part_of(tvb, offset, size), pinfo, tree, &place);
        offset += size;
    }
}

/* Info names a continuation only where nothing else is in the packet: frames take their place in the line themselves. */
static void continuation_column(packet_info *pinfo, uint32_t length)
{
    if (!col_get_writable(pinfo->cinfo, COL_INFO))
        return;
    col_set_str(pinfo->cinfo, COL_PROTOCOL, "Iggy");
    col_clear(pinfo->cinfo, COL_INFO);
    col_append_sep_fstr(pinfo->cinfo, COL_INFO, " | ", "Continuation, %u bytes", length);
}

static void show_continuation(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, const iggy_run_t *run)
{
    int here = tvb_captured_length_remaining(tvb, (int)run->offset);
    int length = MIN(here, (int)run->length);
    proto_item *item = proto_tree_add_item(tree, iggy_proto, tvb, (int)run->offset, length, ENC_NA);
    proto_item_append_text(item, ", continuation");
    proto_tree *below = proto_item_add_subtree(item, ett_iggy_continuation);
    item = iggy_add_unread(pinfo, below, hf_iggy_continuation, tvb, (int)run->offset, length);
    if (run->kind == IGGY_RUN_BAD)
        expert_add_info(pinfo, item, &ei_iggy_bad_size);
    else if (run->flags & IGGY_RUN_LOST)
        expert_add_info(pinfo, item, &ei_iggy_lost_sync);
    else
        expert_add_info(pinfo, item, &ei_iggy_continuation);
}

/* A header whose size is out of range is shown alone, the reason beside it; what is cut short or is no header, as bytes. */
static void show_bad_header(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, const iggy_stream_t *stream,
                            const iggy_run_t *run)
{
    if (run->length < IGGY_HEADER_SIZE) {
        show_continuation(tvb, pinfo, tree, run);
        return;
    }
    show_frames(tvb, pinfo, tree, stream, run);
    proto_tree_add_expert(tree, pinfo, &ei_iggy_bad_size, tvb, (int)(run->offset + IGGY_SIZE_OFFSET), 4);
}

static bool only_continuations(const iggy_run_t *runs, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (runs[i].kind != IGGY_RUN_CONTINUATION && (runs[i].kind != IGGY_RUN_BAD || runs[i].length >= IGGY_HEADER_SIZE))
            return false;
    return true;
}

static void request_more(packet_info *pinfo, const iggy_run_t *run)
{
    pinfo->desegment_offset = (int)run->offset;
    pinfo->desegment_len = run->length < DESEGMENT_UNTIL_FIN ? run->length : DESEGMENT_ONE_MORE_SEGMENT;
}

static int show_runs(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, const iggy_stream_t *stream, const iggy_run_t *runs,
                     unsigned count)
{
    if (only_continuations(runs, count))
        continuation_column(pinfo, tvb_reported_length(tvb));
    for (unsigned i = 0; i < count; i++) {
        const iggy_run_t *run = &runs[i];
        /* In a later pass TCP hands over the part before a split alone. */
        if (run->offset >= tvb_reported_length(tvb))
            break;
        if (run->kind == IGGY_RUN_ASK) {
            if (pinfo->can_desegment)
                request_more(pinfo, run);
        } else if (run->kind == IGGY_RUN_CONTINUATION) {
            show_continuation(tvb, pinfo, tree, run);
        } else if (run->kind == IGGY_RUN_BAD) {
            show_bad_header(tvb, pinfo, tree, stream, run);
        } else {
            show_frames(tvb, pinfo, tree, stream, run);
        }
    }
    return (int)tvb_captured_length(tvb);
}

/* ---- a piece ---- */

uint8_t iggy_direction(const packet_info *pinfo)
{
    int order = cmp_address(&pinfo->src, &pinfo->dst);
    return order > 0 || (order == 0 && pinfo->srcport > pinfo->destport);
}

static iggy_sender_t sender_if(bool server) { return server ? IGGY_SENDER_SERVER : IGGY_SENDER_CLIENT; }

iggy_sender_t iggy_sender_by_port(const packet_info *pinfo)
{
    range_t *ports = prefs_get_range_value("iggy", "tcp.port");
    bool source = value_is_in_range(ports, pinfo->srcport);
    bool destination = value_is_in_range(ports, pinfo->destport);
    return source == destination ? IGGY_SENDER_UNKNOWN : sender_if(source);
}

static void fill_piece(iggy_piece_t *piece, tvbuff_t *tvb, const packet_info *pinfo)
{
    piece->captured = tvb_captured_length(tvb);
    piece->reported = tvb_reported_length(tvb);
    piece->bytes = tvb_get_ptr(tvb, 0, (int)piece->captured);
    piece->may_ask = desegment && pinfo->can_desegment;
    piece->guess = sender_if(pinfo->srcport < pinfo->destport);
    piece->maximum = maximum_size;
    if (piece->sender == IGGY_SENDER_UNKNOWN)
        piece->sender = iggy_sender_by_port(pinfo);
}

/* First pass: what is in the piece is found, and kept. */
static iggy_stream_t *find_frames(tvbuff_t *tvb, packet_info *pinfo, iggy_stream_t *stream, iggy_handover_t *handover)
{
    iggy_stream_t *taken = stream ? stream : iggy_stream_try(pinfo->pool);
    fill_piece(&handover->piece, tvb, pinfo);
    if (!iggy_stream_take(taken, &handover->piece))
        return NULL;
    if (!stream) {
        taken = iggy_stream_keep(taken);
        conversation_add_proto_data(handover->conversation, handover->key, taken);
    }
    return taken;
}

int iggy_dissect_piece(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, iggy_handover_t *handover)
{
    iggy_stream_t *stream = (iggy_stream_t *)conversation_get_proto_data(handover->conversation, handover->key);
    unsigned count = 0;
    const iggy_run_t *runs = NULL;
    if (!tvb_captured_length(tvb))
        return 0;
    handover->piece.packet = pinfo->num;
    handover->piece.direction = iggy_direction(pinfo);
    handover->piece.reported = tvb_reported_length(tvb);
    iggy_wanted_round();
    if (stream)
        runs = iggy_stream_runs(stream, &handover->piece, &count);
    if (!runs && !PINFO_FD_VISITED(pinfo)) {
        stream = find_frames(tvb, pinfo, stream, handover);
        if (stream)
            runs = iggy_stream_runs(stream, &handover->piece, &count);
    }
    if (!runs)
        return 0;
    /* A payload that is a packet of the same connection would move them. */
    runs = (const iggy_run_t *)wmem_memdup(pinfo->pool, runs, count * sizeof *runs);
    return show_runs(tvb, pinfo, tree, stream, runs, count);
}

/* ---- servers that were found by what they say ---- */

typedef struct {
    address  host;
    uint32_t port;
} server_t;

static guint server_hash(gconstpointer key)
{
    const server_t *server = (const server_t *)key;
    return add_address_to_hash(server->port, &server->host);
}

static gboolean server_equal(gconstpointer a, gconstpointer b)
{
    const server_t *one = (const server_t *)a, *other = (const server_t *)b;
    return one->port == other->port && addresses_equal(&one->host, &other->host);
}

bool iggy_is_known_server(const packet_info *pinfo)
{
    if (wmem_map_size(servers) == 0)
        return false;
    server_t source = { pinfo->src, pinfo->srcport }, destination = { pinfo->dst, pinfo->destport };
    return wmem_map_lookup(servers, &destination) || wmem_map_lookup(servers, &source);
}

/* First pass, a connection that was recognised: other ones of its server need not prove as much. */
static void note_server(const packet_info *pinfo, const iggy_handover_t *handover)
{
    const iggy_stream_t *stream = (const iggy_stream_t *)conversation_get_proto_data(handover->conversation, iggy_proto);
    if (handover->piece.trust == IGGY_TRUST_PORT)
        return;
    bool sends = iggy_stream_is_server(stream, &handover->piece);
    server_t *server = wmem_new(wmem_file_scope(), server_t);
    copy_address_wmem(wmem_file_scope(), &server->host, sends ? &pinfo->src : &pinfo->dst);
    server->port = sends ? pinfo->srcport : pinfo->destport;
    wmem_map_insert(servers, server, server);
}

/* ---- TCP ---- */

/* The first byte of a direction whose SYN is in the capture; relative sequence numbers begin at 1. */
static bool is_first_byte(const tcp_flow_t *flow, bool saw_syn, uint32_t position)
{
    return saw_syn && (position == 1 || position == flow->base_seq + 1);
}

/*
 * Whether the bytes are several segments joined. TCP's own flag stays set for what follows in the same packet, so the source of
 * the bytes is asked too: joined segments are the packet's newest one.
 */
static bool is_joined(tvbuff_t *tvb, const packet_info *pinfo, const struct tcpinfo *tcp)
{
    const GSList *newest = g_slist_last(pinfo->data_src);
    return tcp->is_reassembled && newest &&
           get_data_source_tvb((const struct data_source *)newest->data) == tvb_get_ds_tvb(tvb);
}

/* TCP's analysis has positions as they are in the packet; how they differ from those it shows, this packet's own tells. */
static void fill_bound(iggy_piece_t *piece, const struct tcpinfo *tcp, const struct tcp_analysis *analysis)
{
    const tcp_analyze_seq_flow_info_t *forward = analysis->fwd->tcp_analyze_seq_info;
    const tcp_analyze_seq_flow_info_t *reverse = analysis->rev->tcp_analyze_seq_info;
    piece->bounds = forward && reverse;
    if (piece->bounds)
        piece->bound = reverse->nextseq - (forward->lastack - tcp->lastackseq);
}

static void fill_tcp(iggy_handover_t *handover, tvbuff_t *tvb, packet_info *pinfo, const struct tcpinfo *tcp)
{
    iggy_piece_t *piece = &handover->piece;
    struct tcp_analysis *analysis = get_tcp_conversation_data(handover->conversation, pinfo);
    piece->position = tcp->seq;
    piece->one_segment = !is_joined(tvb, pinfo, tcp);
    piece->acknowledges = true;
    piece->acknowledged = tcp->lastackseq;
    piece->told_end = tcp->nxtseq;
    if (!analysis || !analysis->fwd || !analysis->rev)
        return;
    fill_bound(piece, tcp, analysis);
    unsigned forward = analysis->fwd->static_flags, reverse = analysis->rev->static_flags;
    bool client = (forward & TCP_SAW_SYN) || (reverse & TCP_SAW_SYNACK);
    bool server = (forward & TCP_SAW_SYNACK) || (reverse & TCP_SAW_SYN);
    if (client != server)
        piece->sender = sender_if(server);
    piece->start = is_first_byte(analysis->fwd, client || (forward & TCP_SAW_SYNACK), tcp->seq);
}

/* `handover` has the trust. */
static int dissect_tcp(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, const struct tcpinfo *tcp, iggy_handover_t *handover)
{
    if (!tcp)
        return 0;
    handover->key = iggy_proto;
    handover->conversation = iggy_conversation_of(pinfo);
    fill_tcp(handover, tvb, pinfo, tcp);
    return iggy_dissect_piece(tvb, pinfo, tree, handover);
}

static int dissect_iggy_tcp(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    iggy_handover_t handover = { .piece = { .trust = IGGY_TRUST_PORT } };
    const struct tcpinfo *tcp = (const struct tcpinfo *)data;
    int done = dissect_tcp(tvb, pinfo, tree, tcp, &handover);
    if (!done && handover.piece.start && handover.piece.sender == IGGY_SENDER_CLIENT)
        done = iggy_legacy_begin(tvb, pinfo, tree, tcp);
    return done;
}

/*
 * From this frame on, not for the whole connection: a second pass must not hand over frames that the first one did not
 * (conversation_set_dissector() files it under frame 0).
 */
int iggy_tcp_as_heuristic(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    iggy_handover_t handover = { .piece = { .trust = iggy_is_known_server(pinfo) ? IGGY_TRUST_PORT : IGGY_TRUST_NONE } };
    int done = dissect_tcp(tvb, pinfo, tree, (const struct tcpinfo *)data, &handover);
    if (!done || PINFO_FD_VISITED(pinfo))
        return done;
    conversation_set_dissector_from_frame_number(handover.conversation, pinfo->num, iggy_tcp_handle);
    note_server(pinfo, &handover);
    return done;
}

static iggy_bool dissect_iggy_tcp_heuristic(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    return iggy_tcp_as_heuristic(tvb, pinfo, tree, data) != 0;
}

/* ---- registration ---- */

void iggy_register_framing(int proto, module_t *preferences)
{
    static hf_register_info hf[] = {
        { &hf_iggy_continuation, { "Continuation", "iggy.continuation", FT_BYTES, BASE_NONE, NULL, 0,
                                   "Bytes of a frame that begins in another packet, or between frames that were found",
                                   HFILL } },
    };
    static int *ett[] = { &ett_iggy_continuation };
    static ei_register_info ei[] = {
        { &ei_iggy_bad_size, { "iggy.expert.bad_size", PI_PROTOCOL, PI_ERROR,
                               "The size is under 256 or over the largest allowed: the receiver closes the connection",
                               EXPFILL } },
        { &ei_iggy_lost_sync, { "iggy.expert.lost_sync", PI_SEQUENCE, PI_WARN,
                                "No frame is known to begin here: the stream is searched for the next header", EXPFILL } },
        { &ei_iggy_continuation, { "iggy.expert.continuation", PI_REASSEMBLE, PI_NOTE,
                                   "Part of a frame that begins in an earlier packet", EXPFILL } },
        { &ei_iggy_packet_full, { "iggy.expert.packet_full", PI_UNDECODED, PI_NOTE,
                                  "The packet has more frames than Wireshark has room for: this one is not shown", EXPFILL } },
    };
    iggy_proto = proto;
    proto_register_field_array(proto, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    expert_register_field_array(expert_register_protocol(proto), ei, array_length(ei));
    iggy_tcp_handle = register_dissector("iggy", dissect_iggy_tcp, proto);
    servers = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), server_hash, server_equal);
    prefs_register_bool_preference(preferences, "desegment", "Reassemble frames spanning multiple segments",
        "Whether frames that span several segments are put together. To use this, \"Allow subdissectors to reassemble TCP "
        "streams\" has to be on too in the preferences of TCP.", &desegment);
    prefs_register_uint_preference(preferences, "maximum_frame_size", "Largest frame",
        "Size in bytes, header included, above which a frame is taken for an error. The default is the server's own "
        "(message_bus.max_message_size).", 10, &maximum_size);
}

void iggy_handoff_framing(void)
{
    dissector_add_uint_range_with_preference("tcp.port", DEFAULT_PORTS, iggy_tcp_handle);
    heur_dissector_add("tcp", dissect_iggy_tcp_heuristic, "Iggy over TCP", IGGY_TCP_HEURISTIC, iggy_proto, HEURISTIC_ENABLE);
}
