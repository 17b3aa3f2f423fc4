/* packet-iggy-names.c
 * Names learnt: which stream, topic, consumer group or user had which name, at which server, as of a frame.
 *
 * Servers of one cluster share names: what replies to a client of one node teach, holds for the other nodes and for the
 * connections between them. So names belong to a cluster id where frames carry one (all replies of servers do, those between
 * servers too), and to the address and port of the server until then. Two clusters of the same name in one capture are one.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-names.h"

#include <string.h>

#include <epan/to_str.h>

#include "packet-iggy-connection.h"
#include "packet-iggy-layout.h"

/* What a thing was called from a frame on, or who had a name; NULL: nothing any more. */
typedef struct {
    uint64_t    since;   /* iggy_conversation_order() */
    uint64_t    deleted; /* when it was gone last, 0: never */
    const char *name;
    uint32_t    id;
    bool        gone;
} state_t;

typedef struct {
    state_t *states;
    unsigned count, room;
} history_t;

typedef struct {
    uint32_t kind, stream, topic, id;
} id_key_t;

typedef struct {
    uint32_t    kind, stream, topic;
    const char *name;
} name_key_t;

/* What was looked up last, of each kind: frames in a row are mostly about one stream and topic. NULL: nothing yet. */
typedef struct {
    id_key_t          id[IGGY_NAME_KINDS];
    history_t        *id_history[IGGY_NAME_KINDS];
    const name_key_t *name[IGGY_NAME_KINDS];
    history_t        *name_history[IGGY_NAME_KINDS];
} recent_t;

typedef struct {
    wmem_map_t *by_id;   /* id_key_t to history_t */
    wmem_map_t *by_name; /* name_key_t to history_t */
    recent_t   *recent;
    bool        bound;   /* to a cluster */
} space_t;

/* Of one connection: at first the names of the server's address, then those of its cluster. */
struct iggy_names_view {
    space_t *before, *after;
    uint64_t since; /* from this frame on `after` */
};

static wmem_map_t *servers;  /* "address port" to space_t */
static wmem_map_t *clusters; /* cluster id to space_t */
static wmem_map_t *texts;    /* a text to itself */
static wmem_map_t *same_facts; /* an iggy_kept_t to itself */
static uint32_t    news;     /* of names, and of whose names they are, since the program began */

/* ---- keys ---- */

/* A number that whoever makes a capture does not know, so that nobody can choose keys whose hashes are one. */
static uint64_t salt(void)
{
    static uint64_t chosen;
    if (!chosen)
        chosen = (uint64_t)g_random_int() << 32 | g_random_int() | 1;
    return chosen;
}

/* One step of a hash. */
static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * salt();
    return hash ^ hash >> 32;
}

/* Asked for several times a frame: two multiplications. */
static guint id_hash(gconstpointer key)
{
    const id_key_t *k = (const id_key_t *)key;
    uint64_t hash = (((uint64_t)k->stream << 32 | k->topic) ^ salt()) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
    hash = ((hash ^ hash >> 32) ^ ((uint64_t)k->kind << 32 | k->id)) * salt();
    return (guint)(hash >> 32);
}

static gboolean id_equal(gconstpointer a, gconstpointer b) { return memcmp(a, b, sizeof(id_key_t)) == 0; }

static guint name_hash(gconstpointer key)
{
    const name_key_t *k = (const name_key_t *)key;
    return wmem_str_hash(k->name) ^ (k->kind + 31 * k->stream + 1009 * k->topic);
}

static gboolean name_equal(gconstpointer a, gconstpointer b)
{
    const name_key_t *x = (const name_key_t *)a, *y = (const name_key_t *)b;
    return x->kind == y->kind && x->stream == y->stream && x->topic == y->topic && !strcmp(x->name, y->name);
}

static guint cluster_hash(gconstpointer key) { return wmem_strong_hash((const uint8_t *)key, 16); }

static gboolean cluster_equal(gconstpointer a, gconstpointer b) { return memcmp(a, b, 16) == 0; }

