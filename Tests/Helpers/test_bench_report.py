# SPDX-License-Identifier: LGPL-2.1-or-later
"""What meson-helpers/bench makes of what it has measured: the outcome, the table, the comparison, the picture, the page."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from support import PROGRAMS, SOURCE

sys.path.append(str(SOURCE / "Tests" / "Bench" / "report"))

# ruff: noqa: E402
from chart import chart
from document import BEGIN, END, with_measured
from figures import Row, compared, from_json, read_rows, sections, table, to_json

REPORT = SOURCE / "Tests" / "Bench" / "report" / "report.py"
BESIDE = "beside KDE Connect, under dbus-daemon"
ROWS = [
    Row("calls", "Activity.Update", "0.12", "ms", "1.05", "1.1"),
    Row("streams", "one stream", "700", "MB/s", "0.5", ">=0.95"),
    Row(BESIDE, "KDE Connect: shareText", "1.2", "ms", "1.0"),
    Row(BESIDE, "becoming <current> & seen", "1.8", "ms", "1.5", "1.0"),
    Row("calls", "echo", "0.1", "ms", "1.0"),
    Row("day", "wake-ups", "3", "", "-", "0"),
    Row("day", "private memory", "-", "MiB", "-", "6", "there is | no agent"),
]
MACHINE = {"processor": "A | B", "processors": "2"}


@pytest.mark.parametrize(("value", "ratio", "aim", "outcome"), [
    ("5", "-", "5", "met"),
    ("5.1", "-", "5", "MISSED"),
    ("5", "-", ">=5", "met"),
    ("4.9", "-", ">=5", "MISSED"),
    ("100", "0.9", "1.0", "met"),
    ("0.1", "1.2", "1.0", "MISSED"),
    ("0.1", "1.2", "-", "-"),
    ("-", "1.2", "2", "met"),
    ("-", "-", "2", "not measured"),
    ("0", "-", "0", "met"),
    ("-", "-", "2×", "not measured"),
])
def test_outcome(value: str, ratio: str, aim: str, outcome: str) -> None:
    """An aim is for the ratio where there is one, and nothing is met that was not measured."""
    assert Row("section", "figure", value, "ms", ratio, aim).outcome == outcome


def test_rows_are_read() -> None:
    """What the benchmark writes is read, also with an empty unit and no reason."""
    assert read_rows("day\twake-ups\t3\t\t-\t0\t\na\tb\t-\tms\t-\t-\twhy\n") == [
        Row("day", "wake-ups", "3", "", "-", "0"), Row("a", "b", "-", "ms", "-", "-", "why")]


def test_table() -> None:
    """Each section stands once, each aim beside its figure, and what was not measured says why."""
    lines = table(ROWS).splitlines()
    assert [section for section, _ in sections(ROWS)] == ["calls", "streams", BESIDE, "day"]
    assert sum(line.startswith("calls") for line in lines) == 1
    assert next(line for line in lines if "Activity.Update" in line).split()[-5:] == ["1.05", "≤", "1.1", "×", "met"]
    assert next(line for line in lines if "one stream" in line).split()[-4:] == ["≥", "0.95", "×", "MISSED"]
    assert any(line.endswith("not measured: there is | no agent") for line in lines)
    assert lines[-1] == "Aims missed: 3."


def test_json_goes_both_ways() -> None:
    """A report is read as it was written, outcomes included for programs."""
    report = json.loads(json.dumps(to_json(ROWS, MACHINE)))
    assert from_json(report) == ROWS
    assert [row["outcome"] for row in report["rows"]][:2] == ["met", "MISSED"]
    assert [report["rows"][index]["value"] for index in (1, 4, 6)] == [700, 0.1, None]
    assert report["machine"] == MACHINE


@pytest.mark.parametrize("report", [[], {}, {"format": 2, "rows": []}, {"format": 1}, {"format": 1, "rows": [7]},
                                    {"format": 1, "rows": [{"figure": "alone"}]}])
def test_what_is_no_report(report: object) -> None:
    """What is no report of this format is refused."""
    with pytest.raises(ValueError):
        from_json(report)  # type: ignore[arg-type]


def test_comparison() -> None:
    """What has changed by a tenth, or whether it meets its aim, is shown, by ratios where there are some."""
    new = [
        Row("calls", "Activity.Update", "0.500", "ms", "1.06", "1.1"),
        Row("streams", "one stream", "700", "MB/s", "0.96", ">=0.95"),
        Row(BESIDE, "becoming <current> & seen", "1.800", "ms", "1.45", "1.0"),
        Row("day", "wake-ups", "0", "", "-", "0"),
        Row("day", "private memory", "7", "MiB", "-", "6"),
        Row("day", "another", "7", "MiB"),
    ]
    said = compared(ROWS, new)
    assert "Activity.Update" not in said and "becoming" not in said
    assert "0.5 × →         0.96 ×     +92%  MISSED → met" in said
    assert "-100%  MISSED → met" in said
    assert "not measured → MISSED" in said
    assert next(line for line in said.splitlines() if "another" in line).endswith("new")
    assert sum(line.endswith("no longer") for line in said.splitlines()) == 2


def test_comparison_of_other_sections() -> None:
    """Sections that only one of the runs has are named once."""
    said = compared(ROWS[:1] + ROWS[4:5], ROWS[1:2])
    assert said.splitlines() == ["streams: measured only now", "calls: measured only before"]


def test_comparison_with_itself() -> None:
    """Nothing is different from itself."""
    assert compared(ROWS, ROWS) == "Nothing differs by 10% or more."


def test_comparison_with_nothing() -> None:
    """What was nothing can grow."""
    assert "from 0" in compared([Row("day", "wake-ups", "0")], [Row("day", "wake-ups", "2")])


def test_chart() -> None:
    """The picture is well-formed, has a bar for each figure with an aim and for each beside KDE Connect, and keeps to its
    edges."""
    picture = chart(ROWS)
    root = ElementTree.fromstring(picture)
    bars = [one for one in root.iter("{http://www.w3.org/2000/svg}rect") if one.get("x")]
    assert len(bars) == 6
    assert all(float(bar.get("x")) + float(bar.get("width")) <= float(root.get("width")) for bar in bars)
    assert any("becoming <current> & seen" in (one.text or "") for one in root.iter())
    assert picture == chart(ROWS)
    assert len(root.findall("{http://www.w3.org/2000/svg}line")) == 1


@pytest.mark.parametrize("rows", [
    [],
    [Row("day", "growth", "-71.7", "%", "-", "5"), Row("day", "none", "0", "", "-", ">=5")],
])
def test_chart_of_little(rows: list[Row]) -> None:
    """Even of nothing, and of less than nothing, there is a picture."""
    root = ElementTree.fromstring(chart(rows))
    assert all(float(one.get("width")) > 0 for one in root.iter("{http://www.w3.org/2000/svg}rect"))


def test_page() -> None:
    """Only what stands between the marks is written, and as often as one likes."""
    page = f"# Before\n\n{BEGIN}\n\nold\n\n{END}\n\nAfter\n"
    once = with_measured(page, ROWS, MACHINE)
    assert once.startswith(f"# Before\n\n{BEGIN}\n") and once.endswith(f"\n{END}\n\nAfter\n") and "old" not in once
    assert "| Activity.Update | 0.12 ms | 1.05 | ≤ 1.1 × | met |" in once
    assert "| private memory |  |  | ≤ 6 | not measured: there is \\| no agent |" in once
    assert "Of 5 aims, 1 are met and 3 missed; 1 could not be measured." in once
    assert with_measured(once, ROWS, MACHINE) == once
    with pytest.raises(ValueError):
        with_measured("# Without", ROWS, MACHINE)


def test_the_page_has_its_place() -> None:
    """The page of this repository can be written, and its report read."""
    page = SOURCE / "docs" / "performance.md"
    assert with_measured(page.read_text(encoding="utf-8"), ROWS, MACHINE)
    assert from_json(json.loads(page.with_suffix(".json").read_text(encoding="utf-8")))


def written(tmp_path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    rows = tmp_path / "rows"
    rows.write_text("".join("\t".join((row.section, row.figure, row.value, row.unit, row.ratio, row.aim, row.note)) + "\n"
                            for row in ROWS), encoding="utf-8")
    return subprocess.run([sys.executable, REPORT, *options, rows], capture_output=True, text=True, check=False)


def test_program(tmp_path: Path) -> None:
    """One run writes the report, the page and the picture, and compares with the report that it overwrites."""
    page = tmp_path / "performance.md"
    page.write_text(f"{BEGIN}\n{END}\n", encoding="utf-8")
    old = tmp_path / "performance.json"
    assert written(tmp_path, "--json", str(old)).returncode == 0
    done = written(tmp_path, "--quick", "--load", "0.5", "--compare", str(old), "--document", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "Nothing differs" in done.stdout and "The machine's load was 0.5" in done.stdout
    assert from_json(json.loads(old.read_text(encoding="utf-8"))) == ROWS
    assert "few (--quick)" in page.read_text(encoding="utf-8")
    ElementTree.parse(tmp_path / "performance.svg")


def test_program_without_a_report(tmp_path: Path) -> None:
    """What cannot be compared with is said in one line, before anything is written."""
    done = written(tmp_path, "--compare", str(tmp_path / "none"), "--json", str(tmp_path / "new"))
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "cannot be compared with" in done.stderr
    assert not (tmp_path / "new").exists()


def test_options() -> None:
    """What the benchmark does not know is refused before anything is built or measured."""
    for options in (["--only", "nonsense"], ["--only"], ["--without", "calls,nonsense"], ["--nonsense"], ["one", "two"]):
        done = subprocess.run([SOURCE / "meson-helpers" / "bench", *options], capture_output=True, text=True, check=False)
        assert done.returncode == 2 and done.stderr.startswith("Usage: bench"), options


@pytest.mark.skipif(not shutil.which("cc") or not shutil.which("openssl"), reason="there is no C compiler, or no openssl")
def test_a_few_figures(tmp_path: Path) -> None:
    """The benchmark measures what it is told to, and writes its report."""
    report = tmp_path / "report.json"
    done = subprocess.run([SOURCE / "meson-helpers" / "bench", "--quick", "--only", "starts", "--json", report, PROGRAMS],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = from_json(json.loads(report.read_text(encoding="utf-8")))
    assert {row.section for row in rows} == {"starting"} and len(rows) == 3
    assert all((row.measured or 0) > 0 for row in rows)
