# SPDX-License-Identifier: LGPL-2.1-or-later
"""A session of tmux goes on in a terminal of another machine, through a real sshd."""

from __future__ import annotations

import getpass
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import ssh
from buses import BUS, ROOT, wait
from clients import Client, Dock
from desktops import install_entry
from editors import bin_folder, install_terminal, started, type_into_terminal
from gi.repository import GLib
from support import PROGRAMS, Machine, refused
from terminal import Terminal
from test_command import done
from test_desktop_entries import have_bus_start
from vendor import own_id, team_of

pytestmark = pytest.mark.skipif(not shutil.which("tmux"), reason="there is no tmux: meson-helpers/install-packages test")
Machines = tuple[Machine, Machine]
SHELL, OBJECT = own_id("Shell"), "/org/example/Handoff/Shell"
KIND = "org.example.Handoff.UsingSession"
FAILED = "org.example.Handoff.Error.ApplicationFailed"
PATIENCE = 30
CUT = "\x1f"


def tmux(machine: Machine, *words: str) -> str:
    """Calls tmux as the user of a machine."""
    return subprocess.run(("tmux", *words), env=machine.environment, capture_output=True, text=True, check=False).stdout


@pytest.fixture
def sessions(machines: Machines) -> Iterator[Machines]:
    """Two machines on which the bus starts the adapter; on the first there is a server of tmux."""
    for machine in machines:
        machine.environment |= {"TERM": "xterm", "SHELL": "/bin/sh", "TMUX_TMPDIR": str(machine.folder)}
        machine.environment["PATH"] = f"{bin_folder(machine)}:{machine.environment['PATH']}"
        have_bus_start(machine, SHELL, started(machine, "shell"))
        install_entry(machine, SHELL)
    install_terminal(machines[1])
    tmux(machines[0], "-f", "/dev/null", "new-session", "-d", "-s", "work", "-x", "100", "-y", "30")
    yield machines
    tmux(machines[0], "kill-server")


def offer(machine: Machine, *options: str, session: str = "work") -> str:
    """Calls `handoff here` in a session, and returns what is on its screen then."""
    command = " ".join((f"{PROGRAMS}/handoff", "here", *(options or ("--session",)), "; echo ended $?"))
    tmux(machine, "send-keys", "-t", f"={session}:", command, "Enter")
    def shown() -> str:
        text = tmux(machine, "capture-pane", "-p", "-t", f"={session}:")
        return text if "\nended " in text else ""
    return wait(shown, "the command to end", PATIENCE)


def screen(machine: Machine) -> str:
    """What the terminal of a machine has shown."""
    file = machine.folder / "terminal.screen"
    return file.read_text(errors="replace").replace("\r\n", "\n") if file.exists() else ""


def real_ssh(desk: Machine, lap: Machine) -> None:
    """Has the ssh of a machine reach another by the name “desk”."""
    server = ssh.Server(desk, does_all=True, TMUX_TMPDIR=str(desk.folder))
    config = lap.folder / "ssh_config"
    config.write_text("\n".join([
        "Host desk", "HostName 127.0.0.1", f"Port {server.port}", f"User {getpass.getuser()}",
        f"IdentityFile {server.folder}/key", "IdentitiesOnly yes", "BatchMode yes", "StrictHostKeyChecking no",
        f"UserKnownHostsFile {server.folder}/known", "LogLevel ERROR"]) + "\n")
    write(lap, f'exec /usr/bin/ssh -F {config} "$@"')


def write(machine: Machine, script: str) -> Path:
    """Gives a machine its own ssh, and returns where that writes down what it was called with."""
    log = machine.folder / "ssh.called"
    program = bin_folder(machine) / "ssh"
    program.write_text(f'#!/bin/sh\nprintf "%s\\037" "$@" >>"{log}"\necho >>"{log}"\n{script}\n')
    program.chmod(0o755)
    return log


@pytest.mark.skipif(bool(ssh.missing()), reason=ssh.missing())
def test_session_goes_on(sessions: Machines) -> None:
    """`handoff here --session` in tmux offers the session; continuing opens a terminal that attaches to it by ssh, at the host that
    the user there has named, after they have seen the command and allowed it; the next time they are not asked. The session is the
    same on both screens."""
    desk, lap = sessions
    real_ssh(desk, lap)
    assert "can be continued" in offer(desk).replace("\n", " ")
    done(lap.run("handoff", "ssh", desk.name, "desk"))
    dock = Dock(lap)
    path = dock.offer("work")
    dock.continue_offer(path)
    assert dock.outcome(PATIENCE) == (SHELL, "", "")
    wait(lambda: "[y/N]" in screen(lap), "the question", PATIENCE)
    assert "“work”" in screen(lap) and "“desk”" in screen(lap) and "ssh -t -- desk \"tmux attach -t '=work'\"" in screen(lap)
    assert tmux(desk, "list-clients") == ""
    type_into_terminal(lap, "y\n")
    wait(lambda: tmux(desk, "list-clients"), "somebody to attach", PATIENCE)
    type_into_terminal(lap, "echo from-$((40+2))\n")
    wait(lambda: "from-42" in tmux(desk, "capture-pane", "-p", "-t", "=work:"), "what is typed there", PATIENCE)
    tmux(desk, "detach-client", "-s", "=work")
    wait(lambda: not tmux(desk, "list-clients"), "nobody to be attached")
    dock.continue_offer(path)
    wait(lambda: len(dock.finished()) == 2, "the second time", PATIENCE)
    wait(lambda: tmux(desk, "list-clients"), "somebody to attach again, unasked", PATIENCE)
    assert screen(lap).count("[y/N]") == 1
    # The shell of the session ends, and with it the offer.
    tmux(desk, "send-keys", "-t", "=work:", "exit", "Enter")
    dock.wait_until_gone(path)


