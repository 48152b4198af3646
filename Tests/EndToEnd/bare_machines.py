# SPDX-License-Identifier: LGPL-2.1-or-later
"""What tests of installed packages begin with: packages, and machines on which they are installed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

import bare_roots
import booted
from booted import PATIENCE, Booted
from buses import wait
from inside import Inside
from namespaces import Cable, ip
from support import SOURCE

Pair = tuple[Booted, Booted]
BUILDER = SOURCE / "meson-helpers" / "package"
# A release build on a machine that does other things too.
BUILD_PATIENCE = 5400


def built_packages() -> list[Path]:
    """The packages of a clean clone of this tree as it was last committed, built unless they were before; those of the folder
    $HANDOFF_PACKAGES if it is set."""
    if folder := os.environ.get("HANDOFF_PACKAGES"):
        packages = _in(Path(folder))
        assert packages, f"$HANDOFF_PACKAGES names {folder}, where there are no packages"
        return packages
    git = ["git", "-C", str(SOURCE)]
    commit = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True)
    if commit.returncode != 0 or not BUILDER.exists() or not shutil.which("swift"):
        pytest.skip("packages are built from a clone of the repository, with Swift; or name their folder in $HANDOFF_PACKAGES")
    place = bare_roots.FOLDER / f"packages-{commit.stdout.strip()[:12]}"
    with bare_roots.locked("packages"):
        if not (place / "complete").exists():
            for old in bare_roots.FOLDER.glob("packages-*"):
                shutil.rmtree(old)
            with tempfile.TemporaryDirectory() as folder:
                _run("git", "clone", "--quiet", str(SOURCE), f"{folder}/handoff")
                _run(f"{folder}/handoff/meson-helpers/package", "--output", str(place))
            (place / "complete").touch()
    return _in(place)


def _in(folder: Path) -> list[Path]:
    """The packages in a folder, without those for debuggers."""
    return sorted(path for path in folder.glob("*.deb") if "-dbgsym_" not in path.name)


def _run(*command: str) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=BUILD_PATIENCE)
    assert done.returncode == 0, f"{' '.join(command)} failed:\n{done.stdout[-6000:]}"


@pytest.fixture(scope="module")
def packages() -> list[Path]:
    """All Debian packages."""
    if reason := bare_roots.missing():
        pytest.skip(reason)
    return built_packages()


@contextmanager
def machines_on_a_cable(packages: list[Path], systemd: bool = True) -> Iterator[Pair]:
    """Two machines with all packages, connected by a cable."""
    if systemd and not booted.control_group():
        pytest.skip("control groups of version 2 can't be made here, without which systemd does not start")
    # GNOME Shell is a desktop of its own, of more than a gigabyte.
    lowers = bare_roots.installed([package for package in packages if not package.name.startswith("gnome-shell")])
    cable = Cable()
    if cable.missing:
        pytest.skip(f"there can be no network namespaces: {cable.missing}")
    with ExitStack() as stack:
        stack.callback(cable.remove)
        machines = []
        for name, host, address in zip(("desk", "lap"), cable.hosts, cable.addresses):
            # Without it nothing is multicast.
            assert not ip("-n", host, "route", "add", "default", "dev", "cable")
            machine = Booted(name, lowers, host, systemd)
            stack.callback(machine.remove)
            machine.address = address
            machines.append(machine)
        yield machines[0], machines[1]


@pytest.fixture
def machines(packages: list[Path], request: pytest.FixtureRequest) -> Iterator[Pair]:
    """Two such machines, booted with systemd, on which nobody has logged in yet."""
    with machines_on_a_cable(packages) as pair:
        request.node.booted = pair
        yield pair


@contextmanager
def inside(*machines: Booted) -> Iterator[list[Inside]]:
    """A program of the user of each machine, which does what it is told."""
    programs: list[Inside] = []
    try:
        for machine in machines:
            programs.append(Inside(machine))
        yield programs
    finally:
        for program in programs:
            program.close()


def status(machine: Booted) -> dict:
    """What `handoff status` says to programs."""
    done = machine.run("handoff", "status", "--json", check=False)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


class Typed:
    """A command of a machine's user, who types what is asked for."""

    def __init__(self, machine: Booted, *command: str) -> None:
        self._log = tempfile.TemporaryFile("w+")
        line = machine.command(*command, user=bare_roots.USER, environment=machine.environment)
        self.process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *line], stdin=subprocess.PIPE, stdout=self._log,
                                        stderr=self._log, text=True)

    @property
    def text(self) -> str:
        return os.pread(self._log.fileno(), 1 << 20, 0).decode(errors="replace")

    def until(self, pattern: str) -> str:
        """Waits until this was printed, and returns its group."""
        def found() -> re.Match[str] | None:
            assert self.process.poll() is None or re.search(pattern, self.text), self.text
            return re.search(pattern, self.text)

        return wait(found, f"“{pattern}” in {self.text}", PATIENCE)[1]

    def type(self, text: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(text)
        self.process.stdin.flush()


def pair(one: Booted, other: Booted) -> None:
    """Pairs two machines as their user does by the command line, each finding the other by Avahi."""
    there = Typed(one, "handoff", "pair")
    there.until(r"HOST:(\d+)")
    # Without a locale it is printed in ASCII.
    wait(lambda: f'"{one.name}"' in other.run("handoff", "devices").stdout.replace("“", '"').replace("”", '"'),
         f"{other.name} to find {one.name}", PATIENCE)
    here = Typed(other, "handoff", "pair", one.name)
    code = here.until(r"(\d{3} \d{3})")
    assert there.until(r"(\d{3} \d{3})") == code
    for command in (there, here):
        command.type("yes\n")
    for command in (there, here):
        wait(lambda: command.process.poll() is not None, "the end of pairing")
        assert command.process.returncode == 0, command.text


