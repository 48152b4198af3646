#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Stands for `flatpak run`: played_flatpak.py run [OPTION…] APPLICATION [ARGUMENT…], of what is in the user's installation.

It runs the application with its files at /app, its own folder of the user's, the bus behind a proxy with what its metadata
ask for, and its documents of the portal. Its runtime is what this machine has.
"""

from __future__ import annotations

import configparser
import os
import sys
import tempfile
from pathlib import Path

from buses import Session, wait
from sandbox import Inhabitant, Sandbox

HOURS = 36_000

# The link is where Flatpak has it, so that paths of the portal are the same inside.
START = 'mkdir -p "$XDG_RUNTIME_DIR"; ln -s /run/flatpak/doc "$XDG_RUNTIME_DIR/doc"; exec "$@"'


class Host:
    """The machine on which it is called."""

    def __init__(self) -> None:
        self.environment = dict(os.environ)
        self.runtime = Path(self.environment["XDG_RUNTIME_DIR"])
        self.address = self.environment.get("DBUS_SESSION_BUS_ADDRESS") or f"unix:path={self.runtime}/bus"
        self.folder = Path(tempfile.mkdtemp(dir=self.runtime))
        self.sessions: list = []

    def log_file(self, program: str) -> Path:
        # Beside those of the other programs.
        return Path(self.environment["HOME"]).parent / f"flatpak-{program}.log"


def main() -> int:
    words = sys.argv[2:]
    application = next(word for word in words if not word.startswith("--"))
    place = words.index(application)
    options = dict(word.split("=", 1) for word in words[:place] if "=" in word)
    # Between these are the files that it is given access to.
    arguments = [word for word in words[place + 1:] if word not in ("@@", "@@u")]
    host = Host()
    deployed = Path(host.environment["XDG_DATA_HOME"], "flatpak", "app", application, "current", "active")
    metadata = configparser.ConfigParser(delimiters="=")
    metadata.optionxform = str
    metadata.read(deployed / "metadata")
    policy = metadata["Session Bus Policy"] if "Session Bus Policy" in metadata else {}
    proxy = Sandbox(host, application, *(f"--{what}={name}" for name, what in policy.items()), takes_part=False)
    own = Path(host.environment["HOME"], ".var", "app", application)
    (own / "data").mkdir(parents=True, exist_ok=True)
    host.environment |= {
        "DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/flatpak/bus", "FLATPAK_ID": application, "PATH": "/app/bin:/usr/bin:/bin",
        "XDG_DATA_HOME": str(own / "data")}
    sees = {"/app": deployed / "files", str(own): own, "/run/flatpak/bus": Path(proxy.address.removeprefix("unix:path=")),
            "/dev": Path("/dev")}
    documents = host.runtime / "doc" / "by-app" / application
    if documents.is_dir():
        sees["/run/flatpak/doc"] = documents
    inhabitant = Inhabitant(host, application, sees, "sh", "-c", START, "sh", options["--command"], *arguments)
    # What runs on in a session without a bus would outlive the test.
    session = Session(host.address)
    wait(lambda: inhabitant.process.poll() is not None or session.connection.is_closed(), "its end", HOURS)
    inhabitant.close()
    proxy.close()
    return inhabitant.process.returncode


if __name__ == "__main__":
    sys.exit(main())
