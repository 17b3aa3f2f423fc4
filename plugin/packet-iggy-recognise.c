/* packet-iggy-recognise.c
 * Is this an Iggy header? Pure functions of bytes: no trees, no columns, no state (framing.md 8).
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-recognise.h"

#include <string.h>

#include "packet-iggy.h"
#include "packet-iggy-commands.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define GROUP_METADATA (UINT64_C(1) << 63) /* replica.md 2 */
#define GROUP_LIMIT    (UINT64_C(1) << 52)
#define NUMBER_LIMIT   (UINT64_C(1) << 56) /* real request numbers and sessions are far below */
#define STATUS_LIMIT   20000u
#define ZEROS          66u /* bytes 62..127 */
#define FOLLOWED       64u /* headers that a chain is followed for */
#define HASHED         65536u /* bytes of a body: each header of a large piece may claim all of the rest as its own */
#define GLIMPSE        64u /* so much of a header is no chance: size, release, command, and zeros behind them */
#define ID_LEAST       8u  /* so many of 16 random bytes are not zero, all but once in 10^16 */

static uint32_t u32_at(const uint8_t *bytes, size_t offset)
{
    return (uint32_t)bytes[offset] | (uint32_t)bytes[offset + 1] << 8 | (uint32_t)bytes[offset + 2] << 16 |
           (uint32_t)bytes[offset + 3] << 24;
}

static uint64_t u64_at(const uint8_t *bytes, size_t offset)
{
    return u32_at(bytes, offset) | (uint64_t)u32_at(bytes, offset + 4) << 32;
}

/* Bytes from..to-1, as far as they are there. */
static bool all_zero(const uint8_t *bytes, size_t length, size_t from, size_t to)
{
    size_t end = MIN(to, length), i = from;
    uint64_t eight;
    for (; i + sizeof eight <= end; i += sizeof eight) {
        memcpy(&eight, bytes + i, sizeof eight);
        if (eight)
            return false;
    }
    for (; i < end; i++)
        if (bytes[i])
            return false;
    return true;
}

static unsigned count_set(const uint8_t *bytes, size_t from, size_t to)
{
    unsigned set = 0;
    for (size_t i = from; i < to; i++)
        set += bytes[i] != 0;
    return set;
}

uint32_t iggy_size_of(const uint8_t *header) { return u32_at(header, IGGY_SIZE_OFFSET); }

static bool size_in_range(const uint8_t *header, uint32_t maximum)
{
    uint32_t size = iggy_size_of(header);
    return size >= IGGY_HEADER_SIZE && size <= maximum;
}

/* ---- checksums (replica.md 3) ---- */

bool iggy_seal_verifies(const uint8_t *header)
{
    return u64_at(header, 8) == 0 && XXH3_64bits(header + 16, IGGY_HEADER_SIZE - 16) == u64_at(header, 0);
}

/* All 256 bytes, checksum and view taken as zero, a repair_prepare as the prepare that it repeats. */
bool iggy_identity_verifies(const uint8_t *header)
{
    uint8_t copy[IGGY_HEADER_SIZE];
    memcpy(copy, header, sizeof copy);
    memset(copy, 0, 16);
    memset(copy + 52, 0, 4);
    copy[IGGY_COMMAND_OFFSET] = IGGY_PREPARE;
    return u64_at(header, 8) == 0 && XXH3_64bits(copy, sizeof copy) == u64_at(header, 0);
}

/* ---- the shape of a header, by kind of command ---- */

typedef struct {
    uint8_t from, length; /* length 0: end of the list */
    uint8_t least;        /* 0: all bytes zero; else at least so many of them are not */
} span_t;

typedef struct {
    const span_t *minimum;
    const span_t *real;  /* on top of the minimum: what every real sender leaves zero */
    uint8_t       id;    /* where 16 random bytes stand; 0: nowhere */
    bool (*further)(const uint8_t *header);
} shape_t;

/* Operations that clients send: those of a command, or of several (1, 2). */
static bool client_operation(uint8_t operation)
{
    return operation == IGGY_OP_REGISTER || operation == IGGY_OP_NON_REPLICATED || iggy_command_of_operation(operation);
}

