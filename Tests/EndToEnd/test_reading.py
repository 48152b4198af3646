# SPDX-License-Identifier: LGPL-2.1-or-later
"""Clients that do not read or answer what they are sent: the broker forgets them, and others notice nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from gi.repository import Gio, GLib
from buses import BROKER, ROOT, let_pass, wait
from clients import Client, Dock, Never
from support import Machine, refused

FORGOTTEN = "does not read what it is sent"

SUBSCRIBER = """
import os, sys
sys.path.insert(0, sys.argv[1])
from buses import Session, let_pass
session = Session(os.environ["DBUS_SESSION_BUS_ADDRESS"])
session.managed_objects()
print("subscribed", flush=True)
while True:
    # It is ended by the test.
    let_pass(3600)
"""


def test_three_unanswered_calls(machines: tuple[Machine, Machine]) -> None:
    """A client that leaves three calls unanswered is forgotten, with its activities, until it registers again."""
    desk, lap = machines
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    for member in ("WillSave", "WasContinued"):
        origin.answers[member] = lambda arguments: Never
    endings: list[tuple[str, str]] = []
    origin.connection.signal_subscribe(
        BROKER, f"{BROKER}.Manager", "RegistrationEnded", ROOT, None, Gio.DBusSignalFlags.NONE,
        lambda *signal: endings.append(signal[5].unpack()))
    activity = origin.offer("Silent")
    for times in range(1, 4):
        dock.continue_offer(dock.offer("Silent"))
        # The last state is handed off all the same.
        target.wait_for("ContinueActivity", times=times)
    wait(lambda: FORGOTTEN in desk.log("handoffd"), "the broker to forget the client")
    assert origin.application_id in desk.log("handoffd")
    wait(lambda: "Silent" not in dock.titles, "its offer to go")
    (ending,) = wait(lambda: endings, "RegistrationEnded")
    assert ending[0] == origin.application_id
    for text in ("forgotten", "3 calls in a row unanswered", "RegisterApplication"):
        assert text in ending[1]
    with refused("UnknownObject", containing=(ending[1],)):
        activity.get("Title")
    with refused("NotRegistered", containing=(ending[1], origin.application_id)):
        origin.create()
    # That is for itself alone.
    with refused("UnknownObject"):
        target.get(activity.path, "Activity.Title")

    origin.answers |= {"WillSave": lambda arguments: GLib.Variant("(a{sv})", ({},)),
                       "WasContinued": lambda arguments: None}
    asked = sum(call.member == "WillSave" for call in origin.calls)
    origin.register()
    with refused("UnknownObject"):
        activity.get("Title")
    origin.offer("Back")
    dock.continue_offer(dock.offer("Back"))
    target.wait_for("ContinueActivity", times=4)
    assert sum(call.member == "WillSave" for call in origin.calls) == asked + 1
    assert len(endings) == 1


@pytest.mark.slow
def test_client_that_answers_too_late_is_kept(machine: Machine) -> None:
    """A client that answers each call after the broker has given it up is slow, not gone: it is not forgotten."""
    client = Client(machine)
    client.answers["WillSave"] = lambda arguments: Never
    activity = client.offer("Slow")
    for times in range(1, 5):
        activity.update(NeedsSave=True)
        client.wait_for("WillSave", times=times)
        # The broker waits for four seconds.
        let_pass(4.3)
        client.unanswered.pop().return_value(GLib.Variant("(a{sv})", ({},)))
    # As long as a broker takes to forget one.
    let_pass(0.2)
    assert FORGOTTEN not in machine.log("handoffd")
    assert activity.get("Title") == "Slow"


def test_client_that_answers_slowly_is_kept(machine: Machine) -> None:
    """A client that answers every third call in time is not forgotten."""
    client = Client(machine)
    answers = iter([Never, Never, None, Never, Never, None])
    client.answers["WillSave"] = lambda arguments: next(answers, None) or GLib.Variant("(a{sv})", ({},))
    activity = client.offer("Slow", NeedsSave=True)
    for times in range(1, 7):
        client.wait_for("WillSave", times=times)
        activity.update(NeedsSave=True)
    client.wait_for("WillSave", times=7)
    assert activity.get("Title") == "Slow"
    assert FORGOTTEN not in machine.log("handoffd")


def test_own_end_is_not_told(machine: Machine) -> None:
    """An application that unregisters itself is not told that it has, and the next call says only that it is not registered."""
    client = Client(machine)
    endings: list[object] = []
    client.connection.signal_subscribe(BROKER, f"{BROKER}.Manager", "RegistrationEnded", ROOT, None,
                                       Gio.DBusSignalFlags.NONE, lambda *signal: endings.append(signal))
    client.call(ROOT, "Manager.UnregisterApplication")
    with refused("NotRegistered", containing=("has not registered",)):
        client.create()
    # What it was told came before that answer.
    assert not endings


def test_client_that_never_reads(machines: tuple[Machine, Machine]) -> None:
    """A client that has 64 messages unread and answers nothing is sent no more; others get all of theirs."""
    desk, lap = machines
    origin, _target, dock = Client(desk), Client(lap), Dock(lap)
    folder = str(Path(__file__).parent)
    environment = os.environ | {"DBUS_SESSION_BUS_ADDRESS": lap.address}
    with subprocess.Popen([sys.executable, "-c", SUBSCRIBER, folder], stdout=subprocess.PIPE, text=True,
                          env=environment) as stopped:
        try:
            assert stopped.stdout is not None
            assert stopped.stdout.readline() == "subscribed\n"
            stopped.send_signal(signal.SIGSTOP)
            for number in range(45):
                # Each is another offer in the place of the one before: two signals to each who follows.
                former = origin.offer(f"Number {number}")
                dock.offer(f"Number {number}")
                if number < 44:
                    former.invalidate()
            wait(lambda: FORGOTTEN in lap.log("handoffd"), "the broker to forget the client")
            origin.offer("The last")
            dock.offer("The last")
        finally:
            stopped.kill()
    assert lap.log("handoffd").count(FORGOTTEN) == 1


def test_client_that_is_sent_much_and_reads(machine: Machine) -> None:
    """A client that reads what it is sent is not forgotten, however much that is."""
    client = Client(machine)
    activities = [client.create() for _number in range(2)]
    for number in range(300):
        activities[number % 2].become_current()
    wait(lambda: activities[1].get("Current") is True, "the last to be current")
    client.offer("Still there")
    assert FORGOTTEN not in machine.log("handoffd")
