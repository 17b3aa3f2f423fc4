#!/usr/bin/env python3
# Seeds for fuzz_iggy: short connections out of the captures.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""make_seeds.py FOLDER: writes seeds in the format that fuzz_iggy.c describes.

A seed has the login of its connection, if there is one, and a few frames that follow each other, a frame a segment or cut
as in the capture.
"""

import hashlib
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
import list_frames  # noqa: E402
import synth  # noqa: E402

CAPTURES = Path(__file__).resolve().parent.parent.parent / "captures"
REPLICA, HANDSHAKE, FIRST_TREE, OTHER_PORT = 0x01, 0x04, 0x10, 0x02
WEB, WEB_HEURISTIC, TLS, TLS_HEURISTIC, QUIC, TAPS, OPENS, ONWARDS = 1, 2, 3, 4, 5, 8, 16, 32  # second byte
HIDE = 0x80
LONGEST = 12000


def segment(side, data):
    return bytes([side]) + struct.pack("<H", len(data)) + data


def connections(path):
    """Per TCP connection, in order of the capture: (server port, [(side, bytes)])."""
    found = {}
    for _number, _time, link, data in list_frames.packets(str(path)):
        ip = list_frames.ip_of(link, data) if link >= 0 else None
        if not ip or ip[2] != 6:
            continue
        source, destination, _, tcp = ip
        ports = struct.unpack(">HH", tcp[:4])
        payload = bytes(tcp[(tcp[12] >> 4) * 4:])
        ends = (source, ports[0]), (destination, ports[1])
        key = tuple(sorted(ends))
        server = min(ends, key=lambda end: end[1])
        one = found.setdefault(key, (server[1], []))
        if payload:
            one[1].append((int(ends[0] == server), payload))
    return found.values()


def frames(segments):
    """Frames in the order of their first bytes, as far as the connection is whole from its start."""
    buffers, out = [b"", b""], []
    for side, data in segments:
        buffers[side] += data
        while len(buffers[side]) >= 256:
            size = struct.unpack_from("<I", buffers[side], 48)[0]
            if not 256 <= size <= 1 << 20:
                return out
            if len(buffers[side]) < size:
                break
            out.append((side, buffers[side][:size]))
            buffers[side] = buffers[side][size:]
    return out


def windows(items, size, keep):
    """The first `keep` items, and then each run of `size`, within the greatest length of a seed."""
    for start in range(keep, max(keep + 1, len(items)), size):
        chosen, total = [], 0
        for side, data in items[:keep] + items[start:start + size]:
            if total + len(data) > LONGEST or len(data) > 0xFFFF:
                continue
            total += len(data)
            chosen.append(segment(side, data))
        if chosen:
            yield b"".join(chosen)


def variants(number):
    """The second byte: most over TCP, every second one with taps; the others over each carrier in turn."""
    return (0, TAPS, ONWARDS, TAPS, WEB, TAPS, 0, TAPS | TLS, TAPS, WEB_HEURISTIC, 0, TLS_HEURISTIC)[number % 12]


def bodies():
    """(first byte, segments, whether they are of the old protocol, which is known from its first bytes over TCP)"""
    for path in sorted(CAPTURES.glob("*/*.pcap*")):
        if path.suffix not in (".pcap", ".pcapng") or "websocket" in path.name or "tls" in path.name:
            continue
        for port, segments in connections(path):
            options = FIRST_TREE | (REPLICA if 9090 <= port <= 9092 else OTHER_PORT if port == 15555 else 0)
            whole = frames(segments)
            login = 2 if whole and whole[0][1][60] == 5 and whole[0][1][176] == 1 else 0
            for body in windows(whole, 4, login) if whole else ():
                yield options | HANDSHAKE, body, False
            if "segments" in path.name or len(whole) < 2:
                old = "legacy" in path.name
                for body in windows(segments, 12, 0):
                    yield options | (HANDSHAKE if old else 0), body, old


def filtered(body, number):
    """What the first pass looks for stands in the first control byte."""
    return bytes([body[0] | number % 8 << 5]) + body[1:]


# --- what no capture has -----------------------------------------------------------------------------------------------------
def login():
    return [(0, synth.request(synth.login_body(), operation=1)), (1, synth.reply(synth.login_reply(), operation=1))]


def polled(messages, stream="s", topic="t", number=1):
    """A poll and the messages that answer it: (payload, user headers)."""
    record = synth.batch([synth.message(payload, index, headers=headers) for index, (payload, headers) in enumerate(messages)],
                         3, 10, 1_700_000_000_000_000)
    return [(0, synth.request(synth.poll_body(stream, topic, 3, 10), code=100, request=number, session=1)),
            (1, synth.reply(synth.poll_reply(record, 3, 10, len(messages)), request=number))]


def packet(data, source, port=8090):
    """IPv4 and TCP around some bytes, as a payload may have them."""
    return (struct.pack(">BBHHHBBH", 0x45, 0, 40 + len(data), 0, 0, 64, 6, 0) + bytes([10, 9, 9, source, 10, 9, 9, 9]) +
            struct.pack(">HHIIBBHHH", 40000 + source, port, 1, 1, 5 << 4, 0x18, 0xFFFF, 0, 0) + data)


def payloads():
    """The rules of fuzz_inputs.c, and what their dissectors are given; frames in messages of frames."""
    headers = synth.user_headers([("content-type", "application/json; charset=utf-8"), ("a", "b")])
    for topic, payload in (("t1", synth.request(code=1, request=1)), ("t5", packet(synth.request(code=1, request=1), 1)),
                           ("x", b"<a><b/></a>"), ("events", b"<a/>"), ("t", b"any"), ("p", b"\x08\x01\x12\x02ab"), ("j", b'{"a": [1]}'),
                           ("h", b"Hello"), ("j", b"[1, 2")):
        yield login() + polled([(payload, headers), (payload, b"")], topic=topic)
    inner = synth.request(code=1, request=1)
    for number in range(3):
        inner = polled([(inner, b""), (packet(inner, number), b"")], topic="t%d" % (number + 1))[1][1]
    yield login() + polled([(inner, b"")], topic="t1")


def sealed():
    """Clear text between nonce and tag: with OPENS every key opens it."""
    def around(clear):
        return bytes(12) + clear + bytes(16)
    headers = synth.user_headers([("content-type", "application/json"), ("a", "b")])
    for stream, topic in (("orders", "events"), ("s", "t1"), (1, 7)):
        yield login() + polled([(around(b'{"a": 1}'), around(headers)), (around(b""), around(b"\0\0")), (b"short", b"")], stream, topic)


def quic():
    """Streams of one request each, over several packets, late and twice: the pieces of fuzz_inputs.c."""
    def piece(stream, data, offset=None, kind=0):
        place = b"" if offset is None else struct.pack(">H", offset)
        return bytes([kind | (offset is not None), stream]) + place + struct.pack(">H", len(data)) + data
    asked, answer = synth.request(code=1, request=1), synth.reply(request=1)
    big = polled([(b"x" * 900, b"")])
    yield [(0, piece(0, asked)), (1, piece(0, answer))]
    yield [(0, piece(0, asked) + piece(4, big[0][1])), (1, piece(4, big[1][1][:700]) + piece(0, answer)), (1, piece(4, big[1][1][700:], 700))]
    yield [(0, piece(0, asked[:100])), (0, piece(0, asked[200:], 200)), (0, piece(0, asked[90:210], 90)), (0, piece(0, asked)),
           (1, piece(0, answer[50:], 50)), (1, piece(0, answer[:60]))]
    yield [(0, piece(0, asked, kind=4)), (1, piece(0, answer))]
    yield [(0, piece(0, b"", kind=2) + piece(4, asked, kind=8)), (0, piece(2, asked) + piece(8, b"GET / HTTP/1.1" * 30)),
           (1, piece(4, answer))]


def legacy():
    """The protocol before 0.11: secrets, errors, lost and doubled pieces, a length that nobody has."""
    def asked(code, body=b""):
        return struct.pack("<II", 4 + len(body), code) + body

    def answered(body=b"", status=0):
        return struct.pack("<II", status, len(body)) + body
    user = asked(38, synth.name("iggy") + synth.name("iggy"))
    begun = [(0, asked(1)), (1, answered()), (0, user), (1, answered(synth.u32(1)))]
    token = synth.name("t")
    yield begun + [(0, asked(42, token)), (1, answered(token)), (0, asked(10)), (1, answered(status=40))]
    yield [(0, asked(44, token)), (1, answered(synth.u32(1))), (0, asked(12)[:5]), (0, asked(12)[5:]), (1, answered(bytes(600))[:300]),
           (1, answered(bytes(600))[300:])]
    yield [(0, asked(38, synth.name("a") + synth.name("b") + synth.text32("1.0") + synth.text32(""))), (1, answered(synth.u32(1)))] + [
        (0, asked(number + 1, bytes(number))) for number in range(20)] + [(1, answered(bytes(number))) for number in range(20)]
    yield begun + [(0x08, 40), (0, asked(12)), (0x09, 8), (1, answered(bytes(5))), (0, struct.pack("<II", 1, 1) + bytes(30))]
    yield begun + [(0x0A, asked(12)), (0x0D, answered(bytes(5))), (1, answered(bytes(9))), (0x0C, asked(13, bytes(40))), (0, asked(14))]


def joined(segments):
    return b"".join(bytes([control]) + struct.pack("<H", data) if isinstance(data, int) else segment(control, data)
                    for control, data in segments)


def made():
    """(first byte, second byte, segments)"""
    for carrier in (0, WEB, TLS):
        for body in payloads():
            yield HANDSHAKE | FIRST_TREE, carrier | TAPS, joined(body)
        for body in sealed():
            yield HANDSHAKE | FIRST_TREE, carrier | TAPS | OPENS, joined(body)
    for body in quic():
        for second in (QUIC, QUIC | TAPS, QUIC | ONWARDS):
            yield FIRST_TREE, second, joined(body)
    for body in legacy():
        for first in (HANDSHAKE, HANDSHAKE | HIDE, HANDSHAKE | 0x40, HANDSHAKE | 0x08):
            yield first | FIRST_TREE, 0, joined(body)


def seeds():
    for number, (options, body, is_legacy) in enumerate(bodies()):
        yield bytes([options, 0 if is_legacy else variants(number)]) + (body if is_legacy or number % 3 else filtered(body, number // 3))
    for first, second, body in made():
        yield bytes([first, second]) + body


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for seed in seeds():
        (folder / hashlib.sha1(seed).hexdigest()).write_bytes(seed)


if __name__ == "__main__":
    main()
