# Message batches: headers, messages, user headers, checksums (messages.md 2).
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Real captures against tools/batches.py, an independent reader; damaged and unusual batches made here."""

import struct

import pytest

from batches import batches_of
from check_pdml import to_int, to_micros
from pair_frames import frames_of
from synth import batch, header_value, message, poll_reply, send_body, user_headers, u64
from test_commands_system_messages import POLL, Session
from xxh3 import xxh3_64

REAL = ["real/02_produce_consume_rust.pcapng", "real/05_python.pcapng", "real/18_mid_capture_start.pcapng",
        "real/22_other_port.pcapng", "real012/02_produce.pcapng", "real012/03_pipeline.pcapng", "real012/04_deferred.pcapng"]
GOOD, BAD, NOT_PRESENT = "1", "0", "3"
STAMP = 1_700_000_001_000_000


def hexes(values):
    return [value.replace(":", "").replace("-", "") for value in values]


# ---- real captures ----

@pytest.mark.parametrize("capture", REAL)
def test_real_batches(tshark, captures, capture, two_pass):
    """Each message of each frame with its id, offset, times, payload; all checksums good."""
    truth = {}
    for row in frames_of(captures / capture):
        found = batches_of(row["data"]) if row["note"].split()[0] in ("ok", "resync") and len(row["data"]) == row["size"] else None
        if found:
            truth.setdefault((row["end_pkt"], row["size"]), []).append(found)
    shown = {}
    for frame in tshark.frames(capture, "-Y", "iggy.batch", "--disable-protocol", "json", two_pass=two_pass):
        shown.setdefault((frame.packet, int(frame.values["iggy.size"][0])), []).append(frame.values)
    shown = {key: [one for one in values if "iggy.batch.length" in one] for key, values in shown.items()}
    shown = {key: values for key, values in shown.items() if values}
    assert sorted(shown) == sorted(truth) and len(truth) > 1
    for key, frames in truth.items():
        for batches, values in zip(frames, shown[key]):
            compare(batches, values)


def compare(batches, values):
    messages = [one for each in batches for one in each.messages]
    stamped = [each for each in batches if each.base_time]
    assert values["iggy.batch.message_count"] == [str(len(each.messages)) for each in batches]
    assert values["iggy.batch.length"] == [str(each.length) for each in batches]
    assert values["iggy.batch.base_offset"] == [str(each.base_offset) for each in batches]
    assert [to_micros(text) for text in values["iggy.batch.origin_timestamp"]] == [each.origin for each in batches]
    assert values["iggy.batch.checksum.status"] == [GOOD] * len(batches) and all(each.checksum_good for each in batches)
    assert values["iggy.message.checksum.status"] == [GOOD] * len(messages) and all(one.checksum_good for one in messages)
    assert hexes(values["iggy.message.id"]) == [one.id.hex() for one in messages]
    assert hexes(values["iggy.message.payload"]) == [one.payload.hex() for one in messages if one.payload]
    assert values["iggy.message.headers_length"] == [str(len(one.headers)) for one in messages]
    times = [each.origin + one.time_delta for each in batches for one in each.messages]
    assert [to_micros(text) for text in values["iggy.message.timestamp"]] == times
    offsets = [str(each.base_offset + one.offset_delta) for each in stamped for one in each.messages]
    assert values.get("iggy.message.offset", []) == offsets
    # A fetch says it once a partition.
    assert sum(map(int, values["iggy.messages_count"])) == len(messages)
    assert sum(map(int, values["iggy.messages_bytes"])) == sum(len(one.payload) + len(one.headers) for one in messages)
    assert values.get("iggy.first_offset", [])[:1] == offsets[:1] and values.get("iggy.last_offset", [])[-1:] == offsets[-1:]
    if not stamped:
        assert values["iggy.batch.partition_id"] == ["0"] * len(batches)


# ---- made here ----

THREE = [message(b"one", 0, 1), message(b"two", 1, 2, user_headers([("k", "v")]), delta=5), message(b"", 2, 1 << 127, delta=9)]


def polled(tshark, folder, records, version="0.12.2", count=3, **more):
    """The values of a poll reply with these records."""
    session = Session(version)
    session.ask(100, POLL)
    packet = session.answer(100, poll_reply(records, 3, 1000, count, version), mss=60000)
    return session.frame(tshark, folder, packet, **more)


def sent(tshark, folder, record, version="0.12.2", **more):
    session = Session(version)
    return session.frame(tshark, folder, session.ask(101, send_body("orders", "events", 3, record)), **more)


def experts(values):
    return sorted(one for one in values if one.startswith("iggy.expert") and one != "iggy.expert.no_reply")


def test_times_and_offsets(tshark, tmp_path, two_pass):
    """Packet 7 of the capture is 7 ms after 1,700,000,000 s."""
    values = polled(tshark, tmp_path, batch(THREE, 3, 100, STAMP), two_pass=two_pass)
    assert values["iggy.message.offset"] == ["100", "101", "102"]
    assert [to_micros(text) for text in values["iggy.message.timestamp"]] == [
        1_700_000_000_000_000, 1_700_000_000_000_005, 1_700_000_000_000_009]
    assert [to_micros(text) for text in values["iggy.message.broker_timestamp"]] == [STAMP] * 3
    assert [float(text) for text in values["iggy.message.broker_delay"]] == [1.0, 0.999995, 0.999991]
    assert [float(text) for text in values["iggy.message.age"]] == [-0.993] * 3
    assert values["iggy.consumer.lag"] == ["898"]
    assert values["iggy.partition.id"] == ["3", "3"] and "iggy.batch.partition_id" not in values
    assert experts(values) == []


def test_request_has_no_offsets(tshark, tmp_path, two_pass):
    values = sent(tshark, tmp_path, batch(THREE), two_pass=two_pass)
    for field in ("message.offset", "message.broker_timestamp", "message.age", "first_offset", "last_offset"):
        assert "iggy." + field not in values
    assert values["iggy.batch.partition_id"] == ["0"] and values["iggy.partition.id"] == ["3"]
    assert values["iggy.messages_bytes"] == ["18"]
    assert experts(values) == []


def test_small_ids_are_numbers_too(tshark, tmp_path):
    polled(tshark, tmp_path, batch(THREE, 3, 100, STAMP))
    text = tshark.verbose(tmp_path / "made.pcap")
    assert "Message id: 02000000-0000-0000-0000-000000000000 (2)" in text
    assert "Message id: 00000000-0000-0000-0000-000000000080\n" in text


def test_partition_and_offset_zero_when_stamped(tshark, tmp_path):
    """Zero is an ordinary partition and offset: the base timestamp tells that the server has stamped the batch."""
    values = polled(tshark, tmp_path, batch(THREE, 0, 0, STAMP))
    assert values["iggy.message.offset"] == ["0", "1", "2"] and values["iggy.partition.id"] == ["3", "0"]


def test_several_and_sliced_batches(tshark, tmp_path, two_pass):
    """A slice keeps the base offset: its first delta is not 0 (messages.md 4.3)."""
    ten = [message(b"x", index) for index in range(10)]
    records = batch(ten[7:], 3, 100, STAMP) + batch(ten[:4], 3, 110, STAMP)
    values = polled(tshark, tmp_path, records, count=7, two_pass=two_pass)
    assert values["iggy.message.offset"] == ["107", "108", "109", "110", "111", "112", "113"]
    assert values["iggy.first_offset"] == ["107"] and values["iggy.last_offset"] == ["113"]
    assert values["iggy.batch.checksum.status"] == [GOOD, GOOD] and experts(values) == []
    info = tshark.info(tmp_path / "made.pcap", two_pass=two_pass)[-1]
    assert "7 messages" in info and "107-113" in info


@pytest.mark.parametrize("version", ["0.11.0", "0.12.0", "0.12.1", "0.12.2"])
def test_no_producer(tshark, tmp_path, version):
    values = polled(tshark, tmp_path, batch(THREE, 3, 100, STAMP), version)
    assert [to_int(text) for text in values["iggy.batch.flags"]] == [0]
    assert "iggy.batch.producer_id" not in values and experts(values) == []


def with_producer(record, flags=1, padding=0):
    """The record with a producer section, its checksum made anew."""
    section = struct.pack("<B3sQHHI", flags, bytes([padding, 0, 0]), 77, 5, 0, 900)
    out = bytearray(record)
    out[52:72] = section
    places = [256]
    while places[-1] < len(record):
        headers, payload = struct.unpack_from("<II", record, places[-1] + 32)
        places.append(places[-1] + 48 + headers + payload)
    covered = bytes(out[:40] + out[48:52]) + b"\1" + u64(77) + struct.pack("<HI", 5, 900)
    covered += b"".join(record[place:place + 8] for place in places[:-1])
    out[40:48] = u64(xxh3_64(covered))
    return bytes(out)


def patch_before_flag(record):
    """No flag, but a producer id."""
    return record[:56] + b"\1" + record[57:]


def test_producer(tshark, tmp_path):
    values = polled(tshark, tmp_path, with_producer(batch(THREE, 3, 100, STAMP)))
    assert values["iggy.batch.producer_id"] == ["77"] and values["iggy.batch.producer_epoch"] == ["5"]
    assert values["iggy.batch.base_sequence"] == ["900"] and to_int(values["iggy.batch.flags"][0]) == 1
    assert values["iggy.batch.checksum.status"] == [GOOD] and experts(values) == []


@pytest.mark.parametrize("version, record, expert", [
    ("0.11.0", patch_before_flag(batch(THREE, 3, 100, STAMP)), "reserved_enforced"),
    ("0.12.2", with_producer(batch(THREE, 3, 100, STAMP), flags=3), "bad_kind"),
    ("0.12.2", with_producer(batch(THREE, 3, 100, STAMP), padding=1), "reserved_enforced"),
    ("0.11.0", batch(THREE, 3, 100, STAMP)[:200] + b"\1" + batch(THREE, 3, 100, STAMP)[201:], "reserved_enforced"),
])
def test_bytes_that_must_be_zero(tshark, tmp_path, version, record, expert):
    values = polled(tshark, tmp_path, record, version)
    assert "iggy.expert." + expert in values
    assert values["iggy.message.offset"] == ["100", "101", "102"]


@pytest.mark.parametrize("epoch, sequence, bad", [(0x7fff, 0x7fffffff, 0), (0x8000, 1, 1), (1, 0x80000000, 1)])
def test_limits_of_producers(tshark, tmp_path, epoch, sequence, bad):
    record = bytearray(with_producer(batch(THREE, 3, 100, STAMP)))
    struct.pack_into("<H", record, 64, epoch)
    struct.pack_into("<I", record, 68, sequence)
    assert len(polled(tshark, tmp_path, bytes(record)).get("iggy.expert.range", [])) == bad


def test_limit_of_user_headers(tshark, tmp_path):
    """100,000 bytes, and 28 more when they are encrypted."""
    messages = [message(b"", 0, 0, bytes(100_028)), message(b"", 1, 0, bytes(100_029))]
    values = polled(tshark, tmp_path, batch(messages, 3, 100, STAMP), count=2)
    assert len(values["iggy.expert.range"]) == 1


FIRST = 256 # place of the first message
DAMAGE = {
    # place in the record: (batch, messages) that are bad
    0: (True, []), 8: (True, []), 16: (True, []), 24: (True, []), 40: (True, []),
    FIRST: (True, [0]), FIRST + 8: (False, [0]), FIRST + 28: (False, [0]), FIRST + 48: (False, [0]),
    FIRST + 51: (True, [1]), FIRST + 51 + 49: (False, [1]),
}


@pytest.mark.parametrize("place", sorted(DAMAGE))
def test_damage_and_checksums(tshark, tmp_path, place, two_pass):
    """The batch's checksum covers its header and the messages' checksums, a message's all of the message (messages.md 2.4)."""
    record = bytearray(batch(THREE, 3, 100, STAMP))
    record[place] ^= 1
    values = polled(tshark, tmp_path, bytes(record), two_pass=two_pass)
    batch_bad, messages_bad = DAMAGE[place]
    assert values["iggy.batch.checksum.status"] == [BAD if batch_bad else GOOD]
    assert values["iggy.message.checksum.status"] == [BAD if index in messages_bad else GOOD for index in range(3)]
    assert len(values.get("iggy.expert.bad_batch_checksum", [])) == batch_bad
    assert len(values.get("iggy.expert.bad_message_checksum", [])) == len(messages_bad)


