#!/usr/bin/env python3
# An input of fuzz_iggy as a capture, to look at a finding with Wireshark.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""input_to_pcap.py INPUT CAPTURE: writes the packets that fuzz_iggy.c makes of the input; prints its options."""

import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
from synth import SEALED, Capture, seal  # noqa: E402

OPTIONS = {0x08: "-o tcp.reassemble_out_of_order:TRUE", 0x40: "-o tcp.desegment_tcp_streams:FALSE",
           0x80: "-o iggy.hide_secrets:TRUE"}
CARRIERS = {1: 8092, 2: 8093, 3: 8443, 4: 8444}  # bare pieces: the capture shows the bytes, Wireshark not what the target saw
SERVER, ACTION, LOSE, TWICE, LATE, OTHER, CUT = 0x01, 0x0E, 0x08, 0x0A, 0x0C, 0x0E, 0x10


def repaired(data):
    if len(data) < 256:
        return data
    data = data[:48] + struct.pack("<I", len(data)) + data[52:]
    return struct.pack("<QQ", seal(data), 0) + data[16:] if data[60] in SEALED else data


def convert(data, path):
    options, at, capture, kept = data[0], 2, Capture(), {}
    port = CARRIERS[data[1] & 7] if 1 <= data[1] & 7 <= 4 else 15555 if options & 0x02 else 9090 if options & 0x01 else 8090
    connections = [capture.connection(40000, port, False, 1000, 2000), capture.connection(40001, port, False, 5000, 6000)]
    late, opened, current = [None, None], [False, False], 0

    def bring(which):
        if late[which]:
            capture.packets.append((capture.clock, late[which]))
            late[which] = None

    while at + 3 <= len(data):
        control, length = data[at], struct.unpack_from("<H", data, at + 1)[0]
        action, side, at = control & ACTION, "server" if control & SERVER else "client", at + 3
        if action == OTHER:
            current = 1 - current
            continue
        one = connections[current]
        if options & 0x04 and not opened[current]:
            one.open()
        opened[current] = True
        if action == LOSE:
            one.lose(side, length)
            continue
        piece = data[at:at + length]
        at += len(piece)
        piece = repaired(piece) if options & 0x20 else piece
        for _ in range(2 if action == TWICE else 1):
            number = one.segment(side, piece)
            if control & CUT:
                kept[number] = 54 + len(piece) // 2
        one.seq[side] += len(piece)
        held = capture.packets.pop()[1] if action == LATE else None
        bring(current)
        late[current] = held
    bring(0)
    bring(1)
    capture.write(path, kept=kept)
    return [text for bit, text in OPTIONS.items() if options & bit]


if __name__ == "__main__":
    print(" ".join(convert(Path(sys.argv[1]).read_bytes(), sys.argv[2])))
