# SPDX-License-Identifier: LGPL-2.1-or-later
"""Texts that go on in real editors, which do not know Handoff themselves."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from buses import ROOT, let_pass, wait
from clients import Client, Dock
from editors import CATCHER, PATIENCE, TYPE, Editor, bin_folder, end_editors, install_terminal, prepare, state, wait_for_state
from gi.repository import GLib
from support import Machine
from vendor import own_id

Machines = tuple[Machine, Machine]
LINES = ["Dear Jürgen,", "", "the öther machine has this too.", "Best", "wishes"]
NEW = "It was nöt saved. "


@pytest.fixture
def edited(machines: Machines) -> Iterator[tuple[Machine, Machine, Path]]:
    """Two machines with all editors, and a letter on the first."""
    for machine in machines:
        prepare(machine)
    letter = Path(machines[0].environment["HOME"], "A lëtter +1.txt")
    letter.write_text("\n".join(LINES) + "\n")
    yield *machines, letter
    for machine in machines:
        end_editors(machine)


def type_into(editor: Editor, program: str, machine: Machine) -> None:
    """Goes to the third line and its fifth character, and types something there that is not saved."""
    if program in ("vim", "nvim"):
        editor.press("3G4l")
        wait_for_state(machine, line=3, column=5)
        editor.press(f"i{NEW}\x1b")
    else:
        editor.press("\x1b<\x0e\x0e\x06\x06\x06\x06")
        wait_for_state(machine, line=3, column=5)
        editor.press(NEW)
    # The insertion of a vi has ended once the cursor is on the last character.
    wait_for_state(machine, modified=True, line=3, column=4 + len(NEW) + (program == "emacs"))


def typed() -> list[str]:
    lines = list(LINES)
    lines[2] = lines[2][:4] + NEW + lines[2][4:]
    return lines


def go_on(edited: tuple[Machine, Machine, Path], program: str) -> tuple[Editor, Editor, dict[str, Any]]:
    """Types into the editor of one machine, and continues that in the running editor of the other: both editors, and the state of
    the first."""
    desk, lap, letter = edited
    here = Editor(desk, program, str(letter))
    wait_for_state(desk, file=str(letter), line=1)
    there = Editor(lap, program)
    dock = Dock(lap)
    path = dock.offer(letter.name)
    type_into(here, program, desk)
    place = state(desk)
    wait(lambda: program in dock.offers[path]["Handlers"], "the editor to be known")
    dock.continue_offer(path)
    assert dock.outcome() == (program, "", "")
    return here, there, place


@pytest.mark.parametrize("program", ["vim", "nvim", "emacs"])
def test_text_goes_on_in_a_running_editor(edited: tuple[Machine, Machine, Path], program: str) -> None:
    """What is edited on one machine goes on in the running editor of the other: the same file, line and column, and the
    text that was not saved, which nothing writes."""
    _desk, lap, letter = edited
    here, there, place = go_on(edited, program)
    now = wait_for_state(lap, line=3, column=place["column"], modified=True)
    assert [line for line in now["text"] if line] == [line for line in typed() if line]
    received = Path(now["file"])
    assert received.name == letter.name and received.read_text() == letter.read_text()
    here.quit()
    there.quit()


@pytest.mark.parametrize("program", ["vim", "nvim", "emacs"])
def test_text_comes_back(edited: tuple[Machine, Machine, Path], program: str) -> None:
    """What was not saved, and was continued on another device, comes back with what was typed there, in the place of what was
    given away."""
    desk, lap, letter = edited
    here, there, _place = go_on(edited, program)
    wait_for_state(lap, line=3, modified=True)
    there.press("More. " if program == "emacs" else "iMore. \x1b")
    wait(lambda: (now := state(lap)) and "More. " in "".join(now["text"]), "what was typed there")
    dock = Dock(desk)
    dock.continue_offer(dock.offer(letter.name))
    assert dock.outcome()[:2] == (program, "")
    now = wait(lambda: (now := state(desk)) and "More. " in "".join(now["text"]) and now, "what was typed there, here")
    assert now["file"] == str(letter) and now["modified"]
    here.quit()
    there.quit()


@pytest.mark.parametrize("program", ["vim", "nvim", "emacs"])
def test_broker_that_is_killed(edited: tuple[Machine, Machine, Path], program: str) -> None:
    """What is edited is offered again within five seconds by the next broker, when the one before was killed, and the running
    editor of the other machine, whose broker was killed too, gets the text that was typed meanwhile."""
    desk, lap, letter = edited
    here = Editor(desk, program, str(letter))
    wait_for_state(desk, file=str(letter), line=1)
    there = Editor(lap, program)
    dock = Dock(lap)
    path = dock.offer(letter.name)
    desk.kill("handoffd")
    dock.wait_until_gone(path)
    type_into(here, program, desk)
    lap.kill("handoffd")
    desk.start_broker()
    lap.start_broker()
    dock.follow()
    path = dock.offer(letter.name, 5)
    wait(lambda: program in dock.offers[path]["Handlers"], "the editor to be known")
    dock.continue_offer(path)
    assert dock.outcome() == (program, "", "")
    now = wait_for_state(lap, line=3, column=state(desk)["column"], modified=True)
    assert [line for line in now["text"] if line] == [line for line in typed() if line]
    here.quit()
    there.quit()


@pytest.mark.parametrize("program", ["vim", "nvim", "emacs"])
def test_text_goes_on_in_an_editor_that_is_started(edited: tuple[Machine, Machine, Path], program: str) -> None:
    """Where no editor runs, the one that the text comes from is started in a terminal, at the same line and column, with the
    text that was not saved. Its name is on no command line of the terminal, and is the title of its window."""
    desk, lap, letter = edited
    install_terminal(lap)
    here = Editor(desk, program, str(letter))
    wait_for_state(desk, file=str(letter), line=1)
    dock = Dock(lap)
    path = dock.offer(letter.name)
    type_into(here, program, desk)
    place = state(desk)
    dock.continue_offer(path)
    assert dock.outcome() == (own_id("Editor"), "", "")
    now = wait_for_state(lap, line=3, column=place["column"], modified=True)
    assert [line for line in now["text"] if line] == [line for line in typed() if line]
    assert Path(now["file"]).read_text() == letter.read_text()
    assert letter.name not in (lap.folder / "terminal.log").read_text()
    assert (lap.folder / "terminal.screen").read_bytes().startswith(f"\x1b]0;{Path(now['file']).name} – ".encode())
    here.quit()


def test_two_texts_in_quick_succession(edited: tuple[Machine, Machine, Path]) -> None:
    """Two texts that are continued before an editor has started go on in one each, with what was not saved of each."""
    desk, lap, _ = edited
    install_terminal(lap)
    gate, terminal = lap.folder / "signal", bin_folder(lap) / "xdg-terminal-exec"
    os.mkfifo(gate)
    real = terminal.rename(terminal.with_name("real-terminal"))
    # Each waits until the test has it go on.
    begun = lap.folder / "begun"
    terminal.write_text(f'#!/bin/sh\ntouch {begun}\nread line < {gate}\nexec {real} "$@"\n')
    terminal.chmod(0o755)
    texts = {name: f"{name} is not saved" for name in ("one.txt", "two.txt")}
    client, dock = Client(desk, "vim", (TYPE,), options={"Team": GLib.Variant("s", "org.example.Handoff.Editor")}), Dock(lap)
    for name, text in texts.items():
        file = Path(desk.environment["HOME"], name)
        file.write_text("As it was saved\n")
        info = {"application": GLib.Variant("s", "vim"), "line": GLib.Variant("u", 1), "column": GLib.Variant("u", 2),
                "text": GLib.Variant("s", f"{text}\n")}
        client.create(TYPE, Title=name, DocumentURL=file.as_uri(), UserInfo=info).become_current()
        offer = dock.offer(name)
        # The document before may be there, and not yet known to be there by the machine that it came from.
        while not list(lap.folder.rglob(name)):
            failures = len(dock.finished())
            dock.continue_offer(offer)
            wait(lambda name=name, failures=failures: list(lap.folder.rglob(name)) or len(dock.finished()) > failures,
                 f"{name} to be there")
    assert all(outcome[1].endswith(".LimitsExceeded") for outcome in dock.finished())
    wait(begun.exists, "a terminal", PATIENCE)
    # As long as the other text, which is there already, takes to reach the adapter, where it waits for the first.
    let_pass(0.3)
    with open(gate, "r+b", buffering=0) as pipe:
        pipe.write(b"go\ngo\n")
        wait(lambda: dock.finished().count((CATCHER, "", "")) == 2, "both to go on", PATIENCE)
    for name, text in texts.items():
        wait(lambda name=name, text=text: (now := state(lap)) and now["file"].endswith(f"/{name}") and now["text"] == [text],
             f"{name} to be shown with what was not saved", PATIENCE)


@pytest.mark.parametrize("program", ["vim", "nvim", "emacs"])
def test_changes_of_ones_own_stay(edited: tuple[Machine, Machine, Path], program: str) -> None:
    """If the file has changes of its own in the editor where it is continued, they stay, and the user is told."""
    desk, lap, letter = edited
    there = Path(lap.environment["HOME"], letter.name)
    there.write_text(letter.read_text())
    for machine in (desk, lap):
        folders = GLib.Variant("a{ss}", {"Home": machine.environment["HOME"]})
        machine.session.set(ROOT, "Preferences.SharedFolders", folders)
    one, other = Editor(desk, program, str(letter)), Editor(lap, program, str(there))
    wait_for_state(desk, file=str(letter))
    wait_for_state(lap, file=str(there))
    type_into(other, program, lap)
    other.press("Mine. " if program == "emacs" else "iMine. \x1b")
    mine = wait(lambda: (now := state(lap)) and "Mine. " in now["text"][2] and now["text"], "what was typed")
    type_into(one, program, desk)
    dock = Dock(lap)
    path = dock.offer(letter.name)
    wait(lambda: program in dock.offers[path]["Handlers"], "the editor to be known")
    dock.continue_offer(path)
    application, error, message = dock.outcome()
    assert (application, error) == (program, "org.example.Handoff.Error.ApplicationFailed")
    assert "have unsaved changes" in message
    assert wait_for_state(lap, modified=True)["text"] == mine
    one.quit()
    other.quit()


def test_what_changed_on_the_disk_stays(edited: tuple[Machine, Machine, Path]) -> None:
    """If Emacs shows the file as it was before it changed on the disk, it is not replaced, and the user is told."""
    desk, lap, letter = edited
    there = Path(lap.environment["HOME"], letter.name)
    there.write_text("As it was before\n")
    for machine in (desk, lap):
        folders = GLib.Variant("a{ss}", {"Home": machine.environment["HOME"]})
        machine.session.set(ROOT, "Preferences.SharedFolders", folders)
    one, other = Editor(desk, "emacs", str(letter)), Editor(lap, "emacs", str(there))
    wait_for_state(desk, file=str(letter))
    shown = wait_for_state(lap, file=str(there))["text"]
    there.write_text(letter.read_text())
    type_into(one, "emacs", desk)
    dock = Dock(lap)
    path = dock.offer(letter.name)
    wait(lambda: "emacs" in dock.offers[path]["Handlers"], "the editor to be known")
    dock.continue_offer(path)
    application, error, message = dock.outcome()
    assert (application, error) == ("emacs", "org.example.Handoff.Error.ApplicationFailed")
    assert "it may be asking you something" in message
    assert wait_for_state(lap, modified=False)["text"] == shown and there.read_text() == letter.read_text()
    one.quit()
    other.quit()
