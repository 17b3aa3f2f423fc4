/* packet-iggy-statistics.h
 * Statistics > Iggy, Statistics > Service Response Time > Iggy, and the same by `tshark -z`.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_STATISTICS_H
#define PACKET_IGGY_STATISTICS_H

/** Registers the trees and the table of response times; the taps "iggy" and "iggy_eo" are there already. */
void iggy_register_statistics(int proto);

#endif
