/* packet-iggy-commands-streams.c
 * Commands of streams, topics, partitions and segments (commands.md 7).
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include <wsutil/str_util.h>

#include "packet-iggy-bodies.h"
#include "packet-iggy-commands.h"
#include "packet-iggy-fields.h"
#include "packet-iggy-names.h"

static int hf_iggy_stream = IGGY_UNREGISTERED;
static int hf_iggy_topic = IGGY_UNREGISTERED;
static int hf_iggy_topic_message_expiry = IGGY_UNREGISTERED;
static int hf_iggy_topic_compression_algorithm = IGGY_UNREGISTERED;
static int hf_iggy_topic_max_topic_size = IGGY_UNREGISTERED;
static int hf_iggy_partition = IGGY_UNREGISTERED;

static int ett_iggy_stream = IGGY_UNREGISTERED;
static int ett_iggy_topic = IGGY_UNREGISTERED;
static int ett_iggy_partition = IGGY_UNREGISTERED;

/* encodings.md 17 */
static const value_string compression_algorithm_vals[] = {
    { 1, "none" },
    { 2, "gzip" },
    { 0, NULL }
};

/* ---- shared by replies ---- */

/* "Topic 3: orders, 12 partitions": the name stands after the count on the wire. */
static void topic_done(iggy_walk_t *walk, proto_item *item, int start, int end)
{
    if (item && iggy_has(walk->facts, IGGY_FACT_PARTITIONS_COUNT)) {
        uint64_t count = iggy_fact(walk->facts, IGGY_FACT_PARTITIONS_COUNT, 0);
        proto_item_append_text(item, ", %" PRIu64 " partition%s", count, plurality(count, "", "s"));
    }
    iggy_learn_topic(walk, item, start, end);
}

/* "Stream 1: orders, 2 topics, 100 messages" */
static void stream_done(iggy_walk_t *walk, proto_item *item, int start, int end)
{
    if (item && end - start >= 32) {
        uint32_t topics = tvb_get_letohl(walk->tvb, start + 12);
        uint64_t messages = tvb_get_letoh64(walk->tvb, start + 24);
        proto_item_append_text(item, ", %u topic%s, %" PRIu64 " message%s", topics, plurality(topics, "", "s"), messages,
                               plurality(messages, "", "s"));
    }
    iggy_learn_stream(walk, item, start, end);
}

/* commands.md 3.1 */
static const iggy_row_t rows_stream_header[] = {
    IGGY_U32(hf_iggy_stream_id, .fact = IGGY_FACT_STREAM_ID, .label = " |"),
    IGGY_TIME(hf_iggy_created_at, .sentinels = iggy_not_set_0),
    IGGY_U32(hf_iggy_topics_count, .put = IGGY_REG_COUNT),
    IGGY_U64(hf_iggy_size_bytes),
    IGGY_U64(hf_iggy_messages_count),
    IGGY_NAME(hf_iggy_stream_name, hf_iggy_stream_name_length, .fact = IGGY_FACT_STREAM_NAME, .label = ": |",
              .flags = IGGY_NOT_EMPTY),
    IGGY_ROWS(iggy_rows_explicit_options),
    IGGY_ROWS(iggy_rows_derived_options, .since = IGGY_0_12_0),
    IGGY_ROWS_END
};

/* commands.md 3.2: since 0.12 expiry, compression and size are options alone. */
static const iggy_row_t rows_topic_header[] = {
    IGGY_U32(hf_iggy_topic_id, .fact = IGGY_FACT_TOPIC_ID, .label = " |"),
    IGGY_TIME(hf_iggy_created_at, .sentinels = iggy_not_set_0),
    IGGY_U32(hf_iggy_partitions_count, .put = IGGY_REG_COUNT_2, .fact = IGGY_FACT_PARTITIONS_COUNT),
    IGGY_U64(hf_iggy_topic_message_expiry, .until = IGGY_0_11_0, .sentinels = iggy_expiry_sentinels),
    IGGY_U8(hf_iggy_topic_compression_algorithm, .until = IGGY_0_11_0, .flags = IGGY_KNOWN),
    IGGY_U64(hf_iggy_topic_max_topic_size, .until = IGGY_0_11_0, .sentinels = iggy_size_sentinels),
    IGGY_U64(hf_iggy_size_bytes),
    IGGY_U64(hf_iggy_messages_count),
    IGGY_NAME(hf_iggy_topic_name, hf_iggy_topic_name_length, .fact = IGGY_FACT_TOPIC_NAME, .label = ": |",
              .flags = IGGY_NOT_EMPTY),
    IGGY_ROWS(iggy_rows_explicit_options),
    IGGY_ROWS(iggy_rows_derived_options),
    IGGY_ROWS_END
};

