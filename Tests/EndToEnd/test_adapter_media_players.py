# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the adapter of media players makes of what players say, also of those that lie, and of what peers send."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gi.repository import GLib
from buses import BUS, Session, let_pass, wait
from choices import exclude
from clients import Client, Dock
from players import FILM, KEY, MEDIA, NAMES, PLAYING, RADIO, SECOND, TEAM, FalsePlayer, Offered, show_another, \
    start_adapter, start_seer, start_with_adapter
from samples import byte_array
from sandbox import Sandbox, can_be_made
from support import SANITIZED, SOURCE, Machine
from test_desktop_entries import install

Machines = tuple[Machine, Machine]
MIB = 1 << 20
# Longer than between two calls of WillSave that no continuation asks for (Deadline.autosave, 1 s).
UNASKED = 1.2


@pytest.fixture
def desk(machine_list: list[Machine]) -> Machine:
    """A machine with players."""
    desk = start_with_adapter(machine_list, "desk")
    start_adapter(desk)
    return desk


@pytest.fixture
def lap(machine_list: list[Machine], desk: Machine) -> Machine:
    """A machine that sees what plays on the other."""
    return start_seer(machine_list, desk)


def handed(receiver: Client, times: int = 1) -> dict[str, Any]:
    """The activity that an application was handed."""
    return receiver.wait_for("ContinueActivity", times).arguments.get_child_value(0).unpack()


def processes(machine: Machine) -> int:
    """The process of the adapter."""
    return machine.session.call("/org/freedesktop/DBus", f"{BUS}.GetConnectionUnixProcessID",
                                GLib.Variant("(s)", (MEDIA,)), destination=BUS).unpack()[0]


def test_where_it_is_is_asked_each_time(desk: Machine, lap: Machine) -> None:
    """What plays is handed over with its title, artist and player, at the place where the player is at that moment: it is
    asked once for each continuation, and never in between; then it pauses, and is offered no longer until it plays again."""
    player, dock = FalsePlayer(desk), Dock(lap)
    receiver = Client(lap, MEDIA, (PLAYING,), options=TEAM)
    receiver.fail("ContinueActivity", "Not now.")
    player.plays(RADIO, "A play", 5 * SECOND, artist=GLib.Variant("s", "Ann"))
    path = dock.offer("A play – Ann")
    assert dock.offers[path]["ApplicationId"] == "mpv"
    let_pass(UNASKED)
    assert player.asked == 0
    dock.continue_offer(path)
    first = handed(receiver)
    assert first["WebpageURL"] == RADIO and first["UserInfo"] == {
        "ApplicationId": "mpv", "Position": 5 * SECOND, "Playing": True, "Artist": "Ann"}
    player.position = GLib.Variant("x", 42 * SECOND + 123_456)
    let_pass(UNASKED)
    assert player.asked == 1 and not player.calls
    receiver.answers["ContinueActivity"] = lambda arguments: GLib.Variant("(b)", (True,))
    dock.continue_offer(path)
    assert handed(receiver, 2)["UserInfo"]["Position"] == 42 * SECOND + 123_456
    wait(lambda: player.calls == [("Pause", ())], "the player to be paused")
    dock.wait_until_gone(path)
    assert player.asked == 2
    offered = Offered(dock)
    player.plays_until_read(RADIO, "A play", status="Paused")
    show_another(desk, dock)
    assert offered.titles == {"Another"}
    player.plays(RADIO, "A play")
    dock.offer("A play")


