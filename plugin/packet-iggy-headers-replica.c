/* packet-iggy-headers-replica.c
 * The headers that servers send each other: commands 6, 7, 9..12, 14..36 (framing.md 3), in the order of the reference.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-headers-rows.h"

#include "packet-iggy-checksum.h"
#include "packet-iggy-values.h"

static int hf_iggy_parent = IGGY_UNREGISTERED;
static int hf_iggy_retry_capacity = IGGY_UNREGISTERED;
static int hf_iggy_prepare_checksum = IGGY_UNREGISTERED;
static int hf_iggy_commit_checksum = IGGY_UNREGISTERED;
static int hf_iggy_timestamp_monotonic = IGGY_UNREGISTERED;
static int hf_iggy_checkpoint_op = IGGY_UNREGISTERED;
static int hf_iggy_log_view = IGGY_UNREGISTERED;
static int hf_iggy_flags = IGGY_UNREGISTERED;
static int hf_iggy_flags_untrusted_log = IGGY_UNREGISTERED;
static int hf_iggy_nack_bitset = IGGY_UNREGISTERED;
static int hf_iggy_present_bitset = IGGY_UNREGISTERED;
static int hf_iggy_incarnation = IGGY_UNREGISTERED;
static int hf_iggy_handshake_nonce = IGGY_UNREGISTERED;
static int hf_iggy_handshake_mac = IGGY_UNREGISTERED;
static int hf_iggy_handshake_status = IGGY_UNREGISTERED;
static int hf_iggy_from_op = IGGY_UNREGISTERED;
static int hf_iggy_to_op = IGGY_UNREGISTERED;
static int hf_iggy_available = IGGY_UNREGISTERED;
static int hf_iggy_unavailable_transient = IGGY_UNREGISTERED;
static int hf_iggy_commit_op = IGGY_UNREGISTERED;
static int hf_iggy_commit_max = IGGY_UNREGISTERED;
static int hf_iggy_chunk_offset = IGGY_UNREGISTERED;
static int hf_iggy_chunk_length = IGGY_UNREGISTERED;
static int hf_iggy_artifact_index = IGGY_UNREGISTERED;
static int hf_iggy_epoch = IGGY_UNREGISTERED;
static int hf_iggy_watermark = IGGY_UNREGISTERED;
static int hf_iggy_register_outcome = IGGY_UNREGISTERED;
static int hf_iggy_logout_outcome = IGGY_UNREGISTERED;
static int hf_iggy_incomplete = IGGY_UNREGISTERED;
static int hf_iggy_reporter = IGGY_UNREGISTERED;
static int hf_iggy_quorum_age_ns = IGGY_UNREGISTERED;
static int hf_iggy_rebalance_kind = IGGY_UNREGISTERED;
static int hf_iggy_ready = IGGY_UNREGISTERED;
static int hf_iggy_target = IGGY_UNREGISTERED;
static int hf_iggy_segment_delete_kind = IGGY_UNREGISTERED;
static int hf_iggy_progress_nonce = IGGY_UNREGISTERED;
static int hf_iggy_progress_kind = IGGY_UNREGISTERED;
static int hf_iggy_observed_op = IGGY_UNREGISTERED;
static int hf_iggy_received_op = IGGY_UNREGISTERED;
static int hf_iggy_held_op = IGGY_UNREGISTERED;

static int ett_iggy_flags = IGGY_UNREGISTERED;

static const iggy_sentinel_t none_ones[] = { { UINT64_MAX, "none" }, { 0, NULL } };

/* ---- calls ---- */

static int call_flags(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    static int *const bits[] = { &hf_iggy_flags_untrusted_log, NULL };
    if (!iggy_walk_there(walk, row, offset, 1))
        return offset;
    if (iggy_walk_shows(walk))
        proto_tree_add_bitmask(tree, walk->tvb, offset, hf_iggy_flags, ett_iggy_flags, bits, ENC_LITTLE_ENDIAN);
    return offset + 1;
}

