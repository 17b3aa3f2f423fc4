/* packet-iggy-joiner.c
 * Byte streams whose carrier neither numbers nor joins its pieces. TLS numbers its records for dissectors only since 4.2 and
 * WebSocket does not at all; neither hands the same pieces over in all passes where it joins them itself. So pieces are counted
 * here, for each packet, and a frame that is cut over pieces is put together here, too.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-joiner.h"

#include <string.h>

#include <epan/expert.h>
#include <epan/proto_data.h>

#include "packet-iggy-framing.h"
#include "packet-iggy-item.h"

static int hf_iggy_segment = IGGY_UNREGISTERED;
static int hf_iggy_segment_in = IGGY_UNREGISTERED;
static int ett_iggy_segment = IGGY_UNREGISTERED;
static int iggy_proto;

const iggy_layer_t iggy_layer_tls = { 1, "record" };
const iggy_layer_t iggy_layer_websocket = { 2, "message" };

/*
 * State of several layers of one conversation, under keys of their own: protocols have positive numbers, and nobody else derives
 * negative ones from ours.
 */
static int pieces_key(const iggy_layer_t *layer) { return -(8 * iggy_proto + 2 * layer->number); }
static int frames_key(const iggy_layer_t *layer) { return -(8 * iggy_proto + 2 * layer->number + 1); }

/* A piece as it came, and what it was joined to. */
typedef struct {
    uint32_t packet;
    uint32_t ordinal;  /* among the pieces of this packet, from 1 */
    uint32_t position; /* in the stream, of the first byte that is dissected with it */
    uint32_t joined_length;
    uint8_t *joined;   /* NULL: the piece stands alone, or waits */
    uint32_t ends_in;  /* packet that brings the end; 0: does not wait */
} piece_t;

typedef struct {
    piece_t *pieces;
    unsigned count, room;
    uint32_t next;          /* position behind the last piece */
    uint8_t *waiting;       /* bytes that wait for more */
    uint32_t waiting_length, waiting_room, needed;
    uint32_t waiting_position;
    unsigned waiting_since; /* index of the first piece that waits */
    bool     seen;
} direction_t;

typedef struct {
    direction_t direction[2];
} joiner_t;

/* ---- pieces of a packet ---- */

/* The pieces of this layer that this dissection of the packet has seen. */
typedef struct {
    uint32_t       count;
    const uint8_t *last;
} seen_t;

/* The number of a piece in its packet. A heuristic that refused it and the port that takes it are asked for the same one. */
static uint32_t ordinal_of(tvbuff_t *tvb, packet_info *pinfo, const iggy_layer_t *layer)
{
    seen_t *seen = (seen_t *)p_get_proto_data(pinfo->pool, pinfo, iggy_proto, layer->number);
    const uint8_t *bytes = tvb_get_ptr(tvb, 0, 1);
    if (!seen) {
        seen = wmem_new0(pinfo->pool, seen_t);
        p_add_proto_data(pinfo->pool, pinfo, iggy_proto, layer->number, seen);
    }
    if (seen->last != bytes)
        seen->count++;
    seen->last = bytes;
    return seen->count;
}

static piece_t *find_piece(const direction_t *d, uint32_t packet, uint32_t ordinal)
{
    unsigned low = 0, high = d->count;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        const piece_t *piece = &d->pieces[middle];
        if (piece->packet < packet || (piece->packet == packet && piece->ordinal < ordinal))
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < d->count && d->pieces[low].packet == packet && d->pieces[low].ordinal == ordinal;
    return found ? &d->pieces[low] : NULL;
}

static piece_t *add_piece(direction_t *d, uint32_t packet, uint32_t ordinal)
{
    if (d->count == d->room) {
        d->room = d->room ? 2 * d->room : 8;
        d->pieces = (piece_t *)wmem_realloc(wmem_file_scope(), d->pieces, d->room * sizeof *d->pieces);
    }
    piece_t *piece = &d->pieces[d->count++];
    memset(piece, 0, sizeof *piece);
    piece->packet = packet;
    piece->ordinal = ordinal;
    return piece;
}

/* ---- bytes that wait ---- */

static void append(direction_t *d, tvbuff_t *tvb, uint32_t offset)
{
    uint32_t length = tvb_captured_length(tvb) - offset;
    if (d->waiting_length + length > d->waiting_room) {
        d->waiting_room = MAX(d->waiting_length + length, 2 * d->waiting_room);
        d->waiting = (uint8_t *)wmem_realloc(wmem_file_scope(), d->waiting, d->waiting_room);
    }
    tvb_memcpy(tvb, d->waiting + d->waiting_length, (int)offset, length);
    d->waiting_length += length;
}

