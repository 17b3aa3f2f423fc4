# The committed list of all field names, and rules that names keep.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/field_names.txt has every filter name with its type, so that a change of names shows in a review.

It is written anew by:

    IGGY_BUILD_DIR=build python3 tests/test_names_list.py > tests/field_names.txt
"""

import collections
import re

from conftest import HERE, Tshark

LIST = HERE / "field_names.txt"
NAME = re.compile(r"iggy(\.[a-z][a-z0-9]*(_[a-z0-9]+)*)+$")


def names(tshark):
    """Sorted lines `name<TAB>type` of what tshark has registered."""
    lines = []
    for line in tshark.run(["-G", "fields"]).split("\n"):
        parts = line.split("\t")
        if parts[0] == "F" and (parts[2] == "iggy" or parts[2].startswith("iggy.")):
            lines.append("%s\t%s" % (parts[2], parts[3]))
    return sorted(lines)


def test_list_is_complete(tshark):
    assert names(tshark) == LIST.read_text().splitlines()


def test_names_are_well_made(tshark):
    odd = [line for line in names(tshark) if not NAME.match(line.split("\t")[0])]
    assert odd == []


def test_no_names_differ_in_dots_alone(tshark):
    """-T ek turns dots into underscores: such names would be one there."""
    groups = collections.defaultdict(set)
    for line in names(tshark):
        name = line.split("\t")[0]
        groups[name.replace(".", "_")].add(name)
    assert [same for same in groups.values() if len(same) > 1] == []


def test_promised_names_exist(tshark):
    """Names that documentation and filters rely on, with their types."""
    promised = {
        "iggy.size": "FT_UINT32", "iggy.command": "FT_UINT8", "iggy.operation": "FT_UINT8", "iggy.request": "FT_UINT64",
        "iggy.code": "FT_UINT32", "iggy.error": "FT_UINT32", "iggy.session": "FT_UINT64", "iggy.client": "FT_GUID",
        "iggy.cluster": "FT_GUID", "iggy.view": "FT_UINT32", "iggy.op": "FT_UINT64", "iggy.commit": "FT_UINT64",
        "iggy.status": "FT_UINT32", "iggy.version": "FT_UINT32", "iggy.response_in": "FT_FRAMENUM",
        "iggy.response_to": "FT_FRAMENUM", "iggy.response_time": "FT_RELATIVE_TIME", "iggy.stream.name": "FT_STRING",
        "iggy.stream.id": "FT_UINT32", "iggy.topic.name": "FT_STRING", "iggy.partition.id": "FT_UINT64",
        "iggy.consumer_group.name": "FT_STRING", "iggy.user.name": "FT_STRING", "iggy.message.offset": "FT_UINT64",
        "iggy.message.payload": "FT_BYTES", "iggy.messages_count": "FT_UINT64", "iggy.eviction.reason": "FT_UINT8",
    }
    have = dict(line.split("\t") for line in names(tshark))
    assert {name: have.get(name) for name in promised} == promised


if __name__ == "__main__":
    runner = Tshark()
    print("\n".join(names(runner)))
    runner.close()
