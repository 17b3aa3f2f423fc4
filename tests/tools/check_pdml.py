#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare a dissector's PDML with the expected values of a capture.

usage: check_pdml.py [options] CAPTURE EXPECTED [COMMAND [ARGUMENT...]]

CAPTURE   the capture file (pcap, may be gzipped)
EXPECTED  its .expected.jsonl (may be gzipped)
COMMAND   prints PDML of the capture; a single argument with spaces goes to the shell.
          Default: tshark -r CAPTURE -T pdml

options:  --proto NAME   protocol name in the PDML (default iggy)
          --pdml FILE    read this PDML instead of running a command
          --quiet        only the totals
          --all          list the values that are shown, too

For each expected PDU the script looks for a <proto> of that name (or a field within one) of the
PDU's size in the packet in which the PDU ends. An expected value is shown if a field at the value's
place in the PDU shows it: a number in any base, a boolean, a time, a string, bytes, or (for values
of 128 bits) several fields that tile the place. A field with other text but the right raw bytes
(a formatted time or version) counts as shown, and is counted apart. Field names do not matter.

The exit status is 0 only if every PDU and every value was found.
"""

import argparse
import datetime
import gzip
import json
import os
import re
import struct
import subprocess
import sys
import xml.etree.ElementTree as ET


# ---- expected values --------------------------------------------------------------------------

def open_text(path):
    if not os.path.exists(path) and os.path.exists(path + ".gz"):
        path += ".gz"
    if path.endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8")
    return open(path, encoding="utf-8")


def load_expected(path):
    with open_text(path) as f:
        pdus = [json.loads(line) for line in f if line.strip()]
    others = {}
    for pdu in pdus:
        ref = pdu.get("values_from")
        if not ref:
            continue
        name = ref["file"]
        if name not in others:
            with open_text(os.path.join(os.path.dirname(path) or ".", name)) as f:
                others[name] = [json.loads(line) for line in f if line.strip()]
        source = others[name][ref["pdu"] - 1]
        assert source["pdu"] == ref["pdu"] and source["size"] == pdu["size"], ref
        pdu["values"] = source["values"]
    return pdus


def raw_bytes(val):
    """The bytes of an expected value; for long byte strings only their start."""
    t, v, n = val.get("type"), val["value"], val["length"]
    if t == "string":
        return v.encode("utf-8")
    if t == "bytes":
        return bytes.fromhex(v)
    if t == "f32":
        return struct.pack("<f", v)
    if t == "f64":
        return struct.pack("<d", v)
    if t == "i128" or t == "u128":
        v = int(v)
    return int(v).to_bytes(n, "little", signed=v < 0)


# ---- PDML -------------------------------------------------------------------------------------

class Field:
    __slots__ = ("name", "show", "raw", "start", "size", "leaf")

    def __init__(self, name, show, raw, start, size, leaf):
        self.name, self.show, self.raw = name, show, raw
        self.start, self.size, self.leaf = start, size, leaf


def number(el, attr):
    try:
        return int(el.get(attr, ""))
    except ValueError:
        return None


def named(el):
    name = el.get("name", "")
    return bool(name) and not name.startswith("_ws.") and el.get("hide") != "yes"


def collect(el, out):
    """All named fields below `el` that stand for bytes; leaf: none such below it."""
    found = False
    for child in el:
        if child.tag not in ("field", "proto"):
            continue
        below = collect(child, out)
        size, pos = number(child, "size"), number(child, "pos")
        if child.tag == "field" and named(child) and size and pos is not None:
            raw = child.get("unmaskedvalue") or child.get("value") or ""
            out.append(Field(child.get("name"), child.get("show", ""), raw.lower(), pos, size,
                             not below))
            found = True
        found = found or below
    return found


def packets(stream):
    """Yields (packet number, packet element)."""
    for _, el in ET.iterparse(stream, events=("end",)):
        if el.tag != "packet":
            continue
        num = None
        for field in el.iter("field"):
            if field.get("name") in ("num", "frame.number"):
                num = int(field.get("show"))
                break
        yield num, el
        el.clear()


class Candidate:
    def __init__(self, start, size, fields):
        self.start, self.size, self.used = start, size, False
        self.fields = []
        for f in fields:
            if start <= f.start and f.start + f.size <= start + size:
                self.fields.append(Field(f.name, f.show, f.raw, f.start - start, f.size, f.leaf))


def candidates(packet, proto, sizes):
    """Everything in the packet that could be a PDU of one of these sizes."""
    out = []
    for el in packet.iter("proto"):
        if el.get("name") != proto:
            continue
        fields = []
        collect(el, fields)
        places = [(number(el, "pos"), number(el, "size"))]
        for sub in el.iter("field"):
            size = number(sub, "size") or 0
            if size >= 256:
                places.append((number(sub, "pos"), size))
        # A header whose size field is shown tells a PDU, too.
        for f in fields:
            if f.size == 4 and f.start >= 48:
                shown = to_int(f.show)
                if shown is not None and shown >= 256:
                    places.append((f.start - 48, shown))
        seen = set()
        for start, size in places:
            if start is None or size not in sizes or (start, size) in seen:
                continue
            seen.add((start, size))
            out.append(Candidate(start, size, fields))
    return out


# ---- comparison -------------------------------------------------------------------------------

def to_int(text):
    text = text.strip()
    low = text.lower()
    if low in ("true", "false"):
        return int(low == "true")
    m = re.fullmatch(r"([-+]?)(0x[0-9a-f]+|\d+)", low)
    if not m:
        return None
    value = int(m.group(2), 16 if m.group(2).startswith("0x") else 10)
    return -value if m.group(1) == "-" else value


def to_float(text):
    try:
        return float(text)
    except ValueError:
        return None


HEX = re.compile(r"(?:[0-9a-fA-F]{2}[:\-. ]?)+")


def to_hex(text):
    """The digits of a byte string or GUID, and whether it is cut short."""
    cut = False
    for mark in ("…", "\u2026", "..."):
        if text.endswith(mark):
            text, cut = text[: -len(mark)], True
    if HEX.fullmatch(text) or re.fullmatch(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", text):
        return re.sub(r"[^0-9a-f]", "", text.lower()), cut
    return None, cut


MONTHS = {m: i + 1 for i, m in enumerate(
    "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split())}


def to_micros(text):
    """Microseconds since 1970 of an absolute time as Wireshark writes it (UTC only)."""
    m = re.match(r"([A-Z][a-z]{2})\s+(\d+), (\d{4}) (\d\d):(\d\d):(\d\d)(?:\.(\d+))?(.*)", text)
    if m:
        month, day, year, h, mi, s, frac, zone = m.groups()
        if zone.strip() not in ("", "UTC", "Z"):
            return None
        when = datetime.datetime(int(year), MONTHS[month], int(day), int(h), int(mi), int(s))
    else:
        m = re.match(r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:Z|\+0000|)$", text)
        if not m:
            return None
        year, month, day, h, mi, s, frac = m.groups()
        when = datetime.datetime(int(year), int(month), int(day), int(h), int(mi), int(s))
    seconds = int((when - datetime.datetime(1970, 1, 1)).total_seconds())
    return seconds * 1_000_000 + int(((frac or "") + "000000")[:6])


SHOWN, FORMATTED, WRONG = "shown", "formatted", "wrong"


def compare(val, show, raw):
    """How a field's text relates to an expected value; `raw` is the field's bytes in hex."""
    want = raw_bytes(val)
    t = val.get("type", "uint")
    partial = len(want) < val["length"]
    if raw and not (raw == want.hex() or (partial and raw.startswith(want.hex()))):
        return WRONG
    if t == "string":
        if show == val["value"]:
            return SHOWN
        digits, cut = to_hex(show)
        if digits is not None and digits == want.hex():
            return SHOWN
        return FORMATTED if raw else WRONG
    if t == "bytes":
        digits, cut = to_hex(show)
        if digits is not None and digits:
            if digits == want.hex() or ((cut or partial) and (
                    want.hex().startswith(digits) or digits.startswith(want.hex()))):
                return SHOWN
        try:
            text = want.decode("utf-8")
            if show == text or (partial and show.startswith(text)):
                return SHOWN
        except UnicodeDecodeError:
            pass
        return FORMATTED if raw else WRONG
    if t in ("f32", "f64"):
        got = to_float(show)
        if got is None:
            return FORMATTED if raw else WRONG
        scale = max(abs(val["value"]), 1e-9)
        return SHOWN if abs(got - val["value"]) <= scale * 1e-5 else WRONG
    value = int(val["value"])
    got = to_int(show)
    if got is not None and got == value:
        return SHOWN
    digits, cut = to_hex(show)
    if digits is not None and (len(want) >= 8 or not show.isalnum()):
        if digits in (want.hex(), want[::-1].hex()):
            return SHOWN
    if got is not None:
        return WRONG
    micros = to_micros(show)
    if micros is not None and micros in (value, value * 1000, value * 1_000_000):
        return SHOWN
    as_float = to_float(show)
    if as_float is not None:
        # A relative time in seconds, from micro- or nanoseconds.
        if any(abs(as_float * unit - value) <= max(1.0, value * 1e-9) for unit in (1e6, 1e9, 1e3)):
            return SHOWN
        return WRONG
    return FORMATTED if raw else WRONG


def tiles(pdu, start, size):
    """Leaf fields that cover the range without gap or overlap, in order."""
    inside = sorted(
        {(f.start, f.size): f for f in pdu.fields
         if f.leaf and start <= f.start and f.start + f.size <= start + size}.values(),
        key=lambda f: f.start)
    at = start
    for f in inside:
        if f.start != at:
            return None
        at += f.size
    return inside if at == start + size else None


def covered(pdu, start, size):
    mask = bytearray(size)
    for f in pdu.fields:
        if f.leaf:
            lo, hi = max(f.start, start), min(f.start + f.size, start + size)
            if lo < hi:
                mask[lo - start:hi - start] = b"\1" * (hi - lo)
    return sum(mask)


def find_value(pdu, val):
    start, size = val["offset"], val["length"]
    if val.get("role") == "opaque":
        return (SHOWN, "") if covered(pdu, start, size) == size else (None, "not covered")
    best, note = None, "no field there"
    for f in pdu.fields:
        if f.start != start or f.size != size:
            continue
        how = compare(val, f.show, f.raw)
        if how == SHOWN:
            return SHOWN, ""
        if how == FORMATTED:
            best = FORMATTED
        note = f"{f.name} shows {f.show[:60]!r}"
    if best:
        return best, ""
    # A string field that has its length in front of it.
    for f in pdu.fields:
        if val.get("role") == "length" and f.start == start and f.size == size + val["value"]:
            return SHOWN, ""
        if (val.get("type") in ("string", "bytes") and start - f.start in (1, 2, 4)
                and f.start + f.size == start + size
                and compare(val, f.show, "") == SHOWN):
            return SHOWN, ""
    # A wide value in several fields.
    if val.get("type") in ("u128", "i128", "bytes") and size >= 2:
        parts = tiles(pdu, start, size)
        if parts and len(parts) > 1:
            want = raw_bytes(val)
            for f in parts:
                piece = want[f.start - start:f.start - start + f.size]
                if len(piece) < f.size:
                    continue
                one = {"value": int.from_bytes(piece, "little"), "length": f.size, "offset": 0}
                alt = {"value": piece.hex(), "length": f.size, "offset": 0, "type": "bytes"}
                if SHOWN not in (compare(one, f.show, f.raw), compare(alt, f.show, f.raw)) \
                        and compare(alt, f.show, f.raw) != FORMATTED:
                    return None, f"{f.name} shows {f.show[:60]!r}"
            return SHOWN, ""
    return None, note


def main():
    ap = argparse.ArgumentParser(add_help=False)
    ap.add_argument("--proto", default="iggy")
    ap.add_argument("--pdml")
    ap.add_argument("--quiet", action="store_true")
    ap.add_argument("--all", action="store_true")
    ap.add_argument("-h", "--help", action="store_true")
    ap.add_argument("capture", nargs="?")
    ap.add_argument("expected", nargs="?")
    ap.add_argument("command", nargs=argparse.REMAINDER)
    args = ap.parse_args()
    if args.help or not args.expected:
        print(__doc__)
        return 0 if args.help else 2

    expected = load_expected(args.expected)
    by_frame = {}
    for pdu in expected:
        by_frame.setdefault(pdu["frame"], []).append(pdu)

    process = None
    if args.pdml:
        stream = gzip.open(args.pdml, "rb") if args.pdml.endswith(".gz") else open(args.pdml, "rb")
    else:
        command = args.command or ["tshark", "-r", args.capture, "-T", "pdml"]
        if command and command[0] == "--":
            command = command[1:]
        shell = len(command) == 1 and " " in command[0]
        process = subprocess.Popen(command[0] if shell else command, shell=shell,
                                   stdout=subprocess.PIPE)
        stream = process.stdout

    lines = {}
    recognised = shown = formatted = total_values = total_bytes = covered_bytes = unexpected = 0
    for pdu in expected:
        total_values += len(pdu["values"])
        total_bytes += pdu["size"]
    broken = None
    try:
        for num, packet in packets(stream):
            wanted = by_frame.get(num, [])
            found = candidates(packet, args.proto, {pdu["size"] for pdu in wanted})
            protos = [el for el in packet.iter("proto") if el.get("name") == args.proto]
            if len(protos) > len(wanted):
                unexpected += len(protos) - len(wanted)
            for pdu in wanted:
                hit = next((c for c in found if not c.used and c.size == pdu["size"]), None)
                if hit is None:
                    continue
                for c in found:
                    if c.start == hit.start and c.size == hit.size and c is not hit and \
                            c.fields and hit.fields and c.fields[0].raw == hit.fields[0].raw:
                        c.used = True
                hit.used = True
                recognised += 1
                bad, good = [], []
                for val in pdu["values"]:
                    how, note = find_value(hit, val)
                    if how in (SHOWN, FORMATTED):
                        shown += 1
                        formatted += how == FORMATTED
                        good.append((val, how))
                    else:
                        bad.append((val, note))
                cov = covered(hit, 0, pdu["size"])
                covered_bytes += cov
                lines[pdu["pdu"]] = (hit, bad, good, cov)
    except ET.ParseError as e:
        broken = e
    if process:
        status = process.wait()
        if status:
            print(f"the command ended with status {status}", file=sys.stderr)

    if not args.quiet:
        for pdu in expected:
            what = pdu["code_name"] or pdu["operation_name"] or ""
            head = (f"PDU {pdu['pdu']} (packet {pdu['frame']}, {pdu['direction']}, "
                    f"{pdu['command_name']} {what}, {pdu['size']} bytes)")
            if pdu["pdu"] not in lines:
                print(f"{head}: NOT RECOGNISED")
                continue
            _, bad, good, cov = lines[pdu["pdu"]]
            n = len(pdu["values"])
            print(f"{head}: {n - len(bad)} of {n} values, {100 * cov / pdu['size']:.1f} % covered")
            for val, note in bad:
                print(f"    missing {val['name']} = {str(val['value'])[:60]!r} at "
                      f"{val['offset']}+{val['length']}: {note}")
            if args.all:
                for val, how in good:
                    print(f"    {how} {val['name']} = {str(val['value'])[:60]!r}")
    if broken:
        print(f"the PDML is not well-formed: {broken}", file=sys.stderr)
    if formatted:
        print(f"{formatted} of the values shown were compared by their raw bytes only")
    if unexpected:
        print(f"{unexpected} PDUs more than expected")
    percent = 100 * covered_bytes / total_bytes if total_bytes else 100.0
    print(f"{recognised} of {len(expected)} PDUs recognised, {shown} of {total_values} values shown, "
          f"{percent:.1f} % of bytes covered")
    complete = recognised == len(expected) and shown == total_values and not broken
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
