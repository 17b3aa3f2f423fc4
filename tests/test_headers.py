# Headers: every value of the codec by its filter name, names of numbers, reserved bytes, and what receivers test.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Truth: the codec's expected values, and framing.md 3 by hand: which bytes are reserved, which frames a receiver refuses."""

import collections
import json
import struct
import uuid

import pytest

from conftest import CAPTURES
from synth import LAYOUTS, Capture, frame, ident, name, reply, request, u32, u64

CODEC = ["client-0.11.0", "client-0.12.0", "client-0.12.1", "client-0.12.2",
         "replica-0.11.0", "replica-0.12.0", "replica-0.12.2"]

# Codec's header field -> filter name, and how it is shown. Only the names that are not their own.
NAMES = {
    "artifact": "iggy.artifact.index", "group": "iggy.consensus_group", "namespace": "iggy.consensus_group",
    "len": "iggy.chunk.length", "offset": "iggy.chunk.offset", "user_id": "iggy.acting_user",
    "minimum_metadata_op": "iggy.context.minimum_metadata_op", "owner_generation": "iggy.context.owner_generation",
    "partition_incarnation": "iggy.context.partition_incarnation", "reason": "iggy.eviction.reason",
    "server_protocol_version": "iggy.eviction.server_protocol_version",
    "server_protocol_version_min": "iggy.eviction.server_protocol_version_min",
    "reserved.code": "iggy.code", "reserved.committed_result": "iggy.committed_result",
}
BY_COMMAND = {
    (33, "kind"): "iggy.rebalance.kind", (34, "kind"): "iggy.segment_delete.kind", (36, "kind"): "iggy.progress.kind",
    (36, "nonce"): "iggy.progress.nonce", (27, "outcome"): "iggy.forward_register.outcome",
    (29, "outcome"): "iggy.forward_logout.outcome",
}
GUIDS = {"cluster", "client", "incarnation"}
HEX = {"checksum", "checksum_body", "context", "request_checksum", "parent", "prepare_checksum", "commit_checksum", "nonce",
       "nack_bitset", "present_bitset"}


def filter_of(command, field):
    return BY_COMMAND.get((command, field)) or NAMES.get(field) or "iggy." + field


def shown_as(field, value):
    """What -T pdml shows for a value of this field."""
    if value.get("type") == "u128":
        raw = int(value["value"]).to_bytes(16, "little")
        if field in GUIDS:
            return str(uuid.UUID(bytes=raw))
        return ":".join("%02x" % byte for byte in raw)
    return int(value["value"])


def same(shown, wanted, field):
    if isinstance(wanted, str):
        return shown.replace(":", "") == wanted.replace(":", "") if field in HEX else shown == wanted
    try:
        return int(shown, 0) == wanted
    except ValueError:
        return False


def number_at(element, field):
    """Numbers of the fields of this name that are not generated, from the bytes."""
    out = []
    for one in element.iter("field"):
        if one.get("name") == field and one.get("size") != "0":
            out.append((one.get("show"), one.get("value"), one.get("pos")))
    return out


@pytest.mark.parametrize("capture", CODEC)
def test_header_values_by_name(tshark, capture):
    expected = [json.loads(line) for line in open(CAPTURES / ("codec/%s.expected.jsonl" % capture))]
    frames = tshark.frames("codec/%s.pcap" % capture)
    assert [(one.packet, int(one.values["iggy.size"][0])) for one in frames] == [(p["frame"], p["size"]) for p in expected]
    tested = 0
    for pdu, one in zip(expected, frames):
        start = int(one.element.get("pos"))
        for value in pdu["values"]:
            if not value["name"].startswith("header.") or value.get("role") == "opaque":
                continue
            field = value["name"][len("header."):]
            wanted = shown_as(field, value)
            place = str(start + value["offset"])
            at_place = [(show, raw) for show, raw, pos in number_at(one.element, filter_of(pdu["command"], field)) if pos == place]
            assert at_place, (pdu["pdu"], value)
            show, raw = at_place[0]
            if field == "timestamp":  # a time: compare the bytes, the text is tested apart
                assert int.from_bytes(bytes.fromhex(raw), "little") == wanted, (pdu["pdu"], value)
            else:
                assert same(show, wanted, field), (pdu["pdu"], value, show)
            tested += 1
    assert tested > 300 or capture == "client-0.12.1"


