/* packet-iggy-repeats.h
 * Bodies that begin like the one before: what they teach in the first pass is known without walking them.
 *
 * Producers and consumers send the same routing over and over. The first pass needs of it the facts that are kept for the reply,
 * and of the reply the names that it teaches; both follow from the first bytes of a body, and from what names are known.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_REPEATS_H
#define PACKET_IGGY_REPEATS_H

#include "packet-iggy-layout.h"

/**
 * First pass, before the body is walked for nothing but what it teaches: whether it teaches what an earlier one did. Then a
 * request has got its kept facts, and a reply has nothing new.
 */
bool iggy_repeats(iggy_pdu_t *pdu);

/** First pass, after a body was walked to its end, however it was walked. */
void iggy_repeats_note(iggy_pdu_t *pdu, const iggy_walk_t *walk);

#endif
