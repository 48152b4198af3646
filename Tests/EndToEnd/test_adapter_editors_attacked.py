# SPDX-License-Identifier: LGPL-2.1-or-later
"""Editors' plugins and peers that are not to be trusted, and what is nobody's business."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from buses import ROOT, let_pass, wait
from clients import CROSSING, Client, Dock
from editors import Editor
from gi.repository import GLib
from listener import Listener
from schemas import valid
from support import PROGRAMS, Machine, private_memory
from test_adapter_editors import edited, typed  # noqa: F401


class Plugin:
    """What a plugin of an editor, or the extension in the office, could be: the pipes to `handoff-editor` or `handoff-office`."""

    def __init__(self, machine: Machine, editor: str = "vim") -> None:
        self.kind = "office" if editor == "office" else "editor"
        words = ["office", "--stdio"] if editor == "office" else ["editor", "--stdio", editor]
        with open(machine.log_file("handoff-editor"), "ab") as log:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", str(PROGRAMS / "handoff-adapter"), *words], env=machine.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        os.set_blocking(self.process.stdout.fileno(), False)
        self.text = b""

    def say(self, **message: Any) -> None:
        self.write(json.dumps(message).encode() + b"\n")

    def write(self, data: bytes) -> None:
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def front(self, file: Path | str, line: int = 1, column: int = 1) -> None:
        self.say(event="front", file=str(file), line=line, column=column)

    def question(self) -> dict[str, Any]:
        """Waits for the next question."""
        def line() -> bytes | None:
            self.text += self.process.stdout.read() or b""
            return b"\n" in self.text
        wait(line, "a question")
        first, _, self.text = self.text.partition(b"\n")
        return valid(self.kind, json.loads(first), "asked")

    def memory(self) -> int:
        return private_memory(self.process.pid)

    def close(self) -> int:
        self.process.stdin.close()
        wait(lambda: self.process.poll() is not None, "the end of the plugin's part")
        self.process.stdout.close()
        return self.process.returncode


def test_plugin_that_is_not_to_be_trusted(edited: tuple[Machine, Machine, Path]) -> None:  # noqa: F811
    """A line of 16 MB, JSON that nests 10,000 deep, what is no JSON, and 5,000 messages at once take little memory, change the
    offer a few times at most, and what comes afterwards counts. With the editor its part in Handoff ends."""
    desk, lap, _ = edited
    home = Path(desk.environment["HOME"])
    for name in ("a.txt", "b.txt"):
        (home / name).write_text("text\n")
    plugin, dock = Plugin(desk), Dock(lap)
    plugin.front(home / "a.txt")
    dock.offer("a.txt")
    before = plugin.memory()
    plugin.write(b'{"event":"front","file":"' + b"x" * (16 << 20) + b'"}\n')
    plugin.write(b"[" * 10_000 + b"]" * 10_000 + b"\n" + b"\xff\xfe\0\n" + b'{"event":"run","command":"id"}\n')
    seen = len(dock.events)
    plugin.write(b"".join(json.dumps({"event": "front", "file": str(home / f"{'ab'[number % 2]}.txt"), "line": 1,
                                      "column": 1}).encode() + b"\n" for number in range(5000)))
    plugin.front(home / "b.txt")
    dock.offer("b.txt")
    let_pass(CROSSING)
    assert dock.titles == ["b.txt"]
    assert len(dock.events) - seen < 60
    assert plugin.memory() - before < 8 << 20
    assert plugin.close() == 0
    wait(lambda: not dock.offers, "the offer to be gone")


def test_private_files_stay_private(edited: tuple[Machine, Machine, Path]) -> None:  # noqa: F811
    """Keys, what is encrypted on the disk, files of password stores, and links to such files are never offered: neither
    broker, bridge nor adapter hears of them, and what was offered before is not current meanwhile."""
    desk, lap, _ = edited
    home = Path(desk.environment["HOME"])
    plugin, dock = Plugin(desk), Dock(lap)
    for folder in (".ssh", ".gnupg", "letters"):
        (home / folder).mkdir()
    secrets = [home / ".ssh/id_ed25519", home / ".gnupg/gpg.conf", home / "letters/bank.gpg", home / "letters/server.pem"]
    for secret in secrets:
        secret.write_text("s3cret\n")
    link = home / "letters/harmless.txt"
    link.symlink_to(secrets[0])
    public = home / "letters/public.txt"
    public.write_text("text\n")
    os.mkfifo(home / "letters/pipe.txt")
    plugin.front(public)
    path = dock.offer("public.txt")
    plugin.front(link)
    dock.wait_until_gone(path)
    for secret in (*secrets, home / "letters/pipe.txt", home / "letters", "/proc/self/environ", "relative.txt", "/a\nb"):
        plugin.front(secret)
    let_pass(CROSSING)
    assert not dock.offers
    for program in ("handoffd", "handoff-bridge"):
        for word in ("s3cret", "id_ed25519", "bank.gpg", "server.pem", "harmless"):
            assert word not in desk.log(program)
    plugin.front(public)
    dock.offer("public.txt")
    plugin.close()


@pytest.mark.parametrize("preference, value", [("ExcludedApplications", "vim"), ("DisabledAdapters", "editor")])
def test_editor_that_is_excluded(edited: tuple[Machine, Machine, Path], preference: str, value: str) -> None:  # noqa: F811
    """An editor that the user has excluded, or that belongs to an adapter that is switched off, is left alone at once, also if
    it is started then, and takes part again as soon as the user wants that: what is in front by then is offered, and nothing
    of what was before has been heard of."""
    desk, lap, _ = edited
    said = Listener(desk)
    for name in ("a", "s3cret", "b"):
        Path(desk.environment["HOME"], f"{name}.txt").write_text("text\n")
    home = Path(desk.environment["HOME"])
    plugin, dock = Plugin(desk), Dock(lap)
    plugin.front(home / "a.txt")
    path = dock.offer("a.txt")
    desk.session.set(ROOT, f"Preferences.{preference}", GLib.Variant("as", [value]))
    dock.wait_until_gone(path)
    # The broker has withdrawn it; the adapter hears of the choice by itself.
    let_pass(CROSSING)
    other = Plugin(desk)
    for _ in range(2):
        plugin.front(home / "s3cret.txt")
        other.front(home / "s3cret.txt")
        let_pass(CROSSING)
    assert not dock.offers and plugin.process.poll() is None
    other.close()
    desk.session.set(ROOT, f"Preferences.{preference}", GLib.Variant("as", []))
    assert plugin.question()["ask"] == "front"
    plugin.front(home / "b.txt")
    dock.offer("b.txt")
    assert "s3cret" not in said.close() + desk.log("handoffd") + desk.log("handoff-bridge")
    plugin.close()


def test_what_a_peer_sends_is_data(edited: tuple[Machine, Machine, Path]) -> None:  # noqa: F811
    """A place that is none, a text that is too long, and a file name that looks like an option come to the editor as data:
    numbers in their range, no text, and an absolute path. An editor that does not answer is reported."""
    desk, lap, _ = edited
    name = "+quit -c !touch ran"
    file = Path(desk.environment["HOME"], name)
    file.write_text("text\n")
    plugin, dock = Plugin(lap), Dock(lap)
    origin = Client(desk, "vim", ("org.example.Handoff.EditingText",), options={
        "Team": GLib.Variant("s", "org.example.Handoff.Editor")})
    info = {"application": GLib.Variant("s", "vim"), "line": GLib.Variant("s", "+!id"),
            "column": GLib.Variant("u", 2**32 - 1), "text": GLib.Variant("s", "x" * (97 << 10))}
    origin.offer("Bad", DocumentURL=file.as_uri(), UserInfo=info)
    path = dock.offer("Bad")
    wait(lambda: "vim" in dock.offers[path]["Handlers"], "the editor to be known")
    dock.continue_offer(path)
    question = plugin.question()
    assert question["ask"] == "open" and (question["line"], question["column"]) == (1, 1)
    assert "text" not in question and question["file"].startswith("/") and question["file"].endswith("ran")
    plugin.say(answer=question["id"], opened=False)
    application, error, message = dock.outcome()
    assert (application, error) == ("vim", "org.example.Handoff.Error.ApplicationFailed")
    assert "Vim cannot show the file now" in message
    plugin.close()


def test_what_the_user_has_left_is_not_offered(edited: tuple[Machine, Machine, Path]) -> None:  # noqa: F811
    """A text is offered as long as the user is at it: not while another window has the focus, and not after it was closed."""
    desk, _, letter = edited
    plugin, dock = Plugin(desk), Dock(edited[1])
    for event in ("left", "closed"):
        plugin.front(letter)
        path = dock.offer(letter.name)
        plugin.say(event=event)
        dock.wait_until_gone(path)
    plugin.front(letter)
    dock.offer(letter.name)
    plugin.close()


def test_editor_is_asked_at_each_continuation(edited: tuple[Machine, Machine, Path]) -> None:  # noqa: F811
    """An editor is asked where its user is, and for the text, whenever that is continued, and never in between."""
    desk, lap, letter = edited
    plugin, dock, target = Plugin(desk), Dock(lap), Plugin(lap)
    plugin.front(letter)
    path = dock.offer(letter.name)
    wait(lambda: "vim" in dock.offers[path]["Handlers"], "the editor to be known")
    for line in (3, 4):
        plugin.front(letter, line)
        # Longer than between two calls of WillSave that no continuation asks for (Deadline.autosave, 1 s).
        let_pass(1.2)
        assert not plugin.process.stdout.read() and not plugin.text
        dock.continue_offer(path)
        question = plugin.question()
        assert question["ask"] == "save"
        plugin.say(answer=question["id"], file=str(letter), line=line + 1, column=2, text="not saved")
        question = target.question()
        assert (question["ask"], question["line"], question["text"]) == ("open", line + 1, "not saved")
        target.say(answer=question["id"], opened=True)
        assert dock.outcome() == ("vim", "", "")
    target.close()
    plugin.close()
