# SPDX-License-Identifier: LGPL-2.1-or-later
"""Desktop entries that take long to be read, or cannot be read to the end."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from buses import BROKER, ROOT, wait
from clients import APPLICATION_ID, Client
from hanging import HangingFiles
from support import Machine
from test_desktop_entries import TYPE, accepts, folder, install

LATE_TYPE = "com.example.entry.late"


@pytest.fixture
def files(tmp_path: Path) -> Iterator[HangingFiles]:
    """A file system that does not answer."""
    try:
        files = HangingFiles(tmp_path / "files")
    except OSError as error:
        pytest.skip(f"no file system can be mounted: {error}")
    yield files
    files.close()


def install_late(machine: Machine) -> None:
    """Installs an entry that is read after what hangs."""
    place = Path(machine.environment["XDG_DATA_DIRS"].split(":")[-1]) / "applications"
    place.mkdir(parents=True, exist_ok=True)
    (place / "com.example.late.desktop").write_text(
        "[Desktop Entry]\nType=Application\nName=Late\nExec=true\nImplements=org.example.Handoff.Application;\n"
        f"X-Handoff-ActivityTypes={LATE_TYPE}\n")


def start_with(machine: Machine, files: HangingFiles, what: str) -> None:
    """Starts the broker anew, with this on the file system that does not answer."""
    machine.kill("handoffd")
    install(machine, APPLICATION_ID, ActivityTypes=TYPE)
    install_late(machine)
    if what == "a folder for data":
        machine.environment["XDG_DATA_DIRS"] = f"{files.place}/share:{machine.environment['XDG_DATA_DIRS']}"
    else:
        # Its folder comes before the other one, and it behind the entry of the application.
        install(machine, "com.example.zzz", ActivityTypes="com.example.zzz", TryExec=f"{files.place}/program")
    machine.start_broker()
    wait(files.waiting.is_set, "the broker to wait for the file system")


@pytest.mark.parametrize("what", ["a folder for data", "a program"])
def test_entries_that_cannot_be_read(machine: Machine, files: HangingFiles, what: str) -> None:
    """While the desktop entries cannot be read because a file system does not answer, the broker answers, applications
    register and make activities, and it ends within a second."""
    start_with(machine, files, what)
    begin = time.monotonic()
    client = Client(machine)
    assert time.monotonic() - begin < 5, "registering does not wait for ever"
    for _ in range(5):
        called = time.monotonic()
        machine.session.get(ROOT, "Manager.Enabled")
        client.create(client.types[0], DocumentURL="file:///home/me/a.txt").invalidate()
        assert time.monotonic() - called < 1
    former = machine.processes.pop("handoffd")
    former.send_signal(signal.SIGTERM)
    wait(lambda: not machine.session.owner(BROKER), "the broker to leave the bus", 1)
    files.close()
    former.wait(10)


def test_what_is_known_counts(machine: Machine, files: HangingFiles) -> None:
    """Of the desktop entries those count that could be read; once the file system answers, all of them do by themselves."""
    start_with(machine, files, "a folder for data")
    client = Client(machine, types=())
    assert accepts(client, TYPE), "it was read before what hangs"
    late = Client(machine, application_id="com.example.late", types=())
    assert not accepts(late, LATE_TYPE)
    files.close()
    wait(lambda: accepts(late, LATE_TYPE), "all entries to be known")
    assert accepts(client, TYPE)


def slowest_call(machine: Machine, is_over: Callable[[], bool]) -> float:
    """How many seconds the slowest call takes until something is over, or for the first three seconds, and the first one
    after that."""
    slowest = 0.0
    end = time.monotonic() + 3
    is_last = False
    while not is_last:
        is_last = is_over() or time.monotonic() > end
        begin = time.monotonic()
        machine.session.get(ROOT, "Manager.Enabled")
        slowest = max(slowest, time.monotonic() - begin)
    return slowest


def test_many_large_entries(machine: Machine) -> None:
    """While thousands of large desktop entries are read, a call of another client is answered within a tenth of a second."""
    machine.kill("handoffd")
    place = folder(machine)
    place.mkdir(parents=True, exist_ok=True)
    text = ("[Desktop Entry]\nType=Application\nName=Large\nExec=true\nImplements=org.example.Handoff.Application;\n"
            f"X-Handoff-ActivityTypes={TYPE}\n" + "".join(f"Name[x{number}]=Large {number}\n" for number in range(2600)))
    assert 50_000 < len(text) < 60_000
    for number in range(2000):
        (place / f"com.example.large{number}.desktop").write_text(text)
    machine.start_broker("--verbose")

    def readings() -> int:
        return machine.log("handoffd").count("installed applications take part")

    # A machine that is busy with something else is given another chance.
    slowest = []
    for attempt in range(3):
        slowest.append(slowest_call(machine, lambda: readings() > attempt))
        if slowest[-1] < 0.1:
            break
        install(machine, APPLICATION_ID, ActivityTypes=TYPE)
    assert min(slowest) < 0.1, slowest
