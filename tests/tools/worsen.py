# Real captures made worse: cut anew, begun late, with packets lost, moved or repeated; and which frames survive.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Knows the packets and the size field alone, no dissector.

    segments = load(path)                    # IPv4 and TCP
    worse = resegment(segments, 255)
    write(path, worse)
    frames = survivors(segments, worse)      # [Frame(packet, size, command, begin, late)]

A survivor is a frame all of whose bytes are in the worse capture. Its packet is the one with which all of them are there;
with `ordered`, all bytes of its direction before them too.
"""

import bisect
import collections
import random
import struct

import list_frames
from synth import Capture

Segment = collections.namedtuple("Segment", "source target seq ack flags data")
Frame = collections.namedtuple("Frame", "packet size command position late")

SYN = 2
ETHERNET = bytes.fromhex("0200000000020200000000010800")


def load(path):
    """The TCP segments of a capture, in order; addresses are (IPv4 address, port)."""
    out = []
    for _number, _time, link, raw in list_frames.packets(path):
        parts = list_frames.ip_of(link, raw) if link >= 0 else None
        if not parts or parts[2] != 6 or len(parts[0]) != 4:
            continue
        tcp = parts[3]
        source, target, seq, ack = struct.unpack(">HHII", tcp[:12])
        data = bytes(tcp[(tcp[12] >> 4) * 4:])
        out.append(Segment((parts[0], source), (parts[1], target), seq, ack, tcp[13], data))
    return out


def write(path, segments):
    capture = Capture()
    for one in segments:
        tcp = struct.pack(">HHIIBBHHH", one.source[1], one.target[1], one.seq, one.ack, 5 << 4, one.flags, 65535, 0, 0)
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 40 + len(one.data), 0, 0x4000, 64, 6, 0, one.source[0], one.target[0])
        capture.add(ETHERNET + ip + tcp + one.data)
    return capture.write(path)


def flow_of(one):
    return one.source, one.target


# --- ways to make a capture worse -------------------------------------------------------------------------------------


def resegment(segments, *sizes):
    """Bytes of one side that follow each other without an answer, cut at `sizes` in turn (one size: all alike)."""
    out, turn = [], 0
    index = 0
    while index < len(segments):
        one = segments[index]
        index += 1
        if not one.data:
            out.append(one)
            continue
        data = bytearray(one.data)
        flags = one.flags
        while index < len(segments) and flow_of(segments[index]) == flow_of(one) and \
                segments[index].data and segments[index].seq == (one.seq + len(data)) % 2 ** 32:
            data += segments[index].data
            flags = segments[index].flags
            index += 1
        at = 0
        while at < len(data):
            size = sizes[turn % len(sizes)]
            turn += 1
            piece = bytes(data[at:at + size])
            last = at + size >= len(data)
            out.append(one._replace(seq=(one.seq + at) % 2 ** 32, data=piece, flags=flags if last else one.flags & ~0x09))
            at += size
    return out


def lose(segments, every, seed=1):
    """Without about every `every`th segment that has data."""
    chance = random.Random(seed)
    return [one for one in segments if not one.data or chance.randrange(every)]


def reorder(segments, every, seed=1):
    """Some segments with data come one to three places later."""
    chance = random.Random(seed)
    out = list(segments)
    for index in range(len(out) - 4, 0, -1):
        if out[index].data and not chance.randrange(every):
            out.insert(index + chance.randint(1, 3), out.pop(index))
    return out


def repeat(segments, every, seed=1):
    """Some segments with data come again, a few places later."""
    chance = random.Random(seed)
    out = list(segments)
    for index in range(len(out) - 4, 0, -1):
        if out[index].data and not chance.randrange(every):
            out.insert(index + chance.randint(1, 3), out[index])
    return out


def begin_late(segments, count):
    """Without the first `count` packets."""
    return segments[count:]


def begin_within(segments, count, skip):
    """Without the first `count` packets and the first `skip` bytes of the data of each side behind them."""
    out, left = [], collections.defaultdict(lambda: skip)
    for one in segments[count:]:
        cut = min(left[flow_of(one)], len(one.data))
        left[flow_of(one)] -= cut
        if cut and cut == len(one.data):
            continue
        out.append(one._replace(seq=(one.seq + cut) % 2 ** 32, data=one.data[cut:]))
    return out


# --- which frames survive ---------------------------------------------------------------------------------------------


class _Flow:
    """Bytes of one direction of one connection, by their place behind the first."""

    def __init__(self, base):
        self.base = base
        self.pieces = []  # (start, end, packet, data), in order of arrival

    def add(self, seq, data, packet):
        start = (seq - self.base + 2 ** 31) % 2 ** 32 - 2 ** 31
        self.pieces.append((start, start + len(data), packet, data))

    def joined(self):
        end = max((piece[1] for piece in self.pieces), default=0)
        out = bytearray(max(end, 0))
        for start, stop, _packet, data in self.pieces:
            if start >= 0:
                out[start:stop] = data
        return bytes(out)

    def arrivals(self):
        """Sorted, non-overlapping (start, end, packet): when each byte came first."""
        out = []
        for start, stop, packet, _data in self.pieces:
            at = start
            for known in out[max(bisect.bisect_left(out, (start,)) - 1, 0):]:
                if known[1] <= at or known[0] >= stop:
                    continue
                if known[0] > at:
                    bisect.insort(out, (at, known[0], packet))
                at = max(at, known[1])
            if at < stop:
                bisect.insort(out, (at, stop, packet))
        return out


def flows(segments, bases=None):
    """Direction of a connection -> _Flow; a new SYN begins a new connection."""
    out, current, count = {}, {}, collections.Counter()
    for packet, one in enumerate(segments, 1):
        if one.flags & SYN and not one.flags & 16:
            pair = frozenset(flow_of(one))
            count[pair] += 1
            for way in (flow_of(one), flow_of(one)[::-1]):
                current[way] = (way, count[pair])
        key = current.setdefault(flow_of(one), (flow_of(one), 0))
        if one.flags & SYN:
            out[key] = _Flow((one.seq + 1) % 2 ** 32)
        elif one.data:
            if key not in out:
                out[key] = _Flow(bases[key] if bases and key in bases else one.seq)
            out[key].add(one.seq, one.data, packet)
    return out


def frames_of(flow):
    """(start, end, command) of the frames of a whole direction that begins with one."""
    data, at = flow.joined(), 0
    while at + 256 <= len(data):
        size = struct.unpack_from("<I", data, at + 48)[0]
        if not 256 <= size <= len(data) - at:
            return
        yield at, at + size, data[at + 60]
        at += size


def survivors(whole, worse, ordered=False):
    """The frames of `whole` that are complete in `worse`. Connections are told apart by their ports alone.

    `late` says that bytes of the direction are missing somewhere before the frame.
    """
    before = flows(whole)
    merged, after = {}, {}
    for key, flow in before.items():
        merged.setdefault(key[0], []).append((key, flow))
    if any(len(group) > 1 for group in merged.values()):
        raise ValueError("ports are used again")
    bases = {way: group[0][1].base for way, group in merged.items()}
    for packet, one in enumerate(worse, 1):
        if one.data and flow_of(one) in bases:
            after.setdefault(flow_of(one), _Flow(bases[flow_of(one)])).add(one.seq, one.data, packet)
    out = []
    for way, flow in after.items():
        out += _surviving(frames_of(merged[way][0][1]), flow.arrivals(), ordered)
    return sorted(out)


def _surviving(frames, arrivals, ordered):
    starts = [piece[0] for piece in arrivals]
    gaps, latest = [arrivals[0][0] > 0], [arrivals[0][2]]  # up to each piece: is there a gap; the latest packet
    for left, right in zip(arrivals, arrivals[1:]):
        gaps.append(gaps[-1] or left[1] != right[0])
        latest.append(max(latest[-1], right[2]))
    for start, end, command in frames:
        first = max(bisect.bisect_right(starts, start) - 1, 0)
        at, packet, index = start, 0, first
        while index < len(arrivals) and arrivals[index][0] <= at < arrivals[index][1] and at < end:
            at, packet = arrivals[index][1], max(packet, arrivals[index][2])
            index += 1
        if at < end:
            continue
        yield Frame(max(packet, latest[first]) if ordered else packet, end - start, command, start, gaps[first])
