# SPDX-License-Identifier: LGPL-2.1-or-later
"""Documents that no application continues: the user's default application opens them, if anything may."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from gi.repository import GLib
from buses import let_pass, wait
from clients import APPLICATION_ID, Client
from origin import Origin, folder, start_reader
from support import Machine

# As long as a program takes to be started and to write something. It would be started before the outcome is told.
STARTING = 0.2


@pytest.fixture
def lap(machine_list: list[Machine]) -> Machine:
    return start_reader(machine_list)


def show_editor(machine: Machine, types: str = "text/plain;", name: str = "com.example.viewer") -> Path:
    """Installs a program as the default for these types; gives the file in which it tells what it was to open."""
    told = machine.folder / f"opened-{name}"
    program = machine.folder / f"{name}.sh"
    program.write_text(f'printf "%s\\n" "$@" >{told}.new && mv {told}.new {told}\n')
    data = Path(machine.environment["XDG_DATA_HOME"], "applications")
    data.mkdir(exist_ok=True)
    (data / f"{name}.desktop").write_text(
        f"[Desktop Entry]\nType=Application\nName={name}\nExec=sh {program} %U\nMimeType={types}\n")
    lists = Path(machine.environment["XDG_CONFIG_HOME"], "mimeapps.list")
    lists.write_text("[Default Applications]\n" + "".join(f"{one}={name}.desktop\n" for one in types.split(";") if one))
    return told


def opened(told: Path) -> Path:
    wait(told.exists, "the default application")
    return Path(GLib.filename_from_uri(told.read_text().strip())[0])


@pytest.mark.parametrize("answer", ["false", "not implemented"])
def test_default_application_opens_it(lap: Machine, answer: str) -> None:
    """If ContinueActivity returns false, or is not implemented, and there is a document, the user's default application
    for its type opens it, and that is success."""
    told = show_editor(lap)
    target = Client(lap, leave_out=() if answer == "false" else ("ContinueActivity",))
    if answer == "false":
        target.answers["ContinueActivity"] = lambda arguments: GLib.Variant("(b)", (False,))
    assert Origin(lap).deliver() == ("", "")
    assert opened(told) == folder(lap) / "Letter.txt"
    assert not target.called("DidFailToContinueActivity")


def test_own_application_comes_first(lap: Machine) -> None:
    """An application that declines the activity of a document which its desktop entry says that it opens is given the
    document, before the user's default application."""
    own = show_editor(lap, name=APPLICATION_ID)
    usual = show_editor(lap)
    target = Client(lap)
    target.answers["ContinueActivity"] = lambda arguments: GLib.Variant("(b)", (False,))
    assert Origin(lap).deliver() == ("", "")
    assert opened(own) == folder(lap) / "Letter.txt" and not usual.exists()


def test_document_alone(lap: Machine) -> None:
    """Where no application continues the activity, what the user opens such documents with is offered for it, and opens
    it."""
    told = show_editor(lap)
    origin = Origin(lap)
    wait(lambda: origin.dock.offers[origin.path]["Handlers"] == ["com.example.viewer"], "the handler")
    assert origin.deliver() == ("", "")
    assert opened(told) == folder(lap) / "Letter.txt"


# The others are in DocumentKindTests.
@pytest.mark.parametrize(("name", "content"), [
    ("Letter.desktop", b"[Desktop Entry]\nType=Application\nName=x\nExec=touch PWNED\n"),
    ("Letter.txt", b"#!/bin/sh\ntouch PWNED\n")])
def test_programs_are_never_opened(lap: Machine, name: str, content: bytes) -> None:
    """What is a program, a script or a desktop entry is never opened, whatever it is called, and neither is what is not
    what its name says; the user is told where it is."""
    told = show_editor(lap, "text/plain;application/x-desktop;application/x-shellscript;image/png;application/octet-stream;"
                       "application/x-executable;application/x-ms-dos-executable;application/pdf;application/vnd.appimage;")
    target = Client(lap)
    target.answers["ContinueActivity"] = lambda arguments: GLib.Variant("(b)", (False,))
    origin = Origin(lap, content, name)
    error, message = origin.deliver()
    assert error == "NoApplication" and str(folder(lap) / name) in message
    let_pass(STARTING)
    assert not told.exists() and stat.S_IMODE((folder(lap) / name).stat().st_mode) == 0o600


@pytest.mark.parametrize(("name", "content"), [
    ("film.m4u", b"http://127.0.0.1:9/a\n"), ("song.pls", b"[playlist]\nFile1=/etc/passwd\n")])
def test_what_is_followed_is_never_opened(lap: Machine, name: str, content: bytes) -> None:
    """No play list, whatever it is called, no text that is called a film, no image of a disk, package, extension, connection,
    shortcut or script is opened."""
    told = show_editor(lap, "text/plain;video/vnd.mpegurl;application/smil+xml;application/smil;video/mp4;audio/mpeg;"
                       "video/ogg;application/vnd.ms-wpl;application/xspf+xml;audio/x-scpls;audio/x-ms-asx;video/x-ms-asf;"
                       "application/x-qemu-disk;application/x-vdi-disk;application/x-tar;application/zip;application/xml;"
                       "text/x-emacs-lisp;application/octet-stream;video/x-theora+ogg;application/x-openvpn-profile;")
    target = Client(lap)
    target.answers["ContinueActivity"] = lambda arguments: GLib.Variant("(b)", (False,))
    error, message = Origin(lap, content, name).deliver()
    assert error == "NoApplication" and str(folder(lap) / name) in message
    let_pass(STARTING)
    assert not told.exists()


def test_no_default_application(lap: Machine) -> None:
    """If nothing opens documents of its type, the error names the type and says where the document is."""
    target = Client(lap)
    target.answers["ContinueActivity"] = lambda arguments: GLib.Variant("(b)", (False,))
    lap.environment["XDG_CURRENT_DESKTOP"] = ""
    error, message = Origin(lap, b"\x89PNG\r\n\x1a\n", "Letter.kra", "application/x-krita").deliver()
    assert error == "NoApplication" and "application/x-krita" in message
    assert str(folder(lap) / "Letter.kra") in message


def test_a_failure_says_where_the_document_is(lap: Machine) -> None:
    """An application that fails has the document left behind: the error says where."""
    Client(lap).fail("ContinueActivity", "It is too new.")
    error, message = Origin(lap).deliver()
    assert error == "ApplicationFailed" and "It is too new." in message
    assert str(folder(lap) / "Letter.txt") in message
