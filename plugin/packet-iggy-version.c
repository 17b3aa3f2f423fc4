/* packet-iggy-version.c
 * The protocol version of a connection: from the login; else from signs in headers and from bodies that fit one version only,
 * intersected frame by frame; else from another login of the cluster; else from the preference.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-version.h"

#include <string.h>

#include <epan/prefs.h>

#include "packet-iggy-commands.h"
#include "packet-iggy-conversation.h"
#include "packet-iggy-pdu.h"

#define STATES_LIMIT    255u   /* frames keep the index in one byte */
#define DRY_RUN_LIMIT   65536u /* bodies of prepares: only small ones differ between versions */
#define SUFFIX_LIMIT    128u   /* entries of a log suffix */
#define LOGIN_VERSION   256    /* u32 at the start of the body of operation 1 and code 15 */
#define LOGIN_RESULT_VERSION 12 /* u32 in the login result, commands.md 3.12 */

static const struct {
    uint32_t packed;
    uint8_t  version;
} releases[] = {
    { 0x2c00, IGGY_0_11_0 },
    { 0x3000, IGGY_0_12_0 },
    { 0x3001, IGGY_0_12_1 },
    { 0x3002, IGGY_0_12_2 },
};

static int preferred = IGGY_0_12_0;

/* cluster id (16 bytes, as a key of its own) to the iggy_version_state_t of the last login there */
static wmem_map_t *clusters;

uint8_t iggy_version_nearest(uint32_t packed)
{
    uint8_t version = IGGY_0_11_0;
    for (size_t i = 0; i < G_N_ELEMENTS(releases); i++)
        if (releases[i].packed <= packed)
            version = releases[i].version;
    return version;
}

uint32_t iggy_version_packed(uint8_t version)
{
    for (size_t i = 0; i < G_N_ELEMENTS(releases); i++)
        if (releases[i].version == version)
            return releases[i].packed;
    return 0;
}

uint8_t iggy_version_preferred(void) { return (uint8_t)preferred; }

/* ---- states ---- */

static void enter(iggy_versions_t *versions, uint32_t packed, uint8_t version, uint8_t known)
{
    if (versions->count) {
        const iggy_version_state_t *last = &versions->states[versions->count - 1];
        if ((last->packed == packed && last->known == known) || versions->count >= STATES_LIMIT)
            return;
    }
    if (versions->count == versions->room) {
        versions->room = versions->room ? 2 * versions->room : 2;
        versions->states = (iggy_version_state_t *)wmem_realloc(wmem_file_scope(), versions->states,
                                                                versions->room * sizeof *versions->states);
    }
    iggy_version_state_t *state = &versions->states[versions->count++];
    state->packed = packed;
    state->version = version;
    state->known = known;
}

void iggy_versions_init(iggy_versions_t *versions)
{
    memset(versions, 0, sizeof *versions);
    versions->possible = IGGY_VERSIONS_ALL;
    enter(versions, iggy_version_packed((uint8_t)preferred), (uint8_t)preferred, IGGY_KNOWN_PREFERENCE);
}

unsigned iggy_versions_current(const iggy_versions_t *versions) { return versions->count - 1; }

const iggy_version_state_t *iggy_versions_at(const iggy_versions_t *versions, unsigned number)
{
    return &versions->states[number < versions->count ? number : versions->count - 1];
}

static bool exact(const iggy_versions_t *versions)
{
    return versions->states[versions->count - 1].known >= IGGY_KNOWN_SESSION;
}

bool iggy_versions_may_be(const iggy_versions_t *versions, uint8_t version)
{
    return (versions->possible & IGGY_VERSION_BIT(version)) != 0;
}

void iggy_versions_adopt(iggy_versions_t *versions, const iggy_version_state_t *state)
{
    if (exact(versions) || state->known < IGGY_KNOWN_SESSION)
        return;
    versions->possible = IGGY_VERSION_BIT(state->version);
    enter(versions, state->packed, state->version, IGGY_KNOWN_SESSION);
}

