# SPDX-License-Identifier: LGPL-2.1-or-later
"""A continuation that goes wrong: one outcome for the user, one end for the application."""

from __future__ import annotations

import time

import pytest
from gi.repository import GLib
from buses import HANDOFF_ERROR, let_pass, wait
from clients import ACTIVITY_TYPE, APPLICATION_ID, CROSSING, Client, Dock
from support import Machine, count, refused

Machines = tuple[Machine, Machine]


def begin(machines: Machines, **values: object) -> tuple[Client, Client, Dock, str]:
    """An origin that offers a letter, an application that can continue it, and the offer in a dock."""
    desk, lap = machines
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    origin.offer("A letter", **values)
    return origin, target, dock, dock.offer("A letter")


def assert_failed(dock: Dock, error: str, *texts: str, timeout: float = 20) -> None:
    """There is one outcome, with this error and a message that says so."""
    application, name, message = dock.outcome(timeout)
    assert name == f"{HANDOFF_ERROR}.{error}", message
    assert application in (APPLICATION_ID, "")
    assert message
    for text in texts:
        assert text in message


def assert_nothing_more(origin: Client, target: Client, dock: Dock, expected: list[str]) -> None:
    """The application was asked just this, the origin was not told that it went well, and there is one outcome."""
    let_pass(CROSSING)
    assert target.members == expected
    assert not origin.called("WasContinued")
    assert len(dock.finished()) == 1


def test_application_does_not_handle_it(machines: Machines) -> None:
    """ContinueActivity returns false: ApplicationFailed for the user, and the origin is not told of success."""
    origin, target, dock, path = begin(machines)
    target.answers["ContinueActivity"] = lambda arguments: GLib.Variant("(b)", (False,))
    dock.continue_offer(path)
    assert_failed(dock, "ApplicationFailed")
    assert_nothing_more(origin, target, dock, ["WillContinueActivity", "ContinueActivity"])


def test_application_returns_an_error(machines: Machines) -> None:
    """ContinueActivity returns an error: its message reaches the user."""
    origin, target, dock, path = begin(machines)
    target.fail("ContinueActivity", "This letter was written by a newer version.")
    dock.continue_offer(path)
    assert_failed(dock, "ApplicationFailed", "This letter was written by a newer version.")
    assert_nothing_more(origin, target, dock, ["WillContinueActivity", "ContinueActivity"])
    target.answers["ContinueActivity"] = lambda arguments: GLib.Variant("(b)", (True,))
    dock.events.clear()
    dock.continue_offer(path)
    assert dock.outcome() == (APPLICATION_ID, "", ""), "the offer can be continued after a failure"


@pytest.mark.slow
def test_application_never_answers(machines: Machines) -> None:
    """ContinueActivity is never answered: ApplicationTimedOut after thirty seconds."""
    origin, target, dock, path = begin(machines)
    target.hang("ContinueActivity")
    started = time.monotonic()
    dock.continue_offer(path)
    assert_failed(dock, "ApplicationTimedOut", timeout=45)
    assert 29 <= time.monotonic() - started <= 40
    assert_nothing_more(origin, target, dock, ["WillContinueActivity", "ContinueActivity"])


def test_application_vanishes_while_it_continues(machines: Machines) -> None:
    """The application leaves the bus in the middle of ContinueActivity: ApplicationFailed."""
    origin, target, dock, path = begin(machines)
    target.hang("ContinueActivity")
    dock.continue_offer(path)
    target.wait_for("ContinueActivity")
    target.close()
    assert_failed(dock, "ApplicationFailed")
    let_pass(CROSSING)
    assert not origin.called("WasContinued")
    assert len(dock.finished()) == 1


