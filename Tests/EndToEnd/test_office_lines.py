# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the extension for LibreOffice can tell without an office: questions, files, and what waits."""

from __future__ import annotations

import io
import json
import os
import sys
import xml.etree.ElementTree as ElementTree
import zipfile
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest
from offices import EXTENSION, package, sheets, slides, text
from schemas import is_valid
from support import SOURCE


@pytest.fixture(scope="module")
def lines() -> ModuleType:
    """The part of the extension that needs no office."""
    loader = SourceFileLoader("handoff_office_lines", str(EXTENSION / "pythonpath/handoff_office_lines.py"))
    module = module_from_spec(spec_from_loader(loader.name, loader))
    # The extension's folder has no place for what Python keeps of modules.
    kept, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    loader.exec_module(module)
    sys.dont_write_bytecode = kept
    return module


def test_files() -> None:
    """The files of the extension name each other, it has the version of Handoff, and it is started when a document is opened,
    so that the office waits for nothing before that."""
    source = (EXTENSION / "handoff_office.py.in").read_text()
    jobs = ElementTree.parse(EXTENSION / "Jobs.xcu.in").getroot()
    name = "{http://openoffice.org/2001/registry}name"
    service = jobs.find(".//prop/value").text
    assert f'addImplementation(Job, "{service}", ("com.sun.star.task.Job",))' in source
    assert [event.get(name) for event in jobs.findall("node")[1]] == ["onDocumentOpened"]
    manifest = (EXTENSION / "META-INF/manifest.xml").read_text()
    assert '"handoff_office.py"' in manifest and '"Jobs.xcu"' in manifest
    version = ElementTree.parse(EXTENSION / "description.xml.in").find("{*}version").get("value")
    assert f"version: '{version}." in (SOURCE / "meson.build").read_text()


def test_questions(lines: ModuleType) -> None:
    """Questions that are none are overlooked, whatever they are."""
    folder = {"ask": "save", "id": 1, "folder": "/private", "file": "/a.odt"}
    file = {"ask": "open", "id": 2, "file": "/home/a/b.odt", "mode": "edit"}
    for sound in (folder, file, file | {"mode": "view", "page": "x"}, file | {"mode": "unsaved", "name": "Plans"},
                  {"ask": "front", "id": 3}):
        assert lines.question(json.dumps(sound).encode()) == sound
        assert is_valid("office", sound, "asked") == (sound.get("page") != "x")
    wrong_ones = [
        folder | {"id": "1"}, folder | {"id": True}, folder | {"id": 0}, folder | {"id": 1e300}, folder | {"folder": "private"},
        folder | {"folder": "/a/../b"}, folder | {"folder": None}, folder | {"file": "a"}, folder | {"file": None, "name": 1},
        folder | {"ask": ["save"]},
        file | {"file": "http://a/b.odt"}, file | {"file": "/a\0.odt"}, file | {"mode": "hidden"}, file | {"mode": {}},
        file | {"mode": "unsaved"},
        file | {"mode": "unsaved", "name": "a/b"}, file | {"mode": "unsaved", "name": "a\nb"},
        file | {"mode": "unsaved", "name": "a\u202eb"}, file | {"mode": "unsaved", "name": "a" * 300}]
    nonsense = [b"", b"\xff\xfe", b"[" * 100_000, b"[]", b"1", b"{}", b'{"ask": "front"}']
    for wrong in nonsense + [json.dumps(one).encode() for one in wrong_ones]:
        asked = lines.question(wrong)
        # What cannot be opened is answered, if it can be.
        assert asked is None or asked == {"ask": "open", "id": 2, "mode": "none"}, wrong[:80]


def test_places(lines: ModuleType) -> None:
    """Of a place only what can be one is taken."""
    whole = {"page": 3, "slide": 4, "sheet": "A b", "cell": "C7"}
    assert lines.place(whole | {"id": 1}) == whole
    for wrong in ({"page": 0}, {"page": True}, {"page": 1.0}, {"page": 10**9}, {"slide": "1"}, {"cell": "C7"},
                  {"sheet": 3, "cell": "C7"}):
        assert lines.place(wrong) == {}
    for cell in ("c7", "C0", "C7:D8", "$C$7", "", 7, "ABCD1", "A\u0661", "A1\n", "Sheet.A1"):
        assert lines.place({"sheet": "A", "cell": cell}) == {"sheet": "A"}


def test_addresses(lines: ModuleType) -> None:
    """Only documents that are files of this machine go on."""
    assert lines.path_of("file:///home/a/%C3%84%20b.odt") == "/home/a/Ä b.odt"
    assert lines.path_of("file:///a/%E4%BC%9A%E8%AD%B0%E3%80%80%C2%A0.odt") == "/a/会議\u3000\u00a0.odt"
    for wrong in ("", "http://a/b.odt", "file://host/b.odt", "file:///a/b.ott", "file:///a/b.html", "file:///a/b.odb",
                  "file:///a/b.odg", "file:///a/b", "file:///a/%FF.odt", "file:///a/%0A.odt", "file:///a%00/b.odt",
                  "file:///a/../b.odt", "file:///odt", "private:factory/swriter", "file:///a/b.odt?c", "file:///a/b.odt#c",
                  "vnd.sun.star.webdav://a/b.odt"):
        assert lines.path_of(wrong) is None, wrong
    assert all(map(lines.is_template, ("writer8_template", "MS Word 97 Vorlage", "Calc MS Excel 2007 XML Template")))
    assert not any(map(lines.is_template, ("writer8", "MS Word 97", "")))


