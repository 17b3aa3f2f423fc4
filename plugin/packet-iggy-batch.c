/* packet-iggy-batch.c
 * Message batches: the record of 256 bytes and messages that sends, prepares, polls and fetches share (messages.md 2).
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-batch.h"

#include <xxhash.h>

#include "packet-iggy-checksum.h"
#include "packet-iggy-decrypt.h"
#include "packet-iggy-export.h"
#include "packet-iggy-fields.h"
#include "packet-iggy-limits.h"
#include "packet-iggy-options.h"
#include "packet-iggy-payload.h"
#include "packet-iggy-shown.h"
#include "packet-iggy-time.h"
#include "packet-iggy-wanted.h"

#define BATCH_HEADER 256
#define MESSAGE_HEADER 48

/* places in the batch header (messages.md 2.1) */
#define AT_PARTITION_ID 0
#define AT_BASE_OFFSET 8
#define AT_BASE_TIMESTAMP 16
#define AT_BATCH_LENGTH 32
#define AT_MESSAGE_COUNT 48
#define AT_FLAGS 52
#define AT_PRODUCER_ID 56
#define AT_PRODUCER_EPOCH 64
#define AT_BASE_SEQUENCE 68
/* places in the header of a message (messages.md 2.3) */
#define AT_OFFSET_DELTA 24
#define AT_HEADERS_LENGTH 32
#define AT_PAYLOAD_LENGTH 36

#define FLAG_PRODUCER 1

/* encodings.md 18; encryption adds 28 bytes to either */
#define MOST_HEADERS (100000 + 28)
#define MOST_PAYLOAD (64000000 + 28)
/* messages.md 2.2 */
#define MOST_EPOCH 0x7fff
#define MOST_SEQUENCE 0x7fffffff

static int hf_iggy_batch = IGGY_UNREGISTERED;
static int hf_iggy_batch_partition_id = IGGY_UNREGISTERED;
static int hf_iggy_batch_base_offset = IGGY_UNREGISTERED;
static int hf_iggy_batch_base_timestamp = IGGY_UNREGISTERED;
static int hf_iggy_batch_origin_timestamp = IGGY_UNREGISTERED;
static int hf_iggy_batch_length = IGGY_UNREGISTERED;
static int hf_iggy_batch_checksum = IGGY_UNREGISTERED;
static int hf_iggy_batch_checksum_status = IGGY_UNREGISTERED;
static int hf_iggy_batch_message_count = IGGY_UNREGISTERED;
static int hf_iggy_batch_flags = IGGY_UNREGISTERED;
static int hf_iggy_batch_producer_id = IGGY_UNREGISTERED;
static int hf_iggy_batch_producer_epoch = IGGY_UNREGISTERED;
static int hf_iggy_batch_base_sequence = IGGY_UNREGISTERED;

static int hf_iggy_message = IGGY_UNREGISTERED;
static int hf_iggy_message_checksum = IGGY_UNREGISTERED;
static int hf_iggy_message_checksum_status = IGGY_UNREGISTERED;
static int hf_iggy_message_id = IGGY_UNREGISTERED;
static int hf_iggy_message_offset_delta = IGGY_UNREGISTERED;
static int hf_iggy_message_timestamp_delta = IGGY_UNREGISTERED;
static int hf_iggy_message_headers_length = IGGY_UNREGISTERED;
static int hf_iggy_message_payload_length = IGGY_UNREGISTERED;
static int hf_iggy_message_headers = IGGY_UNREGISTERED;
static int hf_iggy_message_headers_opaque = IGGY_UNREGISTERED;
static int hf_iggy_message_offset = IGGY_UNREGISTERED;
static int hf_iggy_message_timestamp = IGGY_UNREGISTERED;
static int hf_iggy_message_broker_timestamp = IGGY_UNREGISTERED;
static int hf_iggy_message_broker_delay = IGGY_UNREGISTERED;
static int hf_iggy_message_age = IGGY_UNREGISTERED;

static int hf_iggy_messages_bytes = IGGY_UNREGISTERED;
static int hf_iggy_first_offset = IGGY_UNREGISTERED;
static int hf_iggy_last_offset = IGGY_UNREGISTERED;

static int ett_iggy_batch = IGGY_UNREGISTERED;
static int ett_iggy_message = IGGY_UNREGISTERED;
static int ett_iggy_message_headers = IGGY_UNREGISTERED;

static expert_field ei_iggy_batch_checksum = EI_INIT;
static expert_field ei_iggy_message_checksum = EI_INIT;
static expert_field ei_iggy_offset_delta = EI_INIT;

static const value_string batch_flags_vals[] = { { 0, "none" }, { FLAG_PRODUCER, "producer" }, { 0, NULL } };
static const iggy_sentinel_t not_stamped[] = { { 0, "not stamped by a server" }, { 0, NULL } };

static int first_message_field, last_message_field; /* numbers of the fields and expert items of messages */

