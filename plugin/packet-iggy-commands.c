/* packet-iggy-commands.c
 * The tables of all client commands and operations as one: lookup by code and operation, names for filters.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-commands.h"

#include <stdlib.h>

static const iggy_command_t *const groups[] = {
    iggy_commands_system,   iggy_commands_changes, iggy_commands_users,
    iggy_commands_messages, iggy_commands_streams, iggy_commands_groups,
};

#define CODES 1024u

static const iggy_command_t **commands;         /* in the order of their codes */
static unsigned               commands_count;
static const iggy_command_t  *of_code[CODES];
static const iggy_command_t  *by_operation[256]; /* NULL where an operation has none or several */
static const iggy_operation_t *operations[256];
static unsigned               operations_count;

static int by_code(const void *a, const void *b)
{
    uint32_t x = (*(const iggy_command_t *const *)a)->code;
    uint32_t y = (*(const iggy_command_t *const *)b)->code;
    return x < y ? -1 : x > y;
}

/* An operation with one command names it: all but register (40, 45) and non_replicated. */
static void index_operation(const iggy_command_t *command)
{
    if (command->operation != IGGY_OP_REGISTER && command->operation != IGGY_OP_NON_REPLICATED)
        by_operation[command->operation] = command;
}

static void gather_commands(void)
{
    for (size_t g = 0; g < G_N_ELEMENTS(groups); g++)
        for (const iggy_command_t *c = groups[g]; c->name; c++)
            commands_count++;
    commands = g_new0(const iggy_command_t *, commands_count + 1);
    unsigned n = 0;
    for (size_t g = 0; g < G_N_ELEMENTS(groups); g++)
        for (const iggy_command_t *c = groups[g]; c->name; c++) {
            commands[n++] = c;
            index_operation(c);
        }
    qsort(commands, commands_count, sizeof *commands, by_code);
    for (n = 0; n < commands_count && commands[n]->code < CODES; n++)
        of_code[commands[n]->code] = commands[n];
}

void iggy_commands_init(void)
{
    if (commands)
        return;
    gather_commands();
    for (const iggy_operation_t *o = iggy_operations; o->name; o++) {
        operations[o->value] = o;
        operations_count++;
    }
}

/* ---- names of values ---- */

static int by_value(const void *a, const void *b)
{
    uint32_t x = ((const value_string *)a)->value, y = ((const value_string *)b)->value;
    return x < y ? -1 : x > y;
}

/* Sorted, so that Wireshark can search them by halves: every frame shows them. */
static void name_values(hf_register_info *field, value_string *names, unsigned count, const char *what)
{
    qsort(names, count, sizeof *names, by_value);
    field->hfinfo.strings = iggy_value_string_ext_new(names, count + 1, what);
    field->hfinfo.display |= BASE_EXT_STRING;
}

void iggy_name_codes(hf_register_info *field)
{
    static value_string *names;
    if (!names) {
        names = g_new0(value_string, commands_count + 1);
        for (unsigned i = 0; i < commands_count; i++) {
            names[i].value = commands[i]->code;
            names[i].strptr = commands[i]->name;
        }
    }
    name_values(field, names, commands_count, "iggy_code");
}

void iggy_name_operations(hf_register_info *field)
{
    static value_string *names;
    if (!names) {
        names = g_new0(value_string, operations_count + 1);
        for (unsigned i = 0; i < operations_count; i++) {
            names[i].value = iggy_operations[i].value;
            names[i].strptr = iggy_operations[i].name;
        }
    }
    name_values(field, names, operations_count, "iggy_operation");
}

const iggy_command_t *iggy_command(uint32_t code) { return code < CODES ? of_code[code] : NULL; }

const iggy_command_t *iggy_command_of_operation(uint8_t operation) { return by_operation[operation]; }

const iggy_operation_t *iggy_operation(uint8_t operation) { return operations[operation]; }

const iggy_command_t *iggy_command_at(unsigned number) { return number < commands_count ? commands[number] : NULL; }

const iggy_operation_t *iggy_operation_at(unsigned number)
{
    return number < operations_count ? &iggy_operations[number] : NULL;
}

const char *iggy_code_name(packet_info *pinfo, uint32_t code)
{
    const iggy_command_t *command = iggy_command(code);
    return command ? command->name : wmem_strdup_printf(pinfo->pool, "code %u", code);
}

const char *iggy_operation_name(packet_info *pinfo, uint8_t operation)
{
    const iggy_operation_t *row = iggy_operation(operation);
    return row ? row->name : wmem_strdup_printf(pinfo->pool, "operation %u", operation);
}
