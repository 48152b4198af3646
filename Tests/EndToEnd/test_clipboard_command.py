# SPDX-License-Identifier: LGPL-2.1-or-later
"""The commands that paste what was copied on another device, and send what was copied here."""

from __future__ import annotations

import json
import os

from gi.repository import GLib
from buses import BUS, wait
from choices import choose
from link import Device
from notifications import AGENT
from played_clipboard import PlayedClipboard
from support import Machine, case, pair, start_machine
from terminal import Terminal
from test_command import done

Machines = tuple[Machine, Machine]

WORDS = "Grüße aus dem Büro"
TEXT, PAGE = WORDS.encode(), b"<b>Gr&uuml;&szlig;e</b>"
PICTURE = b"\x89PNG\r\n\x1a\n" + os.urandom(492)
# More than fits into an answer of a peer.
SCREENSHOT = PICTURE + os.urandom(1 << 20)


def printed_by(machine: Machine, command: str) -> bytes:
    """The bytes that a command of a shell has written to standard output, and no word beside them."""
    file = machine.folder / "printed"
    result = machine.run("sh", "-c", f"({command}) >'{file}'")
    assert (result.returncode, result.stderr) == (0, ""), result
    return file.read_bytes()


def failure(machine: Machine, *command: str) -> tuple[int, str, str]:
    """The status with which a command of handoff fails, the name of the failure, and what is said of it."""
    result = machine.run("handoff", *command, "--json")
    error = json.loads(result.stdout or result.stderr.splitlines()[0])["error"]
    assert error["message"] in result.stderr and error["exitStatus"] == result.returncode, result
    return result.returncode, error["name"], error["message"]


def clipboards(one: Machine, other: Machine) -> tuple[PlayedClipboard, PlayedClipboard]:
    """The clipboards of two machines."""
    return PlayedClipboard(one), PlayedClipboard(other)


def test_paste(machines: Machines) -> None:
    """“handoff paste” puts what was copied on the device that is connected, or named, into the clipboard here, and says in a
    line what it is, not what is in it."""
    desk, lap = machines
    there, here = clipboards(desk, lap)
    there.contents = {"text/plain": TEXT, "text/html": PAGE}
    assert done(lap.run("handoff", "paste")) == f"Text, {len(WORDS)} characters, from “desk”.\n"
    assert here.written == [(desk.device_id, {"text/plain": TEXT, "text/html": PAGE})]
    there.contents = {"image/png": PICTURE}
    assert done(lap.run("handoff", "paste", "desk")) == "Image, 500 B, from “desk”.\n"
    assert here.contents == {"image/png": PICTURE}
    about = json.loads(done(lap.run("handoff", "paste", desk.device_id[:8], "--json")))
    assert about == {"deviceId": desk.device_id, "deviceName": "desk", "types": ["image/png"], "sizes": [500],
                     "characters": None}


def test_paste_to_standard_output(machines: Machines) -> None:
    """“handoff paste --stdout” prints what was copied and nothing else, as text if it can, or as the type that is named, however
    much it is; the clipboard here stays as it is, and there need be none."""
    desk, lap = machines
    there = PlayedClipboard(desk)
    for contents, options, expected in (
            ({"text/html": PAGE, "text/plain": TEXT}, "", TEXT),
            ({"text/plain": TEXT, "text/html": PAGE}, "--type html", PAGE),
            ({"text/plain": TEXT, "text/html": PAGE}, "--type text/html", PAGE),
            ({"image/png": SCREENSHOT}, "desk", SCREENSHOT)):
        there.contents = contents
        with case(options, *contents):
            assert printed_by(lap, f"handoff paste --stdout {options}") == expected
    here = PlayedClipboard(lap)
    assert printed_by(lap, "handoff paste --stdout --type image") == SCREENSHOT
    assert not here.written
    result = lap.run("sh", "-c", "handoff paste --stdout --json >/dev/null")
    assert result.returncode == 0 and json.loads(result.stderr)["types"] == ["image/png"]


def test_paste_into_what_ends(machines: Machines) -> None:
    """Who reads no further ends “handoff paste --stdout” without a word, and where nothing can be written it says so."""
    desk, lap = machines
    PlayedClipboard(desk).contents = {"text/plain": b"Dear " * 200_000}
    assert printed_by(lap, "handoff paste --stdout | head -c 4") == b"Dear"
    full = lap.run("sh", "-c", "handoff paste --stdout >/dev/full")
    assert full.returncode == 1 and "Standard output cannot be written" in full.stderr
    closed = lap.run("sh", "-c", "handoff paste --stdout >&-")
    assert closed.returncode == 2 and "standard output is closed" in closed.stderr


