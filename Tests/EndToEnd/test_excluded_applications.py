# SPDX-License-Identifier: LGPL-2.1-or-later
"""Applications that the user keeps out of Handoff: they register as ever, and nothing goes to peers or comes from them."""

from __future__ import annotations

import json

import pytest
from gi.repository import GLib
from buses import ROOT, let_pass, wait
from choices import choose, exclude, hidden, restarted
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
    assert f"of {OTHER_ID}. It is not offered: The user has excluded its application." in line
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
