# SPDX-License-Identifier: LGPL-2.1-or-later
"""D-Bus messages as a link carries them, and what a device does with them: written from docs/protocol.md and the D-Bus
specification, without a line of Handoff, so that the vectors are read by somebody else."""

from __future__ import annotations

import re
import struct
from typing import Any

NUMBERS = {"y": "B", "b": "I", "n": "h", "q": "H", "i": "i", "u": "I", "x": "q", "t": "Q", "d": "d"}
ALIGNMENTS = {"y": 1, "g": 1, "v": 1, "n": 2, "q": 2, "b": 4, "i": 4, "u": 4, "s": 4, "o": 4, "a": 4, "x": 8, "t": 8, "d": 8,
              "(": 8, "{": 8}
TYPES = {1: "call", 2: "reply", 3: "error", 4: "signal"}
FIELDS = {1: ("path", "o"), 2: ("interface", "s"), 3: ("member", "s"), 4: ("error", "s"), 5: ("replySerial", "u"),
          6: ("destination", "s"), 7: ("sender", "s"), 8: ("signature", "g"), 9: ("descriptors", "u")}
NEEDED = {"call": {"path", "member"}, "reply": {"replySerial"}, "error": {"replySerial", "error"},
          "signal": {"path", "member", "interface"}}
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)+")
MEMBER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
PATH = re.compile(r"/|(/[A-Za-z0-9_]+)+")


class Malformed(Exception):
    """It is no message, or none that may travel over a link."""


def single_types(signature: str) -> list[str]:
    """The complete types that a signature is made of."""
    found = []
    while signature:
        length = length_of_type(signature)
        found.append(signature[:length])
        signature = signature[length:]
    return found


def length_of_type(signature: str, depth: int = 0) -> int:
    first = signature[:1]
    if not first or first not in "ybnqiuxtdsogvah(" or depth > 32:
        raise Malformed(f"no type: {signature}")
    if first == "a" and signature[1:2] == "{":
        if signature[2:3] not in tuple("ybnqiuxtdsog"):
            raise Malformed("no key")
        end = 3 + length_of_type(signature[3:], depth + 1)
        if signature[end:end + 1] != "}":
            raise Malformed("no entry of a dictionary")
        return end + 1
    if first == "a":
        return 1 + length_of_type(signature[1:], depth + 1)
    if first == "(":
        end = 1
        while signature[end:end + 1] != ")":
            end += length_of_type(signature[end:], depth + 1)
        if end == 1:
            raise Malformed("a structure of nothing")
        return end + 1
    return 1


class Reader:
    """Reads values. What is bytes is hexadecimal digits, as in the vectors, and a variant has its type."""

    def __init__(self, data: bytes, order: str, place: int = 0) -> None:
        self.data, self.order, self.place = data, order, place

    def take(self, count: int) -> bytes:
        taken = self.data[self.place:self.place + count]
        if len(taken) != count:
            raise Malformed("it ends too early")
        self.place += count
        return taken

    def align(self, size: int) -> None:
        if self.take(-self.place % size).strip(b"\0"):
            raise Malformed("padding is not zero")

    def text(self, length: int) -> str:
        taken = self.take(length + 1)
        if taken.index(0) != length if 0 in taken else True:
            raise Malformed("no text")
        try:
            return taken[:-1].decode()
        except UnicodeDecodeError as error:
            raise Malformed("no UTF-8") from error

    def number(self, code: str) -> Any:
        self.align(ALIGNMENTS[code])
        [number] = struct.unpack(self.order + NUMBERS[code], self.take(struct.calcsize(NUMBERS[code])))
        if code == "b" and number > 1:
            raise Malformed("neither true nor false")
        return bool(number) if code == "b" else number

    def read(self, signature: str, depth: int = 0) -> Any:
        """A value of one complete type."""
        code = signature[0]
        if depth > 64 or code == "h":
            raise Malformed("too deep, or a descriptor")
        if code in NUMBERS:
            return self.number(code)
        if code in "so":
            text = self.text(self.number("u"))
            if code == "o" and not PATH.fullmatch(text):
                raise Malformed("no path")
            return text
        if code == "g":
            text = self.text(self.take(1)[0])
            single_types(text)
            return text
        if code == "v":
            inner = self.read("g")
            if len(single_types(inner)) != 1:
                raise Malformed("not one value")
            return {"type": inner, "data": self.read(inner, depth + 1)}
        if code == "(":
            self.align(8)
            return [self.read(field, depth + 1) for field in single_types(signature[1:-1])]
        return self.array(signature[1:], depth)

    def array(self, element: str, depth: int) -> Any:
        size = self.number("u")
        self.align(ALIGNMENTS[element[0]])
        end = self.place + size
        if end > len(self.data):
            raise Malformed("an array is too long")
        if element == "y":
            return self.take(size).hex()
        values: Any = {} if element[0] == "{" else []
        while self.place < end:
            if element[0] == "{":
                self.align(8)
                key = self.read(element[1], depth + 2)
                values[key] = self.read(element[2:-1], depth + 2)
            else:
                values.append(self.read(element, depth + 1))
        if self.place != end:
            raise Malformed("an array has another length")
        return values


class Message:
    """A message of which the header is there, whatever else is."""

    def __init__(self, data: bytes) -> None:
        if len(data) < 16 or data[:1] not in (b"l", b"B"):
            raise Malformed("no message")
        self.order = "<" if data[:1] == b"l" else ">"
        self.size, self.serial, fields = struct.unpack(self.order + "III", data[4:16])
        self.kind, self.wants_reply = TYPES.get(data[1], ""), not data[2] & 1
        self.body = 16 + fields + -fields % 8
        self.length, self.data = self.body + self.size, data
        if self.body > 2048:
            raise Malformed("a header of more than 2 KiB")
        if not data[1] or data[3] != 1 or not self.serial:
            raise Malformed("its type, version or serial number is none")
        self.fields = self.read_fields(Reader(data[:16 + fields], self.order, 16))
        if data[16 + fields:self.body].strip(b"\0"):
            raise Malformed("padding is not zero")
        if not NEEDED.get(self.kind, set()) <= set(self.fields):
            raise Malformed("a field of the header is missing")

    def read_fields(self, reader: Reader) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while reader.place < len(reader.data):
            reader.align(8)
            code, value = reader.take(1)[0], reader.read("v")
            name, code_type = FIELDS.get(code, ("", ""))
            if not name:
                continue
            if value["type"] != code_type or name in found:
                raise Malformed("a field is of another type, or there twice")
            found[name] = value["data"]
        for name, form in (("interface", NAME), ("error", NAME), ("member", MEMBER)):
            if name in found and not form.fullmatch(found[name]):
                raise Malformed(f"no {name}")
        if found.get("interface") == "org.freedesktop.DBus.Local":
            raise Malformed("D-Bus reserves that")
        return found

    @property
    def method(self) -> str:
        return f"{self.fields.get('interface')}.{self.fields.get('member')}"

    @property
    def signature(self) -> str:
        return self.fields.get("signature", "")

    def arguments(self) -> list[dict[str, Any]]:
        """The arguments with their types."""
        reader = Reader(self.data[self.body:self.length], self.order)
        found = [{"type": one, "data": reader.read(one)} for one in single_types(self.signature)]
        if reader.place != self.size:
            raise Malformed("the body has another length")
        return found
