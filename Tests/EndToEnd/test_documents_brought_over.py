# SPDX-License-Identifier: LGPL-2.1-or-later
"""Documents from one machine to another, with both of our daemons on both."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest
from buses import wait
from clients import Client, Dock
from origin import files, parts
from streams import Counts
from support import Machine, wait_for_link

# So much that it is not there before a test has done something else.
MUCH = 4 << 30


class Moving:
    """A document of one machine, whose activity is continued on another."""

    def __init__(self, here: Machine, there: Machine, data: bytes = b"", size: int = 0) -> None:
        self.there = there
        self.path = Path(here.environment["HOME"], "Brief an Mutter.bin")
        self.path.write_bytes(data)
        if size:
            os.truncate(self.path, size)
        os.utime(self.path, (1_600_000_000, 1_600_000_000))
        self.origin, self.target, self.dock = Client(here), Client(there), Dock(there)
        self.origin.offer("Letter", DocumentURL=self.path.as_uri())
        self.offer = self.dock.offer("Letter")
        self.dock.continue_offer(self.offer)

    def end(self) -> None:
        """Waits for the outcome, and ends the applications and the dock."""
        self.dock.outcome()
        for session in (self.origin, self.target, self.dock):
            session.close()

    def arrived(self, timeout: float = 20) -> Path:
        """Waits for the document, and returns where the application is told that it is."""
        assert self.dock.outcome(timeout)[1:] == ("", "")
        activity = self.target.wait_for("ContinueActivity").arguments.unpack()[0]
        return Path(unquote(urlparse(activity["DocumentURL"]).path))

    def wait_until_moving(self) -> None:
        wait(lambda: parts(self.there) and parts(self.there)[0].stat().st_size > 1 << 20, "some of the document")


@pytest.mark.parametrize("dialled_by", ["origin", "target"])
@pytest.mark.parametrize("size", [0, 1, 3_000_000])
def test_document_moves(machines: tuple[Machine, Machine], size: int, dialled_by: str) -> None:
    """A document is the same on the other machine, whichever of them has dialled the link, and nothing is left open."""
    desk, lap = machines
    here, there = (desk, lap) if dialled_by == "origin" else (lap, desk)
    # What is watched from the first document on stays.
    Moving(here, there, b"first").end()
    counts = Counts(here, there)
    data = os.urandom(size)
    moving = Moving(here, there, data)
    path = moving.arrived()
    assert path.read_bytes() == data and path.stat().st_mtime == 1_600_000_000
    assert path.is_relative_to(there.environment["HOME"]) and path.name.startswith("Brief an Mutter")
    moving.end()
    counts.wait_until_as_before()


def test_file_that_changes_on_its_way(machines: tuple[Machine, Machine]) -> None:
    """A file that changes while it is sent is a clear failure on the other machine, where nothing is left of it."""
    desk, lap = machines
    moving = Moving(desk, lap, size=MUCH)
    moving.wait_until_moving()
    with moving.path.open("ab") as file:
        file.write(b"more")
    _, name, message = moving.dock.outcome(60)
    assert name and message
    wait(lambda: not files(lap), "nothing to be left")


@pytest.mark.parametrize("machine", ["origin", "target"])
@pytest.mark.parametrize("program", ["handoffd", "handoff-bridge"])
def test_killed_while_it_moves(machines: tuple[Machine, Machine], machine: str, program: str) -> None:
    """Whichever daemon is killed while a document moves, nothing has its name, and the next one arrives."""
    desk, lap = machines
    moving = Moving(desk, lap, size=MUCH)
    moving.wait_until_moving()
    victim = desk if machine == "origin" else lap
    os.truncate(moving.path, 0)
    victim.kill(program, signal.SIGKILL)
    # What has not begun again by itself fails, or ends with the broker.
    if victim is desk or program == "handoff-bridge":
        wait(moving.dock.finished, "the outcome", 60)
        assert moving.dock.outcome()[1]
    (victim.start_broker if program == "handoffd" else victim.start_bridge)()
    wait_for_link(desk, lap)
    wait(lambda: not files(lap), "nothing to be left")
    for session in (moving.origin, moving.target, moving.dock):
        session.close()
    assert Moving(desk, lap, b"next").arrived().read_bytes() == b"next"
