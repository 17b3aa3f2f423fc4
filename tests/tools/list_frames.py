#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""List every Iggy frame (256-byte header, u32 LE size at 48) of a capture.

Independent of any dissector: reads pcap/pcapng (also gzipped) itself, puts TCP streams back in
order by sequence number, opens WebSocket frames (RFC 6455) and, where session
keys are known (in the file or --keys), TLS 1.3 records and QUIC v1 packets.

    list_frames.py FILE [--keys sslkeys.log] [--ports 8090,9090] [--summary]

Tab-separated, one line a frame, in order of the packet that completes it:
  tcp_stream   number of the TCP conversation in order of its first packet, counting
               all TCP conversations of the file (Wireshark's tcp.stream); q<N> for QUIC
  direction    C>S, S>C (client and server of the connection: SYN, else the port)
  offset       byte offset of the frame in that direction's payload (WebSocket:
               of the unmasked message bytes; TLS/QUIC: of the decrypted bytes)
  size command operation code request       header fields; code only on
               operation 2 (NonReplicated) requests, '-' where a header has none
  first_pkt end_pkt   packets (from 1) with its first byte and with the byte that
               completes it once everything before it has arrived; last_pkt is the
               packet that carries its last byte (differs if out of order)
  view replica session status op commit group   as the header has them, else '-'
  note         ok; resync N (N bytes skipped before it: capture began mid-frame or
               bytes were lost); lost N (N of its bytes are not in the capture);
               cut N (ends N bytes past the end of the stream); garbage N (bytes
               that are no Iggy frame); text (HTTP upgrade), wsctl (WebSocket control)
