# Every value that the codec wrote is shown at its place.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""The rule of tools/check_pdml.py on all codec captures: all frames, all values, nothing more."""

import re
import subprocess
import sys

import pytest

from conftest import CAPTURES, HERE

FULL = sorted(path.stem for path in CAPTURES.glob("codec/*.pcap"))
TOTALS = re.compile(r"(\d+) of (\d+) PDUs recognised, (\d+) of (\d+) values shown, ([\d.]+) % of bytes covered")


def report(tshark, tmp_path, name, two_pass):
    text = tshark.read("codec/%s.pcap" % name, "-T", "pdml", two_pass=two_pass, timeout=600)
    tshark.sound(text)
    pdml = tmp_path / (name + ".pdml")
    pdml.write_text(text)
    codec = CAPTURES / "codec"
    result = subprocess.run([sys.executable, str(HERE / "tools/check_pdml.py"), "--pdml", str(pdml),
                             str(codec / (name + ".pcap")), str(codec / (name + ".expected.jsonl"))],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600)
    return result.stdout + result.stderr


@pytest.mark.parametrize("name", FULL)
def test_every_value_is_shown(tshark, tmp_path, name, two_pass):
    text = report(tshark, tmp_path, name, two_pass)
    totals = TOTALS.search(text)
    assert totals, text[-2000:]
    found, pdus, shown, values = (int(part) for part in totals.groups()[:4])
    faults = "\n".join(re.findall(r"^PDU .*\n(?:    missing.*\n)+|^PDU .*NOT RECOGNISED$", text, re.MULTILINE)[:40])
    assert (found, shown) == (pdus, values), faults
    assert "more than expected" not in text, text[-500:]
