/* fuzz_iggy.c
 * libFuzzer target: TCP connections out of the input, through libwireshark with the dissector linked in, in two passes.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Input: two bytes of options, then segments { control byte, length u16 LE, data }. make_seeds.py writes the same format.
 * A finding is: what the sanitizers find, a dissector bug, too many tree items, and an exception ("malformed") in a frame
 * that the capture has not cut short. `--dictionary` prints the dictionary, made from the tables, and ends.
 *
 * A new session of libwireshark costs 0.3 s, so one serves many inputs, each with addresses of its own.
 */

#include "../unit/epan_start.h"

#include <stdio.h>
#include <string.h>

#include <epan/column-info.h>
#include <epan/column.h>
#include <epan/epan_dissect.h>
#include <epan/export_object.h>
#include <epan/frame_data.h>
#include <epan/srt_table.h>
#include <epan/stat_tap_ui.h>
#include <epan/stats_tree_priv.h>
#include <epan/tap.h>
#include <epan/timestamp.h>
#include <xxhash.h>

#include "fuzz_inputs.h"
#include "packet-iggy-commands.h"
#include "packet-iggy-values.h"

/* options */
#define OPTION_REPLICA_PORT 0x01u
#define OPTION_OTHER_PORT   0x02u
#define OPTION_HANDSHAKE    0x04u /* the capture has the SYN */
#define OPTION_OUT_OF_ORDER 0x08u /* TCP puts segments in order */
#define OPTION_FIRST_TREE   0x10u /* the first pass makes a tree, as tshark does in one pass */
#define OPTION_REPAIR       0x20u /* every segment is a frame: its size field and seal are made right */
#define OPTION_NO_REASSEMBLY 0x40u
#define OPTION_HIDE_SECRETS 0x80u

/* options, second byte */
#define OPTION_CARRIER 0x07u /* a row of carriers[], from 1; else TCP */
#define OPTION_TAPS    0x08u /* statistics and export listen */
#define OPTION_OPENS   0x10u /* ciphers open everything: clear text stands where ciphertext is expected */
#define OPTION_ONWARDS 0x20u /* preferences change between the passes */

/* control byte of a segment; the upper bits of the first one choose what the first pass is filtered for */
#define CONTROL_SERVER   0x01u
#define CONTROL_ACTION   0x0eu
#define ACTION_LOSE      0x08u /* `length` bytes are missing; no data */
#define ACTION_TWICE     0x0au
#define ACTION_LATE      0x0cu /* comes after the next segment of its side */
#define ACTION_OTHER     0x0eu /* the other connection from here on; no data */
#define CONTROL_CUT      0x10u /* the capture keeps half of the packet */

#define PACKETS_LIMIT 400u
#define IP_TCP 40u
#define INPUTS_OF_A_SESSION 3000u

typedef struct {
    frame_data fd;
    uint8_t *bytes;
    unsigned length, captured;
} packet_t;

typedef struct {
    packet_t packets[PACKETS_LIMIT];
    unsigned count;
    bool cut;
} capture_t;

typedef struct {
    uint32_t seq[2];
    uint16_t port[2];
    packet_t late; /* made, not yet in the capture; no bytes: none */
} connection_t;

static capture_t capture;
static epan_t *session;
static unsigned filter; /* of the input, a row of filters[]; 0: none */
static uint32_t inputs;     /* of the session: the addresses of an input */
static uint32_t frames_before; /* numbers of its packets begin behind those of the inputs before it */
static column_info columns;
static int malformed = -1;

/* ---- packets ---- */

static void put16(uint8_t *at, unsigned value) { at[0] = (uint8_t)(value >> 8); at[1] = (uint8_t)value; }
static void put32(uint8_t *at, uint32_t value) { put16(at, value >> 16); put16(at + 2, value & 0xffff); }

