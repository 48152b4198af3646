# SPDX-License-Identifier: LGPL-2.1-or-later
"""Applications that the user keeps out of Handoff: they register as ever, and nothing goes to peers or comes from them."""

from __future__ import annotations

import json
import time

import pytest
from gi.repository import GLib
from buses import ROOT, let_pass, wait
from choices import choose, chosen, file, hidden, restarted
from clients import ACTIVITY_TYPE, APPLICATION_ID, CROSSING, Client, Dock
from sandbox import Sandbox
from streams import Continuation
from support import Machine, refused
from test_desktop_entries import install
from test_sandbox import TYPE, sandbox  # noqa: F401
from test_streams import break_streams
from test_web_pages import BROWSING, install_browser, named, opened

Machines = tuple[Machine, Machine]
OTHER_ID = "com.example.other"
# Within which a change is seen on the other machine: a moment, where much runs beside it.
MOMENT = 2.0


def exclude(machine: Machine, *names: str) -> None:
    choose(machine, "ExcludedApplications", GLib.Variant("as", names))


def test_offer_is_withdrawn_and_comes_back(machines: Machines) -> None:
    """When the user excludes an application, its activity is withdrawn from peers within a moment and stays current here;
    whatever the application does, nothing is offered until the user lets it in again, which takes it as little."""
    desk, lap = machines
    Client(lap)
    dock, origin = Dock(lap), Client(desk)
    activity = origin.offer("A letter")
    path = dock.offer("A letter")
    begin = time.monotonic()
    exclude(desk, APPLICATION_ID)
    dock.wait_until_gone(path)
    assert time.monotonic() - begin < MOMENT
    assert activity.get("Current") is True
    activity.update(Title="Changed", UserInfo={"page": GLib.Variant("u", 2)})
    origin.offer("Another").resign_current()
    second = Client(desk)
    second.offer("Of a new connection").resign_current()
    origin.register()
    activity.become_current()
    let_pass(CROSSING)
    assert dock.titles == []
    calls = len(origin.calls)
    begin = time.monotonic()
    exclude(desk)
    path = dock.offer("Changed", MOMENT)
    assert len([call for call in origin.calls[calls:] if call.member != "WillSave"]) == 0
    dock.continue_offer(path)
    assert dock.outcome()[1:] == ("", "")
    origin.wait_for("WasContinued")


def test_others_are_not_concerned(machines: Machines) -> None:
    """Excluding an application concerns no other: what another one has current stays offered, and is continued."""
    desk, lap = machines
    target, dock = Client(lap, OTHER_ID, types=(ACTIVITY_TYPE,)), Dock(lap)
    origin = Client(desk, OTHER_ID, types=(ACTIVITY_TYPE,))
    origin.offer("A letter")
    path = dock.offer("A letter")
    exclude(desk, APPLICATION_ID, OTHER_ID + "x", "com.example")
    exclude(lap, APPLICATION_ID)
    let_pass(CROSSING)
    assert path in dock.offers
    dock.continue_offer(path)
    assert dock.outcome() == (OTHER_ID, "", "")
    target.wait_for("ContinueActivity")


