# SPDX-License-Identifier: LGPL-2.1-or-later
"""A broker that says whatever a test wants, to whoever follows it."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Any

from gi.repository import Gio, GLib
from buses import BROKER, BUS, INTERFACES, ROOT, wait
from clients import interface_without
from support import Machine

MANAGER_XML = """<node><interface name="org.freedesktop.DBus.ObjectManager">
<method name="GetManagedObjects"><arg type="a{oa{sa{sv}}}" direction="out"/></method></interface></node>"""
OFFER = f"{BROKER}.RemoteActivity"
DEVICE = "d" * 64
DEFAULTS = {"b": False, "s": "", "u": 1, "q": 0, "as": [], "x": 0, "a{ss}": {}, "aa{sv}": []}


def interface_with(preferences: dict[str, GLib.Variant]) -> Gio.DBusInterfaceInfo:
    """Preferences, with these among them."""
    tree = ElementTree.parse(INTERFACES / f"{BROKER}.Preferences.xml")
    interface = tree.getroot().find("interface")
    known = {element.get("name") for element in interface.iter("property")}
    for name, value in preferences.items():
        if name not in known:
            ElementTree.SubElement(interface, "property", name=name, type=value.get_type_string(), access="read")
    xml = ElementTree.tostring(tree.getroot(), encoding="unicode")
    return Gio.DBusNodeInfo.new_for_xml(xml).interfaces[0]


class PlayedBroker:
    """The owner of the broker's name on a machine."""

    # By which means the desktop's clipboard is reached; and what pasting is answered with, unless that is empty.
    desktop = error = ""

    def __init__(self, machine: Machine, **preferences: GLib.Variant) -> None:
        # The devices that were pasted from.
        self.pasted: list[str] = []
        self.session = machine.connect()
        # What a broker says of which the user has chosen nothing.
        self.preferences = {"Enabled": GLib.Variant("b", True), "NotifyContinued": GLib.Variant("b", True)} | preferences
        self.offers: dict[str, dict[str, GLib.Variant]] = {}
        # Who is told of changes, as by a real broker: those who have asked what there is.
        self.followers: list[str] = []
        connection = self.session.connection
        objects = Gio.DBusNodeInfo.new_for_xml(MANAGER_XML).interfaces[0]
        connection.register_object(ROOT, objects, self._called, None, None)
        for interface in (interface_without("Manager", ()), interface_with(preferences), interface_without("Phones", ())):
            connection.register_object(ROOT, interface, None, self._read, None)
        connection.register_object(ROOT, interface_without("Clipboard", ()), self._paste,
                                   lambda *_: GLib.Variant("s", self.desktop), None)
        self.session.call("/org/freedesktop/DBus", f"{BUS}.RequestName", GLib.Variant("(su)", (BROKER, 4)),
                          destination=BUS)

    def _called(self, _connection: Gio.DBusConnection, sender: str, _path: str, _interface: str, _method: str,
                _arguments: GLib.Variant, invocation: Gio.DBusMethodInvocation) -> None:
        self.followers.append(sender)
        objects = {path: {OFFER: offer} for path, offer in self.offers.items()}
        invocation.return_value(GLib.Variant("(a{oa{sa{sv}}})", (objects,)))

    def _paste(self, _connection: Gio.DBusConnection, _sender: str, _path: str, _interface: str, _method: str,
               arguments: GLib.Variant, invocation: Gio.DBusMethodInvocation) -> None:
        self.pasted += arguments.unpack()
        if self.error:
            invocation.return_dbus_error(self.error, "Nothing\nis “there”.")
        else:
            invocation.return_value(GLib.Variant("(a{sv})", ({},)))

    def _read(self, _connection: Gio.DBusConnection, _sender: str, _path: str, interface: str,
              name: str) -> GLib.Variant:
        if name in self.preferences:
            return self.preferences[name]
        properties = interface_without(interface.rpartition(".")[2], ()).properties
        signature = next(one.signature for one in properties if one.name == name)
        return GLib.Variant(signature, DEFAULTS[signature])

    def wait_until_followed(self) -> None:
        wait(lambda: self.followers, "somebody to follow the broker")

    def signal(self, path: str, member: str, arguments: GLib.Variant) -> None:
        interface, _, name = member.rpartition(".")
        for follower in self.followers:
            self.session.connection.emit_signal(follower, path, interface, name, arguments)

    def offer(self, number: int, title: str, device: str = DEVICE, **properties: Any) -> str:
        """Offers something of a device."""
        path = f"{ROOT}/remote/{device}/{number:032x}"
        about = {"Title": title, "DeviceName": "desk", "ApplicationId": "com.example.editor", "DeviceId": device,
                 "State": "available", "Handlers": ["com.example.editor"]} | properties
        types = {bool: "b", str: "s", list: "as", float: "d", int: "x"}
        self.offers[path] = {name: GLib.Variant(types[type(value)], value) for name, value in about.items()}
        self.signal(ROOT, f"{BUS}.ObjectManager.InterfacesAdded",
                    GLib.Variant("(oa{sa{sv}})", (path, {OFFER: self.offers[path]})))
        return path

    def withdraw(self, path: str) -> None:
        del self.offers[path]
        self.signal(ROOT, f"{BUS}.ObjectManager.InterfacesRemoved", GLib.Variant("(oas)", (path, [OFFER])))

    def change(self, path: str, **properties: GLib.Variant) -> None:
        self.offers[path] |= properties
        self.signal(path, f"{BUS}.Properties.PropertiesChanged",
                    GLib.Variant("(sa{sv}as)", (OFFER, properties, [])))

    def continued(self, title: str, device: str = "desk") -> None:
        """Another device has continued something."""
        about = {"DeviceId": GLib.Variant("s", DEVICE), "DeviceName": GLib.Variant("s", device),
                 "ActivityType": GLib.Variant("s", "com.example.editor.edit"), "Title": GLib.Variant("s", title),
                 "ApplicationId": GLib.Variant("s", "com.example.editor"), "Time": GLib.Variant("x", 1)}
        self.signal(ROOT, f"{BROKER}.Manager.ActivityContinued", GLib.Variant("(a{sv})", (about,)))
