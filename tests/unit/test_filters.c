/* test_filters.c
 * The entries "Iggy Client" and "Iggy Session" of Wireshark's menu of conversation filters: when they are offered, what they
 * build, and that the filter shows the packets that it should, and no others.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "epan_start.h"

#include <string.h>

#include <epan/conversation_filter.h>
#include <epan/dfilter/dfilter.h>
#include <epan/epan_dissect.h>
#include <epan/frame_data.h>
#include <epan/timestamp.h>

#include "epan_compat.h"
#include "packet-iggy.h"

#define IP_TCP 40u

/* A packet: a request or a reply of a client, or a segment without data. */
typedef struct {
    uint16_t port;    /* of the client */
    bool     server;  /* sends it */
    uint8_t  command; /* 0: no data */
    uint8_t  client;  /* all bytes of the id but the last, which is one higher */
    uint8_t  request;
    uint64_t session; /* 0: before the login, whose session nothing is known of */
} packet_t;

static const packet_t packets[] = {
    { 40000, false, IGGY_REQUEST, 0x11, 1, 100 },
    { 40000, true,  IGGY_REPLY,   0x11, 1, 0 },
    { 40001, false, IGGY_REQUEST, 0x22, 1, 200 },
    { 40001, true,  IGGY_REPLY,   0x22, 1, 0 },
    { 40002, false, IGGY_REQUEST, 0x11, 1, 300 }, /* the same client, the next session */
    { 40002, true,  IGGY_REPLY,   0x11, 1, 0 },
    { 40002, false, 0, 0, 0, 0 },
    { 40003, false, IGGY_REQUEST, 0x33, 1, 0 },
    { 40000, false, IGGY_REQUEST, 0x11, 2, 100 },
};
#define COUNT G_N_ELEMENTS(packets)

static frame_data frames[COUNT];
static uint32_t sequence[2][4]; /* by side and connection */

static void put16(uint8_t *at, unsigned value) { at[0] = (uint8_t)(value >> 8); at[1] = (uint8_t)value; }
static void put32(uint8_t *at, uint32_t value) { put16(at, value >> 16); put16(at + 2, value & 0xffff); }

/* framing.md 3: the fields of a request for a ping (code 1), and of its reply. */
static void put_frame(uint8_t *frame, const packet_t *packet)
{
    unsigned client = packet->server ? 160 : 128, request = packet->server ? 200 : 168;
    frame[49] = 1; /* size 256 */
    frame[60] = packet->command;
    memset(frame + client, packet->client, 16);
    frame[client + 15]++;
    frame[request] = packet->request;
    frame[request + 8] = 2; /* operation */
    if (!packet->server) {
        put16(frame + 184, (unsigned)(packet->session << 8 | packet->session >> 8));
        frame[196] = 1;
    }
}

static unsigned make_packet(uint8_t *bytes, const packet_t *packet)
{
    unsigned length = packet->command ? IGGY_HEADER_SIZE : 0, connection = packet->port - 40000u;
    memset(bytes, 0, IP_TCP + IGGY_HEADER_SIZE);
    bytes[0] = 0x45;
    put16(bytes + 2, IP_TCP + length);
    bytes[8] = 64;
    bytes[9] = 6;
    put32(bytes + 12, packet->server ? 0x0a000002 : 0x0a000001);
    put32(bytes + 16, packet->server ? 0x0a000001 : 0x0a000002);
    put16(bytes + 20, packet->server ? 8090 : packet->port);
    put16(bytes + 22, packet->server ? packet->port : 8090);
    put32(bytes + 24, 1000 + sequence[packet->server][connection]);
    put32(bytes + 28, 1000 + sequence[!packet->server][connection]);
    bytes[32] = 5 << 4;
    bytes[33] = 0x18;
    put16(bytes + 34, 0xffff);
    if (length)
        put_frame(bytes + IP_TCP, packet);
    sequence[packet->server][connection] += length;
    return IP_TCP + length;
}

/* ---- dissection ---- */

static void dissect(epan_dissect_t *edt, unsigned number, bool first_pass)
{
    static const frame_data *reference;
    static nstime_t elapsed;
    static guint32 sum;
    uint8_t bytes[IP_TCP + IGGY_HEADER_SIZE];
    unsigned length = make_packet(bytes, &packets[number]);
    wtap_rec rec = { .rec_type = REC_TYPE_PACKET, .ts = { .secs = 1700000000 + (time_t)number },
                     .presence_flags = WTAP_HAS_TS | WTAP_HAS_CAP_LEN };
    rec.rec_header.packet_header.caplen = rec.rec_header.packet_header.len = length;
    rec.rec_header.packet_header.pkt_encap = WTAP_ENCAP_RAW_IP4;
    if (first_pass) {
        frame_data_init(&frames[number], number + 1, &rec, 0, sum);
        frame_data_set_before_dissect(&frames[number], &elapsed, &reference, number ? &frames[number - 1] : NULL);
    }
    iggy_dissect_record(edt, &rec, &frames[number], bytes, length);
    if (first_pass)
        frame_data_set_after_dissect(&frames[number], &sum);
}