static bool number_in_range(const uint8_t *header, size_t offset)
{
    uint64_t number = u64_at(header, offset);
    return number != 0 && number < NUMBER_LIMIT;
}

static bool request_fits(const uint8_t *header)
{
    uint8_t operation = header[176];
    if (!client_operation(operation))
        return false;
    if (operation == IGGY_OP_NON_REPLICATED)
        return iggy_command(u32_at(header, 196)) != NULL;
    if (operation == IGGY_OP_REGISTER)
        return u64_at(header, 168) == 0 && u64_at(header, 184) == 0 && iggy_size_of(header) > IGGY_HEADER_SIZE;
    return number_in_range(header, 168) && number_in_range(header, 184) && u32_at(header, 196) == 0;
}

static bool reply_fits(const uint8_t *header)
{
    uint32_t status = u32_at(header, 216);
    return header[208] != 0 && iggy_operation(header[208]) && status < STATUS_LIMIT && header[220] <= 1 &&
           (status == 0 || iggy_size_of(header) == IGGY_HEADER_SIZE);
}

/* Reasons 1 to 15; 14 alone carries the window of accepted versions. */
static bool eviction_fits(const uint8_t *header)
{
    uint8_t reason = header[255];
    uint32_t highest = u32_at(header, 144), lowest = u32_at(header, 148);
    if (iggy_size_of(header) != IGGY_HEADER_SIZE || reason < 1 || reason > 15)
        return false;
    return reason == 14 ? lowest != 0 && lowest <= highest : highest == 0 && lowest == 0;
}

static bool prepare_fits(const uint8_t *header)
{
    uint64_t group = u64_at(header, 216);
    if (header[208] == 0 || !iggy_operation(header[208]) || (group != GROUP_METADATA && group >= GROUP_LIMIT))
        return false;
    return u64_at(header, 0) == 0 || iggy_identity_verifies(header);
}

static bool handshake_fits(const uint8_t *header)
{
    return iggy_size_of(header) == IGGY_HEADER_SIZE && header[192] <= 5;
}

/* Commands 1 to 4 have no layout: what follows has to speak for them. */
static bool unused_fits(const uint8_t *header) { return count_set(header, IGGY_COMMON_END, IGGY_HEADER_SIZE) != 0; }

static bool sealed_fits(const uint8_t *header) { return u64_at(header, 0) != 0 && iggy_seal_verifies(header); }

static const span_t request_minimum[] = { { 128, 16, 1 }, { 177, 7, 0 }, { 0, 0, 0 } };
static const span_t request_real[] = { { 0, 48, 0 },  { 52, 4, 0 },   { 61, 1, 0 }, { 160, 8, 0 },
                                       { 192, 4, 0 }, { 224, 32, 0 }, { 0, 0, 0 } };
static const span_t reply_minimum[] = { { 160, 16, 1 }, { 209, 7, 0 }, { 221, 3, 0 }, { 232, 24, 0 }, { 0, 0, 0 } };
static const span_t reply_real[] = { { 0, 32, 0 }, { 144, 16, 0 }, { 0, 0, 0 } };
static const span_t eviction_minimum[] = { { 128, 16, 1 }, { 152, 103, 0 }, { 0, 0, 0 } };
static const span_t eviction_real[] = { { 0, 32, 0 }, { 0, 0, 0 } };
static const span_t prepare_minimum[] = { { 8, 8, 0 },   { 24, 8, 0 },  { 32, 16, 1 }, { 176, 8, 1 },
                                          { 209, 7, 0 }, { 240, 8, 0 }, { 0, 0, 0 } };
static const span_t prepare_real[] = { { 0, 8, 1 }, { 0, 0, 0 } };
static const span_t handshake_minimum[] = { { 0, 32, 0 }, { 32, 16, 1 }, { 52, 4, 0 }, { 0, 0, 0 } };
static const span_t sealed_minimum[] = { { 8, 8, 0 }, { 24, 8, 0 }, { 32, 16, 1 }, { 0, 0, 0 } };
static const span_t nothing[] = { { 0, 0, 0 } };
static const span_t never[] = { { 62, 1, 1 }, { 0, 0, 0 } }; /* contradicts what all headers have in common */

