# SPDX-License-Identifier: LGPL-2.1-or-later
"""A file system that does not answer."""

from __future__ import annotations

import ctypes
import os
import struct
import threading
from pathlib import Path

LIBC = ctypes.CDLL(None, use_errno=True)
LOOKUP, GETATTR, INIT, ROOT_NODE = 1, 3, 26, 1
HEADER = struct.Struct("IIQQ16x")
FORCED, LAZY = 1, 2


class HangingFiles:
    """A FUSE of which the root directory can be looked at; whoever asks for more waits until it is closed, and cannot be
    killed meanwhile."""

    def __init__(self, place: Path) -> None:
        """Raises OSError if this user or this machine cannot mount it."""
        self.place = place
        place.mkdir()
        self._device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        options = f"fd={self._device},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()}"
        if LIBC.mount(b"hanging", bytes(place), b"fuse", 0, options.encode()) != 0:
            number = ctypes.get_errno()
            os.close(self._device)
            raise OSError(number, os.strerror(number))
        # Set once somebody looks for a file. Others may look at every file system that there is, for hidden files such as
        # .Trash in each.
        self.waiting = threading.Event()
        self._is_open = True
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                request = os.read(self._device, 1 << 20)
            except OSError:
                return
            _, operation, number, node = HEADER.unpack_from(request)
            if operation == INIT:
                self._answer(number, struct.pack("IIIIHHII", 7, 31, 0, 0, 0, 0, 1 << 16, 1).ljust(64, b"\0"))
            elif operation == GETATTR and node == ROOT_NODE:
                attributes = struct.pack("6Q10I", 1, *[0] * 8, 0o40700, 2, os.getuid(), os.getgid(), 0, 4096, 0)
                self._answer(number, struct.pack("QII", 1000, 0, 0) + attributes)
            elif operation == LOOKUP and not request[HEADER.size:].startswith(b"."):
                self.waiting.set()

    def _answer(self, number: int, body: bytes) -> None:
        os.write(self._device, struct.pack("IiQ", 16 + len(body), 0, number) + body)

    def close(self) -> None:
        """All who wait get an error. Harmless when that has happened already."""
        if not self._is_open:
            return
        self._is_open = False
        LIBC.umount2(bytes(self.place), FORCED | LAZY)
        self._thread.join()
        os.close(self._device)
