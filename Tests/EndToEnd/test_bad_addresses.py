# SPDX-License-Identifier: LGPL-2.1-or-later
"""Addresses and ids that are none, or those of the device itself: the bridge refuses them with an error that says why."""

from __future__ import annotations

from gi.repository import GLib
from buses import BRIDGE_ROOT
from support import Machine, case, refused

SOME_DEVICE = "0123456789abcdef" * 4


def test_address_that_is_none(machine: Machine) -> None:
    """Connect with something that is no address is InvalidArgs."""
    for address in ("", "nowhere", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:x", "::1:80", "[::1]",
                    "[127.0.0.1]:80", "user@127.0.0.1:80", "a b:80"):
        with case(address), refused("InvalidArgs"):
            machine.session.call(BRIDGE_ROOT, "Bridge.Connect", GLib.Variant("(s)", (address,)))


def test_device_id_that_is_none(machine: Machine) -> None:
    """Trust in something that is no device id is InvalidArgs."""
    for device_id in ("", "x" * 64, SOME_DEVICE[:-1], SOME_DEVICE.upper(), f"{SOME_DEVICE}0"):
        with case(device_id), refused("InvalidArgs"):
            machine.trust(device_id, "x")


def test_trusting_and_connecting_to_oneself(machine: Machine) -> None:
    """A device neither trusts nor connects to itself."""
    with refused("InvalidArgs"):
        machine.trust(machine.device_id, "myself")
    with refused("InvalidArgs", "ConnectionUnavailable"):
        machine.dial(machine.port)


def test_nothing_answers(machine: Machine) -> None:
    """Connect to a port where nothing listens is ConnectionUnavailable."""
    with refused("ConnectionUnavailable"):
        machine.dial(1)