def test_only_what_still_plays_pauses(desk: Machine, lap: Machine) -> None:
    """A player that plays something else by the time when it was continued elsewhere is not paused."""
    player, dock = FalsePlayer(desk), Dock(lap)
    receiver = Client(lap, MEDIA, (PLAYING,), options=TEAM)

    def answer(arguments: GLib.Variant) -> GLib.Variant:
        player.properties["Metadata"] = GLib.Variant("a{sv}", {"xesam:url": GLib.Variant("s", FILM)})
        return GLib.Variant("(b)", (True,))

    receiver.answers["ContinueActivity"] = answer
    player.plays(RADIO, "A play")
    path = dock.offer("A play")
    reads = player.reads
    dock.continue_offer(path)
    assert dock.outcome()[1:] == ("", "")
    wait(lambda: player.reads > reads, "it to be looked whether it still plays that")
    show_another(desk, dock)
    assert not player.calls


def test_latest_player_is_shown(desk: Machine, lap: Machine) -> None:
    """Of several players the one that has begun last is offered, and when it is gone the one before."""
    one, dock = FalsePlayer(desk, "one"), Dock(lap)
    one.plays(FILM, "First")
    dock.offer("First")
    two = FalsePlayer(desk, "two")
    two.plays(RADIO, "Second")
    dock.offer("Second")
    offered = Offered(dock)
    one.plays_until_read(FILM, "First, new title")
    two.plays(RADIO, "Second, new title")
    dock.offer("Second, new title")
    assert offered.titles == {"Second, new title"}
    two.close()
    dock.offer("First, new title")


@pytest.mark.parametrize("url", [
    "edl://a;b", "screen://", "http://me:secret@radio.example/", "/home/me/film.mkv", "--script=/tmp/x.lua", "av://x11grab",
    "file://other.example/a.ogg", "file:///home/me/a%0Ab.ogg", "memory://abc", ""])
def test_address_that_is_none(desk: Machine, lap: Machine, url: str) -> None:
    """What a player plays that is neither a file nor a plain web address is not offered."""
    player, dock = FalsePlayer(desk), Dock(lap)
    offered = Offered(dock)
    player.plays_until_read(url, "Odd")
    player.plays(RADIO, "Plain")
    dock.offer("Plain")
    assert offered.titles == {"Plain"}


def test_names_that_start_nothing() -> None:
    """The names of players that the adapter does not read are those for which it is not started."""
    source = (SOURCE / "Sources" / "Adapters" / "Media" / "PlayerWatch.swift").read_text()
    listed = re.search(r"static let others = \[(.*?)\n    \]", source, re.S)
    names = set(re.findall(r'"([^"]+)"', listed[1]))
    description = GLib.KeyFile()
    description.load_from_file(str(SOURCE / "data" / "adapters" / "media.adapter.in"), GLib.KeyFileFlags.NONE)
    excepted = {name.removeprefix("org.mpris.MediaPlayer2.") for name in description.get_string_list("Adapter", "Except")}
    assert excepted == names | {f"{name}.*" for name in names}


def test_players_that_are_none_of_ours(desk: Machine, lap: Machine) -> None:
    """A browser's video is its page: browsers, told by their names on the bus or their desktop entries, what shows players of
    other devices or stands for others, and players without a desktop entry, are not read, and neither are those that the user excludes."""
    install(desk, "com.example.browser", Categories="Network;WebBrowser;", Implements="")
    for name in ("com.example.private", "com.example.other"):
        install(desk, name, Categories="AudioVideo;", Implements="")
    exclude(desk, "com.example.private")
    dock = Dock(lap)
    others = [FalsePlayer(desk, "firefox.instance_1_2"), FalsePlayer(desk, "chromium.instance77"),
              FalsePlayer(desk, "kdeconnect.mpris_000001"), FalsePlayer(desk, "GSConnect.phone"),
              FalsePlayer(desk, "playerctld"),
              FalsePlayer(desk, "browser", "com.example.browser"), FalsePlayer(desk, "unknown", "com.example.unknown"),
              FalsePlayer(desk, "path", "../../etc/passwd"), FalsePlayer(desk, "private", "com.example.private")]
    for player in others:
        player.plays(RADIO, "None of ours")
    ours = FalsePlayer(desk)
    ours.plays(FILM, "Ours")
    dock.offer("Ours")
    show_another(desk, dock)
    assert all(player.reads == 0 for player in others)
    path = dock.offer("Ours")
    exclude(desk, "mpv", "com.example.private")
    dock.wait_until_gone(path)
    reads = ours.reads
    offered = Offered(dock)
    ours.plays(FILM, "Secret")
    show_another(desk, dock, "com.example.other")
    assert ours.reads == reads and offered.titles == {"Another"}
    exclude(desk, "com.example.private")
    dock.offer("Secret")


