/* packet-iggy-replica.c
 * Bodies that servers send each other: log suffixes, state transfer, forwarding, completions, partition status (replica.md 5 to
 * 10). Bodies of prepares by operation are in packet-iggy-operations.c.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-replica.h"

#include "packet-iggy-checksum.h"
#include "packet-iggy-commands.h"
#include "packet-iggy-fields.h"
#include "packet-iggy-headers-rows.h"
#include "packet-iggy-values.h"

static int hf_iggy_suffix = IGGY_UNREGISTERED;
static int hf_iggy_suffix_checksum = IGGY_UNREGISTERED;
static int hf_iggy_suffix_checksum_status = IGGY_UNREGISTERED;
static int hf_iggy_suffix_checksum_body = IGGY_UNREGISTERED;
static int hf_iggy_suffix_cluster = IGGY_UNREGISTERED;
static int hf_iggy_suffix_size = IGGY_UNREGISTERED;
static int hf_iggy_suffix_view = IGGY_UNREGISTERED;
static int hf_iggy_suffix_release = IGGY_UNREGISTERED;
static int hf_iggy_suffix_command = IGGY_UNREGISTERED;
static int hf_iggy_suffix_replica = IGGY_UNREGISTERED;
static int hf_iggy_suffix_client = IGGY_UNREGISTERED;
static int hf_iggy_suffix_parent = IGGY_UNREGISTERED;
static int hf_iggy_suffix_request_checksum = IGGY_UNREGISTERED;
static int hf_iggy_suffix_op = IGGY_UNREGISTERED;
static int hf_iggy_suffix_commit = IGGY_UNREGISTERED;
static int hf_iggy_suffix_timestamp = IGGY_UNREGISTERED;
static int hf_iggy_suffix_request = IGGY_UNREGISTERED;
static int hf_iggy_suffix_operation = IGGY_UNREGISTERED;
static int hf_iggy_suffix_group = IGGY_UNREGISTERED;
static int hf_iggy_suffix_acting_user = IGGY_UNREGISTERED;
static int hf_iggy_suffix_retry_capacity = IGGY_UNREGISTERED;
static int hf_iggy_suffix_incarnation = IGGY_UNREGISTERED;
static int hf_iggy_suffix_session = IGGY_UNREGISTERED;
static int hf_iggy_suffix_state = IGGY_UNREGISTERED;
static int hf_iggy_manifest_magic = IGGY_UNREGISTERED;
static int hf_iggy_manifest_count = IGGY_UNREGISTERED;
static int hf_iggy_manifest_entry_length = IGGY_UNREGISTERED;
static int hf_iggy_manifest_entry = IGGY_UNREGISTERED;
static int hf_iggy_manifest_rest = IGGY_UNREGISTERED;
static int hf_iggy_manifest_checksum = IGGY_UNREGISTERED;
static int hf_iggy_manifest_checksum_status = IGGY_UNREGISTERED;
static int hf_iggy_artifact_kind = IGGY_UNREGISTERED;
static int hf_iggy_artifact_frontier = IGGY_UNREGISTERED;
static int hf_iggy_artifact_length = IGGY_UNREGISTERED;
static int hf_iggy_artifact_checksum = IGGY_UNREGISTERED;
static int hf_iggy_chunk_data = IGGY_UNREGISTERED;
static int hf_iggy_reported_session = IGGY_UNREGISTERED;
static int hf_iggy_partition_status = IGGY_UNREGISTERED;
static int hf_iggy_in_sync_nodes = IGGY_UNREGISTERED;

static int ett_iggy_suffix = IGGY_UNREGISTERED;
static int ett_iggy_manifest_entry = IGGY_UNREGISTERED;
static int ett_iggy_reported_session = IGGY_UNREGISTERED;
static int ett_iggy_partition_status = IGGY_UNREGISTERED;

static expert_field ei_iggy_suffix_identity = EI_INIT;
static expert_field ei_iggy_suffix_order = EI_INIT;
static expert_field ei_iggy_suffix_chain = EI_INIT;
static expert_field ei_iggy_manifest_magic = EI_INIT;
static expert_field ei_iggy_manifest_checksum = EI_INIT;

static const iggy_checksum_fields_t suffix_fields = { &hf_iggy_suffix_checksum, &hf_iggy_suffix_checksum_status,
                                                      &ei_iggy_suffix_identity };
static const iggy_checksum_fields_t manifest_fields = { &hf_iggy_manifest_checksum, &hf_iggy_manifest_checksum_status,
                                                        &ei_iggy_manifest_checksum };

/* Offsets of a prepare header, as a suffix entry has it (framing.md 3, prepare). */
#define ENTRY_PARENT 144
#define ENTRY_OP 176
#define ENTRY_OPERATION 208
/* Of a do_view_change. */
#define NACK_BITSET 224
#define PRESENT_BITSET 240

