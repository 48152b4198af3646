# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Handoff window: what is open at another device, seen, chosen from, and continued here at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from buses import BRIDGE_ROOT, BusError, let_pass, wait
from clients import Client
from desktops import keep
from gi.repository import GLib
from settings import APPLICATION_ID, NARROW, Settings, complaints, ends, not_built, screen_of
from support import Machine, pair, start_machine, wait_for_link
from test_settings import Machines, preference, seen, strangers
from test_settings_window import fits
from windows import Accessibility

if reason := not_built():
    pytest.skip(reason, allow_module_level=True)

__all__ = ["seen", "strangers"]
EDITOR, MINUTES, CHAT = ("com.example.editor", "com.example.minutes", "com.example.chat")
TITLE = "Everything on desk"
# Within a second the same call has the same answer (ListActivities).
PACE = 1.1


def application(machine: Machine, name: str) -> Client:
    """An application with a type of its own."""
    return Client(machine, name, (f"{name}.edit",))


def show(window: Settings, device: str = "desk") -> None:
    """Has the window show what is open at a device."""
    window.go_to("Devices")
    window.button("Everything…", device).press()
    window.wait_for("frame", f"Everything on {device}")
    window.focus()


def tick(window: Settings, title: str, is_on: bool) -> None:
    """Wants something, or not any more."""
    box = window.switch(title)
    assert box.is_on is not is_on
    window.focus()
    window.click(box)
    window.wait_until(lambda: window.switch(title).is_on is is_on, f"that “{title}” is ticked: {is_on}")


def test_everything(seen: Machines) -> None:
    """What is open at a device is continued here by one press, as far as it is ticked, and each says what has become of it; what
    nothing here continues says why and cannot be ticked"""
    desk, lap = seen
    editor, minutes, chat = (application(lap, name) for name in (EDITOR, MINUTES, CHAT))
    minutes.fail("ContinueActivity", "The disk is full.")
    for name, title in ((EDITOR, "Letter"), (MINUTES, "Notes"), (CHAT, "Friends"), ("com.example.strange", "Strange")):
        application(desk, name).offer(title)
    window = Settings(lap, lap.screen)
    show(window)
    window.wait_for("push button", "Continue 3")
    assert not window.switch("Strange").is_on and not window.switch("Strange").is_sensitive
    assert len(window.switch("Strange").description.splitlines()) == 2
    tick(window, "Friends", False)
    keep(lap.screen.shoot("everything.png"))
    window.press("Continue 2")
    assert editor.wait_for("ContinueActivity").arguments.unpack()[0]["Title"] == "Letter"
    window.wait_to_see("1 of 2 continued")
    window.wait_until(lambda: window.switch("Letter").description.endswith("\nContinued"), "the outcome of one")
    window.wait_until(lambda: "“The disk is full.”" in window.switch("Notes").description, "the outcome of the other")
    keep(lap.screen.shoot("everything-continued.png"))
    assert not chat.called("ContinueActivity")
    # What has failed is tried again by the same button.
    minutes.answers["ContinueActivity"] = lambda arguments: GLib.Variant("(b)", (True,))
    window.press("Continue 1")
    window.wait_to_see("1 of 1 continued")
    assert len(editor.called("ContinueActivity")) == 1 and len(minutes.called("ContinueActivity")) == 2


def test_from_an_offer(seen: Machines) -> None:
    """What else is open at the device of an offer is shown by the menu of the offer"""
    desk, lap = seen
    Client(lap)
    Client(desk).offer("Letter")
    window = Settings(lap, lap.screen)
    window.button("Continue", "Letter")
    menu = next(part for part in window.application.parts() if part.description == "Letter" and "More" in part.name)
    window.focus()
    window.click(menu)
    window.wait_for("menu item", f"{TITLE}…").press()
    window.wait_for("frame", TITLE)
    window.wait_for("push button", "Continue 1")


