# SPDX-License-Identifier: LGPL-2.1-or-later
"""A machine whose user is shown what there is: the agent, with whether the user is there."""

from __future__ import annotations

import pytest
from buses import wait
from clients import Client, Dock
from notifications import AGENT
from presence import Presence, missing
from support import Machine, pair, start_machine


class Desk(Machine):
    """A machine with both daemons and the agent."""

    presence: Presence | None = None

    def start_agent(self, *options: str) -> None:
        former = len(self.log("handoff-agent"))
        self.start("handoff-agent", "--verbose", *options)
        self.wait_for(AGENT, "handoff-agent")
        wait(lambda: "locked" in self.log("handoff-agent")[former:], "the agent to know whether the session is locked")

    def stop(self) -> dict[str, int]:
        statuses = super().stop()
        if self.presence:
            self.presence.stop()
        return statuses


def start_desk(machines: list[Machine], name: str = "lap", *, agent: bool = True, known: bool = True) -> Desk:
    """A machine with both daemons, logind and, unless it is to be started later, the agent."""
    if what := missing():
        pytest.skip(what)
    machine = Desk(name)
    machines.append(machine)
    machine.presence = Presence(machine, known)
    machine.start_broker()
    machine.start_bridge()
    if agent:
        machine.start_agent()
    return machine


class Pair:
    """A machine where something is current, and one with an agent, where it can be continued."""

    def __init__(self, machines: list[Machine], *, agent: bool = True) -> None:
        self.desk = start_machine(machines, "desk")
        self.lap = start_desk(machines, agent=agent)
        pair(self.desk, self.lap)
        self.editor = Client(self.desk)
        self.receiver = Client(self.lap)
        self.dock = Dock(self.lap)
        assert self.lap.presence
        self.presence = self.lap.presence

    def offer(self, title: str, **values: object):
        """Something is current on the one and offered on the other."""
        activity = self.editor.offer(title, **values)
        path = self.dock.offer(title)
        if "handoff-agent" in self.lap.processes:
            wait(lambda: path in self.lap.log("handoff-agent"), "the agent to know the offer")
        return activity
