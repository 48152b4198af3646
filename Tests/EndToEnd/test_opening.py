# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is said before TLS: who is let in, who is not, and what listeners, relays and floods get of it."""

# This file is long because the opening is one exchange of bytes, and whoever changes it has to see at once what each kind of
# attacker could make of that.

from __future__ import annotations

import base64
import os
import socket
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress

import avahi
from gi.repository import GLib
from buses import BRIDGE_ROOT, let_pass, wait
from bystanders import Bystanders, Impostor, connecting
from finding import nearby
from link import Device, Link, knock_entry, method_call, named, some_host, trust_key
from packets import MULTICAST_DNS, announcement, multicast_socket
from pairing import discoverable, state
from rig import Network
from support import (Machine, device_path, pair, processor_time, refused, start_machine, trust_each_other,
                     wait_for_link)
from test_announcements import Impostor as Listener
from test_announcements import SERVICE_TYPE, fake_clock, instances, peers, set_clock
from test_hostile_neighbours import known_device


def blocks(knock: bytes) -> list[bytes]:
    """What a knock shows: the dialler's challenge and the entries."""
    assert len(knock) == 18 + 16 * knock[1]
    return [knock[start:start + 16] for start in range(2, len(knock), 16)]


# Listeners


def test_same_greeting_again(bystanders: Bystanders) -> None:
    """A listener that greets with the same bytes again and again is never shown the same bytes twice, and the same number
    of them."""
    with Impostor() as impostor:
        knocks = []
        for _time in range(6):
            finish = connecting(bystanders.desk, impostor.port)
            connection = impostor.accept()
            knocks.append(connection.greet(b"HANDOFF1" + bytes(16)))
            connection.close()
            with refused("ConnectionUnavailable"):
                finish()
    shown = [block for knock in knocks for block in blocks(knock)]
    assert len(set(shown)) == len(shown)
    assert {knock[1] for knock in knocks} == {8}


def test_device_without_peers(machine: Machine) -> None:
    """A device that knows nobody shows one entry, as whoever dials a stranger does."""
    with Impostor() as impostor:
        finish = connecting(machine, impostor.port)
        connection = impostor.accept()
        assert len(blocks(connection.greet(b"HANDOFF1" + bytes(16)))) == 2
        connection.close()
        with refused("ConnectionUnavailable"):
            finish()


def certificate_shown(machine: Machine, device: Device, *entries: object) -> bool:
    """Whether a machine goes on to TLS with who shows these."""
    link = Link(machine)
    try:
        link.start_tls(device.identity, *entries)
    except OSError:
        assert not link.received_bytes
        return False
    finally:
        link.close()
    return True


def test_knock_for_another_address(bystanders: Bystanders) -> None:
    """A knock that names where it goes opens the door there, and at no other address or port; one that names nothing opens
    it anywhere."""
    desk = bystanders.desk
    device, secret = known_device(bystanders)
    for destination, is_right in [(named("127.0.0.1", desk.port), True), (bytes(18), True),
                                  (named("127.0.0.2", desk.port), False), (named("127.0.0.1", desk.port ^ 1), False),
                                  (named("0.0.0.0", 0), False)]:
        entry = knock_entry(secret, device.id, destination)
        assert certificate_shown(desk, device, os.urandom(16), entry, os.urandom(16)) == is_right, destination.hex()


class Relay:
    """Passes on what comes to one address of this host, both ways, to another host."""

    def __init__(self, address: str, port: int, target: str) -> None:
        self.listener = socket.create_server((address, port))
        self.target = (target, port)
        self.from_target: list[bytes] = []
        self.connections = 0

    def run(self) -> None:
        """Serves one connection after the other until the listener is closed."""
        with suppress(OSError):
            while True:
                client, _address = self.listener.accept()
                self.connections += 1
                self._serve(client)

    def _serve(self, client: socket.socket) -> None:
        server = socket.create_connection(self.target, 5)
        self.from_target.append(b"")

        def pump(source: socket.socket, sink: socket.socket, is_target: bool) -> None:
            with suppress(OSError):
                while data := source.recv(1 << 16):
                    if is_target:
                        self.from_target[-1] += data
                    sink.sendall(data)
                sink.shutdown(socket.SHUT_WR)

        threads = [threading.Thread(target=pump, args=arguments)
                   for arguments in ((client, server, False), (server, client, True))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def taken(port: int) -> AbstractContextManager:
    """Keeps a bridge, which chooses its port at random, from choosing this one."""
    try:
        return socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True)
    except OSError:
        # Somebody else has taken it already.
        return nullcontext()


