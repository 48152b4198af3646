# SPDX-License-Identifier: LGPL-2.1-or-later
"""The part of LibreOffice's extension that is in Handoff, with an extension that is played."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from buses import ROOT, wait
from clients import Client, Dock
from desktops import install_entry
from editors import bin_folder, started
from gi.repository import GLib
from offices import sheets, text
from support import SANITIZED, Machine
from test_adapter_editors_attacked import Plugin
from test_desktop_entries import have_bus_start
from vendor import own_id, team_of

OFFICE = own_id("Office")
KIND = "org.example.Handoff.EditingDocument"
FAILED = "org.example.Handoff.Error.ApplicationFailed"
WRITER = "libreoffice-writer"
PATIENCE = 30


@pytest.fixture
def offices(machines: tuple[Machine, Machine]) -> tuple[Machine, Machine, Path]:
    """Two machines on which the bus starts the adapter, and a letter on the first."""
    for machine in machines:
        machine.environment["PATH"] = f"{bin_folder(machine)}:{machine.environment['PATH']}"
        have_bus_start(machine, OFFICE, started(machine, "office"))
        install_entry(machine, OFFICE)
    return *machines, text(Path(machines[0].environment["HOME"], "A letter.odt"))


def front(office: Plugin, file: Path | str, **place: Any) -> None:
    """The user is at a document."""
    office.say(event="front", application=WRITER, file=str(file), **place)


def answer_saving(office: Plugin, file: Path, content: bytes | None = None, **place: Any) -> Path:
    """Answers where the user is, with a copy if there is a content. Returns the folder for copies."""
    question = office.question()
    assert question["ask"] == "save" and question["file"] == str(file)
    folder = Path(question["folder"])
    assert folder.stat().st_mode & 0o777 == 0o700
    copy = folder / file.name
    if content is not None:
        copy.write_bytes(content)
        place["copy"] = str(copy)
    office.say(answer=question["id"], application=WRITER, file=str(file), **place)
    return folder


def answer_opening(office: Plugin, opened: bool = True) -> dict[str, Any]:
    question = office.question()
    office.say(answer=question["id"], opened=opened)
    return question


def test_document_goes_on(offices: tuple[Machine, Machine, Path]) -> None:
    """A document goes on in the running office of the other device at the page that it is at by then, to be read at first,
    whatever its name begins with; one in a shared folder as any other."""
    desk, lap, letter = offices
    letter = letter.rename(letter.with_name("\u0301letter.odt"))
    here, there = Plugin(desk, "office"), Plugin(lap, "office")
    front(here, letter, page=2)
    dock = Dock(lap)
    path = wait(lambda: next(iter(dock.offers), None), "the offer")
    wait(lambda: OFFICE in dock.offers[path]["Handlers"], "the office to be known")
    dock.continue_offer(path)
    answer_saving(here, letter, page=5)
    asked = answer_opening(there)
    assert (asked["ask"], asked["mode"], asked["page"]) == ("open", "view", 5)
    assert Path(asked["file"]).read_bytes() == letter.read_bytes()
    assert dock.outcome(PATIENCE) == (OFFICE, "", "")
    for machine in (desk, lap):
        folder = machine.folder / "home" / "Shared"
        folder.mkdir()
        machine.session.set(ROOT, "Preferences.SharedFolders", GLib.Variant("a{ss}", {"Shared": str(folder)}))
    table = sheets(desk.folder / "home/Shared/Table.ods")
    (lap.folder / "home/Shared/Table.ods").write_bytes(table.read_bytes())
    os.utime(lap.folder / "home/Shared/Table.ods", ns=(table.stat().st_atime_ns, table.stat().st_mtime_ns))
    here.say(event="front", application="libreoffice-calc", file=str(table), sheet="Rooms", cell="C7")
    dock.continue_offer(dock.offer(table.name))
    question = here.question()
    here.say(answer=question["id"], application="libreoffice-calc", file=str(table), sheet="Rooms", cell="D8")
    asked = answer_opening(there)
    assert (asked["mode"], asked["sheet"], asked["cell"]) == ("edit", "Rooms", "D8")
    assert asked["file"] == str(lap.folder / "home/Shared/Table.ods")


def test_what_was_not_saved_goes_on(offices: tuple[Machine, Machine, Path]) -> None:
    """A document that was not saved goes as a copy, which is shown there as one that was never saved, under its name, and is
    removed there; so does one that was never saved. What is on the disk stays as it is, and copies here end with the office. If
    the office does not say where it is, the document goes on as it is on the disk."""
    desk, lap, letter = offices
    here, there = Plugin(desk, "office"), Plugin(lap, "office")
    content = text(desk.folder / "Changed.odt", pages=9).read_bytes()
    before = letter.read_bytes()
    front(here, letter, page=1)
    dock = Dock(lap)
    dock.continue_offer(dock.offer(letter.name))
    answer_saving(here, letter, content, page=3)
    asked = there.question()
    assert (asked["mode"], asked["name"], asked["page"]) == ("unsaved", letter.name, 3)
    assert Path(asked["file"]).read_bytes() == content
    there.say(answer=asked["id"], opened=True)
    assert dock.outcome(PATIENCE) == (OFFICE, "", "")
    wait(lambda: not Path(asked["file"]).exists(), "the copy there to be removed")
    assert letter.read_bytes() == before
    here.say(event="front", application=WRITER, name="Untitled 1", page=1)
    dock.continue_offer(dock.offer("Untitled 1"))
    question = here.question()
    copy = Path(question["folder"], "Untitled 1.odt")
    copy.write_bytes(content)
    here.say(answer=question["id"], application=WRITER, name="Untitled 1", page=1, copy=str(copy))
    asked = answer_opening(there)
    assert (asked["mode"], asked["name"]) == ("unsaved", "Untitled 1")
    assert dock.outcome(PATIENCE, 2) == (OFFICE, "", "")
    front(here, letter, page=1)
    dock.continue_offer(dock.offer(letter.name))
    here.say(answer=here.question()["id"])
    asked = answer_opening(there)
    assert asked["mode"] == "view" and Path(asked["file"]).read_bytes() == before
    here.close()
    assert not (Path(desk.environment["XDG_RUNTIME_DIR"]) / "handoff/office" / str(here.process.pid)).exists()


def test_copy_of_something_else(offices: tuple[Machine, Machine, Path]) -> None:
    """A copy counts only if it is a document in the folder that it was to be left in, and not too large: no other file of the
    user, no link to one, no key. Then the document goes on as it is on the disk."""
    desk, lap, letter = offices
    here, there, dock = Plugin(desk, "office"), Plugin(lap, "office"), Dock(lap)
    secret = text(desk.folder / "home/Secret.odt", pages=1)
    front(here, letter, page=1)
    path = dock.offer(letter.name)
    def link(folder: Path) -> Path:
        (folder / "x.odt").symlink_to(secret)
        return folder / "x.odt"
    def large(folder: Path) -> Path:
        (folder / "x.odt").write_bytes(letter.read_bytes())
        os.truncate(folder / "x.odt", (32 << 20) + 1)
        return folder / "x.odt"
    def key(folder: Path) -> Path:
        (folder / "x.odt").write_bytes(b"-----BEGIN PRIVATE KEY-----")
        return folder / "x.odt"
    def folder_link(folder: Path) -> Path:
        folder.rmdir()
        folder.symlink_to(secret.parent)
        return folder / secret.name
    def hard_link(folder: Path) -> Path:
        os.link(secret, folder / "y.odt")
        return folder / "y.odt"
    for number, lie in enumerate((lambda _: secret, link, hard_link, folder_link, large, key, lambda folder: folder / "gone.odt", lambda folder: folder / ".." / "x.odt"), 1):
        dock.continue_offer(path)
        question = here.question()
        here.say(answer=question["id"], application=WRITER, file=str(letter), page=1, copy=str(lie(Path(question["folder"]))))
        asked = answer_opening(there)
        assert asked["mode"] == "view" and Path(asked["file"]).read_bytes() == letter.read_bytes()
        assert dock.outcome(PATIENCE, number) == (OFFICE, "", "")
    here.close()
    assert secret.exists() and letter.exists()


def test_office_that_is_not_to_be_trusted(offices: tuple[Machine, Machine, Path]) -> None:
    """What is private, no document of the office, or none at all is not offered, whatever the extension says; floods change the
    offer a few times at most, and what comes afterwards counts."""
    desk, lap, letter = offices
    home = Path(desk.environment["HOME"])
    (home / ".ssh").mkdir()
    office, dock = Plugin(desk, "office"), Dock(lap)
    files = [text(home / ".ssh/letter.odt"), home / "table.csv", home / "none.odt", home / "key.odt", home / "link.odt", home]
    files[1].write_text("1,2\n")
    files[3].write_text("-----BEGIN PRIVATE KEY-----")
    files[4].symlink_to(files[0])
    front(office, letter, page=1)
    path = dock.offer(letter.name)
    for file in files:
        front(office, file, page=1)
        if file in (files[0], home):
            front(office, letter)
    office.write(b"x" * (16 << 20) + b"\n" + b"[" * 10_000 + b"\n{}\n[]\n")
    for number in range(3000):
        office.say(event="front", application="xterm" if number % 2 else WRITER, file=f"/x/{number}.odt", page=number)
    front(office, files[1])
    wait(lambda: path not in dock.offers or not dock.offers, "nothing to be offered")
    front(office, letter, page=10**30)
    dock.offer(letter.name)
    for secret in ("table.csv", "key.odt", "link.odt", ".ssh"):
        assert secret not in desk.log("handoffd") + desk.log("handoff-editor")
    assert SANITIZED or office.memory() < 16 << 20
    assert office.close() == 0


def play_office(lap: Machine) -> Path:
    """Installs an office that only writes down with what it was started, a line for each word, and returns that file."""
    log = lap.folder / "soffice.called"
    program = bin_folder(lap) / "soffice"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >>"{log}"\n')
    program.chmod(0o755)
    return log


def test_started(offices: tuple[Machine, Machine, Path]) -> None:
    """Where no office runs it is started, with nothing of the other device on its command line, and its extension takes what it
    was started for; without the extension the user is told."""
    desk, lap, letter = offices
    log = play_office(lap)
    here, dock = Plugin(desk, "office"), Dock(lap)
    front(here, letter, page=1)
    path = dock.offer(letter.name)
    dock.continue_offer(path)
    answer_saving(here, letter, letter.read_bytes(), page=4)
    wait(log.exists, "the office to be started", PATIENCE)
    there = Plugin(lap, "office")
    asked = answer_opening(there)
    assert (asked["mode"], asked["name"], asked["page"]) == ("unsaved", letter.name, 4)
    assert dock.outcome(PATIENCE) == (OFFICE, "", "")
    assert log.read_text() == "--writer\n"
    there.close()
    other = text(desk.folder / "home/Other.odt")
    front(here, other, page=1)
    dock.continue_offer(dock.offer(other.name))
    answer_saving(here, other, letter.read_bytes(), page=4)
    application, error, message = dock.outcome(PATIENCE + 10, 2)
    assert (application, error) == (OFFICE, FAILED) and "python3-uno" in message


def test_started_for_several(offices: tuple[Machine, Machine, Path]) -> None:
    """An office that was started for several documents opens the others too if one cannot be opened."""
    desk, lap, letter = offices
    log = play_office(lap)
    here, dock = Plugin(desk, "office"), Dock(lap)
    documents = [letter, text(desk.folder / "home/Other.odt")]
    for number, file in enumerate(documents, 1):
        front(here, file, page=1)
        dock.continue_offer(dock.offer(file.name))
        answer_saving(here, file, file.read_bytes(), page=4)
        wait(lambda: log.exists() and len(log.read_text().splitlines()) == number, "the office to be started", PATIENCE)
    there = Plugin(lap, "office")
    names = {answer_opening(there, opened)["name"] for opened in (False, True)}
    assert names == {file.name for file in documents}
    there.close()


def test_excluded_application(offices: tuple[Machine, Machine, Path]) -> None:
    """The user can keep Handoff out of one application of the office, or switch the adapter off; when that is over, what is in front
    is offered again."""
    desk, lap, letter = offices
    office, dock = Plugin(desk, "office"), Dock(lap)
    front(office, letter, page=1)
    path = dock.offer(letter.name)
    # Closed from elsewhere, it is not open any more.
    office.say(event="left")
    dock.wait_until_gone(path)
    office.say(event="closed")
    assert not Dock(lap).offers
    front(office, letter, page=1)
    path = dock.offer(letter.name)
    for preference, value in (("ExcludedApplications", WRITER), ("DisabledAdapters", "office")):
        desk.session.set(ROOT, f"Preferences.{preference}", GLib.Variant("as", [value]))
        dock.wait_until_gone(path)
        office.say(event="front", application="libreoffice-calc", file=str(letter))
        desk.session.set(ROOT, f"Preferences.{preference}", GLib.Variant("as", []))
        wait(lambda: office.question()["ask"] == "front", "to be asked what is in front")
        front(office, letter, page=1)
        path = dock.offer(letter.name)


def test_file_that_was_here_before(offices: tuple[Machine, Machine, Path]) -> None:
    """What the user has of a device already is not removed because it comes once more as something that was not saved, also if
    they have just changed it."""
    desk, lap, letter = offices
    here, there, dock = Plugin(desk, "office"), Plugin(lap, "office"), Dock(lap)
    front(here, letter, page=1)
    path = dock.offer(letter.name)
    dock.continue_offer(path)
    answer_saving(here, letter, page=1)
    received = Path(answer_opening(there)["file"])
    assert dock.outcome(PATIENCE) == (OFFICE, "", "")
    received.write_bytes(text(lap.folder / "Changed.odt", pages=2).read_bytes())
    dock.continue_offer(path)
    answer_saving(here, letter, received.read_bytes(), page=1)
    assert answer_opening(there)["mode"] == "unsaved"
    assert dock.outcome(PATIENCE, 2) == (OFFICE, "", "") and received.exists()


@pytest.mark.parametrize("what", ["program", "unsaved", "macro name"])
def test_hostile_activity(offices: tuple[Machine, Machine, Path], what: str) -> None:
    """A device cannot have anything opened that is no document of the office, nor have a file removed that was here before."""
    desk, lap, letter = offices
    there, dock = Plugin(lap, "office"), Dock(lap)
    for machine in (desk, lap):
        (machine.folder / "home/Shared").mkdir()
        machine.session.set(ROOT, "Preferences.SharedFolders",
                            GLib.Variant("a{ss}", {"Shared": str(machine.folder / "home/Shared")}))
    name = {"program": "run.sh", "macro name": "x.docm"}.get(what, "Own.odt")
    here, own = desk.folder / "home/Shared" / name, lap.folder / "home/Shared" / name
    for path in (here, own):
        path.write_bytes(b"#!/bin/sh\ntouch x\n" if what == "program" else letter.read_bytes())
        os.utime(path, (1_700_000_000, 1_700_000_000))
    origin = Client(desk, "com.example.origin", (KIND,), options={"Team": GLib.Variant("s", team_of("Office"))})
    origin.create(KIND, Title="Bad", DocumentURL=here.as_uri(), UserInfo={
        "application": GLib.Variant("s", "../x"), "unsaved": GLib.Variant("s", "Name\n\u001b[2J"),
        "sheet": GLib.Variant("s", "x"), "cell": GLib.Variant("s", "=HYPERLINK(1)")}).become_current()
    dock.continue_offer(dock.offer("Bad"))
    if what == "unsaved":
        asked = answer_opening(there)
        assert asked["mode"] == "edit" and "cell" not in asked and "name" not in asked
        assert dock.outcome(PATIENCE) == (OFFICE, "", "") and own.exists()
    else:
        assert dock.outcome(PATIENCE)[1]
        there.close()
        assert there.text == b""
