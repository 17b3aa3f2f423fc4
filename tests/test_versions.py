# How the version of a connection is known: from logins, signs, layouts, sessions, the cluster, or the preference.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures made by hand, and the codec's without what tells their versions at once."""

import pytest

import pair_frames
import synth
from synth import ident, login_body, login_reply, reply, u32
from test_conversation import (BIND, CHECKSUM_0_11, CHECKSUM_0_12, CLIENT, PING, STREAM, Session, dissect, expert,  # noqa: F401
                               number, stream_details)


def version(frame):
    return number(frame, "iggy.version"), number(frame, "iggy.version.known")


PREFERENCE, SIGN, LAYOUT, CLUSTER, SESSION, LOGIN = range(6)


@pytest.mark.parametrize("text", ["0.11.0", "0.12.0", "0.12.1", "0.12.2"])
def test_version_from_the_login(dissect, text, two_pass):
    capture = synth.Capture()
    session = Session(capture, login=False)
    before = session.ask(PING, 0, session=0)
    login = session.ask(operation=1, number=0, body=login_body(text), session=0)
    after = session.ask(PING, 1)
    frames = dissect(capture, two_pass)
    assert version(frames[before][0]) == (0x3000, PREFERENCE)
    assert version(frames[login][0]) == (synth.VERSIONS[text], LOGIN)
    assert version(frames[after][0]) == (synth.VERSIONS[text], LOGIN)


def test_version_from_the_server_alone(dissect, two_pass):
    capture = synth.Capture()
    session = Session(capture, login=False)
    answered = session.tcp.server(reply(login_reply(version="0.12.1"), operation=1, request=0))
    after = session.ask(PING, 1)
    frames = dissect(capture, two_pass)
    assert version(frames[answered][0]) == (0x3001, LOGIN)
    assert version(frames[after][0]) == (0x3001, LOGIN)


@pytest.mark.parametrize("values, expected", [
    (dict(operation=129, number=1), 0x2C00), (dict(operation=142, number=1), 0x2C00), (dict(code=103), 0x2C00),
    (dict(code=123), 0x2C00), (dict(code=107), 0x3000), (dict(code=109), 0x3001), (dict(code=17), 0x3000),
    (dict(operation=130, number=1, request_checksum=CHECKSUM_0_11), 0x2C00),
    (dict(operation=130, number=1, request_checksum=CHECKSUM_0_12), 0x3000), (dict(code=1, minimum_metadata_op=9), 0x3000)])
def test_version_from_signs(dissect, values, expected):
    """The preference says 0.11.0 where the sign says more, and the other way round."""
    capture = synth.Capture()
    session = Session(capture, login=False)
    asked = session.ask(**values)
    other = "0.12.0" if expected == 0x2C00 else "0.11.0"
    frames = dissect(capture, options=["-o", "iggy.default_version:" + other])
    assert version(frames[asked][0]) == (expected, SIGN)


@pytest.mark.parametrize("text, expected", [("0.11.0", 0x2C00), ("0.12.2", 0x3000)])
def test_version_from_a_layout(dissect, text, expected, two_pass):
    capture = synth.Capture()
    session = Session(capture, login=False)
    session.ask(STREAM, 1, body=ident(1))
    answered = session.answer(1, body=stream_details(text))
    other = "0.12.0" if expected == 0x2C00 else "0.11.0"
    frames = dissect(capture, two_pass, options=["-o", "iggy.default_version:" + other])
    assert version(frames[answered][0]) == (expected, LAYOUT)
    assert not expert(frames[answered][0], "layout")


def test_an_assumed_version_is_noted(dissect):
    """A list of options without entries fits all versions."""
    capture = synth.Capture()
    session = Session(capture, login=False)
    session.ask(13, 1, body=b"\x02")
    answered = session.answer(1, body=u32(0))
    session.ask(PING, 2)
    pong = session.answer(2)
    frames = dissect(capture)
    assert expert(frames[answered][0], "version_assumed")
    assert not expert(frames[pong][0], "version_assumed")


def test_version_of_a_session_holds_on_its_next_connection(dissect, two_pass):
    capture = synth.Capture()
    Session(capture, "0.12.1")
    other = Session(capture, login=False)
    asked = other.ask(PING, 5)
    frames = dissect(capture, two_pass)
    assert version(frames[asked][0]) == (0x3001, SESSION)


def test_version_of_a_cluster(dissect, two_pass):
    """Another client of the same cluster, whose login is not in the capture."""
    capture = synth.Capture()
    Session(capture, "0.11.0")
    other = Session(capture, login=False, client=CLIENT + 1)
    asked = other.ask(PING, 5)
    answered = other.answer(5, cluster=synth.CLUSTER)
    frames = dissect(capture, two_pass)
    assert version(frames[asked][0]) == (0x3000, PREFERENCE)
    assert version(frames[answered][0]) == (0x2C00, CLUSTER)


