# SPDX-License-Identifier: LGPL-2.1-or-later
"""A sandbox as Flatpak makes it: a root directory that says whose it is, and a filtering proxy for the bus within."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from buses import Session, wait
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
printf '[Application]\\nname=%s\\n' "$2" >"$1/.flatpak-info"
root=$1
shift 2
exec chroot "$root" "$@"
"""


def can_be_made(machine: Machine) -> str:
    """Why there can be no sandbox here; empty if there can."""
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
    return machine.environment | {"PATH": f"{machine.environment['PATH']}:/usr/sbin:/sbin"}


class Sandbox:
    """The proxy of one application. To the bus, who connects through it is the proxy."""

    def __init__(self, machine: Machine, application_id: str, *rules: str) -> None:
        self.sessions = machine.sessions
        root = machine.folder / f"root-{application_id}"
        root.mkdir()
        path = machine.folder / f"proxy-{application_id}"
        self.address = f"unix:path={path}"
        with open(machine.log_file("xdg-dbus-proxy"), "ab") as log:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL"] + command(
                    root, application_id, "xdg-dbus-proxy", machine.address, str(path), "--filter",
                    "--talk=org.example.Handoff", "--own=" + application_id, *rules),
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
