/* packet-iggy-batch.h
 * Message batches: batch header, messages, user headers, checksums, payloads (messages.md 2).
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_BATCH_H
#define PACKET_IGGY_BATCH_H

#include "packet-iggy-layout.h"

extern const iggy_row_t iggy_rows_batch[];   /* exactly one record, to the end of the extent */
extern const iggy_row_t iggy_rows_records[]; /* any number, back to back, to the end of the extent */

/*
 * While iggy_export_wanted(), each message walked (FACTS or SHOW) is handed to iggy_export_message() (packet-iggy-export.h), its
 * payload decrypted by iggy_decrypt() (packet-iggy-decrypt.h) where a key fits.
 */

void iggy_register_batch(int proto);

#endif
