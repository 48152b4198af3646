# SPDX-License-Identifier: LGPL-2.1-or-later
"""A sandbox as Flatpak makes it: a root directory that says whose it is, and a filtering proxy for the bus within."""

from __future__ import annotations

import json
import select
import shutil
import subprocess
from pathlib import Path
from typing import Any

from buses import BUS, Session, wait
from support import Machine

# A root of its own, from what this machine has, with the file by which Flatpak tells who is in it.
ENTER = """
set -e
mount -t tmpfs tmpfs "$1"
for folder in usr lib lib32 lib64 bin sbin etc tmp proc dev run home root var; do
    [ -e "/$folder" ] || continue
    mkdir -p "$1/$folder"
    mount --rbind "/$folder" "$1/$folder"
done
printf '[Application]\\nname=%s\\n[Instance]\\ninstance-id=%s\\n' "$2" "$INSTANCE" >"$1/.flatpak-info"
root=$1
shift 2
exec chroot "$root" "$@"
"""


# The same, but with programs and what is named before "--": where that is, and where the application sees it.
LIVE = """
set -e
root=$1
application=$2
shift 2
mount -t tmpfs tmpfs "$root"
for folder in usr lib lib32 lib64 bin sbin; do
    [ -e "/$folder" ] || continue
    mkdir -p "$root/$folder"
    mount --rbind "/$folder" "$root/$folder"
done
while [ "$1" != -- ]; do
    mkdir -p "$root${2%/*}"
    if [ -d "$1" ]; then mkdir -p "$root$2"; else touch "$root$2"; fi
    mount --rbind "$1" "$root$2"
    shift 2
done
shift
printf '[Application]\\nname=%s\\n[Instance]\\ninstance-id=%s\\n' "$application" "$INSTANCE" >"$root/.flatpak-info"
exec chroot "$root" "$@"
"""

# The number by which Flatpak tells the sandboxes that run from each other.
INSTANCE = "1234567890"

# What Flatpak lets every application do on the session bus.
POLICY = ("--own={0}.*", "--own=org.mpris.MediaPlayer2.{0}.*", "--call=org.freedesktop.portal.*=*",
          "--broadcast=org.freedesktop.portal.*=@/org/freedesktop/portal/*")
# What the manifest of an application asks for that takes part.
PERMISSION = "--talk=org.example.Handoff"


def can_be_made(machine: Machine) -> str:
    """Why a sandbox cannot be made here; empty if it can."""
    for program in ("xdg-dbus-proxy", "unshare", "chroot"):
        if not shutil.which(program, path=f"{machine.environment['PATH']}:/usr/sbin:/sbin"):
            return f"there is no {program}"
    root = machine.folder / "trial"
    root.mkdir()
    trial = subprocess.run(command(root, "com.example.trial", "true"), capture_output=True, text=True,
                           env=environment(machine))
    return "" if trial.returncode == 0 else f"namespaces cannot be made: {trial.stderr.strip()}"


def command(root: Path, application_id: str, *program: str) -> list[str]:
    return ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", ENTER, "sh", str(root), application_id,
            *program]


def environment(machine: Machine) -> dict[str, str]:
    return machine.environment | {"PATH": f"{machine.environment['PATH']}:/usr/sbin:/sbin", "INSTANCE": INSTANCE}


class Inhabitant:
    """A program in the sandbox itself, which sees what it is given alone. The proxy sees all."""

    def __init__(self, machine: Machine, application_id: str, sees: dict[str, Path], *program: str) -> None:
        root = machine.folder / f"inside-{application_id}"
        root.mkdir()
        self._information = Path(machine.environment["XDG_RUNTIME_DIR"], ".flatpak", INSTANCE, "bwrapinfo.json")
        given = [str(path) for inside, outside in sees.items() for path in (outside, inside)]
        with open(machine.log_file("inhabitant"), "ab") as log:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "unshare", "--user", "--map-root-user", "--mount", "sh", "-c", LIVE,
                 "sh", str(root), application_id, *given, "--", *program],
                env=environment(machine), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        # The program comes last on its way in.
        name = Path(program[0]).name
        wait(lambda: Path(f"/proc/{self.process.pid}/comm").read_text() == f"{name}\n", "the sandbox")
        self.write_down(self.process.pid)

    def write_down(self, process: int) -> None:
        """Says which process is the first in the sandbox, as bubblewrap does."""
        self._information.parent.mkdir(parents=True, exist_ok=True)
        self._information.write_text(json.dumps({"child-pid": process, "mnt-namespace": 4026532}, indent=4))

    def forget(self) -> None:
        """Nothing says any more which process it is."""
        self._information.unlink()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


