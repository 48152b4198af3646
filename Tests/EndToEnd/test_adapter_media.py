# SPDX-License-Identifier: LGPL-2.1-or-later
"""What plays in real media players goes on on another machine."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from gi.repository import GLib
from buses import let_pass, wait
from choices import restarted
from clients import Client, Dock
from players import PROGRAMS_OF_PLAYERS, FalsePlayer, RealPlayer, end_players, missing, start_adapter, \
    start_media_machine, tone
from screen import Screen
from support import PROGRAMS, Machine, pair
from vendor import own_id

pytestmark = pytest.mark.desktop

Machines = tuple[Machine, Machine]
# How far what plays may be from where it was, in seconds.
NEAR = 0.2
# The players on the bus, by their programs.
NAMES = {"mpv": "mpv", "vlc": "vlc", "celluloid": "io.github.celluloid_player.Celluloid.instance-1",
         "rhythmbox": "rhythmbox", "totem": "totem"}


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Screen]:
    if reason := missing("Xvfb"):
        pytest.skip(reason)
    screen = Screen(tmp_path)
    yield screen
    screen.close()


@pytest.fixture
def media_machines(machine_list: list[Machine], screen: Screen) -> Iterator[Machines]:
    """Two machines that are paired, on both of which the adapter is installed."""
    programs = screen.place / "programs"
    programs.mkdir()
    if os.getuid() == 0:
        (programs / "vlc").symlink_to(Path(__file__).with_name("vlc_program.py"))
    desk, lap = (start_media_machine(
        machine_list, name, DISPLAY=screen.display, GSETTINGS_BACKEND="keyfile", NO_AT_BRIDGE="1", GDK_BACKEND="x11",
        LIBGL_ALWAYS_SOFTWARE="1", PATH=f"{programs}:{PROGRAMS}:{os.environ['PATH']}") for name in ("desk", "lap"))
    pair(desk, lap)
    yield desk, lap
    for machine in (desk, lap):
        machine.processes = {name: process for name, process in machine.processes.items()
                             if name not in PROGRAMS_OF_PLAYERS}
        end_players(machine)


def wait_until_continued(dock: Dock) -> None:
    application, error, message = dock.outcome(40)
    assert not error, f"{application}: {message}"


def play(machine: Machine, program: str, file: Path) -> RealPlayer:
    """Starts a player with a file."""
    machine.start(program, str(file))
    player = RealPlayer(machine, NAMES[program])
    while program == "rhythmbox" and player.get("PlaybackStatus") != "Playing":
        # A file that it is started with is but added to its collection, and at first it does not listen.
        player.call("OpenUri", GLib.Variant("(s)", (file.as_uri(),)))
        # Asked more often, it would begin anew each time.
        let_pass(1)
    player.wait_for("Playing")
    return player


def continued(machines: Machines, program: str, here: RealPlayer) -> RealPlayer:
    """Has what plays here go on there, and checks that it does so where it was."""
    desk, lap = machines
    dock = Dock(lap)
    path = wait(lambda: next(iter(dock.offers), None), "the offer")
    begin, before = time.monotonic(), here.position
    dock.continue_offer(path)
    wait_until_continued(dock)
    there = RealPlayer(lap, NAMES[program])
    there.wait_for("Playing")
    position, passed = there.position, time.monotonic() - begin
    assert before - NEAR <= position <= before + passed + NEAR, f"{position} after {before} and {passed:.1f} s"
    here.wait_for("Paused")
    return there


@pytest.mark.parametrize("program", [
    pytest.param("mpv", marks=pytest.mark.always), "vlc", "celluloid", "rhythmbox"])
def test_same_player_is_started(media_machines: Machines, program: str) -> None:
    """A file that plays in a real player goes on in the same one on the other machine, which is started for it, where it was
    to the fifth of a second, and pauses where it was."""
    if reason := missing(program):
        pytest.skip(reason)
    desk, _lap = media_machines
    film = tone(Path(desk.environment["HOME"], "A film.wav"))
    start_adapter(desk)
    here = play(desk, program, film)
    here.go_to(20)
    there = continued(media_machines, program, here)
    assert there.plays.endswith("/Handoff/A%20film.wav")


@pytest.mark.parametrize("program", [pytest.param("mpv", marks=pytest.mark.always), "vlc", "celluloid", "rhythmbox"])
def test_running_player_goes_on(media_machines: Machines, program: str) -> None:
    """If the player runs on the other machine already, with something else, what is continued goes on in it."""
    if reason := missing(program):
        pytest.skip(reason)
    desk, lap = media_machines
    film, other = (tone(Path(machine.environment["HOME"], name))
                   for machine, name in ((desk, "A film.wav"), (lap, "Another.wav")))
    for machine, file in ((desk, film), (lap, other)):
        start_adapter(machine)
    here, there = play(desk, program, film), play(lap, program, other)
    here.go_to(30)
    continued(media_machines, program, here)
    assert there.plays.endswith("/Handoff/A%20film.wav")


def test_totem_goes_on(media_machines: Machines) -> None:
    """Totem does not say what it plays, but what Totem has played elsewhere goes on in it where it was."""
    if reason := missing("totem"):
        pytest.skip(reason)
    desk, lap = media_machines
    film = tone(Path(desk.environment["HOME"], "A film.wav"))
    origin, dock = FalsePlayer(desk, "false", "org.gnome.Totem"), Dock(lap)
    origin.plays(film.as_uri(), "A film", 25_000_000)
    # Without a player it would end.
    start_adapter(desk)
    begin = time.monotonic()
    dock.continue_offer(dock.offer("A film"))
    wait_until_continued(dock)
    there = RealPlayer(lap, NAMES["totem"])
    there.wait_for("Playing")
    assert 25 - NEAR <= there.position <= 25 + time.monotonic() - begin + NEAR


def test_default_player_goes_on(media_machines: Machines) -> None:
    """Where the player that has played a file is not installed, what the user opens such files with goes on, at the place."""
    if reason := missing("mpv"):
        pytest.skip(reason)
    desk, lap = media_machines
    film = tone(Path(desk.environment["HOME"], "A film.wav"))
    Path(lap.environment["XDG_CONFIG_HOME"], "mimeapps.list").write_text(
        "[Default Applications]\naudio/x-wav=mpv.desktop\naudio/vnd.wave=mpv.desktop\n")
    for machine in (desk, lap):
        start_adapter(machine)
    applications = Path(desk.environment["XDG_DATA_HOME"], "applications")
    shutil.copy("/usr/share/applications/mpv.desktop", applications / "com.example.player.desktop")
    origin, dock = FalsePlayer(desk, "false", "com.example.player"), Dock(lap)
    origin.plays(film.as_uri(), "A film", 25_000_000)
    begin = time.monotonic()
    dock.continue_offer(dock.offer("A film"), ApplicationId=own_id("Media"))
    wait_until_continued(dock)
    there = RealPlayer(lap, "mpv")
    wait(lambda: 25 - NEAR <= there.position <= 25 + time.monotonic() - begin + NEAR, "mpv to go to the place")


def test_default_player_leads_nowhere(media_machines: Machines) -> None:
    """Of a real player that the broker has opened another device's document with, without the adapter, that document is
    offered, and no file of the user that it plays afterwards."""
    if reason := missing("mpv"):
        pytest.skip(reason)
    desk, lap = media_machines
    film = tone(Path(desk.environment["HOME"], "A film.wav"))
    own = tone(Path(lap.environment["HOME"], "My own.wav"))
    Path(lap.environment["XDG_CONFIG_HOME"], "mimeapps.list").write_text(
        "[Default Applications]\naudio/x-wav=mpv.desktop\naudio/vnd.wave=mpv.desktop\n")
    restarted(lap)
    Client(lap).answers["ContinueActivity"] = lambda arguments: GLib.Variant("(b)", (False,))
    Client(desk).offer("A film", DocumentURL=film.as_uri())
    dock, back = Dock(lap), Dock(desk)
    dock.continue_offer(dock.offer("A film"))
    wait_until_continued(dock)
    there = RealPlayer(lap, "mpv")
    there.wait_for("Playing")
    assert there.plays.endswith("/Handoff/A%20film.wav")
    start_adapter(lap)
    path = back.offer("A tone")
    there.call("OpenUri", GLib.Variant("(s)", (own.as_uri(),)))
    back.wait_until_gone(path)
    wait(lambda: there.plays == own.as_uri() and there.get("PlaybackStatus") == "Playing", "the own file to be played")
    # Longer than before a player that changes is read (PlayerObject.interval, 0.1 s), and what it plays offered.
    let_pass(0.5)
    assert not back.titles
