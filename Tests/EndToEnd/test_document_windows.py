# SPDX-License-Identifier: LGPL-2.1-or-later
"""An application of documents as GTK has them, which adds four lines to take part."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from gi.repository import GLib
from buses import wait
from clients import Dock
from origin import folder, start_reader
from screen import Screen
from support import SOURCE, Machine, pair
from test_desktop_entries import folder as entries
from windows import missing

PROGRAM = SOURCE / ".build" / "debug" / "DocumentsProgram"
APPLICATION_ID = "org.example.Notes"

if reason := missing() or ("" if PROGRAM.exists() else "DocumentsProgram is not built: meson-helpers/build --tests"):
    pytest.skip(reason, allow_module_level=True)


@pytest.fixture
def machines(machine_list: list[Machine], tmp_path: Path) -> Iterator[list[Machine]]:
    """Two machines that are paired, each with a display, on which the application is installed."""
    both = []
    for name in ("desk", "lap"):
        place = tmp_path / name
        place.mkdir()
        screen = Screen(place)
        machine = start_reader(
            machine_list, name, DISPLAY=screen.display, GSETTINGS_BACKEND="memory", GTK_A11Y="none", GDK_BACKEND="x11",
            GSK_RENDERER="cairo", LIBGL_ALWAYS_SOFTWARE="1", GTK_USE_PORTAL="0")
        machine.screen = screen
        entries(machine).mkdir(parents=True, exist_ok=True)
        (entries(machine) / f"{APPLICATION_ID}.desktop").write_text(
            f"[Desktop Entry]\nType=Application\nName=Letters\nExec={PROGRAM} %U\nMimeType=text/plain;\n"
            "Implements=org.example.Handoff.Application;\nX-Handoff-ActivityTypes=org.example.notes.text;\n")
        both.append(machine)
    pair(*both)
    yield both
    # What the broker has started ends with its screen.
    both[0].kill(str(PROGRAM))
    for machine in both:
        machine.screen.close()


def call(machine: Machine, member: str, arguments: GLib.Variant) -> None:
    """Asks something of the application that runs there."""
    machine.session.call(f"/{APPLICATION_ID.replace('.', '/')}", member, arguments, destination=APPLICATION_ID)


def save_as(machine: Machine, path: str) -> None:
    """Has the window in front save its document elsewhere, or close if the path is empty."""
    call(machine, "org.gtk.Actions.Activate", GLib.Variant("(sava{sv})", ("save-as", [GLib.Variant("s", path)], {})))


def show(machine: Machine, letter: Path) -> None:
    """Turns to the window of a document."""
    wait(lambda: str(letter) in machine.screen.titles(), f"the window of {letter.name}", 30)
    machine.screen.ask("xdotool", "search", "--name", f"^{letter}$", "windowfocus", "--sync")


def test_windows_of_documents(machines: list[Machine]) -> None:
    """Each window of a GTK application has the activity of its document by one call: it is current while the user is there,
    follows the document that is saved elsewhere, goes on in the application's own window on the other device, and ends with
    the window."""
    desk, lap = machines
    letters = [Path(desk.environment["HOME"], name) for name in ("Ada.txt", "Jürgen.txt")]
    for letter in letters:
        letter.write_text(f"Dear {letter.stem}")
    desk.start(str(PROGRAM), str(letters[0]))
    show(desk, letters[0])
    call(desk, "org.freedesktop.Application.Open", GLib.Variant("(asa{sv})", ([letters[1].as_uri()], {})))
    show(desk, letters[1])
    dock = Dock(lap)
    dock.offer("Jürgen.txt")
    show(desk, letters[0])
    path = dock.offer("Ada.txt")
    wait(lambda: dock.offers[path]["Handlers"][0] == APPLICATION_ID, "the application on the other device")
    dock.continue_offer(path)
    wait(lambda: dock.finished(), "the outcome", 30)
    assert dock.finished()[-1] == (APPLICATION_ID, "", "")
    wait(lambda: str(folder(lap) / "Ada.txt") in lap.screen.titles(), "the window on the other device", 30)
    copy = letters[0].with_name("Countess.txt")
    copy.write_text("Dear Ada")
    save_as(desk, str(copy))
    assert dock.offer("Countess.txt")
    save_as(desk, "")
    wait(lambda: not dock.offers, "the end of the activity")
