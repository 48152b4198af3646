# SPDX-License-Identifier: LGPL-2.1-or-later
"""Those who show notifications, as scripts see them: what each was given last, and what the user does with it.

    server = PlainServer(machine)
    shown = server.wait_for("Continue “Report”?")
    server.press(shown, "continue")
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gi.repository import Gio, GLib
from buses import BUS, Session, wait
from support import Machine
from vendor import own_id, own_path

PLAIN = "org.freedesktop.Notifications"
DESKTOP = "org.gtk.Notifications"
AGENT = "org.example.Handoff.Agent"
AGENT_ROOT = "/org/example/Handoff/Agent"

PLAIN_XML = """<node><interface name="org.freedesktop.Notifications">
<method name="GetCapabilities"><arg type="as" direction="out"/></method>
<method name="GetServerInformation"><arg type="s" direction="out"/><arg type="s" direction="out"/>
<arg type="s" direction="out"/><arg type="s" direction="out"/></method>
<method name="Notify"><arg type="s" direction="in"/><arg type="u" direction="in"/><arg type="s" direction="in"/>
<arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="as" direction="in"/>
<arg type="a{sv}" direction="in"/><arg type="i" direction="in"/><arg type="u" direction="out"/></method>
<method name="CloseNotification"><arg type="u" direction="in"/></method>
</interface></node>"""

DESKTOP_XML = """<node><interface name="org.gtk.Notifications">
<method name="AddNotification"><arg type="s" direction="in"/><arg type="s" direction="in"/>
<arg type="a{sv}" direction="in"/></method>
<method name="RemoveNotification"><arg type="s" direction="in"/><arg type="s" direction="in"/></method>
</interface></node>"""


class Shown(NamedTuple):
    """A notification that is shown now."""

    id: Any
    title: str
    body: str
    # The labels of its buttons, by their keys or actions.
    buttons: dict[str, str]
    icon: str
    details: dict[str, Any]


class Server:
    """Somebody who shows notifications, and keeps a record of all that was shown."""

    def __init__(self, machine: Machine, name: str, path: str, xml: str, session: Session | None = None) -> None:
        self.session = session or machine.connect()
        self.name, self.path = name, path
        self.shown: dict[Any, Shown] = {}
        self.record: list[Shown] = []
        interface = Gio.DBusNodeInfo.new_for_xml(xml).interfaces[0]
        self.session.connection.register_object(path, interface, self._called, None, None)
        self.session.call("/org/freedesktop/DBus", f"{BUS}.RequestName", GLib.Variant("(su)", (name, 4)), destination=BUS)

    def _called(self, _connection: Gio.DBusConnection, _sender: str, _path: str, _interface: str, method: str,
                arguments: GLib.Variant, invocation: Gio.DBusMethodInvocation) -> None:
        answer = getattr(self, method)(*arguments.unpack())
        if answer is not NotImplemented:
            invocation.return_value(answer)

    def show(self, one: Shown) -> None:
        self.shown[one.id] = one
        self.record.append(one)

    @property
    def titles(self) -> list[str]:
        """What is shown now."""
        return [one.title for one in self.shown.values()]

    def wait_for(self, title: str, body: str = "") -> Shown:
        """The notification with this title, and this in its body, once it is shown."""
        def found() -> Shown | None:
            return next((one for one in self.shown.values() if one.title == title and body in one.body), None)

        try:
            return wait(found, f"a notification “{title}”")
        except AssertionError as error:
            raise AssertionError(f"{error}; there are {list(self.shown.values())}") from None

    def wait_until_gone(self) -> None:
        """Waits until nothing is shown."""
        wait(lambda: not self.shown, "the end of all notifications")


class PlainServer(Server):
    """The Desktop Notifications Specification."""

    def __init__(self, machine: Machine, capabilities: tuple[str, ...] = ("actions", "body", "body-markup"),
                 session: Session | None = None, silent: bool = False) -> None:
        self.capabilities = capabilities
        self.silent = silent
        self.number = 0
        super().__init__(machine, PLAIN, "/org/freedesktop/Notifications", PLAIN_XML, session)

    def GetCapabilities(self) -> Any:
        return NotImplemented if self.silent else GLib.Variant("(as)", (self.capabilities,))

    def GetServerInformation(self) -> GLib.Variant:
        return GLib.Variant("(ssss)", ("test", "test", "1", "1.2"))

    def Notify(self, _name: str, replaced: int, icon: str, title: str, body: str, actions: list[str],
               hints: dict[str, Any], timeout: int) -> Any:
        if self.silent:
            return NotImplemented
        if not replaced:
            self.number += 1
        number = replaced or self.number
        # After the dot of a key stands what makes it another one in each notification.
        buttons = {key.partition(".")[0]: label for key, label in zip(actions[::2], actions[1::2])}
        self.show(Shown(number, title, body, buttons, icon, hints | {"timeout": timeout, "keys": actions[::2]}))
        return GLib.Variant("(u)", (number,))

    def CloseNotification(self, number: int) -> None:
        if self.shown.pop(number, None):
            self.signal("NotificationClosed", GLib.Variant("(uu)", (number, 3)))

    def signal(self, member: str, arguments: GLib.Variant, session: Session | None = None) -> None:
        (session or self.session).connection.emit_signal(None, self.path, PLAIN, member, arguments)

    def press(self, one: Shown, key: str, token: str = "") -> None:
        """What the user does who presses a button."""
        if token:
            self.signal("ActivationToken", GLib.Variant("(us)", (one.id, token)))
        self.invoke(one, key)
        self.put_away(one, 2)

    def invoke(self, one: Shown, key: str, number: int = 0) -> None:
        """Says that a button of this one was pressed, and under which number."""
        key = next((full for full in one.details["keys"] if full.partition(".")[0] == key), key)
        self.signal("ActionInvoked", GLib.Variant("(us)", (number or one.id, key)))

    def put_away(self, one: Shown, reason: int = 2) -> None:
        """What the user does who closes it; 1 is what happens when its time is up."""
        self.shown.pop(one.id, None)
        self.signal("NotificationClosed", GLib.Variant("(uu)", (one.id, reason)))


class DesktopServer(Server):
    """What GNOME has."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine, DESKTOP, "/org/gtk/Notifications", DESKTOP_XML)

    def AddNotification(self, application: str, key: str, about: dict[str, Any]) -> None:
        assert application == own_id("Agent")
        buttons = {button["action"]: button["label"] for button in about.get("buttons", [])}
        self.show(Shown(key, about["title"], about["body"], buttons, str(about["icon"]), about))

    def RemoveNotification(self, _application: str, key: str) -> None:
        self.shown.pop(key, None)

    def press(self, one: Shown, action: str, token: str = "") -> None:
        """What the Shell does when a button is pressed."""
        button = next(button for button in one.details["buttons"] if button["action"] == action)
        self.shown.pop(one.id, None)
        self.activate(action.removeprefix("app."), GLib.Variant("s", button["target"]), token)

    def activate(self, action: str, parameter: GLib.Variant, token: str = "", session: Session | None = None) -> None:
        """What everybody can do who is in no sandbox."""
        data = {"desktop-startup-id": GLib.Variant("s", token)} if token else {}
        (session or self.session).call(own_path("Agent"), "org.freedesktop.Application.ActivateAction",
                                       GLib.Variant("(sava{sv})", (action, [parameter], data)), destination=AGENT)
