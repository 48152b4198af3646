# SPDX-License-Identifier: LGPL-2.1-or-later
"""Addresses and ids that are none, or those of the device itself: the bridge refuses them with an error that says why."""

from __future__ import annotations

import pytest
from gi.repository import GLib
from buses import BRIDGE_ROOT
from support import Machine, refused

SOME_DEVICE = "0123456789abcdef" * 4


@pytest.mark.parametrize("address", ["", "nowhere", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:x",
                                     "::1:80", "[::1]", "[127.0.0.1]:80", "user@127.0.0.1:80", "a b:80"])
def test_address_that_is_none(machine: Machine, address: str) -> None:
    """Connect with something that is no address is InvalidArgs."""
    with refused("InvalidArgs"):
        machine.session.call(BRIDGE_ROOT, "Bridge.Connect", GLib.Variant("(s)", (address,)))


@pytest.mark.parametrize("device_id", ["", "x" * 64, SOME_DEVICE[:-1], SOME_DEVICE.upper(), f"{SOME_DEVICE}0"])
def test_device_id_that_is_none(machine: Machine, device_id: str) -> None:
    """Trust in something that is no device id is InvalidArgs."""
    with refused("InvalidArgs"):
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