static const shape_t request_shape = { request_minimum, request_real, 128, request_fits };
static const shape_t reply_shape = { reply_minimum, reply_real, 0, reply_fits };
static const shape_t eviction_shape = { eviction_minimum, eviction_real, 0, eviction_fits };
static const shape_t prepare_shape = { prepare_minimum, prepare_real, 0, prepare_fits };
static const shape_t handshake_shape = { handshake_minimum, nothing, 32, handshake_fits };
static const shape_t sealed_shape = { sealed_minimum, nothing, 0, sealed_fits };
static const shape_t unused_shape = { nothing, never, 0, unused_fits };

/* By command; NULL where there is none. */
static const shape_t *const shapes[IGGY_PREPARE_PROGRESS + 1] = {
    [1] = &unused_shape, /* ping, pong, ping_client, pong_client: legal, sent by nobody */
    [2] = &unused_shape,
    [3] = &unused_shape,
    [4] = &unused_shape,
    [IGGY_REQUEST] = &request_shape,
    [IGGY_PREPARE] = &prepare_shape,
    [IGGY_PREPARE_OK] = &sealed_shape,
    [IGGY_REPLY] = &reply_shape,
    [IGGY_COMMIT] = &sealed_shape,
    [IGGY_START_VIEW_CHANGE] = &sealed_shape,
    [IGGY_DO_VIEW_CHANGE] = &sealed_shape,
    [IGGY_START_VIEW] = &sealed_shape,
    [IGGY_EVICTION] = &eviction_shape,
    [IGGY_REPLICA_HELLO] = &handshake_shape,
    [IGGY_REPLICA_CHALLENGE] = &handshake_shape,
    [IGGY_REPLICA_FINISH] = &handshake_shape,
    [IGGY_REQUEST_START_VIEW] = &sealed_shape,
    [IGGY_REQUEST_PREPARES] = &sealed_shape,
    [IGGY_REPAIR_PREPARE] = &prepare_shape,
    [IGGY_REPAIR_DONE] = &sealed_shape,
    [IGGY_RANGE_EVICTED] = &sealed_shape,
    [IGGY_REQUEST_STATE_TRANSFER] = &sealed_shape,
    [IGGY_STATE_TRANSFER_TARGET] = &sealed_shape,
    [IGGY_REQUEST_STATE_CHUNK] = &sealed_shape,
    [IGGY_STATE_CHUNK] = &sealed_shape,
    [IGGY_FORWARD_REGISTER] = &sealed_shape,
    [IGGY_FORWARD_REGISTER_RESULT] = &sealed_shape,
    [IGGY_FORWARD_LOGOUT] = &sealed_shape,
    [IGGY_FORWARD_LOGOUT_RESULT] = &sealed_shape,
    [IGGY_CONSUMER_SESSION_HEARTBEAT] = &sealed_shape,
    [IGGY_SESSION_RETIREMENT_PROGRESS] = &sealed_shape,
    [IGGY_FORWARD_COMPLETION] = &sealed_shape,
    [IGGY_PRIMARY_REBALANCE] = &sealed_shape,
    [IGGY_SEGMENT_DELETE] = &sealed_shape,
    [IGGY_COMMIT_REPLY] = &sealed_shape,
    [IGGY_PREPARE_PROGRESS] = &sealed_shape,
};

static const shape_t *shape_of(uint8_t command) { return command < G_N_ELEMENTS(shapes) ? shapes[command] : NULL; }

uint8_t iggy_find_of(uint8_t command)
{
    const shape_t *shape = shape_of(command);
    if (!shape)
        return 0;
    if (shape == &unused_shape)
        return IGGY_FIND_UNUSED;
    if (shape == &request_shape)
        return IGGY_FIND_REQUEST;
    return shape == &reply_shape || shape == &eviction_shape ? IGGY_FIND_REPLY : IGGY_FIND_REPLICA;
}

