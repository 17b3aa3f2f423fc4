/* packet-iggy-carriers.h
 * The carriers of Iggy beside plain TCP on ports of its own.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_CARRIERS_H
#define PACKET_IGGY_CARRIERS_H

#include "packet-iggy-compat.h"

#include <epan/prefs.h>

/** Registers the preference that switches QUIC on; nothing else is done while it is off. */
void iggy_register_quic(int proto, module_t *preferences);
/** After preferences have changed. */
void iggy_apply_quic(void);

void iggy_handoff_tls(int proto);
void iggy_handoff_websocket(int proto);
void iggy_handoff_kafka(int proto);

#endif
