/* packet-iggy-replica.h
 * Bodies that servers send each other: prepares, log suffixes, state transfer, forwarding (replica.md, commands.md 9).
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_REPLICA_H
#define PACKET_IGGY_REPLICA_H

#include "packet-iggy-layout.h"

/** Rows of the body of any command but 5, 8 and 13; NULL: opaque. Needs command, operation, version and the header's facts. */
const iggy_row_t *iggy_replica_rows(const iggy_pdu_t *pdu);

/* Bodies of internal operations (-operations.c); 32 uses them too. */
extern const iggy_row_t iggy_rows_complete_lifecycle[];  /* operation 71 */
extern const iggy_row_t iggy_rows_complete_revocation[]; /* operation 67 */
extern const iggy_row_t iggy_rows_register_prepare[];    /* operation 1; also the body of forward_register */

void iggy_register_operations(int proto);
/** Fields of both files. */
void iggy_register_replica(int proto);

#endif
