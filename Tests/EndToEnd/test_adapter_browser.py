# SPDX-License-Identifier: LGPL-2.1-or-later
"""Real browsers with the Handoff add-on: the page in front goes on in the browser of another machine."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gi.repository import GLib
from buses import let_pass, wait
from clients import Client, Dock
from ears import Ears
from listener import Listener
from running_browsers import PATIENCE, RunningBrowser, Site, running
from support import SANITIZED, Machine, memory

pytestmark = pytest.mark.desktop

Machines = tuple[Machine, Machine]
PROGRAMS = ("chromium", "firefox-esr")
# By when a page in front would have been told, in seconds.
TOLD = 0.7
BROWSING = "org.example.Handoff.BrowsingWeb"


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    yield site
    site.close()


def offered(dock: Dock, title: str) -> str:
    """The offer of a page, which a browser that has just been started may take a while to make."""
    return wait(lambda: next((path for path, offer in dock.offers.items() if offer["Title"] == title), None),
                f"an offer of {title}", PATIENCE)


def handled(dock: Dock, path: str, application: str) -> None:
    """Waits until an application can continue an offer."""
    wait(lambda: application in dock.offers[path]["Handlers"], f"{application} to be able to continue", PATIENCE)


def scrolled(browser: RunningBrowser, page: str) -> int:
    return browser.evaluate("Math.round(scrollY)", page)


@pytest.mark.parametrize("program", [pytest.param(name, marks=pytest.mark.always) for name in PROGRAMS])
def test_page_is_offered(machines: Machines, site: Site, program: str) -> None:
    """The page in front of a browser is the current activity, with its title and address."""
    desk, lap = machines
    with running(desk, program, f"{site.address}/first") as browser:
        dock = Dock(lap)
        path = offered(dock, "Page first")
        assert dock.offers[path]["ApplicationId"] == program
        browser.open(f"{site.address}/second")
        offered(dock, "Page second")


@pytest.mark.parametrize("here, there", [("chromium", "firefox-esr"), ("firefox-esr", "chromium")])
def test_page_goes_on_and_back(machines: Machines, site: Site, here: str, there: str) -> None:
    """A page read in one browser goes on in the other browser of the other machine, at the same address and scrolled alike,
    and from there back, scrolled further; where it was scrolled is read anew for each continuation."""
    desk, lap = machines
    with running(desk, here, f"{site.address}/one?x=1#part") as first, running(lap, there, f"{site.address}/two") as second:
        desk_dock, lap_dock = Dock(desk), Dock(lap)
        path = offered(lap_dock, "Page one")
        handled(lap_dock, path, there)
        first.scroll(2400, "/one")
        lap_dock.continue_offer(path)
        assert lap_dock.outcome() == (there, "", "")
        wait(lambda: scrolled(second, "/one") == 2400, "the page to be scrolled alike")
        assert second.evaluate("location.href", "/one") == f"{site.address}/one?x=1#part"
        # It is at the same place once more, after it was moved at its origin.
        first.scroll(3100, "/one")
        second.evaluate("void location.replace('/gone')", "/one")
        offered(desk_dock, "Page gone")
        lap_dock.continue_offer(path)
        wait(lambda: scrolled(second, "/one") == 3100, "the page to be scrolled as it is now")
        second.scroll(4000, "/one")
        back = offered(desk_dock, "Page one")
        handled(desk_dock, back, here)
        # A page that is still there would only be scrolled, and then be gone.
        first.evaluate("void location.replace('/gone')", "/one")
        offered(lap_dock, "Page gone")
        desk_dock.continue_offer(back)
        wait(lambda: scrolled(first, "/one") == 4000, "the page to be back")
    assert not [asked for asked in site.requests if asked.startswith("/sent")]


# What is typed where, and whether it may go along.
TYPED = {
    "subject": ("Open subject", True), "body": ("Open body", True), "login": ("secret login", False),
    "word": ("secret word", False), "hid": ("secret hidden", False), "holder": ("secret holder", False),
    "number": ("secret number", False), "once": ("secret once", False), "cvc": ("secret check", False),
    "off": ("secret off", False),
}
TYPE_ALL = "".join(f"document.querySelector('[name={name}]').value = '{text}';" for name, (text, _) in TYPED.items())
TYPE_ALL += ("const shown = document.querySelector('[name=word]'); shown.dispatchEvent(new Event('input', {bubbles: true}));"
             "shown.type = 'text'; document.querySelector('[name=kind]').value = 'b';"
             "document.querySelector('[name=copy]').checked = true; true")


class Reader(Client):
    """A browser that keeps what it is handed."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine, "com.example.reader", (BROWSING,),
                         options={"Team": GLib.Variant("s", "org.example.Handoff.Browser")})

    def user_info(self, count: int = 1) -> dict[str, Any]:
        calls = wait(lambda: [call for call in self.calls if call.member == "ContinueActivity"][count - 1:], "the activity")
        return calls[0].arguments.unpack()[0].get("UserInfo", {})