static bool spans_fit(const uint8_t *header, const span_t *span)
{
    for (; span->length; span++) {
        unsigned set = count_set(header, span->from, (size_t)span->from + span->length);
        if (span->least ? set < span->least : set != 0)
            return false;
    }
    return true;
}

/* ---- the tests ---- */

iggy_verdict_t iggy_in_step(const uint8_t *bytes, size_t length, uint32_t maximum)
{
    if (length < IGGY_SIZE_END)
        return IGGY_MORE;
    return size_in_range(bytes, maximum) ? IGGY_YES : IGGY_NO;
}

bool iggy_clean(const uint8_t *bytes, size_t length)
{
    return all_zero(bytes, length, 56, 60) && all_zero(bytes, length, 62, IGGY_COMMON_END);
}

iggy_verdict_t iggy_plausible(const uint8_t *bytes, size_t length, const iggy_search_t *search)
{
    if (length >= IGGY_SIZE_END && !size_in_range(bytes, search->maximum))
        return IGGY_NO;
    if (!iggy_clean(bytes, length))
        return IGGY_NO;
    if (length > IGGY_COMMAND_OFFSET && !(iggy_find_of(bytes[IGGY_COMMAND_OFFSET]) & search->find))
        return IGGY_NO;
    if (length >= IGGY_COMMAND_END && bytes[61] >= 32)
        return IGGY_NO;
    return length < IGGY_COMMON_END ? IGGY_MORE : IGGY_YES;
}

bool iggy_minimum(const uint8_t *header, const iggy_search_t *search)
{
    if (iggy_plausible(header, IGGY_HEADER_SIZE, search) != IGGY_YES)
        return false;
    const shape_t *shape = shape_of(header[IGGY_COMMAND_OFFSET]);
    return shape && spans_fit(header, shape->minimum) && shape->further(header);
}

bool iggy_real(const uint8_t *header, const iggy_search_t *search)
{
    return iggy_minimum(header, search) && spans_fit(header, shapes[header[IGGY_COMMAND_OFFSET]]->real);
}

bool iggy_claims(const uint8_t *header, const iggy_search_t *search)
{
    if (!iggy_real(header, search))
        return false;
    size_t id = shapes[header[IGGY_COMMAND_OFFSET]]->id;
    return !id || count_set(header, id, id + 16) >= ID_LEAST;
}

bool iggy_unknown_frame(const uint8_t *bytes, size_t length, const iggy_search_t *search)
{
    if (length < IGGY_HEADER_SIZE || iggy_plausible(bytes, length, search) != IGGY_YES)
        return false;
    const shape_t *shape = shape_of(bytes[IGGY_COMMAND_OFFSET]);
    if ((shape != &request_shape && shape != &reply_shape) || !spans_fit(bytes, shape->minimum) || !spans_fit(bytes, shape->real))
        return false;
    if (shape->id && count_set(bytes, shape->id, (size_t)shape->id + 16) < ID_LEAST)
        return false;
    size_t end = iggy_size_of(bytes);
    return end == length || (end + IGGY_HEADER_SIZE <= length && iggy_real(bytes + end, search));
}

/* As far as the bytes reach: what has to be zero up to there; what may not be, where all of it is there. */
static bool spans_may_fit(const uint8_t *bytes, size_t length, const span_t *span)
{
    for (; span->length; span++) {
        size_t end = (size_t)span->from + span->length;
        if (span->least && end <= length && count_set(bytes, span->from, end) < span->least)
            return false;
        if (!span->least && !all_zero(bytes, length, span->from, end))
            return false;
    }
    return true;
}

/*
 * A prefix of what a connection begins with: zeros for client frames and for 14; from 32 bytes on sealed frames too; behind
 * the command what its senders keep. Other protocols may begin with zeros, and would wait in vain for the rest.
 */
