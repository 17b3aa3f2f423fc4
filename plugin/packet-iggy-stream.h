/* packet-iggy-stream.h
 * Where frames begin and end in the two byte streams of a connection: in step, searching, waiting for evidence.
 *
 * Carriers hand over pieces of a stream in the first pass; what was found is kept as runs, which all passes read. Knows bytes
 * and positions only: no trees, no TCP.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_STREAM_H
#define PACKET_IGGY_STREAM_H

#include "packet-iggy.h"

/* Ask for one more segment, whatever its length. A carrier turns it into its own value. */
#define IGGY_ONE_MORE UINT32_MAX

typedef enum {
    IGGY_RUN_CONTINUATION, /* bytes that belong to no frame shown here */
    IGGY_RUN_FRAMES,       /* whole frames, back to back */
    IGGY_RUN_PARTIAL,      /* the beginning of a frame, 62 bytes or more; the rest cannot be waited for */
    IGGY_RUN_BAD,          /* a header whose size is out of range */
    IGGY_RUN_ASK           /* the carrier is asked for `length` more bytes behind the piece, from `offset` on */
} iggy_run_kind_t;

#define IGGY_RUN_SERVER 0x01u   /* sent by the server, or the acceptor */
#define IGGY_RUN_REPLICA 0x02u  /* replica plane */
#define IGGY_RUN_HOLE   0x04u   /* bytes are missing before it */
#define IGGY_RUN_LOST   0x08u   /* step was lost here */
#define IGGY_RUN_REPEAT 0x10u   /* bytes that were seen before */
#define IGGY_RUN_MANY   0x20u   /* private: several pieces in a row, all of whole frames; `offset` is the last packet */

/* What was found in a piece; 20 bytes. */
typedef struct {
    uint32_t packet;   /* number of the packet that handed the piece over */
    uint32_t position; /* of the piece's first byte, modulo 2^32 */
    uint32_t offset;   /* in the piece */
    uint32_t length;
    uint8_t  kind;     /* iggy_run_kind_t */
    uint8_t  flags;
    uint16_t turn;     /* of the piece */
} iggy_run_t;

/* What is known of the sender of a piece. */
typedef enum {
    IGGY_SENDER_UNKNOWN,
    IGGY_SENDER_CLIENT, /* sent the SYN, or has no port of ours while the other side has one */
    IGGY_SENDER_SERVER
} iggy_sender_t;

/* Why a piece comes here. */
typedef enum {
    IGGY_TRUST_NONE, /* a heuristic asks: strong tests only */
    IGGY_TRUST_PORT  /* the port is ours, or the user says so */
} iggy_trust_t;

/* A piece of one direction of a stream. */
typedef struct {
    const uint8_t *bytes;
    uint32_t captured, reported; /* bytes that are there; bytes that were sent */
    uint32_t packet;
    uint32_t position;    /* of byte 0, modulo 2^32 */
    uint16_t turn;        /* tells pieces of one packet that begin at one position: joined ones begin where the first did */
    uint8_t  direction;   /* 0 or 1 */
    bool     start;       /* byte 0 is the first one of its direction */
    bool     one_segment; /* a segment (record, message) as it was sent, not several joined */
    bool     may_ask;     /* the carrier can be asked for more */
    iggy_sender_t sender;
    iggy_sender_t guess;  /* where `sender` is not known: by the lower port */
    iggy_trust_t  trust;
    uint32_t maximum;     /* largest size of a frame */
    bool     acknowledges; /* the sender tells what it received: */
    uint32_t acknowledged; /* position in the other direction behind the last byte */
    uint32_t told_end;     /* ... in the packet that has the bytes up to this position; later ones had newer news: */
    bool     bounds;       /* no more, then, than what the other side is known to have sent, */
    uint32_t bound;        /* up to this position */
} iggy_piece_t;

typedef struct iggy_stream iggy_stream_t;

/** A stream in packet scope, to try a piece on; iggy_stream_keep() makes it stay. */
iggy_stream_t *iggy_stream_try(wmem_allocator_t *scope);
/** A copy in file scope, with a conversation of its own. */
iggy_stream_t *iggy_stream_keep(const iggy_stream_t *stream);
/** The conversation of a stream that is kept. */
struct iggy_conversation *iggy_stream_conversation(const iggy_stream_t *stream);

/**
 * First pass: find the frames of a piece and keep them as runs.
 * @return false if nothing in the piece is ours
 */
bool iggy_stream_take(iggy_stream_t *stream, const iggy_piece_t *piece);

/**
 * All passes: the runs of a piece (packet, direction, position, reported length and turn tell which), in order; NULL and 0 if it
 * has none. They hold until the next question.
 */
const iggy_run_t *iggy_stream_runs(iggy_stream_t *stream, const iggy_piece_t *piece, unsigned *count);

/** First pass: whether a piece comes from the server, or acceptor: by its sender, the commands seen, or the guess. */
bool iggy_stream_is_server(const iggy_stream_t *stream, const iggy_piece_t *piece);

/** First pass: what the sender of the piece that was taken last had received, for a frame in it that ends at `end`. */
void iggy_stream_fill_place(const iggy_stream_t *stream, uint32_t end, iggy_place_t *place);

#endif
