# SPDX-License-Identifier: LGPL-2.1-or-later
"""Media players on a machine: real ones, which play a tone that nobody hears, and some that only say that they play."""

from __future__ import annotations

import os
import shutil
import signal
import struct
import tempfile
from pathlib import Path
from typing import Any

from gi.repository import Gio, GLib
from buses import BUS, BusError, Session, let_pass, wait
from clients import Dock
from desktops import entries, install_entry, tell_bus
from support import PROGRAMS, Machine, pair
from test_desktop_entries import have_bus_start, install
from vendor import own_id, team_of

MEDIA = own_id("Media")
PLAYING = "org.example.Handoff.PlayingMedia"
NAMES = "org.mpris.MediaPlayer2"
PATH = "/org/mpris/MediaPlayer2"
PLAYER = "org.mpris.MediaPlayer2.Player"
SECOND = 1_000_000
TEAM = {"Team": GLib.Variant("s", team_of("Media"))}
RADIO = "http://radio.example:8000/live"
KEY = "file:///home/me/.ssh/id_ed25519"
# How long a player may take to start.
PATIENCE = 40
PROGRAMS_OF_PLAYERS = ("mpv", "vlc", "celluloid", "totem", "rhythmbox")

PLAYER_XML = """<node><interface name="org.mpris.MediaPlayer2"/><interface name="org.mpris.MediaPlayer2.Player">
<method name="Play"/><method name="Pause"/><method name="OpenUri"><arg type="s" direction="in"/></method>
<method name="SetPosition"><arg type="o" direction="in"/><arg type="x" direction="in"/></method>
<method name="Seek"><arg type="x" direction="in"/></method></interface>
<interface name="org.freedesktop.DBus.Properties">
<method name="Get"><arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="v" direction="out"/></method>
<method name="GetAll"><arg type="s" direction="in"/><arg type="a{sv}" direction="out"/></method></interface></node>"""


def missing(*programs: str) -> str:
    """Which of these is not there; empty if all are."""
    absent = [program for program in programs if not shutil.which(program)]
    return f"no {', '.join(absent)}: meson-helpers/install-packages desktop" if absent else ""


def tone(path: Path, seconds: int = 60) -> Path:
    """Writes a tone, which says what it is called: without that some players do not say what they play."""
    name = b"A tone\0\0"
    samples = bytes([128, 160, 192, 160, 128, 96, 64, 96]) * 1000 * seconds
    chunks = b"".join(kind + struct.pack("<I", len(content)) + content for kind, content in (
        (b"fmt ", struct.pack("<HHIIHH", 1, 1, 8000, 8000, 1, 8)),
        (b"LIST", b"INFOINAM" + struct.pack("<I", len(name)) + name), (b"data", samples)))
    path.write_bytes(b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks)
    return path


# Only a file that holds sound or moving pictures is offered.
_folder = tempfile.TemporaryDirectory(prefix="handoff-film-")
FILM = tone(Path(_folder.name, "A film.wav"), 1).as_uri()


def start_media_machine(machines: list[Machine], name: str, **environment: str) -> Machine:
    """A machine on which the adapter is installed, and players that are heard and seen by nobody."""
    machine = Machine(name)
    machines.append(machine)
    machine.environment["XDG_DATA_DIRS"] += ":/usr/share"
    machine.environment |= environment
    silence(machine)
    install_adapter(machine, **environment)
    machine.start_broker("--verbose")
    machine.start_bridge()
    return machine


def start_with_adapter(machines: list[Machine], name: str) -> Machine:
    """A machine with the adapter, on which `mpv` seems to be installed."""
    machine = Machine(name)
    machines.append(machine)
    install(machine, "mpv", Categories="AudioVideo;Player;", Implements="")
    install_adapter(machine)
    machine.start_broker("--verbose")
    machine.start_bridge()
    return machine


def start_seer(machines: list[Machine], desk: Machine) -> Machine:
    """Another machine, which sees what plays on this one, and where nothing is played."""
    lap = Machine("lap")
    machines.append(lap)
    install(lap, MEDIA, ActivityTypes=PLAYING, Team=team_of("Media"))
    lap.start_broker("--verbose")
    lap.start_bridge()
    pair(desk, lap)
    return lap


