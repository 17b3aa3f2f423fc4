/* packet-iggy-text.c
 * Short texts without printf.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-text.h"

#include <string.h>

static const char hex[] = "0123456789abcdef";

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

void iggy_text_hex(iggy_text_t *to, uint64_t value, unsigned digits)
{
    char all[16];
    for (unsigned at = digits; at > 0; value >>= 4)
        all[--at] = hex[value & 0xf];
    iggy_text_bytes(to, all, digits);
}

void iggy_text_guid(iggy_text_t *to, const uint8_t *bytes, bool groups)
{
    char all[36];
    unsigned at = 0;
    for (unsigned i = 0; i < 16; i++) {
        if (groups && (i == 4 || i == 6 || i == 8 || i == 10))
            all[at++] = '-';
        all[at++] = hex[bytes[i] >> 4];
        all[at++] = hex[bytes[i] & 0xf];
    }
    iggy_text_bytes(to, all, at);
}
