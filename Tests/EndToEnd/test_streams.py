# SPDX-License-Identifier: LGPL-2.1-or-later
"""Streams between the two applications of a continuation."""

# This file is long because a stream can end in many ways, on either side, and only beside each other is it seen that each
# of them is told apart from the others.

from __future__ import annotations

import itertools
import json
import select
import signal
import socket
import time

import pytest
from buses import BRIDGE_ROOT, BusError, let_pass, wait
from bystanders import Tunnel
from clients import Client, handed_over
from streams import Background, Continuation, Counts, is_broken, receive, send
from support import SANITIZED, Machine, device_path, memory, refused, trust_each_other, wait_for_link

Machines = tuple[Machine, Machine]
# The side that has dialled the link makes the connection of a stream: both ways round.
WAYS = pytest.mark.parametrize("way", [1, -1], ids=["origin dialled", "origin was dialled"])


@WAYS
def test_both_read_what_the_other_writes(machines: Machines, way: int) -> None:
    """What one application writes the other reads, in both directions."""
    here, there = Continuation(*machines[::way]).open()
    here.sendall(b"to the origin")
    assert there.recv(100) == b"to the origin"
    there.sendall(b"from the origin")
    assert here.recv(100) == b"from the origin"


def test_nothing_but_streams(machines: Machines) -> None:
    """An activity with nothing but streams, without even a title, is continued, and each application reads what the other
    writes."""
    continuation = Continuation(*machines, title="")
    arrived = handed_over(continuation.target.called("ContinueActivity")[0])
    assert not any(arrived[key].unpack() for key in ("Title", "UserInfo", "WebpageURL", "DocumentURL") if key in arrived)
    here, there = continuation.open()
    here.sendall(b"to the origin")
    assert there.recv(100) == b"to the origin"
    there.sendall(b"from the origin")
    assert here.recv(100) == b"from the origin"


@WAYS
def test_much_arrives_both_ways_at_once(machines: Machines, way: int) -> None:
    """A hundred megabytes in each direction at once arrive complete and in order."""
    counts = Counts(*machines)
    ends = Continuation(*machines[::way]).open()
    size = 100 << 20
    sending = [Background(lambda end=end, seed=seed: send(end, size, seed)) for seed, end in enumerate(ends)]
    receiving = [Background(lambda end=end: receive(end)) for end in reversed(ends)]
    for sent, got in zip(sending, receiving):
        assert got.result(120) == (size, sent.result(120))
    for end in ends:
        end.close()
    counts.wait_until_as_before()


# Ends of directions.


@pytest.mark.parametrize("order", [order for length in (2, 3, 4) for order in itertools.permutations("aAbB", length)
                                   if {"A", "B"} <= set(order)
                                   and all(order.index(low) < order.index(low.upper()) for low in "ab" if low in order)],
                         ids="".join)
def test_each_direction_ends_on_its_own(machines: Machines, order: tuple[str, ...]) -> None:
    """Each direction ends on its own, in every order of half-closing and closing; nothing is left behind."""
    counts = Counts(*machines)
    ends = dict(zip("ab", Continuation(*machines).open()))
    ended: set[str] = set()
    closed: set[str] = set()
    for step in order:
        side, other = step.lower(), "b" if step.lower() == "a" else "a"
        if side not in ended:
            if other not in closed:
                ends[side].sendall(b"the last of " + side.encode())
            if step == side:
                ends[side].shutdown(socket.SHUT_WR)
            ended.add(side)
        if step != side:
            ends[side].close()
            closed.add(side)
        if other in closed:
            continue
        if order[:order.index(step)].count(side) == 0:
            assert ends[other].recv(100) == b"the last of " + side.encode()
        assert ends[other].recv(100) == b""
        if side not in closed and other not in ended:
            ends[other].sendall(b"still there")
            assert ends[side].recv(100) == b"still there"
    counts.wait_until_as_before()


@WAYS
def test_writing_to_who_has_closed(machines: Machines, way: int) -> None:
    """Whoever writes to an application that has closed its end gets EPIPE, at once if it waits."""
    here, there = Continuation(*machines[::way]).open()
    writing = Background(lambda: send(here, 1 << 30))
    there.recv(1000)
    there.close()
    assert isinstance(writing.error(2), BrokenPipeError | ConnectionResetError)


