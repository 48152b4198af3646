# SPDX-License-Identifier: LGPL-2.1-or-later
"""What version 0.1 said and stored is understood: its applications, its devices, its files."""

from __future__ import annotations

import hashlib
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import pytest
from gi.repository import GLib
from buses import BRIDGE, BRIDGE_ROOT, INTERFACES, ROOT
from support import SOURCE, Machine, own_port

FROZEN = SOURCE / "Tests" / "Frozen" / "0.1"
sys.path.insert(0, str(FROZEN))

# After the folder of the version is known.
import client as frozen_client  # noqa: E402
import peer as frozen_peer  # noqa: E402

DEVICE_ID = "1a4024c5e60a4458144fb4ffaafbaf39558227addbd5242fe0f2f7ace056817a"
OTHER = hashlib.sha256(b"another").hexdigest()


def machine_folder(machine: Machine) -> Path:
    """Where the bridge of a machine keeps its state."""
    machine_id = Path("/etc/machine-id").read_text().strip()
    name = hashlib.sha256(b"handoff machine" + machine_id.encode()).hexdigest()[:16]
    return machine.folder / "state_home" / "handoff" / name


@pytest.fixture
def desk(machine_list: list[Machine]) -> Machine:
    """A machine that was upgraded: today's programs with the files of the version."""
    machine = Machine("desk")
    machine_list.append(machine)
    folder = machine_folder(machine)
    folder.mkdir(mode=0o700, parents=True)
    for name in ("identity.pem", "trust"):
        (folder / name).write_bytes((FROZEN / "store" / name).read_bytes())
        (folder / name).chmod(0o600)
    configuration = machine.folder / "config_home" / "handoff" / "handoff.conf"
    configuration.write_bytes((FROZEN / "store" / "handoff.conf").read_bytes())
    machine.start_broker()
    # Switched off, it listens nowhere.
    machine.start("handoff-bridge", "--no-discovery", f"--listen=127.0.0.1:{own_port('127.0.0.1')}")
    machine.wait_for(BRIDGE, "handoff-bridge")
    return machine


@pytest.fixture
def client(desk: Machine) -> Iterator[frozen_client.FrozenClient]:
    client = frozen_client.FrozenClient(desk.address)
    yield client
    client.close()


def switched_on(desk: Machine, client: frozen_client.FrozenClient) -> None:
    client.set_enabled(True)
    frozen_client.wait(lambda: client.get(BRIDGE_ROOT, "org.example.Handoff.Bridge.Port"), "the bridge to listen")
    desk.port = client.get(BRIDGE_ROOT, "org.example.Handoff.Bridge.Port")


def test_stored(desk: Machine, client: frozen_client.FrozenClient) -> None:
    """What the version has stored is there: the device, its peers, the switch and the other settings."""
    assert client.get(BRIDGE_ROOT, "org.example.Handoff.Bridge.DeviceId") == DEVICE_ID
    assert client.get(BRIDGE_ROOT, "org.example.Handoff.Bridge.DeviceName") == "frozen"
    assert client.get(ROOT, "org.example.Handoff.Manager.Enabled") is False
    peers = {id: (device["Name"], device["Type"], device["Paired"], device["Muted"])
             for id, device in client.devices().items()}
    assert peers == {frozen_peer.certificate_id(): ("frozen peer", "laptop", True, False),
                     OTHER: ("another", "", True, True)}
    preferences = {name: client.get(ROOT, f"org.example.Handoff.Preferences.{name}") for name in (
        "NotifyOffers", "NotifyContinued", "ExcludedApplications", "DisabledAdapters", "ShowUnhandledOffers",
        "Applications", "DocumentsFolder", "SharedFolders")}
    home = desk.environment["HOME"]
    assert preferences.pop("SharedFolders").keys() == {"Notes"}
    assert preferences.pop("DocumentsFolder").replace(home, "~") == "~/From Afar"
    assert preferences == {
        "NotifyOffers": "never", "NotifyContinued": False, "ExcludedApplications": ["com.example.secret"],
        "DisabledAdapters": ["shell"], "ShowUnhandledOffers": True,
        "Applications": {frozen_client.ACTIVITY_TYPE: frozen_client.APPLICATION_ID}}
    assert not [path.name for path in machine_folder(desk).iterdir() if "damaged" in path.name]


def members(file: Path) -> dict[tuple[str, ...], str]:
    """The members that a file of the contract describes, with what must not change about each."""
    found = {}
    for interface in ElementTree.parse(file).getroot().iter("interface"):
        for member in interface:
            if member.tag in ("method", "signal"):
                arguments = [argument.get("direction", "out") + " " + argument.get("type", "")
                             for argument in member.iter("arg")]
                found[interface.get("name"), member.tag, member.get("name")] = ", ".join(arguments)
            elif member.tag == "property":
                found[interface.get("name"), "property", member.get("name")] = f"{member.get('type')} {member.get('access')}"
    return found


@pytest.mark.parametrize("file", sorted((FROZEN / "interfaces").glob("*.xml")), ids=lambda file: file.stem)
def test_contract(file: Path) -> None:
    """Each member of the version is there, and takes and gives the same."""
    then, now = members(file), members(INTERFACES / file.name)
    assert then and {member: now.get(member) for member in then} == then


