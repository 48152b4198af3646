# SPDX-License-Identifier: LGPL-2.1-or-later
"""What test_clipboard_desktops.py shows of X11, on the desktops of Wayland: sway, KWin and GNOME."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from clipboard_pair import Sides
from support import Machine
from test_clipboard_desktops import (  # noqa: F401
    sides, test_by_hand, test_following, test_locked, test_no_loop, test_secret_meanwhile, test_secrets)

pytestmark = pytest.mark.desktop
KINDS = ("sway", "kwin", "gnome")


@pytest.fixture(params=KINDS)
def asking(request: pytest.FixtureRequest, machine_list: list[Machine]) -> Iterator[Sides]:
    yield from sides(machine_list, request.param, "ask")


@pytest.fixture(params=KINDS)
def following(request: pytest.FixtureRequest, machine_list: list[Machine]) -> Iterator[Sides]:
    yield from sides(machine_list, request.param, "follow")
