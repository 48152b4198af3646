#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs dbus-broker at a path, as systemd would: its launcher is given a socket, and wants to write to the journal.

Where there is none, as in a container, there is one for this program alone, which only root can have; nobody reads it.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import sys

JOURNAL = "/run/systemd/journal/socket"
FIRST = 3
CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 0x40000
CONFIGURATION = "/usr/share/dbus-1/session.conf"


def done(name: str, result: int) -> None:
    if result:
        sys.exit(f"dbus_broker.py: {name}: {os.strerror(ctypes.get_errno())}")


def have_journal() -> None:
    """A socket that takes what is logged, in a mount namespace of this process."""
    libc = ctypes.CDLL(None, use_errno=True)
    done("unshare", libc.unshare(CLONE_NEWNS))
    done("mount", libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None))
    done("mount", libc.mount(b"tmpfs", b"/run", b"tmpfs", 0, None))
    os.makedirs(os.path.dirname(JOURNAL))
    journal = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    journal.bind(JOURNAL)
    # It is to stay open, out of the way of what the launcher is given.
    os.set_inheritable(fcntl.fcntl(journal.detach(), fcntl.F_DUPFD, 100), True)


def main(path: str) -> None:
    if not os.path.exists(JOURNAL):
        have_journal()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(128)
    if listener.fileno() != FIRST:
        os.dup2(listener.fileno(), FIRST)
    os.set_inheritable(FIRST, True)
    os.environ |= {"LISTEN_FDS": "1", "LISTEN_PID": str(os.getpid()), "DBUS_SESSION_BUS_ADDRESS": f"unix:path={path}"}
    os.execvp("dbus-broker-launch", ["dbus-broker-launch", "--scope", "user", "--config-file", CONFIGURATION])


if __name__ == "__main__":
    main(*sys.argv[1:])
