# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sending what a machine offers to one peer, as its user does, and what is shown of that."""

from __future__ import annotations

import time

from gi.repository import GLib
from buses import ROOT, wait
from clients import Dock
from support import Machine, device_path

# How soon another invitation of the same peer is shown.
PACE = 10.0


def send(machine: Machine, device_id: str) -> None:
    """Sends what the machine offers to a device."""
    machine.session.call(device_path(device_id), "Device.Send")


def send_error(machine: Machine, device_id: str) -> str:
    """Why the device did not take what was sent last."""
    return machine.session.get(device_path(device_id), "Device.SendError")


def mute(machine: Machine, device_id: str, muted: bool = True) -> None:
    """Mutes a device, or no longer."""
    machine.session.set(device_path(device_id), "Device.Muted", GLib.Variant("b", muted))


def invited(dock: Dock) -> list[str]:
    """The titles of the offers that are shown as sent."""
    return [offer["Title"] for offer in dock.offers.values() if offer["Invited"]]


def wait_until_invited(dock: Dock, title: str, timeout: float = PACE + 2) -> float:
    """Waits until the offer with this title, and no other, is shown as sent; returns after how many seconds it was."""
    begin = time.monotonic()
    wait(lambda: invited(dock) == [title], f"“{title}” to be shown as sent", timeout)
    return time.monotonic() - begin


def hidden_as_sent(machine: Machine) -> list[str]:
    """The titles of the hidden offers that were sent."""
    return [offer["Title"] for offer in machine.session.get(ROOT, "Manager.HiddenOffers") if offer["Invited"]]