def test_checksum_that_is_not_there(tshark, tmp_path):
    record = batch(THREE, 3, 100, STAMP)
    values = polled(tshark, tmp_path, record[:40] + bytes(8) + record[48:])
    assert values["iggy.batch.checksum.status"] == [NOT_PRESENT] and experts(values) == []


def test_checksums_not_verified(tshark, tmp_path):
    session = Session("0.12.2")
    packet = session.exchange(100, POLL, poll_reply(batch(THREE, 3, 100, STAMP), 3, 1000, 3))
    path = session.capture.write(tmp_path / "made.pcap")
    frames = tshark.frames(path, "-o", "iggy.verify_checksums:FALSE")
    values = next(frame.values for frame in frames if frame.packet == packet)
    assert values["iggy.batch.checksum.status"] == ["2"] and values["iggy.message.checksum.status"] == ["2"] * 3


@pytest.mark.parametrize("fields", [["iggy.batch.checksum.status"], ["iggy.message.checksum.status"],
                                    ["iggy.expert.bad_message_checksum"], ["_ws.expert.message"]])
def test_bad_checksums_are_found_without_a_tree(tshark, tmp_path, fields, two_pass):
    """A filter or a column is enough for the work to be done."""
    record = bytearray(batch(THREE, 3, 100, STAMP))
    record[FIRST] ^= 1
    session = Session("0.12.2")
    packet = session.exchange(100, POLL, poll_reply(bytes(record), 3, 1000, 3))
    path = session.capture.write(tmp_path / "made.pcap")
    rows = tshark.fields(path, fields, "-Y", "iggy.batch.checksum.status == 0 && iggy.message.checksum.status == 0 && "
                                             "iggy.expert.bad_message_checksum && _ws.expert.severity == 8388608",
                         two_pass=two_pass)
    assert len(rows) == 1 and rows[0][0] and packet == session.capture.number


