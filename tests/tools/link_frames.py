#!/usr/bin/env python3
# What belongs together on the replica plane, from the packets alone, by the rules of replica.md 4 and 5.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Links between the frames of a cluster's capture.

    link_frames.py FILE

Tab-separated, one line a frame, in order: packet, command, then name=value of each link:
  prepare   packet of the first sighting of the prepare (prepare_ok, forwarded prepare)
  suffix    packet of the start_view whose suffix has it, where no prepare was seen
  oks       packets of the prepare_oks of a prepare
  commit    packet of the commit frame that covers a prepare first
  commits   number of prepares that a commit frame covers first
  request   packet of the client's request that a prepare carries
  prepared  packet of the prepare that carries a request
  change    group and view of a view change; first, start: packets of its first frame and its start_view
  sender    replica id of the sender, once the direction has told it
The frames come from list_frames.py, the whole capture is known at once: links forward and back are equal.
"""

import collections
import struct
import sys

import list_frames

RENAMED = {64: 132, 65: 136, 68: 138, 72: 150, 73: 150, 74: 150}
NAMELESS = {5, 6, 8, 13, 19}  # their `replica` is not that of the sender

Frame = collections.namedtuple("Frame", "packet command data stream direction links")


def frames_of(path):
    """All frames with their bytes, in the order in which they are complete."""
    plain = list_frames.frames

    def with_data(buf, stream, direction):
        for row in plain(buf, stream, direction):
            row["data"] = bytes(buf.data[row["offset"]:row["offset"] + row["size"]])
            yield row
    list_frames.frames = with_data
    try:
        rows = list_frames.list_file(str(path))
    finally:
        list_frames.frames = plain
    rows = [row for row in rows if row.get("data") and len(row["data"]) >= 256 and not str(row["note"]).startswith("garbage")]
    rows.sort(key=lambda row: (row["end_pkt"], row["tcp_stream"], row["direction"], row["offset"]))
    return [Frame(row["end_pkt"], row["command"], row["data"], row["tcp_stream"], row["direction"], {}) for row in rows]


def u64(frame, offset):
    return struct.unpack_from("<Q", frame.data, offset)[0]


def u32(frame, offset):
    return struct.unpack_from("<I", frame.data, offset)[0]


class Log:
    """Prepares by group, op and identity."""

    def __init__(self, frames):
        self.seen = collections.OrderedDict()
        for frame in frames:
            getattr(self, "on_%d" % frame.command, self.nothing)(frame)

    def nothing(self, frame):
        pass

    def on_6(self, frame):
        key = (u64(frame, 216), u64(frame, 176), frame.data[0:16])
        first = self.seen.setdefault(key, frame)
        if first is frame:
            frame.links.update(oks=[])
        elif first.command == 12:
            frame.links["suffix"] = first.packet
        else:
            frame.links["prepare"] = first.packet

    def on_12(self, frame):
        group, commit = u64(frame, 144), u64(frame, 136)
        if frame.data[240:256] != bytes(16):
            return
        for start in range(256, len(frame.data), 256):
            entry = frame.data[start:start + 256]
            op = struct.unpack_from("<Q", entry, 176)[0]
            if entry[208] and op > commit:
                self.seen.setdefault((group, op, entry[0:16]), frame)

    def on_7(self, frame):
        first = self.seen.get((u64(frame, 200), u64(frame, 160), frame.data[144:160]))
        if first is None:
            return
        frame.links["suffix" if first.command == 12 else "prepare"] = first.packet
        if first.command == 6:
            first.links["oks"].append(frame.packet)

    def on_9(self, frame):
        group, commit, count = u64(frame, 168), u64(frame, 152), 0
        for (one, op, _), first in self.seen.items():
            covered = first.links.setdefault("covered", {})
            if one == group and op <= commit and (one, op) not in covered:
                covered[one, op] = frame.packet
                if first.command == 6:
                    first.links["commit"] = frame.packet
                count += 1
        frame.links["commits"] = count


def view_changes(frames):
    changes = collections.OrderedDict()
    for frame in frames:
        if frame.command not in (10, 11, 12) or (frame.command == 12 and frame.data[240:256] != bytes(16)):
            continue
        group = u64(frame, 128 if frame.command == 10 else 144)
        changes.setdefault((group, u32(frame, 52)), []).append(frame)
    for number, (key, members) in enumerate(changes.items(), 1):
        starts = [frame.packet for frame in members if frame.command == 12]
        firsts = [frame.packet for frame in members if frame.command != 12]
        for frame in members:
            frame.links.update(change=number, key=key, first=firsts[0] if firsts else None, start=starts[0] if starts else None)


def requests(frames):
    """A prepare repeats client, number and operation of the request; a server may put its own number of the connection there."""
    waiting, taken = [], set()
    for frame in frames:
        if frame.command == 5 and frame.data[176] != 2:
            waiting.append(frame)
        elif frame.command == 8:
            key = (u64(frame, 200), RENAMED.get(frame.data[208], frame.data[208]))
            done = [one for one in waiting if one.stream == frame.stream and (u64(one, 168), one.data[176]) == key]
            waiting = [one for one in waiting if one not in done[:1]]
        elif frame.command == 6 and frame.data[128:144] != b"\xff" * 16:
            identity = (u64(frame, 216), u64(frame, 176), frame.data[0:16])
            key = (u64(frame, 200), RENAMED.get(frame.data[208], frame.data[208]))
            found = [one for one in waiting if (u64(one, 168), one.data[176]) == key]
            exact = [one for one in found if one.data[128:144] == frame.data[128:144]]
            if frame.data[142:144] == bytes(2) and frame.data[208] >= 160:
                exact = exact or found
            if identity not in taken and exact:
                frame.links["request"] = exact[0].packet
                exact[0].links["prepared"] = frame.packet
            taken.add(identity)


def senders(frames):
    told = {}
    for frame in frames:
        if frame.command in (5, 8, 13):
            continue
        lane = (frame.stream, frame.direction)
        if frame.command not in NAMELESS:
            told.setdefault(lane, frame.data[61])
        frame.links["sender"] = told.get(lane)


def links_of(path):
    frames = frames_of(path)
    Log(frames)
    view_changes(frames)
    requests(frames)
    senders(frames)
    return frames


def main():
    for frame in links_of(sys.argv[1]):
        shown = ["%s=%s" % (name, value) for name, value in sorted(frame.links.items()) if name != "covered" and value is not None]
        print(frame.packet, frame.command, *shown, sep="\t")


if __name__ == "__main__":
    main()
