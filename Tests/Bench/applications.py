#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A player and a viewer on the bus of this session, so that adapters have something to wait for.

Run with the path of a document that the viewer shows, it says when they are there, and keeps them until it is ended.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "EndToEnd"))

# ruff: noqa: E402
from gi.repository import GLib
from fake_viewers import FakeOkular
from players import FalsePlayer


class Place:
    """What the applications are told of a machine."""

    def __init__(self) -> None:
        self.address = os.environ["DBUS_SESSION_BUS_ADDRESS"]
        self.sessions: list[object] = []


def main(document: str) -> None:
    place = Place()
    player = FalsePlayer(place)
    player.plays("https://example.org/film", "A film", status="Paused")
    FakeOkular(place, document)
    print("there", flush=True)
    GLib.MainLoop().run()


main(*sys.argv[1:])
