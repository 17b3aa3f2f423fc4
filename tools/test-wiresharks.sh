#!/usr/bin/env bash
# Builds the plugin and runs all tests against Wireshark 4.0, 4.4 and 4.6, each in a Debian of its own:
#   tools/test-wiresharks.sh [4.0|4.4|4.6 ...]
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
#
# IGGY_ROOTS=DIR   where the Debian systems are kept (some 1.5 GB each); default ~/.cache/iggy-wireshark
#
# The systems are made by mmdebstrap or debootstrap at the first run and kept; the sources are copied into them. Needs root or
# sudo. The last lines are a summary, one a Wireshark; exit status 0 only if all passed.

. "$(dirname "${BASH_SOURCE[0]}")/prepare.sh"

roots=${IGGY_ROOTS:-${XDG_CACHE_HOME:-$HOME/.cache}/iggy-wireshark}
declare -A suite_of=([4.0]=bookworm [4.4]=trixie [4.6]=sid)
versions=("$@")
[ $# -gt 0 ] || versions=(4.0 4.4 4.6)
for version in "${versions[@]}"; do
    [ -n "${suite_of[$version]:-}" ] || fail "no Debian known with Wireshark $version; known: 4.0 4.4 4.6"
done
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "making and entering a system of its own needs root or sudo"
    as_root=(sudo)
fi

# Settings of this machine's apt that a system of its own needs too (a proxy, for example), and its name servers.
adopt_settings() {
    local root=$1 file
    for file in /etc/apt/apt.conf.d/*; do
        grep -qs 'Acquire' "$file" && "${as_root[@]}" cp "$file" "$root/etc/apt/apt.conf.d/"
    done
    # A mirror's copy of sid may be some days old.
    echo 'Acquire::Check-Valid-Until "false";' | "${as_root[@]}" tee "$root/etc/apt/apt.conf.d/99iggy" >/dev/null
    [ ! -f /etc/resolv.conf ] || "${as_root[@]}" cp -L /etc/resolv.conf "$root/etc/resolv.conf" || true
}

make_root() {
    local suite=$1 root=$2
    command -v mmdebstrap >/dev/null || command -v debootstrap >/dev/null || need_packages debootstrap
    "${as_root[@]}" rm -rf "$root.new"
    "${as_root[@]}" mkdir -p "$roots"
    if command -v mmdebstrap >/dev/null; then
        "${as_root[@]}" mmdebstrap --variant=apt --include=ca-certificates \
            --aptopt='Acquire::Check-Valid-Until "false"' "$suite" "$root.new"
    else
        "${as_root[@]}" debootstrap --variant=minbase --include=ca-certificates "$suite" "$root.new"
    fi || fail "cannot make a Debian $suite in $root.new"
    "${as_root[@]}" mv "$root.new" "$root"
}

# The files of the working copy, new ones too, at /iggy in the root; those that are unchanged keep their times.
copy_sources() {
    local root=$1
    "${as_root[@]}" mkdir -p "$root/iggy/source"
    "${as_root[@]}" find "$root/iggy/source" -mindepth 1 -maxdepth 1 -exec rm -rf {} +
    (cd "$top" && git ls-files -co --exclude-standard -z | while IFS= read -r -d '' file; do
        [ ! -e "$file" ] || printf '%s\0' "$file"
    done | tar -c --null -T - -f -) | "${as_root[@]}" tar -x --no-same-owner -C "$root/iggy/source" -f -
}

# Enters the root with /proc and /dev where the kernel lets us mount, without them elsewhere.
# shellcheck disable=SC2016
enter() {
    local root=$1
    shift
    "${as_root[@]}" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 TERM="${TERM:-dumb}" \
        http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" \
        unshare --mount sh -c '
            root=$1
            shift
            mount -t proc proc "$root/proc" 2>/dev/null || mount --rbind /proc "$root/proc" 2>/dev/null || true
            mount --rbind /dev "$root/dev" 2>/dev/null || true
            exec chroot "$root" "$@"' sh "$root" "$@"
}

# Builds and tests in one root; what it prints goes to the log.
test_in() {
    local suite=$1 root=$2
    [ -d "$root" ] || make_root "$suite" "$root"
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
    if (test_in "$suite" "$root") 2>&1 | tee "$log"; then
        outcome=passed
    else
        outcome=FAILED
        status=1
    fi
    found=$(enter "$root" tshark --version 2>/dev/null | sed -n '1s/^[^0-9]*\([0-9.]*[0-9]\).*/\1/p' || true)
    case $found in
        "$version".*) ;;
        *) outcome="FAILED (this is not $version)" status=1 ;;
    esac
    tests=$(sed -n 's/^\([0-9]*% tests passed.*\)/\1/p' "$log" | tail -n 1)
    pytest=$(sed -n 's/^[0-9]*: *=* *\([0-9].* in [0-9.]*s[^=]*\) *=*$/\1/p' "$log" | tail -n 1)
    summary+=("Wireshark ${found:-?} (Debian $suite): $outcome; ctest: ${tests:-none}; pytest: ${pytest:-none}")
    rm -f "$log"
done
printf '%s\n' "${summary[@]}"
exit $status
