# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a neighbour on the network may try. Each attack is a function that tries it once and asserts that it was in
vain.

Run as a program with the name of one, a port and the id of the device there, it does that again and again, a line of
output each time, until its standard input ends.
"""

from __future__ import annotations

import os
import select
import socket
import ssl
import struct
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from gi.repository import Gio, GLib
from link import ERROR, SOME_ID, Device, Link, method_call

PATIENCE = 10
# Less than the number of connections a second that a bridge takes.
PAUSE = 0.025
THOUSAND = 1000
REPLACED = 10
UGLY_NAME = "\x1b[31m<b>&amp;</b>\u202eevil\r\n\x07\u2028" + "x" * 5000


@dataclass
class Target:
    """What is attacked."""

    port: int
    device_id: str


def until(link: Link, condition: Callable[[], object], what: str) -> None:
    """Waits without running a main loop, since nothing but this link matters here."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"not within {PATIENCE} s: {what}"
        if not link.closed:
            select.select([link.socket], [], [], 0.1)


def cut_off(link: Link) -> None:
    until(link, link.has_ended, "the connection to be cut off")
    link.close()


def answer(link: Link, message: Gio.DBusMessage) -> str:
    """Sends a call, and returns the name of the error that it is answered with; empty if there is none."""
    serial = link.send(message)
    until(link, lambda: link.answer_to(serial) or link.closed, "an answer")
    found = link.answer_to(serial)
    assert found, "cut off instead of an answer"
    return found.get_error_name() if found.get_message_type() == ERROR else ""


def greeted(target: Target, device: Device, **about: GLib.Variant) -> Link:
    """A link on which both sides have said Hello."""
    link = device.link_to(target)
    about = {"Paired": GLib.Variant("b", True)} | about
    assert not answer(link, method_call("Link.Hello", GLib.Variant("(ua{sv})", (1, about))))
    until(link, lambda: link.calls("Hello"), "Hello")
    (hello,) = link.calls("Hello")
    assert hello.get_body().unpack()[1]["Paired"] is False
    return link


def closed_to(link: Link) -> None:
    """Asserts that nothing meant for peers is open, and that none of it has arrived."""
    assert answer(link, method_call("Peer.Withdraw", GLib.Variant("(s)", (SOME_ID,)))).endswith("AccessDenied")
    assert not link.calls("Offer")
    link.close()


def no_knock(target: Target, _device: Device) -> None:
    link = Link(target)
    link.send_bytes(os.urandom(4096))
    cut_off(link)


def long_knock(target: Target, _device: Device) -> None:
    link = Link(target)
    link.knock(*[os.urandom(16)] * 125)
    cut_off(link)


def echoed_greeting(target: Target, _device: Device) -> None:
    link = Link(target)
    link.send_bytes(link.take(24))
    cut_off(link)


def no_tls(target: Target, _device: Device) -> None:
    link = Link(target)
    link.knock()
    # Not at random: what looks like the head of a record is given time until the rest has come.
    link.send_bytes(b"\xff" * 4096)
    cut_off(link)


def no_messages(target: Target, device: Device) -> None:
    link = device.link_to(target)
    link.send_bytes(b"x" + os.urandom(4095))
    cut_off(link)


def four_gigabytes(target: Target, device: Device) -> None:
    link = greeted(target, device)
    link.send_bytes(b"l\x01\x00\x01" + struct.pack("<III", 0xFFFFFFFF, 77, 0xFFFFFFF0))
    cut_off(link)


def no_certificate(target: Target, _device: Device) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    link = Link(target)
    link.knock()
    link.socket = context.wrap_socket(link.socket)
    until(link, link.has_ended, "the connection to be cut off")
    assert not link.received_bytes
    link.close()


def older_tls(target: Target, device: Device) -> None:
    link = Link(target)
    link.knock()
    device.identity.context.minimum_version = ssl.TLSVersion.TLSv1_2
    device.identity.context.maximum_version = ssl.TLSVersion.TLSv1_2
    try:
        link.shake(device.identity)
    except OSError:
        link.close()
        return
    until(link, link.has_ended, "the connection to be cut off")
    assert not link.received_bytes
    link.close()


def claimed_id(target: Target, device: Device) -> None:
    ids = {key: GLib.Variant("s", target.device_id) for key in ("DeviceId", "Device", "Id", "Certificate", "Sender")}
    closed_to(greeted(target, device, Name=GLib.Variant("s", "lap"), **ids))


def unpair(target: Target, device: Device) -> None:
    link = greeted(target, device, Paired=GLib.Variant("b", False))
    assert answer(link, method_call("Link.Unpair")).endswith("AccessDenied")
    closed_to(link)


def early_unpair(target: Target, device: Device) -> None:
    link = device.link_to(target)
    link.send(method_call("Link.Unpair"))
    cut_off(link)


def ugly_name(target: Target, device: Device) -> None:
    name = GLib.Variant("s", UGLY_NAME)
    closed_to(greeted(target, device, Name=name, Type=name, **{UGLY_NAME[:200]: name}))


def pairing_noise(target: Target, device: Device) -> None:
    link = greeted(target, device, Paired=GLib.Variant("b", False))
    nonce = GLib.Variant("(ay)", (os.urandom(32),))
    assert answer(link, method_call("Pairing.Reveal", nonce)).endswith("PairingFailed")
    cut_off(link)


class Crowd:
    """A thousand sockets from as many addresses, which say nothing, and come back when they are cut off."""

    def __init__(self) -> None:
        self.sockets: dict[int, socket.socket] = {}
        self.poll = select.poll()
        self.number = 0

    def __call__(self, target: Target, _device: Device) -> None:
        for number, _event in self.poll.poll(0)[:REPLACED]:
            self.drop(number)
        while len(self.sockets) < THOUSAND:
            self.add(target)
        assert len(self.sockets) == THOUSAND

    def add(self, target: Target) -> None:
        self.number += 1
        address = f"127.{1 + self.number // 62500 % 250}.{self.number // 250 % 250}.{1 + self.number % 250}"
        one = socket.socket()
        one.bind((address, 0))
        one.setblocking(False)
        one.connect_ex(("127.0.0.1", target.port))
        self.sockets[one.fileno()] = one
        # Not for the greeting: for the end.
        self.poll.register(one, select.POLLRDHUP)

    def drop(self, number: int) -> None:
        self.poll.unregister(number)
        self.sockets.pop(number).close()


ATTACKS: dict[str, Callable[[Target, Device], None]] = {
    "bytes instead of a knock": no_knock,
    "a knock with too many entries": long_knock,
    "our greeting sent back": echoed_greeting,
    "bytes instead of TLS": no_tls,
    "bytes instead of messages": no_messages,
    "a message of 4 GiB": four_gigabytes,
    "no certificate": no_certificate,
    "TLS 1.2 with a certificate": older_tls,
    "somebody else's id in Hello": claimed_id,
    "Unpair by a stranger": unpair,
    "Unpair before Hello": early_unpair,
    "a name of 5 KB that steers terminals": ugly_name,
    "pairing out of order": pairing_noise,
    "a thousand sockets": Crowd(),
}


def main() -> None:
    name, port, device_id = sys.argv[1:]
    target, device = Target(int(port), device_id), Device()
    # Strangers are welcome: it is for nothing else that they are turned away.
    closed_to(greeted(target, device))
    while not select.select([sys.stdin], [], [], PAUSE)[0]:
        ATTACKS[name](target, device)
        print(name, flush=True)


if __name__ == "__main__":
    main()