def silence(machine: Machine) -> None:
    """Has players be heard and seen by nobody."""
    configuration = Path(machine.environment["XDG_CONFIG_HOME"])
    for folder in ("mpv", "vlc", "glib-2.0/settings"):
        (configuration / folder).mkdir(parents=True)
    (configuration / "mpv" / "mpv.conf").write_text("ao=null\nvo=null\nforce-window=no\n")
    (configuration / "vlc" / "vlcrc").write_text("[core]\naout=dummy\nvout=dummy\nintf=dummy\n")
    (configuration / "glib-2.0" / "settings" / "keyfile").write_text(
        "[io/github/celluloid-player/celluloid]\nmpv-options='--ao=null --vo=null'\n")


def install_adapter(machine: Machine, **environment: str) -> None:
    """Has the broker and the bus find the adapter, and the adapter the desktop entries."""
    tell_bus(machine, **environment)
    install_entry(machine, MEDIA)
    if "/usr/share" not in machine.environment["XDG_DATA_DIRS"]:
        # Films are offered only where a player is installed; this one has no program, so that it is never started.
        (entries(machine) / "org.gnome.Totem.desktop").write_text("[Desktop Entry]\nType=Application\nName=Videos\nExec=totem\n")
    have_bus_start(machine, MEDIA, f"{PROGRAMS}/handoff-adapter media --verbose")


def start_adapter(machine: Machine) -> None:
    """Has the bus start the adapter, as the agent does when a player appears."""
    arguments = GLib.Variant("(su)", (MEDIA, 0))
    machine.session.call("/org/freedesktop/DBus", f"{BUS}.StartServiceByName", arguments, destination=BUS)


def end_players(machine: Machine) -> None:
    """Ends the players that were started on a machine: they outlive who has started them."""
    home = f"HOME={machine.environment['HOME']}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "comm").read_text().strip() in PROGRAMS_OF_PLAYERS and \
                    home in (process / "environ").read_bytes().split(b"\0"):
                os.kill(int(process.name), signal.SIGKILL)
        except OSError:
            pass


def players(session: Session) -> list[str]:
    """The names of the players on a bus."""
    names = session.call("/org/freedesktop/DBus", f"{BUS}.ListNames", destination=BUS).unpack()[0]
    return [name for name in names if name.startswith(f"{NAMES}.")]


class Offered:
    """What is offered from now on."""

    def __init__(self, dock: Dock) -> None:
        self.dock, self.first = dock, len(dock.events)

    @property
    def titles(self) -> set[str]:
        """All titles that there were, however briefly."""
        found: set[str] = set()
        for event in self.dock.events[self.first:]:
            if event.member == "InterfacesAdded":
                found |= {one["Title"] for one in event.arguments.unpack()[1].values() if "Title" in one}
            elif event.member == "PropertiesChanged":
                found |= {event.arguments.unpack()[1].get("Title")} - {None}
        return found


def show_another(machine: Machine, dock: Dock, entry: str = "mpv") -> None:
    """Has another player begin, be offered, and end: by then whatever was said before has come to something."""
    another = FalsePlayer(machine, "another", entry)
    another.plays(RADIO, "Another")
    path = dock.offer("Another")
    another.close()
    dock.wait_until_gone(path)


class RealPlayer:
    """A player that is on the bus of a machine."""

    def __init__(self, machine: Machine, name: str) -> None:
        self.session = machine.session
        self.name = f"{NAMES}.{name}"
        wait(lambda: self.session.owner(self.name), f"the player {name}", PATIENCE)

    def get(self, name: str) -> Any:
        """A property of it; None if it does not say."""
        try:
            return self.session.call(PATH, f"{BUS}.Properties.Get", GLib.Variant("(ss)", (PLAYER, name)),
                                     destination=self.name).unpack()[0]
        except BusError:
            return None

    @property
    def position(self) -> float:
        """Where it is, in seconds."""
        return (self.get("Position") or 0) / SECOND

    @property
    def plays(self) -> str:
        """What it plays."""
        return (self.get("Metadata") or {}).get("xesam:url", "")

    def call(self, member: str, arguments: GLib.Variant | None = None) -> None:
        self.session.call(PATH, f"{PLAYER}.{member}", arguments, destination=self.name)

    def wait_for(self, status: str) -> None:
        wait(lambda: self.get("PlaybackStatus") == status, f"{self.name} to be {status}", PATIENCE)

    def go_to(self, seconds: float) -> None:
        def told() -> bool:
            # Just after it has opened something it may go nowhere.
            if abs(self.position - seconds) < 1:
                return True
            if track := (self.get("Metadata") or {}).get("mpris:trackid"):
                self.call("SetPosition", GLib.Variant("(ox)", (track, int(seconds * SECOND))))
            # As long as a player takes to go there; one that is told again meanwhile begins anew.
            let_pass(0.2)
            return False

        wait(told, f"{self.name} to be at {seconds}")


