# SPDX-License-Identifier: LGPL-2.1-or-later
"""The pictures that software centres show. HANDOFF_PICTURES=docs/screenshots has them written there."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path

import contacts
import pytest
from clients import Client
from contacts import Contacts, contact, store
from desktops import keep
from screen import Screen
from settings import Settings, ends, not_built
from support import SOURCE, Machine, pair, start_machine
from test_desktop_entries import install
from windows import Accessibility, Program

if reason := not_built():
    pytest.skip(reason, allow_module_level=True)

WIDE, NARROW = "900x600", "360x640"
# What is on them: the device, and the application there with its picture and what it shows.
OFFERS = {"desktop": ("Notes", "accessories-text-editor", "Packing list for the mountains"),
          "laptop": ("Papers", "x-office-document", "Rental contract, page 4"),
          "workshop": ("Mail", "mail-send", "Re: Lunch on Thursday?")}
PEOPLE = (("Ada Lovelace", "+44 20 7946 0018", "ada@example.org"), ("Edsger Dijkstra", "+31 20 555 0142", "edsger@example.org"),
          ("Grace Hopper", "+1 202 555 0119", "grace@example.org"), ("Katherine Johnson", "+1 757 555 0173", "kj@example.org"))


@pytest.fixture
def lap(machine_list: list[Machine], accessibility: Accessibility) -> Machine:
    """A machine on which three things can be continued, and which knows four people."""
    if not shutil.which("import"):
        pytest.skip("there is no ImageMagick: meson-helpers/install-packages desktop")
    lap = start_machine(machine_list, "lap")
    for device, (name, icon, title) in OFFERS.items():
        application = f"com.example.{name}"
        install(lap, application, Name=name, Icon=icon, ActivityTypes=f"{application}.edit;", DBusActivatable="true")
        other = start_machine(machine_list, device)
        pair(other, lap)
        client = Client(other, application, (f"{application}.edit",))
        client.create(f"{application}.edit", Title=title).become_current()
    store(lap, [contact(number, name=name, phone=phone, email=email) for number, (name, phone, email) in enumerate(PEOPLE, 1)])
    return lap


def size(picture: Path) -> tuple[int, int]:
    """How wide and high a picture is (PNG specification, IHDR)."""
    return struct.unpack(">II", picture.read_bytes()[16:24])


def shoot(program: Program, screen: Screen, name: str, extent: str) -> None:
    """Has a window fill the screen, and takes a picture of it."""
    screen.ask("xdotool", "windowmove", program.window(), "0", "0", "windowsize", program.window(), *extent.split("x"))
    program.wait_until(lambda: screen.ask("xdotool", "getwindowgeometry", program.window()).find(extent) >= 0, extent)
    picture = screen.shoot(f"{name}.png")
    assert int(screen.ask("identify", "-format", "%k", str(picture))) > 50, "there is something on it"
    assert size(picture) == size(SOURCE / "docs" / "screenshots" / picture.name), "it is as large as the one in the source"
    keep(picture)


@pytest.mark.parametrize(("kind", "extent", "scheme"), [
    ("", WIDE, "prefer-light"), ("-dark", WIDE, "prefer-dark"), ("-narrow", NARROW, "prefer-light")])
def test_pictures(lap: Machine, tmp_path: Path, kind: str, extent: str, scheme: str) -> None:
    """Software centres show both windows as they are: in light, in dark, and on a telephone."""
    lap.environment |= {"ADW_DEBUG_COLOR_SCHEME": scheme}
    screen = lap.screen = Screen(tmp_path, extent)
    try:
        window = Settings(lap, screen)
        window.wait_until(lambda: all(window.sees(title) for _, _, title in OFFERS.values()), "the offers")
        shoot(window, screen, f"continue{kind}", extent)
        if not kind:
            window.go_to("Devices")
            window.wait_for("label", "Paired Devices")
            shoot(window, screen, "devices", extent)
        ends(lap)
        book = Contacts(lap, screen)
        if extent == WIDE:
            book.choose(PEOPLE[0][0])
            book.wait_for("label", PEOPLE[0][2])
        shoot(book, screen, f"contacts{kind}", extent)
    finally:
        ends(lap)
        if contacts.PROGRAM in lap.processes:
            lap.kill(contacts.PROGRAM)
        screen.close()