def test_a_version_that_is_newer(dissect, two_pass):
    capture = synth.Capture()
    session = Session(capture, login=False)
    body = u32(0 << 20 | 99 << 10 | 7) + login_body()[4:]
    login = session.ask(operation=1, number=0, body=body, session=0)
    after = session.ask(PING, 1)
    frames = dissect(capture, two_pass)
    for packet in (login, after):
        assert version(frames[packet][0]) == (99 << 10 | 7, LOGIN)
        assert expert(frames[packet][0], "version_newer")


def test_an_eviction_tells_the_versions_of_the_server(dissect, two_pass):
    capture = synth.Capture()
    session = Session(capture, login=False)
    session.ask(operation=1, number=0, body=u32(99 << 10) + login_body()[4:], session=0)
    evicted = session.tcp.server(synth.frame(13, client=CLIENT, reason=14, server_protocol_version=0x2C00,
                                             server_protocol_version_min=0x2C00))
    frames = dissect(capture, two_pass)
    assert version(frames[evicted][0]) == (0x2C00, SIGN)


@pytest.mark.parametrize("text", ["0.11.0", "0.12.1"])
def test_the_preference(dissect, text):
    capture = synth.Capture()
    session = Session(capture, login=False)
    asked = session.ask(PING, 1)
    frames = dissect(capture, options=["-o", "iggy.default_version:" + text])
    assert version(frames[asked][0]) == (synth.VERSIONS[text], PREFERENCE)


@pytest.mark.parametrize("capture, packed", [("codec/replica-0.11.0.pcap", 0x2C00), ("codec/replica-0.12.0.pcap", 0x3000),
                                             ("codec/replica-0.12.2.pcap", 0x3002)])
def test_version_between_servers(tshark, capture, packed, two_pass):
    """Nothing of the handshake tells it; the first prepare does, 0.12.2 the first body that is its own."""
    frames = tshark.frames(capture, "-Y", "iggy", two_pass=two_pass)
    known = [number(f, "iggy.version") for f in frames if number(f, "iggy.version.known") != PREFERENCE]
    assert len(known) > len(frames) - 10
    wrong = [v for v in known if v != packed]
    assert set(wrong) <= {0x3000} and len(wrong) < 8
    assert known[-1] == packed


@pytest.mark.parametrize("tail, packed", [({}, 0x2C00), ({"session": 7}, 0x3000)])
def test_version_from_a_log_suffix(dissect, tail, packed, two_pass):
    """A restart shows prepares only in the suffixes of its view change: a client's operation names its session since 0.12."""
    capture = synth.Capture()
    link = capture.connection(server_port=9090)
    link.client(synth.frame(14, cluster=synth.CLUSTER, replica=1))
    entry = synth.frame(6, cluster=synth.CLUSTER, op=5, operation=128, client=CLIENT, group=1 << 63, request=1, **tail)
    vote = link.client(synth.frame(11, entry, cluster=synth.CLUSTER, replica=1, view=3, op=5, commit=4, group=1 << 63))
    other = "0.12.0" if packed == 0x2C00 else "0.11.0"
    frames = dissect(capture, two_pass, options=["-o", "iggy.default_version:" + other])
    assert version(frames[vote][0]) == (packed, SIGN)


@pytest.mark.parametrize("text", ["0.11.0", "0.12.0", "0.12.1", "0.12.2"])
def test_versions_without_logins(tshark, captures, tmp_path, text):
    """The codec's captures without logins and evictions: every body is read to the end, and no version is ruled out wrongly."""
    capture = synth.Capture()
    connection = capture.connection()
    for row in pair_frames.frames_of(captures / ("codec/client-%s.pcap" % text)):
        if row["operation"] == 1 or row["command"] == 13 or row["code"] == BIND:
            continue
        send = connection.client if row["direction"] == "C>S" else connection.server
        send(row["data"], mss=1400)
    frames = tshark.frames(capture.write(tmp_path / "bare.pcap"), "-Y", "iggy", two_pass=True)
    packed = synth.VERSIONS[text]
    assert len(frames) > 10
    known = {version(f) for f in frames if version(f)[1] != PREFERENCE}
    assert known and all(value == 0x2C00 if packed == 0x2C00 else 0x3000 <= value <= packed for value, _ in known)
    assert not any(expert(f, "layout") or expert(f, "extra") for f in frames if version(f)[1] != PREFERENCE)
