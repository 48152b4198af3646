# SPDX-License-Identifier: LGPL-2.1-or-later
"""Who may do what: everyone their own, and nothing that is for the daemons alone."""

from __future__ import annotations

import itertools

from gi.repository import GLib
from buses import BRIDGE_ROOT, BROKER, BUS, ROOT, BusError, properties, wait
from clients import ACTIVITY_TYPE, Client, Dock
from support import Machine, case, refused

SOME_ID = "0123456789abcdef" * 2
SOME_DEVICE = "0123456789abcdef" * 4
PEER_CALLS = [
    ("Offer", GLib.Variant("(sa{sv})", (SOME_ID, {"ActivityType": GLib.Variant("s", "x")}))),
    ("Withdraw", GLib.Variant("(s)", (SOME_ID,))),
    ("Invite", GLib.Variant("(s)", (SOME_ID,))),
    ("Fetch", GLib.Variant("(ss)", (SOME_ID, SOME_ID))),
    ("Continued", GLib.Variant("(s)", (SOME_ID,))),
    ("Release", GLib.Variant("(s)", (SOME_ID,))),
    ("OpenStream", GLib.Variant("(s)", (SOME_ID,))),
    ("OpenDocument", GLib.Variant("(s)", (SOME_ID,)))]


def test_what_others_may_read_of_an_activity(machine: Machine) -> None:
    """Of another client's activity one may read type, title, application and Current, and nothing else."""
    activity = Client(machine).create(Title="Readable", UserInfo={"secret": GLib.Variant("s", "x")})
    other = Client(machine, "com.example.other")
    readable = {"ActivityType": ACTIVITY_TYPE, "ApplicationId": "com.example.editor", "Current": False,
                "Title": "Readable"}
    for name, value in readable.items():
        assert other.get(activity.path, f"Activity.{name}") == value
    for name in ("UserInfo", "WebpageURL", "DocumentURL", "Delegate", "NeedsSave", "Keywords"):
        with refused("AccessDenied"):
            other.get(activity.path, f"Activity.{name}")
    all_values = {name: value.unpack() for name, value in other.get_all(activity.path, "Activity").items()}
    assert all_values == readable
    assert other.managed_objects()[activity.path][f"{BROKER}.Activity"] == readable


def test_what_others_may_not_do_to_an_activity(machine: Machine) -> None:
    """Another client's activity can't be changed or ended."""
    activity = Client(machine).create(Title="Untouched")
    other = Client(machine, "com.example.other")
    update = GLib.Variant("(a{sv})", (properties(Title="x"),))
    for member, arguments in (("BecomeCurrent", None), ("ResignCurrent", None), ("Invalidate", None),
                              ("Update", update), ("AddUserInfoEntries", GLib.Variant("(a{sv})", ({},)))):
        with refused("AccessDenied"):
            other.call(activity.path, f"Activity.{member}", arguments)
    for name, value in properties(Title="x", UserInfo={}, NeedsSave=True, Delegate="/x").items():
        with refused("AccessDenied"):
            other.set(activity.path, f"Activity.{name}", value)
    assert activity.get("Title") == "Untouched"


def test_continuation_belongs_to_its_application(machines: tuple[Machine, Machine]) -> None:
    """The continuation object is for the application that was handed the activity, and ends by itself."""
    desk, lap = machines
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    origin.offer("A letter")
    target.hang("ContinueActivity")
    dock.continue_offer(dock.offer("A letter"))
    context = target.wait_for("ContinueActivity").arguments.unpack()[1]
    path = context["Continuation"]
    assert {name: value.unpack() for name, value in target.get_all(path, "Continuation").items()} == {
        "ActivityType": ACTIVITY_TYPE, "DeviceId": desk.device_id, "DeviceName": context["DeviceName"],
        "SupportsContinuationStreams": False}
    with refused("AccessDenied"):
        dock.call(path, "Continuation.Release")
    with refused("AccessDenied"):
        dock.get(path, "Continuation.ActivityType")
    with refused("StreamsNotSupported", "NotSupported"):
        target.call(path, "Continuation.OpenStream")
    target.unanswered[0].return_value(GLib.Variant("(b)", (True,)))
    assert dock.outcome()[1] == ""

    def has_ended() -> bool:
        try:
            return not target.get_all(path, "Continuation")
        except BusError:
            return True

    wait(has_ended, "the continuation to end")
    with refused("UnknownObject"):
        target.call(path, "Continuation.Release")
    # What it never had it has not lost.
    with refused("StreamsNotSupported"):
        target.call(path, "Continuation.OpenStream")
    with refused("UnknownObject"):
        dock.call(path, "Continuation.OpenStream")


def test_peers_are_managed_by_the_bridge_alone(machine: Machine) -> None:
    """PeerManager is denied to everyone who does not own the bridge's name."""
    client = Client(machine)
    with refused("AccessDenied"):
        client.call(ROOT, "PeerManager.AddPeer", GLib.Variant("(sa{sv})", (SOME_DEVICE, {})))
    with refused("AccessDenied"):
        client.call(ROOT, "PeerManager.RemovePeer", GLib.Variant("(s)", (SOME_DEVICE,)))


def test_peer_objects_are_denied(machines: tuple[Machine, Machine]) -> None:
    """What the daemons say to each other is denied to everyone else, for real peers too."""
    desk, lap = machines
    client = Client(desk)
    paths = [f"{root}/peers/{device}" for root in (ROOT, BRIDGE_ROOT) for device in (lap.device_id, SOME_DEVICE)]
    for path, (member, arguments) in itertools.product([*paths, f"{BRIDGE_ROOT}/peers"], PEER_CALLS):
        with case(path, member), refused("AccessDenied", "UnknownObject"):
            client.call(path, f"Peer.{member}", arguments)


def test_peer_objects_are_not_listed(machines: tuple[Machine, Machine]) -> None:
    """No peers object appears in GetManagedObjects."""
    desk, _lap = machines
    for root in (ROOT, BRIDGE_ROOT):
        assert not [path for path in desk.session.managed_objects(root) if "/peers" in path]


def test_false_bridge_is_no_bridge(machine: Machine) -> None:
    """A client that calls itself a bridge without owning the name is none; the real one goes on."""
    client = Client(machine)
    reply = client.call("/org/freedesktop/DBus", f"{BUS}.RequestName",
                        GLib.Variant("(su)", ("org.example.Handoff.Bridge", 4)), destination=BUS).unpack()[0]
    assert reply == 3, "the name belongs to the bridge"
    with refused("AccessDenied"):
        client.call(ROOT, "PeerManager.AddPeer", GLib.Variant("(sa{sv})", (SOME_DEVICE, {})))
    assert machine.device_id
