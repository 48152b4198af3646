# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the agent tells adapters of the focus."""

from __future__ import annotations

import pytest
from gi.repository import GLib
from agents import Desk
from buses import BUS, Session, let_pass, wait
from played_adapter import PLAYER, TOLD, WINDOW, Played, appear, focus, front, start_player_desk, wait_for_start
from presence import Presence, missing
from support import SANITIZED, Machine, memory
from test_focus import EDITOR, shell, tell
from test_notices import switches

UNKNOWN = {"Known": False}
# As long as an adapter that runs takes to be told, many times over.
TELLING = 0.25
# Longer than the agent waits for the lock, or for another shell, before it says that the focus is not known any more
# (AgentAdapters.patience, 1 s).
FORGETTING = 1.2


@pytest.fixture
def desk(machine_list: list[Machine]) -> Desk:
    return start_player_desk(machine_list)


def test_focus_is_told(desk: Desk) -> None:
    """An adapter is told which window of its applications has the focus, without its title, and once that it is left."""
    adapter = Played(desk)
    desk.start_agent()
    session = shell(desk)
    focus(session, **WINDOW)
    wait(lambda: front(adapter) == TOLD, "the window")
    focus(session, **EDITOR)
    wait(lambda: front(adapter) == {}, "that it is left")
    focus(session, ApplicationId=GLib.Variant("s", "com.example.more"))
    focus(session)
    let_pass(TELLING)
    assert len(adapter.fronts) == 2
    assert "private" not in adapter.file.read_text()
    focus(session, **WINDOW)
    wait(lambda: front(adapter) == TOLD, "the window")
    session.close()
    wait(lambda: front(adapter) == UNKNOWN, "nothing known, without the shell")


def test_adapter_that_starts_is_told(desk: Desk) -> None:
    """An adapter that starts is told the present state, also that none of its windows has the focus."""
    adapter = Played(desk)
    desk.start_agent()
    session = shell(desk)
    focus(session, **EDITOR)
    appear(desk)
    wait(lambda: front(adapter) == {}, "the state")
    focus(session, **WINDOW)
    wait(lambda: front(adapter) == TOLD, "the window")
    adapter.end()
    wait(lambda: not desk.session.owner(adapter.bus_name), "its end")
    appear(desk)
    wait_for_start(adapter, 2)
    wait(lambda: adapter.fronts and front(adapter) == TOLD, "the state")


def test_nobody_tells_the_focus(desk: Desk) -> None:
    """As long as nobody says where the user works, adapters are told nothing."""
    adapter = Played(desk)
    desk.start_agent()
    appear(desk)
    wait_for_start(adapter)
    wait(lambda: desk.session.owner(adapter.bus_name), "its name")
    let_pass(TELLING)
    assert not adapter.fronts
    focus(shell(desk), **EDITOR)
    wait(lambda: front(adapter) == {}, "that there is somebody who does")


def test_shell_that_has_left(desk: Desk) -> None:
    """When whoever told the focus has left, an adapter is told that it is not known any more, and one that starts
    afterwards is told nothing."""
    adapter = Played(desk)
    desk.start_agent()
    session = shell(desk)
    focus(session, **WINDOW)
    wait(lambda: front(adapter) == TOLD, "the window")
    session.close()
    wait(lambda: front(adapter) == UNKNOWN, "that nothing is known")
    adapter.end()
    wait(lambda: not desk.session.owner(adapter.bus_name), "its end")
    appear(desk)
    wait_for_start(adapter, 2)
    wait(lambda: desk.session.owner(adapter.bus_name), "its name")
    let_pass(TELLING)
    assert not adapter.fronts


