# SPDX-License-Identifier: LGPL-2.1-or-later
"""Two machines are paired by comparing six digits."""

from __future__ import annotations

import re
from typing import Any

import pytest
from gi.repository import GLib
import pairing
from buses import let_pass, wait
from clients import Client, Dock
from link import Device, Link, method_call
from pairing import discoverable
from support import Machine, device_path, refused, start_machine, wait_for_link

Machines = tuple[Machine, Machine]


@pytest.fixture
def strangers(machine_list: list[Machine]) -> Machines:
    """Two machines that do not know each other."""
    return start_machine(machine_list, "desk"), start_machine(machine_list, "lap")


def shown(machine: Machine, other: Machine) -> dict[str, Any]:
    """What a machine shows of another; nothing if it does not know it."""
    return pairing.shown(machine, other.device_id)


def state(machine: Machine, other: Machine) -> str:
    return pairing.state(machine, other.device_id)


def call(machine: Machine, other: Machine, member: str, arguments: GLib.Variant | None = None) -> None:
    pairing.call(machine, other.device_id, member, arguments)


def confirm(machine: Machine, other: Machine, matches: bool = True) -> None:
    call(machine, other, "ConfirmPairing", GLib.Variant("(b)", (matches,)))


def compare(strangers: Machines) -> None:
    """Brings both to the comparison of the code."""
    desk, lap = strangers
    discoverable(desk)
    lap.dial(desk.port)
    call(lap, desk, "Pair")
    for one, other in ((desk, lap), (lap, desk)):
        wait(lambda: state(one, other) == "comparing", f"the code on {one.name}")


def assert_hands_off(origin: Machine, target: Machine) -> None:
    client, _handler, dock = Client(origin), Client(target), Dock(target)
    client.offer("Between peers")
    dock.continue_offer(dock.offer("Between peers"))
    assert dock.outcome()[1] == ""


@pytest.mark.parametrize("asks", ["the dialler", "the dialled"])
def test_same_code_and_both_say_yes(strangers: Machines, asks: str) -> None:
    """Both machines show the same six digits; when both users have said yes, and not before, they are paired."""
    desk, lap = strangers
    discoverable(desk)
    lap.dial(desk.port)
    one, other = (lap, desk) if asks == "the dialler" else (desk, lap)
    call(one, other, "Pair")
    for here, there in ((desk, lap), (lap, desk)):
        wait(lambda: state(here, there) == "comparing", f"the code on {here.name}")
    code = shown(desk, lap)["PairingCode"]
    assert re.fullmatch(r"\d{3} \d{3}", code) and shown(lap, desk)["PairingCode"] == code
    confirm(desk, lap)
    # As long as a yes takes to have its effect on the other machine.
    let_pass(0.2)
    assert (state(desk, lap), state(lap, desk)) == ("confirmed", "comparing")
    assert not shown(desk, lap)["Paired"] and not shown(lap, desk)["Paired"]
    confirm(lap, desk)
    wait_for_link(desk, lap)
    for here, there in ((desk, lap), (lap, desk)):
        wait(lambda: state(here, there) == "none", "the end of it")
        about = shown(here, there)
        assert (about["PairingCode"], about["PairingError"], about["Name"]) == ("", "", there.name)
    assert_hands_off(desk, lap)
    # It lasts, and without being discoverable.
    discoverable(desk, False)
    for machine in strangers:
        machine.kill("handoff-bridge")
        machine.start_bridge()
    wait_for_link(desk, lap)


@pytest.mark.parametrize("how", ["says no", "cancels", "says no after the other's yes"])
def test_one_user_does_not_agree(strangers: Machines, how: str) -> None:
    """A user who says no, or cancels, ends it on both machines with a reason; nobody is trusted."""
    desk, lap = strangers
    compare(strangers)
    if how == "says no after the other's yes":
        confirm(lap, desk)
    if how == "cancels":
        call(desk, lap, "CancelPairing")
    else:
        confirm(desk, lap, False)
    for here, there in ((desk, lap), (lap, desk)):
        reason = wait(lambda: shown(here, there).get("PairingError"), f"the reason on {here.name}")
        assert ("cancelled" if how == "cancels" else "did not match") in reason
        assert not shown(here, there)["Paired"] and state(here, there) == "none"
    with refused("PairingFailed"):
        confirm(lap, desk)
    # The reason stays until the next attempt, which may succeed.
    call(lap, desk, "Pair")
    for here, there in ((desk, lap), (lap, desk)):
        wait(lambda: state(here, there) == "comparing", "another attempt")
        assert shown(here, there)["PairingError"] == ""
    confirm(desk, lap)
    confirm(lap, desk)
    wait_for_link(desk, lap)


