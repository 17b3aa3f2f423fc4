# Every frame of every capture is found in its packet, and none is invented.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Truth: `*.expected.tsv` (tools/list_frames.py, from the packets) and `*.expected.jsonl` (the codec)."""

import collections
import csv
import json

import pytest

from conftest import CAPTURES

CARRIED = {"09_websocket_rust", "10b_tls_node", "11_quic_rust"}  # not over plain TCP
REORDERED = ("20_",)
CLUSTER = ("12_", "12b_", "12c_", "13_", "17_")  # some use port 9092, which is Kafka's

Truth = collections.namedtuple("Truth", "packet size command operation request code late")


def options_of(name):
    options = ["-o", "tcp.reassemble_out_of_order:" + ("TRUE" if name.startswith(REORDERED) else "FALSE")]
    if name.startswith(CLUSTER):
        options += ["-o", "tcp.try_heuristic_first:TRUE"]
    return options


def number(text):
    return None if text in ("-", None) else int(text)


def truth_of_tsv(path):
    with open(path, newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            kind = row["note"].split(" ")[0]
            if kind not in ("ok", "resync") or "lost" in row["note"] or "cut" in row["note"]:
                continue
            # A direction without a SYN begins with a search, which may need later bytes as evidence.
            searched = kind == "resync" or (row["offset"] == "0" and path.name.startswith("18_"))
            yield Truth(int(row["end_pkt"]), int(row["size"]), int(row["command"]), number(row["operation"]),
                        number(row["request"]), number(row["code"]), searched)


def truth_of_jsonl(path):
    with open(path) as lines:
        for line in lines:
            pdu = json.loads(line)
            with_header = pdu["command"] in (5, 8)
            yield Truth(pdu["frame"], pdu["size"], pdu["command"], pdu["operation"] if with_header else None,
                        pdu["request"] if with_header else None, pdu["code"] if with_header else None, False)


def cases():
    for path in sorted(CAPTURES.glob("real*/*.expected.tsv")):
        name = path.name[:-len(".pcapng.expected.tsv")]
        if name not in CARRIED:
            yield pytest.param(path.with_name(name + ".pcapng"), list(truth_of_tsv(path)), id="%s-%s" % (path.parent.name, name))
    for path in sorted(CAPTURES.glob("codec/*.expected.jsonl")):
        name = path.name[:-len(".expected.jsonl")]
        yield pytest.param(path.with_name(name + ".pcap"), list(truth_of_jsonl(path)), id=name)


def partial_frames(capture):
    """(packet, size) of frames that the list marks as lost or cut: they may show up, they need not."""
    path = capture.with_name(capture.name + ".expected.tsv")
    if not path.exists():
        return set()
    with open(path, newline="") as lines:
        return {int(row["size"]) for row in csv.DictReader(lines, delimiter="\t")
                if "lost" in row["note"] or "cut" in row["note"]}


def value(frame, name):
    texts = frame.values.get(name)
    return int(texts[0], 0) if texts else None


def matches(frame, truth):
    """Whether the frame shows what the list says."""
    if value(frame, "iggy.size") != truth.size or value(frame, "iggy.command") != truth.command:
        return False
    if truth.command not in (5, 8):
        return True
    wanted = [("iggy.operation", truth.operation), ("iggy.request", truth.request)]
    if truth.code is not None:
        wanted.append(("iggy.code", truth.code))
    return all(value(frame, name) == number_ for name, number_ in wanted)


def take(shown, truth):
    """Remove the frame of `truth` from what is shown; a frame found by search may appear in a later packet."""
    for packet in sorted(shown) if truth.late else [truth.packet]:
        if packet < truth.packet:
            continue
        for frame in shown.get(packet, []):
            if matches(frame, truth):
                shown[packet].remove(frame)
                return True
    return False


def describe(frame):
    return tuple(value(frame, "iggy." + name) for name in ("size", "command", "operation", "request", "code"))


@pytest.mark.parametrize("capture,truth", list(cases()))
def test_every_frame_is_found_and_none_invented(tshark, capture, truth, two_pass):
    assert truth, "the list is empty"
    shown = collections.defaultdict(list)
    for frame in tshark.frames(capture, *options_of(capture.name), two_pass=two_pass, check=False):
        shown[frame.packet].append(frame)
    missing = [one for one in truth if not take(shown, one)]
    partial = partial_frames(capture)
    invented = [(packet, *describe(frame)) for packet, frames in sorted(shown.items()) for frame in frames
                if value(frame, "iggy.size") not in partial]
    assert (missing, invented) == ([], [])


def test_legacy_protocol_is_not_claimed(tshark, two_pass):
    """The generation before 0.11.0 has other frames on the same port."""
    assert not tshark.frames("real012/07_legacy.pcapng", two_pass=two_pass)


def layers(tshark, capture, options, two_pass):
    """Per packet the protocols, with what is malformed."""
    return tshark.fields(capture, ["frame.number", "frame.protocols"], *options, two_pass=two_pass)


@pytest.mark.parametrize("capture", [case.values[0] for case in cases()], ids=[case.id for case in cases()])
def test_nothing_is_malformed(tshark, capture, two_pass):
    if capture.name.startswith("03b_"):
        pytest.skip("has foreign protocols on purpose")
    assert layers(tshark, capture, options_of(capture.name), two_pass)
