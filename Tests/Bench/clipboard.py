#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What it costs to paste from another device, and to be ready for that.

Run with a number of samples, it says "clipboard" and: how many times as long pasting 1 KB takes as continuing an activity with as much
state, and both times in milliseconds; the same of 30 MB and of a document of as much; and how many KiB of private memory the agent
takes more with the clipboard of X11 than without, and how often it wakes up in ten seconds. HANDOFF_BINARIES has the programs.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "EndToEnd"))

# ruff: noqa: E402
from gi.repository import GLib
from agents import start_desk
from buses import ROOT, let_pass, wait
from clients import Client, Dock
from clipboards import X11Desktop
from played_clipboard import PlayedClipboard
from support import Machine, memory, pair

SMALL, LARGE = 1000, 30_000_000
# A device fetches twenty times in ten seconds.
BURST, INTERVAL = 18, 10.2
PNG = b"\x89PNG\r\n\x1a\n"


def machine(name: str) -> Machine:
    made = Machine(name)
    made.start_broker()
    made.start_bridge()
    return made


def live(address: str, size: int, document: str) -> None:
    """Is the programs of the origin: what has a clipboard, and what has an activity."""
    place = SimpleNamespace(address=address, sessions=[])
    clipboard = PlayedClipboard(place)
    clipboard.contents = {"image/png": PNG + bytes(size - len(PNG))} if document else {"text/plain": b"x" * size}
    values = {"DocumentURL": GLib.filename_to_uri(document)} if document else {
        "UserInfo": {"text": GLib.Variant("s", "x" * size)}}
    Client(place).offer("A letter", **values)
    os.write(1, b".")
    GLib.MainLoop().run()


def compare(desk: Machine, lap: Machine, size: int, document: str, samples: int) -> tuple[float, float, float]:
    """How long pasting and continuing take, and the ratio: the medians."""
    command = [sys.executable, __file__, "--origin", desk.address, str(size), document]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as origin:
        assert origin.stdout and origin.stdout.read(1) == b"."
        here, _target = PlayedClipboard(lap), Client(lap)
        dock = Dock(lap)
        path = dock.offer("A letter")
        paste = GLib.Variant("(s)", (desk.device_id,))
        rows = []
        for sample in range(samples):
            if sample % BURST == 0:
                let_pass(INTERVAL)
            begin = time.monotonic()
            lap.session.call(ROOT, "Clipboard.Paste", paste)
            pasted = time.monotonic() - begin
            begin = time.monotonic()
            dock.continue_offer(path)
            wait(lambda sample=sample: len(dock.finished()) > sample, "the end of the continuation")
            rows.append((pasted * 1000, (time.monotonic() - begin) * 1000))
        assert len(here.written) == samples and not any(error for _application, error, _message in dock.finished())
        origin.kill()
    pasted, continued = (statistics.median(column) for column in zip(*rows))
    return pasted, continued, pasted / continued


def switches(one: Machine) -> int:
    """How often the agent has waited so far."""
    status = Path(f"/proc/{one.processes['handoff-agent'].pid}/status").read_text(encoding="ascii")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("voluntary_ctxt_switches")))


def agent() -> tuple[float, int]:
    """How much memory the clipboard takes, and how often it wakes the agent."""
    made: list[Machine] = []
    figures: dict[str, tuple[int, int]] = {}
    for mode in ("off", "follow"):
        one = start_desk(made, f"clip-{mode}", agent=False)
        with X11Desktop(one) as desktop:
            one.environment |= desktop.environment
            one.session.set(ROOT, "Preferences.Clipboard", GLib.Variant("s", mode))
            one.start_agent()
            if mode != "off":
                wait(lambda one=one: one.session.get(ROOT, "Clipboard.Desktop"), "the clipboard")
            let_pass(3)
            before = switches(one)
            let_pass(10)
            figures[mode] = memory(one, "handoff-agent"), switches(one) - before
            one.stop()
        one.remove()
    return (figures["follow"][0] - figures["off"][0]) / 1024, figures["follow"][1]


def main(samples: int) -> None:
    desk, lap = machine("clip-desk"), machine("clip-lap")
    pair(desk, lap)
    small = compare(desk, lap, SMALL, "", samples)
    with tempfile.NamedTemporaryFile(suffix=".png") as file:
        file.write(PNG + bytes(LARGE - len(PNG)))
        file.flush()
        large = compare(desk, lap, LARGE, file.name, max(3, samples // 3))
    for made in (desk, lap):
        made.stop()
        made.remove()
    kibibytes, wakes = agent()
    figures = [f"{ratio:.2f} {pasted:.2f} {continued:.2f}" for pasted, continued, ratio in (small, large)]
    print(f"clipboard {' '.join(figures)} {kibibytes:.0f} {wakes}")


if __name__ == "__main__":
    if sys.argv[1] == "--origin":
        live(sys.argv[2], int(sys.argv[3]), sys.argv[4])
    else:
        main(int(sys.argv[1]))
