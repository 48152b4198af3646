# SPDX-License-Identifier: LGPL-2.1-or-later
"""A peer that is no bridge of ours, and what it gets of the clipboard here and says of its own."""

from __future__ import annotations

from gi.repository import GLib
from buses import ROOT, BusError, let_pass, wait
from link import Device, Link, method_call
from played_clipboard import PlayedClipboard
from support import Machine, case, device_path, memory, refused


def about(**values: object) -> GLib.Variant:
    types = {str: "s", list: "as", bool: "b", int: "x"}
    return GLib.Variant("(a{sv})", ({name: GLib.Variant(types[type(value)], value) for name, value in values.items()},))


def fetch(kind: str = "", sent: str = "") -> GLib.Variant:
    return GLib.Variant("(ss)", (kind, sent))


def choose(machine: Machine, mode: str) -> None:
    machine.session.set(ROOT, "Preferences.Clipboard", GLib.Variant("s", mode))


BAD_CALLS = [
    ("ClipboardChanged", about(Types="text/plain"), "InvalidArgs"), ("ClipboardChanged", about(Age=True), "InvalidArgs"),
    ("ClipboardChanged", about(Sent=1), "InvalidArgs"), ("ClipboardChanged", about(Sent="x"), "InvalidArgs"), ("ClipboardChanged", about(Types=["a" * 256]), "InvalidArgs"),
    ("ClipboardChanged", about(Types=[f"a/{number}" for number in range(17)]), "InvalidArgs"),
    ("FetchClipboard", fetch("text/rtf"), "OfferWithdrawn"), ("FetchClipboard", fetch("image/png"), "OfferWithdrawn"),
    ("FetchClipboard", fetch("a" * 10_000), "InvalidArgs"), ("FetchClipboard", fetch("", "x"), "InvalidArgs"),
    ("FetchClipboard", fetch("", "0" * 32), "OfferWithdrawn"), ("FetchClipboard", None, "InvalidArgs")]


def test_what_a_peer_gets(machine: Machine) -> None:
    """A peer gets what is in the clipboard when it asks, and the user can see that; nothing if it asks for what is not there, is muted,
    or the clipboard is off."""
    clipboard = PlayedClipboard(machine)
    clipboard.contents = {"text/plain": b"Hello"}
    device = Device()
    link = device.paired_link_to(machine)
    for member, arguments, error in BAD_CALLS:
        with case(member, arguments), refused(error):
            link.call(f"Peer.{member}", arguments)
    assert link.call("Peer.FetchClipboard", fetch()).unpack()[0] == {
        "Types": ["text/plain"], "Sizes": [5], "Content": list(b"Hello")}
    assert machine.session.get(ROOT, "Manager.RecentFetches")[0]["Kind"] == "clipboard"
    choose(machine, "off")
    with refused("Disabled"):
        link.call("Peer.FetchClipboard", fetch())
    choose(machine, "ask")
    machine.session.set(device_path(device.id), "Device.Muted", GLib.Variant("b", True))
    wait(lambda: is_denied(link), "the mute")


def is_denied(link: Link) -> bool:
    """Whether a peer gets nothing."""
    try:
        link.call("Peer.FetchClipboard", fetch())
    except BusError as error:
        return error.short_name == "AccessDenied"
    return False


def test_flood(machine: Machine) -> None:
    """A peer that says a thousand times that something was copied, and fetches as often, is heard twenty times; its last word
    does not count, and the daemons keep their memory."""
    choose(machine, "follow")
    clipboard = PlayedClipboard(machine)
    clipboard.contents = {"image/png": b"\x89PNG\r\n\x1a\n" + bytes(2_000_000)}
    link = Device().paired_link_to(machine)
    link.call("Peer.ClipboardChanged", about(Types=["text/plain"]))
    link.call("Peer.FetchClipboard", fetch())
    before = memory(machine, "handoffd")
    for _ in range(500):
        link.send(method_call("Peer.ClipboardChanged", about(Types=["text/plain"])))
        link.send(method_call("Peer.FetchClipboard", fetch()))
    with refused("LimitsExceeded"):
        link.call("Peer.FetchClipboard", fetch())
    assert len(clipboard.read) <= 20 and len(clipboard.followed) <= 20
    assert memory(machine, "handoffd") < before + (8 << 20)


def test_what_a_peer_says(machine: Machine) -> None:
    """What a peer says was copied there is followed only if the user wants that, and as what is known here; what it says was sent is asked
    about."""
    clipboard = PlayedClipboard(machine)
    device = Device()
    link = device.paired_link_to(machine)
    link.call("Peer.ClipboardChanged", about(Types=["text/plain", "x/y"]))
    link.call("Peer.ClipboardChanged", about(Types=["x/y", "image/png"], Sent="a" * 32))
    wait(lambda: clipboard.asked, "the question")
    assert clipboard.asked == [(device.id, ["image/png"])] and not clipboard.followed
    choose(machine, "follow")
    link.call("Peer.ClipboardChanged", about(Types=["text/plain", "x/y"], Age=-5))
    wait(lambda: clipboard.followed, "it to follow")
    assert clipboard.followed[0].types == ["text/plain"]
    link.call("Peer.ClipboardChanged", about(Types=["text/plain"], Age=120_000_000))
    link.call("Peer.ClipboardChanged", about(Types=["text/html"], Age=2 ** 63 - 1))
    link.call("Peer.ClipboardChanged", about(Types=["text/html"], Age=-2 ** 63, Other=True))
    wait(lambda: len(clipboard.followed) == 2, "what was copied now, as far as it says")
    let_pass(0.2)
    assert len(clipboard.followed) == 2 and clipboard.followed[1].types == ["text/html"]
