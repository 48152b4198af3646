# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the system is told of the programs: units that may do little, profiles that parse, services for firewalls."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from support import SOURCE

UNITS = sorted((SOURCE / "data" / "systemd" / "user").glob("*.service.in"))
PROFILES = sorted((SOURCE / "data" / "apparmor").glob("*.in"))
# What “systemd-analyze security” says of each, in tenths, as of systemd 252; less is better, more is not accepted.
EXPOSURE = {"handoffd.service": 64, "handoff-bridge.service": 64, "handoff-carry.service": 64}
OTHERS = 61
# What needs a mount namespace, which brings a user namespace along, or hides processes: then nobody could be looked at.
HIDING = ("PrivateUsers", "PrivateTmp", "PrivateDevices", "PrivateMounts", "PrivateIPC", "ProtectSystem", "ProtectHome",
          "ProtectProc", "ProcSubset", "ProtectKernelTunables", "ProtectKernelModules", "ProtectKernelLogs",
          "ProtectControlGroups", "ReadOnlyPaths", "ReadWritePaths", "InaccessiblePaths", "TemporaryFileSystem",
          "BindPaths", "BindReadOnlyPaths", "RootDirectory", "RootImage", "DynamicUser", "CapabilityBoundingSet")


def filled(template: Path, folder: Path) -> Path:
    """The file that Meson makes of a template."""
    file = folder / template.name.removesuffix(".in")
    file.write_text(template.read_text().replace("@libexecdir@", "/usr/libexec").replace("@bindir@", "/usr/bin"))
    return file


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name.removesuffix(".in"))
def test_exposure(unit: Path, tmp_path: Path) -> None:
    """A unit is no more exposed than it was when its limits were set."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd is not installed: install the Debian package systemd")
    file = filled(unit, tmp_path)
    done = subprocess.run(["systemd-analyze", "security", "--user", "--offline=true", "--no-pager", file],
                          env=os.environ | {"XDG_RUNTIME_DIR": str(tmp_path)}, capture_output=True, text=True, check=False)
    found = re.search(r"exposure level for \S+: (\d+)\.(\d)", done.stdout)
    assert found, done
    assert int(found[1]) * 10 + int(found[2]) <= EXPOSURE.get(file.name, OTHERS)


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name.removesuffix(".in"))
def test_nothing_hides_callers(unit: Path) -> None:
    """No unit has what would hide from it which of its callers are sandboxed."""
    keys = {line.partition("=")[0] for line in unit.read_text().splitlines() if "=" in line and line[0] != "#"}
    assert "NoNewPrivileges" in keys and not keys & set(HIDING)


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name.removesuffix(".in"))
def test_profile(profile: Path, tmp_path: Path) -> None:
    """AppArmor understands a profile, which denies nothing."""
    parser = shutil.which("apparmor_parser", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if parser is None:
        pytest.skip("AppArmor is not installed: install the Debian package apparmor")
    file = filled(profile, tmp_path)
    done = subprocess.run([parser, "--skip-kernel-load", "--skip-cache", file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.search(r"flags=\((attach_disconnected,)?complain\)", file.read_text())


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name.removesuffix(".in"))
def test_profile_that_is_left(profile: Path) -> None:
    """A profile that programs leave for another says that they cannot under the units, and so is not to be enforced."""
    text = profile.read_text()
    programs = {profile.name.removesuffix(".in"), *re.findall(r"handoff-\w+", text.partition(" flags=")[0])}
    units = [text for text in map(Path.read_text, UNITS)
             if any(re.search(f"^ExecStart=.*/{program}( |$)", text, re.MULTILINE) for program in programs)]
    leaves = re.search(r"^\s+[^#\n]*\s[PpCcUu]+i?x\b", text, re.MULTILINE) is not None
    has_no_new_privileges = any("NoNewPrivileges=yes" in unit for unit in units)
    assert ("not meant to be enforced" in text) == (leaves and has_no_new_privileges)
    assert not leaves or "complain) {" in text


def test_profile_of_each_program() -> None:
    """Each program that meets what others have sent has a profile."""
    assert {profile.name.removesuffix(".in") for profile in PROFILES} == {
        "handoffd", "handoff-bridge", "handoff-agent", "handoff-associations", "handoff-adapter"}


def test_firewalls_know_the_ports() -> None:
    """Both firewalls are told the ports from which the bridge takes one."""
    swift = (SOURCE / "Sources" / "HandoffBridge" / "Accepting" / "Listener.swift").read_text()
    first, last = (number.replace("_", "") for number in re.search(r"ClosedRange<UInt16> = (\S+)\.\.\.(\S+)", swift).groups())
    service = ElementTree.parse(SOURCE / "data" / "firewalld" / "handoff.xml").getroot()
    assert [(port.get("port"), port.get("protocol")) for port in service.iter("port")] == [(f"{first}-{last}", "tcp")]
    assert [include.get("service") for include in service.iter("include")] == ["mdns"]
    assert f"\nports={first}:{last}/tcp|5353/udp\n" in (SOURCE / "data" / "ufw" / "handoff").read_text()
