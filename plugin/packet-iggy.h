/* packet-iggy.h
 * What the rooms of the Iggy dissector share: protocol versions, the facts of a frame, and the struct that goes down.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_H
#define PACKET_IGGY_H

#include "packet-iggy-compat.h"

#define IGGY_HEADER_SIZE 256u /* every frame begins with so many bytes (framing.md 1) */
#define IGGY_SIZE_OFFSET 48u  /* u32: length of the frame, header included */
#define IGGY_COMMAND_OFFSET 60u

/* Protocol versions in order, as `since` and `until` of rows and tables; 0 is "unbounded" or "unknown". */
typedef enum {
    IGGY_VERSION_ANY = 0,
    IGGY_0_11_0 = 1,
    IGGY_0_12_0 = 2,
    IGGY_0_12_1 = 3,
    IGGY_0_12_2 = 4
} iggy_version_t;

/* The header command (byte 60), commands.tsv. */
typedef enum {
    IGGY_REQUEST = 5,
    IGGY_PREPARE = 6,
    IGGY_PREPARE_OK = 7,
    IGGY_REPLY = 8,
    IGGY_COMMIT = 9,
    IGGY_START_VIEW_CHANGE = 10,
    IGGY_DO_VIEW_CHANGE = 11,
    IGGY_START_VIEW = 12,
    IGGY_EVICTION = 13,
    IGGY_REPLICA_HELLO = 14,
    IGGY_REPLICA_CHALLENGE = 15,
    IGGY_REPLICA_FINISH = 16,
    IGGY_REQUEST_START_VIEW = 17,
    IGGY_REQUEST_PREPARES = 18,
    IGGY_REPAIR_PREPARE = 19,
    IGGY_REPAIR_DONE = 20,
    IGGY_RANGE_EVICTED = 21,
    IGGY_REQUEST_STATE_TRANSFER = 22,
    IGGY_STATE_TRANSFER_TARGET = 23,
    IGGY_REQUEST_STATE_CHUNK = 24,
    IGGY_STATE_CHUNK = 25,
    IGGY_FORWARD_REGISTER = 26,
    IGGY_FORWARD_REGISTER_RESULT = 27,
    IGGY_FORWARD_LOGOUT = 28,
    IGGY_FORWARD_LOGOUT_RESULT = 29,
    IGGY_CONSUMER_SESSION_HEARTBEAT = 30,
    IGGY_SESSION_RETIREMENT_PROGRESS = 31,
    IGGY_FORWARD_COMPLETION = 32,
    IGGY_PRIMARY_REBALANCE = 33,
    IGGY_SEGMENT_DELETE = 34,
    IGGY_COMMIT_REPLY = 35,
    IGGY_PREPARE_PROGRESS = 36,
    IGGY_COMMANDS /* from here on none is known */
} iggy_command_byte_t;

/* Operations that the code names (operations.tsv has them all). */
#define IGGY_OP_REGISTER 1u
#define IGGY_OP_NON_REPLICATED 2u
#define IGGY_OP_LOGOUT 3u
#define IGGY_OP_SEND_MESSAGES 160u

/*
 * Facts: values of one frame that rows hand to Info, names, pairs and statistics. A row with `.fact` stores its value here.
 * A fact pair X_ID, X_NAME stands together: an identifier row names X_ID and fills one of the two.
 */
typedef enum {
    IGGY_FACT_NONE = 0,
    /* header */
    IGGY_FACT_SIZE,
    IGGY_FACT_VIEW,
    IGGY_FACT_COMMAND,
    IGGY_FACT_REPLICA,
    IGGY_FACT_CLIENT,           /* 16 bytes: offset only */
    IGGY_FACT_REQUEST_CHECKSUM, /* 16 bytes: offset only */
    IGGY_FACT_OPERATION,
    IGGY_FACT_REQUEST,
    IGGY_FACT_SESSION,
    IGGY_FACT_CODE,   /* header 196 of a request; meaningful with operation 2 */
    IGGY_FACT_STATUS, /* reply status; status of a handshake */
    IGGY_FACT_REASON, /* eviction */
    IGGY_FACT_OP,
    IGGY_FACT_COMMIT,
    IGGY_FACT_GROUP, /* consensus group, namespace */
    IGGY_FACT_TIMESTAMP,
    IGGY_FACT_NONCE, /* 16 bytes (36: 8): offset */
    IGGY_FACT_KIND,
    IGGY_FACT_READY,
    IGGY_FACT_FROM_OP,
    IGGY_FACT_TO_OP,
    IGGY_FACT_CHUNK_OFFSET,
    IGGY_FACT_ARTIFACT,
    IGGY_FACT_LEN,
    IGGY_FACT_AVAILABLE,
    IGGY_FACT_OUTCOME,
    IGGY_FACT_COUNTER,          /* timestamp_monotonic of 9 and 35 */
    IGGY_FACT_PREPARE_CHECKSUM, /* 16 bytes: offset only */
    IGGY_FACT_ACTING_USER,      /* user_id of a header */
    IGGY_FACT_HEADER_VERSION,   /* eviction 14: highest accepted version */
    /* bodies */
    IGGY_FACT_RESULT, /* result code of the result section, present also when 0 entries: then value 0 */
    IGGY_FACT_STREAM_ID,
    IGGY_FACT_STREAM_NAME,
    IGGY_FACT_TOPIC_ID,
    IGGY_FACT_TOPIC_NAME,
    IGGY_FACT_CONSUMER_GROUP_ID,
    IGGY_FACT_CONSUMER_GROUP_NAME,
    IGGY_FACT_CONSUMER_ID,
    IGGY_FACT_CONSUMER_NAME,
    IGGY_FACT_USER_ID,
    IGGY_FACT_USER_NAME,
    IGGY_FACT_TOKEN_NAME,
    IGGY_FACT_NEW_NAME,
    IGGY_FACT_PARTITION,
    IGGY_FACT_SCOPE,
    IGGY_FACT_CONNECTION_ID, /* from STREAM_ID up to here: what is kept of a request (iggy_fact_is_kept) */
    IGGY_FACT_PARTITIONS_COUNT,
    IGGY_FACT_MESSAGES_COUNT, /* carried */
    IGGY_FACT_POLL_COUNT,     /* asked for */
    IGGY_FACT_MESSAGES_BYTES, /* payload bytes or, when not walked, batch bytes */
    IGGY_FACT_FIRST_OFFSET,
    IGGY_FACT_LAST_OFFSET,
    IGGY_FACT_CURRENT_OFFSET,
    IGGY_FACT_STORED_OFFSET,
    IGGY_FACT_OFFSET, /* of a store or poll request, or to truncate at */
    IGGY_FACT_COUNT,  /* elements of a listing */
    IGGY_FACT_LOGIN_VERSION,
    IGGY_FACT_SDK_NAME,
    IGGY_FACT_SDK_VERSION,
    IGGY_FACT_SERVER_VERSION,      /* packed */
    IGGY_FACT_SERVER_VERSION_TEXT,
    IGGY_FACT_STRATEGY, /* of a poll: where it starts */
    IGGY_FACT_PRIMARY,  /* replica that leads a partition */
    IGGY_FACT_SEGMENTS_COUNT,
    IGGY_FACT_LIMIT
} iggy_fact_t;

