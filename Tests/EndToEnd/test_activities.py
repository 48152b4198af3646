# SPDX-License-Identifier: LGPL-2.1-or-later
"""The life of an activity, and what peers see of it."""

from __future__ import annotations

import time

from gi.repository import GLib
from buses import BROKER, ROOT, let_pass, typed, wait
from clients import ACTIVITY_TYPE, CROSSING, Activity, Client, Dock
from samples import IN_AN_HOUR
from support import Machine, refused

Machines = tuple[Machine, Machine]


def test_becoming_current_replaces_the_former(machines: Machines) -> None:
    """At most one activity of a session is current and offered, whichever application it is of."""
    desk, lap = machines
    one, other = Client(desk), Client(desk, "com.example.mail", ("com.example.mail.write",))
    dock = Dock(lap)
    _targets = Client(lap), Client(lap, "com.example.mail", ("com.example.mail.write",))
    letter = one.offer("A letter")
    first = dock.offer("A letter")
    mail = other.offer("A mail")
    dock.offer("A mail")
    dock.wait_until_gone(first)
    assert (letter.get("Current"), mail.get("Current")) == (False, True)
    letter.become_current()
    dock.offer("A letter")
    wait(lambda: dock.titles == ["A letter"], "the mail to go")


def test_becoming_current_twice_is_one_offer(machines: Machines) -> None:
    """BecomeCurrent on the current activity changes nothing."""
    desk, lap = machines
    origin, _target, dock = Client(desk), Client(lap), Dock(lap)
    activity = origin.offer("A letter")
    dock.offer("A letter")
    activity.become_current()
    let_pass(CROSSING)
    assert [event.member for event in dock.events] == ["InterfacesAdded"]


def test_resigning_withdraws(machines: Machines) -> None:
    """ResignCurrent withdraws the offer and keeps the activity; resigning again does nothing."""
    desk, lap = machines
    origin, _target, dock = Client(desk), Client(lap), Dock(lap)
    activity = origin.offer("A letter")
    path = dock.offer("A letter")
    activity.resign_current()
    dock.wait_until_gone(path)
    activity.resign_current()
    assert not activity.get("Current")
    assert activity.get("Title") == "A letter"
    activity.become_current()
    assert dock.offer("A letter") == path


def test_invalidating_removes(machines: Machines) -> None:
    """Invalidate removes the activity from all devices; any later call is UnknownObject."""
    desk, lap = machines
    origin, _target, dock = Client(desk), Client(lap), Dock(lap)
    activity = origin.offer("A letter")
    path = dock.offer("A letter")
    activity.invalidate()
    dock.wait_until_gone(path)
    for call in (activity.become_current, activity.resign_current, activity.invalidate,
                 lambda: activity.update(Title="x"), lambda: activity.get("Title"), lambda: activity.add_entries({})):
        with refused("UnknownObject"):
            call()
    assert activity.path not in origin.managed_objects()


def test_activities_go_with_their_client(machines: Machines) -> None:
    """The activities of a client that vanishes are gone within a second, on both machines."""
    desk, lap = machines
    origin, _target, local, dock = Client(desk), Client(lap), Dock(desk), Dock(lap)
    activity = origin.offer("A letter")
    path = dock.offer("A letter")
    origin.close()
    closed = time.monotonic()
    dock.wait_until_gone(path)
    wait(lambda: activity.path not in local.managed_objects(), "the activity to go")
    assert time.monotonic() - closed <= 1


def test_unregistering_ends_activities(machines: Machines) -> None:
    """UnregisterApplication invalidates the caller's activities; then it can't create any."""
    desk, lap = machines
    origin, _target, dock = Client(desk), Client(lap), Dock(lap)
    activity = origin.offer("A letter")
    path = dock.offer("A letter")
    origin.call(ROOT, "Manager.UnregisterApplication")
    dock.wait_until_gone(path)
    with refused("UnknownObject"):
        activity.become_current()
    with refused("NotRegistered"):
        origin.create()
    with refused("NotRegistered"):
        origin.call(ROOT, "Manager.UnregisterApplication")


def test_registering_again_keeps_activities(machine: Machine) -> None:
    """Registering again replaces what was declared and keeps the activities."""
    client = Client(machine)
    activity = client.create(Title="Kept")
    client.types = ("com.example.editor.view",)
    client.register()
    assert activity.get("Title") == "Kept"
    with refused("TypeNotDeclared", containing=(ACTIVITY_TYPE, "com.example.editor.view")):
        client.create(ACTIVITY_TYPE)
    assert client.create().get("ActivityType") == "com.example.editor.view"


