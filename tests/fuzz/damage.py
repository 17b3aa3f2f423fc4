#!/usr/bin/env python3
# Structure-aware damage: every number of every frame of the codec, one at a time, and cuts after every byte of the header.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""damage.py [--every N] [--seed N]: damaged frames in connections of their own, each followed by a good frame.

Header fields are those of tests/tools/synth.py, with size and command; fields of bodies those of captures/codec/*.expected.jsonl:
lengths, counts, kinds, flags and all other numbers. Each is set to 0, 1, the greatest value, the greatest minus 1 and to a random
one; frames that the protocol seals get a seal that fits. Each frame is cut at every field of its body (its size field says so, or
the capture keeps no more), and after every byte of its header.
Demanded: no dissector bug, no crash, nothing malformed anywhere, no frame that nobody sent, the frame behind the damaged one
decodes (one more follows, so that its stream goes on), in one pass and in two, and no more time than TIME_A_CASE.
`--every N` tries one case in N. Needs the variables that tests/conftest.py describes.
"""

import argparse
import json
import random
import re
import resource
import struct
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from conftest import CAPTURES, Tshark  # noqa: E402
import list_frames  # noqa: E402
import synth  # noqa: E402
from synth import HEADER, Capture, reply, request  # noqa: E402

NAMES = ("client-0.11.0", "client-0.12.0", "client-0.12.1", "client-0.12.2", "replica-0.11.0", "replica-0.12.0", "replica-0.12.2")
MARK = 0x7A7A7A7A7A7A  # request number, between servers commit, of the good frame behind a damaged one
LIMIT = 67108864  # a size up to here is waited for, and takes the frames behind with it
BATCH = 1500  # connections a capture
TIME_A_CASE = 0.02  # seconds, three runs of tshark; a tenth of it is usual


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


def number_fields(frame, pdu):
    """(name, offset, length) of every number: of the header by its layout, of the body by the codec's list."""
    for name, (offset, length) in dict(synth.COMMON, **synth.LAYOUTS.get(frame[60], {})).items():
        if length <= 8:
            yield "header." + name, offset, length
    for value in pdu["values"]:
        if value["offset"] >= HEADER and value["length"] <= 8 and value.get("type") not in ("string", "bytes"):
            yield value["name"], value["offset"], value["length"]


def sealed(frame):
    """The frame with the seal that its damaged header asks for, if its command has one."""
    if frame[60] not in synth.SEALED:
        return frame
    return struct.pack("<Q", synth.seal(frame)) + frame[8:]


def waits(frame):
    """The size field asks for more than there is, and not for too much."""
    return len(frame) < struct.unpack_from("<I", frame, 48)[0] <= LIMIT


def damages(frame, pdu, dice):
    """(what, damaged frame, bytes that the capture keeps or None)."""
    for name, at, length in number_fields(frame, pdu):
        for new in values_for(length, dice) - {int.from_bytes(frame[at:at + length], "little")}:
            yield "%s=%d" % (name, new), sealed(frame[:at] + new.to_bytes(length, "little") + frame[at + length:]), None
    for size in {255, 256, len(frame) - 1, len(frame) + 1, LIMIT, LIMIT + 1} - {len(frame)}:
        yield "header.size=%d" % size, sealed(frame[:48] + struct.pack("<I", size) + frame[52:]), None
    for at in sorted({value["offset"] for value in pdu["values"] if value["offset"] >= HEADER}):
        yield "cut at %d" % at, sealed(frame[:48] + struct.pack("<I", at) + frame[52:at]), None
        yield "captured %d" % at, frame, at
    for kept in range(HEADER):
        yield "captured %d" % kept, frame, kept


def good_frame(replica, side, mark):
    """A frame of header alone, of its plane and side."""
    if replica:
        return synth.frame(9, cluster=synth.CLUSTER, commit=mark, group=1 << 63)
    return reply(request=mark) if side == "server" else request(code=1, request=mark)


class Batch:
    """A capture of many connections; what was done on each."""

    def __init__(self):
        self.capture, self.cases, self.cuts = Capture(step=10), [], {}
        self.sent, self.lost = [], set()  # frames of each connection; those whose good frame may be swallowed

    def add(self, name, login, before, frame, pdu, what, kept):
        replica = pdu["command"] > 5 and pdu["command"] not in (8, 13)  # servers pass requests of clients on, too
        case = len(self.cases)
        connection = self.capture.connection(client_port=10000 + case, server_port=9090 if replica else 8090)
        side = "server" if pdu["direction"] == "s2c" else "client"
        if login:
            connection.client(login[0])
            connection.server(login[1])
        if before:
            connection.client(before)
        at = connection.send(side, frame)
        if kept is not None:
            self.cuts[at] = 54 + kept
        for number in (MARK, MARK + 1):
            connection.send(side, good_frame(replica, side, number))
        suffix = (len(frame) - HEADER) // HEADER if pdu["command"] in (11, 12) else 0  # headers in a body are like any other
        self.sent.append(3 + suffix + (2 if login else 0) + (1 if before else 0))
        if waits(frame):
            self.lost.add(case)
        self.cases.append("%s, frame %d (%s %s): %s" % (name, pdu["pdu"], pdu["command_name"], pdu["code_name"] or
                                                        pdu["operation_name"] or "", what))

    def write(self, path):
        self.capture.write(path, kept=self.cuts)


def cases(seed, every):
    """(codec capture, login or None, request before a reply or None, damaged frame, pdu, what, kept) of one case in `every`."""
    dice, choice = random.Random(seed), random.Random(seed + 1)
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
                if choice.random() * every < 1:
                    yield name, login if pdu["pdu"] > 2 else None, before, damaged, pdu, what, kept


def batches(every, seed, only=""):
    """Captures full of damage; `only` of fields whose name begins so."""
    batch = Batch()
    for case in cases(seed, every):
        if not case[5].startswith(only):
            continue
        batch.add(*case)
        if len(batch.cases) >= BATCH:
            yield batch
            batch = Batch()
    if batch.cases:
        yield batch


def read(tshark, path, *options):
    """What tshark prints; a status other than "cut short" ends all, as no case can be named."""
    result = tshark._plain(["-n", "-r", tshark.readable(path), *options], timeout=1200)
    if result.returncode not in (0, 2):
        raise RuntimeError("tshark %s: status %d\n%s" % (" ".join(options), result.returncode, result.stderr[-2000:]))
    return result.stdout


def check_tree(tshark, batch, path):
    """What -V says, by case: malformed, bugs."""
    connections = [int(stream) for stream in read(tshark, path, "-T", "fields", "-e", "tcp.stream").split()]
    packet = 0
    for match in re.finditer(r"^Frame (\d+):|Malformed Packet[^\n]*|Dissector bug[^\n]*", read(tshark, path, "-V"), re.MULTILINE):
        if match.group(1):
            packet = int(match.group(1))
        else:
            yield "%s: %s" % (batch.cases[connections[packet - 1]], match.group(0))


def check_frames(tshark, batch, path, *passes):
    """Frames that are missing and frames that nobody sent, by case."""
    count, marked = [0] * len(batch.cases), set()
    columns = [part for name in ("tcp.stream", "iggy.size", "iggy.request", "iggy.commit") for part in ("-e", name)]
    for line in read(tshark, path, *passes, "-T", "fields", *columns, "-Y", "iggy.size").splitlines():
        stream, sizes, requests, commits = line.split("\t")
        count[int(stream)] += len(sizes.split(","))
        if str(MARK) in requests.split(",") + commits.split(","):
            marked.add(int(stream))
    for number, case in enumerate(batch.cases):
        if number not in marked and number not in batch.lost:
            yield "%s: the frame behind it is not found" % case
        if count[number] > batch.sent[number]:
            yield "%s: %d frames of %d" % (case, count[number], batch.sent[number])


def check(tshark, batch, path):
    """The cases of a batch that failed."""
    return [*check_tree(tshark, batch, path), *check_frames(tshark, batch, path), *check_frames(tshark, batch, path, "-2")]


def used():
    """CPU seconds of all tsharks so far: what others do on the machine does not count."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(tshark, every, seed=1, only=""):
    """(number of cases, failures, seconds of the slowest batch)."""
    total, failures, slowest = 0, [], 0.0
    tough = tshark.with_environment(WIRESHARK_ABORT_ON_TOO_MANY_ITEMS="")
    with tempfile.TemporaryDirectory() as folder:
        for number, batch in enumerate(batches(every, seed, only)):
            path = Path(folder) / ("%d.pcap" % number)
            batch.write(path)
            before = used()
            failures += check(tough, batch, path)
            slowest = max(slowest, (used() - before) / len(batch.cases))
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
    print("%d damaged frames, %d failures, %.1f ms of CPU a case in the slowest batch" % (total, len(failures), 1000 * slowest))
    return 1 if failures or slowest > TIME_A_CASE else 0


if __name__ == "__main__":
    sys.exit(main())
