/* packet-iggy-quic.c
 * Iggy in QUIC: each bidirectional stream carries one request and its answer (framing.md 1).
 *
 * Iggy announces no ALPN, so Wireshark's QUIC dissector hands the streams to nobody. What is left is a postdissector that reads
 * QUIC's own fields from the tree. It makes Wireshark build trees for all traffic, so it is registered, and asks for fields,
 * only while its preference is on.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-carriers.h"

#include <string.h>

#include <epan/prefs.h>

#include "packet-iggy-conversation.h"
#include "packet-iggy-framing.h"
#include "packet-iggy-recognise.h"
#include "packet-iggy-wanted.h"

#define LATE_LIMIT 256u /* holes of a stream behind which bytes are kept */

/* The fields that are read, in the order of `quic_fields`. */
enum { QUIC_CONNECTION, QUIC_STREAM, QUIC_OFFSET, QUIC_DATA, QUIC_ALPN, QUIC_FIELDS };
static const char *const quic_names[QUIC_FIELDS] = { "quic.connection.number", "quic.stream.stream_id", "quic.stream.offset",
                                                     "quic.stream_data", "tls.handshake.extensions_alpn_str" };
static int quic_fields[QUIC_FIELDS];

static iggy_bool quic_wanted;
static dissector_handle_t quic_handle;
static int quic_proto;

/* A STREAM frame of the packet. */
typedef struct {
    uint64_t stream, offset;
    tvbuff_t *tvb;
    int start;
    uint32_t length;
    uint32_t ordinal; /* in the packet, from 0 */
} piece_t;

/* Bytes of a stream without a hole. */
typedef struct {
    uint64_t offset;
    uint8_t *bytes;
    uint32_t length, room;
} run_t;

/* Bytes that came before earlier ones. */
typedef struct late {
    struct late *next;
    run_t run;
} late_t;

/* One direction of a stream. */
typedef struct {
    run_t    run; /* from the first byte on */
    late_t  *late;
    unsigned late_count;
    bool     done; /* its frame was found, or it is not Iggy's */
} half_t;

typedef struct {
    uint64_t id;
    half_t half[2];
} stream_t;

typedef struct {
    iggy_conversation_t *conversation;
    wmem_map_t *streams;
    address  server;
    uint32_t server_port;
    bool     foreign; /* speaks another protocol */
} connection_t;

/*
 * A frame that was found. Its bytes are kept: only in the first pass are QUIC's fields sure to be in the tree, since
 * Wireshark asks postdissectors what they want in that pass alone.
 */
typedef struct {
    uint32_t packet, ordinal;
    uint64_t stream;
    iggy_conversation_t *conversation;
    uint8_t *bytes;
    uint32_t length;
    bool     server;
} found_t;

static wmem_map_t *connections; /* number to connection_t */
static found_t *found;          /* in the order of packets; file scope */
static unsigned found_count, found_room;

static void forget(void)
{
    found = NULL;
    found_count = found_room = 0;
}

/* ---- what QUIC shows ---- */

static uint64_t number_of(const field_info *field)
{
    ftenum_t type = (ftenum_t)field->hfinfo->type;
    return type == FT_UINT64 ? fvalue_get_uinteger64(iggy_fvalue(field)) : fvalue_get_uinteger(iggy_fvalue(field));
}

static const field_info *field_at(const GPtrArray *fields, unsigned number)
{
    return fields && number < fields->len ? (const field_info *)g_ptr_array_index(fields, number) : NULL;
}

static bool follows(const field_info *field, const field_info *before)
{
    return field && field->ds_tvb == before->ds_tvb && field->start > before->start;
}

/* Only clients open streams, in both directions: one for each request (framing.md 1). */
static bool carries_request(uint64_t stream) { return (stream & 3) == 0; }

/*
 * The pieces of a packet. An offset belongs to the stream id before it and the data behind it; none means 0. What QUIC could not
 * read to its end has no data.
 */
static wmem_array_t *gather(packet_info *pinfo, proto_tree *tree)
{
    const GPtrArray *ids = proto_get_finfo_ptr_array(tree, quic_fields[QUIC_STREAM]);
    const GPtrArray *offsets = proto_get_finfo_ptr_array(tree, quic_fields[QUIC_OFFSET]);
    const GPtrArray *data = proto_get_finfo_ptr_array(tree, quic_fields[QUIC_DATA]);
    wmem_array_t *pieces = wmem_array_new(pinfo->pool, sizeof(piece_t));
    unsigned used = 0, taken = 0;
    for (unsigned i = 0; ids && i < ids->len; i++) {
        const field_info *id = field_at(ids, i), *bytes = field_at(data, taken), *offset = field_at(offsets, used);
        if (!follows(bytes, id))
            continue;
        piece_t piece = { number_of(id), 0, bytes->ds_tvb, bytes->start, (uint32_t)MAX(bytes->length, 0), i };
        taken++;
        if (follows(offset, id) && follows(bytes, offset)) {
            piece.offset = number_of(offset);
            used++;
        }
        if (carries_request(piece.stream))
            wmem_array_append_one(pieces, piece);
    }
    return pieces;
}

