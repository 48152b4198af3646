# SPDX-License-Identifier: LGPL-2.1-or-later
"""Carriers, their other ends, and what they have started."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path

from gi.repository import Gio, GLib
from buses import BRIDGE_ROOT, BusError, Session, wait
from clients import interface_without
from support import Machine, device_path


def about(machine: Machine, device_id: str, what: str) -> object:
    return machine.session.get(device_path(device_id), f"Device.{what}")


def program(machine: Machine, name: str, *lines: str) -> str:
    """A program of a machine that runs these lines."""
    file = machine.folder / name
    file.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    file.chmod(0o755)
    return str(file)


def other_end(machine: Machine) -> str:
    """A program that is the other end of a carrier, as a login by ssh has it: nothing but the folder says where the bus is."""
    return program(machine, "dial", "unset DBUS_SESSION_BUS_ADDRESS", f"export XDG_RUNTIME_DIR={machine.folder}",
                   "exec handoff carry --accept")


def started_by(process: int) -> list[int]:
    """The processes that a process has started and that have not ended."""
    found = []
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            fields = (directory / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == process and fields[0] not in "ZX":
            found.append(int(directory.name))
    return found


def has_ended(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def told(machine: Machine, text: str) -> int:
    """How many lines with this a handoff that was left running has printed."""
    return sum(text in line for line in machine.log("handoff").splitlines())


def is_listening(path: Path) -> bool:
    """Whether somebody takes connections at a Unix socket (proc(5), /proc/net/unix)."""
    rows = [line.split() for line in Path("/proc/net/unix").read_text().splitlines()[1:]]
    return any(row[-1] == str(path) and row[3] == "00010000" for row in rows)


def listen(machine: Machine, path: Path) -> None:
    machine.start("handoff", "carry", "--listen", str(path))
    wait(lambda: is_listening(path), f"{path} to be listened on")


def connected_to(path: Path) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(20)
    connection.connect(str(path))
    return connection


def carry(session: Session, end: int) -> Callable[[], GLib.Variant]:
    """Gives a descriptor to the bridge, and returns the function that waits for the answer."""
    return session.begin(BRIDGE_ROOT, "Bridge.Carry", GLib.Variant("(h)", (0,)),
                         descriptors=Gio.UnixFDList.new_from_array([os.dup(end)]))


def between(machine: Machine) -> socket.socket:
    """A connection that is carried to a machine."""
    ours, theirs = socket.socketpair()

    def is_taken() -> bool:
        try:
            carry(machine.session, theirs.fileno())()
        except BusError as error:
            # Five a second come from all carriers.
            assert error.short_name == "LimitsExceeded", error
            return False
        return True

    wait(is_taken, "the connection to be taken")
    theirs.close()
    return ours


class Relay:
    """A connection that is carried to a machine, and cut after so many pieces of both directions together, or after so many bytes
    of one; without such a number, when told to. A piece is what one side has written and the other has not got yet, so
    that of messages that answer each other each is one."""

    def __init__(self, machine: Machine, *, pieces: int = 1 << 40, forward: int = 1 << 40, backward: int = 1 << 40) -> None:
        self._ends = between(machine), *socket.socketpair()
        far, theirs, self.near = self._ends
        self._lock = threading.Lock()
        self._pieces = pieces
        # How many pieces have been passed on.
        self.passed = 0
        self.is_cut = False
        for source, target, left in ((theirs, far, forward), (far, theirs, backward)):
            threading.Thread(target=self._pass_on, args=(source, target, left), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket, left: int) -> None:
        try:
            while left and (piece := source.recv(min(left, 1 << 16))) and self._is_let_through():
                target.sendall(piece)
                left -= len(piece)
        except OSError:
            pass
        self.cut()

    def _is_let_through(self) -> bool:
        with self._lock:
            if self.is_cut or self.passed == self._pieces:
                return False
            self.passed += 1
            return True

    def cut(self) -> None:
        self.is_cut = True
        for end in self._ends[:2]:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def switch_off(machine: Machine) -> None:
    """Switches Handoff off, and waits until its bridge has noticed."""
    machine.set_enabled(False)
    wait(lambda: machine.session.get(BRIDGE_ROOT, "Bridge.Port") == 0, "the bridge to be off")


def is_peer(machine: Machine, device_id: str) -> bool:
    try:
        return bool(about(machine, device_id, "Paired"))
    except BusError:
        return False


class Carrier(Session):
    """A carrier to a device, whose connections are those that a function makes."""

    PATH = "/com/example/carrier"

    def __init__(self, machine: Machine, connect: Callable[[], socket.socket]) -> None:
        super().__init__(machine.address)
        machine.sessions.append(self)
        self.connect = connect
        self.connection.register_object(self.PATH, interface_without("Carrier", ()), self._called, None, None)

    def _called(self, _connection: Gio.DBusConnection, _sender: str, _path: str, _interface: str, _method: str,
                _arguments: GLib.Variant, invocation: Gio.DBusMethodInvocation) -> None:
        with self.connect() as end:
            descriptors = Gio.UnixFDList.new()
            descriptors.append(end.fileno())
        invocation.return_value_with_unix_fd_list(GLib.Variant("(h)", (0,)), descriptors)

    def register(self, device_id: str, label: str = "tube") -> None:
        self.call(BRIDGE_ROOT, "Bridge.RegisterCarrier", GLib.Variant("(sos)", (device_id, self.PATH, label)))


def configure(machine: Machine, *lines: str) -> None:
    """Adds to the group of carriers in handoff.conf."""
    file = machine.folder / "config_home" / "handoff" / "handoff.conf"
    file.write_text(file.read_text() + "\n".join(["[Carriers]", *lines, ""]))