/* encodings.md 12.6 */
static const iggy_row_t rows_member[] = {
    IGGY_U8(hf_iggy_partition_member),
    IGGY_ROWS_END
};

static const iggy_row_t rows_in_sync_member[] = {
    IGGY_U8(hf_iggy_partition_in_sync_member),
    IGGY_ROWS_END
};

/* commands.md 3.3 */
static const iggy_row_t rows_partition[] = {
    IGGY_U32(hf_iggy_partition_id, .label = " |"),
    IGGY_TIME(hf_iggy_created_at, .sentinels = iggy_not_set_0),
    IGGY_U32(hf_iggy_segments_count),
    IGGY_U64(hf_iggy_current_offset, .label = ": current offset |"),
    IGGY_U64(hf_iggy_size_bytes),
    IGGY_U64(hf_iggy_messages_count, .label = ", | messages"),
    IGGY_ROWS(iggy_rows_context, .since = IGGY_0_12_0),
    IGGY_U8(hf_iggy_partition_members_count, .since = IGGY_0_12_2, .put = IGGY_REG_COUNT_3),
    IGGY_LIST_BARE(IGGY_REG_COUNT_3, rows_member, 1, .since = IGGY_0_12_2),
    IGGY_U8(hf_iggy_partition_in_sync_members_count, .since = IGGY_0_12_2, .put = IGGY_REG_COUNT_3),
    IGGY_LIST_BARE(IGGY_REG_COUNT_3, rows_in_sync_member, 1, .since = IGGY_0_12_2),
    IGGY_ROWS_END
};

/* commands.md 3.4 */
static const iggy_row_t rows_topic_details[] = {
    { .kind = IGGY_ROW_ROWS, .rows = rows_topic_header, .hf = &hf_iggy_topic, .ett = &ett_iggy_topic,
      .done = topic_done },
    IGGY_LIST(IGGY_REG_COUNT_2, rows_partition, hf_iggy_partition, ett_iggy_partition, 40),
    IGGY_ROWS_END
};

static const iggy_row_t rows_stream_alone[] = {
    { .kind = IGGY_ROW_ROWS, .rows = rows_stream_header, .hf = &hf_iggy_stream, .ett = &ett_iggy_stream,
      .done = stream_done },
    IGGY_ROWS_END
};

/* ---- 200 get_stream ---- */

static const iggy_row_t rows_stream_ident[] = {
    IGGY_IDENT(hf_iggy_stream_id, hf_iggy_stream_name, IGGY_FACT_STREAM_ID),
    IGGY_ROWS_END
};

static const iggy_row_t rows_stream_details[] = {
    IGGY_ROWS(rows_stream_alone),
    IGGY_LIST(IGGY_REG_COUNT, rows_topic_header, hf_iggy_topic, ett_iggy_topic, 41, .flags = IGGY_SCOPED,
              .done = topic_done),
    IGGY_ROWS_END
};

/* Empty: not found. */
static const iggy_row_t rows_get_stream_reply[] = {
    IGGY_ROWS(rows_stream_details, .flags = IGGY_IF_LEFT),
    IGGY_ROWS_END
};

/* ---- 201 get_streams ---- */

static const iggy_row_t rows_get_streams_reply[] = {
    IGGY_REPEAT(rows_stream_header, hf_iggy_stream, ett_iggy_stream, .fact = IGGY_FACT_COUNT, .flags = IGGY_SCOPED,
                .done = stream_done),
    IGGY_ROWS_END
};

/* ---- 202 create_stream ---- */

const iggy_row_t iggy_rows_create_stream[] = {
    IGGY_NAME(hf_iggy_stream_name, hf_iggy_stream_name_length, .fact = IGGY_FACT_STREAM_NAME, .flags = IGGY_NOT_EMPTY),
    IGGY_ROWS(iggy_rows_options),
    IGGY_ROWS_END
};

