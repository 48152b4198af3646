# SPDX-License-Identifier: LGPL-2.1-or-later
"""The folder that the user has chosen for documents that come over."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from gi.repository import GLib
from buses import ROOT, wait
from choices import choose, restarted
from clients import Client
from hanging import HangingFiles
from origin import TITLE, Origin, files, handed, start_reader
from support import Machine, has_all_rights


@pytest.fixture
def lap(machine_list: list[Machine]) -> Machine:
    return start_reader(machine_list)


def place(machine: Machine, folder: Path | str) -> None:
    choose(machine, "DocumentsFolder", GLib.Variant("s", str(folder)))


def deliver(origin: Origin, target: Client) -> Path:
    """Has the document continued, perhaps once more; returns where the application was handed it."""
    times, handovers = len(origin.link.calls("OpenDocument")) + 1, len(target.called("ContinueActivity")) + 1
    origin.dock.events.clear()
    origin.dock.continue_offer(origin.dock.offer(TITLE))
    origin.send(origin.connect(times))
    assert origin.outcome() == ("", "")
    activity = target.wait_for("ContinueActivity", handovers).arguments.get_child_value(0).unpack()
    return Path(GLib.filename_from_uri(activity["DocumentURL"])[0])


def test_next_document_goes_there(lap: Machine) -> None:
    """A document is placed in the folder that was chosen, at once and after a restart; what is missing of its path is made,
    for the user alone. An empty choice is the usual folder again."""
    target, origin = Client(lap), Origin(lap)
    home = Path(lap.environment["HOME"])
    place(lap, "~/a/b/In")
    assert deliver(origin, target) == home / "a" / "b" / "In" / "Letter.txt" and not files(lap)
    assert all(stat.S_IMODE((home / path).stat().st_mode) == 0o700 for path in ("a", "a/b", "a/b/In"))
    restarted(lap)
    target = Client(lap)
    origin.dock.follow()
    # The same document is the same file.
    assert deliver(origin, target) == home / "a" / "b" / "In" / "Letter.txt"
    place(lap, "")
    assert deliver(origin, target) == home / "Handoff" / "Letter.txt"


def test_document_that_is_on_its_way(lap: Machine) -> None:
    """A document that is on its way when another folder is chosen arrives whole where it was going."""
    target = Client(lap)
    origin = Origin(lap, os.urandom(600_000))
    connection = origin.begin()
    origin.send(connection, origin.checked[:400_000], ends=False)
    wait(lambda: files(lap), "a part")
    place(lap, lap.folder / "elsewhere")
    origin.send(connection, origin.checked[400_000:])
    assert origin.outcome() == ("", "")
    assert Path(handed(target)).read_bytes() == origin.content and list(files(lap)) == ["Letter.txt"]
    assert not (lap.folder / "elsewhere").exists()


def test_folder_in_one_that_cannot_be_listed(lap: Machine) -> None:
    """A folder of the user's own can be chosen in one in which the user may only enter what is there."""
    above = lap.folder / "above"
    (above / "In").mkdir(parents=True)
    above.chmod(0o711)
    place(lap, above / "In")
    assert deliver(Origin(lap), Client(lap)) == above / "In" / "Letter.txt"


@pytest.mark.parametrize("harm", ["link", "file", "for everybody", "vanished", "another user's"])
def test_folder_that_cannot_be_used(lap: Machine, harm: str) -> None:
    """A folder that is a link, no folder, open to everybody, somebody else's or cannot be made is the clear failure of that
    continuation, and nothing is placed anywhere; once it has been put right, a document arrives."""
    folder, elsewhere = lap.folder / "In", lap.folder / "elsewhere"
    place(lap, folder / "deep" if harm == "vanished" else folder)
    elsewhere.mkdir()
    folder.mkdir()
    match harm:
        case "link":
            folder.rmdir()
            folder.symlink_to(elsewhere)
        case "file" | "vanished":
            folder.rmdir()
            folder.write_text("")
        case "for everybody":
            folder.chmod(0o777)
        case _:
            if not has_all_rights():
                pytest.skip("only root can give a folder away")
            os.chown(folder, 65534, 65534)
    target, origin = Client(lap), Origin(lap)
    origin.begin()
    error, message = origin.outcome()
    assert error == "AccessDenied" and str(folder) in message and "DocumentsFolder" in message
    assert not list(elsewhere.iterdir()) and not files(lap)
    shutil.rmtree(folder) if folder.is_dir() and not folder.is_symlink() else folder.unlink()
    assert deliver(origin, target).parent == (folder / "deep" if harm == "vanished" else folder)


@pytest.fixture(params=["ro", "size=1m"])
def disk(lap: Machine, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A disk on which nothing can be written, or hardly anything."""
    place = lap.folder / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"{request.param},mode=700", "tmpfs", place],
                             capture_output=True)
    if mounted.returncode:
        pytest.skip("nothing can be mounted here")
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


@pytest.mark.parametrize("inside", ["", "In"])
def test_disk_that_takes_nothing(lap: Machine, disk: Path, inside: str) -> None:
    """A folder on a disk that is full or can only be read is the clear failure of that continuation; nothing is left
    there, nothing is placed anywhere else, and another folder is good again."""
    target = Client(lap)
    place(lap, disk / inside)
    origin = Origin(lap, os.urandom(3_000_000))
    origin.begin()
    error, message = origin.outcome()
    assert error in ("AccessDenied", "LimitsExceeded") and str(disk) in message
    assert ("room for" in message) == (error == "LimitsExceeded")
    wait(lambda: not [path for path in disk.rglob("*") if path.is_file()] and not files(lap), "nothing to be left")
    place(lap, lap.folder / "good")
    assert deliver(origin, target).parent == lap.folder / "good"


def test_file_system_that_does_not_answer(lap: Machine, tmp_path: Path) -> None:
    """A folder on a file system that does not answer stops nobody: it is chosen at once, all calls are answered while a
    document waits for it, the error says that it does not answer, and in another one the document is placed."""
    try:
        hanging = HangingFiles(tmp_path / "files")
    except OSError as error:
        pytest.skip(f"no file system can be mounted: {error}")
    try:
        target, origin = Client(lap), Origin(lap)
        begin = time.monotonic()
        place(lap, hanging.place / "Papers" / "In")
        origin.begin()
        wait(hanging.waiting.is_set, "the broker to wait for the file system")
        for _ in range(20):
            lap.session.get(ROOT, "Preferences.DocumentsFolder")
        assert time.monotonic() - begin < 5
        place(lap, lap.folder / "good")
        error, message = origin.outcome()
        assert error == "ConnectionUnavailable" and f"{hanging.place / 'Papers' / 'In'}, does not answer" in message
        assert deliver(origin, target).parent == lap.folder / "good"
    finally:
        hanging.close()
