/* packet-iggy-pairs.c
 * Which request a reply answers (framing.md 7, commands.md 10.1): the oldest open one of the same number and operation, with
 * care where numbers repeat, bytes are missing, or a client tries again.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-pairs.h"

#include <string.h>

#include "packet-iggy-commands.h"
#include "packet-iggy-pdu.h"
#include "packet-iggy-pool.h"

#define OPEN_SECONDS   900  /* a deferred poll waits 630 s at most (messages.md 4.4) */
#define OPEN_LIMIT     4096u
#define HISTORY_LIMIT  8192u /* slots a client; two for each number */
#define DRY_RUNS_LIMIT 64u  /* layouts tried for one reply */
#define DIGEST_BYTES   1024 /* of a body: message ids and times stand in front */
#define RETRY_WINDOW   128u /* numbers: a write so far below the highest is not executed */
#define ORPHANS_LIMIT  16u
#define UNSEEN_LIMIT   (1u << 24) /* acknowledged so far beyond what came: no loss but made-up numbers */
#define REPEATS_LIMIT  256u /* open requests of one key that are compared with a new one */
#define NANOSECONDS    UINT64_C(1000000000)

/* Whether a request may have been answered in bytes that the capture misses; or that it has not seen so far. */
typedef enum { IGGY_NO_DOUBT, IGGY_SUSPECTED, IGGY_LOST } iggy_doubt_t;

/* A request that waits for its reply. */
typedef struct iggy_open {
    struct iggy_open *older, *newer;       /* in the connection */
    struct iggy_open *before, *after;      /* in the bucket, oldest first */
    iggy_exchange_t  *exchange;
    iggy_client_t    *client;
    uint64_t          lane;
    uint8_t           checksum[16];        /* request_checksum */
    uint64_t          asked;               /* number of the request on its connection */
    uint32_t          digest;
    uint32_t          end;                 /* position behind it */
    uint32_t          acknowledged;        /* position that the client had received up to when it asked */
    iggy_doubt_t      doubt;
} iggy_open_t;

/* What a reply or a repeated request is looked for by. */
typedef struct {
    uint64_t lane, request;
    uint8_t  operation;
    uint8_t  checksum[16];
    bool     acknowledges; /* only requests that end at or before `acknowledged` */
    bool     bounded;      /* iggy_place_t */
    uint32_t acknowledged;
} iggy_key_t;

/* A reply whose request did not come before it: it may come later, where packets are out of order or a search waited. */
typedef struct iggy_orphan {
    iggy_frame_t *frame;
    iggy_key_t    key;
    uint32_t      error;
} iggy_orphan_t;

static const uint8_t nothing[16];

/* file scope: memory of one capture */
static wmem_map_t      *clients;  /* id to iggy_client_t */
static wmem_map_t      *asides;   /* exchange to iggy_aside_t */
static iggy_pool_t      exchanges;
static iggy_open_t     *unused;
static uint32_t         connections;

/* ---- memory ---- */

/* Nanoseconds since the epoch. They wrap; differences of less than 292 years are right all the same. */
static uint64_t when(const nstime_t *moment) { return (uint64_t)moment->secs * NANOSECONDS + (uint64_t)moment->nsecs; }

nstime_t iggy_request_time(const iggy_exchange_t *exchange, const nstime_t *now)
{
    int64_t since = (int64_t)(when(now) - exchange->request_when);
    int64_t seconds = since / (int64_t)NANOSECONDS, nanoseconds = now->nsecs - since % (int64_t)NANOSECONDS;
    if (nanoseconds < 0 || nanoseconds >= (int64_t)NANOSECONDS) {
        int64_t carry = nanoseconds < 0 ? 1 : -1;
        seconds += carry;
        nanoseconds += carry * (int64_t)NANOSECONDS;
    }
    return (nstime_t){ .secs = (time_t)((uint64_t)now->secs - (uint64_t)seconds), .nsecs = (int)nanoseconds };
}

iggy_exchange_t *iggy_pairs_exchange(uint32_t number)
{
    return (iggy_exchange_t *)iggy_pool_at(&exchanges, sizeof(iggy_exchange_t), number);
}

static iggy_exchange_t *new_exchange(const iggy_pdu_t *pdu, const iggy_pairs_t *pairs)
{
    iggy_exchange_t *exchange = (iggy_exchange_t *)iggy_pool_add(&exchanges, sizeof *exchange);
    exchange->number = exchanges.count;
    exchange->request = iggy_fact(pdu->facts, IGGY_FACT_REQUEST, 0);
    exchange->request_when = when(&pdu->pinfo->abs_ts);
    exchange->request_frame = pdu->pinfo->num;
    exchange->code = pdu->code;
    exchange->operation = pdu->operation;
    exchange->connection = pairs->connection;
    return exchange;
}

