# Commands of the system, of logins, of messages and of consumer offsets (commands.md 4 and 6).
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Values by field: of the codec at their places under their names, of a real server as read by hand, of bodies made here."""

import re
import struct

import pytest

from synth import (Capture, VERSIONS, batch, header_value, ident, login_body, login_reply, message, name, partition_key,
                   poll_body, reply, request, send_body, text32, u8, u32, u64)
from test_commands_users_streams_groups import expected, fields_at, one_frame, same, times

VERSION_NAMES = sorted(VERSIONS)
U16 = struct.Struct("<H").pack
CODES = {1, 10, 11, 12, 13, 14, 15, 16, 17, 20, 21, 22, 38, 39, 40, 44, 45} | set(range(100, 110)) | set(range(120, 124))

# ---- what the codec wrote, under which name it must stand ----

I = r"(?:\[\d+\])"
BATCH = r"(?:batch|batches%s|sections%s\.records%s)\." % (I, I, I)
MESSAGE = BATCH + r"messages%s\." % I
TLV = r"(?:options%s|(?:records|items)%s\.body\.options\.(?:explicit|derived)%s)\." % (I, I, I)
CHANGE = r"(?:records|items)%s\.body\." % I
KEY = CHANGE + r"(?:key|topic|user|stream)\.(?:stream\.)?"
CURSOR = r"(?:cursor|next|(?:current_page_)?token\.anchor)\."
TOKEN = r"(?:current_page_)?token\."
FLAGS = "manage_servers read_servers manage_users read_users manage_streams read_streams manage_topics read_topics " \
        "poll_messages send_messages"
STATS = "process_id cpu_usage total_cpu_usage memory_usage total_memory available_memory run_time start_time read_bytes " \
        "written_bytes messages_size_bytes streams_count clients_count hostname os_name os_version kernel_version " \
        "threads_count free_disk_space total_disk_space open_files_count open_files_limit"

# Codes (None: all), pattern of the codec's name without "body.", field without "iggy."; the first that fits.
FIELDS = [
    (None, r"result\..*", None),
    (None, MESSAGE + r"user_headers%s\.(key|value)" % I, r"message.header.\1"),
    (None, MESSAGE + r"user_headers%s\.(key|value)_(kind|length)" % I, r"message.header.\1.\2"),
    (None, MESSAGE + r"user_headers_length", "message.headers_length"),
    (None, MESSAGE + r"(\w+)", r"message.\1"),
    (None, BATCH + r"partition_id", "partition.id|batch.partition_id"),
    (None, BATCH + r"batch_checksum", "batch.checksum"),
    (None, BATCH + r"batch_length", "batch.length"),
    (None, BATCH + r"producer\.flag", "batch.flags"),
    (None, BATCH + r"producer\.epoch", "batch.producer_epoch"),
    (None, BATCH + r"(?:producer\.)?(\w+)", r"batch.\1"),
    (None, TLV + r"(key|value)", r"option.\1"),
    (None, TLV + r"(key|value)_(kind|length)", r"option.\1.\2"),
    ({10}, r"cache_metrics\.count", "stats.cache_metrics_count"),
    ({10}, r"cache_metrics%s\.(stream|topic|partition)_id" % I, r"\1.id"),
    ({10}, r"cache_metrics%s\.(\w+)" % I, r"stats.cache_metric.\1"),
    ({10}, r"iggy_server_version(\.length)?", r"server.build\1"),
    ({10}, r"iggy_server_semver", "stats.server_semver"),
    ({10}, "(%s)" % STATS.replace(" ", "|"), r"stats.\1"),
    ({10}, r"(\w+)\.length", r"stats.\1.length"),
    ({10}, r"(\w+)", r"\1"),
    ({11}, r"compression", "snapshot.compression"),
    ({11}, r"snapshot_types\.count", "snapshot.types_count"),
    ({11}, r"snapshot_types%s" % I, "snapshot.type"),
    ({11}, r"data", "snapshot.data"),
    ({12}, r"name(\.length)?", r"cluster.name\1"),
    ({12}, r"nodes\.count", "nodes_count"),
    ({12, 103, 123}, r"(?:nodes%s|primary)\.replica_id" % I, "node.replica"),
    ({12, 103, 123}, r"(?:nodes%s|primary)\.([\w.]+)" % I, r"node.\1"),
    ({103, 123, 15}, r"(?:consumer_session|identity)\.client_id", "client"),
    ({103, 123, 15}, r"(?:consumer_session|identity)\.(\w+)", r"\1"),
    ({14}, r"client_id", "client"),
    ({13}, r"scope", "option.scope"),
    ({13}, r"entries\.count", "option.descriptors_count"),
    ({13}, r"entries%s\.kind" % I, "option.value.kind"),
    ({13}, r"entries%s\.default_value(\.length)?" % I, r"option.value\1"),
    ({13}, r"entries%s\.(flags|key|description)(\.length)?" % I, r"option.\1\2"),
    ({16}, r"target\.scope", "option.scope"),
    ({16}, r"target\.(stream|topic|user)_id\.(kind|length)", r"identifier.\2"),
    ({16}, r"target\.(stream|topic|user)_id\.value", r"\1.id|\1.name"),
    ({16}, r"reset\.count", "option.reset_count"),
    ({16}, r"reset%s(\.length)?" % I, r"option.reset_key\1"),
    ({20, 21, 22}, r"(?:client|clients%s)\.(?:client_id)" % I, "connection.id"),
    ({21}, r"client_id", "connection.id"),
    ({20, 21, 22}, r"(?:client|clients%s)\.user_id" % I, "user.id"),
    ({20, 21, 22}, r"(?:client|clients%s)\.consumer_groups_count" % I, "consumer_groups_count"),
    ({20, 21, 22}, r"(?:client|clients%s)\.([\w.]+)" % I, r"connection.\1"),
    ({20, 21}, r"consumer_groups%s\.group_id" % I, "consumer_group.id"),
    ({20, 21}, r"consumer_groups%s\.(stream|topic)_id" % I, r"\1.id"),
    ({38}, r"version(\.length)?", r"login.client_version\1"),
    ({38}, r"context(\.length)?", r"login.context\1"),
    ({15, 40, 45}, r"version_info\.protocol_version", "login.version"),
    ({15, 40, 45}, r"version_info\.sdk_(name|version)(\.length)?", r"sdk.\1\2"),
    ({15, 40, 45}, r"server_protocol_version", "server.version"),
    ({15, 40, 45}, r"server_version(\.length)?", r"server.build\1"),
    ({40, 45}, r"client_context(\.length)?", r"login.context\1"),
    (None, r"username(\.length)?", r"user.name\1"),
    (None, r"user_id", "user.id"),
    ({38, 40, 44, 45}, r"(password|token)(\.length)?", r"\1\2"),
    ({15, 40, 45}, r"bind_secret", "bind_secret"),
    ({17}, r"(since|until|log_id|next)\.flag", r"change.has_\1"),
    ({17}, CURSOR + "op", "change.cursor.op"),
    ({17}, CURSOR + r"(\w+)", r"change.\1"),
    ({17}, TOKEN + "last_key", None), # a test of its own
    ({17}, TOKEN + r"last_key\.length", "change.token.key.length"),
    ({17}, TOKEN + "group", "change.group"),
    ({17}, TOKEN + r"(\w+)", r"change.token.\1"),
    ({17}, r"(groups|records|items)\.count", r"change.\1_count"),
    ({17}, r"groups%s" % I, "change.group"),
    ({17}, r"(?:records|items)%s\.(op|ordinal|checksum|timestamp|group|kind)" % I, r"change.\1"),
    ({17}, r"records%s\.actor_user_id\.flag" % I, "change.has_actor"),
    ({17}, r"records%s\.actor_user_id" % I, "change.actor"),
    ({17}, CHANGE + "length", "change.body.length"),
    ({17}, KEY + "(stream|topic|user)_id", r"\1.id"),
    ({17}, KEY + "(stream_created_op|topic_created_op|user_created_at)", r"change.\1"),
    ({17}, CHANGE + "created_at", "created_at"),
    ({17}, CHANGE + r"name(\.length)?", r"stream.name\1|topic.name\1|consumer_group.name\1|user.name\1|token.name\1"),
    ({17}, CHANGE + r"username(\.length)?", r"user.name\1"),
    ({17}, CHANGE + r"options\.state", "change.options_state"),
    ({17}, CHANGE + r"options\.(explicit|derived)\.length", r"option.\1.length"),
    ({17}, CHANGE + r"requested_op(\.flag)?", {"": "change.requested_op", ".flag": "change.has_requested_op"}),
    ({17}, CHANGE + r"member_id(\.flag)?", {"": "consumer_group.member.id", ".flag": "change.has_member"}),
    ({17}, CHANGE + r"removed_partition_ids\.count", "change.removed_count"),
    ({17}, CHANGE + r"partition_ids\.count", "change.member_partitions_count"),
    ({17}, CHANGE + r"(?:removed_)?partition_ids%s" % I, "partition.id"),
    ({17}, CHANGE + "partition_id", "partition.id"),
    ({17}, CHANGE + "group_id", "consumer_group.id"),
    ({17}, CHANGE + "client_id", "client"),
    ({17}, CHANGE + "(partitions_count|members_count|consumer_groups_count|session)", r"\1"),
    ({17}, CHANGE + "status", "user.status"),
    ({17}, CHANGE + "expiry", "token.expiry_at"),
    ({17}, CHANGE + "reason", "change.leave_reason|change.permissions_reason|change.token_reason|change.session_reason"),
    ({17}, CHANGE + r"permissions\.flag", "change.has_permissions"),
    ({17}, CHANGE + r"permissions\.global\.(%s)" % FLAGS.replace(" ", "|"), r"permission.\1"),
    ({17}, CHANGE + r"permissions\.has_streams", "permission.has_streams"),
    ({17}, CHANGE + r"permissions\.streams%s\.stream_id" % I, "stream.id"),
    ({17}, CHANGE + r"permissions\.streams%s\.has_next" % I, "permission.has_next_stream"),
    ({17}, CHANGE + r"permissions\.streams%s\.(\w+)" % I, r"permission.stream.\1"),
    ({17}, CHANGE + r"permissions\.streams%s\.topics%s\.topic_id" % (I, I), "topic.id"),
    ({17}, CHANGE + r"permissions\.streams%s\.topics%s\.has_next" % (I, I), "permission.has_next_topic"),
    ({17}, CHANGE + r"permissions\.streams%s\.topics%s\.(\w+)" % (I, I), r"permission.topic.\1"),
    ({17}, r"(start|since|until|limit|status|phase|log_id|oldest_op|retained_since|head_op|has_more)", r"change.\1"),
    (None, r"(?:poll\.)?(?:stream_id|topic_id|consumer\.id)\.(kind|length)", r"identifier.\1"),
    (None, r"(?:poll\.)?(stream|topic)_id\.value", r"\1.id|\1.name"),
    (None, r"(?:poll\.)?consumer\.id\.value", "consumer.id|consumer.name|consumer_group.id|consumer_group.name"),
    (None, r"(?:poll\.)?consumer\.kind", "consumer.kind"),
    (None, r"(?:poll\.)?partition_id\.flag", "partition.present"),
    (None, r"(?:poll\.|targets%s\.|partitions%s\.|sections%s\.|confirmations%s\.)?partition_id" % (I, I, I, I), "partition.id"),
    (None, r"(?:poll\.|targets%s\.|partitions%s\.)?strategy\.kind" % (I, I), "poll.strategy"),
    (None, r"(?:poll\.|targets%s\.|partitions%s\.)?strategy\.value" % (I, I), "poll.offset|poll.timestamp"),
    (None, r"(?:poll\.)?(count|auto_commit)", r"poll.\1"),
    (None, r"(?:targets%s\.)?(min_count|max_bytes)" % I, r"poll.\1"),
    (None, r"(wait|request_timeout)_us", r"poll.\1"),
    (None, r"(?:sections%s\.)?context\.incarnation" % I, "context.partition_incarnation"),
    (None, r"(?:sections%s\.)?context\.owner_generation" % I, "context.owner_generation"),
    (None, r"(?:sections%s\.)?context\.metadata_op" % I, "context.minimum_metadata_op"),
    (None, r"targets%s\.incarnation" % I, "context.partition_incarnation"),
    (None, r"targets%s\.owner_generation" % I, "context.owner_generation"),
    (None, r"targets\.count", "poll.targets_count"),
    ({101}, r"partitioning\.kind", "partitioning.kind"),
    ({101}, r"partitioning\.length", "partitioning.length"),
    ({101}, r"partitioning\.value", "partition.id|partitioning.key"),
    ({101}, r"metadata_length", "send.metadata_length"),
    ({101}, r"confirmations\.count", "confirmations_count"),
    ({101}, r"confirmations%s\.base_offset" % I, "confirmation.base_offset"),
    ({101}, r"confirmations%s\.(stream|topic)_id" % I, r"\1.id"),
    ({102}, r"fsync", "flush.fsync"),
    ({105}, r"view", "partition_view"),
    ({105}, r"primary_replica", "route.primary"),
    ({105}, r"incarnation", "context.partition_incarnation"),
    ({105}, r"metadata_op", "context.minimum_metadata_op"),
    ({107}, r"partitions\.count", {"c2s": "poll.targets_count", "s2c": "poll.ready_count"}),
    ({107}, r"partitions%s" % I, "partition.id"),
    ({109}, r"sections\.count", "fetch.sections_count"),
    ({109}, r"sections%s\.(status|next_offset)" % I, r"fetch.\1"),
    ({109}, r"sections%s\.records_len" % I, "fetch.records_length"),
    (None, r"(?:sections%s\.)?(messages_count|current_offset|stored_offset|partitions_count)" % I, r"\1"),
    ({121}, r"offset", "offset"),
    (None, r"(session|metadata_watermark|ack|consumer_groups_count)", r"\1"),
]


def fields_of(pdu, value):
    """The filter names under which a value of the codec may stand; nothing for what other tests look at."""
    path = value["name"][len("body."):]
    for codes, pattern, field in FIELDS:
        match = (codes is None or pdu["code"] in codes) and re.fullmatch(pattern, path)
        if not match:
            continue
        if isinstance(field, dict):
            field = field[pdu["direction"]] if "c2s" in field else field[match.group(1) or ""]
        return ["iggy." + match.expand(one) for one in field.split("|")] if field else []
    raise AssertionError("this test does not know %s of %s" % (value["name"], pdu["code_name"]))


def alike(value, text):
    """Floats of 4 bytes are shown with 6 digits; of longer bytes the list has the first 64."""
    if value.get("type") == "f32":
        return abs(float(text) - value["value"]) <= abs(value["value"]) * 1e-5
    if value.get("type") == "bytes":
        text = text.replace(":", "")[:len(value["value"])]
    if value.get("type") == "u128" and not text.isdigit(): # ids and checksums are bytes in the order of the wire
        data = re.sub("[-:]", "", text)
        return data == int(value["value"]).to_bytes(16, "little").hex()
    return same(value, text)


def paired(tshark, version, two_pass=False):
    """(expected PDU, Frame) of the frames of these commands."""
    shown = tshark.frames("codec/client-%s.pcap" % version, two_pass=two_pass)
    wanted = expected(version)
    assert [frame.packet for frame in shown] == [pdu["frame"] for pdu in wanted]
    return [(pdu, frame) for pdu, frame in zip(wanted, shown) if pdu["code"] in CODES]


@pytest.mark.parametrize("version", VERSION_NAMES)
def test_values_under_their_names(tshark, version, two_pass):
    """Each value of a body is one item under its name, at its place."""
    faults, checked, codes = [], 0, set()
    for pdu, frame in paired(tshark, version, two_pass):
        shown = fields_at(frame)
        codes.add(pdu["code"])
        for value in pdu["values"]:
            names = fields_of(pdu, value) if value["name"].startswith("body.") else []
            if not names:
                continue
            checked += 1
            place = (value["offset"], value["length"])
            texts = [text for one in names for text in shown.get((one,) + place, [])]
            if len(texts) != 1 or not alike(value, texts[0]):
                faults.append((pdu["pdu"], pdu["code_name"], value["name"], value["value"], names, texts))
    assert faults[:5] == []
    assert checked > 1000 or version == "0.12.1" and checked > 400
    only = {"0.11.0": {15, 16, 17, 105, 106, 107, 108, 109}, "0.12.0": {14, 102, 103, 104, 109, 123},
            "0.12.2": {14, 102, 103, 104, 107, 123}}
    if version in only:
        assert codes == CODES - only[version]


@pytest.mark.parametrize("version", VERSION_NAMES)
def test_every_body_byte_is_a_named_field(tshark, version):
    """All but the reserved bytes of batches, which are zero and then not shown."""
    for pdu, frame in paired(tshark, version):
        covered, start = bytearray(pdu["size"]), int(frame.element.get("pos"))
        for field in frame.element.iter("field"):
            title, size = field.get("name") or "", int(field.get("size") or 0)
            offset = int(field.get("pos") or 0) - start
            if title == "iggy.batch.message_count":
                covered[offset + 4:offset + 208] = b"\1" * 204 # producer section and reserved
            if title == "iggy.message.payload_length":
                covered[offset + 4:offset + 12] = b"\1" * 8 # reserved
            container = any((child.get("name") or "").startswith("iggy.") for child in field)
            if container or title in ("", "iggy.undecoded", "iggy.extra", "iggy.opaque") or not title.startswith("iggy."):
                continue
            covered[offset:offset + size] = b"\1" * size
        missing = [at for at in range(256, pdu["size"]) if not covered[at]]
        if pdu["code"] == 17:
            continue # the reserved cursor of other starts than `after` is a test of its own
        assert missing == [], (pdu["pdu"], pdu["code_name"])


@pytest.mark.parametrize("version", ["0.12.0", "0.12.2"])
def test_last_keys_of_page_tokens(tshark, version):
    """The last key's parts are ids by group, over exactly the bytes of the codec's value."""
    kinds = set()
    parts = {1: ["stream.id"], 2: ["stream.id", "topic.id"], 3: ["stream.id", "topic.id"],
             4: ["stream.id", "topic.id", "consumer_group.id"],
             5: ["stream.id", "topic.id", "consumer_group.id", "consumer_group.member.id"], 6: ["user.id"], 8: ["session"]}
    for pdu, frame in paired(tshark, version):
        values = {one["name"]: one for one in pdu["values"]}
        for token in ("body.token", "body.current_page_token"):
            if pdu["code"] != 17 or token + ".last_key" not in values:
                continue
            group, key = values[token + ".group"]["value"], values[token + ".last_key"]
            kinds.add(group)
            shown, data, at = fields_at(frame), bytes.fromhex(key["value"]), key["offset"]
            for part in parts.get(group, []):
                size = 8 if part == "session" else 4
                number = int.from_bytes(data[:size], "little")
                assert shown["iggy." + part, at, size] == [str(number)], (pdu["pdu"], part)
                data, at = data[size:], at + size
            assert group == 7 or data == b""
    assert kinds


# ---- a real server, values read by hand from the bytes ----

def test_real_stats_reply(tshark):
    """01_admin_rust packet 21: the reply to get_stats, 0.11.0: it ends with the disk space."""
    values = one_frame(tshark, "real/01_admin_rust.pcapng", 21)
    assert values["iggy.stats.hostname"] and values["iggy.stats.os_name"]
    assert values["iggy.stats.total_disk_space"] and "iggy.stats.open_files_count" not in values
    assert "iggy.expert.layout" not in values and "iggy.extra" not in values


def test_real_poll_reply_and_lag(tshark):
    """Every poll reply of the capture: lag is the partition's end minus the last offset delivered."""
    seen = 0
    for frame in tshark.frames("real/02_produce_consume_rust.pcapng", "-Y", "iggy.code == 100 && iggy.command == 8"):
        values = frame.values
        if "iggy.last_offset" not in values:
            assert "iggy.consumer.lag" not in values
            continue
        seen += 1
        assert values["iggy.last_offset"] == values["iggy.message.offset"][-1:]
        assert values["iggy.first_offset"] == values["iggy.message.offset"][:1]
        lag = int(values["iggy.current_offset"][0]) - int(values["iggy.last_offset"][0])
        assert values["iggy.consumer.lag"] == [str(lag)]
        assert int(values["iggy.messages_count"][0]) == len(values["iggy.message.offset"])
    assert seen > 5


