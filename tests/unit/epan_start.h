/* epan_start.h
 * Starts libwireshark inside a test program, with the dissector linked in instead of loaded.
 *
 * Apache Iggy dissector for Wireshark
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef EPAN_START_H
#define EPAN_START_H

#include "packet-iggy-compat.h"

#include <stdlib.h>

#include <epan/epan.h>
#include <epan/prefs.h>
#include <wiretap/wtap.h>
#include <wsutil/filesystem.h>
#include <wsutil/privileges.h>
#include <wsutil/wslog.h>

void plugin_register(void); /* of the plugin's generated plugin.c */

static inline void epan_start(const char *program)
{
    g_setenv("XDG_CONFIG_HOME", "/nonexistent", TRUE); /* no preferences of whoever runs the test */
    g_setenv("WIRESHARK_CONFIG_DIR", "/nonexistent", TRUE);
    ws_log_set_level(LOG_LEVEL_WARNING);
    init_process_policies();
#if IGGY_WS_AT_LEAST(4, 5)
    g_free(configuration_init(program));
#else
    g_free(configuration_init(program, NULL));
#endif
    wtap_init(FALSE);
    plugin_register();
    if (!epan_init(NULL, NULL, FALSE))
        abort();
}

#endif
