# File > Export Objects > Iggy, by --export-objects, against the messages read from the packets alone.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every payload is a file: its bytes, its name, and once only."""

import re
import shutil
import tempfile
from pathlib import Path

import pytest
import synth
from read_messages import messages_of


def export(tshark, capture, *options, two_pass=False):
    """{file name: bytes} of what is exported."""
    folder = Path(tempfile.mkdtemp(dir=tshark.folder))
    folder.chmod(0o777)
    try:
        tshark.read(capture, "-q", "--export-objects", "iggy,%s" % folder, *options, two_pass=two_pass)
        return {path.name: path.read_bytes() for path in folder.iterdir()}
    finally:
        shutil.rmtree(folder)


def without_extension(files):
    return {name.rsplit(".", 1)[0]: data for name, data in files.items()}


@pytest.mark.parametrize("capture, place", [("real/02_produce_consume_rust.pcapng", "s2.t3"),
                                            ("real/09_websocket_rust.pcapng", None), ("real012/02_produce.pcapng", None)])
def test_every_payload_is_a_file(tshark, captures, capture, place, two_pass):
    """Polled messages by partition and offset; the same message polled twice is one file. Sent ones by packet."""
    files = export(tshark, capture, two_pass=two_pass)
    polled, sent = {}, {}
    for message in messages_of(captures / capture):
        if message.direction == "polled":
            polled.setdefault((message.partition, message.offset), set()).add(message.payload)
        else:
            sent.setdefault(message.packet, []).append(message.payload)
    found = {}
    for name, data in files.items():
        parts = re.match(r"^(?P<place>[^.]+\.[^.]+)\.(?P<partition>\d+|any)\.(?P<last>[^.]+)\.[a-z0-9]+$", name)
        assert parts, name
        assert place is None or parts["place"] == place
        if parts["last"].startswith("sent-"):
            packet = int(parts["last"].split("-")[1])
            assert data in sent[packet]
        else:
            offset = int(parts["last"].split("(")[0])
            found.setdefault((int(parts["partition"]), offset), set()).add(data)
    assert len(polled) > 3
    assert found == polled
    sent_files = [name for name in files if ".sent-" in name]
    assert len(sent_files) == sum(map(len, sent.values()))


PAYLOADS = [
    (b'{"a": 1}', b"", "json"), (b" [1, 2]\n", b"", "json"), (b'{"a": ', b"", "txt"), (b"plain text, \xc3\xa4\n", b"", "txt"),
    (b"\x89PNG\r\n\x1a\nrest", b"", "png"), (b"\x1f\x8b\x08\x00", b"", "gz"), (b"PK\x03\x04zip", b"", "zip"),
    (b"<?xml version='1.0'?>", b"", "xml"), (b"\x00\x01\x02", b"", "bin"), (b"text\x00", b"", "bin"), (b"\xff\xfe", b"", "bin"),
    (b"\x08\x01", synth.user_headers([("content-type", "application/protobuf")]), "pb"),
    (b"a,b\n", synth.user_headers([("x", "y"), ("Content-Type", "text/csv; charset=utf-8")]), "csv"),
    (b"{}", synth.user_headers([("content_type", "application/unheard-of")]), "json"),
    (b"", b"", "bin"),
]


def write_topic(path, stream="orders", topic="events", payloads=PAYLOADS, offset=40, mss=None):
    """A login, a send and a poll of the payloads on partition 7."""
    capture = synth.Capture()
    connection = capture.connection()
    connection.client(synth.request(synth.login_body(), operation=1, request=0))
    connection.server(synth.reply(synth.login_reply(), operation=1, request=0))
    record = synth.batch([synth.message(payload, index, headers=headers) for index, (payload, headers, _) in enumerate(payloads)])
    sent = connection.client(synth.request(synth.send_body(stream, topic, 7, record), operation=160, request=1, session=1),
                             mss=mss)
    connection.server(synth.reply(operation=160, request=1))
    for number in (2, 3):
        stamped = synth.batch([synth.message(payload, index, headers=headers)
                               for index, (payload, headers, _) in enumerate(payloads)], 7, offset, 1_700_000_000_000_000)
        connection.client(synth.request(synth.poll_body(stream, topic, 7, 100), code=100, request=number, session=1))
        connection.server(synth.reply(synth.poll_reply(stamped, 7, offset + len(payloads) - 1, len(payloads)), request=number),
                          mss=mss)
    capture.write(path)
    return sent


