# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Handoff window: what it shows, and what can be done in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from buses import BRIDGE, BRIDGE_ROOT, BROKER, ROOT, wait
from clients import APPLICATION_ID as EDITOR
from clients import ACTIVITY_TYPE, Client
from gi.repository import GLib
from link import Device, leave
from pairing import shown
from settings import APPLICATION_ID, MIDDLE, PROGRAM, Settings, complaints, ends, not_built, screen_of
from support import PROGRAMS, Machine, pair, start_machine
from windows import Accessibility

if reason := not_built():
    pytest.skip(reason, allow_module_level=True)

Machines = tuple[Machine, Machine]


@pytest.fixture
def strangers(machine_list: list[Machine], accessibility: Accessibility, tmp_path: Path) -> Iterator[Machines]:
    """Two machines that are not paired, each with a display."""
    machines = start_machine(machine_list, "desk"), start_machine(machine_list, "lap")
    for machine in machines:
        screen_of(machine, tmp_path, MIDDLE)
    yield machines
    for machine in machines:
        ends(machine)
        machine.screen.close()
    assert not [line for machine in machines for line in complaints(machine)]


@pytest.fixture
def seen(strangers: Machines) -> Machines:
    """Two machines that are paired and connected, each with a display."""
    pair(*strangers)
    return strangers


def set_preference(machine: Machine, name: str, value: GLib.Variant) -> None:
    machine.session.set(ROOT, f"Preferences.{name}", value)


def preference(machine: Machine, name: str) -> object:
    return machine.session.get(ROOT, f"Preferences.{name}")


def code(window: Settings) -> str:
    """The six digits that a window shows, alone, right before the question about them."""
    def digits() -> str:
        labels = window.labels()
        pairs = zip(labels, labels[1:], strict=False)
        return next((first for first, second in pairs if re.fullmatch(r"[0-9]{3} [0-9]{3}", first)
                     and second == "Does the other device show the same six digits?"), "")

    window.wait_until(digits, "six digits")
    return digits()


def begin_pairing(desk: Machine, lap: Machine) -> tuple[Settings, Settings]:
    """Opens the dialogs of both, by Enter where that is what there is to do, and has lap ask desk, which it is told the address
    of."""
    at_desk, at_lap = Settings(desk, desk.screen), Settings(lap, lap.screen)
    at_desk.wait_for("label", "Continue Where You Left Off")
    at_desk.focus()
    at_desk.keys("Return")
    wait(lambda: desk.session.get(BRIDGE_ROOT, "Bridge.Discoverable"), "that desk can be found")
    at_lap.wait_for("label", "Continue Where You Left Off")
    at_lap.press("Pair a Device…")
    at_lap.click(at_lap.address())
    at_lap.type(f"127.0.0.1:{desk.port}")
    at_lap.keys("Return")
    return at_desk, at_lap


def test_pairing(strangers: Machines) -> None:
    """Two devices are paired by their windows alone: where one is chosen both show one code, which nothing needs to notify, and
    both users say that it is the same"""
    desk, lap = strangers
    at_desk, at_lap = begin_pairing(desk, lap)
    assert code(at_desk) == code(at_lap)
    at_desk.focus()
    wait(lambda: desk.session.owner(f"{APPLICATION_ID}.Pairing"), "the window to say that it shows that")
    assert not desk.session.owner(f"{APPLICATION_ID}.Offers")
    for window, other in ((at_desk, "lap"), (at_lap, "desk")):
        window.wait_for("label", "Does the other device show the same six digits?")
        window.wait_for("label", other)
    digits = code(at_desk)
    at_desk.press("They Match")
    at_desk.wait_for("label", f"Say there too that the digits are {digits}.")
    assert not shown(desk, lap.device_id)["Paired"]
    at_lap.press("They Match")
    for window, machine, other in ((at_desk, desk, lap), (at_lap, lap, desk)):
        window.wait_for("label", "The Devices Are Paired")
        assert shown(machine, other.device_id)["Paired"]
        window.press("Done")
        window.wait_until(lambda window=window: not window.find("frame", "Pair a Device"), "the end of the dialog")
        wait(lambda machine=machine: not machine.session.get(BRIDGE_ROOT, "Bridge.Discoverable"),
             "that it can no longer be found")
        window.wait_for("label", "Nothing to Continue")


def test_pairing_refused(strangers: Machines) -> None:
    """Codes that a user does not find the same pair nothing, and both windows say so; one Escape ends the dialog at any time"""
    desk, lap = strangers
    at_desk, at_lap = begin_pairing(desk, lap)
    code(at_desk)
    code(at_lap)
    at_desk.press("They Don’t Match")
    for window in (at_desk, at_lap):
        window.wait_for("label", "Not Paired")
    assert not shown(desk, lap.device_id).get("Paired")
    at_lap.focus()
    at_lap.press("Try Again")
    # The button still moves as it does when a key presses it.
    at_lap.keys("Escape")
    at_lap.wait_until(lambda: not at_lap.find("frame", "Pair a Device"), "the end of the dialog")
    wait(lambda: not lap.session.get(BRIDGE_ROOT, "Bridge.Discoverable"), "that lap can no longer be found")
    at_lap.press("Pair a Device…")
    at_lap.click(at_lap.address())
    at_lap.type("x")
    at_lap.wait_until(lambda: at_lap.field("Address, HOST:PORT") == "x", "what was typed")
    at_lap.keys("Escape")
    at_lap.wait_until(lambda: not at_lap.find("frame", "Pair a Device"), "the end of the dialog from where one types")


