# Statistics: trees and response times, against counts made from the packets alone.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every number that `tshark -z` prints for Iggy, counted once more by tests/tools."""

import collections
import random
import re
import struct
import subprocess
from decimal import Decimal

import list_frames
import pair_frames
import pytest
import synth
from read_messages import messages_of
from words import CODES, COMMANDS, ERRORS, REASONS

CLIENTS = ["real/01_admin_rust.pcapng", "real/02_produce_consume_rust.pcapng", "real/03_errors_rust.pcapng",
           "real012/02_produce.pcapng", "real012/03_pipeline.pcapng", "real012/04_deferred.pcapng", "real012/05_errors.pcapng",
           "real012/06_reconnect.pcapng"]
REPLICAS = ["real/12_cluster_startup.pcapng", "real/13_cluster_writes.pcapng", "codec/replica-0.12.2.pcap"]


# --- what tshark prints ------------------------------------------------------------------------------------------------
def tree_of(text):
    """{path: count} of a statistics tree; a path is a tuple of names."""
    out, path = {}, []
    for line in text.split("\n"):
        found = re.match(r"^( *)(\S.*?)\s{2,}(-?\d+)\s", line)
        if not found or line.startswith(("Topic", "=", "-")):
            continue
        depth = len(found.group(1))
        path[depth:] = [found.group(2)]
        out[tuple(path)] = int(found.group(3))
    return out


# Port 9092 is Kafka's: without this a connection between servers on that port is taken by its dissector.
OPTIONS = ("-o", "tcp.try_heuristic_first:TRUE")


def tree(tshark, capture, name, two_pass=False):
    return tree_of(tshark.read(capture, "-q", "-z", name + ",tree", *OPTIONS, two_pass=two_pass))


def srt(tshark, capture, two_pass=False):
    """{code: (calls, min, max, avg, sum)} in microseconds; code 0 stands for codes that have no row of their own."""
    out = {}
    for line in tshark.read(capture, "-q", "-z", "iggy,srt", two_pass=two_pass).split("\n"):
        found = re.match(r"^ *(\d+) +(\w[\w ]*?) +(\d+) +(\d+)\.(\d+) +(\d+)\.(\d+) +(\d+)\.(\d+) +(\d+)\.(\d+)$", line)
        if found:
            numbers = list(map(int, found.groups()[3:]))
            times = [numbers[i] * 1_000_000 + numbers[i + 1] for i in range(0, 8, 2)]
            code = int(found.group(1))
            assert found.group(2) == (CODES.get(code, "unknown code") if code else "other")
            out[code] = (int(found.group(3)), *times)
    return out


def without_zeros(counts):
    return {path: count for path, count in counts.items() if count}


def tables_of(text):
    """{title: rows} of statistics that are tables; a row is a list of texts."""
    out, rows = {}, None
    for line in text.split("\n"):
        if line.endswith("|") and rows is not None:
            rows.append([cell.strip() for cell in line.split("|")[:-1]])
        elif line and not line.startswith("=") and "|" not in line:
            rows = out.setdefault(line, [])
    return {title: rows for title, rows in out.items() if rows}


def table(tshark, capture, name, two_pass=False):
    return tables_of(tshark.read(capture, "-q", "-z", name, *OPTIONS, two_pass=two_pass))


# --- the same from the packets -----------------------------------------------------------------------------------------
def command_of(pair):
    if pair.code is None:
        return None
    return CODES.get(pair.code, "code %d" % pair.code)


def error_of_reply(rows, pair):
    return next(pair_frames.error_of(row) for row in rows
                if row["command"] == 8 and row["tcp_stream"] == pair.stream and row["end_pkt"] == pair.reply
                and row["request"] == pair.number)


def replies_of(captures, capture):
    """Pairs that have a reply, and its row; evictions are none."""
    rows = [row for row in pair_frames.frames_of(captures / capture) if row["command"] == 8]
    left = collections.defaultdict(list)
    for row in rows:
        operation = pair_frames.RENAMED.get(row["operation"], row["operation"])
        left[row["tcp_stream"], row["end_pkt"], row["request"], operation].append(row)
    for pair in pair_frames.pairs_of(captures / capture):
        same = left[pair.stream, pair.reply, pair.number, pair.operation]
        if pair.reply and same:
            yield pair, same.pop(0)


def times_of(tshark, capture):
    """Microseconds since the first packet, exact."""
    return [Decimal(row[0][0]) * 1_000_000 for row in tshark.fields(capture, ["frame.time_relative"])]


