# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pages that a real browser showed before it had the Handoff add-on, which it never puts into them by itself."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from buses import let_pass, wait
from clients import Dock
from running_browsers import EXTENSION, PATIENCE, Chromium, Site
from support import Machine
from test_adapter_browser import TYPE_ALL, Machines, Reader, offered, scrolled, site  # noqa: F401
from test_adapter_browser_started import CATCHER, entries, install_catcher, offered_page, scrolled as place
from test_web_pages import choose_browser

pytestmark = pytest.mark.desktop

# After how many seconds Chromium takes a page that is there for idle. It puts the add-on into those that are not yet.
IDLE = 1


class LateChromium(Chromium):
    """Chromium that has the add-on only once it is told so, as when the add-on is installed while the browser runs. When it
    starts, it may show a page before it knows the scripts of its add-ons, too."""

    add_on = ("--enable-unsafe-extension-debugging",)

    def load_add_on(self) -> None:
        self.command("Extensions.loadUnpacked", path=str(EXTENSION))

    def session(self, page: str) -> str:
        self.evaluate("0", page)
        return self._sessions[self.target(page)]

    def target(self, page: str) -> str:
        return next(one["targetId"] for one in self.targets() if one["type"] == "page" and page in one["url"])

    def show(self, page: str) -> None:
        """Goes to the tab of a page."""
        self.command("Target.activateTarget", targetId=self.target(page))

    def click(self, page: str) -> None:
        """Is for the page as if its user had clicked there."""
        self.command("Runtime.evaluate", self.session(page), expression="0", userGesture=True)
        assert self.evaluate("navigator.userActivation.hasBeenActive", page)


@contextmanager
def late_chromium(machine: Machine, address: str) -> Iterator[LateChromium]:
    """Such a browser, once it shows a page."""
    if shutil.which("chromium") is None:
        pytest.skip("chromium is not installed: meson-helpers/install-packages desktop")
    browser = LateChromium(machine, address)
    try:
        wait(lambda: browser.evaluate("document.readyState", address) == "complete", "the page", PATIENCE)
        let_pass(IDLE)
        yield browser
    finally:
        browser.close()


def test_page_before_the_add_on(machines: Machines, site: Site) -> None:  # noqa: F811
    """A page that Chromium showed before it had the add-on goes on where its user had scrolled to, and with what was typed
    into its forms. If the user had used it by then, nothing of its forms goes along: what was a password may be text now."""
    desk, lap = machines
    with late_chromium(desk, f"{site.address}/calm") as browser:
        dock, reader = Dock(lap), Reader(lap)
        browser.open(f"{site.address}/used")
        browser.click("/used")
        for page in ("/calm", "/used"):
            browser.evaluate(TYPE_ALL, page)
            browser.scroll(2400, page)
        browser.load_add_on()
        dock.continue_offer(offered(dock, "Page used"), ApplicationId=reader.application_id)
        assert reader.user_info()["ScrollY"] == 2400
        browser.choose("document.querySelector('#forms').click()")
        for number, (page, has_fields) in enumerate((("calm", True), ("used", False)), 2):
            browser.show(f"/{page}")
            dock.continue_offer(offered(dock, f"Page {page}"), ApplicationId=reader.application_id)
            user_info = reader.user_info(number)
            assert user_info["ScrollY"] == 2400 and ("Fields" in user_info) == has_fields, page
        assert not [asked for asked in site.requests if asked.startswith("/sent")]


def test_started_with_a_page_before_the_add_on(machines: Machines, site: Site) -> None:  # noqa: F811
    """A page that Chromium was started with to continue it there is scrolled alike, and has what was typed, also if it was
    there before the add-on."""
    desk, lap = machines
    install_catcher(lap)
    script = lap.folder / "opener"
    script.write_text("#!/bin/sh\nexit 0\n")
    script.chmod(0o755)
    (entries(lap) / "chromium.desktop").write_text(
        f"[Desktop Entry]\nType=Application\nName=chromium\nExec={script} %u\n"
        "MimeType=x-scheme-handler/http;x-scheme-handler/https;\n")
    choose_browser(lap, "chromium")
    _, dock, path = offered_page(desk, lap, f"{site.address}/started", place(2400.0, subject="typed"))
    dock.continue_offer(path)
    assert dock.outcome() == (CATCHER, "", "")
    with late_chromium(lap, f"{site.address}/started") as browser:
        browser.load_add_on()
        wait(lambda: scrolled(browser, "/started") == 2400, "the page to be at its place", PATIENCE)
        assert browser.evaluate("document.querySelector('[name=subject]').value", "/started") == "typed"
