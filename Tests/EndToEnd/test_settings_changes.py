# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Handoff window: what changes while its user is at something."""

from __future__ import annotations

import signal

import pytest
from buses import BRIDGE_ROOT, wait
from gi.repository import GLib
from settings import Settings, not_built
from test_notices import Service
from test_settings import Machines, preference, set_preference, strangers
from vendor import ADD_ON
SHELL_XML = """<node><interface name="org.gnome.Shell.Extensions">
<method name="GetExtensionInfo"><arg type="s" direction="in"/><arg type="a{sv}" direction="out"/></method>
<method name="EnableExtension"><arg type="s" direction="in"/><arg type="b" direction="out"/></method>
<method name="DisableExtension"><arg type="s" direction="in"/><arg type="b" direction="out"/></method>
<signal name="ExtensionStateChanged"><arg type="s"/><arg type="a{sv}"/></signal></interface></node>"""

if reason := not_built():
    pytest.skip(reason, allow_module_level=True)

__all__ = ["strangers"]


def test_quick_changes(strangers: Machines) -> None:
    """Of several things that are removed before the first is gone, none comes back"""
    lap = strangers[1]
    set_preference(lap, "ExcludedApplications", GLib.Variant("as", ["org.example.A", "org.example.B", "org.example.C"]))
    set_preference(lap, "SharedFolders", GLib.Variant("a{ss}", {"Cloud": "/srv/c", "Work": "/srv/w"}))
    window = Settings(lap, lap.screen)
    window.go_to("Preferences")
    buttons = [window.button("Remove", name) for name in ("org.example.A", "org.example.B", "Cloud", "Work")]
    broker = lap.processes["handoffd"]
    broker.send_signal(signal.SIGSTOP)
    try:
        for button in buttons:
            button.press()
    finally:
        broker.send_signal(signal.SIGCONT)
    wait(lambda: preference(lap, "SharedFolders") == {}, "that no folder is shared")
    assert preference(lap, "ExcludedApplications") == ["org.example.C"]
    window.wait_for("label", "No folder has been added.")


def test_half_typed(strangers: Machines) -> None:
    """A name that is half typed stays, whatever else is changed meanwhile"""
    lap = strangers[1]
    window = Settings(lap, lap.screen)
    window.go_to("Devices")
    window.focus()
    window.click(window.wait_for("text", "Name on Other Devices"))
    window.keys("ctrl+a")
    window.type("Kitch")
    window.wait_until(lambda: window.field("Name on Other Devices") == "Kitch", "what is typed")
    # The page with the name is shown anew: this device is called otherwise, and another one is nearby.
    set_preference(lap, "DeviceName", GLib.Variant("s", "Bath"))
    wait(lambda: lap.session.get(BRIDGE_ROOT, "Bridge.DeviceName") == "Bath", "the name that was given elsewhere")
    lap.session.set(BRIDGE_ROOT, "Bridge.Discoverable", GLib.Variant("b", True))
    strangers[0].dial(lap.port)
    window.wait_for("label", "Nearby")
    assert window.field("Name on Other Devices") == "Kitch"
    window.type("en")
    window.keys("Return")
    wait(lambda: preference(lap, "DeviceName") == "Kitchen", "the new name")


def test_discoverable(strangers: Machines) -> None:
    """While the dialog for pairing is open this device can be found, though the bridge ends that or is another one"""
    lap = strangers[1]
    window = Settings(lap, lap.screen)
    window.focus()
    window.keys("ctrl+n")
    window.wait_for("label", "By Address")

    def is_discoverable() -> bool:
        return lap.session.get(BRIDGE_ROOT, "Bridge.Discoverable")

    wait(is_discoverable, "that lap can be found")
    lap.session.set(BRIDGE_ROOT, "Bridge.Discoverable", GLib.Variant("b", False))
    wait(is_discoverable, "that lap can be found again")
    lap.kill("handoff-bridge")
    lap.start_bridge()
    wait(is_discoverable, "that lap can be found by a new bridge")
    window.focus()
    window.keys("Escape")
    wait(lambda: not is_discoverable(), "that lap cannot be found any more")


def test_extension_of_gnome(strangers: Machines) -> None:
    """Where GNOME's extension is installed the window switches it on and off, shows what becomes of that elsewhere, and says
    so if GNOME does not do it"""
    lap = strangers[1]

    def state(number: float) -> GLib.Variant:
        return GLib.Variant("(a{sv})", ({"state": GLib.Variant("d", number)},))

    shell = Service(lap, "org.gnome.Shell", "/org/gnome/Shell", SHELL_XML, GetExtensionInfo=state(2),
                    EnableExtension=GLib.Variant("(b)", (True,)), DisableExtension=GLib.Variant("(b)", (False,)))
    window = Settings(lap, lap.screen)
    window.go_to("Preferences")
    window.switch("Show in the Top Bar").press()
    assert shell.wait_for("EnableExtension") == (ADD_ON,)
    shell.answers["GetExtensionInfo"] = state(1)
    shell.signal("ExtensionStateChanged", GLib.Variant("(sa{sv})", (ADD_ON, {})))
    window.wait_until(lambda: window.switch("Show in the Top Bar").is_on, "that it is on")
    window.switch("Show in the Top Bar").press()
    window.wait_to_see("GNOME does not do it.")
