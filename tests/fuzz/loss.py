#!/usr/bin/env python3
# Captures with packets lost, doubled, out of order, or cut short: what is still found, and whether anything is invented.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""loss.py [--short] [--seeds 1,2] [--only NAME,...] [--verbose]: each real capture over TCP

- with 1, 5, 20 % of its packets dropped, doubled or moved;
- with one half of each connection missing, or begun somewhere in the middle;
- with a snap length of 96, 300, 400.

Truth: where the frames of the undamaged capture lie in its streams says tools/list_frames.py, which knows nothing of the
dissector; which bytes the damaged capture has, and in which order TCP hands them on, is worked out here. A frame counts if TCP
hands on all of its bytes, in order. TCP withholds

- with out-of-order reassembly off: packets that it takes for repeated or late ones (its own marks are read for that);
- with it on: everything behind a hole that is never filled.

The column "withheld" has the frames that were sent whole and do not count for that reason, or because the snap length cuts
them. Recall is the part of
those that count that is shown; invented is what is shown where the undamaged capture has no such frame with a byte in the packet
(or one that waited for its proof in an earlier one), or shown twice. A link is wrong if a reply points to anything but the
request that the undamaged capture pairs it with.
Needs the variables that tests/conftest.py describes.
"""

import argparse
import collections
import functools
import random
import struct
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from conftest import CAPTURES, Tshark  # noqa: E402
import list_frames  # noqa: E402

NOT_TCP = ("09_", "10b_", "11_", "07_")
ALREADY_LOSSY = ("19_", "20_", "18_", "03b_")
# 64 and 65, 68 and 72..74 answer 132, 136, 138 and 150 (framing.md 7)
REWRITTEN = {64: 132, 65: 136, 68: 138, 72: 150, 73: 150, 74: 150}
WITHHELD = ("retransmission", "fast_retransmission", "spurious_retransmission", "out_of_order", "keep_alive")

VERBOSE = False

Result = collections.namedtuple("Result", "present expected found shown invented replies wrong")
Segment = collections.namedtuple("Segment", "stream side start data syn")  # stream and side as list_frames names them
Frame = collections.namedtuple("Frame", "stream side start end mark row")
Shown = collections.namedtuple("Shown", "packet mark link")


def sources():
    return [path for path in sorted(CAPTURES.glob("real*/*.pcapng")) if not path.name.startswith(NOT_TCP + ALREADY_LOSSY)]


# --- the undamaged capture --------------------------------------------------------------------------------------------------
def fingerprint(row):
    """What identifies a frame apart from its place."""
    number = [None if row[name] == "-" else int(row[name]) for name in ("operation", "request")]
    return int(row["size"]), int(row["command"]), *(number if int(row["command"]) in (5, 8) else (None, None))


def tcp_of(link, data):
    """(source, destination, sequence number, flags, payload), or None."""
    ip = list_frames.ip_of(link, data)
    if not ip or ip[2] != 6 or len(ip[3]) < 20:
        return None
    source, destination, _, tcp = ip
    sport, dport, seq = struct.unpack(">HHI", tcp[:8])
    return (source, sport), (destination, dport), seq, tcp[13], bytes(tcp[(tcp[12] >> 4) * 4:])


def packets_of(path):
    """[(time, data)], link type."""
    packets, links = [], set()
    for _number, when, link, data in list_frames.packets(str(path)):
        if link >= 0:
            packets.append((when, bytes(data)))
            links.add(link)
    return packets, links.pop()


def whole(rows):
    return [row for row in rows if str(row["note"]).startswith(("ok", "resync")) and "lost" not in row["note"] and "cut" not in row["note"]]


class Source:
    """Packets, the segment of each, frames by their place in the streams, and the request of each reply."""

    def __init__(self, path):
        self.path = path
        self.packets, self.link = packets_of(path)
        self.segments = self._segments()
        base = {}
        for segment in filter(None, self.segments):
            if segment.data:
                key = segment.stream, segment.side
                base[key] = min(base.get(key, segment.start), segment.start)
        self.frames = []
        for row in whole(list_frames.list_file(str(path))):
            key = row["tcp_stream"], row["direction"]
            start = base[key] + row["offset"]
            self.frames.append(Frame(*key, start, start + row["size"], fingerprint(row), row))
        self.pairs = pairs_of(self.frames)

    def _segments(self):
        """Connections are told apart and numbered as list_frames.py does it: a SYN with another number begins a new one."""
        connections, count, out = {}, 0, []
        for _when, data in self.packets:
            tcp = tcp_of(self.link, data)
            if not tcp:
                out.append(None)
                continue
            source, destination, seq, flags, payload = tcp
            key, syn = frozenset((source, destination)), flags & 2
            one = connections.get(key)
            if one is None or (syn and not flags & 16 and one["syn"] not in (None, seq)):
                one = connections[key] = {"number": count, "syn": None, "client": None, "ends": (source, destination)}
                count += 1
            if syn and not flags & 16:
                one["syn"], one["client"] = seq, source
            elif syn and one["client"] is None:
                one["client"] = destination
            out.append((one, source, seq, payload, syn))
        return [entry and self._segment(*entry) for entry in out]

    @staticmethod
    def _segment(one, source, seq, payload, syn):
        client = one["client"] or max(one["ends"], key=lambda end: end[1])
        return Segment(one["number"], "C>S" if source == client else "S>C", seq + (syn != 0), b"" if syn else payload, syn != 0)


def pairs_of(frames):
    """Of an undamaged capture: a reply -> its request; the oldest first, as servers answer."""
    waiting, pairs = collections.defaultdict(list), {}
    for frame in frames:
        row = frame.row
        key = frame.stream, row["request"]
        if row["command"] == 5 and row["code"] != 108:
            waiting[key].append(frame)
        elif row["command"] == 8:
            operation = REWRITTEN.get(row["operation"], row["operation"])
            request = next((one for one in waiting[key] if one.row["operation"] == operation), None)
            if request:
                pairs[place(frame)] = request
                waiting[key].remove(request)
    return pairs


def place(frame):
    return frame.stream, frame.side, frame.start


# --- damage -------------------------------------------------------------------------------------------------------------------
def worse(source, kind, rate, seed):
    """Order of the packets' numbers (from 1) after the damage. Only packets with payload are moved."""
    dice, count = random.Random("%s-%s-%d" % (kind, rate, seed)), len(source.packets)
    numbers = range(1, count + 1)
    if kind == "half":
        side = collections.defaultdict(lambda: dice.choice(("C>S", "S>C")))
        return [n for n in numbers if source.segments[n - 1] and source.segments[n - 1].side == side[source.segments[n - 1].stream]]
    if kind == "begun":
        return list(numbers)[dice.randrange(count // 2):]
    hit = [dice.random() < rate for _ in numbers]
    if kind == "dropped":
        return [n for n in numbers if not hit[n - 1]]
    if kind == "doubled":
        return [n for n in numbers for _ in range(2 if hit[n - 1] else 1)]
    order = list(numbers)
    for at in range(count - 1, -1, -1):
        if hit[at] and source.segments[at] and source.segments[at].data:
            order.insert(min(count, at + dice.randint(1, 3)), order.pop(at))
    return order


def write(path, source, order, snaplen=262144):
    """A packet a millisecond."""
    start = int(source.packets[0][0] * 1000)
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, snaplen, source.link))
        for number, old in enumerate(order):
            data = source.packets[old - 1][1]
            seconds, millis = divmod(start + number, 1000)
            out.write(struct.pack("<IIII", seconds, 1000 * millis, min(len(data), snaplen), len(data)) + data[:snaplen])


