# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the Debian packages do to the sessions that there are when they are installed, upgraded and removed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from buses import BRIDGE, BROKER, wait
from notifications import AGENT
from support import SOURCE, Machine, has_all_rights
from test_installed import InstalledMachine, install
from user_manager import UserManager
from vendor import ADD_ON, own_id

UNITS = {BROKER: "handoffd.service", BRIDGE: "handoff-bridge.service", AGENT: "handoff-agent.service"}
# The adapter of terminals is of the same package, and runs only while it is needed.
IDLE = "handoff-shell.service"
PROGRAMS = {BROKER: "handoffd", BRIDGE: "handoff-bridge", AGENT: "handoff-agent"}
# Where the sessions of this machine are.
RUNTIME_FOLDERS = "/run/user"
UPGRADE = ("postinst", "configure", "0.0.1-1")


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A prefix of these tests alone, which exchange programs in it."""
    if not has_all_rights():
        pytest.skip("packages are installed by root")
    return install(tmp_path_factory.mktemp("packaged"))[0]


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory, prefix: Path) -> Path:
    """The parts of maintainer scripts that this project adds, for a prefix, and with a policy and users of their own."""
    folder = tmp_path_factory.mktemp("scripts")
    shutil.copytree(SOURCE / "debian", folder / "debian")
    subprocess.run(["debian/maintainer-scripts"], cwd=folder, check=True, timeout=30)
    for script in (folder / "debian").glob("*.debhelper"):
        programs = str((prefix / "libexec").resolve())
        text = script.read_text().replace("/usr/libexec", programs)
        # Not all tests run them in namespaces: whoever is logged in here is to notice nothing.
        text = text.replace("/usr/sbin/policy-rc.d", str(folder / "policy")).replace(RUNTIME_FOLDERS, str(folder / "users"))
        script.write_text("set -e\n" + text)
    return folder / "debian"


def script(scripts: Path, name: str, *arguments: str, package: str = "handoff") -> list[str]:
    return ["sh", str(scripts / f"{package}.{name}.debhelper"), *arguments]


@pytest.fixture
def manager(prefix: Path, scripts: Path) -> Iterator[UserManager]:
    """The systemd of a user, where packages look for those of users who are logged in."""
    manager = UserManager(prefix)
    try:
        if manager.missing:
            pytest.skip(manager.missing)
        folder = str(scripts.parent / "users" / str(os.geteuid()))
        manager.run("mkdir", "-p", folder)
        manager.run("mount", "--bind", str(manager.bus.parent), folder)
        yield manager
    finally:
        manager.end()


def processes(manager: UserManager) -> dict[str, int]:
    """The process of each unit that runs."""
    return {unit: manager.property(unit, "Service", "MainPID") for unit in UNITS.values() if manager.state(unit) == "active"}


def start_session(manager: UserManager) -> dict[str, int]:
    manager.start("desktop-session.target")
    for name in UNITS:
        wait(lambda: manager.session.owner(name), f"{name} on the bus; {manager.log}")
    wait(lambda: len(processes(manager)) == len(UNITS), "all units to be active")
    return processes(manager)


def test_no_session_of_this_machine_is_reached(scripts: Path) -> None:
    """The scripts that are tested here know none of the places where the sessions of this machine are found."""
    texts = {script.name: script.read_text() for script in scripts.glob("*.debhelper")}
    assert any("systemd/private" in text for text in texts.values())
    assert not [name for name, text in texts.items() if RUNTIME_FOLDERS in text or "/usr/sbin/policy-rc.d" in text]


def test_an_upgrade_restarts_what_runs(manager: UserManager, scripts: Path) -> None:
    """An upgrade restarts all that runs in the sessions of users, and starts nothing else there."""
    former = start_session(manager)
    manager.run(*script(scripts, *UPGRADE))
    now = processes(manager)
    assert now.keys() == former.keys()
    assert not set(now.values()) & set(former.values()), "each is another process"
    assert manager.state(IDLE) in ("", "inactive")
    for name in UNITS:
        wait(lambda: manager.session.owner(name), f"{name} on the bus again")


def test_an_upgrade_leaves_the_folder_of_a_terminal(manager: UserManager, scripts: Path) -> None:
    """What offers the folder of a terminal goes on through an upgrade, which would lose it, and ends with the package."""
    start_session(manager)
    manager.start(IDLE)
    former = wait(lambda: manager.property(IDLE, "Service", "MainPID"), "the adapter of terminals")
    manager.run(*script(scripts, *UPGRADE))
    assert manager.property(IDLE, "Service", "MainPID") == former
    manager.run(*script(scripts, "prerm", "remove"))
    assert manager.state(IDLE) in ("", "inactive")


def test_a_first_installation_waits_for_the_next_session(manager: UserManager, scripts: Path) -> None:
    """What is installed for the first time restarts nothing, and an upgrade starts nothing where there is no session."""
    for arguments in (("configure", ""), ("configure",), ("configure", "0.0.1-1")):
        manager.run(*script(scripts, "postinst", *arguments))
        assert not processes(manager)
    former = start_session(manager)
    manager.run(*script(scripts, "postinst", "configure", ""))
    assert processes(manager) == former


@pytest.mark.parametrize("name", ["prerm", "postrm"])
def test_removal_ends_what_runs(manager: UserManager, scripts: Path, name: str) -> None:
    """Removing the package ends all that runs in the sessions of users; an upgrade does not at that point."""
    former = start_session(manager)
    manager.run(*script(scripts, name, "upgrade", "0.2.0-1"))
    assert processes(manager) == former
    manager.run(*script(scripts, name, "remove"))
    assert not processes(manager)
    assert not any(manager.session.owner(name) for name in UNITS)


def test_policy_of_the_machine_is_kept(manager: UserManager, scripts: Path) -> None:
    """Where packages may not touch what runs, as policy-rc.d says, nothing is restarted or ended."""
    former = start_session(manager)
    policy = scripts.parent / "policy"
    policy.write_text("#!/bin/sh\nexit 101\n")
    policy.chmod(0o755)
    try:
        for arguments in (UPGRADE, ("prerm", "remove")):
            manager.run(*script(scripts, *arguments))
            assert processes(manager) == former
    finally:
        policy.unlink()


class WithoutSystemd(InstalledMachine):
    """A session in which the bus itself starts what it is asked for."""

    def process(self, name: str) -> int:
        """The process that owns a name; 0 if there is none."""
        done = self.run("busctl", "--user", "--json=short", "call", "org.freedesktop.DBus", "/org/freedesktop/DBus",
                        "org.freedesktop.DBus", "GetConnectionUnixProcessID", "s", name)
        return int(done.stdout.rpartition("[")[2].partition("]")[0]) if done.returncode == 0 else 0

    def ask_for(self, name: str) -> int:
        done = self.run("busctl", "--user", "call", "org.freedesktop.DBus", "/org/freedesktop/DBus",
                        "org.freedesktop.DBus", "StartServiceByName", "su", name, "0")
        assert done.returncode == 0, done.stderr
        return self.process(name)

    @contextmanager
    def browser_host(self, prefix: Path) -> Iterator[subprocess.Popen[bytes]]:
        """What a browser has started for its add-on."""
        host = subprocess.Popen([prefix / "libexec" / "handoff-browser", ADD_ON], stdin=subprocess.PIPE,
                                stdout=subprocess.DEVNULL, env=self.environment)
        try:
            yield host
        finally:
            host.kill()
            host.wait(10)


@pytest.fixture
def session(prefix: Path, machine_list: list[Machine]) -> WithoutSystemd:
    machine = WithoutSystemd("desk", prefix / "share" / "dbus-1" / "services")
    machine_list.append(machine)
    file = machine.folder / "config_home" / "handoff" / "handoff.conf"
    file.write_text(file.read_text() + "[Network]\nPort=0\n")
    return machine


def exchange(prefix: Path) -> None:
    """Puts new files where the programs are, as unpacking a package does."""
    for program in (prefix / "libexec").iterdir():
        if not program.is_symlink():
            new = program.with_suffix(".dpkg-new")
            shutil.copy2(program, new)
            new.replace(program)


def test_an_upgrade_without_systemd(session: WithoutSystemd, prefix: Path, scripts: Path) -> None:
    """Without systemd an upgrade has the bus start the new programs in place of the old ones that it had started, and
    leaves alone what is new already, and what a browser has started."""
    former = {name: session.ask_for(name) for name in PROGRAMS}
    assert all(former.values())
    subprocess.run(script(scripts, *UPGRADE), check=True, timeout=60)
    assert {name: session.process(name) for name in PROGRAMS} == former
    with session.browser_host(prefix) as host:
        exchange(prefix)
        subprocess.run(script(scripts, *UPGRADE), check=True, timeout=60)
        assert host.poll() is None
    for name, program in PROGRAMS.items():
        process = wait(lambda: session.process(name), f"{name} to be there again")
        assert process != former[name]
        assert os.readlink(f"/proc/{process}/exe") == str((prefix / "libexec" / program).resolve())


@pytest.mark.long
def test_what_does_not_end_holds_nothing_up(session: WithoutSystemd, prefix: Path, scripts: Path) -> None:
    """A user's program that does not end when it should keeps neither the package from being upgraded nor others from being
    renewed."""
    former = {name: session.ask_for(name) for name in PROGRAMS}
    exchange(prefix)
    os.kill(former[AGENT], signal.SIGSTOP)
    try:
        subprocess.run(script(scripts, *UPGRADE), check=True, timeout=60)
        for name in (BROKER, BRIDGE):
            assert wait(lambda: session.process(name), f"{name} to be there again") != former[name]
    finally:
        os.kill(former[AGENT], signal.SIGKILL)


def test_removal_without_systemd(session: WithoutSystemd, scripts: Path) -> None:
    """Without systemd removing the package ends what runs, too, and what an upgrade has left."""
    former = {name: session.ask_for(name) for name in PROGRAMS}
    subprocess.run(script(scripts, "prerm", "remove"), check=True, timeout=60)
    for name, process in former.items():
        wait(lambda: not os.path.exists(f"/proc/{process}"), f"the end of {name}")


def test_removal_of_an_adapter(session: WithoutSystemd, prefix: Path, scripts: Path) -> None:
    """Removing the package of an adapter ends that adapter alone, whoever has started it."""
    broker = session.ask_for(BROKER)
    media = session.ask_for(own_id("Media"))
    documents = session.ask_for(own_id("Documents"))
    assert media and documents
    with session.browser_host(prefix) as browser:
        subprocess.run(script(scripts, "prerm", "remove", package="handoff-media"), check=True, timeout=60)
        wait(lambda: not os.path.exists(f"/proc/{media}"), "the end of the adapter for media players")
        assert browser.poll() is None
        subprocess.run(script(scripts, "prerm", "remove", package="handoff-browsers"), check=True, timeout=60)
        browser.wait(30)
        assert os.path.exists(f"/proc/{documents}") and session.process(BROKER) == broker


@pytest.mark.parametrize(("argument", "is_said"), [("purge", True), ("remove", False), ("upgrade", False)])
def test_what_stays(argument: str, is_said: bool) -> None:
    """Who purges the package is told which folders of users stay, and who removes it is not"""
    said = subprocess.run(["sh", str(SOURCE / "debian" / "handoff.postrm"), argument], capture_output=True, text=True,
                          check=True, timeout=10).stdout
    for folder in ("~/.config/handoff", "~/.local/state/handoff", "~/.cache/handoff"):
        assert (folder in said) == is_said, said