CIPHERTEXT = bytes(range(7, 60))


def test_user_headers_that_are_ciphertext(tshark, tmp_path):
    """Legal: nothing on the wire says that a client encrypts (messages.md 2.5)."""
    values = polled(tshark, tmp_path, batch([message(b"p", 0, 0, CIPHERTEXT), message(b"q", 1)], 3, 100, STAMP), count=2)
    assert hexes(values["iggy.message.headers_opaque"]) == [CIPHERTEXT.hex()]
    assert "iggy.message.header" not in values and values["iggy.message.offset"] == ["100", "101"]
    assert experts(values) == []


def test_user_headers_of_all_kinds(tshark, tmp_path):
    pairs = (header_value(11, b"\x05\0\0\0") + header_value(12, u64(1 << 63)) + header_value(1, b"\xff") +
             header_value(14, struct.pack("<f", 0.5)))
    values = polled(tshark, tmp_path, batch([message(b"p", 0, 0, pairs)], 3, 100, STAMP), count=1)
    assert values["iggy.message.header.key"] == ["5", "ff"]
    assert values["iggy.message.header.value"] == ["9223372036854775808", "0.5"]
    assert values["iggy.message.header.value_uint"] == ["9223372036854775808"]
    assert values["iggy.message.header.value_float"] == ["0.5"]