/* What the sender of a do_view_change says of an entry: bits of iggy.suffix.state. */
#define STATE_PRESENT 1u
#define STATE_NACK 2u
static const value_string suffix_state_vals[] = {
    { 0, "unknown" },
    { STATE_PRESENT, "present" },
    { STATE_NACK, "nack" },
    { STATE_PRESENT | STATE_NACK, "present_and_nack" },
    { 0, NULL }
};

/* ---- log suffix (replica.md 5) ---- */

static int call_suffix_checksum(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    if (!iggy_walk_there(walk, row, offset, 16))
        return offset;
    if (!iggy_walk_shows(walk))
        return offset + 16;
    uint64_t stored = tvb_get_letoh64(walk->tvb, offset), hash = 0;
    bool zero = stored == 0 && tvb_get_letoh64(walk->tvb, offset + 8) == 0;
    iggy_checksum_t sum = zero ? iggy_checksum_not_present() : iggy_checksum_unverified();
    if (!zero && iggy_checksum_wanted(tree, &suffix_fields) && iggy_prepare_identity(walk->tvb, offset, &hash)) {
        sum = iggy_checksum_compare(stored, hash);
        if (tvb_get_letoh64(walk->tvb, offset + 8) != 0)
            sum.status = PROTO_CHECKSUM_E_BAD;
    }
    iggy_add_checksum128(walk->pdu, tree, offset, &suffix_fields, sum);
    return offset + 16;
}

static bool bit_of(tvbuff_t *tvb, int bitset, unsigned bit)
{
    return bit < 128 && (tvb_get_uint8(tvb, bitset + (int)(bit / 8)) >> (bit % 8) & 1) != 0;
}

static uint32_t entry_state(tvbuff_t *tvb, unsigned entry)
{
    return (bit_of(tvb, PRESENT_BITSET, entry) ? STATE_PRESENT : 0) | (bit_of(tvb, NACK_BITSET, entry) ? STATE_NACK : 0);
}

/* Ops fall by one per entry, from the op of the header in a do_view_change; parents chain over entries that are not blank. */
static void check_entry(iggy_walk_t *walk, proto_item *item, int start)
{
    tvbuff_t *tvb = walk->tvb;
    uint64_t op = tvb_get_letoh64(tvb, start + ENTRY_OP);
    bool first = start == (int)IGGY_HEADER_SIZE;
    uint64_t expected = first ? iggy_fact(walk->pdu->facts, IGGY_FACT_OP, op)
                              : tvb_get_letoh64(tvb, start - (int)IGGY_HEADER_SIZE + ENTRY_OP) - 1;
    if (op != expected && (!first || walk->pdu->command == IGGY_DO_VIEW_CHANGE))
        expert_add_info(walk->pdu->pinfo, item, &ei_iggy_suffix_order);
    if (first)
        return;
    int above = start - (int)IGGY_HEADER_SIZE;
    bool blank = !tvb_get_uint8(tvb, start + ENTRY_OPERATION) || !tvb_get_uint8(tvb, above + ENTRY_OPERATION);
    if (!blank && tvb_get_letoh64(tvb, start) && tvb_memeql(tvb, above + ENTRY_PARENT, tvb_get_ptr(tvb, start, 16), 16) != 0)
        expert_add_info(walk->pdu->pinfo, item, &ei_iggy_suffix_chain);
}