def test_nobody_there_to_pair_with(strangers: Machines) -> None:
    """Pairing with a device that has gone fails with a reason."""
    desk, lap = strangers
    compare(strangers)
    path = device_path(desk.device_id)

    def reason() -> str:
        return lap.session.get(path, "Device.PairingError")

    desk.kill("handoff-bridge")
    wait(lambda: "lost" in reason(), "the reason")
    lap.session.call(path, "Device.Pair")
    wait(lambda: "reached" in reason(), "the next reason")
    assert lap.session.get(path, "Device.PairingState") == "none"
    desk.start_bridge()


def test_paired_anew_when_one_side_has_forgotten(strangers: Machines) -> None:
    """A device that one side still trusts is paired anew by the same dialogue."""
    desk, lap = strangers
    compare(strangers)
    confirm(desk, lap)
    confirm(lap, desk)
    wait_for_link(desk, lap)
    desk.kill("handoff-bridge")
    for file in (desk.folder / "state_home").rglob("trust"):
        file.unlink()
    desk.start_bridge()
    assert shown(desk, lap) == {}
    discoverable(desk)
    call(lap, desk, "Pair")
    for here, there in ((desk, lap), (lap, desk)):
        wait(lambda: state(here, there) == "comparing", f"the code on {here.name}")
        confirm(here, there)
    wait_for_link(desk, lap)
    assert_hands_off(lap, desk)


@pytest.mark.parametrize("call_name", ["Reveal", "Confirm", "Commit twice", "short Commit", "Request", "wrong Reveal"])
def test_hostile_dialogue(strangers: Machines, call_name: str) -> None:
    """Pairing messages out of order, repeated, of a wrong length or untrue end the attempt and the link."""
    desk, _lap = strangers
    discoverable(desk)
    device = Device()
    link = device.link_to(desk)
    link.hello(paired=False)
    nonce = GLib.Variant("(ay)", (bytes(32),))
    with refused("PairingFailed"):
        if call_name == "Commit twice":
            link.call("Pairing.Commit", nonce)
            link.call("Pairing.Commit", nonce)
        elif call_name == "wrong Reveal":
            link.call("Pairing.Commit", nonce)
            link.call("Pairing.Reveal", nonce)
        elif call_name == "short Commit":
            link.call("Pairing.Commit", GLib.Variant("(ay)", (bytes(31),)))
        else:
            link.call(f"Pairing.{call_name}", nonce if call_name == "Reveal" else None)
    link.wait_until_closed()
    assert "paired" not in desk.log("handoff-bridge").replace("not paired", "")


def test_who_waits_keeps_no_door_open(strangers: Machines) -> None:
    """A stranger whose commitment waits for the user is no reason to let in others once the device is not to be discovered
    any more, and those who are there are sent away."""
    desk, _lap = strangers
    discoverable(desk)
    for _ in range(4):
        device = Device()
        link = device.link_to(desk)
        link.hello(paired=False)
        serial = link.send(method_call("Pairing.Commit", GLib.Variant("(ay)", (bytes(32),))))
        wait(lambda: link.answer_to(serial) or pairing.state(desk, device.id) == "waiting", "the commitment to count")
    assert not link.closed and not link.answer_to(serial), "the last one waits"
    early = Device().link_to(desk)
    early.hello(paired=False)
    discoverable(desk, False)
    early.wait_until_closed()
    late = Link(desk)
    late.knock()
    late.wait_until_closed()
    assert late.received_bytes == b""


def test_a_fourth_attempt_waits_for_the_user(strangers: Machines) -> None:
    """Unasked, a device takes part three times; after that a commitment waits for its user."""
    desk, _lap = strangers
    discoverable(desk)
    for attempt in range(1, 5):
        device = Device()
        link = device.link_to(desk)
        link.hello(paired=False)
        path = device_path(device.id)
        if attempt <= 3:
            answer = link.call("Pairing.Commit", GLib.Variant("(ay)", (bytes(32),)))
            assert len(bytes(answer.unpack()[0])) == 32
            link.close()
        else:
            serial = link.send(method_call("Pairing.Commit", GLib.Variant("(ay)", (bytes(32),))))
            wait(lambda: pairing.state(desk, device.id) == "waiting", "the device to wait")
            # As long as an answer takes that comes by itself.
            let_pass(0.2)
            assert not link.answer_to(serial)
            desk.session.call(path, "Device.Pair")
            wait(lambda: link.answer_to(serial), "the answer, once the user has agreed")
