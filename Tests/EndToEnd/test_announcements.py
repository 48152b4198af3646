# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a machine tells a network, and what it believes of it."""

from __future__ import annotations

import os
import select
import socket
import struct
import subprocess
import time
from pathlib import Path

import pytest
from gi.repository import GLib
import avahi
from announced import instances, labels, secrets_of, sent, tags
from buses import BRIDGE_ROOT, let_pass, wait
from clients import Client, Dock
from finding import is_found, make_peers, nearby
from packets import MULTICAST_DNS, TCP, announcement, multicast_socket, packets, windows
from pairing import discoverable
from rig import HostedMachine, Network, start_hosted
from support import SANITIZED, Machine, device_path, memory, wait_for_link

SERVICE_TYPE = "_handoff._tcp"
TEXT = [b"v=1", b"t=" + bytes(64)]


def peers(network: Network, machine_list: list[Machine]) -> tuple[HostedMachine, HostedMachine]:
    """Two machines that are paired, under other names than their hosts have."""
    network.start_avahi()
    machines = []
    for name, host in zip(("kitchen-machine", "garden-machine"), network.hosts.values()):
        machine = HostedMachine(name, host)
        machine_list.append(machine)
        machines.append(machine)
        machine.environment |= fake_clock(machine)
        machine.start_broker()
        machine.start_bridge("--verbose")
    make_peers(*machines)
    return machines[0], machines[1]


# The clock


