# SPDX-License-Identifier: LGPL-2.1-or-later
"""The address book, and a program with the broker's name that hands it as streams what are none."""

from __future__ import annotations

import os
import select
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from buses import BusError, let_pass, wait
from contacts import PROGRAM, Contacts, contact, file_of, not_built, store
from false_broker import Answer, FalseBroker, giving
from gi.repository import GLib
from support import Machine, processor_time
from test_contacts import desk
from windows import Part

if reason := not_built():
    pytest.skip(reason, allow_module_level=True)

__all__ = ["desk"]
LIST = "org.example.contacts.list"
# A stream is given the time that a person would give it before it counts as hanging.
PATIENCE = 10


def opened(path: str | Path, flags: int = os.O_RDONLY) -> Callable[[ExitStack], int]:
    def make(stack: ExitStack) -> int:
        descriptor = os.open(path, flags)
        stack.callback(os.close, descriptor)
        return descriptor
    return make


def pipe_end(end: int, *, closes_other: bool, content: bytes = b"") -> Callable[[ExitStack], int]:
    def make(stack: ExitStack) -> int:
        ends = os.pipe()
        os.write(ends[1], content)
        for number, descriptor in enumerate(ends):
            if number != end and closes_other:
                os.close(descriptor)
            else:
                stack.callback(os.close, descriptor)
        return ends[end]
    return make


def socket_end(kind: int, *, content: bytes = b"", closes_other: bool = False) -> Callable[[ExitStack], int]:
    def make(stack: ExitStack) -> int:
        mine, other = socket.socketpair(socket.AF_UNIX, kind)
        if content:
            other.send(content)
        stack.enter_context(mine)
        other.close() if closes_other else stack.enter_context(other)
        return mine.fileno()
    return make


def listening(stack: ExitStack) -> int:
    listener = stack.enter_context(socket.socket(socket.AF_INET))
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    return listener.fileno()


def unconnected(family: int, kind: int) -> Callable[[ExitStack], int]:
    return lambda stack: stack.enter_context(socket.socket(family, kind)).fileno()


def counter(stack: ExitStack) -> int:
    descriptor = os.eventfd(1)
    stack.callback(os.close, descriptor)
    return descriptor


def poll_set(stack: ExitStack) -> int:
    return stack.enter_context(select.epoll()).fileno()


HEADER = b'{"version":1,"count":1}\n'
ODD: dict[str, Callable[[ExitStack], int]] = {
    "a file": opened("/etc/passwd"),
    "a directory": opened("/etc", os.O_RDONLY | os.O_DIRECTORY),
    "a path": opened("/etc/passwd", os.O_PATH),
    "/dev/zero": opened("/dev/zero", os.O_RDWR),
    "/dev/null": opened("/dev/null", os.O_RDWR),
    "/dev/full": opened("/dev/full", os.O_RDWR),
    "a pipe in which nothing comes": pipe_end(0, closes_other=False),
    "a pipe with contacts": pipe_end(0, closes_other=False, content=HEADER),
    "a pipe that has ended": pipe_end(0, closes_other=True),
    "a pipe to write into": pipe_end(1, closes_other=False),
    "a pipe that nobody reads": pipe_end(1, closes_other=True),
    "a stream whose other end is closed": socket_end(socket.SOCK_STREAM, closes_other=True),
    "a stream that ends too early": socket_end(socket.SOCK_STREAM, content=HEADER, closes_other=True),
    "a socket of datagrams with nonsense": socket_end(socket.SOCK_DGRAM, content=b"nonsense\n", closes_other=True),
    "a socket of datagrams on which nothing comes": socket_end(socket.SOCK_DGRAM),
    "a socket of packets on which nothing comes": socket_end(socket.SOCK_SEQPACKET),
    "a socket of packets with contacts": socket_end(socket.SOCK_SEQPACKET, content=HEADER),
    "a socket of packets whose other end is closed": socket_end(socket.SOCK_SEQPACKET, closes_other=True),
    "a socket that takes connections": listening,
    "a socket without a connection": unconnected(socket.AF_UNIX, socket.SOCK_STREAM),
    "a socket of the network without a connection": unconnected(socket.AF_INET, socket.SOCK_STREAM),
    "a counter": counter,
    "a set of descriptors": poll_set,
}
# Those of them that are streams, though they end too early.
STREAMS = {"a stream whose other end is closed", "a stream that ends too early"}


class Usage:
    """What a process has in use."""

    def __init__(self, pid: int) -> None:
        self.process = Path(f"/proc/{pid}")

    def descriptors(self) -> int:
        return len(list((self.process / "fd").iterdir()))

    def threads(self) -> list[str]:
        """The names of its threads."""
        return [(task / "comm").read_text().strip() for task in (self.process / "task").iterdir()]

    def seconds(self) -> float:
        """The processor time that it has used."""
        return processor_time(int(self.process.name))


