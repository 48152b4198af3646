# SPDX-License-Identifier: LGPL-2.1-or-later
"""The clients of a machine's broker: an application that records what it is asked, and a dock."""

from __future__ import annotations

import socket
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from typing import Any, NamedTuple

from gi.repository import Gio, GLib
from buses import (BROKER, BUS, INTERFACES, ROOT, BusError, Session, entries, properties, wait)
from support import Machine

APPLICATION_ID = "com.example.editor"
ACTIVITY_TYPE = "com.example.editor.edit"
# By then what an application does is seen on the other machine: three times as long as the bridge may hold an offer back
# (Deadline.offerInterval, 0.1 s).
CROSSING = 0.3


class Call(NamedTuple):
    """A call from the broker, or a signal of it."""

    member: str
    arguments: GLib.Variant
    path: str
    at: float


class Never:
    """Stands for the answer of an application that hangs."""


Answer = Callable[[GLib.Variant], GLib.Variant | type[Never] | None]


def interface_without(name: str, members: tuple[str, ...]) -> Gio.DBusInterfaceInfo:
    """An interface of the contract, without some of its methods."""
    tree = ElementTree.parse(INTERFACES / f"{BROKER}.{name}.xml")
    interface = tree.getroot().find("interface")
    for method in interface.findall("method"):
        if method.get("name") in members:
            interface.remove(method)
    xml = ElementTree.tostring(tree.getroot(), encoding="unicode")
    return Gio.DBusNodeInfo.new_for_xml(xml).interfaces[0]


class Activity:
    """An activity that a client has created."""

    def __init__(self, owner: Session, path: str) -> None:
        self.owner = owner
        self.path = path
        self.id = path.rpartition("/")[2]

    def become_current(self) -> None:
        self.owner.call(self.path, "Activity.BecomeCurrent")

    def resign_current(self) -> None:
        self.owner.call(self.path, "Activity.ResignCurrent")

    def leave_current(self) -> None:
        self.owner.call(self.path, "Activity.LeaveCurrent")

    def become_open(self) -> None:
        self.owner.call(self.path, "Activity.BecomeOpen")

    def invalidate(self) -> None:
        self.owner.call(self.path, "Activity.Invalidate")

    def update(self, **values: Any) -> None:
        self.owner.call(self.path, "Activity.Update", GLib.Variant("(a{sv})", (properties(**values),)))

    def add_entries(self, user_info: dict[str, GLib.Variant]) -> None:
        self.owner.call(self.path, "Activity.AddUserInfoEntries", GLib.Variant("(a{sv})", (user_info,)))

    def get(self, name: str) -> Any:
        return self.owner.get(self.path, f"Activity.{name}")

    def user_info(self) -> dict[str, GLib.Variant]:
        """The UserInfo that the broker has, with its types."""
        return entries(self.owner.get_variant(self.path, "Activity.UserInfo"))


def handed_over(call: Call) -> dict[str, GLib.Variant]:
    """The activity that ContinueActivity brought."""
    return entries(call.arguments.get_child_value(0))


def user_info(call: Call) -> dict[str, GLib.Variant]:
    """Its UserInfo, typed."""
    return entries(handed_over(call)["UserInfo"])


class Client(Session):
    """An application. It answers the broker by `answers` and keeps what it was asked in `calls`."""

    def __init__(self, machine: Machine, application_id: str = APPLICATION_ID,
                 types: tuple[str, ...] = (ACTIVITY_TYPE,), *, leave_out: tuple[str, ...] = (),
                 register: bool = True, options: dict[str, GLib.Variant] | None = None) -> None:
        super().__init__(machine.address)
        machine.sessions.append(self)
        self.application_id = application_id
        self.types = types
        self.options = options or {}
        self.path = "/" + application_id.replace(".", "/").replace("-", "_")
        self.calls: list[Call] = []
        self.unanswered: list[Gio.DBusMethodInvocation] = []
        # Our ends of the streams that others have opened.
        self.streams: list[socket.socket] = []
        self.answers: dict[str, Answer] = {
            "WillContinueActivity": lambda arguments: GLib.Variant("(b)", (False,)),
            "ContinueActivity": lambda arguments: GLib.Variant("(b)", (True,)),
            "WillSave": lambda arguments: GLib.Variant("(a{sv})", ({},)),
        }
        for name in ("Application", "ActivityDelegate"):
            self.serve(self.path, name, leave_out)
        if register:
            self.register()

    def serve(self, path: str, interface: str, leave_out: tuple[str, ...] = ()) -> None:
        """Serves an interface of the contract at an object, without some of its members."""
        self.connection.register_object(path, interface_without(interface, leave_out), self._called, None, None)

    def _called(self, _connection: Gio.DBusConnection, _sender: str, path: str, _interface: str, method: str,
                arguments: GLib.Variant, invocation: Gio.DBusMethodInvocation) -> None:
        if descriptors := invocation.get_message().get_unix_fd_list():
            self.streams += [socket.socket(fileno=number) for number in descriptors.steal_fds()]
        self.calls.append(Call(method, arguments, path, time.monotonic()))
        try:
            answer = self.answers.get(method, lambda arguments: None)(arguments)
        except BusError as error:
            invocation.return_dbus_error(error.name, error.message)
            return
        if answer is Never:
            self.unanswered.append(invocation)
        else:
            invocation.return_value(answer)

    def register(self) -> None:
        self.begin_registering()()

    def begin_registering(self) -> Callable[[], GLib.Variant]:
        """Sends the registration and returns the function that waits for its answer."""
        arguments = GLib.Variant("(sasoa{sv})", (self.application_id, self.types, self.path, self.options))
        return self.begin(ROOT, "Manager.RegisterApplication", arguments)

    def create(self, activity_type: str = "", **values: Any) -> Activity:
        arguments = GLib.Variant("(sa{sv})", (activity_type, properties(**values)))
        return Activity(self, self.call(ROOT, "Manager.CreateActivity", arguments).unpack()[0])

    def offer(self, title: str, **values: Any) -> Activity:
        """Creates an activity and makes it current."""
        activity = self.create(Title=title, **values)
        activity.become_current()
        return activity

    def hang(self, *members: str) -> None:
        """Leaves calls of these members unanswered from now on."""
        for member in members:
            self.answers[member] = lambda arguments: Never

    def fail(self, member: str, message: str, name: str = "com.example.editor.Error.Failed") -> None:
        """Answers calls of this member with an error from now on."""
        def answer(arguments: GLib.Variant) -> None:
            raise BusError(name, message)
        self.answers[member] = answer

    def save(self, **values: Any) -> None:
        """Answers WillSave with these properties from now on."""
        self.answers["WillSave"] = lambda arguments: GLib.Variant("(a{sv})", (properties(**values),))

    def called(self, member: str) -> list[Call]:
        """The calls of a member so far."""
        return [call for call in self.calls if call.member == member]

    def wait_for(self, member: str, times: int = 1, timeout: float | None = None) -> Call:
        """Waits until a member has been called this often, and returns the latest call."""
        wait(lambda: len(self.called(member)) >= times, f"{member} called {times} time(s)", timeout)
        return self.called(member)[times - 1]

    @property
    def members(self) -> list[str]:
        """The members called so far, in order."""
        return [call.member for call in self.calls]

    def follow_broker(self, restore: Callable[[], None]) -> None:
        """Registers again, and does this, whenever there is a new broker, as an application has to."""
        known = self.owner(BROKER)

        def appeared(_connection: Gio.DBusConnection, _name: str, owner: str) -> None:
            if owner != known:
                self.register()
                restore()

        # From an idle callback of the loop: what it calls is waited for in turn.
        Gio.bus_watch_name_on_connection(self.connection, BROKER, Gio.BusNameWatcherFlags.NONE, appeared, None)