"""
import argparse
import bisect
import collections
import gzip
import hmac
import struct
import sys

HDR = 256
# name: (offset, struct letter), per command (protocol 0.11.0 to 0.12.2); shared: size 48, view 52, release 56, command 60, replica 61
F = {
    5: dict(request=(168, 'Q'), operation=(176, 'B'), session=(184, 'Q'), code=(196, 'I')),
    6: dict(op=(176, 'Q'), commit=(184, 'Q'), request=(200, 'Q'), operation=(208, 'B'), group=(216, 'Q')),
    19: dict(op=(176, 'Q'), commit=(184, 'Q'), request=(200, 'Q'), operation=(208, 'B'), group=(216, 'Q')),
    7: dict(op=(160, 'Q'), commit=(168, 'Q'), request=(184, 'Q'), operation=(192, 'B'), group=(200, 'Q')),
    8: dict(op=(176, 'Q'), commit=(184, 'Q'), request=(200, 'Q'), operation=(208, 'B'), status=(216, 'I')),
    9: dict(commit=(152, 'Q'), op=(160, 'Q'), group=(168, 'Q')),
    10: dict(group=(128, 'Q')),
    11: dict(op=(128, 'Q'), commit=(136, 'Q'), group=(144, 'Q')),
    12: dict(op=(128, 'Q'), commit=(136, 'Q'), group=(144, 'Q')),
    13: dict(status=(255, 'B')),
    17: dict(group=(128, 'Q')),
    18: dict(op=(144, 'Q'), commit=(152, 'Q'), group=(160, 'Q')),
    20: dict(op=(144, 'Q'), group=(152, 'Q')),
    21: dict(op=(144, 'Q'), group=(152, 'Q')),
    22: dict(group=(144, 'Q')),
    23: dict(commit=(144, 'Q'), group=(152, 'Q')),
    24: dict(group=(152, 'Q')),
    25: dict(group=(152, 'Q')),
    28: dict(session=(160, 'Q'), request=(168, 'Q')),
    # 0.12.0 and later: 30, 31 have none of these fields
    32: dict(operation=(130, 'B')),
    33: dict(group=(144, 'Q'), commit=(160, 'Q')),
    34: dict(group=(144, 'Q')),
    # 0.12.2
    35: dict(group=(136, 'Q')),
    36: dict(group=(136, 'Q'), op=(152, 'Q'), commit=(176, 'Q')),
}
# 0.12.0 and later, zero before: shown when not zero
F12 = {
    6: dict(session=(248, 'Q')),
    19: dict(session=(248, 'Q')),
}
COLS = ['tcp_stream', 'direction', 'offset', 'size', 'command', 'operation', 'code', 'request',
        'first_pkt', 'end_pkt', 'last_pkt', 'view', 'replica', 'session', 'status', 'op', 'commit', 'group', 'note']
MAX = 64 * 1024 * 1024 + 4096


# --- capture files ---------------------------------------------------------
def packets(path):
    """Yield (number, time, linktype, bytes, secrets) ; secrets blocks give (0, 0, -1, text)."""
    with open(path, 'rb') as f:
        zipped = f.read(2) == b'\x1f\x8b'
    with (gzip.open if zipped else open)(path, 'rb') as f:
        magic = f.read(4)
        f.seek(0)
        if magic == b'\x0a\x0d\x0d\x0a':
            yield from _pcapng(f)
        else:
            yield from _pcap(f)


def _pcap(f):
    h = f.read(24)
    e = '<' if h[:4] in (b'\xd4\xc3\xb2\xa1', b'\x4d\x3c\xb2\xa1') else '>'
    nano = h[:4] in (b'\x4d\x3c\xb2\xa1', b'\xa1\xb2\x3c\x4d')
    link = struct.unpack(e + 'I', h[20:24])[0] & 0xffff
    n = 0
    while True:
        r = f.read(16)
        if len(r) < 16:
            return
        s, u, cap, _ = struct.unpack(e + 'IIII', r)
        n += 1
        yield n, s + u / (1e9 if nano else 1e6), link, f.read(cap)


def _pcapng(f):
    e, ifs, n = '<', [], 0
    while True:
        h = f.read(8)
        if len(h) < 8:
            return
        if h[:4] == b'\x0a\x0d\x0d\x0a':
            bom = f.read(4)
            e = '<' if bom == b'\x4d\x3c\x2b\x1a' else '>'
            ln = struct.unpack(e + 'I', h[4:8])[0]
            f.read(ln - 12)
            ifs = []
            continue
        t, ln = struct.unpack(e + 'II', h)
        b = f.read(ln - 8)[:-4]
        if t == 1:
            link, res = struct.unpack(e + 'HH', b[:4])[0], 1e6
            o = 8
            while o + 4 <= len(b):
                c, l = struct.unpack(e + 'HH', b[o:o + 4])
                if c == 9 and l:
                    v = b[o + 4]
                    res = 2.0 ** (v & 127) if v & 128 else 10.0 ** v
                if c == 0:
                    break
                o += 4 + (l + 3) // 4 * 4
            ifs.append((link, res))
        elif t == 6:
            i, hi, lo, cap, _ = struct.unpack(e + 'IIIII', b[:20])
            n += 1
            yield n, ((hi << 32) | lo) / ifs[i][1], ifs[i][0], b[20:20 + cap]
        elif t == 3:
            n += 1
            yield n, 0.0, ifs[0][0], b[4:]
        elif t == 10:
            typ, l = struct.unpack(e + 'II', b[:8])
            if typ == 0x544c534b:
                yield 0, 0.0, -1, b[8:8 + l]


def ip_of(link, d):
    """-> (src, dst, protocol, payload) or None"""
    if link == 1:
        t, o = struct.unpack('>H', d[12:14])[0], 14
        while t in (0x8100, 0x88a8):
            t, o = struct.unpack('>H', d[o + 2:o + 4])[0], o + 4
        d = d[o:]
    elif link == 113:
        d = d[16:]
    elif link == 276:
        d = d[20:]
    elif link in (0, 108):
        d = d[4:]
    elif link not in (101, 12, 228, 229):
        return None
    if not d:
        return None
    if d[0] >> 4 == 4 and len(d) >= 20:
        hl = (d[0] & 15) * 4
        tot = struct.unpack('>H', d[2:4])[0] or len(d)      # 0: segmentation offload
        if struct.unpack('>H', d[6:8])[0] & 0x3fff:
            return None                                      # IP fragments: not handled
        return d[12:16], d[16:20], d[9], d[hl:tot]
    if d[0] >> 4 == 6 and len(d) >= 40:
        ln = struct.unpack('>H', d[4:6])[0] or len(d) - 40
        nxt, o = d[6], 40
        while nxt in (0, 43, 60):
            nxt, o = d[o], o + (d[o + 1] + 1) * 8
        return d[8:24], d[24:40], nxt, d[o:40 + ln]
    return None


# --- bytes with the packet each arrived in ---------------------------------
class Flow:
    """One direction: bytes in order, spans (start, end, packet), gaps."""

    def __init__(self):
        self.base = None       # sequence number of offset 0
        self.segs = []         # (relative start, bytes, packet)
        self.syn = False
        self.fin = False

    def add(self, seq, data, pkt):
        if self.base is None:
            self.base = seq
        rel = (seq - self.base + 2 ** 31) % 2 ** 32 - 2 ** 31
        hi = self.segs[-1][0] if self.segs else 0
        rel += ((hi - rel + 2 ** 31) // 2 ** 32) * 2 ** 32   # unwrap long streams
        self.segs.append((rel, data, pkt))

    def spans(self):
        """-> list of (start, bytes, packet that carried it, packet that made it contiguous);
        first copy of a byte wins, holes stay holes"""
        if not self.segs:
            return []
        low = min(r for r, _, _ in self.segs)
        got, out, done = [], [], []
        # keep first arrivals
        ivs = []               # sorted non-overlapping (start, end)
        for rel, data, pkt in self.segs:
            s, e = rel, rel + len(data)
            cur = s
            i = bisect.bisect_left(ivs, (s, s))
            if i and ivs[i - 1][1] > s:
                i -= 1
            pieces = []
            while cur < e:
                if i < len(ivs) and ivs[i][0] <= cur:
                    cur = max(cur, min(ivs[i][1], e))
                    i += 1
                    continue
                nxt = min(e, ivs[i][0]) if i < len(ivs) else e
                pieces.append((cur, nxt))
                cur = nxt
            for a, b in pieces:
                got.append((a, data[a - rel:b - rel], pkt))
                bisect.insort(ivs, (a, b))
            # merge
            if pieces:
                k = max(0, bisect.bisect_left(ivs, (pieces[0][0], 0)) - 1)
                while k + 1 < len(ivs) and ivs[k][0] <= e:
                    if ivs[k][1] >= ivs[k + 1][0]:
                        ivs[k:k + 2] = [(ivs[k][0], max(ivs[k][1], ivs[k + 1][1]))]
                    else:
                        k += 1
        got.sort(key=lambda x: x[0])
        top, prev = 0, None
        for a, d, pkt in got:
            # contiguous-with-the-past arrival: the latest packet so far in this run
            if prev is not None and a > prev:
                top = 0
            top = max(top, pkt)
            out.append((a - low, d, pkt, top))
            prev = a + len(d)
        return out


class Buf:
    """Ordered bytes with holes; answers packet numbers for any offset."""

    def __init__(self, spans):
        self.starts, self.data, self.car, self.con, self.ends = [], bytearray(), [], [], []
        self.holes = []        # (start, length)
        at = 0
        for s, d, c, k in spans:
            if s > at:
                self.holes.append((at, s - at))
                self._push(at, bytes(s - at), 0, 0)
            self._push(s, d, c, k)
            at = s + len(d)
        self.len = at

    def _push(self, s, d, c, k):
        self.starts.append(s)
        self.ends.append(s + len(d))
        self.car.append(c)
        self.con.append(k)
        self.data += d

    def span(self, off):
        return bisect.bisect_right(self.starts, off) - 1

    def first(self, off):
        i = self.span(off)
        while i < len(self.car) - 1 and self.car[i] == 0:
            i += 1
        return self.car[i]

    def end(self, s, e):
        """(contiguous packet, packet carrying the last byte) of bytes s..e"""
        i, j = self.span(s), self.span(e - 1)
        con = max(self.con[k] for k in range(i, j + 1))
        while j > i and self.car[j] == 0:
            j -= 1
        return con, self.car[j]

    def lost(self, s, e):
        return sum(max(0, min(e, h + l) - max(s, h)) for h, l in self.holes)


def plausible(b):
    """Does this 256-byte block look like an Iggy header?"""
    if len(b) < HDR:
        return False
    size = struct.unpack('<I', b[48:52])[0]
    return (HDR <= size <= MAX and b[56:60] == b'\0\0\0\0' and 1 <= b[60] <= 36 and not any(b[62:128])
            and (b[60] != 5 or (b[176] and not any(b[177:184]))) and (b[60] not in (6, 8, 19) or not any(b[209:216])))


def suffix_entry(d, j):
    """Is this prepare header an entry of a log suffix (ops fall by one every 256 bytes), not a frame of its own?"""
    def op(i):
        h = bytes(d[i:i + HDR]) if i >= 0 else b''
        return struct.unpack_from('<Q', h, 176)[0] if plausible(h) and h[60] == 6 else None
    o = op(j)
    return o is not None and (op(j + HDR) == o - 1 or op(j - HDR) == o + 1)


def frames(buf, stream, direction):
    at, skipped, d = 0, 0, buf.data
    n = buf.len
    while at < n:
        h = bytes(d[at:at + HDR])
        hl = buf.lost(at, min(at + HDR, n))
        if hl == 0 and plausible(h) and not (at == 0 and suffix_entry(d, at)):
            size = struct.unpack('<I', h[48:52])[0]
            end = at + size
            note = 'ok'
            if skipped:
                note = 'resync %d' % skipped
            lost = buf.lost(at, min(end, n))
            if lost:
                note += ', lost %d' % lost if note != 'ok' else ''
                note = note if note != 'ok' else 'lost %d' % lost
            e = min(end, n)
            if end > n:
                note = ('' if note == 'ok' else note + ', ') + 'cut %d' % (end - n)
            con, last = buf.end(at, e)
            yield row(stream, direction, at, h, buf.first(at), con, last, note)
            at, skipped = end, 0
            continue
        # not a header here: look for the next one
        j = at + 1
        while j < n:
            if (d[j + 56:j + 60] == b'\0\0\0\0' and plausible(bytes(d[j:j + HDR])) and not suffix_entry(d, j)
                    and not buf.lost(j, min(j + HDR, n))):
                break
            j += 1
        real = (j - at) - buf.lost(at, j)
        if j >= n and real:
            con, last = buf.end(at, n)
            r = dict.fromkeys(COLS, '-')
            r.update(tcp_stream=stream, direction=direction, offset=at, size=n - at, first_pkt=buf.first(at),
                     end_pkt=con, last_pkt=last, note='garbage %d' % real)
            yield r
        skipped += j - at
        at = j


def row(stream, direction, off, h, first, con, last, note):
    r = dict.fromkeys(COLS, '-')
    cmd = h[60]
    r.update(tcp_stream=stream, direction=direction, offset=off, size=struct.unpack('<I', h[48:52])[0], command=cmd,
             view=struct.unpack('<I', h[52:56])[0], replica=h[61], first_pkt=first, end_pkt=con, last_pkt=last, note=note)
    for k, (o, t) in F.get(cmd, {}).items():
        r[k] = struct.unpack_from('<' + t, h, o)[0]
    for k, (o, t) in F12.get(cmd, {}).items():
        r[k] = struct.unpack_from('<' + t, h, o)[0] or '-'
    if 'code' in F.get(cmd, {}) and r['operation'] != 2:
        r['code'] = '-'
    return r


# --- WebSocket -------------------------------------------------------------
def slice_spans(buf, s, e):
    """spans of buf.data[s:e], keeping packet numbers"""
    i = buf.span(s)
    while i < len(buf.starts) and buf.starts[i] < e:
        a, b = max(s, buf.starts[i]), min(e, buf.ends[i])
        if b > a:
            yield a, b, buf.car[i], buf.con[i]
        i += 1


def websocket(buf, stream, direction, extra):
    d, n = buf.data, buf.len
    i = bytes(d).find(b'\r\n\r\n')
    if i < 0:
        return Buf([])
    con, last = buf.end(0, i + 4)
    r = dict.fromkeys(COLS, '-')
    r.update(tcp_stream=stream, direction=direction, offset=0, size=i + 4, first_pkt=buf.first(0), end_pkt=con,
             last_pkt=last, note='text')
    extra.append(r)
    at, out, pos = i + 4, [], 0
    while at + 2 <= n:
        op, l, o = d[at] & 15, d[at + 1] & 127, at + 2
        if l == 126:
            l, o = struct.unpack('>H', d[o:o + 2])[0], o + 2
        elif l == 127:
            l, o = struct.unpack('>Q', d[o:o + 8])[0], o + 8
        mask = None
        if d[at + 1] & 128:
            mask, o = bytes(d[o:o + 4]), o + 4
        if o + l > n:
            break
        if op in (0, 1, 2) and l:
            for a, b, c, k in slice_spans(buf, o, o + l):
                raw = bytes(d[a:b])
                if mask:
                    m = (mask * (len(raw) // 4 + 2))[(a - o) % 4:][:len(raw)]
                    raw = (int.from_bytes(raw, 'big') ^ int.from_bytes(m, 'big')).to_bytes(len(raw), 'big')
                k2 = max(k, buf.end(at, o)[0])
                out.append((pos, raw, c, k2))
                pos += len(raw)
        elif op >= 8:
            con, last = buf.end(at, o + l)
            r = dict.fromkeys(COLS, '-')
            r.update(tcp_stream=stream, direction=direction, offset=at, size=o + l - at, command='ws%d' % op,
                     first_pkt=buf.first(at), end_pkt=con, last_pkt=last, note='wsctl')
            extra.append(r)
        at = o + l
    return Buf(out)


# --- TLS 1.3 ---------------------------------------------------------------
def hkdf(secret, label, n, algo):
    full = b'tls13 ' + label
    info = struct.pack('>HB', n, len(full)) + full + b'\0'
    t, okm, i = b'', b'', 1
    while len(okm) < n:
        t = hmac.new(secret, t + info + bytes([i]), algo).digest()
        okm += t
        i += 1
    return okm[:n]


def aead(cipher, key):
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
    return ChaCha20Poly1305(key) if cipher == 0x1303 else AESGCM(key)


CIPHERS = {0x1301: (16, 'sha256'), 0x1302: (32, 'sha384'), 0x1303: (32, 'sha256')}


def keylog(text):
    keys = {}
    for line in text.decode('ascii', 'replace').splitlines():
        p = line.split()
        if len(p) == 3 and p[0][0] != '#':
            keys[(p[0], p[1].lower())] = bytes.fromhex(p[2])
    return keys


def records(buf):
    at, d = 0, buf.data
    while at + 5 <= buf.len:
        l = struct.unpack('>H', d[at + 3:at + 5])[0]
        yield d[at], at, at + 5, min(at + 5 + l, buf.len), at + 5 + l <= buf.len
        at += 5 + l


def hello(body):
    """random and (server) cipher of a hello handshake message"""
    rnd = bytes(body[6:38])
    sid = body[38]
    return rnd, struct.unpack('>H', body[39 + sid:41 + sid])[0]


def tls_open(cbuf, sbuf, keys):
    """-> decrypted Buf of both directions (application data only)"""
    rnd = cipher = None
    for t, _, o, e, _ in records(cbuf):
        if t == 22 and cbuf.data[o] == 1:
            rnd = hello(cbuf.data[o:e])[0].hex()
            break
    for t, _, o, e, _ in records(sbuf):
        if t == 22 and sbuf.data[o] == 2:
            cipher = hello(sbuf.data[o:e])[1]
            break
    outs = []
    for buf, who in ((cbuf, 'CLIENT'), (sbuf, 'SERVER')):
        hs, ap = keys.get((who + '_HANDSHAKE_TRAFFIC_SECRET', rnd)), keys.get((who + '_TRAFFIC_SECRET_0', rnd))
        if not hs or not ap or cipher not in CIPHERS:
            return None
        klen, algo = CIPHERS[cipher]
        state, out, pos = 'hs', [], 0

        def setup(sec):
            return aead(cipher, hkdf(sec, b'key', klen, algo)), hkdf(sec, b'iv', 12, algo)
        a, iv = setup(hs)
        seq = 0
        for t, at, o, e, whole in records(buf):
            if t != 23 or not whole:
                continue
            nonce = (int.from_bytes(iv, 'big') ^ seq).to_bytes(12, 'big')
            try:
                p = a.decrypt(nonce, bytes(buf.data[o:e]), bytes(buf.data[at:o]))
            except Exception:
                break
            seq += 1
            p = p.rstrip(b'\0')
            typ, p = p[-1], p[:-1]
            if typ == 22:
                i = 0
                while i + 4 <= len(p):
                    l = int.from_bytes(p[i + 1:i + 4], 'big')
                    if p[i] == 20 and state == 'hs':       # Finished
                        state = 'ap'
                        a, iv = setup(ap)
                        seq = 0
                    elif p[i] == 24:                        # KeyUpdate
                        ap = hkdf(ap, b'traffic upd', len(ap), algo)
                        a, iv = setup(ap)
                        seq = 0
                    i += 4 + l
            elif typ == 23:
                con, last = buf.end(at, e)
                out.append((pos, p, last, con))
                pos += len(p)
        outs.append(Buf(out))
    return outs


# --- QUIC v1 ---------------------------------------------------------------
def varint(d, i):
    n = 1 << (d[i] >> 6)
    v = int.from_bytes(d[i:i + n], 'big') & ((1 << (8 * n - 2)) - 1)
    return v, i + n


def quic(udp, keys, out):
    """udp: list of (pkt, src, dst, payload). Application (1-RTT) streams only."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    conns, order = {}, []
    rnds = {k[1] for k in keys if k[0] == 'CLIENT_TRAFFIC_SECRET_0'}

    def hp_mask(cipher, hpk, sample):
        if cipher == 0x1303:
            c = Cipher(algorithms.ChaCha20(hpk, sample), None).encryptor()
            return c.update(b'\0' * 5)
        return Cipher(algorithms.AES(hpk), modes.ECB()).encryptor().update(sample)[:5]

    for pkt, src, dst, d in udp:
        key = tuple(sorted((src, dst)))
        c = conns.get(key)
        if c is None:
            c = conns[key] = dict(n=len(conns), client=src, cid={}, keys={}, streams={}, pn={}, cipher=None)
        i = 0
        while i < len(d):
            if d[i] & 0x80:
                dl = d[i + 5]
                o = i + 6 + dl
                sl = d[o]
                scid = d[o + 1:o + 1 + sl]
                c['cid'][src] = scid                       # packets to src carry this id
                o += 1 + sl
                typ = (d[i] >> 4) & 3
                if d[i + 1:i + 5] == b'\0\0\0\0' or typ == 3:
                    break
                if typ == 0:
                    tl, o = varint(d, o)
                    o += tl
                ln, o = varint(d, o)
                i = o + ln
                continue
            # short header
            cid = c['cid'].get(dst, b'')
            who = 'CLIENT' if src == c['client'] else 'SERVER'
            o = i + 1 + len(cid)
            known = c['keys'].get(who)
            if known:                                      # this key phase, then the next one
                ci, sec, hps = known
                trials = [known, (ci, hkdf(sec, b'quic ku', len(sec), CIPHERS[ci][1]), hps)]
            else:
                trials = [(ci, sec, sec) for r in rnds for sec in [keys[(who + '_TRAFFIC_SECRET_0', r)]]
                          for ci in (0x1301, 0x1302, 0x1303) if len(sec) == (48 if ci == 0x1302 else 32)]
            for trial in trials:
                ci, sec, hps = trial
                klen, algo = CIPHERS[ci]
                m = hp_mask(ci, hkdf(hps, b'quic hp', klen, algo), bytes(d[o + 4:o + 20]))
                b0 = d[i] ^ (m[0] & 0x1f)
                pl = (b0 & 3) + 1
                pnb = bytes(x ^ y for x, y in zip(d[o:o + pl], m[1:1 + pl]))
                tr = int.from_bytes(pnb, 'big')
                exp = c['pn'].get(who, -1) + 1
                win = 1 << (8 * pl)
                pn = (exp & ~(win - 1)) | tr
                if pn <= exp - win // 2 and pn < (1 << 62) - win:
                    pn += win
                elif pn > exp + win // 2 and pn >= win:
                    pn -= win
                iv = hkdf(sec, b'quic iv', 12, algo)
                nonce = (int.from_bytes(iv, 'big') ^ pn).to_bytes(12, 'big')
                hdr = bytes([b0]) + bytes(d[i + 1:o]) + pnb
                try:
                    p = aead(ci, hkdf(sec, b'quic key', klen, algo)).decrypt(nonce, bytes(d[o + pl:]), hdr)
                except Exception:
                    continue
                c['keys'][who] = trial
                c['pn'][who] = max(c['pn'].get(who, -1), pn)
                quic_frames(p, pkt, who, c)
                break
            break
    for c in conns.values():
        for sid in sorted(c['streams']):
            for who in ('CLIENT', 'SERVER'):
                fl = c['streams'][sid].get(who)
                if fl:
                    b = Buf(fl.spans())
                    for r in frames(b, 'q%d.%d' % (c['n'], sid), 'C>S' if who == 'CLIENT' else 'S>C'):
                        out.append(r)