@pytest.mark.parametrize("program", PROGRAMS)
def test_forms(machines: Machines, site: Site, program: str) -> None:
    """What is in forms goes along only when the user has chosen that, and never what is of a password, a payment or a code;
    it is filled in on the other machine, on the same origin only, and is not sent."""
    desk, lap = machines
    with running(desk, program, f"{site.address}/form") as browser:
        dock, reader = Dock(lap), Reader(lap)
        path = offered(dock, "Page form")
        browser.evaluate(TYPE_ALL, "/form")
        dock.continue_offer(path, ApplicationId=reader.application_id)
        assert "Fields" not in reader.user_info()
        browser.choose("document.querySelector('#forms').click()")
        dock.wait_until_gone(path)
        browser.open(f"{site.address}/form?again")
        browser.evaluate(TYPE_ALL, "/form?again")
        path = offered(dock, "Page form")
        dock.continue_offer(path, ApplicationId=reader.application_id)
        user_info = reader.user_info(2)
        fields = {field["Name"]: field.get("Text", field.get("Ticked")) for field in user_info["Fields"]}
        assert fields == {name: text for name, (text, open_) in TYPED.items() if open_} | {"kind": "b", "copy": True}
    reader.close()
    values = {"ScrollX": 0.0, "ScrollY": 900.0, "Height": 0.0}
    with running(lap, program, f"{site.address}/two") as browser:
        origin, dock = Client(desk, "com.example.origin", (BROWSING,), options={
            "Team": GLib.Variant("s", "org.example.Handoff.Browser")}), Dock(lap)
        sent = [{"Name": GLib.Variant("s", name), "Number": GLib.Variant("x", 0), "Text": GLib.Variant("s", text)}
                for name, (text, _) in TYPED.items()]
        state = {name: GLib.Variant("d", number) for name, number in values.items()}
        for page in ("/fill", "/away"):
            origin.create(BROWSING, Title=page, WebpageURL=f"{site.address}{page}",
                          UserInfo=state | {"Fields": GLib.Variant("aa{sv}", sent)}).become_current()
            path = offered(dock, page)
            handled(dock, path, program)
            dock.continue_offer(path)
            dock.outcome()
        wait(lambda: scrolled(browser, "/fill") == 900, "the page to be at its place")
        there = browser.evaluate("JSON.stringify([...document.querySelectorAll('[name]')].map(one => [one.name, one.value]))",
                                 "/fill")
        filled = {name: text for name, text in json.loads(there) if text not in ("", "x", "a", "on")}
        assert filled == {name: text for name, (text, open_) in TYPED.items() if open_}
    assert not [asked for asked in site.requests if asked.startswith("/sent")]


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_stays_here(machines: Machines, site: Site, program: str) -> None:
    """Private windows, excluded sites, addresses with user info, and what is typed into passwords, payments and codes never
    reach an offer, a payload, the bus or a log, however much is logged."""
    desk, lap = machines
    ears = Ears(desk, lap)
    with running(desk, program, f"{site.address}/open") as browser:
        dock, reader = Dock(lap), Reader(lap)
        offered(dock, "Page open")
        browser.choose("document.querySelector('#forms').click()")
        browser.open(f"{site.address}/typed")
        browser.evaluate(TYPE_ALL, "/typed")
        dock.continue_offer(offered(dock, "Page typed"), ApplicationId=reader.application_id)
        assert "Open subject" in str(reader.user_info()["Fields"])
        browser.open(f"{site.address}/private-secret", private=True)
        let_pass(TOLD)
        host = site.address.replace("127.0.0.1", "localhost")
        browser.choose("const sites = document.querySelector('#sites'); sites.value = 'localhost';"
                       "sites.dispatchEvent(new Event('change')); true")
        for address in (f"{host}/excluded-secret", f"{site.address.replace('//', '//user-secret:word-secret@')}/user"):
            browser.open(address)
            let_pass(TOLD)
        browser.open(f"{site.address}/last")
        offered(dock, "Page last")
    said = [line for line in ears.heard("", public="Page last") if f"/{program}-profile/" not in line]
    assert any("Page last" in line for line in said) and any(f"{site.address}/open" in line for line in said)
    assert any("Open body" in line for line in said)
    assert not [line for line in said if "secret" in line]


