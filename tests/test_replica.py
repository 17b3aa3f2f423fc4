# Bodies between servers: the codec's values by filter name, every byte covered, and what the codec captures do not have.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Truth: the codec's expected values; replica.md 5 to 11 and commands.md 9 by hand; what real clusters did (captures/real)."""

import collections
import csv
import json
import re
import uuid

import pytest

import link_frames
from conftest import CAPTURES
from synth import Capture, batch, frame, ident, message, name, u8, u32, u64

HEURISTIC = ("-o", "tcp.try_heuristic_first:TRUE")
CLUSTER = bytes.fromhex("21bb05c88727bab88d0ec27be8a72d46")
METADATA = 1 << 63
CLIENT = 0x80000000000040000000000000000001
VERSIONS = ["0.11.0", "0.12.0", "0.12.2"]

# Codec's names of body fields (indices removed) -> filter name.
NAMES = {
    "headers.group": "iggy.suffix.consensus_group", "headers.user_id": "iggy.suffix.acting_user",
    "user_created_at": "iggy.created_at", "bind_verifier": "iggy.bind_verifier",
    "sessions.client_id": "iggy.client", "sessions.session": "iggy.session",
    "installation.group_id": "iggy.consumer_group.id", "installation.incarnation": "iggy.context.partition_incarnation",
    "installation.metadata_op": "iggy.metadata_op", "installation.owner.client_id": "iggy.client",
    "installation.owner.generation": "iggy.context.owner_generation", "installation.owner.session": "iggy.session",
    "partition_op": "iggy.partition_op", "completions.count": "iggy.completions_count",
    "completions.partition_id": "iggy.partition.id", "completions.partition_op": "iggy.partition_op",
    "completions.topic_id": "iggy.topic.id", "metadata_op": "iggy.metadata_op",
    "entries.commit": "iggy.commit", "entries.created_revision": "iggy.created_revision",
    "entries.current_offset": "iggy.current_offset", "entries.in_sync_nodes": "iggy.in_sync_nodes",
    "entries.messages_count": "iggy.messages_count", "entries.namespace": "iggy.consensus_group",
    "entries.segments_count": "iggy.segments_count", "entries.size_bytes": "iggy.size_bytes",
    "entries.view": "iggy.partition_view", "owner_generation": "iggy.context.owner_generation",
    "identities.client_id": "iggy.client", "identities.metadata_watermark": "iggy.metadata_watermark",
    "identities.session": "iggy.session", "identity.client_id": "iggy.client",
    "identity.metadata_watermark": "iggy.metadata_watermark", "identity.session": "iggy.session",
    "paid_through": "iggy.paid_through", "incarnation": "iggy.context.partition_incarnation",
    "group_id": "iggy.consumer_group.id", "owner.client_id": "iggy.client",
    "owner.generation": "iggy.context.owner_generation", "owner.session": "iggy.session",
    "live_group_ids.count": "iggy.live_groups_count", "live_group_ids": "iggy.live_group_id",
    "next_group_id": "iggy.next_group_id", "created_view": "iggy.created_view",
    "members.count": "iggy.partition.members_count", "partitions.members": "iggy.partition.member",
    "partitions.count": "iggy.assignments_count", "partitions.consensus_group_id": "iggy.assignment.group",
    "partitions.initial_view": "iggy.assignment.initial_view", "partitions.partition_id": "iggy.partition.id",
    "request.length": "iggy.request_body.length", "request.name": "iggy.topic.name",
    "request.partitions_count": "iggy.partitions_count", "debt.count": "iggy.debts_count",
    "debt.created_revision": "iggy.created_revision", "debt.namespace": "iggy.consensus_group",
    "namespace_revision": "iggy.namespace_revision", "name.flag": "iggy.has_new_name", "status.flag": "iggy.user.has_status",
    "status": "iggy.user.status", "entries.count": "iggy.stream_keys_count",
    "entries.created_op": "iggy.stream_keys.created_op", "entries.key_fingerprint": "iggy.stream_keys.fingerprint",
    "entries.stream_id": "iggy.stream.id", "entries.wrap_set": "iggy.stream_keys.wrapped",
    "entries.wrap_set.length": "iggy.stream_keys.wrapped.length",
}
OPERATIONS = {1, 64, 65, 67, 68, 70, 71, 72, 73, 74, 75, 166, 167, 168, 169}
GUIDS = ("cluster", "client", "client_id")


