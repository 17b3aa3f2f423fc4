#!/usr/bin/env python3
# Random bodies of every client command in every version, written from the reference, with the place of every value.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures in the manner of captures/codec, with other values, list lengths and optional parts.

    made.py SEED VERSION PCAP EXPECTED

A Body appends bytes and notes what stands where, in the form that check_pdml.py reads. Written from commands.md,
messages.md and encodings.md, not from the dissector's tables.
"""

import json
import random
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import synth  # noqa: E402
from xxh3 import xxh3_64  # noqa: E402

ORDER = ["0.11.0", "0.12.0", "0.12.1", "0.12.2"]
WORDS = "amber birch cedar delta ember fjord grove haven indigo jade körper 日本 lagoon ñandú olive π quartz".split()


class Body:
    def __init__(self, rng, version):
        self.rng, self.v, self.data, self.values = rng, ORDER.index(version), bytearray(), []

    # -- notes
    def note(self, label, raw, value, kind=None, role=None):
        entry = dict(name=label, value=value, offset=256 + len(self.data), length=len(raw))
        if kind:
            entry["type"] = kind
        if role:
            entry["role"] = role
        if raw:
            self.values.append(entry)
        self.data += raw

    def number(self, label, size, value=None, role=None):
        if value is None:
            value = self.rng.choice([self.rng.getrandbits(8 * size), self.rng.getrandbits(min(8 * size, 20)), 0, 1])
        self.note(label, value.to_bytes(size, "little"), value, role=role)
        return value

    def u8(self, label, value=None, role=None):
        return self.number(label, 1, value, role)

    def u16(self, label, value=None, role=None):
        return self.number(label, 2, value, role)

    def u32(self, label, value=None, role=None):
        return self.number(label, 4, value, role)

    def u64(self, label, value=None, role=None):
        return self.number(label, 8, value, role)

    def time(self, label):
        return self.u64(label, self.rng.choice([0, self.rng.randrange(1, 2 * 10 ** 15)]))

    def u128(self, label, value=None):
        value = self.rng.getrandbits(128) if value is None else value
        self.note(label, value.to_bytes(16, "little"), str(value), "u128")

    def f32(self, label):
        raw = struct.pack("<f", self.rng.uniform(0, 1000))
        self.note(label, raw, struct.unpack("<f", raw)[0], "f32")

    def raw(self, label, data):
        self.note(label, data, data[:64].hex(), "bytes")

    def text(self, label, least=1, most=30, size=1, value=None):
        if value is None:
            value = ""
            wanted = self.rng.randint(least, most)
            while len(value.encode()) < wanted:
                value += self.rng.choice(WORDS) + self.rng.choice("-_. ")
            while len(value.encode()) > most:
                value = value[:-1]
        data = value.encode()
        self.number(label + ".length", size, len(data), "length")
        if data:
            self.note(label, data, value, "string")
        return value

    def ident(self, label):
        if self.rng.random() < 0.5:
            self.u8(label + ".kind", 1)
            self.u8(label + ".length", 4, "length")
            self.u32(label + ".value")
        else:
            self.u8(label + ".kind", 2)
            self.text(label + ".value")

    def count(self, most=5):
        return self.rng.choice([0, 1, 2, self.rng.randint(0, most)])

    def since(self, version):
        return self.v >= ORDER.index(version)

    # -- shared shapes (encodings.md)
    def consumer(self, kinds=(1, 2)):
        if self.since("0.12.0"):
            kinds = tuple(kinds) + ((3,) if len(kinds) == 2 and self.rng.random() < 0.2 else ())
        self.u8("consumer.kind", self.rng.choice(kinds))
        self.ident("consumer.id")

    def place(self, *more):
        for one in ("stream", "topic") + more:
            self.ident(one)

    def opt_partition(self):
        if self.rng.random() < 0.7:
            self.u8("partition.present", 1, "flag")
            self.u32("partition_id")
        else:
            self.u8("partition.present", 0, "flag")
            self.data += bytes(4)

    def strategy(self, kinds=(1, 2, 3, 4, 5)):
        kind = self.rng.choice(kinds)
        self.u8("strategy.kind", kind)
        if kind == 1:
            self.u64("strategy.value")
        elif kind == 2:
            self.time("strategy.value")
        else:
            self.data += bytes(8)

    def typed(self, label, kind=None):
        kind = kind or self.rng.choice(list(range(1, 16)) + [77])
        sizes = {3: 1, 4: 1, 5: 2, 6: 4, 7: 8, 8: 16, 9: 1, 10: 2, 11: 4, 12: 8, 13: 16, 14: 4, 15: 8}
        self.u8(label + ".kind", kind)
        if kind == 2:
            self.text(label, 1, 40, 4)
            return
        size = sizes.get(kind, self.rng.randint(1, 40))
        self.u32(label + ".length", size, "length")
        bits = self.rng.getrandbits(8 * size)
        raw = bits.to_bytes(size, "little")
        if kind == 3:
            raw = bytes([bits & 1])
            self.note(label, raw, bits & 1, "bool")
        elif 4 <= kind <= 8:
            value = int.from_bytes(raw, "little", signed=True)
            self.note(label, raw, str(value) if kind == 8 else value, "i%d" % (8 * size))
        elif 9 <= kind <= 12:
            self.note(label, raw, bits)
        elif kind == 13:
            self.note(label, raw, str(bits), "u128")
        elif kind in (14, 15):
            letter = "<f" if kind == 14 else "<d"
            raw = struct.pack(letter, self.rng.uniform(-1000, 1000))
            self.note(label, raw, struct.unpack(letter, raw)[0], "f32" if kind == 14 else "f64")
        else:
            self.raw(label, raw)

    def tlv(self, entries, options=True):
        for i in range(entries):
            if options:
                self.u8("key.kind", 2)
                known = ["compression_algorithm", "message_expiry", "durability", "segment_size", "preallocate_segments"]
                self.text("key", size=4, value=known[i] if i < len(known) and self.rng.random() < 0.5 else "key-%d" % i)
            else:
                self.typed("key")
            self.typed("value")

    def block(self, label, fill, size=4):
        """Length prefix, then what `fill` writes."""
        inner = Body(self.rng, ORDER[self.v])
        fill(inner)
        self.number(label + ".length", size, len(inner.data), "length")
        self.take(inner)

    def take(self, inner):
        for value in inner.values:
            value["offset"] += len(self.data)
            self.values.append(value)
        self.data += inner.data

    def options_tail(self):
        self.tlv(self.count())

    def options_blocks(self, both):
        self.block("options", Body.options_tail)
        if both:
            self.block("derived", Body.options_tail)

    def permissions(self):
        for flag in range(10):
            self.bool("permission%d" % flag)
        streams = self.count(3)
        self.u8("has_streams", int(streams > 0), "flag")
        for i in range(streams):
            self.u32("stream_id")
            for flag in range(6):
                self.bool("stream_permission%d" % flag)
            topics = self.count(3)
            self.u8("has_topics", int(topics > 0), "flag")
            for k in range(topics):
                self.u32("topic_id")
                for flag in range(4):
                    self.bool("topic_permission%d" % flag)
                self.u8("has_next_topic", int(k + 1 < topics), "flag")
            self.u8("has_next_stream", int(i + 1 < streams), "flag")

    def bool(self, label):
        value = self.rng.getrandbits(1)
        self.note(label, bytes([value]), value, "bool")

    def opt_permissions(self):
        present = self.rng.getrandbits(1)
        self.u8("has_permissions", present, "flag")
        if present:
            self.block("permissions", Body.permissions)

    def context(self):
        for part in ("incarnation", "owner_generation", "metadata_op"):
            self.u64("context." + part)

    def identity(self):
        self.u128("client_id")
        self.u64("session")
        self.u64("metadata_watermark")

    def node_list(self, label):
        count = self.count()
        self.u8(label + ".count", count, "length")
        for _ in range(count):
            self.u8(label, self.rng.randrange(32))

    # -- shared reply structures (commands.md 3)
    def stream_header(self):
        self.u32("id"), self.time("created_at"), self.u32("topics_count", self.topics), self.u64("size"), self.u64("messages")
        self.text("name")
        self.options_blocks(self.since("0.12.0"))

    topics = 0

    def topic_header(self, partitions):
        self.u32("id"), self.time("created_at"), self.u32("partitions_count", partitions)
        if not self.since("0.12.0"):
            self.u64("message_expiry"), self.u8("compression", self.rng.choice([1, 2])), self.u64("max_topic_size")
        self.u64("size"), self.u64("messages"), self.text("name")
        self.options_blocks(True)

    def partition(self):
        self.u32("id"), self.time("created_at"), self.u32("segments"), self.u64("current_offset"), self.u64("size")
        self.u64("messages")
        if self.since("0.12.0"):
            self.context()
        if self.since("0.12.2"):
            self.node_list("members"), self.node_list("in_sync")

    def topic_details(self):
        partitions = self.count()
        self.topic_header(partitions)
        for _ in range(partitions):
            self.partition()

    def user_header(self):
        self.u32("id"), self.time("created_at"), self.u8("status", self.rng.choice([1, 2])), self.text("username")
        self.options_blocks(self.since("0.12.0"))

    def user_details(self):
        self.user_header()
        if self.rng.getrandbits(1):
            self.u8("has_permissions", 1, "flag")
            self.block("permissions", Body.permissions)
        else:
            self.data += bytes(4)

    def group_header(self, members):
        self.u32("id"), self.u32("partitions_count"), self.u32("members_count", members), self.text("name")

    def group_details(self):
        members = self.count()
        self.group_header(members)
        for _ in range(members):
            self.u32("member")
            self.id_list()

    def id_list(self):
        count = self.count()
        self.u32("count", count, "length")
        for _ in range(count):
            self.u32("partition")

    def client_header(self, groups):
        self.u32("client_id"), self.u32("user_id"), self.u8("transport", self.rng.randint(1, 4))
        self.text("address", 0, 30, 4)
        self.u32("groups_count", groups)

    def client_details(self):
        groups = self.count()
        self.client_header(groups)
        for _ in range(groups):
            self.u32("stream_id"), self.u32("topic_id"), self.u32("group_id")

    def node(self):
        if self.since("0.12.0"):
            self.u8("replica_id", self.rng.randrange(32))
        self.text("name", 0, 20, 4), self.text("ip", 0, 20, 4)
        for port in ("tcp", "quic", "http", "websocket"):
            self.u16(port)
        self.u8("role", self.rng.randrange(2)), self.u8("status", self.rng.randrange(6))

    def login_result(self):
        self.u32("user_id"), self.u64("session", self.rng.randrange(1, 2 ** 40))
        self.u32("server_version", synth.VERSIONS[ORDER[self.v]]), self.text("build")

    def version_info(self):
        self.u32("protocol_version", synth.VERSIONS[ORDER[self.v]]), self.text("sdk_name"), self.text("sdk_version")

    # -- messages.md
    def record(self, stamped):
        count = self.rng.choice([1, 2, 5])
        first = self.rng.randrange(3) if stamped else 0
        frames = Body(self.rng, ORDER[self.v])
        sums = b""
        for i in range(count):
            one = Body(self.rng, ORDER[self.v])
            payload = self.rng.randbytes(self.rng.choice([0, 1, 20, 300])) if self.rng.getrandbits(1) else \
                json.dumps({"n": i, "word": self.rng.choice(WORDS)}).encode()
            headers = Body(self.rng, ORDER[self.v])
            headers.tlv(self.count(4), options=False)
            one.u128("id"), one.u32("offset_delta", first + i), one.u32("timestamp_delta")
            one.u32("headers_length", len(headers.data), "length"), one.u32("payload_length", len(payload), "length")
            one.data += bytes(8)
            if payload:
                one.raw("payload", payload)
            one.take(headers)
            frames.u64("checksum", xxh3_64(bytes(one.data)))
            sums += frames.data[-8:]
            frames.take(one)
        start = Body(self.rng, ORDER[self.v])
        for label, value in (("partition_id", self.rng.getrandbits(20) if stamped else 0),
                             ("base_offset", self.rng.getrandbits(40) if stamped else 0),
                             ("base_timestamp", self.rng.randrange(10 ** 15, 2 * 10 ** 15) if stamped else 0)):
            start.u64(label, value)
        start.time("origin_timestamp")
        start.u64("batch_length", 256 + len(frames.data))
        producer = self.since("0.12.2") and self.rng.getrandbits(1)
        tail = Body(self.rng, ORDER[self.v])
        if producer:
            tail.u8("flags", 1), tail.data.extend(bytes(3))
            tail.u64("producer_id", self.rng.getrandbits(63)), tail.u16("producer_epoch", self.rng.getrandbits(15))
            tail.data.extend(bytes(2)), tail.u32("base_sequence", self.rng.getrandbits(31))
        covered = bytes(start.data) + struct.pack("<I", count)
        if producer:
            covered += b"\x01" + bytes(tail.data[4:12]) + bytes(tail.data[12:14]) + bytes(tail.data[16:20])
        start.u64("batch_checksum", xxh3_64(covered + sums))
        start.u32("message_count", count)
        start.take(tail)
        start.data += bytes(256 - len(start.data))
        self.take(start)
        self.take(frames)
        return count

    def poll(self):
        self.consumer(), self.place(), self.opt_partition(), self.strategy(), self.u32("count"), self.bool("auto_commit")

    def poll_reply(self):
        records, count = Body(self.rng, ORDER[self.v]), 0
        for _ in range(self.count(3)):
            count += records.record(True)
        self.u32("partition_id"), self.u64("current_offset"), self.u32("messages_count", count)
        if self.since("0.12.0"):
            self.context()
        self.take(records)


def empty(body):
    pass


def repeat(one, most=5):
    def fill(body):
        for _ in range(body.count(most)):
            one(body)
    return fill


def counted(one, size=4):
    def fill(body):
        count = body.count()
        body.number("count", size, count, "length")
        for _ in range(count):
            one(body)
    return fill


def get_stats(b):
    b.u32("process_id"), b.f32("cpu"), b.f32("total_cpu")
    for one in ("memory", "total_memory", "available", "run_time"):
        b.u64(one)
    b.time("start_time"), b.u64("read"), b.u64("written"), b.u64("messages_size")
    for one in ("streams", "topics", "partitions", "segments"):
        b.u32(one)
    b.u64("messages"), b.u32("clients"), b.u32("groups")
    for one in ("hostname", "os", "os_version", "kernel", "server"):
        b.text(one, 0, 30, 4)
    b.u32("semver")
    metrics = b.count()
    b.u32("metrics", metrics)
    for _ in range(metrics):
        b.u32("stream"), b.u32("topic"), b.u32("partition"), b.u64("hits"), b.u64("misses"), b.f32("ratio")
    b.u32("threads"), b.u64("free"), b.u64("total")
    if b.since("0.12.0"):
        b.u64("open_files"), b.u64("open_limit")


def descriptor(b):
    b.text("key"), b.u8("kind", b.rng.randint(1, 15))
    if b.since("0.12.0"):
        b.u8("flags", b.rng.choice([0, 1, 3, 8, 0x14]))
    data = b.rng.randbytes(b.count(9))
    b.u32("default.length", len(data), "length")
    b.raw("default", data)
    b.text("description", 0, 50, 4)


def snapshot(b):
    b.u8("compression", b.rng.randint(1, 6))
    counted(lambda x: x.u8("type", x.rng.choice([1, 2, 3, 4, 5, 6, 100])), 1)(b)


def update_resource(b):
    scope = b.rng.randint(1, 3)
    b.u8("scope", scope), b.ident("resource")
    if scope == 1:
        b.ident("topic")
    counted(lambda x: x.text("reset"), 1)(b)
    b.options_tail()


def send(b):
    def routing(x):
        x.place()
        kind = x.rng.choice([2, 2, 1, 3])
        x.u8("partitioning.kind", kind)
        if kind == 1:
            x.u8("partitioning.length", 0, "length")
        elif kind == 2:
            x.u8("partitioning.length", 4, "length"), x.u32("partition_id")
        else:
            key = x.rng.randbytes(x.rng.randint(1, 40))
            x.u8("partitioning.length", len(key), "length"), x.raw("key", key)
        x.u32("messages_count", count)
    record = Body(b.rng, ORDER[b.v])
    count = record.record(False)
    b.block("metadata", routing)
    b.take(record)


def confirmations(b):
    if b.rng.random() < 0.2:
        return
    counted(lambda x: (x.u32("stream_id"), x.u32("topic_id"), x.u32("partition_id"), x.u64("base_offset")))(b)


def deferred(b):
    b.poll(), b.u64("wait_us"), b.u32("min_count"), b.u32("max_bytes"), b.u64("timeout")


def wait(b):
    b.consumer((1, 2)), b.place(), b.u64("wait_us"), b.u64("timeout")
    counted(lambda x: (x.u32("partition_id"), x.strategy()))(b)


def fetch(b):
    b.consumer((1, 2)), b.place(), b.u64("wait_us"), b.u64("timeout"), b.u32("min_count"), b.u32("count"), b.u32("max_bytes")
    b.bool("auto_commit")
    counted(lambda x: (x.u32("partition_id"), x.strategy((1, 5)), x.u32("max_bytes"), x.u64("incarnation"),
                       x.u64("generation")))(b)


def fetch_reply(b):
    sections = b.count()
    b.u32("sections", sections, "length")
    area = Body(b.rng, ORDER[b.v])
    for _ in range(sections):
        start, count, status = len(area.data), 0, b.rng.choice([0, 0, 0, 3007])
        for _ in range(0 if status else b.count(3)):
            count += area.record(True)
        b.u32("partition_id"), b.u32("status", status), b.u64("current_offset"), b.u32("messages_count", count)
        b.context(), b.u64("next_offset"), b.u32("records_len", len(area.data) - start, "length")
    b.take(area)


def routing_reply(b):
    b.identity(), b.node()


def route_reply(b):
    b.u64("incarnation"), b.u64("metadata_op"), b.u32("view"), b.u32("partitions_count"), b.u8("primary", b.rng.randrange(32))


def stored(b):
    b.consumer(), b.place(), b.opt_partition()


def store(b):
    stored(b), b.u64("offset"), b.u8("ack", b.rng.randrange(2))


def cursor(b, zero=False):
    b.u128("log_id", 0 if zero else None), b.u64("op", 0 if zero else None), b.u128("checksum", 0 if zero else None)
    b.u32("ordinal", 0 if zero else None)


KEYS = {1: (4,), 2: (4, 4), 3: (4, 4), 4: (4, 4, 4), 5: (4, 4, 4, 4), 6: (4,), 7: (4, "name"), 8: (8,)}


def token(b):
    if not b.rng.getrandbits(1):
        b.u16("token_length", 0, "length")
        return

    def fill(x):
        cursor(x), x.u64("required_head"), x.u8("mask")
        group = x.rng.randint(1, 8)
        x.u8("group", group)

        def key(y):
            for part in KEYS[group]:
                if part == "name":
                    y.text("name")
                else:
                    y.number("key", part)
        x.block("key", key, 2)
    b.block("token", fill, 2)


def optional(b, fill):
    present = b.rng.getrandbits(1)
    b.u8("present", present, "flag")
    if present:
        fill()


def changes(b):
    start = b.rng.randrange(4)
    b.u8("start", start)
    if start == 2:
        cursor(b)
    else:
        b.data += bytes(44)
    optional(b, lambda: b.time("since"))
    optional(b, lambda: b.time("until"))
    b.u32("limit", b.rng.randint(1, 1000))
    counted(lambda x: x.u8("group", x.rng.randint(1, 8)), 1)(b)
    if start == 3:
        token(b)
    else:
        b.u16("token_length", 0, "length")


def stream_key(b):
    b.u32("stream_id"), b.u64("created_op")


def topic_key(b):
    stream_key(b), b.u32("topic_id"), b.u64("created_op")


def user_key(b):
    b.u32("user_id"), b.time("created_at")


def change_options(b):
    state = b.rng.randrange(2)
    b.u8("state", state)
    if not state:
        b.options_blocks(True)


def named(*parts):
    """A body in words: each a method of Body, or a function."""
    def fill(b):
        for part in parts:
            if callable(part):
                part(b)
            else:
                getattr(b, part)(part)
    return fill


def requested(b):
    optional(b, lambda: b.u64("requested_op"))


def member(b):
    b.u32("group_id"), b.u32("member_id"), b.u128("client_id")


def reason(most):
    return lambda b: b.u8("reason", b.rng.randrange(most))


def opt_permissions_bare(b):
    optional(b, b.permissions)


def the_name(b):
    b.text("name")


def created(b):
    b.time("created_at")


def u32s(*labels):
    return lambda b: [b.u32(label) for label in labels]


STREAM = named(stream_key, created, the_name, change_options)
TOPIC = named(topic_key, created, the_name, u32s("partitions_count"), change_options)
USER = named(user_key, the_name, lambda b: b.u8("status", b.rng.choice([1, 2])), opt_permissions_bare, change_options)
TOKEN = named(user_key, the_name, lambda b: b.time("expiry"))
SESSION = named(user_key, lambda b: (b.u128("client_id"), b.u64("session")))
GROUP = named(topic_key, u32s("group_id"), the_name)
RECORDS = {
    1: (1, STREAM), 2: (1, STREAM), 3: (1, named(stream_key, created, the_name, requested)),
    10: (2, TOPIC), 11: (2, TOPIC), 12: (2, named(topic_key, created, the_name, requested)),
    20: (3, named(topic_key, u32s("partitions_count"), Body.id_list, requested)),
    30: (4, named(GROUP, u32s("groups_count"))), 31: (4, named(GROUP, u32s("groups_count"), requested)),
    40: (5, named(topic_key, member, u32s("members_count"), Body.id_list)),
    41: (5, named(topic_key, member, u32s("members_count"), reason(2))),
    42: (5, named(topic_key, u32s("group_id", "partition_id"), lambda b: optional(b, lambda: b.u32("member_id")))),
    50: (6, USER), 51: (6, USER), 52: (6, named(user_key, the_name)), 53: (6, named(user_key, the_name)),
    54: (6, named(user_key, the_name, opt_permissions_bare, reason(2))),
    60: (7, TOKEN), 61: (7, named(user_key, the_name, reason(2))), 70: (8, SESSION), 71: (8, named(SESSION, reason(3))),
}
ITEMS = {1: STREAM, 2: named(topic_key, created, the_name, change_options), 3: named(topic_key, u32s("partitions_count")),
         4: GROUP, 5: named(topic_key, member, Body.id_list), 6: USER, 7: TOKEN, 8: SESSION}


def change_record(b):
    kind = b.rng.choice(list(RECORDS))
    group, body = RECORDS[kind]
    b.u64("op"), b.u32("ordinal"), b.u128("checksum"), b.time("timestamp")
    optional(b, lambda: b.u32("actor"))
    b.u8("group", group), b.u8("kind", kind), b.block("record", body)


def change_item(b):
    group = b.rng.choice(list(ITEMS))
    b.u8("group", group), b.block("item", ITEMS[group])


def changes_reply(b):
    phase = b.rng.randrange(2)
    b.u8("status", b.rng.randrange(4)), b.u8("phase", phase)
    optional(b, lambda: b.u128("log_id"))
    b.u64("oldest_op"), b.time("retained_since"), b.u64("head_op")
    optional(b, lambda: cursor(b))
    b.u8("has_more", b.rng.getrandbits(1))
    for mine, one in ((0, change_record), (1, change_item)):
        count = b.count() if phase == mine else 0
        b.u32("count", count, "length")
        for _ in range(count):
            one(b)
    token(b)


def login(b):
    b.version_info()
    if b.since("0.12.0"):
        b.raw("bind_secret", b.rng.randbytes(32))
    b.text("username"), b.text("password", 0), b.text("context", 0, 30, 4)


def login_token(b):
    b.version_info()
    if b.since("0.12.0"):
        b.raw("bind_secret", b.rng.randbytes(32))
    b.text("token", 1, 60), b.text("context", 0, 30, 4)


def bind(b):
    b.version_info(), b.identity(), b.raw("secret", b.rng.randbytes(32))


def update_user(b):
    b.ident("user")
    optional(b, lambda: b.text("username"))
    optional(b, lambda: b.u8("status", b.rng.choice([1, 2])))
    b.options_tail()


def stream_details(b):
    b.topics = b.count()
    b.stream_header()
    for _ in range(b.topics):
        b.topic_header(b.rng.randrange(5))


def place_and(*more):
    return lambda b: b.place(*more)


ANY, OLD, NEW = ("0.11.0", "0.12.2"), ("0.11.0", "0.11.0"), ("0.12.0", "0.12.2")
ident_user = named(lambda b: b.ident("user"))
# code: versions, operation, request, reply, operation of the reply (None: the same), result section
COMMANDS = {
    1: (ANY, 2, empty, empty), 10: (ANY, 2, empty, get_stats),
    11: (ANY, 2, snapshot, lambda b: b.raw("archive", b.rng.randbytes(99))),
    12: (ANY, 2, empty, lambda b: (b.text("cluster", 0, 20, 4), counted(Body.node)(b))),
    13: (ANY, 2, lambda b: b.u8("scope", b.rng.randint(1, 3)), counted(descriptor)),
    14: (OLD, 2, Body.identity, empty), 15: (NEW, 2, bind, Body.login_result), 16: (NEW, 150, update_resource, empty),
    17: (NEW, 2, changes, changes_reply), 20: (ANY, 2, empty, Body.client_details),
    21: (ANY, 2, u32s("client_id"), Body.client_details), 22: (ANY, 2, empty, repeat(lambda b: b.client_header(b.count()))),
    31: (ANY, 2, ident_user, Body.user_details), 32: (ANY, 2, empty, repeat(Body.user_header)),
    33: (ANY, 141, lambda b: (b.text("username"), b.text("password", 0), b.u8("status", b.rng.choice([1, 2])),
                              b.opt_permissions(), b.options_tail()), Body.user_details),
    34: (ANY, 143, ident_user, empty), 35: (OLD, 142, update_user, empty),
    36: (ANY, 145, lambda b: (b.ident("user"), b.opt_permissions()), empty),
    37: (ANY, 144, lambda b: (b.ident("user"), b.text("current", 0), b.text("new", 0)), empty),
    41: (ANY, 2, empty, repeat(lambda b: (b.text("name"), b.time("expiry")))),
    42: (ANY, 146, lambda b: (b.text("name"), b.u64("expiry")), lambda b: b.text("token")),
    43: (ANY, 147, lambda b: b.text("name"), empty),
    100: (ANY, 2, Body.poll, Body.poll_reply), 101: (ANY, 160, send, confirmations),
    102: (OLD, 2, lambda b: (b.place(), b.u32("partition_id"), b.bool("fsync")), empty),
    103: (OLD, 2, Body.poll, routing_reply), 104: (OLD, 2, Body.poll, Body.poll_reply),
    105: (NEW, 2, lambda b: (b.place(), b.u32("partition_id")), route_reply), 106: (NEW, 2, deferred, Body.poll_reply),
    107: (("0.12.0", "0.12.0"), 2, wait, counted(u32s("partition_id"))), 109: (("0.12.1", "0.12.2"), 2, fetch, fetch_reply),
    120: (ANY, 2, stored, lambda b: (b.u32("partition_id"), b.u64("current_offset"), b.u64("stored_offset"))),
    121: (ANY, 161, store, empty), 122: (ANY, 162, lambda b: (stored(b), b.u8("ack", b.rng.randrange(2))), empty),
    123: (OLD, 2, stored, routing_reply),
    200: (ANY, 2, lambda b: b.ident("stream"), stream_details), 201: (ANY, 2, empty, repeat(Body.stream_header)),
    202: (ANY, 128, lambda b: (b.text("name"), b.options_tail()), Body.stream_header),
    203: (ANY, 130, lambda b: b.ident("stream"), empty),
    204: (OLD, 129, lambda b: (b.ident("stream"), b.text("name"), b.options_tail()), empty),
    205: (OLD, 131, lambda b: b.ident("stream"), empty), 300: (ANY, 2, place_and(), Body.topic_details),
    301: (ANY, 2, lambda b: b.ident("stream"), counted(lambda b: b.topic_header(b.rng.randrange(9)))),
    302: (ANY, 132, lambda b: (b.ident("stream"), b.u32("partitions_count"), b.text("name"), b.options_tail()),
          Body.topic_details),
    303: (ANY, 134, place_and(), empty),
    304: (OLD, 133, lambda b: (b.place(), b.text("name"), b.options_tail()), empty), 305: (OLD, 135, place_and(), empty),
    402: (ANY, 136, lambda b: (b.place(), b.u32("partitions_count")), empty),
    403: (ANY, 137, lambda b: (b.place(), b.u32("partitions_count")), empty),
    503: (ANY, 138, lambda b: (b.place(), b.u32("partition_id"), b.u32("segments_count")), empty),
    600: (ANY, 2, place_and("group"), Body.group_details),
    601: (ANY, 2, place_and(), repeat(lambda b: b.group_header(b.rng.randrange(9)))),
    602: (ANY, 139, lambda b: (b.place(), b.text("name")), Body.group_details), 603: (ANY, 140, place_and("group"), empty),
    604: (ANY, 148, place_and("group"), empty), 605: (ANY, 149, place_and("group"), empty),
    606: (ANY, 2, place_and("group"), lambda b: (b.u64("generation"), b.id_list())),
    39: (ANY, 3, empty, empty),
}
RENAMED = {132: 64, 136: 65, 138: 68}
UNFRAMED = {2, 3, 160}


class Session:
    def __init__(self, seed, version):
        self.rng, self.version = random.Random(seed), version
        self.capture, self.expected, self.number = synth.Capture(), [], 0
        self.connection = self.capture.connection(server_port=8090)
        self.client = self.rng.getrandbits(128) | 1
        self.session = self.rng.randrange(1, 2 ** 40)

    def body(self, fill):
        body = Body(self.rng, self.version)
        fill(body)
        return body

    def expect(self, packet, command, operation, code, request, body):
        self.expected.append(dict(pdu=len(self.expected) + 1, frame=packet, direction="c2s" if command == 5 else "s2c",
                                  command=command, command_name="", operation=operation, operation_name="", code=code,
                                  code_name="", size=256 + len(body.data), request=request, complete=True, values=body.values))

    def ask(self, code, operation, fill, number, session):
        body = self.body(fill)
        packet = self.connection.client(synth.request(bytes(body.data), code=code if operation == 2 else 0, operation=operation,
                                                      client=self.client, request=number, session=session))
        self.expect(packet, 5, operation, code, number, body)

    def answer(self, code, operation, fill, number, framed):
        def framed_fill(b):
            b.u32("result.count", 0, "length")
            fill(b)
        body = self.body(framed_fill if framed else fill)
        packet = self.connection.server(synth.reply(bytes(body.data), operation=operation, client=self.client, request=number))
        self.expect(packet, 8, operation, code, number, body)

    def exchange(self, code):
        versions, operation, asks, answers = COMMANDS[code]
        if not ORDER.index(versions[0]) <= ORDER.index(self.version) <= ORDER.index(versions[1]):
            return
        self.number += 1
        self.ask(code, operation, asks, self.number, self.session)
        replied = RENAMED.get(operation, operation)
        if operation == 150:
            replied = self.rng.choice([72, 73, 74])
        self.answer(code, replied, answers, self.number, operation not in UNFRAMED)

    def run(self, rounds=2):
        which = self.rng.choice([40, 45])
        self.ask(which, 1, login if which == 40 else login_token, 0, 0)
        self.answer(which, 1, Body.login_result, 0, True)
        for _ in range(rounds):
            codes = [code for code in COMMANDS if code != 39]
            self.rng.shuffle(codes)
            for code in codes:
                self.exchange(code)
        self.exchange(39)


def make(seed, version, pcap, expected, rounds=2):
    """Write a capture and its expected values; returns the number of frames."""
    session = Session(seed, version)
    session.run(rounds)
    session.capture.write(pcap)
    with open(expected, "w", encoding="utf-8") as out:
        for pdu in session.expected:
            out.write(json.dumps(pdu, ensure_ascii=False) + "\n")
    return len(session.expected)


if __name__ == "__main__":
    print(make(int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]), "frames")
