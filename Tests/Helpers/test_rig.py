# SPDX-License-Identifier: LGPL-2.1-or-later
"""The network that other tests use: it carries what it is to carry, and fails as it is told to."""

from __future__ import annotations

import hashlib
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import namespaces
import pytest
from avahi import IPV4, Browser, Publication
from buses import TIMEOUT, wait
from host import DEVICE, NETWORK, Host
from rig import HostedMachine, Network, remove_abandoned
from support import Machine

TYPE = "_handoff-test._tcp"


class Datagrams:
    """A socket on each of two hosts. Datagrams go from one to the other."""

    def __init__(self, source: Host, target: Host) -> None:
        self._source, self._target = open_socket(source), open_socket(target)
        self._target.bind((target.address, 0))
        # So that nothing waits for an answer to ARP.
        self.pass_one()

    def send(self, text: str) -> None:
        self._source.sendto(text.encode(), self._target.getsockname())

    def receive(self) -> str:
        return self._target.recv(100).decode()

    def receive_until(self, last: str) -> list[str]:
        return [*iter(self.receive, last)]

    def pass_one(self) -> float:
        """How many seconds a datagram takes."""
        begin = time.monotonic()
        self.send("one")
        while self.receive() != "one":
            pass
        return time.monotonic() - begin

    def close(self) -> None:
        self._source.close()
        self._target.close()


def open_socket(host: Host, family: int = socket.AF_INET, kind: int = socket.SOCK_DGRAM) -> socket.socket:
    opened = host.inside(lambda: socket.socket(family, kind))
    opened.settimeout(TIMEOUT)
    return opened


@pytest.fixture
def connect() -> Iterator[Callable[[Host, Host], Datagrams]]:
    """Makes sockets that are closed at the end."""
    opened: list[Datagrams] = []

    def make(source: Host, target: Host) -> Datagrams:
        opened.append(Datagrams(source, target))
        return opened[-1]

    yield make
    for datagrams in opened:
        datagrams.close()


Connect = Callable[[Host, Host], Datagrams]


def test_delay(network: Network, connect: Connect) -> None:
    """What a host sends takes longer, and what it gets does not; or both do."""
    desk, lap = network["desk"], network["lap"]
    there, back = connect(desk, lap), connect(lap, desk)
    desk.impair("out", delay=200)
    assert 0.2 <= there.pass_one() < 0.8
    assert back.pass_one() < 0.2
    desk.impair(delay=100)
    assert 0.1 <= there.pass_one() < 0.4
    assert 0.1 <= back.pass_one() < 0.4
    desk.mend()
    assert there.pass_one() < 0.1


@pytest.mark.parametrize("impairment", [{"loss": 1}, {"cut": True}])
def test_nothing_passes(network: Network, connect: Connect, impairment: dict[str, float]) -> None:
    """With everything lost, and with a cut, nothing passes in this direction, but all does in the other."""
    desk, lap = network["desk"], network["lap"]
    there, back = connect(desk, lap), connect(lap, desk)
    desk.impair("out", **impairment)
    there.send("lost")
    back.pass_one()
    desk.mend("out")
    there.send("end")
    assert there.receive_until("end") == []


def test_partition(network: Network, connect: Connect) -> None:
    """Two hosts can be kept from each other while both reach a third."""
    desk, lap = network["desk"], network["lap"]
    phone = network.add("phone")
    apart, together = connect(desk, lap), connect(desk, phone)
    network.impair(desk, lap, cut=True)
    apart.send("lost")
    together.pass_one()
    network.impair(desk, lap)
    apart.send("end")
    assert apart.receive_until("end") == []


def test_duplicates_and_order(network: Network, connect: Connect) -> None:
    """Datagrams come twice, or in another order."""
    desk, lap = network["desk"], network["lap"]
    datagrams = connect(desk, lap)
    lap.impair("in", duplicate=1)
    for text in "12":
        datagrams.send(text)
    assert [datagrams.receive() for _ in range(4)] == ["1", "1", "2", "2"]
    # Long, for a machine that is busy between two datagrams.
    lap.impair("in", reorder=1, delay=100)
    for text in "1234":
        datagrams.send(text)
    assert [datagrams.receive() for _ in range(4)] == ["2", "1", "4", "3"]


def test_stream(network: Network) -> None:
    """A connection carries 20 MB unharmed, over a network that is well, and some over one that is not."""
    desk, lap = network["desk"], network["lap"]
    assert transfer(desk, lap, 20_000_000)
    desk.impair(delay=2, jitter=1, loss=0.01, duplicate=0.01, reorder=0.01)
    assert transfer(desk, lap, 500_000)


def transfer(source: Host, target: Host, size: int) -> bool:
    """Whether so many bytes arrive as they were sent."""
    data = os.urandom(size)
    listener = open_socket(target, kind=socket.SOCK_STREAM)
    listener.bind((target.address, 0))
    listener.listen()
    sender = open_socket(source, kind=socket.SOCK_STREAM)
    sender.connect(listener.getsockname())
    receiver, _ = listener.accept()
    receiver.settimeout(TIMEOUT)

    def send() -> None:
        sender.sendall(data)
        sender.shutdown(socket.SHUT_WR)

    with listener, sender, receiver:
        thread = threading.Thread(target=send)
        thread.start()
        received = hashlib.sha256()
        while part := receiver.recv(1 << 18):
            received.update(part)
        thread.join()
    return received.digest() == hashlib.sha256(data).digest()