static void learn(iggy_versions_t *versions, uint32_t packed)
{
    uint8_t version = iggy_version_nearest(packed);
    versions->possible = IGGY_VERSION_BIT(version);
    enter(versions, packed, version, IGGY_KNOWN_LOGIN);
}

/* ---- evidence ---- */

static const iggy_version_state_t *of_cluster(const iggy_versions_t *versions)
{
    static const uint8_t none[16];
    if (!memcmp(versions->cluster, none, sizeof none))
        return NULL;
    return (const iggy_version_state_t *)wmem_map_lookup(clusters, versions->cluster);
}

/* What to read with: what the evidence allows, and of that the cluster's own, the preferred or the lowest one. */
static void decide(iggy_versions_t *versions)
{
    if (exact(versions))
        return;
    bool open = versions->possible == IGGY_VERSIONS_ALL;
    const iggy_version_state_t *cluster = of_cluster(versions);
    if (cluster && iggy_versions_may_be(versions, cluster->version)) {
        enter(versions, cluster->packed, cluster->version, IGGY_KNOWN_CLUSTER);
        return;
    }
    uint8_t version = (uint8_t)preferred;
    if (!iggy_versions_may_be(versions, version))
        for (version = IGGY_0_11_0; !iggy_versions_may_be(versions, version); version++)
            ;
    enter(versions, iggy_version_packed(version), version, open ? IGGY_KNOWN_PREFERENCE : versions->evidence);
}

/* Only `set` is possible; where that contradicts what came before, the newer evidence counts. */
static void narrow(iggy_versions_t *versions, iggy_version_set_t set, uint8_t known)
{
    set &= IGGY_VERSIONS_ALL;
    if (exact(versions) || !set || (versions->possible & set) == versions->possible)
        return;
    versions->possible = (versions->possible & set) ? versions->possible & set : set;
    versions->evidence = known;
}

/* The versions from `since` to `until` of a row, 0 = unbounded. */
static iggy_version_set_t range(uint8_t since, uint8_t until)
{
    iggy_version_set_t set = 0;
    for (uint8_t v = IGGY_0_11_0; v <= IGGY_0_12_2; v++)
        if (v >= since && (!until || v <= until))
            set |= IGGY_VERSION_BIT(v);
    return set;
}

static bool non_zero(tvbuff_t *tvb, int offset, int length)
{
    const uint8_t *bytes = tvb_get_ptr(tvb, offset, length);
    for (int i = 0; i < length; i++)
        if (bytes[i])
            return true;
    return false;
}

/* ---- signs of headers (framing.md 8) ---- */

/* Header bytes that are zero before 0.12.0 and may be something later. */
static const struct {
    uint8_t command, offset, length;
} later_bytes[] = {
    { IGGY_REQUEST, 200, 24 },        { IGGY_REPLY, 220, 12 },
    { IGGY_COMMIT, 176, 8 },          { IGGY_START_VIEW_CHANGE, 136, 8 },
    { IGGY_DO_VIEW_CHANGE, 216, 8 },  { IGGY_START_VIEW, 152, 8 },       { IGGY_REQUEST_START_VIEW, 136, 8 },
    { IGGY_REQUEST_PREPARES, 168, 8 },       { IGGY_REPAIR_DONE, 160, 8 },          { IGGY_RANGE_EVICTED, 160, 8 },
    { IGGY_REQUEST_STATE_TRANSFER, 152, 8 }, { IGGY_STATE_TRANSFER_TARGET, 176, 8 }, { IGGY_REQUEST_STATE_CHUNK, 168, 8 },
    { IGGY_STATE_CHUNK, 248, 8 },
};

