# SPDX-License-Identifier: LGPL-2.1-or-later
"""What clients can have the broker keep, however often they connect."""

from __future__ import annotations

import signal
import time

import pytest
from gi.repository import GLib
from buses import ROOT, wait
from clients import Client
from hoarder import hoarding
from support import SANITIZED, Machine, refused

MIB = 1 << 20


def memory(machine: Machine, kind: str = "Rss") -> int:
    """What the broker takes of the memory of this machine, in bytes."""
    process = machine.processes["handoffd"].pid
    with open(f"/proc/{process}/smaps_rollup") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(f"{kind}:"))


@pytest.fixture
def desk(machine_list: list[Machine]) -> Machine:
    """A machine with a broker alone, which knows already what clients are."""
    machine = Machine("desk")
    machine_list.append(machine)
    machine.start_broker()
    Client(machine).create().invalidate()
    return machine


def test_connections_of_one_process(desk: Machine) -> None:
    """Forty connections of one process may have 256 activities together, and 16 MiB."""
    with hoarding(desk, 1, 40, 1000) as (found,):
        assert found["activities"] == 256
        assert any("process" in refusal and "256" in refusal for refusal in found["refusals"])
    with hoarding(desk, 1, 40, 128 << 10) as (found,):
        assert found["activities"] == 128
        assert all(refusal.startswith("LimitsExceeded") for refusal in found["refusals"])
        assert any(str(16 * MIB) in refusal for refusal in found["refusals"])


def test_all_processes_together(desk: Machine) -> None:
    """Forty connections of ten processes with full quotas take 64 MiB of payload and twice that in memory at most,
    and nothing once they have gone; others can go on with what they have meanwhile."""
    client = Client(desk)
    activity = client.create(Title="Mine")
    before = memory(desk)
    with hoarding(desk, 10, 4, 128 << 10) as found:
        count = sum(one["activities"] for one in found)
        assert 60 * MIB <= count * (128 << 10) <= 64 * MIB
        assert SANITIZED or memory(desk) - before <= 2 * 64 * MIB
        with refused("LimitsExceeded", containing=(str(64 * MIB), "End applications")):
            client.create(UserInfo={"bulk": GLib.Variant("s", "x" * 120_000)})
        activity.update(Title="Still mine")
        activity.invalidate()
    wait(lambda: SANITIZED or memory(desk) <= 1.1 * before, "the memory to go back")
    assert client.create(UserInfo={"bulk": GLib.Variant("s", "x" * 120_000)})


def test_small_texts(desk: Machine) -> None:
    """Many small texts take no more memory than the bytes that they have on the bus, and come back as they were."""
    client = Client(desk)
    keywords = ["", "ä"] * 8000
    before = memory(desk, "Private_Dirty")
    activities = [client.create(Keywords=keywords, RequiredUserInfoKeys=keywords[:2]) for _ in range(40)]
    assert SANITIZED or memory(desk, "Private_Dirty") - before <= 40 * 16_000 * 8 + 4 * MIB
    assert activities[0].get("Keywords") == keywords
    assert activities[0].get("RequiredUserInfoKeys") == ["", "ä"]


def test_update_within_the_quota(desk: Machine) -> None:
    """An update that would go beyond the quota is refused with what there is and what to do, and changes nothing."""
    client = Client(desk)
    activities = [client.create(UserInfo={"bulk": GLib.Variant("s", "x" * 131_000)}) for _ in range(62)]
    last = client.create(Title="Last")
    last.update(UserInfo={"bulk": GLib.Variant("s", "x" * 131_000)}, TargetContentIdentifier="x" * 60_000)
    more = client.create(Title="More")
    with refused("LimitsExceeded", containing=(str(8 * MIB), "stream")):
        more.update(UserInfo={"bulk": GLib.Variant("s", "x" * 131_000)}, Title="Changed")
    assert more.get("Title") == "More" and more.user_info() == {}
    activities[0].invalidate()
    more.update(UserInfo={"bulk": GLib.Variant("s", "x" * 131_000)}, Title="Changed")
    assert more.get("Title") == "Changed"


def test_types_of_one_process(desk: Machine) -> None:
    """Four connections of a process may declare 256 types each; the fifth is told that it is too many, until one of them
    leaves."""
    clients = [Client(desk, f"com.example.many{number}", tuple(f"com.example.type{index}" for index in range(256)))
               for number in range(3)]
    # What the fixture's client has declared counts too.
    Client(desk, "com.example.more", tuple(f"com.example.type{index}" for index in range(255)))
    late = Client(desk, "com.example.late", register=False)
    with refused("LimitsExceeded", containing=("1024", "process")):
        late.register()
    clients[0].close()
    wait(lambda: registers(late), "the types to be free again")


def registers(client: Client) -> bool:
    """Whether the client can register."""
    try:
        with refused("LimitsExceeded"):
            client.register()
        return False
    except AssertionError:
        return True


def test_calls_before_it_is_known_who_calls(desk: Machine) -> None:
    """A client that sends 100 MiB before the bus has said who it is keeps nobody from being served, itself included."""
    client = Client(desk, register=False)
    large = GLib.Variant("(sa{sv})", ("", {"UserInfo": GLib.Variant("a{sv}", {
        "bulk": GLib.Variant("s", "x" * MIB)})}))
    broker = desk.processes["handoffd"]
    # Meanwhile it can't ask the bus: the answer comes behind all that.
    broker.send_signal(signal.SIGSTOP)
    for _ in range(100):
        client.begin(ROOT, "Manager.CreateActivity", large)
    client.connection.flush_sync()
    begin = time.monotonic()
    broker.send_signal(signal.SIGCONT)
    client.register()
    # After 25 s it would give up asking, and go on too.
    assert time.monotonic() - begin < 15
    assert Client(desk, "com.example.other").create(Title="Served")
    assert client.create(Title="Served too")
