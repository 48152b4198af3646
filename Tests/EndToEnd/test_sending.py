# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sending what is offered to a chosen peer, where it is shown at once, and nothing starts."""

from __future__ import annotations

import signal
import time

import pytest
from gi.repository import GLib
from buses import ROOT, let_pass, wait
from clients import ACTIVITY_TYPE, APPLICATION_ID, Client, Dock
from link import Device
from pairing import discoverable
from sending import PACE, hidden_as_sent, invited, mute, send, send_error, wait_until_invited
from support import Machine, device_path, pair, refused, start_machine, wait_for_link
from test_desktop_entries import install
from test_restart import steady_client

Machines = tuple[Machine, Machine]
AT_ONCE = 1.0
# As long as what goes from one machine to another at once takes, and what would come of it there.
QUIET = 0.3


def installed_marker(machine: Machine) -> str:
    """Installs an application that leaves a file behind when it is started, and returns the path of that."""
    marker = machine.folder / "was-started"
    install(machine, APPLICATION_ID, ActivityTypes=ACTIVITY_TYPE, Exec=f"touch {marker}")
    return str(marker)


def test_sent_activity_is_shown(machines: Machines) -> None:
    """What is sent is shown as sent on the other machine within a second, as the same offer, and nothing starts; no
    other peer sees it as sent."""
    desk, lap = machines
    marker = installed_marker(lap)
    origin, dock = Client(desk), Dock(lap)
    origin.offer("A letter")
    path = dock.offer("A letter")
    assert dock.offers[path]["Invited"] is False and dock.offers[path]["Parked"] is False
    send(desk, lap.device_id)
    assert wait_until_invited(dock, "A letter") < AT_ONCE
    assert list(dock.offers) == [path]
    let_pass(QUIET)
    assert not send_error(desk, lap.device_id)
    assert dock.offers[path]["State"] == "available"
    assert not lap.session.owner(APPLICATION_ID)
    assert not (lap.folder / "was-started").exists(), marker


def test_sent_to_one_of_two(machines: Machines, machine_list: list[Machine]) -> None:
    """What is sent goes to the chosen peer; the others have it as an offer, as before."""
    desk, lap = machines
    pad = start_machine(machine_list, "pad")
    pair(desk, pad)
    origin, dock, other, _targets = Client(desk), Dock(lap), Dock(pad), [Client(lap), Client(pad)]
    activity = origin.offer("A letter")
    other.offer("A letter")
    send(desk, lap.device_id)
    wait_until_invited(dock, "A letter")
    # What is said later arrives later, and leaves it as sent.
    activity.update(Title="The same letter")
    dock.offer("The same letter")
    other.offer("The same letter")
    assert invited(dock) and not invited(other)


def test_sent_right_behind_becoming_current(machines: Machines) -> None:
    """What has just become current is what is sent, however soon."""
    desk, lap = machines
    origin, dock, _target = Client(desk), Dock(lap), Client(lap)
    origin.offer("Former")
    dock.offer("Former")
    activity = origin.create(Title="Latest")
    activity.become_current()
    send(desk, lap.device_id)
    assert wait_until_invited(dock, "Latest") < AT_ONCE


def test_answered_by_continuing(machines: Machines) -> None:
    """Continuing what was sent answers it, for it is shown as sent no longer, whatever becomes of that."""
    desk, lap = machines
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    origin.offer("A letter")
    path = dock.offer("A letter")
    send(desk, lap.device_id)
    wait_until_invited(dock, "A letter")
    target.fail("ContinueActivity", "not this one")
    dock.continue_offer(path)
    assert dock.outcome()[1]
    assert not invited(dock) and path in dock.offers


def test_dismissed_comes_back(machines: Machines) -> None:
    """A dismissed offer comes back when it is sent, and one that was sent stays away once it is dismissed."""
    desk, lap = machines
    origin, dock, _target = Client(desk), Dock(lap), Client(lap)
    origin.offer("A letter")
    path = dock.offer("A letter")
    dock.call(path, "RemoteActivity.Dismiss")
    dock.wait_until_gone(path)
    send(desk, lap.device_id)
    assert wait_until_invited(dock, "A letter") < AT_ONCE
    dock.call(path, "RemoteActivity.Dismiss")
    dock.wait_until_gone(path)
    let_pass(QUIET)
    assert not dock.offers


def test_withdrawn(machines: Machines) -> None:
    """What was sent is gone when its offer is, and is not shown as sent when it is offered again."""
    desk, lap = machines
    origin, dock, _target = Client(desk), Dock(lap), Client(lap)
    activity = origin.offer("A letter")
    path = dock.offer("A letter")
    send(desk, lap.device_id)
    wait_until_invited(dock, "A letter")
    activity.resign_current()
    dock.wait_until_gone(path)
    activity.become_current()
    dock.offer("A letter")
    # What is said later arrives later.
    activity.update(Title="The same letter")
    dock.offer("The same letter")
    assert not invited(dock)