static iggy_aside_t *aside(iggy_exchange_t *exchange)
{
    iggy_aside_t *found = (iggy_aside_t *)wmem_map_lookup(asides, exchange);
    if (!found) {
        found = wmem_new0(wmem_file_scope(), iggy_aside_t);
        wmem_map_insert(asides, exchange, found);
    }
    return found;
}

const iggy_aside_t *iggy_pairs_aside(const iggy_exchange_t *exchange)
{
    return (const iggy_aside_t *)wmem_map_lookup(asides, exchange);
}

const iggy_exchange_t *iggy_exchange_first(const iggy_exchange_t *exchange)
{
    bool has = exchange->flags & (IGGY_EXCHANGE_REPEATS | IGGY_EXCHANGE_CANCELS);
    const iggy_aside_t *found = has ? iggy_pairs_aside(exchange) : NULL;
    return found ? iggy_pairs_exchange(found->first) : NULL;
}

void iggy_pairs_init(iggy_pairs_t *pairs)
{
    memset(pairs, 0, sizeof *pairs);
    pairs->connection = connections++;
}

/* ---- open requests ---- */

static uint64_t key_of(uint64_t lane, uint64_t request) { return lane ? lane : request; }

/* First and last open request of a bucket. */
static iggy_open_t **bucket(const iggy_pairs_t *pairs, uint64_t key)
{
    return &pairs->buckets[2 * (size_t)(key & (pairs->buckets_count - 1))];
}

static void into_bucket(iggy_pairs_t *pairs, iggy_open_t *open)
{
    iggy_open_t **ends = bucket(pairs, key_of(open->lane, open->exchange->request));
    open->before = ends[1];
    open->after = NULL;
    if (ends[1])
        ends[1]->after = open;
    else
        ends[0] = open;
    ends[1] = open;
}

/* Few buckets for clients that wait, more for those that do not. */
static void make_buckets(iggy_pairs_t *pairs)
{
    if (pairs->count < pairs->buckets_count)
        return;
    wmem_free(wmem_file_scope(), pairs->buckets);
    pairs->buckets_count = pairs->buckets_count ? 4 * pairs->buckets_count : 4;
    pairs->buckets = wmem_alloc0_array(wmem_file_scope(), iggy_open_t *, 2 * (size_t)pairs->buckets_count);
    for (iggy_open_t *open = pairs->oldest; open; open = open->newer)
        into_bucket(pairs, open);
}

static iggy_open_t *open_request(iggy_pairs_t *pairs, iggy_exchange_t *exchange, uint64_t lane)
{
    make_buckets(pairs);
    iggy_open_t *open = unused;
    if (open)
        unused = open->newer;
    else
        open = wmem_new(wmem_file_scope(), iggy_open_t);
    memset(open, 0, sizeof *open);
    open->exchange = exchange;
    open->lane = lane;
    open->older = pairs->newest;
    if (pairs->newest)
        pairs->newest->newer = open;
    else
        pairs->oldest = open;
    pairs->newest = open;
    pairs->count++;
    into_bucket(pairs, open);
    return open;
}

static void close_request(iggy_pairs_t *pairs, iggy_open_t *open, iggy_exchange_state_t state)
{
    iggy_open_t **ends = bucket(pairs, key_of(open->lane, open->exchange->request));
    *(open->before ? &open->before->after : &ends[0]) = open->after;
    *(open->after ? &open->after->before : &ends[1]) = open->before;
    *(open->older ? &open->older->newer : &pairs->oldest) = open->newer;
    *(open->newer ? &open->newer->older : &pairs->newest) = open->older;
    pairs->count--;
    if (open->exchange->state == IGGY_EXCHANGE_OPEN)
        open->exchange->state = (uint8_t)state;
    open->newer = unused;
    unused = open;
}

/* Give up what waits too long or is too much; what was answered over another connection waits no more. */
static void expire(iggy_pairs_t *pairs, const packet_info *pinfo)
{
    while (pairs->oldest) {
        const iggy_exchange_t *exchange = pairs->oldest->exchange;
        bool stays = pairs->count <= OPEN_LIMIT && exchange->state == IGGY_EXCHANGE_OPEN &&
                     pinfo->abs_ts.secs - iggy_request_time(exchange, &pinfo->abs_ts).secs <= OPEN_SECONDS;
        if (stays)
            return;
        pairs->given_up |= exchange->state == IGGY_EXCHANGE_OPEN;
        close_request(pairs, pairs->oldest, IGGY_EXCHANGE_DROPPED);
    }
}

