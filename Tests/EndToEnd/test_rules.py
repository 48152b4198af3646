# SPDX-License-Identifier: LGPL-2.1-or-later
"""What applications may rely on, rule by rule, where no other test says it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from gi.repository import GLib
from buses import BUS, ROOT, let_pass, properties, wait
from clients import ACTIVITY_TYPE, APPLICATION_ID, Client, Dock
from samples import IN_AN_HOUR
from support import Machine, refused
from test_continuing import handed_over, user_info
from test_desktop_entries import STARTED, install

Machines = tuple[Machine, Machine]
TEAM = {"Team": GLib.Variant("s", "com.example")}


# Applications and types


def test_unusual_type_is_warned_of_once(machine: Machine) -> None:
    """A type that is not reverse-DNS gets a warning in the log, once."""
    for _time in range(3):
        Client(machine, types=("Brief schreiben",)).create()
    lines = [line for line in machine.log("handoffd").splitlines() if "Brief schreiben" in line]
    assert len(lines) == 1 and "reverse-DNS" in lines[0]


def test_without_a_type(machine: Machine) -> None:
    """Without a type an activity gets the first that is declared; with none declared that is TypeNotDeclared."""
    assert Client(machine, types=("com.example.b", "com.example.a")).create().get("ActivityType") == "com.example.b"
    with refused("TypeNotDeclared"):
        Client(machine, types=()).create()


def test_types_of_documents(machines: Machines) -> None:
    """Types that document types map to need not be declared besides, and one type may serve many of them."""
    desk, lap = machines
    types = GLib.Variant("a{ss}", {"text/plain": "com.example.text", "text/markdown": "com.example.text",
                                   "text/html": "com.example.page"})
    origin = Client(desk, types=(), options={"DocumentTypes": types})
    target, dock = Client(lap, types=(), options={"DocumentTypes": types}), Dock(lap)
    for activity_type in ("com.example.text", "com.example.page"):
        origin.create(activity_type, Title=activity_type).become_current()
        path = dock.offer(activity_type)
        dock.continue_offer(path)
        wait(lambda: target.called("ContinueActivity"), "the activity")
        assert handed_over(target.calls.pop())["ActivityType"].unpack() == activity_type
    with refused("TypeNotDeclared", containing=("com.example.text", "com.example.page")):
        origin.create("com.example.other")


def test_user_chooses_the_application(machines: Machines) -> None:
    """The application that the user chooses among Handlers continues, whichever would be the best."""
    desk, lap = machines
    origin, dock = Client(desk, options=TEAM), Dock(lap)
    best, chosen = Client(lap, options=TEAM), Client(lap, "com.example.viewer", options=TEAM)
    origin.offer("A letter")
    path = dock.offer("A letter")
    wait(lambda: dock.offers[path]["Handlers"] == [APPLICATION_ID, "com.example.viewer"], "both")
    dock.continue_offer(path, ApplicationId="com.example.viewer")
    assert dock.outcome() == ("com.example.viewer", "", "")
    assert chosen.called("ContinueActivity") and not best.calls


# The life of an activity


def test_title_from_will_save(machines: Machines) -> None:
    """The title may be set at any time, also from WillSave, and changes what peers see."""
    desk, lap = machines
    origin, _target, dock = Client(desk), Client(lap), Dock(lap)
    activity = origin.offer("Untitled")
    path = dock.offer("Untitled")
    origin.save(Title="Chapter one")
    activity.update(NeedsSave=True)
    assert dock.offer("Chapter one") == path
    assert activity.get("Title") == "Chapter one"
    activity.update(Title="Chapter two")
    assert dock.offer("Chapter two") == path


def test_title_alone_is_enough(machines: Machines) -> None:
    """An activity without UserInfo is legal: title or web page may be all there is to continue."""
    desk, lap = machines
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    for number, more in enumerate(({}, {"WebpageURL": "https://example.com/"})):
        origin.offer(f"Only this {number}", **more)
        dock.continue_offer(dock.offer(f"Only this {number}"))
        arrived = handed_over(target.wait_for("ContinueActivity", number + 1))
        assert arrived["Title"].unpack() == f"Only this {number}"
        assert not arrived.get("UserInfo", GLib.Variant("a{sv}", {})).unpack()
        wait(lambda: len(dock.finished()) == number + 1, "the outcome")
    assert [error for _, error, _ in dock.finished()] == ["", ""]


# Saving state


def test_only_the_current_activity_is_saved(machine: Machine) -> None:
    """NeedsSave of an activity that is not current asks nobody, until it becomes current."""
    client = Client(machine)
    activity = client.create(NeedsSave=True)
    activity.update(NeedsSave=True)
    # Longer than there is between two calls of WillSave (Deadline.autosave, 1 s).
    let_pass(1.2)
    assert not client.called("WillSave")
    activity.become_current()
    assert client.wait_for("WillSave").arguments.unpack() == (activity.path,)


@pytest.mark.parametrize("ends", ["resigns", "is replaced"])
def test_activity_that_is_no_longer_current_is_not_saved(machine: Machine, ends: str) -> None:
    """NeedsSave that is set behind ResignCurrent, or behind another's BecomeCurrent, asks nobody, however soon."""
    client = Client(machine)
    other = client.create(Title="Another")
    for _time in range(20):
        activity = client.offer("A letter")
        answers = [client.begin(activity.path, "Activity.ResignCurrent") if ends == "resigns"
                   else client.begin(other.path, "Activity.BecomeCurrent"),
                   client.begin(activity.path, "Activity.Update", GLib.Variant("(a{sv})", (properties(NeedsSave=True),)))]
        for answer in answers:
            answer()
    # As long as a call takes that would come at once.
    let_pass(0.2)
    assert not client.called("WillSave")


