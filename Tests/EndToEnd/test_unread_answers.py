# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs that ask the broker for much on the bus at once, whether or not they read what it answers."""

from __future__ import annotations

import select
import time

import pytest
from gi.repository import Gio
from buses import BROKER, BUS, ROOT, let_pass
from clients import Client
from raw_client import RawConnection
from support import Machine

MEBI = 1 << 20
# As much as one application may have: 8 MB.
ACTIVITIES, TEXT = 64, "y" * 120_000
CALLS = 250


def peak(pid: int) -> int:
    """The most memory that it has had so far, in bytes."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))


def hoarder(machine: Machine) -> RawConnection:
    """A program with as many and as large activities as it may have."""
    connection = RawConnection(machine.address)
    assert not connection.call(BROKER, ROOT, f"{BROKER}.Manager.RegisterApplication",
                               '("com.example.hoarder", ["com.example.hoard"], objectpath "/", @a{sv} {})')
    for _ in range(ACTIVITIES):
        assert not connection.call(BROKER, ROOT, f"{BROKER}.Manager.CreateActivity",
                                   f'("com.example.hoard", {{"UserInfo": <{{"text": <"{TEXT}">}}>}})')
    return connection


def ask_for_all(connection: RawConnection, times: int) -> None:
    """Asks for everything so often, all at once."""
    message = Gio.DBusMessage.new_method_call(BROKER, ROOT, f"{BUS}.ObjectManager", "GetManagedObjects")
    calls = b""
    for _ in range(times):
        connection.serial += 1
        message.set_serial(connection.serial)
        calls += message.to_blob(Gio.DBusCapabilityFlags.NONE)
    connection.socket.sendall(calls)


@pytest.mark.parametrize("reads", [False, True], ids=["without reading", "reading"])
def test_answers_of_megabytes(machine: Machine, reads: bool) -> None:
    """A program that asks for all it has, 8 MB, 250 times at once makes the broker take less than 128 MB, whether or not it
    reads, and once it has gone others are served as before."""
    other = Client(machine, "com.example.other", ("com.example.other.edit",))
    connection, broker = hoarder(machine), machine.processes["handoffd"].pid
    ask_for_all(connection, CALLS)
    # What it reads, and when nothing more has come for a while.
    count, latest = 0, time.monotonic()
    while time.monotonic() - latest < 3 and peak(broker) < 128 * MEBI:
        if reads and select.select([connection.socket], [], [], 0.1)[0]:
            count += len(connection.socket.recv(MEBI))
            latest = time.monotonic()
        elif not reads:
            # Nothing tells that no more is made.
            let_pass(0.2)
    assert peak(broker) < 128 * MEBI
    assert not reads or count > (CALLS - 1) * ACTIVITIES * len(TEXT)
    connection.socket.close()
    assert other.create(Title="still here").get("Title") == "still here"
