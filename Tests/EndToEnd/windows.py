# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs with windows, read and driven as assistive technology does.

    screen = Screen(tmp_path)
    program = Program(machine, screen, "handoff-contacts")
    program.press("New Contact")
    program.focus()
    program.type("Ada")
    program.wait_for("label", "Ada")
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Self

import gi
from buses import BUS, wait
from gi.repository import GLib
from screen import Screen
from support import Machine

try:
    gi.require_version("Atspi", "2.0")
    from gi.repository import Atspi
except (ImportError, ValueError):
    Atspi = None

LAUNCHER = Path("/usr/libexec/at-spi-bus-launcher")


def missing() -> str:
    """What there is not for tests with windows; empty if nothing is missing."""
    if Atspi is None or not LAUNCHER.exists():
        return "no AT-SPI: meson-helpers/install-packages test"
    for program in ("Xvfb", "xdotool"):
        if shutil.which(program) is None:
            return f"no {program}: meson-helpers/install-packages test"
    return ""


class Accessibility:
    """The bus of assistive technology, one for all programs that tests start: libatspi looks for it but once."""

    shared: Accessibility | None = None

    def __init__(self) -> None:
        # Short, because the path of a socket can't be long.
        folder = self.folder = Path(tempfile.mkdtemp(prefix="handoff-a11y-"))
        self.processes: list[subprocess.Popen[bytes]] = []
        address = f"unix:path={folder}/a11y-session"
        environment = {"PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": str(folder), "HOME": str(folder),
                       "DBUS_SESSION_BUS_ADDRESS": address, "GSETTINGS_BACKEND": "memory", "LANG": "C.UTF-8"}
        self.start(environment, "dbus-daemon", "--session", "--nofork", "--nopidfile", "--address", address)
        wait((folder / "a11y-session").exists, "the session bus of the assistive technology")
        self.start(environment, str(LAUNCHER), "--launch-immediately")

        def address_of_bus() -> str:
            result = subprocess.run(
                ["gdbus", "call", "--address", address, "--dest", "org.a11y.Bus", "--object-path", "/org/a11y/bus",
                 "--method", "org.a11y.Bus.GetAddress"], env=environment, capture_output=True, text=True, check=False)
            return result.stdout.split("'")[1] if "'" in result.stdout else ""

        self.address = wait(address_of_bus, "the bus of the assistive technology")
        os.environ["AT_SPI_BUS_ADDRESS"] = self.address
        Atspi.init()

    def start(self, environment: dict[str, str], *command: str) -> None:
        self.processes.append(subprocess.Popen(["setpriv", "--pdeathsig", "TERM", *command], env=environment,
                                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                               stderr=subprocess.DEVNULL))

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.terminate()
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    @staticmethod
    def applications() -> Iterator[Atspi.Accessible]:
        desktop = Atspi.get_desktop(0)
        for index in range(desktop.get_child_count()):
            if (application := desktop.get_child_at_index(index)) is not None:
                yield application


def environment_of(machine: Machine, screen: Screen) -> dict[str, str]:
    """What a program with windows needs to be told."""
    assert Accessibility.shared
    # What the system has for all, pictures of icons among it.
    shared = f"{machine.environment['XDG_DATA_DIRS']}:/usr/local/share:/usr/share"
    return {"DISPLAY": screen.display, "XDG_DATA_DIRS": shared, "GDK_BACKEND": "x11", "GSK_RENDERER": "cairo", "GSETTINGS_BACKEND": "memory",
            "AT_SPI_BUS_ADDRESS": Accessibility.shared.address, "GTK_A11Y": "atspi", "GTK_USE_PORTAL": "0",
            "LIBGL_ALWAYS_SOFTWARE": "1", "G_ENABLE_DIAGNOSTIC": "0",
            # A dialog for folders would ask GVfs for volumes, which complains that nobody here manages any.
            "GIO_USE_VOLUME_MONITOR": "unix"}


class Part:
    """Something in a window."""

    def __init__(self, accessible: Atspi.Accessible) -> None:
        self.accessible = accessible

    @property
    def role(self) -> str:
        return self.accessible.get_role_name()

    @property
    def name(self) -> str:
        return self.accessible.get_name() or ""

    @property
    def description(self) -> str:
        """What is said of it after its name."""
        return self.accessible.get_description() or ""

    def is_called(self, name: str) -> bool:
        """GTK 4.8 says the names of some switches, and of buttons with a picture beside their text, after another text."""
        return self.name == name or (self.role in ("push button", "check box") and self.name.endswith(f" {name}"))

    @property
    def is_shown(self) -> bool:
        """GTK counts as visible also what is on another page, but that has no size."""
        place = self.place
        return place is None or (place.width > 0 and
                                 self.accessible.get_state_set().contains(Atspi.StateType.VISIBLE))

    @property
    def place(self) -> Atspi.Rect | None:
        """Where it is in its window; nothing for what is only there to hold others."""
        if "Component" not in self.accessible.get_interfaces():
            return None
        return self.accessible.get_extents(Atspi.CoordType.WINDOW)

    @property
    def is_sensitive(self) -> bool:
        return self.accessible.get_state_set().contains(Atspi.StateType.SENSITIVE)

    @property
    def is_on(self) -> bool:
        return self.accessible.get_state_set().contains(Atspi.StateType.CHECKED)

    @property
    def has_keyboard(self) -> bool:
        return self.accessible.get_state_set().contains(Atspi.StateType.FOCUSED)

    @property
    def text(self) -> str:
        # Without the number of characters GTK 4.8 says that there is no text.
        return Atspi.Text.get_text(self.accessible, 0, Atspi.Text.get_character_count(self.accessible))

    def press(self) -> None:
        """What a click does."""
        assert self.accessible.do_action(0), f"{self.role} “{self.name}” can't be pressed"

    def set_text(self, text: str) -> None:
        assert Atspi.EditableText.set_text_contents(self.accessible, text), f"“{self.name}” takes no text"

    def children(self) -> Iterator[Part]:
        for index in range(self.accessible.get_child_count()):
            if (child := self.accessible.get_child_at_index(index)) is not None:
                yield Part(child)

    def parts(self) -> Iterator[Part]:
        """This and all that is in it, as far as it is seen."""
        yield self
        for child in self.children():
            if child.is_shown:
                yield from child.parts()

    def tree(self, depth: int = 0) -> str:
        """All that is seen, for people."""
        line = "  " * depth + f"{self.role} “{self.name}”\n"
        return line + "".join(child.tree(depth + 1) for child in self.children() if child.is_shown)