static guint kept_hash(gconstpointer key)
{
    const iggy_kept_t *k = (const iggy_kept_t *)key;
    uint64_t hash = salt() ^ k->count;
    for (unsigned i = 0; i < k->count; i++) {
        hash = mix(hash, k->facts[i].value);
        hash = mix(hash, (uint64_t)k->facts[i].fact << 56 ^ (uint64_t)(uintptr_t)k->facts[i].text);
    }
    return (guint)(hash >> 16);
}

static gboolean kept_equal(gconstpointer a, gconstpointer b)
{
    const iggy_kept_t *x = (const iggy_kept_t *)a, *y = (const iggy_kept_t *)b;
    if (x->count != y->count)
        return FALSE;
    for (unsigned i = 0; i < x->count; i++)
        if (x->facts[i].fact != y->facts[i].fact || x->facts[i].has != y->facts[i].has ||
            x->facts[i].value != y->facts[i].value || x->facts[i].text != y->facts[i].text)
            return FALSE;
    return TRUE;
}

uint32_t iggy_names_changes(void) { return news; }

const char *iggy_names_intern(const char *text)
{
    char *known = (char *)wmem_map_lookup(texts, text);
    if (!known) {
        known = wmem_strdup(wmem_file_scope(), text);
        wmem_map_insert(texts, known, known);
    }
    return known;
}

/* ---- servers ---- */

static history_t *id_history(const space_t *space, const iggy_name_key_t *key, bool make);
static history_t *name_history(const space_t *space, const iggy_name_key_t *key, const char *text, bool make);
static void append(history_t *history, const state_t *state);
static const state_t *state_of(const history_t *history, uint64_t order);
static const state_t *valid_state(const space_t *space, const iggy_name_key_t *key, const history_t *history, uint64_t order);

/* Names of an address on their way to its cluster. */
typedef struct {
    const space_t *address, *cluster;
    uint64_t       since;
} move_t;

static bool is_free(const history_t *history) { return !history || history->states[history->count - 1].gone; }

/*
 * A thing that the cluster knows nothing of. They come in no order: of things with one name only that moves which the name leads
 * to, the one that got it last.
 */
static void carry_over(void *key, void *value, void *data)
{
    const id_key_t *id = (const id_key_t *)key;
    const move_t *move = (const move_t *)data;
    iggy_name_key_t to = { (uint8_t)id->kind, id->stream, id->topic, id->id };
    const state_t *known = valid_state(move->address, &to, (const history_t *)value, move->since);
    if (!known)
        return;
    const state_t *led = state_of(name_history(move->address, &to, known->name, false), move->since);
    if (!led || led->gone || led->id != id->id || id_history(move->cluster, &to, false) ||
        !is_free(name_history(move->cluster, &to, known->name, false)))
        return;
    state_t state = { move->since, 0, known->name, id->id, false };
    append(id_history(move->cluster, &to, true), &state);
    append(name_history(move->cluster, &to, known->name, true), &state);
}

static space_t *new_space(void)
{
    space_t *space = wmem_new0(wmem_file_scope(), space_t);
    space->by_id = wmem_map_new(wmem_file_scope(), id_hash, id_equal);
    space->by_name = wmem_map_new(wmem_file_scope(), name_hash, name_equal);
    space->recent = wmem_new0(wmem_file_scope(), recent_t);
    return space;
}

static char *server_key(const iggy_pdu_t *pdu)
{
    bool to_server = pdu->place->side == IGGY_SIDE_CLIENT;
    const packet_info *pinfo = pdu->pinfo;
    const address *server = to_server ? &pinfo->dst : &pinfo->src;
    return wmem_strdup_printf(pdu->pinfo->pool, "%s %u", address_to_str(pdu->pinfo->pool, server),
                              to_server ? pinfo->destport : pinfo->srcport);
}

static struct iggy_names_view *new_view(const iggy_pdu_t *pdu)
{
    struct iggy_names_view *view = wmem_new0(wmem_file_scope(), struct iggy_names_view);
    char *key = server_key(pdu);
    view->before = (space_t *)wmem_map_lookup(servers, key);
    if (!view->before) {
        view->before = new_space();
        wmem_map_insert(servers, wmem_strdup(wmem_file_scope(), key), view->before);
    }
    return view;
}

