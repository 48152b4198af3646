# SPDX-License-Identifier: LGPL-2.1-or-later
"""Connections to a session bus, and waiting for what happens there."""

from __future__ import annotations

import os
import struct
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from gi.repository import Gio, GLib

BROKER = "org.example.Handoff"
BRIDGE = "org.example.Handoff.Bridge"
ROOT = "/org/example/Handoff"
BRIDGE_ROOT = "/org/example/Handoff/Bridge"
BUS = "org.freedesktop.DBus"
STANDARD_ERROR = "org.freedesktop.DBus.Error"
HANDOFF_ERROR = "org.example.Handoff.Error"
INTERFACES = Path(__file__).resolve().parents[2] / "data" / "dbus-1" / "interfaces"

# Far more than anything takes that is not broken. A slow machine may set more.
TIMEOUT = float(os.environ.get("HANDOFF_TEST_TIMEOUT", "20"))

Result = TypeVar("Result")


def wait(condition: Callable[[], Result], what: str, timeout: float | None = None) -> Result:
    """Runs the main loop until the condition returns something true, and returns that. Without a timeout it waits for as long
    as nothing takes that is not broken."""
    context = GLib.MainContext.default()
    begin = time.monotonic()
    # Wakes the loop for conditions that nothing on it announces, such as a line in a log.
    tick = GLib.timeout_add(20, lambda: GLib.SOURCE_CONTINUE)
    try:
        while not (result := condition()):
            waited = time.monotonic() - begin
            if waited > (TIMEOUT * business() if timeout is None else timeout):
                raise AssertionError(f"not within {waited:.1f} s: {what}")
            context.iteration(True)
        return result
    finally:
        GLib.source_remove(tick)


def business() -> float:
    """How many times longer things may take here because other processes want the processors too; tests themselves keep two
    busy for each processor."""
    return min(max(os.getloadavg()[0] / (2 * (os.cpu_count() or 1)), 1), 4)


def let_pass(seconds: float) -> None:
    """Runs the main loop for a while, for tests that something does *not* happen."""
    end = time.monotonic() + seconds
    wait(lambda: time.monotonic() >= end, "the time to pass", seconds + TIMEOUT)


