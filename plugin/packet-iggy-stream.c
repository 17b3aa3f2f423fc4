/* packet-iggy-stream.c
 * Where frames begin and end in the two byte streams of a connection: in step, searching, waiting for evidence.
 *
 * A direction is a set of stretches: parts of the stream whose frames are known. Where a stretch ends the next header is
 * expected (in step); bytes that belong to no stretch are searched for a header (framing.md 8).
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-stream.h"

#include <string.h>

#include "packet-iggy-conversation.h"
#include "packet-iggy-recognise.h"

#define MANY_BYTES (UINT32_C(1) << 30) /* in a run of many pieces: positions are no more than 32 bits */
#define STRETCHES 16u     /* of a direction; the lowest is forgotten first */
#define DOUBT 3u          /* so many headers behind one found by search have to look like headers */
#define WAIT_BYTES 65536u /* a header found by search waits for evidence so long */
#define WAIT_PIECES 256u
#define HOLD_BYTES (2 * WAIT_BYTES) /* so much is asked for again as a whole, to wait for a header in it */
#define UNSEEN_LIMIT (1u << 24) /* acknowledged so far beyond what came: no loss but made-up numbers */
#define LARGE_SEGMENT 536u /* the least MSS of IPv4: smaller segments say nothing by where they begin and end */

/* Positions count from the first byte seen, so that older ones fit too. */
#define POSITION_BASE (UINT64_C(1) << 32)

typedef struct {
    uint64_t start; /* of the first header */
    uint64_t head;  /* of the last frame while it is not complete; else the same as end */
    uint64_t end;   /* the next header stands here */
    uint8_t  doubt; /* headers that have to look like headers before the size alone is believed */
} stretch_t;

typedef enum { PLANE_UNKNOWN, PLANE_CLIENT, PLANE_REPLICA } plane_t;

typedef struct {
    iggy_run_t *runs; /* in order of their packets */
    unsigned    runs_count, runs_room;
    stretch_t   first_stretch;
    stretch_t  *more_stretches; /* STRETCHES - 1 of them; NULL as long as there is one alone: mostly nothing is missing */
    unsigned    stretches_count;
    uint64_t    latest;       /* position of the last piece: 32-bit ones are unwrapped around it; 0 before the first */
    uint64_t    reached;      /* the highest position behind a piece; 0 before the first */
    uint64_t    asked;        /* where the last request for more began */
    uint32_t    asked_length; /* bytes that were there then; 0: nothing is asked for */
    uint32_t    asked_pieces;
    uint64_t    declined;     /* the last piece that was not ours */
    uint32_t    declined_length;
    bool        apart;        /* the next piece does not follow the last run: another one came between */
    bool        asked_hole;   /* bytes are missing before the next frame */
    bool        asked_large;  /* the bytes asked from began with a segment, and all segments since were large */
    uint8_t     role;         /* iggy_sender_t, by the commands seen */
    uint64_t    carry;        /* a header cut by the end of a piece that could not be continued: where it begins */
    uint8_t     carried[IGGY_COMMAND_END];
    uint8_t     carried_length;
} direction_t;

struct iggy_stream {
    struct iggy_conversation *conversation;
    direction_t direction[2];
    uint8_t     plane;   /* plane_t */
    bool        claimed; /* something of it was ours */
    bool        acknowledges, unseen; /* iggy_place_t, of the last piece */
    bool        bounds; /* iggy_piece_t, of the last piece */
    uint32_t    acknowledged, told_end, bound;
    iggy_run_t  asked_for; /* the run of one piece, made of one of many */
};

/* One piece on its way. */
typedef struct {
    iggy_stream_t *stream;
    direction_t   *d;
    const iggy_piece_t *piece;
    uint64_t   base;    /* position of byte 0 */
    uint32_t   offset;  /* of the next byte */
    stretch_t *stretch; /* in step with it; NULL: searching */
    bool       hole;    /* the next frame comes after missing bytes */
    bool       lost;    /* step was lost in this piece */
    bool       done;
    uint32_t   last_segment; /* where the last of joined segments begins; 0: the piece is one */
    bool       overtaken; /* bytes behind the piece were handed over already: nobody can add them to it */
    uint32_t   replica; /* the next header of the replica plane behind what was searched; 0: not looked for yet */
} work_t;

/* A stream before a piece, and the stretches of the piece's direction that stand elsewhere. */
typedef struct {
    iggy_stream_t stream;
    stretch_t     more_stretches[STRETCHES - 1];
} before_t;

/* ---- life ---- */

iggy_stream_t *iggy_stream_try(wmem_allocator_t *scope) { return wmem_new0(scope, iggy_stream_t); }

