/* test_recognise.c
 * The recognition of headers, on bytes made by hand and on the vectors of the reference (replica.md 3).
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include <glib.h>
#include <string.h>

#include "packet-iggy.h"
#include "packet-iggy-commands.h"
#include "packet-iggy-recognise.h"

#define MAXIMUM 67108864u
#define ROOM 4096u

static const iggy_search_t all = { .maximum = MAXIMUM, .find = IGGY_FIND_ALL };
static const iggy_search_t alone = { .maximum = MAXIMUM, .find = IGGY_FIND_ALL, .one_segment = true };

/* Vectors: start_view_change of view 7, replica 1; prepare of op 5, with its body; both protocol 0.11.0. */
static const char view_change_text[] =
    "b0a3f6bdf4e5a1e2000000000000000000000000000000000000000000000000"
    "21bb05c88727bab88d0ec27be8a72d460001000007000000000000000a010000"
    "0000000000000000000000000000000000000000000000000000000000000000"
    "0000000000000000000000000000000000000000000000000000000000000000"
    "0000000000000080000000000000000000000000000000000000000000000000"
    "0000000000000000000000000000000000000000000000000000000000000000"
    "0000000000000000000000000000000000000000000000000000000000000000"
    "0000000000000000000000000000000000000000000000000000000000000000";
static const char prepare_text[] =
    "34b3165c99b84e62000000000000000077f188d37e0321b40000000000000000"
    "21bb05c88727bab88d0ec27be8a72d4604010000070000000000000006010000"
    "0000000000000000000000000000000000000000000000000000000000000000"
    "0000000000000000000000000000000000000000000000000000000000000000"
    "100f0e0d0c0b0a09080706050403020100000000000000000000000000000000"
    "0000000000000000000000000000000005000000000000000400000000000000"
    "00401e18240a0600030000000000000080000000000000000000000000000080"
    "0100000000000000000000000000000000000000000000000000000000000000"
    "69676779";

static size_t from_hex(const char *text, uint8_t *bytes)
{
    size_t length = strlen(text) / 2;
    for (size_t i = 0; i < length; i++)
        bytes[i] = (uint8_t)(g_ascii_xdigit_value(text[2 * i]) << 4 | g_ascii_xdigit_value(text[2 * i + 1]));
    return length;
}

static void put32(uint8_t *bytes, size_t offset, uint32_t value)
{
    for (size_t i = 0; i < 4; i++)
        bytes[offset + i] = (uint8_t)(value >> 8 * i);
}

static uint8_t *request_header(uint8_t *bytes, uint32_t size, uint8_t operation)
{
    memset(bytes, 0, 256);
    put32(bytes, 48, size);
    bytes[60] = 5;
    for (unsigned i = 0; i < 16; i++)
        bytes[128 + i] = (uint8_t)(0xa1 + 3 * i);
    bytes[176] = operation;
    if (operation == 2)
        bytes[196] = 1; /* ping */
    if (operation > 2)
        bytes[168] = bytes[184] = 9; /* request, session */
    return bytes;
}

static uint8_t *reply_header(uint8_t *bytes, uint32_t size, uint8_t operation)
{
    memset(bytes, 0, 256);
    put32(bytes, 48, size);
    bytes[60] = 8;
    bytes[160] = 77;
    bytes[208] = operation;
    return bytes;
}

static void test_in_step(void)
{
    uint8_t bytes[64] = { 0 };
    g_assert_cmpint(iggy_in_step(bytes, 51, MAXIMUM), ==, IGGY_MORE);
    g_assert_cmpint(iggy_in_step(bytes, 52, MAXIMUM), ==, IGGY_NO);
    put32(bytes, 48, 255);
    g_assert_cmpint(iggy_in_step(bytes, 52, MAXIMUM), ==, IGGY_NO);
    put32(bytes, 48, 256);
    g_assert_cmpint(iggy_in_step(bytes, 52, MAXIMUM), ==, IGGY_YES);
    put32(bytes, 48, MAXIMUM);
    g_assert_cmpint(iggy_in_step(bytes, 64, MAXIMUM), ==, IGGY_YES);
    put32(bytes, 48, MAXIMUM + 1);
    g_assert_cmpint(iggy_in_step(bytes, 64, MAXIMUM), ==, IGGY_NO);
    memset(bytes, 0xff, sizeof bytes); /* nothing but the size is looked at */
    put32(bytes, 48, 300);
    g_assert_cmpint(iggy_in_step(bytes, 64, MAXIMUM), ==, IGGY_YES);
}

