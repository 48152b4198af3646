# SPDX-License-Identifier: LGPL-2.1-or-later
"""What clients can have the broker keep, however often they connect, and peers, however much they ask."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

import pytest
from gi.repository import Gio, GLib
from buses import BRIDGE, BROKER, BUS, ROOT, BusError, Session, let_pass, wait
from clients import Client, Dock
from flood import nested
from hoarder import hoarding
from link import CONTINUATION, SOME_ID, offer
from support import SANITIZED, Machine, memory, processor_time, refused

MIB = 1 << 20


@pytest.fixture
def desk(machine_list: list[Machine]) -> Machine:
    """A machine with a broker alone, which knows already what clients are."""
    machine = Machine("desk")
    machine_list.append(machine)
    machine.start_broker()
    Client(machine).create().invalidate()
    return machine


def test_all_processes_together(desk: Machine) -> None:
    """Forty connections of ten processes with full quotas take 64 MiB of payload and twice that in memory at most,
    and nothing once they have gone; others can go on with what they have meanwhile."""
    client = Client(desk)
    activity = client.create(Title="Mine")
    before = memory(desk, "handoffd", "Rss")
    with hoarding(desk, 10, 4, 128 << 10) as found:
        count = sum(one["activities"] for one in found)
        assert 60 * MIB <= count * (128 << 10) <= 64 * MIB
        assert SANITIZED or memory(desk, "handoffd", "Rss") - before <= 2 * 64 * MIB
        with refused("LimitsExceeded", containing=(str(64 * MIB), "End applications")):
            client.create(UserInfo={"bulk": GLib.Variant("s", "x" * 120_000)})
        activity.update(Title="Still mine")
        activity.invalidate()
    wait(lambda: SANITIZED or memory(desk, "handoffd", "Rss") <= 1.1 * before, "the memory to go back")
    assert client.create(UserInfo={"bulk": GLib.Variant("s", "x" * 120_000)})


def test_small_texts(desk: Machine) -> None:
    """Many small texts take no more memory than the bytes that they have on the bus, and come back as they were."""
    client = Client(desk)
    keywords = ["", "ä"] * 8000
    before = memory(desk, "handoffd")
    activities = [client.create(Keywords=keywords, RequiredUserInfoKeys=keywords[:2]) for _ in range(40)]
    assert SANITIZED or memory(desk, "handoffd") - before <= 40 * 16_000 * 8 + 4 * MIB
    assert activities[0].get("Keywords") == keywords
    assert activities[0].get("RequiredUserInfoKeys") == ["", "ä"]


def test_calls_before_it_is_known_who_calls(desk: Machine) -> None:
    """A client that sends 100 MiB before the bus has said who it is keeps nobody from being served, itself included."""
    client = Client(desk, register=False)
    large = GLib.Variant("(sa{sv})", ("", {"UserInfo": GLib.Variant("a{sv}", {
        "bulk": GLib.Variant("s", "x" * MIB)})}))
    broker = desk.processes["handoffd"]
    # Meanwhile it can't ask the bus: the answer comes behind all that.
    broker.send_signal(signal.SIGSTOP)
    for _ in range(100):
        client.begin(ROOT, "Manager.CreateActivity", large)
    client.connection.flush_sync()
    begin = time.monotonic()
    broker.send_signal(signal.SIGCONT)
    client.register()
    # After 25 s it would give up asking, and go on too.
    assert time.monotonic() - begin < 15
    assert Client(desk, "com.example.other").create(Title="Served")
    assert client.create(Title="Served too")


@pytest.mark.parametrize("types", ["ah", "ay", "av"])
def test_descriptor_in_much(desk: Machine, types: str) -> None:
    """A descriptor that comes with much else costs the broker no more than what comes without one, and is not kept."""
    size = 8 * MIB
    body = GLib.Variant("(av)", ([GLib.Variant("y", 7)] * (size // 16),)) if types == "av" else \
        GLib.Variant.new_from_bytes(GLib.VariantType(f"({types})"), GLib.Bytes.new(bytes(size)), True)
    broker = desk.processes["handoffd"].pid
    client = Session(desk.address)
    desk.sessions.append(client)
    before = set(os.listdir(f"/proc/{broker}/fd"))

    def cost(with_descriptor: bool) -> float:
        message = Gio.DBusMessage.new_method_call(BROKER, "/nowhere", "a.b", "C")
        message.set_body(body)
        if with_descriptor:
            message.set_unix_fd_list(Gio.UnixFDList.new_from_array([os.open("/dev/null", os.O_RDONLY)]))
        used = processor_time(broker)
        reply, _serial = client.connection.send_message_with_reply_sync(message, Gio.DBusSendMessageFlags.NONE, 60_000, None)
        assert reply.get_message_type() == Gio.DBusMessageType.ERROR
        return processor_time(broker) - used

    without = min(cost(False) for _ in range(3)) if types != "ah" else 0.1
    assert min(cost(True) for _ in range(3)) < 2 * without + 0.05
    wait(lambda: set(os.listdir(f"/proc/{broker}/fd")) <= before, "the descriptors to be closed")


class FalseBridge(Session):
    """What the broker takes for its bridge, and a peer of it."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine.address)
        machine.sessions.append(self)
        self.call("/org/freedesktop/DBus", f"{BUS}.RequestName", GLib.Variant("(su)", (BRIDGE, 4)), destination=BUS)
        device = "ab" * 32
        self.peer = f"{ROOT}/peers/{device}"

        def is_known() -> bool:
            try:
                self.call(ROOT, "PeerManager.AddPeer", GLib.Variant("(sa{sv})", (device, {})))
            except BusError as error:
                assert error.short_name == "AccessDenied"
                return False
            return True

        wait(is_known, "the broker to know its bridge")

    def ask(self, member: str, arguments: GLib.Variant) -> Callable[[], str]:
        """Passes a call of the peer on, and gives back what waits for the error, empty if there is none."""
        finish = self.begin(self.peer, f"Peer.{member}", arguments)

        def outcome() -> str:
            try:
                finish()
            except BusError as error:
                return str(error)
            return ""

        return outcome


