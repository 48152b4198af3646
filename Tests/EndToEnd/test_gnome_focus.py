# SPDX-License-Identifier: LGPL-2.1-or-later
"""The extension in a real GNOME Shell: who is told which window has the focus, and who gets tokens."""

from __future__ import annotations

from typing import Any

import pytest
from gi.repository import GLib
from buses import BROKER, BUS, let_pass, wait
from clients import APPLICATION_ID, Client
from fake_agent import AGENT, FakeAgent
from gnome_shell import NAME, GnomeShell
from sandbox import RawClient, can_be_made
from support import SOURCE, Machine
from test_gnome_extension import INDICATOR, STATE, complaints, is_token, shell, wait_for_indicator

pytestmark = pytest.mark.desktop

WINDOW_PROGRAM = SOURCE / "Tests" / "EndToEnd" / "window_program.py"


def test_focus_is_told(machines: tuple[Machine, Machine], shell: GnomeShell) -> None:
    """The agent is told which window has the focus: its application, title, process, and where its actions are; and it gets
    tokens when it asks."""
    lap = machines[1]
    agent = FakeAgent(lap)
    wait(lambda: agent.told("Attach"), "Attach")
    program = shell.run("/usr/bin/python3", str(WINDOW_PROGRAM), APPLICATION_ID, "A letter")
    about = agent.wait_for_focus(Title="A letter")
    assert about["ApplicationId"] == APPLICATION_ID
    # What started it gives way to it.
    assert about["ProcessId"] == program.pid
    assert about["BusName"].startswith(":1.") and about["WindowPath"].startswith("/")
    actions = shell.session.call(about["WindowPath"], "org.gtk.Actions.List", destination=about["BusName"])
    assert actions.get_type_string() == "(as)"
    owner = shell.session.owner(NAME)
    assert {sender for sender, _, _ in agent.calls} == {owner}
    agent.want_token(owner, 7, APPLICATION_ID)
    wait(lambda: agent.told("ProvideToken"), "a token")
    request, token = agent.told("ProvideToken")[0]
    assert request == 7 and is_token(shell, token)
    agent.want_token(owner, 8, "com.example.not-installed")
    wait(lambda: len(agent.told("ProvideToken")) == 2, "an answer")
    assert agent.told("ProvideToken")[1] == (8, "")
    program.terminate()
    wait(lambda: not agent.window, "no window to have the focus")
    assert not complaints(shell)


def test_nobody_else_is_told_or_obeyed(machines: tuple[Machine, Machine], shell: GnomeShell) -> None:
    """What the Shell tells the agent is no signal, property or object that another program could read, and a token is made
    for nobody else who asks for one."""
    lap = machines[1]
    agent = FakeAgent(lap)
    wait(lambda: agent.told("Attach"), "Attach")
    stranger = lap.connect()
    heard: list[Any] = []
    stranger.connection.signal_subscribe(None, None, None, None, None, 0, lambda *about: heard.append(about[1:5]))
    owner = shell.session.owner(NAME)
    stranger.connection.emit_signal(owner, "/org/example/Handoff/Agent", AGENT, "TokenWanted",
                                    GLib.Variant("(us)", (9, APPLICATION_ID)))
    program = shell.run("/usr/bin/python3", str(WINDOW_PROGRAM), APPLICATION_ID, "A letter")
    agent.wait_for_focus(Title="A letter")
    # As long as a token takes to be made, many times over.
    let_pass(0.3)
    assert not agent.told("ProvideToken")
    assert not [about for about in heard if "Handoff" in f"{about}"]
    xml = stranger.call("/org/example", f"{BUS}.Introspectable.Introspect", destination=NAME).unpack()[0]
    assert "Handoff" not in xml
    program.terminate()


def test_impostors_get_nothing(machines: tuple[Machine, Machine], shell: GnomeShell) -> None:
    """A sandboxed program that owns the agent's name, or the broker's, is told nothing and asked for nothing, and nothing of
    it is shown."""
    desk, lap = machines
    if reason := can_be_made(lap):
        pytest.skip(reason)
    Client(lap)
    Client(desk).offer("A letter")
    wait_for_indicator(shell)
    impostor = RawClient(lap, "com.example.impostor")
    try:
        assert not impostor.call(BUS, "/org/freedesktop/DBus", f"{BUS}.RequestName", f"('{AGENT}', uint32 4)")
        impostor.take_name(BROKER, "handoffd")
        wait(lambda: not shell.evaluate(f"!!{INDICATOR}"), "the indicator to go")
        program = shell.run("/usr/bin/python3", str(WINDOW_PROGRAM), APPLICATION_ID, "A letter")
        wait(lambda: shell.evaluate("global.display.focus_window?.get_title() ?? ''") == "A letter", "the window")
        # As long as the Shell takes to ask who the names belong to, and to tell of the focus.
        let_pass(0.5)
        assert not impostor.calls
        assert not shell.evaluate(f"!!{INDICATOR}")
        assert shell.evaluate(f"[{STATE}._session._broker, {STATE}._focus._agent]") == [None, None]
        program.terminate()
    finally:
        impostor.close()


def test_real_agent_is_told(machines: tuple[Machine, Machine], shell: GnomeShell) -> None:
    """The agent itself takes from the Shell which application has the focus."""
    lap = machines[1]
    lap.start("handoff-agent", "--verbose")
    lap.wait_for(AGENT, "handoff-agent")
    program = shell.run("/usr/bin/python3", str(WINDOW_PROGRAM), APPLICATION_ID, "Something private")
    wait(lambda: f"A window of {APPLICATION_ID} has the focus." in lap.log("handoff-agent"), "the focus in the log")
    assert "Something private" not in lap.log("handoff-agent")
    program.terminate()
    wait(lambda: lap.log("handoff-agent").rstrip().endswith("No window has the focus."), "the window to be gone")
