# SPDX-License-Identifier: LGPL-2.1-or-later
"""Documents on their way from one machine to another."""

from __future__ import annotations

import os
import signal
import urllib.parse
from pathlib import Path

import pytest
from buses import wait
from clients import Client, Dock
from everything import All, applications, list_open
from origin import files, folder, handed, parts, start_reader
from streams import Counts
from support import Machine, pair, wait_for_link

Machines = tuple[Machine, Machine]


@pytest.fixture
def machines(machine_list: list[Machine]) -> Machines:
    desk, lap = start_reader(machine_list, "desk"), start_reader(machine_list, "lap")
    pair(desk, lap)
    return desk, lap


def document(machine: Machine, content: bytes, name: str | bytes = "Letter.txt", modified: int = 1_600_000_000) -> Path:
    """A document of the machine's user."""
    place = Path(machine.environment["HOME"], "Papers")
    place.mkdir(exist_ok=True)
    path = Path(os.fsdecode(os.path.join(os.fsencode(place), os.fsencode(name))))
    path.write_bytes(content)
    os.utime(path, (modified, modified))
    return path


def url(path: Path) -> str:
    return "file://" + urllib.parse.quote(os.fsencode(path))


def offered(machines: Machines, path: Path, title: str = "Letter") -> tuple[Client, Client, Dock]:
    desk, lap = machines
    origin, target, dock = Client(desk), Client(lap), Dock(lap)
    origin.offer(title, DocumentURL=url(path))
    dock.continue_offer(dock.offer(title))
    return origin, target, dock


def test_several_documents(machines: Machines) -> None:
    """Several documents of one device come by one choice, one after the other, and something else meanwhile."""
    desk, lap = machines
    names = ["letter", "page", "film", "song"]
    origins, targets = (applications(machine, names) for machine in machines)
    contents = {name: os.urandom(2_000_000) for name in names[:3]}
    for name, origin in origins.items():
        papers = {"DocumentURL": url(document(desk, contents[name], f"{name}.bin"))} if name in contents else {}
        origin.offer(f"A {name}", **papers)
    Dock(lap).offer("A song")
    everything = All(lap.session, list_open(lap.session, desk.device_id))
    assert [result["State"] for result in everything.results()] == ["continued"] * 4
    for name, content in contents.items():
        assert Path(handed(targets[name])).read_bytes() == content
        origins[name].wait_for("WasContinued")


@pytest.mark.parametrize(("size", "is_turned"), [(0, False), (1, True), (32, False), (5_000_000, False), (5_000_000, True)])
def test_document_goes_over(machines: Machines, size: int, is_turned: bool) -> None:
    """The document of an activity is a file of the machine that continues, with the same bytes and modification time,
    whichever of them has dialled the link, and neither daemon keeps anything of it."""
    machines = machines[::-1] if is_turned else machines
    path = document(machines[0], os.urandom(size))
    # What opens such documents is looked up, and watched, for the first one.
    for client in (former := offered(machines, path, "Former"))[:2]:
        assert former[2].outcome()[1:] == ("", "")
        client.close()
    Path(handed(former[1])).unlink()
    former[2].close()
    counts = Counts(*machines)
    origin, target, dock = offered(machines, path)
    assert dock.outcome()[1:] == ("", "")
    there = Path(handed(target))
    assert there == folder(machines[1]) / "Letter.txt" and there.read_bytes() == path.read_bytes()
    assert there.stat().st_mtime == 1_600_000_000
    origin.wait_for("WasContinued")
    for client in (origin, target, dock):
        client.close()
    counts.wait_until_as_before()


@pytest.mark.parametrize(("name", "placed"), [
    (b"caf\xe9 \xff.txt", "caf\ufffd \ufffd.txt"), ("日" * 85, "日" * 85), ("<i>&lt;\x1b[1m.txt", "<i>&lt;_[1m.txt"),
    ("-rf #1?%20.txt", "_rf #1?%20.txt"), (".hidden", "hidden")])