/* Every prefix of a real header asks for more; the whole of it is one. */
static void test_start_prefixes(void)
{
    uint8_t bytes[ROOM];
    request_header(bytes, 286, 1);
    g_assert_cmpint(iggy_starts(bytes, 0, MAXIMUM, false), ==, IGGY_NO);
    for (size_t length = 1; length < 256; length++)
        g_assert_cmpint(iggy_starts(bytes, length, MAXIMUM, false), ==, IGGY_MORE);
    g_assert_cmpint(iggy_starts(bytes, 256, MAXIMUM, false), ==, IGGY_YES);
    from_hex(view_change_text, bytes);
    for (size_t length = 1; length < 32; length++) {
        g_assert_cmpint(iggy_starts(bytes, length, MAXIMUM, false), ==, IGGY_NO); /* not zero */
        g_assert_cmpint(iggy_starts(bytes, length, MAXIMUM, true), ==, IGGY_MORE);
    }
    for (size_t length = 32; length < 256; length++)
        g_assert_cmpint(iggy_starts(bytes, length, MAXIMUM, false), ==, IGGY_MORE);
    g_assert_cmpint(iggy_starts(bytes, 256, MAXIMUM, false), ==, IGGY_YES);
}

/* One byte wrong, each where the port test looks. */
static void test_start_refuses(void)
{
    static const struct { size_t offset; uint8_t value; } wrong[] = {
        { 49, 0 }, { 51, 0xff }, { 56, 1 }, { 59, 0x80 }, { 60, 0 }, { 60, 37 }, { 60, 255 }, { 62, 1 }, { 127, 1 },
    };
    uint8_t bytes[256];
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        request_header(bytes, 256, 2);
        bytes[wrong[i].offset] = wrong[i].value;
        g_assert_cmpint(iggy_starts(bytes, 256, MAXIMUM, false), ==, IGGY_NO);
        g_assert_cmpint(iggy_starts(bytes, 256, MAXIMUM, true), ==, IGGY_NO);
        g_assert_cmpint(iggy_starts(bytes, 128, MAXIMUM, false), ==, IGGY_NO);
    }
    memset(bytes, 0, 256);
    g_assert_cmpint(iggy_starts(bytes, 256, MAXIMUM, false), ==, IGGY_NO);
    put32(bytes, 48, 256);
    bytes[60] = 5; /* nothing in 128..255 */
    g_assert_cmpint(iggy_starts(bytes, 256, MAXIMUM, false), ==, IGGY_NO);
    bytes[60] = 14; /* a hello without authentication has nothing there, but a cluster */
    g_assert_cmpint(iggy_starts(bytes, 256, MAXIMUM, false), ==, IGGY_NO);
    bytes[40] = 1;
    g_assert_cmpint(iggy_starts(bytes, 256, MAXIMUM, false), ==, IGGY_YES);
    g_assert_cmpint(iggy_starts((const uint8_t *)"GET / HTTP/1.1\r\n", 16, MAXIMUM, false), ==, IGGY_NO);
    g_assert_cmpint(iggy_starts((const uint8_t *)"\x16\x03\x01\x02\x00", 5, MAXIMUM, false), ==, IGGY_NO);
}

/* Zeros with a size and a command, and a few numbers: a frame of no command, though it could be one of some. */
static void test_start_of_others(void)
{
    uint8_t bytes[300];
    for (unsigned command = 1; command <= IGGY_PREPARE_PROGRESS; command++) {
        memset(bytes, 0, sizeof bytes);
        put32(bytes, 48, sizeof bytes);
        bytes[60] = (uint8_t)command;
        put32(bytes, 140, 7);
        put32(bytes, 180, 0x12345);
        put32(bytes, 212, 1);
        g_assert_cmpint(iggy_starts(bytes, sizeof bytes, MAXIMUM, false), ==, IGGY_NO);
        g_assert_cmpint(iggy_starts(bytes, sizeof bytes, MAXIMUM, true), ==, IGGY_YES);
        memset(bytes + 128, 0x5a, 16); /* a client tried something by hand */
        g_assert_cmpint(iggy_starts(bytes, sizeof bytes, MAXIMUM, false), ==, IGGY_YES);
        bytes[20] = 1;
        g_assert_cmpint(iggy_starts(bytes, sizeof bytes, MAXIMUM, false), ==, IGGY_NO);
    }
}

