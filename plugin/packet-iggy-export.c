/* packet-iggy-export.c
 * File > Export Objects > Iggy: the payload of each message as stream.topic.partition.offset.ext.
 *
 * A message that was polled has an offset; one that is on its way to the server has none and becomes
 * stream.topic.partition.sent-PACKET-N.ext. What servers replicate was sent before, so it is left out; and a message that was
 * polled twice is one file.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-export.h"

#include <string.h>

#include <epan/export_object.h>
#include <epan/tap.h>
#include <wsutil/wsjson.h>
#include <xxhash.h>

#include "packet-iggy-decrypt.h"

#define NAME_LENGTH 80       /* bytes of a stream's or topic's name in a file name: a file name has at most 255 */
#define JSON_LENGTH 16777216 /* longer texts are not parsed to see whether they are JSON */

static int iggy_export_tap;
static GHashTable *exported; /* file name and hash of what was exported, until the window closes */

/* ---- the hook of the batches ---- */

bool iggy_export_wanted(void) { return have_tap_listener(iggy_export_tap) != 0; }

void iggy_export_message(iggy_pdu_t *pdu, const iggy_message_t *message)
{
    if (!iggy_export_wanted())
        return;
    if (!pdu->messages) {
        pdu->messages = wmem_new0(pdu->pinfo->pool, iggy_messages_t);
        pdu->messages->pdu = pdu;
        tap_queue_packet(iggy_export_tap, pdu->pinfo, pdu->messages);
    }
    iggy_message_t *copy = (iggy_message_t *)wmem_memdup(pdu->pinfo->pool, message, sizeof *message);
    copy->next = NULL;
    if (pdu->messages->last)
        pdu->messages->last->next = copy;
    else
        pdu->messages->first = copy;
    pdu->messages->last = copy;
}

/* ---- content types in user headers (encodings.md 9) ---- */

#define STRING_KIND 2
#define ENTRY_MINIMUM 12 /* kind, length and a byte of a key, the same of a value */

static bool is_content_type(tvbuff_t *tvb, int offset, unsigned length)
{
    static const char *const words[] = { "content-type", "content_type", "contenttype" };
    for (unsigned i = 0; i < G_N_ELEMENTS(words); i++)
        if (strlen(words[i]) == length && tvb_strncaseeql(tvb, offset, words[i], length) == 0)
            return true;
    return false;
}

/* Length of the key or value at `offset`, whose head is 5 bytes; 0 if it does not lie before `end`. */
static unsigned part_length(tvbuff_t *tvb, int offset, int end)
{
    if (end - offset < 6)
        return 0;
    uint32_t length = tvb_get_letohl(tvb, offset + 1);
    return length <= (uint32_t)(end - offset - 5) ? length : 0;
}

static const char *find_content_type(wmem_allocator_t *pool, tvbuff_t *tvb, int offset, int end)
{
    while (end - offset >= ENTRY_MINIMUM) {
        unsigned key = part_length(tvb, offset, end);
        int value_at = offset + 5 + (int)key;
        unsigned value = key ? part_length(tvb, value_at, end) : 0;
        if (!value)
            return NULL;
        if (is_content_type(tvb, offset + 5, key) && tvb_get_uint8(tvb, value_at) == STRING_KIND)
            return (const char *)tvb_get_string_enc(pool, tvb, value_at + 5, (int)value, ENC_UTF_8);
        offset = value_at + 5 + (int)value;
    }
    return NULL;
}

const char *iggy_content_type(iggy_walk_t *walk, int offset, int length)
{
    iggy_walk_t dry = *walk;
    dry.mode = IGGY_WALK_FACTS; /* opens encrypted headers without showing them */
    tvbuff_t *clear = iggy_decrypt(&dry, NULL, offset, length, IGGY_REGION_HEADERS);
    if (clear)
        return find_content_type(walk->pdu->pinfo->pool, clear, 0, (int)tvb_captured_length(clear));
    return find_content_type(walk->pdu->pinfo->pool, walk->tvb, offset, offset + length);
}

/* ---- what a payload is ---- */

typedef struct {
    const char *content_type, *extension;
    const char *magic; /* first bytes; NULL: by content type only */
    unsigned    magic_length;
} iggy_kind_t;

#define MAGIC(bytes) (bytes), sizeof(bytes) - 1

