# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Handoff window: what is sent to other devices and by them, and the choices about applications, notifications and folders."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from buses import BRIDGE_ROOT, wait
from clients import APPLICATION_ID, Client
from gi.repository import GLib
from link import Device, offer
from pairing import shown
from sending import hidden_as_sent, mute, send
from settings import PROGRAM, Settings, not_built
from test_desktop_entries import install
from test_settings import Machines, begin_pairing, code, preference, seen, strangers

if reason := not_built():
    pytest.skip(reason, allow_module_level=True)

__all__ = ["seen", "strangers"]
SENT = "Sent to this device"


def look_anew(window: Settings) -> None:
    """What is current here is told to its application alone: another page asks for it again."""
    window.go_to("Activity")
    window.wait_until(lambda: window.find("label", "Nothing Fetched Yet"), "the page")
    window.go_to("Continue")


def send_to(window: Settings, title: str, device: str) -> None:
    """Sends what is current to a device."""
    def button() -> list:
        return [part for part in window.application.parts() if part.description == title and "Send to…" in part.name]

    look_anew(window)
    window.wait_until(button, "the button")
    window.focus()
    window.click(button()[0])
    window.wait_for("menu item", device).press()


def order(window: Settings) -> list[str]:
    """The titles of the offers, from the top."""
    return [part.description for part in window.find("push button", "Continue")]


def test_sent(seen: Machines) -> None:
    """What is sent from the window is marked as sent in that of the other device, before what is later, and can be continued"""
    desk, lap = seen
    target, origin = Client(lap), Client(desk)
    origin.offer("A letter")
    at_desk, at_lap = Settings(desk, desk.screen), Settings(lap, lap.screen)
    at_lap.button("Continue", "A letter")
    assert not at_lap.sees(SENT)
    send_to(at_desk, "A letter", "lap")
    at_lap.wait_for("label", SENT)
    at_desk.wait_until(lambda: not at_desk.sees("Being sent…"), "that it is there")
    assert not at_desk.sees("Not Sent")
    at_lap.button("Continue", "A letter").press()
    target.wait_for("ContinueActivity")
    at_lap.wait_until(lambda: not at_lap.sees(SENT), "the end of the mark")


def test_what_was_left_is_sent(seen: Machines) -> None:
    """What its user has left, to turn to the window, can be sent from there to a device that is connected"""
    desk, lap = seen
    Client(lap)
    letter = Client(desk).offer("A letter")
    at_desk, at_lap = Settings(desk, desk.screen), Settings(lap, lap.screen)
    letter.leave_current()
    send_to(at_desk, "A letter", "lap")
    at_lap.wait_for("label", SENT)


def test_sent_comes_first(seen: Machines) -> None:
    """What was sent comes before what another device offers later, and a device that is muted in the window sends nothing"""
    desk, lap = seen
    Client(lap)
    origin = Client(desk)
    origin.offer("A letter")
    window = Settings(lap, lap.screen)
    window.button("Continue", "A letter")
    other = Device()
    link = other.paired_link_to(lap)
    link.call("Peer.Offer", offer(Title=GLib.Variant("s", "Later"), Since=GLib.Variant("x", 1)))
    window.wait_until(lambda: order(window) == ["Later", "A letter"], "both offers")
    send(desk, lap.device_id)
    window.wait_until(lambda: order(window) == ["A letter", "Later"], "what was sent before the other one")
    window.go_to("Devices")
    window.click(window.wait_for("list item", "desk"))
    window.wait_until(lambda: [part for part in window.find("check box", "Mute") if part.description == "desk"], "the switch")
    next(part for part in window.find("check box", "Mute") if part.description == "desk").press()
    wait(lambda: shown(lap, desk.device_id)["Muted"], "that desk is muted")
    window.go_to("Continue")
    window.wait_until(lambda: order(window) == ["Later", "A letter"], "that it is an offer like others")
    assert not window.sees(SENT)
    mute(lap, desk.device_id, False)
    window.go_to("Devices")
    window.wait_until(lambda: not shown(lap, desk.device_id)["Muted"], "that it is not muted")


