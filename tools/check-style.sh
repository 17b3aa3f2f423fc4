#!/usr/bin/env bash
# Wireshark's own checks, clang's analyser, cppcheck and the rules of this project on plugin/:   tools/check-style.sh
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Wireshark's checks come from its source package (tools/wireshark-source.sh), fetched at the first run. Exit status 0 if all is
# clean, 1 if not, 77 if what could be run is clean but a tool was not to be had.

. "$(dirname "${BASH_SOURCE[0]}")/prepare.sh"
. "$top/tools/wireshark-source.sh"

prepare "${STYLE_PACKAGES[@]}"
configure_plugin
source_tree=$(wireshark_source) || source_tree=
exec python3 "$top/tools/check_style.py" --build "$build" --wireshark "$source_tree"
