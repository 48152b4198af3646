# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random values of all types that UserInfo may hold."""

from __future__ import annotations

import random
import struct
from typing import Any

from gi.repository import GLib

INTEGERS = {"y": (0, 2**8 - 1), "n": (-(2**15), 2**15 - 1), "q": (0, 2**16 - 1), "i": (-(2**31), 2**31 - 1),
            "u": (0, 2**32 - 1), "x": (-(2**63), 2**63 - 1), "t": (0, 2**64 - 1)}
BASIC = "bds" + "".join(INTEGERS)
ALPHABET = "aZ09 =;[]{}<>'\"\\/%\t\n\x01\x7f\u0085äßçé漢字—\u200f\u202e\ufeff\U0001f44b\U0010fffd"


class RandomValues:
    """Values that depend on the seed alone."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def user_info(self, count: int) -> dict[str, GLib.Variant]:
        """This many entries, each of a type of its own."""
        return {f"{number} {self._string()}": self.variant(6) for number in range(count)}

    def variant(self, depth: int) -> GLib.Variant:
        signature = self._signature(depth)
        return GLib.Variant(signature, self._value(signature, depth))

    def _signature(self, depth: int) -> str:
        """A single complete type, of at most so many containers within each other."""
        if depth <= 1 or self.random.random() < 0.4:
            return self.random.choice(BASIC)
        kind = self.random.choice(("array", "dictionary", "variant", "tagged"))
        if kind == "array":
            return "a" + self._signature(depth - 1)
        if kind == "dictionary":
            return "a{s" + self._signature(depth - 1) + "}"
        return "v" if kind == "variant" else "(sv)"

    def _value(self, signature: str, depth: int) -> Any:
        """What the constructor of GLib.Variant takes for it."""
        if signature == "v":
            return self.variant(depth - 1)
        if signature == "(sv)":
            return self._tagged(depth - 1)
        if signature.startswith("a{s"):
            inner = signature[3:-1]
            return {self._string(): self._value(inner, depth - 1) for _ in range(self._count())}
        if signature == "ay":
            return self.random.randbytes(self._count() * 7)
        if signature.startswith("a"):
            return [self._value(signature[1:], depth - 1) for _ in range(self._count())]
        return self._basic(signature)

    def _basic(self, signature: str) -> Any:
        if signature == "b":
            return self.random.random() < 0.5
        if signature == "s":
            return self._string()
        if signature == "d":
            return struct.unpack(">d", self.random.randbytes(8))[0]
        low, high = INTEGERS[signature]
        return self.random.choice((low, high, 0, self.random.randint(low, high)))

    def _tagged(self, depth: int) -> tuple[str, GLib.Variant]:
        tag = self.random.choice(("date", "url", "set", "null"))
        if tag == "date":
            return tag, GLib.Variant("x", self._basic("x"))
        if tag == "url":
            return tag, GLib.Variant("s", f"https://example.com/{self.random.randrange(10**6)}")
        if tag == "null":
            return tag, GLib.Variant("b", False)
        return tag, GLib.Variant("av", [self.variant(depth - 2) for _ in range(self._count())])

    def _string(self) -> str:
        return "".join(self.random.choice(ALPHABET) for _ in range(self.random.randrange(12)))

    def _count(self) -> int:
        return self.random.choice((0, 1, 1, 2, 3, 5))
