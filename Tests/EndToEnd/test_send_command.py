# SPDX-License-Identifier: LGPL-2.1-or-later
"""The commands that send to a device and mute one."""

from __future__ import annotations

import json

from buses import wait
from clients import Client, Dock
from link import Device
from sending import invited, wait_until_invited
from support import Machine, pair, start_machine
from terminal import Typing
from test_command import done, listed, printed

Machines = tuple[Machine, Machine]


def devices(machine: Machine) -> dict[str, dict]:
    """What “handoff devices” says, by name."""
    return {device["deviceName"]: device for device in json.loads(done(machine.run("handoff", "devices", "--json")))}


def test_send(machines: Machines) -> None:
    """“handoff send” sends to the only connected device or to the one that is named, which shows it as sent in its list,
    its status and what it watches."""
    desk, lap = machines
    origin, dock, _target = Client(desk), Dock(lap), Client(lap)
    lap.start("handoff", "watch")
    origin.offer("A letter")
    dock.offer("A letter")
    assert listed(lap, "A letter")["invited"] is False
    assert "“lap”" in done(desk.run("handoff", "send"))
    wait_until_invited(dock, "A letter")
    assert listed(lap, "A letter")["invited"] is True
    for command in ("list", "status"):
        lines = done(lap.run("handoff", command)).splitlines()
        assert next(line for line in lines if "A letter" in line).split()[1] == "sent", command
    printed(lap, "sent to this device")
    for name in ("lap", lap.device_id[:8]):
        assert "“lap”" in done(desk.run("handoff", "send", name))


def test_send_and_wait(machines: Machines) -> None:
    """“handoff send --wait” says when what was sent goes on there, and when nobody has continued it before it was interrupted."""
    desk, lap = machines
    origin, dock, _target = Client(desk), Dock(lap), Client(lap)
    origin.offer("A letter")
    path = dock.offer("A letter")
    waiting = Typing(desk, "handoff", "send", "--wait")
    waiting.until("was sent to “(lap)”")
    dock.continue_offer(path)
    waiting.until("“(A letter)” is continued on “lap”")
    assert waiting.end() == 0
    waiting = Typing(desk, "handoff", "send", "--wait")
    waiting.until("was sent to “(lap)”")
    assert waiting.interrupt() == 1
    assert "was not continued there yet" in waiting.text


def test_send_hidden(machines: Machines) -> None:
    """What was sent and nothing continues is marked in “handoff list --all”."""
    desk, lap = machines
    Client(desk).offer("A letter")
    wait(lambda: "A letter" in done(lap.run("handoff", "list", "--all")), "the hidden offer")
    done(desk.run("handoff", "send"))
    wait(lambda: "sent to this device" in done(lap.run("handoff", "list", "--all")), "the mark")


def test_send_refused(machine: Machine, machine_list: list[Machine]) -> None:
    """“handoff send” says what is wrong: no device is connected, there is none of that name, nothing is current, several
    are connected, which it lists; and that the other device is too old."""
    client = Client(machine)
    client.offer("A letter").invalidate()
    nobody = machine.run("handoff", "send")
    assert nobody.returncode == 3 and "No paired device is connected" in nobody.stderr
    lap = start_machine(machine_list, "lap")
    pair(machine, lap)
    nothing = machine.run("handoff", "send")
    assert nothing.returncode == 3 and "Nothing is offered here" in nothing.stderr
    client.offer("A letter")
    unknown = machine.run("handoff", "send", "nowhere")
    assert unknown.returncode == 3 and "nowhere" in unknown.stderr
    device = Device()
    link = device.paired_link_to(machine)
    link.errors["Invite"] = ("org.freedesktop.DBus.Error.UnknownMethod", "There is no such method.")
    several = machine.run("handoff", "send")
    assert several.returncode == 2 and "lap" in several.stderr and "other" in several.stderr
    machine.start("handoff", "send", "other")

    def ended() -> bool:
        link.read_messages()
        return machine.processes["handoff"].poll() is not None

    wait(ended, "the end of the command")
    assert machine.processes.pop("handoff").returncode == 1
    assert "too old" in machine.log("handoff")
    assert done(machine.run("handoff", "send", "lap"))


def test_mute(machines: Machines) -> None:
    """“handoff mute” and “handoff unmute” do what they say, and “handoff devices” and “handoff status” show it."""
    desk, lap = machines
    origin, dock, _target = Client(desk), Dock(lap), Client(lap)
    origin.offer("A letter")
    dock.offer("A letter")
    assert devices(lap)["desk"]["muted"] is False
    assert "“desk”" in done(lap.run("handoff", "mute", "desk"))
    assert devices(lap)["desk"]["muted"] is True
    for command in ("devices", "status"):
        assert "connected, muted" in done(lap.run("handoff", command))
    done(desk.run("handoff", "send", "lap"))
    assert not invited(dock)
    assert "“desk”" in done(lap.run("handoff", "unmute", desk.device_id[:8]))
    assert devices(lap)["desk"]["muted"] is False
    done(desk.run("handoff", "send", "lap"))
    wait_until_invited(dock, "A letter")
    for verb in ("mute", "unmute"):
        assert lap.run("handoff", verb).returncode == 2
        assert lap.run("handoff", verb, "nowhere").returncode == 3
