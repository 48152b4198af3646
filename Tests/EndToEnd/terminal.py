# SPDX-License-Identifier: LGPL-2.1-or-later
"""Commands with somebody at the keyboard."""

from __future__ import annotations

import re
import subprocess

from buses import TIMEOUT, wait
from support import Machine


class Typing:
    """A command with somebody at the keyboard."""

    def __init__(self, machine: Machine, *command: str) -> None:
        self.log = machine.folder / f"typing-{len(machine.sessions)}-{command[-1].replace('/', '')}.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", *command], env=machine.environment,
                                            stdin=subprocess.PIPE, stdout=log, stderr=log)

    @property
    def text(self) -> str:
        return self.log.read_text()

    def until(self, pattern: str, timeout: float = TIMEOUT) -> str:
        """Waits for a text, and gives back its group, or all of it."""
        found = wait(lambda: re.search(pattern, self.text), f"“{pattern}”", timeout)
        return found[1] if found.groups() else found[0]

    def type(self, text: str) -> None:
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def end(self, timeout: float = TIMEOUT) -> int:
        """Waits for the end of the command, and gives back its status."""
        wait(lambda: self.process.poll() is not None, "the end of the command", timeout)
        return self.process.returncode
