# SPDX-License-Identifier: LGPL-2.1-or-later
"""What stands in for `handoff-editor`, so that a test sees each line of an editor's plugin and writes those that it reads."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

from buses import wait
from editors import bin_folder
from schemas import valid
from support import Machine

PROGRAM = """#!/usr/bin/python3
import json, os, socket, sys, threading
test = socket.socket(socket.AF_UNIX)
test.connect({address!r})
test.sendall(json.dumps({{"arguments": sys.argv[1:], "variables": sorted(os.environ)}}).encode() + b"\\n")
def ask():
    while data := test.recv(65536):
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    os._exit(0)
threading.Thread(target=ask, daemon=True).start()
while data := os.read(0, 65536):
    test.sendall(data)
"""


class Children:
    """All that the plugins of a machine start."""

    def __init__(self, machine: Machine) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(machine.folder / "child"))
        self._socket.listen()
        self._socket.setblocking(False)
        self.all: list[Child] = []
        program = bin_folder(machine) / "handoff-editor"
        program.write_text(PROGRAM.format(address=str(machine.folder / "child")))
        program.chmod(0o755)

    def next(self) -> Child:
        """Waits for the next one."""
        def accepted() -> socket.socket | None:
            try:
                return self._socket.accept()[0]
            except BlockingIOError:
                return None
        self.all.append(Child(wait(accepted, "what the plugin starts")))
        return self.all[-1]

    def close(self) -> None:
        for child in self.all:
            child.end()
        self._socket.close()


class Child:
    """One of them."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._text = b""
        started = self._line()
        self.arguments: list[str] = started["arguments"]
        self.variables: list[str] = started["variables"]

    def write(self, data: bytes) -> None:
        """Writes to the plugin; this may block."""
        self._connection.setblocking(True)
        self._connection.sendall(data)

    def ask(self, **message: Any) -> None:
        self.write(json.dumps(message).encode() + b"\n")

    def has_more(self) -> bool:
        """Reads what there is: whether there may be more."""
        self._connection.setblocking(False)
        try:
            data = self._connection.recv(1 << 20)
        except BlockingIOError:
            return True
        self._text += data
        return bool(data)

    def said(self) -> dict[str, Any]:
        """Waits for the next line of the plugin."""
        return valid("editor", self._line(), "said")

    def _line(self) -> dict[str, Any]:
        def line() -> bool:
            assert b"\n" in self._text or self.has_more(), "the plugin says no more"
            return b"\n" in self._text
        wait(line, "a line of the plugin")
        first, _, self._text = self._text.partition(b"\n")
        return json.loads(first)

    def wait_for_end(self) -> None:
        """Waits until the plugin has closed its pipe."""
        wait(lambda: not self.has_more(), "the end of what the plugin says")

    def end(self) -> None:
        self._connection.close()


def children_of(process: int) -> list[str]:
    """The processes that a process has started."""
    return Path(f"/proc/{process}/task/{process}/children").read_text().split() if os.path.exists(f"/proc/{process}") else []