/* The same at the end of a piece of a connection that is not ours: a seal is there, what has no body has that size. */
static void test_beginning_of_others(void)
{
    uint8_t bytes[600];
    for (unsigned command = 1; command <= IGGY_PREPARE_PROGRESS; command++) {
        bool zeros = command == IGGY_REQUEST || command == IGGY_REPLY;
        memset(bytes, 0xcc, 500);
        memset(bytes + 500, 0, 100);
        put32(bytes, 548, 0x1234);
        bytes[560] = (uint8_t)command;
        g_assert_cmpuint(iggy_find_beginning(bytes, 577, 0, &all, true), ==, zeros ? 500 : 577);
        put32(bytes, 536, 0x1100);
        g_assert_cmpuint(iggy_find_beginning(bytes, 577, 0, &all, true), ==, 577);
    }
}

static void test_checksums(void)
{
    uint8_t bytes[ROOM];
    from_hex(view_change_text, bytes);
    g_assert_true(iggy_seal_verifies(bytes));
    bytes[255] ^= 1;
    g_assert_false(iggy_seal_verifies(bytes));
    from_hex(prepare_text, bytes);
    g_assert_true(iggy_identity_verifies(bytes));
    bytes[52]++; /* the view is not covered */
    g_assert_true(iggy_identity_verifies(bytes));
    bytes[60] = 19;
    g_assert_true(iggy_identity_verifies(bytes));
    bytes[8] = 1; /* a hash has zeros behind it */
    g_assert_false(iggy_identity_verifies(bytes));
}

/* Each claim passes, and fails with any one byte wrong that the reference names. */
static void claim_with_wrong(const uint8_t *header, const uint8_t *offsets, size_t count)
{
    uint8_t bytes[256];
    g_assert_true(iggy_claims(header, &all));
    for (size_t i = 0; i < count; i++) {
        memcpy(bytes, header, sizeof bytes);
        bytes[offsets[i]] ^= 0x81;
        g_test_message("offset %u", offsets[i]);
        g_assert_false(iggy_claims(bytes, &all));
    }
}

static void test_claims(void)
{
    static const uint8_t of_request[] = { 0, 47, 51, 52, 56, 60, 61, 62, 127, 160, 176, 177, 183, 192, 195, 199, 224, 255 };
    static const uint8_t of_reply[] = { 0, 31, 51, 56, 60, 61, 62, 127, 144, 159, 208, 209, 215, 219, 220, 221, 232, 255 };
    static const uint8_t of_eviction[] = { 0, 31, 48, 56, 60, 61, 62, 127, 144, 148, 152, 254, 255 };
    uint8_t bytes[256];
    claim_with_wrong(request_header(bytes, 300, 160), of_request, sizeof of_request);
    claim_with_wrong(reply_header(bytes, 300, 160), of_reply, sizeof of_reply);
    reply_header(bytes, 256, 0);
    bytes[60] = 13;
    bytes[208] = bytes[160] = 0;
    bytes[128] = 5;
    bytes[255] = 9;
    claim_with_wrong(bytes, of_eviction, sizeof of_eviction);
    from_hex(view_change_text, bytes);
    static const uint8_t of_sealed[] = { 0, 7, 8, 15, 24, 31, 32, 48, 52, 60, 61, 62, 127, 128, 200, 255 };
    claim_with_wrong(bytes, of_sealed, sizeof of_sealed);
}

static void test_client_must_look_random(void)
{
    uint8_t bytes[256];
    request_header(bytes, 300, 160);
    memset(bytes + 128, 0, 16);
    g_assert_false(iggy_minimum(bytes, &all));
    bytes[128] = 7;
    g_assert_true(iggy_minimum(bytes, &all));
    g_assert_true(iggy_real(bytes, &all));
    g_assert_false(iggy_claims(bytes, &all));
}

/* Made-up values of the codec captures: the minimum allows them, the claim does not. */
static void test_minimum(void)
{
    uint8_t bytes[256];
    request_header(bytes, 300, 160);
    memset(bytes, 0xee, 48);
    bytes[61] = 23;
    bytes[200] = 4;
    g_assert_true(iggy_minimum(bytes, &all));
    g_assert_false(iggy_real(bytes, &all));
    iggy_search_t replies = all;
    replies.find = IGGY_FIND_REPLY;
    g_assert_false(iggy_minimum(bytes, &replies));
    request_header(bytes, 300, 2);
    put32(bytes, 196, 9999); /* no such code */
    g_assert_false(iggy_minimum(bytes, &all));
    request_header(bytes, 300, 200); /* no such operation */
    g_assert_false(iggy_minimum(bytes, &all));
    request_header(bytes, 256, 1); /* a login has a body */
    g_assert_false(iggy_minimum(bytes, &all));
    reply_header(bytes, 300, 2);
    put32(bytes, 216, 41); /* an error has none */
    g_assert_false(iggy_minimum(bytes, &all));
    put32(bytes, 48, 256);
    g_assert_true(iggy_minimum(bytes, &all));
}

