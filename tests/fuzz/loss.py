#!/usr/bin/env python3
# Captures with packets lost, doubled, out of order, or cut short: what is still found, and whether anything is invented.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""loss.py [--short]: each real capture over TCP with 1, 5, 20 % of its packets dropped, doubled or moved; snaplen 96, 300, 400.

Truth is tools/list_frames.py on the same damaged packets: the frames that it notes "ok" or "resync". Recall is the part of
them that is shown; precision the part of what is shown that is a frame of the undamaged capture. Links are right if a
reply points to the request that the undamaged capture pairs it with. TCP withholds what it takes for a retransmission
(a segment that fills a hole late), and with out-of-order reassembly on everything behind a hole that is never filled: these
frames are found neither by us nor by anybody. With moved packets and out-of-order reassembly off they do not count: frames
with a byte in a packet that TCP marks so. The table for moved packets shows both settings.
Needs the variables that tests/conftest.py describes.
"""

import argparse
import collections
import functools
import random
import struct
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from conftest import CAPTURES, Tshark  # noqa: E402
import list_frames  # noqa: E402

NOT_TCP = ("09_", "10b_", "11_", "07_")
ALREADY_LOSSY = ("19_", "20_", "18_", "03b_")
# 64 and 65, 68 and 72..74 answer 132, 136, 138 and 150 (framing.md 7)
REWRITTEN = {64: 132, 65: 136, 68: 138, 72: 150, 73: 150, 74: 150}

VERBOSE = False

Result = collections.namedtuple("Result", "expected found shown invented replies wrong")


def sources():
    return [path for path in sorted(CAPTURES.glob("real*/*.pcapng")) if not path.name.startswith(NOT_TCP + ALREADY_LOSSY)]


def packets_of(path):
    """[(time, data)], link type."""
    out, links = [], set()
    for _number, when, link, data in list_frames.packets(str(path)):
        if link >= 0:
            out.append((when, bytes(data)))
            links.add(link)
    return out, links.pop()


def write(path, packets, link, snaplen=262144):
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, snaplen, link))
        for when, data in packets:
            micros = int(when * 1_000_000)
            out.write(struct.pack("<IIII", micros // 1_000_000, micros % 1_000_000, min(len(data), snaplen), len(data)) + data[:snaplen])


def damaged(packets, link, kind, rate, seed):
    """Order of the packets' numbers (from 1) after the damage. Only packets with payload are moved."""
    dice, order = random.Random("%s-%s-%d" % (kind, rate, seed)), []
    hit = [dice.random() < rate for _ in packets]
    for number in range(1, len(packets) + 1):
        if kind == "dropped" and hit[number - 1]:
            continue
        order.append(number)
        if kind == "doubled" and hit[number - 1]:
            order.append(number)
    if kind == "moved":
        for place in range(len(order) - 1, -1, -1):
            if hit[place] and payload(link, packets[place][1]):
                order.insert(min(len(order), place + dice.randint(1, 3)), order.pop(place))
    return order


def fingerprint(row):
    """What identifies a frame apart from its place."""
    number = [None if row[name] == "-" else int(row[name]) for name in ("operation", "request")]
    return int(row["size"]), int(row["command"]), *(number if int(row["command"]) in (5, 8) else (None, None))


def whole(rows):
    return [row for row in rows if str(row["note"]).startswith(("ok", "resync")) and "lost" not in row["note"] and "cut" not in row["note"]]


def shown_frames(tshark, path, options, two_pass):
    """[(packet, fingerprint, response_to)]"""
    out = []
    for frame in tshark.frames(path, *options, two_pass=two_pass, check=False):
        value = {name: int(frame.values["iggy." + name][0], 0) for name in ("size", "command", "operation", "request")
                 if frame.values.get("iggy." + name)}
        if "command" not in value:
            continue
        with_request = value["command"] in (5, 8)
        link = frame.values.get("iggy.response_to")
        out.append((frame.packet, (value["size"], value["command"], value.get("operation") if with_request else None,
                                   value.get("request") if with_request else None), int(link[0]) if link else None))
    return out


