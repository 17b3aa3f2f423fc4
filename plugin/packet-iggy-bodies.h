/* packet-iggy-bodies.h
 * Request bodies of clients that travel on between servers, as bodies of prepares (commands.md 9: "as client"), and fields of
 * commands that stand in other bodies too.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_BODIES_H
#define PACKET_IGGY_BODIES_H

#include "packet-iggy-layout.h"

/* commands.md 5 */
extern int hf_iggy_token_expiry; /* microseconds; also in the prepare of create_personal_access_token */
extern int hf_iggy_token_expiry_at; /* also in get_metadata_changes, as the member's id is */
extern const iggy_row_t iggy_rows_create_user[];
extern const iggy_row_t iggy_rows_delete_user[];
extern const iggy_row_t iggy_rows_update_user[];
extern const iggy_row_t iggy_rows_update_permissions[];
extern const iggy_row_t iggy_rows_change_password[];

/* commands.md 6 */
extern const iggy_row_t iggy_rows_store_consumer_offset[];
extern const iggy_row_t iggy_rows_delete_consumer_offset[];

/* commands.md 7 */
extern const iggy_row_t iggy_rows_create_stream[];
extern const iggy_row_t iggy_rows_delete_stream[];
extern const iggy_row_t iggy_rows_update_stream[];
extern const iggy_row_t iggy_rows_purge_stream[];
extern const iggy_row_t iggy_rows_create_topic[];      /* the count of partitions stays in IGGY_REG_COUNT_2 */
extern const iggy_row_t iggy_rows_delete_topic[];
extern const iggy_row_t iggy_rows_update_topic[];
extern const iggy_row_t iggy_rows_purge_topic[];
extern const iggy_row_t iggy_rows_create_partitions[]; /* likewise */
extern const iggy_row_t iggy_rows_delete_partitions[];

/* commands.md 8 */
extern int hf_iggy_consumer_group_member_id;
extern const iggy_row_t iggy_rows_create_consumer_group[];
extern const iggy_row_t iggy_rows_delete_consumer_group[];

#endif
