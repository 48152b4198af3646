# SPDX-License-Identifier: LGPL-2.1-or-later
"""The address book with windows, as its users see it."""

from __future__ import annotations

import json
from pathlib import Path

from buses import wait
from desktops import install_entry
from gi.repository import GLib
from screen import Screen
from support import PROGRAMS, Machine
from test_desktop_entries import have_bus_start
from vendor import own_id
from windows import Program

PROGRAM, APPLICATION_ID = "handoff-contacts", own_id("Contacts")
# Windows are as wide as the display: there is no window manager that would place them.
WIDE, NARROW = "1000x700", "360x640"


def not_built() -> str:
    """Why there is no address book; empty if there is."""
    return "" if (PROGRAMS / PROGRAM).exists() else f"no {PROGRAM}: it is built where there is libadwaita"


def file_of(machine: Machine) -> Path:
    """The file with the contacts of the user of a machine."""
    return Path(machine.environment["XDG_DATA_HOME"], PROGRAM, "contacts.json")


def contact(number: int, **values: str) -> dict:
    """A contact as it is in the file."""
    return {"id": f"{number:032x}", "modified": number + 1, "values": values}


def store(machine: Machine, contacts: list[dict]) -> None:
    """Gives the user of a machine these contacts."""
    file = file_of(machine)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"version": 1, "contacts": contacts}))


def stored(machine: Machine) -> list[dict[str, str]]:
    """The values of the contacts that are in the file, sorted as they are there."""
    file = file_of(machine)
    return [entry["values"] for entry in json.loads(file.read_text())["contacts"]] if file.exists() else []


def install_contacts(machine: Machine) -> None:
    """Has the bus of a machine start the address book."""
    install_entry(machine, APPLICATION_ID)
    have_bus_start(machine, APPLICATION_ID, f"{PROGRAMS / PROGRAM} --gapplication-service")


class Contacts(Program):
    """The address book, running on a machine."""

    # What stands above the list.
    title = "Contacts"

    def __init__(self, machine: Machine, screen: Screen, *arguments: str) -> None:
        super().__init__(machine, screen, PROGRAM, *arguments)
        if not arguments:
            self.wait_for("label", self.title)
            self.focus()

    def names(self) -> list[str]:
        """The names in the list, from top to bottom."""
        try:
            labels = [[label.name for label in row.parts() if label.role == "label"] for row in self.find("list item")]
        except GLib.Error:
            # A row has gone while it was looked at.
            return []
        # The first label of a row are the initials.
        return [row[1] for row in labels if len(row) > 1]

    def wait_until_within(self, width: int, what: str, *unseen: str) -> None:
        """Waits until nothing that is seen is cut off at the edge of the window, apart from what has one of these names.

        What is on the other page is beside the window as a whole, and while a page slides in, the other one is cut off."""
        def cut() -> list[str]:
            parts = [(part, part.place) for part in self.application.parts()
                     if part.role in ("label", "push button", "text", "list item") and part.name not in unseen]
            return [f"{part.role} “{part.name}”" for part, place in parts
                    if place is not None and (place.x < 0 < place.x + place.width or place.x < width < place.x + place.width)]

        self.wait_until(lambda: not cut(), f"{what} to be within the window")

    def choose(self, name: str) -> None:
        """Clicks on a contact in the list."""
        self.wait_for("label", name)
        self.wait_until(lambda: name in self.names(), f"“{name}” in the list")
        row = next(row for row in self.find("list item") if name in [part.name for part in row.parts()])
        self.click(row)
        self.wait_for("push button", "Edit")

    def form(self) -> dict[str, str]:
        """What stands in the fields of the form that are filled in."""
        try:
            return {part.name: part.text for part in self.find("text") if part.text}
        except GLib.Error:
            return {}

    def wait_for_form(self, **fields: str) -> None:
        """Waits until exactly this stands in the form."""
        expected = {name.capitalize(): text for name, text in fields.items()}
        self.wait_until(lambda: self.form() == expected, f"the form with {expected}")

    def wait_for_stored(self, *names: str) -> None:
        """Waits until the file has exactly the contacts of these names."""
        wait(lambda: [values.get("name") for values in stored(self.machine)] == list(names), f"{names} in the file")


def begin(window: Contacts, **fields: str) -> None:
    """Begins a new contact and types this into its fields, whose order has to be that of the form."""
    window.focus()
    window.keys("ctrl+n")
    window.wait_for("text", "Name")
    order = ["name", "company", "phone", "email", "address", "website"]
    for position, field in enumerate(order):
        if field in fields:
            window.type(fields[field])
        if any(later in fields for later in order[position + 1:]):
            window.keys("Tab")
    window.wait_for_form(**fields)
