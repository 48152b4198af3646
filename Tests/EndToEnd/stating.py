# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which tests run, and what they state: what pytest calls of the files conftest.py."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

# What a test may be marked with so that it is left out unless it is asked for.
LEFT_OUT = ("long", "desktop", "all")
COLLECTED = pytest.StashKey[list[tuple[list[str], str]]]()
PROGRESS = pytest.StashKey[dict[str, int]]()


# pytest gives no configuration to whoever is told of reports.
CONFIG: list[pytest.Config] = []


def pytest_configure(config: pytest.Config) -> None:
    CONFIG[:] = [config]
    # What tests start is followed by nobody.
    os.environ.pop("HANDOFF_FOLLOWED", None)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--select", choices=("smoke", "gate", "all"), default="all",
                     help="the tests of meson-helpers/test --smoke, of meson-helpers/test alone, or of --all")
    parser.addoption("--long", action="store_true", help="run those that take long too")
    parser.addoption("--desktop", action="store_true", help="run those that need programs of a desktop too")
    parser.addoption("--names-to", metavar="FILE", help="write to this file what was tested, in words")
    parser.addoption("--progress", action="store_true", help="say in lines for meson-helpers/progress how far it is")


def check_rules() -> ModuleType:
    """The helper that reads docs/rules.md."""
    path = str(Path(__file__).resolve().parents[2] / "meson-helpers/check-rules")
    loader = SourceFileLoader("check_rules", path)
    module = module_from_spec(spec_from_loader(loader.name, loader))
    sys.modules[loader.name] = module
    # A script has no place for what Python keeps of modules.
    kept, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    loader.exec_module(module)
    sys.dont_write_bytecode = kept
    return module


def named_tests(helper: ModuleType) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The rules of docs/rules.md, each with its end-to-end tests: file and name."""
    for rule in helper.read_rules(helper.RULES.read_text()):
        yield rule.number, [(test.file.removeprefix("test_").removesuffix(".py"), helper.plain(test).name)
                            for test in rule.tests if test.file.endswith(".py")]


def left_out(item: pytest.Item, config: pytest.Config) -> str:
    """The mark for which this test does not run; empty if it does."""
    marks = {mark.name for mark in item.iter_markers()}
    if "long" in marks and not config.getoption("--long"):
        return "long"
    if "desktop" in marks and "always" not in marks and not config.getoption("--desktop"):
        return "desktop"
    if "all" in marks and config.getoption("--select") != "all":
        return "all"
    return ""


def selected(config: pytest.Config, marks: dict[pytest.Item, str]) -> list[pytest.Item]:
    """Of those that are not left out, the ones that were asked for: for smoke the first test of each rule, for the gate all
    tests of the rules that a user sees first, and those of smoke besides."""
    select = config.getoption("--select")
    if select == "all":
        return [item for item, mark in marks.items() if not mark]
    cases: dict[tuple[str, str], list[pytest.Item]] = {}
    for item, mark in marks.items():
        cases.setdefault(tuple(dict(item.user_properties)["name"]), []).extend([] if mark else [item])
    chosen: dict[pytest.Item, None] = {}
    helper = check_rules()
    files = {file for file, _ in cases}
    for rule, tests in named_tests(helper):
        # Of a file that was not asked for nothing is known but whether it is there.
        if unknown := [f"test_{file}.py: {name}" for file, name in tests if (file, name) not in cases
                       and (file in files or not Path(__file__).with_name(f"test_{file}.py").exists())]:
            raise pytest.UsageError(f"docs/rules.md names tests that there are not: {'; '.join(unknown)}")
        there = [cases[test] for test in tests if cases.get(test)]
        chosen |= dict.fromkeys(there[0][:1] if there else [])
        if select == "gate" and rule[0] in helper.FIRST_SECTIONS:
            chosen |= dict.fromkeys(item for test in there for item in test)
    return [item for item in marks if item in chosen]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Each test takes along its name and its file, which may be collected in another process than the summary is. What is
    not asked for is left out; who chooses by marks (-m) has chosen."""
    for item in items:
        name = " ".join((getattr(item.obj, "__doc__", None) or item.name).split())
        item.user_properties.append(("name", [item.path.stem.removeprefix("test_"), name]))
    if config.getoption("markexpr"):
        return
    marks = {item: left_out(item, config) for item in items}
    config.stash[COLLECTED] = [(dict(item.user_properties)["name"], mark) for item, mark in marks.items() if mark]
    kept = dict.fromkeys(selected(config, marks))
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker tells the main process which tests it has left out."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = session.config.stash.get(COLLECTED, [])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """All processes have left out the same."""
    # One that was killed has told nothing.
    if "left_out" in (told := getattr(node, "workeroutput", {})):
        node.config.stash[COLLECTED] = told["left_out"]


def tell(config: pytest.Config, line: str) -> None:
    """Says something to meson-helpers/progress."""
    config.pluginmanager.get_plugin("terminalreporter").write_line(f"\n@{line}")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any, ids: list[str]) -> None:
    node.config.stash.setdefault(PROGRESS, {"done": 0, "failed": 0})["all"] = len(ids)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Says how many tests are done, and at once which have failed."""
    config = CONFIG[0]
    if not config.getoption("--progress") or hasattr(config, "workerinput"):
        return
    progress = config.stash.setdefault(PROGRESS, {"done": 0, "failed": 0, "all": 0})
    if report.failed:
        progress["failed"] += 1
        reason = str(report.longrepr).strip().splitlines()[-1:] or [""]
        tell(config, f"say FAILED {report.nodeid}: {reason[0]}")
    if report.when == "teardown":
        progress["done"] += 1
        tell(config, f"done {progress['done']} of {progress['all']}, {progress['failed'] or 'none'} failed")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Lists what the tests state, with what became of each and how often, for people and meson-helpers/check-rules."""
    path = config.getoption("--names-to")
    if not path:
        return
    outcomes: dict[tuple[str, str], dict[str, int]] = {}

    def count(name: tuple[str, str], outcome: str) -> None:
        counts = outcomes.setdefault(name, {})
        counts[outcome] = counts.get(outcome, 0) + 1

    for outcome in ("passed", "failed", "error", "skipped"):
        for report in terminalreporter.stats.get(outcome, []):
            # What kept a whole file from being collected is a report without properties.
            properties = dict(getattr(report, "user_properties", ()))
            count(tuple(properties.get("name", ("", report.nodeid))), outcome)
    for name, mark in config.stash.get(COLLECTED, []):
        count(tuple(name), f"collected {mark}")
    lines: list[str] = []
    former = ""
    for (file, name), counts in sorted(outcomes.items()):
        if file != former:
            lines += ["", file.replace("_", " ")]
            former = file
        words = ", ".join(outcome if count == 1 else f"{outcome} {count} times" for outcome, count in counts.items())
        lines.append(f"  {name} ({words})")
    # What programs print meanwhile comes between the lines of the terminal, not between these.
    Path(path).write_text("".join(f"{line}\n" for line in lines))