# --- what TCP hands on ----------------------------------------------------------------------------------------------------------
def withheld(tshark, path, options):
    """Packets that TCP keeps to itself with out-of-order reassembly off. It hands on what it calls a fast retransmission."""
    rows = tshark.fields(path, ["frame.number"] + ["tcp.analysis." + name for name in WITHHELD], "-Y", "tcp.analysis.flags", *options,
                         check=False)
    return {int(number[0]) for number, repeated, fast, spurious, late, alive in rows
            if spurious or late or alive or (repeated and not fast)}


def by_direction(source, order, without=()):
    """(stream, side) -> [(first byte, byte behind the last, packet)] in the order of the capture."""
    out = collections.defaultdict(list)
    for number, old in enumerate(order, 1):
        segment = source.segments[old - 1]
        if segment and segment.data and number not in without:
            out[segment.stream, segment.side].append((segment.start, segment.start + len(segment.data), number))
    return out


def put_in_order(source, order):
    """The same with out-of-order reassembly: bytes come when everything before them has come."""
    out, waiting, ready = collections.defaultdict(list), collections.defaultdict(list), {}
    for number, old in enumerate(order, 1):
        segment = source.segments[old - 1]
        if not segment or not (segment.data or segment.syn):
            continue
        key = segment.stream, segment.side
        ready.setdefault(key, segment.start)
        waiting[key].append((segment.start, segment.start + len(segment.data)))
        while True:
            end = max((end for start, end in waiting[key] if start <= ready[key] < end), default=None)
            if end is None:
                break
            out[key].append((ready[key], end, number))
            ready[key] = end
    return out


