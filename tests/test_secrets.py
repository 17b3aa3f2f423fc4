# The preference that hides secrets hides them also where a body does not fit its layout.
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
"""Logins that are whole, cut short, and followed by bytes that do not belong to them."""

import pytest
import synth

SECRET = "hush-hush-hush"
WHOLE = synth.login_body(password=SECRET)
BODIES = {
    "whole": WHOLE,
    "cut": WHOLE[:-2],                    # the context's length is cut: the password stands before the misfit
    "cut in it": WHOLE[:-4 - 3],          # the password itself runs past the body
    "more behind it": WHOLE + SECRET.encode(),
}


def shown(tshark, tmp_path, body, hide):
    capture = synth.Capture()
    capture.connection(server_port=8090).client(synth.request(body, operation=1, request=0))
    path = capture.write(tmp_path / "login.pcap")
    text = tshark.read(path, "-V", "-O", "iggy", "-o", "iggy.hide_secrets:%s" % ("TRUE" if hide else "FALSE"))
    assert "Apache Iggy" in text
    return text


@pytest.mark.parametrize("name", BODIES)
def test_no_secret_is_shown(tshark, tmp_path, name):
    part = SECRET[:8]
    open_text, hidden = (shown(tshark, tmp_path, BODIES[name], hide) for hide in (False, True))
    assert part in open_text or part.encode().hex() in open_text
    assert part not in hidden and part.encode().hex() not in hidden
