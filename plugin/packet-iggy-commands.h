/* packet-iggy-commands.h
 * One row a client command and one row an operation: names, versions and layouts of bodies.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_COMMANDS_H
#define PACKET_IGGY_COMMANDS_H

#include "packet-iggy-layout.h"

#define IGGY_NO_REPLY   0x01u /* never answered (108) */
#define IGGY_LEARN      0x02u /* replies are walked in the first pass always: names are learnt */
#define IGGY_TELLS      0x04u /* the reply's layout tells 0.11.0 from 0.12 (commands.md 10.3) */
#define IGGY_LATE_REPLY 0x08u /* answered when there is something (106, 107, 109) */
#define IGGY_TELLS_0_12_2 0x10u /* the reply's layout tells 0.12.2 from the versions before it */
#define IGGY_ENTERS     0x20u /* login or bind: an eviction answers it (framing.md 6) */
#define IGGY_REPEATS    0x40u /* sent over and over: bodies are compared with the one before (packet-iggy-repeats.h) */

typedef struct {
    uint32_t code;
    uint8_t  operation;    /* of the request */
    uint8_t  since, until; /* iggy_version_t */
    uint8_t  flags;
    const char *name;      /* snake case, codes.tsv */
    const iggy_row_t *request; /* NULL: opaque */
    const iggy_row_t *reply;   /* after the result section; NULL: opaque */
    const char *empty;         /* what an empty reply without an error means; NULL: nothing special */
} iggy_command_t;

#define IGGY_RESULT_FRAMED 0x01u /* replies begin with a result section (commands.md 1.4) */

typedef struct {
    uint8_t  value;
    uint8_t  since, until;
    uint8_t  flags;
    uint8_t  request;      /* operation of the request that a reply with this one answers; itself where not renamed */
    const char *name;
    const iggy_row_t *prepare; /* body of prepare and repair_prepare; NULL: opaque */
} iggy_operation_t;

/** The row of a command code, NULL if there is none. */
const iggy_command_t *iggy_command(uint32_t code);
/** The command of an operation that has exactly one (3, 128..150, 160..162), else NULL. */
const iggy_command_t *iggy_command_of_operation(uint8_t operation);
/** The row of an operation, NULL if there is none. */
const iggy_operation_t *iggy_operation(uint8_t operation);
/** Walk all commands and operations, for tests: index 0.., NULL at the end. */
const iggy_command_t *iggy_command_at(unsigned number);
const iggy_operation_t *iggy_operation_at(unsigned number);
/**
 * 40 or 45 for a request with operation 1: the code is not on the wire, the exact fit of the shapes decides (commands.md 4,
 * login_register_with_pat). Reads the version that the body itself carries, so the connection's need not be known yet.
 */
uint32_t iggy_login_code(iggy_pdu_t *pdu);
/** Name of a code, "code N" in packet scope if unknown. */
const char *iggy_code_name(packet_info *pinfo, uint32_t code);
const char *iggy_operation_name(packet_info *pinfo, uint8_t operation);

/** Name the values of a field that is not registered yet, from the tables: codes of client commands; operations. */
void iggy_name_codes(hf_register_info *field);
void iggy_name_operations(hf_register_info *field);

extern const iggy_operation_t iggy_operations[]; /* operations.tsv in order; ends with name NULL */

/* Tables of the groups; each ends with name NULL. */
extern const iggy_command_t iggy_commands_system[];   /* 1..22, 38..40, 44, 45 (commands.md 4) */
extern const iggy_command_t iggy_commands_changes[];  /* 17 get_metadata_changes */
extern const iggy_command_t iggy_commands_users[];    /* 31..37, 41..43 (commands.md 5) */
extern const iggy_command_t iggy_commands_messages[]; /* 100..123 (messages.md, commands.md 6) */
extern const iggy_command_t iggy_commands_streams[];  /* 200..503 (commands.md 7) */
extern const iggy_command_t iggy_commands_groups[];   /* 600..606 (commands.md 8) */

/** Makes one table of those of the groups: before all else that is here. */
void iggy_commands_init(void);
void iggy_register_commands_system(int proto);
void iggy_register_commands_changes(int proto);
void iggy_register_commands_users(int proto);
void iggy_register_commands_messages(int proto);
void iggy_register_commands_streams(int proto);
void iggy_register_commands_groups(int proto);

#endif
