# SPDX-License-Identifier: LGPL-2.1-or-later
"""A peer that asks for documents, and reads them byte by byte."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from gi.repository import GLib
from buses import wait
from clients import Client
from link import CONTINUATION, Device, Link
from stranger import frame, shown
from support import Machine


# As many bytes as never fit between the two ends: sockets, bridges, and the network.
MUCH = 64 << 20


class Received(NamedTuple):
    """What has come over the connection of a document."""

    data: bytes
    # Whether the origin has ended its direction in order.
    ended: bool

    @property
    def document(self) -> bytes:
        """The document, which has to be there as a whole."""
        assert self.ended and len(self.data) >= 32, f"{len(self.data)} bytes have come, {self.ended=}"
        document, digest = self.data[:-32], self.data[-32:]
        assert hashlib.sha256(document).digest() == digest, "the digest is of something else"
        return document

    @property
    def is_broken(self) -> bool:
        """Whether there is no document, and the connection says so."""
        return not self.ended


class Asker:
    """A peer that is no bridge of ours, has fetched an activity with this document, and asks for it."""

    def __init__(self, machine: Machine, document: Path | str, origin: Client | None = None, **values: Any) -> None:
        self.machine = machine
        self.origin = origin or Client(machine)
        self.activity = self.origin.offer("Letter", DocumentURL=url(document), **values)
        self.device = Device()
        self.link = self.device.paired_link_to(machine)
        self.fetch()

    def fetch(self, continuation: str = CONTINUATION) -> dict[str, Any]:
        reply = self.link.call("Peer.Fetch", GLib.Variant("(ss)", (self.activity.id, continuation)))
        return reply.unpack()[0]

    def release(self) -> None:
        self.link.call("Peer.Release", GLib.Variant("(s)", (CONTINUATION,)))

    def ask(self, continuation: str = CONTINUATION) -> tuple[bytes, dict[str, Any]]:
        """Asks for the document: the token, and what is said about it."""
        reply = self.link.call("Link.OpenDocument", GLib.Variant("(say)", (continuation, b"")))
        token, about = reply.unpack()
        return bytes(token), about

    def connect(self, token: bytes) -> Link:
        connection = Link(self.machine)
        connection.knock(lambda exchange: shown(token, exchange, self.device.id), kind=2)
        connection.shake(self.device.identity)
        assert connection.take(1) == b"\x01"
        return connection

    def open(self) -> tuple[Link, dict[str, Any]]:
        token, about = self.ask()
        return self.connect(token), about

    def get(self) -> Received:
        """The document, which is acknowledged if it has come as a whole."""
        connection, _ = self.open()
        received = receive(connection, answering=self.link)
        if received.ended:
            connection.send_bytes(frame(b""))
            connection.wait_until_closed()
        connection.close()
        return received

    def in_log(self, text: str) -> Any:
        return text in self.machine.log("handoffd")

    def wait_for_log(self, text: str) -> None:
        wait(lambda: self.in_log(text), f"“{text}” in the log")


def url(document: Path | str) -> str:
    return document if isinstance(document, str) else f"file://{quote(bytes(document))}"


def receive(connection: Link, most: int | None = None, seconds: float = 30, answering: Link | None = None) -> Received:
    """Reads frames to the end, or until there are this many bytes; what is asked on a link meanwhile is answered."""
    # A document that may have changed is looked at once more before the end of it comes.
    data, end, connection.patience = bytearray(), time.monotonic() + seconds, seconds
    while time.monotonic() < end:
        try:
            if answering:
                answering.read_messages()
            header = connection.take(4)
            length = int.from_bytes(header, "big")
            if len(header) < 4:
                return Received(bytes(data), False)
            if length == 0:
                return Received(bytes(data), True)
            while length:
                piece = connection.take(min(length, 1 << 16))
                if not piece:
                    return Received(bytes(data), False)
                data += piece
                length -= len(piece)
        except OSError:
            return Received(bytes(data), False)
        if most is not None and len(data) >= most:
            return Received(bytes(data), False)
    raise AssertionError("the document has no end")


def document(machine: Machine, data: bytes = b"Dear Sir", name: str | bytes = "Letter.odt") -> Path:
    """A document in the home of this machine's user, which has been there for long."""
    path = Path(os.fsdecode(os.path.join(os.fsencode(machine.environment["HOME"]), os.fsencode(name))))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, (1_600_000_000, 1_600_000_000))
    return path


def stopped_after(asker: Asker, size: int = 1) -> Link:
    """The connection of a document of which so much has been read."""
    connection, _ = asker.open()
    assert len(receive(connection, size).data) >= size
    return connection
