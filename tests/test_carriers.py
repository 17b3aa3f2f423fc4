# Iggy in TLS, WebSocket and QUIC.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Recorded sessions against lists made without the dissector, and synthetic ones whose packets are known."""

import csv

import carriers
import pytest
import synth
from conftest import CAPTURES

RECORDED = [("10b_tls_node", ()), ("09_websocket_rust", ()), ("11_quic_rust", ("-o", "iggy.quic:TRUE"))]
BIG = synth.send_body("orders", "events", 3, synth.batch([synth.message(b"x" * 70_000)]))


def sizes(tshark, capture, *options, two_pass=False):
    """(packet, size, command) of all frames, in order."""
    rows = tshark.fields(capture, ["frame.number", "iggy.size", "iggy.command"], *options, two_pass=two_pass)
    return [(int(number[0]), int(size), int(command)) for number, many, commands in rows
            for size, command in zip(many, commands)]


@pytest.mark.parametrize("name,options", RECORDED)
def test_recorded(tshark, name, options, two_pass):
    with open(CAPTURES / "real" / (name + ".pcapng.expected.tsv"), encoding="utf-8") as lines:
        wanted = [(int(row["end_pkt"]), int(row["size"]), int(row["command"])) for row in csv.DictReader(lines, delimiter="\t")
                  if row["note"].split(" ")[0] in ("ok", "resync")]
    assert wanted
    assert sorted(sizes(tshark, CAPTURES / "real" / (name + ".pcapng"), *options, two_pass=two_pass)) == sorted(wanted)


def test_quic_replies_are_those_of_their_streams(tshark, two_pass):
    rows = tshark.fields(CAPTURES / "real/11_quic_rust.pcapng", ["frame.number", "iggy.command", "iggy.code", "iggy.response_to"],
                         "-o", "iggy.quic:TRUE", "-Y", "iggy", two_pass=two_pass)
    requests = {int(number[0]): code for number, commands, codes, _ in rows
                for command, code in zip(commands, codes) if command == "5"}
    replies = [(to, code) for _, commands, codes, links in rows if commands == ["8"] for to, code in zip(links, codes)]
    assert (len(requests), len(replies)) == (19, 18)  # the recording ends before the last answer
    assert all(requests[int(to)] == code for to, code in replies)


def test_quic_is_off_by_default(tshark):
    assert sizes(tshark, CAPTURES / "real/11_quic_rust.pcapng") == []


ID = 0x5B1CA9D3E2F74C18A6B0D1E9F3A27C44  # looks random, as those of all clients do


def login(carrier):
    carrier.client(synth.request(synth.login_body(), operation=1, request=0, client=ID))
    carrier.server(synth.reply(synth.login_reply(), operation=1, request=0, client=ID))


def ping(number):
    return synth.request(code=1, request=number, session=1, client=ID)


def pong(number):
    return synth.reply(request=number, client=ID)


@pytest.mark.parametrize("port", [8092, 15555])
def test_websocket_messages_cut_and_joined(tshark, tmp_path, port, two_pass):
    capture = synth.Capture()
    web = carriers.WebSocket(capture.connection(server_port=port))
    login(web)
    start = capture.number
    big = synth.request(BIG, operation=160, request=1, session=1, client=ID)
    web.client(big, mss=1448)                                # one message, many segments
    big_at = capture.number
    web.client(ping(2), pieces=[10, 200])                    # fragmented message
    web.ping()
    web.server(pong(2)[:100])                                # a frame over two messages
    web.server(pong(2)[100:] + pong(3) + pong(4)[:60])       # its end, a whole one, a beginning
    web.server(pong(4)[60:])
    found = sizes(tshark, capture.write(tmp_path / "web.pcap"), two_pass=two_pass)
    last = capture.number
    assert found == [(start - 1, 256 + len(synth.login_body()), 5), (start, 256 + len(synth.login_reply()), 8),
                     (big_at, len(big), 5), (big_at + 1, 256, 5), (last - 1, 256, 8), (last - 1, 256, 8), (last, 256, 8)]


def test_websocket_of_others_stays_theirs(tshark, tmp_path):
    capture = synth.Capture()
    web = carriers.WebSocket(capture.connection(server_port=8092))
    web.client(b'{"hello": 1}')
    web.server(bytes(300))
    assert sizes(tshark, capture.write(tmp_path / "web.pcap")) == []


@pytest.mark.parametrize("port", [8090, 15555])
def test_tls_records(tshark, tmp_path, port, two_pass):
    capture = synth.Capture()
    secure = carriers.Tls(capture.connection(server_port=port), tmp_path)
    login(secure)
    start = capture.number
    big = synth.request(BIG, operation=160, request=1, session=1, client=ID)
    big_at = secure.client(big, mss=1448)                    # five records
    secure.client(ping(2)[:60])                              # a header over two records
    cut_at = secure.client(ping(2)[60:] + ping(3))
    last = secure.server(pong(2) + pong(3) + pong(4))        # three frames, one record
    options = ("-o", "tls.keylog_file:%s" % tshark.readable(secure.keylog))
    found = sizes(tshark, capture.write(tmp_path / "tls.pcap"), *options, two_pass=two_pass)
    assert found == [(start - 1, 256 + len(synth.login_body()), 5), (start, 256 + len(synth.login_reply()), 8),
                     (big_at, len(big), 5), (cut_at, 256, 5), (cut_at, 256, 5)] + [(last, 256, 8)] * 3


@pytest.mark.parametrize("length", [4, 37, 100, 300])
def test_many_small_records_of_one_segment(tshark, tmp_path, length, two_pass):
    capture = synth.Capture()
    secure = carriers.Tls(capture.connection(server_port=8090), tmp_path)
    login(secure)
    data = b"".join(map(pong, range(2, 5)))
    last = secure.records("server", [data[at:at + length] for at in range(0, len(data), length)])
    options = ("-o", "tls.keylog_file:%s" % tshark.readable(secure.keylog))
    found = sizes(tshark, capture.write(tmp_path / "tls.pcap"), *options, two_pass=two_pass)
    assert found[2:] == [(last, 256, 8)] * 3


@pytest.mark.parametrize("length", [4, 37, 100, 300])
def test_many_small_messages_of_one_segment(tshark, tmp_path, length, two_pass):
    capture = synth.Capture()
    connection = capture.connection(server_port=8092)
    login(carriers.WebSocket(connection))
    data = b"".join(map(pong, range(2, 5)))
    last = connection.server(b"".join(carriers.ws_frame(data[at:at + length]) for at in range(0, len(data), length)))
    found = sizes(tshark, capture.write(tmp_path / "web.pcap"), two_pass=two_pass)
    assert found[2:] == [(last, 256, 8)] * 3


def test_tls_between_replicas_is_found_by_its_alpn(tshark, tmp_path, two_pass):
    capture = synth.Capture()
    secure = carriers.Tls(capture.connection(server_port=17000), tmp_path, alpn="iggy-replica")
    hello = secure.client(synth.frame(14, cluster=synth.CLUSTER, replica=1, nonce=bytes(range(32))))
    commit = secure.server(synth.frame(9, cluster=synth.CLUSTER, timestamp_monotonic=1, commit=7, group=1 << 63))
    options = ("-o", "tls.keylog_file:%s" % tshark.readable(secure.keylog))
    assert sizes(tshark, capture.write(tmp_path / "tls.pcap"), *options, two_pass=two_pass) == [(hello, 256, 14), (commit, 256, 9)]