def test_restless_page(machines: Machines, site: Site) -> None:
    """A page that changes its title and address a thousand times a second, and has a title of 10 MB, is offered no more than
    ten times a second, and costs the broker no memory."""
    desk, lap = machines
    site.bodies["restless"] = (
        "<!doctype html><title>Restless</title><script>let n = 0; setInterval(() => { for (let i = 0; i < 10; i++) {"
        "n++; document.title = `Restless ${n}`; if (n % 10 == 0) history.replaceState(null, '', `?${n}`); } }, 10);</script>")
    site.bodies["long"] = "<!doctype html><title>Long</title><script>document.title = 'x'.repeat(10e6);</script>"
    with running(desk, "chromium", f"{site.address}/restless") as browser:
        dock = Dock(lap)
        wait(lambda: [title for title in dock.titles if title.startswith("Restless")], "an offer", PATIENCE)
        listener = Listener(desk)
        # So many seconds are counted.
        let_pass(3)
        heard = listener.close()
        assert heard.count("member=CreateActivity") + heard.count("member=Update") <= 3 * 11
        before = memory(desk, "handoffd")
        # Long enough for two hundred titles more.
        let_pass(2)
        assert SANITIZED or memory(desk, "handoffd") - before < 2 << 20
        browser.open(f"{site.address}/long")
        wait(lambda: any(title.startswith("xxx") and len(title) <= 256 for title in dock.titles), "the long title", PATIENCE)


@pytest.mark.parametrize("program", PROGRAMS)
def test_popup(machines: Machines, site: Site, program: str) -> None:
    """The button tells that there are pages of other devices, and what it opens lists them, continues one, and says so when
    Handoff is switched off."""
    desk, lap = machines
    origin = Client(desk, "com.example.origin", (BROWSING,), options={
        "Team": GLib.Variant("s", "org.example.Handoff.Browser")})
    with running(lap, program, f"{site.address}/two") as browser:
        page = browser.options_page().replace("options", "popup")
        browser.open(page)
        wait(lambda: browser.evaluate("!document.querySelector('#nothing').hidden", "popup.html"), "no offers", PATIENCE)
        title = "<b>Mine</b>"
        origin.offer(title, WebpageURL=f"{site.address}/mine")
        shown = "document.querySelector('.title')?.textContent"
        wait(lambda: browser.evaluate(shown, "popup.html") == title, "the offer")
        badge = "(globalThis.browser ?? chrome).action.getBadgeText({})"
        assert browser.evaluate(badge, "popup.html") == "1"
        browser.evaluate("document.querySelector('li button').click()", "popup.html")
        wait(lambda: browser.evaluate("document.title", "/mine"), "the page", PATIENCE)
        lap.set_enabled(False)
        wait(lambda: browser.evaluate("document.querySelector('#trouble').textContent", "popup.html").startswith("Handoff is"),
             "what is in the way")
        assert browser.evaluate(badge, "popup.html") == ""


