# SPDX-License-Identifier: LGPL-2.1-or-later
"""Notes, which Flatpak has installed for a user, as it leaves its files; what runs them is `played_flatpak.py`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from gi.repository import GLib
from buses import wait
from support import SOURCE, Machine

ID, TYPE = "org.example.Notes", "org.example.Notes.edit"
HERE = Path(__file__).parent
RUN = f"{sys.executable} {HERE / 'played_flatpak.py'} run --branch=stable --arch=x86_64"
# What `flatpak install` makes of an entry: its command lines, its name, and a command line in each group.
ENTRY = f"""[Desktop Entry]
Type=Application
Name=Notes
Exec={RUN} --command=notes --file-forwarding {ID} @@u %U @@
DBusActivatable=ACTIVATABLE
Implements=org.example.Handoff.Application;
X-Flatpak={ID}

[org.example.Handoff.Application]
ActivityTypes={TYPE};
Exec={RUN} {ID}
"""
SERVICE = f"[D-BUS Service]\nName={ID}\nExec={RUN} --command=notes {ID} --gapplication-service\n"
PERMISSION = "[Session Bus Policy]\norg.example.Handoff=talk\n"
COMMAND = "#!/bin/sh\nexec /usr/bin/python3 /app/boxed_notes.py \"$@\"\n"


def exports(machine: Machine) -> Path:
    """What the user's installation adds to the folders for data."""
    return Path(machine.environment["XDG_DATA_HOME"], "flatpak", "exports", "share")


class Notes:
    """They are installed. With `is_activatable` the bus starts them."""

    def __init__(self, machine: Machine, is_activatable: bool = True) -> None:
        self.machine = machine
        self.own = Path(machine.environment["HOME"], ".var", "app", ID)
        self.deployed = exports(machine).parent.parent / "app" / ID / "current" / "active"
        (self.deployed / "files" / "bin").mkdir(parents=True)
        for file in (HERE / "boxed_notes.py", SOURCE / "data" / "clients" / "python" / "handoff.py"):
            shutil.copy(file, self.deployed / "files")
        command = self.deployed / "files" / "bin" / "notes"
        command.write_text(COMMAND)
        command.chmod(0o755)
        self.set_permission(True)
        self._export(f"applications/{ID}.desktop", ENTRY.replace("ACTIVATABLE", str(is_activatable).lower()))
        if is_activatable:
            self._export(f"dbus-1/services/{ID}.service", SERVICE)

    def set_permission(self, given: bool) -> None:
        """What is in `finish-args` of its manifest."""
        (self.deployed / "metadata").write_text(f"[Application]\nname={ID}\n\n{PERMISSION if given else ''}")

    def _export(self, name: str, text: str) -> None:
        file, link = self.deployed / "export" / "share" / name, exports(self.machine) / name
        for path in (file, link):
            path.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        up = "../" * (len(Path(name).parents) + 1)
        link.symlink_to(f"{up}app/{ID}/current/active/export/share/{name}")

    def start(self) -> subprocess.Popen[bytes]:
        """As their user does from a menu."""
        with open(self.machine.log_file("notes"), "ab") as log:
            process = subprocess.Popen([*RUN.split(), "--command=notes", ID, "--gapplication-service"], stdout=log, stderr=log,
                                       env=self.machine.environment)
        wait(lambda: self.machine.session.owner(ID), "the notes")
        return process

    def act(self, action: str, *parameters: GLib.Variant) -> None:
        """Their user chooses something in them."""
        arguments = GLib.Variant("(sava{sv})", (action, parameters, {}))
        self.machine.session.call("/" + ID.replace(".", "/"), "org.freedesktop.Application.ActivateAction", arguments,
                                  destination=ID)

    def edit(self, text: str, document: str = "") -> None:
        self.act("edit", GLib.Variant("(ss)", (text, document)))

    def look(self, path: Path | str) -> None:
        """They tell whether they take part, and whether they see a file."""
        self.act("look", GLib.Variant("s", str(path)))

    def quit(self, process: subprocess.Popen[bytes]) -> None:
        self.act("quit")
        process.wait()
        wait(lambda: not self.machine.session.owner(ID), "the end of the notes")

    def told(self, number: int = 1) -> dict[str, Any]:
        """What they have told as the first, second … thing."""
        file = self.own / "data" / "told"
        lines = wait(lambda: file.exists() and (lines := file.read_text().splitlines()) and len(lines) >= number and lines,
                     f"{number} things to be told")
        return json.loads(lines[number - 1])
