# SPDX-License-Identifier: LGPL-2.1-or-later
"""Two peers, one of which is attacked without either of them noticing, and the attackers."""

from __future__ import annotations

import os
import select
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from gi.repository import GLib
from buses import BRIDGE_ROOT, wait
from clients import Client, Dock
from link import Identity, Link
from support import Machine

# How many continuations follow each other, in peace and under attack.
RUNS = 9


class Bystanders:
    """The machine that is attacked, `desk`, and `lap`, on which the activity of `desk` is continued."""

    def __init__(self, desk: Machine, lap: Machine) -> None:
        self.desk, self.lap = desk, lap
        self.target, self.dock = Client(lap), Dock(lap)
        Client(desk).offer("A letter")
        self.path = self.dock.offer("A letter")

    def continuation(self) -> float:
        """Continues the activity, and returns how many seconds that took."""
        before = len(self.dock.finished())
        begin = time.perf_counter()
        self.dock.continue_offer(self.path)
        wait(lambda: len(self.dock.finished()) > before, "the end of a continuation")
        taken = time.perf_counter() - begin
        assert self.dock.finished()[-1][1] == ""
        return taken

    def trust(self) -> bytes:
        """The trust store of the machine that is attacked."""
        (file,) = (self.desk.folder / "state_home" / "handoff").glob("*/trust")
        return file.read_bytes()

    def known(self) -> list[str]:
        """The devices that it trusts."""
        devices = self.desk.session.managed_objects(BRIDGE_ROOT).values()
        found = [interfaces.get("org.example.Handoff.Device", {}) for interfaces in devices]
        return sorted(device["DeviceId"] for device in found if device.get("Paired"))

    @contextmanager
    def undisturbed(self) -> Iterator[Times]:
        """Asserts that what is attempted in the meantime leaves the trust store as it is, byte for byte, and slows
        nobody down."""
        settled = (b"Mutual=true", b"FormerSecret=\n", b"AwaitsLink=false")
        wait(lambda: all(line in self.trust() for line in settled), "the secret of both")
        trust, known = self.trust(), self.known()
        for _run in range(3):
            self.continuation()
        times = Times(self)
        times.take_in_peace()
        yield times
        assert self.trust() == trust
        assert self.known() == known
        assert self.desk.connected_to(self.lap.device_id)
        # What else this machine does may have changed meanwhile.
        times.take_in_peace()
        times.compare()


class Times:
    """How long continuations take, in peace and under attack."""

    def __init__(self, bystanders: Bystanders) -> None:
        self.bystanders = bystanders
        self.in_peace: list[float] = []
        self.under_attack: list[float] = []

    def take_in_peace(self) -> None:
        self.in_peace += [self.bystanders.continuation() for _run in range(RUNS)]

    def take_under_attack(self, goes_on: Callable[[], bool] = lambda: False) -> None:
        """Measures as many continuations under attack, and more while the condition holds."""
        self.under_attack += [self.bystanders.continuation() for _run in range(RUNS)]
        while goes_on():
            self.under_attack.append(self.bystanders.continuation())

    def compare(self) -> None:
        """Asserts that the median under attack is at most twice the median in peace, plus the largest difference
        among those in peace."""
        assert self.under_attack, "nothing was measured under attack"
        limit = 2 * statistics.median(self.in_peace) + max(self.in_peace) - min(self.in_peace)
        assert statistics.median(self.under_attack) <= limit, f"limit {limit}: {self.__dict__}"


def connecting(machine: Machine, port: int) -> Callable[[], GLib.Variant]:
    """Has a machine connect to a port, as its user would; returns the function that waits for the outcome."""
    return machine.session.begin(BRIDGE_ROOT, "Bridge.Connect", GLib.Variant("(s)", (f"127.0.0.1:{port}",)))


class Attack:
    """A program that does one thing from `attacks` again and again, and makes sure that it is in vain."""

    def __init__(self, name: str, machine: Machine) -> None:
        self.name = name
        program = Path(__file__).with_name("attacks.py")
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", sys.executable, program, name, str(machine.port), machine.device_id],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=program.parent)
        self._output = b""
        wait(lambda: self.rounds or self.process.poll() is not None, f"the first “{name}”")

    @property
    def rounds(self) -> int:
        """How often the attack has been made so far."""
        if select.select([self.process.stdout], [], [], 0)[0]:
            self._output += os.read(self.process.stdout.fileno(), 65536)
        return self._output.count(b"\n")

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Pauses the attack until the end of the block."""
        self.process.send_signal(signal.SIGSTOP)
        yield
        self.process.send_signal(signal.SIGCONT)

    def end(self) -> None:
        """Ends the attack, and asserts that it was in vain each time."""
        self.process.stdin.close()
        wait(lambda: self.process.poll() is not None, f"the end of “{self.name}”")
        assert self.process.returncode == 0, f"“{self.name}” was of avail"

    def __enter__(self) -> Attack:
        return self

    def __exit__(self, *_exception: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


class Impostor:
    """A port of this machine at which somebody answers who is not a bridge of ours."""

    def __init__(self, port: int = 0) -> None:
        self.listener = socket.create_server(("127.0.0.1", port))
        self.listener.settimeout(0)
        self.port: int = self.listener.getsockname()[1]

    def __enter__(self) -> Impostor:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.listener.close()

    def accept(self) -> Link:
        """Waits for somebody to dial."""
        wait(lambda: select.select([self.listener], [], [], 0)[0], "somebody to dial")
        connection, _address = self.listener.accept()
        return Link(connection)

    def answer(self, identity: Identity) -> Link:
        """Waits for somebody to dial, and plays the part of a bridge until after TLS."""
        link = self.accept()
        link.greet(b"HANDOFF1" + bytes(16))
        link.socket = identity.server_context.wrap_socket(link.socket, server_side=True)
        return link


class Echo:
    """Sends every byte back on each connection, after a greeting."""

    def __init__(self, greeting: bytes) -> None:
        self.greeting = greeting
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        self.echoed = 0
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while True:
            try:
                connection, _address = self.listener.accept()
            except OSError:
                return
            with connection:
                connection.sendall(self.greeting)
                try:
                    while data := connection.recv(65536):
                        connection.sendall(data)
                        self.echoed += len(data)
                except OSError:
                    continue

    def __enter__(self) -> Echo:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


class Tunnel:
    """A port of this machine that passes everything on to an address."""

    def __init__(self, target: tuple[str, int]) -> None:
        self.target = target
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        self.connections: list[socket.socket] = []
        threading.Thread(target=self._run, daemon=True).start()

    def __enter__(self) -> Tunnel:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.listener.close()
        for connection in self.connections:
            connection.close()

    def _run(self) -> None:
        while True:
            try:
                connection, _address = self.listener.accept()
                other = socket.create_connection(self.target)
            except OSError:
                return
            self.connections += [connection, other]
            for source, sink in ((connection, other), (other, connection)):
                threading.Thread(target=self._pass_on, args=(source, sink), daemon=True).start()

    @staticmethod
    def _pass_on(source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            sink.close()
