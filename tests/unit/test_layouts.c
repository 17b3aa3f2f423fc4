/* test_layouts.c
 * Walks every table of layouts without a frame: what Wireshark's checkers cannot see through rows.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "epan_start.h"

#include <string.h>

#include "packet-iggy-batch.h"
#include "packet-iggy-commands.h"
#include "packet-iggy-fields.h"
#include "packet-iggy-headers.h"

#define NEWEST IGGY_0_12_2
#define UNKNOWN_LEAST (-1)

/* Where the walk is, for messages, and what it knows of registers. */
typedef struct {
    const char *table;
    int      version;
    int      depth;
    uint64_t filled;  /* registers that hold a value */
    uint64_t clobbered; /* registers that elements of a list have overwritten */
} place_t;

static unsigned faults;
static unsigned rows_seen;

#define FAULT(place, rows, row, ...) \
    do { \
        char *text_ = g_strdup_printf(__VA_ARGS__); \
        g_test_message("%s, version %d, level %d, row %d: %s", (place)->table, (place)->version, (place)->depth, \
                       (int)((row) - (rows)), text_); \
        g_free(text_); \
        faults++; \
    } while (0)

static bool registered(const int *hf)
{
    return hf && *hf > 0 && proto_registrar_get_nth((unsigned)*hf) != NULL;
}

static const header_field_info *field(const int *hf)
{
    return proto_registrar_get_nth((unsigned)*hf);
}

/* Bytes that a field of this type takes: exactly (`exact`) or at most; 0: any number. */
static unsigned width(enum ftenum type, bool *exact)
{
    *exact = false;
    switch (type) {
    case FT_UINT8: case FT_INT8: return 1;
    case FT_UINT16: case FT_INT16: return 2;
    case FT_UINT24: case FT_INT24: return 3;
    case FT_UINT32: case FT_INT32: return 4;
    case FT_UINT64: case FT_INT64: case FT_BOOLEAN: return 8;
    case FT_FLOAT: *exact = true; return 4;
    case FT_DOUBLE: case FT_ABSOLUTE_TIME: *exact = true; return 8;
    case FT_GUID: *exact = true; return 16;
    default: return 0;
    }
}

static bool is_number(enum ftenum type)
{
    bool exact;
    unsigned n = width(type, &exact);
    return n && !exact;
}

static bool is_text(const int *hf) { return registered(hf) && field(hf)->type == FT_STRING; }
static bool is_bytes(const int *hf) { return registered(hf) && field(hf)->type == FT_BYTES; }

static bool holds_number(const int *hf, unsigned size)
{
    bool exact;
    return registered(hf) && is_number(field(hf)->type) && width(field(hf)->type, &exact) >= size;
}

/* ---- one kind of row each ---- */

static void check_item(const place_t *place, const iggy_row_t *rows, const iggy_row_t *row)
{
    if (!registered(row->hf)) {
        FAULT(place, rows, row, "the field is not registered");
        return;
    }
    const header_field_info *info = field(row->hf);
    bool exact;
    unsigned n = width(info->type, &exact);
    if (info->type != FT_BYTES && (n == 0 || n < row->size || (exact && n != row->size)))
        FAULT(place, rows, row, "%s (%s) does not hold %u bytes", info->abbrev, ftype_name(info->type), row->size);
    if (row->size == 0)
        FAULT(place, rows, row, "%s has no bytes", info->abbrev);
    if ((row->flags & IGGY_KNOWN) && (!info->strings || (info->display & BASE_EXT_STRING)))
        FAULT(place, rows, row, "%s has no value string to know its values from", info->abbrev);
    if (row->label && (info->display & BASE_EXT_STRING))
        FAULT(place, rows, row, "%s: labels name the values of plain value strings alone", info->abbrev);
    for (const iggy_sentinel_t *s = row->sentinels; s && s->text; s++)
        if (!is_number(info->type) && info->type != FT_ABSOLUTE_TIME)
            FAULT(place, rows, row, "%s cannot have special values", info->abbrev);
    for (const iggy_sentinel_t *s = row->sentinels; s && s->text; s++)
        if (row->size < 8 && s->value >> (8 * row->size))
            FAULT(place, rows, row, "%s: special value \"%s\" needs more than %u bytes", info->abbrev, s->text, row->size);
    if (row->put && row->size > 8)
        FAULT(place, rows, row, "%s does not fit into a register", info->abbrev);
}

