# Frames made to grow what the dissector keeps: lists that each frame would search or copy.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Limits are several times what is needed, and a small part of what it took when each frame cost more than the one before."""

import synth
from synth import frame, ident, login_body, login_reply, reply, request, u32
from test_growth import cost

METADATA = 1 << 63
CLIENT = 77


def measured(tshark, capture, tmp_path):
    path = capture.write(tmp_path / "many.pcap")
    seconds, kilobytes, _ = cost(tshark, tshark.readable(path))
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
