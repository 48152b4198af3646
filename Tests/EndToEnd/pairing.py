# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the user of a machine does and sees when pairing."""

from __future__ import annotations

from typing import Any

from gi.repository import GLib
from buses import BRIDGE_ROOT, BusError, wait
from link import Device
from support import Machine, device_path

YES = GLib.Variant("(b)", (True,))


def discoverable(machine: Machine, value: bool = True) -> None:
    machine.session.set(BRIDGE_ROOT, "Bridge.Discoverable", GLib.Variant("b", value))


def shown(machine: Machine, device_id: str) -> dict[str, Any]:
    """What a machine shows about a device; nothing if it does not know the device."""
    try:
        values = machine.session.get_all(device_path(device_id), "Device")
    except BusError:
        return {}
    return {name: value.unpack() for name, value in values.items()}


def state(machine: Machine, device_id: str) -> str:
    return shown(machine, device_id).get("PairingState", "")


def call(machine: Machine, device_id: str, member: str, arguments: GLib.Variant | None = None) -> None:
    machine.session.call(device_path(device_id), f"Device.{member}", arguments)


def ask_until_the_user_is_needed(machine: Machine) -> None:
    """Strangers ask a discoverable machine so often that it takes part in no more attempts without its user."""
    for _ in range(3):
        device = Device()
        link = device.link_to(machine)
        link.hello(paired=False)
        link.call("Pairing.Commit", GLib.Variant("(ay)", (bytes(32),)))
        link.close()
        wait(lambda: state(machine, device.id) in ("", "none"), "the end")
