# SPDX-License-Identifier: LGPL-2.1-or-later
"""A system bus that is there and does not answer: the bridge goes on."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from buses import BRIDGE_ROOT, let_pass, wait
from support import Machine

# Seconds within which a local call is answered.
SOON = 0.1


class SilentBus:
    """A socket where the system bus should be."""

    def __init__(self, path: Path, takes_connections: bool) -> None:
        self.path = path
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.bind(str(path))
        self.others: list[socket.socket] = []
        self.socket.listen(16 if takes_connections else 0)
        if not takes_connections:
            # With its queue full the next one that connects has to wait.
            self.others.append(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            self.others[0].connect(str(path))

    def close(self) -> None:
        for one in [self.socket, *self.others]:
            one.close()
        self.path.unlink(missing_ok=True)


@pytest.fixture(params=[True, False], ids=["takes connections", "takes no connections"])
def silent_bus(request: pytest.FixtureRequest, machine_list: list[Machine]) -> Iterator[tuple[Machine, SilentBus]]:
    """A machine that has not been started, and its system bus."""
    machine = Machine("desk")
    machine_list.append(machine)
    bus = SilentBus(machine.folder / "no-system-bus", request.param)
    yield machine, bus
    bus.close()


def slowest_call(machine: Machine, seconds: float) -> float:
    """The longest that a local call took in a while."""
    slowest, end = 0.0, time.monotonic() + seconds
    while time.monotonic() < end:
        start = time.monotonic()
        machine.session.get(BRIDGE_ROOT, "Bridge.DeviceName")
        slowest = max(slowest, time.monotonic() - start)
        # Not so often that asking is what takes the time.
        let_pass(0.01)
    return slowest


def test_silent_system_bus_delays_nobody(silent_bus: tuple[Machine, SilentBus]) -> None:
    """A system bus that says nothing delays neither the start, nor local calls, nor the switch, nor the end."""
    machine, _bus = silent_bus
    machine.start_broker("--verbose")
    start = time.monotonic()
    machine.start_bridge("--verbose")
    assert time.monotonic() - start < 2
    assert slowest_call(machine, 1) < SOON
    for enabled in (False, True):
        machine.set_enabled(enabled)
        assert slowest_call(machine, 0.5) < SOON
    assert machine.session.get(BRIDGE_ROOT, "Bridge.DiscoveryError") == ""


def test_system_bus_that_answers_later_is_used(silent_bus: tuple[Machine, SilentBus]) -> None:
    """The bridge gives such a bus up after a while, says so, and takes the next one."""
    machine, bus = silent_bus
    machine.start_broker()
    machine.start_bridge("--verbose")
    # One that takes no connections is gone when it ends, which is when the bridge hears of it.
    if not bus.others:
        wait(lambda: "There is no system bus" in machine.log("handoff-bridge"), "the bus to be given up", 10)
    bus.close()
    wait(lambda: "There is no system bus" in machine.log("handoff-bridge"), "the bus to be given up", 10)
    machine.start("dbus-daemon", "--session", "--nofork", "--nopidfile", f"--address=unix:path={bus.path}")
    wait(lambda: bus.path.exists(), "the system bus")
    # Reason to look for it again.
    machine.set_enabled(False)
    machine.set_enabled(True)
    wait(lambda: connections(bus.path, machine.processes["handoff-bridge"].pid), "the bridge on the system bus")


def connections(path: Path, process: int) -> bool:
    """Whether the bus is connected with more than its listening socket."""
    lines = Path("/proc", str(process), "net/unix").read_text().splitlines()
    # The flags of a socket that listens; those of the others are 0.
    return any(line.endswith(str(path)) and line.split()[3] == "00000000" for line in lines)