def test_outcome_comes_before_the_end_of_the_offer(machines: Machines) -> None:
    """An offer that is dismissed right after Continue stays until the outcome is told."""
    desk, lap = machines
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    origin.offer("A letter")
    path = dock.offer("A letter")
    target.hang("ContinueActivity")
    answers = [dock.begin(path, "RemoteActivity.Continue", GLib.Variant("(a{sv})", ({},))),
               dock.begin(path, "RemoteActivity.Dismiss")]
    for answer in answers:
        answer()
    target.wait_for("ContinueActivity")
    target.unanswered.pop().return_value(GLib.Variant("(b)", (True,)))
    dock.wait_until_gone(path)
    members = [event.member for event in dock.events]
    assert members.index("ContinueFinished") < members.index("InterfacesRemoved")


def test_first_save_needs_no_asking(machines: Machines) -> None:
    """An activity that was never saved is saved when it is continued, without NeedsSave having been set."""
    desk, lap = machines
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    origin.save(UserInfo={"page": GLib.Variant("u", 1)})
    activity = origin.offer("A letter")
    path = dock.offer("A letter")
    assert not origin.called("WillSave") and activity.get("NeedsSave") is False
    dock.continue_offer(path)
    assert user_info(target.wait_for("ContinueActivity"))["page"].unpack() == 1
    assert len(origin.called("WillSave")) == 1


def test_saving_clears_needs_save(machine: Machine) -> None:
    """WillSave clears NeedsSave; changing state later sets it again, and it is asked for again."""
    client = Client(machine)
    activity = client.offer("A letter")
    for time in (1, 2):
        activity.update(NeedsSave=True)
        client.wait_for("WillSave", time)
        wait(lambda: activity.get("NeedsSave") is False, "NeedsSave to be cleared")


