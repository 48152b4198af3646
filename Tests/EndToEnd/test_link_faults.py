# SPDX-License-Identifier: LGPL-2.1-or-later
"""A link that fails at any message of a continuation."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from gi.repository import GLib
from buses import let_pass, wait
from clients import Client, Dock
from namespaces import Cable
from proxy import Proxy
from rig import start_cabled
from support import Machine, start_machine, trust_each_other, wait_for_link

# How long an offer may stay that nobody has withdrawn.
VANISHED = 60
# A continuation takes six: Fetch, Continued and Release, and their answers.
MESSAGES = range(6)
# Seconds for Fetch, and for what the machines do besides.
DEADLINE = 10 + 5


@pytest.fixture
def rig(machine_list: list[Machine]) -> Iterator[tuple[Machine, Machine, Proxy]]:
    """Two machines, the second of which reaches the first through a proxy."""
    desk, lap = Machine("desk"), Machine("lap")
    for number, machine in enumerate((desk, lap), 2):
        machine_list.append(machine)
        # It listens where the other does not see it: past the proxy neither can call the other back.
        machine.host_address = f"127.0.0.{number}"
        machine.start_broker()
        machine.start_bridge()
    proxy = Proxy(desk.port, desk.host_address)
    trust_each_other(desk, lap)
    lap.dial(proxy.port)
    wait_for_link(desk, lap)
    yield desk, lap, proxy
    proxy.close()


def resting(proxy: Proxy) -> None:
    """Waits until nothing is sent over the link any more, and counts from there."""
    def quiet() -> bool:
        before = proxy.seen
        # Longer than a bridge waits before it says Hello again.
        let_pass(0.4)
        return proxy.seen == before
    wait(quiet, "an idle link")
    proxy.seen = 0


def test_messages_of_a_continuation(rig: tuple[Machine, Machine, Proxy]) -> None:
    """A continuation takes six messages on the link."""
    desk, lap, proxy = rig
    origin, _target, dock = Client(desk), Client(lap), Dock(lap)
    origin.offer("A letter")
    path = dock.offer("A letter")
    resting(proxy)
    dock.continue_offer(path)
    assert dock.outcome()[1] == ""
    origin.wait_for("WasContinued")
    resting_before = proxy.seen
    wait(lambda: proxy.seen >= len(MESSAGES), f"{len(MESSAGES)} messages, of which {resting_before} came")
    # As long as a message takes to be sent.
    let_pass(0.2)
    assert proxy.seen == len(MESSAGES)


@pytest.mark.parametrize(("kind", "number"), [
    pytest.param(kind, number, marks=() if kind == "cut" else pytest.mark.all)
    for kind in ("cut", "reset", "delay") for number in MESSAGES])
def test_fault_at_a_message(rig: tuple[Machine, Machine, Proxy], kind: str, number: int) -> None:
    """If the link fails at any message of a continuation, there is exactly one outcome, and the origin is told that it
    was continued if and only if it was, once."""
    desk, lap, proxy = rig
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    origin.save(UserInfo={"page": GLib.Variant("u", 7)})
    origin.offer("A letter")
    path = dock.offer("A letter")
    resting(proxy)

    proxy.arm(kind, number)
    begin = time.monotonic()
    dock.continue_offer(path)
    _, error, message = dock.outcome(DEADLINE)
    assert time.monotonic() - begin < DEADLINE
    # The link is there again at once, so that nothing is a reason to fail.
    assert not error, f"{error}: {message}"
    assert target.called("ContinueActivity")[-1].arguments.unpack()[0]["UserInfo"] == {"page": 7}
    wait(proxy.struck.is_set, "the fault")
    origin.wait_for("WasContinued", timeout=DEADLINE)
    wait_for_link(desk, lap)

    # Everything works as before, and nothing of the first continuation comes behind.
    origin.offer("Another letter")
    dock.continue_offer(dock.offer("Another letter"))
    wait(lambda: len(dock.finished()) >= 2, "the second outcome")
    origin.wait_for("WasContinued", 2)
    resting(proxy)
    assert [error for _, error, _ in dock.finished()] == ["", ""]
    assert len(target.called("WillContinueActivity")) == len(target.called("ContinueActivity")) == 2
    assert not target.called("DidFailToContinueActivity")
    assert len(origin.called("WasContinued")) == 2


# At the question, at the answer that was fetched, and after it was continued.
@pytest.mark.parametrize(("kind", "number"), [
    pytest.param(kind, number, marks=() if kind == "cut" and number in (0, 1, 2) else pytest.mark.all)
    for kind in ("cut", "reset") for number in MESSAGES])
def test_link_that_does_not_come_back(rig: tuple[Machine, Machine, Proxy], kind: str, number: int) -> None:
    """If the link fails at any message of a continuation and stays away, there is exactly one outcome within its
    deadline, and the origin is told nothing unless the activity was continued."""
    desk, lap, proxy = rig
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    origin.offer("A letter")
    path = dock.offer("A letter")
    resting(proxy)
    proxy.target = 1  # Nobody listens there.
    proxy.arm(kind, number)
    begin = time.monotonic()
    dock.continue_offer(path)
    _, error, message = dock.outcome(DEADLINE)
    assert time.monotonic() - begin < DEADLINE
    wait(proxy.struck.is_set, "the fault")
    is_handled = bool(target.called("ContinueActivity"))
    # The answer to Fetch is the second message.
    assert is_handled == (number >= 2)
    if is_handled:
        assert not error, message
    else:
        assert error.endswith((".ConnectionUnavailable", ".OfferWithdrawn")), error
        assert len(message) >= 10

    proxy.target = desk.port
    wait_for_link(desk, lap)
    if is_handled:
        origin.wait_for("WasContinued")
    resting(proxy)
    assert len(dock.finished()) == 1
    assert len(origin.called("WasContinued")) == int(is_handled)
    told = target.called("ContinueActivity") + target.called("DidFailToContinueActivity")
    assert len(told) == len(target.called("WillContinueActivity"))


@pytest.mark.slow
def test_peer_that_vanishes(machine_list: list[Machine]) -> None:
    """The offer of a peer that just disappears goes within 60 seconds."""
    cable = Cable()
    if cable.missing:
        pytest.skip(f"network namespaces can't be made: {cable.missing}")
    try:
        desk, lap = start_cabled(machine_list, cable)
        Client(desk).offer("A letter")
        Client(lap)
        dock = Dock(lap)
        path = dock.offer("A letter")
        assert not cable.mute(0)
        dock.wait_until_gone(path, timeout=VANISHED)
    finally:
        cable.remove()
