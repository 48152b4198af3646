# SPDX-License-Identifier: LGPL-2.1-or-later
"""The example application, data/examples/contacts.py, and the demo's story with it."""

from __future__ import annotations

import signal

import pytest
from gi.repository import GLib
from buses import entries, let_pass, typed, wait
from clients import Client, Dock
from support import SOURCE, Machine

CONTACTS = str(SOURCE / "data" / "examples" / "contacts.py")
APPLICATION = ("org.example.Contacts", ("org.example.Contacts.edit",))
Machines = tuple[Machine, Machine]


def contacts(machine: Machine, *arguments: str) -> str:
    """Runs a command of the application, which must succeed."""
    result = machine.run(CONTACTS, *arguments)
    assert result.returncode == 0, result.stderr
    return result.stdout


def serve(*machines: Machine) -> None:
    for machine in machines:
        machine.start(CONTACTS, "serve")
        wait(lambda: machine.session.owner("org.example.Contacts"), "the application")


def edit(machine: Machine, *changes: str) -> None:
    contacts(machine, "edit", "Ada", *changes)


def test_contact_goes_on_with_its_types(machines: Machines) -> None:
    """A contact that is open on one machine is opened on the other, with the latest edit, and can go back."""
    desk, lap = machines
    serve(desk, lap)
    edit(desk, "birthday=1815-12-10", "rating=4.75", "favourite=true", "photo=ffd8ff00", 'phones=["1", "2"]',
         'address={"city": "London", "position": {"latitude": 51.5}}')
    dock = Dock(lap)
    path = dock.offer("Ada")
    edit(desk, "rating=5.0")
    dock.continue_offer(path)
    assert dock.outcome() == ("org.example.Contacts", "", "")
    assert contacts(lap, "show", "Ada") == contacts(desk, "show", "Ada")
    assert "birthday\t(sv)\t1815-12-10" in contacts(lap, "show", "Ada")
    back = Dock(desk)
    path = back.offer("Ada")
    edit(lap, 'phones=["3"]')
    back.continue_offer(path)
    assert back.outcome() == ("org.example.Contacts", "", "")
    assert 'phones\tas\t["3"]' in contacts(desk, "show", "Ada")


def test_contact_has_the_types_that_it_says(machines: Machines) -> None:
    """What the application hands over has the types that it shows."""
    desk, lap = machines
    serve(desk)
    edit(desk, "birthday=1815-12-10", "photo=00ff")
    target, dock = Client(lap, *APPLICATION), Dock(lap)
    dock.continue_offer(dock.offer("Ada"))
    activity = target.wait_for("ContinueActivity").arguments.get_child_value(0)
    state = {key: typed(value) for key, value in entries(activity.lookup_value("UserInfo")).items()}
    assert {key: value[0] for key, value in state.items()} == {
        "name": "s", "id": "u", "rating": "d", "favourite": "b", "photo": "ay", "phones": "as", "address": "a{sv}",
        "birthday": "(sv)"}
    assert state["birthday"][1] == [("s", "date"), ("v", ("x", -4_861_728_000 * 1_000_000))]
    wait(lambda: "was continued on lap" in desk.log(CONTACTS), "the application being told")


def test_contact_of_a_newer_version_is_refused(machines: Machines) -> None:
    """A state that the application does not understand is refused, and its words reach the user."""
    desk, lap = machines
    serve(lap)
    origin, dock = Client(desk, *APPLICATION), Dock(lap)
    for user_info, text in (({"name": GLib.Variant("s", "Ada"), "horoscope": GLib.Variant("s", "?")}, "horoscope"),
                            ({"name": GLib.Variant("s", "Ada"), "id": GLib.Variant("t", 1)}, "type t, and not u"),
                            ({"id": GLib.Variant("u", 1)}, "no name")):
        origin.offer(text, UserInfo=user_info)
        dock.events.clear()
        dock.continue_offer(dock.offer(text))
        _application, error, message = dock.outcome()
        assert error.endswith(".ApplicationFailed")
        assert text in message
    assert contacts(lap, "list") == ""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_contact_is_back_after_the_broker(machines: Machines, number: signal.Signals) -> None:
    """When the broker is killed, or ends, and comes back, the open contact is offered again."""
    desk, lap = machines
    serve(desk, lap)
    edit(desk)
    dock = Dock(lap)
    path = dock.offer("Ada")
    desk.kill("handoffd", number)
    dock.wait_until_gone(path)
    desk.start_broker()
    dock.continue_offer(dock.offer("Ada", 5))
    assert dock.outcome() == ("org.example.Contacts", "", "")


