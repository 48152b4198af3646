# SPDX-License-Identifier: LGPL-2.1-or-later
"""An Ethernet switch in user space between the TAP devices of network namespaces, for networks that fail when told to.

Not every kernel has the queueing discipline that does the same. As a program it takes one command a line on its
standard input, a JSON object, and answers each with one line: an object, whose "error" says what went wrong.

    {"do": "add", "host": "desk", "namespace": "handoff-1-3", "device": "tap0"}
    {"do": "impair", "source": "desk", "target": null, "impairment": {"delay": 50, "loss": 0.1}}
    {"do": "capture", "host": "desk", "path": "/tmp/desk.pcap"}
    {"do": "flush"}

All that a host has sent before a command is treated as it was before the command. The program ends with its input.
"""

from __future__ import annotations

import fcntl
import gc
import json
import os
import select
import struct
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import namespaces
from capture import Capture
from fabric import Fabric, Impairment

TUNSETIFF = 0x400454CA
IFF_TAP = 0x0002
IFF_NO_PI = 0x1000
# More than a frame can have.
LONGEST = 65536
# How many frames of a host are passed on before another has its turn.
BATCH = 128
# At least as many as can wait in a device.
QUEUE = 2048
# Seconds for an answer.
TIMEOUT = 20


def open_tap(namespace: str, device: str) -> int:
    """Makes a TAP device in a network namespace, which is there as long as its descriptor."""
    def make() -> int:
        descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            fcntl.ioctl(descriptor, TUNSETIFF, struct.pack("16sH22x", device.encode(), IFF_TAP | IFF_NO_PI))
        except OSError:
            os.close(descriptor)
            raise
        return descriptor

    return namespaces.inside(namespace, make)


class Relay:
    """The switch with its devices."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands, self._answers = commands, answers
        self._pending = b""
        self._fabric = Fabric(self._write)
        self._devices: dict[str, int] = {}
        self._hosts: dict[int, str] = {}
        self._captures: dict[str, Capture] = {}

    def run(self) -> None:
        while True:
            due = self._fabric.due
            timeout = None if due is None else max(0.0, due - time.monotonic())
            readable, _, _ = select.select([self._commands, *self._hosts], [], [], timeout)
            for device in readable:
                if device != self._commands:
                    self._read(device)
            if self._commands in readable:
                data = os.read(self._commands, LONGEST)
                if not data:
                    return
                # What was sent before the command may have come after the look at what is readable.
                for device in list(self._hosts):
                    for _ in range(QUEUE // BATCH):
                        if not self._read(device):
                            break
                self._pending += data
                *lines, self._pending = self._pending.split(b"\n")
                for line in lines:
                    os.write(self._answers, json.dumps(self._answer(line)).encode() + b"\n")
            self._fabric.release(time.monotonic())

    def _read(self, device: int) -> bool:
        """Takes what a host has sent; returns whether there may be more."""
        host = self._hosts[device]
        take, capture, now = self._fabric.take, self._captures.get(host), time.monotonic()
        try:
            for _ in range(BATCH):
                frame = os.read(device, LONGEST)
                if capture:
                    capture.add(frame)
                take(host, frame, now)
        except BlockingIOError:
            return False
        except OSError:
            # The namespace was removed.
            del self._hosts[device]
            return False
        return True

    def _write(self, host: str, frame: bytes) -> None:
        try:
            os.write(self._devices[host], frame)
        except OSError:
            # The link is down, or the host is gone.
            pass

    def _answer(self, line: bytes) -> dict[str, Any]:
        try:
            command = json.loads(line)
            self._do(command.pop("do"), **command)
            return {}
        except (OSError, ValueError, TypeError, KeyError) as error:
            return {"error": f"{type(error).__name__}: {error}"}

    def _do(self, action: str, host: str = "", namespace: str = "", device: str = "", path: str | None = None,
            source: str | None = None, target: str | None = None, impairment: dict[str, Any] | None = None) -> None:
        if action == "add":
            descriptor = open_tap(namespace, device)
            self._fabric.add(host)
            self._devices[host] = descriptor
            self._hosts[descriptor] = host
        elif action == "impair":
            self._fabric.impair(source, target, Impairment(**impairment or {}))
        elif action == "capture":
            if host in self._captures:
                self._captures.pop(host).close()
            if path is not None:
                self._captures[host] = Capture(path)
        elif action == "flush":
            for capture in self._captures.values():
                capture.flush()
        else:
            raise ValueError(f"no command “{action}”")


class Switch:
    """A process that runs this program, for the process that makes the network."""

    def __init__(self) -> None:
        # A session of its own: Control-C is for the tests, which end it when they have cleaned up.
        self._process = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", sys.executable, __file__],
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        assert self._process.stdin and self._process.stdout
        self._commands, self._answers = self._process.stdin, self._process.stdout

    def add(self, host: str, namespace: str, device: str) -> None:
        """Adds a host: makes the device in its namespace."""
        self._tell("add", host=host, namespace=namespace, device=device)

    def impair(self, source: str | None, target: str | None, impairment: Impairment) -> None:
        """Sets what happens to what is sent from one host to another; None stands for any."""
        self._tell("impair", source=source, target=target, impairment=asdict(impairment))

    def capture(self, host: str, path: Path | None) -> None:
        """Records what a host sends, whatever becomes of it, or nothing any more."""
        self._tell("capture", host=host, path=path and str(path))

    def flush(self) -> None:
        """Lets everything that was recorded be read."""
        self._tell("flush")

    def close(self) -> None:
        self._commands.close()
        self._process.wait()
        self._answers.close()

    def _tell(self, action: str, **command: Any) -> None:
        """Has the program do something, which is in force on return."""
        self._commands.write(json.dumps({"do": action, **command}).encode() + b"\n")
        self._commands.flush()
        readable, _, _ = select.select([self._answers], [], [], TIMEOUT)
        answer = self._answers.readline() if readable else b""
        if not answer:
            raise RuntimeError("the switch does not answer")
        if error := json.loads(answer).get("error"):
            raise OSError(f"the switch refuses: {error}")


def main() -> None:
    # Frames refer to nothing, and collecting garbage makes pauses.
    gc.disable()
    Relay(sys.stdin.fileno(), sys.stdout.fileno()).run()


if __name__ == "__main__":
    main()
