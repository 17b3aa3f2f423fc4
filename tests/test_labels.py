# Lines of the tree whose text comes from the wire: whole characters, one line each.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of 255 bytes in letters of two to four bytes, cut at the width of a line; names with line breaks in them."""

import struct

import pytest
import synth

LETTERS = {2: "\u0142", 3: "\u672c", 4: "\U0001d11e"}
SECOND = "second-line"
BROKEN = "first\n" + SECOND + "\x01"


def long_names(width):
    """One for each way in which the width of a line can cut a letter."""
    letter = LETTERS[width]
    return ["x" * shift + letter * ((255 - shift) // width) for shift in range(width)]


def option(key, value):
    return synth.user_headers([(key, value)])


def stream(name):
    """A stream header with an explicit option of that name and value."""
    options = option(name, name)
    return (synth.u32(1) + bytes(28) + synth.name(name) + struct.pack("<I", len(options)) + options + synth.u32(0))


def client(name):
    return synth.u32(1) + synth.u32(1) + b"\x01" + synth.text32(name) + synth.u32(0)


def write(path, names):
    """A login, and what lists clients, streams and groups, for each name."""
    capture = synth.Capture()
    for name in names:
        connection = capture.connection(server_port=8090)
        login = synth.u32(synth.VERSIONS["0.12.2"]) + synth.name(name) + synth.name(name) + bytes(range(1, 33))
        login += synth.name(name) + synth.name("secret") + synth.text32(name)
        connection.client(synth.request(login, operation=1))
        connection.server(synth.reply(synth.login_reply(build=name), operation=1))
        group = synth.u32(1) + bytes(8) + synth.name(name)
        for number, (code, request, body) in enumerate([
                (22, b"", client(name)), (201, b"", stream(name)), (601, synth.ident(name) * 2, group)], 1):
            connection.client(synth.request(request, code=code, request=number, session=1))
            connection.server(synth.reply(body, request=number))
        connection.client(synth.request(synth.name(name) + option("encryption_key_source", name), operation=128, request=4,
                                        session=1))
    return capture.write(path)


@pytest.mark.parametrize("width", LETTERS)
def test_letters_stay_whole(tshark, tmp_path, two_pass, width):
    path = write(tmp_path / "long.pcap", long_names(width))
    for output in (("-T", "pdml"), ("-V",)):
        text = tshark.read(path, *output, two_pass=two_pass)
        tshark.sound(text)
        assert text.count(LETTERS[width]) > 1000
        assert "\ufffd" not in text, text[max(0, text.index("\ufffd") - 300):text.index("\ufffd") + 20]


def test_a_name_does_not_break_the_line(tshark, tmp_path, two_pass):
    path = write(tmp_path / "broken.pcap", [BROKEN])
    lines = tshark.verbose(path, two_pass=two_pass).split("\n")
    assert sum(SECOND in line for line in lines) > 10
    assert not [line for line in lines if line.startswith(SECOND)]


def test_control_characters_at_every_place(tshark, tmp_path):
    """Lines are looked through eight bytes at a time: each place in them and at their end; neighbours of what is escaped."""
    shown = {"\x01": "\\001", "\x1f": "\\037", "\x7f": "\\177", " ": " ", "~": "~", "\xa0": "\xa0"}
    around = [("x" * place, letter, "y" * rest) for place in range(20) for letter in shown for rest in (0, 19 - place)]
    capture = synth.Capture()
    connection = capture.connection()
    connection.client(synth.request(code=201, request=1, session=1))
    connection.server(synth.reply(b"".join(stream("".join(name)) for name in around), request=1))
    lines = [line.strip() for line in tshark.verbose(capture.write(tmp_path / "controls.pcap")).split("\n")]
    assert [line for line in lines if line.startswith("Stream 1: ")] == \
        ["Stream 1: %s%s%s, 0 topics, 0 messages" % (before, shown[letter], behind) for before, letter, behind in around]


def test_what_a_line_cuts_off_does_not_change_it(tshark, tmp_path):
    """A line break behind the end of the line; a letter without width is not spelt differently because of it."""
    capture = synth.Capture()
    connection = capture.connection()
    connection.client(synth.request(code=201, request=1, session=1))
    names = ["\u200b" + "x" * 227 + last + "x" * 20 for last in "x\n"]  # byte 240 of "Stream 1: ..."
    connection.server(synth.reply(b"".join(map(stream, names)), request=1))
    lines = [line.strip() for line in tshark.verbose(capture.write(tmp_path / "cut.pcap")).split("\n")]
    one, other = [line for line in lines if "Stream 1: " in line]
    assert one == other and one.endswith("x" * 200)