def activities(machine: Machine) -> dict[str, bool]:
    """The titles of a machine's activities, and which of them is current."""
    found = [interfaces["org.example.Handoff.Activity"] for interfaces in machine.session.managed_objects().values()
             if "org.example.Handoff.Activity" in interfaces]
    return {activity["Title"]: activity["Current"] for activity in found}


def restart_broker(machine: Machine, *titles: str) -> None:
    """Kills the broker and starts it again, and waits until these activities are back, that of the contacts last."""
    machine.processes[CONTACTS].send_signal(signal.SIGSTOP)
    machine.kill("handoffd")
    machine.start_broker()
    wait(lambda: set(activities(machine)) == set(titles) - {"Ada"}, "the other activities to be back")
    machine.processes[CONTACTS].send_signal(signal.SIGCONT)
    wait(lambda: set(activities(machine)) == set(titles), f"{titles} to be back, there are {activities(machine)}")
    # What an application might do wrong, it does right after it has created its activity.
    let_pass(0.3)


def test_what_goes_on_elsewhere_is_not_made_current_again(machines: Machines) -> None:
    """After a restart of the broker a contact that goes on at another machine is there, but not current."""
    desk, lap = machines
    serve(desk, lap)
    edit(desk)
    dock = Dock(lap)
    dock.continue_offer(dock.offer("Ada"))
    assert dock.outcome() == ("org.example.Contacts", "", "")
    wait(lambda: activities(desk) == {"Ada": False}, "the contact to resign")
    back = Dock(desk)
    path = back.offer("Ada")
    restart_broker(desk, "Ada")
    assert activities(desk) == {"Ada": False}
    assert activities(lap) == {"Ada": True}
    # It goes on here if its user turns to it again.
    back.follow()
    back.offer("Ada")
    edit(desk, "rating=1.0")
    wait(lambda: activities(desk) == {"Ada": True}, "the contact to be current")
    assert path


@pytest.mark.parametrize("current", ["letter", "contact"])
def test_the_right_one_stays_current(machine: Machine, current: str) -> None:
    """Of two applications that come back after a restart of the broker, the one that was current is."""
    serve(machine)
    edit(machine)
    wait(lambda: activities(machine) == {"Ada": True}, "the contact")
    writer = Client(machine)
    letter = writer.create(Title="Letter")
    if current == "letter":
        letter.become_current()
        wait(lambda: activities(machine) == {"Ada": False, "Letter": True}, "the letter to be current")
    writer.follow_broker(lambda: writer.offer("Letter") if current == "letter" else writer.create(Title="Letter"))
    expected = activities(machine)
    for _ in range(2):
        restart_broker(machine, "Ada", "Letter")
        assert activities(machine) == expected


def test_an_edit_makes_current_also_while_there_is_no_broker(machine: Machine) -> None:
    """What its user has turned to while there was no broker is current when there is one."""
    serve(machine)
    edit(machine)
    writer = Client(machine)
    writer.offer("Letter")
    wait(lambda: activities(machine) == {"Ada": False, "Letter": True}, "the letter to be current")
    machine.kill("handoffd")
    edit(machine, "rating=2.0")
    machine.start_broker()
    wait(lambda: activities(machine) == {"Ada": True}, "the contact to be current")


def test_closing_withdraws(machines: Machines) -> None:
    """Closing the contact ends its offer; the application that only had it open ends."""
    desk, lap = machines
    serve(lap)
    desk.start(CONTACTS, "edit", "Ada")
    dock = Dock(lap)
    path = dock.offer("Ada")
    contacts(desk, "close")
    dock.wait_until_gone(path)
    process = desk.processes.pop(CONTACTS)
    wait(lambda: process.poll() is not None, "the end of the application")
    assert process.returncode == 0
