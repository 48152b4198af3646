# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is sent to a machine that is away waits for it, and is continued there once it comes."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from gi.repository import GLib
from buses import ROOT, BusError, let_pass, wait
from clients import Client, Dock, user_info
from link import Device, state
from sending import invited, mute, send
from support import Machine, device_path, refused, wait_for_link
from test_command import done
from test_trust_writes import LOWER, Disturbed, has_to_fail, renames, state_folder, until_hit, way_to
from tracing import Step, Tracer

Machines = tuple[Machine, Machine]


def waiting(machine: Machine, device_id: str) -> list[dict]:
    """What waits for a device."""
    return machine.session.get(device_path(device_id), "Device.Waiting")


def is_noted(machine: Machine) -> bool:
    """Whether it is noted on the disk of a machine that something was dealt with that others had kept for it."""
    return any("Settled=true" in file.read_text() for file in machine.folder.glob("state_home/handoff/*/kept"))


def set_away(lap: Machine, other: Machine, away: bool = True) -> None:
    """Takes a machine away from the other, or brings it back."""
    lap.set_enabled(not away)
    if away:
        wait(lambda: not other.connected_to(lap.device_id), "the end of the link")
    else:
        wait_for_link(other, lap)


def keep(desk: Machine, lap: Machine, title: str = "Minutes", **properties: GLib.Variant) -> Client:
    """An application whose activity was sent to a machine that is away, and which has gone since."""
    here = Client(desk)
    activity = here.offer(title, **properties)
    send(desk, lap.device_id)
    assert [one["Title"] for one in waiting(desk, lap.device_id)][-1] == title
    activity.invalidate()
    return here


def test_sent_to_who_is_away(machines: Machines) -> None:
    """What is sent to a machine that is away is what its application saves at that moment. It waits, is shown as sent there
    once the machine comes, is continued though the application has gone, and is forgotten then."""
    desk, lap = machines
    dock, there = Dock(lap), Client(lap)
    set_away(lap, desk)
    here = Client(desk)
    here.save(UserInfo=GLib.Variant("a{sv}", {"line": GLib.Variant("u", 8)}))
    activity = here.offer("Minutes", UserInfo={"line": GLib.Variant("u", 7)})
    activity.update(NeedsSave=GLib.Variant("b", True))
    send(desk, lap.device_id)
    assert [(one["Title"], one["Arrived"]) for one in waiting(desk, lap.device_id)] == [("Minutes", 0)]
    activity.invalidate()
    here.offer("Something else")
    set_away(lap, desk, False)
    wait(lambda: invited(dock) == ["Minutes"], "what was sent")
    wait(lambda: waiting(desk, lap.device_id)[0]["Arrived"], "its arrival")
    # It stands beside what is offered now.
    wait(lambda: sorted(offer["Title"] for offer in dock.offers.values()) == ["Minutes", "Something else"], "both")
    path = dock.offer("Minutes")
    dock.continue_offer(path)
    assert user_info(there.wait_for("ContinueActivity"))["line"].unpack() == 8
    assert dock.outcome()[1] == ""
    dock.wait_until_gone(path)
    wait(lambda: not waiting(desk, lap.device_id), "nothing to wait")
    # On the next link neither of them knows it any more.
    set_away(lap, desk)
    set_away(lap, desk, False)
    dock.offer("Something else")
    assert not invited(dock)


def test_put_aside(machines: Machines) -> None:
    """What is dismissed waits no longer, and what is taken back is shown no longer; what was dismissed while its machine is away
    is not shown again when that comes."""
    desk, lap = machines
    dock, _there = Dock(lap), Client(lap)
    set_away(lap, desk)
    for title in ("One", "Two", "Three"):
        keep(desk, lap, title)
    set_away(lap, desk, False)
    wait(lambda: sorted(invited(dock)) == ["One", "Three", "Two"], "what was sent")
    lap.session.call(dock.offer("One"), "RemoteActivity.Dismiss")
    wait(lambda: [one["Title"] for one in waiting(desk, lap.device_id)] == ["Two", "Three"], "One to wait no longer")
    [two] = [one["Id"] for one in waiting(desk, lap.device_id) if one["Title"] == "Two"]
    desk.session.call(device_path(lap.device_id), "Device.CancelWaiting", GLib.Variant("(s)", (two,)))
    wait(lambda: invited(dock) == ["Three"], "Two to be gone")
    # The bridge there is killed, so that it cannot say what is done now.
    path = dock.offer("Three")
    lap.processes["handoff-bridge"].send_signal(signal.SIGSTOP)
    lap.session.call(path, "RemoteActivity.Dismiss")
    dock.wait_until_gone(path)
    lap.kill("handoff-bridge")
    lap.start_bridge("--verbose")
    wait_for_link(desk, lap)
    wait(lambda: not waiting(desk, lap.device_id), "Three to wait no longer")
    assert not invited(dock)