static void check_string(const place_t *place, const iggy_row_t *rows, const iggy_row_t *row)
{
    bool text = row->kind == IGGY_ROW_TEXT;
    if (text ? !is_text(row->hf) : !is_bytes(row->hf))
        FAULT(place, rows, row, "%s is no field of %s", registered(row->hf) ? field(row->hf)->abbrev : "the value",
              text ? "text" : "bytes");
    if (!holds_number(row->hf_2, row->size))
        FAULT(place, rows, row, "the length does not hold %u bytes", row->size);
}

static bool names_a_pair(unsigned fact)
{
    return fact == IGGY_FACT_NONE || fact == IGGY_FACT_STREAM_ID || fact == IGGY_FACT_TOPIC_ID ||
           fact == IGGY_FACT_CONSUMER_GROUP_ID || fact == IGGY_FACT_CONSUMER_ID || fact == IGGY_FACT_USER_ID;
}

static void check_identifier(const place_t *place, const iggy_row_t *rows, const iggy_row_t *row)
{
    if (!holds_number(row->hf, 4))
        FAULT(place, rows, row, "the numeric id does not hold 4 bytes");
    if (!is_text(row->hf_2))
        FAULT(place, rows, row, "the name is no text field");
    if (!names_a_pair(row->fact))
        FAULT(place, rows, row, "fact %u is no id with a name behind it", row->fact);
}

static void check_subtree(const place_t *place, const iggy_row_t *rows, const iggy_row_t *row)
{
    if (!row->hf)
        return;
    if (!registered(row->hf))
        FAULT(place, rows, row, "the container's field is not registered");
    else if (field(row->hf)->type != FT_NONE && field(row->hf)->type != FT_BYTES)
        FAULT(place, rows, row, "%s is a value, no container", field(row->hf)->abbrev);
    if (!row->ett || *row->ett <= 0)
        FAULT(place, rows, row, "the subtree is missing or not registered");
}

static void check_block_length(const place_t *place, const iggy_row_t *rows, const iggy_row_t *row)
{
    if (row->kind == IGGY_ROW_BLOCK && row->hf_2 && !holds_number(row->hf_2, row->size))
        FAULT(place, rows, row, "the block's length does not hold %u bytes", row->size);
    if (!(row->flags & IGGY_SOFT))
        return;
    if (row->kind == IGGY_ROW_BLOCK && row->hf_2)
        FAULT(place, rows, row, "a soft block cannot show its length: hf_2 is its bytes");
    if (row->kind == IGGY_ROW_EXTENT && row->hf_2 && !is_bytes(row->hf_2))
        FAULT(place, rows, row, "a soft extent falls back to a field that holds no bytes");
}

static void check_versions_and_label(const place_t *place, const iggy_row_t *rows, const iggy_row_t *row)
{
    if (row->since > NEWEST || row->until > NEWEST || (row->until && row->since > row->until))
        FAULT(place, rows, row, "no version from %u to %u", row->since, row->until);
    const char *bar = row->label ? strchr(row->label, '|') : NULL;
    if (bar && strchr(bar + 1, '|'))
        FAULT(place, rows, row, "label \"%s\" has two values", row->label);
    if (row->when >= IGGY_REG_LIMIT || row->put >= IGGY_REG_LIMIT || row->count >= IGGY_REG_LIMIT ||
        row->fact >= IGGY_FACT_LIMIT)
        FAULT(place, rows, row, "a register or fact that does not exist");
    if (row->kind != IGGY_ROW_ITEM && row->sentinels)
        FAULT(place, rows, row, "special values belong to items");
}

/* ---- registers ---- */

#define BIT(reg) (UINT64_C(1) << (reg))

