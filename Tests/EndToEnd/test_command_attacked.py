# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs in sandboxes that have taken the names of what the command line calls."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest
from buses import BRIDGE, BROKER, BUS
from sandbox import RawClient, can_be_made
from support import PROGRAMS, Machine
from vendor import own_id

SHELL = own_id("Shell")
PATIENCE = 20


@pytest.fixture
def intruder(machine: Machine) -> Iterator[RawClient]:
    """A program in a sandbox."""
    if reason := can_be_made(machine):
        pytest.skip(reason)
    client = RawClient(machine, "com.example.intruder")
    yield client
    client.close()


def run(machine: Machine, *words: str) -> tuple[int, str]:
    """The exit status of `handoff`, and all that it says."""
    result = subprocess.run([str(PROGRAMS / "handoff"), *words], env=machine.environment, cwd=machine.folder, text=True,
                            input="secret command\n", capture_output=True, timeout=PATIENCE)
    return result.returncode, result.stdout + result.stderr


def test_names_taken_from_within_a_sandbox(machine: Machine, intruder: RawClient) -> None:
    """A sandboxed program that takes the name of an adapter, of the broker or of the bridge is called by no command, which
    ends with the reason; `handoff status` reports it."""
    if "handoff-bridge" in machine.processes:
        machine.kill("handoff-bridge")
    machine.kill("handoffd")
    for name in (SHELL, BROKER, BRIDGE):
        assert not intruder.call(BUS, "/org/freedesktop/DBus", f"{BUS}.RequestName", f"('{name}', uint32 6)")
    for name, *words in ((SHELL, "here", "--history"), (SHELL, "here", "--end"), (BROKER, "list"), (BROKER, "watch"),
                         (BROKER, "off"), (BRIDGE, "devices")):
        status, said = run(machine, *words)
        assert status == 4 and f"has taken the name {name} from within a sandbox" in said, said
    status, said = run(machine, "status")
    for name in (BROKER, BRIDGE):
        assert status == 1 and f"has taken the name {name} from within a sandbox" in said, said
    assert not [call for call in intruder.calls if "Handoff" in call or "Properties" in call or "ObjectManager" in call]
