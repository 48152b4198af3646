# SPDX-License-Identifier: LGPL-2.1-or-later
"""Folders that the file manager shows go on on another machine, if both share them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from gi.repository import GLib
from buses import BUS, BusError, wait
from clients import Dock
from fake_viewers import FakeManager
from screen import Screen
from support import Machine
from test_desktop_entries import have_bus_start
from viewers import ADAPTER, BROWSING, Desktop, address, installed

Desktops = tuple[Desktop, Desktop]
MANAGER = "org.freedesktop.FileManager1"


@pytest.fixture
def desktops(machines: tuple[Machine, Machine]) -> Iterator[Desktops]:
    """Two paired machines without displays, each with the adapter and a folder of its own in the shared one."""
    both = [Desktop(machine) for machine in machines]
    for desktop in both:
        (desktop.papers / "Letters" / "Old").mkdir(parents=True)
        desktop.start_adapter()
    yield both[0], both[1]
    for desktop in both:
        desktop.close()


def test_folder_in_front(desktops: Desktops) -> None:
    """The folder of the window in front can be continued if it is shared, and no other; of several tabs it is the one that
    has changed last."""
    desk, lap = desktops
    dock, agent = Dock(lap.machine), desk.agent()
    letters, old = address(desk.papers / "Letters"), address(desk.papers / "Letters" / "Old")
    manager = FakeManager(desk.machine, _1=[letters], _2=["file:///etc"], _3=["trash:///"])

    def front(number: int) -> None:
        desk.focus(agent, ApplicationId=GLib.Variant("s", "org.gnome.Nautilus"), BusName=GLib.Variant("s", manager.name),
                   WindowPath=GLib.Variant("o", f"/org/gnome/Nautilus/window/{number}"))

    front(1)
    path = dock.offer("Letters")
    assert dock.offers[path]["ActivityType"] == BROWSING
    for number in (2, 3):
        front(number)
        wait(lambda: not dock.titles, "nothing to be offered")
        front(1)
        dock.offer("Letters")
    manager.show(_1=[letters, old])
    dock.offer("Old")
    manager.show(_1=["file:///etc", old])
    wait(lambda: not dock.titles, "nothing to be offered")
    manager.show(_1=[letters])
    dock.offer("Letters")
    manager.show()
    wait(lambda: not dock.titles, "nothing to be offered")


def test_folder_goes_on(desktops: Desktops) -> None:
    """A folder is opened where the shared folder is on the other machine; without a file manager the user is told."""
    desk, lap = desktops
    FakeManager(desk.machine, _1=[address(desk.papers / "Letters")])
    dock = Dock(lap.machine)
    path = dock.offer("Letters")
    dock.continue_offer(path)
    _, error, message = dock.outcome()
    assert error and (MANAGER in message or "file manager" in message)
    manager = FakeManager(lap.machine)
    dock.continue_offer(path)
    assert wait(lambda: dock.finished()[1:], "the outcome")[0] == (ADAPTER, "", "")
    assert manager.shown == [address(lap.papers / "Letters")]


def test_folder_is_shared_no_longer(desktops: Desktops) -> None:
    """When the user shares a folder no longer, it is offered no longer, and it is again when it is shared again."""
    desk, lap = desktops
    FakeManager(desk.machine, _1=[address(desk.papers / "Letters")])
    dock = Dock(lap.machine)
    path = dock.offer("Letters")
    shared = desk.machine.session.get_variant("/org/example/Handoff", "Preferences.SharedFolders")
    desk.machine.session.set("/org/example/Handoff", "Preferences.SharedFolders", GLib.Variant("a{ss}", {}))
    dock.wait_until_gone(path)
    desk.machine.session.set("/org/example/Handoff", "Preferences.SharedFolders", shared)
    dock.offer("Letters")


@pytest.fixture
def screens(machines: tuple[Machine, Machine], tmp_path: Path) -> Iterator[Desktops]:
    """Two paired machines with displays, each with a folder of its own in the shared one."""
    if what := installed("Xvfb", "nautilus"):
        pytest.skip(f"{what}: meson-helpers/install-packages desktop")
    both = []
    for machine in machines:
        (tmp_path / machine.name).mkdir()
        desktop = Desktop(machine, Screen(tmp_path / machine.name))
        (desktop.papers / "Letters").mkdir()
        both.append(desktop)
    yield both[0], both[1]
    for desktop in both:
        desktop.close()


@pytest.mark.desktop
def test_nautilus(screens: Desktops) -> None:
    """A folder that Nautilus shows is shown by Nautilus on the other machine, which is started for that."""
    desk, lap = screens
    variables = " ".join(f"{name}={value}" for name, value in lap.environment.items())
    have_bus_start(lap.machine, MANAGER, f"/usr/bin/env {variables} nautilus --gapplication-service")
    for desktop in screens:
        desktop.start_adapter()
    dock = Dock(lap.machine)
    desk.start("nautilus", str(desk.papers / "Letters"))
    path = dock.offer("Letters")
    assert dock.offers[path]["ApplicationId"] == "org.gnome.Nautilus"
    dock.continue_offer(path)
    assert dock.outcome() == (ADAPTER, "", "")

    def shown() -> bool:
        arguments = GLib.Variant("(ss)", (MANAGER, "OpenWindowsWithLocations"))
        try:
            windows = lap.machine.session.call("/org/freedesktop/FileManager1", f"{BUS}.Properties.Get", arguments,
                                               destination=MANAGER).unpack()[0]
        except BusError:
            return False
        return [address(lap.papers / "Letters")] in windows.values()

    wait(shown, "the folder")
