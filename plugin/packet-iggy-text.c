/* packet-iggy-text.c
 * Short texts without printf.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-text.h"

#include <string.h>

/* A byte in hexadecimal: two digits at twice its value. */
static const char hex[] =
    "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f"
    "303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f"
    "606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f808182838485868788898a8b8c8d8e8f"
    "909192939495969798999a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf"
    "c0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedfe0e1e2e3e4e5e6e7e8e9eaebecedeeef"
    "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";

static void put_byte(char *at, uint8_t byte) { memcpy(at, hex + 2 * (size_t)byte, 2); }

void iggy_text_bytes(iggy_text_t *to, const char *from, size_t length)
{
    size_t room = sizeof to->text - 1 - to->length;
    if (length > room)
        length = room;
    memcpy(to->text + to->length, from, length);
    to->length += (unsigned)length;
    to->text[to->length] = '\0';
}

void iggy_text_field(iggy_text_t *to, int hf)
{
    iggy_text_begin(to);
    iggy_text_string(to, proto_registrar_get_nth((unsigned)hf)->name);
    iggy_text_string(to, ": ");
}

void iggy_text_string(iggy_text_t *to, const char *from) { iggy_text_bytes(to, from, strlen(from)); }

void iggy_text_decimal(iggy_text_t *to, uint64_t value)
{
    char digits[20];
    unsigned at = sizeof digits;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    iggy_text_bytes(to, digits + at, sizeof digits - at);
}

void iggy_text_hex(iggy_text_t *to, uint64_t value)
{
    char all[16];
    for (unsigned at = sizeof all; at > 0; value >>= 8)
        put_byte(all + (at -= 2), (uint8_t)value);
    iggy_text_bytes(to, all, sizeof all);
}

void iggy_text_guid(iggy_text_t *to, const uint8_t *bytes, bool groups)
{
    char all[36];
    unsigned at = 0;
    for (unsigned i = 0; i < 16; i++, at += 2) {
        if (groups && (i == 4 || i == 6 || i == 8 || i == 10))
            all[at++] = '-';
        put_byte(all + at, bytes[i]);
    }
    iggy_text_bytes(to, all, at);
}
