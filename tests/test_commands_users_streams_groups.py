# Commands of users, tokens, streams, topics, partitions, segments and consumer groups (commands.md 5, 7, 8).
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Values by field: of the codec at their places under their names, of a real server as read by hand, of bodies made here."""

import json
import re
import struct

import pytest

from check_pdml import to_int, to_micros
from conftest import CAPTURES
from synth import Capture, VERSIONS, header_value, ident, login_body, login_reply, name, reply, request, text32, u8, u32, u64

VERSION_NAMES = sorted(VERSIONS)

# ---- what the codec wrote, under which name it must stand ----

OBJECTS = {"user": "user", "users": "user", "stream": "stream", "streams": "stream", "topic": "topic", "topics": "topic",
           "group": "consumer_group", "groups": "consumer_group"}
NEW_OBJECT = {33: "user.name", 202: "stream.name", 204: "stream.new_name", 302: "topic.name", 304: "topic.new_name",
              602: "consumer_group.name", 42: "token.name", 43: "token.name"}
# Pattern of the codec's name -> field; \1 is an object of OBJECTS.
FIELDS = [
    (r"(user|stream|topic|group)_id\.kind", "identifier.kind"),
    (r"(user|stream|topic|group)_id\.length", "identifier.length"),
    (r"(user|streams?|topics?|group|users|groups)(?:\[\d+\])?\.id", r"\1.id"),
    (r"(stream|streams|topic|topics|group|groups)(?:\[\d+\])?\.name", r"\1.name"),
    (r"(stream|streams|topic|topics|group|groups)(?:\[\d+\])?\.name\.length", r"\1.name.length"),
    (r"(user|users)(?:\[\d+\])?\.username", r"\1.name"),
    (r"(user|users)(?:\[\d+\])?\.username\.length", r"\1.name.length"),
    (r"(user|users)(?:\[\d+\])?\.status", r"\1.status"),
    (r"\w+(?:\[\d+\])?\.created_at", "created_at"),
    (r"(?:\w+(?:\[\d+\])?\.)?topics_count", "topics_count"),
    (r"topics\.count", "topics_count"),
    (r"(?:\w+(?:\[\d+\])?\.)?partitions_count", "partitions_count"),
    (r"partitions\.count", "partitions_count"),
    (r"partitions\[\d+\]", "partition.id"),
    (r"\w+(?:\[\d+\])?\.members_count", "members_count"),
    (r"\w+(?:\[\d+\])?\.size_bytes", "size_bytes"),
    (r"\w+(?:\[\d+\])?\.messages_count", "messages_count"),
    (r"(?:partitions\[\d+\]\.)?segments_count", "segments_count"),
    (r"topics?(?:\[\d+\])?\.message_expiry", "topic.message_expiry"),
    (r"topics?(?:\[\d+\])?\.compression_algorithm", "topic.compression_algorithm"),
    (r"topics?(?:\[\d+\])?\.max_topic_size", "topic.max_topic_size"),
    (r"partitions\[\d+\]\.id", "partition.id"),
    (r"partition_id", "partition.id"),
    (r"partitions\[\d+\]\.current_offset", "current_offset"),
    (r"partitions\[\d+\]\.context\.incarnation", "context.partition_incarnation"),
    (r"partitions\[\d+\]\.context\.owner_generation", "context.owner_generation"),
    (r"partitions\[\d+\]\.context\.metadata_op", "context.minimum_metadata_op"),
    (r"partitions\[\d+\]\.members\.count", "partition.members_count"),
    (r"partitions\[\d+\]\.members\[\d+\]", "partition.member"),
    (r"partitions\[\d+\]\.in_sync_members\.count", "partition.in_sync_members_count"),
    (r"partitions\[\d+\]\.in_sync_members\[\d+\]", "partition.in_sync_member"),
    (r"members\[\d+\]\.id", "consumer_group.member.id"),
    (r"members\[\d+\]\.partitions_count", "partitions_count"),
    (r"members\[\d+\]\.partitions\[\d+\]", "partition.id"),
    (r"generation", "consumer_group.generation"),
    (r"password|current_password", "password"),
    (r"(?:current_)?password\.length", "password.length"),
    (r"new_password", "new_password"),
    (r"new_password\.length", "new_password.length"),
    (r"status", "user.status"),
    (r"status\.flag", "user.has_status"),
    (r"username\.flag", "has_new_name"),
    (r"permissions\.flag", "user.has_permissions"),
    (r"permissions\.length", "permission.length"),
    (r"permissions\.global\.(\w+)", r"permission.\1"),
    (r"permissions\.has_streams", "permission.has_streams"),
    (r"permissions\.streams\[\d+\]\.stream_id", "stream.id"),
    (r"permissions\.streams\[\d+\]\.has_topics", "permission.stream.has_topics"),
    (r"permissions\.streams\[\d+\]\.has_next", "permission.has_next_stream"),
    (r"permissions\.streams\[\d+\]\.(\w+)", r"permission.stream.\1"),
    (r"permissions\.streams\[\d+\]\.topics\[\d+\]\.topic_id", "topic.id"),
    (r"permissions\.streams\[\d+\]\.topics\[\d+\]\.has_next", "permission.has_next_topic"),
    (r"permissions\.streams\[\d+\]\.topics\[\d+\]\.(\w+)", r"permission.topic.\1"),
    (r"tokens\[\d+\]\.name", "token.name"),
    (r"tokens\[\d+\]\.name\.length", "token.name.length"),
    (r"tokens\[\d+\]\.expiry_at", "token.expiry_at"),
    (r"expiry", "token.expiry"),
    (r"token", "token"),
    (r"token\.length", "token.length"),
    (r"(?:\w+(?:\[\d+\])?\.)?options\.length", "option.explicit.length"),
    (r"(?:\w+(?:\[\d+\])?\.)?derived_options\.length", "option.derived.length"),
    (r"(?:\w+(?:\[\d+\])?\.)?(?:derived_)?options\[\d+\]\.key_kind", "option.key.kind"),
    (r"(?:\w+(?:\[\d+\])?\.)?(?:derived_)?options\[\d+\]\.key_length", "option.key.length"),
    (r"(?:\w+(?:\[\d+\])?\.)?(?:derived_)?options\[\d+\]\.key", "option.key"),
    (r"(?:\w+(?:\[\d+\])?\.)?(?:derived_)?options\[\d+\]\.value_kind", "option.value.kind"),
    (r"(?:\w+(?:\[\d+\])?\.)?(?:derived_)?options\[\d+\]\.value_length", "option.value.length"),
    (r"(?:\w+(?:\[\d+\])?\.)?(?:derived_)?options\[\d+\]\.value", "option.value"),
    (r"result\.count", "result.count"),
    (r"result\.entries\[\d+\]\.(\w+)", None),
]


def is_mine(code):
    return code is not None and (31 <= code <= 37 or 41 <= code <= 43 or code >= 200)


def field_of(pdu, value):
    """The filter name of a value of the codec; None if this test does not know it (the result section)."""
    path = value["name"][len("body."):]
    match = re.fullmatch(r"(user|stream|topic|group)_id\.value", path)
    if match:
        return "iggy.%s.%s" % (OBJECTS[match.group(1)], "name" if value.get("type") == "string" else "id")
    match = re.fullmatch(r"(?:user)?name(\.length)?", path)
    if match:
        base = "user.new_name" if pdu["code"] == 35 else NEW_OBJECT[pdu["code"]]
        return "iggy." + base + (match.group(1) or "")
    for pattern, field in FIELDS:
        match = re.fullmatch(pattern, path)
        if match:
            if field is None:
                return None
            if match.groups() and match.group(1) in OBJECTS:
                return "iggy." + field.replace(r"\1", OBJECTS[match.group(1)])
            return "iggy." + match.expand(field)
    raise AssertionError("this test does not know %s of %s" % (value["name"], pdu["code_name"]))


def same(value, show):
    kind, want = value.get("type", "uint"), value["value"]
    if kind == "string":
        return show == want
    if kind == "bytes":
        return show.replace(":", "") == want
    if kind in ("f32", "f64"):
        return abs(float(show) - want) <= abs(want) * (1e-6 if kind == "f32" else 1e-15)
    number = to_int(show)
    return int(want) == (to_micros(show) if number is None else number)


def expected(version):
    lines = (CAPTURES / "codec" / ("client-%s.expected.jsonl" % version)).read_text().splitlines()
    return [json.loads(line) for line in lines]


def fields_at(frame):
    """(name, offset in the frame, length) -> texts of all fields of a Frame."""
    start = int(frame.element.get("pos"))
    out = {}
    for field in frame.element.iter("field"):
        if field.get("name") and field.get("size") not in (None, "0"):
            key = (field.get("name"), int(field.get("pos")) - start, int(field.get("size")))
            out.setdefault(key, []).append(field.get("show"))
    return out


def paired(tshark, version, two_pass):
    """(expected PDU, Frame) of the frames of these commands."""
    shown = tshark.frames("codec/client-%s.pcap" % version, two_pass=two_pass)
    wanted = expected(version)
    assert [frame.packet for frame in shown] == [pdu["frame"] for pdu in wanted]
    return [(pdu, frame) for pdu, frame in zip(wanted, shown) if is_mine(pdu["code"])]


@pytest.mark.parametrize("version", VERSION_NAMES)
def test_values_under_their_names(tshark, version, two_pass):
    faults, checked = [], 0
    for pdu, frame in paired(tshark, version, two_pass):
        shown = fields_at(frame)
        for value in pdu["values"]:
            field = value["name"].startswith("body.") and field_of(pdu, value)
            if not field:
                continue
            checked += 1
            texts = shown.get((field, value["offset"], value["length"]), [])
            if not any(same(value, text) for text in texts):
                faults.append((pdu["pdu"], pdu["code_name"], value["name"], value["value"], field, texts))
    assert faults == []
    assert checked > 1000 or version == "0.12.1"


@pytest.mark.parametrize("version", VERSION_NAMES)
def test_values_are_not_shown_twice(tshark, version, two_pass):
    """Each expected value of a field is one item; learnt names and ids stand beside identifiers alone."""
    for pdu, frame in paired(tshark, version, two_pass):
        shown = fields_at(frame)
        for value in pdu["values"]:
            field = value["name"].startswith("body.") and field_of(pdu, value)
            if field:
                assert len(shown[field, value["offset"], value["length"]]) == 1, (pdu["pdu"], field)


@pytest.mark.parametrize("version", VERSION_NAMES)
def test_every_body_byte_is_a_named_field(tshark, version):
    for pdu, frame in paired(tshark, version, False):
        covered = bytearray(pdu["size"])
        start = int(frame.element.get("pos"))
        for field in frame.element.iter("field"):
            field_name, size = field.get("name") or "", int(field.get("size") or 0)
            container = any(below.get("size") not in (None, "0") for below in field.iter("field") if below is not field)
            if container or field_name in ("", "iggy.undecoded", "iggy.extra", "iggy.opaque"):
                continue
            offset = int(field.get("pos")) - start
            covered[offset:offset + size] = b"\1" * size
        assert covered[256:pdu["size"]] == b"\1" * (pdu["size"] - 256), (pdu["pdu"], pdu["code_name"])


TYPED = {"i8": "int", "i16": "int", "i32": "int", "i64": "int", "f32": "float", "f64": "float", "bytes": "bytes",
         "string": None, "bool": None, "i128": None, "u128": None}


@pytest.mark.parametrize("version", ["0.11.0", "0.12.0", "0.12.2"])
def test_typed_values_of_options(tshark, version):
    """Beside the text of a value there is a number, a float or bytes over the same bytes, by its kind."""
    kinds = set()
    for pdu, frame in paired(tshark, version, False):
        shown = fields_at(frame)
        for value in pdu["values"]:
            if not re.search(r"options\[\d+\]\.value$", value["name"]):
                continue
            kind = value.get("type", "uint")
            kinds.add(kind)
            suffix = TYPED.get(kind, "int" if int(value["value"]) < 1 << 63 else "uint") if kind == "uint" else TYPED[kind]
            place = (value["offset"], value["length"])
            for other in ("int", "uint", "float", "bytes"):
                texts = shown.get(("iggy.option.value_" + other,) + place, [])
                assert len(texts) == (other == suffix), (pdu["pdu"], value["name"], other)
                assert all(same(value, text) for text in texts)
    assert {"string", "bool", "uint", "i8", "i16", "i32", "i64", "f32", "f64", "bytes"} <= kinds


# ---- a real server: values read by hand from the bytes of captures/real/01_admin_rust.pcapng ----

def one_frame(tshark, capture, packet):
    found = tshark.frames(capture, "-Y", "frame.number == %d" % packet)
    assert len(found) == 1
    return found[0].values


def times(values):
    return [to_micros(value) for value in values]


def test_real_create_topic_reply(tshark):
    """Packet 53: topic header of 49 bytes, two option blocks (99 and 175 bytes), three partitions of 40 bytes."""
    values = one_frame(tshark, "real/01_admin_rust.pcapng", 53)
    assert values["iggy.partitions_count"] == ["3"]
    assert values["iggy.topic.message_expiry"] == ["3600000000"]
    assert values["iggy.topic.compression_algorithm"] == ["2"]
    assert values["iggy.topic.max_topic_size"] == ["3221225472"]
    assert values["iggy.topic.name"] == ["t-options"]
    assert values["iggy.option.explicit.length"] == ["99"]
    assert values["iggy.option.derived.length"] == ["175"]
    assert values["iggy.option.key"] == [
        "compression_algorithm", "max_topic_size", "message_expiry", "enforce_fsync", "messages_required_to_save",
        "preallocate_segments", "segment_size", "size_of_messages_required_to_save"]
    assert values["iggy.option.value"] == ["gzip", "3221225472", "3600000000", "false", "1024", "false", "1073741824", "1048576"]
    assert values["iggy.option.value_int"] == ["3221225472", "3600000000", "1024", "1073741824", "1048576"]
    assert values["iggy.partition.id"] == ["0", "1", "2"]
    assert times(values["iggy.created_at"]) == [0x000661739FFED8A7] * 4
    assert values["iggy.current_offset"] == values["iggy.segments_count"] == ["0"] * 3
    assert "iggy.context.partition_incarnation" not in values


def test_real_group_details(tshark):
    """Packet 83: a group of four partitions and one member that has all of them."""
    values = one_frame(tshark, "real/01_admin_rust.pcapng", 83)
    assert values["iggy.consumer_group.name"][:1] == ["g-one"]
    assert values["iggy.members_count"] == ["1"]
    assert values["iggy.consumer_group.member.id"] == ["0"]
    assert values["iggy.partitions_count"] == ["4", "4"]
    assert values["iggy.partition.id"] == ["0", "1", "2", "3"]


def test_real_user_details(tshark):
    """Packet 99: permissions on streams 0 (topics 0 and 1) and 7; each flag as it stands in the 53 bytes."""
    values = one_frame(tshark, "real/01_admin_rust.pcapng", 99)
    assert values["iggy.user.id"][:1] == ["1"]
    assert values["iggy.user.name"][:1] == ["alice"]
    assert values["iggy.user.status"] == ["1"]
    assert times(values["iggy.created_at"]) == [0x00066173A00926EA]
    assert values["iggy.permission.length"] == ["53"]
    truth = [to_int(values["iggy.permission." + flag][0]) for flag in (
        "manage_servers", "read_servers", "manage_users", "read_users", "manage_streams", "read_streams", "manage_topics",
        "read_topics", "poll_messages", "send_messages", "has_streams")]
    assert truth == [0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1]
    assert values["iggy.stream.id"] == ["0", "7"]
    assert values["iggy.topic.id"] == ["0", "1"]
    flags = {"stream.manage_stream": [0, 1], "stream.read_stream": [1, 0], "stream.manage_topics": [0, 0],
             "stream.read_topics": [1, 0], "stream.poll_messages": [0, 0], "stream.send_messages": [0, 0],
             "stream.has_topics": [1, 0], "has_next_stream": [1, 0], "topic.manage_topic": [0, 1], "topic.read_topic": [1, 0],
             "topic.poll_messages": [1, 0], "topic.send_messages": [0, 1], "has_next_topic": [1, 0]}
    assert {flag: [to_int(text) for text in values["iggy.permission." + flag]] for flag in flags} == flags


def test_real_users(tshark):
    """Packet 105: root (no creation time), alice and bob; one option block each."""
    values = one_frame(tshark, "real/01_admin_rust.pcapng", 105)
    assert values["iggy.user.id"] == ["0", "1", "2"]
    assert values["iggy.user.name"] == ["iggy", "alice", "bob"]
    assert values["iggy.user.status"] == ["1", "1", "2"]
    assert values["iggy.option.explicit.length"] == ["0"] * 3
    assert "iggy.option.derived.length" not in values
    assert times(values["iggy.created_at"])[1:] == [0x00066173A00926EA, 0x00066173A00A663C]


def test_real_new_token(tshark):
    values = one_frame(tshark, "real/01_admin_rust.pcapng", 121)
    assert values["iggy.token.length"] == ["68"]
    assert values["iggy.token"] == ["kXFnuhqBMLcV3sndrwszmDG/IEnju/h8bDlq8l2IrRr2wJOfEWspOaCbkFrsbFTkbzE="]
    assert values["iggy.expert.secret"]


# ---- the SDK of 0.12.2: values read by hand from the bytes of captures/real012/01_admin.pcapng ----

def test_012_create_stream_with_a_key(tshark):
    """Packet 38: the key itself, 32 bytes from 0 on; packet 39: the reply has its fingerprint in the derived options."""
    asked_for = one_frame(tshark, "real012/01_admin.pcapng", 38)
    assert asked_for["iggy.stream.name"] == ["sealed"]
    assert asked_for["iggy.option.key"] == ["encryption_key"]
    assert asked_for["iggy.option.value.kind"] == ["1"]
    assert asked_for["iggy.option.value_bytes"] == [bytes(range(32)).hex(":")]
    assert asked_for["iggy.expert.secret"]
    answer = one_frame(tshark, "real012/01_admin.pcapng", 39)
    assert answer["iggy.stream.id"][:1] == ["1"]
    assert times(answer["iggy.created_at"]) == [0x000661749FF3C152]
    assert answer["iggy.option.explicit.length"] == ["0"] and answer["iggy.option.derived.length"] == ["89"]
    assert answer["iggy.option.key"] == ["encryption_key_fingerprint", "encryption_key_source"]
    assert answer["iggy.option.value"] == ["0123456789abcdef", "stream"]


def test_012_topic_details(tshark):
    """Packet 53: topic header of 32 bytes, blocks of 274 and 123 bytes, three partitions with node lists."""
    values = one_frame(tshark, "real012/01_admin.pcapng", 53)
    assert values["iggy.topic.name"][:1] == ["created"]
    assert values["iggy.option.explicit.length"] == ["274"] and values["iggy.option.derived.length"] == ["123"]
    options = dict(zip(values["iggy.option.key"], values["iggy.option.value"]))
    assert options == {
        "compression_algorithm": "gzip", "consumer_offset_durability": "replicated", "durability": "persisted",
        "max_topic_size": "3221225472", "message_expiry": "7200000000", "messages_required_to_save": "500",
        "preallocate_segments": "false", "segment_size": "67108864", "partition_resize_policy": "mutable",
        "replication_factor": "1", "size_of_messages_required_to_save": "1048576"}
    assert "iggy.topic.message_expiry" not in values
    assert values["iggy.partition.id"] == ["0", "1", "2"]
    assert values["iggy.segments_count"] == ["1"] * 3
    assert values["iggy.context.partition_incarnation"][-3:] == ["5"] * 3
    assert values["iggy.context.minimum_metadata_op"][-3:] == ["7"] * 3
    assert values["iggy.partition.members_count"] == ["1"] * 3
    assert values["iggy.partition.member"] == ["0"] * 3
    assert values["iggy.partition.in_sync_members_count"] == ["0"] * 3
    assert "iggy.partition.in_sync_member" not in values
    assert times(values["iggy.created_at"])[1:] == [0x000661749FF3CA6C, 0x000661749FF3CA6D, 0x000661749FF3CA6E]


# ---- bodies made here ----

class Session:
    """One connection with a login of a version; requests and replies by code."""

    OPERATIONS = {33: 141, 34: 143, 35: 142, 36: 145, 37: 144, 42: 146, 43: 147, 202: 128, 203: 130, 204: 129, 205: 131,
                  302: 132, 303: 134, 304: 133, 305: 135, 402: 136, 403: 137, 503: 138, 602: 139, 603: 140, 604: 148, 605: 149}
    RENAMED = {132: 64, 136: 65, 138: 68}

    def __init__(self, version):
        self.capture, self.number = Capture(), 0
        self.connection = self.capture.connection()
        self.connection.client(request(login_body(version), operation=1))
        self.connection.server(reply(login_reply(version=version), operation=1, op=1))

    def ask(self, code, body=b""):
        self.number += 1
        operation = self.OPERATIONS.get(code, 2)
        return self.connection.client(request(body, code=code if operation == 2 else 0, operation=operation, session=1,
                                              request=self.number))

    def answer(self, code, body=b""):
        operation = self.OPERATIONS.get(code, 2)
        if operation != 2:
            body = u32(0) + body
        return self.connection.server(reply(body, operation=self.RENAMED.get(operation, operation), request=self.number))

    def exchange(self, code, asked=b"", answered=b""):
        self.ask(code, asked)
        return self.answer(code, answered)

    def frames(self, tshark, folder, *options, **more):
        return tshark.frames(self.capture.write(folder / "made.pcap"), *options, **more)


def option(key, kind, data, key_kind=2):
    return header_value(key_kind, key.encode() if isinstance(key, str) else key) + header_value(kind, data)


def asked(tshark, folder, code, bodies, *arguments, version="0.12.2"):
    """The frames of requests with these bodies, in one capture."""
    session = Session(version)
    numbers = [session.ask(code, body) for body in bodies]
    frames = {frame.packet: frame for frame in session.frames(tshark, folder, *arguments)}
    return [frames[number] for number in numbers]


def created_streams(tshark, folder, lists, *arguments):
    """The frames of create_stream with these lists of options."""
    return asked(tshark, folder, 202, [name("orders") + options for options in lists], *arguments)


def created_stream(tshark, folder, options, *arguments):
    return created_streams(tshark, folder, [options], *arguments)[0]


KINDS = [
    (1, b"\x00\xff\x10", "00ff10", "bytes", "00:ff:10"),
    (2, "žluť".encode(), "žluť", None, None),
    (3, b"\x00", "false", None, None),
    (3, b"\x01", "true", None, None),
    (3, b"\x02", "2", None, None),
    (4, b"\x80", "-128", "int", "-128"),
    (5, b"\x00\x80", "-32768", "int", "-32768"),
    (6, b"\xff\xff\xff\xff", "-1", "int", "-1"),
    (7, b"\x00" * 7 + b"\x80", "-9223372036854775808", "int", "-9223372036854775808"),
    (8, b"\x00" * 15 + b"\x80", "-170141183460469231731687303715884105728", None, None),
    (8, b"\xff" * 16, "-1", None, None),
    (8, b"\xff" * 15 + b"\x7f", "170141183460469231731687303715884105727", None, None),
    (9, b"\xff", "255", "int", "255"),
    (10, b"\xff\xff", "65535", "int", "65535"),
    (11, b"\xff" * 4, "4294967295", "int", "4294967295"),
    (12, b"\xff" * 7 + b"\x7f", "9223372036854775807", "int", "9223372036854775807"),
    (12, b"\x00" * 7 + b"\x80", "9223372036854775808", "uint", "9223372036854775808"),
    (12, b"\xff" * 8, "18446744073709551615", "uint", "18446744073709551615"),
    (13, b"\x00" * 16, "0", None, None),
    (13, b"\xff" * 16, "340282366920938463463374607431768211455", None, None),
    (14, struct.pack("<f", 0.1), "0.1", "float", None),
    (14, struct.pack("<f", -1.5e30), "-1.5e+30", "float", None),
    (15, struct.pack("<d", 0.1), "0.1", "float", None),
    (15, struct.pack("<d", 1 / 3), "0.3333333333333333", "float", None),
    (15, struct.pack("<d", float("inf")), "inf", "float", None),
    (200, b"\xab\xcd", "abcd", "bytes", "ab:cd"),
]


def test_every_kind_of_value(tshark, tmp_path, two_pass):
    more = ["-2"] if two_pass else []
    frames = created_streams(tshark, tmp_path, [option("key", kind, data) for kind, data, *_ in KINDS], *more)
    for (kind, data, text, suffix, typed), frame in zip(KINDS, frames):
        values = frame.values
        assert values["iggy.option.key"] == ["key"]
        assert values["iggy.option.value.kind"] == [str(kind)]
        assert values["iggy.option.value.length"] == [str(len(data))]
        assert values["iggy.option.value"] == [text]
        for other in ("int", "uint", "float", "bytes"):
            assert ("iggy.option.value_" + other in values) == (other == suffix), (kind, text, other)
        if typed:
            assert values["iggy.option.value_" + suffix] == [typed]
        assert "iggy.expert.layout" not in values and "iggy.expert.value_length" not in values


def test_a_length_that_does_not_go_with_the_kind(tshark, tmp_path):
    """The structure holds; the value is bytes, with a warning, and what follows is decoded."""
    cases = [(12, 3), (3, 2), (4, 2), (8, 15), (13, 17), (14, 8), (15, 4), (5, 1), (6, 40)]
    lists = [option("a", kind, bytes(range(1, length + 1))) + option("b", 9, b"\x05") for kind, length in cases]
    for (kind, length), frame in zip(cases, created_streams(tshark, tmp_path, lists)):
        assert len(frame.values["iggy.expert.value_length"]) == 1, kind
        assert frame.values["iggy.option.value_bytes"] == [bytes(range(1, length + 1)).hex(":")]
        assert frame.values["iggy.option.key"] == ["a", "b"]
        assert frame.values["iggy.option.value_int"] == ["5"]


BROKEN = {
    "kind 0 of a key": option("k", 2, b"v", key_kind=0),
    "kind 0 of a value": option("k", 0, b"v"),
    "key of no bytes": option("", 2, b"v"),
    "value of no bytes": option("k", 2, b""),
    "key of 256 bytes": option("k" * 256, 2, b"v"),
    "value of 256 bytes": option("k", 2, b"v" * 256),
    "value past the end": option("k", 2, b"value")[:-1],
    "key without a value": option("k", 2, b"v")[:6],
    "length of 4 GiB": header_value(2, b"k") + u8(2) + b"\xff\xff\xff\xff" + b"v",
}


def test_lists_that_do_not_fit(tshark, tmp_path):
    """A good entry, then a bad one: the first is decoded, the rest is bytes with a warning; nothing is malformed."""
    lists = [option("good", 9, b"\x01") + broken for broken in BROKEN.values()]
    for case, frame in zip(BROKEN, created_streams(tshark, tmp_path, lists)):
        assert frame.values["iggy.option.key"][0] == "good", case
        assert frame.values["iggy.option.value"][0] == "1", case
        assert len(frame.values["iggy.expert.layout"]) == 1, case


def test_an_option_that_stands_twice(tshark, tmp_path):
    cases = {"abc": False, "cba": False, "bab": True, "aab": True, "baa": True, "aa": True, "a": False}
    lists = [b"".join(option(key, 9, b"\x01") for key in keys) for keys in cases]
    lists.append(option("aa", 9, b"\x01") + option("a", 9, b"\x01"))
    frames = created_streams(tshark, tmp_path, lists)
    for (keys, twice), frame in zip(cases.items(), frames):
        assert len(frame.values.get("iggy.expert.option_duplicate", [])) == int(twice), keys
        assert frame.values["iggy.option.key"] == list(keys)
    assert "iggy.expert.option_duplicate" not in frames[-1].values


@pytest.mark.parametrize("count, wrong", [(1024, False), (1025, True)])
def test_at_most_1024_options(tshark, tmp_path, count, wrong):
    values = created_stream(tshark, tmp_path, b"".join(option("%05d" % n, 9, b"\x01") for n in range(count))).values
    assert len(values["iggy.option.key"]) == count
    assert ("iggy.expert.count" in values) == wrong


def test_keys_of_options_are_strings(tshark, tmp_path):
    values = created_stream(tshark, tmp_path, option(b"\x07\x00\x00\x00", 9, b"\x01", key_kind=11)).values
    assert len(values["iggy.expert.option_key_kind"]) == 1
    assert values["iggy.option.key"] == ["7"]


def lines(frame, field):
    """The lines of the tree of a field."""
    return [item.get("showname") for item in frame.element.iter("field") if item.get("name") == field]


MEANINGS = [
    ("message_expiry", 12, u64(0), "Option: message_expiry = 0 (server default)"),
    ("message_expiry", 12, u64(2 ** 64 - 1), "Option: message_expiry = 18446744073709551615 (never)"),
    ("message_expiry", 12, u64(3 * 86_400_000_000), "Option: message_expiry = 259200000000 (3 d)"),
    ("message_expiry", 12, u64(90_000_000), "Option: message_expiry = 90000000 (90 s)"),
    ("message_expiry", 12, u64(1), "Option: message_expiry = 1"),
    ("message_expiry", 2, b"18446744073709551615", "Option: message_expiry = 18446744073709551615 (never)"),
    ("message_expiry", 2, b"soon", "Option: message_expiry = soon"),
    ("max_topic_size", 12, u64(0), "Option: max_topic_size = 0 (server default)"),
    ("max_topic_size", 12, u64(2 ** 64 - 1), "Option: max_topic_size = 18446744073709551615 (unlimited)"),
    ("max_topic_size", 12, u64(3 << 30), "Option: max_topic_size = 3221225472 (3 GiB)"),
    ("segment_size", 2, b"1048576", "Option: segment_size = 1048576 (1 MiB)"),
    ("segment_size", 12, u64(0), "Option: segment_size = 0"),
    ("durability", 2, b"persisted", "Option: durability = persisted"),
    ("unknown", 12, u64(0), "Option: unknown = 0"),
]


def test_known_options_say_what_they_mean(tshark, tmp_path):
    frames = created_streams(tshark, tmp_path, [option(key, kind, data) for key, kind, data, _ in MEANINGS])
    assert [lines(frame, "iggy.option") for frame in frames] == [[line] for *_, line in MEANINGS]


def test_an_encryption_key_is_a_secret(tshark, tmp_path):
    key = bytes(range(32))
    shown = created_stream(tshark, tmp_path, option("encryption_key", 1, key))
    assert shown.values["iggy.option.value_bytes"] == [key.hex(":")]
    assert len(shown.values["iggy.expert.secret"]) == 1
    hidden = created_stream(tshark, tmp_path, option("encryption_key", 1, key), "-o", "iggy.hide_secrets:TRUE")
    assert "iggy.option.value_bytes" not in hidden.values
    assert hidden.values["iggy.option.value"] == ["[hidden]"]
    assert lines(hidden, "iggy.option") == ["Option: encryption_key = [hidden]"]


def test_passwords_and_tokens_are_hidden_on_request(tshark, tmp_path):
    session = Session("0.12.2")
    session.ask(33, name("alice") + name("open sesame") + b"\x01\x00")
    session.ask(37, ident("alice") + name("open sesame") + name("mellon"))
    session.exchange(42, name("ci") + u64(0), name("tok3n"))
    path = session.capture.write(tmp_path / "made.pcap")
    secrets = ["open sesame", "mellon", "tok3n"]
    names = ["iggy.password", "iggy.new_password", "iggy.token"]
    shown = [value for row in tshark.fields(path, names) for values in row for value in values]
    assert [value for value in shown if value in secrets] == ["open sesame", "open sesame", "mellon", "tok3n"]
    text = tshark.verbose(path, "-o", "iggy.hide_secrets:TRUE") + "".join(tshark.info(path, "-o", "iggy.hide_secrets:TRUE"))
    assert not any(secret in text for secret in secrets)


# ---- versions ----

def stream_header(version, number=1, topics=0, title="orders", explicit=b"", derived=b""):
    out = u32(number) + u64(1_700_000_000_000_001) + u32(topics) + u64(4096) + u64(77) + name(title) + text32(explicit)
    return out + (b"" if version == "0.11.0" else text32(derived))


def topic_header(version, number=3, partitions=2, title="events", explicit=b"", derived=b""):
    out = u32(number) + u64(1_700_000_000_000_002) + u32(partitions)
    if version == "0.11.0":
        out += u64(2 ** 64 - 1) + u8(1) + u64(0)
    return out + u64(8192) + u64(55) + name(title) + text32(explicit) + text32(derived)


def partition(version, number, members=(0, 1, 2), in_sync=(0, 2)):
    out = u32(number) + u64(1_700_000_000_000_003) + u32(4) + u64(99 + number) + u64(1000) + u64(100)
    if version != "0.11.0":
        out += u64(11) + u64(12) + u64(13)
    if version == "0.12.2":
        out += u8(len(members)) + bytes(members) + u8(len(in_sync)) + bytes(in_sync)
    return out


def last(session, tshark, folder, **more):
    return session.frames(tshark, folder, **more)[-1]


def clean(values):
    return not any(key.startswith("iggy.expert.") for key in values) and "iggy.undecoded" not in values


@pytest.mark.parametrize("version", VERSION_NAMES)
def test_get_stream_in_every_version(tshark, tmp_path, version, two_pass):
    session = Session(version)
    body = stream_header(version, topics=2) + topic_header(version) + topic_header(version, 4, 1, "other")
    session.exchange(200, ident(1), body)
    frame = last(session, tshark, tmp_path, two_pass=two_pass)
    values = frame.values
    assert values["iggy.stream.id"][:1] == ["1"] and values["iggy.stream.name"][:1] == ["orders"]
    assert values["iggy.topics_count"] == ["2"]
    assert values["iggy.topic.id"] == ["3", "4"]
    assert values["iggy.topic.name"] == ["events", "other"]
    assert values["iggy.partitions_count"] == ["2", "1"]
    assert values["iggy.size_bytes"] == ["4096", "8192", "8192"]
    assert values["iggy.messages_count"] == ["77", "55", "55"]
    assert times(values["iggy.created_at"]) == [1_700_000_000_000_001] + [1_700_000_000_000_002] * 2
    assert len(values["iggy.option.explicit.length"]) == 3
    assert len(values["iggy.option.derived.length"]) == (2 if version == "0.11.0" else 3)
    assert lines(frame, "iggy.stream") == ["Stream 1: orders, 2 topics, 77 messages"]
    assert lines(frame, "iggy.topic") == ["Topic 3: events, 2 partitions", "Topic 4: other, 1 partition"]
    assert clean(values)


@pytest.mark.parametrize("version", VERSION_NAMES)
def test_get_topic_in_every_version(tshark, tmp_path, version, two_pass):
    session = Session(version)
    body = topic_header(version) + partition(version, 0) + partition(version, 1, members=(), in_sync=())
    session.exchange(300, ident("orders") + ident(3), body)
    frame = last(session, tshark, tmp_path, two_pass=two_pass)
    values = frame.values
    assert values["iggy.partition.id"] == ["0", "1"]
    assert values["iggy.segments_count"] == ["4", "4"]
    assert values["iggy.current_offset"] == ["99", "100"]
    assert values["iggy.messages_count"] == ["55", "100", "100"]
    if version == "0.11.0":
        assert values["iggy.topic.compression_algorithm"] == ["1"]
        assert lines(frame, "iggy.topic.message_expiry") == ["Message expiry: never (18446744073709551615)"]
        assert lines(frame, "iggy.topic.max_topic_size") == ["Maximum topic size: server default (0)"]
        assert "iggy.context.owner_generation" not in values
    else:
        assert "iggy.topic.message_expiry" not in values
        assert values["iggy.context.partition_incarnation"][-2:] == ["11", "11"]
        assert values["iggy.context.owner_generation"][-2:] == ["12", "12"]
        assert values["iggy.context.minimum_metadata_op"][-2:] == ["13", "13"]
    if version == "0.12.2":
        assert values["iggy.partition.members_count"] == ["3", "0"]
        assert values["iggy.partition.member"] == ["0", "1", "2"]
        assert values["iggy.partition.in_sync_members_count"] == ["2", "0"]
        assert values["iggy.partition.in_sync_member"] == ["0", "2"]
    else:
        assert "iggy.partition.members_count" not in values
    assert lines(frame, "iggy.partition") == ["Partition 0: current offset 99, 100 messages",
                                              "Partition 1: current offset 100, 100 messages"]
    assert clean(values)


@pytest.mark.parametrize("version", VERSION_NAMES)
def test_user_details_without_permissions(tshark, tmp_path, version):
    session = Session(version)
    body = u32(5) + u64(0) + u8(2) + name("bob") + u32(0) + (b"" if version == "0.11.0" else u32(0)) + u32(0)
    session.exchange(31, ident("bob"), body)
    frame = last(session, tshark, tmp_path)
    assert frame.values["iggy.user.id"][-1] == "5"
    assert frame.values["iggy.user.status"] == ["2"]
    assert frame.values["iggy.user.has_permissions"] == ["0"]
    assert frame.values["iggy.unused"] == ["00:00:00"]
    assert "iggy.permission" not in frame.values
    assert lines(frame, "iggy.created_at") == ["Created at: not set"]
    assert lines(frame, "iggy.user") == ["User 5: bob"]
    assert clean(frame.values)


def test_permissions_are_named_on_their_lines(tshark, tmp_path):
    """Continuation bytes stand before the first entry and after every entry, for streams and for topics."""
    topic = u32(1) + b"\x01\x00\x00\x01" + b"\x01" + u32(2) + b"\x00\x00\x00\x00" + b"\x00"
    stream = u32(7) + b"\x01\x00\x01\x00\x00\x01" + b"\x01" + topic + b"\x01"
    last_stream = u32(8) + b"\x00\x01\x00\x00\x00\x00" + b"\x00" + b"\x00"
    block = b"\x00\x01" + bytes(6) + b"\x01\x00" + b"\x01" + stream + last_stream
    session = Session("0.12.2")
    number = session.ask(36, ident(5) + b"\x01" + text32(block))
    frame = next(f for f in session.frames(tshark, tmp_path) if f.packet == number)
    assert lines(frame, "iggy.permission") == ["Permissions: read_servers, poll_messages"]
    assert lines(frame, "iggy.permission.stream") == ["Stream 7: manage_stream, manage_topics, send_messages",
                                                      "Stream 8: read_stream"]
    assert lines(frame, "iggy.permission.topic") == ["Topic 1: manage_topic, send_messages", "Topic 2: none"]
    assert clean(frame.values)


def test_only_1_is_present(tshark, tmp_path):
    """Presence bytes of requests are lenient: every other value is absent (encodings.md 1.2)."""
    flags = [0, 1, 2, 255]
    start, end = name("alice") + name("pass") + b"\x01", option("x", 9, b"\x01")
    bodies = [start + u8(flag) + (text32(bytes(11)) if flag == 1 else b"") + end for flag in flags]
    for flag, frame in zip(flags, asked(tshark, tmp_path, 33, bodies)):
        assert ("iggy.permission" in frame.values) == (flag == 1)
        assert frame.values["iggy.option.key"] == ["x"]
        assert "iggy.expert.layout" not in frame.values


def test_update_user(tshark, tmp_path):
    cases = [(None, None), ("robert", None), (None, 2), ("robert", 1)]
    bodies = [ident("bob") + (b"\x01" + name(new_name) if new_name else b"\x00") +
              (b"\x01" + u8(status) if status else b"\x00") for new_name, status in cases]
    for (new_name, status), frame in zip(cases, asked(tshark, tmp_path, 35, bodies, version="0.11.0")):
        values = frame.values
        assert values["iggy.user.name"] == ["bob"]
        assert values["iggy.has_new_name"] == [str(int(bool(new_name)))]
        assert values["iggy.user.has_status"] == [str(int(bool(status)))]
        assert values.get("iggy.user.new_name", []) == ([new_name] if new_name else [])
        assert values.get("iggy.user.status", []) == ([str(status)] if status else [])
        assert "iggy.undecoded" not in values and "iggy.extra" not in values


@pytest.mark.parametrize("version", VERSION_NAMES)
def test_group_details_and_assignments(tshark, tmp_path, version):
    session = Session(version)
    member = u32(9) + u32(2) + u32(4) + u32(5)
    session.exchange(600, ident(1) + ident(2) + ident("readers"),
                     u32(6) + u32(8) + u32(2) + name("readers") + member + u32(10) + u32(0))
    frame = last(session, tshark, tmp_path)
    assert lines(frame, "iggy.consumer_group") == ["Consumer group 6: readers, 8 partitions, 2 members"]
    assert lines(frame, "iggy.consumer_group.member") == ["Member 9, partitions: 2", "Member 10, partitions: 0"]
    assert frame.values["iggy.partition.id"] == ["4", "5"]
    assert clean(frame.values)
    session.exchange(606, ident(1) + ident(2) + ident("readers"), u64(2 ** 40) + u32(3) + u32(0) + u32(7) + u32(1))
    values = last(session, tshark, tmp_path).values
    assert values["iggy.consumer_group.generation"] == [str(2 ** 40)]
    assert values["iggy.partition.id"] == ["0", "7", "1"]
    assert clean(values)


@pytest.mark.parametrize("code", [31, 200, 300, 600, 606])
def test_not_found_is_an_empty_reply(tshark, tmp_path, code):
    body = {31: ident(1), 200: ident(1), 300: ident(1) + ident(2)}.get(code, ident(1) + ident(2) + ident(3))
    session = Session("0.12.0")
    session.exchange(code, body)
    assert clean(last(session, tshark, tmp_path).values)


@pytest.mark.parametrize("code", [32, 41, 201, 601])
def test_empty_listings(tshark, tmp_path, code):
    session = Session("0.11.0")
    session.exchange(code, ident(1) + ident(2) if code == 601 else b"")
    assert clean(last(session, tshark, tmp_path).values)


TOKEN_TIMES = [
    (0, "Access token expires after: server default: never (0)"),
    (2 ** 64 - 1, "Access token expires after: never (18446744073709551615)"),
    (3_600_000_000, "Access token expires after: 3600000000µs"),
]


def test_expiry_of_a_new_token(tshark, tmp_path):
    bodies = [name("ci") + u64(expiry) for expiry, _ in TOKEN_TIMES]
    for (expiry, line), frame in zip(TOKEN_TIMES, asked(tshark, tmp_path, 42, bodies)):
        assert [text.replace(" µs", "µs") for text in lines(frame, "iggy.token.expiry")] == [line]
        assert frame.values["iggy.token.expiry"] == [str(expiry)]
        assert frame.values["iggy.token.name"] == ["ci"]


def test_tokens_that_never_expire(tshark, tmp_path):
    session = Session("0.12.2")
    session.exchange(41, b"", name("a") + u64(0) + name("b") + u64(1_700_000_000_123_456))
    frame = last(session, tshark, tmp_path)
    assert lines(frame, "iggy.token.entry") == ["Access token: a", "Access token: b"]
    assert lines(frame, "iggy.token.expiry_at")[0] == "Access token expires at: never"
    assert times(frame.values["iggy.token.expiry_at"])[1] == 1_700_000_000_123_456


# ---- what breaks the rules ----

def test_an_empty_name(tshark, tmp_path):
    empty, good = asked(tshark, tmp_path, 202, [name(""), name("x")])
    assert len(empty.values["iggy.expert.empty_name"]) == 1
    assert "iggy.expert.empty_name" not in good.values


def test_identifiers_that_are_none(tshark, tmp_path):
    """The length is known, so what follows is decoded all the same."""
    wrong = [b"\x03\x04" + u32(1), b"\x00\x04" + u32(1), b"\x01\x03abc", b"\x02\x00"]
    for frame in asked(tshark, tmp_path, 300, [one + ident("events") for one in wrong]):
        assert len(frame.values["iggy.expert.bad_kind"]) == 1
        assert frame.values["iggy.topic.name"] == ["events"]
        assert "iggy.stream.id" not in frame.values and "iggy.stream.name" not in frame.values


def test_a_status_that_is_not_defined(tshark, tmp_path):
    values = asked(tshark, tmp_path, 33, [name("alice") + name("pass") + b"\x07\x00"])[0].values
    assert values["iggy.user.status"] == ["7"]
    assert len(values["iggy.expert.bad_kind"]) == 1


def test_more_elements_than_bytes(tshark, tmp_path):
    """The count of partitions is bounded by the bytes; those that are there are shown."""
    session = Session("0.12.0")
    session.exchange(300, ident(1) + ident(2), topic_header("0.12.0", partitions=0xFFFFFFFF) + partition("0.12.0", 0))
    values = last(session, tshark, tmp_path).values
    assert values["iggy.partition.id"] == ["0"]
    assert len(values["iggy.expert.layout"]) == 1


def test_bytes_after_the_last_field(tshark, tmp_path):
    """The Node SDK of 0.11.0 appends a count to delete_topic (commands.md 7)."""
    values = asked(tshark, tmp_path, 303, [ident(1) + ident(2) + u32(3)], version="0.11.0")[0].values
    assert values["iggy.extra"] == ["03:00:00:00"]
    assert len(values["iggy.expert.extra"]) == 1
    assert "iggy.expert.layout" not in values


def test_a_body_that_ends_early(tshark, tmp_path):
    """create_topic cut at every byte: a warning at the field that is cut, never malformed."""
    body = ident(1) + u32(12) + name("events")
    frames = asked(tshark, tmp_path, 302, [body[:end] for end in range(len(body) + 1)])
    assert [len(frame.values.get("iggy.expert.layout", [])) for frame in frames] == [1] * len(body) + [0]
    assert [frame.values.get("iggy.partitions_count", []) for frame in frames] == [[]] * 10 + [["12"]] * 8
