# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the address book continues goes on from there, back to where it was; and what is seen while many contacts come."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from buses import wait
from clients import Client, Dock
from contacts import Contacts, contact, not_built, store, stored
from gi.repository import GLib
from streams import Background
from support import Machine
from test_contacts_attacked import NEVER, Peer, draft, form
from test_contacts_handoff import TYPES, Machines, go_on, seen
from windows import Atspi, wait_for_labels

if reason := not_built():
    pytest.skip(reason, allow_module_level=True)

__all__ = ["seen"]


def names(machine: Machine) -> list[str]:
    return [values["name"] for values in stored(machine)]


def test_list_and_back(seen: Machines) -> None:
    """The list goes on to another device with its search, and from there back with what was added to it"""
    desk, lap = seen
    store(desk, [contact(1, name="Ada"), contact(2, name="Grace")])
    store(lap, [contact(3, name="Zoe")])
    at_desk, at_lap = Contacts(desk, desk.screen), Contacts(lap, lap.screen)
    docks = {machine.name: Dock(machine) for machine in seen}
    at_desk.wait_until(lambda: at_desk.names() == ["Ada", "Grace"], "the list")
    at_desk.keys("ctrl+f")
    at_desk.type("grace")
    at_desk.wait_until(lambda: at_desk.names() == ["Grace"], "what is searched for")
    go_on(docks["lap"], "All Contacts")
    wait_for_labels((at_lap, "2 contacts added"), (at_desk, "Continued on lap"))
    at_lap.wait_until(lambda: at_lap.names() == ["Grace"], "what was searched for")
    assert names(lap) == ["Ada", "Grace", "Zoe"]
    at_lap.focus()
    at_lap.keys("ctrl+f", "ctrl+a")
    at_lap.type("zoe")
    at_lap.wait_until(lambda: at_lap.names() == ["Zoe"], "another search")
    go_on(docks["desk"], "All Contacts")
    wait_for_labels((at_desk, "1 contact added"), (at_lap, "Continued on desk"))
    at_desk.wait_until(lambda: at_desk.names() == ["Zoe"], "what was searched for there")
    assert stored(desk) == stored(lap)
    # And once more, when there is nothing new.
    go_on(docks["lap"], "All Contacts")
    at_lap.wait_for("label", "All contacts were here already")
    assert stored(desk) == stored(lap)


def test_view_and_back(seen: Machines) -> None:
    """A contact that is looked at goes on to another device, is changed there, and comes back as what it has become"""
    desk, lap = seen
    store(desk, [contact(1, name="Ada", email="ada@example.org")])
    at_desk, at_lap = Contacts(desk, desk.screen), Contacts(lap, lap.screen)
    docks = {machine.name: Dock(machine) for machine in seen}
    at_desk.choose("Ada")
    go_on(docks["lap"], "Ada")
    at_lap.wait_for("label", "ada@example.org")
    at_lap.press("Add")
    at_lap.wait_for_stored("Ada")
    at_lap.focus()
    at_lap.keys("ctrl+e")
    at_lap.wait_for("text", "Name")
    at_lap.keys("End")
    at_lap.type(" King")
    at_lap.keys("ctrl+s")
    at_lap.wait_for_stored("Ada King")
    go_on(docks["desk"], "Ada King")
    at_lap.wait_for("label", "Continued on desk")
    at_desk.wait_for("label", "This contact is newer than the one that is stored here")
    assert names(desk) == ["Ada"]
    at_desk.press("Update")
    at_desk.wait_for_stored("Ada King")
    assert stored(desk) == stored(lap)
    # What is stored here is as new now: the same comes back to lap, where it asks for nothing.
    go_on(docks["lap"], "Ada King")
    at_lap.wait_for("push button", "Edit")
    assert not at_lap.find("push button", "Update") and not at_lap.find("push button", "Add")


def test_older_view(seen: Machines) -> None:
    """A contact that is looked at on a device where it is older is shown as it is stored here"""
    desk, lap = seen
    store(desk, [contact(1, name="Ada")])
    store(lap, [contact(1, name="Ada King") | {"modified": 1_000}])
    at_desk, at_lap = Contacts(desk, desk.screen), Contacts(lap, lap.screen)
    at_lap.wait_until(lambda: at_lap.names() == ["Ada King"], "the list")
    at_desk.choose("Ada")
    go_on(Dock(lap), "Ada")
    at_lap.wait_for("push button", "Edit")
    at_lap.wait_until(lambda: len(at_lap.find("label", "Ada King")) == 2, "the contact as it is here")
    assert not at_lap.find("push button", "Update")


