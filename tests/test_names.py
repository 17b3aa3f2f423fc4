# Names learnt: ids with the name that earlier frames of the server gave them, and the other way round.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures made by hand: who teaches a name, who uses it, and from which frame on."""

import collections

import pytest

import synth
from synth import ident, login_body, login_reply, name, reply, request, u8, u32, u64

CLIENT = 0x80000000000040000000000000000001
OTHER_CLUSTER = bytes(range(16, 32))
GET_USER, GET_USERS, GET_STREAM, GET_STREAMS, GET_TOPIC, GET_TOPICS = 31, 32, 200, 201, 300, 301
GET_GROUP, GET_GROUPS, POLL, BIND = 600, 601, 100, 15
VERSIONS = ["0.11.0", "0.12.2"]


class Session:
    def __init__(self, capture, version="0.12.2", cluster=synth.CLUSTER, client=CLIENT, user="iggy", user_id=0, addresses=None,
                 **options):
        self.version, self.cluster, self.client, self.number = version, cluster, client, 0
        self.tcp = capture.connection(addresses=addresses, **options)
        self.tcp.client(request(login_body(version, user=user), operation=1, client=client, request=0))
        self.tcp.server(reply(login_reply(user_id, 100, version), operation=1, request=0, cluster=cluster))

    def ask(self, code=0, body=b"", operation=2):
        self.number += 1
        return self.tcp.client(request(body, code=code, operation=operation, client=self.client, request=self.number, session=100))

    def answer(self, body=b"", operation=2, status=0):
        return self.tcp.server(reply(body, operation=operation, request=self.number, cluster=self.cluster, status=status))

    def do(self, code=0, body=b"", answer=b"", operation=2, answered=None, status=0):
        """A request and its reply; the packets of both."""
        return self.ask(code, body, operation), self.answer(answer, answered or operation, status)

    def blocks(self, one_before=True):
        return u32(0) * (1 if self.version == "0.11.0" and one_before else 2)

    def stream(self, identifier, text, topics=b"", count=0):
        return u32(identifier) + u64(0) + u32(count) + u64(0) + u64(0) + name(text) + self.blocks() + topics

    def topic(self, identifier, text):
        """A topic header without partitions (commands.md 3.2)."""
        middle = u64(0) + u8(1) + u64(0) if self.version == "0.11.0" else b""
        return u32(identifier) + u64(0) + u32(0) + middle + u64(0) + u64(0) + name(text) + u32(0) * 2

    def user(self, identifier, text):
        return u32(identifier) + u64(0) + u8(1) + name(text) + self.blocks() + u32(0)

    @staticmethod
    def group(identifier, text):
        return u32(identifier) + u32(0) + u32(0) + name(text)

    def poll(self, stream, topic):
        return self.ask(POLL, synth.poll_body(stream, topic, 0, 10))


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


def texts(frames, packet, field):
    return frames[packet][0].values.get(field, [])


def names(frames, packet):
    """Stream and topic names of the frame."""
    return texts(frames, packet, "iggy.stream.name"), texts(frames, packet, "iggy.topic.name")


# --- who teaches --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("teacher", ["create", "get", "list", "get_details"])
def test_streams_and_topics(dissect, version, teacher, two_pass):
    capture = synth.Capture()
    s = Session(capture, version)
    before = s.poll(7, 3)
    s.answer(status=1009)
    if teacher == "create":
        s.do(body=name("orders"), answer=u32(0) + s.stream(7, "orders"), operation=128)
        s.do(body=ident(7) + u32(0) + name("events"), answer=u32(0) + s.topic(3, "events"), operation=132, answered=64)
    elif teacher == "get":
        s.do(GET_STREAM, ident("orders"), s.stream(7, "orders"))
        s.do(GET_TOPIC, ident(7) + ident("events"), s.topic(3, "events"))
    elif teacher == "list":
        s.do(GET_STREAMS, b"", s.stream(6, "others") + s.stream(7, "orders"))
        s.do(GET_TOPICS, ident("orders"), u32(2) + s.topic(2, "other") + s.topic(3, "events"))
    else:
        s.do(GET_STREAM, ident(7), s.stream(7, "orders", s.topic(2, "other") + s.topic(3, "events"), 2))
    after = s.poll(7, 3)
    by_name = s.poll("orders", "events")
    unknown = s.poll(8, 3)
    frames = dissect(capture, two_pass)
    assert names(frames, before) == ([], [])
    assert names(frames, after) == (["orders"], ["events"])
    assert names(frames, unknown) == ([], [])
    assert texts(frames, by_name, "iggy.stream.id") == ["7"]
    assert texts(frames, by_name, "iggy.topic.id") == ["3"]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("teacher", ["create", "get", "list"])
