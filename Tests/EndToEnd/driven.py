# SPDX-License-Identifier: LGPL-2.1-or-later
"""Applications on the clients of each language, which do what they are told (conformance/README.md)."""

from __future__ import annotations

import fcntl
import functools
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from buses import wait
from gi.repository import GLib
from support import SOURCE, Machine

DRIVERS = SOURCE / "Tests" / "EndToEnd" / "conformance"
CLIENTS = SOURCE / "data" / "clients"
LANGUAGES = ("Python", "GJS", "C", "Qt 5", "Qt 6", "Rust", "Swift")
# The crates of Debian's packages.
CRATES = Path("/usr/share/cargo/registry")
# Where what has to be compiled is kept, by the processes of one run of the tests.
BUILT = Path(os.environ.get("HANDOFF_DRIVERS", SOURCE / ".build" / "drivers"))


def flags(*modules: str) -> list[str]:
    """What the compiler is told to use these libraries."""
    run = subprocess.run(["pkg-config", "--cflags", "--libs", *modules], check=True, capture_output=True, text=True)
    return shlex.split(run.stdout)


def built(name: str, sources: list[Path], build: Callable[[Path], None]) -> Path:
    """A program of these sources, built if it is older than any of them; by one process at a time."""
    BUILT.mkdir(parents=True, exist_ok=True)
    program = BUILT / name
    with open(BUILT / f"{name}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.exists() or any(source.stat().st_mtime > program.stat().st_mtime for source in sources):
            unfinished = BUILT / f"{name}.new"
            build(unfinished)
            unfinished.rename(program)
    return program


def written(name: str, text: str) -> Path:
    """The source of this name with this text, which is only touched if it has another one."""
    BUILT.mkdir(parents=True, exist_ok=True)
    source = BUILT / name
    if not source.exists() or source.read_text() != text:
        source.write_text(text)
    return source


def compile_c(source: Path, name: str, *options: str) -> Path:
    """A program of a source and the client in C, compiled as by a careful author."""
    sources = [source, CLIENTS / "c" / "handoff.c"]
    return built(name, [*sources, CLIENTS / "c" / "handoff.h"], lambda program: run(
        "gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", *options, "-g", f"-I{CLIENTS / 'c'}", *map(str, sources),
        "-o", str(program), "-pthread", *flags("gio-unix-2.0")))


def compile_vala(source: Path, name: str) -> Path:
    """A program in Vala on the client in C."""
    folder = CLIENTS / "c"
    sources = [source, folder / "handoff.c"]
    # What valac makes has warnings of its own.
    return built(name, [*sources, folder / "handoff.h", folder / "handoff.vapi"], lambda program: run(
        "valac", "--fatal-warnings", "--pkg=gio-unix-2.0", f"--vapidir={folder}", "--pkg=handoff", "-X", f"-I{folder}",
        "-X", "-w", *map(str, sources), "-d", str(program.parent), "-o", program.name))


@functools.cache
def moc(version: int) -> str:
    """The program that Qt has for classes with slots; empty if this Qt is not installed."""
    module = "Qt5Core" if version == 5 else "Qt6Core"
    asked = subprocess.run(["pkg-config", "--variable=host_bins" if version == 5 else "--variable=libexecdir", module],
                           capture_output=True, text=True, check=False)
    return shutil.which("moc", path=asked.stdout.strip()) or ""


def compile_qt(source: Path, name: str, version: int, *options: str) -> Path:
    """A program of a source and the client for Qt, compiled as by a careful author."""
    header = CLIENTS / "qt" / "handoff.hpp"

    def build(program: Path) -> None:
        generated = program.with_suffix(".moc.cpp")
        run(moc(version), str(header), "-o", str(generated), "-p", str(header.parent))
        run("g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fPIC", "-O0", *options, f"-I{header.parent}", str(source),
            str(generated), "-o", str(program), "-pthread", *flags(f"Qt{version}Core", f"Qt{version}DBus"))

    return built(name, [source, header], build)


def cargo(folder: Path) -> Path:
    """Builds the crate of a folder, and returns where its programs are. It is built as by a careful author."""
    # Debian's crates go with Debian's compiler, and nothing is asked of a registry. What the crates are compiled to is shared.
    run("cargo", "build", "--quiet", "--offline", cwd=folder, env=os.environ | {
        "PATH": f"/usr/bin:{os.environ['PATH']}", "CARGO_HOME": str(BUILT / "cargo"), "CARGO_TARGET_DIR": str(BUILT / "rust"),
        "RUSTFLAGS": "-D warnings"})
    return BUILT / "rust" / "debug"


def compile_rust(source: Path, name: str) -> Path:
    """A program of a source that has the client in Rust as a module."""
    folder = BUILT / f"{name}.crate"

    def build(program: Path) -> None:
        (folder / ".cargo").mkdir(parents=True, exist_ok=True)
        (folder / ".cargo" / "config.toml").write_text(
            f'[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = "{CRATES}"\n')
        (folder / "Cargo.toml").write_text(
            f'[package]\nname = "{name}"\nversion = "1.0.0"\nedition = "2021"\n[dependencies]\ndbus = "0.9"\nlibc = "0.2"\n'
            f'[[bin]]\nname = "{name}"\npath = "{source}"\n')
        shutil.copy(cargo(folder) / name, program)

    return built(name, [source, CLIENTS / "rust" / "handoff.rs"], build)


def run(*command: str, **options: Any) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}{done.stderr}"


