# SPDX-License-Identifier: LGPL-2.1-or-later
"""The socket between broker and bridge, spoken from Python."""

from __future__ import annotations

import array
import os
import socket
from collections.abc import Callable
from typing import NamedTuple

from gi.repository import Gio, GLib
from buses import BRIDGE, BROKER, BUS, ROOT, BusError, Session, wait
from clients import interface_without
from support import Machine

PEER = "org.example.Handoff.Peer"
PEER_MANAGER = "org.example.Handoff.PeerManager"
DEVICE = "ab" * 32
# Messages may carry descriptors.
CARRYING = Gio.DBusCapabilityFlags.UNIX_FD_PASSING


def announce(message: Gio.DBusMessage, descriptors: tuple[int, ...]) -> None:
    """Has a message say that these come with it."""
    if descriptors:
        announced = Gio.UnixFDList.new()
        for descriptor in descriptors:
            announced.append(descriptor)
        message.set_unix_fd_list(announced)


class Received(NamedTuple):
    """What has come by the socket."""

    message: Gio.DBusMessage

    @property
    def arguments(self) -> tuple:
        body = self.message.get_body()
        return body.unpack() if body else ()


class Attached:
    """One end of such a socket."""

    def __init__(self, descriptor: int) -> None:
        self.socket = socket.socket(fileno=descriptor)
        self.socket.setblocking(False)
        self.serial = 0
        self.bytes = b""
        # Those that have come, in their order.
        self.descriptors: list[int] = []
        self.received: list[Received] = []
        self.is_ended = False

    def close(self) -> None:
        self.socket.close()

    def read(self) -> bool:
        """Takes what has come."""
        while not self.is_ended:
            try:
                new, ancillary, _flags, _address = self.socket.recvmsg(1 << 16, socket.CMSG_SPACE(16))
            except BlockingIOError:
                break
            except ConnectionResetError:
                new, ancillary = b"", []
            for level, kind, data in ancillary:
                assert (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS)
                numbers = array.array("i")
                numbers.frombytes(data)
                self.descriptors += numbers
            self.is_ended = not new
            self.bytes += new
        while len(self.bytes) >= 16 and (length := Gio.DBusMessage.bytes_needed(self.bytes)) <= len(self.bytes):
            message = Gio.DBusMessage.new_from_blob(self.bytes[:length], CARRYING)
            self.bytes = self.bytes[length:]
            self.received.append(Received(message))
        return True

    def next(self, what: str, matches: Callable[[Received], bool] = lambda _one: True) -> Received:
        """The next message of this kind, which is taken out."""
        found = wait(lambda: self.read() and next((one for one in self.received if matches(one)), None), what)
        self.received.remove(found)
        return found

    def next_call(self, member: str) -> Received:
        return self.next(member, lambda one: one.message.get_member() == member
                         and one.message.get_message_type() == Gio.DBusMessageType.METHOD_CALL)

    def wait_until_ended(self) -> None:
        wait(lambda: self.read() and self.is_ended, "the end of the socket")

    def send_bytes(self, content: bytes, descriptors: tuple[int, ...] = ()) -> None:
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        self.socket.setblocking(True)
        self.socket.sendmsg([content], ancillary)
        self.socket.setblocking(False)

    def send(self, message: Gio.DBusMessage, body: GLib.Variant | None, descriptors: tuple[int, ...] = ()) -> int:
        self.serial += 1
        message.set_serial(self.serial)
        if body:
            message.set_body(body)
        announce(message, descriptors)
        self.send_bytes(message.to_blob(CARRYING), descriptors)
        return self.serial

    def begin(self, path: str, interface: str, member: str, body: GLib.Variant | None = None,
              descriptors: tuple[int, ...] = ()) -> int:
        return self.send(Gio.DBusMessage.new_method_call(None, path, interface, member), body, descriptors)

    def call(self, path: str, interface: str, member: str, body: GLib.Variant | None = None,
             descriptors: tuple[int, ...] = ()) -> tuple:
        """Calls, and gives back what is answered."""
        serial = self.begin(path, interface, member, body, descriptors)
        answer = self.next(f"an answer to {member}", lambda one: one.message.get_reply_serial() == serial)
        if answer.message.get_message_type() == Gio.DBusMessageType.ERROR:
            raise BusError(answer.message.get_error_name(), answer.arguments[0])
        return answer.arguments

    def answer(self, call: Received, body: GLib.Variant | None = None, descriptors: tuple[int, ...] = ()) -> None:
        """Answers a call that has come."""
        self.send(Gio.DBusMessage.new_method_reply(call.message), body, descriptors)


