# Fixtures: tshark with the plugin, and readers of what it prints.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""How the tests run tshark.

Where the plugin comes from (the first that is set):

    IGGY_INSTALLED=1    the plugin that is installed
    IGGY_PLUGIN=FILE    this iggy.so
    IGGY_BUILD_DIR=DIR  the iggy.so below this build folder

IGGY_TSHARK=FILE uses another tshark than the one on the PATH. IGGY_PRELOAD=FILE is preloaded into it (the runtime of a
sanitizer).

Wireshark reads no plugins from WIRESHARK_PLUGIN_DIR as root; there tshark runs as an unprivileged user, on copies of the
captures that this user may read.
"""

import collections
import copy
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
CAPTURES = HERE.parent / "captures"
for folder in ("tools", "fuzz", "negative", "bench"):
    sys.path.insert(0, str(HERE / folder))

NOBODY = 65534
BROKEN = re.compile(r"dissector bug|\*\* ?(?:ERROR|CRITICAL|WARNING)|\b(?:ERROR|CRITICAL|WARNING)\]|assertion|Sanitizer",
                    re.IGNORECASE)

# One frame as the dissector shows it: `values` are all texts (PDML "show") of each field, in order.
Frame = collections.namedtuple("Frame", "packet values element")


class DissectorFault(AssertionError):
    """A dissector bug, something malformed, or a tshark that failed."""


class Tshark:
    def __init__(self):
        self.program = os.environ.get("IGGY_TSHARK") or shutil.which("tshark")
        if not self.program:
            raise RuntimeError("tshark is not installed")
        self.root = os.geteuid() == 0
        self.folder = Path(tempfile.mkdtemp(prefix="iggy-tests-"))
        self.folder.chmod(0o755)
        self.copies, self.serial = {}, itertools.count(1)
        self.environment = dict(os.environ, WIRESHARK_CONFIG_DIR=str(self.folder / "config"), TZ="UTC", LC_ALL="C.UTF-8")
        if self.root:
            self.environment["HOME"] = "/nonexistent"
        version = re.search(r"(\d+)\.(\d+)\.(\d+)", self._plain(["--version"]).stdout)
        self.version = tuple(int(part) for part in version.groups())
        self.plugin = self._stage_plugin()
        if not re.search(r"\tiggy\tiggy(\t|$)", self._plain(["-G", "protocols"]).stdout, re.IGNORECASE | re.MULTILINE):
            raise RuntimeError("the plugin is not loaded by %s (%s)" % (self.program, self.plugin or "installed"))

    def with_environment(self, **variables):
        """The same tshark with more environment variables."""
        other = copy.copy(self)
        other.environment = dict(self.environment, **variables)
        return other

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def _stage_plugin(self):
        if os.environ.get("IGGY_INSTALLED") == "1":
            return None
        source = os.environ.get("IGGY_PLUGIN")
        if not source:
            build = os.environ.get("IGGY_BUILD_DIR")
            found = sorted(Path(build).rglob("iggy.so"), key=lambda path: path.stat().st_mtime) if build else []
            if not found:
                raise RuntimeError("no iggy.so: set IGGY_BUILD_DIR, IGGY_PLUGIN or IGGY_INSTALLED=1")
            source = found[-1]
        place = self.folder / "plugins" / ("%d.%d" % self.version[:2]) / "epan"
        place.mkdir(parents=True)
        shutil.copyfile(source, place / "iggy.so")
        (place / "iggy.so").chmod(0o755)
        self.environment["WIRESHARK_PLUGIN_DIR"] = str(self.folder / "plugins")
        return source

    def _command(self, arguments):
        command = [str(self.program)] + [str(argument) for argument in arguments]
        if os.environ.get("IGGY_PRELOAD"):
            command = ["env", "LD_PRELOAD=" + os.environ["IGGY_PRELOAD"]] + command
        if self.root:
            command = ["setpriv", "--reuid=%d" % NOBODY, "--regid=%d" % NOBODY, "--clear-groups"] + command
        return command

    def _plain(self, arguments, timeout=300):
        return subprocess.run(self._command(arguments), env=self.environment, cwd=str(self.folder), timeout=timeout,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")

    def readable(self, capture):
        """A name under which tshark can open the capture; relative names are those below captures/."""
        path = Path(capture)
        path = path if path.is_absolute() else CAPTURES / path
        if not self.root:
            return path
        key = (path, path.stat().st_mtime_ns, path.stat().st_size)
        if key not in self.copies:
            twin = self.folder / ("%d-%s" % (next(self.serial), path.name))
            shutil.copyfile(path, twin)
            twin.chmod(0o644)
            self.copies[key] = twin
        return self.copies[key]

    def forget(self, capture):
        """Drop the copy of a capture that is not needed any more."""
        for key in [key for key in self.copies if key[0] == Path(capture)]:
            self.copies.pop(key).unlink(missing_ok=True)

    def run(self, arguments, timeout=300, check=True):
        """Run tshark; its output. Fails if tshark does, or if it speaks of a dissector bug."""
        result = self._plain(arguments, timeout)
        if check:
            if result.returncode:
                raise DissectorFault("tshark %s: status %d\n%s" % (" ".join(map(str, arguments)), result.returncode,
                                                                  result.stderr[-2000:]))
            if BROKEN.search(result.stderr):
                raise DissectorFault(result.stderr[-2000:])
        return result.stdout

    def read(self, capture, *options, two_pass=False, check=True, timeout=300):
        """tshark -r capture with options."""
        passes = ["-2"] if two_pass else []
        return self.run(["-n", "-r", self.readable(capture), *passes, *options], timeout, check)

    def fields(self, capture, names, *options, two_pass=False, check=True):
        """One row a packet that the options let through: for each name the list of its values in the packet."""
        watch = ["frame.number", "_ws.malformed"]
        columns = [part for name in watch + list(names) for part in ("-e", name)]
        text = self.read(capture, "-T", "fields", "-E", "separator=\x1f", "-E", "aggregator=\x1e", "-E", "occurrence=a",
                         *columns, *options, two_pass=two_pass, check=check)
        rows = []
        for line in text.split("\n"):
            if not line:
                continue
            values = [part.split("\x1e") if part else [] for part in line.split("\x1f")]
            if check and values[1]:
                raise DissectorFault("packet %s is malformed: %s" % (values[0], values[1]))
            rows.append(values[2:])
        return rows

    def json_of(self, capture, *options, two_pass=False, check=True):
        """The packets of -T json, repeated keys as arrays."""
        text = self.read(capture, "-T", "json", "--no-duplicate-keys", *options, two_pass=two_pass, check=check)
        if check:
            self.sound(text)
        return [packet["_source"]["layers"] for packet in json.loads(text or "[]")]

    def pdml(self, capture, *options, two_pass=False, check=True):
        """(packet number, element) of every packet."""
        text = self.read(capture, "-T", "pdml", *options, two_pass=two_pass, check=check)
        if check:
            self.sound(text)
        out = []
        for packet in ET.fromstring(text).iter("packet"):
            number = next(field.get("show") for field in packet.iter("field") if field.get("name") == "num")
            out.append((int(number), packet))
        return out

    def frames(self, capture, *options, two_pass=False, check=True):
        """Every Iggy frame of the capture, a list of Frame in order of the packets."""
        out = []
        for number, packet in self.pdml(capture, *options, two_pass=two_pass, check=check):
            for proto in packet.iter("proto"):
                if proto.get("name") != "iggy":
                    continue
                values = collections.defaultdict(list)
                for field in proto.iter("field"):
                    if field.get("name"):
                        values[field.get("name")].append(field.get("show"))
                if "iggy.size" in values:
                    out.append(Frame(number, values, proto))
        return out

    def info(self, capture, *options, two_pass=False):
        """The Info column of every packet."""
        name = "_ws.col.info" if self.version >= (4, 2) else "_ws.col.Info"
        lines = [" ".join(row[0]) for row in self.fields(capture, [name], *options, two_pass=two_pass)]
        return [line.replace("\\\\", "\\") for line in lines] if self.version >= (4, 2) else lines  # -T fields escapes since

    def verbose(self, capture, *options, two_pass=False):
        """-V: the whole tree as text."""
        text = self.read(capture, "-V", *options, two_pass=two_pass)
        self.sound(text)
        return text

    @staticmethod
    def sound(text):
        """Fails if the text of a dissection has something malformed or a dissector bug."""
        found = re.search(r"Malformed Packet|Dissector bug|_ws\.malformed", text)
        if found:
            raise DissectorFault(text[max(0, found.start() - 500):found.end() + 500])


@pytest.fixture(scope="session")
def tshark():
    try:
        runner = Tshark()
    except RuntimeError as fault:
        pytest.exit(str(fault), returncode=3)  # every test would say the same
    yield runner
    runner.close()


@pytest.fixture(scope="session")
def sharkd(tshark):
    """Wireshark's server with the plugin."""
    program = shutil.which("sharkd")
    if not program:
        pytest.skip("sharkd is not installed")
    server = copy.copy(tshark)
    server.program = program
    return server


@pytest.fixture(scope="session")
def captures():
    """The folder of the captures."""
    return CAPTURES


@pytest.fixture(params=[False, True], ids=["one-pass", "two-pass"])
def two_pass(request):
    return request.param