def test_link_local(network: Network) -> None:
    """Hosts reach each other by their link-local addresses, also after the link was down."""
    desk, lap = network["desk"], network["lap"]
    for host in (desk, lap):
        host.link_down()
        host.link_up()
    scope = lap.inside(lambda: socket.if_nametoindex(DEVICE))
    with open_socket(lap, socket.AF_INET6) as target, open_socket(desk, socket.AF_INET6) as source:
        target.bind((lap.link_local, 0, 0, scope))
        scope = desk.inside(lambda: socket.if_nametoindex(DEVICE))
        source.sendto(b"hello", (lap.link_local, target.getsockname()[1], 0, scope))
        assert target.recv(100) == b"hello"


def test_link_and_address(network: Network, connect: Connect) -> None:
    """A link that is down refuses to send; up again, and with another address, the host is reached."""
    desk, lap = network["desk"], network["lap"]
    datagrams = connect(desk, lap)
    desk.link_down()
    with pytest.raises(OSError):
        datagrams.send("lost")
    desk.link_up()
    datagrams.pass_one()
    former = lap.address
    lap.change_address(f"{NETWORK}.77")
    assert lap.address == f"{NETWORK}.77"
    connect(desk, lap).pass_one()
    with open_socket(lap) as unbound, pytest.raises(OSError):
        unbound.bind((former, 0))


def test_capture(network: Network, connect: Connect) -> None:
    """A capture has what the host has sent while it ran, even what was lost, and nothing that it got."""
    desk, lap = network["desk"], network["lap"]
    there, back = connect(desk, lap), connect(lap, desk)
    there.send("before")
    desk.start_capture()
    desk.cut("out")
    begin = time.time()
    there.send("lost text")
    assert any(b"lost text" in frame.data for frame in desk.captured())
    desk.mend()
    there.send("second text")
    back.send("answer")
    back.receive()
    sent = desk.stop_capture()
    there.send("after")
    texts = [frame.data[-11:] for frame in sent if frame.data.endswith(b" text")]
    assert len(texts) == 2 and texts[0].endswith(b"lost text") and texts[1] == b"second text"
    assert not any(word in frame.data for frame in sent for word in (b"before", b"answer", b"after"))
    assert all(begin - 1 < frame.time < time.time() + 1 for frame in sent)


# Avahi.


def test_services(network: Network) -> None:
    """A service that one host publishes is found and resolved on another, and goes when it is withdrawn."""
    network.start_avahi()
    desk, lap = network["desk"], network["lap"]
    browser = Browser(lap.session, TYPE)
    publication = Publication(desk.session, "A service", TYPE, 4321, (b"key=\0\xff",))
    # Avahi says IPv4 addresses over IPv4 only.
    service = wait(lambda: next(filter(lambda found: found.protocol == IPV4, browser.services), None), "the service")
    assert browser.names == {"A service"}
    resolved = browser.resolve(service, IPV4)
    assert (resolved.host, resolved.address, resolved.port) == ("desk.local", desk.address, 4321)
    assert resolved.text == (b"key=\0\xff",)
    assert publication.is_established
    publication.withdraw()
    wait(lambda: not browser.names, "the end of the service")


def test_hosts_of_avahi(network: Network) -> None:
    """Services do not pass a cut; they do afterwards. An Avahi that was killed can be started again."""
    network.start_avahi()
    desk, lap = network["desk"], network["lap"]
    browser = Browser(lap.session, TYPE)
    lap.cut()
    desk.start_capture()
    Publication(desk.session, "First", TYPE, 1)
    wait(lambda: any(b"\x05First" in frame.data for frame in desk.captured()), "the announcement")
    assert not browser.names
    lap.mend()
    Publication(desk.session, "Second", TYPE, 2)
    wait(lambda: "Second" in browser.names, "a service after the cut")
    desk.kill_avahi()
    desk.start_avahi()
    Publication(desk.session, "Third", TYPE, 3)
    wait(lambda: "Third" in browser.names, "a service of the new Avahi")
    desk.kill_avahi(signal.SIGTERM)
    wait(lambda: not browser.names & {"Third"}, "the goodbye")


# What uses it.


def test_machine_on_a_host(network: Network, machine_list: list[Machine], tmp_path: Path) -> None:
    """The bridge of a machine on a host is in its namespace, has its system bus, and is let find others."""
    script = tmp_path / "handoff-bridge"
    script.write_text('#!/bin/sh\nreadlink /proc/self/ns/net\necho "$DBUS_SYSTEM_BUS_ADDRESS"\necho "options: $*"\n')
    script.chmod(0o755)
    desk = network["desk"]
    machine = HostedMachine("desk", desk)
    machine_list.append(machine)
    machine.environment["PATH"] = f"{tmp_path}:{machine.environment['PATH']}"
    with pytest.raises(AssertionError, match="ended with status 0"):
        machine.start_bridge("--verbose")
    machine.kill("handoff-bridge")
    namespace = desk.inside(lambda: os.readlink("/proc/thread-self/ns/net"))
    assert machine.log("handoff-bridge").splitlines() == [namespace, desk.system_bus, "options: --verbose"]


def test_nothing_stays() -> None:
    """Processes, namespaces and folders go with the network, and namespaces of killed processes with the next one."""
    network = Network("desk")
    if network.missing:
        pytest.skip(network.missing)
    host = network["desk"]
    host.start_avahi(waits=False)
    processes = list(host.processes.values())
    dead = subprocess.Popen(["true"])
    dead.wait()
    abandoned = f"handoff-{dead.pid}-3"
    assert not namespaces.ip("netns", "add", abandoned)
    network.remove()
    remove_abandoned()
    assert all(process.poll() is not None for process in processes)
    assert not host.folder.exists()
    left = set(os.listdir(namespaces.NAMED))
    assert not left & {host.namespace, abandoned}
