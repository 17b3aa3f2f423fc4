/* packet-iggy-links-log.c
 * The log of a group as the capture saw it: prepares, who acknowledged them, which commit covers them; view changes.
 * (group, op, identity) joins the frames (replica.md 4). All of it works in the first pass.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-links-state.h"

#define MOST_OPEN 4096u /* entries of a group that wait for a commit */
#define MOST_DONE 4096u /* entries of a group that are committed, but whose prepare_oks may still come */
#define DONE_SECONDS 10 /* how long they are waited for */
#define MOST_SUFFIX 128u

/* Offsets in a prepare header. */
#define AT_OP 176
#define AT_OPERATION 208

/* ---- entries ---- */

static bool same_identity(const iggy_entry_t *entry, uint64_t identity)
{
    return entry->identity == identity || entry->identity == 0 || identity == 0;
}

/* The entry with this op and identity; *other is set if one of another identity has the op. */
static iggy_entry_t *find_entry(const iggy_group_t *group, uint64_t op, uint64_t identity, bool *other)
{
    iggy_entry_t *entry = (iggy_entry_t *)wmem_map_lookup(group->entries, &op);
    *other = false;
    for (; entry; entry = entry->same_op) {
        if (same_identity(entry, identity))
            return entry;
        *other = true;
    }
    return NULL;
}

/* The entry leaves the map; frames still point to it. */
static void forget_entry(iggy_group_t *group, iggy_entry_t *entry)
{
    iggy_entry_t *first = (iggy_entry_t *)wmem_map_lookup(group->entries, &entry->op);
    if (first == entry) {
        if (entry->same_op)
            wmem_map_insert(group->entries, &entry->same_op->op, entry->same_op);
        else
            wmem_map_remove(group->entries, &entry->op);
        return;
    }
    for (; first; first = first->same_op)
        if (first->same_op == entry) {
            first->same_op = entry->same_op;
            return;
        }
}

static iggy_entry_t *take_first_open(iggy_group_t *group)
{
    iggy_entry_t *entry = group->open_first;
    group->open_first = entry->next;
    if (group->open_first)
        group->open_first->previous = NULL;
    else
        group->open_last = NULL;
    group->open_count--;
    entry->next = entry->previous = NULL;
    return entry;
}

/* Open entries stand in the order of their ops; a new one mostly is the last. */
static void insert_open(iggy_group_t *group, iggy_entry_t *entry)
{
    iggy_entry_t *before = group->open_last;
    while (before && before->op > entry->op)
        before = before->previous;
    entry->previous = before;
    entry->next = before ? before->next : group->open_first;
    if (entry->next)
        entry->next->previous = entry;
    else
        group->open_last = entry;
    if (before)
        before->next = entry;
    else
        group->open_first = entry;
    if (++group->open_count > MOST_OPEN)
        forget_entry(group, take_first_open(group));
}

static iggy_entry_t *new_entry(const iggy_pdu_t *pdu, iggy_group_t *group, uint64_t op, uint64_t identity)
{
    iggy_entry_t *entry = wmem_new0(wmem_file_scope(), iggy_entry_t);
    entry->op = op;
    entry->identity = identity;
    entry->seen = iggy_links_mark(pdu);
    entry->same_op = (iggy_entry_t *)wmem_map_lookup(group->entries, &op);
    wmem_map_insert(group->entries, &entry->op, entry);
    insert_open(group, entry);
    return entry;
}

static void add_mark(iggy_mark_t **list, const iggy_pdu_t *pdu)
{
    while (*list)
        list = &(*list)->next;
    *list = wmem_new(wmem_file_scope(), iggy_mark_t);
    **list = iggy_links_mark(pdu);
}

static bool seen_on(const iggy_entry_t *entry, const void *lane)
{
    for (const iggy_mark_t *mark = &entry->seen; mark; mark = mark->next)
        if (mark->lane == lane)
            return true;
    return false;
}

/* ---- prepares and prepare_oks ---- */

static void note_gap(const iggy_pdu_t *pdu, iggy_group_t *group, iggy_link_t *link, uint64_t op)
{
    iggy_lane_group_t *lane = iggy_links_lane_group(pdu, group, false);
    if (lane->last_op && op > lane->last_op + 1) {
        link->notes |= IGGY_LINK_GAP;
        link->number = op - lane->last_op - 1;
    }
    if (op > lane->last_op)
        lane->last_op = op;
}

void iggy_links_prepare(iggy_pdu_t *pdu, iggy_group_t *group)
{
    uint64_t op = iggy_fact(pdu->facts, IGGY_FACT_OP, 0);
    uint64_t identity = tvb_get_letoh64(pdu->tvb, 0);
    bool other;
    iggy_entry_t *entry = find_entry(group, op, identity, &other);
    iggy_link_t *link = iggy_links_link(pdu);
    if (!entry) {
        entry = new_entry(pdu, group, op, identity);
        entry->request = iggy_links_find_request(pdu, entry).packet;
    } else if (seen_on(entry, iggy_links_lane(pdu, false))) {
        link->notes |= IGGY_LINK_AGAIN;
    } else {
        add_mark(&entry->seen.next, pdu);
    }
    if (other)
        link->notes |= IGGY_LINK_OTHER;
    link->entry = entry;
    note_gap(pdu, group, link, op);
}

