/* packet-iggy-links-rounds.c
 * Questions and answers between two replicas, by nonce or by what they repeat, and state transfers (replica.md 6 to 10).
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-links-state.h"

#include <string.h>

#define MOST_OPEN 4096u      /* rounds that wait for an answer */
#define MOST_ARTIFACTS 65536u /* of a manifest (replica.md 6) */

/* Offsets. */
#define AT_INCARNATION 240
#define MANIFEST 256
#define MANIFEST_COUNT (MANIFEST + 4)
#define MANIFEST_LENGTH (MANIFEST + 8)
#define MANIFEST_ENTRIES (MANIFEST + 9)
#define ENTRY_LEAST 25u
#define ENTRY_BYTES 9 /* length of the artifact within an entry */

/* What makes a question and its answer one; all of it must be the same. */
typedef struct {
    const void *connection;
    uint64_t nonce[2];
    uint64_t client[2];
    uint64_t kind; /* of the round */
} round_key_t;

typedef struct open_round {
    round_key_t key;
    iggy_round_t *round;
    struct open_round *older, *newer;
} open_round_t;

static wmem_map_t *rounds;
static wmem_map_t *transfers; /* by nonce */
static open_round_t *oldest, *newest;
static unsigned open_count;

static unsigned round_hash(const void *key) { return wmem_strong_hash((const uint8_t *)key, sizeof(round_key_t)); }
static gboolean round_equal(const void *a, const void *b) { return memcmp(a, b, sizeof(round_key_t)) == 0; }
static unsigned nonce_hash(const void *key) { return wmem_strong_hash((const uint8_t *)key, 16); }
static gboolean nonce_equal(const void *a, const void *b) { return memcmp(a, b, 16) == 0; }

void iggy_links_rounds_register(void)
{
    rounds = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), round_hash, round_equal);
    transfers = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), nonce_hash, nonce_equal);
}

void iggy_links_rounds_forget(void)
{
    oldest = newest = NULL;
    open_count = 0;
}

/* ---- open rounds ---- */

static void close_round(open_round_t *pending)
{
    wmem_map_remove(rounds, &pending->key);
    if (pending->older)
        pending->older->newer = pending->newer;
    else
        oldest = pending->newer;
    if (pending->newer)
        pending->newer->older = pending->older;
    else
        newest = pending->older;
    open_count--;
    wmem_free(wmem_file_scope(), pending);
}

static round_key_t key_of(const iggy_pdu_t *pdu, uint64_t kind)
{
    round_key_t key;
    memset(&key, 0, sizeof key);
    const iggy_fact_value_t *nonce = &pdu->facts->at[IGGY_FACT_NONCE];
    key.connection = pdu->place->conversation;
    key.kind = kind;
    key.nonce[0] = nonce->value;
    if (nonce->length == 16)
        key.nonce[1] = tvb_get_letoh64(pdu->tvb, nonce->offset + 8);
    if (iggy_has(pdu->facts, IGGY_FACT_CLIENT)) {
        const iggy_fact_value_t *client = &pdu->facts->at[IGGY_FACT_CLIENT];
        key.client[0] = client->value;
        key.client[1] = tvb_get_letoh64(pdu->tvb, client->offset + 8);
    }
    return key;
}

static iggy_round_t *new_round(iggy_pdu_t *pdu)
{
    iggy_round_t *round = wmem_new0(wmem_file_scope(), iggy_round_t);
    round->question = iggy_links_mark(pdu);
    iggy_link_t *link = iggy_links_link(pdu->frame);
    iggy_links_rest(link)->round = round;
    link->notes |= IGGY_LINK_QUESTION;
    return round;
}

