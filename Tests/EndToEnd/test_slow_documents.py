# SPDX-License-Identifier: LGPL-2.1-or-later
"""Documents that hardly move: those of peers that mean no good, and those of slow links."""

from __future__ import annotations

import os
import socket
import threading
import time
from pathlib import Path

import pytest
from gi.repository import GLib
from asker import MUCH, Asker, document
from buses import wait
from clients import Client
from origin import Origin, files, handed, start_reader
from stranger import frame
from streams import Background, Counts
from support import Machine

# 64 kbit/s.
SLOW = 8 << 10


@pytest.fixture
def lap(machine_list: list[Machine]) -> Machine:
    return start_reader(machine_list)


@pytest.mark.long
def test_sent_byte_by_byte(lap: Machine) -> None:
    """A document that comes a byte at a time fails after a minute, says that it was too slow, leaves nothing, and the next
    one can be brought over."""
    target = Client(lap)
    origin = Origin(lap, Size=GLib.Variant("t", 1 << 30))
    connection = origin.begin()
    begin = last = time.monotonic()

    def finished() -> bool:
        nonlocal last
        if time.monotonic() - last > 1:
            last = time.monotonic()
            connection.send_bytes(frame(b"x"))
        origin.link.read_messages()
        return bool(origin.dock.finished())

    wait(finished, "the outcome", 80)
    assert 58 < time.monotonic() - begin < 70
    error, message = origin.outcome()
    assert error == "ConnectionUnavailable" and "too slowly" in message and "65.5 kB" in message
    wait(lambda: not files(lap), "the part to be removed")
    target.wait_for("DidFailToContinueActivity")
    wait(lambda: origin.dock.offers[origin.path]["State"] == "available", "the offer")
    origin.dock.events.clear()
    about = {"Name": GLib.Variant("s", "Letter.txt"), "Size": GLib.Variant("t", len(origin.content))}
    origin.link.answers["OpenDocument"] = GLib.Variant("(aya{sv})", (b"", about))
    origin.dock.continue_offer(origin.path)
    origin.send(origin.connect(times=2))
    assert origin.outcome() == ("", "") and Path(handed(target)).read_bytes() == origin.content


def take_slowly(connection: socket.socket, rate: int, over: threading.Event) -> None:
    """Reads so many bytes a second until it is over."""
    begin, count = time.monotonic(), 0
    try:
        while data := connection.recv(max(1, rate // 20)):
            count += len(data)
            if over.wait(max(0, begin + count / rate - time.monotonic())):
                return
    except OSError:
        pass


@pytest.mark.long
def test_taken_byte_by_byte(lap: Machine) -> None:
    """A peer that takes a document a byte at a time is given up within two minutes, and the next one can have it."""
    counts = Counts(lap)
    asker = Asker(lap, document(lap, bytes(MUCH)))
    connection, _ = asker.open()
    begin = time.monotonic()
    over = threading.Event()
    reading = Background(lambda: take_slowly(connection.socket, 800, over))
    wait(lambda: asker.link.read_messages() and asker.in_log("The document was not brought over"), "the end", 140)
    assert 55 < time.monotonic() - begin < 130
    over.set()
    reading.result()
    connection.close()
    small = document(lap, b"small", "Small.odt")
    asker.activity.update(DocumentURL=f"file://{small}")
    asker.fetch()
    assert asker.get().document == b"small"
    asker.link.close()
    asker.origin.close()
    counts.wait_until_as_before()


@pytest.mark.long
@pytest.mark.parametrize("way", ["sent", "taken"])
def test_slow_link(lap: Machine, way: str) -> None:
    """Over a link of 64 kbit/s a document arrives in either direction, acknowledged as late as it is there."""
    content = os.urandom(1_000_000)
    if way == "sent":
        target = Client(lap)
        origin = Origin(lap, content)
        connection = origin.begin()
        begin, place = time.monotonic(), 0

        def finished() -> bool:
            nonlocal place
            end = int((time.monotonic() - begin) * SLOW)
            if place < len(origin.checked) and end - place > 1000:
                connection.send_bytes(frame(origin.checked[place:end]))
                place = end
                if place >= len(origin.checked):
                    connection.send_bytes(frame(b""))
            origin.link.read_messages()
            return bool(origin.dock.finished())

        wait(finished, "the outcome", 160)
        assert origin.outcome() == ("", "") and Path(handed(target)).read_bytes() == content
        assert time.monotonic() - begin > 110
        return
    asker = Asker(lap, document(lap, content))
    connection, _ = asker.open()
    # The peer's machine has it soon, but its user does not before it would have come over such a link.
    end = time.monotonic() + len(content) / SLOW
    wait(lambda: asker.link.read_messages() is not None and time.monotonic() > end, "the link", 160)
    assert not asker.in_log("The document was not brought over")
    received = bytearray()
    connection.socket.settimeout(20)
    while length := int.from_bytes(connection.take(4), "big"):
        while length:
            data = connection.take(min(length, 1 << 16))
            received += data
            length -= len(data)
    assert bytes(received[:-32]) == content
    connection.send_bytes(frame(b""))
    connection.wait_until_closed()
    wait(lambda: asker.in_log("has the document after"), "the acknowledgement")