class Sandbox:
    """The proxy of one application, with what Flatpak lets everyone do, and with these rules. To the bus, who connects through
    it is the proxy."""

    def __init__(self, machine: Machine, application_id: str, *rules: str, takes_part: bool = True) -> None:
        self.sessions = machine.sessions
        given = [rule.format(application_id) for rule in (*POLICY, *(PERMISSION,) * takes_part)]
        root = machine.folder / f"root-{application_id}"
        root.mkdir()
        path = machine.folder / f"proxy-{application_id}"
        self.address = f"unix:path={path}"
        with open(machine.log_file("xdg-dbus-proxy"), "ab") as log:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL"] + command(
                    root, application_id, "xdg-dbus-proxy", machine.address, str(path), "--filter",
                    *given, *rules),
                env=environment(machine), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait(lambda: path.exists() and self._takes_connections(), "the proxy")

    def _takes_connections(self) -> bool:
        try:
            Session(self.address).close()
        except Exception:
            return False
        return True

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


class RawClient:
    """A program in a sandbox that has the socket of the bus itself, as one with `--socket=session-bus` has."""

    def __init__(self, machine: Machine, application_id: str) -> None:
        self.machine = machine
        root = machine.folder / f"raw-{application_id}"
        root.mkdir()
        # As text: the folder of the tests need not be in the sandbox.
        program = Path(__file__).with_name("raw_client.py").read_text()
        with open(machine.log_file("raw-client"), "ab") as log:
            self.process = subprocess.Popen(
                command(root, application_id, "/usr/bin/python3", "-c", program), env=environment(machine),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
        self._answer()

    def _answer(self) -> Any:
        """Waits for its answer; the loop keeps running in the meantime, because it may call this process."""
        assert self.process.stdout is not None
        wait(lambda: select.select([self.process.stdout], [], [], 0)[0], "an answer from the sandbox")
        line = self.process.stdout.readline()
        assert line, f"the program in the sandbox has ended:\n{self.machine.log('raw-client')}"
        return json.loads(line)

    def _do(self, **order: str) -> Any:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return self._answer()

    def call(self, destination: str, path: str, member: str, arguments: str = "") -> str:
        """Makes a call, and returns the name of the error without its family; empty if there is none."""
        answer = self._do(do="call", to=destination, path=path, member=member, arguments=arguments)
        return answer.rpartition(".")[2]

    def take_name(self, name: str, program: str) -> None:
        """Takes a bus name from a daemon, which ends."""
        assert not self.call(BUS, "/org/freedesktop/DBus", f"{BUS}.RequestName", f"('{name}', uint32 6)")
        process = self.machine.processes.pop(program)
        wait(lambda: process.poll() is not None, f"{program} to give way")

    @property
    def calls(self) -> list[str]:
        """What it has been called with so far."""
        return self._do(do="calls")

    def orphan(self) -> None:
        """Leaves its connection to a child and becomes a zombie, which this process does not wait for."""
        self._check_zombie(self._do(do="orphan"))

    def behead(self) -> None:
        """Leaves its connection to another of its threads, and ends its first one."""
        self._check_zombie(self._do(do="behead"))

    @staticmethod
    def _check_zombie(process: int) -> None:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        assert state == "Z", f"the process that connected is {state}"

    def reap(self) -> None:
        """Waits for the process that connected, of which nothing is left then."""
        self.process.wait()

    def close(self) -> None:
        """Ends its input, and with it whoever has the connection."""
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()
        self.process.wait()
