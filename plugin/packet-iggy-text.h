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

#include <epan/proto.h>

/* A line of an item, one byte more than Wireshark takes: what is too long is seen. Always ends with 0. */
typedef struct {
    unsigned length;
    char     text[ITEM_LABEL_LENGTH + 1];
} iggy_text_t;

static inline void iggy_text_begin(iggy_text_t *to)
{
    to->length = 0;
    to->text[0] = '\0';
}

/** Begin the line of a field: its name. Functions that take a whole line are cheaper than those that take a value. */
void iggy_text_field(iggy_text_t *to, int hf);
/** Append bytes, as far as there is room. */
void iggy_text_bytes(iggy_text_t *to, const char *from, size_t length);
/** Append a string. */
void iggy_text_string(iggy_text_t *to, const char *from);
/** Append a decimal number. */
void iggy_text_decimal(iggy_text_t *to, uint64_t value);
/** Append 16 hexadecimal digits. */
void iggy_text_hex(iggy_text_t *to, uint64_t value);
/** Append 16 bytes in the order of the wire, grouped as a GUID; without groups the same 32 digits. */
void iggy_text_guid(iggy_text_t *to, const uint8_t *bytes, bool groups);

#endif
