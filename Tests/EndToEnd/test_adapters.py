# SPDX-License-Identifier: LGPL-2.1-or-later
"""Adapters, which stand for applications that do not know Handoff, and what happens when such an application learns it."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from gi.repository import Gio, GLib
from buses import BROKER, ROOT, BusError, let_pass, wait
from choices import choose, hidden, restarted
from clients import ACTIVITY_TYPE, APPLICATION_ID, Client, Dock
from sandbox import Sandbox, can_be_made
from support import SANITIZED, Machine, memory, refused
from test_desktop_entries import STARTED, accepts, have_bus_start, install

Machines = tuple[Machine, Machine]
OTHER_ID = "com.example.other"
ADAPTER = {"Adapter": GLib.Variant("b", True)}
MIB = 1 << 20


class Adapter(Client):
    """An adapter, which keeps what the broker tells it: the signals that it is sent, in order."""

    def __init__(self, machine: Any, application_id: str = APPLICATION_ID, **options: GLib.Variant) -> None:
        super().__init__(machine, application_id, (ACTIVITY_TYPE,), register=False, options=ADAPTER | options)
        self.signals: list[tuple[str, Any]] = []
        self.connection.signal_subscribe(
            BROKER, None, None, None, None, Gio.DBusSignalFlags.NONE,
            lambda *signal: self.signals.append((signal[4], signal[5].unpack())))
        self.register()

    @property
    def endings(self) -> list[tuple[str, str]]:
        return [arguments for name, arguments in self.signals if name == "RegistrationEnded"]

    def ending(self) -> str:
        """Waits until it has been told that its registration has ended, and returns the reason."""
        application_id, reason = wait(lambda: self.endings, "RegistrationEnded")[-1]
        assert application_id == self.application_id
        return reason


def native(machine: Any, application_id: str = APPLICATION_ID, **options: GLib.Variant) -> Client:
    """The application itself."""
    return Client(machine, application_id, (ACTIVITY_TYPE,), options=options)


def disable(machine: Machine, *names: str) -> None:
    choose(machine, "DisabledAdapters", GLib.Variant("as", names))


def accepts_adapter(client: Client) -> bool:
    """Whether the client may be an adapter now."""
    try:
        client.register()
    except BusError as error:
        assert error.name.endswith("NotSupported") and "X-Handoff-Adapter" in error.message
        return False
    return True


def test_adapter_of_an_installed_application(machine: Machine) -> None:
    """An adapter gives way to a desktop entry with which its application takes part itself, and is refused as long as that
    is installed; an entry that belongs to an adapter is in nobody's way."""
    install(machine, APPLICATION_ID, ActivityTypes=ACTIVITY_TYPE, **{"X-Handoff-Adapter": "media"})
    adapter = Adapter(machine)
    activity = adapter.offer("A film")
    path = install(machine, APPLICATION_ID, ActivityTypes=ACTIVITY_TYPE)
    assert "neither Adapter nor X-Handoff-Adapter" in adapter.ending()
    with refused("UnknownObject"):
        activity.get("Title")
    assert not accepts_adapter(adapter)
    restarted(machine)
    assert not accepts_adapter(adapter)
    path.unlink()
    wait(lambda: accepts_adapter(adapter), "the entry to be gone")
    install(machine, APPLICATION_ID, ActivityTypes=ACTIVITY_TYPE, **{"X-Handoff-Adapter": "media"})
    install(machine, OTHER_ID, ActivityTypes=ACTIVITY_TYPE)
    other = Adapter(machine, OTHER_ID + "s")
    other.application_id = OTHER_ID
    wait(lambda: not accepts_adapter(other), "the entries to count")
    assert accepts_adapter(adapter) and len(adapter.endings) == 1


def test_entry_with_a_bad_name(machine: Machine) -> None:
    """An entry that names what cannot be an adapter is ignored, as is any that is not what it should be."""
    install(machine, APPLICATION_ID, ActivityTypes="com.example.entry", **{"X-Handoff-Adapter": "../media"})
    install(machine, OTHER_ID, ActivityTypes="com.example.entry")
    client = Client(machine, OTHER_ID, ())
    wait(lambda: accepts(client, "com.example.entry"), "the good entry to count")
    # Without that name, it would be in the way of the adapter.
    with refused("TypeNotDeclared"):
        Adapter(machine).create("com.example.entry")


