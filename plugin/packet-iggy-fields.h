/* packet-iggy-fields.h
 * Fields that more than one room of the Iggy dissector uses. A field of one room alone is static there.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_FIELDS_H
#define PACKET_IGGY_FIELDS_H

#include "packet-iggy-layout.h"

/* names and ids; X_name_length is the prefix of the text on the wire */
extern int hf_iggy_stream_id, hf_iggy_stream_name, hf_iggy_stream_name_length;
extern int hf_iggy_topic_id, hf_iggy_topic_name, hf_iggy_topic_name_length;
extern int hf_iggy_partition_id;           /* u64 wide; u32 and u64 on the wire */
extern int hf_iggy_consumer_id, hf_iggy_consumer_name, hf_iggy_consumer_kind;
extern int hf_iggy_consumer_group_id, hf_iggy_consumer_group_name, hf_iggy_consumer_group_name_length;
extern int hf_iggy_user_id, hf_iggy_user_name, hf_iggy_user_name_length;
extern int hf_iggy_token_name, hf_iggy_token_name_length;
extern int hf_iggy_connection_id;          /* the server's u32 client id */
extern int hf_iggy_client;                 /* 16 bytes */
extern int hf_iggy_session;
extern int hf_iggy_identifier_kind, hf_iggy_identifier_length;
/* what an update asks for; the present name is the plain field */
extern int hf_iggy_stream_new_name, hf_iggy_stream_new_name_length;
extern int hf_iggy_topic_new_name, hf_iggy_topic_new_name_length;
extern int hf_iggy_user_new_name, hf_iggy_user_new_name_length;
/* presence bytes of what an update may leave out: 0 absent, 1 present */
extern int hf_iggy_has_new_name, hf_iggy_has_user_status, hf_iggy_has_permissions;
extern int hf_iggy_ack;
extern int hf_iggy_unused;                 /* bytes that mean nothing where they stand: the value of what is absent */
/* node ids of a partition's members (u8 each), and how many there are */
extern int hf_iggy_partition_member, hf_iggy_partition_members_count;
extern int hf_iggy_partition_in_sync_member, hf_iggy_partition_in_sync_members_count;

/* counts and sizes */
extern int hf_iggy_messages_count;         /* u64 wide, carried */
extern int hf_iggy_poll_count;             /* asked for */
extern int hf_iggy_partitions_count, hf_iggy_topics_count, hf_iggy_members_count, hf_iggy_consumer_groups_count;
extern int hf_iggy_segments_count;
extern int hf_iggy_size_bytes;
extern int hf_iggy_created_at;
extern int hf_iggy_current_offset, hf_iggy_stored_offset, hf_iggy_offset;

/* the log */
extern int hf_iggy_op, hf_iggy_commit, hf_iggy_view, hf_iggy_timestamp, hf_iggy_request, hf_iggy_operation;
extern int hf_iggy_consensus_group;        /* u64: group, namespace */
extern int hf_iggy_nonce, hf_iggy_acting_user, hf_iggy_replica;
extern int hf_iggy_context_partition_incarnation, hf_iggy_context_owner_generation, hf_iggy_context_minimum_metadata_op;
extern int hf_iggy_partition_view, hf_iggy_up_to_offset;
extern int hf_iggy_metadata_watermark, hf_iggy_namespace_revision, hf_iggy_created_revision;
extern int hf_iggy_user_status;            /* 1 active, 2 inactive */
extern int hf_iggy_error;                  /* an error code that is not 0, wherever it stands */
extern int hf_iggy_extra, hf_iggy_undecoded, hf_iggy_reserved;

/* login */
extern int hf_iggy_login_version, hf_iggy_sdk_name, hf_iggy_sdk_name_length, hf_iggy_sdk_version, hf_iggy_sdk_version_length;
extern int hf_iggy_server_version, hf_iggy_server_build, hf_iggy_server_build_length;
extern int hf_iggy_password, hf_iggy_password_length, hf_iggy_new_password, hf_iggy_new_password_length;
extern int hf_iggy_token, hf_iggy_token_length, hf_iggy_bind_secret, hf_iggy_bind_verifier;

extern expert_field ei_iggy_reserved, ei_iggy_reserved_enforced, ei_iggy_layout, ei_iggy_cut, ei_iggy_extra,
    ei_iggy_empty_name, ei_iggy_bad_kind, ei_iggy_count, ei_iggy_secret, ei_iggy_items_limit;

/* Rows that several layouts share (encodings.md), by ROWS. */
extern const iggy_row_t iggy_rows_none[];           /* an empty body */
extern const iggy_row_t iggy_rows_consumer[];       /* consumer: kind, identifier; kinds 2, 3 fill iggy.consumer_group.* */
extern const iggy_row_t iggy_rows_stream_topic[];   /* stream, topic identifiers */
extern const iggy_row_t iggy_rows_stream_topic_group[];
extern const iggy_row_t iggy_rows_opt_partition[];  /* 5 bytes */
extern const iggy_row_t iggy_rows_partitioning[];   /* kind, length, value */
extern const iggy_row_t iggy_rows_partition_id[];   /* one u32 partition id: the element of a list */
extern const iggy_row_t iggy_rows_strategy[];       /* polling strategy, 9 bytes */
extern const iggy_row_t iggy_rows_ack[];            /* acknowledgement level */
extern const iggy_row_t iggy_rows_options[];        /* a list of options to the end of the extent (options_tail) */
extern const iggy_row_t iggy_rows_explicit_options[]; /* options_block: u32 length and list, "explicit" */
extern const iggy_row_t iggy_rows_derived_options[];  /* options_block, "derived" */
extern const iggy_row_t iggy_rows_permissions[];    /* encodings.md 11, fills its extent or stands bare */
extern const iggy_row_t iggy_rows_user_headers[];   /* tlv to the end of the extent */
extern const iggy_row_t iggy_rows_version_info[];   /* encodings.md 14 */
extern const iggy_row_t iggy_rows_context[];        /* encodings.md 12.1, 24 bytes */
extern const iggy_row_t iggy_rows_session_identity[]; /* encodings.md 12.3, 32 bytes */
extern const iggy_row_t iggy_rows_owner[];          /* encodings.md 12.2, 32 bytes */
extern const iggy_row_t iggy_rows_permissions_block[]; /* u32 length, permissions: a subtree */
extern const iggy_row_t iggy_rows_node[];           /* cluster node (commands.md 3.11), in -commands-system.c */
extern const iggy_row_t iggy_rows_one_node[];       /* the same in a subtree of its own */

extern const iggy_sentinel_t iggy_never_0[];        /* 0: never */
extern const iggy_sentinel_t iggy_not_set_0[];      /* 0: not set (times) */
extern const iggy_sentinel_t iggy_expiry_sentinels[]; /* 0: server default, all ones: never */
extern const iggy_sentinel_t iggy_size_sentinels[];   /* 0: server default, all ones: unlimited */

/** Fields of headers alone: operation, request, op, view, timestamp, replica, acting user, nonce. Not for rows of bodies. */
void iggy_register_header_fields(int proto);
/** All other fields of this file. */
void iggy_register_fields(int proto);

#endif