class Program:
    """A program with windows that runs on a machine."""

    def __init__(self, machine: Machine, screen: Screen, name: str, *arguments: str) -> None:
        self.machine, self.screen, self.name = machine, screen, name
        former = machine.environment
        machine.environment = former | environment_of(machine, screen)
        try:
            self.process = machine.start(name, *arguments)
        finally:
            machine.environment = former

    @classmethod
    def started(cls, machine: Machine, screen: Screen, name: str, application_id: str) -> Self:
        """The program of this name that the bus of a machine has started as the owner of a bus name."""
        program = cls.__new__(cls)
        program.machine, program.screen, program.name = machine, screen, name
        program.process = SimpleNamespace(pid=machine.session.call(
            "/org/freedesktop/DBus", f"{BUS}.GetConnectionUnixProcessID", GLib.Variant("(s)", (application_id,)),
            destination=BUS).unpack()[0])
        return program

    @property
    def application(self) -> Part | None:
        for application in Accessibility.applications():
            try:
                if application.get_process_id() == self.process.pid:
                    return Part(application)
            except GLib.Error:
                continue
        return None

    def find(self, role: str, name: str | None = None) -> list[Part]:
        """What is seen and has this role, and this name if one is given."""
        try:
            application = self.application
            if application is None:
                return []
            return [part for part in application.parts()
                    if part.role == role and (name is None or part.is_called(name))]
        except GLib.Error:
            # Something has gone while it was looked at.
            return []

    def wait_for(self, role: str, name: str | None = None) -> Part:
        """What has this role and name, once it is seen."""
        try:
            return wait(lambda: self.find(role, name), f"{role} “{name}” of {self.name}")[0]
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.tree()}") from None

    def wait_until(self, condition: Callable[[], object], what: str) -> None:
        try:
            wait(condition, what)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.tree()}") from None

    def tree(self) -> str:
        """All that is seen, and what the program has said."""
        try:
            seen = self.application.tree() if self.application else "no windows"
        except GLib.Error as error:
            seen = str(error)
        return f"{seen}\n{self.machine.log(self.name)}"

    def press(self, name: str) -> None:
        """Presses a button."""
        self.wait_for("push button", name).press()

    def answer(self, name: str) -> None:
        """Presses a button of the dialog that is in front."""
        def answers() -> list[Part]:
            return [part for dialog in self.find("dialog") for part in dialog.parts()
                    if part.role == "push button" and part.is_called(name)]

        try:
            wait(answers, f"the answer “{name}”")[-1].press()
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.tree()}") from None
        self.wait_until(lambda: not self.find("dialog"), "the end of the dialog")

    def window(self) -> str:
        """The number of its newest window on the display."""
        search = ("xdotool", "search", "--onlyvisible", "--all", "--pid", str(self.process.pid), "--class", "")
        return wait(lambda: self.screen.ask(*search).split(), "a window")[-1]

    def focus(self) -> None:
        """Gives the keyboard to the newest window: there is no window manager that would."""
        self.screen.ask("xdotool", "windowfocus", "--sync", self.window())

    def click(self, part: Part) -> None:
        """Clicks on something with the mouse."""
        place = part.place
        assert place is not None, f"{part.role} “{part.name}” is nowhere"
        self.screen.ask("xdotool", "mousemove", "--sync", "--window", self.window(), str(place.x + place.width // 2),
                        str(place.y + place.height // 2), "click", "1")

    def field(self, name: str) -> str:
        """What stands in a field of a form."""
        return self.wait_for("text", name).text

    def keys(self, *keys: str) -> None:
        self.screen.ask("xdotool", "key", *keys)

    def type(self, text: str) -> None:
        self.screen.ask("xdotool", "type", "--delay", "5", text)


def wait_for_labels(*expected: tuple[Program, str]) -> None:
    """Waits until each of these windows has shown its text, in any order: some are seen for a moment only."""
    missing = list(expected)

    def all_seen() -> bool:
        for one in list(missing):
            if one[0].find("label", one[1]):
                missing.remove(one)
        return not missing

    wait(all_seen, " and ".join(f"“{text}” of {window.name}" for window, text in expected))