def test_no_handler(machines: Machines) -> None:
    """An excluded application is no handler of an offer, running or installed; if it was the only one the offer is hidden,
    and the reason names it and says what to do. Let in again it is one at once."""
    desk, lap = machines
    team = {"Team": GLib.Variant("s", "com.example")}
    Client(desk, options=team).offer("A letter")
    target = Client(lap, options=team)
    Client(lap, OTHER_ID, types=(ACTIVITY_TYPE,), options=team)
    dock = Dock(lap)
    path = dock.offer("A letter")
    wait(lambda: dock.offers[path]["Handlers"] == [APPLICATION_ID, OTHER_ID], "both")
    exclude(lap, APPLICATION_ID)
    wait(lambda: dock.offers[path]["Handlers"] == [OTHER_ID], "only the other one")
    with refused("NoApplication", containing=(APPLICATION_ID, "excluded", "settings")):
        dock.continue_offer(path, ApplicationId=APPLICATION_ID)
    exclude(lap, APPLICATION_ID, OTHER_ID)
    dock.wait_until_gone(path)
    (offer,) = hidden(lap)
    assert APPLICATION_ID in offer["Reason"] and "ExcludedApplications" in offer["Reason"]
    status = lap.run("handoff", "status")
    assert "excluded" in status.stdout and APPLICATION_ID in status.stdout
    choose(lap, "ShowUnhandledOffers", GLib.Variant("b", True))
    with refused("NoApplication", containing=(APPLICATION_ID, "excluded")):
        dock.continue_offer(dock.offer("A letter"))
    exclude(lap)
    wait(lambda: dock.offers[path]["Handlers"] == [APPLICATION_ID, OTHER_ID], "both again")
    dock.continue_offer(path)
    assert dock.outcome() == (APPLICATION_ID, "", "")
    target.wait_for("ContinueActivity")


def test_status_is_silent_about_what_stops_nothing(machines: Machines) -> None:
    """`handoff status` says nothing of excluded applications as long as nothing is kept from working by that; when the
    current activity is of one, it says that it is not offered, and why."""
    desk, lap = machines
    exclude(lap, OTHER_ID)
    exclude(desk, OTHER_ID)
    Client(lap)
    dock = Dock(lap)
    Client(desk).offer("A letter")
    dock.offer("A letter")
    for machine in machines:
        assert "xclude" not in machine.run("handoff", "status").stdout
    Client(desk, OTHER_ID).offer("Another")
    (line,) = [line for line in desk.run("handoff", "status").stdout.splitlines() if line.startswith("Current ")]
    assert line.endswith(f"of {OTHER_ID}, which is excluded (ExcludedApplications): not offered")
    assert json.loads(desk.run("handoff", "status", "--json").stdout)["broker"]["current"]["excluded"] is True


def test_application_that_is_not_started(machines: Machines) -> None:
    """An excluded application that is installed is not started, and comes back as a handler when it is let in."""
    desk, lap = machines
    install(lap, APPLICATION_ID, Exec="/bin/false", ActivityTypes=ACTIVITY_TYPE)
    exclude(lap, APPLICATION_ID)
    Client(desk).offer("A letter")
    wait(lambda: hidden(lap) and "excluded" in hidden(lap)[0]["Reason"], "a hidden offer")
    dock = Dock(lap)
    exclude(lap)
    path = dock.offer("A letter")
    assert dock.offers[path]["HandlersToStart"] == [APPLICATION_ID]


@pytest.mark.parametrize("member", ["WillContinueActivity", "WillSave"])
def test_continuation_that_is_under_way(machines: Machines, member: str) -> None:
    """A continuation to an application that is excluded before it has been handed the activity fails and says why; the
    application is told, and the user gets one outcome."""
    desk, lap = machines
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    (target if member == "WillContinueActivity" else origin).hang(member)
    activity = origin.offer("A letter", NeedsSave=True)
    path = dock.offer("A letter")
    dock.continue_offer(path)
    (target if member == "WillContinueActivity" else origin).wait_for(member)
    target.wait_for("WillContinueActivity")
    exclude(lap, APPLICATION_ID)
    application, error, message = dock.outcome()
    assert application == APPLICATION_ID and error.endswith("NoApplication") and "excluded" in message
    target.wait_for("DidFailToContinueActivity")
    assert not target.called("ContinueActivity")
    dock.wait_until_gone(path)
    # As long as another outcome would take, many times over.
    let_pass(0.2)
    assert len(dock.finished()) == 1 and not target.called("ContinueActivity")
    activity.invalidate()


