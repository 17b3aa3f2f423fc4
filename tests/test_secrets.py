# The preference that hides secrets hides them also where a body does not fit its layout.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Logins that are whole, cut short, and followed by bytes that do not belong to them; bytes whose meaning is not known."""

import struct

import carriers
import pytest
import synth

SECRET = "hush-hush-hush"
WHOLE = synth.login_body(password=SECRET)
BODIES = {
    "whole": WHOLE,
    "cut": WHOLE[:-2],                    # the context's length is cut: the password stands before the misfit
    "cut in it": WHOLE[:-4 - 3],          # the password itself runs past the body
    "more behind it": WHOLE + SECRET.encode(),
}


def shown(tshark, tmp_path, body, hide):
    capture = synth.Capture()
    capture.connection(server_port=8090).client(synth.request(body, operation=1, request=0))
    path = capture.write(tmp_path / "login.pcap")
    text = tshark.read(path, "-V", "-O", "iggy", "-o", "iggy.hide_secrets:%s" % ("TRUE" if hide else "FALSE"))
    assert "Apache Iggy" in text
    return text


@pytest.mark.parametrize("name", BODIES)
def test_no_secret_is_shown(tshark, tmp_path, name):
    part = SECRET[:8]
    open_text, hidden = (shown(tshark, tmp_path, BODIES[name], hide) for hide in (False, True))
    assert part in open_text or part.encode().hex() in open_text
    assert part not in hidden and part.encode().hex() not in hidden


# --- bytes whose meaning is not known ----------------------------------------------------------------------------------
def begun(capture):
    """A login whose first segment is lost, between other frames."""
    connection = capture.connection(server_port=8090)
    frame = synth.request(WHOLE, operation=1, request=0)
    connection.client(synth.request(code=1, request=1))
    connection.lose("client", 300)
    connection.client(frame[300:])
    connection.client(synth.request(code=1, request=1))


def in_messages(capture):
    """A login in three WebSocket messages, the password in the second."""
    connection = capture.connection(server_port=8092)
    frame = synth.request(WHOLE, operation=1, request=0)
    web = carriers.WebSocket(connection)
    web.client(synth.request(code=1, request=1))
    for start, end in ((0, 300), (300, len(frame) - 4), (len(frame) - 4, len(frame))):
        web.client(frame[start:end])


def unknown_code(capture):
    connection = capture.connection(server_port=8090)
    connection.client(synth.request(synth.login_body(), operation=1, request=0))
    connection.client(synth.request(SECRET.encode(), code=999, request=1, session=1))


def unknown_reply(capture):
    """A reply whose request is not in the capture."""
    connection = capture.connection(server_port=8090)
    connection.client(synth.request(synth.login_body(), operation=1, request=0))
    connection.server(synth.reply(synth.login_reply(), operation=1, request=0))
    connection.server(synth.reply(SECRET.encode(), request=9))


def state_chunk(capture):
    """A part of the state that a server sends to another, users and their hashes in it."""
    connection = capture.connection(server_port=9090)
    connection.client(synth.frame(14, cluster=7, replica=1, nonce=bytes(range(32))))
    connection.server(synth.frame(15, cluster=7, replica=0, nonce=bytes(range(32))))
    connection.server(synth.frame(25, SECRET.encode(), cluster=7, replica=0))


def before_0_9(capture):
    """A connection of an old server: a reply without its request, which may have asked for a token."""
    connection = capture.connection(server_port=8090)
    login = synth.name("iggy") + synth.name("secret") + synth.text32("") + synth.text32("")
    connection.client(struct.pack("<II", 4 + len(login), 38) + login)
    connection.server(struct.pack("<II", 0, 4) + bytes(4))
    connection.server(struct.pack("<II", 0, len(SECRET)) + SECRET.encode())


HIDDEN = {"begun": (begun, "iggy.continuation"), "in_messages": (in_messages, "iggy.segment"),
          "unknown_code": (unknown_code, "iggy.opaque"), "unknown_reply": (unknown_reply, "iggy.opaque"),
          "state_chunk": (state_chunk, "iggy.chunk.data"), "before_0_9": (before_0_9, "iggy.legacy.body")}


@pytest.mark.parametrize("name", HIDDEN)
def test_what_is_not_known_is_hidden_too(tshark, tmp_path, two_pass, name):
    write, field = HIDDEN[name]
    capture = synth.Capture()
    write(capture)
    path = capture.write(tmp_path / "unknown.pcap")

    def text(hide):
        return tshark.read(path, "-V", "-O", "iggy,iggy_legacy", "-o", "iggy.hide_secrets:%s" % ("TRUE" if hide else "FALSE"),
                           two_pass=two_pass)

    def values(hide):
        rows = tshark.fields(path, [field], "-o", "iggy.hide_secrets:%s" % ("TRUE" if hide else "FALSE"),
                             two_pass=two_pass, check=False)
        return "".join(value for row in rows for value in row[0]).replace(":", "")

    part = SECRET.encode()[:4].hex()
    assert part in values(False)
    assert tshark.read(path, "-Y", field, two_pass=two_pass) != "" # a tree that has what the filter names and no more
    assert part not in values(True) and SECRET[:4] not in text(True) and part not in text(True)
