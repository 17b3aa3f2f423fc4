/* fuzz_inputs.h
 * What surrounds the bytes of an input of fuzz_iggy: carriers, preferences, filters, ciphers.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef FUZZ_INPUTS_H
#define FUZZ_INPUTS_H

#include <stdbool.h>
#include <stdint.h>

#include <epan/epan.h>

#define CARRIER_QUIC 5u

/** Whether every tag verifies and deciphering changes nothing, so that mutation reaches what is behind it. */
extern bool ciphers_open;

/** Dissectors that hand segments on as WebSocket, TLS and QUIC would. */
void add_carriers(void);
/** The server's port of a carrier, from 1; that of clients over TCP if there is none. */
uint16_t carrier_port(unsigned carrier);
/** Switch the search in QUIC, as a user does. */
void set_quic(bool on);

/** Keys, rules for payloads, Decode As and a heuristic for payloads. */
void add_tables(void);
void set_switch(const char *name, bool value);
/** To values that are not the default, and back. */
void change_preferences(bool changed);

/** Look for some fields, as a display filter does; `number` from 1 to 7. */
void prime_filter(epan_dissect_t *edt, unsigned number);

#endif
