# SPDX-License-Identifier: LGPL-2.1-or-later
"""The focus on X11, where no shell tells it: what the agent makes of what windows say."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from gi.repository import GLib
from agents import Desk
from buses import ROOT, let_pass, wait
from played_adapter import PLAYER, TOLD, WINDOW, Played, appear, focus, front
from screen import Screen
from support import SANITIZED, Machine, memory
from test_desktop_entries import install
from test_focus import shell
from test_notices import switches

pytestmark = [pytest.mark.skipif(not shutil.which("Xvfb"), reason="no Xvfb: meson-helpers/install-packages test")]
# What a client does to windows of its own, and to the root window as a window manager does.
CLIENT = Path(__file__).with_name("x11_client.py")
# The numbers of requests, from the protocol of X11.
CHANGE_ATTRIBUTES, INTERN_ATOM, GET_PROPERTY = 2, 16, 20


class Client:
    """A client of the display, which takes orders."""

    def __init__(self, machine: Desk, display: str) -> None:
        with open(machine.folder / "x11-client.log", "ab") as log:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "/usr/bin/python3", str(CLIENT)], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=log, text=True, env=os.environ | {"DISPLAY": display})

    def do(self, *order: str) -> str:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write("\t".join(order) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        assert answer, "the client has ended"
        return answer

    def window(self, **properties: str) -> str:
        """A new window with these properties, each text, or a number if it is one."""
        window = self.do("window")
        for name, value in properties.items():
            self.do("set", window, name, value)
        return window

    def activate(self, window: str) -> None:
        self.do("activate", window)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Screen]:
    screen = Screen(tmp_path)
    yield screen
    screen.close()


@pytest.fixture
def desk(machine_list: list[Machine], screen: Screen) -> Desk:
    machine = Desk("desk")
    machine_list.append(machine)
    machine.environment["DISPLAY"] = screen.display
    machine.environment["XDG_SESSION_TYPE"] = "x11"
    install(machine, PLAYER, Implements="", StartupWMClass="Playing")
    machine.start_broker()
    return machine


@pytest.fixture
def client(desk: Desk, screen: Screen) -> Iterator[Client]:
    client = Client(desk, screen.display)
    yield client
    client.close()


@pytest.mark.parametrize(("properties", "told"), [
    ({"_GTK_APPLICATION_ID": PLAYER, "_GTK_UNIQUE_BUS_NAME": ":1.7", "_GTK_WINDOW_OBJECT_PATH": "/window/1",
      "_NET_WM_PID": "42"}, TOLD),
    ({"_BAMF_DESKTOP_FILE": f"/usr/share/applications/{PLAYER}.desktop"}, {"ApplicationId": PLAYER}),
    ({"_KDE_NET_WM_DESKTOP_FILE": PLAYER}, {"ApplicationId": PLAYER}),
    ({"WM_CLASS": "playing\0Playing\0"}, {"ApplicationId": PLAYER}),
    ({"WM_CLASS": f"x\0{PLAYER.upper()}\0"}, {"ApplicationId": PLAYER}),
    ({"_GTK_APPLICATION_ID": PLAYER, "_NET_WM_PID": "42", "WM_CLIENT_MACHINE": "elsewhere"}, {"ApplicationId": PLAYER}),
])
def test_active_window(desk: Desk, client: Client, properties: dict[str, str], told: dict[str, object]) -> None:
    """The active window is known by what it says of its application, and only of windows on this machine the process."""
    adapter = Played(desk)
    desk.start_agent()
    window = client.window(**properties)
    client.activate(window)
    wait(lambda: front(adapter) == told, f"the window, and not {adapter.fronts}")
    client.activate(client.window(WM_CLASS="other\0Other\0"))
    wait(lambda: front(adapter) == {}, "that it is left")
    client.activate(window)
    wait(lambda: front(adapter) == told, "the window")
    client.activate("0")
    wait(lambda: front(adapter) == {}, "that none is active")


def test_shell_knows_better(desk: Desk, client: Client) -> None:
    """While a shell tells the focus, what windows say does not count."""
    adapter = Played(desk)
    desk.start_agent()
    client.activate(client.window(_GTK_APPLICATION_ID=PLAYER))
    wait(lambda: front(adapter) == {"ApplicationId": PLAYER}, "the window")
    session = shell(desk)
    focus(session, **WINDOW)
    wait(lambda: front(adapter) == TOLD, "what the shell says")
    client.activate("0")
    # Longer than there is between two questions to the display (X11Focus.interval, 0.1 s).
    let_pass(0.3)
    assert front(adapter) == TOLD
    session.close()
    wait(lambda: front(adapter) == {}, "what the display says")


def test_no_window_manager(desk: Desk, client: Client) -> None:
    """A display where nobody says which window is active leaves it unknown."""
    adapter = Played(desk)
    desk.start_agent()
    appear(desk)
    wait(lambda: adapter.starts, "the adapter")
    # As long as the display takes to be asked, and the adapter to be told.
    let_pass(0.4)
    assert not adapter.fronts
    client.activate("0")
    wait(lambda: front(adapter) == {}, "that somebody does now")


def test_wayland(desk: Desk, client: Client) -> None:
    """In a session on Wayland the display of X11 knows only some of the windows, and is not asked."""
    adapter = Played(desk)
    desk.environment["XDG_SESSION_TYPE"] = "wayland"
    desk.start_agent()
    client.activate(client.window(_GTK_APPLICATION_ID=PLAYER))
    # As long as the display takes to be asked, and an adapter to be started.
    let_pass(0.5)
    assert not adapter.lines


def test_display_that_goes_away(desk: Desk, client: Client, screen: Screen) -> None:
    """When the display ends the agent goes on, and the adapter is told that the focus is not known."""
    adapter = Played(desk)
    desk.start_agent()
    client.activate(client.window(_GTK_APPLICATION_ID=PLAYER))
    wait(lambda: front(adapter) == {"ApplicationId": PLAYER}, "the window")
    screen.close()
    wait(lambda: front(adapter) == {"Known": False}, "that nothing is known")
    focus(shell(desk), **WINDOW)
    wait(lambda: front(adapter) == TOLD, "the agent to go on")


def test_display_that_hangs(machine_list: list[Machine], tmp_path: Path) -> None:
    """A display that takes connections and says nothing does not keep the agent from anything."""
    machine = Desk("desk")
    machine_list.append(machine)
    install(machine, PLAYER, Implements="")
    machine.start_broker()
    number = 4000 + os.getpid() % 1000
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"\0/tmp/.X11-unix/X{number}")
        listener.listen()
        machine.environment["DISPLAY"] = f":{number}"
        adapter = Played(machine)
        machine.start_agent()
        listener.settimeout(10)
        connection, _ = listener.accept()
        focus(shell(machine), **WINDOW)
        wait(lambda: front(adapter) == TOLD, "the agent to go on")
        assert machine.kill("handoff-agent", 15) == 0
        connection.close()


def serve_x11(connection: socket.socket) -> None:
    """A display that takes a client, and is gone when that asks for the first property."""
    with connection, connection.makefile("rb") as stream:
        head = stream.read(12)
        lengths = [int.from_bytes(head[at:at + 2], "little") for at in (6, 8)]
        stream.read(sum((length + 3) // 4 * 4 for length in lengths))
        screen = struct.pack("<5I6HI4B", 1, 2, 0, 0, 0, 9, 9, 9, 9, 1, 1, 3, 0, 0, 24, 0)
        body = struct.pack("<4I2H8BI", 1, 0x200000, 0x1FFFFF, 0, 0, 65535, 1, 0, 0, 0, 32, 32, 8, 255, 0) + screen
        connection.sendall(struct.pack("<BBHHH", 1, 0, 11, 0, len(body) // 4) + body)
        number = 0
        while request := stream.read(4):
            number += 1
            kind, length = request[0], int.from_bytes(request[2:4], "little")
            stream.read(length * 4 - 4)
            if kind == GET_PROPERTY:
                return
            if kind != CHANGE_ATTRIBUTES:
                # An atom, the focus, or that there is no extension.
                value = 100 + number if kind == INTERN_ATOM else 0
                connection.sendall(struct.pack("<BBHII20x", 1, 0, number & 0xFFFF, 0, value))


def test_display_that_loses_connections(machine_list: list[Machine]) -> None:
    """A display that takes connections and loses them when it is asked is tried again five times at most."""
    machine = Desk("desk")
    machine_list.append(machine)
    number = 5000 + os.getpid() % 1000
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"\0/tmp/.X11-unix/X{number}")
        listener.listen()
        machine.environment["DISPLAY"] = f":{number}"
        machine.start_broker()
        # The clipboard has a connection of its own.
        machine.session.set(ROOT, "Preferences.Clipboard", GLib.Variant("s", "off"))
        machine.start_agent()
        listener.settimeout(4)
        count = 0
        with contextlib.suppress(TimeoutError):
            while count < 20:
                serve_x11(listener.accept()[0])
                count += 1
        log = machine.log("handoff-agent")
        assert count == 6 and log.count("The display is gone.") == 6, log


def test_hostile_client(desk: Desk, client: Client, screen: Screen) -> None:
    """A client that gives windows properties of a megabyte, nonsense in place of text, and changes the active window a
    thousand times a second does not make the agent grow, nor keep it from what comes afterwards."""
    adapter = Played(desk)
    desk.start_agent()
    good = client.window(_GTK_APPLICATION_ID=PLAYER)
    client.activate(good)
    wait(lambda: front(adapter) == {"ApplicationId": PLAYER}, "the window")
    before = memory(desk, "handoff-agent")
    bad = client.do("window")
    for name in ("_GTK_APPLICATION_ID", "WM_CLASS", "_GTK_UNIQUE_BUS_NAME", "_GTK_WINDOW_OBJECT_PATH", "_NET_WM_PID",
                 "_BAMF_DESKTOP_FILE", "WM_CLIENT_MACHINE"):
        client.do("fill", bad, name)
    client.do("flicker", good, bad, "3000")
    odd = client.window(_GTK_APPLICATION_ID="../../etc/passwd", _GTK_UNIQUE_BUS_NAME=":1.1 x", WM_CLASS="\0" * 9,
                        _GTK_WINDOW_OBJECT_PATH="//", _NET_WM_PID="4294967295", _BAMF_DESKTOP_FILE="/")
    client.activate(odd)
    wait(lambda: front(adapter) == {}, "another window")
    client.activate(good)
    wait(lambda: front(adapter) == {"ApplicationId": PLAYER}, "the window")
    assert len(adapter.fronts) < 200
    assert SANITIZED or memory(desk, "handoff-agent") - before < 1 << 20


def test_idle_on_x11(desk: Desk, client: Client) -> None:
    """An agent that follows a display wakes up for nothing while nothing changes there, and takes at most three megabytes."""
    adapter = Played(desk)
    desk.start_agent()
    client.activate(client.window(_GTK_APPLICATION_ID=PLAYER))
    wait(lambda: front(adapter) == {"ApplicationId": PLAYER}, "the window")
    # Longer than it waits before it gives memory back (FreedMemory.delay, 1 s).
    let_pass(1.5)
    process = desk.processes["handoff-agent"].pid
    before = switches(process)
    # Long enough for what repeats itself every second, or every few, to be seen.
    let_pass(4)
    assert switches(process) == before
    assert SANITIZED or memory(desk, "handoff-agent") <= 3 << 20


@pytest.mark.desktop
@pytest.mark.skipif(not shutil.which("kwin_x11"), reason="no KWin: meson-helpers/install-packages test")
def test_window_manager(desk: Desk, client: Client, screen: Screen) -> None:
    """With a real window manager, the window that gets the focus is told."""
    adapter = Played(desk)
    environment = os.environ | {"DISPLAY": screen.display, "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent",
                                "HOME": desk.environment["HOME"], "QT_QPA_PLATFORM": "xcb"}
    with open(desk.folder / "kwin.log", "wb") as log:
        manager = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "kwin_x11"], env=environment, stdout=log, stderr=log)
    try:
        desk.start_agent()
        windows = [client.window(_GTK_APPLICATION_ID=name, WM_CLASS="a\0A\0") for name in (PLAYER, "com.example.none")]
        wait(lambda: "_NET_ACTIVE_WINDOW" in screen.ask("xprop", "-root"), "the window manager")
        for window in windows:
            client.do("map", window)
        wait(lambda: adapter.fronts or screen.ask("xdotool", "windowactivate", windows[0]) or adapter.fronts, "a focus")
        wait(lambda: screen.ask("xdotool", "windowactivate", windows[0]) or
             front(adapter) == {"ApplicationId": PLAYER}, "the window")
        wait(lambda: screen.ask("xdotool", "windowactivate", windows[1]) or front(adapter) == {}, "that it is left")
    finally:
        manager.kill()
        manager.wait()
