# SPDX-License-Identifier: LGPL-2.1-or-later
"""Six real applications, each by an adapter of its own or by itself, that are open at one device and go on at another at once."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from buses import wait
from clients import Dock
from contacts import APPLICATION_ID as CONTACTS
from contacts import PROGRAM, Contacts, begin, not_built
from desktops import keep
from editors import wait_for_state
from players import RealPlayer, tone
from running_browsers import PATIENCE, Site, running
from settings import Settings, complaints
from support import Machine, pair
from terminal import shells_of
from test_command import done
from viewers import VIEWERS
from windows import Accessibility
from workspaces import Workspace, missing

pytestmark = pytest.mark.desktop

# What they are called, the latest used first, as they are listed, and what continues each there.
CONTACT, FOLDER, LETTER, THESIS, FILM, PAGE = TITLES = (
    "Ada Lovelace", "A project", "A letter.txt", "Thesis.pdf", "A tone", "Page one")
HANDLERS = (CONTACTS, "a terminal here", "the text editor here", "the document viewer or file manager here",
            "the media player here", "chromium")
# Where each is: what is typed into a form, and into the third line of a letter, a page, a time in seconds, and pixels.
FORM = {"name": CONTACT, "phone": "+44 20"}
LINES, NEW = ["Dear Ada,", "", "the other machine has this too.", "Best", "wishes"], "It was not saved. "
TYPED = [*LINES[:2], f"the {NEW}other machine has this too.", *LINES[3:]]
SHEET, POSITION, DOWN = 4, 30, 2400
# The cursor of Vim is on the last character of what was typed.
CURSOR = {"line": 3, "column": len(f"the {NEW}"), "modified": True}
# How far what plays may be from where it was, in seconds.
NEAR = 0.2


class Workspaces:
    """What is open at lap, and goes on at desk."""

    def __init__(self, desk: Workspace, lap: Workspace, site: Site, browsers: ExitStack) -> None:
        self.desk, self.lap = desk, lap
        # On most devices a browser runs already. What else there is has to be started.
        self.browser = browsers.enter_context(running(desk.machine, "chromium", f"{site.address}/two"))
        self.browser_at_lap = browsers.enter_context(running(lap.machine, "chromium", f"{site.address}/one"))
        for workspace in (desk, lap):
            (workspace.papers / FOLDER).mkdir()
        self.player = self.open_all()
        wait(lambda: self.obstacles() == dict.fromkeys(TITLES, ""), "all to be open, and to be continued at desk", PATIENCE)
        self.begun, self.position = time.monotonic(), self.player.position

    def open_all(self) -> RealPlayer:
        """Goes from one application to the next at lap, and stays at each until it is offered: what plays in mpv."""
        lap, home, dock = self.lap, Path(self.lap.environment["HOME"]), Dock(self.desk.machine)
        dock.offer(PAGE, PATIENCE)
        self.browser_at_lap.scroll(DOWN, "/one")
        lap.start("mpv", str(tone(home / "A film.wav", 600)))
        player = RealPlayer(lap.machine, "mpv")
        player.wait_for("Playing")
        player.go_to(POSITION)
        dock.offer(FILM, PATIENCE)
        VIEWERS["zathura"](lap).open(lap.document(THESIS), SHEET)
        # The copy is no older than the document, or a newer one would be waited for.
        self.desk.document(THESIS)
        dock.offer(THESIS, PATIENCE)
        (home / LETTER).write_text("\n".join(LINES) + "\n")
        lap.start("xterm", "-title", "Vim", "-e", "vim", str(home / LETTER))
        wait_for_state(lap.machine, file=str(home / LETTER))
        dock.offer(LETTER, PATIENCE)
        lap.go_to("Vim")
        lap.type(f"3G4li{NEW}")
        lap.keys("Escape")
        wait_for_state(lap.machine, **CURSOR)
        lap.start("xterm", "-title", "Shell", "-e", "bash", "-c", f"cd '{lap.papers / FOLDER}' && exec bash")
        lap.go_to("Shell")
        lap.type("handoff here")
        lap.keys("Return")
        dock.offer(FOLDER, PATIENCE)
        begin(Contacts(lap.machine, lap.screen), **FORM)
        return player

    def obstacles(self) -> dict[str, str]:
        """What is open at lap as desk lists it, each with why it cannot be continued there."""
        result = self.desk.machine.run("handoff", "list", "--open", "--json", "--device", "lap")
        return {offer["title"]: offer["obstacle"] for offer in json.loads(done(result))}

    def wait_until_moved(self) -> None:
        """Waits until each is at its place in a program at desk, which is asked for it."""
        desk = self.desk
        Contacts.started(desk.machine, desk.screen, PROGRAM, CONTACTS).wait_for_form(**FORM)
        wait(lambda: str(desk.papers / FOLDER) in [os.readlink(shell / "cwd") for shell in shells_of(desk.machine)],
             "a shell in the folder", PATIENCE)
        now = wait_for_state(desk.machine, **CURSOR)
        assert now["text"] == TYPED and Path(now["file"]).name == LETTER
        assert Path(now["file"]).read_text() == "\n".join(LINES) + "\n"
        VIEWERS["zathura"](desk).shown(desk.papers / THESIS, SHEET, PATIENCE)
        there = RealPlayer(desk.machine, "mpv")
        there.wait_for("Playing")
        position, passed = there.position, time.monotonic() - self.begun
        assert there.plays.endswith("/A%20film.wav")
        assert self.position - NEAR <= position <= self.position + passed + NEAR, \
            f"{position} after {self.position} and {passed:.1f} s"
        self.player.wait_for("Paused")
        wait(lambda: self.browser.evaluate("Math.round(scrollY)", "/one") == DOWN, "the page at its place", PATIENCE)

    def shoot(self, name: str, *windows: str) -> None:
        """Takes a picture of desk, with these windows beside each other, if somebody wants to look at it."""
        if "HANDOFF_PICTURES" in os.environ:
            self.desk.tile(*windows)
            keep(self.desk.screen.shoot(name))


@pytest.fixture
def workspaces(machine_list: list[Machine], accessibility: Accessibility, tmp_path: Path) -> Iterator[Workspaces]:
    """Two machines that are paired, with six applications open at the second."""
    if reason := not_built() or missing():
        pytest.skip(reason)
    with ExitStack() as ending:
        site = Site()
        ending.callback(site.close)
        desk, lap = (Workspace(machine_list, name, tmp_path) for name in ("desk", "lap"))
        for workspace in (desk, lap):
            ending.callback(workspace.close)
        pair(desk.machine, lap.machine)
        yield Workspaces(desk, lap, site, ending)


def test_one_click(workspaces: Workspaces) -> None:
    """By one click in the Handoff window a page, a film, a document, a text, the folder of a shell and a contact, which are open
    in six programs of another device, go on in these programs here, each at its place."""
    desk = workspaces.desk.machine
    window = Settings(desk, workspaces.desk.screen)
    window.go_to("Devices")
    window.button("Everything…", "lap").press()
    window.wait_for("frame", "Everything on lap")
    button = window.wait_for("push button", "Continue 6")
    assert all(window.switch(title).is_on for title in TITLES)
    workspaces.shoot("everything-six.png")
    window.focus()
    window.click(button)
    window.wait_to_see("6 of 6 continued")
    workspaces.wait_until_moved()
    workspaces.shoot("everything-six-continued.png", "Everything on lap", "^Contacts$", PAGE, THESIS, LETTER, "term$")
    assert not complaints(desk)


def test_one_command(workspaces: Workspaces) -> None:
    """By one command the same six go on here, each at its place, and it says so of each."""
    desk = workspaces.desk.machine
    listed = done(desk.run("handoff", "list", "--open", "--device", "lap")).splitlines()
    assert len(listed) == 1 + len(TITLES)
    assert all(title in line and handler in line for title, handler, line in zip(TITLES, HANDLERS, listed[1:]))
    lines = done(desk.run("handoff", "continue", "--all", "--yes", "--device", "lap")).splitlines()
    assert lines.pop() == "6 of 6 activities of “lap” were continued."
    verbs = ["Opened" if title == PAGE else "Continued" for title in TITLES]
    assert sorted(lines) == sorted(f"{verb} “{title}” of “lap” in {handler}."
                                   for verb, title, handler in zip(verbs, TITLES, HANDLERS))
    workspaces.wait_until_moved()
    workspaces.shoot("everything-by-command.png", "^Contacts$", PAGE, THESIS, LETTER, "term$")
