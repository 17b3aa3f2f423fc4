# Frames made to grow what the dissector keeps: lists that each frame would search or copy.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Limits are several times what is needed, and a small part of what it took when each frame cost more than the one before."""

import pytest

import attacks
import synth
from carriers import WebSocket
from synth import frame, ident, login_body, login_reply, reply, request, u32
from growth import cost

METADATA = 1 << 63
CLIENT = 77


def measured(tshark, capture, tmp_path):
    path = capture.write(tmp_path / "many.pcap")
    _, seconds, kilobytes = cost(tshark, tshark.readable(path))
    tshark.forget(path)
    return seconds, kilobytes / 1024


def test_views_in_falling_order(tshark, tmp_path):
    """80,000 view changes of one group, each below the one before; a list in order of views took 14 s."""
    capture = synth.Capture()
    connection = capture.connection(server_port=9090)
    connection.client(frame(14, cluster=synth.CLUSTER))
    for view in range(80_000, 0, -100):
        connection.client(b"".join(frame(10, cluster=synth.CLUSTER, sealed=False, view=view - n, group=METADATA) for n in range(100)))
    assert measured(tshark, capture, tmp_path)[0] < 4


@pytest.mark.parametrize("web", [False, True], ids=["tcp", "websocket"])
def test_headers_that_are_waited_for_in_vain(tshark, tmp_path, web):
    """
    Out of step, in small segments, one header after the other that needs more bytes to be believed: TCP kept all of them (19 s),
    and of WebSocket messages what waited was kept with each (7 GB).
    """
    capture = synth.Capture()
    connection = capture.connection(server_port=8092 if web else 8090)
    carrier = WebSocket(connection) if web else connection

    def header(size, **values):
        data = bytearray(request(code=1, client=CLIENT, **values))
        data[48:52] = u32(size)
        return bytes(data)
    carrier.client(header(256, request=1))
    carrier.client(header(0, request=2))
    for number in range(64):
        carrier.client(header(1_000_000, request=number, timestamp=5))
        for filler in range(255):
            carrier.client(bytes([filler | 1]) * 200)
    seconds, megabytes = measured(tshark, capture, tmp_path)
    assert seconds < 8 and megabytes < 400


def test_a_session_that_joins_all_the_time(tshark, tmp_path):
    """8,000 groups; copies of all memberships at each of them took 500 MB."""
    capture = synth.Capture()
    connection = capture.connection()
    connection.client(request(login_body(), operation=1, client=CLIENT))
    connection.server(reply(u32(0) + login_reply(), operation=1, client=CLIENT, cluster=synth.CLUSTER))
    for number in range(1, 8001):
        connection.client(request(ident(1) + ident(2) + ident(number), operation=148, client=CLIENT, request=number, session=1))
        connection.server(reply(u32(0), operation=148, client=CLIENT, request=number, cluster=synth.CLUSTER))
    assert measured(tshark, capture, tmp_path)[1] < 350


# The first four cost, in this order: ten times as much for four times as many, and more items than a packet may have; the same for
# requests whose facts have one hash; for the protocol before 0.11 behind holes; for headers that each hashed all that follows.
LARGE = {"frames_of_one_message": 4, "ids_whose_hashes_are_one": 1, "old_requests": 1, "headers_that_prove_to_be_none": 2}


@pytest.mark.parametrize("name", attacks.ATTACKS)
def test_attacks(tshark, name):
    """tests/fuzz/attacks.py runs all of them large."""
    result = attacks.measure(tshark, name, LARGE.get(name, 0.1))
    assert attacks.fault(result) is None


def test_an_attack_would_be_seen():
    usual = attacks.Result("", 100, 0.3, 1.5, 1 << 20, 1 << 10)
    assert attacks.fault(usual) is None
    assert "four times" in attacks.fault(usual._replace(second=2.3))
    assert "memory" in attacks.fault(usual._replace(kilobytes=200 << 10))
    assert "frames" in attacks.fault(usual._replace(frames=0))