/* At every offset of a segment of noise, of zeros, and of ones, with and without a replica. */
static void test_search_finds(void)
{
    static const uint8_t fillings[] = { 0, 1, 255 };
    uint8_t bytes[ROOM];
    for (size_t f = 0; f < G_N_ELEMENTS(fillings); f++)
        for (size_t at = 0; at < 300; at++) {
            memset(bytes, fillings[f], 700);
            request_header(bytes + at, 300, 2);
            bytes[at + 61] = (uint8_t)(at % 3);
            g_assert_cmpuint(iggy_find_header(bytes, at + 256, 0, &all), ==, at);
            g_assert_cmpuint(iggy_find_header(bytes, at + 255, 0, &all), ==, at + 255);
            g_assert_cmpuint(iggy_find_header(bytes, at + 256, at, &all), ==, at);
            g_assert_cmpuint(iggy_find_header(bytes, at + 256, at + 1, &all), ==, at + 256);
        }
}

static void test_search_refuses(void)
{
    uint8_t bytes[ROOM] = { 0 };
    g_assert_cmpuint(iggy_find_header(bytes, ROOM, 0, &all), ==, ROOM);
    for (size_t i = 0; i + 4 < ROOM; i += 53)
        put32(bytes, i, 0x100 + (uint32_t)i);
    g_assert_cmpuint(iggy_find_header(bytes, ROOM, 0, &all), ==, ROOM);
    GRand *dice = g_rand_new_with_seed(7);
    for (size_t i = 0; i < ROOM; i++)
        bytes[i] = (uint8_t)g_rand_int(dice);
    g_rand_free(dice);
    g_assert_cmpuint(iggy_find_header(bytes, ROOM, 0, &all), ==, ROOM);
    g_assert_cmpuint(iggy_find_header(bytes, 0, 0, &all), ==, 0);
    g_assert_cmpuint(iggy_find_header(bytes, 10, 30, &all), ==, 10);
}

static void test_beginning(void)
{
    uint8_t bytes[ROOM];
    iggy_search_t client = all;
    client.find = IGGY_FIND_REQUEST;
    for (size_t part = 1; part < 256; part++) {
        memset(bytes, 0xcc, 500);
        request_header(bytes + 500, 300, 2);
        size_t at = iggy_find_beginning(bytes, 500 + part, 0, &client, false);
        if (part >= 62)
            g_assert_cmpuint(at, ==, 500);
        g_assert_cmpuint(at, <=, 500);
        g_assert_cmpuint(500 + part - at, <=, 255);
        g_assert_cmpuint(iggy_find_beginning(bytes, 500 + part, 490, &client, false), >=, 490);
        at = iggy_find_beginning(bytes, 500 + part, 0, &client, true);
        g_assert_cmpuint(at, ==, part < 62 ? 500 + part : 500);
    }
    memset(bytes, 0xcc, 500); /* under 52 bytes nothing speaks against a header */
    g_assert_cmpuint(iggy_find_beginning(bytes, 500, 0, &client, false), ==, 449);
    g_assert_cmpuint(iggy_find_beginning(bytes, 500, 0, &client, true), ==, 500);
    g_assert_cmpuint(iggy_find_beginning(bytes, 500, 500, &client, false), ==, 500);
}