/* The first frame that names a cluster binds the connection to it; replies to what only one server does may come before. */
static void bind_cluster(const iggy_pdu_t *pdu, struct iggy_names_view *view)
{
    static const uint8_t none[16];
    uint8_t cluster[16];
    if (view->after || tvb_captured_length(pdu->tvb) < 48 || (pdu->command == IGGY_REQUEST && !pdu->place->replica))
        return;
    tvb_memcpy(pdu->tvb, cluster, 32, sizeof cluster);
    if (!memcmp(cluster, none, sizeof none))
        return;
    space_t *space = (space_t *)wmem_map_lookup(clusters, cluster);
    if (!space) {
        space = view->before->bound ? new_space() : view->before;
        space->bound = true;
        wmem_map_insert(clusters, wmem_memdup(wmem_file_scope(), cluster, sizeof cluster), space);
    }
    news++;
    view->after = space;
    view->since = iggy_conversation_order(pdu);
    if (space == view->before)
        return;
    move_t move = { view->before, space, view->since };
    if (!view->before->bound)
        wmem_map_foreach(view->before->by_id, carry_over, &move);
    wmem_map_insert(servers, wmem_strdup(wmem_file_scope(), server_key(pdu)), space);
}

void iggy_names_attach(iggy_pdu_t *pdu)
{
    struct iggy_conversation *conversation = pdu->place->conversation;
    if (!conversation->names)
        conversation->names = new_view(pdu);
    bind_cluster(pdu, conversation->names);
}

static space_t *space_of(const iggy_pdu_t *pdu)
{
    const struct iggy_conversation *conversation = pdu->place->conversation;
    const struct iggy_names_view *view = conversation ? conversation->names : NULL;
    if (!view || !pdu->frame)
        return NULL;
    return view->after && view->since <= iggy_conversation_order(pdu) ? view->after : view->before;
}

/* ---- histories ---- */

/* The state as of a frame, NULL if there was none yet. */
static const state_t *state_of(const history_t *history, uint64_t order)
{
    unsigned low = 0, high = history ? history->count : 0;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (history->states[middle].since <= order)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &history->states[low - 1] : NULL;
}

/* When a thing was deleted last, as of a frame; 0: never. */
static uint64_t deleted(const history_t *history, uint64_t order)
{
    const state_t *state = state_of(history, order);
    return state ? state->deleted : 0;
}

static void append(history_t *history, const state_t *state)
{
    const state_t *last = history->count ? &history->states[history->count - 1] : NULL;
    if (last && last->since > state->since)
        return;
    uint64_t deletion = state->gone ? state->since : last ? last->deleted : 0;
    if (!history->states || history->count == history->room) {
        history->room += MAX(history->room / 2, 1);
        size_t room = history->room * sizeof *history->states;
        history->states = (state_t *)wmem_realloc(wmem_file_scope(), history->states, room);
    }
    news++;
    history->states[history->count] = *state;
    history->states[history->count++].deleted = deletion;
}

static history_t *id_history(const space_t *space, const iggy_name_key_t *key, bool make)
{
    id_key_t id = { key->kind, key->stream, key->topic, key->id };
    history_t **recent = &space->recent->id_history[key->kind];
    if (*recent && id_equal(&space->recent->id[key->kind], &id))
        return *recent;
    history_t *history = (history_t *)wmem_map_lookup(space->by_id, &id);
    if (!history && make) {
        history = wmem_new0(wmem_file_scope(), history_t);
        wmem_map_insert(space->by_id, wmem_memdup(wmem_file_scope(), &id, sizeof id), history);
    }
    if (history) {
        *recent = history;
        space->recent->id[key->kind] = id;
    }
    return history;
}

static history_t *name_history(const space_t *space, const iggy_name_key_t *key, const char *text, bool make)
{
    name_key_t name = { key->kind, key->stream, key->topic, text };
    recent_t *recent = space->recent;
    if (recent->name[key->kind] && name_equal(recent->name[key->kind], &name))
        return recent->name_history[key->kind];
    const void *known = NULL;
    void *history = NULL;
    if (!wmem_map_lookup_extended(space->by_name, &name, &known, &history)) {
        if (!make)
            return NULL;
        history = wmem_new0(wmem_file_scope(), history_t);
        name.name = iggy_names_intern(text);
        known = wmem_memdup(wmem_file_scope(), &name, sizeof name);
        wmem_map_insert(space->by_name, known, history);
    }
    recent->name[key->kind] = (const name_key_t *)known;
    recent->name_history[key->kind] = (history_t *)history;
    return (history_t *)history;
}

