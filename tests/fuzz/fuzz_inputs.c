/* fuzz_inputs.c
 * What surrounds the bytes of an input of fuzz_iggy: carriers, preferences, filters, ciphers.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "fuzz_inputs.h"

#include "packet-iggy-compat.h"

#include <stdlib.h>
#include <string.h>

#include <epan/prefs.h>
#ifdef IGGY_HAVE_GCRYPT
#include <gcrypt.h>
#endif

/* ---- carriers ---- */

/*
 * TLS records and WebSocket messages, without TLS and WebSocket: a segment is a piece, handed to the dissector that their ports
 * name, or to their heuristics.
 */
typedef struct {
    uint16_t port;
    const char *dissector, *heuristics;
} carrier_t;

static const carrier_t carriers[] = { { 8092, "iggy.websocket", NULL }, { 8093, NULL, "ws" },
                                      { 8443, "iggy.tls", NULL }, { 8444, NULL, "tls" }, { 8445, NULL, NULL } };

uint16_t carrier_port(unsigned carrier)
{
    return carrier >= 1 && carrier <= G_N_ELEMENTS(carriers) ? carriers[carrier - 1].port : 8090;
}

static int dissect_carrier(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data _U_)
{
    uint16_t may = pinfo->can_desegment;
    uint32_t port = MIN(pinfo->srcport, pinfo->destport);
    heur_dtbl_entry_t *entry;
    pinfo->can_desegment = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(carriers); i++)
        if (carriers[i].port == port && carriers[i].dissector)
            call_dissector_only(find_dissector(carriers[i].dissector), tvb, pinfo, tree, NULL);
        else if (carriers[i].port == port && carriers[i].heuristics)
            dissector_try_heuristic(find_heur_dissector_list(carriers[i].heuristics), tvb, pinfo, tree, &entry, NULL);
    pinfo->can_desegment = may;
    return (int)tvb_captured_length(tvb);
}

static int field_of(const char *name)
{
    int number = proto_registrar_get_id_byname(name);
    if (number <= 0)
        abort();
    return number;
}

/*
 * A QUIC packet without QUIC: the fields that its dissector shows of STREAM frames, in its order. A segment is STREAM frames
 * { kind, stream u8, offset u16 if bit 0 of the kind is set, length u16, data }, numbers big-endian. Bit 1: no data is shown, as
 * where QUIC cannot read it; bit 2: an ALPN is; bit 3: of another connection of the same addresses.
 */
static int dissect_quic(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data _U_)
{
    int end = (int)tvb_captured_length(tvb);
    const uint8_t *source = (const uint8_t *)pinfo->src.data; /* its lower part is that of both sides, and of this input alone */
    uint32_t connection = (uint32_t)source[1] << 17 | (uint32_t)source[2] << 9 | (uint32_t)source[3] << 1;
    for (int at = 0; at + 6 < end;) {
        unsigned kind = tvb_get_uint8(tvb, at), length;
        if (at == 0)
            proto_tree_add_uint(tree, field_of("quic.connection.number"), tvb, 0, 0, connection | (kind & 8 ? 1u : 0u));
        proto_tree_add_item(tree, field_of("quic.stream.stream_id"), tvb, at + 1, 1, ENC_BIG_ENDIAN);
        at += 2;
        if (kind & 1) {
            proto_tree_add_item(tree, field_of("quic.stream.offset"), tvb, at, 2, ENC_BIG_ENDIAN);
            at += 2;
        }
        length = MIN(tvb_get_ntohs(tvb, at), (unsigned)(end - at - 2));
        at += 2;
        if (kind & 4)
            proto_tree_add_item(tree, field_of("tls.handshake.extensions_alpn_str"), tvb, at, 0, ENC_ASCII);
        if (!(kind & 2))
            proto_tree_add_item(tree, field_of("quic.stream_data"), tvb, at, (int)length, ENC_NA);
        at += (int)length;
    }
    return end;
}

void add_carriers(void)
{
    dissector_handle_t handle = create_dissector_handle(dissect_carrier, proto_get_id_by_filter_name("tcp"));
    for (size_t i = 0; i + 1 < G_N_ELEMENTS(carriers); i++)
        dissector_add_uint("tcp.port", carriers[i].port, handle);
    handle = create_dissector_handle(dissect_quic, proto_get_id_by_filter_name("quic"));
    dissector_add_uint("tcp.port", carriers[CARRIER_QUIC - 1].port, handle);
}

/* ---- preferences ---- */

static void set_preference(const char *name, const char *value)
{
    char *error = NULL;
    char *text = g_strdup_printf("%s:%s", name, value);
    if (prefs_set_pref(text, &error) != PREFS_SET_OK)
        abort();
    g_free(error);
    g_free(text);
}