/* What stands behind a request decides: another one, something else, nothing yet. */
static void test_evidence_of_request(void)
{
    uint8_t bytes[ROOM] = { 0 };
    iggy_search_t client = all;
    client.plane_known = true;
    request_header(bytes, 300, 2);
    request_header(bytes + 300, 256, 2);
    g_assert_cmpint(iggy_evidence(bytes, 556, 0, &all), ==, IGGY_YES);
    g_assert_cmpint(iggy_evidence(bytes, 300 + 64, 0, &all), ==, IGGY_YES);
    g_assert_cmpint(iggy_evidence(bytes, 300 + 63, 0, &all), ==, IGGY_MORE); /* a glimpse */
    g_assert_cmpint(iggy_evidence(bytes, 300 + 20, 0, &client), ==, IGGY_YES);
    bytes[300] = 1; /* what follows is no header of a client, although it may be one of a made-up capture */
    g_assert_cmpint(iggy_evidence(bytes, 300 + 20, 0, &client), ==, IGGY_MORE);
    bytes[300] = 0;
    g_assert_cmpint(iggy_evidence(bytes, 299, 0, &all), ==, IGGY_MORE);
    g_assert_cmpint(iggy_evidence(bytes, 300, 0, &all), ==, IGGY_MORE);
    g_assert_cmpint(iggy_evidence(bytes, 300, 0, &alone), ==, IGGY_YES);
    g_assert_cmpint(iggy_evidence(bytes, 300, 0, &client), ==, IGGY_YES);
    bytes[300 + 90] = 1;
    g_assert_cmpint(iggy_evidence(bytes, 556, 0, &alone), ==, IGGY_NO);
    request_header(bytes + 300, 256, 2);
    bytes[360] = 8; /* no reply follows a request */
    g_assert_cmpint(iggy_evidence(bytes, 556, 0, &alone), ==, IGGY_NO);
    request_header(bytes + 300, 256, 2); /* two frames kept in a payload, which goes on behind them */
    memset(bytes + 556, 0x77, 200);
    g_assert_cmpint(iggy_evidence(bytes, 756, 0, &alone), ==, IGGY_NO);
}

static void test_evidence_of_prepare(void)
{
    uint8_t bytes[ROOM] = { 0 };
    size_t length = from_hex(prepare_text, bytes);
    g_assert_cmpuint(length, ==, 260);
    g_assert_cmpint(iggy_evidence(bytes, 260, 0, &all), ==, IGGY_YES); /* the hash of its body */
    g_assert_cmpint(iggy_evidence(bytes, 259, 0, &all), ==, IGGY_MORE);
    bytes[259] ^= 1;
    g_assert_cmpint(iggy_evidence(bytes, 260, 0, &alone), ==, IGGY_NO);
    from_hex(view_change_text, bytes + 256); /* the last entry of a suffix: a frame stands where its body would be */
    g_assert_cmpint(iggy_evidence(bytes, 512, 0, &alone), ==, IGGY_NO);
}

static void test_suffix_entries(void)
{
    uint8_t bytes[ROOM] = { 0 };
    for (unsigned i = 0; i < 3; i++) {
        from_hex(prepare_text, bytes + 256 * i);
        bytes[256 * i + 176] = (uint8_t)(9 - i);
    }
    for (size_t i = 0; i < 3; i++)
        g_assert_true(iggy_suffix_entry(bytes, 768, 256 * i));
    g_assert_false(iggy_suffix_entry(bytes, 256, 0));
    memset(bytes + 256, 0, 256); /* a blank entry: command and op alone */
    bytes[256 + 60] = 6;
    bytes[256 + 176] = 8;
    g_assert_true(iggy_suffix_entry(bytes, 768, 0));
    for (unsigned i = 0; i < 2; i++) { /* prepares that follow each other rise */
        from_hex(prepare_text, bytes + 256 * i);
        bytes[256 * i + 176] = (uint8_t)(4 + i);
    }
    g_assert_false(iggy_suffix_entry(bytes, 512, 0));
    g_assert_false(iggy_suffix_entry(bytes, 512, 256));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    iggy_commands_init();
    g_test_add_func("/recognise/in-step", test_in_step);
    g_test_add_func("/recognise/start/prefixes", test_start_prefixes);
    g_test_add_func("/recognise/start/refuses", test_start_refuses);
    g_test_add_func("/recognise/start/others", test_start_of_others);
    g_test_add_func("/recognise/checksums", test_checksums);
    g_test_add_func("/recognise/claims", test_claims);
    g_test_add_func("/recognise/client", test_client_must_look_random);
    g_test_add_func("/recognise/minimum", test_minimum);
    g_test_add_func("/recognise/search/finds", test_search_finds);
    g_test_add_func("/recognise/search/refuses", test_search_refuses);
    g_test_add_func("/recognise/beginning", test_beginning);
    g_test_add_func("/recognise/beginning/others", test_beginning_of_others);
    g_test_add_func("/recognise/evidence/request", test_evidence_of_request);
    g_test_add_func("/recognise/evidence/prepare", test_evidence_of_prepare);
    g_test_add_func("/recognise/suffix", test_suffix_entries);
    return g_test_run();
}