@pytest.mark.parametrize("position", [
    GLib.Variant("x", -1), GLib.Variant("x", -2**63), GLib.Variant("x", 2**63 - 1), GLib.Variant("d", float("nan")),
    GLib.Variant("d", float("inf")), GLib.Variant("s", "5"), GLib.Variant("t", 2**64 - 1), GLib.Variant("x", 61 * SECOND),
    byte_array(b"x" * MIB)])
def test_position_that_is_a_lie(desk: Machine, lap: Machine, position: GLib.Variant) -> None:
    """A position that cannot be is left out; what plays is handed over all the same."""
    player, dock = FalsePlayer(desk), Dock(lap)
    receiver = Client(lap, MEDIA, (PLAYING,), options=TEAM)
    player.plays(RADIO, "A play", position)
    dock.continue_offer(dock.offer("A play"))
    assert handed(receiver)["UserInfo"] == {"ApplicationId": "mpv", "Playing": True}


def test_metadata_without_an_end(desk: Machine, lap: Machine) -> None:
    """A player with 10 MiB of metadata is left alone: the adapter lives on, stays small, and shows what others play."""
    player, dock = FalsePlayer(desk, "big"), Dock(lap)
    player.plays(RADIO, "Big", **{f"comment{number}": GLib.Variant("s", "x" * MIB) for number in range(10)})
    wait(lambda: "is left alone" in desk.log("dbus-daemon"), "the player to be given up")
    ours = FalsePlayer(desk)
    ours.plays(FILM, "Ours")
    dock.offer("Ours")
    process = processes(desk)
    reads = player.reads
    for _ in range(20):
        player.signal()
        # Twenty of these are a second, and ten readings, if there were any (PlayerObject.interval, 0.1 s).
        let_pass(0.05)
    assert player.reads == reads and "Big" not in dock.titles and processes(desk) == process
    with open(f"/proc/{process}/smaps_rollup", encoding="ascii") as file:
        dirty = next(int(line.split()[1]) << 10 for line in file if line.startswith("Private_Dirty:"))
    assert SANITIZED or dirty < 48 * MIB


def test_types_that_are_wrong(desk: Machine, lap: Machine) -> None:
    """A player whose properties are of other types than they should be shows what of it can be understood, and ends nothing."""
    player, dock = FalsePlayer(desk), Dock(lap)
    for metadata in (GLib.Variant("s", "none"), GLib.Variant("as", ["a"]), GLib.Variant("a{ss}", {"xesam:url": RADIO}),
                     GLib.Variant("a{sv}", {"xesam:url": GLib.Variant("as", [RADIO])})):
        reads = player.reads
        player.says("Playing", metadata)
        wait(lambda: player.reads > reads, "the player to be read")
    process = processes(desk)
    assert not dock.titles
    player.says("Playing", {"xesam:url": GLib.Variant("s", RADIO), "xesam:title": GLib.Variant("x", 4),
                            "xesam:artist": GLib.Variant("s", "Ann"), "mpris:length": GLib.Variant("s", "long")})
    dock.offer("radio.example – Ann")
    assert processes(desk) == process


