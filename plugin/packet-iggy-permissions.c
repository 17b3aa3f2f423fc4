/* packet-iggy-permissions.c
 * Permissions of users: what holds everywhere, on a stream, on a topic (encodings.md 11).
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-permissions.h"

#include <string.h>

#include "packet-iggy-fields.h"

static int hf_iggy_permission = IGGY_UNREGISTERED;
static int hf_iggy_permission_length = IGGY_UNREGISTERED;
static int hf_iggy_permission_manage_servers = IGGY_UNREGISTERED;
static int hf_iggy_permission_read_servers = IGGY_UNREGISTERED;
static int hf_iggy_permission_manage_users = IGGY_UNREGISTERED;
static int hf_iggy_permission_read_users = IGGY_UNREGISTERED;
static int hf_iggy_permission_manage_streams = IGGY_UNREGISTERED;
static int hf_iggy_permission_read_streams = IGGY_UNREGISTERED;
static int hf_iggy_permission_manage_topics = IGGY_UNREGISTERED;
static int hf_iggy_permission_read_topics = IGGY_UNREGISTERED;
static int hf_iggy_permission_poll_messages = IGGY_UNREGISTERED;
static int hf_iggy_permission_send_messages = IGGY_UNREGISTERED;
static int hf_iggy_permission_has_streams = IGGY_UNREGISTERED;

static int hf_iggy_permission_stream = IGGY_UNREGISTERED;
static int hf_iggy_permission_stream_manage_stream = IGGY_UNREGISTERED;
static int hf_iggy_permission_stream_read_stream = IGGY_UNREGISTERED;
static int hf_iggy_permission_stream_manage_topics = IGGY_UNREGISTERED;
static int hf_iggy_permission_stream_read_topics = IGGY_UNREGISTERED;
static int hf_iggy_permission_stream_poll_messages = IGGY_UNREGISTERED;
static int hf_iggy_permission_stream_send_messages = IGGY_UNREGISTERED;
static int hf_iggy_permission_stream_has_topics = IGGY_UNREGISTERED;
static int hf_iggy_permission_has_next_stream = IGGY_UNREGISTERED;

static int hf_iggy_permission_topic = IGGY_UNREGISTERED;
static int hf_iggy_permission_topic_manage_topic = IGGY_UNREGISTERED;
static int hf_iggy_permission_topic_read_topic = IGGY_UNREGISTERED;
static int hf_iggy_permission_topic_poll_messages = IGGY_UNREGISTERED;
static int hf_iggy_permission_topic_send_messages = IGGY_UNREGISTERED;
static int hf_iggy_permission_has_next_topic = IGGY_UNREGISTERED;

static int ett_iggy_permission = IGGY_UNREGISTERED;
static int ett_iggy_permission_stream = IGGY_UNREGISTERED;
static int ett_iggy_permission_topic = IGGY_UNREGISTERED;

static void list_topic(iggy_walk_t *walk, proto_item *item, int start, int end);
static void list_stream(iggy_walk_t *walk, proto_item *item, int start, int end);
static void list_everywhere(iggy_walk_t *walk, proto_item *item, int start, int end);

/* The byte that says whether a first entry follows and the one that says whether another does are one register. */
static const iggy_row_t rows_topic[] = {
    IGGY_U32(hf_iggy_topic_id, .label = " |"),
    IGGY_U8(hf_iggy_permission_topic_manage_topic),
    IGGY_U8(hf_iggy_permission_topic_read_topic),
    IGGY_U8(hf_iggy_permission_topic_poll_messages),
    IGGY_U8(hf_iggy_permission_topic_send_messages),
    IGGY_U8(hf_iggy_permission_has_next_topic, .put = IGGY_REG_HAS_TOPICS),
    IGGY_ROWS_END
};

static const iggy_row_t rows_stream[] = {
    IGGY_U32(hf_iggy_stream_id, .label = " |"),
    IGGY_U8(hf_iggy_permission_stream_manage_stream),
    IGGY_U8(hf_iggy_permission_stream_read_stream),
    IGGY_U8(hf_iggy_permission_stream_manage_topics),
    IGGY_U8(hf_iggy_permission_stream_read_topics),
    IGGY_U8(hf_iggy_permission_stream_poll_messages),
    IGGY_U8(hf_iggy_permission_stream_send_messages),
    IGGY_U8(hf_iggy_permission_stream_has_topics, .put = IGGY_REG_HAS_TOPICS),
    IGGY_WHILE(IGGY_REG_HAS_TOPICS, rows_topic, hf_iggy_permission_topic, ett_iggy_permission_topic, .done = list_topic),
    IGGY_U8(hf_iggy_permission_has_next_stream, .put = IGGY_REG_HAS_STREAMS),
    IGGY_ROWS_END
};

