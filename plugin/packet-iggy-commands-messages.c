/* packet-iggy-commands-messages.c
 * Layouts of sending, polling and consumer offsets: codes 100..109 and 120..123 (messages.md, commands.md 6).
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include <stdlib.h>

#include "packet-iggy-batch.h"
#include "packet-iggy-bodies.h"
#include "packet-iggy-commands.h"
#include "packet-iggy-fields.h"
#include "packet-iggy-limits.h"
#include "packet-iggy-shown.h"
#include "packet-iggy-values.h"

static int hf_iggy_poll_auto_commit = IGGY_UNREGISTERED;
static int hf_iggy_poll_wait = IGGY_UNREGISTERED;
static int hf_iggy_poll_request_timeout = IGGY_UNREGISTERED;
static int hf_iggy_poll_min_count = IGGY_UNREGISTERED;
static int hf_iggy_poll_max_bytes = IGGY_UNREGISTERED;
static int hf_iggy_poll_targets_count = IGGY_UNREGISTERED;
static int hf_iggy_poll_target = IGGY_UNREGISTERED;
static int hf_iggy_poll_ready_count = IGGY_UNREGISTERED;

static int hf_iggy_send_metadata_length = IGGY_UNREGISTERED;
static int hf_iggy_confirmations_count = IGGY_UNREGISTERED;
static int hf_iggy_confirmation = IGGY_UNREGISTERED;
static int hf_iggy_confirmation_base_offset = IGGY_UNREGISTERED;

static int hf_iggy_fetch_sections_count = IGGY_UNREGISTERED;
static int hf_iggy_fetch_section = IGGY_UNREGISTERED;
static int hf_iggy_fetch_status = IGGY_UNREGISTERED;
static int hf_iggy_fetch_next_offset = IGGY_UNREGISTERED;
static int hf_iggy_fetch_records_length = IGGY_UNREGISTERED;
static int hf_iggy_fetch_records = IGGY_UNREGISTERED;

static int hf_iggy_flush_fsync = IGGY_UNREGISTERED;
static int hf_iggy_route_primary = IGGY_UNREGISTERED;
static int hf_iggy_consumer_lag = IGGY_UNREGISTERED;

static int ett_iggy_poll_target = IGGY_UNREGISTERED;
static int ett_iggy_confirmation = IGGY_UNREGISTERED;
static int ett_iggy_fetch_section = IGGY_UNREGISTERED;
static int ett_iggy_fetch_records = IGGY_UNREGISTERED;

static expert_field ei_iggy_messages_count = EI_INIT;
static expert_field ei_iggy_stale_assignment = EI_INIT;
static expert_field ei_iggy_partition_error = EI_INIT;
static expert_field ei_iggy_poll_limits = EI_INIT;

#define STALE_ASSIGNMENT 0xffffffffu

static const iggy_sentinel_t stale_assignment[] = { { STALE_ASSIGNMENT, "stale assignment" }, { 0, NULL } };
static const iggy_sentinel_t at_once[] = { { 0, "answer at once" }, { 0, NULL } };

/* ---- what replies tell about consumers ---- */

/* How many messages the partition has beyond what the consumer has: nothing where the two do not belong together. */
static void show_lag(iggy_walk_t *walk, proto_tree *tree, uint64_t current, uint64_t consumed)
{
    if (walk->mode != IGGY_WALK_SHOW || consumed > current)
        return;
    proto_item_set_generated(proto_tree_add_uint64(tree, hf_iggy_consumer_lag, walk->tvb, 0, 0, current - consumed));
}

/* The count that the body says, in IGGY_REG_COUNT, against what the records hold. */
static void check_count(iggy_walk_t *walk, proto_tree *tree, uint64_t said, const iggy_run_t *run)
{
    if (walk->mode == IGGY_WALK_SHOW && !walk->failed && said != run->messages)
        expert_add_info_format(walk->pdu->pinfo, tree, &ei_iggy_messages_count,
                               "The body says %" PRIu64 " messages, its batches hold %" PRIu64, said, run->messages);
}

/* ---- poll_messages (100), and what shares its body (messages.md 4.1, 4.2) ---- */

static const iggy_row_t poll_rows[] = {
    IGGY_ROWS(iggy_rows_consumer),
    IGGY_ROWS(iggy_rows_stream_topic),
    IGGY_ROWS(iggy_rows_opt_partition),
    IGGY_ROWS(iggy_rows_strategy),
    IGGY_U32(hf_iggy_poll_count, .fact = IGGY_FACT_POLL_COUNT, .put = IGGY_REG_COUNT_2),
    IGGY_U8(hf_iggy_poll_auto_commit),
    IGGY_ROWS_END
};

