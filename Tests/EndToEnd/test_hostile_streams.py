# SPDX-License-Identifier: LGPL-2.1-or-later
"""Connections of streams that are not what they claim, and what comes over them that is no stream."""

from __future__ import annotations

import os
import socket
import struct
import time

import pytest
from gi.repository import GLib
from buses import BRIDGE_ROOT, BusError, let_pass, wait
from bystanders import Impostor
from clients import Client
from link import CONTINUATION, Device, Link
from stranger import Stranger, frame, shown
from streams import Background, Counts, is_broken
from support import Machine, refused, start_machine
from test_hostile_neighbours import peer_at

REFUSAL = "it wants a stream with a token that was never given, used already, or too old"


@pytest.fixture
def stranger(machine_list: list[Machine]) -> Stranger:
    # What repeats itself is only logged for who wants to know everything.
    return Stranger(start_machine(machine_list, "desk", "--verbose"))


def assert_refused(stranger: Stranger, connection: Link, why: str) -> None:
    """The connection is ended before anything of TLS has been said, and the log says why."""
    connection.wait_until_closed(3)
    assert not connection.received_bytes
    stranger.refusals[why] = stranger.refusals.get(why, 0) + 1
    wait(lambda: stranger.machine.log("handoff-bridge").count(why) >= stranger.refusals[why], "the reason in the log")


# The bytes.


def test_bytes_of_a_stream(stranger: Stranger) -> None:
    """The frames are those of the specification, whichever way they are cut, and each direction ends with an empty one."""
    counts = Counts(stranger.machine)
    connection, end = stranger.open()
    data = os.urandom(300_000)
    sent = frame(data[:1]) + frame(data[1:262_145]) + frame(data[262_145:]) + frame(b"")
    for place in range(0, len(sent), 9973):
        connection.send_bytes(sent[place:place + 9973])
    received = Background(lambda: end.makefile("rb").read())
    assert received.result() == data
    end.sendall(b"an answer")
    end.close()
    answer = b""
    while not answer.endswith(frame(b"")):
        answer += connection.take(1)
    assert answer == frame(b"an answer") + frame(b"")
    connection.wait_until_closed()
    counts.wait_until_as_before()


@pytest.mark.parametrize("what", ["too long", "after the end", "cut", "ended within a frame", "ended between frames", "no TLS"])
def test_what_is_no_stream_breaks_it(stranger: Stranger, what: str) -> None:
    """A frame that is too long, bytes behind the end, and an end without the empty frame: the application reads ECONNRESET."""
    connection, end = stranger.open()
    connection.send_bytes(frame(b"begin"))
    assert end.recv(100) == b"begin"
    match what:
        case "too long": connection.send_bytes(struct.pack(">I", 262_145) + b"x" * 1000)
        case "after the end": connection.send_bytes(frame(b"") + b"x")
        case "ended within a frame": connection.send_bytes(struct.pack(">I", 1000) + b"half")
        case "no TLS":
            os.write(connection.socket.fileno(), b"\x17\x03\x03\x00\x20" + bytes(32))
    if what in ("cut", "ended within a frame", "ended between frames"):
        if what == "cut":
            connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
    assert Background(lambda: is_broken(end)).result(2)
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        wait(lambda: end.send(b"x") == 0, "an error")


def test_reader_that_never_reads(stranger: Stranger) -> None:
    """A device that does not read is sent no more than fits into the network, and the writer waits."""
    connection, end = stranger.open()
    writing = Background(lambda: end.sendall(bytes(64 << 20)))
    # As long as all of it would take, beside much else.
    let_pass(2)
    assert not writing.is_over
    connection.close()
    assert isinstance(writing.error(2), BrokenPipeError | ConnectionResetError)


# Tokens.


def test_token_is_good_once(stranger: Stranger) -> None:
    """A token that has been used opens no second stream, and the first goes on."""
    token = stranger.ask()
    connection = stranger.knock(token)
    connection.shake(stranger.device.identity)
    assert connection.take(1) == b"\x01"
    assert_refused(stranger, stranger.knock(token), REFUSAL)
    connection.send_bytes(frame(b"still there"))
    assert stranger.origin.streams[0].recv(100) == b"still there"


