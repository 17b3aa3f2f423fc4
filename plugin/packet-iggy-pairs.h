/* packet-iggy-pairs.h
 * Requests and replies: open requests of a connection, clients across connections, retries, cancellations, evictions
 * (framing.md 6 and 7, commands.md 10.1). All of it works in the first pass only.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_PAIRS_H
#define PACKET_IGGY_PAIRS_H

#include "packet-iggy-conversation.h"
#include "packet-iggy-version.h"

/* What the first pass found out about a frame, kept in its record. */
#define IGGY_NOTE_NO_REQUEST   0x01u /* a reply whose request is not in the capture, or was given up */
#define IGGY_NOTE_GIVEN_UP     0x02u /* ... requests of this connection were dropped before */
#define IGGY_NOTE_AGAIN        0x04u /* one more reply to a request that was answered */
#define IGGY_NOTE_ELSEWHERE    0x08u /* the request went over another connection of the session */
#define IGGY_NOTE_STALE_WRITE  0x10u
#define IGGY_NOTE_FENCED       0x20u
#define IGGY_NOTE_FAILED_LOGIN 0x40u
#define IGGY_NOTE_LATER        0x80u /* the request comes later in the capture than the reply */

/* Written in the first pass, read in all; 16 bytes. */
typedef struct iggy_frame {
    uint32_t packet;
    uint32_t position;     /* iggy_place_t */
    union {
        uint32_t exchange; /* client plane: iggy_pairs_exchange() */
        uint32_t link;     /* replica plane: of the room of links */
    };
    uint16_t ordinal;      /* number of the frame among those of its packet, from 1 */
    uint8_t  version;      /* index of the version's state */
    uint8_t  notes;        /* IGGY_NOTE_... */
} iggy_frame_t;

struct iggy_session_history;

/* A client id, over all its connections. */
typedef struct iggy_client {
    uint8_t               id[16];
    iggy_version_state_t  version;  /* from its login; known 0: none seen */
    uint64_t              session;  /* newest session number seen */
    uint64_t              writes[2]; /* highest request number: metadata operations, partition operations */
    iggy_exchange_t     **history;  /* by request number: what it asked lately, for retries */
    unsigned              history_size, history_used;
    struct iggy_session_history *sessions; /* of the room of sessions */
} iggy_client_t;

struct iggy_open;
struct iggy_orphan;

typedef struct {
    struct iggy_open *oldest, *newest;
    struct iggy_open **buckets; /* by request number; pairs of first and last */
    unsigned          buckets_count, count;
    iggy_client_t    *client;   /* of the last request */
    iggy_exchange_t  *cancel;   /* the last cancellation */
    struct iggy_orphan *orphans; /* the last replies without their requests */
    unsigned          orphans_count;
    uint32_t          connection;
    uint64_t          asked;    /* requests so far */
    uint64_t          bound;    /* of them the last one within a session */
    uint32_t          asked_end; /* position behind the last one */
    bool              pipelined; /* was seen to send before the reply came */
    bool              registered; /* the client's login went over this connection */
    bool              given_up; /* requests were dropped */
    bool              told;      /* a reply acknowledged its request: acknowledgements can be believed */
    bool              suspected; /* some are in doubt because of bytes that may be late */
} iggy_pairs_t;

/* Rare links between exchanges, beside them. */
typedef struct {
    uint32_t cancelled_in, repeated_in, evicted_in; /* packets, 0 = not */
    uint32_t first;  /* number of the exchange that it repeats or cancels, 0 = none */
    uint32_t digest; /* of the body of a request that was refused for the moment */
} iggy_aside_t;

void iggy_pairs_init(iggy_pairs_t *pairs);

/** The exchange of a number that a frame has, NULL for 0. All passes. */
iggy_exchange_t *iggy_pairs_exchange(uint32_t number);

/** The client of a request, made when it is new; NULL if the header is cut short. */
iggy_client_t *iggy_pairs_client(const iggy_pdu_t *pdu, iggy_pairs_t *pairs);

/** A request: its exchange, open or silent; `pdu->code` is known. */
iggy_exchange_t *iggy_pairs_request(iggy_pdu_t *pdu, iggy_pairs_t *pairs, const iggy_versions_t *versions, uint8_t *notes);

/** A reply: the exchange that it answers, or NULL. */
iggy_exchange_t *iggy_pairs_reply(iggy_pdu_t *pdu, iggy_pairs_t *pairs, const iggy_versions_t *versions, uint8_t *notes);

/** An eviction: the open login or bind, or NULL; nothing stays open. */
iggy_exchange_t *iggy_pairs_eviction(iggy_pdu_t *pdu, iggy_pairs_t *pairs);

/** The error of a reply, in its header or its result section; 0: success. Needs header facts only. */
uint32_t iggy_reply_error(const iggy_pdu_t *pdu);

/** What else became of an exchange, NULL if nothing. All passes. */
const iggy_aside_t *iggy_pairs_aside(const iggy_exchange_t *exchange);

void iggy_register_pairs(void);

#endif
