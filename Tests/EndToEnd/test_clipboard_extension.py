# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pasting by the extension for GNOME Shell, without a Shell, with daemons that are played: several devices, and all kinds of
failures."""

from __future__ import annotations

from typing import Any

import pytest
from gi.repository import GLib
from buses import wait
from played_broker import DEVICE, PlayedBroker
from played_pasting import OTHER, BridgeWithDevices, BrokerWithClipboard
from test_extension_modules import Extension, extension  # noqa: F401
from test_gnome_extension import INDICATOR

PRESS = "Main.wm.shortcuts['paste-shortcut']()"
ITEM = f"{INDICATOR}?._paste"
# What a person sees of the item: whether it is there, what it says, and whether it can be pressed.
SEEN = f"{INDICATOR} && [{INDICATOR}._paste.visible, {INDICATOR}._paste.label.text, {INDICATOR}._paste.sensitive]"


def wait_for_pasting(extension: Extension, **about: Any) -> None:  # noqa: F811
    """Waits until the report says this of pasting; of the device that stands out, its id."""
    script = "(p => ({sources: p.sources.map(s => s.id), source: p.source?.id ?? null, obstacle: p.obstacle}))" \
             "(extension._session.report.pasting)"
    wait(lambda: extension.evaluate(script).items() >= about.items(), f"{about}")


def test_device_that_stands_out(extension: Extension) -> None:  # noqa: F811
    """The shortcut pastes from the device that has offered something last, of those that are connected; if none has, from the
    only one that is."""
    broker = BrokerWithClipboard(extension.machine)
    BridgeWithDevices(extension.machine, **{DEVICE: "desk", OTHER: "tower"})
    extension.evaluate("extension.enable()")
    wait_for_pasting(extension, sources=[DEVICE, OTHER], source=None, obstacle="")
    first = broker.offer(1, "A letter", DEVICE, Since=1)
    wait_for_pasting(extension, source=DEVICE)
    broker.offer(2, "Another", OTHER, Since=2)
    wait_for_pasting(extension, source=OTHER)
    broker.offer(3, "Far away", "f" * 64, Since=3)
    wait(lambda: extension.evaluate("extension._session.report.offers.length") == 3, "the offers")
    wait_for_pasting(extension, source=OTHER)
    extension.evaluate(PRESS)
    wait(lambda: broker.pasted == [OTHER], "Paste")
    broker.withdraw(first)
    assert extension.evaluate("Main.notices") == []
    extension.evaluate("extension.disable()")
    assert extension.evaluate("Object.keys(Main.wm.shortcuts)") == []


def test_user_chooses_the_device(extension: Extension) -> None:  # noqa: F811
    """With several devices of which none stands out, the shortcut opens the menu where they are, which goes with the choice."""
    broker = BrokerWithClipboard(extension.machine)
    BridgeWithDevices(extension.machine, **{DEVICE: "desk", OTHER: "tower"})
    extension.evaluate("extension.enable()")
    wait_for_pasting(extension, sources=[DEVICE, OTHER], source=None)
    assert extension.evaluate(f"!!{INDICATOR}") is False
    extension.evaluate(PRESS)
    assert extension.evaluate(f"[{INDICATOR}.menu.isOpen, {INDICATOR}._paste.visible, {INDICATOR}._pasteFrom.visible,"
                              f" {INDICATOR}._pasteFrom.menu.isOpen]") == [True, False, True, True]
    items = f"{INDICATOR}._pasteFrom.menu.items"
    assert extension.evaluate(f"{items}.map(item => item.label.text)") == ["desk", "tower"]
    assert broker.pasted == []
    extension.evaluate(f"{items}[1].emit('activate'); {INDICATOR}.menu.close()")
    wait(lambda: broker.pasted == [OTHER], "Paste")
    wait(lambda: extension.evaluate(f"!!{INDICATOR}") is False, "the indicator to go")
    extension.evaluate("extension.disable()")


def test_choice_of_the_clipboard(extension: Extension) -> None:  # noqa: F811
    """The item is there while the user wants a clipboard, and can be pressed while the desktop's is reached."""
    broker = BrokerWithClipboard(extension.machine, mode="off", desktop="")
    BridgeWithDevices(extension.machine, **{DEVICE: "desk"})
    broker.offer(1, "A letter")
    extension.evaluate("extension.enable()")
    wait(lambda: extension.evaluate(f"{ITEM}.visible") is False, "the menu without the item")
    wait_for_pasting(extension, obstacle="org.example.Handoff.Error.Disabled")
    for mode in ("follow", "ask"):
        broker.become("Preferences", Clipboard=GLib.Variant("s", mode))
        wait(lambda: extension.evaluate(SEEN) == [True, "Paste from desk", False], "the item")
    broker.become("Clipboard", Desktop=GLib.Variant("s", "X11"))
    wait(lambda: extension.evaluate(SEEN) == [True, "Paste from desk", True], "the item to be of use")
    extension.evaluate(f"{ITEM}.emit('activate')")
    wait(lambda: broker.pasted == [DEVICE], "Paste")
    broker.become("Preferences", Clipboard=GLib.Variant("s", "off"))
    wait(lambda: extension.evaluate(f"{ITEM}.visible") is False, "the item to go")
    assert extension.evaluate("Main.notices") == []
    extension.evaluate("extension.disable()")


