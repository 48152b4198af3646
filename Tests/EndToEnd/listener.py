# SPDX-License-Identifier: LGPL-2.1-or-later
"""Hears what is said on the bus of a machine, to find what must not be there or to count what is."""

from __future__ import annotations

import subprocess

from buses import BUS, wait
from gi.repository import GLib
from support import Machine


def stay_on_bus(machine: Machine) -> None:
    """Has programs that are started from now on say on the bus what they have for the broker."""
    name = "HANDOFF_STAY_ON_BUS"
    machine.environment[name] = "1"
    machine.session.call("/org/freedesktop/DBus", f"{BUS}.UpdateActivationEnvironment",
                         GLib.Variant("(a{ss})", ({name: "1"},)), destination=BUS)


class Listener:
    """Hears all that is said on the bus of a machine."""

    def __init__(self, machine: Machine) -> None:
        self.path = machine.folder / "heard.text"
        with open(self.path, "wb") as file:
            self.process = subprocess.Popen(["dbus-monitor", "--address", machine.address], stdout=file,
                                            stdin=subprocess.DEVNULL)
        wait(lambda: "NameAcquired" in self.path.read_text(errors="replace"), "the listener")

    def close(self) -> str:
        """Ends it, and returns what it has heard."""
        self.process.terminate()
        self.process.wait()
        return self.path.read_text(errors="replace")