static int poll_records(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    iggy_run_t run = { 0 };
    uint64_t said = walk->reg[IGGY_REG_COUNT];

    /* Which of the two heads it is: no records go with no messages, and only then (messages.md 4.2). */
    if (walk->mode == IGGY_WALK_FIT && (said == 0) != (offset >= walk->end))
        return iggy_walk_fail(walk, row, offset, "records and the count of messages contradict each other");
    offset = iggy_walk_records(walk, row, tree, offset, &run);
    iggy_note_run(walk, &run);
    check_count(walk, tree, said, &run);
    iggy_show_run(walk, tree, &run);
    if (run.has_offsets && walk->facts)
        show_lag(walk, tree, iggy_fact(walk->facts, IGGY_FACT_CURRENT_OFFSET, 0), run.last_offset);
    return offset;
}

/* A member of a group whose assignment has changed gets no messages and must ask for it again (encodings.md 1.3). */
static int check_assignment(iggy_walk_t *walk, const iggy_row_t *row _U_, proto_tree *tree, int offset)
{
    uint64_t partition = walk->reg[IGGY_REG_KIND];

    if (partition != STALE_ASSIGNMENT)
        iggy_walk_note(walk, IGGY_FACT_PARTITION, partition, offset - 4, 4, NULL);
    else if (iggy_walk_shows(walk))
        proto_tree_add_expert(tree, walk->pdu->pinfo, &ei_iggy_stale_assignment, walk->tvb, offset - 4, 4);
    return offset;
}

static const iggy_row_t poll_reply_rows[] = {
    IGGY_U32(hf_iggy_partition_id, .put = IGGY_REG_KIND, .sentinels = stale_assignment),
    IGGY_CALL(check_assignment),
    IGGY_U64(hf_iggy_current_offset, .fact = IGGY_FACT_CURRENT_OFFSET),
    IGGY_U32(hf_iggy_messages_count, .fact = IGGY_FACT_MESSAGES_COUNT, .put = IGGY_REG_COUNT),
    IGGY_ROWS(iggy_rows_context, .since = IGGY_0_12_0),
    IGGY_CALL(poll_records, .hf = &hf_iggy_messages_count),
    IGGY_ROWS_END
};

/* ---- send_messages (101, messages.md 3) ---- */

static const iggy_row_t send_metadata_rows[] = {
    IGGY_ROWS(iggy_rows_stream_topic),
    IGGY_ROWS(iggy_rows_partitioning),
    IGGY_U32(hf_iggy_messages_count, .fact = IGGY_FACT_MESSAGES_COUNT, .put = IGGY_REG_COUNT, .flags = IGGY_ASIDE),
    IGGY_RANGE(IGGY_REG_COUNT, hf_iggy_messages_count, 1, IGGY_NO_LIMIT),
    IGGY_ROWS_END
};

#define BATCH_FLAGS 52
#define FLAG_PRODUCER 1
#define PARTITIONING_ID 2

/* A batch with a producer has to name its partition, the server answers others with error 95 (messages.md 2.2). */
static void check_producer_partition(iggy_walk_t *walk, proto_tree *tree, int offset, uint64_t partitioning)
{
    if (iggy_walk_shows(walk) && !walk->failed && partitioning != PARTITIONING_ID &&
        (tvb_get_uint8(walk->tvb, offset + BATCH_FLAGS) & FLAG_PRODUCER))
        iggy_warn_range(walk, tree, offset + BATCH_FLAGS, 1, "A batch with a producer needs partitioning by partition_id");
}

/* The partition that a request goes to is said by its routing alone, whatever stands in the batch. */
static int send_batch(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    iggy_run_t run = { 0 };
    uint8_t has_partition = walk->facts ? walk->facts->has[IGGY_FACT_PARTITION] : 0;
    iggy_fact_value_t partition = { 0 };
    uint64_t partitioning = walk->reg[IGGY_REG_KIND];
    int start = offset;

    if (walk->facts)
        partition = walk->facts->at[IGGY_FACT_PARTITION];
    offset = iggy_walk_record(walk, row, tree, offset, &run);
    check_producer_partition(walk, tree, start, partitioning);
    iggy_note_run(walk, &run);
    if (!walk->facts)
        return offset;
    walk->facts->has[IGGY_FACT_PARTITION] = has_partition;
    walk->facts->at[IGGY_FACT_PARTITION] = partition;
    check_count(walk, tree, walk->reg[IGGY_REG_COUNT], &run);
    iggy_show_run(walk, tree, &run);
    return offset;
}