/* Iggy has no ALPN. */
static bool names_another_protocol(proto_tree *tree)
{
    const GPtrArray *names = proto_get_finfo_ptr_array(tree, quic_fields[QUIC_ALPN]);
    return names && names->len;
}

/* ---- streams, first pass ---- */

/* The first packet of a connection, without which QUIC knows none, comes from its client. */
static connection_t *connection_of(const packet_info *pinfo, uint32_t number)
{
    connection_t *connection = (connection_t *)wmem_map_lookup(connections, GUINT_TO_POINTER(number + 1));
    if (!connection) {
        connection = wmem_new0(wmem_file_scope(), connection_t);
        connection->conversation = iggy_conversation_new();
        connection->streams = wmem_map_new(wmem_file_scope(), wmem_int64_hash, g_int64_equal);
        copy_address_wmem(wmem_file_scope(), &connection->server, &pinfo->dst);
        connection->server_port = pinfo->destport;
        wmem_map_insert(connections, GUINT_TO_POINTER(number + 1), connection);
    }
    return connection;
}

/* By the server's address and port: those of a client may change on the way. */
static bool from_server(const connection_t *connection, const packet_info *pinfo)
{
    return pinfo->srcport == connection->server_port && addresses_equal(&pinfo->src, &connection->server);
}

static stream_t *stream_of(connection_t *connection, uint64_t id)
{
    stream_t *stream = (stream_t *)wmem_map_lookup(connection->streams, &id);
    if (!stream) {
        stream = wmem_new0(wmem_file_scope(), stream_t);
        stream->id = id;
        wmem_map_insert(connection->streams, &stream->id, stream);
    }
    return stream;
}

/* Bytes at `offset`: what is new is appended. False if they do not touch the run. */
static bool extend(run_t *run, uint64_t offset, const uint8_t *bytes, uint32_t length)
{
    if (offset < run->offset || offset > run->offset + run->length)
        return false;
    uint32_t old = (uint32_t)(run->offset + run->length - offset);
    if (old >= length)
        return true;
    uint32_t add = length - old;
    if (run->length + add > run->room) {
        run->room = MAX(run->length + add, 2 * run->room);
        run->bytes = (uint8_t *)wmem_realloc(wmem_file_scope(), run->bytes, run->room);
    }
    memcpy(run->bytes + run->length, bytes + old, add);
    run->length += add;
    return true;
}

static void keep_late(half_t *half, uint64_t offset, const uint8_t *bytes, uint32_t length)
{
    if (offset > iggy_maximum_frame_size())
        return;
    for (late_t *late = half->late; late; late = late->next)
        if (extend(&late->run, offset, bytes, length))
            return;
    if (half->late_count >= LATE_LIMIT)
        return;
    late_t *late = wmem_new0(wmem_file_scope(), late_t);
    late->next = half->late;
    late->run.offset = offset;
    extend(&late->run, offset, bytes, length);
    half->late = late;
    half->late_count++;
}

static void free_late(late_t *late)
{
    wmem_free(wmem_file_scope(), late->run.bytes);
    wmem_free(wmem_file_scope(), late);
}

/* Bytes that waited and now fit. Each round uses one run, so that there are no more rounds than runs. */
static void use_late(half_t *half)
{
    for (late_t **at = &half->late; *at;) {
        late_t *late = *at;
        if (!extend(&half->run, late->run.offset, late->run.bytes, late->run.length)) {
            at = &late->next;
            continue;
        }
        *at = late->next;
        half->late_count--;
        free_late(late);
        at = &half->late;
    }
}

static void close_half(half_t *half)
{
    for (late_t *late = half->late, *next; late; late = next) {
        next = late->next;
        free_late(late);
    }
    wmem_free(wmem_file_scope(), half->run.bytes);
    memset(half, 0, sizeof *half);
    half->done = true;
}

/* Size of the frame that begins the bytes: 0 if more are needed to tell, UINT32_MAX if it is none. */
static uint32_t frame_size(const uint8_t *bytes, uint32_t length)
{
    iggy_search_t search = { .maximum = iggy_maximum_frame_size(), .find = IGGY_FIND_REQUEST | IGGY_FIND_REPLY,
                             .plane_known = true };
    if (length < IGGY_HEADER_SIZE)
        return 0;
    return iggy_minimum(bytes, &search) ? iggy_size_of(bytes) : UINT32_MAX;
}

