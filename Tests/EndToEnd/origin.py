# SPDX-License-Identifier: LGPL-2.1-or-later
"""A device that offers an activity with a document, and sends that byte by byte as a test wants."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

from gi.repository import GLib
from buses import ROOT, wait
from clients import ACTIVITY_TYPE, APPLICATION_ID, Client, Dock
from link import SOME_ID, Device, Link, offer
from stranger import frame, shown
from support import Machine, start_machine

TITLE = "From afar"
TEXT_TYPE = "text/plain"


def start_reader(machines: list[Machine], name: str = "lap", **environment: str) -> Machine:
    """A machine on which it is known what kinds of files there are, as on any desktop."""
    machine = Machine(name)
    machines.append(machine)
    machine.environment["XDG_DATA_DIRS"] += ":/usr/share"
    machine.environment |= environment
    machine.start_broker("--verbose")
    machine.start_bridge()
    return machine


def folder(machine: Machine) -> Path:
    """Where received documents are placed, unless the user keeps downloads elsewhere."""
    return Path(machine.environment["HOME"], "Handoff")


def files(machine: Machine) -> dict[str, bytes]:
    """What is in that folder, hidden files too."""
    place = folder(machine)
    return {path.name: path.read_bytes() for path in place.iterdir() if path.is_file()} if place.exists() else {}


def parts(machine: Machine) -> list[Path]:
    """What is on its way."""
    place = folder(machine)
    return list(place.glob(".handoff-*.part")) if place.exists() else []


class Origin:
    """The other end of a link, whose user has a document open."""

    def __init__(self, machine: Machine, content: bytes = b"Dear reader", name: str = "Letter.txt",
                 content_type: str = TEXT_TYPE, **about: GLib.Variant) -> None:
        self.machine = machine
        self.content = content
        self.device = Device()
        self.link = self.device.paired_link_to(machine)
        self.dock = Dock(machine)
        about = {"Name": GLib.Variant("s", name), "Size": GLib.Variant("t", len(content))} | about
        self.link.answers["OpenDocument"] = GLib.Variant("(aya{sv})", (b"", about))
        activity = {"ActivityType": GLib.Variant("s", ACTIVITY_TYPE), "ApplicationId": GLib.Variant("s", APPLICATION_ID),
                    "Team": GLib.Variant("s", APPLICATION_ID), "Title": GLib.Variant("s", TITLE),
                    "Revision": GLib.Variant("t", 1),
                    "DocumentURL": GLib.Variant("s", "file:///home/other/" + GLib.uri_escape_string(name, None, False)),
                    "DocumentType": GLib.Variant("s", content_type)}
        self.link.answers["Fetch"] = GLib.Variant("(a{sv})", (activity,))
        self.link.call("Peer.Offer", offer(DocumentType=GLib.Variant("s", content_type)))
        self.path = self.dock.offer(TITLE)

    @property
    def checked(self) -> bytes:
        """The document as it is sent, with its checksum."""
        return self.content + hashlib.sha256(self.content).digest()

    def begin(self, **options: str) -> Link:
        """Has it continued, and connects for the document that is asked for."""
        self.dock.continue_offer(self.path, **options)
        return self.connect()

    def connect(self, times: int = 1) -> Link:
        calls = wait(lambda: (calls := self.link.calls("OpenDocument")) and len(calls) >= times and calls,
                     "OpenDocument")
        token = bytes(calls[-1].get_body().unpack()[1])
        connection = Link(self.machine)
        connection.knock(lambda exchange: shown(token, exchange, self.device.id), kind=2)
        connection.shake(self.device.identity)
        assert connection.take(1) == b"\x01"
        return connection

    def send(self, connection: Link, data: bytes | None = None, ends: bool = True) -> None:
        """Sends the document, or something else, in frames of many sizes."""
        data = self.checked if data is None else data
        # The other side may be slow where much runs beside it.
        connection.socket.settimeout(60)
        for start in range(0, len(data), 200_000):
            connection.send_bytes(frame(data[start:start + 200_000]))
        if ends:
            connection.send_bytes(frame(b""))

    def outcome(self) -> tuple[str, str]:
        """The name of the error, without its family, and the message; what is asked meanwhile is answered."""
        def finished() -> Any:
            self.link.read_messages()
            return self.dock.finished()

        _application, error, message = wait(finished, "ContinueFinished", 20)[0]
        return error.rpartition(".")[2], message

    def deliver(self, **options: str) -> tuple[str, str]:
        """Has it continued, sends everything, and waits for the outcome."""
        self.send(self.begin(**options))
        return self.outcome()


def handed(client: Client) -> str:
    """The path of the document that an application was handed."""
    activity = client.wait_for("ContinueActivity").arguments.get_child_value(0).unpack()
    return GLib.filename_from_uri(activity["DocumentURL"])[0]
