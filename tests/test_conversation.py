# Pairs of requests and replies, retries, cancellations, evictions.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Against the list of an independent script (tools/pair_frames.py) for every capture, and against captures made by hand."""

import collections
import random
import struct

import pytest

import list_frames
import pair_frames
import synth
from synth import ident, login_body, login_reply, name, reply, request, u32, u64

ORDERED = ["-o", "tcp.reassemble_out_of_order:TRUE"]
LOSSY = ["-o", "tcp.reassemble_out_of_order:FALSE"]

COMPLETE = [
    "real/01_admin_rust.pcapng", "real/01c_admin_cli.pcapng", "real/02_produce_consume_rust.pcapng", "real/03_errors_rust.pcapng",
    "real/03b_errors_raw.pcapng", "real/05_python.pcapng", "real/13_cluster_writes.pcapng", "real/18_mid_capture_start.pcapng",
    "real/20_out_of_order.pcapng", "real/22_other_port.pcapng", "real/09_websocket_rust.pcapng", "real/10b_tls_node.pcapng",
    "real/11_quic_rust.pcapng",
    "real012/01_admin.pcapng", "real012/02_produce.pcapng", "real012/03_pipeline.pcapng", "real012/04_deferred.pcapng",
    "real012/05_errors.pcapng", "real012/06_reconnect.pcapng",
    "codec/client-0.11.0.pcap", "codec/client-0.12.0.pcap", "codec/client-0.12.1.pcap", "codec/client-0.12.2.pcap",
    "codec/segments-0.11.0-mid.pcap", "codec/segments-0.12.0-mid.pcap", "codec/segments-0.12.2-mid.pcap",
]


def first(frame, field):
    values = frame.values.get(field)
    return values[0] if values else None


def number(frame, field):
    value = first(frame, field)
    return None if value is None else int(value, 0)


def has(frame, field):
    return field in frame.values


def expert(frame, rule):
    return "iggy.expert." + rule in frame.values


def shown_links(frames):
    """(request packet, reply packet, code) of every reply that is linked."""
    return collections.Counter((number(f, "iggy.response_to"), f.packet, number(f, "iggy.code"))
                               for f in frames if has(f, "iggy.response_to"))


def expected_links(pairs):
    return collections.Counter((p.request, p.reply, p.code) for p in pairs if p.request and p.reply)


# --- every capture --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("capture", COMPLETE)
def test_pairs_of_captures(tshark, captures, capture, two_pass):
    options = ORDERED if "out_of_order" in capture else ["-o", "iggy.quic:TRUE"] if "quic" in capture else []
    frames = tshark.frames(capture, *options, "-Y", "iggy", two_pass=two_pass)
    pairs = pair_frames.pairs_of(captures / capture)
    if "quic" in capture:  # the capture ends within the last reply
        pairs = [p._replace(reply=None, state="open") if p.reply == 150 else p for p in pairs]
    assert expected_links(pairs)
    assert shown_links(frames) == expected_links(pairs)
    assert {(f.packet, number(f, "iggy.retry_of")) for f in frames if has(f, "iggy.retry_of")} == \
        {(p.request, p.retry_of) for p in pairs if p.retry_of}
    assert {(f.packet, number(f, "iggy.cancels")) for f in frames if has(f, "iggy.cancels")} == \
        {(p.request, p.cancels) for p in pairs if p.cancels}
    forward = collections.Counter((f.packet, number(f, "iggy.response_in")) for f in frames if has(f, "iggy.response_in"))
    if two_pass:
        assert forward == collections.Counter((p.request, p.reply) for p in pairs if p.reply and p.state == "answered" and p.request)
    else:
        assert not forward


@pytest.mark.parametrize("capture", ["real/01_admin_rust.pcapng", "real012/03_pipeline.pcapng"])
def test_response_times(tshark, captures, capture, two_pass):
    times = {n: when for n, when, link, _ in list_frames.packets(captures / capture) if link != -1}
    found = 0
    for frame in tshark.frames(capture, "-Y", "iggy.response_to", two_pass=two_pass):
        expected = times[frame.packet] - times[number(frame, "iggy.response_to")]
        assert float(first(frame, "iggy.response_time")) == pytest.approx(expected, abs=2e-6)
        found += 1
    assert found > 70


def test_lossy_capture(tshark, captures, two_pass):
    """19 is the session of 20 without ten packets: the pairs of 20 whose frames both remain."""
    twin = {(r["direction"], r["offset"]): r["end_pkt"] for r in list_frames.list_file(captures / "real/19_dropped_packets.pcapng")
            if "lost" not in r["note"]}
    place = {r["end_pkt"]: twin.get((r["direction"], r["offset"]))
             for r in list_frames.list_file(captures / "real/20_out_of_order.pcapng")}
    pairs = pair_frames.pairs_of(captures / "real/20_out_of_order.pcapng")
    expected = {(place[p.request], place[p.reply]) for p in pairs if place[p.request] and place[p.reply]}
    frames = tshark.frames("real/19_dropped_packets.pcapng", *LOSSY, "-Y", "iggy", two_pass=two_pass)
    assert len(expected) > 25
    assert {(number(f, "iggy.response_to"), f.packet) for f in frames if has(f, "iggy.response_to")} == expected
    orphans = {place[p.reply] for p in pairs if place[p.reply] and not place[p.request]}
    assert {f.packet for f in frames if expert(f, "no_request")} == orphans


