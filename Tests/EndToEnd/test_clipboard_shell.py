# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pasting from another device in the shells of desktops: the extension of GNOME Shell with real daemons, and Plasma's shortcut."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest
from gi.repository import GLib
from buses import ROOT, let_pass, wait
from clients import Client
from gnome_shell import GnomeShell, install_extension, missing
from played_broker import DEVICE
from played_clipboard import PlayedClipboard
from played_pasting import OTHER, BridgeWithDevices, BrokerWithClipboard
from support import Machine
from test_clipboard_extension import ITEM, SEEN
from test_extension_modules import Extension, extension  # noqa: F401
from test_gnome_extension import INDICATOR, STATE, complaints, install_application, open_menu, shell  # noqa: F401
from test_installed import install
from vendor import ADD_ON, own_id

HELLO = {"text/plain": b"Hello"}
NOTICE = "Main.messageTray.getSources().flatMap(s => s.notifications).some(n => n.title === 'Could not paste')"


def test_pasting_from_the_menu(machines: tuple[Machine, Machine], extension: Extension) -> None:  # noqa: F811
    """The menu has, for a device that is connected, an item that puts what was copied there into the clipboard here."""
    desk, lap = machines
    there, here = PlayedClipboard(desk), PlayedClipboard(lap)
    there.contents = HELLO
    Client(lap)
    Client(desk).offer("A letter")
    extension.evaluate("extension.enable()")
    wait(lambda: extension.evaluate(SEEN) == [True, "Paste from desk", True], "the item")
    extension.evaluate(f"{ITEM}.emit('activate')")
    wait(lambda: len(here.written) == 1, "the clipboard to be written")
    there.contents = {}

    def failed() -> bool:
        # As long as the first one is on its way here, pressing again does nothing.
        extension.evaluate(f"{ITEM}.emit('activate')")
        return extension.evaluate("Main.notices.map(notice => notice[0])")[:1] == ["Could not paste"]

    wait(failed, "the failure")
    lap.session.set(ROOT, "Preferences.Clipboard", GLib.Variant("s", "off"))
    wait(lambda: extension.evaluate(f"{ITEM}.visible") is False, "the item to go")
    assert len(here.written) == 1
    extension.evaluate("extension.disable()")


def test_desktop_without_a_clipboard(machines: tuple[Machine, Machine], extension: Extension) -> None:  # noqa: F811
    """While nobody reaches the clipboard of the desktop here, the item cannot be pressed; as soon as somebody does, it can."""
    desk, lap = machines
    there = PlayedClipboard(desk)
    there.contents = HELLO
    Client(lap)
    Client(desk).offer("A letter")
    extension.evaluate("extension.enable()")
    wait(lambda: extension.evaluate(SEEN) == [True, "Paste from desk", False], "the item")
    here = PlayedClipboard(lap)
    wait(lambda: extension.evaluate(SEEN) == [True, "Paste from desk", True], "the item to be of use")
    assert not here.written, "nothing is pasted by itself"
    extension.evaluate("extension.disable()")


# In a real Shell


def press(shell: GnomeShell) -> None:  # noqa: F811
    """Presses Super, Shift and v, as on a keyboard."""
    keys = "Clutter.KEY_Super_L, Clutter.KEY_Shift_L, Clutter.KEY_v"
    shell.evaluate(
        "(() => { const {Clutter, GLib} = imports.gi; const backend = global.stage.context?.get_backend()"
        " ?? Clutter.get_default_backend(); const keyboard = global.pressed ??= backend.get_default_seat()"
        ".create_virtual_device(Clutter.InputDeviceType.KEYBOARD_DEVICE);"
        f" const keys = [{keys}]; keys.forEach(key => keyboard.notify_keyval(GLib.get_monotonic_time(), key, 1));"
        " keys.reverse().forEach(key => keyboard.notify_keyval(GLib.get_monotonic_time(), key, 0)); })()")


def set_shortcut(shell: GnomeShell) -> None:  # noqa: F811
    """Sets these keys, as a user may."""
    shell.evaluate(f"{STATE}._settings"
                   ".set_strv('paste-shortcut', ['<Super><Shift>v'])")
    # As long as the Shell takes to grab other keys.
    let_pass(0.3)