static void suffix_done(iggy_walk_t *walk, proto_item *item, int start, int end)
{
    if (!iggy_walk_shows(walk) || end - start < (int)IGGY_HEADER_SIZE)
        return;
    unsigned entry = (unsigned)(start - (int)IGGY_HEADER_SIZE) / IGGY_HEADER_SIZE;
    uint8_t operation = tvb_get_uint8(walk->tvb, start + ENTRY_OPERATION);
    proto_item_append_text(item, " op %" PRIu64 " %s", tvb_get_letoh64(walk->tvb, start + ENTRY_OP),
                           operation ? iggy_operation_name(walk->pdu->pinfo, operation) : "(blank)");
    check_entry(walk, item, start);
    if (walk->pdu->command != IGGY_DO_VIEW_CHANGE)
        return;
    uint32_t state = entry_state(walk->tvb, entry);
    proto_item_append_text(item, ", %s", val_to_str_const(state, suffix_state_vals, "unknown"));
    proto_tree *tree = proto_item_get_subtree(item);
    if (tree)
        proto_item_set_generated(proto_tree_add_uint(tree, hf_iggy_suffix_state, walk->tvb, start, 0, state));
}

static const iggy_row_t suffix_tail[] = {
    IGGY_U32(hf_iggy_suffix_retry_capacity),
    IGGY_U64(hf_iggy_suffix_incarnation),
    IGGY_RESERVED(8),
    IGGY_U64(hf_iggy_suffix_session),
    IGGY_ROWS_END
};

/* A whole prepare header. Its size is that of the prepare, whose body is not here. */
static const iggy_row_t suffix_entry[] = {
    IGGY_CALL(call_suffix_checksum),
    IGGY_FIXED(hf_iggy_suffix_checksum_body, 16),
    IGGY_FIXED(hf_iggy_suffix_cluster, 16),
    IGGY_U32(hf_iggy_suffix_size),
    IGGY_U32(hf_iggy_suffix_view),
    IGGY_U32(hf_iggy_suffix_release),
    IGGY_U8(hf_iggy_suffix_command),
    IGGY_U8(hf_iggy_suffix_replica),
    IGGY_RESERVED(66),
    IGGY_FIXED(hf_iggy_suffix_client, 16),
    IGGY_FIXED(hf_iggy_suffix_parent, 16),
    IGGY_FIXED(hf_iggy_suffix_request_checksum, 16),
    IGGY_U64(hf_iggy_suffix_op),
    IGGY_U64(hf_iggy_suffix_commit),
    IGGY_TIME(hf_iggy_suffix_timestamp, .sentinels = iggy_not_set_0),
    IGGY_U64(hf_iggy_suffix_request),
    IGGY_U8(hf_iggy_suffix_operation),
    IGGY_RESERVED(7),
    IGGY_CALL(iggy_call_group, .hf = &hf_iggy_suffix_group),
    IGGY_U32(hf_iggy_suffix_acting_user),
    IGGY_RESERVED(28, .until = IGGY_0_11_0),
    IGGY_ROWS(suffix_tail, .since = IGGY_0_12_0),
    IGGY_ROWS_END
};

static const iggy_row_t suffix[] = {
    IGGY_REPEAT(suffix_entry, hf_iggy_suffix, ett_iggy_suffix, .done = suffix_done),
    IGGY_ROWS_END
};

/* ---- state transfer (replica.md 6) ---- */

