# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pasting what was copied on another device from the menu in the panel."""

from __future__ import annotations

from buses import ROOT, wait
from clients import Client
from gi.repository import GLib
from notifications import PlainServer
from support import Machine
from surfaces import PanelHost, start_agent

UNREACHED = "The clipboard of this desktop cannot be reached"
PASTE = "Paste from lap"


def test_pasting_in_the_menu(machines: tuple[Machine, Machine]) -> None:
    """The menu has the connected peers whose clipboard can be pasted, says so if the one of the desktop cannot be reached, and has
    nothing of it if the user has switched the clipboard off; why nothing was pasted is shown as a notification."""
    desk, lap = machines
    _here, host, server = Client(desk), PanelHost(desk), PlainServer(desk)
    start_agent(desk)
    Client(lap).offer("Report")
    host.wait_for_item()
    # There is no display.
    host.wait_for_entry(UNREACHED)
    assert host.entries()[UNREACHED][1]["enabled"] is False and PASTE not in host.menu()
    desk.session.call(ROOT, "Clipboard.Register", GLib.Variant("(os)", ("/clipboard", "test")))
    number = host.wait_for_entry(PASTE)
    assert UNREACHED not in host.menu()
    host.click(number)
    # Nobody reaches the one of the other device either.
    server.wait_for("Nothing was pasted from “lap”", "cannot be reached")
    desk.session.set(ROOT, "Preferences.Clipboard", GLib.Variant("s", "off"))
    wait(lambda: PASTE not in host.menu(), "nothing to be pasted")
    assert UNREACHED not in host.menu()
