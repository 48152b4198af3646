#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""KDE Connect, GSConnect or Valent, played: what owns its name on a bus and has devices, without a network. It does what it is
told on its standard input, a line of JSON each time, and answers each with a line of JSON.

    played_phone.py kdeconnect|kdeconnect-old|gsconnect|valent

    {"do": "own"}, {"do": "disown"}          it takes its name, or gives it back
    {"do": "have", "devices": [DEVICE, …]}   it has these devices, and no others; it says nothing of that on the bus
    {"do": "add", "device": DEVICE}          one more, of which it tells
    {"do": "change", "id": ID, "values": {…}}, {"do": "remove", "id": ID}
    {"do": "behave", "member": MEMBER, "how": HOW, …}   how it answers this member, or all if that is empty: "answer", "hang",
                                             "error" with a name and a text, "reply" with a value, as GVariant writes it
    {"do": "release"}                        → what hangs is answered now
    {"do": "calls"}                          → [path, interface and member, arguments] of each call so far
    {"do": "shared"}                         → [id, address] of what it has been given to share

    DEVICE is {"id", "name", "type", "reachable", "paired", "shares"}. "kdeconnect-old" is that of Debian 12.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

from gi.repository import Gio, GLib
from phone_actions import GSConnect, Valent
from played_service import Fault, Played, arguments, variant

PAIRED = 3


class KDEConnect(Played):
    """The objects and signals of KDE Connect, from 23.08 on."""

    NAME = "org.kde.kdeconnect"
    PAIRED_NAME = "isPaired"
    ROOT = "/modules/kdeconnect"
    DAEMON, DEVICE, SHARE = f"{NAME}.daemon", f"{NAME}.device", f"{NAME}.device.share"
    PLUGIN = "kdeconnect_share"
    # The members that have arguments, and their types. Qt takes others for another member.
    TYPES = {"devices": ("", "b", "bb"), "deviceNames": ("", "b", "bb"), "hasPlugin": ("s",), "isPluginEnabled": ("s",),
             "shareUrl": ("s",), "shareUrls": ("as",), "shareText": ("s",), "openFile": ("s",), "Get": ("ss",),
             "GetAll": ("s",)}

    def path(self, device: dict[str, Any]) -> str:
        return f"{self.ROOT}/devices/{device['id']}"

    def answer(self, message: Gio.DBusMessage) -> GLib.Variant | None:
        member, path = message.get_member(), message.get_path()
        if message.get_signature() not in self.TYPES.get(member, ("",)):
            raise Fault("UnknownMethod", f"No such method '{member}' with signature '{message.get_signature()}'")
        if path == self.ROOT:
            return self.of_daemon(message)
        identity, _, plugin = path.removeprefix(f"{self.ROOT}/devices/").partition("/")
        device = self.devices.get(identity)
        if not device or plugin not in ("", "share") or plugin and not self.can_share(device):
            raise Fault("UnknownObject", f"No such object path '{path}'")
        if plugin:
            addresses = arguments(message)[0] if member == "shareUrls" else arguments(message)
            self.shared += [[identity, address] for address in addresses]
            return None
        return self.of_device(message, device)

    @staticmethod
    def can_share(device: dict[str, Any]) -> bool:
        return device["reachable"] and device["paired"] and device["shares"]

    def of_daemon(self, message: Gio.DBusMessage) -> GLib.Variant | None:
        reachable, paired = (*arguments(message), False, False)[:2]
        if message.get_member() in ("devices", "deviceNames"):
            found = {device["id"]: device["name"] for device in self.devices.values()
                     if (device["reachable"] or not reachable) and (device["paired"] or not paired)}
            return variant("(as)", (list(found),)) if message.get_member() == "devices" else variant("(a{ss})", (found,))
        return self.of_properties(message, {"pairingRequests": variant("as", []), "customDevices": variant("as", [])})

    def of_device(self, message: Gio.DBusMessage, device: dict[str, Any]) -> GLib.Variant | None:
        match message.get_member():
            case "hasPlugin":
                return variant("(b)", (arguments(message)[0] == self.PLUGIN and self.can_share(device),))
            case "isPluginEnabled":
                return variant("(b)", (arguments(message)[0] == self.PLUGIN and device["shares"],))
            case "loadedPlugins":
                return variant("(as)", ([self.PLUGIN] if self.can_share(device) else [],))
            case self.PAIRED_NAME:
                return variant("(b)", (device["paired"],))
        return self.of_properties(message, {
            "name": variant("s", device["name"]), "type": variant("s", device["type"]),
            "isReachable": variant("b", device["reachable"]), self.PAIRED_NAME: variant("b", device["paired"]),
            "supportedPlugins": variant("as", [self.PLUGIN])})

    def tell_list(self, name: str, device: dict[str, Any], *visible: bool) -> None:
        self.tell(self.ROOT, self.DAEMON, name, variant("(sb)" if visible else "(s)", (device["id"], *visible)))
        self.tell(self.ROOT, self.DAEMON, "deviceListChanged")

    def tell_added(self, device: dict[str, Any]) -> None:
        self.tell_list("deviceAdded", device)

    def tell_removed(self, device: dict[str, Any]) -> None:
        self.tell_list("deviceRemoved", device)

    def tell_paired(self, device: dict[str, Any]) -> None:
        self.tell(self.path(device), self.DEVICE, "pairStateChanged", variant("(i)", (PAIRED * device["paired"],)))

    def tell_changed(self, device: dict[str, Any], values: dict[str, Any]) -> None:
        if "name" in values:
            self.tell(self.path(device), self.DEVICE, "nameChanged", variant("(s)", (device["name"],)))
        if values.keys() & {"reachable", "paired", "shares"}:
            self.tell(self.path(device), self.DEVICE, "pluginsChanged")
        if values.keys() & {"reachable", "paired"}:
            self.tell_list("deviceVisibilityChanged", device, device["reachable"])
        if "reachable" in values:
            self.tell(self.path(device), self.DEVICE, "reachableChanged", variant("(b)", (device["reachable"],)))
        if "paired" in values:
            self.tell_paired(device)


