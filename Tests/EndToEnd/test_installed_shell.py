# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is installed for the shells of desktops."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from gnome_shell import EXTENSION
from support import SOURCE
from test_installed import install
from vendor import ADD_ON

KWIN = SOURCE / "data" / "kwin" / "scripts" / "handoff"


@pytest.mark.parametrize(("form", "versions"), [("modules", range(45, 49)), ("scripts", range(43, 45)), ("none", ())])
def test_extension_is_installed(tmp_path: Path, form: str, versions: range) -> None:
    """The extension is installed whole, in the form that its metadata names the versions of GNOME Shell for, and for
    unlocked sessions alone; or not at all. The script for KWin is installed as it is."""
    prefix, said = install(tmp_path, f"-Dgnomeshell={form}")
    assert any("extension for GNOME Shell" in line and form in line for line in said.splitlines())
    script = prefix / "share" / "kwin" / "scripts" / "handoff"
    for name in ("metadata.json", "contents/code/main.js"):
        assert (script / name).read_bytes() == (KWIN / name).read_bytes()
    assert json.loads((script / "metadata.json").read_text())["KPlugin"]["Id"] == script.name
    folder = prefix / "share" / "gnome-shell" / "extensions" / ADD_ON
    if form == "none":
        assert not folder.exists()
        return
    metadata = json.loads((folder / "metadata.json").read_text())
    keys = subprocess.run(
        ["gsettings", "--schemadir", folder / "schemas", "get", metadata["settings-schema"], "paste-shortcut"],
        env=os.environ | {"GSETTINGS_BACKEND": "memory"}, capture_output=True, text=True, check=True)
    assert keys.stdout.strip() == "@as []", "no keys are taken before the user sets some"
    assert metadata["uuid"] == folder.name
    assert metadata["session-modes"] == ["user"]
    assert metadata["shell-version"] == [str(version) for version in versions]
    files = {file.name for file in EXTENSION.glob("*.js")}
    assert {file.name for file in folder.glob("*.js")} == files
    for name in files:
        expected = (EXTENSION / name).read_text()
        if form == "scripts":
            subprocess.run([SOURCE / "meson-helpers" / "legacy-extension", EXTENSION / name, tmp_path / name], check=True)
            expected = (tmp_path / name).read_text()
        assert (folder / name).read_text() == expected
