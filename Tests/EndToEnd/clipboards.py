# SPDX-License-Identifier: LGPL-2.1-or-later
"""Desktops without a screen that have a clipboard, each for one machine: X11, sway, KWin on Wayland, GNOME Shell on Wayland.

    with SwayDesktop(machine) as desktop:
        machine.environment |= desktop.environment
        machine.start("handoff-agent")
        desktop.copy({"text/html": b"<b>Hello", "text/plain": b"Hello"})
        wait(lambda: desktop.asked["text/plain"] == 1, "the agent to read the text")
        wait(lambda: not desktop.is_owner, "the agent to put something else there")
        assert desktop.paste("text/plain") == b"Hello back"

What copies and what pastes are two programs, neither of which is this process: they serve each other while a test waits.
“clipboards.py x11|sway|kwin|gnome” tries the desktop itself, beside what others have made for its clipboard.
"""

from __future__ import annotations

import os
import random
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from abc import abstractmethod
from pathlib import Path

from buses import wait
from clipboard_desktop import PATIENCE, Desktop, end, spawn
from gnome_shell import GnomeShell
from gnome_shell import missing as missing_shell
from screen import Screen
from support import Machine

# Who runs what refuses to be run by root: nobody.
NOBODY = 65534
SWAY = "xwayland disable\n"
PRESS = """(() => { const Clutter = imports.gi.Clutter;
const keyboard = Clutter.get_default_backend().get_default_seat().create_virtual_device(
    Clutter.InputDeviceType.KEYBOARD_DEVICE);
for (const state of [Clutter.KeyState.PRESSED, Clutter.KeyState.RELEASED])
    keyboard.notify_keyval(0, Clutter.KEY_Shift_L, state);
globalThis.keyboardOfTests = keyboard; })()"""


class X11Desktop(Desktop):
    """A display, and nothing on it."""

    NAME = "X11"
    KIND = "x11"
    WITNESS = ["xclip", "-selection", "clipboard", "-o", "-t"]

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.screen: Screen | None = None

    @classmethod
    def missing(cls) -> str:
        if not shutil.which("Xvfb"):
            return "no Xvfb: meson-helpers/install-packages test"
        known = subprocess.run(["/usr/bin/python3", "-c", "import gi; gi.require_version('Gtk', '3.0')"], capture_output=True)
        return "" if known.returncode == 0 else "no gir1.2-gtk-3.0: meson-helpers/install-packages test"

    def _start(self) -> None:
        self.screen = Screen(self.machine.folder)
        self.environment = {"DISPLAY": self.screen.display, "XDG_SESSION_TYPE": "x11", "GDK_BACKEND": "x11"}

    def _stop(self) -> None:
        if self.screen:
            self.screen.close()
        self.screen = None


