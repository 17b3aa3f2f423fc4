# A writer of captures: TCP connections and Iggy frames, made by hand from the reference.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames by field name, and TCP connections with chosen cuts, losses, repeats and orders. Knows nothing of the plugin.

    capture = Capture()
    connection = capture.connection(server_port=8090)          # with handshake
    connection.client(request(code=1, client=7, request=1))    # one segment
    connection.server(reply(request=1, operation=2), cuts=[100])   # two segments, cut after 100 bytes
    connection.lose("client", 300)                             # bytes that the capture misses
    capture.write(path)

Each packet gets the next number (from 1): `capture.number` is that of the last one written.
"""

import struct
from array import array

from xxh3 import xxh3_64

HEADER = 256
VERSIONS = {"0.11.0": 0x2C00, "0.12.0": 0x3000, "0.12.1": 0x3001, "0.12.2": 0x3002}
CLUSTER = bytes.fromhex("21bb05c88727bab88d0ec27be8a72d46")

# --- header layouts: name -> (offset, size); all versions together ---------------------------------------------------
COMMON = dict(checksum=(0, 16), checksum_body=(16, 16), cluster=(32, 16), size=(48, 4), view=(52, 4), release=(56, 4),
              command=(60, 1), replica=(61, 1), reserved_frame=(62, 66))
_REQUEST = dict(client=(128, 16), request_checksum=(144, 16), timestamp=(160, 8), request=(168, 8), operation=(176, 1),
                operation_padding=(177, 7), session=(184, 8), user_id=(192, 4), code=(196, 4),
                partition_incarnation=(200, 8), owner_generation=(208, 8), minimum_metadata_op=(216, 8),
                metadata_watermark=(240, 8), group=(248, 8))
_PREPARE = dict(client=(128, 16), parent=(144, 16), request_checksum=(160, 16), op=(176, 8), commit=(184, 8),
                timestamp=(192, 8), request=(200, 8), operation=(208, 1), group=(216, 8), user_id=(224, 4),
                retry_capacity=(228, 4), partition_incarnation=(232, 8), session=(248, 8))
_HANDSHAKE = dict(nonce=(128, 32), mac=(160, 32), status=(192, 1), wire_revision=(193, 4))
_REPAIR_END = dict(nonce=(128, 16), op=(144, 8), group=(152, 8), partition_incarnation=(160, 8))
_REPORT = dict(incomplete=(128, 1), namespace_revision=(248, 8))
LAYOUTS = {
    5: _REQUEST,
    6: _PREPARE,
    7: dict(parent=(128, 16), prepare_checksum=(144, 16), op=(160, 8), commit=(168, 8), timestamp=(176, 8),
            request=(184, 8), operation=(192, 1), group=(200, 8)),
    8: dict(request_checksum=(128, 16), context=(144, 16), client=(160, 16), op=(176, 8), commit=(184, 8),
            timestamp=(192, 8), request=(200, 8), operation=(208, 1), operation_padding=(209, 7), status=(216, 4),
            committed_result=(220, 1), partition_incarnation=(224, 8)),
    9: dict(commit_checksum=(128, 16), timestamp_monotonic=(144, 8), commit=(152, 8), checkpoint_op=(160, 8),
            group=(168, 8), partition_incarnation=(176, 8)),
    10: dict(group=(128, 8), partition_incarnation=(136, 8)),
    11: dict(op=(128, 8), commit=(136, 8), group=(144, 8), log_view=(152, 4), flags=(156, 1),
             partition_incarnation=(216, 8), nack_bitset=(224, 16), present_bitset=(240, 16)),
    12: dict(op=(128, 8), commit=(136, 8), group=(144, 8), partition_incarnation=(152, 8), incarnation=(240, 16)),
    13: dict(client=(128, 16), server_protocol_version=(144, 4), server_protocol_version_min=(148, 4), reason=(255, 1)),
    14: _HANDSHAKE,
    15: _HANDSHAKE,
    16: _HANDSHAKE,
    17: dict(group=(128, 8), partition_incarnation=(136, 8), incarnation=(240, 16)),
    18: dict(nonce=(128, 16), from_op=(144, 8), to_op=(152, 8), group=(160, 8), partition_incarnation=(168, 8)),
    19: _PREPARE,
    20: _REPAIR_END,
    21: _REPAIR_END,
    22: dict(nonce=(128, 16), group=(144, 8), partition_incarnation=(152, 8)),
    23: dict(nonce=(128, 16), commit_op=(144, 8), group=(152, 8), available=(160, 1), unavailable_transient=(161, 1),
             commit_max=(168, 8), partition_incarnation=(176, 8)),
    24: dict(nonce=(128, 16), offset=(144, 8), group=(152, 8), len=(160, 4), artifact=(164, 4),
             partition_incarnation=(168, 8)),
    25: dict(nonce=(128, 16), offset=(144, 8), group=(152, 8), artifact=(160, 4), partition_incarnation=(248, 8)),
    26: dict(client=(128, 16), nonce=(144, 16), user_id=(160, 4)),
    27: dict(nonce=(128, 16), client=(144, 16), epoch=(160, 8), watermark=(168, 8), outcome=(255, 1)),
    28: dict(client=(128, 16), nonce=(144, 16), session=(160, 8), request=(168, 8)),
    29: dict(nonce=(128, 16), client=(144, 16), commit=(160, 8), outcome=(255, 1)),
    30: _REPORT,
    31: _REPORT,
    32: dict(reporter=(128, 2), operation=(130, 1)),
    33: dict(nonce=(128, 16), namespace=(144, 8), created_revision=(152, 8), commit=(160, 8), quorum_age_ns=(168, 8),
             partition_view=(176, 4), kind=(180, 1), ready=(181, 1), target=(182, 1)),
    34: dict(nonce=(128, 16), namespace=(144, 8), created_revision=(152, 8), minimum_metadata_op=(160, 8),
             up_to_offset=(168, 8), segments_count=(176, 4), kind=(180, 1)),
    35: dict(timestamp_monotonic=(128, 8), group=(136, 8), partition_incarnation=(144, 8)),
    36: dict(nonce=(128, 8), group=(136, 8), partition_incarnation=(144, 8), observed_op=(152, 8), received_op=(160, 8),
             held_op=(168, 8), commit_op=(176, 8), kind=(184, 1), ready=(185, 1)),
}
SEALED = {7, 9, 10, 11, 12, 17, 18} | set(range(20, 37))
BODY_HASHED = {11, 12, 33}


def frame(command, body=b"", sealed=True, **values):
    """A frame: header fields by name (numbers, or bytes of the field's length), and a body. `size` may be given wrong.

    Frames that the protocol seals get their seal unless `sealed` is false, prepares (6, 19) their identity.
    """
    header = bytearray(HEADER)
    places = dict(COMMON, **LAYOUTS.get(command, {}))
    values = dict({"size": HEADER + len(body), "command": command}, **values)
    for name, value in values.items():
        offset, length = places[name]
        header[offset:offset + length] = value if isinstance(value, bytes) else value.to_bytes(length, "little")
    if sealed and command in BODY_HASHED and body and "checksum_body" not in values:
        header[16:24] = struct.pack("<Q", xxh3_64(body))
    if sealed and "checksum" not in values:
        if command in SEALED:
            header[0:8] = struct.pack("<Q", seal(header))
        elif command in (6, 19):
            header[0:8] = struct.pack("<Q", identity(header))
    return bytes(header) + body


def seal(header):
    """Frame seal: XXH3-64 of header bytes 16..255."""
    return xxh3_64(bytes(header[16:HEADER]))


def identity(header):
    """Prepare identity: the header without bytes 0..15 and the view, with command 6."""
    copy = bytearray(header[:HEADER])
    copy[0:16] = bytes(16)
    copy[52:56] = bytes(4)
    copy[60] = 6
    return xxh3_64(bytes(copy))


def request(body=b"", code=0, operation=2, client=0x80000000000040000000000000000001, **values):
    """A client request; `code` only travels with operation 2."""
    return frame(5, body, client=client, operation=operation, code=code, **values)


def reply(body=b"", operation=2, client=0x80000000000040000000000000000001, **values):
    return frame(8, body, client=client, operation=operation, **values)


# --- bodies -------------------------------------------------------------------------------------------------------------
def u8(value):
    return struct.pack("<B", value)


def u32(value):
    return struct.pack("<I", value)


def u64(value):
    return struct.pack("<Q", value)


def name(text):
    """u8 length and text."""
    data = text.encode()
    return u8(len(data)) + data


def text32(data):
    """u32 length and bytes."""
    data = data.encode() if isinstance(data, str) else data
    return u32(len(data)) + data


def ident(value):
    """Identifier: kind 1 a u32, kind 2 a name."""
    if isinstance(value, int):
        return b"\x01\x04" + u32(value)
    data = value.encode()
    return b"\x02" + u8(len(data)) + data


def partition_key(partition):
    """Partitioning kind 2: by partition id."""
    return b"\x02\x04" + u32(partition)


def login_body(version="0.12.2", user="iggy", password="secret", context=""):
    """Body of code 40; since 0.12.0 with a bind secret."""
    out = u32(VERSIONS[version]) + name("synthetic") + name("1.0")
    if version != "0.11.0":
        out += bytes(range(1, 33))
    return out + name(user) + name(password) + text32(context)


def login_reply(user=1, session=1, version="0.12.2", build="test"):
    """Body of a successful login reply."""
    return u32(0) + u32(user) + u64(session) + u32(VERSIONS[version]) + name(build)


def header_value(kind, data):
    return u8(kind) + u32(len(data)) + data


def user_headers(pairs):
    """TLV of (key, value) texts: both of kind string (2)."""
    return b"".join(header_value(2, key.encode()) + header_value(2, value.encode()) for key, value in pairs)


def message(payload, index=0, identifier=0, headers=b"", delta=0):
    rest = struct.pack("<QQIIIIQ", identifier & (1 << 64) - 1, identifier >> 64, index, delta, len(headers), len(payload),
                       0) + payload + headers
    return u64(xxh3_64(rest)) + rest


def batch(messages, partition=0, base_offset=0, base_timestamp=0, origin=1_700_000_000_000_000):
    """A batch record of message frames, checksums right."""
    body = b"".join(messages)
    start = struct.pack("<QQQQQ", partition, base_offset, base_timestamp, origin, HEADER + len(body))
    count = u32(len(messages))
    checksum = xxh3_64(start + count + b"".join(one[:8] for one in messages))
    return start + u64(checksum) + count + bytes(204) + body


def send_body(stream, topic, partition, record):
    """Body of send_messages (101, operation 160)."""
    count = record[48:52]
    routing = ident(stream) + ident(topic) + partition_key(partition) + count
    return u32(len(routing)) + routing + record


def poll_body(stream, topic, partition, count, offset=0, consumer=1):
    """Body of poll_messages (100): consumer by id, strategy offset (1)."""
    return (u8(1) + ident(consumer) + ident(stream) + ident(topic) + b"\x01" + u32(partition) + b"\x01" + u64(offset) +
            u32(count) + b"\x00")


def poll_reply(records, partition=0, current=0, count=0, version="0.12.2"):
    head = u32(partition) + u64(current) + u32(count)
    return head + (b"" if version == "0.11.0" else bytes(24)) + records


# --- TCP ----------------------------------------------------------------------------------------------------------------
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16


def checksum(data):
    if len(data) & 1:
        data += b"\0"
    total = sum(array("H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF  # in host order of a little-endian machine: pack with "<" (swapped sums are sums of swaps)


class Capture:
    """Packets in order, Ethernet and IPv4, a microsecond pcap."""

    def __init__(self, step=1000, start=1_700_000_000_000_000):
        self.packets, self.clock, self.step, self.hosts = [], start, step, 0

    @property
    def number(self):
        return len(self.packets)

    def connection(self, client_port=None, server_port=8090, handshake=True, client_seq=1000, server_seq=2000, addresses=None):
        self.hosts += 1
        one = Connection(self, client_port or 40000 + self.hosts, server_port, client_seq, server_seq, addresses)
        if handshake:
            one.open()
        return one

    def add(self, data):
        self.clock += self.step
        self.packets.append((self.clock, data))
        return self.number

    def move(self, number, later):
        """Packet `number` comes `later` places later; time stamps stay in order."""
        times = [when for when, _ in self.packets]
        data = [one for _, one in self.packets]
        data.insert(number - 1 + later, data.pop(number - 1))
        self.packets = list(zip(times, data))

    def drop(self, number):
        del self.packets[number - 1]

    def write(self, path, snaplen=262144, kept=None):
        """A pcap; of every packet `snaplen` bytes, of those in `kept` (number -> bytes) so many."""
        with open(path, "wb") as out:
            out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, snaplen, 1))
            for number, (when, data) in enumerate(self.packets, 1):
                cut = data[:(kept or {}).get(number, snaplen)]
                out.write(struct.pack("<IIII", when // 1_000_000, when % 1_000_000, len(cut), len(data)) + cut)
        return path


class Connection:
    """One TCP connection; sequence numbers are kept for both sides."""

    def __init__(self, capture, client_port, server_port, client_seq, server_seq, addresses=None):
        self.capture = capture
        self.ports = {"client": client_port, "server": server_port}
        self.seq = {"client": client_seq, "server": server_seq}
        client, server = addresses or (b"\x0a\x00\x00\x01", b"\x0a\x00\x00\x02")
        self.address = {"client": client, "server": server}
        self.ident = 0

    @staticmethod
    def _other(side):
        return "server" if side == "client" else "client"

    def segment(self, side, data=b"", seq=None, flags=PSH | ACK, ack=None):
        """One segment with any sequence number; does not move the side's own. Returns the packet's number."""
        other = self._other(side)
        seq = self.seq[side] if seq is None else seq
        ack = self.seq[other] if ack is None else ack
        tcp = struct.pack(">HHIIBBHHH", self.ports[side], self.ports[other], seq & 0xFFFFFFFF,
                          ack & 0xFFFFFFFF if flags & ACK else 0, 5 << 4, flags, 65535, 0, 0) + data
        pseudo = self.address[side] + self.address[other] + struct.pack(">BBH", 0, 6, len(tcp))
        tcp = tcp[:16] + struct.pack("<H", checksum(pseudo + tcp)) + tcp[18:]
        self.ident = (self.ident + 1) & 0xFFFF
        ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(tcp), self.ident, 0x4000, 64, 6, 0)
        ip += self.address[side] + self.address[other]
        ip = ip[:10] + struct.pack("<H", checksum(ip)) + ip[12:]
        ends = (b"\x02\0\0\0\0\x01", b"\x02\0\0\0\0\x02")
        if side == "client":
            ends = ends[::-1]
        return self.capture.add(ends[0] + ends[1] + b"\x08\0" + ip + tcp)

    def open(self):
        self.segment("client", flags=SYN)
        self.seq["client"] += 1
        self.segment("server", flags=SYN | ACK)
        self.seq["server"] += 1
        self.segment("client", flags=ACK)

    def send(self, side, data, cuts=(), mss=None):
        """Bytes in order: one segment, or cut at these offsets, or into pieces of `mss` bytes. Number of the last packet."""
        edges = sorted(set(cuts) | (set(range(mss, len(data), mss)) if mss else set()))
        edges = [edge for edge in edges if 0 < edge < len(data)]
        number = self.capture.number
        for start, end in zip([0] + edges, edges + [len(data)]):
            number = self.segment(side, data[start:end])
            self.seq[side] += end - start
        return number

    def client(self, data, cuts=(), mss=None):
        return self.send("client", data, cuts, mss)

    def server(self, data, cuts=(), mss=None):
        return self.send("server", data, cuts, mss)

    def lose(self, side, count):
        """`count` bytes of this side never reach the capture (or come later, by segment())."""
        self.seq[side] += count

    def acknowledge(self, side):
        return self.segment(side, flags=ACK)

    def close(self):
        for side in ("client", "server"):
            self.segment(side, flags=FIN | ACK)
            self.seq[side] += 1
        self.segment("client", flags=ACK)

    def reset(self, side="server"):
        return self.segment(side, flags=RST | ACK)
