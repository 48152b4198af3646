# SPDX-License-Identifier: LGPL-2.1-or-later
"""An activity goes on, on another machine."""

from __future__ import annotations

import time

from gi.repository import GLib
from buses import ACTIVITY_PROPERTIES, BROKER, ROOT, entries, let_pass, properties, typed, wait
from clients import ACTIVITY_TYPE, APPLICATION_ID, CROSSING, Call, Client, Dock
from samples import EVERY_TYPE, IN_AN_HOUR
from support import Machine, pair, start_machine


def handed_over(call: Call) -> dict[str, GLib.Variant]:
    """The activity that ContinueActivity brought."""
    return entries(call.arguments.get_child_value(0))


def user_info(call: Call) -> dict[str, GLib.Variant]:
    """Its UserInfo, typed."""
    return entries(handed_over(call)["UserInfo"])


def test_every_type_arrives_as_it_left(machines: tuple[Machine, Machine]) -> None:
    """Every D-Bus type that UserInfo allows arrives with its exact type and value."""
    desk, lap = machines
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    origin.offer("Everything", UserInfo=EVERY_TYPE)
    dock.continue_offer(dock.offer("Everything"))
    arrived = user_info(target.wait_for("ContinueActivity"))
    assert {key: typed(value) for key, value in arrived.items()} == \
        {key: typed(value) for key, value in EVERY_TYPE.items()}


def test_every_property_arrives(machines: tuple[Machine, Machine]) -> None:
    """Each property of an activity that means something elsewhere arrives with its type and value."""
    desk, lap = machines
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    sent = properties(
        Title="A title — with “quotes”, 漢字 and 👋", UserInfo={"page": GLib.Variant("u", 7)},
        RequiredUserInfoKeys=["page"], WebpageURL="https://www.example.com/a?b=c#d",
        ReferrerURL="http://example.org/", TargetContentIdentifier="content:1", PersistentIdentifier="persistent:1",
        Keywords=["one", "two"], ExpirationDate=IN_AN_HOUR, EligibleForSearch=True,
        SupportsContinuationStreams=True)
    origin.create(**sent).become_current()
    dock.continue_offer(dock.offer(sent["Title"].unpack()))
    arrived = handed_over(target.wait_for("ContinueActivity"))
    for name, value in sent.items():
        assert typed(arrived[name]) == typed(value), name
    assert arrived["ActivityType"].unpack() == ACTIVITY_TYPE
    assert arrived["ApplicationId"].unpack() == APPLICATION_ID
    for name in ("Current", "NeedsSave", "Delegate"):
        assert name not in arrived, f"{name} is the origin's own"
    for name, value in arrived.items():
        assert value.get_type_string() == ACTIVITY_PROPERTIES[name], name


def test_offer_says_what_peers_may_know(machines: tuple[Machine, Machine]) -> None:
    """An offer shows title, type, application, device and time, and is there by itself."""
    desk, lap = machines
    origin, _target, dock = Client(desk), Client(lap), Dock(lap)
    before = time.time_ns() // 1000
    activity = origin.offer("A letter")
    path = dock.offer("A letter")
    assert path == f"{ROOT}/remote/{desk.device_id}/{activity.id}"
    offer = dock.offers[path]
    assert (offer["ActivityType"], offer["ApplicationId"]) == (ACTIVITY_TYPE, APPLICATION_ID)
    assert (offer["DeviceId"], offer["DeviceName"]) == (desk.device_id, "desk")
    assert offer["Handlers"] == [APPLICATION_ID]
    assert (offer["State"], offer["Progress"]) == ("available", -1)
    second = 1_000_000
    assert before - second <= offer["Since"] <= time.time_ns() // 1000 + second


def test_steps_come_in_order_and_once(machines: tuple[Machine, Machine]) -> None:
    """Will comes before Continue; WasContinued and ContinueFinished come exactly once."""
    desk, lap = machines
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    activity = origin.offer("A letter")
    path = dock.offer("A letter")
    dock.continue_offer(path)
    was_continued = origin.wait_for("WasContinued")
    assert dock.outcome() == (APPLICATION_ID, "", "")
    # Longer than before Continued is said again, or WillSave called (Deadline.confirmationRetry and autosave, 1 s).
    let_pass(1.2)
    assert target.members == ["WillContinueActivity", "ContinueActivity"]
    assert origin.members == ["WillSave", "WasContinued"]
    assert len(dock.finished()) == 1

    continued, device = was_continued.arguments.unpack()
    assert continued == activity.path
    assert device == {"DeviceId": lap.device_id, "DeviceName": "lap"}
    assert activity.get("Current"), "what becomes of the origin's activity is for its application to decide"


