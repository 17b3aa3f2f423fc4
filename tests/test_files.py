# One capture after another in one process: nothing of a file is left when it is closed.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Wireshark's own server, sharkd, opens a capture, shows all packets, and opens another one: what it shows then is what it shows
when it opens that one alone. Freed memory is overwritten (WIRESHARK_DEBUG_WMEM_OVERRIDE=strict), so that what still points
there finds rubbish."""

import json
import os
import subprocess

import pytest

import shapes  # of tests/bench

# The same again would find its own requests to repeat; others share client ids, clusters, names or addresses with each other.
PAIRS = [
    ("codec/client-0.12.2.pcap", "codec/client-0.12.2.pcap"),
    ("codec/client-0.11.0.pcap", "codec/client-0.12.2.pcap"),
    ("codec/replica-0.12.2.pcap", "codec/replica-0.12.2.pcap"),
    ("made/incident.pcap", "codec/replica-0.12.2.pcap"),
    ("real/01_admin_rust.pcapng", "real012/01_admin.pcapng"),
    ("real012/07_legacy.pcapng", "real012/07_legacy.pcapng"),
]


def requests(sharkd, captures, packets):
    """Lines for sharkd: load each capture and show so many packets of it, by columns and with their trees."""
    calls = []
    for capture in captures:
        calls.append({"method": "load", "params": {"file": str(sharkd.readable(capture))}})
        calls.append({"method": "frames", "params": {}})
        calls += [{"method": "frame", "params": {"frame": number, "proto": True}} for number in range(1, packets[capture] + 1)]
    return "".join(json.dumps(dict(call, jsonrpc="2.0", id=number)) + "\n" for number, call in enumerate(calls, 1))


def shown(sharkd, captures, packets):
    """What sharkd answers for the last of the captures."""
    environment = dict(sharkd.environment, WIRESHARK_DEBUG_WMEM_OVERRIDE="strict")
    result = subprocess.run(sharkd._command(["-"]), input=requests(sharkd, captures, packets), env=environment,
                            cwd=str(sharkd.folder), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600)
    assert result.returncode == 0, result.stderr[-2000:]
    answers = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    answers = [answer.get("result", answer) for answer in answers if "id" in answer]
    last = packets[captures[-1]] + 2
    assert len(answers) == sum(packets[capture] + 2 for capture in captures)
    assert answers[-last] == {"status": "OK"}
    return answers[1 - last:]


@pytest.fixture(scope="module")
def packets(tshark):
    names = {name for pair in PAIRS for name in pair}
    return {name: len(tshark.run(["-r", str(tshark.readable(name)), "-T", "fields", "-e", "frame.number"]).split()) for name in names}


@pytest.mark.parametrize("before,capture", PAIRS)
def test_the_next_file_shows_what_it_shows_alone(sharkd, packets, before, capture):
    alone = shown(sharkd, [capture], packets)
    assert "iggy" in json.dumps(alone)
    assert shown(sharkd, [before, capture], packets) == alone


def peak(sharkd, capture, times):
    """Bytes of memory at most when the capture is opened so many times, the least of three runs."""
    calls = [{"jsonrpc": "2.0", "id": number, "method": "load", "params": {"file": str(sharkd.readable(capture))}}
             for number in range(1, times + 1)]
    peaks = []
    for _ in range(3):
        process = subprocess.Popen(sharkd._command(["-"]), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env=sharkd.environment, cwd=str(sharkd.folder), text=True)
        with process.stdin as lines:
            lines.write("".join(json.dumps(call) + "\n" for call in calls))
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        peaks.append(usage.ru_maxrss * 1024)
    return min(peaks)


def growth(sharkd, capture):
    """Bytes that it grows with each time: sharkd itself leaks, and in 4.6 the first openings differ by some MB."""
    return (peak(sharkd, capture, 42) - peak(sharkd, capture, 12)) / 30


def test_memory_of_closed_files_is_given_back(sharkd, tmp_path):
    if not sharkd.plugin:
        pytest.skip("the plugin is installed: sharkd cannot do without it")
    capture, nothing = tmp_path / "small.pcap", tmp_path / "plugins"
    packets = shapes.write(capture, "small", "iggy", 8)
    nothing.mkdir()
    assert packets > 14000  # 40 bytes and more a packet are kept while it is open
    without = sharkd.with_environment(WIRESHARK_PLUGIN_DIR=str(nothing))
    assert growth(sharkd, capture) - growth(without, capture) < 30 * packets
