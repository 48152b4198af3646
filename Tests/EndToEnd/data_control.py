# SPDX-License-Identifier: LGPL-2.1-or-later
"""The clipboard of sway and KWin as a program without a window has it, by the bare protocol of Wayland: no library is between."""

from __future__ import annotations

import os
import socket
import struct
import threading
import time
from collections.abc import Callable
from typing import Any

from gi.repository import GLib
from clipboard_orders import PATIENCE, Client, give_up, in_thread, read_all, write_all


class DataControlClient(Client):
    """By zwlr_data_control_manager_v1. Each message is the number of an object, its own number and size, and arguments."""

    def __init__(self) -> None:
        super().__init__()
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(os.path.join(os.environ["XDG_RUNTIME_DIR"], os.environ["WAYLAND_DISPLAY"]))
        self.lock = threading.Lock()
        self.received = b""
        self.descriptors: list[int] = []
        # What is called when a message comes: an object's, by its number and that of the message.
        self.handlers: dict[tuple[int, int], Callable[[bytes], None]] = {(1, 0): self._failed}
        self.last_id = 1
        self.offers: dict[int, list[str]] = {}
        self.offer = self.source = 0
        self.globals: dict[str, int] = {}
        GLib.io_add_watch(self.socket.fileno(), GLib.PRIORITY_DEFAULT, GLib.IOCondition.IN | GLib.IOCondition.HUP, self._read)
        self.has_begun = threading.Event()
        in_thread(self._begin)

    def _begin(self) -> None:
        self.registry = self._new((0, self._announced))
        self._send(1, 1, self.registry)
        end = time.monotonic() + PATIENCE
        # A compositor that starts may take clients before it has all.
        while not {"wl_seat", "zwlr_data_control_manager_v1"} <= self.globals.keys():
            if time.monotonic() > end:
                give_up(f"The compositor has no zwlr_data_control_manager_v1: {self.globals}")
            self._round_trip()
        seat, self.manager = self._bind("wl_seat"), self._bind("zwlr_data_control_manager_v1")
        self.device = self._new((0, self._offered), (1, self._selected))
        self._send(self.manager, 1, self.device, seat)
        self._round_trip()
        self.has_begun.set()

    # Messages

    def _new(self, *handlers: tuple[int, Callable[[bytes], None]]) -> int:
        """The number of a new object, whose messages are handled."""
        with self.lock:
            self.last_id += 1
            self.handlers |= {(self.last_id, number): handler for number, handler in handlers}
            return self.last_id

    def _send(self, target: int, number: int, *arguments: int | str, descriptor: int | None = None) -> None:
        body = b"".join(struct.pack("=I", argument) if isinstance(argument, int) else self._text(argument)
                        for argument in arguments)
        message = struct.pack("=II", target, len(body) + 8 << 16 | number) + body
        with self.lock:
            socket.send_fds(self.socket, [message], [] if descriptor is None else [descriptor])

    @staticmethod
    def _text(text: str) -> bytes:
        data = text.encode() + b"\0"
        return struct.pack("=I", len(data)) + data + bytes(-len(data) % 4)

    @staticmethod
    def _text_in(data: bytes) -> str:
        return data[4:3 + struct.unpack_from("=I", data)[0]].decode(errors="replace")

    def _read(self, *_: Any) -> bool:
        data, descriptors, _, _ = socket.recv_fds(self.socket, 1 << 16, 28)
        if not data:
            # It has ended, and so does this.
            os._exit(0)
        self.received += data
        self.descriptors += descriptors
        while len(self.received) >= 8:
            target, word = struct.unpack_from("=II", self.received)
            if len(self.received) < word >> 16:
                break
            body, self.received = self.received[8:word >> 16], self.received[word >> 16:]
            if handler := self.handlers.get((target, word & 0xffff)):
                handler(body)
        return True

    def _round_trip(self) -> None:
        """Waits until all that was sent has been dealt with."""
        done = threading.Event()
        self._send(1, 0, self._new((0, lambda _: done.set())))
        if not done.wait(PATIENCE):
            raise RuntimeError("the compositor does not answer")

    def _bind(self, interface: str) -> int:
        number = self._new()
        self._send(self.registry, 0, self.globals[interface], interface, 1, number)
        return number

    # What comes

    @staticmethod
    def _failed(body: bytes) -> None:
        give_up(f"The compositor complains: {body!r}")

    def _announced(self, body: bytes) -> None:
        self.globals.setdefault(self._text_in(body[4:]), struct.unpack_from("=I", body)[0])

    def _offered(self, body: bytes) -> None:
        number, = struct.unpack("=I", body)
        kinds = self.offers[number] = []
        self.handlers[number, 0] = lambda body: kinds.append(self._text_in(body))

    def _selected(self, body: bytes) -> None:
        self.changes += 1
        old, (self.offer,) = self.offer, struct.unpack("=I", body)
        if old and old != self.offer:
            self.offers.pop(old)
            self._send(old, 1)

    def _wanted(self, body: bytes) -> None:
        in_thread(write_all, self.descriptors.pop(0), self.give(self._text_in(body)), self.slow)

    def _cancelled(self, source: int) -> None:
        # KWin says it twice of a source that its own client has replaced.
        if not self.handlers.pop((source, 1), None):
            return
        self._send(source, 1)
        if source == self.source:
            self.source, self.is_owner = 0, False

    # Orders

    def types(self) -> list[str]:
        self.has_begun.wait(PATIENCE)
        self._round_trip()
        return list(self.offers.get(self.offer, []))

    def paste(self, kind: str, timeout: float) -> bytes | None:
        if kind not in self.types():
            return None
        read, write = os.pipe()
        self._send(self.offer, 0, kind, descriptor=write)
        os.close(write)
        return read_all(read, timeout)

    def own(self) -> None:
        self.has_begun.wait(PATIENCE)
        source = self._new((0, self._wanted))
        self.handlers[source, 1] = lambda _: self._cancelled(source)
        self._send(self.manager, 0, source)
        for kind in self.contents:
            self._send(source, 0, kind)
        self.source, self.is_owner = source, True
        self._send(self.device, 0, source)
        self._round_trip()

    def clear(self) -> None:
        self.has_begun.wait(PATIENCE)
        self.is_owner = False
        self._send(self.device, 0, 0)
        self._round_trip()
