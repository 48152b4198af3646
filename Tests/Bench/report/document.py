# SPDX-License-Identifier: LGPL-2.1-or-later
"""The part of docs/performance.md that a run of the benchmark writes."""

from __future__ import annotations

from figures import Row, sections

BEGIN, END = "<!-- What was measured begins. -->", "<!-- What was measured ends. -->"


def cell(words: str) -> str:
    return words.replace("|", "\\|")


def rows_of(rows: list[Row]) -> list[str]:
    lines = ["| figure | value | ratio | aim | |", "|---|---:|---:|---:|---|"]
    for row in rows:
        value = "" if row.value == "-" else f"{row.value} {row.unit}".strip()
        ratio = "" if row.ratio == "-" else row.ratio
        aim = "" if row.aim == "-" else row.aim_in_words
        outcome = {"-": "", "MISSED": "**missed**"}.get(row.outcome, row.outcome) + (f": {row.note}" if row.note else "")
        lines.append(f"| {cell(row.figure)} | {value} | {ratio} | {aim} | {cell(outcome)} |")
    return lines


def summary(rows: list[Row]) -> str:
    outcomes = [row.outcome for row in rows if row.aimed is not None]
    left_out = outcomes.count("not measured")
    return (f"Of {len(outcomes)} aims, {outcomes.count('met')} are met and {outcomes.count('MISSED')} missed"
            + (f"; {left_out} could not be measured." if left_out else "."))


def measured(rows: list[Row], machine: dict[str, str]) -> str:
    """The machine, the picture, and a table for each section."""
    lines = ["## The machine", "", "| | |", "|---|---|",
             *(f"| {cell(name)} | {cell(value)} |" for name, value in machine.items()), "",
             "## The figures", "", summary(rows), "",
             "![Bars for times beside KDE Connect, and for each figure with an aim](performance.svg)"]
    for section, members in sections(rows):
        lines += ["", f"### {section[0].upper()}{section[1:]}", "", *rows_of(members)]
    return "\n".join(lines)


def with_measured(text: str, rows: list[Row], machine: dict[str, str]) -> str:
    """The document with that in its place; a ValueError if it has none."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"it has no place for the figures, between “{BEGIN}” and “{END}”")
    return f"{before}{BEGIN}\n\n{measured(rows, machine)}\n\n{END}{after}"