static unsigned bits_set(tvbuff_t *tvb, int offset)
{
    unsigned set = 0;
    for (int i = 0; i < 16; i++)
        for (uint8_t byte = tvb_get_uint8(tvb, offset + i); byte; byte &= (uint8_t)(byte - 1))
            set++;
    return set;
}

/* A bit for every entry of the suffix; which ones is said at the entries. */
static int call_bitset(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    if (!iggy_walk_there(walk, row, offset, 16))
        return offset;
    if (iggy_walk_shows(walk)) {
        unsigned set = bits_set(walk->tvb, offset);
        proto_item *item = proto_tree_add_item(tree, *row->hf, walk->tvb, offset, 16, ENC_NA);
        proto_item_append_text(item, " (%u %s)", set, set == 1 ? "entry" : "entries");
    }
    return offset + 16;
}

/* ---- rows ---- */

/* 6 and 19: from 0.12.0 on the last 28 bytes */
static const iggy_row_t prepare_tail[] = {
    IGGY_U32(hf_iggy_retry_capacity),
    IGGY_U64(hf_iggy_context_partition_incarnation),
    IGGY_RESERVED(8, .flags = IGGY_ENFORCED),
    IGGY_U64(hf_iggy_session, .fact = IGGY_FACT_SESSION),
    IGGY_ROWS_END
};

static const iggy_row_t prepare[] = {
    IGGY_COMMON_STRICT,
    IGGY_FIXED(hf_iggy_client, 16, .fact = IGGY_FACT_CLIENT),
    IGGY_FIXED(hf_iggy_parent, 16),
    IGGY_FIXED(hf_iggy_request_checksum, 16, .fact = IGGY_FACT_REQUEST_CHECKSUM),
    IGGY_U64(hf_iggy_op, .fact = IGGY_FACT_OP),
    IGGY_U64(hf_iggy_commit, .fact = IGGY_FACT_COMMIT),
    IGGY_TIME(hf_iggy_timestamp, .fact = IGGY_FACT_TIMESTAMP, .sentinels = iggy_not_set_0),
    IGGY_U64(hf_iggy_request, .fact = IGGY_FACT_REQUEST),
    IGGY_U8(hf_iggy_operation, .fact = IGGY_FACT_OPERATION, .put = IGGY_REG_OPERATION),
    IGGY_RESERVED(7),
    IGGY_GROUP(),
    IGGY_U32(hf_iggy_acting_user, .fact = IGGY_FACT_ACTING_USER),
    IGGY_RESERVED(28, .until = IGGY_0_11_0, .flags = IGGY_ENFORCED),
    IGGY_ROWS(prepare_tail, .since = IGGY_0_12_0),
    IGGY_ROWS_END
};

static const iggy_row_t prepare_ok[] = {
    IGGY_COMMON,
    IGGY_FIXED(hf_iggy_parent, 16),
    IGGY_FIXED(hf_iggy_prepare_checksum, 16, .fact = IGGY_FACT_PREPARE_CHECKSUM),
    IGGY_U64(hf_iggy_op, .fact = IGGY_FACT_OP),
    IGGY_U64(hf_iggy_commit, .fact = IGGY_FACT_COMMIT),
    IGGY_TIME(hf_iggy_timestamp, .fact = IGGY_FACT_TIMESTAMP, .sentinels = iggy_not_set_0),
    IGGY_U64(hf_iggy_request, .fact = IGGY_FACT_REQUEST),
    IGGY_U8(hf_iggy_operation, .fact = IGGY_FACT_OPERATION, .put = IGGY_REG_OPERATION),
    IGGY_RESERVED(7),
    IGGY_GROUP(),
    IGGY_RESERVED(48),
    IGGY_ROWS_END
};