@pytest.mark.desktop
def test_pasting_in_the_shell(machines: tuple[Machine, Machine], shell: GnomeShell) -> None:  # noqa: F811
    """In GNOME Shell the item puts what was copied on the other device into the clipboard here, and so do the keys that the
    user has set, also while there is nothing to continue. A failure is a notification."""
    desk, lap = machines
    there, here = PlayedClipboard(desk), PlayedClipboard(lap)
    there.contents = HELLO
    set_shortcut(shell)
    press(shell)
    wait(lambda: len(here.written) == 1, "the clipboard to be written")
    Client(lap)
    Client(desk).offer("A letter")
    wait(lambda: shell.evaluate(f"{INDICATOR} ? {SEEN} : []") == [True, "Paste from desk", True], "the item")
    open_menu(shell)
    assert shell.shoot("menu-paste").stat().st_size > 1000
    shell.evaluate(f"{INDICATOR}._paste.activate(null)")
    wait(lambda: len(here.written) == 2, "the clipboard to be written again")
    assert not shell.evaluate(f"{INDICATOR}.menu.isOpen")
    assert not shell.evaluate(NOTICE)
    there.contents = {}
    press(shell)
    wait(lambda: shell.evaluate(NOTICE), "the notification")
    assert not complaints(shell)


@pytest.fixture
def alone(machine_list: list[Machine]) -> Machine:
    """A machine without daemons."""
    machine = Machine("lap")
    machine_list.append(machine)
    return machine


@pytest.mark.desktop
def test_choosing_in_the_shell(alone: Machine) -> None:
    """In GNOME Shell the keys open a menu with the devices if several are connected and none has offered anything; the first
    has the focus of the keyboard, and once it is chosen nothing of the menu stays. Disabled, the extension takes no keys."""
    if what := missing():
        pytest.skip(what)
    broker = BrokerWithClipboard(alone)
    BridgeWithDevices(alone, **{DEVICE: "desk", OTHER: "tower"})
    install_application(alone)
    install_extension(alone)
    shell = GnomeShell(alone, ADD_ON)  # noqa: F811
    try:
        set_shortcut(shell)
        wait(lambda: shell.evaluate(f"{STATE}._session.report.pasting.sources.length") == 2, "the devices")
        press(shell)
        wait(lambda: shell.evaluate(f"!!{INDICATOR} && {INDICATOR}.menu.isOpen && {INDICATOR}._pasteFrom.menu.isOpen"), "the menu")
        items = f"{INDICATOR}._pasteFrom.menu._getMenuItems()"
        wait(lambda: shell.evaluate(f"{items}[0].has_key_focus()"), "the first device to have the focus")
        wait(lambda: shell.evaluate(f"{items}[1].get_transformed_size()[1] > 10"), "the devices to be drawn")
        assert shell.shoot("menu-paste-from").stat().st_size > 1000
        shell.evaluate(f"{items}[0].activate(imports.gi.Clutter.get_current_event())")
        wait(lambda: broker.pasted == [DEVICE], "Paste")
        wait(lambda: not shell.evaluate(f"!!{INDICATOR}"), "the indicator to go")
        shell.evaluate(f"Main.extensionManager.disableExtension('{ADD_ON}')")
        wait(lambda: not shell.evaluate("Main.wm._allowedKeybindings['paste-shortcut']"), "the keys to be free")
        assert not complaints(shell)
    finally:
        shell.close()


# In Plasma


def test_shortcut_of_plasma(tmp_path: Path) -> None:
    """Plasma finds an entry that pastes, with no keys, which is in no menu of applications."""
    prefix, _ = install(tmp_path)
    name = own_id("Paste.desktop")
    entry = prefix / "share" / "kglobalaccel" / name
    assert not (prefix / "share" / "applications" / name).exists()
    validated = subprocess.run(["desktop-file-validate", entry], capture_output=True, text=True, check=False)
    assert (validated.returncode, validated.stdout) == (0, "")
    keys = GLib.KeyFile()
    keys.load_from_file(str(entry), GLib.KeyFileFlags.KEEP_TRANSLATIONS)
    assert keys.get_string("Desktop Entry", "X-KDE-Shortcuts") == ""
    # Plasma lists none that is not to be shown.
    assert "NoDisplay" not in keys.get_keys("Desktop Entry")[0]
    assert shlex.split(keys.get_string("Desktop Entry", "Exec")) == [f"{prefix}/bin/handoff", "paste"]