iggy_stream_t *iggy_stream_keep(const iggy_stream_t *stream)
{
    iggy_stream_t *kept = wmem_new(wmem_file_scope(), iggy_stream_t);
    *kept = *stream;
    kept->conversation = iggy_conversation_new();
    return kept;
}

void iggy_stream_fill_place(const iggy_stream_t *stream, uint32_t end, iggy_place_t *place)
{
    bool told = (int32_t)(end - stream->told_end) <= 0;
    place->acknowledges = stream->acknowledges && (told || stream->bounds);
    place->bounded = !told;
    place->acknowledged = told ? stream->acknowledged : stream->bound;
    place->unseen = stream->unseen;
}

struct iggy_conversation *iggy_stream_conversation(const iggy_stream_t *stream) { return stream->conversation; }

/* ---- runs ---- */

bool iggy_stream_is_server(const iggy_stream_t *stream, const iggy_piece_t *piece)
{
    uint8_t role = stream->direction[piece->direction].role, other = stream->direction[!piece->direction].role;
    if (piece->sender != IGGY_SENDER_UNKNOWN)
        return piece->sender == IGGY_SENDER_SERVER;
    if (role != IGGY_SENDER_UNKNOWN)
        return role == IGGY_SENDER_SERVER;
    if (other != IGGY_SENDER_UNKNOWN)
        return other == IGGY_SENDER_CLIENT;
    return piece->guess == IGGY_SENDER_SERVER;
}

static bool is_server(const work_t *work) { return iggy_stream_is_server(work->stream, work->piece); }

static void add_run(work_t *work, iggy_run_kind_t kind, uint32_t offset, uint32_t length, uint8_t flags)
{
    direction_t *d = work->d;
    if (!d->runs || d->runs_count == d->runs_room) {
        d->runs_room += MAX(d->runs_room / 2, 4);
        d->runs = (iggy_run_t *)wmem_realloc(wmem_file_scope(), d->runs, d->runs_room * sizeof *d->runs);
    }
    d->runs[d->runs_count++] = (iggy_run_t){ .packet = work->piece->packet, .position = work->piece->position,
                                             .offset = offset, .length = length, .kind = (uint8_t)kind, .flags = flags,
                                             .turn = work->piece->turn };
}

/* From the work's offset on; moves it. */
static void pass_over(work_t *work, iggy_run_kind_t kind, uint32_t length, uint8_t flags)
{
    if (!length)
        return;
    add_run(work, kind, work->offset, length, flags);
    work->offset += length;
}

static void ask(work_t *work, uint32_t length)
{
    if (work->piece->reported > work->offset)
        add_run(work, IGGY_RUN_ASK, work->offset, length, 0);
    work->done = true;
}

static bool is_of(const iggy_run_t *run, const iggy_piece_t *piece)
{
    return run->packet == piece->packet && run->position == piece->position && run->turn == piece->turn &&
           !(run->flags & IGGY_RUN_MANY);
}

static uint32_t last_packet(const iggy_run_t *run) { return run->flags & IGGY_RUN_MANY ? run->offset : run->packet; }

/* Whether a piece is one of those of a run of many. */
static bool is_among(const iggy_run_t *run, const iggy_piece_t *piece)
{
    uint32_t from = piece->position - run->position;
    return (run->flags & IGGY_RUN_MANY) && run->packet <= piece->packet && piece->packet <= run->offset && piece->turn == 0 &&
           from < run->length && piece->reported <= run->length - from;
}

/* A run of many that the piece is one of: none but the last that begins before its packet, and those that begin in it. */
static const iggy_run_t *find_many(const direction_t *d, const iggy_piece_t *piece, unsigned low)
{
    for (unsigned i = low ? low - 1 : 0; i < d->runs_count && d->runs[i].packet <= piece->packet; i++)
        if (is_among(&d->runs[i], piece))
            return &d->runs[i];
    return NULL;
}

static const iggy_run_t *one_of_many(iggy_stream_t *stream, const iggy_run_t *many, const iggy_piece_t *piece)
{
    stream->asked_for = (iggy_run_t){ .packet = piece->packet, .position = piece->position, .length = piece->reported,
                                      .kind = many->kind, .flags = many->flags & (uint8_t)~IGGY_RUN_MANY };
    return &stream->asked_for;
}

/* Whole frames from the first byte of a piece to its last, and nothing to say about them. */
static bool is_plain(const iggy_run_t *run)
{
    const uint8_t usual = IGGY_RUN_SERVER | IGGY_RUN_REPLICA | IGGY_RUN_MANY;
    bool from_start = !run->offset || (run->flags & IGGY_RUN_MANY);
    return run->kind == IGGY_RUN_FRAMES && from_start && !run->turn && !(run->flags & ~usual) && run->length < MANY_BYTES;
}

