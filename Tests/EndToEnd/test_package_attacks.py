# SPDX-License-Identifier: LGPL-2.1-or-later
"""Users, and programs in their sandboxes, who want something of what root runs when packages are upgraded and removed."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from buses import BROKER, wait
from support import SOURCE, has_all_rights
from test_package_scripts import UPGRADE, WithoutSystemd, exchange, prefix, script, scripts, session  # noqa: F401

NAMESPACES = ("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
NOBODY = pwd.getpwnam("nobody")
# A file system that never answers whoever looks at it, where a user's systemd should be, and a system that was booted with
# systemd. Arguments: the folder, and the command.
SILENT_FOLDER = """
import ctypes, os, subprocess, sys
folder, *command = sys.argv[1:]
os.makedirs(folder)
libc = ctypes.CDLL(None, use_errno=True)
def mount(kind, place, options):
    if libc.mount(kind.encode(), place.encode(), kind.encode(), 0, options.encode()) != 0:
        print('cannot mount', kind, os.strerror(ctypes.get_errno()))
        sys.exit(77)
mount('tmpfs', '/run', '')
os.makedirs('/run/systemd/system')
device = os.open('/dev/fuse', os.O_RDWR)
mount('fuse', folder, f'fd={device},rootmode=40000,user_id=0,group_id=0,allow_other')
child = subprocess.Popen(command, start_new_session=True)
try:
    status = child.wait(60)
except subprocess.TimeoutExpired:
    status = 76
