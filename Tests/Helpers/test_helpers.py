# SPDX-License-Identifier: LGPL-2.1-or-later
"""The programs in meson-helpers that check what stands in the documents, and draw their pictures."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

HELPERS = Path(__file__).resolve().parents[2] / "meson-helpers"

WHOLE = {
    "README.md": """# Whole

See [how](docs/how.md#the-first--step) and [the end](#an-end), not [there](https://example.org/x).

    [this is](code.md)

## An end

`Sources/Part/One.swift`, `Sources/*/One.swift`, `Tests/NAMETests`, `meson-helpers/run --fast`,
`Sources/Part/{One,Two}.swift`
""",
    "docs/how.md": """# How

## The first & step

```
[neither](code.md) `Sources/None.swift`
```

[back](../README.md)
""",
    "docs/troubleshooting.md": "**“Port … is\ntaken by ….”** **“, which is a pity”**\n",
    "docs/architecture.md": "Words are in `Sources/Part/Words`.\n",
    "docs/drawings/modules.dot": "digraph {\n  CGio -> Low\n  Low -> Part\n  Part -> \"the-program\"\n}\n",
    "Package.swift": """module("Low", ["CGio"]),
module(
    "Part", [
        "CGio", "Low",
    ]),
program("the-program", ["Part", "Low"]),
""",
    "Sources/Part/One.swift": """/// See docs/how.md#how.
say("Port \\(port) is"
    + " taken by \\(name(of: other))\\(isMine ? ", which is a pity" : "").")
""",
    "Sources/Part/Two.swift": "// This file is long because it is an example.\n" + "\n" * 350,
    "Sources/Part/Words/Word.swift": "",
    "meson-helpers/run": "#!/bin/bash\n" + "\n" * 349,
}


def checked(folder: Path, **changes: str) -> tuple[int, str]:
    """What the check says of files that are whole but for these changes; “__” in a name stands for a slash."""
    files = WHOLE | {name.replace("__", "/"): text for name, text in changes.items()}
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    result = subprocess.run([HELPERS / "check-documents", folder], capture_output=True, text=True, check=False)
    assert not result.stderr
    return result.returncode, result.stdout


def test_documents_without_fault(tmp_path: Path) -> None:
    """Documents whose links and paths all lead somewhere pass."""
    assert checked(tmp_path) == (0, "")


HOW = "# How\n## The first & step\n"
MODULES = "docs/drawings/modules.dot"


@pytest.mark.parametrize(("name", "text", "complaint"), [
    ("README.md", "[x](docs/gone.md)", "README.md:1: the link “docs/gone.md” leads nowhere."),
    ("README.md", "\n[x](docs/how.md#gone)",
     "README.md:2: the link “docs/how.md#gone”: nothing there is called “gone”."),
    ("README.md", "[x\ny](#gone)\n`a\nSources/Part`", "README.md:1: the link “#gone”: nothing there is called “gone”."),
    ("docs/how.md", f"{HOW}![x](gone.svg)", "docs/how.md:3: the link “gone.svg” leads nowhere."),
    ("docs/how.md", f"{HOW}[x]: ../../up.md", "docs/how.md:3: the link “../../up.md” leads nowhere."),
    ("README.md", "`Sources/Gone.swift`", "README.md:1: there is no “Sources/Gone.swift”."),
    ("README.md", "`Sources/Part/{One,Gone}.swift`", "README.md:1: there is no “Sources/Part/Gone.swift”."),
    ("README.md", "`Sources/Gone/*.swift`", "README.md:1: there is no “Sources/Gone/*.swift”."),
    ("README.md", "`docs/GONE.md`", "README.md:1: there is no “docs/GONE.md”."),
    ("docs/troubleshooting.md", "**“Port … is gone.”**",
     "docs/troubleshooting.md:1: no program says “Port … is gone.”."),
    ("docs/architecture.md", "", "docs/architecture.md: nothing says what is in Sources/Part/Words."),
    ("Package.swift",
     'module("Low", ["CGio"]), module("Part", ["CGio", "Low", "CDBus"]), program("the-program", ["Part"])',
     f"{MODULES}: Part stands on CDBus, as Package.swift says."),
    ("Package.swift", 'module("Low", ["CGio"]), module("Part", ["CGio"]), program("the-program", ["Part"])',
     f"{MODULES}: Part does not stand on Low, as Package.swift says."),
    ("Sources/Part/None.swift", "// See docs/gone.md.", "Sources/Part/None.swift:1: “docs/gone.md” leads nowhere."),
    ("Sources/Part/Two.swift", "\n" * 351, "Sources/Part/Two.swift has 351 lines, more than 350."),
    ("Sources/HandoffKit/One.swift", "public enum One {}",
     "Sources/HandoffKit/One.swift:1: “public enum One” is public, and has no comment"),
    ("Sources/HandoffKit/One.swift", "/// One.\n@MainActor @Frozen\npublic enum One {\n    /// A.\n    case a\n    case b\n}",
     "Sources/HandoffKit/One.swift:6: “case b” is public, and has no comment"),
    ("Sources/HandoffGTK/One.swift", "/// One.\npublic protocol One {\n    func one()\n}\nprotocol Own {\n    func own()\n}",
     "Sources/HandoffGTK/One.swift:3: “func one” is public, and has no comment"),
    ("Sources/HandoffTesting/One.swift", "/// One.\npublic struct One {\n    func own() { if true {} }\n    public func one() {}\n}",
     "Sources/HandoffTesting/One.swift:4: “public func one” is public, and has no comment"),
    ("meson-helpers/run", "#!/bin/bash\n" + "\n" * 350, "meson-helpers/run has 351 lines, more than 350."),
])
def test_fault_in_documents(tmp_path: Path, name: str, text: str, complaint: str) -> None:
    """A link, an anchor or a path that leads nowhere, a message that nobody says, a folder that is not described, an
    arrow that is not true, a long source without a reason, and something public without documentation are found where they
    stand."""
    status, said = checked(tmp_path, **{name: text})
    assert status == 1
    assert said.startswith(complaint) and said.count("\n") == 1


def test_pictures_that_are_not_those_of_their_sources(tmp_path: Path) -> None:
    """A picture whose source has changed, or is gone, is found, and so is one that has not been drawn."""
    (tmp_path / "way.sequence").write_text("lane a A\nlane b B\nsend a > b : hello & welcome\n")
    draw = [HELPERS / "draw", tmp_path]
    subprocess.run(draw, capture_output=True, check=True)
    assert "hello &amp; welcome" in (tmp_path / "way.svg").read_text()
    check = [HELPERS / "draw", "--check", tmp_path]
    assert subprocess.run(check, capture_output=True, check=False).returncode == 0
    with (tmp_path / "way.sequence").open("a") as file:
        file.write("answer b > a : you too\n")
    (tmp_path / "left.svg").write_text("<svg/>")
    (tmp_path / "new.sequence").write_text("lane a A\n")
    result = subprocess.run(check, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert result.stdout.splitlines()[:3] == [
        "new.sequence has not been drawn.",
        "way.svg was drawn from another way.sequence than the one that is there.",
        "left.svg has no source."]


@pytest.mark.parametrize("line", ["send a > c : x", "send a : x", "sing a > b : x", "send a > b"])
def test_sequence_that_is_none(tmp_path: Path, line: str) -> None:
    """A line of a sequence that cannot be drawn is named, with its number."""
    (tmp_path / "way.sequence").write_text(f"lane a A\nlane b B\n{line}\n")
    result = subprocess.run([HELPERS / "draw", tmp_path], capture_output=True, text=True, check=False)
    assert result.returncode == 1 and "way.sequence:3: " in result.stderr
