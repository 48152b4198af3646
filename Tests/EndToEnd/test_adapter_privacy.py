# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is private to a user is nowhere: in no log of any program, in no offer, in no payload, and in no file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from buses import BusError, let_pass, wait
from choices import exclude
from clients import CROSSING, Client, Dock
from ears import Ears
from fake_viewers import FakeOkular
from gi.repository import GLib
from players import FILM, MEDIA, FalsePlayer, install_adapter, start_adapter
from support import Machine
from test_adapter_browser_host import TEAM, host
from test_adapter_editors import edited  # noqa: F401
from test_adapter_editors_attacked import Plugin
from test_adapter_shell import OBJECT, SHELL, shells  # noqa: F401
from test_desktop_entries import install
from vendor import team_of
from viewers import ADAPTER, READING, Desktop, pdf

Machines = tuple[Machine, Machine]
# What is looked for; nothing else has it in its name.
SECRET = "s3cretw0rd"


def payload(lap: Machine, kind: str, team: str, title: str, answer: Callable[[], None] = lambda: None) -> dict:
    """What another machine is handed of the activity with this title."""
    receiver, dock = Client(lap, "com.example.receiver", (kind,), options={"Team": GLib.Variant("s", team)}), Dock(lap)
    path = dock.offer(title)
    wait(lambda: receiver.application_id in dock.offers[path]["Handlers"], "the receiver")
    dock.continue_offer(path, ApplicationId=receiver.application_id)
    answer()
    return receiver.wait_for("ContinueActivity").arguments.unpack()[0]


def test_browser(machines: Machines) -> None:
    """Of a browser, pages with user info, what is no web page, and all of one that the user keeps out are in no log, offer or
    payload."""
    desk, lap = machines
    ears = Ears(*machines)
    with host(desk) as browser:
        for address in (f"https://me:{SECRET}@example.com/", f"file:///home/me/{SECRET}", f"about:{SECRET}", f"data:,{SECRET}"):
            browser.show(f"The title {SECRET}", address)
        browser.show("Public")
        dock = Dock(lap)
        name = dock.offers[dock.offer("Public")]["ApplicationId"]
        exclude(desk, name)
        browser.stands("excluded")
        browser.show(f"The title {SECRET}", f"https://example.com/{SECRET}")
        let_pass(CROSSING)
        browser.send("front", page=None, focus=True)
        exclude(desk)
        browser.stands("ready")
        browser.show("Public again")

        def answer() -> None:
            asked = browser.asked("save")
            browser.send("answer", id=asked["id"], url=f"https://me:{SECRET}@example.com/", place={"x": 0, "y": 7})

        handed = payload(lap, "org.example.Handoff.BrowsingWeb", TEAM["Team"].unpack(), "Public again", answer)
        assert not handed.get("UserInfo")
    assert not ears.heard(SECRET, public="Public again")


def test_editor(edited: tuple[Machine, Machine, Path]) -> None:  # noqa: F811
    """Of an editor, keys, what is encrypted, links to such files, and all of one that the user keeps out are in no log, offer or
    payload."""
    desk, lap, letter = edited
    ears = Ears(desk, lap)
    home = Path(desk.environment["HOME"])
    (home / ".ssh").mkdir()
    (home / ".ssh" / SECRET).write_text(f"{SECRET}\n")
    (home / "link.txt").symlink_to(home / ".ssh" / SECRET)
    (home / f"{SECRET}.gpg").write_text(f"{SECRET}\n")
    (home / f"{SECRET}.txt").write_text(f"{SECRET}\n")
    plugin = Plugin(desk)
    for file in (home / ".ssh" / SECRET, home / "link.txt", home / f"{SECRET}.gpg"):
        plugin.front(file)
        # As long as the adapter takes to look at a file, and to offer it.
        let_pass(0.2)
    plugin.front(letter)
    dock = Dock(lap)
    path = dock.offer(letter.name)
    exclude(desk, "vim")
    dock.wait_until_gone(path)
    plugin.front(home / f"{SECRET}.txt")
    let_pass(CROSSING)
    exclude(desk)
    plugin.question()
    plugin.front(letter)

    def answer() -> None:
        # By now its user is at something private.
        asked = plugin.question()
        plugin.say(answer=asked["id"], file=str(home / f"{SECRET}.gpg"), line=1, column=1, text=SECRET)

    handed = payload(lap, "org.example.Handoff.EditingText", team_of("Editor"), letter.name, answer)
    assert "text" not in handed["UserInfo"]
    plugin.close()
    assert not ears.heard(SECRET, public=letter.name)


