#!/bin/sh
# Fetches foreign captures (Debian's sources of wireshark and tcpdump) and looks for false claims in them.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
#
# usage: tests/negative/run.sh [FOLDER...]      further folders with captures of other protocols
#
# IGGY_NEGATIVE_DIR (default build-negative) keeps what was fetched. Needs a source entry for apt ("deb-src") and dpkg-dev,
# and the variables that tests/conftest.py describes.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
work=${IGGY_NEGATIVE_DIR:-$here/../../build-negative}
mkdir -p "$work"
work=$(cd "$work" && pwd)

for source in wireshark tcpdump; do
    if ! ls -d "$work/$source"-*/ > /dev/null 2>&1; then
        (cd "$work" && apt-get source -qq "$source") || {
            echo "run.sh: apt-get source $source failed: is there a deb-src entry, and dpkg-dev?" >&2
            exit 1
        }
    fi
done
exec python3 "$here/claims.py" "$work"/wireshark-*/test/captures "$work"/tcpdump-*/tests "$@"