def completed_in(frame, handed):
    """The packet with which the last byte of a frame is handed on, all before in order; None if that never happens."""
    at = frame.start
    for start, end, number in handed:
        if start <= at < end:
            at = end
            if at >= frame.end:
                return number
    return None


# --- judgement --------------------------------------------------------------------------------------------------------------------
def shown_frames(tshark, path, options, two_pass):
    out = []
    for frame in tshark.frames(path, *options, two_pass=two_pass, check=False):
        value = {name: int(frame.values["iggy." + name][0], 0) for name in ("size", "command", "operation", "request")
                 if frame.values.get("iggy." + name)}
        if "command" not in value:
            continue
        numbers = [value.get(name) if value["command"] in (5, 8) else None for name in ("operation", "request")]
        link = frame.values.get("iggy.response_to")
        out.append(Shown(frame.packet, (value["size"], value["command"], *numbers), int(link[0]) if link else None))
    return out


def match(shown, truth, carried, way):
    """(shown -> frame, those that are nobody's): in its own packet, as a part in one of its packets, or late.

    `truth`: [(packet, frame)]; `carried`: packet -> frames with a byte in it; `way`: packet -> (stream, side).
    """
    due, late = collections.defaultdict(list), collections.defaultdict(list)
    for packet, frame in truth:
        due[packet, frame.mark].append(frame)
        late[(frame.stream, frame.side), frame.mark].append((packet, frame))
    used, found, rest, nobodys = set(), {}, [], []

    def take(one, candidates):
        frame = next((frame for frame in candidates if place(frame) not in used), None)
        if frame:
            used.add(place(frame))
            found[one] = frame
        return frame

    for number, one in enumerate(shown):
        if not take(number, due[one.packet, one.mark]):
            rest.append((number, one))
    for number, one in rest:
        parts = [frame for frame in carried[one.packet] if one.mark in (frame.mark, (*frame.mark[:2], None, None))]
        waited = [frame for packet, frame in late[way[one.packet], one.mark] if packet <= one.packet]
        if not take(number, parts) and not take(number, waited):
            nobodys.append(one)
    return found, nobodys


def judge(tshark, source, path, options, two_pass, truth, order):
    """Compare what is shown of the damaged capture at `path` with the truth, [(packet, frame)]."""
    segments, carried, way, present = by_direction(source, order), collections.defaultdict(list), {}, 0
    for key, parts in segments.items():
        way.update((number, key) for _start, _end, number in parts)
    for frame in source.frames:
        parts = segments[frame.stream, frame.side]
        for number in {number for start, end, number in parts if start < frame.end and frame.start < end}:
            carried[number].append(frame)
        present += completed_in(frame, sorted(parts)) is not None
    shown = shown_frames(tshark, path, options, two_pass)
    found, invented = match(shown, truth, carried, way)
    seen = {place(frame): shown[number].packet for number, frame in found.items()}
    repeated = collections.defaultdict(set)  # since 0.12.0 the same request on another connection is a retry: it counts as well
    for frame in source.frames:
        if source.path.parent.name == "real012" and frame.row["command"] == 5 and place(frame) in seen:
            repeated[frame.mark].add(seen[place(frame)])
    replies = wrong = 0
    for number, frame in found.items():
        request, link = source.pairs.get(place(frame)), shown[number].link
        if frame.row["command"] == 8 and link and request:
            right = {seen.get(place(request))} | repeated[request.mark]
            replies += 1
            wrong += link not in right
            if VERBOSE and link not in right:
                print("%s: packet %d is linked to %d, not to %s" % (path.name, shown[number].packet, link, right))
    places = {place(frame) for frame in found.values()}
    missing = [(packet, frame.mark) for packet, frame in truth if place(frame) not in places]
    if VERBOSE and (missing or invented):
        print("%s: missing %s, invented %s" % (path.name, missing[:5], invented[:5]))
    return Result(present, len(truth), len(truth) - len(missing), len(shown), len(invented), replies, wrong)


def options_for(out_of_order):
    return ["-o", "tcp.reassemble_out_of_order:%s" % ("TRUE" if out_of_order else "FALSE")]