/* ---- checksums (messages.md 2.4) ---- */

static const iggy_checksum_fields_t batch_sum_fields = {
    &hf_iggy_batch_checksum, &hf_iggy_batch_checksum_status, &ei_iggy_batch_checksum
};
static const iggy_checksum_fields_t message_sum_fields = {
    &hf_iggy_message_checksum, &hf_iggy_message_checksum_status, &ei_iggy_message_checksum
};

/* The fields of the header that the batch checksum covers, in order. Returns how many bytes. */
static size_t gather_header(tvbuff_t *tvb, int offset, uint8_t *to)
{
    uint8_t *at = to;

    at = (uint8_t *)tvb_memcpy(tvb, at, offset, 40) + 40;
    at = (uint8_t *)tvb_memcpy(tvb, at, offset + AT_MESSAGE_COUNT, 4) + 4;
    if (tvb_get_uint8(tvb, offset + AT_FLAGS) & FLAG_PRODUCER) {
        *at++ = FLAG_PRODUCER;
        at = (uint8_t *)tvb_memcpy(tvb, at, offset + AT_PRODUCER_ID, 8) + 8;
        at = (uint8_t *)tvb_memcpy(tvb, at, offset + AT_PRODUCER_EPOCH, 2) + 2;
        at = (uint8_t *)tvb_memcpy(tvb, at, offset + AT_BASE_SEQUENCE, 4) + 4;
    }
    return (size_t)(at - to);
}

/* Bytes of the message at `offset`, header included; 0 if it does not lie before `end`. */
static int message_length(tvbuff_t *tvb, int offset, int end)
{
    if (end - offset < MESSAGE_HEADER)
        return 0;
    uint64_t length = (uint64_t)MESSAGE_HEADER + tvb_get_letohl(tvb, offset + AT_HEADERS_LENGTH) +
                      tvb_get_letohl(tvb, offset + AT_PAYLOAD_LENGTH);
    return length <= (uint64_t)(end - offset) ? (int)length : 0;
}

/* The stored checksums of all messages, in order. False if the messages do not fill the record. */
static bool gather_messages(tvbuff_t *tvb, int offset, int end, uint32_t count, uint8_t *to)
{
    for (uint32_t i = 0; i < count; i++) {
        int length = message_length(tvb, offset, end);
        if (!length)
            return false;
        tvb_memcpy(tvb, to + (size_t)i * 8, offset, 8);
        offset += length;
    }
    return offset == end;
}

/* Verify the batch at `offset`: what it covers is a few fields and 8 bytes of every message. */
static iggy_checksum_t verify_batch(iggy_walk_t *walk, int offset)
{
    int end = offset + (int)walk->reg[IGGY_REG_RECORD];
    uint64_t stored = tvb_get_letoh64(walk->tvb, offset + 40);
    uint32_t count = tvb_get_letohl(walk->tvb, offset + AT_MESSAGE_COUNT);

    if (stored == 0) /* routed between servers before the log position is known */
        return iggy_checksum_not_present();
    if (end > walk->captured || (uint64_t)count * MESSAGE_HEADER > (uint64_t)(end - offset - BATCH_HEADER))
        return iggy_checksum_unverified();
    uint8_t *covered = (uint8_t *)wmem_alloc(walk->pdu->pinfo->pool, 64 + (size_t)count * 8);
    size_t head = gather_header(walk->tvb, offset, covered);
    if (!gather_messages(walk->tvb, offset + BATCH_HEADER, end, count, covered + head))
        return iggy_checksum_unverified();
    return iggy_checksum_compare(stored, XXH3_64bits(covered, head + (size_t)count * 8));
}

static int batch_checksum(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    if (!iggy_walk_there(walk, row, offset, 8))
        return offset;
    if (iggy_walk_shows(walk)) {
        iggy_checksum_t sum = iggy_checksum_wanted(tree, &batch_sum_fields) ? verify_batch(walk, offset - 40)
                                                                            : iggy_checksum_unverified();
        iggy_add_checksum64(walk->pdu, tree, walk->tvb, offset, &batch_sum_fields, sum);
        walk->items += 2;
    }
    return offset + 8;
}

static iggy_checksum_t verify_message(iggy_walk_t *walk, int offset)
{
    int length = walk->captured - offset >= MESSAGE_HEADER ? message_length(walk->tvb, offset, walk->end) : 0;
    uint64_t computed = 0;

    if (!length || !iggy_hash64(walk->tvb, offset + 8, length - 8, &computed))
        return iggy_checksum_unverified();
    return iggy_checksum_compare(tvb_get_letoh64(walk->tvb, offset), computed);
}

