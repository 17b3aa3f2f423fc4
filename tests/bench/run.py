#!/usr/bin/env python3
# The benchmark: what the dissector costs, beside the same bytes as plain data, and Kafka's in the same shapes of traffic.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables in Markdown: CPU of the whole process as a ratio to the same capture decoded as data on its port, and absolute figures.

    python3 run.py [--mb 60] [--rounds 9] [--folder DIR] [--shape NAME ...] [--way=NAME,...] [--readme FILE]
    python3 run.py --memory [--mb 100 500 2000]      state a frame, and whether time and memory grow with the capture

The two of a round run one after the other, in turn which one is first; the median of the rounds and the quartiles are printed.
A worker a core, two at most, each bound to its core. -V and -T json read an eighth of the capture. The start of tshark, measured
with an empty capture, is in the ratios (the user waits for it) and not in the absolute figures.
Kafka's dissector runs without the plugin, which looks at its port first. IGGY_PLUGIN_DIR names the folder that holds X.Y/epan/iggy.so (default build/plugins). As root, tshark runs as an unprivileged
user.
"""

import argparse
import datetime
import os
import queue
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import shapes  # noqa: E402  (beside this file)

NOTHING = ["-q", "-Y", "frame.number == 0"]
WAYS = {  # name: options; HEADER and MESSAGE are filters of the protocol
    "no output": NOTHING,
    "no tree": ["-q", "-z", "http,tree"],
    "header filter": ["-q", "-Y", "HEADER"],
    "message filter": ["-q", "-Y", "MESSAGE"],
    "a line a frame": [],
    "-V": ["-V"],
    "-T json": ["-T", "json"],
    "-2": ["-2"] + NOTHING,
}
SLOW = {"-V", "-T json"}
SLOW_PART = 8
UNVERIFIED = ["-o", "iggy.verify_checksums:FALSE"]
FILTERS = {
    "iggy": {"HEADER": "iggy.code == 999", "MESSAGE": "iggy.message.offset == 1"},
    "kafka": {"HEADER": "kafka.api_key == 99", "MESSAGE": "kafka.offset == 1"},
}
PORTS = {"iggy": ("8090", "9090"), "kafka": ("9092",)}
MARKS = ("<!-- benchmark: made by tests/bench/run.py --readme README.md -->", "<!-- end of the benchmark -->")


# --- one tshark -------------------------------------------------------------------------------------------------------
def command(arguments, plugins):
    tshark = ["tshark"] + arguments
    environment = ["env", "HOME=/nonexistent", "WIRESHARK_PLUGIN_DIR=%s" % plugins]
    if os.geteuid() == 0:
        return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] + environment + tshark
    return environment + tshark


def taken(arguments, plugins, core=None):
    """CPU seconds (user and system) and peak memory in bytes of one tshark."""
    bind = (lambda: os.sched_setaffinity(0, {core})) if core is not None else None
    process = subprocess.Popen(command(arguments, plugins), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=bind)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit("tshark %s: exit status %d" % (" ".join(arguments), process.returncode))
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def as_data(protocol):
    return [part for port in PORTS[protocol] for part in ("-d", "tcp.port==%s,data" % port)]


class Figures:
    """Rounds of one capture and one way."""

    def __init__(self, packets, size):
        self.packets, self.size = packets, size
        self.decoded, self.plain, self.peaks, self.plain_peaks = [], [], [], []

    def ratios(self):
        return [ours / plain for ours, plain in zip(self.decoded, self.plain)]


def measure(capture, packets, protocol, options, rounds, plugins, core=None):
    options = [FILTERS[protocol].get(option, option) for option in options]
    figures = Figures(packets, capture.stat().st_size)
    for turn in range(rounds):
        for decoded in ([True, False] if turn % 2 else [False, True]):
            extra = [] if decoded else as_data(protocol)
            seconds, peak = taken(["-n", "-r", str(capture)] + extra + options, plugins, core)
            (figures.decoded if decoded else figures.plain).append(seconds)
            (figures.peaks if decoded else figures.plain_peaks).append(peak)
    return figures


def fields_a_frame(capture, packets, protocol, plugins):
    """Items of the protocol's own in PDML, a frame of the capture on average."""
    counts = []
    for extra in ([], as_data(protocol)):
        text = subprocess.run(command(["-n", "-r", str(capture), "-T", "pdml", "-c", "2000"] + extra, plugins),
                              capture_output=True, check=True)
        counts.append(text.stdout.count(b"<field "))
    return (counts[0] - counts[1]) / min(packets, 2000)