def test_player(machines: Machines) -> None:
    """Of a player, addresses with user info, files of keys, and all of one that the user keeps out are in no log, offer or
    payload."""
    desk, lap = machines
    ears = Ears(*machines)
    for name in ("mpv", "com.example.private"):
        install(desk, name, Categories="AudioVideo;Player;", Implements="")
    install_adapter(desk, G_MESSAGES_DEBUG="all")
    exclude(desk, "com.example.private")
    key = Path(desk.environment["HOME"], ".ssh", SECRET)
    key.parent.mkdir()
    key.write_text(f"{SECRET}\n")
    start_adapter(desk)
    private, player = FalsePlayer(desk, "private", "com.example.private"), FalsePlayer(desk)
    private.plays(f"http://radio.example/{SECRET}", f"The title {SECRET}")
    for address in (f"http://me:{SECRET}@radio.example/", key.as_uri()):
        reads = player.reads
        player.plays(address, f"The title {SECRET}")
        wait(lambda reads=reads: player.reads > reads, "the player to be read")
        let_pass(CROSSING)
    player.plays(FILM, "Public")
    assert payload(lap, "org.example.Handoff.PlayingMedia", team_of("Media"), "Public")
    assert not ears.heard(SECRET, public="Public", said_here=False)


def test_viewer(machines: Machines) -> None:
    """Of a viewer that the user keeps out nothing is in any log, offer or payload."""
    ears = Ears(*machines)
    desk, lap = Desktop(machines[0]), Desktop(machines[1])
    try:
        secret = desk.papers / f"{SECRET}.pdf"
        secret.write_bytes(pdf())
        desk.document("Public.pdf")
        lap.document("Public.pdf")
        exclude(desk.machine, "org.kde.okular")
        desk.start_adapter()
        viewer = FakeOkular(desk.machine, str(secret))
        let_pass(CROSSING)
        viewer.document = str(desk.papers / "Public.pdf")
        exclude(desk.machine)
        assert payload(lap.machine, READING, team_of("Documents"), "Public.pdf")
        assert not ears.heard(SECRET, public="Public.pdf", said_here=False)
    finally:
        desk.close()
        lap.close()


def test_shell(shells: tuple[Machine, Machine, Path]) -> None:  # noqa: F811
    """Of a shell, folders of secrets, also behind a link, and their history are in no log, offer or payload."""
    desk, lap, folder = shells
    ears = Ears(desk, lap)
    private = Path(desk.environment["HOME"], ".ssh", SECRET)
    private.mkdir(parents=True)
    link = Path(desk.environment["HOME"], f"{SECRET} link")
    link.symlink_to(private)
    desk.connect().call("/org/freedesktop/DBus", "org.freedesktop.DBus.StartServiceByName",
                        GLib.Variant("(su)", (SHELL, 0)), destination="org.freedesktop.DBus")
    for path in (private, link):
        with pytest.raises(BusError):
            desk.session.call(OBJECT, "ShellAdapter.Here", GLib.Variant("(suas)", (str(path), os.getpid(), [SECRET])),
                              destination=SHELL)
    desk.session.call(OBJECT, "ShellAdapter.Here", GLib.Variant("(suas)", (str(folder), os.getpid(), [])), destination=SHELL)
    assert payload(lap, "org.example.Handoff.UsingShell", team_of("Shell"), folder.name)
    assert not ears.heard(SECRET, public=folder.name, said_here=False)
