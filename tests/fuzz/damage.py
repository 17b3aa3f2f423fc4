#!/usr/bin/env python3
# Structure-aware damage: every length, count, kind and flag of every frame of the codec, one at a time.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""damage.py [--every N]: damaged frames in connections of their own, each followed by a good frame.

The fields are those of captures/codec/*.expected.jsonl. Each is set to 0, 1, the greatest value, the greatest minus 1 and
to a random one; each body is cut at every field (the size field says so); each header is cut by the capture after every
byte. Demanded: no dissector bug, no crash, nothing malformed, the frame behind the damaged one decodes, time bounded.
`--every N` tries one case in N. Needs the variables that tests/conftest.py describes.
"""

import argparse
import json
import random
import re
import struct
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from conftest import CAPTURES, Tshark  # noqa: E402
import list_frames  # noqa: E402
from synth import Capture, reply, request  # noqa: E402

NAMES = ("client-0.11.0", "client-0.12.0", "client-0.12.1", "client-0.12.2", "replica-0.11.0", "replica-0.12.0", "replica-0.12.2")
KIND = re.compile(r"(kind|count|length|size|len|flags?|scope|strategy|available|outcome|operation|code|reason)$")
MARK = 0x7A7A7A7A7A7A  # request number of the good frame behind a damaged one
IN_STEP = ("header.size", "header.command")  # damage to these may end the step: the next frame is searched
BATCH = 1500  # connections a capture


def frames_of(name):
    """Bytes and description of every frame of a codec capture, in order."""
    path = CAPTURES / "codec" / (name + ".pcap")
    streams, sender = {}, {}
    for number, _time, link, data in list_frames.packets(str(path)):
        source, _destination, _proto, tcp = list_frames.ip_of(link, data)
        sender[number] = source, tcp[:2]
        streams[sender[number]] = streams.get(sender[number], b"") + bytes(tcp[(tcp[12] >> 4) * 4:])
    frames = {key: split(data) for key, data in streams.items()}
    with open(path.with_name(name + ".expected.jsonl")) as lines:
        for pdu in map(json.loads, lines):
            frame = next(frames[sender[pdu["frame"]]])
            assert len(frame) == pdu["size"]
            yield frame, pdu


def split(data):
    while len(data) >= 256:
        size = struct.unpack_from("<I", data, 48)[0]
        yield data[:size]
        data = data[size:]


def values_for(length, dice):
    top = (1 << (8 * length)) - 1
    return {0, 1, top, top - 1, dice.randrange(top + 1)}


def damages(frame, pdu, dice):
    """(what, damaged frame, bytes that the capture keeps or None)."""
    for value in pdu["values"]:
        size = value["length"]
        number = value.get("role") in ("length", "flag") or KIND.search(value["name"]) and value.get("type") in (None, "bool")
        if number and size <= 8 and value["name"] not in IN_STEP:
            for new in values_for(size, dice):
                if new != value["value"]:
                    at = value["offset"]
                    yield "%s=%d" % (value["name"], new), frame[:at] + new.to_bytes(size, "little") + frame[at + size:], None
    for at in sorted({value["offset"] for value in pdu["values"] if value["offset"] > 256}):
        yield "cut at %d" % at, frame[:48] + struct.pack("<I", at) + frame[52:at], None
    for kept in range(0, min(len(frame), 256), 8):
        yield "captured %d" % kept, frame, kept


class Batch:
    """A capture of many connections; what was done on each."""

    def __init__(self):
        self.capture, self.cases, self.cuts = Capture(step=10), [], {}

    def add(self, name, login, before, frame, pdu, what, kept):
        replica = name.startswith("replica")
        number = len(self.cases)
        connection = self.capture.connection(client_port=10000 + number, server_port=9090 if replica else 8090)
        side = "server" if pdu["direction"] == "s2c" else "client"
        if login:
            connection.client(login[0])
            connection.server(login[1])
        if before:
            connection.client(before)
        at = connection.send(side, frame)
        if kept is not None:
            self.cuts[at] = 54 + kept
        good = reply(request=MARK) if side == "server" else request(code=1, request=MARK, session=1)
        connection.send(side, good)
        self.cases.append("%s, frame %d (%s %s): %s" % (name, pdu["pdu"], pdu["command_name"], pdu["code_name"] or
                                                        pdu["operation_name"] or "", what))

    def write(self, path):
        self.capture.write(path, kept=self.cuts)


def batches(every, seed):
    """Captures full of damage."""
    dice, number, batch = random.Random(seed), 0, Batch()
    for name in NAMES:
        frames = list(frames_of(name))
        login = [frame for frame, pdu in frames[:2]] if not name.startswith("replica") else None
        requests = {}
        for frame, pdu in frames:
            if len(frame) > 60000:
                continue
            if pdu["direction"] == "c2s":
                requests[pdu["request"], pdu["code"]] = frame
            before = requests.get((pdu["request"], pdu["code"])) if pdu["direction"] == "s2c" else None
            for what, damaged, kept in damages(frame, pdu, dice):
                number += 1
                if number % every:
                    continue
                batch.add(name, login if pdu["pdu"] > 2 else None, before, damaged, pdu, what, kept)
                if len(batch.cases) >= BATCH:
                    yield batch
                    batch = Batch()
    if batch.cases:
        yield batch


def check(tshark, batch, path):
    """The cases of a batch that failed."""
    faults = []
    text = tshark.read(path, "-V", check=False, timeout=1200)
    for match in re.finditer(r"^Frame (\d+):|Malformed Packet[^\n]*|Dissector bug[^\n]*", text, re.MULTILINE):
        if match.group(1):
            packet = int(match.group(1))
        else:
            faults.append((packet, match.group(0)))
    streams = {int(row[0][0]): int(row[1][0]) for row in tshark.fields(path, ["frame.number", "tcp.stream"], check=False)}
    out = ["%s: %s" % (batch.cases[streams[packet]], what) for packet, what in faults]
    for way in (False, True):
        found = {int(row[0][0]) for row in
                 tshark.fields(path, ["tcp.stream"], "-Y", "iggy.request == %d" % MARK, two_pass=way, check=False)}
        out += ["%s: the frame behind it is not found" % case for number, case in enumerate(batch.cases) if number not in found]
    return out


def run(tshark, every, seed=1):
    """(number of cases, failures, seconds of the slowest batch)."""
    total, failures, slowest = 0, [], 0.0
    tough = tshark.with_environment(WIRESHARK_ABORT_ON_TOO_MANY_ITEMS="")
    with tempfile.TemporaryDirectory() as folder:
        for number, batch in enumerate(batches(every, seed)):
            path = Path(folder) / ("%d.pcap" % number)
            batch.write(path)
            start = time.monotonic()
            failures += check(tough, batch, path)
            slowest = max(slowest, time.monotonic() - start)
            total += len(batch.cases)
            tough.forget(path)
            path.unlink()
    return total, failures, slowest


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    tshark = Tshark()
    total, failures, slowest = run(tshark, arguments.every, arguments.seed)
    tshark.close()
    print("\n".join(failures[:200]))
    print("%d damaged frames, %d failures, slowest batch %.1f s" % (total, len(failures), slowest))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
