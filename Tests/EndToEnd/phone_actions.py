# SPDX-License-Identifier: LGPL-2.1-or-later
"""GSConnect and Valent, played: devices of an ObjectManager, each of which has actions: see played_phone.py."""

from __future__ import annotations

import re
from typing import Any

from gi.repository import Gio, GLib
from played_service import Fault, Played, arguments, variant
from raw_client import BUS


class GSConnect(Played):
    """The objects of GSConnect: devices with actions."""

    NAME = "org.gnome.Shell.Extensions.GSConnect"
    ACTIONS = {"shareUri": "s", "shareFile": "(sb)", "shareText": "s"}

    def path(self, device: dict[str, Any]) -> str:
        return f"{self.root}/Device/" + re.sub(r"[^A-Za-z0-9_]+", "_", device["id"])

    @property
    def root(self) -> str:
        return "/" + self.NAME.replace(".", "/")

    def about(self, device: dict[str, Any]) -> dict[str, GLib.Variant]:
        return {"Connected": variant("b", device["reachable"]), "Paired": variant("b", device["paired"]),
                "Name": variant("s", device["name"]), "Id": variant("s", device["id"]), "Type": variant("s", device["type"]),
                "IconName": variant("s", "smartphone-symbolic"), "EncryptionInfo": variant("s", "")}

    def interfaces(self, device: dict[str, Any]) -> dict[str, dict[str, GLib.Variant]]:
        return {f"{self.NAME}.Device": self.about(device)}

    def actions(self, device: dict[str, Any]) -> dict[str, tuple[bool, str, list[Any]]]:
        """The actions of a device that there are, as org.gtk.Actions describes them."""
        there = self.ACTIONS if device["paired"] and device["shares"] else {}
        return {name: (device["reachable"], kind, []) for name, kind in there.items()}

    def answer(self, message: Gio.DBusMessage) -> GLib.Variant | None:
        if message.get_path() == self.root and message.get_member() == "GetManagedObjects":
            objects = {self.path(device): self.interfaces(device) for device in self.devices.values()}
            return variant("(a{oa{sa{sv}}})", (objects,))
        for device in self.devices.values():
            if self.path(device) == message.get_path():
                return self.of_device(message, device)
        raise Fault("UnknownMethod", f"Object does not exist at path “{message.get_path()}”")

    def of_device(self, message: Gio.DBusMessage, device: dict[str, Any]) -> GLib.Variant | None:
        actions = self.actions(device)
        match message.get_interface(), message.get_member():
            case "org.gtk.Actions", "List":
                return variant("(as)", (list(actions),))
            case "org.gtk.Actions", "DescribeAll":
                return variant("(a{s(bgav)})", (actions,))
            case "org.gtk.Actions", "Describe" if arguments(message)[0] in actions:
                return variant("((bgav))", (actions[arguments(message)[0]],))
            case "org.gtk.Actions", "Activate" if arguments(message)[0] in actions:
                self.activate(message, device)
                return None
            case "org.gtk.Actions", _:
                raise Fault("InvalidArgs", "Unknown action")
        return self.of_properties(message, self.about(device))

    def activate(self, message: Gio.DBusMessage, device: dict[str, Any]) -> None:
        enabled, kind, _ = self.actions(device)[arguments(message)[0]]
        parameters = message.get_body().get_child_value(1)
        given = parameters.get_child_value(0).get_variant() if parameters.n_children() else None
        if (given.get_type_string() if given else "") != kind:
            raise Fault("InvalidArgs", "Invalid parameter")
        # One that is not enabled does nothing, and says nothing.
        if enabled:
            value = given.unpack()
            addresses = [value] if isinstance(value, str) else value[:1] if isinstance(value, tuple) else value
            self.shared += [[device["id"], address] for address in addresses]

    def tell_added(self, device: dict[str, Any]) -> None:
        self.tell(self.root, f"{BUS}.ObjectManager", "InterfacesAdded",
                  variant("(oa{sa{sv}})", (self.path(device), self.interfaces(device))))

    def tell_removed(self, device: dict[str, Any]) -> None:
        self.tell(self.root, f"{BUS}.ObjectManager", "InterfacesRemoved",
                  variant("(oas)", (self.path(device), list(self.interfaces(device)))))

    def tell_changed(self, device: dict[str, Any], values: dict[str, Any]) -> None:
        self.tell(self.path(device), f"{BUS}.Properties", "PropertiesChanged",
                  variant("(sa{sv}as)", (f"{self.NAME}.Device", self.about(device), [])))
        actions = self.actions(device)
        gone = [name for name in self.ACTIONS if name not in actions]
        changed = {name: device["reachable"] for name in actions} if "reachable" in values else {}
        added = actions if values.keys() & {"paired", "shares"} else {}
        self.tell(self.path(device), "org.gtk.Actions", "Changed",
                  variant("(asa{sb}a{sv}a{s(bgav)})", (gone, changed, {}, added)))


class Valent(GSConnect):
    """The objects of Valent, which has other names for the same."""

    NAME = "ca.andyholmes.Valent"
    ACTIONS = {"share.uri": "s", "share.uris": "as", "share.text": "s"}

    def path(self, device: dict[str, Any]) -> str:
        return f"{self.root}/Device/" + Gio.dbus_escape_object_path(device["id"])

    def about(self, device: dict[str, Any]) -> dict[str, GLib.Variant]:
        return {"Name": variant("s", device["name"]), "Id": variant("s", device["id"]),
                "IconName": variant("s", "phone-symbolic"),
                "State": variant("u", device["reachable"] + 2 * device["paired"])}
