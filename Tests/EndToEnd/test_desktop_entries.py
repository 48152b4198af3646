# SPDX-License-Identifier: LGPL-2.1-or-later
"""Applications that declare themselves in their desktop entries."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from gi.repository import GLib
from buses import BUS, wait
from clients import APPLICATION_ID, Client, Dock
from support import Machine, refused

TYPE = "com.example.entry.edit"
STARTED = str(Path(__file__).with_name("started_application.py"))


def folder(machine: Machine) -> Path:
    """Where this machine's own desktop entries are."""
    return Path(machine.environment["XDG_DATA_HOME"]) / "applications"


def install(machine: Machine, application_id: str, **keys: str) -> Path:
    """Installs a desktop entry with these keys besides those that each has."""
    values = {"Type": "Application", "Name": application_id, "Exec": "true",
              "Implements": "org.example.Handoff.Application;"}
    values |= {"X-Handoff-" + key if key in ("ActivityTypes", "DocumentTypes", "Domains", "Team")
               else key: value for key, value in keys.items()}
    text = "[Desktop Entry]\n" + "".join(f"{key}={value}\n" for key, value in values.items())
    folder(machine).mkdir(parents=True, exist_ok=True)
    path = folder(machine) / f"{application_id}.desktop"
    (folder(machine) / "new").write_text(text)
    (folder(machine) / "new").rename(path)
    return path


def have_bus_start(machine: Machine, name: str, command: str) -> None:
    """Has the bus of the machine run this command line for whoever wants `name`."""
    services = Path(machine.environment["XDG_RUNTIME_DIR"]) / "dbus-1" / "services"
    services.mkdir(parents=True, exist_ok=True)
    (services / f"{name}.service").write_text(f"[D-BUS Service]\nName={name}\nExec={command}\n")
    machine.connect().call("/org/freedesktop/DBus", f"{BUS}.ReloadConfig", destination=BUS)


def accepts(client: Client, activity_type: str) -> bool:
    """Whether the client may create an activity of this type."""
    try:
        client.create(activity_type).invalidate()
    except Exception as error:
        assert "TypeNotDeclared" in str(error) or "TypeNotDeclared" in getattr(error, "name", "")
        return False
    return True


def test_types_of_a_desktop_entry(machine: Machine) -> None:
    """An application that registers without types has those of its desktop entry, as long as that is there."""
    client = Client(machine, types=())
    with refused("TypeNotDeclared"):
        client.create()
    path = install(machine, APPLICATION_ID, ActivityTypes=f"{TYPE};com.example.entry.view;")
    wait(lambda: accepts(client, TYPE), "the new entry to count")
    assert client.create().get("ActivityType") == TYPE
    path.unlink()
    wait(lambda: not accepts(client, TYPE), "the entry to be gone")


def test_group_of_the_interface(machine: Machine) -> None:
    """What an entry says in the group with the name of the interface counts, and then nothing of what it says in the main
    group."""
    former = "com.example.entry.former"
    path = install(machine, APPLICATION_ID, ActivityTypes=former)
    client = Client(machine, types=())
    wait(lambda: accepts(client, former), "the entry to count")
    group = f"\n[org.example.Handoff.Application]\nActivityTypes={TYPE};\nDocumentTypes=text/plain=com.example.entry.text;\n"
    (folder(machine) / "new").write_text(path.read_text() + group)
    (folder(machine) / "new").rename(path)
    wait(lambda: accepts(client, TYPE), "the group to count")
    assert accepts(client, "com.example.entry.text") and not accepts(client, former)


def test_types_add_up(machine: Machine) -> None:
    """An application has the types it registers with and those of its desktop entry; documents' types are declared."""
    install(machine, APPLICATION_ID, ActivityTypes=TYPE, DocumentTypes="text/plain=com.example.entry.text;")
    client = Client(machine)
    wait(lambda: accepts(client, TYPE), "the entry to count")
    assert accepts(client, client.types[0])
    assert accepts(client, "com.example.entry.text")
    assert client.create().get("ActivityType") == client.types[0]


