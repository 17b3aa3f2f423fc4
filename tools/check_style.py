#!/usr/bin/env python3
# What tools/check-style.sh runs: see there.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs every check on plugin/, prints a line for each, and what was found."""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
PLUGIN = TOP / "plugin"
MAX_LINE, MAX_FUNCTION, MAX_FILE = 130, 60, 900  # 120 is aimed at
REGISTRATION = re.compile(r'\s*\{ "')  # name, filter, type and help of a field: one line each
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")

# Not faults here: callbacks have the signature that Wireshark asks for, and cppcheck does not see Wireshark's macros.
CPPCHECK_SUPPRESSED = ["constParameter", "constParameterCallback", "constParameterPointer", "constVariablePointer",
                       "unusedStructMember", "missingInclude", "missingIncludeSystem", "unknownMacro",
                       "unmatchedSuppression", "normalCheckLevelMaxBranches", "checkersReport"]


def run(command, folder=None):
    """(status, all that the command printed)."""
    result = subprocess.run([str(part) for part in command], cwd=folder and str(folder), stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, errors="replace")
    return result.returncode, result.stdout


def findings(status, output, quiet=r"^$"):
    """The lines that matter: all but those that match `quiet`; a bad status alone is one, too."""
    lines = [line for line in output.splitlines() if line.strip() and not re.search(quiet, line)]
    return lines or (["exit status %d" % status] if status else [])


class Wireshark:
    """Wireshark's checkers, run in a folder that looks to them like its source tree with our files in plugins/epan/iggy."""

    def __init__(self, source, folder):
        self.tree = folder
        self.place = folder / "plugins" / "epan" / "iggy"
        self.place.mkdir(parents=True)
        (folder / "epan" / "dissectors").mkdir(parents=True)
        (folder / "tools").symlink_to(source / "tools")
        (folder / "epan" / "tfs.c").symlink_to(source / "epan" / "tfs.c")
        for path in sorted(PLUGIN.glob("*.[ch]")):
            shutil.copy(path, self.place)
        self.sources = sorted("plugins/epan/iggy/" + path.name for path in PLUGIN.glob("*.c"))
        self.all = self.sources + sorted("plugins/epan/iggy/" + path.name for path in PLUGIN.glob("*.h"))

    def perl(self, script, *arguments, quiet=r"^$"):
        return findings(*run(["perl", "tools/" + script, *arguments], self.tree), quiet=quiet)

    def check_apis(self):
        return self.perl("checkAPIs.pl", "--group", "dissectors-prohibited", "--group", "dissectors-restricted", *self.all)

    def check_hf(self):
        return self.perl("checkhf.pl", *self.sources)

    def check_filter_names(self):
        return self.perl("checkfiltername.pl", *self.sources)

    def check_encodings(self):
        return self.perl("fix-encoding-args.pl", *self.sources)

    def check_licenses(self):
        return self.perl("licensecheck.pl", *self.all, quiet=r": (\*No copyright\* )?GPL \(v2 or later\)\s*$")

    def check_typed_items(self):
        return findings(*run([sys.executable, "tools/check_typed_item_calls.py", "--folder", "plugins/epan/iggy", "--mask",
                              "--label", "--consecutive"], self.tree),
                        quiet=r"^(Looking for files|Examining:|All dissector modules|0 (warnings|errors))")

    def check_tfs(self):
        found = []
        for name in self.sources:
            found += findings(*run([sys.executable, "tools/check_tfs.py", "--file", "../../" + name, "--common"], self.tree),
                              quiet=r"^(Examining:|(epan/dissectors/)?\.\./\.\./plugins/\S+\s*$|0 (issues|warnings) found)")
        return found


def check_cppcheck():
    suppressed = ["--suppress=" + name for name in CPPCHECK_SUPPRESSED]
    return findings(*run(["cppcheck", "-j", str(os.cpu_count() or 1), "--quiet", "--std=c11", "--inline-suppr",
                          "--enable=warning,style,performance,portability", "--template={file}:{line}: {message} [{id}]",
                          "--error-exitcode=2", "-I", PLUGIN, *suppressed, *sorted(PLUGIN.glob("*.c"))]))


def check_analyser(build):
    """clang's analyser on each file, with the options that the build compiles it with."""
    entries = json.loads((build / "compile_commands.json").read_text())
    commands = []
    for entry in entries:
        if Path(entry["file"]).parent != PLUGIN:
            continue
        options = [part for part in shlex.split(entry["command"])[1:] if re.match(r"-[ID]|-isystem|-std=|/", part)]
        options = [part for part in options if not part.endswith((".c", ".o", ".d"))]
        commands.append(["clang", "--analyze", "--analyzer-output", "text", "-Xclang", "-analyzer-werror", *options,
                         entry["file"]])
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        results = list(pool.map(run, commands))
    if not results:
        return ["no file of plugin/ in compile_commands.json"]
    return [line for status, output in results for line in findings(status, output)]


