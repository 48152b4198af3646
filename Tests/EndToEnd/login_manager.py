# SPDX-License-Identifier: LGPL-2.1-or-later
"""The part of logind that knows of sleep, on the system bus of a machine: who delays it, and when it comes.

    logind = LoginManager.of(machine)     # before its bridge is started
    wait(lambda: logind.delays, "something that delays sleep")
    logind.prepare_for_sleep(True)
"""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections.abc import Callable

from gi.repository import Gio, GLib
from buses import Session, wait
from support import Machine

LOGIN1 = "org.freedesktop.login1"
ROOT = "/org/freedesktop/login1"
INTERFACE = Gio.DBusNodeInfo.new_for_xml(f"""
<node><interface name="{LOGIN1}.Manager"><method name="Inhibit">
  <arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="s" direction="in"/>
  <arg type="h" direction="out"/>
</method></interface></node>""").interfaces[0]


def prepare_for_sleep(session: Session, start: bool, destination: str | None = None) -> None:
    """Says what logind says when the machine is about to sleep, or has woken up."""
    session.connection.emit_signal(destination, ROOT, f"{LOGIN1}.Manager", "PrepareForSleep", GLib.Variant("(b)", (start,)))
    session.connection.flush_sync()


class LoginManager:
    """A logind of a machine, which others can ask to wait before it sleeps."""

    def __init__(self, bus: Session, refuses: bool = False) -> None:
        self.bus = bus
        self.refuses = refuses
        # The arguments of each call, and the end by which it is seen whether the other is still open.
        self.asked: list[tuple[tuple[str, ...], int]] = []
        self.processes: list[subprocess.Popen[bytes]] = []
        bus.connection.register_object(ROOT, INTERFACE, self._called, None, None)
        bus.call("/org/freedesktop/DBus", "org.freedesktop.DBus.RequestName", GLib.Variant("(su)", (LOGIN1, 0)),
                 destination="org.freedesktop.DBus")

    @classmethod
    def of(cls, machine: Machine, **options: bool) -> LoginManager:
        """One on a system bus of the machine's own."""
        address = machine.environment["DBUS_SYSTEM_BUS_ADDRESS"] = f"unix:path={machine.folder}/system-bus"
        process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "dbus-daemon", "--session", "--nofork", "--nopidfile",
                                    "--address", address], stdin=subprocess.DEVNULL)

        def connected() -> Session | None:
            try:
                return Session(address)
            except GLib.Error:
                return None

        logind = cls(wait(connected, "the system bus"), **options)
        machine.sessions.append(logind.bus)
        logind.processes.append(process)
        return logind

    def stop(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()

    def _called(self, _connection: Gio.DBusConnection, _sender: str, _path: str, _interface: str, _member: str,
                arguments: GLib.Variant, invocation: Gio.DBusMethodInvocation) -> None:
        if self.refuses:
            invocation.return_dbus_error("org.freedesktop.DBus.Error.AccessDenied", "Nobody may delay sleep here.")
            return
        ours, theirs = os.pipe()
        descriptors = Gio.UnixFDList.new()
        descriptors.append(theirs)
        os.close(theirs)
        self.asked.append((arguments.unpack(), ours))
        invocation.return_value_with_unix_fd_list(GLib.Variant("(h)", (0,)), descriptors)

    @property
    def delays(self) -> list[tuple[str, ...]]:
        """What is asked of sleep by those who still want it."""
        poll = select.poll()
        for _arguments, descriptor in self.asked:
            poll.register(descriptor, 0)
        gone = {descriptor for descriptor, _events in poll.poll(0)}
        return [arguments for arguments, descriptor in self.asked if descriptor not in gone]

    def prepare_for_sleep(self, start: bool) -> None:
        """Says that the machine is about to sleep, or has woken up."""
        prepare_for_sleep(self.bus, start)

    def sleep(self) -> float:
        """Lets the machine fall asleep, and says for how many seconds it was delayed."""
        begin = time.monotonic()
        self.prepare_for_sleep(True)
        wait(lambda: not self.delays, "nobody to delay sleep")
        return time.monotonic() - begin


Lap = Callable[..., tuple[Machine, LoginManager]]
