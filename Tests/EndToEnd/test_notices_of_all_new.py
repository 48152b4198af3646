# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is shown to who wants to be asked about all that is new."""

from __future__ import annotations

from gi.repository import GLib
from buses import let_pass, wait
from sending import PACE
from support import Machine
from test_notices_of_broker import Session


def test_peer_that_changes_its_offer_all_the_time(machine_list: list[Machine]) -> None:
    """A peer that changes its offer all the time is asked about once in ten seconds, and then about the last one."""
    session = Session(machine_list, NotifyOffers=GLib.Variant("s", "always"))
    path = ""
    for number in range(1, 11):
        former, path = path, session.broker.offer(number, f"Title {number}")
        if former:
            session.broker.withdraw(former)
        else:
            session.server.wait_for("Continue “Title 1”?")
        # As long as a question takes to be shown; all ten together are far within the ten seconds.
        let_pass(0.2)
    assert [one.title for one in session.server.record] == ["Continue “Title 1”?"]
    assert not session.server.shown, "it is offered no longer"
    # Another peer need not wait for this one.
    session.broker.offer(1, "Other", "e" * 64)
    session.server.wait_for("Continue “Other”?")
    wait(lambda: session.server.titles == ["Continue “Title 10”?"], "the last one", PACE + 2)
    assert len(session.server.record) == 3
