# SPDX-License-Identifier: LGPL-2.1-or-later
"""Devices that a peer introduces: paired once by digits, then by a yes on each side."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable

import pytest
from gi.repository import GLib
from agents import start_desk
from buses import ROOT, BusError, wait
from finding import hosted, make_peers
from link import Device, Link, named
from notifications import PlainServer
from rig import Network, start_hosted
from streams import Continuation
from support import Machine, device_path, memory, start_machine, wait_for_link

LIST = "(a(ayssaay))"


def about(machine: Machine, device_id: str, what: str) -> object:
    return machine.session.get(device_path(device_id), f"Device.{what}")


def introduced(machine: Machine) -> list[str]:
    """The ids of the devices about which its user is asked."""
    objects = machine.session.managed_objects("/org/example/Handoff/Bridge")
    return [path.rpartition("/")[2] for path, interfaces in objects.items()
            if interfaces.get("org.example.Handoff.Device", {}).get("IntroductionState") == "offered"]


def said(machine: Machine, *command: str) -> str:
    result = machine.run("handoff", *command)
    assert result.returncode == 0, result
    return result.stdout + result.stderr


def line(machine: Machine, name: str, *options: str) -> str:
    """What `handoff devices` has of a device of this name; empty if nothing."""
    lines = [line for line in said(machine, "devices", *options).splitlines() if line.endswith(f" {name}")]
    return lines[0] if lines else ""


def test_pair_once(network: Network, machine_list: list[Machine]) -> None:
    """Who is paired with two devices introduces them: each user says yes once, in any order, and then the two find each other,
    also when who has introduced them is gone; what one of three has unpaired is asked about, and kept or not."""
    network.add("mini")
    network.start_avahi()
    desk, lap, mini = (start_hosted(machine_list, host, "--verbose") for host in network.hosts.values())
    make_peers(desk, lap)
    make_peers(mini, lap)
    for one, other in ((desk, mini), (mini, desk)):
        wait(lambda: introduced(one) == [other.device_id], f"{other.name} to be introduced")
        assert "introduced by “lap”, not accepted here" in line(one, other.name)
        assert not one.connected_to(other.device_id)
    assert "“lap”" in said(desk, "pair", "mini")
    assert "accepted here, not there yet" in line(desk, "mini")
    assert "“mini” is accepted here, but not there yet." in desk.run("handoff", "status").stdout
    # Until then mini knows nothing of it, and nothing comes of it.
    assert introduced(mini) == [desk.device_id]
    said(mini, "decline", "desk")
    assert introduced(mini) == [] and not line(mini, "desk")
    assert "declined here" in line(mini, "desk", "--all")
    said(mini, "pair", "desk")
    wait_for_link(desk, mini)
    assert "paired, connected" in line(desk, "mini")
    here, there = Continuation(desk, mini).open()
    there.send(b"hello")
    assert here.recv(5) == b"hello"
    # From now on they need nobody.
    lap.kill("handoff-bridge")
    for one in (desk, mini):
        one.kill("handoff-bridge")
    for one in (desk, mini):
        one.start_bridge("--verbose")
    wait_for_link(desk, mini)
    lap.start_bridge("--verbose")
    wait_for_link(lap, mini)
    wait_for_link(lap, desk)
    said(lap, "unpair", "mini")
    wait(lambda: about(desk, mini.device_id, "RetractedBy") == [lap.device_id], "desk to be told")
    assert "“lap” no longer counts “mini” among your devices." in desk.run("handoff", "status").stdout
    assert desk.connected_to(mini.device_id)
    said(desk, "decline", "mini")
    assert about(desk, mini.device_id, "RetractedBy") == []
    # Who has unpaired it, or was unpaired, is not asked whether to pair again.
    wait(lambda: "declined here" in line(lap, "mini", "--all"), "desk to introduce mini")
    assert introduced(lap) == introduced(mini) == []


def test_nobody_is_introduced(machine_list: list[Machine]) -> None:
    """Whoever wants no introductions says nothing of other devices, and is shown none; and it takes effect at once."""
    desk, lap, mini = (start_machine(machine_list, name) for name in ("desk", "lap", "mini"))
    for one in (desk, mini):
        one.trust(lap.device_id, "lap")
        lap.trust(one.device_id, one.name)
        lap.dial(one.port)
        wait_for_link(one, lap)
    wait(lambda: introduced(desk) and introduced(mini), "both to be introduced")
    mini.session.set(ROOT, "Preferences.Introduces", GLib.Variant("b", False))
    wait(lambda: introduced(mini) == [], "no introduction")
    assert introduced(desk) == [mini.device_id]
    lap.session.set(ROOT, "Preferences.Introduces", GLib.Variant("b", False))
    wait(lambda: introduced(desk) == [], "no introduction")


@pytest.fixture
def liar(machine_list: list[Machine]) -> tuple[Machine, Device, Link]:
    """A machine, and a peer of it that says what it likes."""
    desk = start_machine(machine_list, "desk")
    device = Device()
    return desk, device, device.paired_link_to(desk)


def introduction(device_id: bytes, name: str = "thief", places: list[bytes] | None = None) -> tuple:
    return (device_id, name, "laptop", places or [])


def refusal(call: Callable[[], object]) -> str:
    try:
        call()
    except BusError as error:
        return error.short_name
    return ""


def test_lies(liar: tuple[Machine, Device, Link]) -> None:
    """A peer that says again and again who its devices are has at most 61 of them shown, until it goes; the device itself, peers,
    and what is no device are not among them, and nothing in a name looks like what is ours."""
    desk, device, link = liar
    own = bytes.fromhex(desk.device_id)
    places = [named("10.9.8.7", 1), named("10.8.0.2", 65535)]

    def introduce(*devices: tuple) -> str:
        return refusal(lambda: link.call("Link.Introduce", GLib.Variant(LIST, (devices,))))

    before = memory(desk, "handoff-bridge")
    for bad in ([introduction(b"")] * 2, [introduction(os.urandom(32), places=[bytes(18)])],
                [introduction(os.urandom(32), places=[named("127.0.0.1", 1)])],
                [introduction(os.urandom(32), places=[named("224.0.0.1", 1)])],
                [introduction(os.urandom(32), places=[named("10.0.0.1", 1)] * 5)],
                [introduction(os.urandom(32)) for _ in range(62)]):
        assert introduce(*bad) == "InvalidArgs"
    assert refusal(lambda: link.call("Link.Retract", GLib.Variant("(aay)", ([b"1"],)))) == "InvalidArgs"
    mean = "<b>lap</b> 123 456\u202e\n“ is yours"
    peer = Device()
    desk.trust(peer.id, "peer")
    assert introduce(introduction(own), introduction(bytes.fromhex(device.id), "peer"), introduction(bytes.fromhex(peer.id), "thief"),
                     *(introduction(os.urandom(32), mean, places) for _ in range(58))) == ""
    assert len(introduced(desk)) == 58
    assert [about(desk, peer.id, what) for what in ("Name", "Paired", "IntroducedBy")] == ["peer", True, []]
    end = time.monotonic() + 2
    while time.monotonic() < end:
        assert introduce(*(introduction(os.urandom(32)) for _ in range(3))) == "LimitsExceeded"
    link.call("Link.Retract", GLib.Variant("(aay)", ([os.urandom(32), own, bytes.fromhex(device.id)],)))
    assert len(introduced(desk)) == 58
    assert about(desk, device.id, "Paired") and about(desk, device.id, "RetractedBy") == []
    text = said(desk, "devices")
    assert not re.search(r"123\s?456", text) and "\u202e" not in text
    assert memory(desk, "handoff-bridge") - before < 4 << 20, "it keeps more and more"
    link.close()
    wait(lambda: not introduced(desk), "them to be forgotten")


def test_introducer_goes(liar: tuple[Machine, Device, Link]) -> None:
    """What was accepted stays, though who introduced it is no peer any more; what was not accepted goes with it."""
    desk, device, link = liar
    one, other = Device(), Device()
    link.call("Link.Introduce", GLib.Variant(LIST, ([introduction(bytes.fromhex(each.id)) for each in (one, other)],)))
    wait(lambda: len(introduced(desk)) == 2, "both")
    desk.session.call(device_path(one.id), "Device.AcceptIntroduction")
    desk.session.call(device_path(device.id), "Device.Unpair")
    wait(lambda: not introduced(desk), "the other to be forgotten")
    assert refusal(lambda: desk.session.call(device_path(other.id), "Device.AcceptIntroduction")) == "UnknownObject"
    # Another device than the one that was introduced is nobody, whatever it shows.
    stranger = Device()
    stranger.id = one.id
    with pytest.raises((OSError, BusError, AssertionError)):
        stranger.link_to(desk).hello(paired=True)
    assert not desk.connected_to(one.id)
    right = one.link_to(desk)
    right.hello(paired=True)
    wait(lambda: right.read_messages() and desk.connected_to(one.id), "the one that was accepted")
    assert about(desk, one.id, "IntroductionState") == "none"


def test_notification(machine_list: list[Machine]) -> None:
    """What a peer introduces is notified, with who says so, and accepted by pressing that; so is what its user has unpaired, and kept."""
    desk = start_desk(machine_list)
    server = PlainServer(desk)
    device, mini = Device(), Device()
    link = device.paired_link_to(desk)
    link.call("Link.Introduce", GLib.Variant(LIST, ([introduction(bytes.fromhex(mini.id), "mini")],)))
    shown = server.wait_for("Pair with “mini”?")
    assert shown.body == "“other” says that it is one of your devices."
    assert shown.buttons == {"accept": "Pair", "decline": "No", "default": ""}
    server.press(shown, "accept")
    wait(lambda: about(desk, mini.id, "IntroductionState") == "accepted", "that it is accepted")
    server.wait_until_gone()
    other = mini.link_to(desk)
    other.hello(paired=True)
    wait(lambda: other.read_messages() and desk.connected_to(mini.id), "the link")
    link.call("Link.Retract", GLib.Variant("(aay)", ([bytes.fromhex(mini.id)],)))
    shown = server.wait_for("Unpair “mini” here too?")
    assert shown.buttons == {"unpair": "Unpair here too", "keep": "Keep", "default": ""}
    server.press(shown, "keep")
    wait(lambda: about(desk, mini.id, "RetractedBy") == [], "that it is kept")
    assert desk.connected_to(mini.id)