static const iggy_row_t send_rows[] = {
    { .kind = IGGY_ROW_BLOCK, .size = 4, .hf_2 = &hf_iggy_send_metadata_length, .rows = send_metadata_rows },
    IGGY_CALL(send_batch, .hf = &hf_iggy_messages_count, .flags = IGGY_ASIDE),
    IGGY_ROWS_END
};

static const iggy_row_t confirmation_rows[] = {
    IGGY_U32(hf_iggy_stream_id, .fact = IGGY_FACT_STREAM_ID, .flags = IGGY_NAMED, .label = " stream |"),
    IGGY_U32(hf_iggy_topic_id, .fact = IGGY_FACT_TOPIC_ID, .flags = IGGY_NAMED, .label = ", topic |"),
    IGGY_U32(hf_iggy_partition_id, .fact = IGGY_FACT_PARTITION, .label = ", partition |"),
    IGGY_U64(hf_iggy_confirmation_base_offset, .fact = IGGY_FACT_FIRST_OFFSET, .label = ": offset |"),
    IGGY_ROWS_END
};

/* Empty, or a count of its own that is no result section. */
static const iggy_row_t send_reply_rows[] = {
    IGGY_U32(hf_iggy_confirmations_count, .put = IGGY_REG_COUNT, .flags = IGGY_IF_LEFT),
    IGGY_LIST(IGGY_REG_COUNT, confirmation_rows, hf_iggy_confirmation, ett_iggy_confirmation, 20),
    IGGY_ROWS_END
};

/* ---- commands of 0.11.0 (messages.md 4.8) ---- */

static const iggy_row_t flush_rows[] = {
    IGGY_ROWS(iggy_rows_stream_topic),
    IGGY_U32(hf_iggy_partition_id, .fact = IGGY_FACT_PARTITION),
    IGGY_U8(hf_iggy_flush_fsync),
    IGGY_ROWS_END
};

/* Session that polls on the primary shall use, and the node to ask. */
static const iggy_row_t routing_reply_rows[] = {
    IGGY_ROWS(iggy_rows_session_identity),
    IGGY_ROWS(iggy_rows_one_node),
    IGGY_ROWS_END
};

/* ---- get_partition_route (105) ---- */

static const iggy_row_t route_rows[] = {
    IGGY_ROWS(iggy_rows_stream_topic),
    IGGY_U32(hf_iggy_partition_id, .fact = IGGY_FACT_PARTITION),
    IGGY_ROWS_END
};

static const iggy_row_t route_reply_rows[] = {
    IGGY_U64(hf_iggy_context_partition_incarnation),
    IGGY_U64(hf_iggy_context_minimum_metadata_op),
    IGGY_U32(hf_iggy_partition_view),
    IGGY_U32(hf_iggy_partitions_count),
    IGGY_U8(hf_iggy_route_primary, .fact = IGGY_FACT_PRIMARY),
    IGGY_ROWS_END
};

/* ---- poll_messages_deferred (106), wait_for_messages (107) ---- */

/* A server refuses what is beyond these (messages.md 4.4 to 4.6). */
#define WAIT_MOST 600000000u
#define TIMEOUT_MOST 630000000u
#define TIMEOUT_MARGIN 1000000u

#define LEAST_BYTES 344 /* head of a poll reply, of a batch, of a message */
#define MOST_TARGETS 1000

/* Not more than the poll asks for at most, which is in IGGY_REG_COUNT_2. */
static int check_min_count(iggy_walk_t *walk, const iggy_row_t *row _U_, proto_tree *tree, int offset)
{
    uint64_t least = walk->reg[IGGY_REG_COUNT_3], most = walk->reg[IGGY_REG_COUNT_2];

    if (iggy_walk_shows(walk) && (least == 0 || least > most))
        proto_tree_add_expert_format(tree, walk->pdu->pinfo, &ei_iggy_poll_limits, walk->tvb, offset, 0,
                                     "Least messages are %" PRIu64 ", the server wants 1 to %" PRIu64, least, most);
    return offset;
}

