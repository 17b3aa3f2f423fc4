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

import growth
from conftest import HERE

TIMES = [int(number) for number in os.environ.get("IGGY_GROWTH", "10,100").split(",")]


@pytest.mark.parametrize("options", [(), ("-2",)], ids=["one-pass", "two-pass"])
@pytest.mark.parametrize("shape", growth.SHAPES)
def test_time_and_memory_grow_with_the_frames(tshark, shape, options):
    """
    A frame of a step costs no more than one of the step before. (Memory of few frames hides below what tshark needs to start, so
    that it is also compared with what TCP alone keeps.)
    """
    times = [max(1, TIMES[0] // 5), *TIMES]
    measured = growth.measure(tshark, shape, times, *options)
    steps = [ours for _, ours, _ in measured]
    print(steps)
    for _, ours, alone in measured:
        assert ours.bytes_a_frame < alone.bytes_a_frame + 600
    for first, second in zip(steps, steps[1:]):
        assert second.bytes_a_frame < 1.5 * first.bytes_a_frame + 1000
        assert second.microseconds_a_frame < 2.0 * first.microseconds_a_frame + 20


def test_nothing_of_ours_leaks(tmp_path):
    """Few captures and two ways; tests/fuzz/leaks.py without --short takes all."""
    if not shutil.which("gcc") or not shutil.which("mergecap"):
        pytest.skip("gcc or mergecap is not installed")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("IGGY_")}
    result = subprocess.run([sys.executable, str(HERE / "fuzz/leaks.py"), "--short"], env=dict(environment, IGGY_LEAK_DIR=str(tmp_path)),
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=3600)
    assert result.returncode == 0, result.stdout[-4000:]
    assert result.stdout.count(" leaks, 0 of the plugin") == 2