def quic_frames(p, pkt, who, c):
    i = 0
    while i < len(p):
        t, i = varint(p, i)
        if t in (0, 1, 0x1e, 0x1f):                        # padding, ping, done, immediate ack
            continue
        if t in (2, 3):
            _, i = varint(p, i)
            _, i = varint(p, i)
            n, i = varint(p, i)
            _, i = varint(p, i)
            for _ in range(2 * n):
                _, i = varint(p, i)
            if t == 3:
                for _ in range(3):
                    _, i = varint(p, i)
        elif 8 <= t <= 15:
            sid, i = varint(p, i)
            off = 0
            if t & 4:
                off, i = varint(p, i)
            ln = len(p) - i
            if t & 2:
                ln, i = varint(p, i)
            if ln:
                fl = c['streams'].setdefault(sid, {}).setdefault(who, Flow())
                if fl.base is None:
                    fl.base = 0
                fl.segs.append((off, p[i:i + ln], pkt))
            i += ln
        elif t == 6:
            _, i = varint(p, i)
            n, i = varint(p, i)
            i += n
        elif t == 7:
            n, i = varint(p, i)
            i += n
        elif t == 0x18:
            _, i = varint(p, i)
            _, i = varint(p, i)
            n = p[i]
            i += 1 + n + 16
        elif t in (0x1a, 0x1b):
            i += 8
        elif t in (0x1c, 0x1d):
            return
        else:
            for _ in range({4: 3, 5: 2, 0x10: 1, 0x11: 2, 0x12: 1, 0x13: 1, 0x14: 1, 0x15: 2, 0x16: 1, 0x17: 1, 0x19: 1, 0xaf: 4}.get(t, 99)):
                if i >= len(p):
                    return
                _, i = varint(p, i)