def codec(version):
    with open(CAPTURES / ("codec/replica-%s.expected.jsonl" % version)) as lines:
        return [json.loads(line) for line in lines]


def filter_of(pdu, field):
    if field.startswith("headers.") and field not in NAMES:
        return "iggy.suffix." + field[len("headers."):]
    if pdu["operation"] in (67, 71) and field == "stream_id":
        return "iggy.stream.id"
    if pdu["operation"] == 67 and field == "partition_id":
        return "iggy.partition.id"
    return NAMES.get(field)


def raw_of(value):
    kind = value.get("type", "")
    if kind == "bytes":
        return bytes.fromhex(value["value"])
    if kind == "string":
        return value["value"].encode()
    return int(value["value"]).to_bytes(value["length"], "little")


@pytest.mark.parametrize("version", VERSIONS)
def test_body_values_by_name(tshark, version):
    """Each value of a body that the replica room owns stands at its place under its own name, with the right bytes."""
    tested = set()
    for pdu, shown in zip(codec(version), tshark.frames("codec/replica-%s.pcap" % version)):
        assert (pdu["frame"], pdu["command"]) == (shown.packet, int(shown.values["iggy.command"][0]))
        if pdu["command"] in (6, 19) and pdu["operation"] not in OPERATIONS and pdu["operation"] not in (161, 162):
            continue
        start = int(shown.element.get("pos"))
        places = {(field.get("name"), int(field.get("pos")) - start, int(field.get("size"))): field
                  for field in shown.element.iter("field") if field.get("name") and field.get("size", "0") != "0"}
        for value in pdu["values"]:
            field = re.sub(r"\[\d+\]", "", value["name"])
            if not field.startswith("body.") or value.get("role") == "opaque":
                continue
            wanted = filter_of(pdu, field[len("body."):])
            if not wanted or pdu["operation"] in (161, 162) and wanted != "iggy.context.owner_generation":
                continue
            found = places.get((wanted, value["offset"], value["length"]))
            assert found is not None, (pdu["pdu"], wanted, value)
            raw, text = raw_of(value), found.get("show")
            assert bytes.fromhex(found.get("value"))[:len(raw)] == raw, (pdu["pdu"], value)
            if field.rsplit(".", 1)[-1] in GUIDS and value["length"] == 16:
                assert text == str(uuid.UUID(bytes=raw)), (wanted, text)
            elif not value.get("type") and "timestamp" not in field and "created_at" not in field:
                assert int(text, 0) == value["value"], (wanted, text)
            tested.add(wanted)
    assert len(tested) >= {"0.11.0": 20, "0.12.0": 50, "0.12.2": 60}[version], sorted(tested)


def leaves(element, start, mask):
    """Marks the bytes of named fields that have no field with bytes below them; containers do not count."""
    for child in element:
        length = int(child.get("size") or 0)
        if any(int(below.get("size") or 0) for below in child):
            leaves(child, start, mask)
        elif child.get("name") and length:
            at = int(child.get("pos")) - start
            mask[at:at + length] = b"\1" * length


@pytest.mark.parametrize("version", VERSIONS)
def test_every_byte_is_covered(tshark, version):
    """All bytes of headers and bodies stand under a field of their own; only reserved bytes that are zero do not."""
    path = CAPTURES / ("codec/replica-%s.pcap" % version)
    frames = {(one.packet, one.command): one.data for one in link_frames.frames_of(path)}
    covered = total = 0
    for pdu, shown in zip(codec(version), tshark.frames(path)):
        data = frames[pdu["frame"], pdu["command"]]
        mask = bytearray(pdu["size"])
        leaves(shown.element, int(shown.element.get("pos")), mask)
        bare = [at for at in range(pdu["size"]) if not mask[at] and data[at]]
        assert not bare, (pdu["pdu"], pdu["command"], pdu["operation"], bare[:20])
        if pdu["command"] not in (5, 6, 11, 12, 19):  # no reserved bytes in these bodies
            assert all(mask[256:]), (pdu["pdu"], pdu["command"])
        covered, total = covered + sum(mask), total + pdu["size"]
    assert covered > total / 2


@pytest.mark.parametrize("version", VERSIONS)
def test_codec_bodies_fit(tshark, version):
    rows = tshark.fields("codec/replica-%s.pcap" % version, ["frame.number"], "-Y",
                         "iggy.expert.layout || iggy.expert.extra || iggy.undecoded || iggy.opaque")
    assert rows == []