def test_title_of_the_offer_follows(machines: Machines) -> None:
    """Changing the title of the current activity changes its offer; in a burst the latest wins."""
    desk, lap = machines
    origin, _target, dock = Client(desk), Client(lap), Dock(lap)
    activity = origin.offer("Title 0")
    path = dock.offer("Title 0")
    for number in range(1, 51):
        activity.update(Title=f"Title {number}")
    assert dock.offer("Title 50") == path
    seen = sum(1 for event in dock.events if event.member == "PropertiesChanged")
    assert seen <= 25, f"{seen} changes were sent for a burst of 50"


def test_not_eligible_is_not_offered(machines: Machines) -> None:
    """EligibleForHandoff false: current, but not offered; a change takes effect at once."""
    desk, lap = machines
    origin, _target, dock = Client(desk), Client(lap), Dock(lap)
    activity = origin.offer("A letter", EligibleForHandoff=False)
    assert activity.get("Current")
    let_pass(CROSSING)
    assert not dock.offers
    activity.update(EligibleForHandoff=True)
    path = dock.offer("A letter")
    activity.update(EligibleForHandoff=False)
    dock.wait_until_gone(path)
    assert activity.get("Current")


def test_expired_is_not_offered(machines: Machines) -> None:
    """After ExpirationDate an activity is no longer offered; a date in the past withdraws it at once."""
    desk, lap = machines
    origin, _target, dock = Client(desk), Client(lap), Dock(lap)
    activity = origin.offer("A letter", ExpirationDate=time.time_ns() // 1000 + 2_000_000)
    path = dock.offer("A letter")
    dock.wait_until_gone(path)
    activity.update(ExpirationDate=IN_AN_HOUR)
    assert dock.offer("A letter") == path
    activity.update(ExpirationDate=1)
    dock.wait_until_gone(path)
    activity.update(ExpirationDate=0)
    dock.offer("A letter")


def test_properties_read_back_as_set(machine: Machine) -> None:
    """What is set is what is read; UserInfo is replaced by setting and merged by AddUserInfoEntries."""
    client = Client(machine)
    activity = client.create(UserInfo={"a": GLib.Variant("y", 1), "b": GLib.Variant("as", [])})
    activity.add_entries({"b": GLib.Variant("s", "new"), "c": GLib.Variant("d", 1)})
    assert {key: typed(value) for key, value in activity.user_info().items()} == {
        "a": ("y", 1), "b": ("s", "new"), "c": typed(GLib.Variant("d", 1))}
    activity.update(UserInfo={"only": GLib.Variant("b", True)})
    assert {key: typed(value) for key, value in activity.user_info().items()} == {"only": ("b", True)}
    client.set(activity.path, "Activity.Title", GLib.Variant("s", "By Set"))
    client.set(activity.path, "Activity.WebpageURL", GLib.Variant("s", "https://example.com/"))
    client.set(activity.path, "Activity.WebpageURL", GLib.Variant("s", ""))
    assert (activity.get("Title"), activity.get("WebpageURL")) == ("By Set", "")


def test_defaults_are_those_of_the_contract(machine: Machine) -> None:
    """A new activity has the documented defaults, and its owner reads them all."""
    client = Client(machine)
    activity = client.create()
    values = {name: value.unpack() for name, value in client.get_all(activity.path, "Activity").items()}
    assert values == {
        "ActivityType": ACTIVITY_TYPE, "ApplicationId": client.application_id, "Current": False, "Title": "",
        "UserInfo": {}, "RequiredUserInfoKeys": [], "WebpageURL": "", "DocumentURL": "", "ReferrerURL": "",
        "TargetContentIdentifier": "", "PersistentIdentifier": "", "Keywords": [], "ExpirationDate": 0,
        "EligibleForHandoff": True, "EligibleForSearch": False, "SupportsContinuationStreams": False,
        "NeedsSave": False, "Delegate": "/"}


def test_owner_is_told_of_current_and_needs_save(machine: Machine) -> None:
    """PropertiesChanged reaches the owner for Current and NeedsSave, for Current also those that follow the objects, and
    nobody else."""
    client, other, follower = Client(machine), Client(machine, "com.example.other"), Dock(machine)
    client.managed_objects()
    seen: dict[str, list[dict]] = {"owner": [], "other": [], "follower": []}
    for name, session in (("owner", client), ("other", other), ("follower", follower)):
        session.connection.signal_subscribe(
            BROKER, "org.freedesktop.DBus.Properties", "PropertiesChanged", None, None, 0,
            lambda *signal, changes=seen[name]: changes.append(signal[5].unpack()[1]))
    activity = client.offer("A letter")
    wait(lambda: {"Current": True} in seen["owner"], "Current to be announced")
    activity.update(NeedsSave=True)
    client.wait_for("WillSave")
    wait(lambda: {"NeedsSave": False} in seen["owner"], "NeedsSave to be announced")
    other.create().become_current()
    wait(lambda: {"Current": False} in seen["owner"], "the loss of Current")
    assert not any("NeedsSave" in change for change in seen["other"])
    assert {"Current": False} not in seen["other"]
    wait(lambda: {"Current": False} in seen["follower"], "the follower to be told")
    assert not any("NeedsSave" in change for change in seen["follower"])
    for name in ("owner", "follower"):
        assert seen[name].count({"Current": False}) == 1, "told once, also an owner that follows the objects"


def test_saves_are_coalesced(machine: Machine) -> None:
    """However often NeedsSave is set, WillSave runs once at a time, and at most once a second."""
    client = Client(machine)
    activity = client.offer("A letter")
    end = time.monotonic() + 2.5
    while time.monotonic() < end:
        activity.update(NeedsSave=True)
    # What the broker called before it answered that has arrived.
    saves = [call.at for call in client.called("WillSave")]
    assert 2 <= len(saves) <= 4
    assert all(later - earlier >= 0.9 for earlier, later in zip(saves, saves[1:]))


def test_application_may_call_while_it_is_asked(machine: Machine) -> None:
    """In WillSave an application may call anything on the same activity, even end it."""
    client = Client(machine)
    activity = client.offer("A letter")

    def will_save(arguments: GLib.Variant) -> GLib.Variant:
        activity.update(Title="Changed while asked")
        assert activity.get("Title") == "Changed while asked"
        activity.invalidate()
        return GLib.Variant("(a{sv})", ({"Title": GLib.Variant("s", "too late")},))

    client.answers["WillSave"] = will_save
    activity.update(NeedsSave=True)
    client.wait_for("WillSave")
    wait(lambda: activity.path not in client.managed_objects(), "the activity to go")
    client.offer("Another")


def test_delegate_of_an_activity_is_asked(machine: Machine) -> None:
    """An activity's own Delegate is asked instead of the application's object; "/" unsets it."""
    client = Client(machine)
    client.serve("/delegate", "ActivityDelegate")
    activity = client.offer("A letter", Delegate="/delegate", NeedsSave=True)
    assert client.wait_for("WillSave").path == "/delegate"
    activity.update(Delegate="/", NeedsSave=True)
    assert client.wait_for("WillSave", times=2).path == client.path


def test_calls_take_effect_in_the_order_sent(machine: Machine) -> None:
    """Calls sent without waiting for answers, the first of a connection among them, take effect in order."""
    client = Client(machine, register=False)
    create = GLib.Variant("(sa{sv})", ("", {}))
    answers = [client.begin_registering()]
    answers += [client.begin(ROOT, "Manager.CreateActivity", create) for _number in range(5)]
    answers.append(client.begin(ROOT, "Manager.UnregisterApplication"))
    too_late = client.begin(ROOT, "Manager.CreateActivity", create)
    paths = [answer().unpack() for answer in answers]
    assert len({path for (path,) in paths[1:6]}) == 5
    with refused("NotRegistered"):
        too_late()


def test_pipelined_updates_end_with_the_last(machine: Machine) -> None:
    """Updates sent in a row are all applied, the last one last, and one refused in between changes nothing."""
    client = Client(machine)
    activity = client.create()
    answers = []
    for number in range(200):
        value = GLib.Variant("s", f"Title {number}") if number % 3 else GLib.Variant("u", number)
        answers.append(client.begin(activity.path, "Activity.Update", GLib.Variant("(a{sv})", ({"Title": value},))))
    for number, answer in enumerate(answers):
        if number % 3:
            answer()
        else:
            with refused("InvalidArgs", containing=("Title",)):
                answer()
    assert activity.get("Title") == "Title 199"


def test_two_connections_share_an_id(machines: Machines) -> None:
    """Two connections may hold one application id: each keeps its activities, the latest continues."""
    desk, lap = machines
    origin, first, second, dock = Client(desk), Client(lap), Client(lap), Dock(lap)
    activity = first.create(Title="of the first")
    with refused("AccessDenied"):
        Activity(second, activity.path).update(Title="of the second")
    origin.offer("A letter")
    path = dock.offer("A letter")
    dock.continue_offer(path)
    second.wait_for("ContinueActivity")
    assert not first.calls
    wait(dock.finished, "the outcome")
    second.close()
    dock.continue_offer(dock.offer("A letter"))
    first.wait_for("ContinueActivity")
