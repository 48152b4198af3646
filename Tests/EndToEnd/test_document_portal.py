# SPDX-License-Identifier: LGPL-2.1-or-later
"""Documents for applications in a sandbox, which cannot see the user's files."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from gi.repository import Gio, GLib
from buses import BUS, ROOT, Session, wait
from clients import ACTIVITY_TYPE, APPLICATION_ID, Client
from link import offer
from origin import Origin, files, folder, handed, start_reader
from sandbox import Sandbox, can_be_made
from support import Machine
from test_desktop_entries import install
from test_opened_documents import opened, show_editor

PORTAL = "org.freedesktop.portal.Documents"
PORTAL_PATH = "/org/freedesktop/portal/documents"
PROGRAMS = ("/usr/libexec/xdg-permission-store", "/usr/libexec/xdg-document-portal")
INTERFACE = f"""<node><interface name="{PORTAL}"><method name="AddFull">
  <arg type="ah" direction="in"/><arg type="u" direction="in"/><arg type="s" direction="in"/>
  <arg type="as" direction="in"/><arg type="as" direction="out"/><arg type="a{{sv}}" direction="out"/>
</method></interface></node>"""


@pytest.fixture
def lap(machine_list: list[Machine]) -> Machine:
    lap = start_reader(machine_list)
    if reason := can_be_made(lap):
        pytest.skip(reason)
    install(lap, APPLICATION_ID, ActivityTypes=ACTIVITY_TYPE)
    return lap


@pytest.fixture
def boxed(lap: Machine) -> Iterator[Client]:
    """The editor, in a sandbox."""
    sandbox = Sandbox(lap, APPLICATION_ID)
    yield wait(lambda: register(sandbox), "the desktop entry to count")
    sandbox.close()


def register(sandbox: Sandbox) -> Client | None:
    client = Client(sandbox, types=(), register=False)
    client.types = (ACTIVITY_TYPE,)
    try:
        client.register()
    except Exception:
        client.close()
        return None
    return client


class Portal(Session):
    """Stands for the document portal, and answers as a test wants."""

    def __init__(self, machine: Machine, ids: list[str], mount: bytes) -> None:
        super().__init__(machine.address)
        machine.sessions.append(self)
        self.answer: GLib.Variant | None = GLib.Variant("(asa{sv})", (ids, {"mountpoint": GLib.Variant("ay", mount)}))
        self.asked: list[tuple] = []
        # Answers nothing until it is let go.
        self.holds = False
        self.held: list[Gio.DBusMethodInvocation] = []
        interface = Gio.DBusNodeInfo.new_for_xml(INTERFACE).interfaces[0]
        self.connection.register_object(PORTAL_PATH, interface, self._add, None, None)
        Gio.bus_own_name_on_connection(self.connection, PORTAL, 0, None, None)
        wait(lambda: self.owner(PORTAL), "the portal")

    def _add(self, _connection, _sender, _path, _interface, _member, arguments, invocation) -> None:
        numbers = invocation.get_message().get_unix_fd_list().steal_fds()
        self.asked.append((*arguments.unpack()[1:], [os.readlink(f"/proc/self/fd/{number}") for number in numbers],
                           [os.get_inheritable(number) for number in numbers]))
        for number in numbers:
            os.close(number)
        if self.holds:
            self.held.append(invocation)
        elif self.answer is None:
            invocation.return_dbus_error(f"{BUS}.Error.ServiceUnknown", "There is none.")
        else:
            invocation.return_value(self.answer)


def test_document_for_a_sandbox(lap: Machine, boxed: Client) -> None:
    """A sandboxed application is handed a path that it can open: the portal is asked to let this application, and no
    other, read and write this document."""
    portal = Portal(lap, ["1a2b3c"], b"/run/user/1000/doc\0")
    assert Origin(lap, name="A letter.txt").deliver() == ("", "")
    assert handed(boxed) == "/run/user/1000/doc/1a2b3c/A letter.txt"
    assert [one[:4] for one in portal.asked] == [(3, APPLICATION_ID, ["read", "write"], [str(folder(lap) / "A letter.txt")])]


@contextmanager
def real_portal(machine: Machine) -> Iterator[Path]:
    """The portal of xdg-desktop-portal runs, and has its documents in this folder."""
    for program in PROGRAMS:
        if not Path(program).exists():
            pytest.skip(f"there is no {program}")
        machine.start(program)
    mount = Path(machine.environment["XDG_RUNTIME_DIR"], "doc")

    def ready() -> bool:
        assert machine.processes[PROGRAMS[1]].poll() is None, machine.log("xdg-document-portal")
        return bool(machine.session.owner(PORTAL)) and mount.is_mount()

    try:
        try:
            wait(ready, "the portal")
        except AssertionError as error:
            pytest.skip(f"the portal does not run here: {error}")
        yield mount
    finally:
        subprocess.run(["fusermount3", "-u", "-z", mount], capture_output=True)
        for program in reversed(PROGRAMS):
            if program in machine.processes:
                machine.kill(program, signal.SIGKILL)


@pytest.mark.desktop
def test_real_portal(lap: Machine, boxed: Client) -> None:
    """With the portal of xdg-desktop-portal the document is there for the application, which can change it, and for no
    other one."""
    with real_portal(lap) as mount:
        assert Origin(lap).deliver() == ("", "")
        path = Path(handed(boxed))
        assert path.name == "Letter.txt" and path.parent.parent == mount
        assert path.read_bytes() == b"Dear reader"
        inside = mount / "by-app" / APPLICATION_ID / path.relative_to(mount)
        inside.write_text("Dear writer")
        assert files(lap) == {"Letter.txt": b"Dear writer"}
        assert not (mount / "by-app" / "com.example.other" / path.relative_to(mount)).exists()


@pytest.mark.parametrize("answer", ["none", "no id", "a way out", "no mount"])
def test_without_a_portal(lap: Machine, boxed: Client, answer: str) -> None:
    """Where there is no portal, or it answers nonsense, the user's default application opens the document instead; the
    sandboxed one is told that nothing comes, and is handed nothing."""
    told = show_editor(lap)
    ids = {"no id": [], "a way out": ["../../etc"]}.get(answer, ["1a2b"])
    portal = Portal(lap, ids, b"" if answer == "no mount" else b"/run/user/1000/doc\0")
    if answer == "none":
        # The bus would start one that is installed.
        portal.answer = None
    assert Origin(lap).deliver() == ("", "")
    assert opened(told) == folder(lap) / "Letter.txt"
    boxed.wait_for("DidFailToContinueActivity")
    assert boxed.members == ["WillContinueActivity", "DidFailToContinueActivity"]


def test_application_that_unregisters_meanwhile(lap: Machine, boxed: Client) -> None:
    """A sandboxed application that unregisters while the portal is asked is told that nothing comes, and is not handed the
    activity after the outcome."""
    portal = Portal(lap, ["1a2b3c"], b"/run/user/1000/doc\0")
    portal.holds = True
    origin = Origin(lap)
    origin.send(origin.begin())
    wait(lambda: portal.held, "the portal to be asked")
    boxed.call(ROOT, "Manager.UnregisterApplication")
    assert origin.outcome()[0] == "ApplicationFailed"
    assert not boxed.called("ContinueActivity")
    portal.held.pop().return_value(portal.answer)
    boxed.wait_for("DidFailToContinueActivity")
    assert boxed.members == ["WillContinueActivity", "DidFailToContinueActivity"]


def test_portal_in_a_sandbox(lap: Machine, boxed: Client) -> None:
    """Who owns the portal's name in a sandbox is no portal, and is given no document."""
    told = show_editor(lap)
    sandbox = Sandbox(lap, "com.example.intruder", f"--own={PORTAL}")
    portal = Portal(sandbox, ["1a2b3c"], b"/run/user/1000/doc\0")
    assert Origin(lap).deliver() == ("", "")
    assert opened(told) == folder(lap) / "Letter.txt"
    assert not portal.asked
    assert boxed.members == ["WillContinueActivity", "DidFailToContinueActivity"]
    sandbox.close()


def test_what_is_continued_without_a_document(lap: Machine, boxed: Client) -> None:
    """A sandboxed application needs no portal for an activity without a document."""
    origin = Origin(lap)
    activity = dict(origin.link.answers["Fetch"].get_child_value(0).unpack())
    values = {name: GLib.Variant("t" if name == "Revision" else "s", value) for name, value in activity.items()
              if not name.startswith("Document")}
    origin.link.answers["Fetch"] = GLib.Variant("(a{sv})", (values,))
    origin.link.call("Peer.Offer", offer())
    origin.dock.continue_offer(origin.path)
    assert origin.outcome() == ("", "")
    assert boxed.members == ["WillContinueActivity", "ContinueActivity"]
