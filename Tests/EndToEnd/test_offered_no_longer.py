# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is not offered any more is not sent; and what peers did take, the user can see."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from typing import Any

import pytest
from gi.repository import Gio, GLib
from buses import BRIDGE_ROOT, BROKER, BUS, ROOT, BusError, let_pass, wait
from clients import Activity, Client, Dock
from link import CONTINUATION, ERROR, Device, fetch, offer
from streams import Continuation
from support import Machine, pair, refused
from test_announcements import fake_clock

Machines = tuple[Machine, Machine]


def switch_off(_client: Client, _activity: Activity, machine: Machine) -> None:
    machine.set_enabled(False)


def another_is_current(client: Client, _activity: Activity, _machine: Machine) -> None:
    client.offer("Another")


def expire(_client: Client, activity: Activity, _machine: Machine) -> None:
    activity.update(ExpirationDate=int(time.time() * 1_000_000) - 1)


CHANGES: dict[str, Callable[[Client, Activity, Machine], None]] = {
    "it resigned": lambda client, activity, machine: activity.resign_current(),
    "it is not eligible": lambda client, activity, machine: activity.update(EligibleForHandoff=False),
    "it has expired": expire,
    "another is current": another_is_current,
    "it is invalid": lambda client, activity, machine: activity.invalidate(),
    "switched off": switch_off,
}


@pytest.mark.parametrize("what", CHANGES)
def test_withdrawn_while_it_is_saved(machine: Machine, what: str) -> None:
    """What ceases to be offered while it is being saved for a peer is not sent to it."""
    client = Client(machine)
    client.hang("WillSave")
    activity = client.offer("A letter", UserInfo={"secret": GLib.Variant("s", "x")}, SupportsContinuationStreams=True)
    link = Device().paired_link_to(machine)
    wait(lambda: link.calls("Offer"), "the offer")
    serial = link.send(fetch(activity.id))
    client.wait_for("WillSave")
    CHANGES[what](client, activity, machine)
    client.unanswered[0].return_value(GLib.Variant("(a{sv})", ({},)))

    def answered() -> bool:
        return link.answer_to(serial) is not None or link.closed

    wait(answered, "an answer to Fetch")
    if answer := link.answer_to(serial):
        assert answer.get_message_type() == ERROR, "it was sent all the same"
        assert answer.get_error_name().rpartition(".")[2] in ("OfferWithdrawn", "Disabled")
    else:
        assert what == "switched off"
    # Nor has the peer a continuation now, with which it could do more.
    if what != "switched off":
        with refused("UnknownObject"):
            link.call("Peer.Continued", GLib.Variant("(s)", (CONTINUATION,)))
        with refused("UnknownObject"):
            link.call("Link.OpenStream", GLib.Variant("(say)", (CONTINUATION, b"")))
    # As long as a broker takes that goes on with what it was answered.
    let_pass(0.2)
    assert not client.streams and not client.called("WasContinued")
    assert client.get(ROOT, "Manager.RecentFetches") == [] == client.get(ROOT, "Manager.FetchesByDevice")


def test_unpaired_while_it_is_saved(machine: Machine) -> None:
    """Nor is it sent to a device that is no peer any more by then."""
    client, device = Client(machine), Device()
    client.hang("WillSave")
    activity, dock = client.offer("A letter"), Dock(machine)
    link = device.paired_link_to(machine)
    link.call("Peer.Offer", offer())
    path = dock.offer("From afar")
    wait(lambda: link.calls("Offer"), "the offer")
    link.send(fetch(activity.id))
    client.wait_for("WillSave")
    machine.session.call(f"{BRIDGE_ROOT}/devices/{device.id}", "Device.Unpair")
    # With that the broker knows it.
    dock.wait_until_gone(path)
    client.unanswered[0].return_value(GLib.Variant("(a{sv})", ({},)))
    # As long as a broker takes that goes on with what it was answered.
    let_pass(0.2)
    assert client.get(ROOT, "Manager.RecentFetches") == []


