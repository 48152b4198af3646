# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pages that go on in a browser that does not run: it is started, and told where in the page its user was."""

from __future__ import annotations

import json
import os
import shutil
import signal
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from buses import ROOT, BusError, let_pass, wait
from clients import Client, Dock
from desktops import install_entry
from gi.repository import GLib
from running_browsers import EXTENSION, PATIENCE, PREFERENCES, RunningBrowser, Site
from support import PROGRAMS, Machine
from test_adapter_browser_host import STARTED_FOR as HOST_ARGUMENTS, TEAM, Host, host
from test_desktop_entries import folder as entries, have_bus_start
from test_web_pages import BROWSER, choose_browser, install_browser, opened
from vendor import ADD_ON, own_id

Machines = tuple[Machine, Machine]
BROWSING = "org.example.Handoff.BrowsingWeb"
CATCHER = own_id("Browser")
CATCHER_PATH = "/org/example/Handoff/Browser"
PAGE = "https://example.com/one?x=1#part"


def install_catcher(machine: Machine) -> None:
    """Installs what continues pages where no browser runs."""
    install_entry(machine, CATCHER)
    variables = " ".join(f"{name}={machine.environment[name]}" for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"))
    have_bus_start(machine, CATCHER, f"/usr/bin/env {variables} {PROGRAMS}/handoff-adapter browser --verbose")


def scrolled(down: float, **fields: str) -> dict[str, GLib.Variant]:
    """Where in a page its user is."""
    state = {"ScrollX": GLib.Variant("d", 0.0), "ScrollY": GLib.Variant("d", down), "Height": GLib.Variant("d", 0.0)}
    sent = [{"Name": GLib.Variant("s", name), "Number": GLib.Variant("x", 0), "Text": GLib.Variant("s", text)}
            for name, text in fields.items()]
    return state | ({"Fields": GLib.Variant("aa{sv}", sent)} if sent else {})


def offered_page(desk: Machine, lap: Machine, address: str, state: dict[str, GLib.Variant]) -> tuple[Client, Dock, str]:
    """A page of a browser on one machine, as the other is offered it, which has no browser that runs."""
    origin, dock = Client(desk, "com.example.origin", (BROWSING,), options=TEAM), Dock(lap)
    origin.create(BROWSING, Title="A page", WebpageURL=address, UserInfo=state).become_current()
    path = dock.offer("A page")
    wait(lambda: dock.offers[path]["Handlers"][:1] == [CATCHER], "the adapter to be known")
    return origin, dock, path


def places(browser: Host) -> list[dict[str, Any]]:
    return [message for message in browser.received if message["message"] == "place"]


def test_place_waits_for_the_browser(machines: Machines) -> None:
    """Where no browser with the add-on runs, the default one is started with the address alone; where in the page its user
    was is kept for its add-on, which is told once, however many browsers there are then. The origin is told that the page
    was continued."""
    desk, lap = machines
    install_catcher(lap)
    log = install_browser(lap)
    origin, dock, path = offered_page(desk, lap, PAGE, scrolled(2400.0, subject="typed"))
    assert dock.offers[path]["Handlers"] == [CATCHER, BROWSER]
    dock.continue_offer(path)
    assert dock.outcome() == (CATCHER, "", "")
    origin.wait_for("WasContinued")
    assert opened(log) == [["--new-tab", PAGE]]
    with host(lap, *HOST_ARGUMENTS) as browser:
        told = browser.asked("place")
        assert told["url"] == PAGE and told["place"]["y"] == 2400
        assert [(field["name"], field["text"]) for field in told["place"]["fields"]] == [("subject", "typed")]
        assert len(places(browser)) == 1
        with host(lap, *HOST_ARGUMENTS) as other:
            other.stands("ready")
            # As long as the add-on that was ready takes to be told of a place, many times over.
            let_pass(0.3)
            assert not places(other)


def test_add_on_that_is_started_twice(machines: Machines) -> None:
    """An add-on that its browser starts anew, as Firefox does at times, is told again what its first host was told."""
    desk, lap = machines
    install_catcher(lap)
    install_browser(lap)
    origin, dock, path = offered_page(desk, lap, PAGE, scrolled(2400.0, subject="typed"))
    dock.continue_offer(path)
    origin.wait_for("WasContinued")
    for _start in range(2):
        with host(lap, *HOST_ARGUMENTS) as browser:
            assert browser.asked("place")["url"] == PAGE


def taken(machine: Machine, browser: str) -> list[dict[str, Any]]:
    """What is kept for this browser, as its add-on's host takes it."""
    return machine.session.call(CATCHER_PATH, "BrowserAdapter.TakePages", GLib.Variant("(s)", (browser,)),
                                destination=CATCHER)[0]


def test_another_browser_gets_no_place(machines: Machines) -> None:
    """Where in a page its user was, and what was typed there, is for the browser that was started: another that starts at
    the same moment is told nothing, and takes nothing away."""
    desk, lap = machines
    install_catcher(lap)
    script = lap.folder / "opener"
    script.write_text("#!/bin/sh\nexit 0\n")
    script.chmod(0o755)
    install_browser(lap, Exec=f"{script} %u")
    _, dock, path = offered_page(desk, lap, PAGE, scrolled(2400.0, subject="typed"))
    dock.continue_offer(path)
    assert dock.outcome() == (CATCHER, "", "")
    with host(lap, *HOST_ARGUMENTS) as other:
        other.stands("ready")
        assert not taken(lap, "chromium")
        assert not places(other)
    assert [page["WebpageURL"] for page in taken(lap, BROWSER)] == [PAGE]
    assert not taken(lap, BROWSER) and not taken(lap, "opener")
    with pytest.raises(BusError, match="InvalidArgs"):
        taken(lap, "../opener")


def test_page_of_a_browser_that_fails_is_forgotten(machines: Machines) -> None:
    """If the browser ends at once with an error, what was typed in the page is not kept for its next start."""
    desk, lap = machines
    install_catcher(lap)
    script = lap.folder / "opener"
    script.write_text("#!/bin/sh\nexit 3\n")
    script.chmod(0o755)
    install_browser(lap, Exec=f"{script} %u")
    _, dock, path = offered_page(desk, lap, PAGE, scrolled(2400.0, subject="typed"))
    dock.continue_offer(path)
    assert dock.outcome()[1] == "org.example.Handoff.Error.ApplicationFailed"
    assert not taken(lap, BROWSER) and not taken(lap, "opener")


def test_pages_in_quick_succession(machines: Machines) -> None:
    """Several pages that are continued before the browser has started all keep their places."""
    desk, lap = machines
    install_catcher(lap)
    log = install_browser(lap)
    for number in range(3):
        origin, dock, path = offered_page(desk, lap, f"{PAGE}{number}", scrolled(100.0 + number))
        dock.continue_offer(path)
        assert dock.outcome() == (CATCHER, "", "")
        origin.close()
        dock.wait_until_gone(path)
    assert len(opened(log)) == 3
    with host(lap, *HOST_ARGUMENTS) as browser:
        wait(lambda: [(one["url"], one["place"]["y"]) for one in places(browser)] ==
             [(f"{PAGE}{number}", 100 + number) for number in range(3)], "all places")


def test_browser_that_is_kept_out(machines: Machines) -> None:
    """A default browser that the user keeps Handoff out of is not started, and the user is told. Where the adapter is
    switched off, the page opens as if there were none."""
    desk, lap = machines
    install_catcher(lap)
    log = install_browser(lap)
    _, dock, path = offered_page(desk, lap, PAGE, scrolled(1.0))
    lap.session.set(ROOT, "Preferences.ExcludedApplications", GLib.Variant("as", [BROWSER]))
    wait(lambda: dock.offers[path]["Handlers"] == [CATCHER], "the browser to be left out")
    dock.continue_offer(path)
    application, error, message = dock.outcome()
    assert (application, error) == (CATCHER, "org.example.Handoff.Error.ApplicationFailed")
    assert f"You keep Handoff out of {BROWSER}" in message and not opened(log)
    # An entry that the user has made leads to the same program, which is what counts.
    script = lap.folder / "opener"
    script.write_text(f"#!/bin/sh\ntouch {log}\n")
    script.chmod(0o755)
    made = entries(lap) / f"{BROWSER}.desktop"
    entry = made.read_text()
    made.write_text(entry.replace(next(line for line in entry.splitlines() if line.startswith("Exec=")), f"Exec={script} %u"))
    lap.session.set(ROOT, "Preferences.ExcludedApplications", GLib.Variant("as", ["opener"]))
    dock.continue_offer(path)
    wait(lambda: len(dock.finished()) == 2, "the second outcome")
    assert "You keep Handoff out of opener" in dock.finished()[1][2] and not log.exists()
    made.write_text(entry)
    lap.session.set(ROOT, "Preferences.ExcludedApplications", GLib.Variant("as", []))
    lap.session.set(ROOT, "Preferences.DisabledAdapters", GLib.Variant("as", ["browser"]))
    wait(lambda: dock.offers[path]["Handlers"] == [BROWSER], "the adapter to be left out")
    dock.continue_offer(path)
    wait(lambda: dock.finished()[2:] == [(BROWSER, "", "")], "the page to be opened")
    wait(lambda: opened(log) == [["--new-tab", PAGE]], "the page")


def test_page_that_is_none_is_not_opened(machines: Machines) -> None:
    """A peer cannot have a browser started with anything but an http or https page without user info."""
    desk, lap = machines
    install_catcher(lap)
    log = install_browser(lap)
    for number, address in enumerate(("https://user@example.com/", ""), 1):
        origin, dock, path = offered_page(desk, lap, address, {})
        dock.continue_offer(path)
        application, error, message = dock.outcome()
        assert (application, error) == (CATCHER, "org.example.Handoff.Error.ApplicationFailed"), number
        assert "http and https pages" in message
        origin.close()
        dock.wait_until_gone(path)
    assert not opened(log)


# What tells the site how far it is scrolled, and what is in its field.
TELLING = """<!doctype html><meta charset="utf-8"><title>Telling</title><form><input name="subject"></form>
<div style="height: 8000px"></div><script>
let told = '';
setInterval(() => {
    const now = `/at/${Math.round(scrollY)}/${document.querySelector('input').value}`;
    if (now !== told) { told = now; void fetch(now); }
}, 100);
</script>"""


class StartedBrowser(RunningBrowser):
    """A browser of a machine that Handoff starts."""

    def __init__(self, machine: Machine, program: str) -> None:
        self.program = program
        super().__init__(machine)
        options = self.prepare_chromium() if program == "chromium" else self.prepare_firefox()
        self.number = machine.folder / "browser.pid"
        script = machine.folder / "browser"
        script.write_text(f'#!/bin/sh\necho $$ >> {self.number}\nexec {program} {options} "$@" > {self.log_file} 2>&1\n')
        script.chmod(0o755)
        entries(machine).mkdir(parents=True, exist_ok=True)
        (entries(machine) / f"{program}.desktop").write_text(
            f"[Desktop Entry]\nType=Application\nName={program}\nExec={script} %u\n"
            "MimeType=x-scheme-handler/http;x-scheme-handler/https;\n")
        choose_browser(machine, program)

    def prepare_chromium(self) -> str:
        self.install_host(self.profile / "NativeMessagingHosts", "chromium.json.in")
        return (f"--headless=new --no-sandbox --disable-gpu --no-first-run --password-store=basic --disable-dev-shm-usage"
                f" --user-data-dir={self.profile} --disable-background-networking --load-extension={EXTENSION}")

    def prepare_firefox(self) -> str:
        self.install_host(Path(self.machine.environment["HOME"]) / ".mozilla" / "native-messaging-hosts", "firefox.json.in")
        chosen = PREFERENCES | {"xpinstall.signatures.required": False, "extensions.autoDisableScopes": 0}
        (self.profile / "user.js").write_text(
            "".join(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in chosen.items()))
        (self.profile / "extensions").mkdir(exist_ok=True)
        with zipfile.ZipFile(self.profile / "extensions" / f"{ADD_ON}.xpi", "w") as package:
            for path in EXTENSION.rglob("*"):
                package.write(path, path.relative_to(EXTENSION))
        return f"--headless --no-remote --new-instance --profile {self.profile}"

    def close(self) -> None:
        for number in self.number.read_text().split() if self.number.exists() else []:
            try:
                os.killpg(os.getpgid(int(number)), signal.SIGKILL)
            except ProcessLookupError:
                continue


@contextmanager
def started_by_handoff(machine: Machine, program: str) -> Iterator[StartedBrowser]:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed: meson-helpers/install-packages desktop")
    install_catcher(machine)
    browser = StartedBrowser(machine, program)
    try:
        yield browser
    finally:
        browser.close()


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    yield site
    site.close()


@pytest.mark.desktop
@pytest.mark.parametrize("program", ["chromium", "firefox-esr"])
def test_page_goes_on_in_a_browser_that_does_not_run(machines: Machines, site: Site, program: str) -> None:
    """A page that is continued where no browser runs opens in the default one, scrolled alike, and with what was typed."""
    desk, lap = machines
    site.bodies["telling"] = TELLING
    with started_by_handoff(lap, program) as browser:
        _, dock, path = offered_page(desk, lap, f"{site.address}/telling?x=1#there", scrolled(2400.0, subject="typed"))
        dock.continue_offer(path)
        assert dock.outcome() == (CATCHER, "", "")
        try:
            wait(lambda: "/at/2400/typed" in site.requests, "the page to be at its place", PATIENCE)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{site.requests}\n{browser.log}") from error
    assert site.requests[0] == "/telling?x=1"
