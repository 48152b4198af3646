# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs that show documents and folders, each machine with a display and a folder of its own that both share.

    desk, lap = Desk(machine, tmp_path), …
    viewer = Okular(desk)
    viewer.open(desk.document("Thesis.pdf"), 4)
    assert viewer.page(desk.documents / "Thesis.pdf") == 4
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from gi.repository import GLib
from buses import BUS, ROOT, BusError, Session, let_pass, wait
from screen import Screen
from support import Machine
from test_desktop_entries import have_bus_start
from vendor import own_id

ADAPTER, TEAM = own_id("Documents"), "org.example.Handoff.Documents"
READING = "org.example.Handoff.ReadingDocument"
BROWSING = "org.example.Handoff.BrowsingFolder"
DAEMONS = {"org.gnome.evince.Daemon": "/usr/libexec/evinced", "org.gtk.vfs.Daemon": "/usr/libexec/gvfsd",
           "org.gtk.vfs.Metadata": "/usr/libexec/gvfsd-metadata"}


def pdf(pages: int = 10) -> bytes:
    """A document of empty pages."""
    kids = " ".join(f"{3 + page} 0 R" for page in range(pages))
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Kids [{kids}] /Count {pages} >>",
               *["<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 400] >>"] * pages]
    text, places = "%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(text))
        text += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    end = f"trailer << /Size {len(places) + 1} /Root 1 0 R >>\nstartxref\n{len(text)}\n%%EOF\n"
    return f"{text}xref\n0 {len(places) + 1}\n0000000000 65535 f \n{table}{end}".encode()


def address(path: Path) -> str:
    """The URL of a file as GLib writes it, which other characters stay in than Python leaves."""
    return GLib.filename_to_uri(str(path), None)


class Desktop:
    """A machine with a display, and with the folder “Papers” that it shares with others."""

    def __init__(self, machine: Machine, screen: Screen | None = None) -> None:
        self.machine, self.screen = machine, screen
        # GVfs remembers nothing of what is in /tmp.
        self.papers = Path(tempfile.mkdtemp(prefix=f"handoff-{machine.name}-", dir="/var/tmp"))
        self.programs: list[subprocess.Popen[bytes]] = []
        self.environment = machine.environment
        self.environment["XDG_DATA_DIRS"] += ":/usr/share"
        self.environment |= {"GDK_BACKEND": "x11", "QT_QPA_PLATFORM": "xcb", "GSETTINGS_BACKEND": "memory",
                             "GTK_USE_PORTAL": "0", "NO_AT_BRIDGE": "1", "GTK_A11Y": "none", "GSK_RENDERER": "cairo",
                             "LIBGL_ALWAYS_SOFTWARE": "1", "DISPLAY": screen.display if screen else ":none"}
        for name, program in DAEMONS.items():
            have_bus_start(machine, name, program)
        machine.session.set(ROOT, "Preferences.SharedFolders", GLib.Variant("a{ss}", {"Papers": str(self.papers)}))

    def start_adapter(self) -> subprocess.Popen[bytes]:
        """Starts the adapter, which ends by itself when it is not needed."""
        adapter = self.machine.start("handoff-adapter", "documents")
        del self.machine.processes["handoff-adapter"]
        self.programs.append(adapter)
        wait(lambda: self.machine.session.owner(ADAPTER), "the adapter")
        return adapter

    def document(self, name: str, content: bytes | None = None) -> Path:
        """A document of ten pages in the shared folder."""
        path = self.papers / name
        path.write_bytes(pdf() if content is None else content)
        return path

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        """Starts a program with windows."""
        with open(self.machine.log_file("viewers"), "ab") as log:
            program = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *command], env=self.environment,
                                       stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.programs.append(program)
        return program

    def focus(self, agent: Session, **window: GLib.Variant) -> None:
        """What the agent says of the window in front, as the owner of its name."""
        agent.call("/org/example/Handoff/Adapter", "Adapter.FrontChanged", GLib.Variant("(a{sv})", (window,)),
                   destination=ADAPTER)

    def agent(self) -> Session:
        """A connection that is taken for the agent."""
        session = self.machine.connect()
        session.call("/org/freedesktop/DBus", f"{BUS}.RequestName",
                     GLib.Variant("(su)", ("org.example.Handoff.Agent", 4)), destination=BUS)
        return session

    def names(self, prefix: str) -> list[str]:
        """The names on the bus that begin with this."""
        names = self.machine.session.call("/org/freedesktop/DBus", f"{BUS}.ListNames", destination=BUS).unpack()[0]
        return [name for name in names if name.startswith(prefix)]

    def close(self) -> None:
        for program in reversed(self.programs):
            program.terminate()
        for program in self.programs:
            try:
                program.wait(5)
            except subprocess.TimeoutExpired:
                program.kill()
                program.wait()
        if self.screen:
            self.screen.close()
        shutil.rmtree(self.papers, ignore_errors=True)