/* Bytes of the server are missing: any of the open requests may have been answered in them. Older ones are no less in doubt. */
static void doubt(iggy_pairs_t *pairs, iggy_doubt_t degree)
{
    for (iggy_open_t *open = pairs->newest; open && open->doubt < degree; open = open->older) {
        open->doubt = degree;
        open->exchange->flags |= IGGY_EXCHANGE_IN_DOUBT;
    }
    pairs->suspected |= degree == IGGY_SUSPECTED;
}

/* The bytes that the client had received before the capture saw them were late, not lost. */
static void clear_doubt(iggy_pairs_t *pairs)
{
    for (iggy_open_t *open = pairs->suspected ? pairs->newest : NULL; open && open->doubt < IGGY_LOST; open = open->older) {
        open->doubt = IGGY_NO_DOUBT;
        open->exchange->flags &= (uint8_t)~IGGY_EXCHANGE_IN_DOUBT;
    }
    pairs->suspected = false;
}

/* What a piece of the server tells of the bytes before it. */
static void note_hole(const iggy_pdu_t *pdu, iggy_pairs_t *pairs)
{
    if (pdu->place->after_hole)
        doubt(pairs, IGGY_LOST);
    else
        clear_doubt(pairs);
}

/* ---- keys ---- */

static void read_key(const iggy_pdu_t *pdu, iggy_key_t *key)
{
    const iggy_operation_t *operation = pdu->response ? iggy_operation(pdu->operation) : NULL;
    key->lane = pdu->place->lane;
    key->acknowledges = pdu->response && pdu->place->acknowledges;
    key->bounded = pdu->place->bounded;
    key->acknowledged = pdu->place->acknowledged;
    key->request = iggy_fact(pdu->facts, IGGY_FACT_REQUEST, 0);
    key->operation = operation ? operation->request : pdu->operation;
    memset(key->checksum, 0, sizeof key->checksum);
    if (iggy_has(pdu->facts, IGGY_FACT_REQUEST_CHECKSUM))
        tvb_memcpy(pdu->tvb, key->checksum, pdu->facts->at[IGGY_FACT_REQUEST_CHECKSUM].offset, sizeof key->checksum);
}

/* Checksums contradict each other only where both are there. */
static bool agree(const uint8_t *a, const uint8_t *b)
{
    return !memcmp(a, b, 16) || !memcmp(a, nothing, 16) || !memcmp(b, nothing, 16);
}

/* A server has received, and acknowledges, the request that it answers. */
static bool matches(const iggy_open_t *open, const iggy_key_t *key)
{
    const iggy_exchange_t *exchange = open->exchange;
    if (exchange->state != IGGY_EXCHANGE_OPEN || open->lane != key->lane || exchange->operation != key->operation)
        return false;
    if (exchange->request != key->request || (key->acknowledges && (int32_t)(key->acknowledged - open->end) < 0))
        return false;
    return agree(open->checksum, key->checksum);
}

static iggy_open_t *first_of(const iggy_pairs_t *pairs, const iggy_key_t *key)
{
    if (!pairs->buckets_count)
        return NULL;
    iggy_open_t *open = bucket(pairs, key_of(key->lane, key->request))[0];
    while (open && !matches(open, key))
        open = open->after;
    return open;
}

static iggy_open_t *next_of(iggy_open_t *open, const iggy_key_t *key)
{
    do
        open = open->after;
    while (open && !matches(open, key));
    return open;
}

/* ---- clients ---- */

static guint id_hash(gconstpointer key) { return wmem_strong_hash((const uint8_t *)key, 16); }

static gboolean id_equal(gconstpointer a, gconstpointer b) { return memcmp(a, b, 16) == 0; }

iggy_client_t *iggy_pairs_client(const iggy_pdu_t *pdu, iggy_pairs_t *pairs)
{
    uint8_t id[16];
    if (!iggy_has(pdu->facts, IGGY_FACT_CLIENT))
        return NULL;
    tvb_memcpy(pdu->tvb, id, pdu->facts->at[IGGY_FACT_CLIENT].offset, sizeof id);
    if (pairs->client && !memcmp(pairs->client->id, id, sizeof id))
        return pairs->client;
    iggy_client_t *client = (iggy_client_t *)wmem_map_lookup(clients, id);
    if (!client) {
        client = wmem_new0(wmem_file_scope(), iggy_client_t);
        memcpy(client->id, id, sizeof id);
        wmem_map_insert(clients, client->id, client);
    }
    pairs->client = client;
    pairs->registered = false;
    return client;
}

static bool is_partition_operation(uint8_t operation) { return operation >= IGGY_OP_SEND_MESSAGES && operation <= 162; }

/* Operations whose number is theirs alone, also before 0.12.0: those that change metadata, login and logout. */
static bool counts(uint8_t operation)
{
    return operation != IGGY_OP_NON_REPLICATED && !is_partition_operation(operation);
}

