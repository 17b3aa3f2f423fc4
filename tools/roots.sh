# shellcheck shell=bash disable=SC2034,SC2154
# Debian systems of their own, to build and test in: made, entered, filled. Sourced, not run, after prepare.sh.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
#
# IGGY_ROOTS=DIR   where the systems are kept (some 1.5 GB each); default ~/.cache/iggy-wireshark

roots=${IGGY_ROOTS:-${XDG_CACHE_HOME:-$HOME/.cache}/iggy-wireshark}

# The Debian that has this series of Wireshark.
declare -A suite_of=([4.0]=bookworm [4.4]=trixie [4.6]=sid)

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "making and entering a system of its own needs root or sudo"
    as_root=(sudo)
fi

# Ends with a message if an argument is no series that a Debian has.
known_series() {
    local series
    for series in "$@"; do
        [ -n "${suite_of[$series]:-}" ] || fail "no Debian known with Wireshark $series; known: 4.0 4.4 4.6"
    done
}

# Settings of this machine's apt that a system of its own needs too (a proxy, for example), and its name servers.
adopt_settings() {
    local root=$1 file
    for file in /etc/apt/apt.conf.d/*; do
        # Files of packages are left out: there the package brings its own, and dpkg would ask which one to keep.
        if grep -qs 'Acquire' "$file" && ! dpkg-query -S "$file" >/dev/null 2>&1; then
            "${as_root[@]}" cp "$file" "$root/etc/apt/apt.conf.d/"
        fi
    done
    # A mirror's copy of sid may be some days old.
    echo 'Acquire::Check-Valid-Until "false";' | "${as_root[@]}" tee "$root/etc/apt/apt.conf.d/99iggy" >/dev/null
    [ ! -f /etc/resolv.conf ] || "${as_root[@]}" cp -L /etc/resolv.conf "$root/etc/resolv.conf" || true
}

# make_root SUITE FOLDER: nothing is done if it is there already.
make_root() {
    local suite=$1 root=$2
    [ ! -d "$root" ] || return 0
    command -v mmdebstrap >/dev/null || command -v debootstrap >/dev/null || need_packages debootstrap
    "${as_root[@]}" rm -rf "$root.new"
    "${as_root[@]}" mkdir -p "$(dirname "$root")"
    if command -v mmdebstrap >/dev/null; then
        "${as_root[@]}" mmdebstrap --variant=apt --include=ca-certificates \
            --aptopt='Acquire::Check-Valid-Until "false"' "$suite" "$root.new"
    else
        "${as_root[@]}" debootstrap --variant=minbase --include=ca-certificates "$suite" "$root.new"
    fi || fail "cannot make a Debian $suite in $root.new"
    "${as_root[@]}" mv "$root.new" "$root"
}

# The files of the working copy, new ones too, at /iggy/source in the root. Files keep their times: what is unchanged is not
# compiled again.
copy_sources() {
    local root=$1
    "${as_root[@]}" mkdir -p "$root/iggy/source"
    "${as_root[@]}" find "$root/iggy/source" -mindepth 1 -maxdepth 1 -exec rm -rf {} +
    (cd "$top" && git ls-files -co --exclude-standard -z | while IFS= read -r -d '' file; do
        [ ! -e "$file" ] || printf '%s\0' "$file"
    done | tar -c --null -T - -f -) | "${as_root[@]}" tar -x --no-same-owner -C "$root/iggy/source" -f -
}

# enter ROOT COMMAND...: with /proc and /dev where the kernel lets us mount, without them elsewhere.
# shellcheck disable=SC2016
enter() {
    local root=$1
    shift
    "${as_root[@]}" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 TERM="${TERM:-dumb}" \
        http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" DEBIAN_FRONTEND=noninteractive \
        unshare --mount sh -c '
            root=$1
            shift
            mount -t proc proc "$root/proc" 2>/dev/null || mount --rbind /proc "$root/proc" 2>/dev/null || true
            mount --rbind /dev "$root/dev" 2>/dev/null || true
            exec chroot "$root" "$@"' sh "$root" "$@"
}

# The version of Wireshark in a root; empty if there is none.
wireshark_in() {
    enter "$1" tshark --version 2>/dev/null | sed -n '1s/^[^0-9]*\([0-9.]*[0-9]\).*/\1/p' || true
}