typedef struct {
    uint64_t value; /* of a number; else 0 */
    int      offset; /* in the frame, -1 if the value was not read from it (names learnt) */
    int      length;
    const char *text; /* of texts: packet scope, or file scope for names learnt */
} iggy_fact_value_t;

typedef struct {
    uint8_t           has[IGGY_FACT_LIMIT]; /* 1: read from the frame; 2: learnt from names; 3: of the request that it answers */
    iggy_fact_value_t at[IGGY_FACT_LIMIT];
} iggy_facts_t;

/** Whether a request's fact is kept for its reply. */
static inline bool iggy_fact_is_kept(unsigned fact) { return fact >= IGGY_FACT_STREAM_ID && fact <= IGGY_FACT_CONNECTION_ID; }

/** Whether the frame has the fact. */
static inline bool iggy_has(const iggy_facts_t *facts, iggy_fact_t fact) { return facts->has[fact] != 0; }

/** The fact's number, or `otherwise`. */
static inline uint64_t iggy_fact(const iggy_facts_t *facts, iggy_fact_t fact, uint64_t otherwise)
{
    return facts->has[fact] ? facts->at[fact].value : otherwise;
}

struct iggy_conversation;
struct iggy_exchange;
struct iggy_frame;

/* Who sent a frame. */
typedef enum { IGGY_SIDE_CLIENT = 0, IGGY_SIDE_SERVER = 1 } iggy_side_t; /* replica plane: dialer, acceptor */

/* Where a frame stands; the carriers fill it (tcp, tls, websocket, quic). */
typedef struct {
    struct iggy_conversation *conversation;
    uint32_t    position;  /* with the packet's number the key of the frame in all passes: TCP: sequence number of byte 0 */
    uint64_t    lane;      /* QUIC: number of the stream + 1: a reply answers the request of its stream. Elsewhere 0 */
    iggy_side_t side;
    bool        replica;   /* replica plane */
    bool        after_hole; /* bytes of this direction are missing just before this frame (first pass only) */
    bool        acknowledges; /* TCP: the sender has told what it received, in `acknowledged` (first pass only) */
    bool        unseen;       /* ... and that is more than the capture has of the other direction, by a frame or more */
    bool        bounded;      /* ... or no more is known than what the other side had sent so far */
    uint32_t    acknowledged; /* position in the other direction behind the last byte received */
} iggy_place_t;

/* One frame on its way down. */
typedef struct iggy_pdu {
    packet_info *pinfo;
    tvbuff_t    *tvb;  /* the frame alone: byte 0 is header byte 0; may be cut short by the capture */
    proto_tree  *tree; /* subtree of the frame; may be NULL or faked */
    proto_item  *item; /* its item */
    const iggy_place_t *place;
    uint32_t     size;     /* as the header says */
    uint8_t      command;  /* byte 60 */
    uint8_t      operation; /* 0 where the header has none */
    uint32_t     code;     /* client command code; 0 = not known */
    uint8_t      version;  /* iggy_version_t used to decode, never 0 */
    bool         taught;   /* the body is not walked: nobody looks at it, and an earlier one has taught the same */
    bool         response; /* a reply (or eviction): bodies come from the `reply` side of tables */
    struct iggy_frame    *frame;    /* record of this frame; same in all passes */
    struct iggy_exchange *exchange; /* request and reply, may be NULL */
    iggy_facts_t *facts;   /* packet scope; handed to the taps */
    struct iggy_messages *messages; /* handed to the tap of exports; NULL: none yet (packet-iggy-export.h) */
} iggy_pdu_t;

extern int proto_iggy;
extern struct pref_module *iggy_preferences; /* set before the rooms register */

/**
 * Dissect one frame that a carrier has cut out. Adds the protocol item to `tree` and appends to the columns.
 * @param tvb   the frame, byte 0 = header byte 0, length = its size (captured length may be less: the dissection then ends
 *              with Wireshark's own bounds exception after everything before it was shown)
 * @param place where it stands; see iggy_place_t
 */
void dissect_iggy_pdu(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, const iggy_place_t *place);

void proto_register_iggy(void);
void proto_reg_handoff_iggy(void);

#endif
