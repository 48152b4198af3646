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
    """An activity of one machine that is continued on another, again and again, by a carrier that cuts its first connection."""

    def __init__(self, desk: Machine, lap: Machine, here: Machine, there: Machine) -> None:
        self.desk, self.lap = desk, lap
        self.origin, self.target, self.dock = Client(here), Client(there), Dock(there)
        self.relays: list[Relay] = []

    def run(self, title: str, pieces: int = 1 << 40) -> str:
        """Links the machines and continues, with the first connection cut after so many pieces, and ends the link. Returns what
        became of it, and fails unless that is as it should be."""
        self.relays = []
        begin = len(self.target.called("ContinueActivity")), len(self.origin.called("WasContinued"))
        activity = self.origin.offer(title)
        carrier = Carrier(self.desk, lambda: self._connect(pieces))
        carrier.register(self.lap.device_id)
        failures: list[str] = []
        while error := self._continue(title):
            failures.append(error)
            assert len(failures) <= 2, failures
        self.origin.wait_for("WasContinued", begin[1] + 1)
        wait_for_link(self.desk, self.lap)
        first, last = self.relays[0], self.relays[-1]
        assert first.is_cut is (len(self.relays) > 1)
        activity.invalidate()
        wait(lambda: not self.dock.offers, "the offer to go")
        carrier.close()
        last.cut()
        wait(lambda: not self.desk.connected_to(self.lap.device_id) and not self.lap.connected_to(self.desk.device_id),
             "the end of the link")
        # What is said twice has been said by now, since the link was there twice.
        assert len(self.target.called("ContinueActivity")) == begin[0] + 1
        assert len(self.origin.called("WasContinued")) == begin[1] + 1
        for machine in (self.desk, self.lap):
            ended = [program for program, process in machine.processes.items() if process.poll() is not None]
            assert not ended, f"{ended} of {machine.name}"
        return f"failed with {', '.join(failures)} before" if failures else "continued at once"

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
        _, error_name, _ = wait(lambda: self.dock.finished()[before:], "the continuation to end")[0]
        return error_name.rpartition(".")[2]


@pytest.mark.long
@pytest.mark.parametrize("is_there", [True, False], ids=["of the other side", "of the side that dials"])
def test_carrier_that_cuts_at_each_message(apart: Machines, is_there: bool) -> None:
    """At whichever message of a link and of a continuation a carrier is cut, the next connection brings the link, the activity is
    continued once, and whoever has asked for it in vain is told so."""
    desk, lap = apart
    cuts = Cuts(desk, lap, *((lap, desk) if is_there else (desk, lap)))
    assert cuts.run("undisturbed") == "continued at once"
    pieces = cuts.relays[0].passed
    counts = Counts(desk, lap)
    uncut = 0
    for number in range(pieces):
        with case(number):
            began = time.monotonic()
            outcome = cuts.run(f"cut at {number}", number)
            uncut += len(cuts.relays) == 1
            print(f"{number} of {pieces}: {outcome}, {len(cuts.relays)} connections, {time.monotonic() - began:.1f} s", flush=True)
    assert uncut <= pieces // 4, f"{uncut} of {pieces} connections were not cut"
    counts.wait_until_as_before()


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
