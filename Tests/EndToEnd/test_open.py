# SPDX-License-Identifier: LGPL-2.1-or-later
"""`Manager.Open`: a client talks to the broker past the bus daemon."""

from __future__ import annotations

import os
import signal
import socket

import pytest
from gi.repository import Gio, GLib
from attached import PEER_MANAGER, AttachedBridge, number_of_descriptors
from buses import BROKER, BUS, ROOT, BusError, Session, wait
from clients import ACTIVITY_TYPE, APPLICATION_ID, Client, Dock
from opened import OpenedClient, OpenedDock, connection_by, open_socket, raw_socket, registration, stream_of
from sandbox import RawClient, can_be_made
from support import Machine, refused
from test_attach import BREACHES

MANAGER = f"{BROKER}.Manager"


@pytest.fixture
def desk(machine_list: list[Machine]) -> Machine:
    """A machine with a broker alone."""
    machine = Machine("desk")
    machine_list.append(machine)
    machine.start_broker()
    return machine


def stranger_on(machine: Machine) -> Session:
    session = Session(machine.address)
    machine.sessions.append(session)
    return session


def seen_on(session: OpenedClient | OpenedDock) -> list[str]:
    """What comes to it by the bus from now on, apart from what the bus says."""
    seen: list[str] = []

    def note(_connection: Gio.DBusConnection, message: Gio.DBusMessage, incoming: bool) -> Gio.DBusMessage:
        if incoming and message.get_sender() != BUS:
            seen.append(message.get_member())
        return message

    session.bus.add_filter(note)
    return seen


def test_handoff_past_the_bus(machines: tuple[Machine, Machine]) -> None:
    """Applications and a dock on both machines say and are told everything by their sockets, GDBus doing without a handshake."""
    desk, lap = machines
    source, target, dock = OpenedClient(desk), OpenedClient(lap), OpenedDock(lap)
    by_bus = [seen_on(one) for one in (source, target, dock)]
    source.save(UserInfo={"page": GLib.Variant("u", 8)})
    letter = source.offer("A letter", UserInfo={"page": GLib.Variant("u", 7)})
    assert letter.get("Current") is True
    source.set(letter.path, "Activity.NeedsSave", GLib.Variant("b", True))
    dock.continue_offer(dock.offer("A letter"))
    assert dock.outcome() == (APPLICATION_ID, "", "")
    activity = target.wait_for("ContinueActivity").arguments.unpack()[0]
    assert activity["UserInfo"] == {"page": 8}
    source.wait_for("WasContinued")
    letter.invalidate()
    wait(lambda: not dock.titles, "the offer to go")
    assert by_bus == [[], [], []]


def test_said_by_the_caller(desk: Machine) -> None:
    """What is said by the socket and what is said on the bus is said by the same client."""
    client, other = Client(desk), Client(desk, "com.example.other", ("com.example.other.edit",))
    attached = raw_socket(client)
    path, = attached.call(ROOT, MANAGER, "CreateActivity", GLib.Variant("(sa{sv})", ("", {})))
    attached.call(path, f"{BROKER}.Activity", "BecomeCurrent")
    changed = attached.next("Current", lambda one: one.message.get_member() == "PropertiesChanged")
    assert changed.arguments[1] == {"Current": True}
    assert client.get(path, "Activity.Current") is True
    with refused("AccessDenied"):
        other.call(path, "Activity.Invalidate")
    with refused("AccessDenied"):
        raw_socket(other).call(path, f"{BROKER}.Activity", "Invalidate")
    with refused("AccessDenied"):
        attached.call(ROOT, PEER_MANAGER, "RemovePeer", GLib.Variant("(s)", ("ab" * 32,)))
    # The sender that a message claims is not looked at.
    call = Gio.DBusMessage.new_method_call(None, path, f"{BROKER}.Activity", "Invalidate")
    call.set_sender(client.name)
    stranger = raw_socket(stranger_on(desk))
    serial = stranger.send(call, None)
    answer = stranger.next("an answer", lambda one: one.message.get_reply_serial() == serial)
    assert answer.message.get_error_name() == f"{BUS}.Error.AccessDenied"