def one_connection(tmp_path, frames, replica=False):
    """A capture with a packet for each (side, frame); packet numbers of the frames."""
    capture = Capture()
    connection = capture.connection(server_port=9090 if replica else 8090)
    if replica:
        connection.client(frame(14, cluster=CLUSTER, replica=0))
    numbers = [connection.send(side, data) for side, data in frames]
    return capture.write(tmp_path / "made.pcap"), numbers


CLUSTER = bytes.fromhex("21bb05c88727bab88d0ec27be8a72d46")
METADATA = 1 << 63
CLIENT = 0x80000000000040000000000000000001


def sealed(command, body=b"", **values):
    """A frame between servers."""
    return frame(command, body, cluster=CLUSTER, **values)


# --- reserved bytes ---------------------------------------------------------------------------------------------------
# Per command a reserved byte of version 0.12.2, and whether the receiver rejects the frame (RZ in framing.md 3).
RESERVED = [
    (6, 62, True), (6, 127, True), (6, 240, True), (6, 209, False), (7, 62, False), (7, 193, False), (7, 255, False),
    (9, 184, False), (9, 255, False), (10, 144, False), (11, 157, False), (11, 215, False), (12, 160, False), (12, 239, False),
    (14, 193, False), (14, 255, False), (17, 144, False), (17, 239, False), (18, 176, False), (19, 62, True), (19, 247, True),
    (20, 168, False), (21, 255, False), (22, 160, False), (23, 162, False), (23, 184, False), (24, 176, False), (25, 164, False),
    (25, 247, False), (26, 164, True), (26, 255, True), (26, 62, False), (27, 176, True), (27, 254, True), (28, 176, True),
    (28, 255, True), (29, 168, True), (29, 254, True), (30, 62, True), (30, 129, True), (30, 247, True), (31, 129, True),
    (32, 131, True), (32, 255, True), (33, 183, True), (33, 255, True), (34, 62, True), (34, 181, True), (35, 152, False),
    (35, 255, False), (36, 186, False), (36, 255, False),
]
GROUPS = {command for command, layout in LAYOUTS.items() if "group" in layout}
GOOD = {  # values that pass the tests of a receiver
    6: dict(op=1, operation=128, client=CLIENT, group=METADATA), 19: dict(op=1, operation=128, client=CLIENT, group=METADATA),
    7: dict(op=1, operation=128), 18: dict(nonce=1, from_op=1, to_op=1), 20: dict(nonce=1, op=1), 21: dict(nonce=1, op=1),
    22: dict(nonce=1), 23: dict(nonce=1), 24: dict(nonce=1, len=1), 25: dict(nonce=1),
    26: dict(client=CLIENT, nonce=1), 27: dict(client=CLIENT, nonce=1), 28: dict(client=CLIENT, nonce=1, session=1, request=1),
    29: dict(client=CLIENT, nonce=1), 32: dict(operation=67),
    33: dict(nonce=1, quorum_age_ns=(1 << 64) - 1, kind=1), 34: dict(nonce=1, namespace=METADATA, created_revision=1),
    36: dict(nonce=1),
}
BODIES = {6: name("s"), 19: name("s"), 25: b"chunk", 30: u64(1) + u64(2) + u64(3),
          32: ident(1) + ident(2) + u32(3) + bytes(56) + u64(4)}


def good(command, **other):
    values = dict(GOOD.get(command, {}))
    if command in GROUPS:
        values.setdefault("group", METADATA)
    values.update(other)
    body = values.pop("body", BODIES.get(command, b""))
    return sealed(command, body, **values)


