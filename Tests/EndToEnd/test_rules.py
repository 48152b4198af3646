# SPDX-License-Identifier: LGPL-2.1-or-later
"""What applications may rely on, rule by rule, where no other test says it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from gi.repository import GLib
from buses import BUS, let_pass
from clients import Client, Dock
from support import Machine
from test_desktop_entries import STARTED, install

Machines = tuple[Machine, Machine]


def test_unusual_type_is_warned_of_once(machine: Machine) -> None:
    """A type that is not reverse-DNS gets a warning in the log, once."""
    for _time in range(3):
        Client(machine, types=("Brief schreiben",)).create()
    lines = [line for line in machine.log("handoffd").splitlines() if "Brief schreiben" in line]
    assert len(lines) == 1 and "reverse-DNS" in lines[0]


def test_large_user_info_is_hinted_at(machine: Machine) -> None:
    """UserInfo of more than 3 KiB logs a hint to use streams, once for each type, and is taken."""
    client = Client(machine, types=("com.example.one", "com.example.two"))
    large, small = {"text": GLib.Variant("s", "x" * 4000)}, {"text": GLib.Variant("s", "x" * 2000)}
    for activity_type in client.types:
        for user_info in (small, large, large):
            client.create(activity_type, UserInfo=user_info).update(UserInfo=user_info)
    hints = [line for line in machine.log("handoffd").splitlines() if "through a stream" in line]
    assert len(hints) == 2
    assert all(any(activity_type in line for line in hints) for activity_type in client.types)


@pytest.mark.parametrize("ends", ["withdrawn", "replaced", "unlinked"])
def test_nothing_from_a_link_starts_a_program(machines: Machines, ends: str) -> None:
    """Only a local Continue starts an application: offers of a peer that come and go start none."""
    desk, lap = machines
    name, activity_type = "com.example.started", "com.example.started.edit"
    services = Path(lap.environment["XDG_RUNTIME_DIR"]) / "dbus-1" / "services"
    services.mkdir(parents=True, exist_ok=True)
    result = lap.folder / "started"
    (services / f"{name}.service").write_text(
        f"[D-BUS Service]\nName={name}\nExec={sys.executable} {STARTED} {name} {activity_type} {result}\n")
    lap.connect().call("/org/freedesktop/DBus", f"{BUS}.ReloadConfig", destination=BUS)
    install(lap, name, ActivityTypes=activity_type, DBusActivatable="true")
    origin, dock = Client(desk, application_id=name, types=(activity_type,)), Dock(lap)
    activity = origin.create(activity_type, Title="Start me", WebpageURL="https://example.com/")
    activity.become_current()
    path = dock.offer("Start me")
    activity.update(Title="Start me now")
    dock.offer("Start me now")
    if ends == "withdrawn":
        activity.invalidate()
    elif ends == "replaced":
        origin.create(activity_type, Title="Start another").become_current()
    else:
        desk.kill("handoff-bridge")
    dock.wait_until_gone(path)
    # As long as a program takes to be started.
    let_pass(0.3)
    assert not lap.session.owner(name) and not result.exists()
