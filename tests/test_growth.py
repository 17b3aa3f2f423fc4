# The same traffic ten and a hundred times over: memory a frame does not rise, time is linear; nothing of ours leaks.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""IGGY_GROWTH: repetitions, default 10,100; 10,100,1000 for a long run (tests/fuzz/growth.py prints the numbers)."""

import os

import pytest

import growth

TIMES = [int(number) for number in os.environ.get("IGGY_GROWTH", "10,100").split(",")]


@pytest.mark.parametrize("options", [(), ("-2",)], ids=["one-pass", "two-pass"])
@pytest.mark.parametrize("shape", growth.SHAPES)
def test_time_and_memory_grow_with_the_frames(tshark, shape, options):
    """A frame of the last step costs no more than one of the step before; what a step of few frames costs is noise."""
    times = [max(1, TIMES[0] // 5), *TIMES]
    steps = [ours for _, ours, _ in growth.measure(tshark, shape, times, *options)]
    print(steps)
    for first, second in zip(steps, steps[1:]):
        assert second.bytes_a_frame < 1.5 * first.bytes_a_frame + 300
        assert second.microseconds_a_frame < 2.0 * first.microseconds_a_frame + 20