def reseal(data):
    """The same frame with its seal or identity made anew."""
    import synth
    header = bytearray(data[:256])
    header[0:16] = bytes(16)
    seal = synth.identity(header) if header[60] in (6, 19) else synth.seal(header)
    header[0:8] = struct.pack("<Q", seal)
    return bytes(header) + data[256:]


def with_byte(data, offset, value):
    changed = bytearray(data)
    changed[offset] = value
    return reseal(bytes(changed))


def test_reserved_bytes(tshark, tmp_path):
    frames = [("client", with_byte(good(command), offset, 0xA5)) for command, offset, _ in RESERVED]
    path, numbers = one_connection(tmp_path, frames, replica=True)
    rows = tshark.fields(path, ["frame.number", "iggy.command", "iggy.reserved", "iggy.expert.reserved",
                                "iggy.expert.reserved_enforced"], "-o", "iggy.default_version:0.12.2", "-Y", "iggy")
    found = {int(row[0][0]): row for row in rows}
    for number, (command, offset, rejected) in zip(numbers, RESERVED):
        row = found[number]
        assert row[1] == [str(command)], (command, offset)
        assert len(row[2]) == 1 and "a5" in row[2][0], (command, offset, row)
        assert (len(row[3]), len(row[4])) == ((0, 1) if rejected else (1, 0)), (command, offset, row)


def test_no_reserved_item_where_zero(tshark, tmp_path):
    frames = [("client", good(command)) for command in sorted(set(command for command, _, _ in RESERVED))]
    path, _ = one_connection(tmp_path, frames, replica=True)
    assert tshark.fields(path, ["frame.number", "iggy.command"], "-o", "iggy.default_version:0.12.2", "-Y",
                         "iggy.reserved || iggy.expert.reserved || iggy.expert.reserved_enforced") == []