/* A piece (its runs begin at `first`) may go on with the run before: connections that miss nothing need no run a packet. */
static void join_runs(direction_t *d, const iggy_piece_t *piece, unsigned first)
{
    bool apart = d->apart;
    d->apart = false;
    if (apart || !first || d->runs_count != first + 1)
        return;
    const iggy_run_t *run = &d->runs[first];
    iggy_run_t *before = &d->runs[first - 1];
    if (!is_plain(run) || !is_plain(before) || run->length != piece->reported || last_packet(before) > run->packet ||
        (before->flags & ~IGGY_RUN_MANY) != run->flags || before->position + before->length != run->position)
        return;
    before->flags |= IGGY_RUN_MANY;
    before->offset = run->packet;
    before->length += run->length;
    d->runs_count--;
}

const iggy_run_t *iggy_stream_runs(iggy_stream_t *stream, const iggy_piece_t *piece, unsigned *count)
{
    const direction_t *d = &stream->direction[piece->direction];
    unsigned low = 0, high = d->runs_count;
    *count = 0;
    if (!high || last_packet(&d->runs[high - 1]) < piece->packet) /* the first pass asks before it looks */
        return NULL;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (d->runs[middle].packet < piece->packet)
            low = middle + 1;
        else
            high = middle;
    }
    const iggy_run_t *many = find_many(d, piece, low);
    if (many) {
        *count = 1;
        return one_of_many(stream, many, piece);
    }
    while (low < d->runs_count && d->runs[low].packet == piece->packet && !is_of(&d->runs[low], piece))
        low++;
    unsigned end = low;
    while (end < d->runs_count && is_of(&d->runs[end], piece))
        end++;
    *count = end - low;
    return *count ? &d->runs[low] : NULL;
}

/* ---- stretches ---- */

static stretch_t *stretch_number(direction_t *d, unsigned number)
{
    if (!number)
        return &d->first_stretch;
    if (!d->more_stretches)
        d->more_stretches = wmem_alloc_array(wmem_file_scope(), stretch_t, STRETCHES - 1);
    return &d->more_stretches[number - 1];
}

static stretch_t *new_stretch(direction_t *d, uint64_t start, uint8_t doubt)
{
    stretch_t *stretch = &d->first_stretch;
    if (d->stretches_count < STRETCHES) {
        stretch = stretch_number(d, d->stretches_count++);
    } else {
        for (unsigned i = 1; i < STRETCHES; i++)
            if (stretch_number(d, i)->end < stretch->end)
                stretch = stretch_number(d, i);
    }
    *stretch = (stretch_t){ .start = start, .head = start, .end = start, .doubt = doubt };
    return stretch;
}

/* A stretch that grew up to the beginning of another one is taken in by that one: the hole between them is filled. */
static stretch_t *join(direction_t *d, stretch_t *stretch)
{
    for (unsigned i = 0; i < d->stretches_count; i++) {
        stretch_t *next = stretch_number(d, i);
        if (next == stretch || next->start != stretch->end)
            continue;
        next->start = stretch->start;
        stretch_t *last = stretch_number(d, --d->stretches_count);
        if (stretch != last)
            *stretch = *last;
        return next == last ? stretch : next;
    }
    return stretch;
}

/* ---- what frames tell of the connection ---- */

static void learn(work_t *work, const uint8_t *header)
{
    iggy_stream_t *stream = work->stream;
    uint8_t command = header[IGGY_COMMAND_OFFSET];
    switch (iggy_find_of(command)) {
    case IGGY_FIND_REPLY: /* a replica listener refuses them */
        stream->plane = PLANE_CLIENT;
        work->d->role = IGGY_SENDER_SERVER;
        break;
    case IGGY_FIND_REQUEST:
        if (stream->plane == PLANE_UNKNOWN)
            stream->plane = PLANE_CLIENT;
        if (stream->plane == PLANE_CLIENT)
            work->d->role = IGGY_SENDER_CLIENT;
        break;
    case IGGY_FIND_REPLICA:
        if (stream->plane == PLANE_UNKNOWN)
            stream->plane = PLANE_REPLICA;
        if (command == IGGY_REPLICA_HELLO || command == IGGY_REPLICA_FINISH)
            work->d->role = IGGY_SENDER_CLIENT;
        else if (command == IGGY_REPLICA_CHALLENGE)
            work->d->role = IGGY_SENDER_SERVER;
        break;
    default:
        break;
    }
}

