# SPDX-License-Identifier: LGPL-2.1-or-later
"""Installed packages of ours in the sessions of a Debian of which nothing else is known."""

from __future__ import annotations

from pathlib import Path

import pytest

import bare_roots
from bare_machines import Pair, inside, machines, machines_on_a_cable, packages  # noqa: F401
from booted import PATIENCE, Booted
from buses import wait
from vendor import own_id

pytestmark = pytest.mark.long
# Each of them once in a session; the adapters are started by the agent for what there is.
DAEMONS = {"handoffd": "org.example.Handoff", "handoff-bridge": "org.example.Handoff.Bridge",
           "handoff-agent": "org.example.Handoff.Agent"}


def wait_for_daemons(machine: Booted) -> None:
    """Waits until all daemons own their names, and says that each runs once."""
    def owned() -> bool:
        names = machine.run("gdbus", "call", "--session", "--dest", "org.freedesktop.DBus", "--object-path", "/", "--method",
                            "org.freedesktop.DBus.ListNames").stdout
        return all(f"'{name}'" in names for name in DAEMONS.values())

    wait(owned, f"the daemons of {machine.name}; {machine.processes()}", PATIENCE)
    assert machine.run("handoff", "status").returncode == 0
    for program in DAEMONS:
        running = machine.running(f"/usr/libexec/{program}")
        assert len(running) == 1, running


def test_session_with_systemd(machines: Pair) -> None:  # noqa: F811
    """After `apt install` whoever logs in has each daemon once, as a unit that nobody has enabled by hand; when they log out
    nothing of theirs is left."""
    desk = machines[0]
    assert desk.processes() == []
    for _ in range(2):
        desk.log_in()
        wait_for_daemons(desk)
        for program in DAEMONS:
            assert desk.run("systemctl", "--user", "is-active", f"{program}.service").stdout.strip() == "active"
        started = desk.run("systemctl", "--user", "list-units", "--all", "--plain", "--no-legend", "app-*").stdout
        assert "org.example.Handoff" not in started and "handoff\\x2dagent" not in started, "these entries are for others"
        desk.log_out()
        desk.wait_until_empty()


def test_session_without_systemd(packages: list[Path]) -> None:  # noqa: F811
    """Where there is no systemd the entries for autostart start each daemon once; when the user logs out nothing is left."""
    with machines_on_a_cable(packages, systemd=False) as (desk, _lap):
        for _ in range(2):
            desk.log_in()
            wait_for_daemons(desk)
            desk.log_out()
            desk.wait_until_empty()


SETTINGS = """
import re
from settings import *
from test_settings import code
window = Settings.started(here, here.screen, PROGRAM, APPLICATION_ID)
window.wait_for('label', 'Continue Where You Left Off')
window.press('Pair a Device…')
"""


def test_paired_by_the_windows(machines: Pair) -> None:  # noqa: F811
    """Two installed machines are paired by their windows alone, one of which shows the other that it has found."""
    for machine in machines:
        machine.log_in()
        machine.launch(own_id("Settings"))
    with inside(*machines) as (here, there):
        for program in (here, there):
            program.do(SETTINGS)
        # The other one goes to the number by itself: nobody else asks.
        there.do("window.button('Pair…', 'desk').press()")
        assert here.ask("code(window)") == there.ask("code(window)")
        for program in (here, there):
            program.do("window.press('They Match')")
        for program in (here, there):
            program.do("window.wait_for('label', 'The Devices Are Paired')")
    for machine, other in (machines, machines[::-1]):
        assert other.name in machine.run("handoff", "devices").stdout


def test_smallest_debian(packages: list[Path], tmp_path: Path) -> None:  # noqa: F811
    """In the smallest Debian 12, without a locale, `apt install` of our packages brings along all that they need to run, and
    purging them leaves nothing of them."""
    given = tmp_path / "given"
    given.mkdir()
    for package in packages:
        if package.name.split("_")[0] in ("handoff", "handoff-gtk"):
            (given / package.name).write_bytes(package.read_bytes())
    said = bare_roots.change(bare_roots.SOURCES + """
        apt -q install --yes /mnt/handoff_*.deb
        ls /usr/sbin/avahi-daemon
        for program in /usr/bin/handoff /usr/libexec/handoff*; do
            [ ! -L "$program" ] || continue
            ldd "$program"
        done
        for program in /usr/bin/handoff /usr/libexec/handoffd /usr/libexec/handoff-bridge /usr/libexec/handoff-agent; do
            "$program" --version
        done
        apt -q install --yes --no-install-recommends /mnt/handoff-gtk_*.deb
        for program in /usr/bin/handoff-settings /usr/bin/handoff-contacts; do
            ldd "$program"
        done
        apt-get -q purge --yes 'handoff*'
        find / -xdev -iname '*handoff*' -not -path '/proc/*' -not -path '/mnt/*' -not -path '/var/log/*' -printf 'left: %p\\n'
        """, bare_roots.bare(), tmp_path, given)
    assert "not found" not in said and "left:" not in said, said[-4000:]
    assert said.count("handoff-agent 0.1.0") == 1