def test_what_was_written_before_closing_arrives(machines: Machines) -> None:
    """Everything arrives that was written before the application closed its end, though it reads nothing, and leaves the
    bus at once."""
    for side in (0, 1):
        counts = Counts(*machines)
        continuation = Continuation(*machines, title=f"Number {side}")
        ends = list(continuation.open())
        other = ends.pop(1 - side)
        # There is more on the way to it than it ever reads.
        pushing = Background(lambda other=other: send(other, 20 << 20))
        sending = Background(lambda end=ends[0]: send(end, 20 << 20, 7))
        leaving = continuation.target if side == 0 else continuation.origin
        reading = Background(lambda other=other: receive(other))
        sent = sending.result(60)
        ends.pop().close()
        leaving.close()
        assert reading.result(60) == (20 << 20, sent)
        pushing.error(60)
        other.close()
        for client in (continuation.target, continuation.origin):
            client.close()
        counts.wait_until_as_before()
        assert not any("broken" in machine.log("handoff-bridge") for machine in machines)


def test_slow_reader_slows_the_writer(machines: Machines) -> None:
    """Without a reader the writer comes to a stop, each bridge grows by less than 1 MiB, and everything arrives when the
    reader goes on after ten seconds."""
    before = [memory(machine, "handoff-bridge") for machine in machines]
    here, there = Continuation(*machines).open()
    size = 100 << 20
    writing = Background(lambda: send(here, size))
    # As long as the rule says, which is longer than any step of a stream may take (Deadline.stream, 5 s).
    let_pass(10)
    assert not writing.is_over
    for machine, former in zip(machines, before):
        assert SANITIZED or memory(machine, "handoff-bridge") - former < 1 << 20, "more is kept than a buffer"
    reading = Background(lambda: receive(there))
    assert reading.result(60) == (size, writing.result(60))


def test_many_at_once(machines: Machines) -> None:
    """Sixteen streams work at once; one more is refused, until one of them has ended."""
    counts = Counts(*machines)
    continuation = Continuation(*machines)
    opening = [continuation.begin() for _ in range(16)]
    pairs = [finish() for finish in opening]
    with refused("LimitsExceeded", containing=("16",)):
        continuation.open()
    # Which end belongs to which is for the applications to say.
    for number, (here, _) in enumerate(pairs):
        here.sendall(bytes([number]))
    others = {there.recv(1)[0]: there for _, there in pairs}
    size = 2 << 20
    sending = [Background(lambda here=here, number=number: send(here, size, number))
               for number, (here, _) in enumerate(pairs)]
    receiving = [Background(lambda number=number: receive(others[number])) for number in range(16)]
    for sent, got in zip(sending, receiving):
        assert got.result(60) == (size, sent.result(60))
    for end in pairs.pop():
        end.close()
    wait(lambda: can_open(continuation, pairs), "room for one more")
    for end in itertools.chain(*pairs):
        end.close()
    counts.wait_until_as_before()


def can_open(continuation: Continuation, pairs: list) -> bool:
    try:
        pairs.append(continuation.open())
    except BusError:
        return False
    return True


# What is refused.


def test_activity_without_streams(machines: Machines) -> None:
    """An activity that does not say that it has streams has none."""
    origin, target = Client(machines[0]), Client(machines[1])
    continuation = Continuation(*machines, origin, target)
    continuation.activity.update(SupportsContinuationStreams=False)
    with refused("StreamsNotSupported", containing=("SupportsContinuationStreams",)):
        continuation.open()


def test_application_that_takes_no_streams(machines: Machines) -> None:
    """A delegate without DidReceiveStream, one that refuses and one that does not answer: each is told apart."""
    counts = Counts(*machines)
    origin = Client(machines[0], leave_out=("DidReceiveStream",))
    continuation = Continuation(*machines, origin)
    with refused("StreamsNotSupported", containing=("DidReceiveStream",)):
        continuation.open()
    origin.close()
    continuation.target.close()
    origin = Client(machines[0])
    continuation = Continuation(*machines, origin, title="Another")
    origin.fail("DidReceiveStream", "no room for it")
    with refused("ApplicationFailed", containing=("no room for it",)):
        continuation.open()
    assert is_broken(origin.streams.pop())
    origin.hang("DidReceiveStream")
    with refused("ApplicationTimedOut", containing=(origin.application_id,)):
        continuation.open()
    assert is_broken(origin.streams.pop())
    origin.close()
    continuation.target.close()
    counts.wait_until_as_before()


def test_continuation_that_has_ended(machines: Machines) -> None:
    """A continuation that was released opens no stream, nor does one whose activity is gone."""
    continuation = Continuation(*machines)
    continuation.activity.invalidate()
    with refused("UnknownObject"):
        continuation.open()
    continuation.release()
    with refused("UnknownObject"):
        continuation.open()


# What breaks.


