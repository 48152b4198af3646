# SPDX-License-Identifier: LGPL-2.1-or-later
"""An application as it was written for version 0.1: never edited after that is released."""

from __future__ import annotations

import time
from typing import Any

from gi.repository import Gio, GLib

BROKER, ROOT = "org.example.Handoff", "/org/example/Handoff"
BRIDGE, BRIDGE_ROOT = "org.example.Handoff.Bridge", "/org/example/Handoff/Bridge"
PROPERTIES = "org.freedesktop.DBus.Properties"
OBJECTS = "org.freedesktop.DBus.ObjectManager"
APPLICATION_ID, ACTIVITY_TYPE = "com.example.frozen", "com.example.frozen.edit"
PATH = "/com/example/frozen"

INTERFACES = """
<node>
  <interface name="org.example.Handoff.Application">
    <method name="WillContinueActivity">
      <arg type="s" direction="in"/><arg type="a{sv}" direction="in"/><arg type="b" direction="out"/>
    </method>
    <method name="ContinueActivity">
      <arg type="a{sv}" direction="in"/><arg type="a{sv}" direction="in"/><arg type="b" direction="out"/>
    </method>
    <method name="DidFailToContinueActivity">
      <arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="s" direction="in"/>
    </method>
  </interface>
  <interface name="org.example.Handoff.ActivityDelegate">
    <method name="WillSave"><arg type="o" direction="in"/><arg type="a{sv}" direction="out"/></method>
    <method name="WasContinued"><arg type="o" direction="in"/><arg type="a{sv}" direction="in"/></method>
    <method name="DidReceiveStream"><arg type="o" direction="in"/><arg type="h" direction="in"/></method>
  </interface>
</node>
"""


