# SPDX-License-Identifier: LGPL-2.1-or-later
"""Several windows of VS Code or its kin, which hand one another what belongs into another of them."""

from __future__ import annotations

import json
import os
import shutil
import stat
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from buses import let_pass, wait
from played_editor_child import Child
from test_editor_vscode import begin, place  # noqa: F401
from vscode import Window, storage

# How long the extension waits for a window, as it says in windows.js, and what it takes besides on a busy machine.
PATIENCE = 9 + 5


def ask(child: Child, place: SimpleNamespace, number: int = 1, file: str = "project/a.txt", folder: str = "project",  # noqa: F811
        **more: Any) -> None:
    """Asks a window for a file, in the folder that it belongs into."""
    child.ask(ask="open", id=number, file=str(place.home / file), line=2, column=2, folder=str(place.home / folder), **more)


def requests(place: SimpleNamespace) -> list[Path]:  # noqa: F811
    """What windows have handed to others, and those have not shown yet."""
    return sorted(storage(place).glob("*"))


def test_window_that_has_the_folder(place: SimpleNamespace) -> None:  # noqa: F811
    """What belongs into the folder of another window is shown there, with the text that was not saved, and no new window is
    asked for."""
    other, child = begin(place, place.home / "other")
    project, told = begin(place, place.home / "project")
    ask(child, place, text="one\nnew\n")
    assert child.said() == {"answer": 1, "opened": True}
    now = project.wait_for_state(file=str(place.home / "project/a.txt"), line=2, column=2, text="one\nnew\n", modified=True)
    assert now["centred"] and told.said()["event"] == "front"
    let_pass(0.5)
    assert other.state()["documents"] == [] and not requests(place)
    for window in (other, project):
        window.quit()
        assert not window.asked_for


def test_only_one_window_shows_it(place: SimpleNamespace) -> None:  # noqa: F811
    """Of several windows that have the folder, one shows what belongs there."""
    other, child = begin(place, place.home / "other")
    windows = [begin(place, place.home / "project")[0] for _ in range(3)]
    texts = [f"text {number}" for number in range(8)]
    for number, text in enumerate(texts, 1):
        child.ask(ask="open", id=number, name="Untitled-1", line=1, column=1, text=text, folder=str(place.home / "project"))
    assert sorted(child.said()["answer"] for _ in texts) == list(range(1, 9))
    assert sum(len(window.state()["documents"]) for window in windows) == len(texts) and not requests(place)
    for window in (other, *windows):
        window.quit()


def test_new_window(place: SimpleNamespace) -> None:  # noqa: F811
    """Where no window has the folder, a new one is asked for and shows what belongs there, which nobody else can read
    meanwhile."""
    old = os.umask(0)
    other, child = begin(place, place.home / "other")
    os.umask(old)
    ask(child, place, text="one\nnew\n")
    folder = other.wait_until_asked_for()
    assert folder == str(place.home / "project")
    request, = requests(place)
    assert stat.S_IMODE(request.stat().st_mode) == 0o600 and stat.S_IMODE(storage(place).stat().st_mode) == 0o700
    window = Window(place, folder)
    assert child.said() == {"answer": 1, "opened": True}
    window.wait_for_state(file=str(place.home / "project/a.txt"), text="one\nnew\n", line=2, column=2)
    assert not requests(place)
    for one in (other, window):
        one.quit()


def test_folder_that_a_window_gets(place: SimpleNamespace) -> None:  # noqa: F811
    """A window that is given the folder shows what waits for it, also if that is the window which was asked."""
    other, child = begin(place)
    ask(child, place)
    folder = other.wait_until_asked_for()
    other.do("folders", folders=[folder])
    said = [child.said(), child.said()]
    assert {"answer": 1, "opened": True} in said and other.state()["file"] == str(place.home / "project/a.txt")
    other.quit()


def test_text_without_a_file_in_its_folder(place: SimpleNamespace) -> None:  # noqa: F811
    """A text without a file goes on in the window of the folder that it was written beside."""
    other, child = begin(place, place.home / "other")
    project, _ = begin(place, place.home / "project")
    child.ask(ask="open", id=1, name="Untitled-1", line=1, column=3, text="not saved", folder=str(place.home / "project"))
    assert child.said() == {"answer": 1, "opened": True}
    project.wait_for_state(text="not saved", column=3, file=None)
    for one in (other, project):
        one.quit()


def test_window_that_cannot_show_it(place: SimpleNamespace) -> None:  # noqa: F811
    """Where the window of the folder has changes of its own, they stay, and the answer is no, at once."""
    other, child = begin(place, place.home / "other")
    project, _ = begin(place, place.home / "project")
    project.show(place.home / "project/a.txt")
    project.type("my ")
    began = time.monotonic()
    ask(child, place, text="theirs")
    assert child.said() == {"answer": 1, "opened": False} and time.monotonic() - began < PATIENCE / 2
    assert project.state()["text"] == "my one\ntwo\n" and not requests(place)
    for one in (other, project):
        one.quit()
        assert not one.asked_for


