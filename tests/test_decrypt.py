# Encrypted payloads: what a client encrypts is read with the key of the user table.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Ciphertexts made by the Python library cryptography (and vectors made by it, where it is missing), never by the plugin."""

import base64

import pytest
import synth
from test_export import export

KEY = bytes(range(32))
OTHER = bytes(range(100, 132))
NONCE = bytes(range(200, 212))
CLEAR = b'{"secret": "the clear payload"}'
HEADERS = synth.user_headers([("content-type", "application/json"), ("trace", "4711")])

# cryptography.hazmat.primitives.ciphers.aead: AESGCM(KEY).encrypt(NONCE, ..., None), AESGCMSIV likewise
GCM = {
    CLEAR: "6a5a12bee5be9e5456063f9c6a6e8e3483eb89c9764bd84594c55480beb3d60035c2d90fb726ad4270afa7c6e14215",
    HEADERS: ("137461db86af944e005971ca337292648585fca8046bc9549dc55282bbe5c286a2a340d5fd7128af32ff44d3c2766285"
           "ddb51bb88439c0212a71f16ca1b3e19c78560907b41c3f44ea"),
    b"": "31678598ce3f216c1798f4f79aa87f67",
}
SIV = {CLEAR: "4a192f6d3a74f20b661c77d5a5947659973aa40c99a114758a78a032c42a0fa3d6422c8c5873194aafafd78f9723d7"}


def sealed(vectors, clear):
    return NONCE + bytes.fromhex(vectors[clear])


def rows(*keys):
    """Options of tshark for rows of the user table: stream, topic, key."""
    out = []
    for row in keys:
        out += ["-o", "uat:iggy_keys:" + ",".join('"%s"' % part for part in row)]
    return out


def write(path, messages, stream="orders", topic="events"):
    """A poll that is answered with the messages: (payload, user headers)."""
    capture = synth.Capture()
    connection = capture.connection()
    connection.client(synth.request(synth.login_body(), operation=1, request=0))
    connection.server(synth.reply(synth.login_reply(), operation=1, request=0))
    record = synth.batch([synth.message(payload, index, headers=headers) for index, (payload, headers) in enumerate(messages)],
                         3, 10, 1_700_000_000_000_000)
    connection.client(synth.request(synth.poll_body(stream, topic, 3, 10), code=100, request=1, session=1))
    packet = connection.server(synth.reply(synth.poll_reply(record, 3, 10, len(messages)), request=1))
    capture.write(path)
    return packet


FIELDS = ["iggy.message.payload", "iggy.message.encrypted_payload", "iggy.message.header.value", "iggy.message.encrypted_headers"]


def shown(tshark, path, options, two_pass=False):
    row = next(row for row in tshark.fields(path, FIELDS, "-Y", "iggy.message", *options, two_pass=two_pass))
    payload, encrypted, values, encrypted_headers = row
    return [bytes.fromhex(text) for text in payload], [bytes.fromhex(text) for text in encrypted], values, encrypted_headers


def test_the_vectors_are_those_of_another_library():
    """The vectors above, made again where the library is there."""
    aead = pytest.importorskip("cryptography.hazmat.primitives.ciphers.aead")
    for clear, vector in GCM.items():
        assert aead.AESGCM(KEY).encrypt(NONCE, clear, None).hex() == vector
    if hasattr(aead, "AESGCMSIV"):
        try:
            cipher = aead.AESGCMSIV(KEY)
        except Exception:
            pytest.skip("no GCM-SIV in this build of the library")
        for clear, vector in SIV.items():
            assert cipher.encrypt(NONCE, clear, None).hex() == vector


@pytest.mark.parametrize("key", [KEY.hex(), KEY.hex().upper(), base64.b64encode(KEY).decode()])
@pytest.mark.parametrize("vectors", [GCM, SIV], ids=["gcm", "gcm-siv"])
def test_a_key_opens_the_payload(tshark, tmp_path, key, vectors, two_pass):
    write(tmp_path / "one.pcap", [(sealed(vectors, CLEAR), b"")])
    payload, encrypted, _, _ = shown(tshark, tmp_path / "one.pcap", rows(("orders", "events", key)), two_pass)
    assert payload == [CLEAR]
    assert encrypted == [sealed(vectors, CLEAR)]


def test_without_a_key_it_stays_bytes(tshark, tmp_path, two_pass):
    write(tmp_path / "one.pcap", [(sealed(GCM, CLEAR), sealed(GCM, HEADERS))])
    for options in ([], rows(("", "", OTHER.hex()))):
        payload, encrypted, values, headers = shown(tshark, tmp_path / "one.pcap", options, two_pass)
        assert payload == [sealed(GCM, CLEAR)]
        assert encrypted == [] and values == [] and headers == []


