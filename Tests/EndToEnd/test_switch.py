# SPDX-License-Identifier: LGPL-2.1-or-later
"""The user's switch: Enabled."""

from __future__ import annotations

import signal

from buses import BRIDGE_ROOT, ROOT, let_pass, wait
from clients import Client, Dock
from support import Machine, refused, wait_for_link

Machines = tuple[Machine, Machine]
# As long as an offer takes to come to another machine, or to be continued in an application.
QUIET = 0.3


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


def test_off_refuses_continuing(machines: Machines) -> None:
    """Off: an offer that someone still remembers is not continued, and no application is asked."""
    desk, lap = machines
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    origin.offer("A letter")
    path = dock.offer("A letter")
    lap.set_enabled(False)
    with refused("Disabled", "UnknownObject"):
        dock.continue_offer(path)
    let_pass(QUIET)
    assert not target.calls
    assert not dock.finished()


def test_off_refuses_connecting(machine: Machine) -> None:
    """Off: the bridge connects to nobody."""
    machine.set_enabled(False)
    # The reply comes before the bridge is told.
    wait(lambda: not machine.session.get(BRIDGE_ROOT, "Bridge.Port"), "the end of listening")
    with refused("Disabled"):
        machine.dial(1)


def test_what_becomes_current_while_off_is_offered_when_on(machines: Machines) -> None:
    """Off: an activity may become current; it is offered when the switch is on again."""
    desk, lap = machines
    origin, _target, dock = Client(desk), Client(lap), Dock(lap)
    desk.set_enabled(False)
    activity = origin.offer("A letter")
    assert activity.get("Current")
    let_pass(QUIET)
    assert not dock.offers
    desk.set_enabled(True)
    dock.offer("A letter")


def test_switch_survives_a_restart(machine: Machine) -> None:
    """The switch keeps its position when the broker ends and is started again."""
    machine.set_enabled(False)
    assert machine.kill("handoffd", signal.SIGTERM) == 0
    machine.start_broker()
    assert machine.session.get(ROOT, "Manager.Enabled") is False
    machine.set_enabled(True)
    assert machine.kill("handoffd") != 0
    machine.start_broker()
    assert machine.session.get(ROOT, "Manager.Enabled") is True


def test_change_is_announced(machine: Machine) -> None:
    """A change of the switch reaches those who follow the broker."""
    dock = Dock(machine)
    machine.set_enabled(False)
    wait(lambda: any(event.member == "PropertiesChanged" and event.path == ROOT
                     and event.arguments.unpack()[1].get("Enabled") is False for event in dock.events),
         "PropertiesChanged")


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
