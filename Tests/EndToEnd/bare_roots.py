# SPDX-License-Identifier: LGPL-2.1-or-later
"""Roots of Debian 12 with nothing but what was put into them: made once, kept in layers, and never changed afterwards.

    bare_roots.missing()        # why there can be none here
    bare_roots.bare()           # the layers of the smallest Debian that there is
    bare_roots.desktop()        # … with what a desktop and its tests need
    bare_roots.installed(debs)  # … and these packages, as APT has installed them
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from support import SOURCE, has_all_rights

# A gigabyte that is downloaded once: outside of what is removed after the tests.
FOLDER = Path(os.environ.get("HANDOFF_BARE_ROOTS", SOURCE / "build" / "bare-roots"))
MIRROR = os.environ.get("HANDOFF_DEBIAN_MIRROR", "http://deb.debian.org/debian")
RELEASE = "bookworm"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
USER = "ada"
# What a session consists of, and what tests look at it with.
DESKTOP = (
    "systemd", "systemd-sysv", "libpam-systemd", "dbus", "dbus-user-session", "avahi-daemon", "dex", "chromium", "xvfb",
    "at-spi2-core", "fonts-dejavu-core", "adwaita-icon-theme", "librsvg2-common", "bubblewrap", "xdg-dbus-proxy", "iproute2",
    "procps", "xdotool", "libglib2.0-bin", "python3-gi", "gir1.2-atspi-2.0", "python3-pytest")
# Runs COMMAND in a root made of layers, with the network of this machine, and keeps what it changes in a folder of its own.
CHANGE = """
set -e
mount -t overlay overlay -o "lowerdir=$LOWER,upperdir=$UPPER,workdir=$WORK" "$ROOT"
mount -t proc proc "$ROOT/proc"
mount --rbind /dev "$ROOT/dev"
cp /etc/resolv.conf "$ROOT/etc/resolv.conf"
mkdir -p "$ROOT/var/cache/apt/archives" "$ROOT/mnt"
mount --bind "$ARCHIVES" "$ROOT/var/cache/apt/archives"
[ -z "$GIVEN" ] || mount --bind -o ro "$GIVEN" "$ROOT/mnt"
exec env -i "PATH=$INNER_PATH" DEBIAN_FRONTEND=noninteractive chroot "$ROOT" sh -ec "$COMMAND"
"""
SOURCES = f"""cat >/etc/apt/sources.list <<'END'
deb {MIRROR} {RELEASE} main
deb {MIRROR} {RELEASE}-updates main
deb http://deb.debian.org/debian-security {RELEASE}-security main
END
apt-get -q update
"""
# The system's services are started when the root is booted, and not by their packages.
MAKE_DESKTOP = SOURCES + f"""
printf '#!/bin/sh\\nexit 101\\n' >/usr/sbin/policy-rc.d
chmod +x /usr/sbin/policy-rc.d
apt-get -q install --yes --no-install-recommends {' '.join(DESKTOP)}
rm /usr/sbin/policy-rc.d
useradd --create-home --shell /bin/sh --uid 1000 {USER}
rm -f /etc/hostname /etc/machine-id /var/lib/dbus/machine-id
"""
INSTALL = "apt-get -q install --yes /mnt/*.deb"


def missing() -> str:
    """Why there can be no such root here; empty if there can."""
    if not has_all_rights():
        return "only root can make a Debian of its own: run the tests as root"
    for program in ("debootstrap", "unshare", "nsenter", "setpriv", "ip"):
        if not shutil.which(program, path=PATH):
            return f"there is no {program}: meson-helpers/install-packages test"
    with tempfile.TemporaryDirectory() as folder:
        places = [Path(folder, name) for name in ("lower", "upper", "work", "root")]
        for place in places:
            place.mkdir()
        options = "lowerdir={},upperdir={},workdir={}".format(*places)
        trial = subprocess.run(["unshare", "--mount", "--pid", "--fork", "mount", "-t", "overlay", "overlay", "-o", options,
                                str(places[3])], capture_output=True, text=True)
    if trial.returncode != 0:
        return f"there can be no namespaces with overlays here: {trial.stderr.strip()}"
    if not _is_kept("bare", _bare_recipe()) and not _is_reached():
        return f"{MIRROR} is not reached, from which Debian is to be installed"
    return ""


def _is_reached() -> bool:
    return subprocess.run(["curl", "--silent", "--fail", "--head", "--max-time", "20", "--output", "/dev/null",
                           f"{MIRROR}/dists/{RELEASE}/InRelease"]).returncode == 0


@contextmanager
def locked(name: str) -> Iterator[None]:
    """Only one process of all that run tests does this at a time."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open(FOLDER / f"{name}.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _place(name: str, recipe: str) -> Path:
    return FOLDER / f"{name}-{hashlib.sha256(recipe.encode()).hexdigest()[:12]}"