def test_context_tells_where_it_comes_from(machines: tuple[Machine, Machine]) -> None:
    """Both calls name the continuation and the device; the activation token comes with the second."""
    desk, lap = machines
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    origin.offer("A letter")
    dock.continue_offer(dock.offer("A letter"), ActivationToken="token-1", ApplicationId=APPLICATION_ID)
    activity_type, will_context = target.wait_for("WillContinueActivity").arguments.unpack()
    continue_call = target.wait_for("ContinueActivity")
    context = continue_call.arguments.get_child_value(1)
    assert activity_type == ACTIVITY_TYPE
    assert "ActivationToken" not in will_context
    assert context.unpack() == will_context | {"ActivationToken": "token-1"}
    assert will_context["DeviceId"] == desk.device_id
    assert will_context["DeviceName"] == "desk"
    assert context.lookup_value("Continuation").get_type_string() == "o"
    assert will_context["Continuation"].startswith(f"{ROOT}/continuations/")


def test_last_minute_changes_arrive(machines: tuple[Machine, Machine]) -> None:
    """What WillSave returns when the activity is continued is what arrives, and nothing of the former state."""
    desk, lap = machines
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    origin.save(Title="Newer", UserInfo={"new": GLib.Variant("s", "state")}, Keywords=["last"])
    origin.offer("Older", UserInfo={"old": GLib.Variant("s", "state")})
    dock.continue_offer(dock.offer("Older"))
    arrived = handed_over(target.wait_for("ContinueActivity"))
    assert arrived["UserInfo"].unpack() == {"new": "state"}
    assert arrived["Title"].unpack() == "Newer"
    assert arrived["Keywords"].unpack() == ["last"]


def test_save_without_user_info_keeps_the_former(machines: tuple[Machine, Machine]) -> None:
    """If WillSave returns no UserInfo, the former stays, and entries may be added while it is asked."""
    desk, lap = machines
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    activity = origin.offer("A letter", UserInfo={"page": GLib.Variant("i", 1)})

    def will_save(arguments: GLib.Variant) -> GLib.Variant:
        activity.add_entries({"line": GLib.Variant("i", 2)})
        return GLib.Variant("(a{sv})", ({},))

    origin.answers["WillSave"] = will_save
    dock.continue_offer(dock.offer("A letter"))
    assert handed_over(target.wait_for("ContinueActivity"))["UserInfo"].unpack() == {"page": 1, "line": 2}


def test_saved_activity_is_not_asked_again(machines: tuple[Machine, Machine]) -> None:
    """Saved and with NeedsSave unset, an activity is continued as it is; with NeedsSave it is asked again."""
    desk, lap = machines
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    activity = origin.offer("A letter", NeedsSave=True)
    origin.wait_for("WillSave")
    wait(lambda: not activity.get("NeedsSave"), "NeedsSave to be cleared")
    path = dock.offer("A letter")
    dock.continue_offer(path)
    target.wait_for("ContinueActivity")
    assert len(origin.called("WillSave")) == 1

    wait(dock.finished, "the first outcome")
    origin.save(UserInfo={"second": GLib.Variant("b", True)})
    activity.update(NeedsSave=True)
    dock.continue_offer(path)
    assert handed_over(target.wait_for("ContinueActivity", times=2))["UserInfo"].unpack() == {"second": True}


def test_two_users_of_one_offer_share_the_outcome(machines: tuple[Machine, Machine]) -> None:
    """A second Continue joins the first: one continuation, and one outcome for each caller."""
    desk, lap = machines
    origin, target = Client(desk), Client(lap)
    docks = [Dock(lap), Dock(lap)]
    origin.offer("A letter")
    paths = [dock.offer("A letter") for dock in docks]
    pending = [dock.begin(path, "RemoteActivity.Continue", GLib.Variant("(a{sv})", ({},)))
               for dock, path in zip(docks, paths)]
    for finish in pending:
        finish()
    for dock in docks:
        assert dock.outcome() == (APPLICATION_ID, "", "")
    let_pass(CROSSING)
    assert len(target.called("ContinueActivity")) == 1
    assert [len(dock.finished()) for dock in docks] == [1, 1]


