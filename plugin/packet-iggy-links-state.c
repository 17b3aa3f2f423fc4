/* packet-iggy-links-state.c
 * What the first pass keeps of clusters: groups, directions of connections and who is at their ends, links of frames.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-links-state.h"

#include <string.h>

#include "packet-iggy-pool.h"

static wmem_map_t *groups;      /* by cluster and number */
static wmem_map_t *lane_groups; /* by group and direction */
static uint32_t changes, lanes;
static iggy_pool_t entries, commits, links;
static iggy_more_briefs_t *unused; /* its next ones too */

/* Keys of groups are the first two numbers of one, keys of a group's directions its first members. */
typedef struct {
    const iggy_group_t *group;
    uint64_t lane;
} lane_key_t;

static unsigned group_hash(const void *key) { return wmem_strong_hash((const uint8_t *)key, 2 * sizeof(uint64_t)); }
static gboolean group_equal(const void *a, const void *b) { return memcmp(a, b, 2 * sizeof(uint64_t)) == 0; }

static unsigned lane_hash(const void *key)
{
    const lane_key_t *lane = (const lane_key_t *)key;
    return g_direct_hash(lane->group) * 31 + (unsigned)lane->lane;
}

static gboolean lane_equal(const void *a, const void *b)
{
    const lane_key_t *x = (const lane_key_t *)a, *y = (const lane_key_t *)b;
    return x->group == y->group && x->lane == y->lane;
}

void iggy_links_register_state(void)
{
    groups = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), group_hash, group_equal);
    lane_groups = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), lane_hash, lane_equal);
    iggy_links_rounds_register();
    iggy_links_requests_register();
}

void iggy_links_forget(void)
{
    changes = lanes = 0;
    memset(&entries, 0, sizeof entries);
    memset(&commits, 0, sizeof commits);
    memset(&links, 0, sizeof links);
    unused = NULL;
    iggy_links_log_forget();
    iggy_links_rounds_forget();
    iggy_links_requests_forget();
}

uint32_t iggy_links_next_change(void) { return ++changes; }

uint32_t iggy_links_lane(const iggy_pdu_t *pdu, bool opposite)
{
    const iggy_ends_t *ends = pdu->place->conversation->ends;
    unsigned side = pdu->place->side == IGGY_SIDE_SERVER;
    return ends ? ends->lane[opposite ? !side : side] : 0;
}

#define NANOSECONDS UINT64_C(1000000000)

uint64_t iggy_links_when(const nstime_t *moment) { return (uint64_t)moment->secs * NANOSECONDS + (uint64_t)moment->nsecs; }

/* The time from one frame to another, which may stand before it in a file whose times are not in order. */
nstime_t iggy_links_between(uint64_t from, uint64_t to)
{
    bool back = to < from;
    uint64_t span = back ? from - to : to - from;
    nstime_t out = { (time_t)(span / NANOSECONDS), (int)(span % NANOSECONDS) };
    if (back) {
        out.secs = -out.secs;
        out.nsecs = -out.nsecs;
    }
    return out;
}

#define FAR 1 /* lowest bit: milliseconds, else microseconds */

int32_t iggy_links_later(uint64_t from, uint64_t to)
{
    const uint64_t most = INT32_MAX / 2;
    bool back = to < from;
    uint64_t span = back ? from - to : to - from;
    uint64_t micros = (span + 500) / 1000, millis = MIN((span + 500000) / 1000000, most);
    int32_t count = (int32_t)(micros <= most ? micros : millis);
    return (back ? -count : count) * 2 + (micros <= most ? 0 : FAR);
}

double iggy_links_seconds_later(int32_t later)
{
    bool far = later & FAR;
    return (later - far) / 2 / (far ? 1e3 : 1e6);
}

iggy_mark_t iggy_links_mark(const iggy_pdu_t *pdu)
{
    iggy_mark_t mark = { iggy_links_when(&pdu->pinfo->abs_ts), pdu->pinfo->num, iggy_links_lane(pdu, false) };
    return mark;
}

iggy_entry_t *iggy_links_entry(uint32_t number) { return (iggy_entry_t *)iggy_pool_at(&entries, sizeof(iggy_entry_t), number); }

iggy_entry_t *iggy_links_new_entry(void)
{
    iggy_entry_t *entry = (iggy_entry_t *)iggy_pool_add(&entries, sizeof *entry);
    entry->number = entries.count;
    return entry;
}

iggy_mark_t iggy_links_commit_mark(uint32_t number)
{
    const iggy_mark_t none = { 0, 0, 0 }, *mark = (const iggy_mark_t *)iggy_pool_at(&commits, sizeof *mark, number);
    return mark ? *mark : none;
}

uint32_t iggy_links_new_commit(const iggy_mark_t *mark)
{
    *(iggy_mark_t *)iggy_pool_add(&commits, sizeof *mark) = *mark;
    return commits.count;
}

/* ---- briefs ---- */

static iggy_more_briefs_t *new_more(void)
{
    iggy_more_briefs_t *more = unused;
    if (more)
        unused = more->next;
    else
        more = wmem_new(wmem_file_scope(), iggy_more_briefs_t);
    more->next = NULL;
    return more;
}

void iggy_briefs_add(iggy_briefs_t *briefs, unsigned count, uint32_t number, int32_t later)
{
    const iggy_brief_t brief = { number, later };
    if (count == 0) {
        briefs->one = brief;
        return;
    }
    if (count == 1) {
        iggy_more_briefs_t *all = new_more();
        all->at[0] = briefs->one;
        briefs->more = all;
    }
    iggy_more_briefs_t *more = briefs->more;
    while (more->next)
        more = more->next;
    unsigned at = count % (unsigned)array_length(more->at);
    if (at == 0)
        more = more->next = new_more();
    more->at[at] = brief;
}

