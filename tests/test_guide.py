# The guide: every command in it prints what stands below it; the profile, the field reference and the made capture are right.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/guide.md has blocks of commands (sh), each followed by a block of what they print (text).

White space, lines that only rule off, and how a place in the menu is printed ("A/B", since 4.4 "A / B") do not count.
"""

import collections
import os
import re
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path

import make_incident
import pytest
import synth

TOP = Path(__file__).resolve().parent.parent
GUIDE = (TOP / "docs" / "guide.md").read_text()
BLOCKS = re.findall(r"```sh\n([^`]*)```\n\n```text\n([^`]*)```", GUIDE)
PROFILE = TOP / "profile" / "Iggy"


def plain(text):
    lines = [re.sub(r"\s+", " ", line).strip().replace("Iggy / ", "Iggy/") for line in text.split("\n")]
    return [line for line in lines if line.strip("=-")]


@pytest.fixture(scope="module")
def shell(tshark):
    """Runs commands in a folder that looks like the repository, with a `tshark` that has the plugin."""
    folder = Path(tempfile.mkdtemp(dir=tshark.folder))
    for capture in set(re.findall(r"captures/\S+?\.pcap(?:ng)?", GUIDE)):
        (folder / capture).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(TOP / capture, folder / capture)
    (folder / "bin").mkdir()
    words = " ".join("'%s'" % word for word in tshark._command([]))
    (folder / "bin" / "tshark").write_text('#!/bin/sh\nexec %s -n "$@"\n' % words)
    for path in folder.rglob("*"):
        path.chmod(0o755)
    folder.chmod(0o777)

    def run(command):
        environment = dict(tshark.environment, PATH="%s:%s" % (folder / "bin", os.environ["PATH"]))
        return subprocess.run(["bash", "-e", "-c", command], env=environment, cwd=folder, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=300)
    return run


def test_the_guide_has_ten_questions():
    questions = re.findall(r"^## (\d+)\. .*\?$", GUIDE, re.MULTILINE)
    assert questions == [str(number) for number in range(1, 11)]
    for part in re.split(r"^## ", GUIDE, flags=re.MULTILINE):
        if re.match(r"\d", part):
            assert "```sh" in part and "```text" in part


@pytest.mark.parametrize("command, output", BLOCKS, ids=range(len(BLOCKS)))
def test_a_command_prints_what_the_guide_says(shell, command, output):
    result = shell(command)
    assert result.returncode == 0, result.stderr
    assert plain(result.stdout) == plain(output)
    assert plain(output)


def test_what_the_guide_names_is_there(tshark):
    """Fields, expert items and statistics that the text mentions."""
    known = {line.split("\t")[2] for line in tshark.run(["-G", "fields"]).split("\n") if line.startswith(("F\t", "P\t"))}
    named = set(re.findall(r"\biggy(?:\.[a-z_0-9]+)+\b", GUIDE))
    assert len(named) > 20
    assert {name for name in named if name not in known} == set()
    help_text = tshark._plain(["-z", "help"])
    for name in re.findall(r"`(iggy\w*,(?:tree|srt|topics|clients))`", GUIDE):
        assert re.search(r"^\s*%s$" % name, help_text.stdout + help_text.stderr, re.MULTILINE)


def test_links_and_pictures_are_there():
    for target in re.findall(r"\]\(([^)#:]+)\)", GUIDE):
        assert (TOP / "docs" / target).exists(), target
    for picture in re.findall(r"!\[[^]]*\]\(([^)]+)\)", GUIDE):
        head = (TOP / "docs" / picture).read_bytes()[:24]
        width, height = struct.unpack(">II", head[16:24])
        assert head[:8] == b"\x89PNG\r\n\x1a\n" and width >= 800 and height >= 400


def test_the_made_capture_is_the_made_one(tmp_path):
    make_incident.make(tmp_path / "incident.pcap")
    assert (tmp_path / "incident.pcap").read_bytes() == (TOP / "captures" / "made" / "incident.pcap").read_bytes()


# --- the field reference -----------------------------------------------------------------------------------------------
def test_the_field_reference_is_complete(tshark):
    """Each name once, with its own type; the committed file is what the script makes of this plugin (Wireshark 4.0)."""
    text = (TOP / "docs" / "fields.md").read_text()
    rows = re.findall(r"^\| `(iggy[^`]*)` \| ([^|]*) \|", text, re.MULTILINE)
    expected = {}
    for line in tshark.run(["-G", "fields"]).split("\n"):
        parts = line.split("\t")
        if parts[0] == "F" and (parts[2] == "iggy" or parts[2].startswith("iggy.")):
            expected.setdefault(parts[2], parts[1])
    assert collections.Counter(name for name, _ in rows) == collections.Counter(expected.keys())
    assert dict(rows) == {name: label.replace("|", "\\|") for name, label in expected.items()}


# --- the profile -------------------------------------------------------------------------------------------------------
def colour_rules():
    return re.findall(r"^@([^@]+)@(.*)@\[(\d+,\d+,\d+)\]\[(\d+,\d+,\d+)\]$", (PROFILE / "colorfilters").read_text(), re.MULTILINE)


def buttons():
    rows = re.findall(r'^"TRUE","([^"]*)","([^"]*)","([^"]*)"$', (PROFILE / "dfilter_buttons").read_text(), re.MULTILINE)
    return [(label, expression.replace("\\x22", '"'), comment) for label, expression, comment in rows]


CAPTURES = ["real012/05_errors.pcapng", "real012/06_reconnect.pcapng", "real/12b_cluster_restart.pcapng", "made/incident.pcap",
            "real/01_admin_rust.pcapng", "real/13_cluster_writes.pcapng", "real012/07_legacy.pcapng", "codec/client-0.12.2.pcap",
            "real/03b_errors_raw.pcapng"]


def write_broken(path):
    """A batch whose message has a wrong checksum."""
    capture = synth.Capture()
    connection = capture.connection()
    connection.client(synth.request(synth.login_body(), operation=1, request=0))
    connection.server(synth.reply(synth.login_reply(), operation=1, request=0))
    message = bytearray(synth.message(b"payload"))
    message[50] ^= 1
    connection.client(synth.request(synth.send_body("s", "t", 1, synth.batch([bytes(message)])), operation=160, request=1, session=1))
    return capture.write(path)


@pytest.mark.parametrize("name, expression", [rule[:2] for rule in colour_rules()] + [rule[:2] for rule in buttons()])
def test_each_filter_of_the_profile_finds_something(tshark, tmp_path, name, expression):
    for capture in [*CAPTURES, write_broken(tmp_path / "broken.pcap")]:
        if tshark.fields(capture, ["frame.number"], "-Y", expression, two_pass=True, check=False):
            return
    pytest.fail("%s finds nothing in any of the captures" % name)


def test_the_profile_is_whole():
    text = (PROFILE / "colorfilters").read_text()
    assert len(colour_rules()) == len([line for line in text.split("\n") if line.startswith("@")]) > 10
    text = (PROFILE / "dfilter_buttons").read_text()
    assert len(buttons()) == len([line for line in text.split("\n") if line.startswith('"')]) > 10
    assert {"Errors", "Evictions", "Retries", "Slow", "No reply"} <= {label for label, _, _ in buttons()}


def in_profile(tshark, *arguments):
    """tshark with the profile, as the guide installs it."""
    target = Path(tshark.environment["WIRESHARK_CONFIG_DIR"]) / "profiles" / "Iggy"
    shutil.copytree(PROFILE, target, dirs_exist_ok=True)
    for path in [target, *target.parents[:3], *target.iterdir()]:
        path.chmod(0o755)
    return tshark.run(["-C", "Iggy", "-n", *arguments])


def test_columns_of_the_profile(tshark):
    line = in_profile(tshark, "-r", tshark.readable("made/incident.pcap"), "-Y", "frame.number == 343 || frame.number == 344",
                      "-T", "tabs").split("\n")
    assert re.sub(r"[\t ]+", " ", line[0]).strip() == (
        "343 9.500800 10.0.0.17 → 10.0.0.2 Iggy 2 send_messages shop orders 0 1 "
        "Request #2 send_messages shop/orders partition 0, 1 message, 13 B").replace(" → ", " → ")
    assert "transient_not_committed" in line[1] and "0.000200000" in line[1]


def test_colours_of_the_profile(tshark, monkeypatch):
    monkeypatch.setitem(tshark.environment, "COLORTERM", "truecolor")
    text = in_profile(tshark, "--color", "-r", tshark.readable("real012/05_errors.pcapng"), "-T", "fields", "-e", "frame.number",
                      "-e", "frame.coloring_rule.name")
    names = dict(line.split("\t") for line in re.sub(r"\x1b\[[0-9;]*m", "", text).strip().split("\n") if "\t" in line)
    assert names["23"] == "Iggy eviction" and names["76"] == "Iggy error" and names["18"] == "Iggy heartbeat"
    assert names["8"] == names["10"] == "Iggy" and names["1"] == "TCP SYN/FIN"
