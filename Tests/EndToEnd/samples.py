# SPDX-License-Identifier: LGPL-2.1-or-later
"""Values for UserInfo: every type that is allowed, and those that are not."""

from __future__ import annotations

import time

from gi.repository import GLib

IN_AN_HOUR = time.time_ns() // 1000 + 3_600_000_000


def date(microseconds: int) -> GLib.Variant:
    return tagged("date", GLib.Variant("x", microseconds))


def byte_array(data: bytes) -> GLib.Variant:
    """An array of bytes, which GLib.Variant itself would make one by one."""
    return GLib.Variant.new_from_bytes(GLib.VariantType("ay"), GLib.Bytes.new(data), True)


def tagged(tag: str, value: GLib.Variant) -> GLib.Variant:
    return GLib.Variant("(sv)", (tag, value))


EVERY_TYPE: dict[str, GLib.Variant] = {
    "string": GLib.Variant("s", "Grüße, 世界, 👋, and \"quotes\"\n\ttoo"),
    "empty string": GLib.Variant("s", ""),
    "true": GLib.Variant("b", True),
    "false": GLib.Variant("b", False),
    "byte": GLib.Variant("y", 255),
    "int16": GLib.Variant("n", -(2**15)),
    "uint16": GLib.Variant("q", 2**16 - 1),
    "int32": GLib.Variant("i", -(2**31)),
    "uint32": GLib.Variant("u", 2**32 - 1),
    "int64": GLib.Variant("x", -(2**63)),
    "uint64": GLib.Variant("t", 2**64 - 1),
    "double": GLib.Variant("d", 0.1),
    "negative zero": GLib.Variant("d", -0.0),
    "infinity": GLib.Variant("d", float("inf")),
    "not a number": GLib.Variant("d", float("nan")),
    "bytes": GLib.Variant("ay", bytes(range(256))),
    "no bytes": GLib.Variant("ay", b""),
    "strings": GLib.Variant("as", ["one", "", "three"]),
    "no strings": GLib.Variant("as", []),
    "booleans": GLib.Variant("ab", [True, False]),
    "doubles": GLib.Variant("ad", [1.5, -2.25]),
    "uint64s": GLib.Variant("at", [0, 2**64 - 1]),
    "arrays of arrays": GLib.Variant("aai", [[1, 2], [], [3]]),
    "arrays of bytes": GLib.Variant("aay", [b"\x00\x01", b""]),
    "dictionary of strings": GLib.Variant("a{ss}", {"a": "b", "": "empty key"}),
    "dictionary of numbers": GLib.Variant("a{sd}", {"pi": 3.14159}),
    "dictionary of arrays": GLib.Variant("a{sas}", {"list": ["x", "y"], "none": []}),
    "dictionary of anything": GLib.Variant("a{sv}", {
        "number": GLib.Variant("u", 7),
        "nested": GLib.Variant("a{sv}", {"deeper": GLib.Variant("a{sv}", {})}),
        "date": date(0),
    }),
    "dictionary of dictionaries": GLib.Variant("a{sa{sx}}", {"outer": {"inner": -1}}),
    "empty dictionary": GLib.Variant("a{sv}", {}),
    "array of anything": GLib.Variant("av", [GLib.Variant("s", "x"), GLib.Variant("y", 1), date(1)]),
    "array of dictionaries": GLib.Variant("aa{sv}", [{"k": GLib.Variant("b", True)}, {}]),
    "variant": GLib.Variant("v", GLib.Variant("q", 9)),
    "variant in a variant": GLib.Variant("v", GLib.Variant("v", GLib.Variant("s", "inner"))),
    "date": date(1_700_000_000_123_456),
    "date before 1970": date(-4_866_000_000_000_000),
    "url": tagged("url", GLib.Variant("s", "https://example.com/ünï?q=1#f")),
    "set": tagged("set", GLib.Variant("av", [GLib.Variant("s", "a"), GLib.Variant("i", 1), date(2)])),
    "empty set": tagged("set", GLib.Variant("av", [])),
    "null": tagged("null", GLib.Variant("b", False)),
    "array of dates": GLib.Variant("a(sv)", [("date", GLib.Variant("x", 1)), ("date", GLib.Variant("x", 2))]),
    "dictionary of dates": GLib.Variant("a{s(sv)}", {"one": ("date", GLib.Variant("x", 1))}),
    "a key with spaces, ünïcode and = ;": GLib.Variant("s", "x"),
}

NOT_ALLOWED: dict[str, GLib.Variant] = {
    "an object path": GLib.Variant("o", "/a"),
    "a signature": GLib.Variant("g", "s"),
    "an array of object paths": GLib.Variant("ao", ["/a"]),
    "an empty array of object paths": GLib.Variant("ao", []),
    "an object path in a dictionary": GLib.Variant("a{sv}", {"x": GLib.Variant("o", "/a")}),
    "a signature in a variant": GLib.Variant("v", GLib.Variant("g", "s")),
    "an unknown tag": tagged("colour", GLib.Variant("s", "red")),
    "a date of another type": tagged("date", GLib.Variant("t", 1)),
    "a URL of another type": tagged("url", GLib.Variant("i", 1)),
    "a set of another type": tagged("set", GLib.Variant("as", ["a"])),
    "a set with an object path": tagged("set", GLib.Variant("av", [GLib.Variant("o", "/a")])),
    "a null that is true": tagged("null", GLib.Variant("b", True)),
    "another structure": GLib.Variant("(ss)", ("date", "x")),
    "a structure of three": GLib.Variant("(svs)", ("date", GLib.Variant("x", 1), "more")),
    "an array of structures": GLib.Variant("a(ii)", [(1, 2)]),
    "a dictionary with numbers as keys": GLib.Variant("a{us}", {1: "one"}),
    "an empty dictionary with numbers as keys": GLib.Variant("a{us}", {}),
    "a dictionary with object paths as keys": GLib.Variant("a{os}", {"/a": "x"}),
}


def nested(depth: int) -> dict[str, GLib.Variant]:
    """A UserInfo whose containers nest so deep, itself being 1."""
    # Each dictionary and each variant counts: what is left over is an array.
    value = GLib.Variant("s", "bottom") if depth % 2 == 0 else GLib.Variant("as", ["bottom"])
    for _level in range((depth - 2) // 2 if depth % 2 == 0 else (depth - 3) // 2):
        value = GLib.Variant("a{sv}", {"deeper": value})
    return {"deep": value}


def arrays(depth: int) -> GLib.Variant:
    """Arrays in arrays, so deep, with a string in the innermost."""
    value = ["bottom"]
    for _level in range(depth - 1):
        value = [value]
    return GLib.Variant("a" * depth + "s", value)
