# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Handoff window itself: sizes, names, the keyboard, and what any program of the session can make of it."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import pytest
from buses import BRIDGE_ROOT, BUS, BusError, ROOT, wait
from clients import Client
from gi.repository import GLib
from pairing import shown
from settings import APPLICATION_ID, MIDDLE, NARROW, PAGES, PROGRAM, WIDE, Settings, complaints, ends, not_built, screen_of
from support import PROGRAMS, SOURCE, Machine, pair, start_machine
from test_settings import Machines, code, seen, strangers
from windows import Accessibility, Part, environment_of

if reason := not_built():
    pytest.skip(reason, allow_module_level=True)

__all__ = ["seen", "strangers"]
ACTIONS = "org.gtk.Actions"
# What is typed into does not say of itself that it has the keyboard.
ENTRY = "an entry"
# What can be chosen over the bus by whoever wants to: it shows something.
HARMLESS: set[str] = {"everything"}
HOSTILE = ["<b>bold</b> & <span size='999999'>", "\"quoted\" “quoted” 'quoted'", "a\nb\rc\u2028d", "\u202eevil\u202c \u2066x",
           "مرحبا שלום", "x" * 4_000, "123456", "_under_ & _score_", "%s%n%x", "Handoff: confirm 000000?"]


def fits(window: Settings, width: int) -> list[str]:
    """What is cut off at the edge of the window, or beyond it."""
    def parts(part: Part) -> Iterator[Part]:
        yield part
        # The switcher in the header makes room by hiding, which nobody is told of.
        if part.role != "page tab list":
            for child in part.children():
                if child.is_shown:
                    yield from parts(child)

    try:
        places = [(part, part.place) for part in parts(window.application)
                  if part.role in ("label", "push button", "text", "list item", "switch")]
    except GLib.Error:
        return ["something has gone while it was looked at"]
    return [f"{part.role} “{part.name}”" for part, place in places
            if place is not None and (place.x < 0 or place.x + place.width > width)]


@pytest.mark.parametrize("size", [NARROW, MIDDLE, WIDE])
def test_sizes(machine_list: list[Machine], accessibility: Accessibility, tmp_path: Path, size: str) -> None:
    """Each page fits a phone's screen and a wide one, with names that are long, and everything that can be used has a name, which
    is said once"""
    desk, lap = start_machine(machine_list, "desk"), start_machine(machine_list, "lap")
    pair(desk, lap)
    lap.screen = screen_of(lap, tmp_path, size)
    desk.session.set(BRIDGE_ROOT, "Bridge.DeviceName", GLib.Variant("s", "A device whose name is as long as it may be, which is 64 of them"))
    lap.session.set(ROOT, "Preferences.SharedFolders", GLib.Variant("a{ss}", {f"Folder {'long' * 40}": f"/{'deep/' * 60}"}))
    Client(lap)
    Client(desk).offer("A title that goes on and on " * 30)
    Client(desk, application_id="com.example.unknown", types=("com.example.unknown",))
    try:
        window = Settings(lap, lap.screen)
        window.screen.ask("xdotool", "windowmove", window.window(), "0", "0", "windowsize", window.window(), *size.split("x"))
        window.wait_until(lambda: any(part.description.startswith("A title") for part in window.find("push button", "Continue")), "the offer")
        width = int(size.split("x")[0])
        for page, what in zip(PAGES, ("desk", "This Device", "Nothing Fetched Yet", "Shared Folders"), strict=True):
            window.go_to(page)
            if page != "Continue":
                window.wait_for("label", what)
            window.wait_until(lambda: not fits(window, width), f"that {page} fits: {fits(window, width)}")
            assert not window.unnamed(), f"{page}: {window.unnamed()}"
            assert not window.doubled(), f"{page}: {window.doubled()}"
        window.keys("ctrl+n")
        window.wait_for("label", "By Address")
        assert not window.unnamed(), f"pairing: {window.unnamed()}"
        assert not window.doubled(), f"pairing: {window.doubled()}"
        assert not complaints(lap)
    finally:
        ends(lap)
        lap.screen.close()


