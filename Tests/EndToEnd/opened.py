# SPDX-License-Identifier: LGPL-2.1-or-later
"""Clients that talk to the broker by a socket of their own, past the bus daemon."""

from __future__ import annotations

import socket

from gi.repository import Gio, GLib
from attached import Attached
from buses import ROOT, Session
from clients import Client, Dock
from support import Machine


def open_socket(client: Session) -> int:
    """The client's end of a new socket to the broker."""
    client.call(ROOT, "Manager.Open")
    return client.received.pop()


def connection_by(descriptor: int) -> Gio.DBusConnection:
    """GDBus needs no handshake to talk by such a socket, but passes no descriptors there."""
    stream = Gio.Socket.new_from_fd(descriptor).connection_factory_create_connection()
    connection = Gio.DBusConnection.new_sync(stream, None, Gio.DBusConnectionFlags.NONE, None, None)
    connection.set_exit_on_close(False)
    return connection


class _Opened(Session):
    """A session that is turned to the socket once it is on the bus."""

    bus: Gio.DBusConnection

    def turn(self) -> None:
        """From now on everything goes by the socket."""
        descriptor = open_socket(self)
        self.bus, self.connection = self.connection, connection_by(descriptor)

    def close(self) -> None:
        super().close()
        if not self.bus.is_closed():
            self.bus.close_sync(None)


class OpenedClient(_Opened, Client):
    """An application that says all by the socket, and is called there."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine, register=False)
        self.turn()
        for name in ("Application", "ActivityDelegate"):
            self.serve(self.path, name)
        self.register()


class OpenedDock(_Opened, Dock):
    """A dock that is told of offers by the socket."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.turn()
        self.connection.signal_subscribe(None, None, None, None, None, Gio.DBusSignalFlags.NONE, self._signalled)
        self.follow()


def raw_socket(client: Session) -> Attached:
    """The socket as bytes."""
    return Attached(open_socket(client))


def stream_of(attached: Attached) -> socket.socket:
    """The stream that has come last."""
    return socket.socket(fileno=attached.descriptors.pop())


def registration(application_id: str, *types: str, path: str = "/app") -> GLib.Variant:
    return GLib.Variant("(sasoa{sv})", (application_id, types, path, {}))
