#!/usr/bin/env python3
# Does the newest published protocol have something that the dissector's tables lack?
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the plugin's tables with the newest published crates iggy_binary_protocol and iggy_common.

    tools/drift.py [--protocol DIR] [--common DIR] [--plugin DIR]

Without folders cargo says which versions are the newest and gets their sources. Reported are command codes, operations,
header commands, eviction reasons, error codes and the protocol version that the tables lack, or that have another name.
What the tables have and the crates no longer have is kept on purpose (older versions spoke it) and listed as a remark.

Exit status: 0 nothing to do, 1 something is missing or changed, 2 it could not be found out.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent


class Unknown(Exception):
    """What stands in the way of an answer."""


# --- published -----------------------------------------------------------------------------------------------------------
def newest(crate):
    """(version, folder of the sources) of the newest published version, by cargo."""
    with tempfile.TemporaryDirectory(prefix="iggy-drift-") as folder:
        try:
            run = subprocess.run(["cargo", "info", "--color", "never", crate], cwd=folder, text=True, capture_output=True,
                                 timeout=600)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Unknown("cargo cannot be run: %s" % error)
    found = re.search(r"^version: (\S+)", run.stdout, re.MULTILINE)
    if run.returncode or not found:
        raise Unknown("cargo does not know %s: %s" % (crate, run.stderr.strip()[-300:]))
    home = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    folders = sorted(home.glob("registry/src/*/%s-%s" % (crate, found.group(1))))
    if not folders:
        raise Unknown("cargo left no sources of %s %s" % (crate, found.group(1)))
    return found.group(1), folders[-1]


def given(folder):
    found = re.search(r'^version = "([^"]+)"', (folder / "Cargo.toml").read_text(), re.MULTILINE)
    return found.group(1) if found else "?", folder


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)


def snake(name):
    """CamelCase of Rust in the words of the tables, as the crates' own serialization does it."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def source_with(folder, pattern):
    """The text, without comments, of the source file that has the pattern."""
    for path in sorted(folder.glob("src/**/*.rs")):
        text = without_comments(path.read_text())
        if re.search(pattern, text):
            return text
    raise Unknown("%s has no %s" % (folder, pattern))


def enumeration(folder, name):
    """{number: snake_case name} of a Rust enumeration with numbers."""
    text = source_with(folder, r"pub enum %s\b" % name)
    start = re.search(r"pub enum %s\b[^{]*\{" % name, text).end()
    body, depth = [], 1
    for character in text[start:]:
        depth += {"{": 1, "}": -1}.get(character, 0)
        if not depth:
            break
        body.append(character)
    pairs = re.findall(r"\b([A-Z]\w*)\s*(?:\([^)]*\)|\{[^}]*\})?\s*=\s*(\d+)", "".join(body))
    if not pairs:
        raise Unknown("enumeration %s has no numbers" % name)
    return {int(number): snake(word) for word, number in pairs}


def codes(folder):
    text = source_with(folder, r"pub const PING_CODE\s*:\s*u32")
    pairs = re.findall(r"pub const (\w+)_CODE\s*:\s*u32\s*=\s*(\d+)\s*;", text)
    return {int(number): word.lower() for word, number in pairs}


def version(folder):
    text = source_with(folder, r"pub const IGGY_PROTOCOL_VERSION\s*:")
    found = re.search(r"pub const IGGY_PROTOCOL_VERSION\s*:\s*u32\s*=\s*pack_protocol_version\(\s*(\d+),\s*(\d+),\s*(\d+)\s*\)", text)
    if not found:
        raise Unknown("the protocol version is written in another way")
    major, minor, patch = map(int, found.groups())
    return {major << 20 | minor << 10 | patch: "%d.%d.%d" % (major, minor, patch)}


# --- the plugin's tables -------------------------------------------------------------------------------------------------
def array(folder, name):
    """The text between the braces of an array."""
    for path in sorted(folder.glob("packet-iggy*.c")):
        text = without_comments(path.read_text())
        found = re.search(r"\b%s\[\]\s*=\s*\{\n(.*?)^\};" % name, text, re.DOTALL | re.MULTILINE)
        if found:
            return found.group(1)
    raise Unknown("no table %s in %s" % (name, folder))


def table(folder, name, first="value"):
    """{number: name} of an array whose rows begin with a number and have one text."""
    rows = re.findall(r"\{\s*(?:\.%s\s*=\s*)?(0x[0-9a-fA-F]+|\d+)\s*,[^\"{}]*\"(\w+(?:\.\w+)*)\"" % first, array(folder, name))
    if not rows:
        raise Unknown("table %s has no rows" % name)
    return {int(number, 0): word for number, word in rows}


def tables_of_codes(folder):
    out = {}
    for group in ("system", "changes", "users", "messages", "streams", "groups"):
        out.update(table(folder, "iggy_commands_" + group, "code"))
    return out


# --- the comparison ------------------------------------------------------------------------------------------------------
def compare(kind, published, known):
    """Lines about one kind; whether something is missing or changed."""
    missing = sorted(set(published) - set(known))
    changed = sorted(number for number in set(published) & set(known) if published[number] != known[number])
    kept = sorted(set(known) - set(published))
    print("%s: %d published, %d missing, %d changed" % (kind, len(published), len(missing), len(changed)))
    for number in missing:
        print("    missing: %d %s" % (number, published[number]))
    for number in changed:
        print("    changed: %d is %s, the table says %s" % (number, published[number], known[number]))
    if kept:
        print("    kept, no longer published: " + ", ".join("%d %s" % (number, known[number]) for number in kept))
    return bool(missing or changed)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--protocol", type=Path, help="sources of iggy_binary_protocol instead of the newest")
    parser.add_argument("--common", type=Path, help="sources of iggy_common instead of the newest")
    parser.add_argument("--plugin", type=Path, default=TOP / "plugin", help="folder of the plugin's sources")
    arguments = parser.parse_args()
    try:
        protocol_version, protocol = given(arguments.protocol) if arguments.protocol else newest("iggy_binary_protocol")
        common_version, common = given(arguments.common) if arguments.common else newest("iggy_common")
        print("iggy_binary_protocol %s, iggy_common %s" % (protocol_version, common_version))
        plugin = arguments.plugin
        drift = [
            compare("command codes", codes(protocol), tables_of_codes(plugin)),
            compare("operations", enumeration(protocol, "Operation"), table(plugin, "iggy_operations")),
            compare("header commands", enumeration(protocol, "Command"), table(plugin, "iggy_command_vals")),
            compare("eviction reasons", enumeration(protocol, "EvictionReason"), table(plugin, "iggy_reason_vals")),
            compare("error codes", enumeration(common, "IggyError"), table(plugin, "iggy_error_vals")),
            compare("protocol version", version(protocol), table(plugin, "iggy_version_vals")),
        ]
    except (Unknown, OSError) as reason:
        print("drift.py: %s" % reason, file=sys.stderr)
        return 2
    print("Drift: the tables lag behind" if any(drift) else "No drift")
    return 1 if any(drift) else 0


if __name__ == "__main__":
    sys.exit(main())
