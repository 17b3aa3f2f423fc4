/* packet-iggy-compat.h
 * The differences between Wireshark 4.0, 4.4 and 4.6 that the Iggy dissector meets; the only place that asks for a version.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PACKET_IGGY_COMPAT_H
#define PACKET_IGGY_COMPAT_H

#include <stdbool.h>
#include <stdint.h>

#include <ws_version.h>
#include <epan/packet.h>
#include <epan/tfs.h>
#include <epan/unit_strings.h>

#define IGGY_WS_AT_LEAST(major, minor) \
    (WIRESHARK_VERSION_MAJOR > (major) || \
     (WIRESHARK_VERSION_MAJOR == (major) && WIRESHARK_VERSION_MINOR >= (minor)))

/* Booleans of callbacks, preferences and heuristics: gboolean (an int) before 4.4, bool since. */
#if IGGY_WS_AT_LEAST(4, 3)
typedef bool iggy_bool;
#else
typedef gboolean iggy_bool;
#endif

/* Initial value of protocol, field and subtree numbers. */
#if IGGY_WS_AT_LEAST(4, 3)
#define IGGY_UNREGISTERED 0
#else
#define IGGY_UNREGISTERED (-1)
#endif

#if !IGGY_WS_AT_LEAST(4, 3)
#define tvb_get_uint8(tvb, offset)  tvb_get_guint8((tvb), (offset))
#endif

/* What plugin_describe answers, for the list of plugins. */
#if IGGY_WS_AT_LEAST(4, 3)
#include <wsutil/plugins.h>
#define IGGY_PLUGIN_DESCRIPTION WS_PLUGIN_DESC_DISSECTOR
#else
#define IGGY_PLUGIN_DESCRIPTION 1u
#endif

/* Between the parts of a statistic's place in the menu. */
#if IGGY_WS_AT_LEAST(4, 3)
#define IGGY_MENU_SEPARATOR "//"
#else
#define IGGY_MENU_SEPARATOR "/"
#endif

/* Of a table of dissectors by text; not in every installed header. */
#ifndef STRING_CASE_SENSITIVE
#define STRING_CASE_SENSITIVE 0
#endif

/* Filters of Wireshark's menu: their callbacks have a second argument since 4.4. */
#if IGGY_WS_AT_LEAST(4, 3)
#define IGGY_FILTER_DATA , void *data _U_
#define iggy_register_conversation_filter(name, valid, build) register_conversation_filter("iggy", (name), (valid), (build), NULL)
#else
#define IGGY_FILTER_DATA
#define iggy_register_conversation_filter(name, valid, build) register_conversation_filter("iggy", (name), (valid), (build))
#endif

/* Ask a table of dissectors by text. */
#if IGGY_WS_AT_LEAST(4, 5)
#define iggy_try_string(table, text, tvb, pinfo, tree) \
    dissector_try_string_with_data((table), (text), (tvb), (pinfo), (tree), true, NULL)
#else
#define iggy_try_string(table, text, tvb, pinfo, tree) dissector_try_string((table), (text), (tvb), (pinfo), (tree), NULL)
#endif

/* Text of a value with a fallback format; 4.6 wants the memory pool, earlier versions take it from the packet. */
#if IGGY_WS_AT_LEAST(4, 5)
#define iggy_val_to_str(pool, value, strings, format) val_to_str((pool), (value), (strings), (format))
#else
#define iggy_val_to_str(pool, value, strings, format) ((void)(pool), val_to_str((value), (strings), (format)))
#endif

/* Names of values that Wireshark searches by halves; the last of `count` is NULL. 4.6 wants the memory pool. */
#if IGGY_WS_AT_LEAST(4, 5)
#define iggy_value_string_ext_new(values, count, name) value_string_ext_new(wmem_epan_scope(), (values), (count), (name))
#else
#define iggy_value_string_ext_new(values, count, name) value_string_ext_new((values), (count), (name))
#endif

/* A text with escapes for what is not printable; it moved, and takes plain characters since. */
#if IGGY_WS_AT_LEAST(4, 3)
#include <wsutil/str_util.h>
#define iggy_format_text(pool, text, length) format_text((pool), (text), (length))
#else
#include <epan/strutil.h>
#define iggy_format_text(pool, text, length) format_text((pool), (const guchar *)(text), (length))
#endif

/* The line of an item as Wireshark makes it, ITEM_LABEL_LENGTH bytes. */
#if IGGY_WS_AT_LEAST(4, 5)
#define iggy_fill_label(field, line) proto_item_fill_label((field), (line), NULL)
#else
#define iggy_fill_label(field, line) proto_item_fill_label((field), (line))
#endif

/* Where a heuristic of TLS leaves the handle that gets the records from now on; needs epan/dissectors/packet-tls.h. */
#if IGGY_WS_AT_LEAST(4, 1)
#define iggy_tls_app_handle(data) (((struct tlsinfo *)(data))->app_handle)
#else
#define iggy_tls_app_handle(data) ((dissector_handle_t *)(data))
#endif

/* The value of a field: a member before 4.2, a pointer since. */
#if IGGY_WS_AT_LEAST(4, 1)
#define iggy_fvalue(field) ((field)->value)
#else
#define iggy_fvalue(field) ((fvalue_t *)&(field)->value)
#endif

#endif
