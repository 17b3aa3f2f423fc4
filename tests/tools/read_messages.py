#!/usr/bin/env python3
# Every message of a capture, read from the packets by the description of batches (messages.md 2 to 4).
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages of a capture.

    read_messages.py FILE

Tab-separated, one line a message: packet, direction (sent, polled, replicated), partition and offset (- where the frame does
not tell), bytes of payload. Frames come from list_frames.py, the code of a reply from pair_frames.py.
"""

import collections
import struct
import sys

import list_frames
import pair_frames

Message = collections.namedtuple("Message", "packet direction partition offset payload headers")
POLLS = (100, 104, 106)


def all_frames(path):
    """Rows of list_frames of all planes, with the bytes of each frame as `data`."""
    plain = list_frames.frames

    def with_data(buf, stream, direction):
        for row in plain(buf, stream, direction):
            row["data"] = bytes(buf.data[row["offset"]:row["offset"] + row["size"]])
            yield row
    list_frames.frames = with_data
    try:
        return [row for row in list_frames.list_file(str(path)) if row["note"] == "ok" or row["note"].startswith("resync")]
    finally:
        list_frames.frames = plain


def records(data):
    """(partition, offset, payload, headers) of the messages of records that fill the bytes; partition None: not stamped."""
    while data:
        partition, base, stamp, _, length = struct.unpack_from("<QQQQQ", data)
        stamped = bool(partition or stamp)
        at = 256
        while at < length:
            delta, _, headers, payload = struct.unpack_from("<IIII", data, at + 24)
            at += 48
            yield (partition if stamped else None, base + delta if stamped else None, data[at:at + payload],
                   data[at + payload:at + payload + headers])
            at += payload + headers
        assert at == length
        data = data[length:]


def chain_fits(data):
    while data:
        if len(data) < 256:
            return False
        length = struct.unpack_from("<Q", data, 32)[0]
        if length < 256 or length > len(data) or any(data[72:256]):
            return False
        data = data[length:]
    return True


def of_send(body):
    routing = struct.unpack_from("<I", body)[0]
    place = body[4:4 + routing]
    for _ in range(2):                                   # identifiers of stream and topic
        place = place[2 + place[1]:]
    chosen = struct.unpack_from("<I", place, 2)[0] if place[0] == 2 else None
    for _, _, payload, headers in records(body[4 + routing:]):
        yield chosen, None, payload, headers


def of_poll(body):
    partition = struct.unpack_from("<I", body)[0]
    head = 16 if len(body) == 16 or (chain_fits(body[16:]) and len(body) > 16) else 40
    for _, offset, payload, headers in records(body[head:]):
        yield partition, offset, payload, headers


def of_fetch(body):
    count = struct.unpack_from("<I", body)[0]
    at = 4 + 56 * count
    for section in range(count):
        partition = struct.unpack_from("<I", body, 4 + 56 * section)[0]
        length = struct.unpack_from("<I", body, 4 + 56 * section + 52)[0]
        for _, offset, payload, headers in records(body[at:at + length]):
            yield partition, offset, payload, headers
        at += length


def codes_of_replies(path):
    """{(stream, packet, request): [codes in order]} of the replies to non_replicated requests."""
    out = collections.defaultdict(list)
    for pair in pair_frames.pairs_of(path):
        if pair.reply and pair.operation == 2:
            out[pair.stream, pair.reply, pair.number].append(pair.code)
    return out


def messages_of(path):
    """All messages of a capture, a list of Message in the order of the frames."""
    codes, out = codes_of_replies(path), []
    for row in all_frames(path):
        body, found, direction = row["data"][256:], (), None
        if row["command"] == 5 and row["operation"] == 160:
            found, direction = of_send(body), "sent"
        elif row["command"] in (6, 19) and row["operation"] == 160:
            found, direction = records(body), "replicated"
        elif row["command"] == 8 and row["operation"] == 2 and not row["status"]:
            same = codes[row["tcp_stream"], row["end_pkt"], row["request"]]
            code = same.pop(0) if same else None
            found = of_poll(body) if code in POLLS else of_fetch(body) if code == 109 else ()
            direction = "polled"
        out += [Message(row["end_pkt"], direction, *message) for message in found]
    return out


def main():
    for message in messages_of(sys.argv[1]):
        print("\t".join("-" if value is None else str(value) for value in
                        (message.packet, message.direction, message.partition, message.offset, len(message.payload))))


if __name__ == "__main__":
    main()
