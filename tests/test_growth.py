# The same traffic ten and a hundred times over: memory a frame does not rise, time is linear; nothing of ours leaks.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""IGGY_GROWTH: repetitions, default 10,100; 10,100,1000 for a long run (tests/fuzz/growth.py prints the numbers)."""

import os
import shutil
import subprocess
import sys

import pytest

import carriers
import growth
import synth
from conftest import HERE

TIMES = [int(number) for number in os.environ.get("IGGY_GROWTH", "10,100").split(",")]


@pytest.mark.parametrize("options", [(), ("-2",)], ids=["one-pass", "two-pass"])
@pytest.mark.parametrize("shape", growth.SHAPES)
def test_time_and_memory_grow_with_the_frames(tshark, shape, options):
    times = [max(1, TIMES[0] // 5), *TIMES]
    measured = growth.measure(tshark, shape, times, *options)
    print(measured)
    assert len(measured) == len(TIMES)
    assert list(growth.faults(measured)) == []


def test_growth_would_be_seen():
    steps = [growth.Step(1000, memory, time) for memory, time in ((700, 20), (750, 21), (3000, 90))]
    alone = growth.Step(1000, 500, 10)
    assert list(growth.faults([(10, steps[0], alone), (100, steps[1], alone)])) == []
    assert len(list(growth.faults([(10, steps[0], alone), (100, steps[2], alone)]))) == 3


def many_frames(path, count, reserved):
    """A WebSocket message of many frames, and what stands in a byte of their headers that nobody sets."""
    capture = synth.Capture()
    web = carriers.WebSocket(capture.connection(server_port=8092))
    web.client(synth.request(synth.login_body(), operation=1, request=0))
    answer = bytearray(synth.reply(request=1))
    web.server(bytes(answer))
    answer[100] = reserved
    web.server(bytes(answer) * count, mss=60000)
    return capture.write(path)


def test_headers_that_nobody_sends_cost_no_more(tshark, tmp_path):
    """Each of them makes the dissector look for a better one: no further than to its own end."""
    count = 16384
    usual, odd = (growth.cost(tshark, tshark.readable(many_frames(tmp_path / ("%d.pcap" % reserved), count, reserved)))
                  for reserved in (0, 1))
    assert usual.frames == odd.frames == count + 2
    assert odd.seconds < 2 * usual.seconds + 0.5


def test_nothing_of_ours_leaks(tmp_path):
    """Few captures and two ways; tests/fuzz/leaks.py without --short takes all."""
    if not shutil.which("gcc") or not shutil.which("mergecap"):
        pytest.skip("gcc or mergecap is not installed")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("IGGY_")}
    environment["IGGY_LEAK_DIR"] = str(tmp_path)
    result = subprocess.run([sys.executable, str(HERE / "fuzz/leaks.py"), "--short"], env=environment,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=3600)
    assert result.returncode == 0, result.stdout[-4000:]
    assert result.stdout.count(" leaks, 0 of the plugin") == 2