/* The same question again starts a round of its own: the later one is answered. */
static iggy_round_t *ask(iggy_pdu_t *pdu, uint64_t kind)
{
    round_key_t key = key_of(pdu, kind);
    open_round_t *pending = (open_round_t *)wmem_map_lookup(rounds, &key);
    if (pending)
        close_round(pending);
    pending = wmem_new0(wmem_file_scope(), open_round_t);
    pending->key = key;
    iggy_round_t *round = pending->round = new_round(pdu);
    pending->older = newest;
    if (newest)
        newest->newer = pending;
    else
        oldest = pending;
    newest = pending;
    wmem_map_insert(rounds, &pending->key, pending);
    if (++open_count > MOST_OPEN)
        close_round(oldest);
    return round;
}

static void answer_round(iggy_pdu_t *pdu, iggy_round_t *round)
{
    iggy_links_rest(iggy_links_link(pdu->frame))->round = round;
    if (!round->answer.packet)
        round->answer = iggy_links_mark(pdu);
}

/* The answer to an open question; false if there is none. */
static bool answer(iggy_pdu_t *pdu, uint64_t kind)
{
    round_key_t key = key_of(pdu, kind);
    open_round_t *pending = (open_round_t *)wmem_map_lookup(rounds, &key);
    if (!pending)
        return false;
    answer_round(pdu, pending->round);
    close_round(pending);
    return true;
}

/* ---- repair ---- */

static void ask_prepares(iggy_pdu_t *pdu, iggy_group_t *group)
{
    iggy_lane_group_t *lane = iggy_links_lane_group(pdu, group, false);
    lane->repair = ask(pdu, IGGY_REQUEST_PREPARES);
    lane->repair_from = iggy_fact(pdu->facts, IGGY_FACT_FROM_OP, 0);
    lane->repair_to = iggy_fact(pdu->facts, IGGY_FACT_TO_OP, 0);
}

/* Repaired prepares carry no nonce: they answer what the other side asked for last, if it asked for their op. */
static void repaired(iggy_pdu_t *pdu, iggy_group_t *group)
{
    iggy_lane_group_t *lane = iggy_links_lane_group(pdu, group, true);
    uint64_t op = iggy_fact(pdu->facts, IGGY_FACT_OP, 0);
    if (lane->repair && op >= lane->repair_from && op <= lane->repair_to) {
        iggy_links_rest(iggy_links_link(pdu->frame))->round = lane->repair;
        lane->repair->count++;
    }
    iggy_links_repaired(pdu, group);
}

/* range_evicted comes first in a round, repair_done ends it. */
static void range_evicted(iggy_pdu_t *pdu, iggy_group_t *group _U_)
{
    round_key_t key = key_of(pdu, IGGY_REQUEST_PREPARES);
    const open_round_t *pending = (const open_round_t *)wmem_map_lookup(rounds, &key);
    if (pending)
        iggy_links_rest(iggy_links_link(pdu->frame))->round = pending->round;
}

static void repair_done(iggy_pdu_t *pdu, iggy_group_t *group)
{
    iggy_lane_group_t *lane = iggy_links_lane_group(pdu, group, true);
    if (answer(pdu, IGGY_REQUEST_PREPARES)) {
        iggy_link_t *link = iggy_links_link(pdu->frame);
        link->number = iggy_links_rest(link)->round->count;
        if (lane->repair == iggy_links_rest(link)->round)
            lane->repair = NULL;
    }
}

/* ---- recovery: request_start_view ---- */

static uint64_t incarnation(const iggy_pdu_t *pdu) { return tvb_get_letoh64(pdu->tvb, AT_INCARNATION); }

static void ask_start_view(iggy_pdu_t *pdu, iggy_group_t *group)
{
    iggy_lane_group_t *lane = iggy_links_lane_group(pdu, group, false);
    lane->start_view = new_round(pdu);
    lane->start_view_incarnation = incarnation(pdu);
}

/* A start_view that echoes what the other side asked with answers it; all others belong to a view change. */
static void start_view(iggy_pdu_t *pdu, iggy_group_t *group)
{
    iggy_lane_group_t *lane = iggy_links_lane_group(pdu, group, true);
    if (lane->start_view && lane->start_view_incarnation == incarnation(pdu)) {
        answer_round(pdu, lane->start_view);
        lane->start_view = NULL;
    } else if (incarnation(pdu) == 0) {
        iggy_links_view_change(pdu, group);
    }
}