static int message_checksum(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    if (!iggy_walk_there(walk, row, offset, 8))
        return offset;
    if (iggy_walk_wants(walk, tree, hf_iggy_message_checksum) || iggy_walk_wants(walk, tree, hf_iggy_message_checksum_status)) {
        iggy_checksum_t sum = iggy_checksum_wanted(tree, &message_sum_fields) ? verify_message(walk, offset)
                                                                              : iggy_checksum_unverified();
        iggy_add_checksum64(walk->pdu, tree, walk->tvb, offset, &message_sum_fields, sum);
        walk->items += 2;
    }
    return offset + 8;
}

/* ---- messages ---- */

static void add_time(iggy_walk_t *walk, proto_tree *tree, int hf, int offset, int length, uint64_t microseconds)
{
    if (!iggy_walk_wants(walk, tree, hf))
        return;
    nstime_t span = iggy_time_of(microseconds);
    proto_item_set_generated(iggy_add_time(tree, hf, walk->tvb, offset, length, &span));
    walk->items++;
}

static void add_difference(iggy_walk_t *walk, proto_tree *tree, int hf, const nstime_t *later, uint64_t earlier)
{
    if (!iggy_walk_wants(walk, tree, hf))
        return;
    nstime_t from = iggy_time_of(earlier), difference;
    nstime_delta(&difference, later, &from);
    proto_item_set_generated(proto_tree_add_time(tree, hf, walk->tvb, 0, 0, &difference));
    walk->items++;
}

/* What the deltas mean: producer time always, offset and broker time where a server has stamped the batch. */
static int message_meaning(iggy_walk_t *walk, const iggy_row_t *row _U_, proto_tree *tree, int offset)
{
    if (!iggy_walk_shows(walk))
        return offset;
    uint64_t produced = walk->reg[IGGY_REG_ORIGIN] + walk->reg[IGGY_REG_TIME_DELTA];
    add_time(walk, tree, hf_iggy_message_timestamp, offset - 4, 4, produced);
    if (!walk->reg[IGGY_REG_STAMPED])
        return offset;
    if (iggy_walk_wants(walk, tree, hf_iggy_message_offset)) {
        uint64_t place = walk->reg[IGGY_REG_BASE_OFFSET] + walk->reg[IGGY_REG_OFFSET_DELTA];
        proto_item_set_generated(proto_tree_add_uint64(tree, hf_iggy_message_offset, walk->tvb, offset - 8, 4, place));
        walk->items++;
    }
    uint64_t stamped = walk->reg[IGGY_REG_BASE_TIME];
    if (!stamped)
        return offset;
    nstime_t broker = iggy_time_of(stamped);
    add_time(walk, tree, hf_iggy_message_broker_timestamp, 0, 0, stamped);
    add_difference(walk, tree, hf_iggy_message_broker_delay, &broker, produced);
    if (walk->pdu->pinfo->presence_flags & PINFO_HAS_TS)
        add_difference(walk, tree, hf_iggy_message_age, &walk->pdu->pinfo->abs_ts, stamped);
    return offset;
}

/* Deltas count up by one; in a request from 0, in a slice of a stored record from wherever it was cut (messages.md 4.3). */
static int check_offset_delta(iggy_walk_t *walk, const iggy_row_t *row _U_, proto_tree *tree, int offset)
{
    uint64_t delta = walk->reg[IGGY_REG_OFFSET_DELTA], next = walk->reg[IGGY_REG_NEXT_DELTA];

    if (iggy_walk_shows(walk) && delta != next && next != UINT64_MAX) {
        proto_tree_add_expert_format(tree, walk->pdu->pinfo, &ei_iggy_offset_delta, walk->tvb, offset - 4, 4,
                                     "Offset delta %" PRIu64 " where %" PRIu64 " is next", delta, next);
        walk->items++;
    }
    walk->reg[IGGY_REG_NEXT_DELTA] = delta + 1;
    return offset;
}

/* The same walk, over decrypted bytes. */
static iggy_walk_t walk_within(const iggy_walk_t *walk, tvbuff_t *clear)
{
    iggy_walk_t inner = *walk;
    inner.tvb = clear;
    inner.end = inner.captured = (int)tvb_captured_length(clear);
    inner.bytes = tvb_get_ptr(clear, 0, inner.captured);
    return inner;
}

/* What the user headers, which begin at `headers`, say that the payload is; NULL if they do not. */
static const char *content_type_of(iggy_walk_t *walk, int headers)
{
    uint64_t length = walk->reg[IGGY_REG_HEADERS_LENGTH];
    int end = MIN(walk->end, walk->captured);
    return headers <= end && length <= (uint64_t)(end - headers) ? iggy_content_type(walk, headers, (int)length) : NULL;
}

/* One message for the taps. */
static void export_message(iggy_walk_t *walk, tvbuff_t *payload, const char *content_type)
{
    iggy_message_t message = { .payload = payload, .length = (uint32_t)walk->reg[IGGY_REG_PAYLOAD_LENGTH],
                               .content_type = content_type };
    if (walk->reg[IGGY_REG_STAMPED]) {
        message.has_partition = message.has_offset = true;
        message.partition = walk->reg[IGGY_REG_PARTITION];
        message.offset = walk->reg[IGGY_REG_BASE_OFFSET] + walk->reg[IGGY_REG_OFFSET_DELTA];
    }
    iggy_export_message(walk->pdu, &message);
}

