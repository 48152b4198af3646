# SPDX-License-Identifier: LGPL-2.1-or-later
"""The address book in German, whose words are longer."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from contacts import NARROW, PROGRAM, Contacts, contact, not_built, store
from screen import Screen
from support import PROGRAMS, Machine
from test_contacts import desk
from test_extension_translated import LANGUAGE, install_catalogue

if reason := not_built():
    pytest.skip(reason, allow_module_level=True)

__all__ = ["desk"]
# On a phone's screen this page is never seen, and where it is said to be is where it was when the window began.
UNSEEN = "Kein Kontakt ausgewählt"


class Kontakte(Contacts):
    """The address book in German."""

    title = "Kontakte"


def test_german(desk: Machine, tmp_path: Path) -> None:
    """Where its catalogue is installed the address book is German, and all of it fits a phone's screen"""
    store(desk, [contact(1, name="Ada", company="Analytical Engines", phone="1", note="word " * 90)])
    # It looks for catalogues beside the folder that it is in.
    programs = tmp_path / "bin"
    programs.mkdir()
    shutil.copy(PROGRAMS / PROGRAM, programs)
    install_catalogue(tmp_path / "share")
    desk.environment |= LANGUAGE | {"PATH": f"{programs}:{desk.environment['PATH']}"}
    desk.screen.close()
    desk.screen = Screen(tmp_path, NARROW)
    width = int(NARROW.split("x")[0])
    window = Kontakte(desk, desk.screen)
    window.wait_until(lambda: window.names() == ["Ada"], "the list")
    window.wait_until_within(width, "the list", UNSEEN)
    window.click(window.find("list item")[0])
    window.wait_for("push button", "Telefonnummer kopieren")
    window.wait_until_within(width, "a contact", UNSEEN)
    window.keys("ctrl+e")
    window.wait_for("text", "Firma")
    window.wait_for("label", "Kontakt bearbeiten")
    window.wait_until_within(width, "the form", UNSEEN)
    window.keys("Escape")
    window.keys("alt+Left", "ctrl+n")
    window.wait_for("label", "Neuer Kontakt")
    window.type("Zoe")
    window.keys("Escape")
    window.answer("Verwerfen")
    window.keys("ctrl+question")
    window.wait_for("label", "Zurück zur Liste")
    window.wait_until_within(width, "the shortcuts", UNSEEN)
