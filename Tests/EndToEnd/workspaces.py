# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whole workspaces: a display with a window manager, the agent, and all adapters and plugins, as they are installed for a user.

    lap = Workspace(machine_list, "lap", tmp_path)
    lap.start("xterm")
    lap.go_to("xterm")
    lap.keys("ctrl+d")
    lap.close()
"""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

from agents import Desk
from buses import wait
from contacts import PROGRAM as CONTACTS
from contacts import install_contacts
from desktops import install_entry, tell_bus
from editors import end_editors, prepare
from players import end_players, install_adapter, silence
from running_browsers import PATIENCE
from screen import Screen
from settings import PROGRAM as HANDOFF
from support import PROGRAMS, SOURCE, Machine
from terminal import shells_of
from test_desktop_entries import have_bus_start
from vendor import filled, own_id
from viewers import ADAPTER as DOCUMENTS
from viewers import Desktop
from viewers import installed as not_installed
from windows import environment_of

SHELL = own_id("Shell")
NEEDED = ("kwin_x11", "mpv", "zathura", "vim", "xterm", "chromium")


class Workspace(Desktop):
    """A machine with a display, everything that Handoff installs, and the folder “Papers” that it shares with others."""

    def __init__(self, machines: list[Machine], name: str, folder: Path) -> None:
        machine = Desk(name)
        machines.append(machine)
        (folder / name).mkdir()
        screen = Screen(folder / name, "1600x1000")
        machine.environment |= environment_of(machine, screen) | {
            "XDG_SESSION_TYPE": "x11", "SHELL": "/bin/bash", "KWIN_COMPOSE": "N"}
        # What the broker knows of the system is what is there when it starts.
        prepare(machine)
        silence(machine)
        install_adapter(machine)
        install_contacts(machine)
        for service, adapter in ((DOCUMENTS, "documents"), (SHELL, "shell")):
            install_entry(machine, service)
            have_bus_start(machine, service, f"{PROGRAMS}/handoff-adapter {adapter} --verbose")
        described = Path(machine.environment["XDG_DATA_HOME"], "handoff", "adapters")
        described.mkdir(parents=True)
        for template in (SOURCE / "data" / "adapters").iterdir():
            (described / template.stem).write_text(filled(template))
        Path(machine.environment["HOME"], ".bashrc").write_text("PS1='ready> '\n")
        machine.start_broker("--verbose")
        machine.start_bridge()
        super().__init__(machine, screen)
        # Windows of GTK 4 are read by their accessibility, which viewers are told to do without.
        tell_bus(machine, **machine.environment | {"GTK_A11Y": "atspi"})
        self.start("kwin_x11")
        wait(lambda: "KWin" in screen.titles(), "the window manager", PATIENCE)
        machine.start_agent()

    def window(self, title: str) -> str:
        """The window with this in its title."""
        search = ("xdotool", "search", "--onlyvisible", "--name", title)
        return wait(lambda: self.screen.ask(*search).split(), f"the window “{title}”", PATIENCE)[-1]

    def go_to(self, title: str) -> None:
        """Has the window manager give the keyboard to the window with this in its title."""
        self.screen.ask("xdotool", "windowactivate", "--sync", self.window(title))

    def keys(self, *keys: str) -> None:
        self.screen.ask("xdotool", "key", *keys)

    def type(self, text: str) -> None:
        self.screen.ask("xdotool", "type", "--delay", "5", text)

    def tile(self, *titles: str) -> None:
        """Puts windows beside each other, three in a row, so that all are seen in a picture."""
        for number, title in enumerate(titles):
            window = self.window(title)
            x, y = number % 3 * 533, number // 3 * 500
            self.screen.ask("xdotool", "windowactivate", "--sync", window, "windowsize", "--sync", window, "520", "440",
                            "windowmove", window, str(x), str(y))

    def close(self) -> None:
        for program in (HANDOFF, CONTACTS):
            if program in self.machine.processes:
                self.machine.kill(program)
        end_players(self.machine)
        end_editors(self.machine)
        for shell in shells_of(self.machine):
            os.kill(int(shell.name), signal.SIGKILL)
        super().close()


def missing() -> str:
    """What there is not for workspaces; empty if nothing is missing."""
    absent = not_installed(*NEEDED)
    return f"{absent}: meson-helpers/install-packages desktop" if absent else ""
