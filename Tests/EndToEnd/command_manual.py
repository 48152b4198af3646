# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tables of handoff(1)."""

from __future__ import annotations

import re

from support import SOURCE


def section(title: str) -> str:
    """A section of the page, in roff."""
    text = (SOURCE / "data" / "man" / "handoff.1").read_text()
    return text.partition(f"\n.SH {title}\n")[2].partition("\n.SH ")[0]


def keys() -> dict[str, str]:
    """The keys that commands print with --json, and what stands under each."""
    rows = re.findall(r'^\.TP\n\.BR (\w+) " \((\w+)\)"$', section("JSON"), re.MULTILINE)
    assert len(rows) == len(dict(rows)), "a key is there twice"
    return dict(rows)


def statuses() -> dict[int, list[str]]:
    """The exit statuses, with the names of their failures in JSON."""
    rows = re.findall(r'^\.TP\n\.BR? (\d+)(?: "? ?\(([\w, ]+)\)"?)?$', section("EXIT STATUS"), re.MULTILINE)
    return {int(number): [name.strip() for name in names.split(",") if name.strip()] for number, names in rows}
