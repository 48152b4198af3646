# SPDX-License-Identifier: LGPL-2.1-or-later
"""Texts go on between windows of VS Code of two machines, by the real part of the extension that is in Handoff."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from buses import ROOT, wait
from clients import Client, Dock
from desktops import missing as absent
from editors import CATCHER, TYPE, bin_folder, end_editors, prepare, started
from gi.repository import GLib
from screen import Screen
from support import Machine
from test_desktop_entries import have_bus_start
from vendor import own_id
from vscode import Window

Machines = tuple[Machine, Machine]
TEXT = "one\ntwo 😀 two\nthree\n"


@pytest.fixture
def coded(machines: Machines) -> tuple[Machine, Machine, Path, Path]:
    """Two machines with a folder that they share, in which each has the same file."""
    for machine in machines:
        prepare(machine)
        folder = machine.folder / "home" / "Work"
        folder.mkdir()
        (folder / "code.txt").write_text(TEXT)
        machine.session.set(ROOT, "Preferences.SharedFolders", GLib.Variant("a{ss}", {"Work": str(folder)}))
    return *machines, machines[0].folder / "home/Work", machines[1].folder / "home/Work"


def test_file_goes_on(coded: tuple[Machine, Machine, Path, Path]) -> None:
    """A file of a folder that both share goes on in the window that has the folder, at its line and column, with what was not
    saved."""
    desk, lap, here, there = coded
    window, others = Window(desk, here), [Window(lap), Window(lap, there)]
    window.show(here / "code.txt")
    dock = Dock(lap)
    path = dock.offer("code.txt")
    window.place(1, 6)
    window.type("new ")
    wait(lambda: "code" in dock.offers[path]["Handlers"], "VS Code to be known")
    dock.continue_offer(path)
    assert dock.outcome() == ("code", "", "")
    others[1].wait_for_state(file=str(there / "code.txt"), line=2, text=TEXT.replace("😀 two", "😀new  two"), modified=True)
    assert (there / "code.txt").read_text() == TEXT
    for one in (window, *others):
        one.quit()


def test_untitled_text_goes_on(coded: tuple[Machine, Machine, Path, Path]) -> None:
    """A text that no file holds goes on as such a text."""
    desk, lap, _here, _there = coded
    window, other = Window(desk), Window(lap)
    window.write("Dear all,\nit is not säved.")
    dock = Dock(lap)
    path = wait(lambda: next(iter(dock.offers), None), "the offer")
    dock.continue_offer(path)
    assert dock.outcome() == ("code", "", "")
    other.wait_for_state(text="Dear all,\nit is not säved.", file=None, modified=True)
    window.quit()
    other.quit()


def test_started(coded: tuple[Machine, Machine, Path, Path]) -> None:
    """Where no window is open, the editor is started with the folder, and the file at its place; its plugin takes the text."""
    desk, lap, here, there = coded
    log = lap.folder / "code.log"
    program = bin_folder(lap) / "code"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >"{log}"\n')
    program.chmod(0o755)
    # It has the extension.
    (Path(lap.environment["HOME"]) / ".vscode/extensions/handoff.handoff-0.1.0").mkdir(parents=True)
    window = Window(desk, here)
    window.show(here / "code.txt")
    window.place(2, 1)
    window.type("x")
    dock = Dock(lap)
    dock.continue_offer(dock.offer("code.txt"))
    wait(log.exists, "the editor to be started")
    other = Window(lap, there)
    assert dock.outcome() == (own_id("Editor"), "", "")
    other.wait_for_state(file=str(there / "code.txt"), line=3, text=TEXT.replace("three", "txhree"), modified=True)
    assert log.read_text().splitlines() == [str(there), "--goto", f"{there}/code.txt:3:3"]
    window.quit()
    other.quit()


@pytest.mark.parametrize("folder", ["/", "/proc/1", "/tmp", "HOME/.ssh", "HOME/Work/../.ssh"])
def test_hostile_folder(coded: tuple[Machine, Machine, Path, Path], folder: str) -> None:
    """A device cannot have the editor open a folder that the file is not in, or that is private or everybody's."""
    desk, lap, _here, there = coded
    log, program = lap.folder / "code.log", bin_folder(lap) / "code"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >"{log}"\n')
    program.chmod(0o755)
    folder = folder.replace("HOME", lap.environment["HOME"])
    os.makedirs(Path(lap.environment["HOME"], ".ssh"), exist_ok=True)
    origin = Client(desk, "code", (TYPE,), options={"Team": GLib.Variant("s", "org.example.Handoff.Editor")})
    (desk.folder / "home/Work/x.txt").write_text("x")
    (there / "x.txt").write_text("x")
    origin.create(TYPE, Title="Bad", DocumentURL=(desk.folder / "home/Work/x.txt").as_uri(), UserInfo={
        "application": GLib.Variant("s", "code"),
        "folder": GLib.Variant("(sv)", ("url", GLib.Variant("s", Path(folder).as_uri() if ".." not in folder
                                                            else f"file://{folder}")))}).become_current()
    dock = Dock(lap)
    dock.continue_offer(dock.offer("Bad"))
    wait(log.exists, "the editor to be started")
    dock.outcome()
    assert log.read_text().splitlines()[-2:] == ["--goto", f"{there}/x.txt:1:1"]
    assert len(log.read_text().splitlines()) == 2


@pytest.mark.desktop
def test_kate(coded: tuple[Machine, Machine, Path, Path]) -> None:
    """Where Kate is the user's editor, a file goes on in the real Kate at its line and column."""
    if missing := absent("kate", "xdotool", "openbox"):
        pytest.skip(missing)
    desk, lap, here, there = coded
    screen = Screen(lap.folder)
    try:
        lap.environment |= {"DISPLAY": screen.display, "QT_QPA_PLATFORM": "xcb"}
        lap.environment["XDG_DATA_DIRS"] += ":/usr/share"
        Path(lap.environment["XDG_CONFIG_HOME"], "mimeapps.list").write_text(
            "[Default Applications]\ntext/plain=org.kde.kate.desktop\n")
        have_bus_start(lap, CATCHER, started(lap, "editor"))
        lap.start("openbox")
        for folder in (here, there):
            (folder / "code.txt").write_text("".join(f"line {number}\n" for number in range(200)))
        window = Window(desk, here)
        window.show(here / "code.txt")
        window.place(119, 2)
        dock = Dock(lap)
        dock.continue_offer(dock.offer("code.txt"))
        assert dock.outcome(60)[1:] == ("", "")
        wait(lambda: any("code.txt" in title for title in screen.titles()), "the file in Kate", 30)
        screen.shoot("kate.png")
        # What is typed and saved shows where it is.
        screen.ask("xdotool", "search", "--sync", "--onlyvisible", "--name", "code.txt", "windowactivate", "--sync", "key", "X")

        def is_saved() -> bool:
            screen.ask("xdotool", "key", "ctrl+s")
            return "X" in (there / "code.txt").read_text()
        wait(is_saved, "what is typed", 30)
        assert (there / "code.txt").read_text().splitlines()[119].startswith("liX")
        window.quit()
    finally:
        end_editors(lap)
        lap.kill("openbox")
        screen.close()