class WaylandDesktop(Desktop):
    """A compositor with zwlr_data_control_manager_v1."""

    KIND = "data-control"
    DESKTOP = ""
    PROGRAM = ""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.process: subprocess.Popen[bytes] | None = None

    @classmethod
    def missing(cls) -> str:
        return "" if shutil.which(cls.PROGRAM) else f"no {cls.PROGRAM}: meson-helpers/install-packages desktop"

    @abstractmethod
    def _start_compositor(self) -> subprocess.Popen[bytes]:
        """Starts it, so that its socket comes to be wayland-1 in the folder of the machine's session."""

    def _start(self) -> None:
        self.environment = {
            "WAYLAND_DISPLAY": "wayland-1", "XDG_RUNTIME_DIR": self.machine.environment["XDG_RUNTIME_DIR"],
            "XDG_SESSION_TYPE": "wayland", "XDG_CURRENT_DESKTOP": self.DESKTOP, "GDK_BACKEND": "wayland"}
        self.process = self._start_compositor()
        wait(self._takes_clients, self.NAME, PATIENCE)

    def _takes_clients(self) -> bool:
        assert self.process and self.process.poll() is None, f"{self.NAME} has ended: {self.machine.log(self.PROGRAM)}"
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(f"{self.environment['XDG_RUNTIME_DIR']}/wayland-1")
            except OSError:
                return False
        return True

    def _environment_of_compositor(self) -> dict[str, str]:
        own = {name: value for name, value in self.environment_of_clients.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
        return own | {"LIBGL_ALWAYS_SOFTWARE": "1"}

    def _stop(self) -> None:
        if self.process:
            end(self.process)
        self.process = None


class SwayDesktop(WaylandDesktop):
    """sway, without a window."""

    NAME = DESKTOP = PROGRAM = "sway"

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.folder: Path | None = None

    def _start_compositor(self) -> subprocess.Popen[bytes]:
        # It refuses root, and nobody comes into the folder of a machine of root's: its socket is in a folder of its own.
        self.folder = Path(tempfile.mkdtemp(prefix="handoff-sway-"))
        (self.folder / "sway.conf").write_text(SWAY)
        Path(self.environment["XDG_RUNTIME_DIR"], "wayland-1").symlink_to(self.folder / "wayland-1")
        environment = self._environment_of_compositor() | {
            "XDG_RUNTIME_DIR": str(self.folder), "HOME": str(self.folder), "WLR_BACKENDS": "headless", "WLR_RENDERER": "pixman",
            "WLR_LIBINPUT_NO_DEVICES": "1"}
        user: list[str] = []
        if os.geteuid() == 0:
            user = [f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
            os.chown(self.folder, NOBODY, NOBODY)
        # The signal is asked for by who it becomes: a change of the user undoes that.
        return spawn(self.machine, environment, *user, "sway", "--config", str(self.folder / "sway.conf"), log="sway",
                     cwd=self.folder)

    def _stop(self) -> None:
        super()._stop()
        if self.folder:
            Path(self.environment["XDG_RUNTIME_DIR"], "wayland-1").unlink(missing_ok=True)
            shutil.rmtree(self.folder, ignore_errors=True)
        self.folder = None


class KWinDesktop(WaylandDesktop):
    """KWin on Wayland, without the rest of Plasma: there is no Klipper."""

    NAME = "KWin"
    DESKTOP = "KDE"
    PROGRAM = "kwin_wayland"

    def _start_compositor(self) -> subprocess.Popen[bytes]:
        # A capability of its file keeps it from being started where that can't be had. A copy of it has none; it wants its name.
        folder = self.machine.folder / "kwin"
        folder.mkdir(exist_ok=True)
        path = shutil.which(self.PROGRAM)
        assert path
        program = shutil.copy(path, folder)
        environment = self._environment_of_compositor() | {"KWIN_COMPOSE": "Q"}
        return spawn(self.machine, environment, program, "--virtual", "--no-lockscreen", "--no-global-shortcuts",
                     "--socket", "wayland-1")


class GnomeDesktop(Desktop):
    """GNOME Shell on Wayland, with a keyboard that was used: until then it tells no window of the clipboard. It reads what a
    program copies to keep it, which is refused here, so that all that is counted is wanted by somebody else."""

    NAME = "GNOME"
    KIND = "mutter"

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.shell: GnomeShell | None = None
        self.played: Path | None = None

    @classmethod
    def missing(cls) -> str:
        return missing_shell()

    def _start(self) -> None:
        # The login manager that it plays itself goes with it; that of a test stays.
        system_bus = self.machine.folder / "system-bus"
        self.played = None if system_bus.exists() else system_bus
        self.shell = GnomeShell(self.machine)
        self.environment = {name: self.shell.environment[name] for name in (
            "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "XDG_SESSION_TYPE", "XDG_CURRENT_DESKTOP", "GDK_BACKEND")}
        self.shell.evaluate(PRESS)

    def _stop(self) -> None:
        if self.shell:
            self.shell.close()
            if self.played:
                self.played.unlink(missing_ok=True)
        self.shell = None


DESKTOPS: dict[str, type[Desktop]] = {"x11": X11Desktop, "sway": SwayDesktop, "kwin": KWinDesktop, "gnome": GnomeDesktop}


# The desktops themselves


def picture(size: int) -> bytes:
    """A picture that takes at least so many bytes, as PNG."""
    width, height = 1000, size // 3000 + 1
    rows = b"".join(b"\0" + random.Random(row).randbytes(3 * width) for row in range(height))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) \
        + chunk(b"IDAT", zlib.compress(rows, 0)) + chunk(b"IEND", b"")


def witnessed(desktop: Desktop, kind: str) -> bytes | None:
    """What a program that is none of ours reads; None where it isn't installed."""
    if not shutil.which(desktop.WITNESS[0]):
        return None
    process = spawn(desktop.machine, desktop.environment_of_clients, "timeout", str(PATIENCE), *desktop.WITNESS, kind,
                    log="witness", stdout=subprocess.PIPE)
    with process:
        assert process.stdout
        return process.stdout.read()


def try_out(desktop: Desktop) -> None:
    """Tries all that a desktop can do, and prints how long each took."""
    begin = time.monotonic()

    def took(what: str) -> None:
        nonlocal begin
        print(f"{desktop.NAME}: {(time.monotonic() - begin) * 1000:6.0f} ms  {what}", flush=True)
        begin = time.monotonic()

    contents = {"text/plain;charset=utf-8": "Größe".encode(), "text/html": b"<b>H</b>", "image/png": picture(3_000_000)}
    begin = time.monotonic()
    desktop.start()
    took("to start")
    assert desktop.types() == []
    assert desktop.paste("text/html", 5) is None
    took("to find nothing")
    before = desktop.changes
    desktop.copy(contents)
    took("to copy text, HTML and a picture of 3 MB")
    assert sorted(desktop.types()) == sorted(contents), desktop.types()
    took("to list the types")
    assert desktop.changes > before
    assert desktop.is_owner
    assert not desktop.asked, f"asked for already: {desktop.asked}"
    begin = time.monotonic()
    for kind, content in contents.items():
        assert desktop.paste(kind) == content, kind
        took(f"to paste {kind}")
    assert desktop.asked == dict.fromkeys(contents, 1), desktop.asked
    assert desktop.paste("application/x-other", 5) is None
    for kind, content in contents.items():
        begin = time.monotonic()
        if (found := witnessed(desktop, kind)) is not None:
            assert found == content, f"{desktop.WITNESS[0]} reads {len(found)} bytes of {kind}"
            assert desktop.asked[kind] == 2, desktop.asked
            took(f"to paste {kind} with {desktop.WITNESS[0]}")
    desktop.copy({"text/plain": b"other"})
    assert desktop.types() == ["text/plain"]
    assert desktop.paste("text/plain") == b"other"
    assert desktop.asked == {"text/plain": 1}
    assert desktop.paste("text/html", 5) is None
    begin = time.monotonic()
    desktop.clear()
    took("to clear it")
    assert desktop.types() == []
    assert not desktop.is_owner
    assert desktop.paste("text/plain", 5) is None
    begin = time.monotonic()
    desktop.stop()
    took("to stop")


def main() -> None:
    kind = DESKTOPS[sys.argv[1].lower()]
    if reason := kind.missing():
        sys.exit(reason)
    machine = Machine("desk")
    desktop = kind(machine)
    try:
        try_out(desktop)
    except BaseException:
        for program, log in machine.logs().items():
            print(f"-- {program}\n{log[-3000:]}", file=sys.stderr)
        raise
    finally:
        desktop.stop()
        machine.stop()
        machine.remove()


if __name__ == "__main__":
    main()
