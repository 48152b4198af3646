# SPDX-License-Identifier: LGPL-2.1-or-later
"""Texts that go on in real editors, which do not know Handoff themselves."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from buses import ROOT, wait
from clients import Dock
from editors import PATIENCE, Editor, install_terminal, prepare, prepare_gedit, state, wait_for_state
from gi.repository import GLib
from screen import Screen
from support import Machine

Machines = tuple[Machine, Machine]
LINES = ["Dear Jürgen,", "", "the öther machine has this too.", "Best", "wishes"]
NEW = "It was nöt saved. "


@pytest.fixture
def edited(machines: Machines) -> tuple[Machine, Machine, Path]:
    """Two machines with all editors, and a letter on the first."""
    for machine in machines:
        prepare(machine)
    letter = Path(machines[0].environment["HOME"], "A lëtter +1.txt")
    letter.write_text("\n".join(LINES) + "\n")
    return *machines, letter


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
    wait_for_state(machine, modified=True, line=3)


def typed() -> list[str]:
    lines = list(LINES)
    lines[2] = lines[2][:4] + NEW + lines[2][4:]
    return lines


@pytest.mark.parametrize("program", ["vim", "nvim", "emacs"])
def test_text_goes_on_in_a_running_editor(edited: tuple[Machine, Machine, Path], program: str) -> None:
    """What is edited on one machine goes on in the running editor of the other: the same file, line and column, and the
    text that was not saved, which nothing writes."""
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
    now = wait_for_state(lap, line=3, column=place["column"], modified=True)
    assert [line for line in now["text"] if line] == [line for line in typed() if line]
    received = Path(now["file"])
    assert received.name == letter.name and received.read_text() == letter.read_text()
    here.quit()
    there.quit()


@pytest.mark.parametrize("program", ["vim", "nvim", "emacs"])
def test_text_goes_on_in_an_editor_that_is_started(edited: tuple[Machine, Machine, Path], program: str) -> None:
    """Where no editor runs, the one that the text comes from is started in a terminal, at the same line and column, with the
    text that was not saved. Its name is on no command line of the terminal."""
    desk, lap, letter = edited
    install_terminal(lap)
    here = Editor(desk, program, str(letter))
    wait_for_state(desk, file=str(letter), line=1)
    dock = Dock(lap)
    path = dock.offer(letter.name)
    type_into(here, program, desk)
    place = state(desk)
    dock.continue_offer(path)
    assert dock.outcome() == ("org.example.Handoff.Editor", "", "")
    now = wait_for_state(lap, line=3, column=place["column"], modified=True)
    assert [line for line in now["text"] if line] == [line for line in typed() if line]
    assert Path(now["file"]).read_text() == letter.read_text()
    assert letter.name not in (lap.folder / "terminal.log").read_text()
    here.quit()


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
    assert "hold changes of its own" in message
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


@pytest.fixture
def screens(tmp_path: Path, edited: tuple[Machine, Machine, Path]) -> Iterator[tuple[Screen, Screen]]:
    """A screen for each of the two machines, on which gedit has its plugin."""
    made = []
    for machine in edited[:2]:
        (tmp_path / machine.name).mkdir()
        made.append(Screen(tmp_path / machine.name))
        prepare_gedit(machine, made[-1])
    yield made[0], made[1]
    for machine in edited[:2]:
        if "gedit" in machine.processes:
            machine.kill("gedit")
    for screen in made:
        screen.close()


def begin_in_gedit(desk: Machine, screen: Screen, letter: Path) -> None:
    """Edits the letter in gedit, and does not save it."""
    desk.start("gedit", "--standalone", str(letter))
    wait_for_state(desk, file=str(letter))
    window = wait(lambda: screen.ask("xdotool", "search", "--onlyvisible", "--name", "gedit").split(), "the window")[0]
    screen.ask("xdotool", "windowfocus", window)
    wait_for_state(desk, messages="True")
    screen.ask("xdotool", "key", "ctrl+Home", "Down", "Down", "Right", "Right", "Right", "Right")
    wait_for_state(desk, line=3, column=5)
    screen.ask("xdotool", "type", "--delay", "5", NEW.replace("ö", "o"))
    wait_for_state(desk, modified=True, line=3, column=5 + len(NEW))


@pytest.mark.desktop
@pytest.mark.smoke
def test_text_goes_on_in_gedit(edited: tuple[Machine, Machine, Path], screens: tuple[Screen, Screen]) -> None:
    """What is edited in gedit goes on in the gedit of the other machine, which is started: the same file, line and column, and
    the text that was not saved."""
    desk, lap, letter = edited
    begin_in_gedit(desk, screens[0], letter)
    dock = Dock(lap)
    dock.continue_offer(dock.offer(letter.name))
    assert dock.outcome(PATIENCE) == ("org.example.Handoff.Editor", "", "")
    now = wait_for_state(lap, line=3, column=5 + len(NEW), modified=True)
    assert [line for line in now["text"] if line] == [line.replace("nöt", "not") for line in typed() if line]
    assert Path(now["file"]).read_text() == letter.read_text()


@pytest.mark.desktop
def test_text_goes_on_in_a_running_gedit(edited: tuple[Machine, Machine, Path], screens: tuple[Screen, Screen]) -> None:
    """What is edited in gedit goes on in the gedit that runs on the other machine."""
    desk, lap, letter = edited
    other = Path(lap.environment["HOME"], "other.txt")
    other.write_text("Something else\n")
    lap.start("gedit", "--standalone", str(other))
    begin_in_gedit(desk, screens[0], letter)
    dock = Dock(lap)
    path = dock.offer(letter.name)
    wait(lambda: "org.gnome.gedit" in dock.offers[path]["Handlers"], "gedit to be known", PATIENCE)
    dock.continue_offer(path)
    assert dock.outcome(PATIENCE) == ("org.gnome.gedit", "", "")
    now = wait_for_state(lap, line=3, column=5 + len(NEW), modified=True)
    assert [line for line in now["text"] if line] == [line.replace("nöt", "not") for line in typed() if line]
    assert other.read_text() == "Something else\n"


@pytest.mark.desktop
def test_text_goes_on_in_a_real_terminal(edited: tuple[Machine, Machine, Path], screens: tuple[Screen, Screen]) -> None:
    """Where Vim is started, a real terminal opens for it, and shows the text that was not saved at its place."""
    desk, lap, letter = edited
    if not shutil.which("x-terminal-emulator"):
        pytest.skip("there is no x-terminal-emulator: meson-helpers/install-packages desktop")
    here = Editor(desk, "vim", str(letter))
    wait_for_state(desk, file=str(letter))
    dock = Dock(lap)
    path = dock.offer(letter.name)
    type_into(here, "vim", desk)
    column = wait_for_state(desk, modified=True)["column"]
    dock.continue_offer(path)
    assert dock.outcome(PATIENCE) == ("org.example.Handoff.Editor", "", "")
    now = wait_for_state(lap, line=3, column=column, modified=True)
    assert now["text"] == typed() and Path(now["file"]).read_text() == letter.read_text()
    here.quit()
