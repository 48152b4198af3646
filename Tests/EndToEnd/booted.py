# SPDX-License-Identifier: LGPL-2.1-or-later
"""A Debian that is booted, in namespaces of its own: with systemd, or with a system bus and Avahi alone.

    desk = Booted("desk", bare_roots.installed(packages), cable.hosts[0])
    desk.log_in()
    desk.run("handoff", "status")
    desk.root("apt-get", "remove", "handoff")
    desk.log_out()
    desk.remove()
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import tempfile
import uuid
from pathlib import Path

import desktop_session
from bare_roots import PATH, USER
from buses import wait
from support import SOURCE

NUMBERS = itertools.count(1)
UID = 1000
RUNTIME = f"/run/user/{UID}"
# Longer than anything takes that starts a whole system or session on a busy machine.
PATIENCE = 90
# What systemd finds as the first process of a container, and what every other system has too.
BOOT = """
set -e
mount -t overlay overlay -o "lowerdir=$LOWER,upperdir=$UPPER,workdir=$WORK" "$ROOT"
cd "$ROOT"
mkdir -p opt/handoff/Tests opt/handoff/data mnt .outside
mount --bind -o ro "$TREE/Tests" opt/handoff/Tests
mount --bind -o ro "$TREE/data" opt/handoff/data
mount --bind "$GIVEN" mnt
mount -t proc proc proc
mount -t sysfs sysfs sys
[ -z "$SYSTEMD" ] || mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs dev
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
mount -t tmpfs tmpfs dev/shm
for name in null zero full random urandom tty fuse; do
    [ -e "/dev/$name" ] || continue
    touch "dev/$name"
    mount --bind "/dev/$name" "dev/$name"
done
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
ln -s fd/0 dev/stdin
ln -s fd/1 dev/stdout
ln -s fd/2 dev/stderr
mount -t tmpfs -o mode=755 tmpfs run
hostname "$NAME"
pivot_root . .outside
umount -l /.outside
if [ -n "$SYSTEMD" ]; then
    exec env -i container=handoff-test "PATH=$INNER_PATH" /lib/systemd/systemd --show-status=no
fi
exec env -i "PATH=$INNER_PATH" bash -c "$PLAIN"
"""
# The first process takes care of orphans, which bash does.
PLAIN = f"""
mkdir -p /run/dbus /run/lock {RUNTIME}
chown {USER}:{USER} {RUNTIME}
chmod 700 {RUNTIME}
mkdir -m 1777 -p /tmp/.X11-unix
dbus-daemon --system --fork
avahi-daemon --daemonize
while :; do
    sleep 600 &
    wait
