# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the command line says to programs: --json and the exit status."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from typing import Any

from buses import wait
from clients import Client, Dock
from command_manual import keys, statuses
from pairing import discoverable
from played_clipboard import PlayedClipboard
from schemas import valid
from support import SOURCE, Machine, case, refused, start_machine, wait_for_link
from terminal import Terminal, Typing
from test_pair_command import asking

Machines = tuple[Machine, Machine]
APPLICATION = ("--app-id", "org.example.Shell", "--type", "org.example.shell.note")
NOTE = ("org.example.Shell", ("org.example.shell.note",))
FORMS = {"text": str, "number": (int, float), "time": int, "truth": bool, "list": list, "object": dict}
# What has keys of its own that others chose, or that stand where their object is described.
CLOSED = ("userInfo", "userInfoTypes", "phases")
# What these machines, which are on no network of their own and have no firewall, have nothing to say of.
ELSEWHERE = {"nearby", "program", "zone", "ports", "certain", "service", "progress", "session", "phone"}


def json_of(result: subprocess.CompletedProcess[str]) -> Any:
    """What a command has printed for programs, which is all that there is."""
    [line] = result.stdout.splitlines()
    return json.loads(line)


def lines(machine: Machine) -> list[dict]:
    """The objects that a command that goes on has printed so far."""
    return [json.loads(line) for line in machine.log("handoff").splitlines() if line.startswith("{")]


def members(value: Any) -> Iterator[tuple[str, Any]]:
    """All keys, with what stands under them."""
    for entry in value if isinstance(value, list) else []:
        yield from members(entry)
    for key, content in value.items() if isinstance(value, dict) else ():
        yield key, content
        if key not in CLOSED:
            yield from members(content)


def everything(machines: Machines) -> Iterator[tuple[str, Any]]:
    """The verbs with what they print, of a day with two machines."""
    desk, lap = machines
    (desk.folder / "a letter").write_text("Dear")
    yield "devices", json_of(desk.run("handoff", "devices", "--json"))
    with refused("TypeNotDeclared"):
        Client(desk).create("com.example.none")
    Client(desk).offer("A letter")
    hidden = wait(lambda: json_of(lap.run("handoff", "list", "--all", "--json")), "the hidden offer")
    assert hidden[0]["hidden"]
    yield "list", hidden
    yield "status", json_of(lap.run("handoff", "status", "--json"))
    desk.start("handoff", "publish", *APPLICATION, "--title", "A note", "--webpage", "https://example.com/", "--json",
               "--user-info", "text=hello", "--document", str(desk.folder / "a letter"),
               "--stream", str(desk.folder / "a letter"))
    lap.start("handoff", "receive", *APPLICATION, "--json")
    receiver = lap.processes.pop("handoff")
    yield "list", wait(lambda: json_of(lap.run("handoff", "list", "--json")), "the offer")
    yield "continue", json_of(lap.run("handoff", "continue", "--json"))
    yield from (("receive", line) for line in wait(lambda: lines(lap), "what was received"))
    yield from (("publish", line) for line in wait(lambda: len(lines(desk)) > 1 and lines(desk), "the news"))
    yield "status", json_of(desk.run("handoff", "status", "--json"))
    receiver.send_signal(signal.SIGINT)
    assert receiver.wait(20) == 0
    Client(lap, *NOTE).fail("ContinueActivity", "The note is sealed.")
    yield "continue", json_of(lap.run("handoff", "continue", "--json"))
    yield "list", json_of(lap.run("handoff", "list", "--open", "--json"))
    yield "continue", json_of(lap.run("handoff", "continue", "--all", "--yes", "--json"))
    yield "status", json_of(desk.run("handoff", "status", "--json"))
    lap.start("handoff", "watch", "--json")
    shown = wait(lambda: [line for line in lines(lap) if "offer" in line], "the offer")
    yield from (("watch", line) for line in shown)
    lap.kill("handoff", signal.SIGINT)
    yield "send", json_of(desk.run("handoff", "send", "--json"))
    PlayedClipboard(lap)
    yield "copy", json_of(desk.run("handoff", "copy", "lap", str(desk.folder / "a letter"), "--json"))
    yield "paste", json_of(lap.run("handoff", "paste", "--json"))
    lap.set_enabled(False)
    wait(lambda: not desk.connected_to(lap.device_id), "the other device to be away")
    Client(desk, "com.example.minutes").offer("Minutes")
    for verb in ("send", "waiting", "cancel"):
        yield verb, json_of(desk.run("handoff", verb, "--json"))
    lap.set_enabled(True)
    wait_for_link(desk, lap)
    yield "ssh", json_of(lap.run("handoff", "ssh", "desk", "desk.example", "--json"))
    for verb in ("mute", "unmute", "unpair"):
        yield verb, json_of(lap.run("handoff", verb, "desk", "--json"))
    yield "trust", json_of(lap.run("handoff", "trust", desk.device_id, "desk", "--json"))
    yield "connect", json_of(lap.run("handoff", "connect", f"127.0.0.1:{desk.port}", "--json"))
    for verb in ("off", "on"):
        yield verb, json_of(lap.run("handoff", verb, "--json"))
    yield "here", json_of(lap.run("handoff", "here", "--end", "--json"))
    yield "untrust", json_of(lap.run("handoff", "untrust", "nobody", "--json"))
    yield "reset", json_of(lap.run("handoff", "reset", "--yes", "--json"))
    for program in ("handoffd", "handoff-bridge"):
        wait(lambda: lap.processes[program].poll() is not None, "its end")
        assert lap.processes.pop(program).returncode == 0
    yield "status", json_of(lap.run("handoff", "status", "--json"))


