# SPDX-License-Identifier: LGPL-2.1-or-later
"""Documents that come from a peer, which may say and send whatever it likes."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
from pathlib import Path

import pytest
from gi.repository import GLib
from buses import wait
from clients import Client
from origin import Origin, files, folder, handed, parts, start_reader
from support import Machine
from tracing import Tracer


@pytest.fixture
def lap(machine_list: list[Machine]) -> Machine:
    return start_reader(machine_list)


def test_document_arrives(lap: Machine) -> None:
    """A document outside of every shared folder is brought over: the application is handed the URL of a file of its own
    machine, for its user alone and not executable, with the modification time that it had."""
    target = Client(lap)
    origin = Origin(lap, os.urandom(3_000_000), "Grüße #1 %.bin", "application/octet-stream",
                    Modified=GLib.Variant("x", 1_600_000_000_000_000))
    connection = origin.begin()
    origin.send(connection)
    assert origin.outcome() == ("", "")
    path = Path(handed(target))
    assert path == folder(lap) / "Grüße #1 %.bin" and path.read_bytes() == origin.content
    status = path.stat()
    assert stat.S_IMODE(status.st_mode) == 0o600 and status.st_mtime == 1_600_000_000
    assert stat.S_IMODE(folder(lap).stat().st_mode) == 0o700
    # The end of the empty direction is the acknowledgement.
    assert connection.take(5) == bytes(4)


@pytest.mark.parametrize(("name", "placed"), [
    ("../../.ssh/authorized_keys", "_.._.ssh_authorized_keys"), ("/etc/passwd", "_etc_passwd"), ("..", "Document"),
    ("", "Document"), (".bashrc", "bashrc"), ("-rf", "_rf"), ("a\x1b[31m\nb\u202egpj.txt", "a_[31m_b_gpj.txt"),
    ("<b>&amp;</b>.txt", "<b>&amp;<_b>.txt"), ("x" * 251 + ".txt", "x" * 251 + ".txt"), ("日" * 85, "日" * 85)])
def test_names(lap: Machine, name: str, placed: str) -> None:
    """The name of a document is made safe: no way out of the folder, nothing hidden, no option, no control characters; it
    is never used as markup, and may be as long as names can be."""
    target = Client(lap)
    origin = Origin(lap, name=name)
    assert origin.deliver() == ("", "")
    assert Path(handed(target)) == folder(lap) / placed and list(files(lap)) == [placed]


@pytest.mark.parametrize("program", ["handoffd", "handoff-bridge"])
def test_killed_while_it_comes(lap: Machine, program: str) -> None:
    """When the broker or the bridge is killed while a document comes, nothing has its name, it is not acknowledged, and
    what is left is removed at the next start."""
    Client(lap)
    origin = Origin(lap, os.urandom(600_000))
    connection = origin.begin()
    origin.send(connection, origin.checked[:400_000], ends=False)
    wait(lambda: parts(lap), "a part")
    other = folder(lap) / ".handoff-mine.part"
    other.write_text("not ours")
    lap.kill(program, signal.SIGKILL)
    if program == "handoffd":
        assert parts(lap)
        lap.start_broker()
    else:
        lap.start_bridge()
    wait(lambda: list(files(lap)) == [other.name], "the part to be removed")
    assert connection.take(4) != bytes(4)


def test_ended_while_it_comes(lap: Machine) -> None:
    """A broker that is asked to end while a document comes leaves nothing of it: nobody may come who would remove that."""
    Client(lap)
    origin = Origin(lap, os.urandom(600_000))
    origin.send(origin.begin(), origin.checked[:400_000], ends=False)
    wait(lambda: parts(lap), "a part")
    assert lap.kill("handoffd", signal.SIGTERM) == 0
    assert not files(lap)
    lap.start_broker()


@pytest.fixture
def small_disk(machine_list: list[Machine]) -> Machine:
    """A machine whose folder for received documents has 1 MB."""
    lap = start_reader(machine_list, "lap")
    place = folder(lap)
    place.mkdir(mode=0o700)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", place], capture_output=True)
    if mounted.returncode:
        pytest.skip("nothing can be mounted here")
    yield lap
    subprocess.run(["umount", "--lazy", place], check=True)


@pytest.mark.parametrize("is_known", [True, False])
def test_full_disk(small_disk: Machine, is_known: bool) -> None:
    """A disk that is full, or fills up while a document comes whose size is not known, is a clear failure with both
    sizes, and nothing is left."""
    Client(small_disk)
    origin = Origin(small_disk, os.urandom(3_000_000))
    if not is_known:
        origin.link.answers["OpenDocument"] = GLib.Variant("(aya{sv})", (b"", {"Name": GLib.Variant("s", "Letter.txt")}))
    origin.send(origin.begin())
    error, message = origin.outcome()
    assert error == "LimitsExceeded" and "room for" in message and "B or more" in message
    wait(lambda: not files(small_disk), "the part to be removed")


def test_a_disk_that_fills_up(small_disk: Machine) -> None:
    """Others may write meanwhile: what was set aside for the document stays its own, and it arrives."""
    target = Client(small_disk)
    origin = Origin(small_disk, os.urandom(600_000))
    connection = origin.begin()
    origin.send(connection, origin.checked[:100_000], ends=False)
    wait(lambda: parts(small_disk), "a part")
    # The file is there a moment before its space is.
    wait(lambda: sum(file.stat().st_blocks for file in folder(small_disk).iterdir()) * 512 >= 600_000, "its space")
    filler = folder(small_disk) / "filler"
    with pytest.raises(OSError):
        filler.write_bytes(bytes(1 << 20))
    origin.send(connection, origin.checked[100_000:])
    assert origin.outcome() == ("", "")
    assert Path(handed(target)).read_bytes() == origin.content


def test_a_folder_that_others_lead_elsewhere(lap: Machine) -> None:
    """A link in the place of the folder for received documents is not followed, and while a document comes it does not
    matter what becomes of the name of the folder."""
    Client(lap)
    elsewhere = lap.folder / "elsewhere"
    elsewhere.mkdir()
    origin = Origin(lap, os.urandom(600_000))
    connection = origin.begin()
    origin.send(connection, origin.checked[:400_000], ends=False)
    wait(lambda: parts(lap), "a part")
    folder(lap).rename(lap.folder / "moved")
    folder(lap).symlink_to(elsewhere)
    origin.send(connection, origin.checked[400_000:])
    error, message = origin.outcome()
    assert error == "AccessDenied" and "not where it was placed" in message
    assert not list(elsewhere.iterdir())
    assert (lap.folder / "moved" / "Letter.txt").read_bytes() == origin.content


def test_downloads(machine_list: list[Machine]) -> None:
    """Received documents are placed in the folder for downloads of xdg-user-dirs, which may be a link."""
    lap = Machine("lap")
    machine_list.append(lap)
    (lap.folder / "disk").mkdir()
    downloads = Path(lap.environment["HOME"], "Übertragen")
    downloads.symlink_to(lap.folder / "disk")
    Path(lap.environment["XDG_CONFIG_HOME"], "user-dirs.dirs").write_text('XDG_DOWNLOAD_DIR="$HOME/Übertragen"\n')
    lap.start_broker()
    lap.start_bridge()
    target = Client(lap)
    assert Origin(lap).deliver() == ("", "")
    assert Path(handed(target)) == downloads / "Handoff" / "Letter.txt"
    assert (lap.folder / "disk" / "Handoff" / "Letter.txt").read_bytes() == b"Dear reader"


@pytest.mark.parametrize(("call", "error"), [
    ("pwrite64", "EIO"), ("pwrite64", "ENOSPC"), ("pwrite64", "EDQUOT"), ("fsync", "EIO"), ("renameat2", "EIO"),
    ("fallocate", "ENOSPC")])
def test_the_kernel_fails(lap: Machine, call: str, error: str) -> None:
    """Whatever the file system refuses while a document is placed is a clear failure, after which nothing is left."""
    Client(lap)
    origin = Origin(lap)
    with Tracer(lap, "-e", f"inject={call}:error={error}:when=1", "-e", f"trace={call}", daemon="handoffd"):
        origin.send(origin.begin())
        name, message = origin.outcome()
    assert name == ("AccessDenied" if error == "EIO" else "LimitsExceeded") and str(folder(lap)) in message
    wait(lambda: not files(lap), "the part to be removed")


@pytest.mark.parametrize(("call", "error"), [("renameat2", "EINVAL"), ("fallocate", "EOPNOTSUPP"), ("flock", "ENOLCK"),
                                             ("sync_file_range", "ENOSYS")])
def test_a_file_system_that_cannot_do_everything(lap: Machine, call: str, error: str) -> None:
    """A document arrives on a file system that does not know how to rename without replacing, how to set space aside, or
    how to lock; nothing is overwritten there either."""
    target = Client(lap)
    origin = Origin(lap, os.urandom(40_000_000) if call == "sync_file_range" else b"Dear reader")
    folder(lap).mkdir()
    (folder(lap) / "Letter.txt").write_text("mine")
    with Tracer(lap, "-e", f"inject={call}:error={error}", "-e", f"trace={call}", daemon="handoffd") as tracer:
        assert origin.deliver() == ("", "")
        wait(lambda: "INJECTED" in tracer.output.read_text(), "the call to fail")
    assert Path(handed(target)).name == "Letter (2).txt"
    assert files(lap) == {"Letter.txt": b"mine", "Letter (2).txt": origin.content}
