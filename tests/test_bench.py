# The benchmark works: all shapes and ways, with small captures and one round. Its figures mean nothing here.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later

import os
import re
import subprocess
import sys

import pytest

from conftest import HERE

RUN = HERE / "bench/run.py"
WAYS = ["no output", "no tree", "header filter", "message filter", "a line a frame", "-V", "-T json", "-2"]
ROWS = [("mid", "iggy"), ("mid", "kafka"), ("small", "iggy"), ("small", "kafka"), ("pack", "iggy"), ("pack", "kafka"),
        ("big", "iggy"), ("big", "kafka"), ("tiny", "iggy"), ("tiny", "kafka"), ("replica", "iggy"), ("real", "iggy")]


@pytest.fixture
def run(tshark):
    """Runs the benchmark; what it prints."""
    plugins = tshark.environment.get("WIRESHARK_PLUGIN_DIR")
    if not plugins or os.environ.get("IGGY_PRELOAD"):
        pytest.skip("the benchmark takes a plugin of a folder, without sanitizers")

    def start(*options, check=True, plugins=plugins):
        ended = subprocess.run([sys.executable, str(RUN), *options], env=dict(os.environ, IGGY_PLUGIN_DIR=str(plugins)),
                               capture_output=True, text=True)
        assert not check or ended.returncode == 0, ended.stderr
        return ended
    return start


def tables(text):
    """Tables of Markdown: head and rows, as lists of cells."""
    found, rows = [], []
    for line in text.splitlines() + [""]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
        elif rows:
            found.append((rows[0], rows[2:]))
            rows = []
    return found


def test_all_shapes(run, tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text("before\n<!-- benchmark: made by tests/bench/run.py --readme README.md -->\nold\n"
                      "<!-- end of the benchmark -->\nafter\n")
    text = run("--mb", "0.2", "--rounds", "1", "--way=no output,-V", "--readme", str(readme)).stdout
    (head, ratios), (field_head, fields), (absolute_head, absolute) = tables(text)
    assert head == ["shape", "protocol", "no output", "-V"]
    assert sorted(tuple(row[:2]) for row in ratios) == sorted(ROWS + [("replica, seals unverified", "iggy")])
    assert all(0.1 < float(cell) < 30 for row in ratios for cell in row[2:])
    assert field_head == ["shape", "protocol", "fields a packet", "ns a field, -V"]
    assert [row[:3] for row in fields] == [row[:2] + row[-1:] for row in absolute]
    assert absolute_head[-1] == "fields a packet"
    assert sorted(tuple(row[:2]) for row in absolute) == sorted(ROWS)
    assert all(float(row[-1]) > 5 for row in absolute)
    written = readme.read_text()
    assert written.startswith("before\n") and written.endswith("\nafter\n")
    assert text.strip() in written and "old" not in written


def test_all_ways(run):
    (head, ratios), _fields, _absolute = tables(run("--mb", "0.2", "--rounds", "2", "--shape", "pack").stdout)
    assert head == ["shape", "protocol"] + WAYS
    assert [row[:2] for row in ratios] == [["pack", "iggy"], ["pack", "kafka"]]
    assert all(re.fullmatch(r"\d+\.\d\d \(\d+\.\d\d--?\d+\.\d\d\)", cell) for row in ratios for cell in row[2:])


def test_memory(run):
    ((head, rows),) = tables(run("--memory", "--mb", "0.2", "0.4", "--shape", "mid", "pack").stdout)
    assert head[:3] == ["shape", "MB", "packets"]
    assert [row[:2] for row in rows] == [["mid", "0.2"], ["mid", "0.4"], ["pack", "0.2"], ["pack", "0.4"]]
    packets = [int(row[2]) for row in rows]
    assert packets[1] > 1.9 * packets[0] - 10 and packets[3] > 1.9 * packets[2] - 10


def test_without_the_plugin_there_are_no_figures(run, tmp_path):
    (tmp_path / "4.0/epan").mkdir(parents=True)
    ended = run("--mb", "0.1", check=False, plugins=tmp_path)
    assert ended.returncode != 0
    assert "does not load the plugin" in ended.stderr