def test_answer_that_is_no(sessions: Machines) -> None:
    """Whatever is answered but yes, nothing is run, and it is asked again the next time; so it is when the host is another."""
    desk, lap = sessions
    called = write(lap, "exit 0")
    offer(desk)
    done(lap.run("handoff", "ssh", desk.name, "one.example"))
    dock = Dock(lap)
    path = dock.offer("work")
    for number, answer in enumerate(("", "n", "what?", "no yes"), 1):
        dock.continue_offer(path)
        wait(lambda number=number: screen(lap).count("[y/N]") == number, "the question", PATIENCE)
        type_into_terminal(lap, f"{answer}\n")
        wait(lambda number=number: len(dock.finished()) == number, "the end")
    assert not called.exists()
    for number, host in enumerate(("one.example", "me@two.example", "one.example"), 5):
        done(lap.run("handoff", "ssh", desk.name, host))
        dock.continue_offer(path)
        wait(lambda number=number: screen(lap).count("[y/N]") == number, "the question", PATIENCE)
        type_into_terminal(lap, "yes\n")
        last = CUT.join(("-t", "--", host, "tmux attach -t '=work'", ""))
        wait(lambda last=last: called.exists() and called.read_text().splitlines()[-1] == last, "ssh to be called", PATIENCE)


def test_host_that_nobody_has_named(sessions: Machines) -> None:
    """Without a host nothing is opened, and the user is told how to name one; one that is forgotten is none."""
    desk, lap = sessions
    called = write(lap, "exit 0")
    offer(desk)
    dock = Dock(lap)
    for number in (1, 2):
        dock.continue_offer(dock.offer("work"))
        application, error, message = dock.outcome(PATIENCE, number)
        assert (application, error) == (SHELL, FAILED) and "handoff ssh" in message
        done(lap.run("handoff", "ssh", desk.name, "desk"))
        assert json.loads(done(lap.run("handoff", "ssh", "--json", desk.name)))["host"] == "desk"
        assert "not known" in done(lap.run("handoff", "ssh", desk.name, "--forget"))
    assert not called.exists() and not (lap.folder / "terminal.log").exists()


@pytest.mark.parametrize("name", ["", "-x", "a b", "a;touch x", "$(touch x)", "`touch x`", "a'b", "=work", "work:0", "work.1",
                                  "a\nb", "\u001b[2J", "é", "x" * 65, "../x", "#{l:x}", "a\0b"])
def test_hostile_name(sessions: Machines, name: str) -> None:
    """A session whose name a shell or tmux could take for something else is neither offered nor attached to, and no terminal
    is opened."""
    desk, lap = sessions
    called = write(lap, "exit 0")
    done(lap.run("handoff", "ssh", desk.name, "desk"))
    if "\0" not in name:
        session = desk.connect()
        session.call("/org/freedesktop/DBus", f"{BUS}.StartServiceByName", GLib.Variant("(su)", (SHELL, 0)), destination=BUS)
        with refused("InvalidArgs"):
            session.call(OBJECT, "org.example.Handoff.ShellAdapter.HereSession", GLib.Variant("(su)", (name, 1)), destination=SHELL)
    origin = Client(desk, "com.example.origin", (KIND,), options={"Team": GLib.Variant("s", team_of("Shell"))})
    origin.create(KIND, Title="Bad", UserInfo={
        "session": GLib.Variant("s", name.replace("\0", "")) if "\0" not in name else GLib.Variant("ay", name.encode()),
        "host": GLib.Variant("s", "evil.example")}).become_current()
    dock = Dock(lap)
    dock.continue_offer(dock.offer("Bad"))
    assert dock.outcome(PATIENCE)[:2] == (SHELL, FAILED)
    assert not called.exists() and not (lap.folder / "terminal.log").exists()


@pytest.mark.parametrize("host", ["", "-oProxyCommand=x", "a b", "a;b", "$(x)", "a@-b", "@b", "a@b@c", "a\nb", "x" * 256, "é"])
def test_hostile_host(machine: Machine, host: str) -> None:
    """A host that ssh or a shell could take for something else is refused, over D-Bus, and in the file left out."""
    device = "ab" * 32
    with refused("InvalidArgs"):
        machine.session.set(ROOT, "Preferences.Sessions", GLib.Variant("a{ss}", {device: host}))
    with refused("InvalidArgs"):
        machine.session.set(ROOT, "Preferences.Sessions", GLib.Variant("a{ss}", {"lap": "host"}))
    if host and "\n" not in host:
        file = Path(machine.environment["XDG_CONFIG_HOME"], "handoff/handoff.conf")
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"[Sessions]\n{device}={host}\n{'cd' * 32}=good.example\n")
        machine.kill("handoffd")
        machine.start_broker()
        assert machine.session.get(ROOT, "Preferences.Sessions") == {"cd" * 32: "good.example"}


def test_outside_of_tmux(sessions: Machines) -> None:
    """Outside of tmux, and in a server of its own socket, `handoff here --session` says what is wrong, and offers nothing."""
    desk, lap = sessions
    bash = Terminal(desk, "bash", "--norc")
    bash.type("handoff here --session\n")
    bash.until("not a session of tmux", PATIENCE)
    bash.type("exit\n")
    bash.end()
    bash.close()
    tmux(desk, "-L", "own", "-f", "/dev/null", "new-session", "-d", "-s", "work", f"{PROGRAMS}/handoff here --session >{desk.folder}/out 2>&1; sleep 100")
    wait(lambda: "socket of its own" in (desk.folder / "out").read_text() if (desk.folder / "out").exists() else "", "the reason")
    tmux(desk, "-L", "own", "kill-server")
    assert not Dock(lap).offers