def missing(language: str) -> str:
    """Why there is nothing of this language; empty if there is."""
    if language == "GJS" and not shutil.which("gjs"):
        return "there is no gjs"
    if language == "Vala" and not shutil.which("valac"):
        return "there is no valac"
    if language.startswith("Qt") and not moc(int(language[-1])):
        return f"there is no {language}"
    if language == "Rust" and not (Path("/usr/bin/cargo").exists() and any(CRATES.glob("dbus-0.9.*"))):
        return "there is no cargo with the crate dbus, of Debian"
    if language == "Swift" and not (swift_driver()).exists():
        return "the driver in Swift is not built (swift build --product ConformanceProgram)"
    return ""


def swift_driver() -> Path:
    return SOURCE / ".build" / "debug" / "ConformanceProgram"


def command(language: str) -> list[str]:
    """How the driver of a language is started."""
    if language == "Python":
        return ["/usr/bin/python3", str(DRIVERS / "driver.py")]
    if language == "GJS":
        return ["gjs", "-m", str(DRIVERS / "driver.js")]
    if language == "C":
        return [str(compile_c(DRIVERS / "driver.c", "driver-c"))]
    if language.startswith("Qt"):
        return [str(compile_qt(DRIVERS / "driver.cpp", f"driver-qt{language[-1]}", int(language[-1])))]
    if language == "Rust":
        return [str(compile_rust(DRIVERS / "driver.rs", "driver-rust"))]
    return [str(swift_driver())]


class Driven:
    """A driver that runs on a machine, and what it has told."""

    def __init__(self, machine: Machine, language: str, *arguments: str) -> None:
        self.language = language
        self.told: list[list[str]] = []
        self._rest = b""
        # Whether the application was told to fail.
        self.fails = False
        self.log = machine.folder / "driver.log"
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", *command(language), *arguments],
                env=machine.environment, cwd=machine.folder, stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=log)
        self._watch = GLib.unix_fd_add_full(
            GLib.PRIORITY_DEFAULT, self.process.stdout.fileno(), GLib.IOCondition.IN, self._readable)

    def _readable(self, descriptor: int, _condition: GLib.IOCondition) -> bool:
        some = os.read(descriptor, 65536)
        *lines, self._rest = (self._rest + some).split(b"\n")
        self.told += [line.decode().split("\t") for line in lines]
        if not some:
            self._watch = 0
        return bool(some)

    def do(self, *words: str) -> None:
        """Tells it to do something."""
        self.fails = self.fails or bool({"fail", "raise"} & set(words))
        self.process.stdin.write(("\t".join(words) + "\n").encode())
        self.process.stdin.flush()

    def all(self, event: str) -> list[list[str]]:
        return [words[1:] for words in self.told if words[0] == event]

    def wait_for(self, event: str, number: int = 1) -> list[str]:
        """What it tells of this event, of which there have to be so many by then."""
        return wait(lambda: self.all(event)[number - 1:number] or self._ended(), f"“{event}” {number} of {self.told}")[0]

    def _ended(self) -> None:
        assert self.process.poll() is None, f"it has ended with {self.process.returncode}: {self.log.read_text()}"

    def ask(self, *words: str, answer: str) -> list[str]:
        """Asks it for something, and returns what it says."""
        before = len(self.all(answer))
        self.do(*words)
        return self.wait_for(answer, before + 1)

    def get(self, number: str) -> dict[str, str]:
        """An activity as the application has it."""
        names = ("number", "current", "valid", "needsSave", "title", "page", "state")
        return dict(zip(names, self.ask("get", number, answer="got")))

    def wait_until(self, number: str, **values: str) -> None:
        """Waits until an activity is so."""
        wait(lambda: values.items() <= self.get(number).items(), f"{values} of {number}")

    def wait_until_available(self, registered: bool = True) -> None:
        wait(lambda: self.ask("available", answer="available") == [str(int(registered))], f"registered: {registered}")

    def end(self) -> int:
        """Ends it as the end of its standard input does; returns its status."""
        self.process.stdin.close()
        wait(lambda: self.process.poll() is not None, "the end of the driver")
        if self._watch:
            GLib.source_remove(self._watch)
        self.process.stdout.close()
        return self.process.returncode
