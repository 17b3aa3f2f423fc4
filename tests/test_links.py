# Links across frames and connections of the replica plane.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Truth: tools/link_frames.py on the real cluster captures, and made-up exchanges whose links are known by construction."""

import pytest

import link_frames
from conftest import CAPTURES
from synth import Capture, frame, login_body, name, reply, request, u32, u64
from xxh3 import xxh3_64

CLUSTERS = ["12_cluster_startup", "12b_cluster_restart", "12c_cluster_startup_auth", "13_cluster_writes", "17_cluster_idle"]
HEURISTIC = ("-o", "tcp.try_heuristic_first:TRUE")  # port 9092 is Kafka's
CLUSTER = bytes.fromhex("21bb05c88727bab88d0ec27be8a72d46")
METADATA = 1 << 63
CLIENT = 0x80000000000040000000000000000001


def numbers(values, field):
    return [int(one) for one in values.get(field, [])]


@pytest.fixture(scope="module", params=[(one, again) for one in CLUSTERS for again in (False, True)],
                ids=lambda one: "%s-%s" % (one[0], "two-pass" if one[1] else "one-pass"))
def linked(request, tshark):
    """Truth and frames of a capture, and whether it was read twice."""
    capture, two_pass = request.param
    path = CAPTURES / ("real/%s.pcapng" % capture)
    truth = link_frames.links_of(path)
    shown = tshark.frames(path, *HEURISTIC, two_pass=two_pass)
    assert [(one.packet, one.command) for one in truth] == [(one.packet, int(one.values["iggy.command"][0])) for one in shown]
    return list(zip(truth, shown)), two_pass


def test_prepares_and_prepare_oks(linked):
    pairs, two_pass = linked
    for truth, shown in pairs:
        if truth.command == 7:
            wanted = truth.links.get("prepare"), truth.links.get("suffix")
            assert wanted != (None, None), "an unlinked prepare_ok in packet %d" % truth.packet
            assert numbers(shown.values, "iggy.prepare_in") == ([wanted[0]] if wanted[0] else [])
            assert numbers(shown.values, "iggy.suffix_in") == ([wanted[1]] if wanted[1] else [])
            assert float(shown.values["iggy.prepare_ok.time"][0]) > 0
            assert "iggy.expert.no_prepare" not in shown.values
        if truth.command == 6:
            assert numbers(shown.values, "iggy.prepare_in") == ([truth.links["prepare"]] if "prepare" in truth.links else [])
            if "oks" in truth.links:
                assert numbers(shown.values, "iggy.prepare_ok_in") == (truth.links["oks"] if two_pass else [])


def test_commits(linked):
    pairs, two_pass = linked
    for truth, shown in pairs:
        if truth.command == 9:
            count = truth.links["commits"]
            assert numbers(shown.values, "iggy.commits_count") == ([count] if count else []), truth.packet
            assert len(shown.values.get("iggy.prepare_in", []) + shown.values.get("iggy.suffix_in", [])) == count
        if truth.command == 6 and "oks" in truth.links:
            wanted = [truth.links["commit"]] if two_pass and "commit" in truth.links else []
            assert numbers(shown.values, "iggy.commit_in") == wanted


def test_requests(linked):
    pairs, two_pass = linked
    for truth, shown in pairs:
        if truth.command == 6 and "prepare" not in truth.links:
            assert numbers(shown.values, "iggy.request_in") == ([truth.links["request"]] if "request" in truth.links else [])
        if truth.command == 5:
            wanted = [truth.links["prepared"]] if two_pass and "prepared" in truth.links else []
            assert numbers(shown.values, "iggy.prepared_in") == wanted, truth.packet


def test_view_changes(linked):
    pairs, two_pass = linked
    for truth, shown in pairs:
        change = truth.links.get("change")
        assert numbers(shown.values, "iggy.view_change") == ([change] if change else []), truth.packet
        if not change:
            continue
        first, start = truth.links["first"], truth.links["start"]
        begins = truth.packet == first and "iggy.expert.view_change" in shown.values
        assert begins or numbers(shown.values, "iggy.view_change.first_in") == [first]
        ends = "iggy.expert.view_start" in shown.values
        assert not ends or truth.packet == start
        assert ends or numbers(shown.values, "iggy.view_change.start_in") == ([start] if two_pass and start else [])


