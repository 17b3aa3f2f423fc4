# Captures for the benchmark: the same shapes of traffic in Iggy's protocol and in Kafka's, the same bytes every time.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Shapes of traffic, written to captures of any size.

    python3 shapes.py FOLDER [--mb 60] [--shape NAME ...]

A shape is a function that yields (side, bytes) of one connection, one TCP segment each; `write` cuts it off at the size wanted.
Numbers in frames (request, op, offsets) run on, so that requests find their replies; payloads are the same in all of them.
"""

import argparse
import itertools
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))

import kafka_frames  # noqa: E402  (beside this file)
import synth  # noqa: E402

MSS = 1460
CLIENT_ID = 0x0123456789ABCDEF
SESSION = 5
PARTITION = 3
GROUP = 2 << 32 | 4 << 20 | PARTITION


# --- frames that differ in numbers alone ------------------------------------------------------------------------------
class Frames:
    """One frame made over and over: numbers are put into a copy of it."""

    def __init__(self, data, **places):
        self.data, self.places = bytearray(data), places

    def make(self, **values):
        for name, value in values.items():
            struct.pack_into("<Q", self.data, self.places[name], value)
        return bytes(self.data)


def messages(count, size):
    return [synth.message(bytes(index % 251 for _ in range(size)), index, 1000 + index) for index in range(count)]


def login(version="0.12.0"):
    """The first request and its reply: they tell the version."""
    body = synth.login_body(version)
    yield "client", synth.request(body, operation=1, client=CLIENT_ID)
    yield "server", synth.reply(synth.login_reply(session=SESSION, version=version), operation=1, client=CLIENT_ID,
                                cluster=synth.CLUSTER)


def sends(count, size):
    """A request that sends so many messages, and its reply."""
    body = synth.send_body("orders", "events", PARTITION, synth.batch(messages(count, size)))
    request = Frames(synth.request(body, operation=160, client=CLIENT_ID, session=SESSION), request=168)
    confirmation = struct.pack("<IIIIQ", 1, 2, 4, PARTITION, 77)
    reply = Frames(synth.reply(confirmation, operation=160, client=CLIENT_ID, cluster=synth.CLUSTER), request=200)
    return request, reply


# --- shapes: Iggy -----------------------------------------------------------------------------------------------------
def iggy_sends(count, size, together=1):
    request, reply = sends(count, size)
    yield from login()
    for first in itertools.count(1, together):
        numbers = range(first, first + together)
        yield "client", b"".join(request.make(request=number) for number in numbers)
        yield "server", b"".join(reply.make(request=number) for number in numbers)


def iggy_replica():
    """What the primary of a partition and a backup say: prepares, acknowledgements, now and then a commit."""
    body = synth.batch(messages(5, 100), PARTITION)
    common = dict(cluster=synth.CLUSTER, view=1, group=GROUP)
    yield "client", synth.frame(14, replica=0, cluster=synth.CLUSTER)
    parent = 0
    for op in itertools.count(1):
        prepare = synth.frame(6, body, replica=0, op=op, commit=op - 1, timestamp=1_700_000_000_000_000 + op, request=op,
                              operation=160, client=CLIENT_ID, session=SESSION, parent=parent, user_id=1, **common)
        identity = int.from_bytes(prepare[:8], "little")
        yield "client", prepare
        yield "server", synth.frame(7, replica=1, op=op, commit=op - 1, timestamp=1_700_000_000_000_000 + op, request=op,
                                    operation=160, parent=parent, prepare_checksum=identity, **common)
        parent = identity
        if op % 16 == 0:
            yield "client", synth.frame(9, replica=0, commit=op, timestamp_monotonic=op * 1_000_000,
                                        commit_checksum=identity, **common)


# --- shapes: Kafka ----------------------------------------------------------------------------------------------------
def kafka_sends(count, size, together=1):
    request, reply = kafka_frames.produce(count, size), kafka_frames.produced()
    for first in itertools.count(1, together):
        numbers = range(first, first + together)
        yield "client", b"".join(request(number) for number in numbers)
        yield "server", b"".join(reply(number) for number in numbers)


# --- real traffic -----------------------------------------------------------------------------------------------------
RECORDED = ["real012/01_admin.pcapng", "real012/02_produce.pcapng", "real/01_admin_rust.pcapng",
            "real/02_produce_consume_rust.pcapng", "real/03_errors_rust.pcapng", "real/05_python.pcapng"]


def pcapng_packets(path):
    """Frames of Ethernet that are IPv4 and TCP, as they stand in a little-endian pcapng."""
    data = path.read_bytes()
    offset = 0
    while offset + 12 <= len(data):
        kind, length = struct.unpack_from("<II", data, offset)
        if kind == 6:
            captured = struct.unpack_from("<I", data, offset + 20)[0]
            packet = data[offset + 28:offset + 28 + captured]
            if packet[12:14] == b"\x08\x00" and packet[23] == 6:
                yield packet
        offset += length


def real_packets():
    """Recorded connections over and over, each time from other addresses."""
    folder = Path(__file__).resolve().parent.parent.parent / "captures"
    recorded = [list(pcapng_packets(folder / name)) for name in RECORDED]
    for turn in itertools.count():
        for number, packets in enumerate(recorded):
            for packet in packets:
                yield from_elsewhere(packet, turn, number)


def from_elsewhere(packet, turn, number):
    """The client at another address of 10.0.0.0/8, so that ports may stay."""
    packet = bytearray(packet)
    source, destination = struct.unpack_from(">HH", packet, 14 + 4 * (packet[14] & 15))
    address = bytes([10, number, turn >> 8 & 255, turn & 255])
    place = 26 if destination in (8090, 3000) or source not in (8090, 3000) else 30
    packet[place:place + 4] = address
    return bytes(packet)


# --- writing ----------------------------------------------------------------------------------------------------------
class Writer:
    """Packets of one TCP connection; checksums of TCP and IP stay 0, which Wireshark does not look at by default."""

    def __init__(self, out, port):
        self.out, self.port, self.clock, self.written, self.packets = out, port, 1_700_000_000_000_000, 0, 0
        self.seq = {"client": 1000, "server": 2000}
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1))
        self.segment("client", b"", 2)
        self.segment("server", b"", 18)
        self.segment("client", b"", 16)

    def packet(self, data):
        self.clock += 50
        self.packets += 1
        self.written += 16 + len(data)
        self.out.write(struct.pack("<IIII", self.clock // 1_000_000, self.clock % 1_000_000, len(data), len(data)) + data)

    def segment(self, side, data, flags=24):
        client = side == "client"
        ports = (40000, self.port) if client else (self.port, 40000)
        addresses = b"\x0a\0\0\1\x0a\0\0\2" if client else b"\x0a\0\0\2\x0a\0\0\1"
        other = self.seq["server" if client else "client"] if flags != 2 else 0
        head = struct.pack(">12sHBBHHHBBH8sHHIIBBHHH", bytes(12), 0x0800, 0x45, 0, 40 + len(data), 0, 0x4000, 64, 6, 0,
                           addresses, *ports, self.seq[side] & 0xFFFFFFFF, other & 0xFFFFFFFF, 0x50, flags, 65535, 0, 0)
        self.packet(head + data)
        self.seq[side] += len(data) + (1 if flags & 2 else 0)


def write_connection(path, segments, port, size, mss):
    with open(path, "wb") as out:
        writer = Writer(out, port)
        for side, data in segments:
            for start in range(0, len(data), mss):
                writer.segment(side, data[start:start + mss])
            if writer.written >= size and side == "server":
                break
        return writer.packets


def write_packets(path, packets, size):
    with open(path, "wb") as out:
        writer = Writer(out, 8090)
        for packet in packets:
            writer.packet(packet)
            if writer.written >= size:
                break
        return writer.packets


# name: protocol, port, segments, largest segment
SHAPES = {
    "mid": ("One frame a segment, 10 messages of 100 bytes", {
        "iggy": lambda: iggy_sends(10, 100), "kafka": lambda: kafka_sends(10, 100)}, 65000),
    "small": ("One frame a segment, 1 message of 100 bytes", {
        "iggy": lambda: iggy_sends(1, 100), "kafka": lambda: kafka_sends(1, 100)}, 65000),
    "pack": ("8 small frames a segment", {
        "iggy": lambda: iggy_sends(1, 20, 8), "kafka": lambda: kafka_sends(1, 20, 8)}, 65000),
    "big": ("100 messages of 1 kB a frame, many segments", {
        "iggy": lambda: iggy_sends(100, 1000), "kafka": lambda: kafka_sends(100, 1000)}, MSS),
    "tiny": ("10,000 messages of 8 bytes a frame, many segments", {
        "iggy": lambda: iggy_sends(10000, 8), "kafka": lambda: kafka_sends(10000, 8)}, MSS),
    "replica": ("Between servers: prepares of 5 messages of 100 bytes", {"iggy": iggy_replica}, 65000),
    "real": ("Recorded sessions, over and over", {"iggy": None}, 0),
}
PORTS = {"iggy": 8090, "kafka": 9092}


def write(path, shape, protocol, megabytes):
    """Writes a capture of about so many megabytes; the number of its packets."""
    _, protocols, mss = SHAPES[shape]
    size = int(megabytes * 1_000_000)
    if shape == "real":
        return write_packets(path, real_packets(), size)
    return write_connection(path, protocols[protocol](), PORTS[protocol], size, mss)


def main():
    parser = argparse.ArgumentParser(description="Write the captures of the benchmark.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--mb", type=float, default=60)
    parser.add_argument("--shape", action="append", choices=list(SHAPES))
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for shape in arguments.shape or SHAPES:
        for protocol in SHAPES[shape][1]:
            path = arguments.folder / ("%s-%s.pcap" % (protocol, shape))
            print("%s: %d packets" % (path, write(path, shape, protocol, arguments.mb)))


if __name__ == "__main__":
    main()
