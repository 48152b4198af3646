# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a file system or a kernel does not do while a document is opened and sent."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest
from gi.repository import GLib
from asker import MUCH, Asker, document, receive
from buses import BROKER, ROOT, wait
from hanging import HangingFiles
from link import CONTINUATION, method_call
from streams import Counts
from support import Machine, refused
from tracing import Tracer


def test_file_system_that_does_not_answer(machine: Machine) -> None:
    """A document whose file system does not answer is refused within five seconds, the user's calls are answered
    meanwhile, the next call is refused as long as that goes on, and then the document can be had."""
    counts = Counts(machine)
    asker = Asker(machine, document(machine))
    with Tracer(machine, "-e", "inject=openat2:delay_enter=7s:when=1", "-e", "trace=openat2", daemon="handoffd"):
        begin = time.monotonic()
        waiting = asker.link.send(method_call("Link.OpenDocument", GLib.Variant("(say)", (CONTINUATION, b""))))
        while not asker.link.answer_to(waiting):
            called = time.monotonic()
            machine.session.get(ROOT, "Manager.Enabled")
            assert time.monotonic() - called < 1
        assert 3 < time.monotonic() - begin < 6
        answer = asker.link.answer_to(waiting)
        assert answer.get_error_name().endswith("ConnectionUnavailable")
        assert "file system" in answer.get_body().unpack()[0]
        begun = time.monotonic()
        with refused("ConnectionUnavailable", containing=("file system",)):
            asker.ask()
        assert time.monotonic() - begun < 1
        wait(lambda: time.monotonic() - begin > 8 and asker.link.read_messages() is not None, "the file system", 12)
    assert asker.get().document == b"Dear Sir"
    asker.link.close()
    asker.origin.close()
    counts.wait_until_as_before()


def test_other_documents(machine: Machine, tmp_path: Path) -> None:
    """A document whose file system does not answer, asked for again and again, keeps nobody from another document."""
    try:
        files = HangingFiles(tmp_path / "files")
    except OSError as error:
        pytest.skip(f"no file system can be mounted: {error}")
    try:
        asker = Asker(machine, files.place / "Papers" / "Letter.odt")
        for _ in range(20):
            with refused("ConnectionUnavailable", containing=("file system",)):
                asker.ask()
        asker.activity.update(DocumentURL=f"file://{document(machine, b'small', 'Small.odt')}")
        asker.fetch()
        assert asker.get().document == b"small"
    finally:
        files.close()


def test_end_while_a_file_system_does_not_answer(machine: Machine, tmp_path: Path) -> None:
    """A broker that is to end leaves the bus at once and makes room for the next, though the kernel keeps it as long as a
    file system does not answer."""
    try:
        files = HangingFiles(tmp_path / "files")
    except OSError as error:
        pytest.skip(f"no file system can be mounted: {error}")
    try:
        asker = Asker(machine, files.place / "Papers" / "Letter.odt")
        asker.link.send(method_call("Link.OpenDocument", GLib.Variant("(say)", (CONTINUATION, b""))))
        wait(files.waiting.is_set, "the broker to wait for the file system")
        former = machine.processes.pop("handoffd")
        former.send_signal(signal.SIGTERM)
        begin = time.monotonic()
        wait(lambda: not machine.session.owner(BROKER), "the broker to leave the bus", 1)
        assert former.poll() is None, "nothing has kept it"
        machine.start_broker()
        assert time.monotonic() - begin < 3
    finally:
        files.close()
    former.wait(10)


def test_kernel_without_openat2(machine: Machine) -> None:
    """On a kernel without openat2 a document arrives, and no link is followed at all."""
    path = document(machine)
    link = path.with_name("link")
    link.symlink_to(path.name)
    asker = Asker(machine, path)
    with Tracer(machine, "-e", "inject=openat2:error=ENOSYS", "-e", "trace=openat2", daemon="handoffd") as tracer:
        assert asker.get().document == b"Dear Sir"
        asker.activity.update(DocumentURL=f"file://{link}")
        asker.fetch()
        with refused("AccessDenied", containing=("“link”",)):
            asker.ask()
        wait(lambda: tracer.output.read_text().count("INJECTED") >= 2, "the calls to fail")


@pytest.mark.parametrize("when", ["1", "20"])
def test_file_that_cannot_be_read(machine: Machine, when: str) -> None:
    """A file that cannot be read, at its beginning or in the middle, breaks the stream, and the log says why."""
    asker = Asker(machine, document(machine, bytes(MUCH)))
    with Tracer(machine, "-e", f"inject=pread64:error=EIO:when={when}", "-e", "trace=pread64", daemon="handoffd"):
        connection, _ = asker.open()
        assert receive(connection).is_broken
        asker.wait_for_log("the file cannot be read: Input/output error")
    connection.close()
