/* packet-iggy-info.h
 * The line of a frame in the Info column.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_INFO_H
#define PACKET_IGGY_INFO_H

#include "packet-iggy.h"
#include "packet-iggy-text.h"

/** Append what the frame is, which object it concerns and its key facts to `line`, from header and facts alone. */
void iggy_info(iggy_pdu_t *pdu, iggy_text_t *line);

#endif