/* Ids are used again: what was learnt before the stream or topic around it was deleted, is about something else. */
static bool parents_stand(const space_t *space, const iggy_name_key_t *key, uint64_t since, uint64_t order)
{
    iggy_name_key_t stream = { IGGY_NAME_STREAM, 0, 0, key->stream };
    iggy_name_key_t topic = { IGGY_NAME_TOPIC, key->stream, 0, key->topic };
    if (key->kind != IGGY_NAME_TOPIC && key->kind != IGGY_NAME_CONSUMER_GROUP)
        return true;
    if (deleted(id_history(space, &stream, false), order) > since)
        return false;
    return key->kind == IGGY_NAME_TOPIC || deleted(id_history(space, &topic, false), order) <= since;
}

static const state_t *valid_state(const space_t *space, const iggy_name_key_t *key, const history_t *history, uint64_t order)
{
    const state_t *state = state_of(history, order);
    return state && !state->gone && parents_stand(space, key, state->since, order) ? state : NULL;
}

/* What a frame teaches holds behind it: the first pass looks up before it learns, and later ones have to see the same. */
static uint64_t before(const iggy_pdu_t *pdu) { return iggy_conversation_order(pdu) - 1; }

const char *iggy_names_name(iggy_pdu_t *pdu, const iggy_name_key_t *key)
{
    const space_t *space = space_of(pdu);
    if (!space)
        return NULL;
    const state_t *state = valid_state(space, key, id_history(space, key, false), before(pdu));
    return state ? state->name : NULL;
}

bool iggy_names_id(iggy_pdu_t *pdu, iggy_name_key_t *key, const char *name)
{
    const space_t *space = space_of(pdu);
    if (!space || !name)
        return false;
    const state_t *state = valid_state(space, key, name_history(space, key, name, false), before(pdu));
    if (state)
        key->id = state->id;
    return state != NULL;
}

/* A name that leaves its thing: renamed, deleted, or given to another. */
static void release_name(const space_t *space, const iggy_name_key_t *key, const char *name, uint64_t order)
{
    history_t *history = name_history(space, key, name, false);
    const state_t *state = state_of(history, order);
    state_t gone = { order, 0, NULL, key->id, true };
    if (state && !state->gone && state->id == key->id)
        append(history, &gone);
}

void iggy_names_learn(iggy_pdu_t *pdu, const iggy_name_key_t *key, const char *name)
{
    space_t *space = PINFO_FD_VISITED(pdu->pinfo) ? NULL : space_of(pdu);
    if (!space || (name && !*name))
        return;
    uint64_t order = iggy_conversation_order(pdu);
    history_t *history = id_history(space, key, name != NULL);
    const state_t *known = valid_state(space, key, history, order);
    if ((name && known && !strcmp(known->name, name)) || (!name && !known))
        return;
    if (known)
        release_name(space, key, known->name, order);
    state_t state = { order, 0, name ? iggy_names_intern(name) : NULL, key->id, !name };
    append(history, &state);
    if (name)
        append(name_history(space, key, name, true), &state);
}

/* ---- facts ---- */

typedef struct {
    iggy_fact_t fact; /* of the id; the name's is the next */
    iggy_name_kind_t kind;
} pair_t;

/* Parents before children. */
static const pair_t pairs[] = {
    { IGGY_FACT_STREAM_ID, IGGY_NAME_STREAM },
    { IGGY_FACT_TOPIC_ID, IGGY_NAME_TOPIC },
    { IGGY_FACT_CONSUMER_GROUP_ID, IGGY_NAME_CONSUMER_GROUP },
    { IGGY_FACT_USER_ID, IGGY_NAME_USER },
};