static int message_payload(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    uint64_t length = walk->reg[IGGY_REG_PAYLOAD_LENGTH];

    if (!iggy_walk_there(walk, row, offset, length))
        return offset;
    if (walk->mode == IGGY_WALK_FIT)
        return offset + (int)length;
    const char *content_type = content_type_of(walk, offset + (int)length);
    tvbuff_t *clear = iggy_decrypt(walk, tree, offset, (int)length, IGGY_REGION_PAYLOAD);
    if (iggy_export_wanted())
        export_message(walk, clear ? clear : tvb_new_subset_length(walk->tvb, offset, (int)length), content_type);
    if (clear && iggy_walk_shows(walk)) {
        iggy_walk_t inner = walk_within(walk, clear);
        iggy_show_payload(&inner, tree, 0, inner.end, content_type);
        walk->items = inner.items;
    } else if (iggy_walk_shows(walk)) {
        iggy_show_payload(walk, tree, offset, (int)length, content_type);
    }
    return offset + (int)length;
}

/* User headers that a key opens are shown as if they had travelled in clear. */
static int message_headers(iggy_walk_t *walk, const iggy_row_t *row _U_, proto_tree *tree, int offset)
{
    uint64_t length = walk->reg[IGGY_REG_HEADERS_LENGTH];
    if (!iggy_walk_shows(walk) || length > (uint64_t)(MIN(walk->end, walk->captured) - offset))
        return offset;
    tvbuff_t *clear = iggy_decrypt(walk, tree, offset, (int)length, IGGY_REGION_HEADERS);
    if (!clear)
        return offset;
    static const iggy_row_t clear_rows[] = {
        IGGY_EXTENT(IGGY_REG_HEADERS_LENGTH, iggy_rows_user_headers, hf_iggy_message_headers, ett_iggy_message_headers,
                    .hf_2 = &hf_iggy_message_headers_opaque, .flags = IGGY_SOFT),
        IGGY_ROWS_END
    };
    iggy_walk_t inner = walk_within(walk, clear);
    inner.reg[IGGY_REG_HEADERS_LENGTH] = (uint64_t)inner.end;
    iggy_walk_rows(&inner, clear_rows, tree, 0);
    walk->items = inner.items;
    walk->reg[IGGY_REG_HEADERS_LENGTH] = 0;
    return offset + (int)length;
}

static const iggy_row_t message_rows[] = {
    IGGY_CALL(message_checksum, .size = 8, .hf = &hf_iggy_message_checksum),
    IGGY_FIXED(hf_iggy_message_id, 16),
    IGGY_U32(hf_iggy_message_offset_delta, .put = IGGY_REG_OFFSET_DELTA),
    IGGY_CALL(check_offset_delta),
    IGGY_U32(hf_iggy_message_timestamp_delta, .put = IGGY_REG_TIME_DELTA),
    IGGY_CALL(message_meaning),
    IGGY_U32(hf_iggy_message_headers_length, .put = IGGY_REG_HEADERS_LENGTH),
    IGGY_RANGE(IGGY_REG_HEADERS_LENGTH, hf_iggy_message_headers_length, 0, MOST_HEADERS),
    IGGY_U32(hf_iggy_message_payload_length, .put = IGGY_REG_PAYLOAD_LENGTH),
    IGGY_RANGE(IGGY_REG_PAYLOAD_LENGTH, hf_iggy_message_payload_length, 0, MOST_PAYLOAD),
    IGGY_RESERVED(8, .flags = IGGY_ENFORCED),
    IGGY_CALL(message_payload, .hf = &hf_iggy_message_payload_length),
    IGGY_CALL(message_headers, .hf = &hf_iggy_message_headers),
    /* Client-side encryption covers the user headers too, and nothing says so: what is no list is opaque (messages.md 2.5). */
    IGGY_EXTENT(IGGY_REG_HEADERS_LENGTH, iggy_rows_user_headers, hf_iggy_message_headers, ett_iggy_message_headers,
                .hf_2 = &hf_iggy_message_headers_opaque, .flags = IGGY_SOFT),
    IGGY_ROWS_END
};

static void message_done(iggy_walk_t *walk, proto_item *item, int start, int end)
{
    if (!item || !PTREE_DATA(item)->visible)
        return;
    bool stamped = walk->reg[IGGY_REG_STAMPED] != 0;
    iggy_line_t line;
    iggy_line_begin(&line, item);
    iggy_text_string(&line.text, stamped ? ": offset " : " ");
    uint64_t base = stamped ? walk->reg[IGGY_REG_BASE_OFFSET] : 0;
    iggy_text_decimal(&line.text, base + tvb_get_letohl(walk->tvb, start + AT_OFFSET_DELTA));
    iggy_text_string(&line.text, stamped ? ", " : ": ");
    iggy_text_decimal(&line.text, (uint64_t)(end - start));
    iggy_text_string(&line.text, " bytes");
    iggy_line_end(&line, item);
}

