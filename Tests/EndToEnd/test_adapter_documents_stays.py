# SPDX-License-Identifier: LGPL-2.1-or-later
"""How long the adapter of documents and folders is there: as long as one of its applications, with or without a window."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest
from gi.repository import GLib
from buses import let_pass, wait
from clients import Dock
from fake_viewers import Fake, FakeManager, FakeOkular
from support import Machine
from viewers import ADAPTER, Desktop, address

NAUTILUS = "org.gnome.Nautilus"
EVINCED = "org.gnome.evince.Daemon"
EVINCED_XML = """<node><interface name="org.gnome.evince.Daemon">
  <method name="FindDocument"><arg type="s" direction="in"/><arg type="b" direction="in"/><arg type="s" direction="out"/></method>
</interface></node>"""
# Longer than the adapter is still there when its last application is gone (Documents.afterLast, 1 s).
AFTER_LAST = 1.2


@pytest.fixture
def desk(machines: tuple[Machine, Machine]) -> Iterator[Desktop]:
    """A machine without a display."""
    desktop = Desktop(machines[0])
    yield desktop
    desktop.close()


@pytest.fixture
def dock(machines: tuple[Machine, Machine]) -> Iterator[Dock]:
    """Where what is shown there can be continued."""
    desktop = Desktop(machines[1])
    desktop.start_adapter()
    yield Dock(desktop.machine)
    desktop.close()


class FakeEvinced(Fake):
    """Evince's daemon, which knows who has loaded which document."""

    def __init__(self, desktop: Desktop) -> None:
        super().__init__(desktop.machine, "/org/gnome/evince/Daemon", EVINCED_XML)
        self.owners: dict[str, str] = {}
        self.own(EVINCED)

    def answer(self, member: str, arguments: GLib.Variant) -> GLib.Variant:
        return GLib.Variant("(s)", (self.owners.get(arguments.unpack()[0], ""),))

    def load(self, desktop: Desktop, name: str) -> Fake:
        """A process of Evince that loads a document, and says so."""
        process = Fake(desktop.machine, "/org/gnome/evince/Window/0", EVINCED_XML)
        url = address(desktop.document(name))
        self.owners[url] = process.name
        process.connection.emit_signal(None, process.path, "org.gnome.evince.Window", "DocumentLoaded",
                                       GLib.Variant("(s)", (url,)))
        return process


def wait_for_end(adapter: subprocess.Popen[bytes]) -> None:
    """Waits until the adapter has ended in order."""
    wait(lambda: adapter.poll() is not None, "the end of the adapter")
    assert adapter.returncode == 0


def test_file_manager_without_windows(desk: Desktop, dock: Dock) -> None:
    """A window of a file manager that has long been there without any is noticed, though nobody tells the focus: the adapter is
    there as long as the file manager, and ends with it."""
    letters = desk.papers / "Letters"
    letters.mkdir()
    manager = FakeManager(desk.machine, _1=[address(letters)])
    manager.own(NAUTILUS)
    adapter = desk.start_adapter()
    path = dock.offer("Letters")
    manager.show()
    dock.wait_until_gone(path)
    let_pass(AFTER_LAST)
    manager.show(_2=[address(letters)])
    path = dock.offer("Letters")
    manager.show()
    dock.wait_until_gone(path)
    manager.disown(NAUTILUS)
    wait_for_end(adapter)


def test_next_document_of_evince(desk: Desktop, dock: Dock) -> None:
    """A document that Evince opens while its daemon is still there from the one before is noticed: the adapter is there as long
    as the daemon, and ends with it."""
    daemon = FakeEvinced(desk)
    adapter = desk.start_adapter()
    # What says only once that it has loaded something is heard as soon as others are.
    okular = FakeOkular(desk.machine, str(desk.document("Before.pdf")))
    dock.offer("Before.pdf")
    okular.close()
    first = daemon.load(desk, "First.pdf")
    path = dock.offer("First.pdf")
    first.close()
    dock.wait_until_gone(path)
    let_pass(AFTER_LAST)
    second = daemon.load(desk, "Second.pdf")
    path = dock.offer("Second.pdf")
    second.close()
    dock.wait_until_gone(path)
    assert desk.machine.session.owner(ADAPTER)
    daemon.disown(EVINCED)
    wait_for_end(adapter)


def test_other_file_manager(desk: Desktop, dock: Dock) -> None:
    """A file manager that is none of its applications does not keep the adapter from ending."""
    letters = desk.papers / "Letters"
    letters.mkdir()
    manager = FakeManager(desk.machine, _1=[address(letters)])
    adapter = desk.start_adapter()
    dock.offer("Letters")
    manager.show()
    wait_for_end(adapter)
    assert desk.machine.session.owner("org.freedesktop.FileManager1")