def _is_kept(name: str, recipe: str) -> bool:
    return (_place(name, recipe) / "complete").exists()


def _layer(name: str, recipe: str, make: Callable[[Path], None]) -> Path:
    """The layer of this recipe, which is made unless it is kept. Layers of the same name by other recipes are removed."""
    place = _place(name, recipe)
    with locked(name):
        if not _is_kept(name, recipe):
            for old in FOLDER.glob(f"{name}-*"):
                shutil.rmtree(old)
            (place / "upper").mkdir(parents=True)
            make(place)
            (place / "complete").touch()
    return place / "upper"


def change(command: str, lowers: list[Path], place: Path, given: Path | None = None, timeout: float = 1200) -> str:
    """Runs a script in a root made of layers, the changes going to the folder `upper` of a place; returns what it said.
    What is given is seen there as /mnt."""
    archives = FOLDER / "archives"
    for folder in (archives / "partial", place / "upper", place / "work", place / "root"):
        folder.mkdir(parents=True, exist_ok=True)
    environment = {
        "PATH": PATH, "LOWER": ":".join(map(str, lowers)), "UPPER": str(place / "upper"), "WORK": str(place / "work"),
        "ROOT": str(place / "root"), "ARCHIVES": str(archives), "GIVEN": str(given or ""), "INNER_PATH": PATH,
        "COMMAND": command}
    done = subprocess.run(
        ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", CHANGE],
        env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout)
    assert done.returncode == 0, f"{command}\nfailed:\n{done.stdout[-6000:]}"
    return done.stdout


def _bare_recipe() -> str:
    return f"{MIRROR} {RELEASE}"


def bare() -> list[Path]:
    """The smallest Debian that there is."""
    def make(place: Path) -> None:
        done = subprocess.run(["debootstrap", "--variant=minbase", RELEASE, str(place / "upper"), MIRROR],
                              env={"PATH": PATH}, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=1200)
        assert done.returncode == 0, f"debootstrap failed:\n{done.stdout[-4000:]}{done.stderr[-4000:]}"

    return [_layer("bare", _bare_recipe(), make)]


def desktop() -> list[Path]:
    """A Debian with what a desktop and its tests need, upper layers first."""
    lowers = bare()
    return [_layer("desktop", MAKE_DESKTOP, lambda place: change(MAKE_DESKTOP, lowers, place) and None), *lowers]


def installed(packages: list[Path]) -> list[Path]:
    """A desktop on which APT has installed these packages as files, upper layers first."""
    lowers = desktop()
    contents = hashlib.sha256(b"".join(hashlib.sha256(package.read_bytes()).digest() for package in packages)).hexdigest()

    def make(place: Path) -> None:
        given = place / "given"
        given.mkdir()
        for package in packages:
            shutil.copy(package, given)
        change(INSTALL, lowers, place, given)

    return [_layer("installed", f"{MAKE_DESKTOP} {INSTALL} {contents}", make), *lowers]
