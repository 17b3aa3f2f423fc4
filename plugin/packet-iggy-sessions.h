/* packet-iggy-sessions.h
 * Who is on the connection: user, SDK, versions, login time, consumer groups of a session, across its connections.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_SESSIONS_H
#define PACKET_IGGY_SESSIONS_H

#include "packet-iggy.h"

#include <wsutil/nstime.h>

/* A consumer group that the session joined. */
typedef struct {
    const char *group;      /* "stream/topic/group", names where they are known */
    const char *partitions; /* "0, 2": what a sync_consumer_group told; NULL: nothing yet */
} iggy_membership_t;

/* A session as of some frame; file scope, never changed. */
typedef struct {
    uint8_t     client[16];
    uint64_t    number;         /* session number, 0 = not known */
    const char *user;           /* NULL where only a token was sent and the id has no name yet */
    const char *sdk, *sdk_version, *server_build; /* NULL = not known */
    uint32_t    user_id;
    uint32_t    version, server_version; /* packed, 0 = not known */
    bool        has_user_id;
    bool        logged_in;      /* the server's answer was seen: login_time */
    nstime_t    login_time;
    unsigned    memberships_count;
    const iggy_membership_t *memberships;
} iggy_session_t;

/** The session that this frame belongs to, as of the frame; NULL if it is not known to have one. All passes. */
const iggy_session_t *iggy_sessions_of(const iggy_pdu_t *pdu);

/** The session's client id as the fields show it. */
e_guid_t iggy_session_guid(const iggy_session_t *session);

/** After the body, facts of the request are there: follows logins, logouts and groups. First pass; later ones do nothing. */
void iggy_sessions_after_body(iggy_pdu_t *pdu);

/** Generated items of the session. */
void iggy_sessions_show(iggy_pdu_t *pdu, proto_tree *tree);

void iggy_register_sessions(int proto);

#endif
