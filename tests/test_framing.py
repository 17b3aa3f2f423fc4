# Frames are found wherever segments begin and end, whatever is lost, and nothing else is taken for one.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Truth: the real captures made worse (tools/worsen.py knows packets and the size field alone), and frames made by hand."""

import collections
import random
import struct

import pytest

import worsen
from conftest import CAPTURES
from synth import ACK, Capture, batch, frame, identity, message, reply, request, send_body, u64
from xxh3 import xxh3_64

ORDERED = ["-o", "tcp.reassemble_out_of_order:TRUE"]
UNORDERED = ["-o", "tcp.reassemble_out_of_order:FALSE"]
OFF = {"iggy": ["-o", "iggy.desegment:FALSE"], "tcp": ["-o", "tcp.desegment_tcp_streams:FALSE"]}
CLIENT = 0x8F3C11D29A7B4E5581C2D3E4F5061728
CLUSTER = bytes.fromhex("21bb05c88727bab88d0ec27be8a72d46")
METADATA = 1 << 63


def shown(tshark, capture, *options, two_pass=False):
    """Counter of (packet, size, command)."""
    out = collections.Counter()
    rows = tshark.fields(capture, ["frame.number", "iggy.size", "iggy.command"], "-Y", "iggy", *options, two_pass=two_pass)
    for packet, sizes, commands in rows:
        assert len(sizes) == len(commands)
        out.update((int(packet[0]), int(size), int(command)) for size, command in zip(sizes, commands))
    return out


def listed(frames):
    return collections.Counter((one.packet, one.size, one.command) for one in frames)


def both_passes(tshark, capture, *options):
    first = shown(tshark, capture, *options)
    assert shown(tshark, capture, *options, two_pass=True) == first
    return first


def on_ports(tshark, tmp_path, build, *options, late=False):
    """The frames shown of what `build(capture)` writes and returns as truth: [(packet, size, command)].

    `late`: a search needs evidence from what follows, so a frame may be shown in a later packet.
    """
    capture = Capture()
    truth = build(capture)
    got = both_passes(tshark, capture.write(tmp_path / "made.pcap"), *options)
    if late:
        frames = [worsen.Frame(packet, size, command, 0, True) for packet, size, command in truth]
        assert without_late(got, frames) == ({}, {})
    else:
        assert got == collections.Counter(truth)


# --- real captures, cut anew, reordered, repeated, with losses --------------------------------------------------------

REAL = ["real/05_python.pcapng", "real/22_other_port.pcapng", "real012/03_pipeline.pcapng", "codec/client-0.12.2.pcap",
        "codec/replica-0.12.2.pcap"]
ON_PORTS = [name for name in REAL if "other_port" not in name]


@pytest.fixture(scope="module")
def originals():
    return {name: worsen.load(CAPTURES / name) for name in REAL}


def worse_capture(tshark, tmp_path, whole, worse, *options, ordered=False):
    """(shown, truth) of a worse capture, in one pass and in two."""
    got = both_passes(tshark, worsen.write(tmp_path / "worse.pcap", worse), *options)
    return got, worsen.survivors(whole, worse, ordered)


@pytest.mark.parametrize("size", [7, 61, 62, 255, 256, 257, 1460])
@pytest.mark.parametrize("name", ON_PORTS)
def test_cut_anew(tshark, tmp_path, originals, name, size):
    worse = worsen.resegment(originals[name], size)
    got, truth = worse_capture(tshark, tmp_path, originals[name], worse, *(UNORDERED if size % 2 else ORDERED))
    assert len(truth) > 50
    assert got == listed(truth)


def test_byte_by_byte(tshark, tmp_path, originals):
    name = "codec/replica-0.12.2.pcap"
    got, truth = worse_capture(tshark, tmp_path, originals[name], worsen.resegment(originals[name], 1))
    assert len(truth) > 50
    assert got == listed(truth)


@pytest.mark.parametrize("size", [256, 1000])
def test_other_port(tshark, tmp_path, originals, size):
    """The heuristic finds a connection whose first header is whole in one segment."""
    name = "real/22_other_port.pcapng"
    got, truth = worse_capture(tshark, tmp_path, originals[name], worsen.resegment(originals[name], size))
    assert len(truth) == 72
    assert got == listed(truth)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", REAL)