def test_application_updates_without_being_asked(machines: Machines) -> None:
    """An application may update its activity without being asked, and that is what arrives if it saves nothing else."""
    desk, lap = machines
    origin = Client(desk, leave_out=("WillSave",))
    target, dock = Client(lap), Dock(lap)
    activity = origin.offer("A letter", UserInfo={"page": GLib.Variant("u", 1)})
    for page in (2, 3):
        activity.update(UserInfo={"page": GLib.Variant("u", page)})
    dock.continue_offer(dock.offer("A letter"))
    assert user_info(target.wait_for("ContinueActivity"))["page"].unpack() == 3


def test_required_keys_do_not_limit_a_continuation(machines: Machines) -> None:
    """RequiredUserInfoKeys says what is needed for restoring later; a continuation still gets everything."""
    desk, lap = machines
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    origin.offer("A letter", RequiredUserInfoKeys=["page"],
                 UserInfo={"page": GLib.Variant("u", 1), "zoom": GLib.Variant("d", 2)})
    dock.continue_offer(dock.offer("A letter"))
    arrived = handed_over(target.wait_for("ContinueActivity"))
    assert arrived["UserInfo"].unpack() == {"page": 1, "zoom": 2.0}
    assert arrived["RequiredUserInfoKeys"].unpack() == ["page"]


# Payload


def test_large_user_info_is_hinted_at(machine: Machine) -> None:
    """UserInfo of more than 3 KiB logs a hint to use streams, once for each type, and is taken."""
    client = Client(machine, types=("com.example.one", "com.example.two"))
    large, small = {"text": GLib.Variant("s", "x" * 4000)}, {"text": GLib.Variant("s", "x" * 2000)}
    for activity_type in client.types:
        for user_info in (small, large, large):
            client.create(activity_type, UserInfo=user_info).update(UserInfo=user_info)
    hints = [line for line in machine.log("handoffd").splitlines() if "through a stream" in line]
    assert len(hints) == 2
    assert all(any(activity_type in line for line in hints) for activity_type in client.types)


def test_what_means_unset(machines: Machines) -> None:
    """"" for a URL or identifier, "/" for Delegate and 0 for a date mean unset, and are not handed over."""
    desk, lap = machines
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    activity = origin.offer(
        "A letter", WebpageURL="https://example.com/", ReferrerURL="https://example.com/from", Delegate="/delegate",
        TargetContentIdentifier="target", PersistentIdentifier="persistent", ExpirationDate=IN_AN_HOUR)
    unset = {"WebpageURL": "", "ReferrerURL": "", "DocumentURL": "", "TargetContentIdentifier": "",
             "PersistentIdentifier": "", "Delegate": "/", "ExpirationDate": 0}
    activity.update(Title="Bare", **unset)
    assert {name: activity.get(name) for name in unset} == unset
    # What is continued has to be what was offered, and the offer follows.
    dock.continue_offer(dock.offer("Bare"))
    arrived = handed_over(target.wait_for("ContinueActivity"))
    assert not set(unset) & set(arrived)
    assert not [call for call in origin.calls if call.path == "/delegate"]


# Continuing


def test_will_continue_knows_only_the_type(machines: Machines) -> None:
    """WillContinueActivity comes first, with the type and no state; meanwhile the offer's State is "continuing"."""
    desk, lap = machines
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    origin.offer("A letter", UserInfo={"secret": GLib.Variant("s", "x")})
    path = dock.offer("A letter")
    target.hang("ContinueActivity")
    dock.continue_offer(path)
    target.wait_for("ContinueActivity")
    will = target.calls[0]
    assert will.member == "WillContinueActivity"
    activity_type, context = will.arguments.unpack()
    assert activity_type == ACTIVITY_TYPE
    assert set(context) == {"Continuation", "DeviceId", "DeviceName"}
    wait(lambda: dock.offers[path]["State"] == "continuing", "State")
    target.unanswered.pop().return_value(GLib.Variant("(b)", (True,)))
    assert dock.outcome()[1] == ""
    wait(lambda: dock.offers[path]["State"] == "available", "State")


