# SPDX-License-Identifier: LGPL-2.1-or-later
"""GNOME Shell on a machine, without a screen: started, looked into, photographed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

from gi.repository import GLib
from buses import BusError, wait
from support import SOURCE, Machine
from vendor import ADD_ON, filled

NAME = "org.gnome.Shell"
EXTENSION = SOURCE / "data" / "gnome-shell" / "extension"
# Far more than it takes to start a desktop on a slow machine.
PATIENCE = 60
# The system bus, on which the Shell looks for what manages logins.
SYSTEM_BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>unix:path={path}</listen><policy context="default">
<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>
"""
SETTINGS = """[org/gnome/shell]
enabled-extensions=[{extensions}]
welcome-dialog-last-shown-version='999'
disable-user-extensions=false
[org/gnome/desktop/interface]
enable-animations=false
"""


def missing() -> str:
    """Why there can't be a Shell; empty if there can."""
    if not shutil.which("gnome-shell"):
        return "GNOME Shell is not installed: meson-helpers/install-packages desktop"
    if subprocess.run(["/usr/bin/python3", "-c", "import dbusmock"], capture_output=True).returncode != 0:
        return "python3-dbusmock is not installed: meson-helpers/install-packages desktop"
    return ""


def version() -> int:
    """Which version of GNOME Shell is installed."""
    said = subprocess.run(["gnome-shell", "--version"], capture_output=True, text=True).stdout
    return int(said.split()[2].split(".")[0])


def schema_compiler() -> str:
    """What compiles schemas of settings: not in the path if only the Shell needs it."""
    found = shutil.which("glib-compile-schemas") or next(Path("/usr/lib").glob("*/glib-2.0/glib-compile-schemas"), None)
    assert found, "glib-compile-schemas is missing: meson-helpers/install-packages build"
    return str(found)


def install_extension(machine: Machine) -> None:
    """Puts our extension where the user's own are, in the form for 45 and later or in that for those before."""
    folder = Path(machine.environment["XDG_DATA_HOME"], "gnome-shell", "extensions", ADD_ON)
    folder.mkdir(parents=True)
    for file in EXTENSION.glob("*.js"):
        if version() >= 45:
            shutil.copy(file, folder)
        else:
            subprocess.run([SOURCE / "meson-helpers" / "legacy-extension", file, folder / file.name], check=True)
    shutil.copytree(EXTENSION / "schemas", folder / "schemas")
    subprocess.run([schema_compiler(), "--strict", folder / "schemas"], check=True)
    (folder / "metadata.json").write_text(filled(EXTENSION / "metadata.json.in", versions=f'"{version()}"'))


class GnomeShell:
    """The Shell of a machine, with these extensions, which are installed."""

    def __init__(self, machine: Machine, *extensions: str, **environment: str) -> None:
        self.machine = machine
        self.processes: list[subprocess.Popen[bytes]] = []
        settings = Path(machine.environment["XDG_CONFIG_HOME"], "glib-2.0", "settings")
        settings.mkdir(parents=True, exist_ok=True)
        (settings / "keyfile").write_text(SETTINGS.format(
            extensions=",".join(f"'{extension}'" for extension in extensions)))
        self.environment = {name: value for name, value in machine.environment.items()
                            if name not in ("DISPLAY", "WAYLAND_DISPLAY")} | {
            "XDG_DATA_DIRS": f"{machine.environment['XDG_DATA_DIRS']}:/usr/share", "XDG_SESSION_TYPE": "wayland",
            "XDG_CURRENT_DESKTOP": "GNOME", "LIBGL_ALWAYS_SOFTWARE": "1", "GSETTINGS_BACKEND": "keyfile",
            "GSK_RENDERER": "cairo", "NO_AT_BRIDGE": "1", "GTK_A11Y": "none",
            "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={machine.folder}/system-bus"} | environment
        # Where a test plays logind, the Shell looks there.
        if not Path(machine.folder, "system-bus").exists():
            self._start_logins()
        self._spawn("gnome-shell", "--headless", "--virtual-monitor", "1280x800", "--wayland", "--no-x11", "--unsafe-mode")
        self.session = machine.connect()
        wait(lambda: self.session.owner(NAME) or self.processes[-1].poll() is not None, "GNOME Shell", PATIENCE)
        assert self.processes[-1].poll() is None, self.log
        wait(self._has_started, "the end of the Shell's start", PATIENCE)
        sockets = Path(machine.environment["XDG_RUNTIME_DIR"])
        self.environment |= {"GDK_BACKEND": "wayland", "WAYLAND_DISPLAY": next(
            path.name for path in sockets.glob("wayland-*") if not path.name.endswith(".lock"))}
        # It begins with all windows in view, of which none has the focus.
        self.evaluate("Main.overview.hide()")

    def _start_logins(self) -> None:
        path = self.machine.folder / "system-bus"
        configuration = self.machine.folder / "system-bus.conf"
        configuration.write_text(SYSTEM_BUS.format(path=path))
        self._spawn("dbus-daemon", "--nofork", "--config-file", str(configuration))
        wait(path.exists, "the system bus")
        self._spawn("/usr/bin/python3", "-m", "dbusmock", "--system", "--template", "logind")
        wait(lambda: "org.freedesktop.login1" in subprocess.run(
            ["gdbus", "call", "--address", f"unix:path={path}", "--dest", "org.freedesktop.DBus", "--object-path", "/",
             "--method", "org.freedesktop.DBus.ListNames"], capture_output=True, text=True).stdout, "logind")

    def _has_started(self) -> bool:
        assert self.processes[-1].poll() is None, self.log
        try:
            return self.evaluate("Main.layoutManager._startingUp") is False
        except BusError:
            # It owns its name before it has its objects.
            return False

    def _spawn(self, *command: str) -> subprocess.Popen[bytes]:
        with open(self.machine.log_file(Path(command[0]).name), "ab") as log:
            process = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", *command], env=self.environment,
                                       cwd=self.machine.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.processes.append(process)
        return process

    def run(self, *command: str) -> subprocess.Popen[bytes]:
        """Starts a program with windows in it."""
        return self._spawn(*command)

    @property
    def log(self) -> str:
        """What the Shell has complained of so far."""
        return self.machine.log("gnome-shell")

    def evaluate(self, script: str) -> Any:
        """What this expression is in the Shell."""
        script = f"(() => {{ const r = (() => ({script}))(); return JSON.stringify(r === undefined ? null : r); }})()"
        done, said = self.session.call("/org/gnome/Shell", f"{NAME}.Eval", GLib.Variant("(s)", (script,)),
                                       destination=NAME).unpack()
        assert done, said
        # What is returned is printed as JSON once more.
        return json.loads(json.loads(said)) if said else None

    def wait_until(self, script: str, what: str) -> None:
        """Waits until this expression is true in the Shell."""
        wait(lambda: self.evaluate(script) is True, what, PATIENCE)

    def shoot(self, name: str) -> Path:
        """Takes a picture of the whole screen, for people to look at: it is kept if HANDOFF_PICTURES names a folder."""
        path = Path(os.environ.get("HANDOFF_PICTURES", self.machine.folder), f"{name}.png")
        self.session.call("/org/gnome/Shell/Screenshot", f"{NAME}.Screenshot.Screenshot",
                          GLib.Variant("(bbs)", (False, False, str(path))), destination=f"{NAME}.Screenshot")
        return path

    def close(self) -> None:
        """Ends it and all that was started in it."""
        for process in reversed(self.processes):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(5)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