@pytest.mark.parametrize("capture", ["real/01_admin_rust.pcapng", "real/01c_admin_cli.pcapng",
                                     "real/02_produce_consume_rust.pcapng", "real/05_python.pcapng",
                                     "real012/01_admin.pcapng", "real012/02_produce.pcapng", "real012/03_pipeline.pcapng",
                                     "real012/04_deferred.pcapng"])
def test_real_bodies_fit(tshark, capture, two_pass):
    """Nothing left over, nothing that does not fit."""
    faults = "iggy.expert.layout || iggy.expert.extra || iggy.expert.reserved || iggy.expert.reserved_enforced || " \
             "iggy.expert.messages_count || iggy.expert.offset_delta || iggy.expert.bad_kind"
    assert tshark.fields(capture, ["frame.number"], "-Y", faults, two_pass=two_pass) == []


def test_real_malformed_body(tshark, two_pass):
    """real012/05_errors has one body that was cut on purpose: a name that is longer than what is left."""
    rows = tshark.fields("real012/05_errors.pcapng", ["frame.number", "iggy.code"], "-Y", "iggy.expert.layout || iggy.extra",
                         two_pass=two_pass)
    assert rows == [[["162"], ["202"]]]


# ---- bodies made here ----

class Session:
    """A connection with a login of a version; returns packet numbers."""

    OPERATIONS = {16: 150, 39: 3, 101: 160, 121: 161, 122: 162}
    FRAMED = {16, 121, 122}

    def __init__(self, version, login=None):
        self.capture, self.number, self.shown = Capture(), 0, {}
        self.connection = self.capture.connection()
        self.connection.client(request(login or login_body(version), operation=1))
        self.connection.server(reply(login_reply(version=version), operation=1, op=1))

    def ask(self, code, body=b""):
        self.number += 1
        operation = self.OPERATIONS.get(code, 2)
        return self.connection.client(request(body, code=code if operation == 2 else 0, operation=operation, session=1,
                                              request=self.number))

    def answer(self, code, body=b"", mss=None):
        return self.connection.server(reply((u32(0) if code in self.FRAMED else b"") + body,
                                            operation=self.OPERATIONS.get(code, 2), request=self.number), mss=mss)

    def exchange(self, code, asked, answered):
        self.ask(code, asked)
        return self.answer(code, answered)

    def frame(self, tshark, folder, packet, **more):
        """The values of the frame in a packet; the capture is dissected once as long as nothing is added to it."""
        key = (self.capture.number, *sorted(more.items()))
        if key not in self.shown:
            self.shown[key] = tshark.frames(self.capture.write(folder / "made.pcap"), **more)
        return next(frame for frame in self.shown[key] if frame.packet == packet).values