def test_relayed_knock(network: Network, machine_list: list[Machine]) -> None:
    """Who copies a peer's announcement and passes on what the dialler says is shown nothing by that peer."""
    desk, lap = peers(network, machine_list)
    browser = avahi.Browser(lap.place.connect(), SERVICE_TYPE)
    (instance, (port, text)), = wait(lambda: instances(desk, browser), "the announcement").items()
    former = lap.session.get(BRIDGE_ROOT, "Bridge.Port")
    lap.kill("handoff-bridge")
    desk.place.kill_avahi()
    # The one who is copied says nothing any more, and what it said is forgotten.
    lap.place.kill_avahi()
    mallory = network.add("mallory")
    relay = mallory.inside(lambda: Relay(mallory.address, port, desk.place.address))
    thread = threading.Thread(target=lambda: mallory.inside(relay.run), daemon=True)
    thread.start()
    lap.place.start_avahi()
    browser = avahi.Browser(lap.place.connect(), SERVICE_TYPE)
    # Where it was, desk goes on looking for it.
    with lap.place.inside(lambda: taken(former)):
        lap.start_bridge("--verbose")
    sender = mallory.inside(lambda: multicast_socket(mallory.address))
    sender.sendto(announcement(instance, "copy.local", port, list(text), mallory.address), MULTICAST_DNS)
    wait(lambda: relay.connections and relay.from_target and len(relay.from_target[-1]) >= 24, "a dial", 20)
    # Time for several more dials: they are at most 0.3, 0.6 and 1.2 s apart at first (Backoff).
    let_pass(2)
    relay.listener.close()
    assert all(len(heard) == 24 for heard in relay.from_target), "more than the greeting"
    assert not lap.connected_to(desk.device_id)


def test_announcement_that_is_taken_back(network: Network, machine_list: list[Machine]) -> None:
    """Who announces a stranger, and takes that back before its address is dialled, is shown what a stranger is shown, and
    not the knocks of all peers, as where a user has given an address."""
    _desk, lap = peers(network, machine_list)
    mallory = network.add("mallory")
    impostor = mallory.inside(lambda: Listener(mallory.address, 45799))
    sender = mallory.inside(lambda: multicast_socket(mallory.address))
    about = (base64.b32encode(os.urandom(16)).decode().rstrip("=").lower(), "mallory.local", 45799,
             [b"v=1", b"t=" + os.urandom(64), b"n=mallory"], mallory.address)
    sender.sendto(announcement(*about), MULTICAST_DNS)
    wait(lambda: "mallory" in nearby(lap), "the announcement")
    sender.sendto(announcement(*about, lives=False), MULTICAST_DNS)
    wait(lambda: "mallory" not in nearby(lap), "the announcement to go")
    arguments = GLib.Variant("(s)", (f"{mallory.address}:45799",))
    finish = lap.session.begin(BRIDGE_ROOT, "Bridge.Connect", arguments)
    wait(lambda: impostor.serve() or (impostor.heard and len(impostor.heard[0]) >= 34), "a knock")
    assert impostor.heard[0][:2] == bytes([1, 1])
    for connection in impostor.connections:
        connection.close()
    with refused("ConnectionUnavailable"):
        finish()


# Trusting by id


def test_trust_opens_the_door_to_nobody_else(machine: Machine, machine_list: list[Machine]) -> None:
    """While a device is trusted that has not come yet, others get no certificate, whatever they know but both ids; once the
    device has named the secret of a link, nobody does by the ids."""
    expected, other = Device(), Device()
    machine.trust(expected.id, "expected")
    for entry in (os.urandom(16), knock_entry(trust_key(other.id, machine.device_id), other.id),
                  knock_entry(trust_key(expected.id, machine.device_id), other.id)):
        assert not certificate_shown(machine, other, entry)
    right = knock_entry(trust_key(expected.id, machine.device_id), expected.id)
    # Who was told both ids gets as far as TLS, and without the key of the one no further.
    link = Link(machine)
    link.start_tls(other.identity, right)
    link.wait_until_closed()
    assert not link.received_bytes
    link = Link(machine)
    link.start_tls(expected.identity, right)
    link.hello(paired=True)
    wait(lambda: link.read_messages() and machine.connected_to(expected.id), "the link")
    link.close()
    # One that names its secret has it from then on, and the ids are none.
    lap = start_machine(machine_list, "lap")
    trust_each_other(machine, lap)
    lap.dial(machine.port)
    wait_for_link(machine, lap)
    (store,) = (machine.folder / "state_home" / "handoff").glob("*/trust")
    lap_id = lap.device_id
    known = f"[{lap_id}]"
    wait(lambda: "AwaitsLink=false" in store.read_text().partition(known)[2].partition("[")[0], "the secret to be named")
    lap.kill("handoff-bridge")
    wait(lambda: not machine.connected_to(lap_id), "the end of the link")
    by_ids = knock_entry(trust_key(lap_id, machine.device_id), lap_id)
    assert not certificate_shown(machine, other, by_ids)


