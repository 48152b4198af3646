# SPDX-License-Identifier: LGPL-2.1-or-later
"""Hears what is said on the bus of a machine, to find what must not be there or to count what is."""

from __future__ import annotations

import subprocess

from buses import wait
from support import Machine


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
