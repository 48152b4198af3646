# SPDX-License-Identifier: LGPL-2.1-or-later
"""The clipboard of a desktop that is played: who reads and writes it for the broker, as the agent does."""

from __future__ import annotations

import fcntl
import os
from typing import NamedTuple

from gi.repository import Gio, GLib
from buses import HANDOFF_ERROR, ROOT, BusError, Session
from clients import interface_without
from support import Machine

SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE


def sealed(content: bytes) -> int:
    """A file in memory that nobody can change, as contents go over the bus. Whoever calls this closes it."""
    descriptor = os.memfd_create("clipboard", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest):]
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, SEALS)
    return descriptor


def sealed_list(contents: dict[str, bytes]) -> tuple[list[tuple[str, int]], Gio.UnixFDList]:
    """The two arguments that stand for these contents."""
    descriptor = sealed(b"".join(contents.values()))
    try:
        descriptors = Gio.UnixFDList.new()
        # This takes a duplicate.
        descriptors.append(descriptor)
        return [(kind, len(content)) for kind, content in contents.items()], descriptors
    finally:
        os.close(descriptor)


def contents_of(types: list[tuple[str, int]], descriptor: int) -> dict[str, bytes]:
    """The contents for which these two arguments stand; closes the file."""
    contents, place = {}, 0
    with open(descriptor, "rb") as file:
        for kind, size in types:
            contents[kind] = os.pread(file.fileno(), size, place)
            place += size
        assert os.fstat(file.fileno()).st_size == place, "the file has other bytes than the types say"
    return contents


class Followed(NamedTuple):
    """A call of Follow."""

    device: str
    types: list[str]
    # In microseconds.
    age: int


class PlayedClipboard(Session):
    """A clipboard, which has `contents` by their types, the best first."""

    PATH = "/clipboard"

    def __init__(self, machine: Machine, *, register: bool = True) -> None:
        super().__init__(machine.address)
        machine.sessions.append(self)
        self.contents: dict[str, bytes] = {}
        # What Read is answered with instead, such as that of a screen that is locked.
        self.error: BusError | None = None
        # The types that were read, each as it was asked for; empty for all.
        self.read: list[str] = []
        # The devices and contents of calls of Write.
        self.written: list[tuple[str, dict[str, bytes]]] = []
        self.followed: list[Followed] = []
        # The devices and types of calls of Ask.
        self.asked: list[tuple[str, list[str]]] = []
        self.connection.register_object(self.PATH, interface_without("DesktopClipboard", ()), self._called, None, None)
        if register:
            self.register()

    # What it does

    def register(self, desktop: str = "Played") -> None:
        """Is the clipboard of its machine from now on."""
        self.call(ROOT, "Clipboard.Register", GLib.Variant("(os)", (self.PATH, desktop)))

    def unregister(self) -> None:
        self.call(ROOT, "Clipboard.Unregister")

    def copy(self, **contents: bytes) -> None:
        """Somebody copies something, as text, html or image, and the broker is told."""
        names = {"text": "text/plain", "html": "text/html", "image": "image/png"}
        self.contents = {names[name]: content for name, content in contents.items()}
        self.call(ROOT, "Clipboard.Changed", GLib.Variant("(as)", (list(self.contents),)))

    # What it is told

    def _called(self, _connection: Gio.DBusConnection, _sender: str, _path: str, _interface: str, method: str,
                arguments: GLib.Variant, invocation: Gio.DBusMethodInvocation) -> None:
        given = arguments.unpack()
        if method == "Read":
            self._read(given[0], invocation)
            return
        if method == "Write":
            device, types, index = given
            descriptors = invocation.get_message().get_unix_fd_list().steal_fds()
            self.contents = contents_of(types, descriptors[index])
            self.written.append((device, self.contents))
        elif method == "Follow":
            self.followed.append(Followed(*given))
        else:
            self.asked.append((given[0], list(given[1])))
        invocation.return_value(None)

    def _read(self, kind: str, invocation: Gio.DBusMethodInvocation) -> None:
        self.read.append(kind)
        if self.error:
            invocation.return_dbus_error(self.error.name, self.error.message)
            return
        contents = {kind: self.contents[kind]} if kind in self.contents else {} if kind else self.contents
        if not contents:
            invocation.return_dbus_error(f"{HANDOFF_ERROR}.OfferWithdrawn",
                                         "There is nothing of that in the clipboard. Copy something.")
            return
        types, descriptors = sealed_list(contents)
        invocation.return_value_with_unix_fd_list(GLib.Variant("(a(st)h)", (types, 0)), descriptors)
