#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""An application in a process of its own, so that it can be killed and stopped.

    standing_client.py TITLE

It has a current activity of this title, and again with each new broker. SIGUSR1 makes it begin another one in
its place. What it does and what it is asked is printed, a JSON object a line. An answer to the broker is held
back as long as there is a file hold-MEMBER in its working directory.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from gi.repository import Gio, GLib
from buses import BROKER, BusError, Session, properties, wait
from clients import Activity, Client


class Here:
    """What a client has to know about the machine that it runs on."""

    address = os.environ["DBUS_SESSION_BUS_ADDRESS"]
    sessions: list[Session] = []


def tell(event: str, **about: Any) -> None:
    """One line, written at once: nothing is lost when this process is killed."""
    print(json.dumps({"event": event, "process": os.getpid()} | about), flush=True)


class StandingClient(Client):
    """An application with one thing open."""

    def __init__(self, title: str) -> None:
        super().__init__(Here(), register=False)
        self.title = title
        self.activity: Activity | None = None
        self.broker = ""
        self.served = ""
        self.count = 0
        self.user_info: dict[str, GLib.Variant] = {}
        self.answers["WillSave"] = lambda arguments: GLib.Variant(
            "(a{sv})", (properties(UserInfo=self.user_info),))
        Gio.bus_watch_name_on_connection(
            self.connection, BROKER, Gio.BusNameWatcherFlags.NONE, self._appeared, self._vanished)
        GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGUSR1, self._begin_another)

    def _appeared(self, _connection: Gio.DBusConnection, _name: str, owner: str) -> None:
        self.broker = owner

    def _vanished(self, _connection: Gio.DBusConnection, _name: str) -> None:
        self.broker = ""

    def _begin_another(self) -> bool:
        self.served = ""
        return GLib.SOURCE_CONTINUE

    def _called(self, *call: Any) -> None:
        method, arguments, _invocation = call[-3:]
        tell("called", member=method, arguments=arguments.print_(True))

        def answer() -> bool:
            if Path(f"hold-{method}").exists():
                return GLib.SOURCE_CONTINUE
            super(StandingClient, self)._called(*call)
            return GLib.SOURCE_REMOVE

        if answer():
            GLib.timeout_add(20, answer)

    def stand(self) -> None:
        """Keeps the activity current until the end of the process."""
        while True:
            wait(lambda: self.broker not in ("", self.served), "a broker", float("inf"))
            self.served = self.broker
            try:
                self._open()
            except BusError as error:
                # It went away meanwhile. The next one is on its way.
                tell("refused", message=str(error))

    def _open(self) -> None:
        broker, former = self.served, self.activity
        self.count += 1
        self.user_info = {
            "page": GLib.Variant("u", self.count),
            "written by": GLib.Variant("(sv)", ("date", GLib.Variant("x", time.time_ns() // 1000))),
            "letter": GLib.Variant("s", f"{self.title} {os.getpid()}"),
        }
        self.register()
        self.activity = self.offer(self.title, UserInfo=self.user_info)
        tell("current", activity=self.activity.id, broker=broker,
             state=GLib.Variant("a{sv}", self.user_info).print_(True))
        if former:
            try:
                former.invalidate()
            except BusError:
                # It was another broker's.
                pass


def main() -> None:
    # All that it had to say is said already.
    GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGTERM, os._exit, 0)
    client = StandingClient(sys.argv[1])
    tell("connected")
    client.stand()


if __name__ == "__main__":
    main()
