/* packet-iggy-shown.c
 * Which fields rows may show, gathered once for each array of rows.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-shown.h"

#include "packet-iggy-fields.h"
#include "packet-iggy-wanted.h"

typedef struct {
    GArray    *numbers; /* of fields; while they are gathered */
    GPtrArray *fields;  /* the same as const header_field_info *, each once */
    GPtrArray *calls;   /* iggy_shown_t that have to be asked */
    bool       unknown; /* a call among the rows is in no table */
} shown_list_t;

static GPtrArray  *known_calls; /* const iggy_shown_t * */
static GHashTable *lists;       /* rows to shown_list_t; for as long as the program runs */

void iggy_register_shown(const iggy_shown_t *calls, size_t count)
{
    if (!known_calls)
        known_calls = g_ptr_array_new();
    for (size_t i = 0; i < count; i++)
        g_ptr_array_add(known_calls, (void *)&calls[i]);
}

static const iggy_shown_t *shown_by(iggy_call_t call)
{
    for (unsigned i = 0; known_calls && i < known_calls->len; i++) {
        const iggy_shown_t *shown = (const iggy_shown_t *)g_ptr_array_index(known_calls, i);
        if (shown->call == call)
            return shown;
    }
    return NULL;
}

bool iggy_shows_nothing(iggy_call_t call)
{
    const iggy_shown_t *shown = shown_by(call);
    return shown && !shown->count && !shown->rows && !shown->wanted;
}

static void add_fields(shown_list_t *list, const int *const *fields, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fields[i])
            g_array_append_val(list->numbers, *fields[i]);
}

static void add_rows(shown_list_t *list, const iggy_row_t *rows);

static void add_call(shown_list_t *list, iggy_call_t call)
{
    const iggy_shown_t *shown = shown_by(call);
    if (!shown) {
        list->unknown = true;
        return;
    }
    add_fields(list, shown->fields, shown->count);
    if (shown->rows)
        add_rows(list, shown->rows);
    if (shown->wanted)
        g_ptr_array_add(list->calls, (void *)shown);
}

/* What the interpreter shows of a row of itself. */
static void add_rows(shown_list_t *list, const iggy_row_t *rows)
{
    static const int *const identifier[] = { &hf_iggy_identifier_kind, &hf_iggy_identifier_length };
    static const int *const names[] = {
        &hf_iggy_stream_name, &hf_iggy_topic_name, &hf_iggy_consumer_group_name, &hf_iggy_user_name,
    };
    for (const iggy_row_t *row = rows; row->kind != IGGY_ROW_END; row++) {
        const int *const own[] = { row->hf, row->hf_2 };
        add_fields(list, own, array_length(own));
        if (row->kind == IGGY_ROW_IDENT)
            add_fields(list, identifier, array_length(identifier));
        if (row->flags & IGGY_NAMED)
            add_fields(list, names, array_length(names));
        if (row->rows)
            add_rows(list, row->rows);
        if (row->kind == IGGY_ROW_CALL)
            add_call(list, row->call);
    }
}

static int by_number(const void *a, const void *b)
{
    int first = *(const int *)a, second = *(const int *)b;
    return first < second ? -1 : first > second;
}

/* Each once: rows name some fields many times. */
static void sort_out(shown_list_t *list)
{
    GArray *numbers = list->numbers;
    g_array_sort(numbers, by_number);
    list->fields = g_ptr_array_new();
    for (unsigned i = 0; i < numbers->len; i++)
        if (i == 0 || g_array_index(numbers, int, i) != g_array_index(numbers, int, i - 1))
            g_ptr_array_add(list->fields, (void *)iggy_field_info(g_array_index(numbers, int, i)));
    g_array_free(numbers, TRUE);
    list->numbers = NULL;
}

static shown_list_t *new_list(const iggy_row_t *rows)
{
    shown_list_t *list = g_new0(shown_list_t, 1);
    list->numbers = g_array_new(FALSE, FALSE, sizeof(int));
    list->calls = g_ptr_array_new();
    add_rows(list, rows);
    sort_out(list);
    return list;
}

/* Frames in a row mostly have the same few arrays of rows: those asked for last need no search. */
static const shown_list_t *list_of(const iggy_row_t *rows)
{
    static struct {
        const iggy_row_t *rows;
        shown_list_t     *list;
    } recent[16];
    unsigned at = (unsigned)((uintptr_t)rows / sizeof *rows % array_length(recent));
    if (recent[at].rows == rows)
        return recent[at].list;
    if (!lists)
        lists = g_hash_table_new(g_direct_hash, g_direct_equal);
    shown_list_t *list = (shown_list_t *)g_hash_table_lookup(lists, rows);
    if (!list) {
        list = new_list(rows);
        g_hash_table_insert(lists, (void *)rows, list);
    }
    recent[at].rows = rows;
    recent[at].list = list;
    return list;
}

bool iggy_rows_wanted(proto_tree *tree, const iggy_row_t *rows, bool (*unknown)(proto_tree *tree))
{
    const shown_list_t *list = list_of(rows);
    if (list->unknown)
        return unknown(tree);
    if (iggy_fields_wanted(tree, (const header_field_info *const *)(const void *)list->fields->pdata, list->fields->len))
        return true;
    for (unsigned i = 0; i < list->calls->len; i++)
        if (((const iggy_shown_t *)g_ptr_array_index(list->calls, i))->wanted(tree))
            return true;
    return false;
}
