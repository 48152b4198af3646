# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the agent shows in notifications, and what can be done with them."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from gi.repository import Gio, GLib
from agents import Desk, Pair, start_desk
from buses import BUS, Session, let_pass, wait
from clients import Client
from notifications import AGENT, DESKTOP, PLAIN, DesktopServer, PlainServer
from sandbox import RawClient, can_be_made
from sending import send
from support import SANITIZED, Machine, memory, refused
from vendor import own_id, own_path

# This file is long because all that a notification can be of is asked of one pair of machines.
SETTINGS = own_id("Settings")
WINDOW_XML = """<node><interface name="org.freedesktop.Application">
<method name="Activate"><arg type="a{sv}" direction="in"/></method></interface></node>"""
MONITOR_XML = """<node><interface name="org.gnome.Mutter.IdleMonitor">
<method name="AddIdleWatch"><arg type="t" direction="in"/><arg type="u" direction="out"/></method>
<method name="AddUserActiveWatch"><arg type="u" direction="out"/></method></interface></node>"""
SAVER_XML = """<node><interface name="org.freedesktop.ScreenSaver">
<method name="GetActive"><arg type="b" direction="out"/></method></interface></node>"""
# As long as what is shown at once takes to come: from the other machine to the agent, and from there to who shows it.
QUIET = 0.3


@pytest.fixture
def both(machine_list: list[Machine]) -> Iterator[Pair]:
    yield Pair(machine_list)


class Service:
    """A program of the session that answers calls, and keeps them."""

    def __init__(self, machine: Machine, name: str, path: str, xml: str, **answers: GLib.Variant) -> None:
        self.session = machine.connect()
        self.path, self.answers = path, answers
        self.calls: list[tuple[str, object]] = []
        self.interface = Gio.DBusNodeInfo.new_for_xml(xml).interfaces[0]

        def called(_connection, _sender, _path, _interface, method, arguments, invocation) -> None:
            self.calls.append((method, arguments.unpack()))
            invocation.return_value(answers.get(method))

        self.session.connection.register_object(path, self.interface, called, None, None)
        self.session.call("/org/freedesktop/DBus", f"{BUS}.RequestName", GLib.Variant("(su)", (name, 4)), destination=BUS)

    def signal(self, member: str, arguments: GLib.Variant) -> None:
        self.session.connection.emit_signal(None, self.path, self.interface.name, member, arguments)

    def wait_for(self, member: str) -> object:
        return wait(lambda: [about for name, about in self.calls if name == member], f"{member} of {self.path}")[-1]


def test_sent_and_arrived(both: Pair) -> None:
    """What was sent to a device that was away is told of, quietly, when it has arrived there."""
    server = PlainServer(both.lap)
    both.desk.set_enabled(False)
    wait(lambda: not both.lap.connected_to(both.desk.device_id), "the other device to be away")
    Client(both.lap, "com.example.minutes").offer("Minutes")
    send(both.lap, both.desk.device_id)
    let_pass(QUIET)
    assert not server.record
    both.desk.set_enabled(True)
    shown = server.wait_for("Arrived on another device")
    assert shown.body.splitlines() == ["“Minutes”", "desk"]
    assert shown.details["urgency"] == 0


# Continuing


def test_failure(both: Pair) -> None:
    """A continuation that fails says in the user's words why, then what its application says, and trying again from
    there continues."""
    server = PlainServer(both.lap)
    both.receiver.fail("ContinueActivity", "The disk is full")
    both.offer("Report")
    both.presence.arrive()
    server.press(server.wait_for("Continue “Report”?"), "continue")
    shown = server.wait_for("Nothing was continued", "The disk is full")
    assert shown.body.splitlines()[1:] == ["“The disk is full”", "“Report”", "desk"]
    assert shown.buttons == {"continue": "Try again"}
    both.receiver.answers["ContinueActivity"] = lambda arguments: GLib.Variant("(b)", (True,))
    server.press(shown, "continue")
    both.receiver.wait_for("ContinueActivity", 2)
    server.wait_until_gone()


def test_failure_without_offer(both: Pair) -> None:
    """What has failed can no longer be tried again once its offer has ended."""
    server = PlainServer(both.lap)
    both.receiver.fail("ContinueActivity", "The disk is full")
    activity = both.offer("Report")
    both.presence.arrive()
    server.press(server.wait_for("Continue “Report”?"), "continue")
    shown = server.wait_for("Nothing was continued")
    activity.invalidate()
    wait(lambda: not server.shown[shown.id].buttons, "the button to go")


