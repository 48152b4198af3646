# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Handoff window in German, whose words are longer."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from buses import ROOT
from clients import Client
from gi.repository import GLib
from settings import NARROW, PAGES, PROGRAM, Settings, complaints, ends, not_built, screen_of
from support import PROGRAMS, Machine, pair, start_machine
from test_extension_translated import LANGUAGE, install_catalogue
from test_settings_window import fits
from windows import Accessibility

if reason := not_built():
    pytest.skip(reason, allow_module_level=True)

# What stands on each page.
TEXTS = {"Continue": "Auf diesem Gerät", "Devices": "Gekoppelte Geräte", "Activity": "Noch nichts abgerufen",
         "Preferences": "Gemeinsame Ordner"}


def test_german(machine_list: list[Machine], accessibility: Accessibility, tmp_path: Path) -> None:
    """Where its catalogue is installed the window is German, and each page fits a phone's screen"""
    desk, lap = start_machine(machine_list, "desk"), start_machine(machine_list, "lap")
    pair(desk, lap)
    lap.session.set(ROOT, "Preferences.SharedFolders", GLib.Variant("a{ss}", {"Cloud": "/srv/cloud"}))
    Client(desk).offer("A letter")
    Client(lap).offer("Another letter")
    # It looks for catalogues beside the folder that it is in.
    programs = tmp_path / "bin"
    programs.mkdir()
    shutil.copy(PROGRAMS / PROGRAM, programs)
    install_catalogue(tmp_path / "share")
    screen = screen_of(lap, tmp_path, NARROW)
    lap.environment |= LANGUAGE | {"PATH": f"{programs}:{lap.environment['PATH']}"}
    try:
        window = Settings(lap, screen)
        width, height = NARROW.split("x")
        screen.ask("xdotool", "windowmove", window.window(), "0", "0", "windowsize", window.window(), width, height)
        for page in PAGES:
            window.go_to(page)
            window.wait_for("label", TEXTS[page])
            window.wait_until(lambda: not fits(window, int(width)), f"that {page} fits: {fits(window, int(width))}")
        assert not complaints(lap)
    finally:
        ends(lap)
        screen.close()
