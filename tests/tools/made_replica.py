#!/usr/bin/env python3
# Random frames of every replica command in every version, written from the reference, with the place of every value.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""As made.py, for the replica plane: made_replica.py SEED VERSION PCAP EXPECTED"""

import json
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import made  # noqa: E402
import synth  # noqa: E402
from made import Body, counted, optional  # noqa: E402
from xxh3 import xxh3_64  # noqa: E402

METADATA = 1 << 63
SINCE_0_12 = ("partition_incarnation", "retry_capacity", "session", "flags")


def assignments(b, count):
    for _ in range(count):
        b.u32("partition_id"), b.u64("group", b.rng.getrandbits(52))
        if b.since("0.12.0"):
            b.u32("initial_view")


def members(b, count):
    if b.since("0.12.2") and b.rng.getrandbits(1):
        size = b.rng.randint(1, 3)
        b.u8("group_size", size)
        for _ in range(size * count):
            b.u8("member", b.rng.randrange(32))


def created_view(b):
    if not b.since("0.12.0") and b.rng.getrandbits(1):
        b.u32("created_view")


def create_topic(b):
    count = b.count()
    b.block("request", lambda x: (x.ident("stream"), x.u32("partitions_count", count), x.text("name"), x.options_tail()))
    b.block("derived", Body.options_tail)
    b.u32("count", count, "length")
    assignments(b, count), created_view(b), members(b, count)


def create_partitions(b):
    count = b.count()
    b.block("request", lambda x: (x.place(), x.u32("partitions_count", count)))
    b.u32("count", count, "length")
    assignments(b, count), created_view(b), members(b, count)


def owner(b):
    b.u64("incarnation"), b.u64("group_id"), b.u128("client_id"), b.u64("session"), b.u64("generation"), b.u64("metadata_op")


def revocation(b):
    if not b.since("0.12.0"):
        b.place(), b.u64("group_id"), b.u128("source"), b.u32("partition_id")
        return
    for one in ("stream", "topic"):
        b.u8(one + ".kind", 1), b.u8(one + ".length", 4, "length"), b.u32(one)
    b.u32("partition_id"), owner(b), b.u64("partition_op")


def finalize(b):
    b.identity(), b.u64("namespace_revision")
    if b.since("0.12.2") and b.rng.getrandbits(1):
        count = b.rng.randint(1, 4)
        b.u32("count", count, "length")
        for _ in range(count):
            b.u64("namespace", b.rng.getrandbits(52)), b.u64("created_revision")


def lifecycle(b):
    count = b.rng.randint(1, 4)
    b.u64("metadata_op"), b.u32("stream_id"), b.u32("count", count)
    for _ in range(count):
        b.u32("topic_id"), b.u32("partition_id"), b.u64("partition_op")


def updated(*idents, status=False):
    def fill(b):
        for one in idents:
            b.ident(one)
        optional(b, lambda: b.text("name"))
        if status:
            optional(b, lambda: b.u8("status", b.rng.choice([1, 2])))
        b.options_blocks(True)
    return fill


def rewrap(b):
    def entry(x):
        size = x.rng.choice([78, 156, 234])
        x.u32("stream_id"), x.u64("created_op"), x.raw("fingerprint", x.rng.randbytes(8)), x.u8("set_length", size, "length")
        x.raw("set", x.rng.randbytes(size))
    counted(entry)(b)


def register(b):
    if b.since("0.12.0"):
        b.time("user_created_at"), b.raw("verifier", b.rng.randbytes(32))


def token(b):
    b.u32("user_id"), b.text("name"), b.u64("expiry"), b.text_fixed("hash", "".join(b.rng.choices("0123456789abcdef", k=64)))


def text_fixed(self, label, text):
    self.note(label, text.encode(), text, "string")


Body.text_fixed = text_fixed


def join(b):
    b.place("group"), b.u128("client_id")
    if b.since("0.12.0"):
        b.u64("session")
    else:
        b.id_list()


def retire(b):
    count = b.rng.randint(1, 3)
    for _ in range(count):
        b.identity()
    if b.since("0.12.2") and b.rng.getrandbits(1):
        b.u64("paid_through", b.rng.getrandbits(40) | 1)


def owners(b):
    b.u64("incarnation"), b.u64("metadata_op"), b.u64("next_group_id")
    counted(lambda x: x.u64("group_id"))(b)


def offset_prepare(fill):
    def both(b):
        fill(b)
        if b.since("0.12.0"):
            b.u64("owner_generation")
    return both


def client_body(code):
    return made.COMMANDS[code][2]


