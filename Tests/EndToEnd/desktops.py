# SPDX-License-Identifier: LGPL-2.1-or-later
"""What desktops need of a machine and its bus, and KRunner on X11."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from gi.repository import GLib
from buses import BUS, let_pass, wait
from gnome_shell import PATIENCE
from screen import Screen
from support import PROGRAMS, SOURCE, Machine
from test_desktop_entries import folder as entries
from vendor import APP_ID, filled, own_entry, own_id


def missing(*programs: str) -> str:
    """Which of these is not there; empty if all are."""
    absent = [program for program in programs if not (shutil.which(program) or Path(program).exists())]
    return f"no {', '.join(absent)}: meson-helpers/install-packages desktop" if absent else ""


def install_data(machine: Machine) -> None:
    """Installs what the desktop finds the search by, and the desktop entry that it is shown under."""
    data = Path(machine.environment["XDG_DATA_HOME"])
    share = Path(machine.folder, "share")
    for place, name in ((data, "gnome-shell/search-providers/{}.search-provider.ini"), (data, "krunner/dbusplugins/{}.desktop"),
                        (share, "gnome-shell/search-providers/{}.search-provider.ini")):
        file = place / name.format(APP_ID)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(filled(SOURCE / "data" / (name.format("org.example.Handoff") + ".in")))
    (share / "applications").mkdir(exist_ok=True)
    (share / "applications" / own_id("Settings.desktop")).write_text(
        "[Desktop Entry]\nType=Application\nName=Handoff\nExec=true\nIcon=computer\n")
    machine.environment["XDG_DATA_DIRS"] = f"{share}:/usr/share"


def install_entry(machine: Machine, name: str) -> None:
    """Installs a desktop entry of Handoff itself."""
    entries(machine).mkdir(parents=True, exist_ok=True)
    (entries(machine) / f"{name}.desktop").write_text(own_entry(name, libexecdir=PROGRAMS, bindir=PROGRAMS))


def tell_bus(machine: Machine, **variables: str) -> None:
    """Has programs that the bus starts find the desktop."""
    machine.environment |= variables
    names = (*variables, "HOME", "XDG_DATA_DIRS", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME",
             "XDG_RUNTIME_DIR")
    environment = {name: machine.environment[name] for name in names}
    machine.session.call("/org/freedesktop/DBus", f"{BUS}.UpdateActivationEnvironment",
                         GLib.Variant("(a{ss})", (environment,)), destination=BUS)


class KRunnerProgram:
    """KRunner on a screen of its own."""

    NAME = "org.kde.krunner"

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.screen = Screen(machine.folder)
        tell_bus(machine, DISPLAY=self.screen.display, QT_QPA_PLATFORM="xcb")
        assert machine.run("kbuildsycoca5").returncode == 0
        machine.start("kwin_x11")
        machine.start("dbus-monitor", "--address", machine.address, "path=/org/example/Handoff/Agent/Runner")
        machine.start("krunner")
        wait(lambda: machine.session.owner(self.NAME), "KRunner", PATIENCE)

    def type(self, query: str) -> None:
        """Shows it with this query."""
        self.machine.session.call("/App", f"{self.NAME}.App.query", GLib.Variant("(s)", (query,)),
                                  destination=self.NAME)

    def wait_until_asked(self, query: str) -> None:
        """Waits until it has asked its runners, so that it has an answer, or will wait for it, when something is pressed."""
        wait(lambda: f'string "{query}"' in self.machine.log("dbus-monitor"), "a question to the agent", PATIENCE)

    def press(self, key: str) -> None:
        """Presses a key in its window, which nobody else gives the focus to."""
        self.screen.ask("xdotool", "search", "--sync", "--onlyvisible", "--class", "krunner", "windowfocus", "--sync",
                        "key", key)

    def shoot(self, name: str) -> None:
        """Takes a picture, if somebody wants to look at it, once it has had the time to draw."""
        if "HANDOFF_PICTURES" in os.environ:
            # As long as KRunner moves and fades.
            let_pass(2)
            keep(self.screen.shoot(name))

    def close(self) -> None:
        self.screen.close()


def keep(picture: Path) -> None:
    """Copies a picture to where somebody wants to look at it."""
    if folder := os.environ.get("HANDOFF_PICTURES"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        shutil.copy(picture, folder)
