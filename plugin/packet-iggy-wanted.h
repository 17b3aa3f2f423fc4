/* packet-iggy-wanted.h
 * Who looks? Work is done only where somebody does.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_WANTED_H
#define PACKET_IGGY_WANTED_H

#include "packet-iggy-compat.h"

/*
 * Who looks does not change while the frames of a packet are shown: the carriers begin a round, and in it a question that
 * means many fields is worked out once. `if (!iggy_answered(&answer)) answer.yes = ...; return answer.yes;`
 */
typedef struct {
    unsigned round;
    bool     yes;
} iggy_answer_t;

void iggy_wanted_round(void);
bool iggy_answered(iggy_answer_t *answer);

/** The preference of those who want all work done in every pass: payloads of which other dissectors keep statistics. */
bool iggy_always_wanted(void);

/** Whether expert items are listened to, or all of them are filtered for. */
bool iggy_experts_wanted(void);

/* What the registry knows of our fields, by number from the protocol's on: asked for so often that calls would cost more than
 * all else together. */
extern const header_field_info **iggy_fields;
extern int iggy_first_field;

/** What the registry knows of one of our fields. */
static inline const header_field_info *iggy_field_info(int hf) { return iggy_fields[hf - iggy_first_field]; }

/** Whether the tree is visible or the field is referenced: ours alone. */
static inline bool iggy_field_wanted(proto_tree *tree, int hf)
{
    return tree && (PTREE_DATA(tree)->visible || iggy_field_info(hf)->ref_type != HF_REF_TYPE_NONE);
}

/** The same for some. */
bool iggy_fields_wanted(proto_tree *tree, const header_field_info *const *of, unsigned count);

/** Whether the tree is visible, one of our fields and expert items whose numbers are from `first` to `last` is referenced, or
 * expert items are wanted: their tap works without a tree. */
bool iggy_range_wanted(proto_tree *tree, int first, int last);

/** Whether the tree is a filter's, and none of the fields that it looks for is an expert item, a checksum, or shown where bytes
 * do not fit: then rows whose fields nobody looks for need not be shown, and nothing need be checked. */
bool iggy_rows_alone(proto_tree *tree);

/** Whether items that no row shows have to be: those of the fields `first` to `last`, which expert items may stand beside.
 * `answer` is the asker's own. */
bool iggy_items_wanted(proto_tree *tree, iggy_answer_t *answer, int first, int last);

/** The highest field number of the protocol so far. */
int iggy_last_field(int proto);

/** All fields of the protocol are registered. */
void iggy_wanted_registered(int proto);

void iggy_register_wanted(module_t *preferences);

#endif
