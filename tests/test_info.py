# The Info column: what an analyst reads in a list of a thousand lines.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Lines of real captures, written by hand from what their clients were told to do, and lines of made frames."""

import shutil
import subprocess

import pytest
import synth
from synth import ident, name, reply, request, u8, u32, u64

CLIENT = 0x1B97BA6D_F019_45C8_8602_931EAA93BB68
GET_STREAMS, GET_CLIENT, DESCRIBE_OPTIONS, GET_STREAM, POLL, GET_SNAPSHOT = 201, 21, 13, 200, 100, 11
CREATE_STREAM = 128

# Packet and line; the clients' programs polled by these strategies, in this order.
POLLS = [(53, "Request #3 poll_messages s2/t3 partition 0 consumer 1, up to 3 from first"),
         (55, "Request #3 poll_messages s2/t3 partition 0 consumer 1, up to 8 from last"),
         (57, "Request #3 poll_messages s2/t3 partition 0 consumer 1, up to 4 from timestamp"),
         (61, "Request #3 poll_messages s2/t3 partition 0 consumer 1, up to 10 from next"),
         (65, "Request #3 poll_messages s2/t3 partition 0 consumer 1, up to 10 from offset 1000000"),
         (68, "Reply #3 poll_messages s2/t3 partition 1 consumer 1, 1 message, 10 B, offset 0"),
         (70, "Reply #3 poll_messages s2/t3 partition 0 consumer named-consumer, 2 messages, 26 B, offsets 0-1"),
         (73, "Request #3 store_consumer_offset s2/t3 partition 0 consumer 1, offset 33"),
         (76, "Reply #3 get_consumer_offset s2/t3 partition 0 consumer 1, stored 33")]

ADMIN = [(12, "Reply #0 login_register user iggy, server 0.9.0-edge.5, protocol 0.11.0, session 1"),
         (23, "Reply #1 get_me user iggy connection 1"),
         (28, "Request #1 get_client connection 4000000"),
         (29, "Reply #1 get_client connection 4000000: not found"),
         (30, "Request #1 describe_options topic"),
         (32, "Request #1 describe_options stream"),
         (37, "Reply #1 get_streams: none"),
         (49, "Reply #3 get_streams, 2 entries"),
         (92, "Request #15 delete_segments orders2/t-renamed partition 0, 1 segment"),
         (134, "Reply #0 login_register_with_pat user iggy, server 0.9.0-edge.5, protocol 0.11.0, session 27"),
         (175, "Reply #30 get_snapshot_file, 119 B")]

REFUSED = [(80, "Request #0 login_register user iggy, rust-sdk 0.11.1-edge.9, protocol 0.12.2 [retry]"),
           (151, "Reply #28 get_partition_route err/topic partition 0, primary 0"),
           (168, "Request #37 send_messages err/topic partition 1, 1 message, 10 B"),
           (169, "Reply #37 send_messages err/topic partition 1: transient_not_committed"),
           (170, "Request #37 send_messages err/topic partition 1, 1 message, 10 B [retry]"),
           (218, "Reply #54 bind_session user iggy, server 0.11.0-stub, protocol 0.12.2, session 5")]


@pytest.mark.parametrize("capture, wanted", [("real/02_produce_consume_rust.pcapng", POLLS), ("real/01_admin_rust.pcapng", ADMIN),
                                             ("real012/05_errors.pcapng", REFUSED)], ids=["polls", "admin", "refused"])
def test_lines_of_real_captures(tshark, capture, wanted, two_pass):
    lines = tshark.info(capture, two_pass=two_pass)
    assert [(packet, lines[packet - 1]) for packet, _ in wanted] == wanted


def lines_of(tshark, tmp_path, *frames):
    """Info of frames, each a packet of its own: a request by the client, anything else by the server."""
    capture = synth.Capture()
    connection = capture.connection()
    numbers = [(connection.client if frame[60] == 5 else connection.server)(frame) for frame in frames]
    lines = tshark.info(capture.write(tmp_path / "made.pcap"))
    return [lines[number - 1] for number in numbers]


def test_a_name_cannot_break_the_line(tshark, tmp_path):
    """A client may send anything as a name: what is not printable is escaped, what is long is cut at a character."""
    asked = [request(ident(text), code=GET_STREAM, client=CLIENT, request=1, session=9)
             for text in ("a\nb\x1b[31m", "x" * 60, "x" * 61, "x" * 59 + "\u65e5")]
    assert [line.split("get_stream ")[1] for line in lines_of(tshark, tmp_path, *asked)] == \
        ["a\\nb\\033[31m", "x" * 60, "x" * 60 + "\u2026", "x" * 59 + "\u2026"]