# --- what receivers test ----------------------------------------------------------------------------------------------
ONES = (1 << 64) - 1
# (name of the expert item, frame, the same frame as it should be)
REPLICA_CHECKS = [
    ("size_rule", good(9, body=b"x"), good(9)),
    ("field_not_zero", good(10, release=1), good(10)),
    ("field_not_zero", good(11, release=1), good(11)),
    ("order", good(11, view=4, log_view=5), good(11, view=5, log_view=5)),
    ("order", good(11, op=4, commit=5), good(11, op=5, commit=5)),
    ("size_rule", good(11, body=bytes(255)), good(11)),
    ("out_of_range", good(11, nack_bitset=1), good(11)),
    ("out_of_range", good(11, present_bitset=1 << 127), good(11)),
    ("out_of_range", good(11, flags=2), good(11, flags=1)),
    ("field_not_zero", good(12, release=1), good(12)),
    ("order", good(12, op=4, commit=5), good(12, op=5, commit=4)),
    ("size_rule", good(12, body=bytes(300)), good(12)),
    ("handshake_invalid", sealed(14, replica=32), sealed(14, replica=31)),
    ("field_not_zero", good(17, release=9), good(17)),
    ("field_zero", good(18, from_op=0, to_op=0), good(18)),
    ("order", good(18, from_op=3, to_op=2), good(18, from_op=2, to_op=3)),
    ("size_rule", good(22, body=b"x"), good(22)),
    ("out_of_range", good(23, available=2, body=b"ISM1"), good(23)),
    ("out_of_range", good(23, unavailable_transient=2), good(23, unavailable_transient=1)),
    ("size_rule", good(23, body=b"x"), good(23)),
    ("field_not_zero", good(23, available=1, unavailable_transient=1,
                            body=b"ISM1" + u32(0) + b"\x19" + bytes(8)), good(23)),
    ("size_rule", good(24, body=b"x"), good(24)),
    ("field_zero", good(24, len=0), good(24)),
    ("field_zero", good(26, client=0), good(26)),
    ("field_zero", good(26, nonce=0), good(26)),
    ("size_rule", good(26, body=bytes(39)), good(26, body=bytes(40))),
    ("size_rule", good(27, body=b"x"), good(27)),
    ("field_zero", good(27, nonce=0), good(27)),
    ("field_zero", good(27, client=0), good(27)),
    ("field_not_zero", good(27, outcome=1, epoch=1), good(27, outcome=0, epoch=1)),
    ("field_not_zero", good(27, outcome=5, watermark=1), good(27, outcome=0, watermark=1)),
    ("out_of_range", good(27, outcome=8), good(27, outcome=7)),
    ("size_rule", good(28, body=b"x"), good(28)),
    ("field_zero", good(28, client=0), good(28)),
    ("field_zero", good(28, nonce=0), good(28)),
    ("field_zero", good(28, session=0), good(28)),
    ("field_zero", good(28, request=0), good(28)),
    ("size_rule", good(29, body=b"x"), good(29)),
    ("field_zero", good(29, nonce=0), good(29)),
    ("field_zero", good(29, client=0), good(29)),
    ("field_not_zero", good(29, outcome=2, commit=7), good(29, commit=7)),
    ("out_of_range", good(29, outcome=7), good(29, outcome=6)),
    ("size_rule", good(30, body=bytes(23)), good(30)),
    ("out_of_range", good(30, incomplete=2), good(30, incomplete=1)),
    ("field_not_zero", good(30, release=1), good(30)),
    ("field_not_zero", good(30, namespace_revision=1), good(31, namespace_revision=1)),
    ("size_rule", good(31, body=bytes(25)), good(31, body=bytes(24))),
    ("out_of_range", good(31, incomplete=2), good(31)),
    ("field_not_zero", good(31, release=1), good(31)),
    ("out_of_range", good(32, operation=70), good(32)),
    ("size_rule", good(32, operation=71, body=bytes(16)), good(32, operation=71, body=u64(1) + u32(0) + u32(1) + bytes(16))),
    ("size_rule", good(32, body=BODIES[32] + b"x"), good(32)),
    ("field_not_zero", good(32, release=1), good(32)),
    ("field_not_zero", good(32, reporter=1), good(32, operation=71, reporter=1, body=u64(1) + u32(0) + u32(1) + bytes(16))),
    ("size_rule", good(33, body=bytes(59)), good(33, body=bytes(60))),
    ("size_rule", good(33, kind=2, created_revision=1, body=bytes(60)), good(33, kind=2, created_revision=1)),
    ("field_not_zero", good(33, checksum_body=1), good(33)),
    ("field_not_zero", good(33, release=1), good(33)),
    ("field_zero", good(33, nonce=0), good(33)),
    ("field_not_zero", good(33, namespace=1), good(33, kind=3, created_revision=1, namespace=1)),
    ("field_not_zero", good(33, created_revision=1), good(33, kind=3, created_revision=1)),
    ("field_zero", good(33, kind=6), good(33, kind=6, created_revision=1)),
    ("field_not_zero", good(33, kind=1, commit=1), good(33, kind=0, commit=1)),
    ("out_of_range", good(33, kind=1, quorum_age_ns=5), good(33, kind=0, quorum_age_ns=5)),
    ("field_not_zero", good(33, partition_view=1), good(33, kind=3, created_revision=1, partition_view=1)),
    ("out_of_range", good(33, kind=7), good(33)),
    ("out_of_range", good(33, ready=2), good(33, ready=1)),
    ("field_not_zero", good(33, kind=0, ready=1), good(33, kind=1, ready=1)),
    ("field_not_zero", good(33, target=1), good(33, kind=6, created_revision=1, target=1)),
    ("size_rule", good(34, body=b"x"), good(34)),
    ("field_not_zero", good(34, checksum_body=1), good(34)),
    ("field_not_zero", good(34, release=1), good(34)),
    ("field_zero", good(34, nonce=0), good(34)),
    ("field_zero", good(34, created_revision=0), good(34)),
    ("field_not_zero", good(34, kind=2, up_to_offset=1), good(34, kind=1, up_to_offset=1)),
    ("size_rule", good(35, body=b"x"), good(35)),
    ("field_not_zero", good(35, release=1), good(35)),
    ("size_rule", good(36, body=b"x"), good(36)),
    ("field_not_zero", good(36, release=1), good(36)),
    ("out_of_range", good(36, kind=2), good(36, kind=1)),
    ("out_of_range", good(36, ready=2), good(36, ready=1)),
    ("wrong_plane", reply(cluster=CLUSTER, operation=3, request=1), good(9)),
    ("wrong_plane", frame(13, client=1, reason=1), good(9)),
    ("unused_command", sealed(2), good(9)),
    ("group_invalid", good(9, group=1 << 52), good(9, group=(1 << 52) - 1)),
    ("group_invalid", good(9, group=METADATA | 1), good(9, group=METADATA)),
]
CLIENT_CHECKS = [
    ("client_zero", request(code=1, client=0, request=1), request(code=1, client=CLIENT, request=1)),
    ("operation_refused", request(operation=0, request=1), request(operation=2, code=1, request=1)),
    ("operation_refused", request(operation=200, request=1, session=1), request(operation=2, code=1, request=1)),
    ("operation_evicted", request(operation=64, request=1, session=1), request(operation=2, code=1, request=1)),
    ("operation_evicted", request(operation=166, request=1, session=1), request(operation=2, code=1, request=1)),
    ("request_numbers", request(name("s"), operation=128, request=0, session=1), request(name("s"), operation=128, request=1, session=1)),
    ("request_numbers", request(name("s"), operation=128, request=1, session=0), request(name("s"), operation=128, request=1, session=1)),
    ("request_numbers", request(operation=1, request=1), request(operation=2, code=1, request=1)),
    ("request_numbers", request(operation=1, session=1), request(operation=2, code=1, request=1)),
    ("wrong_plane", sealed(9, group=METADATA), request(operation=2, code=1, request=1)),
    ("unused_command", sealed(3), request(operation=2, code=1, request=1)),
]
EVICTION_CHECKS = [
    ("eviction_invalid", frame(13, client=0, reason=1), frame(13, client=1, reason=1)),
    ("eviction_invalid", frame(13, client=1, reason=0), frame(13, client=1, reason=15)),
    ("eviction_invalid", frame(13, client=1, reason=16), frame(13, client=1, reason=15)),
    ("eviction_invalid", frame(13, client=1, reason=14), frame(13, client=1, reason=14, server_protocol_version=0x2c00,
                                                               server_protocol_version_min=0x2c00)),
    ("eviction_invalid", frame(13, client=1, reason=14, server_protocol_version=0x2c00, server_protocol_version_min=0x3000),
     frame(13, client=1, reason=14, server_protocol_version=0x3000, server_protocol_version_min=0x2c00)),
    ("eviction_invalid", frame(13, client=1, reason=9, server_protocol_version=0x2c00), frame(13, client=1, reason=9)),
]
RULES = sorted({rule for rule, _, _ in REPLICA_CHECKS + CLIENT_CHECKS + EVICTION_CHECKS})