static iggy_exchange_t **slot(const iggy_client_t *client, uint64_t request, uint8_t operation)
{
    return &client->history[(2 * request + counts(operation)) & (client->history_size - 1)];
}

/* The latest request of this number and operation, among those that are remembered. */
static iggy_exchange_t *recall(const iggy_client_t *client, uint64_t request, uint8_t operation)
{
    if (!client || !client->history_size)
        return NULL;
    iggy_exchange_t *exchange = *slot(client, request, operation);
    return exchange && exchange->request == request && exchange->operation == operation ? exchange : NULL;
}

static void grow_history(iggy_client_t *client)
{
    iggy_exchange_t **old = client->history;
    unsigned size = client->history_size;
    client->history_size = size ? 2 * size : 8;
    client->history_used = 0;
    client->history = wmem_alloc0_array(wmem_file_scope(), iggy_exchange_t *, client->history_size);
    for (unsigned i = 0; i < size; i++)
        if (old[i]) {
            iggy_exchange_t **at = slot(client, old[i]->request, old[i]->operation);
            client->history_used += *at == NULL;
            *at = old[i];
        }
    wmem_free(wmem_file_scope(), old);
}

/* The newest replaces the one whose number falls on the same slot; rising numbers fill all of them. */
static void remember(iggy_client_t *client, iggy_exchange_t *exchange)
{
    if (!client)
        return;
    if (2 * client->history_used >= client->history_size && client->history_size < HISTORY_LIMIT)
        grow_history(client);
    iggy_exchange_t **at = slot(client, exchange->request, exchange->operation);
    client->history_used += *at == NULL;
    *at = exchange;
}

/* ---- requests ---- */

/* Refused for the moment, by an election or a busy server: the client sends the same bytes again (framing.md 7). */
static bool is_transient(uint32_t error) { return error == 57 || error == 58; }

/* In a session of 0.12.0 or later a number names one request (framing.md 7). Before a login it is 0. */
static bool numbered(const iggy_versions_t *versions, uint64_t request)
{
    return request && !iggy_versions_may_be(versions, IGGY_0_11_0);
}

static uint32_t digest_of(const iggy_pdu_t *pdu)
{
    int length = (int)MIN(tvb_captured_length(pdu->tvb), pdu->size) - (int)IGGY_HEADER_SIZE;
    if (length <= 0)
        return pdu->size;
    length = MIN(length, DIGEST_BYTES);
    return wmem_strong_hash(tvb_get_ptr(pdu->tvb, (int)IGGY_HEADER_SIZE, length), (size_t)length) ^ pdu->size;
}

/* An open request that this one repeats. One in doubt was answered unseen, and another of the same key follows it. */
static iggy_exchange_t *repeats_open(const iggy_pdu_t *pdu, const iggy_pairs_t *pairs, const iggy_key_t *key,
                                     bool by_number, uint32_t digest)
{
    iggy_exchange_t *first = NULL;
    unsigned tried = 0;
    for (iggy_open_t *open = first_of(pairs, key); open && !first && tried++ < REPEATS_LIMIT; open = next_of(open, key)) {
        bool same = open->client == pairs->client && open->exchange->code == pdu->code &&
                    (by_number || counts(key->operation) || open->digest == digest) && (by_number || !open->doubt);
        if (same)
            first = open->exchange;
    }
    return first;
}

/* An earlier request of the client that this one repeats: refused for the moment, or one whose number is used once. */
static iggy_exchange_t *repeats_earlier(const iggy_pdu_t *pdu, const iggy_pairs_t *pairs, const iggy_key_t *key,
                                        bool by_number, uint32_t digest)
{
    iggy_exchange_t *earlier = recall(pairs->client, key->request, key->operation);
    if (!earlier || earlier->code != pdu->code)
        return NULL;
    if (earlier->flags & IGGY_EXCHANGE_TRANSIENT)
        return by_number || counts(key->operation) || aside(earlier)->digest == digest ? earlier : NULL;
    if (earlier->connection != pairs->connection && (pairs->registered || !by_number))
        return NULL; /* a copy of the traffic, recorded on the other side of a proxy */
    bool once = counts(key->operation) && key->operation != IGGY_OP_REGISTER;
    return by_number || (once && earlier->state != IGGY_EXCHANGE_OPEN) ? earlier : NULL;
}

static void link_retry(iggy_exchange_t *exchange, iggy_exchange_t *first)
{
    if (!first || first == exchange)
        return;
    exchange->flags |= IGGY_EXCHANGE_REPEATS;
    aside(exchange)->first = iggy_is_retry(first) ? aside(first)->first : first->number;
    aside(first)->repeated_in = exchange->request_frame;
}

