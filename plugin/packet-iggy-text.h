/* packet-iggy-text.h
 * Short texts without printf: lines of items and frames are made for each of them, and printf would be most of their cost.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_TEXT_H
#define PACKET_IGGY_TEXT_H

#include "packet-iggy-compat.h"

#include <string.h>

#include <epan/proto.h>

/* A text in a buffer of the caller's. Always ends with 0. */
typedef struct {
    char    *text;
    unsigned length, room; /* bytes, without the 0 */
} iggy_text_t;

/** Begin an empty text in `size` bytes at `buffer`. */
static inline void iggy_text_begin(iggy_text_t *to, char *buffer, size_t size)
{
    to->text = buffer;
    to->length = 0;
    to->room = (unsigned)size - 1;
    buffer[0] = '\0';
}

/** Append bytes, as far as there is room. Constant texts are copied in place. */
static inline void iggy_text_bytes(iggy_text_t *to, const char *from, size_t length)
{
    size_t room = to->room - to->length;
    if (length <= room) {
        memcpy(to->text + to->length, from, length); /* of a constant length for a constant text */
        to->length += (unsigned)length;
    } else {
        memcpy(to->text + to->length, from, room);
        to->length = to->room;
    }
    to->text[to->length] = '\0';
}

/** Append a string. */
static inline void iggy_text_string(iggy_text_t *to, const char *from) { iggy_text_bytes(to, from, strlen(from)); }

/** Append a decimal number. */
void iggy_text_decimal(iggy_text_t *to, uint64_t value);
/** Append the last `digits` hexadecimal digits, 16 at most. */
void iggy_text_hex(iggy_text_t *to, uint64_t value, unsigned digits);
/** Append 16 bytes in the order of the wire, grouped as a GUID; without groups the same 32 digits. */
void iggy_text_guid(iggy_text_t *to, const uint8_t *bytes, bool groups);

/* The line of an item that is being made. */
typedef struct {
    iggy_text_t text;
    unsigned    before; /* bytes that the item said before */
    char        buffer[ITEM_LABEL_LENGTH + 1]; /* one byte more than Wireshark takes: what is too long is seen */
} iggy_line_t;

/**
 * Begin the line of a visible item with what it says already. What is appended to `line->text` then comes into the tree with
 * iggy_line_end(): one copy, where proto_item_append_text() makes the line, measures it and prints behind it. Until then nobody
 * else may append to the item.
 */
void iggy_line_begin(iggy_line_t *line, proto_item *item);
/** Begin the whole line of a field that is to be added with a format: its name. Cheaper for Wireshark than a value alone. */
void iggy_line_field(iggy_line_t *line, int hf);
/** Give the item its line, what is new with control characters escaped; too long a line ends before a character. */
void iggy_line_end(iggy_line_t *line, proto_item *item);
/** Append "before value after" to the line of an item, if somebody sees it. */
void iggy_append_strings(proto_item *item, const char *before, const char *value, const char *after);

#endif
