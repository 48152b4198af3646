# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Handoff window, as its users see it."""

from __future__ import annotations

import contextlib
from pathlib import Path

from gi.repository import GLib
from screen import Screen
from support import PROGRAMS, SOURCE, Machine
from vendor import own_id
from windows import Part, Program

PROGRAM = "handoff-settings"
APPLICATION_ID = own_id("Settings")
PAGES = ("Continue", "Devices", "Activity", "Preferences")
# Windows are as wide as the display: there is no window manager that would place them.
NARROW, MIDDLE, WIDE = "360x640", "1000x700", "1600x900"


def not_built() -> str:
    """Why there is no Handoff window; empty if there is."""
    return "" if (PROGRAMS / PROGRAM).exists() else f"no {PROGRAM}: it is built where there is libadwaita"


class Settings(Program):
    """The Handoff window of a machine."""

    def __init__(self, machine: Machine, screen: Screen, *arguments: str) -> None:
        former = machine.environment
        # Its own picture, which is not installed.
        machine.environment = former | {"XDG_DATA_DIRS": f"{former['XDG_DATA_DIRS']}:{SOURCE / 'data'}"}
        try:
            super().__init__(machine, screen, PROGRAM, *arguments)
        finally:
            machine.environment = former
        self.wait_until(lambda: self.find("frame", "Handoff"), "the window")
        self.focus()

    def address(self) -> Part:
        """The field of the dialog for pairing that takes an address, which is folded away at first."""
        self.focus()
        self.click(self.wait_for("list item", "By Address"))
        return self.wait_for("text", "Address, HOST:PORT")

    def go_to(self, page: str) -> None:
        """Shows a page, with the keyboard."""
        self.focus()
        self.keys(f"alt+{PAGES.index(page) + 1}")

    def labels(self) -> list[str]:
        """All texts that are seen."""
        names = []
        for part in self.find("label"):
            # One that has gone since raises.
            with contextlib.suppress(GLib.Error):
                names.append(part.name)
        return names

    def sees(self, text: str) -> bool:
        """Whether a text is seen, alone or within another."""
        return any(text in label for label in self.labels())

    def wait_to_see(self, text: str) -> None:
        self.wait_until(lambda: self.sees(text), f"“{text}”")

    def wait_to_miss(self, text: str) -> None:
        self.wait_until(lambda: not self.sees(text), f"the end of “{text}”")

    def button(self, name: str, what: str) -> Part:
        """The button of this name that is for something of which there may be several."""
        def found() -> list[Part]:
            try:
                return [part for part in self.find("push button", name) if part.description == what]
            except GLib.Error:
                # It has gone while it was looked at.
                return []

        # What was found may be shown anew a moment later.
        parts: list[Part] = []
        self.wait_until(lambda: parts.extend(found()) or parts, f"{name} for “{what}”")
        return parts[0]

    def offers(self, title: str) -> bool:
        """Whether it can be continued now."""
        return any(part.description == title for part in self.find("push button", "Continue"))

    def switch(self, name: str) -> Part:
        """The switch of this name."""
        return self.wait_for("check box", name)

    def focused(self) -> list[str]:
        """The names of what has the keyboard, and of what that is in, as far as it can be chosen."""
        return [name for name, _role in self.keyboard()]

    def keyboard(self) -> list[tuple[str, str]]:
        """The same, each with its role: a row and what is in it may have one name."""
        try:
            application = self.application
            parts = list(application.parts()) if application else []
            return [(part.name, part.role) for part in parts if part.has_keyboard]
        except GLib.Error:
            return []

    def unnamed(self) -> list[str]:
        """What can be used, and has no name."""
        try:
            application = self.application
            parts = list(application.parts()) if application else []
            return [part.role for part in parts
                    if part.role in ("push button", "toggle button", "switch", "check box", "text", "entry", "combo box",
                                     "list", "menu item", "progress bar") and not part.name]
        except GLib.Error:
            return []

    def doubled(self) -> list[str]:
        """The buttons that say their names twice."""
        try:
            application = self.application
            names = [part.name for part in application.parts() if part.role == "push button"] if application else []
            return [name for name in names if name and name == f"{name[:len(name) // 2]} {name[:len(name) // 2]}"]
        except GLib.Error:
            return []


def ends(machine: Machine) -> None:
    """Ends the window of a machine, if there is one."""
    if PROGRAM in machine.processes:
        machine.kill(PROGRAM)


def complaints(machine: Machine) -> list[str]:
    """What GTK has found wrong with the program."""
    return [line for line in machine.log(PROGRAM).splitlines() if "CRITICAL" in line or "WARNING" in line]


def screen_of(machine: Machine, folder: Path, size: str) -> Screen:
    """A display of a machine of its own."""
    place = folder / f"{machine.name}-{size}"
    place.mkdir(exist_ok=True)
    machine.screen = Screen(place, size)
    return machine.screen
