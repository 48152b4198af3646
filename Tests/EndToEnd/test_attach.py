# SPDX-License-Identifier: LGPL-2.1-or-later
"""Broker and bridge talk over a socket of their own, which the bus has introduced them by."""

from __future__ import annotations

import os
import signal
import socket
import time

import pytest
from gi.repository import Gio, GLib
from attached import CARRYING, DEVICE, PEER, PEER_MANAGER, AttachedBridge, announce, number_of_descriptors
from buses import BRIDGE, BROKER, BUS, ROOT, Session, let_pass, wait
from clients import APPLICATION_ID, Client, Dock
from link import CONTINUATION, offer
from support import Machine, refused

STREAM = GLib.Variant("(ussbh)", (1, DEVICE, CONTINUATION, False, 0))
OPENED = Gio.DBusMessage.new_method_call(None, ROOT, PEER_MANAGER, "StreamOpened")
CALL = Gio.DBusMessage.new_method_call(None, ROOT, PEER_MANAGER, "StreamClosed")


@pytest.fixture
def desk(machine_list: list[Machine]) -> Machine:
    """A machine with a broker alone."""
    machine = Machine("desk")
    machine_list.append(machine)
    machine.start_broker()
    return machine


def activity_of(summary: dict) -> GLib.Variant:
    """What Fetch answers for an offer."""
    return GLib.Variant("(a{sv})", ({name: GLib.Variant("t" if name == "Revision" else "s", summary[name])
                                     for name in ("ActivityType", "ApplicationId", "Title", "Revision")},))


def hand_over(dock: Dock, bridge: AttachedBridge, title: str) -> None:
    """What the peer offers is continued by an application of the desk."""
    dock.events.clear()
    dock.continue_offer(dock.offer(title))
    fetch = bridge.socket.next_call("Fetch")
    summary = offer(Title=GLib.Variant("s", title)).unpack()[1]
    bridge.socket.answer(fetch, activity_of(summary))
    continued = bridge.socket.next_call("Continued")
    bridge.socket.answer(continued)
    bridge.socket.answer(bridge.socket.next_call("Release"))
    assert dock.outcome() == (APPLICATION_ID, "", "")


def test_past_the_bus(desk: Machine) -> None:
    """Once the bridge has attached, all calls between the two go by the socket, and nothing by the bus."""
    dock, client, bridge = Dock(desk), Client(desk), AttachedBridge(desk)
    bridge.calls.clear()
    bridge.add_peer()
    own = client.create(Title="From here")
    own.become_current()
    told = bridge.socket.next_call("Offer")
    assert told.message.get_path() == f"{ROOT}/Bridge/peers" and told.arguments[1]["Title"] == "From here"
    bridge.socket.answer(told)
    bridge.offer(offer())
    hand_over(dock, bridge, "From afar")
    client.set(ROOT, "Manager.Enabled", GLib.Variant("b", False))
    bridge.socket.answer(bridge.socket.next_call("Withdraw"))
    changed = bridge.socket.next("the switch", lambda one: one.message.get_member() == "PropertiesChanged")
    assert changed.arguments[1] == {"Enabled": False}
    assert not bridge.calls


def test_descriptor(desk: Machine) -> None:
    """A stream's end goes along with the message that tells of the stream, and is closed with the stream."""
    bridge = AttachedBridge(desk)
    broker = desk.processes["handoffd"].pid
    bridge.add_peer()
    before = number_of_descriptors(broker)
    for _round in range(3):
        ours, theirs = socket.socketpair()
        bridge.socket.call(ROOT, PEER_MANAGER, "StreamOpened", STREAM, (theirs.fileno(),))
        theirs.close()
        wait(lambda: number_of_descriptors(broker) > before, "the broker to have it")
        bridge.socket.call(ROOT, PEER_MANAGER, "StreamClosed", GLib.Variant("(u)", (1,)))
        wait(lambda: number_of_descriptors(broker) == before, "the broker to close it")
        assert ours.recv(1) == b""
        ours.close()