def test_stream(machines: tuple[Machine, Machine]) -> None:
    """Both ends of a stream come by sockets, as a number and a descriptor."""
    lap = machines[1]
    ends = []
    for machine in machines:
        ends.append(raw_socket(stranger_on(machine)))
        ends[-1].call(ROOT, MANAGER, "RegisterApplication", registration(APPLICATION_ID, ACTIVITY_TYPE))
    values = {"Title": GLib.Variant("s", "A letter"), "SupportsContinuationStreams": GLib.Variant("b", True)}
    path, = ends[0].call(ROOT, MANAGER, "CreateActivity", GLib.Variant("(sa{sv})", ("", values)))
    ends[0].call(path, f"{BROKER}.Activity", "BecomeCurrent")
    dock = Dock(lap)
    dock.continue_offer(dock.offer("A letter"))
    ends[1].answer(ends[1].next_call("WillContinueActivity"), GLib.Variant("(b)", (False,)))
    call = ends[1].next_call("ContinueActivity")
    continuation = call.arguments[1]["Continuation"]
    ends[1].answer(call, GLib.Variant("(b)", (True,)))
    ends[0].answer(ends[0].next_call("WasContinued"))
    begun = ends[1].begin(continuation, f"{BROKER}.Continuation", "OpenStream")
    received = ends[0].next_call("DidReceiveStream")
    assert received.message.get_signature() == "ou"
    there = stream_of(ends[0])
    ends[0].answer(received)
    answer = ends[1].next("the stream", lambda one: one.message.get_reply_serial() == begun)
    assert answer.message.get_signature() == "u"
    here = stream_of(ends[1])
    here.sendall(b"to the origin")
    assert wait(lambda: there.recv(100), "what was sent") == b"to the origin"
    there.sendall(b"and back")
    there.close()
    here.settimeout(10)
    assert here.recv(100) == b"and back"
    here.close()


@pytest.mark.parametrize("breach", BREACHES)
def test_breach(desk: Machine, breach: str) -> None:
    """Anything but well-formed messages with the descriptors that they need ends the socket, keeps nothing, and nobody else
    loses anything; the client goes on by the bus with all that it has, and opens another one."""
    client, other = Client(desk), OpenedClient(desk)
    broker = desk.processes["handoffd"].pid
    activity = client.create(Title="Mine")
    before = number_of_descriptors(broker)
    attached = raw_socket(client)
    wait(lambda: number_of_descriptors(broker) == before + 1, "the broker to have one end")
    content, descriptors = BREACHES[breach]
    numbers = tuple(os.open("/dev/null", os.O_RDONLY) for _ in range(descriptors))
    attached.send_bytes(content, numbers)
    for number in numbers:
        os.close(number)
    attached.wait_until_ended()
    wait(lambda: number_of_descriptors(broker) == before, "the broker to close all that came")
    attached.close()
    activity.become_current()
    assert activity.get("Current") is True
    assert other.create(Title="Another").get("Title") == "Another"
    again = raw_socket(client)
    assert again.call(activity.path, f"{BUS}.Properties", "Get",
                      GLib.Variant("(ss)", (f"{BROKER}.Activity", "Title"))) == ("Mine",)


def test_end(desk: Machine) -> None:
    """A client that closes its socket keeps everything, and is told by the bus again. A call by the socket that waits for
    its answer then has one outcome."""
    client = Client(desk)
    broker = desk.processes["handoffd"].pid
    before = number_of_descriptors(broker)
    attached = raw_socket(client)
    path, = attached.call(ROOT, MANAGER, "CreateActivity", GLib.Variant("(sa{sv})", ("", {})))
    changes: list[dict] = []
    client.connection.signal_subscribe(
        None, f"{BUS}.Properties", None, path, None, Gio.DBusSignalFlags.NO_MATCH_RULE,
        lambda *arguments: changes.append(arguments[5].unpack()[1]))
    attached.close()
    wait(lambda: number_of_descriptors(broker) == before, "the broker to see the end")
    client.call(path, "Activity.BecomeCurrent")
    wait(lambda: changes == [{"Current": True}], "to be told by the bus")


def test_leaving(desk: Machine) -> None:
    """With the client's connection to the bus its socket ends. What it has said there before counts, and all that is the
    client's ends, as without a socket."""
    watcher, client = Client(desk, "com.example.watcher"), Client(desk)
    attached = raw_socket(client)
    path, = attached.call(ROOT, MANAGER, "CreateActivity", GLib.Variant("(sa{sv})", ("", {})))
    broker = desk.processes["handoffd"]
    broker.send_signal(signal.SIGSTOP)
    attached.begin(ROOT, f"{BUS}.Properties", "Set", GLib.Variant(
        "(ssv)", (f"{BROKER}.Manager", "Enabled", GLib.Variant("b", False))))
    name = client.name
    client.close()
    wait(lambda: not watcher.owner(name), "the bus to see the end")
    broker.send_signal(signal.SIGCONT)
    attached.wait_until_ended()
    wait(lambda: watcher.get(ROOT, "Manager.Enabled") is False, "the switch to be set")
    with refused("UnknownObject"):
        watcher.call(path, "Activity.BecomeCurrent")


