/* packet-iggy-statistics.h
 * Statistics > Iggy, Statistics > Service Response Time > Iggy, and the same by `tshark -z`.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_STATISTICS_H
#define PACKET_IGGY_STATISTICS_H

#include "packet-iggy-export.h"
#include "packet-iggy-sessions.h"

/* What trees and tables call the same. Texts: packet scope or constant, printable. */

/** Which way messages go with the frame: "sent", "polled", "replicated". */
const char *iggy_statistics_direction(const iggy_pdu_t *pdu);

/** Name of a stream or topic (`id` is the fact X_ID), else "stream 3"; "unknown stream" when the frame tells neither. */
const char *iggy_statistics_object(const iggy_pdu_t *pdu, iggy_fact_t id, const char *kind);

/** "partition 3", or that the server chooses it. */
const char *iggy_statistics_partition(const iggy_pdu_t *pdu, const iggy_message_t *message);

/** Name of the session's user, else "user 3" or "unknown user". */
const char *iggy_statistics_user(const iggy_pdu_t *pdu, const iggy_session_t *session);

/** The error of a reply; 0 = none. */
uint32_t iggy_statistics_error(const iggy_pdu_t *pdu);

/** Whether the frame is the answer that lets a login in. */
bool iggy_statistics_is_login(const iggy_pdu_t *pdu);

void iggy_register_tables(void);

/** Registers the trees and the tables; the taps "iggy" and "iggy_eo" are there already. */
void iggy_register_statistics(int proto);

#endif
