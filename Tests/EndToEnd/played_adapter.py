# SPDX-License-Identifier: LGPL-2.1-or-later
"""A machine with an adapter that is played, for applications that are."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from gi.repository import GLib
from agents import Desk
from buses import BUS, Session, wait
from notifications import AGENT
from support import Machine
from test_desktop_entries import have_bus_start, install
from test_focus import tell

PROGRAM = Path(__file__).with_name("adapter_program.py")
PLAYER, OTHER = "com.example.player", "com.example.other"
NAME = "com.example.media.player"
WINDOW = {"ApplicationId": GLib.Variant("s", PLAYER), "Title": GLib.Variant("s", "Something private"),
          "ProcessId": GLib.Variant("i", 42), "BusName": GLib.Variant("s", ":1.7"),
          "WindowPath": GLib.Variant("o", "/window/1")}
TOLD = {"ApplicationId": PLAYER, "ProcessId": 42, "BusName": ":1.7", "WindowPath": "/window/1"}


class Played:
    """An adapter of a machine: its description, its bus name, and what it has written down."""

    def __init__(self, machine: Machine, name: str = "media", how: str | None = "", **keys: str) -> None:
        self.machine, self.name = machine, name
        self.bus_name = f"org.example.Handoff.{name.capitalize()}"
        self.file = machine.folder / f"{name}.played"
        if how is not None:
            have_bus_start(machine, self.bus_name,
                           f"/usr/bin/python3 {PROGRAM} {self.bus_name} {self.file} {how}".strip())
        values = {"Name": name, "BusName": self.bus_name, "Applications": "com.example.player;com.example.other;",
                  "Names": "com.example.media.*;"} | keys
        folder = Path(machine.environment["XDG_DATA_HOME"]) / "handoff" / "adapters"
        folder.mkdir(parents=True, exist_ok=True)
        text = "[Adapter]\n" + "".join(f"{key}={value}\n" for key, value in values.items() if value)
        (folder / "new").write_text(text)
        self.description = (folder / "new").rename(folder / f"{name}.adapter")

    @property
    def lines(self) -> list[str]:
        return self.file.read_text().splitlines() if self.file.exists() else []

    @property
    def starts(self) -> int:
        """How often it was started."""
        return sum(line.startswith("start ") for line in self.lines)

    @property
    def begun(self) -> int:
        """How often the agent has begun to start it, which it logs before it asks the bus to."""
        return self.machine.log("handoff-agent").count(f"An application of the adapter {self.name} has appeared")

    @property
    def fronts(self) -> list[str]:
        """What it was told since it was started last."""
        lines = self.lines
        last = max((index for index, line in enumerate(lines) if line.startswith("start ")), default=-1)
        return [line.removeprefix("front ") for line in lines[last + 1:]]

    def end(self) -> None:
        """Ends the one that was started last, as its last application does."""
        starts = [line for line in self.lines if line.startswith("start ")]
        os.kill(int(starts[-1].split()[1]), signal.SIGTERM)


def start_player_desk(machines: list[Machine]) -> Desk:
    """A machine with a broker, where a player is installed that knows nothing of Handoff."""
    machine = Desk("desk")
    machines.append(machine)
    install(machine, PLAYER, Implements="")
    machine.start_broker()
    return machine


def appear(machine: Machine, name: str = NAME) -> Session:
    """An application that owns this name."""
    session = machine.connect()
    session.call("/org/freedesktop/DBus", f"{BUS}.RequestName", GLib.Variant("(su)", (name, 4)), destination=BUS)
    return session


def start_agent(machine: Desk) -> None:
    """Starts the agent, and waits until it looks for the applications of all adapters that there are: by then it begins to
    start one more, which has an application of its own and cannot be started."""
    witness = Played(machine, "witness", how=None, Names="com.example.witness;")
    appear(machine, "com.example.witness")
    machine.start_agent()
    wait(lambda: witness.begun, "the agent to look for applications")
    wait_until_seen(machine)


def wait_until_seen(machine: Machine) -> None:
    """Waits until the agent has seen what has happened on the bus up to now: it takes what comes in turn."""
    machine.session.call("/", f"{BUS}.Peer.Ping", destination=AGENT)


def focus(session: Session, **window: GLib.Variant) -> None:
    tell(session, "FocusChanged", GLib.Variant("(a{sv})", (window,)))


def front(adapter: Played) -> Any:
    """What the adapter was told last; nothing if that is so."""
    return eval(adapter.fronts[-1]) if adapter.fronts else None


def wait_for_start(adapter: Played, number: int = 1) -> None:
    wait(lambda: adapter.starts >= number, "the adapter to be started")
    assert adapter.starts == number