/* The end of a frame is there: what waited goes to the piece that brought it. */
static void join(direction_t *d, piece_t *piece)
{
    piece->joined = d->waiting;
    piece->joined_length = d->waiting_length;
    piece->position = d->waiting_position;
    for (unsigned i = d->waiting_since; i + 1 < d->count; i++)
        if (d->pieces[i].ends_in == UINT32_MAX)
            d->pieces[i].ends_in = piece->packet;
    d->waiting = NULL;
    d->waiting_length = d->waiting_room = 0;
}

/* First pass: a piece is numbered, and joined to what waits. */
static piece_t *take_piece(direction_t *d, tvbuff_t *tvb, const packet_info *pinfo, uint32_t ordinal)
{
    piece_t *piece = add_piece(d, pinfo->num, ordinal);
    piece->position = d->next;
    d->next += tvb_reported_length(tvb);
    if (!d->waiting_length)
        return piece;
    append(d, tvb, 0);
    if (d->waiting_length >= d->needed)
        join(d, piece);
    else
        piece->ends_in = UINT32_MAX;
    return piece;
}

/* First pass: what the search for frames asked for is waited for. A piece that the capture cut short brings no end. */
static void keep_rest(direction_t *d, tvbuff_t *tvb, const piece_t *piece, int offset, uint32_t more)
{
    uint32_t length = tvb_captured_length(tvb);
    if (offset < 0 || (uint32_t)offset >= length || length < tvb_reported_length(tvb))
        return;
    d->waiting_since = d->count - 1;
    d->waiting_position = piece->position + (uint32_t)offset;
    append(d, tvb, (uint32_t)offset);
    d->needed = d->waiting_length + more;
}

/*
 * First pass: joined bytes of which nothing could be told yet wait again, all of them. Kept with each piece that brought some
 * more, they would be kept many times over.
 */
static void wait_again(direction_t *d, piece_t *piece, uint32_t more)
{
    d->waiting = piece->joined;
    d->waiting_length = d->waiting_room = piece->joined_length;
    d->waiting_position = piece->position;
    d->needed = d->waiting_length + more;
    piece->joined = NULL;
    for (unsigned i = d->waiting_since; i < d->count; i++)
        if (d->pieces[i].ends_in == piece->packet)
            d->pieces[i].ends_in = UINT32_MAX;
    piece->ends_in = UINT32_MAX;
}

/* ---- showing ---- */

static int show_waiting(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, const iggy_layer_t *layer, const piece_t *piece)
{
    int length = (int)tvb_captured_length(tvb);
    if (col_get_writable(pinfo->cinfo, COL_INFO)) {
        col_set_str(pinfo->cinfo, COL_PROTOCOL, "Iggy");
        col_clear(pinfo->cinfo, COL_INFO);
        col_append_sep_fstr(pinfo->cinfo, COL_INFO, " | ", "%d bytes of a frame that ends in a later %s", length, layer->piece);
        col_set_fence(pinfo->cinfo, COL_INFO);
    }
    proto_item *item = proto_tree_add_item(tree, iggy_proto, tvb, 0, length, ENC_NA);
    proto_item_append_text(item, ", part of a frame that ends in a later %s", layer->piece);
    proto_tree *below = proto_item_add_subtree(item, ett_iggy_segment);
    iggy_add_unread(pinfo, below, hf_iggy_segment, tvb, 0, length);
    if (PINFO_FD_VISITED(pinfo) && piece->ends_in != UINT32_MAX)
        proto_item_set_generated(proto_tree_add_uint(below, hf_iggy_segment_in, tvb, 0, 0, piece->ends_in));
    return length;
}

/* In the first pass a copy: the bytes may wait again, and move while the packet is still looked at. */
static tvbuff_t *joined_bytes(tvbuff_t *tvb, packet_info *pinfo, const piece_t *piece)
{
    if (!piece->joined)
        return tvb;
    const uint8_t *bytes = piece->joined;
    if (!PINFO_FD_VISITED(pinfo))
        bytes = (const uint8_t *)wmem_memdup(pinfo->pool, bytes, piece->joined_length);
    return tvb_new_child_real_data(tvb, bytes, piece->joined_length, (int)piece->joined_length);
}