static iggy_version_set_t by_bytes(const iggy_pdu_t *pdu)
{
    for (size_t i = 0; i < G_N_ELEMENTS(later_bytes); i++)
        if (later_bytes[i].command == pdu->command)
            return non_zero(pdu->tvb, later_bytes[i].offset, later_bytes[i].length) ? IGGY_VERSIONS_0_12 : IGGY_VERSIONS_ALL;
    return IGGY_VERSIONS_ALL;
}

/* Frames that are longer than their header since some version only. */
static const struct {
    uint8_t command;
    iggy_version_set_t empty, filled;
} sizes[] = {
    { IGGY_FORWARD_REGISTER, IGGY_VERSION_BIT(IGGY_0_11_0), IGGY_VERSIONS_0_12 },
    { IGGY_PRIMARY_REBALANCE, IGGY_VERSIONS_0_12, IGGY_VERSION_BIT(IGGY_0_12_2) },
};

static iggy_version_set_t by_size(const iggy_pdu_t *pdu)
{
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++)
        if (sizes[i].command == pdu->command)
            return pdu->size == IGGY_HEADER_SIZE ? sizes[i].empty : sizes[i].filled;
    return IGGY_VERSIONS_ALL;
}

static iggy_version_set_t by_command(uint8_t command)
{
    if (command >= IGGY_COMMIT_REPLY && command <= IGGY_PREPARE_PROGRESS)
        return IGGY_VERSION_BIT(IGGY_0_12_2);
    if (command >= IGGY_CONSUMER_SESSION_HEARTBEAT && command <= IGGY_SEGMENT_DELETE)
        return IGGY_VERSIONS_0_12;
    return IGGY_VERSIONS_ALL;
}

/* Operations and codes that only some versions have; operation 2 and unknown codes say nothing. */
static iggy_version_set_t by_operation(const iggy_pdu_t *pdu)
{
    iggy_version_set_t set = IGGY_VERSIONS_ALL;
    const iggy_operation_t *operation = iggy_operation(pdu->operation);
    if (operation)
        set = range(operation->since, operation->until);
    if (pdu->command == IGGY_REQUEST && pdu->operation == IGGY_OP_NON_REPLICATED) {
        const iggy_command_t *command = iggy_command((uint32_t)iggy_fact(pdu->facts, IGGY_FACT_CODE, 0));
        if (command)
            set &= range(command->since, command->until);
    }
    return set;
}

/* request_checksum: a hash of 64 bits before 0.12.0, 128 random bits since (commands.md 1.6). */
static iggy_version_set_t by_request_checksum(const iggy_pdu_t *pdu)
{
    if ((pdu->command != IGGY_REQUEST && pdu->command != IGGY_REPLY) || !iggy_has(pdu->facts, IGGY_FACT_REQUEST_CHECKSUM))
        return IGGY_VERSIONS_ALL;
    int offset = pdu->facts->at[IGGY_FACT_REQUEST_CHECKSUM].offset;
    if (non_zero(pdu->tvb, offset + 8, 8))
        return IGGY_VERSIONS_0_12;
    return non_zero(pdu->tvb, offset, 8) ? IGGY_VERSION_BIT(IGGY_0_11_0) : IGGY_VERSIONS_ALL;
}

/*
 * A prepare header at `base`. Since 0.12.0 a register has a body. The tail of the header is zero before; since then a client's
 * operation (128..162) names its session there; a server's own operation has no client.
 */
static iggy_version_set_t by_prepare(tvbuff_t *tvb, int base, uint8_t operation)
{
    static const uint8_t nobody[2][16] = { { 0 },
        { 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255 } };
    if (non_zero(tvb, base + 228, 28))
        return IGGY_VERSIONS_0_12;
    if (operation == IGGY_OP_REGISTER && tvb_get_letohl(tvb, base + (int)IGGY_SIZE_OFFSET) == IGGY_HEADER_SIZE)
        return IGGY_VERSION_BIT(IGGY_0_11_0);
    if (operation == IGGY_OP_REGISTER)
        return IGGY_VERSIONS_0_12;
    if (operation < 128 || operation > 162 || !tvb_memeql(tvb, base + 128, nobody[0], 16) ||
        !tvb_memeql(tvb, base + 128, nobody[1], 16))
        return IGGY_VERSIONS_ALL;
    return IGGY_VERSION_BIT(IGGY_0_11_0);
}