def test_consumer_groups(dissect, version, teacher, two_pass):
    capture = synth.Capture()
    s = Session(capture, version)
    if teacher == "create":
        s.do(body=ident(1) + ident(2) + name("readers"), answer=u32(0) + s.group(5, "readers"), operation=139)
    elif teacher == "get":
        s.do(GET_GROUP, ident(1) + ident(2) + ident(5), s.group(5, "readers"))
    else:
        s.do(GET_GROUPS, ident(1) + ident(2), s.group(4, "others") + s.group(5, "readers"))
    join = s.ask(body=ident(1) + ident(2) + ident(5), operation=148)
    elsewhere = s.ask(body=ident(1) + ident(3) + ident(5), operation=148)
    frames = dissect(capture, two_pass)
    assert texts(frames, join, "iggy.consumer_group.name") == ["readers"]
    assert texts(frames, elsewhere, "iggy.consumer_group.name") == []


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("teacher", ["create", "get", "list", "login"])
def test_users(dissect, version, teacher, two_pass):
    capture = synth.Capture()
    s = Session(capture, version, user="alice" if teacher == "login" else "iggy", user_id=12 if teacher == "login" else 0)
    if teacher == "create":
        s.do(body=name("alice") + name("secret") + u8(1) + u8(0), answer=u32(0) + s.user(12, "alice"), operation=141)
    elif teacher == "get":
        s.do(GET_USER, ident("alice"), s.user(12, "alice"))
    elif teacher == "list":
        s.do(GET_USERS, b"", s.user(12, "alice")[:-4])
    delete = s.ask(body=ident(12), operation=143)
    frames = dissect(capture, two_pass)
    assert texts(frames, delete, "iggy.user.name") == ["alice"]


def test_a_send_confirmation_teaches(dissect, two_pass):
    """The request names stream and topic, the reply numbers them."""
    capture = synth.Capture()
    s = Session(capture)
    batch = synth.batch([synth.message(b"x")])
    _, confirmed = s.do(body=synth.send_body("orders", "events", 0, batch), answer=u32(1) + u32(7) + u32(3) + u32(0) + u64(100),
                        operation=160)
    after = s.poll(7, 3)
    frames = dissect(capture, two_pass)
    assert names(frames, after) == (["orders"], ["events"])
    assert texts(frames, confirmed, "iggy.stream.id") == ["7"]


def test_a_reply_names_what_its_request_did_after_a_lost_rename(dissect, two_pass):
    """What was learnt before is older than the name that the request has."""
    capture = synth.Capture()
    s = Session(capture, "0.11.0")
    s.do(code=GET_STREAM, body=ident("orders"), answer=s.stream(7, "orders"))
    s.do(GET_TOPIC, ident(7) + ident(3), s.topic(3, "events"))
    before = s.poll(7, 3)
    batch = synth.batch([synth.message(b"x")])
    _, confirmed = s.do(body=synth.send_body("orders", "renamed", 0, batch), answer=u32(1) + u32(7) + u32(3) + u32(0) + u64(100),
                        operation=160)
    after = s.poll(7, 3)
    frames = dissect(capture, two_pass)
    assert names(frames, before) == (["orders"], ["events"])
    assert names(frames, confirmed) == (["orders"], ["renamed"])
    assert names(frames, after) == (["orders"], ["renamed"])


def test_a_refusal_teaches_nothing(dissect, two_pass):
    capture = synth.Capture()
    s = Session(capture, "0.11.0")
    s.do(GET_STREAM, ident(7), s.stream(7, "orders"))
    s.do(body=ident(7) + name("renamed"), answer=u32(1) + u32(0) + u32(1012), operation=129)
    s.do(body=ident(7), answer=u32(1) + u32(0) + u32(41), operation=130)
    after = s.poll(7, 3)
    assert names(dissect(capture, two_pass), after)[0] == ["orders"]


# --- what changes ---------------------------------------------------------------------------------------------------------
def option(key, value):
    return synth.header_value(2, key.encode()) + synth.header_value(2, value.encode())


