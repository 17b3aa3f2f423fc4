/* packet-iggy-recognise.h
 * Is this an Iggy header? Pure functions of bytes: no trees, no columns, no state (framing.md 8).
 *
 * Three strengths: the claim (nothing is known of the connection), the port test (first byte of a connection on a port that
 * is Iggy's), in step (a boundary of a direction that is already followed). The minimum lies between: it finds candidates in
 * the middle of a stream, and each needs evidence from what stands around it.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_RECOGNISE_H
#define PACKET_IGGY_RECOGNISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IGGY_SIZE_END 52u      /* so many bytes tell the size of a frame */
#define IGGY_COMMAND_END 62u   /* so many bytes tell command and replica too */
#define IGGY_COMMON_END 128u   /* so many bytes are common to all commands */

typedef enum {
    IGGY_NO = 0,
    IGGY_MORE, /* nothing contradicts, more bytes are needed */
    IGGY_YES
} iggy_verdict_t;

/* Which headers a search looks for. */
#define IGGY_FIND_REQUEST 0x01u /* 5 */
#define IGGY_FIND_REPLY   0x02u /* 8, 13 */
#define IGGY_FIND_REPLICA 0x04u /* all other commands in use */
#define IGGY_FIND_UNUSED  0x08u /* 1 to 4 */
#define IGGY_FIND_ALL     0x0fu

/* What a search knows of the bytes it looks at. */
typedef struct {
    uint32_t maximum;     /* largest size of a frame */
    uint8_t  find;        /* IGGY_FIND_... */
    bool     plane_known; /* the connection is known to be one of clients, or one of replicas */
    bool     one_segment; /* the bytes are one segment, as it was sent */
    bool     many_large;  /* the bytes begin with a segment, and all of its segments but the last are large */
} iggy_search_t;

/** Size of a frame, header included; reads 52 bytes. */
uint32_t iggy_size_of(const uint8_t *header);

/** The class of a command as one IGGY_FIND_... bit, 0 for a command that there is not. */
uint8_t iggy_find_of(uint8_t command);

/** At a known boundary of a direction that is followed: the size only. MORE below 52 bytes. */
iggy_verdict_t iggy_in_step(const uint8_t *bytes, size_t length, uint32_t maximum);

/** Release and bytes 62..127 are zero as far as they are there: no sender sets them, but receivers do not look (framing.md 2). */
bool iggy_clean(const uint8_t *bytes, size_t length);

/**
 * At the first byte of a connection: size in range, release 0, a known command, bytes 62..127 zero, something in 128..255.
 * Unless the connection is ours already, the minimum too, or a whole segment of a code, an operation or a command that nobody
 * sends: zeros with few numbers in them are what others send. A prefix that contradicts nothing is MORE; of what is not ours
 * yet, one under 32 bytes has to be all zero, and a longer one as far as it reaches as its senders have it.
 */
iggy_verdict_t iggy_starts(const uint8_t *bytes, size_t length, uint32_t maximum, bool ours);

/**
 * What every sender keeps of the first 128 bytes, as far as they are there. MORE below 128 bytes, NO at a contradiction.
 * `find`: the commands that may stand there.
 */
iggy_verdict_t iggy_plausible(const uint8_t *bytes, size_t length, const iggy_search_t *search);

/** The tests that hold for all captures, also those with made-up values. Reads 256 bytes. Seals and identities verified. */
bool iggy_minimum(const uint8_t *header, const iggy_search_t *search);

/** The strong tests: hold for every real sender. Reads 256 bytes. */
bool iggy_real(const uint8_t *header, const iggy_search_t *search);

/**
 * Whether the bytes are a segment that a frame of clients or their server begins, with a code or an operation that nobody
 * knows: what remains of the strong tests holds, and the frame is all of the segment, or a known one stands behind it.
 */
bool iggy_unknown_frame(const uint8_t *bytes, size_t length, const iggy_search_t *search);

/** The strong tests, and identifiers that look random: good for a connection that nothing is known about. Reads 256 bytes. */
bool iggy_claims(const uint8_t *header, const iggy_search_t *search);

/** Whether the seal of a header (checksum over 16..255) verifies. Reads 256 bytes. */
bool iggy_seal_verifies(const uint8_t *header);

/** Whether the identity of a prepare or repair_prepare verifies. Reads 256 bytes. */
bool iggy_identity_verifies(const uint8_t *header);

/**
 * Whether the prepare header at `offset` (256 bytes are there) is an entry of a log suffix: the one behind it has an op
 * one lower, or the one before it one higher.
 */
bool iggy_suffix_entry(const uint8_t *bytes, size_t length, size_t offset);

/** Offset of the first whole header from `from` on that passes the minimum; `length` if there is none. */
size_t iggy_find_header(const uint8_t *bytes, size_t length, size_t from, const iggy_search_t *search);

/**
 * Offset from `from` on where the bytes may be the beginning of a header that goes on after them; `length` if nowhere.
 * Under 52 bytes nothing speaks against one: checksums and cluster may have any value. With `strict` at least 62 bytes of it
 * have to be there, as its senders have them: 32 zeros first, or a checksum and a cluster. Other traffic hardly ends so.
 */
size_t iggy_find_beginning(const uint8_t *bytes, size_t length, size_t from, const iggy_search_t *search, bool strict);

/**
 * Is the header at `offset`, found by iggy_find_header(), that of a frame? A verified seal says so, or the body's hash, or
 * what follows it. MORE: it depends on bytes that are not there yet.
 */
iggy_verdict_t iggy_evidence(const uint8_t *bytes, size_t length, size_t offset, const iggy_search_t *search);

#endif
