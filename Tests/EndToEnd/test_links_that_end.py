# SPDX-License-Identifier: LGPL-2.1-or-later
"""How a link ends: in order, and its offers go along at once; or cut, and they stay for a while."""

from __future__ import annotations

import signal
import socket
import statistics
import struct
import time
from collections.abc import Callable

import pytest
from gi.repository import GLib
from buses import BRIDGE, wait
from clients import Client, Dock
from link import SOME_ID, Device, Link, method_call, offer
from support import Machine, wait_for_link

Machines = tuple[Machine, Machine]
# Seconds in which the other side shows that an offer has gone.
AT_ONCE = 0.1
# Seconds for which an offer outlives a link that was cut.
STAYS = 5.0
JOINED = 5


def gone_after(dock: Dock, path: str, end: Callable[[], object]) -> float:
    """Seconds from when `end` was answered, after what it has to write to the disk, until the dock was told that the offer
    has gone."""
    end()
    start = time.monotonic()
    wait(lambda: path not in dock.offers, "the offer to go")
    return next(event.at for event in reversed(dock.events)
                if event.member == "InterfacesRemoved" and event.path == path) - start


def continue_and_join(target: Client, dock: Dock, path: str) -> None:
    """Continues an offer five times at once: one continuation that the others join, if they come before it ends."""
    continued = len(target.called("ContinueActivity"))
    none: dict[str, GLib.Variant] = {}
    answers = [dock.begin(path, "RemoteActivity.Continue", GLib.Variant("(a{sv})", (none,))) for _ in range(JOINED)]
    for answer in answers:
        answer()
    target.wait_for("ContinueActivity", continued + 1)


def reset(link: Link) -> None:
    """Ends the TCP connection as one that is broken."""
    link.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    link.close()


@pytest.mark.parametrize("joined", [False, True], ids=["in peace", "after five joined continuations"])
def test_switching_off_takes_the_offer_along(machines: Machines, joined: bool) -> None:
    """Switched off at the origin, ten times: within a tenth of a second its offer has gone on the other side."""
    desk, lap = machines
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    origin.offer("A letter")
    times = []
    for _ in range(10):
        path = dock.offer("A letter")
        if joined:
            continue_and_join(target, dock, path)
        times.append(gone_after(dock, path, lambda: desk.set_enabled(False)))
        desk.set_enabled(True)
        wait_for_link(desk, lap)
    # One of them may have come while the machine did something else.
    assert statistics.median(times) < AT_ONCE, [f"{1000 * taken:.0f} ms" for taken in times]


def test_bridge_that_is_replaced_takes_the_offer_along(machines: Machines) -> None:
    """The origin's bridge is replaced: its offer goes with it, and comes with the new one."""
    desk, lap = machines
    Client(desk).offer("A letter")
    dock, _target = Dock(lap), Client(lap)
    path = dock.offer("A letter")
    former = desk.processes["handoff-bridge"]
    owner = desk.session.owner(BRIDGE)
    desk.start("handoff-bridge", "--no-discovery", f"--listen=127.0.0.1:{desk.port}", "--replace")
    wait(lambda: desk.session.owner(BRIDGE) not in ("", owner), "the new bridge")
    replaced = time.monotonic()
    wait(lambda: any(event.member == "InterfacesRemoved" and event.path == path for event in dock.events),
         "the offer to go")
    removed = next(event.at for event in dock.events if event.member == "InterfacesRemoved" and event.path == path)
    assert removed - replaced < AT_ONCE
    wait(lambda: former.poll() is not None, "the end of the former bridge")
    assert former.returncode == 0
    wait_for_link(desk, lap)
    dock.offer("A letter")


@pytest.mark.parametrize("cut", ["killed", "closed without a word", "reset"])
def test_cut_leaves_the_offer_for_five_seconds(machine: Machine, machine_list: list[Machine], cut: str) -> None:
    """A link that was cut, however, leaves the offers for five seconds, in which there may be a new one."""
    dock, _target = Dock(machine), Client(machine)
    if cut == "killed":
        desk = Machine("origin")
        machine_list.append(desk)
        desk.start_broker()
        desk.start_bridge()
        desk.trust(machine.device_id, "desk")
        machine.trust(desk.device_id, "origin")
        desk.dial(machine.port)
        wait_for_link(desk, machine)
        Client(desk).offer("From afar")
        path = dock.offer("From afar")
        taken = gone_after(dock, path, lambda: desk.kill("handoff-bridge"))
    else:
        link = Device().paired_link_to(machine)
        link.call("Peer.Offer", offer())
        path = dock.offer("From afar")
        taken = gone_after(dock, path, link.close if cut == "closed without a word" else lambda: reset(link))
    assert STAYS - 0.5 < taken < STAYS + 1


def test_what_came_before_the_end_counts(machine: Machine) -> None:
    """What a device has said right before its link was cut takes effect, also if both are seen at once."""
    dock, _target = Dock(machine), Client(machine)
    link = Device().paired_link_to(machine)
    link.call("Peer.Offer", offer())
    path = dock.offer("From afar")
    bridge = machine.processes["handoff-bridge"]
    # The bridge sees both when it goes on.
    bridge.send_signal(signal.SIGSTOP)
    link.send(method_call("Peer.Withdraw", GLib.Variant("(s)", (SOME_ID,))))
    link.close()
    assert gone_after(dock, path, lambda: bridge.send_signal(signal.SIGCONT)) < AT_ONCE