/* ---- 203 delete_stream, 205 purge_stream (0.11.0) ---- */

const iggy_row_t iggy_rows_delete_stream[] = {
    IGGY_ROWS(rows_stream_ident),
    IGGY_ROWS_END
};

const iggy_row_t iggy_rows_purge_stream[] = {
    IGGY_ROWS(rows_stream_ident),
    IGGY_ROWS_END
};

/* ---- 204 update_stream (0.11.0) ---- */

const iggy_row_t iggy_rows_update_stream[] = {
    IGGY_ROWS(rows_stream_ident),
    IGGY_NAME(hf_iggy_stream_new_name, hf_iggy_stream_new_name_length, .fact = IGGY_FACT_NEW_NAME,
              .flags = IGGY_NOT_EMPTY),
    IGGY_ROWS(iggy_rows_options),
    IGGY_ROWS_END
};

/* ---- 300 get_topic ---- */

/* Empty: not found. */
static const iggy_row_t rows_get_topic_reply[] = {
    IGGY_ROWS(rows_topic_details, .flags = IGGY_IF_LEFT),
    IGGY_ROWS_END
};

/* ---- 301 get_topics: the list has a count, unlike that of streams ---- */

static const iggy_row_t rows_get_topics_reply[] = {
    IGGY_U32(hf_iggy_topics_count, .put = IGGY_REG_COUNT, .fact = IGGY_FACT_COUNT),
    IGGY_LIST(IGGY_REG_COUNT, rows_topic_header, hf_iggy_topic, ett_iggy_topic, 41, .flags = IGGY_SCOPED,
              .done = topic_done),
    IGGY_ROWS_END
};

/* ---- 302 create_topic ---- */

const iggy_row_t iggy_rows_create_topic[] = {
    IGGY_ROWS(rows_stream_ident),
    IGGY_U32(hf_iggy_partitions_count, .put = IGGY_REG_COUNT_2, .fact = IGGY_FACT_PARTITIONS_COUNT),
    IGGY_NAME(hf_iggy_topic_name, hf_iggy_topic_name_length, .fact = IGGY_FACT_TOPIC_NAME, .flags = IGGY_NOT_EMPTY),
    IGGY_ROWS(iggy_rows_options),
    IGGY_ROWS_END
};

/* ---- 303 delete_topic, 305 purge_topic (0.11.0) ---- */

const iggy_row_t iggy_rows_delete_topic[] = {
    IGGY_ROWS(iggy_rows_stream_topic),
    IGGY_ROWS_END
};

const iggy_row_t iggy_rows_purge_topic[] = {
    IGGY_ROWS(iggy_rows_stream_topic),
    IGGY_ROWS_END
};

/* ---- 304 update_topic (0.11.0) ---- */

const iggy_row_t iggy_rows_update_topic[] = {
    IGGY_ROWS(iggy_rows_stream_topic),
    IGGY_NAME(hf_iggy_topic_new_name, hf_iggy_topic_new_name_length, .fact = IGGY_FACT_NEW_NAME, .flags = IGGY_NOT_EMPTY),
    IGGY_ROWS(iggy_rows_options),
    IGGY_ROWS_END
};

/* ---- 402 create_partitions, 403 delete_partitions: how many to add, to remove ---- */

const iggy_row_t iggy_rows_create_partitions[] = {
    IGGY_ROWS(iggy_rows_stream_topic),
    IGGY_U32(hf_iggy_partitions_count, .put = IGGY_REG_COUNT_2, .fact = IGGY_FACT_PARTITIONS_COUNT),
    IGGY_ROWS_END
};

const iggy_row_t iggy_rows_delete_partitions[] = {
    IGGY_ROWS(iggy_rows_stream_topic),
    IGGY_U32(hf_iggy_partitions_count, .fact = IGGY_FACT_PARTITIONS_COUNT),
    IGGY_ROWS_END
};

/* ---- 503 delete_segments ---- */

static const iggy_row_t rows_delete_segments[] = {
    IGGY_ROWS(iggy_rows_stream_topic),
    IGGY_U32(hf_iggy_partition_id, .fact = IGGY_FACT_PARTITION),
    IGGY_U32(hf_iggy_segments_count, .fact = IGGY_FACT_SEGMENTS_COUNT),
    IGGY_ROWS_END
};

