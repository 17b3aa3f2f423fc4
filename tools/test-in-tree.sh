#!/usr/bin/env bash
# Shows that plugin/ builds inside Wireshark's source, unchanged, with Wireshark's own CMake macros:
#   tools/test-in-tree.sh [--full]
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
#
# In a Debian 12 of its own (tools/roots.sh): copies plugin/ to plugins/epan/iggy of the source of Wireshark 4.0, names it in
# CMakeListsCustom.txt, and builds the target `iggy`. Without --full Wireshark's libraries are not built (that takes the better
# part of an hour on two cores): the plugin's files are compiled by Wireshark's rules, and linked by Wireshark's own link
# command against the installed libraries of the same version. The plugin is then loaded by the tshark of that version (with
# --full: the one that was built) and has to find Iggy in a capture.

. "$(dirname "${BASH_SOURCE[0]}")/prepare.sh"
. "$top/tools/roots.sh"

mode=${1:-quick}
case $mode in
    quick | --full) ;;
    *) fail "unknown option $mode; known: --full" ;;
esac

root=$roots/bookworm
make_root bookworm "$root"
adopt_settings "$root"
copy_sources "$root"
enter "$root" env IN_TREE_MODE="$mode" bash /iggy/source/tools/in-tree-build.sh
