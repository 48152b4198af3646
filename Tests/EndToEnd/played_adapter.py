# SPDX-License-Identifier: LGPL-2.1-or-later
"""An adapter that the bus starts, and that writes down what happens to it; and the machine that has it.

    played_adapter.py NAME FILE [silent|ends]
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
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


class Played:
    """An adapter of a machine: its description, its bus name, and what it has written down."""

    def __init__(self, machine: Any, name: str = "media", how: str = "", **keys: str) -> None:
        from test_desktop_entries import have_bus_start
        self.bus_name = f"org.example.Handoff.{name.capitalize()}"
        self.file = machine.folder / f"{name}.played"
        have_bus_start(machine, self.bus_name,
                       f"/usr/bin/python3 {Path(__file__).resolve()} {self.bus_name} {self.file} {how}".strip())
        values = {"Name": name, "BusName": self.bus_name, "Applications": "com.example.player;com.example.other;",
                  "Names": "com.example.media.*;"} | keys
        folder = Path(machine.environment["XDG_DATA_HOME"]) / "handoff" / "adapters"
        folder.mkdir(parents=True, exist_ok=True)
        text = "[Adapter]\n" + "".join(f"{key}={value}\n" for key, value in values.items() if value)
        (folder / "new").write_text(text)
        self.description = (folder / "new").rename(folder / f"{name}.adapter")

    @property
    def lines(self) -> list[str]:
        return self.file.read_text().splitlines() if self.file.exists() else []

    @property
    def starts(self) -> int:
        """How often it was started."""
        return sum(line.startswith("start ") for line in self.lines)

    @property
    def fronts(self) -> list[str]:
        """What it was told since it was started last."""
        lines = self.lines
        last = max((index for index, line in enumerate(lines) if line.startswith("start ")), default=-1)
        return [line.removeprefix("front ") for line in lines[last + 1:]]

    def end(self) -> None:
        """Ends the one that was started last, as its last application does."""
        starts = [line for line in self.lines if line.startswith("start ")]
        os.kill(int(starts[-1].split()[1]), signal.SIGTERM)


if __name__ == "__main__":
    play(sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "")
