# SPDX-License-Identifier: LGPL-2.1-or-later
"""A program that opens as many sockets to the broker as it may, and writes to them what it can: flooding.py ADDRESS WHAT.

WHAT is "leave" (until nothing more is taken, and then it leaves), "stay" (on and on, and it reads the answers) or "pace" (the
same, but each call only once the one before has been taken).
It says "ready", and begins with the next line of its standard input.
"""

from __future__ import annotations

import fcntl
import os
import select
import socket
import sys
import termios

from gi.repository import Gio
from buses import BUS, ROOT, Session
from opened import open_socket

SOCKETS = 4
CALLS_AT_ONCE = 400


def calls() -> bytes:
    call = Gio.DBusMessage.new_method_call(None, ROOT, f"{BUS}.Peer", "GetMachineId")
    call.set_serial(7)
    return call.to_blob(Gio.DBusCapabilityFlags.NONE) * CALLS_AT_ONCE


def fill(end: socket.socket, content: bytes) -> None:
    try:
        while True:
            end.send(content)
    except BlockingIOError:
        pass


def go_on(ends: list[socket.socket], content: bytes) -> None:
    places = dict.fromkeys(ends, 0)
    while True:
        readable, writable, _ = select.select(ends, ends, [])
        for end in readable:
            if not end.recv(1 << 16):
                return
        for end in writable:
            place = places[end]
            places[end] = (place + end.send(content[place:place + 8192])) % len(content)


def pace(ends: list[socket.socket], call: bytes) -> None:
    while True:
        for end in ends:
            if fcntl.ioctl(end, termios.TIOCOUTQ, bytes(4)) == bytes(4):
                end.send(call)
            try:
                end.recv(1 << 16)
            except BlockingIOError:
                pass


def main() -> None:
    sessions = [Session(sys.argv[1]) for _ in range(SOCKETS)]
    ends = [socket.socket(fileno=open_socket(session)) for session in sessions]
    for end in ends:
        end.setblocking(False)
    print("ready", flush=True)
    sys.stdin.readline()
    if sys.argv[2] == "stay":
        go_on(ends, calls())
    if sys.argv[2] == "pace":
        pace(ends, calls()[:len(calls()) // CALLS_AT_ONCE])
    for end in ends:
        fill(end, calls())
    # Without leaving the bus first.
    os._exit(0)


if __name__ == "__main__":
    main()
