# SPDX-License-Identifier: LGPL-2.1-or-later
"""Captures: Ethernet frames in the file format of libpcap, which any network analyser reads."""

from __future__ import annotations

import struct
import time
from dataclasses import dataclass
from pathlib import Path

# Magic number for microseconds, version 2.4, time zone, accuracy, longest frame, Ethernet.
HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
# Seconds, microseconds, length in the file, length on the wire.
RECORD = struct.Struct("<IIII")


@dataclass(frozen=True)
class Frame:
    """A frame and when it was sent, in seconds since the Unix epoch."""

    time: float
    data: bytes


class Capture:
    """A file that frames are added to."""

    def __init__(self, path: str) -> None:
        self._file = open(path, "wb")
        self._file.write(HEADER)

    def add(self, data: bytes) -> None:
        microseconds = time.time_ns() // 1000
        self._file.write(RECORD.pack(*divmod(microseconds, 1_000_000), len(data), len(data)) + data)

    def flush(self) -> None:
        """Lets readers of the file see all that was added."""
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def read(path: Path) -> list[Frame]:
    """The frames of a capture."""
    content = path.read_bytes()
    assert content.startswith(HEADER), f"{path} is not a capture of ours"
    frames = []
    position = len(HEADER)
    while position < len(content):
        seconds, microseconds, length, _ = RECORD.unpack_from(content, position)
        position += RECORD.size
        frames.append(Frame(seconds + microseconds / 1_000_000, content[position:position + length]))
        position += length
    return frames
