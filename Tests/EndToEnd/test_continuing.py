# SPDX-License-Identifier: LGPL-2.1-or-later
"""An activity goes on, on another machine."""

from __future__ import annotations


from gi.repository import GLib
from buses import entries, typed
from clients import ACTIVITY_TYPE, Client, Dock, handed_over
from support import Machine, pair, start_machine


def test_goes_on_to_a_third_device(machine_list: list[Machine]) -> None:
    """What was continued on a second machine goes onward from there to a third, with all that came from the first and
    what the second has added; each origin is told once, of the continuation of its own activity."""
    desk, lap, tablet = (start_machine(machine_list, name) for name in ("desk", "lap", "tablet"))
    pair(desk, lap)
    # The first and the third know nothing of each other.
    pair(lap, tablet)
    one, two, three = Client(desk), Client(lap), Client(tablet)
    known = {"Title": "Onward", "WebpageURL": "https://www.example.com/a", "PersistentIdentifier": "letter:1"}
    one.create(**known, UserInfo={"step": GLib.Variant("u", 1)}).become_current()
    near, far = Dock(lap), Dock(tablet)
    near.continue_offer(near.offer("Onward"))
    arrived = handed_over(two.wait_for("ContinueActivity"))
    one.wait_for("WasContinued")
    assert not far.offers
    # As an application does that goes on with it: all that it was handed and may set, and what has come since.
    settable = {name: value for name, value in arrived.items() if name in known}
    two.create(arrived["ActivityType"].unpack(), **settable,
               UserInfo=entries(arrived["UserInfo"]) | {"more": GLib.Variant("s", "x")}).become_current()
    far.continue_offer(far.offer("Onward"))
    onward = handed_over(three.wait_for("ContinueActivity"))
    assert {name: onward[name].unpack() for name in known} == known
    assert onward["ActivityType"].unpack() == ACTIVITY_TYPE
    assert {key: typed(value) for key, value in entries(onward["UserInfo"]).items()} == \
        {"step": ("u", 1), "more": ("s", "x")}
    two.wait_for("WasContinued")
    for client in (one, two):
        assert len(client.called("WasContinued")) == 1
    for client, times in ((one, 0), (two, 1), (three, 1)):
        assert len(client.called("ContinueActivity")) == times
