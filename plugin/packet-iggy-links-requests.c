/* packet-iggy-links-requests.c
 * Requests of clients, until they are answered: the prepare that carries one repeats its client, number and operation.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-links-state.h"

#include "packet-iggy-commands.h"

#define MOST_OPEN 4096u
#define BUCKETS   4096u

/* A request that was not answered yet. */
typedef struct open_request {
    uint64_t client[2];
    uint64_t key; /* number and operation */
    const iggy_exchange_t *exchange;
    iggy_mark_t mark;
    struct open_request *next; /* in its bucket */
    struct open_request *older, *newer;
} open_request_t;

static open_request_t **buckets; /* by key; the newest first */
static open_request_t *unused;
static wmem_map_t *prepared; /* exchange: entry */
static open_request_t *oldest, *newest;
static unsigned open_count;

void iggy_links_requests_register(void)
{
    prepared = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), g_direct_hash, g_direct_equal);
}

void iggy_links_requests_forget(void)
{
    buckets = NULL;
    unused = NULL;
    oldest = newest = NULL;
    open_count = 0;
}

/* Numbers of real clients are small; a clash of two keys costs a comparison, since clients are compared too. */
static uint64_t key_of(uint64_t number, uint8_t operation) { return number << 8 | operation; }

static uint64_t half_of_client(const iggy_pdu_t *pdu, int half)
{
    const iggy_fact_value_t *client = &pdu->facts->at[IGGY_FACT_CLIENT];
    return tvb_get_letoh64(pdu->tvb, client->offset + 8 * half);
}

/* ---- the open ones ---- */

static void unlink_age(open_request_t *pending)
{
    if (pending->older)
        pending->older->newer = pending->newer;
    else
        oldest = pending->newer;
    if (pending->newer)
        pending->newer->older = pending->older;
    else
        newest = pending->older;
    open_count--;
}

static open_request_t **bucket_of(uint64_t key)
{
    if (!buckets)
        buckets = wmem_alloc0_array(wmem_file_scope(), open_request_t *, BUCKETS);
    return &buckets[(key ^ key >> 8) % BUCKETS];
}

/* The first at or behind `pending` with this key. */
static open_request_t *with_key(open_request_t *pending, uint64_t key)
{
    while (pending && pending->key != key)
        pending = pending->next;
    return pending;
}

static void close_request(open_request_t *pending)
{
    open_request_t **at = bucket_of(pending->key);
    while (*at != pending)
        at = &(*at)->next;
    *at = pending->next;
    unlink_age(pending);
    pending->next = unused;
    unused = pending;
}

static open_request_t *find_strict(uint64_t key, const uint64_t client[2])
{
    open_request_t *pending = with_key(*bucket_of(key), key);
    while (pending && (pending->client[0] != client[0] || pending->client[1] != client[1]))
        pending = with_key(pending->next, key);
    return pending;
}

static void open_request(iggy_pdu_t *pdu, uint64_t key, const uint64_t client[2])
{
    open_request_t **first = bucket_of(key), *pending = unused;
    if (pending)
        unused = pending->next;
    else
        pending = wmem_new(wmem_file_scope(), open_request_t);
    *pending = (open_request_t){ .client = { client[0], client[1] }, .key = key, .exchange = pdu->exchange,
                                 .mark = iggy_links_mark(pdu), .next = *first, .older = newest };
    *first = pending;
    if (newest)
        newest->newer = pending;
    else
        oldest = pending;
    newest = pending;
    if (++open_count > MOST_OPEN)
        close_request(oldest);
}

/* Only what is replicated travels on: register, logout, and what has a log of its own. */
void iggy_links_request(iggy_pdu_t *pdu)
{
    if (pdu->operation == IGGY_OP_NON_REPLICATED || !pdu->exchange || !iggy_has(pdu->facts, IGGY_FACT_SESSION))
        return;
    uint64_t client[2] = { half_of_client(pdu, 0), half_of_client(pdu, 1) };
    uint64_t key = key_of(iggy_fact(pdu->facts, IGGY_FACT_REQUEST, 0), pdu->operation);
    open_request_t *pending = find_strict(key, client);
    if (pending && iggy_is_retry(pdu->exchange))
        return;
    if (pending) /* its reply was lost */
        close_request(pending);
    open_request(pdu, key, client);
}

void iggy_links_reply(iggy_pdu_t *pdu)
{
    if (!pdu->exchange || pdu->exchange->operation == IGGY_OP_NON_REPLICATED)
        return;
    uint64_t key = key_of(pdu->exchange->request, pdu->exchange->operation);
    open_request_t *pending = with_key(*bucket_of(key), key);
    while (pending && pending->exchange != pdu->exchange)
        pending = with_key(pending->next, key);
    if (pending)
        close_request(pending);
}

/* ---- who carries them ---- */

/* Development servers of 0.11 put their own number of the connection there: small, where client ids are random. */
static bool is_connection_id(const uint64_t client[2]) { return client[1] >> 48 == 0; }

/* With the server's id of the connection the key has to be enough; if two clients have it, none is taken. */
static open_request_t *find_only(uint64_t key)
{
    open_request_t *pending = with_key(*bucket_of(key), key);
    return pending && !with_key(pending->next, key) ? pending : NULL;
}

iggy_mark_t iggy_links_find_request(iggy_pdu_t *pdu, iggy_entry_t *entry)
{
    iggy_mark_t none = { 0, 0, 0 };
    const iggy_operation_t *operation = iggy_operation(entry ? pdu->operation : IGGY_OP_REGISTER);
    uint64_t client[2] = { half_of_client(pdu, 0), half_of_client(pdu, 1) };
    if (!operation || (client[0] & client[1]) == UINT64_MAX)
        return none;
    uint64_t key = key_of(entry ? iggy_fact(pdu->facts, IGGY_FACT_REQUEST, 0) : 0, operation->request);
    open_request_t *pending = find_strict(key, client);
    if (!pending && pdu->operation >= IGGY_OP_SEND_MESSAGES && is_connection_id(client))
        pending = find_only(key);
    if (!pending)
        return none;
    if (entry)
        wmem_map_insert(prepared, pending->exchange, entry);
    return pending->mark;
}

const iggy_entry_t *iggy_links_entry_of(const iggy_exchange_t *exchange)
{
    return exchange ? (const iggy_entry_t *)wmem_map_lookup(prepared, exchange) : NULL;
}