def test_ends(linked):
    pairs, _ = linked
    for truth, shown in pairs:
        if truth.command in (5, 8, 13):
            assert "iggy.replica.local" not in shown.values
        else:
            wanted = truth.links["sender"]
            assert numbers(shown.values, "iggy.replica.local") == ([] if wanted is None else [wanted])


def test_both_ends_are_learnt(tshark):
    """Three connections of three replicas: after the first frames of both directions both ids are on every frame."""
    rows = tshark.fields(CAPTURES / "real/13_cluster_writes.pcapng", ["iggy.replica.local", "iggy.replica.peer", "tcp.stream"],
                         "-Y", "iggy.command == 7", *HEURISTIC)
    assert len(rows) == 48 and {(row[0][0], row[1][0]) for row in rows} == {("1", "0"), ("2", "0")}


def test_handshake(tshark, two_pass):
    """12c has three handshakes: hello, challenge, finish on each connection."""
    rows = tshark.fields(CAPTURES / "real/12c_cluster_startup_auth.pcapng", ["frame.number", "iggy.command", "iggy.response_to", "iggy.response_in"],
                         "-Y", "iggy.command in {14..16}", *HEURISTIC, two_pass=two_pass)
    forward = [["14"], ["33"], ["52"]] if two_pass else [[], [], []]
    wanted = []
    for (hello, challenge, finish), answer in zip(((12, 14, 16), (31, 33, 35), (50, 52, 54)), forward):
        wanted += [[[str(hello)], ["14"], [], answer], [[str(challenge)], ["15"], [str(hello)], []],
                   [[str(finish)], ["16"], [str(challenge)], []]]
    assert rows == wanted


def test_a_view_change_in_order(tshark):
    """The filter that the README names: all frames of one view change, in order."""
    rows = tshark.fields(CAPTURES / "real/12c_cluster_startup_auth.pcapng", ["frame.number", "iggy.command"],
                         "-Y", "iggy.view_change == 1", *HEURISTIC)
    assert [int(row[0][0]) for row in rows] == [56, 57, 58, 60, 62, 63, 65, 66, 68, 70]
    assert rows[0][1] == ["10"] and rows[-1][1] == ["12"]


# --- made-up exchanges ------------------------------------------------------------------------------------------------
def sealed(command, body=b"", **values):
    return frame(command, body, cluster=CLUSTER, **values)


def prepare(op, group=METADATA, command=6, **values):
    values = dict(dict(operation=128, client=CLIENT, request=op, op=op, commit=op - 1, group=group, timestamp=op), **values)
    return sealed(command, name("stream-%d" % op), **values)


def name_of(data):
    """The identity of a prepare as its acknowledgements carry it."""
    return data[0:16]


def prepare_ok(data, replica=1):
    return sealed(7, op=int.from_bytes(data[176:184], "little"), group=int.from_bytes(data[216:224], "little"),
                  prepare_checksum=name_of(data), replica=replica)


class Cluster:
    """Three replicas, a connection for each pair; the lower id dials."""

    def __init__(self, step=1000):
        self.capture = Capture(step=step)
        self.connections = {}
        for low, high in ((0, 1), (0, 2), (1, 2)):
            one = self.capture.connection(server_port=9090 + high, addresses=(bytes((10, 0, 0, low)), bytes((10, 0, 0, high))))
            one.client(sealed(14, replica=low))
            self.connections[low, high] = one

    def send(self, sender, receiver, data):
        low, high = min(sender, receiver), max(sender, receiver)
        return self.connections[low, high].send("client" if sender == low else "server", data)

    def write(self, tmp_path):
        return self.capture.write(tmp_path / "cluster.pcap")