static const iggy_row_t message_list_rows[] = {
    IGGY_LIST(IGGY_REG_COUNT_3, message_rows, hf_iggy_message, ett_iggy_message, MESSAGE_HEADER, .done = message_done),
    IGGY_ROWS_END
};

static bool messages_wanted(proto_tree *tree)
{
    static iggy_answer_t answer;
    if (!tree)
        return iggy_experts_wanted() || iggy_payload_wanted(NULL);
    if (!iggy_answered(&answer))
        answer.yes = iggy_range_wanted(tree, first_message_field, last_message_field) || iggy_user_headers_wanted(tree) ||
                     iggy_payload_wanted(tree);
    return answer.yes;
}

/* Messages are walked only where somebody looks: all that is known without them stands in the header of the batch. */
static int walk_messages(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    uint64_t least = walk->reg[IGGY_REG_COUNT_3] * MESSAGE_HEADER;

    if (walk->mode == IGGY_WALK_FIT && least > (uint64_t)(walk->end - offset))
        return iggy_walk_fail(walk, row, offset, "more messages than bytes");
    if (walk->mode == IGGY_WALK_FIT ||
        (!iggy_export_wanted() && (walk->mode != IGGY_WALK_SHOW || !messages_wanted(tree))))
        return walk->end;
    walk->reg[IGGY_REG_NEXT_DELTA] = walk->reg[IGGY_REG_STAMPED] ? UINT64_MAX : 0;
    return iggy_walk_rows(walk, message_list_rows, tree, offset);
}

/* ---- batches ---- */

/* The server stamps partition, base offset and base timestamp; a client leaves all three 0 (messages.md 1). */
static int batch_begin(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree _U_, int offset)
{
    if (!iggy_walk_there(walk, row, offset, AT_BASE_TIMESTAMP + 8))
        return offset;
    walk->reg[IGGY_REG_STAMPED] = tvb_get_letoh64(walk->tvb, offset + AT_PARTITION_ID) != 0 ||
                                  tvb_get_letoh64(walk->tvb, offset + AT_BASE_TIMESTAMP) != 0;
    walk->reg[IGGY_REG_LENGTH] = walk->reg[IGGY_REG_RECORD] - BATCH_HEADER;
    return offset;
}

/* At most 2^63-1 (messages.md 2.2). */
static int check_producer(iggy_walk_t *walk, const iggy_row_t *row _U_, proto_tree *tree, int offset)
{
    if (iggy_walk_shows(walk) && tvb_get_uint8(walk->tvb, offset - 1) & 0x80)
        iggy_warn_range(walk, tree, offset - 8, 8, "The producer id is over 2^63-1");
    return offset;
}

static const iggy_row_t producer_rows[] = {
    IGGY_RESERVED(3, .flags = IGGY_ENFORCED),
    IGGY_U64(hf_iggy_batch_producer_id),
    IGGY_CALL(check_producer, .flags = IGGY_ASIDE),
    IGGY_U16(hf_iggy_batch_producer_epoch, .put = IGGY_REG_COUNT_4),
    IGGY_RANGE(IGGY_REG_COUNT_4, hf_iggy_batch_producer_epoch, 0, MOST_EPOCH),
    IGGY_RESERVED(2, .flags = IGGY_ENFORCED),
    IGGY_U32(hf_iggy_batch_base_sequence, .put = IGGY_REG_COUNT_4),
    IGGY_RANGE(IGGY_REG_COUNT_4, hf_iggy_batch_base_sequence, 0, MOST_SEQUENCE),
    IGGY_ROWS_END
};

static const iggy_row_t messages_rows[] = {
    IGGY_CALL(walk_messages, .hf = &hf_iggy_message),
    IGGY_ROWS_END
};