def test_origin_application_vanishes_before_the_fetch(machines: Machines) -> None:
    """The origin's application is gone before its state was fetched: DidFailToContinueActivity, and an error."""
    origin, target, dock, path = begin(machines)
    origin.hang("WillSave")
    dock.continue_offer(path)
    target.wait_for("WillContinueActivity")
    origin.wait_for("WillSave")
    origin.close()
    failed = target.wait_for("DidFailToContinueActivity").arguments.unpack()
    assert failed[:2] == (ACTIVITY_TYPE, f"{HANDOFF_ERROR}.OfferWithdrawn")
    assert failed[2]
    assert_failed(dock, "OfferWithdrawn")
    dock.wait_until_gone(path)
    assert_nothing_more(origin, target, dock, ["WillContinueActivity", "DidFailToContinueActivity"])
    ends = ("ContinueFinished", "InterfacesRemoved")
    finished = [event.member for event in dock.events if event.path == path and event.member in ends]
    assert finished == ["ContinueFinished", "InterfacesRemoved"], "the outcome comes before the object goes"


def test_offer_is_withdrawn_before_the_fetch(machines: Machines) -> None:
    """The activity is invalidated while the continuation begins: the application is told that it is not coming."""
    desk, lap = machines
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    activity = origin.offer("A letter")
    path = dock.offer("A letter")
    origin.hang("WillSave")
    dock.continue_offer(path)
    target.wait_for("WillContinueActivity")
    origin.wait_for("WillSave")
    activity.invalidate()
    assert target.wait_for("DidFailToContinueActivity").arguments.unpack()[1] == f"{HANDOFF_ERROR}.OfferWithdrawn"
    assert_failed(dock, "OfferWithdrawn")
    assert_nothing_more(origin, target, dock, ["WillContinueActivity", "DidFailToContinueActivity"])


def test_switched_off_while_continuing(machines: Machines) -> None:
    """Handoff is switched off on the continuing side in the middle: Disabled, for the user and the application."""
    _desk, lap = machines
    origin, target, dock, path = begin(machines)
    origin.hang("WillSave")
    dock.continue_offer(path)
    target.wait_for("WillContinueActivity")
    origin.wait_for("WillSave")
    lap.set_enabled(False)
    assert target.wait_for("DidFailToContinueActivity").arguments.unpack()[1] == f"{HANDOFF_ERROR}.Disabled"
    assert_failed(dock, "Disabled")
    assert_nothing_more(origin, target, dock, ["WillContinueActivity", "DidFailToContinueActivity"])


def test_origin_is_gone(machines: Machines) -> None:
    """The other machine's bridge dies: the continuation fails within its deadline, and the offer goes."""
    desk, _lap = machines
    origin, target, dock, path = begin(machines)
    origin.hang("WillSave")
    dock.continue_offer(path)
    origin.wait_for("WillSave")
    desk.kill("handoff-bridge")
    _application, name, message = dock.outcome()
    assert name in (f"{HANDOFF_ERROR}.ConnectionUnavailable", f"{HANDOFF_ERROR}.OfferWithdrawn"), message
    assert target.wait_for("DidFailToContinueActivity").arguments.unpack()[1] == name
    dock.wait_until_gone(path)
    assert_nothing_more(origin, target, dock, ["WillContinueActivity", "DidFailToContinueActivity"])


@pytest.mark.parametrize("member", ["WillContinueActivity", "WillSave", "WasContinued"])
def test_missing_member_means_no_opinion(machines: Machines, member: str) -> None:
    """A member that the application does not implement means no opinion, and all goes well."""
    desk, lap = machines
    origin, target, dock = Client(desk, leave_out=(member,)), Client(lap, leave_out=(member,)), Dock(lap)
    origin.offer("A letter", UserInfo={"page": GLib.Variant("i", 1)})
    dock.continue_offer(dock.offer("A letter"))
    activity = target.wait_for("ContinueActivity").arguments.unpack()[0]
    assert activity["UserInfo"] == {"page": 1}
    assert dock.outcome() == (APPLICATION_ID, "", "")
    assert len(target.called("ContinueActivity")) == 1


def test_missing_continue_activity_means_not_handled(machines: Machines) -> None:
    """An application without ContinueActivity has not handled it, which is a failure without a document."""
    desk, lap = machines
    origin, target, dock = Client(desk), Client(lap, leave_out=("ContinueActivity",)), Dock(lap)
    origin.offer("A letter")
    dock.continue_offer(dock.offer("A letter"))
    assert_failed(dock, "ApplicationFailed")
    assert_nothing_more(origin, target, dock, ["WillContinueActivity"])