def test_offered_again_while_it_is_saved(machine: Machine) -> None:
    """What is offered when it has been saved is sent, whatever there was in between."""
    client = Client(machine)
    client.hang("WillSave")
    activity = client.offer("A letter")
    link = Device().paired_link_to(machine)
    wait(lambda: link.calls("Offer"), "the offer")
    serial = link.send(fetch(activity.id))
    client.wait_for("WillSave")
    activity.resign_current()
    activity.become_current()
    client.unanswered[0].return_value(GLib.Variant("(a{sv})", ({},)))
    wait(lambda: link.answer_to(serial), "an answer to Fetch")
    assert link.answer_to(serial).get_message_type() != ERROR


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


def test_streams_are_told_like_fetches(machines: Machines) -> None:
    """A stream that a peer opens is logged with its name and listed like a fetch, and counted for its device."""
    desk, lap = machines
    continuation = Continuation(desk, lap)
    for _number in range(3):
        for end in continuation.open():
            end.close()
    assert "lap has opened a stream to com.example.editor for “Contacts”" in desk.log("handoffd")
    recent = desk.session.get(ROOT, "Manager.RecentFetches")
    assert [fetch["Kind"] for fetch in recent] == ["stream"] * 3 + ["activity"]
    assert {fetch["DeviceName"] for fetch in recent} == {"lap"}
    (tally,) = desk.session.get(ROOT, "Manager.FetchesByDevice")
    assert (tally["DeviceId"], tally["DeviceName"], tally["Title"]) == (lap.device_id, "lap", "Contacts")
    assert (tally["Fetches"], tally["Streams"], tally["Time"]) == (1, 3, recent[0]["Time"])


def test_fetches_are_told(machines: Machines) -> None:
    """Whoever follows the broker is told at once of what a peer fetches, and of the title of what is current."""
    desk, lap = machines
    follower = desk.connect()
    told: dict[str, Any] = {}

    def changed(*signal: Any) -> None:
        told.update(signal[5].unpack()[1])

    follower.connection.signal_subscribe(BROKER, f"{BUS}.Properties", "PropertiesChanged", None, None,
                                         Gio.DBusSignalFlags.NONE, changed)
    follower.managed_objects()
    continuation = Continuation(desk, lap, title="Contacts")
    wait(lambda: told.get("RecentFetches"), "the fetch")
    assert [fetch["Title"] for fetch in told["RecentFetches"]] == ["Contacts"]
    assert [tally["Fetches"] for tally in told["FetchesByDevice"]] == [1]
    assert told["Title"] == "Contacts"
    continuation.release()
    Client(desk).offer("Letter").update(Title="Another")
    wait(lambda: told["Title"] == "Another", "the title")


def test_no_device_is_pushed_out(machines: Machines) -> None:
    """However often one peer fetches, the last fetch of another one stays to be seen."""
    desk, lap = machines
    Continuation(desk, lap, title="From the lap").release()
    client = Client(desk)
    link = Device().paired_link_to(desk)
    for number in range(12):
        activity = client.offer(f"Letter {number}")
        wait(lambda: len(link.calls("Offer")) > number, "the offer")
        continuation = GLib.Variant("(ss)", (activity.id, f"{number:032x}"))
        link.call("Peer.Fetch", continuation)
    wait(lambda: len(client.get(ROOT, "Manager.RecentFetches")) == 10, "the fetches")
    assert {fetch["DeviceName"] for fetch in client.get(ROOT, "Manager.RecentFetches")} == {"other"}
    tallies = client.get(ROOT, "Manager.FetchesByDevice")
    assert [(tally["DeviceName"], tally["Fetches"]) for tally in tallies] == [("other", 12), ("lap", 1)]
    assert tallies[1]["Title"] == "From the lap"


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