/* What a search may find: the plane and the side rule commands out. */
static uint8_t find_mask(const work_t *work)
{
    const iggy_stream_t *stream = work->stream;
    if (stream->plane == PLANE_REPLICA)
        return IGGY_FIND_REPLICA | IGGY_FIND_UNUSED;
    uint8_t mask = stream->plane == PLANE_CLIENT ? IGGY_FIND_ALL & ~IGGY_FIND_REPLICA : IGGY_FIND_ALL;
    bool known = work->piece->sender != IGGY_SENDER_UNKNOWN || work->d->role != IGGY_SENDER_UNKNOWN ||
                 stream->direction[!work->piece->direction].role != IGGY_SENDER_UNKNOWN;
    if (known)
        mask &= (uint8_t)~(is_server(work) ? IGGY_FIND_REQUEST : IGGY_FIND_REPLY);
    return mask;
}

static iggy_search_t search_of(const work_t *work)
{
    const direction_t *d = work->d;
    bool again = d->asked_length && d->asked == work->base;
    return (iggy_search_t){ .maximum = work->piece->maximum, .find = find_mask(work),
                            .plane_known = work->stream->plane != PLANE_UNKNOWN,
                            .one_segment = work->piece->one_segment, .many_large = again && d->asked_large };
}

/* ---- in step ---- */

static uint32_t bytes_left(const work_t *work) { return work->piece->reported - work->offset; }

static uint32_t bytes_here(const work_t *work)
{
    return work->piece->captured > work->offset ? work->piece->captured - work->offset : 0;
}

static bool may_ask(const work_t *work)
{
    return work->piece->may_ask && work->piece->captured == work->piece->reported && !work->overtaken;
}

static uint8_t frame_flags(work_t *work, const uint8_t *header)
{
    uint8_t find = iggy_find_of(header[IGGY_COMMAND_OFFSET]);
    bool either = (find & (IGGY_FIND_REQUEST | IGGY_FIND_UNUSED)) != 0;
    bool replica = either ? work->stream->plane == PLANE_REPLICA : find != IGGY_FIND_REPLY;
    uint8_t flags = (uint8_t)((is_server(work) ? IGGY_RUN_SERVER : 0) | (replica ? IGGY_RUN_REPLICA : 0) |
                              (work->hole ? IGGY_RUN_HOLE : 0));
    work->hole = false;
    return flags;
}

/* A whole frame: longer run if it goes on like the one before. */
static void take_frame(work_t *work, uint32_t size, uint8_t flags)
{
    direction_t *d = work->d;
    iggy_run_t *last = d->runs_count ? &d->runs[d->runs_count - 1] : NULL;
    bool grows = last && is_of(last, work->piece) && last->kind == IGGY_RUN_FRAMES &&
                 last->offset + last->length == work->offset && (last->flags & ~IGGY_RUN_HOLE) == flags;
    if (grows) {
        last->length += size;
        work->offset += size;
    } else {
        pass_over(work, IGGY_RUN_FRAMES, size, flags);
    }
    work->stretch->head = work->stretch->end = work->base + work->offset;
    work->stretch = join(d, work->stretch);
    work->stream->claimed = true;
}

/* The header is cut by the end of the piece, before its size. */
static void header_is_cut(work_t *work)
{
    direction_t *d = work->d;
    uint32_t here = bytes_here(work), left = bytes_left(work);
    if (may_ask(work)) {
        ask(work, IGGY_ONE_MORE);
        return;
    }
    if (here == left) {
        d->carry = work->base + work->offset;
        d->carried_length = (uint8_t)here;
        memcpy(d->carried, work->piece->bytes + work->offset, here);
    }
    pass_over(work, IGGY_RUN_CONTINUATION, left, 0);
    work->done = true;
}

static bool waited_long(const work_t *work, uint32_t at)
{
    const direction_t *d = work->d;
    return work->piece->reported - at > WAIT_BYTES || (d->asked == work->base + at && d->asked_pieces > WAIT_PIECES);
}

/* Whether a size may be waited for as a whole: behind a frame whose own was too small the next header may come at any time. */
static bool sure_of(const work_t *work, const uint8_t *header)
{
    return bytes_here(work) >= IGGY_COMMON_END && iggy_clean(header, IGGY_COMMON_END);
}

/* A frame that ends behind the piece. */
static void frame_is_cut(work_t *work, uint32_t size)
{
    uint32_t left = bytes_left(work);
    const uint8_t *header = work->piece->bytes + work->offset;
    work->stretch->head = work->base + work->offset;
    work->stretch->end = work->stretch->head + size;
    work->stream->claimed = true;
    if (may_ask(work))
        ask(work, sure_of(work, header) || waited_long(work, work->offset) ? size - left : IGGY_ONE_MORE);
    else if (bytes_here(work) >= IGGY_COMMAND_END)
        pass_over(work, IGGY_RUN_PARTIAL, left, frame_flags(work, header));
    else
        pass_over(work, IGGY_RUN_CONTINUATION, left, 0);
    work->done = true;
}

