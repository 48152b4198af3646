# SPDX-License-Identifier: LGPL-2.1-or-later
"""What peers leave here before they sleep, or say that they have continued of what was left with them."""

from __future__ import annotations

import time

from gi.repository import GLib
from buses import let_pass, wait
from clients import Client, Dock
from everything import All, list_open
from link import SOME_ID, Device, leave, state
from support import Machine, refused


def test_what_may_be_left(machine: Machine) -> None:
    """What is left has to keep the rules for what is fetched, agree with its summary, and not have expired; a peer leaves something
    once in ten seconds, and what it offers then counts."""
    _there, dock = Client(machine), Dock(machine)
    link = Device().paired_link_to(machine)
    past = GLib.Variant("x", int(time.time() * 1e6) - 1_000_000)
    wrong = [
        {"activity": "x"}, {"Revision": GLib.Variant("t", 4)}, {"Title": GLib.Variant("u", 1)},
        {"ActivityType": GLib.Variant("s", "com.example.other")}, {"ExpirationDate": past},
        {"summary": state(Title=GLib.Variant("s", "x" * 5000))},
    ]
    for values in wrong:
        other = Device().paired_link_to(machine)
        assert leave(other, **values) in ("InvalidArgs", "LimitsExceeded"), values
    assert not dock.offers
    assert leave(link, UserInfo=GLib.Variant("a{sv}", {"bulk": GLib.Variant("s", "x" * 120_000)})) == ""
    path = dock.offer("Letter")
    assert dock.parked == ["Letter"]
    assert leave(link) == "LimitsExceeded"
    link.call("Peer.Offer", GLib.Variant("(sa{sv})", (SOME_ID, state())))
    wait(lambda: path in dock.offers and not dock.parked, "the offer")


def test_what_may_be_left_beside(machine: Machine) -> None:
    """Of what else was open eight are left, of 64 KiB at most, and under ids that are not offered; what is wrong with the state of
    one is found when it is continued, and changes nothing else."""
    there, dock = Client(machine), Dock(machine)
    device = Device()
    link = device.paired_link_to(machine)
    assert leave(link) == ""
    dock.offer("Letter")
    beside = state(Open=GLib.Variant("b", True))
    assert leave(link, summary=beside) == "InvalidArgs", "it is offered already"
    assert leave(link, "d" * 32, summary=state(Open=GLib.Variant("u", 1))) == "InvalidArgs"
    assert leave(link, "d" * 32, summary=beside, UserInfo=GLib.Variant(
        "a{sv}", {"bulk": GLib.Variant("s", "x" * 66_000)})) == "LimitsExceeded"
    assert leave(link, f"{1:032x}", beside, ActivityType=GLib.Variant("s", "com.example.other")) == ""
    for number in range(2, 9):
        assert leave(link, f"{number:032x}", beside) == ""
    assert leave(link, f"{9:032x}", beside) == "LimitsExceeded"
    assert len(dock.offers) == 1
    link.close()
    wait(lambda: not machine.connected_to(device.id), "the end of the link")
    paths = list_open(machine.session, device.id)
    assert [path[-2:] for path in paths] == [SOME_ID[-2:], *(f"0{number}" for number in range(1, 9))]
    every = All(machine.session, paths)
    assert [result["State"] for result in every.results()] == ["continued", "failed", *["continued"] * 7]
    assert len(there.called("ContinueActivity")) == 8


def test_eight_leave_something(machine: Machine) -> None:
    """Of ten peers the last eight have left something; a stranger can leave nothing."""
    _there, dock = Client(machine), Dock(machine)
    soon = GLib.Variant("x", int(time.time() * 1e6) + 3_600_000_000)
    for number in range(10):
        link = Device().paired_link_to(machine)
        # That one goes sooner than the others does not make it the oldest.
        assert leave(link, f"{number:032x}", **({"ExpirationDate": soon} if number == 9 else {})) == ""
        link.close()
    wait(lambda: sorted(int(path[-32:], 16) for path in dock.offers) == list(range(2, 10)), "the last eight")
    assert leave(Device().paired_link_to(machine), Title=GLib.Variant("u", 1)) == "InvalidArgs"
    let_pass(0.3)
    assert len(dock.parked) == 8, "what is refused takes nobody's place"


def test_never_left(machine: Machine) -> None:
    """A peer that says it has continued what was never left with it changes nothing."""
    here = Client(machine)
    activity = here.offer("Letter")
    link = Device().paired_link_to(machine)
    for arguments in ((activity.id, SOME_ID, 1), (SOME_ID, SOME_ID, 1)):
        with refused("UnknownObject"):
            link.call("Peer.ContinuedParked", GLib.Variant("(sst)", arguments))
    assert not here.called("WasContinued")
    assert activity.get("Current")
