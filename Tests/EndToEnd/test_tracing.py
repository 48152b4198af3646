# SPDX-License-Identifier: LGPL-2.1-or-later
"""What can be found out about continuations afterwards: phases, log lines, the last fetches."""

from __future__ import annotations

import json
import re

from gi.repository import GLib
from buses import ROOT, let_pass, wait
from clients import ACTIVITY_TYPE, APPLICATION_ID, Client, Dock
from support import Machine, pair, refused, start_machine

Machines = tuple[Machine, Machine]
PHASES = ["request", "save", "transfer", "start", "deliver"]


def test_phases_of_a_continuation(machine_list: list[Machine]) -> None:
    """“handoff continue --verbose” prints how long each phase took, and one id names it in the logs of both devices."""
    desk, lap = start_machine(machine_list, "desk", "--verbose"), start_machine(machine_list, "lap", "--verbose")
    pair(desk, lap)
    origin, _target, dock = Client(desk), Client(lap), Dock(lap)
    origin.hang("WillSave")
    activity = origin.offer("A letter")
    dock.offer("A letter")
    command = lap.start("handoff", "continue", "--verbose", activity.id)
    wait(lambda: " goes to " in lap.log("handoffd"), "the beginning of the continuation")
    # So long it is saved, which has to be told below.
    let_pass(0.3)
    origin.unanswered.pop().return_value(GLib.Variant("(a{sv})", ({},)))
    wait(lambda: command.poll() is not None, "the end of handoff continue")
    output = lap.log("handoff")
    assert lap.processes.pop("handoff").returncode == 0, output
    number = re.search(r"^handoff: continuation ([0-9a-f]{32}):$", output, re.MULTILINE)
    assert number, output
    phases = re.findall(r"^handoff:   (\w+) +([0-9.]+) ms$", output, re.MULTILINE)
    assert [name for name, _ in phases] == PHASES
    times = {name: float(time) for name, time in phases}
    assert times["save"] >= 200, "the time that the other device saved is not told"
    assert times["transfer"] < times["save"]
    for name in PHASES:
        wait(lambda: f"continuation {number[1]}: {name} " in lap.log("handoffd"), f"{name} in the log")
    wait(lambda: f"continuation {number[1]}: save " in desk.log("handoffd"), "the save in the origin's log")
    for machine in machine_list:
        assert number[1] in machine.log("handoff-bridge")


def test_phases_in_json(machines: Machines) -> None:
    """“handoff continue --json” has the phases in microseconds, also of a continuation that has failed."""
    desk, lap = machines
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    activity = origin.offer("A letter")
    dock.offer("A letter")
    target.fail("ContinueActivity", "The letter is sealed.")
    result = json.loads(lap.run("handoff", "continue", "--json", activity.id).stdout)
    assert set(result["phases"]) == set(PHASES)
    assert sum(result["phases"].values()) <= 2 * result["duration"]
    assert re.fullmatch("[0-9a-f]{32}", result["continuationId"])


def test_only_who_asks_is_traced(machines: Machines) -> None:
    """ContinueTrace comes before ContinueFinished, and only to those who asked for it."""
    desk, lap = machines
    origin, target, curious, other = Client(desk), Client(lap), Dock(lap), Dock(lap)
    target.hang("ContinueActivity")
    origin.offer("A letter")
    path = curious.offer("A letter")
    other.offer("A letter")
    other.continue_offer(path)
    curious.call(path, "RemoteActivity.Continue", GLib.Variant("(a{sv})", ({"Trace": GLib.Variant("b", True)},)))
    target.wait_for("ContinueActivity")
    target.unanswered.pop().return_value(GLib.Variant("(b)", (True,)))
    assert curious.outcome()[1] == "" and other.outcome()[1] == ""
    told = [event.member for event in curious.events if event.member.startswith("Continue")]
    assert told == ["ContinueTrace", "ContinueFinished"]
    assert "ContinueTrace" not in [event.member for event in other.events]
    with refused("InvalidArgs", containing=("Trace",)):
        curious.call(path, "RemoteActivity.Continue", GLib.Variant("(a{sv})", ({"Trace": GLib.Variant("s", "x")},)))


def test_last_ten_fetches(machines: Machines) -> None:
    """Every fetch by a peer is logged with its name, and “handoff status” shows the last ten."""
    desk, lap = machines
    origin, _target, dock = Client(desk), Client(lap), Dock(lap)
    for number in range(12):
        activity = origin.offer(f"Letter {number}")
        dock.continue_offer(dock.offer(f"Letter {number}"))
        wait(lambda: len(dock.finished()) == number + 1, "the outcome")
        wait(lambda: f"lap continues “Letter {number}”" in desk.log("handoffd"), "the fetch in the log")
        activity.invalidate()
    fetches = origin.get(ROOT, "Manager.RecentFetches")
    assert [fetch["Title"] for fetch in fetches] == [f"Letter {number}" for number in reversed(range(2, 12))]
    for fetch in fetches:
        assert (fetch["DeviceId"], fetch["DeviceName"]) == (lap.device_id, "lap")
        assert (fetch["ActivityType"], fetch["ApplicationId"]) == (ACTIVITY_TYPE, APPLICATION_ID)
    status = desk.run("handoff", "status").stdout
    assert "Letter 11" in status and "Letter 2" in status and "Letter 1 " not in status
    shown = json.loads(desk.run("handoff", "status", "--json").stdout)["broker"]["fetches"]
    assert [fetch["title"] for fetch in shown] == [fetch["Title"] for fetch in fetches]
    assert shown[0]["time"] >= shown[-1]["time"] > 0
    assert json.loads(lap.run("handoff", "status", "--json").stdout)["broker"]["fetches"] == []
