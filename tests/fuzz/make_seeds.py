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

CAPTURES = Path(__file__).resolve().parent.parent.parent / "captures"
REPLICA, HANDSHAKE, FIRST_TREE, OTHER_PORT = 0x01, 0x04, 0x10, 0x02
WEB, WEB_HEURISTIC, TLS, TLS_HEURISTIC, TAPS = 1, 2, 3, 4, 8  # second byte
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
    return (0, TAPS, 0, TAPS, WEB, TAPS, 0, TAPS | TLS, TAPS, WEB_HEURISTIC, 0, TLS_HEURISTIC)[number % 12]


def bodies():
    """(first byte, segments, whether they are of the protocol before 0.11, which is known from its first bytes over TCP)"""
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
                legacy = "legacy" in path.name
                for body in windows(segments, 12, 0):
                    yield options | (HANDSHAKE if legacy else 0), body, legacy


def seeds():
    for number, (options, body, legacy) in enumerate(bodies()):
        yield bytes([options, 0 if legacy else variants(number)]) + body


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for seed in seeds():
        (folder / hashlib.sha1(seed).hexdigest()).write_bytes(seed)


if __name__ == "__main__":
    main()