def test_guessed_token(stranger: Stranger) -> None:
    """A token that was never given opens nothing, nor does one shown in another device's name; the right one still does."""
    token = stranger.ask()
    for number in range(5):
        assert_refused(stranger, stranger.knock(os.urandom(16)), REFUSAL)
    assert_refused(stranger, stranger.knock(token, Device().id), REFUSAL)
    connection = stranger.knock(token)
    connection.shake(stranger.device.identity)
    assert connection.take(1) == b"\x01"


def test_token_from_another_certificate(stranger: Stranger) -> None:
    """Who has overheard a token and shows another certificate gets nothing, and the token is used up by that."""
    token = stranger.ask()
    connection = stranger.knock(token)
    thief = Device()
    connection.shake(thief.identity)
    assert_refused(stranger, connection, f"it is {thief.id}, not {stranger.device.id}")
    assert Background(lambda: is_broken(stranger.origin.streams[0])).result(2)
    assert_refused(stranger, stranger.knock(token), REFUSAL)


def test_token_after_ten_seconds(stranger: Stranger) -> None:
    """A token is worth nothing after ten seconds, and the application that waited reads ECONNRESET."""
    token = stranger.ask()
    broken = Background(lambda: is_broken(stranger.origin.streams[0]))
    begin = time.monotonic()
    # The link is served meanwhile, or it would be given up.
    wait(lambda: stranger.link.read_messages() and broken.is_over, "the end of the stream", 12)
    assert broken.result() and 9 < time.monotonic() - begin < 11
    assert_refused(stranger, stranger.knock(token), REFUSAL)


def test_token_ends_with_the_link(stranger: Stranger) -> None:
    """A token is worth nothing without the link that it was given over, and its stream has gone."""
    token = stranger.ask()
    stranger.link.close()
    assert Background(lambda: is_broken(stranger.origin.streams[0])).result(2)
    assert_refused(stranger, stranger.knock(token), REFUSAL)


def test_token_over_another_link(stranger: Stranger) -> None:
    """A new link does not keep the streams of the former."""
    connection, end = stranger.open()
    token = stranger.ask()
    stranger.machine.session.set(BRIDGE_ROOT, "Bridge.Discoverable", GLib.Variant("b", True))
    former, stranger.link = stranger.link, stranger.device.link_to(stranger.machine)
    stranger.link.hello(paired=True)
    former.wait_until_closed()
    assert Background(lambda: is_broken(end)).result(2)
    connection.wait_until_closed()
    assert_refused(stranger, stranger.knock(token), REFUSAL)


def test_application_that_is_quicker(stranger: Stranger) -> None:
    """What the application has written and closed before the connection is there still arrives, though its activity is gone."""
    token = stranger.ask()
    end = stranger.origin.streams.pop()
    end.sendall(b"all of it")
    end.close()
    stranger.activity.invalidate()
    # As long as the end of the application's side takes to arrive at the bridge.
    let_pass(0.3)
    connection = stranger.knock(token)
    connection.shake(stranger.device.identity)
    assert connection.take(14) == b"\x01" + frame(b"all of it")
    assert connection.take(4) == frame(b"")


def test_stream_that_broke_before_its_connection(stranger: Stranger) -> None:
    """The token of a stream whose activity is gone opens nothing."""
    token = stranger.ask()
    stranger.activity.invalidate()
    assert Background(lambda: is_broken(stranger.origin.streams[0])).result(2)
    assert_refused(stranger, stranger.knock(token), REFUSAL)


def test_peer_that_never_closes(stranger: Stranger) -> None:
    """A peer that keeps the connections of streams that the application has closed keeps no other peer out."""
    kept = []
    for _ in range(16):
        connection, end = stranger.open()
        kept.append(connection)
        end.close()
    other = Device().paired_link_to(stranger.machine)
    continuation = "ab" * 16
    other.call("Peer.Fetch", GLib.Variant("(ss)", (stranger.activity.id, continuation)))
    wait(lambda: other.read_messages() and stranger.link.read_messages(), "the links to be served")
    assert other.call("Link.OpenStream", GLib.Variant("(say)", (continuation, b""))).unpack()[0]
    with refused("LimitsExceeded"):
        stranger.ask()
    for connection in kept:
        connection.close()

    def has_room() -> bool:
        try:
            return bool(stranger.ask())
        except BusError:
            # Until it is asked again.
            let_pass(0.2)
            return False

    wait(has_room, "room for one more", 15)


