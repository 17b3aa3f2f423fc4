#!/usr/bin/env python3
# Random byte errors over all captures, in the environment of Wireshark's tools/fuzz-test.sh.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""editcap_errors.py [--seconds N] [--seed N]: editcap -E over all captures, strict memory checks.

Every capture at every rate, dissected in one pass and in two, with -V and without, in an order of chance; then again with other
errors until the time is over. No run of tshark begins after that: a whole round takes half an hour. A finding is a crash, a dissector bug of ours, or too many tree items; its capture is kept. (The test takes one rate
and two of the four ways for each capture, and does one round at least.) Needs the variables that tests/conftest.py describes.
"""

import argparse
import math
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from conftest import CAPTURES, Tshark  # noqa: E402

RATES = (0.001, 0.005, 0.01, 0.02, 0.05)
WAYS = ([], ["-2", "-V"], ["-V"], ["-2"])
IN_OUTPUT = re.compile(r"dissector bug, protocol iggy|add(?:ing|ed)? more than [\d,]+ items|too many items", re.IGNORECASE)
IN_ERRORS = re.compile(IN_OUTPUT.pattern + r"|\*\* ?(?:ERROR|CRITICAL)|\b(?:ERROR|CRITICAL)\]|assertion", re.IGNORECASE)
OF_OTHERS = re.compile(r"^.*dissector bug, protocol (?!iggy\b).*$", re.IGNORECASE | re.MULTILINE)  # QUIC's, in 4.0
STRICT = dict(WIRESHARK_DEBUG_WMEM_OVERRIDE="strict", G_SLICE="debug-blocks", MALLOC_CHECK_="3",
              WIRESHARK_ABORT_ON_TOO_MANY_ITEMS="")


def all_captures():
    return sorted(path for path in CAPTURES.glob("*/*") if path.suffix in (".pcap", ".pcapng"))


def damage(source, target, rate, seed):
    """Byte errors with this probability; editcap wants the type of captures with keys named again."""
    for form in ([], ["-T", "ether"]):
        command = ["editcap", *form, "-E", str(rate), "--seed", str(seed), str(source), str(target)]
        result = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if result.returncode == 0:
            return
    raise RuntimeError(result.stderr)


def dissect(tshark, capture, ways, end):
    """(runs, what is wrong or None); no run begins after the end."""
    for number, way in enumerate(ways):
        if time.monotonic() > end:
            return number, None
        result = tshark._plain(["-n", "-r", tshark.readable(capture), *way], timeout=600)
        found = IN_ERRORS.search(OF_OTHERS.sub("", result.stderr)) or IN_OUTPUT.search(result.stdout)
        if result.returncode not in (0, 2) or found:
            said = found.group(0) if found else result.stderr[-1000:]
            return number + 1, "%s: status %d, %s" % (" ".join(way) or "plain", result.returncode, said)
    return len(ways), None


def plan(whole, dice):
    """(capture, rate, ways) without end: all captures at all rates, or at one each; None after each round."""
    while True:
        if whole:
            cases = [(source, rate, WAYS) for source in all_captures() for rate in RATES]
            dice.shuffle(cases)  # what a short time leaves out is not always the same
            yield from cases
        else:
            for number, source in enumerate(all_captures()):
                yield source, dice.choice(RATES), WAYS[number % 2 * 2:][:2]
        yield None, None, None


def run(tshark, seconds, seed, keep, whole=False):
    """Damaged captures until the time is over; if not whole, a round at least. (captures, runs of tshark, findings)"""
    strict = tshark.with_environment(**STRICT)
    dice, tried, runs, rounds, findings = random.Random(seed), 0, 0, 0, []
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        for source, rate, ways in plan(whole, dice):
            rounds += source is None
            if (rounds or whole) and time.monotonic() > end:
                return tried, runs, findings
            if not source:
                continue
            target = Path(folder) / ("%d-%s" % (tried, source.name))
            number = dice.randrange(1 << 31)
            damage(source, target, rate, number)
            done, fault = dissect(strict, target, ways, end if whole else math.inf)
            if fault:
                kept = Path(keep) / ("editcap-%s-%d-%s" % (rate, number, source.name))
                shutil.copyfile(target, kept)
                findings.append("%s: %s" % (kept, fault))
            strict.forget(target)
            target.unlink()
            tried, runs = tried + 1, runs + done


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", default=".", help="folder for captures that show a fault")
    arguments = parser.parse_args()
    tshark = Tshark()
    tried, runs, findings = run(tshark, arguments.seconds, arguments.seed, arguments.keep, whole=True)
    tshark.close()
    print("\n".join(findings))
    print("%d damaged captures, %d runs of tshark, %d findings" % (tried, runs, len(findings)))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