def test_keyboard(seen: Machines) -> None:
    """By the keyboard alone a device is chosen, something is unticked and the rest is continued"""
    desk, lap = seen
    editor, minutes = application(lap, EDITOR), application(lap, MINUTES)
    application(desk, EDITOR).offer("Letter")
    application(desk, MINUTES).offer("Notes")
    window = Settings(lap, lap.screen)
    window.go_to("Devices")
    window.button("Everything…", "desk")

    def go_to(name: str, role: str) -> None:
        """Goes on with the Tab key until this has the keyboard."""
        for _ in range(20):
            before = window.keyboard()
            if (name, role) in before:
                return
            window.keys("Tab")
            window.wait_until(lambda before=before: window.keyboard() != before, "something else with the keyboard")
        raise AssertionError(f"the Tab key does not lead to {name}\n{window.tree()}")

    window.focus()
    go_to("Everything…", "push button")
    window.keys("space")
    window.wait_for("push button", "Continue 2")
    window.focus()
    # What there is to do is what the Enter key does, and the list is where the Tab key leads.
    window.wait_until(lambda: any(name.startswith("Continue 2") for name in window.focused()), "the button with the keyboard")
    go_to("Notes", "check box")
    window.keys("space")
    window.wait_until(lambda: not window.switch("Notes").is_on, "that one is unticked")
    go_to("Continue 1", "push button")
    window.keys("Return")
    editor.wait_for("ContinueActivity")
    window.wait_to_see("1 of 1 continued")
    assert not minutes.called("ContinueActivity")
    window.keys("Escape")
    window.wait_until(lambda: not window.find("frame", TITLE), "the end of the dialog")


def test_listed_again(seen: Machines) -> None:
    """In a new list what was ticked stays so, what was not is not, and what has gone says so"""
    desk, lap = seen
    for name in (EDITOR, MINUTES, CHAT):
        application(lap, name)
    application(desk, EDITOR).offer("Letter")
    application(desk, MINUTES).offer("Notes")
    gone = application(desk, CHAT).offer("Friends")
    window = Settings(lap, lap.screen)
    show(window)
    window.wait_for("push button", "Continue 3")
    tick(window, "Notes", False)
    gone.invalidate()
    let_pass(PACE)
    window.press("List Again")
    window.wait_until(lambda: window.switch("Friends").description.endswith("No longer open"), "that one has gone")
    assert not window.switch("Friends").is_on and not window.switch("Friends").is_sensitive
    assert window.switch("Letter").is_on and not window.switch("Notes").is_on
    window.wait_for("push button", "Continue 1")


def test_refused(seen: Machines) -> None:
    """Why a device does not say what is open there is a sentence, and asking again helps once it can"""
    desk, lap = seen
    application(lap, EDITOR)
    window = Settings(lap, lap.screen)
    show(window)
    window.wait_for("label", "Nothing Is Open There")
    desk.set_enabled(False)
    wait(lambda: not lap.connected_to(desk.device_id), "the other device to be away")
    let_pass(PACE)
    window.press("List Again")
    window.wait_to_see("The other device cannot be reached.")
    desk.set_enabled(True)
    wait_for_link(desk, lap)
    application(desk, EDITOR).offer("Letter")
    let_pass(PACE)
    window.press("Try Again")
    window.wait_for("push button", "Continue 1")


def test_cancelling(seen: Machines) -> None:
    """What is under way is cancelled as a whole, and says so"""
    desk, lap = seen
    slow = "com.example.slow"
    folder = lap.folder / "share" / "applications"
    folder.mkdir(parents=True)
    (folder / f"{slow}.desktop").write_text(
        f"[Desktop Entry]\nType=Application\nName=Slow\nExec=sleep 60\nImplements=org.example.Handoff.Application;\n"
        f"X-Handoff-ActivityTypes={slow}.edit\n")
    application(desk, slow).offer("Letter")
    window = Settings(lap, lap.screen)
    show(window)
    window.press("Continue 1")
    window.wait_until(lambda: [part for part in window.find("push button", "Cancel") if part.is_sensitive], "that it is under way")
    window.wait_for("label", "0 of 1 continued")
    window.press("Cancel")
    window.wait_until(lambda: window.switch("Letter").description.endswith("It was cancelled."), "the outcome")
    window.wait_for("push button", "Continue 1")


