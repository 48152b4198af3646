# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is sent to this machine a second time."""

from __future__ import annotations

import pytest
from agents import Pair
from buses import let_pass, wait
from notifications import PlainServer
from sending import PACE, send
from support import Machine

QUESTION = "Continue “Report”?"
# As long as a question takes to be shown that is sent.
QUIET = 0.3


@pytest.fixture
def both(machine_list: list[Machine]) -> Pair:
    return Pair(machine_list)


def invited_at(both: Pair) -> int:
    """When the offer was sent, as the broker says."""
    return next((offer["InvitedAt"] for offer in both.dock.offers.values()), 0)


def test_sent_again(both: Pair) -> None:
    """What the user has put away is asked again when it is sent again, ten seconds after the first time at the earliest."""
    server = PlainServer(both.lap)
    both.offer("Report")
    assert invited_at(both) == 0
    send(both.desk, both.lap.device_id)
    shown = server.wait_for(QUESTION)
    first = wait(lambda: invited_at(both), "the invitation")
    server.put_away(shown)
    send(both.desk, both.lap.device_id)
    let_pass(QUIET)
    assert invited_at(both) == first and len(server.record) == 1
    wait(lambda: len(server.record) == 2, "the question once more", PACE + 2)
    # The agent may learn of the second invitation, and ask, before this test does.
    wait(lambda: invited_at(both) > first, "the second invitation")
    assert server.titles == [QUESTION]


def test_new_broker(both: Pair) -> None:
    """What the user has put away is not asked again after a restart of the broker: the bridge tells each the same time."""
    server = PlainServer(both.lap)
    both.receiver.follow_broker(lambda: None)
    both.offer("Report")
    send(both.desk, both.lap.device_id)
    shown = server.wait_for(QUESTION)
    first = wait(lambda: invited_at(both), "the invitation")
    server.put_away(shown)
    both.lap.kill("handoffd")
    both.lap.start_broker()
    both.dock.follow()
    both.dock.offer("Report")
    wait(lambda: invited_at(both), "the invitation")
    assert invited_at(both) == first
    let_pass(QUIET)
    assert server.titles == [] and len(server.record) == 1
