# SPDX-License-Identifier: LGPL-2.1-or-later
"""A program on the bus that speaks to its socket itself, with no proxy between, and does what it is told on its
standard input, a line of JSON each time. It answers each with a line of JSON.

    {"do": "call", "to": NAME, "path": PATH, "member": INTERFACE.MEMBER, "arguments": TEXT}   → error name, or ""
    {"do": "calls"}    → the members that it has been called with so far, of which it answers none
    {"do": "orphan"}   → its process id; from then on a child has the connection, and what made it has ended
    {"do": "behead"}   → its process id; from then on another thread has the connection, and the first has ended
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import socket
import sys
import threading
import time
from pathlib import Path

from gi.repository import Gio, GLib

BUS = "org.freedesktop.DBus"
PATIENCE = 15


class RawConnection:
    """A connection to a bus, by its socket alone."""

    def __init__(self, address: str, with_descriptors: bool = False) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(address.removeprefix("unix:path=").split(",")[0])
        # Who it is the bus finds out by itself.
        negotiation = [b"NEGOTIATE_UNIX_FD\r\n"] if with_descriptors else []
        for line in (b"\0AUTH EXTERNAL\r\n", b"DATA\r\n", *negotiation):
            self.socket.sendall(line)
            self.socket.recv(4096)
        self.socket.sendall(b"BEGIN\r\n")
        self.serial = 0
        self.received = b""
        self.answers: dict[int, str] = {}
        self.calls: list[str] = []
        self.call(BUS, "/org/freedesktop/DBus", f"{BUS}.Hello")

    def call(self, destination: str, path: str, member: str, arguments: str = "") -> str:
        """Makes a call, and returns the name of the error that it is answered with; empty if there is none."""
        interface, _, name = member.rpartition(".")
        message = Gio.DBusMessage.new_method_call(destination, path, interface, name)
        if arguments:
            message.set_body(GLib.Variant.parse(None, arguments, None, None))
        self.serial += 1
        message.set_serial(self.serial)
        self.socket.sendall(message.to_blob(Gio.DBusCapabilityFlags.NONE))
        end = time.monotonic() + PATIENCE
        while self.serial not in self.answers:
            if time.monotonic() > end:
                return "no answer"
            self.take(0.1)
        return self.answers[self.serial]

    def take(self, patience: float) -> None:
        """Takes what has come."""
        if not select.select([self.socket], [], [], patience)[0]:
            return
        self.received += self.socket.recv(1 << 16)
        while len(self.received) >= 16:
            size = Gio.DBusMessage.bytes_needed(self.received[:16])
            if len(self.received) < size:
                return
            message = Gio.DBusMessage.new_from_blob(self.received[:size], Gio.DBusCapabilityFlags.UNIX_FD_PASSING)
            self.received = self.received[size:]
            self.handle(message)

    def handle(self, message: Gio.DBusMessage) -> None:
        kind = message.get_message_type()
        if kind == Gio.DBusMessageType.METHOD_CALL:
            self.calls.append(f"{message.get_interface()}.{message.get_member()}")
        elif kind != Gio.DBusMessageType.SIGNAL:
            self.answers[message.get_reply_serial()] = message.get_error_name() or ""


def orphan() -> int:
    """Continues in a child process; returns the process that has ended."""
    former = os.getpid()
    if os.fork():
        os._exit(0)
    while os.getppid() == former:
        time.sleep(0.001)
    return former


def behead(connection: RawConnection) -> None:
    """Continues in another thread: /proc shows only the first thread of the process."""
    first = os.getpid()

    def go_on() -> None:
        while Path(f"/proc/{first}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
            time.sleep(0.001)
        answer(first)
        obey(connection)
        os._exit(0)

    threading.Thread(target=go_on).start()
    ctypes.CDLL(None).pthread_exit(None)


def answer(value: object) -> None:
    print(json.dumps(value), flush=True)


def obey(connection: RawConnection) -> None:
    """Does what it is told, until its input ends."""
    for line in sys.stdin:
        order = json.loads(line)
        match order["do"]:
            case "call":
                answer(connection.call(order["to"], order["path"], order["member"], order["arguments"]))
            case "calls":
                connection.take(0)
                answer(connection.calls)
            case "orphan":
                answer(orphan())
            case "behead":
                behead(connection)


if __name__ == "__main__":
    bus = RawConnection(os.environ["DBUS_SESSION_BUS_ADDRESS"])
    answer("connected")
    obey(bus)