@pytest.mark.parametrize("capture", ["12_cluster_startup", "12b_cluster_restart", "12c_cluster_startup_auth",
                                     "13_cluster_writes", "17_cluster_idle"])
def test_real_frames_by_field(tshark, capture, two_pass):
    """View, replica, op, commit, group of every frame as list_frames.py read them; all bodies fit."""
    path = CAPTURES / ("real/%s.pcapng" % capture)
    with open(str(path) + ".expected.tsv", newline="") as lines:
        truth = [row for row in csv.DictReader(lines, delimiter="\t") if row["note"] == "ok"]
    truth.sort(key=lambda row: (int(row["end_pkt"]), int(row["tcp_stream"]), row["direction"], int(row["offset"])))
    shown = tshark.frames(path, *HEURISTIC, two_pass=two_pass)
    assert len(shown) == len(truth)
    for row, one in zip(truth, shown):
        command = int(row["command"])
        assert (one.packet, int(one.values["iggy.command"][0])) == (int(row["end_pkt"]), command)
        assert int(one.values["iggy.view"][0]) == int(row["view"])
        assert int(one.values["iggy.replica"][0]) == int(row["replica"])
        for column, field in (("op", "iggy.op"), ("commit", "iggy.commit"), ("group", "iggy.consensus_group"),
                              ("operation", "iggy.operation")):
            if row[column] == "-" or (command, column) in ((9, "op"), (23, "commit"), (18, "op"), (18, "commit")):
                continue
            assert int(one.values[field][0], 0) == int(row[column]), (row, field)
        assert not {"iggy.expert.layout", "iggy.undecoded", "iggy.opaque"} & set(one.values), row


# --- made-up frames -----------------------------------------------------------------------------------------------------
def sealed(command, body=b"", **values):
    return frame(command, body, cluster=CLUSTER, **values)


def prepared(operation, body=b"", **values):
    values = dict(dict(op=9, commit=8, group=METADATA, client=CLIENT, request=1), **values)
    return sealed(6, body, operation=operation, **values)


def made(tmp_path, *frames):
    capture = Capture()
    connection = capture.connection(server_port=9090)
    connection.client(sealed(14, replica=0))
    numbers = [connection.client(one) for one in frames]
    return capture.write(tmp_path / "replica.pcap"), numbers


def values_of(tshark, path, version, names, *options):
    """Fields of the frames after the hello; nothing may be left over or misfit."""
    checks = ["iggy.expert.layout", "iggy.expert.extra"]
    rows = tshark.fields(path, list(names) + checks, "-Y", "iggy.command != 14", "-o", "iggy.default_version:" + version, *options)
    assert all(not values for row in rows for values in row[-2:]), rows
    return [row[:-2] for row in rows]


STREAM_TOPIC = ident(3) + ident("events")
OWNER = u64(11) + u64(12) + (CLIENT).to_bytes(16, "little") + u64(13) + u64(14) + u64(15)
CLIENT_BYTES = CLIENT.to_bytes(16, "little")
GUID = str(uuid.UUID(bytes=CLIENT_BYTES))


