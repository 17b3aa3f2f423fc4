#!/usr/bin/env bash
# Makes the packages and tries them: tools/test-package.sh [4.0|4.4|4.6 ...]     (default: 4.0)
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For each Wireshark, in Debian systems of their own (tools/roots.sh): builds .deb, .rpm and tarball; lintian finds no error in
# the .deb; the .rpm and the tarball hold the plugin, the .rpm asks for the right libwireshark; the .deb is installed in a
# system without compilers, where tshark (as root, so from the system's folder) loads the plugin and finds Iggy in a capture;
# it is removed, and every file is as before. The packages are left in the build folder's packages/.

. "$(dirname "${BASH_SOURCE[0]}")/prepare.sh"
. "$top/tools/roots.sh"

series=("$@")
[ $# -gt 0 ] || series=(4.0)
known_series "${series[@]}"

PACKAGE_TOOLS=(dpkg-dev file lintian rpm)

# Runs in the build root: all packages, into /iggy/packages.
build_packages() {
    local root=$1
    enter "$root" bash -c '
        . /iggy/source/tools/prepare.sh
        prepare "$@"
        build_plugin
        rm -rf /iggy/packages
        cd "$build"
        cmake . >/dev/null
        cpack -G "DEB;RPM;TGZ" -B /iggy/packages
        rm -rf /iggy/packages/_CPack_Packages' prepare.sh "${PACKAGE_TOOLS[@]}"
}

# Lines of a list that have to be there.
expect() {
    local what=$1 pattern=$2
    grep -E "$pattern" >/dev/null || fail "$what: nothing matches $pattern"
}

check_contents() {
    local root=$1 version=$2
    local plugin="wireshark/plugins/$version/epan/iggy\\.so"
    enter "$root" sh -c 'lintian --fail-on error --suppress-tags bad-distribution-in-changes-file /iggy/packages/*.deb' ||
        fail "lintian finds errors"
    enter "$root" sh -c 'dpkg-deb -f /iggy/packages/*.deb Depends' | tee >(cat >&2) |
        expect "dependencies of the .deb" "wireshark-common \\(>= $version~\\).*wireshark-common \\(<<"
    enter "$root" sh -c 'rpm -qlp /iggy/packages/*.rpm' | tee >(cat >&2) | expect "files of the .rpm" "$plugin$"
    enter "$root" sh -c 'rpm -qp --requires /iggy/packages/*.rpm' |
        expect "requirements of the .rpm" '^libwireshark\.so\.[0-9]+\(\)'
    enter "$root" sh -c 'tar -tzf /iggy/packages/*.tar.gz' | expect "files of the tarball" "$plugin$"
}

# Every file of a root but those of apt and dpkg that remember what was installed.
list_files() {
    "${as_root[@]}" find "$1" -xdev \( -path "$1/proc" -o -path "$1/dev" -o -path "$1/tmp" -o -path "$1/var/cache" \
        -o -path "$1/var/log" -o -path "$1/var/lib/apt" -o -path "$1/var/lib/dpkg" \) -prune -o -print | sort
}

iggy_packets() {
    enter "$1" tshark -n -r /tmp/iggy.pcapng -Y iggy | wc -l
}

install_and_remove() {
    local build_root=$1 root=$2 before after name
    "${as_root[@]}" cp "$top/captures/real/01_admin_rust.pcapng" "$root/tmp/iggy.pcapng"
    "${as_root[@]}" sh -c 'rm -f "$2"/tmp/*.deb; cp "$1"/iggy/packages/*.deb "$2/tmp/"' sh "$build_root" "$root"
    enter "$root" sh -c 'apt-get -q update && apt-get -q install -y --no-install-recommends tshark libxxhash0 libgcrypt20'
    before=$(list_files "$root")
    enter "$root" sh -c 'apt-get -q install -y --no-install-recommends /tmp/*.deb'
    enter "$root" tshark -G plugins | expect "plugins after installing" '^iggy\.so'
    [ "$(iggy_packets "$root")" -gt 100 ] || fail "the installed plugin finds no Iggy in a capture of Iggy"
    name=$(enter "$root" sh -c 'dpkg-deb -f /tmp/*.deb Package')
    enter "$root" apt-get -q purge -y "$name"
    after=$(list_files "$root")
    [ "$before" = "$after" ] || fail "removing the package leaves or takes files: $(diff <(echo "$before") <(echo "$after"))"
    ! enter "$root" tshark -G plugins | grep "^iggy" >/dev/null || fail "the plugin is still there after removing the package"
}

test_series() {
    local version=$1 suite=${suite_of[$1]}
    local build_root=$roots/$suite clean_root=$roots/$suite-clean root
    for root in "$build_root" "$clean_root"; do
        make_root "$suite" "$root"
        adopt_settings "$root"
    done
    copy_sources "$build_root"
    build_packages "$build_root"
    check_contents "$build_root" "$version"
    install_and_remove "$build_root" "$clean_root"
    mkdir -p "$build/packages"
    cp "$build_root"/iggy/packages/wireshark-iggy-* "$build/packages/"
    echo "Packages for Wireshark $version: built, checked, installed, removed"
}

for version in "${series[@]}"; do
    test_series "$version"
done