/* A fetch wants the margin also when it does not wait: row->is. */
static int check_wait(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    uint64_t wait = walk->reg[IGGY_REG_START], timeout = walk->reg[IGGY_REG_STATUS];

    if (iggy_walk_shows(walk) &&
        (wait > WAIT_MOST || timeout == 0 || timeout > TIMEOUT_MOST || ((wait || row->is) && timeout < wait + TIMEOUT_MARGIN)))
        proto_tree_add_expert(tree, walk->pdu->pinfo, &ei_iggy_poll_limits, walk->tvb, offset - 8, 8);
    return offset;
}

#define WAIT IGGY_U64(hf_iggy_poll_wait, .put = IGGY_REG_START, .sentinels = at_once)
#define MIN_COUNT IGGY_U32(hf_iggy_poll_min_count, .put = IGGY_REG_COUNT_3)
#define MAX_BYTES \
    IGGY_U32(hf_iggy_poll_max_bytes, .put = IGGY_REG_COUNT_4), \
    IGGY_RANGE(IGGY_REG_COUNT_4, hf_iggy_poll_max_bytes, LEAST_BYTES, IGGY_NO_LIMIT)
#define TARGETS_COUNT \
    IGGY_U32(hf_iggy_poll_targets_count, .put = IGGY_REG_COUNT), \
    IGGY_RANGE(IGGY_REG_COUNT, hf_iggy_poll_targets_count, 1, MOST_TARGETS)
#define REQUEST_TIMEOUT(always) \
    IGGY_U64(hf_iggy_poll_request_timeout, .put = IGGY_REG_STATUS), IGGY_CALL(check_wait, .is = (always))

