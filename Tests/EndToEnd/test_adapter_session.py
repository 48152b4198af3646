# SPDX-License-Identifier: LGPL-2.1-or-later
"""What starts adapters in a session where there is no agent."""

from __future__ import annotations

import signal

import pytest
from gi.repository import GLib
from buses import let_pass, wait
from choices import choose
from fake_agent import FakeAgent
from played_adapter import PLAYER, Played, appear, wait_for_start
from support import SANITIZED, SOURCE, Machine, memory
from test_desktop_entries import have_bus_start, install
from test_notices import switches

PROGRAM = "handoff-adapter"


@pytest.fixture
def desk(machine_list: list[Machine]) -> Machine:
    machine = Machine("desk")
    machine_list.append(machine)
    install(machine, PLAYER, Implements="")
    machine.start_broker()
    return machine


def end(machine: Machine) -> None:
    assert machine.kill(PROGRAM, signal.SIGTERM) == 0


def test_without_an_agent(desk: Machine) -> None:
    """Where the bus knows no agent, adapters are started with their applications, as often as those appear."""
    adapter = Played(desk)
    application = appear(desk)
    desk.start(PROGRAM, "--session")
    wait_for_start(adapter)
    wait(lambda: desk.session.owner(adapter.bus_name), "its name")
    application.close()
    adapter.end()
    wait(lambda: not desk.session.owner(adapter.bus_name), "its end")
    appear(desk)
    wait_for_start(adapter, 2)
    assert not adapter.fronts
    end(desk)


def test_switched_off_without_an_agent(desk: Machine) -> None:
    """The user's choices count there, too."""
    adapter = Played(desk)
    choose(desk, "DisabledAdapters", GLib.Variant("as", ["media"]))
    appear(desk)
    desk.start(PROGRAM, "--session")
    # As long as it takes to start, to ask for the choices, and to have an adapter started.
    let_pass(0.6)
    assert not adapter.starts
    choose(desk, "DisabledAdapters", GLib.Variant("as", []))
    wait_for_start(adapter)
    end(desk)


def ended(machine: Machine) -> None:
    """Waits until it has ended by itself."""
    process = machine.processes.pop(PROGRAM)
    wait(lambda: process.poll() is not None, "its end")
    assert process.returncode == 0


@pytest.mark.parametrize("how", ["owned", "activatable"])
def test_with_an_agent(desk: Machine, how: str) -> None:
    """Where there is an agent, or the bus can start one, it ends at once and starts nothing."""
    adapter = Played(desk)
    appear(desk)
    if how == "owned":
        FakeAgent(desk)
    else:
        have_bus_start(desk, "org.example.Handoff.Agent", "/bin/false")
    desk.start(PROGRAM, "--session")
    ended(desk)
    assert not adapter.starts


def test_agent_that_comes_later(desk: Machine) -> None:
    """It ends when an agent appears, which starts them then."""
    process = desk.start(PROGRAM, "--session")
    # As long as it takes to start, and to ask the bus for an agent.
    let_pass(0.5)
    assert process.poll() is None
    FakeAgent(desk)
    ended(desk)


def test_at_rest_without_an_agent(desk: Machine) -> None:
    """What waits for applications there wakes up for nothing, and takes at most three megabytes for itself."""
    Played(desk)
    process = desk.start(PROGRAM, "--session")
    # As long as it takes to start and to come to rest.
    let_pass(1.5)
    before = switches(process.pid)
    # Whatever would wake up every few seconds does so by then.
    let_pass(4)
    assert switches(process.pid) == before
    assert SANITIZED or memory(desk, PROGRAM) <= 3 << 20


def test_words_of_the_program(desk: Machine) -> None:
    """Called without the name of an adapter, the program says which there are."""
    for words in ((), ("nothing",), ("--session", "more")):
        done = desk.run(PROGRAM, *words)
        assert done.returncode == 2 and "media" in done.stderr


def test_autostart_entry() -> None:
    """Each session runs it once, whether or not systemd starts the rest."""
    entry = (SOURCE / "data" / "autostart" / "handoff-adapters.desktop.in").read_text()
    assert "Exec=@libexecdir@/handoff-adapter --session\n" in entry and "NoDisplay=true\n" in entry
    assert "systemd" not in entry
