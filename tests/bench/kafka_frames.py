# Kafka frames for the benchmark: Produce requests of version 7 and their responses, record batches of format 2.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""produce(count, size) and produced() give functions: correlation id -> bytes of one frame."""

import struct

PRODUCE, VERSION = 0, 7
TOPIC = "events"


def _crc32c_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


def crc32c(data, table=_crc32c_table()):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def varint(value):
    """Zigzag, seven bits a byte."""
    value = value << 1 if value >= 0 else (-value << 1) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def string(text):
    return struct.pack(">h", len(text)) + text.encode()


def record(offset, value):
    body = b"\0" + varint(0) + varint(offset) + varint(-1) + varint(len(value)) + value + varint(0)
    return varint(len(body)) + body


def batch(count, size):
    records = b"".join(record(offset, bytes(offset % 251 for _ in range(size))) for offset in range(count))
    when = 1_700_000_000_000
    checked = struct.pack(">hiqqqhii", 0, count - 1, when, when, -1, -1, -1, count) + records
    return struct.pack(">qiibI", 0, 9 + len(checked), 0, 2, crc32c(checked)) + checked


def _numbered(head, tail):
    """The frame's length, then head, the correlation id, tail."""
    start = struct.pack(">i", len(head) + 4 + len(tail)) + head
    return lambda number: start + struct.pack(">i", number & 0x7FFFFFFF) + tail


def produce(count, size):
    records = batch(count, size)
    tail = string("rust") + struct.pack(">hhi", -1, 1, 30000) + struct.pack(">i", 1) + string(TOPIC)
    tail += struct.pack(">iii", 1, 3, len(records)) + records
    return _numbered(struct.pack(">hh", PRODUCE, VERSION), tail)


def produced():
    tail = struct.pack(">i", 1) + string(TOPIC) + struct.pack(">iihqqq", 1, 3, 0, 77, -1, 0) + struct.pack(">i", 0)
    return _numbered(b"", tail)
