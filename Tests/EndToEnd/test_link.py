# SPDX-License-Identifier: LGPL-2.1-or-later
"""What other devices send that they should not: it is refused or cut off, and everyone else is served on."""

from __future__ import annotations

import itertools
import os
import random
import ssl
import struct

import pytest
from gi.repository import Gio, GLib
from buses import BRIDGE, BRIDGE_ROOT, BROKER, BUS, ROOT, wait
from clients import APPLICATION_ID, Activity, Client, Dock
from link import CONTINUATION, SOME_ID, Device, Link, fetch, method_call, offer
from support import Machine, case, refused


def assert_serves(machines: tuple[Machine, Machine]) -> None:
    """The two machines still hand over, which shows that nobody else was disturbed."""
    desk, lap = machines
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    origin.offer("After all that", UserInfo={"fine": GLib.Variant("b", True)})
    dock.continue_offer(dock.offer("After all that"))
    assert target.wait_for("ContinueActivity").arguments.unpack()[0]["UserInfo"] == {"fine": True}
    assert dock.outcome() == (APPLICATION_ID, "", "")


def test_stranger_gets_no_certificate(machines: tuple[Machine, Machine]) -> None:
    """A stranger that connects gets 24 bytes, different each time, and no certificate."""
    desk, _lap = machines
    greetings = set()
    for knocks in ([], [b"x" * 16], [bytes([number]) * 16 for number in range(62)]):
        link = Link(desk)
        greeting = link.knock(*knocks)
        assert len(greeting) == 24 and greeting.startswith(b"HANDOFF1")
        greetings.add(greeting)
        link.send_bytes(b"\x16\x03\x01\x02\x00\x01")
        link.wait_until_closed()
        assert not link.received_bytes
    assert len(greetings) == 3
    with pytest.raises(OSError):
        Device().link_to(desk)
    assert_serves(machines)


def test_stranger_gets_nothing(machines: tuple[Machine, Machine]) -> None:
    """A stranger may say Hello while the machine is discoverable; it gets no offer and can fetch nothing."""
    desk, _lap = machines
    activity = Client(desk).offer("Secret", UserInfo={"secret": GLib.Variant("s", "x")})
    desk.session.set(BRIDGE_ROOT, "Bridge.Discoverable", GLib.Variant("b", True))
    link = Device().link_to(desk)
    link.hello(paired=True)
    for member, arguments in (("Offer", offer()), ("Withdraw", GLib.Variant("(s)", (SOME_ID,))),
                              ("Fetch", GLib.Variant("(ss)", (activity.id, CONTINUATION))),
                              ("Continued", GLib.Variant("(s)", (CONTINUATION,))),
                              ("OpenStream", GLib.Variant("(s)", (CONTINUATION,)))):
        with refused("AccessDenied"):
            link.call(f"Peer.{member}", arguments)
    with refused("AccessDenied"):
        link.call("Link.Unpair")
    # What is offered later has gone to the peer, and come back to be continued, before this ends.
    assert_serves(machines)
    assert not link.calls("Offer")
    (hello,) = link.calls("Hello")
    assert "Name" in hello.get_body().unpack()[1], "strangers read the name while discoverable"
    assert hello.get_body().unpack()[1]["Paired"] is False


GARBAGE = {
    "HTTP": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "zeros": bytes(4096),
    "ones": b"\xff" * 4096,
    "noise": random.Random(1).randbytes(65536),
    "one byte": b"\x01",
}
BEFORE_TLS = GARBAGE | {
    "TLS with a broken length": b"\x16\x03\x01\xff\xff" + bytes(65535),
    "a bare message": b"l\x01\x00\x01" + bytes(60),
}


def test_garbage_before_tls(machines: tuple[Machine, Machine]) -> None:
    """Bytes that begin no connection of ours are cut off."""
    desk, _lap = machines
    desk.session.set(BRIDGE_ROOT, "Bridge.Discoverable", GLib.Variant("b", True))
    for (kind, data), knocks in itertools.product(BEFORE_TLS.items(), (False, True)):
        with case(kind, "after a knock" if knocks else "at once"):
            link = Link(desk)
            if knocks:
                link.knock()
            link.send_bytes(data)
            link.wait_until_closed()
    assert_serves(machines)


def test_no_certificate_is_no_device(machines: tuple[Machine, Machine]) -> None:
    """A connection without a client certificate, or with an older TLS, is cut off."""
    desk, _lap = machines
    desk.session.set(BRIDGE_ROOT, "Bridge.Discoverable", GLib.Variant("b", True))
    for version in (ssl.TLSVersion.TLSv1_3, ssl.TLSVersion.TLSv1_2):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.maximum_version = version
        link = Link(desk)
        link.knock()
        try:
            link.socket = context.wrap_socket(link.socket)
        except OSError:
            continue
        link.wait_until_closed()
    assert_serves(machines)


def message_bytes(body_length: int = 0, fields_length: int = 0, *, endian: bytes = b"l", kind: int = 1,
                  version: int = 1) -> bytes:
    """The first sixteen bytes of a message, which say how long it is."""
    order = "<" if endian == b"l" else ">"
    return endian + bytes([kind, 0, version]) + struct.pack(f"{order}III", body_length, 1, fields_length)