/* From 0.12.0 on the incarnation stands where before reserved bytes began. */
#define IGGY_INCARNATION(rest) \
    IGGY_RESERVED((rest) + 8, .until = IGGY_0_11_0), \
    IGGY_U64(hf_iggy_context_partition_incarnation, .since = IGGY_0_12_0), \
    IGGY_RESERVED((rest), .since = IGGY_0_12_0)

static const iggy_row_t commit[] = {
    IGGY_COMMON,
    IGGY_FIXED(hf_iggy_commit_checksum, 16),
    IGGY_U64(hf_iggy_timestamp_monotonic, .fact = IGGY_FACT_COUNTER),
    IGGY_U64(hf_iggy_commit, .fact = IGGY_FACT_COMMIT),
    IGGY_U64(hf_iggy_checkpoint_op),
    IGGY_GROUP(),
    IGGY_INCARNATION(72),
    IGGY_ROWS_END
};

static const iggy_row_t start_view_change[] = {
    IGGY_COMMON,
    IGGY_GROUP(),
    IGGY_INCARNATION(112),
    IGGY_ROWS_END
};

static const iggy_row_t do_view_change[] = {
    IGGY_COMMON,
    IGGY_U64(hf_iggy_op, .fact = IGGY_FACT_OP),
    IGGY_U64(hf_iggy_commit, .fact = IGGY_FACT_COMMIT),
    IGGY_GROUP(),
    IGGY_U32(hf_iggy_log_view),
    IGGY_RESERVED(68, .until = IGGY_0_11_0),
    IGGY_CALL(call_flags, .size = 1, .since = IGGY_0_12_0),
    IGGY_RESERVED(59, .since = IGGY_0_12_0),
    IGGY_U64(hf_iggy_context_partition_incarnation, .since = IGGY_0_12_0),
    IGGY_CALL(call_bitset, .size = 16, .hf = &hf_iggy_nack_bitset),
    IGGY_CALL(call_bitset, .size = 16, .hf = &hf_iggy_present_bitset),
    IGGY_ROWS_END
};

static const iggy_row_t start_view[] = {
    IGGY_COMMON,
    IGGY_U64(hf_iggy_op, .fact = IGGY_FACT_OP),
    IGGY_U64(hf_iggy_commit, .fact = IGGY_FACT_COMMIT),
    IGGY_GROUP(),
    IGGY_INCARNATION(80),
    IGGY_FIXED(hf_iggy_incarnation, 16),
    IGGY_ROWS_END
};

/* 14, 15, 16. Where the wire revision of 0.12.2 travels is not known: its bytes may stand in the reserved ones. */
static const iggy_row_t handshake[] = {
    IGGY_COMMON,
    IGGY_FIXED(hf_iggy_handshake_nonce, 32),
    IGGY_FIXED(hf_iggy_handshake_mac, 32),
    IGGY_U8(hf_iggy_handshake_status, .fact = IGGY_FACT_STATUS),
    IGGY_RESERVED(63),
    IGGY_ROWS_END
};

static const iggy_row_t request_start_view[] = {
    IGGY_COMMON,
    IGGY_GROUP(),
    IGGY_INCARNATION(96),
    IGGY_FIXED(hf_iggy_incarnation, 16),
    IGGY_ROWS_END
};

static const iggy_row_t request_prepares[] = {
    IGGY_COMMON,
    IGGY_FIXED(hf_iggy_nonce, 16, .fact = IGGY_FACT_NONCE),
    IGGY_U64(hf_iggy_from_op, .fact = IGGY_FACT_FROM_OP),
    IGGY_U64(hf_iggy_to_op, .fact = IGGY_FACT_TO_OP),
    IGGY_GROUP(),
    IGGY_INCARNATION(80),
    IGGY_ROWS_END
};

static const iggy_row_t repair_end[] = {
    IGGY_COMMON,
    IGGY_FIXED(hf_iggy_nonce, 16, .fact = IGGY_FACT_NONCE),
    IGGY_U64(hf_iggy_op, .fact = IGGY_FACT_OP),
    IGGY_GROUP(),
    IGGY_INCARNATION(88),
    IGGY_ROWS_END
};