class FalsePlayer(Session):
    """A player that plays nothing, and says what a test wants. It answers by `properties` and keeps what it is called."""

    def __init__(self, address: Any, name: str = "false", entry: str = "mpv") -> None:
        super().__init__(address if isinstance(address, str) else address.address)
        if not isinstance(address, str):
            address.sessions.append(self)
        self.entry = entry
        self.calls: list[tuple[str, Any]] = []
        self.reads = 0
        # How often it was asked where it is.
        self.asked = 0
        self.properties: dict[str, GLib.Variant] = {"PlaybackStatus": GLib.Variant("s", "Stopped")}
        self.position = GLib.Variant("x", 0)
        for interface in Gio.DBusNodeInfo.new_for_xml(PLAYER_XML).interfaces:
            self.connection.register_object(PATH, interface, self._called, None, None)
        self.name_taken = f"{NAMES}.{name}"
        self.own(self.name_taken)

    def own(self, name: str) -> None:
        self.call("/org/freedesktop/DBus", f"{BUS}.RequestName", GLib.Variant("(su)", (name, 4)), destination=BUS)

    def _called(self, _connection: Gio.DBusConnection, _sender: str, _path: str, _interface: str, method: str,
                arguments: GLib.Variant, invocation: Gio.DBusMethodInvocation) -> None:
        if method == "GetAll":
            self.reads += 1
            invocation.return_value(GLib.Variant("(a{sv})", (self.properties,)))
        elif method == "Get":
            entry = arguments.unpack()[1] == "DesktopEntry"
            self.asked += not entry
            invocation.return_value(GLib.Variant("(v)", (GLib.Variant("s", self.entry) if entry else self.position,)))
        else:
            self.calls.append((method, arguments.unpack()))
            invocation.return_value(None)

    def says(self, status: str, metadata: dict[str, GLib.Variant] | GLib.Variant, position: Any = 0,
             **others: GLib.Variant) -> None:
        """Says this from now on."""
        metadata = metadata if isinstance(metadata, GLib.Variant) else GLib.Variant("a{sv}", metadata)
        self.properties = {"PlaybackStatus": GLib.Variant("s", status), "Metadata": metadata} | others
        self.position = position if isinstance(position, GLib.Variant) else GLib.Variant("x", position)
        self.signal()

    def plays(self, url: str, title: str = "", position: Any = 0, status: str = "Playing",
              **metadata: GLib.Variant) -> None:
        """Plays this from now on."""
        self.says(status, {"xesam:url": GLib.Variant("s", url), "xesam:title": GLib.Variant("s", title),
                           "mpris:trackid": GLib.Variant("o", "/track/1"),
                           "mpris:length": GLib.Variant("x", 60 * SECOND)} |
                  {f"xesam:{name}": value for name, value in metadata.items()}, position)

    def plays_until_read(self, *arguments: Any, **keywords: Any) -> None:
        """Plays this from now on, and waits until somebody has read it."""
        reads = self.reads
        self.plays(*arguments, **keywords)
        wait(lambda: self.reads > reads, "the player to be read")

    def signal(self) -> None:
        """Says that something has changed."""
        changed = GLib.Variant("(sa{sv}as)", (PLAYER, self.properties, []))
        self.connection.emit_signal(None, PATH, f"{BUS}.Properties", "PropertiesChanged", changed)
