#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a link by a carrier costs, beside ssh alone and beside a direct link.

Run with a number of samples and of seconds at rest, it says "carry" and: how many times as fast as ssh alone a stream through ssh
is, both rates in MB/s; how many round trips a continuation takes over a carried link with 40 ms of delay each way, and over a direct
one; how often the daemons and the carrier were woken at rest; and the private memory of the carrier in MiB. HANDOFF_BINARIES has
the programs.
"""

from __future__ import annotations

import os
import queue
import socket
import statistics
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "EndToEnd"))

# ruff: noqa: E402
import ssh
from buses import let_pass, wait
from carriers import Carrier, configure
from clients import Client, Dock
from streams import Background, Continuation
from support import Machine, memory, trust_each_other, wait_for_link

DELAY = 0.04
ROUND_TRIP = 2 * DELAY
SIZE = 256 << 20
BLOCK = os.urandom(1 << 20)


def machine(name: str) -> Machine:
    made = Machine(name)
    made.start_broker()
    made.start_bridge()
    return made


def trusting(name: str) -> tuple[Machine, Machine]:
    """Two machines that are paired and know no way to each other."""
    one, other = machine(f"{name}-desk"), machine(f"{name}-lap")
    trust_each_other(one, other)
    return one, other


class Relay:
    """Brings connections to a port of this machine, and each byte later by the delay, in both directions."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = self.listener.getsockname()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            near, _ = self.listener.accept()
            far = socket.create_connection(("127.0.0.1", self.port))
            for source, target in ((near, far), (far, near)):
                for end in (source, target):
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                pieces: queue.SimpleQueue[tuple[float, bytes]] = queue.SimpleQueue()
                threading.Thread(target=self._read, args=(source, pieces), daemon=True).start()
                threading.Thread(target=self._write, args=(target, pieces), daemon=True).start()

    def _read(self, source: socket.socket, pieces: queue.SimpleQueue) -> None:
        try:
            while piece := source.recv(1 << 16):
                pieces.put((time.monotonic() + DELAY, piece))
        except OSError:
            pass
        pieces.put((time.monotonic() + DELAY, b""))

    def _write(self, target: socket.socket, pieces: queue.SimpleQueue) -> None:
        try:
            while True:
                when, piece = pieces.get()
                time.sleep(max(0, when - time.monotonic()))
                if not piece:
                    return target.shutdown(socket.SHUT_WR)
                target.sendall(piece)
        except OSError:
            pass


def round_trips(origin: Machine, target: Machine, samples: int) -> float:
    """How many round trips a continuation takes: the median."""
    letters, _application, dock = Client(origin), Client(target), Dock(target)
    times = []
    for number in range(samples):
        letters.offer(f"Letter {number}")
        path = dock.offer(f"Letter {number}")
        dock.events.clear()
        begin = time.monotonic()
        dock.continue_offer(path)
        assert dock.outcome()[1] == ""
        times.append(time.monotonic() - begin)
    return statistics.median(times) / ROUND_TRIP


def delayed(samples: int) -> tuple[float, float]:
    """The round trips of a continuation over a carried link, and over a direct one."""
    origin, target = trusting("carried")
    relay = Relay(origin.port)
    # A carrier needs no Handoff at its other end but what listens there.
    Carrier(target, lambda: socket.create_connection(relay.address)).register(origin.device_id)
    wait_for_link(origin, target)
    carried = round_trips(origin, target, samples)
    far, near = trusting("direct")
    near.dial(Relay(far.port).address[1])
    wait_for_link(far, near)
    direct = round_trips(far, near, samples)
    for one in (origin, target, far, near):
        one.stop()
        one.remove()
    return carried, direct


def receive(end: socket.socket) -> int:
    buffer, size = bytearray(1 << 20), 0
    while count := end.recv_into(buffer):
        size += count
    return size


def send(end: socket.socket) -> None:
    for _ in range(SIZE // len(BLOCK)):
        end.sendall(BLOCK)
    end.shutdown(socket.SHUT_WR)


def through_ssh(command: list[str]) -> float:
    """How fast ssh alone moves so many bytes to another program, in MB/s."""
    begin = time.monotonic()
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        for _ in range(SIZE // len(BLOCK)):
            process.stdin.write(BLOCK)
    return SIZE / (time.monotonic() - begin) / 1e6


def through_handoff(origin: Machine, target: Machine, number: int) -> float:
    """How fast a stream over a carried link moves as many."""
    continuation = Continuation(origin, target, title=f"Film {number}")
    here, there = continuation.open()
    begin = time.monotonic()
    sending, receiving = Background(lambda: send(there)), Background(lambda: receive(here))
    assert receiving.result(120) == SIZE
    rate = SIZE / (time.monotonic() - begin) / 1e6
    sending.result()
    here.close()
    continuation.release()
    return rate


def switches(one: Machine, program: str) -> int:
    with open(f"/proc/{one.processes[program].pid}/status", encoding="ascii") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith("voluntary"))


def main(samples: int, seconds: int) -> None:
    carried, direct = delayed(samples)
    desk, lap = trusting("ssh")
    server = ssh.Server(lap)
    sink = server.another_key("cat >/dev/null")
    configure(desk, f"{lap.name}={' '.join(server.command)}")
    desk.start("handoff", "carry", "--all")
    wait_for_link(desk, lap)
    programs = [(desk, "handoffd"), (desk, "handoff-bridge"), (desk, "handoff"), (lap, "handoffd"), (lap, "handoff-bridge")]
    # What follows from a new link is over.
    let_pass(5)
    before = [switches(*one) for one in programs]
    time.sleep(seconds)
    woken = sum(switches(*one) for one in programs) - sum(before)
    private = memory(desk, "handoff") / (1 << 20)
    rates = [(through_ssh(sink), through_handoff(desk, lap, number)) for number in range(samples)]
    alone, ours = (statistics.median(values) for values in zip(*rates))
    for one in (desk, lap):
        one.stop()
        one.remove()
    ratio = statistics.median(handoff / bare for bare, handoff in rates)
    print(f"carry {ratio:.2f} {ours:.0f} {alone:.0f} {carried:.2f} {direct:.2f} {woken} {private:.2f}")


if __name__ == "__main__":
    if why := ssh.missing():
        sys.exit(why)
    main(int(sys.argv[1]), int(sys.argv[2]))
