# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is copied on one desktop is pasted on another: real clipboards, and programs that are none of ours. Here both are of X11; the same
tests are run on Wayland by test_clipboard_wayland.py."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest
from gi.repository import GLib
from buses import BusError, let_pass, wait
from clipboard_pair import HTML, IMAGE, TEXT, Sides
from clipboards import DESKTOPS, picture
from support import ROOT, Machine

SECRET = "x-kde-passwordManagerHint"


def sides(machines: list[Machine], kind: str, mode: str) -> Iterator[Sides]:
    """Two machines with such desktops, whose users want that of the clipboard."""
    both = Sides(machines, DESKTOPS[kind], mode)
    yield both
    both.stop()


@pytest.fixture
def asking(machine_list: list[Machine]) -> Iterator[Sides]:
    yield from sides(machine_list, "x11", "ask")


@pytest.fixture
def following(machine_list: list[Machine]) -> Iterator[Sides]:
    yield from sides(machine_list, "x11", "follow")


def test_by_hand(asking: Sides) -> None:
    """Text, HTML and an image are pasted by hand, as they were copied; what is in the clipboard before stays until then, and nothing
    is read before."""
    large = picture(3_000_000)
    for contents in ({TEXT: "Größe".encode(), HTML: b"<b>H</b>"}, {IMAGE: large}, {"UTF8_STRING": b"old"}):
        asking.copy(contents)
        assert not asking.origin.asked
        about = wait(lambda: pasted(asking), "what was copied")
        assert about["Sizes"] == [len(content) for content in contents.values()]
        for kind, content in contents.items():
            assert asking.target.paste(kind) == content
    asking.copy({TEXT: b"later"})
    let_pass(0.3)
    assert asking.target.paste(TEXT) == b"old"


def pasted(sides: Sides) -> dict[str, object] | None:
    """What was pasted; None if there is nothing, or the agent does not know yet what was copied."""
    try:
        return sides.paste()
    except BusError as error:
        assert error.short_name == "OfferWithdrawn", error
        return None


def test_secrets(asking: Sides) -> None:
    """What a password manager has marked never leaves, and is not read."""
    asking.copy({TEXT: b"first"})
    wait(lambda: pasted(asking), "what was copied")
    asking.copy({TEXT: b"secret", SECRET: b"secret"})
    wait(lambda: pasted(asking) is None, "the secret to be known")
    let_pass(0.3)
    assert pasted(asking) is None
    assert not asking.origin.asked
    assert asking.target.paste(TEXT) == b"first"


def test_secret_meanwhile(asking: Sides) -> None:
    """A secret that is copied while something else is being read never leaves, at whatever moment."""
    ask = GLib.Variant("(ss)", (asking.desk.device_id, ""))
    for moment in (0, 0.002, 0.005, 0.02, 0.1, 0.25, 0.3, 0.45, 0.6):
        asking.origin.copy({TEXT: b"old", HTML: b"<i>old"}, slow=0.2)
        wait(lambda: TEXT in asking.origin.types(), "what was copied")
        answers = [asking.lap.session.begin(ROOT, "Clipboard.Read", ask) for _ in range(2)]
        let_pass(moment)
        asking.origin.copy({TEXT: b"secret", HTML: b"<b>secret", SECRET: b"secret"}, eager=True)
        for answer in answers:
            with contextlib.suppress(BusError):
                answer()
                with open(asking.lap.session.received.pop(), "rb") as file:
                    assert b"secret" not in file.read(), f"it left {moment} s later"


def test_following(following: Sides) -> None:
    """What is copied can be pasted on the other device at once, which fetches it then and not before; and back."""
    large = picture(3_000_000)
    following.copy({TEXT: "Größe".encode(), HTML: b"<b>H</b>"})
    following.follow([TEXT, HTML])
    let_pass(0.1)
    assert not following.origin.asked
    assert following.target.paste(TEXT) == "Größe".encode()
    assert set(following.origin.asked) == {TEXT}
    assert following.target.paste(HTML) == b"<b>H</b>"
    following.copy({IMAGE: large})
    following.follow([IMAGE])
    let_pass(0.1)
    assert following.target.paste(IMAGE) == large
    # What is copied in the tenth of a second in which a clipboard manager would take it over counts as that.
    let_pass(0.2)
    following.target.copy({TEXT: b"back"})
    wait(lambda: TEXT in following.origin.types() and not following.origin.is_owner, "the way back")
    let_pass(0.1)
    assert following.origin.paste(TEXT) == b"back"


def test_no_loop(following: Sides) -> None:
    """What has come from another device is not told to it, or to a third, as something new."""
    following.copy({TEXT: b"once"})
    following.follow([TEXT])
    before = following.origin.changes
    let_pass(1.5)
    assert following.origin.changes == before and following.origin.is_owner
    with pytest.raises(BusError) as caught:
        following.desk.session.call(ROOT, "Clipboard.Paste", GLib.Variant("(s)", (following.lap.device_id,)))
    assert caught.value.short_name == "OfferWithdrawn"


def test_locked(following: Sides) -> None:
    """Nothing leaves a session that is locked, and nothing enters it."""
    assert following.desk.presence and following.lap.presence
    following.copy({TEXT: b"before"})
    following.follow([TEXT])
    following.lap.presence.lock()
    wait(lambda: refused(following) == "AccessDenied", "the lock here")
    assert not following.target.paste(TEXT, 1)
    following.lap.presence.unlock()
    wait(lambda: not refused(following), "the end of the lock here")
    following.desk.presence.lock()
    wait(lambda: refused(following) == "AccessDenied", "the lock there")
    following.origin.copy({IMAGE: picture(1000)})
    let_pass(0.5)
    assert IMAGE not in following.target.types() and not following.origin.asked


def refused(sides: Sides) -> str:
    """The error that pasting is answered with; empty if there is none."""
    try:
        sides.paste()
    except BusError as error:
        return error.short_name
    return ""
