# Bodies with other values, list lengths and optional parts than those of the codec captures.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""The rule of tools/check_pdml.py on captures that tools/made.py and made_replica.py write from the reference."""

import subprocess
import sys

import made
import made_replica
import pytest
from conftest import HERE
from test_codec import TOTALS

SEEDS = [1, 2, 3]  # seed 1: an SDK whose name begins with a letter that is not ASCII


def check(tshark, tmp_path, make, version, seed):
    pcap, expected, pdml = (tmp_path / ("made." + end) for end in ("pcap", "jsonl", "pdml"))
    frames = make(seed, version, pcap, expected)
    text = tshark.read(pcap, "-T", "pdml", two_pass=seed % 2 == 0)
    tshark.sound(text)
    assert not [name for name in ("iggy.undecoded", "iggy.extra", "iggy.expert.layout") if 'name="%s"' % name in text]
    pdml.write_text(text)
    result = subprocess.run([sys.executable, str(HERE / "tools/check_pdml.py"), "--pdml", str(pdml), str(pcap), str(expected)],
                            stdout=subprocess.PIPE, text=True, timeout=600)
    totals = TOTALS.search(result.stdout)
    missing = [line for line in result.stdout.splitlines() if "missing" in line or "NOT RECOGNISED" in line]
    assert totals and totals.group(1) == str(frames) and totals.group(3) == totals.group(4), "\n".join(missing[:40])
    assert not missing


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("version", made.ORDER)
def test_every_value_of_clients_is_shown(tshark, tmp_path, version, seed):
    check(tshark, tmp_path, made.make, version, seed)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("version", ["0.11.0", "0.12.0", "0.12.2"])
def test_every_value_of_replicas_is_shown(tshark, tmp_path, version, seed):
    check(tshark, tmp_path, made_replica.make, version, seed)
