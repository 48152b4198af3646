# SPDX-License-Identifier: LGPL-2.1-or-later
"""A program that has as much as it may, and asks for all of it again and again, all at once:

    flooder.py ADDRESS (reads | never) TIMES
"""

from __future__ import annotations

import sys
import time

from gi.repository import Gio, GLib
from buses import BROKER, BUS, ROOT
from raw_client import RawConnection

# As much as one application may have: 8 MB.
ACTIVITIES, TEXT = 64, "y" * 120_000


class Reader(RawConnection):
    """Answers, as every program does, whether it is there."""

    def handle(self, message: Gio.DBusMessage) -> None:
        super().handle(message)
        if message.get_message_type() == Gio.DBusMessageType.METHOD_CALL and message.get_member() == "Ping":
            reply = Gio.DBusMessage.new_method_reply(message)
            self.serial += 1
            reply.set_serial(self.serial)
            self.socket.sendall(reply.to_blob(Gio.DBusCapabilityFlags.NONE))


def hoard(connection: RawConnection) -> None:
    """Makes as many and as large activities as it may have."""
    assert not connection.call(BROKER, ROOT, f"{BROKER}.Manager.RegisterApplication",
                               '("com.example.hoarder", ["com.example.hoard"], objectpath "/", @a{sv} {})')
    for _ in range(ACTIVITIES):
        assert not connection.call(BROKER, ROOT, f"{BROKER}.Manager.CreateActivity",
                                   f'("com.example.hoard", {{"UserInfo": <{{"text": <"{TEXT}">}}>}})')


def ask_for_all(connection: RawConnection, times: int) -> None:
    """Asks for everything so often, all at once."""
    message = Gio.DBusMessage.new_method_call(BROKER, ROOT, f"{BUS}.ObjectManager", "GetManagedObjects")
    calls = b""
    for _ in range(times):
        connection.serial += 1
        message.set_serial(connection.serial)
        calls += message.to_blob(Gio.DBusCapabilityFlags.NONE)
    connection.socket.sendall(calls)


def main(address: str, reads: str, times: str) -> None:
    """The program."""
    connection = Reader(address)
    hoard(connection)
    print("ready", flush=True)
    sys.stdin.readline()
    ask_for_all(connection, int(times))
    while reads == "reads":
        connection.take(1)
    time.sleep(1000)


if __name__ == "__main__":
    main(*sys.argv[1:])