class AttachedBridge(Session):
    """What the broker takes for its bridge, which attaches, and has one peer."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine.address)
        machine.sessions.append(self)
        self.peer = f"{ROOT}/peers/{DEVICE}"
        self.calls: list[str] = []
        self.connection.add_filter(self._seen)
        self.call("/org/freedesktop/DBus", f"{BUS}.RequestName", GLib.Variant("(su)", (BRIDGE, 4)), destination=BUS)
        self.socket = wait(self._attach, "the broker to know its bridge")

    def _seen(self, _connection: Gio.DBusConnection, message: Gio.DBusMessage, incoming: bool) -> Gio.DBusMessage:
        if incoming and message.get_interface() in (PEER, "org.freedesktop.DBus.Properties"):
            self.calls.append(message.get_member())
        return message

    def _attach(self) -> Attached | None:
        try:
            self.call(ROOT, "PeerManager.Attach")
        except BusError as error:
            assert error.short_name == "AccessDenied"
            return None
        return Attached(self.received.pop())

    def attach(self) -> Attached:
        """Attaches anew."""
        former, self.socket = self.socket, self._attach()
        return former

    def add_peer(self) -> None:
        body = GLib.Variant("(sa{sv})", (DEVICE, {"Name": GLib.Variant("s", "Another")}))
        assert self.socket.call(ROOT, PEER_MANAGER, "AddPeer", body) == (self.peer,)

    def offer(self, arguments: GLib.Variant) -> None:
        """The peer offers something."""
        self.socket.call(self.peer, PEER, "Offer", arguments)


def number_of_descriptors(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


class AttachingBroker(Session):
    """What the bridge takes for the broker, and attaches to."""

    def __init__(self, machine: Machine, attaches: bool = True) -> None:
        super().__init__(machine.address)
        machine.sessions.append(self)
        self.attaches = attaches
        self.sockets: list[Attached] = []
        # What was called on the bus.
        self.calls: list[str] = []
        self.connection.register_object(ROOT, interface_without("PeerManager", ()), self._called, None, None)
        self.call("/org/freedesktop/DBus", f"{BUS}.RequestName", GLib.Variant("(su)", (BROKER, 4)), destination=BUS)

    def _called(self, connection: Gio.DBusConnection, _sender: str, _path: str, _interface: str, method: str,
                arguments: GLib.Variant, invocation: Gio.DBusMethodInvocation) -> None:
        self.calls.append(method)
        if method == "Attach" and self.attaches:
            ours, theirs = socket.socketpair()
            self.sockets.append(Attached(ours.detach()))
            descriptors = Gio.UnixFDList.new()
            descriptors.append(theirs.fileno())
            theirs.close()
            invocation.return_value_with_unix_fd_list(GLib.Variant("(h)", (0,)), descriptors)
        elif method == "AddPeer":
            invocation.return_value(GLib.Variant("(o)", (f"{ROOT}/peers/{arguments.unpack()[0]}",)))
        else:
            invocation.return_dbus_error("org.freedesktop.DBus.Error.UnknownMethod", "There is no such method.")

    def meet(self, number: int = 1) -> Attached:
        """Waits until the bridge has attached so many times, and says what it asks first."""
        wait(lambda: len(self.sockets) == number, "the bridge to attach")
        attached = self.sockets[-1]
        preferences = {"Enabled": GLib.Variant("b", True)}
        attached.answer(attached.next_call("GetAll"), GLib.Variant("(a{sv})", (preferences,)))
        return attached

    def take_peer(self, attached: Attached) -> str:
        """Takes the one peer that the bridge has."""
        call = attached.next_call("AddPeer")
        path = f"{ROOT}/peers/{call.arguments[0]}"
        attached.answer(call, GLib.Variant("(o)", (path,)))
        return path