ANY, OLD, NEW = made.ANY, made.OLD, made.NEW
PREPARES = {
    1: (ANY, register), 3: (ANY, made.empty), 64: (ANY, create_topic), 65: (ANY, create_partitions),
    67: (ANY, revocation), 68: (ANY, lambda b: (b.place(), b.u32("partition_id"), b.u64("up_to_offset"))),
    70: (NEW, finalize), 71: (NEW, lifecycle), 72: (NEW, updated("stream")), 73: (NEW, updated("stream", "topic")),
    74: (NEW, updated("user", status=True)), 75: (NEW, rewrap), 128: (ANY, client_body(202)), 129: (OLD, client_body(204)),
    130: (ANY, client_body(203)), 131: (OLD, client_body(205)), 133: (OLD, client_body(304)), 134: (ANY, client_body(303)),
    135: (OLD, client_body(305)), 137: (ANY, client_body(403)), 139: (ANY, client_body(602)), 140: (ANY, client_body(603)),
    141: (ANY, client_body(33)), 142: (OLD, client_body(35)), 143: (ANY, client_body(34)), 144: (ANY, client_body(37)),
    145: (ANY, client_body(36)), 146: (ANY, token),
    147: (ANY, lambda b: (b.u32("user_id"), b.text("name"), b.bool("only_if_expired"))), 148: (ANY, join),
    149: (ANY, lambda b: (b.place("group"), b.u128("client_id"))), 160: (ANY, lambda b: b.record(True)),
    161: (ANY, offset_prepare(made.store)), 162: (ANY, offset_prepare(client_body(122))), 166: (NEW, retire),
    167: (NEW, owner), 168: (NEW, lambda b: (b.u64("incarnation"), b.u64("metadata_op"))), 169: (NEW, owners),
}


def manifest(b):
    count, length = b.count(), b.rng.choice([25, 25, 30])
    b.raw("magic", b"ISM1"), b.u32("count", count), b.u8("entry_length", length)
    for _ in range(count):
        b.u8("kind", b.rng.randrange(5)), b.u64("frontier"), b.u64("len"), b.u64("checksum")
        b.data += bytes(length - 25)
    b.u64("manifest_checksum", xxh3_64(bytes(b.data)))


def sessions(b):
    for _ in range(b.count()):
        b.u128("client_id"), b.u64("session")


def partition_status(b):
    for _ in range(b.count()):
        b.u64("namespace", b.rng.getrandbits(52)), b.u64("created_revision"), b.u32("view"), b.u64("commit")
        b.u64("current_offset"), b.u64("message_count"), b.u64("size"), b.u32("segment_count"), b.u32("in_sync")