def without(packets, dropped, path):
    """The capture without these packets; old numbers of the new ones."""
    numbers = [None]
    with open(path, "wb") as out:
        link = packets[0][2]
        out.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, link))
        for number_, when, _, data in packets:
            if number_ not in dropped:
                numbers.append(number_)
                out.write(struct.pack("<IIII", int(when), int(when % 1 * 1e9), len(data), len(data)) + data)
    return numbers


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("capture", ["real/01_admin_rust.pcapng", "real/02_produce_consume_rust.pcapng", "real/05_python.pcapng",
                                     "real/22_other_port.pcapng", "real012/01_admin.pcapng", "real012/04_deferred.pcapng"])
def test_after_losses_no_link_is_wrong(tshark, captures, tmp_path, capture, seed):
    """A twelfth of the packets with data is lost; the truth is that of the whole capture."""
    packets = [one for one in list_frames.packets(captures / capture) if one[2] != -1]
    carrying = sorted({n for r in pair_frames.frames_of(captures / capture) for n in range(r["first_pkt"], r["last_pkt"] + 1)})
    chance = random.Random(seed)
    dropped = {n for n in carrying if chance.random() < 1 / 12}
    numbers = without(packets, dropped, tmp_path / "lossy.pcap")
    truth = {(p.request, p.reply) for p in pair_frames.pairs_of(captures / capture) if p.request and p.reply}
    frames = tshark.frames(tmp_path / "lossy.pcap", *LOSSY, "-Y", "iggy", two_pass=True)
    links = {(numbers[number(f, "iggy.response_to")], numbers[f.packet]) for f in frames if has(f, "iggy.response_to")}
    shown = {numbers[f.packet] for f in frames}
    assert links - truth == set()
    assert {pair for pair in truth if set(pair) <= shown} - links == set()
    assert links


# --- made by hand -----------------------------------------------------------------------------------------------------
PING, STATS, ME, STREAM, STREAMS = 1, 10, 20, 200, 201
POLL, DEFERRED, CANCEL, BIND = 100, 106, 108, 15
CLIENT = 0x80000000000040000000000000000001
CHECKSUM_0_11, CHECKSUM_0_12 = 0x1122334455667788, 0x1122334455667788_99AABBCCDDEEFF00


class Session:
    """A connection after its login; requests and replies by number. Packet numbers come back."""

    def __init__(self, capture, version="0.12.2", client=CLIENT, session=100, login=True, **options):
        self.capture, self.version, self.client, self.session = capture, version, client, session
        self.tcp = capture.connection(**options)
        if login:
            checksum = CHECKSUM_0_11 if version == "0.11.0" else CHECKSUM_0_12
            self.ask(operation=1, number=0, body=login_body(version), session=0, request_checksum=checksum)
            self.tcp.server(reply(login_reply(session=session, version=version), operation=1, request_checksum=checksum,
                                  cluster=synth.CLUSTER))

    def frame(self, code=0, number=1, operation=2, body=b"", session=None, **values):
        return request(body, code=code, client=values.pop("client", self.client), operation=operation, request=number,
                       session=self.session if session is None else session, **values)

    def ask(self, *arguments, **values):
        return self.tcp.client(self.frame(*arguments, **values))

    def answer(self, number=1, operation=2, body=b"", **values):
        return self.tcp.server(reply(body, operation=operation, request=number, **values))


@pytest.fixture
def dissect(tshark, tmp_path):
    """Packet number -> frames, of a capture made by hand."""
    def run(capture, two_pass=True, options=(), rows="iggy"):
        path = capture.write(tmp_path / "made.pcap")
        tshark.forget(path)
        out = collections.defaultdict(list)
        for frame in tshark.frames(path, *options, "-Y", rows, two_pass=two_pass):
            out[frame.packet].append(frame)
        return out
    return run


def stream_details(version="0.12.2", identifier=1, text="orders"):
    """Body of a get_stream reply without topics (commands.md 3.1)."""
    return u32(identifier) + u64(0) + u32(0) + u64(0) + u64(0) + name(text) + u32(0) * (1 if version == "0.11.0" else 2)


def test_forward_links_come_with_the_second_pass(dissect, two_pass):
    capture = synth.Capture()
    session = Session(capture)
    asked = session.ask(PING, 1)
    answered = session.answer(1)
    frames = dissect(capture, two_pass)
    assert number(frames[asked][0], "iggy.response_in") == (answered if two_pass else None)
    assert number(frames[answered][0], "iggy.response_to") == asked
    assert float(first(frames[answered][0], "iggy.response_time")) == pytest.approx(0.001)
    assert number(frames[answered][0], "iggy.code") == PING