def test_documents(lines: ModuleType, tmp_path: Path) -> None:
    """A file is opened only if it is a document by its ending and by how it begins, and neither a template nor encrypted."""
    def made(name: str, content: bytes) -> Path:
        (tmp_path / name).write_bytes(content)
        return tmp_path / name

    def zipped(name: str, parts: dict[str, str]) -> Path:
        with zipfile.ZipFile(tmp_path / name, "w") as file:
            for part, content in parts.items():
                file.writestr(part, content)
        return tmp_path / name

    types = "[Content_Types].xml"
    ooxml = zipped("a.docx", {types: "wordprocessingml.document.main+xml"})
    for sound in (text(tmp_path / "a.odt"), sheets(tmp_path / "a.ODS"), slides(tmp_path / "a.odp"), ooxml,
                  made("a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), made("a.rtf", b"{\\rtf1}")):
        assert lines.is_document(str(sound)), sound
    os.mkfifo(tmp_path / "pipe.odt")
    (tmp_path / "folder.odt").mkdir()
    (tmp_path / "dangling.odt").symlink_to("nothing.odt")
    template = zipped("t.docx", {types: "wordprocessingml.template.main+xml"})
    encrypted = zipped("e.odt", {"mimetype": "application/vnd.oasis.opendocument.text",
                                 "META-INF/manifest.xml": "<manifest:encryption-data/>"})
    damaged = bytearray(text(tmp_path / "damaged.odt").read_bytes())
    damaged[60:200] = bytes(140)
    for wrong in ("none.odt", "pipe.odt", "folder.odt", "dangling.odt", template, encrypted,
                  made("damaged.odt", bytes(damaged)), text(tmp_path / "t.odt", kind="text-template"), text(tmp_path / "a.ott"),
                  made("z.odt", b"PK\x03\x04" * 9),
                  made("b.docx", b"\xd0\xcf\x11\xe0"), made("b.doc", b"PK\x03\x04"), made("b.rtf", b"rtf"), made("b.txt", b"a"),
                  made("empty.odt", b""), made("b.html", b"<?xml"), package(tmp_path / "b.odb", "base", {}),
                  zipped("n.odt", {"a": "b"}),
                  made("t.fodt", b'<?xml version="1.0"?><office:document/>'), "/dev/null"):
        assert not lines.is_document(str(tmp_path / wrong)), wrong


def test_copies(lines: ModuleType, tmp_path: Path) -> None:
    """A copy is written only into a folder that is there, over nothing, and under a name that a file may have."""
    assert lines.copy_path(str(tmp_path), "Letter.odt") == str(tmp_path / "Letter.odt")
    (tmp_path / "taken.odt").symlink_to("/nowhere")
    for name in ("taken.odt", "", ".", "..", "../a.odt", "a/b.odt", "/etc/a.odt", "a\nb.odt", "a\0.odt", "a" * 252 + ".odt",
                 "\udc80.odt"):
        assert lines.copy_path(str(tmp_path), name) is None, name
    assert lines.copy_path(str(tmp_path / "none"), "a.odt") is None


def test_long_lines(lines: ModuleType) -> None:
    """A line of more than 1 MiB is overlooked, and those after it are read."""
    pipe = io.BytesIO(b"one\n" + b"x" * (3 << 20) + b"\ntwo\n" + b"y" * ((1 << 20) - 1) + b"\nrest")
    assert [line[:4] for line in lines.lines(pipe)] == [b"one\n", b"two\n", b"yyyy"]


def test_what_waits(lines: ModuleType) -> None:
    """Of events the latest waits to be written, and only if it is another than the one before; of answers the last four."""
    box = lines.Outbox()
    for page in (1, 2):
        box.add({"event": "front", "file": "/a.odt", "page": page})
    for number in range(6):
        box.add({"answer": number})
    assert [json.loads(box.take()) for _ in range(5)] == [
        {"event": "front", "file": "/a.odt", "page": 2}, *[{"answer": number} for number in range(2, 6)]]
    box.add({"event": "left"})
    box.add({"event": "front", "file": "/a.odt", "page": 3})
    assert box.waiting == []
    box.forget()
    box.add({"event": "front", "file": "/a.odt", "page": 3})
    assert json.loads(box.take())["page"] == 3
    box.add({"event": "left"})
    assert json.loads(box.take()) == {"event": "left"}
    box.close()
    assert box.take() is None


def test_office_without_user(lines: ModuleType) -> None:
    """An office that converts documents, or has no display, has no user to tell of."""
    display = {"DISPLAY": ":0"}
    for seen in (["--writer", "--headless.odt"], ["/home/a/--cat"], ["-o", "a.odt"]):
        assert not lines.is_unseen(["soffice.bin", *seen], display)
    for unseen in (["--headless"], ["-headless"], ["--convert-to", "pdf"], ["--cat", "a.odt"], ["--invisible"],
                   ["--pt", "printer"]):
        assert lines.is_unseen(["soffice.bin", *unseen], display)
    assert lines.is_unseen(["soffice.bin"], {}) and lines.is_unseen(["soffice.bin"], display | {"SAL_USE_VCLPLUGIN": "svp"})
    assert not lines.is_unseen(["soffice.bin"], {"WAYLAND_DISPLAY": "wayland-0"})