class FrozenClient:
    """A connection to the session bus that is a registered application."""

    def __init__(self, address: str) -> None:
        flags = Gio.DBusConnectionFlags
        self.connection = Gio.DBusConnection.new_for_address_sync(
            address, flags.AUTHENTICATION_CLIENT | flags.MESSAGE_BUS_CONNECTION, None, None)
        self.connection.set_exit_on_close(False)
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self.finished: list[tuple[str, str, str]] = []
        # What `WillSave` answers with.
        self.state: dict[str, GLib.Variant] = {}
        for interface in Gio.DBusNodeInfo.new_for_xml(INTERFACES).interfaces:
            self.connection.register_object(PATH, interface, self._called, None, None)
        self.connection.signal_subscribe(
            None, f"{BROKER}.RemoteActivity", "ContinueFinished", None, None, Gio.DBusSignalFlags.NONE,
            lambda _connection, _sender, _path, _interface, _member, arguments:
            self.finished.append(arguments.unpack()))

    def _called(self, _connection: Gio.DBusConnection, _sender: str, _path: str, _interface: str, member: str,
                arguments: GLib.Variant, invocation: Gio.DBusMethodInvocation) -> None:
        self.calls.append((member, arguments.unpack()))
        answers = {"WillContinueActivity": GLib.Variant("(b)", (True,)), "ContinueActivity": GLib.Variant("(b)", (True,)),
                   "WillSave": GLib.Variant("(a{sv})", (self.state,))}
        invocation.return_value(answers.get(member))

    def close(self) -> None:
        self.connection.close_sync(None)

    def call(self, path: str, member: str, arguments: GLib.Variant | None = None) -> Any:
        """Calls INTERFACE.METHOD of the daemon that serves the path, and returns what it answers."""
        interface, _, method = member.rpartition(".")
        destination = BRIDGE if path.startswith(BRIDGE_ROOT) else BROKER
        outcome: list[Any] = []

        def answered(connection: Gio.DBusConnection, result: Gio.AsyncResult) -> None:
            try:
                outcome.append(connection.call_finish(result).unpack())
            except GLib.Error as error:
                outcome.append(error)

        self.connection.call(destination, path, interface, method, arguments, None, Gio.DBusCallFlags.NONE, 20_000, None,
                             answered)
        wait(lambda: outcome, f"an answer to {member}")
        if isinstance(outcome[0], GLib.Error):
            raise outcome[0]
        return outcome[0]

    def register(self) -> None:
        options = {"Team": GLib.Variant("s", "com.example"),
                   "DocumentTypes": GLib.Variant("a{ss}", {"text/plain": ACTIVITY_TYPE})}
        self.call(ROOT, f"{BROKER}.Manager.RegisterApplication",
                  GLib.Variant("(sasoa{sv})", (APPLICATION_ID, [ACTIVITY_TYPE], PATH, options)))

    def create(self, title: str, user_info: dict[str, GLib.Variant]) -> str:
        """Creates an activity with every property that an application may set, and returns its object."""
        values = {
            "Title": GLib.Variant("s", title), "UserInfo": GLib.Variant("a{sv}", user_info),
            "RequiredUserInfoKeys": GLib.Variant("as", list(user_info)),
            "WebpageURL": GLib.Variant("s", "https://example.com/page"),
            "ReferrerURL": GLib.Variant("s", "https://example.com/"),
            "TargetContentIdentifier": GLib.Variant("s", "target"),
            "PersistentIdentifier": GLib.Variant("s", "persistent"), "Keywords": GLib.Variant("as", ["one", "two"]),
            "ExpirationDate": GLib.Variant("x", int(time.time() + 3600) * 1_000_000),
            "EligibleForHandoff": GLib.Variant("b", True), "EligibleForSearch": GLib.Variant("b", False),
            "SupportsContinuationStreams": GLib.Variant("b", True), "NeedsSave": GLib.Variant("b", True),
            "Delegate": GLib.Variant("o", PATH)}
        return self.call(ROOT, f"{BROKER}.Manager.CreateActivity", GLib.Variant("(sa{sv})", (ACTIVITY_TYPE, values)))[0]

    def become_current(self, activity: str) -> None:
        self.call(activity, f"{BROKER}.Activity.BecomeCurrent")

    def get(self, path: str, name: str) -> Any:
        """A property, written INTERFACE.NAME."""
        interface, _, member = name.rpartition(".")
        return self.call(path, f"{PROPERTIES}.Get", GLib.Variant("(ss)", (interface, member)))[0]

    def set_enabled(self, value: bool) -> None:
        self.call(ROOT, f"{PROPERTIES}.Set",
                  GLib.Variant("(ssv)", (f"{BROKER}.Manager", "Enabled", GLib.Variant("b", value))))

    def objects(self, root: str) -> dict[str, dict[str, dict[str, Any]]]:
        return self.call(root, f"{OBJECTS}.GetManagedObjects")[0]

    def offers(self) -> dict[str, dict[str, Any]]:
        """The offers of other devices, by their objects."""
        return {path: interfaces[f"{BROKER}.RemoteActivity"] for path, interfaces in self.objects(ROOT).items()
                if f"{BROKER}.RemoteActivity" in interfaces}

    def devices(self) -> dict[str, dict[str, Any]]:
        """The devices that the bridge knows, by their ids."""
        found = [interfaces[f"{BROKER}.Device"] for interfaces in self.objects(BRIDGE_ROOT).values()
                 if f"{BROKER}.Device" in interfaces]
        return {device["DeviceId"]: device for device in found}

    def continue_offer(self, offer: str) -> None:
        self.call(offer, f"{BROKER}.RemoteActivity.Continue", GLib.Variant("(a{sv})", ({},)))


def wait(condition: Any, what: str, timeout: float = 20) -> Any:
    """Runs the main loop until the condition returns something true, and returns that."""
    context, end = GLib.MainContext.default(), time.monotonic() + timeout
    tick = GLib.timeout_add(20, lambda: GLib.SOURCE_CONTINUE)
    try:
        while not (result := condition()):
            if time.monotonic() > end:
                raise AssertionError(f"not within {timeout:g} s: {what}")
            context.iteration(True)
        return result
    finally:
        GLib.source_remove(tick)
