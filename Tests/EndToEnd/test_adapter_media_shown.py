# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which of the things that players play one after the other are offered, and current."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from gi.repository import GLib
from buses import ROOT, wait
from clients import Client, Dock
from origin import folder
from players import FILM, MEDIA, RADIO, FalsePlayer, start_adapter, start_seer, start_with_adapter, tone
from support import Machine

ACTIVITY = "org.example.Handoff.Activity"


@pytest.fixture
def desk(machine_list: list[Machine]) -> Machine:
    """A machine with players."""
    desk = start_with_adapter(machine_list, "desk")
    start_adapter(desk)
    return desk


@pytest.fixture
def dock(machine_list: list[Machine], desk: Machine) -> Dock:
    """Where what plays there can be continued."""
    return Dock(start_seer(machine_list, desk))


def current(machine: Machine) -> str:
    """What is current on a machine, also if it is not offered."""
    return next((one["Title"] for one in activities(machine) if one["Current"]), "")


def activities(machine: Machine) -> list[dict[str, Any]]:
    """What there is on a machine, as everybody may know it."""
    return [interfaces[ACTIVITY] for interfaces in machine.session.managed_objects().values() if ACTIVITY in interfaces]


def leads_nowhere(dock: Dock, player: FalsePlayer, came: str, own: str) -> None:
    """Checks that what has come is offered, and what it leads to is not."""
    player.plays(came, "Came")
    dock.offer("Came")
    # When it is played for the second time it is known what is in it.
    for _ in range(2):
        player.plays(own, "Own")
        wait(lambda: not dock.titles, "what has come to be offered no longer")
        player.plays(RADIO, "Radio")
        dock.offer("Radio")
    player.plays(own, "Own")
    wait(lambda: not dock.titles, "nothing to be offered")
    player.plays(came, "Came")
    dock.offer("Came")


def test_what_has_come_leads_nowhere(desk: Machine, dock: Dock) -> None:
    """Whoever has opened it, a player that plays what has come from another device offers that, and no other file that it
    goes on to."""
    folder(desk).mkdir()
    came = tone(folder(desk) / "Came.wav", 1)
    leads_nowhere(dock, FalsePlayer(desk), came.as_uri(), FILM)


def test_chosen_folder_leads_nowhere(desk: Machine, dock: Dock, tmp_path: Path) -> None:
    """So does one that plays from the folder that the user has chosen for documents, also if a link leads there."""
    (tmp_path / "disk" / "Received").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "disk")
    desk.session.set(ROOT, "Preferences.DocumentsFolder", GLib.Variant("s", str(tmp_path / "link" / "Received")))
    came = tone(tmp_path / "disk" / "Received" / "Came.wav", 1)
    leads_nowhere(dock, FalsePlayer(desk), came.as_uri(), FILM)


def test_folder_that_is_made_later_leads_nowhere(desk: Machine, dock: Dock, tmp_path: Path) -> None:
    """Nor does it matter that the folder behind the link is made only when something comes."""
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "disk")
    desk.session.set(ROOT, "Preferences.DocumentsFolder", GLib.Variant("s", str(tmp_path / "link" / "Received")))
    player = FalsePlayer(desk)
    player.plays(FILM, "Before")
    dock.offer("Before")
    (tmp_path / "disk" / "Received").mkdir()
    leads_nowhere(dock, player, tone(tmp_path / "disk" / "Received" / "Came.wav", 1).as_uri(), FILM)


def test_what_can_be_offered_again_is_current(desk: Machine, dock: Dock) -> None:
    """A player that goes on to something that is not to be offered, and then to something that is, is current again without
    being used anew, as long as the user has not been at anything else."""
    player = FalsePlayer(desk)
    player.plays(RADIO, "First")
    dock.offer("First")
    player.plays("screen://", "Odd")
    wait(lambda: not dock.titles, "nothing to be offered")
    player.plays(FILM, "Second")
    dock.offer("Second")
    player.plays("screen://", "Odd")
    wait(lambda: not dock.titles, "nothing to be offered")
    player.plays(FILM, "Second")
    dock.offer("Second")


def test_user_who_is_at_something_else_stays_there(desk: Machine, dock: Dock) -> None:
    """What the user has begun meanwhile stays current when a player goes on to something that can be offered again."""
    player = FalsePlayer(desk)
    player.plays(RADIO, "First")
    dock.offer("First")
    player.plays("screen://", "Odd")
    wait(lambda: not dock.titles, "nothing to be offered")
    letter = Client(desk).offer("A letter")
    wait(lambda: current(desk) == "A letter", "the letter to be current")
    player.plays(RADIO, "Third")
    wait(lambda: "Third" in [one["Title"] for one in activities(desk)], "what the player plays to be known")
    assert current(desk) == "A letter"
    letter.invalidate()


def test_window_in_front_is_current(desk: Machine, dock: Dock) -> None:
    """A player whose window the user works in becomes current as soon as what it plays can be offered, whatever the user has
    been at meanwhile."""
    agent = desk.connect()
    agent.call("/org/freedesktop/DBus", "org.freedesktop.DBus.RequestName",
               GLib.Variant("(su)", ("org.example.Handoff.Agent", 4)), destination="org.freedesktop.DBus")

    def focus(application: str) -> None:
        agent.call("/org/example/Handoff/Adapter", "Adapter.FrontChanged", GLib.Variant(
            "(a{sv})", ({"ApplicationId": GLib.Variant("s", application)} if application else {},)), destination=MEDIA)

    player = FalsePlayer(desk)
    player.plays(RADIO, "First")
    dock.offer("First")
    player.plays("screen://", "Odd")
    wait(lambda: not dock.titles, "nothing to be offered")
    focus("")
    letter = Client(desk).offer("A letter")
    wait(lambda: current(desk) == "A letter", "the letter to be current")
    focus("mpv")
    player.plays(RADIO, "Third")
    dock.offer("Third")
    letter.invalidate()
