# SPDX-License-Identifier: LGPL-2.1-or-later
"""Carriers that the session starts, for users who have named some."""

from __future__ import annotations

from pathlib import Path

from buses import BRIDGE, wait
from support import Machine
from test_installed import CARRIERS, installed, launch_autostart_entry, manager, prefix  # noqa: F401
from user_manager import UserManager


def name_carrier(folder: Path) -> None:
    """Names a carrier in the settings of a user, to a device that is no peer."""
    file = folder / "config_home" / "handoff" / "handoff.conf"
    file.write_text(file.read_text() + "[Carriers]\nnobody=true\n")


def test_carriers_under_systemd(manager: UserManager) -> None:  # noqa: F811
    """With a graphical session systemd starts carriers for a user who has named some, and nothing for others."""
    manager.start("desktop-session.target")
    wait(lambda: manager.property(CARRIERS, "Service", "Result") == "exec-condition", f"the look at carriers; {manager.log}")
    assert manager.state(CARRIERS) == "inactive"
    name_carrier(manager.folder)
    manager.start(CARRIERS)
    wait(lambda: manager.state(CARRIERS) == "active", f"{CARRIERS}; {manager.log}")
    # What ends it for a desktop is not always seen while others are being started.
    manager.stop("graphical-session.target")
    wait(lambda: manager.state(CARRIERS) in ("", "inactive"), f"the end of {CARRIERS}; {manager.log}")


def test_the_autostart_entry_of_carriers(installed: Machine, prefix: Path) -> None:  # noqa: F811
    """Without systemd carriers have an autostart entry of their own, with which there is a bridge to carry for."""
    name_carrier(installed.folder)
    launch_autostart_entry(installed, prefix, "handoff-carry.desktop")
    wait(lambda: installed.session.owner(BRIDGE), "the bridge")