@pytest.mark.parametrize("declared", ["when registering", "in the desktop entry"])
def test_document_gives_the_type(machine: Machine, declared: str) -> None:
    """An application that declares document types and sets DocumentURL gets the matching activity type without naming
    it; one without a match, or that names its type, gets that of any activity."""
    # Which names stand for which types is known from the system's files.
    (machine.folder / "share" / "mime").symlink_to("/usr/share/mime")
    machine.kill("handoffd")
    machine.start_broker()
    types = {"text/plain": "com.example.entry.text", "image/png": "com.example.entry.picture"}
    if declared == "when registering":
        client = Client(machine, options={"DocumentTypes": GLib.Variant("a{ss}", types)})
    else:
        install(machine, APPLICATION_ID, DocumentTypes="".join(f"{mime}={name};" for mime, name in types.items()))
        client = Client(machine)
        wait(lambda: accepts(client, "com.example.entry.text"), "the entry to count")
    for name, expected in (("a.txt", "com.example.entry.text"), ("A%20b.PNG", "com.example.entry.picture"),
                           ("a.pdf", client.types[0]), ("a", client.types[0])):
        activity = client.create(DocumentURL=f"file:///home/me/{name}")
        assert activity.get("ActivityType") == expected, name
    assert client.create("com.example.entry.picture", DocumentURL="file:///home/me/a.txt").get("ActivityType") == \
        "com.example.entry.picture"
    later = client.create()
    later.update(DocumentURL="file:///home/me/a.txt")
    assert later.get("ActivityType") == client.types[0], "an activity keeps the type that it was created with"


def test_entry_in_a_subfolder(machine: Machine) -> None:
    """A folder within the applications folder is a prefix of the application's id."""
    client = Client(machine, application_id="vendor-editor", types=())
    (folder(machine) / "vendor").mkdir(parents=True)
    install(machine, "vendor-editor.x")
    path = install(machine, "editor", ActivityTypes=TYPE)
    path.rename(folder(machine) / "vendor" / "editor.desktop")
    wait(lambda: accepts(client, TYPE), "the entry to count")


def test_application_is_started_by_the_bus(machines: tuple[Machine, Machine]) -> None:
    """An application that does not run is started through D-Bus activation, and gets the activity."""
    desk, lap = machines
    name = "com.example.started"
    result = lap.folder / "result"
    have_bus_start(lap, name, f"{sys.executable} {STARTED} {name} {TYPE} {result}")
    install(lap, name, ActivityTypes=TYPE, DBusActivatable="true")
    origin, dock = Client(desk, application_id=name, types=(TYPE,)), Dock(lap)
    origin.create(TYPE, Title="Start me", UserInfo={"page": GLib.Variant("u", 7)}).become_current()
    path = dock.offer("Start me")
    dock.continue_offer(path)
    started = json.loads(wait(lambda: result.exists() and result.read_text(), "the activity"))
    assert started["calls"] == ["WillContinueActivity", "ContinueActivity"]
    assert started["activity"]["UserInfo"] == {"page": 7}


def test_application_that_cannot_be_started(machines: tuple[Machine, Machine]) -> None:
    """If an application cannot be started, the continuation fails at once and says why."""
    desk, lap = machines
    name = "com.example.missing"
    install(lap, name, ActivityTypes=TYPE, DBusActivatable="true")
    origin, dock = Client(desk, application_id=name, types=(TYPE,)), Dock(lap)
    origin.create(TYPE, Title="Start me").become_current()
    path = dock.offer("Start me")
    dock.continue_offer(path)
    application, error, message = dock.outcome()
    assert (application, error) == (name, "org.example.Handoff.Error.ApplicationFailed")
    assert "could not be started" in message


@pytest.mark.parametrize("harm", ["huge", "binary", "fifo", "folder", "loop", "types", "team", "hidden", "escape"])
def test_hostile_entry_is_ignored(machine: Machine, harm: str) -> None:
    """A desktop entry that is not what it should be is ignored, and others count."""
    place = folder(machine)
    place.mkdir(parents=True)
    bad = place / "aaa.bad.desktop"
    head = "[Desktop Entry]\nType=Application\nImplements=org.example.Handoff.Application;\n"
    types = "X-Handoff-ActivityTypes=" + "".join(f"t{number};" for number in range(300))
    texts = {"huge": head + "#" * 70_000, "types": head + types, "team": head + "X-Handoff-Team=.x\n",
             "hidden": head + "Hidden=true\n", "escape": head + "X-Handoff-ActivityTypes=\\q;\\\n"}
    if harm == "binary":
        bad.write_bytes(b"\0\xff" + head.encode())
    elif harm == "fifo":
        os.mkfifo(bad)
    elif harm == "folder":
        bad.mkdir()
    elif harm == "loop":
        bad.symlink_to(bad)
        (place / "again").symlink_to(place)
    else:
        bad.write_text(texts[harm])
    install(machine, APPLICATION_ID, ActivityTypes=TYPE)
    client = Client(machine, types=())
    wait(lambda: accepts(client, TYPE), "the good entry to count")
    other = Client(machine, application_id="aaa.bad", types=())
    with refused("TypeNotDeclared"):
        other.create()