static int compare_partitions(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* After the targets, each of row->min bytes and begun by its partition: none may be named twice. */
static int check_partitions(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    uint64_t count = walk->reg[IGGY_REG_COUNT], size = row->min;

    if (!iggy_walk_shows(walk) || count < 2 || count > MOST_TARGETS || count * size > (uint64_t)offset)
        return offset;
    uint32_t partitions[MOST_TARGETS];
    int start = offset - (int)(count * size);
    for (uint64_t i = 0; i < count; i++)
        partitions[i] = tvb_get_letohl(walk->tvb, start + (int)(i * size));
    qsort(partitions, (size_t)count, sizeof *partitions, compare_partitions);
    for (uint64_t i = 1; i < count; i++) {
        if (partitions[i] != partitions[i - 1])
            continue;
        proto_tree_add_expert_format(tree, walk->pdu->pinfo, &ei_iggy_poll_limits, walk->tvb, start, offset - start,
                                     "Partition %u is asked for twice", partitions[i]);
        walk->items++;
        break;
    }
    return offset;
}

static const iggy_row_t deferred_rows[] = {
    IGGY_ROWS(poll_rows),
    WAIT,
    MIN_COUNT,
    IGGY_CALL(check_min_count),
    MAX_BYTES,
    REQUEST_TIMEOUT(0),
    IGGY_ROWS_END
};

static const iggy_row_t wait_target_rows[] = {
    IGGY_U32(hf_iggy_partition_id, .fact = IGGY_FACT_PARTITION, .label = ": partition |"),
    IGGY_ROWS(iggy_rows_strategy),
    IGGY_ROWS_END
};

static const iggy_row_t wait_rows[] = {
    IGGY_ROWS(iggy_rows_consumer),
    IGGY_ROWS(iggy_rows_stream_topic),
    WAIT,
    REQUEST_TIMEOUT(0),
    TARGETS_COUNT,
    IGGY_LIST(IGGY_REG_COUNT, wait_target_rows, hf_iggy_poll_target, ett_iggy_poll_target, 5, .flags = IGGY_SCOPED),
    IGGY_CALL(check_partitions, .min = 13),
    IGGY_ROWS_END
};

static const iggy_row_t wait_reply_rows[] = {
    IGGY_U32(hf_iggy_poll_ready_count, .put = IGGY_REG_COUNT, .fact = IGGY_FACT_PARTITIONS_COUNT),
    IGGY_LIST_BARE(IGGY_REG_COUNT, iggy_rows_partition_id, 4, .flags = IGGY_SCOPED),
    IGGY_ROWS_END
};

/* ---- fetch_messages (109, messages.md 4.6) ---- */

#define STRATEGY_OFFSET 1
#define STRATEGY_NEXT 5

/* A fetch reads from an offset or from where the consumer is, and a partition gets no more than the whole. */
static int check_target(iggy_walk_t *walk, const iggy_row_t *row _U_, proto_tree *tree, int offset)
{
    uint64_t strategy = walk->reg[IGGY_REG_KIND], bytes = walk->reg[IGGY_REG_LENGTH], most = walk->reg[IGGY_REG_COUNT_4];

    if (!iggy_walk_shows(walk))
        return offset;
    if (strategy != STRATEGY_OFFSET && strategy != STRATEGY_NEXT)
        proto_tree_add_expert_format(tree, walk->pdu->pinfo, &ei_iggy_poll_limits, walk->tvb, offset, 0,
                                     "A fetch reads by offset or next alone");
    if (bytes > most)
        proto_tree_add_expert_format(tree, walk->pdu->pinfo, &ei_iggy_poll_limits, walk->tvb, offset, 0,
                                     "The partition may have more bytes than the whole reply, which is at most %" PRIu64, most);
    return offset;
}

static const iggy_row_t fetch_target_rows[] = {
    IGGY_U32(hf_iggy_partition_id, .fact = IGGY_FACT_PARTITION, .label = ": partition |"),
    IGGY_ROWS(iggy_rows_strategy),
    IGGY_U32(hf_iggy_poll_max_bytes, .put = IGGY_REG_LENGTH),
    IGGY_RANGE(IGGY_REG_LENGTH, hf_iggy_poll_max_bytes, LEAST_BYTES, IGGY_NO_LIMIT),
    IGGY_CALL(check_target),
    IGGY_U64(hf_iggy_context_partition_incarnation),
    IGGY_U64(hf_iggy_context_owner_generation),
    IGGY_ROWS_END
};

static const iggy_row_t fetch_rows[] = {
    IGGY_ROWS(iggy_rows_consumer),
    IGGY_ROWS(iggy_rows_stream_topic),
    WAIT,
    REQUEST_TIMEOUT(1),
    MIN_COUNT,
    IGGY_U32(hf_iggy_poll_count, .fact = IGGY_FACT_POLL_COUNT, .put = IGGY_REG_COUNT_2),
    IGGY_CALL(check_min_count),
    MAX_BYTES,
    IGGY_U8(hf_iggy_poll_auto_commit),
    TARGETS_COUNT,
    IGGY_LIST(IGGY_REG_COUNT, fetch_target_rows, hf_iggy_poll_target, ett_iggy_poll_target, 25, .flags = IGGY_SCOPED),
    IGGY_CALL(check_partitions, .min = 33),
    IGGY_ROWS_END
};

#define SECTION_SIZE 56
#define SECTION_CURRENT_OFFSET 8
#define SECTION_MESSAGES_COUNT 16
#define SECTION_NEXT_OFFSET 44
#define SECTION_RECORDS_LENGTH 52

/* An error of one partition is an error that a filter on iggy.error finds; the others of the reply are fine. */
static int show_section_error(iggy_walk_t *walk, const iggy_row_t *row _U_, proto_tree *tree, int offset)
{
    if (!iggy_walk_shows(walk))
        return offset;
    uint32_t error = (uint32_t)walk->reg[IGGY_REG_STATUS];
    proto_item *item = proto_tree_add_uint(tree, hf_iggy_error, walk->tvb, offset - 4, 4, error);
    proto_item_set_generated(item);
    expert_add_info(walk->pdu->pinfo, item, &ei_iggy_partition_error);
    return offset;
}

static const iggy_row_t section_rows[] = {
    IGGY_U32(hf_iggy_partition_id, .fact = IGGY_FACT_PARTITION, .label = ": partition |"),
    IGGY_U32(hf_iggy_fetch_status, .put = IGGY_REG_STATUS),
    IGGY_CALL(show_section_error, .when = IGGY_REG_STATUS, .flags = IGGY_NOT),
    IGGY_U64(hf_iggy_current_offset),
    IGGY_U32(hf_iggy_messages_count, .label = ", | messages"),
    IGGY_ROWS(iggy_rows_context),
    IGGY_U64(hf_iggy_fetch_next_offset),
    IGGY_U32(hf_iggy_fetch_records_length),
    IGGY_ROWS_END
};

static uint64_t section_number(iggy_walk_t *walk, int entry, int at)
{
    return tvb_get_letohl(walk->tvb, entry + at);
}

/* The records of the section whose entry in the table is at `entry`: its run is added to `total`. */
static int section_records(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset, int entry,
                           iggy_run_t *total)
{
    iggy_run_t run = { 0 };
    uint64_t length = section_number(walk, entry, SECTION_RECORDS_LENGTH);
    uint64_t said = section_number(walk, entry, SECTION_MESSAGES_COUNT);
    int outer_end = walk->end;

    if (!iggy_walk_there(walk, row, offset, length))
        return offset;
    proto_tree *subtree = tree;
    if (length && iggy_walk_shows(walk)) {
        proto_item *item = proto_tree_add_item(tree, hf_iggy_fetch_records, walk->tvb, offset, (int)length, ENC_NA);
        proto_item_append_text(item, " of partition %u", tvb_get_letohl(walk->tvb, entry));
        subtree = proto_item_add_subtree(item, ett_iggy_fetch_records);
    }
    walk->end = offset + (int)length;
    offset = iggy_walk_records(walk, row, subtree, offset, &run);
    walk->end = outer_end;
    check_count(walk, subtree, said, &run);
    if (run.messages && !walk->failed) {
        iggy_show_run(walk, subtree, &run);
        show_lag(walk, subtree, tvb_get_letoh64(walk->tvb, entry + SECTION_CURRENT_OFFSET),
                 tvb_get_letoh64(walk->tvb, entry + SECTION_NEXT_OFFSET) - 1);
    }
    iggy_add_run(total, &run);
    return offset;
}

/* The records of all sections, back to back after the table. Offsets of several partitions have no common range. */
static int fetch_records(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    iggy_run_t total = { 0 };
    uint64_t count = walk->reg[IGGY_REG_COUNT];
    int entry = offset - (int)count * SECTION_SIZE;
    unsigned partitions = 0;

    for (uint64_t i = 0; i < count && !walk->failed; i++, entry += SECTION_SIZE) {
        uint64_t before = total.messages;
        offset = section_records(walk, row, tree, offset, entry, &total);
        partitions += total.messages > before;
    }
    if (partitions > 1) {
        total.has_offsets = false;
        if (walk->facts)
            walk->facts->has[IGGY_FACT_PARTITION] = 0;
    }
    iggy_note_run(walk, &total);
    return offset;
}

/* The count of sections is the register that the calls need after the list: no row of a section writes it. */
static const iggy_row_t fetch_reply_rows[] = {
    IGGY_U32(hf_iggy_fetch_sections_count, .put = IGGY_REG_COUNT),
    IGGY_LIST(IGGY_REG_COUNT, section_rows, hf_iggy_fetch_section, ett_iggy_fetch_section, SECTION_SIZE,
              .flags = IGGY_SCOPED),
    IGGY_CALL(fetch_records, .hf = &hf_iggy_fetch_records),
    IGGY_ROWS_END
};

/* ---- consumer offsets (120 to 123, commands.md 6) ---- */

static const iggy_row_t offset_rows[] = {
    IGGY_ROWS(iggy_rows_consumer),
    IGGY_ROWS(iggy_rows_stream_topic),
    IGGY_ROWS(iggy_rows_opt_partition),
    IGGY_ROWS_END
};

static int offset_lag(iggy_walk_t *walk, const iggy_row_t *row _U_, proto_tree *tree, int offset)
{
    show_lag(walk, tree, tvb_get_letoh64(walk->tvb, offset - 16), tvb_get_letoh64(walk->tvb, offset - 8));
    return offset;
}

static const iggy_row_t offset_reply_rows[] = {
    IGGY_U32(hf_iggy_partition_id, .fact = IGGY_FACT_PARTITION),
    IGGY_U64(hf_iggy_current_offset, .fact = IGGY_FACT_CURRENT_OFFSET),
    IGGY_U64(hf_iggy_stored_offset, .fact = IGGY_FACT_STORED_OFFSET),
    IGGY_CALL(offset_lag),
    IGGY_ROWS_END
};

const iggy_row_t iggy_rows_store_consumer_offset[] = {
    IGGY_ROWS(offset_rows),
    IGGY_U64(hf_iggy_offset, .fact = IGGY_FACT_OFFSET),
    IGGY_ROWS(iggy_rows_ack),
    IGGY_ROWS_END
};

const iggy_row_t iggy_rows_delete_consumer_offset[] = {
    IGGY_ROWS(offset_rows),
    IGGY_ROWS(iggy_rows_ack),
    IGGY_ROWS_END
};

/* ---- what calls show ---- */

static const int *const of_lag[] = { &hf_iggy_consumer_lag };
static const int *const of_section[] = { &hf_iggy_error };
static const iggy_shown_t shown[] = {
    { .call = send_batch, .rows = iggy_rows_batch },
    { poll_records, IGGY_SHOWS(of_lag), .rows = iggy_rows_batch },
    { fetch_records, IGGY_SHOWS(of_lag), .rows = iggy_rows_batch },
    { offset_lag, IGGY_SHOWS(of_lag) },
    { show_section_error, IGGY_SHOWS(of_section) },
    { .call = check_assignment },
    { .call = check_wait },
    { .call = check_min_count },
    { .call = check_partitions },
    { .call = check_target },
};

#define READ IGGY_OP_NON_REPLICATED

const iggy_command_t iggy_commands_messages[] = {
    { .code = 100, .operation = READ, .name = "poll_messages", .flags = IGGY_TELLS | IGGY_REPEATS,
      .request = poll_rows, .reply = poll_reply_rows },
    { .code = 101, .operation = IGGY_OP_SEND_MESSAGES, .name = "send_messages", .flags = IGGY_LEARN | IGGY_REPEATS,
      .request = send_rows, .reply = send_reply_rows },
    { .code = 102, .operation = READ, .since = IGGY_0_11_0, .until = IGGY_0_11_0, .name = "flush_unsaved_buffer",
      .flags = IGGY_REPEATS,
      .request = flush_rows, .reply = iggy_rows_none },
    { .code = 103, .operation = READ, .since = IGGY_0_11_0, .until = IGGY_0_11_0, .name = "get_poll_routing",
      .flags = IGGY_TELLS | IGGY_REPEATS,
      .request = poll_rows, .reply = routing_reply_rows },
    { .code = 104, .operation = READ, .since = IGGY_0_11_0, .until = IGGY_0_11_0, .name = "poll_messages_on_primary",
      .flags = IGGY_TELLS | IGGY_REPEATS,
      .request = poll_rows, .reply = poll_reply_rows },
    { .code = 105, .operation = READ, .since = IGGY_0_12_0, .name = "get_partition_route", .flags = IGGY_REPEATS,
      .request = route_rows, .reply = route_reply_rows },
    { .code = 106, .operation = READ, .since = IGGY_0_12_0, .name = "poll_messages_deferred",
      .flags = IGGY_TELLS | IGGY_LATE_REPLY | IGGY_REPEATS,
      .request = deferred_rows, .reply = poll_reply_rows },
    { .code = 107, .operation = READ, .since = IGGY_0_12_0, .until = IGGY_0_12_0, .name = "wait_for_messages",
      .flags = IGGY_LATE_REPLY | IGGY_REPEATS,
      .request = wait_rows, .reply = wait_reply_rows },
    { .code = 108, .operation = READ, .since = IGGY_0_12_0, .name = "cancel_deferred_request", .flags = IGGY_NO_REPLY,
      .request = iggy_rows_none, .reply = iggy_rows_none },
    { .code = 109, .operation = READ, .since = IGGY_0_12_1, .name = "fetch_messages",
      .flags = IGGY_LATE_REPLY | IGGY_REPEATS,
      .request = fetch_rows, .reply = fetch_reply_rows },
    { .code = 120, .operation = READ, .name = "get_consumer_offset", .flags = IGGY_REPEATS,
      .request = offset_rows, .reply = offset_reply_rows, .empty = "nothing stored" },
    { .code = 121, .operation = 161, .name = "store_consumer_offset", .flags = IGGY_REPEATS,
      .request = iggy_rows_store_consumer_offset, .reply = iggy_rows_none },
    { .code = 122, .operation = 162, .name = "delete_consumer_offset", .flags = IGGY_REPEATS,
      .request = iggy_rows_delete_consumer_offset, .reply = iggy_rows_none },
    { .code = 123, .operation = READ, .since = IGGY_0_11_0, .until = IGGY_0_11_0, .name = "get_consumer_offset_routing",
      .flags = IGGY_TELLS | IGGY_REPEATS,
      .request = offset_rows, .reply = routing_reply_rows },
    { .name = NULL }
};

void iggy_register_commands_messages(int proto)
{
    static hf_register_info hf[] = {
        { &hf_iggy_poll_auto_commit,
          { "Auto commit", "iggy.poll.auto_commit", FT_BOOLEAN, BASE_NONE, NULL, 0x0,
            "The server stores the offset of the last message that it sends", HFILL } },
        { &hf_iggy_poll_wait,
          { "Wait", "iggy.poll.wait", FT_UINT64, BASE_DEC | BASE_UNIT_STRING, &units_microseconds, 0x0,
            "Time that the server may wait for messages", HFILL } },
        { &hf_iggy_poll_request_timeout,
          { "Request timeout", "iggy.poll.request_timeout", FT_UINT64, BASE_DEC | BASE_UNIT_STRING, &units_microseconds, 0x0,
            "Time after which the client gives up", HFILL } },
        { &hf_iggy_poll_min_count,
          { "Least messages", "iggy.poll.min_count", FT_UINT32, BASE_DEC, NULL, 0x0,
            "Fewer than these are not worth an answer before the time is up", HFILL } },
        { &hf_iggy_poll_max_bytes,
          { "Most bytes", "iggy.poll.max_bytes", FT_UINT32, BASE_DEC | BASE_UNIT_STRING, &units_byte_bytes, 0x0, NULL,
            HFILL } },
        { &hf_iggy_poll_targets_count,
          { "Targets", "iggy.poll.targets_count", FT_UINT32, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_poll_target,
          { "Target", "iggy.poll.target", FT_NONE, BASE_NONE, NULL, 0x0,
            "A partition and where to read in it", HFILL } },
        { &hf_iggy_poll_ready_count,
          { "Partitions with messages", "iggy.poll.ready_count", FT_UINT32, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_send_metadata_length,
          { "Metadata length", "iggy.send.metadata_length", FT_UINT32, BASE_DEC | BASE_UNIT_STRING, &units_byte_bytes, 0x0,
            "Bytes of stream, topic, partitioning and count of messages", HFILL } },
        { &hf_iggy_confirmations_count,
          { "Confirmations", "iggy.confirmations_count", FT_UINT32, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_confirmation,
          { "Confirmation", "iggy.confirmation", FT_NONE, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_confirmation_base_offset,
          { "Base offset", "iggy.confirmation.base_offset", FT_UINT64, BASE_DEC, NULL, 0x0,
            "Offset of the first message of the batch", HFILL } },
        { &hf_iggy_fetch_sections_count,
          { "Sections", "iggy.fetch.sections_count", FT_UINT32, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_fetch_section,
          { "Section", "iggy.fetch.section", FT_NONE, BASE_NONE, NULL, 0x0,
            "What the fetch found in one partition", HFILL } },
        { &hf_iggy_fetch_status,
          { "Status", "iggy.fetch.status", FT_UINT32, BASE_DEC | BASE_EXT_STRING, &iggy_error_vals_ext, 0x0,
            "Of this partition alone", HFILL } },
        { &hf_iggy_fetch_next_offset,
          { "Next offset", "iggy.fetch.next_offset", FT_UINT64, BASE_DEC, NULL, 0x0,
            "Where the next fetch continues", HFILL } },
        { &hf_iggy_fetch_records_length,
          { "Records length", "iggy.fetch.records_length", FT_UINT32, BASE_DEC | BASE_UNIT_STRING, &units_byte_bytes,
            0x0, NULL, HFILL } },
        { &hf_iggy_fetch_records,
          { "Records", "iggy.fetch.records", FT_NONE, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_flush_fsync,
          { "Fsync", "iggy.flush.fsync", FT_BOOLEAN, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_route_primary,
          { "Primary", "iggy.route.primary", FT_UINT8, BASE_DEC, NULL, 0x0,
            "Replica that leads the partition; get_cluster_metadata tells its address", HFILL } },
        { &hf_iggy_consumer_lag,
          { "Consumer lag", "iggy.consumer.lag", FT_UINT64, BASE_DEC, NULL, 0x0,
            "Messages of the partition after the last one stored or delivered", HFILL } },
    };
    static int *ett[] = { &ett_iggy_poll_target, &ett_iggy_confirmation, &ett_iggy_fetch_section, &ett_iggy_fetch_records };
    static ei_register_info ei[] = {
        { &ei_iggy_messages_count,
          { "iggy.expert.messages_count", PI_PROTOCOL, PI_WARN, "The counts of messages contradict each other",
            EXPFILL } },
        { &ei_iggy_stale_assignment,
          { "iggy.expert.stale_assignment", PI_RESPONSE_CODE, PI_NOTE,
            "The member's assignment is stale: it must call sync_consumer_group", EXPFILL } },
        { &ei_iggy_partition_error,
          { "iggy.expert.partition_error", PI_RESPONSE_CODE, PI_NOTE, "An error of this partition alone", EXPFILL } },
        { &ei_iggy_poll_limits,
          { "iggy.expert.poll_limits", PI_PROTOCOL, PI_WARN,
            "Wait or request timeout out of range: the server refuses the request", EXPFILL } },
    };

    proto_register_field_array(proto, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    expert_register_field_array(expert_register_protocol(proto), ei, array_length(ei));
    iggy_register_shown(shown, array_length(shown));
}