/* Whether nothing but the size speaks against a header: behind a size that was too small stands the rest of a body. */
static bool like_a_header(const uint8_t *bytes, uint32_t length)
{
    return length >= IGGY_COMMON_END && iggy_find_of(bytes[IGGY_COMMAND_OFFSET]) && iggy_clean(bytes, IGGY_COMMON_END);
}

/* The size is out of range: its header is shown as far as no other one begins in it, and the search begins. */
static void size_is_bad(work_t *work)
{
    iggy_search_t search = search_of(work);
    const uint8_t *bytes = work->piece->bytes + work->offset;
    uint32_t here = bytes_here(work);
    uint32_t next = (uint32_t)iggy_find_header(bytes, here, 1, &search);
    uint32_t shown = like_a_header(bytes, here) ? IGGY_HEADER_SIZE : IGGY_SIZE_END;
    work->stretch = NULL;
    work->hole = work->lost = true;
    pass_over(work, IGGY_RUN_BAD, MIN(next, shown), is_server(work) ? IGGY_RUN_SERVER : 0);
}

/* Behind a header that was found by search not every size is believed. */
static bool in_doubt(work_t *work)
{
    iggy_search_t any = { .maximum = work->piece->maximum, .find = IGGY_FIND_ALL };
    uint32_t here = bytes_here(work);
    if (!work->stretch->doubt)
        return false;
    iggy_verdict_t verdict = iggy_plausible(work->piece->bytes + work->offset, here, &any);
    if (verdict == IGGY_MORE && may_ask(work)) {
        ask(work, IGGY_ONE_MORE);
        return true;
    }
    if (verdict == IGGY_NO) {
        work->stretch = NULL;
        work->hole = work->lost = true;
        return true;
    }
    work->stretch->doubt--;
    return false;
}

/*
 * A header that nobody sends, and either nothing in it is right but a size that is possible, or in its frame stands one that
 * somebody sends, or none can begin at its end: then the size of the frame before it was wrong.
 */
static bool out_of_step(const work_t *work, const uint8_t *header)
{
    iggy_search_t any = { .maximum = work->piece->maximum, .find = IGGY_FIND_ALL };
    iggy_search_t search = search_of(work);
    uint32_t here = bytes_here(work), size = iggy_size_of(header);
    if (iggy_plausible(header, here, &any) != IGGY_NO)
        return false;
    size_t reach = (size_t)MIN(here, (uint64_t)size + IGGY_HEADER_SIZE - 1); /* of headers that begin in the frame */
    size_t next = iggy_find_header(header, reach, 1, &search);
    if (next < reach && iggy_real(header + next, &search))
        return true;
    if (iggy_clean(header, here))
        return false;
    if (here > IGGY_COMMAND_OFFSET && !iggy_find_of(header[IGGY_COMMAND_OFFSET]))
        return true;
    return size < here && iggy_in_step(header + size, here - size, any.maximum) == IGGY_NO;
}

static void step(work_t *work)
{
    uint64_t position = work->base + work->offset;
    if (position < work->stretch->head) { /* up to a frame that was seen already */
        uint64_t known = work->stretch->head - position;
        pass_over(work, IGGY_RUN_CONTINUATION, (uint32_t)MIN(known, bytes_left(work)), IGGY_RUN_REPEAT);
        return;
    }
    if (bytes_here(work) < IGGY_SIZE_END) {
        header_is_cut(work);
        return;
    }
    if (in_doubt(work))
        return;
    const uint8_t *header = work->piece->bytes + work->offset;
    if (iggy_in_step(header, bytes_here(work), work->piece->maximum) == IGGY_NO) {
        size_is_bad(work);
        return;
    }
    if (out_of_step(work, header)) {
        work->stretch->end = work->stretch->head;
        work->stretch = NULL;
        work->hole = work->lost = true;
        return;
    }
    uint32_t size = iggy_size_of(header);
    if (bytes_here(work) > IGGY_COMMAND_OFFSET)
        learn(work, header);
    if (size <= bytes_left(work))
        take_frame(work, size, frame_flags(work, header));
    else
        frame_is_cut(work, size);
}

/* ---- searching ---- */

static void found(work_t *work, uint32_t at)
{
    pass_over(work, IGGY_RUN_CONTINUATION, at - work->offset, IGGY_RUN_LOST);
    work->stretch = new_stretch(work->d, work->base + at, DOUBT);
    work->hole = true;
}

/* On a connection that nobody gave to us a strong header counts without evidence only at the beginning of a segment. */
static bool may_stand(const work_t *work, uint32_t at)
{
    return work->stream->claimed || work->piece->trust == IGGY_TRUST_PORT || at == 0;
}