/* Prepares, and the prepare headers in the log suffix of a view change (replica.md 5). */
static iggy_version_set_t by_prepares(const iggy_pdu_t *pdu)
{
    if (pdu->command == IGGY_PREPARE || pdu->command == IGGY_REPAIR_PREPARE)
        return by_prepare(pdu->tvb, 0, pdu->operation);
    if (pdu->command != IGGY_DO_VIEW_CHANGE && pdu->command != IGGY_START_VIEW)
        return IGGY_VERSIONS_ALL;
    iggy_version_set_t set = IGGY_VERSIONS_ALL;
    unsigned end = MIN(tvb_captured_length(pdu->tvb), pdu->size);
    end = MIN(end, IGGY_HEADER_SIZE * (1 + SUFFIX_LIMIT));
    for (unsigned base = IGGY_HEADER_SIZE; base + IGGY_HEADER_SIZE <= end; base += IGGY_HEADER_SIZE)
        set &= by_prepare(pdu->tvb, (int)base, tvb_get_uint8(pdu->tvb, (int)base + 208));
    return set;
}

/* A range of accepted versions: the login failed, but all versions of the server are in it. */
static void evicted(iggy_pdu_t *pdu, iggy_versions_t *versions)
{
    uint32_t highest = tvb_get_letohl(pdu->tvb, 144), lowest = tvb_get_letohl(pdu->tvb, 148);
    if (iggy_fact(pdu->facts, IGGY_FACT_REASON, 0) != 14 || !highest || lowest > highest)
        return;
    iggy_version_set_t set = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(releases); i++)
        if (releases[i].packed >= lowest && releases[i].packed <= highest)
            set |= IGGY_VERSION_BIT(releases[i].version);
    uint8_t nearest = iggy_version_nearest(highest);
    versions->possible = set ? set : IGGY_VERSION_BIT(nearest);
    versions->evidence = IGGY_KNOWN_SIGN;
    enter(versions, iggy_versions_may_be(versions, nearest) && set ? iggy_version_packed(nearest) : highest, nearest,
          IGGY_KNOWN_SIGN);
}

/* ---- logins ---- */

/* Whether the request is a login or a bind with a version in its body: below 2^30, and a name of printable bytes follows. */
static bool login_version(const iggy_pdu_t *pdu, uint32_t *packed)
{
    bool bind = pdu->operation == IGGY_OP_NON_REPLICATED && iggy_fact(pdu->facts, IGGY_FACT_CODE, 0) == 15;
    if (pdu->operation != IGGY_OP_REGISTER && !bind)
        return false;
    unsigned captured = tvb_captured_length(pdu->tvb);
    if (pdu->size < LOGIN_VERSION + 6 || captured < LOGIN_VERSION + 6)
        return false;
    *packed = tvb_get_letohl(pdu->tvb, LOGIN_VERSION);
    unsigned length = tvb_get_uint8(pdu->tvb, LOGIN_VERSION + 4);
    return *packed && *packed < 1u << 30 && length && LOGIN_VERSION + 5 + length <= pdu->size &&
           tvb_get_uint8(pdu->tvb, LOGIN_VERSION + 5) >= ' '; /* names are UTF-8 */
}

