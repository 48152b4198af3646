# SPDX-License-Identifier: LGPL-2.1-or-later
"""Who is told of what the user chooses."""

from __future__ import annotations

from typing import Any

import pytest
from gi.repository import Gio, GLib
from buses import BROKER, ROOT, BusError, Session, wait
from clients import Client
from sandbox import Sandbox, can_be_made
from support import Machine, start_machine
from test_preferences import choose


class Listener(Session):
    """A program that hears all that the broker sends it."""

    def __init__(self, machine: Machine, address: str = "") -> None:
        super().__init__(address or machine.address)
        machine.sessions.append(self)
        self.heard: list[tuple[str, Any]] = []
        self.connection.signal_subscribe(BROKER, None, None, None, None, Gio.DBusSignalFlags.NONE, self._signalled)

    def _signalled(self, _connection: Gio.DBusConnection, _sender: str, _path: str, _interface: str, member: str,
                   arguments: GLib.Variant) -> None:
        self.heard.append((member, arguments.unpack()))


@pytest.fixture
def desk(machine_list: list[Machine]) -> Machine:
    return start_machine(machine_list, "desk")


def changed(name: str, value: Any) -> tuple[str, Any]:
    return "PropertiesChanged", ("org.example.Handoff.Preferences", {name: value}, [])


def test_readers_are_told_of_nothing_else(desk: Machine) -> None:
    """Who has read all preferences at once is told of each change, once, and of nothing else that happens; who has read but one
    is told nothing."""
    reader, other = Listener(desk), Listener(desk)
    for _ in range(2):
        reader.get_all(ROOT, "Preferences")
    other.get(ROOT, "Preferences.DisabledAdapters")
    Client(desk).offer("A letter")
    desk.set_enabled(False)
    choose(desk, "DisabledAdapters", GLib.Variant("as", ["media"]))
    expected = [changed("Enabled", False), changed("DisabledAdapters", ["media"])]
    wait(lambda: len(reader.heard) >= 2, "the changes")
    assert reader.heard == expected and not other.heard
    everything = Listener(desk)
    everything.managed_objects()
    everything.get_all(ROOT, "Preferences")
    choose(desk, "DisabledAdapters", GLib.Variant("as", []))
    wait(lambda: len(reader.heard) == 3, "the change")
    wait(lambda: everything.heard, "the change")
    assert everything.heard == [changed("DisabledAdapters", [])]


def test_sandboxed_reader(desk: Machine) -> None:
    """A sandboxed program cannot read the preferences, and is not told of them."""
    if reason := can_be_made(desk):
        pytest.skip(reason)
    box = Sandbox(desk, "com.example.intruder", f"--talk={BROKER}")
    intruder, reader = Listener(desk, box.address), Listener(desk)
    with pytest.raises(BusError):
        intruder.get_all(ROOT, "Preferences")
    reader.get_all(ROOT, "Preferences")
    choose(desk, "DisabledAdapters", GLib.Variant("as", ["media"]))
    wait(lambda: reader.heard, "the change")
    assert not intruder.heard
    intruder.close()
    box.close()
