# A filter finds the frames that show its field: the dissector leaves out what no filter names, and must leave out nothing else.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""A filter hands the dissector a tree in which only the fields that it names count. Here each registered field is a filter of its
own, in one sharkd for all of them, and finds exactly the packets in whose whole tree (PDML) the field stands."""

import json
import subprocess

import pytest

CAPTURES = [
    "made/incident.pcap", "codec/client-0.12.2.pcap", "codec/client-0.11.0.pcap", "codec/replica-0.12.2.pcap",
    "codec/replica-0.11.0.pcap", "codec/segments-0.12.0-midframe.pcap", "real012/05_errors.pcapng", "real012/07_legacy.pcapng",
    "real012/04_deferred.pcapng", "real/01c_admin_cli.pcapng",
]
ONE_PASS = ["iggy.code", "iggy.size", "iggy.checksum.status", "iggy.reserved", "iggy.version", "iggy.response_to",
            "iggy.session.user", "iggy.stream.name", "iggy.message.offset", "iggy.expert.failed"]


@pytest.fixture(scope="module")
def names(tshark):
    """All registered fields."""
    rows = [line.split("\t") for line in tshark.run(["-G", "fields"]).splitlines()]
    return sorted({row[2] for row in rows if row[0] == "F" and row[2].startswith("iggy.")})


def found_by(sharkd, capture, filters):
    """For each filter the set of packets that it finds; one dissection of the capture for each, after a first pass."""
    requests = [{"method": "load", "params": {"file": str(sharkd.readable(capture))}}]
    requests += [{"method": "frames", "params": {"filter": text}} for text in filters]
    lines = [json.dumps(dict(request, jsonrpc="2.0", id=number)) for number, request in enumerate(requests, 1)]
    result = subprocess.run(sharkd._command(["-"]), input="\n".join(lines) + "\n", env=sharkd.environment,
                            cwd=str(sharkd.folder), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600)
    answers = {}
    for line in result.stdout.splitlines():
        if line.startswith("{"):
            answer = json.loads(line)
            answers[answer["id"]] = answer.get("result", answer)
    assert answers[1] == {"status": "OK"}
    bad = {text: answers[number] for number, text in enumerate(filters, 2) if not isinstance(answers[number], list)}
    assert not bad
    return {text: {packet["num"] for packet in answers[number]} for number, text in enumerate(filters, 2)}


def shown_in(tshark, capture, two_pass):
    """For each field the set of packets in whose tree it stands."""
    shown = {}
    for number, packet in tshark.pdml(capture, two_pass=two_pass, check=False):
        for element in packet.iter():
            shown.setdefault(element.get("name"), set()).add(number)
    return shown


@pytest.mark.parametrize("capture", CAPTURES)
def test_each_field_finds_the_packets_that_show_it(tshark, sharkd, names, capture):
    shown = shown_in(tshark, capture, two_pass=True)
    found = found_by(sharkd, capture, names)
    assert len(names) > 600 and sum(1 for name in names if shown.get(name)) > 5
    assert {name: found[name] for name in names} == {name: shown.get(name, set()) for name in names}


def test_two_fields_find_the_packets_that_show_both(tshark, sharkd):
    shown = shown_in(tshark, "made/incident.pcap", two_pass=True)
    pairs = [(first, second) for first in ONE_PASS for second in ONE_PASS if first < second]
    found = found_by(sharkd, "made/incident.pcap", ["%s && %s" % pair for pair in pairs])
    assert found == {"%s && %s" % (first, second): shown.get(first, set()) & shown.get(second, set()) for first, second in pairs}


@pytest.mark.parametrize("name", ONE_PASS)
def test_in_one_pass_too(tshark, name):
    capture = "made/incident.pcap"
    rows = tshark.fields(capture, ["frame.number"], "-Y", name, check=False)
    assert {int(row[0][0]) for row in rows} == shown_in(tshark, capture, two_pass=False).get(name, set())