static bool beginning_fits(const uint8_t *bytes, size_t length)
{
    if (length < 32)
        return all_zero(bytes, length, 0, length);
    if (!all_zero(bytes, length, 8, 16) || !all_zero(bytes, length, 24, 32))
        return false;
    if (length <= IGGY_COMMAND_OFFSET)
        return true;
    const shape_t *shape = shape_of(bytes[IGGY_COMMAND_OFFSET]);
    return shape && shape != &unused_shape && spans_may_fit(bytes, length, shape->minimum) &&
           spans_may_fit(bytes, length, shape->real);
}

/* What somebody may have tried by hand: zeros in front, a client's id in a frame that is all of its segment, or a known code. */
static bool tried_by_hand(const uint8_t *bytes, size_t length)
{
    if (!all_zero(bytes, length, 0, 48) || !all_zero(bytes, length, 52, 56) || bytes[61])
        return false;
    bool known = bytes[IGGY_COMMAND_OFFSET] == IGGY_REQUEST && bytes[176] == IGGY_OP_NON_REPLICATED && request_fits(bytes);
    return known || (iggy_size_of(bytes) == length && count_set(bytes, 128, 144) >= ID_LEAST);
}

iggy_verdict_t iggy_starts(const uint8_t *bytes, size_t length, uint32_t maximum, bool ours)
{
    if (length == 0 || (!ours && length < IGGY_HEADER_SIZE && !beginning_fits(bytes, length)))
        return IGGY_NO;
    if (length >= IGGY_SIZE_END && !size_in_range(bytes, maximum))
        return IGGY_NO;
    if (!iggy_clean(bytes, length))
        return IGGY_NO;
    if (length > IGGY_COMMAND_OFFSET && (!bytes[IGGY_COMMAND_OFFSET] || bytes[IGGY_COMMAND_OFFSET] > IGGY_PREPARE_PROGRESS))
        return IGGY_NO;
    if (length < IGGY_HEADER_SIZE)
        return IGGY_MORE;
    iggy_search_t sent = { .maximum = maximum, .find = IGGY_FIND_ALL & ~IGGY_FIND_UNUSED };
    if (!ours)
        return iggy_minimum(bytes, &sent) || iggy_unknown_frame(bytes, length, &sent) || tried_by_hand(bytes, length) ? IGGY_YES
                                                                                                                    : IGGY_NO;
    /* A frame of the cluster's own group 0 may have nothing behind byte 127, but it names its cluster. */
    bool replica = (iggy_find_of(bytes[IGGY_COMMAND_OFFSET]) & IGGY_FIND_REPLICA) != 0;
    bool something = count_set(bytes, IGGY_COMMON_END, IGGY_HEADER_SIZE) || (replica && count_set(bytes, 32, 48));
    return something ? IGGY_YES : IGGY_NO;
}

/* ---- suffix entries ---- */

/* A prepare header, blank ones (all zero but command and op, replica.md 5) included. */
static bool prepare_header_at(const uint8_t *bytes, size_t length, size_t offset)
{
    return offset + IGGY_HEADER_SIZE <= length && bytes[offset + IGGY_COMMAND_OFFSET] == IGGY_PREPARE &&
           all_zero(bytes, length, offset + 56, offset + 60) && all_zero(bytes, length, offset + 62, offset + IGGY_COMMON_END);
}

static uint64_t op_at(const uint8_t *bytes, size_t offset) { return u64_at(bytes, offset + 176); }

bool iggy_suffix_entry(const uint8_t *bytes, size_t length, size_t offset)
{
    if (!prepare_header_at(bytes, length, offset))
        return false;
    uint64_t op = op_at(bytes, offset);
    size_t behind = offset + IGGY_HEADER_SIZE;
    if (prepare_header_at(bytes, length, behind) && op_at(bytes, behind) + 1 == op)
        return true;
    return offset >= IGGY_HEADER_SIZE && prepare_header_at(bytes, length, offset - IGGY_HEADER_SIZE) &&
           op_at(bytes, offset - IGGY_HEADER_SIZE) == op + 1;
}

/* ---- the search ---- */

static bool header_at(const uint8_t *bytes, size_t length, size_t from, size_t run, size_t before, const iggy_search_t *search)
{
    return run >= from + before && run - before + IGGY_HEADER_SIZE <= length && iggy_minimum(bytes + run - before, search);
}

