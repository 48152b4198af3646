# SPDX-License-Identifier: LGPL-2.1-or-later
"""A program that has the broker keep as much as it can: on many connections, activities until one is refused.

Run with the address of a bus, the number of connections, and the size of each UserInfo. It prints how many activities
it has and the message of each refusal that is new, as JSON, and leaves when its standard input ends.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from collections.abc import Iterator
from pathlib import Path

from gi.repository import GLib
from buses import ROOT, BusError, Session, properties
from support import Machine


def hoard(address: str, connections: int, size: int) -> dict[str, object]:
    """Connects, and creates."""
    sessions, count, refusals = [], 0, set()
    user_info = {"bulk": GLib.Variant("s", "x" * max(0, size - 64))}
    arguments = GLib.Variant("(sa{sv})", ("", properties(UserInfo=user_info)))
    for number in range(connections):
        session = Session(address)
        sessions.append(session)
        try:
            session.call(ROOT, "Manager.RegisterApplication", GLib.Variant(
                "(sasoa{sv})", (f"com.example.hoarder{number}", ["com.example.hoard"], "/", {})))
            while True:
                session.call(ROOT, "Manager.CreateActivity", arguments)
                count += 1
        except BusError as error:
            refusals.add(f"{error.short_name}: {error.message}")
    # They stay connected.
    globals()["sessions"] = sessions
    return {"activities": count, "refusals": sorted(refusals)}


@contextmanager
def hoarding(machine: Machine, processes: int, connections: int, size: int) -> Iterator[list[dict[str, object]]]:
    """What this many such programs have got, until the end of the block, when they leave."""
    command = [sys.executable, str(Path(__file__).resolve()), machine.address, str(connections), str(size)]
    children = [subprocess.Popen(command, env=os.environ | machine.environment, stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE) for _ in range(processes)]
    try:
        yield [json.loads(child.stdout.readline()) for child in children]
    finally:
        for child in children:
            child.stdin.close()
            child.wait()
            child.stdout.close()


if __name__ == "__main__":
    print(json.dumps(hoard(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))), flush=True)
    sys.stdin.read()
