# SPDX-License-Identifier: LGPL-2.1-or-later
"""What becomes of the frames on a network that fails when told to. Nothing here does I/O or looks at a clock."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from dataclasses import dataclass, field

# Seconds that a frame waits for the one that is to overtake it.
PATIENCE = 0.02


@dataclass(frozen=True)
class Impairment:
    """What happens to frames on their way; unless told otherwise, nothing."""

    # Milliseconds. However much it varies, no frame overtakes another.
    delay: float = 0
    # Milliseconds more or less than that, evenly distributed.
    jitter: float = 0
    # The probability, from 0 to 1, that a frame is lost,
    loss: float = 0
    # comes twice,
    duplicate: float = 0
    # or is overtaken by the next one; with 1, frames come in the order 2, 1, 4, 3.
    reorder: float = 0
    # Nothing passes, not even what is on its way.
    cut: bool = False

    def __post_init__(self) -> None:
        for name in ("loss", "duplicate", "reorder"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} is a probability, and not {getattr(self, name)}")
        if self.delay < 0 or self.jitter < 0:
            raise ValueError("nothing comes before it was sent")


@dataclass
class Path:
    """The way of frames from one host to another."""

    target: str
    impairments: list[Impairment] = field(default_factory=list)
    is_cut: bool = False
    # When the latest frame arrives that is on its way.
    latest: float = 0
    # A frame that waits for being overtaken.
    held: Waiting | None = None


@dataclass(order=True)
class Waiting:
    """A frame that is on its way until it is due."""

    due: float
    number: int
    path: Path = field(compare=False)
    # None if it has been put elsewhere.
    frame: bytes | None = field(compare=False)
    copies: int = field(compare=False)


class Fabric:
    """Where each frame goes to, and when: a learning switch."""

    def __init__(self, deliver: Callable[[str, bytes], None], seed: int = 1) -> None:
        self._deliver = deliver
        self._random = random.Random(seed)
        # By hosts, the source and the target: None stands for any.
        self._impairments: dict[tuple[str | None, str | None], Impairment] = {}
        self._paths: dict[str, dict[str, Path]] = {}
        # Which host has a MAC address.
        self._places: dict[bytes, str] = {}
        self._waiting: list[Waiting] = []
        self._number = 0

    def add(self, host: str) -> None:
        if host in self._paths:
            raise ValueError(f"{host} is here already")
        for other, paths in self._paths.items():
            paths[host] = Path(host)
        self._paths[host] = {other: Path(other) for other in self._paths}
        self._apply()

    def impair(self, source: str | None, target: str | None, impairment: Impairment) -> None:
        """Sets what happens to the frames from one host to another, either of which may be None for any.

        What is set for the source, for the target and for both adds up.
        """
        for host in (source, target):
            if host is not None and host not in self._paths:
                raise ValueError(f"there is no {host}")
        self._impairments[source, target] = impairment
        self._apply()

    def _apply(self) -> None:
        for source, paths in self._paths.items():
            for target, path in paths.items():
                keys = ((source, None), (source, target), (None, target), (None, None))
                impairments = [self._impairments.get(key, Impairment()) for key in keys]
                path.impairments = [impairment for impairment in impairments if impairment != Impairment()]
                path.is_cut = any(impairment.cut for impairment in impairments)

    def take(self, source: str, frame: bytes, now: float) -> None:
        """Takes a frame that a host has sent."""
        paths = self._paths[source]
        self._places[frame[6:12]] = source
        place = self._places.get(frame[:6])
        # Nobody sends from a multicast address, so that those are never known.
        targets = paths.values() if place is None else [paths[place]] if place != source else ()
        for path in targets:
            if path.impairments or path.latest > now:
                self._send(path, frame, now)
            else:
                self._deliver(path.target, frame)

    def _send(self, path: Path, frame: bytes, now: float) -> None:
        due, copies, is_overtaken = now, 1, False
        for impairment in path.impairments:
            if impairment.cut or self._happens(impairment.loss):
                return
            jitter = self._random.uniform(-impairment.jitter, impairment.jitter) if impairment.jitter else 0
            due += max(0, impairment.delay + jitter) / 1000
            copies += self._happens(impairment.duplicate)
            is_overtaken |= self._happens(impairment.reorder)
        due = max(due, path.latest)
        held, path.held = path.held, None
        if is_overtaken and held is None:
            path.held = self._wait(path, frame, copies, due + PATIENCE)
            return
        path.latest = due
        self._wait(path, frame, copies, due)
        if held is not None:
            self._wait(path, held.frame, held.copies, due)
            held.frame = None

    def _happens(self, probability: float) -> bool:
        return probability > 0 and self._random.random() < probability

    def _wait(self, path: Path, frame: bytes | None, copies: int, due: float) -> Waiting:
        self._number += 1
        waiting = Waiting(due, self._number, path, frame, copies)
        heapq.heappush(self._waiting, waiting)
        return waiting

    @property
    def due(self) -> float | None:
        """When the next frame is to be released."""
        return self._waiting[0].due if self._waiting else None

    def release(self, now: float) -> None:
        """Delivers what has arrived."""
        while self._waiting and self._waiting[0].due <= now:
            waiting = heapq.heappop(self._waiting)
            path = waiting.path
            if path.held is waiting:
                path.held = None
            if waiting.frame is not None and not path.is_cut:
                for _ in range(waiting.copies):
                    self._deliver(path.target, waiting.frame)