def test_a_lost_reply_in_step(dissect, two_pass):
    """0.11.0 repeats numbers: the reply to the first read is lost, the second read is answered."""
    capture = synth.Capture()
    session = Session(capture, "0.11.0")
    lost = session.ask(STREAM, 1, body=ident(1))
    session.tcp.lose("server", 256 + len(stream_details("0.11.0")))
    second = session.ask(STREAM, 1, body=ident(1))
    answered = session.answer(1, body=stream_details("0.11.0"))
    third = session.ask(STREAM, 1, body=ident(1))
    answered_third = session.answer(1, body=stream_details("0.11.0"))
    frames = dissect(capture, two_pass)
    assert number(frames[answered][0], "iggy.response_to") == second
    assert number(frames[answered_third][0], "iggy.response_to") == third
    assert not any(has(f[0], "iggy.retry") for f in frames.values())
    if two_pass:
        assert not has(frames[lost][0], "iggy.response_in")
        assert expert(frames[lost][0], "in_doubt")
        assert not expert(frames[lost][0], "no_reply")


@pytest.mark.parametrize("begins", ["client", "server"])
def test_ports_that_are_used_again(dissect, begins, two_pass):
    """The capture begins in a connection, with a packet of either side; the next one has its ports: they are two."""
    capture = synth.Capture()
    ports = {"client_port": 40000, "server_port": 8090}
    old = Session(capture, login=False, handshake=False, **ports)
    getattr(old.tcp, begins)(old.frame(PING, 1) if begins == "client" else reply(b"", operation=2, request=1))
    asked = [old.ask(PING, 2)]
    answered = [old.answer(2)]
    waits = old.ask(PING, 3)
    new = Session(capture, client_seq=900000, server_seq=700000, **ports)
    for request_number in (1, 2, 3):
        asked.append(new.ask(PING, request_number))
        answered.append(new.answer(request_number))
    frames = dissect(capture, two_pass)
    assert [number(frames[packet][0], "iggy.response_to") for packet in answered] == asked
    assert len(frames) == 12
    assert not has(frames[waits][0], "iggy.response_in")


def test_a_lost_reply_before_one_in_two_segments(dissect, two_pass):
    """The hole is before the reply, whichever segment completes it."""
    capture = synth.Capture()
    session = Session(capture, "0.11.0")
    lost = session.ask(STREAM, 1, body=ident(1))
    session.tcp.lose("server", 256 + len(stream_details("0.11.0")))
    second = session.ask(STREAM, 1, body=ident(1))
    answered = session.tcp.server(reply(stream_details("0.11.0"), request=1), cuts=[100])
    frames = dissect(capture, two_pass, LOSSY)
    assert number(frames[answered][0], "iggy.response_to") == second
    if two_pass:
        assert not has(frames[lost][0], "iggy.response_in")


def test_replies_put_in_order_by_tcp(dissect, two_pass):
    """Late replies come with a packet whose acknowledgement is older than theirs; and none of them was lost."""
    capture = synth.Capture()
    session = Session(capture, "0.11.0")
    asked, answered = [], []
    for _ in range(4):
        asked.append(session.ask(STREAM, 1, body=ident(1)))
        answered.append(session.answer(1, body=stream_details("0.11.0")))
    late = answered[1]
    capture.move(late, 3)  # behind the next reply and the next request
    frames = dissect(capture, two_pass, ["-o", "tcp.reassemble_out_of_order:TRUE"])
    here = late + 3
    assert [number(f, "iggy.response_to") for f in frames[here]] == [asked[1], asked[2] - 1]
    assert number(frames[answered[3]][0], "iggy.response_to") == asked[3] - 1
    for packet in asked[1], asked[2] - 1, asked[3] - 1:
        assert not expert(frames[packet][0], "in_doubt") and not expert(frames[packet][0], "no_reply")


def test_requests_and_replies_put_in_order_by_tcp(dissect, two_pass):
    """Both directions late: a reply that TCP hands on before its request finds it behind, and keeps none for the next."""
    capture = synth.Capture()
    session = Session(capture, "0.11.0")
    asked, answered = [], []
    for _ in range(4):
        asked.append(session.ask(STREAM, 1, body=ident(1)))
        answered.append(session.answer(1, body=stream_details("0.11.0")))
    capture.move(answered[1], 2)  # with it the third reply is handed on
    capture.move(asked[1], 3)     # and with this the third request
    frames = dissect(capture, two_pass, ["-o", "tcp.reassemble_out_of_order:TRUE"])
    here = {tuple(number(f, "iggy.command") for f in found): packet for packet, found in frames.items() if len(found) == 2}
    replies, requests = here[8, 8], here[5, 5]
    assert replies < requests
    links = [requests if two_pass else None] * 2
    assert [number(f, "iggy.response_to") for f in frames[replies]] == links
    assert number(frames[answered[3]][0], "iggy.response_to") == asked[3]


def test_a_request_behind_the_reply_that_tcp_held(dissect, two_pass):
    """What the held reply acknowledged is not known, nor had TCP seen its request: that has not received it, which tells."""
    capture = synth.Capture()
    session = Session(capture, "0.11.0")
    asked, answered = [], []
    for _ in range(4):
        asked.append(session.ask(STREAM, 1, body=ident(1)))
        answered.append(session.answer(1, body=stream_details("0.11.0")))
    capture.move(answered[1], 2)     # with it the third reply is handed on
    capture.move(asked[2] - 1, 2)    # and the third request comes then
    frames = dissect(capture, two_pass, ["-o", "tcp.reassemble_out_of_order:TRUE"])
    late, third = answered[1] + 1, answered[1] + 2
    assert [number(f, "iggy.response_to") for f in frames[late]] == [asked[1], third if two_pass else None]
    assert number(frames[answered[3]][0], "iggy.response_to") == asked[3]