def test_one_vocabulary(machines: Machines) -> None:
    """What the verbs print is what the schema says of each; it has the keys of the table in handoff(1) and no others, with what
    the table says under each."""
    table, printed = keys(), set()
    for verb, value in everything(machines):
        valid("command", value, "error" if list(value) == ["error"] else verb)
        for key, content in members(value):
            assert key in table, f"“{key}” is not in the table: {value}"
            printed.add(key)
            form = FORMS[table[key]]
            assert content is None or (isinstance(content, form) and isinstance(content, bool) == (form is bool)), \
                f"“{key}” is not a {table[key]}: {value}"
            if table[key] == "time" and content is not None:
                assert 1_600_000_000_000_000 < content < 4_000_000_000_000_000, f"“{key}” is no time: {value}"
    assert printed | ELSEWHERE >= set(table), f"never printed: {sorted(set(table) - printed - ELSEWHERE)}"


def test_pairing_for_programs(machine_list: list[Machine]) -> None:
    """“handoff pair --json” asks on standard error, and prints the device on standard output."""
    desk, lap = start_machine(machine_list, "desk"), start_machine(machine_list, "lap")
    there = Typing(desk, "handoff", "pair")
    here = Typing(lap, "sh", "-c", f"handoff pair --json 127.0.0.1:{there.until(r'HOST:([0-9]+)')} >{lap.folder}/out")
    for typing in (here, there):
        typing.until(r"\[y/N\]")
        typing.type("y\n")
    assert (here.end(), there.end()) == (0, 0)
    device = valid("command", json.loads((lap.folder / "out").read_text()), "pair")
    assert (device["deviceId"], device["deviceName"], device["paired"]) == (desk.device_id, "desk", True)
    assert keys().keys() >= device.keys()


def test_every_verb_has_json(machine: Machine) -> None:
    """The help of each verb names --json."""
    verbs = re.findall("^  ([a-z]+) ", machine.run("handoff", "help").stdout.partition("Commands:")[2], re.MULTILINE)
    assert len(verbs) > 15
    for verb in verbs:
        assert "--json" in machine.run("handoff", "help", verb).stdout, verb


COMMANDS = [
    (("on",), 0, None), (("list",), 0, None), (("devices",), 0, None),
    (("status", "--json", "--nonsense"), 2, "Usage"), (("fly",), 2, "Usage"), (("continue", "no id"), 2, "Usage"),
    (("trust", "abc"), 2, "Usage"), (("publish",), 2, "Usage"), (("reset",), 2, "Usage"),
    (("list", "--device", "x"), 2, "Usage"), (("list", "--open"), 3, "NotFound"),
    (("continue", "--all"), 2, "Usage"), (("continue", "--all", "--yes"), 3, "NotFound"),
    (("continue",), 3, "NotFound"), (("continue", "12"), 3, "NotFound"), (("send",), 3, "NotFound"),
    (("send", "nobody"), 3, "NotFound"), (("mute", "nobody"), 3, "NotFound"), (("unpair", "nobody"), 3, "NotFound"),
    (("decline", "nobody"), 3, "NotFound"), (("paste",), 3, "NotFound"), (("copy", "nobody"), 3, "NotFound"),
    (("copy",), 2, "Usage"),
    (("pair", "nobody"), 3, "NotFound"), (("connect", "127.0.0.1:1"), 5, "ConnectionUnavailable"),
    (("publish", *APPLICATION, "--title", "x", "--webpage", "no page"), 1, "InvalidURL"),
    (("publish", *APPLICATION, "--title", "x", "--stream", "/nowhere"), 1, "Failed")]


