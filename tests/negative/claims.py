#!/usr/bin/env python3
# Other people's traffic: nothing of it may be claimed, and it decodes as without the plugin.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""claims.py [FOLDER...]: synthetic zero-heavy streams, and every capture below the folders.

Each as it is, and with its connections moved to ports 8090 and 9090; each with heuristics after ports and before. A false
claim is a packet with an Iggy layer, or one whose protocols or Info line differ from those without the plugin. Folders
with much foreign traffic come with Debian's sources and packages: tests/negative/run.sh fetches them. Files that tshark reads no
packet from do not count.
Needs the variables that tests/conftest.py describes.
"""

import argparse
import random
import re
import struct
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from conftest import Tshark  # noqa: E402
import list_frames  # noqa: E402
from synth import Capture, frame, request  # noqa: E402

SUFFIXES = (".pcap", ".pcapng", ".cap", ".gz", ".ntar", ".dump", ".snoop", ".pklg", ".erf", ".trace")
WAYS = ([], ["-o", "tcp.try_heuristic_first:TRUE"])
PORTS = (8090, 9090)


# --- synthetic streams that can fool a rule of zeros ------------------------------------------------------------------
def zeros(dice):
    return [bytes(n) for n in (61, 62, 128, 255, 256, 257, 512, 1000, 1460)]


def zeros_with_size_and_command(dice):
    for _ in range(60):
        data = bytearray(dice.choice((256, 300, 512, 1460)))
        struct.pack_into("<I", data, 48, dice.getrandbits(32) if dice.random() < 0.3 else dice.choice((256, len(data), 4096)))
        data[60] = dice.randrange(256)
        yield bytes(data)


def sparse_file(dice):
    """A file of holes and a few words, as file transfers and block devices carry them."""
    for _ in range(40):
        data = bytearray(1460)
        for _ in range(dice.randrange(4)):
            at = dice.randrange(0, 1456)
            data[at:at + 4] = dice.randbytes(4)
        yield bytes(data)


def words_of_zero(dice):
    """Little-endian tables: mostly small 64-bit numbers."""
    for _ in range(40):
        yield b"".join(struct.pack("<Q", dice.choice((0, 0, 0, 0, 1, 256, dice.randrange(1 << 20)))) for _ in range(182))


def sparse_tables(dice):
    """Numbers of one width, mostly zero, the others small, large or a power of two: of tables, indexes, structs of C."""
    def number(bits):
        return dice.choice((dice.randrange(4), dice.randrange(40), dice.randrange(300), dice.getrandbits(16), dice.getrandbits(32),
                            256 << dice.randrange(8))) & ((1 << bits) - 1)
    for _ in range(300):
        width, order = dice.choice((1, 2, 4, 8)), dice.choice(("little", "big"))
        share, length = dice.choice((0.01, 0.05, 0.1, 0.2, 0.35)), dice.choice((256, 320, 600, 1460))
        yield b"".join((number(8 * width) if dice.random() < share else 0).to_bytes(width, order) for _ in range(length // width))


def zeros_with_all_but(dice):
    """Zeros with a possible size and command where Iggy has them, and a few bytes, or many, where it has ids and numbers."""
    for _ in range(300):
        data = bytearray(dice.choice((256, 300, 512, 1460)))
        struct.pack_into("<I", data, 48, dice.choice((256, len(data), dice.randrange(256, 1 << 16), dice.randrange(256, 1 << 26))))
        data[60] = dice.randrange(1, 37)
        start = dice.choice((128, 128, 0))
        for _ in range(dice.choice((1, 3, 10, 30))):
            at = dice.choice((dice.randrange(start, 48) if start == 0 else 200, dice.randrange(128, len(data))))
            data[at] = dice.randrange(256)
        yield bytes(data)


def benchmark_pattern(dice):
    return [bytes(i & 0xFF for i in range(1460)), b"0123456789" * 146, bytes(1460), b"\xff" * 1460]


def other_256_byte_header(dice):
    """A protocol with a header of 256 bytes, a checksum first, size and command at other places."""
    for _ in range(20):
        header = bytearray(256)
        header[0:16], header[16:32] = dice.randbytes(16), dice.randbytes(16)
        header[80:96] = dice.randbytes(16)
        struct.pack_into("<I", header, 96, 256)
        header[110] = dice.randrange(1, 20)
        yield bytes(header)


def nearly_iggy(dice):
    """A frame with one field out of its range each: nobody would send it."""
    wrong = (("release", 1), ("size", 255), ("size", 0), ("size", 1 << 31), ("reserved_frame", b"\1" + bytes(65)),
             ("reserved_frame", bytes(65) + b"\1"))
    for name, value in wrong:
        yield frame(5, b"abcd", client=7, operation=2, code=1, request=1, **{name: value})
    for command in (0, 37, 99, 255):
        good = request(b"abcd", code=1, request=1)
        yield good[:60] + bytes([command]) + good[61:]


def randoms(dice):
    return [dice.randbytes(n) for n in (1, 16, 61, 100, 256, 300, 512, 1000, 1460) * 10]


def other_protocols(dice):
    return [b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + dice.randbytes(500),
            b"SSH-2.0-OpenSSH_9.2\r\n", b"*1\r\n$4\r\nPING\r\n", b"\0\0\0\x0e\0\x12\0\0\0\0\0\1\0\4test", b"\x10\x10\0\4MQTT\4\2\0\x3c\0\4test"]


def with_zeros(*starts):
    """A header of a protocol that moves blocks, and the zeros of a sparse block: in one segment, and zeros alone behind it."""
    return [piece for start in starts for piece in (start + bytes(1460 - len(start)), bytes(1460), bytes(512))]


def zero_transfers():
    """By the protocol's own port: holes of sparse files and blank disks and screens, and fillers of benchmarks."""
    write = b"\x80\x00\x02\x28" + struct.pack(">10I", 7, 1, 0, 0, 0, 0, 0, 1, 0, 512)
    return {20: with_zeros(b""),  # FTP data
            10809: with_zeros(struct.pack(">IIQ", 0x67446698, 0, 1)),  # NBD, a simple reply
            3260: with_zeros(b"\x25\x80\0\0\0" + (1412).to_bytes(3, "big") + bytes(40)),  # iSCSI, Data-In
            2049: with_zeros(write),  # NFS, a reply
            5900: with_zeros(struct.pack(">BBHHHHHi", 0, 0, 1, 0, 0, 64, 64, 0)),  # VNC, a raw black rectangle
            5001: with_zeros(b""), 5201: with_zeros(bytes(range(37)))}  # iperf 2 and 3


