# SPDX-License-Identifier: LGPL-2.1-or-later
"""Streams between two hosts: over a network that loses what it carries, over one that fails, and much at once."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest
from buses import BRIDGE_ROOT, let_pass, wait
from finding import hosted, make_peers
from namespaces import Cable
from rig import Network, start_cabled
from streams import Background, Continuation, Counts, is_broken, receive, send
from support import Machine, wait_for_link
from test_streams import break_streams

# How many bytes go in each direction where much is to go; ten gigabytes take some minutes.
MUCH = int(float(os.environ.get("HANDOFF_TEST_STREAM_GIGABYTES", "0.5")) * 1e9)


def test_port_that_has_changed(network: Network, machine_list: list[Machine]) -> None:
    """Streams are opened although both devices have changed their ports since the link was made, from either side."""
    desk, lap = hosted(network, machine_list)
    make_peers(desk, lap)
    for one, other in ((desk, lap), (lap, desk)):
        here, there = Continuation(one, other, title=f"From {one.name}").open()
        here.sendall(b"question")
        assert there.recv(100) == b"question"
        there.sendall(b"answer")
        assert here.recv(100) == b"answer"


def test_network_that_loses(network: Network, machine_list: list[Machine]) -> None:
    """Where packets are late, lost, doubled and out of order, everything arrives all the same, in both directions."""
    desk, lap = hosted(network, machine_list)
    make_peers(desk, lap)
    for host in network.hosts.values():
        host.impair(delay=20, jitter=5, loss=0.02, duplicate=0.05, reorder=0.05)
    ends = Continuation(desk, lap).open()
    size = 3 << 20
    sending = [Background(lambda end=end, seed=seed: send(end, size, seed)) for seed, end in enumerate(ends)]
    receiving = [Background(lambda end=end: receive(end)) for end in reversed(ends)]
    for sent, got in zip(sending, receiving):
        assert got.result(120) == (size, sent.result(120))


def test_cut_link(network: Network, machine_list: list[Machine]) -> None:
    """When the cable is pulled out, whoever sends is told within seconds, and the other one when the network is back; what
    has been received is not taken for everything."""
    desk, lap = hosted(network, machine_list)
    make_peers(desk, lap)
    continuation = Continuation(desk, lap)
    here, there = continuation.open()
    writing = Background(lambda: send(there, 1 << 30))
    here.recv(1000)
    reading = Background(lambda: receive(here))
    # Until much is under way.
    let_pass(0.5)
    lap.place.cut()
    begin = time.monotonic()
    assert isinstance(writing.error(8), BrokenPipeError | ConnectionResetError)
    assert Background(lambda: is_broken(there)).result(2)
    print(f"The sender was told after {time.monotonic() - begin:.1f} s.")
    # As long as a bridge that sends something takes to find out (AcknowledgementWatch.shortPatience).
    let_pass(2)
    lap.place.mend()
    wait_for_link(desk, lap)
    assert isinstance(reading.error(2), ConnectionResetError)
    here, there = continuation.open()
    there.sendall(b"again")
    assert here.recv(100) == b"again"


@pytest.fixture
def cabled(machine_list: list[Machine]) -> Iterator[tuple[Machine, Machine]]:
    """Two paired machines on hosts of their own, with a cable between them that is as fast as it can be."""
    cable = Cable()
    if cable.missing:
        pytest.skip(f"network namespaces can't be made: {cable.missing}")
    yield start_cabled(machine_list, cable)
    cable.remove()


def test_very_much(cabled: tuple[Machine, Machine]) -> None:
    """Gigabytes go both ways at once between two hosts, and every one arrives; the daemons are as small as before."""
    counts = Counts(*cabled)
    ends = Continuation(*cabled).open()
    begin = time.monotonic()
    sending = [Background(lambda end=end, seed=seed: send(end, MUCH, seed)) for seed, end in enumerate(ends)]
    receiving = [Background(lambda end=end: receive(end)) for end in reversed(ends)]
    patience = 60 + MUCH / 10e6
    for sent, got in zip(sending, receiving):
        assert got.result(patience) == (MUCH, sent.result(patience))
    print(f"{MUCH} bytes in each direction took {time.monotonic() - begin:.1f} s.")
    for end in ends:
        end.close()
    counts.wait_until_as_before()
