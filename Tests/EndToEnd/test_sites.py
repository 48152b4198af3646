# SPDX-License-Identifier: LGPL-2.1-or-later
"""Web pages that go to applications, because their sites say so, and when sites are asked."""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path

import pytest
from gi.repository import GLib
from buses import ACTIVITY_PROPERTIES, entries, let_pass, wait
from claims import (BROWSER, BROWSING, HOST, NAME, PAGE, SHOP, TEAM, browse, claim, handlers, helpers,
                    wait_for_answer)
from clients import Client, Dock
from sites import ROOT_PLACE, WELL_KNOWN, Web, WebMachine, apps, response, silent
from support import Machine
from test_announcements import fake_clock
from test_desktop_entries import STARTED, install
from test_web_pages import install_browser, named, opened

# As long as the program that asks sites takes to be started and to ask one.
ASKING = 0.5
# Longer than a broker whose clock was set takes to notice (clock.c, 1 s), and asking a site.
NOTICING = 1.3


# What an application gets


def test_page_goes_to_the_application(lap: WebMachine, desk: Machine, web: Web) -> None:
    """A page in the browser of one machine goes on in the application of another that its site approves of: with the type
    BrowsingWeb, the page's address, an empty UserInfo, and nothing else that is the browser's."""
    web.site(HOST, response(apps(NAME)))
    claim(lap, HOST)
    wait_for_answer(lap)
    shop, dock = Client(lap, SHOP, ()), Dock(lap)
    browser = browse(desk, ReferrerURL="https://elsewhere.example.net/", Keywords=["private"],
                     SupportsContinuationStreams=True)
    path = dock.offer("A cart")
    assert dock.offers[path]["Handlers"] == [SHOP]
    dock.continue_offer(path)
    call = shop.wait_for("ContinueActivity")
    arrived = {name: value.unpack() for name, value in entries(call.arguments.get_child_value(0)).items()}
    assert arrived == {"ActivityType": BROWSING, "ApplicationId": BROWSER, "Title": "A cart", "WebpageURL": PAGE}
    assert shop.called("WillContinueActivity")[0].arguments.unpack()[0] == BROWSING
    assert dock.outcome() == (SHOP, "", "")
    browser.wait_for("WasContinued")
    assert set(arrived) <= set(ACTIVITY_PROPERTIES)


def test_document_of_a_page(lap: WebMachine, desk: Machine, web: Web) -> None:
    """If the activity has a document too, the application gets nothing of it, and it is not brought over."""
    web.site(HOST, response(apps(NAME)))
    claim(lap, HOST)
    wait_for_answer(lap)
    document = desk.folder / "private.txt"
    document.write_text("private")
    shop, dock = Client(lap, SHOP, ()), Dock(lap)
    shop.answers["ContinueActivity"] = lambda arguments: GLib.Variant("(b)", (False,))
    browse(desk, DocumentURL=document.as_uri())
    dock.continue_offer(named(dock, "A cart", SHOP))
    arrived = entries(shop.wait_for("ContinueActivity").arguments.get_child_value(0))
    assert set(arrived) == {"ActivityType", "ApplicationId", "Title", "WebpageURL"}
    assert dock.outcome()[1].endswith("ApplicationFailed"), "it has declined, and there is nothing else to open"
    assert not [path for path in lap.folder.rglob("*private*")]


def test_page_starts_the_application(lap: WebMachine, desk: Machine, web: Web) -> None:
    """An application that its site approves of need not run: it is started, and gets the page, although it declares no
    type."""
    web.site(HOST, response(apps(NAME)))
    result = lap.folder / "result"
    install(lap, SHOP, Domains=f"{HOST};", Team=TEAM, Exec=f"{sys.executable} {STARTED} {SHOP} com.example.shop.view {result}")
    wait_for_answer(lap)
    dock = Dock(lap)
    browse(desk)
    path = dock.offer("A cart")
    assert (dock.offers[path]["Handlers"], dock.offers[path]["HandlersToStart"]) == ([SHOP], [SHOP])
    dock.continue_offer(path)
    assert dock.outcome() == (SHOP, "", "")
    told = json.loads(wait(lambda: result.exists() and result.read_text(), "the activity"))
    assert told["activity"] == {"ActivityType": BROWSING, "ApplicationId": BROWSER, "Title": "A cart", "WebpageURL": PAGE}


def test_application_that_is_not_approved(lap: WebMachine, desk: Machine, web: Web) -> None:
    """Without the approval of the site there is no claim: neither for another application, nor for another team."""
    web.site(HOST, response(apps(f"{TEAM}.com.example.other", f"org.else.{SHOP}", SHOP, TEAM)))
    claim(lap, HOST)
    wait_for_answer(lap)
    Client(lap, SHOP, ())
    assert handlers(desk, lap) == []