CONSUMER = u8(1) + ident(7)
CLIENT = bytes(range(100, 116))
POLL = poll_body("orders", "events", 3, 10, offset=100, consumer=7)


def test_stale_assignment(tshark, tmp_path):
    session = Session("0.11.0")
    packet = session.exchange(100, POLL, u32(0xFFFFFFFF) + u64(9) + u32(0))
    values = session.frame(tshark, tmp_path, packet)
    assert values["iggy.partition.id"][0] == "4294967295"
    assert values["iggy.expert.stale_assignment"] and "iggy.consumer.lag" not in values
    text = tshark.verbose(tmp_path / "made.pcap")
    assert "Partition: stale assignment (4294967295)" in text
    assert not any("partition 4294967295" in line for line in tshark.info(tmp_path / "made.pcap"))


@pytest.mark.parametrize("code", [40, 45])
@pytest.mark.parametrize("version", VERSION_NAMES)
@pytest.mark.parametrize("context", ["", "x" * 255, "y" * 300])
def test_login_by_name_or_by_token(tshark, tmp_path, code, version, context):
    """The code is not on the wire: the shape that fits to the last byte decides."""
    start = u32(VERSIONS[version]) + name("sdk") + name("1.2.3") + (bytes(range(32)) if version != "0.11.0" else b"")
    body = start + (name("alice") + name("secret") if code == 40 else name("token-of-alice")) + text32(context)
    session = Session(version, login=body)
    values = session.frame(tshark, tmp_path, 4)
    assert values["iggy.code"] == [str(code)]
    assert values["iggy.sdk.name"] == ["sdk"] and values["iggy.sdk.version"] == ["1.2.3"]
    assert values.get("iggy.user.name") == (["alice"] if code == 40 else None)
    assert values.get("iggy.password") == (["secret"] if code == 40 else None)
    assert values.get("iggy.token") == (["token-of-alice"] if code == 45 else None)
    assert values.get("iggy.login.context", [""]) == [context]
    assert ("iggy.bind_secret" in values) == (version != "0.11.0")
    assert "iggy.expert.layout" not in values and "iggy.extra" not in values
    assert len(values["iggy.expert.secret"]) == (1 if version == "0.11.0" else 2)