@pytest.mark.parametrize("version", VERSIONS)
def test_renames(dissect, version, two_pass):
    capture = synth.Capture()
    s = Session(capture, version)
    s.do(GET_STREAM, ident(7), s.stream(7, "orders", s.topic(3, "events"), 1))
    s.do(GET_USER, ident(12), s.user(12, "alice"))
    before = s.poll(7, 3)
    user_before = s.ask(GET_USER, ident(12))
    if version == "0.11.0":
        s.do(body=ident("orders") + name("sales"), answer=u32(0), operation=129)
        s.do(body=ident(7) + ident("events") + name("facts"), answer=u32(0), operation=133)
        s.do(body=ident(12) + u8(1) + name("bob") + u8(0) + u8(0), answer=u32(0), operation=142)
    else:
        s.do(body=u8(2) + ident("orders") + u8(0) + option("name", "sales"), answer=u32(0), operation=150, answered=72)
        s.do(body=u8(1) + ident(7) + ident("events") + u8(0) + option("name", "facts"), answer=u32(0), operation=150, answered=73)
        s.do(body=u8(3) + ident("alice") + u8(0) + option("username", "bob"), answer=u32(0), operation=150, answered=74)
    after = s.poll(7, 3)
    user_after = s.ask(GET_USER, ident(12))
    by_name, by_old_name = s.poll("sales", "facts"), s.poll("orders", "events")
    frames = dissect(capture, two_pass)
    assert names(frames, before) == (["orders"], ["events"])
    assert names(frames, after) == (["sales"], ["facts"])
    assert texts(frames, user_before, "iggy.user.name") == ["alice"]
    assert texts(frames, user_after, "iggy.user.name") == ["bob"]
    assert texts(frames, by_name, "iggy.topic.id") == ["3"]
    assert texts(frames, by_old_name, "iggy.stream.id") == []


@pytest.mark.parametrize("version", VERSIONS)
def test_deletes(dissect, version, two_pass):
    """Ids are used again: the topics of a deleted stream are gone with it."""
    capture = synth.Capture()
    s = Session(capture, version)
    s.do(GET_STREAM, ident(7), s.stream(7, "orders", s.topic(3, "events"), 1))
    s.do(GET_GROUP, ident(7) + ident(3) + ident(5), s.group(5, "readers"))
    s.do(body=ident("orders"), answer=u32(0), operation=130)
    gone = s.ask(body=ident(7) + ident(3) + ident(5), operation=148)
    s.do(body=name("new"), answer=u32(0) + s.stream(7, "new"), operation=128)
    reused = s.ask(body=ident(7) + ident(3) + ident(5), operation=148)
    s.do(body=ident(7) + u32(0) + name("second"), answer=u32(0) + s.topic(3, "second"), operation=132, answered=64)
    again = s.ask(body=ident(7) + ident(3) + ident(5), operation=148)
    s.do(body=ident(7) + ident(3), answer=u32(0), operation=134)
    topic_gone = s.poll(7, 3)
    frames = dissect(capture, two_pass)
    assert names(frames, gone) == ([], [])
    assert names(frames, reused) == (["new"], [])
    assert names(frames, again) == (["new"], ["second"])
    assert texts(frames, again, "iggy.consumer_group.name") == []
    assert names(frames, topic_gone) == (["new"], [])


def test_deleted_groups_and_users(dissect, two_pass):
    capture = synth.Capture()
    s = Session(capture)
    s.do(GET_GROUP, ident(7) + ident(3) + ident(5), s.group(5, "readers"))
    s.do(GET_USER, ident(12), s.user(12, "alice"))
    s.do(body=ident(7) + ident(3) + ident("readers"), answer=u32(0), operation=140)
    s.do(body=ident("alice"), answer=u32(0), operation=143)
    group, user = s.ask(body=ident(7) + ident(3) + ident(5), operation=148), s.ask(GET_USER, ident(12))
    frames = dissect(capture, two_pass)
    assert texts(frames, group, "iggy.consumer_group.name") == []
    assert texts(frames, user, "iggy.user.name") == []


# --- whose names ------------------------------------------------------------------------------------------------------------
HERE, THERE = (b"\x0a\0\0\1", b"\x0a\0\0\2"), (b"\x0a\0\0\1", b"\x0a\0\0\3")


