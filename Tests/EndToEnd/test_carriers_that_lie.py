# SPDX-License-Identifier: LGPL-2.1-or-later
"""Carriers by programs that people have, and carriers that do not do what they say."""

from __future__ import annotations

import os
import shutil
import socket
import threading
from collections.abc import Callable

import pytest
from buses import BRIDGE_ROOT, BusError, wait
from carriers import Carrier, about, carry, connected_to, listen
from streams import Background, Continuation, Counts, receive, send
from support import Machine, case, start_machine, wait_for_link

Machines = tuple[Machine, Machine]


@pytest.mark.parametrize("command", [("socat", "-t", "600", "-", "UNIX-CONNECT:{path}"), ("nc", "-N", "-U", "{path}")],
                         ids=["socat", "nc"])
def test_programs_that_people_have(apart: Machines, command: tuple[str, ...]) -> None:
    """socat and nc bring a link, and streams whose directions end one after the other."""
    if not shutil.which(command[0]):
        pytest.skip(f"there is no {command[0]}")
    desk, lap = apart
    path = lap.folder / "carried"
    listen(lap, path)
    desk.start("handoff", "carry", "lap", "--", *(word.format(path=path) for word in command))
    wait_for_link(desk, lap)
    assert about(desk, lap.device_id, "ConnectedAddress") == f"by {command[0]}"
    here, there = Continuation(desk, lap).open()
    sending = Background(lambda: send(there, 5 << 20))
    receiving = Background(lambda: receive(here))
    assert receiving.result() == (5 << 20, sending.result())
    sending, receiving = Background(lambda: send(here, 1 << 20)), Background(lambda: receive(there))
    assert receiving.result() == (1 << 20, sending.result())


def between(machine: Machine) -> socket.socket:
    """A connection that is carried to a machine."""
    ours, theirs = socket.socketpair()

    def is_taken() -> bool:
        try:
            carry(machine.session, theirs.fileno())()
        except BusError as error:
            # Five a second come from all carriers.
            assert error.short_name == "LimitsExceeded", error
            return False
        return True

    wait(is_taken, "the connection to be taken")
    theirs.close()
    return ours


def cut_after(machine: Machine, count: int, is_forward: bool) -> socket.socket:
    """A connection that is carried to a machine, and cut after so many bytes of one direction."""
    far, (ours, theirs) = between(machine), socket.socketpair()

    def pass_on(source: socket.socket, target: socket.socket, left: int) -> None:
        try:
            while left and (piece := source.recv(min(left, 1 << 16))):
                target.sendall(piece)
                left -= len(piece)
        except OSError:
            pass
        for end in (far, theirs):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    for source, target, is_counted in ((theirs, far, is_forward), (far, theirs, not is_forward)):
        threading.Thread(target=pass_on, args=(source, target, count if is_counted else 1 << 40), daemon=True).start()
    return ours


def test_carrier_that_cuts(apart: Machines) -> None:
    """Wherever a carrier cuts what it carries, nothing is left of it, and the next one brings the link."""
    desk, lap = apart
    counts = Counts(desk, lap)
    for count in (1, 23, 24, 25, 60, 200, 500, 1000):
        for is_forward in (True, False):
            with case(count, is_forward):
                calls = []

                def connect() -> socket.socket:
                    calls.append(1)
                    return cut_after(lap, count, is_forward)

                carrier = Carrier(desk, connect)
                carrier.register(lap.device_id)
                wait(lambda: calls, "the carrier to be asked")
                carrier.close()
    wait(lambda: not desk.connected_to(lap.device_id), "the end of what was cut")
    counts.wait_until_as_before()
    Carrier(desk, lambda: between(lap)).register(lap.device_id)
    wait_for_link(desk, lap)


def test_carrier_that_lies(apart: Machines, machine_list: list[Machine]) -> None:
    """What a carrier hands over that is no connection to the device is told as that, and one that keeps to it is asked, too."""
    desk, lap = apart
    other = start_machine(machine_list, "other")
    listening = socket.create_server(("127.0.0.1", 0))
    twice = between(lap)

    def ended() -> socket.socket:
        ours, theirs = socket.socketpair()
        theirs.close()
        return ours

    def garbage() -> socket.socket:
        ours, theirs = socket.socketpair()
        theirs.sendall(os.urandom(4096))
        theirs.shutdown(socket.SHUT_WR)
        return ours

    lies: dict[str, tuple[Callable[[], socket.socket], str]] = {
        "listening": (lambda: socket.socket(fileno=os.dup(listening.fileno())), "without a connection"),
        "datagrams": (lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0], "datagram"),
        "a file": (lambda: socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET), "packets"),
        "closed": (ended, "closed"),
        "garbage": (garbage, "no Handoff answers"),
        "another device": (lambda: between(other), "does not know this device"),
        "ourselves": (lambda: between(desk), "this device itself"),
    }
    for name, (connect, reason) in lies.items():
        with case(name):
            carrier = Carrier(desk, connect)
            carrier.register(lap.device_id, name)
            wait(lambda: reason in about(desk, lap.device_id, "ConnectionError"),
                 f"“{reason}” in “{about(desk, lap.device_id, 'ConnectionError')}”")
            carrier.close()
    # The same socket once more is no connection any longer, and does no harm to anything else.
    first = Carrier(desk, lambda: socket.socket(fileno=os.dup(twice.fileno())))
    first.register(lap.device_id, "twice")
    wait_for_link(desk, lap)
    assert desk.session.get(BRIDGE_ROOT, "Bridge.DeviceId") == desk.device_id
    assert not desk.connected_to(other.device_id)
    twice.close()
    listening.close()
