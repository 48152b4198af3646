# SPDX-License-Identifier: LGPL-2.1-or-later
"""Daemons without descriptors: what needs one fails with an error, and works again when there are some.

Each place is gone through with no descriptor left, then with one, and so on, so that each that it needs is the one that
is missing once.
"""

from __future__ import annotations

import resource
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from gi.repository import GLib
from buses import BRIDGE, BRIDGE_ROOT, BROKER, ROOT, BusError, let_pass, properties, wait
from clients import ACTIVITY_TYPE, Client, Dock
from link import Device
from streams import Continuation
from support import Machine, few_descriptors, wait_for_link
from test_desktop_entries import install

Machines = tuple[Machine, Machine]
DAEMONS = ("handoffd", "handoff-bridge")
# More than any of these places needs.
MOST = 9


@contextmanager
def starved(machine: Machine, program: str, spare: int) -> Iterator[None]:
    """Meanwhile a daemon can open so many descriptors more, and no others."""
    process = machine.processes[program]
    with few_descriptors(process, spare):
        yield
    assert process.poll() is None, f"{program} has ended with {process.returncode}:\n{machine.log(program)}"


def attempt(what: Callable[[], object]) -> bool:
    """Whether it succeeds; if not, it is refused with an error that says why."""
    try:
        what()
    except BusError as error:
        assert len(error.message) >= 10, error
        return False
    return True


def is_over(end: socket.socket) -> bool:
    """Whether reading ends, without having brought anything."""
    try:
        return end.recv(1) == b""
    except ConnectionResetError:
        return True


def echoes(ends: tuple[socket.socket, socket.socket]) -> None:
    """A stream carries bytes both ways, and its ends."""
    here, there = ends
    for one, other in ((here, there), (there, here)):
        one.sendall(b"x" * 1000)
        one.shutdown(socket.SHUT_WR)
        received = b""
        while data := other.recv(4096):
            received += data
        assert received == b"x" * 1000
    here.close()
    there.close()


@pytest.mark.parametrize("program", DAEMONS)
# With fewer the dynamic linker fails.
@pytest.mark.parametrize("limit", [5, 8, 16, 63])
def test_too_few_descriptors_to_run(machine_list: list[Machine], program: str, limit: int) -> None:
    """A daemon that may open next to nothing says so and ends with status 1, instead of failing somewhere."""
    machine = Machine("desk")
    machine_list.append(machine)
    command = ["prlimit", f"--nofile={limit}:{limit}", program]
    process = subprocess.run(command, env=machine.environment, capture_output=True, timeout=10, check=False)
    assert process.returncode == 1
    assert b"files may be open at a time" in process.stderr and b"LimitNOFILE" in process.stderr


def test_few_descriptors_are_enough(machine_list: list[Machine]) -> None:
    """With the fewest that are accepted both daemons run, and are connected with each other and a peer."""
    machine = Machine("desk")
    machine_list.append(machine)
    for program in DAEMONS:
        machine.start(program)
        resource.prlimit(machine.processes[program].pid, resource.RLIMIT_NOFILE, (64, 64))
    machine.wait_for(BROKER, "handoffd")
    machine.wait_for(BRIDGE, "handoff-bridge")
    machine.port = wait(lambda: machine.session.get(BRIDGE_ROOT, "Bridge.Port"), "a port")
    Device().paired_link_to(machine)


@pytest.mark.parametrize(("at_origin", "program"), [(at, program) for at in (True, False) for program in DAEMONS])
def test_stream(machines: Machines, at_origin: bool, program: str) -> None:
    """A stream that cannot be had is refused or breaks; later ones work."""
    desk, lap = machines
    continuation = Continuation(desk, lap)
    failures = 0
    for spare in range(MOST):
        with starved(desk if at_origin else lap, program, spare):
            succeeded = attempt(continuation.target.begin(continuation.path, "Continuation.OpenStream"))
            # As long as what was begun goes on.
            let_pass(0.2)
        failures += not succeeded
        # What came of it at the origin ends: cut, or closed by an application that has not got its end.
        ends = [socket.socket(fileno=number) for number in continuation.target.received] + continuation.origin.streams
        continuation.target.received.clear()
        continuation.origin.streams.clear()
        for end in ends:
            end.settimeout(10)
        if not succeeded:
            assert all(is_over(end) for end in ends)
        for end in ends:
            end.close()
        echoes(continuation.open())
    assert failures, "none was missing"


@pytest.mark.parametrize("program", DAEMONS)
def test_stream_that_is_under_way(machines: Machines, program: str) -> None:
    """Streams that are open need no more descriptors, neither to carry bytes nor to end."""
    desk, lap = machines
    continuation = Continuation(desk, lap)
    ends = continuation.open()
    # The applications have their ends a moment before the bridges have connected them.
    for one, other in (ends, ends[::-1]):
        one.sendall(b"?")
        assert other.recv(1) == b"?"
    with starved(desk, program, 0), starved(lap, program, 0):
        echoes(ends)
        # As long as the ends that are closed take to end the streams.
        let_pass(0.2)


