/* packet-iggy-links-log.c
 * The log of a group as the capture saw it: prepares, who acknowledged them, which commit covers them; view changes.
 * (group, op, identity) joins the frames (replica.md 4). All of it works in the first pass.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-links-state.h"

#include <string.h>

#include "packet-iggy-pool.h"

#define MOST_OPEN 4096u /* entries of a group that wait for a commit */
#define MOST_DONE 4096u /* entries of a group that are committed, but whose prepare_oks may still come */
#define NANOSECONDS 1000000000u
#define DONE_NANOSECONDS (UINT64_C(10) * NANOSECONDS) /* how long they are waited for */
#define MOST_SUFFIX 128u
#define MOST_MARKS 64u   /* of an entry */

/* Offsets in a prepare header. */
#define AT_OP 176
#define AT_OPERATION 208

/* ---- entries ---- */

static iggy_pool_t lives;
static iggy_live_t *unused; /* its next ones too */

void iggy_links_log_forget(void)
{
    memset(&lives, 0, sizeof lives);
    unused = NULL;
}

static iggy_live_t **bucket(const iggy_group_t *group, uint64_t op)
{
    return &group->buckets[(op * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (group->buckets_count - 1)];
}

static bool same_identity(const iggy_live_t *live, uint64_t identity)
{
    return live->identity == identity || live->identity == 0 || identity == 0;
}

/* The entry with this op and identity; *other is set if one of another identity has the op. */
static iggy_live_t *find_live(const iggy_group_t *group, uint64_t op, uint64_t identity, bool *other)
{
    *other = false;
    for (iggy_live_t *live = group->buckets ? *bucket(group, op) : NULL; live; live = live->below) {
        if (live->entry->op != op)
            continue;
        if (same_identity(live, identity))
            return live;
        *other = true;
    }
    return NULL;
}

static void into_bucket(iggy_group_t *group, iggy_live_t *live)
{
    iggy_live_t **first = bucket(group, live->entry->op);
    live->below = *first;
    *first = live;
}

/* Few buckets for groups of few entries. Those of a bucket keep their order, newest first. */
static void make_buckets(iggy_group_t *group)
{
    unsigned count = group->buckets_count;
    if (group->open_count + group->done_count < count)
        return;
    iggy_live_t **old = group->buckets;
    group->buckets_count = count ? 2 * count : 8;
    group->buckets = wmem_alloc0_array(wmem_file_scope(), iggy_live_t *, group->buckets_count);
    for (unsigned i = 0; i < count; i++) {
        iggy_live_t *turned = NULL;
        for (iggy_live_t *live = old[i], *below; live; live = below) {
            below = live->below;
            live->below = turned;
            turned = live;
        }
        for (iggy_live_t *live = turned, *above; live; live = above) {
            above = live->below;
            into_bucket(group, live);
        }
    }
    wmem_free(wmem_file_scope(), old);
}

/* The entry cannot be found any more; frames still point to it. */
static void forget(iggy_group_t *group, iggy_live_t *live)
{
    iggy_live_t **at = bucket(group, live->entry->op);
    while (*at != live)
        at = &(*at)->below;
    *at = live->below;
    iggy_briefs_drop(&live->lanes, live->entry->lanes_count);
    live->next = unused;
    unused = live;
}

static iggy_live_t *take_first_open(iggy_group_t *group)
{
    iggy_live_t *live = group->open_first;
    group->open_first = live->next;
    if (group->open_first)
        group->open_first->previous = NULL;
    else
        group->open_last = NULL;
    group->open_count--;
    live->next = NULL;
    return live;
}

/* Open entries stand in the order of their ops; a new one mostly is the last. */
static void insert_open(iggy_group_t *group, iggy_live_t *live)
{
    iggy_live_t *before = group->open_last;
    while (before && before->entry->op > live->entry->op)
        before = before->previous;
    live->previous = before;
    live->next = before ? before->next : group->open_first;
    if (live->next)
        live->next->previous = live;
    else
        group->open_last = live;
    if (before)
        before->next = live;
    else
        group->open_first = live;
    if (++group->open_count > MOST_OPEN)
        forget(group, take_first_open(group));
}

static iggy_live_t *new_live(void)
{
    iggy_live_t *live = unused;
    if (!live)
        return (iggy_live_t *)iggy_pool_add(&lives, sizeof *live);
    unused = live->next;
    return (iggy_live_t *)memset(live, 0, sizeof *live);
}

static iggy_entry_t *new_entry(const iggy_pdu_t *pdu, iggy_group_t *group, uint64_t op, uint64_t identity)
{
    iggy_mark_t seen = iggy_links_mark(pdu);
    iggy_entry_t *entry = iggy_links_new_entry();
    entry->op = op;
    entry->when = seen.when;
    entry->packet = seen.packet;
    make_buckets(group);
    iggy_live_t *live = new_live();
    live->entry = entry;
    live->identity = identity;
    iggy_briefs_add(&live->lanes, entry->lanes_count++, seen.lane, 0);
    into_bucket(group, live);
    insert_open(group, live);
    return entry;
}

/* Marks of an entry; beyond the most of them none are kept. */
static bool add_mark(iggy_entry_t *entry, const iggy_pdu_t *pdu, uint32_t kind)
{
    if (entry->marks_count >= MOST_MARKS)
        return false;
    int32_t later = iggy_links_later(entry->when, iggy_links_when(&pdu->pinfo->abs_ts));
    iggy_briefs_add(&entry->marks, entry->marks_count++, pdu->pinfo->num | kind, later);
    return true;
}

static bool seen_on(const iggy_live_t *live, uint32_t lane)
{
    unsigned count = live->entry->lanes_count;
    for (unsigned i = 0; i < count; i++)
        if (iggy_briefs_at(&live->lanes, count, i).number == lane)
            return true;
    return false;
}

static void seen_again(iggy_live_t *live, const iggy_pdu_t *pdu)
{
    if (add_mark(live->entry, pdu, 0))
        iggy_briefs_add(&live->lanes, live->entry->lanes_count++, iggy_links_lane(pdu, false), 0);
}

/* ---- prepares and prepare_oks ---- */

/* How many ops are missing before this one, on its direction. */
static uint64_t gap_before(const iggy_pdu_t *pdu, iggy_group_t *group, uint64_t op)
{
    iggy_lane_group_t *lane = iggy_links_lane_group(pdu, group, false);
    uint64_t last = lane->last_op;
    if (op > last)
        lane->last_op = op;
    return last && op > last + 1 ? op - last - 1 : 0;
}

static void note(iggy_pdu_t *pdu, uint32_t what, uint64_t number)
{
    iggy_link_t *link = iggy_links_link(pdu->frame);
    link->notes |= what;
    if (number)
        link->number = number;
}

void iggy_links_prepare(iggy_pdu_t *pdu, iggy_group_t *group)
{
    uint64_t op = iggy_fact(pdu->facts, IGGY_FACT_OP, 0);
    uint64_t identity = tvb_get_letoh64(pdu->tvb, 0);
    bool other;
    iggy_live_t *live = find_live(group, op, identity, &other);
    iggy_entry_t *entry = live ? live->entry : new_entry(pdu, group, op, identity);
    if (!live)
        entry->request = iggy_links_find_request(pdu, entry).packet;
    else if (seen_on(live, iggy_links_lane(pdu, false)))
        note(pdu, IGGY_LINK_AGAIN, 0);
    else
        seen_again(live, pdu);
    iggy_links_set_entry(pdu->frame, entry);
    if (other)
        note(pdu, IGGY_LINK_OTHER, 0);
    uint64_t gap = gap_before(pdu, group, op);
    if (gap)
        note(pdu, IGGY_LINK_GAP, gap);
}

void iggy_links_prepare_ok(iggy_pdu_t *pdu, iggy_group_t *group)
{
    uint64_t op = iggy_fact(pdu->facts, IGGY_FACT_OP, 0);
    bool other;
    iggy_live_t *live = find_live(group, op, iggy_fact(pdu->facts, IGGY_FACT_PREPARE_CHECKSUM, 0), &other);
    if (!live) {
        note(pdu, IGGY_LINK_NO_PREPARE, 0);
        return;
    }
    add_mark(live->entry, pdu, IGGY_MARK_OK);
    iggy_links_set_entry(pdu->frame, live->entry);
}

/* A repair_prepare carries a prepare that may have been seen when it was new. */
void iggy_links_repaired(iggy_pdu_t *pdu, iggy_group_t *group)
{
    bool other;
    iggy_live_t *live = find_live(group, iggy_fact(pdu->facts, IGGY_FACT_OP, 0), tvb_get_letoh64(pdu->tvb, 0), &other);
    if (live)
        iggy_links_set_entry(pdu->frame, live->entry);
    else if (other)
        note(pdu, IGGY_LINK_OTHER, 0);
}

/* ---- commits ---- */

/* Committed entries stay for late prepare_oks, but not for long. */
static void forget_done(iggy_group_t *group, uint64_t now)
{
    while (group->done_first) {
        iggy_live_t *live = group->done_first;
        bool old = now > live->committed && now - live->committed > DONE_NANOSECONDS;
        if (group->done_count <= MOST_DONE && !old)
            return;
        group->done_first = live->next;
        if (!group->done_first)
            group->done_last = NULL;
        group->done_count--;
        forget(group, live);
    }
}

static void move_to_done(iggy_group_t *group, iggy_live_t *live, uint32_t commit, uint64_t when)
{
    live->entry->commit = commit;
    live->committed = when;
    if (group->done_last) {
        group->done_last->next = live;
        group->done_last->entry->next = live->entry->number;
    } else {
        group->done_first = live;
    }
    group->done_last = live;
    group->done_count++;
}

/* What the commit is the first to cover: the link of its frame has the first entry, the others follow it. */
static void commit_entries(iggy_pdu_t *pdu, iggy_group_t *group, uint64_t commit)
{
    iggy_live_t *first = group->open_first;
    if (!first || first->entry->op > commit)
        return;
    iggy_mark_t now = iggy_links_mark(pdu);
    uint32_t number = iggy_links_new_commit(&now);
    uint64_t count = 0;
    for (; group->open_first && group->open_first->entry->op <= commit; count++)
        move_to_done(group, take_first_open(group), number, now.when);
    iggy_links_set_entry(pdu->frame, first->entry);
    note(pdu, IGGY_LINK_COMMITS, count);
}

/* The time since the last heartbeat; zero if there was none. */
static nstime_t silence_before(const iggy_pdu_t *pdu, const iggy_group_t *group)
{
    nstime_t silence = NSTIME_INIT_ZERO;
    uint64_t now = iggy_links_when(&pdu->pinfo->abs_ts);
    if (group->heartbeat.packet && now > group->heartbeat.when) {
        silence.secs = (time_t)((now - group->heartbeat.when) / NANOSECONDS);
        silence.nsecs = (int)((now - group->heartbeat.when) % NANOSECONDS);
    }
    return silence;
}

void iggy_links_commit(iggy_pdu_t *pdu, iggy_group_t *group)
{
    nstime_t silence = silence_before(pdu, group);
    unsigned limit = iggy_links_silence();
    if (limit && nstime_to_msec(&silence) > limit) {
        note(pdu, IGGY_LINK_SILENCE, 0);
        iggy_links_rest(iggy_links_link(pdu->frame))->silence = silence;
    }
    group->heartbeat = iggy_links_mark(pdu);
    commit_entries(pdu, group, iggy_fact(pdu->facts, IGGY_FACT_COMMIT, 0));
    forget_done(group, group->heartbeat.when);
}

/* ---- view changes ---- */

/* The change of a group to a view, made when it is new. */
static iggy_change_t *change_to(const iggy_pdu_t *pdu, iggy_group_t *group, uint32_t view)
{
    if (!group->changes)
        group->changes = wmem_map_new(wmem_file_scope(), g_direct_hash, g_direct_equal);
    iggy_change_t *change = (iggy_change_t *)wmem_map_lookup(group->changes, GUINT_TO_POINTER(view));
    if (change)
        return change;
    change = wmem_new0(wmem_file_scope(), iggy_change_t);
    change->view = view;
    change->number = iggy_links_next_change();
    change->silence = silence_before(pdu, group);
    wmem_map_insert(group->changes, GUINT_TO_POINTER(view), change);
    return change;
}

/* Header of a prepare in a suffix: compare it with what the capture saw at its op; backups acknowledge those not committed. */
static void suffix_entry(iggy_pdu_t *pdu, iggy_group_t *group, int at)
{
    uint64_t op = tvb_get_letoh64(pdu->tvb, at + AT_OP);
    uint64_t identity = tvb_get_letoh64(pdu->tvb, at);
    bool other;
    if (find_live(group, op, identity, &other))
        return;
    if (other)
        note(pdu, IGGY_LINK_SUFFIX_OTHER, op);
    if (pdu->command == IGGY_START_VIEW && op > iggy_fact(pdu->facts, IGGY_FACT_COMMIT, 0))
        new_entry(pdu, group, op, identity)->from_suffix = true;
}

static void suffix(iggy_pdu_t *pdu, iggy_group_t *group)
{
    uint32_t there = MIN(pdu->size, tvb_captured_length(pdu->tvb));
    for (uint32_t n = 1; n <= MOST_SUFFIX && (n + 1) * IGGY_HEADER_SIZE <= there; n++) {
        int at = (int)(n * IGGY_HEADER_SIZE);
        if (tvb_get_letoh64(pdu->tvb, at) != 0 && tvb_get_uint8(pdu->tvb, at + AT_OPERATION) != 0)
            suffix_entry(pdu, group, at);
    }
}

/* start_view_change, do_view_change, and the start_view that nobody asked for, are one view change per group and view. */
void iggy_links_view_change(iggy_pdu_t *pdu, iggy_group_t *group)
{
    uint32_t view = (uint32_t)iggy_fact(pdu->facts, IGGY_FACT_VIEW, 0);
    iggy_link_t *link = iggy_links_link(pdu->frame);
    iggy_change_t *change = change_to(pdu, group, view);
    iggy_links_rest(link)->change = change;
    if (pdu->command == IGGY_START_VIEW) {
        if (!change->start.packet) {
            change->start = iggy_links_mark(pdu);
            link->notes |= IGGY_LINK_CHANGE_START;
        }
    } else if (!change->first.packet) {
        change->first = iggy_links_mark(pdu);
        link->notes |= IGGY_LINK_CHANGE_FIRST;
    }
    if (pdu->command != IGGY_START_VIEW_CHANGE)
        suffix(pdu, group);
}
