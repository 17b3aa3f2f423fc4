# The drift alarm, on published sources made up for the test.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""tools/drift.py finds what is missing and what changed, and its exit status tells."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parent.parent
DRIFT = TOP / "tools" / "drift.py"

CODES = """
pub const PING_CODE: u32 = 1;
// pub const OLD_CODE: u32 = 2;
pub const SEND_MESSAGES_CODE: u32 = 101;
"""
OPERATIONS = """
#[repr(u8)]
pub enum Operation {
    /// Stands = 9 for nothing.
    Reserved = 0,
    Register = 1,
    SendMessages = 160,
}
"""
COMMANDS = "pub enum Command {\n    Request = 5,\n    PrepareOk = 7,\n}\n"
REASONS = "pub enum EvictionReason {\n    NoSession = 1,\n}\n"
VERSION = "pub const IGGY_PROTOCOL_VERSION: u32 = pack_protocol_version(0, 12, 2);\n"
ERRORS = """
pub enum IggyError {
    #[error("Error")]
    Error = 1,
    #[error("Invalid version: {0}")]
    InvalidVersion(String) = 7,
}
"""


def crate(folder, name, files):
    (folder / name / "src").mkdir(parents=True)
    (folder / name / "Cargo.toml").write_text('[package]\nname = "%s"\nversion = "9.9.9"\n' % name)
    for file, text in files.items():
        (folder / name / "src" / file).write_text(text)
    return folder / name


def drift(folder, plugin=None, **changes):
    texts = dict(codes=CODES, operation=OPERATIONS, command=COMMANDS, header=REASONS, version=VERSION, error=ERRORS)
    texts.update(changes)
    protocol = crate(folder, "iggy_binary_protocol",
                     {name + ".rs": texts[name] for name in ("codes", "operation", "command", "header", "version")})
    common = crate(folder, "iggy_common", {"error.rs": texts["error"]})
    command = [sys.executable, str(DRIFT), "--protocol", str(protocol), "--common", str(common)]
    return subprocess.run(command + (["--plugin", str(plugin)] if plugin else []), text=True, capture_output=True)


def test_nothing_to_report(tmp_path):
    result = drift(tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "iggy_binary_protocol 9.9.9, iggy_common 9.9.9" in result.stdout
    assert "command codes: 2 published, 0 missing, 0 changed" in result.stdout
    assert "error codes: 2 published, 0 missing, 0 changed" in result.stdout
    assert result.stdout.endswith("No drift\n")


@pytest.mark.parametrize("part, text, line", [
    ("codes", CODES + "pub const SHINY_NEW_CODE: u32 = 4711;\n", "missing: 4711 shiny_new"),
    ("codes", CODES.replace("SEND_MESSAGES", "PUT_MESSAGES"), "changed: 101 is put_messages, the table says send_messages"),
    ("operation", OPERATIONS.replace("= 160", "= 199"), "missing: 199 send_messages"),
    ("command", COMMANDS.replace("}", "    Gossip = 37,\n}"), "missing: 37 gossip"),
    ("header", REASONS.replace("}", "    BadMood = 99,\n}"), "missing: 99 bad_mood"),
    ("error", ERRORS.replace("InvalidVersion(String) = 7,", "InvalidMood { a: u8 } = 7,"),
     "changed: 7 is invalid_mood, the table says invalid_version"),
    ("version", VERSION.replace("12, 2", "13, 0"), "missing: 13312 0.13.0"),
])
def test_each_kind_of_drift(tmp_path, part, text, line):
    result = drift(tmp_path, **{part: text})
    assert result.returncode == 1, result.stdout + result.stderr
    assert line in result.stdout
    assert result.stdout.endswith("Drift: the tables lag behind\n")


def test_status_2_where_it_cannot_be_told(tmp_path):
    result = drift(tmp_path, codes="pub const NOTHING: u32 = 1;\n")
    assert result.returncode == 2
    assert "drift.py: " in result.stderr


def test_status_2_without_tables(tmp_path):
    (tmp_path / "empty").mkdir()
    assert drift(tmp_path, plugin=tmp_path / "empty").returncode == 2


@pytest.mark.skipif(os.environ.get("IGGY_DRIFT") != "1" or not shutil.which("cargo"),
                    reason="asks the registry: only with IGGY_DRIFT=1")
def test_the_newest_published():
    result = subprocess.run([sys.executable, str(DRIFT)], text=True, capture_output=True)
    assert result.returncode == 0, result.stdout + result.stderr