def test_everything_is_frozen() -> None:
    """Each interface that is installed is in the newest version that is kept, so that nothing of it changes unseen."""
    newest = max(FROZEN.parent.iterdir(), key=lambda folder: [int(number) for number in folder.name.split(".")])
    installed = {file.name for file in INTERFACES.glob("*.xml")}
    assert installed and installed == {file.name for file in (newest / "interfaces").glob("*.xml")}


def test_application(desk: Machine, client: frozen_client.FrozenClient) -> None:
    """An application of the version offers and saves its activity for a device of the version."""
    switched_on(desk, client)
    peer = frozen_peer.FrozenPeer(desk.port)
    assert peer.peer_id == DEVICE_ID
    client.register()
    client.state = {"Title": GLib.Variant("s", "Saved")}
    activity = client.create("Written then", {"line": GLib.Variant("i", 7)})
    client.become_current(activity)
    offer = frozen_client.wait(lambda: peer.calls("Offer"), "the offer")[0].get_body().unpack()
    assert offer[0] == activity.rpartition("/")[2]
    assert {name: offer[1][name] for name in ("ActivityType", "Title", "ApplicationId", "Team")} == {
        "ActivityType": frozen_client.ACTIVITY_TYPE, "Title": "Written then",
        "ApplicationId": frozen_client.APPLICATION_ID, "Team": "com.example"}
    fetched = peer.call("org.example.Handoff.Peer.Fetch", GLib.Variant("(ss)", (offer[0], "f" * 32)))[0]
    assert (fetched["Title"], fetched["UserInfo"], fetched["WebpageURL"]) == ("Saved", {"line": 7}, "https://example.com/page")
    peer.call("org.example.Handoff.Peer.Continued", GLib.Variant("(s)", ("f" * 32,)))
    frozen_client.wait(lambda: "WasContinued" in [member for member, _ in client.calls], "WasContinued")
    peer.call("org.example.Handoff.Peer.Release", GLib.Variant("(s)", ("f" * 32,)))
    assert client.get(ROOT, "org.example.Handoff.Manager.RecentFetches")
    peer.close()


def continue_from(peer: frozen_peer.FrozenPeer, client: frozen_client.FrozenClient, **more: GLib.Variant) -> None:
    """The application continues what the device offers."""
    peer.answers["Fetch"] = GLib.Variant("(a{sv})", ({
        "ActivityType": GLib.Variant("s", frozen_client.ACTIVITY_TYPE), "Title": GLib.Variant("s", "From then"),
        "ApplicationId": GLib.Variant("s", frozen_client.APPLICATION_ID), "Team": GLib.Variant("s", "com.example"),
        "Revision": GLib.Variant("t", 1), "UserInfo": GLib.Variant("a{sv}", {"line": GLib.Variant("i", 9)})},))
    peer.offer("From then", frozen_client.ACTIVITY_TYPE, frozen_client.APPLICATION_ID, "com.example", **more)
    frozen_client.wait(lambda: peer.messages() and client.offers(), "the offer to be listed")
    [(offer, about)] = client.offers().items()
    assert (about["Title"], about["DeviceName"], about["Handlers"]) == (
        "From then", "frozen peer", [frozen_client.APPLICATION_ID])
    client.continue_offer(offer)
    frozen_client.wait(lambda: peer.messages() and client.finished, "the end of the continuation")
    assert client.finished == [(frozen_client.APPLICATION_ID, "", "")]
    continued = dict(client.calls)["ContinueActivity"][0]
    assert (continued["ActivityType"], continued["UserInfo"]) == (frozen_client.ACTIVITY_TYPE, {"line": 9})


def test_device(desk: Machine, client: frozen_client.FrozenClient) -> None:
    """An application of the version continues what a device of the version offers, and the offer ends as it says."""
    switched_on(desk, client)
    client.register()
    peer = frozen_peer.FrozenPeer(desk.port)
    continue_from(peer, client)
    peer.withdraw()
    frozen_client.wait(lambda: not client.offers(), "the offer to be gone")
    peer.close()


def test_later_device(desk: Machine, client: frozen_client.FrozenClient) -> None:
    """A device of a later version, which says and asks more, is spoken with as before."""
    switched_on(desk, client)
    client.register()
    peer = frozen_peer.FrozenPeer(desk.port, version=2, Later=GLib.Variant("s", "more"))
    assert peer.said[0] == 1
    for member in ("Peer.Later", "Link.Later"):
        assert peer.call(f"org.example.Handoff.{member}") == "org.freedesktop.DBus.Error.UnknownMethod"
    continue_from(peer, client, Later=GLib.Variant("as", ["more"]))
    assert not peer.closed
    peer.close()


def test_later_application(desk: Machine, client: frozen_client.FrozenClient) -> None:
    """An application that was written for a later version is told nothing of what is not known, and works."""
    later = {"Later": GLib.Variant("s", "more")}
    client.call(ROOT, "org.example.Handoff.Manager.RegisterApplication", GLib.Variant("(sasoa{sv})", (
        frozen_client.APPLICATION_ID, [frozen_client.ACTIVITY_TYPE], frozen_client.PATH, later)))
    activity = client.call(ROOT, "org.example.Handoff.Manager.CreateActivity", GLib.Variant(
        "(sa{sv})", ("", later | {"Title": GLib.Variant("s", "Known")})))[0]
    assert client.get(activity, "org.example.Handoff.Activity.Title") == "Known"