/* As a window does it: all packets once, then the one that is selected, with a tree that is shown. */
static void first_pass(epan_t *session)
{
    memset(sequence, 0, sizeof sequence);
    for (unsigned i = 0; i < COUNT; i++) {
        epan_dissect_t *edt = epan_dissect_new(session, FALSE, FALSE);
        dissect(edt, i, true);
        epan_dissect_free(edt);
    }
    memset(sequence, 0, sizeof sequence);
}

static const conversation_filter_t *entry_named(const char *name)
{
    for (GList *at = packet_conv_filter_list; at; at = at->next) {
        const conversation_filter_t *entry = (const conversation_filter_t *)at->data;
        if (strcmp(entry->proto_name, "iggy") == 0 && strcmp(entry->display_name, name) == 0)
            return entry;
    }
    return NULL;
}

/* The packets that a filter shows, one bit each. */
static unsigned shown_by(epan_t *session, const char *text)
{
    dfilter_t *filter = NULL;
    unsigned shown = 0;
    iggy_filter_error_t *error = NULL;
    g_assert_true(dfilter_compile(text, &filter, &error));
    memset(sequence, 0, sizeof sequence);
    for (unsigned i = 0; i < COUNT; i++) {
        epan_dissect_t *edt = epan_dissect_new(session, TRUE, FALSE);
        epan_dissect_prime_with_dfilter(edt, filter);
        dissect(edt, i, false);
        shown |= dfilter_apply_edt(filter, edt) ? 1u << i : 0;
        epan_dissect_free(edt);
    }
    dfilter_free(filter);
    return shown;
}

/* The filter that is built at a packet, NULL where none is offered. */
static char *built_at(epan_t *session, const conversation_filter_t *entry, unsigned number)
{
    char *text = NULL;
    memset(sequence, 0, sizeof sequence);
    for (unsigned i = 0; i <= number; i++) {
        epan_dissect_t *edt = epan_dissect_new(session, TRUE, TRUE);
        dissect(edt, i, false);
        if (i == number && OFFERED(entry, &edt->pi))
            text = BUILT(entry, &edt->pi);
        epan_dissect_free(edt);
    }
    return text;
}

static const nstime_t *frame_time(struct packet_provider_data *provider _U_, guint32 number)
{
    return number >= 1 && number <= COUNT ? &frames[number - 1].abs_ts : NULL;
}

typedef struct {
    unsigned number;
    const char *text; /* NULL: not offered */
    unsigned shown;
} expected_t;

static void check(const char *name, const expected_t *expected, unsigned count)
{
    static const struct packet_provider_funcs provider = { .get_frame_ts = frame_time };
    epan_t *session = epan_new(NULL, &provider);
    const conversation_filter_t *entry = entry_named(name);
    g_assert_nonnull(entry);
    first_pass(session);
    for (unsigned i = 0; i < count; i++) {
        char *text = built_at(session, entry, expected[i].number);
        g_assert_cmpstr(text, ==, expected[i].text);
        if (text)
            g_assert_cmphex(shown_by(session, text), ==, expected[i].shown);
        g_free(text);
    }
    for (unsigned i = 0; i < COUNT; i++)
        frame_data_destroy(&frames[i]);
    epan_free(session);
}

#define CLIENT_1 "iggy.session.client == 11111111-1111-1111-1111-111111111112"
#define CLIENT_2 "iggy.session.client == 22222222-2222-2222-2222-222222222223"

static void test_client(void)
{
    static const expected_t expected[] = {
        { 0, CLIENT_1, 0x133 }, { 1, CLIENT_1, 0x133 }, { 2, CLIENT_2, 0x0c }, { 5, CLIENT_1, 0x133 },
        { 6, NULL, 0 },         { 7, NULL, 0 },
    };
    check("Iggy Client", expected, G_N_ELEMENTS(expected));
}

static void test_session(void)
{
    static const expected_t expected[] = {
        { 0, CLIENT_1 " && iggy.session.number == 100", 0x103 },
        { 1, CLIENT_1 " && iggy.session.number == 100", 0x103 },
        { 3, CLIENT_2 " && iggy.session.number == 200", 0x0c },
        { 4, CLIENT_1 " && iggy.session.number == 300", 0x30 },
        { 6, NULL, 0 },
        { 7, NULL, 0 },
    };
    check("Iggy Session", expected, G_N_ELEMENTS(expected));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    timestamp_set_type(TS_RELATIVE);
    timestamp_set_precision(TS_PREC_AUTO);
    epan_start(argv[0]);
    epan_load_settings();
    g_test_add_func("/filters/client", test_client);
    g_test_add_func("/filters/session", test_session);
    return g_test_run();
}