def test_a_reply_alone(tshark, tmp_path):
    """Operation 2 is that of most commands: without its request a reply has no name."""
    lines = lines_of(tshark, tmp_path, reply(client=CLIENT, request=4, cluster=synth.CLUSTER),
                     reply(u32(0), operation=CREATE_STREAM, client=CLIENT, request=5, cluster=synth.CLUSTER))
    assert lines == ["Reply #4 (request not captured)", "Reply #5 create_stream"]


def size(count):
    """As C's printf rounds it: Python does the same."""
    return "%d B" % count if count < 1000 else "%.1f kB" % (count / 1000) if count < 1_000_000 else "%.1f MB" % (count / 1000 / 1000)


@pytest.mark.parametrize("comma", [False, True], ids=["point", "comma"])
def test_sizes(tshark, tmp_path, comma):
    """A snapshot is as large as its reply's body. Some locales write a number's fraction behind a comma."""
    counts = [1, 999, 1000, 1049, 1050, 1051, 1150, 9999, 99_949, 99_950, 999_949, 999_950, 999_999, 1_000_000, 1_250_000]
    if comma:
        make = ["localedef", "-i", "de_DE", "-f", "UTF-8", tshark.folder / "de_DE.UTF-8"]
        if not shutil.which(make[0]) or subprocess.run(make, stderr=subprocess.DEVNULL, check=False).returncode:
            pytest.skip("no sources of locales")
        tshark = tshark.with_environment(LOCPATH=str(tshark.folder), LC_ALL="de_DE.UTF-8")
    capture = synth.Capture()
    connection = capture.connection()
    last = []
    for number, count in enumerate(counts):
        connection.client(request(u8(1) + u8(1) + u8(1), code=GET_SNAPSHOT, client=CLIENT, request=number, session=9))
        last.append(connection.server(reply(bytes([1]) * count, client=CLIENT, request=number), mss=60_000))
    lines = tshark.info(capture.write(tmp_path / "sizes.pcap"))
    assert [lines[packet - 1] for packet in last] == \
        ["Reply #%d get_snapshot_file, %s" % (number, size(count)) for number, count in enumerate(counts)]


# What an empty reply means, by code (commands.md); those not named say nothing by it.
EMPTY = {21: "not found", 22: "none", 31: "not found", 32: "none", 42: None, 41: "none", 120: "nothing stored", 200: "not found",
         201: "none", 300: "not found", 600: "not found", 601: "none", 606: "not a member", 1: None, 302: None}


@pytest.mark.parametrize("code", sorted(EMPTY))
def test_empty_replies(tshark, tmp_path, two_pass, code):
    """An empty reply; one with an error, which is no such reply; and a filter."""
    capture = synth.Capture()
    connection = capture.connection()
    connection.client(request(synth.login_body(), operation=1, request=0))
    connection.server(reply(synth.login_reply(), operation=1, request=0))
    operation = {302: 132}.get(code, 2)
    for number, status in ((1, 0), (2, 40)):
        connection.client(request(b"", code=0 if operation != 2 else code, operation=operation, request=number, session=1))
        connection.server(reply(b"", operation=operation, request=number, status=status))
    path = capture.write(tmp_path / "empty.pcap")
    rows = tshark.fields(path, ["frame.number", "iggy.empty_reply"], "-Y", "iggy.empty_reply", two_pass=two_pass, check=False)
    assert rows == ([[["7"], [EMPTY[code]]]] if EMPTY[code] else [])


@pytest.mark.parametrize("capture, packets", [("real/01_admin_rust.pcapng", [29])])
def test_what_was_not_found(tshark, capture, packets):
    rows = tshark.fields(capture, ["frame.number"], "-Y", 'iggy.empty_reply == "not found" && iggy.code == "get_client"')
    assert [int(row[0][0]) for row in rows] == packets


# ---- with a tree and without ----

EVERYTHING = ["real/01_admin_rust.pcapng", "real/03_errors_rust.pcapng", "real/12_cluster_startup.pcapng",
              "real/12b_cluster_restart.pcapng", "real/13_cluster_writes.pcapng", "real/17_cluster_idle.pcapng",
              "real012/02_produce.pcapng", "real012/05_errors.pcapng"]


@pytest.mark.parametrize("capture", EVERYTHING)
def test_lines_are_the_same_with_a_tree(tshark, capture, two_pass):
    """A field beside the column has the tree built; the names of a header's group were missing in the lines without."""
    options = ["-o", "tcp.try_heuristic_first:TRUE"]  # a cluster's port 9092 is Kafka's else
    column = "_ws.col.info" if tshark.version >= (4, 2) else "_ws.col.Info"
    with_tree = [row[1][0] if row[1] else "" for row in tshark.fields(capture, ["iggy.code", column], *options, two_pass=two_pass)]
    text = tshark.read(capture, "-T", "tabs", "-o", 'gui.column.format:"Info","%i"', *options, two_pass=two_pass)
    without = [line.strip() for line in text.splitlines()]
    assert with_tree and without == [line.strip() for line in with_tree]
