# SPDX-License-Identifier: LGPL-2.1-or-later
"""The agent's notifications as real desktops show them: GNOME Shell, dunst and xfce4-notifyd."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from gi.repository import GLib
from agents import Desk, Pair
from buses import let_pass, wait
from gnome_shell import GnomeShell, missing
from notifications import PLAIN
from screen import Screen
from support import PROGRAMS, Machine, start_machine
from test_pairing_notices import compare
from vendor import own_entry, own_id

XFCE = "/usr/lib/x86_64-linux-gnu/xfce4/notifyd/xfce4-notifyd"
# Names and titles that try to look like something else.
HOSTILE = "<b>Pay</b> & “Continue” <a href='x'>y</a>"
pytestmark = pytest.mark.desktop


def picture(machine: Machine, name: str) -> str:
    """Where a picture goes, for people to look at: it is kept if HANDOFF_PICTURES names a folder."""
    return str(Path(os.environ.get("HANDOFF_PICTURES", machine.folder), f"{name}.png"))


class Programs:
    """The programs of a desktop on a machine."""

    def __init__(self, machine: Desk) -> None:
        self.machine = machine
        self.processes: list[subprocess.Popen[bytes]] = []
        self.environment = machine.environment | {
            "XDG_DATA_DIRS": f"{machine.environment['XDG_DATA_DIRS']}:/usr/share", "GSETTINGS_BACKEND": "keyfile",
            "LIBGL_ALWAYS_SOFTWARE": "1", "NO_AT_BRIDGE": "1", "GTK_A11Y": "none"}

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        with open(self.machine.log_file(Path(command[0]).name), "ab") as log:
            process = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", *command], env=self.environment,
                                       stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.processes.append(process)
        return process

    def close(self) -> None:
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class NoticeShell(GnomeShell):
    """GNOME Shell, whose notifications are looked at."""

    def __init__(self, machine: Desk) -> None:
        entries = Path(machine.environment["XDG_DATA_HOME"], "applications")
        entries.mkdir(parents=True)
        (entries / own_id("Agent.desktop")).write_text(own_entry(own_id("Agent"), libexecdir=PROGRAMS))
        super().__init__(machine)

    def notices(self) -> list[dict[str, object]]:
        """What it shows: title, body and buttons."""
        return self.evaluate("Main.messageTray.getSources().map(s => s.notifications).flat()"
                             f".filter(n => n.source._appId === '{own_id('Agent')}')"
                             ".map(n => ({title: n.title, body: n.bannerBodyText,"
                             " markup: n.bannerBodyMarkup, buttons: n.actions.map(a => a.label)}))")

    def wait_for(self, title: str) -> dict[str, object]:
        return wait(lambda: next((one for one in self.notices() if one["title"] == title), None), title)

    def press(self, title: str, number: int) -> None:
        """Presses a button of the notification with this title."""
        self.evaluate("void Main.messageTray.getSources().map(s => s.notifications).flat()"
                      f".find(n => n.title === {json.dumps(title)}).actions[{number}].callback()")

    def shoot_list(self, name: str) -> None:
        """Takes a picture of the list of notifications."""
        self.evaluate(f"void Main.messageTray.getSources().filter(s => s._appId !== '{own_id('Agent')}')"
                      ".forEach(s => s.destroy())")
        self.evaluate("void Main.panel.statusArea.dateMenu.menu.open(0)")
        self.shoot(name)


@pytest.fixture
def desks(machine_list: list[Machine]) -> Pair:
    return Pair(machine_list, agent=False)


@pytest.fixture
def shell(desks: Pair) -> Iterator[NoticeShell]:
    if what := missing():
        pytest.skip(what)
    shell = NoticeShell(desks.lap)
    desks.lap.start_agent()
    yield shell
    shell.close()


@pytest.mark.always
def test_gnome(desks: Pair, shell: NoticeShell) -> None:
    """GNOME Shell shows the question on arrival, and its button continues with what lets the application raise its window."""
    desks.offer("Report")
    desks.presence.arrive()
    title = "Continue “Report”?"
    assert shell.wait_for(title)["buttons"] == ["Continue"]
    shell.shoot_list("gnome-arrival")
    shell.press(title, 0)
    call = desks.receiver.wait_for("ContinueActivity")
    assert call.arguments.unpack()[1].get("ActivationToken"), "the Shell gives a startup id"
    wait(lambda: not shell.notices(), "the end of the notification")


def test_gnome_takes_back(desks: Pair, shell: NoticeShell) -> None:
    """GNOME Shell takes the question back when the session is locked, and shows hostile titles as they are."""
    desks.offer(HOSTILE)
    desks.presence.arrive()
    title = "Continue “<b>Pay</b> & 'Continue' <a href='x'>y</a>”?"
    shell.wait_for(title)
    shell.shoot_list("gnome-hostile")
    desks.presence.lock()
    wait(lambda: not shell.notices(), "the end of the notification")


def test_gnome_pairing(desks: Pair, shell: NoticeShell, machine_list: list[Machine]) -> None:
    """GNOME Shell shows the code of a device that asks to be paired, and its button confirms it."""
    other = start_machine(machine_list, "other")
    code = compare((other, desks.lap))
    assert shell.wait_for(code)["buttons"] == ["They match", "They don’t match"]
    shell.shoot_list("gnome-pairing")
    other.session.call(f"/org/example/Handoff/Bridge/devices/{desks.lap.device_id}", "Device.ConfirmPairing",
                       GLib.Variant("(b)", (True,)))
    shell.press(code, 0)
    wait(lambda: desks.lap.connected_to(other.device_id), "the two to be paired")


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Screen]:
    if not shutil.which("Xvfb"):
        pytest.skip("no Xvfb: meson-helpers/install-packages test")
    screen = Screen(tmp_path)
    yield screen
    screen.close()


class Plain(Programs):
    """A server of the Desktop Notifications Specification on a screen."""

    def __init__(self, desks: Pair, screen: Screen, *command: str) -> None:
        super().__init__(desks.lap)
        self.screen = screen
        self.environment |= {"DISPLAY": screen.display, "GDK_BACKEND": "x11", "XDG_SESSION_TYPE": "x11"}
        self.start(*command)
        wait(lambda: desks.lap.session.owner(PLAIN), command[0])
        desks.lap.start_agent()

    def shoot(self, name: str) -> None:
        self.screen.ask("import", "-window", "root", picture(self.machine, name))

    def window(self, name: str) -> dict[str, int]:
        """Where its newest window is that is shown."""
        def place() -> dict[str, int]:
            number = self.screen.ask("xdotool", "search", "--onlyvisible", "--class", name).split()
            said = self.screen.ask("xdotool", "getwindowgeometry", "--shell", number[-1]) if number else ""
            return {key: int(value) for key, _, value in (line.partition("=") for line in said.splitlines())}
        return wait(place, f"a window of {name}")

    def click(self, x: int, y: int) -> None:
        self.screen.ask("xdotool", "mousemove", str(x), str(y), "click", "1")


def dunst(desks: Pair, screen: Screen) -> Plain:
    if not shutil.which("dunst"):
        pytest.skip("no dunst: meson-helpers/install-packages desktop")
    return Plain(desks, screen, "dunst")


@pytest.mark.always
def test_dunst(desks: Pair, screen: Screen) -> None:
    """dunst shows the question on arrival, and choosing it continues."""
    server = dunst(desks, screen)
    try:
        desks.offer("Report")
        desks.presence.arrive()
        server.window("Dunst")
        # As long as it takes to be drawn.
        let_pass(0.3)
        server.shoot("dunst-arrival")
        subprocess.run(["dunstctl", "action", "0"], env=server.environment, check=True)
        desks.receiver.wait_for("ContinueActivity")
    finally:
        server.close()


def test_dunst_hostile(desks: Pair, screen: Screen) -> None:
    """dunst shows a hostile title and name as they are, and takes them back when the session is locked."""
    server = dunst(desks, screen)
    try:
        desks.desk.session.set("/org/example/Handoff/Bridge", "Bridge.DeviceName", GLib.Variant("s", "<i>R&D</i> “x”"))
        desks.offer(HOSTILE)
        wait(lambda: any("R&D" in offer["DeviceName"] for offer in desks.dock.offers.values()), "the name")
        desks.presence.arrive()
        server.window("Dunst")
        # As long as it takes to be drawn.
        let_pass(0.3)
        server.shoot("dunst-hostile")
        desks.presence.lock()
        wait(lambda: not screen.ask("xdotool", "search", "--onlyvisible", "--class", "Dunst").split(), "the end of it")
    finally:
        server.close()


@pytest.mark.always
def test_xfce(desks: Pair, screen: Screen) -> None:
    """xfce4-notifyd shows the question on arrival, and pressing its button continues."""
    if not Path(XFCE).exists():
        pytest.skip("no xfce4-notifyd: meson-helpers/install-packages desktop")
    server = Plain(desks, screen, XFCE)
    try:
        desks.offer(HOSTILE)
        desks.presence.arrive()
        place = server.window("xfce4-notifyd")
        # As long as it takes to be drawn and to become opaque, before which its button takes no click.
        let_pass(1)
        server.shoot("xfce-arrival")
        # The button stands at the lower end.
        server.click(place["X"] + place["WIDTH"] - 60, place["Y"] + place["HEIGHT"] - 30)
        desks.receiver.wait_for("ContinueActivity")
    finally:
        server.close()