/* A cancellation repeats the number of a request that waits; it waits for nothing itself. */
static iggy_exchange_t *cancellation(iggy_pdu_t *pdu, iggy_pairs_t *pairs, const iggy_key_t *key)
{
    iggy_exchange_t *exchange = new_exchange(pdu, pairs), *target = NULL;
    for (iggy_open_t *open = first_of(pairs, key); open; open = next_of(open, key))
        if (open->client == pairs->client)
            target = open->exchange;
    if (!target)
        target = recall(pairs->client, key->request, key->operation);
    exchange->state = IGGY_EXCHANGE_SILENT;
    exchange->flags |= IGGY_EXCHANGE_CANCELS;
    if (target) {
        aside(exchange)->first = target->number;
        aside(target)->cancelled_in = pdu->pinfo->num;
    }
    pairs->cancel = exchange;
    return exchange;
}

/* Why a request has no effect (framing.md 7): its number or its session is too old. */
static uint8_t without_effect(const iggy_pdu_t *pdu, iggy_client_t *client, const iggy_versions_t *versions)
{
    uint8_t notes = 0;
    uint64_t request = iggy_fact(pdu->facts, IGGY_FACT_REQUEST, 0), session = iggy_fact(pdu->facts, IGGY_FACT_SESSION, 0);
    if (pdu->operation >= 128) {
        /* One counter for all since 0.12.0; before, some SDKs count partition operations apart, or not at all. */
        uint64_t *own = &client->writes[is_partition_operation(pdu->operation)];
        uint64_t highest = iggy_versions_may_be(versions, IGGY_0_11_0) ? *own : MAX(client->writes[0], client->writes[1]);
        if (request < highest && highest - request >= RETRY_WINDOW)
            notes |= IGGY_NOTE_STALE_WRITE;
        *own = MAX(*own, request);
    }
    if (session && session < client->session)
        notes |= IGGY_NOTE_FENCED;
    client->session = MAX(client->session, session);
    return notes;
}

/* ---- replies before their requests ---- */

static uint32_t end_of(const iggy_pdu_t *pdu) { return pdu->place->position + pdu->size; }

static void keep_orphan(const iggy_pdu_t *pdu, iggy_pairs_t *pairs, const iggy_key_t *key, uint32_t error)
{
    if (!key->acknowledges)
        return;
    if (!pairs->orphans)
        pairs->orphans = wmem_alloc_array(wmem_file_scope(), iggy_orphan_t, ORPHANS_LIMIT);
    if (pairs->orphans_count == ORPHANS_LIMIT)
        memmove(pairs->orphans, pairs->orphans + 1, --pairs->orphans_count * sizeof *pairs->orphans);
    pairs->orphans[pairs->orphans_count++] = (iggy_orphan_t){ pdu->frame, *key, error };
}

/*
 * Whether a reply may be that to a request that comes behind it in the capture. A reply to an earlier one does not acknowledge
 * this one; and what the client had received when it asked answers something else.
 */
static bool may_answer(const iggy_orphan_t *orphan, const iggy_place_t *request, uint32_t end)
{
    bool told = request->acknowledges && !request->bounded;
    bool open = (int32_t)(orphan->frame->position - request->acknowledged) >= 0;
    bool acknowledges = (int32_t)(orphan->key.acknowledged - end) >= 0;
    return orphan->key.bounded && told ? open : acknowledges;
}

/* The oldest reply that may be that to the request. */
static bool answered_before(const iggy_pdu_t *pdu, iggy_pairs_t *pairs, const iggy_key_t *key, iggy_exchange_t *exchange)
{
    uint32_t end = end_of(pdu);
    for (unsigned i = 0; i < pairs->orphans_count; i++) {
        iggy_orphan_t *orphan = &pairs->orphans[i];
        if (orphan->key.request != key->request || orphan->key.operation != key->operation ||
            !agree(orphan->key.checksum, key->checksum) || !may_answer(orphan, pdu->place, end))
            continue;
        exchange->state = IGGY_EXCHANGE_ANSWERED;
        exchange->reply_frame = orphan->frame->packet;
        exchange->flags |= is_transient(orphan->error) ? IGGY_EXCHANGE_TRANSIENT : 0;
        orphan->frame->exchange = exchange->number;
        orphan->frame->notes &= (uint8_t)~(IGGY_NOTE_NO_REQUEST | IGGY_NOTE_GIVEN_UP);
        orphan->frame->notes |= IGGY_NOTE_LATER;
        memmove(orphan, orphan + 1, (--pairs->orphans_count - i) * sizeof *orphan);
        return true;
    }
    return false;
}

/* ---- a request ---- */

