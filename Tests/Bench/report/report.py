#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows what meson-helpers/bench has measured, compares it, and writes it down."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import NoReturn

from chart import chart
from document import with_measured
from figures import compared, from_json, read_rows, table, to_json
from machine import describe

LEGEND = """
A ratio is to what was measured in turn with it, and is the median of the blocks'; the aim is for it where there is one.
How to read the figures is in docs/performance.md."""


def fail(message: str) -> NoReturn:
    sys.exit(f"bench: {message}")


def former(path: str) -> list:
    try:
        return from_json(json.loads(Path(path).read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        fail(f"{path} cannot be compared with: {error}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", help="what was measured, as the benchmark writes it")
    parser.add_argument("--load", default="unknown", help="the load of the machine when this began")
    parser.add_argument("--quick", action="store_true", help="there were few samples")
    parser.add_argument("--json", metavar="FILE", help="writes a report for programs")
    parser.add_argument("--compare", metavar="FILE", help="shows what differs from such a report")
    parser.add_argument("--document", metavar="FOLDER", help="writes performance.md, .svg and .json there")
    options = parser.parse_args()
    # What it is compared with may be what is written next.
    old = former(options.compare) if options.compare else None
    rows = read_rows(Path(options.rows).read_text(encoding="utf-8"))
    machine = describe(options.load, options.quick)
    report = json.dumps(to_json(rows, machine), indent=1, ensure_ascii=False) + "\n"
    print(table(rows))
    print(LEGEND)
    print(f"The machine's load was {options.load} when this began, on {machine['processors']} processors: the busier, the"
          " larger are the ratios.")
    if old is not None:
        print(f"\nBeside {options.compare}:\n{compared(old, rows)}")
    if options.json:
        Path(options.json).write_text(report, encoding="utf-8")
    if options.document:
        page = Path(options.document, "performance.md")
        try:
            text = with_measured(page.read_text(encoding="utf-8"), rows, machine)
        except ValueError as error:
            fail(f"{page}: {error}")
        page.write_text(text, encoding="utf-8")
        page.with_suffix(".svg").write_text(chart(rows), encoding="utf-8")
        page.with_suffix(".json").write_text(report, encoding="utf-8")


if __name__ == "__main__":
    main()