# --- trees of commands, errors, evictions ------------------------------------------------------------------------------
@pytest.mark.parametrize("capture", CLIENTS)
def test_requests_and_retries(tshark, captures, capture, two_pass):
    expected = collections.Counter()
    for pair in pair_frames.pairs_of(captures / capture):
        if pair.request and pair.state != "again":
            expected["Requests",] += 1
            expected["Requests", command_of(pair)] += 1
            if pair.retry_of:
                expected["Retries",] += 1
                expected["Retries", command_of(pair)] += 1
    found = tree(tshark, capture, "iggy_commands", two_pass)
    assert without_zeros({path: n for path, n in found.items() if path[0] in ("Requests", "Retries")}) == dict(expected)
    assert expected["Requests",] > 10


@pytest.mark.parametrize("capture", CLIENTS)
def test_replies_and_errors(tshark, captures, capture, two_pass):
    commands, errors = collections.Counter(), collections.Counter()
    for pair, row in replies_of(captures, capture):
        command = command_of(pair)
        commands["Replies",] += 1
        commands["Replies", command] += 1
        error = pair_frames.error_of(row)
        if not error:
            continue
        commands["Replies with an error",] += 1
        commands["Replies with an error", command] += 1
        for path in (("By error", ERRORS[error], command), ("By command", command, ERRORS[error])):
            for depth in (1, 2, 3):
                errors[path[:depth]] += 1
    found = tree(tshark, capture, "iggy_commands", two_pass)
    assert without_zeros({path: n for path, n in found.items() if path[0].startswith("Replies")}) == dict(commands)
    assert without_zeros(tree(tshark, capture, "iggy_errors", two_pass)) == dict(errors)


@pytest.mark.parametrize("capture", ["real/03_errors_rust.pcapng", "real012/05_errors.pcapng"])
def test_evictions(tshark, captures, capture, two_pass):
    expected = collections.Counter()
    for row in pair_frames.frames_of(captures / capture):
        if row["command"] == 13:
            for path in (("Evictions",), ("Evictions", REASONS[row["status"]]),
                         ("Evictions", REASONS[row["status"]], "127.0.0.1")):
                expected[path] += 1
    assert expected["Evictions",] > 2
    assert without_zeros(tree(tshark, capture, "iggy_evictions", two_pass)) == dict(expected)


# --- messages and bytes ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("capture, stream, topic", [("real/02_produce_consume_rust.pcapng", "s2", "t3"),
                                                    ("real012/03_pipeline.pcapng", None, None),
                                                    ("real012/04_deferred.pcapng", None, None)])
def test_messages_and_bytes(tshark, captures, capture, stream, topic, two_pass):
    """By direction and partition; where the capture has one topic, also by its names."""
    sizes = collections.defaultdict(list)
    for message in messages_of(captures / capture):
        partition = "partition %d" % message.partition if message.partition is not None else "partition chosen by the server"
        sizes[message.direction, partition].append(len(message.payload))
    found, by_partition = tree(tshark, capture, "iggy_messages", two_pass), collections.Counter()
    for path, count in found.items():
        if len(path) == 5:
            by_partition[path[1], path[4]] += count
            assert stream is None or path[2:4] == (stream, topic)
    assert dict(by_partition) == {key: len(all_) for key, all_ in sizes.items()}
    assert found["Messages",] == sum(map(len, sizes.values())) > 100
    shown = table(tshark, capture, "iggy,topics", two_pass)
    together = collections.defaultdict(list)
    for direction, found_stream, found_topic, partition, count, total, mean, least, most in shown["By partition"]:
        together[direction, partition].append((int(count), int(total), int(least), int(most)))
        assert stream is None or (found_stream, found_topic) == (stream, topic)
        assert abs(Decimal(mean) - Decimal(total) / Decimal(count)) <= Decimal("0.05")
    assert {key: tuple(fold(column) for fold, column in zip((sum, sum, min, max), zip(*rows)))
            for key, rows in together.items()} == {key: (len(all_), sum(all_), min(all_), max(all_))
                                                   for key, all_ in sizes.items()}
    for title in ("By stream", "By topic"):
        assert sum(int(row[5]) for row in shown[title]) == sum(map(sum, sizes.values()))