def test_what_the_window_shows(both: Pair) -> None:
    """What the Handoff window shows in front of its user is not notified too; what still waits for an answer is as soon as the
    user turns to something else."""
    server, window = PlainServer(both.lap), both.lap.connect()

    def look(member: str, *arguments: object) -> None:
        window.call("/org/freedesktop/DBus", f"{BUS}.{member}", GLib.Variant("(su)" if arguments else "(s)", (
            f"{SETTINGS}.Offers", *arguments)), destination=BUS)

    look("RequestName", 4)
    both.offer("Report")
    both.presence.arrive()
    let_pass(QUIET)
    assert not server.shown
    look("ReleaseName")
    let_pass(QUIET)
    assert not server.shown, "the question at an arrival has been seen"
    both.desk.run("handoff", "send", "lap")
    shown = server.wait_for("Continue “Report”?", "desk")
    look("RequestName", 4)
    wait(lambda: not server.shown, "the notification to be taken back")
    look("ReleaseName")
    assert server.wait_for("Continue “Report”?", "desk") != shown
    server.press(server.wait_for("Continue “Report”?", "desk"), "continue")
    both.receiver.wait_for("ContinueActivity")


def test_slow_continuation(both: Pair) -> None:
    """A continuation that takes longer than half a second, wherever it was begun, is shown until it is over, and can be
    cancelled there."""
    server = PlainServer(both.lap)
    both.editor.hang("WillSave")
    path = (both.offer("Report"), both.dock.offer("Report"))[1]
    both.dock.continue_offer(path)
    shown = server.wait_for("Continuing “Report”…", "desk")
    server.press(shown, "cancel")
    assert both.dock.outcome()[1].endswith(".Cancelled")
    let_pass(QUIET)
    assert not server.shown


def test_slow_continuation_that_application_shows(both: Pair) -> None:
    """A continuation that its application shows by itself is not shown once more."""
    server = PlainServer(both.lap)
    both.receiver.answers["WillContinueActivity"] = lambda arguments: GLib.Variant("(b)", (True,))
    both.editor.hang("WillSave")
    path = (both.offer("Report"), both.dock.offer("Report"))[1]
    both.dock.continue_offer(path)
    wait(lambda: both.dock.offers[path].get("ShownByApplication"), "the application to say that it shows it")
    assert both.dock.outcome()[1] == ""
    wait(lambda: not both.dock.offers[path]["ShownByApplication"], "that to end with the continuation")
    assert not server.record


def test_fast_continuation(both: Pair) -> None:
    """A continuation that is fast shows nothing."""
    server = PlainServer(both.lap)
    path = (both.offer("Report"), both.dock.offer("Report"))[1]
    both.dock.continue_offer(path)
    assert both.dock.outcome()[1] == ""
    # Longer than a continuation takes before it is shown (ProgressNotices.patience, 0.5 s).
    let_pass(0.6)
    assert not server.record


# Servers


def test_server_that_comes_later(both: Pair) -> None:
    """What is to be shown waits for a server that comes later, and what one that dies has shown is shown by the next."""
    both.offer("Report")
    both.presence.arrive()
    wait(lambda: "No program shows notifications yet" in both.lap.log("handoff-agent"), "the agent to look for a server")
    server = PlainServer(both.lap)
    server.wait_for("Continue “Report”?")
    server.session.close()
    PlainServer(both.lap).wait_for("Continue “Report”?")


def test_server_without_abilities(both: Pair) -> None:
    """A server that knows no markup gets none, and one that knows no buttons gets none."""
    server = PlainServer(both.lap, ("body",))
    both.desk.session.call("/org/example/Handoff/Bridge", f"{BUS}.Properties.Set", GLib.Variant("(ssv)", (
        "org.example.Handoff.Bridge", "DeviceName", GLib.Variant("s", "R&D"))))
    both.offer("Report")
    wait(lambda: any(offer["DeviceName"] == "R&D" for offer in both.dock.offers.values()), "the name")
    both.presence.arrive()
    shown = server.wait_for("Continue “Report”?", "R&D")
    assert shown.body == "R&D" and not shown.buttons