def test_continuing(seen: Machines) -> None:
    """What another device offers is continued from the window; what fails says why there, and can be tried again"""
    desk, lap = seen
    origin, target = Client(desk), Client(lap)
    target.fail("ContinueActivity", "The disk is full.")
    window = Settings(lap, lap.screen)
    window.wait_for("label", "Nothing to Continue")
    origin.offer("Shopping")
    window.wait_for("label", "Shopping")
    window.wait_for("label", "desk")
    window.button("Continue", "Shopping").press()
    window.wait_to_see("The disk is full.")
    target.answers["ContinueActivity"] = lambda arguments: GLib.Variant("(b)", (True,))
    window.button("Try Again", "Shopping").press()
    call = target.wait_for("ContinueActivity", 2)
    # The window was active, so that the application has the right to come to the front.
    assert call.arguments.unpack()[1].get("ActivationToken")
    window.button("Continue", "Shopping")
    assert not window.sees("The disk is full.")
    origin.wait_for("WasContinued")


def test_left_by_a_sleeping_device(strangers: Machines) -> None:
    """What a device has left here before it slept says since when it sleeps, and is continued from the window without it"""
    _desk, lap = strangers
    target = Client(lap)
    window = Settings(lap, lap.screen)
    link = Device().paired_link_to(lap)
    assert leave(link, UserInfo=GLib.Variant("a{sv}", {"line": GLib.Variant("u", 7)})) == ""
    link.close()
    window.wait_for("label", "Letter")
    window.wait_until(lambda: any(re.fullmatch(r"other, asleep since \d\d:\d\d", label) for label in window.labels()),
                      "since when it sleeps")
    window.button("Continue", "Letter").press()
    target.wait_for("ContinueActivity")
    window.wait_until(lambda: not window.find("push button", "Continue"), "what goes on here to go")
    set_preference(lap, "Park", GLib.Variant("b", False))
    window.go_to("Preferences")
    label = "Continue Elsewhere While This Device Sleeps"
    window.wait_until(lambda: not window.switch(label).is_on, "the switch to be off")
    window.switch(label).press()
    wait(lambda: preference(lap, "Park"), "the choice to be stored")


def test_cancelling(seen: Machines) -> None:
    """A continuation that takes its time can be cancelled in the window, and the offer stays"""
    desk, lap = seen
    slow = "com.example.slow"
    folder = lap.folder / "share" / "applications"
    folder.mkdir(parents=True)
    (folder / f"{slow}.desktop").write_text(
        f"[Desktop Entry]\nType=Application\nName=<i>Slow</i> & _Co\nExec=sleep 60\nImplements=org.example.Handoff.Application;\nX-Handoff-ActivityTypes={ACTIVITY_TYPE}\n")
    window = Settings(lap, lap.screen)
    Client(desk, application_id=slow).offer("Long")
    window.wait_until(lambda: any("<i>Slow</i> & _Co" in label for label in window.labels()), "the name of the application")
    window.button("Continue", "Long").press()
    window.button("Cancel", "Long").press()
    window.button("Continue", "Long")
    assert not window.find("push button", "Try Again")


def test_handlers_and_dismissing(seen: Machines) -> None:
    """The menu of an offer has every application that can continue it, and dismisses it"""
    desk, lap = seen
    team = {"Team": GLib.Variant("s", "com.example.team")}
    first, second = Client(lap, "com.example.one", options=team), Client(lap, "com.example.two", options=team)
    origin = Client(desk, "com.example.one", options=team)
    origin.offer("Both")
    window = Settings(lap, lap.screen)
    window.button("Continue", "Both")

    def choose(entry: str) -> None:
        menu = next(part for part in window.application.parts() if part.description == "Both" and "More" in part.name)
        window.focus()
        window.click(menu)
        window.wait_for("menu item", entry).press()

    choose("Continue in com.example.two")
    second.wait_for("ContinueActivity")
    assert not first.called("ContinueActivity")
    window.button("Continue", "Both")
    choose("Dismiss")
    window.wait_for("label", "Nothing to Continue")


def test_unpairing(seen: Machines) -> None:
    """Unpairing asks first, and only the answer that says so does it"""
    desk, lap = seen
    window = Settings(lap, lap.screen)
    window.go_to("Devices")
    expander = window.wait_for("list item", "desk")
    window.click(expander)
    for answer, is_paired in (("Cancel", True), ("Unpair", False)):
        window.button("Unpair…", "desk").press()
        window.wait_for("label", "Unpair This Device?")
        window.answer(answer)
        wait(lambda is_paired=is_paired: shown(lap, desk.device_id).get("Paired", False) is is_paired, answer)
    window.wait_until(lambda: not window.find("list item", "desk"), "the end of the device")
    window.wait_to_see("No device is paired with this one yet.")