def test_a_lost_request_in_step(dissect, two_pass):
    """The reply to a read that is not in the capture is not given to the one before, whose reply was lost too."""
    capture = synth.Capture()
    session = Session(capture, "0.11.0")
    session.ask(STREAM, 1, body=ident(1))
    session.tcp.lose("server", 256 + len(stream_details("0.11.0")))
    session.tcp.lose("client", 256 + len(ident(1)))
    orphan = session.answer(1, body=stream_details("0.11.0"))
    frames = dissect(capture, two_pass)
    assert not has(frames[orphan][0], "iggy.response_to")
    assert expert(frames[orphan][0], "no_request")


@pytest.mark.parametrize("cut", [100, 270])
def test_a_request_without_its_header(dissect, cut, two_pass):
    """What the server acknowledges was captured, all but the beginning: the reply is not to the request before, for which one was lost."""
    capture = synth.Capture()
    session = Session(capture, "0.11.0")
    session.ask(STREAM, 1, body=ident(1))
    session.tcp.lose("server", 256 + len(stream_details("0.11.0")))
    again = session.frame(STREAM, 1, body=ident("a-stream-with-a-name"))
    session.tcp.lose("client", cut)
    session.tcp.client(again[cut:])
    orphan = session.answer(1, body=stream_details("0.11.0"))
    asked = session.ask(STREAM, 1, body=ident(1))
    answered = session.answer(1, body=stream_details("0.11.0"))
    frames = dissect(capture, two_pass, LOSSY)
    assert not has(frames[orphan][0], "iggy.response_to")
    assert number(frames[answered][0], "iggy.response_to") == asked


def test_a_reply_that_acknowledges_less_than_the_request(dissect, two_pass):
    """The request that the server answers comes late, and TCP keeps it to itself; an equal one behind it came before."""
    capture = synth.Capture()
    session = Session(capture)
    session.ask(PING, 1)
    session.answer(1)
    tcp = session.tcp
    late, start = session.frame(PING, 1), tcp.seq["client"]
    tcp.lose("client", len(late))
    second = session.ask(PING, 1)
    tcp.segment("client", late, seq=start)
    one = tcp.segment("server", reply(request=1, operation=2), ack=start + len(late))
    tcp.seq["server"] += 256
    two = session.answer(1)
    frames = dissect(capture, two_pass, LOSSY)
    assert not has(frames[one][0], "iggy.response_to")
    assert number(frames[two][0], "iggy.response_to") == second


def test_a_lost_request_of_a_client_that_does_not_wait(dissect, two_pass):
    """Behind a hole the server acknowledges more than the capture has: the reply may be that to a request that is lost."""
    capture = synth.Capture()
    session = Session(capture, "0.11.0")
    session.ask(PING, 1)
    session.ask(PING, 1)
    session.answer(1)
    session.answer(1)
    asked = session.ask(STREAM, 1, body=ident("orders"))
    session.tcp.lose("server", 256 + len(stream_details("0.11.0")))  # its reply
    session.tcp.lose("client", 272)
    answered = session.answer(1)
    frames = dissect(capture, two_pass, LOSSY)
    assert not has(frames[answered][0], "iggy.response_to")
    assert not has(frames[asked][0], "iggy.response_in")


def test_a_lost_request_equal_to_one_before(dissect, two_pass):
    """Two logouts are equal to the byte, checksum of the body included: the reply to the lost one is not the first one's."""
    capture = synth.Capture()
    session = Session(capture, "0.11.0")
    checksum = bytes(range(1, 9)) + bytes(8)
    session.ask(operation=3, number=1, request_checksum=checksum)
    session.tcp.lose("server", 256 + 4)
    session.ask(STREAM, 2, body=ident(1))
    session.answer(2, body=stream_details("0.11.0"))
    session.tcp.lose("client", 256)
    orphan = session.answer(1, operation=3, body=u32(0), request_checksum=checksum)
    frames = dissect(capture, two_pass, LOSSY)
    assert not has(frames[orphan][0], "iggy.response_to")
    assert expert(frames[orphan][0], "no_request")


def test_requests_in_flight_before_a_hole(dissect, two_pass):
    """Three reads of one number at once, one of the replies is lost: nobody can tell whose the other two are."""
    capture = synth.Capture()
    session = Session(capture, "0.11.0")
    asked = [session.ask(STREAM, 1, body=ident(1)) for _ in range(3)]
    session.tcp.lose("server", 256 + len(stream_details("0.11.0")))
    answered = [session.answer(1, body=stream_details("0.11.0")) for _ in range(2)]
    frames = dissect(capture, two_pass)
    assert not any(has(frames[packet][0], "iggy.response_to") for packet in answered)
    if two_pass:
        assert all(expert(frames[packet][0], "in_doubt") for packet in asked)