/* A header without evidence: whether it is worth waiting for. Nothing but strong ones are, until the connection is ours. */
static bool worth_waiting(const work_t *work, uint32_t at, const iggy_search_t *search)
{
    return may_ask(work) && may_stand(work, at) &&
           (work->stream->claimed || iggy_real(work->piece->bytes + at, search));
}

/* A sealed frame never stands in what a client or its server sends: a seal behind a header of theirs decides against it. */
static bool sealed_behind(work_t *work, uint32_t at, const iggy_search_t *search, uint32_t *sealed)
{
    iggy_search_t replica = *search;
    replica.find &= IGGY_FIND_REPLICA;
    if (!replica.find || (iggy_find_of(work->piece->bytes[at + IGGY_COMMAND_OFFSET]) & IGGY_FIND_REPLICA))
        return false;
    uint32_t length = work->piece->captured;
    if (work->replica <= at)
        work->replica = (uint32_t)iggy_find_header(work->piece->bytes, length, at + 1, &replica);
    if (work->replica >= length || !iggy_seal_verifies(work->piece->bytes + work->replica))
        return false;
    *sealed = work->replica;
    return true;
}

/* What becomes of the header at `at`: YES: `at`, perhaps moved, is a frame. MORE: wait. */
static iggy_verdict_t judge(work_t *work, uint32_t *at, const iggy_search_t *search)
{
    const iggy_piece_t *piece = work->piece;
    iggy_verdict_t verdict = iggy_evidence(piece->bytes, piece->captured, *at, search);
    if (!work->stream->claimed && iggy_find_of(piece->bytes[*at + IGGY_COMMAND_OFFSET]) == IGGY_FIND_UNUSED)
        return IGGY_NO;
    if (!work->stream->claimed && piece->trust == IGGY_TRUST_NONE && !iggy_claims(piece->bytes + *at, search))
        return IGGY_NO;
    if (verdict != IGGY_MORE)
        return verdict;
    if (sealed_behind(work, *at, search, at))
        return IGGY_YES;
    if (worth_waiting(work, *at, search) && !waited_long(work, *at))
        return IGGY_MORE;
    /* Nothing more will come: the strong tests have to do. A prepare may be an entry of a suffix, whatever it is. */
    bool strong = iggy_real(piece->bytes + *at, search) && piece->bytes[*at + IGGY_COMMAND_OFFSET] != IGGY_PREPARE;
    return strong && may_stand(work, *at) ? IGGY_YES : IGGY_NO;
}

/* No header: keep what may be the beginning of one, the rest is continuation. */
static void nothing_found(work_t *work, const iggy_search_t *search)
{
    const iggy_piece_t *piece = work->piece;
    bool ours = work->stream->claimed;
    uint32_t cut = piece->reported;
    work->done = true;
    iggy_search_t sent = *search;
    if (!ours)
        sent.find &= (uint8_t)~IGGY_FIND_UNUSED; /* foreign zeros look like a command that nobody sends */
    if (may_ask(work) && (ours || piece->trust == IGGY_TRUST_PORT) && !waited_long(work, work->offset))
        cut = (uint32_t)iggy_find_beginning(piece->bytes, piece->captured, work->offset, &sent, !ours);
    if (!ours && cut == piece->reported)
        return;
    pass_over(work, IGGY_RUN_CONTINUATION, cut - work->offset, IGGY_RUN_LOST);
    if (cut < piece->reported)
        ask(work, IGGY_ONE_MORE);
}

/* A frame with a code or an operation that nobody knows, alone in a segment: in that which ends the piece. */
static bool unknown_frame(work_t *work, const iggy_search_t *search)
{
    const iggy_piece_t *piece = work->piece;
    uint32_t at = work->last_segment;
    if ((!at && !piece->one_segment) || work->offset > at || at >= piece->captured)
        return false;
    if (!iggy_unknown_frame(piece->bytes + at, piece->captured - at, search))
        return false;
    if (at && iggy_find_header(piece->bytes, piece->captured, work->offset, search) < at)
        return false; /* one that is known comes before it */
    found(work, at);
    return true;
}

static void look_for_header(work_t *work)
{
    const iggy_piece_t *piece = work->piece;
    iggy_search_t search = search_of(work);
    uint32_t from = work->offset;
    bool clients = work->stream->plane == PLANE_CLIENT;
    if (clients && unknown_frame(work, &search))
        return;
    while (from < piece->captured) {
        uint32_t at = (uint32_t)iggy_find_header(piece->bytes, piece->captured, from, &search);
        if (at >= piece->captured)
            break;
        uint32_t next = at + 1;
        iggy_verdict_t verdict = judge(work, &at, &search);
        if (verdict == IGGY_YES) {
            found(work, at);
            return;
        }
        if (verdict == IGGY_MORE) {
            pass_over(work, IGGY_RUN_CONTINUATION, at - work->offset, IGGY_RUN_LOST);
            ask(work, IGGY_ONE_MORE);
            return;
        }
        from = next;
    }
    nothing_found(work, &search);
}

