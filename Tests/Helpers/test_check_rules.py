# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether meson-helpers/check-rules finds what is wrong with docs/rules.md."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__, "../../../meson-helpers/check-rules").resolve()
SECTIONS = {"A": 2, "B": 1}
DOCUMENT = """# Rules

**A1.** The first rule.

- `test_some.py`: What it
  does.
- `SomeTests.swift`: it does "that"

**A2.** A second one.

*Not built yet:* half of it.

- `test_some.py`: A slow one. (long)
- `test_some.py`: One with windows. (desktop)

## B. More

**B1.** The last one.

*Not built yet.*
"""


def swift_test(name: str, symbol: str = "pass", kind: str = "testEnded") -> str:
    """What swift-testing writes of one test, in a file SomeTests.swift."""
    identity = f"SomeTests.Suite/that()/SomeTests.swift:{name}"
    location = {"fileID": "SomeTests/SomeTests.swift", "line": 1, "column": 1}
    records = (
        ("test", {"id": identity, "kind": "function", "name": "that()", "displayName": name,
                  "sourceLocation": location}),
        ("event", {"kind": kind, "testID": identity, "messages": [{"symbol": symbol, "text": "\u2028…"}]}),
        ("event", {"kind": "runEnded", "messages": []}))
    return "".join(json.dumps({"version": 0, "kind": record, "payload": payload}, ensure_ascii=False) + "\n"
                   for record, payload in records)


MODULES = swift_test('it does "that"')
SLOW = "\nsome\n  A slow one. (collected long)\n  One with windows. (collected desktop 2 times)\n"
# The sources of the tests.
SOURCES = {"SomeTests.swift": '@Test("it does \\"that\\"")\n',
           "test_some.py": 'def test():\n    """What it\n    does."""\n\n\ndef test_slow():\n    """A slow one."""\n\n\n'
                           'def test_windows():\n    """One with windows.\n\n    More of it."""\n',
           "test_other.py": 'def test():\n    """What it does."""\n'}
END_TO_END = "...\n\nother\n  What it does. (failed)\n\nsome\n  What it does. (passed 2 times)\n1 passed\n" + SLOW


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The script, for a source folder with these few rules, whose tests have run."""
    loader = importlib.machinery.SourceFileLoader("check_rules", str(SCRIPT))
    # A script has no place for what Python keeps of modules.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    monkeypatch.setitem(sys.modules, loader.name, module)
    loader.exec_module(module)
    monkeypatch.setattr(sys, "argv", ["check-rules"])
    for name, file, text in (("RULES", "docs/rules.md", DOCUMENT), ("MODULES", "build/modules.jsonl", MODULES),
                             ("END_TO_END", "build/end-to-end.log", END_TO_END)):
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        monkeypatch.setattr(module, name, path)
    for name, text in SOURCES.items():
        (tmp_path / "Tests").mkdir(exist_ok=True)
        (tmp_path / "Tests" / name).write_text(text)
    monkeypatch.setattr(module, "SOURCE", tmp_path)
    monkeypatch.setattr(module, "TESTS", tmp_path / "Tests")
    monkeypatch.setattr(module, "SECTIONS", SECTIONS)
    return module


def change(path: Path, old: str, new: str) -> None:
    """Replaces what stands there once."""
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def test_all_is_well(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    """Rules that are all there, and whose tests have passed, were skipped or are left out, are right."""
    assert script.main() == 0, capsys.readouterr().out
    change(script.END_TO_END, "What it does. (passed 2 times)", "What it does. (skipped)")
    assert script.main() == 0
    assert "Skipped" in (shown := capsys.readouterr().out) and "test_some.py: What it does." in shown


@pytest.mark.parametrize("old, new, complaint", [
    ("**A2.**", "**A3.**", "A2 is not there."),
    ("**A2.**", "**A3.**", "A3 is none of the rules"),
    ("**A2.**", "**A1.**", "A1 is there 2 times."),
    ("## B. More", "**A2.** Once more.\n\n- `test_some.py`: What it does.", "A2 is there 2 times."),
    ("**B1.** The last one.\n\n*Not built yet.*\n", "", "B1 is not there."),
    ("*Not built yet.*", "", "B1 has neither a test nor the mark"),
    ("What it\n  does.", "What it did.", "there is none of that name: test_some.py: What it did."),
    ("`test_some.py`: What it\n", "`test_other.py`: What it\n", "it failed: test_other.py: What it does."),
    ("does \"that\"", "does this", "there is none of that name"),
    ("SomeTests.swift", "OtherTests.swift", "there is none of that name"),
    (" (long)", "", "it was left out because it takes long"),
    (" (desktop)", "", "it was left out because it needs programs of a desktop"),
    (" (desktop)", " (long)", "write “(desktop)” behind it"),
    ("What it\n  does.", "What it\n  does. (long)", "it is not among those that are left out because it takes long"),
    ("- `SomeTests.swift`: it does \"that\"", "- `test_some.py`: What it does.", "A1 names a test twice"),
])
def test_mistakes(script: ModuleType, capsys: pytest.CaptureFixture[str], old: str, new: str, complaint: str) -> None:
    """A rule that is missing, twice there or without tests, and a test that did not run or failed, is found."""
    change(script.RULES, old, new)
    assert script.main() == 1
    assert complaint in capsys.readouterr().out


def test_order(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    """A rule that does not stand where its number belongs is found."""
    text = script.RULES.read_text().replace("**A1.**", "**A0.**").replace("**A2.**", "**A1.**")
    script.RULES.write_text(text.replace("**A0.**", "**A2.**"))
    assert script.main() == 1
    assert "A2 stands where A1 should." in capsys.readouterr().out


def test_line_that_is_neither(script: ModuleType) -> None:
    """What was meant as a rule or a test, and is none by its form, is not passed over."""
    for wrong in ("- `test_some`: What it does.", "**A3** A third one."):
        script.RULES.write_text(f"{DOCUMENT}\n{wrong}\n")
        with pytest.raises(SystemExit, match="neither a rule nor a test"):
            script.main()


def test_without_logs(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    """Where no tests have run the rules alone are looked at, and that is said."""
    script.MODULES.unlink()
    script.END_TO_END.unlink()
    assert script.main() == 77
    assert "build/modules.jsonl and build/end-to-end.log" in capsys.readouterr().out
    change(script.RULES, "*Not built yet.*", "")
    assert script.main() == 1


def test_swift_test_that_failed(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    """A test of the modules that did not run, or failed, or of whose namesakes one failed, shows nothing."""
    failed = swift_test('it does "that"', "fail")
    for log, complaint in (("", "it did not run"), (failed, "it failed"), (MODULES + failed, "it failed")):
        script.MODULES.write_text(log)
        assert script.main() == 1
        assert complaint in capsys.readouterr().out


def test_swift_test_that_was_skipped(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    """A test of the modules that was skipped is told of."""
    script.MODULES.write_text(swift_test('it does "that"', "skip", "testSkipped"))
    assert script.main() == 0
    assert "Skipped" in (shown := capsys.readouterr().out) and "SomeTests.swift: it does" in shown
