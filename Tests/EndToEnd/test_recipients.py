# SPDX-License-Identifier: LGPL-2.1-or-later
"""Several connections of one application: which of them is handed what is continued, and what it says if it cannot."""

from __future__ import annotations

import pytest
from gi.repository import Gio, GLib
from buses import BROKER, HANDOFF_ERROR, INTERFACES, ROOT, wait
from clients import ACTIVITY_TYPE, APPLICATION_ID, Client, Dock
from support import Machine, refused

Machines = tuple[Machine, Machine]
MAKES_ONLY = {"Receives": GLib.Variant("b", False)}
HANDED = ["WillContinueActivity", "ContinueActivity"]


def handed(client: Client) -> list[str]:
    """What a client was called with as one that continues."""
    return [member for member in client.members if member in HANDED]


def continued(desk: Machine, lap: Machine, title: str = "A letter") -> tuple[str, str, str]:
    """What comes of continuing an activity of the first machine on the second."""
    Client(desk).offer(title)
    dock = Dock(lap)
    dock.continue_offer(dock.offer(title))
    return dock.outcome()


def test_one_that_only_makes_activities(machines: Machines) -> None:
    """A registration with Receives false takes nothing away from the one that continues, though it came later."""
    desk, lap = machines
    receiver, maker = Client(lap), Client(lap, options=MAKES_ONLY)
    assert continued(desk, lap) == (APPLICATION_ID, "", "")
    assert handed(receiver) == HANDED and not handed(maker)
    # It makes activities like any other.
    dock = Dock(desk)
    maker.offer("From the maker")
    dock.offer("From the maker")


def test_alone_it_continues_nothing(machines: Machines) -> None:
    """Where nothing but a registration with Receives false is there, nothing here continues the offer."""
    desk, lap = machines
    maker, dock = Client(lap, options=MAKES_ONLY), Dock(lap)
    Client(desk).offer("A letter")
    wait(lambda: lap.session.get(ROOT, "Manager.HiddenOffers"), "it to be hidden")
    dock.follow()
    maker.get(ROOT, "Manager.Version")
    assert not dock.offers and not maker.calls, "what both were told came before these answers"
    # Registered anew without the option it is an application like any other.
    maker.options = {}
    maker.register()
    dock.offer("A letter")


def test_receives_of_another_type(machine: Machine) -> None:
    """Receives is a truth value."""
    with refused("InvalidArgs", containing=("Receives",)):
        Client(machine, options={"Receives": GLib.Variant("s", "no")})


@pytest.mark.parametrize("lacking", [("WillContinueActivity", "ContinueActivity"), ("ContinueActivity",)])
def test_one_that_serves_nothing(machines: Machines, lacking: tuple[str, ...]) -> None:
    """From the last to register, if it does not serve what continues, the activity goes to the one before it."""
    desk, lap = machines
    first, last = Client(lap), Client(lap, leave_out=lacking)
    assert continued(desk, lap) == (APPLICATION_ID, "", "")
    assert handed(first) == HANDED
    assert "ContinueActivity" not in handed(last)


def test_one_whose_object_is_not_there(machines: Machines) -> None:
    """So it does from one that registered an object that it does not have."""
    desk, lap = machines
    first, last = Client(lap), Client(lap, register=False)
    last.path = "/nowhere"
    last.register()
    assert continued(desk, lap) == (APPLICATION_ID, "", "")
    assert handed(first) == HANDED and not last.calls


def test_one_without_will_continue_alone(machines: Machines) -> None:
    """An application that only lacks WillContinueActivity is handed the activity."""
    desk, lap = machines
    target = Client(lap, leave_out=("WillContinueActivity",))
    assert continued(desk, lap) == (APPLICATION_ID, "", "")
    assert handed(target) == ["ContinueActivity"]


def test_all_without_will_continue(machines: Machines) -> None:
    """Where none has WillContinueActivity, the last to register is handed the activity."""
    desk, lap = machines
    first, last = (Client(lap, leave_out=("WillContinueActivity",)) for _number in range(2))
    assert continued(desk, lap) == (APPLICATION_ID, "", "")
    assert handed(last) == ["ContinueActivity"] and not handed(first)


def test_wrong_object_path(machines: Machines) -> None:
    """An application whose object is not there has failed, and the message says what is missing, where."""
    desk, lap = machines
    target = Client(lap, register=False)
    target.path = "/nowhere"
    target.register()
    _application, name, message = continued(desk, lap)
    assert name == f"{HANDOFF_ERROR}.ApplicationFailed"
    for text in (APPLICATION_ID, "ContinueActivity", "/nowhere", "org.freedesktop.DBus.Error.Unknown"):
        assert text in message
    assert "org.freedesktop.DBus.Error.Unknown" in lap.log("handoffd")


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
    for text in (APPLICATION_ID, "“s” instead of “b”", "InconsistentMessage"):
        assert text in message
    assert "InconsistentMessage" in lap.log("handoffd")


def test_own_error(machines: Machines) -> None:
    """An application's own error reaches the user with its message and its name."""
    desk, lap = machines
    Client(lap).fail("ContinueActivity", "This letter is from a newer version.", "com.example.editor.Error.Newer")
    _application, name, message = continued(desk, lap)
    assert name == f"{HANDOFF_ERROR}.ApplicationFailed"
    for text in (APPLICATION_ID, "from a newer version", "com.example.editor.Error.Newer"):
        assert text in message


@pytest.mark.parametrize("error", ["UnknownMethod", "UnknownInterface", "UnknownObject"])
def test_no_opinion(machines: Machines, error: str) -> None:
    """UnknownMethod, UnknownInterface and UnknownObject in answer to WillSave mean that there is nothing to save."""
    desk, lap = machines
    Client(lap)
    origin, dock = Client(desk), Dock(lap)
    origin.fail("WillSave", "not here", f"org.freedesktop.DBus.Error.{error}")
    origin.offer("A letter")
    dock.continue_offer(dock.offer("A letter"))
    assert dock.outcome()[1] == ""
    assert "was not saved" not in desk.log("handoffd")
    assert origin.get(ROOT, "Manager.RecentFetches")


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
