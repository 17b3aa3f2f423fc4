# A writer of QUIC connections with known keys.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""QUIC version 1 (RFC 9000, 9001) over UDP, with the two hellos of a TLS 1.3 handshake and a key log.

    quic = Quic(capture, folder, alpn=None)          # client and server hello; 1-RTT from here on
    quic.packet("client", stream(0, data, fin=True), stream(4, more, offset=100))     # one packet, these frames
    quic.send("server", 0, data, mss=1000)           # one stream over many packets
    quic.keylog                                      # file for -o tls.keylog_file:

Nobody answers for the rest of the handshake: Wireshark needs no more than the hellos to know client, cipher and connection ids.
"""

import hashlib
import hmac
import struct

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from synth import checksum

SALT = bytes.fromhex("38762cf7f55934b34d179ae6a4c80cadccbb7f0a")


# --- keys ---------------------------------------------------------------------------------------------------------------
def expand(secret, label, length):
    """HKDF-Expand-Label of TLS 1.3 with SHA-256, no context, one block."""
    label = b"tls13 " + label
    info = struct.pack(">HB", length, len(label)) + label + b"\0\x01"
    return hmac.new(secret, info, hashlib.sha256).digest()[:length]


class Keys:
    def __init__(self, secret):
        self.aead = AESGCM(expand(secret, b"quic key", 16))
        self.iv = expand(secret, b"quic iv", 12)
        self.mask = Cipher(algorithms.AES(expand(secret, b"quic hp", 16)), modes.ECB())

    def protect(self, header, number, payload):
        """A packet whose header ends in a packet number of four bytes."""
        nonce = (int.from_bytes(self.iv, "big") ^ number).to_bytes(12, "big")
        sealed = self.aead.encrypt(nonce, payload, header)
        mask = self.mask.encryptor().update(sealed[:16])
        head = bytearray(header)
        head[0] ^= mask[0] & (0x0F if head[0] & 0x80 else 0x1F)
        for i in range(4):
            head[len(head) - 4 + i] ^= mask[1 + i]
        return bytes(head) + sealed


# --- frames -------------------------------------------------------------------------------------------------------------
def varint(value, size=None):
    """In the shortest form, or in one of so many bytes."""
    size = size or (1 if value < 1 << 6 else 2 if value < 1 << 14 else 4 if value < 1 << 30 else 8)
    return (value | {1: 0, 2: 1, 4: 2, 8: 3}[size] << (8 * size - 2)).to_bytes(size, "big")


def stream(number, data, offset=None, fin=False, length=True, size=None):
    """STREAM frame. Without `length` it has to be the packet's last; `size`: bytes of the offset's number."""
    kind = 0x08 | (4 if offset is not None else 0) | (2 if length else 0) | (1 if fin else 0)
    return (bytes([kind]) + varint(number) + (varint(offset, size) if offset is not None else b"") +
            (varint(len(data)) if length else b"") + data)


def new_connection_id(sequence, cid):
    return b"\x18" + varint(sequence) + varint(0) + bytes([len(cid)]) + cid + bytes(16)


def acknowledge(number):
    return b"\x02" + varint(number) + varint(0) + varint(0) + varint(0)


def stop_sending(number):
    return b"\x05" + varint(number) + varint(0)


def crypto(data):
    return b"\x06" + varint(0) + varint(len(data)) + data


# --- hellos -------------------------------------------------------------------------------------------------------------
def _vector(data, size=2):
    return len(data).to_bytes(size, "big") + data


def _extension(kind, data):
    return struct.pack(">H", kind) + _vector(data)


def client_hello(random, alpn):
    extensions = _extension(43, b"\x02\x03\x04") + _extension(57, b"")
    if alpn:
        extensions += _extension(16, _vector(_vector(alpn.encode(), 1)))
    body = b"\x03\x03" + random + b"\0" + _vector(b"\x13\x01") + b"\x01\0" + _vector(extensions)
    return b"\x01" + _vector(body, 3)


def server_hello(random):
    body = b"\x03\x03" + random + b"\0" + b"\x13\x01" + b"\0" + _vector(_extension(43, b"\x03\x04"))
    return b"\x02" + _vector(body, 3)


def encrypted_extensions(alpn):
    return b"\x08" + _vector(_vector(_extension(16, _vector(_vector(alpn.encode(), 1)))), 3)


# --- connections --------------------------------------------------------------------------------------------------------
class Quic:
    def __init__(self, capture, folder, server_port=8080, alpn=None, client_port=None, addresses=None):
        capture.hosts += 1
        self.capture, self.serial = capture, capture.hosts
        self.ports = {"client": client_port or 50000 + self.serial, "server": server_port}
        client, server = addresses or (b"\x0a\x00\x00\x01", b"\x0a\x00\x00\x02")
        self.address = {"client": client, "server": server}
        self.ids = {"client": self._bytes("client id", 8), "server": self._bytes("server id", 8)}  # what each side is called
        self.numbers = {"client": 0, "server": 0}
        self.keylog = folder / "quic-keys.log"
        self.keys = self._secrets("TRAFFIC_SECRET_0")
        self._handshake(alpn)

    def _bytes(self, what, length=32):
        return hashlib.sha256(b"%s %d" % (what.encode(), self.serial)).digest()[:length]

    def _secrets(self, label):
        """Keys of both sides, made up; added to the key log."""
        keys = {}
        with open(self.keylog, "a", encoding="ascii") as out:
            for side in ("client", "server"):
                secret = self._bytes(side + label)
                out.write("%s_%s %s %s\n" % (side.upper(), label, self._bytes("random").hex(), secret.hex()))
                keys[side] = Keys(secret)
        return keys

    def _handshake(self, alpn):
        first = self._bytes("first id", 8)
        secret = hmac.new(SALT, first, hashlib.sha256).digest()
        hellos = {"client": client_hello(self._bytes("random"), alpn), "server": server_hello(self._bytes("random 2"))}
        for side, other in (("client", first), ("server", self.ids["client"])):
            payload = (crypto(hellos[side])).ljust(1150, b"\0")
            self._long(side, 0xC3, other, Keys(expand(secret, side.encode() + b" in", 32)), b"\0", payload)
        if alpn:
            keys = self._secrets("HANDSHAKE_TRAFFIC_SECRET")
            self._long("server", 0xE3, self.ids["client"], keys["server"], b"", crypto(encrypted_extensions(alpn)))

    def _long(self, side, first, other, keys, token, payload):
        head = bytes([first]) + b"\0\0\0\x01" + _vector(other, 1) + _vector(self.ids[side], 1) + token
        head += varint(4 + len(payload) + 16, 2) + bytes(4)
        return self.datagram(side, keys.protect(head, 0, payload))

    def datagram(self, side, data):
        other = "server" if side == "client" else "client"
        udp = struct.pack(">HHHH", self.ports[side], self.ports[other], 8 + len(data), 0) + data
        ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(udp), 1, 0x4000, 64, 17, 0) + self.address[side] + self.address[other]
        ip = ip[:10] + struct.pack("<H", checksum(ip)) + ip[12:]
        ends = (b"\x02\0\0\0\0\x01", b"\x02\0\0\0\0\x02")
        if side == "client":
            ends = ends[::-1]
        return self.capture.add(ends[0] + ends[1] + b"\x08\0" + ip + udp)

    def sealed(self, side, *frames):
        """A 1-RTT packet, not sent yet."""
        number = self.numbers[side]
        self.numbers[side] += 1
        other = self.ids["server" if side == "client" else "client"]
        head = b"\x43" + other + struct.pack(">I", number)
        return self.keys[side].protect(head, number, b"".join(frames).ljust(8, b"\0"))

    def packet(self, side, *frames):
        """A datagram of one 1-RTT packet; its number in the capture."""
        return self.datagram(side, self.sealed(side, *frames))

    def send(self, side, number, data, mss=1200, fin=True, order=None):
        """A stream over many packets, in the order of `order` (indices of the pieces). Number of the last packet."""
        starts = list(range(0, len(data), mss))
        last = self.capture.number
        for i in order if order is not None else range(len(starts)):
            piece = data[starts[i]:starts[i] + mss]
            last = self.packet(side, stream(number, piece, offset=starts[i] or None, fin=fin and i == len(starts) - 1))
        return last
