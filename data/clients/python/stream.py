#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""More than a state can hold: stream.py FILE offers a file, and stream.py alone prints what is continued from elsewhere."""

import os
import socket
import struct
import sys
import threading

from gi.repository import GLib
import handoff

TYPE = "org.example.Stream.read"


def send(path: str, stream: socket.socket) -> None:
    # The length comes first: if this program dies in between, its end is no other than that of a whole file.
    with stream, open(path, "rb") as file:
        size = os.stat(file.fileno()).st_size
        stream.sendall(struct.pack(">Q", size))
        stream.sendfile(file, count=size or None)


def offer(path: str) -> None:
    activity = handoff.UserActivity(TYPE, title=path)
    activity.supports_continuation_streams = True
    activity.on_stream = lambda _activity, stream: threading.Thread(target=send, args=(path, stream), daemon=True).start()
    activity.become_current()


def receive(stream: socket.socket, activity: handoff.UserActivity) -> None:
    with stream:
        stream.shutdown(socket.SHUT_WR)
        with stream.makefile("rb") as incoming:
            try:
                head = incoming.read(8)
                left = struct.unpack(">Q", head)[0] if len(head) == 8 else 1
                while left and (some := incoming.read(min(left, 65536))):
                    sys.stdout.buffer.write(some)
                    left -= len(some)
            except ConnectionResetError:
                left = 1
        if left:
            print("It broke off.", file=sys.stderr)
        sys.stdout.flush()
    # The other device need not keep anything for it any longer.
    GLib.idle_add(activity.invalidate)


def go_on(activity: handoff.UserActivity, _device: handoff.Device) -> bool:
    def opened(stream: socket.socket | None, error: handoff.HandoffError | None) -> None:
        if stream is None:
            print(f"There is no stream: {error}", file=sys.stderr)
        else:
            threading.Thread(target=receive, args=(stream, activity), daemon=True).start()

    activity.continuation_stream(opened)
    return True


application = handoff.HandoffApplication("org.example.Stream", [TYPE])
application.on_continue = go_on
application.start()
if len(sys.argv) > 1:
    offer(sys.argv[1])
GLib.MainLoop().run()
