# SPDX-License-Identifier: LGPL-2.1-or-later
"""HandoffKit as others use it: a package of its own, outside of this tree, with the example of README.md."""

from __future__ import annotations

import re
import signal
import subprocess
from pathlib import Path

import pytest
from buses import wait
from clients import Dock
from support import SOURCE, Machine

MANIFEST = """// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Notes",
    dependencies: [.package(path: "{source}")],
    targets: [
        .executableTarget(name: "Notes", dependencies: [.product(name: "HandoffKit", package: "{name}")])
    ]
)
"""
# What stands around the example: a note, how it is shown, and the loop of a program that has none.
BEFORE = """import Glibc
import HandoffKit

struct Note: Codable {
    var title: String
    var text: String
}

func show(_ note: Note, note origin: String) {
    let line = "\\(note.text) \\(origin)\\n"
    write(1, line, line.utf8.count)
}

let note = Note(title: CommandLine.arguments[1], text: CommandLine.arguments[2])

"""
AFTER = """
HandoffApplication.run()
"""


def build(folder: Path) -> str:
    """Builds the package, and gives back the path of its program."""
    readme = (SOURCE / "README.md").read_text(encoding="utf-8")
    example = re.search(r"^```swift\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    assert example, "README.md has no example"
    (folder / "Package.swift").write_text(MANIFEST.format(source=SOURCE, name=SOURCE.name), encoding="utf-8")
    sources = folder / "Sources" / "Notes"
    sources.mkdir(parents=True)
    (sources / "main.swift").write_text(BEFORE + example[1] + AFTER, encoding="utf-8")
    command = ["swift", "build", "--package-path", str(folder)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=1800, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    where = subprocess.run([*command, "--show-bin-path"], capture_output=True, text=True, timeout=600, check=True)
    return str(Path(where.stdout.strip()) / "Notes")


@pytest.mark.long
def test_package_of_its_own(machines: tuple[Machine, Machine], tmp_path: Path) -> None:
    """A package outside of this tree, with the example of the README, is built, publishes and continues, also after the
    broker was killed and started again."""
    desk, lap = machines
    program = build(tmp_path)
    lap.start(program, "Letter", "Dear Ada")
    desk.start(program, "Shopping", "Milk and bread")
    dock = Dock(lap)
    dock.continue_offer(dock.offer("Shopping"))
    assert dock.outcome() == ("org.example.Notes", "", "")
    wait(lambda: "Milk and bread from desk" in lap.log(program), "the note on the other machine")
    back = Dock(desk)
    path = back.offer("Letter")
    lap.kill("handoffd")
    back.wait_until_gone(path)
    lap.start_broker()
    back.continue_offer(back.offer("Letter", 5))
    assert back.outcome() == ("org.example.Notes", "", "")
    wait(lambda: "Dear Ada from lap" in desk.log(program), "the letter on this machine")
    for machine in machines:
        # The example leaves what SIGTERM does to the system.
        assert machine.kill(program, signal.SIGTERM) == -signal.SIGTERM