def test_status_and_name(machine: Machine) -> None:
    """Each command ends with the status that handoff(1) gives its outcome, with --json or without, and a failure says so in an
    object that has its name too."""
    for command, status, name in COMMANDS:
        with case(*command):
            ends_with(machine, command, status, name)


def ends_with(machine: Machine, command: tuple[str, ...], status: int, name: str | None) -> None:
    """Runs a command, which must end with this status, and with a failure of this name if it has one."""
    plain = machine.run("handoff", *command)
    assert plain.returncode == status, plain
    result = machine.run("handoff", *command, "--json")
    assert result.returncode == status, result
    said = json_of(result)
    valid("command", said, "error" if name else command[0])
    if name is None:
        assert "error" not in said and not result.stderr.startswith("handoff: {"), result
        return
    assert list(said) == ["error"], result
    error = said["error"]
    assert (error["name"], error["exitStatus"]) == (name, status), result
    assert error["message"] in result.stderr, result
    assert name in statuses()[status]


def test_status_of_a_continuation(machines: Machines) -> None:
    """A continuation that the application refuses ends with 1, one that Ctrl+C has cancelled with 130, and what it prints for
    programs says so too."""
    desk, lap = machines
    target, dock = Client(lap, *NOTE), Dock(lap)
    activity = Client(desk, *NOTE).offer("A note")
    dock.offer("A note")
    target.fail("ContinueActivity", "The note is sealed.")
    result = lap.run("handoff", "continue", "--json")
    outcome = json_of(result)
    assert (result.returncode, outcome["error"]["name"], outcome["activityId"]) == (1, "ApplicationFailed", activity.id)
    assert "sealed" in outcome["error"]["message"]
    target.hang("WillContinueActivity")
    lap.start("handoff", "continue", "--json")
    target.wait_for("WillContinueActivity", 2)
    assert lap.kill("handoff", signal.SIGINT) == 130
    [outcome] = lines(lap)
    assert (outcome["error"]["name"], outcome["error"]["exitStatus"]) == ("Cancelled", 130)


def test_status_of_a_refused_pairing(machine: Machine) -> None:
    """Who does not say yes ends with 4, and the failure is one of those that handoff(1) has there."""
    discoverable(machine)
    _device, _link = asking(machine, "lap")
    typing = Terminal(machine, "handoff", "pair", "--json")
    typing.until(r"\[y/N\]")
    typing.type("n\n")
    assert typing.end() == 4
    error = json.loads(next(line for line in typing.text.splitlines() if line.startswith("{")))["error"]
    assert error["name"] in statuses()[4]


def test_status_without_handoff(machine_list: list[Machine]) -> None:
    """Where Handoff cannot be started, or there is no session bus, all verbs end with 6."""
    machine = Machine("bare")
    machine_list.append(machine)
    needed = {"publish": (*APPLICATION, "--title", "x"), "receive": APPLICATION}
    for bus in (machine.address, f"unix:path={machine.folder}/nothing"):
        machine.environment["DBUS_SESSION_BUS_ADDRESS"] = bus
        for verb in ("list", "watch", "continue", "devices", "send", "paste", "pair", "on", "publish", "receive"):
            with case(verb, bus):
                result = machine.run("handoff", verb, *needed.get(verb, ()), "--json")
                assert (result.returncode, json_of(result)["error"]["name"]) == (6, "NotRunning")


def test_failure_beside_a_stream(machine_list: list[Machine]) -> None:
    """Where standard output is for a stream, a failure is an object on standard error, and nothing gets into the stream."""
    machine = Machine("bare")
    machine_list.append(machine)
    result = machine.run("handoff", "receive", *APPLICATION, "--stream", "--json")
    assert (result.returncode, result.stdout) == (6, "")
    assert json.loads(result.stderr.splitlines()[0])["error"]["name"] == "NotRunning"


def test_the_table_of_statuses() -> None:
    """handoff(1) has each status once, and each with the names of its failures."""
    assert sorted(statuses()) == [0, 1, 2, 3, 4, 5, 6, 130]
    names = [name for row in statuses().values() for name in row]
    assert len(names) == len(set(names))
    sources = (SOURCE / "Sources/HandoffInterfaces/HandoffFailure+DBus.swift").read_text()
    ours = set(re.findall(r'"org\.example\.Handoff\.Error\.(\w+)"', sources))
    assert ours and ours <= set(names)