static int call_magic(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    if (!iggy_walk_there(walk, row, offset, 4))
        return offset;
    bool good = tvb_memeql(walk->tvb, offset, (const uint8_t *)"ISM1", 4) == 0;
    if (walk->mode == IGGY_WALK_FIT && !good)
        return iggy_walk_fail(walk, row, offset, "no state manifest");
    if (iggy_walk_shows(walk)) {
        proto_item *item = proto_tree_add_item(tree, hf_iggy_manifest_magic, walk->tvb, offset, 4, ENC_ASCII);
        if (!good)
            expert_add_info(walk->pdu->pinfo, item, &ei_iggy_manifest_magic);
    }
    return offset + 4;
}

/* The hash of the manifest before it; the manifest is all of the body. */
static int call_manifest_checksum(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    if (!iggy_walk_there(walk, row, offset, 8))
        return offset;
    if (!iggy_walk_shows(walk))
        return offset + 8;
    int start = (int)IGGY_HEADER_SIZE;
    uint64_t hash = 0;
    iggy_checksum_t sum = iggy_checksum_unverified();
    if (iggy_checksum_wanted(tree, &manifest_fields) && iggy_hash64(walk->tvb, start, offset - start, &hash))
        sum = iggy_checksum_compare(tvb_get_letoh64(walk->tvb, offset), hash);
    iggy_add_checksum64(walk->pdu, tree, walk->tvb, offset, &manifest_fields, sum);
    return offset + 8;
}

/* Later releases may append to entries; their length is told. */
static const iggy_row_t manifest_entry[] = {
    IGGY_U8(hf_iggy_artifact_kind, .label = ": |"),
    IGGY_U64(hf_iggy_artifact_frontier, .label = ", frontier |"),
    IGGY_U64(hf_iggy_artifact_length, .label = ", | bytes"),
    IGGY_FIXED(hf_iggy_artifact_checksum, 8),
    IGGY_REST(hf_iggy_manifest_rest, .flags = IGGY_OPAQUE),
    IGGY_ROWS_END
};

static const iggy_row_t manifest_element[] = {
    IGGY_EXTENT(IGGY_REG_LENGTH, manifest_entry, hf_iggy_manifest_entry, ett_iggy_manifest_entry),
    IGGY_ROWS_END
};

static const iggy_row_t manifest[] = {
    IGGY_CALL(call_magic),
    IGGY_U32(hf_iggy_manifest_count, .put = IGGY_REG_COUNT),
    IGGY_U8(hf_iggy_manifest_entry_length, .put = IGGY_REG_LENGTH),
    IGGY_LIST_BARE(IGGY_REG_COUNT, manifest_element, 25),
    IGGY_CALL(call_manifest_checksum),
    IGGY_ROWS_END
};

static const iggy_row_t chunk[] = {
    IGGY_REST(hf_iggy_chunk_data, .fact = IGGY_FACT_LEN, .flags = IGGY_OPAQUE), /* users and their hashes, too */
    IGGY_ROWS_END
};

/* ---- sessions (replica.md 8), rebalance (replica.md 10) ---- */

static const iggy_row_t reported_session[] = {
    IGGY_FIXED(hf_iggy_client, 16),
    IGGY_U64(hf_iggy_session, .label = " |"),
    IGGY_ROWS_END
};

static const iggy_row_t reported_sessions[] = {
    IGGY_REPEAT(reported_session, hf_iggy_reported_session, ett_iggy_reported_session, .fact = IGGY_FACT_COUNT),
    IGGY_ROWS_END
};

static int call_in_sync(iggy_walk_t *walk, const iggy_row_t *row, proto_tree *tree, int offset)
{
    if (!iggy_walk_there(walk, row, offset, 4))
        return offset;
    if (!iggy_walk_shows(walk))
        return offset + 4;
    uint32_t nodes = tvb_get_letohl(walk->tvb, offset);
    proto_item *item = proto_tree_add_uint(tree, hf_iggy_in_sync_nodes, walk->tvb, offset, 4, nodes);
    const char *before = " (replicas ";
    for (unsigned n = 0; n < 32; n++)
        if (nodes >> n & 1) {
            proto_item_append_text(item, "%s%u", before, n);
            before = ", ";
        }
    proto_item_append_text(item, "%s", nodes ? ")" : " (none)");
    return offset + 4;
}