AFTER_TLS = {kind: data for kind, data in GARBAGE.items() if len(data) >= 16} | {
    "a body of 4 GiB": message_bytes(body_length=0xFFFFFFFF),
    "a body of 128 MiB": message_bytes(body_length=128 << 20),
    "a body of 1 MiB": message_bytes(body_length=1 << 20),
    "header fields of 4 GiB": message_bytes(fields_length=0xFFFFFFF0),
    "header fields of 64 MiB": message_bytes(fields_length=64 << 20),
    "version 2": message_bytes(version=2),
    "no byte order": message_bytes(endian=b"x"),
    "type 0": message_bytes(kind=0) + bytes(16),
    "type 9": message_bytes(kind=9) + bytes(16),
}


@pytest.mark.parametrize("after_hello", [False, True])
def test_garbage_after_tls(machines: tuple[Machine, Machine], after_hello: bool) -> None:
    """Bytes that are no message, or one far too long, end the link at once, also that of a peer."""
    desk, _lap = machines
    desk.session.set(BRIDGE_ROOT, "Bridge.Discoverable", GLib.Variant("b", not after_hello))
    for kind, data in AFTER_TLS.items():
        with case(kind):
            link = Device().paired_link_to(desk) if after_hello else Device().link_to(desk)
            link.send_bytes(data)
            link.wait_until_closed()
    assert_serves(machines)


def test_flood_of_connections(machines: tuple[Machine, Machine]) -> None:
    """Hundreds of connections at once are not too many: the excess is dropped, and peers are served."""
    desk, _lap = machines
    links = [Link(desk) for _number in range(300)]
    assert_serves(machines)
    for link in links:
        link.close()
    assert desk.session.owner(BRIDGE)


FORGERIES = ("destination", "destination of the bus", "sender", "path", "path of the broker", "signal", "no reply wanted",
             "serial used again", "no interface")


def test_forged_header(machines: tuple[Machine, Machine]) -> None:
    """A message with a header field that no bridge of ours sends is not passed on: the peer is cut off."""
    desk, _lap = machines
    origin = Client(desk)
    activity = origin.offer("A letter")
    for forgery in FORGERIES:
        with case(forgery):
            link = Device().paired_link_to(desk)
            link.send(forged(forgery, link, desk, origin, activity))
            link.wait_until_closed()
    assert not origin.called("WasContinued")
    assert_serves(machines)


def forged(forgery: str, link: Link, desk: Machine, origin: Client, activity: Activity) -> Gio.DBusMessage:
    """A message to fetch this activity, with something in its header that is not so."""
    message = fetch(activity.id)
    if forgery == "destination":
        message.set_destination(origin.name)
    elif forgery == "destination of the bus":
        message.set_destination("org.freedesktop.DBus")
    elif forgery == "sender":
        message.set_sender(desk.session.owner(BRIDGE))
    elif forgery == "path":
        message = method_call("Peer.Fetch", message.get_body(), path=origin.path)
    elif forgery == "path of the broker":
        message = method_call("Peer.Fetch", message.get_body(), path=f"{ROOT}/peers/{desk.device_id}")
    elif forgery == "signal":
        message = Gio.DBusMessage.new_signal("/", f"{BROKER}.Peer", "Withdraw")
        message.set_body(GLib.Variant("(s)", (SOME_ID,)))
    elif forgery == "no reply wanted":
        message.set_flags(Gio.DBusMessageFlags.NO_REPLY_EXPECTED)
    elif forgery == "serial used again":
        origin.hang("WillSave")
        link.send(fetch(activity.id))
        message.set_serial(link.last_serial)
    elif forgery == "no interface":
        message.set_header(Gio.DBusMessageHeaderField.INTERFACE, None)
    return message


def test_other_interfaces_are_closed(machine: Machine) -> None:
    """A peer can call nothing but what is meant for links."""
    link = Device().paired_link_to(machine)
    for member in ("Manager.CreateActivity", "PeerManager.AddPeer", "Bridge.Trust", "Device.Pair",
                   "Application.ContinueActivity", "RemoteActivity.Continue", f"{BUS}.Properties.GetAll",
                   f"{BUS}.Introspectable.Introspect", f"{BUS}.ObjectManager.GetManagedObjects", f"{BUS}.Peer.Ping",
                   f"{BUS}.Hello"):
        with case(member), refused("AccessDenied"):
            link.call(member)
    link.call("Peer.Release", GLib.Variant("(s)", (CONTINUATION,)))


def descriptor_messages() -> list[Gio.DBusMessage]:
    """Messages with a descriptor in them, openly and hidden in variants."""
    hidden = GLib.Variant("v", GLib.Variant("a{sv}", {"x": GLib.Variant("h", 0)}))
    messages = [method_call("Peer.Offer", offer(Title=GLib.Variant("h", 0))),
                method_call("Peer.Offer", offer(Unknown=hidden)),
                method_call("Peer.Withdraw", GLib.Variant("(h)", (0,))),
                method_call("Link.Hello", GLib.Variant("(ua{sv})", (1, {"Name": GLib.Variant("h", 0)})))]
    announced = method_call("Peer.Offer", offer())
    announced.set_unix_fd_list(Gio.UnixFDList.new_from_array([os.dup(0)]))
    return [*messages, announced]


def test_descriptors_do_not_cross(machines: tuple[Machine, Machine]) -> None:
    """A message with a file descriptor in it, variants included, is refused or cut off."""
    desk, _lap = machines
    dock, _target = Dock(desk), Client(desk)
    for number, message in enumerate(descriptor_messages()):
        with case(number):
            link = Device().paired_link_to(desk)
            serial = link.send(message)
            answer = wait(lambda: link.answer_to(serial) or link.closed, "an error or the end")
            if not link.closed:
                assert answer.get_error_name(), "a descriptor was accepted"
            link.close()
    assert not dock.offers
    assert_serves(machines)