def test_sandboxed_adapter(machine: Machine) -> None:
    """A sandboxed program is an adapter of its own id only, and replaces no adapter of another."""
    if reason := can_be_made(machine):
        pytest.skip(reason)
    install(machine, APPLICATION_ID, ActivityTypes=ACTIVITY_TYPE, **{"X-Handoff-Adapter": "media"})
    other, witness = Adapter(machine, OTHER_ID), Client(machine, types=(), options=ADAPTER)
    wait(lambda: accepts(witness, ACTIVITY_TYPE), "the entry to count")
    witness.close()
    sandbox = Sandbox(machine, APPLICATION_ID)
    for options in (ADAPTER, {}):
        with refused("AccessDenied", containing=("sandbox",)):
            Client(sandbox, OTHER_ID, (), options=options)
    own = Adapter(machine)
    own.offer("Mine")
    assert Client(sandbox, APPLICATION_ID, (), options=ADAPTER).create(ACTIVITY_TYPE)
    assert not own.endings
    Client(sandbox, APPLICATION_ID, ())
    own.ending()
    assert other.create() and not other.endings
    sandbox.close()


def test_adapter_that_is_switched_off(machines: Machines) -> None:
    """What belongs to an adapter that the user switches off is at once no handler and is not started, and is back at once
    when it is switched on; that is kept over a restart."""
    desk, lap = machines
    player, result = "com.example.player", lap.folder / "result"
    have_bus_start(lap, player, f"{sys.executable} {STARTED} {player} {ACTIVITY_TYPE} {result}")
    install(lap, player, ActivityTypes=ACTIVITY_TYPE, DBusActivatable="true", **{"X-Handoff-Adapter": "media"})
    origin, dock = native(desk, player), Dock(lap)
    origin.offer("A film")
    path = dock.offer("A film")
    assert dock.offers[path]["HandlersToStart"] == [player]
    disable(lap, "browser")
    assert dock.offers[path]["Handlers"] == [player]
    disable(lap, "browser", "media")
    dock.wait_until_gone(path)
    assert hidden(lap)[0]["Title"] == "A film"
    restarted(lap)
    dock.follow()
    choose(lap, "ShowUnhandledOffers", GLib.Variant("b", True))
    path = dock.offer("A film")
    assert dock.offers[path]["Handlers"] == []
    for options in ({}, {"ApplicationId": player}):
        with refused("NoApplication", "InvalidArgs"):
            dock.continue_offer(path, **options)
    # As long as a program takes to be started, and to write that it was.
    let_pass(0.3)
    assert not result.exists()
    disable(lap, "browser")
    wait(lambda: dock.offers[path]["Handlers"] == [player], "the handler again")
    dock.continue_offer(path)
    wait(result.exists, "the player to be started")


@pytest.mark.long
def test_registrations_that_alternate(machine_list: list[Machine]) -> None:
    """However often an application and its adapters take each other's place, the broker's memory stays."""
    machine = Machine("desk")
    machine_list.append(machine)
    machine.start_broker()
    adapters = [Adapter(machine), Adapter(machine)]
    application = Client(machine, register=False)
    bulk = GLib.Variant("s", "x" * 100_000)

    def alternate(times: int) -> None:
        for _ in range(times):
            for adapter in adapters:
                adapter.register()
                adapter.create(Title="Of the adapter", UserInfo={"bulk": bulk}).become_current()
            application.register()
            for adapter in adapters:
                with refused("NotSupported"):
                    adapter.register()
            application.call(ROOT, "Manager.UnregisterApplication")

    alternate(50)
    before = memory(machine, "handoffd")
    ended = len(adapters[0].endings)
    alternate(1000)
    wait(lambda: len(adapters[0].endings) == ended + 1000, "all endings")
    assert SANITIZED or memory(machine, "handoffd") - before < 2 * MIB
    for _ in range(200):
        one, itself = Adapter(machine), native(machine)
        one.ending()
        one.close()
        itself.close()
    assert SANITIZED or memory(machine, "handoffd") - before < 3 * MIB
    application.register()
    assert application.create().get("Title") == ""