static const iggy_row_t record_rows[] = {
    IGGY_CALL(batch_begin, .hf = &hf_iggy_batch),
    IGGY_U64(hf_iggy_batch_partition_id, .when = IGGY_REG_STAMPED, .is = 0),
    IGGY_U64(hf_iggy_partition_id, .when = IGGY_REG_STAMPED, .is = 1, .fact = IGGY_FACT_PARTITION, .put = IGGY_REG_PARTITION),
    IGGY_U64(hf_iggy_batch_base_offset, .put = IGGY_REG_BASE_OFFSET),
    IGGY_TIME(hf_iggy_batch_base_timestamp, .put = IGGY_REG_BASE_TIME, .sentinels = not_stamped),
    IGGY_TIME(hf_iggy_batch_origin_timestamp, .put = IGGY_REG_ORIGIN),
    IGGY_U64(hf_iggy_batch_length),
    IGGY_CALL(batch_checksum, .size = 8, .hf = &hf_iggy_batch_checksum),
    IGGY_U32(hf_iggy_batch_message_count, .put = IGGY_REG_COUNT_3, .label = ": | messages"),
    /* The version does not tell whether there is a producer section, the flag does; it was reserved (messages.md 2.2). */
    IGGY_U8(hf_iggy_batch_flags, .put = IGGY_REG_FLAGS, .flags = IGGY_KNOWN),
    IGGY_ROWS(producer_rows, .when = IGGY_REG_FLAGS, .is = FLAG_PRODUCER),
    IGGY_RESERVED(19, .when = IGGY_REG_FLAGS, .is = FLAG_PRODUCER, .flags = IGGY_NOT | IGGY_ENFORCED),
    IGGY_RESERVED(184, .flags = IGGY_ENFORCED),
    { .kind = IGGY_ROW_EXTENT, .count = IGGY_REG_LENGTH, .rows = messages_rows },
    IGGY_ROWS_END
};

static const iggy_row_t record_extent_rows[] = {
    IGGY_EXTENT(IGGY_REG_RECORD, record_rows, hf_iggy_batch, ett_iggy_batch),
    IGGY_ROWS_END
};

/* Add what the header of the record at `offset` says; `length` is that of the record. */
static void count_record(iggy_walk_t *walk, int offset, uint64_t length, iggy_run_t *run)
{
    uint64_t count = tvb_get_letohl(walk->tvb, offset + AT_MESSAGE_COUNT);
    uint64_t overhead = BATCH_HEADER + count * MESSAGE_HEADER;
    int first = offset + BATCH_HEADER + AT_OFFSET_DELTA;

    run->messages += count;
    run->bytes += length > overhead ? length - overhead : 0;
    bool stamped = tvb_get_letoh64(walk->tvb, offset + AT_PARTITION_ID) != 0 ||
                   tvb_get_letoh64(walk->tvb, offset + AT_BASE_TIMESTAMP) != 0;
    if (!stamped || count == 0 || length < overhead || first + 4 > walk->captured)
        return;
    uint64_t offset_of_first = tvb_get_letoh64(walk->tvb, offset + AT_BASE_OFFSET) + tvb_get_letohl(walk->tvb, first);
    if (!run->has_offsets)
        run->first_offset = offset_of_first;
    run->last_offset = offset_of_first + count - 1;
    run->has_offsets = true;
}

/* One record; the loops below need that it has at least its header. */
int iggy_walk_record(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset, iggy_run_t *run)
{
    if (!iggy_walk_there(walk, row, offset, BATCH_HEADER))
        return offset;
    uint64_t length = tvb_get_letoh64(walk->tvb, offset + AT_BATCH_LENGTH);
    if (length < BATCH_HEADER)
        return iggy_walk_fail(walk, row, offset, "the batch is shorter than its header");
    if (length > (uint64_t)(walk->end - offset))
        return iggy_walk_fail(walk, row, offset, "the batch is longer than the bytes left");
    count_record(walk, offset, length, run);
    walk->reg[IGGY_REG_RECORD] = length;
    return iggy_walk_rows(walk, record_extent_rows, tree, offset);
}

int iggy_walk_records(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset, iggy_run_t *run)
{
    while (offset < walk->end && !walk->failed)
        offset = iggy_walk_record(walk, row, tree, offset, run);
    return offset;
}

void iggy_add_run(iggy_run_t *total, const iggy_run_t *run)
{
    total->messages += run->messages;
    total->bytes += run->bytes;
    if (!run->has_offsets)
        return;
    if (!total->has_offsets)
        total->first_offset = run->first_offset;
    total->last_offset = run->last_offset;
    total->has_offsets = true;
}

void iggy_note_run(iggy_walk_t *walk, const iggy_run_t *run)
{
    if (!walk->facts)
        return;
    if (!iggy_has(walk->facts, IGGY_FACT_MESSAGES_COUNT))
        iggy_walk_note(walk, IGGY_FACT_MESSAGES_COUNT, run->messages, -1, 0, NULL);
    iggy_walk_note(walk, IGGY_FACT_MESSAGES_BYTES, run->bytes, -1, 0, NULL);
    if (run->has_offsets) {
        iggy_walk_note(walk, IGGY_FACT_FIRST_OFFSET, run->first_offset, -1, 0, NULL);
        iggy_walk_note(walk, IGGY_FACT_LAST_OFFSET, run->last_offset, -1, 0, NULL);
    }
}

static void add_number(iggy_walk_t *walk, proto_tree *tree, int hf, uint64_t value)
{
    proto_item_set_generated(proto_tree_add_uint64(tree, hf, walk->tvb, 0, 0, value));
    walk->items++;
}

