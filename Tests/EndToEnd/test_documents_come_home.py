# SPDX-License-Identifier: LGPL-2.1-or-later
"""Documents that come back to the device that they are from, by whatever way."""

from __future__ import annotations

import signal
from pathlib import Path

from gi.repository import GLib
from agents import Pair
from buses import wait
from clients import Client, Dock
from editors import PATIENCE, Editor, state, wait_for_state
from notifications import PlainServer
from origin import files, folder, handed, start_reader
from support import Machine, pair
from test_adapter_editors import edited
from test_documents import document, url

__all__ = ["edited"]


class Way:
    """A document that goes from machine to machine, with an application on each."""

    def __init__(self, *machines: Machine) -> None:
        self.clients = {machine: Client(machine) for machine in machines}
        self.steps = 0

    def go(self, path: Path, start: Machine, end: Machine) -> tuple[Path, Path | None, str]:
        """Continues it: its path at the end, that of its original if the application is told, and what the user is told."""
        self.steps += 1
        title, target = f"Step {self.steps}", self.clients[end]
        self.clients[start].offer(title, DocumentURL=url(path))
        dock = Dock(end)
        dock.continue_offer(dock.offer(title))
        _application, error, message = dock.outcome()
        assert error == ""
        activity = target.wait_for("ContinueActivity").arguments.get_child_value(0).unpack()
        target.calls.clear()
        dock.close()
        original = activity.get("OriginalURL")
        return (Path(GLib.filename_from_uri(activity["DocumentURL"])[0]),
                Path(GLib.filename_from_uri(original)[0]) if original else None, message)


def test_through_three_devices(machine_list: list[Machine]) -> None:
    """A document that comes home by way of a third device is its original, if nobody has changed it, and else a received one
    beside that, which stays as it is; on the way each device has one copy, also after its broker was killed."""
    desk, lap, mini = (start_reader(machine_list, name) for name in ("desk", "lap", "mini"))
    for one, other in ((desk, lap), (lap, mini), (mini, desk)):
        pair(one, other)
    way, mine = Way(desk, lap, mini), document(desk, b"Dear reader")
    on_lap = way.go(mine, desk, lap)[0]
    on_mini = way.go(on_lap, lap, mini)[0]
    assert way.go(on_mini, mini, desk) == (mine, None, "") and files(desk) == {}
    on_mini.write_bytes(b"Dear reader!")
    beside = folder(desk) / "Letter (mini).txt"
    place, original, message = way.go(on_mini, mini, desk)
    assert (place, original) == (beside, mine) and beside.name in message and str(beside.parent) in message
    assert (mine.read_bytes(), beside.read_bytes()) == (b"Dear reader", b"Dear reader!")
    # The user takes it over. What goes out again takes the place of what nobody has changed.
    beside.replace(mine)
    lap.kill("handoffd", signal.SIGKILL)
    lap.start_broker()
    way.clients[lap] = Client(lap)
    assert way.go(mine, desk, lap) == (on_lap, None, "") and files(lap) == {"Letter.txt": b"Dear reader!"}


def test_user_is_told(machine_list: list[Machine]) -> None:
    """A notification tells the user who has continued something that there are two versions of its document, and where."""
    both = Pair(machine_list)
    server, mine = PlainServer(both.lap), document(both.lap, b"Dear reader")
    # The applications of both have its document open, one after the other.
    there = both.editor
    both.receiver.offer("Out", DocumentURL=url(mine))
    dock = Dock(both.desk)
    dock.continue_offer(dock.offer("Out"))
    assert dock.outcome()[1:] == ("", "")
    copy = Path(handed(there))
    copy.write_bytes(b"Dear reader!")
    both.offer("Back", DocumentURL=url(copy))
    both.presence.arrive()
    server.press(server.wait_for("Continue “Back”?"), "continue")
    server.wait_for("There are two versions now", "Letter (desk).txt")
    assert mine.read_bytes() == b"Dear reader" and list(files(both.lap)) == ["Letter (desk).txt"]


def test_text_comes_home(edited: tuple[Machine, Machine, Path]) -> None:
    """A text that was changed and saved elsewhere is shown in its original when it comes home, as something that was changed
    and not saved; nothing writes to the original, and no second file is left."""
    desk, lap, letter = edited
    before = letter.read_text()
    here, there = Editor(desk, "vim", str(letter)), Editor(lap, "vim")
    wait_for_state(desk, file=str(letter))
    # Where none runs, a terminal is started.
    wait_for_state(lap, file="")
    dock = Dock(lap)
    path = dock.offer(letter.name)
    wait(lambda: "vim" in dock.offers[path]["Handlers"], "the editor to be known")
    dock.continue_offer(path)
    assert dock.outcome()[1:] == ("", "")
    copy = Path(wait(lambda: state(lap).get("file"), "the copy to be open", PATIENCE))
    there.press("GoChanged elsewhere\x1b:w\r")
    wait(lambda: copy.read_text() == before + "Changed elsewhere\n", "the copy to be written")
    dock = Dock(desk)
    dock.continue_offer(dock.offer(letter.name))
    assert dock.outcome()[1:] == ("", "")
    now = wait_for_state(desk, file=str(letter), modified=True)
    assert now["text"][-1] == "Changed elsewhere" and letter.read_text() == before
    assert not files(desk)
    here.press(":w\r")
    wait(lambda: letter.read_text() == copy.read_text(), "the original to be written")
    here.quit()
    there.quit()