def test_two_continuations_share_one_fetch(machines: Machines) -> None:
    """Two continuations of one offer at a time share one fetch of the activity."""
    desk, lap = machines
    origin, target, docks = Client(desk), Client(lap), [Dock(lap) for _number in range(3)]
    target.hang("ContinueActivity")
    origin.offer("A letter")
    for dock in docks:
        dock.continue_offer(dock.offer("A letter"))
    target.wait_for("ContinueActivity")
    docks[0].continue_offer(docks[0].offer("A letter"))
    target.unanswered.pop().return_value(GLib.Variant("(b)", (True,)))
    assert [dock.outcome()[1] for dock in docks] == ["", "", ""]
    # As long as another outcome, or another call, takes that would come at once.
    let_pass(0.2)
    assert [len(dock.finished()) for dock in docks] == [1, 1, 1]
    assert len(origin.get(ROOT, "Manager.RecentFetches")) == 1
    assert len(origin.called("WillSave")) == len(target.called("ContinueActivity")) == 1


def test_what_was_handed_over_is_the_applications_own(machines: Machines) -> None:
    """Later changes and the end of the origin's activity do not touch what an application was handed."""
    desk, lap = machines
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    activity = origin.offer("A letter", UserInfo={"page": GLib.Variant("u", 1)})
    path = dock.offer("A letter")
    dock.continue_offer(path)
    assert dock.outcome()[1] == ""
    origin.wait_for("WasContinued")
    own = target.offer("My copy", **{"UserInfo": user_info(target.calls[-1])})
    before = len(target.calls)
    activity.update(UserInfo={"page": GLib.Variant("u", 2)})
    activity.invalidate()
    # With that both have arrived, and what the application was called for them before its question is answered.
    dock.wait_until_gone(path)
    assert own.get("UserInfo") == {"page": 1}
    assert len(target.calls) == before
    assert len(dock.finished()) == 1


def test_origin_decides_about_its_activity(machines: Machines) -> None:
    """A continued activity stays as it is at the origin, current and offered, and can be continued again."""
    desk, lap = machines
    origin, _target, dock = Client(desk), Client(lap), Dock(lap)
    activity = origin.offer("A letter")
    path = dock.offer("A letter")
    for time in (1, 2):
        dock.continue_offer(path)
        origin.wait_for("WasContinued", time)
        wait(lambda: len(dock.finished()) == time, "the outcome")
        assert activity.get("Current") is True and path in dock.offers


@pytest.mark.parametrize("ends", ["withdrawn", "replaced", "unlinked"])
def test_nothing_from_a_link_starts_a_program(machines: Machines, ends: str) -> None:
    """Only a local Continue starts an application: offers of a peer that come and go start none."""
    desk, lap = machines
    name, activity_type = "com.example.started", "com.example.started.edit"
    services = Path(lap.environment["XDG_RUNTIME_DIR"]) / "dbus-1" / "services"
    services.mkdir(parents=True, exist_ok=True)
    result = lap.folder / "started"
    (services / f"{name}.service").write_text(
        f"[D-BUS Service]\nName={name}\nExec={sys.executable} {STARTED} {name} {activity_type} {result}\n")
    lap.connect().call("/org/freedesktop/DBus", f"{BUS}.ReloadConfig", destination=BUS)
    install(lap, name, ActivityTypes=activity_type, DBusActivatable="true")
    origin, dock = Client(desk, application_id=name, types=(activity_type,)), Dock(lap)
    activity = origin.create(activity_type, Title="Start me", WebpageURL="https://example.com/")
    activity.become_current()
    path = dock.offer("Start me")
    activity.update(Title="Start me now")
    dock.offer("Start me now")
    if ends == "withdrawn":
        activity.invalidate()
    elif ends == "replaced":
        origin.create(activity_type, Title="Start another").become_current()
    else:
        desk.kill("handoff-bridge")
    dock.wait_until_gone(path)
    # As long as a program takes to be started.
    let_pass(0.3)
    assert not lap.session.owner(name) and not result.exists()
