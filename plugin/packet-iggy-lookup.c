/* packet-iggy-lookup.c
 * The conversation of a packet: most often the one that the last packets of these ports belonged to.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-lookup.h"

#include <string.h>

#include <epan/dissectors/packet-tcp.h>

#define SLOTS 64u
#define TYPE_PLACE 4 /* in a key of two addresses and two ports without wildcards */

/* The newest conversation of its addresses and ports while TCP knew so many connections. */
typedef struct {
    conversation_t *conversation;
    uint32_t        connections;
} recent_t;

static recent_t recent[SLOTS];

static void forget(void) { memset(recent, 0, sizeof recent); }

/* Both directions of a connection have one slot. */
static recent_t *slot_of(const packet_info *pinfo) { return &recent[(pinfo->srcport ^ pinfo->destport) % SLOTS]; }

/* Addresses and ports of the packet are what conversations are found by. */
static bool is_plain(const packet_info *pinfo)
{
    return pinfo->ptype == PT_TCP && !pinfo->use_conv_addr_port_endpoints && !pinfo->conv_elements;
}

static bool is_from_to(const conversation_element_t *key, const packet_info *pinfo)
{
    return conversation_key_port1(key) == pinfo->srcport && conversation_key_port2(key) == pinfo->destport &&
           addresses_equal(conversation_key_addr1(key), &pinfo->src) && addresses_equal(conversation_key_addr2(key), &pinfo->dst);
}

static bool is_to_from(const conversation_element_t *key, const packet_info *pinfo)
{
    return conversation_key_port1(key) == pinfo->destport && conversation_key_port2(key) == pinfo->srcport &&
           addresses_equal(conversation_key_addr1(key), &pinfo->dst) && addresses_equal(conversation_key_addr2(key), &pinfo->src);
}

/* No wildcards, and nothing else that tells packets apart (from 4.4 on: interface and VLAN, if the user wants it). */
static bool has_whole_key(const conversation_t *conversation)
{
    unsigned place = 0;
    while (conversation->key_ptr[place].type != CE_CONVERSATION_TYPE)
        place++;
    return place == TYPE_PLACE && conversation->key_ptr[0].type == CE_ADDRESS && conversation->key_ptr[2].type == CE_ADDRESS;
}

/*
 * Ports are used again: a later connection has a conversation of its own, under the same key, or under the other way round if
 * its first packet came from the other side.
 */
static bool is_newest(const conversation_t *conversation, const packet_info *pinfo)
{
    return !PINFO_FD_VISITED(pinfo) || conversation == find_conversation(UINT32_MAX, &pinfo->src, &pinfo->dst, CONVERSATION_TCP,
                                                                         pinfo->srcport, pinfo->destport, 0);
}

static bool is_of(const recent_t *slot, const packet_info *pinfo)
{
    const conversation_t *conversation = slot->conversation;
    return conversation && slot->connections == get_tcp_stream_count() && conversation->setup_frame <= pinfo->num &&
           (is_from_to(conversation->key_ptr, pinfo) || is_to_from(conversation->key_ptr, pinfo));
}

conversation_t *iggy_conversation_of(packet_info *pinfo)
{
    if (!is_plain(pinfo))
        return find_or_create_conversation(pinfo);
    recent_t *slot = slot_of(pinfo);
    if (is_of(slot, pinfo))
        return slot->conversation;
    conversation_t *conversation = find_or_create_conversation(pinfo);
    slot->conversation = has_whole_key(conversation) && is_newest(conversation, pinfo) ? conversation : NULL;
    slot->connections = get_tcp_stream_count();
    return conversation;
}

void iggy_register_lookup(void)
{
    register_init_routine(forget);
    register_cleanup_routine(forget);
}
