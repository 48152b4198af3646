# SPDX-License-Identifier: LGPL-2.1-or-later
"""Web pages that go to applications, because their sites say so."""

from __future__ import annotations

import gzip
import json
import re
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from gi.repository import GLib
from buses import ACTIVITY_PROPERTIES, entries, let_pass, wait
from clients import Client, Dock
from sites import (MISSING, ROOT_PLACE, WELL_KNOWN, Answer, Web, WebMachine, apps, endless, response, silent, trickle)
from support import SANITIZED, Machine, pair, start_machine
from test_announcements import fake_clock
from test_desktop_entries import STARTED, install

BROWSING = "org.example.Handoff.BrowsingWeb"
BROWSER, SHOP, TEAM = "org.example.browser", "com.example.shop", "com.example"
NAME = f"{TEAM}.{SHOP}"
HOST = "shop.example"
PAGE = f"https://{HOST}/cart?item=1#top"


@pytest.fixture
def web(request: pytest.FixtureRequest) -> Iterator[Web]:
    """A network of web sites. Named before `machine_list`, it outlives the machines in it."""
    web = Web()
    if web.missing:
        pytest.skip(f"there can't be a network of its own: {web.missing}")
    yield web
    web.remove()


@pytest.fixture
def lap(web: Web, machine_list: list[Machine]) -> WebMachine:
    """A machine whose broker is among web sites."""
    lap = WebMachine("lap", web)
    machine_list.append(lap)
    lap.start_broker("--verbose")
    lap.start_bridge()
    return lap


@pytest.fixture
def desk(machine_list: list[Machine], lap: WebMachine) -> Machine:
    """Another machine, which is paired with the first."""
    desk = start_machine(machine_list, "desk")
    pair(desk, lap)
    return desk


def claim(machine: Machine, *hosts: str, application: str = SHOP, team: str = TEAM) -> Path:
    """Installs an application that claims these hosts."""
    return install(machine, application, Domains="".join(f"{host};" for host in hosts), Team=team)


def wait_for_answer(machine: WebMachine, host: str = HOST, times: int = 1) -> str:
    """Waits until the site has been asked, and returns what the log says of it."""
    def lines() -> list[str]:
        return [line for line in machine.log("handoffd").splitlines() if f"The site {host} " in line]
    return wait(lambda: len(lines()) >= times and lines()[-1], f"{host} to be asked")


def browse(machine: Machine, page: str = PAGE, title: str = "A cart", **more: object) -> Client:
    """A browser that shows a page."""
    browser = Client(machine, BROWSER, (BROWSING,))
    browser.offer(title, WebpageURL=page, UserInfo={"scroll": GLib.Variant("u", 7)}, **more)
    return browser


def handlers(desk: Machine, lap: Machine, page: str = PAGE) -> list[str]:
    """What can continue a page on lap that is shown on desk."""
    dock = Dock(lap)
    browser = browse(desk, page, f"The page {page}")
    path = dock.offer(f"The page {page}")
    found = dock.offers[path]["Handlers"]
    browser.close()
    dock.wait_until_gone(path)
    return found


# What an application gets