def test_descriptors_that_nobody_needs(desk: Machine) -> None:
    """Descriptors that come as a message says, and that its member has no use for, are closed."""
    bridge = AttachedBridge(desk)
    broker = desk.processes["handoffd"].pid
    before = number_of_descriptors(broker)
    null = os.open("/dev/null", os.O_RDONLY)
    for number in (1, 3, 100):
        bridge.socket.call(ROOT, PEER_MANAGER, "StreamClosed", GLib.Variant("(u)", (1,)), (null,) * number)
    os.close(null)
    with refused("InvalidArgs"):
        bridge.socket.call(ROOT, PEER_MANAGER, "StreamOpened", GLib.Variant("(ussbu)", (1, DEVICE, CONTINUATION, False, 0)))
    # It may have opened some of its own since.
    wait(lambda: number_of_descriptors(broker) < before + 20, "the broker to close them")


def blob(message: Gio.DBusMessage = CALL, serial: int = 77, body: GLib.Variant | None = None, announced: int = 0) -> bytes:
    """The bytes of a message, which says that so many descriptors come with it."""
    copy = message.copy()
    copy.set_serial(serial)
    if body:
        copy.set_body(body)
    # GDBus writes no number of descriptors that are not there.
    null = os.open("/dev/null", os.O_RDONLY)
    announce(copy, (null,) * announced)
    os.close(null)
    return copy.to_blob(CARRYING)


# What is sent, and how many descriptors come with it.
BREACHES = {
    "no message": (b"GET / HTTP/1.1\r\n\r\n", 0),
    "a length of gigabytes": (b"l\1\0\1\xff\xff\xff\x7f\1\0\0\0\0\0\0\0", 0),
    "more than 4 MiB": (b"l\1\0\1\1\0\x40\0\1\0\0\0\0\0\0\0", 0),
    "an unknown type": (b"l\x09" + blob(body=GLib.Variant("(u)", (1,)))[2:], 0),
    "a message without the descriptor that it announces": (blob(OPENED, body=STREAM, announced=1), 0),
    "two descriptors where one is announced": (blob(OPENED, body=STREAM, announced=1), 2),
    "a descriptor where none is announced": (blob(body=GLib.Variant("(u)", (1,))), 1),
    "ten descriptors": (blob(body=GLib.Variant("(u)", (1,))), 10),
    "a descriptor that the body alone names": (blob(OPENED, body=STREAM), 1),
    "a descriptor that the body alone names, and that does not come": (blob(OPENED, body=STREAM), 0),
    "a signal with a descriptor that it does not announce": (blob(Gio.DBusMessage.new_signal(ROOT, PEER, "Offer")), 1),
}


@pytest.mark.parametrize("breach", BREACHES)
def test_breach(desk: Machine, breach: str) -> None:
    """Anything but well-formed messages with the descriptors that they need ends the socket, keeps nothing, and a bridge that
    attaches anew is told everything anew."""
    dock, client, bridge = Dock(desk), Client(desk), AttachedBridge(desk)
    broker = desk.processes["handoffd"].pid
    client.create(Title="From here").become_current()
    bridge.socket.answer(bridge.socket.next_call("Offer"))
    bridge.add_peer()
    before = number_of_descriptors(broker)
    content, descriptors = BREACHES[breach]
    numbers = tuple(os.open("/dev/null", os.O_RDONLY) for _ in range(descriptors))
    bridge.socket.send_bytes(content, numbers)
    for number in numbers:
        os.close(number)
    bridge.socket.wait_until_ended()
    wait(lambda: number_of_descriptors(broker) == before - 1, "the broker to close all that came")
    bridge.attach().close()
    bridge.socket.answer(bridge.socket.next_call("Offer"))
    bridge.add_peer()
    bridge.offer(offer())
    hand_over(dock, bridge, "From afar")


def test_half_a_message(desk: Machine) -> None:
    """Half a message of which nothing more comes for five seconds ends the socket; one that comes slowly is taken."""
    bridge = AttachedBridge(desk)
    call = blob(serial=5, body=GLib.Variant("(u)", (1,)))
    bridge.socket.send_bytes(call[:40])
    let_pass(3)
    bridge.socket.send_bytes(call[40:60])
    let_pass(3)
    bridge.socket.send_bytes(call[60:])
    bridge.socket.next("an answer", lambda one: one.message.get_reply_serial() == 5)
    bridge.socket.send_bytes(call[:40])
    begin = time.monotonic()
    bridge.socket.wait_until_ended()
    assert 4.5 < time.monotonic() - begin < 10