def test_progress(seen: Machines) -> None:
    """While five thousand contacts come a bar shows how many have, and it goes once all have"""
    desk, lap = seen
    store(lap, [contact(9_999, name="Zoe")])
    window, peer = Contacts(lap, lap.screen), Peer(desk, Dock(lap))
    # What was looked at gives way to the list.
    window.choose("Zoe")
    lines = [json.dumps(contact(number, name=f"Person {number:04}")).encode() + b"\n" for number in range(5_000)]
    peer.origin.answers["DidReceiveStream"] = lambda _: None
    assert not peer.send("list", {}, SupportsContinuationStreams=True)
    stream = wait(lambda: peer.origin.streams, "the stream").pop()
    window.wait_for("label", "Receiving contacts from desk…")
    assert value(window) == 0
    stream.sendall(b'{"version":1,"count":5000}\n')
    for sent in range(0, 5_000, 1_250):
        window.wait_until(lambda: abs(value(window) - sent / 5_000) < 0.001, f"the bar at {sent}")
        if sent == 2_500:
            picture = lap.screen.shoot("progress.png")
            assert picture.stat().st_size > 10_000
            # The window can be used meanwhile.
            window.focus()
            assert not any(button.is_sensitive for button in window.find("push button", "Edit"))
            window.keys("ctrl+n")
            window.wait_for("text", "Name")
            window.keys("Escape")
        stream.sendall(b"".join(lines[sent:sent + 1_250]))
    stream.close()
    window.wait_for("label", "5000 contacts added")
    window.wait_until(lambda: not window.find("progress bar"), "the end of the bar")
    assert len(stored(lap)) == 5_001


def value(window: Contacts) -> float:
    """Where the bar is, from 0 to 1; -1 without a bar."""
    bars = window.find("progress bar")
    return Atspi.Value.get_current_value(bars[0].accessible) if bars else -1


def test_stopped_receiving(seen: Machines) -> None:
    """Contacts that come can be stopped, and then none was changed"""
    desk, lap = seen
    store(lap, [contact(1, name="Mine")])
    window, peer = Contacts(lap, lap.screen), Peer(desk, Dock(lap))
    peer.origin.answers["DidReceiveStream"] = lambda _: None
    assert not peer.send("list", {}, SupportsContinuationStreams=True)
    stream = wait(lambda: peer.origin.streams, "the stream").pop()
    stream.sendall(b'{"version":1,"count":2}\n' + json.dumps(contact(2, name="Theirs")).encode() + b"\n")
    window.wait_until(lambda: value(window) == 0.5, "the bar in the middle")
    window.press("Stop")
    window.wait_for("label", "Stopped. No contacts were changed.")
    window.wait_until(lambda: not window.find("progress bar"), "the end of the bar")
    assert names(lap) == ["Mine"]


@pytest.mark.parametrize("kind", ["list", "view", "edit"])
def test_from_the_future(seen: Machines, kind: str) -> None:
    """What a device says was changed at the end of time does not win over what is changed later, however it has come"""
    desk, lap = seen
    window, peer = Contacts(lap, lap.screen), Peer(desk, Dock(lap))
    now = time.time_ns() // 1000
    if kind == "list":
        line = json.dumps(contact(1, name="Ada") | {"modified": NEVER}).encode() + b"\n"
        peer.origin.answers["DidReceiveStream"] = lambda _: feed(peer, b'{"version":1,"count":1}\n' + line)
        assert not peer.send("list", {}, SupportsContinuationStreams=True)
        window.wait_for("label", "1 contact added")
    elif kind == "view":
        assert not peer.send("view", form(1, NEVER, name="Ada"))
        window.press("Add")
    else:
        assert not peer.send("edit", draft(form(1, NEVER, name="Ada"), base=NEVER))
        window.wait_for_form(name="Ada")
        window.focus()
        window.keys("ctrl+s")
    window.wait_for_stored("Ada")
    times = [entry["modified"] for entry in json.loads(Path(lap.environment["XDG_DATA_HOME"], "handoff-contacts",
                                                            "contacts.json").read_text())["contacts"]]
    assert now - 60_000_000 <= times[0] <= time.time_ns() // 1000 + 1
    later = contact(1, name="Ada King") | {"modified": time.time_ns() // 1000}
    peer.origin.answers["DidReceiveStream"] = lambda _: feed(
        peer, b'{"version":1,"count":1}\n' + json.dumps(later).encode() + b"\n")
    assert not peer.send("list", {}, SupportsContinuationStreams=True)
    window.wait_for("label", "1 updated")
    window.wait_for_stored("Ada King")


def feed(peer: Peer, content: bytes) -> None:
    """Writes this into the stream that was just opened, and ends it."""
    stream = peer.origin.streams.pop()
    stream.sendall(content)
    stream.close()
