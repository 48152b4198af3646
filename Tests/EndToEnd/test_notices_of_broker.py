# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the agent shows of what a broker says that a test plays."""

from __future__ import annotations

from pathlib import Path

import pytest
from gi.repository import GLib
from agents import Desk
from buses import BROKER, ROOT, let_pass, wait
from played_broker import PlayedBroker
from notifications import PlainServer
from presence import Presence, missing
from support import Machine


class Session:
    """A machine with an agent and no daemons."""

    def __init__(self, machines: list[Machine], **preferences: GLib.Variant) -> None:
        if what := missing():
            pytest.skip(what)
        self.lap = Desk("lap")
        machines.append(self.lap)
        self.presence = self.lap.presence = Presence(self.lap)
        self.server = PlainServer(self.lap)
        self.broker = PlayedBroker(self.lap, **preferences)
        self.lap.start_agent()
        self.broker.wait_until_followed()
        wait(lambda: "The broker is known" in self.lap.log("handoff-agent"), "the agent to know the broker")


def test_invited(machine_list: list[Machine]) -> None:
    """What was pushed here is shown at once, whatever the user wants to be asked on arrival, one at a time of each peer, and
    taken back when it ends."""
    session = Session(machine_list, NotifyOffers=GLib.Variant("s", "never"))
    path = session.broker.offer(1, "Pushed", Invited=True)
    session.server.wait_for("Continue “Pushed”?", "desk")
    session.broker.offer(2, "Other", "e" * 64, Invited=True)
    session.server.wait_for("Continue “Other”?", "desk")
    session.broker.withdraw(path)
    wait(lambda: session.server.titles == ["Continue “Other”?"], "the first to be taken back")
    session.broker.offer(3, "Pushed again", Invited=True)
    session.broker.offer(4, "Third", "f" * 64, Invited=True)
    # What it is told first is shown first.
    session.server.wait_for("Continue “Third”?", "desk")
    assert len(session.server.record) == 3, "one in ten seconds"


def test_invited_while_locked(machine_list: list[Machine]) -> None:
    """What was pushed here while the session was locked is shown when it is unlocked."""
    session = Session(machine_list)
    session.presence.lock()
    session.broker.offer(1, "Pushed", Invited=True)
    # As long as a question takes to be shown.
    let_pass(0.3)
    assert not session.server.record
    session.presence.unlock()
    session.server.wait_for("Continue “Pushed”?")


def test_continued_elsewhere(machine_list: list[Machine]) -> None:
    """When another device has continued something from here, a quiet notification says what and where."""
    session = Session(machine_list)
    session.broker.continued("Report")
    shown = session.server.wait_for("Continued on another device")
    assert shown.body.splitlines() == ["“Report”", "desk"]
    assert shown.details["urgency"] == 0 and shown.details["transient"] and not shown.buttons


def test_continued_elsewhere_by_preference(machine_list: list[Machine]) -> None:
    """Whoever does not want to be told what was continued elsewhere is not told."""
    session = Session(machine_list, NotifyContinued=GLib.Variant("b", False))
    session.broker.continued("Report")
    session.broker.offer(1, "Pushed", Invited=True)
    session.server.wait_for("Continue “Pushed”?")
    assert len(session.server.record) == 1


def test_impostor_of_broker(machine_list: list[Machine]) -> None:
    """What somebody else says in the broker's place is shown nowhere."""
    session = Session(machine_list)
    other = session.lap.connect()
    about = {"Title": GLib.Variant("s", "False"), "DeviceName": GLib.Variant("s", "x")}
    for destination in (None, session.lap.session.owner("org.example.Handoff.Agent")):
        other.connection.emit_signal(destination, ROOT, f"{BROKER}.Manager", "ActivityContinued",
                                     GLib.Variant("(a{sv})", (about,)))
    session.broker.continued("True")
    session.server.wait_for("Continued on another device", "“True”")
    assert len(session.server.record) == 1


def test_progress(machine_list: list[Machine]) -> None:
    """A document that is brought over is shown with its progress, at most once a second."""
    session = Session(machine_list)
    path = session.broker.offer(1, "Film", State="continuing", Progress=-1.0)
    assert session.server.wait_for("Continuing “Film”…").details.get("value") is None
    for percentage in range(1, 43):
        session.broker.change(path, Progress=GLib.Variant("d", percentage / 100))
    shown = session.server.wait_for("Continuing “Film”…", "42 % are here.")
    assert shown.details["value"] == 42 and shown.buttons == {"cancel": "Cancel"}
    assert len(session.server.record) <= 3
    session.broker.change(path, State=GLib.Variant("s", "available"))
    session.server.wait_until_gone()


@pytest.mark.parametrize("text", ["<b>x</b> & <a href='y'>z</a>\n“q” \u202e", "y" * 10_000, "\u0301" * 10_000, "\t\r\n"],
                         ids=["markup", "long", "marks", "blank"])
def test_hostile_broker(machine_list: list[Machine], text: str) -> None:
    """Titles, names and ids of any form and length are harmless in each notification."""
    session = Session(machine_list)
    session.broker.offer(1, text, Invited=True, DeviceName=text, ApplicationId=text, Handlers=[text, "../../" + text])
    session.broker.offer(2, text, "e" * 64, State="continuing", DeviceName=text, Handlers=[])
    session.broker.continued(text, text)
    wait(lambda: len(session.server.shown) == 3, "all three")
    for one in session.server.record:
        assert len(one.title) < 200 and len(one.body) < 1000
        assert "\u202e" not in one.title + one.body and "\n" not in one.title and "<" not in one.body


def test_picture_of_application(machine_list: list[Machine]) -> None:
    """A notification has the picture of the application, as its desktop entry here says."""
    session = Session(machine_list)
    entries = Path(session.lap.environment["XDG_DATA_HOME"], "applications")
    entries.mkdir(parents=True)
    (entries / "com.example.editor.desktop").write_text("[Desktop Entry]\nType=Application\nName=Editor\nIcon=the-editor\n")
    session.broker.offer(1, "Pushed", Invited=True)
    assert session.server.wait_for("Continue “Pushed”?").icon == "the-editor"