def test_layouts_decide_between_equal_numbers(dissect, two_pass):
    """Reads of 0.11.0 with one number, one reply lost without a trace: the reply goes to the read whose layout it has."""
    capture = synth.Capture()
    session = Session(capture, "0.11.0")
    me = session.ask(ME, 1)
    stream = session.ask(STREAM, 1, body=ident(1))
    answered = session.answer(1, body=stream_details("0.11.0"))
    frames = dissect(capture, two_pass)
    assert number(frames[answered][0], "iggy.response_to") == stream
    if two_pass:
        assert expert(frames[me][0], "in_doubt") or expert(frames[me][0], "no_reply")


def test_equal_numbers_in_flight(dissect, two_pass):
    """Java: a read and a metadata operation of one number are open at once; and two pings in a row."""
    capture = synth.Capture()
    session = Session(capture, "0.11.0")
    read = session.ask(STREAMS, 1)
    create = session.ask(operation=128, number=1, body=name("a"), request_checksum=CHECKSUM_0_11)
    created = session.answer(1, operation=128, body=u32(0) + stream_details("0.11.0", 1, "a"), request_checksum=CHECKSUM_0_11)
    listed = session.answer(1, body=stream_details("0.11.0", 1, "a"))
    pings = [session.ask(PING, 2), session.ask(PING, 2)]
    pongs = [session.answer(2), session.answer(2)]
    frames = dissect(capture, two_pass)
    assert number(frames[created][0], "iggy.response_to") == create
    assert number(frames[listed][0], "iggy.response_to") == read
    assert [number(frames[p][0], "iggy.response_to") for p in pongs] == pings


def test_equal_polls_and_pings_are_no_retries(dissect, two_pass):
    capture = synth.Capture()
    session = Session(capture, "0.11.0")
    for _ in range(3):
        session.ask(PING, 1)
        session.answer(1)
    for _ in range(3):
        session.ask(POLL, 1, body=synth.poll_body(1, 1, 0, 10))
        session.answer(1, body=synth.poll_reply(b"", version="0.11.0"))
    frames = dissect(capture, two_pass)
    assert len(frames) == 14
    assert not any(has(f[0], "iggy.retry") for f in frames.values())


def test_pings_before_the_login_are_no_retries(dissect, two_pass):
    """Before a login the number is 0 in 0.12 and names nothing."""
    capture = synth.Capture()
    session = Session(capture, login=False)
    pings = [(session.ask(PING, 0, session=0), session.answer(0)) for _ in range(3)]
    frames = dissect(capture, two_pass)
    for asked, answered in pings:
        assert number(frames[answered][0], "iggy.response_to") == asked
        assert not has(frames[asked][0], "iggy.retry")


def test_200_in_flight_out_of_order(dissect, two_pass):
    """0.12: 200 requests before the first reply, in segments of three; replies shuffled, several a packet."""
    capture = synth.Capture()
    session = Session(capture)
    asked, answered, frames_out = {}, {}, []
    codes = [PING, STREAMS, ME, STATS]
    for start in range(1, 201, 3):
        numbers = range(start, min(start + 3, 201))
        packet = session.tcp.client(b"".join(session.frame(codes[n % 4], n) for n in numbers))
        asked.update(dict.fromkeys(numbers, packet))
    order = list(range(1, 201))
    random.Random(7).shuffle(order)
    for start in range(0, 200, 7):
        part = order[start:start + 7]
        packet = session.tcp.server(b"".join(reply(request=n, operation=2) for n in part))
        answered.update(dict.fromkeys(part, packet))
    for packet, frames in dissect(capture, two_pass).items():
        frames_out += frames
    replies = {number(f, "iggy.request"): f for f in frames_out if number(f, "iggy.command") == 8 and number(f, "iggy.request")}
    assert sorted(replies) == list(range(1, 201))
    for n, frame in replies.items():
        assert frame.packet == answered[n]
        assert number(frame, "iggy.response_to") == asked[n]
        assert number(frame, "iggy.code") == codes[n % 4]


def test_several_frames_a_packet_both_ways(dissect, two_pass):
    capture = synth.Capture()
    session = Session(capture, "0.11.0")
    asked = session.tcp.client(session.frame(STREAMS, 1) + session.frame(STREAM, 1, body=ident(9)))
    answered = session.tcp.server(reply(stream_details("0.11.0") * 2, request=1) + reply(b"", request=1))
    frames = dissect(capture, two_pass)
    assert [number(f, "iggy.response_to") for f in frames[answered]] == [asked, asked]
    assert [number(f, "iggy.code") for f in frames[answered]] == [STREAMS, STREAM]
    if two_pass:
        assert [number(f, "iggy.response_in") for f in frames[asked]] == [answered, answered]


@pytest.mark.parametrize("asked, answered, code", [(132, 64, 302), (136, 65, 402), (138, 68, 503), (150, 72, 16), (150, 73, 16),
                                                  (150, 74, 16), (132, 132, 302)])
def test_renamed_operations(dissect, asked, answered, code):
    capture = synth.Capture()
    session = Session(capture)
    sent = session.ask(operation=asked, number=1, request_checksum=CHECKSUM_0_12)
    got = session.answer(1, operation=answered, body=u32(1) + u32(0) + u32(1009),
                         request_checksum=0 if answered == 68 else CHECKSUM_0_12)
    frame = dissect(capture)[got][0]
    assert number(frame, "iggy.response_to") == sent
    assert number(frame, "iggy.code") == code