def patched(record, place, layout, value):
    out = bytearray(record)
    struct.pack_into("<" + layout, out, place, value)
    return bytes(out)


WHOLE = batch(THREE, 3, 100, STAMP)
MISFITS = {
    "batch length 255": (patched(WHOLE, 32, "Q", 255), 0),
    "batch length 0": (patched(WHOLE, 32, "Q", 0), 0),
    "batch length past the end": (patched(WHOLE, 32, "Q", len(WHOLE) + 1), 0),
    "batch length 2^64-1": (patched(WHOLE, 32, "Q", (1 << 64) - 1), 0),
    "one message too many": (patched(WHOLE, 48, "I", 4), 3),
    "2^32-1 messages": (patched(WHOLE, 48, "I", (1 << 32) - 1), 3),
    "payload past the end": (patched(WHOLE, FIRST + 36, "I", 1000), 1),
    "payload of 4 GiB": (patched(WHOLE, FIRST + 36, "I", (1 << 32) - 1), 1),
    "user headers past the end": (patched(WHOLE, FIRST + 32, "I", 1000), 1),
    "half a header": (WHOLE[:100], 0),
    "a batch and half a header": (WHOLE + WHOLE[:255], 3),
}


@pytest.mark.parametrize("case", sorted(MISFITS))
def test_batches_that_do_not_fit(tshark, tmp_path, case, two_pass):
    """Shown as far as they go, a warning says where it ends, the rest is bytes."""
    record, messages = MISFITS[case]
    values = polled(tshark, tmp_path, record, two_pass=two_pass)
    assert len(values["iggy.expert.layout"]) == 1
    assert len(values.get("iggy.message.offset", [])) == messages
    assert ("iggy.undecoded" in values) == ("messages" not in case and "too many" not in case) # nothing is left of those


