# SPDX-License-Identifier: LGPL-2.1-or-later
"""Packages that are upgraded, and removed, while something is being continued: nothing is lost, and nothing is left."""

from __future__ import annotations

import contextlib
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bare_machines import Pair, inside, machines_on_a_cable, packages, pair, status  # noqa: F401
from bare_roots import USER
from booted import Booted
from buses import wait
from inside import Inside
from test_bare_sessions import wait_for_daemons

pytestmark = pytest.mark.long
# Sparse, so that it costs nothing at its origin, and takes long enough to be met on its way.
SIZE = 1 << 28
STATE = f"/home/{USER}/.local/state/handoff"
WITHIN = 5
# What runs on each machine: an application of each kind, which registers again with each new broker.
APPLICATIONS = """
def application(name):
    client = Client(here, f'com.example.{name}', types=(f'com.example.{name}.use',))
    client.follow_broker(lambda: restore(name))
    return client

def restore(name):
    activities[name] = applications[name].create(**values[name])
    if name == 'reader':
        activities[name].become_current()

values = {'talker': {'Title': 'Talk', 'SupportsContinuationStreams': True}, 'thinker': {'Title': 'Thought'},
          'reader': {'Title': 'Book', 'DocumentURL': 'file:///home/ada/Book.bin'}}
activities = {}
applications = {name: application(name) for name in values}
dock = Dock(here)
"""


@contextlib.contextmanager
def sessions_of(packages: list[Path], systemd: bool) -> Iterator[Pair]:  # noqa: F811
    """Two machines on which the user has logged in, and which are paired."""
    with machines_on_a_cable(packages, systemd) as machines:
        for machine in machines:
            machine.log_in()
        pair(*machines)
        yield machines


def newer(packages: list[Path], folder: Path) -> None:  # noqa: F811
    """Puts into a folder the same packages as the next revision."""
    for package in packages:
        if package.name.startswith("gnome-shell"):
            continue
        tree = folder / package.name
        subprocess.run(["dpkg-deb", "--raw-extract", str(package), str(tree)], check=True)
        control = tree / "DEBIAN" / "control"
        # The bounds of what the packages need of each other go along.
        control.write_text(re.sub(r"(\d\.\d\.\d)-1\b", r"\1-2", control.read_text()))
        subprocess.run(["dpkg-deb", "--root-owner-group", "--build", "-Znone", str(tree), f"{folder}/{package.name}.new"],
                       check=True, capture_output=True)
        subprocess.run(["rm", "-r", str(tree)], check=True)
        (folder / f"{package.name}.new").rename(folder / package.name)


def processes_of_ours(machine: Booted) -> list[str]:
    """What was installed and runs."""
    return [line for line in machine.processes() if re.match(r"\d+ /usr/(libexec|bin)/handoff", line)]


def signal_bridge(machine: Booted, name: str) -> None:
    machine.root("pkill", f"-{name}", "--full", "^/usr/libexec/handoff-bridge")


def begin_all(here: Inside, there: Inside, pauses: Booted) -> None:
    """Continues there three things at the same time: a stream that is open, an application that does not answer, and a
    document that is on its way when the bridge of one machine pauses."""
    for program in (here, there):
        program.do(APPLICATIONS)
    here.do(f"Path('/home/ada/Book.bin').touch(); os.truncate('/home/ada/Book.bin', {SIZE})")
    here.do("[restore(name) for name in ('talker', 'thinker')]; activities['talker'].become_current()")
    there.do("dock.continue_offer(dock.offer('Talk')); applications['talker'].wait_for('ContinueActivity')")
    there.do("talk = applications['talker'].calls[-1].arguments.get_child_value(1).unpack()['Continuation']\n"
             "applications['talker'].call(talk, 'Continuation.OpenStream')\n"
             "import socket; stream = socket.socket(fileno=applications['talker'].received.pop()); stream.sendall(b'x')")
    here.do("wait(lambda: applications['talker'].streams, 'the stream'); activities['thinker'].become_current()")
    there.do("applications['thinker'].hang('ContinueActivity'); dock.continue_offer(dock.offer('Thought'))\n"
             "applications['thinker'].wait_for('ContinueActivity')")
    here.do("restore('reader')")
    there.do("path = dock.offer('Book'); dock.continue_offer(path)")
    wait(lambda: documents(there.machine) > 0, "the document to be on its way")
    signal_bridge(pauses, "STOP")


