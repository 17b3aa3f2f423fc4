# A reader of message batches (messages.md 2), independent of the plugin.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the batches in a frame's bytes and takes them apart; checksums by the XXH3 written here in Python."""

import collections
import struct

from xxh3 import xxh3_64

Batch = collections.namedtuple("Batch", "partition base_offset base_time origin length checksum_good messages producer")
Message = collections.namedtuple("Message", "checksum_good id offset_delta time_delta payload headers")


def numbers(layout, data, at):
    return struct.unpack_from("<" + layout, data, at)


def read_message(data, at):
    """The message at `at` and where it ends."""
    checksum, low, high, offset_delta, time_delta, headers_length, payload_length, reserved = numbers("QQQIIIIQ", data, at)
    end = at + 48 + payload_length + headers_length
    if reserved or end > len(data):
        raise ValueError("no message")
    payload = data[at + 48:at + 48 + payload_length]
    headers = data[at + 48 + payload_length:end]
    return Message(checksum == xxh3_64(data[at + 8:end]), data[at + 8:at + 24], offset_delta, time_delta, payload, headers), end


def read_batch(data, at):
    """The batch at `at` and where it ends; ValueError if there is none."""
    if len(data) - at < 256:
        raise ValueError("too short")
    partition, base, base_time, origin, length, checksum, count = numbers("QQQQQQI", data, at)
    flag = data[at + 52]
    if not 256 <= length <= len(data) - at or any(data[at + 72:at + 256]) or flag > 1 or (not flag and any(data[at + 52:at + 72])):
        raise ValueError("no batch")
    covered = data[at:at + 40] + data[at + 48:at + 52]
    if flag:
        covered += b"\1" + data[at + 56:at + 66] + data[at + 68:at + 72]
    messages, place = [], at + 256
    for _ in range(count):
        covered += data[place:place + 8]
        message, place = read_message(data[:at + length], place)
        messages.append(message)
    if place != at + length:
        raise ValueError("messages do not fill the batch")
    producer = numbers("QHxxI", data, at + 56) if flag else None
    return Batch(partition, base, base_time, origin, length, checksum == xxh3_64(covered), messages, producer), place


def read_all(data, at):
    out = []
    while at < len(data):
        batch, at = read_batch(data, at)
        out.append(batch)
    return out


def batches_of(frame):
    """All batches of a frame's bytes: of a send, or of a poll reply with either head. None: the frame has none."""
    command = frame[60]
    if command == 5 and frame[176] == 160:
        return read_all(frame, 260 + numbers("I", frame, 256)[0])
    if command != 8 or frame[208] != 2 or len(frame) < 256 + 16 + 256:
        return None
    for records in (fetched(frame), frame[272:], frame[296:]):
        try:
            found = read_all(records, 0)
        except (ValueError, struct.error):
            continue
        if found:
            return found
    return None


def fetched(frame):
    """The records of a fetch reply, nothing if it is none: a count, a table of sections, so many bytes of records."""
    sections = numbers("I", frame, 256)[0]
    records = 260 + 56 * sections
    if records > len(frame):
        return b""
    lengths = [numbers("I", frame, 260 + 56 * one + 52)[0] for one in range(sections)]
    return frame[records:] if sum(lengths) == len(frame) - records else b""
