#!/usr/bin/env bash
# Runs the installed tshark with the plugin of the build folder, not installed:   tools/tshark.sh [options of tshark]
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tshark goes on without a plugin that it cannot load, and exits with 0; here that is an error. IGGY_PRELOAD=FILE is preloaded
# into it: the runtime of a sanitizer, which the stock tshark does not have.

. "$(dirname "${BASH_SOURCE[0]}")/prepare.sh"

command -v tshark >/dev/null || fail "tshark is missing"
[ -n "$(find "$build/plugins" -name 'iggy.*' -type f 2>/dev/null)" ] || fail "no plugin in $build: build it first"

# As root Wireshark reads no plugins but the installed ones. An unprivileged user who keeps only root's right to read files
# (a clone in /root is closed to others) may have them from anywhere. What tshark writes needs a folder that is open to all.
settings=(env "WIRESHARK_PLUGIN_DIR=$build/plugins" ${IGGY_PRELOAD:+"LD_PRELOAD=$IGGY_PRELOAD"})
run=("${settings[@]}")
if [ "$(id -u)" -eq 0 ]; then
    as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    for right in dac_read_search dac_override; do
        keep=("--inh-caps=-all,+$right" "--ambient-caps=-all,+$right")
        if setpriv "${keep[@]}" true 2>/dev/null; then
            as_nobody+=("${keep[@]}")
            break
        fi
    done
    run=("${as_nobody[@]}" "${settings[@]}" HOME=/nonexistent)
fi

plugins=$("${run[@]}" tshark -G plugins 2>&1) || fail "tshark does not start: $plugins"
grep -q '^iggy\.' <<<"$plugins" ||
    fail "tshark $(version_of tshark --version) does not load the plugin; built for another Wireshark? Remove $build and" \
         "build again. It says: $(grep -m 1 -i iggy <<<"$plugins" || echo nothing)"

exec "${run[@]}" tshark "$@"