def documents(machine: Booted, name: str = "*") -> int:
    """How many bytes the files take that have been received under this name, or any."""
    home = machine.folder / "upper" / "home" / USER
    size = 0
    for file in home.rglob(name):
        # It may have been removed, or got its name, meanwhile.
        with contextlib.suppress(FileNotFoundError):
            if file.is_file() and "Handoff" in file.parts:
                size += file.stat().st_size
    return size


def identity(machine: Booted) -> dict:
    """Who a machine is, whom it trusts, and whether it is switched on."""
    now = status(machine)
    return {"id": now["bridge"]["deviceId"], "enabled": now["broker"]["enabled"],
            "keys": machine.root("sh", "-ec", f"cd {STATE}/*; test -s trust; sha256sum identity.pem trust").stdout}


@pytest.mark.parametrize("systemd", [True, False], ids=["with systemd", "without systemd"])
@pytest.mark.parametrize("where", [0, 1], ids=["origin", "continuing side"])
def test_upgrade_during_continuations(packages: list[Path], where: int, systemd: bool) -> None:  # noqa: F811
    """An upgrade on either machine, in the middle of continuations: the daemons are those of the new package, with the same
    identity, trust and switch; streams break instead of hanging; no half document is there; and within five seconds all
    applications are registered and can be continued again."""
    with sessions_of(packages, systemd) as machines, inside(*machines) as (here, there):
        upgraded, other = machines[where], machines[1 - where]
        newer(packages, upgraded.given)
        begin_all(here, there, other)
        before, running = identity(upgraded), processes_of_ours(upgraded)
        upgraded.root("sh", "-c", "DEBIAN_FRONTEND=noninteractive apt-get --quiet install --yes /mnt/*.deb")
        signal_bridge(other, "CONT")
        # With a broker of its own the origin has made another activity of it.
        there.do("dock.follow()" if where else f"dock.wait_until_gone(path, {WITHIN})")
        there.do(f"path = dock.offer('Book', {WITHIN})")
        there.do(f"wait(lambda: 'com.example.reader' in dock.offers[path]['Handlers'], 'the reader', {WITHIN})")
        wait_for_daemons(upgraded)
        assert not set(running) & set(processes_of_ours(upgraded)), "of the old version nothing runs"
        assert identity(upgraded) == before
        # Whoever waits at an end of the stream learns that it is no more.
        assert there.ask("stream.settimeout(20) or __import__('streams').is_broken(stream)")
        assert documents(machines[1], "Book.bin") == 0
        there.do("wait(lambda: dock.offers[path]['State'] == 'available', 'the end of what failed')\n"
                 "dock.events.clear(); dock.continue_offer(path)\n"
                 "wait(lambda: ('com.example.reader', '', '') in dock.finished(), 'the outcome', 100)")
        assert documents(machines[1], "Book.bin") == SIZE


@pytest.mark.parametrize("systemd", [True, False], ids=["with systemd", "without systemd"])
def test_removal_during_continuations(packages: list[Path], systemd: bool) -> None:  # noqa: F811
    """Packages that are removed, and purged, in the middle of continuations leave nothing that runs, no half document, and the
    user's keys; the origin goes on offering, and whoever installs them again is who they were."""
    with sessions_of(packages, systemd) as (desk, lap):
        with inside(desk, lap) as (here, there):
            begin_all(here, there, desk)
            before = identity(lap)
            lap.root("sh", "-c", "apt-get --quiet remove --yes 'handoff*'")
            signal_bridge(desk, "CONT")
            assert processes_of_ours(lap) == []
            assert here.ask("activities['reader'].get('Current')")
            assert documents(lap) == 0, "nothing would ever remove a half document"
        lap.root("sh", "-c", "apt-get --quiet purge --yes 'handoff*'")
        lap.root("sh", "-c", f"test -s {STATE}/*/identity.pem")
        lap.log_out()
        lap.wait_until_empty()
        for package in packages:
            (lap.given / package.name).write_bytes(package.read_bytes())
        lap.root("sh", "-c", "rm -f /mnt/gnome-shell*; DEBIAN_FRONTEND=noninteractive apt-get --quiet install --yes /mnt/*.deb")
        lap.log_in()
        wait_for_daemons(lap)
        assert identity(lap) == before
        with inside(desk, lap) as (here, there):
            for program in (here, there):
                program.do(APPLICATIONS)
            here.do("restore('reader')")
            there.do("dock.offer('Book')")
        lap.run("handoff", "off")
        lap.root("sh", "-c", "DEBIAN_FRONTEND=noninteractive apt-get --quiet install --yes --reinstall /mnt/*.deb")
        wait_for_daemons(lap)
        assert identity(lap) == before | {"enabled": False}
