#!/usr/bin/env bash
# From a fresh clone to passed tests: installs the packages that are missing (Debian), builds the plugin and runs all tests:
#   tools/test.sh [options of ctest]
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Run again, nothing is done twice but the tests. Exit status 0 only if all passed.

. "$(dirname "${BASH_SOURCE[0]}")/prepare.sh"

prepare "${TEST_PACKAGES[@]}"
build_plugin
exec ctest --test-dir "$build" --output-on-failure --no-tests=error "$@"
