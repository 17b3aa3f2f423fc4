/* packet-iggy.c
 * Apache Iggy, a message streaming server: registration of the protocol, its preferences, and the hand-off to its carriers.
 *
 * Every frame has a 256-byte little-endian header; two planes share it: clients and servers, and servers of a cluster.
 * https://iggy.apache.org/docs/binary-protocol/
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy.h"

#include <epan/prefs.h>

#include "packet-iggy-carriers.h"
#include "packet-iggy-checksum.h"
#include "packet-iggy-commands.h"
#include "packet-iggy-conversation.h"
#include "packet-iggy-export.h"
#include "packet-iggy-framing.h"
#include "packet-iggy-headers.h"
#include "packet-iggy-item.h"
#include "packet-iggy-joiner.h"
#include "packet-iggy-layout.h"
#include "packet-iggy-links.h"
#include "packet-iggy-legacy.h"
#include "packet-iggy-lookup.h"
#include "packet-iggy-names.h"
#include "packet-iggy-payload.h"
#include "packet-iggy-pdu.h"
#include "packet-iggy-statistics.h"
#include "packet-iggy-time.h"
#include "packet-iggy-wanted.h"

int       proto_iggy = IGGY_UNREGISTERED;
module_t *iggy_preferences;

void proto_register_iggy(void)
{
    iggy_commands_init();
    proto_iggy = proto_register_protocol("Apache Iggy", "Iggy", "iggy");
    iggy_preferences = prefs_register_protocol(proto_iggy, iggy_apply_quic);
    iggy_register_wanted(iggy_preferences);
    iggy_register_framing(proto_iggy, iggy_preferences);
    iggy_register_joiner(proto_iggy);
    iggy_register_quic(proto_iggy, iggy_preferences);
    iggy_register_pdu(proto_iggy);
    iggy_register_headers(proto_iggy);
    iggy_register_checksum(proto_iggy);
    iggy_register_conversation(proto_iggy);
    iggy_register_links(proto_iggy);
    iggy_register_names(proto_iggy);
    iggy_register_item();
    iggy_register_layout(proto_iggy);
    iggy_register_lookup();
    iggy_register_time();
    iggy_register_bodies(proto_iggy);
    iggy_register_export(proto_iggy);
    iggy_register_statistics(proto_iggy);
    iggy_register_legacy();
    iggy_wanted_registered(proto_iggy);
}

void proto_reg_handoff_iggy(void)
{
    iggy_handoff_framing();
    iggy_handoff_tls(proto_iggy);
    iggy_handoff_websocket(proto_iggy);
    iggy_handoff_kafka(proto_iggy);
    iggy_handoff_payload();
}