def test_page_goes_to_the_application(lap: WebMachine, desk: Machine, web: Web) -> None:
    """A page in the browser of one machine goes on in the application of another that its site approves of: with the type
    BrowsingWeb, the page's address, an empty UserInfo, and nothing else that is the browser's."""
    web.site(HOST, response(apps(NAME)))
    claim(lap, HOST)
    wait_for_answer(lap)
    shop, dock = Client(lap, SHOP, ()), Dock(lap)
    browser = browse(desk, ReferrerURL="https://elsewhere.example/", Keywords=["private"],
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
    shop, dock = Client(lap, SHOP, ()), Dock(lap)
    browse(desk, page)
    path = dock.offer("A cart")
    dock.continue_offer(path)
    failed = shop.wait_for("DidFailToContinueActivity")
    assert failed.arguments.unpack()[1].endswith("NotSupported")
    application, _error, _message = dock.outcome()
    assert application != SHOP
    let_pass(0.3)
    assert shop.members == ["WillContinueActivity", "DidFailToContinueActivity"]
    assert page not in str(shop.calls)


def test_hosts_are_compared_in_ascii_form(lap: WebMachine, desk: Machine, web: Web) -> None:
    """Hosts are compared in lower case and in ASCII form, in claims as in addresses."""
    web.site("xn--bcher-kva.example", response(apps(NAME)))
    claim(lap, "Bücher.EXAMPLE")
    wait_for_answer(lap, "xn--bcher-kva.example")
    Client(lap, SHOP, ())
    for page in ("https://bücher.example/", "https://XN--BCHER-KVA.example/"):
        assert handlers(desk, lap, page) == [SHOP]
    assert handlers(desk, lap, "https://bucher.example/") == []


def test_subdomains(lap: WebMachine, desk: Machine, web: Web) -> None:
    """Subdomains are claimed one by one; with an asterisk, all below a host are claimed and that host is asked."""
    for host in ("one.example", "two.example", "www.one.example", "www.two.example"):
        web.site(host, response(apps(NAME)))
    claim(lap, "one.example", "*.two.example")
    for host in ("one.example", "two.example"):
        wait_for_answer(lap, host)
    Client(lap, SHOP, ())
    pages = {"one.example": True, "www.one.example": False, "two.example": False, "www.two.example": True,
             "a.b.two.example": True, "wwwtwo.example": False}
    for host, is_claimed in pages.items():
        assert handlers(desk, lap, f"https://{host}/") == ([SHOP] if is_claimed else []), host
    assert {request.host for request in web.requests} == {"one.example", "two.example"}


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
    assert not shop.calls


# What a site says


def both(first: Answer, second: Answer) -> dict[str, Answer]:
    return {WELL_KNOWN: first, ROOT_PLACE: second}


GOOD = response(apps(NAME))


@pytest.mark.parametrize("answers", [
    pytest.param({WELL_KNOWN: GOOD}, id="first place"),
    pytest.param({ROOT_PLACE: GOOD}, id="second place"),
    pytest.param(both(response(b"", "410 Gone"), GOOD), id="gone"),
    pytest.param(both(response(b"", "500 Oops"), GOOD), id="broken"),
    pytest.param(both(response(b"{}", "302 Found", more=f"Location: https://{HOST}{ROOT_PLACE}\r\n"), GOOD), id="moved"),
    pytest.param(both(GOOD, response(b"{}")), id="both"),
])
def test_places_of_the_file(lap: WebMachine, web: Web, answers: dict[str, Answer]) -> None:
    """The file counts in .well-known, or if there is none, in the root of the site."""
    web.site(HOST, answers)
    claim(lap, HOST)
    assert "was asked" in wait_for_answer(lap)
    assert web.paths(HOST) == ([WELL_KNOWN] if answers.get(WELL_KNOWN) is GOOD else [WELL_KNOWN, ROOT_PLACE])


def test_signed_file(lap: WebMachine, desk: Machine, web: Web) -> None:
    """A signed file counts if its certificate is valid for the host that it comes from."""
    web.site(HOST, response(web.authority.sign(apps(NAME), HOST), content_type="application/pkcs7-mime"))
    claim(lap, HOST)
    assert "was asked" in wait_for_answer(lap)
    Client(lap, SHOP, ())
    assert handlers(desk, lap) == [SHOP]


BAD_FILES = {
    "huge": endless(10 << 20),
    "slow": trickle,
    "silent": silent,
    "redirected": response(b"", "302 Found", more="Location: https://other.example/.well-known/apple-app-site-association\r\n"),
    "redirected for good": response(apps(NAME), "301 Moved", more="Location: http://shop.example/apple-app-site-association\r\n"),
    "HTML": response(b"<html><body>Welcome</body></html>", content_type="text/html"),
    "binary": response(bytes(range(256)) * 64),
    "of another shape": response(b'{"activitycontinuation": ["' + NAME.encode() + b'"]}'),
    "of texts that are none": response(b'{"activitycontinuation": {"apps": [7, {}, "a b", "\\u0000.\\u001b"]}}'),
    "nested 10,000 deep": response(b"[" * 10_000 + b"]" * 10_000),
    "missing": MISSING,
    "empty": response(b""),
    "cut off": lambda connection: connection.sendall(
        b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + apps(NAME)),
    "all headers": lambda connection: connection.sendall(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 1_000_000),
    "no HTTP": lambda connection: connection.sendall(apps(NAME) * 100),
    "compressed": response(gzip.compress(apps(NAME)), more="Content-Encoding: gzip\r\n"),
}


@pytest.mark.parametrize("harm", BAD_FILES)
def test_bad_file(lap: WebMachine, desk: Machine, web: Web, harm: str) -> None:
    """An association file that is huge, slow, redirected, of the wrong type, missing or broken in any other way is no
    approval; the log says why, and other sites are asked all the same."""
    web.site(HOST, BAD_FILES[harm])
    web.site("other.example", response(apps(NAME)))
    claim(lap, HOST, "zzz.example")
    web.site("zzz.example", response(apps(NAME)))
    reason = wait_for_answer(lap)
    if harm != "of texts that are none":
        assert f"https://{HOST}/" in reason and len(reason) < 1200
    assert "was asked" in wait_for_answer(lap, "zzz.example")
    Client(lap, SHOP, ())
    assert handlers(desk, lap) == []
    assert handlers(desk, lap, "https://zzz.example/") == [SHOP]
    assert "other.example" not in [request.host for request in web.requests], "a redirect was followed"


def certificate_of(web: Web, kind: str) -> Path:
    """A certificate that is not to be trusted for the host."""
    return {"another authority": lambda: web.other_authority.issue(HOST), "expired": lambda: web.authority.issue(HOST, -1),
            "another host": lambda: web.authority.issue("other.example")}[kind]()


@pytest.mark.parametrize("kind", ["another authority", "expired", "another host"])
def test_certificate_that_is_not_trusted(lap: WebMachine, desk: Machine, web: Web, kind: str) -> None:
    """A site whose certificate is of an unknown authority, expired, or that of another host is not even asked."""
    web.site(HOST, response(apps(NAME)), certificate_of(web, kind))
    claim(lap, HOST)
    assert "certificate" in wait_for_answer(lap)
    Client(lap, SHOP, ())
    assert handlers(desk, lap) == []
    assert not web.requests


@pytest.mark.parametrize("kind", ["another authority", "expired", "another host", "changed", "without signature"])
def test_signature_that_is_not_valid(lap: WebMachine, desk: Machine, web: Web, kind: str) -> None:
    """A file that is signed by another host, by an unknown authority, with an expired certificate, or was changed since is
    no approval."""
    content = apps(NAME)
    web.authority.issue("other.example")
    signed = {"another authority": lambda: web.other_authority.sign(content, HOST),
              "expired": lambda: web.authority.sign(content, HOST, -1),
              "another host": lambda: web.authority.sign(content, "other.example"),
              "changed": lambda: web.authority.sign(content.replace(b"shop", b"shoq"), HOST).replace(b"shoq", b"shop"),
              "without signature": lambda: unsigned(web, content)}[kind]()
    web.site(HOST, response(signed))
    claim(lap, HOST)
    wait_for_answer(lap)
    assert "no application" in wait_for_answer(lap)
    Client(lap, SHOP, ())
    assert handlers(desk, lap) == []


def unsigned(web: Web, content: bytes) -> bytes:
    """PKCS #7 that holds the content, and no signature."""
    (web.folder / "content").write_bytes(content)
    return subprocess.run(["openssl", "cms", "-data_create", "-in", web.folder / "content", "-outform", "DER"], check=True,
                          capture_output=True).stdout


# When sites are asked


def test_no_request_for_an_offer(lap: WebMachine, desk: Machine, web: Web) -> None:
    """A site is asked because of an installed application, and never because of an offer, whatever its page."""
    web.site(HOST, response(apps(NAME)))
    web.site("other.example", response(apps(NAME)))
    claim(lap, HOST)
    wait_for_answer(lap)
    for page in (PAGE, "https://other.example/", f"https://x.{HOST}/", "http://127.0.0.1/", "https://unknown.example/"):
        handlers(desk, lap, page)
    let_pass(0.5)
    assert [request.host for request in web.requests] == [HOST]


def test_request_tells_nothing(lap: WebMachine, web: Web) -> None:
    """A request has no cookies, no referrer, and nothing that tells one machine or user from another."""
    web.site(HOST, response(apps(NAME), more="Set-Cookie: who=you\r\nStrict-Transport-Security: max-age=9999\r\n"))
    web.site("two.example", {ROOT_PLACE: response(apps(NAME))})
    claim(lap, HOST, "two.example")
    wait_for_answer(lap, "two.example")
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
    set_clock(lap, 23)
    let_pass(1.5)
    assert web.paths(HOST) == [WELL_KNOWN]
    set_clock(lap, 24.1)
    wait(lambda: len(web.requests) == 2, "the site to be asked a day later")
    wait_for_answer(lap, times=2)
    kept = Path(lap.environment["XDG_CACHE_HOME"], "handoff", "sites")
    wait(lambda: kept.exists() and HOST in kept.read_text(), "the answer to be kept")
    former = kept.read_text()
    assert kept.stat().st_mode & 0o777 == 0o600
    lap.kill("handoffd")
    lap.start_broker("--verbose")
    let_pass(1.5)
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
    let_pass(1.5)
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
    claim(lap, HOST, "two.example")
    web.site("two.example", response(apps(NAME)))
    let_pass(1)
    assert len(web.requests) == 1
    web.site(HOST, response(apps(NAME)))
    lap.set_enabled(True)
    assert "was asked" in wait_for_answer(lap, "two.example")
    wait(lambda: web.paths(HOST) == [WELL_KNOWN] * 2, "the site to be asked again")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "printer.local", "intranet", "shop.example.", "[::1]",
                                  "shop.example:8443", "10.1", "*", "*.com", "http://shop.example"])
