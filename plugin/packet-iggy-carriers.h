/* packet-iggy-carriers.h
 * The carriers of Iggy beside plain TCP.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_CARRIERS_H
#define PACKET_IGGY_CARRIERS_H

#include "packet-iggy-compat.h"

void iggy_handoff_tls(int proto);
void iggy_handoff_websocket(int proto);

#endif
