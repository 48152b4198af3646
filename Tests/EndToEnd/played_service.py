# SPDX-License-Identifier: LGPL-2.1-or-later
"""A service on a bus that knows devices and is played, and what all such services do: see played_phone.py."""

from __future__ import annotations

from typing import Any

from gi.repository import Gio, GLib
from raw_client import BUS, RawConnection

ERROR = "org.freedesktop.DBus.Error"


def variant(kind: str, value: Any) -> GLib.Variant:
    return GLib.Variant(kind, value)


class Fault(Exception):
    """The error that a call is answered with."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(text)
        self.name = name if "." in name else f"{ERROR}.{name}"


class Played(RawConnection):
    """What all of them do."""

    NAME = ""

    def __init__(self, address: str) -> None:
        self.devices: dict[str, dict[str, Any]] = {}
        self.behaviours: dict[str, dict[str, str]] = {}
        self.seen: list[list[Any]] = []
        self.shared: list[list[str]] = []
        self.hanging: list[Gio.DBusMessage] = []
        super().__init__(address)

    # The bus

    def send(self, message: Gio.DBusMessage, body: GLib.Variant | None) -> None:
        if body:
            message.set_body(body)
        self.serial += 1
        message.set_serial(self.serial)
        self.socket.sendall(message.to_blob(Gio.DBusCapabilityFlags.NONE))

    def tell(self, path: str, interface: str, name: str, body: GLib.Variant | None = None) -> None:
        self.send(Gio.DBusMessage.new_signal(path, interface, name), body)

    def handle(self, message: Gio.DBusMessage) -> None:
        if message.get_message_type() != Gio.DBusMessageType.METHOD_CALL:
            super().handle(message)
            return
        self.seen.append([message.get_path(), f"{message.get_interface()}.{message.get_member()}", arguments(message)])
        behaviour = self.behaviours.get(message.get_member()) or self.behaviours.get("") or {"how": "answer"}
        if behaviour["how"] == "hang":
            self.hanging.append(message)
        elif behaviour["how"] == "error":
            self.send(message.new_method_error_literal(behaviour.get("name", f"{BUS}.Error.Failed"), behaviour.get("text", "")), None)
        elif behaviour["how"] == "reply":
            self.send(message.new_method_reply(), GLib.Variant.parse(None, behaviour["value"], None, None))
        else:
            self.reply(message)

    def reply(self, message: Gio.DBusMessage) -> None:
        try:
            answer, body = message.new_method_reply(), self.answer(message)
        except Fault as fault:
            answer, body = message.new_method_error_literal(fault.name, str(fault)), None
        self.send(answer, body)

    def answer(self, message: Gio.DBusMessage) -> GLib.Variant | None:
        """What a call is answered with, and what it does."""
        raise NotImplementedError

    def of_properties(self, message: Gio.DBusMessage, known: dict[str, GLib.Variant]) -> GLib.Variant | None:
        """The answer if it asks for properties."""
        match message.get_member():
            case "GetAll":
                return variant("(a{sv})", (known,))
            case "Get" if arguments(message)[1] in known:
                return variant("(v)", (known[arguments(message)[1]],))
        raise Fault("UnknownMethod", f"There is no {message.get_member()}.")

    # The orders

    def obey(self, order: dict[str, Any]) -> Any:
        match order.pop("do"):
            case "own":
                return self.call(BUS, "/org/freedesktop/DBus", f"{BUS}.RequestName", f"('{self.NAME}', uint32 4)")
            case "disown":
                return self.call(BUS, "/org/freedesktop/DBus", f"{BUS}.ReleaseName", f"('{self.NAME}',)")
            case "have":
                self.devices = {device["id"]: device for device in order["devices"]}
            case "add":
                device = self.devices[order["device"]["id"]] = order["device"]
                self.tell_added(device)
            case "remove":
                self.tell_removed(self.devices.pop(order["id"]))
            case "change":
                self.devices[order["id"]] |= order["values"]
                self.tell_changed(self.devices[order["id"]], order["values"])
            case "behave":
                self.behaviours[order.pop("member")] = order
            case "release":
                hanging, self.hanging = self.hanging, []
                for message in hanging:
                    self.reply(message)
            case "calls":
                return self.seen
            case "shared":
                return self.shared
        return ""


def arguments(message: Gio.DBusMessage) -> tuple[Any, ...]:
    body = message.get_body()
    return body.unpack() if body else ()
