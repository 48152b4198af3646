# SPDX-License-Identifier: LGPL-2.1-or-later
"""The worked example of the protocol, computed by hand."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from pathlib import Path

from gi.repository import Gio
from link import NO_FLAGS, knock_entry, named, trust_key
from transcript import Transcript

ROOT = Path(__file__, "../../..").resolve()
DOCUMENT = ROOT / "docs/protocol.md"
PORT = 45712


def read_example() -> dict[str, str]:
    """The values of the example by their names; a line that is indented goes on with the one before."""
    blocks = DOCUMENT.read_text().split("\n## Worked example\n")[1].split("```")[1::2]
    values: dict[str, str] = {}
    for line in "".join(blocks).splitlines():
        name, _, value = line.partition("  ")
        if name:
            assert name not in values, f"{name} is there twice"
            values[last := name] = value.strip()
        elif line:
            values[last] += value.strip()
    return values


class Example:
    """The example, whose values are texts or bytes."""

    def __init__(self) -> None:
        self.values = read_example()

    def text(self, name: str) -> str:
        return self.values[name]

    def __getitem__(self, name: str) -> bytes:
        return bytes.fromhex(self.values[name])


def test_secret_and_pairing() -> None:
    """The secret, the commitment and the code of the worked example are what their formulas give."""
    example = Example()
    transcript = Transcript(example["EKM"], example.text("id of desk"), example.text("id of lap"))
    transcript.nonce = example["Na"]
    assert transcript.secret == example["K"]
    assert hashlib.sha256(b"handoff secret id 1" + example["K"]).digest()[:8] == example["Secret"]
    assert transcript.commitment() == example["C"]
    assert transcript.code(example["Nb"]).replace(" ", "") == example.text("code")
    number = int.from_bytes(example["code before mod"], "big")
    assert f"{number % 1_000_000:06}" == example.text("code")


def test_opening() -> None:
    """The greeting and the knocks of the worked example are what their formulas give."""
    example = Example()
    desk, exchange = example.text("id of desk"), example["S"] + example["D"]
    assert example["greeting"] == b"HANDOFF1" + example["S"]
    assert example["A"] == named("192.0.2.7", PORT)
    entry = knock_entry(example["K"], desk, example["A"])(exchange)
    assert entry == example["entry"]
    knock = example["knock"]
    assert knock.startswith(b"\x01\x08" + example["D"] + entry) and len(knock) == 18 + 8 * 16
    assert knock_entry(example["K"], desk)(exchange) == example["entry without A"]
    assert trust_key(desk, example.text("id of lap")) == example["key of Trust"]
    assert knock_entry(example["key of Trust"], desk)(exchange) == example["entry of Trust"]
    shown = hmac.digest(example["token"], b"handoff stream 2" + exchange + example["id of desk"], "sha256")[:16]
    assert example["stream knock"] == b"\x02\x01" + example["D"] + shown


def test_messages_and_frames() -> None:
    """The Hello of the worked example is a D-Bus message, and it and the frames hold what they should."""
    example = Example()
    message = Gio.DBusMessage.new_from_blob(example["Hello"], NO_FLAGS)
    assert (message.get_path(), message.get_interface(), message.get_member()) == \
        ("/", "org.example.Handoff.Link", "Hello")
    assert message.get_body().unpack() == \
        (1, {"Paired": True, "Secret": list(example["Secret"]), "Port": PORT})
    assert example["ready"] == b"\x01"
    assert example["frames"] == (2).to_bytes(4, "big") + b"Hi" + bytes(4)
    document, digest = b"Hello", hashlib.sha256(b"Hello").digest()
    assert example["document frames"] == \
        len(document).to_bytes(4, "big") + document + len(digest).to_bytes(4, "big") + digest + bytes(4)


def test_announcement() -> None:
    """The announcement of the worked example holds the tag of its formula, among others in the order of bytes."""
    example = Example()
    label = base64.b32encode(example["instance"]).decode().lower().rstrip("=")
    assert label == example.text("instance as a label")
    assert int.from_bytes(example["hour"], "big") == 495000
    subject = example["id of lap"] + example["instance"] + PORT.to_bytes(2, "big") + example["hour"]
    tag = hmac.digest(example["K"], b"handoff tag 1" + subject, "sha256")[:8]
    assert tag == example["tag"]
    text = example["TXT"]
    assert text.startswith(b"\x03v=1\x42t=")
    tags = [text[start:start + 8] for start in range(7, len(text), 8)]
    assert tag in tags and len(tags) == 8 and tags == sorted(tags)


def test_sections_that_comments_cite() -> None:
    """Each section of the protocol that a comment in the sources cites is there."""
    headings = set(re.findall(r"^#{2,3} (.+)$", DOCUMENT.read_text(), re.MULTILINE))
    cited: dict[str, str] = {}
    for file in ROOT.glob("Sources/**/*.swift"):
        # A comment may break anywhere, so the ends of its lines count as spaces.
        text = re.sub(r"\s*\n\s*///? ?", " ", file.read_text())
        for citation in re.findall(r"protocol\.md,([^)]*)\)", text):
            cited |= dict.fromkeys(re.findall(r'"([^"]+)"', citation) or [citation], file.name)
    assert cited and headings.issuperset(cited), {name: cited[name] for name in cited.keys() - headings}
