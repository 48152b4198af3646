# SPDX-License-Identifier: LGPL-2.1-or-later
"""The examples of the clients: small, and at work between two machines."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from buses import wait
from clients import Dock
from driven import CLIENTS, compile_c, compile_qt, compile_rust, compile_vala, missing
from support import SOURCE, Machine

Machines = tuple[Machine, Machine]
EXAMPLES = [path for path in sorted(CLIENTS.glob("*/*")) if path.stem in ("note", "stream", "main")]
NOTES = {"Python": "python/note.py", "GJS": "gjs/note.js", "C": "c/note.c", "Vala": "c/note.vala", "Qt 5": "qt/note.cpp",
         "Qt 6": "qt/note.cpp", "Rust": "rust/note.rs", "Swift": "swift/main.swift"}


def command(language: str, source: Path) -> list[str]:
    """How an example is started."""
    if missing(language):
        pytest.skip(missing(language))
    if language == "Swift":
        return [str(SOURCE / ".build" / "debug" / "note")]
    if language == "Python":
        return ["/usr/bin/python3", str(source)]
    if language == "GJS":
        return ["gjs", "-m", str(source)]
    if language == "C":
        return [str(compile_c(source, f"example-{source.stem}", "-Wno-unused-parameter"))]
    if language == "Vala":
        return [str(compile_vala(source, f"example-{source.stem}-vala"))]
    if language == "Rust":
        return [str(compile_rust(source, f"example-{source.stem}-rust"))]
    return [str(compile_qt(source, f"example-{source.stem}-qt{language[-1]}", int(language[-1])))]


class Example:
    """An example that runs on a machine."""

    def __init__(self, machine: Machine, words: list[str]) -> None:
        self.log = machine.folder / f"{Path(words[-1]).name}-{len(machine.processes)}.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", *words], env=machine.environment,
                                            cwd=machine.folder, stdin=subprocess.PIPE, stdout=log, stderr=log)

    def type(self, line: str) -> None:
        self.process.stdin.write(f"{line}\n".encode())
        self.process.stdin.flush()

    def wait_for(self, text: str) -> None:
        wait(lambda: text in self.log.read_text(errors="replace"), f"“{text}” in {self.log.read_text(errors='replace')}")

    def end(self) -> None:
        self.process.stdin.close()
        self.process.terminate()
        wait(lambda: self.process.poll() is not None, "the end of the example")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: str(path.relative_to(CLIENTS)))
def test_an_example_is_small(path: Path) -> None:
    """An example has at most 75 lines."""
    assert len(path.read_text().splitlines()) <= 75


@pytest.mark.parametrize("language", [
    # It is compiled for long, and other tests have another program of Qt 6.
    pytest.param(language, marks=pytest.mark.long if language == "Qt 6" else ()) for language in NOTES])
def test_a_note_goes_on(machines: Machines, language: str) -> None:
    """The note of each language goes on with its text at another machine, and from there back, also after the broker has
    ended."""
    desk, lap = machines
    words = command(language, CLIENTS / NOTES[language])
    here, there = Example(desk, words), Example(lap, words)
    here.type("milk")
    dock = Dock(lap)
    dock.continue_offer(dock.offer("milk"))
    assert dock.outcome()[1:] == ("", "")
    there.wait_for("milk\n  from desk")
    here.wait_for("Continued on lap.")
    lap.kill("handoffd")
    lap.start_broker()
    there.type("milk and bread")
    dock = Dock(desk)
    dock.continue_offer(dock.offer("milk and bread"))
    assert dock.outcome()[1:] == ("", "")
    here.wait_for("milk and bread\n  from lap")
    there.wait_for("Continued on desk.")
    for example in (here, there):
        example.end()


def test_a_note_is_started(machines: Machines) -> None:
    """A note whose desktop entry is the one of the guide goes on at a machine where it does not run."""
    desk, lap = machines
    words = command("Python", CLIENTS / NOTES["Python"])
    guide = (SOURCE / "docs" / "adopting.md").read_text()
    declared = guide.partition("## A desktop entry")[2].split("```")[1].strip()
    folder = Path(lap.environment["XDG_DATA_HOME"]) / "applications"
    folder.mkdir()
    (folder / "org.example.Note.desktop").write_text(
        declared.replace("Exec=/usr/bin/notes", f"Exec={' '.join(words)}")
        .replace("org.example.notes.edit", "org.example.Note.edit") + "\n")
    here = Example(desk, words)
    here.type("milk")
    dock = Dock(lap)
    dock.continue_offer(dock.offer("milk"))
    assert dock.outcome() == ("org.example.Note", "", "")
    here.wait_for("Continued on lap.")
    assert Dock(desk).offer("milk")
    here.end()


@pytest.mark.parametrize("language", ["Python", "C"])
def test_a_stream_brings_a_file(machines: Machines, language: str, tmp_path: Path) -> None:
    """The example of streams brings a file of any size to another machine, byte for byte."""
    desk, lap = machines
    file = tmp_path / "large"
    file.write_bytes(os.urandom(3_000_001))
    source = CLIENTS / {"Python": "python/stream.py", "C": "c/stream.c"}[language]
    here, there = Example(desk, [*command(language, source), str(file)]), Example(lap, command(language, source))
    dock = Dock(lap)
    path = dock.offer(str(file))
    wait(lambda: dock.get(path, "RemoteActivity.Handlers"), "the application to be there")
    dock.continue_offer(path)
    assert dock.outcome()[1:] == ("", "")
    wait(lambda: there.log.stat().st_size >= file.stat().st_size, "all of it")
    assert there.log.read_bytes() == file.read_bytes()
    for example in (here, there):
        example.end()


@pytest.mark.parametrize("language", ["Python", "C"])
def test_a_sender_that_dies(machines: Machines, language: str, tmp_path: Path) -> None:
    """If the program that sends a file dies in between, the example of streams says that it broke off."""
    desk, lap = machines
    file = tmp_path / "large"
    with open(file, "wb") as large:
        large.truncate(400_000_000)
    source = CLIENTS / {"Python": "python/stream.py", "C": "c/stream.c"}[language]
    here, there = Example(desk, [*command(language, source), str(file)]), Example(lap, command(language, source))
    dock = Dock(lap)
    path = dock.offer(str(file))
    wait(lambda: dock.get(path, "RemoteActivity.Handlers"), "the application to be there")
    dock.continue_offer(path)
    wait(lambda: there.log.stat().st_size > 0, "the first bytes")
    here.process.kill()
    wait(lambda: there.log.read_bytes().endswith(b"It broke off.\n"), "the end")
    assert there.log.stat().st_size < file.stat().st_size
    there.end()