done
"""


def control_group() -> Path | None:
    """Where this process may make control groups of version 2; None if nowhere."""
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    own = next((line[3:] for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::")), None)
    place = next((mount[1] for mount in mounts if mount[2] == "cgroup2"), None)
    if own is None or place is None:
        return None
    folder = Path(place + own)
    return folder if os.access(folder, os.W_OK) else None


class Booted:
    """A machine in a network namespace, made of layers and of what it changes itself, which goes with `remove`."""

    def __init__(self, name: str, lowers: list[Path], network: str, systemd: bool = True) -> None:
        self.name, self.systemd, self.network = name, systemd, network
        self.folder = Path(tempfile.mkdtemp(prefix=f"handoff-{name}-booted-"))
        self.folder.chmod(0o755)
        # Seen in it as /mnt.
        self.given = self.folder / "given"
        for place in ("upper", "work", "root", "given"):
            (self.folder / place).mkdir()
        upper = self.folder / "upper"
        desktop_session.put(upper)
        (upper / "etc" / "machine-id").write_text(f"{uuid.uuid4().hex}\n")
        (upper / "etc" / "hostname").write_text(f"{name}\n")
        (upper / "etc" / "hosts").write_text(f"127.0.0.1 localhost\n127.0.1.1 {name}\n")
        self.session: subprocess.Popen[str] | None = None
        self._group: Path | None = None
        if systemd:
            parent = control_group()
            assert parent, "checked before"
            self._group = parent / f"handoff-{os.getpid()}-{next(NUMBERS)}"
            self._group.mkdir()
        environment = {
            "PATH": PATH, "LOWER": ":".join(map(str, lowers)), "UPPER": str(upper), "WORK": str(self.folder / "work"),
            "ROOT": str(self.folder / "root"), "TREE": str(SOURCE), "GIVEN": str(self.given), "NAME": name,
            "SYSTEMD": "yes" if systemd else "", "INNER_PATH": PATH, "PLAIN": PLAIN}
        # Its control group is that of the first process when its namespace is made. “ip netns exec” hides all of them.
        enter = 'set -e; if [ -n "$GROUP" ]; then echo $$ >"$GROUP/cgroup.procs"; fi; exec "$@"'
        spaces = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--uts", "--ipc", *["--cgroup"] * systemd]
        with open(self.folder / "log", "wb") as log:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "sh", "-c", enter, "sh", "ip", "netns", "exec", network, *spaces,
                 "sh", "-c", BOOT], env=environment | {"GROUP": str(self._group or "")}, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log)
        wait(self._is_up, f"{name} to be booted", PATIENCE)

    @property
    def log(self) -> str:
        """What its first process has said."""
        return (self.folder / "log").read_text(errors="replace")

    @property
    def first(self) -> str:
        """Its first process, as this machine counts; empty if there is none."""
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children")
        return children.read_text().split()[0] if children.exists() and children.read_text() else ""

    def _is_up(self) -> bool:
        assert self.process.poll() is None, f"{self.name} has ended:\n{self.log}"
        # Until then it is the shell that prepares everything.
        if not self.first or Path(f"/proc/{self.first}/comm").read_text().strip() == "sh":
            return False
        if not self.systemd:
            return self.root("pgrep", "-x", "avahi-daemon", check=False).returncode == 0
        return self.root("systemctl", "is-active", "--quiet", "multi-user.target", check=False).returncode == 0

    # Commands

    def command(self, *command: str, user: str = "root", environment: dict[str, str] | None = None) -> list[str]:
        """The command line of this machine by which something is run in it, with nothing but this in its environment."""
        spaces = ["--mount", "--pid", "--uts", "--ipc", "--net", *["--cgroup"] * self.systemd]
        who = [] if user == "root" else ["setpriv", "--reuid", user, "--regid", user, "--init-groups"]
        values = {"PATH": PATH, "HOME": "/root" if user == "root" else f"/home/{user}"} | (environment or {})
        return ["nsenter", f"--target={self.first}", *spaces, "--wd=/", "--", "env", "-i",
                *(f"{name}={value}" for name, value in values.items()), *who, *command]

    def root(self, *command: str, check: bool = True, timeout: float = PATIENCE) -> subprocess.CompletedProcess[str]:
        """Runs something as root."""
        return self._run(self.command(*command), check, timeout)

    def run(self, *command: str, check: bool = True, timeout: float = PATIENCE) -> subprocess.CompletedProcess[str]:
        """Runs something as the user who has logged in would."""
        return self._run(self.command(*command, user=USER, environment=self.environment), check, timeout)

    def launch(self, application_id: str) -> None:
        """Starts a program with windows as a launcher of the desktop does."""
        self.run("gdbus", "call", "--session", "--dest", application_id, "--object-path", "/" + application_id.replace(".", "/"),
                 "--method", "org.freedesktop.Application.Activate", "{}")

    @staticmethod
    def _run(command: list[str], check: bool, timeout: float) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(["setpriv", "--pdeathsig", "KILL", *command], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=timeout)
        assert not check or done.returncode == 0, f"{command[-6:]}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    @property
    def environment(self) -> dict[str, str]:
        """That of a program that the user starts."""
        lines = self.root("cat", f"{RUNTIME}/environment").stdout.splitlines()
        return dict(line.partition("=")[::2] for line in lines if "=" in line)

    def processes(self, user: str = USER) -> list[str]:
        """The programs of a user that run."""
        return self.root("pgrep", "--uid", user, "--runstates", "RSDTtWXIL", "--list-full", check=False).stdout.splitlines()

    def running(self, program: str) -> list[str]:
        """The processes of an installed program, as this machine's tools tell."""
        return [line for line in self.processes() if len(line.split()) > 1 and line.split()[1] == program]

    # Sessions

    def log_in(self) -> None:
        """Begins a session of the user, as the one with the display."""
        if self.systemd:
            self.root("systemctl", "start", "desktop.service")
            target = ("systemctl", "--user", "is-active", "--quiet", "desktop.target")
            wait(lambda: self.root("test", "-e", f"{RUNTIME}/environment", check=False).returncode == 0
                 and self.run(*target, check=False).returncode == 0, "a session", PATIENCE)
            return
        command = self.command("dbus-run-session", "--", "/usr/local/bin/without-systemd", user=USER, environment={
            "XDG_RUNTIME_DIR": RUNTIME, "USER": USER})
        with open(self.folder / "session.log", "wb") as log:
            self.session = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *command], stdin=subprocess.PIPE, stdout=log,
                                            stderr=log, text=True)
        wait(lambda: self.root("test", "-e", f"{RUNTIME}/environment", check=False).returncode == 0, "a session", PATIENCE)

    def log_out(self) -> None:
        """Ends the session. What the user has running is given the time that logind gives it."""
        if self.session:
            assert self.session.stdin
            self.session.stdin.close()
            self.session.wait(PATIENCE)
            self.root("rm", "-f", f"{RUNTIME}/environment")
            self.session = None
        else:
            self.root("systemctl", "stop", "desktop.service")

    def wait_until_empty(self) -> None:
        """Waits until the user has nothing running any more, which logind sees to after ten seconds where there is one."""
        try:
            wait(lambda: not self.processes(), f"{self.name} to have no processes of the user", PATIENCE)
        except AssertionError as error:
            raise AssertionError(f"{error}; it has {self.processes()}") from None

    def journal(self) -> str:
        """What the programs of the user have logged."""
        if not self.systemd:
            return (self.folder / "session.log").read_text(errors="replace")
        return self.root("journalctl", "--no-pager", "--output=short-precise", f"_UID={UID}", check=False).stdout

    def remove(self) -> None:
        """Ends everything in it at once, as a power cut does, and removes what it has changed."""
        if self._group and self._group.exists():
            (self._group / "cgroup.kill").write_text("1")
        self.process.kill()
        self.process.wait()
        if self._group:
            groups = sorted((path for path in self._group.rglob("*") if path.is_dir()), reverse=True)
            for group in [*groups, self._group]:
                wait(lambda: self._is_gone(group), f"the end of {group}")
        shutil.rmtree(self.folder, ignore_errors=True)

    @staticmethod
    def _is_gone(group: Path) -> bool:
        try:
            group.rmdir()
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return True
