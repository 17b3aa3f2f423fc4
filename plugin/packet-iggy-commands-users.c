/* packet-iggy-commands-users.c
 * Commands of users and access tokens (commands.md 5).
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "packet-iggy-bodies.h"
#include "packet-iggy-commands.h"
#include "packet-iggy-fields.h"
#include "packet-iggy-names.h"

static int hf_iggy_user = IGGY_UNREGISTERED;
static int hf_iggy_token_entry = IGGY_UNREGISTERED;
int hf_iggy_token_expiry = IGGY_UNREGISTERED;
int hf_iggy_token_expiry_at = IGGY_UNREGISTERED;

static int ett_iggy_user = IGGY_UNREGISTERED;
static int ett_iggy_token_entry = IGGY_UNREGISTERED;

/* What a create asks for; 0 is the server's default, which is "never" too (encodings.md 1.3). */
static const iggy_sentinel_t token_expiry_sentinels[] = {
    { 0, "server default: never" },
    { UINT64_MAX, "never" },
    { 0, NULL }
};

/* ---- shared by replies ---- */

/* commands.md 3.5 */
static const iggy_row_t rows_user_header[] = {
    IGGY_U32(hf_iggy_user_id, .fact = IGGY_FACT_USER_ID, .label = " |"),
    IGGY_TIME(hf_iggy_created_at, .sentinels = iggy_not_set_0),
    IGGY_U8(hf_iggy_user_status, .flags = IGGY_KNOWN),
    IGGY_NAME(hf_iggy_user_name, hf_iggy_user_name_length, .fact = IGGY_FACT_USER_NAME, .label = ": |",
              .flags = IGGY_NOT_EMPTY),
    IGGY_ROWS(iggy_rows_explicit_options),
    IGGY_ROWS(iggy_rows_derived_options, .since = IGGY_0_12_0),
    IGGY_ROWS_END
};

/* commands.md 3.6: a first byte 0 is a u32 0, any other stands before a block. */
static const iggy_row_t rows_user_permissions[] = {
    IGGY_U8(hf_iggy_has_permissions, .put = IGGY_REG_HAS),
    IGGY_FIXED(hf_iggy_unused, 3, .when = IGGY_REG_HAS, .is = 0),
    IGGY_ROWS(iggy_rows_permissions_block, .when = IGGY_REG_HAS, .is = 0, .flags = IGGY_NOT),
    IGGY_ROWS_END
};

static const iggy_row_t rows_user_details[] = {
    { .kind = IGGY_ROW_ROWS, .rows = rows_user_header, .hf = &hf_iggy_user, .ett = &ett_iggy_user,
      .done = iggy_learn_user },
    IGGY_ROWS(rows_user_permissions),
    IGGY_ROWS_END
};

/* ---- 31 get_user ---- */

static const iggy_row_t rows_user_ident[] = {
    IGGY_IDENT(hf_iggy_user_id, hf_iggy_user_name, IGGY_FACT_USER_ID),
    IGGY_ROWS_END
};

/* Empty: not found. */
static const iggy_row_t rows_get_user_reply[] = {
    IGGY_ROWS(rows_user_details, .flags = IGGY_IF_LEFT),
    IGGY_ROWS_END
};

/* ---- 32 get_users ---- */

static const iggy_row_t rows_get_users_reply[] = {
    IGGY_REPEAT(rows_user_header, hf_iggy_user, ett_iggy_user, .fact = IGGY_FACT_COUNT, .flags = IGGY_SCOPED,
                .done = iggy_learn_user),
    IGGY_ROWS_END
};

/* ---- 33 create_user ---- */

const iggy_row_t iggy_rows_create_user[] = {
    IGGY_NAME(hf_iggy_user_name, hf_iggy_user_name_length, .fact = IGGY_FACT_USER_NAME, .flags = IGGY_NOT_EMPTY),
    IGGY_NAME(hf_iggy_password, hf_iggy_password_length, .flags = IGGY_SECRET),
    IGGY_U8(hf_iggy_user_status, .flags = IGGY_KNOWN),
    IGGY_U8(hf_iggy_has_permissions, .put = IGGY_REG_HAS),
    IGGY_ROWS(iggy_rows_permissions_block, .when = IGGY_REG_HAS, .is = 1),
    IGGY_ROWS(iggy_rows_options),
    IGGY_ROWS_END
};

/* ---- 34 delete_user ---- */

const iggy_row_t iggy_rows_delete_user[] = {
    IGGY_ROWS(rows_user_ident),
    IGGY_ROWS_END
};

/* ---- 35 update_user (0.11.0) ---- */

const iggy_row_t iggy_rows_update_user[] = {
    IGGY_ROWS(rows_user_ident),
    IGGY_U8(hf_iggy_has_new_name, .put = IGGY_REG_HAS),
    IGGY_NAME(hf_iggy_user_new_name, hf_iggy_user_new_name_length, .fact = IGGY_FACT_NEW_NAME, .flags = IGGY_NOT_EMPTY,
              .when = IGGY_REG_HAS, .is = 1),
    IGGY_U8(hf_iggy_has_user_status, .put = IGGY_REG_HAS),
    IGGY_U8(hf_iggy_user_status, .flags = IGGY_KNOWN, .when = IGGY_REG_HAS, .is = 1),
    IGGY_ROWS(iggy_rows_options),
    IGGY_ROWS_END
};

