# SPDX-License-Identifier: LGPL-2.1-or-later
"""Documents of an application in a sandbox: only what it can read itself is sent, whatever it names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from asker import Asker
from buses import wait
from clients import APPLICATION_ID, Client
from sandbox import Inhabitant, Sandbox, can_be_made
from support import Machine, refused
from test_desktop_entries import install

TYPE = "com.example.editor.sandboxed"


class Boxed:
    """A sandboxed editor that names its documents, and a peer that asks for them."""

    def __init__(self, machine: Machine) -> None:
        self.home = Path(machine.environment["HOME"])
        self.folder = self.home / "Documents"
        self.folder.mkdir()
        self.inhabitant = Inhabitant(machine, APPLICATION_ID, {"/documents": self.folder}, "sleep", "600")
        self.sandbox = Sandbox(machine, APPLICATION_ID)
        (self.folder / "Letter.odt").write_bytes(b"Dear Sir")
        self.key = self.home / ".ssh" / "id_ed25519"
        self.key.parent.mkdir()
        self.key.write_bytes(b"private key")
        editor = wait(lambda: self._registered(), "the desktop entry to count")
        self.asker = Asker(machine, "file:///documents/Letter.odt", editor)

    def _registered(self) -> Client | None:
        editor = Client(self.sandbox, types=())
        try:
            editor.create(TYPE).invalidate()
        except Exception:
            editor.close()
            return None
        return editor

    def name(self, path: Path | str) -> None:
        self.asker.activity.update(DocumentURL=f"file://{path}")
        self.asker.fetch()

    def close(self) -> None:
        self.sandbox.close()
        self.inhabitant.close()


@pytest.fixture
def boxed(machine: Machine) -> Iterator[Boxed]:
    if reason := can_be_made(machine):
        pytest.skip(reason)
    install(machine, APPLICATION_ID, ActivityTypes=TYPE)
    boxed = Boxed(machine)
    yield boxed
    boxed.close()


def test_sandboxed_document(boxed: Boxed) -> None:
    """A document that the sandboxed application can read arrives, by the path that it has in the sandbox."""
    assert boxed.asker.get().document == b"Dear Sir"


def test_private_key_outside_the_sandbox(boxed: Boxed) -> None:
    """A private key outside its sandbox is not sent, by whatever path or link the application names it, though the proxy
    through which it speaks could read it."""
    assert Path(f"/proc/{boxed.sandbox.process.pid}/root{boxed.key}").read_bytes() == b"private key"
    (boxed.folder / "link").symlink_to(boxed.key)
    (boxed.folder / "relative").symlink_to("../.ssh/id_ed25519")
    (boxed.folder / "folder").symlink_to(boxed.key.parent)
    for path in (boxed.key, f"/documents/..{boxed.key}", f"/documents/%2e%2e/%2e%2e{boxed.key}", "/documents/link",
                 "/documents/relative", "/documents/folder/id_ed25519", f"/proc/self/root{boxed.key}",
                 f"/proc/{os.getpid()}/root{boxed.key}", f"/proc/1/root{boxed.key}"):
        boxed.name(path)
        with refused("NotSupported", "AccessDenied"):
            boxed.asker.ask()
    boxed.name("/documents/Letter.odt")
    assert boxed.asker.get().document == b"Dear Sir"


@pytest.mark.parametrize("how", ["ended", "unknown", "someone else"])
def test_sandbox_that_cannot_be_looked_into(boxed: Boxed, how: str) -> None:
    """If the process in the sandbox is gone, is not known, or is another one by now, nothing is sent."""
    match how:
        case "ended": boxed.inhabitant.close()
        case "unknown": boxed.inhabitant.forget()
        case "someone else": boxed.inhabitant.write_down(os.getpid())
    for path in ("/documents/Letter.odt", boxed.key):
        boxed.name(path)
        with refused("AccessDenied", containing=("sandbox",)):
            boxed.asker.ask()