STREAMS = (zeros, zeros_with_size_and_command, zeros_with_all_but, sparse_tables, sparse_file, words_of_zero, benchmark_pattern,
           other_256_byte_header, nearly_iggy, randoms, other_protocols)


def synthetic(folder, port, seed=1):
    """All streams: each piece in a connection of its own, and those of a kind in one, with handshake and without."""
    capture = Capture()
    for make in STREAMS:
        dice = random.Random("%s-%d" % (make.__name__, seed))
        pieces = list(make(dice))
        for number, piece in enumerate(pieces):
            one = capture.connection(server_port=port, handshake=number % 2 == 0)
            one.send(dice.choice(("client", "server")), piece)
        together = capture.connection(server_port=port)
        for piece in pieces:
            together.client(piece)
            together.server(piece[:len(piece) // 2] or piece)
    return capture.write(Path(folder) / ("synthetic-%d.pcap" % port))


def synthetic_transfers(folder):
    """zero_transfers() from the server, each piece in a connection of its own and all in one."""
    capture = Capture()
    for port, pieces in zero_transfers().items():
        together = capture.connection(server_port=port)
        for piece in pieces:
            capture.connection(server_port=port, handshake=False).server(piece)
            together.server(piece)
    return capture.write(Path(folder) / "transfers.pcap")


# --- captures of others ---------------------------------------------------------------------------------------------------
def captures_below(folders):
    for folder in folders:
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file() and path.suffix in SUFFIXES:
                yield path


def moved(path, target, port):
    """The TCP connections of a capture with their server on `port`; None if there are none or the file is not for us."""
    capture, connections = Capture(), {}
    try:
        for _number, _time, link, data in list_frames.packets(str(path)):
            ip = list_frames.ip_of(link, data) if link >= 0 and data else None
            if not ip or ip[2] != 6 or len(ip[3]) < 20:
                continue
            source, destination, _, tcp = ip
            sport, dport, seq, ack = struct.unpack(">HHII", tcp[:12])
            key = frozenset(((source, sport), (destination, dport)))
            if key not in connections:
                server = (destination, dport) if tcp[13] & 2 and not tcp[13] & 16 or dport < sport else (source, sport)
                one = capture.connection(20000 + len(connections) % 40000, port, handshake=False)
                connections[key] = one, server
            one, server = connections[key]
            one.segment("server" if (source, sport) == server else "client", bytes(tcp[(tcp[12] >> 4) * 4:]), seq, tcp[13], ack)
    except (struct.error, IndexError, EOFError, OSError):
        pass  # a file that is damaged on purpose: what was read so far counts
    return capture.write(target) if capture.number else None


# --- judgement --------------------------------------------------------------------------------------------------------------
def lines(tshark, path, way):
    column = "_ws.col.info" if tshark.version >= (4, 2) else "_ws.col.Info"
    text = tshark.read(path, "-T", "fields", "-E", "occurrence=a", "-e", "frame.number", "-e", "frame.protocols", "-e", column, *way,
                       check=False)
    return text.split("\n")


ASKED = re.compile(r":tcp\t.*Len=(\d+)")


def asks_for_more(mine, other):
    """On our ports bytes that nobody else knows, and that are the beginning of a header as far as they go, may wait for the
    next segment. They are given back when it shows that they are none. Until 4.2 TCP calls them part of a reassembled PDU."""
    found = ASKED.search(mine)
    return found and int(found.group(1)) < 256 and re.search(r"\b(8090|9090)\b", mine) and ":tcp:data\t" in other


def false_claims(tshark, plain, path):
    """(packets looked at, [descriptions]) of one capture, both ways."""
    faults, count = [], 0
    for way in WAYS:
        ours, theirs = lines(tshark, path, way), lines(plain, path, way)
        count += len(ours) - 1
        for mine, other in zip(ours, theirs):
            if (mine != other and not asks_for_more(mine, other)) or ":iggy" in mine:
                faults.append("%s %s\n    with:    %s\n    without: %s" % (path, " ".join(way), mine[:200], other[:200]))
        if len(ours) != len(theirs):
            faults.append("%s %s: %d and %d packets" % (path, " ".join(way), len(ours), len(theirs)))
    return count, faults


def without_plugin(tshark):
    """The same tshark with an empty plugin folder."""
    empty = tshark.folder / "no-plugins"
    empty.mkdir(exist_ok=True)
    return tshark.with_environment(WIRESHARK_PLUGIN_DIR=str(empty))


def run(tshark, folders=(), told=lambda captures, packets, found: None):
    """(captures, packets, faults); `told` is called behind each capture."""
    plain, captures, packets, faults = without_plugin(tshark), 0, 0, []
    with tempfile.TemporaryDirectory() as folder:
        def judge(path):
            nonlocal captures, packets
            count, found = false_claims(tshark, plain, path)
            captures, packets = captures + (count > 0), packets + count
            faults.extend(found)
            told(captures, packets, found)
            tshark.forget(path)

        for port in PORTS + (7777,):
            judge(synthetic(folder, port))
        transfers = synthetic_transfers(folder)
        judge(transfers)
        for port in PORTS:
            judge(moved(transfers, Path(folder) / ("transfers-%d.pcap" % port), port))
        for source in captures_below(folders):
            judge(source)
            for port in PORTS:
                target = moved(source, Path(folder) / ("moved-%d.pcap" % port), port)
                if target:
                    judge(target)
    return captures, packets, faults


def report(captures, packets, found):
    print("".join(fault + "\n" for fault in found), end="", flush=True)
    if captures % 100 == 0:
        print("%d captures, %d packets so far" % (captures, packets), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*")
    arguments = parser.parse_args()
    tshark = Tshark()
    captures, packets, faults = run(tshark, arguments.folders, report)
    tshark.close()
    print("%d captures, %d packets dissected, %d false claims" % (captures, packets, len(faults)))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
