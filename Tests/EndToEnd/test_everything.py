# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is open at a device: listed for its user at another one, and continued there."""

from __future__ import annotations

import signal
import time

from gi.repository import GLib
from buses import BROKER, ROOT, let_pass, wait
from clients import Client, Dock
from everything import INTERVAL, MOST, All, applications, list_open, title, titles
from support import Machine, pair, refused, start_machine, wait_for_link

Machines = tuple[Machine, Machine]


def test_what_is_open(machines: Machines) -> None:
    """What has become current and was neither resigned nor invalidated since is open: it is listed for the user of a peer, the
    latest used first, as objects that nobody else is told of; what is offered is the object of that offer."""
    desk, lap = machines
    origins = applications(desk, ["film", "letter", "page", "closed", "over"])
    applications(lap, ["film"])
    activities = {name: client.offer(f"A {name}") for name, client in origins.items()}
    origins["letter"].create(Title="Never current")
    activities["closed"].resign_current()
    activities["over"].invalidate()
    activities["film"].become_current()
    dock = Dock(lap)
    offered = dock.offer("A film")
    paths = list_open(lap.session, desk.device_id)
    assert [title(lap.session, path) for path in paths] == ["A film", "A page", "A letter"]
    assert paths[0] == offered and not lap.session.get(offered, "RemoteActivity.Listed")
    for path in paths[1:]:
        assert lap.session.get(path, "RemoteActivity.Listed")
        assert "No application here continues" in lap.session.get(path, "RemoteActivity.Obstacle")
    assert dock.titles == ["A film"] and len(lap.session.managed_objects().keys() & set(paths)) == 1
    # A displaced activity is closed by resigning it all the same.
    activities["letter"].resign_current()
    let_pass(INTERVAL)
    assert titles(lap.session, desk.device_id) == ["A film", "A page"]
    listing = desk.session.get(ROOT, "Manager.ListingsByDevice")
    assert [one["Titles"] for one in listing] == [["A film", "A page"]]
    assert listing[0]["DeviceId"] == lap.device_id and listing[0]["DeviceName"] == "lap"


def test_what_is_open_is_continued(machines: Machines) -> None:
    """What is listed is continued as what is offered is: with the state that its application saves then, and the application is
    told."""
    desk, lap = machines
    origins, targets = (applications(machine, ["letter", "page"]) for machine in machines)
    origins["letter"].offer("A letter")
    origins["page"].offer("A page")
    origins["letter"].save(UserInfo={"line": GLib.Variant("i", 7)})
    dock = Dock(lap)
    dock.offer("A page")
    letter = list_open(lap.session, desk.device_id)[1]
    dock.continue_offer(letter)
    assert dock.outcome()[1:] == ("", "")
    handed = targets["letter"].wait_for("ContinueActivity").arguments.unpack()[0]
    assert handed["Title"] == "A letter"
    origins["letter"].wait_for("WasContinued")
    assert [fetch["Title"] for fetch in desk.session.get(ROOT, "Manager.RecentFetches")] == ["A letter"]


def test_listed_and_offered(machines: Machines) -> None:
    """An activity that is listed and is then offered, or the other way round, is one object, which can be continued all the time."""
    desk, lap = machines
    origins = applications(desk, ["letter", "page"])
    applications(lap, ["letter", "page"])
    letter = origins["letter"].offer("A letter")
    page = origins["page"].offer("A page")
    dock = Dock(lap)
    shown = dock.offer("A page")
    listed = list_open(lap.session, desk.device_id)
    assert listed[0] == shown
    letter.become_current()
    assert dock.offer("A letter") == listed[1]
    assert not lap.session.get(listed[1], "RemoteActivity.Listed") and lap.session.get(shown, "RemoteActivity.Listed")
    dock.wait_until_gone(shown)
    dock.continue_offer(shown)
    assert dock.outcome()[1:] == ("", "")
    # What is being continued when something else becomes current goes on.
    letter.become_current()
    dock.offer("A letter")
    origins["letter"].hang("WillSave")
    dock.events.clear()
    dock.continue_offer(listed[1])
    origins["letter"].wait_for("WillSave")
    origins["page"].create(Title="Another page").become_current()
    dock.offer("Another page")
    assert dock.outcome()[1:] == ("", "")
    page.become_current()
    assert dock.offer("A page") == shown and not lap.session.get(shown, "RemoteActivity.Listed")


