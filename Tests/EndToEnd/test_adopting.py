# SPDX-License-Identifier: LGPL-2.1-or-later
"""The ten lines of docs/adopting.md work as they stand there."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from buses import wait
from conforming import broker, bus  # noqa: F401  pylint: disable=unused-import
from driven import CLIENTS, cargo, compile_c, compile_qt, compile_rust, compile_vala, missing, written
from gi.repository import GLib
from scripted_broker import ScriptedBroker
from support import SOURCE, Machine
from test_client_examples import Example

# The fixtures have the names under which tests ask for them.
# pylint: disable=redefined-outer-name
PAGE = (SOURCE / "docs" / "adopting.md").read_text()
TYPE = "org.example.notes.edit"
HEADINGS = {"Python": "Python", "GJS": "JavaScript", "C": "C", "Vala": "Vala", "Qt 6": "C++ with Qt", "Rust": "Rust"}
# What is around the lines in a program, by language: what they call, and the loop.
AROUND = {
    "Python": ("""
import sys
sys.path.insert(0, "CLIENTS/python")
from gi.repository import GLib
def current_text(): return "milk"
def show(text):
    print(text, flush=True)
    return True
""", "GLib.MainLoop().run()\n"),
    "GJS": ("", """
function currentText() { return 'milk'; }
function show(text) { print(text); return true; }
imports.gi.GLib.MainLoop.new(null, false).run();
"""),
    "C": ("""
