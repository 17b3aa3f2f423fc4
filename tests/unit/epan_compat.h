/* epan_compat.h
 * What differs between versions of Wireshark for programs that dissect packets of their own making.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef EPAN_COMPAT_H
#define EPAN_COMPAT_H

#include "packet-iggy-compat.h"

#include <epan/dfilter/dfilter.h>
#include <epan/epan_dissect.h>

#if IGGY_WS_AT_LEAST(4, 4)
#define OFFERED(entry, pinfo) ((entry)->is_filter_valid((pinfo), (entry)->user_data))
#define BUILT(entry, pinfo)   ((entry)->build_filter_string((pinfo), (entry)->user_data))
#else
#define OFFERED(entry, pinfo) ((entry)->is_filter_valid(pinfo))
#define BUILT(entry, pinfo)   ((entry)->build_filter_string(pinfo))
#endif

#if IGGY_WS_AT_LEAST(4, 1)
typedef df_error_t iggy_filter_error_t;
#else
typedef char iggy_filter_error_t;
#endif

/** Dissects a packet of `length` bytes, which are copied. */
static inline void iggy_dissect_record(epan_dissect_t *edt, wtap_rec *rec, frame_data *frame, const uint8_t *bytes, unsigned length)
{
#if IGGY_WS_AT_LEAST(4, 5)
    rec->rec_type_name = "Packet";
    ws_buffer_init(&rec->data, length);
    ws_buffer_append(&rec->data, bytes, length);
    epan_dissect_run(edt, WTAP_FILE_TYPE_SUBTYPE_UNKNOWN, rec, frame, NULL);
    ws_buffer_free(&rec->data);
#else
    tvbuff_t *tvb = tvb_new_real_data((uint8_t *)g_memdup2(bytes, length), length, (int)length);
    tvb_set_free_cb(tvb, g_free);
    epan_dissect_run(edt, WTAP_FILE_TYPE_SUBTYPE_UNKNOWN, rec, tvb, frame, NULL);
#endif
}

#endif
