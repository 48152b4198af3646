# SPDX-License-Identifier: LGPL-2.1-or-later
"""Real browsers that find the Handoff add-on and its host where Meson installs them for all users."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from clients import Dock
from running_browsers import EXTENSION, PREFERENCES, RunningBrowser, Site
from support import PROGRAMS, SOURCE, Machine
from test_adapter_browser import offered, site  # noqa: F401
from vendor import APP_ID

pytestmark = pytest.mark.desktop

Machines = tuple[Machine, Machine]
# What a browser sees is as if the staging tree had been unpacked: in a mount namespace of its own.
INSIDE = ('mount -t overlay overlay -o "lowerdir=$1/usr:/usr" /usr && mount -t overlay overlay -o "lowerdir=$1/etc:/etc" /etc'
          ' && shift && exec "$@"')
COMMANDS = {
    "chromium": "chromium --headless=new --no-sandbox --disable-gpu --no-first-run --password-store=basic --disable-dev-shm-usage"
                " --disable-background-networking --user-data-dir=PROFILE",
    "firefox-esr": "firefox-esr --headless --no-remote --new-instance --profile PROFILE",
}


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What Meson installs into /usr and /etc."""
    if shutil.which("meson") is None:
        pytest.skip("Meson is not installed: meson-helpers/install-packages test")
    folder = tmp_path_factory.mktemp("staged")
    for command in (["meson", "setup", str(folder / "build"), str(SOURCE), "--prefix=/usr", f"-Dbinaries={PROGRAMS}", f"-Dapp-id={APP_ID}"],
                    ["meson", "install", "-C", str(folder / "build"), "--destdir", str(folder / "stage")]):
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
        assert done.returncode == 0, f"{' '.join(command)} failed:\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
    inside = ["unshare", "--mount", "sh", "-c", INSIDE, "sh", str(folder / "stage"), "true"]
    done = subprocess.run(inside, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"no mount namespace with an overlay of the system's folders: {done.stderr.strip()}")
    return folder / "stage"


class InstalledBrowser(RunningBrowser):
    """A browser that is told nothing of the add-on: it has to find that itself."""

    def __init__(self, machine: Machine, program: str, stage: Path, address: str) -> None:  # noqa: F811
        self.program = program
        super().__init__(machine)
        if program == "firefox-esr":
            lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items())
            (self.profile / "user.js").write_text("".join(lines))
        command = COMMANDS[program].replace("PROFILE", str(self.profile)).split()
        self.spawn("unshare", "--mount", "sh", "-c", INSIDE, "sh", str(stage), *command, address)


@pytest.mark.parametrize("program", COMMANDS)
def test_add_on_of_the_system(machines: Machines, site: Site, stage: Path, program: str) -> None:  # noqa: F811
    """A browser with a new profile finds the add-on and its host where they are installed for all users, and the page in
    front is offered."""
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed: meson-helpers/install-packages desktop")
    desk, lap = machines
    assert (stage / "usr/share/chromium/extensions/handoff/manifest.json").read_text() == (EXTENSION / "manifest.json").read_text()
    browser = InstalledBrowser(desk, program, stage, f"{site.address}/found")
    try:
        path = offered(dock := Dock(lap), "Page found")
        assert dock.offers[path]["ApplicationId"] == program
    except AssertionError as error:
        raise AssertionError(f"{error}\n{browser.log}") from error
    finally:
        with suppress(ProcessLookupError):
            os.killpg(browser.process.pid, signal.SIGKILL)
        browser.process.wait()
