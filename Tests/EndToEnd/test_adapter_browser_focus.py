# SPDX-License-Identifier: LGPL-2.1-or-later
"""Browsers with windows on a display: their page is current while the user is in the browser."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator

import pytest
from buses import wait
from clients import Dock
from running_browsers import PATIENCE, Site, running
from screen import Screen
from support import Machine

pytestmark = pytest.mark.desktop

Machines = tuple[Machine, Machine]


class Desktop:
    """A display with a window manager, and another window to go to."""

    def __init__(self, machine: Machine) -> None:
        self.screen = Screen(machine.folder)
        self.environment = os.environ | {"DISPLAY": self.screen.display}
        self.processes: list[subprocess.Popen[bytes]] = []
        machine.environment |= {"DISPLAY": self.screen.display, "GDK_BACKEND": "x11"}
        self.start("kwin_x11")
        wait(lambda: "KWin" in self.screen.titles(), "the window manager", PATIENCE)
        self.start("xmessage", "elsewhere")
        wait(lambda: self.window("xmessage"), "a window", PATIENCE)

    def start(self, *command: str) -> None:
        if shutil.which(command[0]) is None:
            pytest.skip(f"{command[0]} is not installed: meson-helpers/install-packages desktop")
        self.processes.append(subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", *command], env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def window(self, name: str) -> str:
        """The window with this in its title; empty if there is none."""
        return self.screen.ask("xdotool", "search", "--onlyvisible", "--name", name).partition("\n")[0]

    def go_to(self, name: str) -> None:
        self.screen.ask("xdotool", "windowactivate", "--sync", wait(lambda: self.window(name), f"the window {name}"))

    def press(self, key: str) -> None:
        self.screen.ask("xdotool", "key", key)

    def close(self) -> None:
        for process in self.processes:
            process.terminate()
            process.wait()
        self.screen.close()


@pytest.fixture
def desktop(machines: Machines) -> Iterator[Desktop]:
    desktop = Desktop(machines[0])
    yield desktop
    desktop.close()


@pytest.mark.parametrize("program", ["chromium", "firefox-esr"])
def test_focus(machines: Machines, desktop: Desktop, program: str) -> None:
    """The page in front is current while one of the browser's windows has the focus, and no longer when the user has gone to
    another application, or to a tab that shows no page."""
    desk, lap = machines
    site = Site()
    with running(desk, program, f"{site.address}/first"):
        dock = Dock(lap)

        def offered(*titles: str) -> None:
            wait(lambda: dock.titles == list(titles), f"{titles} to be offered", PATIENCE)

        desktop.go_to("Page first")
        offered("Page first")
        desktop.go_to("xmessage")
        offered()
        desktop.go_to("Page first")
        offered("Page first")
        desktop.press("ctrl+t")
        offered()
        desktop.press("ctrl+w")
        offered("Page first")
        desktop.go_to("xmessage")
        offered()
    site.close()