def broken_rules(tshark, path):
    """Packet -> names of the rules that its frames break."""
    columns = ["iggy.expert." + rule for rule in RULES]
    rows = tshark.fields(path, ["frame.number"] + columns, "-o", "iggy.default_version:0.12.2", "-Y", "iggy")
    return {int(row[0][0]): [rule for rule, values in zip(RULES, row[1:]) for _ in values] for row in rows}


@pytest.mark.parametrize("checks,side,replica", [(REPLICA_CHECKS, "client", True), (CLIENT_CHECKS, "client", False),
                                                 (EVICTION_CHECKS, "server", False)], ids=["replica", "client", "eviction"])
def test_receiver_checks(tshark, tmp_path, checks, side, replica):
    """A frame that breaks a rule says so, and that rule alone; the frame beside it that keeps the rule says nothing."""
    lead = [("client", request(code=1, request=1))] if not replica else []
    frames = lead + [(side, one) for _, bad, right in checks for one in (bad, right)]
    path, numbers = one_connection(tmp_path, frames, replica)
    found = broken_rules(tshark, path)
    numbers = numbers[len(lead):]
    for (rule, bad, right), first, second in zip(checks, numbers[0::2], numbers[1::2]):
        assert found[first] == [rule], (bad[60], rule, bad[128:256].hex(), found[first])
        assert found[second] == [], (right[60], rule, right[128:256].hex(), found[second])