def kill(program: str):
    return lambda machine, other, continuation: machine.kill(program)


def end(program: str):
    return lambda machine, other, continuation: machine.kill(program, signal.SIGTERM)


CAUSES = {
    "a dead bridge": kill("handoff-bridge"),
    "a bridge that ends": end("handoff-bridge"),
    "the switch": lambda machine, other, continuation: machine.set_enabled(False),
    "unpairing": lambda machine, other, continuation: machine.session.call(
        device_path(other.device_id), "Device.Unpair"),
}


@pytest.mark.parametrize("side", [0, 1], ids=["at the origin", "where it goes on"])
@pytest.mark.parametrize("cause", CAUSES)
def test_broken_on_both_sides(machines: Machines, cause: str, side: int) -> None:
    """Both applications read ECONNRESET within two seconds, and can write no more, when a bridge dies, Handoff is switched
    off, or the pairing ends, on either side."""
    continuation = Continuation(*machines)
    broken = break_streams(continuation, lambda: CAUSES[cause](machines[side], machines[1 - side], continuation))
    assert broken == [True] * 4


def test_withdrawn_activity_breaks_its_streams(machines: Machines) -> None:
    """The streams of an activity that is invalidated break, and so do those of a continuation that is released."""
    counts = Counts(*machines)
    continuation = Continuation(*machines)
    assert break_streams(continuation, continuation.activity.invalidate) == [True] * 4
    continuation = Continuation(*machines, continuation.origin, continuation.target, title="Another")
    assert break_streams(continuation, continuation.release) == [True] * 4
    for client in (continuation.origin, continuation.target):
        client.close()
    counts.wait_until_as_before()


def break_streams(continuation: Continuation, strike) -> list[bool]:
    """Strikes while one stream is full of bytes and another is idle. Whether the ends of both read an error."""
    busy, idle = continuation.open(), continuation.open()
    writing = [Background(lambda end=end: send(end, 1 << 30)) for end in busy]
    for end in busy:
        end.recv(1000, socket.MSG_WAITALL)
    strike()
    reading = [Background(lambda end=end: is_broken(end)) for end in idle + busy]
    broken = [thread.result(2) for thread in reading]
    for thread in writing:
        assert isinstance(thread.error(2), BrokenPipeError | ConnectionResetError)
    for end in idle + busy:
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            end.sendall(b"more")
        end.close()
    return broken


@pytest.mark.parametrize("cause", CAUSES)
def test_waiting_writer_does_not_hide_the_break(machines: Machines, cause: str) -> None:
    """An application that waits in a write when its stream breaks still reads ECONNRESET, and no end of file."""
    continuation = Continuation(*machines)
    ends = continuation.open()
    for end in ends:
        end.settimeout(None)
    writing = [Background(lambda end=end: send(end, 1 << 30)) for end in ends]
    wait(lambda: all(is_waiting(thread) for thread in writing), "both to wait in send(2)")
    CAUSES[cause](*machines, continuation)
    for thread in writing:
        assert isinstance(thread.error(2), BrokenPipeError | ConnectionResetError)
    assert [Background(lambda end=end: is_broken(end)).result(2) for end in ends] == [True, True]


def is_waiting(thread: Background) -> bool:
    """Whether a thread has waited in the system for some time."""
    with open(f"/proc/self/task/{thread.number}/syscall") as file:
        before = file.read()
    time.sleep(0.2)
    with open(f"/proc/self/task/{thread.number}/syscall") as file:
        return before == file.read() != "running\n"


@pytest.mark.parametrize("side", [0, 1], ids=["at the origin", "where it goes on"])
def test_streams_outlive_the_broker(machines: Machines, side: int) -> None:
    """A broker is not needed any more by a stream that is open: it goes on when the broker is killed, and when it is back."""
    counts = Counts(*machines)
    machine = machines[side]
    continuation = Continuation(*machines)
    here, there = continuation.open()
    size = 300 << 20
    writing = Background(lambda: send(here, size))
    there.recv(1)
    machine.kill("handoffd")
    machine.start_broker()
    received, _ = Background(lambda: receive(there)).result(60)
    assert received + 1 == size
    writing.result(60)
    there.sendall(b"thanks")
    there.close()
    assert here.recv(100) == b"thanks" and here.recv(100) == b""
    here.close()
    for client in (continuation.origin, continuation.target):
        client.close()
    counts.wait_until_as_before()


