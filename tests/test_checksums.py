# Seals, identities and hashes of bodies: good, bad, not there, not verified.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Truth: the test vectors of replica.md 3, frames sealed by an independent XXH3 (tools/xxh3.py), and damage done to them."""

import pytest

from conftest import CAPTURES
from synth import Capture, frame, login_body, name, request, u32, u64
from xxh3 import xxh3_64

# Wireshark's numbers (epan/proto.h)
BAD, GOOD, UNVERIFIED, NOT_PRESENT = "0", "1", "2", "3"
CLUSTER = bytes.fromhex("21bb05c88727bab88d0ec27be8a72d46")
METADATA = 1 << 63

START_VIEW_CHANGE = bytes.fromhex(
    "b0a3f6bdf4e5a1e2000000000000000000000000000000000000000000000000"
    "21bb05c88727bab88d0ec27be8a72d460001000007000000000000000a010000" + "00" * 64 +
    "0000000000000080" + "00" * 120)
PREPARE = bytes.fromhex(
    "34b3165c99b84e62000000000000000077f188d37e0321b40000000000000000"
    "21bb05c88727bab88d0ec27be8a72d4604010000070000000000000006010000" + "00" * 64 +
    "100f0e0d0c0b0a09080706050403020100000000000000000000000000000000"
    "0000000000000000000000000000000005000000000000000400000000000000"
    "00401e18240a0600030000000000000080000000000000000000000000000080"
    "0100000000000000000000000000000000000000000000000000000000000000"
    "69676779")
PREPARE_OK = bytes.fromhex(
    "3535927ef649ab5d000000000000000000000000000000000000000000000000"
    "21bb05c88727bab88d0ec27be8a72d4600010000070000000000000007020000" + "00" * 64 +
    "00000000000000000000000000000000" "34b3165c99b84e620000000000000000"
    "0500000000000000040000000000000000401e18240a06000300000000000000"
    "8000000000000000000000000000008000000000000000000000000000000000" + "00" * 32)
VECTORS = [START_VIEW_CHANGE, PREPARE, PREPARE_OK]
STATUS = ["iggy.checksum.status", "iggy.checksum_body.status"]
EXPERTS = ["bad_seal", "missing_seal", "bad_identity", "bad_body_hash", "missing_body_hash", "other_body_hash",
           "bad_request_checksum", "suffix_identity", "manifest_checksum"]


def made(tmp_path, frames, snaplen=262144):
    """A replica connection that begins with a hello; packet numbers of the frames."""
    capture = Capture()
    connection = capture.connection(server_port=9090)
    connection.client(frame(14, cluster=CLUSTER))
    numbers = [connection.client(data) for data in frames]
    return capture.write(tmp_path / "sums.pcap", snaplen), numbers


def verdicts(tshark, path, numbers, *options, two_pass=False):
    """For each frame: the two statuses, and the names of the expert items."""
    names = STATUS + ["iggy.expert." + one for one in EXPERTS]
    rows = tshark.fields(path, ["frame.number"] + names, "-Y", "iggy", *options, two_pass=two_pass)
    found = {int(row[0][0]): row[1:] for row in rows}
    return [(found[number][0], found[number][1], [one for one, at in zip(EXPERTS, found[number][2:]) if at]) for number in numbers]


def flipped(data, offset, bit=0):
    changed = bytearray(data)
    changed[offset] ^= 1 << bit
    return bytes(changed)


def sealed(command, body=b"", **values):
    return frame(command, body, cluster=CLUSTER, **values)


def test_vectors_are_good(tshark, tmp_path, two_pass):
    path, numbers = made(tmp_path, VECTORS)
    assert verdicts(tshark, path, numbers, two_pass=two_pass) == [
        ([GOOD], [NOT_PRESENT], []), ([GOOD], [GOOD], []), ([GOOD], [NOT_PRESENT], [])]


def test_hash_of_iggy():
    """The independent hash itself, against the reference."""
    assert xxh3_64(b"iggy") == 0xB421037ED388F177 and xxh3_64(b"") == 0x2D06800538D394C2


# Bytes of a sealed frame that change nothing in its framing or recognition.
@pytest.mark.parametrize("offset", [16, 31, 32, 47, 52, 55, 61, 128, 200, 255])
def test_seal_covers(tshark, tmp_path, offset):
    path, numbers = made(tmp_path, [flipped(START_VIEW_CHANGE, offset)])
    status, _, experts = verdicts(tshark, path, numbers)[0]
    assert status == [BAD] and "bad_seal" in experts
    text = tshark.verbose(path, "-Y", "iggy.command == 10")
    assert "incorrect, should be 0x" in text and "[Checksum status: Bad]" in text