def test_in_pieces(desk: Machine) -> None:
    """Messages may come in any pieces, and several at once."""
    bridge = AttachedBridge(desk)
    call = blob(serial=5, body=GLib.Variant("(u)", (1,))) + blob(serial=6, body=GLib.Variant("(u)", (1,)))
    for index in range(len(call)):
        bridge.socket.send_bytes(call[index:index + 1])
        if index % 16 == 0:
            # So that it is read before more follows.
            let_pass(0.002)
    for serial in (5, 6):
        bridge.socket.next("an answer", lambda one: one.message.get_reply_serial() == serial)
    bridge.socket.send_bytes(call * 200)
    for serial in (5, 6) * 200:
        bridge.socket.next("an answer", lambda one: one.message.get_reply_serial() == serial)


@pytest.mark.parametrize("heard", range(4))
def test_bridge_gone_at_each_message(desk: Machine, heard: int) -> None:
    """Wherever in a continuation the socket ends, it has one outcome, and the next goes well by the next socket."""
    dock, _client, bridge = Dock(desk), Client(desk), AttachedBridge(desk)
    bridge.add_peer()
    bridge.offer(offer())
    dock.continue_offer(dock.offer("From afar"))
    for member in ("Fetch", "Continued", "Release")[:heard]:
        call = bridge.socket.next_call(member)
        summary = offer().unpack()[1]
        bridge.socket.answer(call, activity_of(summary) if member == "Fetch" else None)
    bridge.socket.close()
    wait(lambda: len(dock.finished()) == 1 or not heard, "the outcome")
    bridge.attach()
    bridge.add_peer()
    # What the former socket has lost is asked again.
    bridge.offer(offer(activity="ab" * 16, Title=GLib.Variant("s", "Another")))
    # As long as the broker, which knows of the peer again, takes to ask.
    let_pass(0.3)
    bridge.socket.read()
    for call in [one for one in bridge.socket.received if one.message.get_member() in ("Fetch", "Continued", "Release")]:
        bridge.socket.received.remove(call)
        bridge.socket.answer(call, activity_of(offer().unpack()[1]) if call.message.get_member() == "Fetch" else None)
    wait(lambda: len(dock.finished()) == 1, "the outcome")
    # As long as another outcome would take, many times over.
    let_pass(0.2)
    assert len(dock.finished()) == 1
    bridge.socket.read()
    for call in bridge.socket.received:
        if call.message.get_message_type() == Gio.DBusMessageType.METHOD_CALL:
            bridge.socket.answer(call)
    bridge.socket.received.clear()
    hand_over(dock, bridge, "Another")


def test_second_attachment(desk: Machine) -> None:
    """A bridge that attaches again ends its former socket, and what it has not been read there counts for nothing."""
    bridge = AttachedBridge(desk)
    bridge.add_peer()
    former = bridge.attach()
    former.wait_until_ended()
    bridge.socket.call(ROOT, PEER_MANAGER, "StreamClosed", GLib.Variant("(u)", (1,)))
    # The peers are to be told anew.
    with refused("UnknownObject"):
        bridge.offer(offer())
    bridge.add_peer()
    bridge.offer(offer())


def test_another_bridge(desk: Machine) -> None:
    """Who loses the name of the bridge loses the socket."""
    first = AttachedBridge(desk)
    first.add_peer()
    first.call("/org/freedesktop/DBus", f"{BUS}.ReleaseName", GLib.Variant("(s)", (BRIDGE,)), destination=BUS)
    second = AttachedBridge(desk)
    first.socket.wait_until_ended()
    second.add_peer()
    second.offer(offer())


def test_strangers(desk: Machine) -> None:
    """Nobody but the bridge attaches, and it cannot be done by the socket."""
    stranger = Session(desk.address)
    desk.sessions.append(stranger)
    with refused("AccessDenied"):
        stranger.call(ROOT, "PeerManager.Attach")
    bridge = AttachedBridge(desk)
    with refused("AccessDenied"):
        stranger.call(ROOT, "PeerManager.Attach")
    with refused("AccessDenied"):
        bridge.socket.call(ROOT, PEER_MANAGER, "Attach")
    bridge.add_peer()


