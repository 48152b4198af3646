# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whatever an application hands over, arrives as it left."""

from __future__ import annotations

import pytest
from buses import body_size, typed, wait
from clients import Client, Dock, user_info
from random_values import RandomValues
from support import Machine
from gi.repository import GLib

ROUNDS = 12


@pytest.mark.parametrize("seed", range(4))
def test_random_values_arrive_as_they_left(machines: tuple[Machine, Machine], seed: int) -> None:
    """Random values of all types that UserInfo allows arrive on the other machine with the same types and bits, whether
    they were set, merged or returned from WillSave."""
    desk, lap = machines
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    values = RandomValues(seed)
    for number in range(ROUNDS):
        sent = values.user_info(25)
        assert body_size(GLib.Variant("(a{sv})", (sent,))) < 131072
        activity = origin.create(Title=f"{seed}/{number}")
        origin.save()
        if number % 3 == 0:
            activity.update(UserInfo=sent)
        elif number % 3 == 1:
            for key, value in sent.items():
                activity.add_entries({key: value})
        else:
            origin.save(UserInfo=sent)
        if number % 3 < 2:
            assert {key: typed(value) for key, value in activity.user_info().items()} == \
                {key: typed(value) for key, value in sent.items()}, f"read back, seed {seed}, round {number}"
        activity.become_current()
        dock.continue_offer(dock.offer(f"{seed}/{number}"))
        wait(lambda: len(dock.finished()) > number, "the outcome")
        assert dock.finished()[-1][1] == "", dock.finished()[-1]
        arrived = user_info(target.called("ContinueActivity")[-1])
        assert {key: typed(value) for key, value in arrived.items()} == \
            {key: typed(value) for key, value in sent.items()}, f"seed {seed}, round {number}"
        activity.invalidate()
