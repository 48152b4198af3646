# SPDX-License-Identifier: LGPL-2.1-or-later
"""When the agent starts adapters."""

from __future__ import annotations

import time

import pytest
from gi.repository import GLib
from agents import Desk
from buses import BUS, Session, let_pass, wait
from choices import choose, chosen
from played_adapter import NAME, OTHER, PLAYER, WINDOW, Played, appear, focus, start_agent, start_player_desk, \
    wait_for_start, wait_until_seen
from sandbox import Sandbox, can_be_made
from support import SANITIZED, Machine, memory
from test_desktop_entries import have_bus_start, install
from test_focus import EDITOR, shell

# Longer than the agent waits before it starts an adapter again (Backoff.first, 0.3 s).
RETRY = 0.4


@pytest.fixture
def desk(machine_list: list[Machine]) -> Desk:
    return start_player_desk(machine_list)


def test_application_that_appears(desk: Desk) -> None:
    """An adapter is started when one of its applications gets its name on the bus, once, and not before."""
    adapter = Played(desk)
    start_agent(desk)
    appear(desk, "com.example.medium.player")
    wait_until_seen(desk)
    assert not adapter.begun
    appear(desk)
    wait_for_start(adapter)
    appear(desk, NAME + ".second")
    wait_until_seen(desk)
    assert adapter.begun == adapter.starts == 1


def test_application_that_is_there_already(desk: Desk) -> None:
    """What is there already when the agent starts counts, too."""
    adapter = Played(desk)
    appear(desk)
    desk.start_agent()
    wait_for_start(adapter)


def test_application_that_comes_again(desk: Desk) -> None:
    """An adapter that has ended with its application is started with the next one."""
    adapter = Played(desk)
    desk.start_agent()
    application = appear(desk)
    wait_for_start(adapter)
    wait(lambda: desk.session.owner(adapter.bus_name), "its name")
    application.close()
    adapter.end()
    wait(lambda: not desk.session.owner(adapter.bus_name), "its end")
    let_pass(RETRY)
    assert adapter.begun == adapter.starts == 1
    appear(desk)
    wait_for_start(adapter, 2)


def test_name_that_is_excepted(desk: Desk) -> None:
    """An adapter is not started for a name that its description excepts."""
    adapter = Played(desk, Except=f"{NAME}.browser.*;")
    start_agent(desk)
    appear(desk, f"{NAME}.browser.x1")
    wait_until_seen(desk)
    assert not adapter.begun
    appear(desk, f"{NAME}.browserlike")
    wait_for_start(adapter)


@pytest.mark.parametrize("window", [
    {"ApplicationId": GLib.Variant("s", PLAYER)},
    {"ApplicationId": GLib.Variant("s", OTHER)},
])
def test_application_with_the_focus(desk: Desk, window: dict[str, GLib.Variant]) -> None:
    """An adapter is started when a window of one of its installed applications has the focus."""
    adapter = Played(desk, Names="")
    start_agent(desk)
    session = shell(desk)
    # The agent has begun to start an adapter by the time when it answers.
    focus(session, **EDITOR)
    assert not adapter.begun
    focus(session, **window)
    if window["ApplicationId"].unpack() == PLAYER:
        assert adapter.begun == 1
        wait_for_start(adapter)
    else:
        assert not adapter.begun


def test_adapter_that_is_not_needed(desk: Desk) -> None:
    """An adapter is not started without an installed application, and is as soon as one is installed."""
    adapter = Played(desk, Applications=f"{OTHER};")
    start_agent(desk)
    application = appear(desk)
    wait_until_seen(desk)
    assert not adapter.begun
    install(desk, OTHER, Implements="")
    wait_for_start(adapter)
    application.close()


def test_adapter_that_is_switched_off(desk: Desk) -> None:
    """An adapter that the user has switched off is not started; switched on again it is, if its application is there."""
    adapter = Played(desk)
    choose(desk, "DisabledAdapters", GLib.Variant("as", ["media"]))
    start_agent(desk)
    appear(desk)
    wait_until_seen(desk)
    assert not adapter.begun
    choose(desk, "DisabledAdapters", GLib.Variant("as", []))
    wait_for_start(adapter)


def test_application_that_is_excluded(desk: Desk) -> None:
    """A window of an application that the user has excluded starts no adapter, and nothing does for one of which all
    applications are."""
    install(desk, OTHER, Implements="")
    adapter = Played(desk)
    choose(desk, "ExcludedApplications", GLib.Variant("as", [PLAYER]))
    start_agent(desk)
    session = shell(desk)
    focus(session, **WINDOW)
    assert not adapter.begun
    choose(desk, "ExcludedApplications", GLib.Variant("as", [PLAYER, OTHER]))
    # Once the broker answers again it has told the agent, which takes what comes in turn.
    chosen(desk)
    wait_until_seen(desk)
    appear(desk)
    wait_until_seen(desk)
    assert not adapter.begun
    choose(desk, "ExcludedApplications", GLib.Variant("as", [PLAYER]))
    wait_for_start(adapter)
    wait(lambda: adapter.fronts == ["{}"], "that no window of it has the focus")
    choose(desk, "ExcludedApplications", GLib.Variant("as", []))
    wait(lambda: "WindowPath" in adapter.fronts[-1], "the window")
    assert adapter.starts == 1