def test_request_that_nobody_takes(place: SimpleNamespace) -> None:  # noqa: F811
    """If no window comes, the answer is no within ten seconds, and a window that comes later shows nothing."""
    other, child = begin(place, place.home / "other")
    ask(child, place)
    folder = other.wait_until_asked_for()
    wait(lambda: not requests(place), "the request to be taken back", PATIENCE)
    assert child.said() == {"answer": 1, "opened": False}
    late, _ = begin(place, folder)
    assert late.state()["documents"] == []
    for one in (other, late):
        one.quit()


def test_window_that_is_closed_takes_its_requests_back(place: SimpleNamespace) -> None:  # noqa: F811
    """A window that is closed leaves no request to others."""
    other, child = begin(place, place.home / "other")
    ask(child, place)
    other.wait_until_asked_for()
    assert len(requests(place)) == 1
    other.quit()
    assert not requests(place)


BAD: tuple[dict[str, Any] | bytes, ...] = (
    b"", b"null", b"{", b"[]", b"7", b"\xff\xfe", b"x" * (1 << 20), {"line": "1"}, {"line": 0}, {"column": 10_000_001},
    {"file": "project/a.txt"}, {"file": 7}, {"file": "/a\nb"}, {"text": 7}, {"text": "a\0"}, {"text": "x" * (96 * 1024 + 1)},
    {"name": "Untitled-1"}, {"folder": None}, {"folder": 7}, {"folder": "project"}, {"folder": "/"}, {"padding": "x" * (1 << 20)})


def test_requests_that_are_not_to_be_trusted(place: SimpleNamespace) -> None:  # noqa: F811
    """What lies in the folder of requests and is none, is too long, is old, is a link, a pipe, a folder or somebody else's, is not
    shown, and does not keep a window from what is handed to it in earnest; what is old is removed."""
    folder = storage(place)
    folder.mkdir(parents=True)
    good = {"file": str(place.home / "project/a.txt"), "line": 2, "column": 2, "folder": str(place.home / "project")}
    names = (f"pending-{number:032x}.json" for number in range(1000))
    for bad in BAD:
        (folder / next(names)).write_bytes(bad if isinstance(bad, bytes) else json.dumps(good | bad).encode())
    outside = place.folder / "outside.json"
    outside.write_text(json.dumps(good))
    (folder / next(names)).symlink_to(outside)
    (folder / next(names)).mkdir()
    os.mkfifo(folder / next(names))
    if os.geteuid() == 0:
        foreign = folder / next(names)
        shutil.copy(outside, foreign)
        os.chown(foreign, 65534, 65534)
    for name in ("pending-1.json", "pending-../../a.json".replace("/", "_"), f"taken-{7:032x}.json", f"PENDING-{7:032x}.json"):
        shutil.copy(outside, folder / name)
    old = [folder / f"{kind}-{9:032x}.json" for kind in ("pending", "taken", "refused", "new")]
    for number, file in enumerate(old):
        file.write_text(json.dumps(good))
        os.utime(file, (time.time() + (-70 if number else 70),) * 2)
    rest = len(requests(place)) - len(old)
    window, child = begin(place, place.home / "project")
    assert len(requests(place)) == rest and not [file for file in old if file.exists()]
    assert window.state()["documents"] == [] and outside.read_text() == json.dumps(good)
    fresh = folder / "fresh"
    fresh.write_text(json.dumps(good | {"more": "of it"}))
    fresh.rename(folder / next(names))
    window.wait_for_state(file=good["file"], line=2, column=2)
    assert child.said()["event"] == "front"
    wait(lambda: len(requests(place)) == rest, "the request that was shown to be removed")
    window.quit()


def test_window_that_is_slow(place: SimpleNamespace) -> None:  # noqa: F811
    """While a window that has the folder takes its time, no other is asked for."""
    other, child = begin(place, place.home / "other")
    project, _ = begin(place, place.home / "project")
    project.do("hold")
    ask(child, place)
    wait(lambda: [file for file in requests(place) if file.name.startswith("taken-")], "the request to be taken")
    # Longer than the extension waits before it asks for a window (WINDOW_PATIENCE, 0.3 s).
    let_pass(0.6)
    project.do("release")
    assert child.said() == {"answer": 1, "opened": True}
    for window in (other, project):
        window.quit()
        assert not window.asked_for


@pytest.mark.parametrize("how", ["file", "gone"])
def test_window_that_stands_alone(place: SimpleNamespace, how: str) -> None:  # noqa: F811
    """A window that cannot hand anything to others shows by itself what belongs to them, or says no."""
    folder = storage(place)
    if how == "file":
        folder.parent.mkdir(parents=True)
        folder.write_text("")
    window, child = begin(place, place.home / "other")
    if how == "gone":
        shutil.rmtree(folder)
    ask(child, place)
    said = [child.said() for _ in range(2 if how == "file" else 1)]
    assert said[-1] == {"answer": 1, "opened": how == "file"}
    assert window.state()["documents"] == (["a.txt"] if how == "file" else [])
    window.quit()
