# SPDX-License-Identifier: LGPL-2.1-or-later
"""What comes of notifications that are replaced, answered late, or put away unseen."""

from __future__ import annotations

from typing import Any

from gi.repository import Gio, GLib
from agents import Pair
from buses import let_pass
from notifications import PlainServer
from support import Machine


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
    let_pass(5.5)
    both.presence.lock()
    let_pass(0.3)
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
    let_pass(0.3)
    both.offer("One")
    first = server.wait_for("Continue “One”?")
    server.is_slow = True
    both.editor.offer("Two")
    second = server.wait_for("Continue “Two”?")
    for number in (first.id, second.id):
        server.invoke(first, "continue", number)
        server.invoke(first, "default", first.id)
    server.is_slow = False
    server.answer()
    let_pass(0.3)
    server.invoke(first, "continue", second.id)
    server.signal("ActionInvoked", GLib.Variant("(us)", (second.id, "continue")))
    let_pass(0.3)
    assert not both.receiver.called("ContinueActivity")
    server.press(second, "continue")
    both.receiver.wait_for("ContinueActivity")