/* What the server answers: operation 1 behind an empty result section, code 15 without one. */
static bool login_reply_version(const iggy_pdu_t *pdu, uint32_t *packed)
{
    int offset = LOGIN_VERSION + LOGIN_RESULT_VERSION;
    if (iggy_fact(pdu->facts, IGGY_FACT_STATUS, 0))
        return false;
    if (pdu->operation == IGGY_OP_REGISTER) {
        offset += 4;
        if (tvb_captured_length(pdu->tvb) < LOGIN_VERSION + 4 || tvb_get_letohl(pdu->tvb, LOGIN_VERSION))
            return false;
    } else if (pdu->operation != IGGY_OP_NON_REPLICATED || pdu->code != 15) {
        return false;
    }
    if (pdu->size < (uint32_t)offset + 4 || tvb_captured_length(pdu->tvb) < (unsigned)offset + 4)
        return false;
    *packed = tvb_get_letohl(pdu->tvb, offset);
    return *packed && *packed < 1u << 30;
}

/* Servers name their cluster; a login tells the version of all of it. */
static void note_cluster(iggy_pdu_t *pdu, iggy_versions_t *versions)
{
    if (pdu->command == IGGY_REQUEST || !non_zero(pdu->tvb, 32, 16))
        return;
    bool same = !tvb_memeql(pdu->tvb, 32, versions->cluster, sizeof versions->cluster);
    if (same && versions->told == versions->count)
        return;
    tvb_memcpy(pdu->tvb, versions->cluster, 32, sizeof versions->cluster);
    const iggy_version_state_t *state = iggy_versions_at(versions, iggy_versions_current(versions));
    if (state->known != IGGY_KNOWN_LOGIN || pdu->command != IGGY_REPLY)
        return;
    versions->told = versions->count;
    const iggy_version_state_t *known = of_cluster(versions);
    if (known && known->packed == state->packed)
        return;
    iggy_version_state_t *copy = wmem_new(wmem_file_scope(), iggy_version_state_t);
    *copy = *state;
    wmem_map_insert(clusters, wmem_memdup(wmem_file_scope(), versions->cluster, sizeof versions->cluster), copy);
}

void iggy_versions_before(iggy_pdu_t *pdu, iggy_versions_t *versions)
{
    uint32_t packed;
    if (tvb_captured_length(pdu->tvb) < IGGY_HEADER_SIZE)
        return;
    if (pdu->command == IGGY_EVICTION)
        evicted(pdu, versions);
    if (pdu->command == IGGY_REQUEST && !pdu->place->replica && login_version(pdu, &packed))
        learn(versions, packed);
    if (!exact(versions))
        narrow(versions, by_bytes(pdu) & by_size(pdu) & by_command(pdu->command) & by_operation(pdu) &
                             by_request_checksum(pdu) & by_prepares(pdu), IGGY_KNOWN_SIGN);
    note_cluster(pdu, versions);
    decide(versions);
}

/* ---- layouts (commands.md 10.3) ---- */

static bool whole(const iggy_pdu_t *pdu) { return tvb_captured_length(pdu->tvb) >= pdu->size; }

/* Offset of the payload of a successful reply, 0 if it has none. */
static int payload(const iggy_pdu_t *pdu)
{
    int offset = (int)IGGY_HEADER_SIZE;
    if (iggy_fact(pdu->facts, IGGY_FACT_STATUS, 0) || !whole(pdu))
        return 0;
    if (iggy_result_framed(pdu)) {
        if (pdu->size < IGGY_HEADER_SIZE + 4 || tvb_get_letohl(pdu->tvb, offset))
            return 0;
        offset += 4;
    }
    return (uint32_t)offset < pdu->size ? offset : 0;
}

/* The versions of `among` in which `rows` fill the bytes from `offset` exactly. */
static iggy_version_set_t fitting(iggy_pdu_t *pdu, const iggy_row_t *rows, iggy_version_set_t among, int offset)
{
    iggy_version_set_t set = 0;
    for (uint8_t v = IGGY_0_11_0; v <= IGGY_0_12_2; v++)
        if ((among & IGGY_VERSION_BIT(v)) && iggy_layout_fits(pdu, rows, v, offset, (int)pdu->size))
            set |= IGGY_VERSION_BIT(v);
    return set;
}

