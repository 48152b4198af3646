# SPDX-License-Identifier: LGPL-2.1-or-later
"""The commands that show all that is open at another device, and continue it."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable

from gi.repository import GLib
from buses import BusError, wait
from clients import Activity, Client, Dock, entries, handed_over
from link import Device
from support import Machine, pair, start_machine
from terminal import Terminal
from test_command import done, printed

Machines = tuple[Machine, Machine]
ALL = ("handoff", "continue", "--all", "--device", "desk")


def open_there(machines: Machines, *, dock: bool = True) -> list[Activity]:
    """Has three activities opened at desk, of which the last is current, and nothing at lap continues the first: minutes, a
    letter, a note."""
    desk, lap = machines
    editor = Client(desk)
    activities = [Client(desk, "com.example.minutes", ("com.example.minutes.take",)).offer("Minutes"),
                  editor.offer("A letter"), editor.offer("A note")]
    if dock:
        Dock(lap).offer("A note")
    return activities


def handed(target: Client) -> list[str]:
    """The titles of what an application was handed, in alphabetical order."""
    return sorted(handed_over(call)["Title"].unpack() for call in target.called("ContinueActivity"))


def fail_one(title: str, message: str) -> Callable[[GLib.Variant], GLib.Variant]:
    """An answer to ContinueActivity that refuses the activity with this title."""
    def answer(arguments: GLib.Variant) -> GLib.Variant:
        if entries(arguments.get_child_value(0))["Title"].unpack() == title:
            raise BusError("com.example.editor.Error.Failed", message)
        return GLib.Variant("(b)", (True,))
    return answer


def end_of(machine: Machine) -> int:
    """Waits for the end of a handoff that was left running, and returns its status."""
    wait(lambda: machine.processes["handoff"].poll() is not None, "the end of the command")
    return machine.processes.pop("handoff").returncode


def test_list_open(machines: Machines) -> None:
    """“handoff list --open” shows what is open at a device, the latest used first, also what is not offered, and says what nothing
    here continues and why."""
    _desk, lap = machines
    _target = Client(lap)
    minutes, letter, note = open_there(machines)
    lines = done(lap.run("handoff", "list", "--open", "--device", "desk")).splitlines()
    assert lines[0].split()[:4] == ["ID", "SENT", "DEVICE", "TITLE"]
    assert [line.split()[0] for line in lines[1:4]] == [activity.id[:8] for activity in (note, letter, minutes)]
    assert lines[4].startswith("  ") and len(lines) == 5, lines
    offers = json.loads(done(lap.run("handoff", "list", "--open", "--json")))
    assert [offer["title"] for offer in offers] == ["A note", "A letter", "Minutes"]
    assert [offer["listed"] for offer in offers[:2]] == [False, True]
    assert [offer["obstacle"] for offer in offers[:2]] == ["", ""]
    assert offers[2]["handlers"] == [] and offers[2]["obstacle"].rstrip(".") in lines[4]
    assert [offer["title"] for offer in json.loads(done(lap.run("handoff", "list", "--json")))] == ["A note"]


def test_nothing_open(machines: Machines) -> None:
    """Where nothing is open, or nothing here continues it, the commands say so."""
    desk, lap = machines
    nothing = lap.run("handoff", "list", "--open")
    assert done(nothing) == "" and "is open at “desk”" in nothing.stderr
    result = lap.run(*ALL, "--yes")
    assert result.returncode == 3 and "is open at “desk”" in result.stderr
    open_there((desk, lap), dock=False)
    # The same question within a second has the same answer.
    result = wait(lambda: (it := lap.run(*ALL, "--yes")).stderr.count("Minutes") and it, "what is open")
    assert result.returncode == 3 and "Nothing here continues" in result.stderr
    assert json.loads(lap.run(*ALL, "--yes", "--json").stdout)["error"]["name"] == "NotFound"


def test_continue_all(machines: Machines) -> None:
    """“handoff continue --all --yes” continues all that is open at a device, each once, says how each ended and how many were
    continued, and leaves out what nothing here continues."""
    _desk, lap = machines
    target = Client(lap)
    open_there(machines)
    result = lap.run(*ALL, "--yes")
    lines = done(result).splitlines()
    assert sorted(line.split("”")[0] for line in lines[:2]) == ["Continued “A letter", "Continued “A note"]
    assert lines[2:] == ["2 of 2 activities of “desk” were continued."]
    assert "Minutes" in result.stderr and "Minutes" not in result.stdout
    assert handed(target) == ["A letter", "A note"]


def test_continue_all_for_programs(machines: Machines) -> None:
    """“handoff continue --all --json” prints what has become of each, and what was left out."""
    desk, lap = machines
    target = Client(lap)
    open_there(machines)
    target.answers["ContinueActivity"] = fail_one("A letter", "The letter is sealed.")
    result = lap.run(*ALL, "--yes", "--json")
    assert result.returncode == 1 and "“A letter” was not continued" in result.stderr, result
    outcome = json.loads(result.stdout)
    assert (outcome["deviceId"], outcome["total"], outcome["done"], outcome["failed"]) == (desk.device_id, 2, 1, 1)
    note, letter = outcome["results"]
    assert (note["title"], note["state"], note["error"]) == ("A note", "continued", None)
    assert (letter["title"], letter["state"], letter["error"]["name"]) == ("A letter", "failed", "ApplicationFailed")
    assert "sealed" in letter["error"]["message"]
    assert [offer["title"] for offer in outcome["left"]] == ["Minutes"]
    assert outcome["error"]["name"] == "ApplicationFailed" and outcome["error"]["message"] in result.stderr


def test_some_fail(machines: Machines) -> None:
    """What was not continued is named once, with the reason, and the others are continued all the same."""
    _desk, lap = machines
    target = Client(lap)
    open_there(machines)
    target.answers["ContinueActivity"] = fail_one("A note", "The note is sealed.")
    result = lap.run(*ALL, "--yes")
    assert result.returncode == 1
    assert result.stderr.count("“A note” was not continued") == 1 and "The note is sealed." in result.stderr
    assert "Continued “A letter” of “desk”" in result.stdout
    assert result.stdout.splitlines()[-1] == "1 of 2 activities of “desk” were continued."


def test_it_asks(machines: Machines) -> None:
    """“handoff continue --all” asks before it continues anything; without a terminal it refuses, and names --yes."""
    _desk, lap = machines
    target = Client(lap)
    open_there(machines)
    refused = lap.run(*ALL)
    assert refused.returncode == 2 and "--yes" in refused.stderr
    terminal = Terminal(lap, *ALL)
    terminal.until(r"Continue 2 of 3 activities of “desk” here\? \[y/N\]")
    assert "1  “A note”" in terminal.text and "3  “Minutes”" in terminal.text
    terminal.type("n\n")
    assert terminal.end() == 4
    assert not target.calls


def test_closed_meanwhile(machines: Machines) -> None:
    """What is closed at the other device while the user is asked is reported as gone, and the rest is continued; on a terminal
    one line says how far it is."""
    _desk, lap = machines
    target = Client(lap)
    _minutes, letter, _note = open_there(machines)
    terminal = Terminal(lap, *ALL)
    terminal.until(r"\[y/N\]")
    letter.invalidate()
    terminal.type("y\n")
    assert terminal.end() == 3
    assert handed(target) == ["A note"]
    text = terminal.text
    assert text.count("“A letter” was not continued") == 1
    assert "1 of 2 activities of “desk” were continued." in text
    assert "\r" in text and "of 2 continued" in text


def test_interrupted(machines: Machines) -> None:
    """Ctrl+C cancels what is being continued, and begins nothing more; the status is 130."""
    _desk, lap = machines
    target = Client(lap)
    open_there(machines)
    target.hang("WillContinueActivity")
    lap.start(*ALL, "--yes")
    target.wait_for("WillContinueActivity")
    assert lap.kill("handoff", signal.SIGINT) == 130
    log = lap.log("handoff")
    assert "“A note” was not continued" in log and "0 of 2 activities of “desk” were continued." in log
    assert not target.called("ContinueActivity")


def test_the_broker_is_killed(machines: Machines) -> None:
    """If the broker is killed meanwhile, what is known of each is said, and that the rest is not known."""
    _desk, lap = machines
    target = Client(lap)
    open_there(machines)
    target.hang("ContinueActivity")
    lap.start(*ALL, "--yes")
    target.wait_for("ContinueActivity")
    lap.kill("handoffd")
    assert end_of(lap) == 6
    printed(lap, "Whether “A note” was continued is not known.")
    printed(lap, "The broker ended before everything was finished: 0 of 2 were continued.")


def test_continue_one_that_is_open(machines: Machines) -> None:
    """“handoff continue ID --device” continues one of those that “handoff list --open” shows, though it is not offered."""
    _desk, lap = machines
    target = Client(lap)
    _minutes, letter, _note = open_there(machines)
    assert "A letter" in done(lap.run("handoff", "continue", letter.id[:8], "--device", "desk"))
    assert handed(target) == ["A letter"]
    unknown = lap.run("handoff", "continue", "0" * 32, "--device", "desk")
    assert unknown.returncode == 3 and "handoff list --open" in unknown.stderr


def test_status_shows_who_was_told(machines: Machines) -> None:
    """“handoff status” shows which device was told what is open here, and when."""
    desk, lap = machines
    open_there(machines, dock=False)
    assert "Told what is open here" not in done(desk.run("handoff", "status"))
    done(lap.run("handoff", "list", "--open"))
    text = done(desk.run("handoff", "status"))
    line = text.partition("Told what is open here")[2].splitlines()[2]
    assert line.split()[:2] == [lap.device_id[:8], "3"] and "“A note”, “A letter”, “Minutes”" in line
    (listing,) = json.loads(done(desk.run("handoff", "status", "--json")))["broker"]["listingsByDevice"]
    assert (listing["deviceId"], listing["titles"]) == (lap.device_id, ["A note", "A letter", "Minutes"])


def test_list_open_refused(machine: Machine, machine_list: list[Machine]) -> None:
    """“handoff list --open” says what is wrong: no device is connected, there is none of that name, several are connected, which
    it lists, one is too old, one is away, Handoff is switched off, or --open is missing."""
    nobody = machine.run("handoff", "list", "--open")
    assert nobody.returncode == 3 and "No paired device is connected" in nobody.stderr
    lap = start_machine(machine_list, "lap")
    pair(machine, lap)
    unknown = machine.run("handoff", "list", "--open", "--device", "nowhere")
    assert unknown.returncode == 3 and "nowhere" in unknown.stderr
    link = Device().paired_link_to(machine)
    link.errors["List"] = ("org.freedesktop.DBus.Error.UnknownMethod", "There is no such method.")
    several = machine.run("handoff", "list", "--open")
    assert several.returncode == 2 and "lap" in several.stderr and "other" in several.stderr
    machine.start("handoff", "list", "--open", "--device", "other")

    def ended() -> bool:
        link.read_messages()
        return machine.processes["handoff"].poll() is not None

    wait(ended, "the end of the command")
    assert machine.processes.pop("handoff").returncode == 1
    assert "The Handoff of “other” is too old" in machine.log("handoff")
    lap.set_enabled(False)
    wait(lambda: not machine.connected_to(lap.device_id), "the other device to be away")
    away = machine.run("handoff", "list", "--open", "--device", "lap")
    assert away.returncode == 5 and "“lap” is not connected" in away.stderr
    machine.set_enabled(False)
    off = machine.run("handoff", "list", "--open", "--device", "lap")
    assert off.returncode == 4 and "switched off" in off.stderr
    without = machine.run("handoff", "list", "--device", "lap")
    assert without.returncode == 2 and "--open" in without.stderr
