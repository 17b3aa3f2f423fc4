# The plugin as a file: what it exports, whether it is loaded, installed and removed, and how failures are said.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""The build folder is that of IGGY_BUILD_DIR, which CTest sets; without it these tests are skipped."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parent.parent
BUILD = os.environ.get("IGGY_BUILD_DIR")
ENTRY_POINTS = {"plugin_version", "plugin_want_major", "plugin_want_minor", "plugin_register", "plugin_describe"}

pytestmark = pytest.mark.skipif(not BUILD, reason="IGGY_BUILD_DIR is not set")


def run(*command, **environment):
    return subprocess.run([str(part) for part in command], env=dict(os.environ, **environment), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)


def built():
    found = list(Path(BUILD, "plugins").rglob("iggy.so"))
    assert len(found) == 1
    return found[0]


def test_only_the_entry_points_are_exported():
    if os.environ.get("IGGY_PRELOAD"):
        pytest.skip("a sanitizer exports symbols of its own")
    lines = run("nm", "-D", "--defined-only", built()).stdout.splitlines()
    assert {line.split()[-1] for line in lines} == ENTRY_POINTS


def test_a_missing_symbol_would_fail_at_link_time():
    text = Path(BUILD, "build.ninja").read_text() if Path(BUILD, "build.ninja").exists() else ""
    if not text or "fsanitize" in text:
        pytest.skip("not a plain build with Ninja")
    assert "-Wl,-z,defs" in text


def test_tshark_loads_it(tshark):
    lines = [line.split("\t") for line in tshark.run(["-G", "plugins"]).splitlines() if line.startswith("iggy")]
    assert len(lines) == 1
    name, version, kind, path = (part.strip() for part in lines[0])
    assert (name, kind) == ("iggy.so", "dissector")
    assert version.count(".") == 2
    assert path.endswith("/%d.%d/epan/iggy.so" % tshark.version[:2])


@pytest.fixture
def broken_build(tmp_path):
    """A build folder with a plugin that cannot be loaded; open to all, as tshark does not run as root."""
    place = tmp_path / "plugins" / built().parent.relative_to(Path(BUILD, "plugins"))
    place.mkdir(parents=True)
    (place / "iggy.so").write_bytes(b"no shared object")
    return tmp_path


def test_a_plugin_that_is_not_loaded_is_an_error(broken_build):
    result = run(TOP / "tools" / "tshark.sh", "--version", IGGY_BUILD_DIR=str(broken_build), IGGY_PRELOAD="")
    assert result.returncode == 1
    assert result.stdout == ""
    assert len(result.stderr.strip().splitlines()) == 1
    assert "does not load the plugin" in result.stderr


def test_a_build_folder_without_plugin_is_an_error(tmp_path):
    result = run(TOP / "tools" / "tshark.sh", "--version", IGGY_BUILD_DIR=str(tmp_path), IGGY_PRELOAD="")
    assert result.returncode == 1
    assert "build it first" in result.stderr


@pytest.mark.parametrize("found, said", [("", "Thing is missing: version 3.20 or newer is needed"),
                                         ("3.9.6", "Thing 3.9.6 is too old: 3.20 or newer is needed")])
def test_what_is_missing_or_too_old_is_said_in_one_line(found, said):
    result = run("bash", "-c", '. "$1"; need_version Thing 3.20 "$2"', "name.sh", TOP / "tools" / "prepare.sh", found)
    assert result.returncode == 1
    assert result.stderr == "name.sh: " + said + "\n"


@pytest.mark.parametrize("found", ["3.20", "3.20.1", "3.25.1", "4.0"])
def test_what_is_new_enough_is_taken(found):
    result = run("bash", "-c", '. "$1"; need_version Thing 3.20 "$2"', "name.sh", TOP / "tools" / "prepare.sh", found)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.fixture
def build_folder():
    """The build folder; the lists of what was installed from it are left as they were found."""
    if not Path(BUILD, "CMakeCache.txt").exists() or not shutil.which("cmake"):
        pytest.skip("not the build folder of CMake")
    paths = [Path(BUILD, name) for name in ("installed.txt", "install_manifest.txt")]
    before = [path.read_bytes() if path.exists() else None for path in paths]
    yield BUILD
    for path, content in zip(paths, before):
        if content is None:
            path.unlink(missing_ok=True)
        else:
            path.write_bytes(content)


def files_in(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


def uninstall(folder):
    result = run("cmake", "--build", BUILD, "--target", "uninstall", DESTDIR=str(folder))
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_install_and_uninstall(tmp_path, build_folder):
    """In between, CPack runs the same installation into a folder of its own: that is not what is to be removed."""
    installed, packed = tmp_path / "installed", tmp_path / "_CPack_Packages" / "Linux" / "usr"
    result = run("cmake", "--install", build_folder, DESTDIR=str(installed))
    assert result.returncode == 0, result.stderr
    found = [path for path in files_in(installed) if path.name == "iggy.so"]
    assert [path.parts[-3:-1] for path in found] == [(built().parent.parent.name, "epan")]
    assert run("cmake", "--install", build_folder, "--prefix", packed).returncode == 0
    in_package = files_in(packed)
    said = uninstall(installed)
    assert "Removed: " in said and "Nothing to remove" not in said
    assert files_in(installed) == []
    assert files_in(packed) == in_package and in_package
    said = uninstall(installed)
    assert "Nothing to remove" in said and "Removed: " not in said
