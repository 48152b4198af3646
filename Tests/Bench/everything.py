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
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "EndToEnd"))

# ruff: noqa: E402
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


def continued(origins: list[Client]) -> int:
    """How often the applications were told that what they had was continued."""
    return sum(client.members.count("WasContinued") for client in origins)


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
    origins, _targets = applications(desk, names), applications(lap, names)
    for name, client in origins.items():
        client.offer(name)
    dock, clients = Dock(lap), list(origins.values())
    current = dock.offer(names[-1])
    rows = []
    for _sample in range(samples):
        known = continued(clients)
        begin = time.monotonic()
        dock.continue_offer(current)
        wait(lambda known=known: continued(clients) == known + 1, "one to be continued")
        one = time.monotonic() - begin
        paths = list_open(lap.session, desk.device_id)
        begin = time.monotonic()
        everything = All(lap.session, paths)
        wait(lambda known=known: continued(clients) == known + 1 + SEVERAL, "all to be continued")
        several = time.monotonic() - begin
        assert everything.results()
        rows.append((several * 1000, one * 1000, several / one))
        let_pass(INTERVAL)
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
    main(int(sys.argv[1]))
