#!/usr/bin/env python3
# What is not given back at the end: LeakSanitizer over tshark with the plugin, one pass and two, statistics and export.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""leaks.py [--short]: builds the plugin with AddressSanitizer and prints the leaks that have it in their stack.

tshark and its libraries leak by themselves; a leak is ours if a function of iggy.so is in its stack, and it is not a node of a
statistics tree or an object to export: these are tshark's, which frees neither at its end. All captures are dissected
in one run each way: one pass, two passes with -V, and two passes with all statistics and the export of messages; --short leaves
one out. The plugin is linked so that it stays loaded, else its functions would have no names at the end.
IGGY_LEAK_DIR (default build-leaks) keeps the build.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))

STATISTIC = re.compile(r"^\s+(iggy[a-z_]*,\S+)$", re.MULTILINE)
LEAK = re.compile(r"^(?:Direct|Indirect) leak of (\d+) byte.*?(?=^\s*$)", re.MULTILINE | re.DOTALL)
OURS = re.compile(r"iggy\.so|packet-iggy")
# Nodes of statistics and objects to export belong to tshark, and it frees none of them, whoever made them.
HANDED_OVER = re.compile(r" in stats_tree_| in add_entry .*packet-iggy-export")


def ours(leak):
    return OURS.search(leak) and not (leak.startswith("Indirect") and HANDED_OVER.search(leak))


def build(folder):
    """The plugin with AddressSanitizer, and the sanitizer's runtime."""
    common = dict(cwd=TOP, stdout=subprocess.DEVNULL, check=True)
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    subprocess.run(["cmake", *generator, "-S", ".", "-B", folder, "-DCMAKE_C_COMPILER=gcc", "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
                    "-DIGGY_TESTS=OFF", "-DIGGY_SANITIZE=address", "-DCMAKE_MODULE_LINKER_FLAGS=-Wl,-z,nodelete"], **common)
    subprocess.run(["cmake", "--build", folder, "--parallel", "2"], **common)
    runtime = subprocess.run(["gcc", "-print-file-name=libasan.so"], stdout=subprocess.PIPE, text=True, check=True)
    return os.path.realpath(runtime.stdout.strip())


def joined(tshark, folder, whole):
    """One capture file out of all over TCP, or of few."""
    from conftest import CAPTURES
    names = sorted(CAPTURES.glob("real*/*.pcapng")) + sorted(CAPTURES.glob("codec/*.pcap"))
    if not whole:
        names = [CAPTURES / "real012/03_pipeline.pcapng", CAPTURES / "real/12c_cluster_startup_auth.pcapng",
                 CAPTURES / "codec/client-0.12.2.pcap", CAPTURES / "codec/replica-0.12.2.pcap"]
    path = Path(folder) / "all.pcapng"
    subprocess.run(["mergecap", "-a", "-w", path, *names], check=True)
    return tshark.readable(path)


def ways(tshark, capture, whole):
    """Options of each run, named. Asked for one that there is not, tshark lists the statistics that there are."""
    statistics = STATISTIC.findall(tshark._plain(["-r", capture, "-z", "iggy,nonesuch"]).stderr)
    if not statistics:
        raise RuntimeError("no statistics are listed")
    (tshark.folder / "export").mkdir(exist_ok=True)
    (tshark.folder / "export").chmod(0o777)
    yield "one pass", ["-V"]
    if whole:
        yield "two passes", ["-2", "-V"]
    yield "statistics and export", ["-2", "-q", *[part for one in statistics for part in ("-z", one)],
                                    "--export-objects", "iggy,%s" % (tshark.folder / "export")]


def run(folder, whole):
    """{way: (leaks of all, [those with the plugin in their stack])}"""
    runtime = build(folder)
    os.environ.update(IGGY_BUILD_DIR=str(folder), IGGY_PRELOAD=runtime, ASAN_OPTIONS="detect_leaks=0")
    from conftest import Tshark
    tshark = Tshark()
    # glib has no frame pointers
    tough = tshark.with_environment(ASAN_OPTIONS="detect_leaks=1:fast_unwind_on_malloc=0:malloc_context_size=12",
                                    WIRESHARK_DEBUG_WMEM_OVERRIDE="simple", G_SLICE="always-malloc")
    out = {}
    with tempfile.TemporaryDirectory() as scratch:
        capture = joined(tshark, scratch, whole)
        for name, options in ways(tshark, capture, whole):
            result = tough._plain(["-n", "-r", capture, *options], timeout=3600)
            if "LeakSanitizer" not in result.stderr and result.returncode:
                raise RuntimeError(result.stderr[-2000:])
            leaks = [match.group(0) for match in LEAK.finditer(result.stderr + "\n\n")]
            out[name] = len(leaks), [leak for leak in leaks if ours(leak)]
    tshark.close()
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true")
    folder = Path(os.environ.get("IGGY_LEAK_DIR", TOP / "build-leaks")).resolve()
    found = run(folder, not parser.parse_args().short)
    for name, (count, leaks) in found.items():
        print("%s: %d leaks, %d of the plugin" % (name, count, len(leaks)))
        print("".join(leaks), end="")
    return 1 if any(leaks for _, leaks in found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