def test_the_request_checksum_confirms(dissect, two_pass):
    """Two creates of one number: the reply names the second one."""
    capture = synth.Capture()
    session = Session(capture)
    session.ask(operation=128, number=5, body=name("a"), request_checksum=CHECKSUM_0_12)
    second = session.ask(operation=128, number=5, body=name("b"), request_checksum=CHECKSUM_0_12 + 1)
    got = session.answer(5, operation=128, body=u32(0) + stream_details(), request_checksum=CHECKSUM_0_12 + 1)
    assert number(dissect(capture, two_pass)[got][0], "iggy.response_to") == second


# --- retries ------------------------------------------------------------------------------------------------------------
def test_retry_of_an_open_request(dissect, two_pass):
    """0.12: the same number again on the same connection; both copies are answered."""
    capture = synth.Capture()
    session = Session(capture)
    one = session.ask(operation=128, number=1, body=name("a"), request_checksum=CHECKSUM_0_12)
    session.ask(PING, 2)
    again = session.ask(operation=128, number=1, body=name("a"), request_checksum=CHECKSUM_0_12)
    third = session.ask(operation=128, number=1, body=name("a"), request_checksum=CHECKSUM_0_12)
    body = u32(0) + stream_details(text="a")
    replies = [session.answer(1, operation=128, body=body, request_checksum=CHECKSUM_0_12) for _ in range(4)]
    frames = dissect(capture, two_pass)
    assert not has(frames[one][0], "iggy.retry")
    for packet in (again, third):
        assert first(frames[packet][0], "iggy.retry") in ("1", "True")
        assert number(frames[packet][0], "iggy.retry_of") == one
    assert [number(frames[p][0], "iggy.response_to") for p in replies[:3]] == [one, again, third]
    assert expert(frames[replies[3]][0], "reply_again")
    if two_pass:
        assert number(frames[one][0], "iggy.retried_in") == third


@pytest.mark.parametrize("version", ["0.11.0", "0.12.2"])
@pytest.mark.parametrize("status", [57, 58])
def test_retry_after_a_transient_refusal(dissect, version, status, two_pass):
    capture = synth.Capture()
    session = Session(capture, version)
    body = synth.poll_body(1, 1, 0, 10)
    one = session.ask(POLL, 3, body=body)
    session.answer(3, status=status)
    again = session.ask(POLL, 3, body=body)
    session.answer(3, body=synth.poll_reply(b"", version=version))
    frames = dissect(capture, two_pass)
    assert number(frames[again][0], "iggy.retry_of") == one


def test_after_the_retry_comes_a_new_poll(dissect, two_pass):
    """0.11.0: only the one after the refusal is a retry, and only with the same bytes."""
    capture = synth.Capture()
    session = Session(capture, "0.11.0")
    body, other = synth.poll_body(1, 1, 0, 10), synth.poll_body(1, 1, 0, 20)
    session.ask(POLL, 3, body=body)
    session.answer(3, status=57)
    different = session.ask(POLL, 3, body=other)
    session.answer(3, body=synth.poll_reply(b"", version="0.11.0"))
    one = session.ask(POLL, 4, body=body)
    session.answer(4, status=57)
    again = session.ask(POLL, 4, body=body)
    session.answer(4, body=synth.poll_reply(b"", version="0.11.0"))
    later = session.ask(POLL, 4, body=body)
    frames = dissect(capture, two_pass)
    assert not has(frames[different][0], "iggy.retry")
    assert number(frames[again][0], "iggy.retry_of") == one
    assert not has(frames[later][0], "iggy.retry")


def test_retry_on_another_connection(dissect, two_pass):
    """0.12: the connection breaks, the next one binds the session and sends the same numbers again."""
    capture = synth.Capture()
    session = Session(capture)
    write = session.ask(operation=128, number=7, body=name("a"), request_checksum=CHECKSUM_0_12)
    read = session.ask(STREAMS, 8)
    session.tcp.reset()
    other = Session(capture, login=False)
    bind = other.ask(BIND, 9, body=login_body()[:4 + 10 + 4] + bytes(64))
    bound = other.answer(9, body=login_reply()[4:])
    write_again = other.ask(operation=128, number=7, body=name("a"), request_checksum=CHECKSUM_0_12)
    read_again = other.ask(STREAMS, 8)
    answered = [other.answer(7, operation=128, body=u32(0) + stream_details(text="a"), request_checksum=CHECKSUM_0_12),
                other.answer(8, body=stream_details(text="a"))]
    frames = dissect(capture, two_pass)
    assert number(frames[bound][0], "iggy.response_to") == bind
    assert number(frames[write_again][0], "iggy.retry_of") == write
    assert number(frames[read_again][0], "iggy.retry_of") == read
    assert [number(frames[p][0], "iggy.response_to") for p in answered] == [write_again, read_again]
    if two_pass:
        assert expert(frames[write][0], "no_reply")
        assert number(frames[write][0], "iggy.retried_in") == write_again


