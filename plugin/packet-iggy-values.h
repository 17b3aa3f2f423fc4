/* packet-iggy-values.h
 * Value strings: what the numbers of the protocol are called, in the words of the reference.
 * Codes and operations have theirs made from the tables of commands (packet-iggy-commands.h).
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_VALUES_H
#define PACKET_IGGY_VALUES_H

#include "packet-iggy-compat.h"

#include <epan/packet.h>

extern value_string_ext   iggy_command_vals_ext;
extern const value_string iggy_reason_vals[];
extern value_string_ext   iggy_error_vals_ext; /* BASE_EXT_STRING; 0 is "ok" */
extern const value_string iggy_version_vals[]; /* packed versions */
/** Append x.y.z to the item of a packed version that has no name. */
void iggy_version_spell(proto_item *item, uint32_t packed);
extern const value_string iggy_handshake_status_vals[];
extern const value_string iggy_forward_register_outcome_vals[];
extern const value_string iggy_forward_logout_outcome_vals[];
extern const value_string iggy_rebalance_kind_vals[];
extern const value_string iggy_segment_delete_kind_vals[];
extern const value_string iggy_progress_kind_vals[];
extern const value_string iggy_artifact_kind_vals[];
extern const value_string iggy_available_vals[];
extern const value_string iggy_poll_strategy_vals[];
extern const value_string iggy_option_scope_vals[];

#endif
