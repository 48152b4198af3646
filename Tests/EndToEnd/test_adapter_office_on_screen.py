# SPDX-License-Identifier: LGPL-2.1-or-later
"""Documents go on between two sessions in the real LibreOffice."""

from __future__ import annotations

import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from gi.repository import GLib
from buses import wait
from clients import Client, Dock, user_info
from desktops import install_entry
from editors import bin_folder, started
from offices import PATIENCE, Office, command_line, prepare, sheets, slides, text
from screen import Screen
from support import Machine
from test_desktop_entries import have_bus_start
from vendor import own_id, team_of

pytestmark = pytest.mark.desktop
OFFICE = own_id("Office")
KIND = "org.example.Handoff.EditingDocument"


@pytest.fixture
def desks(machines: tuple[Machine, Machine]) -> Iterator[tuple[SimpleNamespace, SimpleNamespace]]:
    """Two machines with a screen, a window manager and LibreOffice with the extension."""
    made: list[SimpleNamespace] = []
    try:
        for machine in machines:
            screen = Screen(machine.folder)
            desk = SimpleNamespace(machine=machine, screen=screen, home=Path(machine.environment["HOME"]), offices=[])
            made.append(desk)
            prepare(machine, screen)
            with open(machine.log_file("openbox"), "wb") as log:
                desk.manager = subprocess.Popen(["openbox"], env=machine.environment, stdout=log, stderr=log)
            soffice = bin_folder(machine) / "soffice"
            soffice.write_text(f'#!/bin/sh\nexec /usr/bin/{" ".join(command_line(machine))} "$@"\n')
            soffice.chmod(0o755)
            machine.environment["PATH"] = f"{bin_folder(machine)}:{machine.environment['PATH']}"
            variables = " ".join(f"{name}={machine.environment[name]}" for name in (
                "PATH", "DISPLAY", "SAL_USE_VCLPLUGIN", "NO_AT_BRIDGE", "GSETTINGS_BACKEND", "XDG_DATA_DIRS"))
            have_bus_start(machine, OFFICE, f"/usr/bin/env {variables} {started(machine, 'office').removeprefix('/usr/bin/env ')}")
            install_entry(machine, OFFICE)
        yield made[0], made[1]
    finally:
        for desk in made:
            for office in desk.offices:
                office.close()
            # What the adapter has started belongs to nobody else.
            subprocess.run(["pkill", "-KILL", "-f", f"UserInstallation=file://{desk.machine.folder}/"], check=False)
            if hasattr(desk, "manager"):
                desk.manager.kill()
                desk.manager.wait()
            desk.screen.close()


def begin(desk: SimpleNamespace, *arguments: Path | str) -> Office:
    office = Office(desk.machine, desk.screen, *arguments)
    desk.offices.append(office)
    return office


def go_on(desks: tuple[SimpleNamespace, SimpleNamespace], title: str, number: int = 1) -> None:
    """Continues what is open on the first machine on the second."""
    dock = Dock(desks[1].machine)
    dock.continue_offer(dock.offer(title, PATIENCE))
    assert dock.outcome(PATIENCE, number) == (OFFICE, "", "")


def place(desks: tuple[SimpleNamespace, SimpleNamespace], title: str) -> dict[str, Any]:
    """Where the office of the second machine is in what is in front there, as an application of the first is told."""
    desk, lap = desks
    reader = Client(desk.machine, "com.example.reader", (KIND,), options={"Team": GLib.Variant("s", team_of("Office"))})
    dock = Dock(desk.machine)
    path = dock.offer(title, PATIENCE)
    wait(lambda: "com.example.reader" in dock.offers[path]["Handlers"], "the reader to be known")
    dock.continue_offer(path, ApplicationId="com.example.reader")
    found = {name: value.unpack() for name, value in user_info(reader.wait_for("ContinueActivity", timeout=PATIENCE)).items()}
    reader.close()
    return found


def content(path: Path) -> bytes:
    """What is in a document; nothing while it is being written."""
    try:
        return zipfile.ZipFile(path).read("content.xml")
    except (OSError, zipfile.BadZipFile):
        return b""


def save_as(desk: SimpleNamespace, office: Office, name: str) -> Path:
    """Saves what is in front under the name that the office proposes, in another folder, and returns where."""
    place = desk.home / name
    office.press("ctrl+shift+s")
    wait(lambda: office.front.startswith("Save"), "the dialog", PATIENCE)
    office.press("ctrl+a")
    office.type(str(place))
    office.press("Return")
    wait(lambda: content(place), "the document to be saved", PATIENCE)
    return place


def test_text_at_its_page(desks: tuple[SimpleNamespace, SimpleNamespace]) -> None:
    """A text goes on in the running LibreOffice at its page, to be read at first; what was not saved goes on as a document of the
    same name that is no file yet, with all that was typed. What is on the disk of the first machine stays as it was."""
    desk, lap = desks
    letter = text(desk.home / "A letter.odt")
    before = letter.read_bytes()
    here, there = begin(desk, letter), begin(lap, "--writer")
    here.focus("A letter.odt")
    there.focus("Untitled 1")
    here.press("ctrl+End")
    go_on(desks, "A letter.odt")
    there.shown("A letter.odt")
    assert place(desks, "A letter.odt")["page"] == 6
    here.press("ctrl+End")
    here.type("words that nobody has saved")
    go_on(desks, "A letter.odt")
    wait(lambda: len([title for title in lap.screen.titles() if title.startswith("A letter.odt")]) >= 2, "both", PATIENCE)
    assert place(desks, "A letter.odt")["page"] == 6
    assert list((lap.home / "Handoff").iterdir()) == [lap.home / "Handoff/A letter.odt"]
    there.focus("A letter.odt")
    saved = save_as(lap, there, "Kept.odt")
    assert b"words that nobody has saved" in content(saved) and letter.read_bytes() == before
    assert b"words" not in content(lap.home / "Handoff/A letter.odt")


@pytest.mark.parametrize("make, name, keys, expected", [
    (sheets, "Table.ods", ("Down", "Down", "Right"), {"sheet": "Rooms", "cell": "B3"}),
    (slides, "Talk.odp", ("Next", "Next"), {"slide": 3})])
def test_table_and_slides(desks: tuple[SimpleNamespace, SimpleNamespace], make: Any, name: str, keys: tuple[str, ...],
                          expected: dict[str, Any]) -> None:
    """A table goes on at its sheet and cell, and a presentation at its slide, where no office runs yet: it is started."""
    desk, lap = desks
    document = make(desk.home / name)
    here = begin(desk, document)
    here.focus(name)
    here.press(*keys)
    go_on(desks, name)
    assert place(desks, name).items() >= expected.items()


def test_another_program_in_front(desks: tuple[SimpleNamespace, SimpleNamespace]) -> None:
    """While another program is in front the document is not offered, and stays open; it is offered when the office is in front
    again, and over when it is closed."""
    desk, lap = desks
    here, dock = begin(desk, text(desk.home / "A letter.odt")), Dock(lap.machine)
    here.focus("A letter.odt")
    path = dock.offer("A letter.odt", PATIENCE)
    other = subprocess.Popen(["xterm", "-title", "Other"], env=desk.machine.environment, stderr=subprocess.DEVNULL)
    try:
        dock.wait_until_gone(path, PATIENCE)
    finally:
        other.kill()
        other.wait()
    here.focus("A letter.odt")
    path = dock.offer("A letter.odt", PATIENCE)
    here.press("ctrl+w")
    dock.wait_until_gone(path, PATIENCE)
