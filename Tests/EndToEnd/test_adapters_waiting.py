# SPDX-License-Identifier: LGPL-2.1-or-later
"""Adapters that are told that something is on its way to them, which then takes its time."""

from __future__ import annotations

import pytest
from buses import BusError, let_pass, wait
from false_broker import FalseBroker
from support import PROGRAMS, Machine


@pytest.mark.long
@pytest.mark.parametrize("name, activity_type, idle", [
    ("shell", "UsingShell", 20), ("editor", "EditingText", 20), ("documents", "ReadingDocument", 60)])
def test_adapter_waits_for_what_is_on_its_way(machine_list: list[Machine], name: str, activity_type: str, idle: int) -> None:
    """An adapter that has nothing else to do is still there when what was announced comes at last, which may take longer than
    it stays without anything to do, and ends by itself afterwards."""
    desk = Machine("desk")
    machine_list.append(desk)
    broker = FalseBroker(desk)
    adapter = desk.start(str(PROGRAMS / "handoff-adapter"), name)
    wait(lambda: broker.client, "a registration")
    whole_type = f"org.example.Handoff.{activity_type}"
    broker.announce(whole_type)
    # Longer than the adapter stays without anything to do.
    let_pass(idle + 2)
    assert adapter.poll() is None
    with pytest.raises(BusError, match="not available|nothing here|document|file"):
        broker.hand_over_announced(whole_type)()
    # Most of the time after which it ends now.
    let_pass(idle - 2)
    wait(lambda: adapter.poll() == 0, "the end of the adapter", 10)
    desk.processes.clear()