def withheld(tshark, path, options):
    """Packets that TCP keeps to itself."""
    marks = ["tcp.analysis." + name for name in ("retransmission", "fast_retransmission", "spurious_retransmission", "out_of_order")]
    rows = tshark.fields(path, ["frame.number"], "-Y", " or ".join(marks), *options, check=False)
    return {int(number[0]) for (number,) in rows}


def handed_on(tshark, path, options, truth):
    """The frames that TCP does not keep to itself, each where its last byte comes: nobody waits for what is before it."""
    kept, out = withheld(tshark, path, options), []
    for row in truth:
        first, last = row["first_pkt"], row["last_pkt"]
        if not kept.intersection([first] if first == last else range(min(first, last), max(first, last, row["end_pkt"]) + 1)):
            out.append(dict(row, end_pkt=last))
    return out


def place_of(row):
    return row["tcp_stream"], row["direction"], row["offset"]


def pairs_of(rows):
    """Of an undamaged capture: place of a reply -> place of its request; the oldest first, as servers answer."""
    waiting, pairs = collections.defaultdict(list), {}
    for row in rows:
        key = row["tcp_stream"], row["request"]
        if row["command"] == 5 and row["code"] != 108:
            waiting[key].append(row)
        elif row["command"] == 8:
            operation = REWRITTEN.get(row["operation"], row["operation"])
            request = next((one for one in waiting[key] if one["operation"] == operation), None)
            if request:
                pairs[place_of(row)] = place_of(request)
                waiting[key].remove(request)
    return pairs


def packets_of_frames(original, damaged_rows, order):
    """Place of a frame -> the packets of the damaged capture in which it may show up.

    What is only lost or doubled stays in the packet that it was in; what is moved is where its last byte or the last hole
    before it comes.
    """
    if damaged_rows is not None:
        return {place_of(row): {row["end_pkt"], row["last_pkt"]} for row in damaged_rows}
    now = collections.defaultdict(set)
    for place, number in enumerate(order, 1):
        now[number].add(place)
    return {place_of(row): now[row["end_pkt"]] for row in original}


def wanted_links(original, where, unique):
    """(packet, fingerprint) of a reply -> packets of its request, in the damaged capture.

    Where request numbers are `unique` (since 0.12.0), the same request on another connection is a retry: it counts as well.
    """
    marks = {place_of(row): fingerprint(row) for row in original}
    copies = collections.defaultdict(set)
    for row in original:
        if unique and row["command"] == 5:
            copies[fingerprint(row)] |= where.get(place_of(row), set())
    links = collections.defaultdict(set)
    for answer, question in pairs_of(original).items():
        for packet in where.get(answer, ()):
            links[packet, marks[answer]] |= where.get(question, set()) | copies[marks[question]]
    return links


def judge(tshark, source, path, options, two_pass, truth, where):
    """Compare what is shown of the damaged capture at `path` with the truth."""
    original = whole(list_frames.list_file(str(source)))
    known = set(map(fingerprint, original))
    known |= {(size, command, None, None) for size, command, _operation, _request in known}  # the capture cuts the header
    links = wanted_links(original, where(original), source.parent.name == "real012")
    left = collections.Counter((row["end_pkt"], fingerprint(row)) for row in truth)
    late = collections.Counter(fingerprint(row) for row in truth if str(row["note"]).startswith("resync"))
    shown = shown_frames(tshark, path, options, two_pass)
    found = invented = replies = wrong = 0
    for packet, mark, link in shown:
        if left[packet, mark]:
            left[packet, mark] -= 1
            found += 1
        elif late[mark]:
            late[mark] -= 1
            found += 1
        invented += mark not in known
        right = links.get((packet, mark))
        if mark[1] == 8 and link and right is not None:
            replies += 1
            wrong += link not in right
            if VERBOSE and link not in right:
                print("%s: packet %d is linked to %d, not to %s" % (path.name, packet, link, right or "one that is lost"))
    return Result(len(truth), found, len(shown), invented, replies, wrong)


def options_for(source, out_of_order):
    options = ["-o", "tcp.reassemble_out_of_order:%s" % ("TRUE" if out_of_order else "FALSE")]
    if source.name.startswith(("12", "13", "17")):
        options += ["-o", "tcp.try_heuristic_first:TRUE"]
    return options