def test_how_many_are_listed(machines: Machines) -> None:
    """Of each application three activities are listed, the latest used ones, and 24 in all."""
    desk, lap = machines
    clients = [Client(desk, f"com.example.one{number}", (f"com.example.one{number}.edit",)) for number in range(9)]
    for client in clients:
        for number in range(4):
            client.offer(f"{client.application_id} {number}")
    expected = [f"{client.application_id} {number}" for client in reversed(clients) for number in (3, 2, 1)]
    wait(lambda: titles(lap.session, desk.device_id)[:1] == expected[:1] or let_pass(INTERVAL), "the last one")
    assert titles(lap.session, desk.device_id) == expected[:MOST]


def test_what_is_not_listed(machines: Machines) -> None:
    """What would not be offered if it were current is not listed: an application that is excluded, what is not eligible, what has
    expired. If the user does not share what is open, what is offered alone is, and what was listed before cannot be
    fetched any more."""
    desk, lap = machines
    origins = applications(desk, ["excluded", "private", "expired", "letter", "page"])
    applications(lap, ["letter"])
    origins["excluded"].offer("Excluded")
    origins["private"].offer("Private", EligibleForHandoff=False)
    origins["expired"].offer("Expired", ExpirationDate=GLib.Variant("x", 1))
    origins["letter"].offer("A letter")
    origins["page"].offer("A page")
    desk.session.set(ROOT, "Preferences.ExcludedApplications", GLib.Variant("as", ["com.example.excluded"]))
    dock = Dock(lap)
    assert titles(lap.session, desk.device_id) == ["A page", "A letter"]
    letter = list_open(lap.session, desk.device_id)[1]
    desk.session.set(ROOT, "Preferences.ShareOpenActivities", GLib.Variant("b", False))
    dock.continue_offer(letter)
    assert dock.outcome()[1] == f"{BROKER}.Error.OfferWithdrawn"
    let_pass(INTERVAL)
    assert titles(lap.session, desk.device_id) == ["A page"]


def test_all_are_continued(machines: Machines) -> None:
    """Several activities are continued by one call, two at a time; each has its own outcome, what was closed meanwhile and what
    nothing here continues is reported, and the others are continued all the same."""
    desk, lap = machines
    names = ["letter", "page", "film", "song", "sheet"]
    origins, targets = applications(desk, names), applications(lap, names[:4])
    activities = {name: origins[name].offer(f"A {name}") for name in names}
    targets["film"].hang("ContinueActivity")
    targets["song"].hang("ContinueActivity")
    paths = list_open(lap.session, desk.device_id)
    assert [title(lap.session, path) for path in paths] == [f"A {name}" for name in reversed(names)]
    activities["letter"].invalidate()
    dock = Dock(lap)
    everything = All(dock, paths)
    targets["film"].wait_for("ContinueActivity")
    targets["song"].wait_for("ContinueActivity")
    assert everything.states == ["failed", "continuing", "continuing", "waiting", "waiting"]
    assert not targets["page"].calls
    for name in ("film", "song"):
        targets[name].unanswered.pop().return_value(GLib.Variant("(b)", (True,)))
    results = everything.results()
    assert everything.counts == (5, 3, 2)
    assert [result["State"] for result in results] == ["failed", "continued", "continued", "continued", "failed"]
    assert [result["Title"] for result in results] == [f"A {name}" for name in reversed(names)]
    assert results[0]["ErrorName"].endswith("NoApplication") and results[4]["ErrorName"].endswith("OfferWithdrawn")
    assert [result["ApplicationId"] for result in results[1:4]] == [f"com.example.{name}" for name in ("song", "film", "page")]
    for name in ("page", "film", "song"):
        origins[name].wait_for("WasContinued")
        assert targets[name].members.count("ContinueActivity") == 1
    wait(lambda: len(dock.finished()) >= 4, "the outcome of each")


def test_two_devices(machine_list: list[Machine]) -> None:
    """What is open at two devices is continued by one choice, and both are told."""
    lap, desk, tower = (start_machine(machine_list, name) for name in ("lap", "desk", "tower"))
    targets = applications(lap, ["letter", "page"])
    origins = []
    for machine in (desk, tower):
        pair(lap, machine)
        made = applications(machine, ["letter", "page"])
        for name, client in made.items():
            client.offer(f"A {name} of {machine.name}")
        origins.extend(made.values())
    paths = [path for machine in (desk, tower) for path in list_open(lap.session, machine.device_id)]
    everything = All(lap.session, paths)
    assert [result["State"] for result in everything.results()] == ["continued"] * 4
    assert [result["DeviceName"] for result in everything.results()] == ["desk", "desk", "tower", "tower"]
    for client in origins:
        client.wait_for("WasContinued")
    assert [len(target.called("ContinueActivity")) for target in targets.values()] == [2, 2]


