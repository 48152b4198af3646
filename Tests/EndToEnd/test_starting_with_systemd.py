# SPDX-License-Identifier: LGPL-2.1-or-later
"""Applications that are started by the command lines of their desktop entries where the user's systemd runs."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gi.repository import GLib
from buses import wait
from clients import Client
from support import PROGRAMS, Machine, start_machine
from test_desktop_entries import STARTED
from test_installed import manager, prefix  # noqa: F401
from user_manager import UserManager

NAME, TYPE = "com.example.started-by-exec", "com.example.started.edit"
# As systemd-escape(1) writes that.
UNIT = re.compile(r"app-handoff-com\.example\.started\\x2dby\\x2dexec-[0-9a-f]{16}\.service")
HANDOFF = str(PROGRAMS / "handoff")


class Lap:
    """A machine whose session runs under systemd, with one application, and which is offered something to continue."""

    def __init__(self, manager: UserManager, desk: Machine) -> None:
        self.manager = manager
        self.result = manager.folder / "result"
        manager.start("desktop-session.target")
        wait(lambda: manager.session.owner("org.example.Handoff.Bridge"), f"both daemons; {manager.log}")
        me = json.loads(self.run("status --json"))["bridge"]["deviceId"]
        desk.trust(me, "lap")
        self.run(f"trust {desk.device_id} desk")
        self.run(f"connect 127.0.0.1:{desk.port}")
        origin = Client(desk, application_id=NAME, types=(TYPE,))
        origin.create(TYPE, Title="Start me", UserInfo={"page": GLib.Variant("u", 7)}).become_current()

    def run(self, command: str) -> str:
        """What the command line says, whether it succeeds or not."""
        return self.manager.run("sh", "-c", f"{HANDOFF} {command} 2>&1 || true")

    def install(self, command: str, **keys: str) -> None:
        folder = self.manager.folder / "data_home" / "applications"
        folder.mkdir(exist_ok=True)
        text = (f"[Desktop Entry]\nType=Application\nName=Notes\nExec={command}\nX-Handoff-ActivityTypes={TYPE}\n"
                "Implements=org.example.Handoff.Application;\n" + "".join(f"{key}={value}\n" for key, value in keys.items()))
        (folder / "new").write_text(text)
        (folder / "new").rename(folder / f"{NAME}.desktop")

    def offer(self) -> str:
        """The id of the offer, once the application can continue it."""
        def found() -> str | None:
            offers = json.loads(self.run("list --json"))
            return next((offer["id"] for offer in offers if offer["handlersToStart"] == [NAME]), None)
        return wait(found, "the offer")

    def script(self, text: str) -> str:
        path = self.manager.folder / "program"
        path.write_text(text)
        return f"sh {path}"

    @property
    def units(self) -> list[str]:
        """The units that applications run in."""
        arguments = GLib.Variant("(asas)", ([], ["app-handoff-*"]))
        return [unit[0] for unit in self.manager.call("ListUnitsByPatterns", arguments).unpack()[0]]

    def told(self) -> dict[str, Any]:
        return json.loads(wait(lambda: self.result.exists() and self.result.read_text(), f"the activity; {self.manager.log}"))


@pytest.fixture
def lap(manager: UserManager, machine_list: list[Machine]) -> Iterator[Lap]:  # noqa: F811
    yield Lap(manager, start_machine(machine_list, "desk"))


def test_a_unit_of_its_own(lap: Lap) -> None:
    """Under systemd a program is started in a unit of its own, named after its application, which has the token and the
    arguments as they are, and which outlives a broker that is killed."""
    lap.install(f'{sys.executable} {STARTED} {NAME} {TYPE} {lap.result} "\\\\$HOME" "\\\\${{HOME}}" $HOME 100%% %U', Path="/tmp")
    lap.manager.run("env", "XDG_ACTIVATION_TOKEN=token_7", HANDOFF, "continue", lap.offer())
    started = lap.told()
    assert started["activity"]["UserInfo"] == {"page": 7} and started["folder"] == "/tmp"
    assert started["arguments"] == ["$HOME", "${HOME}", "$HOME", "100%"]
    environment = started["environment"]
    assert environment["XDG_ACTIVATION_TOKEN"] == environment["DESKTOP_STARTUP_ID"] == "token_7"
    assert "GIO_USE_VFS" not in environment
    (unit,) = lap.units
    assert UNIT.fullmatch(unit)
    for name, value in (("Slice", "app.slice"), ("ExitType", "cgroup"), ("Type", "exec")):
        assert lap.manager.property(unit, "Service", name) == value
    broker = lap.manager.property("handoffd.service", "Service", "MainPID")
    lap.manager.run("kill", "-KILL", str(broker))
    wait(lambda: lap.manager.property("handoffd.service", "Service", "MainPID") not in (0, "", broker), "another broker")
    assert lap.manager.state(unit) == "active"
    lap.manager.run("kill", str(started["process"]))
    wait(lambda: lap.units == [], "nothing to be left")


@pytest.mark.parametrize(("text", "parts"), [
    ("echo first >&2; echo 'cannot open display' >&2; exit 3", ("status 3", "cannot open display")),
    ("kill -SEGV $$", ("signal 11",)),
    ("sleep 60 & echo gone >&2; exit 4", ("status 4", "gone"))])
def test_a_unit_that_fails_is_told_at_once(lap: Lap, text: str, parts: tuple[str, ...]) -> None:
    """Under systemd, too, a program that ends before it has registered fails the continuation at once, with its status and
    the last line of its standard error."""
    lap.install(lap.script(text))
    said = lap.run(f"continue {lap.offer()}")
    assert all(part in said for part in parts), said


def test_a_missing_program_under_systemd(lap: Lap) -> None:
    """Under systemd, too, a program that is missing or cannot be executed fails the continuation at once."""
    lap.install("/nonexistent/program")
    assert "/nonexistent/program is not installed" in lap.run(f"continue {lap.offer()}")
    broken = lap.manager.folder / "broken"
    broken.write_bytes(b"\x7fELF nonsense")
    broken.chmod(0o755)
    lap.install(str(broken))
    assert "ended with status 203" in lap.run(f"continue {lap.offer()}")


def test_a_unit_may_hand_over_to_another(lap: Lap) -> None:
    """Under systemd, too, a program that ends with status 0 may have handed over to another process, which goes on in its
    unit."""
    lap.install(lap.script(f"(sleep 1; exec {sys.executable} {STARTED} {NAME} {TYPE} {lap.result}) & exit 0"))
    lap.run(f"continue {lap.offer()}")
    assert lap.told()["activity"]["UserInfo"] == {"page": 7}
    assert len(lap.units) == 1