def test_goes_onward_and_back(machines: tuple[Machine, Machine]) -> None:
    """The continuing side may make what it got current again, and it can go back."""
    desk, lap = machines
    one, other = Client(desk), Client(lap)
    first = one.offer("There", UserInfo={"step": GLib.Variant("u", 1)})
    dock = Dock(lap)
    dock.continue_offer(dock.offer("There"))
    arrived = user_info(other.wait_for("ContinueActivity"))
    one.wait_for("WasContinued")
    first.resign_current()
    other.offer("And back", UserInfo=arrived | {"more": GLib.Variant("s", "x")})
    back = Dock(desk)
    back.continue_offer(back.offer("And back"))
    returned = user_info(one.wait_for("ContinueActivity"))
    assert {key: typed(value) for key, value in returned.items()} == {"step": ("u", 1), "more": ("s", "x")}


def test_goes_on_to_a_third_device(machine_list: list[Machine]) -> None:
    """What was continued on a second machine goes onward from there to a third, with all that came from the first and
    what the second has added; each origin is told once, of the continuation of its own activity."""
    desk, lap, tablet = (start_machine(machine_list, name) for name in ("desk", "lap", "tablet"))
    pair(desk, lap)
    # The first and the third know nothing of each other.
    pair(lap, tablet)
    one, two, three = Client(desk), Client(lap), Client(tablet)
    known = {"Title": "Onward", "WebpageURL": "https://www.example.com/a", "PersistentIdentifier": "letter:1"}
    one.create(**known, UserInfo={"step": GLib.Variant("u", 1)}).become_current()
    near, far = Dock(lap), Dock(tablet)
    near.continue_offer(near.offer("Onward"))
    arrived = handed_over(two.wait_for("ContinueActivity"))
    one.wait_for("WasContinued")
    assert not far.offers
    # As an application does that goes on with it: all that it was handed and may set, and what has come since.
    settable = {name: value for name, value in arrived.items() if name in known}
    two.create(arrived["ActivityType"].unpack(), **settable,
               UserInfo=entries(arrived["UserInfo"]) | {"more": GLib.Variant("s", "x")}).become_current()
    far.continue_offer(far.offer("Onward"))
    onward = handed_over(three.wait_for("ContinueActivity"))
    assert {name: onward[name].unpack() for name in known} == known
    assert onward["ActivityType"].unpack() == ACTIVITY_TYPE
    assert {key: typed(value) for key, value in entries(onward["UserInfo"]).items()} == \
        {"step": ("u", 1), "more": ("s", "x")}
    two.wait_for("WasContinued")
    for client in (one, two):
        assert len(client.called("WasContinued")) == 1
    for client, times in ((one, 0), (two, 1), (three, 1)):
        assert len(client.called("ContinueActivity")) == times


def test_another_application_of_the_team_continues(machines: tuple[Machine, Machine]) -> None:
    """Type and team decide: another application of the team continues, one of another team does not."""
    desk, lap = machines
    team = {"Team": GLib.Variant("s", "com.example")}
    origin = Client(desk, options=team)
    viewer = Client(lap, "com.example.viewer", options=team)
    stranger = Client(lap, "net.example.editor", options={"Team": GLib.Variant("s", "net.example")})
    dock = Dock(lap)
    origin.offer("A letter")
    path = dock.offer("A letter")
    assert dock.offers[path]["Handlers"] == ["com.example.viewer"]
    dock.continue_offer(path)
    arrived = handed_over(viewer.wait_for("ContinueActivity"))
    assert arrived["ApplicationId"].unpack() == APPLICATION_ID
    assert not stranger.calls


def test_dismissed_offer_stays_hidden(machines: tuple[Machine, Machine]) -> None:
    """A dismissed offer is hidden until another activity is offered."""
    desk, lap = machines
    origin, _target, dock = Client(desk), Client(lap), Dock(lap)
    activity = origin.offer("Not now")
    path = dock.offer("Not now")
    dock.call(path, "RemoteActivity.Dismiss")
    dock.wait_until_gone(path)
    activity.update(Title="Still not")
    let_pass(CROSSING)
    assert f"{BROKER}.RemoteActivity" not in str(dock.managed_objects())
    origin.offer("Another")
    dock.offer("Another")


def test_latest_state_wins(machines: tuple[Machine, Machine]) -> None:
    """If the origin changes the activity while the continuing application gets ready, the newer state arrives."""
    desk, lap = machines
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    activity = origin.offer("A letter", UserInfo={"page": GLib.Variant("i", 1)})
    path = dock.offer("A letter")
    target.hang("WillContinueActivity")
    dock.continue_offer(path)
    target.wait_for("WillContinueActivity")
    origin.wait_for("WillSave")
    activity.update(UserInfo={"page": GLib.Variant("i", 2)})
    assert handed_over(target.wait_for("ContinueActivity"))["UserInfo"].unpack() == {"page": 2}