def test_codec_frames_break_no_rule(tshark):
    for version in ("0.11.0", "0.12.0", "0.12.2"):
        rules = " || ".join("iggy.expert." + rule for rule in RULES if rule != "unused_command")
        assert tshark.fields("codec/client-%s.pcap" % version, ["frame.number"], "-Y", rules) == []
        assert tshark.fields("codec/replica-%s.pcap" % version, ["frame.number"], "-Y", rules) == []


# --- names, times, groups ---------------------------------------------------------------------------------------------
def test_numbers_have_names(tshark, tmp_path):
    frames = [("server", sealed(15, status=3)), ("client", good(27, outcome=6)), ("client", good(29, outcome=5)),
              ("client", good(33, kind=6, created_revision=1)), ("client", good(34, kind=2)), ("client", good(36, kind=1))]
    path, numbers = one_connection(tmp_path, frames, replica=True)
    wanted = ['iggy.handshake.status == "directional_rule"', 'iggy.forward_register.outcome == "client_id_owned_by_another_user"',
              'iggy.forward_logout.outcome == "request_too_old"', 'iggy.rebalance.kind == "primary_transfer"',
              'iggy.segment_delete.kind == "retry"', 'iggy.progress.kind == "reply"']
    for number, one in zip(numbers, wanted):
        rows = tshark.fields(path, ["frame.number"], "-Y", one, "-o", "iggy.default_version:0.12.2")
        assert rows == [[[str(number)]]], one


@pytest.mark.parametrize("word,packets", [("request", 77), ("reply", 77)])
def test_commands_by_name(tshark, word, packets):
    rows = tshark.fields("real/01_admin_rust.pcapng", ["frame.number"], "-Y", 'iggy.command == "%s"' % word)
    assert len(rows) == packets


def test_time_zero_is_not_1970(tshark, tmp_path):
    frames = [("client", request(code=1, request=1)), ("server", reply(request=1, timestamp=1_600_000_000_123_456))]
    path, numbers = one_connection(tmp_path, frames)
    text = tshark.verbose(path, "-Y", "iggy")
    assert "Timestamp: not set" in text and "1970" not in text
    assert "Timestamp: Sep 13, 2020 12:26:40.123456000 UTC" in text


def test_quorum_age_none(tshark, tmp_path):
    path, _ = one_connection(tmp_path, [("client", good(33)), ("client", good(33, kind=0, quorum_age_ns=5))], replica=True)
    text = tshark.verbose(path, "-Y", "iggy.quorum_age_ns")
    assert "Quorum age: none (18446744073709551615)" in text and "Quorum age: 5\n" in text


def test_group_is_taken_apart(tshark, tmp_path):
    group = 0xABCDE << 32 | 0x123 << 20 | 0x54321
    frames = [("client", good(9, group=group)), ("client", good(9, group=METADATA)), ("client", good(9, group=0)),
              ("client", good(33, namespace=0))]
    path, numbers = one_connection(tmp_path, frames, replica=True)
    rows = tshark.fields(path, ["frame.number", "iggy.consensus_group", "iggy.stream.id", "iggy.topic.id", "iggy.partition.id"],
                         "-Y", "iggy.consensus_group")
    assert [[values for values in row[1:]] for row in rows] == [
        [["0x%016x" % group], [str(0xABCDE)], [str(0x123)], [str(0x54321)]],
        [["0x%016x" % METADATA], [], [], []],
        [["0x%016x" % 0], ["0"], ["0"], ["0"]],
        [["0x%016x" % 0], [], [], []],
    ]
    assert [int(row[0][0]) for row in rows] == numbers