void set_switch(const char *name, bool value) { set_preference(name, value ? "TRUE" : "FALSE"); }

void set_quic(bool on)
{
    static bool was;
    if (on == was)
        return;
    set_switch("iggy.quic", on);
    prefs_apply_all();
    was = on;
}

void change_preferences(bool changed)
{
    static const char *const values[][3] = {
        { "iggy.maximum_frame_size", "67108864", "700" },  { "iggy.elements_limit", "20000", "3" },
        { "iggy.default_version", "0.12.0", "0.11.0" },    { "iggy.silence", "2000", "0" },
        { "iggy.desegment", "TRUE", "FALSE" },             { "iggy.verify_checksums", "TRUE", "FALSE" },
        { "iggy.payload_text", "TRUE", "FALSE" },          { "iggy.decode_always", "FALSE", "TRUE" },
    };
    static bool was;
    for (size_t i = 0; i < G_N_ELEMENTS(values) && changed != was; i++)
        set_preference(values[i][0], values[i][changed ? 2 : 1]);
    was = changed;
}

/* ---- payloads ---- */

static iggy_bool takes_payload(tvbuff_t *tvb, packet_info *pinfo _U_, proto_tree *tree _U_, void *data _U_)
{
    return tvb_captured_length(tvb) > 4 && tvb_get_uint8(tvb, 0) == 'H';
}

/* By the last letter of a topic's name: payloads that are Iggy's own frames, packets, and what their dissector refuses. */
void add_tables(void)
{
    const char *const rows[] = {
        "iggy_payloads:\"\",\"regex\",\"[0-4]$\",\"iggy.websocket\",\"\"", "iggy_payloads:\"\",\"regex\",\"[5-9]$\",\"ip\",\"\"",
        "iggy_payloads:\"\",\"contains\",\"x\",\"xml\",\"\"",             "iggy_payloads:\"s\",\"equals\",\"t\",\"iggy\",\"\"",
        "iggy_payloads:\"2\",\"equals\",\"3\",\"iggy.tls\",\"\"",         "iggy_payloads:\"\",\"contains\",\"p\",\"protobuf\",\"a.B\"",
        "iggy_keys:\"orders\",\"7\",\"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\"",
        "iggy_keys:\"\",\"\",\"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\"",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        set_preference("uat", rows[i]);
    heur_dissector_add("iggy.payload", takes_payload, "Payloads that begin with H", "fuzz_iggy", proto_get_id_by_filter_name("xml"),
                       HEURISTIC_ENABLE);
    dissector_change_string("iggy.topic", "s/events", find_dissector("xml"));
}

/* ---- filters ---- */

void prime_filter(epan_dissect_t *edt, unsigned number)
{
    static const char *const filters[7][3] = {
        { "iggy.size", "iggy.request", NULL },
        { "iggy.message.payload_text", "iggy.message.header.value", NULL },
        { "iggy.session.user", "iggy.response_time", "iggy.stream.name" },
        { "_ws.expert", NULL, NULL },
        { "json", "iggy.message.payload", NULL },
        { "iggy.checksum.status", "iggy.op", "iggy.expert.range" },
        { "iggy.option.description", "iggy.change.has_permissions", "iggy.partition.id" },
    };
    for (size_t i = 0; i < 3 && filters[number - 1][i]; i++)
        epan_dissect_prime_with_hfid(edt, field_of(filters[number - 1][i]));
}

/* ---- ciphers: the linker puts these before libgcrypt's ---- */

bool ciphers_open;

#ifdef IGGY_HAVE_GCRYPT

gcry_error_t __real_gcry_cipher_decrypt(gcry_cipher_hd_t cipher, void *out, size_t out_size, const void *in, size_t in_size);
gcry_error_t __wrap_gcry_cipher_decrypt(gcry_cipher_hd_t cipher, void *out, size_t out_size, const void *in, size_t in_size);
gcry_error_t __real_gcry_cipher_checktag(gcry_cipher_hd_t cipher, const void *tag, size_t length);
gcry_error_t __wrap_gcry_cipher_checktag(gcry_cipher_hd_t cipher, const void *tag, size_t length);

gcry_error_t __wrap_gcry_cipher_decrypt(gcry_cipher_hd_t cipher, void *out, size_t out_size, const void *in, size_t in_size)
{
    if (!ciphers_open)
        return __real_gcry_cipher_decrypt(cipher, out, out_size, in, in_size);
    memcpy(out, in, MIN(in_size, out_size));
    return 0;
}

gcry_error_t __wrap_gcry_cipher_checktag(gcry_cipher_hd_t cipher, const void *tag, size_t length)
{
    return ciphers_open ? 0 : __real_gcry_cipher_checktag(cipher, tag, length);
}

#endif
