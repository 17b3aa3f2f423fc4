# The same traffic ten and a hundred times over: memory a frame does not rise, time is linear.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""IGGY_GROWTH is the greatest number of repetitions, default 100; 1000 for a long run."""

import os
import resource
import subprocess

import pytest

import loss
from conftest import CAPTURES
from synth import ACK, FIN, SYN, Capture
import list_frames

SOURCE = CAPTURES / "real012/03_pipeline.pcapng"
TIMES = int(os.environ.get("IGGY_GROWTH", 100))


def repeated(times, path):
    """The connections of the source, each time with other ports and later; the number of frames."""
    packets, link = loss.packets_of(SOURCE)
    capture = Capture(step=10)
    for number in range(times):
        connections = {}
        for _when, data in packets:
            source, destination, _proto, tcp = list_frames.ip_of(link, data)
            ports = int.from_bytes(tcp[0:2], "big"), int.from_bytes(tcp[2:4], "big")
            client = max(ports)
            if client not in connections:
                address = b"\x0a" + number.to_bytes(3, "big"), b"\x0b\0\0\1"
                connections[client] = capture.connection(client, min(ports), handshake=False, addresses=address)
            side = "client" if ports[0] == client else "server"
            seq, ack = int.from_bytes(tcp[4:8], "big"), int.from_bytes(tcp[8:12], "big")
            connections[client].segment(side, loss.payload(link, data), seq, tcp[13] & (FIN | SYN | ACK | 8), ack)
    capture.write(path)
    return times * len(loss.whole(list_frames.list_file(str(SOURCE))))


def cost(tshark, path, *options):
    """CPU seconds and kB of the greatest memory of one run; how many frames it found."""
    command = tshark._command(["-n", "-r", str(path), "-T", "fields", "-e", "iggy.request", "-Y", "iggy", *options])
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    with subprocess.Popen(command, env=tshark.environment, cwd=str(tshark.folder), stdout=subprocess.PIPE, text=True) as process:
        frames = sum(len(line.split(",")) for line in process.stdout)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    return after - before, usage.ru_maxrss, frames


@pytest.mark.parametrize("options", [(), ("-2",)], ids=["one-pass", "two-pass"])
def test_time_and_memory_grow_with_the_frames(tshark, tmp_path, options):
    steps = [TIMES // 10, TIMES // 2, TIMES]
    seconds, memory, counts = [], [], []
    for times in steps:
        path = tmp_path / ("%d.pcap" % times)
        wanted = repeated(times, path)
        used, most, frames = cost(tshark, tshark.readable(path), *options)
        tshark.forget(path)
        assert frames == wanted
        seconds.append(used)
        memory.append(most)
        counts.append(frames)
    per_frame = [1024 * (memory[i + 1] - memory[i]) / (counts[i + 1] - counts[i]) for i in (0, 1)]
    rate = [(seconds[i + 1] - seconds[i]) / (counts[i + 1] - counts[i]) for i in (0, 1)]
    print("bytes a frame %s, microseconds a frame %s" % ([int(one) for one in per_frame], [round(1e6 * one, 1) for one in rate]))
    assert per_frame[1] < 1.5 * per_frame[0] + 200
    assert rate[1] < 2.0 * rate[0] + 10e-6
