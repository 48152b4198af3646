# SPDX-License-Identifier: LGPL-2.1-or-later
"""Clients that leave at any moment, and very many activities: nothing of them stays."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from gi.repository import GLib
from buses import ROOT, properties, wait
from clients import Client, Dock
from support import SANITIZED, Machine, memory

# What a client does, in order, each of it without waiting for answers; the path of its activity it has to know.
STEPS = ("register", "create", "become current", "save", "continue", "resign", "invalidate", "unregister")


def step(client: Client, name: str, path: str) -> Callable[[], GLib.Variant] | None:
    """Sends one of these calls, and returns the function that waits for its answer; continuing is none."""
    if name == "register":
        return client.begin_registering()
    if name == "create":
        arguments = GLib.Variant("(sa{sv})", ("", properties(Title="Left behind")))
        return client.begin(ROOT, "Manager.CreateActivity", arguments)
    if name == "unregister":
        return client.begin(ROOT, "Manager.UnregisterApplication")
    if name == "save":
        return client.begin(path, "Activity.Update", GLib.Variant("(a{sv})", (properties(NeedsSave=True),)))
    if name == "continue":
        return None
    member = {"become current": "BecomeCurrent", "resign": "ResignCurrent", "invalidate": "Invalidate"}[name]
    return client.begin(path, f"Activity.{member}")


@pytest.mark.parametrize("waits", [False, True], ids=["at once", "after the answers"])
@pytest.mark.parametrize("last", STEPS)
def test_client_leaves_at_any_point(machines: tuple[Machine, Machine], last: str, waits: bool) -> None:
    """A client that leaves at any point of its calls leaves nothing behind, here and on peers; others go on."""
    desk, lap = machines
    witness, handler = Client(desk, "com.example.witness"), Client(lap)
    here, there = Dock(desk), Dock(lap)
    standing = witness.offer("Standing")
    leaver = Client(desk, register=False)
    leaver.hang("WillSave")
    path, answers = "", []
    for name in STEPS[:STEPS.index(last) + 1]:
        if name == "become current":
            # Its path is in the answer to another, since nobody can know it before.
            path = leaver.create(Title="Left behind").path
        answers.append(step(leaver, name, path))
        if name == "continue":
            handler.hang("WillContinueActivity")
            there.continue_offer(there.offer("Left behind"))
            leaver.wait_for("WillSave")
    if waits:
        for answer in answers:
            if answer:
                answer()
        if last == "save":
            leaver.wait_for("WillSave")
    leaver.close()
    wait(lambda: set(witness.managed_objects()) == {standing.path}, "the activities to go")
    wait(lambda: "Left behind" not in there.titles, "the offer to go")
    if "continue" in STEPS[:STEPS.index(last) + 1]:
        assert there.outcome()[1].endswith((".OfferWithdrawn", ".UnknownObject"))
    assert "Left behind" not in here.titles
    # Everybody else is served as before.
    standing.become_current()
    handler.answers["WillContinueActivity"] = lambda _arguments: GLib.Variant("(b)", (False,))
    finished = len(there.finished())
    handler2 = Client(lap, "com.example.witness")
    there.continue_offer(there.offer("Standing"))
    wait(lambda: len(there.finished()) == finished + 1, "the outcome")
    assert there.finished()[-1][1] == "" and handler2.called("ContinueActivity")


def batch(calls: list[Callable[[], GLib.Variant]]) -> list[GLib.Variant]:
    return [call() for call in calls]


def test_ten_thousand_activities(machine: Machine) -> None:
    """Ten thousand activities, opened, current, changed and closed, leave the broker no larger than it was."""
    client = Client(machine)
    create = GLib.Variant("(sa{sv})", ("", properties(Title="One of many", UserInfo={
        "text": GLib.Variant("s", "x" * 500), "numbers": GLib.Variant("ai", list(range(50)))})))
    update = GLib.Variant("(a{sv})", (properties(Title="Changed", UserInfo={"n": GLib.Variant("u", 1)}),))
    sizes = []
    for number in range(200):
        paths = [answer.unpack()[0] for answer in batch(
            [client.begin(ROOT, "Manager.CreateActivity", create) for _ in range(50)])]
        batch([client.begin(path, "Activity.BecomeCurrent") for path in paths[:5]])
        batch([client.begin(path, "Activity.Update", update) for path in paths])
        batch([client.begin(path, "Activity.Invalidate") for path in paths])
        if number >= 20:
            sizes.append(memory(machine, "handoffd") >> 10)
    assert client.managed_objects() == {}
    # What a sanitizer keeps for itself does not count.
    if not SANITIZED:
        assert sizes[-1] <= sizes[0] * 1.05 + 64, f"{sizes[0]} KiB after 1,000 activities, {sizes[-1]} after 10,000"
