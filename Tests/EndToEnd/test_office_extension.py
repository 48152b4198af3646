# SPDX-License-Identifier: LGPL-2.1-or-later
"""What LibreOffice shows is told to Handoff by its extension, and what goes on here is shown in it."""

from __future__ import annotations

import socket
import subprocess
import zipfile
from pathlib import Path

import pytest
from buses import let_pass, wait
from office_desk import BOTH, Desk, content, desk, macros, plugin
from offices import PATIENCE, Office, command_line, document, sheets, slides, text, written

pytestmark = pytest.mark.desktop
PICTURE = bytes.fromhex("89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cfc000"
                        "0003010100c9fe92ef0000000049454e44ae426082")


@pytest.mark.always
@BOTH
def test_document_in_front(desk: Desk) -> None:
    """The document in front is told with the place where its user is, and each is brought to the front at its place."""
    office, child = desk.start()
    table, talk = sheets(desk.papers / "Sums.ods"), slides(desk.papers / "Talk.odp")
    assert child.open(table, sheet="Prices & more", cell="C7")
    child.told("front", application="libreoffice-calc", file=str(table), sheet="Prices & more", cell="C7")
    assert child.open(talk, slide=3)
    child.told("front", application="libreoffice-impress", file=str(talk), slide=3)
    assert child.open(desk.papers / "Letter.odt", page=4)
    child.told("front", application="libreoffice-writer", file=str(desk.papers / "Letter.odt"), page=4)
    office.shown("Letter.odt")
    office.press("ctrl+Home")
    wait(lambda: desk.save()["page"] == 1, "the first page")
    office.focus("Sums.ods")
    child.told("front", application="libreoffice-calc", file=str(table))
    office.press("Down")
    wait(lambda: desk.save().get("cell") == "C8", "the next cell")
    office.press("shift+Down", "shift+Left")
    wait(lambda: desk.save().get("cell") == "B8", "the top left cell of what is selected")


@BOTH
def test_another_program(desk: Desk) -> None:
    """When another program comes to the front, the document is left, also out of a dialog, and is in front again afterwards; a
    dialog of the office itself is nothing else."""
    office, child = desk.start()
    for dialog, keys in (("", ""), ("Go to Page", "ctrl+g"), ("Find and Replace", "ctrl+h")):
        if keys:
            before = len(child.said)
            office.press(keys)
            wait(lambda: office.front == dialog, f"the dialog {dialog}")
            let_pass(0.6)
            assert "left" not in child.events()[before:] and child.event["event"] == "front"
        other = desk.other_program()
        child.told("left")
        other.kill()
        child.told("front", file=str(desk.papers / "Letter.odt"))
        if keys:
            office.press("Escape")
            wait(lambda: office.front.startswith("Letter.odt"), "the document in front")
    child.said.clear()
    child.send(b'{"ask": "front", "id": 1}')
    child.told("front", file=str(desk.papers / "Letter.odt"))


def test_nothing_that_goes_on(desk: Desk) -> None:
    """What may not go on is not told: a template, a drawing, a document with a password, a preview, and the start centre."""
    letter = text(desk.papers / "Letter.odt")
    secret, web = written(desk.machine, (letter, "Secret.odt", "writer8", "password"),
                          (letter, "Web.html", "HTML (StarWriter)", ""))
    office, child = desk.start(letter)
    page = '<draw:page draw:name="a" draw:master-page-name="Default"/>'
    drawing = document(desk.papers / "House.odg", "graphics", "drawing", page)
    template = text(desk.papers / "Form.ott", kind="text-template")
    for path in (template, drawing, web):
        child.said.clear()
        office.hand_over("-o", path)
        office.focus(path.name)
        child.told("closed")
        assert desk.save(file=str(path)) == {}
        office.focus("Letter.odt")
        child.told("front", file=str(letter))
    asking = subprocess.Popen(command_line(desk.machine, str(secret)), env=desk.machine.environment, stderr=subprocess.DEVNULL)
    desk.programs.append(asking)
    # It does not come to the front by itself if another window was turned to meanwhile.
    office.focus("Enter Password")
    office.type("password")
    office.press("Return")
    office.focus("Secret.odt")
    child.told("closed")
    office.focus("Letter.odt")
    child.told("front", file=str(letter))
    office.press("ctrl+shift+o")
    child.told("closed")
    office.press("ctrl+shift+o")
    child.told("front", file=str(letter))