@pytest.fixture
def book(desk: Machine) -> Iterator[tuple[Contacts, FalseBroker]]:
    """The address book with one contact, registered with what it takes for the broker."""
    store(desk, [contact(1, name="Mine")])
    broker = FalseBroker(desk)
    window = Contacts(desk, desk.screen)
    window.wait_until(lambda: window.names() == ["Mine"], "the list")
    broker.wait_for_client()
    yield window, broker
    assert window.process.poll() is None
    assert "CRITICAL" not in desk.log(PROGRAM)


def receive(window: Contacts, broker: FalseBroker, answer: Answer) -> str:
    """Has the address book receive contacts by this stream, and returns what it says of that."""
    broker.answer = answer
    outcome = broker.hand_over(LIST, SupportsContinuationStreams=GLib.Variant("b", True))
    try:
        outcome()
    except BusError:
        # What is on a page that was left is still found, but can't be pressed.
        window.wait_until(lambda: can_close(window), "a failure")
        said = " ".join(label.name for label in window.find("label"))
        assert "Couldn’t Continue from nowhere" in said
        closing(window)[0].press()
        window.wait_until(lambda: not can_close(window), "the list again")
        return said
    window.wait_until(lambda: window.find("label", "Couldn’t Receive Contacts"), "a failure")
    said = " ".join(label.name for dialog in window.find("dialog") for label in dialog.parts() if label.role == "label")
    window.answer("Close")
    return said


def can_close(window: Contacts) -> bool:
    """Whether a failure is shown that can be closed."""
    return any(button.is_sensitive for button in closing(window))


def closing(window: Contacts) -> list[Part]:
    """The buttons that close a failure. That of the window has a picture, and no text."""
    return [button for button in window.find("push button", "Close")
            if any(part.role == "label" for part in button.children())]


@pytest.mark.long
def test_received(book: tuple[Contacts, FalseBroker], desk: Machine) -> None:
    """What is handed over as a stream and is none is an error, and neither hangs nor keeps anything busy"""
    window, broker = book
    usage, before = Usage(window.process.pid), file_of(desk).read_bytes()
    # What is needed once, and then kept, is there after this.
    receive(window, broker, giving())
    # As long as what was received takes to be closed.
    let_pass(0.2)
    descriptors = usage.descriptors()
    for name, make in ODD.items():
        with ExitStack() as stack:
            began = time.monotonic()
            said = receive(window, broker, giving(make(stack)))
            assert said, name
            # What it is, why that is no stream, and what to do.
            refused = "What came as a stream is" in said and "tell an end from a break" in said and "again" in said
            assert refused == (name not in STREAMS), f"{name}: {said}"
            assert time.monotonic() - began < PATIENCE, name
            used = usage.seconds()
            # Twice as long as it may be busy in that time.
            let_pass(0.3)
            assert usage.seconds() - used < 0.15, f"{name} keeps the program busy"
            wait(lambda: usage.descriptors() <= descriptors, f"{name} to be closed")
            wait(lambda: "handoff reading" not in usage.threads(), f"the end of the thread of {name}")
            print(f"{name}: {said}")
    assert file_of(desk).read_bytes() == before
    assert window.names() == ["Mine"]


def test_answers(book: tuple[Contacts, FalseBroker]) -> None:
    """An answer to opening a stream that has no descriptor, too many, or something else in it is an error"""
    window, broker = book
    with ExitStack() as stack:
        end, other = (socket_end(socket.SOCK_STREAM, closes_other=True)(stack) for _ in range(2))
        for answer in (giving(), giving(signature="()", values=()), giving(signature="(s)", values=("x",)),
                       giving(end, values=(7,)), giving(end, signature="(u)"),
                       giving(end, other, signature="(hh)", values=(0, 1)), giving(*([end] * 16))):
            assert receive(window, broker, answer)


def test_to_be_sent(book: tuple[Contacts, FalseBroker], desk: Machine, tmp_path: Path) -> None:
    """What is handed over to write contacts into, and is no stream, gets nothing, and does no harm"""
    window, broker = book
    usage = Usage(window.process.pid)
    file = tmp_path / "file"
    file.write_bytes(b"")
    descriptors = usage.descriptors()
    for name, make in (ODD | {"a file to write into": opened(file, os.O_RDWR)}).items():
        with ExitStack() as stack:
            if name in STREAMS:
                broker.give_stream(make(stack))
            else:
                with pytest.raises(BusError, match="What came as a stream is .*socketpair"):
                    broker.give_stream(make(stack))
            used = usage.seconds()
            # Twice as long as it may be busy in that time.
            let_pass(0.3)
            assert usage.seconds() - used < 0.15, f"{name} keeps the program busy"
            wait(lambda: usage.descriptors() <= descriptors, f"{name} to be closed")
    assert not file.read_bytes()
    assert window.names() == ["Mine"]
