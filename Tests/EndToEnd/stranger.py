# SPDX-License-Identifier: LGPL-2.1-or-later
"""A peer that speaks the protocol of streams byte by byte."""

from __future__ import annotations

import hashlib
import hmac
import socket
import struct

from gi.repository import GLib
from buses import wait
from clients import Activity, Client
from link import CONTINUATION, Device, Link
from support import Machine


class Stranger:
    """A peer that is no bridge of ours, continues an activity of the machine, and opens streams to it."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.origin = Client(machine)
        self.activity: Activity = self.origin.offer("Contacts", SupportsContinuationStreams=True)
        self.device = Device()
        # How often each reason is in the log.
        self.refusals: dict[str, int] = {}
        self.link = self.device.paired_link_to(machine)
        self.fetch()

    def fetch(self) -> None:
        self.link.call("Peer.Fetch", GLib.Variant("(ss)", (self.activity.id, CONTINUATION)))

    def ask(self, token: bytes = b"", continuation: str = CONTINUATION) -> bytes:
        """Asks for a stream, and gives back the token."""
        reply = self.link.call("Link.OpenStream", GLib.Variant("(say)", (continuation, token)))
        return bytes(reply.unpack()[0])

    def knock(self, token: bytes, device_id: str = "") -> Link:
        """Connects, and shows this token, in the name of this device."""
        connection = Link(self.machine)
        connection.knock(lambda exchange: shown(token, exchange, device_id or self.device.id), kind=2)
        return connection

    def open(self) -> tuple[Link, socket.socket]:
        """A stream: this end, as it is on the network, and the application's."""
        connection = self.knock(self.ask())
        connection.shake(self.device.identity)
        assert connection.take(1) == b"\x01"
        wait(lambda: self.origin.streams, "DidReceiveStream")
        end = self.origin.streams.pop(0)
        end.settimeout(5)
        return connection, end


def shown(token: bytes, exchange: bytes, device_id: str) -> bytes:
    """What a dialler shows of a token."""
    text = b"handoff stream 2" + exchange + bytes.fromhex(device_id)
    return hmac.new(token, text, hashlib.sha256).digest()[:16]


def frame(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data
