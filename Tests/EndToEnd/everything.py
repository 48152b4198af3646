# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is open at a peer, and several of it continued by one choice."""

from __future__ import annotations

from typing import Any

from gi.repository import GLib
from buses import BROKER, ROOT, BusError, Session, wait
from clients import Client
from support import Machine, device_path

# As many as a peer lists, and as many as are continued at once.
MOST = 24
# Another call for the same device has the same answer before that, and its origin refuses one.
INTERVAL = 1


def list_open(session: Session, device_id: str) -> list[str]:
    """The objects of what is open at a device, the latest used first."""
    return session.call(device_path(device_id), "Device.ListActivities").unpack()[0]


def title(session: Session, path: str) -> str:
    return session.get(path, "RemoteActivity.Title")


def titles(session: Session, device_id: str) -> list[str]:
    """Their titles."""
    return [title(session, path) for path in list_open(session, device_id)]


def applications(machine: Machine, names: list[str]) -> dict[str, Client]:
    """An application of each of these names, which takes activities of a type of its own."""
    return {name: Client(machine, f"com.example.{name}", (f"com.example.{name}.edit",)) for name in names}


class All:
    """What `ContinueAll` has made."""

    def __init__(self, session: Session, paths: list[str]) -> None:
        self.session = session
        self.path: str = session.call(ROOT, "Manager.ContinueAll", GLib.Variant("(aoa{sv})", (paths, {}))).unpack()[0]

    def get(self, name: str) -> Any:
        return self.session.get(self.path, f"ContinueAll.{name}")

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many there are, how many were continued, and how many were not."""
        return self.get("Total"), self.get("Done"), self.get("Failed")

    @property
    def states(self) -> list[str]:
        return [result["State"] for result in self.get("Results")]

    def results(self) -> list[dict[str, Any]]:
        """Waits until all are over, and says what has become of each."""
        def over() -> bool:
            total, done, failed = self.counts
            return done + failed == total
        wait(over, f"the end of all; they are {self.states}")
        return self.get("Results")

    def cancel(self) -> None:
        self.session.call(self.path, "ContinueAll.Cancel")


def gone(session: Session, path: str) -> bool:
    """Whether there is no such object."""
    try:
        session.get(path, "RemoteActivity.Title")
    except BusError as error:
        assert error.name.endswith(("UnknownObject", f"{BROKER}.Error.ConnectionUnavailable")), error
        return True
    return False