@pytest.mark.parametrize("name", ["handoff-bridge", "handoffd"])
@pytest.mark.parametrize("where", ["here", "there"])
def test_daemons_killed(machines: Machines, name: str, where: str) -> None:
    """What was sent outlives either daemon of either machine: while it waits, once it has arrived, and once it was continued,
    when it is not continued twice."""
    desk, lap = machines
    killed = desk if where == "here" else lap

    def kill() -> None:
        killed.kill(name)
        if name == "handoff-bridge":
            killed.start_bridge("--verbose")
        else:
            killed.start_broker("--verbose")

    def is_sent(dock: Dock) -> bool:
        dock.follow()
        return invited(dock) == ["Minutes"]

    set_away(lap, desk)
    keep(desk, lap, UserInfo={"line": GLib.Variant("u", 7)})
    if where == "here":
        kill()
        assert waiting(desk, lap.device_id)
    set_away(lap, desk, False)
    dock, _there = Dock(lap), Client(lap)
    wait(lambda: is_sent(dock), "what was sent")
    kill()
    wait_for_link(desk, lap)
    there = Client(lap)
    wait(lambda: is_sent(dock), "what was sent, once more")
    dock.continue_offer(dock.offer("Minutes"))
    assert user_info(there.wait_for("ContinueActivity"))["line"].unpack() == 7
    assert dock.outcome()[1] == ""
    # It is either noted there, or known here.
    wait(lambda: not waiting(desk, lap.device_id) or is_noted(lap), "that it was continued to be noted")
    kill()
    wait_for_link(desk, lap)
    again = Client(lap)
    wait(lambda: not waiting(desk, lap.device_id), "nothing to wait")
    dock.follow()
    assert not invited(dock) and not again.called("ContinueActivity")


@pytest.mark.parametrize("how", ["signal=KILL", "error=ENOSPC", "error=EIO"])
def test_any_call_of_writing(machines: Machines, how: str) -> None:
    """Where a bridge is killed at any system call of writing what waits, or the disk is full, all that was said to wait does so
    when it is started again, and what was refused has not taken the place of what waited before."""
    desk, lap = machines
    set_away(lap, desk)
    here, folder = Client(desk), str(state_folder(desk))
    activity = here.offer("0")
    with Tracer(desk) as tracer:
        send(desk, lap.device_id)
        wait(lambda: "rename(" in tracer.output.read_text(), "strace to tell it")
    steps = tracer.steps(folder)
    assert {"openat", "write", "fsync", "rename", "close"} <= {step.call for step in steps}
    titles = [str(number) for number in range(1, 1000)]
    for index, step in enumerate(steps):
        def attempt(step: Step) -> Disturbed | int:
            [before], now, error = [one["Title"] for one in waiting(desk, lap.device_id)], titles.pop(0), None
            bridge = desk.processes["handoff-bridge"]
            activity.update(Title=GLib.Variant("s", now))
            with Tracer(desk, "-e", f"inject={step.call}:{how}:when={step.number}") as tracer:
                try:
                    send(desk, lap.device_id)
                except BusError as caught:
                    error = caught
                if how == "signal=KILL" and error:
                    wait(lambda: bridge.poll() is not None, "the end of the bridge")
            hit = tracer.hit(folder)
            is_met = hit == (index, True)
            if how == "signal=KILL":
                if bridge.poll() is None:
                    return LOWER
                desk.processes.pop("handoff-bridge")
                desk.start_bridge("--verbose")
            [after] = [one["Title"] for one in waiting(desk, lap.device_id)]
            assert after in ((before, now) if error else (now,)), step
            assert not [file for file in Path(folder).iterdir() if "damaged" in file.name]
            if is_met and how == "signal=KILL":
                assert (after == now) == (index > renames(steps)), step
            elif is_met:
                assert bool(error) == has_to_fail(steps, index), step
                assert not error or after == before
            if is_met:
                return Disturbed(error, b"", set())
            return way_to(index, hit)

        until_hit(attempt, step)


def test_refused(machines: Machines, tmp_path: Path) -> None:
    """What a device could not continue alone is not kept for it: a document in no shared folder, and what supports streams;
    and nothing is kept that cannot be stored, or is not offered."""
    desk, lap = machines
    set_away(lap, desk)
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear")
    here = Client(desk)
    with refused("OfferWithdrawn"):
        send(desk, lap.device_id)
    activity = here.offer("Letter", DocumentURL=letter.as_uri())
    with refused("NotSupported"):
        send(desk, lap.device_id)
    desk.session.set(ROOT, "Preferences.SharedFolders", GLib.Variant("a{ss}", {"Letters": str(tmp_path)}))
    send(desk, lap.device_id)
    activity.invalidate()
    here.offer("Call", SupportsContinuationStreams=True)
    with refused("NotSupported"):
        send(desk, lap.device_id)
    assert [one["Title"] for one in waiting(desk, lap.device_id)] == ["Letter"]


