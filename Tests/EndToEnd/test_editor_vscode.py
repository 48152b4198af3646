# SPDX-License-Identifier: LGPL-2.1-or-later
"""The extension for VS Code and its kin, in a stub of that editor which knows its API and nothing else."""

from __future__ import annotations

import json
import os
import shutil
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from buses import wait
from editors import bin_folder
from played_editor_child import Child, Children, children_of
from support import SOURCE
from vscode import DRIVER, EXTENSION, Window, install

CASES = json.loads(DRIVER.with_name("cases.json").read_text())
FILES = {"project/a.txt": "one\ntwo\n", "project/smile.txt": "a😀😀b\nend\n", "project/crlf.txt": "one\r\ntwo\r\n",
         "project/empty.txt": "", "project/binary": "\0\1\2", "other/b.txt": "text\n"}


@pytest.fixture
def place() -> Iterator[SimpleNamespace]:
    """A home with some files, which stands in for a machine: nothing here needs a bus."""
    folder = Path(tempfile.mkdtemp(prefix="handoff-vscode-"))
    home = folder / "home"
    for name, text in FILES.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(text.encode())
    variables = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(home)}
    variables |= {"ELECTRON_RUN_AS_NODE": "1", "VSCODE_PID": "1"}
    place = SimpleNamespace(folder=folder, environment=variables, home=home)
    place.children = Children(place)
    yield place
    place.children.close()
    shutil.rmtree(folder)


def begin(place: SimpleNamespace, *folders: Path | str, **environment: Any) -> tuple[Window, Child]:
    """A window with nothing in front, and what its extension has started."""
    window = Window(place, *folders, **environment)
    child = place.children.next()
    assert child.said() == {"event": "closed"}
    return window, child


def placed(value: Any, home: Path) -> Any:
    """What a case says, with the paths of this home, and as long as it says."""
    if isinstance(value, dict):
        value = {name: placed(one, home) for name, one in value.items()}
        times = value.pop("times", None)
        return value | {"text": value["text"] * times} if times else value
    if isinstance(value, list):
        return [placed(one, home) for one in value]
    return value.replace("@", str(home), 1) if isinstance(value, str) and value.startswith("@/") else value


@pytest.mark.parametrize("row", CASES, ids=lambda row: row["case"].replace(" ", "-"))
def test_lines(place: SimpleNamespace, row: dict[str, Any]) -> None:
    """The extension says what is in front, gives away what was not saved, and shows what goes on, line by line as agreed, and
    leaves nothing behind when the window is closed."""
    row = placed(row, place.home)
    window, child = begin(place, *row.get("folders", []))
    for step in row["steps"]:
        if "do" in step:
            window.do(**{"what" if name == "do" else name: value for name, value in step.items()})
        elif "ask" in step:
            child.ask(**step["ask"])
        elif "said" in step:
            assert child.said() == step["said"]
        elif "disk" in step:
            assert Path(step["disk"]).read_text() == step["text"]
        else:
            window.wait_for_state(**step["state"])
    window.quit()
    child.wait_for_end()


@pytest.mark.parametrize("scheme, path", [
    ("output", "extension-output"), ("git", "/home/a.txt"), ("vscode-remote", "/home/a.txt"), ("vsls", "/a.txt"),
    ("vscode-userdata", "/settings.json"), ("vscode-notebook-cell", "/home/a.ipynb"), ("untitled", "/home/.ssh/new"),
    (None, None)])
def test_nothing_in_front_that_may_go_on(place: SimpleNamespace, scheme: str | None, path: str | None) -> None:
    """Outputs, versions of git, remote files, settings, notebooks and files that are not there yet are never offered."""
    window, child = begin(place)
    window.show(place.home / "project/a.txt")
    assert child.said()["event"] == "front"
    window.do("look", **({"scheme": scheme, "path": path} if scheme else {}))
    assert child.said() == {"event": "closed"}
    child.ask(ask="save", id=1)
    assert child.said() == {"answer": 1}
    window.quit()


@pytest.mark.parametrize("scheme, name", [
    ("vscode", "code"), ("vscodium", "codium"), ("cursor", "cursor"), ("code-oss", "code-oss"), ("windsurf", "windsurf")])
def test_who_it_is(place: SimpleNamespace, scheme: str, name: str) -> None:
    """Handoff is told which editor it is, and gets none of the variables of that editor's own processes."""
    window, child = begin(place, uriScheme=scheme)
    assert child.arguments == ["--stdio", name]
    assert not [name for name in child.variables if name.startswith(("ELECTRON", "VSCODE"))] and "HOME" in child.variables
    window.quit()