@pytest.mark.parametrize("version,operation,body,fields", [
    ("0.11.0", 66, CLIENT_BYTES, {"iggy.client": [GUID, GUID]}),
    ("0.11.0", 67, STREAM_TOPIC + u64(21) + CLIENT_BYTES + u32(4),
     {"iggy.stream.id": ["3"], "iggy.topic.name": ["events"], "iggy.consumer_group.id": ["21"], "iggy.partition.id": ["4"]}),
    ("0.12.0", 67, ident(3) + ident(5) + u32(4) + OWNER + u64(99),
     {"iggy.partition.id": ["4"], "iggy.consumer_group.id": ["12"], "iggy.partition_op": ["99"], "iggy.metadata_op": ["15"]}),
    ("0.11.0", 68, STREAM_TOPIC + u32(4) + u64(1000), {"iggy.partition.id": ["4"], "iggy.up_to_offset": ["1000"]}),
    ("0.12.0", 68, STREAM_TOPIC + u32(4) + u64(1000) + u64(77),
     {"iggy.up_to_offset": ["1000"], "iggy.created_revision": ["77"]}),
    ("0.12.0", 68, STREAM_TOPIC + u32(4) + u64(1000), {"iggy.up_to_offset": ["1000"], "iggy.created_revision": []}),
    ("0.11.0", 1, b"", {"iggy.bind_verifier": []}),
    ("0.12.0", 1, u64(1_600_000_000_000_000) + bytes(range(32)),
     {"iggy.created_at": ["Sep 13, 2020 12:26:40.000000000 UTC"], "iggy.bind_verifier": [bytes(range(32)).hex()]}),
    ("0.11.0", 3, b"", {"iggy.operation": ["3"]}),
    ("0.11.0", 146, u32(5) + name("ci") + u64(2 ** 64 - 1) + b"ab" * 32,
     {"iggy.user.id": ["5"], "iggy.token.name": ["ci"], "iggy.token.hash": ["ab" * 32]}),
    ("0.11.0", 147, u32(5) + name("ci") + u8(1), {"iggy.token.name": ["ci"], "iggy.token.only_if_expired": ["1"]}),
    ("0.11.0", 148, STREAM_TOPIC + ident("g") + CLIENT_BYTES + u32(2) + u32(8) + u32(9),
     {"iggy.consumer_group.name": ["g"], "iggy.in_flight_count": ["2"], "iggy.partition.id": ["8", "9"]}),
    ("0.12.0", 148, STREAM_TOPIC + ident("g") + CLIENT_BYTES + u64(55), {"iggy.session": ["0", "55"], "iggy.in_flight_count": []}),
    ("0.11.0", 149, STREAM_TOPIC + ident(6) + CLIENT_BYTES, {"iggy.consumer_group.id": ["6"], "iggy.client": [GUID, GUID]}),
    ("0.12.0", 166, CLIENT_BYTES + u64(1) + u64(2), {"iggy.metadata_watermark": ["2"], "iggy.paid_through": []}),
    ("0.12.2", 166, u64(44), {"iggy.metadata_watermark": [], "iggy.paid_through": ["44"]}),
    ("0.12.0", 169, u64(1) + u64(2) + u64(3) + u32(2) + u64(4) + u64(5),
     {"iggy.next_group_id": ["3"], "iggy.live_group_id": ["4", "5"]}),
    ("0.11.0", 130, ident("orders"), {"iggy.stream.name": ["orders"]}),
], ids=lambda one: str(one) if isinstance(one, (str, int)) else "")
def test_prepare_bodies(tshark, tmp_path, version, operation, body, fields):
    extra = {} if version == "0.11.0" else dict(retry_capacity=1)  # a sign of 0.12 in the header
    path, _ = made(tmp_path, prepared(operation, body, **extra))
    options = () if version != "0.12.2" else ()
    row = values_of(tshark, path, version, list(fields), *options)[0]
    if tshark.version >= (4, 5) and "iggy.created_at" in fields:  # -T fields prints times as in ISO 8601
        fields = dict(fields, **{"iggy.created_at": ["2020-09-13T12:26:40.000000000Z"]})
    assert row == list(fields.values())


def test_batch_of_a_prepare(tshark, tmp_path):
    """The body of operation 160 is one batch without routing; its group names the partition."""
    group = 7 << 32 | 8 << 20 | 9
    record = batch([message(b"hello"), message(b"world", 1)], partition=9, base_offset=100, base_timestamp=1_600_000_000_000_000)
    path, _ = made(tmp_path, prepared(160, record, group=group))
    row = values_of(tshark, path, "0.11.0", ["iggy.messages_count", "iggy.message.offset", "iggy.message.payload", "iggy.stream.id",
                                             "iggy.topic.id"])[0]
    assert row[1:] == [["100", "101"], ["68656c6c6f", "776f726c64"], ["7"], ["8"]]


def test_offsets_carry_the_generation_of_the_owner(tshark, tmp_path):
    """161 and 162: from 0.12.0 on 8 bytes follow the client's body."""
    body = u8(1) + ident(1) + STREAM_TOPIC + u8(1) + u32(2) + u64(500) + u8(1)
    path, _ = made(tmp_path, prepared(161, body))
    assert values_of(tshark, path, "0.11.0", ["iggy.offset", "iggy.context.owner_generation"]) == [[["500"], []]]
    path, _ = made(tmp_path, prepared(161, body + u64(6), retry_capacity=1))
    assert values_of(tshark, path, "0.12.0", ["iggy.offset", "iggy.context.owner_generation"]) == [[["500"], ["6"]]]