/*
 * In every header 66 zero bytes stand behind the command, or behind the replica if that is not zero. So a run of zeros has
 * at most two places for a header, and looking at every 66th byte finds the runs.
 */
size_t iggy_find_header(const uint8_t *bytes, size_t length, size_t from, const iggy_search_t *search)
{
    size_t at = from + IGGY_COMMAND_END;
    while (at + ZEROS <= length) {
        size_t run = at + ZEROS - 1, end = run;
        while (end < length && bytes[end] == 0)
            end++;
        while (end > run && run > from + IGGY_COMMAND_OFFSET && bytes[run - 1] == 0)
            run--;
        if (end >= run + ZEROS && header_at(bytes, length, from, run, IGGY_COMMAND_END, search))
            return run - IGGY_COMMAND_END;
        if (end > run + ZEROS && header_at(bytes, length, from, run, IGGY_COMMAND_END - 1, search))
            return run - (IGGY_COMMAND_END - 1);
        at = end + 1;
    }
    return length;
}

/*
 * What begins a frame that other traffic hardly has: zeros, or a seal and a cluster with zeros around them. (Prepares look like
 * that, too, but so do the entries of a log suffix.)
 */
static bool begins_strictly(const uint8_t *bytes, size_t length)
{
    if (length < IGGY_COMMAND_END || !beginning_fits(bytes, length))
        return false;
    const shape_t *shape = shape_of(bytes[IGGY_COMMAND_OFFSET]);
    unsigned cluster = count_set(bytes, 32, 48);
    if (shape == &sealed_shape)
        return count_set(bytes, 0, 8) >= ID_LEAST / 2 && cluster >= ID_LEAST;
    if (!all_zero(bytes, length, 0, 32) || (cluster ? cluster < ID_LEAST : shape == &handshake_shape))
        return false;
    bool alone = shape == &handshake_shape || shape == &eviction_shape; /* no body */
    return !alone || iggy_size_of(bytes) == IGGY_HEADER_SIZE;
}

size_t iggy_find_beginning(const uint8_t *bytes, size_t length, size_t from, const iggy_search_t *search, bool strict)
{
    size_t at = length >= IGGY_HEADER_SIZE ? length - IGGY_HEADER_SIZE + 1 : 0;
    for (at = at < from ? from : at; at < length; at++) {
        if (strict && !begins_strictly(bytes + at, length - at))
            continue;
        if (iggy_plausible(bytes + at, length - at, search) != IGGY_NO)
            return at;
    }
    return length;
}

/* ---- evidence ---- */

/*
 * Follow the sizes from where the next header has to stand. YES: at least one stands there, and nothing contradicts. MORE: the
 * bytes end before one can be told: a short glimpse proves nothing.
 */
static iggy_verdict_t follow(const uint8_t *bytes, size_t length, size_t at, const iggy_search_t *search)
{
    iggy_verdict_t found = IGGY_MORE;
    for (unsigned steps = 0; at < length && steps < FOLLOWED; steps++) {
        iggy_verdict_t verdict = iggy_plausible(bytes + at, length - at, search);
        if (verdict == IGGY_NO)
            return IGGY_NO;
        if (length - at >= GLIMPSE)
            found = IGGY_YES;
        if (verdict == IGGY_MORE)
            break;
        at += iggy_size_of(bytes + at);
    }
    return found;
}

/* Frames of one direction of one plane: what may follow a frame. */
static iggy_search_t search_behind(uint8_t command, const iggy_search_t *search)
{
    iggy_search_t behind = *search;
    behind.find = (uint8_t)(iggy_find_of(command) | IGGY_FIND_UNUSED);
    if (behind.find & IGGY_FIND_REPLICA)
        behind.find |= IGGY_FIND_REQUEST; /* the routed form */
    if (behind.find == IGGY_FIND_UNUSED)
        behind.find = IGGY_FIND_ALL;
    return behind;
}

