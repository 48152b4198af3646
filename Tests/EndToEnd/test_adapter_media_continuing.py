# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the adapter of media players does with what other devices play."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from gi.repository import GLib
from buses import let_pass, wait
from clients import CROSSING, Client, Dock
from players import PLAYING, RADIO, SECOND, TEAM, FalsePlayer, start_adapter, start_with_adapter, tone
from support import Machine, pair
from test_desktop_entries import install


@pytest.fixture
def desk(machine_list: list[Machine]) -> Machine:
    """A machine with players."""
    desk = start_with_adapter(machine_list, "desk")
    start_adapter(desk)
    return desk


class Opener(FalsePlayer):
    """A player that plays what it is told, with another object for each track, a moment after it was told."""

    def _called(self, *call: Any) -> None:
        super()._called(*call)
        method, arguments = call[4], call[5]
        if method == "OpenUri":
            url = arguments.unpack()[0]
            GLib.timeout_add(300, lambda: self.says("Playing", {
                "xesam:url": GLib.Variant("s", url), "mpris:trackid": GLib.Variant("o", "/track/new"),
                "mpris:length": GLib.Variant("x", 60 * SECOND)}))
        elif method == "SetPosition":
            self.position = GLib.Variant("x", arguments.unpack()[1])


@pytest.fixture
def there(machine_list: list[Machine], desk: Machine) -> Machine:
    """Another machine with the adapter, which is not running yet."""
    there = start_with_adapter(machine_list, "there")
    pair(desk, there)
    return there


def test_running_player_goes_on(desk: Machine, there: Machine) -> None:
    """A file goes on in the player that runs here: it is told the file that was brought over, and where to go once it has
    said that it plays that, by the object that it has for it then."""
    film = tone(Path(desk.environment["HOME"], "-- A film.wav"), 5)
    origin, player, dock = FalsePlayer(desk), Opener(there), Dock(there)
    origin.plays(film.as_uri(), "A film", 12 * SECOND + 345_678)
    dock.continue_offer(dock.offer("A film"))
    assert dock.outcome()[1:] == ("", "")
    brought = next(Path(there.environment["HOME"], "Handoff").glob("* A film.wav"))
    assert player.calls == [("OpenUri", (brought.as_uri(),)), ("SetPosition", ("/track/new", 12 * SECOND + 345_678))]
    wait(lambda: ("Pause", ()) in origin.calls, "the origin to be paused")


def test_back_to_where_it_began(desk: Machine, there: Machine) -> None:
    """A player that still has open what is continued in it goes to the place, and plays on, paused as it was."""
    origin, player, dock = FalsePlayer(desk), Opener(there), Dock(there)
    player.plays(RADIO, "A play", status="Paused")
    origin.plays(RADIO, "A play", 30 * SECOND)
    dock.continue_offer(dock.offer("A play"))
    assert dock.outcome()[1:] == ("", "")
    assert player.calls == [("SetPosition", ("/track/1", 30 * SECOND)), ("Play", ())]


def test_peer_that_sends_something_else(desk: Machine, there: Machine) -> None:
    """What a peer sends that is neither a delivered file nor a plain web address is refused, says so, and reaches no player."""
    origin, dock = Client(desk, "com.example.false", (PLAYING,), options=TEAM), Dock(there)
    player = Opener(there)
    for number, properties in enumerate(({}, {"WebpageURL": "http://me:secret@radio.example/"})):
        origin.offer(f"Odd {number}", UserInfo={"ApplicationId": GLib.Variant("s", "mpv")}, **properties)
        dock.continue_offer(dock.offer(f"Odd {number}"))
        application, error, message = wait(lambda: len(dock.finished()) > number and dock.finished()[number], "the outcome")
        assert error and "neither a file nor an http or https address" in message
    assert not player.calls


@pytest.mark.parametrize("name, content", [
    ("A film.m3u", "#EXTM3U\n/home/me/.ssh/id_ed25519\n"), ("A film.mkv", "#EXTM3U\n/home/me/diary.txt\n"),
    ("A film.wav", "not sound"), ("A film.xspf", "<?xml version='1.0'?><playlist/>")])
def test_lists_of_other_files_are_not_played(desk: Machine, there: Machine, name: str, content: str) -> None:
    """A file of a peer that holds neither sound nor moving pictures, such as a list that leads to files of this machine, is
    refused, says so, and reaches no player."""
    player, dock = Opener(there), Dock(there)
    file = Path(desk.environment["HOME"], name)
    file.write_text(content)
    origin = Client(desk, "com.example.false", (PLAYING,), options=TEAM)
    origin.offer("A film", UserInfo={"ApplicationId": GLib.Variant("s", "mpv")}, DocumentURL=file.as_uri())
    dock.continue_offer(dock.offer("A film"))
    application, error, message = wait(lambda: next(iter(dock.finished()), None), "the outcome")
    assert error and "hold neither sound nor moving pictures" in message
    assert not player.calls


def test_what_a_player_goes_on_to_stays_here(desk: Machine, there: Machine) -> None:
    """Of a player that was given a file of another device nothing else is offered: what it was given may lead it to any file
    of this machine."""
    film = tone(Path(desk.environment["HOME"], "A film.wav"), 5)
    own = tone(Path(there.environment["HOME"], "My recording.wav"), 5)
    origin, player, dock, back = FalsePlayer(desk), Opener(there), Dock(there), Dock(desk)
    origin.plays(film.as_uri(), "A film", 0)
    dock.continue_offer(dock.offer("A film"))
    assert dock.outcome()[1:] == ("", "")
    wait(lambda: player.calls, "the player to be told")
    reads = player.reads
    player.plays(own.as_uri(), "My recording")
    wait(lambda: player.reads > reads and not back.titles, "the adapter to see what is played")
    player.plays(own.as_uri(), "My recording again")
    wait(lambda: player.reads > reads + 1, "the adapter to see that too")
    let_pass(CROSSING)
    assert not back.titles and "My recording" not in there.log("handoffd")


@pytest.mark.parametrize("is_running", [True, False])
def test_what_only_its_own_player_plays(desk: Machine, there: Machine, is_running: bool) -> None:
    """A page of a player's own service goes to no other player: not if that player is there and opens nothing, nor if it is
    not there and says that it cannot seek."""
    for machine in (desk, there):
        install(machine, "com.example.service", Categories="AudioVideo;Player;", Implements="")
    origin = FalsePlayer(desk, "service", "com.example.service")
    if is_running:
        own = FalsePlayer(there, "service", "com.example.service")
        own.plays(RADIO, "Something else")
    origin.says("Playing", {"xesam:url": GLib.Variant("s", "https://music.example/track/1"),
                            "xesam:title": GLib.Variant("s", "A song"),
                            "mpris:trackid": GLib.Variant("o", "/track/1"),
                            "mpris:length": GLib.Variant("x", 60 * SECOND)}, CanSeek=GLib.Variant("b", False))
    dock = Dock(there)
    dock.continue_offer(dock.offer("A song"))
    _application, error, message = dock.outcome()
    assert error.endswith("ApplicationFailed") and "com.example.service" in message
    assert ("did not open it" if is_running else "Only the player") in message