def test_sent_and_hidden(seen: Machines) -> None:
    """What was sent and nothing here continues is marked among what cannot be continued"""
    desk, lap = seen
    Client(desk).offer("A letter")
    window = Settings(lap, lap.screen)
    window.wait_to_see("Cannot Be Continued Here")
    send(desk, lap.device_id)
    wait(lambda: hidden_as_sent(lap) == ["A letter"], "that it was sent")
    window.click(window.wait_for("list item", "Cannot Be Continued Here"))
    look_anew(window)
    window.wait_to_see(f"desk · com.example.editor · {SENT}")


def test_not_sent(seen: Machines) -> None:
    """While something is sent that shows where it was sent from, and then why it did not arrive, until that was read"""
    desk = seen[0]
    other = Device()
    link = other.paired_link_to(desk)
    link.errors["Invite"] = ("org.freedesktop.DBus.Error.UnknownMethod", "There is no such method.")
    Client(desk).offer("A letter")
    # What a new link asks first is answered before a window takes its time to open.
    wait(lambda: any(message.get_member() == "Offer" for message in link.read_messages()), "the offer to arrive")
    window = Settings(desk, desk.screen)
    send_to(window, "A letter", "other")
    window.wait_for("label", "Being sent…")

    def failed() -> bool:
        link.read_messages()
        return window.sees("Not Sent")

    window.wait_until(failed, "that it has failed")
    window.wait_to_see("too old")
    # Who sends again sees that again.
    send_to(window, "A letter", "other")
    window.wait_for("label", "Being sent…")
    window.wait_until(failed, "that it has failed again")
    window.button("Dismiss", "other").press()
    window.wait_until(lambda: not window.sees("Not Sent"), "that it is forgotten")


def test_excluding(seen: Machines) -> None:
    """An application that is excluded in the window, where those that know Handoff are listed, and none whose desktop entry the
    broker refuses, offers nothing any more, and offers again once it is included"""
    desk, lap = seen
    entry = install(desk, "com.example.grouped", Name="Grouped")
    entry.write_text(entry.read_text() + "[org.example.Handoff.Application]\nActivityTypes=com.example.grouped.edit;\n")
    install(desk, "com.example.other", Name="Knows nothing", Implements="org.example.Other;")
    install(desk, "com.example.refused", Name="Is refused", ActivityTypes=";")
    Client(lap)
    Client(desk).offer("A letter")
    at_desk, at_lap = Settings(desk, desk.screen), Settings(lap, lap.screen)
    at_lap.button("Continue", "A letter")
    at_desk.go_to("Preferences")
    at_desk.press("Exclude an Application…")
    at_desk.wait_for("text", "Id, for example org.example.Editor")
    at_desk.wait_for("label", "Grouped")
    assert not at_desk.sees("Knows nothing") and not at_desk.sees("Is refused")
    at_desk.focus()
    at_desk.type(APPLICATION_ID)
    at_desk.keys("Return")
    wait(lambda: preference(desk, "ExcludedApplications") == [APPLICATION_ID], "that it is excluded")
    at_lap.wait_for("label", "Nothing to Continue")
    at_desk.button("Remove", APPLICATION_ID).press()
    wait(lambda: preference(desk, "ExcludedApplications") == [], "that it is included again")
    at_desk.wait_for("label", "No application is excluded.")
    Client(desk).offer("Another letter")
    at_lap.button("Continue", "Another letter")


def test_notification_choices(strangers: Machines) -> None:
    """Of what and when the user is notified is chosen in the window"""
    lap = strangers[1]
    window = Settings(lap, lap.screen)
    window.go_to("Preferences")
    assert preference(lap, "NotifyOffers") == "arrival" and preference(lap, "NotifyContinued") is True
    window.switch("Continued on Another Device").press()
    wait(lambda: preference(lap, "NotifyContinued") is False, "no notifications of what is continued")
    for choice, word in (("Always", "always"), ("Never", "never"), ("When I Arrive", "arrival")):
        window.focus()
        window.click(window.wait_for("label", "Offers of Other Devices"))
        window.wait_until(lambda choice=choice: [part for part in window.find("label", choice) if part.is_shown], choice)
        window.keys("Home", *["Down"] * ("When I Arrive", "Always", "Never").index(choice), "Return")
        wait(lambda word=word: preference(lap, "NotifyOffers") == word, word)