const iggy_command_t iggy_commands_streams[] = {
    { .code = 200, .operation = IGGY_OP_NON_REPLICATED, .name = "get_stream", .flags = IGGY_LEARN | IGGY_TELLS,
      .request = rows_stream_ident, .reply = rows_get_stream_reply, .empty = "not found" },
    { .code = 201, .operation = IGGY_OP_NON_REPLICATED, .name = "get_streams", .flags = IGGY_LEARN | IGGY_TELLS,
      .request = iggy_rows_none, .reply = rows_get_streams_reply, .empty = "none" },
    { .code = 202, .operation = 128, .name = "create_stream", .flags = IGGY_LEARN | IGGY_TELLS,
      .request = iggy_rows_create_stream, .reply = rows_stream_alone },
    { .code = 203, .operation = 130, .name = "delete_stream",
      .request = iggy_rows_delete_stream, .reply = iggy_rows_none },
    { .code = 204, .operation = 129, .until = IGGY_0_11_0, .name = "update_stream",
      .request = iggy_rows_update_stream, .reply = iggy_rows_none },
    { .code = 205, .operation = 131, .until = IGGY_0_11_0, .name = "purge_stream",
      .request = iggy_rows_purge_stream, .reply = iggy_rows_none },
    { .code = 300, .operation = IGGY_OP_NON_REPLICATED, .name = "get_topic", .flags = IGGY_LEARN | IGGY_TELLS | IGGY_TELLS_0_12_2,
      .request = iggy_rows_stream_topic, .reply = rows_get_topic_reply, .empty = "not found" },
    { .code = 301, .operation = IGGY_OP_NON_REPLICATED, .name = "get_topics", .flags = IGGY_LEARN | IGGY_TELLS,
      .request = rows_stream_ident, .reply = rows_get_topics_reply },
    { .code = 302, .operation = 132, .name = "create_topic", .flags = IGGY_LEARN | IGGY_TELLS | IGGY_TELLS_0_12_2,
      .request = iggy_rows_create_topic, .reply = rows_topic_details },
    { .code = 303, .operation = 134, .name = "delete_topic",
      .request = iggy_rows_delete_topic, .reply = iggy_rows_none },
    { .code = 304, .operation = 133, .until = IGGY_0_11_0, .name = "update_topic",
      .request = iggy_rows_update_topic, .reply = iggy_rows_none },
    { .code = 305, .operation = 135, .until = IGGY_0_11_0, .name = "purge_topic",
      .request = iggy_rows_purge_topic, .reply = iggy_rows_none },
    { .code = 402, .operation = 136, .name = "create_partitions",
      .request = iggy_rows_create_partitions, .reply = iggy_rows_none },
    { .code = 403, .operation = 137, .name = "delete_partitions",
      .request = iggy_rows_delete_partitions, .reply = iggy_rows_none },
    { .code = 503, .operation = 138, .name = "delete_segments",
      .request = rows_delete_segments, .reply = iggy_rows_none },
    { .name = NULL }
};

void iggy_register_commands_streams(int proto)
{
    static hf_register_info hf[] = {
        { &hf_iggy_stream,
          { "Stream", "iggy.stream", FT_NONE, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_topic,
          { "Topic", "iggy.topic", FT_NONE, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_topic_message_expiry,
          { "Message expiry", "iggy.topic.message_expiry", FT_UINT64, BASE_DEC | BASE_UNIT_STRING,
            &units_microseconds, 0x0, "How long messages are kept", HFILL } },
        { &hf_iggy_topic_compression_algorithm,
          { "Compression algorithm", "iggy.topic.compression_algorithm", FT_UINT8, BASE_DEC,
            VALS(compression_algorithm_vals), 0x0, NULL, HFILL } },
        { &hf_iggy_topic_max_topic_size,
          { "Maximum topic size", "iggy.topic.max_topic_size", FT_UINT64, BASE_DEC | BASE_UNIT_STRING,
            &units_byte_bytes, 0x0, NULL, HFILL } },
        { &hf_iggy_partition,
          { "Partition", "iggy.partition", FT_NONE, BASE_NONE, NULL, 0x0, NULL, HFILL } },
    };
    static int *ett[] = {
        &ett_iggy_stream,
        &ett_iggy_topic,
        &ett_iggy_partition,
    };
    proto_register_field_array(proto, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
}
