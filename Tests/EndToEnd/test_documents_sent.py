# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a peer gets of a document, and what it does not: files, links, and peers that do not keep to the rules."""

from __future__ import annotations

import os
import socket
import threading
import time
from pathlib import Path

import pytest
from asker import MUCH, Asker, document, receive, stopped_after
from buses import ROOT, BusError
from stranger import frame
from streams import Counts
from support import Machine, refused


# What arrives.


@pytest.mark.parametrize("size", [0, 1, 31, 32, 33, 262_144, 5_000_000])
def test_document_arrives(machine: Machine, size: int) -> None:
    """A document arrives whole, with its name, size, type and time, and nothing is left of it in the daemons."""
    counts = Counts(machine)
    data = os.urandom(size)
    asker = Asker(machine, document(machine, data))
    connection, about = asker.open()
    assert len(bytes.fromhex(about.pop("Document"))) == 16
    assert about == {"Name": "Letter.odt", "Size": size, "Modified": 1_600_000_000_000_000,
                     "ContentType": asker.fetch()["DocumentType"]}
    assert receive(connection).document == data
    connection.send_bytes(frame(b""))
    connection.wait_until_closed()
    connection.close()
    asker.origin.close()
    asker.link.close()
    counts.wait_until_as_before()
    assert not threads(machine)


def threads(machine: Machine) -> list[str]:
    """The threads of the broker that have to do with documents."""
    tasks = Path(f"/proc/{machine.processes['handoffd'].pid}/task").iterdir()
    return [name for task in tasks if (name := (task / "comm").read_text()).startswith("document")]


def test_one_after_the_other(machine: Machine) -> None:
    """The next document can be asked for as soon as the one before is there, as often as one likes."""
    asker = Asker(machine, document(machine, b"again"))
    for _ in range(20):
        connection, _ = asker.open()
        assert receive(connection).document == b"again"
        connection.send_bytes(frame(b""))
        connection.close()


def test_document_of_the_latest_fetch(machine: Machine) -> None:
    """The document is the one that the activity had when it was last fetched, whatever it has by now."""
    asker = Asker(machine, document(machine, b"first"))
    second = document(machine, b"second", "Other.odt")
    asker.activity.update(DocumentURL=f"file://{second}")
    assert asker.get().document == b"first"
    asker.fetch()
    assert asker.get().document == b"second"
    asker.activity.update(DocumentURL="")
    asker.fetch()
    with refused("NotSupported", containing=("no document",)):
        asker.ask()


def test_document_is_logged_and_remembered(machine: Machine) -> None:
    """Each document is logged with the name of the peer, and handoff status shows it, and how many there were."""
    asker = Asker(machine, document(machine))
    asker.get()
    asker.wait_for_log("other gets the document of “Letter”")
    latest = machine.session.get(ROOT, "Manager.RecentFetches")[0]
    assert (latest["Kind"], latest["DeviceId"], latest["Title"]) == ("document", asker.device.id, "Letter")
    assert machine.session.get(ROOT, "Manager.FetchesByDevice")[0]["Documents"] == 1
    shown = machine.run("handoff", "status").stdout.splitlines()
    assert any(line.split()[-4:-1] == ["document", "other", "Letter"] for line in shown), shown
    assert any("DOCUMENTS" in line for line in shown), shown


# What is no document.


def test_nothing_but_regular_files(machine: Machine) -> None:
    """A folder, a FIFO, a device, a socket, a file of the system, and what is not there are refused by name alone."""
    home = Path(machine.environment["HOME"])
    (home / "folder").mkdir()
    os.mkfifo(home / "fifo")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(home / "socket"))
    (home / "private").write_text("x")
    expected = {
        home / "folder": "NotSupported", home / "fifo": "NotSupported", home / "socket": "NotSupported",
        Path("/dev/null"): "NotSupported", Path("/dev/zero"): "NotSupported", Path("/dev/tty"): "NotSupported",
        Path("/proc/self/environ"): "AccessDenied", Path("/proc/version"): "AccessDenied",
        Path("/proc/self/exe"): "AccessDenied", Path("/proc/self/fd/0"): "AccessDenied",
        Path("/sys/kernel/uevent_seqnum"): "AccessDenied", home / "missing": "NotSupported",
        home / "missing" / "deep": "NotSupported", home / "private" / "below": "NotSupported",
    }
    asker = Asker(machine, home / "missing")
    counts = Counts(machine)
    for path, name in expected.items():
        asker.activity.update(DocumentURL=f"file://{path}")
        asker.fetch()
        # Not every machine has all of them.
        with refused(name, "NotSupported"):
            asker.ask()
    listener.close()
    counts.wait_until_as_before()
    assert machine.folder.name not in machine.log("handoffd")


