# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sending, and applications that the user keeps out of Handoff."""

from __future__ import annotations

from gi.repository import GLib
from buses import wait
from choices import choose
from clients import APPLICATION_ID, Client, Dock
from sending import hidden_as_sent, send, wait_until_invited
from support import Machine, refused


def exclude(machine: Machine, *names: str) -> None:
    """Keeps these applications out, and no others."""
    choose(machine, "ExcludedApplications", GLib.Variant("as", names))


def test_excluded_here(machines: tuple[Machine, Machine]) -> None:
    """What is current in an application that the user has excluded cannot be sent."""
    desk, lap = machines
    dock, _target = Dock(lap), Client(lap)
    Client(desk).offer("A letter")
    path = dock.offer("A letter")
    exclude(desk, APPLICATION_ID)
    with refused("OfferWithdrawn"):
        send(desk, lap.device_id)
    dock.wait_until_gone(path)
    exclude(desk)
    dock.offer("A letter")
    send(desk, lap.device_id)
    wait_until_invited(dock, "A letter")


def test_excluded_there(machines: tuple[Machine, Machine]) -> None:
    """What is sent is hidden where the user has excluded the application that would continue it, and says that it was
    sent."""
    desk, lap = machines
    dock, target = Dock(lap), Client(lap)
    exclude(lap, APPLICATION_ID)
    Client(desk).offer("A letter")
    wait(lambda: not hidden_as_sent(lap) and not dock.offers, "nothing to be shown")
    send(desk, lap.device_id)
    wait(lambda: hidden_as_sent(lap) == ["A letter"], "it to be hidden as sent")
    assert not dock.offers and not target.calls