iggy_exchange_t *iggy_pairs_request(iggy_pdu_t *pdu, iggy_pairs_t *pairs, const iggy_versions_t *versions, uint8_t *notes)
{
    iggy_key_t key;
    const iggy_command_t *command = iggy_command(pdu->code);
    iggy_client_t *client = pairs->client;
    expire(pairs, pdu->pinfo);
    read_key(pdu, &key);
    if (pdu->place->unseen)
        doubt(pairs, IGGY_SUSPECTED);
    if (pdu->place->acknowledges && pairs->newest && pairs->newest->acknowledged == key.acknowledged)
        pairs->pipelined = true; /* nothing of the server came in between */
    if (client)
        *notes |= without_effect(pdu, client, versions);
    if (command && (command->flags & IGGY_NO_REPLY))
        return cancellation(pdu, pairs, &key);
    if (!pairs->asked++ || (int32_t)(end_of(pdu) - pairs->asked_end) > 0)
        pairs->asked_end = end_of(pdu);
    if (iggy_fact(pdu->facts, IGGY_FACT_SESSION, 0) && !(command && (command->flags & IGGY_ENTERS)))
        pairs->bound = pairs->asked;
    bool by_number = numbered(versions, key.request);
    uint32_t digest = by_number || counts(key.operation) ? 0 : digest_of(pdu);
    iggy_exchange_t *first = repeats_open(pdu, pairs, &key, by_number, digest);
    if (!first)
        first = repeats_earlier(pdu, pairs, &key, by_number, digest);
    iggy_exchange_t *exchange = new_exchange(pdu, pairs);
    link_retry(exchange, first);
    if (!answered_before(pdu, pairs, &key, exchange)) {
        iggy_open_t *open = open_request(pairs, exchange, key.lane);
        open->client = client;
        open->asked = pairs->asked;
        open->digest = digest;
        open->end = end_of(pdu);
        open->acknowledged = key.acknowledged;
        memcpy(open->checksum, key.checksum, sizeof open->checksum);
    }
    if (first || by_number || counts(key.operation))
        remember(client, exchange);
    pairs->registered |= key.operation == IGGY_OP_REGISTER;
    return exchange;
}

/* ---- replies ---- */

/* Layouts tried for one reply, so that each is tried once. */
typedef struct {
    unsigned count;
    uint32_t codes[DRY_RUNS_LIMIT];
    bool     fits[DRY_RUNS_LIMIT];
} trials_t;

static bool fits(iggy_pdu_t *pdu, const iggy_versions_t *versions, trials_t *trials, uint32_t code)
{
    for (unsigned i = 0; i < trials->count; i++)
        if (trials->codes[i] == code)
            return trials->fits[i];
    if (trials->count == DRY_RUNS_LIMIT)
        return false;
    trials->codes[trials->count] = code;
    return trials->fits[trials->count++] = iggy_reply_fits(pdu, versions, code);
}

/* The candidates of a reply, by what is known without looking into bodies. */
typedef struct {
    iggy_open_t *oldest, *newest;
    unsigned     count;
    bool         doubt, mixed; /* some are in doubt; their codes differ */
    bool         confirmed;    /* the request_checksum says so */
} candidates_t;

static void gather(const iggy_pairs_t *pairs, const iggy_key_t *key, candidates_t *found)
{
    memset(found, 0, sizeof *found);
    for (iggy_open_t *open = first_of(pairs, key); open; open = next_of(open, key)) {
        bool same = memcmp(key->checksum, nothing, 16) && !memcmp(open->checksum, key->checksum, 16);
        if (same && !found->confirmed)
            memset(found, 0, sizeof *found);
        else if (!same && found->confirmed)
            continue;
        found->confirmed = same;
        if (!found->oldest)
            found->oldest = open;
        found->mixed |= open->exchange->code != found->oldest->exchange->code;
        found->doubt = found->doubt || open->doubt != IGGY_NO_DOUBT;
        found->newest = open;
        found->count++;
    }
}

/* Whether the client waits for each reply before it asks on. */
static bool waits(const iggy_pairs_t *pairs, const iggy_versions_t *versions, const iggy_key_t *key)
{
    return !pairs->pipelined && !numbered(versions, key->request);
}

/*
 * After a hole the newest of several requests of one key is the one that is answered, if the client waits for each reply:
 * the replies to the others were in the hole. A client that does not wait gives no such certainty.
 */
static iggy_open_t *choose_in_doubt(iggy_pdu_t *pdu, const iggy_pairs_t *pairs, const iggy_versions_t *versions,
                                    const iggy_key_t *key, const candidates_t *found)
{
    trials_t trials = { 0 };
    unsigned fitting = 0;
    iggy_open_t *newest = NULL;
    for (iggy_open_t *open = found->oldest; open; open = next_of(open, key)) {
        if (key->operation == IGGY_OP_NON_REPLICATED && !fits(pdu, versions, &trials, open->exchange->code))
            continue;
        newest = open;
        fitting++;
    }
    return fitting == 1 || waits(pairs, versions, key) || numbered(versions, key->request) ? newest : NULL;
}

