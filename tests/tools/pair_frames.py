#!/usr/bin/env python3
# Which reply answers which request, by the rules of framing.md 7, from the packets alone.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Pairs of requests and replies of a capture.

    pair_frames.py FILE

Tab-separated, one line a request or an unmatched reply, in order of the packets that complete the frames:
  stream       TCP stream, or q<connection>.<stream> of QUIC
  request      packet that completes the request, - if there is none
  reply        packet that completes the reply or eviction, - if there is none
  number       request number
  operation    of the request
  code         command code, - if it is not known
  retry_of     packet of the first request of a retry, else -
  cancels      packet of the request that a cancellation names, else -
  state        answered, open, silent (cancellation), evicted, again (one more reply), orphan (a reply without its request)
The frames come from list_frames.py. Meant for captures without losses: what a loss does to pairs is best learnt from the
same capture before the loss.
"""

import collections
import struct
import sys

import list_frames

RENAMED = {64: 132, 65: 136, 68: 138, 72: 150, 73: 150, 74: 150}
CODES = {128: 202, 129: 204, 130: 203, 131: 205, 132: 302, 133: 304, 134: 303, 135: 305, 136: 402, 137: 403, 138: 503,
         139: 602, 140: 603, 141: 33, 142: 35, 143: 34, 144: 37, 145: 36, 146: 42, 147: 43, 148: 604, 149: 605, 150: 16,
         160: 101, 161: 121, 162: 122, 3: 39}
LOGINS = (15, 38, 40, 44, 45)
NOT_FRAMED = (2, 3, 138, 160, 166, 167, 168, 169)

Pair = collections.namedtuple("Pair", "stream request reply number operation code retry_of cancels state")


class Request:
    def __init__(self, row, known_0_12):
        data = row["data"]
        self.stream, self.packet, self.number, self.operation = row["tcp_stream"], row["end_pkt"], row["request"], row["operation"]
        self.client, self.checksum, self.body = data[128:144], data[144:160], data[256:]
        self.code = code_of(row)
        self.reply = None
        self.state = "open"
        self.transient = False
        self.first = self.cancels = None
        self.known_0_12 = known_0_12

    def pair(self):
        return Pair(self.stream, self.packet, self.reply, self.number, self.operation, self.code,
                    self.first.packet if self.first else None, self.cancels.packet if self.cancels else None, self.state)


def short(data, at):
    """End of a text with one length byte; None if it does not fit."""
    return at + 1 + data[at] if at is not None and at < len(data) and at + 1 + data[at] <= len(data) else None


def long(data, at):
    if at is None or at + 4 > len(data):
        return None
    end = at + 4 + struct.unpack_from("<I", data, at)[0]
    return end if end <= len(data) else None


def login_code(body):
    """40 (user and password) or 45 (token): the shape that fills the body."""
    if len(body) < 4:
        return 40
    at = short(body, short(body, 4))
    if at is not None and struct.unpack_from("<I", body)[0] >= 0x3000:
        at += 32
    one = short(body, at)
    if long(body, short(body, one)) == len(body):
        return 40
    return 45 if long(body, one) == len(body) else 40


def code_of(row):
    if row["operation"] == 2:
        return row["code"]
    if row["operation"] == 1:
        return login_code(row["data"][256:])
    return CODES.get(row["operation"])


def error_of(row):
    data = row["data"]
    status = row["status"]
    if status or row["operation"] in NOT_FRAMED or len(data) < 268 or not struct.unpack_from("<I", data, 256)[0]:
        return status
    return struct.unpack_from("<I", data, 264)[0]


def frames_of(path):
    """Rows of list_frames with the bytes of each frame as `data`."""
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
    return [row for row in rows if row["command"] in (5, 8, 13) and len(row["data"]) >= 256 and
            not str(row["note"]).startswith("garbage")]


def version_of(row):
    """The version in a login or bind, None elsewhere."""
    if row["command"] == 5 and len(row["data"]) >= 260 and (row["operation"] == 1 or row["code"] == 15):
        return struct.unpack_from("<I", row["data"], 256)[0]
    return None


class Pairing:
    def __init__(self):
        self.open = collections.defaultdict(list)    # stream -> requests in order
        self.past = collections.defaultdict(list)    # (client, number, operation, code) -> requests in order
        self.by_client = collections.defaultdict(list)  # (client, number, operation) -> requests
        self.versions, self.clients = {}, {}          # stream -> packed version; client -> packed version
        self.speaker = {}                             # stream -> client of the last request
        self.all, self.extra = [], []

    def is_retry(self, one, first):
        if first.stream != one.stream and not one.known_0_12 and not first.transient:
            return False
        if first.transient and not any(later.first is first for later in self.past[self.key(one)]):
            return one.known_0_12 or first.body == one.body or one.operation not in (2, 160, 161, 162)
        if one.known_0_12 and one.number:
            return True
        if one.operation in (2, 160, 161, 162):
            return first.state == "open" and first.body == one.body
        return first.state == "open" or one.operation != 1

    @staticmethod
    def key(one):
        return one.client, one.number, one.operation, one.code

    def request(self, row):
        stream, client = row["tcp_stream"], row["data"][128:144]
        version = version_of(row) or self.versions.get(stream) or self.clients.get(client)
        if version:
            self.versions[stream] = self.clients[client] = version
        one = Request(row, bool(version and version >= 0x3000))
        self.speaker[stream] = client
        self.all.append(one)
        if one.operation == 2 and one.code == 108:
            one.state = "silent"
            same = [other for other in self.by_client[client, one.number, 2] if other.stream == stream]
            one.cancels = same[-1] if same else None
            return
        firsts = [first for first in self.past[self.key(one)] if self.is_retry(one, first)]
        if firsts:
            one.first = firsts[0].first or firsts[0]
        self.past[self.key(one)].append(one)
        self.by_client[client, one.number, one.operation].append(one)
        self.open[stream].append(one)

    def reply(self, row):
        stream = row["tcp_stream"]
        operation = RENAMED.get(row["operation"], row["operation"])
        checksum = row["data"][128:144]
        found = [one for one in self.open[stream] if one.number == row["request"] and one.operation == operation and
                 (not any(checksum) or not any(one.checksum) or one.checksum == checksum)]
        if found:
            self.answer(found[0], row)
            self.open[stream].remove(found[0])
            return
        same = self.by_client[self.speaker.get(stream), row["request"], operation] if row["request"] else []
        same = [one for one in same if one.known_0_12]
        waiting = [one for one in same if one.state == "open"]
        if waiting:
            self.answer(waiting[0], row)
        elif same:
            self.extra.append(same[-1].pair()._replace(reply=row["end_pkt"], stream=stream, state="again", cancels=None, retry_of=None))
        else:
            self.extra.append(Pair(stream, None, row["end_pkt"], row["request"], operation, CODES.get(operation), None, None, "orphan"))

    @staticmethod
    def answer(one, row):
        one.state, one.reply = "answered", row["end_pkt"]
        one.transient = row["command"] == 8 and error_of(row) in (57, 58)

    def eviction(self, row):
        stream = row["tcp_stream"]
        waiting = [one for one in self.open[stream] if one.state == "open"]
        logins = [one for one in waiting if one.code in LOGINS or stream_is_quic(stream)]
        if logins:
            self.answer(logins[-1], row)
        for one in waiting:
            if one.state == "open":
                one.state = "evicted"
        self.open[stream] = []


def stream_is_quic(stream):
    return str(stream).startswith("q")


def pairs_of(path):
    """All pairs of a capture, a list of Pair."""
    pairing = Pairing()
    for row in frames_of(path):
        {5: pairing.request, 8: pairing.reply, 13: pairing.eviction}[row["command"]](row)
    out = [one.pair() for one in pairing.all] + pairing.extra
    out.sort(key=lambda pair: (pair.request or pair.reply, pair.reply or 0))
    return out


def main():
    print("\t".join(Pair._fields))
    for pair in pairs_of(sys.argv[1]):
        print("\t".join("-" if value is None else str(value) for value in pair))


if __name__ == "__main__":
    main()