def test_login_that_fits_neither_shape(tshark, tmp_path):
    """Shown in the layout of 40 as far as it goes."""
    session = Session("0.11.0", login=u32(VERSIONS["0.11.0"]) + name("sdk") + name("1") + name("alice") + b"\x40abc")
    values = session.frame(tshark, tmp_path, 4)
    assert values["iggy.code"] == ["40"] and values["iggy.user.name"] == ["alice"]
    assert values["iggy.password.length"] == ["64"] and values["iggy.expert.layout"]


STATS = (u32(11) + struct.pack("<ff", 1.5, 99.25) + b"".join(u64(n) for n in range(20, 28)) + u32(1) + u32(2) +
         u32(3) + u32(4) + u64(5) + u32(6) + u32(7) + text32("host") + text32("Linux") + text32("6") + text32("6.1") +
         text32("0.10.0") + u32(10000) + u32(1) + u32(1) + u32(2) + u32(3) + u64(30) + u64(10) + struct.pack("<f", 0.75) +
         u32(8) + u64(1000) + u64(2000))


@pytest.mark.parametrize("version, tail, files", [("0.11.0", b"", None), ("0.12.0", b"", None),
                                                  ("0.12.0", u64(77) + u64(1024), ["77"]),
                                                  ("0.12.2", u64(78) + u64(1024), ["78"])])
