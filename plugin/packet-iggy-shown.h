/* packet-iggy-shown.h
 * Which fields rows may show: whether a filter looks for one of them is asked for each packet, so it has to be few.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_SHOWN_H
#define PACKET_IGGY_SHOWN_H

#include "packet-iggy-layout.h"

/* What a call shows beside the fields of its row. */
typedef struct {
    iggy_call_t        call;
    const int *const  *fields; /* `count` of them */
    unsigned           count;
    const iggy_row_t  *rows;   /* what it walks; NULL: none */
    bool             (*wanted)(proto_tree *tree); /* asked besides, for whole ranges of fields; NULL: nothing */
} iggy_shown_t;

/** Tell what calls show; the table stays. A call that is in no table may show anything. */
void iggy_register_shown(const iggy_shown_t *calls, size_t count);

/** Whether a table says that a call shows nothing but the fields of its row, and what stands beside rows. */
bool iggy_shows_nothing(iggy_call_t call);

/** `fields` of an entry and how many. */
#define IGGY_SHOWS(array) .fields = (array), .count = array_length(array)

/**
 * Whether a filter's tree looks for a field that `rows` show where all bytes fit; those that stand beside rows (expert items,
 * reserved and undecoded bytes) are not meant.
 * @param unknown asked instead where there is a call among the rows that is in no table
 */
bool iggy_rows_wanted(proto_tree *tree, const iggy_row_t *rows, bool (*unknown)(proto_tree *tree));

#endif