class Link:
    def __init__(self, seed, version):
        self.rng, self.version, self.v = random.Random(seed), version, made.ORDER.index(version)
        self.capture, self.expected = synth.Capture(), []
        self.connection = self.capture.connection(server_port=9090)
        self.cluster = self.rng.getrandbits(128)

    def group(self):
        return METADATA if self.rng.getrandbits(1) else self.rng.getrandbits(52)

    def header(self, command, **fixed):
        """Random values for all header fields of the version; fixed ones win."""
        values = dict(cluster=self.cluster, view=self.rng.getrandbits(16), replica=self.rng.randrange(32))
        for name, (_, size) in synth.LAYOUTS[command].items():
            if self.v == 0 and name in SINCE_0_12 and not (command == 28 and name == "session"):
                continue
            values[name] = self.rng.getrandbits(8 * size - 1) | 1
        if "group" in values:
            values["group"] = self.group()
        values.update(fixed)
        return {name: value for name, value in values.items() if value is not None}

    def send(self, side, command, fill=made.empty, **fixed):
        body = Body(self.rng, self.version)
        fill(body)
        values = self.header(command, **fixed)
        if command in (6, 19) and body.data and values.get("group") == METADATA:
            values["checksum_body"] = xxh3_64(bytes(body.data))
        frame = synth.frame(command, bytes(body.data), **values)
        packet = getattr(self.connection, side)(frame)
        places = dict(synth.COMMON, **synth.LAYOUTS[command])
        notes = []
        for name, (offset, size) in places.items():
            number = int.from_bytes(frame[offset:offset + size], "little")
            if number and not name.startswith("reserved"):
                entry = dict(name="header." + name, value=number, offset=offset, length=size)
                if size > 16:
                    entry.update(type="bytes", value=frame[offset:offset + size].hex())
                elif size == 16:
                    entry.update(type="u128", value=str(number))
                notes.append(entry)
        self.expected.append(dict(pdu=len(self.expected) + 1, frame=packet, direction="r2r", command=command, command_name="",
                                  operation=values.get("operation"), operation_name="", code=None, code_name="",
                                  size=len(frame), request=None, complete=True, values=notes + body.values))

    def suffix(self, top):
        def fill(b):
            count = b.rng.choice([0, 1, 2, 5])
            for i in range(min(count, top)):
                blank = b.rng.random() < 0.2
                values = dict(op=top - i) if blank else self.header(6, op=top - i, operation=128, size=256 + b.rng.randrange(999))
                entry = synth.frame(6, b"", sealed=not blank, **dict({"size": 0}, **values))
                for name, (offset, size) in dict(synth.COMMON, **synth.LAYOUTS[6]).items():
                    number = int.from_bytes(entry[offset:offset + size], "little")
                    if number:
                        note = dict(name="suffix." + name, value=str(number) if size == 16 else number,
                                    offset=256 + len(b.data) + offset, length=size)
                        if size == 16:
                            note["type"] = "u128"
                        b.values.append(note)
                b.data += entry
        return fill

    def prepares(self, command):
        for operation, ((since, until), fill) in PREPARES.items():
            if made.ORDER.index(since) <= self.v <= made.ORDER.index(until):
                group = self.rng.getrandbits(52) if operation >= 160 else METADATA
                self.send(self.rng.choice(["client", "server"]), command, fill, operation=operation, group=group)

    def headers_only(self):
        zero = dict(commit_checksum=None, checkpoint_op=None)
        for command, fixed in ((7, dict(operation=128)), (9, zero), (10, {}), (17, {}), (20, {}), (21, {}), (22, {}),
                               (18, dict(from_op=3, to_op=9)), (24, {}), (27, dict(outcome=0)), (28, {}), (29, dict(outcome=0))):
            self.send("client", command, **fixed)
        self.send("server", 27, outcome=self.rng.randint(1, 6), epoch=None, watermark=None)
        self.send("server", 29, outcome=self.rng.randint(1, 4), commit=None)
        self.send("server", 23, available=0, unavailable_transient=self.rng.getrandbits(1) or None, commit_op=None)
        self.send("server", 23, manifest, available=1, unavailable_transient=None)
        self.send("server", 25, lambda b: b.raw("chunk", b.rng.randbytes(b.rng.randint(1, 900))))
        for command in (11, 12):
            top = self.rng.randint(5, 1000)
            extra = dict(log_view=1, view=2) if command == 11 else {}
            if command == 11 and self.v:
                extra["flags"] = 1
            bits = dict(nack_bitset=2, present_bitset=5) if command == 11 else {}
            self.send("server", command, self.suffix(top), op=top, commit=top - 1, **extra, **bits)

    def later(self):
        self.send("client", 26, register)
        if not self.v:
            return
        self.send("client", 30, sessions, incomplete=self.rng.getrandbits(1) or None, namespace_revision=None)
        self.send("client", 31, sessions, incomplete=self.rng.getrandbits(1) or None)
        self.send("client", 32, lifecycle, operation=71)
        self.send("client", 32, revocation, operation=67, reporter=None)
        nothing = dict(namespace=None, created_revision=None, partition_view=None, target=None)
        kinds = partition_status if self.v == 3 else made.empty
        self.send("client", 33, kinds, kind=None, ready=None, **nothing)
        self.send("server", 33, kinds, kind=1, ready=1, commit=None, quorum_age_ns=2 ** 64 - 1, **nothing)
        for kind in range(2, 7):
            self.send("client", 33, kind=kind, ready=kind & 1 or None, quorum_age_ns=2 ** 64 - 1,
                      target=self.rng.randrange(1, 32) if kind == 6 else None, namespace=self.rng.getrandbits(52))
        for kind in range(3):
            self.send("server", 34, kind=kind or None, up_to_offset=7 if kind == 1 else None, namespace=self.rng.getrandbits(52))
        if self.v == 3:
            self.send("server", 35)
            self.send("client", 36, kind=None, ready=None, received_op=None, held_op=None)
            self.send("server", 36, kind=1, ready=1, received_op=3, held_op=5)

    def run(self):
        self.send("client", 14, mac=None, status=None, view=None, wire_revision=None)
        self.send("server", 15, status=None, view=None, wire_revision=None)
        self.send("client", 16, nonce=None, status=None, view=None, wire_revision=None)
        self.prepares(6)
        self.prepares(19)
        self.headers_only()
        self.later()


def make(seed, version, pcap, expected):
    """Write a capture and its expected values; returns the number of frames."""
    link = Link(seed, version)
    link.run()
    link.capture.write(pcap)
    with open(expected, "w", encoding="utf-8") as out:
        for pdu in link.expected:
            out.write(json.dumps(pdu, ensure_ascii=False) + "\n")
    return len(link.expected)


if __name__ == "__main__":
    print(make(int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]), "frames")
