#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs of the user of a booted Debian, which are told what to do from outside.

Run inside, it takes a line of JSON at a time on its standard input, {"do": STATEMENTS} or {"ask": EXPRESSION}, in Python,
and answers each by a line. What applications and windows of tests are made of is there by name, and `here` is the machine.

    application = Inside(desk)
    application.do("client = Client(here); activity = client.offer('A letter')")
    application.ask("client.members")
    application.close()
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

from buses import Session, wait

PROGRAM = "/opt/handoff/Tests/EndToEnd/inside.py"
LONG = 10 ** 9


class GivenScreen:
    """The display of the session."""

    def ask(self, *command: str) -> str:
        return subprocess.run(command, capture_output=True, text=True).stdout


class Here:
    """What clients and windows have to know about the machine that they run on."""

    def __init__(self) -> None:
        self.name = os.uname().nodename
        self.environment = dict(os.environ)
        self.folder = Path(tempfile.mkdtemp())
        self.address = os.environ["DBUS_SESSION_BUS_ADDRESS"]
        self.sessions: list[Session] = []
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.session = Session(self.address)
        self.screen = GivenScreen()

    def log_file(self, program: str) -> Path:
        return self.folder / f"{Path(program).name}.log"

    def log(self, program: str) -> str:
        file = self.log_file(program)
        return file.read_text(errors="replace") if file.exists() else ""

    def start(self, program: str, *arguments: str) -> subprocess.Popen[bytes]:
        """Starts a program, which ends with this one."""
        with open(self.log_file(program), "ab") as log:
            self.processes[program] = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", program, *arguments], env=self.environment, cwd=self.folder,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return self.processes[program]


class Inside:
    """Such a program, as the tests have it."""

    def __init__(self, machine: Any) -> None:
        self.machine = machine
        self._errors = tempfile.TemporaryFile("w+")
        environment = machine.environment | {"HANDOFF_BINARIES": "/usr/bin", "PYTHONDONTWRITEBYTECODE": "1"}
        command = machine.command("/usr/bin/python3", PROGRAM, user="ada", environment=environment)
        self.process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *command], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self._errors, text=True)
        self.ask("here.name")

    def _order(self, order: dict[str, str], timeout: float) -> Any:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        wait(lambda: select.select([self.process.stdout], [], [], 0)[0], f"an answer to {order}", timeout)
        line = self.process.stdout.readline()
        if not line:
            self._errors.seek(0)
            raise AssertionError(f"the program on {self.machine.name} has ended:\n{self._errors.read()}")
        answer = json.loads(line)
        assert "error" not in answer, f"{order} on {self.machine.name}:\n{answer['error']}"
        return answer["result"]

    def do(self, statements: str, timeout: float = 120) -> None:
        self._order({"do": statements}, timeout)

    def ask(self, expression: str, timeout: float = 120) -> Any:
        """What an expression is; of what JSON does not have, its text."""
        return self._order({"ask": expression}, timeout)

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(30)


def main() -> None:
    # What tests on this machine say in their files, they say here too.
    names: dict[str, Any] = {"here": Here()}
    exec("import os, signal, time\nfrom pathlib import Path\nfrom gi.repository import Gio, GLib\n"
         "from buses import *\nfrom clients import *", names)
    while True:
        # Clients answer meanwhile.
        wait(lambda: select.select([sys.stdin], [], [], 0)[0], "an order", LONG)
        line = sys.stdin.readline()
        if not line:
            return
        order = json.loads(line)
        try:
            result = exec(order["do"], names) if "do" in order else eval(order["ask"], names)
            answer = {"result": result}
        except BaseException:
            answer = {"error": traceback.format_exc()}
        print(json.dumps(answer, default=str), flush=True)


if __name__ == "__main__":
    main()
