# Sessions: who is on a connection, as of each frame, on all connections of a client.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Logins, binds, logouts and evictions made by hand, and the real captures by values that are read from their packets."""

import collections
import struct

import pytest

import pair_frames
import synth
from synth import ident, login_body, login_reply, name, reply, request, u32, u64

ALICE, BOB = 0x80000000000040000000000000000001, 0x80000000000040000000000000000002
ME, STREAMS, GET_USER, BIND, SYNC = 20, 201, 31, 15, 606
FIELDS = ["client", "number", "user", "user_id", "sdk", "sdk_version", "protocol_version", "server_protocol_version", "server_build",
          "login_time", "consumer_group", "assignment"]


@pytest.fixture
def dissect(tshark, tmp_path):
    def run(capture, two_pass, *options):
        path = capture.write(tmp_path / "made.pcap")
        tshark.forget(path)
        out = collections.defaultdict(list)
        for frame in tshark.frames(path, *(options or ("-Y", "iggy")), two_pass=two_pass):
            out[frame.packet].append(frame)
        return out
    return run


def session(frames, packet, field):
    values = frames[packet][0].values.get("iggy.session." + field)
    return values[0] if values else None


class Client:
    def __init__(self, capture, client=ALICE, version="0.12.2"):
        self.tcp, self.client, self.version, self.number, self.session = capture.connection(), client, version, 0, 0

    def send(self, code=0, body=b"", operation=2, number=None):
        if number is None:
            self.number += 1
        return self.tcp.client(request(body, code=code, operation=operation, client=self.client, session=self.session,
                                       request=self.number if number is None else number))

    def answer(self, body=b"", operation=2, number=None, **values):
        return self.tcp.server(reply(body, operation=operation, request=self.number if number is None else number, **values))

    def login(self, user="alice", user_id=12, session=100, build="1.2.3", refused=False, token=False):
        body = login_body(self.version, user=user)
        if token:
            body = body[:4 + 10 + 4 + (0 if self.version == "0.11.0" else 32)] + name("a-token") + u32(0)
        asked = self.send(body=body, operation=1, number=0)
        if refused:
            return asked, self.answer(operation=1, number=0, body=u32(1) + u32(0) + u32(58))
        self.session = session
        return asked, self.answer(login_reply(user_id, session, self.version, build), operation=1, number=0)


@pytest.mark.parametrize("version", ["0.11.0", "0.12.2"])
def test_a_login(dissect, version, two_pass):
    capture = synth.Capture()
    client = Client(capture, version=version)
    before = client.send(STREAMS, number=0)
    client.answer(number=0)
    asked, answered = client.login()
    after, listed = client.send(STREAMS), client.answer()
    frames = dissect(capture, two_pass)
    assert not any(session(frames, before, field) for field in FIELDS)
    assert session(frames, asked, "user") == "alice"
    assert session(frames, asked, "number") is None
    when = capture.packets[answered - 1][0] % 1_000_000
    for packet in (answered, after, listed):
        assert session(frames, packet, "client") == "01000000-0000-0000-0040-000000000080"
        assert session(frames, packet, "number") == "100"
        assert session(frames, packet, "user") == "alice"
        assert session(frames, packet, "user_id") == "12"
        assert session(frames, packet, "sdk") == "synthetic"
        assert session(frames, packet, "sdk_version") == "1.0"
        assert int(session(frames, packet, "protocol_version"), 0) == synth.VERSIONS[version]
        assert int(session(frames, packet, "server_protocol_version"), 0) == synth.VERSIONS[version]
        assert session(frames, packet, "server_build") == "1.2.3"
        assert ".%06d" % when in session(frames, packet, "login_time")


def test_a_persons_traffic(dissect, two_pass):
    capture = synth.Capture()
    alice, bob = Client(capture, ALICE), Client(capture, BOB)
    alice.login("alice", 12, 100)
    bob.login("bob", 13, 101)
    hers = {alice.send(STREAMS), alice.answer()}
    his = {bob.send(STREAMS), bob.answer()}
    frames = dissect(capture, two_pass, "-Y", 'iggy.session.user == "alice"')
    assert hers < set(frames) and not his & set(frames)


def test_the_next_connection_of_a_session(dissect, two_pass):
    capture = synth.Capture()
    one = Client(capture)
    _, answered = one.login()
    one.tcp.reset()
    two = Client(capture)
    two.number = 5
    before = two.send(STREAMS)
    bind = two.send(BIND, body=login_body()[:18] + bytes(64))
    bound = two.answer(login_reply(12, 100, build="1.2.4")[4:])
    after = two.send(STREAMS)
    frames = dissect(capture, two_pass)
    for packet in (before, bind, bound, after):
        assert session(frames, packet, "user") == "alice"
        assert session(frames, packet, "number") == "100"
        assert session(frames, packet, "login_time") == session(frames, answered, "login_time")
    assert session(frames, after, "server_build") == "1.2.4"


