/* packet-iggy-pdu.h
 * One frame: header, conversation, body, columns, taps.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_PDU_H
#define PACKET_IGGY_PDU_H

#include "packet-iggy-layout.h"

/** Rows of a reply's payload or a request's or prepare's body; NULL: not known, opaque. */
const iggy_row_t *iggy_body_rows(const iggy_pdu_t *pdu);

/** Whether the body of this reply begins with a result section (commands.md 1.4). */
bool iggy_result_framed(const iggy_pdu_t *pdu);

/** The tap that all statistics and exports listen to; its data is an iggy_pdu_t. */
extern int iggy_tap;

/** The rooms of bodies register between these two, so that their fields are one range of numbers. */
void iggy_register_bodies(int proto);

void iggy_register_pdu(int proto);

#endif
