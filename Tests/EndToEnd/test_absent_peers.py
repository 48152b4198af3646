# SPDX-License-Identifier: LGPL-2.1-or-later
"""Peers that are away for long: they cost next to nothing."""

from __future__ import annotations

import socket
import struct
import threading

from buses import BRIDGE_ROOT, let_pass, wait
from support import Machine, pair, start_machine, wait_for_link
from test_announcements import fake_clock


class Nobody:
    """Listens where a machine did, and says nothing to whoever comes."""

    def __init__(self, port: int) -> None:
        self.count = 0
        self.socket = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        try:
            while True:
                self.socket.accept()[0].close()
                self.count += 1
        except OSError:
            return

    def close(self) -> None:
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


def test_absent_peer(machine_list: list[Machine]) -> None:
    """A peer that does not answer is dialled again and again for ten minutes, and from then on four times an hour, until there is
    a reason to hope for it; then it is linked at once."""
    lap = start_machine(machine_list, "lap")
    desk = Machine("desk")
    machine_list.append(desk)
    desk.environment |= fake_clock(desk)
    desk.start_broker()
    desk.start_bridge("--verbose")
    pair(desk, lap)
    device_id = lap.device_id
    lap.kill("handoff-bridge")
    nobody = Nobody(lap.port)

    def advance(seconds: int) -> None:
        """Lets so many seconds be over since the machine started, and has the bridge notice that."""
        with open(desk.folder / "clock", "r+b") as clock:
            clock.write(struct.pack("ll", 0, seconds))
        desk.session.get(BRIDGE_ROOT, "Bridge.Port")

    wait(lambda: nobody.count >= 3, "attempts that follow each other")
    advance(590)
    before = nobody.count
    wait(lambda: nobody.count > before, "another attempt")
    advance(660)
    # As long as what was due by then takes; after that there is nothing for a quarter of an hour.
    let_pass(1)
    for quarter in range(1, 5):
        before = nobody.count
        let_pass(0.5)
        advance(660 + quarter * 900 - 20)
        let_pass(0.5)
        assert nobody.count == before, quarter
        advance(660 + quarter * 900 + 5)
        wait(lambda: nobody.count > before, "the attempt of this quarter of an hour")
        let_pass(0.5)
        assert nobody.count == before + 1, quarter
    nobody.close()
    lap.start_bridge()
    desk.run("handoff", "connect", f"127.0.0.1:{lap.port}")
    wait_for_link(desk, lap)
    assert desk.connected_to(device_id)
