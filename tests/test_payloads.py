# Payloads that other dissectors get: by user table, Decode As, content type, heuristics, and JSON.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Who gets a payload, and that whatever a dissector of payloads does, only its own part of the tree is lost."""

import struct

import pytest

from synth import Capture, batch, ident, login_body, login_reply, message, name, poll_body, poll_reply, reply, request, \
    send_body, u32, u64, user_headers

STAMP = 1_700_000_001_000_000
XML = b'<?xml version="1.0"?><order id="7"/>'
JSON = b'{"order": 7, "items": [1, 2, 3]}'


def traffic(folder, payloads, stream="orders", topic="events", version="0.12.2", headers=(), replies=True):
    """A login, a send, a poll with its reply, a ping: packets 6, 7 and 8 carry the payloads and what follows them."""
    capture = Capture()
    connection = capture.connection()
    connection.client(request(login_body(version), operation=1))
    connection.server(reply(login_reply(version=version), operation=1, op=1))
    messages = [message(one, index, index + 1, user_headers(headers)) for index, one in enumerate(payloads)]
    connection.client(request(send_body(stream, topic, 3, batch(messages)), operation=160, session=1, request=1), mss=60000)
    connection.client(request(poll_body(stream, topic, 3, len(messages)), code=100, session=1, request=2))
    records = poll_reply(batch(messages, 3, 100, STAMP), 3, 1000, len(messages), version)
    connection.server(reply(records, request=2), mss=60000)
    connection.client(request(code=1, session=1, request=3))
    return capture.write(folder / "payloads.pcap"), capture.number


def protocols_of(element):
    return [proto.get("name") for proto in element.iter() if proto.tag in ("proto", "field")]


def shown(tshark, path, *options, check=True, two_pass=False):
    """Frame by packet."""
    return {frame.packet: frame for frame in tshark.frames(path, *options, check=check, two_pass=two_pass)}


def open_to_all(folder):
    """The folders above one of a test that may be closed to others: pytest's own, and that of the process."""
    return [parent for parent in folder.parents if parent.name.startswith(("pytest-", "popen-"))]


def uat(*row):
    return "uat:iggy_payloads:" + ",".join('"%s"' % one for one in row)


def info(tshark, path, *options, two_pass=False):
    """The Info column; payloads that are malformed are no matter here."""
    return [line.split("\t") for line in tshark.read(path, "-T", "tabs", *options, two_pass=two_pass, check=False).split("\n")]


# ---- who gets it ----

def test_json_is_recognised(tshark, tmp_path, two_pass):
    path, _ = traffic(tmp_path, [JSON, b"no json", b'["cut"', JSON])
    frames = shown(tshark, path, two_pass=two_pass)
    for packet in (6, 8):
        assert frames[packet].values["json.key"].count("order") == 2
        assert len(frames[packet].values["iggy.message.payload"]) == 4


@pytest.mark.parametrize("what", ["json", 'json.key == "order"', "json.value.number"])
def test_filters_of_other_protocols_find_payloads(tshark, tmp_path, what, two_pass):
    """Also where nothing else asks for the messages."""
    path, _ = traffic(tmp_path, [JSON])
    assert tshark.fields(path, ["frame.number"], "-Y", what, two_pass=two_pass) == [[["6"]], [["8"]]]


def test_hand_off_can_be_switched_off(tshark, tmp_path):
    path, _ = traffic(tmp_path, [JSON])
    frames = shown(tshark, path, "-o", "iggy.payload_hand_off:FALSE")
    assert "json" not in frames[6].values and frames[6].values["iggy.message.payload_text"] == [JSON.decode()]
    frames = shown(tshark, path, "-o", "iggy.payload_text:FALSE")
    assert "iggy.message.payload_text" not in frames[6].values and "json.key" in frames[6].values


