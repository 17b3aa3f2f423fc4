# Connections of servers before 0.9: named, framed, matched; and only where there is a login at the beginning on the port.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""The recorded session against the list beside it, and made ones for cuts, order and what must not be taken."""

import csv
import random
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


# --- losses and wrong lengths ------------------------------------------------------------------------------------------
def started():
    capture = synth.Capture()
    connection = capture.connection()
    connection.client(LOGIN)
    connection.server(reply(0, b"\x01\0\0\0"))
    return capture, connection


def pairs(tshark, capture, path, two_pass):
    """(packet, code, status, request's packet) of every packet behind the login's answer, None where there is none."""
    rows = legacy_rows(tshark, capture.write(path), two_pass=two_pass)[2:]
    return [(int(row[0][0]),) + tuple(int(row[i][0]) if row[i] else None for i in (2, 3, 5)) for row in rows]


def test_a_lost_request(tshark, tmp_path, two_pass):
    """Its answer is nobody's; the next pair is right again."""
    capture, connection = started()
    connection.lose("client", len(request(1)))
    alone = connection.server(reply(0))
    asked = connection.client(request(10))
    answered = connection.server(reply(1012))
    assert pairs(tshark, capture, tmp_path / "lost.pcap", two_pass) == [
        (alone, None, 0, None), (asked, 10, None, None), (answered, 10, 1012, asked)]


def test_a_lost_reply(tshark, tmp_path, two_pass):
    capture, connection = started()
    unanswered = connection.client(request(1))
    connection.lose("server", len(reply(0, bytes(20))))
    asked = connection.client(request(10))
    answered = connection.server(reply(1012))
    later = connection.client(request(20))
    assert pairs(tshark, capture, tmp_path / "lost.pcap", two_pass) == [
        (unanswered, 1, None, None), (asked, 10, None, None), (answered, 10, 1012, asked), (later, 20, None, None)]


def test_a_lost_part_of_a_request(tshark, tmp_path, two_pass):
    """What comes behind the hole is no request, whatever its bytes look like."""
    capture, connection = started()
    body = bytes(1000) + request(1) * 100
    asked = request(101, body)
    connection.client(asked[:600])
    connection.lose("client", 408)
    connection.client(asked[1008:1400])
    connection.client(asked[1400:])
    answered = connection.server(reply(0))
    again = connection.client(request(10))
    last = connection.server(reply(0))
    found = pairs(tshark, capture, tmp_path / "part.pcap", two_pass)
    assert [row for row in found if row[0] >= again] == [(again, 10, None, None), (last, 10, 0, again)]
    assert all(row[1] in (None, 101) for row in found if row[0] < answered)


def test_a_lost_part_of_a_reply(tshark, tmp_path, two_pass):
    """Zeros behind the hole are no empty replies."""
    capture, connection = started()
    asked = connection.client(request(100))
    whole = reply(0, bytes(3000))
    connection.server(whole[:1000])
    connection.lose("server", 1000)
    first_behind = connection.server(whole[2000:])
    again = connection.client(request(10))
    last = connection.server(reply(0))
    found = pairs(tshark, capture, tmp_path / "part.pcap", two_pass)
    assert [row for row in found if row[0] >= first_behind and row[2] is not None] == [(last, 10, 0, again)]
    assert asked < again and (again, 10, None, None) in found


@pytest.mark.parametrize("bad", [struct.pack("<II", 3, 1), struct.pack("<II", 0, 1), struct.pack("<II", 0xFFFFFFFF, 1),
                                 struct.pack("<II", 64 << 20 | 1, 1)], ids=["3", "0", "all ones", "over the limit"])
def test_wrong_lengths(tshark, tmp_path, bad, two_pass):
    capture, connection = started()
    wrong = connection.client(request(1) + bad + b"rest")
    again = connection.client(request(10))
    path = capture.write(tmp_path / "wrong.pcap")
    assert [row[0] for row in tshark.fields(path, ["frame.number"], "-Y", "iggy.legacy.expert.out_of_step",
                                            two_pass=two_pass)] == [[str(wrong)]]
    assert [row[:2] for row in pairs(tshark, capture, path, two_pass)] == [(wrong, 1), (again, 10)]


def test_names_in_filters(tshark, tmp_path):
    capture, connection = started()
    asked = connection.client(request(202))
    answered = connection.server(reply(1012))
    path = capture.write(tmp_path / "names.pcap")
    for text, packets in (('iggy.legacy.code == "create_stream"', [asked, answered]),
                          ('iggy.legacy.status == "%s"' % ERRORS[1012], [answered])):
        assert [int(row[0][0]) for row in tshark.fields(path, ["frame.number"], "-Y", text)] == packets


@pytest.mark.parametrize("seed", range(3))
def test_bad_bytes(tshark, tmp_path, seed, two_pass):
    chance, capture = random.Random(seed), synth.Capture()
    for _ in range(20):
        connection = capture.connection()
        connection.client(LOGIN)
        for _ in range(20):
            data = bytearray(chance.choice([request(1), request(101, bytes(300)), reply(), reply(0, bytes(90)), reply(1012)]))
            if chance.random() < 0.3:
                data[chance.randrange(len(data))] = chance.randrange(256)
            if chance.random() < 0.1:
                connection.lose("client", chance.randrange(1, 50))
            connection.send(chance.choice(["client", "server"]), bytes(data), mss=chance.choice([None, None, 1, 5, 100]))
    assert len(legacy_rows(tshark, capture.write(tmp_path / "bad.pcap"), "-V", two_pass=two_pass)) > 100