def test_reordered(tshark, tmp_path, originals, name, seed):
    worse = worsen.reorder(worsen.resegment(originals[name], 1000), 8, seed)
    got, truth = worse_capture(tshark, tmp_path, originals[name], worse, *ORDERED, ordered=True)
    assert got == listed(truth)


@pytest.mark.parametrize("name", REAL)
def test_repeated(tshark, tmp_path, originals, name):
    worse = worsen.repeat(worsen.resegment(originals[name], 500), 8)
    got, truth = worse_capture(tshark, tmp_path, originals[name], worse, *UNORDERED)
    assert got == listed(truth)


@pytest.mark.parametrize("name", REAL)
def test_repeated_without_analysis(tshark, tmp_path, originals, name):
    """Without TCP's analysis repeated segments come here too: their frames were shown already."""
    worse = worsen.repeat(worsen.resegment(originals[name], 500), 8)
    got, truth = worse_capture(tshark, tmp_path, originals[name], worse, *UNORDERED, "-o",
                               "tcp.analyze_sequence_numbers:FALSE")
    assert got == listed(truth)


@pytest.mark.parametrize("size", [None, 500, 1000])
@pytest.mark.parametrize("name", REAL)
def test_reordered_without_putting_in_order(tshark, tmp_path, originals, name, size):
    """TCP keeps what it takes for repeated to itself; of the rest nothing is shown that is no frame, nor in another packet."""
    worse = worsen.reorder(worsen.resegment(originals[name], size) if size else originals[name], 8)
    got, truth = worse_capture(tshark, tmp_path, originals[name], worse, *UNORDERED)
    assert len(list(got.elements())) > 0.75 * len(truth)
    if tshark.version >= (4, 5):  # hands on more of what it takes for repeated
        every = collections.Counter((one.size, one.command) for one in worsen.survivors(originals[name], worse, True))
        assert collections.Counter(key[1:] for key in got.elements()) - every == {}
        return
    beside = without_late(got, [one._replace(late=True) for one in truth])[1]
    assert beside == {}


def without_late(got, truth):
    """What is missing, and what is shown beside; a frame behind a gap may be shown in a later packet."""
    missing, beside = listed(truth) - got, got - listed(truth)
    late = {(one.packet, one.size, one.command) for one in truth if one.late}
    for key in sorted(missing.elements()):
        later = [other for other in sorted(beside) if beside[other] and other[0] > key[0] and other[1:] == key[1:]]
        if key in late and later:
            missing[key] -= 1
            beside[later[0]] -= 1
    return +missing, +beside


@pytest.mark.parametrize("size,seed", [(None, 1), (None, 2), (1000, 1), (1000, 3), (1460, 2)])
@pytest.mark.parametrize("name", ["real/05_python.pcapng", "real/22_other_port.pcapng", "real012/03_pipeline.pcapng"])
def test_lost_segments_cost_their_frames_alone(tshark, tmp_path, originals, name, size, seed):
    worse = worsen.resegment(originals[name], size) if size else originals[name]
    worse = worsen.lose(worse, 12, seed)
    got, truth = worse_capture(tshark, tmp_path, originals[name], worse, *UNORDERED)
    assert 0 < len(truth) < len(worsen.survivors(originals[name], originals[name]))
    assert without_late(got, truth) == ({}, {})


