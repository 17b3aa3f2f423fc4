#!/usr/bin/env python3
# The same traffic many times over: what a frame costs in memory and time, and whether it costs more the longer the capture.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""growth.py [--times 10,100,1000]: prints a table for one pass and two.

Two shapes: each repetition in connections of its own, with other ports and later ("connections"); and all in one connection,
frame behind frame, with request numbers that go on ("one connection"). Memory is the growth of the greatest resident set from
one row to the next, by frame; time is CPU, likewise; "TCP" is what the same run costs with nothing above TCP.
Needs the variables that tests/conftest.py describes.
"""

import argparse
import collections
import os
import resource
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from conftest import CAPTURES, Tshark  # noqa: E402
import list_frames  # noqa: E402
import loss  # noqa: E402
import make_seeds  # noqa: E402
from synth import ACK, FIN, SYN, Capture  # noqa: E402

SOURCE = CAPTURES / "real012/03_pipeline.pcapng"
PORT = 8090
ALONE = ("-d", "tcp.port==%d,data" % PORT)
REQUEST = {5: 168, 8: 200}  # where the number stands

Cost = collections.namedtuple("Cost", "frames seconds kilobytes")
Step = collections.namedtuple("Step", "frames bytes_a_frame microseconds_a_frame")


def connections(times, path):
    """The connections of the source, each time with other ports and later; the number of frames."""
    packets, link = loss.packets_of(SOURCE)
    capture = Capture(step=10)
    for number in range(times):
        known = {}
        for _when, data in packets:
            source, destination, _proto, tcp = list_frames.ip_of(link, data)
            ports = int.from_bytes(tcp[0:2], "big"), int.from_bytes(tcp[2:4], "big")
            client = max(ports)
            if client not in known:
                address = b"\x0a" + number.to_bytes(3, "big"), b"\x0b\0\0\1"
                known[client] = capture.connection(client, PORT, handshake=False, addresses=address)
            side = "client" if ports[0] == client else "server"
            seq, ack = int.from_bytes(tcp[4:8], "big"), int.from_bytes(tcp[8:12], "big")
            known[client].segment(side, loss.tcp_of(link, data)[4], seq, tcp[13] & (FIN | SYN | ACK | 8), ack)
    capture.write(path)
    return times * len(loss.whole(list_frames.list_file(str(SOURCE))))


def renumbered(frame, add):
    at = REQUEST[frame[60]]
    number = struct.unpack_from("<Q", frame, at)[0]
    return frame[:at] + struct.pack("<Q", number + add) + frame[at + 8:]


def one_connection(times, path):
    """The frames of the source's longest connection behind its login, over and over; the number of frames."""
    frames = max((make_seeds.frames(segments) for _port, segments in make_seeds.connections(SOURCE)), key=len)
    capture = Capture(step=10)
    connection = capture.connection(server_port=PORT)
    for number in range(times):
        for side, data in frames[2 if number else 0:]:
            connection.send(("client", "server")[side], renumbered(data, number * len(frames)) if number else data, mss=1460)
    capture.write(path)
    return len(frames) + (times - 1) * (len(frames) - 2)


SHAPES = {"connections": connections, "one connection": one_connection}


def cost(tshark, path, *options):
    """CPU seconds and kB of the greatest memory of one run; how many frames with a request it found, or packets without."""
    command = tshark._command(["-n", "-r", str(path), "-T", "fields", "-e", "iggy.request", "-Y",
                               "iggy || iggy.legacy || frame.number == 0", *options])
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(command, env=tshark.environment, cwd=str(tshark.folder), stdout=subprocess.PIPE, text=True) as process:
        frames = sum(len(line.split(",")) for line in process.stdout)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError("tshark: status %d" % process.returncode)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(frames, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, usage.ru_maxrss)


def step(frames, cost_before, cost_now):
    memory = 1024 * (cost_now.kilobytes - cost_before.kilobytes) / frames
    return Step(frames, memory, 1e6 * (cost_now.seconds - cost_before.seconds) / frames)


def measure(tshark, shape, times, *options):
    """[(times, step with the dissector, step of TCP alone)] between each number of repetitions and the one before."""
    before, out = None, []
    with tempfile.TemporaryDirectory() as folder:
        for number in times:
            path = Path(folder) / ("%d.pcap" % number)
            wanted = SHAPES[shape](number, path)
            copy = tshark.readable(path)
            ours, alone = cost(tshark, copy, *options), cost(tshark, copy, *options, *ALONE)
            tshark.forget(path)
            path.unlink()
            if ours.frames != wanted:
                raise AssertionError("%d frames of %d" % (ours.frames, wanted))
            if before:
                more = wanted - before[0]
                out.append((number, step(more, before[1], ours), step(more, before[2], alone)))
            before = wanted, ours, alone
    return out


def faults(measured):
    """
    A frame of a step costs no more than one of the step before. (Memory of few frames hides below what tshark needs to start, so
    that it is also compared with what TCP alone keeps.)
    """
    for times, ours, alone in measured:
        if ours.bytes_a_frame > alone.bytes_a_frame + 600:
            yield "%d times: %d bytes a frame, TCP alone %d" % (times, ours.bytes_a_frame, alone.bytes_a_frame)
    for (_, first, _), (times, second, _) in zip(measured, measured[1:]):
        if second.bytes_a_frame > 1.5 * first.bytes_a_frame + 1000:
            yield "%d times: %d bytes a frame, before %d" % (times, second.bytes_a_frame, first.bytes_a_frame)
        if second.microseconds_a_frame > 2.0 * first.microseconds_a_frame + 20:
            yield "%d times: %d us a frame, before %d" % (times, second.microseconds_a_frame, first.microseconds_a_frame)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", default="10,100,1000")
    times = [int(number) for number in parser.parse_args().times.split(",")]
    tshark, found = Tshark(), []
    print("| shape | passes | times | frames more | bytes a frame | TCP | µs a frame | TCP |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for shape in SHAPES:
        for passes in (1, 2):
            measured = measure(tshark, shape, [1, *times], *["-2"][:passes - 1])
            found += ["%s, %d passes, %s" % (shape, passes, fault) for fault in faults(measured)]
            for number, ours, alone in measured:
                print("| %s | %d | %d | %d | %.0f | %.0f | %.1f | %.1f |" % (shape, passes, number, ours.frames, ours.bytes_a_frame,
                      alone.bytes_a_frame, ours.microseconds_a_frame, alone.microseconds_a_frame), flush=True)
    tshark.close()
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