def write_much(out, gibibytes):
    """So many GiB of payloads, in frames of one packet each."""
    payload = 64000
    body = synth.send_body("s", "t", 1, synth.batch([synth.message(bytes(payload))]))
    capture = synth.Capture()
    connection = capture.connection()
    connection.client(synth.request(synth.login_body(), operation=1, request=0))
    connection.server(synth.reply(synth.login_reply(), operation=1, request=0))
    connection.client(synth.request(body, operation=160, request=1, session=1))
    out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1))
    for when, data in capture.packets:
        out.write(struct.pack("<IIII", when // 1_000_000, when % 1_000_000, len(data), len(data)) + data)
    packet, count = bytearray(out_of(capture)), 1
    connection.acknowledge("server")
    acknowledgement = bytearray(out_of(capture))
    position = struct.unpack_from(">I", packet, 16 + 38)[0]
    while count * payload <= gibibytes << 30:
        position = (position + len(packet) - 16 - 54) & 0xFFFFFFFF
        struct.pack_into(">I", packet, 16 + 38, position)
        out.write(packet)
        count += 1
        if count % 1000 == 0:
            struct.pack_into(">I", acknowledgement, 16 + 42, position)
            out.write(acknowledgement)
    return count, count * payload


def out_of(capture):
    when, data = capture.packets[-1]
    return struct.pack("<IIII", when // 1_000_000, when % 1_000_000, len(data), len(data)) + data


def test_bytes_beyond_two_gibibytes(tshark):
    """The nodes of Wireshark's trees hold 31 bits."""
    command = tshark._command(["-n", "-r", "-", "-q", "-z", "iggy,topics", "-z", "iggy,clients"])
    with subprocess.Popen(command, env=tshark.environment, cwd=str(tshark.folder), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as process:
        with process.stdin:
            count, total = write_much(process.stdin, 2)
        text = process.stdout.read().decode()
    assert total > 1 << 31
    assert tables_of(text)["By partition"] == [["sent", "s", "t", "partition 1", str(count), str(total), "64000.0", "64000", "64000"]]
    assert int(tables_of(text)["By client and user"][0][10]) > total


def test_messages_of_replication(tshark, captures):
    """What a client sent is counted once for the client and once for each follower."""
    found = tree(tshark, "real/13_cluster_writes.pcapng", "iggy_messages")
    expected = collections.Counter(message.direction for message in messages_of(captures / "real/13_cluster_writes.pcapng"))
    assert expected["sent"] > 0 and expected["replicated"] > 0
    for direction, count in expected.items():
        assert found["Messages", direction] == count


# --- sessions ----------------------------------------------------------------------------------------------------------
def user_of_login(body):
    """User in the body of login_register: version, SDK, its version, since 0.12.0 a bind secret, user (commands.md 4)."""
    at = 4
    for _ in range(2):
        at += 1 + body[at]
    if struct.unpack_from("<I", body)[0] >= synth.VERSIONS["0.12.0"]:
        at += 32
    return body[at + 1:at + 1 + body[at]].decode()


@pytest.mark.parametrize("capture", ["made/incident.pcap", "real012/06_reconnect.pcapng", "real/05_python.pcapng"])
def test_sessions(tshark, captures, capture, two_pass):
    """Who asked for what: by the client id, which a session keeps over its connections."""
    users, expected = {}, collections.Counter()
    pairs = iter(pair for pair in pair_frames.pairs_of(captures / capture) if pair.request)
    for row in pair_frames.frames_of(captures / capture):
        if row["command"] != 5:
            continue
        pair, client = next(pairs), row["data"][128:144]
        if pair.code == 40:
            users[client] = user_of_login(row["data"][256:])
        if client in users:
            for path in (("Requests by user",), ("Requests by user", users[client]),
                         ("Requests by user", users[client], CODES[pair.code])):
                expected[path] += 1
    found = tree(tshark, capture, "iggy_sessions", two_pass)
    assert {path: n for path, n in found.items() if path[0] == "Requests by user"} == dict(expected)


def test_logins(tshark):
    """The mailer of the made capture logs in eight times, the six others once."""
    found = tree(tshark, "made/incident.pcap", "iggy_sessions")
    client = "rust-sdk 0.11.1-edge.9, protocol 0.12.2"
    logins = {path[2]: n for path, n in found.items() if path[:2] == ("Logins by client", client) and len(path) == 3}
    assert logins == {"mailer": 8, "shop-api": 1, "billing": 1, "importer": 1, "worker-1": 1, "worker-2": 1, "worker-3": 1}
    assert found["Logins by client",] == found["Logins by client", client] == 14


def clients_of(path):
    """By client id: [requests, bytes of requests] from its login on."""
    out = collections.defaultdict(lambda: [0, 0])
    for row in pair_frames.frames_of(path):
        if row["command"] == 5:
            client = "-".join(row["data"][at:end].hex() for at, end in ((128, 132), (132, 134), (134, 136), (136, 138), (138, 144)))
            if row["operation"] != 1 and client not in out:
                continue
            out[client][0] += 1
            out[client][1] += len(row["data"])
    return out


@pytest.mark.parametrize("capture", ["made/incident.pcap", "real012/06_reconnect.pcapng", "real/02_produce_consume_rust.pcapng"])
def test_clients(tshark, captures, capture, two_pass):
    """Requests and bytes of every client id that logged in."""
    expected, rows = clients_of(captures / capture), table(tshark, capture, "iggy,clients", two_pass)["By client and user"]
    assert rows
    assert {row[1]: [int(row[7]), int(row[10])] for row in rows} == expected


def test_a_client_by_what_its_login_told(tshark):
    rows = {row[0]: row for row in table(tshark, "made/incident.pcap", "iggy,clients")["By client and user"]}
    assert set(rows) == {"shop-api", "billing", "mailer", "importer", "worker-1", "worker-2", "worker-3"}
    worker = rows["worker-1"]
    assert worker[2:5] == ["rust-sdk 0.11.1-edge.9", "0.12.2", "0.12.2"] and worker[6] == "1"
    assert worker[5].startswith("Sep 21, 2026 14:13:20.061000000")
    assert worker[12] == "shop/orders/workers: 0"
    assert rows["mailer"][6] == "8" and rows["importer"][8] == "40" and rows["worker-2"][12] == "shop/orders/workers: none"


def test_names_in_tables_are_printable(tshark, tmp_path):
    """A name is what a client sent."""
    capture = synth.Capture()
    connection = capture.connection()
    connection.client(synth.request(synth.login_body(user="ev|\nil"), operation=1, request=0))
    connection.server(synth.reply(synth.login_reply(), operation=1, request=0))
    body = synth.send_body("s\nt", "t", 1, synth.batch([synth.message(b"1234")]))
    connection.client(synth.request(body, operation=160, request=1, session=1))
    path = capture.write(tmp_path / "names.pcap")
    text = tshark.read(path, "-q", "-z", "iggy,clients", "-z", "iggy,topics", "-z", "iggy_messages,tree", "-z", "iggy_sessions,tree")
    assert "ev|\\nil" in text and "s\\nt" in text
    assert "ev|\n" not in text and "s\nt" not in text


# --- replica frames ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("capture", REPLICAS)
def test_replica_frames(tshark, captures, capture, two_pass):
    expected = collections.Counter()
    for row in list_frames.list_file(str(captures / capture)):
        if row["command"] in ("-", 5, 8, 13):
            continue
        command, replica = COMMANDS[row["command"]], "replica %d" % row["replica"]
        for path in (("By command", command, replica), ("By replica", replica, command)):
            for depth in (1, 2, 3):
                expected[path[:depth]] += 1
    assert expected["By command",] > 10
    found = without_zeros(tree(tshark, capture, "iggy_replication", two_pass))
    assert {path: n for path, n in found.items() if path[0] in ("By command", "By replica")} == dict(expected)


def test_times_of_replication(tshark, captures, two_pass):
    """By replica: from the first copy of a prepare to each prepare_ok of the same group and op."""
    capture = "real/13_cluster_writes.pcapng"
    when, first, times = times_of(tshark, capture), {}, collections.defaultdict(list)
    for row in list_frames.list_file(str(captures / capture)):
        key = row["group"], row["op"]
        if row["command"] == 6:
            first.setdefault(key, row["end_pkt"])
        elif row["command"] == 7:
            times["replica %d" % row["replica"]].append(when[row["end_pkt"] - 1] - when[first[key] - 1])
    assert set(times) == {"replica 1", "replica 2"}
    text = tshark.read(capture, "-q", "-z", "iggy_replication,tree", *OPTIONS, two_pass=two_pass)
    rows = dict(re.findall(r"^ (replica \d) +((?:[\d.]+ +){4})", text.split("Microseconds from prepare")[1], re.MULTILINE))
    assert set(rows) == set(times)
    for replica, all_ in times.items():
        count, mean, least, most = map(Decimal, rows[replica].split())
        assert count == len(all_)
        assert abs(least - min(all_)) <= 1 and abs(most - max(all_)) <= 1 and abs(mean - sum(all_) / len(all_)) <= 1


# --- response times ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("capture", CLIENTS)
def test_response_times(tshark, captures, capture, two_pass):
    """Once a request: from its first copy to the first reply to any copy."""
    when, first_reply = times_of(tshark, capture), {}
    for pair, _ in replies_of(captures, capture):
        if pair.state != "answered":
            continue
        key = (pair.code, pair.number, pair.retry_of or pair.request)
        first_reply[key] = min(first_reply.get(key, pair.reply), pair.reply)
    times = collections.defaultdict(list)
    for (code, _, request), reply in first_reply.items():
        if code is not None:
            times[code if code < 1024 else 0].append(when[reply - 1] - when[request - 1])
    found = srt(tshark, capture, two_pass)
    assert {code: row[0] for code, row in found.items()} == {code: len(all_) for code, all_ in times.items()}
    for code, all_ in times.items():
        _, least, most, mean, total = found[code]
        assert abs(least - min(all_)) <= 1 and abs(most - max(all_)) <= 1
        assert abs(mean - sum(all_) / len(all_)) <= 1 and abs(total - sum(all_)) <= 1


def write_retries(path):
    """A ping answered after 3 ms, and a read that is repeated twice and answered twice."""
    capture = synth.Capture(step=1000)
    connection = capture.connection()
    connection.client(synth.request(synth.login_body(), operation=1, request=0))
    connection.server(synth.reply(synth.login_reply(), operation=1, request=0))
    connection.client(synth.request(code=1, request=1, session=1))
    connection.acknowledge("server")
    connection.acknowledge("server")
    connection.server(synth.reply(request=1))
    read = synth.request(code=20, request=2, session=1)
    connection.client(read)          # 0 ms
    connection.client(read)          # 1 ms: a retry
    connection.server(synth.reply(request=2, status=3))   # 2 ms: answers the first
    connection.server(synth.reply(request=2, status=3))   # 3 ms: answers the retry, which counts no more
    capture.write(path)
    return path


def test_a_retry_counts_once(tshark, tmp_path, two_pass):
    found = srt(tshark, write_retries(tmp_path / "retries.pcap"), two_pass)
    assert found[1] == (1, 3000, 3000, 3000, 3000)
    assert found[20] == (1, 2000, 2000, 2000, 2000)


def write_retry_elsewhere(path):
    """A request that never gets its reply, repeated on a new connection and answered there."""
    capture = synth.Capture(step=1000)
    one = capture.connection()
    one.client(synth.request(synth.login_body(), operation=1, request=0))
    one.server(synth.reply(synth.login_reply(), operation=1, request=0))
    read = synth.request(code=20, request=2, session=1)
    one.client(read)                 # 0 ms
    one.reset()                      # 1 ms
    two = capture.connection()       # 2, 3, 4 ms
    two.client(read)                 # 5 ms
    two.server(synth.reply(request=2, status=3))  # 6 ms
    capture.write(path)
    return path


def test_time_runs_from_the_first_copy(tshark, tmp_path, two_pass):
    found = srt(tshark, write_retry_elsewhere(tmp_path / "elsewhere.pcap"), two_pass)
    assert found[20] == (1, 6000, 6000, 6000, 6000)


# --- the menu ----------------------------------------------------------------------------------------------------------
def test_all_are_offered(tshark):
    result = tshark._plain(["-z", "help"])
    offered = set(re.findall(r"^\s*(iggy\S*)$", result.stdout + result.stderr, re.MULTILINE))
    assert {"iggy,srt", "iggy_commands,tree", "iggy_errors,tree", "iggy_evictions,tree", "iggy_messages,tree",
            "iggy,topics", "iggy,clients",
            "iggy_replication,tree", "iggy_sessions,tree"} <= offered


# --- damage ------------------------------------------------------------------------------------------------------------
def damaged(source, target, seed):
    """A copy of a capture with one byte in a hundred of its packets changed; blocks and lengths of the file stay whole."""
    data, chance, at = bytearray(source.read_bytes()), random.Random(seed), 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:
            start, captured = at + 28, struct.unpack_from("<I", data, at + 20)[0]
            for _ in range(captured // 100):
                data[chance.randrange(start + 54, start + max(captured, 55))] = chance.randrange(256)
        at += length
    target.write_bytes(data)
    return target


@pytest.mark.parametrize("seed", range(6))
def test_statistics_of_damaged_frames(tshark, captures, tmp_path, seed):
    """What listens to frames runs after the whole packet: it may only look at what is still there then."""
    capture = damaged(captures / "real/02_produce_consume_rust.pcapng", tmp_path / "damaged.pcapng", seed)
    options = [part for name in ("commands", "errors", "evictions", "messages", "sessions", "replication")
               for part in ("-z", "iggy_%s,tree" % name)]
    options += ["-z", "iggy,srt", "-z", "iggy,topics", "-z", "iggy,clients"]
    text = tshark.read(capture, "-q", "-V", *options, two_pass=True)
    assert text.count("Topic / Item") == 6 and "By partition" in text and "SRT Statistics" in text