def test_stats(tshark, tmp_path, version, tail, files):
    """The tail of 0.12 is there when bytes remain."""
    session = Session(version)
    values = session.frame(tshark, tmp_path, session.exchange(10, b"", STATS + tail))
    assert values["iggy.stats.cpu_usage"] == ["1.5"] and values["iggy.stats.total_cpu_usage"] == ["99.25"]
    assert values["iggy.stats.run_time"] == ["23"] and times(values["iggy.stats.start_time"]) == [24]
    assert values["iggy.stats.cache_metric.hit_ratio"] == ["0.75"] and values["iggy.partition.id"] == ["3"]
    assert values.get("iggy.stats.open_files_count") == files
    assert "iggy.extra" not in values and "iggy.expert.layout" not in values
    assert "Server version number: 0.10.0" in tshark.verbose(tmp_path / "made.pcap")


def test_absent_semver_and_unknown_values(tshark, tmp_path):
    session = Session("0.12.0")
    packet = session.exchange(10, b"", STATS.replace(u32(10000) + u32(1) + u32(1), u32(0) + u32(1) + u32(1)))
    session.ask(11, u8(9) + u8(2) + u8(1) + u8(77))
    assert "Server version number: not reported (0)" in tshark.verbose(session.capture.write(tmp_path / "made.pcap"))
    assert session.frame(tshark, tmp_path, packet)["iggy.stats.server_semver"] == ["0"]
    values = session.frame(tshark, tmp_path, packet + 1)
    assert values["iggy.snapshot.type"] == ["1", "77"]
    assert len(values["iggy.expert.bad_kind"]) == 2


def test_clients_not_logged_in_and_empty_reply(tshark, tmp_path):
    session = Session("0.11.0")
    client = u32(5) + u32(0xFFFFFFFF) + u8(1) + text32("10.0.0.9:4000") + u32(2)
    packet = session.exchange(22, b"", client + client)
    empty = session.exchange(21, u32(5), b"")
    values = session.frame(tshark, tmp_path, packet)
    assert values["iggy.connection.id"] == ["5", "5"] and values["iggy.consumer_groups_count"] == ["2", "2"]
    assert values["iggy.connection.address"] == ["10.0.0.9:4000"] * 2
    assert "iggy.connection.consumer_group" not in values
    assert "User: not logged in" in tshark.verbose(tmp_path / "made.pcap")
    assert "iggy.connection.id" not in session.frame(tshark, tmp_path, empty)


@pytest.mark.parametrize("scope, target, names", [
    (1, ident("orders") + ident(4), {"iggy.stream.name": ["orders"], "iggy.topic.id": ["4"]}),
    (2, ident(9), {"iggy.stream.id": ["9"]}), (3, ident("bob"), {"iggy.user.name": ["bob"]})])