static const iggy_row_t request_state_transfer[] = {
    IGGY_COMMON,
    IGGY_FIXED(hf_iggy_nonce, 16, .fact = IGGY_FACT_NONCE),
    IGGY_GROUP(),
    IGGY_INCARNATION(96),
    IGGY_ROWS_END
};

static const iggy_row_t state_transfer_target[] = {
    IGGY_COMMON,
    IGGY_FIXED(hf_iggy_nonce, 16, .fact = IGGY_FACT_NONCE),
    IGGY_U64(hf_iggy_commit_op, .fact = IGGY_FACT_COMMIT),
    IGGY_GROUP(),
    IGGY_U8(hf_iggy_available, .fact = IGGY_FACT_AVAILABLE),
    IGGY_U8(hf_iggy_unavailable_transient),
    IGGY_RESERVED(6),
    IGGY_U64(hf_iggy_commit_max),
    IGGY_INCARNATION(72),
    IGGY_ROWS_END
};

static const iggy_row_t request_state_chunk[] = {
    IGGY_COMMON,
    IGGY_FIXED(hf_iggy_nonce, 16, .fact = IGGY_FACT_NONCE),
    IGGY_U64(hf_iggy_chunk_offset, .fact = IGGY_FACT_CHUNK_OFFSET),
    IGGY_GROUP(),
    IGGY_U32(hf_iggy_chunk_length, .fact = IGGY_FACT_LEN),
    IGGY_U32(hf_iggy_artifact_index, .fact = IGGY_FACT_ARTIFACT),
    IGGY_INCARNATION(80),
    IGGY_ROWS_END
};

/* The one command whose incarnation stands at the end of the header. */
static const iggy_row_t state_chunk[] = {
    IGGY_COMMON,
    IGGY_FIXED(hf_iggy_nonce, 16, .fact = IGGY_FACT_NONCE),
    IGGY_U64(hf_iggy_chunk_offset, .fact = IGGY_FACT_CHUNK_OFFSET),
    IGGY_GROUP(),
    IGGY_U32(hf_iggy_artifact_index, .fact = IGGY_FACT_ARTIFACT),
    IGGY_RESERVED(92, .until = IGGY_0_11_0),
    IGGY_RESERVED(84, .since = IGGY_0_12_0),
    IGGY_U64(hf_iggy_context_partition_incarnation, .since = IGGY_0_12_0),
    IGGY_ROWS_END
};

static const iggy_row_t forward_register[] = {
    IGGY_COMMON,
    IGGY_FIXED(hf_iggy_client, 16, .fact = IGGY_FACT_CLIENT),
    IGGY_FIXED(hf_iggy_nonce, 16, .fact = IGGY_FACT_NONCE),
    IGGY_U32(hf_iggy_acting_user, .fact = IGGY_FACT_ACTING_USER),
    IGGY_RESERVED(92, .flags = IGGY_ENFORCED),
    IGGY_ROWS_END
};

/* In the results the nonce comes first. */
static const iggy_row_t forward_register_result[] = {
    IGGY_COMMON,
    IGGY_FIXED(hf_iggy_nonce, 16, .fact = IGGY_FACT_NONCE),
    IGGY_FIXED(hf_iggy_client, 16, .fact = IGGY_FACT_CLIENT),
    IGGY_U64(hf_iggy_epoch),
    IGGY_U64(hf_iggy_watermark),
    IGGY_RESERVED(79, .flags = IGGY_ENFORCED),
    IGGY_U8(hf_iggy_register_outcome, .fact = IGGY_FACT_OUTCOME),
    IGGY_ROWS_END
};