static void add_found(const packet_info *pinfo, const connection_t *connection, const piece_t *piece, uint8_t *bytes,
                      uint32_t length)
{
    if (found_count == found_room) {
        found_room = found_room ? 2 * found_room : 64;
        found = (found_t *)wmem_realloc(wmem_file_scope(), found, found_room * sizeof *found);
    }
    found[found_count++] = (found_t){ pinfo->num, piece->ordinal, piece->stream, connection->conversation, bytes, length,
                                      bytes[IGGY_COMMAND_OFFSET] != IGGY_REQUEST };
}

/* A piece in its place; a frame that ends in it. */
static void take_piece(const packet_info *pinfo, const connection_t *connection, half_t *half, const piece_t *piece)
{
    const uint8_t *bytes = tvb_get_ptr(piece->tvb, piece->start, (int)piece->length);
    if (extend(&half->run, piece->offset, bytes, piece->length))
        use_late(half);
    else
        keep_late(half, piece->offset, bytes, piece->length);
    uint32_t size = frame_size(half->run.bytes, half->run.length);
    if (!size || (size != UINT32_MAX && size > half->run.length))
        return;
    if (size != UINT32_MAX) {
        add_found(pinfo, connection, piece, half->run.bytes, size);
        half->run.bytes = NULL;
    }
    close_half(half);
}

static void take_packet(packet_info *pinfo, proto_tree *tree)
{
    const field_info *number = field_at(proto_get_finfo_ptr_array(tree, quic_fields[QUIC_CONNECTION]), 0);
    if (!number)
        return;
    connection_t *connection = connection_of(pinfo, (uint32_t)number_of(number));
    connection->foreign |= names_another_protocol(tree);
    if (connection->foreign)
        return;
    wmem_array_t *pieces = gather(pinfo, tree);
    for (unsigned i = 0; i < wmem_array_get_count(pieces); i++) {
        const piece_t *piece = (const piece_t *)wmem_array_index(pieces, i);
        half_t *half = &stream_of(connection, piece->stream)->half[from_server(connection, pinfo)];
        bool there = piece->length && tvb_bytes_exist(piece->tvb, piece->start, (int)piece->length);
        if (there && !half->done)
            take_piece(pinfo, connection, half, piece);
    }
}

/* ---- all passes ---- */

static unsigned first_found(uint32_t packet)
{
    unsigned low = 0, high = found_count;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (found[middle].packet < packet)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void show_found(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, const found_t *one)
{
    tvbuff_t *bytes = tvb_new_child_real_data(tvb, one->bytes, one->length, (int)one->length);
    add_new_data_source(pinfo, bytes, "Iggy in QUIC");
    iggy_place_t place = {
        .conversation = one->conversation,
        .position = one->ordinal,
        .lane = one->stream + 1, /* 0: no lanes */
        .side = one->server ? IGGY_SIDE_SERVER : IGGY_SIDE_CLIENT,
    };
    iggy_show_frame(bytes, pinfo, tree, &place);
}

static int dissect_iggy_quic(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data _U_)
{
    if (!quic_wanted || !proto_is_frame_protocol(pinfo->layers, "quic"))
        return 0;
    if (tree && !PINFO_FD_VISITED(pinfo))
        take_packet(pinfo, tree);
    iggy_wanted_round();
    for (unsigned i = first_found(pinfo->num); i < found_count && found[i].packet == pinfo->num; i++)
        show_found(tvb, pinfo, tree, &found[i]);
    return (int)tvb_captured_length(tvb);
}

/* ---- registration ---- */

static GArray *wanted_fields(void)
{
    GArray *fields = g_array_new(FALSE, FALSE, sizeof(int));
    for (unsigned i = 0; i < QUIC_FIELDS; i++) {
        quic_fields[i] = proto_registrar_get_id_byname(quic_names[i]);
        if (quic_fields[i] > 0)
            g_array_append_val(fields, quic_fields[i]);
    }
    return fields;
}

void iggy_apply_quic(void)
{
    static bool registered;
    if (!registered && !quic_wanted)
        return;
    if (!registered) {
        quic_handle = create_dissector_handle(dissect_iggy_quic, quic_proto);
        register_postdissector(quic_handle);
        registered = true;
    }
    set_postdissector_wanted_hfids(quic_handle, quic_wanted ? wanted_fields() : NULL);
}

void iggy_register_quic(int proto, module_t *preferences)
{
    quic_proto = proto;
    connections = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), g_direct_hash, g_direct_equal);
    register_cleanup_routine(forget);
    prefs_register_bool_preference(preferences, "quic", "Look for Iggy in QUIC",
        "Iggy over QUIC announces no ALPN, so that its streams have to be read from the tree. That makes all captures slower; "
        "switch it on for those that need it.", &quic_wanted);
}
