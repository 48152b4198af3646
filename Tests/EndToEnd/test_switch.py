# SPDX-License-Identifier: LGPL-2.1-or-later
"""The user's switch: Enabled."""

from __future__ import annotations

import signal

from buses import BRIDGE_ROOT, let_pass, wait
from clients import Client, Dock
from support import Machine, refused, wait_for_link

Machines = tuple[Machine, Machine]


def test_off_withdraws_everywhere(machines: Machines) -> None:
    """Off: the offers of this machine go on its peers, and theirs go here; on: all return."""
    desk, lap = machines
    one, other = Client(desk), Client(lap)
    desk_dock, lap_dock = Dock(desk), Dock(lap)
    here = one.offer("From the desk")
    other.offer("From the lap")
    there = lap_dock.offer("From the desk")
    mine = desk_dock.offer("From the lap")
    desk.set_enabled(False)
    lap_dock.wait_until_gone(there)
    desk_dock.wait_until_gone(mine)
    assert here.get("Current"), "applications go on working with their activities"
    wait(lambda: desk.session.get(BRIDGE_ROOT, "Bridge.Port") == 0, "the bridge to stop listening")
    desk.set_enabled(True)
    wait_for_link(desk, lap)
    lap_dock.offer("From the desk")
    desk_dock.offer("From the lap")


def test_off_is_there_from_the_start(machines: Machines) -> None:
    """A machine that starts with the switch off listens to nobody and offers nothing."""
    desk, lap = machines
    desk.set_enabled(False)
    for program in ("handoff-bridge", "handoffd"):
        assert desk.kill(program, signal.SIGTERM) == 0
    desk.start_broker()
    desk.start("handoff-bridge", "--no-discovery", f"--listen=127.0.0.1:{desk.port}")
    desk.wait_for("org.example.Handoff.Bridge", "handoff-bridge")
    # As long as a bridge takes to listen.
    let_pass(0.5)
    assert desk.session.get(BRIDGE_ROOT, "Bridge.Port") == 0
    with refused("ConnectionUnavailable"):
        lap.dial(desk.port)