def usable(plugins, folder):
    """A copy of the plugins that an unprivileged user can read: a folder of root's may be closed to others."""
    copy = folder / "plugins"
    shutil.copytree(plugins, copy)
    for path in [copy, *copy.rglob("*")]:
        path.chmod(0o755)
    listed = subprocess.run(command(["-G", "plugins"], copy), capture_output=True, text=True).stdout
    if "iggy." not in listed:
        raise SystemExit("tshark does not load the plugin of %s" % plugins)
    return copy


# --- all of them ------------------------------------------------------------------------------------------------------
def make_captures(folder, megabytes, names):
    """{(shape, protocol): (capture, packets, its beginning, packets)}"""
    made = {}
    for shape in names:
        for protocol in shapes.SHAPES[shape][1]:
            whole, part = folder / ("%s-%s.pcap" % (protocol, shape)), folder / ("%s-%s-part.pcap" % (protocol, shape))
            made[shape, protocol] = (whole, shapes.write(whole, shape, protocol, megabytes),
                                     part, shapes.write(part, shape, protocol, megabytes / SLOW_PART))
    return made


def jobs_of(captures, ways):
    """(shape, protocol, way, options, capture, packets): the unverified replica traffic is a row of its own"""
    for (shape, protocol), (whole, packets, part, part_packets) in captures.items():
        for way in ways:
            source = (part, part_packets) if way in SLOW else (whole, packets)
            yield (shape, protocol, way, WAYS[way], *source)
            if shape == "replica":
                yield (shape + ", seals unverified", protocol, way, WAYS[way] + UNVERIFIED, *source)


def loaded(protocol, plugins):
    return plugins if protocol == "iggy" else plugins / "none"


def measure_all(jobs, rounds, plugins):
    """{(shape, protocol, way): Figures}, by a worker a core, two at most"""
    waiting, results = queue.Queue(), {}
    for job in jobs:
        waiting.put(job)

    def work(core):
        while True:
            try:
                shape, protocol, way, options, capture, packets = waiting.get_nowait()
            except queue.Empty:
                return
            results[shape, protocol, way] = measure(capture, packets, protocol, options, rounds, loaded(protocol, plugins), core)

    workers = [threading.Thread(target=work, args=(core,)) for core in sorted(os.sched_getaffinity(0))[:2]]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return results


# --- tables -----------------------------------------------------------------------------------------------------------
def spread(ratios):
    if len(ratios) < 2:
        return "%.2f" % ratios[0]
    low, _, high = statistics.quantiles(ratios, n=4)
    return "%.2f (%.2f-%.2f)" % (statistics.median(ratios), low, high)


def table(head, rows):
    return "\n".join(["| %s |" % " | ".join(head), "|---" * len(head) + "|"] + ["| %s |" % " | ".join(row) for row in rows])


def ratio_table(results, ways):
    rows = []
    for shape, protocol in dict.fromkeys(key[:2] for key in results):
        rows.append([shape, protocol] + [spread(results[shape, protocol, way].ratios()) for way in ways])
    return table(["shape", "protocol"] + ways, rows)


def absolute_row(shape, protocol, figures, start, fields):
    seconds = max(statistics.median(figures.decoded) - start, 0.001)
    more = statistics.median(figures.peaks) - statistics.median(figures.plain_peaks)
    return [shape, protocol, str(figures.packets), "%d k" % (figures.packets / seconds / 1000),
            "%d" % (figures.size / seconds / 1e6), "%.1f" % (seconds / figures.packets * 1e6),
            "%d" % (statistics.median(figures.peaks) / 1e6), "%+d" % (more / figures.packets), "%.0f" % fields]


def absolute_table(results, starts, fields):
    head = ["shape", "protocol", "packets", "packets/s", "MB/s", "µs a packet", "peak MB", "bytes a packet", "fields a packet"]
    rows = [absolute_row(shape, protocol, results[shape, protocol, "no output"], starts[protocol], number)
            for (shape, protocol), number in fields.items()]
    return table(head, rows)


def a_field(figures, fields):
    """Nanoseconds that a field costs, of all that is added to the same bytes as data."""
    return "%.0f" % ((statistics.median(figures.decoded) - statistics.median(figures.plain)) / figures.packets / fields * 1e9)


def field_table(results, ways, fields):
    return table(["shape", "protocol", "fields a packet"] + ["ns a field, " + way for way in ways],
                 [[shape, protocol, "%.0f" % number] + [a_field(results[shape, protocol, way], number) for way in ways]
                  for (shape, protocol), number in fields.items()])


