# SPDX-License-Identifier: LGPL-2.1-or-later
"""A user's own systemd, in namespaces of its own, which it takes for a machine that was booted with systemd."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from gi.repository import GLib
from buses import BusError, Session, wait

SYSTEMD = "org.freedesktop.systemd1"
MANAGER = "/org/freedesktop/systemd1"
# systemd goes by this folder. The first process of a namespace must not be the manager, which would take itself for init.
SCRIPT = "mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system && {program} --user --log-target=console & wait $!"
# graphical-session.target is not started by hand but by what a desktop calls its session.
SESSION = """[Unit]
BindsTo=graphical-session.target
"""


class UserManager:
    """A user manager that knows the units, the bus its service files, of a prefix. Ends with `end`."""

    def __init__(self, prefix: Path) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="handoff-user-"))
        folders = {name: self.folder / name.removeprefix("XDG_").lower() for name in (
            "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "HOME")}
        for folder in folders.values():
            folder.mkdir(mode=0o700)
        units = folders["XDG_CONFIG_HOME"] / "systemd" / "user"
        units.mkdir(parents=True)
        (units / "desktop-session.target").write_text(SESSION)
        # Also where the machine has chosen another bus, which needs more of a session than there is.
        if (service := Path("/usr/lib/systemd/user/dbus.service")).is_file():
            (units / "dbus.service").write_bytes(service.read_bytes())
        configuration = folders["XDG_CONFIG_HOME"] / "handoff"
        configuration.mkdir()
        (configuration / "handoff.conf").write_text("[Device]\nName=desk\n")
        environment = {name: str(folder) for name, folder in folders.items()} | {
            "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "XDG_DATA_DIRS": f"{prefix}/share",
            "XDG_CONFIG_DIRS": f"{prefix}/etc/xdg",
            # No discovery: the tests are on this machine alone.
            "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={self.folder}/no-system-bus",
            "SYSTEMD_UNIT_PATH": f"{units}:{prefix}/lib/systemd/user:"}
        self.bus = folders["XDG_RUNTIME_DIR"] / "bus"
        self._log = self.folder / "log"
        self.session: Session | None = None
        # Why there is none; empty if there is one.
        self.missing = self._start(environment)

    def _start(self, environment: dict[str, str]) -> str:
        program = next((path for path in ("/usr/lib/systemd/systemd", "/lib/systemd/systemd") if os.access(path, os.X_OK)),
                       "")
        if not program:
            return "systemd is not installed: install the Debian package systemd"
        namespaces = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
        if os.geteuid() != 0:
            namespaces.append("--map-root-user")
        attempt = subprocess.run([*namespaces, "true"], capture_output=True, text=True)
        if attempt.returncode != 0:
            return f"there can't be namespaces: {attempt.stderr.strip()}"
        with open(self._log, "wb") as log:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *namespaces, "sh", "-c", SCRIPT.format(program=program)],
                env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

        def connected() -> Session | None:
            assert self.process.poll() is None, self.log
            try:
                return Session(f"unix:path={self.bus}")
            except GLib.Error:
                return None

        self.session = wait(connected, "the bus of the user manager")
        wait(lambda: self.session.owner(SYSTEMD), "the user manager on its bus")
        return ""

    @property
    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def call(self, method: str, arguments: GLib.Variant, path: str = MANAGER) -> GLib.Variant:
        """Calls the manager, or an object of it."""
        member = method if method.count(".") > 1 else f"{SYSTEMD}.Manager.{method}"
        return self.session.call(path, member, arguments, destination=SYSTEMD)

    def run(self, *command: str) -> str:
        """What a program of this session prints. Who calls from outside it is nobody whom its daemons could look at."""
        pid = self.process.pid
        first = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0]
        user = [] if os.geteuid() == 0 else ["--user", "--preserve-credentials"]
        environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "DBUS_SESSION_BUS_ADDRESS": f"unix:path={self.bus}"}
        done = subprocess.run(["nsenter", f"--target={first}", "--mount", "--pid", *user, *command],
                              env=environment, capture_output=True, text=True, timeout=30)
        assert done.returncode == 0, done
        return done.stdout.strip()

    def start(self, unit: str) -> None:
        self.call("StartUnit", GLib.Variant("(ss)", (unit, "replace")))

    def stop(self, unit: str) -> None:
        self.call("StopUnit", GLib.Variant("(ss)", (unit, "replace")))

    def property(self, unit: str, interface: str, name: str) -> str:
        """A property of a unit that is loaded; empty if it is not."""
        try:
            path = self.call("GetUnit", GLib.Variant("(s)", (unit,))).unpack()[0]
            return self.call("org.freedesktop.DBus.Properties.Get",
                             GLib.Variant("(ss)", (f"{SYSTEMD}.{interface}", name)), path).unpack()[0]
        except BusError:
            return ""

    def state(self, unit: str) -> str:
        """The state of a unit; empty if it is not even loaded."""
        return self.property(unit, "Unit", "ActiveState")

    def end(self) -> None:
        if self.session:
            self.session.close()
        if not self.missing and self.process.poll() is None:
            # With it ends what is in its namespaces.
            self.process.send_signal(signal.SIGKILL)
            self.process.wait(10)
        shutil.rmtree(self.folder, ignore_errors=True)
