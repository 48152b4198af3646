# SPDX-License-Identifier: LGPL-2.1-or-later
"""Two machines whose programs log all that they can, and all that is logged, written and said there.

    ears = Ears(desk, lap)
    …
    assert not ears.heard("s3cret", public="Shopping list")
"""

from __future__ import annotations

import signal

from listener import Listener
from support import Machine, wait_for_link


class Ears:
    """What can be heard of two machines that are paired."""

    def __init__(self, *machines: Machine) -> None:
        self.machines = machines
        for machine in machines:
            machine.environment["G_MESSAGES_DEBUG"] = "all"
            for program in ("handoff-bridge", "handoffd"):
                machine.kill(program, signal.SIGTERM)
            machine.start_broker("--verbose")
            machine.start_bridge("--verbose")
        wait_for_link(*machines)
        self.listeners = [Listener(machine) for machine in machines]

    def heard(self, word: str, *, public: str, said_here: bool = True) -> list[str]:
        """Ends listening. Where this word stands: in what the programs of either machine have logged or written, and in what
        was said on its bus.
        - public: what has been said on both buses, too, or else nobody was listening there.
        - said_here: whether what was said on the first machine's bus counts, which a test may have said itself."""
        said = [listener.close() for listener in self.listeners]
        for machine, text in zip(self.machines, said):
            assert public in text, f"the bus of {machine.name} was not heard"
            logs = sorted(machine.folder.glob("handoff*.log"))
            assert {"handoffd.log", "handoff-bridge.log"} <= {log.name for log in logs}
            for log in logs:
                assert "-DEBUG: " in log.read_text(errors="replace"), f"{log} does not have all that could be logged"
        places = [f"the bus of {machine.name}: {line}" for machine, text in list(zip(self.machines, said))[not said_here:]
                  for line in text.splitlines() if word in line]
        for machine in self.machines:
            home = machine.environment["HOME"]
            for path in machine.folder.rglob("*"):
                is_own = not str(path).startswith(f"{home}/") and path.name != "heard.text"
                if is_own and path.is_file() and not path.is_symlink() and word.encode() in path.read_bytes():
                    places += [f"{path}: {line}" for line in path.read_text(errors="replace").splitlines() if word in line]
        return places
