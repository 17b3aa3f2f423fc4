/* packet-iggy-conversation.h
 * What is known of a connection: protocol version, open requests, pairs. Records per frame that all passes read.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_CONVERSATION_H
#define PACKET_IGGY_CONVERSATION_H

#include "packet-iggy.h"

#include <wsutil/nstime.h>

/* How the version of a connection is known. */
typedef enum {
    IGGY_KNOWN_PREFERENCE = 0,
    IGGY_KNOWN_SIGN,   /* a sign of framing.md 8 */
    IGGY_KNOWN_LAYOUT, /* the bytes of a body fit one version only */
    IGGY_KNOWN_CLUSTER, /* a login to a server of the same cluster */
    IGGY_KNOWN_SESSION, /* another connection of the same session */
    IGGY_KNOWN_LOGIN   /* login or bind, or the reply */
} iggy_known_t;

typedef struct iggy_conversation iggy_conversation_t; /* private to the room */

/* A request and what became of it. Links forward (reply_frame) are shown from the second pass on only. */
typedef enum {
    IGGY_EXCHANGE_OPEN,     /* never answered in the capture, if it stays so */
    IGGY_EXCHANGE_ANSWERED, /* by reply_frame */
    IGGY_EXCHANGE_EVICTED,  /* ended by an eviction that was not its answer */
    IGGY_EXCHANGE_LOST,     /* the answer was in a hole of the capture */
    IGGY_EXCHANGE_DROPPED,  /* no longer waited for: 900 s, or 4096 newer ones */
    IGGY_EXCHANGE_SILENT    /* waits for nothing (cancellations) */
} iggy_exchange_state_t;

#define IGGY_EXCHANGE_CANCELS   0x01u /* it waits for nothing; iggy_exchange_first() is what it cancels, if that is known */
#define IGGY_EXCHANGE_IN_DOUBT  0x02u /* bytes of the other direction were lost while it was open */
#define IGGY_EXCHANGE_TRANSIENT 0x04u /* refused with 57 or 58: the same number comes again */
#define IGGY_EXCHANGE_REPEATS   0x08u /* a retry: iggy_exchange_first() is what it repeats */

/* There is one for every two frames or so, and all of them stay: 48 bytes. */
typedef struct iggy_exchange {
    uint64_t request;       /* request number */
    uint64_t request_when;  /* private: iggy_request_time() */
    void    *request_facts; /* iggy_kept_t or NULL: ids and names of the request that its reply needs (names, Info) */
    uint32_t number;        /* private: its own */
    uint32_t connection;    /* private: tells connections apart */
    uint32_t request_frame; /* packet numbers, 0 = not in the capture */
    uint32_t reply_frame;
    uint32_t code;          /* command code, 0 unknown */
    uint8_t  operation;     /* of the request */
    uint8_t  state;         /* iggy_exchange_state_t */
    uint8_t  flags;
} iggy_exchange_t;

/** Time of the packet that completed the request; `now`: time of any packet less than 292 years away. */
nstime_t iggy_request_time(const iggy_exchange_t *exchange, const nstime_t *now);

/** Of a retry the exchange that it repeats, of a cancellation what it cancels; else NULL. */
const iggy_exchange_t *iggy_exchange_first(const iggy_exchange_t *exchange);

/** Whether the exchange repeats an earlier one: statistics count that once. */
static inline bool iggy_is_retry(const iggy_exchange_t *exchange)
{
    return exchange && (exchange->flags & IGGY_EXCHANGE_REPEATS);
}

/* of replies to clients, and of answers between servers (-links) */
extern int hf_iggy_response_in, hf_iggy_response_to, hf_iggy_response_time;

/** A new connection; file scope. Carriers call it once a connection in the first pass. */
iggy_conversation_t *iggy_conversation_new(void);

/**
 * The first thing with a frame: finds or (first pass) makes its record, learns the version, pairs it.
 * Fills pdu->frame, version, code, exchange, response. Header facts are there; no tree is touched.
 */
void iggy_conversation_frame(iggy_pdu_t *pdu);

/**
 * After the body was walked: keeps the facts of a request that its reply needs (first pass), gives a reply those of its request
 * (has = 3) where it has none of its own, follows renames and deletes. Before columns and taps.
 */
void iggy_conversation_after_body(iggy_pdu_t *pdu);

/**
 * Time from the request to this reply or eviction. False if it answers nothing, or is another answer to the same request
 * (each request counts once).
 */
bool iggy_conversation_response_time(const iggy_pdu_t *pdu, nstime_t *span);

/** Place of the frame in the capture: packets in order, within a packet the frames of a connection in order. Never 0. */
uint64_t iggy_conversation_order(const iggy_pdu_t *pdu);

/** Generated items: version, response_in, response_to, response_time, retry, notes. */
void iggy_conversation_show(iggy_pdu_t *pdu, proto_tree *tree);

void iggy_register_conversation(int proto);

#endif
