# SPDX-License-Identifier: LGPL-2.1-or-later
"""For how long strangers can find a device."""

from __future__ import annotations

import signal

from gi.repository import GLib
from buses import BRIDGE_ROOT, Session, wait
from pairing import discoverable
from support import Machine
from terminal import Typing


def is_discoverable(machine: Machine) -> bool:
    return machine.session.get(BRIDGE_ROOT, "Bridge.Discoverable")


def ask_for_it(machine: Machine) -> Session:
    """Another program of the session makes the device discoverable."""
    session = machine.connect()
    session.set(BRIDGE_ROOT, "Bridge.Discoverable", GLib.Variant("b", True))
    return session


def test_program_that_is_killed(machine: Machine) -> None:
    """A device that a program has made discoverable cannot be found any more once that program is killed."""
    screen = Typing(machine, "handoff", "pair")
    screen.until("HOST:")
    assert is_discoverable(machine)
    screen.process.send_signal(signal.SIGKILL)
    wait(lambda: not is_discoverable(machine), "the end of it")


def test_several_programs(machine: Machine) -> None:
    """It can be found until the last program that wants that has gone, whichever has asked last, or one says no."""
    first, second = ask_for_it(machine), ask_for_it(machine)
    first.close()
    third = ask_for_it(machine)
    third.close()
    wait(lambda: not machine.session.owner(third.name), "the end of the third")
    # The bridge has heard of its end before it answers this.
    machine.session.call(BRIDGE_ROOT, "org.freedesktop.DBus.Peer.Ping")
    assert is_discoverable(machine)
    second.close()
    wait(lambda: not is_discoverable(machine), "the end of it")
    ask_for_it(machine)
    assert is_discoverable(machine)
    discoverable(machine, False)
    assert not is_discoverable(machine)