def test_keyboard(strangers: Machines) -> None:
    """Two devices are paired, something is continued and a page is chosen by the keyboard alone"""
    desk, lap = strangers
    at_desk, at_lap = Settings(desk, desk.screen), Settings(lap, lap.screen)
    at_desk.focus()
    at_desk.keys("ctrl+n")
    wait(lambda: desk.session.get(BRIDGE_ROOT, "Bridge.Discoverable"), "that desk can be found")
    at_lap.focus()
    at_lap.keys("ctrl+n")
    at_lap.wait_for("label", "By Address")
    at_lap.focus()

    def press_tab_until(window: Settings, name: str, what: str | None = None) -> None:
        """Goes on with the Tab key until this has the keyboard, or the button of this name that is for something."""
        for _ in range(30):
            if window.button(name, what).has_keyboard if what else name in (window.focused() or [ENTRY]):
                return
            before = window.keyboard()
            window.keys("Tab")
            window.wait_until(lambda before=before: window.keyboard() != before, "something else with the keyboard")
        raise AssertionError(f"the Tab key does not lead to {name}\n{window.tree()}")

    press_tab_until(at_lap, "By Address")
    at_lap.keys("space")
    press_tab_until(at_lap, ENTRY)
    at_lap.type(f"127.0.0.1:{desk.port}")
    at_lap.keys("Return")
    assert code(at_desk) == code(at_lap)
    for window in (at_desk, at_lap):
        window.focus()
        # What confirms must not be what the Enter key happens to do.
        window.keys("Return")
        assert not shown(lap, desk.device_id).get("Paired")
        window.keys("alt+m")
    at_lap.wait_for("label", "The Devices Are Paired")
    at_lap.focus()
    at_lap.keys("Return")
    at_lap.wait_until(lambda: not at_lap.find("frame", "Pair a Device"), "the end of the dialog")
    target = Client(lap)
    Client(desk).offer("Shopping")
    at_lap.button("Continue", "Shopping")
    at_lap.focus()
    press_tab_until(at_lap, "Continue", "Shopping")
    at_lap.keys("space")
    target.wait_for("ContinueActivity")
    at_lap.go_to("Devices")
    at_lap.wait_for("label", "Paired Devices")
    at_lap.keys("ctrl+question")
    at_lap.wait_for("label", "Pair a device")
    at_lap.focus()
    at_lap.keys("Escape")
    at_lap.focus()
    at_lap.keys("ctrl+w")
    wait(lambda: at_lap.process.poll() == 0, "the end of the program")
    del lap.processes[PROGRAM]


@pytest.mark.parametrize("text", HOSTILE, ids=["markup", "quotes", "lines", "direction", "hebrew", "long", "digits", "underscores",
                                               "format", "prompt"])
def test_hostile(seen: Machines, text: str) -> None:
    """Titles and names that others chose are shown as text in a place of their own, whatever is in them"""
    desk, lap = seen
    desk.session.set(BRIDGE_ROOT, "Bridge.DeviceName", GLib.Variant("s", re.sub(r"[\n\r\u2028\u202e\u202c\u2066]", " ", text)[:64].strip()))
    Client(lap)
    Client(desk).offer(text)
    window = Settings(lap, lap.screen)
    window.wait_until(lambda: window.find("push button", "Continue"), "the offer")
    for label in window.labels():
        assert len(label) < 1_000 and not re.search("[\n\u2028\u202e]", label), label
    plain = re.sub(r"\W+", "", text)[:20]
    window.wait_until(lambda: any(re.sub(r"\W+", "", label).startswith(plain) for label in window.labels()), f"“{plain}”")
    window.go_to("Devices")
    window.wait_for("label", "Paired Devices")
    for item in window.find("list item"):
        # No name passes for a code.
        assert not re.search("[0-9]{6}", item.name), item.name
    assert window.process.poll() is None


class Asker:
    """A program that has nothing to do with the window."""

    def __init__(self, machine: Machine) -> None:
        self.session = machine.connect()

    def call(self, path: str, member: str, arguments: GLib.Variant | None = None) -> object:
        """What is answered; the name of the error if it is one."""
        try:
            return self.session.call(path, member, arguments, destination=APPLICATION_ID).unpack()
        except BusError as error:
            return error.name

    def objects(self, path: str = "/") -> dict[str, set[str]]:
        """All objects of the program, with their interfaces."""
        root = ElementTree.fromstring(self.call(path, f"{BUS}.Introspectable.Introspect")[0])
        found = {path: {interface.get("name") for interface in root.findall("interface")}}
        for node in root.findall("node"):
            found |= self.objects(f"{path.rstrip('/')}/{node.get('name')}")
        return found


