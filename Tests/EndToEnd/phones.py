# SPDX-License-Identifier: LGPL-2.1-or-later
"""Phones of a machine, which it reaches by the KDE Connect that is there: real ones, and such as are played."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from gi.repository import GLib
from buses import BUS, BusError, Session, wait
from namespaces import Cable, ip
from screen import Screen
from support import Machine
from test_desktop_entries import have_bus_start

PROGRAM = Path(__file__).with_name("played_phone.py")
KDE_CONNECT = "org.kde.kdeconnect"
GSCONNECT = "org.gnome.Shell.Extensions.GSConnect"
GSCONNECT_ROOT = "/org/gnome/Shell/Extensions/GSConnect"
SHARE = "kdeconnect_share"
# Where the programs are that no PATH leads to.
PROGRAMS = {
    "kdeconnect": ("/usr/lib/x86_64-linux-gnu/libexec/kdeconnectd", "/usr/libexec/kdeconnectd", "/usr/lib/libexec/kdeconnectd",
                   "/usr/lib/aarch64-linux-gnu/libexec/kdeconnectd"),
    "gsconnect": ("/usr/share/gnome-shell/extensions/gsconnect@andyholmes.github.io/service/daemon.js",),
}
# What the bus would start for them, though there is no desktop.
OTHERS = ("org.freedesktop.Notifications", "org.freedesktop.portal.Desktop", "org.a11y.Bus")
# How long it may take to start, to find a phone, and to be sent a document.
PATIENCE = 40
# KDE Connect of Debian 12 waits forever for the end of a document that comes faster than it begins to write it.
LARGE = 5_000_000
ATTEMPTS = 3


class Phone(NamedTuple):
    """A device that is played."""

    id: str
    name: str
    type: str = "phone"
    reachable: bool = True
    paired: bool = True
    # Whether it takes pages and documents.
    shares: bool = True


class PlayedPhone:
    """KDE Connect of a machine, played: it has these devices. `shape` is what it plays: see played_phone.py."""

    def __init__(self, machine: Machine, *phones: Phone, shape: str = "kdeconnect", owns: bool = True) -> None:
        self.machine, self.shape = machine, shape
        self.program = f"played-{shape}"
        with open(machine.log_file(self.program), "ab") as log:
            self.process = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", sys.executable, str(PROGRAM), shape],
                                            env=machine.environment, cwd=machine.folder, text=True,
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        machine.processes[self.program] = self.process
        assert self._answer() == "connected"
        self.have(*phones)
        if owns:
            self.appear()

    def order(self, do: str, **what: Any) -> Any:
        """Has it do something, and returns what it answers."""
        self.process.stdin.write(json.dumps({"do": do} | what) + "\n")
        self.process.stdin.flush()
        return self._answer()

    def _answer(self) -> Any:
        line = self.process.stdout.readline()
        assert line, f"{self.program} has ended:\n{self.machine.log(self.program)}"
        return json.loads(line)

    # What it does

    def appear(self) -> None:
        """It is on the bus from now on."""
        assert self.order("own") == ""

    def vanish(self) -> None:
        """Nobody has its name any more."""
        assert self.order("disown") == ""

    def have(self, *phones: Phone) -> None:
        """It has these devices, and tells nobody."""
        self.order("have", devices=[phone._asdict() for phone in phones])

    def add(self, phone: Phone) -> None:
        self.order("add", device=phone._asdict())

    def remove(self, phone_id: str) -> None:
        self.order("remove", id=phone_id)

    def change(self, phone_id: str, **values: Any) -> None:
        """A device becomes another: name, type, reachable, paired, shares."""
        self.order("change", id=phone_id, values=values)

    def behave(self, how: str, member: str = "", **what: str) -> None:
        """How it answers this member, or all: see played_phone.py."""
        self.order("behave", how=how, member=member, **what)

    def release(self) -> None:
        """Answers the calls that hang."""
        self.order("release")

    # What it was told

    @property
    def calls(self) -> list[list[Any]]:
        """Path, interface with member, and arguments of each call."""
        return self.order("calls")

    @property
    def shared(self) -> list[tuple[str, str]]:
        """What it was given to share: the device and the address of each."""
        return [(phone_id, address) for phone_id, address in self.order("shared")]

    def count(self, member: str) -> int:
        """How many calls there were of a member."""
        return sum(called.rpartition(".")[2] == member for _, called, _ in self.calls)


def crowd(number: int) -> list[Phone]:
    """So many phones."""
    return [Phone(f"{index:016x}", f"Phone {index}") for index in range(number)]


def program(kind: str) -> str:
    """The program of KDE Connect or GSConnect; empty if there is none."""
    return next((path for path in PROGRAMS[kind] if Path(path).exists()), "")


class RealPhones:
    """A real KDE Connect, or GSConnect, on the bus of a machine, and a real KDE Connect that is the phone, with a cable between
    them. The phone has a display of its own, on which a browser would be. Documents of GSConnect do not come to it."""

    def __init__(self, machine: Machine, name: str = "Phone", kind: str = "kdeconnect") -> None:
        self.machine, self.kind = machine, kind
        self.daemons: dict[str, subprocess.Popen[bytes]] = {}
        self.screens: list[Screen] = []
        needed = {kind: program(kind), "kdeconnect": program("kdeconnect"), "Xvfb": shutil.which("Xvfb")}
        absent = [name for name, path in needed.items() if not path]
        self.missing = f"no {', '.join(absent)}: meson-helpers/install-packages desktop" if absent else ""
        if self.missing:
            return
        self.cable = Cable()
        self.missing = self.cable.missing
        if self.missing:
            return
        for host in self.cable.hosts:
            # Without one nothing is broadcast to all.
            ip("-n", host, "route", "add", "default", "dev", "cable")
        self.phone = Machine("phone")
        self._set_up(name)

    def _set_up(self, name: str) -> None:
        """Gives the phone its name, and what opens pages there, which writes them down."""
        for machine in (self.machine, self.phone):
            for other in OTHERS:
                have_bus_start(machine, other, "/bin/false")
        self._opened = self.phone.folder / "opened"
        folder = self.phone.folder / "bin"
        folder.mkdir()
        opener = folder / "xdg-open"
        opener.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >>"{self._opened}"\n')
        opener.chmod(0o755)
        self.screens.append(Screen(self.phone.folder))
        self.phone.environment |= {
            "PATH": f"{folder}:{self.phone.environment['PATH']}", "DISPLAY": self.screens[0].display,
            "PLASMA_PLATFORM": "phone", "QT_QPA_PLATFORM": "xcb"}
        self.names = {"phone": name, "machine": self.machine.name}
        if self.kind == "gsconnect":
            self.screens.append(Screen(self.machine.folder))
            self.machine.environment |= {"DISPLAY": self.screens[1].display, "GSETTINGS_BACKEND": "keyfile",
                                         "XDG_DATA_DIRS": f"{self.machine.environment['XDG_DATA_DIRS']}:/usr/share"}

    # Its programs

    def start(self) -> None:
        """Starts both, and pairs them as their users would. Again if need be: what is broadcast gets lost, and when both
        call at the same time they may lose each other."""
        for attempt in range(ATTEMPTS):
            try:
                self._start("phone")
                self._start("machine")
                self._pair()
                return
            except (AssertionError, BusError):
                self.stop()
                if attempt == ATTEMPTS - 1:
                    raise

    def _start(self, side: str) -> None:
        machine = self.phone if side == "phone" else self.machine
        kind = "kdeconnect" if side == "phone" else self.kind
        folder = Path(machine.environment["XDG_CONFIG_HOME"]) / "kdeconnect"
        # If only one of them took the other for paired, they would never be.
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "config").write_text(f"[General]\nname={self.names[side]}\n")
        self._run(side, machine, kind)

    def _run(self, side: str, machine: Machine, kind: str) -> None:
        host = self.cable.hosts[side == "phone"]
        environment = {"QT_QPA_PLATFORM": "offscreen", "QT_LOGGING_RULES": "kdeconnect*=true"} | machine.environment
        with open(machine.log_file(kind), "ab") as log:
            self.daemons[side] = subprocess.Popen(
                ["ip", "netns", "exec", host, "setpriv", "--pdeathsig", "TERM", program(kind)],
                env=environment, cwd=machine.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        name = GSCONNECT if kind == "gsconnect" else KDE_CONNECT
        wait(lambda: machine.session.owner(name), f"{name} on the bus of {machine.name}", PATIENCE)

    def end(self, side: str) -> None:
        """Ends one of them, of the "phone" or the "machine", which the other notices."""
        process = self.daemons.pop(side)
        process.terminate()
        try:
            process.wait(3)
        except subprocess.TimeoutExpired:
            # At its end it may get stuck.
            process.kill()
            process.wait()

    def leave(self) -> None:
        """The phone leaves the network."""
        self.end("phone")
        wait(lambda: not self.is_offered(), "the phone to be gone", PATIENCE)

    def come_back(self) -> None:
        self._run("phone", self.phone, "kdeconnect")
        wait(self.is_offered, "the phone to be back", PATIENCE)

    def stop(self) -> None:
        for side in list(self.daemons):
            self.end(side)

    def close(self) -> None:
        """Ends all, and removes what was made."""
        if self.missing:
            return
        self.stop()
        self.phone.stop()
        for screen in self.screens:
            screen.close()
        self.phone.remove()
        self.cable.remove()

    # Calls

    def ask(self, session: Session, device: str, member: str, arguments: GLib.Variant | None = None) -> GLib.Variant:
        """Calls KDE Connect, or one of its devices."""
        path = "/modules/kdeconnect" + (f"/devices/{device}" if device else "")
        return session.call(path, member, arguments, destination=KDE_CONNECT)

    def listed(self, machine: Machine, only: bool) -> dict[str, str]:
        """The devices that KDE Connect has there: all, or only those that are paired and reachable."""
        both = GLib.Variant("(bb)", (only, only))
        return self.ask(machine.session, "", f"{KDE_CONNECT}.daemon.deviceNames", both).unpack()[0]

    def objects(self) -> dict[str, dict[str, Any]]:
        """The devices that GSConnect has on the machine: their properties by their objects."""
        answer = self.machine.session.call(GSCONNECT_ROOT, f"{BUS}.ObjectManager.GetManagedObjects", destination=GSCONNECT)
        return {path: interfaces[f"{GSCONNECT}.Device"] for path, interfaces in answer.unpack()[0].items() if interfaces}

    @property
    def phone_id(self) -> str:
        """The phone as the machine knows it: its id, or its object in GSConnect; empty if it does not know it."""
        return next(iter(self.objects() if self.kind == "gsconnect" else self.listed(self.machine, False)), "")

    def is_offered(self) -> bool:
        """Whether something can be sent to the phone."""
        if self.kind == "gsconnect":
            return any(about["Paired"] and about["Connected"] for about in self.objects().values())
        plugin = GLib.Variant("(s)", (SHARE,))
        try:
            return any(self.ask(self.machine.session, phone, f"{KDE_CONNECT}.device.hasPlugin", plugin).unpack()[0]
                       for phone in self.listed(self.machine, True))
        except BusError:
            # One that is listed may have no object any more, or not yet.
            return False

    def _pair(self) -> None:
        if self.kind == "gsconnect":
            # At its start it calls nobody.
            self._activate(GSCONNECT_ROOT, "refresh")
        wait(lambda: self.phone_id and self.listed(self.phone, False), "the two to find each other", PATIENCE / 4)
        if self.kind == "gsconnect":
            self.activate("pair")
        else:
            self.ask(self.machine.session, self.phone_id, f"{KDE_CONNECT}.device.requestPair")
        which = GLib.Variant("(ss)", (f"{KDE_CONNECT}.daemon", "pairingRequests"))
        asking = wait(lambda: self.ask(self.phone.session, "", f"{BUS}.Properties.Get", which).unpack()[0], "a wish to pair")
        self.ask(self.phone.session, asking[0], f"{KDE_CONNECT}.device.acceptPairing")
        wait(self.is_offered, "the two to be paired")

    def activate(self, action: str, *parameter: GLib.Variant) -> None:
        """Has GSConnect do something with the phone."""
        self._activate(self.phone_id, action, *parameter)

    def _activate(self, path: str, action: str, *parameter: GLib.Variant) -> None:
        self.machine.session.call(path, "org.gtk.Actions.Activate", GLib.Variant("(sava{sv})", (action, parameter, {})),
                                  destination=GSCONNECT)

    def share(self, address: str) -> None:
        """Sends a page or a document to the phone, as a program of the machine does."""
        if self.kind == "gsconnect":
            is_document = address.startswith("file:")
            self.activate(*("shareFile", GLib.Variant("(sb)", (address, False))) if is_document
                          else ("shareUri", GLib.Variant("s", address)))
            return
        self.ask(self.machine.session, f"{self.phone_id}/share", f"{KDE_CONNECT}.device.share.shareUrl",
                 GLib.Variant("(s)", (address,)))

    # What has come

    @property
    def opened(self) -> list[str]:
        """The pages that were opened on the phone."""
        return self._opened.read_text().splitlines() if self._opened.exists() else []

    @property
    def documents(self) -> dict[str, bytes]:
        """The documents that have come to the phone as a whole."""
        folder = Path(self.phone.environment["HOME"]) / "Downloads"
        return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".part"} if folder.exists() else {}