def test_update_resource(tshark, tmp_path, scope, target, names):
    session = Session("0.12.2")
    option = header_value(2, b"message_expiry") + header_value(12, u64(1000))
    first = session.ask(16, u8(scope) + target + u8(2) + name("durability") + name("segment_size") + option)
    second = session.ask(16, u8(scope) + target + u8(0))
    values = session.frame(tshark, tmp_path, first)
    for field, want in names.items():
        assert values[field] == want
    assert values["iggy.option.reset_key"] == ["durability", "segment_size"] and values["iggy.option.key"] == ["message_expiry"]
    assert "iggy.expert.nothing_to_update" not in values
    assert session.frame(tshark, tmp_path, second)["iggy.expert.nothing_to_update"]


def test_update_resource_of_no_scope(tshark, tmp_path):
    session = Session("0.12.2")
    values = session.frame(tshark, tmp_path, session.ask(16, u8(4) + ident(1) + u8(0)))
    assert values["iggy.expert.layout"] and "iggy.stream.id" not in values


# ---- sending, polling, fetching ----

ONE = [message(b"a", 0), message(b"bb", 1)]


def test_count_of_messages_that_lies(tshark, tmp_path):
    session = Session("0.12.2")
    body = send_body("orders", "events", 3, batch(ONE))
    good, bad = session.ask(101, body), session.ask(101, body.replace(partition_key(3) + u32(2), partition_key(3) + u32(5)))
    assert "iggy.expert.messages_count" not in session.frame(tshark, tmp_path, good)
    assert len(session.frame(tshark, tmp_path, bad)["iggy.expert.messages_count"]) == 1


def test_metadata_length_that_lies(tshark, tmp_path):
    """Its bytes must end with the count of messages: what is left in it is extra, and the batch is read after it."""
    session = Session("0.12.2")
    body = send_body("orders", "events", 3, batch(ONE))
    length = struct.unpack_from("<I", body)[0]
    packet = session.ask(101, u32(length + 2) + body[4:4 + length] + b"\xee\xff" + body[4 + length:])
    values = session.frame(tshark, tmp_path, packet)
    assert values["iggy.extra"] == ["ee:ff"] and values["iggy.batch.message_count"] == ["2"]


def test_send_replies(tshark, tmp_path):
    session = Session("0.12.2")
    body = send_body("orders", "events", 3, batch(ONE))
    empty = session.exchange(101, body, b"")
    none = session.exchange(101, body, u32(0))
    two = session.exchange(101, body, u32(2) + u32(1) + u32(2) + u32(3) + u64(40) + u32(1) + u32(2) + u32(4) + u64(50))
    assert "iggy.confirmations_count" not in session.frame(tshark, tmp_path, empty)
    values = session.frame(tshark, tmp_path, none)
    assert values["iggy.confirmations_count"] == ["0"] and "iggy.result.count" not in values
    values = session.frame(tshark, tmp_path, two)
    assert values["iggy.confirmation.base_offset"] == ["40", "50"] and values["iggy.partition.id"][:2] == ["3", "4"]


@pytest.mark.parametrize("kind, value, field, want", [
    (1, b"", None, None), (2, u32(9), "iggy.partition.id", "9"), (3, b"key", "iggy.partitioning.key", "6b:65:79")])
def test_partitioning(tshark, tmp_path, kind, value, field, want):
    session = Session("0.11.0")
    record_ = batch(ONE)
    routing = ident(1) + ident(2) + u8(kind) + u8(len(value)) + value + u32(2)
    values = session.frame(tshark, tmp_path, session.ask(101, u32(len(routing)) + routing + record_))
    assert values["iggy.partitioning.kind"] == [str(kind)]
    if field:
        assert values[field] == [want]
    assert ("iggy.partition.id" in values) == (kind == 2)
    assert values["iggy.batch.partition_id"] == ["0"]
    assert not [one for one in values if one.startswith("iggy.expert")]


@pytest.mark.parametrize("wait, timeout, good", [(0, 1, True), (600_000_000, 601_000_000, True), (5, 1_000_004, False),
                                                 (600_000_001, 630_000_000, False), (0, 630_000_001, False), (0, 0, False)])
def test_limits_of_waiting(tshark, tmp_path, wait, timeout, good):
    session = Session("0.12.2")
    packet = session.ask(106, POLL + u64(wait) + u32(1) + u32(4096) + u64(timeout))
    values = session.frame(tshark, tmp_path, packet)
    assert values["iggy.poll.wait"] == [str(wait)] and values["iggy.poll.request_timeout"] == [str(timeout)]
    assert ("iggy.expert.poll_limits" not in values) == good


@pytest.mark.parametrize("least, most_bytes, expert", [(0, 4096, "poll_limits"), (11, 4096, "poll_limits"), (10, 344, None),
                                                       (1, 343, "range")])
def test_limits_of_a_deferred_poll(tshark, tmp_path, least, most_bytes, expert):
    """The poll asks for 10 messages at most."""
    session = Session("0.12.2")
    values = session.frame(tshark, tmp_path, session.ask(106, POLL + u64(0) + u32(least) + u32(most_bytes) + u64(1_000_000)))
    assert [one for one in ("poll_limits", "range") if "iggy.expert." + one in values] == ([expert] if expert else [])


def fetch(targets, least=1, most=10, most_bytes=4096):
    return (CONSUMER + ident("orders") + ident("events") + u64(0) + u64(2_000_000) + u32(least) + u32(most) + u32(most_bytes) +
            u8(1) + u32(len(targets)) + b"".join(targets))


def target(partition=3, strategy=5, most_bytes=4096):
    return u32(partition) + u8(strategy) + u64(0) + u32(most_bytes) + u64(1) + u64(2)