static void uses(const place_t *place, const iggy_row_t *rows, const iggy_row_t *row, unsigned reg)
{
    if (!reg)
        return;
    if (!(place->filled & BIT(reg)))
        FAULT(place, rows, row, "register %u is used before it is filled", reg);
    else if (place->clobbered & BIT(reg))
        FAULT(place, rows, row, "register %u was overwritten by the elements of a list", reg);
}

static void fills(place_t *place, unsigned reg)
{
    if (!reg)
        return;
    place->filled |= BIT(reg);
    place->clobbered &= ~BIT(reg);
}

/* ---- the walk ---- */

static int check_rows(place_t *place, const iggy_row_t *rows);

static bool active(const iggy_row_t *row, int version)
{
    return version >= row->since && (!row->until || version <= row->until);
}

/* Rows within a row. Registers that an inline part or a block fills stay filled. Least bytes of the rows once. */
static int check_nested(place_t *place, const iggy_row_t *rows, const iggy_row_t *row, bool loop)
{
    if (!row->rows) {
        FAULT(place, rows, row, "no rows");
        return UNKNOWN_LEAST;
    }
    place_t inner = *place;
    inner.depth++;
    int least = check_rows(&inner, row->rows);
    if (!loop) {
        place->filled = inner.filled;
        place->clobbered = inner.clobbered;
    }
    return least;
}

/* Registers that these rows write, at any depth. */
static uint64_t writes(const iggy_row_t *rows, int version, int depth)
{
    uint64_t mask = 0;
    for (const iggy_row_t *row = rows; depth < 16 && row && row->kind != IGGY_ROW_END; row++) {
        if (!active(row, version))
            continue;
        if (row->put)
            mask |= BIT(row->put);
        if (row->rows)
            mask |= writes(row->rows, version, depth + 1);
    }
    return mask;
}

static void check_list(const place_t *place, const iggy_row_t *rows, const iggy_row_t *row, int least)
{
    if (row->kind != IGGY_ROW_LIST)
        return;
    if (row->min < 1)
        FAULT(place, rows, row, "an element needs at least one byte");
    else if (least != UNKNOWN_LEAST && row->min > least)
        FAULT(place, rows, row, "an element may have %d bytes, the list asks for %u", least, row->min);
}

static int check_container(place_t *place, const iggy_row_t *rows, const iggy_row_t *row)
{
    check_subtree(place, rows, row);
    check_block_length(place, rows, row);
    bool loop = row->kind == IGGY_ROW_LIST || row->kind == IGGY_ROW_REPEAT || row->kind == IGGY_ROW_WHILE;
    if (row->kind == IGGY_ROW_LIST || row->kind == IGGY_ROW_EXTENT)
        uses(place, rows, row, row->count);
    if ((row->kind == IGGY_ROW_LIST || row->kind == IGGY_ROW_EXTENT) && !row->count)
        FAULT(place, rows, row, "no register with the count");
    if (row->kind == IGGY_ROW_WHILE && row->rows && !(writes(row->rows, place->version, 0) & BIT(row->when)))
        FAULT(place, rows, row, "the elements never set register %u: no end", row->when);
    fills(place, row->put);
    int least = check_nested(place, rows, row, loop);
    check_list(place, rows, row, least);
    if (row->kind == IGGY_ROW_REPEAT && least == 0)
        FAULT(place, rows, row, "an element may have no bytes");
    if (loop && row->rows) {
        uint64_t lost = writes(row->rows, place->version, 0);
        if (row->kind == IGGY_ROW_WHILE)
            lost &= ~BIT(row->when);
        place->clobbered |= lost & place->filled;
    }
    if (row->kind == IGGY_ROW_LIST && row->count == IGGY_REG_GROUP_SIZE)
        return row->min; /* a group has at least one member (encodings.md 12.5) */
    return row->kind == IGGY_ROW_ROWS ? least : row->kind == IGGY_ROW_BLOCK ? row->size : 0;
}

