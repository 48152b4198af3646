# SPDX-License-Identifier: LGPL-2.1-or-later
"""Nothing starts with the screen at which users log in, whose graphical session is one of the system's own users."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest
from gi.repository import GLib
from buses import wait
from support import SOURCE, has_all_rights
from test_installed import manager, prefix  # noqa: F401
from test_package_scripts import UNITS
from user_manager import UserManager

FILES = SOURCE / "data" / "systemd" / "user"
# Debian's first ordinary user, and one of those for services, whatever they are called.
ORDINARY, SYSTEM = 1000, 150


def starts(conditions: list[str], uid: int, session_class: str | None) -> bool:
    """Whether the manager of a user would start what has these conditions, with a session of this class."""
    environment = {"PATH": os.environ["PATH"]} | ({"XDG_SESSION_CLASS": session_class} if session_class else {})
    done = subprocess.run(["systemd-analyze", "condition", *conditions], user=uid, group=uid, extra_groups=[],
                          env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode in (0, 1) and "onditions " in done.stderr, done
    return done.returncode == 0


@pytest.mark.parametrize("name", sorted(path.name for path in FILES.glob("*.in")
                                        if "WantedBy=graphical-session.target" in path.read_text()))
def test_nothing_starts_with_a_greeter(name: str) -> None:
    """What starts with each graphical session does so for ordinary users and for root, and not for the screen at which users
    log in, whether its user is one of the system's or only for a while."""
    if not has_all_rights() or not shutil.which("systemd-analyze"):
        pytest.skip("needs systemd-analyze, and root, who can be each user")
    conditions = re.findall(r"^(?:Condition|Assert)\w+=.*", (FILES / name).read_text(), re.MULTILINE)
    for session_class in (None, "user"):
        assert starts(conditions, ORDINARY, session_class) and starts(conditions, 0, session_class)
        assert not starts(conditions, SYSTEM, session_class)
    for uid in (ORDINARY, SYSTEM):
        assert not starts(conditions, uid, "greeter")


def test_a_session_of_a_greeter_has_nothing_of_ours(manager: UserManager) -> None:  # noqa: F811
    """In the user's systemd of a greeter neither the broker nor the bridge nor the agent is started with the graphical
    session; with the session of a user, whose class need not be known, all are."""
    manager.call("SetEnvironment", GLib.Variant("(as)", (["XDG_SESSION_CLASS=greeter"],)))
    manager.start("desktop-session.target")
    wait(lambda: manager.state("graphical-session.target") == "active", f"the session; {manager.log}")
    assert not any(manager.session.owner(name) for name in UNITS)
    for unit in UNITS.values():
        wait(lambda: manager.property(unit, "Unit", "ConditionTimestampMonotonic"), f"{unit} to be considered; {manager.log}")
        assert manager.state(unit) == "inactive"
    manager.stop("desktop-session.target")
    wait(lambda: manager.state("graphical-session.target") != "active", "the end of the session")
    manager.call("UnsetEnvironment", GLib.Variant("(as)", (["XDG_SESSION_CLASS"],)))
    manager.start("desktop-session.target")
    for name in UNITS:
        wait(lambda: manager.session.owner(name), f"{name} on the bus; {manager.log}")
