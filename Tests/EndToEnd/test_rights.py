# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whose the files of a device are: what others could read or change is put right, or not used."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from buses import wait
from support import Machine, has_all_rights
from test_trust_writes import state_folder

# A user who is neither the one that runs the tests nor root.
ANOTHER = 12345
needs_root = pytest.mark.skipif(not has_all_rights(), reason="only root can give a file to another user")


@pytest.fixture
def stopped(machine_list: list[Machine]) -> Machine:
    """A machine that has an identity and a peer, and whose bridge does not run."""
    machine = Machine("desk")
    machine_list.append(machine)
    machine.start_broker()
    machine.start_bridge()
    machine.trust("0123456789abcdef" * 4, "lap")
    assert machine.kill("handoff-bridge", signal.SIGTERM) == 0
    return machine


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


def refused_to_start(machine: Machine, *texts: str) -> None:
    """The bridge says what is wrong and ends with status 1."""
    before = len(machine.log("handoff-bridge"))
    process = machine.start("handoff-bridge", "--no-discovery")
    wait(lambda: process.poll() is not None, "the end of the bridge")
    del machine.processes["handoff-bridge"]
    assert process.returncode == 1
    said = machine.log("handoff-bridge")[before:]
    for text in texts:
        assert text in said, said


@pytest.mark.parametrize("rights", [0o777, 0o750, 0o705, 0o701, 0o1777])
def test_open_folder_is_put_right(stopped: Machine, rights: int) -> None:
    """A state folder that is open to others is closed, and a warning says what was open and what it may mean."""
    folder = state_folder(stopped)
    folder.chmod(rights)
    stopped.start_bridge()
    assert mode(folder) == 0o700
    log = stopped.log("handoff-bridge")
    assert f"{folder} was open to others ({rights:o}); now it is yours alone (700)" in log
    assert "unpair this device on its peers" in log.replace("\n", " ")


@pytest.mark.parametrize("rights", [0o666, 0o640, 0o604, 0o620])
@pytest.mark.parametrize("name", ["identity.pem", "trust", "lock"])
def test_open_file_is_put_right(stopped: Machine, name: str, rights: int) -> None:
    """The same for the key, the list of peers and the lock; the device and its peers stay what they were."""
    file = state_folder(stopped) / name
    before = file.read_bytes()
    file.chmod(rights)
    stopped.start_bridge()
    assert mode(file) == 0o600
    assert file.read_bytes() == before
    assert f"{file} was open to others ({rights:o}); now it is yours alone (600)" in stopped.log("handoff-bridge")


def test_what_is_closed_is_not_mentioned(stopped: Machine) -> None:
    """Nothing is said of files that nobody else can use."""
    stopped.start_bridge()
    assert "open to others" not in stopped.log("handoff-bridge")


@needs_root
@pytest.mark.parametrize("name", ["", "identity.pem", "trust", "lock"])
def test_what_belongs_to_another_is_not_used(stopped: Machine, name: str) -> None:
    """A folder or a file of another user's is refused and left as it is, with what to do."""
    place = state_folder(stopped) / name
    os.chown(place, ANOTHER, -1)
    before = mode(place)
    refused_to_start(stopped, f"{place}".rstrip("/"), f"belongs to another user ({ANOTHER})", "chown")
    assert mode(place) == before
    os.chown(place, 0, -1)
    stopped.start_bridge()


@pytest.mark.parametrize("name", ["", "identity.pem", "trust", "lock"])
def test_link_is_not_followed(stopped: Machine, name: str) -> None:
    """A link in the place of the folder or of a file is refused: others may decide what is at its end."""
    place = state_folder(stopped) / name
    target = stopped.folder / "elsewhere"
    shutil.move(place, target)
    place.symlink_to(target)
    refused_to_start(stopped, "is a link", "move it away" if not name else "move the link away")
    assert place.is_symlink() and target.exists()


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_no_file_is_left_alone(stopped: Machine, kind: str) -> None:
    """What stands in the place of the list of peers and is no file is refused, and keeps its rights."""
    place = state_folder(stopped) / "trust"
    place.unlink()
    os.mkdir(place) if kind == "folder" else os.mkfifo(place)
    place.chmod(0o755)
    refused_to_start(stopped, "not a regular file", "Move it away")
    assert place.stat().st_mode & 0o777 == 0o755


def test_link_above_the_folder_is_followed(stopped: Machine) -> None:
    """A link further up, which its user has made, leads to the folder as ever."""
    state = Path(stopped.environment["XDG_STATE_HOME"])
    target = stopped.folder / "elsewhere"
    shutil.move(state, target)
    state.symlink_to(target)
    stopped.start_bridge()
    assert "lap" in (target / "handoff").glob("*/trust").__next__().read_text()


@pytest.mark.parametrize("through_link", [False, True], ids=["on the path", "behind a link"])
def test_folder_that_everybody_may_replace_is_not_used(stopped: Machine, through_link: bool) -> None:
    """A folder is refused if everybody may write to one above it, unless they may replace only what is theirs there."""
    above = Path(stopped.environment["XDG_STATE_HOME"])
    if through_link:
        target = stopped.folder / "open" / "elsewhere"
        target.parent.mkdir(mode=0o700)
        shutil.move(above, target)
        above.symlink_to(target)
        above = target.parent
    above.chmod(0o777)
    refused_to_start(stopped, f"Everybody may write to {above} (777)", "XDG_STATE_HOME")
    above.chmod(0o1777)
    stopped.start_bridge()


def test_group_may_write_above_the_folder(stopped: Machine) -> None:
    """Where users have groups of their own, folders above may be open to the group."""
    Path(stopped.environment["XDG_STATE_HOME"]).chmod(0o775)
    stopped.start_bridge()


@needs_root
def test_folder_in_one_of_another_user_is_not_used(stopped: Machine) -> None:
    """A folder in one that belongs to another user is refused: they could put their own in its place."""
    above = Path(stopped.environment["XDG_STATE_HOME"])
    os.chown(above, ANOTHER, -1)
    refused_to_start(stopped, f"{above} belongs to another user ({ANOTHER})", "XDG_STATE_HOME")
    os.chown(above, 0, -1)
    stopped.start_bridge()


def make_writable(file: Path) -> None:
    file.chmod(0o666)


def give_away(file: Path) -> None:
    os.chown(file, ANOTHER, -1)


@pytest.mark.parametrize("change", [make_writable, pytest.param(give_away, marks=needs_root)])
def test_configuration_of_others_is_used_with_a_warning(stopped: Machine, change: Callable[[Path], None]) -> None:
    """A configuration that others can change is used, since it is not secret, and both daemons warn of that."""
    file = stopped.folder / "config_home" / "handoff" / "handoff.conf"
    change(file)
    assert stopped.kill("handoffd", signal.SIGTERM) == 0
    stopped.start_broker()
    stopped.start_bridge()
    for program in ("handoffd", "handoff-bridge"):
        assert "who can so switch Handoff on and off" in stopped.log(program)
    assert stopped.session.get("/org/example/Handoff/Bridge", "Bridge.DeviceName") == "desk"