def test_clipboard_choice(strangers: Machines) -> None:
    """What becomes of the clipboard is chosen in the window, which says what each choice means"""
    lap = strangers[1]
    window = Settings(lap, lap.screen)
    window.go_to("Preferences")
    assert preference(lap, "Clipboard") == "ask"
    choices = ("When I Ask for It", "Follow What I Copy", "Off")
    for choice, word, meaning in (("Follow What I Copy", "follow", "For two minutes it can be pasted"),
                                  ("Off", "off", "What is copied here stays here"),
                                  ("When I Ask for It", "ask", "is told nothing before")):
        window.focus()
        window.click(window.wait_for("label", "Clipboard"))
        window.wait_until(lambda choice=choice: [part for part in window.find("label", choice) if part.is_shown], choice)
        window.keys("Home", *["Down"] * choices.index(choice), "Return")
        wait(lambda word=word: preference(lap, "Clipboard") == word, word)
        window.wait_until(lambda meaning=meaning: any(meaning in label for label in window.labels()), meaning)


def choose_folder(window: Settings, button: str, title: str, folder: Path) -> None:
    """Chooses a folder in the dialog that this button opens, by its path."""
    window.press(button)
    window.wait_for("filler", title)
    window.focus()
    window.keys("ctrl+l")
    window.type(str(folder))
    window.keys("Return")


def test_folders(strangers: Machines) -> None:
    """Where documents go and which folders are shared is chosen among the folders of this machine"""
    lap = strangers[1]
    papers, cloud = lap.folder / "papers", lap.folder / "cloud"
    for folder in (papers, cloud):
        folder.mkdir()
    window = Settings(lap, lap.screen)
    window.go_to("Preferences")
    window.wait_to_see("“Handoff” in the folder for downloads")
    choose_folder(window, "Choose a Folder for Documents…", "Where Documents Go", papers)
    wait(lambda: preference(lap, "DocumentsFolder") == str(papers), "the folder")
    window.wait_to_see(str(papers))
    window.press("Use the Folder for Downloads")
    wait(lambda: preference(lap, "DocumentsFolder") == "", "the folder for downloads")
    choose_folder(window, "Share a Folder…", "Share a Folder", cloud)
    window.wait_to_see("The folder has to have the same name on your other devices.")
    window.press("Share")
    wait(lambda: preference(lap, "SharedFolders") == {"cloud": str(cloud)}, "that it is shared")
    window.button("Remove", "cloud").press()
    wait(lambda: preference(lap, "SharedFolders") == {}, "that it is not shared any more")


@pytest.mark.parametrize("ending", ["closing", "told"])
def test_end_while_pairing(strangers: Machines, ending: str) -> None:
    """Closing the window while its dialog for pairing is open, or telling the program to end, leaves no device to be found
    and no attempt under way"""
    desk, lap = strangers
    at_desk, at_lap = begin_pairing(desk, lap)
    code(at_desk)
    code(at_lap)
    if ending == "closing":
        windows = desk.screen.ask("xdotool", "search", "--onlyvisible", "--name", "^Handoff$").split()
        desk.screen.ask("xdotool", "windowfocus", "--sync", windows[0], "key", "ctrl+q")
    else:
        os.kill(at_desk.process.pid, signal.SIGTERM)
    wait(lambda: at_desk.process.poll() is not None, "the end of the program")
    assert desk.processes.pop(PROGRAM).returncode == 0
    assert not desk.session.get(BRIDGE_ROOT, "Bridge.Discoverable")
    at_lap.wait_for("label", "Not Paired")
    assert not shown(desk, lap.device_id).get("Paired")


