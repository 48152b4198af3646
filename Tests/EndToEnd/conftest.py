# SPDX-License-Identifier: LGPL-2.1-or-later
"""What each test gets: machines of its own, which must have served well until the end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support import Machine, pair, start_machine


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


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo) -> Iterator[None]:
    """Shows what the daemons have logged beside a failure."""
    report = (yield).get_result()
    if report.failed:
        for machine in getattr(item, "machines", []):
            for program in ("handoffd", "handoff-bridge"):
                report.sections.append((f"{program} of {machine.name}", machine.log(program)))
