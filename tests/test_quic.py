# Iggy in QUIC: made connections whose frames are known, against what the postdissector finds.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Several streams a packet, streams over many packets in any order, losses, several connections, and what is not Iggy's."""

import random

import pytest
import synth
from conftest import BROKEN
from quic import Quic, acknowledge, new_connection_id, stop_sending, stream

ID = 0x5B1CA9D3E2F74C18A6B0D1E9F3A27C44


def ping(number, client=ID):
    return synth.request(code=1, request=number, session=1, client=client)


def pong(number, client=ID):
    return synth.reply(request=number, client=client)


def send(length, number=1):
    body = synth.send_body("orders", "events", 3, synth.batch([synth.message(b"x" * length)]))
    return synth.request(body, operation=160, request=number, session=1, client=ID)


def rows(tshark, capture, quic, names, two_pass, *options):
    on = ("-o", "iggy.quic:TRUE", "-o", "tls.keylog_file:%s" % tshark.readable(quic.keylog), "-Y", "iggy")
    return tshark.fields(capture, names, *on, *options, two_pass=two_pass)


def sizes(tshark, capture, quic, two_pass, *options):
    """(packet, size, command) of all frames, in order."""
    return [(int(number[0]), int(size), int(command))
            for number, many, commands in rows(tshark, capture, quic, ["frame.number", "iggy.size", "iggy.command"], two_pass,
                                               *options)
            for size, command in zip(many, commands)]


@pytest.fixture
def quic(tmp_path):
    return Quic(synth.Capture(), tmp_path)


@pytest.fixture
def check(tshark, tmp_path, two_pass):
    def compare(quic, expected):
        capture = quic.capture.write(tmp_path / "quic.pcap")
        assert sizes(tshark, capture, quic, two_pass) == expected
    return compare


def test_one_request_and_its_answer(quic, check):
    asked = quic.packet("client", stream(0, ping(1), fin=True))
    answered = quic.packet("server", stream(0, pong(1), fin=True))
    check(quic, [(asked, 256, 5), (answered, 256, 8)])


def test_several_streams_in_a_packet(quic, check):
    asked = quic.packet("client", acknowledge(0), stream(0, ping(1), fin=True), stop_sending(400), stream(4, ping(2), offset=0),
                        stream(8, ping(3), fin=True, length=False))
    answered = quic.packet("server", stream(8, pong(3)), stream(0, pong(1)), acknowledge(1), stream(4, pong(2)))
    check(quic, [(asked, 256, 5)] * 3 + [(answered, 256, 8)] * 3)


def test_fin_without_data(quic, check):
    asked = quic.packet("client", stream(0, ping(1)), stream(4, ping(2)[:100]))
    quic.packet("client", stream(0, b"", offset=256, fin=True))
    rest = quic.packet("client", stream(8, b"", fin=True), stream(4, ping(2)[100:], offset=100), stream(4, b"", offset=256, fin=True))
    check(quic, [(asked, 256, 5), (rest, 256, 5)])


@pytest.mark.parametrize("order", ["straight", "backward", "shuffled", "twice"])
def test_a_stream_over_many_packets(quic, check, order):
    """Offsets of one, two and four bytes."""
    data = send(60_000)
    places = list(range(len(range(0, len(data), 1200))))
    if order == "backward":
        places.reverse()
    elif order == "shuffled":
        random.Random(7).shuffle(places)
    elif order == "twice":
        places = [place for place in places for _ in (0, 1)][:-1]
    last = quic.send("client", 0, data, order=places)
    check(quic, [(last, len(data), 5)])


def test_a_late_packet_of_a_large_stream(quic, check):
    """All but the second packet, then that one: more than a megabyte waits for it."""
    data = send(1_200_000)
    count = len(range(0, len(data), 1200))
    last = quic.send("client", 0, data, order=[0] + list(range(2, count)) + [1])
    check(quic, [(last, len(data), 5)])