/* ---- state transfer ---- */

static iggy_transfer_t *find_transfer(const iggy_pdu_t *pdu)
{
    const iggy_fact_value_t *nonce = &pdu->facts->at[IGGY_FACT_NONCE];
    return (iggy_transfer_t *)wmem_map_lookup(transfers, tvb_get_ptr(pdu->tvb, nonce->offset, 16));
}

static void drop_transfer(const iggy_pdu_t *pdu)
{
    wmem_map_remove(transfers, tvb_get_ptr(pdu->tvb, pdu->facts->at[IGGY_FACT_NONCE].offset, 16));
}

static void ask_transfer(iggy_pdu_t *pdu, iggy_group_t *group)
{
    ask(pdu, IGGY_REQUEST_STATE_TRANSFER);
    iggy_lane_group_t *lane = iggy_links_lane_group(pdu, group, false);
    iggy_link_t *link = iggy_links_link(pdu->frame);
    iggy_transfer_t *transfer = find_transfer(pdu);
    if (!transfer) {
        const iggy_offer_t *before = lane->transfer ? lane->transfer->offer : NULL;
        if (before && before->received < before->total)
            link->notes |= IGGY_LINK_ABORTED; /* by another one */
        transfer = wmem_new0(wmem_file_scope(), iggy_transfer_t);
        transfer->request = iggy_links_mark(pdu);
        int nonce = pdu->facts->at[IGGY_FACT_NONCE].offset;
        wmem_map_insert(transfers, tvb_memdup(wmem_file_scope(), pdu->tvb, nonce, 16), transfer);
    }
    lane->transfer = transfer;
    iggy_links_rest(link)->transfer = transfer;
}

/* Lengths of the artifacts, from the manifest; what the capture has not all of is not counted. */
static void read_manifest(const iggy_pdu_t *pdu, iggy_offer_t *offer)
{
    uint32_t there = MIN(pdu->size, tvb_captured_length(pdu->tvb));
    if (there < MANIFEST_ENTRIES)
        return;
    uint32_t count = tvb_get_letohl(pdu->tvb, MANIFEST_COUNT);
    uint32_t length = tvb_get_uint8(pdu->tvb, MANIFEST_LENGTH);
    if (length < ENTRY_LEAST || count > MOST_ARTIFACTS || count > (there - MANIFEST_ENTRIES) / length)
        return;
    offer->lengths = wmem_alloc_array(wmem_file_scope(), uint64_t, count ? count : 1);
    offer->ends = wmem_alloc0_array(wmem_file_scope(), uint64_t, count ? count : 1);
    offer->artifacts = count;
    for (uint32_t i = 0; i < count; i++) {
        offer->lengths[i] = tvb_get_letoh64(pdu->tvb, MANIFEST_ENTRIES + (int)(i * length) + ENTRY_BYTES);
        offer->total += offer->lengths[i];
    }
}

/* An offer or a refusal; also the answer to a chunk of an offer that the peer no longer has. */
static void transfer_target(iggy_pdu_t *pdu, iggy_group_t *group _U_)
{
    iggy_transfer_t *transfer = find_transfer(pdu);
    iggy_link_t *link = iggy_links_link(pdu->frame);
    iggy_links_rest(link)->transfer = transfer;
    bool of_chunk = !answer(pdu, IGGY_REQUEST_STATE_TRANSFER) && answer(pdu, IGGY_REQUEST_STATE_CHUNK);
    if (!transfer)
        return;
    if (iggy_fact(pdu->facts, IGGY_FACT_AVAILABLE, 0) == 1) {
        transfer->offer = wmem_new0(wmem_file_scope(), iggy_offer_t);
        transfer->offer->packet = pdu->pinfo->num;
        read_manifest(pdu, transfer->offer);
        return;
    }
    if (of_chunk || transfer->offer)
        link->notes |= IGGY_LINK_ABORTED;
    drop_transfer(pdu);
}