/* Whether the server has received a request that the capture has not, or of which it has no header. */
static bool received_another(const iggy_pdu_t *pdu, const iggy_pairs_t *pairs, const iggy_key_t *key)
{
    uint32_t beyond = key->acknowledged - pairs->asked_end;
    return pdu->place->unseen || (key->acknowledges && beyond >= IGGY_HEADER_SIZE && beyond < UNSEEN_LIMIT);
}

static iggy_open_t *choose(iggy_pdu_t *pdu, iggy_pairs_t *pairs, const iggy_versions_t *versions, iggy_key_t *key)
{
    candidates_t found;
    gather(pairs, key, &found);
    pairs->told |= found.count && key->acknowledges;
    if (!found.count && key->acknowledges && !pairs->told) { /* a capture that was made up may acknowledge anything */
        key->acknowledges = false;
        gather(pairs, key, &found);
    }
    if (!found.count)
        return NULL;
    bool numbered_once = numbered(versions, key->request);
    if (found.doubt && received_another(pdu, pairs, key) && !numbered_once && (!found.confirmed || waits(pairs, versions, key)))
        return NULL; /* the reply may be that to the other request, whatever fits */
    if (found.confirmed)
        return found.doubt ? found.newest : found.oldest;
    if (found.doubt)
        return choose_in_doubt(pdu, pairs, versions, key, &found);
    if (!found.mixed || key->operation != IGGY_OP_NON_REPLICATED)
        return found.oldest;
    trials_t trials = { 0 };
    for (iggy_open_t *open = found.oldest; open; open = next_of(open, key))
        if (fits(pdu, versions, &trials, open->exchange->code))
            return open;
    return found.oldest;
}

/* Where numbers repeat, requests of the same key before the one answered get no reply any more. */
static void pass_over(iggy_pairs_t *pairs, const iggy_open_t *answered, const iggy_key_t *key)
{
    for (iggy_open_t *open = first_of(pairs, key), *next; open && open != answered; open = next) {
        next = next_of(open, key);
        close_request(pairs, open, IGGY_EXCHANGE_LOST);
    }
}

uint32_t iggy_reply_error(const iggy_pdu_t *pdu)
{
    uint32_t status = (uint32_t)iggy_fact(pdu->facts, IGGY_FACT_STATUS, 0);
    if (status || !iggy_result_framed(pdu) || pdu->size < 268 || tvb_captured_length(pdu->tvb) < 268)
        return status;
    return tvb_get_letohl(pdu->tvb, 256) ? tvb_get_letohl(pdu->tvb, 264) : 0;
}

/* The session number of a login result (commands.md 3.12): behind an empty result section for operation 1. */
static uint64_t session_of(const iggy_pdu_t *pdu, const iggy_exchange_t *exchange)
{
    unsigned offset = IGGY_HEADER_SIZE + 4 + (exchange->operation == IGGY_OP_REGISTER ? 4 : 0);
    const iggy_command_t *command = iggy_command(exchange->code);
    bool login = exchange->operation == IGGY_OP_REGISTER || exchange->code == 15;
    if (!login || !command || pdu->size < offset + 8 || tvb_captured_length(pdu->tvb) < offset + 8)
        return 0;
    return tvb_get_letoh64(pdu->tvb, (int)offset);
}

static void answer(iggy_pdu_t *pdu, iggy_exchange_t *exchange, iggy_client_t *client, uint32_t digest)
{
    uint32_t error = iggy_reply_error(pdu);
    exchange->state = IGGY_EXCHANGE_ANSWERED;
    exchange->reply_frame = pdu->pinfo->num;
    if (is_transient(error)) {
        exchange->flags |= IGGY_EXCHANGE_TRANSIENT;
        aside(exchange)->digest = digest;
        remember(client, exchange);
    }
    if (!error && client)
        client->session = MAX(client->session, session_of(pdu, exchange));
}

static iggy_exchange_t *answer_open(iggy_pdu_t *pdu, iggy_pairs_t *pairs, const iggy_versions_t *versions,
                                    const iggy_key_t *key, iggy_open_t *open)
{
    iggy_exchange_t *exchange = open->exchange;
    if (!open->doubt && open->newer && !open->newer->doubt && !key->lane)
        pairs->pipelined = true;
    if (open->doubt || (key->operation == IGGY_OP_NON_REPLICATED && iggy_versions_may_be(versions, IGGY_0_11_0)))
        pass_over(pairs, open, key);
    iggy_client_t *client = open->client;
    uint32_t digest = open->digest;
    close_request(pairs, open, IGGY_EXCHANGE_ANSWERED);
    answer(pdu, exchange, client, digest);
    return exchange;
}