# Floods


@contextmanager
def flood(port: int, host: str, act: Callable[[socket.socket], None] = lambda _socket: None) -> Iterator[list[int]]:
    """Connects from an address as fast as it can; gives the number of connections so far."""
    going, count = threading.Event(), [0]

    def run() -> None:
        while not going.is_set():
            with suppress(OSError), socket.socket() as one:
                one.settimeout(0.5)
                one.bind((host, 0))
                one.connect(("127.0.0.1", port))
                count[0] += 1
                act(one)

    threads = [threading.Thread(target=run) for _number in range(4)]
    for thread in threads:
        thread.start()
    try:
        yield count
    finally:
        going.set()
        for thread in threads:
            thread.join()


def test_peer_gets_in_under_a_flood(bystanders: Bystanders) -> None:
    """While one address opens connections as fast as it can, a peer gets in at each of sixteen attempts."""
    device, secret = known_device(bystanders)
    with flood(bystanders.desk.port, some_host()) as count:
        wait(lambda: count[0] > 100, "the flood")
        for _attempt in range(16):
            assert certificate_shown(bystanders.desk, device, knock_entry(secret, device.id))
            # It may come five times a second (Admission.rateOfPeer); not each attempt takes equally long.
            let_pass(0.25)
    bystanders.continuation()


def test_one_source_is_held_back(machine: Machine) -> None:
    """Of one address more than five connections a second are turned away at once; others are greeted meanwhile."""
    host = some_host()

    def is_greeted(source: str) -> bool:
        link = Link(machine, source)
        try:
            return len(link.take(24)) == 24
        except OSError:
            return False

    begin = time.monotonic()
    greeted = sum(is_greeted(host) for _number in range(40))
    passed = time.monotonic() - begin
    assert 5 <= greeted <= 5 * (passed + 1)
    assert all(is_greeted(some_host()) for _number in range(5))


def test_strangers_while_discoverable(machine: Machine) -> None:
    """Strangers who come as fast as they can while the machine is discoverable get two handshakes a second, cost little, and
    are sent away when it is not any more."""
    discoverable(machine)
    device, shaken, links = Device(), [], []
    lock = threading.Lock()

    def shake(one: socket.socket) -> None:
        link = Link(one)
        link.knock()
        one.settimeout(11)
        secured = device.identity.context.wrap_socket(one, do_handshake_on_connect=False)
        secured.do_handshake()
        with lock:
            shaken.append(time.monotonic())
            links.append(secured)

    pid, waits = machine.processes["handoff-bridge"].pid, []
    before, begin = processor_time(pid), time.monotonic()
    with flood(machine.port, some_host(), shake):
        while time.monotonic() < begin + 6:
            asked = time.monotonic()
            machine.session.get(BRIDGE_ROOT, "Bridge.Port")
            waits.append(time.monotonic() - asked)
            # Not so often that asking is what takes the time.
            let_pass(0.02)
        spent = processor_time(pid) - before
    # The local user does not notice: the machine may be busy otherwise, but not each time.
    assert statistics.median(waits) < 0.05, statistics.quantiles(waits)
    assert 4 <= len(shaken) <= 2 * (time.monotonic() - begin + 1), len(shaken)
    assert spent < 3, f"{spent} s of processor time in six seconds"
    stranger = Device().link_to(machine)
    stranger.hello(paired=False)
    discoverable(machine, False)
    stranger.wait_until_closed(2)


