# SPDX-License-Identifier: LGPL-2.1-or-later
"""The bridge attaches to the broker, and talks to it past the bus."""

from __future__ import annotations

import os
import signal

import pytest
from gi.repository import GLib
from attached import PEER, AttachingBroker
from buses import BRIDGE, ROOT, let_pass, wait
from clients import Client, Dock
from link import CONTINUATION
from support import Machine, refused


@pytest.fixture
def among_others(machines: tuple[Machine, Machine]) -> tuple[Machine, Client]:
    """A machine that has lost its broker, and an application on another that offers something."""
    desk, lap = machines
    desk.kill("handoffd")
    client = Client(lap)
    client.create(Title="From the lap").become_current()
    return desk, client


def test_bridge_attaches(among_others: tuple[Machine, Client]) -> None:
    """The bridge tells a broker that it has attached to of its peers and their offers by the socket alone, and passes on what
    the broker asks there."""
    desk, client = among_others
    broker = AttachingBroker(desk)
    attached = broker.meet()
    path = broker.take_peer(attached)
    told = attached.next_call("Offer")
    assert told.message.get_path() == path and told.arguments[1]["Title"] == "From the lap"
    attached.answer(told)
    remote = path.replace(f"{ROOT}/peers", f"{ROOT}/Bridge/peers")
    fetched, = attached.call(remote, PEER, "Fetch", GLib.Variant("(ss)", (told.arguments[0], CONTINUATION)))
    assert fetched["Title"] == "From the lap"
    with refused("StreamsNotSupported"):
        attached.call(remote, PEER, "OpenStream", GLib.Variant("(s)", (CONTINUATION,)))
    attached.call(remote, PEER, "Continued", GLib.Variant("(s)", (CONTINUATION,)))
    client.wait_for("WasContinued")
    assert broker.calls == ["Attach"]


def test_stream_by_the_socket(among_others: tuple[Machine, Client]) -> None:
    """The end of a stream comes along with the answer to who has asked for it there, and carries what is written."""
    desk, client = among_others
    client.create(Title="With streams", SupportsContinuationStreams=True).become_current()
    broker = AttachingBroker(desk)
    attached = broker.meet()
    path = broker.take_peer(attached).replace(f"{ROOT}/peers", f"{ROOT}/Bridge/peers")
    told = attached.next("the offer", lambda one: one.message.get_member() == "Offer"
                         and one.arguments[1]["Title"] == "With streams")
    attached.answer(told)
    attached.call(path, PEER, "Fetch", GLib.Variant("(ss)", (told.arguments[0], CONTINUATION)))
    serial = attached.begin(path, PEER, "OpenStream", GLib.Variant("(s)", (CONTINUATION,)))
    opened = attached.next_call("StreamOpened")
    assert opened.message.get_signature() == "ussbh" and opened.arguments[4] == 0 and opened.message.get_num_unix_fds() == 1
    attached.answer(opened)
    answer = attached.next("the stream", lambda one: one.message.get_reply_serial() == serial)
    assert answer.message.get_signature() == "h" and answer.arguments == (0,) and answer.message.get_num_unix_fds() == 1
    assert len(attached.descriptors) == 2
    for number in attached.descriptors:
        assert os.fstat(number)
        os.close(number)


def test_socket_that_does_not_last(among_others: tuple[Machine, Client]) -> None:
    """A broker whose socket ends at once is told of everything on the bus."""
    desk, _client = among_others
    broker = AttachingBroker(desk)
    wait(lambda: broker.sockets, "the bridge to attach")
    broker.sockets[0].close()
    wait(lambda: "AddPeer" in broker.calls, "the peer on the bus")
    assert broker.calls.count("Attach") == 1


def test_broker_without_sockets(among_others: tuple[Machine, Client]) -> None:
    """A broker that knows nothing of sockets is told of everything on the bus."""
    desk, _client = among_others
    broker = AttachingBroker(desk, attaches=False)
    wait(lambda: "AddPeer" in broker.calls, "the peer on the bus")


@pytest.mark.long
def test_socket_that_has_lasted(among_others: tuple[Machine, Client]) -> None:
    """When a socket ends that has lasted, the bridge attaches anew, and tells of everything anew."""
    desk, _client = among_others
    broker = AttachingBroker(desk)
    attached = broker.meet()
    broker.take_peer(attached)
    attached.answer(attached.next_call("Offer"))
    # Longer than a socket has to last (AttachedSocket.leastTime, 10 s).
    let_pass(10.5)
    attached.close()
    again = broker.meet(2)
    broker.take_peer(again)
    assert again.next_call("Offer").arguments[1]["Title"] == "From the lap"


@pytest.mark.parametrize("content", [b"GET / HTTP/1.1\r\n\r\n", b"l\1\0\1\xff\xff\xff\x7f\1\0\0\0\0\0\0\0"])
def test_broker_that_breaks_the_rules(among_others: tuple[Machine, Client], content: bytes) -> None:
    """What a broker writes that is no message ends its socket, and nothing else."""
    desk, _client = among_others
    broker = AttachingBroker(desk)
    attached = broker.meet()
    broker.take_peer(attached)
    attached.send_bytes(content)
    attached.wait_until_ended()
    wait(lambda: "AddPeer" in broker.calls, "the peer on the bus")


@pytest.mark.long
def test_broker_that_is_stopped_as_the_bridge_begins(machines: tuple[Machine, Machine]) -> None:
    """A bridge that begins beside a broker that is stopped for long goes by the switch as it was left, and when the broker goes
    on all is as before."""
    desk, lap = machines
    client, _target = Client(lap), Client(desk)
    client.create(Title="From the lap").become_current()
    desk.kill("handoff-bridge")
    broker = desk.processes["handoffd"]
    broker.send_signal(signal.SIGSTOP)
    desk.start("handoff-bridge", "--no-discovery", f"--listen={desk.host_address}:{desk.port}")
    desk.wait_for(BRIDGE, "handoff-bridge")
    wait(lambda: desk.session.get("/org/example/Handoff/Bridge", "Bridge.Port") == desk.port, "the port")
    # Longer than any wait of a bridge for somebody who is there but says nothing (Deadline, a minute at most).
    let_pass(65)
    broker.send_signal(signal.SIGCONT)
    dock = Dock(desk)
    dock.offer("From the lap")
    client.create(Title="Another").become_current()
    dock.offer("Another")
    # Longer than a peer waits between two attempts to say something (Deadline.confirmationRetry, 1 s).
    let_pass(1.2)
    assert dock.titles == ["Another"]
