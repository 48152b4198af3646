# SPDX-License-Identifier: LGPL-2.1-or-later
"""Two Debians with installed packages: what is begun in the session of one goes on in that of the other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from bare_machines import Pair, inside, machines_on_a_cable, packages, pair  # noqa: F401
from booted import PATIENCE, RUNTIME, Booted
from buses import BRIDGE, BRIDGE_ROOT, BROKER, ROOT, wait
from vendor import own_id

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def sessions(packages: list[Path]) -> Iterator[Pair]:  # noqa: F811
    """Two machines on which the user has logged in, and which are paired."""
    with machines_on_a_cable(packages) as both:
        for machine in both:
            machine.log_in()
        pair(*both)
        yield both


def go_on(machine: Booted, title: str, application: str) -> None:
    """Continues what is offered under this title, by the command line, once this application can."""
    def offer() -> dict | None:
        offers = json.loads(machine.run("handoff", "list", "--json").stdout)
        return next((one for one in offers if one["title"] == title
                     and application in one["handlers"] + one["handlersToStart"]), None)

    machine.run("handoff", "continue", wait(offer, f"the offer “{title}”", PATIENCE)["activityId"])


def test_paired_by_the_command_line(sessions: Pair) -> None:
    """`handoff pair` pairs two installed machines, one of which has found the other on the network."""
    for machine, other in (sessions, sessions[::-1]):
        assert other.name in machine.run("handoff", "devices").stdout


def test_page_goes_on(sessions: Pair) -> None:
    """The page in front of a browser that was installed by nobody but APT, with the add-on of our package, goes on in the
    browser of the other machine, scrolled as it was."""
    desk, lap = sessions
    with inside(desk, lap) as (here, there):
        here.do(f"from running_browsers import *; site = Site('{desk.address}')")
        site = here.ask("site.address")
        here.do(f"browser = InstalledChromium(here, '{site}/one')")
        here.do("wait(lambda: browser.evaluate('document.readyState', '/one') == 'complete', 'the page', 60)")
        here.do("browser.scroll(2400, '/one')")
        there.do(f"from running_browsers import *; browser = InstalledChromium(here, '{site}/two')")
        # Before it takes part, what is continued goes to the user's usual browser by its address alone.
        wait(lambda: "Page two" in desk.run("handoff", "list").stdout, "the page of the other browser", PATIENCE)
        try:
            go_on(lap, "Page one", "chromium")
            there.do("wait(lambda: browser.evaluate('Math.round(scrollY)', '/one') == 2400, 'the page', 60)")
        finally:
            for program in (here, there):
                program.do("browser.close()")


def test_contacts_go_on(sessions: Pair) -> None:
    """A contact that is half typed goes on in the address book of the other machine, which its session starts."""
    desk, lap = sessions
    desk.launch(own_id("Contacts"))
    with inside(desk, lap) as (here, there):
        for program in (here, there):
            program.do("from test_contacts_handoff import *")
            program.do("started = lambda: Contacts.started(here, here.screen, PROGRAM, APPLICATION_ID)")
        here.do("window = started(); begin(window, name='Ada Lovelace', phone='+44 20')")
        go_on(lap, "Ada Lovelace", own_id("Contacts"))
        there.do("window = started(); window.wait_for_form(name='Ada Lovelace', phone='+44 20')")
        here.do("window.wait_for('label', 'Continued on lap')")
        for program in (here, there):
            program.do("os.kill(window.process.pid, signal.SIGKILL)")


# What a program in a sandbox of Flatpak's has: a root of its own, with the file that says whose it is.
SANDBOX = ("bwrap", "--unshare-user", "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib",
           "--symlink", "usr/lib64", "/lib64", "--bind", "/run", "/run", "--dev", "/dev", "--proc", "/proc", "--ro-bind",
           f"{RUNTIME}/flatpak-info", "/.flatpak-info", "--")


def test_sandboxed_under_systemd(sessions: Pair) -> None:
    """The daemons, as units of the user's systemd with all that these forbid them, tell who is in a sandbox: to such a caller
    what it may not use does not exist, and everybody else may use it."""
    desk = sessions[0]
    desk.run("sh", "-c", f"printf '[Application]\\nname=com.example.boxed\\n' >{RUNTIME}/flatpak-info")

    def get(name: str, path: str, interface: str, member: str, *before: str) -> str:
        call = ("gdbus", "call", "--session", "--dest", name, "--object-path", path, "--method",
                "org.freedesktop.DBus.Properties.Get", f"{BROKER}.{interface}", member)
        done = desk.run(*before, *call, check=False)
        return done.stdout + done.stderr

    bridge = (BRIDGE, BRIDGE_ROOT, "Bridge", "DeviceId")
    preferences = (BROKER, ROOT, "Preferences", "DeviceName")
    for what in (bridge, preferences):
        assert "(<" in get(*what), "who is in no sandbox may"
        assert "Unknown" in get(*what, *SANDBOX)
    assert "(<true>,)" in get(BROKER, ROOT, "Manager", "Enabled", *SANDBOX), "this everybody may"
    environment = desk.run("systemctl", "--user", "show", "--property=NoNewPrivileges", "handoff-bridge.service").stdout
    assert "yes" in environment, "the unit is hardened"
