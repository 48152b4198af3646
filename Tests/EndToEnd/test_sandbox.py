# SPDX-License-Identifier: LGPL-2.1-or-later
"""Applications in a sandbox, which reach the bus through a filtering proxy, as Flatpak has it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from gi.repository import GLib
from buses import BRIDGE_ROOT, BROKER, ROOT, wait
from clients import APPLICATION_ID, Client, Dock
from sandbox import Sandbox, can_be_made
from support import Machine, refused
from test_desktop_entries import install

TYPE = "com.example.editor.sandboxed"


@pytest.fixture
def sandbox(machines: tuple[Machine, Machine]) -> Iterator[Sandbox]:
    """The sandbox of the editor, on the first machine, where its desktop entry declares a type and a team."""
    desk = machines[0]
    if reason := can_be_made(desk):
        pytest.skip(reason)
    install(desk, APPLICATION_ID, ActivityTypes=TYPE)
    sandbox = Sandbox(desk, APPLICATION_ID)
    witness = Client(desk, types=())
    def declared() -> bool:
        try:
            witness.create(TYPE).invalidate()
        except Exception:
            return False
        return True
    wait(declared, "the desktop entry to count")
    witness.close()
    yield sandbox
    sandbox.close()


def test_sandboxed_application_takes_part(machines: tuple[Machine, Machine], sandbox: Sandbox) -> None:
    """A sandboxed application offers, saves and continues like any other, through the proxy."""
    desk, lap = machines
    boxed, other, dock, own_dock = Client(sandbox, types=()), Client(lap, types=(TYPE,)), Dock(lap), Dock(desk)
    boxed.save(UserInfo={"page": GLib.Variant("u", 3)})
    activity = boxed.create(TYPE, Title="From the box")
    activity.become_current()
    dock.continue_offer(dock.offer("From the box"))
    assert dock.outcome()[1] == ""
    assert other.wait_for("ContinueActivity").arguments.unpack()[0]["UserInfo"] == {"page": 3}
    boxed.wait_for("WasContinued")
    other.create(TYPE, Title="Into the box").become_current()
    own_dock.continue_offer(own_dock.offer("Into the box"))
    assert own_dock.outcome()[1] == ""
    boxed.wait_for("ContinueActivity")
    assert activity.get("Title") == "From the box"
    activity.invalidate()


def test_sandboxed_application_reaches_no_shared_folder(machines: tuple[Machine, Machine], sandbox: Sandbox) -> None:
    """A sandboxed application that names files of a shared folder, which it may not be able to read, gets nothing of
    them by way of another device: its URLs arrive as they left."""
    desk, lap = machines
    for machine in machines:
        folders = GLib.Variant("a{ss}", {"Cloud": str(machine.folder / "Cloud")})
        machine.session.set(ROOT, "Preferences.SharedFolders", folders)
    boxed, other, dock = Client(sandbox, types=()), Client(lap, types=(TYPE,)), Dock(lap)
    url = f"file://{desk.folder}/Cloud/secret"
    boxed.create(TYPE, Title="From the box", UserInfo={"file": GLib.Variant("(sv)", ("url", GLib.Variant("s", url)))}) \
        .become_current()
    dock.continue_offer(dock.offer("From the box"))
    assert other.wait_for("ContinueActivity").arguments.unpack()[0]["UserInfo"] == {"file": ("url", url)}


def test_sandboxed_application_claims_its_own_only(machines: tuple[Machine, Machine], sandbox: Sandbox) -> None:
    """From a sandbox one may claim only the own id, what its desktop entry declares, and a team that is a prefix of it."""
    for application_id, types, options in (
            ("com.example.other", (), {}),
            (APPLICATION_ID, ("com.example.undeclared",), {}),
            (APPLICATION_ID, (), {"Team": GLib.Variant("s", "com.example.other")}),
            (APPLICATION_ID, (), {"Team": GLib.Variant("s", "com.example")}),
            (APPLICATION_ID, (), {"Domains": GLib.Variant("as", ["example.com"])}),
            (APPLICATION_ID, (), {"DocumentTypes": GLib.Variant("a{ss}", {"text/plain": TYPE})})):
        with refused("AccessDenied", containing=("sandbox",)):
            Client(sandbox, application_id, types, options=options)
    Client(sandbox, APPLICATION_ID, (TYPE,), options={"Team": GLib.Variant("s", APPLICATION_ID)})


def test_bridge_does_not_exist_in_a_sandbox(machines: tuple[Machine, Machine]) -> None:
    """A sandboxed client that may talk to the bridge's name finds nothing of its objects."""
    desk, lap = machines
    if reason := can_be_made(desk):
        pytest.skip(reason)
    sandbox = Sandbox(desk, "com.example.curious", f"--talk={BROKER}.Bridge")
    boxed = Client(sandbox, "com.example.curious", (), register=False)
    for member, arguments in (("Connect", GLib.Variant("(s)", ("127.0.0.1:1",))),
                              ("Trust", GLib.Variant("(ss)", ("0" * 64, "x")))):
        with refused("UnknownObject", "AccessDenied"):
            boxed.call(BRIDGE_ROOT, f"Bridge.{member}", arguments)
    with refused("UnknownObject", "AccessDenied"):
        boxed.get_all(BRIDGE_ROOT, "Bridge")
    with refused("UnknownObject", "AccessDenied"):
        boxed.get_all(f"{BRIDGE_ROOT}/devices/{lap.device_id}", "Device")
    assert boxed.managed_objects(BRIDGE_ROOT) == {}
    sandbox.close()


def test_sandbox_that_ends(machines: tuple[Machine, Machine], sandbox: Sandbox) -> None:
    """When a sandbox ends, its activities and offers end."""
    boxed, dock = Client(sandbox, types=()), Dock(machines[1])
    Client(machines[1], types=(TYPE,))
    activity = boxed.create(TYPE, Title="Short-lived")
    activity.become_current()
    path = dock.offer("Short-lived")
    sandbox.close()
    dock.wait_until_gone(path)
