# SPDX-License-Identifier: LGPL-2.1-or-later
"""Players that keep the adapter of media players waiting, and files that become others after they were looked at."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from gi.repository import Gio, GLib
from buses import wait
from clients import Client, Dock
from players import MEDIA, PLAYING, RADIO, SECOND, TEAM, FalsePlayer, start_adapter, start_seer, start_with_adapter, tone
from support import Machine, pair
from test_adapter_media_continuing import Opener


class Silent(FalsePlayer):
    """A player that answers nothing but who it is."""

    def _called(self, *call: Any) -> None:
        if call[4] == "Get" and call[5].unpack()[1] == "DesktopEntry":
            super()._called(*call)
        else:
            self.reads += call[4] == "GetAll"
            self.calls.append((call[4], call[5].unpack()))
            self.unanswered: list[Gio.DBusMethodInvocation] = [*getattr(self, "unanswered", []), call[6]]


class Stubborn(Opener):
    """A player that opens what it is told, and answers nothing about where that is."""

    def _called(self, *call: Any) -> None:
        if call[4] == "SetPosition" or call[4] == "Get" and call[5].unpack()[1] == "Position":
            self.unanswered: list[Gio.DBusMethodInvocation] = [*getattr(self, "unanswered", []), call[6]]
        else:
            super()._called(*call)


def test_film_that_becomes_a_key(machine_list: list[Machine]) -> None:
    """A file that was a film when it was offered, and is none when it is fetched, goes to nobody, and is offered no longer."""
    desk = start_with_adapter(machine_list, "desk")
    start_adapter(desk)
    lap = start_seer(machine_list, desk)
    film = tone(Path(desk.environment["HOME"], "A film.wav"), 1)
    player, dock = FalsePlayer(desk), Dock(lap)
    receiver = Client(lap, MEDIA, (PLAYING,), options=TEAM)
    player.plays(film.as_uri(), "A film")
    path = dock.offer("A film")
    # Beside it, so that it is in the folder of the document.
    film.with_name("id_rsa").write_text("-----BEGIN OPENSSH PRIVATE KEY-----\n")
    film.unlink()
    film.symlink_to("id_rsa")
    dock.continue_offer(path)
    assert dock.outcome()[1], "it was handed over"
    dock.wait_until_gone(path)
    assert not receiver.called("ContinueActivity")


def continued(desk: Machine, there: Machine, **user_info: GLib.Variant) -> float:
    """How many seconds it takes until a stream goes on in mpv."""
    origin, dock = Client(desk, "com.example.false", (PLAYING,), options=TEAM), Dock(there)
    origin.offer("A stream", UserInfo={"ApplicationId": GLib.Variant("s", "mpv")} | user_info, WebpageURL=RADIO)
    path = dock.offer("A stream")
    begin = time.monotonic()
    dock.continue_offer(path)
    assert dock.outcome(40)[1:] == ("", "")
    return time.monotonic() - begin


def test_given_up_player_is_not_chosen(machine_list: list[Machine]) -> None:
    """A player that was given up, because it says more of itself than can be read, is not told to play anything: another one of
    the same application is."""
    desk, there = start_with_adapter(machine_list, "desk"), start_with_adapter(machine_list, "there")
    pair(desk, there)
    boundless, player = FalsePlayer(there, "boundless"), Opener(there)
    boundless.says("Paused", {"xesam:comment": GLib.Variant("s", "x" * (2 << 20))})
    start_adapter(there)
    wait(lambda: boundless.reads and player.reads, "both to be read")
    continued(desk, there)
    assert [call for call, _ in boundless.calls] == []
    assert player.calls[0] == ("OpenUri", (RADIO,))


def test_player_that_does_not_answer_is_not_waited_for(machine_list: list[Machine]) -> None:
    """A player that never says what it plays keeps nothing from going on in another one, and one that does not say where it is
    keeps its user waiting for some seconds alone."""
    desk, there = start_with_adapter(machine_list, "desk"), start_with_adapter(machine_list, "there")
    pair(desk, there)
    silent, player = Silent(there, "silent", "other"), Stubborn(there)
    start_adapter(there)
    wait(lambda: player.reads, "the player to be read")
    # Six times two calls, which are given up after a second and a half each, took 24 seconds.
    assert continued(desk, there, Position=GLib.Variant("x", 5 * SECOND)) < 15
    assert not silent.calls or {call for call, _ in silent.calls} == {"GetAll"}
