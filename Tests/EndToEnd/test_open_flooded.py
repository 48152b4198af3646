# SPDX-License-Identifier: LGPL-2.1-or-later
"""Clients with a socket to the broker that write much, read nothing, or leave at once."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from gi.repository import Gio, GLib
from attached import Attached, AttachedBridge, number_of_descriptors
from buses import BROKER, BUS, ROOT, let_pass, wait
from clients import Client
from opened import raw_socket
from support import Machine
from test_attach import blob
from test_open import desk  # noqa: F401  pylint: disable=unused-import

# The fixtures have the names under which tests ask for them.
# pylint: disable=redefined-outer-name
MANAGER = f"{BROKER}.Manager"
FLOODING = os.path.join(os.path.dirname(__file__), "flooding.py")


def resident(pid: int) -> int:
    """How many bytes of memory it takes."""
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def client_with_activities(machine: Machine, application_id: str, activities: int) -> Client:
    """A client with so many activities of 100 kB each."""
    client = Client(machine, application_id, (f"{application_id}.edit",))
    for number in range(activities):
        client.create(Title=f"{number}", UserInfo={"text": GLib.Variant("s", "y" * 100_000)})
    return client


def test_who_does_not_read(desk: Machine) -> None:
    """Of a client that reads no answers nothing more is read, and the broker keeps little for it and serves the others."""
    other, client = Client(desk), Client(desk)
    for number in range(40):
        client.create(Title="x" * 200, UserInfo={"text": GLib.Variant("s", "y" * 1000)})
    attached = raw_socket(client)
    broker = desk.processes["handoffd"].pid

    before = resident(broker)
    call = blob(Gio.DBusMessage.new_method_call(None, ROOT, f"{BUS}.ObjectManager", "GetManagedObjects"))
    calls, sent, patience = memoryview(call * 50_000), 0, 3
    # As much as the broker takes.
    while sent < len(calls) and patience:
        try:
            sent += attached.socket.send(calls[sent:sent + (1 << 16)])
        except BlockingIOError:
            # As long as a broker takes to read on that does; three times.
            let_pass(0.3)
            patience -= 1
    assert sent < len(calls), "all of it was read"
    assert resident(broker) - before < 24 << 20
    assert other.create(Title="Another").get("Title") == "Another"
    # As soon as it reads, it is answered, and read again.
    wait(lambda: attached.read() and len(attached.received) > 50, "the answers")
    assert not attached.is_ended


def test_large_answers(desk: Machine) -> None:
    """Whoever asks for much several times at once, and reads only then, gets all of it."""
    client = client_with_activities(desk, "com.example.large", 12)
    attached = raw_socket(client)
    asked = [attached.begin(ROOT, f"{BUS}.ObjectManager", "GetManagedObjects") for _ in range(30)]
    # As long as the broker takes to answer as much as fits, of 36 MB.
    let_pass(0.3)
    # Whoever has not read what it has asked for is told of changes nevertheless.
    Client(desk, "com.example.another").create(Title="Another").become_current()
    client.set(ROOT, "Manager.Enabled", GLib.Variant("b", False))
    # As long as it takes to be told, before anything is read.
    let_pass(0.2)
    for serial in asked:
        answer = attached.next("an answer", lambda one, serial=serial: one.message.get_reply_serial() == serial)
        assert len(answer.arguments[0]) >= 12
    attached.next("the change", lambda one: one.message.get_member() == "PropertiesChanged")
    attached.call(ROOT, MANAGER, "CreateActivity", GLib.Variant("(sa{sv})", ("", {})))


@contextmanager
def flooding(machine: Machine, number: int, what: str) -> Iterator[list[subprocess.Popen]]:
    """So many programs that write to four sockets each all they can."""
    programs = []
    try:
        for _ in range(number):
            programs.append(subprocess.Popen([sys.executable, FLOODING, machine.address, what], text=True,
                                             stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        for program in programs:
            assert program.stdout.readline() == "ready\n"
        for program in programs:
            program.stdin.write("\n")
            program.stdin.flush()
        yield programs
    finally:
        for program in programs:
            program.kill()
            program.communicate()


def test_many_that_write_and_leave(desk: Machine) -> None:
    """Many that write as much as is taken, and leave, hold nobody up, and what they have left is dealt with."""
    client = Client(desk)
    broker = desk.processes["handoffd"].pid
    before = number_of_descriptors(broker)
    with flooding(desk, 12, "leave") as programs:
        assert client.create(Title="Meanwhile").get("Title") == "Meanwhile"
        wait(lambda: all(program.poll() is not None for program in programs), "them to leave")
        assert client.create(Title="After").get("Title") == "After"
        wait(lambda: number_of_descriptors(broker) == before, "their sockets to end")
    attached = raw_socket(client)
    attached.call(ROOT, MANAGER, "CreateActivity", GLib.Variant("(sa{sv})", ("", {})))


@pytest.mark.parametrize("programs, what", [(3, "stay"), (12, "pace")])
def test_who_writes_on_and_on(desk: Machine, programs: int, what: str) -> None:
    """Those that write without an end hold up neither who comes later, nor the bridge, nor who is on the bus."""
    client = Client(desk)
    with flooding(desk, programs, what) as running:
        # As long as all of them take to write as fast as they can.
        let_pass(0.5)
        bridge = AttachedBridge(desk)
        bridge.add_peer()
        later = raw_socket(client)
        path, = later.call(ROOT, MANAGER, "CreateActivity", GLib.Variant("(sa{sv})", ("", {})))
        later.call(path, f"{BROKER}.Activity", "BecomeCurrent")
        bridge.socket.answer(bridge.socket.next_call("Offer"))
        client.call(path, "Activity.ResignCurrent")
        bridge.socket.answer(bridge.socket.next_call("Withdraw"))
        assert all(program.poll() is None for program in running)


def unread_bytes(attached: Attached) -> int:
    """How much of what was written the other end has not read (unix(7), SIOCOUTQ)."""
    return int.from_bytes(fcntl.ioctl(attached.socket, termios.TIOCOUTQ, bytes(4)), sys.byteorder)


def test_crowd(desk: Machine) -> None:
    """A client that has a little unread is read again as soon as those have gone that leave very much unread."""
    small, *crowd = [client_with_activities(desk, f"com.example.{name}", number)
                     for name, number in (("small", 5), ("crowd", 60), ("other", 60))]
    # Opened last: who leaves many changes unread is forgotten.
    attached, *others = [raw_socket(client) for client in (small, *crowd)]
    attached.begin(ROOT, f"{BUS}.ObjectManager", "GetManagedObjects")
    for _ in range(12):
        for other in others:
            other.begin(ROOT, f"{BUS}.ObjectManager", "GetManagedObjects")
    for other in others:
        # More than the broker reads at once.
        other.begin(ROOT, f"{BUS}.Peer", "Ping", GLib.Variant("(s)", ("x" * 150_000,)))

    def rests(other: Attached) -> bool:
        """Whether something is left unread while the broker answers several calls of another."""
        before = unread_bytes(other)
        for _ in range(8):
            small.get(ROOT, "Manager.Enabled")
        return 0 < before == unread_bytes(other)

    wait(lambda: all(rests(other) for other in others), "the crowd not to be read any more")
    attached.begin(ROOT, f"{BUS}.Properties", "Set", GLib.Variant(
        "(ssv)", (MANAGER, "Enabled", GLib.Variant("b", False))))
    assert rests(attached)
    assert small.get(ROOT, "Manager.Enabled") is True
    for client in crowd:
        client.close()
    wait(lambda: small.get(ROOT, "Manager.Enabled") is False, "the call to be read")
