/* packet-iggy-websocket.c
 * Iggy in WebSocket messages: one frame a message, cut or several of them where a server likes it (framing.md 1).
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-carriers.h"

#include "packet-iggy-joiner.h"

#define DEFAULT_PORTS "8092"

static int dissect_iggy_websocket(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data _U_)
{
    int used = iggy_dissect_unnumbered(tvb, pinfo, tree, &iggy_layer_websocket, IGGY_TRUST_PORT);
    return used ? used : call_data_dissector(tvb, pinfo, tree);
}

/* WebSocket asks its heuristics for every message anew. */
static iggy_bool dissect_iggy_websocket_heuristic(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data _U_)
{
    return iggy_dissect_unnumbered(tvb, pinfo, tree, &iggy_layer_websocket, IGGY_TRUST_NONE) != 0;
}

void iggy_handoff_websocket(int proto)
{
    dissector_handle_t handle = register_dissector("iggy.websocket", dissect_iggy_websocket, proto);
    dissector_add_uint_range_with_preference("ws.port", DEFAULT_PORTS, handle);
    heur_dissector_add("ws", dissect_iggy_websocket_heuristic, "Iggy over WebSocket", "iggy_ws", proto, HEURISTIC_ENABLE);
}
