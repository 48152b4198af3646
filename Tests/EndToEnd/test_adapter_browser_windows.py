# SPDX-License-Identifier: LGPL-2.1-or-later
"""All tabs of a browser's window are open for another device, and go on there as a window."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from gi.repository import GLib
from buses import ROOT, let_pass, wait
from choices import exclude
from clients import Client, Dock
from everything import INTERVAL, list_open, title
from running_browsers import PATIENCE, RunningBrowser, Site, running
from support import Machine
from test_adapter_browser_host import STARTED_FOR as HOST_ARGUMENTS, PAGE, TEAM, handled, host
from test_adapter_browser_started import CATCHER, install_catcher
from test_web_pages import install_browser, opened

Machines = tuple[Machine, Machine]
WINDOW = "org.example.Handoff.BrowsingWindow"
# The tabs of a window, as the add-on tells them, and one that stays whoever tells it.
TABS = [
    {"url": f"{PAGE}/1", "title": "One", "pinned": True, "front": False},
    {"url": f"{PAGE}/2", "title": "Two", "pinned": False, "front": True},
    {"url": "https://user@example.com/", "title": "Stays", "pinned": False, "front": False},
    {"url": f"{PAGE}/3", "title": "Three", "pinned": False, "front": False},
]
FIT = [tab for tab in TABS if tab["title"] != "Stays"]
TITLE = "Two and 2 more tabs"


def listing(here: Machine, there: Machine) -> dict[str, str]:
    """What is open at another device: the objects by their titles."""
    return {title(here.session, path): path for path in list_open(here.session, there.device_id)}


def listed(here: Machine, there: Machine, *titles: str) -> None:
    """Waits until this is open at another device, and nothing else."""
    wait(lambda: listing(here, there).keys() == set(titles) or let_pass(INTERVAL), f"{titles} to be open", PATIENCE)


def state(tabs: list[dict[str, Any]]) -> dict[str, GLib.Variant]:
    """The UserInfo of a window."""
    types = {"url": "s", "title": "s", "pinned": "b", "front": "b"}
    sent = [{name.capitalize(): GLib.Variant(types[name], value) for name, value in tab.items()} for tab in tabs]
    return {"Tabs": GLib.Variant("aa{sv}", sent)}


def test_window_is_open(machines: Machines) -> None:
    """The tabs of the window in front of a browser are listed for a peer as one activity, which is never offered, nor what was
    left last, and goes on with all of them. It is over when there are no two tabs, or when the browser is kept out."""
    desk, lap = machines
    with host(desk) as browser, host(lap) as other:
        dock = Dock(lap)
        browser.send("window", tabs=TABS)
        browser.show("Two", f"{PAGE}/2")
        dock.offer("Two")
        listed(lap, desk, "Two", TITLE)
        assert TITLE not in str(dock.events) and dock.titles == ["Two"]
        dock.continue_offer(listing(lap, desk)[TITLE])
        asked = other.asked("openWindow")
        assert asked["tabs"] == FIT
        other.send("answer", id=asked["id"], done=True)
        assert dock.outcome()[1:] == ("", "")
        assert not [one for one in browser.received if one["message"] == "save"]
        browser.show("Two", f"{PAGE}/2", focus=False)
        left = wait(lambda: desk.session.get(ROOT, "Manager.LeftActivity").strip("/"), "what was left")
        assert desk.session.get(f"/{left}", "Activity.Title") == "Two"
        # The window is used later than the page, and is not what was left even when nothing else is there.
        browser.send("window", tabs=TABS[:2])
        browser.send(page=None, focus=True)
        listed(lap, desk, "Two and 1 more tab")
        assert desk.session.get(ROOT, "Manager.LeftActivity") == "/"
        browser.send("window", tabs=TABS[1:3])
        listed(lap, desk)
        browser.send("window", tabs=TABS)
        browser.show("Two", f"{PAGE}/2")
        name = dock.offers[dock.offer("Two")]["ApplicationId"]
        listed(lap, desk, "Two", TITLE)
        exclude(desk, name)
        browser.stands("excluded")
        browser.send("window", tabs=TABS)
        listed(lap, desk)
        exclude(desk)
        browser.stands("ready")
        browser.send("window", tabs=TABS)
        listed(lap, desk, TITLE)


def test_window_that_a_peer_sends(machines: Machines) -> None:
    """Of a window that a peer sends no more is opened than fifty http and https pages without user info, one of them in
    front; if there is none, nothing is. If the page in front is of another host than the user saw, the page that they saw
    is opened alone."""
    desk, lap = machines
    origin = Client(desk, "com.example.origin", (WINDOW,), options=TEAM)
    with host(lap) as browser:
        dock = Dock(lap)
        bad = [{"url": address, "front": True} for address in ("file:///etc/passwd", "javascript:alert(1)", "")]
        origin.offer("Bad", UserInfo=state(bad))
        dock.continue_offer(handled(dock, "Bad"))
        wait(lambda: len(dock.finished()) == 1, "a refusal")
        assert dock.finished()[0][1].endswith("ApplicationFailed")
        many = [{"url": f"{PAGE}/{number}", "front": number in (70, 80)} for number in range(100)]
        origin.offer("Many", UserInfo=state(bad + many))
        dock.continue_offer(handled(dock, "Many"))
        tabs = browser.asked("openWindow")["tabs"]
        assert [tab["url"] for tab in tabs] == [f"{PAGE}/{number}" for number in range(45, 95)]
        assert [tab["url"] for tab in tabs if tab["front"]] == [f"{PAGE}/70"]
        browser.send("answer", id=browser.asked("openWindow")["id"], done=False)
        wait(lambda: len(dock.finished()) == 2, "the failure")
        assert "did not open the page" in dock.finished()[1][2]
        origin.offer("Odd", UserInfo={"Tabs": GLib.Variant("s", "x")}, WebpageURL=PAGE)
        dock.continue_offer(handled(dock, "Odd"))
        assert browser.asked("open")["url"] == PAGE
        browser.send("answer", id=browser.asked("open")["id"], done=True)
        # The page in front is of another host than the one that is told of it.
        elsewhere = [{"url": "https://elsewhere.example/", "front": True}, {"url": f"{PAGE}/1"}]
        origin.offer("Elsewhere", UserInfo=state(elsewhere), WebpageURL=f"{PAGE}/2")
        dock.continue_offer(handled(dock, "Elsewhere"))
        wait(lambda: [one["url"] for one in browser.received if one["message"] == "open"][1:] == [f"{PAGE}/2"], "the page alone")
        assert len([one for one in browser.received if one["message"] == "openWindow"]) == 1


def test_window_waits_for_the_browser(machines: Machines) -> None:
    """Where no browser with the add-on runs, the default one is started with the page in front of a window, and its add-on is
    told of all tabs."""
    desk, lap = machines
    install_catcher(lap)
    log = install_browser(lap)
    origin, dock = Client(desk, "com.example.origin", (WINDOW,), options=TEAM), Dock(lap)
    origin.offer("A window", WebpageURL=f"{PAGE}/2", UserInfo=state(TABS))
    path = dock.offer("A window")
    wait(lambda: dock.offers[path]["Handlers"][:1] == [CATCHER], "the adapter to be known")
    dock.continue_offer(path)
    assert dock.outcome() == (CATCHER, "", "")
    assert opened(log) == [["--new-tab", f"{PAGE}/2"]]
    with host(lap, *HOST_ARGUMENTS) as browser:
        told = browser.asked("place")
        assert told["url"] == f"{PAGE}/2" and told["tabs"] == FIT


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    yield site
    site.close()


# Each tab as what it stands for, of each window, as one of the add-on's own pages sees them.
ALL_TABS = """(async () => {
    const api = globalThis.browser ?? globalThis.chrome;
    const [{meant}, base] = [await import(api.runtime.getURL('windows.js')), api.runtime.getURL('waiting.html')];
    const windows = await api.windows.getAll({populate: true});
    return JSON.stringify(windows.map(window => window.tabs.map(tab => meant(base, tab))
        .map(({url, title, pinned, active}) => [url, title, pinned, active])));
})()"""
# Opens tabs in the window of that page, in this order.
OPEN_TABS = """(async () => {
    for (const [url, pinned, active] of TABS)
        await (globalThis.browser ?? globalThis.chrome).tabs.create({url, pinned, active});
    return true;
})()"""
# Turns to the tab that stands for this page, in the window that was opened last.
TURN_TO = """(async () => {
    const api = globalThis.browser ?? globalThis.chrome;
    const [{meant}, base] = [await import(api.runtime.getURL('windows.js')), api.runtime.getURL('waiting.html')];
    const found = (await api.tabs.query({})).find(tab => meant(base, tab).url === URL_OF_PAGE);
    await api.tabs.update(found.id, {active: true});
    return true;
})()"""


def windows(browser: RunningBrowser) -> list[list[list[Any]]]:
    return json.loads(browser.evaluate(ALL_TABS, "options.html"))


@pytest.mark.desktop
@pytest.mark.parametrize("program", ["chromium", "firefox-esr"])
def test_window_goes_on(machines: Machines, site: Site, program: str) -> None:
    """All tabs of a browser's window but those of excluded sites are listed at another device, and go on in a window there, in
    their order and pinned as they were; private windows are not told. Only the page in front is loaded, and each other one
    when its user turns to it."""
    desk, lap = machines
    excluded = site.address.replace("127.0.0.1", "localhost")
    with running(desk, program, f"{site.address}/start") as first, running(lap, program, f"{site.address}/there") as second:
        dock = Dock(lap)
        first.open(f"{site.address}/private", private=True)
        first.choose("const sites = document.querySelector('#sites'); sites.value = 'localhost';"
                     "sites.dispatchEvent(new Event('change')); true")
        pages = [(f"{site.address}/one", True, False), (f"{site.address}/two", False, False),
                 (f"{excluded}/excluded", False, False), (f"{site.address}/three", False, True)]
        assert first.evaluate(OPEN_TABS.replace("TABS", json.dumps(pages)), "options.html") is True
        name = "Page three and 3 more tabs"
        path = wait(lambda: listing(lap, desk).get(name) or let_pass(INTERVAL), "the window to be open", PATIENCE)
        wait(lambda: {"/one", "/two", "/excluded", "/three"} <= set(site.requests), "all pages", PATIENCE)
        assert "more tabs" not in str(dock.events)
        second.open(second.options_page())
        wait(lambda: program in lap.session.get(path, "RemoteActivity.Handlers"), "the other browser", PATIENCE)
        before = len(site.requests)

        def asked() -> list[str]:
            return [request for request in site.requests[before:] if request != "/favicon.ico"]

        dock.continue_offer(path)
        assert dock.outcome(PATIENCE) == (program, "", "")
        expected = [[f"{site.address}/{page}", f"Page {page}", page == "one", page == "three"]
                    for page in ("one", "start", "two", "three")]
        wait(lambda: expected in windows(second), "the tabs", PATIENCE)
        # The window that has come is one that can go back, though most of it is not loaded.
        wait(lambda: name in listing(desk, lap) or let_pass(INTERVAL), "the window to be open here", PATIENCE)
        assert asked() == ["/three"]
        turn = TURN_TO.replace("URL_OF_PAGE", json.dumps(f"{site.address}/two"))
        assert second.evaluate(turn, "options.html") is True
        wait(lambda: asked() == ["/three", "/two"], "the page that its user has turned to", PATIENCE)
        expected = [[*tab[:3], tab[0].endswith("/two")] for tab in expected]
        wait(lambda: expected in windows(second), "that page in its tab", PATIENCE)
