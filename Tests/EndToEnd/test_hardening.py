# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the system is told of the programs: units that may do little, profiles that parse, services for firewalls; and what is
within the programs of a release."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from support import PROGRAMS, SOURCE
from vendor import filled

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


def written(template: Path, folder: Path) -> Path:
    """The file that Meson makes of a template."""
    file = folder / template.name.removesuffix(".in")
    file.write_text(filled(template, libexecdir="/usr/libexec", bindir="/usr/bin"))
    return file


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name.removesuffix(".in"))
def test_exposure(unit: Path, tmp_path: Path) -> None:
    """A unit is no more exposed than it was when its limits were set."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd is not installed: install the Debian package systemd")
    file = written(unit, tmp_path)
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
    file = written(profile, tmp_path)
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


def said(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


@pytest.fixture(scope="module")
def released() -> list[Path]:
    """The programs of a release."""
    programs = [file for file in sorted(PROGRAMS.iterdir()) if file.is_file() and not file.is_symlink()]
    assert PROGRAMS / "handoffd" in programs
    if "libswiftCore.so" in said("readelf", "-d", PROGRAMS / "handoffd"):
        pytest.skip("these programs are for debugging: meson-helpers/build makes those of a release")
    return programs


@pytest.mark.all
def test_programs_are_hard_to_misuse(released: list[Path]) -> None:
    """Programs of a release are anywhere in memory, nothing by which they call functions stays writable, their stacks are not
    executed, and what is in C and has room for others' bytes on its stack notices when it writes past that."""
    for program in released:
        about = said("readelf", "--wide", "--file-header", "--program-headers", "--dynamic", program)
        for pattern in (r"Type: +DYN \(Position-Independent Executable", r"GNU_RELRO", r"FLAGS_1.* NOW\b.* PIE\b",
                        r"GNU_STACK .* RW +0"):
            assert re.search(pattern, about), (program, pattern)
    for function in ("handoff_send", "handoff_receive"):
        assert "__stack_chk_fail" in said("objdump", f"--disassemble={function}", PROGRAMS / "handoffd"), function


@pytest.mark.all
def test_debuggers_find_names_and_lines(released: list[Path], tmp_path: Path) -> None:
    """What packagers take out of a program of a release for debuggers is found by a number that stays in it, and tells names and
    lines of functions, whatever folder it was built in."""
    for program in released:
        assert re.search(r"Build ID: [0-9a-f]{40}", said("readelf", "--notes", program)), program
    debug = tmp_path / "handoffd.debug"
    said("objcopy", "--only-keep-debug", PROGRAMS / "handoffd", debug)
    address = re.search(r"^([0-9a-f]+) [tT] (\$s8MainLoop\S+F)$", said("nm", debug), re.MULTILINE)
    assert address
    name, line = said("addr2line", "--functions", f"--exe={debug}", address[1]).split("\n")[:2]
    assert name == address[2] and re.fullmatch(r"\./Sources/\S+\.swift:\d+( .*)?", line)