bool iggy_reply_fits(iggy_pdu_t *pdu, const iggy_versions_t *versions, uint32_t code)
{
    const iggy_command_t *command = iggy_command(code);
    int offset = payload(pdu);
    return !offset || !command || !command->reply || fitting(pdu, command->reply, versions->possible, offset);
}

/* Layouts tell 0.11.0 from the rest, and some of them 0.12.2 too; all other differences are not looked for. */
static bool worth_trying(const iggy_versions_t *versions, uint8_t flags)
{
    iggy_version_set_t set = versions->possible;
    bool oldest = (set & IGGY_VERSION_BIT(IGGY_0_11_0)) != 0, newest = (set & IGGY_VERSION_BIT(IGGY_0_12_2)) != 0;
    if ((flags & IGGY_TELLS) && oldest && (set & IGGY_VERSIONS_0_12))
        return true;
    return (flags & IGGY_TELLS_0_12_2) && newest && set != IGGY_VERSION_BIT(IGGY_0_12_2);
}

static void try_reply(iggy_pdu_t *pdu, iggy_versions_t *versions)
{
    const iggy_command_t *command = pdu->code ? iggy_command(pdu->code) : NULL;
    if (!command || !command->reply || !worth_trying(versions, command->flags))
        return;
    int offset = payload(pdu);
    if (offset)
        narrow(versions, fitting(pdu, command->reply, versions->possible, offset), IGGY_KNOWN_LAYOUT);
}

static void try_prepare(iggy_pdu_t *pdu, iggy_versions_t *versions)
{
    const iggy_operation_t *operation = iggy_operation(pdu->operation);
    if (!operation || !operation->prepare || operation->value == IGGY_OP_SEND_MESSAGES || pdu->size > DRY_RUN_LIMIT ||
        pdu->size <= IGGY_HEADER_SIZE || !whole(pdu) || !worth_trying(versions, IGGY_TELLS | IGGY_TELLS_0_12_2))
        return;
    narrow(versions, fitting(pdu, operation->prepare, versions->possible, (int)IGGY_HEADER_SIZE), IGGY_KNOWN_LAYOUT);
}

void iggy_versions_after(iggy_pdu_t *pdu, iggy_versions_t *versions)
{
    uint32_t packed;
    if (exact(versions) || tvb_captured_length(pdu->tvb) < IGGY_HEADER_SIZE)
        return;
    if (pdu->command == IGGY_REPLY && login_reply_version(pdu, &packed)) {
        learn(versions, packed);
        note_cluster(pdu, versions);
    } else if (pdu->command == IGGY_REPLY) {
        try_reply(pdu, versions);
    } else if (pdu->command == IGGY_PREPARE || pdu->command == IGGY_REPAIR_PREPARE) {
        try_prepare(pdu, versions);
    }
    decide(versions);
}

/* ---- registration ---- */

static guint cluster_hash(gconstpointer key) { return wmem_strong_hash((const uint8_t *)key, 16); }

static gboolean cluster_equal(gconstpointer a, gconstpointer b) { return memcmp(a, b, 16) == 0; }

void iggy_register_version(void)
{
    static const enum_val_t choices[] = {
        { "0.11.0", "0.11.0", IGGY_0_11_0 },
        { "0.12.0", "0.12.0", IGGY_0_12_0 },
        { "0.12.1", "0.12.1 (development)", IGGY_0_12_1 },
        { "0.12.2", "0.12.2 (development)", IGGY_0_12_2 },
        { NULL, NULL, 0 }
    };
    prefs_register_enum_preference(iggy_preferences, "default_version", "Protocol version if nothing tells it",
                                   "How to read connections whose login is not in the capture and whose frames fit several "
                                   "versions of the protocol",
                                   &preferred, choices, FALSE);
    clusters = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), cluster_hash, cluster_equal);
}
