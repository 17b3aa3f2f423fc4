# Carriers for synthetic captures: WebSocket messages, TLS records; key logs inside captures.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""WebSocket framing by hand (RFC 6455), and TLS by Python's own ssl module between two memory buffers.

    web = WebSocket(connection)              # with the upgrade
    web.client(message), web.server(message, pieces=[100])
    secure = Tls(connection, folder, alpn="iggy-replica")
    secure.client(bytes), secure.server(bytes)     # one record a call, up to 16 kB
    secure.keylog                            # file for -o tls.keylog_file:
    WebSocket(secure)                        # one in the other
    write_with_secrets(capture, path, [secure.keylog])
"""

import ssl
import struct
import subprocess
import zlib

UPGRADE = (b"GET / HTTP/1.1\r\nHost: 127.0.0.1:8092\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
           b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
SWITCHED = (b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n")


DEFLATE = b"Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover; client_no_context_takeover\r\n\r\n"


def ws_frame(data, opcode=2, fin=True, mask=None, compressed=False):
    """`compressed`: the bytes are deflated already (RFC 7692), and this says so."""
    head = bytes([opcode | (0x80 if fin else 0) | (0x40 if compressed else 0)])
    bit = 0x80 if mask else 0
    if len(data) < 126:
        head += bytes([bit | len(data)])
    elif len(data) < 65536:
        head += bytes([bit | 126]) + struct.pack(">H", len(data))
    else:
        head += bytes([bit | 127]) + struct.pack(">Q", len(data))
    if mask:
        head += mask
        data = bytes(byte ^ mask[i % 4] for i, byte in enumerate(data))
    return head + data


def deflate(data):
    """A message as permessage-deflate has it."""
    pressed = zlib.compressobj(wbits=-15)
    return (pressed.compress(data) + pressed.flush(zlib.Z_SYNC_FLUSH))[:-4]


class WebSocket:
    """Binary messages; a client's are masked. `pieces`: offsets at which a message is cut into WebSocket frames."""

    def __init__(self, connection, offered=False, agreed=False):
        """`offered` and `agreed`: permessage-deflate, by client and by server."""
        self.connection = connection
        connection.client(UPGRADE[:-2] + DEFLATE if offered else UPGRADE)
        connection.server(SWITCHED[:-2] + DEFLATE if agreed else SWITCHED)

    def message(self, side, data, pieces=(), **how):
        edges = [0] + list(pieces) + [len(data)]
        mask = b"\x12\x34\x56\x78" if side == "client" else None
        out = b""
        for i, (start, end) in enumerate(zip(edges, edges[1:])):
            out += ws_frame(data[start:end], 0 if i else 2, end == len(data), mask)
        return self.connection.send(side, out, **how)

    def client(self, data, **how):
        return self.message("client", data, **how)

    def server(self, data, **how):
        return self.message("server", data, **how)

    def ping(self):
        self.connection.server(ws_frame(b"hello", 9))


class Tls:
    """A TLS session over a synthetic connection."""

    def __init__(self, connection, folder, alpn=None, version=ssl.TLSVersion.TLSv1_3):
        self.connection, self.capture, self.keylog = connection, connection.capture, folder / "keys.log"
        certificate, key = folder / "cert.pem", folder / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test", "-keyout",
                        str(key), "-out", str(certificate)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        client, server = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
        client.keylog_filename = str(self.keylog)
        server.load_cert_chain(certificate, key)
        for context in (client, server):
            context.minimum_version = context.maximum_version = version
            if alpn:
                context.set_alpn_protocols([alpn])
        self.pipes = {"client": ssl.MemoryBIO(), "server": ssl.MemoryBIO()}  # what each side sends
        self.ends = {
            "client": client.wrap_bio(self.pipes["server"], self.pipes["client"], server_side=False),
            "server": server.wrap_bio(self.pipes["client"], self.pipes["server"], server_side=True),
        }
        self._handshake()

    def _handshake(self):
        done = set()
        while len(done) < 2:
            for side in ("client", "server"):
                try:
                    self.ends[side].do_handshake()
                    done.add(side)
                except ssl.SSLWantReadError:
                    pass
                self._carry(side)

    def _carry(self, side, **how):
        """What the side wrote goes over the connection, and to the other side as well."""
        data = self.pipes[side].read()
        if not data:
            return self.connection.capture.number
        number = self.connection.send(side, data, **how)
        self.pipes[side].write(data)
        return number

    def send(self, side, data, **how):
        self.ends[side].write(data)
        number = self._carry(side, **how)
        other = self.ends["server" if side == "client" else "client"]
        try:
            while other.read(65536):
                pass
        except ssl.SSLWantReadError:
            pass
        return number

    def records(self, side, pieces):
        """Several records in one segment."""
        for piece in pieces:
            self.ends[side].write(piece)
        return self._carry(side)

    def client(self, data, **how):
        return self.send("client", data, **how)

    def server(self, data, **how):
        return self.send("server", data, **how)


# --- captures with their secrets ----------------------------------------------------------------------------------------
def _block(kind, body):
    body = body.ljust(-(-len(body) // 4) * 4, b"\0")
    return struct.pack("<II", kind, 12 + len(body)) + body + struct.pack("<I", 12 + len(body))


def write_with_secrets(capture, path, keylogs):
    """A pcapng whose decryption secrets blocks hold these key logs."""
    with open(path, "wb") as out:
        out.write(_block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)))
        out.write(_block(1, struct.pack("<HHI", 1, 0, 262144)))
        for keylog in keylogs:
            keys = keylog.read_bytes()
            out.write(_block(10, struct.pack("<II", 0x544C534B, len(keys)) + keys))
        for when, data in capture.packets:
            out.write(_block(6, struct.pack("<IIIII", 0, when >> 32, when & 0xFFFFFFFF, len(data), len(data)) + data))
    return path