def test_pieces_that_overlap(quic, check):
    data = send(5000)
    quic.packet("client", stream(0, data[:700]))
    quic.packet("client", stream(0, data[2000:3100], offset=2000))
    quic.packet("client", stream(0, data[1900:2500], offset=1900))
    quic.packet("client", stream(0, data[3000:], offset=3000, fin=True))
    quic.packet("client", stream(0, data[300:900], offset=300))
    last = quic.packet("client", stream(0, data[650:1950], offset=650))
    check(quic, [(last, len(data), 5)])


@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_numbers_longer_than_they_need_be(quic, check, size):
    data = ping(1)
    quic.packet("client", stream(0, data[:50], offset=0, size=size))
    last = quic.packet("client", stream(0, data[50:], offset=50, size=size))
    check(quic, [(last, 256, 5)])


def test_large_stream_numbers(quic, check):
    numbers = [64, 16384, 1 << 30, (1 << 34) + 64, (1 << 62) - 4]
    asked = quic.packet("client", *[stream(number, ping(i + 1)[:120]) for i, number in enumerate(numbers)])
    ended = quic.packet("client", *[stream(number, ping(i + 1)[120:], offset=120) for i, number in enumerate(numbers)])
    assert asked < ended
    check(quic, [(ended, 256, 5)] * 5)


def test_large_offsets_are_no_beginning(quic, check):
    """A piece at 2^30 and beyond belongs to no frame, and takes no memory."""
    for offset in (1 << 14, 1 << 30, (1 << 32), (1 << 62) - 300):
        quic.packet("client", stream(0, ping(1), offset=offset))
    last = quic.packet("client", stream(0, ping(1)))
    check(quic, [(last, 256, 5)])


def test_lost_packets(quic, check):
    """Of a lost stream nothing is shown; the others go on."""
    quic.packet("client", stream(0, ping(1)[:100]), stream(4, ping(2)))
    quic.packet("client", stream(8, send(5000)[1000:2000], offset=1000))
    last = quic.packet("client", stream(12, ping(4)))
    check(quic, [(last - 2, 256, 5), (last, 256, 5)])


def test_the_same_frame_twice_is_one_frame(quic, check):
    first = quic.packet("client", stream(0, ping(1)))
    quic.packet("client", stream(0, ping(1), fin=True))
    quic.packet("client", stream(0, ping(1)[200:], offset=200, fin=True))
    check(quic, [(first, 256, 5)])


def test_pairs_are_those_of_the_stream(quic, tshark, tmp_path, two_pass):
    """The same request numbers on all streams, and answers in another order."""
    asked = {number: quic.packet("client", stream(number, ping(1))) for number in range(0, 40, 4)}
    order = list(asked)
    random.Random(3).shuffle(order)
    answered = {number: quic.packet("server", stream(number, pong(1))) for number in order}
    capture = quic.capture.write(tmp_path / "pairs.pcap")
    found = rows(tshark, capture, quic, ["frame.number", "iggy.response_to", "iggy.response_in"], two_pass)
    links = {int(number[0]): (to, back) for number, to, back in found}
    for number in order:
        assert links[answered[number]][0] == [str(asked[number])]
        assert links[asked[number]][1] == ([str(answered[number])] if two_pass else [])


def test_two_connections_interleaved(tmp_path, tshark, two_pass):
    """Stream 0 of both, each cut, with the same request numbers."""
    capture = synth.Capture()
    one, two = Quic(capture, tmp_path), Quic(capture, tmp_path, server_port=15555)
    expected, asked = [], {}
    for part in (slice(0, 130), slice(130, None)):
        for quic in (one, two):
            asked[quic] = quic.packet("client", stream(0, ping(1)[part], offset=part.start))
    answered = [(quic.packet("server", stream(0, pong(1))), asked[quic]) for quic in (two, one)]
    expected = [(asked[one], 256, 5), (asked[two], 256, 5)] + [(number, 256, 8) for number, _ in answered]
    path = capture.write(tmp_path / "two.pcap")
    assert sizes(tshark, path, one, two_pass) == expected
    links = {int(number[0]): to for number, to in rows(tshark, path, one, ["frame.number", "iggy.response_to"], two_pass)}
    assert [links[number] for number, _ in answered] == [[str(to)] for _, to in answered]


