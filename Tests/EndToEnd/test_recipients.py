# SPDX-License-Identifier: LGPL-2.1-or-later
"""Several connections of one application: what other programs than ours say to that."""

from __future__ import annotations

from gi.repository import Gio, GLib
from buses import BROKER, HANDOFF_ERROR, INTERFACES, wait
from clients import ACTIVITY_TYPE, APPLICATION_ID, Client, Dock
from support import Machine

Machines = tuple[Machine, Machine]


def continued(desk: Machine, lap: Machine, title: str = "A letter") -> tuple[str, str, str]:
    """What comes of continuing an activity of the first machine on the second."""
    Client(desk).offer(title)
    dock = Dock(lap)
    dock.continue_offer(dock.offer(title))
    return dock.outcome()


def test_wrong_reply_type(machines: Machines) -> None:
    """A reply of another type is ApplicationFailed; the message says which application, and what it replied."""
    desk, lap = machines
    target = Client(lap, register=False)
    xml = (INTERFACES / f"{BROKER}.Application.xml").read_text().replace(
        '<arg type="b" name="handled"', '<arg type="s" name="handled"')
    target.path = "/other"
    target.connection.register_object("/other", Gio.DBusNodeInfo.new_for_xml(xml).interfaces[0], target._called,
                                      None, None)
    target.answers["ContinueActivity"] = lambda arguments: GLib.Variant("(s)", ("yes",))
    target.register()
    _application, name, message = continued(desk, lap)
    assert name == f"{HANDOFF_ERROR}.ApplicationFailed"
    for text in (APPLICATION_ID, "“s” instead of “b”"):
        assert text in message
    assert "InconsistentMessage" in lap.log("handoffd")


def test_publish_beside_receive(machines: Machines) -> None:
    """“handoff publish” and “handoff receive” under one id on one machine do not disturb each other."""
    desk, lap = machines
    as_one = ("--app-id", APPLICATION_ID, "--type", ACTIVITY_TYPE)
    lap.start("handoff", "receive", *as_one, "--once")
    lap.processes["receive"] = lap.processes.pop("handoff")
    wait(lambda: "Waiting" in lap.log("handoff"), "handoff receive to be ready")
    lap.start("handoff", "publish", *as_one, "--title", "From the shell")
    dock = Dock(desk)
    assert continued(desk, lap) == (APPLICATION_ID, "", "")
    wait(lambda: lap.processes["receive"].poll() is not None, "the end of handoff receive --once")
    assert lap.processes.pop("receive").returncode == 0
    dock.offer("From the shell")