@pytest.mark.parametrize("side", [0, 1], ids=["the origin's", "the continuing one"])
def test_killed_application(machines: Machines, side: int) -> None:
    """When an application dies the other one is told at once: it reads the end, and can write no more."""
    continuation = Continuation(*machines)
    ends = list(continuation.open())
    dying = ends[1 - side]
    writing = Background(lambda: send(ends[side], 1 << 30))
    dying.sendall(b"the last words")
    dying.recv(100)
    # What a kernel does for a process that is killed: all is closed, the stream and the bus.
    dying.close()
    (continuation.origin if side == 0 else continuation.target).close()
    assert ends[side].recv(100) == b"the last words"
    assert ends[side].recv(100) == b""
    assert isinstance(writing.error(2), BrokenPipeError | ConnectionResetError)


def test_replaced_bridge(machines: Machines) -> None:
    """When another bridge takes the place of one, the streams of that break, and none of them seems to end in order."""
    desk, _lap = machines
    pairs = [Continuation(*machines, title=f"Number {number}").open() for number in range(3)]
    former = desk.processes["handoff-bridge"]
    desk.start("handoff-bridge", "--no-discovery", f"--listen={desk.host_address}:{desk.port}", "--replace")
    reading = [Background(lambda end=end: is_broken(end)) for pair in pairs for end in pair]
    assert [thread.result(5) for thread in reading] == [True] * 6
    wait(lambda: former.poll() is not None, "the end of the former bridge")
    assert former.returncode == 0
    # Left to the fixture when it is ready.
    wait(lambda: desk.session.get(BRIDGE_ROOT, "Bridge.Port"), "the port of the new one")


def test_end_in_order_before_the_bridge_ends(machines: Machines) -> None:
    """A direction that had ended in order before the bridge was asked to end is complete."""
    here, there = Continuation(*machines).open()
    there.sendall(b"complete")
    there.shutdown(socket.SHUT_WR)
    wait(lambda: here.recv(100, socket.MSG_PEEK) == b"complete", "the bytes")
    ended = select.poll()
    ended.register(here, select.POLLRDHUP)
    wait(lambda: ended.poll(0), "the end behind them")
    machines[1].kill("handoff-bridge", signal.SIGTERM)
    assert here.recv(100) == b"complete"
    assert here.recv(100) == b""


def test_descriptors_among_the_bytes(machines: Machines) -> None:
    """Descriptors that an application sends along with its bytes are dropped, and the bytes arrive."""
    counts = Counts(*machines)
    here, there = Continuation(*machines).open()
    with open("/dev/null") as file:
        for number in range(200):
            socket.send_fds(here, [b"%03d," % number], [file.fileno()])
    here.shutdown(socket.SHUT_WR)
    assert there.makefile("rb").read() == b"".join(b"%03d," % number for number in range(200))
    for end in (here, there):
        end.close()
    counts.wait_until_as_before()


def test_link_through_a_tunnel(machine_list: list[Machine]) -> None:
    """Streams go where the link goes: through a port that is passed on, though something else listens on the real one."""
    for name, address in (("desk", "127.0.0.1"), ("lap", "127.0.0.2")):
        machine = Machine(name)
        machine_list.append(machine)
        machine.host_address = address
        machine.start_broker()
        machine.start_bridge()
        if name == "desk":
            port = machine.port
    desk, lap = machine_list
    # Both have the same port, as where users have chosen it.
    lap.kill("handoff-bridge", signal.SIGTERM)
    lap.port = port
    lap.start_bridge()
    trust_each_other(desk, lap)
    with Tunnel(("127.0.0.2", port)) as tunnel:
        desk.dial(tunnel.port)
        wait_for_link(desk, lap)
        for one, other in ((lap, desk), (desk, lap)):
            here, there = Continuation(one, other, title=f"From {one.name}").open()
            here.sendall(b"through")
            assert there.recv(100) == b"through"


# What streams are for.


def test_contact_list_as_an_answer(machines: Machines) -> None:
    """A request that asks for a contact list is answered with ten thousand entries, over the same stream."""
    contacts = [{"id": number, "name": f"Contact {number}", "e-mail": f"c{number}@example.com",
                 "notes": "äöü 漢字 👋 " * (number % 9)} for number in range(10_000)]
    here, there = Continuation(*machines).open()

    def serve() -> None:
        with there, there.makefile("rwb") as file:
            request = json.loads(file.read())
            file.write(json.dumps(contacts[request["from"]:request["to"]]).encode())

    serving = Background(serve)
    here.sendall(json.dumps({"from": 0, "to": 10_000}).encode())
    here.shutdown(socket.SHUT_WR)
    with here, here.makefile("rb") as file:
        assert Background(lambda: json.loads(file.read())).result() == contacts
    serving.result()
