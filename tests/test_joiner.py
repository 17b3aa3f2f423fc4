# Iggy in TLS records and WebSocket messages: made connections whose frames are known, cut in all ways.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames over many pieces, many frames a piece, both versions of TLS, keys in a file and in the capture, WebSocket in TLS,
what stands between messages, compressed messages, losses, and bad bytes."""

import itertools
import random
import ssl

import carriers
import pytest
import synth
from conftest import BROKEN

ID = 0x5B1CA9D3E2F74C18A6B0D1E9F3A27C44
VERSIONS = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}
MASK = b"\x12\x34\x56\x78"


def login():
    return synth.request(synth.login_body(), operation=1, request=0, client=ID)


def welcome():
    return synth.reply(synth.login_reply(), operation=1, request=0, client=ID)


def ping(number):
    return synth.request(code=1, request=number, session=1, client=ID)


def pong(number):
    return synth.reply(request=number, client=ID)


def send(length, number):
    body = synth.send_body("orders", "events", 3, synth.batch([synth.message(bytes(i * 31 % 251 for i in range(length)))]))
    return synth.request(body, operation=160, request=number, session=1, client=ID)


def sizes(tshark, capture, *options, two_pass=False):
    """(packet, size, command) of all frames, in order."""
    rows = tshark.fields(capture, ["frame.number", "iggy.size", "iggy.command"], *options, two_pass=two_pass)
    return [(int(number[0]), int(size), int(command)) for number, many, commands in rows
            for size, command in zip(many, commands)]


def cut(chance, frames, largest):
    """The bytes of the frames in pieces of random length, and which frames (size, command) end in each piece."""
    data, pieces, at = b"".join(frames), [], 0
    ends = list(itertools.accumulate(map(len, frames)))
    while at < len(data):
        until = min(len(data), at + chance.randrange(1, largest))
        ended = [(len(frame), frame[60]) for end, frame in zip(ends, frames) if at < end <= until]
        pieces.append((data[at:until], ended))
        at = until
    return pieces


def keys(tshark, secure):
    return ("-o", "tls.keylog_file:%s" % tshark.readable(secure.keylog))


# --- TLS ----------------------------------------------------------------------------------------------------------------
def tls(capture, tmp_path, version, port, **how):
    return carriers.Tls(capture.connection(server_port=port), tmp_path, version=VERSIONS[version], **how)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("port", [8090, 15555])
@pytest.mark.parametrize("largest", [40, 400, 4000])
def test_records_cut_anywhere(tshark, tmp_path, version, port, largest, two_pass):
    capture, chance, expected = synth.Capture(), random.Random(largest), []
    secure = tls(capture, tmp_path, version, port)
    expected.append((secure.client(login()), len(login()), 5))
    expected.append((secure.server(welcome()), len(welcome()), 8))
    asked = [ping(1), send(3000, 2), ping(3), send(17, 4), ping(5), ping(6), send(20_000, 7), ping(8)]
    answered = [pong(1), synth.reply(bytes(5000), operation=160, request=2, client=ID)] + [pong(i) for i in range(3, 9)]
    sides = {"client": cut(chance, asked, largest), "server": cut(chance, answered, largest)}
    while sides["client"] or sides["server"]:
        side = chance.choice([side for side in sides if sides[side]])
        data, ended = sides[side].pop(0)
        number = secure.send(side, data, mss=1448)
        expected += [(number, size, command) for size, command in ended]
    found = sizes(tshark, capture.write(tmp_path / "tls.pcap"), *keys(tshark, secure), two_pass=two_pass)
    assert found == expected


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("port", [9090, 15555])
def test_replicas(tshark, tmp_path, version, port, two_pass):
    capture = synth.Capture()
    secure = tls(capture, tmp_path, version, port)
    hello = secure.client(synth.frame(14, cluster=synth.CLUSTER, replica=1, nonce=bytes(range(32))))
    expected = [(hello, 256, 14)]
    commits = [synth.frame(9, cluster=synth.CLUSTER, timestamp_monotonic=1, commit=7 + i, group=1 << 63) for i in range(6)]
    data = b"".join(commits)
    secure.server(data[:300])
    expected += [(capture.number, 256, 9)]
    secure.server(data[300:500])
    last = secure.server(data[500:])
    expected += [(last, 256, 9)] * 5
    assert sizes(tshark, capture.write(tmp_path / "tls.pcap"), *keys(tshark, secure), two_pass=two_pass) == expected


@pytest.mark.parametrize("version", VERSIONS)
def test_keys_in_the_capture(tshark, tmp_path, version, two_pass):
    capture = synth.Capture()
    secure = tls(capture, tmp_path, version, 15555)
    expected = [(secure.client(login()), len(login()), 5), (secure.server(welcome()), len(welcome()), 8)]
    path = carriers.write_with_secrets(capture, tmp_path / "tls.pcapng", [secure.keylog])
    assert sizes(tshark, path, two_pass=two_pass) == expected


@pytest.mark.parametrize("version", VERSIONS)
def test_a_lost_record(tshark, tmp_path, version, two_pass):
    """Wireshark decrypts nothing behind a lost record; what came before and the other direction are whole."""
    capture = synth.Capture()
    secure = tls(capture, tmp_path, version, 8090)
    expected = [(secure.client(login()), len(login()), 5), (secure.server(welcome()), len(welcome()), 8)]
    lost = secure.client(ping(1))
    secure.client(ping(2))
    expected.append((secure.server(pong(1)) - 1, 256, 8))
    expected.append((secure.server(pong(2)) - 1, 256, 8))
    capture.drop(lost)
    found = sizes(tshark, capture.write(tmp_path / "tls.pcap"), *keys(tshark, secure), two_pass=two_pass)
    assert [row for row in found if row[0] != lost] == expected


def test_a_session_that_began_before_the_capture(tshark, tmp_path, two_pass):
    capture = synth.Capture()
    secure = tls(capture, tmp_path, "1.3", 8090)
    started = capture.number
    secure.client(login())
    capture.packets = capture.packets[started:]
    assert sizes(tshark, capture.write(tmp_path / "tls.pcap"), *keys(tshark, secure), two_pass=two_pass) == []


@pytest.mark.parametrize("port", [8090, 9090])
def test_others_in_tls_on_our_ports(tshark, tmp_path, port, two_pass):
    """HTTP stays HTTP where a heuristic finds it, and nothing is Iggy."""
    capture = synth.Capture()
    secure = tls(capture, tmp_path, "1.3", port)
    secure.client(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    secure.server(b"HTTP/1.1 204 No Content\r\n\r\n")
    path = capture.write(tmp_path / "tls.pcap")
    assert sizes(tshark, path, *keys(tshark, secure), two_pass=two_pass) == []
    assert len(tshark.fields(path, ["frame.number"], *keys(tshark, secure), "-Y", "http", two_pass=two_pass)) == 2


# --- WebSocket ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("port", [8092, 15555])
@pytest.mark.parametrize("largest", [40, 400, 4000])
def test_messages_cut_anywhere(tshark, tmp_path, port, largest, two_pass):
    capture, chance, expected = synth.Capture(), random.Random(largest), []
    web = carriers.WebSocket(capture.connection(server_port=port))
    expected.append((web.client(login()), len(login()), 5))
    expected.append((web.server(welcome()), len(welcome()), 8))
    answers = [pong(1), synth.reply(bytes(5000), operation=160, request=2, client=ID)] + [pong(i) for i in range(3, 30)]
    for data, ended in cut(chance, answers, largest):
        number = web.server(data, mss=1448)
        expected += [(number, size, command) for size, command in ended]
    assert sizes(tshark, capture.write(tmp_path / "web.pcap"), two_pass=two_pass) == expected


def start(capture, port=15555, **how):
    web = carriers.WebSocket(capture.connection(server_port=port), **how)
    return web, [(web.client(login()), len(login()), 5), (web.server(welcome()), len(welcome()), 8)]


def test_control_frames_between_fragments(tshark, tmp_path, two_pass):
    capture = synth.Capture()
    web, expected = start(capture)
    data = send(2000, 1)
    web.connection.client(carriers.ws_frame(data[:100], 2, False, MASK))
    web.connection.client(carriers.ws_frame(b"there?", 9, True, MASK))
    web.connection.server(carriers.ws_frame(b"there?", 10))
    web.connection.client(carriers.ws_frame(data[100:1000], 0, False, MASK) + carriers.ws_frame(b"", 9, True, MASK))
    last = web.connection.client(carriers.ws_frame(data[1000:], 0, True, MASK))
    expected.append((last, len(data), 5))
    web.connection.server(carriers.ws_frame(b"\x03\xe8bye", 8))
    web.connection.client(carriers.ws_frame(b"\x03\xe8", 8, True, MASK))
    assert sizes(tshark, capture.write(tmp_path / "web.pcap"), two_pass=two_pass) == expected


def test_many_messages_in_a_segment(tshark, tmp_path, two_pass):
    capture = synth.Capture()
    web, expected = start(capture)
    data = b"".join(carriers.ws_frame(ping(i), mask=MASK) for i in range(1, 9))
    expected += [(web.connection.client(data), 256, 5)] * 8
    assert sizes(tshark, capture.write(tmp_path / "web.pcap"), two_pass=two_pass) == expected


def test_unmasked_and_text(tshark, tmp_path, two_pass):
    """Neither is right, and both are Iggy."""
    capture = synth.Capture()
    web, expected = start(capture)
    expected.append((web.connection.client(carriers.ws_frame(ping(1))), 256, 5))
    expected.append((web.connection.server(carriers.ws_frame(pong(1), 1)), 256, 8))
    assert sizes(tshark, capture.write(tmp_path / "web.pcap"), two_pass=two_pass) == expected


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("port", [8092, 15555, 443])
def test_websocket_in_tls(tshark, tmp_path, version, port, two_pass):
    capture = synth.Capture()
    secure = tls(capture, tmp_path, version, port)
    web = carriers.WebSocket(secure)
    expected = [(web.client(login()), len(login()), 5), (web.server(welcome()), len(welcome()), 8)]
    big = send(40_000, 1)
    expected.append((web.client(big, mss=1448), len(big), 5))
    expected.append((web.client(ping(2), pieces=[10, 200]), 256, 5))
    web.server(pong(1)[:100])
    expected += [(web.server(pong(1)[100:] + pong(2)), 256, 8)] * 2
    assert sizes(tshark, capture.write(tmp_path / "web.pcap"), *keys(tshark, secure), two_pass=two_pass) == expected


@pytest.mark.parametrize("pressed", [False, True], ids=["offered", "agreed"])
def test_compression(tshark, tmp_path, pressed, two_pass):
    capture = synth.Capture()
    web, expected = start(capture, offered=True, agreed=pressed)
    big = send(20_000, 1)
    data = carriers.ws_frame(carriers.deflate(big) if pressed else big, mask=MASK, compressed=pressed)
    expected.append((web.connection.client(data, mss=1448), len(big), 5))
    expected.append((web.server(pong(1)), 256, 8))  # not every message has to be compressed
    assert sizes(tshark, capture.write(tmp_path / "web.pcap"), two_pass=two_pass) == expected


def test_a_lost_segment(tshark, tmp_path, two_pass):
    """One message, one segment: the ones after a lost one are found."""
    capture = synth.Capture()
    web, expected = start(capture)
    web.connection.lose("client", 264)
    expected.append((web.client(ping(2)), 256, 5))
    expected.append((web.server(pong(2)), 256, 8))
    assert sizes(tshark, capture.write(tmp_path / "web.pcap"), two_pass=two_pass) == expected


def test_a_snap_length(tshark, tmp_path, two_pass):
    """Where Wireshark hands a cut message on, its header is shown; nothing breaks, and the next one is found."""
    capture = synth.Capture()
    web, expected = start(capture)
    cut_at = web.client(ping(1))
    expected.append((web.client(ping(2)), 256, 5))
    path = capture.write(tmp_path / "web.pcap", kept={cut_at: 14 + 40 + 8 + 140})
    found = [row for row in sizes(tshark, path, two_pass=two_pass) if row[0] != cut_at]
    assert found == expected


# --- bad bytes ----------------------------------------------------------------------------------------------------------
def spoil(chance, data):
    out = bytearray(data)
    for _ in range(chance.randrange(0, 4)):
        out[chance.randrange(min(len(out), chance.choice([4, 64, 1 << 20])))] = chance.randrange(256)
    return bytes(out[:chance.randrange(1, len(out) + 1)]) if chance.random() < 0.2 else bytes(out)


def sound(tshark, path, two_pass, *options):
    arguments = ["-n", "-r", tshark.readable(path), "-V", *options] + (["-2"] if two_pass else [])
    result = tshark._plain(arguments)
    assert (result.returncode, [line for line in result.stderr.splitlines() if BROKEN.search(line)]) == (0, [])
    assert "Dissector bug" not in result.stdout
    return result.stdout


@pytest.mark.parametrize("seed", range(3))
def test_bad_bytes(tshark, tmp_path, seed, two_pass):
    capture, chance = synth.Capture(), random.Random(seed)
    secure = tls(capture, tmp_path, "1.3", 8090)
    web = carriers.WebSocket(capture.connection(server_port=8092))
    for turn in range(150):
        data = spoil(chance, chance.choice([ping, pong, lambda i: send(300, i), lambda i: send(5000, i)])(turn))
        side = chance.choice(["client", "server"])
        secure.send(side, data, mss=1448)
        message = carriers.ws_frame(data, chance.choice([0, 1, 2, 2, 2]), chance.random() < 0.9, chance.choice([None, MASK]))
        web.connection.send(side, spoil(chance, message) if chance.random() < 0.1 else message, mss=1448)
    text = sound(tshark, capture.write(tmp_path / "bad.pcap"), two_pass, *keys(tshark, secure))
    assert text.count("\nApache Iggy") > 100
