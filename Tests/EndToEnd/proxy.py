# SPDX-License-Identifier: LGPL-2.1-or-later
"""A network between two bridges that fails when told to."""

from __future__ import annotations

import selectors
import socket
import struct
import threading
import time
from dataclasses import dataclass, field

APPLICATION_DATA = 23
HEADER = 5
GREETING = 24


@dataclass
class Direction:
    """The bytes of one connection in one direction, taken apart into TLS records (RFC 8446, section 5.1), after what
    the two sides say before TLS."""

    source: socket.socket
    sink: socket.socket
    is_knock: bool
    is_tls: bool = False
    pending: bytes = b""
    open: bool = True
    records: list[bytes] = field(default_factory=list)

    def take(self, data: bytes) -> None:
        self.pending += data
        if not self.is_tls:
            known = len(self.pending) >= 2
            length = (18 + 16 * self.pending[1] if known else 18) if self.is_knock else GREETING
            if not known or len(self.pending) < length:
                return
            self.records.append(self.pending[:length])
            self.pending = self.pending[length:]
            self.is_tls = True
        while len(self.pending) >= HEADER:
            end = HEADER + int.from_bytes(self.pending[3:5], "big")
            if len(self.pending) < end:
                return
            self.records.append(self.pending[:end])
            self.pending = self.pending[end:]


class Proxy:
    """Passes connections on to a port of this machine, record by record, until the fault strikes that it is armed with.

    The fault strikes once, at the record of application data that has this number from then on, counted over both
    directions: "cut" ends the connection before the record is passed on, "reset" does so with a reset, "delay" passes
    it on two seconds late.
    """

    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        self.target, self.target_host = port, host
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        self.fault: tuple[str, int] | None = None
        # How many such records there were.
        self.seen = 0
        self.struck = threading.Event()
        self._stopping, self._stop = socket.socketpair()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self.listener, selectors.EVENT_READ)
        self._selector.register(self._stopping, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def arm(self, kind: str, number: int) -> None:
        """Arms the fault that strikes at the record with this number."""
        self.seen, self.fault = 0, (kind, number)

    def close(self) -> None:
        self._stop.close()
        self._thread.join()

    def _run(self) -> None:
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._stopping:
                    self._end()
                    return
                if key.fileobj is self.listener:
                    self._accept()
                else:
                    self._read(key.data)

    def _end(self) -> None:
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()
        self._selector.close()

    def _accept(self) -> None:
        client, _ = self.listener.accept()
        try:
            server = socket.create_connection((self.target_host, self.target), 5)
        except OSError:
            client.close()
            return
        for end in (client, server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for source, sink in ((client, server), (server, client)):
            self._selector.register(source, selectors.EVENT_READ, Direction(source, sink, source is client))

    def _read(self, direction: Direction) -> None:
        if not direction.open:
            return
        try:
            data = direction.source.recv(1 << 16)
        except OSError:
            data = b""
        if not data:
            self._drop(direction)
            return
        direction.take(data)
        records, direction.records = direction.records, []
        for record in records:
            if not self._pass(direction, record):
                return

    def _pass(self, direction: Direction, record: bytes) -> bool:
        """Passes a record on; false if the connection is gone after that."""
        kind = self._fault_at(record)
        if kind == "delay":
            time.sleep(2)
        elif kind:
            self._drop(direction, resets=kind == "reset")
            return False
        try:
            direction.sink.sendall(record)
        except OSError:
            self._drop(direction)
            return False
        return True

    def _fault_at(self, record: bytes) -> str:
        if record[0] != APPLICATION_DATA:
            return ""
        self.seen += 1
        if self.fault is None:
            return ""
        kind, number = self.fault
        if self.seen <= number:
            return ""
        self.fault = None
        self.struck.set()
        return kind

    def _drop(self, direction: Direction, resets: bool = False) -> None:
        for end in (direction.source, direction.sink):
            try:
                data = self._selector.unregister(end).data
            except (KeyError, ValueError):
                continue
            data.open = False
            if resets:
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            end.close()
