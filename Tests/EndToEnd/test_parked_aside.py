# SPDX-License-Identifier: LGPL-2.1-or-later
"""A machine whose lid is closed: what was open there beside what was offered, or while nothing was, is continued elsewhere."""

from __future__ import annotations

from gi.repository import GLib
from buses import let_pass, wait
from clients import Client, Dock, user_info
from everything import INTERVAL, All, applications, gone, list_open, title, titles
from login_manager import Lap
from support import Machine, device_path, pair, start_machine, wait_for_link


def test_what_else_is_open(make_lap: Lap, machine_list: list[Machine]) -> None:
    """What else was open when the lid was closed is listed while its machine sleeps, and continued with its last state, by one
    choice; the applications are told once it has woken up, and then the machine says itself what is open."""
    lap, logind = make_lap()
    desk = start_machine(machine_list, "desk")
    pair(desk, lap)
    origins, targets = (applications(machine, ["letter", "page", "film", "song"]) for machine in (lap, desk))
    bulk = {"bulk": GLib.Variant("s", "x" * 80_000)}
    Client(lap, "com.example.bulk", ("com.example.bulk.edit",)).offer("Too much of it", UserInfo=bulk)
    for number, (name, origin) in enumerate(origins.items()):
        origin.save(UserInfo=GLib.Variant("a{sv}", {"line": GLib.Variant("i", number)}), Passing=GLib.Variant("b", True))
        origin.offer(f"A {name}")
    dock = Dock(desk)
    dock.offer("A song")
    wait(lambda: logind.delays, "the delay of sleep")
    assert logind.sleep() < 1
    wait(lambda: dock.parked == ["A song"], "what was left")
    # Another broker is told what was left, and when it is asked for what else.
    desk.kill("handoffd")
    desk.start_broker()
    targets = applications(desk, list(targets))
    wait(lambda: (dock.follow() or True) and dock.parked == ["A song"], "what was left")
    paths = list_open(desk.session, lap.device_id)
    assert [title(desk.session, path) for path in paths] == ["A song", "A film", "A page", "A letter"]
    assert all(desk.session.get(path, "RemoteActivity.ParkedAt") for path in paths)
    assert len(dock.offers) == 1, "nobody else is told of it"
    every = All(desk.session, paths[:3])
    assert [result["State"] for result in every.results()] == ["continued"] * 3
    for number, name in ((3, "song"), (2, "film"), (1, "page")):
        assert user_info(targets[name].wait_for("ContinueActivity"))["line"].unpack() == number
    let_pass(INTERVAL)
    assert titles(desk.session, lap.device_id) == ["A letter"], "what was continued is here no more"
    assert desk.session.get(device_path(lap.device_id), "Device.AsleepSince") > 0
    letter = list_open(desk.session, lap.device_id)[0]
    logind.prepare_for_sleep(False)
    wait_for_link(desk, lap)
    for name in ("page", "film", "song"):
        origins[name].wait_for("WasContinued")
    wait(lambda: gone(desk.session, letter), "what was left to be listed no more")
    assert desk.session.get(device_path(lap.device_id), "Device.AsleepSince") == 0
    let_pass(INTERVAL)
    assert titles(desk.session, lap.device_id) == ["A letter", "Too much of it"], "what is open there now"
    assert not desk.session.get(list_open(desk.session, lap.device_id)[0], "RemoteActivity.Parked")


def test_listed_before_sleep(make_lap: Lap, machine_list: list[Machine]) -> None:
    """What was listed before its machine slept is continued with what that left, once, and its application is told."""
    lap, logind = make_lap()
    desk = start_machine(machine_list, "desk")
    pair(desk, lap)
    origins, targets = (applications(machine, ["letter", "page"]) for machine in (lap, desk))
    for name, origin in origins.items():
        origin.offer(f"A {name}")
    dock = Dock(desk)
    dock.offer("A page")
    letter = list_open(desk.session, lap.device_id)[1]
    assert not desk.session.get(letter, "RemoteActivity.Parked")
    wait(lambda: logind.delays, "the delay of sleep")
    logind.sleep()
    wait(lambda: desk.session.get(device_path(lap.device_id), "Device.AsleepSince"), "what was left")
    dock.continue_offer(letter)
    targets["letter"].wait_for("ContinueActivity")
    assert dock.outcome()[1] == ""
    assert titles(desk.session, lap.device_id) == ["A page"]
    logind.prepare_for_sleep(False)
    origins["letter"].wait_for("WasContinued")


def test_nothing_current(make_lap: Lap, machine_list: list[Machine]) -> None:
    """Where nothing is in front when the lid is closed, as while the screen is locked, what is open is left all the same, and sleep is
    delayed for that."""
    lap, logind = make_lap()
    desk = start_machine(machine_list, "desk")
    pair(desk, lap)
    here, there, dock = Client(lap), Client(desk), Dock(desk)
    activity = here.offer("Letter", UserInfo={"line": GLib.Variant("u", 7)})
    wait(lambda: logind.delays, "the delay of sleep")
    activity.leave_current()
    let_pass(0.3)
    assert logind.delays
    assert logind.sleep() < 1
    asleep = device_path(lap.device_id)
    wait(lambda: desk.session.get(asleep, "Device.AsleepSince"), "what was left")
    assert not dock.offers
    every = All(desk.session, list_open(desk.session, lap.device_id))
    assert [result["State"] for result in every.results()] == ["continued"]
    assert user_info(there.wait_for("ContinueActivity"))["line"].unpack() == 7
    # It sleeps all the same, and there is nothing more.
    let_pass(INTERVAL)
    assert desk.session.get(asleep, "Device.AsleepSince") and not list_open(desk.session, lap.device_id)
    logind.prepare_for_sleep(False)
    here.wait_for("WasContinued")
    assert not desk.session.get(asleep, "Device.AsleepSince")
    activity.resign_current()
    wait(lambda: not logind.delays, "the end of the delay, since nothing is open")
