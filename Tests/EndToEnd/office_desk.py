# SPDX-License-Identifier: LGPL-2.1-or-later
"""A machine with LibreOffice, whose extension for Handoff talks with a program that stands for the adapter.

    office, child = desk.start()
    assert child.open(sheets(desk.papers / "Sums.ods"), sheet="Rooms", cell="C7")
    child.told("front", application="libreoffice-calc", sheet="Rooms", cell="C7")
"""

from __future__ import annotations

import json
import socket
import subprocess
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gi.repository import GLib
from buses import wait
from offices import PATIENCE, Office, missing, prepare, text
from screen import Screen
from support import Machine

BOTH = pytest.mark.parametrize("plugin", ["gen", "gtk3"])
# What stands for the adapter: it passes on what the extension says, and what it is asked here.
CHILD = """#!/usr/bin/python3
import os, socket, sys, threading
end = socket.socket(socket.AF_UNIX)
end.connect({!r})
def say():
    for line in sys.stdin.buffer:
        end.sendall(line)
    os._exit(0)
threading.Thread(target=say, daemon=True).start()
while data := end.recv(65536):
    os.write(1, data)
"""


class Child:
    """What the extension starts."""

    def __init__(self, folder: Path) -> None:
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(folder / "child"))
        self.listener.listen()
        self.path = folder / "handoff-office"
        self.path.write_text(CHILD.format(str(folder / "child")))
        self.path.chmod(0o755)
        self.said: list[dict[str, Any]] = []
        self.connection: socket.socket | None = None
        self.last = 0
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        self.connection, _ = self.listener.accept()
        with self.connection.makefile("rb") as file:
            for line in file:
                self.said.append(json.loads(line))
                GLib.MainContext.default().wakeup()

    def send(self, line: bytes) -> None:
        wait(lambda: self.connection, "the extension to start its child", PATIENCE)
        assert self.connection
        self.connection.sendall(line + b"\n")

    def ask(self, kind: str, **about: Any) -> dict[str, Any]:
        """Asks, and waits for the answer: where the user is in what was in front last, if nothing else is said."""
        if kind == "save" and not about.keys() & {"file", "name"}:
            last = next((one for one in reversed(self.said) if one.get("event") == "front"), {})
            about |= {name: last[name] for name in ("file", "name") if name in last}
        self.last += 1
        number = self.last
        self.send(json.dumps({"ask": kind, "id": number} | about).encode())
        answer = wait(lambda: next((one for one in self.said if one.get("answer") == number), None), f"{kind} {about}")
        return {name: value for name, value in answer.items() if name != "answer"}

    def open(self, path: Path, mode: str = "edit", **about: Any) -> bool:
        return self.ask("open", file=str(path), mode=mode, **about)["opened"]

    @property
    def event(self) -> dict[str, Any]:
        """The latest event."""
        return next((one for one in reversed(self.said) if "event" in one), {})

    def events(self) -> list[str]:
        return [one["event"] for one in self.said if "event" in one]

    def told(self, event: str, **about: Any) -> None:
        """Waits until this is the latest event."""
        wait(lambda: self.event.get("event") == event and about.items() <= self.event.items(),
             f"{event} {about}; it was {self.said[-6:]}", PATIENCE)


def content(path: Path) -> bytes:
    """What is in a document; nothing while it is being written."""
    try:
        return zipfile.ZipFile(path).read("content.xml")
    except (OSError, zipfile.BadZipFile):
        return b""


class Desk:
    """A machine with a display, an office, and documents."""

    def __init__(self, machine: Machine, plugin: str, macros: int) -> None:
        self.machine = machine
        self.screen = Screen(machine.folder)
        self.child = Child(machine.folder)
        prepare(machine, self.screen, plugin, self.child.path, macros)
        with open(machine.log_file("openbox"), "wb") as log:
            self.programs = [subprocess.Popen(["openbox"], env=machine.environment, stdout=log, stderr=log)]
        self.papers, self.private = machine.folder / "papers", machine.folder / "private"
        self.papers.mkdir()
        self.private.mkdir(mode=0o700)
        self.office: Office | None = None

    def start(self, *files: Path) -> tuple[Office, Child]:
        """Starts the office with these documents, or with a text, and waits until the last one is in front."""
        files = files or (text(self.papers / "Letter.odt"),)
        self.office = Office(self.machine, self.screen, *files)
        self.office.focus(files[-1].name)
        self.child.told("front", file=str(files[-1]))
        return self.office, self.child

    def other_program(self) -> subprocess.Popen[bytes]:
        """Has another program come to the front."""
        program = subprocess.Popen(["xterm", "-title", "Other"], env=self.machine.environment, stderr=subprocess.DEVNULL)
        self.programs.append(program)
        assert self.office
        wait(lambda: self.office.front == "Other", "another program in front")
        return program

    def edit(self, path: Path) -> None:
        """Has a document edited that is only looked at."""
        assert self.office
        office = self.office
        # In Impress the keyboard belongs to the list of slides, so it is the last entry of the menu there.
        office.press(*(("alt+e", "Up", "Return") if path.suffix == ".odp" else ("ctrl+shift+m",)))
        wait(lambda: office.front.startswith(f"{path.name} -"), f"{path.name} to be edited")

    def save(self, **which: str) -> dict[str, Any]:
        """Where the user is in this document (`file` or `name`), or in what was in front last."""
        return self.child.ask("save", folder=str(self.private), **which)

    def close(self) -> None:
        if self.office:
            self.office.close()
        for program in reversed(self.programs):
            program.kill()
            program.wait()
        self.screen.close()


@pytest.fixture
def plugin() -> str:
    return "gen"


@pytest.fixture
def macros() -> int:
    return 2


@pytest.fixture
def desk(machine_list: list[Machine], plugin: str, macros: int) -> Iterator[Desk]:
    if what := missing():
        pytest.skip(f"{what}: meson-helpers/install-packages desktop")
    machine = Machine("desk")
    machine_list.append(machine)
    desk = Desk(machine, plugin, macros)
    yield desk
    desk.close()