iggy_brief_t iggy_briefs_at(const iggy_briefs_t *briefs, unsigned count, unsigned which)
{
    if (count <= 1)
        return briefs->one;
    const iggy_more_briefs_t *more = briefs->more;
    for (; which >= array_length(more->at); which -= (unsigned)array_length(more->at))
        more = more->next;
    return more->at[which];
}

void iggy_briefs_drop(iggy_briefs_t *briefs, unsigned count)
{
    if (count <= 1)
        return;
    iggy_more_briefs_t *last = briefs->more;
    while (last->next)
        last = last->next;
    last->next = unused;
    unused = briefs->more;
}

/* ---- links of frames ---- */

#define ENTRY_ALONE 0x80000000u /* in the number of a link: it is that of an entry, and there is nothing else */

static iggy_entry_t *entry_alone(const iggy_frame_t *frame)
{
    return frame->link & ENTRY_ALONE ? iggy_links_entry(frame->link & ~ENTRY_ALONE) : NULL;
}

static iggy_link_t *link_of(const iggy_frame_t *frame)
{
    return frame->link & ENTRY_ALONE ? NULL : (iggy_link_t *)iggy_pool_at(&links, sizeof(iggy_link_t), frame->link);
}

void iggy_links_set_entry(iggy_frame_t *frame, iggy_entry_t *entry)
{
    iggy_link_t *link = link_of(frame);
    if (link)
        link->entry = entry;
    else
        frame->link = entry->number | ENTRY_ALONE;
}

iggy_link_t *iggy_links_link(iggy_frame_t *frame)
{
    iggy_link_t *link = link_of(frame);
    if (link)
        return link;
    link = (iggy_link_t *)iggy_pool_add(&links, sizeof *link);
    link->entry = entry_alone(frame);
    frame->link = links.count;
    return link;
}

/* The link of a frame, or one made of its entry in `room`; NULL if it has neither. All passes. */
const iggy_link_t *iggy_links_of(const iggy_frame_t *frame, iggy_link_t *room)
{
    iggy_entry_t *entry = entry_alone(frame);
    if (!entry)
        return link_of(frame);
    memset(room, 0, sizeof *room);
    room->entry = entry;
    return room;
}

iggy_rest_t *iggy_links_rest(iggy_link_t *link)
{
    if (!link->rest)
        link->rest = wmem_new0(wmem_file_scope(), iggy_rest_t);
    return link->rest;
}

iggy_group_t *iggy_links_group(const iggy_pdu_t *pdu)
{
    if (!iggy_has(pdu->facts, IGGY_FACT_GROUP))
        return NULL;
    uint64_t key[2] = { tvb_get_letoh64(pdu->tvb, 32), pdu->facts->at[IGGY_FACT_GROUP].value };
    iggy_group_t *group = (iggy_group_t *)wmem_map_lookup(groups, key);
    if (group)
        return group;
    group = wmem_new0(wmem_file_scope(), iggy_group_t);
    group->cluster = key[0];
    group->number = key[1];
    wmem_map_insert(groups, &group->cluster, group);
    return group;
}

iggy_lane_group_t *iggy_links_lane_group(const iggy_pdu_t *pdu, const iggy_group_t *group, bool opposite)
{
    lane_key_t key = { group, iggy_links_lane(pdu, opposite) };
    iggy_lane_group_t *lane = (iggy_lane_group_t *)wmem_map_lookup(lane_groups, &key);
    if (lane)
        return lane;
    lane = wmem_new0(wmem_file_scope(), iggy_lane_group_t);
    lane->group = group;
    lane->lane = key.lane;
    wmem_map_insert(lane_groups, &lane->group, lane);
    return lane;
}

/* ---- the ends of a connection ---- */

/* Prepares travel under the name of their builder, and requests have none; all other frames name their sender. */
static bool names_sender(uint8_t command)
{
    return command == IGGY_PREPARE_OK || (command >= IGGY_COMMIT && command <= IGGY_PREPARE_PROGRESS &&
                                          command != IGGY_EVICTION && command != IGGY_REPAIR_PREPARE);
}

static void learn_ends(iggy_pdu_t *pdu)
{
    iggy_conversation_t *conversation = pdu->place->conversation;
    if (!conversation->ends) {
        conversation->ends = wmem_new0(wmem_file_scope(), iggy_ends_t);
        conversation->ends->lane[0] = ++lanes;
        conversation->ends->lane[1] = ++lanes;
    }
    unsigned side = pdu->place->side == IGGY_SIDE_SERVER;
    if (conversation->ends->since[side] || !names_sender(pdu->command))
        return;
    conversation->ends->since[side] = iggy_conversation_order(pdu);
    conversation->ends->id[side] = (uint8_t)iggy_fact(pdu->facts, IGGY_FACT_REPLICA, 0);
}

void iggy_links_frame(iggy_pdu_t *pdu)
{
    if (PINFO_FD_VISITED(pdu->pinfo) || !pdu->frame || tvb_captured_length(pdu->tvb) < IGGY_HEADER_SIZE)
        return;
    if (pdu->place->replica) {
        learn_ends(pdu);
        iggy_links_round(pdu, iggy_links_group(pdu));
    } else if (pdu->command == IGGY_REQUEST) {
        iggy_links_request(pdu);
    } else if (pdu->command == IGGY_REPLY) {
        iggy_links_reply(pdu);
    }
}
