# SPDX-License-Identifier: LGPL-2.1-or-later
"""Two machines on one: handoff twins."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from buses import wait
from support import PROGRAMS
from terminal import Terminal


class Author:
    """Somebody who writes an application: an environment without any session, and a folder where twins are."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sessions: list = []
        (folder / "home").mkdir()
        self.environment = {"PATH": f"{PROGRAMS}:{os.environ['PATH']}", "LANG": "C.UTF-8", "HOME": str(folder / "home"),
                            "TMPDIR": str(folder / "t"), "SHELL": "/bin/bash", "TERM": "dumb"}
        (folder / "t").mkdir()

    @property
    def twins(self) -> list[Path]:
        return sorted((self.folder / "t").glob("*twins*"))

    @property
    def processes(self) -> list[int]:
        """All that has the folder in its environment or its command line."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                try:
                    text = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes()
                except OSError:
                    continue
                if str(self.folder).encode() in text and (entry / "stat").read_text().split(")")[-1].split()[0] != "Z":
                    found.append(int(entry.name))
        return found

    def run(self, *command: str, text: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, env=self.environment, input=text, capture_output=True, text=True, timeout=120,
                              check=False)

    def is_clean(self) -> None:
        """Nothing is left: no process, no folder."""
        wait(lambda: not self.processes, "the end of all processes", 60)
        assert not self.twins, self.twins


@pytest.fixture
def author(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Author]:
    author = Author(tmp_path_factory.mktemp("a"))
    yield author
    for process in author.processes:
        os.kill(process, signal.SIGKILL)


def test_two_machines_for_a_script(author: Author) -> None:
    """A shell on one machine, and one on the other from within: paired and connected, with names and folders of their own,
    what is published on one is continued on the other, also with new daemons, and afterwards nothing is left. The status is the
    shell's."""
    script = """
        handoff devices --json
        handoff publish --app-id org.example.X --type org.example.x --title Note --user-info n=1 >$HOME/published &
        handoff twins --restart || exit 1
        touch "$HANDOFF_TWINS/shared/both"
        handoff twins --join lap <<'END'
            handoff receive --app-id org.example.X --type org.example.x --once >$HOME/got 2>$HOME/log &
            until grep -q Waiting $HOME/log; do sleep 0.1; done
            until handoff continue; do sleep 0.1; done
            wait; ls "$HANDOFF_TWINS/shared" && echo "$HANDOFF_TWIN $XDG_CONFIG_HOME"
END
        exit 7"""
    result = author.run("handoff", "twins", text=script)
    assert result.returncode == 7, result.stderr
    devices = json.loads(result.stdout.splitlines()[0])
    assert [device["deviceName"] for device in devices] == ["lap"] and devices[0]["connected"], devices
    got = json.loads((author.folder / "home" / "got").read_text())
    assert got["title"] == "Note" and got["userInfo"] == {"n": "1"}
    assert "/lap/config" in result.stdout.splitlines()[-1] and str(author.folder) in result.stdout
    assert "desk" in result.stderr and "--join" in result.stderr
    author.is_clean()


def test_command_on_both(author: Author) -> None:
    """A command runs on both, with its arguments as they are; the status is that of the one that has failed."""
    result = author.run("handoff", "twins", "--", "sh", "-c", 'echo "$HANDOFF_TWIN $1 $2"; [ "$HANDOFF_TWIN" = desk ] || exit 3',
                        "sh", "--", "a  b")
    assert result.returncode == 3, result.stderr
    assert sorted(result.stdout.splitlines()) == ["desk -- a  b", "lap -- a  b"]
    author.is_clean()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_killed(author: Author, number: int) -> None:
    """However the command ends, even if it is killed, all that runs on the two machines ends, also what ignores that, and their
    folder goes."""
    line = "trap '' TERM HUP INT; echo up >>$HOME/up; setsid sleep 1000 & while :; do sleep 1000; done"
    process = subprocess.Popen(["env", "--default-signal=INT,HUP", "handoff", "twins", "--", "sh", "-c", line],
                               env=author.environment, stdin=subprocess.DEVNULL, start_new_session=True)
    up = author.folder / "home" / "up"
    wait(lambda: up.exists() and up.read_text() == "up\nup\n", "the command on both", 60)
    process.send_signal(number)
    wait(lambda: process.poll() is not None, "the end of the command", 60)
    wait(lambda: not author.twins, "the folder to go", 60)
    author.is_clean()


def test_terminal_with_the_name_in_the_prompt(author: Author) -> None:
    """In a terminal, the prompt of the shell has the name of the machine; closing the window ends all."""
    terminal = Terminal(author, "handoff", "twins")
    terminal.until(r"\(desk\) ", 60)
    terminal.type("echo on-$HANDOFF_TWIN\n")
    terminal.until("on-desk")
    other = Terminal(author, "handoff", "twins", "--join", "lap")
    other.until(r"\(lap\) ", 60)
    terminal.close()
    wait(lambda: terminal.process.poll() is not None and other.process.poll() is not None, "the end of both shells", 60)
    author.is_clean()


