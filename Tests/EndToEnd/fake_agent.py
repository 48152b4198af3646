# SPDX-License-Identifier: LGPL-2.1-or-later
"""What owns the agent's name in place of the agent, and remembers what a shell tells it."""

from __future__ import annotations

from typing import Any

from gi.repository import Gio, GLib
from buses import BUS, Session, wait
from clients import interface_without
from support import Machine

AGENT = "org.example.Handoff.Agent"
AGENT_PATH = "/org/example/Handoff/Agent"


class FakeAgent(Session):
    """An agent that answers every call, and keeps it with who made it."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine.address)
        machine.sessions.append(self)
        self.calls: list[tuple[str, str, Any]] = []
        self.connection.register_object(AGENT_PATH, interface_without("Agent", ()), self._called, None, None)
        self.call("/org/freedesktop/DBus", f"{BUS}.RequestName", GLib.Variant("(su)", (AGENT, 4)), destination=BUS)

    def _called(self, _connection: Gio.DBusConnection, sender: str, _path: str, _interface: str, method: str,
                arguments: GLib.Variant, invocation: Gio.DBusMethodInvocation) -> None:
        self.calls.append((sender, method, arguments.unpack()))
        invocation.return_value(None)

    def told(self, member: str) -> list[Any]:
        """The arguments of the calls of a member so far."""
        return [arguments for _, method, arguments in self.calls if method == member]

    @property
    def window(self) -> dict[str, Any]:
        """The window that has the focus, as it was last told."""
        told = self.told("FocusChanged")
        return told[-1][0] if told else {}

    def wait_for_focus(self, **about: Any) -> dict[str, Any]:
        """Waits until it is told of a window of which all this is true."""
        wait(lambda: about.items() <= self.window.items(), f"a window {about} to have the focus")
        return self.window

    def want_token(self, shell: str, request: int, application_id: str) -> None:
        """Asks this connection for a token."""
        self.connection.emit_signal(shell, AGENT_PATH, AGENT, "TokenWanted",
                                    GLib.Variant("(us)", (request, application_id)))