#include <glib.h>
static gboolean show (gpointer window, const char *text) { g_print ("%s\\n", text); return TRUE; }
static const char *current_text (gpointer window) { return "milk"; }
FUNCTIONS
int main (void)
{
  gpointer window = NULL;
""", "  g_main_loop_run (g_main_loop_new (NULL, FALSE));\n}\n"),
    "Vala": ("""
string current_text () { return "milk"; }
bool show (Variant text) { print ("%s\\n", text.get_string ()); return true; }
void main () {
""", "new MainLoop ().run ();\n}\n"),
    "Qt 6": ("""
#include "handoff.hpp"
#include <QtCore/QCoreApplication>
#include <cstdio>
static QString currentText() { return "milk"; }
static bool show(const QString &text) { puts(qPrintable(text)); fflush(stdout); return true; }
int main(int count, char **arguments)
{
    QCoreApplication application(count, arguments);
""", "    return application.exec();\n}\n"),
    "Rust": ("""
#[path = "CLIENTS/rust/handoff.rs"]
mod handoff;
use handoff::{HandoffApplication, UserActivity};
fn current_text() -> String { "milk".to_owned() }
fn show(text: &str) -> bool {
    println!("{}", text);
    true
}
fn main() {
""", "    handoff::run();\n}\n"),
}


def blocks(heading: str) -> list[str]:
    """What is to be copied under a heading: the functions that it needs, if it shows any, and its ten lines."""
    section = re.search(rf"^#+ {re.escape(heading)}$(.*?)(?=^#+ [A-Z]|\Z)", PAGE, re.MULTILINE | re.DOTALL)[1]
    return re.findall(r"^```\w+\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def lines_of(heading: str) -> str:
    """The example under a heading."""
    return blocks(heading)[-1]


def program(language: str, text: str) -> list[str]:
    """A program of this text."""
    ending = {"Python": "py", "GJS": "js", "C": "c", "Vala": "vala", "Qt 6": "cpp", "Rust": "rs"}[language]
    source = written(f"ten-lines.{ending}", text)
    if language == "Python":
        return ["/usr/bin/python3", str(source)]
    if language == "GJS":
        return ["gjs", "-m", str(source)]
    if language == "C":
        return [str(compile_c(source, "ten-lines-c", "-Wno-unused-parameter"))]
    if language == "Vala":
        return [str(compile_vala(source, "ten-lines-vala"))]
    if language == "Rust":
        return [str(compile_rust(source, "ten-lines-rust"))]
    return [str(compile_qt(source, "ten-lines-qt6", 6))]


@pytest.mark.parametrize("language", HEADINGS)
def test_ten_lines_are_enough(bus: Machine, broker: ScriptedBroker, language: str) -> None:
    """In each language, the lines of the guide are at most ten, and hand a note off and go on with one."""
    if missing(language):
        pytest.skip(missing(language))
    lines = lines_of(HEADINGS[language])
    assert len([line for line in lines.splitlines() if line]) <= 10
    before, after = AROUND[language]
    before = before.replace("FUNCTIONS", blocks(HEADINGS[language])[0])
    text = (before + lines + after).replace("CLIENTS", str(CLIENTS)).replace("./handoff.js", f"file://{CLIENTS}/gjs/handoff.js")
    example = Example(bus, program(language, text))
    path = broker.wait_for("BecomeCurrent").path
    known = broker.known[path]
    assert known["Title"].unpack() == "Shopping"
    wait(lambda: "NeedsSave" in broker.known[path], "the wish to be saved")
    assert broker.save()().unpack()[0]["UserInfo"] == {"text": "milk"}
    number, _shows = broker.announce()
    assert broker.hand_over(number, UserInfo=GLib.Variant("a{sv}", {"text": GLib.Variant("s", "bread")}))().unpack() == (True,)
    example.wait_for("bread")
    example.end()


def test_the_commands_build_the_examples(tmp_path: Path) -> None:
    """The commands of the guide build the examples in C and Vala, as they stand there."""
    if missing("Vala"):
        pytest.skip(missing("Vala"))
    folder = tmp_path / "c"
    shutil.copytree(CLIENTS / "c", folder)
    for line in blocks("Build it")[0].splitlines():
        done = subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert (folder / "note").exists() and (folder / "note-vala").exists()


@pytest.mark.long
@pytest.mark.parametrize("version", [5, 6])
def test_the_project_builds_the_example(tmp_path: Path, version: int) -> None:
    """The CMake project of the guide builds the example in C++, with both versions of Qt."""
    if missing(f"Qt {version}") or not shutil.which("cmake"):
        pytest.skip(missing(f"Qt {version}") or "there is no cmake")
    folder = tmp_path / "qt"
    shutil.copytree(CLIENTS / "qt", folder)
    project = re.search(r"^```cmake\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[1]
    (folder / "CMakeLists.txt").write_text(project.replace("Qt6", f"Qt{version}"))
    for words in (["cmake", "-S", ".", "-B", "build"], ["cmake", "--build", "build"]):
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    assert (folder / "build" / "note").exists()


def test_the_crate_builds_the_example(tmp_path: Path) -> None:
    """The files for Cargo of the guide build the example in Rust, with the crates of Debian."""
    if missing("Rust"):
        pytest.skip(missing("Rust"))
    manifest, configuration = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    shutil.copytree(CLIENTS / "rust", tmp_path / "src")
    (tmp_path / "src" / "note.rs").rename(tmp_path / "src" / "main.rs")
    (tmp_path / "Cargo.toml").write_text(manifest)
    (tmp_path / ".cargo").mkdir()
    (tmp_path / ".cargo" / "config.toml").write_text(configuration)
    assert (cargo(tmp_path) / "note").exists()


def test_the_lines_in_swift_are_those_of_the_readme() -> None:
    """What the guide shows in Swift is what README.md shows, which is compiled and run by the tests of HandoffKit."""
    assert lines_of("Swift") in (SOURCE / "README.md").read_text()


def test_the_table_names_every_behaviour() -> None:
    """The table of the guide has a line for each thing that the tests ask of all clients."""
    for name in ("test_conformance.py", "test_conformance_continuing.py"):
        text = (SOURCE / "Tests" / "EndToEnd" / name).read_text()
        sentences = re.findall(r'^def test_.*?\n    """(.*?)"""', text, re.MULTILINE | re.DOTALL)
        assert sentences
        for sentence in sentences:
            assert f"| {sentence.removesuffix('.')} |" in PAGE
