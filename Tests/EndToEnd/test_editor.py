# SPDX-License-Identifier: LGPL-2.1-or-later
"""A real editor, which shows a document that was handed off."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from buses import wait
from clients import APPLICATION_ID, Client
from origin import folder, start_reader
from screen import Screen
from support import Machine, pair
from test_desktop_entries import folder as entries

pytestmark = pytest.mark.desktop

# How long an editor may take to start with a new home folder.
PATIENCE = 60


@pytest.fixture
def lap(machine_list: list[Machine], tmp_path: Path) -> Iterator[Machine]:
    """A machine on which nothing runs but the two daemons, and a screen."""
    for program in ("gedit", "Xvfb", "xwininfo", "import"):
        if shutil.which(program) is None:
            pytest.skip(f"there is no {program}: meson-helpers/install-packages desktop")
    screen = Screen(tmp_path)
    lap = start_reader(machine_list, "lap", DISPLAY=screen.display, GSETTINGS_BACKEND="memory", NO_AT_BRIDGE="1",
                       GDK_BACKEND="x11", LIBGL_ALWAYS_SOFTWARE="1")
    lap.screen = screen
    yield lap
    for process in processes_of("gedit", screen.display):
        os.kill(process, signal.SIGKILL)
    screen.close()


def processes_of(program: str, display: str) -> list[int]:
    """The processes of a program that was started on this display."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "comm").read_text().strip() == program and \
                    f"DISPLAY={display}".encode() in (process / "environ").read_bytes().split(b"\0"):
                found.append(int(process.name))
        except OSError:
            pass
    return found


def test_editor_shows_the_document(machine_list: list[Machine], lap: Machine) -> None:
    """From a machine where nothing runs but the two daemons, `handoff continue` starts a real editor with the document that
    was handed off, brought over from the other machine."""
    desk = start_reader(machine_list, "desk")
    pair(desk, lap)
    entries(lap).mkdir(parents=True, exist_ok=True)
    Path(lap.environment["XDG_CONFIG_HOME"], "mimeapps.list").write_text(
        "[Default Applications]\ntext/plain=example.gedit.desktop\n")
    # The one that is installed would have the bus start it, which knows nothing of the screen.
    (entries(lap) / "example.gedit.desktop").write_text(
        "[Desktop Entry]\nType=Application\nName=gedit\nExec=gedit --standalone %U\nMimeType=text/plain;\n")
    letter = Path(desk.environment["HOME"], "Letter to Jürgen.txt")
    letter.write_text("Dear Jürgen,\n\nthis letter was begun on another machine.\n")
    Client(desk, types=("com.example.editor.edit",)).offer("Letter", DocumentURL=letter.as_uri())
    listed = wait(lambda: (text := lap.run("handoff", "list", "--json").stdout) and "Letter" in text and text, "the offer")
    assert APPLICATION_ID in listed and not processes_of("gedit", lap.screen.display)
    done = lap.run("handoff", "continue", "--app", "example.gedit", json.loads(listed)[0]["activityId"])
    assert done.returncode == 0, done.stderr
    assert (folder(lap) / letter.name).read_bytes() == letter.read_bytes()
    wait(lambda: any(letter.name in title for title in lap.screen.titles()), "the window of the editor", PATIENCE)
    picture = lap.screen.shoot("editor.png")
    assert picture.stat().st_size > 1000
