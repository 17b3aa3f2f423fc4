# What replies say of their requests where bodies begin alike: the first pass takes that from an earlier body.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests of one connection whose bodies differ late, in length alone, or in what names mean by then.

Every reply has to name the stream, topic and partition of its own request, whether the first pass had a tree (one pass, every
body is walked) or not (two passes: a body that begins like the one before is not walked again).
"""

import struct

import pytest

from synth import Capture, batch, ident, login_body, login_reply, message, partition_key, reply, request, u8, u32, u64

CLIENT = 77
SHOWN = ["iggy.stream.id", "iggy.stream.name", "iggy.topic.id", "iggy.topic.name", "iggy.partition.id", "iggy.consumer.id"]


def send(stream, topic, key, messages=1):
    record = batch([message(b"payload", index) for index in range(messages)])
    routing = ident(stream) + ident(topic) + key + u32(messages)
    return u32(len(routing)) + routing + record


def poll(stream, topic, partition, offset=0, consumer=9):
    present = u8(0) + u32(0) if partition is None else u8(1) + u32(partition)
    return u8(1) + ident(consumer) + ident(stream) + ident(topic) + present + b"\x01" + u64(offset) + u32(10) + u8(0)


BALANCED = b"\x01\x00"


def key(data):
    return b"\x03" + u8(len(data)) + data


class Session:
    """Requests with their replies; remembers what each reply is about."""

    def __init__(self, version="0.12.0"):
        self.capture, self.number, self.expected = Capture(), 0, {}
        self.connection = self.capture.connection()
        self.connection.client(request(login_body(version), operation=1, client=CLIENT))
        self.connection.server(reply(login_reply(session=5, version=version), operation=1, client=CLIENT))

    def exchange(self, body, about, operation=2, code=0, answer=b""):
        self.number += 1
        common = dict(operation=operation, client=CLIENT, request=self.number)
        self.connection.client(request(body, code=code, session=5, **common))
        packet = self.connection.server(reply(answer, **common))
        self.expected[packet] = about

    def send(self, stream, topic, partitioning, partition=None, messages=1, **about):
        about = dict(about, **{"iggy.stream.name": stream, "iggy.topic.name": topic, "iggy.partition.id": partition})
        self.exchange(send(stream, topic, partitioning, messages), about, operation=160)

    def poll(self, stream, topic, partition, **rest):
        about = {"iggy.stream.name": stream, "iggy.topic.name": topic, "iggy.partition.id": partition, "iggy.consumer.id": 9}
        self.exchange(poll(stream, topic, partition, **rest), about, code=100)


def check(tshark, tmp_path, session):
    path = session.capture.write(tmp_path / "repeats.pcap")
    for two_pass in (False, True):
        rows = tshark.fields(path, ["frame.number"] + SHOWN, two_pass=two_pass)
        found = {int(row[0][0]): dict(zip(SHOWN, row[1:])) for row in rows}
        for packet, about in session.expected.items():
            values = {field: found[packet][field] for field in SHOWN}
            assert values == {field: [str(about[field])] if about.get(field) is not None else [] for field in SHOWN}, \
                (packet, two_pass)


def test_partitions_in_turn(tshark, tmp_path):
    session = Session()
    for partition in (3, 3, 4, 3, 0, 0, 3):
        session.send("orders", "events", partition_key(partition), partition)
    check(tshark, tmp_path, session)


def test_counts_differ_behind_the_same_routing(tshark, tmp_path):
    session = Session()
    for messages in (1, 2, 2, 7, 1):
        session.send("orders", "events", partition_key(3), 3, messages)
    check(tshark, tmp_path, session)


def test_kinds_of_partitioning(tshark, tmp_path):
    session = Session()
    for partitioning, partition in [(BALANCED, None), (BALANCED, None), (partition_key(1), 1), (key(b"\x01\0\0\0"), None),
                                    (key(b"\x02\0\0\0"), None), (partition_key(1), 1), (BALANCED, None)]:
        session.send("orders", "events", partitioning, partition)
    check(tshark, tmp_path, session)


def test_names_of_one_length(tshark, tmp_path):
    session = Session()
    for stream, topic in [("orders", "events"), ("orders", "events"), ("ordert", "events"), ("orders", "eventz"),
                          ("orders", "event"), ("order", "sevents"), ("orders", "events")]:
        session.send(stream, topic, BALANCED)
    check(tshark, tmp_path, session)


def test_long_names(tshark, tmp_path):
    """Bodies too long to be compared, one after another with the same beginning."""
    session = Session()
    for last in "aabba":
        session.send("s" * 200, "t" * 199 + last, BALANCED)
    check(tshark, tmp_path, session)


def test_partition_absent_then_present(tshark, tmp_path):
    session = Session()
    for partition in (None, None, 0, 5, None, 5, 5):
        session.poll("orders", "events", partition)
    for offset in (0, 1, 2, 1 << 40):
        session.poll("orders", "events", 5, offset=offset)
    check(tshark, tmp_path, session)


def test_commands_in_turns(tshark, tmp_path):
    """Codes that share a place: 100 and 120, 101 and 121."""
    session = Session()
    for partition in (3, 3, 4):
        session.poll("orders", "events", partition)
        about = {"iggy.stream.name": "orders", "iggy.topic.name": "other", "iggy.partition.id": 6, "iggy.consumer.id": 8}
        session.exchange(u8(1) + ident(8) + ident("orders") + ident("other") + u8(1) + u32(6), about, code=120)
        session.send("orders", "events", partition_key(partition), partition)
    check(tshark, tmp_path, session)


def test_stamped_batch_does_not_move_the_partition(tshark, tmp_path):
    """A batch that says partition 9, in requests that are routed to 3: an oddity that no client sends."""
    session = Session()
    routing = ident("orders") + ident("events") + partition_key(3) + u32(1)
    about = {"iggy.stream.name": "orders", "iggy.topic.name": "events", "iggy.partition.id": 3}
    for stamped in (9, 9, 0, 9):
        record = batch([message(b"payload")], partition=stamped, base_timestamp=stamped)
        session.exchange(u32(len(routing)) + routing + record, about, operation=160)
    check(tshark, tmp_path, session)


def test_cut_in_the_routing(tshark, tmp_path):
    """A body that ends inside its routing is about nothing, though it begins like the one before."""
    session = Session()
    whole = send("orders", "events", partition_key(3))
    about = {"iggy.stream.name": "orders", "iggy.topic.name": "events", "iggy.partition.id": 3}
    session.exchange(whole, about, operation=160)
    end = 4 + int.from_bytes(whole[:4], "little")
    for length in (end - 1, end - 4):
        session.exchange(whole[:length], {}, operation=160)
    session.exchange(whole, about, operation=160)
    check(tshark, tmp_path, session)


def confirmation(stream, topic, partition, offset):
    return struct.pack("<IIIIQ", 1, stream, topic, partition, offset)


def test_names_given_to_others(tshark, tmp_path):
    """Replies tell the ids of names; when they tell another id, later requests of the same bytes are about that."""
    session = Session()
    body = send("orders", "events", partition_key(3))
    about = {"iggy.topic.id": 2, "iggy.partition.id": 3, "iggy.topic.name": "events", "iggy.stream.name": "orders"}
    for number, (stream, offset) in enumerate([(1, 0), (1, 1), (1, 2), (7, 3), (7, 4), (7, 5)]):
        about["iggy.stream.id"] = stream
        session.exchange(body, dict(about), operation=160, answer=confirmation(stream, 2, 3, offset))
        if number == 3:  # a reply that speaks of another stream than its request does
            session.expected.popitem()
        session.poll("orders", "events", 3)
        session.expected[max(session.expected)] = dict(about, **{"iggy.consumer.id": 9})
    check(tshark, tmp_path, session)


@pytest.mark.parametrize("version", ["0.11.0", "0.12.0", "0.12.2"])
def test_versions(tshark, tmp_path, version):
    session = Session(version)
    for partition in (3, 3, 4):
        session.send("orders", "events", partition_key(partition), partition)
    check(tshark, tmp_path, session)
