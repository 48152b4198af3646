# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the daemons do as units, with all that is taken from them there."""

from __future__ import annotations

from pathlib import Path

from buses import BRIDGE, BRIDGE_ROOT, BROKER, wait
from clients import Client
from support import Machine, start_machine
from test_installed import manager, prefix  # noqa: F401
from user_manager import UserManager


def test_units_link_and_fetch(manager: UserManager, prefix: Path,  # noqa: F811
                              machine_list: list[Machine]) -> None:
    """As units, with their limits, the daemons make a link, and an activity of the other device is continued by a program
    of the session."""
    lap = start_machine(machine_list, "lap")
    manager.start("desktop-session.target")
    for name in (BROKER, BRIDGE):
        wait(lambda: manager.session.owner(name), f"{name} on the bus; {manager.log}")
    handoff = str(prefix / "bin" / "handoff")

    def bridge(name: str) -> str:
        said = manager.run("busctl", "--user", "get-property", BRIDGE, BRIDGE_ROOT, f"{BROKER}.Bridge", name)
        return said.partition(" ")[2].strip('"')

    desk = bridge("DeviceId")
    manager.run(handoff, "trust", lap.device_id, "lap")
    lap.trust(desk, "desk")
    port = wait(lambda: int(bridge("Port")), "a port")
    lap.dial(port)
    wait(lambda: lap.connected_to(desk), f"a link; {manager.log}")
    origin = Client(lap)
    origin.offer("Carried on", NeedsSave=True)
    taken = manager.folder / "taken"
    # A program that is not in a sandbox, and is asked as one that was there when the activity came.
    script = (f'"{handoff}" receive --app-id com.example.editor --type com.example.editor.edit --once > "{taken}" & '
              f'for i in $(seq 100); do "{handoff}" list | grep -q "Carried on.*com.example.editor" && break; sleep 0.1; done; '
              f'"{handoff}" continue "$("{handoff}" list | awk \'NR == 2 {{ print $1 }}\')"; wait')
    manager.run("sh", "-c", script)
    assert "Carried on" in taken.read_text()
    origin.wait_for("WillSave")
