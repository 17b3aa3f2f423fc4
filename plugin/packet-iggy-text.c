/* packet-iggy-text.c
 * Short texts without printf.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-text.h"

#include "packet-iggy-wanted.h"

/* A byte in hexadecimal: two digits at twice its value. */
static const char hex[] =
    "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f"
    "303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f"
    "606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f808182838485868788898a8b8c8d8e8f"
    "909192939495969798999a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf"
    "c0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedfe0e1e2e3e4e5e6e7e8e9eaebecedeeef"
    "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";

/* 0 to 99, two digits each. */
static const char decimal[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748"
    "49505152535455565758596061626364656667686970717273747576777879808182838485868788899091929394959697"
    "9899";

static inline char *put_bytes(char *at, const uint8_t *bytes, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        memcpy(at + 2 * (size_t)i, hex + 2 * (size_t)bytes[i], 2);
    return at + 2 * (size_t)count;
}

void iggy_text_decimal(iggy_text_t *to, uint64_t value)
{
    char digits[20];
    unsigned at = sizeof digits;
    for (; value >= 100; value /= 100)
        memcpy(digits + (at -= 2), decimal + 2 * (value % 100), 2);
    if (value >= 10)
        memcpy(digits + (at -= 2), decimal + 2 * value, 2);
    else
        digits[--at] = (char)('0' + value);
    iggy_text_bytes(to, digits + at, sizeof digits - at);
}

void iggy_text_hex(iggy_text_t *to, uint64_t value, unsigned digits)
{
    char all[16];
    uint64_t big_endian = GUINT64_TO_BE(value);
    put_bytes(all, (const uint8_t *)&big_endian, sizeof big_endian);
    iggy_text_bytes(to, all + sizeof all - digits, digits);
}

void iggy_text_guid(iggy_text_t *to, const uint8_t *bytes, bool groups)
{
    char all[36], *at = all;
    if (groups) {
        static const uint8_t ends[] = { 4, 6, 8, 10 };
        unsigned done = 0;
        for (unsigned i = 0; i < sizeof ends; done = ends[i++]) {
            at = put_bytes(at, bytes + done, ends[i] - done);
            *at++ = '-';
        }
        put_bytes(at, bytes + done, 16 - done);
    } else {
        put_bytes(at, bytes, 16);
    }
    iggy_text_bytes(to, all, groups ? sizeof all : 32); /* not at - all: where GCC sees the room it warns */
}

/* ---- lines of items ---- */

/* Eight bytes at a time: one below 0x20, or 0x7f. */
static bool has_controls(const char *text, size_t length)
{
    const uint64_t ones = UINT64_MAX / 0xff, high = ones << 7;
    uint64_t word, found = 0;
    for (; length >= sizeof word; length -= sizeof word, text += sizeof word) {
        memcpy(&word, text, sizeof word);
        uint64_t other = word ^ ones * 0x7f;
        found |= ((word - ones * 0x20) & ~word & high) | ((other - ones) & ~other & high);
    }
    for (; length; length--, text++)
        found |= g_ascii_iscntrl(*text);
    return found != 0;
}

/* Items without a value: their line is theirs alone. Of others Wireshark remembers where in the line the value stands. */
static bool is_heading(const proto_item *item)
{
    enum ftenum type = PITEM_FINFO(item)->hfinfo->type;
    return type == FT_NONE || type == FT_PROTOCOL;
}

void iggy_line_begin(iggy_line_t *line, proto_item *item)
{
    const field_info *field = PITEM_FINFO(item);
    iggy_text_begin(&line->text, line->buffer, sizeof line->buffer);
    if (!field->rep && !is_heading(item))
        proto_item_append_text(item, "%s", ""); /* makes it */
    iggy_text_string(&line->text, field->rep ? field->rep->representation : field->hfinfo->name);
    line->before = line->text.length;
}

void iggy_line_field(iggy_line_t *line, int hf)
{
    iggy_text_begin(&line->text, line->buffer, sizeof line->buffer);
    iggy_text_string(&line->text, iggy_field_info(hf)->name);
    iggy_text_string(&line->text, ": ");
    line->before = line->text.length;
}

/* Wireshark 4.0 takes the text as it is and cuts it at a byte: PDML then is no UTF-8 any more. */
void iggy_line_end(iggy_line_t *line, proto_item *item)
{
    iggy_text_t *text = &line->text;
    if (text->length == line->before)
        return;
    const char *added = text->text + line->before;
    if (has_controls(added, text->length - line->before)) {
        const char *escaped = iggy_format_text(PNODE_POOL(item), added, text->length - line->before);
        text->length = line->before;
        iggy_text_string(text, escaped);
    }
    if (text->length >= ITEM_LABEL_LENGTH) {
        unsigned end = ITEM_LABEL_LENGTH - 1;
        while (end && ((uint8_t)text->text[end] & 0xc0) == 0x80)
            end--;
        text->text[end] = '\0';
    }
    if (is_heading(item))
        proto_item_set_text(item, "%s", text->text);
    else
        proto_item_append_text(item, "%s", text->text + line->before);
}

void iggy_append_strings(proto_item *item, const char *before, const char *value, const char *after)
{
    if (!item || !PITEM_FINFO(item) || !PTREE_DATA(item)->visible)
        return;
    iggy_line_t line;
    iggy_line_begin(&line, item);
    iggy_text_string(&line.text, before);
    iggy_text_string(&line.text, value);
    iggy_text_string(&line.text, after);
    iggy_line_end(&line, item);
}
