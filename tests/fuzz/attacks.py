#!/usr/bin/env python3
# Captures made to cost: what takes long, or much memory, for each frame only if there are many others.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""attacks.py [--only NAME] [--scale N]: a table of CPU seconds and memory of each attack, once and four times as large.

Four times the bytes may take six times the time, and no more than 40 bytes of memory a byte of the capture. Each way of
growing is a function below; `--scale` makes all of them larger. Needs the variables that tests/conftest.py describes.
"""

import argparse
import collections
import struct
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from conftest import Tshark  # noqa: E402
import synth  # noqa: E402
from carriers import WebSocket, ws_frame  # noqa: E402
from growth import cost  # noqa: E402
from synth import CLUSTER, frame, ident, login_body, login_reply, reply, request, u32, u64  # noqa: E402

METADATA = 1 << 63
TIMES = 4        # the second capture has so many times what the first has
MORE = 6.0       # ... and may take so many times as long,
SLACK = 0.4      # give or take a start of tshark
BYTES_A_BYTE = 40
FRAMES = 3       # at least, or nobody was attacked

Attack = collections.namedtuple("Attack", "build size options")
ATTACKS = {}


def attack(size, *options):
    def enter(build):
        ATTACKS[build.__name__] = Attack(build, size, options)
        return build
    return enter


def begun(capture, version="0.12.2", **values):
    """A connection behind its login."""
    one = capture.connection(**values)
    one.client(request(login_body(version), operation=1))
    one.server(reply(login_reply(version=version), operation=1, cluster=CLUSTER))
    return one


def many(send, frames, a_segment=100):
    """Frames, many to a segment, so that TCP itself costs little."""
    part = []
    for one in frames:
        part.append(one)
        if len(part) == a_segment:
            send(b"".join(part))
            part = []
    if part:
        send(b"".join(part))


# --- many pieces, many frames in one piece ---------------------------------------------------------------------------------
@attack(8000)
def frames_of_one_message(capture, count):
    web = WebSocket(capture.connection(server_port=8092))
    web.client(request(login_body(), operation=1))
    web.server(b"".join(reply(request=number) for number in range(count)), mss=60000)


@attack(20000)
def messages_of_a_byte(capture, count):
    """One frame in messages of a byte, of which a packet can have some 400: then Wireshark gives up."""
    one = capture.connection(server_port=8092)
    web = WebSocket(one)
    web.client(request(login_body(), operation=1))
    body = request(bytes(count), operation=160, request=1, session=1)
    many(one.client, (ws_frame(body[i:i + 1], mask=b"\1\2\3\4") for i in range(count)), 400)


@attack(5000)
def holes(capture, count):
    one = begun(capture)
    for number in range(count):
        one.lose("client", 100)
        one.client(request(code=1, request=number, session=1))


@attack(2000)
def headers_that_prove_to_be_none(capture, count):
    """Prepares with a right identity and a wrong body hash, each with all that follows as its body, in one message."""
    web = WebSocket(capture.connection(server_port=8092))
    web.client(frame(14, cluster=CLUSTER))
    web.server(b"\xff" * 300)
    total = count * 512
    web.server(b"".join(frame(6, cluster=CLUSTER, operation=128, op=2 * number + 2, group=METADATA, checksum_body=77,
                              size=total - number * 512) + b"\x55" * 256 for number in range(count)), mss=60000)


# --- many requests and replies -----------------------------------------------------------------------------------------------
@attack(20000)
def unanswered_requests(capture, count):
    many(begun(capture).client, (request(code=1, request=number, session=1) for number in range(count)))


@attack(20000)
def unanswered_requests_of_one_number(capture, count):
    many(begun(capture, "0.11.0").client, (request(u32(number), code=100 + number % 50, request=1, session=1) for number in range(count)))


@attack(10000)
def replies_that_fit_none_of_many(capture, count):
    one = begun(capture, "0.11.0")
    many(one.client, (request(u32(number), code=100 + number % 200, request=1, session=1) for number in range(4000)))
    many(one.server, (reply(u32(number), request=1 + number % 2, cluster=CLUSTER) for number in range(count)))


@attack(20000)
def replies_to_nothing(capture, count):
    many(begun(capture).server, (reply(request=number + 5, cluster=CLUSTER) for number in range(count)))


@attack(20000)
def retries(capture, count):
    many(begun(capture).client, (request(ident("a"), operation=130, request=1, session=1) for _ in range(count)))


@attack(20000)
def cancellations(capture, count):
    many(begun(capture).client, (request(u64(number), code=105, request=number, session=1) for number in range(count)))


@attack(10000)
def connections_of_one_session(capture, count):
    for number in range(count):
        one = capture.connection(20000 + number % 40000, addresses=(b"\x0a" + number.to_bytes(3, "big"), b"\x0b\0\0\1"), handshake=False)
        one.client(request(ident("a"), operation=130, request=number, session=1))


@attack(20000)
def clients_that_take_turns(capture, count):
    many(begun(capture).client, (request(code=1, client=5 + number % 3000, request=number, session=7) for number in range(count)))


@attack(10000)
def logins_of_one_client(capture, count):
    one = begun(capture)
    for start in range(0, count, 100):
        many(one.client, (request(login_body(), operation=1) for _ in range(100)))
        many(one.server, (reply(login_reply(session=number + 2), operation=1, cluster=CLUSTER) for number in range(start, start + 100)))


# --- many names ----------------------------------------------------------------------------------------------------------------
@attack(10000)
def ids_whose_hashes_are_one(capture, count):
    """Requests about stream and topic, whose numbers a sum with weights cannot tell apart."""
    def ids(number):
        return ident(number) + ident((-29791 * number) & 0xFFFFFFFF)
    many(begun(capture).client, (request(ids(number), operation=134, request=number, session=1) for number in range(1, count)))


@attack(10000)
def names_that_come(capture, count):
    one = begun(capture)
    for start in range(0, count, 100):
        many(one.client, (request(synth.name("n%d" % number), operation=128, request=number, session=1) for number in range(start, start + 100)))
        many(one.server, (reply(u32(0) + u32(number) + bytes(60), operation=128, request=number, cluster=CLUSTER) for number in range(start, start + 100)))


@attack(10000)
def renames(capture, count):
    one = begun(capture)
    for start in range(0, count, 100):
        many(one.client, (request(ident(1) + synth.name("n%d" % number), operation=129, request=number, session=1) for number in range(start, start + 100)))
        many(one.server, (reply(u32(0), operation=129, request=number, cluster=CLUSTER) for number in range(start, start + 100)))


# --- between servers ---------------------------------------------------------------------------------------------------------
def prepare(op, **values):
    return frame(6, cluster=CLUSTER, operation=128, op=op, group=METADATA, **values)


def sealed(command, **values):
    return frame(command, cluster=CLUSTER, group=METADATA, **values)


def between(capture, *directions):
    one = capture.connection(server_port=9090)
    one.client(frame(14, cluster=CLUSTER))
    for side, frames in directions:
        many(getattr(one, side), frames)


@attack(10000)
def prepares_of_one_op(capture, count):
    between(capture, ("client", (prepare(7, parent=number) for number in range(count))))


@attack(10000)
def prepares_in_falling_order(capture, count):
    between(capture, ("client", (prepare(count - number + 5) for number in range(count))))


@attack(10000)
def acknowledgements_of_one_prepare(capture, count):
    between(capture, ("client", [prepare(7)]), ("server", (sealed(7, op=7, commit=number) for number in range(count))))


@attack(10000)
def groups(capture, count):
    between(capture, ("client", (frame(9, cluster=CLUSTER, group=number, commit=number) for number in range(count))))


@attack(10000)
def repairs(capture, count):
    between(capture, ("client", (sealed(18, nonce=number, from_op=1, to_op=1 << 40) for number in range(count))),
            ("server", (sealed(20, nonce=number, op=number) for number in range(count))))


@attack(10000)
def state_transfers(capture, count):
    between(capture, ("client", (sealed(22, nonce=number) for number in range(count))),
            ("client", (sealed(24, nonce=number, offset=number, len=4096) for number in range(count))))


# --- others --------------------------------------------------------------------------------------------------------------------
@attack(20000)
def old_requests(capture, count):
    """The protocol before 0.11: nothing is answered, and then bytes of the server are missing again and again."""
    one = capture.connection()
    one.client(struct.pack("<II", 4, 1))
    many(one.client, (struct.pack("<II", 4, 12) for _ in range(count)), 1000)
    for _ in range(count // 4):
        one.lose("server", 8)
        one.server(struct.pack("<II", 0, 0))


@attack(500000, "-V")
def elements(capture, count):
    """A reply of the greatest number of the smallest elements: partitions of a member of a group."""
    one = begun(capture)
    one.client(request(ident("a") + ident("b") + ident("c"), code=606, request=2, session=1))
    one.server(reply(u64(1) + u32(count) + u32(1) * count, request=2, cluster=CLUSTER), mss=60000)


@attack(500000, "-V")
def elements_of_nobody(capture, count):
    """The same, where nothing but the bytes can tell what was asked: layouts of many commands are tried."""
    one = begun(capture, "0.11.0")
    for code in (100, 200, 201, 301, 401, 600, 601, 606):
        one.client(request(ident("a"), code=code, request=2, session=1))
    one.server(reply(u64(1) + u32(count) + u32(1) * count, request=2, cluster=CLUSTER), mss=60000)


@attack(20000, "-V")
def tiny_messages(capture, count):
    record = synth.batch([synth.message(b"")] * count)
    begun(capture).client(request(synth.send_body("s", "t", 0, record), operation=160, request=2, session=1), mss=60000)


# --- measuring -------------------------------------------------------------------------------------------------------------------
Result = collections.namedtuple("Result", "name frames first second bytes kilobytes")


def nothing(tshark, folder):
    """What tshark costs without packets."""
    path = synth.Capture().write(Path(folder) / "nothing.pcap")
    return cost(tshark, tshark.readable(path))


def measure(tshark, name, scale=1.0):
    """Of a dissector bug, and of more items than Wireshark has room for, tshark dies: then this raises."""
    one = ATTACKS[name]
    tshark = tshark.with_environment(WIRESHARK_ABORT_ON_DISSECTOR_BUG="1", WIRESHARK_ABORT_ON_TOO_MANY_ITEMS="1")
    with tempfile.TemporaryDirectory() as folder:
        start, seconds, kilobytes = nothing(tshark, folder), [], 0
        for count in (int(one.size * scale), int(one.size * scale) * TIMES):
            capture = synth.Capture(step=10)
            one.build(capture, count)
            path = capture.write(Path(folder) / ("%d.pcap" % count))
            found = cost(tshark, tshark.readable(path), *one.options)
            tshark.forget(path)
            seconds.append(max(0.0, found.seconds - start.seconds))
            kilobytes = max(0, found.kilobytes - start.kilobytes)
            size = path.stat().st_size
    return Result(name, found.frames, *seconds, size, kilobytes)


def fault(result):
    """What is wrong with a result; None if nothing is."""
    if result.frames < FRAMES:
        return "%d frames are found" % result.frames
    if result.second > MORE * result.first + SLACK:
        return "%.2f s, four times as much %.2f s" % (result.first, result.second)
    if 1024 * result.kilobytes > BYTES_A_BYTE * result.bytes + (64 << 20):
        return "%d MB of memory for %d MB" % (result.kilobytes >> 10, result.bytes >> 20)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--scale", type=float, default=1.0)
    arguments = parser.parse_args()
    tshark, faults = Tshark(), 0
    print("%-36s %8s %8s %8s %7s %8s" % ("attack", "frames", "s", "s x%d" % TIMES, "MB", "memory"))
    for name in ATTACKS:
        if arguments.only not in name:
            continue
        result = measure(tshark, name, arguments.scale)
        wrong = fault(result)
        faults += wrong is not None
        print("%-36s %8d %8.2f %8.2f %7.1f %8.0f  %s" % (name, result.frames, result.first, result.second, result.bytes / 1e6, result.kilobytes / 1e3,
                                                     wrong or ""), flush=True)
    tshark.close()
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
