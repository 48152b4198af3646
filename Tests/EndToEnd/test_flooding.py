# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs of the session that call the broker as much as they can."""

from __future__ import annotations

import array
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from gi.repository import Gio, GLib
from buses import BROKER, ROOT, let_pass, wait
from clients import Client
from raw_client import RawConnection
from support import Machine

MEBI = 1 << 20
# What one program may hold, which flooder.py does.
HELD = 8 * MEBI
# Others wait for no longer than this, all but one of a hundred: with programs for debugging, while other tests run.
PROMPT = 1


def memory(pid: int, what: str) -> int:
    """The memory that it has (VmRSS), or the most that it has had (VmHWM), in bytes."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(what))


@contextmanager
def flooders(machine: Machine, number: int, *arguments: str) -> Iterator[list[subprocess.Popen]]:
    """Programs that flood the broker from now on."""
    script = Path(__file__).with_name("flooder.py")
    programs = [subprocess.Popen([sys.executable, script, machine.address, *arguments], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, text=True) for _ in range(number)]
    try:
        for program in programs:
            assert program.stdout.readline() == "ready\n"
        yield programs
    finally:
        for program in programs:
            program.kill()
            program.communicate()


def slowest(activity: object, seconds: float) -> float:
    """How long all but one of a hundred calls of another program take, while this many seconds pass."""
    times = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        begin = time.monotonic()
        activity.get("Title")
        times.append(time.monotonic() - begin)
    return sorted(times)[int(len(times) * 0.99)]


def activities(client: Client) -> list[str]:
    """The activities that there are."""
    objects = client.connection.call_sync(BROKER, ROOT, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", None,
                                          None, Gio.DBusCallFlags.NONE, -1, None).unpack()[0]
    return [path for path in objects if "/activities/" in path]


@pytest.mark.parametrize("reads", ["never", "reads"])
def test_answers_of_megabytes(machine: Machine, reads: str) -> None:
    """Programs that ask for all that they have, 8 MB, 250 times at once, hold nobody up, whether or not they read it, make
    the broker take less than 64 MB more, and leave nothing behind when they are killed."""
    client, broker = Client(machine), machine.processes["handoffd"].pid
    activity = client.create(Title="still here")
    before = memory(broker, "VmRSS")
    with flooders(machine, 3, reads, "250") as programs:
        for program in programs:
            print(file=program.stdin, flush=True)
        assert slowest(activity, 4) < PROMPT
        assert memory(broker, "VmHWM") < before + 3 * HELD + 64 * MEBI
    wait(lambda: activities(client) == [activity.path], "the activities to be gone", 5)
    assert activity.get("Title") == "still here"


def test_answers_that_are_read(machine: Machine) -> None:
    """Whoever asks for much several times at once, and reads it, gets all of it."""
    answers: list[int] = []
    other = Client(machine)
    for number in range(64):
        other.create(UserInfo={"text": GLib.Variant("s", "y" * 100_000 + str(number))})
    for _ in range(8):
        other.connection.call(
            BROKER, ROOT, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", None, None,
            Gio.DBusCallFlags.NONE, -1, None,
            lambda connection, result: answers.append(connection.call_finish(result).get_size()))
    wait(lambda: len(answers) == 8, "all answers")
    assert min(answers) > 64 * 100_000


def test_answers_that_nobody_reads(machine: Machine) -> None:
    """Whoever leaves megabytes of answers unread is told so in place of further ones, and once it reads it is answered."""
    connection = RawConnection(machine.address)
    client = Client(machine)
    for _ in range(64):
        client.create(UserInfo={"text": GLib.Variant("s", "y" * 100_000)})
    call = Gio.DBusMessage.new_method_call(BROKER, ROOT, "org.freedesktop.DBus.Introspectable", "Introspect")
    first = connection.serial + 1
    # Each answer has some 30 KB.
    for number in range(first, first + 400):
        call.set_serial(number)
        connection.socket.sendall(call.to_blob(Gio.DBusCapabilityFlags.NONE))
    connection.serial = first + 400
    wait(lambda: connection.take(0.1) or len(connection.answers) >= 400, "an answer to each")
    refused = [number for number in range(first, first + 400) if "LimitsExceeded" in connection.answers[number]]
    # It answers no call, and so nothing shows that it reads.
    assert refused and refused[0] > first + 50


def worked(pid: int) -> float:
    """For how many seconds a process has had a processor."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def test_what_is_left_behind(machine: Machine) -> None:
    """A program that has written thousands of questions and is gone is forgotten within a second, and what it has changed
    before it left counts."""
    watcher, activity = Client(machine), Client(machine, "com.example.other", ("com.example.other.edit",)).create()
    connection = RawConnection(machine.address)
    assert not connection.call(BROKER, ROOT, f"{BROKER}.Manager.RegisterApplication",
                               '("com.example.gone", ["com.example.gone.edit"], objectpath "/", @a{sv} {})')
    broker = machine.processes["handoffd"]
    calls = b""
    for _ in range(3000):
        connection.serial += 1
        call = Gio.DBusMessage.new_method_call(BROKER, ROOT, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
        call.set_serial(connection.serial)
        calls += call.to_blob(Gio.DBusCapabilityFlags.NONE)
    rename = Gio.DBusMessage.new_method_call(BROKER, ROOT, "org.freedesktop.DBus.Properties", "Set")
    rename.set_body(GLib.Variant("(ssv)", (f"{BROKER}.Preferences", "DeviceName", GLib.Variant("s", "Renamed"))))
    rename.set_serial(connection.serial + 1)
    calls += rename.to_blob(Gio.DBusCapabilityFlags.NONE)
    broker.send_signal(signal.SIGSTOP)
    writer = threading.Thread(target=lambda: connection.socket.sendall(calls))
    writer.start()
    writer.join(10)
    connection.socket.close()
    broker.send_signal(signal.SIGCONT)
    # A quarter of that second of the broker's own work: how long the bus takes to pass the calls on says how busy the machine is.
    begin = worked(broker.pid)
    assert activity.get("Title") == ""
    wait(lambda: watcher.get(ROOT, "Preferences.DeviceName") == "Renamed", "what it has changed")
    assert worked(broker.pid) - begin < PROMPT / 4


def test_descriptors_by_the_thousand(machine: Machine) -> None:
    """Descriptors that come by the thousand, with calls that wait, neither end a daemon nor stay open."""
    activity, broker = Client(machine).create(), machine.processes["handoffd"]
    connection = RawConnection(machine.address, with_descriptors=True)
    before = len(os.listdir(f"/proc/{broker.pid}/fd"))
    null = os.open("/dev/null", os.O_RDONLY)
    # Until it has read what it was answered, its calls wait.
    questions = b""
    for _ in range(200):
        connection.serial += 1
        call = Gio.DBusMessage.new_method_call(BROKER, ROOT, "org.freedesktop.DBus.Introspectable", "Introspect")
        call.set_serial(connection.serial)
        questions += call.to_blob(Gio.DBusCapabilityFlags.NONE)
    connection.socket.sendall(questions)
    assert activity.get("Title") == ""
    for _ in range(1500):
        connection.serial += 1
        call = Gio.DBusMessage.new_method_call(BROKER, ROOT, f"{BROKER}.Manager", "UnregisterApplication")
        call.set_serial(connection.serial)
        descriptors = Gio.UnixFDList.new()
        for _number in range(16):
            descriptors.append(null)
        call.set_unix_fd_list(descriptors)
        blob = call.to_blob(Gio.DBusCapabilityFlags.UNIX_FD_PASSING)
        try:
            connection.socket.sendmsg([blob], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [null] * 16))],
                                      socket.MSG_DONTWAIT)
        except BlockingIOError:
            let_pass(0.01)
    assert activity.get("Title") == ""
    os.close(null)
    connection.socket.close()
    wait(lambda: len(os.listdir(f"/proc/{broker.pid}/fd")) < before + 20, "the broker to close them")
    assert broker.poll() is None


