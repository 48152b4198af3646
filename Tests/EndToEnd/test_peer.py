# SPDX-License-Identifier: LGPL-2.1-or-later
"""A peer that keeps to the form and not to the rules: what it may ask for, how much, and what it is told."""

from __future__ import annotations

from gi.repository import Gio, GLib
from buses import HANDOFF_ERROR, wait
from clients import ACTIVITY_TYPE, APPLICATION_ID, Client, Dock
from link import CONTINUATION, SOME_ID, Device, Link, fetch, method_call, offer
from samples import byte_array, nested
from support import Machine, case, refused


BAD_CALLS = [
    ("Offer", offer("not-an-id"), "InvalidArgs"),
    ("Offer", offer(SOME_ID.upper()), "InvalidArgs"),
    ("Offer", GLib.Variant("(sa{sv})", (SOME_ID, {})), "InvalidArgs"),
    ("Offer", offer(ActivityType=GLib.Variant("s", "")), "InvalidArgs"),
    ("Offer", offer(ActivityType=GLib.Variant("u", 1)), "InvalidArgs"),
    ("Offer", offer(ActivityType=GLib.Variant("s", "com.example.\u202eedit")), "InvalidArgs"),
    ("Offer", offer(ActivityType=GLib.Variant("s", "com.example.edit\u2028")), "InvalidArgs"),
    ("Offer", offer(ActivityType=GLib.Variant("s", "com.example\x1b[31m")), "InvalidArgs"),
    ("Offer", offer(ApplicationId=GLib.Variant("s", "com.example.\u202e")), "InvalidArgs"),
    ("Offer", offer(Team=GLib.Variant("s", "com.example.\u2066")), "InvalidArgs"),
    ("Offer", offer(Title=GLib.Variant("as", [])), "InvalidArgs"),
    ("Offer", offer(ApplicationId=GLib.Variant("s", "../../etc")), "InvalidArgs"),
    ("Offer", offer(Revision=GLib.Variant("s", "1")), "InvalidArgs"),
    ("Offer", offer(Since=GLib.Variant("s", "now")), "InvalidArgs"),
    ("Offer", offer(Unknown=byte_array(bytes(5000))), "LimitsExceeded"),
    ("Offer", GLib.Variant("(s)", (SOME_ID,)), "InvalidArgs"),
    ("Withdraw", GLib.Variant("(s)", ("../..",)), "InvalidArgs"),
    ("Fetch", GLib.Variant("(ss)", (SOME_ID, CONTINUATION)), "OfferWithdrawn"),
    ("Fetch", GLib.Variant("(ss)", ("x", CONTINUATION)), "InvalidArgs"),
    ("Fetch", GLib.Variant("(ss)", (SOME_ID, "")), "InvalidArgs"),
    ("Fetch", GLib.Variant("(s)", (SOME_ID,)), "InvalidArgs"),
    ("Continued", GLib.Variant("(s)", (CONTINUATION,)), "UnknownObject"),
    ("Continued", GLib.Variant("(s)", ("x",)), "InvalidArgs"),
    ("Release", GLib.Variant("(s)", ("x",)), "InvalidArgs"),
    ("OpenDocument", GLib.Variant("(s)", (CONTINUATION,)), "NotSupported"),
    ("Explode", None, "UnknownMethod")]


def test_bad_arguments_of_a_peer(machine: Machine) -> None:
    """A peer's call with bad arguments is refused by name; the link stays."""
    dock, _target = Dock(machine), Client(machine)
    for member, arguments, error in BAD_CALLS:
        # Of one that offers again and again the broker is told the latest alone, after a while.
        link = Device().paired_link_to(machine)
        with case(member, arguments):
            with refused(error):
                link.call(f"Peer.{member}", arguments)
            link.call("Peer.Release", GLib.Variant("(s)", (CONTINUATION,)))
    link.call("Peer.Offer", offer())
    dock.offer("From afar")
    # What would have been shown of the others was shown before it.
    assert not [event for event in dock.events if event.member == "InterfacesRemoved"]
    assert len(dock.offers) == 1


def test_peer_has_one_offer(machine: Machine) -> None:
    """A new offer of a peer replaces the former; a flood of them leaves the latest."""
    dock, _target = Dock(machine), Client(machine)
    link = Device().paired_link_to(machine)
    for number in range(100):
        link.send(method_call("Peer.Offer", offer(f"{number:032x}", Title=GLib.Variant("s", f"Number {number}"))))

    def latest() -> bool:
        link.read_messages()
        return dock.titles == ["Number 99"]

    wait(latest, "the latest offer alone")
    added = sum(1 for event in dock.events if event.member == "InterfacesAdded")
    assert added <= 40, f"{added} offers of a flood were shown"


def serve_fetch(link: Link, activity: dict[str, GLib.Variant], times: int = 1) -> None:
    """Answers the next Fetch, the one of this number, with this."""
    link.answers["Fetch"] = GLib.Variant("(a{sv})", (activity,))
    wait(lambda: len(link.calls("Fetch")) >= times, "Fetch")


def fetched(**changes: GLib.Variant) -> dict[str, GLib.Variant]:
    """An activity as a peer sends it."""
    return {"ActivityType": GLib.Variant("s", ACTIVITY_TYPE), "ApplicationId": GLib.Variant("s", APPLICATION_ID),
            "UserInfo": GLib.Variant("a{sv}", {"page": GLib.Variant("u", 1)})} | changes


