# SPDX-License-Identifier: LGPL-2.1-or-later
"""Texts that go on in real editors with windows, which do not know Handoff themselves."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from buses import ROOT, wait
from clients import Dock
from editors import CATCHER, PATIENCE, Editor, end_editors, install_terminal, prepare_emacs, prepare_gedit, wait_for_state
from gi.repository import GLib
from screen import Screen
from support import Machine
from test_adapter_editors import NEW, edited, type_into, typed  # pylint: disable=unused-import
from vendor import own_id


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
@pytest.mark.always
def test_text_goes_on_in_gedit(edited: tuple[Machine, Machine, Path], screens: tuple[Screen, Screen]) -> None:
    """What is edited in gedit goes on in the gedit of the other machine, which is started: the same file, line and column, and
    the text that was not saved."""
    desk, lap, letter = edited
    begin_in_gedit(desk, screens[0], letter)
    dock = Dock(lap)
    dock.continue_offer(dock.offer(letter.name))
    assert dock.outcome(PATIENCE) == (own_id("Editor"), "", "")
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
def test_text_goes_past_a_gedit_without_its_plugin(
        edited: tuple[Machine, Machine, Path], screens: tuple[Screen, Screen]) -> None:
    """What was not saved in gedit goes to an editor that can take it, where the plugin is switched off in gedit."""
    desk, lap, letter = edited
    settings = Path(lap.environment["XDG_CONFIG_HOME"], "glib-2.0", "settings", "keyfile")
    settings.write_text(settings.read_text().replace("'handoff', ", ""))
    install_terminal(lap)
    begin_in_gedit(desk, screens[0], letter)
    dock = Dock(lap)
    dock.continue_offer(dock.offer(letter.name))
    assert dock.outcome(PATIENCE) == (CATCHER, "", "")
    now = wait_for_state(lap, line=3, modified=True)
    assert [line for line in now["text"] if line] == [line.replace("nöt", "not") for line in typed() if line]


@pytest.mark.desktop
def test_what_changed_on_the_disk_stays_in_gedit(
        edited: tuple[Machine, Machine, Path], screens: tuple[Screen, Screen]) -> None:
    """If gedit shows the file as it was before it changed on the disk, be it in the same second, its text is not replaced,
    and the user is told."""
    desk, lap, letter = edited
    there = Path(lap.environment["HOME"], letter.name)
    there.write_text("As it was before\n")
    for machine in (desk, lap):
        folders = GLib.Variant("a{ss}", {"Home": machine.environment["HOME"]})
        machine.session.set(ROOT, "Preferences.SharedFolders", folders)
    lap.start("gedit", "--standalone", str(there))
    shown = wait_for_state(lap, file=str(there), text=["As it was before"])["text"]
    times = there.stat()
    there.write_text(letter.read_text())
    # To gedit it is as it was.
    os.utime(there, ns=(times.st_atime_ns, times.st_mtime_ns))
    begin_in_gedit(desk, screens[0], letter)
    dock = Dock(lap)
    path = dock.offer(letter.name)
    wait(lambda: "org.gnome.gedit" in dock.offers[path]["Handlers"], "gedit to be known", PATIENCE)
    dock.continue_offer(path)
    application, error, message = dock.outcome(PATIENCE)
    assert (application, error) == ("org.gnome.gedit", "org.example.Handoff.Error.ApplicationFailed")
    assert "have unsaved changes" in message
    assert wait_for_state(lap, modified=False)["text"] == shown and there.read_text() == letter.read_text()


def focus(screen: Screen, name: str) -> None:
    """Gives the keyboard to the window of this name: there is no window manager that would."""
    search = ("xdotool", "search", "--onlyvisible", "--name", name)
    screen.ask("xdotool", "windowfocus", "--sync", wait(lambda: screen.ask(*search).split(), f"the window of {name}")[0])


@pytest.mark.desktop
@pytest.mark.parametrize("runs", [False, True])
def test_text_goes_on_in_emacs_with_windows(edited: tuple[Machine, Machine, Path], tmp_path: Path, runs: bool) -> None:
    """What is edited in an Emacs with windows goes on in that of the other machine, in its window and not in a terminal,
    whether it runs there or is started: the same file, line and column, and the text that was not saved."""
    desk, lap, letter = edited
    install_terminal(lap)
    made = []
    try:
        for machine in (desk, lap):
            (tmp_path / machine.name).mkdir()
            made.append(Screen(tmp_path / machine.name))
            prepare_emacs(machine, made[-1])
        desk.start("emacs", str(letter))
        wait_for_state(desk, file=str(letter))
        focus(made[0], "GNU Emacs")
        made[0].ask("xdotool", "key", "Down", "Down", "Right", "Right", "Right", "Right")
        wait_for_state(desk, line=3, column=5)
        made[0].ask("xdotool", "type", "--delay", "5", NEW.replace("ö", "o"))
        wait_for_state(desk, modified=True, line=3, column=5 + len(NEW))
        dock = Dock(lap)
        path = dock.offer(letter.name)
        if runs:
            lap.start("emacs")
            wait(lambda: "emacs" in dock.offers[path]["Handlers"], "Emacs to be known", PATIENCE)
        dock.continue_offer(path)
        assert dock.outcome(PATIENCE) == ("emacs" if runs else CATCHER, "", "")
        now = wait_for_state(lap, line=3, column=5 + len(NEW), modified=True)
        assert [line for line in now["text"] if line] == [line.replace("nöt", "not") for line in typed() if line]
        assert Path(now["file"]).read_text() == letter.read_text()
        wait(lambda: made[1].ask("xdotool", "search", "--onlyvisible", "--name", "GNU Emacs").split(), "its window")
        assert not (lap.folder / "terminal.log").exists()
    finally:
        for machine in (desk, lap):
            if "emacs" in machine.processes:
                machine.kill("emacs")
            end_editors(machine)
        for screen in made:
            screen.close()


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
    assert dock.outcome(PATIENCE) == (own_id("Editor"), "", "")
    now = wait_for_state(lap, line=3, column=column, modified=True)
    assert now["text"] == typed() and Path(now["file"]).read_text() == letter.read_text()
    here.quit()