const iggy_row_t iggy_rows_permissions[] = {
    IGGY_U8(hf_iggy_permission_manage_servers),
    IGGY_U8(hf_iggy_permission_read_servers),
    IGGY_U8(hf_iggy_permission_manage_users),
    IGGY_U8(hf_iggy_permission_read_users),
    IGGY_U8(hf_iggy_permission_manage_streams),
    IGGY_U8(hf_iggy_permission_read_streams),
    IGGY_U8(hf_iggy_permission_manage_topics),
    IGGY_U8(hf_iggy_permission_read_topics),
    IGGY_U8(hf_iggy_permission_poll_messages),
    IGGY_U8(hf_iggy_permission_send_messages),
    IGGY_U8(hf_iggy_permission_has_streams, .put = IGGY_REG_HAS_STREAMS),
    IGGY_WHILE(IGGY_REG_HAS_STREAMS, rows_stream, hf_iggy_permission_stream, ett_iggy_permission_stream,
               .done = list_stream),
    IGGY_ROWS_END
};

const iggy_row_t iggy_rows_permissions_block[] = {
    IGGY_BLOCK(4, hf_iggy_permission_length, iggy_rows_permissions, hf_iggy_permission, ett_iggy_permission,
               .done = list_everywhere),
    IGGY_ROWS_END
};

/* The flags that are set, by the last word of their names, on the line of the entry; `rows` are those of the entry. */
static void list_granted(iggy_walk_t *walk, proto_item *item, int offset, const iggy_row_t *rows)
{
    const char *separator = ": ";
    for (const iggy_row_t *row = rows; row->kind == IGGY_ROW_ITEM; offset += row->size, row++) {
        if (row->size != 1 || row->put || tvb_get_uint8(walk->tvb, offset) == 0)
            continue;
        const char *name = strrchr(proto_registrar_get_abbrev((unsigned)*row->hf), '.');
        proto_item_append_text(item, "%s%s", separator, name ? name + 1 : "");
        separator = ", ";
    }
    if (separator[0] == ':')
        proto_item_append_text(item, ": none");
}

static void list_topic(iggy_walk_t *walk, proto_item *item, int start, int end _U_)
{
    if (iggy_walk_shows(walk))
        list_granted(walk, item, start, rows_topic);
}

static void list_stream(iggy_walk_t *walk, proto_item *item, int start, int end _U_)
{
    if (iggy_walk_shows(walk))
        list_granted(walk, item, start, rows_stream);
}

static void list_everywhere(iggy_walk_t *walk, proto_item *item, int start, int end)
{
    if (iggy_walk_shows(walk) && end - start > 10)
        list_granted(walk, item, start, iggy_rows_permissions);
}