def test_closed(desk: Desk) -> None:
    """When the document in front is closed that is told, and another that is in front then is; with the last one the start
    centre is left, which is nothing."""
    office, child = desk.start(text(desk.papers / "First.odt"), text(desk.papers / "Second.odt"))
    office.press("ctrl+w")
    child.told("front", file=str(desk.papers / "First.odt"))
    office.press("ctrl+w")
    child.told("closed")
    assert desk.save(file=str(desk.papers / "First.odt")) == {}
    assert child.open(desk.papers / "Second.odt")
    child.told("front", file=str(desk.papers / "Second.odt"))


def test_never_saved(desk: Desk) -> None:
    """A document that was never saved goes on by its title once something is in it."""
    office, child = desk.start()
    office.press("ctrl+n")
    office.focus("Untitled 1")
    child.told("closed")
    assert desk.save(name="Untitled 1") == {}
    office.type("words")
    child.told("front", application="libreoffice-writer", name="Untitled 1", page=1)
    copy = desk.private / "Untitled 1.odt"
    assert desk.save() == {"application": "libreoffice-writer", "name": "Untitled 1", "page": 1, "modified": True,
                           "copy": str(copy)}
    assert b"words" in content(Path(copy))


def test_copies(desk: Desk) -> None:
    """A copy of what was not saved is in the document's own format and under its own name; the document stays as it was, and
    of one that is saved, or has more than 32 MiB, there is no copy."""
    letter, table = text(desk.papers / "Letter.odt"), sheets(desk.papers / "Sums.ods")
    kinds = [(letter, "Letter.docx", "MS Word 2007 XML", ""), (letter, "Letter.doc", "MS Word 97", ""),
             (letter, "Letter.rtf", "Rich Text Format", ""),
             (table, "Sums.xlsx", "Calc MS Excel 2007 XML", ""), (table, "Sums.xls", "MS Excel 97", "")]
    files = [letter, *written(desk.machine, *kinds)]
    office, child = desk.start(letter)
    for path in files:
        assert child.open(path)
        office.focus(path.name)
        child.told("front", file=str(path))
        before = path.read_bytes()
        assert desk.save()["modified"] is False
        office.type("words ")
        office.press("Return")
        wait(lambda: child.ask("save", folder="/nowhere")["modified"], "the document to be changed")
        answer = desk.save()
        copy = Path(answer["copy"])
        assert copy == desk.private / path.name and copy.read_bytes()[:4] == before[:4] and copy.read_bytes() != before
        assert path.read_bytes() == before and desk.save() == {name: answer[name] for name in answer if name != "copy"}
    with open(letter, "ab") as file:
        file.truncate((32 << 20) + 1)
    (desk.private / letter.name).unlink()
    office.focus(letter.name)
    child.told("front", file=str(letter))
    assert desk.save()["modified"] is True and not (desk.private / letter.name).exists()


def test_viewed(desk: Desk) -> None:
    """A document that is only to be looked at is read-only, and its user may edit it nevertheless."""
    office, child = desk.start()
    assert child.open(text(desk.papers / "Received.odt"), "view", page=99)
    child.told("front", file=str(desk.papers / "Received.odt"), page=6)
    office.focus("Received.odt (read-only)")
    office.type("words")
    assert desk.save()["modified"] is False
    desk.edit(desk.papers / "Received.odt")
    office.type("words")
    wait(lambda: desk.save()["modified"], "the document to be changed")


