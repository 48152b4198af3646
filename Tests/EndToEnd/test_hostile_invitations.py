# SPDX-License-Identifier: LGPL-2.1-or-later
"""A peer that sends what it should not, or too much of it: it is shown as sent at the pace that is allowed, or not."""

from __future__ import annotations

import time

from gi.repository import GLib
from buses import BRIDGE_ROOT, let_pass, wait
from clients import Client, Dock
from link import SOME_ID, Device, method_call, offer
from sending import PACE, invited
from support import Machine

# As long as an invitation takes to be shown, many times over: what is invited to is shown here already.
SHOWING = 0.25


def invite(activity: str = SOME_ID) -> GLib.Variant:
    """The arguments of Invite."""
    return GLib.Variant("(s)", (activity,))


def test_flood(machine: Machine) -> None:
    """Of a thousand invitations, to one offer and to ever new ones, one is shown as sent in ten seconds; the daemons answer
    the user meanwhile and start nothing."""
    dock, target = Dock(machine), Client(machine)
    link = Device().paired_link_to(machine)
    shown: list[float] = []
    former: list[str] = []
    begin = time.monotonic()
    number = 0
    while time.monotonic() - begin < PACE + 3:
        for _ in range(20):
            number += 1
            if number % 2:
                link.send(method_call("Peer.Offer", offer(f"{number // 20:032x}",
                                                          Title=GLib.Variant("s", f"Number {number // 20}"))))
            link.send(method_call("Peer.Invite", invite(f"{number // 20:032x}")))
        before = time.monotonic()
        machine.session.get(BRIDGE_ROOT, "Bridge.DeviceName")
        assert time.monotonic() - before < 1
        # Twenty messages in this time are as many as make a thousand in all.
        let_pass(0.1)
        link.read_messages()
        now = invited(dock)
        if now and now != former:
            shown.append(time.monotonic())
        former = now or former
    assert not link.closed
    assert 1 <= len(shown) <= 2, shown
    assert len(shown) == 1 or shown[1] - shown[0] > PACE - 1
    assert number > 1000 and not target.calls


def test_switched_off(machine: Machine) -> None:
    """With Handoff off nothing is shown as sent, and not afterwards either."""
    dock, _target = Dock(machine), Client(machine)
    device = Device()
    link = device.paired_link_to(machine)
    link.call("Peer.Offer", offer())
    dock.offer("From afar")
    machine.set_enabled(False)
    link.send(method_call("Peer.Invite", invite()))
    wait(link.has_ended, "the link to end")
    machine.set_enabled(True)
    machine.port = wait(lambda: machine.session.get(BRIDGE_ROOT, "Bridge.Port"), "a port")
    link = device.paired_link_to(machine)
    link.call("Peer.Offer", offer())
    dock.offer("From afar")
    let_pass(SHOWING)
    assert not invited(dock)
