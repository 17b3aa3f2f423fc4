# shellcheck shell=bash disable=SC2154
# Wireshark's source, for its checkers and its build. Sourced, not run, after prepare.sh.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
#
# IGGY_WIRESHARK_SOURCE=DIR   use this source tree, fetch nothing

# apt-get with the package sources of this system, read as sources of source packages, and lists of its own in FOLDER: needs no
# root and leaves the system's lists alone.
_apt_for_source() {
    local folder=$1 file
    shift
    mkdir -p "$folder/parts" "$folder/lists/partial" "$folder/cache/archives/partial"
    cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null | sed -n 's/^deb /deb-src /p' >"$folder/sources.list"
    for file in /etc/apt/sources.list.d/*.sources; do
        [ ! -f "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" >"$folder/parts/$(basename "$file")"
    done
    apt-get -q -o "Dir::Etc::SourceList=$folder/sources.list" -o "Dir::Etc::SourceParts=$folder/parts" \
        -o "Dir::State::Lists=$folder/lists" -o "Dir::Cache=$folder/cache" -o APT::Sandbox::User= "$@"
}

# Prints the folder of Wireshark's source, fetched by apt-get source at the first time. Status not 0 if it cannot be had.
wireshark_source() {
    local cache=${XDG_CACHE_HOME:-$HOME/.cache}/iggy-wireshark/source tree archive
    if [ -n "${IGGY_WIRESHARK_SOURCE:-}" ]; then
        echo "$IGGY_WIRESHARK_SOURCE"
        return
    fi
    tree=$cache/tree
    if [ ! -f "$tree/CMakeLists.txt" ]; then
        command -v apt-get >/dev/null || return 1
        mkdir -p "$cache/download"
        rm -rf "$tree.new"
        mkdir "$tree.new"
        (
            cd "$cache/download"
            _apt_for_source "$cache/apt" update
            _apt_for_source "$cache/apt" source --download-only wireshark
        ) >&2 || return 1
        archive=$(find "$cache/download" -name 'wireshark_*.orig.tar.*' ! -name '*.asc' | sort -V | tail -n 1)
        [ -n "$archive" ] || return 1
        tar -x --strip-components=1 -C "$tree.new" -f "$archive" || return 1
        rm -rf "$cache/download" "$tree"
        mv "$tree.new" "$tree"
    fi
    echo "$tree"
}
