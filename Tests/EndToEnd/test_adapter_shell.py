# SPDX-License-Identifier: LGPL-2.1-or-later
"""The folder of a shell goes on in a terminal of another machine."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from buses import ROOT, let_pass, wait
from clients import Client, Dock
from desktops import install_entry
from editors import bin_folder, install_terminal, started
from gi.repository import GLib
from support import Machine, refused
from terminal import Terminal, shells_of
from test_desktop_entries import have_bus_start
from vendor import own_id, team_of

Machines = tuple[Machine, Machine]
SHELL = own_id("Shell")
OBJECT = "/org/example/Handoff/Shell"
PATIENCE = 30


@pytest.fixture
def shells(machines: Machines) -> tuple[Machine, Machine, Path]:
    """Two machines on which the bus starts the adapter, and a folder that is shared between them."""
    for machine in machines:
        machine.environment |= {"TERM": "xterm", "SHELL": "/bin/bash"}
        machine.environment["PATH"] = f"{bin_folder(machine)}:{machine.environment['PATH']}"
        have_bus_start(machine, SHELL, f"/usr/bin/env SHELL=/bin/bash {started(machine, 'shell').removeprefix('/usr/bin/env ')}")
        install_entry(machine, SHELL)
        folder = machine.folder / "home" / f"Shared of {machine.name}"
        (folder / "söme project").mkdir(parents=True)
        machine.session.set(ROOT, "Preferences.SharedFolders", GLib.Variant("a{ss}", {"Shared": str(folder)}))
        Path(machine.environment["HOME"], ".bashrc").write_text("PS1='ready> '\n")
    return *machines, machines[0].folder / "home" / f"Shared of {machines[0].name}" / "söme project"


def screen(machine: Machine) -> str:
    """What the terminal of a machine shows."""
    file = machine.folder / "terminal.screen"
    return file.read_text(errors="replace").replace("\r\n", "\n") if file.exists() else ""


def test_folder_goes_on_in_a_terminal(shells: tuple[Machine, Machine, Path]) -> None:
    """`handoff here` in a shell offers its folder; continuing opens a terminal in the same folder of the other machine, which
    shows the last commands as text and runs none of them. The offer ends with the shell."""
    desk, lap, folder = shells
    install_terminal(lap)
    bash = Terminal(desk, "bash", "--norc")
    bash.type(f"cd '{folder}'\n")
    bash.type("printf 'ls -l\\nprintf \"\\033[2J\" > ran; touch ran\\n' | handoff here --history\n")
    bash.until("can be continued on your other devices", PATIENCE)
    dock = Dock(lap)
    path = dock.offer(folder.name)
    dock.continue_offer(path)
    assert dock.outcome(PATIENCE) == (SHELL, "", "")
    wait(lambda: "ready> " in screen(lap), "the shell", PATIENCE)
    shown = screen(lap)
    assert "    ls -l\n" in shown and "touch ran\n" in shown and "“desk”" in shown
    there = lap.folder / "home" / f"Shared of {lap.name}" / folder.name
    assert not list(there.iterdir()) and not list(folder.iterdir())
    inside = [os.readlink(process / "cwd") for process in shells_of(lap)]
    assert str(there) in inside
    for word in (folder.name, "ls -l"):
        assert word not in (lap.folder / "terminal.log").read_text()
    bash.type("exit\n")
    bash.end()
    dock.wait_until_gone(path)
    for process in shells_of(lap):
        os.kill(int(process.name), signal.SIGKILL)
    bash.close()


def test_folder_is_offered_until_it_is_ended(shells: tuple[Machine, Machine, Path]) -> None:
    """`handoff here --end` ends the offer, and so does the same for another folder."""
    desk, lap, folder = shells
    bash = Terminal(desk, "bash", "--norc")
    bash.type(f"cd '{folder}'; handoff here\n")
    dock = Dock(lap)
    path = dock.offer(folder.name, PATIENCE)
    bash.type("cd ..; handoff here\n")
    dock.wait_until_gone(path)
    path = dock.offer(folder.parent.name)
    bash.type("handoff here --end\n")
    dock.wait_until_gone(path)
    bash.type("exit\n")
    bash.end()
    bash.close()


def test_folder_that_is_not_there(shells: tuple[Machine, Machine, Path]) -> None:
    """A folder that the other machine does not have is not made there: continuing says so, and no terminal opens."""
    desk, lap, _ = shells
    install_terminal(lap)
    alone = desk.folder / "home" / "alone"
    alone.mkdir()
    bash = Terminal(desk, "bash", "--norc")
    alone_path = str(alone)
    bash.type(f"cd '{alone_path}'; handoff here\n")
    dock = Dock(lap)
    path = dock.offer("alone", PATIENCE)
    alone.rmdir()
    dock.continue_offer(path)
    application, error, message = dock.outcome(PATIENCE)
    assert (application, error) == (SHELL, "org.example.Handoff.Error.ApplicationFailed")
    assert "not available on this device" in message
    assert not (lap.folder / "terminal.log").exists()
    bash.close()
    bash.end()


@pytest.mark.parametrize("folder, process, history, reason", [
    ("home", 0, 0, "absolute path"), ("/tmp\n", 0, 0, "absolute path"), ("/" + "x" * 5000, 0, 0, "absolute path"),
    ("/proc/self", 0, 0, "private"), ("/home/me/.ssh", 0, 0, "private"), ("/no/such/folder", 0, 0, "not a folder"),
    ("//proc/self", 0, 0, "absolute path"), ("/./proc", 0, 0, "absolute path"), ("/tmp/../dev/shm", 0, 0, "absolute path"),
    ("LINK", 0, 0, "private"), ("/tmp", 0, 0, "written by everybody"),
    ("/etc/passwd", 0, 0, "not a folder"), ("/usr", 4194304, 0, "no process"), ("/usr", 0, 21, "21 lines"),
])
def test_what_is_no_folder_is_refused(shells: tuple[Machine, Machine, Path], folder: str, process: int, history: int,
                                      reason: str) -> None:
    """What is no folder of this user, a private one, also behind a link, or one that everybody can write is refused with the
    reason, and so are a process that is not there and a history that is too long."""
    desk = shells[0]
    if folder == "LINK":
        link, secrets = desk.folder / "home" / "link", desk.folder / "home" / ".ssh"
        secrets.mkdir()
        link.symlink_to(secrets)
        folder = str(link)
    desk.connect().call("/org/freedesktop/DBus", "org.freedesktop.DBus.StartServiceByName",
                        GLib.Variant("(su)", (SHELL, 0)), destination="org.freedesktop.DBus")
    arguments = GLib.Variant("(suas)", (folder, process or os.getpid(), ["ls"] * history))
    with refused("InvalidArgs", containing=(reason,)):
        desk.session.call(OBJECT, "ShellAdapter.Here", arguments, destination=SHELL)


def test_folder_is_named_again_and_again(shells: tuple[Machine, Machine, Path]) -> None:
    """A shell that names its folders 500 times, in turn with another shell, takes no more descriptors than one that does so once,
    and the offer still ends with the shell."""
    desk = shells[0]
    session = desk.connect()
    session.call("/org/freedesktop/DBus", "org.freedesktop.DBus.StartServiceByName", GLib.Variant("(su)", (SHELL, 0)),
                 destination="org.freedesktop.DBus")
    process = session.call("/org/freedesktop/DBus", "org.freedesktop.DBus.GetConnectionUnixProcessID",
                           GLib.Variant("(s)", (SHELL,)), destination="org.freedesktop.DBus").unpack()[0]
    bash = Terminal(desk, "bash", "--norc")
    bash.type("echo shell=$$=\n")
    bash.until("shell=[0-9]+=", PATIENCE)
    ours = next(int(found.name) for found in shells_of(desk))

    def here(shell: int) -> None:
        session.call(OBJECT, "ShellAdapter.Here", GLib.Variant("(suas)", ("/usr", shell, [])), destination=SHELL)

    def descriptors() -> int:
        return len(list(Path(f"/proc/{process}/fd").iterdir()))

    here(ours)
    before = descriptors()
    for number in range(500):
        here(os.getpid() if number % 10 == 0 else ours)
    assert descriptors() <= before + 1
    dock = Dock(shells[1])
    path = dock.offer("usr")
    bash.type("exit\n")
    bash.end()
    dock.wait_until_gone(path)
    bash.close()


def errands(machine: Machine) -> list[Path]:
    """What waits for terminals of this machine to take it."""
    return list(Path(machine.environment["XDG_RUNTIME_DIR"], "handoff/errands").glob("*"))


def test_terminal_that_fails_leaves_nothing(shells: tuple[Machine, Machine, Path]) -> None:
    """What a terminal was to show is kept in no file when the terminal fails at once, nor after a program that could not take it
    back itself."""
    desk, lap, folder = shells
    terminal = bin_folder(lap) / "xdg-terminal-exec"
    terminal.write_text("#!/bin/sh\nexit 1\n")
    terminal.chmod(0o755)
    left = Path(lap.environment["XDG_RUNTIME_DIR"], "handoff/errands", "a" * 32)
    left.parent.mkdir(parents=True, exist_ok=True)
    left.write_text("old")
    os.utime(left, (0, 0))
    bash = Terminal(desk, "bash", "--norc")
    bash.type(f"cd '{folder}'; handoff here\n")
    dock = Dock(lap)
    dock.continue_offer(dock.offer(folder.name, PATIENCE))
    assert dock.outcome(PATIENCE)[:2] == (SHELL, "org.example.Handoff.Error.ApplicationFailed")
    wait(lambda: not errands(lap), "the errands to be gone")
    bash.type("exit\n")
    bash.end()
    bash.close()


@pytest.mark.long
def test_terminal_that_never_begins(shells: tuple[Machine, Machine, Path]) -> None:
    """The adapter is there as long as a terminal that hangs may still take what it is to show, takes that back then, and ends."""
    desk, lap, folder = shells
    terminal = bin_folder(lap) / "xdg-terminal-exec"
    terminal.write_text("#!/bin/sh\nexec sleep 100\n")
    terminal.chmod(0o755)
    bash = Terminal(desk, "bash", "--norc")
    bash.type(f"cd '{folder}'; handoff here\n")
    dock = Dock(lap)
    dock.continue_offer(dock.offer(folder.name, PATIENCE))
    assert dock.outcome(PATIENCE) == (SHELL, "", "")
    # Longer than the adapter is there without anything to do (ShellService.idle, 20 s).
    let_pass(22)
    assert lap.session.owner(SHELL) and errands(lap)
    wait(lambda: not errands(lap), "the errand to be gone", 40)
    wait(lambda: not lap.session.owner(SHELL), "the end of the adapter", 25)


@pytest.mark.parametrize("place", ["file:////proc/1", "file:///tmp/../dev/shm", "file:///proc/1", "file:///tmp", "LINK"])
def test_folder_that_nobody_should_be_in(shells: tuple[Machine, Machine, Path], place: str) -> None:
    """A device cannot have a terminal opened in a private folder or one that everybody can write, however it is spelled and
    whatever link leads there."""
    desk, lap, _ = shells
    install_terminal(lap)
    if place == "LINK":
        link, secrets = lap.folder / "home" / "link", lap.folder / "home" / ".ssh"
        secrets.mkdir()
        link.symlink_to(secrets)
        place = link.as_uri()
    kind = "org.example.Handoff.UsingShell"
    origin = Client(desk, "com.example.origin", (kind,), options={"Team": GLib.Variant("s", team_of("Shell"))})
    origin.create(kind, Title="Bad", UserInfo={
        "folder": GLib.Variant("(sv)", ("url", GLib.Variant("s", place)))}).become_current()
    dock = Dock(lap)
    dock.continue_offer(dock.offer("Bad"))
    application, error, message = dock.outcome(PATIENCE)
    assert (application, error) == (SHELL, "org.example.Handoff.Error.ApplicationFailed")
    assert "not available on this device" in message
    assert not (lap.folder / "terminal.log").exists()


def test_folder_that_a_shell_calls_in_a_roundabout_way(shells: tuple[Machine, Machine, Path]) -> None:
    """`handoff here` offers the folder also where the shell has an odd path for it, as after “cd //home”."""
    desk, lap, folder = shells
    bash = Terminal(desk, "bash", "--norc")
    bash.type(f"cd '/{folder}'; handoff here\n")
    Dock(lap).offer(folder.name, PATIENCE)
    bash.type("exit\n")
    bash.end()
    bash.close()
