#!/usr/bin/env python3
# docs/fields.md: every filter name of the plugin, as Wireshark has it registered.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints the field reference, from `tshark -G fields` and `tshark -G values`.

    tools/field_reference.py > docs/fields.md

tshark runs by tools/tshark.sh, so the plugin has to be built; IGGY_BUILD_DIR says where if not in build/.
"""

import collections
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent

TYPES = {
    "FT_NONE": "label", "FT_PROTOCOL": "protocol", "FT_BOOLEAN": "boolean", "FT_UINT8": "unsigned, 1 byte",
    "FT_UINT16": "unsigned, 2 bytes", "FT_UINT24": "unsigned, 3 bytes", "FT_UINT32": "unsigned, 4 bytes",
    "FT_UINT64": "unsigned, 8 bytes", "FT_INT8": "signed, 1 byte", "FT_INT16": "signed, 2 bytes",
    "FT_INT32": "signed, 4 bytes", "FT_INT64": "signed, 8 bytes", "FT_FLOAT": "float", "FT_DOUBLE": "double",
    "FT_ABSOLUTE_TIME": "date and time", "FT_RELATIVE_TIME": "duration", "FT_STRING": "text", "FT_STRINGZ": "text",
    "FT_BYTES": "bytes", "FT_GUID": "16 bytes, GUID", "FT_FRAMENUM": "packet number", "FT_IPv4": "IPv4 address",
    "FT_IPv6": "IPv6 address",
}

HEAD = """# Fields

Every name that can be used in a display filter, a column, `-e` of tshark or an I/O graph. Made by
`tools/field_reference.py` from what the plugin registers; not written by hand.

A field with words has numbers on the wire; filters take both (`iggy.code == "send_messages"`, `iggy.code == 101`). The words
stand below the tables. Expert items (`iggy.expert.*`) can be filtered like fields.
"""


def ask(what):
    """Lines of tshark -G, split at tabs."""
    run = subprocess.run([str(HERE / "tshark.sh"), "-G", what], stdout=subprocess.PIPE, text=True, check=True)
    return [line.split("\t") for line in run.stdout.split("\n") if line]


def ours(name):
    return name == "iggy" or name.startswith("iggy.")


def words():
    """{field: [(number, word)]}"""
    out = collections.defaultdict(list)
    for row in ask("values"):
        if row[0] == "V" and ours(row[1]):
            out[row[1]].append((int(row[2], 0), row[3]))
    return out


def fields():
    """Sorted (name, label, type, description) of all fields; names that stand twice, once."""
    out = {}
    for row in ask("fields"):
        if row[0] == "F" and ours(row[2]):
            out.setdefault(row[2], (row[2], row[1], TYPES.get(row[3], row[3]), row[7] if len(row) > 7 else ""))
    return [out[name] for name in sorted(out)]


def section_of(name):
    """The second part of a name where several fields share it."""
    parts = name.split(".")
    return parts[1] if len(parts) > 2 else ""


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")


def tables(all_fields, with_words):
    groups = collections.defaultdict(list)
    for field in all_fields:
        groups[section_of(field[0])].append(field)
    for name, group in list(groups.items()):  # a field whose name is that of a group leads it
        if name:
            group[:0] = [field for field in groups[""] if field[0] == "iggy." + name]
    for name in sorted(groups):
        print("\n## %s\n" % ("iggy.%s" % name if name else "Of all frames"))
        print("| field | in the tree | type | meaning |\n|---|---|---|---|")
        for field, label, kind, meaning in groups[name]:
            if name == "" and field != "iggy" and field[5:] in groups:
                continue
            link = " ([words](#words-of-%s))" % field.replace(".", "") if field in with_words else ""
            print("| `%s` | %s | %s%s | %s |" % (field, cell(label), kind, link, cell(meaning)))


def main():
    all_fields, all_words = fields(), words()
    print(HEAD, end="")
    tables(all_fields, all_words)
    print("\n# Words")
    same = collections.defaultdict(list)
    for field, pairs in sorted(all_words.items()):
        same[tuple(pairs)].append(field)
    for pairs, names in same.items():
        for name in names:
            print("\n## Words of %s" % name)
        print("\n" + ", ".join("%d `%s`" % (number, cell(word)) for number, word in pairs))


if __name__ == "__main__":
    sys.exit(main())
