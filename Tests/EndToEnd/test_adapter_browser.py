# SPDX-License-Identifier: LGPL-2.1-or-later
"""Real browsers with the Handoff add-on: the page in front goes on in the browser of another machine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from buses import wait
from clients import Dock
from running_browsers import PATIENCE, RunningBrowser, Site, running
from support import Machine

pytestmark = pytest.mark.desktop

Machines = tuple[Machine, Machine]
PROGRAMS = ("chromium", "firefox-esr")


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


@pytest.mark.parametrize("program", [pytest.param(name, marks=pytest.mark.smoke) for name in PROGRAMS])
def test_page_is_offered(machines: Machines, site: Site, program: str) -> None:
    """The page in front of a browser is the current activity, with its title and address and where it is scrolled to."""
    desk, lap = machines
    with running(desk, program, f"{site.address}/first") as browser:
        dock = Dock(lap)
        path = offered(dock, "Page first")
        assert dock.offers[path]["ApplicationId"] == program
        browser.scroll(700, "/first")
        browser.open(f"{site.address}/second")
        offered(dock, "Page second")
