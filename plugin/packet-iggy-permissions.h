/* packet-iggy-permissions.h
 * Permissions of users (encodings.md 11). The rows stand in packet-iggy-fields.h.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_PERMISSIONS_H
#define PACKET_IGGY_PERMISSIONS_H

void iggy_register_permissions(int proto);

#endif