def test_missing_did_fail_is_no_fault(machines: Machines) -> None:
    """An application without DidFailToContinueActivity is not told, and the user is."""
    desk, lap = machines
    origin, target, dock = Client(desk), Client(lap, leave_out=("DidFailToContinueActivity",)), Dock(lap)
    activity = origin.offer("A letter")
    path = dock.offer("A letter")
    origin.hang("WillSave")
    dock.continue_offer(path)
    origin.wait_for("WillSave")
    activity.invalidate()
    assert_failed(dock, "OfferWithdrawn")
    origin.offer("Another")
    dock.offer("Another")


@pytest.mark.parametrize("way", ["silence", "an error", "a refused property", "another type"])
def test_save_that_fails_hands_off_the_last_state(machines: Machines, way: str) -> None:
    """WillSave that fails or takes over two seconds does not lose the activity: the last state is handed off."""
    desk, _lap = machines
    origin, target, dock, path = begin(machines, UserInfo={"last": GLib.Variant("s", "state")})
    if way == "silence":
        origin.hang("WillSave")
    elif way == "an error":
        origin.fail("WillSave", "The disk is full.")
    elif way == "a refused property":
        origin.save(UserInfo={"new": GLib.Variant("s", "x")}, WebpageURL="not a URL")
    else:
        origin.save(UserInfo={"new": GLib.Variant("s", "x")}, Title=GLib.Variant("u", 1))
    started = time.monotonic()
    dock.continue_offer(path)
    activity = target.wait_for("ContinueActivity").arguments.unpack()[0]
    assert activity["UserInfo"] == {"last": "state"}
    if way == "silence":
        assert 1.8 <= time.monotonic() - started <= 6
    assert dock.outcome() == (APPLICATION_ID, "", "")
    assert "last state" in desk.log("handoffd"), "the log says that the last state was handed off"


def test_slow_will_continue_counts_as_false(machines: Machines) -> None:
    """WillContinueActivity that is not answered within a second counts as false, and the activity comes."""
    _origin, target, dock, path = begin(machines)
    target.hang("WillContinueActivity")
    dock.continue_offer(path)
    target.wait_for("ContinueActivity")
    will, did = (target.called(member)[0].at for member in ("WillContinueActivity", "ContinueActivity"))
    assert 0.8 <= did - will <= 4
    assert dock.outcome() == (APPLICATION_ID, "", "")


def test_naming_an_application_that_can_not(machines: Machines) -> None:
    """An application that is not among Handlers is refused, before anything begins; so is a wrong option."""
    _origin, target, dock, path = begin(machines)
    with refused("InvalidArgs", containing=("com.example.other",)):
        dock.continue_offer(path, ApplicationId="com.example.other")
    with refused("InvalidArgs", containing=("ActivationToken",)):
        options = {"ActivationToken": GLib.Variant("u", 1)}
        dock.call(path, "RemoteActivity.Continue", GLib.Variant("(a{sv})", (options,)))
    # As long as the application takes to be asked, and the dock to be told, many times over.
    let_pass(0.25)
    assert not target.calls
    assert not dock.finished()


def test_joining_with_another_application(machines: Machines) -> None:
    """A Continue that names another application than the running continuation's is refused."""
    desk, lap = machines
    team = {"Team": GLib.Variant("s", "com.example")}
    origin, target, dock = Client(desk, options=team), Client(lap, options=team), Dock(lap)
    other = Client(lap, "com.example.viewer", options=team)
    origin.offer("A letter")
    path = dock.offer("A letter")
    wait(lambda: dock.offers[path]["Handlers"] == [APPLICATION_ID, "com.example.viewer"], "both, the same id first")
    target.hang("ContinueActivity")
    dock.continue_offer(path, ApplicationId=APPLICATION_ID)
    target.wait_for("ContinueActivity")
    wait(lambda: dock.offers[path]["State"] == "continuing", "the state to say so")
    with refused("InvalidArgs"):
        dock.continue_offer(path, ApplicationId="com.example.viewer")
    assert not other.calls
    assert count(dock.events, lambda event: event.member == "ContinueFinished") == 0