def test_former_peer(bystanders: Bystanders, machine_list: list[Machine]) -> None:
    """Who was unpaired is let in to be told so, three times in fifteen seconds, says little, and keeps nobody else out."""
    desk, tab = bystanders.desk, start_machine(machine_list, "tab")
    device, secret = known_device(bystanders)
    desk.session.call(device_path(device.id), "Device.Unpair")
    entry = knock_entry(secret, device.id)
    begin = time.monotonic()
    assert sum(certificate_shown(desk, device, entry) for _attempt in range(12)) <= 3 + 3 * ((time.monotonic() - begin) // 15)
    discoverable(tab)
    desk.dial(tab.port)
    # A link over which more comes than it takes to be told ends.
    wait(lambda: time.monotonic() > begin + 16, "some time", 30)
    link = Link(desk)
    link.start_tls(device.identity, entry)
    for _time in range(3):
        link.send(method_call("Link.Hello", GLib.Variant("(ua{sv})", (1, {"Name": GLib.Variant("s", "x" * 3000)}))))
    link.wait_until_closed()


def test_who_waits_for_the_user_stays(machine: Machine) -> None:
    """A stranger whose commitment waits for the user is not pushed out by others who come after it and say nothing."""
    discoverable(machine)
    for _attempt in range(4):
        device = Device()
        link = device.link_to(machine)
        link.hello(paired=False)
        serial = link.send(method_call("Pairing.Commit", GLib.Variant("(ay)", (bytes(32),))))
        wait(lambda: link.answer_to(serial) or state(machine, device.id) == "waiting", "the commitment to be taken")
    silent = [Device().link_to(machine) for _number in range(10)]
    assert not link.has_ended()
    assert any(one.has_ended() for one in silent), "there is room for all of them"


# What changes


def secret_of(machine: Machine) -> str:
    """The secret that a machine shares with its only peer."""
    (file,) = (machine.folder / "state_home" / "handoff").glob("*/trust")
    (line,) = [line for line in file.read_text().splitlines() if line.startswith("Secret=")]
    return line


def clocked_peers(machine_list: list[Machine]) -> tuple[Machine, Machine]:
    """Two machines that share a secret, and whose clocks can be set."""
    desk, lap = machines = Machine("desk"), Machine("lap")
    for machine in machines:
        machine_list.append(machine)
        machine.environment |= fake_clock(machine)
        machine.start_broker()
        machine.start_bridge()
    pair(desk, lap)
    wait(lambda: secret_of(desk) == secret_of(lap) != "Secret=", "a secret")
    return machines


def test_secret_lasts_a_day(machine_list: list[Machine]) -> None:
    """A link that is made more than a day after the secret was gives both sides another; one within the day does not."""
    desk, lap = clocked_peers(machine_list)
    first, lap_id = secret_of(desk), lap.device_id

    def link_anew() -> None:
        lap.kill("handoff-bridge")
        wait(lambda: not desk.connected_to(lap_id), "the end of the link")
        lap.start_bridge()
        wait_for_link(desk, lap)

    link_anew()
    assert secret_of(desk) == secret_of(lap) == first
    # The clock of only one of them is enough.
    set_clock(desk, 25 * 3600)
    link_anew()
    wait(lambda: secret_of(desk) == secret_of(lap) != first, "another secret")


def test_switched_off_and_on_without_discovery(machine_list: list[Machine]) -> None:
    """A device that nobody can find, and that listens on another port after it was switched off and on, is linked again at
    once: it calls back who had dialled it."""
    desk, lap = (start_machine(machine_list, name, has_own_port=False) for name in ("desk", "lap"))
    trust_each_other(desk, lap)
    lap.dial(desk.port)
    for machine in (desk, lap, desk):
        wait_for_link(desk, lap)
        former = machine.session.get(BRIDGE_ROOT, "Bridge.Port")
        machine.set_enabled(False)
        wait(lambda: not desk.connected_to(lap.device_id) and not lap.connected_to(desk.device_id), "the end of the link")
        # It chooses at random, and might choose the same one again.
        with taken(former):
            machine.set_enabled(True)
            wait_for_link(desk, lap)
            assert machine.session.get(BRIDGE_ROOT, "Bridge.Port") != former


def test_ports_that_a_firewall_can_name(machine_list: list[Machine]) -> None:
    """Unless a port was chosen, a device listens on one from 45700 to 45799."""
    for name in ("desk", "lap", "tab"):
        assert 45700 <= start_machine(machine_list, name, has_own_port=False).port <= 45799