/* Whether the search for frames finds something; what it asks for is kept here and not asked of the carrier. */
static int search(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, iggy_handover_t *handover, int *offset, uint32_t *more)
{
    uint16_t can = pinfo->can_desegment;
    int asked_offset = pinfo->desegment_offset;
    uint32_t asked = pinfo->desegment_len;
    pinfo->can_desegment = 2;
    pinfo->desegment_offset = 0;
    pinfo->desegment_len = 0;
    int used = iggy_dissect_piece(tvb, pinfo, tree, handover);
    *offset = pinfo->desegment_offset;
    *more = pinfo->desegment_len == DESEGMENT_ONE_MORE_SEGMENT ? 1 : pinfo->desegment_len;
    pinfo->can_desegment = can;
    pinfo->desegment_offset = asked_offset;
    pinfo->desegment_len = asked;
    return used;
}

/* Nothing is kept of a conversation in which nothing was found. */
static int dissect_first(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, const iggy_layer_t *layer,
                         iggy_handover_t *handover, uint32_t ordinal)
{
    int offset;
    uint32_t more;
    handover->piece.start = true;
    handover->piece.one_segment = true;
    int used = search(tvb, pinfo, tree, handover, &offset, &more);
    if (!used)
        return 0;
    joiner_t *joiner = wmem_new0(wmem_file_scope(), joiner_t);
    conversation_add_proto_data(handover->conversation, pieces_key(layer), joiner);
    direction_t *d = &joiner->direction[iggy_direction(pinfo)];
    d->seen = true;
    piece_t *piece = take_piece(d, tvb, pinfo, ordinal);
    if (more)
        keep_rest(d, tvb, piece, offset, more);
    return used;
}

static int dissect_next(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, const iggy_layer_t *layer, iggy_handover_t *handover,
                        direction_t *d, uint32_t ordinal)
{
    bool first_pass = !PINFO_FD_VISITED(pinfo);
    unsigned number;
    piece_t *piece = find_piece(d, pinfo->num, ordinal);
    if (!piece && first_pass)
        piece = take_piece(d, tvb, pinfo, ordinal);
    if (!piece)
        return 0;
    if (piece->ends_in)
        return show_waiting(tvb, pinfo, tree, layer, piece);
    number = (unsigned)(piece - d->pieces);
    tvbuff_t *bytes = joined_bytes(tvb, pinfo, piece);
    int offset;
    uint32_t more;
    handover->piece.position = piece->position;
    handover->piece.start = !d->seen;
    handover->piece.one_segment = !piece->joined;
    d->seen |= first_pass;
    int used = search(bytes, pinfo, tree, handover, &offset, &more);
    bool waits = more && first_pass && !d->waiting_length && number + 1 == d->count;
    piece = &d->pieces[number];
    if (waits && piece->joined && offset == 0) {
        wait_again(d, piece, more);
        return show_waiting(tvb, pinfo, tree, layer, piece);
    }
    if (piece->joined)
        add_new_data_source(pinfo, bytes, "Reassembled Iggy");
    if (waits)
        keep_rest(d, bytes, piece, offset, more);
    return used ? (int)tvb_captured_length(tvb) : 0;
}

int iggy_dissect_unnumbered(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, const iggy_layer_t *layer, iggy_trust_t trust)
{
    if (!tvb_captured_length(tvb))
        return 0;
    uint32_t ordinal = ordinal_of(tvb, pinfo, layer);
    iggy_handover_t handover = { .conversation = find_or_create_conversation(pinfo), .key = frames_key(layer) };
    handover.piece.trust = trust;
    handover.piece.turn = (uint16_t)ordinal;
    joiner_t *joiner = (joiner_t *)conversation_get_proto_data(handover.conversation, pieces_key(layer));
    if (joiner)
        return dissect_next(tvb, pinfo, tree, layer, &handover, &joiner->direction[iggy_direction(pinfo)], ordinal);
    return PINFO_FD_VISITED(pinfo) ? 0 : dissect_first(tvb, pinfo, tree, layer, &handover, ordinal);
}

void iggy_register_joiner(int proto)
{
    static hf_register_info hf[] = {
        { &hf_iggy_segment, { "Part of a frame", "iggy.segment", FT_BYTES, BASE_NONE, NULL, 0,
                              "Bytes of a frame that ends in a later record or message", HFILL } },
        { &hf_iggy_segment_in, { "Frame ends in", "iggy.segment.in", FT_FRAMENUM, BASE_NONE, NULL, 0, NULL, HFILL } },
    };
    static int *ett[] = { &ett_iggy_segment };
    iggy_proto = proto;
    proto_register_field_array(proto, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
}
