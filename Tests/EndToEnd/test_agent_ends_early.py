# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the agent leaves on the screen when it ends just after it has sent it there."""

from __future__ import annotations

import signal
import time

from gi.repository import GLib
from buses import let_pass, wait
from notifications import DesktopServer
from support import Machine
from test_agent_end import QUESTION, begin, desk
from test_notices_replaced import SlowServer


def test_not_answered_yet(machine_list: list[Machine]) -> None:
    """An agent that is asked to end also takes back what a server shows but has not given a number yet."""
    lap, broker = desk(machine_list)
    server = SlowServer(lap)
    server.is_slow = True
    begin(lap, broker)
    server.wait_for(QUESTION)
    process = lap.processes.pop("handoff-agent")
    process.send_signal(signal.SIGTERM)
    # As long as the agent takes to see that it is to end, before the answer comes.
    let_pass(0.2)
    server.answer()
    server.wait_until_gone()
    wait(lambda: process.poll() is not None, "the end of the agent")
    assert process.returncode == 0


def test_never_answered(machine_list: list[Machine]) -> None:
    """A server that does not answer keeps the agent from ending for less than a second."""
    lap, broker = desk(machine_list)
    server = SlowServer(lap)
    server.is_slow = True
    begin(lap, broker)
    server.wait_for(QUESTION)
    before = time.monotonic()
    assert lap.kill("handoff-agent", signal.SIGTERM) == 0
    assert time.monotonic() - before < 1


def test_any_place(machine_list: list[Machine]) -> None:
    """What a killed agent has left in GNOME is taken back by the next one wherever it is, and however soon it was killed."""
    lap, broker = desk(machine_list)
    server = DesktopServer(lap)
    lap.start_agent()
    broker.wait_until_followed()
    path = broker.offer(1, "Report", Invited=True, Since=GLib.get_real_time())
    server.wait_for(QUESTION)
    lap.kill("handoff-agent")
    broker.withdraw(path)
    assert list(server.shown) == ["invited-" + "d" * 64]
    lap.start_agent()
    server.wait_until_gone()