def try_loss(tshark, folder, source, two_pass, kind, rate, seed, out_of_order):
    packets, link = packets_of(source)
    order = damaged(packets, link, kind, rate, seed)
    path = Path(folder) / ("%s-%s-%s-%d.pcap" % (source.stem, kind, rate, seed))
    start = packets[0][0]
    write(path, [(start + place / 1000, packets[number - 1][1]) for place, number in enumerate(order)], link)
    truth = whole(list_frames.list_file(str(path)))
    rows = truth if kind == "moved" else None
    if kind == "moved" and not out_of_order:
        truth = handed_on(tshark, path, options_for(source, False), truth)
    result = judge(tshark, source, path, options_for(source, out_of_order), two_pass, truth,
                   lambda original: packets_of_frames(original, rows, order))
    tshark.forget(path)
    return result


def try_snaplen(tshark, folder, source, two_pass, snaplen):
    """Truth: frames that lie whole in the bytes kept of one packet, from the packet's first byte on."""
    packets, link = packets_of(source)
    path = Path(folder) / ("%s-snap-%d.pcap" % (source.stem, snaplen))
    write(path, packets, link, snaplen)
    truth, starts = [], set()
    for row in whole(list_frames.list_file(str(source))):
        data = packets[row["end_pkt"] - 1][1]
        kept = snaplen - (len(data) - len(payload(link, data)))
        alone = row["first_pkt"] == row["end_pkt"] and row["first_pkt"] not in starts
        starts.add(row["end_pkt"])
        if alone and row["size"] <= kept and payload(link, data)[48:52] == struct.pack("<I", row["size"]):
            truth.append(row)
    result = judge(tshark, source, path, options_for(source, False), two_pass, truth,
                   lambda original: packets_of_frames(original, None, range(1, len(packets) + 1)))
    tshark.forget(path)
    return result


def payload(link, data):
    tcp = list_frames.ip_of(link, data)[3]
    return bytes(tcp[(tcp[12] >> 4) * 4:])


def plan(short):
    """(label, function of tshark, folder, source, two_pass) of every kind of damage."""
    rates, seeds = ((0.05,), (1,)) if short else ((0.01, 0.05, 0.20), (1, 2))
    for kind in ("dropped", "doubled", "moved"):
        for rate in rates:
            for seed in seeds:
                for out_of_order in ((False, True) if kind == "moved" else (False,)):
                    label = "%s %2.0f %%%s" % (kind, 100 * rate, ", reassembled" if out_of_order else "")
                    yield label, functools.partial(try_loss, kind=kind, rate=rate, seed=seed, out_of_order=out_of_order)
    for snaplen in (96, 300, 400):
        yield "snaplen %d" % snaplen, functools.partial(try_snaplen, snaplen=snaplen)


def run(tshark, short, chosen=None):
    """Sums of Result by label, over all sources (or those of `chosen`)."""
    sums = {}
    with tempfile.TemporaryDirectory() as folder:
        for label, attempt in plan(short):
            for number, source in enumerate(chosen or sources()):
                result = attempt(tshark, folder, source, number % 2 == 1)
                sums[label] = Result(*map(sum, zip(sums.get(label, (0,) * 6), result)))
    return sums


def table(sums):
    lines = ["%-24s %8s %8s %8s %9s %8s %7s %7s" % ("damage", "frames", "found", "recall", "invented", "precis.", "links", "wrong")]
    for label, r in sums.items():
        recall = 100 * r.found / r.expected if r.expected else 100
        precision = 100 * (r.shown - r.invented) / r.shown if r.shown else 100
        lines.append("%-24s %8d %8d %7.2f%% %9d %7.2f%% %7d %7d" % (label, r.expected, r.found, recall, r.invented, precision,
                                                                 r.replies, r.wrong))
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="name the wrong links")
    arguments = parser.parse_args()
    global VERBOSE
    VERBOSE = arguments.verbose
    tshark = Tshark()
    sums = run(tshark, arguments.short)
    tshark.close()
    print(table(sums))
    return 1 if any(r.invented or r.wrong for r in sums.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