def by_packet(tshark, path, names, *options, two_pass=True):
    rows = tshark.fields(path, ["frame.number"] + list(names), "-Y", "iggy", *HEURISTIC, *options, two_pass=two_pass)
    return {int(row[0][0]): row[1:] for row in rows}


def test_chain_acknowledgements_commit(tshark, tmp_path):
    """Primary 0, chain 0 -> 1 -> 2; both backups acknowledge to 0; a late acknowledgement comes after the commit."""
    cluster = Cluster()
    data = prepare(5)
    first, forwarded = cluster.send(0, 1, data), cluster.send(1, 2, data)
    early = cluster.send(1, 0, prepare_ok(data, 1))
    commit = cluster.send(0, 1, sealed(9, commit=5, group=METADATA, replica=0))
    again = cluster.send(0, 2, sealed(9, commit=5, group=METADATA, replica=0))
    late = cluster.send(2, 0, prepare_ok(data, 2))
    names = ["iggy.prepare_in", "iggy.forwarded_in", "iggy.prepare_ok_in", "iggy.commit_in", "iggy.commits_count",
             "iggy.expert.prepare_again"]
    found = by_packet(tshark, cluster.write(tmp_path), names)
    assert found[first] == [[], [str(forwarded)], [str(early), str(late)], [str(commit)], [], []]
    assert found[forwarded] == [[str(first)], [], [str(early), str(late)], [str(commit)], [], []]
    assert found[early][0] == found[late][0] == [str(first)]
    assert found[commit][0] == [str(first)] and found[commit][4] == ["1"]
    assert found[again][4] == []


def test_times(tshark, tmp_path):
    cluster = Cluster(step=250_000)
    data = prepare(1)
    cluster.send(0, 1, data)
    ok = cluster.send(1, 0, prepare_ok(data))
    cluster.send(0, 1, sealed(9, commit=1, group=METADATA))
    names = ["iggy.prepare_ok.time", "iggy.commit.time"]
    found = by_packet(tshark, cluster.write(tmp_path), names)
    assert found[ok][0] == ["0.250000000"] and found[ok - 1][1] == ["0.500000000"]


@pytest.mark.parametrize("step,text", [(250_000, "%.6f"), (600_000_000, "%.3f")])  # microseconds apart; far ones in milliseconds
def test_many_sightings_and_prepare_oks(tshark, tmp_path, step, text):
    """A prepare is seen on all six directions of three connections, twice; both backups acknowledge it five times."""
    cluster = Cluster(step=step)
    data = prepare(7)
    first = cluster.send(0, 1, data)
    others = [(1, 2), (0, 2), (2, 0), (2, 1), (1, 0)]
    forwarded = [cluster.send(sender, receiver, data) for sender, receiver in others]
    oks = [cluster.send(one, 0, prepare_ok(data, one)) for _ in range(5) for one in (1, 2)]
    again = [cluster.send(sender, receiver, data) for sender, receiver in [(0, 1)] + others]
    path = cluster.write(tmp_path)
    found = by_packet(tshark, path, ["iggy.forwarded_in", "iggy.prepare_ok_in", "iggy.prepare_in", "iggy.expert.prepare_again"])
    assert found[first][:2] == [[str(one) for one in forwarded], [str(one) for one in oks]]
    assert all(found[one][2] == [str(first)] and not found[one][3] for one in forwarded)
    assert all(len(found[one][3]) == 1 for one in again)
    shown = tshark.verbose(path, *HEURISTIC, "-Y", "frame.number == %d" % first, two_pass=True)
    for one in forwarded + oks:
        assert "%d (%s" % (one, text % ((one - first) * step / 1e6)) in shown


def test_prepare_sent_again(tshark, tmp_path):
    """On the same connection, with a later view: the identity stays."""
    cluster = Cluster()
    first, again = cluster.send(0, 1, prepare(3)), cluster.send(0, 1, prepare(3, view=4))
    found = by_packet(tshark, cluster.write(tmp_path), ["iggy.expert.prepare_again", "iggy.prepare_in"], two_pass=False)
    assert found[first] == [[], []] and len(found[again][0]) == 1 and found[again][1] == [str(first)]