/* A chunk, or the request for one, belongs to the newest offer of its transfer; `number` is what had come by then. */
static void link_chunk(iggy_pdu_t *pdu, iggy_transfer_t *transfer)
{
    iggy_link_t *link = iggy_links_link(pdu->frame);
    iggy_rest_t *rest = iggy_links_rest(link);
    rest->transfer = transfer;
    rest->offer = transfer ? transfer->offer : NULL;
    link->number = rest->offer ? rest->offer->received : 0;
}

static void ask_chunk(iggy_pdu_t *pdu, iggy_group_t *group _U_)
{
    ask(pdu, IGGY_REQUEST_STATE_CHUNK);
    link_chunk(pdu, find_transfer(pdu));
}

/* Bytes of a chunk that had not come before. */
static void receive(const iggy_pdu_t *pdu, iggy_offer_t *offer)
{
    uint64_t artifact = iggy_fact(pdu->facts, IGGY_FACT_ARTIFACT, 0);
    uint64_t from = iggy_fact(pdu->facts, IGGY_FACT_CHUNK_OFFSET, 0);
    uint64_t bytes = pdu->size > IGGY_HEADER_SIZE ? pdu->size - IGGY_HEADER_SIZE : 0;
    if (artifact >= offer->artifacts || from > offer->lengths[artifact])
        return;
    uint64_t end = from + MIN(bytes, offer->lengths[artifact] - from);
    if (end > offer->ends[artifact]) {
        offer->received += end - offer->ends[artifact];
        offer->ends[artifact] = end;
    }
}

/* Chunks come in order; one that is repeated does not count again. */
static void chunk(iggy_pdu_t *pdu, iggy_group_t *group _U_)
{
    answer(pdu, IGGY_REQUEST_STATE_CHUNK);
    iggy_transfer_t *transfer = find_transfer(pdu);
    if (!transfer)
        return;
    iggy_offer_t *offer = transfer->offer;
    if (offer)
        receive(pdu, offer);
    link_chunk(pdu, transfer);
    if (offer && offer->received == offer->total)
        drop_transfer(pdu);
}

/* ---- heartbeats and their echoes (0.12.2) ---- */

/* Only an echo makes a round of a heartbeat: before 0.12.2 there are none. */
static void heartbeat(iggy_pdu_t *pdu, iggy_group_t *group)
{
    iggy_lane_group_t *lane = iggy_links_lane_group(pdu, group, false);
    lane->counter = iggy_fact(pdu->facts, IGGY_FACT_COUNTER, 0);
    lane->heartbeat = iggy_links_mark(pdu);
    lane->heartbeat_frame = pdu->frame;
    iggy_links_commit(pdu, group);
}

static void echo(iggy_pdu_t *pdu, iggy_group_t *group)
{
    iggy_lane_group_t *lane = iggy_links_lane_group(pdu, group, true);
    if (!lane->heartbeat_frame || lane->counter != iggy_fact(pdu->facts, IGGY_FACT_COUNTER, 0))
        return;
    iggy_link_t *link = iggy_links_link(lane->heartbeat_frame);
    iggy_rest_t *rest = iggy_links_rest(link);
    if (!rest->round) {
        rest->round = wmem_new0(wmem_file_scope(), iggy_round_t);
        rest->round->question = lane->heartbeat;
        link->notes |= IGGY_LINK_QUESTION;
    }
    answer_round(pdu, rest->round);
}

/* ---- handshake ---- */

static void hello(iggy_pdu_t *pdu, iggy_group_t *group _U_) { ask(pdu, IGGY_REPLICA_HELLO); }

static void challenge(iggy_pdu_t *pdu, iggy_group_t *group _U_)
{
    answer(pdu, IGGY_REPLICA_HELLO);
    pdu->place->conversation->ends->challenge = iggy_links_mark(pdu);
}

