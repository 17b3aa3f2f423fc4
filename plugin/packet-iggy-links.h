/* packet-iggy-links.h
 * What belongs together on the replica plane, across frames and connections: prepares, their acknowledgements and commits, view
 * changes, repair, state transfer, forwarded logins, and the requests of clients (replica.md 4 to 10).
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_LINKS_H
#define PACKET_IGGY_LINKS_H

#include "packet-iggy.h"

/** The first pass: state of the cluster moves on. After iggy_conversation_frame(); later passes do nothing. */
void iggy_links_frame(iggy_pdu_t *pdu);

/** Generated items: ends of the connection, links back in every pass and forward from the second on, notes. */
void iggy_links_show(iggy_pdu_t *pdu, proto_tree *tree);

/** Time from the first sight of the prepare that a prepare_ok acknowledges; false for other frames and unknown prepares. */
bool iggy_links_prepare_ok_time(const iggy_pdu_t *pdu, nstime_t *span);

void iggy_register_links(int proto);

#endif
