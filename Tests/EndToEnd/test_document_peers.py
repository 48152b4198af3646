# SPDX-License-Identifier: LGPL-2.1-or-later
"""Peers that ask for documents and do not keep to the rules, and what ends the sending."""

from __future__ import annotations

import fcntl
import signal
import sys
import termios
import time

import pytest
from gi.repository import GLib
from asker import MUCH, Asker, document, receive, stopped_after
from buses import wait
from clients import Client
from link import CONTINUATION, Device, Link
from stranger import frame
from streams import Counts
from support import Machine, refused


def waiting_bytes(connection: Link) -> int:
    """How many bytes have come by a connection that nobody has read (tcp(7), SIOCINQ)."""
    return int.from_bytes(fcntl.ioctl(connection.socket.fileno(), termios.FIONREAD, bytes(4)), sys.byteorder)


def test_without_a_continuation(machine: Machine) -> None:
    """Without a continuation, after its release, and for another peer's there is no document."""
    asker = Asker(machine, document(machine))
    with refused("UnknownObject"):
        asker.ask("0" * 32)
    other = Device()
    link = other.paired_link_to(machine)
    with refused("UnknownObject"):
        link.call("Link.OpenDocument", GLib.Variant("(say)", (CONTINUATION, b"")))
    with refused("InvalidArgs"):
        asker.ask("../../etc/passwd")
    asker.release()
    with refused("UnknownObject"):
        asker.ask()


def test_document_on_the_link_itself(machine: Machine) -> None:
    """OpenDocument of Peer is not supported on a link, and a token on the wrong side is refused."""
    asker = Asker(machine, document(machine))
    with refused("NotSupported", containing=("org.example.Handoff.Link",)):
        asker.link.call("Peer.OpenDocument", GLib.Variant("(s)", (CONTINUATION,)))
    with refused("InvalidArgs"):
        asker.link.call("Link.OpenDocument", GLib.Variant("(say)", (CONTINUATION, bytes(16))))


def test_fetch_while_a_document_is_on_its_way(machine: Machine) -> None:
    """The activity can be fetched again while its document is on its way."""
    asker = Asker(machine, document(machine, bytes(MUCH)))
    connection = stopped_after(asker)
    assert asker.fetch()["Title"] == "Letter"
    connection.close()


def test_peer_that_writes(machine: Machine) -> None:
    """A peer that writes where nothing is to be written, and one that ends before everything is there, get no further."""
    asker = Asker(machine, document(machine, bytes(MUCH)))
    connection = stopped_after(asker)
    connection.send_bytes(frame(b""))
    connection.close()
    wait(lambda: machine.log("handoffd").count("The document was not brought over") == 1, "the end")
    small = Asker(machine, document(machine, b"small", "Small.odt"), Client(machine, "com.example.other"))
    connection, _ = small.open()
    assert receive(connection).document == b"small"
    connection.send_bytes(frame(b"thanks") + frame(b""))
    wait(lambda: machine.log("handoffd").count("The document was not brought over") == 2, "the end")


@pytest.mark.long
@pytest.mark.parametrize("size", [MUCH, 5])
def test_peer_that_stops(machine: Machine, size: int) -> None:
    """A peer that reads nothing more, or never acknowledges what it has, is given up after a minute."""
    counts = Counts(machine)
    asker = Asker(machine, document(machine, bytes(size)))
    connection = stopped_after(asker)
    # The kernel takes some more for a while, as long as it has room.
    taken, begin = waiting_bytes(connection), time.monotonic()

    def is_over() -> bool:
        nonlocal taken, begin
        if (now := waiting_bytes(connection)) != taken:
            taken, begin = now, time.monotonic()
        return asker.link.read_messages() and asker.in_log("The document was not brought over")

    wait(is_over, "the end", 80)
    assert 55 < time.monotonic() - begin < 65
    connection.close()
    asker.link.close()
    asker.origin.close()
    counts.wait_until_as_before()


@pytest.mark.parametrize("program", ["handoffd", "handoff-bridge"])
def test_killed_in_the_middle(machine: Machine, program: str) -> None:
    """If a daemon is killed while a document is sent, the peer sees that it is broken."""
    asker = Asker(machine, document(machine, bytes(MUCH)))
    connection = stopped_after(asker)
    machine.kill(program, signal.SIGKILL)
    assert receive(connection).is_broken
    connection.close()
    asker.link.close()
    (machine.start_broker if program == "handoffd" else machine.start_bridge)()