@pytest.mark.parametrize("offset", [0, 7, 8, 15])
def test_the_seal_itself(tshark, tmp_path, offset):
    """Its upper half must be zero, too."""
    path, numbers = made(tmp_path, [flipped(START_VIEW_CHANGE, offset)])
    assert verdicts(tshark, path, numbers) == [([BAD], [NOT_PRESENT], ["bad_seal"])]


@pytest.mark.parametrize("offset,status", [(52, GOOD), (55, GOOD), (32, BAD), (61, BAD), (128, BAD), (176, BAD), (255, BAD),
                                           (16, BAD), (8, BAD)])
def test_identity_covers_all_but_the_view(tshark, tmp_path, offset, status):
    path, numbers = made(tmp_path, [flipped(PREPARE, offset, 1)])
    found = verdicts(tshark, path, numbers)[0]
    assert found[0] == [status] and ("bad_identity" in found[2]) == (status == BAD)


def test_repair_prepare(tshark, tmp_path):
    """Byte 60 is set back to 6 for the identity."""
    repaired = PREPARE[:60] + b"\x13" + PREPARE[61:]
    path, numbers = made(tmp_path, [repaired, flipped(repaired, 200)])
    assert verdicts(tshark, path, numbers) == [([GOOD], [GOOD], []), ([BAD], [GOOD], ["bad_identity"])]


def test_body_hash(tshark, tmp_path):
    path, numbers = made(tmp_path, [flipped(PREPARE, 256), flipped(PREPARE, 259)])
    assert verdicts(tshark, path, numbers) == [([GOOD], [BAD], ["bad_body_hash"])] * 2


def test_what_is_not_there(tshark, tmp_path):
    """A prepare without identity or body hash has nothing to verify; a sealed frame without seal is an error."""
    prepare = sealed(6, name("s"), sealed=False, op=1, operation=128, group=METADATA)
    path, numbers = made(tmp_path, [prepare, sealed(9, sealed=False, group=METADATA)])
    assert verdicts(tshark, path, numbers) == [([NOT_PRESENT], [NOT_PRESENT], []), ([BAD], [NOT_PRESENT], ["missing_seal"])]


@pytest.mark.parametrize("command", [11, 12])
def test_suffix_needs_a_hash(tshark, tmp_path, command):
    """11 and 12: a body without a hash is an error; an empty one has none."""
    entry = PREPARE[:256]
    hash_of_entry = xxh3_64(entry)
    frames = [sealed(command, entry, op=5, group=METADATA), sealed(command, entry, op=5, group=METADATA, checksum_body=0),
              sealed(command, entry, op=5, group=METADATA, checksum_body=hash_of_entry ^ 1), sealed(command, op=5, group=METADATA)]
    path, numbers = made(tmp_path, frames)
    assert verdicts(tshark, path, numbers) == [([GOOD], [GOOD], []), ([GOOD], [BAD], ["missing_body_hash"]),
                                               ([GOOD], [BAD], ["bad_body_hash"]), ([GOOD], [NOT_PRESENT], [])]


@pytest.mark.parametrize("command,body,values", [
    (26, bytes(40), dict(client=1, nonce=1)), (30, bytes(range(24)), {}), (31, bytes(range(24)), {}),
    (32, u64(1) + u32(2) + u32(1) + bytes(16), dict(operation=71))])
def test_hash_that_the_codec_does_not_fix(tshark, tmp_path, command, body, values):
    """26, 30, 31, 32: zero is fine, right is good, wrong is a note, not an error."""
    frames = [sealed(command, body, **values), sealed(command, body, checksum_body=xxh3_64(body), **values),
              sealed(command, body, checksum_body=7, **values)]
    path, numbers = made(tmp_path, frames)
    assert verdicts(tshark, path, numbers) == [([GOOD], [NOT_PRESENT], []), ([GOOD], [GOOD], []),
                                               ([GOOD], [BAD], ["other_body_hash"])]
    errors = tshark.fields(path, ["frame.number"], "-Y", "iggy && _ws.expert.severity == error")
    assert errors == []


def test_hash_of_a_rebalance(tshark, tmp_path):
    values = dict(nonce=1, quorum_age_ns=(1 << 64) - 1, kind=1)
    frames = [sealed(33, bytes(60), **values), sealed(33, bytes(60), checksum_body=5, **values)]
    path, numbers = made(tmp_path, frames)
    assert verdicts(tshark, path, numbers) == [([GOOD], [GOOD], []), ([GOOD], [BAD], ["bad_body_hash"])]


