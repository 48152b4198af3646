# SPDX-License-Identifier: LGPL-2.1-or-later
"""Real browsers, which show pages that were handed off."""

from __future__ import annotations

import http.server
import os
import shutil
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from buses import wait
from clients import Client, Dock
from support import Machine
from test_web_pages import choose_browser, named
from test_desktop_entries import folder

pytestmark = pytest.mark.desktop

# How long a browser may take to start, which it does with a new profile.
PATIENCE = 90

# Each with its command line, in which DIR is a folder for its profile, and the word by which it calls itself.
BROWSERS = {
    "firefox-esr": ("firefox-esr --headless --no-remote --profile DIR %u", "Firefox/"),
    "chromium": ("chromium --headless=new --no-sandbox --disable-gpu --no-first-run --user-data-dir=DIR %u", "Chrome/"),
}


class Pages:
    """A web server on this machine, which remembers what was asked for and by whom."""

    def __init__(self) -> None:
        pages = self

        class Handler(http.server.BaseHTTPRequestHandler):
            """Answers with a page."""

            def do_GET(self) -> None:
                pages.requests.append((self.path, self.headers.get("User-Agent", "")))
                body = b"<!doctype html><title>Handed off</title><p>Here it is."
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_arguments: object) -> None:
                pass

        self.requests: list[tuple[str, str]] = []
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def pages() -> Iterator[Pages]:
    pages = Pages()
    yield pages
    pages.server.shutdown()
    pages.server.server_close()


def install_real(machine: Machine, program: str) -> str:
    """Makes a browser the default one, with what it needs where there are no windows, and returns its id."""
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed: meson-helpers/install-packages desktop")
    name = f"org.example.{program}"
    profile = machine.folder / "profile"
    profile.mkdir()
    command, _ = BROWSERS[program]
    folder(machine).mkdir(parents=True, exist_ok=True)
    (folder(machine) / f"{name}.desktop").write_text(
        f"[Desktop Entry]\nType=Application\nName={program}\nExec={command.replace('DIR', str(profile))}\n"
        "MimeType=x-scheme-handler/http;x-scheme-handler/https;\n")
    choose_browser(machine, name)
    return name


def end_browsers(machine: Machine) -> None:
    """Ends the processes whose command line names the profile of this test, and no others."""
    mark = str(machine.folder / "profile").encode()
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        try:
            if mark in (process / "cmdline").read_bytes():
                os.kill(int(process.name), signal.SIGKILL)
        except OSError:
            continue


@pytest.mark.parametrize("program", BROWSERS)
def test_a_real_browser_shows_the_page(machines: tuple[Machine, Machine], pages: Pages, program: str) -> None:
    """A real browser that does not run, the user's default one, is started by handoff continue, and shows the page that was
    handed off."""
    desk, lap = machines
    name = install_real(lap, program)
    page = f"{pages.address}/handed-off?by={program}#there"
    origin, dock = Client(desk), Dock(lap)
    origin.offer("A page", WebpageURL=page)
    try:
        path = named(dock, "A page", name)
        done = lap.run("handoff", "continue", path.rpartition("/")[2])
        assert done.returncode == 0, done.stderr
        agents = wait(lambda: [agent for asked, agent in pages.requests if asked == f"/handed-off?by={program}"],
                      f"the page to be shown by {program}", PATIENCE)
        assert BROWSERS[program][1] in agents[0]
        origin.wait_for("WasContinued")
    finally:
        end_browsers(lap)
