# SPDX-License-Identifier: LGPL-2.1-or-later
"""A continuation that the user does not want any more."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest
from gi.repository import GLib
from buses import wait
from clients import APPLICATION_ID, Client, Dock
from origin import TITLE, Origin, files, handed, parts, start_reader
from support import Machine
from terminal import Terminal
from test_desktop_entries import install
from test_document_command import OFFER, PretendedBroker
from test_documents import Machines, document, machines, offered  # noqa: F401
from test_shared_folders import place, shared


@pytest.fixture
def lap(machine_list: list[Machine]) -> Machine:
    return start_reader(machine_list)


def cancel(dock: Dock, path: str) -> None:
    dock.call(path, "RemoteActivity.Cancel")


def assert_cancelled(*docks: Dock) -> None:
    """Each of them is told so, once."""
    for dock in docks:
        _application, error, message = dock.outcome(5)
        assert error == "org.example.Handoff.Error.Cancelled" and "cancelled" in message
        assert len(dock.finished()) == 1


def test_while_the_application_starts(lap: Machine) -> None:
    """A continuation that waits for its application is cancelled at once; the program that was started is handed nothing
    when it registers at last, and continues the next time."""
    install(lap, APPLICATION_ID, ActivityTypes="com.example.editor.edit;", Exec="sleep 60")
    origin = Origin(lap)
    origin.dock.continue_offer(origin.path)
    wait(lambda: origin.dock.offers[origin.path]["State"] == "continuing", "the continuation")
    begin = time.monotonic()
    cancel(origin.dock, origin.path)
    assert_cancelled(origin.dock)
    assert time.monotonic() - begin < 5
    target = Client(lap)
    wait(lambda: origin.link.calls("Release"), "Release")
    wait(lambda: origin.dock.offers[origin.path]["State"] == "available", "the offer")
    assert not target.calls
    origin.dock.events.clear()
    assert origin.deliver() == ("", "")
    assert Path(handed(target)).read_bytes() == origin.content


def test_in_the_middle_of_a_document(lap: Machine) -> None:
    """In the middle of a document a continuation is cancelled at once: nothing is left of the document, its stream is
    broken and not acknowledged, the origin is released, the offer stays, and continuing again works."""
    target = Client(lap)
    origin = Origin(lap, os.urandom(600_000))
    connection = origin.begin()
    origin.send(connection, origin.checked[:400_000], ends=False)
    wait(lambda: parts(lap), "a part")
    cancel(origin.dock, origin.path)
    assert_cancelled(origin.dock)
    wait(lambda: not files(lap), "the part to be removed", 5)
    target.wait_for("DidFailToContinueActivity")
    assert connection.take(4) == b""
    wait(lambda: origin.link.calls("Release"), "Release")
    wait(lambda: origin.dock.offers[origin.path]["State"] == "available", "the offer")
    assert origin.dock.offers[origin.path]["Progress"] == -1
    origin.dock.events.clear()
    origin.dock.continue_offer(origin.path)
    origin.send(origin.connect(times=2))
    assert origin.outcome() == ("", "")
    assert Path(handed(target)).read_bytes() == origin.content
    assert target.members == ["WillContinueActivity", "DidFailToContinueActivity", "WillContinueActivity",
                              "ContinueActivity"]


def test_sending_ends_too(machines: Machines) -> None:  # noqa: F811
    """When a continuation is cancelled, the other machine stops sending its document at once, and the next document can be
    asked for."""
    desk, lap = machines
    path = document(desk, b"")
    os.truncate(path, 5 << 30)
    origin, target, dock = offered(machines, path)
    wait(lambda: parts(lap), "a part")
    begin = time.monotonic()
    cancel(dock, dock.offer("Letter"))
    assert_cancelled(dock)
    wait(lambda: not files(lap), "the part to be removed")
    wait(lambda: "The document was not brought over" in desk.log("handoffd"), "the end of the sending")
    assert time.monotonic() - begin < 5
    origin.close()
    path.write_bytes(b"small")
    target.calls.clear()
    dock.events.clear()
    again = Client(desk)
    again.offer("Another", DocumentURL=path.as_uri())
    dock.continue_offer(dock.offer("Another"))
    assert dock.outcome()[1:] == ("", "") and Path(handed(target)).read_bytes() == b"small"


def test_while_a_shared_document_is_awaited(machines: Machines) -> None:  # noqa: F811
    """A continuation that waits for a document of a shared folder is cancelled, and when the document comes at last
    nothing happens."""
    desk, lap = machines
    here, there = place(desk, "Cloud"), place(lap, "My cloud")
    shared(desk, Cloud=here)
    shared(lap, Cloud=there)
    (here / "a.txt").write_text("hello")
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    origin.offer("Letter", DocumentURL=(here / "a.txt").as_uri())
    path = dock.offer("Letter")
    dock.continue_offer(path)
    target.wait_for("WillContinueActivity")
    (there / "a.txt").write_text("hel")
    os.utime(there / "a.txt", (1, 1))
    wait(lambda: dock.offers[path]["Progress"] > 0, "some progress")
    cancel(dock, path)
    assert_cancelled(dock)
    (there / "a.txt").write_text("hello")
    target.wait_for("DidFailToContinueActivity")
    wait(lambda: dock.offers[path]["State"] == "available", "the offer")
    dock.events.clear()
    dock.continue_offer(path)
    assert dock.outcome()[1:] == ("", "") and Path(handed(target)).read_text() == "hello"
    assert len(target.called("ContinueActivity")) == 1


# In a shell.


@pytest.mark.parametrize("options", [(), ("--json",), ("--verbose",)])
def test_interrupted_command(lap: Machine, options: tuple[str, ...]) -> None:
    """Ctrl+C cancels what “handoff continue” is about, which then says so; its status is 130."""
    target = Client(lap)
    origin = Origin(lap, os.urandom(600_000))
    process = lap.start("handoff", "continue", *options, origin.path.rpartition("/")[2])
    connection = origin.connect()
    origin.send(connection, origin.checked[:400_000], ends=False)
    wait(lambda: parts(lap), "a part")
    process.send_signal(signal.SIGINT)
    wait(lambda: origin.link.read_messages() is not None and process.poll() is not None, "the end of handoff continue", 5)
    assert lap.processes.pop("handoff").returncode == 130
    text = lap.log("handoff")
    assert f"“{TITLE}” was not continued: " in text and "cancelled" in text
    if options == ("--json",):
        outcome = json.loads(next(line for line in text.splitlines() if line.startswith("{")))
        assert outcome["error"]["name"] == "Cancelled"
    target.wait_for("DidFailToContinueActivity")
    wait(lambda: not files(lap), "the part to be removed")


def test_interrupted_too_late(machines: Machines) -> None:  # noqa: F811
    """Ctrl+C after the application has been handed the activity says that it is too late, and the outcome is still told."""
    desk, lap = machines
    origin, target = Client(desk), Client(lap)
    target.hang("ContinueActivity")
    origin.offer("Letter")
    path = Dock(lap).offer("Letter")
    process = lap.start("handoff", "continue", path.rpartition("/")[2])
    target.wait_for("ContinueActivity")
    process.send_signal(signal.SIGINT)
    wait(lambda: "too late" in lap.log("handoff"), "a word about it")
    assert process.poll() is None
    target.unanswered[0].return_value(GLib.Variant("(b)", (True,)))
    wait(lambda: process.poll() is not None, "the end of handoff continue")
    assert lap.processes.pop("handoff").returncode == 0 and "Continued “Letter”" in lap.log("handoff")


def test_interrupted_twice(machine_list: list[Machine]) -> None:
    """Whoever presses Ctrl+C a second time does not wait for a broker that does not answer."""
    bare = Machine("bare")
    machine_list.append(bare)
    broker = PretendedBroker(bare)
    terminal = Terminal(bare, "handoff", "continue", OFFER.rpartition("/")[2])
    wait(lambda: broker.caller, "Continue")
    broker.progress(0.5)
    terminal.until("50 %")
    broker.answers = False
    terminal.process.send_signal(signal.SIGINT)
    wait(lambda: broker.unanswered, "Cancel")
    assert terminal.process.poll() is None
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.end(5) == 130
