#!/bin/sh
# Fetches foreign captures (Debian's sources of wireshark and tcpdump, packages with samples) and looks for false claims in them.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
#
# usage: tests/negative/run.sh [FOLDER...]      further folders with captures of other protocols
#
# IGGY_NEGATIVE_DIR (default build-negative) keeps what was fetched; nothing is installed. Needs source entries for apt
# ("deb-src"), dpkg-dev, and the variables that tests/conftest.py describes.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
work=${IGGY_NEGATIVE_DIR:-$here/../../build-negative}
packages="golang-github-google-gopacket-dev pathspider python3-dpkt ruby-pcaprub sip-tester pktanon pcapfix
    libbitstring-ocaml-dev afl++-doc"
mkdir -p "$work/packages"
work=$(cd "$work" && pwd)

for source in wireshark tcpdump; do
    if ! ls -d "$work/$source"-*/ > /dev/null 2>&1; then
        (cd "$work" && apt-get source -qq "$source") || {
            echo "run.sh: apt-get source $source failed: is there a deb-src entry, and dpkg-dev?" >&2
            exit 1
        }
    fi
done
for package in $packages; do
    folder=$work/packages/$package
    if [ ! -d "$folder" ]; then # they come and go between Debian's releases
        (cd "$work/packages" && apt-get download -qq "$package" && dpkg-deb -x "$package"_*.deb "$folder") ||
            echo "run.sh: no package $package here" >&2
    fi
done
exec python3 "$here/claims.py" "$work"/wireshark-*/test/captures "$work"/tcpdump-*/tests "$work/packages" "$@"