@pytest.mark.parametrize("body, experts", [
    (fetch([target()]), []), (fetch([]), ["range"]), (fetch([target(strategy=1)]), []),
    (fetch([target(strategy=3)]), ["poll_limits"]), (fetch([target(most_bytes=5000)]), ["poll_limits"]),
    (fetch([target(most_bytes=343)]), ["range"]), (fetch([target()], least=11), ["poll_limits"]),
    (fetch([target(number) for number in range(1001)]), ["range"])])
def test_limits_of_a_fetch(tshark, tmp_path, body, experts):
    session = Session("0.12.2")
    values = session.frame(tshark, tmp_path, session.ask(109, body))
    assert [one for one in ("poll_limits", "range") if "iggy.expert." + one in values] == experts
    assert "iggy.expert.layout" not in values


def test_send_of_nothing(tshark, tmp_path):
    session = Session("0.12.2")
    values = session.frame(tshark, tmp_path, session.ask(101, send_body("orders", "events", 3, batch([]))))
    assert len(values["iggy.expert.range"]) == 1


@pytest.mark.parametrize("version, code, expert", [
    ("0.12.0", 103, "retired_code"), ("0.11.0", 103, None), ("0.12.1", 107, "retired_code"), ("0.12.0", 107, None),
    ("0.12.0", 109, "later_code"), ("0.12.1", 109, None), ("0.11.0", 38, "refused_code"), ("0.12.2", 44, "refused_code"),
    ("0.12.2", 14, "retired_code"), ("0.11.0", 1, None)])
def test_codes_and_versions(tshark, tmp_path, version, code, expert):
    session = Session(version)
    values = session.frame(tshark, tmp_path, session.ask(code, POLL if code == 103 else b""), check=False)
    shown = [one for one in ("retired_code", "later_code", "refused_code") if "iggy.expert." + one in values]
    assert shown == ([expert] if expert else [])


# ---- what a server refuses though the layout fits ----

def wait_for(targets):
    return (CONSUMER + ident("orders") + ident("events") + u64(0) + u64(2_000_000) + u32(len(targets)) +
            b"".join(u32(partition) + u8(5) + u64(0) for partition in targets))


@pytest.mark.parametrize("version, code, body", [
    ("0.12.0", 107, wait_for), ("0.12.2", 109, lambda targets: fetch([target(partition) for partition in targets]))])
def test_no_partition_twice(tshark, tmp_path, version, code, body):
    session = Session(version)
    good, bad = session.ask(code, body([7, 3, 5])), session.ask(code, body([7, 3, 5, 3]))
    assert "iggy.expert.poll_limits" not in session.frame(tshark, tmp_path, good)
    assert len(session.frame(tshark, tmp_path, bad)["iggy.expert.poll_limits"]) == 1
    assert "Partition 3 is asked for twice" in tshark.verbose(tmp_path / "made.pcap")


@pytest.mark.parametrize("timeout, good", [(1_000_000, True), (999_999, False)])
def test_a_fetch_that_does_not_wait_needs_its_margin_too(tshark, tmp_path, timeout, good):
    session = Session("0.12.2")
    values = session.frame(tshark, tmp_path, session.ask(109, fetch([target()]).replace(u64(2_000_000), u64(timeout))))
    assert values["iggy.poll.request_timeout"] == [str(timeout)]
    assert ("iggy.expert.poll_limits" not in values) == good


@pytest.mark.parametrize("reset, set_, why", [
    (["b", "a"], ["c"], None), (["a", "b", "a"], ["c"], "An option is reset twice"), (["b", "a"], ["a", "c"], "both reset and set"),
    (["a"], ["c", "a"], "both reset and set"), (["a"], ["ab"], None)])
def test_keys_of_an_update(tshark, tmp_path, reset, set_, why):
    session = Session("0.12.2")
    options = b"".join(header_value(2, key.encode()) + header_value(12, u64(1)) for key in set_)
    packet = session.ask(16, u8(2) + ident(9) + u8(len(reset)) + b"".join(map(name, reset)) + options)
    values = session.frame(tshark, tmp_path, packet)
    assert values["iggy.option.reset_key"] == reset and values["iggy.option.key"] == set_
    assert len(values.get("iggy.expert.range", [])) == (1 if why else 0)
    assert not why or why in tshark.verbose(tmp_path / "made.pcap")


@pytest.mark.parametrize("kind, value, producer, bad", [(2, u32(9), 7, 0), (1, b"", 7, 1), (3, b"key", 7, 1), (1, b"", None, 0),
                                                        (2, u32(9), (1 << 63) - 1, 0), (2, u32(9), 1 << 63, 1)])
def test_producers_of_a_request(tshark, tmp_path, kind, value, producer, bad):
    """A producer names its partition, and its id is at most 2^63-1 (messages.md 2.2)."""
    record_ = bytearray(batch(ONE))
    if producer is not None:
        struct.pack_into("<B3xQ", record_, 52, 1, producer)
    routing = ident(1) + ident(2) + u8(kind) + u8(len(value)) + value + u32(2)
    session = Session("0.12.2")
    values = session.frame(tshark, tmp_path, session.ask(101, u32(len(routing)) + routing + bytes(record_)))
    assert values.get("iggy.batch.producer_id") == (None if producer is None else [str(producer)])
    assert len(values.get("iggy.expert.range", [])) == bad


@pytest.mark.parametrize("version, kind, bad", [("0.11.0", 3, True), ("0.11.0", 2, False), ("0.11.0", 1, False),
                                                ("0.12.0", 3, False), ("0.12.2", 3, False)])
def test_external_groups_came_with_0_12(tshark, tmp_path, version, kind, bad):
    session = Session(version)
    packet = session.ask(120, u8(kind) + ident(8) + ident(1) + ident(2) + u8(1) + u32(0))
    values = session.frame(tshark, tmp_path, packet)
    assert values["iggy.consumer.kind"] == [str(kind)]
    assert ("iggy.expert.range" in values) == bad


def section(partition, records, status=0, current=100, count=0, following=0):
    return (u32(partition) + u32(status) + u64(current) + u32(count) + u64(1) + u64(2) + u64(3) + u64(following) +
            u32(len(records)))


