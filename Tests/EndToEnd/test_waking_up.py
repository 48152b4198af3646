# SPDX-License-Identifier: LGPL-2.1-or-later
"""A machine that wakes up is another one to strangers, and linked with its peers again at once."""

from __future__ import annotations

from gi.repository import Gio, GLib
from buses import BRIDGE_ROOT, Session, let_pass, wait
from finding import make_peers, hosted
from rig import Network
from support import Machine, device_path, wait_for_link

LOGIN1 = "org.freedesktop.login1"


def own(session: Session, name: str) -> None:
    """Takes a name on a bus."""
    session.call("/org/freedesktop/DBus", "org.freedesktop.DBus.RequestName", GLib.Variant("(su)", (name, 0)),
                 destination="org.freedesktop.DBus")


def prepare_for_sleep(session: Session, start: bool, destination: str | None = None) -> None:
    """Says that the machine is about to sleep, or has woken up."""
    session.connection.emit_signal(destination, "/org/freedesktop/login1", f"{LOGIN1}.Manager", "PrepareForSleep",
                                   GLib.Variant("(b)", (start,)))
    session.connection.flush_sync()


def test_resume(network: Network, machine_list: list[Machine]) -> None:
    """After sleep a link that has died meanwhile is replaced at once, and the machine announces itself anew."""
    desk, lap = hosted(network, machine_list)
    make_peers(desk, lap)
    login1, stranger = lap.place.connect(), lap.place.connect()
    own(login1, LOGIN1)
    port = lap.session.get(BRIDGE_ROOT, "Bridge.Port")
    since = lap.session.get(device_path(desk.device_id), "Device.ConnectedSince")
    prepare_for_sleep(login1, True)
    # What somebody else says does not count, even if it is said to the bridge alone.
    for name in login1.call("/org/freedesktop/DBus", "org.freedesktop.DBus.ListNames",
                            destination="org.freedesktop.DBus").unpack()[0]:
        if name.startswith(":"):
            prepare_for_sleep(stranger, False, name)
    # As long as a bridge takes to listen at another port.
    let_pass(0.3)
    assert lap.session.get(BRIDGE_ROOT, "Bridge.Port") == port
    # While it sleeps, the other one ends the link, of which it hears nothing.
    lap.place.cut()
    desk.kill("handoff-bridge")
    desk.start_bridge()
    lap.place.mend()
    prepare_for_sleep(login1, False)
    wait(lambda: lap.session.get(BRIDGE_ROOT, "Bridge.Port") != port, "another port")
    wait(lambda: lap.session.get(device_path(desk.device_id), "Device.ConnectedSince") > since, "another link", 5)
    wait_for_link(desk, lap)
