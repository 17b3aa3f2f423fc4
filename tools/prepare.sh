# shellcheck shell=bash disable=SC2034,SC2154
# What the other scripts share: packages, versions, the build. Sourced, not run.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
#
# IGGY_BUILD_DIR=DIR   build there instead of in build/
# IGGY_NO_APT=1        install no packages, use what is there
# IGGY_OPTIONS=...     options for cmake, when the build folder is made

set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${IGGY_BUILD_DIR:-$top/build}

BUILD_PACKAGES=(cmake ninja-build gcc libc6-dev tshark wireshark-dev libglib2.0-dev libxxhash-dev libgcrypt20-dev)
STYLE_PACKAGES=(bzip2 clang cppcheck perl python3 xz-utils)
FUZZ_PACKAGES=(clang libclang-rt-dev)
TEST_PACKAGES=(python3 python3-pytest python3-pytest-xdist python3-cryptography "${STYLE_PACKAGES[@]}" "${FUZZ_PACKAGES[@]}")

# Says in one line what is wrong, and ends.
fail() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

# The packages among the arguments that dpkg does not know as installed.
missing_packages() {
    local package
    for package in "$@"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || echo "$package"
    done
}

# Installs those of the packages that are not there: as root, else with sudo. Nothing is done if all are.
need_packages() {
    local missing as_root=()
    [ -z "${IGGY_NO_APT:-}" ] && command -v dpkg-query >/dev/null || return 0
    mapfile -t missing < <(missing_packages "$@")
    [ ${#missing[@]} -gt 0 ] || return 0
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || fail "missing packages, and neither root nor sudo to install them: ${missing[*]}"
        as_root=(sudo)
    fi
    echo "Installing: ${missing[*]}"
    as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get -q)
    "${as_root[@]}" update || fail "apt-get update failed; missing packages: ${missing[*]}"
    "${as_root[@]}" install -y --no-install-recommends "${missing[@]}" || fail "cannot install packages: ${missing[*]}"
}

# need_version NAME LEAST FOUND: FOUND is the version that is there, or empty.
need_version() {
    [ -n "$3" ] || fail "$1 is missing: version $2 or newer is needed"
    [ "$(printf '%s\n%s\n' "$2" "$3" | sort -V | head -n 1)" = "$2" ] ||
        fail "$1 $3 is too old: $2 or newer is needed"
}

# The first version number in what a command prints; empty if it cannot run.
version_of() {
    "$@" 2>/dev/null | sed -n 's/^[^0-9]*\([0-9][0-9.]*[0-9]\).*/\1/p' | head -n 1 || true
}

# Installs and checks what the build needs.
prepare() {
    need_packages "${BUILD_PACKAGES[@]}" "$@"
    need_version CMake 3.20 "$(version_of cmake --version)"
    need_version Ninja 1.8 "$(version_of ninja --version)"
    need_version tshark 4.0 "$(version_of tshark --version)"
    command -v "${CC:-cc}" >/dev/null || fail "no C compiler: ${CC:-cc} is missing"
}

# Configures the build folder once, silently if it works. One that was made by hand may be for Make.
configure_plugin() {
    local log
    if [ -e "$build" ] && [ ! -w "$build" ]; then
        fail "$build belongs to somebody else: remove it, or set IGGY_BUILD_DIR"
    fi
    [ ! -f "$build/build.ninja" ] && [ ! -f "$build/Makefile" ] || return 0
    log=$(mktemp)
    # shellcheck disable=SC2086
    if ! cmake -S "$top" -B "$build" -G Ninja ${IGGY_OPTIONS:-} >"$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        fail "the build cannot be configured: CMake says why, above"
    fi
    rm -f "$log"
}

# Builds; only what changed is compiled again.
build_plugin() {
    configure_plugin
    cmake --build "$build" --parallel "$(nproc)" >&2 || fail "the plugin does not compile"
}