def test_silent_server(both: Pair) -> None:
    """A server that never answers delays nothing."""
    PlainServer(both.lap, silent=True)
    both.offer("Report")
    both.presence.arrive()
    desktop = DesktopServer(both.lap)
    desktop.press(desktop.wait_for("Continue “Report”?"), "app.continue")
    both.receiver.wait_for("ContinueActivity")


def test_impostor(both: Pair) -> None:
    """Signals of others than the owner of the name press nothing."""
    server, other = PlainServer(both.lap), both.lap.connect()
    both.offer("Report")
    both.presence.arrive()
    shown = server.wait_for("Continue “Report”?")
    key = next(key for key in shown.details["keys"] if key.startswith("continue."))
    server.signal("ActionInvoked", GLib.Variant("(us)", (shown.id, key)), other)
    other.connection.emit_signal(server.session.name and both.lap.session.owner(AGENT), server.path, server.name,
                                 "ActionInvoked", GLib.Variant("(us)", (shown.id, key)))
    let_pass(QUIET)
    assert not both.receiver.called("ContinueActivity")


def test_desktop_server(both: Pair) -> None:
    """On GNOME a button reaches the application with what lets it raise its window, and nobody presses it who does not know
    the word that came with it."""
    server, plain = DesktopServer(both.lap), PlainServer(both.lap)
    both.offer("Report")
    both.presence.arrive()
    shown = server.wait_for("Continue “Report”?", "desk")
    other = both.lap.connect()
    for parameter in (GLib.Variant("s", "0" * 32), GLib.Variant("s", ""), GLib.Variant("u", 1),
                      GLib.Variant("s", both.dock.offer("Report"))):
        with refused("InvalidArgs"):
            server.activate("continue", parameter, session=other)
    server.press(shown, "app.continue", "gnome-1")
    call = both.receiver.wait_for("ContinueActivity")
    assert call.arguments.unpack()[1]["ActivationToken"] == "gnome-1"
    with refused("InvalidArgs"):
        server.press(shown, "app.continue")
    assert not plain.record


def test_sandboxed_caller(both: Pair) -> None:
    """For a sandboxed program the agent does not exist."""
    if what := can_be_made(both.lap):
        pytest.skip(what)
    client = RawClient(both.lap, "com.example.curious")
    assert client.call(AGENT, own_path("Agent"), "org.freedesktop.Application.Activate", "(@a{sv} {},)") == "UnknownObject"
    assert client.call(AGENT, own_path("Agent"), "org.freedesktop.Application.ActivateAction",
                       "('continue', @av [<'x'>], @a{sv} {})") == "UnknownObject"
    client.close()


@pytest.mark.parametrize("name", [PLAIN, DESKTOP])
def test_sandboxed_server(both: Pair, name: str) -> None:
    """A sandboxed program that takes the name of who shows notifications is shown none."""
    if what := can_be_made(both.lap):
        pytest.skip(what)
    client = RawClient(both.lap, "com.example.curious")
    assert not client.call(BUS, "/org/freedesktop/DBus", f"{BUS}.RequestName", f"('{name}', uint32 4)")
    wait(lambda: f"has taken the bus name {name}" in both.lap.log("handoff-agent"), "the agent to see who that is")
    both.offer("Report")
    both.presence.arrive()
    let_pass(QUIET)
    assert not [call for call in client.calls if "otif" in call]
    client.close()
    PlainServer(both.lap).wait_for("Continue “Report”?")


# The session


def test_idle_monitor(both: Pair) -> None:
    """Where GNOME watches keyboard and pointer, coming back after three minutes is an arrival."""
    monitor = Service(both.lap, "org.gnome.Mutter.IdleMonitor", "/org/gnome/Mutter/IdleMonitor/Core", MONITOR_XML,
                      AddIdleWatch=GLib.Variant("(u)", (7,)), AddUserActiveWatch=GLib.Variant("(u)", (8,)))
    assert monitor.wait_for("AddIdleWatch") == (180_000,)
    server = PlainServer(both.lap)
    # Before the agent knows this, it knows the number of its watch, which came before.
    both.offer("Report")
    monitor.signal("WatchFired", GLib.Variant("(u)", (7,)))
    monitor.wait_for("AddUserActiveWatch")
    let_pass(QUIET)
    assert not server.record
    monitor.signal("WatchFired", GLib.Variant("(u)", (8,)))
    server.wait_for("Continue “Report”?")