static const iggy_row_t forward_logout[] = {
    IGGY_COMMON,
    IGGY_FIXED(hf_iggy_client, 16, .fact = IGGY_FACT_CLIENT),
    IGGY_FIXED(hf_iggy_nonce, 16, .fact = IGGY_FACT_NONCE),
    IGGY_U64(hf_iggy_session, .fact = IGGY_FACT_SESSION),
    IGGY_U64(hf_iggy_request, .fact = IGGY_FACT_REQUEST),
    IGGY_RESERVED(80, .flags = IGGY_ENFORCED),
    IGGY_ROWS_END
};

static const iggy_row_t forward_logout_result[] = {
    IGGY_COMMON,
    IGGY_FIXED(hf_iggy_nonce, 16, .fact = IGGY_FACT_NONCE),
    IGGY_FIXED(hf_iggy_client, 16, .fact = IGGY_FACT_CLIENT),
    IGGY_U64(hf_iggy_commit, .fact = IGGY_FACT_COMMIT),
    IGGY_RESERVED(87, .flags = IGGY_ENFORCED),
    IGGY_U8(hf_iggy_logout_outcome, .fact = IGGY_FACT_OUTCOME),
    IGGY_ROWS_END
};

/* 30 and 31 */
static const iggy_row_t session_report[] = {
    IGGY_COMMON_STRICT,
    IGGY_U8(hf_iggy_incomplete),
    IGGY_RESERVED(119, .flags = IGGY_ENFORCED),
    IGGY_U64(hf_iggy_namespace_revision),
    IGGY_ROWS_END
};

static const iggy_row_t forward_completion[] = {
    IGGY_COMMON_STRICT,
    IGGY_U16(hf_iggy_reporter),
    IGGY_U8(hf_iggy_operation, .fact = IGGY_FACT_OPERATION, .put = IGGY_REG_OPERATION),
    IGGY_RESERVED(125, .flags = IGGY_ENFORCED),
    IGGY_ROWS_END
};

static const iggy_row_t primary_rebalance[] = {
    IGGY_COMMON_STRICT,
    IGGY_FIXED(hf_iggy_nonce, 16, .fact = IGGY_FACT_NONCE),
    IGGY_CALL(iggy_call_group_unless_0, .size = 8, .hf = &hf_iggy_consensus_group, .fact = IGGY_FACT_GROUP),
    IGGY_U64(hf_iggy_created_revision),
    IGGY_U64(hf_iggy_commit, .fact = IGGY_FACT_COMMIT),
    IGGY_U64(hf_iggy_quorum_age_ns, .sentinels = none_ones),
    IGGY_U32(hf_iggy_partition_view),
    IGGY_U8(hf_iggy_rebalance_kind, .fact = IGGY_FACT_KIND),
    IGGY_U8(hf_iggy_ready, .fact = IGGY_FACT_READY),
    IGGY_U8(hf_iggy_target),
    IGGY_RESERVED(73, .flags = IGGY_ENFORCED),
    IGGY_ROWS_END
};

static const iggy_row_t segment_delete[] = {
    IGGY_COMMON_STRICT,
    IGGY_FIXED(hf_iggy_nonce, 16, .fact = IGGY_FACT_NONCE),
    IGGY_GROUP(),
    IGGY_U64(hf_iggy_created_revision),
    IGGY_U64(hf_iggy_context_minimum_metadata_op),
    IGGY_U64(hf_iggy_up_to_offset),
    IGGY_U32(hf_iggy_segments_count),
    IGGY_U8(hf_iggy_segment_delete_kind, .fact = IGGY_FACT_KIND),
    IGGY_RESERVED(75, .flags = IGGY_ENFORCED),
    IGGY_ROWS_END
};

static const iggy_row_t commit_reply[] = {
    IGGY_COMMON,
    IGGY_U64(hf_iggy_timestamp_monotonic, .fact = IGGY_FACT_COUNTER),
    IGGY_GROUP(),
    IGGY_U64(hf_iggy_context_partition_incarnation),
    IGGY_RESERVED(104),
    IGGY_ROWS_END
};