class OldKDEConnect(KDEConnect):
    """KDE Connect until 23.04."""

    PAIRED_NAME = "isTrusted"

    def tell_paired(self, device: dict[str, Any]) -> None:
        self.tell(self.path(device), self.DEVICE, "trustedChanged", variant("(b)", (device["paired"],)))


SHAPES = {"kdeconnect": KDEConnect, "kdeconnect-old": OldKDEConnect, "gsconnect": GSConnect, "valent": Valent}


def play(shape: str) -> None:
    """What the program does, until it is ended or its input is."""
    played = SHAPES[shape](os.environ["DBUS_SESSION_BUS_ADDRESS"])
    loop = GLib.MainLoop()

    def told(*_: Any) -> bool:
        if line := sys.stdin.readline():
            print(json.dumps(played.obey(json.loads(line))), flush=True)
        else:
            loop.quit()
        return bool(line)

    def called(*_: Any) -> bool:
        played.take(0)
        return GLib.SOURCE_CONTINUE

    def left(*_: Any) -> bool:
        loop.quit()
        return GLib.SOURCE_REMOVE

    GLib.io_add_watch(sys.stdin.fileno(), GLib.PRIORITY_DEFAULT, GLib.IOCondition.IN | GLib.IOCondition.HUP, told)
    GLib.io_add_watch(played.socket.fileno(), GLib.PRIORITY_DEFAULT, GLib.IOCondition.IN, called)
    GLib.io_add_watch(played.socket.fileno(), GLib.PRIORITY_DEFAULT, GLib.IOCondition.HUP, left)
    GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGTERM, loop.quit)
    print(json.dumps("connected"), flush=True)
    loop.run()


if __name__ == "__main__":
    play(sys.argv[1])
