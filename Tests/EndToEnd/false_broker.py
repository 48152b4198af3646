# SPDX-License-Identifier: LGPL-2.1-or-later
"""A program that has the broker's name, and gives to applications what no broker does."""

from __future__ import annotations

from collections.abc import Callable

from buses import BROKER, BUS, ROOT, Session, wait
from clients import interface_without
from gi.repository import Gio, GLib
from support import Machine

CONTINUATION = f"{ROOT}/continuations/{'c' * 32}"
DEVICE = "d" * 64
# Answers a call of OpenStream.
Answer = Callable[[Gio.DBusMethodInvocation], None]


def giving(*descriptors: int, signature: str = "(h)", values: tuple = (0,)) -> Answer:
    """Answers with these descriptors, and these values."""
    def answer(invocation: Gio.DBusMethodInvocation) -> None:
        attached = Gio.UnixFDList.new()
        for descriptor in descriptors:
            attached.append(descriptor)
        invocation.get_connection().send_message(reply(invocation, attached, GLib.Variant(signature, values)),
                                                 Gio.DBusSendMessageFlags.NONE)
    return answer


def reply(invocation: Gio.DBusMethodInvocation, descriptors: Gio.UnixFDList, body: GLib.Variant) -> Gio.DBusMessage:
    """An answer that GDBus itself would refuse to make, since it is not what the interface says."""
    message = Gio.DBusMessage.new_method_reply(invocation.get_message())
    if descriptors.get_length():
        message.set_unix_fd_list(descriptors)
    message.set_body(body)
    return message


class FalseBroker(Session):
    """Takes registrations and activities, and does what a test tells it to."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine.address)
        machine.sessions.append(self)
        # Who has registered, and the activities of that, the last one last.
        self.client, self.object, self.activities = "", "", []
        self.answer: Answer = giving()
        self.register(ROOT, "Manager")
        self.register(CONTINUATION, "Continuation")
        self.call("/org/freedesktop/DBus", f"{BUS}.RequestName", GLib.Variant("(su)", (BROKER, 4)), destination=BUS)

    def register(self, path: str, interface: str) -> None:
        self.connection.register_object(path, interface_without(interface, ()), self._called, None, None)

    def _called(self, _connection: Gio.DBusConnection, sender: str, _path: str, _interface: str, method: str,
                arguments: GLib.Variant, invocation: Gio.DBusMethodInvocation) -> None:
        if method == "OpenStream":
            self.answer(invocation)
        elif method == "RegisterApplication":
            self.client, self.object = sender, arguments.unpack()[2]
            invocation.return_value(None)
        elif method == "CreateActivity":
            path = f"{ROOT}/activities/{len(self.activities):032x}"
            self.register(path, "Activity")
            self.activities.append(path)
            invocation.return_value(GLib.Variant("(o)", (path,)))
        else:
            invocation.return_value(None)

    def wait_for_client(self) -> None:
        """Waits until somebody has registered, and has an activity."""
        wait(lambda: self.client and self.activities, "a registration")

    @property
    def context(self) -> dict[str, GLib.Variant]:
        """What an application is told of a continuation."""
        return {"Continuation": GLib.Variant("o", CONTINUATION), "DeviceId": GLib.Variant("s", DEVICE),
                "DeviceName": GLib.Variant("s", "nowhere")}

    def announce(self, activity_type: str) -> None:
        """Tells the application that an activity is on its way to it."""
        self.call(self.object, "Application.WillContinueActivity",
                  GLib.Variant("(sa{sv})", (activity_type, self.context)), destination=self.client)

    def hand_over(self, activity_type: str, **values: GLib.Variant) -> Callable[[], GLib.Variant]:
        """Announces an activity to the application and hands it over, and returns the function that waits for its answer."""
        self.announce(activity_type)
        return self.hand_over_announced(activity_type, **values)

    def hand_over_announced(self, activity_type: str, **values: GLib.Variant) -> Callable[[], GLib.Variant]:
        """Hands an activity that was announced to the application, and returns the function that waits for its answer."""
        activity = {"ActivityType": GLib.Variant("s", activity_type), "UserInfo": GLib.Variant("a{sv}", {}), **values}
        return self.begin(self.object, "Application.ContinueActivity", GLib.Variant("(a{sv}a{sv})", (activity, self.context)),
                          destination=self.client)

    def give_stream(self, descriptor: int) -> None:
        """Gives the application a stream of its last activity, as if somebody had opened one."""
        attached = Gio.UnixFDList.new()
        attached.append(descriptor)
        self.call(self.object, "ActivityDelegate.DidReceiveStream", GLib.Variant("(oh)", (self.activities[-1], 0)),
                  destination=self.client, descriptors=attached)