void iggy_links_prepare_ok(iggy_pdu_t *pdu, iggy_group_t *group)
{
    uint64_t op = iggy_fact(pdu->facts, IGGY_FACT_OP, 0);
    bool other;
    iggy_entry_t *entry = find_entry(group, op, iggy_fact(pdu->facts, IGGY_FACT_PREPARE_CHECKSUM, 0), &other);
    iggy_link_t *link = iggy_links_link(pdu);
    link->entry = entry;
    if (entry)
        add_mark(&entry->oks, pdu);
    else
        link->notes |= IGGY_LINK_NO_PREPARE;
}

/* A repair_prepare carries a prepare that may have been seen when it was new. */
void iggy_links_repaired(iggy_pdu_t *pdu, iggy_group_t *group)
{
    bool other;
    iggy_entry_t *entry = find_entry(group, iggy_fact(pdu->facts, IGGY_FACT_OP, 0), tvb_get_letoh64(pdu->tvb, 0), &other);
    if (!entry && !other)
        return;
    iggy_link_t *link = iggy_links_link(pdu);
    link->entry = entry;
    if (!entry)
        link->notes |= IGGY_LINK_OTHER;
}

/* ---- commits ---- */

/* Committed entries stay for late prepare_oks, but not for long. */
static void forget_done(iggy_group_t *group, const nstime_t *now)
{
    while (group->done_first) {
        iggy_entry_t *entry = group->done_first;
        if (group->done_count <= MOST_DONE && now->secs - entry->commit.when.secs <= DONE_SECONDS)
            return;
        group->done_first = entry->next;
        if (!group->done_first)
            group->done_last = NULL;
        group->done_count--;
        forget_entry(group, entry);
    }
}

static void commit_entries(const iggy_pdu_t *pdu, iggy_group_t *group, uint64_t commit, iggy_link_t **link)
{
    while (group->open_first && group->open_first->op <= commit) {
        iggy_entry_t *entry = take_first_open(group);
        entry->commit = iggy_links_mark(pdu);
        if (group->done_last)
            group->done_last->next = entry;
        else
            group->done_first = entry;
        group->done_last = entry;
        group->done_count++;
        if (!*link)
            *link = iggy_links_link((iggy_pdu_t *)pdu);
        if (!((*link)->notes & IGGY_LINK_COMMITS)) {
            (*link)->notes |= IGGY_LINK_COMMITS;
            (*link)->entry = entry;
        }
        (*link)->number++;
    }
}

/* The time since the last heartbeat; zero if there was none. */
static nstime_t silence_before(const iggy_pdu_t *pdu, const iggy_group_t *group)
{
    nstime_t silence = NSTIME_INIT_ZERO;
    if (group->heartbeat.packet)
        nstime_delta(&silence, &pdu->pinfo->abs_ts, &group->heartbeat.when);
    return silence;
}

void iggy_links_commit(iggy_pdu_t *pdu, iggy_group_t *group)
{
    iggy_link_t *link = NULL;
    nstime_t silence = silence_before(pdu, group);
    unsigned limit = iggy_links_silence();
    if (limit && nstime_to_msec(&silence) > limit) {
        link = iggy_links_link(pdu);
        link->notes |= IGGY_LINK_SILENCE;
        link->when = silence;
    }
    group->heartbeat = iggy_links_mark(pdu);
    commit_entries(pdu, group, iggy_fact(pdu->facts, IGGY_FACT_COMMIT, 0), &link);
    forget_done(group, &pdu->pinfo->abs_ts);
}

/* ---- view changes ---- */

static iggy_change_t *find_change(iggy_group_t *group, uint32_t view)
{
    iggy_change_t *change = group->change;
    while (change && change->view > view)
        change = change->earlier;
    return change && change->view == view ? change : NULL;
}

static iggy_change_t *new_change(const iggy_pdu_t *pdu, iggy_group_t *group, uint32_t view)
{
    iggy_change_t *change = wmem_new0(wmem_file_scope(), iggy_change_t);
    change->view = view;
    change->number = iggy_links_next_change();
    change->silence = silence_before(pdu, group);
    iggy_change_t **place = &group->change;
    while (*place && (*place)->view > view)
        place = &(*place)->earlier;
    change->earlier = *place;
    *place = change;
    return change;
}

/* Header of a prepare in a suffix: compare it with what the capture saw at its op; backups acknowledge those not committed. */
static void suffix_entry(iggy_pdu_t *pdu, iggy_group_t *group, int at)
{
    uint64_t op = tvb_get_letoh64(pdu->tvb, at + AT_OP);
    uint64_t identity = tvb_get_letoh64(pdu->tvb, at);
    bool other;
    if (find_entry(group, op, identity, &other))
        return;
    if (other) {
        iggy_link_t *link = iggy_links_link(pdu);
        link->notes |= IGGY_LINK_SUFFIX_OTHER;
        link->number = op;
    }
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
    iggy_link_t *link = iggy_links_link(pdu);
    iggy_change_t *change = find_change(group, view);
    if (!change)
        change = new_change(pdu, group, view);
    link->change = change;
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