def test_host_that_is_never_asked(lap: WebMachine, web: Web, host: str) -> None:
    """A desktop entry that claims an IP address, localhost, a name below .local, a single label or a host with a port is
    ignored with a reason, and nothing of the kind is asked."""
    web.site(HOST, response(apps(NAME)))
    claim(lap, host)
    wait(lambda: "is not a public host" in lap.log("handoffd"), "the entry to be ignored")
    claim(lap, HOST, application="com.example.other")
    wait_for_answer(lap)
    assert [request.host for request in web.requests] == [HOST]


def test_too_many_claims(lap: WebMachine, web: Web) -> None:
    """An entry with more than 32 claims is ignored."""
    claim(lap, *(f"h{number}.example" for number in range(33)))
    wait(lambda: "more than the 32 allowed" in lap.log("handoffd"), "the entry to be ignored")
    assert "The site h0.example" not in lap.log("handoffd")


# The helper process


def helpers(machine: Machine) -> list[int]:
    """The processes of the program that asks sites."""
    broker = machine.processes["handoffd"].pid
    children = Path(f"/proc/{broker}/task/{broker}/children").read_text().split()
    return [int(number) for number in children if "handoff-associations" in Path(f"/proc/{number}/cmdline").read_text()]


def test_helper_is_confined(lap: WebMachine, web: Web) -> None:
    """The process that asks sites has little memory, few descriptors, no files to write to, nothing of the session in its
    environment, no way to more rights, and ends with the broker."""
    web.site(HOST, silent)
    claim(lap, HOST)
    wait(lambda: web.paths(HOST), "the site to be asked")
    process, = helpers(lap)
    limits = Path(f"/proc/{process}/limits").read_text()
    memory = {} if SANITIZED else {"address space": 1 << 29}
    for name, most in (memory | {"open files": 64, "file size": 0, "core file size": 0, "cpu time": 12}).items():
        assert re.search(rf"^Max {name} +{most} +{most} ", limits, re.MULTILINE), limits
    status = Path(f"/proc/{process}/status").read_text()
    assert "NoNewPrivs:\t1" in status
    environment = Path(f"/proc/{process}/environ").read_text()
    assert str(lap.folder) not in environment
    descriptors = [str(link.readlink()) for link in Path(f"/proc/{process}/fd").iterdir()]
    assert not [name for name in descriptors if name.startswith("/") and name != "/dev/null"], descriptors
    lap.kill("handoffd")
    wait(lambda: not Path(f"/proc/{process}").exists(), "the helper to end", 2)
    lap.start_broker("--verbose")


