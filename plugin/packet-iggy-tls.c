/* packet-iggy-tls.c
 * Iggy in TLS: by heuristic, by port, and on the replica plane by its ALPN (replica.md 1).
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-carriers.h"

#include <epan/dissectors/packet-tls.h>

#include "packet-iggy-joiner.h"

#define DEFAULT_PORTS "8090,9090"

static dissector_handle_t iggy_tls_handle;
static heur_dissector_list_t tls_heuristics;

/*
 * TLS asks this handle alone from now on, and shows nothing that it refuses: so it refuses nothing that it can show. Since 4.6
 * the port is asked before the heuristics: what is not Iggy on our ports, HTTP above all, is left to them here. Who takes it
 * tells TLS by `data`.
 */
static int dissect_iggy_tls(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    heur_dtbl_entry_t *entry;
    int used = iggy_dissect_unnumbered(tvb, pinfo, tree, &iggy_layer_tls, IGGY_TRUST_PORT);
    if (used)
        return used;
    if (data && tls_heuristics && dissector_try_heuristic(tls_heuristics, tvb, pinfo, tree, &entry, data))
        return (int)tvb_captured_length(tvb);
    return call_data_dissector(tvb, pinfo, tree);
}

static iggy_bool dissect_iggy_tls_heuristic(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    if (!iggy_dissect_unnumbered(tvb, pinfo, tree, &iggy_layer_tls, IGGY_TRUST_NONE))
        return 0;
    if (data)
        *iggy_tls_app_handle(data) = iggy_tls_handle;
    return 1;
}

void iggy_handoff_tls(int proto)
{
    tls_heuristics = find_heur_dissector_list("tls");
    iggy_tls_handle = register_dissector("iggy.tls", dissect_iggy_tls, proto);
    dissector_add_uint_range_with_preference("tls.port", DEFAULT_PORTS, iggy_tls_handle);
    dissector_add_string("tls.alpn", "iggy-replica", iggy_tls_handle);
    heur_dissector_add("tls", dissect_iggy_tls_heuristic, "Iggy over TLS", "iggy_tls", proto, HEURISTIC_ENABLE);
}