static const iggy_kind_t kinds[] = {
    { "application/json", "json", NULL, 0 },
    { "text/json", "json", NULL, 0 },
    { "application/cloudevents+json", "json", NULL, 0 },
    { "text/plain", "txt", NULL, 0 },
    { "text/csv", "csv", NULL, 0 },
    { "text/html", "html", NULL, 0 },
    { "application/xml", "xml", MAGIC("<?xml") },
    { "text/xml", "xml", NULL, 0 },
    { "application/cbor", "cbor", MAGIC("\xd9\xd9\xf7") },
    { "application/msgpack", "msgpack", NULL, 0 },
    { "application/x-msgpack", "msgpack", NULL, 0 },
    { "application/vnd.msgpack", "msgpack", NULL, 0 },
    { "application/protobuf", "pb", NULL, 0 },
    { "application/x-protobuf", "pb", NULL, 0 },
    { "application/vnd.google.protobuf", "pb", NULL, 0 },
    { "application/avro", "avro", MAGIC("Obj\x01") },
    { "application/vnd.apache.parquet", "parquet", MAGIC("PAR1") },
    { "application/pdf", "pdf", MAGIC("%PDF-") },
    { "application/gzip", "gz", MAGIC("\x1f\x8b\x08") },
    { "application/zstd", "zst", MAGIC("\x28\xb5\x2f\xfd") },
    { "application/zip", "zip", MAGIC("PK\x03\x04") },
    { "application/x-lz4", "lz4", MAGIC("\x04\x22\x4d\x18") },
    { "image/png", "png", MAGIC("\x89PNG\r\n\x1a\n") },
    { "image/jpeg", "jpg", MAGIC("\xff\xd8\xff") },
    { "image/gif", "gif", MAGIC("GIF8") },
    { "application/octet-stream", "bin", NULL, 0 },
    { NULL, NULL, NULL, 0 }
};

/* Row of a content type; its parameters ("; charset=utf-8") do not count. */
static const iggy_kind_t *kind_of_type(const char *content_type)
{
    size_t length = strcspn(content_type, "; ");
    for (const iggy_kind_t *kind = kinds; kind->content_type; kind++)
        if (strlen(kind->content_type) == length && g_ascii_strncasecmp(kind->content_type, content_type, length) == 0)
            return kind;
    return NULL;
}

static bool looks_like_json(const uint8_t *data, size_t length)
{
    size_t first = 0;
    while (first < length && g_ascii_isspace(data[first]))
        first++;
    return first < length && (data[first] == '{' || data[first] == '[') && length <= JSON_LENGTH && json_validate(data, length);
}

/* Text: UTF-8 without control characters other than white space. */
static bool looks_like_text(const uint8_t *data, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (data[i] == 0x7f || (data[i] < 0x20 && !g_ascii_isspace(data[i])))
            return false;
    return length > 0 && g_utf8_validate((const char *)data, (gssize)length, NULL);
}

static const iggy_kind_t *kind_of_bytes(const uint8_t *data, size_t length)
{
    for (const iggy_kind_t *kind = kinds; kind->content_type; kind++)
        if (kind->magic && length >= kind->magic_length && memcmp(data, kind->magic, kind->magic_length) == 0)
            return kind;
    if (looks_like_json(data, length))
        return kind_of_type("application/json");
    return kind_of_type(looks_like_text(data, length) ? "text/plain" : "application/octet-stream");
}

/* ---- names of files ---- */

/* A name as a part of a file name: no dot, since dots part the parts, nothing that a file system minds; cut at a character. */
static char *part_of_name(wmem_allocator_t *pool, const char *name)
{
    size_t length = strlen(name);
    if (length > NAME_LENGTH)
        for (length = NAME_LENGTH; length > 0 && ((uint8_t)name[length] & 0xc0) == 0x80;)
            length--;
    char *part = wmem_strndup(pool, name, length);
    for (char *c = part; *c; c++)
        if ((uint8_t)*c <= ' ' || *c == 0x7f || strchr("<>:\"/\\|?*.%", *c))
            *c = '_';
    return part;
}