@pytest.mark.parametrize("end", ["", "/", "/.", "/..", "/a%2Fb", "/%00", "/a%00b", "/a#b", "/a?b", "/%2e%2e"])
def test_paths_that_name_no_file(machine: Machine, end: str) -> None:
    """A path that ends in a folder, and names that are escaped, are not found, and lead nowhere else."""
    document(machine)
    asker = Asker(machine, f"file://{machine.environment['HOME']}{end}")
    with refused("NotSupported"):
        asker.ask()


def test_names_are_bytes(machine: Machine) -> None:
    """A name of 255 bytes, one that is no text, and one with markup and control characters arrive, at most 255 bytes of
    them as text."""
    for name in (b"x" * 251 + b".odt", b"\xff\xfe" * 100, "Brief „<b>“\x1b[31m\n\u202e.txt".encode(), b"50% #1?.txt"):
        asker = Asker(machine, document(machine, name, name))
        connection, about = asker.open()
        text = name.decode(errors="replace")
        assert about["Name"] == text[:len(about["Name"])]
        assert len(about["Name"].encode()) in (len(text.encode()), 253, 254, 255)
        assert receive(connection).document == name
        asker.activity.invalidate()
        asker.origin.close()
        asker.link.close()


def test_unreadable_file(machine: Machine) -> None:
    """A file that the user may not read is refused, and the message says so without its folder."""
    if os.geteuid() == 0:
        pytest.skip("nothing is unreadable for root")
    path = document(machine)
    path.chmod(0)
    with refused("AccessDenied", containing=("“Letter.odt”",)):
        Asker(machine, path).ask()


# Links.


def test_links_out_of_the_folder(machine: Machine) -> None:
    """A link to a file beside it is followed, one that leads out of its folder is not, nor one that begins at the root."""
    home = Path(machine.environment["HOME"])
    secret = document(machine, b"secret")
    within = document(machine, b"within", "Documents/here.odt")
    folder = within.parent
    for name, target in (("beside", "here.odt"), ("out", "../Letter.odt"), ("absolute", str(secret)),
                         ("there", str(within)), ("loop", "loop"), ("proc", "/proc/self/exe"),
                         ("magic", "/proc/self/fd/0")):
        (folder / name).symlink_to(target)
    (home / "way").symlink_to(folder)
    asker = Asker(machine, folder / "beside")
    assert asker.get().document == b"within"
    asker.activity.update(DocumentURL=f"file://{home}/way/here.odt")
    asker.fetch()
    assert asker.get().document == b"within"
    for name in ("out", "absolute", "there", "loop", "proc", "magic"):
        asker.activity.update(DocumentURL=f"file://{folder}/{name}")
        asker.fetch()
        with refused("AccessDenied", containing=(f"“{name}”", "link")):
            asker.ask()


@pytest.mark.long
def test_links_that_are_swapped(machine: Machine) -> None:
    """While a name is swapped between the document and a link out of its folder, only the document ever arrives."""
    secret = document(machine, b"secret")
    path = document(machine, b"harmless", "Documents/Letter.odt")
    over = threading.Event()

    def swap() -> None:
        other, link = path.with_name("other"), path.with_name("link")
        while not over.is_set():
            link.symlink_to(secret)
            os.rename(link, path)
            other.write_bytes(b"harmless")
            os.rename(other, path)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        asker = Asker(machine, path)
        outcomes: dict[str, int] = {}
        end = time.monotonic() + 20
        while time.monotonic() < end:
            try:
                received = asker.get()
                outcome = received.data[:8].decode() if received.ended else "broken"
                assert received.is_broken or received.document == b"harmless"
            except Exception as error:
                outcome = getattr(error, "short_name", None) or str(error)
                assert outcome in ("AccessDenied", "NotSupported"), error
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
    finally:
        over.set()
        thread.join()
    assert {"harmless", "AccessDenied"} <= outcomes.keys(), outcomes