class Dock(Session):
    """What shows the offers of peers. It follows the broker by signals alone."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine.address)
        machine.sessions.append(self)
        self.offers: dict[str, dict[str, Any]] = {}
        self.events: list[Call] = []
        # What was signalled before the objects were known. The loop may deliver that together with the answer.
        self._early: list[tuple[Any, ...]] | None = None
        self.connection.signal_subscribe(BROKER, None, None, None, None, Gio.DBusSignalFlags.NONE, self._signalled)
        self.follow()

    def follow(self) -> None:
        """Asks for the objects, since signals are sent only to those who have. To be repeated for each new broker."""
        self.offers.clear()
        self._early = []
        for path, interfaces in self.managed_objects().items():
            self._added(path, interfaces)
        early, self._early = self._early, None
        for signal in early:
            self._signalled(*signal)

    def _added(self, path: str, interfaces: dict[str, dict[str, Any]]) -> None:
        if f"{BROKER}.RemoteActivity" in interfaces:
            self.offers[path] = interfaces[f"{BROKER}.RemoteActivity"]

    def _signalled(self, _connection: Gio.DBusConnection, _sender: str, path: str, interface: str, member: str,
                   arguments: GLib.Variant) -> None:
        if self._early is not None:
            self._early.append((_connection, _sender, path, interface, member, arguments))
            return
        subject = path
        if interface == f"{BUS}.ObjectManager":
            subject, content = arguments.unpack()
            if member == "InterfacesAdded":
                self._added(subject, content)
            elif f"{BROKER}.RemoteActivity" in content:
                self.offers.pop(subject, None)
        elif interface == f"{BUS}.Properties" and path in self.offers:
            self.offers[path].update(arguments.unpack()[1])
        self.events.append(Call(member, arguments, subject, time.monotonic()))

    def offer(self, title: str, timeout: float | None = None) -> str:
        """Waits for the offer with this title, and returns its object."""
        def found() -> str | None:
            return next((path for path, offer in self.offers.items() if offer["Title"] == title), None)
        return wait(found, f"an offer “{title}”; there are {self.titles}", timeout)

    def wait_until_gone(self, path: str, timeout: float | None = None) -> None:
        wait(lambda: path not in self.offers, f"{path} to go", timeout)

    @property
    def titles(self) -> list[str]:
        return [offer["Title"] for offer in self.offers.values()]

    @property
    def parked(self) -> list[str]:
        """The titles of what devices have left here before they slept."""
        return [offer["Title"] for offer in self.offers.values() if offer["Parked"] and offer["ParkedAt"]]

    def continue_offer(self, path: str, **options: str) -> None:
        """Asks for a continuation, which is then accepted but not yet finished."""
        variants = {name: GLib.Variant("s", value) for name, value in options.items()}
        self.call(path, "RemoteActivity.Continue", GLib.Variant("(a{sv})", (variants,)))

    def finished(self) -> list[tuple[str, str, str]]:
        """The outcomes so far: application, error name, message."""
        return [event.arguments.unpack() for event in self.events if event.member == "ContinueFinished"]

    def outcome(self, timeout: float | None = None, number: int = 1) -> tuple[str, str, str]:
        """Waits for the first outcome, or for that of this number."""
        return wait(lambda: self.finished()[number - 1:], "ContinueFinished", timeout)[0]
