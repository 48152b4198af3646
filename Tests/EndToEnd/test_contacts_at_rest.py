# SPDX-License-Identifier: LGPL-2.1-or-later
"""The address book with windows, when nobody does anything with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from buses import let_pass
from contacts import PROGRAM, WIDE, Contacts, not_built
from screen import Screen
from support import Machine
from windows import Accessibility

if reason := not_built():
    pytest.skip(reason, allow_module_level=True)

# After which GTK has stopped the blinking of a cursor in a field that nobody types into; and after which GDBus would have given
# up what GTK has asked last, had there been no answer: the loop wakes up once at that time, for it was told no other.
SETTLING = 30
# For how long it is looked at.
REST = 20


@pytest.fixture
def desk(machine_list: list[Machine], accessibility: Accessibility, tmp_path: Path) -> Iterator[Machine]:
    """A machine with a display and a broker."""
    desk = Machine("desk")
    machine_list.append(desk)
    desk.screen = Screen(tmp_path, WIDE)
    desk.start_broker()
    yield desk
    desk.kill(PROGRAM)
    desk.screen.close()


def wake_ups(process: int) -> dict[str, int]:
    """How often each thread of a process has given up the processor to wait for something, by number and name."""
    counts = {}
    for thread in Path("/proc", str(process), "task").iterdir():
        lines = dict(line.split(":\t", 1) for line in (thread / "status").read_text().splitlines() if ":\t" in line)
        counts[f"{thread.name} {lines['Name']}"] = int(lines["voluntary_ctxt_switches"])
    return counts


@pytest.mark.long
def test_at_rest(desk: Machine) -> None:
    """The address book, which has registered, written a contact and offered it, does not wake up while nobody uses it"""
    window = Contacts(desk, desk.screen)
    window.wait_for("label", "No Contacts")
    window.keys("ctrl+n")
    window.wait_for("text", "Name")
    window.type("Grace Hopper")
    window.keys("ctrl+s")
    window.wait_for_stored("Grace Hopper")
    let_pass(SETTLING)
    before = wake_ups(window.process.pid)
    let_pass(REST)
    after = wake_ups(window.process.pid)
    woken = {name: count - before.get(name, 0) for name, count in after.items() if count != before.get(name, 0)}
    # A thread of libdispatch's pool would wake up once a second.
    assert not woken