# What is asked of the modules of the add-on, in one of its own pages, and what they answer.
QUESTIONS = [
    ("pages.isOfferable('https://example.com/a?b@c#d')", True), ("pages.isOfferable('http://user@example.com/')", False),
    ("pages.isOfferable('http://@example.com/')", False), ("pages.isOfferable('http://a\\\\@b/')", False),
    ("pages.isOfferable('file:///etc/passwd')", False), ("pages.isOfferable('about:blank')", False),
    ("pages.isOfferable('https://example.com/' + 'x'.repeat(9000))", False), ("pages.isOfferable(undefined)", False),
    ("pages.isExcluded('https://www.example.com/', ['example.com'])", True),
    ("pages.isExcluded('https://example.com./', ['example.com'])", True),
    ("pages.isExcluded('https://notexample.com/', ['example.com'])", False),
    ("pages.writtenSite(' *.Example.com ')", "example.com"), ("pages.writtenSite('https://b\\u00fccher.example/x')", "xn--bcher-kva.example"),
    ("pages.writtenSite('two words')", None), ("pages.writtenSite('')", None),
    ("pages.described({id: 1, url: 'https://example.com/', title: 'x'.repeat(1e7)}, []).title.length", 512),
    ("pages.described({id: 1, url: 'https://example.com/', title: 'x', incognito: true}, [])", None),
    ("pages.described({id: 1, url: 'https://example.com/', title: 'x'}, ['example.com'])", None),
    ("windows.toldTabs([{id: 1, url: 'https://example.com/', active: true}, {id: 2, url: 'about:blank'}], []).length", 0),
    ("windows.toldTabs([1, 2, 3].map(id => ({id, url: `https://example.com/${id}`, pinned: id === 1, active: id === 2})), [])"
     ".map(tab => `${tab.pinned} ${tab.front}`)", ["true false", "false true", "false false"]),
    ("windows.toldTabs([1, 2, 3].map(id => ({id, url: `https://a${id}.example/`, incognito: id === 1})), ['a2.example'])"
     ".length", 0),
    ("windows.toldTabs([3000, 9, 8].map(id => ({id, url: `https://example.com/${'x'.repeat(id)}`})), []).length", 2),
    ("windows.toldTabs(Array.from({length: 200}, (_, id) => ({id, url: `https://example.com/${id}`, active: id === 150})), [])"
     ".map(tab => tab.url.slice(20)).filter((_, number) => number % 49 === 0)", ["125", "174"]),
    ("windows.waitedFor('a:b', windows.waitingAddress('a:b', {url: 'https://example.com/?a=b&c#d', title: '<b>&'})).url",
     "https://example.com/?a=b&c#d"),
    ("windows.waitedFor('a:b', 'a:b#url=file:///etc/passwd')", None), ("windows.waitedFor('a:b', 'https://example.com/')", None),
    ("await new Promise(done => { let n = 0; const one = new pace.Pace(50, () => n++); for (let i = 0; i < 1000; i++) "
     "one.changed(); setTimeout(() => done(n), 300); })", 2),
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_modules(machine: Machine, site: Site, program: str) -> None:
    """In each browser the add-on judges addresses, sites and titles alike, and tells what changes all the time at most ten
    times a second."""
    with running(machine, program, f"{site.address}/one") as browser:
        browser.open(browser.options_page())
        script = ("(async () => { const [pages, pace, windows] = await Promise.all(['pages', 'pace', 'windows'].map("
                  "name => import((globalThis.browser ?? chrome).runtime.getURL(`${name}.js`)))); return [" +
                  ", ".join(question for question, _ in QUESTIONS) + "]; })()")
        answers = browser.evaluate(script, "options.html")
        assert dict(zip((question for question, _ in QUESTIONS), answers)) == dict(QUESTIONS)


def hosts(machine: Machine) -> list[int]:
    """The processes of the host that browsers of a machine have started."""
    mark = str(machine.folder / "handoff-browser").encode()
    found = []
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if process.name.isdigit() and (process / "cmdline").read_bytes().startswith(mark):
                found.append(int(process.name))
    return found


@pytest.mark.parametrize("program", PROGRAMS)
def test_host_that_dies(machines: Machines, site: Site, program: str) -> None:
    """A host that is killed is started again after a pause, and the page in front is offered again; a broker that is killed
    makes no difference either; the host ends with the browser."""
    desk, lap = machines
    with running(desk, program, f"{site.address}/one"):
        dock = Dock(lap)
        path = offered(dock, "Page one")
        [host] = hosts(desk)
        os.kill(host, signal.SIGKILL)
        dock.wait_until_gone(path)
        offered(dock, "Page one")
        desk.kill("handoffd")
        desk.start_broker()
        offered(dock, "Page one")
        [host] = hosts(desk)
    wait(lambda: not hosts(desk), "the end of the host")
