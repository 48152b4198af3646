# SPDX-License-Identifier: LGPL-2.1-or-later
"""The address book with windows, on a machine that has no Handoff."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from buses import wait
from contacts import NARROW, PROGRAM, WIDE, Contacts, contact, file_of, not_built, store, stored
from screen import Screen
from support import Machine
from windows import Accessibility

if reason := not_built():
    pytest.skip(reason, allow_module_level=True)


@pytest.fixture
def desk(machine_list: list[Machine], accessibility: Accessibility, tmp_path: Path) -> Iterator[Machine]:
    """A machine with a display and a session bus, and nothing else."""
    desk = Machine("desk")
    machine_list.append(desk)
    desk.screen = Screen(tmp_path, WIDE)
    yield desk
    if PROGRAM in desk.processes:
        desk.kill(PROGRAM)
    desk.screen.close()


def test_addresses(desk: Machine) -> None:
    """Without Handoff the address book adds, finds, changes, deletes and brings back contacts, by keyboard alone, and keeps them"""
    window = Contacts(desk, desk.screen)
    window.wait_for("label", "No Contacts")
    window.keys("ctrl+n")
    window.wait_for("text", "Name")
    window.type("Grace Hopper")
    window.keys("Tab", "Tab")
    window.type("+1 555 0100")
    window.keys("ctrl+s")
    window.wait_for_stored("Grace Hopper")
    assert stored(desk) == [{"name": "Grace Hopper", "phone": "+1 555 0100"}]
    window.keys("ctrl+n")
    window.wait_for("text", "Name")
    window.type("Ada")
    window.keys("ctrl+s")
    window.wait_for_stored("Ada", "Grace Hopper")
    window.wait_until(lambda: window.names() == ["Ada", "Grace Hopper"], "both in the list")
    window.keys("ctrl+e")
    window.wait_for("text", "Name")
    window.keys("ctrl+a")
    window.type("Zoe")
    window.keys("ctrl+s")
    window.wait_for_stored("Grace Hopper", "Zoe")
    window.keys("ctrl+f")
    window.type("5550100")
    window.wait_for("label", "No Results")
    window.keys("ctrl+a")
    window.type("555 hopper")
    window.wait_until(lambda: window.names() == ["Grace Hopper"], "the one that is searched for")
    window.choose("Grace Hopper")
    window.keys("ctrl+d")
    window.wait_for_stored("Zoe")
    window.press("Undo")
    window.wait_for_stored("Grace Hopper", "Zoe")
    assert desk.kill(PROGRAM) == -signal.SIGKILL
    again = Contacts(desk, desk.screen)
    again.wait_until(lambda: again.names() == ["Grace Hopper", "Zoe"], "what was stored before")
    again.keys("ctrl+q")
    wait(lambda: again.process.poll() == 0, "the end of the program")
    del desk.processes[PROGRAM]
    complaints = [line for line in desk.log(PROGRAM).splitlines() if "CRITICAL" in line or "WARNING" in line]
    assert not complaints


def test_unsaved(desk: Machine) -> None:
    """What was typed is not lost by a key or a closed window before the user has said so"""
    window = Contacts(desk, desk.screen)
    window.keys("ctrl+n")
    window.wait_for("text", "Name")
    window.type("Ada")
    window.keys("Escape")
    window.answer("Keep Editing")
    window.wait_for_form(name="Ada")
    window.keys("ctrl+w")
    window.answer("Keep Editing")
    window.wait_for_form(name="Ada")
    assert window.process.poll() is None
    window.keys("Escape")
    window.answer("Discard")
    window.wait_for("label", "No Contacts")
    assert not stored(desk)


def test_other_program(desk: Machine) -> None:
    """What another program changes in the file is seen at once, and not lost by what is saved afterwards"""
    store(desk, [contact(1, name="Ada")])
    window = Contacts(desk, desk.screen)
    window.wait_until(lambda: window.names() == ["Ada"], "the list")
    store(desk, [contact(1, name="Ada King"), contact(2, name="Grace")])
    window.wait_until(lambda: window.names() == ["Ada King", "Grace"], "what the other program has written")
    window.keys("ctrl+n")
    window.wait_for("text", "Name")
    window.type("Zoe")
    store(desk, [contact(1, name="Ada King")])
    window.keys("ctrl+s")
    window.wait_for_stored("Ada King", "Zoe")


def test_damage(desk: Machine) -> None:
    """A damaged file is told of and kept, and the user can go on"""
    store(desk, [])
    file_of(desk).write_text("{")
    window = Contacts(desk, desk.screen)
    window.wait_for("label", "Contacts Were Damaged")
    window.answer("Close")
    aside = file_of(desk).with_name("contacts.json.damaged-1")
    assert aside.read_text() == "{"
    window.focus()
    window.keys("ctrl+n")
    window.wait_for("text", "Name")
    window.type("Ada")
    window.keys("ctrl+s")
    window.wait_for_stored("Ada")


def test_unwritable(desk: Machine) -> None:
    """A form that can't be saved says why, and stays"""
    store(desk, [contact(1, name="Ada")])
    window = Contacts(desk, desk.screen)
    window.choose("Ada")
    window.keys("ctrl+e")
    window.wait_for("text", "Name")
    window.type("X")
    file_of(desk).unlink()
    file_of(desk).mkdir()
    window.keys("ctrl+s")
    window.wait_for("label", "Couldn’t Save")
    window.answer("Close")
    window.wait_until(lambda: "X" in window.form().get("Name", ""), "the form with what was typed")
    assert window.wait_for("push button", "Save").is_sensitive


