# SPDX-License-Identifier: LGPL-2.1-or-later
"""What plays in real media players goes on on another machine."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from buses import wait
from clients import Dock
from players import PROGRAMS_OF_PLAYERS, RealPlayer, end_players, missing, start_adapter, start_media_machine, tone
from support import Machine, pair

pytestmark = pytest.mark.desktop

Machines = tuple[Machine, Machine]
# How far what plays may be from where it was, in seconds.
NEAR = 0.2


@pytest.fixture
def media_machines(machine_list: list[Machine]) -> Iterator[Machines]:
    """Two machines that are paired, on both of which the adapter is installed."""
    desk, lap = (start_media_machine(machine_list, name) for name in ("desk", "lap"))
    pair(desk, lap)
    yield desk, lap
    for machine in (desk, lap):
        machine.processes = {name: process for name, process in machine.processes.items() if name not in PROGRAMS_OF_PLAYERS}
        end_players(machine)


def wait_until_continued(dock: Dock) -> None:
    application, error, message = dock.outcome(40)
    assert not error, f"{application}: {message}"


@pytest.mark.smoke
@pytest.mark.skipif(bool(missing("mpv")), reason=missing("mpv"))
def test_mpv(media_machines: Machines) -> None:
    """A file that plays in mpv goes on in mpv on the other machine, where it was to the fifth of a second, and pauses here."""
    desk, lap = media_machines
    film = tone(Path(desk.environment["HOME"], "A film.wav"))
    start_adapter(desk)
    desk.start("mpv", "--no-terminal", "--start=20", str(film))
    here = RealPlayer(desk, "mpv")
    here.wait_for("Playing")
    dock = Dock(lap)
    path = dock.offer("A film.wav")
    assert dock.offers[path]["ApplicationId"] == "mpv"
    begin, before = time.monotonic(), here.position
    dock.continue_offer(path)
    wait_until_continued(dock)
    there = RealPlayer(lap, "mpv")
    there.wait_for("Playing")
    position, passed = there.position, time.monotonic() - begin
    assert there.plays.endswith("/Handoff/A%20film.wav")
    assert before - NEAR <= position <= before + passed + NEAR
    here.wait_for("Paused")