def test_asked_for_by_a_program(seen: Machines) -> None:
    """A program of the session can have the window show what is open at a device, and what is no device shows none"""
    desk, lap = seen
    application(lap, EDITOR)
    application(desk, EDITOR).offer("Letter")
    window = Settings(lap, lap.screen)
    asker = lap.connect()

    def ask(*parameters: GLib.Variant) -> str:
        """The name of the error that it is answered with, if any."""
        try:
            asker.call("/" + APPLICATION_ID.replace(".", "/"), "org.freedesktop.Application.ActivateAction",
                       GLib.Variant("(sava{sv})", ("everything", list(parameters), {})), destination=APPLICATION_ID)
        except BusError as error:
            return error.short_name
        return ""

    for text in ("", "../..", "A" * 64, "ab" * 31, "ab" * 33):
        assert ask(GLib.Variant("s", text)) == ""
    assert ask() == ask(GLib.Variant("b", True)) == "InvalidArgs"
    assert len(window.find("frame")) == 1
    assert ask(GLib.Variant("s", desk.device_id)) == ""
    window.wait_for("frame", TITLE)
    window.wait_for("push button", "Continue 1")
    assert ask(GLib.Variant("s", "cd" * 32)) == ""
    window.wait_until(lambda: not window.find("frame", TITLE), "another device in its place")
    window.wait_to_see("Not Listed")


def test_who_has_listed(seen: Machines) -> None:
    """Which device has listed what is open here, and what that was, stands on the page of activity, and is not allowed any more once
    it is switched off"""
    desk, lap = seen
    application(lap, EDITOR)
    application(desk, EDITOR).offer("Letter")
    application(desk, MINUTES).offer("Notes")
    at_desk = Settings(desk, desk.screen)
    at_desk.go_to("Activity")
    at_desk.wait_for("label", "Nothing Fetched Yet")
    at_lap = Settings(lap, lap.screen)
    show(at_lap)
    at_lap.wait_for("push button", "Continue 1")
    at_desk.wait_for("label", "Listed What Is Open Here")
    at_desk.wait_to_see("“Notes”, “Letter” · just now")
    at_desk.go_to("Preferences")
    at_desk.switch("Other Devices May See All That Is Open").press()
    wait(lambda: preference(desk, "ShareOpenActivities") is False, "that it is switched off")
    let_pass(PACE)
    at_lap.press("List Again")
    at_lap.wait_until(lambda: at_lap.switch("Letter").description.endswith("No longer open"), "the current one alone")
    assert not at_lap.switch("Notes").description.endswith("No longer open")


def test_narrow(machine_list: list[Machine], accessibility: Accessibility, tmp_path: Path) -> None:
    """What is open at a device fits a phone's screen, with names that are long, and everything in it that can be used has a name"""
    desk, lap = start_machine(machine_list, "desk"), start_machine(machine_list, "lap")
    pair(desk, lap)
    lap.screen = screen_of(lap, tmp_path, NARROW)
    name = "A device whose name is as long as it may be, which is 64 of them"
    desk.session.set(BRIDGE_ROOT, "Bridge.DeviceName", GLib.Variant("s", name))
    application(lap, EDITOR)
    application(desk, EDITOR).offer("A title that goes on and on " * 30)
    application(desk, "com.example.strange").offer("Strange")
    try:
        window = Settings(lap, lap.screen)

        def fit() -> None:
            window.screen.ask("xdotool", "windowmove", window.window(), "0", "0",
                              "windowsize", window.window(), *NARROW.split("x"))

        fit()
        show(window, name)
        fit()
        window.wait_for("push button", "Continue 1")
        window.wait_until(lambda: not fits(window, 360), f"that it fits: {fits(window, 360)}")
        assert not window.unnamed(), window.unnamed()
        keep(lap.screen.shoot("everything-narrow.png"))
        assert not complaints(lap)
    finally:
        ends(lap)
        lap.screen.close()