void iggy_show_run(iggy_walk_t *walk, proto_tree *tree, const iggy_run_t *run)
{
    if (walk->mode != IGGY_WALK_SHOW) /* beyond the limit of elements too: what all of them come to */
        return;
    add_number(walk, tree, hf_iggy_messages_bytes, run->bytes);
    if (run->has_offsets) {
        add_number(walk, tree, hf_iggy_first_offset, run->first_offset);
        add_number(walk, tree, hf_iggy_last_offset, run->last_offset);
    }
}

/* The whole body or the rest of it is one record; a prepare says nowhere else how many messages there are. */
static int walk_one(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    iggy_run_t run = { 0 };
    bool counted = walk->facts && iggy_has(walk->facts, IGGY_FACT_MESSAGES_COUNT);

    offset = iggy_walk_record(walk, row, tree, offset, &run);
    iggy_note_run(walk, &run);
    if (walk->mode == IGGY_WALK_SHOW && !counted)
        add_number(walk, tree, hf_iggy_messages_count, run.messages);
    iggy_show_run(walk, tree, &run);
    return offset;
}

const iggy_row_t iggy_rows_batch[] = {
    IGGY_CALL(walk_one, .hf = &hf_iggy_batch),
    IGGY_ROWS_END
};

/* Those of messages are asked for as a range: their calls show most of it, and payloads anything. */
static const int *const of_batch[] = { &hf_iggy_batch_checksum_status };
static const int *const of_run[] = {
    &hf_iggy_messages_count, &hf_iggy_messages_bytes, &hf_iggy_first_offset, &hf_iggy_last_offset,
};
static const iggy_shown_t shown[] = {
    { walk_one, IGGY_SHOWS(of_run), .rows = record_extent_rows },
    { .call = batch_begin },
    { batch_checksum, IGGY_SHOWS(of_batch) },
    { .call = check_producer },
    { .call = walk_messages, .wanted = messages_wanted },
};

