# SPDX-License-Identifier: LGPL-2.1-or-later
"""An application in a Flatpak, from its installation on: what Flatpak exports of it, what it may on the bus, what it sees."""

from __future__ import annotations

from pathlib import Path

import pytest
from gi.repository import GLib
from buses import BROKER, ROOT, wait
from clients import Client, Dock
from flatpaks import ID, TYPE, Notes, exports
from origin import files, handed
from sandbox import can_be_made
from support import Machine, pair, start_machine
from test_desktop_entries import accepts
from test_document_portal import real_portal

Machines = tuple[Machine, Machine]


@pytest.fixture
def pair_of(machine_list: list[Machine]) -> Machines:
    """Two machines, the second with Flatpak, which has nothing installed yet."""
    desk, lap = start_machine(machine_list, "desk"), Machine("lap")
    machine_list.append(lap)
    if reason := can_be_made(lap):
        pytest.skip(reason)
    # As /etc/profile.d/flatpak.sh and systemd's generator have it in each session.
    lap.environment["XDG_DATA_DIRS"] = f"{exports(lap)}:{lap.environment['XDG_DATA_DIRS']}:/usr/share"
    lap.kill("dbus-daemon")
    lap.start_bus()
    lap.start_broker()
    lap.start_bridge()
    pair(desk, lap)
    return desk, lap


def text(words: str) -> dict[str, GLib.Variant]:
    return {"text": GLib.Variant("s", words)}


@pytest.mark.parametrize("way", ["the bus", "its Exec line"])
def test_from_its_installation_on(pair_of: Machines, way: str) -> None:
    """An application that is installed from a Flatpak, with the permission for the broker's name alone, is found by what Flatpak
    exports of it, started by that, and handed an activity; what its user does in it goes on elsewhere."""
    desk, lap = pair_of
    notes = Notes(lap, is_activatable=way == "the bus")
    origin, dock = Client(desk, application_id=ID, types=(TYPE,)), Dock(lap)
    origin.create(TYPE, Title="milk", UserInfo=text("milk")).become_current()
    path = dock.offer("milk")
    wait(lambda: dock.offers[path]["HandlersToStart"] == [ID], "the exported entry to count")
    dock.continue_offer(path)
    assert dock.outcome() == (ID, "", "")
    assert notes.told() == {"text": "milk", "came_from": "desk", "document": "", "content": ""}
    origin.wait_for("WasContinued")
    notes.look(lap.folder / "bus")
    notes.edit("milk and bread")
    dock = Dock(desk)
    dock.continue_offer(dock.offer("milk and bread"))
    assert dock.outcome() == (ID, "", "")
    assert origin.wait_for("ContinueActivity").arguments.unpack()[0]["UserInfo"] == {"text": "milk and bread"}
    assert notes.told(2) == {"available": True, "sees": False} and notes.told(3) == {"went_to": "desk"}


@pytest.mark.desktop
def test_documents(pair_of: Machines) -> None:
    """A document that is continued in a Flatpak is opened there by the path that it is handed, through the portal of
    xdg-desktop-portal; once it is changed there and named as the one that is edited, it goes on elsewhere as it is now."""
    desk, lap = pair_of
    with real_portal(lap) as documents:
        notes = Notes(lap)
        origin, dock = Client(desk, application_id=ID, types=(TYPE,)), Dock(lap)
        letter = desk.folder / "Shopping.txt"
        letter.write_text("milk")
        origin.create(TYPE, Title="Shopping", DocumentURL=letter.as_uri()).become_current()
        path = dock.offer("Shopping")
        wait(lambda: dock.offers[path]["HandlersToStart"] == [ID], "the exported entry to count")
        dock.continue_offer(path)
        assert dock.outcome() == (ID, "", "")
        told = notes.told()
        document = Path(told["document"])
        assert document.parent.parent == documents and document.name == letter.name and told["content"] == "milk"
        notes.edit("Shopping, too", told["document"])
        dock = Dock(desk)
        dock.continue_offer(dock.offer("Shopping, too"))
        assert dock.outcome() == (ID, "", "")
        assert Path(handed(origin)).read_text() == "milk, and eggs"
        assert files(lap) == {letter.name: b"milk, and eggs"}


def test_without_the_permission(pair_of: Machines) -> None:
    """A Flatpak without the permission for the broker's name runs as if there was no Handoff; once its user has given it, it
    takes part from its next start on."""
    desk, lap = pair_of
    notes = Notes(lap)
    witness = Client(lap, application_id=ID, types=())
    wait(lambda: accepts(witness, TYPE), "the exported entry to count")
    notes.set_permission(False)
    process = notes.start()
    notes.edit("milk")
    notes.look("/")
    assert notes.told()["available"] is False
    notes.quit(process)
    notes.set_permission(True)
    notes.start()
    notes.edit("milk and bread")
    Client(desk, application_id=ID, types=(TYPE,))
    assert Dock(desk).offer("milk and bread")
