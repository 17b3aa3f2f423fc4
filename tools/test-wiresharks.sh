#!/usr/bin/env bash
# Builds the plugin and runs all tests against Wireshark 4.0, 4.4 and 4.6, each in a Debian of its own:
#   tools/test-wiresharks.sh [4.0|4.4|4.6 ...]
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The systems are made by mmdebstrap or debootstrap at the first run and kept outside the repository (tools/roots.sh says
# where); the sources are copied into them. Needs root or sudo. The last lines are a summary, one a Wireshark; exit status 0
# only if all passed.

. "$(dirname "${BASH_SOURCE[0]}")/prepare.sh"
. "$top/tools/roots.sh"

versions=("$@")
[ $# -gt 0 ] || versions=(4.0 4.4 4.6)
known_series "${versions[@]}"

# Builds and tests in the root of one suite.
test_in() {
    local suite=$1 root=$2
    make_root "$suite" "$root"
    adopt_settings "$root"
    copy_sources "$root"
    enter "$root" env IGGY_BUILD_DIR=/iggy/build /iggy/source/tools/test.sh --verbose
}

summary=()
status=0
for version in "${versions[@]}"; do
    suite=${suite_of[$version]}
    root=$roots/$suite
    log=$(mktemp)
    outcome=passed
    (test_in "$suite" "$root") 2>&1 | tee "$log" || outcome=FAILED
    found=$(wireshark_in "$root")
    case $found in
        "$version".*) ;;
        *) outcome="FAILED (not Wireshark $version)" ;;
    esac
    [ "$outcome" = passed ] || status=1
    tests=$(sed -n 's/^\([0-9]*% tests passed.*\)/\1/p' "$log" | tail -n 1)
    pytest=$(sed -n 's/^[0-9]*: *=* *\([0-9].* in [0-9.]*s[^=]*\) *=*$/\1/p' "$log" | tail -n 1)
    summary+=("Wireshark ${found:-?} (Debian $suite): $outcome; ctest: ${tests:-none}; pytest: ${pytest:-none}")
    rm -f "$log"
done
printf '%s\n' "${summary[@]}"
exit $status