def test_too_soon(machines: Machines) -> None:
    """Of what is sent within ten seconds the latest is shown when they are over, alone; the rest is not."""
    desk, lap = machines
    origin, dock, _target = Client(desk), Dock(lap), Client(lap)
    seen = set()
    origin.offer("First")
    dock.offer("First")
    send(desk, lap.device_id)
    wait_until_invited(dock, "First")
    begin = time.monotonic()
    for title in ("Second", "Third", "Latest"):
        origin.offer(title)
        send(desk, lap.device_id)
        dock.offer(title)

    def latest() -> bool:
        seen.update(invited(dock))
        return "Latest" in seen

    wait(latest, "the latest to be shown as sent", PACE + 5)
    assert PACE - 1.5 < time.monotonic() - begin < PACE + 1.5
    assert seen == {"Latest"}


def test_muted(machines: Machines) -> None:
    """What a muted device sends is listed as an offer and not shown as sent, nor is what it has sent before; the sender
    is not told. The mute outlives both daemons."""
    desk, lap = machines
    origin, dock, _target = Client(desk), Dock(lap), Client(lap)
    origin.offer("A letter")
    dock.offer("A letter")
    send(desk, lap.device_id)
    wait_until_invited(dock, "A letter")
    mute(lap, desk.device_id)
    wait(lambda: not invited(dock), "it to be shown as sent no longer")
    for program in ("handoff-bridge", "handoffd"):
        lap.kill(program, signal.SIGKILL)
    lap.start_broker()
    lap.start_bridge()
    dock.follow()
    target = Client(lap)
    wait_for_link(desk, lap)
    assert lap.session.get(device_path(desk.device_id), "Device.Muted") is True
    dock.offer("A letter")
    send(desk, lap.device_id)
    let_pass(QUIET)
    assert not invited(dock) and not send_error(desk, lap.device_id)
    mute(lap, desk.device_id, False)
    let_pass(QUIET)
    assert not invited(dock), "what was sent meanwhile does not come back"
    send(desk, lap.device_id)
    assert wait_until_invited(dock, "A letter") < AT_ONCE
    assert not target.calls


def test_refused(machines: Machines, machine_list: list[Machine]) -> None:
    """Sending is refused by name, and nothing is sent: to a device that is not paired or not connected, with Handoff
    off, and with nothing that is offered."""
    desk, lap = machines
    origin, dock, _target = Client(desk), Dock(lap), Client(lap)
    with refused("OfferWithdrawn", containing=("offered",)):
        send(desk, lap.device_id)
    activity = origin.offer("A letter", EligibleForHandoff=False)
    with refused("OfferWithdrawn"):
        send(desk, lap.device_id)
    activity.update(EligibleForHandoff=True, ExpirationDate=int(time.time() * 1_000_000) - 1)
    with refused("OfferWithdrawn"):
        send(desk, lap.device_id)
    activity.update(ExpirationDate=0)
    dock.offer("A letter")
    stranger = start_machine(machine_list, "stranger")
    discoverable(stranger)
    desk.dial(stranger.port)
    with refused("NotPaired", containing=("Pair",)):
        send(desk, stranger.device_id)
    with refused("NotPaired"):
        mute(desk, stranger.device_id)
    with refused("UnknownObject"):
        send(desk, "0" * 64)
    desk.set_enabled(False)
    with refused("Disabled"):
        send(desk, lap.device_id)
    desk.set_enabled(True)
    wait_for_link(desk, lap)
    identity = lap.device_id
    lap.kill("handoff-bridge", signal.SIGTERM)
    wait(lambda: not desk.connected_to(identity), "the link to end")
    with refused("ConnectionUnavailable"):
        send(desk, identity)
    assert not any("Invited" in event.arguments.unpack()[1] for event in dock.events
                   if event.member == "PropertiesChanged" and event.arguments.unpack()[1].get("Invited"))


def test_older_peer(machine: Machine) -> None:
    """A peer that does not know sending is not waited for: SendError says that it is too old, until the next time."""
    Client(machine).offer("A letter")
    device = Device()
    link = device.paired_link_to(machine)
    link.errors["Invite"] = ("org.freedesktop.DBus.Error.UnknownMethod", "There is no such method.")
    wait(lambda: link.calls("Offer"), "the offer")
    begin = time.monotonic()
    send(machine, device.id)
    assert time.monotonic() - begin < AT_ONCE
    wait(lambda: link.calls("Invite") and send_error(machine, device.id), "SendError")
    assert "too old" in send_error(machine, device.id)
    del link.errors["Invite"]
    send(machine, device.id)
    wait(lambda: len(link.calls("Invite")) == 2 and not send_error(machine, device.id), "SendError to be empty")
    assert link.calls("Invite")[1].get_body().unpack() == link.calls("Offer")[0].get_body().unpack()[:1]


