# SPDX-License-Identifier: LGPL-2.1-or-later
"""The address book with windows goes along from one machine to another."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from gi.repository import GLib
from buses import BROKER, BUS, HANDOFF_ERROR, properties, wait
from clients import Client, Dock
from contacts import APPLICATION_ID, PROGRAM, WIDE, Contacts, begin, contact, install_contacts, not_built, store, stored
from screen import Screen
from support import Machine, pair, start_machine
from windows import Accessibility, environment_of

if reason := not_built():
    pytest.skip(reason, allow_module_level=True)

TYPES = tuple(f"org.example.contacts.{what}" for what in ("edit", "list", "view"))
Machines = tuple[Machine, Machine]


@pytest.fixture
def seen(machine_list: list[Machine], accessibility: Accessibility, tmp_path: Path) -> Iterator[Machines]:
    """Two machines that are paired and connected, each with a display."""
    desk, lap = start_machine(machine_list, "desk"), start_machine(machine_list, "lap")
    pair(desk, lap)
    for machine in (desk, lap):
        place = tmp_path / machine.name
        place.mkdir()
        machine.screen = Screen(place, WIDE)
    yield desk, lap
    for machine in (desk, lap):
        if PROGRAM in machine.processes:
            machine.kill(PROGRAM)
        machine.screen.close()


def go_on(dock: Dock, title: str) -> None:
    """Continues what is called this, and waits until that has succeeded."""
    before = len(dock.finished())
    path = dock.offer(title)
    wait(lambda: dock.offers[path]["Handlers"], "somebody to continue it")
    dock.continue_offer(path)
    wait(lambda: len(dock.finished()) > before, "the outcome")
    assert dock.finished()[-1][1:] == ("", "")


def test_editing(seen: Machines) -> None:
    """A contact that is half typed goes on in the same field on another device, and from there back, and is never two"""
    desk, lap = seen
    at_desk, at_lap = Contacts(desk, desk.screen), Contacts(lap, lap.screen)
    begin(at_desk, name="Ada Lovelace", phone="+44 20")
    docks = {machine.name: Dock(machine) for machine in seen}
    go_on(docks["lap"], "Ada Lovelace")
    at_lap.wait_for_form(name="Ada Lovelace", phone="+44 20")
    at_desk.wait_for("label", "Continued on lap")
    at_desk.focus()
    at_desk.type("x")
    at_lap.focus()
    at_lap.type(" 7946")
    at_lap.wait_for_form(name="Ada Lovelace", phone="+44 20 7946")
    assert at_desk.form() == {"Name": "Ada Lovelace", "Phone": "+44 20"}
    go_on(docks["desk"], "Ada Lovelace")
    at_desk.wait_for_form(name="Ada Lovelace", phone="+44 20 7946")
    at_lap.wait_for("label", "Continued on desk")
    at_desk.focus()
    at_desk.type(" 0815")
    at_desk.keys("ctrl+s")
    at_desk.wait_for_stored("Ada Lovelace")
    assert stored(desk) == [{"name": "Ada Lovelace", "phone": "+44 20 7946 0815"}]
    assert not stored(lap)


def test_taking_back(seen: Machines) -> None:
    """What went on elsewhere can be taken back by hand"""
    desk, lap = seen
    at_desk, at_lap = Contacts(desk, desk.screen), Contacts(lap, lap.screen)
    begin(at_desk, name="Ada")
    go_on(Dock(lap), "Ada")
    at_lap.wait_for_form(name="Ada")
    at_desk.press("Edit Here")
    at_desk.wait_until(lambda: at_desk.wait_for("push button", "Save").is_sensitive, "a form that can be typed into")
    at_desk.focus()
    at_desk.type(" King")
    at_desk.wait_for_form(name="Ada King")
    at_desk.keys("ctrl+s")
    at_desk.wait_for_stored("Ada King")


def test_viewing(seen: Machines) -> None:
    """A contact that is looked at is shown on the other device, which stores it only when it is told to"""
    desk, lap = seen
    store(desk, [contact(1, name="Zoë Émile", email="zoe@example.org", note="one\ntwo")])
    at_desk, at_lap = Contacts(desk, desk.screen), Contacts(lap, lap.screen)
    at_desk.choose("Zoë Émile")
    go_on(Dock(lap), "Zoë Émile")
    at_lap.wait_for("label", "zoe@example.org")
    assert not stored(lap)
    at_lap.press("Add")
    at_lap.wait_for_stored("Zoë Émile")
    assert stored(lap) == stored(desk)


def test_all(seen: Machines) -> None:
    """Five thousand contacts go along by stream, and those that are newer there stay"""
    desk, lap = seen
    contacts = [contact(number, name=f"Person {number:04}", note="word " * 40) for number in range(5_000)]
    store(desk, contacts)
    store(lap, [contact(7, name="Person 0007 here") | {"modified": 10_000}])
    at_desk, at_lap = Contacts(desk, desk.screen), Contacts(lap, lap.screen)
    at_desk.wait_until(lambda: "Person 0001" in at_desk.names(), "the list")
    go_on(Dock(lap), "All Contacts")
    at_lap.wait_for("label", "4999 contacts added")
    assert [values["name"] for values in stored(lap)][:9] == \
        [f"Person {number:04}" + (" here" if number == 7 else "") for number in range(9)]
    assert len(stored(lap)) == 5_000


def test_starting(seen: Machines) -> None:
    """Where the address book does not run it is started, shows what is coming, and opens no second window"""
    desk, lap = seen
    install_contacts(lap)
    lap.session.call("/org/freedesktop/DBus", f"{BUS}.UpdateActivationEnvironment",
                     GLib.Variant("(a{ss})", (environment_of(lap, lap.screen),)), destination=BUS)
    at_desk = Contacts(desk, desk.screen)
    begin(at_desk, name="Grace")
    go_on(Dock(lap), "Grace")
    at_lap = Contacts.started(lap, lap.screen, PROGRAM, APPLICATION_ID)
    at_lap.wait_for_form(name="Grace")
    assert len(at_lap.find("frame")) == 1
    os.kill(at_lap.process.pid, signal.SIGKILL)
    wait(lambda: not lap.session.owner(APPLICATION_ID), "the end of the program")


@pytest.mark.parametrize("where", ["origin", "continuing side"])
def test_restarts(seen: Machines, where: str) -> None:
    """With the broker of either side killed and started again, a contact goes along again within five seconds"""
    desk, lap = seen
    at_desk, at_lap = Contacts(desk, desk.screen), Contacts(lap, lap.screen)
    begin(at_desk, name="Ada")
    dock = Dock(lap)
    dock.offer("Ada")
    machine = desk if where == "origin" else lap
    machine.kill("handoffd")
    wait(lambda: not machine.session.owner(BROKER), "the end of the broker")
    machine.start_broker()
    start = time.monotonic()
    dock.follow()
    go_on(dock, "Ada")
    at_lap.wait_for_form(name="Ada")
    assert time.monotonic() - start < 5


def test_windows_in_front(seen: Machines) -> None:
    """What the user works with is what goes along: nothing of a window that was left, and nothing after the last is closed"""
    desk, lap = seen
    store(desk, [contact(1, name="Ada"), contact(2, name="Grace")])
    # A program of somebody else on the same display, which continues what is offered, so that this can be seen.
    other = Contacts(lap, desk.screen)
    at_desk, dock = Contacts(desk, desk.screen), Dock(lap)
    dock.offer("All Contacts")
    at_desk.choose("Ada")
    ada = dock.offer("Ada")
    other.focus()
    dock.wait_until_gone(ada)
    at_desk.focus()
    ada = dock.offer("Ada")
    at_desk.keys("ctrl+shift+n")
    at_desk.wait_until(lambda: len(at_desk.find("frame")) == 2, "two windows")
    at_desk.focus()
    dock.offer("All Contacts")
    at_desk.keys("ctrl+q")
    wait(lambda: at_desk.process.poll() == 0, "the end of the program")
    del desk.processes[PROGRAM]
    wait(lambda: not dock.titles, "no offer")


def test_withdrawing(seen: Machines) -> None:
    """What was on its way and does not come says so with its reason, and what was there before comes back"""
    desk, lap = seen
    store(lap, [contact(1, name="Ada")])
    origin = Client(desk, application_id=APPLICATION_ID, types=TYPES)
    at_lap, dock = Contacts(lap, lap.screen), Dock(lap)
    at_lap.choose("Ada")
    origin.hang("WillSave")
    activity = origin.offer("Half a contact")
    dock.continue_offer(dock.offer("Half a contact"))
    at_lap.wait_for("label", "Continuing from desk…")
    activity.resign_current()
    at_lap.wait_for("label", "Couldn’t Continue from desk")
    assert dock.outcome()[1] == f"{HANDOFF_ERROR}.OfferWithdrawn"
    at_lap.wait_for("label", "It is no longer there.")
    at_lap.wait_for("push button", "Close")
    assert not at_lap.find("push button", "Cancel")
    # What the broker says of it names the activity by its number.
    assert not any(dock.outcome()[2] in part.name for part in at_lap.find("label"))
    at_lap.focus()
    at_lap.keys("Escape")
    at_lap.wait_for("push button", "Edit")


def test_stopping(seen: Machines) -> None:
    """What the user stops while it is on its way does not come, and where it comes from nothing changes"""
    desk, lap = seen
    at_lap, dock = Contacts(lap, lap.screen), Dock(lap)
    origin = Client(desk, application_id=APPLICATION_ID, types=TYPES)
    origin.hang("WillSave")
    origin.offer("Half a contact")
    dock.continue_offer(dock.offer("Half a contact"))
    at_lap.wait_for("label", "Continuing from desk…")
    at_lap.focus()
    at_lap.keys("Escape")
    assert dock.outcome()[1] == f"{HANDOFF_ERROR}.ApplicationFailed"
    assert "stopped in Contacts" in dock.outcome()[2]
    at_lap.wait_for("label", "No Contact Selected")
    assert not origin.called("WasContinued")


def test_another_version(seen: Machines) -> None:
    """What another version of the address book has sent, and this one does not understand, is refused and changes nothing"""
    desk, lap = seen
    origin = Client(desk, application_id=APPLICATION_ID, types=TYPES)
    at_lap, dock = Contacts(lap, lap.screen), Dock(lap)
    begin(at_lap, name="Grace")
    origin.create("org.example.contacts.edit", **properties(
        Title="From the future", UserInfo={"contact": GLib.Variant("s", "Ada")})).become_current()
    dock.continue_offer(dock.offer("From the future"))
    at_lap.wait_for("label", "Couldn’t Continue from desk")
    assert dock.outcome()[1] == f"{HANDOFF_ERROR}.ApplicationFailed"
    # What was being typed here is in a window of its own, untouched.
    assert at_lap.form() == {"Name": "Grace"}
