# SPDX-License-Identifier: LGPL-2.1-or-later
"""Streams between two applications: opened, used from threads, and what is left of them."""

from __future__ import annotations

import hashlib
import os
import socket
import threading
from collections.abc import Callable
from typing import TypeVar

from buses import TIMEOUT, wait
from clients import Client, Dock
from support import Machine

Result = TypeVar("Result")


class Continuation:
    """An activity with streams that is continued on another machine."""

    def __init__(self, here: Machine, there: Machine, origin: Client | None = None, target: Client | None = None,
                 title: str = "Contacts") -> None:
        self.origin = origin or Client(here)
        self.target = target or Client(there)
        dock = Dock(there)
        self.activity = self.origin.offer(title, SupportsContinuationStreams=True)
        dock.continue_offer(dock.offer(title))
        call = self.target.wait_for("ContinueActivity", len(self.target.called("ContinueActivity")) + 1)
        self.path: str = call.arguments.get_child_value(1).unpack()["Continuation"]
        assert dock.outcome() == (self.target.application_id, "", "")

    def open(self) -> tuple[socket.socket, socket.socket]:
        """Opens a stream: the continuing application's end, and the origin's."""
        return self.begin()()

    def begin(self) -> Callable[[], tuple[socket.socket, socket.socket]]:
        """Asks for a stream, and returns the function that waits for it."""
        answer = self.target.begin(self.path, "Continuation.OpenStream")

        def finish() -> tuple[socket.socket, socket.socket]:
            answer()
            here = socket.socket(fileno=self.target.received.pop())
            wait(lambda: self.origin.streams, "DidReceiveStream")
            ends = here, self.origin.streams.pop(0)
            for end in ends:
                end.settimeout(TIMEOUT)
            return ends

        return finish

    def release(self) -> None:
        self.target.call(self.path, "Continuation.Release")


class Background:
    """Runs a function on a thread, so that the main loop keeps running in the meantime."""

    def __init__(self, function: Callable[[], Result]) -> None:
        self._results: list[Result] = []
        self._errors: list[BaseException] = []
        # Of the thread, for /proc.
        self.number = 0

        def run() -> None:
            self.number = threading.get_native_id()
            try:
                self._results.append(function())
            except BaseException as error:
                self._errors.append(error)

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        return not self._thread.is_alive()

    def result(self, timeout: float | None = None) -> Result:
        """Waits for the function, and returns what it has returned, or raises what it has raised."""
        wait(lambda: self.is_over, "the end of a thread", timeout)
        if self._errors:
            raise self._errors[0]
        return self._results[0]

    def error(self, timeout: float | None = None) -> BaseException | None:
        """Waits for the function, and returns what it has raised."""
        wait(lambda: self.is_over, "the end of a thread", timeout)
        return self._errors[0] if self._errors else None


# Twice the same megabytes do not follow each other, so that nothing lost or doubled goes unnoticed.
_BLOCK = os.urandom((8 << 20) + 4096)


def pattern(size: int, seed: int = 0):
    """Pieces of `size` bytes in all, which look random."""
    place, number = 0, seed
    while place < size:
        start = (number * 509) % 4096
        piece = memoryview(_BLOCK)[start:start + min(1 << 20, size - place)]
        yield number.to_bytes(8, "big")[:len(piece)]
        yield piece[8:]
        place += len(piece)
        number += 1


def send(end: socket.socket, size: int, seed: int = 0) -> str:
    """Sends this many bytes, ends the direction, and returns their SHA-256."""
    digest = hashlib.sha256()
    for piece in pattern(size, seed):
        end.sendall(piece)
        digest.update(piece)
    end.shutdown(socket.SHUT_WR)
    return digest.hexdigest()


def receive(end: socket.socket) -> tuple[int, str]:
    """Reads to the end; returns how many bytes there were, and their SHA-256."""
    digest, size = hashlib.sha256(), 0
    buffer = bytearray(1 << 20)
    while count := end.recv_into(buffer):
        digest.update(memoryview(buffer)[:count])
        size += count
    return size, digest.hexdigest()


def descriptors(machine: Machine, program: str) -> int:
    """How many descriptors a daemon has."""
    return len(os.listdir(f"/proc/{machine.processes[program].pid}/fd"))


class Counts:
    """The numbers of descriptors of all daemons, which must be as they were, or lower, in the end."""

    def __init__(self, *machines: Machine) -> None:
        self.machines = machines
        self.before = self.now()

    def now(self) -> dict[tuple[str, str], int]:
        return {(machine.name, program): descriptors(machine, program) for machine in self.machines
                for program in ("handoffd", "handoff-bridge")}

    def wait_until_as_before(self) -> None:
        try:
            wait(lambda: all(count <= self.before[program] for program, count in self.now().items()), "the descriptors to be as before", 10)
        except AssertionError:
            raise AssertionError(f"there were {self.before} descriptors, and are {self.now()}") from None


def is_broken(end: socket.socket) -> bool:
    """Whether reading ends with an error, after whatever still arrives."""
    try:
        while end.recv(1 << 20):
            pass
    except ConnectionResetError:
        return True
    return False
