# SPDX-License-Identifier: LGPL-2.1-or-later
"""What any program of the session can ask the address book for by D-Bus."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest
from buses import BUS, BusError, Session, wait
from contacts import APPLICATION_ID, PROGRAM, Contacts, contact, file_of, not_built, store
from gi.repository import GLib
from samples import byte_array
from support import SOURCE, Machine
from test_contacts import desk
from vendor import own_entry

if reason := not_built():
    pytest.skip(reason, allow_module_level=True)

__all__ = ["desk"]
ACTIONS = "org.gtk.Actions"
EXAMPLES = SOURCE / "Sources" / "Examples" / "Contacts"
# What may be asked for.
HARMLESS = {"new-window"}
HOSTILE = [GLib.Variant("s", "x"), GLib.Variant("i", -(2**31)), GLib.Variant("v", GLib.Variant("v", GLib.Variant("b", True))),
           GLib.Variant("a{sv}", {}), byte_array(bytes(1 << 20)), GLib.Variant("s", "%s%n" * 1000), GLib.Variant("()", ())]


class Asker:
    """A program that has nothing to do with the address book."""

    def __init__(self, machine: Machine) -> None:
        self.session: Session = machine.connect()

    def call(self, path: str, member: str, arguments: GLib.Variant | None = None) -> object:
        """What is answered; the name of the error if it is one."""
        try:
            return self.session.call(path, member, arguments, destination=APPLICATION_ID).unpack()
        except BusError as error:
            return error.name

    def objects(self, path: str = "/") -> dict[str, set[str]]:
        """All objects of the program, with their interfaces."""
        xml = self.call(path, f"{BUS}.Introspectable.Introspect")[0]
        root = ElementTree.fromstring(xml)
        found = {path: {interface.get("name") for interface in root.findall("interface")}}
        for node in root.findall("node"):
            found |= self.objects(f"{path.rstrip('/')}/{node.get('name')}")
        return found

    def groups(self) -> dict[str, list[str]]:
        """What can be activated, by its object."""
        return {path: self.call(path, f"{ACTIONS}.List")[0]
                for path, interfaces in self.objects().items() if ACTIONS in interfaces}


def commands() -> set[str]:
    """All that the templates and the sources call a command, with and without its prefix."""
    text = "".join(path.read_text() for path in EXAMPLES.rglob("*.[bs]*") if path.is_file())
    named = set(re.findall(r'"((?:app|win|contacts)\.[a-z-]+)"', text)) | set(re.findall(r'\("([a-z-]+)", ', text))
    return named | {name.rpartition(".")[2] for name in named} | {"window.close", "quit", "delete", "default.activate"}


def test_actions(desk: Machine) -> None:
    """No program of the session can change, delete, discard or close anything of the address book by D-Bus, whatever it sends"""
    store(desk, [contact(1, name="Ada"), contact(2, name="Grace")])
    window = Contacts(desk, desk.screen)
    # One window shows a contact, which can be deleted, and another has something unsaved.
    window.choose("Ada")
    window.keys("ctrl+shift+n")
    window.wait_until(lambda: len(window.find("frame")) == 2, "two windows")
    window.focus()
    window.keys("ctrl+n")
    window.wait_for("text", "Name")
    window.type("Zoe")
    window.wait_for_form(name="Zoe")
    before = file_of(desk).read_bytes()
    asker = Asker(desk)
    groups = asker.groups()
    # The application, and both windows.
    assert len(groups) >= 3 and set(sum(groups.values(), [])) == HARMLESS, groups
    assert {"delete", "save", "contacts.delete"} <= commands()
    for path, names in groups.items():
        for name in sorted(commands() | set(names)):
            assert name in HARMLESS or name not in names
            for parameters in ([], *([value] for value in HOSTILE)):
                asker.call(path, f"{ACTIONS}.Activate", GLib.Variant("(sava{sv})", (name, parameters, {})))
            for value in HOSTILE:
                asker.call(path, f"{ACTIONS}.SetState", GLib.Variant("(sva{sv})", (name, value, {})))
            asker.call(path, f"{ACTIONS}.Describe", GLib.Variant("(s)", (name,)))
    window.wait_until(lambda: len(window.find("frame")) > 2, "the new windows that were asked for")
    assert_nothing_happened(desk, window, before)


def assert_nothing_happened(desk: Machine, window: Contacts, before: bytes) -> None:
    """The contacts are as they were, what was typed is still there, and the program answers and ends well."""
    assert window.process.poll() is None
    assert file_of(desk).read_bytes() == before
    assert not window.find("dialog")
    assert window.form() == {"Name": "Zoe"}
    assert any(part.is_sensitive for part in window.find("push button", "Save"))
    assert "Ada" in {label.name for label in window.find("label")}


def test_interfaces_of_an_application(desk: Machine) -> None:
    """What GTK serves for desktops changes nothing of the address book either, and opens no more windows than somebody could use"""
    store(desk, [contact(1, name="Ada")])
    window = Contacts(desk, desk.screen)
    window.choose("Ada")
    window.keys("ctrl+shift+n")
    window.wait_until(lambda: len(window.find("frame")) == 2, "two windows")
    window.focus()
    window.keys("ctrl+n")
    window.wait_for("text", "Name")
    window.type("Zoe")
    window.wait_for_form(name="Zoe")
    before = file_of(desk).read_bytes()
    asker, path = Asker(desk), "/" + APPLICATION_ID.replace(".", "/")
    hostile = {"desktop-startup-id": GLib.Variant("s", "x" * 100_000), "activation-token": GLib.Variant("i", 7),
               "\u202e": GLib.Variant("ay", b"\xff")}
    for platform_data in ({}, hostile):
        for name in sorted(commands() | {"", "app.", "x" * 10_000}):
            for parameters in ([], *([value] for value in HOSTILE)):
                asker.call(path, "org.freedesktop.Application.ActivateAction",
                           GLib.Variant("(sava{sv})", (name, parameters, platform_data)))
        files = ["file:///etc/passwd", "", "\x01", "http://" + "a" * 10_000]
        asker.call(path, "org.freedesktop.Application.Open", GLib.Variant("(asa{sv})", (files, platform_data)))
        asker.call(path, "org.gtk.Application.Open", GLib.Variant("(assa{sv})", (files, "", platform_data)))
        asker.call(path, "org.gtk.Application.CommandLine",
                   GLib.Variant("(oaaya{sv})", ("/", [b"--gapplication-action=quit\0", b"\xff\0"], platform_data)))
        asker.call(path, "org.freedesktop.Application.Activate", GLib.Variant("(a{sv})", (platform_data,)))
    for _ in range(300):
        asker.call(path, "org.freedesktop.Application.ActivateAction", GLib.Variant("(sava{sv})", ("new-window", [], {})))
    assert_nothing_happened(desk, window, before)
    assert len(window.find("frame")) <= 20


def test_desktop_action(desk: Machine) -> None:
    """The action that the desktop entry names opens a window"""
    window = Contacts(desk, desk.screen)
    names = re.search(r"^Actions=(.*);$", own_entry(APPLICATION_ID), re.MULTILINE)[1].split(";")
    assert set(names) == HARMLESS
    asker = Asker(desk)
    asker.call("/" + APPLICATION_ID.replace(".", "/"), "org.freedesktop.Application.ActivateAction",
               GLib.Variant("(sava{sv})", (names[0], [], {})))
    window.wait_until(lambda: len(window.find("frame")) == 2, "two windows")


def test_quitting(desk: Machine) -> None:
    """The user quits with a key all windows, also those that are behind"""
    window = Contacts(desk, desk.screen)
    window.keys("ctrl+shift+n")
    window.wait_until(lambda: len(window.find("frame")) == 2, "two windows")
    window.focus()
    window.keys("ctrl+q")
    wait(lambda: window.process.poll() == 0, "the end of the program")
    del desk.processes[PROGRAM]
    assert "CRITICAL" not in desk.log(PROGRAM)
