# SPDX-License-Identifier: LGPL-2.1-or-later
"""What comes of notifications that are replaced, answered late, or put away unseen."""

from __future__ import annotations

from typing import Any

from gi.repository import Gio, GLib
from agents import Pair
from buses import let_pass, wait
from notifications import DesktopServer, PlainServer
from sending import PACE
from support import Machine
from test_notices import MONITOR_XML, QUIET, Service
from test_notices_of_broker import Session


class SlowServer(PlainServer):
    """A server that shows what it is told to, but answers only when the test says so."""

    def __init__(self, machine: Machine) -> None:
        self.is_slow = False
        self.answers: list[tuple[Gio.DBusMethodInvocation, GLib.Variant]] = []
        super().__init__(machine)

    def _called(self, _connection: Gio.DBusConnection, _sender: str, _path: str, _interface: str, method: str,
                arguments: GLib.Variant, invocation: Gio.DBusMethodInvocation) -> None:
        answer: Any = getattr(self, method)(*arguments.unpack())
        if self.is_slow and method == "Notify":
            self.answers.append((invocation, answer))
        else:
            invocation.return_value(answer)

    def answer(self) -> None:
        for invocation, answer in self.answers:
            invocation.return_value(answer)
        self.answers = []


def test_answer_that_comes_late(machine_list: list[Machine]) -> None:
    """What a server says only after a long time that it shows is taken back by then if the session was locked meanwhile."""
    both = Pair(machine_list)
    server = SlowServer(both.lap)
    server.is_slow = True
    both.offer("Report")
    both.presence.arrive()
    server.wait_for("Continue “Report”?")
    # Longer than the agent waits for any other answer of a server (PlainNotices.patience, 5 s).
    let_pass(5.5)
    former = len(both.lap.log("handoff-agent"))
    both.presence.lock()
    wait(lambda: "locked" in both.lap.log("handoff-agent")[former:], "the agent to know that the session is locked")
    server.is_slow = False
    server.answer()
    server.wait_until_gone()
    both.presence.unlock()
    server.wait_for("Continue “Report”?")
    both.presence.lock()
    server.wait_until_gone()


def test_pressed_while_replaced(machine_list: list[Machine]) -> None:
    """Pressing a question that is just being replaced by another does not continue the other."""
    both = Pair(machine_list)
    server = SlowServer(both.lap)
    both.lap.session.set("/org/example/Handoff", "Preferences.NotifyOffers", GLib.Variant("s", "always"))
    both.offer("One")
    first = server.wait_for("Continue “One”?")
    server.is_slow = True
    both.editor.offer("Two")
    # One peer is asked about once in ten seconds.
    second = wait(lambda: next(iter(one for one in server.shown.values() if "Two" in one.title), None), "the other", PACE + 2)
    for number in (first.id, second.id):
        server.invoke(first, "continue", number)
        server.invoke(first, "default", first.id)
    server.is_slow = False
    server.answer()
    # As long as the agent takes to know what the server has answered, for the same once more.
    let_pass(QUIET)
    server.invoke(first, "continue", second.id)
    server.signal("ActionInvoked", GLib.Variant("(us)", (second.id, "continue")))
    let_pass(QUIET)
    assert not both.receiver.called("ContinueActivity")
    server.press(second, "continue")
    both.receiver.wait_for("ContinueActivity")


def test_arrivals_on_gnome(machine_list: list[Machine]) -> None:
    """On GNOME, which does not say what the user has put away, each arrival asks in a new banner."""
    both = Pair(machine_list)
    monitor = Service(both.lap, "org.gnome.Mutter.IdleMonitor", "/org/gnome/Mutter/IdleMonitor/Core", MONITOR_XML,
                      AddIdleWatch=GLib.Variant("(u)", (7,)), AddUserActiveWatch=GLib.Variant("(u)", (8,)))
    monitor.wait_for("AddIdleWatch")
    server = DesktopServer(both.lap)
    # Before the agent knows this, it knows the server and the number of its watch, which came before.
    both.offer("Report")
    for count in range(1, 4):
        monitor.signal("WatchFired", GLib.Variant("(u)", (7,)))
        wait(lambda count=count: len(monitor.calls) == count + 1, "the agent to wait for the user")

        def asked_again(count: int = count) -> bool:
            # It means nothing to the agent until that has seen the number of this watch in the answer.
            monitor.signal("WatchFired", GLib.Variant("(u)", (8,)))
            return len(server.record) == count

        wait(asked_again, "one more question")
        assert server.record[-1].details["priority"] == "normal"


def test_failure_on_gnome(machine_list: list[Machine]) -> None:
    """On GNOME a failure is shown once, and not again after each lock."""
    both = Pair(machine_list)
    server = DesktopServer(both.lap)
    both.receiver.fail("ContinueActivity", "The disk is full")
    both.offer("Report")
    both.presence.arrive()
    server.press(server.wait_for("Continue “Report”?"), "app.continue")
    server.wait_for("Nothing was continued")
    both.presence.arrive()
    server.wait_for("Continue “Report”?")
    let_pass(QUIET)
    assert [one.title for one in server.record].count("Nothing was continued") == 1


def test_same_continued_again_on_gnome(machine_list: list[Machine]) -> None:
    """On GNOME that the same was continued on another device once more is shown once more."""
    session = Session(machine_list)
    server = DesktopServer(session.lap)
    # As long as the agent takes to learn of this server, which is preferred to the other.
    let_pass(QUIET)
    for count in range(1, 4):
        session.broker.continued("Report")
        wait(lambda count=count: len(server.record) == count, "one more notification")