@pytest.mark.parametrize("clusters, addresses, shared", [
    ((synth.CLUSTER, synth.CLUSTER), (HERE, HERE), True),
    ((synth.CLUSTER, synth.CLUSTER), (HERE, THERE), True),      # another node of the cluster
    ((synth.CLUSTER, OTHER_CLUSTER), (HERE, THERE), False),
    ((bytes(16), bytes(16)), (HERE, HERE), True),               # nothing but the address
    ((bytes(16), bytes(16)), (HERE, THERE), False),
])
def test_names_belong_to_a_server(dissect, clusters, addresses, shared, two_pass):
    capture = synth.Capture()
    one = Session(capture, cluster=clusters[0], addresses=addresses[0])
    one.do(GET_STREAM, ident(7), one.stream(7, "orders"))
    two = Session(capture, cluster=clusters[1], addresses=addresses[1], client=CLIENT + 1)
    asked = two.poll(7, 3)
    assert names(dissect(capture, two_pass), asked)[0] == (["orders"] if shared else [])


def test_names_learnt_before_the_cluster_was_named(dissect, two_pass):
    """Servers of 0.11.0 name their cluster in replies to replicated commands alone; it may be known by then."""
    capture = synth.Capture()
    link = capture.connection(server_port=9090)
    link.client(synth.frame(14, cluster=synth.CLUSTER, replica=1))
    s = Session(capture, cluster=bytes(16))
    s.do(GET_STREAM, ident(7), s.stream(7, "orders"))
    before = link.client(synth.frame(9, cluster=synth.CLUSTER, group=7 << 32, commit=1))
    s.cluster = synth.CLUSTER
    s.do(body=name("other") + s.blocks(), answer=u32(0) + s.stream(8, "other"), operation=128)
    after = link.client(synth.frame(9, cluster=synth.CLUSTER, group=7 << 32, commit=2))
    asked = s.poll(7, 3)
    frames = dissect(capture, two_pass)
    assert names(frames, before)[0] == [] and names(frames, after)[0] == ["orders"] and names(frames, asked)[0] == ["orders"]


def bound_late(capture, teach):
    """A session with an address whose cluster is named only behind what `teach` teaches; the cluster is known from elsewhere."""
    elsewhere = capture.connection(server_port=9090, addresses=(b"\x0a\x00\x00\x03", b"\x0a\x00\x00\x04"))
    elsewhere.client(synth.frame(14, cluster=synth.CLUSTER, replica=1))
    s = Session(capture, cluster=bytes(16))
    teach(s)
    s.cluster = synth.CLUSTER
    s.do(operation=128, body=name("other") + s.blocks(False), answer=u32(0) + s.stream(99, "other"))
    return s


def test_a_name_that_two_had_goes_to_the_cluster_with_the_later_one(dissect, two_pass):
    """Thirty pairs of ids with one name each: what was given to another, is not the first one's any more."""
    def teach(s):
        for first in (100, 200):
            s.do(GET_STREAMS, answer=b"".join(s.stream(first + i, "s%d" % i) for i in range(30)))

    capture = synth.Capture()
    s = bound_late(capture, teach)
    polls = [(s.poll("s%d" % i, 1), s.poll(100 + i, 1), s.poll(200 + i, 1)) for i in range(30)]
    frames = dissect(capture, two_pass)
    for i, (by_name, by_first, by_second) in enumerate(polls):
        assert [texts(frames, packet, "iggy.stream." + part) for packet, part in (
            (by_name, "id"), (by_first, "name"), (by_second, "name"))] == [[str(200 + i)], [], ["s%d" % i]]


def test_what_is_gone_does_not_go_to_the_cluster(dissect, two_pass):
    """A topic of a stream that was deleted; the stream's id is used again, without its topics."""
    def teach(s):
        s.do(GET_STREAM, ident(7), s.stream(7, "orders", s.topic(1, "old"), 1))
        s.do(operation=130, body=ident(7), answer=u32(0))
        s.do(GET_STREAM, ident(7), s.stream(7, "sales"))

    capture = synth.Capture()
    s = bound_late(capture, teach)
    packet = s.poll(7, 1)
    assert names(dissect(capture, two_pass), packet) == (["sales"], [])


def test_names_between_servers(dissect, two_pass):
    """A prepare of a partition carries ids alone, in its group."""
    capture = synth.Capture()
    s = Session(capture)
    s.do(GET_STREAM, ident(7), s.stream(7, "orders", s.topic(3, "events"), 1))
    link = capture.connection(server_port=9090)
    link.client(synth.frame(14, cluster=synth.CLUSTER, replica=1))
    prepare = link.client(synth.frame(6, synth.batch([synth.message(b"x")]), cluster=synth.CLUSTER, op=1, operation=160,
                                      group=7 << 32 | 3 << 20 | 1, client=CLIENT, request=9, session=100))
    frames = dissect(capture, two_pass)
    assert names(frames, prepare) == (["orders"], ["events"])
    assert texts(frames, prepare, "iggy.partition.id")[0] == "1"