def test_second(desk: Machine) -> None:
    """A second socket ends the first."""
    client = Client(desk)
    first = raw_socket(client)
    second = raw_socket(client)
    first.wait_until_ended()
    second.call(ROOT, MANAGER, "CreateActivity", GLib.Variant("(sa{sv})", ("", {})))
    with refused("AccessDenied"):
        second.call(ROOT, MANAGER, "Open")


def test_too_many(desk: Machine) -> None:
    """A process has four; the next one is told to go on by the bus, where nothing is missing."""
    clients = [stranger_on(desk) for _ in range(5)]
    sockets = [raw_socket(client) for client in clients[:4]]
    with refused("LimitsExceeded"):
        clients[4].call(ROOT, "Manager.Open")
    assert clients[4].get(ROOT, "Manager.Enabled") is True
    # One in place of its own is not one more.
    sockets.append(raw_socket(clients[0]))
    sockets[1].close()
    wait(lambda: opens(clients[4]), "room for another")


def opens(client: Session) -> bool:
    try:
        os.close(open_socket(client))
    except BusError as error:
        assert error.short_name == "LimitsExceeded"
        return False
    return True


def test_bridge(desk: Machine) -> None:
    """The bridge attaches instead."""
    bridge = AttachedBridge(desk)
    with refused("AccessDenied"):
        bridge.call(ROOT, "Manager.Open")
    bridge.add_peer()


def test_becomes_the_bridge(desk: Machine) -> None:
    """A client that has a socket and becomes the bridge attaches as any bridge, is told of what is offered, and has no
    socket as a client any longer."""
    client = Client(desk)
    client.create(Title="From here").become_current()
    others = [stranger_on(desk) for _ in range(4)]
    sockets = [raw_socket(other) for other in others]
    bridge = AttachedBridge(desk, others[0])
    sockets[0].wait_until_ended()
    # Told on the bus, before it has attached.
    wait(lambda: "Offer" in bridge.calls, "the offer")
    client.create(Title="Another").become_current()
    bridge.socket.answer(bridge.socket.next_call("Offer"))
    raw_socket(stranger_on(desk))


def test_sandboxed(desk: Machine) -> None:
    """For who is in a sandbox there is no such method."""
    if reason := can_be_made(desk):
        pytest.skip(reason)
    client = RawClient(desk, "com.example.boxed")
    assert client.call(BROKER, ROOT, f"{MANAGER}.Open") == "UnknownObject"


@pytest.mark.parametrize("stopped", [False, True])
def test_broker_ends(desk: Machine, stopped: bool) -> None:
    """A client notices that the broker ends by the socket as by the bus, and opens one to the next."""
    client = Client(desk)
    attached = raw_socket(client)
    broker = desk.processes["handoffd"]
    if stopped:
        broker.send_signal(signal.SIGSTOP)
        attached.begin(ROOT, MANAGER, "CreateActivity", GLib.Variant("(sa{sv})", ("", {})))
    desk.kill("handoffd")
    attached.wait_until_ended()
    desk.start_broker()
    again = raw_socket(client)
    again.call(ROOT, MANAGER, "RegisterApplication", registration(APPLICATION_ID, ACTIVITY_TYPE))


def test_without_a_handshake(desk: Machine) -> None:
    """What is written as to a bus, with a handshake, ends the socket."""
    client = stranger_on(desk)
    descriptor = open_socket(client)
    end = socket.socket(fileno=descriptor)
    end.sendall(b"\0AUTH EXTERNAL 30\r\n")
    end.settimeout(10)
    assert end.recv(100) == b""
    end.close()
    connection = connection_by(open_socket(client))
    answer = connection.call_sync(None, ROOT, f"{BUS}.Peer", "GetMachineId", None, None, Gio.DBusCallFlags.NONE, -1, None)
    assert len(answer.unpack()[0]) == 32
    connection.close_sync(None)