static const iggy_row_t partition_status[] = {
    IGGY_CALL(iggy_call_group, .hf = &hf_iggy_consensus_group),
    IGGY_U64(hf_iggy_created_revision),
    IGGY_U32(hf_iggy_partition_view, .label = " view |"),
    IGGY_U64(hf_iggy_commit, .label = ", commit |"),
    IGGY_U64(hf_iggy_current_offset),
    IGGY_U64(hf_iggy_messages_count, .label = ", | messages"),
    IGGY_U64(hf_iggy_size_bytes),
    IGGY_U32(hf_iggy_segments_count),
    IGGY_CALL(call_in_sync),
    IGGY_ROWS_END
};

static const iggy_row_t partition_statuses[] = {
    IGGY_REPEAT(partition_status, hf_iggy_partition_status, ett_iggy_partition_status, .fact = IGGY_FACT_COUNT),
    IGGY_ROWS_END
};

/* ---- which rows ---- */

/* Commands whose body has one layout; the others are told by operation, or have none. */
static const iggy_row_t *const by_command[] = {
    [IGGY_DO_VIEW_CHANGE] = suffix,
    [IGGY_START_VIEW] = suffix,
    [IGGY_STATE_TRANSFER_TARGET] = manifest,
    [IGGY_STATE_CHUNK] = chunk,
    [IGGY_FORWARD_REGISTER] = iggy_rows_register_prepare,
    [IGGY_CONSUMER_SESSION_HEARTBEAT] = reported_sessions,
    [IGGY_SESSION_RETIREMENT_PROGRESS] = reported_sessions,
    [IGGY_PRIMARY_REBALANCE] = partition_statuses,
    [IGGY_PREPARE_PROGRESS] = NULL,
};

const iggy_row_t *iggy_replica_rows(const iggy_pdu_t *pdu)
{
    const iggy_operation_t *operation = iggy_operation(pdu->operation);
    if (pdu->command == IGGY_PREPARE || pdu->command == IGGY_REPAIR_PREPARE || pdu->command == IGGY_FORWARD_COMPLETION)
        return operation ? operation->prepare : NULL;
    if (pdu->command >= array_length(by_command) || pdu->command < IGGY_PREPARE)
        return NULL;
    /* a refusal has no manifest */
    if (pdu->size <= IGGY_HEADER_SIZE || !by_command[pdu->command])
        return iggy_rows_none;
    return by_command[pdu->command];
}

/* ---- registration ---- */

static void register_experts(int proto)
{
    static ei_register_info ei[] = {
        { &ei_iggy_suffix_identity, { "iggy.expert.suffix_identity", PI_CHECKSUM, PI_ERROR,
                                      "Bad prepare identity of a suffix entry", EXPFILL } },
        { &ei_iggy_suffix_order, { "iggy.expert.suffix_order", PI_PROTOCOL, PI_WARN,
                                   "Ops of a suffix must fall by one per entry", EXPFILL } },
        { &ei_iggy_suffix_chain, { "iggy.expert.suffix_chain", PI_PROTOCOL, PI_WARN,
                                   "The entry above has another parent: the suffix does not chain", EXPFILL } },
        { &ei_iggy_manifest_magic, { "iggy.expert.manifest_magic", PI_PROTOCOL, PI_WARN,
                                     "A state manifest begins with ISM1", EXPFILL } },
        { &ei_iggy_manifest_checksum, { "iggy.expert.manifest_checksum", PI_CHECKSUM, PI_ERROR,
                                        "Bad checksum of the state manifest", EXPFILL } },
    };
    expert_register_field_array(expert_register_protocol(proto), ei, array_length(ei));
}

