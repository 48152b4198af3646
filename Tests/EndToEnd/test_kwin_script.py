# SPDX-License-Identifier: LGPL-2.1-or-later
"""The script in a real KWin, which tells the agent which window has the focus."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from gi.repository import Gio, GLib
from buses import BUS, BusError, Session, let_pass, wait
from fake_agent import AGENT, FakeAgent
from screen import Screen
from support import SOURCE, Machine

pytestmark = pytest.mark.desktop

KWIN = "org.kde.KWin"
SCRIPT = SOURCE / "data" / "kwin" / "scripts" / "handoff" / "contents" / "code" / "main.js"
WINDOW_PROGRAM = SOURCE / "Tests" / "EndToEnd" / "window_program.py"
EDITOR = "com.example.editor"
PROPERTIES = """<node><interface name="org.freedesktop.DBus.Properties"><method name="Get">
<arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="v" direction="out"/></method></interface></node>"""


class FakeSystemd(Session):
    """What says which process is the agent's, as the user's systemd does."""

    def __init__(self, machine: Machine, main_process: int) -> None:
        super().__init__(machine.address)
        machine.sessions.append(self)
        self.main_process = main_process
        self.asked: list[Any] = []
        self.connection.register_object(
            "/org/freedesktop/systemd1/unit/handoff_2dagent_2eservice",
            Gio.DBusNodeInfo.new_for_xml(PROPERTIES).interfaces[0], self._called, None, None)
        self.call("/org/freedesktop/DBus", f"{BUS}.RequestName", GLib.Variant("(su)", ("org.freedesktop.systemd1", 4)),
                  destination=BUS)

    def _called(self, _connection: Gio.DBusConnection, _sender: str, _path: str, _interface: str, _method: str,
                arguments: GLib.Variant, invocation: Gio.DBusMethodInvocation) -> None:
        self.asked.append(arguments.unpack())
        invocation.return_value(GLib.Variant("(v)", (GLib.Variant("u", self.main_process),)))


class KWin:
    """The window manager of a machine, on a screen of its own."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.screen = Screen(machine.folder)
        self.processes: list[subprocess.Popen[bytes]] = []
        self.environment = machine.environment | {
            "DISPLAY": self.screen.display, "KWIN_COMPOSE": "N", "GDK_BACKEND": "x11", "NO_AT_BRIDGE": "1",
            "XDG_DATA_DIRS": f"{machine.environment['XDG_DATA_DIRS']}:/usr/share"}
        self.run("kwin_x11", "--replace")
        self.session = machine.connect()
        wait(lambda: self._is_ready(), "KWin")

    def _is_ready(self) -> bool:
        try:
            self.session.call("/Scripting", f"{BUS}.Introspectable.Introspect", destination=KWIN)
        except BusError:
            return False
        return True

    def run(self, *command: str) -> subprocess.Popen[bytes]:
        with open(self.machine.log_file(command[0]), "ab") as log:
            process = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", *command], env=self.environment,
                                       cwd=self.machine.folder, stdin=subprocess.PIPE, stdout=log, stderr=log)
        self.processes.append(process)
        return process

    def load(self) -> None:
        """Runs the script."""
        self.session.call("/Scripting", "org.kde.kwin.Scripting.loadScript",
                          GLib.Variant("(ss)", (str(SCRIPT), "handoff")), destination=KWIN)
        self.session.call("/Scripting", "org.kde.kwin.Scripting.start", destination=KWIN)

    def show_window(self, application_id: str, title: str) -> subprocess.Popen[bytes]:
        return self.run("/usr/bin/python3", str(WINDOW_PROGRAM), application_id, title)

    def close(self) -> None:
        for process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdin.close()
        self.screen.close()


@pytest.fixture
def kwin(machine: Machine) -> Iterator[KWin]:
    if not shutil.which("kwin_x11"):
        pytest.skip("KWin is not installed: meson-helpers/install-packages desktop")
    kwin = KWin(machine)
    yield kwin
    kwin.close()


def test_kwin_tells_the_focus(machine: Machine, kwin: KWin) -> None:
    """The agent is told which window has the focus, what becomes of its title, and when it is gone."""
    agent, systemd = FakeAgent(machine), FakeSystemd(machine, os.getpid())
    kwin.load()
    first = kwin.show_window(EDITOR, "A letter")
    about = agent.wait_for_focus(Title="A letter")
    assert about["ApplicationId"] == EDITOR
    assert about["ProcessId"] == first.pid
    second = kwin.show_window("com.example.viewer", "A picture")
    assert agent.wait_for_focus(Title="A picture")["ApplicationId"] == "com.example.viewer"
    assert second.stdin
    second.stdin.write(b"Another <b>picture</b>\n")
    second.stdin.flush()
    agent.wait_for_focus(Title="Another <b>picture</b>")
    second.terminate()
    agent.wait_for_focus(Title="A letter")
    first.terminate()
    wait(lambda: not agent.window, "no window to have the focus")
    assert {sender for sender, _, _ in agent.calls} == {kwin.session.owner(KWIN)}
    assert len(systemd.asked) == 1, "who the agent is is found out once"


def test_kwin_tells_the_agent_alone(machine: Machine, kwin: KWin) -> None:
    """Who owns the agent's name without being the process that systemd has started as the agent is told nothing."""
    impostor, systemd = FakeAgent(machine), FakeSystemd(machine, os.getpid() + 1)
    kwin.load()
    kwin.show_window(EDITOR, "A letter")
    wait(lambda: "A letter" in kwin.screen.titles() and systemd.asked, "the window")
    # As long as KWin takes to call an agent.
    let_pass(0.3)
    assert not impostor.calls


def test_real_agent_is_told_by_kwin(machine: Machine, kwin: KWin) -> None:
    """The agent itself takes from KWin which application has the focus."""
    process = machine.start("handoff-agent", "--verbose")
    machine.wait_for(AGENT, "handoff-agent")
    FakeSystemd(machine, process.pid)
    kwin.load()
    kwin.show_window(EDITOR, "Something private")
    wait(lambda: f"A window of {EDITOR} has the focus." in machine.log("handoff-agent"), "the focus in the log")
    assert "Something private" not in machine.log("handoff-agent")
