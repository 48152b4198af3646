# SPDX-License-Identifier: LGPL-2.1-or-later
"""ActivityContinued: who shows the user what happens learns that a peer has continued something from here."""

from __future__ import annotations

import time

from buses import ROOT, let_pass, wait
from clients import ACTIVITY_TYPE, APPLICATION_ID, CROSSING, Client, Dock
from sandbox import Sandbox
from support import Machine
from test_sandbox import sandbox  # noqa: F401 (a fixture)

Machines = tuple[Machine, Machine]


def wait_until_told(watcher: Dock) -> None:
    """Waits until who follows the objects is told that something was continued."""
    wait(lambda: [event for event in watcher.events if event.member == "ActivityContinued"], "ActivityContinued")


def test_continued_is_told(machines: Machines) -> None:
    """Who follows the objects is told when a peer has continued something, once a continuation, with what and where; who
    does not is told nothing."""
    desk, lap = machines
    origin, target, dock, watcher = Client(desk), Client(lap), Dock(lap), Dock(desk)
    activity = origin.offer("A letter")
    for times in (1, 2):
        dock.continue_offer(dock.offer("A letter"))
        target.wait_for("ContinueActivity", times)
        wait(lambda: len([event for event in watcher.events if event.member == "ActivityContinued"]) == times,
             "ActivityContinued")
    before = time.time_ns() // 1000
    event = [event for event in watcher.events if event.member == "ActivityContinued"][0]
    (told,) = event.arguments.unpack()
    assert abs(before - told.pop("Time")) < 20_000_000
    assert event.path == ROOT and told == {
        "DeviceId": lap.device_id, "DeviceName": "lap", "ActivityType": ACTIVITY_TYPE,
        "ApplicationId": APPLICATION_ID, "Title": "A letter"}
    # A continuation that fails has not continued anything.
    target.fail("ContinueActivity", "not this one")
    dock.continue_offer(dock.offer("A letter"))
    wait(lambda: len(dock.finished()) == 3, "the third outcome")
    let_pass(CROSSING)
    assert len([event for event in watcher.events if event.member == "ActivityContinued"]) == 2
    assert activity.get("Current")


def test_continued_is_told_to_no_one_else(machines: Machines) -> None:
    """That a peer has continued something is broadcast to nobody."""
    desk, lap = machines
    origin, target, dock, watcher = Client(desk), Client(lap), Dock(lap), Dock(desk)
    bystander = Client(desk, "com.example.other")
    heard: list[str] = []
    bystander.connection.signal_subscribe(
        None, None, None, None, None, 0, lambda *arguments: heard.append(arguments[4]))
    origin.offer("A letter")
    dock.continue_offer(dock.offer("A letter"))
    target.wait_for("ContinueActivity")
    origin.wait_for("WasContinued")
    wait_until_told(watcher)
    # By the time when the broker answers, all that it has said before has arrived.
    bystander.get(ROOT, "Manager.Enabled")
    assert "ActivityContinued" not in heard


def test_continued_is_not_told_in_a_sandbox(machines: Machines, sandbox: Sandbox) -> None:  # noqa: F811
    """A sandboxed program that asks for the objects is not told what peers have continued."""
    desk, lap = machines
    origin, target, dock, watcher = Client(desk), Client(lap), Dock(lap), Dock(desk)
    boxed = Client(sandbox, types=())
    heard: list[str] = []
    boxed.connection.signal_subscribe(
        None, None, None, None, None, 0, lambda *arguments: heard.append(arguments[4]))
    boxed.managed_objects()
    origin.offer("A letter")
    dock.continue_offer(dock.offer("A letter"))
    target.wait_for("ContinueActivity")
    origin.wait_for("WasContinued")
    wait_until_told(watcher)
    # By the time when the broker answers, all that it has said before has arrived.
    boxed.managed_objects()
    assert "ActivityContinued" not in heard
