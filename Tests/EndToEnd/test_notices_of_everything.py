# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the agent says of several activities that were continued together."""

from __future__ import annotations

from gi.repository import GLib
from agents import Pair
from buses import BUS, ROOT, let_pass, wait
from clients import Client
from notifications import PlainServer
from support import device_path
from test_notices import QUIET, SETTINGS, Service, both
from vendor import own_path

__all__ = ["both"]
WINDOW_XML = """<node><interface name="org.freedesktop.Application">
<method name="ActivateAction"><arg type="s" direction="in"/><arg type="av" direction="in"/>
<arg type="a{sv}" direction="in"/></method></interface></node>"""
OVER = ("continued", "failed")


def open_two(both: Pair) -> None:
    """Something is open at the one device that the other continues, and something that it does not."""
    failing = Client(both.lap, "com.example.minutes", ("com.example.minutes.edit",))
    failing.fail("ContinueActivity", "The disk is full")
    both.editor.offer("Letter")
    Client(both.desk, "com.example.minutes", ("com.example.minutes.edit",)).offer("Minutes")


def continue_all(both: Pair) -> None:
    """Continues all that is open at the one device on the other, as any program of its user can, and waits until that is over."""
    lap, device = both.lap, device_path(both.desk.device_id)
    paths = lap.session.call(device, "Device.ListActivities").unpack()[0]
    assert len(paths) == 2
    path = lap.session.call(ROOT, "Manager.ContinueAll", GLib.Variant("(aoa{sv})", (paths, {}))).unpack()[0]
    wait(lambda: all(one["State"] in OVER for one in lap.session.get(path, "ContinueAll.Results")), "the end of all")


def test_of_several(both: Pair) -> None:
    """Of several activities that were continued together one notification says how many go on here, and why the first does not;
    its button shows what is open at that device."""
    server = PlainServer(both.lap)
    window = Service(both.lap, SETTINGS, own_path("Settings"), WINDOW_XML)
    open_two(both)
    continue_all(both)
    shown = server.wait_for("1 of 2 continued", "The disk is full")
    assert shown.body.splitlines()[1:] == ["“The disk is full”", "“Minutes”", "desk"]
    assert shown.buttons == {"show": "Show", "default": ""}
    assert [one.title for one in server.record].count("1 of 2 continued") == 1
    server.press(shown, "show", "token-1")
    action, parameter, data = window.wait_for("ActivateAction")
    assert (action, parameter) == ("everything", [both.desk.device_id])
    assert data["activation-token"] == "token-1"


def test_what_the_window_shows(both: Pair) -> None:
    """What the Handoff window shows in front of its user of several that are continued together is not notified, then or later."""
    server, window = PlainServer(both.lap), both.lap.connect()
    name = f"{SETTINGS}.Everything"
    window.call("/org/freedesktop/DBus", f"{BUS}.RequestName", GLib.Variant("(su)", (name, 4)), destination=BUS)
    open_two(both)
    continue_all(both)
    let_pass(QUIET)
    window.call("/org/freedesktop/DBus", f"{BUS}.ReleaseName", GLib.Variant("(s)", (name,)), destination=BUS)
    let_pass(QUIET)
    assert "1 of 2 continued" not in [one.title for one in server.record]


def test_locked(both: Pair) -> None:
    """While the session is locked nothing is said of several that are continued together, nor afterwards."""
    server = PlainServer(both.lap)
    open_two(both)
    former = len(both.lap.log("handoff-agent"))
    both.presence.lock()
    wait(lambda: "locked" in both.lap.log("handoff-agent")[former:], "the agent to know that it is locked")
    continue_all(both)
    let_pass(QUIET)
    both.presence.unlock()
    let_pass(QUIET)
    assert "1 of 2 continued" not in [one.title for one in server.record]