def test_one_message_too_few(tshark, tmp_path):
    """What the count leaves over is extra data."""
    values = polled(tshark, tmp_path, patched(WHOLE, 48, "I", 2))
    assert values["iggy.message.offset"] == ["100", "101"] and len(values["iggy.extra"][0].replace(":", "")) == 96
    assert "iggy.expert.extra" in values and "iggy.expert.layout" not in values


def test_reserved_bytes_of_a_message(tshark, tmp_path):
    values = polled(tshark, tmp_path, patched(WHOLE, FIRST + 40, "Q", 1))
    assert len(values["iggy.expert.reserved_enforced"]) == 1


@pytest.mark.parametrize("deltas, request_bad, reply_bad", [
    ([0, 1, 2], 0, 0), ([5, 6, 7], 1, 0), ([0, 2, 3], 1, 1), ([0, 0, 0], 2, 2), ([2, 1, 0], 3, 2)])
def test_deltas(tshark, tmp_path, deltas, request_bad, reply_bad):
    """They count up by one, in a request from 0."""
    messages = [message(b"x", delta) for delta in deltas]
    values = sent(tshark, tmp_path, batch(messages))
    assert len(values.get("iggy.expert.offset_delta", [])) == request_bad
    values = polled(tshark, tmp_path, batch(messages, 3, 100, STAMP))
    assert len(values.get("iggy.expert.offset_delta", [])) == reply_bad


def test_empty_batch(tshark, tmp_path):
    values = polled(tshark, tmp_path, batch([], 3, 100, STAMP), count=0)
    assert values["iggy.batch.message_count"] == ["0"] and "iggy.last_offset" not in values
    assert values["iggy.batch.checksum.status"] == [GOOD]


@pytest.mark.parametrize("limit", [10, 50])
def test_limit_of_messages(tshark, tmp_path, limit):
    """Beyond the preference the rest of the list is bytes with a note; facts are those of all messages."""
    many = [message(b"payload", index, index) for index in range(200)]
    session = Session("0.12.2")
    packet = session.exchange(100, POLL, poll_reply(batch(many, 3, 0, STAMP), 3, 1000, 200))
    path = session.capture.write(tmp_path / "made.pcap")
    values = next(frame.values for frame in tshark.frames(path, "-o", "iggy.elements_limit:%d" % limit) if frame.packet == packet)
    assert values["iggy.message.offset"] == [str(index) for index in range(limit)]
    assert len(values["iggy.undecoded"]) == 1 and len(values["iggy.undecoded"][0].replace(":", "")) == 2 * 55 * (200 - limit)
    assert len(values["iggy.expert.items_limit"]) == 1
    assert values["iggy.last_offset"] == ["199"] and values["iggy.messages_bytes"] == ["1400"]


@pytest.mark.parametrize("kept", [54 + 256 + 100, 54 + 256 + 40 + 256 + 20, 54 + 256 + 40 + 256 + 60])
def test_capture_that_cuts_frames(tshark, tmp_path, kept):
    """What is captured is shown, the cut is said, nothing is malformed but for the packet's own length."""
    session = Session("0.12.2")
    packet = session.exchange(100, POLL, poll_reply(WHOLE, 3, 1000, 3))
    path = session.capture.write(tmp_path / "made.pcap", kept={packet: kept})
    values = next(frame.values for frame in tshark.frames(path, check=False) if frame.packet == packet)
    assert values["iggy.current_offset"] == ["1000"]
    assert "iggy.expert.cut" in values and "iggy.expert.layout" not in values
    assert "2" in values.get("iggy.batch.checksum.status", ["2"])


def test_info_is_the_same_with_and_without_a_tree(tshark):
    """Facts come from the headers of records, whoever looks."""
    for capture in ("real/02_produce_consume_rust.pcapng", "real012/04_deferred.pcapng"):
        plain = tshark.info(capture)
        walked = tshark.info(capture, "-Y", "frame && (iggy.message.payload || !iggy.message.payload)")
        assert plain == walked and any("offsets" in line for line in plain)


def test_filters_find_messages(tshark):
    """A filter on one field of a message finds it in one pass and in two; nothing else is printed."""
    for two_pass in (False, True):
        rows = tshark.fields("real/02_produce_consume_rust.pcapng", ["frame.number"],
                             "-Y", 'iggy.message.header.key && iggy.message.payload', two_pass=two_pass)
        assert len(rows) == 2
