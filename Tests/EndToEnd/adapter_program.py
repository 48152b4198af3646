# SPDX-License-Identifier: LGPL-2.1-or-later
"""An adapter that the bus starts, and that writes down what happens to it.

    adapter_program.py NAME FILE [silent|ends]
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from gi.repository import Gio, GLib

PATH = "/org/example/Handoff/Adapter"
INTERFACE = """<node><interface name="org.example.Handoff.Adapter">
  <method name="FrontChanged"><arg type="a{sv}" direction="in"/></method></interface></node>"""


def play(name: str, file: str, how: str) -> None:
    """What the program does: with “silent” it answers nothing, with “ends” it ends when it has its name."""
    def write(line: str) -> None:
        with open(file, "a", encoding="utf-8") as journal:
            journal.write(line + "\n")

    def called(_connection: Any, sender: str, _path: str, _interface: str, _method: str, arguments: GLib.Variant,
               invocation: Gio.DBusMethodInvocation) -> None:
        write(f"front {arguments.unpack()[0]}")
        if how != "silent":
            invocation.return_value(None)

    loop = GLib.MainLoop()
    write(f"start {os.getpid()}")
    bus = Gio.bus_get_sync(Gio.BusType.SESSION)
    bus.register_object(PATH, Gio.DBusNodeInfo.new_for_xml(INTERFACE).interfaces[0], called, None, None)
    Gio.bus_own_name_on_connection(bus, name, 0, lambda *_: how == "ends" and loop.quit(), None)
    GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGTERM, loop.quit)
    loop.run()


if __name__ == "__main__":
    play(sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "")