static const iggy_kept_fact_t *kept_fact(const iggy_pdu_t *pdu, iggy_fact_t fact)
{
    const iggy_kept_t *request = pdu->response && pdu->exchange ? (const iggy_kept_t *)pdu->exchange->request_facts : NULL;
    return iggy_kept_fact(request, fact);
}

/* A number of the frame, or of the request that it answers. */
static bool number(const iggy_pdu_t *pdu, const iggy_facts_t *facts, iggy_fact_t fact, uint32_t *value)
{
    const iggy_kept_fact_t *of_request = facts->has[fact] ? NULL : kept_fact(pdu, fact);
    if (!facts->has[fact] && !of_request)
        return false;
    *value = (uint32_t)(of_request ? of_request->value : facts->at[fact].value);
    return true;
}

static bool fill_parents(const iggy_pdu_t *pdu, const iggy_facts_t *facts, iggy_name_kind_t kind, iggy_name_key_t *key)
{
    memset(key, 0, sizeof *key);
    key->kind = (uint8_t)kind;
    if (kind != IGGY_NAME_TOPIC && kind != IGGY_NAME_CONSUMER_GROUP)
        return true;
    return number(pdu, facts, IGGY_FACT_STREAM_ID, &key->stream) &&
           (kind == IGGY_NAME_TOPIC || number(pdu, facts, IGGY_FACT_TOPIC_ID, &key->topic));
}

static void note_learnt(iggy_facts_t *facts, iggy_fact_t fact, uint8_t has, uint64_t value, const char *text)
{
    facts->has[fact] = has;
    facts->at[fact].value = value;
    facts->at[fact].offset = -1;
    facts->at[fact].length = 0;
    facts->at[fact].text = text;
}

bool iggy_names_complete(iggy_pdu_t *pdu, iggy_facts_t *facts, iggy_fact_t id_fact)
{
    iggy_fact_t name_fact = (iggy_fact_t)(id_fact + 1);
    iggy_name_key_t key;
    const pair_t *pair = NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(pairs); i++)
        if (pairs[i].fact == id_fact)
            pair = &pairs[i];
    if (!pair || !facts || facts->has[id_fact] == facts->has[name_fact] || (facts->has[id_fact] && facts->has[name_fact]) ||
        !fill_parents(pdu, facts, pair->kind, &key))
        return false;
    if (facts->has[id_fact]) {
        key.id = (uint32_t)facts->at[id_fact].value;
        /* The name that the request has is newer than what was learnt: a rename may be lost. */
        const iggy_kept_fact_t *asked = kept_fact(pdu, name_fact);
        bool newer = asked && asked->has == 1 && asked->text && facts->has[id_fact] == 1;
        const char *name = newer ? asked->text : iggy_names_name(pdu, &key);
        if (name)
            note_learnt(facts, name_fact, 2, strlen(name), name);
        return name != NULL;
    }
    if (!iggy_names_id(pdu, &key, facts->at[name_fact].text))
        return false;
    note_learnt(facts, id_fact, 2, key.id, NULL);
    return true;
}

/* ---- elements of replies ---- */

static bool within(const iggy_facts_t *facts, iggy_fact_t fact, int start, int end)
{
    return facts->has[fact] == 1 && facts->at[fact].offset >= start && facts->at[fact].offset < end;
}

static void learn_element(struct iggy_walk *walk, iggy_fact_t id_fact, iggy_name_kind_t kind, int start, int end)
{
    const iggy_facts_t *facts = walk->facts;
    iggy_fact_t name_fact = (iggy_fact_t)(id_fact + 1);
    iggy_name_key_t key;
    if (!facts || PINFO_FD_VISITED(walk->pdu->pinfo) || !within(facts, id_fact, start, end) ||
        !within(facts, name_fact, start, end) || !facts->at[name_fact].text || !fill_parents(walk->pdu, facts, kind, &key))
        return;
    key.id = (uint32_t)facts->at[id_fact].value;
    iggy_names_learn(walk->pdu, &key, facts->at[name_fact].text);
}

void iggy_learn_stream(struct iggy_walk *walk, proto_item *item _U_, int start, int end)
{
    learn_element(walk, IGGY_FACT_STREAM_ID, IGGY_NAME_STREAM, start, end);
}