def test_activity_that_is_being_handed_over(machines: Machines) -> None:
    """An application that is excluded while it is being handed the activity: its answer is the outcome, it is told of no
    failure, and it opens no stream afterwards."""
    desk, lap = machines
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    target.hang("ContinueActivity")
    origin.offer("A letter", SupportsContinuationStreams=True)
    dock.continue_offer(dock.offer("A letter"))
    call = target.wait_for("ContinueActivity")
    exclude(lap, APPLICATION_ID)
    target.unanswered.pop().return_value(GLib.Variant("(b)", (True,)))
    assert dock.outcome() == (APPLICATION_ID, "", "")
    assert not target.called("DidFailToContinueActivity")
    with refused("UnknownObject", "UnknownMethod"):
        target.call(call.arguments.unpack()[1]["Continuation"], "Continuation.OpenStream")
    origin.wait_for("WasContinued")


@pytest.mark.parametrize("side", [0, 1], ids=["at the origin", "where it goes on"])
def test_streams_end(machines: Machines, side: int) -> None:
    """The streams of a continuation break on both sides within two seconds when the user of either excludes its
    application there."""
    continuation = Continuation(*machines)
    assert break_streams(continuation, lambda: exclude(machines[side], APPLICATION_ID)) == [True] * 4


def test_excluded_browser(machines: Machines) -> None:
    """A browser that is excluded is not given the pages of offers, even if it is the default one; let in, it is at once."""
    desk, lap = machines
    log = install_browser(lap)
    origin = Client(desk, "com.example.browser", types=(BROWSING,))
    origin.create(BROWSING, Title="A page", WebpageURL="https://www.example.com/a").become_current()
    dock = Dock(lap)
    path = named(dock, "A page", "org.example.browser")
    exclude(lap, "org.example.browser")
    dock.wait_until_gone(path)
    assert "org.example.browser is excluded" in hidden(lap)[0]["Reason"]
    # Which browser is the default is not known to a broker that has just started.
    choose(lap, "ShowUnhandledOffers", GLib.Variant("b", True))
    restarted(lap)
    dock.follow()
    with refused("NoApplication", containing=("org.example.browser", "excluded")):
        dock.continue_offer(dock.offer("A page"))
    assert opened(log) == []
    exclude(lap)
    dock.continue_offer(named(dock, "A page", "org.example.browser"))
    wait(lambda: opened(log), "the browser")


def test_sandboxed_application_does_not_escape(machines: Machines, sandbox: Sandbox) -> None:  # noqa: F811
    """A sandboxed application that is excluded is kept out whatever it registers, and does not learn that it is."""
    desk, lap = machines
    exclude(desk, APPLICATION_ID)
    dock = Dock(lap)
    Client(lap, types=(TYPE,))
    boxed = Client(sandbox, types=())
    with refused("AccessDenied"):
        Client(sandbox, OTHER_ID, types=())
    activity = boxed.create(TYPE, Title="From the box")
    activity.become_current()
    assert activity.get("Current") is True
    with refused("UnknownObject", "UnknownInterface"):
        boxed.get(ROOT, "Preferences.ExcludedApplications")
    let_pass(CROSSING)
    assert dock.titles == []
    exclude(desk)
    dock.offer("From the box")


def test_restart(machines: Machines) -> None:
    """What is excluded stays so over a restart of the broker, also if it is killed, and counts before anything is
    offered."""
    desk, lap = machines
    Client(lap)
    dock = Dock(lap)
    exclude(desk, APPLICATION_ID)
    for _ in range(3):
        restarted(desk)
        assert chosen(desk)["ExcludedApplications"] == [APPLICATION_ID]
        Client(desk).offer("A letter")
        Client(desk, OTHER_ID).offer("Another")
        # As long as the bridge may hold an offer back (Deadline.offerInterval); all three rounds are what CROSSING is.
        let_pass(0.1)
    assert "A letter" not in {event.arguments.unpack()[1].get("org.example.Handoff.RemoteActivity", {}).get("Title")
                              for event in dock.events if event.member == "InterfacesAdded"}
    text = file(desk).read_text()
    assert f"ExcludedApplications={APPLICATION_ID};" in text
    file(desk).write_text(text.replace(f"ExcludedApplications={APPLICATION_ID};", ""))
    restarted(desk)
    Client(desk).offer("A letter")
    dock.offer("A letter")