def test_honest_device_in_another_language(machine: Machine) -> None:
    """A device that keeps to the protocol is served: its offer is continued, and it is told so."""
    dock, target = Dock(machine), Client(machine)
    link = Device().paired_link_to(machine)
    link.call("Peer.Offer", offer())
    dock.continue_offer(dock.offer("From afar"))
    serve_fetch(link, fetched())

    def told() -> bool:
        return bool(link.calls("Continued")) and bool(link.calls("Release"))

    wait(told, "Continued and Release")
    assert target.wait_for("ContinueActivity").arguments.unpack()[0]["UserInfo"] == {"page": 1}
    assert dock.outcome() == (APPLICATION_ID, "", "")
    continuation = link.calls("Fetch")[0].get_body().unpack()[1]
    assert link.calls("Continued")[0].get_body().unpack() == (continuation,)


BREACHES = [
    (fetched(ActivityType=GLib.Variant("s", "com.example.other")), "OfferWithdrawn"),
    (fetched(ApplicationId=GLib.Variant("s", "com.example.other")), "OfferWithdrawn"),
    (fetched(WebpageURL=GLib.Variant("s", "https://evil.example.com/")), "OfferWithdrawn"),
    (fetched(WebpageURL=GLib.Variant("s", "https://evil.example\\@trusted.example/")), "InvalidURL"),
    (fetched(WebpageURL=GLib.Variant("s", "http://2130706433/")), "InvalidURL"),
    ({}, ""),
    (fetched(Title=GLib.Variant("u", 1)), ""),
    (fetched(WebpageURL=GLib.Variant("s", "javascript:alert(1)")), ""),
    (fetched(UserInfo=GLib.Variant("a{sv}", {"x": GLib.Variant("o", "/a")})), ""),
    (fetched(UserInfo=GLib.Variant("a{sv}", {"x": GLib.Variant("(ii)", (1, 2))})), ""),
    (fetched(UserInfo=GLib.Variant("a{sv}", {"x": byte_array(bytes(140_000))})), ""),
    (fetched(UserInfo=GLib.Variant("a{sv}", nested(33))), ""),
    (fetched(UserInfo=GLib.Variant("a{sv}", nested(39))), ""),
    (fetched(UserInfo=GLib.Variant("s", "x")), ""),
    (fetched(Keywords=GLib.Variant("as", ["x" * 300_000])), ""),
    (fetched(UserInfo=GLib.Variant("a{sv}", {"x": GLib.Variant("h", 0)})), "")]


def test_payload_that_breaks_the_rules(machine: Machine) -> None:
    """A payload that breaks the rules, or is another than was offered, never reaches an application."""
    dock, target = Dock(machine), Client(machine)
    link = Device().paired_link_to(machine)
    for number, (activity, error) in enumerate(BREACHES, 1):
        with case(number, activity):
            link.call("Peer.Offer", offer())
            dock.continue_offer(dock.offer("From afar"))
            serve_fetch(link, activity, number)

            def outcome() -> list[tuple[str, str, str]]:
                link.read_messages()
                return dock.finished()[number - 1:]

            _application, name, message = wait(outcome, "an outcome")[0]
            assert name.endswith(error) and name, message
            assert message
            target.wait_for("DidFailToContinueActivity", number)
    assert not target.called("ContinueActivity")


def test_error_of_a_peer_is_translated(machine: Machine) -> None:
    """An error name that a peer has made up becomes ApplicationFailed, its message cut to 256 characters."""
    dock, target = Dock(machine), Client(machine)
    link = Device().paired_link_to(machine)
    link.call("Peer.Offer", offer())
    link.errors["Fetch"] = ("net.example.Evil", "y\x1b" * 1000)
    dock.continue_offer(dock.offer("From afar"))

    def outcome() -> list[tuple[str, str, str]]:
        link.read_messages()
        return dock.finished()

    _application, name, message = wait(outcome, "an outcome")[0]
    assert name == f"{HANDOFF_ERROR}.ApplicationFailed"
    assert len(message) <= 256
    assert "\x1b" not in message
    target.wait_for("DidFailToContinueActivity")


def test_payload_of_a_megabyte_is_no_message(machine: Machine) -> None:
    """An answer of more than a megabyte ends the link, and the continuation fails."""
    dock, _target = Dock(machine), Client(machine)
    link = Device().paired_link_to(machine)
    link.call("Peer.Offer", offer())
    dock.continue_offer(dock.offer("From afar"))
    serve_fetch(link, fetched(Keywords=GLib.Variant("as", ["x" * (2 << 20)])))
    link.wait_until_closed()
    assert dock.outcome(25)[1]


def test_calls_in_flight_are_limited(machine: Machine) -> None:
    """A peer with many calls under way is not read further, and is served when they are answered."""
    origin = Client(machine)
    activity = origin.offer("A letter")
    origin.hang("WillSave")
    link = Device().paired_link_to(machine)
    serials = [link.send(fetch(activity.id)) for _number in range(40)]

    def answered() -> bool:
        return all(link.answer_to(serial) for serial in serials)

    wait(answered, "all the answers", 30)
    bodies = {link.answer_to(serial).get_message_type() for serial in serials}
    assert bodies == {Gio.DBusMessageType.METHOD_RETURN}
    assert len(origin.called("WillSave")) <= 3, "they are read sixteen at a time, and one save serves those"


def test_unpairing_by_the_peer(machine: Machine) -> None:
    """A peer that unpairs is forgotten, its offer goes, and the link is no longer paired."""
    dock, _target = Dock(machine), Client(machine)
    device = Device()
    link = device.paired_link_to(machine)
    link.call("Peer.Offer", offer())
    path = dock.offer("From afar")
    link.call("Link.Unpair")
    dock.wait_until_gone(path)
    wait(lambda: not machine.connected_to(device.id), "the trust to end")
    if not link.closed:
        serial = link.send(method_call("Peer.Offer", offer()))
        answer = wait(lambda: link.answer_to(serial) or link.closed, "an answer or the end")
        assert link.closed or answer.get_error_name()
