# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a peer says that is open there, and is not as it should be."""

from __future__ import annotations

import time

from gi.repository import GLib
from buses import BROKER, BusError, let_pass, wait
from everything import INTERVAL, MOST, All, applications, gone, list_open, title
from link import Device, Link
from support import Machine, device_path, refused


def asked(machine: Machine, device: Device, link: Link) -> list[str]:
    """Lists what is open at a device that answers as it likes."""
    count = len(link.calls("List"))
    answer = machine.session.begin(device_path(device.id), "Device.ListActivities")
    wait(lambda: len(link.calls("List")) > count, "List")
    return answer().unpack()[0]


def summary(number: int, **values: GLib.Variant) -> tuple[str, dict[str, GLib.Variant]]:
    """What a peer lists."""
    return f"{number:032x}", {"ActivityType": GLib.Variant("s", "com.example.letter.edit"),
                              "ApplicationId": GLib.Variant("s", "com.example.letter"),
                              "Title": GLib.Variant("s", f"Letter {number}"), **values}


def test_lists_that_break_a_rule(machine: Machine) -> None:
    """A list of a peer that has too many activities, one of them twice, or what is no summary, is refused as a whole, with a reason;
    nothing of it is shown."""
    device = Device()
    link = device.paired_link_to(machine)
    long = GLib.Variant("s", "x" * 5000)
    for listed in ([summary(number) for number in range(1, MOST + 2)], [summary(1), summary(1)], [("no id", {})],
                   [("1" * 32, {})], [summary(1, Title=GLib.Variant("u", 1))], [summary(1, Other=long)]):
        link.answers["List"] = GLib.Variant("(a(sa{sv}))", (listed,))
        with refused("ApplicationFailed"):
            asked(machine, device, link)
        assert not [path for path in machine.session.managed_objects() if "/remote/" in path]
        let_pass(INTERVAL)
    link.answers["List"] = GLib.Variant("(a(sa{sv}))", ([summary(number) for number in range(1, MOST + 1)],))
    former = asked(machine, device, link)
    # A moment later, the answer is the same.
    assert len(former) == MOST and list_open(machine.session, device.id) == former
    let_pass(INTERVAL)
    # Whoever lists something else has closed what is not in it.
    link.answers["List"] = GLib.Variant("(a(sa{sv}))", ([summary(2)],))
    assert [title(machine.session, path) for path in asked(machine, device, link)] == ["Letter 2"]
    assert gone(machine.session, former[0])


def test_what_was_chosen_is_continued(machine: Machine) -> None:
    """What a peer lists by the id of what was chosen, and is of another type, is not continued in its place."""
    targets = applications(machine, ["letter", "film"])
    targets["letter"].hang("ContinueActivity")
    device = Device()
    link = device.paired_link_to(machine)
    link.answers["List"] = GLib.Variant("(a(sa{sv}))", ([summary(number) for number in (1, 2, 3)],))
    link.slow.add("Fetch")
    paths = asked(machine, device, link)
    everything = All(machine.session, paths)
    wait(lambda: len(link.calls("Fetch")) == 2, "what is continued at once to be fetched")
    for listed in ([], [summary(3, ActivityType=GLib.Variant("s", "com.example.film.edit"))]):
        let_pass(INTERVAL)
        link.answers["List"] = GLib.Variant("(a(sa{sv}))", (listed,))
        asked(machine, device, link)
    link.errors["Fetch"] = (f"{BROKER}.Error.OfferWithdrawn", "It has been closed.")
    link.answer_waiting()
    wait(lambda: link.read_messages() and everything.counts[2] == 3, "the end of all")
    assert not targets["film"].calls and everything.get("Results")[2]["ErrorName"].endswith("OfferWithdrawn")


def test_list_that_is_too_long(machine: Machine) -> None:
    """A peer that answers with more than 64 KiB is cut off."""
    device = Device()
    link = device.paired_link_to(machine)
    long = GLib.Variant("s", "x" * 3900)
    link.answers["List"] = GLib.Variant("(a(sa{sv}))", ([summary(number, Other=long) for number in range(1, 20)],))
    with refused("ConnectionUnavailable"):
        asked(machine, device, link)
    assert link.has_ended()


def test_peer_that_lists_again_and_again(machine: Machine) -> None:
    """A peer is told once a second what is open, and an older one is said to be too old."""
    applications(machine, ["letter"])["letter"].offer("A letter")
    device = Device()
    link = device.paired_link_to(machine)
    (listed,) = link.call("Peer.List").unpack()
    assert [about["Title"] for _id, about in listed] == ["A letter"]
    begin, times = time.monotonic(), 0
    for _attempt in range(1000):
        try:
            link.call("Peer.List")
            times += 1
        except BusError as error:
            assert error.short_name == "LimitsExceeded"
    assert times <= (time.monotonic() - begin) / INTERVAL + 1
    let_pass(INTERVAL)
    link.call("Peer.List")
    link.errors["List"] = ("org.freedesktop.DBus.Error.UnknownMethod", "There is no such method.")
    with refused("NotSupported", containing=("too old",)):
        asked(machine, device, link)