def test_another_prepare_at_the_op(tshark, tmp_path):
    cluster = Cluster()
    one, other = prepare(3), prepare(3, user_id=9)
    cluster.send(0, 1, one)
    second = cluster.send(0, 1, other)
    ok = cluster.send(1, 0, prepare_ok(other))
    found = by_packet(tshark, cluster.write(tmp_path), ["iggy.expert.other_prepare", "iggy.prepare_in"], two_pass=False)
    assert len(found[second][0]) == 1 and found[ok][1] == [str(second)]


def test_op_gap(tshark, tmp_path):
    cluster = Cluster()
    cluster.send(0, 1, prepare(3))
    follows, gap = cluster.send(0, 1, prepare(4)), cluster.send(0, 1, prepare(8))
    other_group = cluster.send(0, 1, prepare(77, group=5))
    path = cluster.write(tmp_path)
    found = by_packet(tshark, path, ["iggy.expert.op_gap"], two_pass=False)
    assert found[follows] == [[]] and len(found[gap][0]) == 1 and found[other_group] == [[]]
    assert "3 ops are missing before this one" in tshark.verbose(path, "-Y", "iggy.expert.op_gap")


def test_prepare_ok_without_prepare(tshark, tmp_path):
    cluster = Cluster()
    ok = cluster.send(1, 0, prepare_ok(prepare(9)))
    found = by_packet(tshark, cluster.write(tmp_path), ["iggy.expert.no_prepare", "iggy.prepare_in"])
    assert len(found[ok][0]) == 1 and found[ok][1] == []


def test_groups_and_clusters_are_apart(tshark, tmp_path):
    """The same op and number in another group is another prepare."""
    cluster = Cluster()
    one, other = prepare(3, group=1), prepare(3, group=2)
    first, second = cluster.send(0, 1, one), cluster.send(0, 1, other)
    oks = cluster.send(1, 0, prepare_ok(one)), cluster.send(1, 0, prepare_ok(other))
    cluster.send(0, 1, sealed(9, commit=3, group=2))
    found = by_packet(tshark, cluster.write(tmp_path), ["iggy.prepare_in", "iggy.commit_in"])
    assert [found[ok][0] for ok in oks] == [[str(first)], [str(second)]]
    assert found[first][1] == [] and found[second][1] != []


def test_committed_prepares_leave(tshark, tmp_path):
    """Long after its commit a prepare is forgotten: an acknowledgement no longer finds it, a new prepare is new."""
    cluster = Cluster(step=1_000_000)
    data = prepare(3)
    cluster.send(0, 1, data)
    cluster.send(0, 1, sealed(9, commit=3, group=METADATA))
    soon = cluster.send(1, 0, prepare_ok(data))
    for counter in range(14):
        cluster.send(0, 1, sealed(9, commit=3, group=METADATA, timestamp_monotonic=counter))
    late = cluster.send(1, 0, prepare_ok(data))
    found = by_packet(tshark, cluster.write(tmp_path), ["iggy.prepare_in", "iggy.expert.no_prepare"])
    assert found[soon][0] and not found[soon][1]
    assert not found[late][0] and found[late][1]