def test_screen_saver(machine_list: list[Machine]) -> None:
    """Where there is no logind, the end of the screen saver is an arrival, and while it is there nothing is shown."""
    both = Pair(machine_list, agent=False)
    both.presence.stop()
    saver = Service(both.lap, "org.freedesktop.ScreenSaver", "/org/freedesktop/ScreenSaver", SAVER_XML,
                    GetActive=GLib.Variant("(b)", (True,)))
    server = PlainServer(both.lap)
    both.offer("Report")
    both.lap.start_agent()
    saver.wait_for("GetActive")
    let_pass(QUIET)
    assert not server.record
    saver.signal("ActiveChanged", GLib.Variant("(b)", (False,)))
    server.wait_for("Continue “Report”?")
    saver.signal("ActiveChanged", GLib.Variant("(b)", (True,)))
    server.wait_until_gone()


def test_window(both: Pair) -> None:
    """Activating the agent opens the Handoff window, with what lets it come to the front."""
    window = Service(both.lap, SETTINGS, own_path("Settings"), WINDOW_XML)
    data = {"desktop-startup-id": GLib.Variant("s", "token-2")}
    both.lap.session.call(own_path("Agent"), "org.freedesktop.Application.Activate", GLib.Variant("(a{sv})", (data,)),
                          destination=AGENT)
    assert window.wait_for("Activate")[0]["activation-token"] == "token-2"


def test_no_window(both: Pair) -> None:
    """Where there is no Handoff window, the user is told."""
    server = PlainServer(both.lap)
    both.lap.session.call(own_path("Agent"), "org.freedesktop.Application.Activate", GLib.Variant("(a{sv})", ({},)),
                          destination=AGENT)
    server.wait_for("The Handoff window cannot be opened", "handoff-settings")


# The process


def switches(process: int) -> int:
    """How often the threads of a process have given up the processor, or lost it."""
    total = 0
    for task in os.listdir(f"/proc/{process}/task"):
        with open(f"/proc/{process}/task/{task}/status", encoding="ascii") as file:
            total += sum(int(line.split()[1]) for line in file if "voluntary_ctxt_switches" in line)
    return total


def test_first_login(machine_list: list[Machine]) -> None:
    """Who has paired no device is told once that Handoff is there and what to do first, and never again."""
    lap = start_desk(machine_list, agent=False)
    lap.is_welcomed = False
    server, window = PlainServer(lap), Service(lap, SETTINGS, own_path("Settings"), WINDOW_XML)
    lap.start_agent()
    shown = server.wait_for("Handoff is installed", "Pair your other computer")
    server.press(shown, next(key for key, label in shown.buttons.items() if label == "Pair…"))
    window.wait_for("Activate")
    lap.kill("handoff-agent")
    lap.start_agent()
    let_pass(QUIET)
    assert not server.shown


def test_idle_agent(both: Pair) -> None:
    """An idle agent wakes up for nothing, and takes at most three megabytes for itself."""
    server = PlainServer(both.lap)
    both.offer("Report")
    both.presence.arrive()
    server.wait_for("Continue “Report”?")
    # Longer than it waits before it gives memory back (FreedMemory.delay, 1 s).
    let_pass(1.5)
    process = both.lap.processes["handoff-agent"].pid
    before = switches(process)
    # Long enough for what repeats itself every second, or every few, to be seen.
    let_pass(4)
    assert switches(process) == before
    if not SANITIZED:
        assert memory(both.lap, "handoff-agent") <= 3 << 20


def test_agent_that_is_killed(both: Pair) -> None:
    """An agent that is killed leaves the daemons as they are, and the next one goes on."""
    server = PlainServer(both.lap)
    path = (both.offer("Report"), both.dock.offer("Report"))[1]
    both.lap.kill("handoff-agent")
    both.dock.continue_offer(path)
    assert both.dock.outcome()[1] == ""
    both.lap.start_agent()
    both.presence.arrive()
    server.wait_for("Continue “Report”?")


def test_agent_without_daemons(machine_list: list[Machine]) -> None:
    """The agent starts neither daemon, and runs without them."""
    lap = Desk("lap")
    machine_list.append(lap)
    lap.start_agent()
    # As long as the bus takes to start a daemon.
    let_pass(0.3)
    session = Session(lap.address)
    assert not session.owner("org.example.Handoff") and not session.owner("org.example.Handoff.Bridge")
    session.close()
