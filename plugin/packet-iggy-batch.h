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

/* What a run of records holds; read from the headers of the records alone, so it is the same in all modes of a walk. */
typedef struct {
    uint64_t messages;
    uint64_t bytes;        /* payloads and user headers */
    uint64_t first_offset; /* of the first message of the first record that has any */
    uint64_t last_offset;
    bool     has_offsets;  /* the server stamped the records and there is a message */
} iggy_run_t;

/** Walk one record at `offset` and add what it holds to `run`. Notes no facts but the partition. */
int iggy_walk_record(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset, iggy_run_t *run);

/** Walk records back to back from `offset` to the end of the extent and add what they hold to `run`. */
int iggy_walk_records(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset, iggy_run_t *run);

/** Add the run that follows to `total`. */
void iggy_add_run(iggy_run_t *total, const iggy_run_t *run);

/** Note the facts of a run: messages (if the body did not say), bytes, first and last offset. */
void iggy_note_run(iggy_walk_t *walk, const iggy_run_t *run);

/** Generated items of a run at the end of `tree`: bytes, first and last offset. */
void iggy_show_run(iggy_walk_t *walk, proto_tree *tree, const iggy_run_t *run);

void iggy_register_batch(int proto);

#endif