def test_assignments_by_version(tshark, tmp_path):
    """12 bytes and a view in 0.11.0; 16 bytes from 0.12.0 on, members of each partition in 0.12.2."""
    request = STREAM_TOPIC + u32(2)
    start = u32(len(request)) + request + u32(2)
    old = start + u32(0) + u64(70) + u32(1) + u64(71) + u32(5)
    new = start + u32(0) + u64(70) + u32(3) + u32(1) + u64(71) + u32(4)
    newest = new + u8(2) + bytes([0, 1, 1, 2])
    names = ["iggy.assignment.group", "iggy.assignment.initial_view", "iggy.created_view", "iggy.partition.member"]
    for version, body, wanted in (("0.11.0", old, [["70", "71"], [], ["5"], []]),
                                  ("0.12.0", new, [["70", "71"], ["3", "4"], [], []]),
                                  ("0.12.2", newest, [["70", "71"], ["3", "4"], [], ["0", "1", "1", "2"]])):
        extra = {} if version == "0.11.0" else dict(retry_capacity=1)
        path, _ = made(tmp_path, prepared(65, body, **extra))
        assert values_of(tshark, path, version, names) == [wanted], version


def entry(op, operation=128, parent=0, **values):
    return prepared(operation, op=op, parent=parent, **values)[:256]


def low(data):
    return int.from_bytes(data[0:16], "little")


def test_suffix(tshark, tmp_path):
    """Three entries: one present, one blank, one nacked; the state comes from the bitsets."""
    third = entry(10, 130)
    blank = frame(6, sealed=False, op=11)[:256]
    first = entry(12, 64)
    body = first + blank + third
    path, _ = made(tmp_path, sealed(11, body, op=12, commit=9, view=4, group=METADATA, present_bitset=1, nack_bitset=4))
    rows = tshark.fields(path, ["iggy.suffix.op", "iggy.suffix.operation", "iggy.suffix.state", "iggy.command", "iggy.size",
                                "iggy.expert.suffix_order", "iggy.expert.suffix_chain"], "-Y", "iggy.suffix")
    assert rows == [[["12", "11", "10"], ["64", "0", "130"], ["1", "0", "2"], ["11"], ["1024"], [], []]]
    text = tshark.verbose(path, "-Y", "iggy.suffix")
    assert "Suffix entry: op 12 create_topic_with_assignments, present" in text.replace("Suffix entry op", "Suffix entry: op")
    assert "op 11 (blank), unknown" in text and "op 10 delete_stream, nack" in text


def test_suffix_order_and_chain(tshark, tmp_path):
    older = entry(4)
    newer = entry(5, parent=low(older))
    stray = entry(5, parent=1)
    frames = [sealed(11, newer + older, op=5, group=METADATA, commit=3), sealed(11, stray + older, op=5, group=METADATA, commit=3),
              sealed(11, entry(9) + older, op=5, group=METADATA, commit=3), sealed(12, newer + older, op=5, group=METADATA, commit=3)]
    path, _ = made(tmp_path, *frames)
    rows = tshark.fields(path, ["iggy.expert.suffix_order", "iggy.expert.suffix_chain"], "-Y", "iggy.suffix")
    assert [[len(values) for values in row] for row in rows] == [[0, 0], [0, 1], [2, 1], [0, 0]]


def test_manifest_entries_may_grow(tshark, tmp_path):
    """A later release may make entries longer; 27 bytes here."""
    from xxh3 import xxh3_64
    one = b"\x00" + u64(5) + u64(600) + u64(7) + b"\xee\xff"
    two = b"\x63" + u64(8) + u64(900) + u64(9) + b"\xdd\xcc"
    data = b"ISM1" + u32(2) + u8(27) + one + two
    path, _ = made(tmp_path, sealed(23, data + u64(xxh3_64(data)), available=1, nonce=1, group=METADATA))
    names = ["iggy.artifact.kind", "iggy.artifact.frontier", "iggy.artifact.length", "iggy.manifest.rest", "iggy.manifest.checksum.status"]
    assert values_of(tshark, path, "0.12.0", names) == [[["0", "99"], ["5", "8"], ["600", "900"], ["eeff", "ddcc"], ["1"]]]