static void add_packet(const connection_t *connection, unsigned side, uint32_t seq, uint8_t flags, const uint8_t *data,
                       unsigned length, bool cut)
{
    if (capture.count == PACKETS_LIMIT)
        return;
    packet_t *packet = &capture.packets[capture.count++];
    uint8_t *bytes = (uint8_t *)g_malloc0(IP_TCP + length);
    bytes[0] = 0x45;
    put16(bytes + 2, IP_TCP + length);
    bytes[6] = 0x40;
    bytes[8] = 64;
    bytes[9] = 6;
    put32(bytes + 12, (side ? 0x0b000000u : 0x0a000000u) + inputs);
    put32(bytes + 16, (side ? 0x0a000000u : 0x0b000000u) + inputs);
    put16(bytes + 20, connection->port[side]);
    put16(bytes + 22, connection->port[!side]);
    put32(bytes + 24, seq);
    put32(bytes + 28, flags == 2 ? 0 : connection->seq[!side]);
    bytes[32] = 5 << 4;
    bytes[33] = flags;
    put16(bytes + 34, 0xffff);
    if (length)
        memcpy(bytes + IP_TCP, data, length);
    packet->bytes = bytes;
    packet->length = IP_TCP + length;
    packet->captured = cut ? IP_TCP + length / 2 : packet->length;
    capture.cut |= cut;
}

static void handshake(connection_t *connection)
{
    add_packet(connection, 0, connection->seq[0]++, 0x02, NULL, 0, false);
    add_packet(connection, 1, connection->seq[1]++, 0x12, NULL, 0, false);
    add_packet(connection, 0, connection->seq[0], 0x10, NULL, 0, false);
}

static bool is_sealed(uint8_t command)
{
    return command == 7 || (command >= 9 && command <= 12) || command == 17 || command == 18 || (command >= 20 && command <= 36);
}

static void repair(uint8_t *frame, unsigned length)
{
    if (length < IGGY_HEADER_SIZE)
        return;
    for (unsigned i = 0; i < 4; i++)
        frame[IGGY_SIZE_OFFSET + i] = (uint8_t)(length >> (8 * i));
    if (!is_sealed(frame[IGGY_COMMAND_OFFSET]))
        return;
    uint64_t seal = XXH3_64bits(frame + 16, IGGY_HEADER_SIZE - 16);
    for (unsigned i = 0; i < 16; i++)
        frame[i] = i < 8 ? (uint8_t)(seal >> (8 * i)) : 0;
}

/* The packet that was held back comes now. */
static void bring_late(connection_t *connection)
{
    if (connection->late.bytes && capture.count < PACKETS_LIMIT)
        capture.packets[capture.count++] = connection->late;
    else
        g_free(connection->late.bytes);
    memset(&connection->late, 0, sizeof connection->late);
}

/* One segment of the input. */
static void add_segment(connection_t *connection, uint8_t control, const uint8_t *data, unsigned length, bool mend)
{
    unsigned side = control & CONTROL_SERVER;
    bool cut = (control & CONTROL_CUT) != 0;
    uint8_t action = control & CONTROL_ACTION;
    if (action == ACTION_LOSE) {
        connection->seq[side] += length;
        return;
    }
    uint8_t *copy = (uint8_t *)g_malloc(length + 1);
    if (length)
        memcpy(copy, data, length);
    if (mend)
        repair(copy, length);
    unsigned before = capture.count;
    add_packet(connection, side, connection->seq[side], 0x18, copy, length, cut);
    if (action == ACTION_TWICE)
        add_packet(connection, side, connection->seq[side], 0x18, copy, length, cut);
    connection->seq[side] += length;
    packet_t late = { 0 };
    if (action == ACTION_LATE && capture.count > before)
        late = capture.packets[--capture.count];
    bring_late(connection);
    connection->late = late;
    g_free(copy);
}

static void read_input(const uint8_t *input, size_t size)
{
    uint8_t options = input[0], carrier = input[1] & OPTION_CARRIER;
    uint16_t port = carrier ? carrier_port(carrier) : options & OPTION_OTHER_PORT ? 15555
                  : options & OPTION_REPLICA_PORT ? 9090 : 8090;
    connection_t connections[2] = { { .seq = { 1000, 2000 }, .port = { 40000, port } },
                                    { .seq = { 5000, 6000 }, .port = { 40001, port } } };
    bool opened[2] = { false, false };
    unsigned current = 0;
    for (size_t at = 2; at + 3 <= size && capture.count < PACKETS_LIMIT;) {
        uint8_t control = input[at];
        unsigned length = (unsigned)(input[at + 1] | input[at + 2] << 8);
        at += 3;
        if ((control & CONTROL_ACTION) == ACTION_OTHER) {
            current = !current;
            continue;
        }
        if ((options & OPTION_HANDSHAKE) && !opened[current])
            handshake(&connections[current]);
        opened[current] = true;
        if ((control & CONTROL_ACTION) != ACTION_LOSE && length > size - at)
            length = (unsigned)(size - at);
        add_segment(&connections[current], control, input + at, length, (options & OPTION_REPAIR) != 0);
        if ((control & CONTROL_ACTION) != ACTION_LOSE)
            at += length;
    }
    bring_late(&connections[0]);
    bring_late(&connections[1]);
}

