# SPDX-License-Identifier: LGPL-2.1-or-later
"""A broker that writes down what it is asked, answers as a test says, and asks what a test wants."""

from __future__ import annotations

import functools
import os
import socket
from collections.abc import Callable
from typing import NamedTuple

from buses import BROKER, BUS, ROOT, Session, entries, properties, wait
from clients import interface_without
from gi.repository import Gio, GLib
from support import Machine

TYPE = "org.example.notes.edit"
interface = functools.cache(lambda name: interface_without(name, ()))


class Call(NamedTuple):
    """A call of the application."""

    method: str
    path: str
    arguments: GLib.Variant


class ScriptedBroker(Session):
    """The owner of the broker's name. With `replaces`, it takes the name from the one before."""

    def __init__(self, machine: Machine, *, replaces: bool = False) -> None:
        super().__init__(machine.address)
        # What was called, and which application it was, with its object.
        self.calls: list[Call] = []
        self.client, self.object = "", ""
        # By method, the error that it is answered with, or a function that says which, if any.
        self.refusals: dict[str, tuple[str, str] | Callable[[GLib.Variant], tuple[str, str] | None]] = {}
        # Methods that are not answered.
        self.silent: set[str] = set()
        # Methods whose answers wait for `release()`, and those answers.
        self.held: set[str] = set()
        self._waiting: list[Callable[[], None]] = []
        # What OpenStream is answered with.
        self.stream: Callable[[Gio.DBusMethodInvocation], None] | None = None
        self.activities: list[str] = []
        # The properties that an activity has by now.
        self.known: dict[str, dict[str, GLib.Variant]] = {}
        self.continuations = 0
        self.serve(ROOT, "Manager")
        flags = 1 | 4 | (2 if replaces else 0)
        self.call("/org/freedesktop/DBus", f"{BUS}.RequestName", GLib.Variant("(su)", (BROKER, flags)), destination=BUS)

    def serve(self, path: str, name: str) -> None:
        self.connection.register_object(path, interface(name), self._called, None, None)

    def _called(self, _connection: Gio.DBusConnection, sender: str, path: str, _interface: str, method: str,
                arguments: GLib.Variant, invocation: Gio.DBusMethodInvocation) -> None:
        self.calls.append(Call(method, path, arguments))
        refusal = self.refusals.get(method)
        error = refusal(arguments) if callable(refusal) else refusal
        if method in self.silent:
            return
        if method in self.held:
            self._waiting.append(lambda: self._answer(sender, path, method, arguments, invocation, error))
        else:
            self._answer(sender, path, method, arguments, invocation, error)

    def _answer(self, sender: str, path: str, method: str, arguments: GLib.Variant, invocation: Gio.DBusMethodInvocation,
                error: tuple[str, str] | None) -> None:
        if error:
            invocation.return_dbus_error(*error)
        elif method == "OpenStream":
            assert self.stream
            self.stream(invocation)
        elif method == "CreateActivity":
            created = f"{ROOT}/activities/{len(self.activities):032x}"
            self.activities.append(created)
            self.known[created] = entries(arguments.get_child_value(1))
            self.serve(created, "Activity")
            invocation.return_value(GLib.Variant("(o)", (created,)))
        else:
            if method == "Update":
                self.known[path] |= entries(arguments.get_child_value(0))
            if method == "RegisterApplication":
                self.client, self.object = sender, arguments.unpack()[2]
            invocation.return_value(None)

    # What it was asked

    def called(self, method: str) -> list[Call]:
        return [call for call in self.calls if call.method == method]

    def wait_for(self, method: str, number: int = 1) -> Call:
        """The call of this method, of which there have to be so many by then."""
        return wait(lambda: self.called(method)[number - 1:number], f"call {number} of {method}")[0]

    # What it says

    def release(self) -> None:
        """Answers what was held, and holds nothing from now on."""
        self.held.clear()
        waiting, self._waiting = self._waiting, []
        for answer in waiting:
            answer()

    def change(self, path: str, **values: bool) -> None:
        """Says that properties of an activity have changed."""
        self.connection.emit_signal(self.client, path, f"{BUS}.Properties", "PropertiesChanged", GLib.Variant(
            "(sa{sv}as)", (f"{BROKER}.Activity", properties(**{
                name: GLib.Variant("b", value) for name, value in values.items()}), [])))

    def end_registration(self) -> None:
        self.connection.emit_signal(self.client, ROOT, f"{BROKER}.Manager", "RegistrationEnded",
                                    GLib.Variant("(ss)", ("org.example.Notes", "It did not read.")))

    def ask(self, interface_name: str, method: str, arguments: GLib.Variant,
            descriptors: Gio.UnixFDList | None = None) -> Callable[[], GLib.Variant]:
        """Calls the application, and returns the function that waits for its answer."""
        return self.begin(self.object, f"{interface_name}.{method}", arguments, destination=self.client, descriptors=descriptors)

    def save(self) -> Callable[[], GLib.Variant]:
        """Asks for the state of the last activity."""
        return self.ask("ActivityDelegate", "WillSave", GLib.Variant("(o)", (self.activities[-1],)))

    def context(self, number: int) -> dict[str, GLib.Variant]:
        path = f"{ROOT}/continuations/{number:032x}"
        return {"Continuation": GLib.Variant("o", path), "DeviceId": GLib.Variant("s", "d" * 64),
                "DeviceName": GLib.Variant("s", "lap")}

    def announce(self) -> tuple[int, bool]:
        """Announces an activity; returns its number, and whether the application shows that."""
        self.continuations += 1
        number = self.continuations
        self.serve(f"{ROOT}/continuations/{number:032x}", "Continuation")
        answer = self.ask("Application", "WillContinueActivity", GLib.Variant("(sa{sv})", (TYPE, self.context(number))))()
        return number, answer.unpack()[0]

    def hand_over(self, number: int, **values: GLib.Variant | str | bool) -> Callable[[], GLib.Variant]:
        activity = {"ActivityType": GLib.Variant("s", TYPE), "ApplicationId": GLib.Variant("s", "org.example.Notes")}
        return self.ask("Application", "ContinueActivity", GLib.Variant(
            "(a{sv}a{sv})", (activity | properties(**values), self.context(number))))

    def give_stream(self) -> socket.socket:
        """Gives the last activity a stream; returns the other end."""
        ours, theirs = socket.socketpair()
        with theirs:
            self.give(theirs.fileno())
        return ours

    def give(self, descriptor: int) -> None:
        descriptors = Gio.UnixFDList.new()
        descriptors.append(descriptor)
        self.ask("ActivityDelegate", "DidReceiveStream", GLib.Variant("(oh)", (self.activities[-1], 0)), descriptors)()


def handing(descriptor: int) -> Callable[[Gio.DBusMethodInvocation], None]:
    """Answers with a descriptor, which is closed here."""
    def answer(invocation: Gio.DBusMethodInvocation) -> None:
        descriptors = Gio.UnixFDList.new()
        descriptors.append(descriptor)
        os.close(descriptor)
        invocation.return_value_with_unix_fd_list(GLib.Variant("(h)", (0,)), descriptors)
    return answer
