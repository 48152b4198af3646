# SPDX-License-Identifier: LGPL-2.1-or-later
"""What desktops with a clipboard have in common (clipboards.py): the programs in them that copy and paste."""

from __future__ import annotations

import base64
import json
import queue
import subprocess
import threading
from abc import ABC, abstractmethod
from collections import Counter
from pathlib import Path
from typing import Any, Self

from gi.repository import GLib
from buses import TIMEOUT, wait
from support import Machine

CLIENT = Path(__file__).with_name("clipboard_client.py")
# Far more than it takes to start a desktop on a slow machine.
PATIENCE = 60


def spawn(machine: Machine, environment: dict[str, str], *command: str, log: str = "", **options: Any) -> subprocess.Popen[bytes]:
    """Starts a program that ends with this one, whose complaints go to a log of the machine."""
    with open(machine.log_file(log or command[0]), "ab") as file:
        return subprocess.Popen(["setpriv", "--pdeathsig", "TERM", *command],
                                **{"env": environment, "cwd": machine.folder, "stdin": subprocess.DEVNULL, "stdout": file,
                                   "stderr": file} | options)


def end(process: subprocess.Popen[bytes]) -> None:
    """Ends a program, also one that was stopped or hangs."""
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Client:
    """A program that uses the clipboard, and takes orders (clipboard_client.py)."""

    def __init__(self, machine: Machine, environment: dict[str, str], kind: str, role: str) -> None:
        self.machine = machine
        self.role = f"clipboard-{role}"
        self.process = spawn(machine, environment, "/usr/bin/python3", str(CLIENT), kind, log=self.role,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.answers: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.answers.put(line)
            GLib.MainContext.default().wakeup()

    def do(self, order: str, **about: Any) -> Any:
        """Gives an order, and waits for what becomes of it, longer than it may take itself."""
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"order": order} | about).encode() + b"\n")
        self.process.stdin.flush()
        wait(lambda: not self.answers.empty() or self.process.poll() is not None, f"{self.role} to {order}",
             PATIENCE + about.get("timeout", 0))
        assert not self.answers.empty(), f"{self.role} has ended: {self.machine.log(self.role)}"
        return json.loads(self.answers.get())

    def close(self) -> None:
        end(self.process)
        self.reader.join()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe
            pipe.close()


class Desktop(ABC):
    """A desktop of a machine, whose bus is there. There is nothing in its clipboard at first."""

    # What it is called here, and how its clients use its clipboard.
    NAME = ""
    KIND = ""
    # How a program that is none of ours reads its clipboard; the type is added.
    WITNESS = ["wl-paste", "--no-newline", "--type"]

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        # What a program of this desktop finds in its environment, beside that of the machine. It has no address of a system bus.
        self.environment: dict[str, str] = {}
        self.owner: Client | None = None
        self.reader: Client | None = None

    @classmethod
    @abstractmethod
    def missing(cls) -> str:
        """Why there can't be such a desktop; empty if there can."""

    @abstractmethod
    def _start(self) -> None:
        """Starts it, and sets the environment."""

    @abstractmethod
    def _stop(self) -> None:
        """Ends what was started."""

    @property
    def environment_of_clients(self) -> dict[str, str]:
        """All of the environment of a program of this desktop, which has what is installed here too."""
        return self.machine.environment | {
            "XDG_DATA_DIRS": f"{self.machine.environment['XDG_DATA_DIRS']}:/usr/share", "NO_AT_BRIDGE": "1",
            "GIO_USE_VFS": "local", "GSETTINGS_BACKEND": "memory"} | self.environment

    def start(self) -> Self:
        """Starts it, and waits until its clipboard can be used."""
        try:
            self._start()
            self.owner = Client(self.machine, self.environment_of_clients, self.KIND, "owner")
            self.reader = Client(self.machine, self.environment_of_clients, self.KIND, "reader")
            for client in (self.owner, self.reader):
                client.do("state")
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Ends it, and all that is in it."""
        for client in (self.owner, self.reader):
            if client:
                client.close()
        self.owner = self.reader = None
        self._stop()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    # The clipboard

    def _ask(self, client: Client | None, order: str, **about: Any) -> Any:
        assert client, f"{self.NAME} does not run"
        return client.do(order, **about)

    def copy(self, contents: dict[str, bytes], slow: float = 0, eager: bool = False) -> None:
        """Has another program put something into the clipboard that can be had as these types, and counts anew who wants it. It takes
        so many seconds to give something; if it is eager, it gives it to the desktop itself, too."""
        given = {kind: base64.b64encode(content).decode() for kind, content in contents.items()}
        self._ask(self.owner, "copy", contents=given, slow=slow, eager=eager)

    def types(self) -> list[str]:
        """What the content of the clipboard can be had as now, as its owner says it."""
        return self._ask(self.reader, "state")["types"]

    def paste(self, kind: str, timeout: float = TIMEOUT) -> bytes | None:
        """What is in the clipboard as one type, read by another program than that which copies; None if there is no such
        thing, or its owner does not give all of it in this time."""
        content = self._ask(self.reader, "paste", type=kind, timeout=timeout)
        return None if content is None else base64.b64decode(content)

    def clear(self) -> None:
        """Has another program empty the clipboard, whoever owns it."""
        self._ask(self.owner, "clear")

    @property
    def asked(self) -> Counter[str]:
        """How often each type was wanted since something was copied."""
        return Counter(self._ask(self.owner, "state")["asked"])

    @property
    def is_owner(self) -> bool:
        """Whether what was copied is still in the clipboard."""
        return self._ask(self.owner, "state")["owns"]

    @property
    def changes(self) -> int:
        """How often something came into the clipboard or left it, whoever did that."""
        return self._ask(self.reader, "state")["changes"]