# The number that tells connections apart had 8 bits once.
@pytest.mark.parametrize("between", [0, 255, 299])
def test_reply_over_another_connection(dissect, between, two_pass):
    """A session with two connections: what one asked is answered over the other."""
    capture = synth.Capture()
    session = Session(capture)
    for _ in range(between):
        Session(capture, login=False).ask(PING, 1)
    other = Session(capture, login=False)
    other.ask(BIND, 9, body=login_body()[:18] + bytes(64))
    other.answer(9, body=login_reply()[4:])
    asked = session.ask(STREAMS, 10)
    answered = other.answer(10, body=stream_details())
    frames = dissect(capture, two_pass)
    assert number(frames[answered][0], "iggy.response_to") == asked
    assert expert(frames[answered][0], "other_connection")


@pytest.mark.parametrize("between", [0, 255, 299])
def test_a_copy_of_the_traffic_repeats_nothing(dissect, between, two_pass):
    """Recorded on both sides of a proxy: the same login and requests on another connection are no retries."""
    capture = synth.Capture()
    one = Session(capture)
    one.ask(STREAMS, 10)
    one.answer(10, body=stream_details())
    for _ in range(between):
        Session(capture, login=False, client=CLIENT + 1).ask(PING, 1)
    other = Session(capture)
    asked = other.ask(STREAMS, 10)
    answered = other.answer(10, body=stream_details())
    frames = dissect(capture, two_pass)
    assert not has(frames[asked][0], "iggy.retry")
    assert number(frames[answered][0], "iggy.response_to") == asked


# --- cancellations, evictions --------------------------------------------------------------------------------------------
def test_cancellation(dissect, two_pass):
    capture = synth.Capture()
    session = Session(capture)
    body = synth.poll_body(1, 1, 0, 10) + u64(600_000_000) + u32(1) + u32(1000) + u64(630_000_000)
    deferred = session.ask(DEFERRED, 5, body=body)
    cancel = session.ask(CANCEL, 5)
    answered = session.answer(5, body=synth.poll_reply(b""))
    frames = dissect(capture, two_pass)
    assert number(frames[cancel][0], "iggy.cancels") == deferred
    assert not has(frames[cancel][0], "iggy.retry")
    assert not expert(frames[cancel][0], "no_reply")
    assert not has(frames[cancel][0], "iggy.response_in")
    assert number(frames[answered][0], "iggy.response_to") == deferred
    if two_pass:
        assert number(frames[deferred][0], "iggy.cancelled_in") == cancel


def test_a_cancellation_that_is_refused(dissect, two_pass):
    capture = synth.Capture()
    session = Session(capture, login=False)
    cancel = session.ask(CANCEL, 5)
    answered = session.answer(5, status=40)
    frames = dissect(capture, two_pass)
    assert number(frames[answered][0], "iggy.response_to") == cancel
    assert number(frames[answered][0], "iggy.code") == CANCEL


@pytest.mark.parametrize("reason", [9, 14, 15])
def test_eviction_answers_the_login(dissect, reason, two_pass):
    capture = synth.Capture()
    session = Session(capture, login=False)
    ping = session.ask(PING, 0, session=0)
    login = session.ask(operation=1, number=0, body=login_body(), session=0, request_checksum=CHECKSUM_0_12)
    window = dict(server_protocol_version=0x2C00, server_protocol_version_min=0x2C00) if reason == 14 else {}
    evicted = session.tcp.server(synth.frame(13, client=CLIENT, reason=reason, **window))
    frames = dissect(capture, two_pass)
    assert number(frames[evicted][0], "iggy.response_to") == login
    assert float(first(frames[evicted][0], "iggy.response_time")) == pytest.approx(0.001)
    assert number(frames[evicted][0], "iggy.code") == 40
    if two_pass:
        assert number(frames[login][0], "iggy.response_in") == evicted
        assert not has(frames[ping][0], "iggy.response_in")
        assert number(frames[ping][0], "iggy.evicted_in") == evicted
        assert expert(frames[ping][0], "evicted_before_reply")


def test_eviction_ends_a_session(dissect, two_pass):
    capture = synth.Capture()
    session = Session(capture)
    asked = [session.ask(STREAMS, 1), session.ask(ME, 2)]
    evicted = session.tcp.server(synth.frame(13, client=CLIENT, reason=1))
    after = session.ask(PING, 3)
    answered = session.answer(3)
    frames = dissect(capture, two_pass)
    assert not has(frames[evicted][0], "iggy.response_to")
    assert number(frames[answered][0], "iggy.response_to") == after
    if two_pass:
        assert [number(frames[p][0], "iggy.evicted_in") for p in asked] == [evicted, evicted]


def test_an_eviction_after_a_lost_login_reply(dissect, two_pass):
    """The client went on within the session: its login was answered, in the hole."""
    capture = synth.Capture()
    session = Session(capture, login=False)
    login = session.ask(operation=1, number=0, body=login_body(), session=0)
    session.tcp.lose("server", 300)
    ping = session.ask(PING, 1)
    evicted = session.tcp.server(synth.frame(13, client=CLIENT, reason=13))
    frames = dissect(capture, two_pass)
    assert not has(frames[evicted][0], "iggy.response_to")
    if two_pass:
        assert number(frames[ping][0], "iggy.evicted_in") == evicted
        assert not has(frames[login][0], "iggy.response_in")


