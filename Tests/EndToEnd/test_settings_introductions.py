# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Handoff window: a third device costs one comparison of digits and two clicks."""

from __future__ import annotations

from pathlib import Path

import pytest
from buses import BRIDGE_ROOT, ROOT, wait
from desktops import keep
from finding import make_peers
from gi.repository import GLib
from link import Device
from pairing import shown
from rig import Network, start_hosted
from settings import MIDDLE, NARROW, Settings, complaints, ends, not_built, screen_of
from support import Machine, device_path, start_machine, wait_for_link
from test_introductions import LIST, introduction
from test_settings import code
from windows import Accessibility

if reason := not_built():
    pytest.skip(reason, allow_module_level=True)


def test_third_device(network: Network, machine_list: list[Machine], accessibility: Accessibility, tmp_path: Path) -> None:
    """A laptop that is paired with one desktop is paired with another by digits, whose window then has what is needed to pair the two
    desktops: one click there, and one on the first."""
    network.add("mini")
    network.start_avahi()
    desk, lap, mini = (start_hosted(machine_list, host) for host in network.hosts.values())
    make_peers(desk, lap)
    try:
        at_desk, at_lap, at_mini = (Settings(one, screen_of(one, tmp_path, size))
                                    for one, size in ((desk, MIDDLE), (lap, MIDDLE), (mini, NARROW)))
        at_mini.wait_for("label", "Continue Where You Left Off")
        at_mini.focus()
        at_mini.keys("Return")
        wait(lambda: mini.session.get(BRIDGE_ROOT, "Bridge.Discoverable"), "that mini can be found")
        at_lap.go_to("Devices")
        at_lap.click(at_lap.button("Pair…", "mini"))
        assert code(at_lap) == code(at_mini)
        at_lap.press("They Match")
        at_mini.press("They Match")
        at_mini.wait_to_see("“lap” also knows: “desk”.")
        keep(mini.screen.shoot("also-knows.png"))
        at_mini.press("Pair with All")
        at_mini.wait_to_see("Accepted here. Accept this device there, too.")
        assert not shown(desk, mini.device_id)["Paired"]
        at_desk.go_to("Devices")
        at_desk.wait_to_see("“lap” says that this is one of your devices.")
        keep(desk.screen.shoot("introduced.png"))
        at_desk.click(at_desk.button("Pair", "mini"))
        wait_for_link(desk, mini)
        at_desk.wait_to_miss("“lap” says that this is one of your devices.")
        # What one of the three unpairs, the others are asked about.
        lap.session.call(device_path(mini.device_id), "Device.Unpair")
        at_desk.wait_to_see("“lap” no longer counts “mini” among your devices.")
        keep(desk.screen.shoot("retracted.png"))
        at_desk.click(at_desk.button("Keep", "mini"))
        at_desk.wait_to_miss("“lap” no longer counts “mini” among your devices.")
        assert desk.connected_to(mini.device_id)
        assert not [line for machine in (desk, lap, mini) for line in complaints(machine)]
    finally:
        for machine in (desk, lap, mini):
            ends(machine)
            if hasattr(machine, "screen"):
                machine.screen.close()
