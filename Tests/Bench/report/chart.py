# SPDX-License-Identifier: LGPL-2.1-or-later
"""A chart of a run of the benchmark, as SVG: beside KDE Connect, and beside the aims."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from figures import Row, sections

WIDTH, LABEL, LINE, BAR = 900, 430, 20, 12
# The longest bars, in pixels; an aim is at half of that.
LONGEST = WIDTH - LABEL - 150
# So many times the aim is the end of a bar.
LIMIT = 2.0
OURS, THEIRS, MET, MISSED = "#3465a4", "#9a9a9a", "#4e9a06", "#cc0000"
BESIDE = "beside KDE Connect"


@dataclass(frozen=True)
class Bar:
    label: str
    # From 0 to 1, of the longest.
    length: float
    text: str
    color: str


def of_aims(rows: list[Row]) -> list[Bar]:
    """How much of its aim each figure takes: up to the line, it is met."""
    bars = []
    names = [row.figure for row in rows]
    for row in rows:
        if row.aimed is None or row.measured is None:
            continue
        if row.is_least:
            part = row.aimed / row.measured if row.measured else LIMIT
        else:
            part = row.measured / row.aimed if row.aimed else LIMIT * (row.measured > 0)
        label = row.figure if names.count(row.figure) == 1 else f"{row.figure}, {row.section.rpartition(', ')[2]}"
        value = f"{row.ratio} ×" if row.ratio != "-" else f"{row.value} {row.unit}".strip()
        bars.append(Bar(label, min(max(part, 0.0), LIMIT) / LIMIT, f"{value} ({row.aim_in_words.removesuffix(' ×')})",
                        MET if row.outcome == "met" else MISSED))
    return bars


def of_times(rows: list[Row]) -> list[Bar]:
    """The medians beside KDE Connect's, all on one scale."""
    found = [row for row in rows if row.section.startswith(BESIDE) and row.unit == "ms" and row.ratio != "-"]
    most = max((float(row.value) for row in found), default=0)
    return [Bar(f"{row.figure}, {row.section.rpartition(' ')[2]}", float(row.value) / most if most else 0,
                f"{row.value} ms" + (f", {row.ratio} ×" if float(row.ratio) != 1 else ""),
                THEIRS if row.figure.startswith("KDE Connect") else OURS) for row in found]


def text(x: float, y: float, words: str, *, size: int = 12, anchor: str = "start", weight: str = "normal") -> str:
    return (f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" '
            f'stroke="#fff" stroke-width="3" paint-order="stroke">'
            f"{escape(words)}</text>")


def shortened(words: str) -> str:
    return words if len(words) <= 68 else words[:67] + "…"


def panel(title: str, bars: list[Bar], top: float, *, line: bool) -> tuple[list[str], float]:
    """What a panel draws, and where the next one begins."""
    parts, y = [text(10, top + 16, title, size=14, weight="bold")], top + 28
    if line:
        x, bottom = LABEL + LONGEST / LIMIT, y + len(bars) * LINE
        parts.append(f'<line x1="{x:.0f}" y1="{top + 24:.0f}" x2="{x:.0f}" y2="{bottom:.0f}" stroke="#000" '
                     'stroke-dasharray="3 2"/>')
    for bar in bars:
        parts += [text(LABEL - 8, y + BAR - 2, shortened(bar.label), anchor="end"),
                  f'<rect x="{LABEL}" y="{y:.0f}" width="{max(1.0, bar.length * LONGEST):.1f}" height="{BAR}" '
                  f'fill="{bar.color}"/>',
                  text(LABEL + bar.length * LONGEST + 6, y + BAR - 2, bar.text, size=11)]
        y += LINE
    return parts, y + 14


def chart(rows: list[Row]) -> str:
    """The whole picture. It is the same for the same rows."""
    ordered = [row for _, members in sections(rows) for row in members]
    panels = [("Between two machines, medians: shorter is better", of_times(ordered), False),
              ("Aims, the broken line: what ends before it meets its own", of_aims(ordered), True)]
    parts: list[str] = []
    y = 6.0
    for title, bars, line in panels:
        if bars:
            drawn, y = panel(title, bars, y, line=line)
            parts += drawn
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y:.0f}" viewBox="0 0 {WIDTH} {y:.0f}" '
        'font-family="sans-serif" fill="#000">',
        "<!-- SPDX-License-Identifier: LGPL-2.1-or-later -->",
        f'<rect width="{WIDTH}" height="{y:.0f}" fill="#fff"/>', *parts, "</svg>", ""])