@pytest.mark.parametrize("size,skip", [(None, 0), (None, 1), (None, 100), (257, 0), (257, 1), (1000, 1)])
@pytest.mark.parametrize("part", [20, 45])
@pytest.mark.parametrize("name", ["real/05_python.pcapng", "real/22_other_port.pcapng", "real012/03_pipeline.pcapng"])
def test_begun_in_the_middle(tshark, tmp_path, originals, name, part, size, skip):
    whole = worsen.resegment(originals[name], size) if size else originals[name]
    worse = worsen.begin_within(whole, part * len(whole) // 100, skip)
    got, truth = worse_capture(tshark, tmp_path, originals[name], worse, "--disable-heuristic", "smpp_tcp", *UNORDERED)
    missing, beside = without_late(got, truth)
    assert len(truth) > 30
    assert (missing, beside) == ({}, {})


# --- reassembly off ---------------------------------------------------------------------------------------------------


def frames_by_header(whole, worse, least=62):
    """(packet, size, command) of frames whose first `least` bytes are in one packet."""
    out = []
    bases = {key[0]: flow for key, flow in worsen.flows(whole).items()}
    pieces = collections.defaultdict(list)
    for packet, one in enumerate(worse, 1):
        if one.data:
            way = worsen.flow_of(one)
            start = (one.seq - bases[way].base) % 2 ** 32
            pieces[way].append((start, start + len(one.data), packet))
    for way, flow in bases.items():
        for start, end, command in worsen.frames_of(flow):
            out += [(packet, end - start, command) for first, last, packet in pieces[way]
                    if first <= start and start + least <= last]
    return collections.Counter(out)


@pytest.mark.parametrize("which", sorted(OFF))
@pytest.mark.parametrize("size", [61, 62, 100, 255, 257, 1460])
@pytest.mark.parametrize("name", ["real/05_python.pcapng", "codec/client-0.12.2.pcap"])
def test_without_reassembly(tshark, tmp_path, originals, name, size, which):
    """A frame shows in the packet of its header, if 62 bytes of it are there; all else is continuation."""
    worse = worsen.resegment(originals[name], size)
    got = both_passes(tshark, worsen.write(tmp_path / "off.pcap", worse), *OFF[which])
    truth = frames_by_header(originals[name], worse)
    if size > 61:
        assert truth
        assert got == truth


def test_continuation_is_shown(tshark, tmp_path, two_pass):
    capture = Capture()
    connection = capture.connection()
    last = connection.client(request(bytes(900), code=100, client=CLIENT, request=1), mss=500)
    path = capture.write(tmp_path / "continuation.pcap")
    rows = tshark.fields(path, ["frame.number", "iggy.continuation", "iggy.expert.continuation"], "-Y", "iggy.continuation",
                         *OFF["iggy"], two_pass=two_pass)
    assert [(row[0], len(row[1][0])) for row in rows] == [([str(last - 1)], 1000), ([str(last)], 2 * 156)]
    assert all(row[2] for row in rows)


# --- in step ----------------------------------------------------------------------------------------------------------


def some_request(size, number=1):
    return request(bytes(size - 256), operation=160, client=CLIENT, request=number, session=7)


@pytest.mark.parametrize("first", [True, False], ids=["first-frame", "second-frame"])
def test_split_anywhere(tshark, tmp_path, first):
    def build(capture):
        truth = []
        for cut in list(range(1, 70)) + [100, 127, 128, 129, 200, 255, 256, 257, 299]:
            connection = capture.connection()
            if not first:
                truth.append((connection.client(some_request(256)), 256, 5))
            truth.append((connection.client(some_request(300), cuts=[cut]), 300, 5))
        return truth
    on_ports(tshark, tmp_path, build)


def test_many_frames_in_one_segment(tshark, tmp_path):
    def build(capture):
        connection = capture.connection()
        number = connection.client(b"".join(some_request(256 + 10 * i, i + 1) for i in range(5)))
        return [(number, 256 + 10 * i, 5) for i in range(5)]
    on_ports(tshark, tmp_path, build)


def test_one_frame_in_thousands_of_segments(tshark, tmp_path):
    def build(capture):
        connection = capture.connection()
        truth = [(connection.client(some_request(256)), 256, 5)]
        truth.append((connection.client(some_request(3_000_000, 2), mss=1000), 3_000_000, 5))
        truth.append((connection.client(some_request(256, 3)), 256, 5))
        return truth
    on_ports(tshark, tmp_path, build)


def test_relative_sequence_numbers_do_not_matter(tshark, tmp_path):
    def build(capture):
        connection = capture.connection()
        return [(connection.client(some_request(300), cuts=[40]), 300, 5),
                (connection.server(reply(bytes(20), operation=160, request=1), cuts=[10]), 276, 8)]
    on_ports(tshark, tmp_path, build, "-o", "tcp.relative_sequence_numbers:FALSE")
    on_ports(tshark, tmp_path, build, "-o", "tcp.analyze_sequence_numbers:FALSE")


def test_sequence_numbers_wrap(tshark, tmp_path):
    def build(capture):
        connection = capture.connection(client_seq=2 ** 32 - 700)
        return [(connection.client(some_request(300, i + 1)), 300, 5) for i in range(6)]
    on_ports(tshark, tmp_path, build, "-o", "tcp.relative_sequence_numbers:FALSE")


@pytest.mark.parametrize("size", [0, 1, 255, 67108865, 0xFFFFFFFF])
def test_bad_size_in_step(tshark, tmp_path, two_pass, size):
    """Its header is shown with an error and not waited for; the stream goes on with the next frame."""
    capture = Capture()
    connection = capture.connection()
    good = connection.client(some_request(300))
    bad = connection.client(request(operation=160, client=CLIENT, request=2, session=7, size=size))
    after = connection.client(some_request(280, 3))
    path = capture.write(tmp_path / "bad.pcap")
    got = shown(tshark, path, two_pass=two_pass)
    assert got == collections.Counter([(good, 300, 5), (bad, size, 5), (after, 280, 5)])
    rows = tshark.fields(path, ["frame.number"], "-Y", "iggy.expert.bad_size", two_pass=two_pass)
    assert rows == [[[str(bad)]]]


def test_bad_size_amid_a_segment(tshark, tmp_path):
    def build(capture):
        connection = capture.connection()
        bad = request(operation=160, client=CLIENT, request=2, session=7, size=70)
        number = connection.client(some_request(300) + bad + some_request(280, 3) + some_request(290, 4))
        return [(number, 300, 5), (number, 70, 5), (number, 280, 5), (number, 290, 5)]
    on_ports(tshark, tmp_path, build)


def test_largest_frame_is_a_preference(tshark, tmp_path):
    capture = Capture()
    connection = capture.connection()
    number = connection.client(some_request(300))
    big = connection.client(some_request(3000, 2))
    path = capture.write(tmp_path / "big.pcap")
    assert both_passes(tshark, path) == collections.Counter([(number, 300, 5), (big, 3000, 5)])
    rows = tshark.fields(path, ["frame.number"], "-Y", "iggy.expert.bad_size", "-o", "iggy.maximum_frame_size:2999")
    assert rows == [[[str(big)]]]


def test_noise_in_tiny_segments_does_not_pile_up(tshark, tmp_path):
    """After a loss: 60 kB of noise, seven bytes a segment; the frames behind it are found all the same."""
    capture = Capture()
    connection = capture.connection()
    connection.client(some_request(256))
    connection.lose("client", 1000)
    connection.client(random.Random(9).randbytes(60_000), mss=7)
    truth = [(connection.client(some_request(256 + i, i)), 256 + i, 5) for i in range(2, 5)]
    got = shown(tshark, capture.write(tmp_path / "noise.pcap"), *UNORDERED)
    assert set(truth[1:]) <= set(got)
    assert len(list(got.elements())) <= 4


def test_unknown_command_in_step_is_shown(tshark, tmp_path):
    def build(capture):
        connection = capture.connection()
        return [(connection.client(some_request(256)), 256, 5),
                (connection.client(frame(99, bytes(10))), 266, 99),
                (connection.client(some_request(256, 2)), 256, 5)]
    on_ports(tshark, tmp_path, build)


def test_short_snap_length(tshark, tmp_path, two_pass):
    """128 bytes of each packet: sizes and commands are there, bodies are not."""
    capture = Capture()
    connection = capture.connection()
    truth = [(connection.client(some_request(300 + i, i + 1)), 300 + i, 5) for i in range(4)]
    path = capture.write(tmp_path / "snap.pcap", snaplen=128)
    assert shown(tshark, path, two_pass=two_pass) == collections.Counter(truth)


# --- headers that are not frames --------------------------------------------------------------------------------------


def prepare(op, body=b"", group=METADATA, operation=128, **values):
    return frame(6, body, op=op, commit=op - 1, group=group, operation=operation, cluster=CLUSTER, client=CLIENT, **values)


def commit(number=1):
    return frame(9, cluster=CLUSTER, timestamp_monotonic=number, group=METADATA)


def suffix(kind, highest, count, size_of):
    """A start_view or do_view_change whose entries are headers of prepares of these sizes."""
    entries = b"".join(prepare(highest - i, bytes(size_of(i) - 256))[:256] for i in range(count))
    return frame(kind, entries, cluster=CLUSTER, op=highest, commit=1, group=METADATA)


SIZES = {"all-256": lambda i: 256, "all-512": lambda i: 512, "mixed": lambda i: 256 + 37 * (i % 5), "large": lambda i: 90000}


@pytest.mark.parametrize("mss", [256, 257, 512, 1460])
@pytest.mark.parametrize("sizes", sorted(SIZES))
@pytest.mark.parametrize("kind", [11, 12])
def test_capture_begins_inside_a_log_suffix(tshark, tmp_path, kind, sizes, mss):
    """Entries are whole prepare headers whose identity verifies; none of them is a frame. The commits behind them are: from
    the first one on of which 62 bytes, command included, lie in one segment."""
    if sizes in ("all-256", "mixed") and mss == 256:
        pytest.skip("an entry of 256 bytes alone in its segment cannot be told from a prepare")

    def build(capture):
        truth = []
        for skip in (256, 300, 512, 700):
            connection = capture.connection(server_port=9090, handshake=False)
            data = suffix(kind, 20, 8, SIZES[sizes])[skip:] + b"".join(commit(i) for i in range(1, 5))
            numbers = [connection.segment("client", data[i:i + mss], seq=1000 + i) for i in range(0, len(data), mss)]
            places = [(at // mss, (at + 255) // mss) for at in range(len(data) - 1024, len(data), 256)]
            first = next((i for i, at in enumerate(range(len(data) - 1024, len(data), 256)) if mss - at % mss >= 62), 4)
            truth += [(numbers[end], 256, 9) for _begin, end in places[first:]]
        return truth
    on_ports(tshark, tmp_path, build, *UNORDERED, late=True)


def test_prepares_in_the_middle_of_a_connection(tshark, tmp_path):
    """By the hash of the body; by a whole segment; without a body before the next op."""
    def build(capture):
        truth = []
        one = capture.connection(server_port=9090, handshake=False)
        body = prepare(7, b"some body", checksum_body=0)
        hashed = bytearray(prepare(7, b"some body"))
        hashed[16:24] = struct.pack("<Q", xxh3_64(b"some body"))
        hashed[0:8] = struct.pack("<Q", identity(hashed))
        number = one.client(b"rest of a frame" + bytes(hashed) + b"more that is no header")
        truth.append((number, 265, 6))
        two = capture.connection(server_port=9090, handshake=False)
        truth.append((two.client(body), 265, 6))
        three = capture.connection(server_port=9090, handshake=False)
        number = three.client(prepare(8) + prepare(9))
        truth += [(number, 256, 6), (number, 256, 6)]
        return truth
    on_ports(tshark, tmp_path, build)


def test_prepares_behind_more_holes_than_are_kept(tshark, tmp_path):
    """Behind each of them one waits for what follows it; when that begins and is cut again, both are waited for."""
    def build(capture):
        connection = capture.connection(server_port=9090)
        truth = [(connection.client(prepare(1)), 256, 6)]
        for op in range(2, 50, 2):
            connection.lose("client", 1000)
            data = prepare(op) + prepare(op + 1, bytes(344), checksum_body=0)
            number = connection.client(data, cuts=[356, 556])
            truth += [(number, 256, 6), (number, 600, 6)]
        return truth
    on_ports(tshark, tmp_path, build)


@pytest.mark.parametrize("values", [dict(operation=2, code=9999), dict(operation=99)], ids=["code", "operation"])
def test_unknown_requests_behind_a_hole(tshark, tmp_path, values):
    """Nobody knows the code or the operation, but the frame is all of its segment, or a known one stands behind it."""
    def build(capture):
        one = capture.connection()
        unknown = request(b"\1\2\3", client=CLIENT, request=4, session=7, **values)
        truth = [(one.client(some_request(300)), 300, 5), (one.server(reply(operation=160, client=CLIENT, request=1)), 256, 8)]
        one.lose("client", 512)
        truth.append((one.client(unknown), 259, 5))
        one.lose("client", 1000)
        number = one.client(unknown + some_request(300, 5))
        truth += [(number, 259, 5), (number, 300, 5)]
        one.lose("server", 777)
        truth.append((one.server(reply(operation=99, client=CLIENT, request=4, status=3)), 256, 8))
        one.lose("client", 100)
        one.client(unknown[:-1])  # the rest is missing
        one.lose("client", 1)
        truth.append((one.client(some_request(300, 6)), 300, 5))
        one.lose("client", 400)
        one.client(some_request(600, 7)[400:])  # its last bytes may be the first ones of a header, and wait
        truth.append((one.client(unknown), 259, 5))
        return truth
    on_ports(tshark, tmp_path, build, *UNORDERED)


def state_chunk(replies):
    """A piece of a client table: replies with their length in front, other bytes around."""
    dice = random.Random(5)
    body = b""
    for one in replies:
        body += dice.randbytes(16) + u64(9) + struct.pack("<I", len(one)) + one
    return frame(25, body + dice.randbytes(8), cluster=CLUSTER, nonce=77, group=METADATA)


@pytest.mark.parametrize("mss", [256, 257, 536, 1000, 1460, 5000])
def test_capture_begins_inside_a_state_chunk(tshark, tmp_path, mss):
    replies = [reply(bytes(range(256)) * 4, operation=160, request=i + 1, client=CLIENT, cluster=CLUSTER)[:300 + 97 * i]
               for i in range(9)]
    replies = [bytes(one[:48]) + struct.pack("<I", len(one)) + one[52:] for one in replies]

    def build(capture):
        truth = []
        for skip in (256, 284, 290, 1000, 1500):
            connection = capture.connection(server_port=9090, handshake=False)
            data = state_chunk(replies)[skip:]
            connection.client(data, mss=mss)
            truth.append((connection.client(commit(1)), 256, 9))
            truth.append((connection.client(commit(2)), 256, 9))
        return truth
    on_ports(tshark, tmp_path, build, "--disable-heuristic", "smpp_tcp")


@pytest.mark.parametrize("mss", [256, 257, 1000, 1460, 20000])
@pytest.mark.parametrize("inner", ["requests", "replies", "sealed"])
def test_frames_inside_messages(tshark, tmp_path, inner, mss):
    """In step they are payload. In a capture that begins inside, they are none either: what follows them is no header."""
    kept = {"requests": some_request(400, 5), "replies": reply(bytes(90), operation=160, request=5, client=CLIENT),
            "sealed": commit(3)}[inner]
    record = batch([message(kept), message(kept + bytes(5)), message(bytes(11) + kept + b"end")])
    whole = request(send_body(1, 1, 0, record), operation=160, client=CLIENT, request=3, session=7)

    def build(capture):
        connection = capture.connection()
        truth = [(connection.client(some_request(256)), 256, 5)]
        truth.append((connection.client(whole, mss=mss), len(whole), 5))
        truth.append((connection.client(some_request(256, 4)), 256, 5))
        if inner == "sealed":
            return truth  # a verified seal is proof, wherever a search meets it
        for skip in (256, 300, whole.index(kept), whole.index(kept) - 3):
            connection = capture.connection(handshake=False)
            connection.client(whole[skip:], mss=mss)
            truth.append((connection.client(some_request(270, 4)), 270, 5))
            truth.append((connection.client(some_request(280, 5)), 280, 5))
        return truth
    on_ports(tshark, tmp_path, build, "--disable-heuristic", "smpp_tcp", late=True)


def test_request_on_a_replica_connection(tshark, tmp_path):
    """Decoded in step; never found by a search."""
    def build(capture):
        connection = capture.connection(server_port=9090)
        hello = frame(14, cluster=CLUSTER, replica=1)
        truth = [(connection.client(hello), 256, 14), (connection.client(some_request(300)), 300, 5),
                 (connection.client(commit(1)), 256, 9)]
        connection.lose("client", 100)
        connection.client(bytes(20) + some_request(300, 2) + some_request(310, 3))
        truth.append((connection.client(commit(2)), 256, 9))
        return truth
    on_ports(tshark, tmp_path, build, *UNORDERED)


# --- other people's traffic on these ports ----------------------------------------------------------------------------

def other_command(command):
    whole = bytearray(request(code=1, client=CLIENT))
    whole[60] = command
    return bytes(whole)


FOREIGN = {
    "http": [("client", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"), ("server", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")],
    "tls": [("client", bytes.fromhex("16030100310100002d0303") + bytes(range(32)) + bytes.fromhex("00000213010100000200000a")[:14])],
    "random": [("client", random.Random(3).randbytes(700)), ("server", random.Random(4).randbytes(1400))],
    "zeros": [("client", bytes(size)) for size in (52, 61, 62, 128, 255, 256, 257, 1460)],
    "text": [("client", b"hello\n"), ("server", b"world\n")],
    "release": [("client", request(code=1, client=CLIENT, release=1))],
    "reserved": [("client", request(code=1, client=CLIENT, reserved_frame=bytes(65) + b"\1"))],
    "size": [("client", request(code=1, client=CLIENT, size=255))],
    "command-0": [("client", other_command(0))],
    "command-99": [("client", other_command(99))],
    "nothing": [("client", frame(5))],
    # under 256 bytes: what is there of a header contradicts one
    "command-3-cut": [("client", other_command(3)[:61]), ("client", b"more")],
    "view-cut": [("client", request(code=1, client=CLIENT, view=9)[:64])],
    "cluster-cut": [("client", request(code=1, client=CLIENT, cluster=CLUSTER)[:100])],
    "replica-cut": [("client", request(code=1, client=CLIENT, replica=1)[:62])],
    "client-cut": [("client", request(code=1, client=0)[:150]), ("server", b"answer")],
    "handshake-cut": [("client", frame(14, view=3, cluster=CLUSTER)[:90])],
    "no-cluster-cut": [("client", frame(9, sealed=False, checksum=7)[:80])],
}


@pytest.mark.parametrize("port", [8090, 9090, 15555])
def test_foreign_protocols_decode_as_without(tshark, tmp_path, port, two_pass):
    capture = Capture()
    for parts in FOREIGN.values():
        connection = capture.connection(server_port=port)
        for side, data in parts:
            connection.send(side, data)
        connection.close()
    path = capture.write(tmp_path / "foreign.pcap")
    names = ["frame.protocols", "_ws.col.Info" if tshark.version < (4, 2) else "_ws.col.info"]
    without = tshark.fields(path, names, "--disable-protocol", "iggy", two_pass=two_pass)
    assert tshark.fields(path, names, two_pass=two_pass) == without
    assert "http" in str(without) and "tls" in str(without)


def test_keep_alive_is_no_beginning(tshark, tmp_path):
    """A keep-alive carries one zero byte, one before what comes next; also on a connection that has sent nothing yet."""
    def build(capture):
        connection = capture.connection()
        connection.segment("client", b"\0", seq=connection.seq["client"] - 1, flags=ACK)
        truth = [(connection.client(some_request(300)), 300, 5)]
        connection.segment("client", b"\0", seq=connection.seq["client"] - 1, flags=ACK)
        truth.append((connection.client(some_request(310, 2)), 310, 5))
        return truth
    on_ports(tshark, tmp_path, build)


@pytest.mark.parametrize("name", ["real/05_python.pcapng", "real/13_cluster_writes.pcapng", "real/22_other_port.pcapng"])
def test_the_protocol_is_named_where_nobody_looks_at_it(tshark, name, two_pass):
    """A filter on frame.protocols shows what `iggy` shows, though no field of ours is wanted then."""
    options = ["-o", "tcp.try_heuristic_first:TRUE"]
    packets = tshark.fields(name, ["frame.number"], "-Y", "iggy", *options, two_pass=two_pass)
    assert packets == tshark.fields(name, ["frame.number"], "-Y", 'frame.protocols contains "iggy"', *options, two_pass=two_pass)


# --- how it is found --------------------------------------------------------------------------------------------------

OTHER_PORT = "real/22_other_port.pcapng"


def test_heuristic_can_be_switched_off(tshark, two_pass):
    assert len(list(shown(tshark, OTHER_PORT, two_pass=two_pass).elements())) == 72
    assert not shown(tshark, OTHER_PORT, "--disable-heuristic", "iggy_tcp", two_pass=two_pass)


def test_decode_as_and_port_preference(tshark, two_pass):
    off = ["--disable-heuristic", "iggy_tcp"]
    for way in (["-d", "tcp.port==15555,iggy"], ["-o", "iggy.tcp.port:8090,15550-15560"]):
        assert len(list(shown(tshark, OTHER_PORT, *off, *way, two_pass=two_pass).elements())) == 72


def begun_amid_a_header(capture, port, frames):
    """A connection without handshake whose first segment ends within the first header, and the frames of it."""
    one = capture.connection(server_port=port, handshake=False)
    one.client(bytes(range(1, 200)) + frames[0][:100])
    return [(one.client(frames[0][100:]), len(frames[0]), frames[0][60])] + [(one.client(f), len(f), f[60]) for f in frames[1:]]


@pytest.mark.parametrize("port", [9092, 15555])
def test_another_connection_of_a_server_that_is_known(tshark, tmp_path, port):
    """No segment holds a whole header at first; what other connections were tells that it is worth waiting."""
    def build(capture):
        capture.connection(server_port=port).client(commit())
        return [(4, 256, 9)] + begun_amid_a_header(capture, port, [commit(n) for n in range(1, 9)])
    on_ports(tshark, tmp_path, build, late=True)


def test_a_server_is_no_other_one(tshark, tmp_path):
    """The same port of another host, and what is not Iggy at the port of a server, are left alone."""
    capture = Capture()
    for port in (9092, 15555):
        capture.connection(server_port=port).client(commit())
        other = capture.connection(server_port=port + 1, handshake=False)
        other.client(bytes(range(1, 200)) + commit()[:100])
        foreign = capture.connection(server_port=port)
        foreign.client(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        foreign.server(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        foreign = capture.connection(server_port=port, handshake=False)
        foreign.client(bytes(range(256)) * 5)
        foreign.server(bytes(range(255, -1, -1)) * 5)
    path = capture.write(tmp_path / "others.pcap")
    names = ["tcp.stream", "frame.protocols", "_ws.col.Info" if tshark.version < (4, 2) else "_ws.col.info"]
    without = tshark.fields(path, names, "--disable-protocol", "iggy", "-Y", "!(tcp.stream in {0, 4})")
    assert tshark.fields(path, names, "-Y", "!(tcp.stream in {0, 4})") == without
    assert len(shown(tshark, path)) == 2


def test_heuristic_claims_from_its_frame_on(tshark, tmp_path):
    """Packets before the one that was recognised look the same in a second pass."""
    capture = Capture()
    connection = capture.connection(server_port=15555, handshake=False)
    early = connection.client(some_request(400)[256:])
    claimed = connection.client(some_request(300, 2))
    path = capture.write(tmp_path / "claim.pcap")
    for two_pass in (False, True):
        rows = dict((int(row[0][0]), row[1][0]) for row in
                    tshark.fields(path, ["frame.number", "frame.protocols"], two_pass=two_pass))
        assert rows[early].endswith(":data") and rows[claimed].endswith(":iggy")


def test_info_of_a_continuation(tshark, tmp_path, two_pass):
    capture = Capture()
    connection = capture.connection()
    number = connection.client(request(bytes(900), operation=160, client=CLIENT, request=1, session=7), mss=700)
    info = tshark.info(capture.write(tmp_path / "info.pcap"), *OFF["iggy"], two_pass=two_pass)
    assert info[number - 1] == "Continuation, 456 bytes"
