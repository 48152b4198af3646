# SPDX-License-Identifier: LGPL-2.1-or-later
"""Windows of an editor like VS Code, with the extension in them: a stub of the editor under Node, which checks each call."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from buses import wait
from editors import PATIENCE, bin_folder
from support import SOURCE, Machine

EXTENSION = SOURCE / "data" / "editors" / "vscode"
DRIVER = SOURCE / "Tests" / "EndToEnd" / "vscode_stub" / "drive.js"


def install(machine: Machine) -> Path:
    """Configures the extension for a machine, whose editors start the `handoff-editor` of the machine: its file."""
    folder = machine.folder / "vscode"
    if not folder.exists():
        folder.mkdir()
        shutil.copy(EXTENSION / "windows.js", folder)
        source = (EXTENSION / "extension.js.in").read_text()
        (folder / "extension.js").write_text(source.replace("@libexecdir@", str(bin_folder(machine))))
    return folder / "extension.js"


def storage(machine: Machine) -> Path:
    """Where the windows of a machine hand requests to one another."""
    return Path(machine.environment["HOME"], ".config/Code/User/globalStorage/handoff.handoff")


class Window:
    """A window with some folders on a machine; a folder is a path, or “scheme:path”. `environment` is what vscode.env says."""

    def __init__(self, machine: Machine, *folders: Path | str, focused: bool = True, **environment: Any) -> None:
        node = shutil.which("node")
        if not node:
            pytest.skip("there is no node: meson-helpers/install-packages test")
        options = {"extension": str(install(machine)), "storage": str(storage(machine)), "folders": list(map(str, folders)),
                   "focused": focused, "environment": environment}
        self.machine = machine
        with open(machine.folder / "vscode.log", "ab") as log:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", node, str(DRIVER), json.dumps(options)], env=machine.environment,
                cwd=machine.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        os.set_blocking(self.process.stdout.fileno(), False)
        self._text = b""
        self._replies: list[dict[str, Any]] = []
        # The folders that a new window was asked for with, and what was done that the editor has no such thing for.
        self.asked_for: list[dict[str, Any]] = []
        self.mistakes: list[str] = []
        self._reply()

    def read(self) -> None:
        """Reads what it has told."""
        self._text += self.process.stdout.read() or b""
        *lines, self._text = self._text.split(b"\n")
        for message in map(json.loads, lines):
            if "mistake" in message:
                self.mistakes.append(message["mistake"])
            else:
                (self.asked_for if "command" in message else self._replies).append(message)

    def _reply(self) -> Any:
        def reply() -> dict[str, Any] | None:
            self.read()
            return self._replies.pop(0) if self._replies else None
        found = wait(reply, f"the window's reply\n{(self.machine.folder / 'vscode.log').read_text()}", PATIENCE)
        assert "error" not in found, found["error"]
        return found["reply"]

    def do(self, what: str, **values: Any) -> Any:
        """Has the user do something (the methods of Host in vscode_stub/host.js), and returns the window's reply."""
        self.process.stdin.write(json.dumps({"do": what} | values).encode() + b"\n")
        self.process.stdin.flush()
        return self._reply()

    def show(self, file: Path | str) -> None:
        """Opens a file, which is in front then."""
        self.do("show", file=str(file))

    def write(self, text: str) -> None:
        """Begins a text without a file."""
        self.do("write", text=text)

    def place(self, line: int, character: int) -> None:
        """Goes somewhere. Both begin with 0, and characters are halves (UTF-16), as in VS Code."""
        self.do("place", line=line, character=character)

    def type(self, text: str) -> None:
        self.do("type", text=text)

    def focus(self, focused: bool) -> None:
        self.do("focus", focused=focused)

    def state(self) -> dict[str, Any]:
        """Where it is: file, name, line and column (from 1, in whole characters), text, modified, and more."""
        return self.do("state")

    def wait_for_state(self, timeout: float = PATIENCE, **expected: Any) -> dict[str, Any]:
        """Waits until the window is where it should be."""
        def reached() -> dict[str, Any] | None:
            now = self.state()
            return now if all(now[name] == value for name, value in expected.items()) else None
        try:
            return wait(reached, f"a window to be at {expected}", timeout)
        except AssertionError as error:
            raise AssertionError(f"{error}\nIt is at {self.state()}") from error

    def wait_until_asked_for(self, timeout: float = PATIENCE) -> str:
        """Waits until a new window is asked for, and returns its folder."""
        def asked() -> bool:
            self.read()
            return bool(self.asked_for)
        wait(asked, "a new window to be asked for", timeout)
        message = self.asked_for.pop(0)
        assert (message["command"], message["options"]) == ("vscode.openFolder", {"forceNewWindow": True})
        return message["folder"]

    def quit(self) -> None:
        """Closes the window. Nothing of the extension is left then, and it has made no mistake."""
        self.process.stdin.write(b'{"do": "quit"}\n')
        self.process.stdin.close()
        wait(lambda: self.process.poll() is not None, "the end of the window", PATIENCE)
        self.read()
        self.process.stdout.close()
        assert (self.mistakes, self.process.returncode) == ([], 0)
