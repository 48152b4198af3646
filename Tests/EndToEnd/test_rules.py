# SPDX-License-Identifier: LGPL-2.1-or-later
"""What applications may rely on, rule by rule, where no other test says it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from buses import BUS, let_pass
from clients import Client, Dock
from support import Machine
from test_desktop_entries import STARTED, install

Machines = tuple[Machine, Machine]


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