void iggy_register_replica(int proto)
{
    static hf_register_info hf[] = {
        { &hf_iggy_suffix,
          { "Suffix entry", "iggy.suffix", FT_NONE, BASE_NONE, NULL, 0,
            "Header of a prepare of the log; its body is not here", HFILL } },
        { &hf_iggy_suffix_checksum,
          { "Checksum", "iggy.suffix.checksum", FT_BYTES, BASE_NONE, NULL, 0, "Identity of the prepare", HFILL } },
        { &hf_iggy_suffix_checksum_status,
          { "Checksum status", "iggy.suffix.checksum.status", FT_UINT8, BASE_NONE, VALS(proto_checksum_vals), 0,
            NULL, HFILL } },
        { &hf_iggy_suffix_checksum_body,
          { "Body checksum", "iggy.suffix.checksum_body", FT_BYTES, BASE_NONE, NULL, 0, NULL, HFILL } },
        { &hf_iggy_suffix_cluster, { "Cluster", "iggy.suffix.cluster", FT_GUID, BASE_NONE, NULL, 0, NULL, HFILL } },
        { &hf_iggy_suffix_size,
          { "Size", "iggy.suffix.size", FT_UINT32, BASE_DEC, NULL, 0,
            "Length of the prepare, which is not here", HFILL } },
        { &hf_iggy_suffix_view, { "View", "iggy.suffix.view", FT_UINT32, BASE_DEC, NULL, 0, NULL, HFILL } },
        { &hf_iggy_suffix_release, { "Release", "iggy.suffix.release", FT_UINT32, BASE_DEC, NULL, 0, NULL, HFILL } },
        { &hf_iggy_suffix_command,
          { "Command", "iggy.suffix.command", FT_UINT8, BASE_DEC | BASE_EXT_STRING, &iggy_command_vals_ext, 0, NULL, HFILL } },
        { &hf_iggy_suffix_replica,
          { "Replica", "iggy.suffix.replica", FT_UINT8, BASE_DEC, NULL, 0, "Replica that built the prepare", HFILL } },
        { &hf_iggy_suffix_client, { "Client", "iggy.suffix.client", FT_GUID, BASE_NONE, NULL, 0, NULL, HFILL } },
        { &hf_iggy_suffix_parent,
          { "Parent", "iggy.suffix.parent", FT_BYTES, BASE_NONE, NULL, 0,
            "Identity of the prepare at op - 1", HFILL } },
        { &hf_iggy_suffix_request_checksum,
          { "Request checksum", "iggy.suffix.request_checksum", FT_BYTES, BASE_NONE, NULL, 0, NULL, HFILL } },
        { &hf_iggy_suffix_op, { "Op", "iggy.suffix.op", FT_UINT64, BASE_DEC, NULL, 0, NULL, HFILL } },
        { &hf_iggy_suffix_commit, { "Commit", "iggy.suffix.commit", FT_UINT64, BASE_DEC, NULL, 0, NULL, HFILL } },
        { &hf_iggy_suffix_timestamp,
          { "Timestamp", "iggy.suffix.timestamp", FT_ABSOLUTE_TIME, ABSOLUTE_TIME_UTC, NULL, 0, NULL, HFILL } },
        { &hf_iggy_suffix_request, { "Request", "iggy.suffix.request", FT_UINT64, BASE_DEC, NULL, 0, NULL, HFILL } },
        { &hf_iggy_suffix_operation,
          { "Operation", "iggy.suffix.operation", FT_UINT8, BASE_DEC, NULL, 0, "0 in a blank entry", HFILL } },
        { &hf_iggy_suffix_group,
          { "Consensus group", "iggy.suffix.consensus_group", FT_UINT64, BASE_HEX, NULL, 0, NULL, HFILL } },
        { &hf_iggy_suffix_acting_user,
          { "Acting user", "iggy.suffix.acting_user", FT_UINT32, BASE_DEC, NULL, 0, NULL, HFILL } },
        { &hf_iggy_suffix_retry_capacity,
          { "Retry capacity", "iggy.suffix.retry_capacity", FT_UINT32, BASE_DEC, NULL, 0, NULL, HFILL } },
        { &hf_iggy_suffix_incarnation,
          { "Partition incarnation", "iggy.suffix.partition_incarnation", FT_UINT64, BASE_DEC, NULL, 0, NULL, HFILL } },
        { &hf_iggy_suffix_session, { "Session", "iggy.suffix.session", FT_UINT64, BASE_DEC, NULL, 0, NULL, HFILL } },
        { &hf_iggy_suffix_state,
          { "State", "iggy.suffix.state", FT_UINT8, BASE_DEC, VALS(suffix_state_vals), 0,
            "What the bitsets of the do_view_change say of the entry", HFILL } },
        { &hf_iggy_manifest_magic, { "Magic", "iggy.manifest.magic", FT_STRING, BASE_NONE, NULL, 0, NULL, HFILL } },
        { &hf_iggy_manifest_count,
          { "Artifacts", "iggy.manifest.count", FT_UINT32, BASE_DEC, NULL, 0, NULL, HFILL } },
        { &hf_iggy_manifest_entry_length,
          { "Length of an entry", "iggy.manifest.entry_length", FT_UINT8, BASE_DEC, NULL, 0, NULL, HFILL } },
        { &hf_iggy_manifest_entry, { "Artifact", "iggy.manifest.entry", FT_NONE, BASE_NONE, NULL, 0, NULL, HFILL } },
        { &hf_iggy_manifest_rest,
          { "Rest of the entry", "iggy.manifest.rest", FT_BYTES, BASE_NONE, NULL, 0,
            "Fields of a later release", HFILL } },
        { &hf_iggy_manifest_checksum,
          { "Checksum", "iggy.manifest.checksum", FT_UINT64, BASE_HEX, NULL, 0,
            "XXH3-64 of the manifest before it", HFILL } },
        { &hf_iggy_manifest_checksum_status,
          { "Checksum status", "iggy.manifest.checksum.status", FT_UINT8, BASE_NONE, VALS(proto_checksum_vals), 0,
            NULL, HFILL } },
        { &hf_iggy_artifact_kind,
          { "Kind", "iggy.artifact.kind", FT_UINT8, BASE_DEC, VALS(iggy_artifact_kind_vals), 0, NULL, HFILL } },
        { &hf_iggy_artifact_frontier,
          { "Frontier", "iggy.artifact.frontier", FT_UINT64, BASE_DEC, NULL, 0,
            "Snapshot op, mutation frontier, base offset or commit op, by kind", HFILL } },
        { &hf_iggy_artifact_length,
          { "Length", "iggy.artifact.length", FT_UINT64, BASE_DEC, NULL, 0, "Bytes of the artifact", HFILL } },
        { &hf_iggy_artifact_checksum,
          { "Checksum", "iggy.artifact.checksum", FT_UINT64, BASE_HEX, NULL, 0, "XXH3-64 of the artifact", HFILL } },
        { &hf_iggy_chunk_data,
          { "Data", "iggy.chunk.data", FT_BYTES, BASE_NONE, NULL, 0, "A piece of the artifact", HFILL } },
        { &hf_iggy_reported_session,
          { "Session", "iggy.reported_session", FT_NONE, BASE_NONE, NULL, 0, NULL, HFILL } },
        { &hf_iggy_partition_status,
          { "Partition status", "iggy.partition_status", FT_NONE, BASE_NONE, NULL, 0, NULL, HFILL } },
        { &hf_iggy_in_sync_nodes,
          { "In-sync nodes", "iggy.in_sync_nodes", FT_UINT32, BASE_HEX, NULL, 0,
            "Bit n: replica n is in sync", HFILL } },
    };
    static int *ett[] = { &ett_iggy_suffix, &ett_iggy_manifest_entry, &ett_iggy_reported_session, &ett_iggy_partition_status };
    for (size_t i = 0; i < array_length(hf); i++)
        if (hf[i].p_id == &hf_iggy_suffix_operation)
            iggy_name_operations(&hf[i]);
    proto_register_field_array(proto, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    register_experts(proto);
    iggy_register_operations(proto);
}