def test_peer_that_does_not_answer(machine: Machine) -> None:
    """While a peer does not answer, sending again returns at once, and only the latest goes out behind it."""
    client = Client(machine)
    client.offer("First")
    device = Device()
    link = device.paired_link_to(machine)
    wait(lambda: link.calls("Offer"), "the offer")
    link.slow.add("Invite")
    times = []
    for number in range(20):
        client.offer(f"Number {number}")
        begin = time.monotonic()
        send(machine, device.id)
        times.append(time.monotonic() - begin)
        link.read_messages()
    assert max(times) < AT_ONCE
    assert len(wait(lambda: link.calls("Invite"), "the first")) == 1
    wait(lambda: len(link.calls("Offer")) >= 21, "all offers")
    link.answer_waiting()
    wait(lambda: len(link.calls("Invite")) == 2, "the latest")
    assert link.calls("Invite")[1].get_body().unpack()[0] == link.calls("Offer")[-1].get_body().unpack()[0]
    let_pass(QUIET)
    assert len(link.calls("Invite")) == 2


def test_broker_that_does_not_answer(machines: Machines) -> None:
    """Sending does not wait for a broker that does not answer: what it said last is sent."""
    desk, lap = machines
    Client(desk).offer("A letter")
    dock, _target = Dock(lap), Client(lap)
    dock.offer("A letter")
    desk.processes["handoffd"].send_signal(signal.SIGSTOP)
    try:
        begin = time.monotonic()
        send(desk, lap.device_id)
        assert time.monotonic() - begin < 2 * AT_ONCE
        wait_until_invited(dock, "A letter")
    finally:
        desk.processes["handoffd"].send_signal(signal.SIGCONT)


def test_hidden(machines: Machines) -> None:
    """What nothing here continues is hidden, but says that it was sent."""
    desk, lap = machines
    Client(desk).offer("A letter")
    wait(lambda: lap.session.get(ROOT, "Manager.HiddenOffers"), "the hidden offer")
    assert not hidden_as_sent(lap)
    send(desk, lap.device_id)
    wait(lambda: hidden_as_sent(lap) == ["A letter"], "it to be shown as sent", AT_ONCE)
    dock, _target = Dock(lap), Client(lap)
    wait_until_invited(dock, "A letter")


@pytest.mark.parametrize("program", ["handoffd", "handoff-bridge"])
@pytest.mark.parametrize("side", ["sender", "receiver"])
def test_restart(machines: Machines, side: str, program: str) -> None:
    """After either daemon of either side was killed what was sent is shown as sent or as an offer, and what is sent anew
    is shown; a new broker of the receiver shows it as sent again."""
    desk, lap = machines
    victim = desk if side == "sender" else lap
    steady_client(desk, "A letter")
    dock, target = Dock(lap), Client(lap)
    target.follow_broker(lambda: None)
    dock.offer("A letter")
    send(desk, lap.device_id)
    wait_until_invited(dock, "A letter")
    identity = lap.device_id
    victim.kill(program)
    if program == "handoffd":
        victim.start_broker()
    else:
        victim.start_bridge()
    if side == "receiver" and program == "handoffd":
        dock.follow()
        assert wait_until_invited(dock, "A letter") < 5
    wait_for_link(desk, lap)
    dock.offer("A letter")

    def sent() -> bool:
        # A new broker of the sender has yet to hear of the activity, and a new bridge of the link.
        try:
            send(desk, identity)
        except Exception:
            return False
        return True

    wait(sent, "it to be sent")
    wait_until_invited(dock, "A letter")
    dock.continue_offer(dock.offer("A letter"))
    assert target.wait_for("ContinueActivity").arguments.unpack()[0]["UserInfo"] == {"page": 1}


def test_sent_while_the_broker_there_is_away(machines: Machines) -> None:
    """What is sent while there is no broker there is shown as sent when there is one."""
    desk, lap = machines
    Client(desk).offer("A letter")
    dock, target = Dock(lap), Client(lap)
    dock.offer("A letter")
    target.follow_broker(lambda: None)
    lap.kill("handoffd")
    send(desk, lap.device_id)
    # It arrives before there is a broker.
    let_pass(QUIET)
    lap.start_broker()
    dock.follow()
    assert wait_until_invited(dock, "A letter") < 5