def test_open_prepares_are_bounded(tshark, tmp_path):
    """Of a group that commits nothing the newest 4096 prepares are kept."""
    cluster = Cluster()

    def unsealed(command, op, identity=0, **values):
        return sealed(command, sealed=False, checksum=identity, op=op, group=METADATA, **values)
    count = 4200
    many = [unsealed(6, op, identity=op, operation=3, client=CLIENT) for op in range(1, count + 1)]
    start = cluster.capture.number
    for group in range(0, count, 100):
        cluster.send(0, 1, b"".join(many[group:group + 100]))
    oks = [cluster.send(1, 0, unsealed(7, op, identity=1, prepare_checksum=op, replica=1)) for op in (1, 104, 105, count)]
    found = by_packet(tshark, cluster.write(tmp_path), ["iggy.prepare_in", "iggy.expert.no_prepare"], "-Y", "iggy.command == 7")
    assert [found[ok][0] for ok in oks] == [[], [], [str(start + 2)], [str(start + count // 100)]]
    assert [len(found[ok][1]) for ok in oks] == [1, 1, 0, 0]


def test_repair(tshark, tmp_path):
    """request_prepares, the evicted front, two repairs, done; then a second round with the same nonce."""
    cluster = Cluster()
    nonce = dict(nonce=0x1234567890, group=METADATA)
    old = cluster.send(0, 1, prepare(4))
    asked = cluster.send(2, 0, sealed(18, from_op=1, to_op=5, replica=2, **nonce))
    evicted = cluster.send(0, 2, sealed(21, op=3, **nonce))
    repairs = [cluster.send(0, 2, prepare(op, command=19)) for op in (4, 5)]
    foreign = cluster.send(0, 2, prepare(9, command=19))
    done = cluster.send(0, 2, sealed(20, op=5, **nonce))
    asked_again = cluster.send(2, 0, sealed(18, from_op=6, to_op=6, replica=2, **nonce))
    done_again = cluster.send(0, 2, sealed(20, op=5, **nonce))
    path = cluster.write(tmp_path)
    found = by_packet(tshark, path, ["iggy.response_to", "iggy.response_in", "iggy.repair.count", "iggy.prepare_in"])
    assert found[asked][:2] == [[], [str(done)]] and found[asked_again][:2] == [[], [str(done_again)]]
    assert found[evicted][0] == found[repairs[0]][0] == found[repairs[1]][0] == found[done][0] == [str(asked)]
    assert found[foreign][0] == [] and found[done][2] == ["2"] and found[done_again][2] == ["0"]
    assert found[repairs[0]][3] == [str(old)] and found[repairs[1]][3] == []
    once = by_packet(tshark, path, ["iggy.response_to", "iggy.response_in"], two_pass=False)
    assert once[done] == [[str(asked)], []] and once[asked] == [[], []]


def manifest(*lengths):
    data = b"ISM1" + u32(len(lengths)) + b"\x19" + b"".join(b"\x02" + u64(0) + u64(one) + u64(0) for one in lengths)
    return data + u64(xxh3_64(data))


def test_state_transfer(tshark, tmp_path):
    """Two artifacts of 300 and 100 bytes in chunks of 200; one chunk comes twice and counts once."""
    cluster = Cluster()
    nonce = dict(nonce=0xABCDEF, group=METADATA)
    asked = cluster.send(1, 0, sealed(22, replica=1, **nonce))
    target = cluster.send(0, 1, sealed(23, manifest(300, 100), available=1, commit_op=7, **nonce))
    steps = []
    for artifact, offset, length in ((0, 0, 200), (0, 0, 200), (0, 200, 100), (1, 0, 100)):
        question = cluster.send(1, 0, sealed(24, artifact=artifact, offset=offset, len=200, replica=1, **nonce))
        answer = cluster.send(0, 1, sealed(25, bytes(length), artifact=artifact, offset=offset, **nonce))
        steps.append((question, answer))
    path = cluster.write(tmp_path)
    names = ["iggy.response_to", "iggy.response_in", "iggy.transfer.request_in", "iggy.transfer.target_in",
             "iggy.transfer.received", "iggy.transfer.total", "iggy.transfer.share", "iggy.expert.transfer_aborted"]
    for two_pass in (False, True):
        found = by_packet(tshark, path, names, two_pass=two_pass)
        assert found[asked][1] == ([str(target)] if two_pass else []) and found[target][0] == [str(asked)]
        assert found[target][2] == [str(asked)]
        for (question, answer), received in zip(steps, ("200", "200", "300", "400")):
            assert found[question][1] == ([str(answer)] if two_pass else []) and found[answer][0] == [str(question)]
            assert found[answer][2:6] == [[str(asked)], [str(target)], [received], ["400"]]
            assert float(found[answer][6][0]) == int(received) / 4
        assert all(row[7] == [] for row in found.values())


def test_transfer_offered_again(tshark, tmp_path):
    """A request sent again, the same nonce: the second offer is of another state. Chunks keep the offer that they came of."""
    cluster = Cluster()
    nonce = dict(nonce=0xABCDEF, group=METADATA)
    chunks, targets = [], []
    for length in (400, 1000):
        cluster.send(1, 0, sealed(22, replica=1, **nonce))
        targets.append(cluster.send(0, 1, sealed(23, manifest(length), available=1, commit_op=7, **nonce)))
        cluster.send(1, 0, sealed(24, len=200, replica=1, **nonce))
        chunks.append(cluster.send(0, 1, sealed(25, bytes(200), **nonce)))
    path = cluster.write(tmp_path)
    names = ["iggy.transfer.target_in", "iggy.transfer.received", "iggy.transfer.total"]
    for two_pass in (False, True):
        found = by_packet(tshark, path, names, two_pass=two_pass)
        assert [found[chunk] for chunk in chunks] == [[[str(targets[0])], ["200"], ["400"]], [[str(targets[1])], ["200"], ["1000"]]]


def test_view_changes_in_any_order(tshark, tmp_path):
    """Groups and views are apart, whatever the order of the views."""
    cluster = Cluster()
    views = [(METADATA, 9), (METADATA, 3), (7, 9), (METADATA, 9), (METADATA, 5), (7, 9), (METADATA, 3)]
    sent = [cluster.send(0, 1, sealed(10, view=view, group=group)) for group, view in views]
    found = by_packet(tshark, cluster.write(tmp_path), ["iggy.view_change", "iggy.view_change.first_in"])
    assert [found[one][0] for one in sent] == [["1"], ["2"], ["3"], ["1"], ["4"], ["3"], ["2"]]
    assert [found[one][1] for one in sent] == [[], [], [], [str(sent[0])], [], [str(sent[2])], [str(sent[1])]]


def test_transfer_refused_and_aborted(tshark, tmp_path):
    cluster = Cluster()
    cluster.send(1, 0, sealed(22, replica=1, nonce=1, group=METADATA))
    refused = cluster.send(0, 1, sealed(23, nonce=1, group=METADATA, unavailable_transient=1))
    cluster.send(1, 0, sealed(22, replica=1, nonce=2, group=METADATA))
    cluster.send(0, 1, sealed(23, manifest(300), available=1, nonce=2, group=METADATA))
    question = cluster.send(1, 0, sealed(24, len=200, replica=1, nonce=2, group=METADATA))
    aborted = cluster.send(0, 1, sealed(23, nonce=2, group=METADATA))
    names = ["iggy.expert.refused", "iggy.expert.transfer_aborted", "iggy.response_to"]
    found = by_packet(tshark, cluster.write(tmp_path), names)
    assert (len(found[refused][0]), len(found[refused][1])) == (1, 0)
    assert (len(found[aborted][0]), len(found[aborted][1])) == (1, 1) and found[aborted][2] == [str(question)]


def test_transfer_given_up_for_another(tshark, tmp_path):
    cluster = Cluster()
    cluster.send(1, 0, sealed(22, replica=1, nonce=1, group=METADATA))
    cluster.send(0, 1, sealed(23, manifest(300), available=1, nonce=1, group=METADATA))
    second = cluster.send(1, 0, sealed(22, replica=1, nonce=2, group=METADATA))
    found = by_packet(tshark, cluster.write(tmp_path), ["iggy.expert.transfer_aborted"], two_pass=False)
    assert len(found[second][0]) == 1


@pytest.mark.parametrize("question,answer,fields", [
    (26, 27, dict(client=CLIENT, nonce=3)), (28, 29, dict(client=CLIENT, nonce=3)),
    (33, 33, dict(nonce=3)), (34, 34, dict(nonce=3, namespace=1, created_revision=1)),
    (36, 36, dict(nonce=3, group=1))])
def test_questions_and_answers(tshark, tmp_path, question, answer, fields):
    """By nonce (and client): another nonce does not match, nor does the wrong direction's connection."""
    extra = dict(quorum_age_ns=(1 << 64) - 1) if question == 33 else dict(session=1, request=1) if question == 28 else {}
    kind = dict(kind=1) if question == answer else {}
    cluster = Cluster()
    asked = cluster.send(1, 0, sealed(question, replica=1, **fields, **extra))
    other = cluster.send(0, 1, sealed(answer, **dict(fields, nonce=4), **kind,
                                      **(extra if question == answer else {})))
    elsewhere = cluster.send(0, 2, sealed(answer, **fields, **kind, **(extra if question == answer else {})))
    answered = cluster.send(0, 1, sealed(answer, **fields, **kind, **(extra if question == answer else {})))
    found = by_packet(tshark, cluster.write(tmp_path), ["iggy.response_to", "iggy.response_in", "iggy.response_time"],
                      "-o", "iggy.default_version:0.12.2")
    assert found[asked][1] == [str(answered)] and found[answered][0] == [str(asked)]
    assert float(found[answered][2][0]) == 0.003
    assert found[other][0] == found[elsewhere][0] == []


def test_heartbeat_echo(tshark, tmp_path):
    """0.12.2: commit_reply repeats the counter of the commit that it answers."""
    cluster = Cluster()
    beat = cluster.send(0, 1, sealed(9, commit=1, timestamp_monotonic=77, group=5))
    wrong = cluster.send(1, 0, sealed(35, timestamp_monotonic=76, group=5, replica=1))
    echo = cluster.send(1, 0, sealed(35, timestamp_monotonic=77, group=5, replica=1))
    found = by_packet(tshark, cluster.write(tmp_path), ["iggy.response_to", "iggy.response_in"])
    assert found[beat][1] == [str(echo)] and found[echo][0] == [str(beat)] and found[wrong][0] == []


def test_recovery(tshark, tmp_path):
    """request_start_view and the start_view that echoes its incarnation; that is no view change."""
    cluster = Cluster()
    asked = cluster.send(2, 0, sealed(17, view=3, group=METADATA, incarnation=0x55, replica=2))
    other = cluster.send(0, 2, sealed(12, view=3, op=4, commit=4, group=METADATA, incarnation=0x57))
    answered = cluster.send(0, 2, sealed(12, view=3, op=4, commit=4, group=METADATA, incarnation=0x55))
    found = by_packet(tshark, cluster.write(tmp_path), ["iggy.response_to", "iggy.response_in", "iggy.view_change"])
    assert found[asked][1] == [str(answered)] and found[answered][0] == [str(asked)]
    assert found[other][0] == [] and all(row[2] == [] for row in found.values())


def entry_of(data):
    return data[:256]


def test_suffix_differs_and_is_acknowledged(tshark, tmp_path):
    """A start_view with another prepare at op 4 than was sent before; a backup acknowledges the suffix's."""
    cluster = Cluster()
    sent, other, known = prepare(4), prepare(4, user_id=8), prepare(3)
    cluster.send(0, 1, known)
    cluster.send(0, 1, sent)
    start = cluster.send(1, 2, sealed(12, entry_of(other) + entry_of(known), view=4, op=4, commit=3, group=METADATA, replica=1))
    same = cluster.send(1, 0, sealed(12, entry_of(other) + entry_of(known), view=4, op=4, commit=3, group=METADATA, replica=1))
    ok = cluster.send(2, 1, prepare_ok(other, 2))
    names = ["iggy.expert.suffix_other", "iggy.suffix_in", "iggy.prepare_in"]
    found = by_packet(tshark, cluster.write(tmp_path), names)
    assert len(found[start][0]) == 1 and found[same][0] == []
    assert found[ok][1:] == [[str(start)], []]


def test_silence(tshark, tmp_path):
    """Heartbeats half a second apart, then one after three: more than the 2000 ms of the preference."""
    cluster = Cluster(step=500_000)
    for counter in range(3):
        cluster.send(0, 1, sealed(9, group=METADATA, timestamp_monotonic=counter))
    cluster.capture.clock += 2_500_000
    late = cluster.send(0, 1, sealed(9, group=METADATA, timestamp_monotonic=4))
    path = cluster.write(tmp_path)
    found = by_packet(tshark, path, ["iggy.silence", "iggy.expert.silence"], two_pass=False)
    assert found[late][0] == ["3.000000000"] and len(found[late][1]) == 1
    assert [packet for packet, row in found.items() if row[1]] == [late]
    for limit in ("3000", "0"):
        found = by_packet(tshark, path, ["iggy.expert.silence"], "-o", "iggy.silence:" + limit)
        assert not any(row[0] for row in found.values())


def test_request_to_prepare(tshark, tmp_path):
    """A create_topic (132) is prepared as 64; a second client with the same number is told apart by its id."""
    cluster = Cluster()
    clients = [cluster.capture.connection(), cluster.capture.connection()]
    ids = [CLIENT, CLIENT + 1]
    asked = [one.client(request(name("x"), operation=139, request=5, session=1, client=who)) for one, who in zip(clients, ids)]
    topic = clients[0].client(request(b"\x01\x04" + u32(1) + u32(1) + name("t"), operation=132, request=6, session=1))
    sent = [cluster.send(0, 1, prepare(op, operation=139, request=5, client=who)) for op, who in ((1, ids[1]), (2, ids[0]))]
    renamed = cluster.send(0, 1, prepare(3, operation=64, request=6))
    clients[0].server(reply(u32(0), operation=139, request=5))
    late = cluster.send(0, 1, prepare(4, operation=139, request=5))
    path = cluster.write(tmp_path)
    found = by_packet(tshark, path, ["iggy.request_in", "iggy.prepared_in"])
    assert found[sent[0]][0] == [str(asked[1])] and found[sent[1]][0] == [str(asked[0])] and found[renamed][0] == [str(topic)]
    assert [found[one][1] for one in asked + [topic]] == [[str(sent[1])], [str(sent[0])], [str(renamed)]]
    assert found[late][0] == []


def test_forwarded_login(tshark, tmp_path):
    """A login at a backup: request, forward_register, its result, the prepare of the primary."""
    cluster = Cluster()
    client = cluster.capture.connection()
    login = client.client(request(login_body("0.12.0"), operation=1))
    forwarded = cluster.send(1, 0, sealed(26, bytes(40), client=CLIENT, nonce=9, user_id=1, replica=1))
    prepared = cluster.send(0, 1, prepare(7, operation=1, request=0))
    result = cluster.send(0, 1, sealed(27, client=CLIENT, nonce=9, epoch=7))
    found = by_packet(tshark, cluster.write(tmp_path), ["iggy.request_in", "iggy.response_to", "iggy.prepared_in"])
    assert found[forwarded][0] == found[prepared][0] == [str(login)]
    assert found[result][1] == [str(forwarded)] and found[login][2] == [str(prepared)]


@pytest.mark.parametrize("data,word", [
    (sealed(15, status=2, replica=1), "cluster_mismatch"), (sealed(27, client=1, nonce=1, outcome=1), "not_primary"),
    (sealed(29, client=1, nonce=1, outcome=3), "in_progress"), (sealed(23, nonce=1, group=METADATA), "nothing to transfer"),
    (sealed(34, nonce=1, namespace=1, created_revision=1, kind=2), "try again")])
def test_refusals(tshark, tmp_path, data, word):
    cluster = Cluster()
    packet = cluster.send(1, 0, data)
    path = cluster.write(tmp_path)
    assert by_packet(tshark, path, ["iggy.expert.refused"])[packet] == [["Refused: " + word]] or \
        "Refused: " + word in tshark.verbose(path, "-Y", "iggy.expert.refused", *HEURISTIC)
    assert [row[0] for row in tshark.fields(path, ["frame.number"], "-Y", "iggy.expert.refused", *HEURISTIC)] == [[str(packet)]]
