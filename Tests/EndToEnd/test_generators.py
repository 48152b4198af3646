# SPDX-License-Identifier: LGPL-2.1-or-later
"""The interface files are ones that the generators of other languages take."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from buses import INTERFACES
from driven import flags, moc, run

FILES = sorted(INTERFACES.glob("*.xml"))


def qt_generator(version: int) -> str:
    """qdbusxml2cpp of this Qt, which is beside its moc or in the folder of its programs."""
    if not moc(version):
        pytest.skip(f"there is no Qt {version}")
    variable = "host_bins" if version == 5 else "bindir"
    asked = subprocess.run(["pkg-config", f"--variable={variable}", f"Qt{version}Core"], capture_output=True, text=True,
                           check=True)
    program = shutil.which("qdbusxml2cpp", path=f"{asked.stdout.strip()}:{Path(moc(version)).parent}:/usr/lib/qt6/bin")
    assert program, f"there is no qdbusxml2cpp of Qt {version}"
    return program


def said(*command: str) -> str:
    """What a generator complains of."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr if not done.returncode else f"{done.stderr} and status {done.returncode}"


def qt_code(folder: Path, file: Path, version: int) -> str:
    """Has qdbusxml2cpp make a proxy and an adaptor of a file; returns what it complains of."""
    name = folder / file.stem.replace(".", "_")
    return (said(qt_generator(version), "-i", "QVariantMap", "-p", f"{name}_proxy", str(file))
            + said(qt_generator(version), "-i", "QVariantMap", "-a", f"{name}_adaptor", str(file)))


def test_c_is_made_of_every_file(tmp_path: Path) -> None:
    """gdbus-codegen makes C of every interface file, which compiles, and hands over descriptors where there are any."""
    assert said("gdbus-codegen", f"--generate-c-code={tmp_path / 'all'}", "--interface-prefix=org.example.Handoff.",
                "--c-namespace=Handoff", "--c-generate-autocleanup=all", *map(str, FILES)) == ""
    text = (tmp_path / "all.h").read_text()
    for method in ("handoff_continuation_call_open_stream_finish", "handoff_activity_delegate_call_did_receive_stream"):
        assert "GUnixFDList" in text[text.index(f"{method} ("):].partition(";")[0]
    run("gcc", "-Wall", "-Werror", "-fsyntax-only", str(tmp_path / "all.c"), *flags("gio-unix-2.0"))


@pytest.mark.parametrize("version", [5, 6])
def test_qt_is_made_of_every_file(tmp_path: Path, version: int) -> None:
    """Both qdbusxml2cpp make proxies and adaptors of every interface file."""
    assert {file.name: words for file in FILES if (words := qt_code(tmp_path, file, version))} == {}


@pytest.mark.long
def test_what_is_made_compiles(tmp_path: Path) -> None:
    """All that both qdbusxml2cpp make of the interface files compiles without a warning."""
    for version in (5, 6):
        folder = tmp_path / f"qt{version}"
        folder.mkdir()
        for file in FILES:
            qt_code(folder, file, version)
        sources = sorted(folder.glob("*.cpp"))
        for header in folder.glob("*.h"):
            run(moc(version), str(header), "-o", str(folder / f"{header.stem}.moc"))
        # As it is said to be used: moc's part of a class is included beside it.
        together = folder / "together.cc"
        parts = [f'#include "{source.stem}.h"\n#include "{source.name}"' for source in sources]
        parts += [f'#include "{part.name}"' for part in sorted(folder.glob("*.moc"))]
        together.write_text("\n".join(["#include <QtDBus/QtDBus>", *parts]) + "\n")
        # An adaptor that answers more than one value is to be completed by hand.
        run("g++", "-std=c++17", "-Wall", "-Werror", "-Wno-return-type", "-fPIC", "-fsyntax-only", f"-I{folder}", "-x", "c++",
            str(together), *flags(f"Qt{version}Core", f"Qt{version}DBus"))
