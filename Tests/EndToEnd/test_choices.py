# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which application continues: what the user's desktop opens things with, and what the user has chosen once and for all."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from gi.repository import GLib
from buses import let_pass, wait
from choices import chosen
from clients import Client, Dock
from support import Machine
from test_desktop_entries import install
from test_starting import NAME, TYPE, application, offered, told

Machines = tuple[Machine, Machine]
BROWSING = "org.example.Handoff.BrowsingWeb"
BROWSER = "com.example.browser"


def browsing(desk: Machine, title: str = "A page") -> Client:
    """A browser on this machine whose page is offered."""
    origin = Client(desk, application_id="com.example.otherbrowser", types=(BROWSING,))
    origin.create(BROWSING, Title=title, WebpageURL="https://example.com/a").become_current()
    return origin


def prefer(machine: Machine, browser: str) -> None:
    """Makes this the browser of the user."""
    folder = Path(machine.environment["XDG_CONFIG_HOME"])
    (folder / "new").write_text(f"[Default Applications]\nx-scheme-handler/https={browser}.desktop;\n")
    (folder / "new").rename(folder / "mimeapps.list")


@pytest.mark.parametrize("runs", [True, False])
def test_the_default_browser_gets_the_activity_itself(machines: Machines, runs: bool) -> None:
    """The user's default browser is handed the activity of a page if it declares that, whoever made it and whether it runs or
    not."""
    desk, lap = machines
    command, result = application(lap, BROWSER, BROWSING)
    install(lap, BROWSER, Exec=f"{command} %u", **({} if runs else {"ActivityTypes": BROWSING}))
    prefer(lap, BROWSER)
    target = Client(lap, application_id=BROWSER, types=(BROWSING,)) if runs else None
    dock, _origin = Dock(lap), browsing(desk)
    path = dock.offer("A page")
    wait(lambda: dock.offers[path]["Handlers"] == [BROWSER], "the default browser")
    wait(lambda: dock.offers[path]["HandlersToStart"] == ([] if runs else [BROWSER]), "what has to be started")
    dock.continue_offer(path)
    assert dock.outcome() == (BROWSER, "", "")
    if target:
        assert target.calls[-1].arguments.unpack()[0]["WebpageURL"] == "https://example.com/a"
    else:
        assert told(result)["activity"]["WebpageURL"] == "https://example.com/a"


def test_another_default_counts_at_once(machines: Machines) -> None:
    """When the user chooses another browser, or takes it away, that counts at once; one that is not installed does not."""
    desk, lap = machines
    for name in ("com.example.one", "com.example.two"):
        install(lap, name, Exec="true %u")
    prefer(lap, "com.example.one")
    dock, _origin = Dock(lap), browsing(desk)
    path = dock.offer("A page")
    handlers = lambda: dock.offers[path]["Handlers"]  # noqa: E731
    wait(lambda: handlers() == ["com.example.one"], "the first")
    prefer(lap, "com.example.two")
    wait(lambda: handlers() == ["com.example.two"], "the second")
    (Path(lap.environment["XDG_DATA_HOME"]) / "applications" / "com.example.two.desktop").unlink()
    wait(lambda: handlers() == [], "none")
    prefer(lap, "../../evil.desktop;com.example.one")
    wait(lambda: handlers() == ["com.example.one"], "the first again")


@pytest.mark.parametrize("harm", ["fifo", "huge", "binary", "entry"])
def test_a_hostile_list_of_defaults_stops_nobody(machines: Machines, harm: str) -> None:
    """A list of default applications, or a default's desktop entry, that is not what it should be counts for nothing, and
    stops nobody."""
    desk, lap = machines
    place = Path(lap.environment["XDG_CONFIG_HOME"]) / "mimeapps.list"
    if harm == "fifo":
        os.mkfifo(place)
    elif harm == "entry":
        folder = Path(lap.environment["XDG_DATA_HOME"]) / "applications"
        folder.mkdir(parents=True)
        os.mkfifo(folder / "com.example.fifo.desktop")
        prefer(lap, "com.example.fifo")
    else:
        place.write_bytes(b"[Default Applications]\n" + (b"\0\xff" if harm == "binary" else b"#" * (2 << 20)))
    dock, _origin = Dock(lap), browsing(desk)
    path = dock.offer("A page")
    # Longer than between two readings of a list of defaults (DefaultLookups.shortestRest, 0.2 s).
    let_pass(0.4)
    assert dock.offers[path]["Handlers"] == []
    if harm != "entry":
        place.unlink()
    install(lap, BROWSER, Exec="true %u")
    prefer(lap, BROWSER)
    wait(lambda: dock.offers[path]["Handlers"] == [BROWSER], "the browser")


def test_nothing_is_looked_up_without_need(machines: Machines) -> None:
    """Without an offer of a page or document nobody asks what opens such things."""
    desk, lap = machines
    prefer(lap, BROWSER)
    install(lap, BROWSER, Exec="true %u")
    dock, origin, _target = Dock(lap), Client(desk), Client(lap)
    origin.offer("A letter")
    dock.offer("A letter")
    inotify = lambda: count_inotify(lap)  # noqa: E731
    before = inotify()
    _other = browsing(desk)
    path = dock.offer("A page")
    wait(lambda: dock.offers[path]["Handlers"] == [BROWSER], "the browser")
    assert inotify() == before + 1


def count_inotify(machine: Machine) -> int:
    folder = Path(f"/proc/{machine.processes['handoffd'].pid}/fd")
    return sum(os.readlink(link) == "anon_inode:inotify" for link in folder.iterdir())


def remember(dock: Dock, path: str, name: str | None) -> None:
    options = {"Remember": GLib.Variant("b", True)}
    if name:
        options["ApplicationId"] = GLib.Variant("s", name)
    dock.call(path, "RemoteActivity.Continue", GLib.Variant("(a{sv})", (options,)))


def test_list_shows_what_has_to_be_started(machines: Machines) -> None:
    """`handoff list` says in which application each offer would be continued, and whether that has to be started;
    `handoff continue --remember` remembers the application."""
    lap = machines[1]
    dock, path = offered(machines, "sleep 5")
    wait(lambda: dock.offers[path]["Handlers"] == [NAME], "the handler")
    assert f"{NAME} (not running)" in lap.run("handoff", "list").stdout
    (entry,) = json.loads(lap.run("handoff", "list", "--json").stdout)
    assert entry["handlers"] == entry["handlersToStart"] == [NAME]
    client = Client(lap, application_id=NAME, types=(TYPE,))
    wait(lambda: dock.offers[path]["HandlersToStart"] == [], "it to run")
    assert "(not running)" not in lap.run("handoff", "list").stdout
    done = lap.run("handoff", "continue", "--remember", entry["activityId"])
    assert done.returncode == 2 and "--app" in done.stderr
    done = lap.run("handoff", "continue", "--app", NAME, "--remember", entry["activityId"])
    assert done.returncode == 0 and client.called("ContinueActivity"), done.stderr
    assert chosen(lap)["Applications"] == {TYPE: NAME}