/* The challenge is an answer itself, so this link looks back only. */
static void finish(iggy_pdu_t *pdu, iggy_group_t *group _U_)
{
    const iggy_ends_t *ends = pdu->place->conversation->ends;
    if (!ends->challenge.packet)
        return;
    iggy_round_t *round = wmem_new0(wmem_file_scope(), iggy_round_t);
    round->question = ends->challenge;
    answer_round(pdu, round);
}

/* ---- which frame does what ---- */

/* Kinds of rebalance, segment deletion and progress: even ones ask (of segment deletion kind 0), the next answer. */
static void by_kind(iggy_pdu_t *pdu, iggy_group_t *group _U_)
{
    uint64_t kind = iggy_fact(pdu->facts, IGGY_FACT_KIND, 0);
    uint64_t base = (uint64_t)pdu->command << 8;
    bool segments = pdu->command == IGGY_SEGMENT_DELETE;
    if (segments ? kind == 0 : kind % 2 == 0)
        ask(pdu, base | kind);
    else
        answer(pdu, base | (segments ? 0 : kind - 1));
}

static void forward_register(iggy_pdu_t *pdu, iggy_group_t *group _U_)
{
    ask(pdu, IGGY_FORWARD_REGISTER);
    iggy_links_rest(iggy_links_link(pdu->frame))->request = iggy_links_find_request(pdu, NULL).packet;
}

static void forward_logout(iggy_pdu_t *pdu, iggy_group_t *group _U_) { ask(pdu, IGGY_FORWARD_LOGOUT); }

static void forward_result(iggy_pdu_t *pdu, iggy_group_t *group _U_) { answer(pdu, pdu->command - 1u); }

typedef struct {
    void (*step)(iggy_pdu_t *pdu, iggy_group_t *group);
    bool any_group; /* also without a group */
} round_t;

void iggy_links_round(iggy_pdu_t *pdu, iggy_group_t *group)
{
    static const round_t by_command[] = {
        [IGGY_PREPARE] = { iggy_links_prepare, false },
        [IGGY_PREPARE_OK] = { iggy_links_prepare_ok, false },
        [IGGY_COMMIT] = { heartbeat, false },
        [IGGY_START_VIEW_CHANGE] = { iggy_links_view_change, false },
        [IGGY_DO_VIEW_CHANGE] = { iggy_links_view_change, false },
        [IGGY_START_VIEW] = { start_view, false },
        [IGGY_REPLICA_HELLO] = { hello, true },
        [IGGY_REPLICA_CHALLENGE] = { challenge, true },
        [IGGY_REPLICA_FINISH] = { finish, true },
        [IGGY_REQUEST_START_VIEW] = { ask_start_view, false },
        [IGGY_REQUEST_PREPARES] = { ask_prepares, false },
        [IGGY_REPAIR_PREPARE] = { repaired, false },
        [IGGY_REPAIR_DONE] = { repair_done, false },
        [IGGY_RANGE_EVICTED] = { range_evicted, false },
        [IGGY_REQUEST_STATE_TRANSFER] = { ask_transfer, false },
        [IGGY_STATE_TRANSFER_TARGET] = { transfer_target, false },
        [IGGY_REQUEST_STATE_CHUNK] = { ask_chunk, false },
        [IGGY_STATE_CHUNK] = { chunk, false },
        [IGGY_FORWARD_REGISTER] = { forward_register, true },
        [IGGY_FORWARD_REGISTER_RESULT] = { forward_result, true },
        [IGGY_FORWARD_LOGOUT] = { forward_logout, true },
        [IGGY_FORWARD_LOGOUT_RESULT] = { forward_result, true },
        [IGGY_PRIMARY_REBALANCE] = { by_kind, true },
        [IGGY_SEGMENT_DELETE] = { by_kind, false },
        [IGGY_COMMIT_REPLY] = { echo, false },
        [IGGY_PREPARE_PROGRESS] = { by_kind, false },
    };
    const round_t *round = pdu->command < array_length(by_command) ? &by_command[pdu->command] : NULL;
    if (round && round->step && (group || round->any_group))
        round->step(pdu, group);
}