@pytest.mark.parametrize("damage", ["magic", "count", "length", "cut"])
def test_broken_manifests(tshark, tmp_path, damage):
    """A warning, no bug, no malformed."""
    data = b"ISM1" + u32(1) + u8(25) + b"\x00" + u64(5) + u64(600) + u64(7) + u64(0)
    data = {"magic": b"XSM1" + data[4:], "count": data[:4] + u32(2 ** 32 - 1) + data[8:], "length": data[:8] + u8(3) + data[9:],
            "cut": data[:20]}[damage]
    path, _ = made(tmp_path, sealed(23, data, available=1, nonce=1, group=METADATA))
    rows = tshark.fields(path, ["iggy.expert.layout", "iggy.expert.manifest_magic"], "-Y", "iggy.command == 23")
    assert sum(len(values) for values in rows[0]) >= 1


def test_chunk(tshark, tmp_path):
    path, _ = made(tmp_path, sealed(25, b"\x01\x02\x03", nonce=1, group=METADATA, artifact=2, offset=40))
    assert values_of(tshark, path, "0.12.0", ["iggy.chunk.data", "iggy.chunk.offset", "iggy.artifact.index"]) == [
        [["010203"], ["40"], ["2"]]]


def test_in_sync_nodes(tshark, tmp_path):
    group = 1 << 32 | 2 << 20 | 3
    status = u64(group) + u64(5) + u32(6) + u64(7) + u64(8) + u64(9) + u64(10) + u32(11) + u32(0b101)
    path, _ = made(tmp_path, sealed(33, status, nonce=1, kind=1, quorum_age_ns=2 ** 64 - 1))
    names = ["iggy.stream.id", "iggy.topic.id", "iggy.partition.id", "iggy.in_sync_nodes"]
    assert values_of(tshark, path, "0.12.2", names) == [[["1"], ["2"], ["3"], ["0x00000005"]]]
    assert "(replicas 0, 2)" in tshark.verbose(path, "-Y", "iggy.in_sync_nodes")


def test_unknown_operation_is_opaque(tshark, tmp_path):
    path, _ = made(tmp_path, prepared(99, b"\x01\x02"))
    assert values_of(tshark, path, "0.12.0", ["iggy.opaque"]) == [[["0102"]]]


# --- Info -----------------------------------------------------------------------------------------------------------------
def test_info_tells_the_story(tshark, tmp_path):
    frames = [prepared(128, name("orders"), op=1812, view=3), sealed(7, op=1812, operation=128, group=METADATA),
              sealed(9, commit=1811, group=METADATA), sealed(10, view=4, group=METADATA),
              sealed(18, nonce=1, from_op=5, to_op=9, group=7 << 32 | 8 << 20 | 9)]
    path, numbers = made(tmp_path, *frames)
    lines = tshark.info(path)
    wanted = ["prepare view 3 op 1812 create_stream orders", "prepare_ok op 1812 create_stream", "commit 1811 metadata",
              "start_view_change view 4 metadata", "request_prepares ops 5-9 7/8 partition 9"]
    assert [lines[number - 1] for number in numbers] == wanted


# --- fields that stand in headers and in bodies ------------------------------------------------------------------------
def header_and_body(tshark, capture):
    """{name: {packet: values of the body}} of the names that some header has, too."""
    headers, bodies = set(), collections.defaultdict(dict)
    for frame in tshark.frames(capture, *HEURISTIC):
        parts = {part: {} for part in ("iggy.header", "iggy.body")}
        for part in parts:
            for field in (one for top in frame.element.iter("field") if top.get("name") == part for one in top.iter("field")):
                parts[part].setdefault(field.get("name"), []).append(field.get("show"))
        headers |= set(parts["iggy.header"])
        for name, shown in parts["iggy.body"].items():
            bodies[name].setdefault(frame.packet, []).extend(shown)
    return {name: packets for name, packets in bodies.items() if name in headers and name.startswith("iggy.")}


@pytest.mark.parametrize("capture", ["codec/replica-0.12.2.pcap", "codec/replica-0.12.0.pcap"])
def test_filters_find_in_bodies_what_headers_have_too(tshark, capture):
    """A filter on a field of a header does not make bodies be walked."""
    found = header_and_body(tshark, capture)
    assert "iggy.client" in found and ("iggy.partition_view" in found) == ("12.2" in capture)
    for name, packets in found.items():
        packet, values = next(iter(packets.items()))
        if values[0] and re.fullmatch(r"\d+", values[0]):
            lines = tshark.read(capture, *HEURISTIC, "-Y", "%s == %s" % (name, values[-1])) # -T fields would show all items
            assert str(packet) in [line.split()[0] for line in lines.splitlines()], name