def test_a_refused_login(dissect, two_pass):
    capture = synth.Capture()
    client = Client(capture)
    asked, refused = client.login(refused=True)
    after = client.send(STREAMS, number=0)
    again, _ = client.login("bob", 13, 101)
    frames = dissect(capture, two_pass)
    assert session(frames, asked, "user") == session(frames, refused, "user") == "alice"
    assert session(frames, after, "user") is None
    assert session(frames, again, "user") == "bob"


def test_a_login_that_is_evicted(dissect, two_pass):
    capture = synth.Capture()
    client = Client(capture)
    client.send(body=login_body(user="alice"), operation=1, number=0)
    evicted = client.tcp.server(synth.frame(13, client=ALICE, reason=9))
    after = client.send(STREAMS, number=0)
    frames = dissect(capture, two_pass)
    assert session(frames, evicted, "user") == "alice"
    assert session(frames, after, "user") is None


@pytest.mark.parametrize("way", ["logout", "eviction"])
def test_the_end_of_a_session(dissect, way, two_pass):
    capture = synth.Capture()
    client = Client(capture)
    client.login()
    if way == "logout":
        client.send(operation=3)
        last = client.answer(operation=3)
    else:
        last = client.tcp.server(synth.frame(13, client=ALICE, reason=13))
    client.session = 0
    after = client.send(STREAMS, number=0)
    frames = dissect(capture, two_pass)
    assert session(frames, last, "user") == "alice"
    assert session(frames, after, "user") is None


def test_a_login_by_token(dissect, two_pass):
    """The token names nobody; the user's name is learnt later."""
    capture = synth.Capture()
    client = Client(capture)
    client.login(token=True)
    before = client.send(GET_USER, ident(12))
    client.answer(u32(12) + u64(0) + b"\x01" + name("alice") + u32(0) * 3)
    after = client.send(STREAMS)
    frames = dissect(capture, two_pass)
    assert session(frames, before, "user") is None
    assert session(frames, before, "user_id") == "12"
    assert session(frames, after, "user") == "alice"


def test_a_session_without_its_login(dissect, two_pass):
    capture = synth.Capture()
    client = Client(capture)
    client.session = 77
    asked, answered = client.send(STREAMS), client.answer()
    frames = dissect(capture, two_pass)
    for packet in (asked, answered):
        assert session(frames, packet, "number") == "77"
        assert session(frames, packet, "client") == "01000000-0000-0000-0040-000000000080"
        assert session(frames, packet, "user") is None


def test_consumer_groups(dissect, two_pass):
    capture = synth.Capture()
    client = Client(capture)
    client.login()
    group = ident("orders") + ident("events") + ident("readers")
    client.send(operation=148, body=group)
    joined = client.answer(u32(0), operation=148)
    client.send(SYNC, group)
    synced = client.answer(u64(3) + u32(2) + u32(0) + u32(2))
    after = client.send(STREAMS)
    client.send(operation=149, body=group)
    left = client.answer(u32(0), operation=149)
    frames = dissect(capture, two_pass)
    assert session(frames, joined, "consumer_group") == "orders/events/readers"
    assert session(frames, joined, "assignment") is None
    assert session(frames, synced, "assignment") == session(frames, after, "assignment") == "orders/events/readers: 0, 2"
    assert session(frames, left, "consumer_group") is None


@pytest.mark.parametrize("capture", ["real/01_admin_rust.pcapng", "real/01c_admin_cli.pcapng", "real012/06_reconnect.pcapng"])
def test_real_sessions(tshark, captures, capture, two_pass):
    """Each request's session number and client id stand in the packet; the name is in the login before it."""
    rows = {}
    users = {}
    for row in pair_frames.frames_of(captures / capture):
        data = row["data"]
        if row["command"] != 5:
            continue
        client = data[128:144]
        if row["operation"] == 1 and pair_frames.login_code(data[256:]) == 40:
            at = 256 + 4
            for _ in range(2):
                at += 1 + data[at]
            at += 32 if struct.unpack_from("<I", data, 256)[0] >= 0x3000 else 0
            users[client] = data[at + 1:at + 1 + data[at]].decode()
        rows.setdefault(row["end_pkt"], []).append((client.hex(), row["session"], users.get(client)))
    checked = 0
    for frame in tshark.frames(capture, "-Y", "iggy.command == 5", two_pass=two_pass):
        if int(frame.values["iggy.command"][0]) != 5 or int(frame.values["iggy.session"][0]) == 0:
            continue
        client, number, user = next(one for one in rows[frame.packet] if one[1] == int(frame.values["iggy.session"][0]))
        assert frame.values["iggy.session.client"][0].replace("-", "") == client
        assert int(frame.values["iggy.session.number"][0]) == number
        if user and "iggy.session.user" in frame.values:
            assert frame.values["iggy.session.user"][0] == user
            checked += 1
    assert checked > 40