def test_broker_without_a_clipboard(extension: Extension) -> None:  # noqa: F811
    """With a broker of a version that has no clipboard everything else works, and it is not asked again."""
    PlayedBroker(extension.machine).offer(1, "A letter")
    BridgeWithDevices(extension.machine, **{DEVICE: "desk"})
    extension.evaluate("extension.enable()")
    wait(lambda: extension.evaluate(f"{INDICATOR}?._offerSection.items.length") == 1, "the offer")
    wait(lambda: extension.evaluate("extension._session._broker._pauses.size") == 0, "no pause")
    wait_for_pasting(extension, source=DEVICE, obstacle="org.freedesktop.DBus.Error.NotSupported")
    extension.evaluate("extension.disable()")


FAILURES = {
    "org.example.Handoff.Error.OfferWithdrawn":
        "There is nothing in its clipboard that may go to other devices. Copy it once more there.",
    "org.example.Handoff.Error.Disabled":
        "Handoff, or its clipboard, is switched off here or on the other device. Switch it on.",
    "org.freedesktop.DBus.Error.NotSupported":
        "The clipboard of one of the devices cannot be reached, or the Handoff of the other one is too old."
        " “Nothing is 'there'.”",
    "org.example.Handoff.Error.ApplicationFailed":
        "What has arrived is not what it claims to be. Copy it once more there. “Nothing is 'there'.”",
    "org.freedesktop.DBus.Error.AccessDenied":
        "One of the devices is locked, or this one is muted there. Unlock or unmute it, then try again.",
    "org.example.Handoff.Error.ConnectionUnavailable":
        "The other device cannot be reached. See whether it is switched on and on the same network.",
}


def test_pasting_fails(extension: Extension) -> None:  # noqa: F811
    """A failure is said once, in a sentence of the extension; what the daemon says of it stands quoted behind that."""
    broker = BrokerWithClipboard(extension.machine)
    BridgeWithDevices(extension.machine, **{DEVICE: "desk"})
    extension.evaluate("extension.enable()")
    wait_for_pasting(extension, source=DEVICE, obstacle="")
    for error, sentence in FAILURES.items():
        broker.error = error
        extension.evaluate(PRESS)
        wait(lambda: extension.evaluate("Main.notices.length") > 0, f"a notice of {error}")
        assert extension.evaluate("Main.notices.splice(0)") == [["Could not paste", sentence]], error
    extension.evaluate("extension.disable()")


@pytest.mark.parametrize(("mode", "desktop", "names", "error"), [
    ("off", "X11", {DEVICE: "desk"}, "org.example.Handoff.Error.Disabled"),
    ("ask", "", {DEVICE: "desk"}, "org.freedesktop.DBus.Error.NotSupported"),
    ("ask", "X11", {}, "org.example.Handoff.Error.ConnectionUnavailable"),
])
def test_nothing_to_paste_from(extension: Extension, mode: str, desktop: str, names: dict[str, str],  # noqa: F811
                               error: str) -> None:
    """Where nothing can be pasted the shortcut says why, and the broker is not called."""
    broker = BrokerWithClipboard(extension.machine, mode, desktop)
    BridgeWithDevices(extension.machine, **names)
    extension.evaluate("extension.enable()")
    wait_for_pasting(extension, obstacle=error)
    extension.evaluate(PRESS)
    assert extension.evaluate("Main.notices") == [["Could not paste", FAILURES[error].partition(" “")[0]]]
    assert broker.pasted == []
    extension.evaluate("extension.disable()")


def test_pressed_twice(extension: Extension) -> None:  # noqa: F811
    """While something is being pasted from a device, the shortcut does not ask for it once more; disabled meanwhile, the
    extension says nothing."""
    broker = BrokerWithClipboard(extension.machine)
    BridgeWithDevices(extension.machine, **{DEVICE: "desk"})
    extension.evaluate("extension.enable()")
    wait_for_pasting(extension, source=DEVICE, obstacle="")
    # Without a turn of the main loop between them, no answer can have come.
    extension.evaluate(f"[{PRESS}, {PRESS}].length")
    wait(lambda: broker.pasted == [DEVICE], "Paste")
    extension.evaluate("new Promise(done => GLib.timeout_add(0, 100, () => { done(); return false; }))")
    assert broker.pasted == [DEVICE]
    broker.error = "org.example.Handoff.Error.OfferWithdrawn"
    extension.evaluate(f"{PRESS}; extension.disable()")
    extension.evaluate("new Promise(done => GLib.timeout_add(0, 100, () => { done(); return false; }))")
    assert extension.evaluate("Main.notices") == []