/* The name of a stream or topic, else its id, else "unknown". */
static const char *part_of_object(const iggy_pdu_t *pdu, iggy_fact_t id)
{
    iggy_fact_t name = (iggy_fact_t)(id + 1);
    if (iggy_has(pdu->facts, name) && pdu->facts->at[name].text)
        return part_of_name(pdu->pinfo->pool, pdu->facts->at[name].text);
    if (iggy_has(pdu->facts, id))
        return wmem_strdup_printf(pdu->pinfo->pool, "%" PRIu64, pdu->facts->at[id].value);
    return "unknown";
}

/* "any" where the server chooses the partition. */
static const char *part_of_partition(const iggy_pdu_t *pdu, const iggy_message_t *message)
{
    if (!message->has_partition && !iggy_has(pdu->facts, IGGY_FACT_PARTITION))
        return "any";
    uint64_t id = message->has_partition ? message->partition : iggy_fact(pdu->facts, IGGY_FACT_PARTITION, 0);
    return wmem_strdup_printf(pdu->pinfo->pool, "%" PRIu64, id);
}

static char *file_name(const iggy_pdu_t *pdu, const iggy_message_t *message, unsigned number, const char *extension)
{
    wmem_allocator_t *pool = pdu->pinfo->pool;
    const char *last = message->has_offset ? wmem_strdup_printf(pool, "%" PRIu64, message->offset)
                                           : wmem_strdup_printf(pool, "sent-%u-%u", pdu->pinfo->num, number);
    return g_strdup_printf("%s.%s.%s.%s.%s", part_of_object(pdu, IGGY_FACT_STREAM_ID), part_of_object(pdu, IGGY_FACT_TOPIC_ID),
                           part_of_partition(pdu, message), last, extension);
}

/* ---- the tap ---- */

/* Whether the same bytes went out under this name already; notes that they do now. */
static bool exported_before(const char *name, const uint8_t *data, size_t length)
{
    if (!exported)
        exported = g_hash_table_new_full(wmem_str_hash, g_str_equal, g_free, NULL);
    char *key = g_strdup_printf("%016" PRIx64 " %s", (uint64_t)XXH3_64bits(data, length), name);
    return !g_hash_table_add(exported, key);
}

static void forget_exported(void)
{
    if (exported)
        g_hash_table_destroy(exported);
    exported = NULL;
}

/* One entry; the list owns what is in it. False if it was there before. */
static bool add_entry(export_object_list_t *list, const iggy_pdu_t *pdu, const iggy_message_t *message, unsigned number)
{
    size_t length = tvb_captured_length(message->payload);
    const uint8_t *data = length ? tvb_get_ptr(message->payload, 0, (int)length) : (const uint8_t *)"";
    const iggy_kind_t *kind = message->content_type ? kind_of_type(message->content_type) : NULL;
    const iggy_kind_t *guess = kind ? kind : kind_of_bytes(data, length);
    char *name = file_name(pdu, message, number, guess->extension);
    if (exported_before(name, data, length)) {
        g_free(name);
        return false;
    }
    export_object_entry_t *entry = g_new0(export_object_entry_t, 1);
    entry->pkt_num = pdu->pinfo->num;
    entry->hostname = g_strdup_printf("%s/%s", part_of_object(pdu, IGGY_FACT_STREAM_ID), part_of_object(pdu, IGGY_FACT_TOPIC_ID));
    entry->content_type = g_strdup(message->content_type ? message->content_type : guess->content_type);
    entry->filename = name;
    entry->payload_len = length;
    entry->payload_data = (uint8_t *)g_memdup2(data, length);
    list->add_entry(list->gui_data, entry);
    return true;
}

static tap_packet_status export_packet(void *tapdata, packet_info *pinfo _U_, epan_dissect_t *edt _U_, const void *data,
                                       tap_flags_t flags _U_)
{
    const iggy_messages_t *messages = (const iggy_messages_t *)data;
    const iggy_pdu_t *pdu = messages->pdu;
    if (pdu->command != IGGY_REQUEST && pdu->command != IGGY_REPLY)
        return TAP_PACKET_DONT_REDRAW;
    bool any = false;
    unsigned number = 0;
    for (const iggy_message_t *message = messages->first; message; message = message->next)
        any |= add_entry((export_object_list_t *)tapdata, pdu, message, number++);
    return any ? TAP_PACKET_REDRAW : TAP_PACKET_DONT_REDRAW;
}

void iggy_register_export(int proto) { iggy_export_tap = register_export_object(proto, export_packet, forget_exported); }
