# Metadata changes: requests and replies of get_metadata_changes (commands.md 4, code 17).
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Bodies made here: records and items of every kind, pages, cursors; what the codec wrote: test_commands_system_messages.py."""

import struct

import pytest

from synth import ident, name, u8, u32, u64
from test_commands_system_messages import CLIENT, Session
from test_commands_users_streams_groups import times

U16 = struct.Struct("<H").pack
CURSOR = bytes(range(16)) + u64(77) + bytes(range(16, 32)) + u32(3)


def token(group, key):
    return CURSOR + u64(99) + u8(0x85) + u8(group) + U16(len(key)) + key


def changes_request(start=0, cursor=bytes(44), since=None, until=None, limit=100, groups=b"", page=b""):
    return (u8(start) + cursor + (b"\0" if since is None else b"\1" + u64(since)) +
            (b"\0" if until is None else b"\1" + u64(until)) + u32(limit) + u8(len(groups)) + groups + U16(len(page)) + page)


def changes_reply(records=(), items=(), page=b"", following=None):
    return (u8(0) + u8(1 if items else 0) + u8(1) + bytes(range(16)) + u64(1) + u64(1_700_000_000_000_000) + u64(80) +
            (b"\0" if following is None else b"\1" + following) + u8(0) + u32(len(records)) + b"".join(records) +
            u32(len(items)) + b"".join(items) + U16(len(page)) + page)


def record(group, kind, body, actor=None):
    return (u64(50) + u32(0) + bytes(16) + u64(1_700_000_000_000_000) + (b"\0" if actor is None else b"\1" + u32(actor)) +
            u8(group) + u8(kind) + u32(len(body)) + body)


STREAM_KEY, TOPIC_KEY = u32(1) + u64(10), u32(1) + u64(10) + u32(2) + u64(11)
USER_KEY, NO_OPTIONS = u32(5) + u64(1_600_000_000_000_000), u8(0) + u32(0) + u32(0)
PERMISSIONS = bytes([0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 0])
BODIES = {
    1: (1, STREAM_KEY + u64(7) + name("s") + NO_OPTIONS, {"stream.name": "s"}),
    2: (1, STREAM_KEY + u64(7) + name("s") + u8(1), {"change.options_state": "1"}),
    3: (1, STREAM_KEY + u64(7) + name("s") + u8(1) + u64(33), {"change.requested_op": "33"}),
    10: (2, TOPIC_KEY + u64(7) + name("t") + u32(12) + NO_OPTIONS, {"topic.name": "t", "partitions_count": "12"}),
    11: (2, TOPIC_KEY + u64(7) + name("t") + u32(12) + NO_OPTIONS, {"change.topic_created_op": "11"}),
    12: (2, TOPIC_KEY + u64(7) + name("t") + u8(0), {"change.has_requested_op": "0"}),
    20: (3, TOPIC_KEY + u32(4) + u32(2) + u32(4) + u32(5) + u8(0), {"change.removed_count": "2"}),
    30: (4, TOPIC_KEY + u32(8) + name("g") + u32(1), {"consumer_group.name": "g", "consumer_group.id": "8"}),
    31: (4, TOPIC_KEY + u32(8) + name("g") + u32(1) + u8(1) + u64(34), {"change.requested_op": "34"}),
    40: (5, TOPIC_KEY + u32(8) + u32(21) + CLIENT + u32(2) + u32(1) + u32(0), {"consumer_group.member.id": "21"}),
    41: (5, TOPIC_KEY + u32(8) + u32(21) + CLIENT + u32(2) + u8(1), {"change.leave_reason": "1"}),
    42: (5, TOPIC_KEY + u32(8) + u32(6) + u8(1) + u32(22), {"consumer_group.member.id": "22", "partition.id": "6"}),
    50: (6, USER_KEY + name("u") + u8(1) + u8(1) + PERMISSIONS + NO_OPTIONS, {"permission.read_servers": "1"}),
    51: (6, USER_KEY + name("u") + u8(2) + u8(0) + NO_OPTIONS, {"user.status": "2"}),
    52: (6, USER_KEY + name("u"), {"user.name": "u"}),
    53: (6, USER_KEY + name("u"), {"user.id": "5"}),
    54: (6, USER_KEY + name("u") + u8(0) + u8(1), {"change.permissions_reason": "1"}),
    60: (7, USER_KEY + name("p") + u64(0), {"token.name": "p"}),
    61: (7, USER_KEY + name("p") + u8(1), {"change.token_reason": "1"}),
    70: (8, USER_KEY + CLIENT + u64(44), {"session": "44"}),
    71: (8, USER_KEY + CLIENT + u64(44) + u8(2), {"change.session_reason": "2"}),
}


@pytest.mark.parametrize("kind", sorted(BODIES))
def test_records_of_every_kind(tshark, tmp_path, kind):
    group, body, wanted = BODIES[kind]
    session = Session("0.12.2")
    packet = session.exchange(17, changes_request(), changes_reply([record(group, kind, body, actor=3)], following=CURSOR))
    values = session.frame(tshark, tmp_path, packet)
    for field, want in wanted.items():
        assert {"True": "1", "False": "0"}.get(values["iggy." + field][-1], values["iggy." + field][-1]) == want, field
    assert values["iggy.change.kind"] == [str(kind)] and values["iggy.change.actor"] == ["3"]
    assert values["iggy.change.cursor.op"] == ["77"]
    assert not [one for one in values if one.startswith("iggy.expert")]
    assert "iggy.change.body" not in values and "iggy.extra" not in values


@pytest.mark.parametrize("kind", sorted(BODIES))
def test_records_that_do_not_fill_their_body(tshark, tmp_path, kind):
    """A byte too many is extra data, a byte too few no fit; the record after it is read all the same."""
    group, body, _ = BODIES[kind]
    session = Session("0.12.2")
    follower = record(6, 52, USER_KEY + name("follower"))
    long = session.exchange(17, changes_request(), changes_reply([record(group, kind, body + b"\0"), follower]))
    short = session.exchange(17, changes_request(), changes_reply([record(group, kind, body[:-1]), follower]))
    values = session.frame(tshark, tmp_path, long)
    assert values["iggy.extra"] == ["00"] and values["iggy.user.name"][-1] == "follower"
    values = session.frame(tshark, tmp_path, short)
    assert len(values["iggy.expert.layout"]) == 1 and values["iggy.user.name"][-1] == "follower"


@pytest.mark.parametrize("group, kind, expert", [(9, 90, "change_unknown"), (1, 99, "change_unknown"), (2, 1, "change_group")])
def test_unknown_records(tshark, tmp_path, group, kind, expert):
    session = Session("0.12.2")
    packet = session.exchange(17, changes_request(), changes_reply([record(group, kind, b"\xaa\xbb"),
                                                                    record(6, 52, USER_KEY + name("u"))]))
    values = session.frame(tshark, tmp_path, packet)
    assert values["iggy.change.body"] == ["aa:bb"] and len(values["iggy.expert." + expert]) == 1
    assert values["iggy.user.name"] == ["u"] and "iggy.expert.layout" not in values


ITEMS = {1: BODIES[1][1], 2: TOPIC_KEY + u64(7) + name("t") + NO_OPTIONS, 3: TOPIC_KEY + u32(4),
         4: TOPIC_KEY + u32(8) + name("g"), 5: TOPIC_KEY + u32(8) + u32(21) + CLIENT + u32(1) + u32(0), 6: BODIES[50][1],
         7: BODIES[60][1], 8: BODIES[70][1]}


@pytest.mark.parametrize("group", sorted(ITEMS))
def test_items_of_every_group(tshark, tmp_path, group):
    session = Session("0.12.2")
    item = u8(group) + u32(len(ITEMS[group])) + ITEMS[group]
    unknown = u8(200) + u32(3) + b"abc"
    values = session.frame(tshark, tmp_path, session.exchange(17, changes_request(3), changes_reply(items=[item, unknown, item])))
    assert values["iggy.change.group"] == [str(group), "200", str(group)]
    assert values["iggy.change.body"] == ["61:62:63"] and len(values["iggy.expert.change_unknown"]) == 1
    assert "iggy.expert.layout" not in values and "iggy.extra" not in values


@pytest.mark.parametrize("records, items, phase, bad", [(1, 0, 0, False), (0, 1, 1, False), (1, 0, 1, True), (0, 1, 0, True)])
def test_phases(tshark, tmp_path, records, items, phase, bad):
    body = bytearray(changes_reply([record(6, 52, USER_KEY + name("u"))] * records,
                                   [u8(3) + u32(len(ITEMS[3])) + ITEMS[3]] * items))
    body[1] = phase
    session = Session("0.12.2")
    values = session.frame(tshark, tmp_path, session.exchange(17, changes_request(), bytes(body)))
    assert ("iggy.expert.change_phase" in values) == bad


def test_names_learnt_from_what_is_now(tshark, tmp_path, two_pass):
    """The items of the current phase name streams, topics, groups and users for later frames; records of the past do not."""
    session = Session("0.12.2")
    items = [u8(group) + u32(len(ITEMS[group])) + ITEMS[group] for group in (1, 2, 4, 6)]
    session.exchange(17, changes_request(3), changes_reply(items=items))
    session.exchange(17, changes_request(), changes_reply([record(1, 1, u32(77) + u64(1) + u64(7) + name("old") + NO_OPTIONS)]))
    known = session.ask(120, u8(2) + ident(8) + ident(1) + ident(2) + u8(1) + u32(0))
    unknown = session.ask(120, u8(1) + ident(8) + ident(77) + ident(2) + u8(1) + u32(0))
    values = session.frame(tshark, tmp_path, known, two_pass=two_pass)
    assert values["iggy.stream.name"] == ["s"] and values["iggy.topic.name"] == ["t"]
    assert values["iggy.consumer_group.name"] == ["g"]
    assert "iggy.stream.name" not in session.frame(tshark, tmp_path, unknown, two_pass=two_pass)


@pytest.mark.parametrize("limit, bad", [(1, False), (1000, False), (0, True), (1001, True)])
def test_limit_of_a_page(tshark, tmp_path, limit, bad):
    session = Session("0.12.2")
    values = session.frame(tshark, tmp_path, session.ask(17, changes_request(limit=limit)))
    assert ("iggy.expert.range" in values) == bad


KEYS = {1: u32(1), 2: u32(1) + u32(2), 3: u32(1) + u32(2), 4: u32(1) + u32(2) + u32(3), 5: u32(1) + u32(2) + u32(3) + u32(4),
        6: u32(5), 7: u32(5) + name("token"), 8: u64(6), 40: b"\xde\xad"}


@pytest.mark.parametrize("group", sorted(KEYS))
def test_page_tokens(tshark, tmp_path, group):
    session = Session("0.12.2")
    packet = session.ask(17, changes_request(3, since=5, until=6, groups=b"\x01\x08", page=token(group, KEYS[group])))
    values = session.frame(tshark, tmp_path, packet)
    assert times(values["iggy.change.since"]) == [5] and times(values["iggy.change.until"]) == [6]
    assert values["iggy.change.group"] == ["1", "8", str(group)]
    assert values["iggy.change.token.required_head"] == ["99"]
    assert values["iggy.change.token.key.length"] == [str(len(KEYS[group]))]
    mask = "iggy.change.token.groups_mask."
    assert [field[len(mask):] for field, shown in values.items() if field.startswith(mask) and shown[0] in ("True", "1")] == [
        "streams", "partitions", "sessions"]
    if group == 40:
        assert values["iggy.change.body"] == ["de:ad"]
    elif group == 7:
        assert values["iggy.token.name"] == ["token"]
    elif group == 5:
        assert values["iggy.consumer_group.member.id"] == ["4"] and values["iggy.consumer_group.id"] == ["3"]
    assert "iggy.expert.layout" not in values


def test_unused_cursor_that_is_not_zero(tshark, tmp_path):
    session = Session("0.12.2")
    bad = session.ask(17, changes_request(0, cursor=CURSOR))
    good = session.ask(17, changes_request(2, cursor=CURSOR))
    assert session.frame(tshark, tmp_path, bad)["iggy.expert.reserved_enforced"]
    values = session.frame(tshark, tmp_path, good)
    assert values["iggy.change.cursor.op"] == ["77"] and "iggy.expert.reserved_enforced" not in values


@pytest.mark.parametrize("start, page, bad", [(3, True, False), (0, True, True), (1, True, True), (0, False, False)])
def test_a_page_token_goes_with_what_is_current(tshark, tmp_path, start, page, bad):
    session = Session("0.12.2")
    packet = session.ask(17, changes_request(start, page=token(1, u32(1)) if page else b""))
    values = session.frame(tshark, tmp_path, packet)
    assert ("iggy.change.token.required_head" in values) == page
    assert ("iggy.expert.range" in values) == bad
