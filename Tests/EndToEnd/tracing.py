# SPDX-License-Identifier: LGPL-2.1-or-later
"""Daemons under strace, which shows what they ask of the kernel, and can make that fail."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import NamedTuple

import pytest
from buses import wait
from support import Machine


class Step(NamedTuple):
    """A system call: its name, and its number among those of this name, counted from 1."""

    call: str
    number: int
    # What it is about, as strace has it.
    arguments: str


class Hit(NamedTuple):
    """The call that was made to fail, or that the process did not survive."""

    # How many calls that touch the folder came before it.
    before: int
    # Whether it touches the folder.
    touches: bool


class Tracer:
    """Traces the bridge of a machine, or another daemon, with strace until the end of the block; skips the test where
    that is not possible."""

    def __init__(self, machine: Machine, *options: str, daemon: str = "handoff-bridge") -> None:
        program = shutil.which("strace")
        if not program:
            pytest.skip("strace is not installed: install the Debian package strace")
        self.output = machine.folder / "strace.out"
        self.output.unlink(missing_ok=True)
        self.messages = machine.folder / "strace.log"
        self.target = machine.processes[daemon].pid
        with open(self.messages, "wb") as messages:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", program, "-f", "-y", "-p", str(self.target), "-o", self.output,
                 *options], stdin=subprocess.DEVNULL, stdout=messages, stderr=messages)
        wait(lambda: " attached" in self.said or self.process.poll() is not None, "strace to attach")
        if " attached" not in self.said:
            pytest.skip(f"a process can't be traced here: {self.said.strip()}")

    @property
    def said(self) -> str:
        return self.messages.read_text(errors="replace")

    def __enter__(self) -> Tracer:
        return self

    def __exit__(self, *_exception: object) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(10)

    def steps(self, folder: str) -> list[Step]:
        """The calls that touch this folder, in order. To be asked for after the end."""
        counts: dict[tuple[str, str], int] = {}
        found = []
        for thread, call, arguments in re.findall(r"^(\d+) +(\w+)\((.*)", self.output.read_text(), re.MULTILINE):
            counts[thread, call] = counts.get((thread, call), 0) + 1
            if folder in arguments:
                found.append(Step(call, counts[thread, call], arguments))
        return found

    def hit(self, folder: str) -> Hit | None:
        """Which call was made to fail, or was not survived; None if it did not come to that. To be asked for after
        the end."""
        lines = [line for line in self.output.read_text().splitlines() if re.match(r"\d+ +\w+\(", line)]
        failed = [index for index, line in enumerate(lines) if "(INJECTED)" in line]
        own = [index for index, line in enumerate(lines) if line.startswith(f"{self.target} ")]
        places = failed[:1] or own[-1:]
        if not places:
            return None
        return Hit(sum(folder in line for line in lines[:places[0]]), folder in lines[places[0]])
