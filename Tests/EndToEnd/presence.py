# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether the user of a machine is there, as logind says it: python3-dbusmock on a system bus of the machine's own.

    presence = Presence(machine)
    presence.lock()
    presence.unlock()
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from gi.repository import GLib
from buses import BUS, Session, wait
from support import Machine

LOGIND = "org.freedesktop.login1"
LOGIND_ROOT = "/org/freedesktop/login1"
MOCK = "org.freedesktop.DBus.Mock"
SESSION = f"{LOGIND_ROOT}/session/c1"


def missing() -> str:
    """What there is not for a logind of our own; empty if nothing is missing."""
    if not Path("/usr/lib/python3/dist-packages/dbusmock").exists():
        return "no dbusmock: meson-helpers/install-packages test"
    return ""


class Presence:
    """The session c1 of logind, which is that of the machine. To be made before the agent is started."""

    def __init__(self, machine: Machine, knows_session: bool = True) -> None:
        self.machine = machine
        address = machine.environment["DBUS_SYSTEM_BUS_ADDRESS"] = f"unix:path={machine.folder}/system-bus"
        machine.environment["XDG_SESSION_ID"] = "c1" if knows_session else ""
        self.processes: list[subprocess.Popen[bytes]] = []
        self._start("dbus-daemon", "--session", "--nofork", "--nopidfile", "--address", address)
        self.bus = wait(lambda: self._connect(address), "the system bus")
        self._start("/usr/bin/python3", "-m", "dbusmock", "--system", "--template", "logind")
        machine.sessions.append(self.bus)
        wait(lambda: self.bus.owner(LOGIND), "logind")
        wait(self._has_session, "the session of logind")

    @staticmethod
    def _connect(address: str) -> Session | None:
        """A connection to the bus, which takes none yet when its socket appears."""
        try:
            return Session(address)
        except GLib.Error:
            return None

    def _start(self, *command: str) -> None:
        with open(self.machine.folder / "logind.log", "ab") as log:
            self.processes.append(subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *command], stdin=subprocess.DEVNULL,
                                                   env=self.machine.environment, stdout=log, stderr=log))

    def stop(self) -> None:
        """Ends logind and the system bus."""
        for process in reversed(self.processes):
            process.kill()
            process.wait()

    def _has_session(self) -> bool:
        arguments = GLib.Variant("(ssusb)", ("c1", "seat0", os.getuid(), "me", True))
        self._mock(LOGIND_ROOT, "AddSession", arguments)
        # What the template leaves out, or gets wrong.
        user = f"{LOGIND_ROOT}/user/{os.getuid()}"
        self._mock(LOGIND_ROOT, "AddMethod",
                   GLib.Variant("(sssss)", (f"{LOGIND}.Manager", "GetUser", "u", "o", f"ret = '{user}'")))
        display = GLib.Variant("(ssv)", (f"{LOGIND}.User", "Display", GLib.Variant("(so)", ("c1", SESSION))))
        self.bus.call(user, f"{BUS}.Properties.Set", display, destination=LOGIND)
        return True

    def _mock(self, path: str, member: str, arguments: GLib.Variant) -> None:
        self.bus.call(path, f"{MOCK}.{member}", arguments, destination=LOGIND)

    def _set(self, name: str, value: bool) -> None:
        self._mock(SESSION, "UpdateProperties",
                   GLib.Variant("(sa{sv})", (f"{LOGIND}.Session", {name: GLib.Variant("b", value)})))

    def lock(self) -> None:
        self._set("LockedHint", True)

    def unlock(self) -> None:
        self._set("LockedHint", False)

    def idle(self, is_idle: bool) -> None:
        self._set("IdleHint", is_idle)

    def ask(self, member: str) -> None:
        """Sends Lock or Unlock, which ask whoever locks the session."""
        self.bus.call(SESSION, f"{LOGIND}.Session.{member}", destination=LOGIND)

    def arrive(self) -> None:
        """The user has been away and comes back."""
        self.lock()
        self.unlock()