def test_paste_on_a_terminal(machines: Machines) -> None:
    """On a terminal “handoff paste --stdout” shows text so that it steers nothing, and refuses an image."""
    desk, lap = machines
    there = PlayedClipboard(desk)
    there.contents = {"text/plain": b"Dear\x1b[31m all\n\tyours"}
    terminal = Terminal(lap, "handoff", "paste", "--stdout")
    terminal.until("Dear\N{REPLACEMENT CHARACTER}\\[31m all\n")
    terminal.until("yours\n")
    assert terminal.end() == 0
    there.contents = {"image/png": PICTURE}
    for options in ((), ("--type", "image")):
        with case(*options):
            terminal = Terminal(lap, "handoff", "paste", "--stdout", *options)
            terminal.until("standard output is a terminal.*> FILE")
            assert terminal.end() == 2 and "PNG" not in terminal.text


def test_copy(machines: Machines) -> None:
    """“handoff copy” sends what is in the clipboard here, a text or an image of a file, or standard input; it is asked there
    whether to copy it, and pasting there is what copies it."""
    desk, lap = machines
    here, there = clipboards(desk, lap)
    here.contents = {"text/plain": b"In the clipboard", "text/html": b"<i>In the clipboard</i>"}
    (desk.folder / "letter").write_text("Dear")
    (desk.folder / "picture").write_bytes(PICTURE)
    letter = ("Text, 4 characters", {"text/plain": b"Dear"})
    for number, (command, words, contents) in enumerate((
            ("handoff copy lap", "Text, 16 characters", here.contents),
            (f"handoff copy lap '{desk.folder}/letter'", *letter),
            (f"handoff copy lap '{desk.folder}/picture'", "Image, 500 B", {"image/png": PICTURE}),
            ("printf Dear | handoff copy lap", *letter),
            (f"handoff copy {lap.device_id[:8]} - <'{desk.folder}/letter'", *letter)), 1):
        with case(command):
            said = printed_by(desk, command).decode()
            assert said == f"Sent to “lap”: {words}. That device asks whether to copy it.\n"
            wait(lambda: len(there.asked) == number, "the question there")
            assert there.asked[-1] == (desk.device_id, list(contents))
            assert len(there.written) == number - 1, "nobody has agreed yet"
            done(lap.run("handoff", "paste"))
            assert there.written[-1] == (desk.device_id, contents)
    about = json.loads(done(desk.run("handoff", "copy", "lap", str(desk.folder / "letter"), "--json")))
    assert about == {"deviceId": lap.device_id, "deviceName": "lap", "types": ["text/plain"], "sizes": [4], "characters": 4}


def test_copy_without_a_desktop(machines: Machines) -> None:
    """A file is sent from a device whose clipboard nothing reaches, and can be printed where it is asked whether to copy it."""
    desk, lap = machines
    there = PlayedClipboard(lap)
    (desk.folder / "picture").write_bytes(SCREENSHOT)
    done(desk.run("handoff", "copy", "lap", str(desk.folder / "picture")))
    wait(lambda: there.asked, "the question there")
    assert printed_by(lap, "handoff paste --stdout") == SCREENSHOT
    assert not there.written


def test_what_is_not_copied(machines: Machines) -> None:
    """“handoff copy” says what is wrong with a file: there is none, it is empty, a folder, neither text nor an image, or too
    large; nothing of it is sent."""
    desk, lap = machines
    there = PlayedClipboard(lap)
    for name, content in (("empty", b""), ("latin", "Büro".encode("latin-1")), ("archive", b"PK\x03\x04\0\0")):
        (desk.folder / name).write_bytes(content)
    (desk.folder / "large").write_text("x")
    os.truncate(desk.folder / "large", (32 << 20) + 1)
    (desk.folder / "folder").mkdir()
    for name, status, error, words in (
            ("nothing", 1, "Failed", "No such file"), ("folder", 1, "Failed", "cannot be read"),
            ("empty", 1, "Failed", "is empty"), ("latin", 1, "Failed", "handoff publish FILE"),
            ("archive", 1, "Failed", "handoff publish FILE"), ("large", 4, "LimitsExceeded", "more than 32 MiB")):
        with case(name):
            outcome = failure(desk, "copy", "lap", str(desk.folder / name))
            assert outcome[:2] == (status, error)
            assert words in outcome[2] and name in outcome[2], outcome
    closed = desk.run("sh", "-c", "handoff copy lap - <&-")
    assert closed.returncode == 2 and "Standard input is closed" in closed.stderr
    done(desk.run("sh", "-c", "printf Dear | handoff copy lap"))
    wait(lambda: there.asked, "the question")
    assert len(there.asked) == 1