def test_claim_when_registering(lap: WebMachine, desk: Machine, web: Web) -> None:
    """Only what is installed claims hosts: naming them when registering has no site asked."""
    web.site(HOST, response(apps(NAME)))
    Client(lap, SHOP, (), options={"Domains": GLib.Variant("as", [HOST]), "Team": GLib.Variant("s", TEAM)})
    assert handlers(desk, lap) == []
    assert not web.requests


@pytest.mark.parametrize("page", [f"https://{HOST}:443/", f"https://user@{HOST}/", f"http://user:secret@{HOST}:80/x"])
def test_address_with_user_info_or_a_port(lap: WebMachine, desk: Machine, web: Web, page: str) -> None:
    """An address with user info or a port matches no claim: the application that was asked gets DidFail, and never the
    address; the page goes to the browser instead."""
    web.site(HOST, response(apps(NAME)))
    claim(lap, HOST)
    wait_for_answer(lap)
    log = install_browser(lap)
    shop, dock = Client(lap, SHOP, ()), Dock(lap)
    browse(desk, page)
    path = named(dock, "A cart", BROWSER)
    assert dock.offers[path]["Handlers"] == [SHOP, BROWSER]
    dock.continue_offer(path)
    failed = shop.wait_for("DidFailToContinueActivity")
    assert failed.arguments.unpack()[1].endswith("NotSupported")
    assert dock.outcome() == (BROWSER, "", "")
    assert opened(log) == [["--new-tab", page]]
    assert shop.members == ["WillContinueActivity", "DidFailToContinueActivity"]
    assert page not in str(shop.calls)


def test_hosts_are_compared_in_ascii_form(lap: WebMachine, desk: Machine, web: Web) -> None:
    """Hosts are compared in lower case and in ASCII form, in claims as in addresses."""
    web.site("xn--bcher-kva.example.net", response(apps(NAME)))
    claim(lap, "Bücher.EXAMPLE.net")
    wait_for_answer(lap, "xn--bcher-kva.example.net")
    Client(lap, SHOP, ())
    for page in ("https://bücher.example.net/", "https://XN--BCHER-KVA.example.net/"):
        assert handlers(desk, lap, page) == [SHOP]
    assert handlers(desk, lap, "https://bucher.example.net/") == []


def test_subdomains(lap: WebMachine, desk: Machine, web: Web) -> None:
    """Subdomains are claimed one by one; with an asterisk, all below a host are claimed and that host is asked."""
    for host in ("one.example.net", "two.example.net", "www.one.example.net", "www.two.example.net"):
        web.site(host, response(apps(NAME)))
    claim(lap, "one.example.net", "*.two.example.net")
    for host in ("one.example.net", "two.example.net"):
        wait_for_answer(lap, host)
    Client(lap, SHOP, ())
    pages = {"one.example.net": True, "www.one.example.net": False, "two.example.net": False, "www.two.example.net": True,
             "a.b.two.example.net": True, "wwwtwo.example.net": False}
    for host, is_claimed in pages.items():
        assert handlers(desk, lap, f"https://{host}/") == ([SHOP] if is_claimed else []), host
    assert {request.host for request in web.requests} == {"one.example.net", "two.example.net"}


def test_application_that_goes(lap: WebMachine, desk: Machine, web: Web) -> None:
    """A claim ends with the desktop entry, and its site is not asked any more."""
    web.site(HOST, response(apps(NAME)))
    entry = claim(lap, HOST)
    wait_for_answer(lap)
    shop = Client(lap, SHOP, ())
    dock = Dock(lap)
    browse(desk)
    path = dock.offer("A cart")
    assert dock.offers[path]["Handlers"] == [SHOP]
    entry.unlink()
    wait(lambda: dock.offers[path]["Handlers"] == [], "the claim to end")
    descriptors = [str(link.readlink()) for link in Path(f"/proc/{lap.processes['handoffd'].pid}/fd").iterdir()]
    assert not [name for name in descriptors if "timerfd" in name], "there is nothing to wait for"
    assert not shop.calls


# When sites are asked


def test_no_request_for_an_offer(lap: WebMachine, desk: Machine, web: Web) -> None:
    """A site is asked because of an installed application, and never because of an offer, whatever its page."""
    web.site(HOST, response(apps(NAME)))
    web.site("other.example.net", response(apps(NAME)))
    claim(lap, HOST)
    wait_for_answer(lap)
    for page in (PAGE, "https://other.example.net/", f"https://x.{HOST}/", "http://127.0.0.1/", "https://unknown.example.net/"):
        handlers(desk, lap, page)
    let_pass(ASKING)
    assert [request.host for request in web.requests] == [HOST]


def test_request_tells_nothing(lap: WebMachine, web: Web) -> None:
    """A request has no cookies, no referrer, and nothing that tells one machine or user from another."""
    web.site(HOST, response(apps(NAME), more="Set-Cookie: who=you\r\nStrict-Transport-Security: max-age=9999\r\n"))
    web.site("two.example.net", {ROOT_PLACE: response(apps(NAME))})
    claim(lap, HOST, "two.example.net")
    wait_for_answer(lap, "two.example.net")
    for request in web.requests:
        lines = dict(line.split(": ", 1) for line in request.headers.split("\r\n")[1:] if line)
        assert lines.pop("Host") == request.host
        assert lines.pop("User-Agent") == "Handoff"
        assert set(lines) <= {"Connection", "Accept"}, lines


