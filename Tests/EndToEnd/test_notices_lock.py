# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whom the agent believes that the session is not locked."""

from __future__ import annotations

import signal

from gi.repository import GLib
from agents import Pair
from buses import let_pass, wait
from notifications import PlainServer
from support import Machine
from test_notices import QUIET, SAVER_XML, Service


def test_screen_saver_beside_logind(machine_list: list[Machine]) -> None:
    """A screen saver that locks the session without telling logind locks it too."""
    both = Pair(machine_list)
    server = PlainServer(both.lap)
    saver = Service(both.lap, "org.freedesktop.ScreenSaver", "/org/freedesktop/ScreenSaver", SAVER_XML,
                    GetActive=GLib.Variant("(b)", (False,)))
    saver.wait_for("GetActive")
    both.offer("Report")
    both.presence.arrive()
    server.wait_for("Continue “Report”?")
    saver.signal("ActiveChanged", GLib.Variant("(b)", (True,)))
    server.wait_until_gone()
    both.presence.arrive()
    let_pass(QUIET)
    assert not server.shown, "it is still there"
    saver.signal("ActiveChanged", GLib.Variant("(b)", (False,)))
    server.wait_for("Continue “Report”?")
    saver.signal("ActiveChanged", GLib.Variant("(b)", (True,)))
    server.wait_until_gone()
    saver.session.close()
    let_pass(QUIET)
    assert not server.shown, "nobody has said that it is unlocked"
    both.presence.ask("Unlock")
    server.wait_for("Continue “Report”?")


def test_lock_that_nobody_confirms(machine_list: list[Machine]) -> None:
    """A session that was asked to lock counts as locked for as long as nobody asks to unlock it."""
    both = Pair(machine_list)
    server = PlainServer(both.lap)
    both.offer("Report")
    both.presence.arrive()
    server.wait_for("Continue “Report”?")
    both.presence.ask("Lock")
    server.wait_until_gone()
    both.presence.idle(True)
    both.presence.idle(False)
    # That no time ends it is shown in PresenceTests, by a clock that is moved by hand.
    let_pass(QUIET)
    assert not server.shown
    both.presence.ask("Unlock")
    server.wait_for("Continue “Report”?")


def test_logind_that_does_not_answer(machine_list: list[Machine]) -> None:
    """Until logind answers the session counts as locked, however long that takes, and then what it says counts."""
    both = Pair(machine_list, agent=False)
    server = PlainServer(both.lap)
    both.presence.lock()
    both.offer("Report")
    logind = both.presence.processes[-1]
    logind.send_signal(signal.SIGSTOP)
    both.lap.start("handoff-agent", "--verbose")
    wait(lambda: "is not known yet" in both.lap.log("handoff-agent"), "the agent to wait for logind no longer")
    let_pass(QUIET)
    assert not server.record
    logind.send_signal(signal.SIGCONT)
    wait(lambda: any(line.endswith("locked") for line in both.lap.log("handoff-agent").splitlines()),
         "the agent to ask again")
    assert not server.record
    both.presence.unlock()
    server.wait_for("Continue “Report”?")