def test_windows_of_unknown_applications(desk: Desk) -> None:
    """A window of which the shell does not know the application belongs to the adapter of whoever owns a name of its
    applications, by the connection or the process."""
    adapter = Played(desk)
    desk.start_agent()
    application = appear(desk)
    wait_for_start(adapter)
    process = application.call("/org/freedesktop/DBus", f"{BUS}.GetConnectionUnixProcessID",
                               GLib.Variant("(s)", (application.name,)), destination=BUS).unpack()[0]
    session = shell(desk)
    for key, value in (("BusName", GLib.Variant("s", application.name)), ("ProcessId", GLib.Variant("i", process))):
        focus(session, **{key: value})
        wait(lambda: front(adapter) == {key: value.unpack()}, f"the window by {key}")
    focus(session, BusName=GLib.Variant("s", ":1.99999"), ProcessId=GLib.Variant("i", 1))
    wait(lambda: front(adapter) == {}, "another window")


def start_with_window(desk: Desk) -> tuple[Played, Session]:
    """An agent whose session can be locked, and the shell, which has told an adapter of a window."""
    if what := missing():
        pytest.skip(what)
    desk.presence = Presence(desk)
    adapter = Played(desk)
    desk.start_agent()
    session = shell(desk)
    focus(session, **WINDOW)
    wait(lambda: front(adapter) == TOLD, "the window")
    return adapter, session


def told(adapter: Played) -> list[object]:
    """All that the adapter was told."""
    return [eval(text) for text in adapter.fronts]


def lock(desk: Desk) -> None:
    """Locks the session, and waits until the agent knows."""
    count = desk.log("handoff-agent").count(": locked")
    desk.presence.lock()
    wait(lambda: desk.log("handoff-agent").count(": locked") > count, "the lock")


def test_locked_session(desk: Desk) -> None:
    """While the session is locked adapters are told nothing new, also if the shell leaves, and afterwards what has
    changed."""
    adapter, session = start_with_window(desk)
    lock(desk)
    focus(session, **EDITOR)
    focus(session)
    let_pass(TELLING)
    tell(session, "Detach", None)
    let_pass(FORGETTING)
    assert told(adapter) == [TOLD]
    focus(session, **WINDOW)
    desk.presence.unlock()
    # As long as the agent takes to hear of that, and to tell.
    let_pass(0.4)
    assert told(adapter) == [TOLD]
    lock(desk)
    focus(session, **EDITOR)
    let_pass(TELLING)
    assert told(adapter) == [TOLD]
    desk.presence.unlock()
    wait(lambda: front(adapter) == {}, "that the window is left")


def test_shell_that_leaves_before_lock(desk: Desk) -> None:
    """A shell that leaves just before the session is locked takes nothing back."""
    adapter, session = start_with_window(desk)
    tell(session, "Detach", None)
    lock(desk)
    let_pass(FORGETTING)
    assert told(adapter) == [TOLD]
    desk.presence.unlock()
    wait(lambda: front(adapter) == UNKNOWN, "that the shell is gone")


def test_adapter_that_never_answers(desk: Desk) -> None:
    """An adapter that never answers is not called any more after three calls."""
    adapter = Played(desk, how="silent")
    desk.start_agent()
    session = shell(desk)
    for number in range(1000):
        focus(session, ProcessId=GLib.Variant("i", number + 1), ApplicationId=GLib.Variant("s", PLAYER))
    for number in range(2, 4):
        wait(lambda: len(adapter.fronts) == number, "the next call")
        focus(session, ProcessId=GLib.Variant("i", number), ApplicationId=GLib.Variant("s", PLAYER))
    wait(lambda: "is not told any more" in desk.log("handoff-agent"), "it to be given up")
    focus(session)
    focus(session, **WINDOW)
    let_pass(TELLING)
    assert len(adapter.fronts) == 3


def test_idle_with_adapters(desk: Desk) -> None:
    """An agent with adapters that run wakes up for nothing, and takes at most three megabytes for itself."""
    adapter = Played(desk)
    desk.start_agent()
    session = shell(desk)
    appear(desk)
    focus(session, **WINDOW)
    wait(lambda: front(adapter) == TOLD, "the window")
    # What follows from the start, such as memory that is given back a second later, is done by then.
    let_pass(1.5)
    process = desk.processes["handoff-agent"].pid
    before = switches(process)
    # Whatever would wake up every few seconds does so by then.
    let_pass(4)
    assert switches(process) == before
    assert SANITIZED or memory(desk, "handoff-agent") <= 3 << 20
