# SPDX-License-Identifier: LGPL-2.1-or-later
"""Hosts: network namespaces with a system bus and Avahi."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from gi.repository import GLib
import avahi
import capture
import namespaces
from buses import Session, wait
from fabric import Impairment
from switch import Switch

NETWORK = "10.213.78"
DEVICE = "tap0"
PREFIX = "handoff-"
# Of the namespaces of this process; the first two are those of the cable.
NUMBERS = itertools.count(3)
DIRECTIONS = ("both", "out", "in")

SYSTEM_BUS = """\
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>{address}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/>
    <allow own="*"/>
    <allow send_type="method_call"/>
    <allow send_type="signal"/>
    <allow send_requested_reply="true" send_type="method_return"/>
    <allow send_requested_reply="true" send_type="error"/>
    <allow receive_type="method_call"/>
    <allow receive_type="method_return"/>
    <allow receive_type="error"/>
    <allow receive_type="signal"/>
  </policy>
</busconfig>
"""

Result = TypeVar("Result")


def ip(*arguments: str) -> None:
    """Runs ip(8), which must not complain."""
    if complaint := namespaces.ip(*arguments):
        raise OSError(f"ip {' '.join(arguments)}: {complaint}")


class Host:
    """A host on a network: a namespace with a device, a system bus, and Avahi once it is started."""

    def __init__(self, switch: Switch, name: str, number: int) -> None:
        self._switch = switch
        self.name = name
        self.address = f"{NETWORK}.{number}"
        # For sockets of this host, with `%tap0` behind it.
        self.link_local = f"fe80::{number}"
        self.namespace = f"{PREFIX}{os.getpid()}-{next(NUMBERS)}"
        self.folder = Path(tempfile.mkdtemp(prefix=f"handoff-{name}-host-"))
        self.system_bus = f"unix:path={self.folder}/system-bus"
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.sessions: list[Session] = []

    def set_up(self) -> None:
        """Creates the namespace and what is in it; fails with OSError."""
        ip("netns", "add", self.namespace)
        self._switch.add(self.name, self.namespace, DEVICE)
        ip("-n", self.namespace, "link", "set", "lo", "up")
        ip("-n", self.namespace, "link", "set", DEVICE, "addrgenmode", "none")
        ip("-n", self.namespace, "addr", "add", f"{self.address}/24", "dev", DEVICE)
        self.link_up()
        configuration = self.folder / "system-bus.conf"
        configuration.write_text(SYSTEM_BUS.format(address=self.system_bus))
        bus = self.start("dbus-daemon", "--nofork", "--nopidfile", f"--config-file={configuration}")

        def connected() -> Session | None:
            if bus.poll() is not None:
                raise OSError(f"a program can't be started in a namespace: {self.log('dbus-daemon').strip()}")
            try:
                return self.connect()
            except GLib.Error:
                return None

        self.session = wait(connected, f"the system bus of {self.name}")

    def remove(self) -> None:
        for session in self.sessions:
            session.close()
        for process in reversed(self.processes.values()):
            process.kill()
            process.wait()
        namespaces.ip("netns", "del", self.namespace)
        shutil.rmtree(self.folder, ignore_errors=True)

    # Programs

    def start(self, program: str, *arguments: str) -> subprocess.Popen[bytes]:
        """Starts a program on this host, with its system bus and with a /run of its own. It ends with this process."""
        # Avahi keeps what there can be once a machine in /run. The mount namespace is that of “ip netns exec”.
        # Killed, because Avahi that is to end when its bus has just gone spins instead.
        script = 'mount -t tmpfs tmpfs /run && exec setpriv --pdeathsig KILL "$@"'
        path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
        with open(self.log_file(program), "ab") as log:
            process = subprocess.Popen(
                ["ip", "netns", "exec", self.namespace, "sh", "-c", script, "sh", program, *arguments],
                env={"PATH": path, "LANG": "C.UTF-8", "DBUS_SYSTEM_BUS_ADDRESS": self.system_bus}, cwd=self.folder,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.processes[program] = process
        return process

    def kill(self, program: str, number: int = signal.SIGKILL) -> int:
        """Ends a program of this host and returns its exit status."""
        process = self.processes.pop(program)
        process.send_signal(number)
        wait(lambda: process.poll() is not None, f"the end of {program}")
        return process.returncode

    def log_file(self, program: str) -> Path:
        return self.folder / f"{program}.log"

    def log(self, program: str) -> str:
        """What a program of this host has logged so far."""
        file = self.log_file(program)
        return file.read_text(errors="replace") if file.exists() else ""

    def connect(self) -> Session:
        """A new connection to the system bus of this host, closed with it."""
        session = Session(self.system_bus)
        self.sessions.append(session)
        return session

    def inside(self, function: Callable[[], Result]) -> Result:
        """Runs the function on this host, and returns what it returns. Sockets that it creates stay there."""
        return namespaces.inside(self.namespace, function)

    # Avahi

    def start_avahi(self, waits: bool = True) -> None:
        """Starts Avahi, and waits until it has its name, which takes a second, unless the caller waits for that
        later."""
        configuration = self.folder / "avahi-daemon.conf"
        avahi.configure(configuration, self.name)
        self.start("avahi-daemon", "--no-drop-root", "--no-chroot", "--no-rlimits", "-f", str(configuration))
        if waits:
            self.wait_for_avahi()

    def wait_for_avahi(self) -> None:
        process = self.processes["avahi-daemon"]
        wait(lambda: process.poll() is not None or avahi.is_running(self.session), f"Avahi on {self.name}")
        assert process.poll() is None, f"avahi-daemon has ended:\n{self.log('avahi-daemon')}"

    def kill_avahi(self, number: int = signal.SIGKILL) -> None:
        """Ends Avahi: with SIGTERM it says goodbye to the others, otherwise it is just gone."""
        self.kill("avahi-daemon", number)
        wait(lambda: not self.session.owner(avahi.AVAHI), "Avahi to leave the bus")

    # The network

    def impair(self, direction: str = "both", **impairment: float) -> None:
        """Sets what happens to what this host sends ("out"), gets ("in") or both, instead of what happened before.

        The names are those of `Impairment`; times are milliseconds. The sender's and the receiver's add up.
        """
        if direction not in DIRECTIONS:
            raise ValueError(f"no direction “{direction}”")
        if direction != "in":
            self._switch.impair(self.name, None, Impairment(**impairment))
        if direction != "out":
            self._switch.impair(None, self.name, Impairment(**impairment))

    def cut(self, direction: str = "both") -> None:
        """Lets nothing pass any longer, without telling either side."""
        self.impair(direction, cut=True)

    def mend(self, direction: str = "both") -> None:
        """Lets everything pass without delay again, as at the beginning."""
        self.impair(direction)

    def link_down(self) -> None:
        """Takes the link down as the host itself would do it, so that the host notices."""
        ip("-n", self.namespace, "link", "set", DEVICE, "down")

    def link_up(self) -> None:
        ip("-n", self.namespace, "link", "set", DEVICE, "up")
        # These went when the link did. Without detecting duplicates, which takes seconds.
        ip("-n", self.namespace, "addr", "replace", f"{self.link_local}/64", "dev", DEVICE, "nodad")
        self._route()

    def change_address(self, address: str) -> None:
        """Gives this host another IPv4 address in the same network, instead of the one it had."""
        ip("-n", self.namespace, "addr", "del", f"{self.address}/24", "dev", DEVICE)
        ip("-n", self.namespace, "addr", "add", f"{address}/24", "dev", DEVICE)
        self.address = address
        self._route()

    def _route(self) -> None:
        # Without it nothing is multicast.
        ip("-n", self.namespace, "route", "replace", "default", "dev", DEVICE)

    # Captures

    @property
    def capture_file(self) -> Path:
        return self.folder / "sent.pcap"

    def start_capture(self) -> None:
        """Records each frame that this host sends from now on, whatever becomes of it."""
        self._switch.capture(self.name, self.capture_file)

    def captured(self) -> list[capture.Frame]:
        """What was recorded so far."""
        self._switch.flush()
        return capture.read(self.capture_file)

    def stop_capture(self) -> list[capture.Frame]:
        """Ends the recording, and returns what was recorded."""
        self._switch.capture(self.name, None)
        return capture.read(self.capture_file)
