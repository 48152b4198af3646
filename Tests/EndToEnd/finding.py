# SPDX-License-Identifier: LGPL-2.1-or-later
"""Machines that can find each other only by discovery."""

from __future__ import annotations

from gi.repository import GLib
from buses import BRIDGE_ROOT, wait
from pairing import discoverable
from rig import HostedMachine, Network, start_hosted
from support import Machine, device_path, wait_for_link

Pair = tuple[HostedMachine, HostedMachine]


def nearby(machine: Machine) -> dict[str, list[str]]:
    """The devices that a machine shows as nearby, by name, with their addresses."""
    return {device["Name"]: device["Addresses"] for device in machine.session.get(BRIDGE_ROOT, "Bridge.Nearby")}


def hosted(network: Network, machine_list: list[Machine], *options: str) -> Pair:
    """Two machines on the network, which do not know each other."""
    network.start_avahi()
    desk, lap = (start_hosted(machine_list, host, *options) for host in network.hosts.values())
    return desk, lap


def make_peers(desk: Machine, lap: Machine) -> None:
    discoverable(desk)
    addresses = wait(lambda: nearby(lap).get(desk.name), "desk to be nearby")
    for one, other in ((desk, lap), (lap, desk)):
        one.trust(other.device_id, other.name)
    lap.session.call(BRIDGE_ROOT, "Bridge.Connect", GLib.Variant("(s)", (addresses[0],)))
    wait_for_link(desk, lap)
    discoverable(desk, False)
    for one, other in ((desk, lap), (lap, desk)):
        wait(lambda: is_found(one, other), f"{one.name} to see what {other.name} announces to its peers")


def is_found(one: Machine, other: Machine) -> bool:
    """Whether a machine knows from the announcement of another where that is now."""
    port = other.session.get(BRIDGE_ROOT, "Bridge.Port")
    addresses = one.session.get(device_path(other.device_id), "Device.Addresses")
    return any(address.endswith(f":{port}") for address in addresses)