void iggy_learn_topic(struct iggy_walk *walk, proto_item *item _U_, int start, int end)
{
    learn_element(walk, IGGY_FACT_TOPIC_ID, IGGY_NAME_TOPIC, start, end);
}

void iggy_learn_consumer_group(struct iggy_walk *walk, proto_item *item _U_, int start, int end)
{
    learn_element(walk, IGGY_FACT_CONSUMER_GROUP_ID, IGGY_NAME_CONSUMER_GROUP, start, end);
}

void iggy_learn_user(struct iggy_walk *walk, proto_item *item _U_, int start, int end)
{
    learn_element(walk, IGGY_FACT_USER_ID, IGGY_NAME_USER, start, end);
}

/* ---- requests and their replies ---- */

static void keep_facts(const iggy_pdu_t *pdu)
{
    const size_t most = IGGY_FACT_CONNECTION_ID - IGGY_FACT_STREAM_ID + 1;
    size_t size = offsetof(iggy_kept_t, facts) + most * sizeof(iggy_kept_fact_t);
    iggy_kept_t *found = (iggy_kept_t *)wmem_alloc0(pdu->pinfo->pool, size);
    for (unsigned i = IGGY_FACT_STREAM_ID; iggy_fact_is_kept(i); i++) {
        if (!pdu->facts->has[i])
            continue;
        const iggy_fact_value_t *at = &pdu->facts->at[i];
        iggy_kept_fact_t *fact = &found->facts[found->count++];
        fact->fact = (uint8_t)i;
        fact->has = pdu->facts->has[i];
        fact->value = at->value;
        fact->text = at->text ? iggy_names_intern(at->text) : NULL;
    }
    if (!found->count)
        return;
    void *known = wmem_map_lookup(same_facts, found);
    if (!known) {
        size_t used = offsetof(iggy_kept_t, facts) + found->count * sizeof(iggy_kept_fact_t);
        known = wmem_memdup(wmem_file_scope(), found, used);
        wmem_map_insert(same_facts, known, known);
    }
    pdu->exchange->request_facts = known;
}

/* A name of the request goes with the reply only if the reply does not speak of another id. */
static bool belongs(const iggy_pdu_t *pdu, iggy_fact_t fact)
{
    for (size_t i = 0; i < G_N_ELEMENTS(pairs); i++) {
        if (fact != pairs[i].fact + 1)
            continue;
        const iggy_kept_fact_t *id = kept_fact(pdu, pairs[i].fact);
        return !id || pdu->facts->has[pairs[i].fact] != 1 || pdu->facts->at[pairs[i].fact].value == id->value;
    }
    return true;
}

static void recall_facts(iggy_pdu_t *pdu)
{
    const iggy_kept_t *request = pdu->exchange ? (const iggy_kept_t *)pdu->exchange->request_facts : NULL;
    for (unsigned i = 0; request && i < request->count; i++) {
        const iggy_kept_fact_t *fact = &request->facts[i];
        if (!pdu->facts->has[fact->fact] && belongs(pdu, (iggy_fact_t)fact->fact))
            note_learnt(pdu->facts, (iggy_fact_t)fact->fact, 3, fact->value, fact->text);
    }
}

/* The request has the name, the reply the id. */
static void learn_across(iggy_pdu_t *pdu)
{
    for (size_t i = 0; i < G_N_ELEMENTS(pairs); i++) {
        const iggy_kept_fact_t *name = kept_fact(pdu, (iggy_fact_t)(pairs[i].fact + 1));
        iggy_name_key_t key;
        if (pdu->facts->has[pairs[i].fact] != 1 || !name || name->has != 1 || !name->text ||
            !fill_parents(pdu, pdu->facts, pairs[i].kind, &key))
            continue;
        key.id = (uint32_t)pdu->facts->at[pairs[i].fact].value;
        iggy_names_learn(pdu, &key, name->text);
    }
}

