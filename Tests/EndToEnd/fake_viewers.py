# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs that say on the bus that they are viewers or file managers, and what they show, as they like."""

from __future__ import annotations

from collections import Counter
from typing import Any

from gi.repository import Gio, GLib
from buses import BUS, Session

OKULAR = """<node><interface name="org.kde.okular">
  <method name="currentDocument"><arg type="s" direction="out"/></method>
  <method name="currentPage"><arg type="u" direction="out"/></method>
  <method name="goToPage"><arg type="u" direction="in"/></method>
</interface></node>"""
MANAGER = """<node><interface name="org.freedesktop.FileManager1">
  <method name="ShowFolders"><arg type="as" direction="in"/><arg type="s" direction="in"/></method>
  <property name="OpenWindowsWithLocations" type="a{sas}" access="read"/>
</interface></node>"""


class Fake(Session):
    """A program with an object of its own; it counts what it is asked."""

    def __init__(self, place: Any, path: str, xml: str) -> None:
        super().__init__(place.address)
        place.sessions.append(self)
        self.path = path
        self.interface = Gio.DBusNodeInfo.new_for_xml(xml).interfaces[0]
        self.asked: Counter[str] = Counter()
        self.connection.register_object(path, self.interface, self._called, self._read, None)

    def own(self, name: str) -> None:
        self.call("/org/freedesktop/DBus", f"{BUS}.RequestName", GLib.Variant("(su)", (name, 4)), destination=BUS)

    def disown(self, name: str) -> None:
        self.call("/org/freedesktop/DBus", f"{BUS}.ReleaseName", GLib.Variant("(s)", (name,)), destination=BUS)

    def _called(self, _connection: Gio.DBusConnection, _sender: str, _path: str, _interface: str, member: str,
                arguments: GLib.Variant, invocation: Gio.DBusMethodInvocation) -> None:
        self.asked[member] += 1
        answer = self.answer(member, arguments)
        if answer is not None:
            invocation.return_value(answer)

    def _read(self, _connection: Gio.DBusConnection, _sender: str, _path: str, _interface: str,
              name: str) -> GLib.Variant:
        self.asked[name] += 1
        return self.value(name)

    def answer(self, member: str, arguments: GLib.Variant) -> GLib.Variant | None:
        """What a method returns; None if it never does."""

    def value(self, name: str) -> GLib.Variant:
        """The value of a property."""


class FakeOkular(Fake):
    """Says that it is Okular, and shows this page of this document."""

    def __init__(self, place: Any, document: str, page: int | GLib.Variant = 1, name: str = "org.kde.okular-1") -> None:
        super().__init__(place, "/okular", OKULAR)
        self.document, self.page = document, page
        self.own(name)

    def answer(self, member: str, arguments: GLib.Variant) -> GLib.Variant | None:
        if member == "currentDocument":
            return GLib.Variant("(s)", (self.document,))
        if member == "goToPage":
            self.page = arguments.unpack()[0]
            return GLib.Variant("()", ())
        return GLib.Variant("(u)", (self.page,)) if isinstance(self.page, int) else None


class FakeManager(Fake):
    """Says that it is Nautilus, with these windows."""

    def __init__(self, place: Any, **windows: list[str]) -> None:
        super().__init__(place, "/org/freedesktop/FileManager1", MANAGER)
        self.windows: dict[str, list[str]] = {}
        self.shown: list[str] = []
        self.own("org.freedesktop.FileManager1")
        self.show(**windows)

    def show(self, **windows: list[str]) -> None:
        """Has these windows now, and says so."""
        self.windows = {f"/org/gnome/Nautilus/window/{name.strip('_')}": places for name, places in windows.items()}
        self.connection.emit_signal(
            None, self.path, f"{BUS}.Properties", "PropertiesChanged",
            GLib.Variant("(sa{sv}as)", (self.interface.name, {"OpenWindowsWithLocations": self.value("")}, [])))

    def value(self, name: str) -> GLib.Variant:
        return GLib.Variant("a{sas}", self.windows)

    def answer(self, member: str, arguments: GLib.Variant) -> GLib.Variant | None:
        self.shown += arguments.unpack()[0]
        return GLib.Variant("()", ())