def test_peer_that_never_stops_sending(stranger: Stranger) -> None:
    """A peer that goes on sending what the application has closed its end to gets all that was written before, and from
    then on keeps the bridge busy with little."""
    counts = Counts(stranger.machine)
    connection, end = stranger.open()
    end.sendall(b"last words")
    end.close()
    assert connection.take(18) == frame(b"last words") + frame(b"")
    piece = frame(bytes(1 << 18))
    connection.socket.settimeout(0.1)

    def send() -> int:
        """As much as it takes within two seconds."""
        sent, rest, until = 0, memoryview(piece), time.monotonic() + 2
        while time.monotonic() < until:
            try:
                count = connection.socket.send(rest)
            except TimeoutError:
                continue
            sent += count
            rest = rest[count:] or memoryview(piece)
        return sent

    # 4 MiB at once, 4 MiB a second after that, and what the buffers of both kernels hold.
    sending = Background(send)
    # Its link stays only if it answers meanwhile.
    wait(lambda: stranger.link.read_messages() and sending.is_over, "the peer to have sent", 20)
    assert sending.result() < 32 << 20
    # It can still end in order.
    connection.close()
    counts.wait_until_as_before()
    assert stranger.link.read_messages() and stranger.ask()


def test_threads_give_way(stranger: Stranger) -> None:
    """The threads of a stream run behind the main loop, whatever a peer gives them to do."""
    _kept = stranger.open()
    process = stranger.machine.processes["handoff-bridge"].pid

    def niceness(thread: str) -> tuple[str, int]:
        with open(f"/proc/{process}/task/{thread}/stat") as file:
            before, _, after = file.read().rpartition(")")
        return before.partition("(")[2], int(after.split()[16])

    # The threads are there a moment after the peer has heard that the stream is.
    loop = niceness(str(process))[1]
    behind = min(loop + 10, 19)
    expected = {("stream in", behind), ("stream out", behind)}
    wait(lambda: expected <= {niceness(thread) for thread in os.listdir(f"/proc/{process}/task")}, "the threads")
    assert loop < behind


# Asking.


def test_wrong_requests(stranger: Stranger) -> None:
    """A token where none belongs, a continuation of nobody, and one stream more than are allowed, are refused."""
    for token in (b"x", os.urandom(16), os.urandom(17)):
        with refused("InvalidArgs", containing=("token",)):
            stranger.ask(token)
    with refused("InvalidArgs"):
        stranger.ask(continuation="nonsense")
    with refused("UnknownObject"):
        stranger.ask(continuation="0" * 32)
    with refused("NotSupported"):
        stranger.link.call("Peer.OpenDocument", GLib.Variant("(s)", (CONTINUATION,)))
    with refused("AccessDenied", "NotSupported"):
        stranger.link.call("Peer.OpenStream", GLib.Variant("(s)", (CONTINUATION,)))
    for _ in range(16):
        stranger.ask()
    with refused("LimitsExceeded", containing=("16",)):
        stranger.ask()


def test_other_end_of_the_dial(machine: Machine) -> None:
    """Who was dialled for the link is dialled for its streams: only with its own certificate, and its word that it is
    ready, is there one."""
    with Impostor() as impostor:
        origin = Client(machine)
        activity = origin.offer("Contacts", SupportsContinuationStreams=True)
        device, link = peer_at(impostor, machine)
        link.call("Peer.Fetch", GLib.Variant("(ss)", (activity.id, CONTINUATION)))

        def ask(token: bytes) -> bytes:
            return bytes(link.call("Link.OpenStream", GLib.Variant("(say)", (CONTINUATION, token))).unpack()[0])

        with refused("InvalidArgs", containing=("16",)):
            ask(b"")
        for good, ready in ((False, b"\x01"), (True, b"\x02"), (True, b""), (True, b"\x01")):
            token = os.urandom(16)
            assert ask(token) == b""
            connection = impostor.accept()
            knock = connection.greet(b"HANDOFF1" + bytes(16))
            assert knock[:2] == bytes([2, 1])
            assert knock[18:] == shown(token, bytes(16) + knock[2:18], machine.device_id)
            identity = device.identity if good else Device().identity
            connection.socket.settimeout(5)
            end = origin.streams.pop()
            end.settimeout(5)
            try:
                connection.socket = identity.server_context.wrap_socket(connection.socket, server_side=True)
                connection.send_bytes(ready)
            except OSError:
                assert not good
            if good and ready == b"\x01":
                connection.send_bytes(frame(b"here"))
                assert end.recv(100) == b"here"
            else:
                if not ready:
                    connection.close()
                assert Background(lambda end=end: is_broken(end)).result(3)
