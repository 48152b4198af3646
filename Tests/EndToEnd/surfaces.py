# SPDX-License-Identifier: LGPL-2.1-or-later
"""The agent of a machine, and who asks it: the desktop's search, and a panel."""

from __future__ import annotations

from typing import Any

from gi.repository import Gio, GLib
from buses import BUS, Session, wait
from support import Machine

AGENT = "org.example.Handoff.Agent"
AGENT_ROOT = "/org/example/Handoff/Agent"
PROVIDER = f"{AGENT_ROOT}/SearchProvider"
RUNNER = f"{AGENT_ROOT}/Runner"
ITEM = f"{AGENT_ROOT}/Item"
MENU = f"{AGENT_ROOT}/Menu"
WATCHER = "org.kde.StatusNotifierWatcher"

# What each of these objects is asked first.
QUESTIONS = {
    PROVIDER: ("org.gnome.Shell.SearchProvider2.GetInitialResultSet", GLib.Variant("(as)", (["continue"],))),
    RUNNER: ("org.kde.krunner1.Match", GLib.Variant("(s)", ("continue",))),
    ITEM: (f"{BUS}.Properties.GetAll", GLib.Variant("(s)", ("org.kde.StatusNotifierItem",))),
    MENU: ("com.canonical.dbusmenu.GetLayout", GLib.Variant("(iias)", (0, -1, []))),
}


def start_agent(machine: Machine) -> None:
    """Starts the agent, which is ready then."""
    machine.start("handoff-agent", "--verbose")
    machine.wait_for(AGENT, "handoff-agent")


def ask(session: Session, path: str, member: str, signature: str = "", *arguments: Any) -> Any:
    """Calls the agent, and returns the answer as Python values: what it is if it is one."""
    variant = GLib.Variant(f"({signature})", arguments) if signature else None
    answer = session.call(path, member, variant, destination=AGENT).unpack()
    return answer[0] if len(answer) == 1 else answer


class ShellSearch(Session):
    """Asks as GNOME Shell does."""

    INTERFACE = "org.gnome.Shell.SearchProvider2"

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine.address)
        machine.sessions.append(self)

    def find(self, *terms: str) -> list[str]:
        """The ids of what is found for these terms."""
        return ask(self, PROVIDER, f"{self.INTERFACE}.GetInitialResultSet", "as", terms)

    def find_one(self, *terms: str) -> str:
        """Waits until something is found, and returns its id."""
        return wait(lambda: self.find(*terms), f"a result for {terms}")[0]

    def metas(self, *ids: str) -> list[dict[str, str]]:
        return ask(self, PROVIDER, f"{self.INTERFACE}.GetResultMetas", "as", ids)

    def activate(self, result: str, timestamp: int = 0) -> None:
        ask(self, PROVIDER, f"{self.INTERFACE}.ActivateResult", "sasu", result, ["continue"], timestamp)


class KRunner(Session):
    """Asks as KRunner does."""

    INTERFACE = "org.kde.krunner1"

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine.address)
        machine.sessions.append(self)

    def ask(self, member: str, signature: str = "", *arguments: Any) -> Any:
        return ask(self, RUNNER, f"{self.INTERFACE}.{member}", signature, *arguments)

    def match(self, query: str) -> list[tuple[str, str, str, int, float, dict[str, Any]]]:
        return self.ask("Match", "s", query)


WATCHER_XML = """
<node><interface name="org.kde.StatusNotifierWatcher">
  <method name="RegisterStatusNotifierItem"><arg type="s" direction="in"/></method>
</interface></node>
"""


class PanelHost(Session):
    """A panel: it takes items, and shows them and their menus."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine.address)
        machine.sessions.append(self)
        self.items: list[str] = []
        self.signals: list[tuple[str, tuple[Any, ...]]] = []
        info = Gio.DBusNodeInfo.new_for_xml(WATCHER_XML).interfaces[0]
        self.connection.register_object("/StatusNotifierWatcher", info, self._called, None, None)
        self.connection.signal_subscribe(None, None, None, None, None, Gio.DBusSignalFlags.NONE, self._signalled)
        Gio.bus_own_name_on_connection(self.connection, WATCHER, Gio.BusNameOwnerFlags.NONE, None, None)

    def _called(self, _connection: Gio.DBusConnection, sender: str, _path: str, _interface: str, _method: str,
                arguments: GLib.Variant, invocation: Gio.DBusMethodInvocation) -> None:
        self.items.append(sender + arguments.unpack()[0])
        invocation.return_value(None)

    def _signalled(self, _connection: Gio.DBusConnection, _sender: str, path: str, _interface: str, member: str,
                   arguments: GLib.Variant) -> None:
        if path.startswith(AGENT_ROOT):
            self.signals.append((member, arguments.unpack()))

    def wait_for_item(self) -> None:
        wait(lambda: self.items, "the item")

    def item(self) -> dict[str, Any]:
        """The properties of the item."""
        return ask(self, ITEM, f"{BUS}.Properties.GetAll", "s", "org.kde.StatusNotifierItem")

    def menu(self) -> dict[str, int]:
        """The numbers of the items in the menu, by their labels; of a menu below it by LABEL/LABEL."""
        return {label: number for label, (number, _) in self.entries().items()}

    def entries(self) -> dict[str, tuple[int, dict[str, Any]]]:
        """The numbers and properties of the items in the menu, by their labels."""
        found: dict[str, tuple[int, dict[str, Any]]] = {}

        def visit(item: tuple[int, dict[str, Any], list[Any]], above: str) -> None:
            number, properties, children = item
            label = properties.get("label", "")
            if label:
                found[above + label] = (number, properties)
            for child in children:
                visit(child, f"{above}{label}/" if label else "")

        _revision, root = ask(self, MENU, "com.canonical.dbusmenu.GetLayout", "iias", 0, -1, [])
        visit(root, "")
        return found

    def wait_for_entry(self, label: str) -> int:
        """Waits until the menu has an item with this label, and returns its number."""
        wait(lambda: label in self.menu(), f"“{label}” in the menu; there are {list(self.menu())}")
        return self.menu()[label]

    def click(self, number: int) -> None:
        """Chooses an item as panels do."""
        ask(self, MENU, "com.canonical.dbusmenu.Event", "isvu", number, "clicked", GLib.Variant("i", 0), 0)