def try_loss(tshark, folder, source, two_pass, kind, rate, seed, out_of_order):
    order = worse(source, kind, rate, seed)
    path, options = Path(folder) / ("%s-%s-%s-%d.pcap" % (source.path.stem, kind, rate, seed)), options_for(out_of_order)
    write(path, source, order)
    handed = put_in_order(source, order) if out_of_order else by_direction(source, order, withheld(tshark, path, options))
    truth = [(completed_in(frame, handed[frame.stream, frame.side]), frame) for frame in source.frames]
    result = judge(tshark, source, path, options, two_pass, [(packet, frame) for packet, frame in truth if packet], order)
    tshark.forget(path)
    return result


def try_snaplen(tshark, folder, source, two_pass, snaplen):
    """Truth: frames that lie whole in the bytes kept of one packet, from the packet's first byte on."""
    order = range(1, len(source.packets) + 1)
    path, options = Path(folder) / ("%s-snap-%d.pcap" % (source.path.stem, snaplen)), options_for(False)
    write(path, source, order, snaplen)
    first = {(*key, start): number for key, parts in by_direction(source, order, withheld(tshark, path, options)).items()
             for start, _end, number in parts}
    truth = []
    for frame in source.frames:
        number = first.get(place(frame))
        size = number and len(source.packets[number - 1][1])
        if number and frame.end - frame.start <= snaplen - (size - len(source.segments[number - 1].data)):
            truth.append((number, frame))
    result = judge(tshark, source, path, options, two_pass, truth, order)
    tshark.forget(path)
    return result


# --- all of it ----------------------------------------------------------------------------------------------------------------------
def plan(short, seeds):
    """(label, function of tshark, folder, source, two_pass) of every kind of damage."""
    for kind in ("dropped", "doubled", "moved"):
        for rate in (0.05,) if short else (0.01, 0.05, 0.20):
            for out_of_order in (False, True):
                for seed in seeds:
                    label = "%s %2.0f %%%s" % (kind, 100 * rate, ", reassembled" if out_of_order else "")
                    yield label, functools.partial(try_loss, kind=kind, rate=rate, seed=seed, out_of_order=out_of_order)
    for kind in ("half", "begun"):
        for seed in seeds:
            yield kind, functools.partial(try_loss, kind=kind, rate=0, seed=seed, out_of_order=False)
    for snaplen in (96, 300, 400):
        yield "snaplen %d" % snaplen, functools.partial(try_snaplen, snaplen=snaplen)


def run(tshark, short, chosen=None, seeds=None):
    """Sums of Result by label, over all sources (or those of `chosen`)."""
    sums, loaded = {}, [Source(path) for path in chosen or sources()]
    with tempfile.TemporaryDirectory() as folder:
        for turn, (label, attempt) in enumerate(plan(short, seeds or ((1,) if short else (1, 2)))):
            for number, source in enumerate(loaded):
                result = attempt(tshark, folder, source, (number + turn) % 2 == 1)
                sums[label] = Result(*map(sum, zip(sums.get(label, (0,) * len(Result._fields)), result)))
    return sums


def table(sums):
    lines = ["%-24s %7s %8s %7s %8s %9s %8s %7s %6s" % ("damage", "frames", "withheld", "found", "recall", "invented", "precis.",
                                                       "links", "wrong")]
    for label, r in sums.items():
        recall = 100 * r.found / r.expected if r.expected else 100
        precision = 100 * (r.shown - r.invented) / r.shown if r.shown else 100
        lines.append("%-24s %7d %8d %7d %7.2f%% %9d %7.2f%% %7d %6d" % (label, r.expected, r.present - r.expected, r.found, recall,
                                                                   r.invented, precision, r.replies, r.wrong))
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help="5 %% alone, one seed")
    parser.add_argument("--seeds", help="numbers, parted by commas")
    parser.add_argument("--only", help="beginnings of names of captures, parted by commas")
    parser.add_argument("--verbose", action="store_true", help="name what is missing, invented or linked wrongly")
    arguments = parser.parse_args()
    global VERBOSE
    VERBOSE = arguments.verbose
    chosen = [path for path in sources() if path.name.startswith(tuple((arguments.only or "").split(",")))]
    tshark = Tshark()
    sums = run(tshark, arguments.short, chosen, [int(seed) for seed in arguments.seeds.split(",")] if arguments.seeds else None)
    tshark.close()
    print(table(sums))
    return 1 if any(r.invented or r.wrong for r in sums.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