static bool all_of_its_segment(size_t length, size_t offset, size_t end, const iggy_search_t *search)
{
    return offset == 0 && end == length && search->one_segment;
}

static iggy_verdict_t client_evidence(const uint8_t *bytes, size_t length, size_t offset, const iggy_search_t *search)
{
    size_t end = offset + iggy_size_of(bytes + offset);
    iggy_search_t behind = search_behind(bytes[offset + IGGY_COMMAND_OFFSET], search);
    iggy_verdict_t verdict = follow(bytes, length, end, &behind);
    if (verdict != IGGY_MORE || end > length || behind.find == IGGY_FIND_ALL)
        return verdict;
    /* A glimpse of the next one: as much as nothing, unless both are as they should be. */
    if (end < length)
        return search->plane_known && iggy_real(bytes + offset, search) && all_zero(bytes, length, end, end + 32) ? IGGY_YES
                                                                                                          : IGGY_MORE;
    /* It ends with a segment. That is chance, unless more speaks for it. */
    if (all_of_its_segment(length, offset, end, search))
        return IGGY_YES;
    bool placed = offset == 0 && search->many_large && iggy_real(bytes + offset, search);
    return placed || search->plane_known ? IGGY_YES : IGGY_MORE;
}

/* A prepare without a body: told from a suffix entry by the prepare of the next op behind it, or by being alone. */
static iggy_verdict_t short_prepare_evidence(const uint8_t *bytes, size_t length, size_t offset, const iggy_search_t *search)
{
    size_t behind = offset + IGGY_HEADER_SIZE;
    if (behind + IGGY_HEADER_SIZE <= length)
        return bytes[behind + IGGY_COMMAND_OFFSET] == IGGY_PREPARE && iggy_minimum(bytes + behind, search) &&
                       op_at(bytes, behind) == op_at(bytes, offset) + 1 &&
                       u64_at(bytes, behind + 216) == u64_at(bytes, offset + 216)
                   ? IGGY_YES
                   : IGGY_NO;
    if (all_of_its_segment(length, offset, behind, search))
        return IGGY_YES;
    return iggy_plausible(bytes + behind, length - behind, search) == IGGY_NO ? IGGY_NO : IGGY_MORE;
}

static iggy_verdict_t prepare_evidence(const uint8_t *bytes, size_t length, size_t offset, const iggy_search_t *search)
{
    const uint8_t *header = bytes + offset;
    size_t size = iggy_size_of(header), end = offset + size, behind = offset + IGGY_HEADER_SIZE;
    if (iggy_suffix_entry(bytes, length, offset))
        return IGGY_NO;
    if (size == IGGY_HEADER_SIZE && header[IGGY_COMMAND_OFFSET] == IGGY_PREPARE)
        return short_prepare_evidence(bytes, length, offset, search);
    /* Behind the last entry of a suffix a frame stands, where a prepare has its body. */
    bool told = behind + IGGY_HEADER_SIZE <= length;
    if (told && size > IGGY_HEADER_SIZE && iggy_minimum(bytes + behind, search))
        return IGGY_NO;
    if (u64_at(header, 16) && size > IGGY_HEADER_SIZE && end <= length && size <= HASHED)
        return XXH3_64bits(bytes + behind, size - IGGY_HEADER_SIZE) == u64_at(header, 16) ? IGGY_YES : IGGY_NO;
    if (all_of_its_segment(length, offset, end, search))
        return IGGY_YES;
    iggy_search_t next = search_behind(header[IGGY_COMMAND_OFFSET], search);
    iggy_verdict_t verdict = follow(bytes, length, end, &next);
    return told || verdict == IGGY_NO ? verdict : IGGY_MORE;
}

iggy_verdict_t iggy_evidence(const uint8_t *bytes, size_t length, size_t offset, const iggy_search_t *search)
{
    const shape_t *shape = shape_of(bytes[offset + IGGY_COMMAND_OFFSET]);
    if (shape == &sealed_shape)
        return IGGY_YES;
    return shape == &prepare_shape ? prepare_evidence(bytes, length, offset, search)
                                   : client_evidence(bytes, length, offset, search);
}