/* ---- where a piece belongs ---- */

static uint64_t unwrap(direction_t *d, uint32_t position)
{
    uint64_t latest = d->latest ? d->latest : POSITION_BASE + position;
    d->latest = latest + (uint64_t)(int64_t)(int32_t)(position - (uint32_t)latest);
    return d->latest;
}

static stretch_t *stretch_at(direction_t *d, uint64_t position)
{
    stretch_t *within = NULL;
    for (unsigned i = 0; i < d->stretches_count; i++) {
        stretch_t *s = stretch_number(d, i);
        if (position == s->head || position == s->end)
            return s;
        if (s->start <= position && position < s->end)
            within = s;
    }
    return within;
}

/* The header whose beginning ended the piece before: its size is known as soon as 52 bytes of it are. */
static bool continue_carried(work_t *work)
{
    direction_t *d = work->d;
    if (!d->carried_length || work->base != d->carry + d->carried_length)
        return false;
    stretch_t *stretch = stretch_at(d, d->carry);
    uint32_t add = MIN(IGGY_COMMAND_END - d->carried_length, work->piece->captured);
    memcpy(d->carried + d->carried_length, work->piece->bytes, add);
    d->carried_length = (uint8_t)(d->carried_length + add);
    if (!stretch || (d->carried_length < IGGY_SIZE_END && work->piece->captured < work->piece->reported)) {
        d->carried_length = 0;
        return false;
    }
    uint32_t passed = work->piece->reported;
    if (d->carried_length >= IGGY_SIZE_END) {
        if (iggy_in_step(d->carried, d->carried_length, work->piece->maximum) == IGGY_NO) {
            d->carried_length = 0;
            return false;
        }
        stretch->head = d->carry;
        stretch->end = d->carry + iggy_size_of(d->carried);
        passed = (uint32_t)MIN(stretch->end - work->base, passed);
        d->carried_length = 0;
    }
    pass_over(work, IGGY_RUN_CONTINUATION, passed, 0);
    if (work->offset < work->piece->reported)
        work->stretch = stretch;
    else
        work->done = true;
    return true;
}

/* At the first byte of a direction: whether frames begin here. MORE has asked. */
static iggy_verdict_t starts(work_t *work)
{
    const iggy_piece_t *piece = work->piece;
    iggy_search_t search = search_of(work);
    if (piece->trust == IGGY_TRUST_NONE && !work->stream->claimed) {
        if (piece->captured < IGGY_HEADER_SIZE || !iggy_claims(piece->bytes, &search))
            return IGGY_NO;
        return iggy_evidence(piece->bytes, piece->captured, 0, &search) == IGGY_NO ? IGGY_NO : IGGY_YES;
    }
    iggy_verdict_t verdict = iggy_starts(piece->bytes, piece->captured, piece->maximum, work->stream->claimed);
    if (verdict != IGGY_MORE)
        return verdict;
    if (!may_ask(work))
        return piece->captured >= IGGY_COMMAND_END ? IGGY_YES : IGGY_NO;
    ask(work, IGGY_ONE_MORE);
    return IGGY_MORE;
}

static void locate(work_t *work)
{
    if (continue_carried(work))
        return;
    work->stretch = stretch_at(work->d, work->base);
    if (!work->stretch) {
        if (work->piece->start && starts(work) == IGGY_YES)
            work->stretch = new_stretch(work->d, work->base, 0);
        return;
    }
    const stretch_t *s = work->stretch;
    if (s->head < work->base && work->base < s->end)
        pass_over(work, IGGY_RUN_CONTINUATION, (uint32_t)MIN(s->end - work->base, work->piece->reported), 0);
}

/* ---- a piece ---- */

/* What was asked for, so that the call that brings it can be told. */
static void note_asked(direction_t *d, const iggy_piece_t *piece, uint64_t base, const iggy_run_t *last)
{
    bool again = d->asked_length && d->asked == base;
    uint32_t grown = again && piece->reported > d->asked_length ? piece->reported - d->asked_length : piece->reported;
    if (!last || last->kind != IGGY_RUN_ASK) {
        d->asked_length = 0;
        return;
    }
    bool from_start = last->offset == 0;
    bool large = grown >= LARGE_SEGMENT || (!again && grown == IGGY_HEADER_SIZE); /* some SDKs send the header alone */
    d->asked_pieces = again && from_start ? d->asked_pieces + 1 : 1;
    d->asked_large = from_start && large && (again ? d->asked_large : piece->one_segment);
    d->asked = base + last->offset;
    d->asked_length = piece->reported - last->offset;
}

