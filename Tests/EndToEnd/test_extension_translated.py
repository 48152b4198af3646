# SPDX-License-Identifier: LGPL-2.1-or-later
"""The extension for GNOME Shell in another language, with the catalogue where it is installed."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from buses import wait
from clients import Client
from gnome_shell import GnomeShell, install_extension, missing
from support import SOURCE, Machine
from test_extension_modules import Extension
from test_gnome_extension import INDICATOR, complaints, install_application, open_menu, wait_for_indicator
from vendor import ADD_ON

LANGUAGE = {"LANGUAGE": "de", "LC_ALL": "C.UTF-8"}


def install_catalogue(data: Path) -> None:
    """Puts the German catalogue where it is installed below a folder for data."""
    if not shutil.which("msgfmt"):
        pytest.skip("msgfmt is not installed: meson-helpers/install-packages build")
    folder = data / "locale" / "de" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    subprocess.run(["msgfmt", f"--output-file={folder / 'handoff.mo'}", SOURCE / "po" / "de.po"], check=True)


@pytest.fixture
def data(machines: tuple[Machine, Machine]) -> Path:
    """The second machine's folder for data, with the catalogue."""
    folder = Path(machines[1].environment["XDG_DATA_HOME"])
    install_catalogue(folder)
    return folder


@pytest.fixture
def shell(machines: tuple[Machine, Machine], data: Path) -> Iterator[GnomeShell]:
    """The Shell of the second machine, in German."""
    if what := missing():
        pytest.skip(what)
    install_application(machines[1])
    install_extension(machines[1])
    shell = GnomeShell(machines[1], ADD_ON, **LANGUAGE)
    yield shell
    shell.close()


def test_modules_are_translated(machines: tuple[Machine, Machine], data: Path) -> None:
    """As ES modules, the extension finds the catalogue beside the folder that it is installed in"""
    if not shutil.which("gjs"):
        pytest.skip("gjs is not installed: meson-helpers/install-packages test")
    desk, lap = machines
    extension = Extension(lap, data / "gnome-shell" / "extensions" / ADD_ON, **LANGUAGE)
    try:
        extension.evaluate("extension.enable()")
        Client(lap)
        Client(desk).offer("A letter")
        wait(lambda: extension.evaluate("!!Main.panel.statusArea.handoff"), "the indicator")
        assert extension.evaluate(f"{INDICATOR}._send.label.text") == "Senden an"
        assert extension.evaluate(f"{INDICATOR}._window.label.text") == "Handoff öffnen"
        extension.evaluate("extension.disable()")
    finally:
        said = extension.close()
    assert not said, said


@pytest.mark.desktop
def test_shell_is_translated(machines: tuple[Machine, Machine], shell: GnomeShell) -> None:
    """In a real GNOME Shell in German, the menu of the indicator is German"""
    desk, lap = machines
    Client(lap)
    Client(desk).offer("A letter")
    wait_for_indicator(shell)
    open_menu(shell)
    assert shell.shoot("menu-german").stat().st_size > 1000
    assert shell.evaluate(f"{INDICATOR}._send.label.text") == "Senden an"
    assert shell.evaluate(f"{INDICATOR}._window.label.text") == "Handoff öffnen"
    assert not complaints(shell)
