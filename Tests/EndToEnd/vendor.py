# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the programs under test were built to call their own: Meson's option app-id, in HANDOFF_APP_ID."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

APP_ID = os.environ.get("HANDOFF_APP_ID") or "org.example.Handoff"
# The extension of GNOME Shell, and the add-on as Firefox names it.
ADD_ON = APP_ID.split(".")[-1].lower() + "@" + ".".join(reversed(APP_ID.split(".")[:-1]))
# What browsers call the host of the add-on.
HOST = APP_ID.lower()


def own_id(name: str) -> str:
    """The id of the desktop entry of ours that ends in `name`."""
    return f"{APP_ID}.{name}"


def team_of(name: str) -> str:
    """The team of the applications that an adapter stands for, which is everybody's."""
    return f"org.example.Handoff.{name}"


def own_path(name: str) -> str:
    """Where the application own_id(name) has its objects."""
    return "/" + own_id(name).replace(".", "/")


def own_entry(identifier: str, **values: object) -> str:
    """The desktop entry of ours that has this id, filled in with these values."""
    name = identifier.removeprefix(APP_ID)
    return filled(Path(__file__).parents[2] / "data" / "applications" / f"org.example.Handoff{name}.desktop.in", **values)


def filled(template: Path, **values: object) -> str:
    """A file of the source that Meson fills in, with what it calls its own and with these values."""
    text = template.read_text(encoding="utf-8")
    for key, value in {"app_id": APP_ID, "add_on": ADD_ON, "host": HOST, **values}.items():
        text = text.replace(f"@{key}@", str(value))
    return text


def filled_folder(source: Path) -> Path:
    """A copy of a folder of the source as Meson installs it, which lasts as long as this process."""
    place = Path(tempfile.mkdtemp(prefix="handoff-filled-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    folder = place / source.name
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("*.in"))
    for template in source.rglob("*.in"):
        (folder / template.relative_to(source).with_suffix("")).write_text(filled(template), encoding="utf-8")
    return folder
