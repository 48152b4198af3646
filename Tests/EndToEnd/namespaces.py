# SPDX-License-Identifier: LGPL-2.1-or-later
"""Network namespaces: two hosts with a cable between them."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import threading
from collections.abc import Callable
from typing import TypeVar

NETWORK = "10.213.77"
NAMED = "/run/netns"
CLONE_NEWNET = 0x40000000

Result = TypeVar("Result")


def ip(*arguments: str) -> str:
    """Runs ip(8), and returns what it complains about."""
    program = shutil.which("ip", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if not program:
        return "there is no ip, of Debian's iproute2"
    return subprocess.run([program, *arguments], capture_output=True, text=True).stderr.strip()


def enter(namespace: str) -> None:
    """Moves the calling thread, and nothing else of this process, into a network namespace."""
    # Python has os.setns() since 3.12.
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = os.open(f"{NAMED}/{namespace}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        if libc.setns(descriptor, CLONE_NEWNET) != 0:
            number = ctypes.get_errno()
            raise OSError(number, f"{namespace} can't be entered: {os.strerror(number)}")
    finally:
        os.close(descriptor)


def inside(namespace: str, function: Callable[[], Result]) -> Result:
    """Runs the function in a network namespace, and returns what it returns. Sockets and devices that it opens stay
    there."""
    results: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            enter(namespace)
            results.append(function())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


class Cable:
    """Two hosts, each a namespace with one address."""

    def __init__(self) -> None:
        self.hosts = [f"handoff-{os.getpid()}-{number}" for number in (1, 2)]
        self.addresses = [f"{NETWORK}.{number}" for number in (1, 2)]
        # Why there is none; empty if there is one.
        self.missing = self._make()

    def _make(self) -> str:
        one, other = self.hosts
        commands = [("netns", "add", host) for host in self.hosts]
        commands.append(("link", "add", "cable", "netns", one, "type", "veth", "peer", "name", "cable", "netns", other))
        for host, address in zip(self.hosts, self.addresses):
            commands += [("-n", host, "addr", "add", f"{address}/24", "dev", "cable"),
                         ("-n", host, "link", "set", "cable", "up"), ("-n", host, "link", "set", "lo", "up")]
        for command in commands:
            if complaint := ip(*command):
                self.remove()
                return complaint
        return ""

    def mute(self, number: int) -> str:
        """Lets a host send nothing to the other any longer: to that one, it has vanished without a word."""
        return ip("-n", self.hosts[number], "route", "add", "blackhole", f"{self.addresses[1 - number]}/32")

    def remove(self) -> None:
        for host in self.hosts:
            ip("netns", "del", host)