def test_unsaved(desk: Desk) -> None:
    """What was not saved elsewhere is a document of its own, which needs the file no more: its pictures stay, its user is asked
    before it is closed and for a name when it is saved, and the file is not written."""
    office, child = desk.start()
    picture = ('<text:p><draw:frame svg:width="2cm" svg:height="2cm" text:anchor-type="as-char">'
               '<draw:image xlink:href="Pictures/a.png" xlink:type="simple"/></draw:frame></text:p>')
    path = text(desk.papers / "Parcel.odt", more=picture, files={"Pictures/a.png": PICTURE})
    before = path.read_bytes()
    assert child.open(path, "unsaved", name="My plans", page=2)
    child.told("front", name="My plans", page=2)
    assert path.read_bytes() == before
    path.unlink()
    copy = desk.save()["copy"]
    assert any(zipfile.ZipFile(copy).read(name) == PICTURE for name in zipfile.ZipFile(copy).namelist())
    office.focus("My plans")
    office.press("ctrl+w")
    wait(lambda: office.front == "Save Document?", "the question whether to save")
    office.press("Escape")
    office.focus("My plans")
    office.press("ctrl+s")
    wait(lambda: office.front == "Save as", "the question for a name")
    office.press("Return")
    saved = Path(desk.machine.environment["HOME"], "My plans.odt")
    child.told("front", file=str(saved))
    assert any(zipfile.ZipFile(saved).read(name) == PICTURE for name in zipfile.ZipFile(saved).namelist())
    assert not path.exists()


def test_odd_places(desk: Desk) -> None:
    """A place that a document does not have is the nearest that it has, or none."""
    _, child = desk.start()
    table, talk = sheets(desk.papers / "Sums.ods"), slides(desk.papers / "Talk.odp")
    assert child.open(desk.papers / "Letter.odt", page=10_000_000, slide=2, sheet="x") and desk.save()["page"] == 6
    assert child.open(talk, slide=77, page=3) and desk.save(file=str(talk))["slide"] == 4
    assert child.open(table, sheet="Rooms", cell="B2") and desk.save(file=str(table))["cell"] == "B2"
    for odd in ({"sheet": "None", "cell": "C3"}, {"sheet": "Rooms", "cell": "ZZZ9999999"},
                {"sheet": "Rooms", "cell": "A1:B2"}, {}):
        assert child.open(table, **odd)
        place = desk.save(file=str(table))
        assert (place["sheet"], place["cell"]) == ("Rooms", "B2")


def test_without_child(desk: Desk) -> None:
    """When the child ends, the extension falls silent and the office goes on; without one it is not noticed."""
    office, child = desk.start()
    assert child.connection
    child.connection.shutdown(socket.SHUT_RDWR)
    office.type("words")
    other = desk.other_program()
    other.kill()
    office.focus("Letter.odt")
    office.press("ctrl+s")
    wait(lambda: b"words" in content(desk.papers / "Letter.odt"), "the document to be saved")
    office.press("ctrl+q")
    wait(lambda: office.process.poll() is not None, "the office to end", PATIENCE)
    assert office.process.returncode == 0
    child.path.unlink()
    desk.office = office = Office(desk.machine, desk.screen, desk.papers / "Letter.odt")
    office.focus("Letter.odt")
    office.press("ctrl+q")
    wait(lambda: office.process.poll() is not None, "the office to end", PATIENCE)
    assert "Traceback" not in desk.machine.log("soffice")


@BOTH
def test_end(desk: Desk) -> None:
    """The child ends with the office, which ends as ever."""
    office, child = desk.start()
    office.press("ctrl+q")
    wait(lambda: office.process.poll() is not None, "the office to end", PATIENCE)
    assert office.process.returncode == 0 and "Traceback" not in desk.machine.log("soffice")
    assert child.connection
    wait(lambda: child.connection and child.connection.recv(1, socket.MSG_PEEK) == b"", "the child to end")


def test_conversion(desk: Desk) -> None:
    """An office that converts documents for somebody starts no child."""
    path = text(desk.papers / "Letter.odt")
    desk.machine.run(*command_line(desk.machine, "--convert-to", "txt", "--outdir", str(desk.private), str(path)))
    assert "Page 6" in (desk.private / "Letter.txt").read_text()
    assert desk.child.connection is None
