# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a user is asked who comes to a machine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from agents import Pair, start_desk
from buses import let_pass, wait
from clients import Client, Dock
from notifications import PlainServer
from support import Machine, pair, start_machine

# As long as the agent takes to hear that the user comes, and to ask, many times over: it knows the offer (Pair.offer).
ASKING = 0.3


@pytest.fixture
def both(machine_list: list[Machine]) -> Iterator[Pair]:
    yield Pair(machine_list)


@pytest.fixture
def server(both: Pair) -> PlainServer:
    return PlainServer(both.lap)


def test_continuing_from_notification(both: Pair, server: PlainServer) -> None:
    """Whoever unlocks a machine is asked once whether to continue what is current on another, and can do so at once."""
    both.offer("Report")
    both.presence.arrive()
    shown = server.wait_for("Continue “Report”?", "desk")
    assert shown.buttons["continue"] == "Continue"
    server.press(shown, "continue", "token-1")
    call = both.receiver.wait_for("ContinueActivity")
    assert call.arguments.unpack()[1]["ActivationToken"] == "token-1"
    let_pass(ASKING)
    assert [one.title for one in server.record] == ["Continue “Report”?"]


def test_changed_with_offer(both: Pair, server: PlainServer) -> None:
    """The question changes when the offer does, in its place."""
    activity = both.offer("Report")
    both.presence.arrive()
    first = server.wait_for("Continue “Report”?")
    activity.update(Title="Report 2")
    second = server.wait_for("Continue “Report 2”?")
    assert second.id == first.id and len(server.shown) == 1


def test_locked(both: Pair, server: PlainServer) -> None:
    """While the session is locked nothing is shown, and unlocking it asks anew."""
    both.offer("Report")
    both.presence.arrive()
    server.wait_for("Continue “Report”?")
    both.presence.lock()
    server.wait_until_gone()
    both.offer("Another")
    let_pass(ASKING)
    assert not server.shown
    both.presence.unlock()
    server.wait_for("Continue “Another”?")


def test_lock_asked(both: Pair, server: PlainServer) -> None:
    """What is shown is taken back as soon as the session is asked to lock."""
    both.offer("Report")
    both.presence.arrive()
    server.wait_for("Continue “Report”?")
    both.presence.ask("Lock")
    server.wait_until_gone()
    both.presence.lock()
    both.presence.ask("Unlock")
    let_pass(ASKING)
    assert not server.shown, "a session that says that it is locked is locked"
    both.presence.unlock()
    server.wait_for("Continue “Report”?")


def test_started_in_locked_session(machine_list: list[Machine]) -> None:
    """An agent that starts while the session is locked shows nothing until it is unlocked."""
    both = Pair(machine_list, agent=False)
    server = PlainServer(both.lap)
    both.presence.lock()
    both.offer("Report")
    both.lap.start_agent()
    let_pass(ASKING)
    assert not server.record
    both.presence.unlock()
    server.wait_for("Continue “Report”?")


def test_logind_that_ends(both: Pair, server: PlainServer) -> None:
    """A session that logind has locked stays so when logind ends."""
    both.offer("Report")
    both.presence.lock()
    wait(lambda: both.lap.log("handoff-agent").rstrip().endswith("locked"), "the agent to know that it is locked")
    both.presence.stop()
    wait(lambda: "The connection with the system bus is lost" in both.lap.log("handoff-agent"), "the end of logind")
    let_pass(ASKING)
    assert not server.record


def test_session_of_user(machine_list: list[Machine]) -> None:
    """The session is found also where nothing in the environment names it."""
    desk, lap = start_machine(machine_list, "desk"), start_desk(machine_list, known=False)
    pair(desk, lap)
    server, dock = PlainServer(lap), Dock(lap)
    Client(desk).offer("Report", WebpageURL="https://example.org/")
    dock.offer("Report")
    lap.presence.arrive()
    server.wait_for("Continue “Report”?")