def long_functions(path, lines):
    """Functions over the limit: from the "{" to the "}" in column 0. Registration is lists, and may be long."""
    start = name = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
            head = number - 2  # the declaration: up to the line that begins in column 0
            while head > 0 and lines[head].startswith(" "):
                head -= 1
            name = (re.findall(r"(\w+)\(", lines[head]) or ["?"])[0]
        elif line.startswith("}") and start:
            if number - start - 1 > MAX_FUNCTION and "regist" not in name and "handoff" not in name:
                yield "%s:%d: %s has %d lines, over %d" % (path.name, start, name, number - start - 1, MAX_FUNCTION)
            start = None


def check_files():
    """The house rules that no other tool knows."""
    found = []
    for path in sorted([*PLUGIN.glob("*.[ch]"), *TOP.glob("tests/unit/*.c")]):
        lines = path.read_text().splitlines()
        if not any("SPDX-License-Identifier: GPL-2.0-or-later" in line for line in lines[:20]):
            found.append("%s: no SPDX line in its head" % path.name)
        if len(lines) > MAX_FILE:
            found.append("%s: %d lines, over %d" % (path.name, len(lines), MAX_FILE))
        for number, line in enumerate(lines, 1):
            where = "%s:%d: " % (path.name, number)
            if len(line) > MAX_LINE and not REGISTRATION.match(line):
                found.append(where + "%d characters, over %d" % (len(line), MAX_LINE))
            if "\t" in line or line != line.rstrip():
                found.append(where + "tab, or space at the end")
            if UNFINISHED.search(line):
                found.append(where + "unfinished: " + line.strip())
            if re.match(r"\s*#\s*(el)?if.*(WIRESHARK_VERSION|IGGY_WS_AT_LEAST)", line) and not path.stem.endswith("compat"):
                found.append(where + "asks for a version of Wireshark; only packet-iggy-compat.h may")
        found += long_functions(path, lines)
    return found


def check_list():
    """plugin/CMakeLists.txt names every source file, in order."""
    listed = re.findall(r"^    (packet-iggy\S*\.c)$", (PLUGIN / "CMakeLists.txt").read_text(), re.M)
    there = {path.name for path in PLUGIN.glob("*.c")}
    found = ["%s is not in plugin/CMakeLists.txt" % name for name in sorted(there - set(listed))]
    return found + ([] if listed[1:] == sorted(listed[1:]) else ["the list in plugin/CMakeLists.txt is not in order"])


def check_fields():
    """Each field is registered once and used: checkhf.pl looks at static ones only."""
    text = "\n".join(path.read_text() for path in sorted(PLUGIN.glob("*.[ch]")))
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    defined = re.findall(r"^(?:static )?int\s+(hf_\w+)\s*=", text, re.M)
    registered = re.findall(r"&\s*(hf_\w+)\s*,\s*\{\s*\"", text)
    found = ["%s is defined %d times" % (name, defined.count(name)) for name in sorted(set(defined)) if defined.count(name) > 1]
    for name in sorted(set(defined)):
        if registered.count(name) != 1:
            found.append("%s is registered %d times" % (name, registered.count(name)))
        others = len(re.findall(r"\b%s\b" % name, text)) - len(re.findall(r"^extern int\s+%s;" % name, text, re.M))
        if others <= defined.count(name) + registered.count(name):
            found.append("%s is registered, and used nowhere" % name)
    return found + ["%s is registered, and defined nowhere" % name for name in sorted(set(registered) - set(defined))]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--wireshark", required=True, help="Wireshark's source; empty: not to be had")
    options = parser.parse_args()
    missing = []
    with tempfile.TemporaryDirectory(prefix="iggy-style-") as folder:
        checks = [("house rules", check_files), ("fields", check_fields), ("list of files", check_list)]
        if options.wireshark:
            theirs = Wireshark(Path(options.wireshark).resolve(), Path(folder))
            checks += [("checkAPIs.pl", theirs.check_apis), ("checkhf.pl", theirs.check_hf),
                       ("checkfiltername.pl", theirs.check_filter_names), ("fix-encoding-args.pl", theirs.check_encodings),
                       ("licensecheck.pl", theirs.check_licenses), ("check_typed_item_calls.py", theirs.check_typed_items),
                       ("check_tfs.py", theirs.check_tfs)]
        else:
            missing.append("Wireshark's source")
        if shutil.which("cppcheck"):
            checks.append(("cppcheck", check_cppcheck))
        else:
            missing.append("cppcheck")
        if shutil.which("clang"):
            checks.append(("clang's analyser", lambda: check_analyser(options.build)))
        else:
            missing.append("clang")
        dirty = False
        for name, check in checks:
            found = check()
            dirty = dirty or bool(found)
            print("%-28s %s" % (name, "%d findings" % len(found) if found else "clean"), flush=True)
            for line in found:
                print("    " + line)
    if missing:
        print("not to be had, so not run:   " + ", ".join(missing))
    return 1 if dirty else 77 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