def test_two_pairs_at_once(author: Author) -> None:
    """Two twins at the same time know nothing of each other; to join, one says which."""
    shells = [subprocess.Popen(["handoff", "twins"], env=author.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True) for _ in range(2)]
    for shell in shells:
        shell.stdin.write("handoff devices --json; echo $HANDOFF_TWINS\n")
        shell.stdin.flush()
    said = [(shell.stdout.readline(), shell.stdout.readline().strip()) for shell in shells]
    assert said[0][1] != said[1][1] and all(len(json.loads(devices)) == 1 for devices, _ in said), said
    result = author.run("handoff", "twins", "--join", "lap", text="")
    assert result.returncode == 2 and all(f"{folder}/lap" in result.stderr for _, folder in said), result.stderr
    result = author.run("handoff", "twins", "--join", f"{said[1][1]}/lap", text="echo $XDG_STATE_HOME; exit 4")
    assert (result.returncode, result.stdout.strip()) == (4, f"{said[1][1]}/lap/state"), result.stderr
    for shell in shells:
        shell.communicate(timeout=60)
        assert shell.returncode == 0
    author.is_clean()


def test_left_over_by_who_was_killed(author: Author) -> None:
    """When all that could have tidied up was killed at once, the next twins do."""
    shell = subprocess.Popen(["handoff", "twins"], env=author.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    shell.stdin.write("echo up\n")
    shell.stdin.flush()
    assert shell.stdout.readline() == "up\n"
    keeper = next(process for process in author.processes
                  if b"twins-keeper" in Path(f"/proc/{process}/cmdline").read_bytes())
    os.kill(keeper, signal.SIGSTOP)
    shell.kill()
    shell.wait()
    os.kill(keeper, signal.SIGKILL)
    assert author.twins
    assert author.run("handoff", "twins", text="exit 0").returncode == 0
    author.is_clean()


def test_twins_of_which_nothing_can_be_told(author: Author) -> None:
    """Twins that run are left alone also where it cannot be seen whether somebody keeps them."""
    shell = subprocess.Popen(["handoff", "twins"], env=author.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
    shell.stdin.write("echo $HANDOFF_TWINS\n")
    shell.stdin.flush()
    folder = Path(shell.stdout.readline().strip())
    (folder / "lock").rename(folder / "moved")
    (folder / "lock").symlink_to("moved")
    assert author.run("handoff", "twins", text="exit 3").returncode == 3
    shell.stdin.write("handoff devices --json\n")
    shell.stdin.flush()
    assert json.loads(shell.stdout.readline())[0]["deviceName"] == "lap"
    shell.communicate(timeout=60)
    author.is_clean()


def test_what_cannot_be(author: Author) -> None:
    """A wrong machine, twins that are not there, a command without “--” or that does not exist, and folders of others are told."""
    foreign = author.folder / "foreign"
    foreign.mkdir()
    foreign.chmod(0o755)
    for arguments, status, text in (
            (["--join", "nobody"], 2, "desk and lap"), (["--join", "lap"], 1, "There are no twins"),
            (["--join", f"{foreign}/lap"], 1, "There are no twins in"), (["ls"], 2, "handoff twins -- ls"),
            (["--", "no-such-program"], 1, "no program")):
        result = author.run("handoff", "twins", *arguments)
        assert (result.returncode, text in result.stderr) == (status, True), result.stderr
    author.environment["PATH"] = str(PROGRAMS)
    result = author.run("/usr/bin/env", "handoff", "twins", text="true")
    assert result.returncode == 1 and "dbus-daemon" in result.stderr, result.stderr
    author.is_clean()


def test_odd_folder_for_temporary_files(author: Author) -> None:
    """A TMPDIR whose name could mean something to a shell or a line is not used, and nothing that stands there is touched."""
    for name in ("private\nx", "Jörg", "a b", "$(touch ran)"):
        folder = author.folder / name
        folder.mkdir()
        before = author.folder / name.partition("\n")[0]
        before.mkdir(mode=0o700, exist_ok=True)
        (before / "file").write_text("precious")
        author.environment["TMPDIR"] = str(folder)
        result = author.run("handoff", "twins", "--", "sh", "-c", "echo $HANDOFF_TWINS")
        assert result.returncode == 0, result.stderr
        (made,) = set(result.stdout.split())
        assert made.startswith("/tmp/handoff-twins-") and not Path(made).exists()
        assert (before / "file").read_text() == "precious"
    author.is_clean()


def test_files_of_the_users_shell(author: Author) -> None:
    """What the user's start-up file says of folders and buses does not lead out of the machine."""
    (author.folder / "home" / ".bashrc").write_text("export XDG_CONFIG_HOME=/nowhere DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere\n")
    terminal = Terminal(author, "handoff", "twins")
    terminal.until(r"\(desk\) ", 60)
    terminal.type("echo in''side-$XDG_CONFIG_HOME-$DBUS_SESSION_BUS_ADDRESS-e''nd\n")
    terminal.until("inside-/.*/handoff-twins-.*-unix:path=/.*/handoff-twins-.*-end", 60)
    terminal.type("exit\n")
    wait(lambda: terminal.process.poll() is not None, "the end of the shell", 60)
    terminal.close()
    author.is_clean()


def test_join_by_another_name(author: Author) -> None:
    """What was joined by a path with detours ends with the others."""
    shell = subprocess.Popen(["handoff", "twins"], env=author.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
    shell.stdin.write("echo $HANDOFF_TWINS\n")
    shell.stdin.flush()
    folder = Path(shell.stdout.readline().strip())
    joined = subprocess.Popen(["handoff", "twins", "--join", f"./{folder.name}/lap", "--", "sleep", "600"], cwd=folder.parent,
                              env=author.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait(lambda: any(b"600" in Path(f"/proc/{process}/cmdline").read_bytes() for process in author.processes
                     if process != joined.pid), "the command", 60)
    shell.communicate(timeout=60)
    joined.wait(60)
    author.is_clean()
