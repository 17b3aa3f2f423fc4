# Hostile bytes and foreign traffic, in short: the commands of tests/fuzz and tests/negative run them at length.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""How long each part may take is set by environment variables; the numbers in README.md are those of long runs.

    IGGY_FUZZ_SECONDS    coverage-guided fuzzing, default 90; 0 leaves it out
    IGGY_ERRORS_SECONDS  random byte errors (editcap -E), default 30
    IGGY_DAMAGE_EVERY    structure-aware damage: one case in so many, default 40; 1 for all
    IGGY_NEGATIVE        folders with captures of other protocols, parted by ":"
"""

import os
import shutil
import subprocess
import time

import pytest

import claims
import damage
import editcap_errors
import loss
from conftest import HERE


def setting(name, default):
    return int(os.environ.get(name, default))


def test_fuzzing_finds_nothing(tmp_path):
    seconds = setting("IGGY_FUZZ_SECONDS", 90)
    if not seconds:
        pytest.skip("IGGY_FUZZ_SECONDS is 0")
    if not shutil.which("clang"):
        pytest.skip("clang is not installed")
    environment = dict(os.environ, IGGY_FUZZ_DIR=os.environ.get("IGGY_FUZZ_DIR", str(tmp_path)))
    for arguments in (["--check"], [str(seconds)]):
        result = subprocess.run([str(HERE / "fuzz/run.sh"), *arguments], env=environment, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, errors="replace", timeout=seconds + 1200)
        if result.returncode == 77:
            pytest.skip(result.stdout.strip())
        assert result.returncode == 0, result.stdout[-4000:]


def test_random_errors(tshark, tmp_path):
    tried, _, findings = editcap_errors.run(tshark, setting("IGGY_ERRORS_SECONDS", 30), seed=1, keep=tmp_path)
    assert tried >= len(editcap_errors.all_captures())
    assert findings == []


def test_random_errors_end_in_time(tshark, tmp_path):
    """The command went on until a whole round was done, for half an hour."""
    begun = time.monotonic()
    tried, runs, findings = editcap_errors.run(tshark, 3, seed=2, keep=tmp_path, whole=True)
    assert time.monotonic() - begun < 60
    assert 1 <= tried < len(editcap_errors.all_captures()) * len(editcap_errors.RATES)
    assert tried <= runs <= tried * len(editcap_errors.WAYS)
    assert findings == []


def test_damaged_fields_cost_one_frame(tshark):
    total, failures, slowest = damage.run(tshark, setting("IGGY_DAMAGE_EVERY", 40))
    print("%d damaged frames, slowest batch %.1f ms a case" % (total, 1000 * slowest))
    assert total > 1000
    assert failures == []
    assert slowest < damage.TIME_A_CASE


def test_sizes_that_are_too_small(tshark):
    """
    The rest of a body came to be taken for a header: it was waited for (a size one too small is read as 65536 in the next
    header), or shown as a frame that nobody sent.
    """
    total, failures, _ = damage.run(tshark, 5, only="header.size=")
    assert total > 1500
    assert failures == []


CHOSEN = ("01_admin_rust", "02_produce_consume_rust", "12c_cluster_startup_auth", "13_cluster_writes", "22_other_port", "03_pipeline",
          "06_reconnect")


@pytest.fixture(scope="module")
def losses(tshark):
    sums = loss.run(tshark, short=True, chosen=[path for path in loss.sources() if path.stem in CHOSEN])
    print(loss.table(sums))
    return sums


# What TCP hands on: all of a capture with lost or doubled packets; of moved segments all only with its own reassembly.
WHOLE = ["dropped  5 %", "doubled  5 %", "doubled  5 %, reassembled", "moved  5 %, reassembled", "half", "begun"]


@pytest.mark.parametrize("label", [*WHOLE, "dropped  5 %, reassembled", "moved  5 %", "snaplen 400"])
def test_every_undamaged_frame_is_found(losses, label):
    assert losses[label].expected > 100
    assert losses[label].found == losses[label].expected


@pytest.mark.parametrize("label", WHOLE)
def test_tcp_hands_on_every_whole_frame(losses, label):
    """That it withholds nothing there is what README.md says."""
    assert losses[label].expected == losses[label].present


def test_no_frame_is_invented(losses):
    assert {label: result.invented for label, result in losses.items() if result.invented} == {}


@pytest.mark.parametrize("label", ["dropped  5 %", "doubled  5 %", "moved  5 %", "moved  5 %, reassembled", "begun"])
def test_no_reply_is_linked_wrongly(losses, label):
    assert losses[label].replies > 100
    assert losses[label].wrong == 0


def test_foreign_traffic_is_left_alone(tshark):
    folders = [folder for folder in os.environ.get("IGGY_NEGATIVE", "").split(":") if folder]
    captures, packets, faults = claims.run(tshark, folders)
    assert captures >= 3 and packets > 5000
    assert faults == []
