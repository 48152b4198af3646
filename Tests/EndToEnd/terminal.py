# SPDX-License-Identifier: LGPL-2.1-or-later
"""Commands with somebody at the keyboard."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import subprocess
import termios
from pathlib import Path

from buses import wait
from support import Machine


class Typing:
    """A command with somebody at the keyboard, with a pipe as the keyboard and a file as the screen."""

    def __init__(self, machine: Machine, *command: str) -> None:
        self.log = machine.folder / f"typing-{len(machine.sessions)}-{command[-1].replace('/', '')}.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", *command], env=machine.environment,
                                            stdin=subprocess.PIPE, stdout=log, stderr=log)

    @property
    def text(self) -> str:
        return self.log.read_text()

    def until(self, pattern: str, timeout: float | None = None) -> str:
        """Waits for a text, and returns its group, or all of it."""
        found = wait(lambda: re.search(pattern, self.text), f"“{pattern}”", timeout)
        return found[1] if found.groups() else found[0]

    def type(self, text: str) -> None:
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def end(self, timeout: float | None = None) -> int:
        """Waits for the end of the command, and returns its status."""
        wait(lambda: self.process.poll() is not None, "the end of the command", timeout)
        return self.process.returncode

    def interrupt(self, number: int = signal.SIGINT) -> int:
        """Sends a signal, and returns the status with which the command then ends."""
        self.process.send_signal(number)
        return self.end()


class Terminal(Typing):
    """A command in a terminal of its own, where keys are echoed as everywhere."""

    def __init__(self, machine: Machine, *command: str) -> None:
        self._master, slave = pty.openpty()
        os.set_blocking(self._master, False)
        self._shown = b""

        def take() -> None:
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", *command], env=machine.environment,
                                        stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
                                        preexec_fn=take)
        os.close(slave)

    @property
    def text(self) -> str:
        """All that was on the screen."""
        try:
            while self._master >= 0 and (data := os.read(self._master, 65536)):
                self._shown += data
        except OSError:
            # Nothing more at present, or nobody is left who writes.
            pass
        return self._shown.decode(errors="replace").replace("\r\n", "\n")

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def close(self) -> None:
        """Closes the window: the kernel says so to the command."""
        os.close(self._master)
        self._master = -1


def shells_of(machine: Machine) -> list[Path]:
    """The shells that run in the terminals of a machine."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            variables = (process / "environ").read_bytes().split(b"\0")
            if (process / "comm").read_text().strip() == "bash" and \
                    f"XDG_RUNTIME_DIR={machine.environment['XDG_RUNTIME_DIR']}".encode() in variables:
                found.append(process)
        except OSError:
            pass
    return found
