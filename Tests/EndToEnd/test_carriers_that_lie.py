# SPDX-License-Identifier: LGPL-2.1-or-later
"""Carriers by programs that people have, and carriers that do not do what they say."""

from __future__ import annotations

import os
import shutil
import socket
import time
from collections.abc import Callable

import pytest
from buses import BRIDGE_ROOT, BusError, wait
from carriers import Carrier, Relay, about, between, listen
from clients import Client, Dock
from streams import Background, Continuation, Counts, receive, send
from support import Machine, case, start_machine, trust_each_other, wait_for_link

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


def test_carrier_that_cuts(apart: Machines) -> None:
    """Wherever a carrier cuts what it carries, nothing is left of it, and the next one brings the link."""
    desk, lap = apart
    counts = Counts(desk, lap)
    for count in (1, 23, 24, 25, 60, 200, 500, 1000):
        for direction in ("forward", "backward"):
            with case(count, direction):
                calls = []

                def connect() -> socket.socket:
                    calls.append(1)
                    return Relay(lap, **{direction: count}).near

                carrier = Carrier(desk, connect)
                carrier.register(lap.device_id)
                wait(lambda: calls, "the carrier to be asked")
                carrier.close()
    wait(lambda: not desk.connected_to(lap.device_id), "the end of what was cut")
    counts.wait_until_as_before()
    Carrier(desk, lambda: between(lap)).register(lap.device_id)
    wait_for_link(desk, lap)


class Cuts:
    """Two machines, the first of which dials the other by a carrier that is cut, while an activity of one is continued on the
    other, again and again."""

    # How often that is done with the same two: the waits grow from link to link that does not last.
    MAXIMUM = 8

    def __init__(self, machines: list[Machine], is_dialler: bool) -> None:
        self.desk, self.lap = start_machine(machines, "desk"), start_machine(machines, "lap")
        trust_each_other(self.desk, self.lap)
        here, there = (self.desk, self.lap) if is_dialler else (self.lap, self.desk)
        self.origin, self.target, self.dock = Client(here), Client(there), Dock(there)
        self.relays: list[Relay] = []

    def run(self, title: str, pieces: int = 1 << 40) -> list[str]:
        """Links the machines by a carrier, cuts its first connection after so many pieces, continues, and ends the link. It fails
        unless the activity comes once, and the link is there again. Returns the errors of the attempts before that."""
        self.relays = []
        before = len(self.target.called("ContinueActivity")), len(self.origin.called("WasContinued"))
        activity = self.origin.offer(title)
        carrier = Carrier(self.desk, lambda: self._connect(pieces))
        carrier.register(self.lap.device_id)
        errors: list[str] = []
        while error := self._continue(title):
            errors.append(error)
            assert len(errors) < 3, errors
        self.origin.wait_for("WasContinued", before[1] + 1)
        activity.invalidate()
        wait(lambda: not self.dock.offers, "the offer to go")
        wait(lambda: len(self.relays) > 1 or not self.relays[0].is_cut, "another connection")
        wait_for_link(self.desk, self.lap)
        # A peer that comes more than five times a second is not let in at once.
        assert len(self.relays) < 3 or "comes too often" in self.lap.log("handoff-bridge")
        carrier.close()
        self.relays[-1].cut()
        wait(lambda: not self.desk.connected_to(self.lap.device_id) and not self.lap.connected_to(self.desk.device_id),
             "the end of the link")
        # Whatever is said again for safety has been said by now.
        assert len(self.target.called("ContinueActivity")) == before[0] + 1
        assert len(self.origin.called("WasContinued")) == before[1] + 1
        for machine in (self.desk, self.lap):
            assert all(process.poll() is None for process in machine.processes.values())
        return errors

    def _connect(self, pieces: int) -> socket.socket:
        self.relays.append(Relay(self.lap) if self.relays else Relay(self.lap, pieces=pieces))
        return self.relays[-1].near

    def _continue(self, title: str) -> str:
        """Continues what is offered, and returns the error with which that has failed; empty if it has not."""
        before = len(self.dock.finished())
        try:
            self.dock.continue_offer(self.dock.offer(title))
        except BusError as error:
            return error.short_name
        _, error, _ = wait(lambda: self.dock.finished()[before:], "the continuation to end")[0]
        return error.rpartition(".")[2]


@pytest.mark.parametrize("backward", range(985, 1066, 16))
def test_first_link_that_is_cut(apart: Machines, backward: int) -> None:
    """Two devices that trust each other and were never linked are linked by the next connection when the first was cut within
    Hello, so that only one of them knows that they were."""
    desk, lap = apart
    relays: list[Relay] = []

    def connect() -> socket.socket:
        relays.append(Relay(lap) if relays else Relay(lap, backward=backward))
        return relays[-1].near

    Carrier(desk, connect).register(lap.device_id)
    wait(lambda: len(relays) > 1, "another connection")
    wait_for_link(desk, lap)


@pytest.mark.long
@pytest.mark.parametrize("is_dialler", [True, False], ids=["offered where it is dialled", "offered at the other end"])
def test_carrier_that_cuts_at_each_message(machine_list: list[Machine], is_dialler: bool) -> None:
    """At whichever message of the opening, the handshake, Hello or a continuation a carrier is cut, the next connection brings
    the link, nothing is left of the former, and the activity is continued once."""
    number, pieces, cut = 0, 1, 0
    while number < pieces:
        if number % Cuts.MAXIMUM == 0:
            cuts = Cuts(machine_list, is_dialler)
            # They know each other from a link before.
            assert cuts.run("undisturbed") == []
            pieces = max(pieces, cuts.relays[0].passed)
            counts = Counts(cuts.desk, cuts.lap)
        with case(number):
            began = time.monotonic()
            errors = cuts.run(f"cut after {number}", number)
            cut += cuts.relays[0].is_cut and len(cuts.relays) > 1
            print(f"{number} of {pieces}: {len(cuts.relays)} connections, {time.monotonic() - began:.1f} s, {errors}")
            counts.wait_until_as_before()
        number += 1
    # How many pieces there are is not the same each time.
    assert cut >= pieces * 3 // 4, f"{cut} of {pieces} connections were cut"


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
