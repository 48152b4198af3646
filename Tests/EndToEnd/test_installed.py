# SPDX-License-Identifier: LGPL-2.1-or-later
"""What packagers get: a staging tree from which the bus starts both daemons."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from gi.repository import GLib
from buses import BRIDGE, BRIDGE_ROOT, BROKER, ROOT, wait
from support import PROGRAMS, SOURCE, Machine

CONFIGURATION = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path={bus}</listen>
  <servicedir>{services}</servicedir>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
  </policy>
</busconfig>
"""


class InstalledMachine(Machine):
    """A machine whose bus knows the service files of a staging tree, and on which nothing else was started."""

    def __init__(self, name: str, services: Path) -> None:
        self.services = services
        super().__init__(name)

    def start_bus(self) -> None:
        file = self.folder / "bus.conf"
        file.write_text(CONFIGURATION.format(bus=self.folder / "bus", services=self.services))
        self.start("dbus-daemon", f"--config-file={file}", "--nofork", "--nopidfile")
        self.wait_for_bus()


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A prefix as Meson has filled it, through a staging root."""
    if shutil.which("meson") is None:
        pytest.skip("Meson is not installed: install the Debian package meson")
    folder = tmp_path_factory.mktemp("installed")
    prefix, stage = folder / "usr", folder / "stage"
    commands = [
        ["meson", "setup", str(folder / "build"), str(SOURCE), f"--prefix={prefix}",
         f"-Dbinaries={PROGRAMS}"],
        ["meson", "install", "-C", str(folder / "build"), "--destdir", str(stage)],
    ]
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
        assert done.returncode == 0, f"{' '.join(command)} failed:\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
    # What a package manager does by unpacking the staging root.
    prefix.symlink_to(stage / prefix.relative_to("/"))
    return prefix


@pytest.fixture
def installed(prefix: Path, machine_list: list[Machine]) -> Iterator[Machine]:
    machine = InstalledMachine("desk", prefix / "share" / "dbus-1" / "services")
    machine_list.append(machine)
    # For the bridge that the bus starts: no port that others may use.
    file = machine.folder / "config_home" / "handoff" / "handoff.conf"
    file.write_text(file.read_text() + "[Network]\nPort=0\n")
    yield machine


def call_broker(machine: Machine) -> None:
    """Calls the broker as a client would that knows nothing of whether it runs."""
    done = machine.run("gdbus", "call", "--session", "--dest", BROKER, "--object-path", ROOT, "--method",
                       "org.freedesktop.DBus.Properties.Get", f"{BROKER}.Manager", "Version")
    assert done.stdout.strip() == "(<uint32 1>,)", done.stderr


def test_the_bus_starts_both_daemons_from_their_service_files(installed: Machine) -> None:
    """A first call starts the broker, and the broker has the bus start the bridge."""
    assert not installed.session.owner(BROKER)
    call_broker(installed)
    wait(lambda: installed.session.owner(BRIDGE), "the bridge, started by the broker")
    assert len(installed.session.get(BRIDGE_ROOT, "Bridge.DeviceId")) == 64


def test_the_installed_command_line_says_how_things_are(installed: Machine, prefix: Path) -> None:
    """`handoff status` works from where it is installed."""
    call_broker(installed)
    wait(lambda: installed.session.owner(BRIDGE), "the bridge")
    done = installed.run(str(prefix / "bin" / "handoff"), "status")
    assert done.returncode == 0, done.stderr


def test_status_waits_for_a_bridge_that_is_being_started(installed: Machine, prefix: Path) -> None:
    """`handoff status` does not say that there is no bridge while the broker has it started."""
    for _ in range(5):
        call_broker(installed)
        done = installed.run(str(prefix / "bin" / "handoff"), "status")
        assert done.returncode == 0, done.stdout
        assert "is not running" not in done.stdout
        for name in (BRIDGE, BROKER):
            process = installed.session.call("/org/freedesktop/DBus", "org.freedesktop.DBus.GetConnectionUnixProcessID",
                                             GLib.Variant("(s)", (name,)), destination="org.freedesktop.DBus").unpack()[0]
            os.kill(process, signal.SIGTERM)
            wait(lambda: not installed.session.owner(name), f"the end of {name}")


def test_the_autostart_entry_starts_the_broker(installed: Machine, prefix: Path) -> None:
    """What a session without systemd does with the autostart entry."""
    entry = prefix / "etc" / "xdg" / "autostart" / "org.example.Handoff.desktop"
    validated = subprocess.run(["desktop-file-validate", str(entry)], capture_output=True, text=True, check=False)
    assert validated.returncode == 0, validated.stdout
    command = next(line.removeprefix("Exec=") for line in entry.read_text().splitlines() if line.startswith("Exec="))
    assert installed.run("sh", "-c", command).returncode == 0
    wait(lambda: installed.session.owner(BROKER), "the broker")
