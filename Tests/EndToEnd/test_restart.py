# SPDX-License-Identifier: LGPL-2.1-or-later
"""Daemons that die and come back."""

from __future__ import annotations

import signal
import time

import pytest
from gi.repository import GLib
from buses import BRIDGE, BRIDGE_ROOT, BROKER, wait
from clients import APPLICATION_ID, Activity, Client, Dock
from support import Machine, wait_for_link

Machines = tuple[Machine, Machine]
WITHIN = 5.0


def steady_client(machine: Machine, title: str) -> Client:
    """An application that offers an activity, and does so again for each new broker."""
    client = Client(machine)
    activities: list[Activity] = []

    def offer() -> None:
        activities.append(client.offer(title, UserInfo={"page": GLib.Variant("u", 1)}))

    offer()
    client.follow_broker(offer)
    return client


def continue_it(target: Client, dock: Dock, title: str) -> None:
    """The offer can still be continued, which is the proof that all is well."""
    dock.continue_offer(dock.offer(title))
    assert target.wait_for("ContinueActivity").arguments.unpack()[0]["UserInfo"] == {"page": 1}
    assert dock.outcome() == (APPLICATION_ID, "", "")


def test_broker_of_the_origin_is_killed(machines: Machines) -> None:
    """The origin's broker dies: the offer goes; with a new broker it is back within five seconds."""
    desk, lap = machines
    steady_client(desk, "A letter")
    target, dock = Client(lap), Dock(lap)
    path = dock.offer("A letter")
    desk.kill("handoffd")
    dock.wait_until_gone(path)
    desk.start_broker()
    started = time.monotonic()
    dock.offer("A letter", WITHIN)
    assert time.monotonic() - started <= WITHIN
    continue_it(target, dock, "A letter")


def test_broker_of_the_continuing_side_is_killed(machines: Machines) -> None:
    """The continuing side's broker dies: with a new one the bridge tells the offer again."""
    desk, lap = machines
    steady_client(desk, "A letter")
    target, dock = Client(lap), Dock(lap)
    target.follow_broker(lambda: None)
    dock.offer("A letter")
    lap.kill("handoffd")
    lap.start_broker()
    dock.follow()
    dock.offer("A letter", WITHIN)
    continue_it(target, dock, "A letter")


@pytest.mark.parametrize("side", ["the one that dialled", "the one that was dialled"])
def test_bridge_is_killed(machines: Machines, side: str) -> None:
    """A bridge dies: offers go; with a new bridge the link and the offers are back within five seconds."""
    desk, lap = machines
    victim = desk if side == "the one that dialled" else lap
    steady_client(desk, "A letter")
    steady_client(lap, "A list")
    target, dock, other_dock = Client(lap), Dock(lap), Dock(desk)
    dock.offer("A letter")
    other_dock.offer("A list")
    identity = victim.device_id
    victim.kill("handoff-bridge")
    wait(lambda: not dock.offers and not other_dock.offers, "the offers to go")
    victim.start_bridge()
    started = time.monotonic()
    assert victim.device_id == identity
    dock.offer("A letter", WITHIN)
    other_dock.offer("A list", WITHIN)
    assert time.monotonic() - started <= WITHIN
    continue_it(target, dock, "A letter")


def test_everything_is_killed(machines: Machines) -> None:
    """All daemons die at once, and come back: who trusts whom, and all else, is as before."""
    desk, lap = machines
    steady_client(desk, "A letter")
    target, dock = Client(lap), Dock(lap)
    target.follow_broker(lambda: None)
    dock.offer("A letter")
    for machine in machines:
        for program in ("handoffd", "handoff-bridge"):
            machine.kill(program)
    for machine in machines:
        machine.start_bridge()
        machine.start_broker()
    dock.follow()
    dock.offer("A letter", 2 * WITHIN)
    continue_it(target, dock, "A letter")


def test_broker_dies_in_a_continuation(machines: Machines) -> None:
    """The origin's broker dies while its application is asked: the continuation fails, and the next succeeds."""
    desk, lap = machines
    origin = steady_client(desk, "A letter")
    target, dock = Client(lap), Dock(lap)
    path = dock.offer("A letter")
    origin.hang("WillSave")
    dock.continue_offer(path)
    origin.wait_for("WillSave")
    desk.kill("handoffd")
    assert dock.outcome()[1]
    target.wait_for("DidFailToContinueActivity")
    origin.save()
    dock.wait_until_gone(path)
    desk.start_broker()
    dock.events.clear()
    continue_it(target, dock, "A letter")


def test_daemons_end_when_asked(machines: Machines) -> None:
    """SIGTERM ends each daemon cleanly, with status 0, and its offers go at once."""
    desk, lap = machines
    steady_client(desk, "A letter")
    _target, dock = Client(lap), Dock(lap)
    path = dock.offer("A letter")
    asked = time.monotonic()
    assert desk.kill("handoff-bridge", signal.SIGTERM) == 0
    dock.wait_until_gone(path)
    assert time.monotonic() - asked <= 7, "a bridge that says farewell is not waited for"
    assert desk.kill("handoffd", signal.SIGTERM) == 0


def test_second_instance_leaves(machine: Machine) -> None:
    """A daemon whose name is owned already says so and ends with status 0; with --replace it takes over."""
    for program, name in (("handoffd", BROKER), ("handoff-bridge", BRIDGE)):
        before = machine.session.owner(name)
        result = machine.run(program)
        assert result.returncode == 0
        assert "running already" in result.stderr
        assert machine.session.owner(name) == before


def test_replacing_the_broker(machines: Machines) -> None:
    """--replace takes over: the former broker ends with status 0, and offers come back."""
    desk, lap = machines
    steady_client(desk, "A letter")
    target, dock = Client(lap), Dock(lap)
    path = dock.offer("A letter")
    former, owner = desk.processes["handoffd"], desk.session.owner(BROKER)
    desk.start("handoffd", "--replace")
    wait(lambda: desk.session.owner(BROKER) not in ("", owner), "the new broker")
    wait(lambda: former.poll() is not None, "the end of the former broker")
    assert former.returncode == 0
    # Its activity is another one to the new broker.
    dock.wait_until_gone(path)
    continue_it(target, dock, "A letter")


def test_without_a_bridge_everything_local_works(machine: Machine) -> None:
    """Without a bridge the broker serves its session; when the bridge comes back the link can be made."""
    machine.kill("handoff-bridge")
    activity = Client(machine).offer("A letter")
    assert activity.get("Current")
    machine.start_bridge()
    assert machine.session.owner(BRIDGE)


def test_link_comes_back(machines: Machines) -> None:
    """After both bridges were restarted one after the other, the machines are connected again."""
    for machine in machines:
        machine.kill("handoff-bridge", signal.SIGTERM)
        machine.start_bridge()
    wait_for_link(*machines)


def test_port_is_known_with_the_name(machine: Machine) -> None:
    """Whoever finds the bridge on the bus is told the port that it listens on, never 0."""
    for _ in range(10):
        machine.kill("handoff-bridge", signal.SIGTERM)
        machine.start("handoff-bridge", "--no-discovery", f"--listen={machine.host_address}:{machine.port}")
        machine.wait_for(BRIDGE, "handoff-bridge")
        assert machine.session.get(BRIDGE_ROOT, "Bridge.Port") == machine.port