static const iggy_row_t prepare_progress[] = {
    IGGY_COMMON,
    IGGY_U64(hf_iggy_progress_nonce, .fact = IGGY_FACT_NONCE),
    IGGY_GROUP(),
    IGGY_U64(hf_iggy_context_partition_incarnation),
    IGGY_U64(hf_iggy_observed_op, .fact = IGGY_FACT_OP),
    IGGY_U64(hf_iggy_received_op),
    IGGY_U64(hf_iggy_held_op),
    IGGY_U64(hf_iggy_commit_op, .fact = IGGY_FACT_COMMIT),
    IGGY_U8(hf_iggy_progress_kind, .fact = IGGY_FACT_KIND),
    IGGY_U8(hf_iggy_ready, .fact = IGGY_FACT_READY),
    IGGY_RESERVED(70),
    IGGY_ROWS_END
};

const iggy_row_t *iggy_replica_header_rows(uint8_t command)
{
    static const iggy_row_t *const layouts[] = {
        [IGGY_PREPARE] = prepare,
        [IGGY_PREPARE_OK] = prepare_ok,
        [IGGY_COMMIT] = commit,
        [IGGY_START_VIEW_CHANGE] = start_view_change,
        [IGGY_DO_VIEW_CHANGE] = do_view_change,
        [IGGY_START_VIEW] = start_view,
        [IGGY_REPLICA_HELLO] = handshake,
        [IGGY_REPLICA_CHALLENGE] = handshake,
        [IGGY_REPLICA_FINISH] = handshake,
        [IGGY_REQUEST_START_VIEW] = request_start_view,
        [IGGY_REQUEST_PREPARES] = request_prepares,
        [IGGY_REPAIR_PREPARE] = prepare,
        [IGGY_REPAIR_DONE] = repair_end,
        [IGGY_RANGE_EVICTED] = repair_end,
        [IGGY_REQUEST_STATE_TRANSFER] = request_state_transfer,
        [IGGY_STATE_TRANSFER_TARGET] = state_transfer_target,
        [IGGY_REQUEST_STATE_CHUNK] = request_state_chunk,
        [IGGY_STATE_CHUNK] = state_chunk,
        [IGGY_FORWARD_REGISTER] = forward_register,
        [IGGY_FORWARD_REGISTER_RESULT] = forward_register_result,
        [IGGY_FORWARD_LOGOUT] = forward_logout,
        [IGGY_FORWARD_LOGOUT_RESULT] = forward_logout_result,
        [IGGY_CONSUMER_SESSION_HEARTBEAT] = session_report,
        [IGGY_SESSION_RETIREMENT_PROGRESS] = session_report,
        [IGGY_FORWARD_COMPLETION] = forward_completion,
        [IGGY_PRIMARY_REBALANCE] = primary_rebalance,
        [IGGY_SEGMENT_DELETE] = segment_delete,
        [IGGY_COMMIT_REPLY] = commit_reply,
        [IGGY_PREPARE_PROGRESS] = prepare_progress,
    };
    return command < array_length(layouts) ? layouts[command] : NULL;
}

/* ---- registration ---- */