class Viewer:
    """A program that shows documents."""

    id = program = ""

    def __init__(self, desktop: Desktop) -> None:
        self.desktop, self.session = desktop, desktop.machine.session

    option = "--page"

    def open(self, path: Path, page: int) -> subprocess.Popen[bytes]:
        """Opens a document, and waits until it is shown."""
        program = self.desktop.start(self.program, f"{self.option}={page}", str(path))
        self.shown(path, page)
        return program

    def shown(self, path: Path, page: int, timeout: float | None = None) -> None:
        """Waits until this page of the document is shown."""
        def seen() -> list[int]:
            nonlocal last
            last = self.pages(path)
            return [one for one in last if one == page]
        last: list[int] = []
        try:
            wait(seen, f"page {page} of {path}", timeout)
        except AssertionError as error:
            raise AssertionError(f"{error}; it shows {last}") from error

    def pages(self, path: Path) -> list[int]:
        """The pages at which the document is shown."""
        raise NotImplementedError

    def ask(self, name: str, path: str, member: str, arguments: GLib.Variant | None = None) -> Any:
        try:
            reply = self.session.call(path, member, arguments, destination=name).unpack()
            return reply[0] if reply else None
        except BusError:
            return None

    def turn(self, page: int) -> None:
        """Its user turns to this page."""
        raise NotImplementedError


class Okular(Viewer):
    id, program = "org.kde.okular", "okular"

    def pages(self, path: Path) -> list[int]:
        return [self.ask(name, "/okular", "org.kde.okular.currentPage") for name in self.names
                if self.ask(name, "/okular", "org.kde.okular.currentDocument") == str(path)]

    @property
    def names(self) -> list[str]:
        return self.desktop.names("org.kde.okular-")

    def turn(self, page: int) -> None:
        self.ask(self.names[0], "/okular", "org.kde.okular.goToPage", GLib.Variant("(u)", (page,)))


class Zathura(Viewer):
    id, program = "org.pwmt.zathura", "zathura"

    def pages(self, path: Path) -> list[int]:
        found = [self.ask(name, "/org/pwmt/zathura", f"{BUS}.Properties.GetAll", GLib.Variant("(s)", (self.id,)))
                 for name in self.names]
        return [one["pagenumber"] + 1 for one in found if one and one["filename"] == str(path)]

    @property
    def names(self) -> list[str]:
        return self.desktop.names("org.pwmt.zathura.")

    def turn(self, page: int) -> None:
        self.ask(self.names[0], "/org/pwmt/zathura", "org.pwmt.zathura.GotoPage", GLib.Variant("(u)", (page - 1,)))


class Evince(Viewer):
    id, program, option = "org.gnome.Evince", "evince", "--page-index"

    def shown(self, path: Path, page: int, timeout: float | None = None) -> None:
        # While it opens a document it notes two pages at the same time, and the first may come last. When it is turned to
        # the next page and back, it notes anew where it is.
        for _ in range(3):
            try:
                return super().shown(path, page, 3)
            except AssertionError:
                self._turn_there_and_back()
        super().shown(path, page, timeout)

    def _turn_there_and_back(self) -> None:
        screen = self.desktop.screen
        assert screen
        for window in screen.ask("xdotool", "search", "--onlyvisible", "--class", "evince").split():
            screen.ask("xdotool", "windowfocus", window)
            for key in ("n", "p"):
                screen.ask("xdotool", "key", "--window", window, key)
                # As long as Evince takes to show a page; of two keys at once it would see neither page.
                let_pass(0.3)

    def pages(self, path: Path) -> list[int]:
        if not self.owner(path):
            return []
        result = self.desktop.machine.run("gio", "info", "--attributes=metadata::evince::page", address(path))
        found = re.search(r"evince::page: (\d+)", result.stdout)
        return [int(found[1]) + 1] if found else []

    def owner(self, path: Path) -> str:
        """Who shows the document."""
        if not self.session.owner("org.gnome.evince.Daemon"):
            return ""
        return self.ask("org.gnome.evince.Daemon", "/org/gnome/evince/Daemon", "org.gnome.evince.Daemon.FindDocument",
                        GLib.Variant("(sb)", (address(path), False))) or ""

    def turn(self, page: int) -> None:
        (path,) = self.desktop.papers.iterdir()
        self.ask(self.owner(path), "/org/gnome/evince/Evince", "org.gnome.evince.Application.Reload",
                 GLib.Variant("(a{sv}u)", ({"page-index": GLib.Variant("u", page - 1)}, 0)))


VIEWERS = {viewer.program: viewer for viewer in (Okular, Evince, Zathura)}


def installed(*programs: str) -> str:
    """What there is not of these programs; empty if all are there."""
    return ", ".join(f"no {program}" for program in programs
                     if not shutil.which(program, path=f"{os.environ['PATH']}:/usr/libexec"))