def test_empty_body_with_the_hash_of_nothing(tshark, tmp_path):
    """What servers put into prepares of register and logout."""
    frames = [sealed(6, op=1, operation=3, group=METADATA, checksum_body=0x2D06800538D394C2),
              sealed(6, op=2, operation=3, group=METADATA, checksum_body=0x2D06800538D394C3)]
    path, numbers = made(tmp_path, frames)
    assert verdicts(tshark, path, numbers) == [([GOOD], [GOOD], []), ([GOOD], [BAD], ["bad_body_hash"])]


def test_suffix_entries_have_identities(tshark, tmp_path):
    entries = PREPARE[:256] + flipped(PREPARE[:256], 200)
    path, numbers = made(tmp_path, [sealed(11, entries, op=5, commit=3, group=METADATA)])
    rows = tshark.fields(path, ["iggy.suffix.checksum.status", "iggy.expert.suffix_identity"], "-Y", "iggy.suffix")
    assert [[row[0], len(row[1])] for row in rows] == [[[GOOD, BAD], 1]]


def test_manifest(tshark, tmp_path):
    manifest = b"ISM1" + u32(1) + b"\x19" + b"\x02" + u64(3) + u64(4) + u64(5)
    good = manifest + u64(xxh3_64(manifest))
    values = dict(nonce=1, available=1, group=METADATA)
    path, numbers = made(tmp_path, [sealed(23, good, **values), sealed(23, flipped(good, 12), **values)])
    rows = tshark.fields(path, ["iggy.manifest.checksum.status", "iggy.expert.manifest_checksum"], "-Y", "iggy.manifest.count")
    assert [[row[0], len(row[1])] for row in rows] == [[[GOOD], 0], [[BAD], 1]]


def test_preference(tshark, tmp_path):
    path, numbers = made(tmp_path, [flipped(PREPARE, 200), flipped(START_VIEW_CHANGE, 128)])
    assert verdicts(tshark, path, numbers, "-o", "iggy.verify_checksums:FALSE") == [
        ([UNVERIFIED], [UNVERIFIED], []), ([UNVERIFIED], [NOT_PRESENT], [])]


def test_only_what_is_captured(tshark, tmp_path):
    """54 bytes of Ethernet, IP and TCP headers; the frame's header is there, the end of its body is not."""
    path, numbers = made(tmp_path, [PREPARE], snaplen=54 + 258)
    assert verdicts(tshark, path, numbers)[0][:2] == ([GOOD], [UNVERIFIED])


def test_request_checksum(tshark, tmp_path):
    """0.11.0: the hash of the body of metadata operations; a random id from 0.12.0 on; zero is unstamped."""
    body = name("orders")
    values = dict(operation=128, session=1)
    frames = [request(body, request=1, request_checksum=xxh3_64(body), **values),
              request(body, request=2, request_checksum=xxh3_64(body) ^ 4, **values),
              request(body, request=3, **values),
              request(b"x", request=4, operation=160, session=1, request_checksum=9)]
    wanted = {"0.11.0": [([GOOD], 0), ([BAD], 1), ([NOT_PRESENT], 0), ([UNVERIFIED], 0)], "0.12.0": [([], 0)] * 4}
    for version, statuses in wanted.items():
        capture = Capture()
        connection = capture.connection()
        connection.client(request(login_body(version), operation=1))
        for one in frames:
            connection.client(one)
        path = capture.write(tmp_path / ("stamps-%s.pcap" % version))
        rows = tshark.fields(path, ["iggy.request_checksum.status", "iggy.expert.bad_request_checksum"], "-Y", "iggy.session == 1")
        assert [(row[0], len(row[1])) for row in rows] == statuses


ALL = sorted(path for folder in ("codec", "real", "real012") for path in (CAPTURES / folder).glob("*.pcap*")
             if path.suffix in (".pcap", ".pcapng"))


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.parent.name + "-" + path.stem)
def test_all_captures_are_good(tshark, path):
    """No checksum of any capture is bad, and what can be verified is."""
    bad = " || ".join("iggy.expert." + one for one in EXPERTS)
    options = ("-o", "tcp.try_heuristic_first:TRUE")
    assert tshark.fields(path, ["frame.number"], "-Y", bad, *options) == []
    if path.stem.startswith(("12", "13", "17", "replica")):
        sealed_commands = "iggy.command in {7, 9..12, 17, 18, 20..36}"
        rows = tshark.fields(path, ["iggy.command", "iggy.checksum.status"], "-Y", sealed_commands, *options)
        assert rows
        for commands, statuses in rows:
            assert len(commands) == len(statuses)
            for command, status in zip(commands, statuses):
                assert status == (GOOD if int(command) not in (1, 2, 5, 14, 15, 16) else status), command