@pytest.mark.long
def test_withdraw_of_who_asks_too_much(desk: Machine) -> None:
    """A peer of which so many calls wait that further ones are refused is withdrawn all the same, behind what waits."""
    dock, _target, bridge = Dock(desk), Client(desk), FalseBridge(desk)
    costly = offer(Unknown=nested(600))
    broker = desk.processes["handoffd"]
    for _round in range(2):
        # Or it might be quicker than what asks.
        broker.send_signal(signal.SIGSTOP)
        before = [bridge.ask("Offer", costly) for _ in range(30)]
        taken = bridge.ask("Offer", offer())
        beyond = [bridge.ask("Offer", costly) for _ in range(140)]
        ends = [bridge.ask("Withdraw", GLib.Variant("(s)", (SOME_ID,))),
                bridge.ask("Release", GLib.Variant("(s)", (CONTINUATION,)))]
        bridge.connection.flush_sync()
        broker.send_signal(signal.SIGCONT)
        assert not any("wait already" in outcome() for outcome in before) and taken() == ""
        assert any("64 calls of this device wait already" in outcome() for outcome in beyond)
        assert [outcome() for outcome in ends] == ["", ""]
        # Longer than what has been offered waits to be shown anew (Deadline.offerInterval, 0.1 s).
        let_pass(0.2)
        assert not dock.offers


@pytest.mark.long
def test_barred_peer_offers_nothing(desk: Machine) -> None:
    """A peer that has taken all of its minute offers nothing any more, and what it withdraws or releases is not refused."""
    dock, _target, bridge = Dock(desk), Client(desk), FalseBridge(desk)
    assert bridge.ask("Offer", offer())() == ""
    dock.offer("From afar")
    costly = offer(Unknown=nested(240))

    def is_barred() -> bool:
        for outcome in [bridge.ask("Offer", costly) for _ in range(60)]:
            outcome()
        return "of processor time in a minute: it is refused" in desk.log("handoffd")

    wait(is_barred, "the peer to be barred", 120)
    wait(lambda: not dock.offers, "the offer to be gone")
    assert "asked for too much in the last minute" in bridge.ask("Offer", offer())()
    assert bridge.ask("Withdraw", GLib.Variant("(s)", (SOME_ID,)))() == ""
    assert bridge.ask("Release", GLib.Variant("(s)", (CONTINUATION,)))() == ""
    assert not dock.offers
