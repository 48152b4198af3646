#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What it costs to list all that is open at a device, and to continue several activities by one choice.

Run with a number of samples, it says "everything" and: how many times as long six activities by one ContinueAll take as one by
Continue, both times in milliseconds, until the origin's applications know; and how many milliseconds of processor time the origin's
daemons take to list 24 activities. HANDOFF_BINARIES has the programs.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from types import SimpleNamespace

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "EndToEnd"))

# ruff: noqa: E402
from gi.repository import GLib
from buses import let_pass, wait
from clients import Client, Dock
from everything import INTERVAL, MOST, All, applications, list_open
from support import Machine, pair

SEVERAL = 6


def machine(name: str) -> Machine:
    made = Machine(name)
    made.start_broker()
    made.start_bridge()
    return made


class Origins:
    """The applications at the device where the activities are, in a process of their own, as they are on another machine."""

    def __init__(self, desk: Machine, names: list[str]) -> None:
        command = [sys.executable, __file__, "--origins", desk.address, *names]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=0)
        self.count = 0
        GLib.unix_fd_add_full(GLib.PRIORITY_DEFAULT, self.process.stdout.fileno(), GLib.IOCondition.IN, self.heard)

    def heard(self, descriptor: int, _condition: GLib.IOCondition) -> bool:
        """So many more were told that what they had was continued."""
        told = os.read(descriptor, 4096)
        self.count += len(told)
        return bool(told)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


def live(address: str, names: list[str]) -> None:
    """Is the applications of the origin."""
    place = SimpleNamespace(address=address, sessions=[])
    for name, client in applications(place, names).items():
        client.answers["WasContinued"] = lambda _arguments: os.write(1, b".") and None
        client.offer(name)
    GLib.MainLoop().run()


def worked(one: Machine) -> float:
    """For how many milliseconds the daemons have had a processor."""
    total = 0
    for program in ("handoffd", "handoff-bridge"):
        with open(f"/proc/{one.processes[program].pid}/schedstat", encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total / 1e6


def times(desk: Machine, lap: Machine, samples: int) -> tuple[float, float, float]:
    """How long six take and one does, and the ratio: the medians."""
    names = [f"one{number}" for number in range(SEVERAL)]
    origins = Origins(desk, names)
    _targets = applications(lap, names)
    dock = Dock(lap)
    current = dock.offer(names[-1])
    rows = []
    for _sample in range(samples):
        known = origins.count
        begin = time.monotonic()
        dock.continue_offer(current)
        wait(lambda known=known: origins.count == known + 1, "one to be continued")
        one = time.monotonic() - begin
        paths = list_open(lap.session, desk.device_id)
        begin = time.monotonic()
        everything = All(lap.session, paths)
        wait(lambda known=known: origins.count == known + 1 + SEVERAL, "all to be continued")
        several = time.monotonic() - begin
        assert everything.results()
        rows.append((several * 1000, one * 1000, several / one))
        let_pass(INTERVAL)
    origins.end()
    several, one, ratio = (statistics.median(column) for column in zip(*rows))
    return several, one, ratio


def listing(desk: Machine, lap: Machine, samples: int) -> float:
    """The processor time of the origin for a list, in milliseconds: the median."""
    for number in range(MOST // 3):
        client = Client(desk, f"com.example.many{number}", (f"com.example.many{number}.edit",))
        for letter in range(3):
            client.offer(f"A letter of some length, number {letter}")
    let_pass(INTERVAL)
    costs = []
    for _sample in range(samples):
        before = worked(desk)
        assert len(list_open(lap.session, desk.device_id)) == MOST
        costs.append(worked(desk) - before)
        let_pass(INTERVAL)
    return statistics.median(costs)


def main(samples: int) -> None:
    desk, lap = machine("open-desk"), machine("open-lap")
    pair(desk, lap)
    several, one, ratio = times(desk, lap, samples)
    cost = listing(desk, lap, samples)
    for made in (desk, lap):
        made.stop()
        made.remove()
    print(f"everything {ratio:.2f} {several:.2f} {one:.2f} {cost:.3f}")


if __name__ == "__main__":
    if sys.argv[1] == "--origins":
        live(sys.argv[2], sys.argv[3:])
    else:
        main(int(sys.argv[1]))
