# SPDX-License-Identifier: LGPL-2.1-or-later
"""Daemons that say whatever a test wants of what can be pasted here."""

from __future__ import annotations

from typing import Any

from gi.repository import Gio, GLib
from buses import BRIDGE, BRIDGE_ROOT, BUS, ROOT
from played_broker import MANAGER_XML, PlayedBroker
from support import Machine

# A device beside that of the played broker.
OTHER = "e" * 64


class BrokerWithClipboard(PlayedBroker):
    """A broker whose user wants that of the clipboard."""

    def __init__(self, machine: Machine, mode: str = "ask", desktop: str = "X11") -> None:
        self.desktop = desktop
        super().__init__(machine, Clipboard=GLib.Variant("s", mode))

    def become(self, interface: str, **properties: GLib.Variant) -> None:
        """Tells of other values of properties of the root."""
        self.signal(ROOT, f"{BUS}.Properties.PropertiesChanged",
                    GLib.Variant("(sa{sv}as)", (f"org.example.Handoff.{interface}", properties, [])))


class BridgeWithDevices:
    """The owner of the bridge's name on a machine, which is connected to these devices: their names by their ids."""

    def __init__(self, machine: Machine, **names: str) -> None:
        self.session = machine.connect()
        self.objects = {f"{BRIDGE_ROOT}/devices/{device}": {"org.example.Handoff.Device": {
            "DeviceId": GLib.Variant("s", device), "Name": GLib.Variant("s", name), "Paired": GLib.Variant("b", True),
            "Connected": GLib.Variant("b", True)}} for device, name in names.items()}
        self.session.connection.register_object(
            BRIDGE_ROOT, Gio.DBusNodeInfo.new_for_xml(MANAGER_XML).interfaces[0], self._called, None, None)
        self.session.call("/org/freedesktop/DBus", f"{BUS}.RequestName", GLib.Variant("(su)", (BRIDGE, 4)),
                          destination=BUS)

    def _called(self, *arguments: Any) -> None:
        arguments[-1].return_value(GLib.Variant("(a{oa{sa{sv}}})", (self.objects,)))