@pytest.mark.parametrize("size", [NARROW, WIDE])
def test_sizes(desk: Machine, size: str, tmp_path: Path) -> None:
    """Everything is within the window, on a phone's screen as on a wide one"""
    store(desk, [contact(number, name=f"Person {number} of a Family with a Name That Is Long", note="word " * 90,
                         email=f"{'long' * 20}@example.org") for number in range(40)])
    desk.screen.close()
    desk.screen = Screen(tmp_path, size)
    window = Contacts(desk, desk.screen)
    width = int(size.split("x")[0])

    # On a phone's screen this page is never seen, and where it is said to be is where it was when the window began.
    unseen = ["No Contact Selected"] if size == NARROW else []

    def is_within(what: str) -> None:
        window.wait_until_within(width, what, *unseen)

    window.wait_until(lambda: len(window.names()) > 5, "the list")
    is_within("the list")
    window.choose(window.names()[1])
    window.wait_for("label", "Email")
    is_within("a contact")
    window.keys("ctrl+e")
    window.wait_for("text", "Email")
    is_within("the form")
    window.keys("Escape")
    window.keys("alt+Left")
    window.keys("ctrl+question")
    window.wait_for("label", "New window")
    is_within("the shortcuts")
    window.focus()
    window.keys("Escape")
    window.wait_until(lambda: not window.find("label", "Keyboard Shortcuts"), "the end of the shortcuts")


@pytest.mark.parametrize("size", [NARROW, WIDE])
def test_long_note(desk: Machine, size: str, tmp_path: Path) -> None:
    """In the form a long note is as high as it has to be for all of it to be seen, however it gets there"""
    store(desk, [contact(1, name="Ada", note="word " * 90), contact(2, name="Grace")])
    desk.screen.close()
    desk.screen = Screen(tmp_path, size)
    window = Contacts(desk, desk.screen)

    def height() -> int:
        place = next(part.place for part in window.find("text") if part.name == "Note")
        return place.height if place else 0

    heights = []
    for name in ("Ada", "Grace"):
        window.choose(name)
        window.keys("ctrl+e")
        window.wait_for("text", "Note")
        if name == "Ada":
            window.wait_until(lambda: height() > 112, "a note that is higher than the least")
            heights.append(height())
        else:
            window.wait_until(lambda: height() <= 112, "an empty note to be small")
        window.keys("Escape")
        window.wait_for("push button", "Edit")
        window.keys("alt+Left")
    # 90 words are more lines on a phone.
    assert heights[0] > (190 if size == NARROW else 112)


def test_arrows(desk: Machine) -> None:
    """On a wide screen the arrow keys go from contact to contact in the list"""
    store(desk, [contact(number, name=name, phone="1") for number, name in enumerate(["Ada", "Grace", "Zoe"])])
    window = Contacts(desk, desk.screen)
    window.choose("Ada")
    for name in ("Grace", "Zoe"):
        window.keys("Down")
        window.wait_until(lambda: len(window.find("label", name)) == 2, f"{name} beside the list")
