# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is not offered any more is not sent; and what peers did take, the user can see."""

from __future__ import annotations

import struct

from gi.repository import GLib
from buses import ROOT, BusError, wait
from clients import Client, Dock
from link import Device
from streams import Continuation
from support import Machine, pair
from test_announcements import fake_clock


def let_time_pass(machine: Machine, seconds: int) -> None:
    """For the broker of this machine, which has a clock of its own, so much time passes at once."""
    with open(machine.folder / "clock", "r+b") as clock:
        clock.write(struct.pack("ll", 0, seconds))
    # Its timers go by the kernel's clock. Any call wakes it up.
    machine.session.get(ROOT, "Manager.Version")


def test_streams_to_what_is_long_not_offered(machine_list: list[Machine]) -> None:
    """Five minutes after an activity ceased to be offered no peer opens a stream to its application any more."""
    desk, lap = Machine("desk"), Machine("lap")
    machine_list += [desk, lap]
    clock = fake_clock(desk)
    # The kernel takes no more of a file than there is.
    (desk.folder / "clock").write_bytes(struct.pack("ll", 0, 0))
    desk.environment |= clock
    for machine in (desk, lap):
        machine.start_broker()
        for name in clock:
            machine.environment.pop(name, None)
        machine.start_bridge()
    pair(desk, lap)
    continuation = Continuation(desk, lap)
    dock = Dock(lap)
    continuation.activity.resign_current()
    # The five minutes begin when it is withdrawn, which may be after the answer.
    wait(lambda: not dock.offers, "the offer to go")
    let_time_pass(desk, 290)
    ends = continuation.open()
    let_time_pass(desk, 310)
    for end in (*continuation.open(), *ends):
        end.close()
    let_time_pass(desk, 320)

    def is_refused() -> bool:
        try:
            ends = continuation.open()
        except BusError as error:
            return error.short_name == "UnknownObject"
        # The end of those before has not been seen yet.
        for end in ends:
            end.close()
        return False

    wait(is_refused, "streams to be refused")
    assert not continuation.origin.streams


def test_log_is_not_flooded(machine_list: list[Machine]) -> None:
    """However often a peer fetches, the log gets twenty lines about it in a minute, and one that says how often more."""
    desk = Machine("desk")
    machine_list.append(desk)
    clock = fake_clock(desk)
    (desk.folder / "clock").write_bytes(struct.pack("ll", 0, 0))
    desk.environment |= clock
    desk.start_broker()
    for name in clock:
        desk.environment.pop(name, None)
    desk.start_bridge()
    client = Client(desk)
    activity = client.offer("A letter")
    link = Device().paired_link_to(desk)
    wait(lambda: link.calls("Offer"), "the offer")

    def fetch_as(number: int) -> None:
        link.call("Peer.Fetch", GLib.Variant("(ss)", (activity.id, f"{number:032x}")))

    for number in range(100):
        fetch_as(number)
    wait(lambda: client.get(ROOT, "Manager.FetchesByDevice")[0]["Fetches"] == 100, "the fetches")
    assert desk.log("handoffd").count("other continues “A letter”") == 20
    let_time_pass(desk, 61)
    fetch_as(100)
    wait(lambda: desk.log("handoffd").count("other continues “A letter”") == 21, "a line again")
    assert desk.log("handoffd").count("other asked for activities, streams or documents 80 times more within the last minute.") == 1