def test_user_headers_too(tshark, tmp_path, two_pass):
    write(tmp_path / "headers.pcap", [(sealed(GCM, CLEAR), sealed(GCM, HEADERS))])
    payload, _, values, headers = shown(tshark, tmp_path / "headers.pcap", rows(("", "", KEY.hex())), two_pass)
    assert payload == [CLEAR]
    assert values == ["application/json", "4711"]
    assert [bytes.fromhex(text) for text in headers] == [sealed(GCM, HEADERS)]


@pytest.mark.parametrize("stream, topic, opens", [
    ("orders", "events", True), ("orders", "", True), ("", "events", True), ("", "", True), ("orders", "other", False),
    ("other", "events", False), ("7", "", True),  # the id is not known here: it may be this stream
])
def test_keys_by_stream_and_topic(tshark, tmp_path, stream, topic, opens):
    write(tmp_path / "place.pcap", [(sealed(GCM, CLEAR), b"")])
    payload, _, _, _ = shown(tshark, tmp_path / "place.pcap", rows((stream, topic, KEY.hex())))
    assert payload == [CLEAR if opens else sealed(GCM, CLEAR)]


@pytest.mark.parametrize("stream, topic, opens", [("3", "4", True), ("3", "5", False), ("4", "4", False), ("orders", "", True)])
def test_keys_by_id(tshark, tmp_path, stream, topic, opens):
    write(tmp_path / "ids.pcap", [(sealed(GCM, CLEAR), b"")], 3, 4)
    payload, _, _, _ = shown(tshark, tmp_path / "ids.pcap", rows((stream, topic, KEY.hex())))
    assert payload == [CLEAR if opens else sealed(GCM, CLEAR)]


def test_the_second_key_is_tried_too(tshark, tmp_path):
    write(tmp_path / "two.pcap", [(sealed(GCM, CLEAR), b"")])
    payload, _, _, _ = shown(tshark, tmp_path / "two.pcap", rows(("", "", OTHER.hex()), ("", "", KEY.hex())))
    assert payload == [CLEAR]


def test_damage_is_noticed(tshark, tmp_path):
    """Each byte counts: nonce, ciphertext, tag; and what is too short or not encrypted stays what it is."""
    whole = sealed(GCM, CLEAR)
    damaged = [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:] for at in (0, 12, len(whole) - 1)]
    messages = [(one, b"") for one in damaged + [whole[:27], b"clear text that is long enough", whole]]
    write(tmp_path / "damaged.pcap", messages)
    payload, encrypted, _, _ = shown(tshark, tmp_path / "damaged.pcap", rows(("", "", KEY.hex())))
    assert payload == [one for one, _ in messages[:-1]] + [CLEAR]
    assert encrypted == [whole]


def test_an_empty_payload(tshark, tmp_path):
    write(tmp_path / "empty.pcap", [(sealed(GCM, b""), b"")])
    payload, encrypted, _, _ = shown(tshark, tmp_path / "empty.pcap", rows(("", "", KEY.hex())))
    assert payload == [] and encrypted == [sealed(GCM, b"")]


def test_a_data_source_of_its_own(tshark, tmp_path):
    packet = write(tmp_path / "source.pcap", [(sealed(GCM, CLEAR), b"")])
    text = tshark.read(tmp_path / "source.pcap", "-V", "-x", "-Y", "frame.number == %d" % packet, *rows(("", "", KEY.hex())))
    assert "Decrypted Iggy payload (%d bytes):" % len(CLEAR) in text
    assert "0000  7b 22 73 65 63 72 65 74" in text.split("Decrypted Iggy payload")[1]


def test_the_export_is_clear(tshark, tmp_path, two_pass):
    write(tmp_path / "export.pcap", [(sealed(GCM, CLEAR), sealed(GCM, HEADERS))])
    assert export(tshark, tmp_path / "export.pcap", *rows(("orders", "events", KEY.hex())), two_pass=two_pass) == {
        "orders.events.3.10.json": CLEAR}
    assert export(tshark, tmp_path / "export.pcap", two_pass=two_pass) == {"orders.events.3.10.bin": sealed(GCM, CLEAR)}


@pytest.mark.parametrize("key", ["", "00", KEY.hex()[:-2], base64.b64encode(KEY[:-1]).decode(), "not a key"])
def test_what_is_no_key_is_refused(tshark, tmp_path, key):
    write(tmp_path / "bad.pcap", [(b"x", b"")])
    result = tshark._plain(["-r", tshark.readable(tmp_path / "bad.pcap"), *rows(("", "", key))])
    assert result.returncode != 0 or "32 bytes" in result.stderr
    assert "32 bytes" in result.stderr