def test_fetch_of_several_partitions(tshark, tmp_path, two_pass):
    session = Session("0.12.2")
    asked = (CONSUMER + ident("orders") + ident("events") + u64(0) + u64(2_000_000) + u32(1) + u32(10) + u32(4096) + u8(1) +
             u32(2) + b"".join(u32(p) + u8(5) + u64(0) + u32(4096) + u64(1) + u64(2) for p in (3, 4)))
    first = batch(ONE, 3, 10, 1_700_000_000_000_001)
    second = batch(ONE, 4, 20, 1_700_000_000_000_001) + batch(ONE, 4, 22, 1_700_000_000_000_002)
    packet = session.exchange(109, asked, u32(3) + section(3, first, count=2, following=12) + section(5, b"", status=3007) +
                              section(4, second, count=4, following=24) + first + second)
    values = session.frame(tshark, tmp_path, packet, two_pass=two_pass)
    assert values["iggy.fetch.status"] == ["0", "3007", "0"] and values["iggy.error"] == ["3007"]
    assert values["iggy.expert.partition_error"]
    assert values["iggy.message.offset"] == ["10", "11", "20", "21", "22", "23"]
    assert values["iggy.consumer.lag"] == ["89", "77"]
    assert values["iggy.first_offset"] == ["10", "20"] and values["iggy.last_offset"] == ["11", "23"]
    assert "iggy.expert.layout" not in values and "iggy.expert.messages_count" not in values
    info = tshark.info(tmp_path / "made.pcap", two_pass=two_pass)[packet - 1]
    assert "6 messages" in info and "offset" not in info


def test_fetch_whose_lengths_lie(tshark, tmp_path):
    session = Session("0.12.2")
    records = batch(ONE, 3, 10, 1_700_000_000_000_001)
    long = session.exchange(109, b"", u32(1) + section(3, records + b"\0", count=2) + records)
    short = session.exchange(109, b"", u32(1) + section(3, records[:-1], count=2) + records)
    many = session.exchange(109, b"", u32(1_000_000) + section(3, records, count=2) + records)
    for packet in (long, short, many):
        assert session.frame(tshark, tmp_path, packet)["iggy.expert.layout"], packet


def test_offsets(tshark, tmp_path):
    session = Session("0.12.2")
    where = CONSUMER + ident("orders") + ident("events") + u8(1) + u32(3)
    packet = session.exchange(120, where, u32(3) + u64(100) + u64(58))
    nothing = session.exchange(120, where, b"")
    ahead = session.exchange(120, where, u32(3) + u64(0) + u64(58))
    stored = session.ask(121, u8(3) + ident("ext") + ident("orders") + ident("events") + u8(0) + u32(0) + u64(59) + u8(1))
    values = session.frame(tshark, tmp_path, packet)
    assert values["iggy.consumer.lag"] == ["42"] and values["iggy.stored_offset"] == ["58"]
    assert "iggy.consumer.lag" not in session.frame(tshark, tmp_path, nothing)
    assert "iggy.consumer.lag" not in session.frame(tshark, tmp_path, ahead)
    values = session.frame(tshark, tmp_path, stored)
    assert values["iggy.consumer_group.name"] == ["ext"] and values["iggy.offset"] == ["59"] and values["iggy.ack"] == ["1"]
    assert "iggy.partition.id" not in values


@pytest.mark.parametrize("code", [103, 123])
def test_routing_of_0_11(tshark, tmp_path, code):
    session = Session("0.11.0")
    node = text32("n1") + text32("h") + U16(8090) + U16(0) + U16(3000) + U16(8092) + u8(0) + u8(4)
    asked = POLL if code == 103 else CONSUMER + ident(1) + ident(2) + u8(0) + u32(0)
    values = session.frame(tshark, tmp_path, session.exchange(code, asked, CLIENT + u64(7) + u64(9) + node))
    assert values["iggy.node.name"] == ["n1"] and values["iggy.node.tcp_port"] == ["8090"]
    assert values["iggy.node.status"] == ["4"] and "iggy.node.replica" not in values
    assert values["iggy.metadata_watermark"] == ["9"]
    assert "QUIC port: not offered (0)" in tshark.verbose(tmp_path / "made.pcap")


@pytest.mark.parametrize("version, want", [("0.11.0", None), ("0.12.1", ["3"])])
def test_nodes_of_a_cluster(tshark, tmp_path, version, want):
    session = Session(version)
    node = text32("n1") + text32("h") + U16(1) + U16(2) + U16(3) + U16(4) + u8(1) + u8(0)
    packet = session.exchange(12, b"", text32("c") + u32(2) + 2 * ((u8(3) if want else b"") + node))
    values = session.frame(tshark, tmp_path, packet)
    assert values["iggy.cluster.name"] == ["c"] and values["iggy.node.name"] == ["n1", "n1"]
    assert values.get("iggy.node.replica") == (want * 2 if want else None)


@pytest.mark.parametrize("version, flags", [("0.11.0", b""), ("0.12.0", b"\x14")])
def test_described_options(tshark, tmp_path, version, flags):
    session = Session(version)
    entry = name("message_expiry") + u8(12) + flags + text32(u64(5)) + text32("how long")
    none = name("name") + u8(2) + flags + text32("") + text32("")
    values = session.frame(tshark, tmp_path, session.exchange(13, u8(1), u32(2) + entry + none))
    assert values["iggy.option.key"] == ["message_expiry", "name"] and values["iggy.option.value"] == ["5"]
    assert values["iggy.option.value_int"] == ["5"] and values["iggy.option.description"] == ["how long", ""]
    if flags:
        assert [int(text, 0) for text in values["iggy.option.flags"]] == [0x14, 0x14]
        assert [text in ("1", "True") for text in values["iggy.option.flags.critical"]] == [True, True]
    else:
        assert "iggy.option.flags" not in values
