# SPDX-License-Identifier: LGPL-2.1-or-later
"""Who may tell the agent which window has the focus, and what it tells whom of that."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from gi.repository import GLib
from buses import BUS, Session
from fake_agent import AGENT, AGENT_PATH
from sandbox import RawClient, Sandbox, can_be_made
from support import Machine, refused

SHELLS = ("org.gnome.Shell", "org.kde.KWin")
EDITOR = {"ApplicationId": GLib.Variant("s", "com.example.editor"), "Title": GLib.Variant("s", "Something private")}
# What a sandboxed program is told of what does not exist for it.
CLOSED = ("UnknownObject", "UnknownMethod", "UnknownInterface")
CALLS = [("FocusChanged", GLib.Variant("(a{sv})", (EDITOR,))), ("Attach", None), ("Detach", None),
         ("ProvideToken", GLib.Variant("(us)", (1, "token")))]


@pytest.fixture
def desk(machine_list: list[Machine]) -> Machine:
    """A machine with an agent, and no shell."""
    machine = Machine("desk")
    machine_list.append(machine)
    machine.start_broker()
    machine.start("handoff-agent", "--verbose")
    machine.wait_for(AGENT, "handoff-agent")
    return machine


@pytest.fixture
def intruder(desk: Machine) -> Iterator[RawClient]:
    if reason := can_be_made(desk):
        pytest.skip(reason)
    client = RawClient(desk, "com.example.intruder")
    yield client
    client.close()


def shell(machine: Machine, name: str = SHELLS[0]) -> Session:
    """A connection that owns the name of a shell."""
    session = machine.connect()
    session.call("/org/freedesktop/DBus", f"{BUS}.RequestName", GLib.Variant("(su)", (name, 4)), destination=BUS)
    return session


def tell(session: Session, member: str, arguments: GLib.Variant | None) -> None:
    session.call(AGENT_PATH, f"{AGENT}.{member}", arguments, destination=AGENT)


def focus(machine: Machine) -> str:
    """The last that the agent has logged of the focus."""
    lines = [line for line in machine.log("handoff-agent").splitlines() if line.endswith("has the focus.")]
    return lines[-1].partition(": ")[2].rpartition("DEBUG: ")[2] if lines else ""


def test_sandboxed_program_is_no_shell(desk: Machine, intruder: RawClient) -> None:
    """For a sandboxed program the agent's object does not exist, even if it owns the name of a shell."""
    for taken in ("", *SHELLS):
        if taken:
            assert not intruder.call(BUS, "/org/freedesktop/DBus", f"{BUS}.RequestName", f"('{taken}', uint32 4)")
        for member, arguments in CALLS:
            text = arguments.print_(True) if arguments else ""
            assert intruder.call(AGENT, AGENT_PATH, f"{AGENT}.{member}", text) in CLOSED
    assert not focus(desk)


def test_program_behind_a_proxy_is_no_shell(desk: Machine) -> None:
    """The same for one whose sandbox has a filtering proxy that lets it talk to the agent."""
    if reason := can_be_made(desk):
        pytest.skip(reason)
    sandbox = Sandbox(desk, "com.example.intruder", f"--talk={AGENT}")
    try:
        session = Session(sandbox.address)
        for member, arguments in CALLS:
            with refused(*CLOSED):
                tell(session, member, arguments)
        session.close()
    finally:
        sandbox.close()