def test_nothing_to_paste(machines: Machines) -> None:
    """“handoff paste” and “handoff copy” say why not: nothing reaches the clipboard here or there, nothing is in it, it is
    switched off here or there, or a device is muted."""
    desk, lap = machines

    def refused(machine: Machine, *command: str, status: int, name: str, words: str) -> None:
        with case(machine.name, *command, words):
            outcome = failure(machine, *command)
            assert outcome[:2] == (status, name) and words in outcome[2], outcome

    refused(lap, "paste", status=1, name="NotSupported", words="handoff paste --stdout")
    refused(lap, "copy", "desk", status=1, name="NotSupported", words="Nothing here reaches the clipboard")
    there, here = clipboards(desk, lap)
    there.unregister()
    refused(lap, "paste", status=1, name="NotSupported", words="Nothing on the other device reaches")
    there.register()
    for command in (("paste",), ("paste", "--stdout")):
        refused(lap, *command, status=3, name="OfferWithdrawn", words="nothing")
    refused(lap, "copy", "desk", status=3, name="OfferWithdrawn", words="nothing")
    there.contents = here.contents = {"text/plain": TEXT}
    for machine, words in ((desk, "on the other device"), (lap, "off here")):
        choose(machine, "Clipboard", GLib.Variant("s", "off"))
        for command in (("paste",), ("paste", "--stdout"), ("copy", "desk")):
            refused(lap, *command, status=4, name="Disabled", words=words)
        choose(machine, "Clipboard", GLib.Variant("s", "ask"))
    done(desk.run("handoff", "mute", "lap"))
    refused(lap, "paste", status=4, name="AccessDenied", words="muted there")
    refused(desk, "copy", "lap", status=4, name="AccessDenied", words="muted here")
    done(desk.run("handoff", "unmute", "lap"))
    assert not here.written and not there.asked


def test_which_device(machine: Machine, machine_list: list[Machine]) -> None:
    """Without a name “handoff paste” says so if no device is connected, and names them if several are; “handoff copy” wants a
    name."""
    assert failure(machine, "paste")[:2] == (3, "NotFound")
    lap = start_machine(machine_list, "lap")
    pair(machine, lap)
    PlayedClipboard(lap).contents = {"text/plain": TEXT}
    assert failure(machine, "paste", "nowhere")[:2] == (3, "NotFound")
    _link = Device().paired_link_to(machine)
    status, name, words = failure(machine, "paste")
    assert (status, name) == (2, "Ambiguous") and "lap" in words and "other" in words
    assert printed_by(machine, "handoff paste --stdout lap") == TEXT
    for command in (("copy",), ("copy", "lap", "one", "two"), ("paste", "lap", "desk"), ("paste", "--type", "text"),
                    ("paste", "--stdout", "--type", "image/jpeg")):
        with case(*command):
            assert failure(machine, *command)[:2] == (2, "Usage")


def test_status(machines: Machines) -> None:
    """“handoff status” says who has fetched what was in the clipboard here, never what that was, and that nothing reaches the
    clipboard of a desktop where the agent runs."""
    desk, lap = machines
    reached = "Clipboard  the clipboard of this desktop cannot be reached"
    assert reached not in done(desk.run("handoff", "status"))
    agent = desk.connect()
    agent.call("/org/freedesktop/DBus", f"{BUS}.RequestName", GLib.Variant("(su)", (AGENT, 0)), destination=BUS)
    assert reached in done(desk.run("handoff", "status"))
    there = PlayedClipboard(desk)
    wait(lambda: reached not in done(desk.run("handoff", "status")), "the clipboard to be reached")
    there.contents = {"text/plain": TEXT, "text/html": PAGE}
    assert printed_by(lap, "handoff paste --stdout") == TEXT
    text = wait(lambda: (said := done(desk.run("handoff", "status"))) and "CLIPBOARDS" in said and said, "the fetch")
    assert WORDS not in text
    fetch = next(line for line in text.splitlines() if "org.example.Handoff.clipboard" in line)
    assert "clipboard  lap" in fetch and "Text" in fetch
    assert "clipboard: Text" in text
    broker = json.loads(done(desk.run("handoff", "status", "--json")))["broker"]
    assert (broker["clipboard"], broker["clipboardDesktop"]) == ("ask", "Played")
    assert (broker["fetches"][0]["kind"], broker["fetches"][0]["title"]) == ("clipboard", "text/plain, text/html")
    assert broker["fetchesByDevice"][0]["clipboardCount"] == 1
