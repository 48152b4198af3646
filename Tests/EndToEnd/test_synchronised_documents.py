# SPDX-License-Identifier: LGPL-2.1-or-later
"""Documents in a shared folder that are not there yet on the machine that continues."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from buses import wait
from clients import Client, Dock
from origin import files, folder, handed, start_reader
from support import Machine, pair
from test_shared_folders import place, shared

Machines = tuple[Machine, Machine]
CONTENT = bytes(range(256)) * 4096
WRITTEN = 1_700_000_000


@pytest.fixture
def machines(machine_list: list[Machine]) -> Machines:
    """Two machines that share the folder Cloud, which each of them has in another place."""
    desk, lap = start_reader(machine_list, "desk"), start_reader(machine_list, "lap")
    return share(desk, lap)


def share(desk: Machine, lap: Machine) -> Machines:
    pair(desk, lap)
    shared(desk, Cloud=place(desk, "Cloud"))
    shared(lap, Cloud=place(lap, "My cloud"))
    return desk, lap


class Letter:
    """A document in the shared folder of the first machine, which the second continues before it has it."""

    def __init__(self, machines: Machines) -> None:
        desk, lap = machines
        self.lap = lap
        # The sync client has not even made the folder.
        here, self.there = (place(machine, name) / "Papers" / "Letter.txt"
                            for machine, name in ((desk, "Cloud"), (lap, "My cloud")))
        here.parent.mkdir()
        here.write_bytes(CONTENT)
        os.utime(here, (WRITTEN, WRITTEN))
        self.origin, self.target, self.dock = Client(desk), Client(lap), Dock(lap)
        self.origin.offer("Letter", DocumentURL=here.as_uri())
        self.path = self.dock.offer("Letter")
        self.dock.continue_offer(self.path)
        self.target.wait_for("WillContinueActivity")
        wait(lambda: self.offer["State"] == "continuing", "the continuation")

    @property
    def offer(self) -> dict[str, object]:
        return self.dock.offers[self.path]

    @property
    def progress(self) -> list[float]:
        """How far it has been said to be, so far."""
        changes = [event.arguments.unpack()[1] for event in self.dock.events
                   if event.member == "PropertiesChanged" and event.path == self.path]
        return [change["Progress"] for change in changes if "Progress" in change]

    def shown(self, share: float) -> None:
        """Waits until this much is said to be there."""
        wait(lambda: share in self.progress, f"{share} of the document; there was {self.progress}")

    def grow(self, end: int) -> None:
        """The sync client writes the document where it is to be, up to this byte."""
        self.there.parent.mkdir(exist_ok=True)
        with self.there.open("ab") as file:
            file.write(CONTENT[file.tell():end])
        # What is newer than the document and rests is taken for a later state of it.
        time = WRITTEN if end == len(CONTENT) else WRITTEN - 3600
        os.utime(self.there, (time, time))

    def assert_in_its_place(self) -> None:
        """It was continued with the file of this machine's shared folder, and nothing was brought over."""
        assert self.dock.outcome()[1:] == ("", "")
        assert Path(handed(self.target)) == self.there and self.there.read_bytes() == CONTENT
        assert not self.target.called("DidFailToContinueActivity") and len(self.target.called("ContinueActivity")) == 1
        assert not files(self.lap)
        wait(lambda: self.offer["State"] == "available", "the end to be shown")
        shown = [share for share in self.progress if share >= 0]
        assert self.offer["Progress"] == -1 and shown == sorted(shown)


def in_the_background(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_comes_under_another_name(machines: Machines) -> None:
    """A document that a sync client writes under another name and then renames is waited for, and the application that
    continues gets its path in the shared folder of its own machine."""
    letter = Letter(machines)

    def write() -> None:
        letter.there.parent.mkdir()
        temporary = letter.there.with_name(".Letter.txt.~5f3a")
        with temporary.open("wb") as file:
            for start in range(0, len(CONTENT), 65_536):
                file.write(CONTENT[start:start + 65_536])
                file.flush()
        os.utime(temporary, (WRITTEN, WRITTEN))
        temporary.rename(letter.there)

    writer = in_the_background(write)
    letter.assert_in_its_place()
    writer.join()


def test_grows_in_its_place(machines: Machines) -> None:
    """A document that a sync client writes where it is to be is waited for until it is whole, and Progress says meanwhile
    how much of it is there."""
    letter = Letter(machines)
    for part in (0.25, 0.5, 0.75):
        in_the_background(lambda part=part: letter.grow(int(part * len(CONTENT)))).join()
        letter.shown(part)
        assert letter.offer["State"] == "continuing" and not letter.target.called("ContinueActivity")
    in_the_background(lambda: letter.grow(len(CONTENT))).join()
    letter.assert_in_its_place()


def assert_brought_over(letter: Letter) -> None:
    """It has come from the other machine, and what a sync client may still be writing is as it was left."""
    assert letter.dock.outcome()[1:] == ("", "")
    brought = Path(handed(letter.target))
    assert brought == folder(letter.lap) / "Letter.txt" and brought.read_bytes() == CONTENT
    assert letter.there.read_bytes() == CONTENT[:1000] and files(letter.lap) == {"Letter.txt": CONTENT}


@pytest.mark.long
def test_does_not_come_in_a_minute(machines: Machines) -> None:
    """By the clock on the wall too, a document that does not come is brought over after a minute."""
    letter = Letter(machines)
    letter.grow(1000)
    letter.shown(1000 / len(CONTENT))
    wait(letter.dock.finished, "the outcome", 80)
    assert_brought_over(letter)