def fake_clock(machine: Machine) -> dict[str, str]:
    """What a program of this machine finds in its environment, so that its clock can be set."""
    library, clock = machine.folder / "clock.so", machine.folder / "clock"
    source = Path(__file__).with_name("clock.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, source, "-ldl"], check=True)
    clock.write_bytes(struct.pack("l", 0))
    return {"LD_PRELOAD": str(library), "HANDOFF_TEST_CLOCK": str(clock)}


def set_clock(machine: Machine, seconds: int) -> None:
    """Lets the clock of a machine be ahead."""
    with open(machine.folder / "clock", "r+b") as clock:
        clock.write(struct.pack("l", seconds))


# Privacy


def test_no_token_repeats(network: Network, machine_list: list[Machine]) -> None:
    """Over restarts, another address and another hour nothing that a machine sends repeats, or names it."""
    desk, lap = peers(network, machine_list)
    browser = avahi.Browser(desk.place.connect(), SERVICE_TYPE)
    stays: list[tuple[str, int, set[bytes]]] = []
    own: list[set[bytes]] = []
    common: set[bytes] = set()
    # By these everybody on the network asks for the neighbour, Avahi also for one that has just gone.
    neighbours: set[str] = set()

    def capture() -> None:
        """Once what was announced before is gone: it belongs to the former stay."""
        wait(lambda: not browser.names & {stay[0] for stay in stays}, "the former announcement to go")
        for machine in (desk, lap):
            machine.place.start_capture()

    def take_down() -> None:
        wait_for_link(desk, lap)
        wait(lambda: is_found(desk, lap), "the announcement")
        # The one before may be seen for a moment longer.
        (instance, (port, text)), = wait(lambda: len(found := instances(lap, browser)) == 1 and found,
                                         "the one announcement").items()
        assert not any(entry.startswith(b"n=") for entry in text)
        for other_instance, other_port, other_tags in stays:
            assert instance != other_instance and tags(text).isdisjoint(other_tags)
        stays.append((instance, port, tags(text)))
        neighbours.update(labels(desk, browser) - labels(lap, browser))
        common.update(windows(sent(desk)))
        payloads = sent(lap, neighbours)
        for secret in secrets_of(lap):
            assert not any(secret in payload for payload in payloads), secret
        own.append(windows(payloads))

    for _ in range(3):
        for machine in (lap, desk):
            machine.kill("handoff-bridge")
        capture()
        for machine in (lap, desk):
            machine.start_bridge("--verbose")
        wait_for_link(desk, lap)
        # Both dial, so that both say all that the protocol has for that.
        for one, other in ((desk, lap), (lap, desk)):
            one.dial(other.session.get(BRIDGE_ROOT, "Bridge.Port"), other.place.address)
        take_down()
    lap.place.change_address("10.213.78.99")
    capture()
    take_down()
    instance, _, before = stays[-1]
    for machine in (desk, lap):
        set_clock(machine, 3600)
    wait(lambda: all(tags(text).isdisjoint(before) for _, text in instances(lap, browser).values()), "other tags")
    for machine in (desk, lap):
        machine.place.start_capture()
    assert set(instances(lap, browser)) == {instance}, "the instance is to stay"
    # Within a stay on one network the instance repeats, and nothing else.
    common.update(windows(sent(desk)))
    last = windows(sent(lap, neighbours))
    # Of a hundred ports one may come again by chance, but not always the same.
    assert len({port for _, port, _ in stays}) > 1, "the port is to change"
    for index, one in enumerate(own):
        for other in [*own[:index], *([last] if index < len(own) - 1 else [])]:
            repeated = (one & other) - common
            assert not repeated, f"repeated: {sorted(repeated)[:20]}"


def test_switched_off(network: Network, machine_list: list[Machine]) -> None:
    """A machine that is switched off announces nothing, and is announced again when it is switched on."""
    desk, lap = peers(network, machine_list)
    browser = avahi.Browser(desk.place.connect(), SERVICE_TYPE)
    former = next(iter(wait(lambda: instances(lap, browser), "the announcement")))
    lap.set_enabled(False)
    wait(lambda: former not in browser.names, "the announcement to go")
    assert lap.session.get(BRIDGE_ROOT, "Bridge.DiscoveryError") == ""
    lap.set_enabled(True)
    assert former not in wait(lambda: instances(lap, browser), "the announcement")
    wait_for_link(desk, lap)


def test_no_discovery(network: Network, machine_list: list[Machine]) -> None:
    """A bridge that is not to use discovery announces nothing and finds nobody, and says nothing about it."""
    desk, lap = peers(network, machine_list)
    browser = avahi.Browser(desk.place.connect(), SERVICE_TYPE)
    wait(lambda: instances(lap, browser), "the announcement")
    lap.kill("handoff-bridge")
    lap.start_bridge("--no-discovery")
    wait(lambda: not instances(lap, browser) and len({service.name for service in browser.services}) == 1,
         "the announcement to go")
    # Longer than Avahi takes to probe for a name and announce it, which is about a second (RFC 6762, section 8).
    let_pass(2)
    assert not instances(lap, browser) and nearby(lap) == {}
    assert lap.session.get(BRIDGE_ROOT, "Bridge.DiscoveryError") == ""


def test_name_only_while_discoverable(network: Network, machine_list: list[Machine]) -> None:
    """A machine tells its name only while it lets itself be discovered, and is another one to strangers after that."""
    desk, lap = peers(network, machine_list)
    browser = avahi.Browser(desk.place.connect(), SERVICE_TYPE)
    discoverable(lap)
    (first, (port, text)), = wait(lambda: instances(lap, browser), "the announcement").items()
    assert b"n=garden-machine" in text
    # To its peers it is what it was before.
    assert "garden-machine" not in nearby(desk)
    discoverable(lap, False)
    (second, (other_port, text)), = wait(lambda: instances(lap, browser), "the announcement").items()
    assert first != second and port != other_port and not any(entry.startswith(b"n=") for entry in text)


# Hostile neighbours


class Impostor:
    """Somebody on the network who listens where a machine does, and records what is said there."""

    def __init__(self, address: str, port: int) -> None:
        self.listener = socket.socket()
        self.listener.bind((address, port))
        self.listener.listen()
        self.listener.setblocking(False)
        self.connections: list[socket.socket] = []
        self.heard: list[bytes] = []

    def serve(self) -> None:
        """Greets whoever has come, and reads what they say."""
        while select.select([self.listener], [], [], 0)[0]:
            connection = self.listener.accept()[0]
            connection.sendall(b"HANDOFF1" + os.urandom(16))
            connection.setblocking(False)
            self.connections.append(connection)
            self.heard.append(b"")
        for index, connection in enumerate(self.connections):
            try:
                self.heard[index] += connection.recv(65536)
            except OSError:
                pass


@pytest.mark.parametrize("place", ["the same network", "a third host"])
def test_copied_announcement(network: Network, machine_list: list[Machine], place: str) -> None:
    """A copy of a peer's announcement is dialled three times a minute at most, never off the network, and learns nothing."""
    desk, lap = peers(network, machine_list)
    browser = avahi.Browser(lap.place.connect(), SERVICE_TYPE)
    (instance, (port, text)), = wait(lambda: instances(desk, browser), "the announcement").items()
    desk.kill("handoff-bridge")
    wait(lambda: instance not in browser.names, "the announcement to go")
    mallory = network.add("mallory")
    impostor = mallory.inside(lambda: Impostor(mallory.address, port))
    address = mallory.address if place == "the same network" else "203.0.113.5"
    lap.place.start_capture()
    sender = mallory.inside(lambda: multicast_socket(mallory.address))
    sender.sendto(announcement(instance, "copy.local", port, list(text), address), MULTICAST_DNS)
    wait(lambda: instance in browser.names, "the copy to be seen")
    if place == "the same network":
        wait(lambda: impostor.serve() or impostor.connections, "a dial")
    end = time.monotonic() + 8
    wait(lambda: impostor.serve() or time.monotonic() > end, "the time to pass", 30)
    targets = {packet.target for packet in packets(lap.place.stop_capture()) if packet.protocol == TCP}
    if place == "a third host":
        assert address not in targets and mallory.address not in targets
    assert len(impostor.connections) <= 3
    for heard in impostor.heard:
        # A knock, and the beginning of TLS, in which the one who was dialled shows a certificate first.
        assert bytes.fromhex(lap.device_id) not in heard and len(heard) < 2000
    assert len({heard[18:34] for heard in impostor.heard}) == len(impostor.heard), "a knock was repeated"
    desk.start_bridge("--verbose")
    wait_for_link(desk, lap)


def continuations(origin: Client, dock: Dock, count: int, title: str) -> list[float]:
    """How long so many continuations took, in seconds."""
    times = []
    for number in range(count):
        activity = origin.offer(f"{title} {number}")
        path = dock.offer(f"{title} {number}")
        dock.events.clear()
        begin = time.monotonic()
        dock.continue_offer(path)
        assert dock.outcome()[1] == ""
        times.append(time.monotonic() - begin)
        activity.invalidate()
    return sorted(times)


def flood(sender: socket.socket, address: str, seconds: float) -> int:
    """Announces other instances all the time; gives back how many they were."""
    end, number = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        instance = GLib.uuid_string_random().replace("-", "")[:26].translate(str.maketrans("0189", "abcd"))
        packet = announcement(instance, f"{instance}.local", 1 + number % 65535, TEXT, address)
        try:
            sender.sendto(packet, MULTICAST_DNS)
            number += 1
        except OSError:
            pass
        if number % 20 == 0:
            # So it is about four hundred in a second.
            let_pass(0.05)
    return number


def test_flood(network: Network, machine_list: list[Machine]) -> None:
    """While somebody announces thousands of devices, peers hand off as fast as before, and the bridge stays small."""
    desk, lap = peers(network, machine_list)
    mallory = network.add("mallory")
    origin, _handler, dock = Client(desk), Client(lap), Dock(lap)
    trust = next((lap.folder / "state_home").rglob("trust"))
    before, size = trust.read_bytes(), memory(lap, "handoff-bridge")
    for attempt in range(3):
        quiet = continuations(origin, dock, 9, f"Quiet {attempt}")
        flooder = subprocess.Popen(["ip", "netns", "exec", mallory.namespace, "setpriv", "--pdeathsig", "KILL",
                                    "/usr/bin/python3", __file__, mallory.address, "60"])
        try:
            wait(lambda: len(avahi_services(lap)) > 200, "the flood to arrive")
            busy = continuations(origin, dock, 9, f"Flooded {attempt}")
        finally:
            flooder.kill()
            flooder.wait()
        print(f"quiet {quiet[4] * 1000:.1f} ms, flooded {busy[4] * 1000:.1f} ms")
        # What else runs on this machine may slow either series, but hardly this one three times.
        is_slower = busy[4] > 2 * quiet[4] + (quiet[-1] - quiet[0])
        if not is_slower:
            break
    # A sanitizer makes the flood itself cost many times what it costs.
    assert SANITIZED or not is_slower
    assert trust.read_bytes() == before
    assert SANITIZED or memory(lap, "handoff-bridge") - size < 4 << 20
    assert len(nearby(lap)) <= 32


def avahi_services(machine: HostedMachine) -> set[str]:
    """What Avahi on a machine's host shows of our type."""
    browser = getattr(machine, "browser", None) or avahi.Browser(machine.place.connect(), SERVICE_TYPE)
    machine.browser = browser
    return browser.names


if __name__ == "__main__":
    import sys

    flood(multicast_socket(sys.argv[1]), sys.argv[1], float(sys.argv[2]))
