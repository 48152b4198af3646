# SPDX-License-Identifier: LGPL-2.1-or-later
"""The address book, and a disk or another program that does not let it store anything."""

from __future__ import annotations

import fcntl
import json
import random
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from buses import wait
from contacts import Contacts, contact, file_of, not_built, store, stored
from support import SOURCE, Machine
from test_contacts import desk

if reason := not_built():
    pytest.skip(reason, allow_module_level=True)

__all__ = ["desk"]
KILLS, CONTACTS = 1_000, 4
WRITER = SOURCE / ".build" / "debug" / "ContactsProgram"


@pytest.fixture
def full_disk(desk: Machine) -> Iterator[Machine]:
    """A machine whose address book is on a small disk, which is full but for a few bytes."""
    folder = file_of(desk).parent
    folder.mkdir(parents=True)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k,mode=700", "tmpfs", folder], capture_output=True)
    if mounted.returncode:
        pytest.skip("nothing can be mounted here")
    yield desk
    subprocess.run(["umount", "--lazy", folder], check=True)


def fill(folder: Path) -> Path:
    """Fills a disk up."""
    filler = folder / "filler"
    with open(filler, "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4_096))
        except OSError:
            return filler


def test_full_disk(full_disk: Machine) -> None:
    """On a full disk the form stays and says so, nothing that was stored is lost, and with room it can be stored"""
    desk = full_disk
    store(desk, [contact(number, name=f"Person {number}", note="x" * 500) for number in range(50)])
    before = file_of(desk).read_bytes()
    window = Contacts(desk, desk.screen)
    window.choose("Person 0")
    filler = fill(file_of(desk).parent)
    window.keys("ctrl+e")
    window.wait_for("text", "Name")
    window.keys("End")
    window.type("X")
    window.keys("ctrl+s")
    window.wait_for("label", "Couldn’t Save")
    said = " ".join(part.name for part in window.find("label"))
    assert "No space left on device" in said and "Make room there" in said
    desk.screen.shoot("full-disk.png")
    window.answer("Close")
    window.wait_for_form(name="Person 0X", note="x" * 500)
    assert file_of(desk).read_bytes() == before
    assert not list(file_of(desk).parent.glob("*.part*"))
    # Deleting needs room as well.
    filler.unlink()
    window.focus()
    window.keys("ctrl+s")
    wait(lambda: "Person 0X" in [values["name"] for values in stored(desk)], "the contact in the file")
    assert len(stored(desk)) == 50


def test_full_disk_while_deleting(full_disk: Machine) -> None:
    """On a full disk a contact that can't be deleted stays, and the user is told"""
    desk = full_disk
    store(desk, [contact(number, name=f"Person {number}", note="x" * 500) for number in range(50)])
    before = file_of(desk).read_bytes()
    window = Contacts(desk, desk.screen)
    window.choose("Person 0")
    fill(file_of(desk).parent)
    window.keys("ctrl+d")
    window.wait_for("label", "Couldn’t Delete")
    window.answer("Close")
    assert file_of(desk).read_bytes() == before
    window.wait_until(lambda: "Person 0" in window.names(), "the contact in the list")


def test_locked_for_ever(desk: Machine) -> None:
    """If another program keeps the contacts for itself the form says so after a while, and can be stored once they are free"""
    store(desk, [contact(1, name="Ada")])
    window = Contacts(desk, desk.screen)
    window.choose("Ada")
    before = file_of(desk).read_bytes()
    with open(file_of(desk).with_name("contacts.json.lock"), "a", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        window.keys("ctrl+e")
        window.wait_for("text", "Name")
        window.keys("End")
        window.type("X")
        began = time.monotonic()
        window.keys("ctrl+s")
        window.wait_for("label", "Couldn’t Save")
        assert 9 < time.monotonic() - began < 19
        assert any("Another program has kept" in part.name for part in window.find("label"))
        window.answer("Close")
        window.wait_for_form(name="AdaX")
        assert file_of(desk).read_bytes() == before
    window.focus()
    window.keys("ctrl+s")
    window.wait_for_stored("AdaX")


def test_locked_when_started(desk: Machine) -> None:
    """If another program keeps the contacts for itself while they are read, that is said, and trying again helps"""
    store(desk, [contact(1, name="Ada")])
    with open(file_of(desk).with_name("contacts.json.lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        window = Contacts(desk, desk.screen)
        window.wait_for("label", "Contacts Can’t Be Read")
        assert not window.wait_for("push button", "New Contact").is_sensitive
    window.press("Try Again")
    window.wait_until(lambda: window.names() == ["Ada"], "the list")


@pytest.mark.long
def test_thousand_kills(tmp_path: Path) -> None:
    """Killed a thousand times while it stores contacts, a program leaves the file whole each time, with all that was stored"""
    if not WRITER.exists():
        pytest.skip(f"no {WRITER}: swift build --build-tests")
    file, moments = tmp_path / "contacts.json", random.Random(7)
    # The last that is known to be stored of each contact: which process has stored it, and as what number.
    told: dict[int, tuple[int, int]] = {}
    cut = 0
    for kill in range(KILLS):
        with open(tmp_path / "told", "wb") as output:
            process = subprocess.Popen([WRITER, file, f"{kill}-", str(CONTACTS)], stdout=output)
        # It needs a few milliseconds to begin, and about as many for each contact.
        time.sleep(moments.uniform(0.01, 0.06))
        process.kill()
        process.wait()
        for line in (tmp_path / "told").read_text(encoding="ascii").split():
            number = int(line.partition("-")[2])
            told[number % CONTACTS] = (kill, number)
        cut += any(path.name.startswith("contacts.json.part") for path in tmp_path.iterdir())
        if told:
            check(file, told)
    assert len(told) == CONTACTS
    # Some were killed while they wrote.
    assert cut > 0
    leftovers = [path.name for path in tmp_path.iterdir() if path.name.startswith("contacts.json.part")]
    assert len(leftovers) <= 1, leftovers


def check(file: Path, told: dict[int, tuple[int, int]]) -> None:
    """The file can be read, and each contact in it is as new as was told, or newer."""
    found = {int(entry["id"], 16): entry["values"]["name"]
             for entry in json.loads(file.read_text(encoding="utf-8"))["contacts"]}
    for number, last in told.items():
        assert tuple(map(int, found[number].split("-"))) >= last, f"contact {number}"
