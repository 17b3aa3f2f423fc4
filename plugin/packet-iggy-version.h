/* packet-iggy-version.h
 * Which protocol version a connection speaks, and how that is known (framing.md 8, commands.md 10.2 and 10.3).
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_VERSION_H
#define PACKET_IGGY_VERSION_H

#include "packet-iggy.h"

/* A set of versions: bit n is iggy_version_t n. */
typedef uint8_t iggy_version_set_t;
#define IGGY_VERSION_BIT(version) ((iggy_version_set_t)(1u << (version)))
#define IGGY_VERSIONS_ALL         ((iggy_version_set_t)0x1e)
#define IGGY_VERSIONS_0_12        ((iggy_version_set_t)0x1c) /* 0.12.0 and later */

/* What was known from some frame on. */
typedef struct {
    uint32_t packed;  /* as on the wire: major << 20 | minor << 10 | patch */
    uint8_t  version; /* iggy_version_t: the layouts to read with, the nearest known one not above `packed` */
    uint8_t  known;   /* iggy_known_t */
} iggy_version_state_t;

/* What is known of one connection: every state it went through; frames keep the index of theirs. */
typedef struct {
    iggy_version_state_t *states;
    unsigned              count, room;
    iggy_version_set_t    possible; /* what the frames so far allow */
    uint8_t               evidence; /* iggy_known_t: what narrowed `possible` last */
    uint8_t               cluster[16]; /* that the servers of this connection name, zero = not seen */
    unsigned              told;        /* so many states were there when the cluster was told of the last */
} iggy_versions_t;

/** Start: nothing is known but the preference. */
void iggy_versions_init(iggy_versions_t *versions);

/** Index of the present state, and the state of an index. */
unsigned iggy_versions_current(const iggy_versions_t *versions);
const iggy_version_state_t *iggy_versions_at(const iggy_versions_t *versions, unsigned number);

/** Whether the connection may speak `version`. */
bool iggy_versions_may_be(const iggy_versions_t *versions, uint8_t version);

/** The state of another connection of the same session holds here too. */
void iggy_versions_adopt(iggy_versions_t *versions, const iggy_version_state_t *state);

/** What a frame tells before it is paired: the signs of its header, a login, an eviction. First pass. */
void iggy_versions_before(iggy_pdu_t *pdu, iggy_versions_t *versions);

/** What a frame tells once its command is known: the server's answer to a login, the layout of a body. First pass. */
void iggy_versions_after(iggy_pdu_t *pdu, iggy_versions_t *versions);

/**
 * Whether the payload of a reply fills its frame exactly with the layout of `code`, in a version that the connection may
 * speak. Refusals and empty payloads fit everything, and so does what is not wholly in the capture.
 */
bool iggy_reply_fits(iggy_pdu_t *pdu, const iggy_versions_t *versions, uint32_t code);

/** iggy_version_t of a packed version: the nearest known one not above it; 0.11.0 for all that is older. */
uint8_t iggy_version_nearest(uint32_t packed);

/** The packed form of an iggy_version_t. */
uint32_t iggy_version_packed(uint8_t version);

/** The preference: what to read with where nothing is known. */
uint8_t iggy_version_preferred(void);

void iggy_register_version(void);

#endif
