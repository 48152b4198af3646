# SPDX-License-Identifier: LGPL-2.1-or-later
"""How long a page takes to go on in the browser of another machine.

The first figure is ours: from Continue until the browser there is asked to open the page, with a browser on either side that
answers at once. The others, with a real browser on both sides, are all of it: until the page there is scrolled alike.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "EndToEnd"))

# ruff: noqa: E402
from gi.repository import GLib  # noqa: F401
from buses import wait
from clients import Dock
from running_browsers import Site, running
from support import Machine, pair, start_machine
from test_adapter_browser import handled, offered, scrolled
from test_adapter_browser_host import PAGE, handled as taken, host


@contextmanager
def two_machines() -> Iterator[tuple[Machine, Machine]]:
    machines: list[Machine] = []
    try:
        pair(start_machine(machines, "desk"), start_machine(machines, "lap"))
        yield machines[0], machines[1]
    finally:
        for machine in machines:
            machine.stop()


def timed(action: Callable[[], object]) -> float:
    """How long it takes, in milliseconds."""
    begin = time.perf_counter()
    action()
    return (time.perf_counter() - begin) * 1000


def ours(times: int) -> list[float]:
    samples = []
    with two_machines() as (desk, lap), host(desk) as first, host(lap) as second:
        dock = Dock(lap)
        first.show("A page")
        path = taken(dock, "A page")
        for number in range(1, times + 1):

            def go_on() -> None:
                dock.continue_offer(path)
                asked = first.asked("save", number)
                first.send("answer", id=asked["id"], url=PAGE, place={"y": 250})
                second.asked("open", number)

            samples.append(timed(go_on))
            second.send("answer", id=second.asked("open", number)["id"], done=True)
            wait(lambda: len(dock.finished()) == number, "the end of a continuation")
    return samples


def whole(program: str, times: int) -> list[float]:
    samples = []
    site = Site()
    try:
        with two_machines() as (desk, lap), running(desk, program, f"{site.address}/one") as first, \
                running(lap, program, f"{site.address}/two") as second:
            dock = Dock(lap)
            path = offered(dock, "Page one")
            handled(dock, path, program)
            for number in range(1, times + 1):
                first.scroll(1000 + number, "/one")

                def go_on() -> None:
                    dock.continue_offer(path)
                    wait(lambda: scrolled(second, "/one") == 1000 + number, "the page to be scrolled alike")

                samples.append(timed(go_on))
                second.evaluate("void location.replace('/gone')", "/one")
    finally:
        site.close()
    return samples


def say(what: str, samples: list[float]) -> None:
    print(f"{what}: median {statistics.median(samples):.1f} ms, least {min(samples):.1f}, most {max(samples):.1f}"
          f" ({len(samples)} times)")


def main() -> None:
    times, programs = int(sys.argv[1]), sys.argv[2:]
    say("ours, until the browser is asked to open the page", ours(times))
    for program in programs:
        say(f"{program}, until the page is scrolled alike", whole(program, max(3, times // 10)))
    # What a test would leave to its runner.
    os._exit(0)


main()