class BusError(Exception):
    """An error that a call was answered with."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(f"{name}: {message}")
        self.name = name
        self.message = message

    @property
    def short_name(self) -> str:
        """The name without its family."""
        return self.name.rpartition(".")[2]


def property_types(interface: str) -> dict[str, str]:
    """The properties of one of our interfaces and their types, as the contract has them."""
    tree = ElementTree.parse(INTERFACES / f"{BROKER}.{interface}.xml")
    return {element.get("name"): element.get("type") for element in tree.iter("property")}


ACTIVITY_PROPERTIES = property_types("Activity")


def properties(**values: Any) -> dict[str, GLib.Variant]:
    """Properties of an activity with the types of the contract; a GLib.Variant stays what it is."""
    return {name: value if isinstance(value, GLib.Variant) else GLib.Variant(ACTIVITY_PROPERTIES[name], value)
            for name, value in values.items()}


def entries(dictionary: GLib.Variant) -> dict[str, GLib.Variant]:
    """The entries of an a{sv}, the values still typed."""
    return {key: dictionary.lookup_value(key) for key in dictionary.keys()}


def typed(value: GLib.Variant) -> Any:
    """A value with the exact D-Bus type of each of its parts, in a form that compares and reads well."""
    signature = value.get_type_string()
    if signature == "v":
        return signature, typed(value.get_variant())
    if signature.startswith("a{"):
        pairs = [value.get_child_value(index) for index in range(value.n_children())]
        return signature, {typed(pair.get_child_value(0))[1]: typed(pair.get_child_value(1)) for pair in pairs}
    if signature == "d":
        # Bit by bit: of what is not a number there are many.
        return signature, struct.pack(">d", value.get_double()).hex()
    if value.is_container():
        return signature, [typed(value.get_child_value(index)) for index in range(value.n_children())]
    return signature, value.unpack()


def body_size(body: GLib.Variant) -> int:
    """How many bytes these arguments take as the body of a D-Bus message."""
    message = Gio.DBusMessage.new_method_call(None, "/", "a.b", "c")
    message.set_body(body)
    message.set_serial(1)
    blob = message.to_blob(Gio.DBusCapabilityFlags.UNIX_FD_PASSING)
    return int.from_bytes(blob[4:8], "little" if blob[0:1] == b"l" else "big")


class Session:
    """A separate connection to the bus of a machine."""

    def __init__(self, address: str) -> None:
        flags = Gio.DBusConnectionFlags
        self.connection = Gio.DBusConnection.new_for_address_sync(
            address, flags.AUTHENTICATION_CLIENT | flags.MESSAGE_BUS_CONNECTION, None, None)
        self.connection.set_exit_on_close(False)
        self.name = self.connection.get_unique_name()
        # The descriptors that came with answers, the owner of which is whoever takes them out.
        self.received: list[int] = []

    def close(self) -> None:
        """Leaves the bus."""
        if not self.connection.is_closed():
            self.connection.close_sync(None)

    def begin(self, path: str, member: str, arguments: GLib.Variant | None = None, *, destination: str = "",
              descriptors: Gio.UnixFDList | None = None) -> Callable[[], GLib.Variant]:
        """Sends a call and returns the function that waits for its answer.

        `member` is METHOD of an interface of ours written `Manager.CreateActivity`, or a full name.
        """
        interface, _, method = member.rpartition(".")
        if "." not in interface:
            interface = f"{BROKER}.{interface}"
        if not destination:
            destination = BRIDGE if path.startswith(BRIDGE_ROOT) else BROKER
        outcome: list[GLib.Variant | BusError] = []

        def answered(connection: Gio.DBusConnection, result: Gio.AsyncResult) -> None:
            try:
                reply, received = connection.call_with_unix_fd_list_finish(result)
                outcome.append(reply)
                self.received += received.steal_fds() if received else []
            except GLib.Error as error:
                name = Gio.DBusError.get_remote_error(error) or "no answer"
                Gio.DBusError.strip_remote_error(error)
                outcome.append(BusError(name, error.message))

        self.connection.call_with_unix_fd_list(
            destination, path, interface, method, arguments, None, Gio.DBusCallFlags.NO_AUTO_START,
            int(TIMEOUT * 3000), descriptors, None, answered)

        def finish() -> GLib.Variant:
            answer = wait(lambda: outcome, f"an answer to {member} of {path}", TIMEOUT * 3)[0]
            if isinstance(answer, BusError):
                raise answer
            return answer

        return finish

    def call(self, path: str, member: str, arguments: GLib.Variant | None = None, **options: Any) -> GLib.Variant:
        """Calls and waits for the answer, serving everything else meanwhile."""
        return self.begin(path, member, arguments, **options)()

    def get(self, path: str, property_name: str) -> Any:
        """Reads a property, written `Manager.Enabled`, as a Python value."""
        return self.get_variant(path, property_name).unpack()

    def get_variant(self, path: str, property_name: str) -> GLib.Variant:
        """Reads a property with its type."""
        interface, _, name = property_name.rpartition(".")
        arguments = GLib.Variant("(ss)", (f"{BROKER}.{interface}", name))
        return self.call(path, f"{BUS}.Properties.Get", arguments).get_child_value(0).get_variant()

    def get_all(self, path: str, interface: str) -> dict[str, GLib.Variant]:
        """Reads all the properties that this connection may read."""
        reply = self.call(path, f"{BUS}.Properties.GetAll", GLib.Variant("(s)", (f"{BROKER}.{interface}",)))
        return entries(reply.get_child_value(0))

    def set(self, path: str, property_name: str, value: GLib.Variant) -> None:
        """Writes a property."""
        interface, _, name = property_name.rpartition(".")
        self.call(path, f"{BUS}.Properties.Set", GLib.Variant("(ssv)", (f"{BROKER}.{interface}", name, value)))

    def managed_objects(self, root: str = ROOT) -> dict[str, dict[str, dict[str, Any]]]:
        """GetManagedObjects, as Python values."""
        return self.call(root, f"{BUS}.ObjectManager.GetManagedObjects").unpack()[0]

    def owner(self, name: str) -> str:
        """The connection that owns a bus name; empty if none does."""
        try:
            return self.call("/org/freedesktop/DBus", f"{BUS}.GetNameOwner", GLib.Variant("(s)", (name,)),
                             destination=BUS).unpack()[0]
        except BusError:
            return ""