void iggy_register_permissions(int proto)
{
    static hf_register_info hf[] = {
        { &hf_iggy_permission,
          { "Permissions", "iggy.permission", FT_NONE, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_permission_length,
          { "Length of the permissions", "iggy.permission.length", FT_UINT32, BASE_DEC, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_permission_manage_servers,
          { "Manage servers", "iggy.permission.manage_servers", FT_BOOLEAN, BASE_NONE, NULL, 0x0,
            "Everywhere", HFILL } },
        { &hf_iggy_permission_read_servers,
          { "Read servers", "iggy.permission.read_servers", FT_BOOLEAN, BASE_NONE, NULL, 0x0, "Everywhere", HFILL } },
        { &hf_iggy_permission_manage_users,
          { "Manage users", "iggy.permission.manage_users", FT_BOOLEAN, BASE_NONE, NULL, 0x0, "Everywhere", HFILL } },
        { &hf_iggy_permission_read_users,
          { "Read users", "iggy.permission.read_users", FT_BOOLEAN, BASE_NONE, NULL, 0x0, "Everywhere", HFILL } },
        { &hf_iggy_permission_manage_streams,
          { "Manage streams", "iggy.permission.manage_streams", FT_BOOLEAN, BASE_NONE, NULL, 0x0,
            "Everywhere", HFILL } },
        { &hf_iggy_permission_read_streams,
          { "Read streams", "iggy.permission.read_streams", FT_BOOLEAN, BASE_NONE, NULL, 0x0, "Everywhere", HFILL } },
        { &hf_iggy_permission_manage_topics,
          { "Manage topics", "iggy.permission.manage_topics", FT_BOOLEAN, BASE_NONE, NULL, 0x0, "Everywhere", HFILL } },
        { &hf_iggy_permission_read_topics,
          { "Read topics", "iggy.permission.read_topics", FT_BOOLEAN, BASE_NONE, NULL, 0x0, "Everywhere", HFILL } },
        { &hf_iggy_permission_poll_messages,
          { "Poll messages", "iggy.permission.poll_messages", FT_BOOLEAN, BASE_NONE, NULL, 0x0, "Everywhere", HFILL } },
        { &hf_iggy_permission_send_messages,
          { "Send messages", "iggy.permission.send_messages", FT_BOOLEAN, BASE_NONE, NULL, 0x0, "Everywhere", HFILL } },
        { &hf_iggy_permission_has_streams,
          { "Stream entries follow", "iggy.permission.has_streams", FT_BOOLEAN, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_permission_stream,
          { "Stream", "iggy.permission.stream", FT_NONE, BASE_NONE, NULL, 0x0, "Permissions on one stream", HFILL } },
        { &hf_iggy_permission_stream_manage_stream,
          { "Manage stream", "iggy.permission.stream.manage_stream", FT_BOOLEAN, BASE_NONE, NULL, 0x0,
            "On this stream", HFILL } },
        { &hf_iggy_permission_stream_read_stream,
          { "Read stream", "iggy.permission.stream.read_stream", FT_BOOLEAN, BASE_NONE, NULL, 0x0,
            "On this stream", HFILL } },
        { &hf_iggy_permission_stream_manage_topics,
          { "Manage topics", "iggy.permission.stream.manage_topics", FT_BOOLEAN, BASE_NONE, NULL, 0x0,
            "On this stream", HFILL } },
        { &hf_iggy_permission_stream_read_topics,
          { "Read topics", "iggy.permission.stream.read_topics", FT_BOOLEAN, BASE_NONE, NULL, 0x0,
            "On this stream", HFILL } },
        { &hf_iggy_permission_stream_poll_messages,
          { "Poll messages", "iggy.permission.stream.poll_messages", FT_BOOLEAN, BASE_NONE, NULL, 0x0,
            "On this stream", HFILL } },
        { &hf_iggy_permission_stream_send_messages,
          { "Send messages", "iggy.permission.stream.send_messages", FT_BOOLEAN, BASE_NONE, NULL, 0x0,
            "On this stream", HFILL } },
        { &hf_iggy_permission_stream_has_topics,
          { "Topic entries follow", "iggy.permission.stream.has_topics", FT_BOOLEAN, BASE_NONE, NULL, 0x0,
            NULL, HFILL } },
        { &hf_iggy_permission_has_next_stream,
          { "Another stream entry follows", "iggy.permission.has_next_stream", FT_BOOLEAN, BASE_NONE, NULL, 0x0,
            NULL, HFILL } },
        { &hf_iggy_permission_topic,
          { "Topic", "iggy.permission.topic", FT_NONE, BASE_NONE, NULL, 0x0, "Permissions on one topic", HFILL } },
        { &hf_iggy_permission_topic_manage_topic,
          { "Manage topic", "iggy.permission.topic.manage_topic", FT_BOOLEAN, BASE_NONE, NULL, 0x0,
            "On this topic", HFILL } },
        { &hf_iggy_permission_topic_read_topic,
          { "Read topic", "iggy.permission.topic.read_topic", FT_BOOLEAN, BASE_NONE, NULL, 0x0,
            "On this topic", HFILL } },
        { &hf_iggy_permission_topic_poll_messages,
          { "Poll messages", "iggy.permission.topic.poll_messages", FT_BOOLEAN, BASE_NONE, NULL, 0x0,
            "On this topic", HFILL } },
        { &hf_iggy_permission_topic_send_messages,
          { "Send messages", "iggy.permission.topic.send_messages", FT_BOOLEAN, BASE_NONE, NULL, 0x0,
            "On this topic", HFILL } },
        { &hf_iggy_permission_has_next_topic,
          { "Another topic entry follows", "iggy.permission.has_next_topic", FT_BOOLEAN, BASE_NONE, NULL, 0x0,
            NULL, HFILL } },
    };
    static int *ett[] = {
        &ett_iggy_permission,
        &ett_iggy_permission_stream,
        &ett_iggy_permission_topic,
    };
    proto_register_field_array(proto, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
}
