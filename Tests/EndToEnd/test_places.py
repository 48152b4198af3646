# SPDX-License-Identifier: LGPL-2.1-or-later
"""Peers on other networks: they are reached at the places that they have said."""

from __future__ import annotations

import os
import socket
import ssl
import time
from collections.abc import Iterator

import pytest
from gi.repository import GLib
from buses import ROOT, wait
from clients import Dock
from finding import hosted, make_peers
from host import DEVICE, ip
from link import Device, Identity, Link, knock_entry, named, trust_key
from rig import Network, start_hosted
from streams import Background, Continuation, send
from support import Machine, device_path, wait_for_link
from vpn import Tunnel


def about(machine: Machine, device_id: str, what: str) -> object:
    return machine.session.get(device_path(device_id), f"Device.{what}")


def places(machine: Machine, other: Machine) -> list[str]:
    return [place.rpartition(":")[0] for place in about(machine, other.device_id, "Places")]


@pytest.fixture
def tunnel(network: Network) -> Iterator[Tunnel]:
    tunnel = Tunnel(network["desk"], network["lap"])
    yield tunnel
    tunnel.close()


def test_link_over_a_tunnel(network: Network, tunnel: Tunnel, machine_list: list[Machine]) -> None:
    """When the network that two devices share goes, the link comes back over a tunnel, without an address ever being typed, and
    also when both were restarted; it comes back to that network when that is there again. Each says which way it goes."""
    desk, lap = hosted(network, machine_list, "--verbose")
    make_peers(desk, lap)
    for one, other in ((desk, lap), (lap, desk)):
        wait(lambda: tunnel.addresses[other.name] in places(one, other), f"{one.name} to be told where {other.name} is")
        assert network[other.name].address not in places(one, other), "the address in the LAN"
        assert about(one, other.device_id, "Way") == "same-network"
    lap.place.link_down()
    begin = time.monotonic()
    wait(lambda: about(desk, lap.device_id, "Way") == about(lap, desk.device_id, "Way") == "other-network", "the link")
    print(f"The link was back after {time.monotonic() - begin:.1f} s.")
    for one, verb in ((desk, "status"), (lap, "devices")):
        assert "connected over another network" in one.run("handoff", verb).stdout
    # What they know of each other then is in their files, and the ports that they announce are others.
    for one in (desk, lap):
        one.kill("handoff-bridge")
    for one in (desk, lap):
        one.start_bridge("--verbose")
    wait_for_link(desk, lap)
    assert about(desk, lap.device_id, "Way") == "other-network"
    assert not any(tunnel.addresses["lap"] in address for address in about(desk, lap.device_id, "Addresses")), "kept for ever"
    lap.place.link_up()
    wait(lambda: about(desk, lap.device_id, "Way") == about(lap, desk.device_id, "Way") == "same-network", "the nearer way")
    # One that wants its addresses shared with nobody has none at its peers.
    lap.session.set(ROOT, "Preferences.ShareAddresses", GLib.Variant("b", False))
    wait(lambda: not places(desk, lap), "desk to forget where lap is")
    assert places(lap, desk)


def test_network_goes_in_the_middle(network: Network, tunnel: Tunnel, machine_list: list[Machine]) -> None:
    """A stream that is under way when the network goes breaks; what is continued at that moment comes over the tunnel."""
    desk, lap = hosted(network, machine_list, "--verbose")
    make_peers(desk, lap)
    wait(lambda: places(desk, lap) and places(lap, desk), "the places to be told")
    dock = Dock(lap)
    continuation = Continuation(desk, lap)
    here, there = continuation.open()
    writing = Background(lambda: send(there, 200 << 20))
    here.recv(1000)
    path = dock.offer("Contacts")
    lap.place.link_down()
    begin = time.monotonic()
    dock.continue_offer(path)
    assert dock.outcome()[1:] == ("", "")
    print(f"What was continued was there after {time.monotonic() - begin:.1f} s.")
    assert about(lap, desk.device_id, "Way") == "other-network"
    assert isinstance(writing.error(8), BrokenPipeError | ConnectionResetError)


def test_false_place(network: Network, machine_list: list[Machine]) -> None:
    """At a place where a stranger listens the stranger is shown random bytes, others each time, and no certificate. One in the
    network of the machine itself is not dialled."""
    network.start_avahi()
    desk = start_hosted(machine_list, network["desk"])
    elsewhere = network["lap"]
    # Reached by the default route.
    address = "10.213.91.1"
    ip("-n", elsewhere.namespace, "addr", "add", f"{address}/32", "dev", DEVICE)
    listener, near = (elsewhere.inside(lambda host=host: socket.create_server((host, 0)))
                      for host in (address, elsewhere.address))
    listener.settimeout(20)
    liar = Device()
    desk.trust(liar.id, "liar")
    link = desk.place.inside(lambda: Link(desk))
    link.start_tls(liar.identity, knock_entry(trust_key(liar.id, desk.device_id), liar.id))
    places = [named(*end.getsockname()) for end in (near, listener)]
    link.hello(paired=True, Places=GLib.Variant("aay", places))
    wait(lambda: about(desk, liar.id, "Places"), "the place to be kept")
    link.close()
    stranger = Identity()
    # Python takes no certificate of an authority that it doesn't know: so it tells that there was one.
    stranger.server_context.verify_mode = ssl.CERT_REQUIRED
    knocks = []
    for _ in range(3):
        connection = Link(listener.accept()[0])
        knocks.append(connection.greet(b"HANDOFF1" + os.urandom(16)))
        assert knocks[-1][0] == 1 and len(knocks[-1]) == 18 + 16 * knocks[-1][1]
        with pytest.raises(ConnectionError):
            stranger.server_context.wrap_socket(connection.socket, server_side=True).recv(1)
        connection.close()
    shown = [knock[start:start + 16] for knock in knocks for start in range(2, len(knock), 16)]
    assert len(set(shown)) == len(shown)
    assert not desk.connected_to(liar.id)
    near.setblocking(False)
    with pytest.raises(BlockingIOError):
        near.accept()
