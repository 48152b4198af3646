# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the agent leaves on the screen when it ends, whichever way, and to whom it gives anything."""

from __future__ import annotations

import os
import signal
import stat
from pathlib import Path

import pytest
from gi.repository import GLib
from agents import Desk, start_desk
from buses import BUS, let_pass, wait
from notifications import AGENT, DESKTOP, DESKTOP_XML, DesktopServer, PlainServer, Server
from played_broker import PlayedBroker
from presence import Presence, missing
from sandbox import RawClient, can_be_made
from support import Machine
from vendor import own_id, own_path

QUESTION = "Continue “Report”?"
SETTINGS = own_id("Settings")
WATCHER = "org.kde.StatusNotifierWatcher"


def desk(machines: list[Machine]) -> tuple[Desk, PlayedBroker]:
    """A machine with an agent and with a broker that offers what a test wants; the user comes when the test says so."""
    if what := missing():
        pytest.skip(what)
    lap = Desk("lap")
    machines.append(lap)
    lap.presence = Presence(lap)
    return lap, PlayedBroker(lap)


def begin(lap: Desk, broker: PlayedBroker) -> None:
    lap.start_agent()
    broker.wait_until_followed()
    broker.offer(1, "Report", Since=GLib.get_real_time())
    assert lap.presence
    lap.presence.arrive()


def record(lap: Desk) -> list[str]:
    """The lines of what the agent has written down for the next one."""
    file = Path(lap.environment["XDG_RUNTIME_DIR"], "handoff", "notifications")
    return file.read_text().splitlines() if file.exists() else []


@pytest.mark.parametrize("kind", [PlainServer, DesktopServer])
def test_orderly_end(machine_list: list[Machine], kind: type[Server]) -> None:
    """An agent that is asked to end, or gives way to another, takes back what it shows."""
    lap, broker = desk(machine_list)
    server = kind(lap)
    begin(lap, broker)
    server.wait_for(QUESTION)
    assert lap.kill("handoff-agent", signal.SIGTERM) == 0
    server.wait_until_gone()


@pytest.mark.parametrize("kind", [PlainServer, DesktopServer])
def test_left_by_killed_agent(machine_list: list[Machine], kind: type[Server]) -> None:
    """What an agent that was killed has left on the screen is taken back by the next one, also while it is locked."""
    lap, broker = desk(machine_list)
    server = kind(lap)
    begin(lap, broker)
    shown = server.wait_for(QUESTION)
    if kind is PlainServer:
        # Only its answer says by which number it can be closed.
        wait(lambda: record(lap)[2:] == [str(shown.id)], "the record")
    lap.kill("handoff-agent")
    assert lap.presence
    lap.presence.lock()
    lap.start_agent()
    server.wait_until_gone()


@pytest.mark.parametrize("name", sorted({AGENT, own_id("Agent")}))
def test_name_that_is_taken(machine_list: list[Machine], name: str) -> None:
    """An agent that another program takes one of its names from ends, and takes back what it shows: whoever presses it would
    call that program."""
    lap, broker = desk(machine_list)
    server = PlainServer(lap)
    begin(lap, broker)
    server.wait_for(QUESTION)
    wait(lambda: lap.session.owner(name), "the name")
    lap.session.call("/org/freedesktop/DBus", "org.freedesktop.DBus.RequestName", GLib.Variant("(su)", (name, 6)),
                     destination="org.freedesktop.DBus")
    server.wait_until_gone()
    agent = lap.processes.pop("handoff-agent")
    wait(lambda: agent.poll() == 0, "the end of the agent")


def test_record_of_notifications(machine_list: list[Machine]) -> None:
    """What is written down for that is for the user alone, and nothing is closed for another server, or if it is damaged."""
    lap, broker = desk(machine_list)
    server = PlainServer(lap)
    begin(lap, broker)
    shown = server.wait_for(QUESTION)
    wait(lambda: record(lap)[2:] == [str(shown.id)], "the record")
    file = Path(lap.environment["XDG_RUNTIME_DIR"], "handoff", "notifications")
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
    lap.kill("handoff-agent")
    good = record(lap)
    assert lap.presence
    lap.presence.lock()
    for lines in (["0" * 32, *good[1:]], [good[0], ":1.9999", *good[2:]], [*good, "x"], good[:1], ["\0" * 9000]):
        file.write_text("\n".join(lines) + "\n")
        lap.start_agent()
        # As long as the agent takes to read the record, and to close what it finds there.
        let_pass(0.3)
        assert server.titles == [QUESTION]
        lap.kill("handoff-agent")


def test_desktop_server_replaced(machine_list: list[Machine]) -> None:
    """A GNOME server that takes the place of another shows what that one has shown."""
    lap, broker = desk(machine_list)
    former = DesktopServer(lap)
    own = GLib.Variant("(su)", (DESKTOP, 1))
    former.session.call("/org/freedesktop/DBus", f"{BUS}.RequestName", own, destination=BUS)
    begin(lap, broker)
    former.wait_for(QUESTION)
    successor = DesktopServer.__new__(DesktopServer)
    # With a name of its own first, so that it can then take that of the other.
    Server.__init__(successor, lap, "com.example.Successor", "/org/gtk/Notifications", DESKTOP_XML)
    take = GLib.Variant("(su)", (DESKTOP, 2))
    assert successor.session.call("/org/freedesktop/DBus", f"{BUS}.RequestName", take, destination=BUS).unpack() == (1,)
    successor.wait_for(QUESTION)


def test_sandboxed_window(machine_list: list[Machine]) -> None:
    """A sandboxed program that takes the name of the Handoff window is not called, and the user is told."""
    lap = start_desk(machine_list)
    if what := can_be_made(lap):
        pytest.skip(what)
    server = PlainServer(lap)
    client = RawClient(lap, "com.example.curious")
    assert not client.call(BUS, "/org/freedesktop/DBus", f"{BUS}.RequestName", f"('{SETTINGS}', uint32 4)")
    data = {"activation-token": GLib.Variant("s", "token-1")}
    lap.session.call(own_path("Agent"), "org.freedesktop.Application.Activate", GLib.Variant("(a{sv})", (data,)),
                     destination=AGENT)
    server.wait_for("The Handoff window cannot be opened", "Another program has taken its place")
    assert not [call for call in client.calls if "ctivat" in call]
    client.close()


def test_sandboxed_watcher(machine_list: list[Machine]) -> None:
    """A sandboxed program that takes the name of who takes the panel's items is told of none."""
    lap, broker = desk(machine_list)
    if what := can_be_made(lap):
        pytest.skip(what)
    client = RawClient(lap, "com.example.curious")
    assert not client.call(BUS, "/org/freedesktop/DBus", f"{BUS}.RequestName", f"('{WATCHER}', uint32 4)")
    begin(lap, broker)
    wait(lambda: f"has taken the bus name {WATCHER}" in lap.log("handoff-agent"), "the agent to see who that is")
    # As long as who takes the items takes to be told of one, many times over.
    let_pass(0.2)
    assert not [call for call in client.calls if "Register" in call]
    client.close()
