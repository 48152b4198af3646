# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Handoff window: the adapters that are installed."""

from __future__ import annotations

import pytest
from buses import wait
from played_adapter import Played
from settings import Settings, not_built
from test_desktop_entries import install
from test_settings import Machines, preference, strangers

if reason := not_built():
    pytest.skip(reason, allow_module_level=True)

__all__ = ["strangers"]


def test_adapters_that_are_needed(strangers: Machines) -> None:
    """The window has a switch for each adapter of which an application is installed, in the user's language, and for no
    other"""
    lap = strangers[1]
    Played(lap, Name="Films <b>and</b> music", Applications="com.example.player;")
    Played(lap, "papers", Name="Papers", Applications="com.example.reader;")
    window = Settings(lap, lap.screen)
    window.go_to("Preferences")
    window.wait_to_see("Preferences")
    assert not window.sees("They stand for applications") and not window.sees("Papers")
    install(lap, "com.example.player", Implements="")
    toggle = window.switch("Films <b>and</b> music")
    assert not window.find("check box", "Papers")
    toggle.press()
    wait(lambda: preference(lap, "DisabledAdapters") == ["media"], "it to be switched off")
    toggle.press()
    wait(lambda: preference(lap, "DisabledAdapters") == [], "it to be switched on")
