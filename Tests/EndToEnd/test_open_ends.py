# SPDX-License-Identifier: LGPL-2.1-or-later
"""A client's socket to the broker ends in the middle of a continuation."""

from __future__ import annotations

import pytest
from gi.repository import GLib
from buses import ROOT, wait
from clients import APPLICATION_ID, Client, Dock
from opened import raw_socket
from support import Machine

# What the two clients are called with, in its order, whether that is the origin's, and what they answer.
CALLS = (
    ("WillContinueActivity", False, GLib.Variant("(b)", (False,))),
    ("WillSave", True, GLib.Variant("(a{sv})", ({},))),
    ("ContinueActivity", False, GLib.Variant("(b)", (True,))),
    ("WasContinued", True, None))


@pytest.mark.parametrize("side", ["client", "broker"])
@pytest.mark.parametrize("last", [member for member, *_ in CALLS])
def test_end_at_each_message(machines: tuple[Machine, Machine], last: str, side: str) -> None:
    """Wherever in a continuation a client's socket ends, because the client closes it or its broker is killed, the one who
    continues is told one outcome, and the next continuation goes well, by the bus."""
    desk, lap = machines
    source, target, dock = Client(desk), Client(lap), Dock(lap)
    sockets = {True: raw_socket(source), False: raw_socket(target)}
    source.offer("A letter", NeedsSave=GLib.Variant("b", True))
    dock.continue_offer(dock.offer("A letter"))
    number = [member for member, *_ in CALLS].index(last)
    for member, is_origin, answer in CALLS[:number]:
        sockets[is_origin].answer(sockets[is_origin].next_call(member), answer)
    _, is_origin, _ = CALLS[number]
    sockets[is_origin].next_call(last)
    machine, client = (desk, source) if is_origin else (lap, target)
    if side == "client":
        sockets[is_origin].close()
        # The other one goes on by its socket, unless what was to be continued is lost.
        for member, is_other_origin, answer in CALLS[number + 1:]:
            if is_other_origin != is_origin and last != "ContinueActivity":
                sockets[is_other_origin].answer(sockets[is_other_origin].next_call(member), answer)
    else:
        machine.kill("handoffd")
        sockets[is_origin].wait_until_ended()
        machine.start_broker()
        client.register()
    is_told = side == "client" or is_origin
    if is_told:
        wait(lambda: len(dock.finished()) == 1, "the outcome")
    for attached in sockets.values():
        attached.close()
    source.offer("Another")
    again = Dock(lap)
    again.continue_offer(again.offer("Another"))
    assert again.outcome() == (APPLICATION_ID, "", "")
    if is_told:
        # Behind this answer the dock has what the broker said before, in all the time that the other one took.
        dock.get(ROOT, "Manager.Version")
        assert len(dock.finished()) == 1