def test_routed_request(tshark, tmp_path):
    """The form between servers has a group, and from 0.12.0 on a watermark; clients' requests have reserved bytes there."""
    body = dict(operation=128, request=1, session=1, metadata_watermark=77, group=5)
    path, numbers = one_connection(tmp_path, [("client", request(name("s"), cluster=CLUSTER, **body))], replica=True)
    rows = tshark.fields(path, ["iggy.metadata_watermark", "iggy.consensus_group", "iggy.reserved"], "-Y", "iggy.command == 5")
    assert rows == [[["77"], ["0x0000000000000005"], []]]
    capture = Capture()
    connection = capture.connection()
    connection.client(request(code=1, request=1))
    connection.client(request(name("s"), **body))
    path = capture.write(tmp_path / "client.pcap")
    rows = tshark.fields(path, ["iggy.metadata_watermark", "iggy.consensus_group", "iggy.reserved"], "-Y", "iggy.operation == 128")
    assert [row[:2] for row in rows] == [[[], []]] and len(rows[0][2]) >= 1


def test_unknown_command_keeps_its_bytes(tshark, tmp_path):
    frames = [("client", request(code=1, request=1)), ("client", with_byte(request(code=1, request=2), 60, 99))]
    path, numbers = one_connection(tmp_path, frames)
    rows = tshark.fields(path, ["frame.number", "iggy.command", "iggy.reserved_command"], "-Y", "iggy.command == 99")
    assert len(rows) == 1 and rows[0][0] == [str(numbers[1])] and len(rows[0][2][0].replace(":", "")) == 256


# --- results ----------------------------------------------------------------------------------------------------------
def test_status_and_error(tshark, tmp_path):
    frames = [("client", request(code=1, request=1)), ("server", reply(request=1)),
              ("client", request(code=1, request=2)), ("server", reply(request=2, status=40)),
              ("client", request(ident(7), operation=130, request=3, session=1)),
              ("server", reply(u32(1) + u32(0) + u32(1009), operation=130, request=3)),
              ("client", request(ident(7), operation=130, request=4, session=1)),
              ("server", reply(u32(0), operation=130, request=4))]
    path, numbers = one_connection(tmp_path, frames)
    rows = tshark.fields(path, ["frame.number", "iggy.status", "iggy.error", "iggy.result.count", "iggy.result"], "-Y", "iggy.command == 8")
    assert [row[1:] for row in rows] == [
        [["0"], [], [], []],
        [["40"], ["40"], [], []],
        [["0"], ["1009"], ["1"], ["1009"]],
        [["0"], [], ["0"], []],
    ]
    by_name = tshark.fields(path, ["frame.number"], "-Y", 'iggy.error == "stream_id_not_found"')
    assert by_name == [[[str(numbers[5])]]]


def test_eviction_window(tshark, tmp_path):
    frames = [("client", request(code=1, request=1)),
              ("server", frame(13, client=1, reason=14, server_protocol_version=0x3403, server_protocol_version_min=0x3000))]
    path, numbers = one_connection(tmp_path, frames)
    rows = tshark.fields(path, ["frame.number"], "-Y",
                         'iggy.eviction.reason == "incompatible_protocol" && iggy.eviction.server_protocol_version_min == "0.12.0"')
    assert rows == [[[str(numbers[1])]]]
    assert "[0.13.3]" in tshark.verbose(path, "-Y", "iggy.eviction.reason")


def test_every_command_has_a_layout(tshark, tmp_path):
    """No known command from 5 on leaves its second half as undefined bytes."""
    frames = [("client", good(command)) for command in sorted(set(LAYOUTS) - {5, 8, 13})]
    path, numbers = one_connection(tmp_path, frames, replica=True)
    rows = tshark.fields(path, ["frame.number", "iggy.command", "iggy.reserved_command"], "-Y", "iggy", "-o", "iggy.default_version:0.12.2")
    assert collections.Counter(int(row[1][0]) for row in rows)[14] == 2
    assert all(row[2] == [] for row in rows) and len(rows) == len(frames) + 1