static void register_messages(int proto)
{
    static hf_register_info hf[] = {
        { &hf_iggy_message,
          { "Message", "iggy.message", FT_NONE, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_message_checksum,
          { "Message checksum", "iggy.message.checksum", FT_UINT64, BASE_HEX, NULL, 0x0,
            "XXH3-64 of the rest of the message", HFILL } },
        { &hf_iggy_message_checksum_status,
          { "Message checksum status", "iggy.message.checksum.status", FT_UINT8, BASE_NONE, VALS(proto_checksum_vals),
            0x0, NULL, HFILL } },
        { &hf_iggy_message_id,
          { "Message id", "iggy.message.id", FT_GUID, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_message_offset_delta,
          { "Offset delta", "iggy.message.offset_delta", FT_UINT32, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_message_timestamp_delta,
          { "Timestamp delta", "iggy.message.timestamp_delta", FT_UINT32, BASE_DEC | BASE_UNIT_STRING,
            &units_microseconds, 0x0, NULL, HFILL } },
        { &hf_iggy_message_headers_length,
          { "User headers length", "iggy.message.headers_length", FT_UINT32, BASE_DEC | BASE_UNIT_STRING,
            &units_byte_bytes, 0x0, NULL, HFILL } },
        { &hf_iggy_message_payload_length,
          { "Payload length", "iggy.message.payload_length", FT_UINT32, BASE_DEC | BASE_UNIT_STRING,
            &units_byte_bytes, 0x0, NULL, HFILL } },
        { &hf_iggy_message_headers,
          { "User headers", "iggy.message.headers", FT_NONE, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_message_headers_opaque,
          { "User headers, opaque", "iggy.message.headers_opaque", FT_BYTES, BASE_NONE, NULL, 0x0,
            "No list of keys and values: encrypted by the client, which nothing on the wire says", HFILL } },
        { &hf_iggy_message_offset,
          { "Offset", "iggy.message.offset", FT_UINT64, BASE_DEC, NULL, 0x0, "Base offset and delta", HFILL } },
        { &hf_iggy_message_timestamp,
          { "Timestamp", "iggy.message.timestamp", FT_ABSOLUTE_TIME, ABSOLUTE_TIME_UTC, NULL, 0x0,
            "Time of the producer: origin timestamp and delta", HFILL } },
        { &hf_iggy_message_broker_timestamp,
          { "Broker timestamp", "iggy.message.broker_timestamp", FT_ABSOLUTE_TIME, ABSOLUTE_TIME_UTC, NULL, 0x0,
            "Time at which the broker stamped the batch", HFILL } },
        { &hf_iggy_message_broker_delay,
          { "Delay to the broker", "iggy.message.broker_delay", FT_RELATIVE_TIME, BASE_NONE, NULL, 0x0,
            "Broker timestamp minus producer timestamp", HFILL } },
        { &hf_iggy_message_age,
          { "Age", "iggy.message.age", FT_RELATIVE_TIME, BASE_NONE, NULL, 0x0,
            "Time of this capture minus broker timestamp", HFILL } },
    };
    static ei_register_info ei[] = {
        { &ei_iggy_message_checksum,
          { "iggy.expert.bad_message_checksum", PI_CHECKSUM, PI_ERROR, "Bad checksum of a message", EXPFILL } },
        { &ei_iggy_offset_delta,
          { "iggy.expert.offset_delta", PI_PROTOCOL, PI_WARN, "Offset deltas are not consecutive", EXPFILL } },
    };

    proto_register_field_array(proto, hf, array_length(hf));
    iggy_register_payload(proto);
    iggy_register_decrypt(proto);
    expert_register_field_array(expert_register_protocol(proto), ei, array_length(ei));
    /* Numbers follow the order of registration. */
    first_message_field = hf_iggy_message;
    last_message_field = ei_iggy_offset_delta.hf;
}

void iggy_register_batch(int proto)
{
    static hf_register_info hf[] = {
        { &hf_iggy_batch,
          { "Batch", "iggy.batch", FT_NONE, BASE_NONE, NULL, 0x0,
            "A record: a header of 256 bytes and messages", HFILL } },
        { &hf_iggy_batch_partition_id,
          { "Partition", "iggy.batch.partition_id", FT_UINT64, BASE_DEC, NULL, 0x0,
            "Of a batch that no server has stamped: 0, not the partition that it goes to", HFILL } },
        { &hf_iggy_batch_base_offset,
          { "Base offset", "iggy.batch.base_offset", FT_UINT64, BASE_DEC, NULL, 0x0,
            "Offset that deltas count from: that of the first message when the batch was written", HFILL } },
        { &hf_iggy_batch_base_timestamp,
          { "Base timestamp", "iggy.batch.base_timestamp", FT_ABSOLUTE_TIME, ABSOLUTE_TIME_UTC, NULL, 0x0,
            "Time of the broker, for all messages of the batch", HFILL } },
        { &hf_iggy_batch_origin_timestamp,
          { "Origin timestamp", "iggy.batch.origin_timestamp", FT_ABSOLUTE_TIME, ABSOLUTE_TIME_UTC, NULL, 0x0,
            "Time of the producer that deltas count from", HFILL } },
        { &hf_iggy_batch_length,
          { "Batch length", "iggy.batch.length", FT_UINT64, BASE_DEC | BASE_UNIT_STRING, &units_byte_bytes, 0x0,
            "Header included", HFILL } },
        { &hf_iggy_batch_checksum,
          { "Batch checksum", "iggy.batch.checksum", FT_UINT64, BASE_HEX, NULL, 0x0,
            "XXH3-64 of the header and the checksums of all messages", HFILL } },
        { &hf_iggy_batch_checksum_status,
          { "Batch checksum status", "iggy.batch.checksum.status", FT_UINT8, BASE_NONE, VALS(proto_checksum_vals),
            0x0, NULL, HFILL } },
        { &hf_iggy_batch_message_count,
          { "Messages", "iggy.batch.message_count", FT_UINT32, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_batch_flags,
          { "Flags", "iggy.batch.flags", FT_UINT8, BASE_HEX, VALS(batch_flags_vals), 0x0, NULL, HFILL } },
        { &hf_iggy_batch_producer_id,
          { "Producer id", "iggy.batch.producer_id", FT_UINT64, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_batch_producer_epoch,
          { "Producer epoch", "iggy.batch.producer_epoch", FT_UINT16, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_batch_base_sequence,
          { "Base sequence", "iggy.batch.base_sequence", FT_UINT32, BASE_DEC, NULL, 0x0,
            "Sequence of the first message; the others count up from it", HFILL } },
        { &hf_iggy_messages_bytes,
          { "Bytes of messages", "iggy.messages_bytes", FT_UINT64, BASE_DEC | BASE_UNIT_STRING, &units_byte_bytes, 0x0,
            "Payloads and user headers of all messages carried", HFILL } },
        { &hf_iggy_first_offset,
          { "First offset", "iggy.first_offset", FT_UINT64, BASE_DEC, NULL, 0x0,
            "Of the first message carried", HFILL } },
        { &hf_iggy_last_offset,
          { "Last offset", "iggy.last_offset", FT_UINT64, BASE_DEC, NULL, 0x0, "Of the last message carried", HFILL } },
    };
    static int *ett[] = { &ett_iggy_batch, &ett_iggy_message, &ett_iggy_message_headers };
    static ei_register_info ei[] = {
        { &ei_iggy_batch_checksum,
          { "iggy.expert.bad_batch_checksum", PI_CHECKSUM, PI_ERROR, "Bad checksum of a batch", EXPFILL } },
    };

    proto_register_field_array(proto, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    expert_register_field_array(expert_register_protocol(proto), ei, array_length(ei));
    register_messages(proto);
    iggy_register_shown(shown, array_length(shown));
}
