# SPDX-License-Identifier: LGPL-2.1-or-later
"""Two machines with desktops and agents, so that what is copied on the one can be pasted on the other."""

from __future__ import annotations

import signal
from typing import Any

import pytest
from gi.repository import GLib
from agents import Desk, start_desk
from buses import wait
from clipboard_desktop import Desktop
from support import ROOT, Machine, pair

TEXT = "text/plain;charset=utf-8"
HTML = "text/html"
IMAGE = "image/png"


class Sides:
    """What is copied on `desk` and pasted on `lap`, or the other way round."""

    def __init__(self, machines: list[Machine], kind: type[Desktop], mode: str = "ask") -> None:
        if reason := kind.missing():
            pytest.skip(reason)
        self.desktops: list[Desktop] = []
        self.desk, self.lap = (self._start(machines, kind, name, mode) for name in ("desk", "lap"))
        pair(self.desk, self.lap)
        for machine in (self.desk, self.lap):
            wait(lambda machine=machine: machine.session.get(ROOT, "Clipboard.Desktop"), f"the clipboard of {kind.NAME}")

    def _start(self, machines: list[Machine], kind: type[Desktop], name: str, mode: str) -> Desk:
        machine = start_desk(machines, name, agent=False)
        desktop = kind(machine).start()
        self.desktops.append(desktop)
        machine.environment |= desktop.environment
        machine.session.set(ROOT, "Preferences.Clipboard", GLib.Variant("s", mode))
        machine.start_agent()
        return machine

    @property
    def origin(self) -> Desktop:
        """The clipboard of `desk`."""
        return self.desktops[0]

    @property
    def target(self) -> Desktop:
        """The clipboard of `lap`."""
        return self.desktops[1]

    def copy(self, contents: dict[str, bytes]) -> None:
        """A program on `desk` copies something, of which the agent there knows then."""
        before = self.origin.changes
        self.origin.copy(contents)
        wait(lambda: self.origin.changes > before, "the change")

    def paste(self) -> dict[str, Any]:
        """The user of `lap` wants what is in the clipboard of `desk`."""
        return self.lap.session.call(ROOT, "Clipboard.Paste", GLib.Variant("(s)", (self.desk.device_id,))).unpack()[0]

    def follow(self, types: list[str]) -> None:
        """Waits until that is in the clipboard of `lap`."""
        wait(lambda: set(types) <= set(self.target.types()), f"{types} to follow")

    def stop(self) -> None:
        for machine in (self.desk, self.lap):
            machine.kill("handoff-agent", signal.SIGTERM)
        for desktop in self.desktops:
            desktop.stop()
