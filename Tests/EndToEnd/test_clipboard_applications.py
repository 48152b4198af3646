# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is copied in a real application on one desktop is pasted in a real application on another; what password managers and
clipboard managers do there is taken for what it is."""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Iterator

import pytest
from gi.repository import GLib
import copying_applications as known
from buses import BusError, let_pass, wait
from clipboard_desktop import Desktop, end, spawn
from clipboard_pair import HTML, IMAGE, TEXT, Sides
from clipboards import X11Desktop
from copying_applications import (
    APPLICATIONS, PATIENCE, Application, Browser, Chromium, Firefox, Gedit, KeePassXC, Writer)
from support import ROOT, Machine

pytestmark = pytest.mark.desktop
ALL = pytest.mark.parametrize("kind", APPLICATIONS, ids=lambda kind: kind.__name__.lower())
# How clipboard managers are started.
MANAGERS = {"klipper": ["klipper", "-platform", "xcb"], "clipman": ["xfce4-clipman"]}


@pytest.fixture
def asking(machine_list: list[Machine]) -> Iterator[Sides]:
    sides = Sides(machine_list, X11Desktop)
    yield sides
    sides.stop()


@pytest.fixture
def following(machine_list: list[Machine]) -> Iterator[Sides]:
    sides = Sides(machine_list, X11Desktop, "follow")
    yield sides
    sides.stop()


def text(words: str) -> dict[str, bytes]:
    """A text as most programs offer it."""
    return {kind: words.encode() for kind in (TEXT, "UTF8_STRING", "text/plain")}


def brought(sides: Sides) -> dict[str, object] | None:
    """Brings what is in the clipboard of `desk` to `lap`, and says what that is; None if there is nothing, or the agent does not
    know yet what was copied."""
    try:
        return sides.paste()
    except BusError as error:
        assert error.short_name == "OfferWithdrawn", error
        return None


def bold_in(html: str) -> bool:
    """Whether the word for that is bold, and others are not."""
    return re.search(r"<b\b[^>]*>bold</b>|<span[^>]*font-weight:\s*(bold|700)[^>]*>bold</span>", html) is not None


def at(sides: Sides, kind: type[Application], name: str) -> Application:
    """An application on one of the machines."""
    machine, desktop = (sides.desk, sides.origin) if name == "desk" else (sides.lap, sides.target)
    assert isinstance(desktop, X11Desktop)
    return kind(machine, desktop)


def check(application: Application, is_html: bool = True) -> None:
    """What was pasted is there soon, as it looked."""
    try:
        wait(lambda: application.text() == known.TEXT, f"what is pasted in {application.PROGRAM}")
    finally:
        application.shoot("pasted")
    assert application.is_bold() == (application.HAS_HTML and is_html)


@ALL
def test_copied_in_an_application(asking: Sides, kind: type[Application]) -> None:
    """What is selected and copied by keys in an application is brought to the other device, as text and, where the application
    offers that, as HTML."""
    with at(asking, kind, "desk") as application:
        application.copy_all()
        application.shoot("copied")
        about = wait(lambda: brought(asking), "what was copied")
        assert about["Types"] == ["text/plain", HTML][:1 + kind.HAS_HTML] and about["Characters"] == len(known.TEXT)
        asking.follow([TEXT])
        assert asking.target.paste(TEXT) == known.TEXT.encode()
        html = asking.target.paste(HTML)
        assert html == asking.origin.paste(HTML)
        assert bold_in(html.decode()) if html is not None else not kind.HAS_HTML


@ALL
def test_pasted_in_an_application(asking: Sides, kind: type[Application]) -> None:
    """What was brought from the other device is pasted by keys in an application, as HTML where it takes that."""
    with at(asking, kind, "lap") as application:
        application.write()
        asking.copy(text(known.TEXT) | {HTML: known.HTML.encode()})
        wait(lambda: brought(asking), "what was copied")
        asking.follow([TEXT, HTML])
        application.paste_over()
        check(application)


@ALL
def test_followed_into_an_application(following: Sides, kind: type[Application]) -> None:
    """What is copied on the other device is pasted by keys in an application, which runs and has the keyboard meanwhile; it is
    fetched then and not before, each kind of it once, however often it is pasted."""
    with at(following, kind, "lap") as application:
        application.write()
        following.copy(text(known.TEXT) | {HTML: known.HTML.encode()})
        following.follow([TEXT, HTML])
        let_pass(0.5)
        assert not following.origin.asked
        application.paste_over()
        check(application)
        application.write()
        application.paste_over()
        check(application)
        assert set(following.origin.asked) <= {TEXT, HTML} and set(following.origin.asked.values()) == {1}
        assert following.origin.is_owner


@pytest.mark.parametrize(("source", "target"), [(Gedit, Firefox), (Firefox, Writer), (Writer, Chromium), (Chromium, Gedit)],
                         ids=lambda kind: kind.__name__.lower())
def test_from_application_to_application(following: Sides, source: type[Application], target: type[Application]) -> None:
    """What is copied in an application on the one device is pasted in another one on the other device, where nothing but the keys
    for that are pressed, and looks the same."""
    with at(following, source, "desk") as here, at(following, target, "lap") as there:
        there.write()
        here.copy_all()
        following.follow([TEXT])
        # As soon as a user could, whom no clipboard manager is as fast as.
        let_pass(0.1)
        there.paste_over()
        check(there, source.HAS_HTML)


@pytest.mark.parametrize(("source", "target"), [(Chromium, Firefox), (Firefox, Chromium)], ids=lambda kind: kind.__name__.lower())
def test_picture_from_browser_to_browser(following: Sides, source: type[Browser], target: type[Browser]) -> None:
    """A picture that a web page copies in one browser is pasted in another one on the other device, pixel by pixel."""
    with at(following, source, "desk") as here, at(following, target, "lap") as there:
        assert isinstance(here, Browser) and isinstance(there, Browser)
        there.write()
        here.copy_picture()
        following.follow([IMAGE])
        let_pass(0.1)
        assert not there.pasted_picture()
        there.paste_over()
        pasted = wait(there.pasted_picture, f"the picture in {there.PROGRAM}")
        there.shoot("picture")
        assert pasted == here.picture()
        assert following.target.paste(IMAGE) == following.origin.paste(IMAGE)


def test_password_of_a_password_manager(following: Sides) -> None:
    """A password that is copied in KeePassXC by keys never leaves, whether the clipboard follows or is asked for; what is copied
    afterwards does."""
    following.copy(text("before"))
    following.follow([TEXT])
    with at(following, KeePassXC, "desk") as application:
        assert isinstance(application, KeePassXC)
        application.copy_password()
        application.shoot("copied")
        assert following.origin.paste("UTF8_STRING") == KeePassXC.PASSWORD.encode()
        wait(lambda: not following.target.types(), "the end of what was there before")
        let_pass(0.5)
        assert not following.target.types() and brought(following) is None
        following.copy(text("afterwards"))
        following.follow([TEXT])
        let_pass(0.1)
        assert following.target.paste(TEXT) == b"afterwards"


@contextlib.contextmanager
def managed(desktop: Desktop, manager: str) -> Iterator[None]:
    """A clipboard manager is there, and has taken over a text that was copied."""
    command = MANAGERS[manager]
    if not shutil.which(command[0]):
        pytest.skip(f"there is no {command[0]}: meson-helpers/install-packages desktop")
    process = spawn(desktop.machine, desktop.environment_of_clients | {"QT_QPA_PLATFORM": "xcb"}, *command)
    try:
        def takes_over() -> bool:
            assert process.poll() is None, f"{manager} has ended: {desktop.machine.log(command[0])}"
            desktop.copy(text("earlier"))
            let_pass(0.3)
            return bool(desktop.asked)

        wait(takes_over, f"{manager} to take over what is copied", PATIENCE)
        yield
    finally:
        end(process)


@pytest.mark.parametrize("manager", MANAGERS)
def test_clipboard_manager_where_it_follows_to(following: Sides, manager: str) -> None:
    """A clipboard manager makes nothing go round in circles: what has followed is not announced as something new, and not fetched
    for the manager, or once at most; nor is what it puts back when that has gone. What is copied there by a program
    follows."""
    desk, lap = following.origin, following.target
    with managed(lap, manager):
        wait(lambda: desk.paste(TEXT, 1) == b"earlier", "the text to follow")
        # What is copied in the tenth of a second in which a clipboard manager would take it over counts as that.
        let_pass(0.2)
        following.copy(text("there") | {HTML: b"<b>there</b>"})
        following.follow([TEXT, HTML])
        before = desk.changes
        let_pass(3)
        assert desk.is_owner and desk.changes == before
        assert all(count == 1 for count in desk.asked.values()), desk.asked
        assert lap.paste(HTML) == b"<b>there</b>" and lap.paste(TEXT) == b"there"
        assert all(count == 1 for count in desk.asked.values()), desk.asked
        # What the manager has kept takes its place, for people who paste there, or nothing does.
        before = lap.changes
        following.copy(text("secret") | {"x-kde-passwordManagerHint": b"secret"})
        wait(lambda: lap.changes > before, "the end of what has followed")
        before = desk.changes
        let_pass(1.5)
        assert desk.is_owner and desk.changes == before and not desk.asked.keys() & {TEXT, "UTF8_STRING", "text/plain"}
        lap.copy(text("here"))
        wait(lambda: not desk.is_owner and desk.paste(TEXT, 1) == b"here", "what was copied to follow")


@pytest.mark.parametrize("manager", MANAGERS)
def test_clipboard_manager_where_it_is_brought(asking: Sides, manager: str) -> None:
    """What the user has brought to a desktop with a clipboard manager is pasted there, and can't be had from there as if it had
    been copied there."""
    with managed(asking.target, manager):
        asking.copy(text("there") | {HTML: b"<b>there</b>"})
        wait(lambda: brought(asking), "what was copied")
        asking.follow([TEXT, HTML])
        let_pass(1.5)
        assert asking.target.paste(TEXT) == b"there" and asking.target.paste(HTML) == b"<b>there</b>"
        assert set(asking.origin.asked.values()) == {1}
        with pytest.raises(BusError) as caught:
            asking.desk.session.call(ROOT, "Clipboard.Paste", GLib.Variant("(s)", (asking.lap.device_id,)))
        assert caught.value.short_name == "OfferWithdrawn"


@pytest.mark.parametrize("manager", MANAGERS)
def test_clipboard_manager_where_it_is_copied(following: Sides, manager: str) -> None:
    """What is copied on a desktop with a clipboard manager follows once."""
    with managed(following.origin, manager):
        before = following.target.changes
        following.copy(text("there"))
        wait(lambda: following.target.paste(TEXT, 1) == b"there", "the text to follow")
        let_pass(1.5)
        assert following.target.changes == before + 1


def test_end_of_who_has_copied(following: Sides) -> None:
    """What xfce4-clipman has kept of a program that has ended can still be pasted on the other device."""
    with managed(following.origin, "clipman"):
        following.copy(text("kept"))
        wait(lambda: following.target.paste(TEXT, 1) == b"kept", "the text to follow")
        # The agent asks for the best of the types alone.
        wait(lambda: {"UTF8_STRING", "text/plain"} <= set(following.origin.asked), "xfce4-clipman to take it over")
        assert following.origin.owner
        following.origin.owner.close()
        following.origin.owner = None
        wait(lambda: following.origin.paste("UTF8_STRING", 1) == b"kept", "xfce4-clipman to put it back")
        about = wait(lambda: brought(following), "what was put back to be known")
        assert about["Types"] == ["text/plain"]
        assert following.target.paste(TEXT) == b"kept"