/* ---- dissection ---- */

/* Of a frame of an earlier input, which a client's session may go back to, some time. */
static const nstime_t *frame_time(struct packet_provider_data *provider _U_, guint32 number)
{
    static const nstime_t earlier = NSTIME_INIT_SECS_MSECS(1700000000, 0);
    uint32_t place = number - frames_before - 1;
    return place < capture.count ? &capture.packets[place].fd.abs_ts : &earlier;
}

/*
 * "Malformed Packet", not TCP's "Reassembly error", which a repeated segment with other bytes brings about; only their lines tell
 * them apart, and where nobody sees the tree there are none.
 */
static bool is_malformed(proto_node *node)
{
    field_info *info = PNODE_FINFO(node);
    return info && info->hfinfo->id == malformed && !(info->rep && strstr(info->rep->representation, "Reassembly error"));
}

static void check_tree(proto_tree *tree)
{
    if (!PTREE_DATA(tree)->visible)
        return;
    for (proto_node *node = tree->first_child; node; node = node->next)
        if (is_malformed(node) && !capture.cut) {
            fprintf(stderr, "an exception in a frame that is whole\n");
            abort();
        }
}

static void make_record(wtap_rec *rec, const packet_t *packet, unsigned number)
{
    memset(rec, 0, sizeof *rec);
    rec->rec_type = REC_TYPE_PACKET;
    rec->ts.secs = 1700000000 + number / 1000;
    rec->ts.nsecs = (int)(number % 1000) * 1000000;
    rec->presence_flags = WTAP_HAS_TS | WTAP_HAS_CAP_LEN;
    rec->rec_header.packet_header.caplen = packet->captured;
    rec->rec_header.packet_header.len = packet->length;
    rec->rec_header.packet_header.pkt_encap = WTAP_ENCAP_RAW_IP4;
}

static void dissect_packet(epan_dissect_t *edt, packet_t *packet, bool first_pass)
{
    static const frame_data *reference;
    static nstime_t elapsed;
    static guint32 bytes;
    unsigned place = (unsigned)(packet - capture.packets);
    wtap_rec rec;
    if (first_pass && filter)
        prime_filter(edt, filter);
#if !IGGY_WS_AT_LEAST(4, 5) /* later ones do it themselves */
    if (edt->tree)
        prime_epan_dissect_with_postdissector_wanted_hfids(edt);
#endif
    make_record(&rec, packet, frames_before + place + 1);
    if (first_pass) {
        if (place == 0)
            reference = NULL;
        frame_data_init(&packet->fd, frames_before + place + 1, &rec, 0, bytes);
        frame_data_set_before_dissect(&packet->fd, &elapsed, &reference, place ? &packet[-1].fd : NULL);
    }
#if IGGY_WS_AT_LEAST(4, 5)
    rec.rec_type_name = "Packet";
    ws_buffer_init(&rec.data, packet->captured);
    ws_buffer_append(&rec.data, packet->bytes, packet->captured);
    epan_dissect_run_with_taps(edt, WTAP_FILE_TYPE_SUBTYPE_UNKNOWN, &rec, &packet->fd, &columns);
    ws_buffer_free(&rec.data);
#else
    epan_dissect_run_with_taps(edt, WTAP_FILE_TYPE_SUBTYPE_UNKNOWN, &rec,
                               tvb_new_real_data(packet->bytes, packet->captured, (int)packet->length), &packet->fd, &columns);
#endif
    if (edt->tree)
        check_tree(edt->tree);
    if (first_pass)
        frame_data_set_after_dissect(&packet->fd, &bytes);
    epan_dissect_reset(edt);
}

