# SPDX-License-Identifier: LGPL-2.1-or-later
"""Real desktops without a screen, on the bus of a machine: GNOME Shell, and KRunner on X11."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from gi.repository import GLib
from buses import BUS, BusError, Session, let_pass, wait
from screen import Screen
from support import SOURCE, Machine

SHELL = "org.gnome.Shell"
# Far more than it takes to start a desktop on a slow machine.
PATIENCE = 60

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


def missing(*programs: str) -> str:
    """Which of these is not there; empty if all are."""
    absent = [program for program in programs if not (shutil.which(program) or Path(program).exists())]
    return f"no {', '.join(absent)}: meson-helpers/install-packages desktop" if absent else ""


def install_data(machine: Machine) -> None:
    """Installs what the desktop finds the search by, and the desktop entry that it is shown under."""
    data = Path(machine.environment["XDG_DATA_HOME"])
    for folder in ("gnome-shell/search-providers", "krunner/dbusplugins"):
        shutil.copytree(SOURCE / "data" / folder, data / folder, dirs_exist_ok=True)
    share = Path(machine.folder, "share")
    shutil.copytree(SOURCE / "data" / "gnome-shell/search-providers", share / "gnome-shell/search-providers")
    (share / "applications").mkdir(exist_ok=True)
    (share / "applications" / "org.example.Handoff.Settings.desktop").write_text(
        "[Desktop Entry]\nType=Application\nName=Handoff\nExec=true\nIcon=computer\n")
    machine.environment["XDG_DATA_DIRS"] = f"{share}:/usr/share"


def tell_bus(machine: Machine, **variables: str) -> None:
    """Has programs that the bus starts find the desktop."""
    machine.environment |= variables
    names = (*variables, "HOME", "XDG_DATA_DIRS", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME",
             "XDG_RUNTIME_DIR")
    environment = {name: machine.environment[name] for name in names}
    machine.session.call("/org/freedesktop/DBus", f"{BUS}.UpdateActivationEnvironment",
                         GLib.Variant("(a{ss})", (environment,)), destination=BUS)


class GnomeShell:
    """GNOME Shell without a screen, which can be asked to run a line of its own language."""

    def __init__(self, machine: Machine, *extensions: str) -> None:
        self.machine = machine
        settings = Path(machine.environment["XDG_CONFIG_HOME"], "glib-2.0", "settings")
        settings.mkdir(parents=True)
        (settings / "keyfile").write_text(
            SETTINGS.format(extensions=",".join(f"'{extension}'" for extension in extensions)))
        self._start_system_bus()
        tell_bus(machine, XDG_SESSION_TYPE="wayland", XDG_CURRENT_DESKTOP="GNOME", LIBGL_ALWAYS_SOFTWARE="1",
                 GSETTINGS_BACKEND="keyfile")
        machine.start("gnome-shell", "--headless", "--virtual-monitor", "1280x800", "--wayland", "--no-x11",
                      "--unsafe-mode")
        wait(self._is_ready, "GNOME Shell", PATIENCE)

    def _start_system_bus(self) -> None:
        """A system bus with somebody who keeps sessions, without whom the Shell does not begin."""
        machine = self.machine
        path = machine.folder / "system-bus"
        configuration = machine.folder / "system-bus.conf"
        configuration.write_text(SYSTEM_BUS.format(path=path))
        address = f"unix:path={path}"
        # Another name than that of the session's bus.
        daemon = machine.folder / "system-dbus-daemon"
        daemon.symlink_to(shutil.which("dbus-daemon"))
        machine.start(str(daemon), "--nofork", "--nopidfile", f"--config-file={configuration}")
        system = wait(lambda: self._connect(address), "the system bus")
        machine.environment["DBUS_SYSTEM_BUS_ADDRESS"] = address
        machine.start("/usr/bin/python3", "-m", "dbusmock", "--system", "--template", "logind")
        wait(lambda: system.owner("org.freedesktop.login1"), "somebody who keeps sessions")

    def _connect(self, address: str) -> Session | None:
        """A connection to a bus, which takes some only after its socket exists."""
        try:
            session = Session(address)
        except GLib.Error:
            return None
        self.machine.sessions.append(session)
        return session

    def _is_ready(self) -> bool:
        try:
            return self.run("Main.layoutManager._startingUp") == "false"
        except BusError:
            return False

    def run(self, script: str) -> str:
        """Runs a line, and returns its value as JSON."""
        done, value = self.machine.session.call(
            "/org/gnome/Shell", f"{SHELL}.Eval", GLib.Variant("(s)", (script,)), destination=SHELL).unpack()
        if not done and "_startingUp" not in script:
            raise AssertionError(f"{script}: {value}")
        return value

    def wait_until(self, script: str, what: str) -> None:
        """Waits until a line is true."""
        wait(lambda: self.run(script) == "true", what, PATIENCE)

    def shoot(self, name: str) -> Path:
        """Takes a picture of the whole screen."""
        path = self.machine.folder / name
        self.machine.session.call(
            "/org/gnome/Shell/Screenshot", f"{SHELL}.Screenshot.Screenshot",
            GLib.Variant("(bbs)", (False, False, str(path))), destination=f"{SHELL}.Screenshot")
        keep(path)
        return path


class KRunnerProgram:
    """KRunner on a screen of its own."""

    NAME = "org.kde.krunner"

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.screen = Screen(machine.folder)
        tell_bus(machine, DISPLAY=self.screen.display, QT_QPA_PLATFORM="xcb")
        assert machine.run("kbuildsycoca5").returncode == 0
        machine.start("kwin_x11")
        machine.start("dbus-monitor", "--address", machine.address, "path=/org/example/Handoff/Agent/Runner")
        machine.start("krunner")
        wait(lambda: machine.session.owner(self.NAME), "KRunner", PATIENCE)

    def type(self, query: str) -> None:
        """Shows it with this query."""
        self.machine.session.call("/App", f"{self.NAME}.App.query", GLib.Variant("(s)", (query,)),
                                  destination=self.NAME)

    def wait_until_asked(self, query: str) -> None:
        """Waits until it has asked its runners, so that it has an answer, or will wait for it, when something is pressed."""
        wait(lambda: f'string "{query}"' in self.machine.log("dbus-monitor"), "a question to the agent", PATIENCE)

    def press(self, key: str) -> None:
        """Presses a key in its window, which nobody else gives the focus to."""
        self.screen.ask("xdotool", "search", "--sync", "--onlyvisible", "--class", "krunner", "windowfocus", "--sync",
                        "key", key)

    def shoot(self, name: str) -> None:
        """Takes a picture, if somebody wants to look at it, once it has had the time to draw."""
        if "HANDOFF_PICTURES" in os.environ:
            let_pass(2)
            keep(self.screen.shoot(name))

    def close(self) -> None:
        self.screen.close()


def keep(picture: Path) -> None:
    """Copies a picture to where somebody wants to look at it."""
    if folder := os.environ.get("HANDOFF_PICTURES"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        shutil.copy(picture, folder)