static void keep_before(const work_t *work, before_t *before)
{
    before->stream = *work->stream;
    if (work->d->more_stretches)
        memcpy(before->more_stretches, work->d->more_stretches, sizeof before->more_stretches);
}

/*
 * TCP cannot split joined segments before the last one: it would hand over the frames before the split once more, and a second
 * pass would not show them here. Then nothing is shown yet, and all is asked for again. (Others may have joined them: before
 * a connection is claimed, some heuristic.)
 */
static void hold_back(work_t *work, const before_t *before, unsigned first)
{
    direction_t *d = work->d;
    const iggy_run_t last = d->runs[d->runs_count - 1];
    iggy_run_t *runs = d->runs;
    unsigned room = d->runs_room;
    stretch_t *more = d->more_stretches;
    *work->stream = before->stream;
    d->runs = runs;
    d->runs_room = room;
    d->runs_count = first;
    d->more_stretches = more;
    if (d->stretches_count > 1)
        memcpy(more, before->more_stretches, sizeof before->more_stretches);
    add_run(work, IGGY_RUN_ASK, 0, last.length, 0);
}

/* Candidates may follow one another, each within the time that one is waited for: at some point none is waited for any more. */
static void give_up(iggy_run_t *asked, const iggy_piece_t *piece)
{
    asked->kind = IGGY_RUN_CONTINUATION;
    asked->flags = IGGY_RUN_LOST;
    asked->length = piece->reported - asked->offset;
}

/* What the sender has received; a frame or more beyond what came here is missing in the capture. */
static void note_acknowledged(iggy_stream_t *stream, const iggy_piece_t *piece)
{
    uint64_t reached = stream->direction[!piece->direction].reached;
    stream->acknowledges = piece->acknowledges;
    stream->acknowledged = piece->acknowledged;
    stream->told_end = piece->told_end;
    stream->bounds = piece->bounds;
    stream->bound = piece->bound;
    uint32_t beyond = piece->acknowledged - (uint32_t)reached;
    stream->unseen = piece->acknowledges && reached && beyond >= IGGY_HEADER_SIZE && beyond < UNSEEN_LIMIT;
}

/*
 * How much of a piece was handed over before its last segment. Joined bytes were asked for by us, or by somebody who was given
 * what we declined; or TCP put them in order, then the last segment to come is the first one.
 */
static uint32_t handed_before(const direction_t *d, const iggy_piece_t *piece, uint64_t base)
{
    if (d->asked_length && d->asked == base)
        return d->asked_length;
    if (piece->one_segment)
        return 0;
    if (d->declined_length && d->declined <= base && base < d->declined + d->declined_length)
        return (uint32_t)(d->declined + d->declined_length - base);
    return d->reached || piece->start ? 0 : piece->reported; /* nothing is known of what came before */
}

/* Whether bytes are missing before a piece. What was asked for came in two calls, and the first one has told. */
static bool after_hole(const direction_t *d, const iggy_piece_t *piece, uint64_t base)
{
    if (d->asked_length && d->asked == base)
        return d->asked_hole;
    return d->reached ? base > d->reached : !piece->start;
}

bool iggy_stream_take(iggy_stream_t *stream, const iggy_piece_t *piece)
{
    note_acknowledged(stream, piece);
    direction_t *d = &stream->direction[piece->direction];
    work_t work = { .stream = stream, .d = d, .piece = piece, .base = unwrap(d, piece->position) };
    uint32_t before_length = handed_before(d, piece, work.base);
    bool hole = after_hole(d, piece, work.base);
    work.last_segment = before_length < piece->reported ? before_length : 0;
    work.hole = hole;
    work.overtaken = d->reached > work.base + piece->reported;
    d->reached = MAX(d->reached, work.base + piece->reported);
    unsigned first = d->runs_count;
    before_t before;
    if (before_length)
        keep_before(&work, &before);
    locate(&work);
    while (!work.done && work.offset < piece->reported) {
        if (work.stretch)
            step(&work);
        else
            look_for_header(&work);
    }
    if (work.d->runs_count == first) {
        d->apart = true;
        d->declined = work.base;
        d->declined_length = piece->reported;
        return false;
    }
    iggy_run_t *last = &d->runs[d->runs_count - 1];
    bool split = before_length && last->kind == IGGY_RUN_ASK && last->offset > 0 && last->offset <= before_length;
    if (split && !work.stretch && piece->reported > HOLD_BYTES) {
        give_up(last, piece);
        split = false;
    }
    if (split)
        hold_back(&work, &before, first);
    else
        hole = work.hole;
    d->asked_hole = hole;
    note_asked(d, piece, work.base, &d->runs[d->runs_count - 1]);
    join_runs(d, piece, first);
    return true;
}