/* Checks a row that is not a container. Its least bytes. */
static int check_leaf(place_t *place, const iggy_row_t *rows, const iggy_row_t *row)
{
    switch (row->kind) {
    case IGGY_ROW_ITEM:
        check_item(place, rows, row);
        fills(place, row->put);
        return row->size;
    case IGGY_ROW_RESERVED:
        if (row->hf && !is_bytes(row->hf))
            FAULT(place, rows, row, "reserved bytes want a field of bytes");
        return row->size;
    case IGGY_ROW_TEXT:
    case IGGY_ROW_BYTES:
        check_string(place, rows, row);
        fills(place, row->put);
        return row->size + ((row->flags & IGGY_NOT_EMPTY) ? 1 : 0);
    case IGGY_ROW_SPAN:
        uses(place, rows, row, row->count);
        if (!row->count)
            FAULT(place, rows, row, "no register with the length");
        /* fall through */
    case IGGY_ROW_REST:
        if (!is_text(row->hf) && !is_bytes(row->hf))
            FAULT(place, rows, row, "no field of text or bytes");
        return 0;
    case IGGY_ROW_IDENT:
        check_identifier(place, rows, row);
        return 3;
    case IGGY_ROW_CALL:
        if (!row->call)
            FAULT(place, rows, row, "no call");
        fills(place, row->put);
        /* a call says by `size` what it takes at least; one that only fills a register takes nothing */
        return row->size || (row->put && !row->hf) ? row->size : UNKNOWN_LEAST;
    default:
        FAULT(place, rows, row, "no such kind: %u", row->kind);
        return UNKNOWN_LEAST;
    }
}

/* Least bytes of the rows in this version, UNKNOWN_LEAST if a call hides them. */
static int check_rows(place_t *place, const iggy_row_t *rows)
{
    int total = 0;
    if (place->depth > 16) {
        FAULT(place, rows, rows, "rows within rows without an end");
        return UNKNOWN_LEAST;
    }
    for (const iggy_row_t *row = rows; row->kind != IGGY_ROW_END; row++) {
        rows_seen++;
        check_versions_and_label(place, rows, row);
        if (!active(row, place->version))
            continue;
        uses(place, rows, row, row->when);
        bool container = row->kind >= IGGY_ROW_ROWS && row->kind <= IGGY_ROW_EXTENT;
        int least = container ? check_container(place, rows, row) : check_leaf(place, rows, row);
        if ((row->when && row->kind != IGGY_ROW_WHILE) || (row->flags & IGGY_IF_LEFT))
            least = 0;
        total = total == UNKNOWN_LEAST || least == UNKNOWN_LEAST ? UNKNOWN_LEAST : total + least;
    }
    return total;
}

static int check_table(const char *name, const iggy_row_t *rows, int version)
{
    place_t place = { .table = name, .version = version, .filled = BIT(IGGY_REG_OPERATION) };
    return check_rows(&place, rows);
}

static int last_version(unsigned until) { return until ? (int)until : NEWEST; }
static int first_version(unsigned since) { return since ? (int)since : 1; }

static void check_side(const char *name, const char *side, const iggy_row_t *rows, unsigned since, unsigned until)
{
    if (!rows)
        return;
    char *table = g_strconcat(name, " ", side, NULL);
    for (int version = first_version(since); version <= last_version(until); version++)
        check_table(table, rows, version);
    g_free(table);
}

static void assert_no_faults(unsigned least_rows)
{
    g_assert_cmpuint(faults, ==, 0);
    g_assert_cmpuint(rows_seen, >=, least_rows);
}

/* ---- the tests ---- */

static void test_commands(void)
{
    faults = rows_seen = 0;
    const iggy_command_t *command;
    uint32_t last = 0;
    for (unsigned i = 0; (command = iggy_command_at(i)); i++) {
        g_assert_cmpuint(command->code, >, last); /* sorted, each code once */
        last = command->code;
        g_assert_true(iggy_command(command->code) == command);
        g_assert_true(!command->until || command->since <= command->until);
        g_assert_nonnull(iggy_operation(command->operation));
        check_side(command->name, "request", command->request, command->since, command->until);
        check_side(command->name, "reply", command->reply, command->since, command->until);
    }
    g_assert_cmpuint(last, >=, 606); /* none of the tables is missing */
    assert_no_faults(500);
}

