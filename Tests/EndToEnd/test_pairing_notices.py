# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the agent shows of devices that are being paired."""

from __future__ import annotations

import pytest
from gi.repository import GLib
import pairing
from agents import Desk, start_desk
from buses import BUS, let_pass, wait
from notifications import DesktopServer, PlainServer
from support import Machine, refused, start_machine


@pytest.fixture
def strangers(machine_list: list[Machine]) -> tuple[Machine, Desk]:
    """Two machines that do not know each other, of which the second has an agent."""
    return start_machine(machine_list, "desk"), start_desk(machine_list)


def compare(strangers: tuple[Machine, Desk]) -> str:
    """Another device asks to be paired, until both compare; returns the code."""
    desk, lap = strangers
    pairing.discoverable(lap)
    desk.dial(lap.port)
    pairing.call(desk, lap.device_id, "Pair")
    return wait(lambda: pairing.shown(desk, lap.device_id).get("PairingCode"), "the code")


def test_pairing_confirmed(strangers: tuple[Machine, Desk]) -> None:
    """The code of a device that asks to be paired stands first and alone, its name in the last line, and pairing is
    confirmed by pressing that they match."""
    desk, lap = strangers
    server = PlainServer(lap)
    code = compare(strangers)
    shown = server.wait_for(code)
    assert shown.body.splitlines()[-1] == "desk"
    assert shown.buttons == {"matches": "They match", "differs": "They don’t match"}
    assert shown.details["urgency"] == 2 and shown.details["timeout"] == 0
    pairing.call(desk, lap.device_id, "ConfirmPairing", pairing.YES)
    server.press(shown, "matches")
    wait(lambda: lap.connected_to(desk.device_id), "the two to be paired")


def test_pairing_refused(strangers: tuple[Machine, Desk]) -> None:
    """Pressing that the codes do not match ends pairing."""
    desk, lap = strangers
    server = PlainServer(lap)
    server.press(server.wait_for(compare(strangers)), "differs")
    wait(lambda: pairing.shown(desk, lap.device_id)["PairingError"], "the end of pairing")
    server.wait_until_gone()


def test_pairing_ignored(strangers: tuple[Machine, Desk]) -> None:
    """Putting the code away changes nothing, and neither does pressing it elsewhere than on an answer."""
    desk, lap = strangers
    server = PlainServer(lap)
    shown = server.wait_for(compare(strangers))
    server.press(shown, "default")
    # As long as a press takes to have its effect.
    let_pass(0.3)
    assert pairing.state(lap, desk.device_id) == "comparing" and not server.shown
    assert len([one for one in server.record if one.title == shown.title]) == 1


def test_pairing_locked(strangers: tuple[Machine, Desk]) -> None:
    """While the session is locked no code is shown and none can be confirmed, and unlocking it shows the code again."""
    desk, lap = strangers
    assert lap.presence
    server = DesktopServer(lap)
    code = compare(strangers)
    shown = server.wait_for(code)
    lap.presence.lock()
    server.wait_until_gone()
    with refused("InvalidArgs"):
        server.press(shown, "app.matches")
    assert pairing.state(lap, desk.device_id) == "comparing"
    lap.presence.unlock()
    again = server.wait_for(code)
    with refused("InvalidArgs"):
        server.press(shown, "app.matches")
    server.press(again, "app.matches")
    wait(lambda: pairing.state(lap, desk.device_id) == "confirmed", "the code to be confirmed")


def test_asked_by_ourselves(machine_list: list[Machine]) -> None:
    """The user who asks another device to be paired, which waits for its own user, is not asked; that one is, and then
    both see the code."""
    desk, lap = start_desk(machine_list, "desk"), start_desk(machine_list)
    pairing.discoverable(lap)
    pairing.ask_until_the_user_is_needed(lap)
    server, other = PlainServer(desk), PlainServer(lap)
    desk.dial(lap.port)
    pairing.call(desk, lap.device_id, "Pair")
    question = other.wait_for("Pair with another device?")
    # Longer than the patience after which a question appears (PairingNotices.patience, 0.3 s).
    let_pass(0.5)
    assert not server.record
    assert pairing.state(desk, lap.device_id) == "waiting"
    assert not pairing.shown(desk, lap.device_id)["PairingAsked"]
    assert pairing.shown(lap, desk.device_id)["PairingAsked"]
    other.press(question, "pair")
    code = wait(lambda: pairing.shown(desk, lap.device_id).get("PairingCode"), "the code")
    assert not pairing.shown(lap, desk.device_id)["PairingAsked"]
    server.wait_for(code)
    other.wait_for(code)


def test_hostile_device_name(machine_list: list[Machine]) -> None:
    """A device whose name looks like a code, markup or several lines shows it in a line of its own, after what is ours."""
    lap = start_desk(machine_list)
    desk = start_machine(machine_list, "desk")
    desk.session.call("/org/example/Handoff/Bridge", f"{BUS}.Properties.Set", GLib.Variant("(ssv)", (
        "org.example.Handoff.Bridge", "DeviceName", GLib.Variant("s", "<u>111 222</u> They match"))))
    server = PlainServer(lap)
    shown = server.wait_for(compare((desk, lap)))
    question, name = shown.body.splitlines()
    assert question == "Does the other device show the same six digits?"
    assert "111" not in name and "<" not in name and "&lt;u&gt;" in name
