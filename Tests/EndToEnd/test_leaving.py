# SPDX-License-Identifier: LGPL-2.1-or-later
"""Very many activities: nothing of them stays."""

from __future__ import annotations

from collections.abc import Callable

from gi.repository import GLib
from buses import ROOT, properties
from clients import Client
from support import SANITIZED, Machine, memory


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