def versions():
    tshark = subprocess.run(["tshark", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    series = re.search(r"\d+\.\d+\.\d+", tshark).group()
    return "%s, Wireshark %s, %d cores" % (datetime.date.today().isoformat(), series, os.cpu_count())


def legend(names, megabytes, rounds):
    kinds = "; ".join("%s: %s" % (name, shapes.SHAPES[name][0][:1].lower() + shapes.SHAPES[name][0][1:]) for name in names)
    return "%s; captures of %g MB, %d rounds, median (quartiles).\n\nShapes: %s." % (versions(), megabytes, rounds, kinds)


def put_into(readme, text):
    content = readme.read_text(encoding="utf-8")
    before, rest = content.split(MARKS[0], 1)
    after = rest.split(MARKS[1], 1)[1]
    readme.write_text("%s%s\n\n%s\n\n%s%s" % (before, MARKS[0], text, MARKS[1], after), encoding="utf-8")


def empty_capture(folder):
    path = folder / "empty.pcap"
    path.write_bytes(b"\xd4\xc3\xb2\xa1\x02\0\x04\0\0\0\0\0\0\0\0\0\0\0\4\0\1\0\0\0")
    return path


def start_of(folder, rounds, plugins):
    return statistics.median(taken(["-n", "-r", str(empty_capture(folder))] + NOTHING, plugins)[0] for _ in range(rounds))


def benchmark(arguments, folder, plugins):
    names, megabytes = arguments.shape or list(shapes.SHAPES), (arguments.mb or [60])[0]
    captures = make_captures(folder, megabytes, names)
    starts = {protocol: start_of(folder, arguments.rounds, loaded(protocol, plugins)) for protocol in PORTS}
    results = measure_all(list(jobs_of(captures, arguments.way)), arguments.rounds, plugins)
    fields = {(shape, protocol): fields_a_frame(part, packets, protocol, loaded(protocol, plugins))
              for (shape, protocol), (_, _, part, packets) in captures.items()}
    order = list(shapes.SHAPES)
    ordered = {key: results[key] for key in sorted(results, key=lambda key: (order.index(key[0].split(",")[0]), key))}
    parts = [legend(names, megabytes, arguments.rounds), "CPU, ratio to the same bytes as data:", ratio_table(ordered, arguments.way)]
    slow = [way for way in arguments.way if way in SLOW]
    if slow:
        parts += ["What a field adds to the same bytes as data where all fields are printed:", field_table(results, slow, fields)]
    if "no output" in arguments.way:
        parts += ["One pass without output; the start of tshark (%.2f s) is taken off, memory is what the dissector adds:"
                  % starts["iggy"], absolute_table(results, starts, fields)]
    return "\n\n".join(parts)


def memory(arguments, folder, plugins):
    """One pass without output over captures of growing size: state a packet and time a packet must stay."""
    start, rows = start_of(folder, 3, plugins), []
    for shape in arguments.shape or ["mid", "small"]:
        for megabytes in arguments.mb or [100, 500, 2000]:
            capture = folder / "growing.pcap"
            packets = shapes.write(capture, shape, "iggy", megabytes)
            figures = measure(capture, packets, "iggy", NOTHING, 1, plugins)
            rows.append([shape, "%g" % megabytes, str(packets), "%.1f" % (figures.peaks[0] / 1e6),
                         "%.1f" % ((figures.peaks[0] - figures.plain_peaks[0]) / packets),
                         "%.2f" % ((figures.decoded[0] - start) / packets * 1e6), "%.2f" % figures.ratios()[0]])
            capture.unlink()
    head = ["shape", "MB", "packets", "peak MB", "bytes a packet beyond data", "µs a packet", "ratio to data"]
    return "%s\n\n%s" % (versions(), table(head, rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mb", type=float, nargs="*")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--shape", nargs="*", choices=list(shapes.SHAPES))
    parser.add_argument("--way", type=lambda names: names.split(","), default=list(WAYS), metavar="NAME,...", help=", ".join(WAYS))
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--readme", type=Path, help="put the tables between the marks of this file")
    arguments = parser.parse_args()
    if not set(arguments.way) <= set(WAYS):
        parser.error("ways: " + ", ".join(WAYS))
    plugins = Path(os.environ.get("IGGY_PLUGIN_DIR", HERE.parent.parent / "build/plugins")).resolve()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for place in (folder, Path(temporary)):
            place.chmod(0o755)
        plugins = usable(plugins, Path(temporary))
        text = (memory if arguments.memory else benchmark)(arguments, folder, plugins)
    print(text)
    if arguments.readme:
        put_into(arguments.readme, text)


if __name__ == "__main__":
    main()