# With the device everybody who waits is let go.
os.close(device)
child.kill()
sys.exit(status)
"""


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that all users reach."""
    with tempfile.TemporaryDirectory(prefix="handoff-attack-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture
def own_scripts(place: Path) -> Path:
    """The parts of maintainer scripts, for programs in `libexec` of that folder, and sessions in `users`."""
    if not has_all_rights():
        pytest.skip("packages are installed by root")
    shutil.copytree(SOURCE / "debian", place / "debian")
    subprocess.run(["debian/maintainer-scripts"], cwd=place, check=True, timeout=30)
    (place / "libexec").mkdir()
    for file in (place / "debian").glob("*.debhelper"):
        text = file.read_text().replace("/usr/libexec", str(place / "libexec")).replace("/run/user", str(place / "users"))
        file.write_text("set -e\n" + text.replace("/usr/sbin/policy-rc.d", str(place / "policy")))
    return place / "debian"


@contextmanager
def replaced(place: Path, user: str, mode: int, address: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process of a user that is called like the broker, has a bus of this address, and whose program was replaced. Nobody
    traces one whose program only root can read: its files in /proc are root's."""
    program = place / "libexec" / "handoffd"
    shutil.copy(shutil.which("sleep"), program)
    program.chmod(mode)
    process = subprocess.Popen([program, "infinity"], user=user, group=pwd.getpwnam(user).pw_gid, extra_groups=[],
                               env={"DBUS_SESSION_BUS_ADDRESS": address})
    # Until then it has not ended for whoever waits for that.
    parent = threading.Thread(target=process.wait)
    parent.start()
    try:
        program.unlink()
        yield process
    finally:
        process.kill()
        parent.join(20)


@pytest.mark.parametrize("user, mode", [("nobody", 0o711), ("nobody", 0o755), ("root", 0o755)],
                         ids=["in the name of root", "of a user", "in a sandbox of root"])
@pytest.mark.parametrize("address", ["{command}", "unix:path=/nowhere;{command}"],
                         ids=["a command", "a socket or a command"])
def test_no_command_of_a_process_is_run(place: Path, own_scripts: Path, user: str, mode: int, address: str) -> None:
    """The bus of a process that an upgrade replaces is never a command, which would be run outside of the sandbox that the
    process is in, nor is root asked to do anything for a process that only looks like one of root's."""
    (place / "out").mkdir()
    (place / "out").chmod(0o777)
    command = f"unixexec:path=/usr/bin/touch,argv1={place}/out/was-here"
    with replaced(place, user, mode, address.format(command=command)) as process:
        subprocess.run(script(own_scripts, *UPGRADE), check=True, timeout=60)
        assert not list((place / "out").iterdir())
        # It cannot be looked at by its user, who has made it so.
        assert (process.poll() is None) == (mode == 0o711)


def test_root_does_not_look_into_the_folders_of_users(place: Path, own_scripts: Path) -> None:
    """A user's folder that never answers does not keep root, who does not look into it, from removing a package."""
    folder = place / "users" / str(NOBODY.pw_uid) / "systemd"
    done = subprocess.run([*NAMESPACES, sys.executable, "-c", SILENT_FOLDER, str(folder),
                           *script(own_scripts, "prerm", "remove")], capture_output=True, text=True, timeout=90)
    if done.returncode == 77:
        pytest.skip(f"no file system of a program can be mounted here: {done.stdout}")
    assert done.returncode == 0, "it still waits" if done.returncode == 76 else done


def test_a_user_called_by_a_number_is_not_taken_for_another(place: Path, own_scripts: Path) -> None:
    """What is of the user with a number is not done as the user who has that number for a name."""
    functions = place / "functions"
    functions.write_text((SOURCE / "debian" / "sessions" / "functions").read_text()
                         + f'handoff_as {NOBODY.pw_uid} sh -c \'id -u >"$1"\' sh "{place}/out/who"\n')
    (place / "out").mkdir()
    (place / "out").chmod(0o777)
    accounts = place / "passwd"
    accounts.write_text(f"{NOBODY.pw_uid}:x:1:1::/:/bin/sh\n" + Path("/etc/passwd").read_text())
    subprocess.run([*NAMESPACES, "sh", "-ec",
                    'mount --bind "$1" /etc/passwd; sh "$2"', "sh", str(accounts), str(functions)], check=True, timeout=60)
    assert (place / "out" / "who").read_text().strip() == str(NOBODY.pw_uid)


def test_what_does_not_end_holds_up_none_of_its_kind(session: WithoutSystemd, prefix: Path,  # noqa: F811
                                                     scripts: Path) -> None:  # noqa: F811
    """Processes that are called like the broker and do not end keep the broker from being replaced as little as they keep
    anything else."""
    with ExitStack() as stack:
        nowhere = stack.enter_context(socket.socket(socket.AF_UNIX))
        nowhere.bind(str(session.folder / "silent"))
        nowhere.listen()
        environment = session.environment | {"DBUS_SESSION_BUS_ADDRESS": f"unix:path={session.folder}/silent"}
        for _ in range(3):
            fake = subprocess.Popen([prefix / "libexec" / "handoffd"], env=environment, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL)
            stack.callback(fake.wait, 20)
            stack.callback(fake.kill)
            nowhere.accept()
            fake.send_signal(signal.SIGSTOP)
        former = session.ask_for(BROKER)
        exchange(prefix)
        subprocess.run(script(scripts, *UPGRADE), check=True, timeout=60)
        assert wait(lambda: session.process(BROKER), "a broker to be there again") != former


def test_environment_of_root(place: Path) -> None:
    """What runs as a user never has root's environment, which that user could read: nor has what makes it run as that user."""
    for program in ("runuser", "setpriv"):
        (place / program).write_text(f'#!/bin/sh\n/usr/bin/env >>"{place}/seen"\n'
                                     'while [ "$1" != -- ] && [ "$1" != env ] && [ $# -gt 0 ]; do shift; done\n'
                                     '[ "$1" != -- ] || shift\nexec "$@"\n')
        (place / program).chmod(0o755)
    environment = {"PATH": f"{place}:{os.environ['PATH']}", "http_proxy": "http://root:secret@proxy.example/"}
    subprocess.run(["sh", "-c", f". {SOURCE}/debian/sessions/functions; handoff_as {os.getuid()} sh -c "
                    f"'/usr/bin/env >>{place}/seen'"], env=environment, check=True)
    seen = (place / "seen").read_text()
    assert seen.count("PATH=") == 3, seen
    assert "secret" not in seen