# --- whole file ------------------------------------------------------------
def list_file(path, keyfile=None, ports=None):
    conv, streams, keys, udp = {}, [], {}, []
    if keyfile:
        keys.update(keylog(open(keyfile, 'rb').read()))
    for num, _t, link, data in packets(path):
        if link == -1:
            keys.update(keylog(data))
            continue
        ip = ip_of(link, data)
        if not ip:
            continue
        src, dst, proto, d = ip
        if proto == 17 and len(d) > 8:
            sp, dp, ul = struct.unpack('>HHH', d[:6])
            udp.append((num, (src, sp), (dst, dp), d[8:ul]))
            continue
        if proto != 6 or len(d) < 20:
            continue
        sp, dp, seq = struct.unpack('>HHI', d[:8])
        hl, fl = (d[12] >> 4) * 4, d[13]
        a, b = (src, sp), (dst, dp)
        key = tuple(sorted((a, b)))
        c = conv.get(key)
        if c is None or (fl & 2 and not fl & 16 and (c['syn'] is not None and c['syn'] != seq)):
            c = conv[key] = dict(n=len(streams), dirs={a: Flow(), b: Flow()}, syn=None, client=None, a=a, b=b)
            streams.append(c)
        if fl & 2:
            if not fl & 16:
                c['syn'], c['client'] = seq, a
            elif c['client'] is None:
                c['client'] = b
            c['dirs'][a].base = (seq + 1) % 2 ** 32
            continue
        if len(d) > hl:
            # keep-alive probes (one byte before the next) are duplicates: spans() drops them
            c['dirs'][a].add(seq, bytes(d[hl:]), num)
    rows = []
    for c in streams:
        if c['client'] is None:                              # no SYN seen: the higher port is the client
            c['client'] = max((c['a'], c['b']), key=lambda x: x[1])
        server = c['b'] if c['client'] == c['a'] else c['a']
        if ports and server[1] not in ports and c['client'][1] not in ports:
            continue
        cb, sb = (Buf(c['dirs'][x].spans()) for x in (c['client'], server))
        extra = []
        if bytes(cb.data[:2]) == b'\x16\x03':
            o = tls_open(cb, sb, keys) if keys else None
            if o is None:
                r = dict.fromkeys(COLS, '-')
                r.update(tcp_stream=c['n'], direction='C>S', offset=0, size=cb.len, first_pkt=cb.first(0),
                         end_pkt=cb.end(0, cb.len)[0], last_pkt=cb.end(0, cb.len)[1], note='TLS, no keys')
                rows.append(r)
                continue
            cb, sb = o
        if bytes(cb.data[:4]) == b'GET ':
            cb, sb = websocket(cb, c['n'], 'C>S', extra), websocket(sb, c['n'], 'S>C', extra)
        rows += extra
        for b, who in ((cb, 'C>S'), (sb, 'S>C')):
            rows += list(frames(b, c['n'], who))
    if udp and keys:
        quic(udp, keys, rows)
    rows.sort(key=lambda r: (r['end_pkt'], r['first_pkt'], str(r['tcp_stream']), r['direction'], r['offset']))
    return rows


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('file')
    ap.add_argument('--keys')
    ap.add_argument('--ports', help='only connections on these ports')
    ap.add_argument('--summary', action='store_true')
    a = ap.parse_args()
    rows = list_file(a.file, a.keys, {int(x) for x in a.ports.split(',')} if a.ports else None)
    if a.summary:
        n = collections.Counter((r['command'], r['operation'], r['code']) for r in rows)
        for (cmd, op, code), k in sorted(n.items(), key=str):
            print('%6d  command %s operation %s code %s' % (k, cmd, op, code))
        print(len(rows), 'frames;', collections.Counter(str(r['note']).split(' ')[0] for r in rows))
        return
    w = sys.stdout
    w.write('\t'.join(COLS) + '\n')
    for r in rows:
        w.write('\t'.join(str(r[c]) for c in COLS) + '\n')


if __name__ == '__main__':
    try:
        main()
    except BrokenPipeError:
        pass