def test_odd_names(machines: Machines, name: str | bytes, placed: str) -> None:
    """Documents whose names are not UTF-8, as long as names can be, hidden, or markup arrive under names that are safe."""
    _, target, dock = offered(machines, document(machines[0], b"odd", name))
    assert dock.outcome()[1:] == ("", "")
    assert Path(handed(target)) == folder(machines[1]) / placed
    assert files(machines[1]) == {placed: b"odd"}


@pytest.mark.parametrize(("number", "program"), [(0, "handoffd"), (0, "handoff-bridge"), (1, "handoffd"), (1, "handoff-bridge")])
def test_killed_in_the_middle(machines: Machines, number: int, program: str) -> None:
    """Whichever of the four daemons is killed while a document comes: nothing has its name, nothing is left, and it can be
    continued once more."""
    desk, lap = machines
    path = document(desk, b"")
    os.truncate(path, 1 << 30)
    origin, target, dock = offered(machines, path)
    wait(lambda: parts(lap), "a part")
    victim = machines[number]
    victim.kill(program, signal.SIGKILL)
    if victim is lap and program == "handoffd":
        lap.start_broker()
    else:
        assert dock.outcome(30)[1].rpartition(".")[2] in ("ConnectionUnavailable", "OfferWithdrawn")
        target.wait_for("DidFailToContinueActivity")
    wait(lambda: not parts(lap), "the part to be removed")
    assert not files(lap) and not target.called("ContinueActivity")
    if victim is desk or program == "handoff-bridge":
        (victim.start_broker if program == "handoffd" else victim.start_bridge)()
    wait_for_link(desk, lap)
    for client in (origin, target, dock):
        client.close()
    path.write_bytes(b"once more")
    _, target, dock = offered(machines, path)
    assert dock.outcome()[1:] == ("", "")
    assert Path(handed(target)).read_bytes() == b"once more"


def test_grown_on_its_way(machines: Machines) -> None:
    """A document that grows while it is brought over is a clear failure, and nothing is left of it."""
    desk, lap = machines
    path = document(desk, b"")
    os.truncate(path, 1 << 30)
    _, target, dock = offered(machines, path)
    wait(lambda: parts(lap), "a part")
    with path.open("ab") as file:
        file.write(b"more")
    _, error, message = dock.outcome(60)
    assert error.endswith(".ConnectionUnavailable") and "try again" in message
    wait(lambda: not parts(lap), "the part to be removed")
    assert not files(lap) and not target.called("ContinueActivity")


def test_changed_on_its_way(machines: Machines) -> None:
    """A document that changes while it is brought over arrives whole in one of its states, or not at all."""
    desk, lap = machines
    path = document(desk, b"a" * 300_000_000)
    _, target, dock = offered(machines, path)
    wait(lambda: parts(lap), "a part")
    path.write_bytes(b"b" * 300_000_000)
    outcome = dock.outcome(60)[1]
    if outcome:
        wait(lambda: not parts(lap), "the part to be removed")
        assert not files(lap)
    else:
        assert set(Path(handed(target)).read_bytes()) in ({ord("a")}, {ord("b")})


@pytest.mark.long
def test_large_document(machines: Machines) -> None:
    """A document of 5 GB arrives; the daemons take no more memory for it than for a small one, and answer meanwhile."""
    desk, lap = machines
    path = document(desk, b"")
    os.truncate(path, 5 << 30)
    with open(path, "r+b") as file:
        file.seek(3 << 30)
        file.write(b"in the middle")
    os.utime(path, (1_600_000_000, 1_600_000_000))
    _, target, dock = offered(machines, path)
    largest = 0

    def finished() -> bool:
        nonlocal largest
        status = Path(f"/proc/{lap.processes['handoffd'].pid}/status").read_text()
        largest = max(largest, int(status.split("RssAnon:")[1].split()[0]))
        return bool(dock.finished())

    wait(finished, "the document", 300)
    assert dock.outcome()[1:] == ("", "")
    there = Path(handed(target))
    assert there.stat().st_size == 5 << 30 and largest < 20_000
    with open(there, "rb") as file:
        file.seek(3 << 30)
        assert file.read(13) == b"in the middle"