def set_clock(machine: Machine, hours: float) -> None:
    """For the broker of this machine it is so many hours later."""
    with open(machine.folder / "clock", "r+b") as clock:
        clock.write(struct.pack("l", int(hours * 3600)))


def test_once_a_day(web: Web, machine_list: list[Machine]) -> None:
    """A site is asked when the claim appears, and again after a day, also over a restart of the broker, and after the clock
    was set back."""
    lap = WebMachine("lap", web)
    machine_list.append(lap)
    lap.environment |= fake_clock(lap)
    web.site(HOST, response(apps(NAME)))
    lap.start_broker("--verbose")
    claim(lap, HOST)
    wait_for_answer(lap)
    kept = Path(lap.environment["XDG_CACHE_HOME"], "handoff", "sites")
    wait(lambda: kept.exists() and HOST in kept.read_text(), "the answer to be kept")
    first = kept.read_text()
    set_clock(lap, 23)
    let_pass(NOTICING)
    assert web.paths(HOST) == [WELL_KNOWN]
    set_clock(lap, 24.1)
    wait(lambda: len(web.requests) == 2, "the site to be asked a day later")
    wait_for_answer(lap, times=2)
    wait(lambda: kept.read_text() != first, "the second answer to be kept")
    former = kept.read_text()
    assert kept.stat().st_mode & 0o777 == 0o600
    lap.kill("handoffd")
    lap.start_broker("--verbose")
    let_pass(NOTICING)
    assert len(web.requests) == 2
    set_clock(lap, -1000)
    wait(lambda: len(web.requests) == 3, "the site to be asked once the clock was set back")
    wait(lambda: kept.read_text() != former, "that to be kept")


def test_failure_is_tried_again(web: Web, machine_list: list[Machine]) -> None:
    """A site that could not be asked is asked again after an hour."""
    lap = WebMachine("lap", web)
    machine_list.append(lap)
    lap.environment |= fake_clock(lap)
    web.site(HOST, response(b"", "503 Unavailable"))
    lap.start_broker("--verbose")
    claim(lap, HOST)
    wait_for_answer(lap)
    web.site(HOST, response(apps(NAME)))
    set_clock(lap, 0.9)
    let_pass(NOTICING)
    assert web.paths(HOST) == [WELL_KNOWN, ROOT_PLACE]
    set_clock(lap, 1.1)
    wait(lambda: len(web.requests) == 3, "the site to be asked an hour later")
    assert "was asked" in wait_for_answer(lap, times=2)


def test_switched_off(lap: WebMachine, web: Web) -> None:
    """While Handoff is switched off no site is asked, and what is being asked is given up."""
    web.site(HOST, silent)
    claim(lap, HOST)
    wait(lambda: web.paths(HOST), "the site to be asked")
    lap.set_enabled(False)
    wait(lambda: not helpers(lap), "the helper to end", 2)
    claim(lap, HOST, "two.example.net")
    web.site("two.example.net", response(apps(NAME)))
    let_pass(ASKING)
    assert len(web.requests) == 1
    web.site(HOST, response(apps(NAME)))
    lap.set_enabled(True)
    assert "was asked" in wait_for_answer(lap, "two.example.net")
    wait(lambda: web.paths(HOST) == [WELL_KNOWN] * 2, "the site to be asked again")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "printer.local", "intranet", "shop.example.net.", "[::1]",
                                  "shop.example.net:8443", "10.1", "*", "*.com", "http://shop.example.net",
                                  "*.internal", "metadata.google.internal", "*.home.arpa", "nas.lan", "shop.onion",
                                  "shop.test", "shop.invalid", "shop.localhost", "shop.example"])
def test_host_that_is_never_asked(lap: WebMachine, web: Web, host: str) -> None:
    """A desktop entry that claims an IP address, localhost, a name of a local network or one that is reserved, a single
    label or a host with a port is ignored with a reason, and nothing of the kind is asked."""
    web.site(HOST, response(apps(NAME)))
    claim(lap, host)
    wait(lambda: "is not a public host" in lap.log("handoffd"), "the entry to be ignored")
    claim(lap, HOST, application="com.example.other")
    wait_for_answer(lap)
    assert [request.host for request in web.requests] == [HOST]


def test_too_many_claims(lap: WebMachine, web: Web) -> None:
    """An entry with more than 32 claims is ignored."""
    claim(lap, *(f"h{number}.example.net" for number in range(33)))
    wait(lambda: "more than the 32 allowed" in lap.log("handoffd"), "the entry to be ignored")
    assert "The site h0.example.net" not in lap.log("handoffd")
