# Port 9092 is Kafka's in Wireshark, and that of the third server of a cluster on one machine.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Truth: tools/list_frames.py for Iggy, tshark without the plugin for Kafka."""

import collections
import re

import pytest

import claims
import kafka_frames
import list_frames
from conftest import CAPTURES
from synth import Capture

CLUSTER_CAPTURES = ["12_cluster_startup", "12b_cluster_restart", "13_cluster_writes", "17_cluster_idle"]
KAFKA = ["-d", "tcp.port==9092,kafka"]
PORTS = ["-o", "kafka.tcp.ports:9092,9094"]  # kafka.tcp.port is a name that Wireshark ignores


def listed(path):
    return collections.Counter((row["end_pkt"], row["size"], row["command"]) for row in list_frames.list_file(str(path))
                               if str(row["note"]).startswith(("ok", "resync")))


def shown(tshark, path, *options, two_pass=False):
    rows = tshark.fields(path, ["frame.number", "iggy.size", "iggy.command"], "-Y", "iggy", *options, two_pass=two_pass)
    return collections.Counter((int(packet[0]), int(size), int(command))
                               for packet, sizes, commands in rows for size, command in zip(sizes, commands))


def kafka_capture(path, mss=1460):
    """Requests and replies in segments of all kinds: several in one, one in many; with handshake and from the middle."""
    capture = Capture()
    for number, (count, size, handshake) in enumerate([(1, 20, True), (10, 100, True), (40, 1000, True), (40, 1000, False)]):
        produce, produced = kafka_frames.produce(count, size), kafka_frames.produced()
        connection = capture.connection(40000 + number, 9092, handshake=handshake)
        for first in range(1, 12, 3):
            connection.client(b"".join(map(produce, range(first, first + 3))), mss=mss)
            connection.server(b"".join(map(produced, range(first, first + 3))), mss=mss)
    return capture.write(path)


def without_head(text):
    """PDML, less the line that names the time and the file."""
    return re.sub(r"<pdml .*?>", "<pdml>", text)


@pytest.mark.parametrize("name", CLUSTER_CAPTURES)
def test_every_frame_of_a_cluster_on_one_machine(tshark, name, two_pass):
    path = CAPTURES / "real" / (name + ".pcapng")
    assert shown(tshark, path, two_pass=two_pass) == listed(path)


@pytest.mark.parametrize("mss", [100, 1460, 65000])
def test_kafka_decodes_as_without_the_plugin(tshark, tmp_path, mss, two_pass):
    path = kafka_capture(tmp_path / "kafka.pcap", mss)
    plain = claims.without_plugin(tshark)
    ours = without_head(tshark.read(path, "-T", "pdml", two_pass=two_pass))
    assert ours.count('proto name="kafka"') > 30 and 'name="iggy' not in ours
    assert ours == without_head(plain.read(path, "-T", "pdml", two_pass=two_pass))


@pytest.mark.parametrize("options", [["-o", "tcp.desegment_tcp_streams:FALSE"], ["-o", "tcp.try_heuristic_first:TRUE"],
                                     ["--disable-protocol", "iggy"], ["--disable-protocol", "kafka"], KAFKA,
                                     PORTS, ["-o", "kafka.tcp.ports:9094"]])
def test_kafka_decodes_as_without_the_plugin_whatever_is_set(tshark, tmp_path, options):
    path = kafka_capture(tmp_path / "kafka.pcap")
    theirs = [] if "iggy" in options else options
    plain = claims.without_plugin(tshark).read(path, "-T", "pdml", *theirs)
    assert without_head(tshark.read(path, "-T", "pdml", *options)) == without_head(plain)


def test_other_bytes_on_kafkas_port_decode_as_without_the_plugin(tshark, tmp_path, two_pass):
    path = claims.synthetic(tmp_path, 9092)
    names = ["frame.protocols", "_ws.col.info" if tshark.version >= (4, 2) else "_ws.col.Info"]
    theirs = claims.without_plugin(tshark).fields(path, names, two_pass=two_pass, check=False)
    assert tshark.fields(path, names, two_pass=two_pass, check=False) == theirs
    assert len(theirs) > 500


@pytest.mark.parametrize("options", [KAFKA, PORTS, ["--disable-heuristic", "iggy_tcp"]])
def test_what_the_user_says_comes_first(tshark, options):
    """Kafka's dissector is asked alone where somebody says so."""
    path = "real/17_cluster_idle.pcapng"
    theirs = claims.without_plugin(tshark).fields(path, ["frame.protocols"], "-Y", "tcp.port == 9092")
    assert tshark.fields(path, ["frame.protocols"], *options, "-Y", "tcp.port == 9092") == theirs


def test_the_protocols_of_a_packet_name_iggy_alone(tshark, two_pass):
    rows = tshark.fields("real/17_cluster_idle.pcapng", ["tcp.port", "frame.protocols"], "-Y", "iggy", two_pass=two_pass)
    assert {row[1][0] for row in rows if "9092" in row[0]} == {"eth:ethertype:ip:tcp:iggy"}