def test_player_that_signals_all_the_time(desk: Machine, lap: Machine) -> None:
    """Of a player that says 1,000 times a second that something has changed no more than ten readings a second are made, and
    it is left alone within a second; others are shown as ever."""
    player, dock = FalsePlayer(desk, "loud"), Dock(lap)
    player.plays(RADIO, "Loud")
    dock.offer("Loud")
    reads = player.reads
    for _ in range(10):
        for _ in range(100):
            player.signal()
        # As long as between two readings (PlayerObject.interval), so that these are ten in a second.
        let_pass(0.1)
    wait(lambda: not dock.titles, "the loud one to go")
    assert player.reads - reads <= 12
    ours = FalsePlayer(desk)
    ours.plays(FILM, "Ours")
    dock.offer("Ours")
    offered = Offered(dock)
    player.plays(RADIO, "Loud again")
    show_another(desk, dock)
    dock.offer("Ours")
    assert offered.titles == {"Another", "Ours"}
    player.close()
    FalsePlayer(desk, "loud").plays(RADIO, "A new one")
    dock.offer("A new one")


@pytest.fixture
def box(desk: Machine) -> Iterator[Sandbox]:
    """A sandbox that a player lives in."""
    if reason := can_be_made(desk):
        pytest.skip(reason)
    install(desk, "com.example.player", Categories="AudioVideo;", Implements="")
    box = Sandbox(desk, "com.example.player", f"--own={NAMES}.*", f"--talk={MEDIA}")
    yield box
    box.close()


def test_sandboxed_player_names_a_private_key(desk: Machine, lap: Machine, box: Sandbox) -> None:
    """A player in a sandbox that names a file, such as a private key, offers nothing; nor does one that says that it is
    another application. What it plays from the web is offered."""
    dock = Dock(lap)
    liar = FalsePlayer(box.address, "liar", "mpv")
    desk.sessions.append(liar)
    liar.plays(RADIO, "A lie")
    player = FalsePlayer(box.address, "boxed", "com.example.player")
    desk.sessions.append(player)
    offered = Offered(dock)
    player.plays_until_read(KEY, "A key")
    player.plays(RADIO, "Radio")
    dock.offer("Radio")
    assert offered.titles == {"Radio"} and liar.reads == 0
    player.plays(KEY, "A key")
    wait(lambda: not dock.titles, "the offer to go")


def test_adapter_ends_with_the_last_player(desk: Machine, lap: Machine) -> None:
    """When the last player is gone the adapter ends."""
    player, dock = FalsePlayer(desk), Dock(lap)
    player.plays(RADIO, "A play")
    path = dock.offer("A play")
    player.close()
    dock.wait_until_gone(path, 2)
    wait(lambda: not desk.session.owner(MEDIA), "the adapter to end")


@pytest.mark.long
def test_film_wakes_nobody(desk: Machine, lap: Machine) -> None:
    """While a film plays for a minute the adapter wakes at most once."""
    player, dock = FalsePlayer(desk), Dock(lap)
    player.plays(RADIO, "A play")
    dock.offer("A play")
    # What follows from the start is done by then.
    let_pass(5)
    process = processes(desk)

    def wakes() -> int:
        return sum(int(line.split()[1]) for status in Path(f"/proc/{process}/task").glob("*/status")
                   for line in status.read_text().splitlines() if line.startswith("voluntary_ctxt_switches"))

    before = wakes()
    # The minute of which the docstring speaks.
    let_pass(60)
    assert wakes() - before <= 1


def test_many_names_hide_players_only_while_they_are_there(desk: Machine, lap: Machine) -> None:
    """A program that takes more names of players than are looked at hides the others no longer than it is there, and is told of
    in the log once."""
    taker, dock = Session(desk.address), Dock(lap)
    for number in range(70):
        taker.call("/org/freedesktop/DBus", f"{BUS}.RequestName", GLib.Variant("(su)", (f"{NAMES}.evil.n{number}", 4)),
                   destination=BUS)
    player = FalsePlayer(desk)
    player.plays(RADIO, "A play")
    wait(lambda: "more players than" in desk.log("dbus-daemon"), "the adapter to have seen too many")
    taker.close()
    dock.offer("A play")
    assert desk.log("dbus-daemon").count("more players than") == 1