void iggy_register_headers_replica(int proto)
{
    static hf_register_info hf[] = {
        { &hf_iggy_retry_capacity,
          { "Retry capacity", "iggy.retry_capacity", FT_UINT32, BASE_DEC, NULL, 0,
            "Capacity of the retry window that the first committed prepare of the group nominates", HFILL } },
        { &hf_iggy_parent,
          { "Parent", "iggy.parent", FT_BYTES, BASE_NONE, NULL, 0,
            "Identity of the prepare at op - 1; zero for op 1", HFILL } },
        { &hf_iggy_prepare_checksum,
          { "Prepare checksum", "iggy.prepare_checksum", FT_BYTES, BASE_NONE, NULL, 0,
            "Identity of the acknowledged prepare", HFILL } },
        { &hf_iggy_commit_checksum,
          { "Commit checksum", "iggy.commit_checksum", FT_BYTES, BASE_NONE, NULL, 0,
            "Declared, senders leave zero", HFILL } },
        { &hf_iggy_timestamp_monotonic,
          { "Heartbeat counter", "iggy.timestamp_monotonic", FT_UINT64, BASE_DEC, NULL, 0,
            "1, 2, 3, ...: not a clock", HFILL } },
        { &hf_iggy_checkpoint_op,
          { "Checkpoint op", "iggy.checkpoint_op", FT_UINT64, BASE_DEC, NULL, 0,
            "Declared, senders leave zero", HFILL } },
        { &hf_iggy_log_view,
          { "Log view", "iggy.log_view", FT_UINT32, BASE_DEC, NULL, 0,
            "View in which the sender was last in normal status", HFILL } },
        { &hf_iggy_flags, { "Flags", "iggy.flags", FT_UINT8, BASE_HEX, NULL, 0, NULL, HFILL } },
        { &hf_iggy_nack_bitset,
          { "Nack bitset", "iggy.nack_bitset", FT_BYTES, BASE_NONE, NULL, 0,
            "Bit i: the sender never prepared suffix entry i", HFILL } },
        { &hf_iggy_present_bitset,
          { "Present bitset", "iggy.present_bitset", FT_BYTES, BASE_NONE, NULL, 0,
            "Bit i: the sender can serve the body of suffix entry i", HFILL } },
        { &hf_iggy_incarnation,
          { "Incarnation", "iggy.incarnation", FT_GUID, BASE_NONE, NULL, 0,
            "Random value of a boot of the replica; zero: none, unsolicited", HFILL } },
        { &hf_iggy_handshake_nonce,
          { "Nonce of the handshake", "iggy.handshake.nonce", FT_BYTES, BASE_NONE, NULL, 0,
            "Zero without authentication", HFILL } },
        { &hf_iggy_handshake_mac,
          { "MAC", "iggy.handshake.mac", FT_BYTES, BASE_NONE, NULL, 0,
            "BLAKE3 keyed hash that proves membership of the cluster", HFILL } },
        { &hf_iggy_handshake_status,
          { "Handshake status", "iggy.handshake.status", FT_UINT8, BASE_DEC, VALS(iggy_handshake_status_vals), 0,
            "Other values read as a refusal, too", HFILL } },
        { &hf_iggy_from_op, { "From op", "iggy.from_op", FT_UINT64, BASE_DEC, NULL, 0, "First op wanted", HFILL } },
        { &hf_iggy_to_op, { "To op", "iggy.to_op", FT_UINT64, BASE_DEC, NULL, 0, "Last op wanted", HFILL } },
        { &hf_iggy_available,
          { "Available", "iggy.available", FT_UINT8, BASE_DEC, VALS(iggy_available_vals), 0, NULL, HFILL } },
        { &hf_iggy_unavailable_transient,
          { "Unavailable for now", "iggy.unavailable_transient", FT_UINT8, BASE_DEC, NULL, 0,
            "1 on a refusal: not right now", HFILL } },
        { &hf_iggy_commit_op,
          { "Commit op", "iggy.commit_op", FT_UINT64, BASE_DEC, NULL, 0, "Op that the sender has applied", HFILL } },
        { &hf_iggy_commit_max,
          { "Commit max", "iggy.commit_max", FT_UINT64, BASE_DEC, NULL, 0,
            "Highest committed op that the sender knows", HFILL } },
        { &hf_iggy_chunk_offset,
          { "Chunk offset", "iggy.chunk.offset", FT_UINT64, BASE_DEC, NULL, 0,
            "Byte offset inside the artifact", HFILL } },
        { &hf_iggy_chunk_length,
          { "Chunk length", "iggy.chunk.length", FT_UINT32, BASE_DEC, NULL, 0,
            "Bytes wanted; the answer may be shorter", HFILL } },
        { &hf_iggy_artifact_index,
          { "Artifact", "iggy.artifact.index", FT_UINT32, BASE_DEC, NULL, 0,
            "Index of an entry of the manifest", HFILL } },
        { &hf_iggy_epoch,
          { "Epoch", "iggy.epoch", FT_UINT64, BASE_DEC, NULL, 0, "Session: the op of its register", HFILL } },
        { &hf_iggy_watermark,
          { "Watermark", "iggy.watermark", FT_UINT64, BASE_DEC, NULL, 0,
            "Highest committed request number of the client", HFILL } },
        { &hf_iggy_register_outcome,
          { "Outcome", "iggy.forward_register.outcome", FT_UINT8, BASE_DEC, VALS(iggy_forward_register_outcome_vals), 0,
            NULL, HFILL } },
        { &hf_iggy_logout_outcome,
          { "Outcome", "iggy.forward_logout.outcome", FT_UINT8, BASE_DEC, VALS(iggy_forward_logout_outcome_vals), 0,
            NULL, HFILL } },
        { &hf_iggy_incomplete,
          { "Incomplete", "iggy.incomplete", FT_UINT8, BASE_DEC, NULL, 0,
            "1 when a shard of the sender did not report", HFILL } },
        { &hf_iggy_reporter,
          { "Reporter", "iggy.reporter", FT_UINT16, BASE_DEC, NULL, 0,
            "Shard of the sender that built the batch", HFILL } },
        { &hf_iggy_quorum_age_ns,
          { "Quorum age", "iggy.quorum_age_ns", FT_UINT64, BASE_DEC, NULL, 0,
            "Age of the primary's quorum evidence in nanoseconds", HFILL } },
        { &hf_iggy_rebalance_kind,
          { "Kind", "iggy.rebalance.kind", FT_UINT8, BASE_DEC, VALS(iggy_rebalance_kind_vals), 0, NULL, HFILL } },
        { &hf_iggy_ready, { "Ready", "iggy.ready", FT_UINT8, BASE_DEC, NULL, 0, NULL, HFILL } },
        { &hf_iggy_target,
          { "Target", "iggy.target", FT_UINT8, BASE_DEC, NULL, 0, "Replica that becomes primary", HFILL } },
        { &hf_iggy_segment_delete_kind,
          { "Kind", "iggy.segment_delete.kind", FT_UINT8, BASE_DEC, VALS(iggy_segment_delete_kind_vals), 0,
            NULL, HFILL } },
        { &hf_iggy_progress_nonce,
          { "Probe", "iggy.progress.nonce", FT_UINT64, BASE_HEX, NULL, 0,
            "Id of the probe, echoed by its reply", HFILL } },
        { &hf_iggy_progress_kind,
          { "Kind", "iggy.progress.kind", FT_UINT8, BASE_DEC, VALS(iggy_progress_kind_vals), 0, NULL, HFILL } },
        { &hf_iggy_observed_op,
          { "Observed op", "iggy.observed_op", FT_UINT64, BASE_DEC, NULL, 0, "Op that the probe asks about", HFILL } },
        { &hf_iggy_received_op,
          { "Received op", "iggy.received_op", FT_UINT64, BASE_DEC, NULL, 0,
            "End of the part that meets the acknowledgment rules", HFILL } },
        { &hf_iggy_held_op,
          { "Held op", "iggy.held_op", FT_UINT64, BASE_DEC, NULL, 0,
            "End of the contiguous prefix held in the current view", HFILL } },
        { &hf_iggy_flags_untrusted_log,
          { "Untrusted log", "iggy.flags.untrusted_log", FT_BOOLEAN, 8, TFS(&tfs_set_notset), 0x01,
            "The sender's log is untrusted", HFILL } },
    };
    static int *ett[] = { &ett_iggy_flags };
    proto_register_field_array(proto, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
}