@pytest.mark.parametrize("content_type, payload, field", [
    ("application/xml", XML, "xml.tag"), ("Application/XML; charset=utf-8", XML, "xml.tag"), ("text/json", JSON, "json.key"),
    ("image/png", b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\1\0\0\0\1\x08\2\0\0\0\x90wS\xde", "png.signature")])
def test_content_type(tshark, tmp_path, content_type, payload, field):
    path, _ = traffic(tmp_path, [payload], headers=[("trace", "1"), ("Content-Type", content_type)])
    frames = shown(tshark, path)
    assert field in frames[6].values and field in frames[8].values


def test_unknown_content_type_is_no_hindrance(tshark, tmp_path):
    path, _ = traffic(tmp_path, [JSON], headers=[("content-type", "application/x-none-such")])
    assert "json.key" in shown(tshark, path)[6].values


RULES = [
    (("", "equals", "", "xml", ""), True),
    (("orders", "equals", "events", "xml", ""), True),
    (("orders", "equals", "event", "xml", ""), False),
    (("other", "equals", "events", "xml", ""), False),
    (("", "contains", "vent", "xml", ""), True),
    (("orders", "contains", "Vent", "xml", ""), False),
    (("", "regex", "^ev.*s$", "xml", ""), True),
    (("", "regex", "^v.*s$", "xml", ""), False),
]


@pytest.mark.parametrize("row, takes", RULES)
def test_user_table(tshark, tmp_path, row, takes, two_pass):
    """The reply to a poll says no topic: its request has."""
    path, _ = traffic(tmp_path, [XML])
    frames = shown(tshark, path, "-o", uat(*row), two_pass=two_pass)
    for packet in (6, 8):
        assert ("xml.tag" in frames[packet].values) == takes, packet


def test_user_table_by_id(tshark, tmp_path):
    path, _ = traffic(tmp_path, [XML], stream=4, topic=9)
    assert "xml.tag" in shown(tshark, path, "-o", uat("4", "equals", "9", "xml", ""))[8].values
    assert "xml.tag" not in shown(tshark, path, "-o", uat("4", "equals", "8", "xml", ""))[8].values


def test_first_row_that_fits(tshark, tmp_path):
    path, _ = traffic(tmp_path, [XML])
    frames = shown(tshark, path, "-o", uat("", "equals", "other", "json", ""), "-o", uat("", "equals", "events", "xml", ""))
    assert "xml.tag" in frames[6].values


@pytest.mark.parametrize("row", [("", "equals", "", "none-such", ""), ("", "regex", "(", "xml", "")])
def test_rows_that_are_refused(tshark, tmp_path, row):
    path, _ = traffic(tmp_path, [XML])
    result = tshark._plain(["-n", "-r", tshark.readable(path), "-o", uat(*row)])
    assert result.returncode and ("none-such" in result.stderr or "pattern" in result.stderr)


def test_protobuf_with_its_message_type(tshark, tmp_path):
    folder = tmp_path / "proto"
    folder.mkdir()
    (folder / "order.proto").write_text('syntax = "proto3"; package shop; message Order { uint32 number = 1; string who = 2; }')
    for one in (tmp_path, folder):
        one.chmod(0o755)
    for parent in open_to_all(tmp_path):
        parent.chmod(0o755)
    path, _ = traffic(tmp_path, [b"\x08\x07\x12\x03bob"])
    frames = shown(tshark, path, "-o", uat("orders", "equals", "events", "protobuf", "shop.Order"),
                   "-o", 'uat:protobuf_search_paths:"%s","TRUE"' % folder)
    for packet in (6, 8):
        assert frames[packet].values["protobuf.message.name"] == ["shop.Order"]
        assert frames[packet].values["protobuf.field.name"] == ["number", "who"]


def test_decode_as(tshark, tmp_path, two_pass):
    path, _ = traffic(tmp_path, [XML])
    frames = shown(tshark, path, "-d", "iggy.topic==orders/events,xml", two_pass=two_pass)
    assert "xml.tag" in frames[6].values and "xml.tag" in frames[8].values
    frames = shown(tshark, path, "-d", "iggy.topic==orders/other,xml", two_pass=two_pass)
    assert "xml.tag" not in frames[6].values
    rows = tshark.fields(path, ["frame.number"], "-d", "iggy.topic==orders/events,xml", "-Y", "xml.tag", two_pass=two_pass)
    assert rows == [[["6"]], [["8"]]]


# ---- dissectors that behave badly ----

LUA = """
local proto = Proto("payloadtest", "Payload test")
local topic = ProtoField.string("payloadtest.topic", "Topic")
proto.fields = { topic }
local function dissect(tvb, pinfo, tree)
    pinfo.cols.protocol = "SPOILT"
    pinfo.cols.info = "SPOILT"
    pinfo.desegment_len = 1000
    pinfo.desegment_offset = 0
    pinfo.can_desegment = 2
    pinfo.conversation = proto
    tree:add(proto, tvb()):add(topic, tvb(), "seen")
    if tvb(0, 1):uint() == 0x21 then error("on purpose") end
    return tvb:len()
end
function proto.dissector(tvb, pinfo, tree) return dissect(tvb, pinfo, tree) end
%s
"""


def lua(folder, registration):
    script = folder / "payload.lua"
    script.write_text(LUA % registration)
    script.chmod(0o644)
    for one in [folder] + open_to_all(folder):
        one.chmod(0o755)
    return ["-X", "lua_script:%s" % script]


def has_lua(tshark):
    return "with Lua" in tshark._plain(["--version"]).stdout


REGISTRATIONS = {
    "table": 'DissectorTable.get("iggy.topic"):add("orders/events", proto)',
    "heuristic": 'proto:register_heuristic("iggy.payload", function(tvb, pinfo, tree) dissect(tvb, pinfo, tree) return true end)',
}


@pytest.mark.parametrize("how", sorted(REGISTRATIONS))
def test_other_plugins(tshark, tmp_path, how, two_pass):
    """A Lua dissector in the table or in the list of heuristics gets payloads and can spoil nothing."""
    if not has_lua(tshark):
        pytest.skip("this tshark has no Lua")
    path, last = traffic(tmp_path, [b"plain", b"!bad", b"more"])
    options = lua(tmp_path, REGISTRATIONS[how])
    frames = shown(tshark, path, *options, two_pass=two_pass, check=False)
    assert sorted(frames) == [4, 5, 6, 7, 8, 9]
    for packet in (6, 8):
        assert frames[packet].values["payloadtest.topic"] == ["seen"] * 3
        assert frames[packet].values["iggy.message.checksum.status"] == ["1"] * 3
    assert frames[8].values["iggy.consumer.lag"] == ["898"]
    lines = info(tshark, path, *options, two_pass=two_pass)
    assert lines == info(tshark, path, two_pass=two_pass) and len(lines) == last + 1
    rows = tshark.fields(path, ["frame.number"], *options, "-Y", "payloadtest.topic", two_pass=two_pass, check=False)
    assert rows == [[["6"]], [["8"]]]


@pytest.mark.parametrize("protocol", ["ip", "dns", "http", "tls", "sip", "eth_withoutfcs", "smb", "amqp", "iggy"])
def test_dissectors_that_fail_or_claim(tshark, tmp_path, protocol, two_pass):
    """Whatever a foreign dissector makes of payloads that are not its own, the frames stay as they are."""
    path, last = traffic(tmp_path, [b"\x45\0", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", bytes(300), b"\x16\x03\x01\xff\xff\1", JSON])
    options = ["-o", uat("", "equals", "", protocol, "")]
    frames = [frame for frame in tshark.frames(path, *options, two_pass=two_pass, check=False)
              if frame.element.get("pos") == "54" or frame.packet == 6]
    first = {}
    for frame in frames:
        first.setdefault(frame.packet, frame)
    assert sorted(first) == [4, 5, 6, 7, 8, 9]
    plain = shown(tshark, path, "-o", "iggy.payload_hand_off:FALSE", two_pass=two_pass)
    for packet in (6, 8):
        for field in ("iggy.message.payload", "iggy.message.checksum.status", "iggy.message.timestamp", "iggy.messages_bytes"):
            assert first[packet].values[field] == plain[packet].values[field], (packet, field)
    lines = info(tshark, path, *options, two_pass=two_pass)
    assert lines == info(tshark, path, "-o", "iggy.payload_hand_off:FALSE", two_pass=two_pass) and len(lines) == last + 1


def test_very_many_payloads(tshark, tmp_path):
    """Neither the layers nor the items of a packet run over: what is too much is not handed off."""
    path, last = traffic(tmp_path, [b'{"a":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]}'] * 10000)
    text = tshark.verbose(path)
    assert "Dissector bug" not in text and "too many" not in text.lower()
    assert text.count("Message checksum: ") == 20000
    assert text.count("JavaScript Object Notation") > 200


def test_one_very_large_payload(tshark, tmp_path):
    path, last = traffic(tmp_path, [b"[" + b"1," * 1_000_000 + b"1]"])
    text = tshark.verbose(path)
    assert "JavaScript Object Notation" not in text and text.count("Message checksum: ") == 2


# ---- where nobody looks ----

QUESTION = bytes.fromhex("12340100000100000000000003777777076578616d706c6503636f6d0000010001")  # DNS: www.example.com, A


def test_statistics_of_payloads(tshark, tmp_path, two_pass):
    """A tap of DNS asks for no tree: messages are walked for it nevertheless."""
    path, _ = traffic(tmp_path, [QUESTION])
    text = tshark.read(path, "-q", "-z", "dns,tree", "-o", uat("orders", "equals", "events", "dns", ""), two_pass=two_pass)
    totals = [int(line.split()[2]) for line in text.splitlines() if line.startswith("Total Packets")]
    assert totals == [2]


# ---- packets as payloads ----

def datagram(data, offset=0, more=False):
    """IP of UDP, or a piece of it; between addresses of its own."""
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(data), 7, (0x2000 if more else 0) | offset // 8, 64, 17, 0)
    return head + bytes([192, 0, 2, 1, 192, 0, 2, 2]) + data


def test_state_of_payloads_is_of_the_first_pass(tshark, tmp_path, two_pass):
    """With -2 nobody looks in the first pass: fragments were not put together, and the second pass showed less."""
    whole = struct.pack(">HHHH", 40000, 53, 8 + len(QUESTION), 0) + QUESTION
    path, _ = traffic(tmp_path, [datagram(whole[:16], more=True), datagram(whole[16:], 16)], replies=False)
    rows = tshark.fields(path, ["dns.qry.name", "ip.fragment"], "-o", uat("", "equals", "", "ip", ""),
                         "-Y", "frame.number == 6", two_pass=two_pass, check=False)
    times = 2 if two_pass else 1  # both fragments are in one packet; at the first one nothing is known of the second
    assert rows == [[["www.example.com"] * times, ["6", "6"] * times]]


def test_iggy_in_packets_in_payloads(tshark, tmp_path, two_pass):
    """The stream of a connection within payloads is found in the first pass, or nothing of it is shown in the second."""
    capture = Capture()
    inner = capture.connection()
    inner.client(request(login_body("0.12.2"), operation=1))
    inner.server(reply(login_reply(version="0.12.2"), operation=1, op=1))
    payloads = [packet[14:26] + bytes([192, 0, 2, packet[29], 192, 0, 2, packet[33]]) + packet[34:]
                for _, packet in capture.packets]
    path, _ = traffic(tmp_path, payloads)
    rows = tshark.fields(path, ["frame.number", "iggy.command"], "-o", uat("", "equals", "", "ip", ""),
                         "-Y", "frame.number == 6", two_pass=two_pass, check=False)
    assert rows == [[["6"], ["5", "5", "8"]]]


def test_addresses_of_payloads_are_not_those_of_the_packet(tshark, tmp_path, two_pass):
    whole = struct.pack(">HHHH", 40000, 53, 8 + len(QUESTION), 0) + QUESTION
    path, _ = traffic(tmp_path, [datagram(whole)])
    text = tshark.read(path, "-T", "tabs", "-o", 'gui.column.format:"From","%s","To","%d"', "-o", uat("", "equals", "", "ip", ""),
                        "-Y", "dns", two_pass=two_pass, check=False)
    ends = [line.split("\t")[::2] for line in text.replace(" ", "").splitlines()]
    assert ends == [["10.0.0.1", "10.0.0.2"], ["10.0.0.2", "10.0.0.1"]]
