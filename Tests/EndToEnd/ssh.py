# SPDX-License-Identifier: LGPL-2.1-or-later
"""A server of OpenSSH that lets one key in, which can do nothing but `handoff carry --accept`."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
from pathlib import Path

from buses import wait
from host import Host
from support import PROGRAMS, Machine, has_all_rights, own_port


def missing() -> str:
    """Why there can be no server here; empty if there can."""
    if not shutil.which("sshd", path="/usr/sbin:/usr/bin"):
        return "openssh-server is not installed"
    return "" if os.getuid() != 0 or has_all_rights() else "its user may not become less than root"


def inside(host: Host | None) -> list[str]:
    """What comes before a command so that it runs on a host of a network."""
    return ["ip", "netns", "exec", host.namespace] if host else []


class Server:
    """A server on a machine. Its sessions know of the session of that machine's user by XDG_RUNTIME_DIR alone, and of
    `variables`; with `does_all` the key may do anything."""

    def __init__(self, machine: Machine, address: str = "127.0.0.1", host: Host | None = None, does_all: bool = False,
                 **variables: str) -> None:
        self.host = host
        self.folder = machine.folder / "ssh"
        self.folder.mkdir(mode=0o700)
        self.machine, self.address, self.port = machine, address, own_port(address)
        for name in ("host", "key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / name], check=True)
        public = (self.folder / "key.pub").read_text()
        limits = "" if does_all else f'restrict,command="{PROGRAMS}/handoff carry --accept" '
        (self.folder / "authorized_keys").write_text(limits + public)
        bus = Path(machine.environment["XDG_RUNTIME_DIR"]) / "bus"
        bus.symlink_to(machine.folder / "bus")
        known = {name: value for name, value in machine.environment.items() if name.startswith("XDG_")} | variables
        (self.folder / "config").write_text("\n".join([
            f"ListenAddress {address}", f"Port {self.port}", f"HostKey {self.folder}/host", "PidFile none", "UsePAM no",
            f"AuthorizedKeysFile {self.folder}/authorized_keys", "StrictModes no", "PasswordAuthentication no",
            f"PermitRootLogin {'prohibit-password' if does_all else 'forced-commands-only'}", "SetEnv " + " ".join(f'{name}="{value}"' for name, value in known.items()),
        ]) + "\n")
        if os.getuid() == 0:
            # Where the part of it that has no rights is locked in.
            os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
        self.start()

    def start(self) -> None:
        command = [shutil.which("sshd", path="/usr/sbin:/usr/bin"), "-D", "-e", "-f", str(self.folder / "config")]
        command = [*inside(self.host), *command]
        process = self.machine.start(*command)
        wait(lambda: self.answers() or process.poll() is not None, "sshd to answer")
        assert process.poll() is None, self.machine.log(command[0])

    def another_key(self, command: str) -> list[str]:
        """What connects to it with a key that can do nothing but this."""
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / "other"], check=True)
        with open(self.folder / "authorized_keys", "a", encoding="ascii") as file:
            file.write(f'restrict,command="{command}" {(self.folder / "other.pub").read_text()}')
        return [word.replace(str(self.folder / "key"), str(self.folder / "other")) for word in self.command]

    def answers(self) -> bool:
        def connect() -> socket.socket:
            return socket.create_connection((self.address, self.port), 1)

        try:
            with self.host.inside(connect) if self.host else connect() as connection:
                return connection.recv(3) == b"SSH"
        except OSError:
            return False

    @property
    def command(self) -> list[str]:
        """What connects to it with that key."""
        return ["ssh", "-F", "none", "-T", "-q", "-i", str(self.folder / "key"), "-o", "IdentitiesOnly=yes",
                "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=no", "-o", f"UserKnownHostsFile={self.folder}/known",
                "-p", str(self.port), f"{getpass.getuser()}@{self.address}"]
