# SPDX-License-Identifier: LGPL-2.1-or-later
"""What all of Handoff costs while nothing happens but a film that plays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from agents import start_desk
from gi.repository import GLib
from buses import BUS, let_pass, wait
from editors import started
from fake_viewers import FakeOkular
from offices import text
from phones import Phone, PlayedPhone
from players import RealPlayer, end_players, install_adapter, missing, silence, start_adapter, tone
from support import SANITIZED, Machine, private_memory
from test_adapter_browser_host import host
from test_adapter_editors_attacked import Plugin
from test_desktop_entries import have_bus_start
from test_notices import switches
from vendor import own_id

ADAPTERS = ("Documents", "Media", "Phone", "Shell")


def ask_bus(machine: Machine, member: str, arguments: GLib.Variant) -> Any:
    return machine.session.call("/org/freedesktop/DBus", f"{BUS}.{member}", arguments, destination=BUS).unpack()[0]


@pytest.mark.long
def test_a_minute_of_film_wakes_nobody(machine_list: list[Machine]) -> None:
    """While mpv plays for a minute, with all adapters, the agent and both daemons running, all of them together wake at most
    twice."""
    if reason := missing("mpv"):
        pytest.skip(reason)
    desk = start_desk(machine_list, "desk")
    desk.environment["XDG_DATA_DIRS"] += ":/usr/share"
    silence(desk)
    install_adapter(desk)
    for name in ("documents", "phone", "shell"):
        have_bus_start(desk, f"org.example.Handoff.{name.capitalize()}", started(desk, name))
    film = tone(Path(desk.environment["HOME"], "film.wav"), 120)
    desk.start("mpv", str(film))
    try:
        RealPlayer(desk, "mpv").wait_for("Playing")
        start_adapter(desk)
        FakeOkular(desk, str(film))
        assert not desk.run("handoff", "here").returncode
        ask_bus(desk, "StartServiceByName", GLib.Variant("(su)", (own_id("Documents"), 0)))
        PlayedPhone(desk, Phone("anna", "Anna"))
        ask_bus(desk, "StartServiceByName", GLib.Variant("(su)", (own_id("Phone"), 0)))
        plugin, office = Plugin(desk), Plugin(desk, "office")
        plugin.front(film.with_suffix(".txt"))
        office.say(event="front", application="libreoffice-writer", file=str(text(film.with_suffix(".odt"))), page=1)
        with host(desk) as browser:
            browser.show("A page", focus=False)
            pids = {name: ask_bus(desk, "GetConnectionUnixProcessID", GLib.Variant("(s)", (f"org.example.Handoff.{name}",)))
                    for name in ADAPTERS}
            pids |= {program: desk.processes[program].pid for program in ("handoffd", "handoff-bridge", "handoff-agent")}
            pids |= {"editor": plugin.process.pid, "office": office.process.pid, "browser": browser.process.pid}
            # What follows from the start is done by then.
            let_pass(5)
            before = {name: switches(process) for name, process in pids.items()}
            # The minute of which the docstring speaks.
            let_pass(60)
            woken = {name: switches(process) - before[name] for name, process in pids.items()}
            assert sum(woken.values()) <= 2, woken
            for name in ("Phone", "office"):
                assert SANITIZED or private_memory(pids[name]) < 2 * private_memory(pids["editor"]), name
            for one in (plugin, office):
                one.close()
    finally:
        desk.processes.pop("mpv", None)
        end_players(desk)
    wait(lambda: not desk.session.owner(own_id("Media")), "the adapter to end with its player")