def test_link(machine: Machine) -> None:
    """Connections that cannot be taken wait, or are refused; who comes later is served."""
    for spare in range(MOST):
        device = Device()
        machine.trust(device.id, "other")
        with starved(machine, "handoff-bridge", spare):
            try:
                device.link_to(machine).close()
            except OSError:
                pass
        # The bridge waits for a second before it looks again at those who wait.
        machine.session.set(BRIDGE_ROOT, "Bridge.Discoverable", GLib.Variant("b", True))
        device.paired_link_to(machine).close()


def test_dialling(machines: Machines) -> None:
    """A device that cannot be dialled is told so."""
    desk, lap = machines
    failures = 0
    for spare in range(MOST):
        with starved(lap, "handoff-bridge", spare):
            failures += not attempt(lambda: lap.dial(desk.port))
        # More connections in a second than these two would be refused for that.
        let_pass(0.5)
        lap.dial(desk.port)
    assert failures
    wait_for_link(desk, lap)


@pytest.mark.parametrize("program", DAEMONS)
def test_switch(machines: Machines, program: str) -> None:
    """The switch is written and the bridge listens and dials, or will later."""
    desk, lap = machines
    for spare in range(MOST):
        with starved(desk, program, spare):
            changed = attempt(lambda: desk.set_enabled(False))
            assert desk.session.get(ROOT, "Manager.Enabled") is not changed
            attempt(lambda: desk.set_enabled(True))
            # As long as it takes to begin to listen and to dial.
            let_pass(0.1)
        desk.set_enabled(True)
        assert desk.session.get(ROOT, "Manager.Enabled") is True
        wait_for_link(desk, lap)


def test_trust(machine: Machine) -> None:
    """Trust and the name are written or refused as a whole, and written later."""
    failures = 0
    for spare in range(4):
        device = f"{spare:064x}"
        with starved(machine, "handoff-bridge", spare):
            failures += not attempt(lambda: machine.trust(device, "other"))
            failures += not attempt(lambda: machine.session.set(
                BRIDGE_ROOT, "Bridge.DeviceName", GLib.Variant("s", f"name {spare}")))
        machine.trust(device, "other")
        machine.session.set(BRIDGE_ROOT, "Bridge.DeviceName", GLib.Variant("s", "desk"))
    assert failures
    assert machine.kill("handoff-bridge", signal.SIGTERM) == 0
    machine.start_bridge()
    paths = machine.session.managed_objects(BRIDGE_ROOT)
    assert sum("devices/" in path for path in paths) == 4


def test_continuing(machines: Machines) -> None:
    """Saving and continuing need no descriptors of the brokers."""
    desk, lap = machines
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    origin.offer("A letter")
    path = dock.offer("A letter")
    with starved(desk, "handoffd", 0), starved(lap, "handoffd", 0), starved(desk, "handoff-bridge", 0), \
            starved(lap, "handoff-bridge", 0):
        dock.continue_offer(path)
        assert dock.outcome() == (target.application_id, "", "")
        assert origin.called("WillSave")


def test_desktop_entries(machines: Machines) -> None:
    """Applications that are installed meanwhile are found later, and those that were known stay so."""
    desk, lap = machines

    def add(name: str) -> None:
        install(lap, name, ActivityTypes=ACTIVITY_TYPE, Team="com.example", DBusActivatable="true")

    Client(desk, options={"Team": GLib.Variant("s", "com.example")}).offer("A letter")
    dock = Dock(lap)
    add("com.example.first")
    path = dock.offer("A letter")
    for spare in range(3):
        name = f"com.example.more{spare}"
        with starved(lap, "handoffd", spare):
            add(name)
            # Longer than before changes are read (ReadingSchedule.shortestPatience, 0.2 s), and a reading itself.
            let_pass(0.5)
            assert "com.example.first" in dock.offers[path]["Handlers"]
        wait(lambda: name in dock.offers[path]["Handlers"], "the other application")


def test_answers_go_on(machine: Machine) -> None:
    """Without any descriptor local calls are answered as ever, and the daemons end when they are asked to."""
    client = Client(machine)
    with starved(machine, "handoffd", 0), starved(machine, "handoff-bridge", 0):
        for _ in range(20):
            start = time.monotonic()
            activity = client.create(**properties(Title="A letter"))
            activity.become_current()
            assert machine.session.get(BRIDGE_ROOT, "Bridge.DeviceName") == "desk"
            assert time.monotonic() - start < 0.1
