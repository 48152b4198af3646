# SPDX-License-Identifier: LGPL-2.1-or-later
"""A machine that wakes up is another one to strangers, and linked with its peers again at once."""

from __future__ import annotations

from buses import BRIDGE_ROOT, let_pass, wait
from finding import make_peers, hosted
from login_manager import LOGIN1, LoginManager, prepare_for_sleep
from rig import Network
from support import Machine, device_path, wait_for_link


def test_resume(network: Network, machine_list: list[Machine]) -> None:
    """Before sleep the links end in order and nobody is let in; afterwards the machine announces itself anew, and is linked at
    once, whatever has happened to the other one meanwhile."""
    desk, lap = hosted(network, machine_list)
    make_peers(desk, lap)
    logind, stranger = LoginManager(lap.place.connect()), lap.place.connect()
    port = lap.session.get(BRIDGE_ROOT, "Bridge.Port")
    since = lap.session.get(device_path(desk.device_id), "Device.ConnectedSince")
    # As long as it takes the bridge to see who owns the name.
    wait(lambda: logind.bus.owner(LOGIN1), "logind")
    let_pass(0.3)
    logind.prepare_for_sleep(True)
    wait(lambda: not desk.connected_to(lap.device_id), "the end of the link")
    # What somebody else says does not count, even if it is said to the bridge alone.
    for name in stranger.call("/org/freedesktop/DBus", "org.freedesktop.DBus.ListNames",
                              destination="org.freedesktop.DBus").unpack()[0]:
        if name.startswith(":"):
            prepare_for_sleep(stranger, False, name)
    # As long as a bridge takes to listen at another port.
    let_pass(0.3)
    assert lap.session.get(BRIDGE_ROOT, "Bridge.Port") == 0
    lap.place.cut()
    desk.kill("handoff-bridge")
    desk.start_bridge()
    lap.place.mend()
    logind.prepare_for_sleep(False)
    wait(lambda: lap.session.get(BRIDGE_ROOT, "Bridge.Port") not in (0, port), "another port")
    wait(lambda: lap.session.get(device_path(desk.device_id), "Device.ConnectedSince") > since, "another link", 5)
    wait_for_link(desk, lap)