def test_preferences(strangers: Machines) -> None:
    """What is changed in the window is changed for all, and what is changed elsewhere shows at once"""
    lap = strangers[1]
    window = Settings(lap, lap.screen)
    window.go_to("Preferences")
    window.wait_for("label", "Excluded Applications")
    window.switch("Handoff").press()
    wait(lambda: preference(lap, "Enabled") is False, "that Handoff is off")
    window.wait_for("label", "Handoff is switched off.")
    set_preference(lap, "Enabled", GLib.Variant("b", True))
    window.wait_until(lambda: not window.find("label", "Handoff is switched off."), "that it is on again")
    set_preference(lap, "SharedFolders", GLib.Variant("a{ss}", {"<b>Cloud</b>": "/srv/_x"}))
    window.wait_for("label", "<b>Cloud</b>")
    window.button("Remove", "<b>Cloud</b>").press()
    wait(lambda: preference(lap, "SharedFolders") == {}, "that no folder is shared")
    window.wait_for("label", "No folder has been added.")
    set_preference(lap, "DeviceName", GLib.Variant("s", "Büro"))
    window.go_to("Devices")
    window.wait_until(lambda: window.field("Name on Other Devices") == "Büro", "the new name")


def rename(window: Settings, name: str) -> None:
    """Types a name for this device."""
    window.go_to("Devices")
    window.focus()
    window.click(window.wait_for("text", "Name on Other Devices"))
    window.keys("ctrl+a")
    window.type(name)
    window.keys("Return")


def test_renaming(seen: Machines) -> None:
    """This device gets another name, which the other one shows"""
    desk, lap = seen
    window, other = Settings(lap, lap.screen), Settings(desk, desk.screen)
    rename(window, "Kitchen")
    wait(lambda: preference(lap, "DeviceName") == "Kitchen", "the new name")
    other.go_to("Devices")
    other.wait_for("list item", "Kitchen")


def test_refused(strangers: Machines) -> None:
    """What cannot be written says why, and what was there before is shown again"""
    lap = strangers[1]
    window = Settings(lap, lap.screen)
    # A folder is in the place of the file.
    file = lap.folder / "config_home" / "handoff" / "handoff.conf"
    file.unlink()
    file.mkdir()
    rename(window, "Kitchen")
    window.wait_for("label", "This Cannot Be Changed")
    window.answer("Close")
    window.wait_until(lambda: window.field("Name on Other Devices") == "lap", "the former name")
    window.go_to("Preferences")
    window.wait_for("label", "Excluded Applications")
    window.switch("Handoff").press()
    window.answer("Close")
    assert preference(lap, "Enabled") is True


def test_mending(seen: Machines) -> None:
    """A broker that is gone is told of at the top, with a button that brings it back, and then all is as before"""
    desk, lap = seen
    Client(desk).offer("Shopping")
    services = lap.folder / "share" / "dbus-1" / "services"
    services.mkdir(parents=True)
    (services / f"{BROKER}.service").write_text(f"[D-BUS Service]\nName={BROKER}\nExec={PROGRAMS}/handoffd\n")
    lap.session.call("/org/freedesktop/DBus", "org.freedesktop.DBus.ReloadConfig", destination="org.freedesktop.DBus")
    target = Client(lap)
    window = Settings(lap, lap.screen)
    window.wait_for("label", "Shopping")
    lap.kill("handoffd")
    window.wait_for("label", "The broker (handoffd) is not running.")
    window.wait_for("label", "Handoff Is Not Running")
    window.press("Start")
    window.wait_until(lambda: not window.find("label", "The broker (handoffd) is not running."), "the end of the problem")
    target.register()
    window.wait_for("label", "Shopping")
    window.button("Continue", "Shopping").press()
    target.wait_for("ContinueActivity")
    lap.kill("handoff-bridge")
    window.wait_to_see("The bridge (handoff-bridge) is not running")
    lap.start_bridge()
    window.wait_for("label", "Shopping")
    assert lap.session.owner(BRIDGE)


def test_fetched(seen: Machines) -> None:
    """What another device has fetched is listed, with the device and when"""
    desk, lap = seen
    Client(lap)
    origin = Client(desk)
    window = Settings(desk, desk.screen)
    window.go_to("Activity")
    window.wait_for("label", "Nothing Fetched Yet")
    origin.offer("Shopping")
    at_lap = Settings(lap, lap.screen)
    at_lap.button("Continue", "Shopping").press()
    origin.wait_for("WasContinued")
    # Coming back to the window is what looks anew.
    window.go_to("Continue")
    window.go_to("Activity")
    window.wait_for("label", "Shopping")
    window.wait_for("label", "lap")
    window.wait_to_see("just now")
    window.wait_to_see("1 activity")
    assert EDITOR
    assert PROGRAM in desk.processes
