# SPDX-License-Identifier: LGPL-2.1-or-later
"""What each test gets: machines of its own, which must have worked well until the end."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest
from bystanders import Bystanders
from login_manager import Lap, LoginManager
from rig import Network
from sites import Web, WebMachine
from support import Machine, pair, start_machine, trust_each_other
from windows import Accessibility, missing


# What runs under nohup(1) ignores the signal of a terminal that is closed, and so would all that is started here. On a busy
# machine execnet sometimes has a worker run in a thread that is not the first one, in which this cannot be said.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture
def machine_list(request: pytest.FixtureRequest) -> Iterator[list[Machine]]:
    """The machines of this test. Every daemon must be there at the end, and end when asked to."""
    machines: list[Machine] = []
    request.node.machines = machines
    yield machines
    died = [f"{program} of {machine.name}" for machine in machines
            for program, process in machine.processes.items() if process.poll() is not None]
    statuses = {(machine.name, program): status for machine in machines
                for program, status in machine.stop().items()}
    for machine in machines:
        machine.remove()
    assert not died, f"ended by themselves: {', '.join(died)}"
    assert not any(statuses.values()), f"SIGTERM did not end cleanly: {statuses}"


@pytest.fixture
def machine(machine_list: list[Machine]) -> Machine:
    """One machine with both daemons."""
    return start_machine(machine_list, "desk")


@pytest.fixture
def machines(machine_list: list[Machine]) -> tuple[Machine, Machine]:
    """Two machines that are paired and connected."""
    desk, lap = start_machine(machine_list, "desk"), start_machine(machine_list, "lap")
    pair(desk, lap)
    return desk, lap


@pytest.fixture
def apart(machine_list: list[Machine]) -> tuple[Machine, Machine]:
    """Two machines that are paired, and know no address of each other."""
    desk, lap = start_machine(machine_list, "desk"), start_machine(machine_list, "lap")
    trust_each_other(desk, lap)
    return desk, lap


@pytest.fixture
def network(request: pytest.FixtureRequest) -> Iterator[Network]:
    """A network with two hosts, without Avahi yet. Named before `machine_list`, it outlives the machines on it."""
    network = Network("desk", "lap")
    if network.missing:
        pytest.skip(f"there can't be a network of namespaces: {network.missing}")
    request.node.network = network
    yield network
    network.remove()


@pytest.fixture
def bystanders(machines: tuple[Machine, Machine]) -> Bystanders:
    """Two machines, the first of which is attacked without either of them noticing."""
    return Bystanders(*machines)


@pytest.fixture
def web(request: pytest.FixtureRequest) -> Iterator[Web]:
    """A network of web sites. Named before `machine_list`, it outlives the machines in it."""
    web = Web()
    if web.missing:
        pytest.skip(f"there can't be a network of its own: {web.missing}")
    yield web
    web.remove()


@pytest.fixture
def lap(web: Web, machine_list: list[Machine]) -> WebMachine:
    """A machine whose broker is among web sites."""
    lap = WebMachine("lap", web)
    machine_list.append(lap)
    lap.start_broker("--verbose")
    lap.start_bridge()
    return lap


@pytest.fixture
def desk(machine_list: list[Machine], lap: WebMachine) -> Machine:
    """Another machine, which is paired with the first."""
    desk = start_machine(machine_list, "desk")
    pair(desk, lap)
    return desk


@pytest.fixture(scope="session")
def accessibility() -> Iterator[Accessibility]:
    """What programs with windows are read with."""
    if what := missing():
        pytest.skip(what)
    Accessibility.shared = Accessibility()
    yield Accessibility.shared
    Accessibility.shared.stop()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo) -> Iterator[None]:
    """Shows what the programs of the machines have logged beside a failure."""
    report = (yield).get_result()
    if report.failed:
        for machine in getattr(item, "machines", []):
            for program, log in machine.logs().items():
                report.sections.append((f"{program} of {machine.name}", log))
        for machine in getattr(item, "booted", []):
            report.sections.append((f"journal of {machine.name}", machine.journal()[-6000:]))
        if network := getattr(item, "network", None):
            for host in network.hosts.values():
                report.sections.append((f"avahi-daemon of {host.name}", host.log("avahi-daemon")))


@pytest.fixture
def make_lap(machine_list: list[Machine]) -> Iterator[Lap]:
    """Makes a machine with a logind."""
    made: list[LoginManager] = []

    def make(name: str = "lap", **options: bool) -> tuple[Machine, LoginManager]:
        machine = Machine(name)
        machine_list.append(machine)
        logind = LoginManager.of(machine, **options)
        made.append(logind)
        machine.start_broker("--verbose")
        machine.start_bridge("--verbose")
        return machine, logind

    yield make
    for logind in made:
        logind.stop()
