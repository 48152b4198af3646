# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the programs that use a clipboard for tests have in common: the orders, and content that goes through pipes."""

from __future__ import annotations

import base64
import os
import select
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from typing import Any, NoReturn

# How long whoever manages the clipboard may take to answer.
PATIENCE = 30


def in_thread(function: Callable[..., None], *arguments: Any) -> None:
    threading.Thread(target=function, args=arguments, daemon=True).start()


def give_up(what: str) -> NoReturn:
    """Ends all threads."""
    print(what, file=sys.stderr, flush=True)
    os._exit(1)


def read_all(descriptor: int, timeout: float) -> bytes | None:
    """What comes through a pipe, up to its end."""
    parts: list[bytes] = []
    end = time.monotonic() + timeout
    try:
        while select.select([descriptor], [], [], max(end - time.monotonic(), 0))[0]:
            if not (part := os.read(descriptor, 1 << 16)):
                return b"".join(parts)
            parts.append(part)
        return None
    finally:
        os.close(descriptor)


def write_all(descriptor: int, content: bytes, slow: float = 0) -> bool:
    """Writes into a pipe, as slowly as the other reads and only after so many seconds, and closes it."""
    rest = memoryview(content)
    try:
        time.sleep(slow)
        os.set_blocking(descriptor, True)
        while rest:
            rest = rest[os.write(descriptor, rest[:1 << 20]):]
        return True
    except BrokenPipeError:
        return False
    finally:
        os.close(descriptor)


class Client(ABC):
    """What all have in common. Orders are carried out in a thread of their own, while the main loop serves the desktop."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}
        self.asked: Counter[str] = Counter()
        self.is_owner = False
        # How many seconds it takes until something is given, and whether it is given to the desktop itself, too.
        self.slow, self.eager = 0.0, False
        # How often something came into the clipboard or left it, whoever did that.
        self.changes = 0

    @abstractmethod
    def types(self) -> list[str]:
        """What the content can be had as."""

    @abstractmethod
    def own(self) -> None:
        """Takes the clipboard over, with what is in `contents`."""

    @abstractmethod
    def paste(self, kind: str, timeout: float) -> bytes | None:
        """Reads the content as one type."""

    @abstractmethod
    def clear(self) -> None:
        """Empties the clipboard."""

    def give(self, kind: str) -> bytes:
        self.asked[kind] += 1
        return self.contents.get(kind, b"")

    def carry_out(self, order: dict[str, Any]) -> Any:
        if order["order"] == "state":
            return {"types": self.types(), "owns": self.is_owner, "changes": self.changes, "asked": self.asked}
        if order["order"] == "copy":
            self.contents = {kind: base64.b64decode(content) for kind, content in order["contents"].items()}
            self.asked = Counter()
            self.slow, self.eager = order["slow"], order["eager"]
            self.own()
        elif order["order"] == "paste":
            content = self.paste(order["type"], order["timeout"])
            return None if content is None else base64.b64encode(content).decode()
        elif order["order"] == "clear":
            self.clear()
        return True