@pytest.mark.parametrize("folders, environment", [
    ((), {"remoteName": "ssh-remote"}), ((), {"remoteName": "dev-container"}), ((), {"uiKind": 2}), ((), {"uriScheme": "trae"}),
    (("vscode-vfs:/github/a",), {})])
def test_windows_that_offer_nothing(place: SimpleNamespace, folders: tuple[str, ...], environment: dict[str, Any]) -> None:
    """In a window of another machine, a container, a browser, an unknown editor or folders that are on no disk, nothing is
    started and nothing is looked at."""
    window = Window(place, *folders, **environment)
    window.show(place.home / "project/a.txt")
    assert window.state()["listeners"] == 0 and not children_of(window.process.pid)
    window.quit()


@pytest.mark.parametrize("how", ["missing", "forbidden", "ends"])
def test_without_handoff(place: SimpleNamespace, how: str) -> None:
    """Where Handoff is not installed, or has ended, the editor works as ever, and the extension is silent and holds on to
    nothing."""
    program = bin_folder(place) / "handoff-editor"
    if how == "missing":
        program.unlink()
    elif how == "forbidden":
        program.chmod(0o644)
    window = Window(place)
    if how == "ends":
        place.children.next().end()
    wait(lambda: window.state()["listeners"] == 0, "the extension to look no more")
    window.show(place.home / "project/a.txt")
    window.type("more")
    assert window.state()["text"].startswith("more")
    window.quit()


GOOD = {"ask": "open", "id": 1, "file": "@/project/a.txt", "line": 1, "column": 1}
NOT_ANSWERED = ("", "null", "7", "[]", '"open"', "{", "{}", "nonsense", "\0", '{"ask":"open"}', '{"ask":{"id":1},"id":1}',
                '{"ask":"run","id":1,"command":"id"}', '{"ask":"save","id":"1"}', '{"ask":"save","id":1e99}', "[" * 5000,
                '{"ask":"open","id":{},"file":"/etc/passwd","line":1,"column":1}', '{"ask":"save","id":1.5}')
REFUSED: tuple[dict[str, Any], ...] = (
    {"file": "project/a.txt"}, {"file": "~/a.txt"}, {"file": "file:///etc/passwd"}, {"file": ""}, {"file": None}, {"file": 5},
    {"file": ["/etc/passwd"]}, {"file": "/a\nb"}, {"file": "/a\u202eb"}, {"file": "/a\0"}, {"file": "/" + "a" * 4096},
    {"line": 0}, {"line": -1}, {"line": 1.5}, {"line": 10_000_001}, {"line": "1"}, {"line": None}, {"column": 0},
    {"column": 2**53}, {"column": True}, {"column": [1]}, {"text": 7}, {"text": None}, {"text": ["a"]}, {"text": "a\0b"},
    {"text": "x" * (96 * 1024 + 1)}, {"text": "a\ud800"}, {"folder": "relative"}, {"folder": 7}, {"folder": None},
    {"folder": "/a\r"}, {"name": "Untitled-1"}, {"file": "@/project"}, {"file": "/dev/null/a"})
NAMELESS: tuple[dict[str, Any], ...] = ({"name": "Untitled-1"}, {"name": "", "text": ""}, {"name": 7, "text": ""},
                                        {"name": "a\nb", "text": ""}, {"name": "x" * 256, "text": ""})


def test_questions_that_are_not_to_be_trusted(place: SimpleNamespace) -> None:
    """Lines that are no questions are passed over, and questions with a value that can be none are answered with no: nothing
    is opened, no file that was not named, and what comes afterwards counts."""
    window, child = begin(place)
    for line in NOT_ANSWERED:
        child.write(line.encode() + b"\n")
    child.write(b"\xff\xfe\n" + b"x" * (2 << 20) + b"\n")
    # The end of a line that is too long is not a line.
    child.write(b"x" * (1 << 20) + b" " * (2 << 20) + b'{"ask":"save","id":2}\n')
    child.write(json.dumps(placed(GOOD, place.home) | {"text": "x", "more": "x" * (2 << 20)}).encode() + b"\n")
    nameless = {name: value for name, value in GOOD.items() if name != "file"}
    bad = [GOOD | one for one in REFUSED] + [nameless] + [nameless | one for one in NAMELESS]
    for number, question in enumerate(bad, 10):
        child.ask(**placed(question, place.home) | {"id": number})
        assert child.said() == {"answer": number, "opened": False}, question
    assert window.state()["documents"] == []
    child.ask(**placed(GOOD, place.home))
    assert [child.said()["event"], child.said()["opened"]] == ["front", True]
    window.quit()