static void run_pass(bool first_pass, bool tree)
{
    epan_dissect_t *edt = epan_dissect_new(session, tree, tree && !(first_pass && filter));
    for (unsigned i = 0; i < capture.count; i++)
        dissect_packet(edt, &capture.packets[i], first_pass);
    epan_dissect_free(edt);
}

/* ---- taps ---- */

static GSList *statistics; /* stats_tree, of the input */

static void free_object(void *list _U_, export_object_entry_t *entry) { eo_free_entry(entry); }

static export_object_list_t objects = { .add_entry = free_object };

static stat_data_t tables[2];

static srt_data_t times;

static void listen_for_tables(void)
{
    static const char *const names[] = { "iggy,clients", "iggy,topics" };
    for (size_t i = 0; i < G_N_ELEMENTS(tables); i++) {
        stat_tap_table_ui *ui = tables[i].stat_tap_data = stat_tap_by_name(names[i]);
        if (!ui)
            abort();
        ui->stat_tap_init_cb(ui);
        if (register_tap_listener(ui->tap_name, &tables[i], NULL, 0, NULL, ui->packet_func, NULL, NULL))
            abort();
    }
}

static void listen_for_times(void)
{
    register_srt_t *srt = get_srt_table_by_name("iggy");
    times.srt_array = g_array_new(FALSE, TRUE, sizeof(srt_stat_table *));
    srt_table_dissector_init(srt, times.srt_array);
    if (register_tap_listener(get_srt_tap_listener_name(srt), &times, NULL, 0, NULL, get_srt_packet_func(srt), NULL, NULL))
        abort();
}

static void listen(void)
{
    GList *all = stats_tree_get_cfg_list();
    for (GList *one = all; one; one = one->next) {
        stats_tree_cfg *cfg = (stats_tree_cfg *)one->data;
        if (!g_str_has_prefix(cfg->tapname, "iggy"))
            continue;
        stats_tree *tree = stats_tree_new(cfg, NULL, NULL);
        statistics = g_slist_prepend(statistics, tree);
        GString *error = register_tap_listener(cfg->tapname, tree, NULL, cfg->flags, NULL, stats_tree_packet, NULL, NULL);
        if (error)
            abort();
        if (cfg->init)
            cfg->init(tree);
    }
    g_list_free(all);
    listen_for_tables();
    listen_for_times();
    register_eo_t *export = get_eo_by_name("iggy");
    if (!export || register_tap_listener(get_eo_tap_listener_name(export), &objects, NULL, 0, NULL,
                                         get_eo_packet_func(export), NULL, NULL))
        abort();
}

/* As Wireshark does before it dissects all packets again. */
static void begin_again(void)
{
    for (GSList *one = statistics; one; one = one->next)
        stats_tree_reset(one->data);
    for (size_t i = 0; i < G_N_ELEMENTS(tables); i++)
        reset_stat_table(tables[i].stat_tap_data);
    reset_srt_table(times.srt_array);
    get_eo_reset_func(get_eo_by_name("iggy"))();
}

static void listen_no_more(void)
{
    for (GSList *one = statistics; one; one = one->next) {
        remove_tap_listener(one->data);
        stats_tree_free((stats_tree *)one->data);
    }
    g_slist_free(statistics);
    statistics = NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(tables); i++) {
        remove_tap_listener(&tables[i]);
        free_stat_tables(tables[i].stat_tap_data);
    }
    remove_tap_listener(&times);
    free_srt_table(get_srt_table_by_name("iggy"), times.srt_array);
    g_array_free(times.srt_array, TRUE);
    remove_tap_listener(&objects);
    get_eo_reset_func(get_eo_by_name("iggy"))();
}

/* ---- libFuzzer ---- */

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

static void only_these_protocols(void)
{
    static const char *const wanted[] = { "ip", "tcp", "iggy", "iggy.legacy", "json", "xml", "quic" };
    void *cookie = NULL;
    for (int id = proto_get_first_protocol(&cookie); id != -1; id = proto_get_next_protocol(&cookie))
        if (!proto_is_pino(find_protocol_by_id(id)) && proto_can_toggle_protocol(id))
            proto_set_decoding(id, FALSE);
    for (size_t i = 0; i < G_N_ELEMENTS(wanted); i++)
        proto_set_decoding(proto_get_id_by_filter_name(wanted[i]), TRUE);
}

