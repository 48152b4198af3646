# SPDX-License-Identifier: LGPL-2.1-or-later
"""The figures of a run of the benchmark: whether they meet their aims, as a table, and beside those of another run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

# What differs by less is not worth a line: times swing as much from run to run.
NOTABLE = 0.1
# JSON of another layout is not read.
FORMAT = 1


@dataclass(frozen=True)
class Row:
    """A figure. What there is not, is "-", as "meson-helpers/bench" writes it."""

    section: str
    figure: str
    value: str
    unit: str = ""
    # To the reference of the same run.
    ratio: str = "-"
    # For the ratio if there is one, at most that or, as in ">=0.8", at least. What was not measured may say by a "×" at
    # the end that it is one for a ratio.
    aim: str = "-"
    # Why it was not measured.
    note: str = ""

    @property
    def measured(self) -> float | None:
        """What is held against the aim."""
        text = self.value if self.ratio == "-" else self.ratio
        return None if text == "-" else float(text)

    @property
    def is_least(self) -> bool:
        return self.aim.startswith(">=")

    @property
    def aimed(self) -> float | None:
        return None if self.aim == "-" else float(self.aim.removeprefix(">=").removesuffix("×"))

    @property
    def outcome(self) -> str:
        """"met", "MISSED", "not measured", or "-" for what has no aim."""
        if self.measured is None:
            return "not measured"
        if self.aimed is None:
            return "-"
        met = self.measured >= self.aimed if self.is_least else self.measured <= self.aimed
        return "met" if met else "MISSED"

    @property
    def aim_in_words(self) -> str:
        if self.aimed is None:
            return "-"
        times = " ×" if self.ratio != "-" or self.aim.endswith("×") else ""
        return f"{'≥' if self.is_least else '≤'} {self.aim.removeprefix('>=').removesuffix('×')}{times}"

    @property
    def name(self) -> tuple[str, str]:
        return self.section, self.figure


def read_rows(text: str) -> list[Row]:
    """What the benchmark has written, a row a line with tabs between."""
    return [Row(*line.split("\t")) for line in text.splitlines() if line]


def number(text: str) -> float | None:
    """For programs; null for what there is not."""
    return None if text == "-" else float(text) if "." in text else int(text)


def to_json(rows: list[Row], machine: dict[str, str]) -> dict[str, Any]:
    return {"format": FORMAT, "machine": machine, "rows": [
        asdict(row) | {"value": number(row.value), "ratio": number(row.ratio), "outcome": row.outcome} for row in rows]}


def from_json(report: dict[str, Any]) -> list[Row]:
    """The rows of such a report; a ValueError says why there are none."""
    if not isinstance(report, dict) or report.get("format") != FORMAT or not isinstance(report.get("rows"), list):
        raise ValueError(f"it is not a report of format {FORMAT}; measure again")
    names = set(Row.__dataclass_fields__)
    try:
        return [Row(**{name: "-" if value is None else str(value) for name, value in row.items() if name in names})
                for row in report["rows"]]
    except (AttributeError, TypeError) as error:
        raise ValueError(f"its rows are not those of a benchmark ({error})") from error


def sections(rows: list[Row]) -> list[tuple[str, list[Row]]]:
    """The rows by section, in the order of the first of each."""
    order = {section: index for index, section in reversed(list(enumerate(row.section for row in rows)))}
    sorted_rows = sorted(rows, key=lambda row: order[row.section])
    return [(section, list(group)) for section, group in groupby(sorted_rows, key=lambda row: row.section)]


def table(rows: list[Row]) -> str:
    """For a terminal."""
    lines = []
    for section, members in sections(rows):
        lines += ["", f"{section:<66} {'value':>9} {'':<4} {'ratio':>7} {'aim':>9}"]
        for row in members:
            outcome = row.outcome if not row.note else f"{row.outcome}: {row.note}"
            line = f"  {row.figure:<64} {row.value:>9} {row.unit:<4} {row.ratio:>7} {row.aim_in_words:>9}  {outcome}"
            lines.append(line.rstrip(" -"))
    missed = sum(row.outcome == "MISSED" for row in rows)
    return "\n".join([*lines, *(["", f"Aims missed: {missed}."] if missed else [])]).lstrip("\n")


def change(old: Row, new: Row) -> float | None:
    """By what part it has grown; None for what cannot be compared. Ratios, where both runs have them: other machines and
    other loads make other times."""
    if old.measured is None or new.measured is None or (old.ratio == "-") != (new.ratio == "-"):
        return None
    if old.measured == new.measured:
        return 0.0
    return (new.measured - old.measured) / old.measured if old.measured else float("inf")


def shown(row: Row) -> str:
    return f"{row.value} {row.unit}".strip() if row.ratio == "-" else f"{row.ratio} ×"


def compared_section(former: dict[str, Row], rows: list[Row]) -> list[str]:
    """A line for each figure that is different, there only now, or there no longer."""
    changes = []
    for row in rows:
        before = former.pop(row.figure, None)
        if before is None:
            changes.append(f"  {row.figure:<64} {'':>14}    {shown(row):>14}  new")
        elif before.outcome != row.outcome or abs(change(before, row) or 0) >= NOTABLE:
            grown = change(before, row)
            by = "" if grown is None else f"{grown:+.0%}" if grown != float("inf") else "from 0"
            aim = f"{before.outcome} → {row.outcome}" if before.outcome != row.outcome else ""
            changes.append(f"  {row.figure:<64} {shown(before):>14} → {shown(row):>14}  {by:>7}  {aim}".rstrip())
    return changes + [f"  {row.figure:<64} {shown(row):>14}    {'':>14}  no longer" for row in former.values()]


def compared(old: list[Row], new: list[Row]) -> str:
    """What is different, by section; what has no ratio to compare is compared by its value."""
    former, now = dict(sections(old)), dict(sections(new))
    said = []
    for section, members in now.items():
        changes = compared_section({row.figure: row for row in former.get(section, [])}, members)
        said += [section, *changes] if changes and section in former else []
    said += [f"{section}: measured only now" for section in now if section not in former]
    said += [f"{section}: measured only before" for section in former if section not in now]
    return "\n".join(said) or f"Nothing differs by {NOTABLE:.0%} or more."