def test_while_handoff_is_off(desk: Desk) -> None:
    """While Handoff is switched off, or there is no broker, no adapter is started."""
    adapter = Played(desk)
    desk.set_enabled(False)
    desk.start_agent()
    appear(desk)
    # As long as the agent takes to ask the broker for the switch, and the bus for who is there.
    let_pass(0.3)
    assert not adapter.begun
    desk.set_enabled(True)
    wait_for_start(adapter)
    desk.kill("handoffd")
    adapter.end()
    wait(lambda: not desk.session.owner(adapter.bus_name), "its end")
    appear(desk, NAME + ".second")
    let_pass(RETRY)
    assert adapter.begun == adapter.starts == 1
    desk.start_broker()
    wait_for_start(adapter, 2)


def test_descriptions_that_change(desk: Desk) -> None:
    """Descriptions are read again when they change; a bad one is said to be ignored, and the others count."""
    desk.start_agent()
    Played(desk, "broken", Names="no name;")
    adapter = Played(desk, "later")
    appear(desk)
    wait_for_start(adapter)
    wait(lambda: "broken.adapter is ignored: " in desk.log("handoff-agent"), "the reason")


def test_description_of_the_user_comes_first(desk: Desk) -> None:
    """Of two descriptions of one name that of the user counts, and not that of the system."""
    adapter = Played(desk)
    system = desk.folder / "share" / "handoff" / "adapters"
    system.mkdir(parents=True)
    (system / "media.adapter").write_text(adapter.description.read_text().replace("com.example.media", "com.example.else"))
    start_agent(desk)
    appear(desk, "com.example.else.x")
    wait_until_seen(desk)
    assert not adapter.begun
    appear(desk)
    wait_for_start(adapter)


# Failing


def test_adapter_that_ends_at_once(desk: Desk) -> None:
    """An adapter that ends at once, which is no fault, is tried again when an application appears, but not at once again
    and again."""
    adapter = Played(desk, how="ends")
    desk.start_agent()
    appear(desk)
    wait_for_start(adapter)
    let_pass(RETRY)
    assert adapter.begun == adapter.starts == 1, "without another application it is not tried again"
    begin = time.monotonic()
    for number in range(40):
        appear(desk, f"{NAME}.x{number}").close()
        # Forty of these are two seconds, in which the backoff allows three or four starts more; a busy machine takes longer.
        let_pass(0.05)
    assert 1 <= adapter.starts <= 4 + (time.monotonic() - begin)
    assert "cannot be started" not in desk.log("handoff-agent")


def test_adapter_that_cannot_be_started(desk: Desk) -> None:
    """An adapter that cannot be started is said so once, and tried again with another application."""
    adapter = Played(desk)
    have_bus_start(desk, adapter.bus_name, "/bin/false")
    desk.start_agent()
    appear(desk)
    said = lambda: [line for line in desk.log("handoff-agent").splitlines() if "cannot be started" in line]
    wait(said, "that it cannot be started")
    let_pass(RETRY)
    appear(desk, f"{NAME}.second")
    wait(lambda: len(said()) == 2, "the second attempt")
    assert [("WARNING" in line, "DEBUG" in line) for line in said()] == [(True, False), (False, True)]


def test_adapter_in_a_sandbox(desk: Desk) -> None:
    """A sandboxed program that owns the name of an adapter is told nothing, and is no adapter."""
    if reason := can_be_made(desk):
        pytest.skip(reason)
    adapter = Played(desk)
    sandbox = Sandbox(desk, "com.example.intruder", f"--own={adapter.bus_name}")
    intruder = Session(sandbox.address)
    intruder.call("/org/freedesktop/DBus", f"{BUS}.RequestName", GLib.Variant("(su)", (adapter.bus_name, 4)),
                  destination=BUS)
    desk.start_agent()
    session = shell(desk)
    focus(session, **WINDOW)
    appear(desk)
    wait(lambda: "from a sandbox" in desk.log("handoff-agent"), "it not to be believed")
    # As long as an adapter would take to start.
    let_pass(0.4)
    assert not adapter.starts
    intruder.close()
    sandbox.close()


# Attacks


def test_stranger_with_many_names(desk: Desk) -> None:
    """Whoever takes and leaves the names of applications thousands of times keeps the agent neither from answering nor
    makes it grow, and starts an adapter no more often than the backoff allows."""
    adapter = Played(desk, how="ends")
    desk.start_agent()
    appear(desk)
    wait_for_start(adapter)
    before = memory(desk, "handoff-agent")
    stranger = desk.connect()
    for number in range(3000):
        name = GLib.Variant("(su)", (f"{NAME}.x{number}", 4))
        stranger.begin("/org/freedesktop/DBus", f"{BUS}.RequestName", name, destination=BUS)
        if number % 2:
            stranger.begin("/org/freedesktop/DBus", f"{BUS}.ReleaseName", GLib.Variant("(s)", (f"{NAME}.x{number}",)),
                           destination=BUS)
    session = shell(desk)
    focus(session, ProcessId=GLib.Variant("i", 1))
    # As long as a dozen starts take, were they not held back.
    let_pass(2)
    focus(session, **EDITOR)
    assert adapter.starts <= 8
    assert SANITIZED or memory(desk, "handoff-agent") - before < 1 << 20