static void test_operations(void)
{
    faults = rows_seen = 0;
    const iggy_operation_t *operation;
    int last = -1;
    for (unsigned i = 0; (operation = iggy_operation_at(i)); i++) {
        g_assert_cmpint(operation->value, >, last);
        last = operation->value;
        g_assert_true(iggy_operation(operation->value) == operation);
        g_assert_nonnull(iggy_operation(operation->request));
        check_side(operation->name, "prepare", operation->prepare, operation->since, operation->until);
    }
    g_assert_cmpint(last, ==, 169);
    assert_no_faults(50);
}

/* Bytes of rows of fixed length when the registers have these values. */
static unsigned fixed_length(const iggy_row_t *rows, int version, const uint64_t *reg)
{
    unsigned total = 0;
    for (const iggy_row_t *row = rows; row->kind != IGGY_ROW_END; row++) {
        bool holds = !row->when || (reg[row->when] == row->is) != ((row->flags & IGGY_NOT) != 0);
        if (!active(row, version) || !holds)
            continue;
        g_assert_true(row->kind == IGGY_ROW_ROWS || row->kind <= IGGY_ROW_RESERVED || row->kind == IGGY_ROW_CALL);
        total += row->kind == IGGY_ROW_ROWS ? fixed_length(row->rows, version, reg) : row->size;
    }
    return total;
}

/* A header has 256 bytes in every version, whatever the command, the operation and the plane (framing.md 1). */
static void test_headers(void)
{
    faults = rows_seen = 0;
    for (unsigned command = 0; command <= 255; command++) {
        char *name = g_strdup_printf("header %u", command);
        for (int version = 1; version <= NEWEST; version++) {
            const iggy_row_t *rows = iggy_header_rows((uint8_t)command);
            check_table(name, rows, version);
            for (unsigned choice = 0; choice < 4; choice++) {
                uint64_t reg[IGGY_REG_LIMIT] = { 0 };
                reg[IGGY_REG_OPERATION] = choice & 1 ? IGGY_OP_NON_REPLICATED : IGGY_OP_REGISTER;
                reg[IGGY_REG_HAS] = choice >> 1; /* the replica plane */
                g_assert_cmpuint(fixed_length(rows, version, reg), ==, IGGY_HEADER_SIZE);
            }
        }
        g_free(name);
    }
    assert_no_faults(500);
}

static int walk_header(const uint8_t *bytes, bool replica, bool by_steps, iggy_facts_t *facts)
{
    packet_info pinfo = { 0 };
    iggy_place_t place = { .replica = replica };
    tvbuff_t *tvb = tvb_new_real_data(bytes, IGGY_HEADER_SIZE, (int)IGGY_HEADER_SIZE);
    iggy_pdu_t pdu = { .pinfo = &pinfo, .tvb = tvb, .place = &place, .facts = facts };
    iggy_walk_t walk;
    memset(facts, 0, sizeof *facts);
    iggy_walk_init(&walk, &pdu, IGGY_WALK_FACTS, NEWEST, (int)IGGY_HEADER_SIZE);
    uint8_t command = bytes[IGGY_COMMAND_OFFSET];
    int end = by_steps ? iggy_walk_steps(&walk, iggy_header_steps(command), 0)
                       : iggy_walk_rows(&walk, iggy_header_rows(command), NULL, 0);
    g_assert_false(walk.failed);
    tvb_free(tvb);
    return end;
}