# Files that change.


@pytest.mark.parametrize("change", ["grows", "shrinks", "is written", "is touched"])
def test_file_that_changes(machine: Machine, change: str) -> None:
    """A file that changes while it is sent never arrives as a whole: its stream is broken at once, and the log says why."""
    path = document(machine, bytes(MUCH))
    asker = Asker(machine, path)
    connection = stopped_after(asker)
    match change:
        case "grows":
            with path.open("ab") as file:
                file.write(b"more")
        case "shrinks": os.truncate(path, MUCH - 1)
        case "is written":
            with path.open("r+b") as file:
                file.write(b"changed")
        case "is touched": os.utime(path)
    received = receive(connection, answering=asker.link)
    assert received.is_broken and len(received.data) < MUCH // 2, "the rest is sent all the same"
    asker.wait_for_log("the file has changed in the meantime")
    connection.close()
    # The next attempt finds it as it is.
    assert asker.get().document == path.read_bytes()


def test_file_that_is_replaced(machine: Machine) -> None:
    """A file that is replaced or deleted while it is sent arrives as it was."""
    former = os.urandom(1 << 20) * 64
    path = document(machine, former)
    asker = Asker(machine, path)
    connection = stopped_after(asker)
    path.with_name("new").write_bytes(b"new")
    os.rename(path.with_name("new"), path)
    rest = receive(connection, answering=asker.link)
    # The first frame has been read already.
    assert rest.ended and former.endswith(rest.data[:-32][-(1 << 20):])
    connection.send_bytes(frame(b""))
    connection.wait_until_closed()
    connection.close()
    assert asker.get().document == b"new"


def test_file_that_has_just_changed(machine: Machine) -> None:
    """A file that was written just before arrives too, looked at twice, and one that is written again and again arrives in
    one of its states or not at all."""
    path = document(machine)
    path.write_bytes(b"a" * 3_000_000)
    asker = Asker(machine, path)
    assert asker.get().document == b"a" * 3_000_000
    over = threading.Event()

    def write() -> None:
        letters = 0
        with path.open("r+b", buffering=0) as file:
            while not over.is_set():
                letters += 1
                os.pwrite(file.fileno(), b"ab"[letters % 2:][:1] * 3_000_000, 0)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(20):
            try:
                received = asker.get()
            except BusError as error:
                # Where much runs beside it, the end of the one before takes a while to be seen.
                assert error.short_name == "LimitsExceeded"
                continue
            assert received.is_broken or received.document in (b"a" * 3_000_000, b"b" * 3_000_000)
    finally:
        over.set()
        thread.join()
    assert asker.get().document == path.read_bytes()


@pytest.mark.long
def test_five_gigabytes(machine: Machine) -> None:
    """A document of five gigabytes arrives, and the broker does not grow with it."""
    path = Path(machine.environment["HOME"], "Sparse.img")
    with path.open("wb") as file:
        file.truncate(5 << 30)
        file.seek(5 << 30)
        file.write(b"end")
    os.utime(path, (1_600_000_000, 1_600_000_000))
    asker = Asker(machine, path)
    connection, about = asker.open()
    assert about["Size"] == (5 << 30) + 3
    size, last = 0, b""
    connection.socket.settimeout(30)
    reader = connection.socket.makefile("rb", 1 << 20)
    while length := int.from_bytes(reader.read(4), "big"):
        last = (last + reader.read(length))[-40:]
        size += length
        # The link is served meanwhile, or it would be given up.
        if size >> 20 != size - length >> 20:
            asker.link.read_messages()
    assert size == (5 << 30) + 35 and last[:8] == bytes(5) + b"end"
    connection.send_bytes(frame(b""))
    connection.wait_until_closed()