def test_large_registrations(machine: Machine) -> None:
    """Programs that call with megabytes that are refused, on and on, hold nobody up."""
    activity = Client(machine).create()
    is_over = threading.Event()
    types = [f"com.example.large.t{number}" for number in range(120_000)]
    blob = GLib.Variant("(sasoa{sv})", ("com.example.large", types, "/", {}))

    def register() -> None:
        connection = RawConnection(machine.address)
        while not is_over.is_set():
            connection.serial += 1
            call = Gio.DBusMessage.new_method_call(BROKER, ROOT, f"{BROKER}.Manager", "RegisterApplication")
            call.set_body(blob)
            call.set_serial(connection.serial)
            connection.socket.sendall(call.to_blob(Gio.DBusCapabilityFlags.NONE))
            while connection.serial not in connection.answers:
                connection.take(1)

    threads = [threading.Thread(target=register) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        assert slowest(activity, 4) < PROMPT
    finally:
        is_over.set()
        for thread in threads:
            thread.join()


def drain(end: socket.socket) -> None:
    """Reads whatever comes, to the end."""
    while end.recv(1 << 20):
        pass


def test_costly_calls_at_once(machine: Machine) -> None:
    """Calls that take long to refuse, and lie in the bus in front of others' calls, hold nobody up until all of them are
    refused, and take little memory."""
    # How long others wait is counted by the broker's own work, since all else says how busy the machine is.
    activity, broker = Client(machine).create(), machine.processes["handoffd"]
    before = memory(broker.pid, "VmRSS")
    connection = RawConnection(machine.address)
    call = Gio.DBusMessage.new_method_call(BROKER, ROOT, f"{BROKER}.Manager", "RegisterApplication")
    call.set_body(GLib.Variant("(sasoa{sv})", ("com.example.costly", ["a.b"] * 10_000, "/", {})))
    call.set_serial(1)
    blob = call.to_blob(Gio.DBusCapabilityFlags.NONE)
    calls = b"".join(blob[:8] + struct.pack("<I", serial) + blob[12:] for serial in range(1000, 2500))
    writer = threading.Thread(target=lambda: connection.socket.sendall(calls))
    reader = threading.Thread(target=drain, args=[connection.socket])
    reader.start()
    writer.start()
    longest = 0.0
    while writer.is_alive():
        begin = worked(broker.pid)
        activity.get("Title")
        longest = max(longest, worked(broker.pid) - begin)
    begin = worked(broker.pid)
    activity.get("Title")
    longest = max(longest, worked(broker.pid) - begin)
    connection.socket.shutdown(socket.SHUT_RDWR)
    reader.join()
    assert longest < PROMPT
    assert memory(broker.pid, "VmHWM") < before + 64 * MEBI


def test_memory_of_many_calls(machine: Machine) -> None:
    """What the calls of many programs take of memory, which come at once and are answered, goes back to the system."""
    activity, broker = Client(machine).create(), machine.processes["handoffd"]
    before = memory(broker.pid, "VmRSS")
    connections = [RawConnection(machine.address) for _ in range(64)]
    call = Gio.DBusMessage.new_method_call(BROKER, ROOT, f"{BROKER}.Manager", "Nonsense")
    # The bus itself would take long to remember so many that wait for an answer.
    call.set_flags(Gio.DBusMessageFlags.NO_REPLY_EXPECTED)
    call.set_serial(1000)
    calls = call.to_blob(Gio.DBusCapabilityFlags.NONE) * 3000
    broker.send_signal(signal.SIGSTOP)
    readers = []
    for connection in connections:
        connection.socket.sendall(calls)
        readers.append(threading.Thread(target=drain, args=[connection.socket]))
        readers[-1].start()
    broker.send_signal(signal.SIGCONT)
    wait(lambda: memory(broker.pid, "VmHWM") > before + 32 * MEBI, "the calls to come", 20)
    assert activity.get("Title") == ""
    wait(lambda: memory(broker.pid, "VmRSS") < before + 20 * MEBI, "their memory to be given back", 20)
    for connection, reader in zip(connections, readers):
        connection.socket.shutdown(socket.SHUT_RDWR)
        reader.join()