def test_names_and_extensions(tshark, tmp_path, two_pass):
    sent = write_topic(tmp_path / "topic.pcap")
    files = export(tshark, tmp_path / "topic.pcap", two_pass=two_pass)
    expected = {}
    for index, (payload, _, extension) in enumerate(PAYLOADS):
        expected["orders.events.7.%d.%s" % (40 + index, extension)] = payload
        expected["orders.events.7.sent-%d-%d.%s" % (sent, index, extension)] = payload
    assert files == expected


def test_nothing_dangerous_in_names(tshark, tmp_path):
    """No separators, no dots of their own, nothing too long: names come from the wire."""
    write_topic(tmp_path / "names.pcap", "../../etc/passwd", "a" * 250 + ".b", PAYLOADS[:1])
    files = export(tshark, tmp_path / "names.pcap")
    names = sorted(files)
    assert names[0] == "______etc_passwd.%s.7.40.json" % ("a" * 80)
    assert len(names) == 2


def test_characters_are_not_cut(tshark, tmp_path):
    write_topic(tmp_path / "umlauts.pcap", "ä" * 60, "x" + "ä" * 60, PAYLOADS[:1])
    names = sorted(export(tshark, tmp_path / "umlauts.pcap"))
    assert names[0] == "%s.x%s.7.40.json" % ("ä" * 40, "ä" * 39)


def test_ids_where_names_are_not_known(tshark, tmp_path):
    write_topic(tmp_path / "ids.pcap", 3, 4, PAYLOADS[:1])
    assert "3.4.7.40.json" in export(tshark, tmp_path / "ids.pcap")


def test_one_name_different_bytes(tshark, tmp_path):
    """A topic that was deleted and made anew counts from 0 again: nothing is lost, nothing is overwritten."""
    capture = synth.Capture()
    connection = capture.connection()
    connection.client(synth.request(synth.login_body(), operation=1, request=0))
    connection.server(synth.reply(synth.login_reply(), operation=1, request=0))
    for number, payload in ((1, b"old"), (2, b"new"), (3, b"old")):
        record = synth.batch([synth.message(payload)], 1, 0, 1_700_000_000_000_000)
        connection.client(synth.request(synth.poll_body("s", "t", 1, 1), code=100, request=number, session=1))
        connection.server(synth.reply(synth.poll_reply(record, 1, 0, 1), request=number))
    capture.write(tmp_path / "again.pcap")
    assert sorted(export(tshark, tmp_path / "again.pcap").values()) == [b"new", b"old"]


def test_more_messages_than_a_queue_of_taps_holds(tshark, tmp_path):
    """Wireshark's queue has 5000 entries a packet: a frame hands on its messages as one."""
    write_topic(tmp_path / "many.pcap", payloads=[(b"%d" % number, b"", "txt") for number in range(6000)], mss=32768)
    files = export(tshark, tmp_path / "many.pcap", "-o", "gui.max_export_objects:100000")
    assert len([name for name in files if ".sent-" not in name]) == 6000


def test_what_replicas_send_is_left_out(tshark, captures):
    """Of the two, only what a client sent: here a request that one server handed to another."""
    messages = messages_of(captures / "codec/replica-0.12.2.pcap")
    assert {message.direction for message in messages} == {"sent", "replicated"}
    files = export(tshark, "codec/replica-0.12.2.pcap")
    assert sorted(files.values()) == sorted(message.payload for message in messages if message.direction == "sent")