def test_broker_stays_small(lap: WebMachine, web: Web) -> None:
    """The broker, which asks no site itself, is as small after asking many, leaves no process and no descriptor behind, and
    loads nothing of what the helper needs."""
    process = lap.processes["handoffd"].pid

    def resources() -> tuple[int, int]:
        rollup = Path(f"/proc/{process}/smaps_rollup").read_text()
        dirty = sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Private_Dirty"))
        return dirty, len(list(Path(f"/proc/{process}/fd").iterdir()))

    claim(lap, "warm.example")
    web.site("warm.example", response(apps(NAME)))
    wait_for_answer(lap, "warm.example")
    before = resources()
    names = [f"h{number}.example" for number in range(24)]
    for name in names:
        web.site(name, response(apps(*(f"{TEAM}.x{number}" for number in range(5000)))[:131_000]),
                 web.authority.issue("many.example"))
    claim(lap, "warm.example", *names)
    for name in names:
        wait_for_answer(lap, name)
    dirty, descriptors = resources()
    assert dirty <= before[0] + 512 and descriptors <= before[1] + 1, (before, dirty, descriptors)
    children = Path(f"/proc/{process}/task/{process}/children").read_text()
    assert not children
    maps = Path(f"/proc/{process}/maps").read_text()
    assert "soup" not in maps and "Foundation" not in maps


def test_damaged_memory(web: Web, machine_list: list[Machine]) -> None:
    """Whatever is in the file where answers are kept: the sites are asked, and the file is written anew."""
    lap = WebMachine("lap", web)
    machine_list.append(lap)
    web.site(HOST, response(apps(NAME)))
    claim(lap, HOST)
    kept = Path(lap.environment["XDG_CACHE_HOME"], "handoff", "sites")
    kept.parent.mkdir()
    for number, content in enumerate([b"\xff\0", b"[" * 100_000, b"x" * (3 << 20),
                                      f"[{HOST}]\nAsked=9223372036854775807\nAnswered=-1\n".encode()]):
        kept.write_bytes(content)
        lap.start_broker("--verbose")
        wait(lambda: len(web.requests) > number, "the site to be asked")
        wait(lambda: kept.read_bytes() != content, "the file to be written")
        lap.kill("handoffd")
    lap.start_broker()


def test_host_that_does_not_exist(lap: WebMachine) -> None:
    """A claim to a host that does not exist is logged as such."""
    claim(lap, "unknown.example")
    assert "resolving" in wait_for_answer(lap, "unknown.example")
