/* packet-iggy-kafka.c
 * Kafka's port. Servers of a cluster on one machine count up from the first one's port (replica.md 1): the third one has 9092,
 * and Wireshark asks the dissector of a port before all heuristics. Kafka's takes whatever comes, and asks for gigabytes behind
 * it. So frames are looked for first there, by the tests of the heuristic; everything else is Kafka's as without this plugin.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-carriers.h"

#include "packet-iggy.h"
#include "packet-iggy-framing.h"
#include "packet-iggy-recognise.h"

#define KAFKA_PORT 9092u

static dissector_handle_t kafka_handle; /* what stood in the table of ports before */
static dissector_handle_t iggy_handle;
static const heur_dtbl_entry_t *heuristic; /* of Iggy over TCP: where it is switched off nothing is looked for here, too */

/* Whether a header stands in a segment. A glance that costs Kafka's users nothing: the tests proper are the heuristic's. */
static bool has_header(tvbuff_t *tvb)
{
    const iggy_search_t any = { .maximum = iggy_maximum_frame_size(), .find = IGGY_FIND_ALL };
    uint32_t length = tvb_captured_length(tvb);
    if (length < IGGY_HEADER_SIZE)
        return false;
    const uint8_t *bytes = tvb_get_ptr(tvb, 0, (int)length);
    return iggy_find_header(bytes, length, 0, &any) < length;
}

/* Each call takes one off what a carrier lets its dissectors ask for; this one is none that Kafka or Iggy would count. */
static int call(dissector_handle_t handle, tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data, uint16_t can)
{
    pinfo->can_desegment = can;
    return call_dissector_only(handle, tvb, pinfo, tree, data);
}

static int dissect_iggy_or_kafka(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    uint16_t can = pinfo->saved_can_desegment;
    bool look = heuristic->enabled && (has_header(tvb) || iggy_is_known_server(pinfo));
    int done = look ? call(iggy_handle, tvb, pinfo, tree, data, can) : 0;
    return done ? done : call(kafka_handle, tvb, pinfo, tree, data, can);
}

/* When all have registered. What the user says (Decode As, preferences of Kafka) is asked before, or takes the place of this. */
static void take_kafka_port(void)
{
    int tcp = proto_get_id_by_filter_name("tcp");
    kafka_handle = dissector_get_default_uint_handle("tcp.port", KAFKA_PORT);
    heuristic = find_heur_dissector_by_unique_short_name(IGGY_TCP_HEURISTIC);
    if (!kafka_handle || !heuristic || tcp < 0)
        return;
    /* No layer of its own in a packet, and on while Iggy or Kafka is switched off. */
    int proto = proto_register_protocol_in_name_only("Apache Iggy or Kafka", "Iggy or Kafka", "iggy_or_kafka", tcp, FT_PROTOCOL);
    dissector_add_uint("tcp.port", KAFKA_PORT, create_dissector_handle(dissect_iggy_or_kafka, proto));
}

void iggy_handoff_kafka(int proto)
{
    iggy_handle = create_dissector_handle(iggy_tcp_as_heuristic, proto);
    register_final_registration_routine(take_kafka_port);
}