def commands() -> set[str]:
    """All that the templates and the sources call a command, with and without a prefix."""
    source = SOURCE / "Sources" / "HandoffSettings"
    text = "".join(path.read_text() for path in [*source.glob("*.swift"), *source.glob("Templates/*.blp")])
    named = set(re.findall(r'"((?:app|win|handoff|offer|current)\.[a-z0-9-]+)"', text)) | set(re.findall(r'add\("([a-z-]+)"', text))
    return named | {name.rpartition(".")[2] for name in named} | {"offer.continue-0", "continue-0", "send-0", "window.close",
                                                                  "quit", "confirm", "unpair", "pair", "default.activate"}


def test_actions(seen: Machines) -> None:
    """No program of the session can have the window pair, confirm, unpair, continue or change anything by D-Bus"""
    desk, lap = seen
    target = Client(lap)
    Client(desk).offer("Shopping")
    window = Settings(lap, lap.screen)
    window.button("Continue", "Shopping")
    asker = Asker(lap)
    objects = asker.objects()
    before = {name: value.unpack() for name, value in lap.session.get_all(ROOT, "Preferences").items()}
    groups = {path: asker.call(path, f"{ACTIONS}.List")[0] for path, interfaces in objects.items() if ACTIONS in interfaces}
    assert groups
    for path, listed in groups.items():
        assert set(listed) <= HARMLESS, f"{path}: {listed}"
        for name in sorted(commands()):
            for parameter in ([], [GLib.Variant("s", "x")], [GLib.Variant("b", True)]):
                asker.call(path, f"{ACTIONS}.Activate", GLib.Variant("(sava{sv})", (name, parameter, {})))
            asker.call(path, f"{ACTIONS}.SetState", GLib.Variant("(sva{sv})", (name, GLib.Variant("b", True), {})))
    root = "/" + APPLICATION_ID.replace(".", "/")
    for name in sorted(commands()):
        asker.call(root, "org.freedesktop.Application.ActivateAction", GLib.Variant("(sava{sv})", (name, [], {})))
    # What was asked for has been dealt with once this is answered.
    asker.call(root, f"{BUS}.Peer.Ping")
    assert window.process.poll() is None
    assert not target.called("ContinueActivity")
    assert {name: value.unpack() for name, value in lap.session.get_all(ROOT, "Preferences").items()} == before
    assert shown(lap, desk.device_id)["Paired"]
    assert not lap.session.get(BRIDGE_ROOT, "Bridge.Discoverable")
    assert len(window.find("frame")) == 1
    # And there is nothing else of ours on the bus.
    ours = {interface for interfaces in objects.values() for interface in interfaces if "Handoff" in interface}
    assert not ours


def test_activation(strangers: Machines) -> None:
    """The bus starts the window when it is asked for, and a second start shows the one that is there"""
    lap = strangers[1]
    services = lap.folder / "share" / "dbus-1" / "services"
    services.mkdir(parents=True)
    (services / f"{APPLICATION_ID}.service").write_text(
        f"[D-BUS Service]\nName={APPLICATION_ID}\nExec={PROGRAMS}/{PROGRAM} --gapplication-service\n")
    bus = ("/org/freedesktop/DBus", BUS)
    environment = environment_of(lap, lap.screen)
    lap.session.call(bus[0], f"{BUS}.UpdateActivationEnvironment", GLib.Variant("(a{ss})", (environment,)), destination=BUS)
    lap.session.call(bus[0], f"{BUS}.ReloadConfig", destination=BUS)
    root = "/" + APPLICATION_ID.replace(".", "/")
    activated = lap.run("gdbus", "call", "--session", "--dest", APPLICATION_ID, "--object-path", root, "--method",
                        "org.freedesktop.Application.Activate", "{}")
    assert activated.returncode == 0, activated.stderr
    search = ("xdotool", "search", "--onlyvisible", "--name", "^Handoff$")
    wait(lambda: lap.screen.ask(*search).split(), "the window")
    former = lap.environment
    lap.environment = former | environment
    try:
        second = lap.start(PROGRAM)
    finally:
        lap.environment = former
    wait(lambda: second.poll() == 0, "the end of the second one")
    del lap.processes[PROGRAM]
    assert len(lap.screen.ask(*search).split()) == 1
    lap.screen.ask("xdotool", "windowfocus", "--sync", lap.screen.ask(*search).split()[0], "key", "ctrl+q")
    wait(lambda: not lap.session.owner(APPLICATION_ID), "the end of the program")
