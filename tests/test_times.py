# Times of packets that are not of our days: what is shown of one and the next does not depend on them.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later

import shutil
import subprocess

import pytest

from conftest import CAPTURES

SOURCE = CAPTURES / "real012/03_pipeline.pcapng"


# Seconds: nanoseconds since 1970 pass 63 bits in 2262; a pcapng file can tell times up to 2554.
@pytest.mark.parametrize("later", [9_000_000_000, 15_000_000_000])
def test_response_times_of_any_age(tshark, tmp_path, later, two_pass):
    if not shutil.which("editcap"):
        pytest.skip("editcap is not installed")
    moved = tmp_path / "moved.pcapng"
    subprocess.run(["editcap", "-t", str(later), str(SOURCE), str(moved)], check=True, capture_output=True)
    names = ["iggy.response_to", "iggy.response_time", "iggy.response_in"]
    expected = tshark.fields(SOURCE, names, "-Y", "iggy", two_pass=two_pass)
    assert sum(len(row[1]) for row in expected) > 100
    assert tshark.fields(moved, names, "-Y", "iggy", two_pass=two_pass) == expected
