# Connections of servers before 0.9: named, framed, matched; and only where there is a login at the beginning on the port.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""The recorded session against the list beside it, and made ones for cuts, order and what must not be taken."""

import csv
import struct

import pytest
import synth
from words import CODES, ERRORS

CAPTURE = "real012/07_legacy.pcapng"
NAME = "Iggy (before 0.9)"
FIELDS = ["frame.number", "iggy.legacy.length", "iggy.legacy.code", "iggy.legacy.status", "iggy.legacy.response_in",
          "iggy.legacy.response_to", "iggy.legacy.response_time", "iggy.legacy.body", "frame.time_relative"]


def listed(captures):
    with open(captures / (CAPTURE + ".legacy.tsv"), newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def request(code, body=b""):
    return struct.pack("<II", 4 + len(body), code) + body


def reply(status=0, body=b""):
    return struct.pack("<II", status, len(body)) + body


LOGIN = request(38, synth.name("iggy") + synth.name("secret") + synth.text32("0.10.0") + synth.text32(""))
OLD_LOGIN = request(38, synth.name("iggy") + synth.name("secret"))
TOKEN_LOGIN = request(44, synth.name("a-token"))


def legacy_rows(tshark, capture, *options, two_pass=False):
    return tshark.fields(capture, FIELDS, "-Y", "iggy.legacy", *options, two_pass=two_pass)


def test_recorded_session(tshark, captures, two_pass):
    """Every frame of the list: where it ends, its length, code and status."""
    rows = legacy_rows(tshark, CAPTURE, two_pass=two_pass)
    expected = listed(captures)
    assert len(expected) > 40
    assert [int(row[0][0]) for row in rows] == [int(row["end_pkt"]) for row in expected]
    code = None
    for row, frame in zip(rows, expected):
        size = int(frame["size"])
        if frame["direction"] == "C>S":
            code = frame["code"]
            assert row[1:4] == [[str(size - 4)], [code], []]
            assert CODES[int(code)] == frame["name"]
        else:
            assert row[1:4] == [[str(size - 8)], [code], [frame["status"]]]


def test_recorded_links(tshark, captures, two_pass):
    """One request at a time: each reply belongs to the request before it. Links forward need a second pass."""
    rows = legacy_rows(tshark, CAPTURE, two_pass=two_pass)
    for asked, answered in zip(rows[::2], rows[1::2]):
        assert answered[5] == asked[0]
        assert asked[4] == (answered[0] if two_pass else [])
        assert abs(float(answered[6][0]) - (float(answered[8][0]) - float(asked[8][0]))) < 1e-8


def test_recorded_lines(tshark, captures):
    lines = tshark.info(CAPTURE)
    protocols = tshark.fields(CAPTURE, ["_ws.col.protocol" if tshark.version >= (4, 2) else "_ws.col.Protocol"])
    for frame in listed(captures):
        packet = int(frame["end_pkt"]) - 1
        assert protocols[packet] == [[NAME]]
        if frame["direction"] == "C>S":
            assert lines[packet] == "Request " + frame["name"]
        else:
            status = int(frame["status"])
            assert lines[packet] == "Reply %s, %s" % (frame["name"], ERRORS[status] if status else "ok")


def test_it_is_not_todays_iggy(tshark):
    assert tshark.fields(CAPTURE, ["frame.number"], "-Y", "iggy") == []


@pytest.mark.parametrize("login", [LOGIN, OLD_LOGIN, TOKEN_LOGIN], ids=["0.10", "older", "token"])
@pytest.mark.parametrize("mss", [None, 1, 3, 7, 8, 9])
def test_cuts(tshark, tmp_path, login, mss, two_pass):
    """The login in one segment; what follows cut anywhere, several frames a segment, replies in the order of the requests."""
    capture = synth.Capture()
    connection = capture.connection()
    first = connection.client(login)
    connection.server(reply(0, b"\x01\0\0\0"))
    asked = connection.client(request(1) + request(202, synth.name("shop")) + request(10), mss=mss)
    answered = connection.server(reply() + reply(1012) + reply(0, bytes(40)), mss=mss)
    capture.write(tmp_path / "cuts.pcap")
    rows = legacy_rows(tshark, tmp_path / "cuts.pcap", two_pass=two_pass)
    flat = {number: [value for row in rows for value in row[number]] for number in range(len(FIELDS))}
    codes = [[38 if login is not TOKEN_LOGIN else 44] * 2, [1, 202, 10] * 2]
    assert flat[2] == [str(code) for code in codes[0] + codes[1]]
    assert flat[3] == ["0", "0", "1012", "0"]
    assert flat[1] == [str(len(login) - 4), "4", "4", "9", "4", "0", "0", "40"]
    assert rows[0][0] == [str(first)]
    if mss is None:
        assert rows[2][0] == [str(asked)] and rows[3][0] == [str(answered)]
        assert rows[3][5] == [str(asked)] * 3


def test_unknown_codes_and_errors(tshark, tmp_path):
    capture = synth.Capture()
    connection = capture.connection()
    connection.client(LOGIN)
    connection.server(reply())
    connection.client(request(987))
    connection.server(reply(54321))
    capture.write(tmp_path / "unknown.pcap")
    assert [line for line in tshark.info(tmp_path / "unknown.pcap") if "987" in line] == ["Request code 987",
                                                                                       "Reply code 987, error 54321"]


def test_secrets_can_be_hidden(tshark, tmp_path):
    capture = synth.Capture()
    connection = capture.connection()
    connection.client(LOGIN)
    connection.server(reply(0, b"\x01\0\0\0"))
    capture.write(tmp_path / "secret.pcap")
    hide = ["-o", "iggy.hide_secrets:TRUE"]
    shown = legacy_rows(tshark, tmp_path / "secret.pcap")
    assert b"secret".hex() in shown[0][7][0] and shown[1][7] == ["01000000"]
    hidden = legacy_rows(tshark, tmp_path / "secret.pcap", *hide)
    assert hidden[0][7] == [] and hidden[1][7] == ["01000000"]


def test_out_of_step(tshark, tmp_path):
    """A length that no frame has ends the dissection of the segment with a note, not with an error."""
    capture = synth.Capture()
    connection = capture.connection()
    connection.client(LOGIN)
    connection.client(b"\xff" * 20)
    capture.write(tmp_path / "lost.pcap")
    assert len(tshark.fields(tmp_path / "lost.pcap", ["frame.number"], "-Y", "iggy.legacy.expert.out_of_step")) == 1


# --- what must not be taken --------------------------------------------------------------------------------------------
def write_first(path, data, port=8090, handshake=True, cuts=()):
    capture = synth.Capture()
    connection = capture.connection(server_port=port, handshake=handshake)
    connection.client(data, cuts=cuts)
    connection.server(reply(0, b"\x01\0\0\0"))
    connection.client(request(1))
    connection.server(reply())
    return capture.write(path)


def test_taken_on_the_port(tshark, tmp_path):
    for data in (LOGIN, OLD_LOGIN, TOKEN_LOGIN, request(1)):
        write_first(tmp_path / "port.pcap", data)
        assert len(legacy_rows(tshark, tmp_path / "port.pcap")) == 4


def test_another_port_counts_when_it_is_set(tshark, tmp_path):
    write_first(tmp_path / "other.pcap", LOGIN, port=7777)
    assert legacy_rows(tshark, tmp_path / "other.pcap") == []
    assert len(legacy_rows(tshark, tmp_path / "other.pcap", "-o", "iggy.tcp.port:7777")) == 4
    assert len(legacy_rows(tshark, tmp_path / "other.pcap", "-d", "tcp.port==7777,iggy")) == 4


@pytest.mark.parametrize("data", [
    request(202, synth.name("shop")),                       # a command, but no login
    request(38, b"\x04iggy\x06secre"),                      # password longer than the frame
    request(38, b"\x00\x06secret"),                         # no user
    request(38, synth.name("iggy") + synth.name("secret") + b"\x01"),
    request(44, synth.name("a-token") + b"\0"),
    request(1, b"\0"),                                      # a ping has no body
    LOGIN[:-1],                                             # not all of it
    struct.pack("<II", 4, 999),
    b"GET / HTTP/1.1\r\n\r\n",
    bytes(64),
    b"\x04\0\0\0",
], ids=range(11))
def test_not_taken(tshark, tmp_path, data, two_pass):
    write_first(tmp_path / "not.pcap", data)
    assert legacy_rows(tshark, tmp_path / "not.pcap", two_pass=two_pass) == []


def test_not_taken_without_its_beginning(tshark, tmp_path, two_pass):
    write_first(tmp_path / "mid.pcap", LOGIN, handshake=False)
    assert legacy_rows(tshark, tmp_path / "mid.pcap", two_pass=two_pass) == []
