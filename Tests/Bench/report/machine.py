# SPDX-License-Identifier: LGPL-2.1-or-later
"""What machine figures were measured on."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import time
from pathlib import Path


def first(path: str, start: str) -> str:
    """What follows the colon, or the equals sign, in the first line of a file that begins so."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    return next((line.partition("=" if "=" in line else ":")[2].strip().strip('"') for line in lines
                 if line.startswith(start)), "")


def version(*command: str) -> str:
    """The last word of the first line that a program says of itself."""
    if not shutil.which(command[0]):
        return "not installed"
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split("\n")[0]
    return said.split()[-1] if said.split() else "unknown"


def describe(load: str, is_quick: bool) -> dict[str, str]:
    memory = first("/proc/meminfo", "MemTotal").split()
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "processor": first("/proc/cpuinfo", "model name") or platform.machine(),
        "processors": str(len(os.sched_getaffinity(0))),
        "memory": f"{int(memory[0]) / 2**20:.0f} GiB" if memory else "unknown",
        "system": first("/etc/os-release", "PRETTY_NAME=") or platform.system(),
        "kernel": platform.release(),
        "dbus-daemon": version("dbus-daemon", "--version"),
        "dbus-broker": version("dbus-broker", "--version"),
        "KDE Connect": version("kdeconnect-cli", "--version"),
        "load at the beginning": load,
        "samples": "few (--quick)" if is_quick else "all",
    }
