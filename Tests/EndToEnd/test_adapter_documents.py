# SPDX-License-Identifier: LGPL-2.1-or-later
"""Documents that viewers show go on on another machine, with the real programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from gi.repository import GLib
from buses import let_pass, wait
from clients import Dock
from screen import Screen
from support import Machine
from test_excluded_applications import exclude
from viewers import ADAPTER, READING, VIEWERS, Desktop, installed

Desktops = tuple[Desktop, Desktop]
pytestmark = pytest.mark.desktop


@pytest.fixture
def desktops(machines: tuple[Machine, Machine], tmp_path: Path) -> Iterator[Desktops]:
    """Two paired machines with displays."""
    if what := installed("Xvfb", *VIEWERS):
        pytest.skip(f"{what}: meson-helpers/install-packages desktop")
    folders = [tmp_path / machine.name for machine in machines]
    for folder in folders:
        folder.mkdir()
    both = [Desktop(machine, Screen(folder)) for machine, folder in zip(machines, folders)]
    yield both[0], both[1]
    for desktop in both:
        desktop.close()


def continued(desktops: Desktops, title: str) -> tuple[str, str, str]:
    """Continues what is offered by this title, and returns what came of it."""
    dock = Dock(desktops[1].machine)
    dock.continue_offer(dock.offer(title))
    return dock.outcome()


@pytest.mark.smoke
@pytest.mark.parametrize("program", VIEWERS)
def test_page_goes_on(desktops: Desktops, program: str) -> None:
    """What is read on one machine goes on in the same viewer of the other, at the page that was reached when it was
    continued, whatever page it was at when it was offered."""
    desk, lap = desktops
    here, there = VIEWERS[program](desk), VIEWERS[program](lap)
    path, copy = desk.document("Thesis.pdf"), lap.document("Thesis.pdf")
    desk.start_adapter()
    lap.start_adapter()
    here.open(path, 2)
    dock = Dock(lap.machine)
    offer = dock.offer("Thesis.pdf")
    assert dock.offers[offer]["ActivityType"] == READING and dock.offers[offer]["ApplicationId"] == here.id
    here.turn(4)
    here.shown(path, 4)
    dock.continue_offer(offer)
    assert dock.outcome() == (ADAPTER, "", "")
    there.shown(copy, 4)