def test_all_are_cancelled(machines: Machines) -> None:
    """What is cancelled begins no more of what was chosen, and what an application has already is not taken back."""
    desk, lap = machines
    names = ["letter", "page", "film", "song"]
    origins, targets = applications(desk, names), applications(lap, names)
    for name in names:
        origins[name].offer(f"A {name}")
    targets["song"].hang("ContinueActivity")
    origins["film"].hang("WillSave")
    everything = All(lap.session, list_open(lap.session, desk.device_id))
    targets["song"].wait_for("ContinueActivity")
    origins["film"].wait_for("WillSave")
    everything.cancel()
    wait(lambda: everything.states == ["continuing", "failed", "failed", "failed"], "the others to be cancelled")
    targets["song"].unanswered.pop().return_value(GLib.Variant("(b)", (True,)))
    results = everything.results()
    assert everything.counts == (4, 1, 3)
    assert {result["ErrorName"] for result in results[1:]} == {f"{BROKER}.Error.Cancelled"}
    assert not targets["page"].calls and not targets["letter"].calls
    everything.cancel()


def test_two_choices_at_once(machines: Machines) -> None:
    """What one choice has yet to continue is not continued by another one too: it is reported as failed there."""
    desk, lap = machines
    names = ["letter", "page", "film"]
    origins, targets = applications(desk, names), applications(lap, names)
    for name in names:
        origins[name].offer(f"A {name}")
    for name in names:
        targets[name].hang("ContinueActivity")
    paths = list_open(lap.session, desk.device_id)
    first = All(lap.session, paths)
    targets["film"].wait_for("ContinueActivity")
    assert [result["State"] for result in All(lap.session, paths).results()] == ["failed"] * 3
    for name in reversed(names):
        targets[name].wait_for("ContinueActivity")
        targets[name].unanswered.pop().return_value(GLib.Variant("(b)", (True,)))
    first.results()
    assert first.counts == (3, 3, 0)
    assert [targets[name].members.count("ContinueActivity") for name in names] == [1, 1, 1]
    # What is over makes room.
    for _attempt in range(6):
        All(lap.session, [f"{paths[0][:-2]}00"]).results()


def test_choices_that_are_none(machines: Machines) -> None:
    """Nothing, too much, the same twice, and what is no activity of a peer cannot be continued at once; each refusal says why."""
    desk, lap = machines
    applications(desk, ["letter"])["letter"].offer("A letter")
    applications(lap, ["letter"])
    path = Dock(lap).offer("A letter")
    for paths, error in (([], "InvalidArgs"), ([path, path], "InvalidArgs"), (["/org/example/Handoff"], "InvalidArgs"),
                         ([f"{path}/x"], "InvalidArgs"), ([path.rpartition("/")[0]], "InvalidArgs"),
                         ([f"{path[:-2]}{number:02x}" for number in range(MOST + 1)], "LimitsExceeded")):
        with refused(error):
            All(lap.session, paths)
    # What is not there is reported.
    results = All(lap.session, [f"{path[:-2]}00", path]).results()
    assert [result["State"] for result in results] == ["failed", "continued"]
    assert results[0]["ErrorName"].endswith("UnknownObject")


def test_killed_while_all_are_continued(machines: Machines) -> None:
    """When the broker is killed while several activities are continued, none of them is handed over twice, and those whose turn had
    not come can be continued afterwards."""
    desk, lap = machines
    names = ["letter", "page", "film", "song"]
    origins, targets = applications(desk, names), applications(lap, names)
    for name in names:
        origins[name].offer(f"A {name}")
    targets["song"].hang("ContinueActivity")
    targets["film"].hang("ContinueActivity")
    All(lap.session, list_open(lap.session, desk.device_id))
    targets["song"].wait_for("ContinueActivity")
    targets["film"].wait_for("ContinueActivity")
    lap.kill("handoffd", signal.SIGKILL)
    lap.start_broker()
    wait_for_link(desk, lap)
    for client in targets.values():
        client.register()
    let_pass(INTERVAL)
    waiting = [path for path in list_open(lap.session, desk.device_id) if title(lap.session, path) in ("A letter", "A page")]
    assert [result["State"] for result in All(lap.session, waiting).results()] == ["continued", "continued"]
    assert [targets[name].members.count("ContinueActivity") for name in names] == [1, 1, 1, 1]