def test_bridge_that_does_not_read(desk: Machine) -> None:
    """What a bridge does not read holds nobody else up, and is bounded."""
    client, bridge = Client(desk), AttachedBridge(desk)
    activity = client.create(Title="x")
    for number in range(2000):
        activity.update(Title=f"{number} " + "x" * 200)
        if number % 100 == 0:
            activity.become_current()
    assert client.get(ROOT, "Manager.Enabled") is True
    bridge.socket.read()
    bridge.add_peer()


def test_two_machines_leave_the_bus_out(machines: tuple[Machine, Machine]) -> None:
    """Of an offer and its continuation between two machines the bus carries nothing between broker and bridge."""
    desk, lap = machines
    monitors = []
    for machine in machines:
        monitor = Gio.DBusConnection.new_for_address_sync(
            machine.address, Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT
            | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, None, None)
        seen: list[str] = []

        def note(_connection: Gio.DBusConnection, message: Gio.DBusMessage, incoming: bool,
                 seen: list[str] = seen) -> Gio.DBusMessage | None:
            if incoming and message.get_interface() in (PEER, PEER_MANAGER, f"{BROKER}.Manager"):
                seen.append(f"{message.get_interface()}.{message.get_member()}")
            # A monitor answers nothing.
            return None if incoming and message.get_sender() != BUS and message.get_member() else message

        monitor.add_filter(note)
        monitor.call_sync(BUS, "/org/freedesktop/DBus", f"{BUS}.Monitoring", "BecomeMonitor",
                          GLib.Variant("(asu)", ([], 0)), None, Gio.DBusCallFlags.NONE, -1, None)
        monitors.append((monitor, seen))
    dock, client, source = Dock(lap), Client(lap), Client(desk)
    source.create(Title="A letter").become_current()
    dock.continue_offer(dock.offer("A letter"))
    assert dock.outcome() == (APPLICATION_ID, "", "")
    client.wait_for("ContinueActivity")
    for monitor, seen in monitors:
        assert f"{BROKER}.Manager.CreateActivity" in seen or f"{BROKER}.Manager.RegisterApplication" in seen, seen
        assert not [one for one in seen if one.startswith(PEER)]
        monitor.close_sync(None)


@pytest.mark.parametrize("way", ["broker writes", "much unread", "a full buffer"])
def test_last_words(desk: Machine, way: str) -> None:
    """What a bridge has said before it ended its socket counts, whatever the broker meets first: that it can't write, or that
    the socket was reset."""
    client, bridge, broker = Client(desk), AttachedBridge(desk), desk.processes["handoffd"]
    activity = client.create(Title="From here")
    activity.become_current()
    told = bridge.socket.next_call("Offer")
    bridge.socket.answer(told)
    bridge.add_peer()
    bridge.socket.call(bridge.peer, PEER, "Fetch", GLib.Variant("(ss)", (told.arguments[0], CONTINUATION)))
    if way != "broker writes":
        # Its answer stays unread, so that the end is a reset.
        bridge.socket.begin(ROOT, PEER_MANAGER, "StreamClosed", GLib.Variant("(u)", (1,)))
        # As long as the broker takes to write it.
        let_pass(0.3)
    last = blob(Gio.DBusMessage.new_method_call(None, bridge.peer, PEER, "Continued"), serial=99,
                body=GLib.Variant("(s)", (CONTINUATION,)))
    broker.send_signal(signal.SIGSTOP)
    if way == "broker writes":
        client.connection.call(BROKER, activity.path, f"{BROKER}.Activity", "ResignCurrent", None, None,
                               Gio.DBusCallFlags.NONE, -1, None, None)
        client.connection.flush_sync()
        # As long as the bus takes to pass that on.
        let_pass(0.2)
    elif way == "a full buffer":
        filling = Gio.DBusMessage.new_method_call(None, ROOT, "com.example.None", "Nothing")
        length = len(blob(filling, serial=98, body=GLib.Variant("(s)", ("",))))
        bridge.socket.send_bytes(blob(filling, serial=98, body=GLib.Variant(
            "(s)", ("x" * ((1 << 16) - len(last) - length),))))
    bridge.socket.send_bytes(last)
    bridge.socket.close()
    broker.send_signal(signal.SIGCONT)
    client.wait_for("WasContinued")
