#!/usr/bin/env bash
# The part of tools/test-in-tree.sh that runs inside the Debian system of its own, as root. Not meant to be called by hand.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later

. "$(dirname "${BASH_SOURCE[0]}")/prepare.sh"
. "$top/tools/wireshark-source.sh"

IN_TREE_PACKAGES=(bzip2 flex g++ libc-ares-dev libpcre2-dev libspeexdsp-dev perl python3 xz-utils zlib1g-dev)
# The command line tools that are not asked for; what is left is the libraries, tshark and the plugins.
LEFT_OUT=(wireshark logray tfshark rawshark dumpcap text2pcap mergecap reordercap editcap capinfos captype randpkt dftest
    corbaidl2wrs dcerpcidl2wrs xxx2deb androiddump sshdump ciscodump dpauxmon randpktdump wifidump sdjournal udpdump sharkd
    mmdbresolve fuzzshark)

configure() {
    local options=() part
    for part in "${LEFT_OUT[@]}"; do
        options+=("-DBUILD_$part=OFF")
    done
    rm -rf "$tree/plugins/epan/iggy"
    cp -r "$top/plugin" "$tree/plugins/epan/iggy"
    echo 'set(CUSTOM_PLUGIN_SRC_DIR plugins/epan/iggy)' >"$tree/CMakeListsCustom.txt"
    cmake -S "$tree" -B "$tree_build" -G Ninja -DENABLE_CCACHE=OFF -DENABLE_PCAP=OFF "${options[@]}" >/iggy/in-tree.log 2>&1 || {
        tail -n 30 /iggy/in-tree.log >&2
        fail "Wireshark's source cannot be configured"
    }
}

# The plugin alone: the commands by which the tree would compile and link it, with the installed libraries in the place of the
# ones that it would have built first.
build_quick() {
    local library commands
    commands=$(ninja -C "$tree_build" -t commands iggy | grep -E 'plugins/epan/iggy')
    ninja -C "$tree_build" plugins/epan/iggy/plugin.c
    mkdir -p "$tree_build/run/plugins/4.0/epan"
    for library in /usr/lib/*/libwireshark.so.* /usr/lib/*/libwsutil.so.* /usr/lib/*/libwiretap.so.*; do
        ln -sf "$library" "$tree_build/run/$(basename "$library")"
    done
    (
        cd "$tree_build"
        grep -E '\.c\.o -c ' <<<"$commands" | xargs -d '\n' -P "$(nproc)" -I '{}' sh -ec '{}'
        eval "$(tail -n 1 <<<"$commands")"
    )
}

prepare "${IN_TREE_PACKAGES[@]}"
tree=$(XDG_CACHE_HOME=/iggy/cache wireshark_source) || fail "Wireshark's source cannot be fetched"
tree_build=/iggy/in-tree
configure
tshark=tshark
if [ "${IN_TREE_MODE:-}" = --full ]; then
    rm -f "$tree_build"/run/lib*.so.*
    ninja -C "$tree_build" tshark iggy
    tshark=$tree_build/run/tshark
else
    build_quick
fi
diff -r "$top/plugin" "$tree/plugins/epan/iggy" || fail "plugin/ was changed"

plugin=$(find "$tree_build/run/plugins" -name iggy.so)
[ -n "$plugin" ] || fail "Wireshark's build made no iggy.so"
chmod 755 "$tree_build/run"
capture=/tmp/iggy-in-tree.pcapng
cp "$top/captures/real/01_admin_rust.pcapng" "$capture"
run=(setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/nonexistent "WIRESHARK_PLUGIN_DIR=$tree_build/run/plugins"
    "$tshark")
"${run[@]}" -G plugins | grep '^iggy\.so' || fail "the plugin of Wireshark's build is not loaded"
found=$("${run[@]}" -n -r "$capture" -Y iggy | wc -l)
[ "$found" -gt 100 ] || fail "the plugin of Wireshark's build finds Iggy in $found packets of a capture of Iggy"
echo "plugin/ builds in the source of Wireshark $(version_of "$tshark" --version), unchanged, and finds Iggy in $found packets"
