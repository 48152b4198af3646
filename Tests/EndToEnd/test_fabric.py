# SPDX-License-Identifier: LGPL-2.1-or-later
"""What becomes of frames on the network that other tests use, with a clock that is moved by hand."""

from __future__ import annotations

import pytest
from fabric import PATIENCE, Fabric, Impairment

BROADCAST = b"\xff" * 6


def ethernet(source: int, target: bytes = BROADCAST, content: str = "") -> bytes:
    return target + address(source) + content.encode()


def address(host: int) -> bytes:
    return bytes([2, 0, 0, 0, 0, host])


class Delivered:
    """A fabric with the hosts a, b and c, and what it has delivered."""

    def __init__(self, **impairment: float) -> None:
        self.frames: list[tuple[str, bytes]] = []
        self.fabric = Fabric(lambda host, data: self.frames.append((host, data)))
        for host in "abc":
            self.fabric.add(host)
        # Frames to b go to nobody else from now on.
        self.fabric.take("b", ethernet(2), 0)
        self.frames.clear()
        self.fabric.impair("a", "b", Impairment(**impairment))

    def send(self, count: int, now: float = 0) -> None:
        for number in range(count):
            self.fabric.take("a", ethernet(1, address(2), str(number)), now)

    def arrived(self, now: float) -> list[int]:
        """Which frames for b have arrived since the last time."""
        self.fabric.release(now)
        numbers = [int(data[12:]) for host, data in self.frames if host == "b"]
        self.frames.clear()
        return numbers


def test_switching() -> None:
    """Frames go to whom they are addressed, and to all others if nobody is known to have that address."""
    network = Delivered()
    network.send(1)
    network.fabric.take("c", ethernet(3), 0)
    network.fabric.take("c", ethernet(3, address(3)), 0)
    assert [host for host, _ in network.frames] == ["b", "a", "b"]


def test_delayed_frames() -> None:
    """Frames arrive in order after their delay and not before, also if it ends or varies meanwhile."""
    network = Delivered(delay=100)
    network.send(3)
    assert network.fabric.due == pytest.approx(0.1)
    assert network.arrived(0.099) == []
    network.fabric.impair("a", "b", Impairment())
    network.send(1, now=0.05)
    assert network.arrived(0.099) == []
    assert network.arrived(0.101) == [0, 1, 2, 0]
    network.fabric.impair("a", "b", Impairment(delay=50, jitter=50))
    network.send(100, now=1)
    first = network.arrived(1.05)
    assert 0 < len(first) < 100
    assert first + network.arrived(1.101) == list(range(100))


def test_added_up() -> None:
    """What is set for the sender, the receiver and both adds up."""
    network = Delivered(delay=10)
    network.fabric.impair("a", None, Impairment(delay=20))
    network.fabric.impair(None, "b", Impairment(delay=40))
    network.send(1)
    assert network.fabric.due == pytest.approx(0.07)


@pytest.mark.parametrize("probability", [0, 0.3, 1])
def test_lost_frames(probability: float) -> None:
    """As many frames are lost as is probable."""
    network = Delivered(loss=probability)
    network.send(1000)
    assert 1 - len(network.arrived(0)) / 1000 == pytest.approx(probability, abs=0.1 if 0 < probability < 1 else 0)


def test_doubled_frames() -> None:
    """Frames come twice."""
    network = Delivered(duplicate=1)
    network.send(2)
    assert network.arrived(0) == [0, 0, 1, 1]


def test_overtaken_frames() -> None:
    """Frames are overtaken by the next; one that is not comes a little later."""
    network = Delivered(reorder=1)
    network.send(5)
    assert network.arrived(0) == [1, 0, 3, 2]
    assert network.arrived(PATIENCE) == [4]


def test_cut_frames() -> None:
    """Nothing passes a cut, and neither does what was on its way."""
    network = Delivered(delay=100)
    network.send(1)
    network.fabric.impair(None, "b", Impairment(cut=True))
    network.send(1)
    assert network.arrived(1) == []


@pytest.mark.parametrize("values", [{"loss": 1.1}, {"duplicate": -1}, {"delay": -1}, {"speed": 1}])
def test_impossible_impairments(values: dict[str, float]) -> None:
    """What can't be is refused."""
    with pytest.raises((ValueError, TypeError)):
        Impairment(**values)
