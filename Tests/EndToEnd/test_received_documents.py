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
from buses import let_pass, wait
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


def test_never_overwriting(lap: Machine) -> None:
    """What has the name already stays as it is, whether it is a file, a link or a pipe: the document gets a number."""
    target, place = Client(lap), folder(lap)
    place.mkdir()
    victim = lap.folder / "victim"
    victim.write_text("mine")
    (place / "Letter.txt").symlink_to(victim)
    (place / "Letter (2).txt").write_text("mine too")
    os.mkfifo(place / "Letter (3).txt")
    assert Origin(lap).deliver() == ("", "")
    assert Path(handed(target)) == place / "Letter (4).txt"
    assert victim.read_text() == "mine" and (place / "Letter (2).txt").read_text() == "mine too"


CHANGES = {
    "wrong checksum": lambda data: data[:-1] + bytes([data[-1] ^ 1]), "too short": lambda data: data[1:],
    "too long": lambda data: data + b"x", "half": lambda data: data[:len(data) // 2], "nothing": lambda data: b"",
    "no checksum": lambda data: data[:-32], "changed": lambda data: bytes([data[0] ^ 1]) + data[1:], "much more": lambda data: data + bytes(5_000_000)}


@pytest.mark.parametrize("what", [*CHANGES, "cut"])
def test_wrong_document(lap: Machine, what: str) -> None:
    """Size and SHA-256 are checked: a document that is not what was announced, or breaks off, is a clear failure, is not
    acknowledged, and nothing is left of it."""
    target = Client(lap)
    origin = Origin(lap, os.urandom(300_000))
    connection = origin.begin()
    if what == "cut":
        origin.send(connection, origin.checked[:200_000], ends=False)
        wait(lambda: parts(lap), "a part")
        connection.close()
    else:
        origin.send(connection, CHANGES[what](origin.checked))
    error, message = origin.outcome()
    assert error == "ConnectionUnavailable" and "try again" in message
    wait(lambda: not files(lap), "the part to be removed")
    target.wait_for("DidFailToContinueActivity")
    assert not target.called("ContinueActivity")
    # No end of the empty direction, which would acknowledge it. Where nothing came, there is nothing to acknowledge.
    assert what == "nothing" or connection.closed or connection.take(4) == b""


def test_nothing_has_its_name_before_it_is_complete(lap: Machine) -> None:
    """A partial file is never visible under its final name, and progress is told, at most every 100 ms."""
    Client(lap)
    origin = Origin(lap, os.urandom(2_000_000))
    connection = origin.begin()
    data = origin.checked
    for start in range(0, len(data), 50_000):
        origin.send(connection, data[start:start + 50_000], ends=False)
        assert all(name.startswith(".handoff-") for name in files(lap)), files(lap)
        # Together most of a second, since progress is told at most every 0.1 s.
        let_pass(0.02)
    origin.send(connection, b"")
    assert origin.outcome() == ("", "")
    wait(lambda: origin.dock.offers[origin.path]["Progress"] == -1, "the end of the progress")
    told = [event for event in origin.dock.events if event.member == "PropertiesChanged" and event.path == origin.path
            and "Progress" in event.arguments.unpack()[1]]
    values = [event.arguments.unpack()[1]["Progress"] for event in told]
    assert values == [*sorted(values[:-1]), -1] and values[-2] == 1 and len(values) > 3
    pauses = [later.at - earlier.at for earlier, later in zip(told[1:], told[2:-2])]
    assert all(pause > 0.05 for pause in pauses), pauses


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


def test_switched_off_while_it_comes(lap: Machine) -> None:
    """Switching Handoff off while a document comes ends that, and nothing is left."""
    target = Client(lap)
    origin = Origin(lap, os.urandom(600_000))
    origin.send(origin.begin(), origin.checked[:400_000], ends=False)
    wait(lambda: parts(lap), "a part")
    lap.set_enabled(False)
    wait(lambda: origin.dock.finished(), "ContinueFinished")
    assert origin.dock.finished()[0][1].endswith(".Disabled")
    wait(lambda: not files(lap), "the part to be removed")
    target.wait_for("DidFailToContinueActivity")


@pytest.mark.parametrize("size", [1 << 50, (1 << 64) - 1])
def test_a_size_that_does_not_fit(lap: Machine, size: int) -> None:
    """A document that is announced to be larger than the disk is refused before it comes, with both sizes."""
    Client(lap)
    origin = Origin(lap, Size=GLib.Variant("t", size))
    connection = origin.begin()
    error, message = origin.outcome()
    assert error == "LimitsExceeded" and "room for" in message and "GB" in message and str(folder(lap)) in message
    assert not files(lap)
    # It is not acknowledged, even though it is all there by now.
    origin.send(connection)
    assert connection.take(4) == b""


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


def test_linked_folder(lap: Machine) -> None:
    """If the folder for received documents is a link, no document is placed there, and the error says what to do."""
    Client(lap)
    elsewhere = lap.folder / "elsewhere"
    elsewhere.mkdir()
    folder(lap).symlink_to(elsewhere)
    origin = Origin(lap)
    origin.begin()
    error, message = origin.outcome()
    assert error == "AccessDenied" and str(folder(lap)) in message and "link" in message
    assert not list(elsewhere.iterdir())


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