/* Steps say the same of every header as its rows: the same facts, from the same bytes. */
static void test_header_steps(void)
{
    static const uint8_t operations[] = { IGGY_OP_REGISTER, IGGY_OP_NON_REPLICATED, IGGY_OP_SEND_MESSAGES };
    GRand *random = g_rand_new_with_seed(8);
    for (unsigned turn = 0; turn < 256 * 16; turn++) {
        uint8_t bytes[IGGY_HEADER_SIZE];
        iggy_facts_t of_rows, of_steps;
        bool replica = turn / 256 % 2 != 0;
        for (unsigned i = 0; i < IGGY_HEADER_SIZE; i++)
            bytes[i] = (uint8_t)g_rand_int(random);
        bytes[176] = bytes[208] = operations[turn / 256 % G_N_ELEMENTS(operations)];
        bytes[IGGY_COMMAND_OFFSET] = (uint8_t)turn;
        g_assert_cmpint(walk_header(bytes, replica, false, &of_rows), ==, (int)IGGY_HEADER_SIZE);
        g_assert_cmpint(walk_header(bytes, replica, true, &of_steps), ==, (int)IGGY_HEADER_SIZE);
        g_assert_true(of_rows.has[IGGY_FACT_COMMAND]);
        g_assert_cmpmem(&of_rows, sizeof of_rows, &of_steps, sizeof of_steps);
    }
    g_rand_free(random);
}

static void test_shared(void)
{
    static const struct { const char *name; const iggy_row_t *rows; } tables[] = {
        { "none", iggy_rows_none },
        { "consumer", iggy_rows_consumer },
        { "stream, topic", iggy_rows_stream_topic },
        { "stream, topic, group", iggy_rows_stream_topic_group },
        { "optional partition", iggy_rows_opt_partition },
        { "partitioning", iggy_rows_partitioning },
        { "partition id", iggy_rows_partition_id },
        { "strategy", iggy_rows_strategy },
        { "acknowledgement", iggy_rows_ack },
        { "options", iggy_rows_options },
        { "explicit options", iggy_rows_explicit_options },
        { "derived options", iggy_rows_derived_options },
        { "permissions", iggy_rows_permissions },
        { "permissions block", iggy_rows_permissions_block },
        { "user headers", iggy_rows_user_headers },
        { "version info", iggy_rows_version_info },
        { "context", iggy_rows_context },
        { "session identity", iggy_rows_session_identity },
        { "owner", iggy_rows_owner },
        { "result section", iggy_rows_result_section },
        { "batch", iggy_rows_batch },
    };
    faults = rows_seen = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(tables); i++)
        for (int version = 1; version <= NEWEST; version++)
            check_table(tables[i].name, tables[i].rows, version);
    assert_no_faults(50);
}

static bool proper_name(const char *abbrev)
{
    if (strcmp(abbrev, "iggy") != 0 && strncmp(abbrev, "iggy.", 5) != 0)
        return false;
    for (const char *c = abbrev; *c; c++)
        if (!g_ascii_islower(*c) && !g_ascii_isdigit(*c) && *c != '_' && *c != '.')
            return false;
    return !strstr(abbrev, "..") && abbrev[strlen(abbrev) - 1] != '.';
}

/* One registration a name; two of one name with other types crash tshark on an ordinary filter. */
static void test_names(void)
{
    GHashTable *seen = g_hash_table_new(g_str_hash, g_str_equal);
    void *cookie = NULL;
    unsigned count = 0;
    for (header_field_info *info = proto_get_first_protocol_field(proto_iggy, &cookie); info;
         info = proto_get_next_protocol_field(proto_iggy, &cookie), count++) {
        if (!proper_name(info->abbrev) || !g_hash_table_add(seen, (void *)info->abbrev) ||
            (info->blurb && g_strcmp0(info->blurb, info->name) == 0)) {
            g_test_message("%s: registered twice, an improper name, or a help text that is its name", info->abbrev);
            g_test_fail();
        }
    }
    g_assert_cmpuint(count, >, 300);
    g_hash_table_destroy(seen);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    epan_start(argv[0]);
    g_test_add_func("/layouts/commands", test_commands);
    g_test_add_func("/layouts/operations", test_operations);
    g_test_add_func("/layouts/headers", test_headers);
    g_test_add_func("/layouts/header_steps", test_header_steps);
    g_test_add_func("/layouts/shared", test_shared);
    g_test_add_func("/layouts/names", test_names);
    return g_test_run();
}