/* No open request here: one of another connection of the session, one more reply, or the refusal of a cancellation. */
static iggy_exchange_t *answer_other(iggy_pdu_t *pdu, iggy_pairs_t *pairs, const iggy_versions_t *versions,
                                     const iggy_key_t *key, uint8_t *notes)
{
    /* Where the capture misses a request of this connection, that may be the one. */
    bool known = numbered(versions, key->request) && !key->lane && !pdu->place->unseen;
    iggy_exchange_t *earlier = known ? recall(pairs->client, key->request, key->operation) : NULL;
    if (earlier && earlier->state == IGGY_EXCHANGE_OPEN && earlier->connection != pairs->connection) {
        *notes |= IGGY_NOTE_ELSEWHERE;
        answer(pdu, earlier, pairs->client, 0);
        return earlier;
    }
    if (earlier && earlier->state == IGGY_EXCHANGE_ANSWERED) {
        *notes |= IGGY_NOTE_AGAIN;
        return earlier;
    }
    iggy_exchange_t *cancel = pairs->cancel;
    if (cancel && cancel->state == IGGY_EXCHANGE_SILENT && cancel->request == key->request &&
        key->operation == cancel->operation && iggy_fact(pdu->facts, IGGY_FACT_STATUS, 0)) {
        answer(pdu, cancel, NULL, 0);
        return cancel;
    }
    *notes |= IGGY_NOTE_NO_REQUEST | (pairs->given_up ? IGGY_NOTE_GIVEN_UP : 0);
    keep_orphan(pdu, pairs, key, iggy_reply_error(pdu));
    return NULL;
}

iggy_exchange_t *iggy_pairs_reply(iggy_pdu_t *pdu, iggy_pairs_t *pairs, const iggy_versions_t *versions, uint8_t *notes)
{
    iggy_key_t key;
    expire(pairs, pdu->pinfo);
    note_hole(pdu, pairs);
    read_key(pdu, &key);
    if (pdu->operation == IGGY_OP_REGISTER && pdu->size == IGGY_HEADER_SIZE && !iggy_fact(pdu->facts, IGGY_FACT_STATUS, 0))
        *notes |= IGGY_NOTE_FAILED_LOGIN;
    iggy_open_t *open = choose(pdu, pairs, versions, &key);
    if (open)
        return answer_open(pdu, pairs, versions, &key, open);
    read_key(pdu, &key);
    return answer_other(pdu, pairs, versions, &key, notes);
}

/* ---- evictions ---- */

/* Reasons that refuse a login (framing.md 6); the others end sessions. */
static bool refuses_login(const iggy_pdu_t *pdu)
{
    uint64_t reason = iggy_fact(pdu->facts, IGGY_FACT_REASON, 0);
    return (reason >= 9 && reason <= 12) || reason == 14 || reason == 15;
}

/*
 * Whether the eviction answers an open request: on QUIC the one of its stream, elsewhere a login or a bind, unless that was
 * answered unseen: the client went on within the session, or bytes are missing and the reason is none of a refusal.
 */
static bool is_refused(const iggy_pdu_t *pdu, const iggy_pairs_t *pairs, const iggy_open_t *open)
{
    const iggy_command_t *command = iggy_command(open->exchange->code);
    if (open->exchange->state != IGGY_EXCHANGE_OPEN)
        return false;
    if (open->lane)
        return true;
    bool enters = command && (command->flags & IGGY_ENTERS);
    return enters && pairs->bound < open->asked && (!open->doubt || refuses_login(pdu));
}

iggy_exchange_t *iggy_pairs_eviction(iggy_pdu_t *pdu, iggy_pairs_t *pairs)
{
    uint64_t lane = pdu->place->lane;
    iggy_exchange_t *answered = NULL;
    expire(pairs, pdu->pinfo);
    note_hole(pdu, pairs);
    for (iggy_open_t *open = pairs->newest, *older; open; open = older) {
        older = open->older;
        iggy_exchange_t *exchange = open->exchange;
        if (open->lane != lane)
            continue;
        if (!answered && is_refused(pdu, pairs, open)) {
            answered = exchange;
            close_request(pairs, open, IGGY_EXCHANGE_ANSWERED);
            exchange->reply_frame = pdu->pinfo->num;
            continue;
        }
        if (exchange->state == IGGY_EXCHANGE_OPEN)
            aside(exchange)->evicted_in = pdu->pinfo->num;
        close_request(pairs, open, IGGY_EXCHANGE_EVICTED);
    }
    return answered;
}

/* ---- registration ---- */

/* A file is closed: its memory goes. */
static void forget(void)
{
    memset(&exchanges, 0, sizeof exchanges);
    unused = NULL;
    connections = 0;
}

void iggy_register_pairs(void)
{
    clients = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), id_hash, id_equal);
    asides = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), g_direct_hash, g_direct_equal);
    register_cleanup_routine(forget);
}