def test_several_connection_ids(quic, check):
    new = {"client": b"\x77" * 8, "server": b"\x99" * 8}
    first = quic.packet("client", stream(0, ping(1)[:200]), new_connection_id(1, new["client"]))
    quic.packet("server", new_connection_id(1, new["server"]))
    quic.ids = new
    second = quic.packet("client", stream(0, ping(1)[200:], offset=200))
    answered = quic.packet("server", stream(0, pong(1)))
    assert first < second
    check(quic, [(second, 256, 5), (answered, 256, 8)])


@pytest.mark.parametrize("number", [1, 2, 3, 5, 6])
def test_only_streams_of_requests(quic, check, number):
    """A client opens a bidirectional stream for each request; there are no others (framing.md 1)."""
    quic.packet("client", stream(number, ping(1)))
    quic.packet("server", stream(number, pong(1)))
    check(quic, [])


def test_a_client_whose_port_changes(quic, check):
    """Migration: a stream goes on from a port below the server's."""
    quic.packet("client", stream(0, ping(1)[:100]))
    quic.ports["client"], quic.address["client"] = 1025, b"\x0a\x00\x00\x63"
    second = quic.packet("client", stream(0, ping(1)[100:], offset=100))
    answered = quic.packet("server", stream(0, pong(1)))
    check(quic, [(second, 256, 5), (answered, 256, 8)])


@pytest.mark.parametrize("alpn", ["h3", "doq", "mqtt"])
def test_other_protocols_stay_theirs(tmp_path, check, alpn):
    quic = Quic(synth.Capture(), tmp_path, alpn=alpn)
    quic.packet("client", stream(0, ping(1)))
    quic.packet("server", stream(0, pong(1)))
    check(quic, [])


def test_a_snap_length(quic, tshark, tmp_path, two_pass):
    """A packet that is cut cannot be decrypted; the others are found."""
    first = quic.packet("client", stream(0, ping(1)))
    cut = quic.packet("client", stream(4, ping(2)))
    last = quic.packet("client", stream(8, ping(3)))
    capture = quic.capture.write(tmp_path / "cut.pcap", kept={cut: 200})
    assert sizes(tshark, capture, quic, two_pass) == [(first, 256, 5), (last, 256, 5)]


def test_off_finds_nothing(quic, tshark, tmp_path):
    quic.packet("client", stream(0, ping(1)))
    capture = quic.capture.write(tmp_path / "off.pcap")
    assert tshark.fields(capture, ["frame.number"], "-o", "tls.keylog_file:%s" % tshark.readable(quic.keylog), "-Y", "iggy") == []
    assert len(sizes(tshark, capture, quic, False)) == 1


def test_bad_bytes(quic, tshark, tmp_path, two_pass):
    """Frames of QUIC and of Iggy with random bytes anywhere. QUIC's own dissector has bugs with them; ours has none."""
    chance = random.Random(11)
    for turn in range(300):
        frames = bytearray(stream(4 * turn, ping(turn), offset=0) + stream(4 * turn + 4, send(50)))
        for _ in range(chance.randrange(1, 6)):
            frames[chance.randrange(len(frames)) if chance.random() < 0.5 else chance.randrange(12)] = chance.randrange(256)
        quic.packet(chance.choice(["client", "server"]), bytes(frames[:chance.randrange(20, len(frames) + 1)]))
    options = ["-n", "-r", tshark.readable(quic.capture.write(tmp_path / "bad.pcap")), "-V", "-o", "iggy.quic:TRUE", "-o",
               "tls.keylog_file:%s" % tshark.readable(quic.keylog)] + (["-2"] if two_pass else [])
    result = tshark._plain(options)
    complaints = [line for line in result.stderr.splitlines() if BROKEN.search(line) and "bug, protocol QUIC" not in line]
    assert (result.returncode, complaints) == (0, [])
    assert result.stdout.count("\nApache Iggy") > 100
