# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sending what is offered to a chosen peer, where it is shown at once, and nothing starts."""

from __future__ import annotations

import signal
import time

import pytest
from buses import let_pass, wait
from clients import ACTIVITY_TYPE, APPLICATION_ID, Client, Dock
from link import Device
from sending import send, send_error, wait_until_invited
from gi.repository import GLib
from support import Machine, device_path, refused, wait_for_link
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


def test_what_was_left_is_sent(machines: Machines) -> None:
    """While nothing is current, since its user looks at something else, what was left last is sent, as it is then; it is
    continued also when its application has gone, and what was closed is not sent."""
    desk, lap = machines
    target, dock = Client(lap), Dock(lap)
    origin, other = Client(desk), Client(desk, "com.example.other", ("com.example.other.edit",))
    closed = other.offer("Closed")
    letter = origin.offer("A letter")
    origin.save(UserInfo={"line": GLib.Variant("i", 7)})
    closed.resign_current()
    letter.leave_current()
    send(desk, lap.device_id)
    wait_until_invited(dock, "A letter")
    origin.close()
    dock.continue_offer(dock.offer("A letter"))
    assert dock.outcome()[1:] == ("", "")
    assert target.wait_for("ContinueActivity").arguments.unpack()[0]["UserInfo"] == {"line": 7}
    wait(lambda: not desk.session.get(device_path(lap.device_id), "Device.Waiting"), "nothing to wait any longer")
    with refused("OfferWithdrawn"):
        send(desk, lap.device_id)


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
