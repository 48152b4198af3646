# SPDX-License-Identifier: LGPL-2.1-or-later
"""LibreOffice opens documents of other devices, whatever is in them, without running or asking anything for them."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

import pytest
from buses import let_pass, wait
from office_desk import Desk, content, desk, macros, plugin
from offices import document, sheets, slides, text, written
from support import has_all_rights

pytestmark = pytest.mark.desktop


def package_with(path: Path, name: str, part: str) -> Path:
    """Adds a part to a document."""
    with zipfile.ZipFile(path, "a") as file:
        file.writestr(name, part)
    manifest = "META-INF/manifest.xml"
    with zipfile.ZipFile(path) as file:
        parts = {one: file.read(one) for one in file.namelist()}
    entry = f'<manifest:file-entry manifest:full-path="{name}" manifest:media-type="text/xml"/></manifest:manifest>'
    parts[manifest] = parts[manifest].replace(b"</manifest:manifest>", entry.encode())
    with zipfile.ZipFile(path, "w") as file:
        for one, content in parts.items():
            file.writestr(one, content)
    return path


def test_failed_copy(desk: Desk) -> None:
    """Of a copy that cannot be written nothing is left, and nothing is said."""
    office, child = desk.start()
    office.type("words")
    wait(lambda: child.ask("save", folder="/nowhere")["modified"], "the document to be changed")
    for folder in ("/proc/self/fd", "/proc", "/nowhere"):
        assert "copy" not in child.ask("save", folder=folder)
    full = desk.private / "full"
    full.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4k", "none", str(full)]
    if has_all_rights() and subprocess.run(mount, check=False).returncode == 0:
        try:
            assert "copy" not in child.ask("save", folder=str(full))
            assert not list(full.iterdir())
        finally:
            subprocess.run(["umount", "-l", str(full)], check=True)
    assert "copy" in desk.save()


def test_refused(desk: Desk) -> None:
    """What cannot be opened without a question is not, and the office shows nothing of it and answers the next question."""
    letter, table = text(desk.papers / "Letter.odt"), sheets(desk.papers / "Sums.ods")
    made = written(desk.machine, (letter, "Secret.odt", "writer8", "a"), (letter, "Secret.doc", "MS Word 97", "a"),
                   (table, "Secret.xls", "MS Excel 97", "a"))
    office, child = desk.start(letter)
    cut = desk.papers / "Cut.odt"
    cut.write_bytes(letter.read_bytes()[:-40])
    broken = document(desk.papers / "Broken.odt", "text", "text", "<text:p>")
    ole = desk.papers / "Odd.doc"
    ole.write_bytes(b"\xd0\xcf\x11\xe0" + bytes(5000))
    titles = set(desk.screen.titles())
    form = text(desk.papers / "Form.odt", kind="text-template")
    for path in (*made, cut, broken, ole, form, desk.papers / "None.odt", desk.papers):
        for mode in ("edit", "view", "unsaved"):
            assert not child.open(path, mode, name="Name"), (path, mode)
    assert set(desk.screen.titles()) == titles and office.front.startswith("Letter.odt")


@pytest.mark.parametrize("macros", [2, 0])
def test_macros(desk: Desk, macros: int) -> None:
    """A macro in a document that is opened for another device is never run, also when its user edits it or saves a copy, and
    also where macros of all documents may run; one that is opened there by hand does run."""
    office, child = desk.start()
    for kind, ending in ((text, "odt"), (sheets, "ods"), (slides, "odp")):
        for mode in ("edit", "view", "unsaved"):
            log = desk.machine.folder / f"ran-{ending}-{mode}"
            path = kind(desk.papers / f"{mode}.{ending}", macro_log=log)
            assert child.open(path, mode, name=f"New {mode} {ending}")
            office.focus(f"New {mode}" if mode == "unsaved" else path.name)
            if mode == "view":
                desk.edit(path)
            if ending != "odp":
                office.type("words")
                office.press("Return")
                wait(lambda: desk.save()["modified"], "the document to be changed")
            desk.save()
            assert not log.exists(), log.read_text()
    if macros == 0:
        log = desk.machine.folder / "ran-by-hand"
        path = text(desk.papers / "Hand.odt", macro_log=log)
        office.hand_over(path)
        office.focus("Hand.odt")
        wait(log.exists, "the macro to run")


def test_links(desk: Desk) -> None:
    """A document that is opened for another device is not brought up to date from the files that it is made of."""
    _, child = desk.start()
    text(desk.papers / "Part.odt", more="<text:p>newer words</text:p>")
    section = ('<text:section text:name="S"><text:section-source xlink:href="../Part.odt" xlink:type="simple" '
               'text:filter-name="writer8"/><text:p>older words</text:p></text:section>')
    for mode in ("edit", "view", "unsaved"):
        path = text(desk.papers / f"Whole-{mode}.odt", more=section)
        assert child.open(path, mode, name="Whole")
        if mode == "view":
            continue
        assert desk.office
        desk.office.focus("Whole")
        desk.office.press("ctrl+Home")
        desk.office.type("x")
        which = {"name": "Whole"} if mode == "unsaved" else {"file": str(path)}
        copy = wait(lambda which=which: desk.save(**which).get("copy"), "a copy")
        assert b"older words" in content(Path(copy)) and b"newer words" not in content(Path(copy))


@pytest.mark.parametrize("macros", [0])
def test_document_that_loads_another(desk: Desk) -> None:
    """A document that asks to be replaced by another one, or by itself, after a second stays what it is, and no macro runs."""
    _, child = desk.start()
    secret = text(desk.papers / "Secret.odt")
    for number, href in enumerate((secret.as_uri(), "")):
        log = desk.machine.folder / f"ran-{number}"
        meta = ('<?xml version="1.0" encoding="UTF-8"?><office:document-meta '
                'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:xlink="http://www.w3.org/1999/xlink" '
                'xmlns:meta="urn:oasis:names:tc:opendocument:xmlns:meta:1.0" office:version="1.3"><office:meta><meta:auto-reload '
                f'xlink:type="simple" xlink:href="{href}" meta:delay="PT1S"/></office:meta></office:document-meta>')
        for make, ending in ((text, "odt"), (sheets, "ods")):
            path = package_with(make(desk.papers / f"Bait{number}.{ending}", macro_log=log), "meta.xml", meta)
            assert child.open(path, "view")
            # Longer than the document says.
            let_pass(2.5)
            assert not log.exists() and not any(title.startswith("Secret") for title in desk.screen.titles())


def test_what_is_not_what_it_is_called(desk: Desk) -> None:
    """A document of another application, and a template, are not shown, whatever they are called."""
    office, child = desk.start()
    table = sheets(desk.papers / "Table.ods")
    for wrong in (table.rename(desk.papers / "Table.odt"), text(desk.papers / "Letter2.odt").rename(desk.papers / "Letter2.ods")):
        for mode in ("edit", "view", "unsaved"):
            assert not child.open(wrong, mode, name="Name")
    wait(lambda: office.front.startswith("Letter.odt"), "nothing else to be shown")


def test_hostile_titles(desk: Desk) -> None:
    """A document that was never saved is copied only if its title can be the name of a file."""
    _, child = desk.start()
    for name in ("a" * 200, "“$(id)` ;&", "--option", "~"):
        assert child.open(text(desk.papers / "Some.odt"), "unsaved", name=name)
        assert desk.save(name=name)["name"] == name
    wait(lambda: child.event.get("name") == "~", "the last document")
    names = ["--option.odt", "a" * 200 + ".odt", "~.odt", "“$(id)` ;&.odt"]
    assert sorted(path.name for path in desk.private.iterdir()) == names


def test_nonsense(desk: Desk) -> None:
    """Lines that are no questions are overlooked, and nothing is too much."""
    _, child = desk.start()
    for line in (b"", b"{", b"\xff", b"x" * (2 << 20), b'{"ask": "save", "id": 1}', b'{"ask": "run", "id": 1}', b"[]" * 1000):
        child.send(line)
    for _ in range(2000):
        child.send(b'{"ask": "front", "id": 7}')
    assert desk.save()["page"] == 1
