/* test_text.c
 * Numbers and ids written without printf: the same as with it, and never beyond the buffer.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-text.h"

#include <inttypes.h>
#include <stdio.h>

static void compare(uint64_t value)
{
    char buffer[64], wanted[64];
    iggy_text_t text;
    iggy_text_begin(&text, buffer, sizeof buffer);
    iggy_text_decimal(&text, value);
    iggy_text_string(&text, " ");
    iggy_text_hex(&text, value, 16);
    iggy_text_string(&text, " ");
    iggy_text_hex(&text, value, 8);
    int length = snprintf(wanted, sizeof wanted, "%" PRIu64 " %016" PRIx64 " %08" PRIx32, value, value, (uint32_t)value);
    g_assert_cmpstr(buffer, ==, wanted);
    g_assert_cmpuint(text.length, ==, (unsigned)length);
}

/* Each number of digits, at both of its ends, and what is between. */
static void test_numbers(void)
{
    compare(0);
    compare(UINT64_MAX);
    for (uint64_t power = 1; power < UINT64_MAX / 10; power *= 10)
        for (uint64_t digit = 1; digit < 10; digit++) {
            compare(power * digit - 1);
            compare(power * digit);
            compare(power * digit + power / 3);
        }
}

static void test_guid(void)
{
    static const uint8_t bytes[] = { 0, 1, 0x7f, 0x80, 0xff, 0x0a, 0xa0, 9, 0x90, 0x10, 0xde, 0xad, 0xbe, 0xef, 0x5a, 0xa5 };
    char buffer[80];
    iggy_text_t text;
    iggy_text_begin(&text, buffer, sizeof buffer);
    iggy_text_guid(&text, bytes, true);
    iggy_text_string(&text, " ");
    iggy_text_guid(&text, bytes, false);
    g_assert_cmpstr(buffer, ==, "00017f80-ff0a-a009-9010-deadbeef5aa5 00017f80ff0aa0099010deadbeef5aa5");
}

/* What is too long is cut, in buffers of every size, and the byte behind them is left alone. */
static void test_room(void)
{
    static const char all[] = "stream 12345 0x00ff";
    for (size_t size = 1; size <= sizeof all + 2; size++) {
        char buffer[sizeof all + 3], wanted[sizeof all];
        iggy_text_t text;
        memset(buffer, '#', sizeof buffer);
        iggy_text_begin(&text, buffer, size);
        iggy_text_string(&text, "stream ");
        iggy_text_decimal(&text, 12345);
        iggy_text_bytes(&text, " 0x#", 3);
        iggy_text_hex(&text, 255, 4);
        g_strlcpy(wanted, all, MIN(size, sizeof wanted));
        g_assert_cmpstr(buffer, ==, wanted);
        g_assert_cmpuint(text.length, ==, (unsigned)strlen(wanted));
        g_assert_cmpint(buffer[size], ==, '#');
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/text/numbers", test_numbers);
    g_test_add_func("/text/guid", test_guid);
    g_test_add_func("/text/room", test_room);
    return g_test_run();
}
