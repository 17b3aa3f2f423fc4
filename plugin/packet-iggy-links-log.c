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
#define NANOSECONDS 1000000000u
#define DONE_NANOSECONDS (UINT64_C(10) * NANOSECONDS) /* how long they are waited for */
#define MOST_SUFFIX 128u
#define MOST_MARKS 64u   /* of an entry */

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

/* Marks of an entry; beyond the most of them none are kept. */
static void add_mark(iggy_entry_t *entry, const iggy_pdu_t *pdu, uint32_t kind)
{
    unsigned count = entry->marks_count;
    if (count >= MOST_MARKS)
        return;
    bool full = count == 0 || (count >= 2 && (count & (count - 1)) == 0);
    if (full)
        entry->marks = (iggy_mark_t *)wmem_realloc(wmem_file_scope(), entry->marks,
                                                   (count ? 2 * count : 2) * sizeof *entry->marks);
    entry->marks[count] = iggy_links_mark(pdu);
    entry->marks[count].lane |= kind;
    entry->marks_count++;
}

static bool seen_on(const iggy_entry_t *entry, uint32_t lane)
{
    for (unsigned i = 0; i < entry->marks_count; i++)
        if (entry->marks[i].lane == lane)
            return true;
    return entry->seen.lane == lane;
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
    iggy_entry_t *entry = find_entry(group, op, identity, &other);
    if (!entry) {
        entry = new_entry(pdu, group, op, identity);
        entry->request = iggy_links_find_request(pdu, entry).packet;
    } else if (seen_on(entry, iggy_links_lane(pdu, false))) {
        note(pdu, IGGY_LINK_AGAIN, 0);
    } else {
        add_mark(entry, pdu, 0);
    }
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
    iggy_entry_t *entry = find_entry(group, op, iggy_fact(pdu->facts, IGGY_FACT_PREPARE_CHECKSUM, 0), &other);
    if (!entry) {
        note(pdu, IGGY_LINK_NO_PREPARE, 0);
        return;
    }
    add_mark(entry, pdu, IGGY_LANE_OK);
    iggy_links_set_entry(pdu->frame, entry);
}

/* A repair_prepare carries a prepare that may have been seen when it was new. */
void iggy_links_repaired(iggy_pdu_t *pdu, iggy_group_t *group)
{
    bool other;
    iggy_entry_t *entry = find_entry(group, iggy_fact(pdu->facts, IGGY_FACT_OP, 0), tvb_get_letoh64(pdu->tvb, 0), &other);
    if (entry)
        iggy_links_set_entry(pdu->frame, entry);
    else if (other)
        note(pdu, IGGY_LINK_OTHER, 0);
}

/* ---- commits ---- */

/* Committed entries stay for late prepare_oks, but not for long. */
static void forget_done(iggy_group_t *group, uint64_t now)
{
    while (group->done_first) {
        iggy_entry_t *entry = group->done_first;
        bool old = now > entry->commit.when && now - entry->commit.when > DONE_NANOSECONDS;
        if (group->done_count <= MOST_DONE && !old)
            return;
        group->done_first = entry->next;
        if (!group->done_first)
            group->done_last = NULL;
        group->done_count--;
        forget_entry(group, entry);
    }
}

static void move_to_done(iggy_group_t *group, iggy_entry_t *entry)
{
    if (group->done_last)
        group->done_last->next = entry;
    else
        group->done_first = entry;
    group->done_last = entry;
    group->done_count++;
}

/* What the commit is the first to cover: the link of its frame has the first entry, the others follow it. */
static void commit_entries(iggy_pdu_t *pdu, iggy_group_t *group, uint64_t commit)
{
    iggy_entry_t *first = group->open_first;
    uint64_t count = 0;
    for (; group->open_first && group->open_first->op <= commit; count++) {
        iggy_entry_t *entry = take_first_open(group);
        entry->commit = iggy_links_mark(pdu);
        move_to_done(group, entry);
    }
    if (!count)
        return;
    iggy_links_set_entry(pdu->frame, first);
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
    if (find_entry(group, op, identity, &other))
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