def test_prepares_rename_and_delete(dissect, two_pass):
    """The replica plane alone shows what other clients do."""
    capture = synth.Capture()
    s = Session(capture)
    s.do(GET_STREAM, ident(7), s.stream(7, "orders", s.topic(3, "events"), 1))
    link = capture.connection(server_port=9090)
    link.client(synth.frame(14, cluster=synth.CLUSTER, replica=1))
    values = dict(cluster=synth.CLUSTER, group=1 << 63, client=CLIENT + 5, request=1, session=200, partition_incarnation=1)
    link.client(synth.frame(6, ident(7) + ident(3) + u8(1) + name("facts") + u32(0) * 2, op=1, operation=73, **values))
    renamed = s.poll(7, 3)
    link.client(synth.frame(6, ident(7), op=2, operation=130, **values))
    deleted = s.poll(7, 3)
    frames = dissect(capture, two_pass)
    assert names(frames, renamed) == (["orders"], ["facts"])
    assert names(frames, deleted) == ([], [])


def test_what_a_frame_changes_holds_behind_it(dissect, two_pass):
    """A prepare that renames still finds the id of the old name in itself, in every pass."""
    capture = synth.Capture()
    s = Session(capture)
    s.do(GET_STREAM, ident(7), s.stream(7, "orders"))
    link = capture.connection(server_port=9090)
    link.client(synth.frame(14, cluster=synth.CLUSTER, replica=1))
    values = dict(cluster=synth.CLUSTER, group=1 << 63, client=CLIENT + 5, session=200, partition_incarnation=1)
    renames = link.client(synth.frame(6, ident("orders") + name("facts"), op=1, operation=129, request=1, **values))
    deletes = link.client(synth.frame(6, ident("facts"), op=2, operation=130, request=2, **values))
    after = link.client(synth.frame(6, ident("facts"), op=3, operation=130, request=3, **values))
    frames = dissect(capture, two_pass)
    found = [texts(frames, packet, "iggy.stream.id") for packet in (renames, deletes, after)]
    assert found == [["7"], ["7"], []]


def test_a_reply_names_what_its_request_did(dissect, tshark, tmp_path, two_pass):
    """Info of a reply speaks of the request's objects; names learnt stand in it."""
    capture = synth.Capture()
    s = Session(capture, "0.11.0")
    s.do(GET_STREAM, ident(7), s.stream(7, "orders", s.topic(3, "events"), 1))
    polled, answered = s.do(POLL, synth.poll_body(7, 3, 0, 10), synth.poll_reply(b"", version="0.11.0"))
    path = capture.write(tmp_path / "info.pcap")
    tshark.forget(path)
    lines = tshark.info(path, two_pass=two_pass)
    assert "poll_messages orders/events" in lines[polled - 1]
    assert "poll_messages orders/events" in lines[answered - 1]


def test_a_filter_finds_names_learnt(dissect, two_pass):
    capture = synth.Capture()
    s = Session(capture)
    learnt, _ = s.do(GET_STREAM, ident(7), s.stream(7, "orders"))
    after = s.poll(7, 3)
    other = s.poll(8, 3)
    frames = dissect(capture, two_pass, "-Y", 'iggy.stream.name == "orders"')
    assert after in frames and other not in frames and learnt not in frames


def test_frames_of_one_packet_are_in_order(dissect, two_pass):
    """The reply that teaches stands behind another one in its packet."""
    capture = synth.Capture()
    s = Session(capture, "0.11.0")
    s.ask(GET_STREAM, ident(7))
    s.ask(GET_STREAM, ident(8))
    learnt = s.tcp.server(reply(s.stream(7, "orders"), request=1, cluster=s.cluster) +
                          reply(s.stream(8, "sales"), request=2, cluster=s.cluster))
    both = s.tcp.client(request(synth.poll_body(7, 1, 0, 1), code=POLL, client=CLIENT, request=3, session=100) +
                        request(synth.poll_body(8, 1, 0, 1), code=POLL, client=CLIENT, request=3, session=100))
    frames = dissect(capture, two_pass)
    assert len(frames[learnt]) == 2
    assert [f.values["iggy.stream.name"] for f in frames[both]] == [["orders"], ["sales"]]