/* ---- 36 update_permissions ---- */

const iggy_row_t iggy_rows_update_permissions[] = {
    IGGY_ROWS(rows_user_ident),
    IGGY_U8(hf_iggy_has_permissions, .put = IGGY_REG_HAS),
    IGGY_ROWS(iggy_rows_permissions_block, .when = IGGY_REG_HAS, .is = 1),
    IGGY_ROWS_END
};

/* ---- 37 change_password ---- */

const iggy_row_t iggy_rows_change_password[] = {
    IGGY_ROWS(rows_user_ident),
    IGGY_NAME(hf_iggy_password, hf_iggy_password_length, .flags = IGGY_SECRET),
    IGGY_NAME(hf_iggy_new_password, hf_iggy_new_password_length, .flags = IGGY_SECRET),
    IGGY_ROWS_END
};

/* ---- 41 get_personal_access_tokens ---- */

static const iggy_row_t rows_token[] = {
    IGGY_NAME(hf_iggy_token_name, hf_iggy_token_name_length, .label = ": |", .flags = IGGY_NOT_EMPTY),
    IGGY_TIME(hf_iggy_token_expiry_at, .sentinels = iggy_never_0),
    IGGY_ROWS_END
};

static const iggy_row_t rows_get_tokens_reply[] = {
    IGGY_REPEAT(rows_token, hf_iggy_token_entry, ett_iggy_token_entry, .fact = IGGY_FACT_COUNT),
    IGGY_ROWS_END
};

/* ---- 42 create_personal_access_token ---- */

static const iggy_row_t rows_create_token[] = {
    IGGY_NAME(hf_iggy_token_name, hf_iggy_token_name_length, .fact = IGGY_FACT_TOKEN_NAME, .flags = IGGY_NOT_EMPTY),
    IGGY_U64(hf_iggy_token_expiry, .sentinels = token_expiry_sentinels),
    IGGY_ROWS_END
};

static const iggy_row_t rows_create_token_reply[] = {
    IGGY_NAME(hf_iggy_token, hf_iggy_token_length, .flags = IGGY_SECRET | IGGY_NOT_EMPTY),
    IGGY_ROWS_END
};

/* ---- 43 delete_personal_access_token ---- */

static const iggy_row_t rows_delete_token[] = {
    IGGY_NAME(hf_iggy_token_name, hf_iggy_token_name_length, .fact = IGGY_FACT_TOKEN_NAME, .flags = IGGY_NOT_EMPTY),
    IGGY_ROWS_END
};

const iggy_command_t iggy_commands_users[] = {
    { .code = 31, .operation = IGGY_OP_NON_REPLICATED, .name = "get_user", .flags = IGGY_LEARN | IGGY_TELLS,
      .request = rows_user_ident, .reply = rows_get_user_reply, .empty = "not found" },
    { .code = 32, .operation = IGGY_OP_NON_REPLICATED, .name = "get_users", .flags = IGGY_LEARN | IGGY_TELLS,
      .request = iggy_rows_none, .reply = rows_get_users_reply, .empty = "none" },
    { .code = 33, .operation = 141, .name = "create_user", .flags = IGGY_LEARN | IGGY_TELLS,
      .request = iggy_rows_create_user, .reply = rows_user_details },
    { .code = 34, .operation = 143, .name = "delete_user",
      .request = iggy_rows_delete_user, .reply = iggy_rows_none },
    { .code = 35, .operation = 142, .until = IGGY_0_11_0, .name = "update_user",
      .request = iggy_rows_update_user, .reply = iggy_rows_none },
    { .code = 36, .operation = 145, .name = "update_permissions",
      .request = iggy_rows_update_permissions, .reply = iggy_rows_none },
    { .code = 37, .operation = 144, .name = "change_password",
      .request = iggy_rows_change_password, .reply = iggy_rows_none },
    { .code = 41, .operation = IGGY_OP_NON_REPLICATED, .name = "get_personal_access_tokens",
      .request = iggy_rows_none, .reply = rows_get_tokens_reply, .empty = "none" },
    { .code = 42, .operation = 146, .name = "create_personal_access_token",
      .request = rows_create_token, .reply = rows_create_token_reply },
    { .code = 43, .operation = 147, .name = "delete_personal_access_token",
      .request = rows_delete_token, .reply = iggy_rows_none },
    { .name = NULL }
};

void iggy_register_commands_users(int proto)
{
    static hf_register_info hf[] = {
        { &hf_iggy_user,
          { "User", "iggy.user", FT_NONE, BASE_NONE, NULL, 0x0, NULL, HFILL } },
        { &hf_iggy_token_entry,
          { "Access token", "iggy.token.entry", FT_NONE, BASE_NONE, NULL, 0x0,
            "A token of the list: its name and how long it holds", HFILL } },
        { &hf_iggy_token_expiry,
          { "Access token expires after", "iggy.token.expiry", FT_UINT64, BASE_DEC | BASE_UNIT_STRING,
            &units_microseconds, 0x0, "Microseconds from now", HFILL } },
        { &hf_iggy_token_expiry_at,
          { "Access token expires at", "iggy.token.expiry_at", FT_ABSOLUTE_TIME, ABSOLUTE_TIME_UTC, NULL, 0x0,
            NULL, HFILL } },
    };
    static int *ett[] = {
        &ett_iggy_user,
        &ett_iggy_token_entry,
    };
    proto_register_field_array(proto, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
}