/* Operations that change or end a name: requests, and what they are prepared as (commands.md 5, 7, 8, 9). */
static const struct {
    uint8_t     operation;
    bool        ends;
    iggy_fact_t fact; /* 0: by the scope */
} changes[] = {
    { 129, false, IGGY_FACT_STREAM_ID }, { 133, false, IGGY_FACT_TOPIC_ID }, { 142, false, IGGY_FACT_USER_ID },
    { 150, false, IGGY_FACT_NONE },      { 72, false, IGGY_FACT_STREAM_ID }, { 73, false, IGGY_FACT_TOPIC_ID },
    { 74, false, IGGY_FACT_USER_ID },    { 130, true, IGGY_FACT_STREAM_ID }, { 134, true, IGGY_FACT_TOPIC_ID },
    { 140, true, IGGY_FACT_CONSUMER_GROUP_ID }, { 143, true, IGGY_FACT_USER_ID },
};

bool iggy_names_teaches(const iggy_pdu_t *pdu)
{
    for (size_t i = 0; pdu->command == IGGY_PREPARE && i < G_N_ELEMENTS(changes); i++)
        if (changes[i].operation == pdu->operation)
            return true;
    return false;
}

static iggy_fact_t scope_fact(const iggy_facts_t *facts)
{
    static const uint8_t scopes[] = { IGGY_FACT_NONE, IGGY_FACT_TOPIC_ID, IGGY_FACT_STREAM_ID, IGGY_FACT_USER_ID };
    uint64_t scope = iggy_fact(facts, IGGY_FACT_SCOPE, 0);
    return scope < sizeof scopes ? (iggy_fact_t)scopes[scope] : IGGY_FACT_NONE;
}

static void change(iggy_pdu_t *pdu, iggy_fact_t fact, bool ends)
{
    iggy_name_key_t key;
    const iggy_facts_t *facts = pdu->facts;
    for (size_t i = 0; i < G_N_ELEMENTS(pairs); i++) {
        if (pairs[i].fact != fact || !facts->has[fact] || !fill_parents(pdu, facts, pairs[i].kind, &key))
            continue;
        key.id = (uint32_t)facts->at[fact].value;
        if (ends)
            iggy_names_learn(pdu, &key, NULL);
        else if (facts->has[IGGY_FACT_NEW_NAME] && facts->at[IGGY_FACT_NEW_NAME].text)
            iggy_names_learn(pdu, &key, facts->at[IGGY_FACT_NEW_NAME].text);
    }
}

void iggy_names_follow(iggy_pdu_t *pdu)
{
    uint8_t operation = pdu->exchange ? pdu->exchange->operation : pdu->operation;
    for (size_t i = 0; i < G_N_ELEMENTS(changes); i++)
        if (changes[i].operation == operation)
            change(pdu, changes[i].fact ? changes[i].fact : scope_fact(pdu->facts), changes[i].ends);
}

/* A consumer stands before the stream and topic that its group belongs to, so its other half is found when both are known. */
static void complete_late(iggy_facts_t *facts, iggy_pdu_t *pdu)
{
    if (!iggy_names_complete(pdu, facts, IGGY_FACT_CONSUMER_GROUP_ID))
        return;
    for (int half = 0; half < 2; half++)
        if (facts->has[IGGY_FACT_CONSUMER_GROUP_ID + half] == 2)
            facts->has[IGGY_FACT_CONSUMER_GROUP_ID + half] = 3; /* no row has shown it */
}

void iggy_names_after_body(iggy_pdu_t *pdu)
{
    bool first = !PINFO_FD_VISITED(pdu->pinfo);
    if (pdu->taught)
        return;
    if (pdu->command == IGGY_REQUEST) {
        complete_late(pdu->facts, pdu);
        if (first && pdu->exchange && !pdu->exchange->request_facts)
            keep_facts(pdu);
        return;
    }
    if (pdu->response)
        recall_facts(pdu);
    bool done = pdu->command == IGGY_PREPARE ||
                (pdu->command == IGGY_REPLY && pdu->exchange && !iggy_reply_error(pdu));
    if (!first || !done)
        return;
    learn_across(pdu);
    iggy_names_follow(pdu);
}

/* ---- registration ---- */

void iggy_register_names(int proto _U_)
{
    servers = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), wmem_str_hash, g_str_equal);
    clusters = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), cluster_hash, cluster_equal);
    texts = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), wmem_str_hash, g_str_equal);
    same_facts = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), kept_hash, kept_equal);
}
