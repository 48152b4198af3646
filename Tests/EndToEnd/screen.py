# SPDX-License-Identifier: LGPL-2.1-or-later
"""A display without hardware, on which programs with windows are shown, typed into, and photographed."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from buses import wait


class Screen:
    """A display without hardware."""

    def __init__(self, place: Path, size: str = "1000x700") -> None:
        self.place = place
        with open(place / "Xvfb.log", "wb") as log:
            read, write = os.pipe()
            # Without “-noreset” it begins anew when the last client leaves, and refuses those that come meanwhile. Emacs looks
            # whether there is a display first.
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", "Xvfb", "-displayfd", str(write), "-screen", "0", f"{size}x24",
                 "-nolisten", "tcp", "-noreset"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=[write])
            os.close(write)
        # It is written in pieces, up to the end of the line.
        with open(read, "rb") as pipe:
            number = pipe.readline()
        assert number, f"no display: {(place / 'Xvfb.log').read_text()}"
        self.display = f":{number.decode().strip()}"

    def ask(self, *command: str) -> str:
        return subprocess.run(command, env=os.environ | {"DISPLAY": self.display}, capture_output=True, text=True).stdout

    def titles(self) -> list[str]:
        """The titles of all windows."""
        tree = self.ask("xwininfo", "-root", "-tree")
        return [line.split('"')[1] for line in tree.splitlines() if '"' in line]

    def shoot(self, name: str) -> Path:
        """Takes a picture of the whole screen."""
        path = self.place / name
        self.ask("import", "-window", "root", str(path))
        return path

    def close(self) -> None:
        def has_ended() -> bool:
            self.process.terminate()
            return self.process.poll() is not None

        # Xvfb overlooks a signal that comes right before it waits for its clients.
        wait(has_ended, "the end of the display")
