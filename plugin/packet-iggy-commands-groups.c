/* packet-iggy-commands-groups.c
 * Commands of consumer groups (commands.md 8).
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

static int hf_iggy_consumer_group = IGGY_UNREGISTERED;
static int hf_iggy_consumer_group_generation = IGGY_UNREGISTERED;
static int hf_iggy_consumer_group_member = IGGY_UNREGISTERED;
int hf_iggy_consumer_group_member_id = IGGY_UNREGISTERED;

static int ett_iggy_consumer_group = IGGY_UNREGISTERED;
static int ett_iggy_consumer_group_member = IGGY_UNREGISTERED;

/* ---- shared by replies ---- */

/* "Consumer group 1: readers, 12 partitions, 2 members" */
static void group_done(iggy_walk_t *walk, proto_item *item, int start, int end)
{
    if (item && end - start >= 12) {
        uint32_t partitions = tvb_get_letohl(walk->tvb, start + 4);
        uint32_t members = tvb_get_letohl(walk->tvb, start + 8);
        proto_item_append_text(item, ", %u partition%s, %u member%s", partitions, plurality(partitions, "", "s"), members,
                               plurality(members, "", "s"));
    }
    iggy_learn_consumer_group(walk, item, start, end);
}

/* commands.md 3.7 */
static const iggy_row_t rows_group_header[] = {
    IGGY_U32(hf_iggy_consumer_group_id, .fact = IGGY_FACT_CONSUMER_GROUP_ID, .label = " |"),
    IGGY_U32(hf_iggy_partitions_count, .fact = IGGY_FACT_PARTITIONS_COUNT),
    IGGY_U32(hf_iggy_members_count, .put = IGGY_REG_COUNT),
    IGGY_NAME(hf_iggy_consumer_group_name, hf_iggy_consumer_group_name_length, .fact = IGGY_FACT_CONSUMER_GROUP_NAME,
              .label = ": |", .flags = IGGY_NOT_EMPTY),
    IGGY_ROWS_END
};

/* commands.md 3.8 */
static const iggy_row_t rows_group_member[] = {
    IGGY_U32(hf_iggy_consumer_group_member_id, .label = " |"),
    IGGY_U32(hf_iggy_partitions_count, .put = IGGY_REG_COUNT_2, .label = ", partitions: |"),
    IGGY_LIST_BARE(IGGY_REG_COUNT_2, iggy_rows_partition_id, 4),
    IGGY_ROWS_END
};

static const iggy_row_t rows_group_details[] = {
    { .kind = IGGY_ROW_ROWS, .rows = rows_group_header, .hf = &hf_iggy_consumer_group, .ett = &ett_iggy_consumer_group,
      .done = group_done },
    IGGY_LIST(IGGY_REG_COUNT, rows_group_member, hf_iggy_consumer_group_member, ett_iggy_consumer_group_member, 8),
    IGGY_ROWS_END
};

/* ---- 600 get_consumer_group ---- */

/* Empty: not found. */
static const iggy_row_t rows_get_group_reply[] = {
    IGGY_ROWS(rows_group_details, .flags = IGGY_IF_LEFT),
    IGGY_ROWS_END
};

/* ---- 601 get_consumer_groups ---- */

static const iggy_row_t rows_get_groups_reply[] = {
    IGGY_REPEAT(rows_group_header, hf_iggy_consumer_group, ett_iggy_consumer_group, .fact = IGGY_FACT_COUNT,
                .flags = IGGY_SCOPED, .done = group_done),
    IGGY_ROWS_END
};

/* ---- 602 create_consumer_group ---- */

const iggy_row_t iggy_rows_create_consumer_group[] = {
    IGGY_ROWS(iggy_rows_stream_topic),
    IGGY_NAME(hf_iggy_consumer_group_name, hf_iggy_consumer_group_name_length, .fact = IGGY_FACT_CONSUMER_GROUP_NAME,
              .flags = IGGY_NOT_EMPTY),
    IGGY_ROWS_END
};

/* ---- 603 delete_consumer_group; 604 join, 605 leave, 606 sync ask the same ---- */

const iggy_row_t iggy_rows_delete_consumer_group[] = {
    IGGY_ROWS(iggy_rows_stream_topic_group),
    IGGY_ROWS_END
};

/* ---- 606 sync_consumer_group ---- */

static const iggy_row_t rows_sync_group[] = {
    IGGY_U64(hf_iggy_consumer_group_generation),
    IGGY_U32(hf_iggy_partitions_count, .put = IGGY_REG_COUNT, .fact = IGGY_FACT_PARTITIONS_COUNT),
    IGGY_LIST_BARE(IGGY_REG_COUNT, iggy_rows_partition_id, 4),
    IGGY_ROWS_END
};

/* Empty: not a member. */
static const iggy_row_t rows_sync_group_reply[] = {
    IGGY_ROWS(rows_sync_group, .flags = IGGY_IF_LEFT),
    IGGY_ROWS_END
};

const iggy_command_t iggy_commands_groups[] = {
    { .code = 600, .operation = IGGY_OP_NON_REPLICATED, .name = "get_consumer_group", .flags = IGGY_LEARN,
      .request = iggy_rows_stream_topic_group, .reply = rows_get_group_reply, .empty = "not found" },
    { .code = 601, .operation = IGGY_OP_NON_REPLICATED, .name = "get_consumer_groups", .flags = IGGY_LEARN,
      .request = iggy_rows_stream_topic, .reply = rows_get_groups_reply, .empty = "none" },
    { .code = 602, .operation = 139, .name = "create_consumer_group", .flags = IGGY_LEARN,
      .request = iggy_rows_create_consumer_group, .reply = rows_group_details },
    { .code = 603, .operation = 140, .name = "delete_consumer_group",
      .request = iggy_rows_delete_consumer_group, .reply = iggy_rows_none },
    { .code = 604, .operation = 148, .name = "join_consumer_group",
      .request = iggy_rows_stream_topic_group, .reply = iggy_rows_none },
    { .code = 605, .operation = 149, .name = "leave_consumer_group",
      .request = iggy_rows_stream_topic_group, .reply = iggy_rows_none },
    { .code = 606, .operation = IGGY_OP_NON_REPLICATED, .name = "sync_consumer_group",
      .request = iggy_rows_stream_topic_group, .reply = rows_sync_group_reply, .empty = "not a member" },
    { .name = NULL }
};

void iggy_register_commands_groups(int proto)
{
    static hf_register_info hf[] = {
        { &hf_iggy_consumer_group,
          { "Consumer group", "iggy.consumer_group", FT_NONE, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_consumer_group_generation,
          { "Generation", "iggy.consumer_group.generation", FT_UINT64, BASE_DEC, NULL, 0x0,
            "Counts the changes of the group's assignment", HFILL } },
        { &hf_iggy_consumer_group_member,
          { "Member", "iggy.consumer_group.member", FT_NONE, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_consumer_group_member_id,
          { "Member", "iggy.consumer_group.member.id", FT_UINT32, BASE_DEC, NULL, 0x0,
            "Id of the member within its group", HFILL } },
    };
    static int *ett[] = {
        &ett_iggy_consumer_group,
        &ett_iggy_consumer_group_member,
    };
    proto_register_field_array(proto, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
}