def test_handoff_that_does_not_read(place: SimpleNamespace) -> None:
    """While Handoff does not read, the extension keeps no more than four lines for it, among them the latest of what is in
    front."""
    window, child = begin(place)
    window.write("x" * 90_000)
    questions = 200
    child.write(b"".join(b'{"ask":"save","id":%d}\n' % number for number in range(1, questions + 1)))
    # By then all of them were read: they are answered in turn.
    child.write(json.dumps(placed(GOOD, place.home)).encode() + b"\n")
    window.wait_for_state(file=str(place.home / "project/a.txt"))
    window.show(place.home / "other/b.txt")
    said = [child.said()]
    while not (said[-1].get("event") == "front" and said[-1].get("file", "").endswith("b.txt")):
        said.append(child.said())
    answers = [message["answer"] for message in said if "text" in message]
    assert answers == sorted(answers) and answers[-1] > questions - 4 and len(answers) < questions / 2
    assert len([message for message in said if message.get("event") == "front"]) <= 3
    window.quit()


def test_package() -> None:
    """The extension is what a marketplace takes, has the version of Handoff, starts nothing before the window is there, brings
    no command or setting, and asks for no part of the API that is not published."""
    package = json.loads((EXTENSION / "package.json").read_text())
    assert set(package) == {
        "name", "displayName", "description", "version", "publisher", "license", "icon", "categories", "keywords", "engines",
        "main", "activationEvents", "extensionKind", "capabilities"}
    assert package["activationEvents"] == ["onStartupFinished"] and package["extensionKind"] == ["ui"]
    assert package["capabilities"] == {"untrustedWorkspaces": {"supported": True}, "virtualWorkspaces": False}
    assert package["engines"] == {"vscode": "^1.75.0"} and package["main"] == "./extension.js"
    assert package["name"].isascii() and package["name"].islower() and package["publisher"].isalnum()
    assert package["categories"] == ["Other"] and len(package["keywords"]) <= 30 and package["license"] == "LGPL-2.1-or-later"
    assert f"version: '{package['version']}'" in (SOURCE / "meson.build").read_text()
    icon = (EXTENSION / package["icon"]).read_bytes()
    assert icon.startswith(b"\x89PNG\r\n") and struct.unpack(">II", icon[16:24]) >= (128, 128)
    assert "# Handoff" in (EXTENSION / "README.md").read_text()
    source = (EXTENSION / "extension.js.in").read_text()
    assert source.count("@") == 2 and "@libexecdir@/handoff-editor" in source


@pytest.mark.parametrize("code", [
    "vscode.window.activeTextEditors", "vscode.workspace.rootFolder", "vscode.window.state.visible", "vscode.window = {}",
    "vscode.Uri.file(7)", "vscode.Uri.file()", "new vscode.Position(1)", "new vscode.Range(0, 0, 1)", "vscode.env.uriScheme = 'x'",
    "new vscode.Selection({line: 0, character: 0}, {line: 0, character: 0})", "vscode.workspace.openTextDocument({text: 'a'})",
    "vscode.workspace.openTextDocument({content: 7})", "vscode.commands.executeCommand()",
    "vscode.window.onDidChangeWindowState(7)",
    "vscode.window.showTextDocument('/a')", "new vscode.WorkspaceEdit().replace('/a', 0, 'b')", "Object.keys(vscode.window)",
    "vscode.workspace.openTextDocument({}).then(one => vscode.window.showTextDocument(one, {selection: one, preview: 1}))",
    "vscode.workspace.openTextDocument({}).then(one => one.text)",
    "vscode.workspace.openTextDocument({}).then(one => one.isDirty = 1)"])
def test_stub_knows_the_api_and_nothing_else(place: SimpleNamespace, code: str) -> None:
    """The stub refuses what the published API of the editor does not have, and what is of another type there."""
    window, _ = begin(place)
    with pytest.raises(AssertionError, match="TypeError"):
        window.do("evaluate", code=code)
    assert len(window.mistakes) == 1
    window.mistakes.clear()
    assert window.do("evaluate", code="vscode.Uri.file('/a').fsPath") == "/a"
    window.quit()


def test_extension_is_configured_by_one_path(place: SimpleNamespace) -> None:
    """The extension is the same everywhere but for the path of the program that it starts, and starts nothing else."""
    program = bin_folder(place) / "handoff-editor"
    configured = install(place).read_text()
    assert f"'{program}'" in configured and "@" not in configured
    both = configured + (EXTENSION / "windows.js").read_text()
    assert both.count("child_process") == both.count("spawn(") == 1
    assert not [word for word in ("eval(", "new Function", "http", "'net'", "tasks", "terminal", "debug") if word in both]