def test_muted(machines: Machines) -> None:
    """What a muted machine had kept is listed, and not shown as sent."""
    desk, lap = machines
    dock, _there = Dock(lap), Client(lap)
    mute(lap, desk.device_id)
    set_away(lap, desk)
    keep(desk, lap)
    set_away(lap, desk, False)
    dock.offer("Minutes")
    let_pass(0.3)
    assert not invited(dock)


def test_commands(machines: Machines) -> None:
    """“handoff send” says that the machine is away; “handoff waiting” lists what waits, and “handoff cancel” takes it back."""
    desk, lap = machines
    Dock(lap)
    set_away(lap, desk)
    here = Client(desk)
    assert "Nothing waits" in desk.run("handoff", "waiting").stderr
    assert desk.run("handoff", "cancel").returncode == 3
    for title in ("Minutes", "Letter"):
        here.offer(title)
        assert "“lap” is away" in done(desk.run("handoff", "send", "lap"))
    lines = done(desk.run("handoff", "waiting")).splitlines()
    assert [line.split()[-1] for line in lines[1:]] == ["Minutes", "Letter"]
    assert "not there yet" in lines[1]
    [first, second] = json.loads(done(desk.run("handoff", "waiting", "--json")))
    assert (first["title"], first["deviceName"], first["arrived"]) == ("Minutes", "lap", None)
    several = desk.run("handoff", "cancel")
    assert several.returncode == 2 and "2 activities wait" in several.stderr
    assert "“Minutes” is no longer kept" in done(desk.run("handoff", "cancel", first["id"][:8]))
    assert "“Letter”" in done(desk.run("handoff", "cancel"))
    assert second["id"] and not waiting(desk, lap.device_id)


# What peers send


def test_peer_that_keeps_much(machine: Machine) -> None:
    """A peer may have kept sixteen activities for this machine, beside the one that it offers; an activity has one place, and one
    that was dismissed is not taken again."""
    _there, dock = Client(machine), Dock(machine)
    device = Device()
    link = device.paired_link_to(machine)

    def offer(number: int, kept: bool = True) -> str:
        summary = {**state(Title=GLib.Variant("s", str(number))), **({"Kept": GLib.Variant("s", "f" * 32)} if kept else {})}
        try:
            link.call("Peer.Offer", GLib.Variant("(sa{sv})", (f"{number:032x}", summary)))
        except BusError as error:
            return error.short_name
        return ""

    assert offer(99, kept=False) == ""
    assert [offer(number) for number in range(16)] == [""] * 16
    assert offer(16) == "LimitsExceeded"
    assert offer(99) == offer(3, kept=False) == "InvalidArgs"
    wait(lambda: len(dock.offers) == 17, "all")
    machine.session.call(dock.offer("5"), "RemoteActivity.Dismiss")
    wait(lambda: len(dock.offers) == 16, "one less")
    link.close()
    wait(lambda: not dock.offers, "nothing")
    link = device.paired_link_to(machine)


def test_others_have_not_continued_it(machines: Machines, machine_list: list[Machine]) -> None:
    """What was kept for one device is not continued by another one that says so, nor is what was left with another."""
    desk, lap = machines
    set_away(lap, desk)
    here = Client(desk)
    activity = here.offer("Minutes")
    send(desk, lap.device_id)
    link = Device().paired_link_to(desk)
    for revision in (0, 1, 1 << 63):
        with refused("UnknownObject"):
            link.call("Peer.ContinuedParked", GLib.Variant("(sst)", (activity.id, f"{revision:032x}", revision)))
    assert waiting(desk, lap.device_id) and not here.called("WasContinued")
    assert activity.get("Current")


def test_link_that_is_dead(machines: Machines) -> None:
    """What is sent over a link whose other end does not answer any more waits."""
    desk, lap = machines
    dock, _there = Dock(lap), Client(lap)
    here = Client(desk)
    here.offer("Minutes")
    dock.offer("Minutes")
    device_id = lap.device_id
    lap.processes["handoff-bridge"].send_signal(signal.SIGSTOP)
    send(desk, device_id)
    wait(lambda: waiting(desk, device_id), "what was sent to wait")
    assert not desk.session.get(device_path(device_id), "Device.SendError")
    lap.processes["handoff-bridge"].send_signal(signal.SIGCONT)
    wait(lambda: "Minutes" in invited(dock), "what was sent")