static void print_bytes(uint64_t value, unsigned size)
{
    printf("\"");
    for (unsigned i = 0; i < size; i++)
        printf("\\x%02x", (unsigned)(value >> (8 * i)) & 0xff);
    printf("\"\n");
}

/* Codes, operations with the command byte, packed versions, sizes that lie on an edge. */
static void print_dictionary(void)
{
    static const uint64_t edges[] = { 0, 1, 255, 256, 257, 0x7fffffff, 0xffffffff, 67108864, 67108865 };
    for (unsigned i = 0; iggy_command_at(i); i++)
        print_bytes(iggy_command_at(i)->code, 4);
    for (unsigned i = 0; iggy_operation_at(i); i++)
        print_bytes(iggy_operation_at(i)->value, 8);
    for (unsigned i = 0; i < G_N_ELEMENTS(edges); i++)
        print_bytes(edges[i], 4);
    for (uint64_t version = 0x2c00; version <= 0x3002; version += version == 0x2c00 ? 0x400 : 1)
        print_bytes(version, 4);
    for (unsigned command = 0; command <= 36; command++)
        print_bytes((uint64_t)command << 32, 5); /* release 0, command */
    print_bytes(0x0401, 2); /* a numeric identifier */
    print_bytes(UINT64_MAX, 8);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    g_setenv("WIRESHARK_ABORT_ON_DISSECTOR_BUG", "1", TRUE);
    g_setenv("WIRESHARK_ABORT_ON_TOO_MANY_ITEMS", "1", TRUE);
    g_setenv("WIRESHARK_DEBUG_WMEM_OVERRIDE", "simple", FALSE);
    g_setenv("G_SLICE", "always-malloc", FALSE);
    timestamp_set_type(TS_RELATIVE);
    timestamp_set_precision(TS_PREC_AUTO);
    timestamp_set_seconds_type(TS_SECONDS_DEFAULT);
    epan_start((*argv)[0]);
    if (*argc > 1 && strcmp((*argv)[1], "--dictionary") == 0) {
        print_dictionary();
        exit(0);
    }
    e_prefs *prefs = epan_load_settings();
    build_column_format_array(&columns, prefs->num_cols, TRUE);
    only_these_protocols();
    add_carriers();
    add_tables();
    malformed = proto_get_id_by_filter_name("_ws.malformed");
    return 0;
}

static void next_session(void)
{
    static const struct packet_provider_funcs provider = { .get_frame_ts = frame_time };
    if (session)
        epan_free(session);
    session = epan_new(NULL, &provider);
    inputs = frames_before = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    if (size < 4)
        return 0;
    uint8_t options = input[0];
    filter = input[2] >> 5;
    ciphers_open = (input[1] & OPTION_OPENS) != 0;
    set_quic((input[1] & OPTION_CARRIER) == CARRIER_QUIC);
    set_switch("tcp.reassemble_out_of_order", (options & OPTION_OUT_OF_ORDER) != 0);
    set_switch("tcp.desegment_tcp_streams", !(options & OPTION_NO_REASSEMBLY));
    set_switch("iggy.hide_secrets", (options & OPTION_HIDE_SECRETS) != 0);
    if (!session || inputs == INPUTS_OF_A_SESSION)
        next_session();
    capture.count = 0;
    capture.cut = false;
    inputs++;
    read_input(input, size);
    if (input[1] & OPTION_TAPS)
        listen();
    run_pass(true, filter || (options & OPTION_FIRST_TREE) || postdissectors_want_hfids());
    if (input[1] & OPTION_TAPS)
        begin_again();
    change_preferences((input[1] & OPTION_ONWARDS) != 0);
    run_pass(false, true);
    change_preferences(false);
    if (input[1] & OPTION_TAPS)
        listen_no_more();
    frames_before += capture.count;
    for (unsigned i = 0; i < capture.count; i++) {
        frame_data_destroy(&capture.packets[i].fd);
        g_free(capture.packets[i].bytes);
    }
    return 0;
}
