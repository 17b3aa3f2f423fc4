#!/usr/bin/env python3
# The benchmark: the CPU that the dissector takes, beside the same bytes as plain data, and Kafka's in the same shapes.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""A table in Markdown of CPU ratios, whole process, ours to the same capture decoded as data on its port.

    python3 run.py [--mb 60] [--rounds 9] [--folder DIR] [--shape NAME ...] [--way NAME ...]

The two of a round run one after the other, in turn which one is first; the median of the rounds and the quartiles are printed.
IGGY_PLUGIN_DIR names the folder that holds X.Y/epan/iggy.so (default build/plugins). As root, tshark runs as an unprivileged user.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
NOTHING = ["-q", "-Y", "frame.number == 0"]
WAYS = {  # name: options; FILTER and MESSAGE are those of the protocol
    "no output": NOTHING,
    "no tree": ["-q", "-z", "http,tree"],
    "header filter": ["-q", "-Y", "HEADER"],
    "message filter": ["-q", "-Y", "MESSAGE"],
    "a line a frame": [],
    "-V": ["-V"],
    "-T json": ["-T", "json"],
    "-2": ["-2"] + NOTHING,
}
FILTERS = {
    "iggy": {"HEADER": "iggy.code == 999", "MESSAGE": "iggy.message.offset == 1"},
    "kafka": {"HEADER": "kafka.api_key == 99", "MESSAGE": "kafka.offset == 1"},
}
PORTS = {"iggy": ("8090", "9090"), "kafka": ("9092",)}


def command(arguments, plugins):
    tshark = ["tshark", "-n"] + arguments
    environment = ["env", "HOME=/nonexistent", "WIRESHARK_PLUGIN_DIR=%s" % plugins]
    if os.geteuid() == 0:
        return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] + environment + tshark
    return environment + tshark


def cpu(arguments, plugins):
    """User and system seconds of one tshark."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command(arguments, plugins), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(capture, protocol, way, rounds, plugins):
    """Ratios of the rounds: the dissector to plain data."""
    options = [FILTERS[protocol].get(option, option) for option in WAYS[way]]
    plain = [part for port in PORTS[protocol] for part in ("-d", "tcp.port==%s,data" % port)]
    ratios = []
    for turn in range(rounds):
        taken = {}
        for decoded in ([True, False] if turn % 2 else [False, True]):
            taken[decoded] = cpu(["-r", str(capture)] + ([] if decoded else plain) + options, plugins)
        ratios.append(taken[True] / taken[False])
    return ratios


def text(ratios):
    if len(ratios) < 2:
        return "%.2f" % ratios[0]
    low, _, high = statistics.quantiles(ratios, n=4)
    return "%.2f (%.2f-%.2f)" % (statistics.median(ratios), low, high)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mb", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--shape", nargs="*")
    parser.add_argument("--way", nargs="*", choices=list(WAYS), default=list(WAYS))
    arguments = parser.parse_args()
    plugins = Path(os.environ.get("IGGY_PLUGIN_DIR", HERE.parent.parent / "build/plugins")).resolve()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o755)
        subprocess.run([sys.executable, str(HERE / "shapes.py"), str(folder), "--mb", str(arguments.mb)], check=True,
                       stdout=subprocess.DEVNULL)
        print("| capture | " + " | ".join(arguments.way) + " |")
        print("|---" * (len(arguments.way) + 1) + "|")
        for capture in sorted(folder.glob("*.pcap")):
            protocol, shape = capture.stem.split("-", 1)
            if arguments.shape and shape not in arguments.shape:
                continue
            cells = [text(measure(capture, protocol, way, arguments.rounds, plugins)) for way in arguments.way]
            print("| %s | %s |" % (capture.stem, " | ".join(cells)), flush=True)


if __name__ == "__main__":
    main()