# --- why no reply, why no effect -------------------------------------------------------------------------------------------
def test_never_answered(dissect, two_pass):
    capture = synth.Capture()
    session = Session(capture)
    asked = session.ask(STREAMS, 1)
    frame = dissect(capture, two_pass)[asked][0]
    assert expert(frame, "no_reply") == two_pass


def test_a_reply_without_its_request(dissect, two_pass):
    capture = synth.Capture()
    session = Session(capture)
    answered = session.answer(77, operation=132, body=u32(1) + u32(0) + u32(2013))
    frame = dissect(capture, two_pass)[answered][0]
    assert expert(frame, "no_request")
    assert not has(frame, "iggy.response_to")
    assert number(frame, "iggy.code") == 302


def test_given_up_after_900_seconds(dissect, two_pass):
    capture = synth.Capture()
    session = Session(capture)
    kept = session.ask(STREAMS, 1)
    capture.clock += 800_000_000
    lost = session.ask(STREAMS, 2)
    capture.clock += 99_000_000
    answered = session.answer(1, body=stream_details())
    capture.clock += 802_000_000
    late = session.answer(2, body=stream_details())
    frames = dissect(capture, two_pass)
    assert number(frames[answered][0], "iggy.response_to") == kept
    assert not has(frames[late][0], "iggy.response_to")
    assert expert(frames[late][0], "no_request")
    if two_pass:
        assert expert(frames[lost][0], "given_up")
        assert not expert(frames[lost][0], "no_reply")


def test_given_up_beyond_4096(dissect):
    capture = synth.Capture()
    session = Session(capture)
    packets = {}
    for start in range(1, 4200, 100):
        packet = session.tcp.client(b"".join(session.frame(PING, n) for n in range(start, start + 100)))
        packets.update(dict.fromkeys(range(start, start + 100), packet))
    late, early = session.answer(4200), session.answer(1)
    still = session.answer(200)
    frames = dissect(capture)
    assert number(frames[late][0], "iggy.response_to") == packets[4200]
    assert expert(frames[early][0], "no_request")
    assert number(frames[still][0], "iggy.response_to") == packets[200]
    assert expert(frames[packets[1]][0], "given_up")


@pytest.mark.parametrize("below, noted", [(127, False), (128, True), (300, True)])
def test_writes_too_far_below_are_not_executed(dissect, below, noted, two_pass):
    capture = synth.Capture()
    session = Session(capture)
    batch = synth.batch([synth.message(b"x")])
    session.ask(operation=160, number=400, body=synth.send_body(1, 1, 0, batch))
    old = session.ask(operation=160, number=400 - below, body=synth.send_body(1, 1, 0, batch))
    read = session.ask(PING, 1)
    frames = dissect(capture, two_pass)
    assert expert(frames[old][0], "stale_write") == noted
    assert not expert(frames[read][0], "stale_write")


@pytest.mark.parametrize("version, noted", [("0.11.0", False), ("0.12.2", True)])
def test_one_counter_for_all_writes_since_0_12(dissect, version, noted):
    capture = synth.Capture()
    session = Session(capture, version)
    session.ask(operation=160, number=400, body=synth.send_body(1, 1, 0, synth.batch([synth.message(b"x")])))
    old = session.ask(operation=128, number=5, body=name("a"))
    assert expert(dissect(capture)[old][0], "stale_write") == noted


def test_an_older_session_is_fenced(dissect, two_pass):
    capture = synth.Capture()
    session = Session(capture, session=100)
    fine = session.ask(PING, 1)
    fenced = session.ask(PING, 2, session=99)
    frames = dissect(capture, two_pass)
    assert not expert(frames[fine][0], "fenced")
    assert expert(frames[fenced][0], "fenced")


def test_an_empty_reply_to_a_login_is_a_failure(dissect, two_pass):
    capture = synth.Capture()
    session = Session(capture, login=False)
    session.ask(operation=1, number=0, body=login_body(), session=0)
    answered = session.tcp.server(reply(b"", operation=1, request=0))
    refused = session.tcp.server(reply(b"", operation=1, request=0, status=40))
    frames = dissect(capture, two_pass)
    assert expert(frames[answered][0], "failed_login")
    assert not expert(frames[refused][0], "failed_login")


@pytest.mark.parametrize("version, code", [("0.11.0", 40), ("0.12.2", 40), ("0.11.0", 45), ("0.12.2", 45)])
def test_the_code_of_a_login(dissect, version, code):
    capture = synth.Capture()
    session = Session(capture, login=False)
    body = login_body(version)
    if code == 45:
        body = body[:4 + 10 + 4 + (0 if version == "0.11.0" else 32)] + name("a-token") + u32(0)
    login = session.ask(operation=1, number=0, body=body, session=0)
    answered = session.tcp.server(reply(login_reply(version=version), operation=1, request=0))
    frames = dissect(capture)
    assert number(frames[login][0], "iggy.code") == code
    assert number(frames[answered][0], "iggy.code") == code
    assert number(frames[answered][0], "iggy.response_to") == login
