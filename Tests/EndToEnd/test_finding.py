# SPDX-License-Identifier: LGPL-2.1-or-later
"""Machines on one network find each other, whatever the network does."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable

import pytest
from buses import BRIDGE_ROOT, wait
from clients import Client, Dock
from finding import Pair, hosted, make_peers, nearby
from pairing import discoverable
from rig import Network
from support import Machine, wait_for_link
from terminal import Typing

# How long it may take until what peers see is right, from when the network is.
PROMISE = 5
# A network that is hardly one.
BAD = {"delay": 100, "jitter": 20, "loss": 0.2, "duplicate": 0.1, "reorder": 0.2}


@pytest.fixture
def peers(network: Network, machine_list: list[Machine]) -> Pair:
    """Two machines on the network that are paired, and have nothing but discovery to find each other."""
    desk, lap = hosted(network, machine_list, "--verbose")
    make_peers(desk, lap)
    return desk, lap


def hand_off(origin: Machine, target: Machine, title: str, timeout: float = 20) -> None:
    client, _handler, dock = Client(origin), Client(target), Dock(target)
    client.offer(title)
    dock.continue_offer(dock.offer(title, timeout))
    assert dock.outcome(timeout)[1] == ""


@pytest.mark.parametrize("network_is", ["good", "bad"])
def test_from_nothing_to_unpaired(network: Network, machine_list: list[Machine], network_is: str) -> None:
    """Two machines find each other, are paired by comparing a code, hand off, and are unpaired, all by command."""
    desk, lap = hosted(network, machine_list, "--verbose")
    if network_is == "bad":
        lap.place.impair("out", **BAD)
        lap.place.impair("in", **BAD)
    there = Typing(desk, "handoff", "pair")
    there.until("handoff pair desk")
    wait(lambda: "desk" in nearby(lap), "desk to be nearby", 30)
    assert "Nearby" in lap.run("handoff", "devices").stdout
    # A connection may be lost on such a network; then the user tries again.
    deadline = time.monotonic() + 60
    while True:
        here = Typing(lap, "handoff", "pair", "desk")
        wait(lambda: here.process.poll() is not None or "[y/N]" in here.text, "the code", 30)
        if here.process.poll() is None:
            break
        assert network_is == "bad" and time.monotonic() < deadline, here.text
    code = here.until(r"(\d{3} \d{3})")
    assert there.until(r"(\d{3} \d{3})", 30) == code
    there.type("y\n")
    here.type("y\n")
    assert here.end(30) == 0 and there.end(30) == 0, here.text + there.text
    wait_for_link(desk, lap)
    assert "paired, connected" in desk.run("handoff", "devices").stdout
    hand_off(desk, lap, "There", 30)
    hand_off(lap, desk, "And back", 30)
    result = lap.run("handoff", "unpair", "desk")
    assert result.returncode == 0, result.stderr
    wait(lambda: "No device is paired" in desk.run("handoff", "status").stdout, "desk to be told", 30)


def changes(peers: Pair, event: Callable[[], None], mend: Callable[[], None], title: str) -> None:
    """While something is wrong another activity becomes current: it is what the peer sees, soon after that is mended."""
    desk, lap = peers
    client, _handler, dock = Client(lap), Client(desk), Dock(desk)
    client.offer("Before")
    dock.offer("Before")
    event()
    client.offer(title)
    mend()
    mended = time.monotonic()
    wait(lambda: dock.titles == [title], f"“{title}” alone; there are {dock.titles}", PROMISE)
    print(f"right after {time.monotonic() - mended:.1f} s")
    dock.continue_offer(dock.offer(title))
    assert dock.outcome()[1] == ""


def linger(seconds: float) -> None:
    """Lets the network be wrong for a while: TCP then waits longer and longer before it tries again."""
    end = time.monotonic() + seconds
    wait(lambda: time.monotonic() > end, "the time to pass", seconds + 20)


@pytest.mark.parametrize("seconds", [1, 12])
def test_cable_pulled(peers: Pair, seconds: float) -> None:
    """After a time in which nothing passed, which neither machine noticed, offers are right within five seconds."""
    lap = peers[1]

    def event() -> None:
        lap.place.cut()
        linger(seconds)

    changes(peers, event, lambda: (linger(seconds), lap.place.mend()), "After the cut")


@pytest.mark.parametrize("seconds", [1, 12])
def test_link_down_and_up(peers: Pair, seconds: float) -> None:
    """After the network device was down and up again offers are right within five seconds."""
    lap = peers[1]
    changes(peers, lap.place.link_down, lambda: (linger(seconds), lap.place.link_up()), "After the link")


def test_other_address(peers: Pair) -> None:
    """With another address a machine is found again, and its offers are right within five seconds."""
    lap = peers[1]
    changes(peers, lambda: lap.place.change_address("10.213.78.77"), lambda: None, "Elsewhere")


def test_bad_network(network: Network, machine_list: list[Machine]) -> None:
    """With delay, loss, duplicates and disorder peers stay linked or link again, and hand off."""
    desk, lap = hosted(network, machine_list, "--verbose")
    make_peers(desk, lap)
    for direction in ("out", "in"):
        lap.place.impair(direction, **BAD)
    for number in range(5):
        hand_off(*((desk, lap) if number % 2 else (lap, desk)), f"Number {number}", 30)
    lap.place.mend()
    changes((desk, lap), lambda: None, lambda: None, "After all that")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
@pytest.mark.parametrize("whose", [0, 1])
def test_bridge_ends_or_stops(peers: Pair, number: int, whose: int) -> None:
    """After a bridge was killed, or stopped for a while, offers are right within five seconds."""
    machine = peers[whose]

    def event() -> None:
        if number == signal.SIGKILL:
            machine.kill("handoff-bridge")
        else:
            machine.processes["handoff-bridge"].send_signal(number)

    def mend() -> None:
        if number == signal.SIGKILL:
            machine.start_bridge()
        else:
            linger(3)
            machine.processes["handoff-bridge"].send_signal(signal.SIGCONT)

    changes(peers, event, mend, "After the bridge")


def test_avahi_in_a_loop(peers: Pair) -> None:
    """While Avahi ends again and again links live on, and when it is back devices find each other as before."""
    desk, lap = peers
    for _ in range(3):
        for machine in peers:
            machine.place.kill_avahi()
            wait(lambda: machine.session.get(BRIDGE_ROOT, "Bridge.DiscoveryError"), "Avahi's end to be seen")
            machine.place.start_avahi()
            wait(lambda: not machine.session.get(BRIDGE_ROOT, "Bridge.DiscoveryError"), "Avahi to be used")
        assert desk.connected_to(lap.device_id)
    hand_off(lap, desk, "Meanwhile")
    for machine in peers:
        machine.kill("handoff-bridge")
        machine.start_bridge()
    wait_for_link(desk, lap)
    # With Avahi gone for good it is said what that means.
    lap.place.kill_avahi()
    wait(lambda: "Avahi is not running" in lap.run("handoff", "status").stdout, "the status to tell")


def test_trusted_by_id_where_it_announces_itself(network: Network, machine_list: list[Machine]) -> None:
    """Two devices that trust each other by their ids, and have not met, are connected by the address of one of them, also
    where that is announced."""
    desk, lap = hosted(network, machine_list)
    for one, other in ((desk, lap), (lap, desk)):
        one.trust(other.device_id, other.name)
    discoverable(desk)
    wait(lambda: nearby(lap).get("desk"), "desk to be announced")
    discoverable(desk, False)
    port = desk.session.get(BRIDGE_ROOT, "Bridge.Port")
    result = lap.run("handoff", "connect", f"{desk.place.address}:{port}")
    assert result.returncode == 0, result.stderr
    wait_for_link(desk, lap)
