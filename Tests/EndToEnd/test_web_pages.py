# SPDX-License-Identifier: LGPL-2.1-or-later
"""Web pages that are opened in the user's browser."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from gi.repository import GLib
from buses import entries, let_pass, wait
from clients import Client, Dock
from link import SOME_ID, Device, Link, offer
from support import Machine, case
from test_desktop_entries import folder, install

BROWSING = "org.example.Handoff.BrowsingWeb"
BROWSER, OTHER = "org.example.browser", "org.example.other"
PAGE = "https://www.example.com/a%20b?c=d&e=$(touch%20x)#f"
HERE = Path(__file__).parent


def install_browser(machine: Machine, name: str = BROWSER, **keys: str) -> Path:
    """A browser that writes down what it is called with, and is the default one."""
    log = machine.folder / f"{name}.opened"
    script = machine.folder / f"{name}.py"
    script.write_text(f"import json, sys\nwith open({str(log)!r}, 'a') as log:\n    print(json.dumps(sys.argv[1:]), file=log)\n")
    values = {"Exec": f"{sys.executable} {script} --new-tab %u", "MimeType": "x-scheme-handler/http;x-scheme-handler/https;",
              "Type": "Application", "Name": name} | keys
    folder(machine).mkdir(parents=True, exist_ok=True)
    text = "[Desktop Entry]\n" + "".join(f"{key}={value}\n" for key, value in values.items())
    (folder(machine) / f"{name}.desktop").write_text(text)
    choose_browser(machine, name)
    return log


def choose_browser(machine: Machine, name: str) -> None:
    """Makes this the default browser, as the settings of a desktop do."""
    Path(machine.environment["XDG_CONFIG_HOME"], "mimeapps.list").write_text(
        "[Default Applications]\n" + "".join(f"x-scheme-handler/{scheme}={name}.desktop\n" for scheme in ("http", "https")))


def opened(log: Path) -> list[list[str]]:
    """What the browser was called with so far."""
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def named(dock: Dock, title: str, name: str) -> str:
    """The offer of this title, once this application is among what can continue it."""
    path = dock.offer(title)
    wait(lambda: name in dock.offers[path]["Handlers"], f"{name} among the handlers")
    return path


def test_page_is_opened_in_the_browser(machines: tuple[Machine, Machine]) -> None:
    """No application here supports the type, but there is a web page: it is opened in the default browser, exactly as it
    was, and the origin is told that the activity was continued."""
    desk, lap = machines
    log = install_browser(lap)
    origin, dock = Client(desk), Dock(lap)
    origin.offer("A page", WebpageURL=PAGE, UserInfo={"secret": GLib.Variant("s", "x")})
    path = named(dock, "A page", BROWSER)
    assert dock.offers[path]["Handlers"] == [BROWSER]
    dock.continue_offer(path)
    assert dock.outcome() == (BROWSER, "", "")
    wait(lambda: opened(log), "the browser to be called")
    assert opened(log) == [["--new-tab", PAGE]]
    origin.wait_for("WasContinued")
    assert not (machines[1].folder / "x").exists()


def test_application_comes_first(machines: tuple[Machine, Machine]) -> None:
    """Where an application supports the type, it continues the activity, and not the browser."""
    desk, lap = machines
    log = install_browser(lap)
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    origin.offer("A page", WebpageURL=PAGE)
    path = named(dock, "A page", BROWSER)
    assert dock.offers[path]["Handlers"] == [target.application_id, BROWSER]
    dock.continue_offer(path)
    target.wait_for("ContinueActivity")
    assert dock.outcome()[0] == target.application_id
    assert not opened(log)


def test_page_of_an_offer_without_application(machines: tuple[Machine, Machine]) -> None:
    """An offer that no application here can continue is listed if it has a web page, also without a browser; continuing it
    then says what to do."""
    desk, lap = machines
    origin, dock = Client(desk), Dock(lap)
    origin.offer("A page", WebpageURL=PAGE)
    path = dock.offer("A page")
    assert dock.offers[path]["Handlers"] == []
    with pytest.raises(Exception, match="default web browser") as refusal:
        dock.continue_offer(path)
    assert refusal.value.short_name == "NoApplication"
    assert not origin.called("WillSave"), "the origin was asked for nothing"


def test_browser_that_fails(machines: tuple[Machine, Machine]) -> None:
    """A browser that cannot be started, or ends at once with an error, is a failure that says so; the origin is not told
    that it was continued."""
    desk, lap = machines
    install_browser(lap, Exec="/nonexistent/browser %u")
    origin, dock = Client(desk), Dock(lap)
    origin.offer("A page", WebpageURL=PAGE)
    dock.continue_offer(dock.offer("A page"))
    _application, error, message = wait(dock.finished, "the outcome")[0]
    assert error.rpartition(".")[2] in ("ApplicationFailed", "NoApplication") and message
    # As long as the origin takes to be told.
    let_pass(0.3)
    assert not origin.called("WasContinued")


def test_default_browser_gets_the_activity(machines: tuple[Machine, Machine]) -> None:
    """A browser that declares BrowsingWeb and is the default one gets the activity itself, whatever its team: its type, its
    page and its state. One that is not the default gets nothing."""
    desk, lap = machines
    log = install_browser(lap)
    origin, dock = Client(desk, OTHER, (BROWSING,)), Dock(lap)
    stranger, browser = Client(lap, "net.example.stranger", (BROWSING,)), Client(lap, BROWSER, (BROWSING,))
    origin.offer("A page", WebpageURL=PAGE, UserInfo={"scroll": GLib.Variant("u", 7)})
    path = named(dock, "A page", BROWSER)
    assert dock.offers[path]["Handlers"] == [BROWSER]
    dock.continue_offer(path)
    arrived = entries(browser.wait_for("ContinueActivity").arguments.get_child_value(0))
    assert arrived["ActivityType"].unpack() == BROWSING and arrived["WebpageURL"].unpack() == PAGE
    assert arrived["UserInfo"].unpack() == {"scroll": 7}
    assert dock.outcome() == (BROWSER, "", "")
    assert not opened(log) and not stranger.calls


def test_another_default_browser(machines: tuple[Machine, Machine]) -> None:
    """When the user chooses another default browser, that one continues."""
    desk, lap = machines
    install_browser(lap)
    log = install_browser(lap, OTHER)
    choose_browser(lap, BROWSER)
    origin, dock = Client(desk), Dock(lap)
    origin.offer("A page", WebpageURL=PAGE)
    path = named(dock, "A page", BROWSER)
    choose_browser(lap, OTHER)
    wait(lambda: dock.offers[path]["Handlers"] == [OTHER], "the other browser")
    dock.continue_offer(path)
    assert dock.outcome() == (OTHER, "", "")
    wait(lambda: opened(log) == [["--new-tab", PAGE]], "the page to be opened")


def hostile_link(machine: Machine, page: str, host: str) -> Link:
    """A peer that offers a page of this host, and then sends this address."""
    link = Device().paired_link_to(machine)
    offer_page(link, page, host)
    return link


def offer_page(link: Link, page: str, host: str) -> None:
    """Offers a page of this host, and sends this address when it is asked."""
    link.answers["Fetch"] = GLib.Variant("(a{sv})", ({
        "ActivityType": GLib.Variant("s", "com.example.editor.edit"), "ApplicationId": GLib.Variant("s", "com.example.editor"),
        "Title": GLib.Variant("s", "From afar"), "Revision": GLib.Variant("t", 1), "WebpageURL": GLib.Variant("s", page)},))
    link.call("Peer.Offer", offer(SOME_ID, WebpageHost=GLib.Variant("s", host)))


NOT_OPENED = [
    "file:///etc/passwd", "javascript:alert(1)", "data:text/html,x", "--help", "ftp://www.example.com/", "www.example.com",
    "ssh://www.example.com/", "https:www.example.com", "http://", "https://www.example.com/ --incognito",
    "https://www.example.com/\nX", "vbscript:x", "about:config", "view-source:https://www.example.com/",
    "https://other.example/"]


def test_only_web_pages_are_opened(machine: Machine) -> None:
    """Only absolute http and https addresses of the offered host are ever opened, whatever a peer sends."""
    log = install_browser(machine)
    dock = Dock(machine)
    link = Device().paired_link_to(machine)
    for number, page in enumerate(NOT_OPENED, 1):
        with case(page):
            offer_page(link, page, "www.example.com")
            dock.continue_offer(named(dock, "From afar", BROWSER))
            wait(lambda: link.read_messages() is not None and len(dock.finished()) == number, "the outcome")
            assert len(link.calls("Fetch")) == number, "it was refused before it was there"
            assert dock.finished()[-1][1], "it was opened"
    # As long as a browser takes to be called.
    let_pass(0.3)
    assert not opened(log)


def test_address_with_user_info_is_opened(machine: Machine) -> None:
    """An address with a user or a port is opened in the browser like any other."""
    log = install_browser(machine)
    dock = Dock(machine)
    page = "http://me@www.example.com:8080/?q=1"
    link = hostile_link(machine, page, "www.example.com")
    path = named(dock, "From afar", BROWSER)
    dock.continue_offer(path)
    wait(lambda: link.read_messages() is not None and opened(log), "the browser to be called")
    assert opened(log) == [["--new-tab", page]]


def test_offers_open_nothing(machine: Machine) -> None:
    """Offers of a peer that come and go open no page: only the user's Continue does."""
    log = install_browser(machine)
    dock = Dock(machine)
    link = hostile_link(machine, "https://www.example.com/", "www.example.com")
    named(dock, "From afar", BROWSER)
    for number in range(20):
        changed = offer(SOME_ID, WebpageHost=GLib.Variant("s", "www.example.com"), Revision=GLib.Variant("t", number + 2))
        link.call("Peer.Offer", changed)
    link.call("Peer.Withdraw", GLib.Variant("(s)", (SOME_ID,)))
    # As long as a browser takes to be called.
    let_pass(0.3)
    assert not opened(log) and not link.calls("Fetch")
