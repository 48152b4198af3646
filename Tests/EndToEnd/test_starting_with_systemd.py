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
from gi.repository import Gio, GLib
from buses import Session, wait
from clients import Client
from support import PROGRAMS, Machine, start_machine
from test_desktop_entries import STARTED
from test_installed import manager, prefix  # noqa: F401
from test_starting import offered
from user_manager import MANAGER, SYSTEMD, UserManager

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
            return next((offer["activityId"] for offer in offers if offer["handlersToStart"] == [NAME]), None)
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
    ("kill -SEGV $$", ("has crashed. Start it and try again.",)),
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


INTERFACE = f"""<node><interface name="{SYSTEMD}.Manager">
<method name="StartTransientUnit"><arg type="s"/><arg type="s"/><arg type="a(sv)"/><arg type="a(sa(sv))"/>
<arg type="o" direction="out"/></method>
<method name="Subscribe"/><method name="Unsubscribe"/></interface></node>"""


class OldManager(Session):
    """Stands for a user's systemd before version 250, which starts nothing."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine.address)
        machine.sessions.append(self)
        self.calls: list[str] = []
        self.units: list[tuple[str, dict[str, Any]]] = []
        interface = Gio.DBusNodeInfo.new_for_xml(INTERFACE).interfaces[0]
        self.connection.register_object(MANAGER, interface, self._called, None, None)
        Gio.bus_own_name_on_connection(self.connection, SYSTEMD, Gio.BusNameOwnerFlags.NONE, None, None)
        wait(lambda: machine.session.owner(SYSTEMD), "the manager")

    def _called(self, _connection: Gio.DBusConnection, _sender: str, _path: str, _interface: str, method: str,
                arguments: GLib.Variant, invocation: Gio.DBusMethodInvocation) -> None:
        self.calls.append(method)
        if method != "StartTransientUnit":
            invocation.return_value(None)
            return
        name, _mode, properties, _others = arguments.unpack()
        if "ExitType" in dict(properties):
            invocation.return_dbus_error("org.freedesktop.DBus.Error.PropertyReadOnly", "Cannot set property ExitType.")
            return
        self.units.append((name, dict(properties)))
        invocation.return_value(GLib.Variant("(o)", ("/org/freedesktop/systemd1/job/1",)))


def tell_end(session: Session, unit: str, destination: str | None, status: int) -> None:
    """Tells that the program of a unit has ended."""
    element = "".join(c if c.isalnum() else f"_{ord(c):02x}" for c in unit)
    changed = {"ExecMainCode": GLib.Variant("i", 1), "ExecMainStatus": GLib.Variant("i", status)}
    session.connection.emit_signal(
        destination, f"/org/freedesktop/systemd1/unit/{element}", "org.freedesktop.DBus.Properties", "PropertiesChanged",
        GLib.Variant("(sa{sv}as)", (f"{SYSTEMD}.Service", changed, [])))


def test_an_older_systemd(machines: tuple[Machine, Machine]) -> None:
    """A systemd that does not know ExitType is asked without it, and listened to only while that matters; nobody else can say
    how a program has ended."""
    lap = machines[1]
    manager, stranger = OldManager(lap), lap.connect()  # noqa: F811
    dock, path = offered(machines, "true --new")
    dock.continue_offer(path)
    wait(lambda: manager.units, "the unit")
    (name, properties), = manager.units
    assert properties["KillMode"] == "process" and properties["ExecStart"][0][1] == ["true", "--new"]
    assert "Subscribe" in manager.calls and "Unsubscribe" not in manager.calls
    tell_end(stranger, name, lap.session.owner("org.example.Handoff"), 6)
    # With this answer it has been passed on, before what the manager says: the first that counts is the outcome.
    stranger.owner(SYSTEMD)
    tell_end(manager, name, None, 5)
    assert "status 5" in dock.outcome()[2]
    wait(lambda: "Unsubscribe" in manager.calls, "nobody to listen any more")
