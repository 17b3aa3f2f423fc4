#!/usr/bin/env bash
# From a fresh clone to a decoded session: installs the packages that are missing (Debian), builds the plugin and lists a
# recorded Iggy session, one line a packet:   tools/try.sh [CAPTURE [options of tshark]]
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Run again, nothing is done twice. Exit status 0 only if the plugin was loaded and tshark was content.

. "$(dirname "${BASH_SOURCE[0]}")/prepare.sh"

capture=${1:-$top/captures/real/01_admin_rust.pcapng}
case $capture in
-*) fail "usage: tools/try.sh [CAPTURE [options of tshark]]" ;;
esac
[ $# -eq 0 ] || shift
[ -r "$capture" ] || fail "cannot read $capture"
prepare
build_plugin
exec "$top/tools/tshark.sh" -n -r "$capture" "$@"
