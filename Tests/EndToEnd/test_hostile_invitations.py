# SPDX-License-Identifier: LGPL-2.1-or-later
"""A peer that sends what it should not, or too much of it: it is shown as sent at the pace that is allowed, or not."""

from __future__ import annotations

import time

import pytest
from gi.repository import GLib
from buses import BRIDGE_ROOT, let_pass, wait
from clients import APPLICATION_ID, Client, Dock
from link import SOME_ID, Device, method_call, offer
from pairing import discoverable
from sending import PACE, invited, wait_until_invited
from support import Machine, refused
from test_peer import fetched, serve_fetch

OTHER_ID = "f" * 32
# As long as an invitation takes to be shown, many times over: what is invited to is shown here already.
SHOWING = 0.25


def invite(activity: str = SOME_ID) -> GLib.Variant:
    """The arguments of Invite."""
    return GLib.Variant("(s)", (activity,))


@pytest.mark.parametrize(("arguments", "error"), [
    (invite(OTHER_ID), "OfferWithdrawn"), (invite("../.."), "InvalidArgs"), (invite(SOME_ID.upper()), "InvalidArgs"),
    (invite(""), "InvalidArgs"), (GLib.Variant("(u)", (1,)), "InvalidArgs"), (None, "InvalidArgs"),
    (GLib.Variant("(ss)", (SOME_ID, SOME_ID)), "InvalidArgs")])
def test_what_is_not_its_offer(machine: Machine, arguments: GLib.Variant | None, error: str) -> None:
    """An invitation to anything but what the peer offers is refused by name, and nothing is shown as sent."""
    dock, _target = Dock(machine), Client(machine)
    link = Device().paired_link_to(machine)
    link.call("Peer.Offer", offer())
    dock.offer("From afar")
    with refused(error):
        link.call("Peer.Invite", arguments)
    let_pass(SHOWING)
    assert not invited(dock)
    link.call("Peer.Invite", invite())
    wait_until_invited(dock, "From afar")


def test_what_another_peer_offers(machine: Machine) -> None:
    """A peer cannot send what another peer offers, nor what is offered here."""
    dock, own = Dock(machine), Client(machine).offer("Mine")
    link, other = Device().paired_link_to(machine), Device().paired_link_to(machine)
    link.call("Peer.Offer", offer())
    dock.offer("From afar")
    for activity in (SOME_ID, own.id):
        with refused("OfferWithdrawn"):
            other.call("Peer.Invite", invite(activity))
    let_pass(SHOWING)
    assert not invited(dock)


def test_what_is_withdrawn(machine: Machine) -> None:
    """What a peer has withdrawn or replaced it cannot send, and an invitation that waits ends with its offer."""
    dock, _target = Dock(machine), Client(machine)
    link = Device().paired_link_to(machine)
    link.call("Peer.Offer", offer())
    link.call("Peer.Withdraw", invite())
    with refused("OfferWithdrawn"):
        link.call("Peer.Invite", invite())
    link.call("Peer.Offer", offer())
    link.call("Peer.Invite", invite())
    wait_until_invited(dock, "From afar")
    link.call("Peer.Offer", offer(OTHER_ID, Title=GLib.Variant("s", "Other")))
    link.call("Peer.Invite", invite(OTHER_ID))
    link.call("Peer.Offer", offer())
    with refused("OfferWithdrawn"):
        link.call("Peer.Invite", invite(OTHER_ID))
    dock.offer("From afar")
    # Until an invitation that waits for its turn would be shown.
    let_pass(PACE + 0.3)
    assert not invited(dock)


def test_unpaired_link(machine: Machine) -> None:
    """A stranger can send nothing."""
    discoverable(machine)
    link = Device().link_to(machine)
    link.hello(paired=False)
    with refused("AccessDenied"):
        link.call("Peer.Invite", invite())


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


def test_in_the_middle_of_continuing(machine: Machine) -> None:
    """What is being continued is not shown as sent, and the continuation goes on; afterwards it can be sent again."""
    dock, target = Dock(machine), Client(machine)
    link = Device().paired_link_to(machine)
    link.call("Peer.Offer", offer())
    path = dock.offer("From afar")
    target.hang("ContinueActivity")
    dock.continue_offer(path)
    serve_fetch(link, fetched(Revision=GLib.Variant("t", 1)))
    target.wait_for("ContinueActivity")
    for _ in range(3):
        link.call("Peer.Invite", invite())
    let_pass(SHOWING)
    assert not invited(dock) and dock.offers[path]["State"] == "continuing"
    target.unanswered[0].return_value(GLib.Variant("(b)", (True,)))

    def finished() -> list[tuple[str, str, str]]:
        link.read_messages()
        return dock.finished()

    assert wait(finished, "an outcome") == [(APPLICATION_ID, "", "")]
    link.call("Peer.Invite", invite())
    wait_until_invited(dock, "From afar")
    assert len(target.called("ContinueActivity")) == 1


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
