# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the user has chosen: handoff.conf, which the broker alone writes, and its properties on the bus."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from gi.repository import GLib
from buses import BRIDGE_ROOT, BROKER, ROOT, wait
from clients import Client, Dock
from support import Machine, refused, start_machine

Machines = tuple[Machine, Machine]
BY_HAND = """# Mine, to be kept.
[Device]
# How others see it.
Name=desk

[Handoff]
Unknown=1;2
Unknown[de]=eins

[Shared Folders]
Cloud=/home/me/Cloud
"""


def file(machine: Machine) -> Path:
    return machine.folder / "config_home" / "handoff" / "handoff.conf"


def choose(machine: Machine, name: str, value: GLib.Variant) -> None:
    machine.session.set(ROOT, f"Preferences.{name}", value)


def chosen(machine: Machine) -> dict[str, Any]:
    return {name: value.unpack() for name, value in machine.session.get_all(ROOT, "Preferences").items()}


# Those that test_preference_values.py is about, as nobody has chosen them.
OTHERS = {"NotifyOffers": "arrival", "NotifyContinued": True, "ExcludedApplications": [], "DisabledAdapters": [],
          "DocumentsFolder": ""}


def restarted(machine: Machine) -> None:
    """The broker begins anew, with what the file says."""
    machine.kill("handoffd")
    machine.start_broker()


def test_all_are_kept_with_what_else_is_there(machine: Machine) -> None:
    """Each preference is kept over a restart; comments, unknown keys and other groups of the file stay as they are."""
    file(machine).write_text(BY_HAND)
    restarted(machine)
    assert chosen(machine) == {"Enabled": True, "ShowUnhandledOffers": False, "DeviceName": "desk", "Port": 0,
                               "Applications": {}, "SharedFolders": {"Cloud": "/home/me/Cloud"}} | OTHERS
    for name, value in (("Enabled", GLib.Variant("b", False)), ("ShowUnhandledOffers", GLib.Variant("b", True)),
                        ("DeviceName", GLib.Variant("s", "Büro; 2")), ("Port", GLib.Variant("q", 45731)),
                        ("Applications", GLib.Variant("a{ss}", {"com.example.edit": "com.example.notes"}))):
        choose(machine, name, value)
    expected = {"Enabled": False, "ShowUnhandledOffers": True, "DeviceName": "Büro; 2", "Port": 45731,
                "Applications": {"com.example.edit": "com.example.notes"},
                "SharedFolders": {"Cloud": "/home/me/Cloud"}} | OTHERS
    assert chosen(machine) == expected
    assert machine.session.get(ROOT, "Manager.Enabled") is False
    text = file(machine).read_text()
    for line in ("# Mine, to be kept.", "# How others see it.", "Unknown=1;2", "Unknown[de]=eins",
                 "Cloud=/home/me/Cloud"):
        assert line in text
    restarted(machine)
    assert chosen(machine) == expected
    choose(machine, "DeviceName", GLib.Variant("s", ""))
    choose(machine, "Port", GLib.Variant("q", 0))
    assert "Name=" not in file(machine).read_text() and "Port=" not in file(machine).read_text()


def test_one_does_not_undo_the_other(machine: Machine) -> None:
    """A new name does not undo “handoff off”, nor either of them what somebody has written in the file meanwhile."""
    machine.set_enabled(False)
    machine.session.set(BRIDGE_ROOT, "Bridge.DeviceName", GLib.Variant("s", "Other"))
    file(machine).write_text(file(machine).read_text() + "\n[Mine]\nKey=kept\n")
    choose(machine, "ShowUnhandledOffers", GLib.Variant("b", True))
    text = file(machine).read_text()
    assert "Enabled=false" in text and "Name=Other" in text and "Key=kept" in text
    restarted(machine)
    assert chosen(machine)["Enabled"] is False and chosen(machine)["DeviceName"] == "Other"


def test_link_stays(machine: Machine) -> None:
    """A file that its user keeps elsewhere, with a link to it, is changed there."""
    place = machine.folder / "config_home" / "handoff" / "handoff.conf"
    target = machine.folder / "elsewhere.conf"
    place.rename(target)
    place.symlink_to(target)
    machine.set_enabled(False)
    assert place.is_symlink() and "Enabled=false" in target.read_text()


@pytest.mark.parametrize("name", ["a\nb", "\u202ename", "\u2028", "x" * 65, " name"])
def test_name_that_is_none(machine: Machine, name: str) -> None:
    """A name that is too long, or has control characters or space at its ends, is refused, and nothing has changed."""
    before = file(machine).read_text()
    for path, member in ((ROOT, "Preferences.DeviceName"), (BRIDGE_ROOT, "Bridge.DeviceName")):
        with refused("InvalidArgs", containing=("name",)):
            machine.session.set(path, member, GLib.Variant("s", name))
    with refused("InvalidArgs"):
        machine.session.set(BRIDGE_ROOT, "Bridge.DeviceName", GLib.Variant("s", ""))
    assert chosen(machine)["DeviceName"] == machine.session.get(BRIDGE_ROOT, "Bridge.DeviceName") == "desk"
    assert file(machine).read_text() == before


def test_file_that_cannot_be_written(machine: Machine) -> None:
    """Where the file cannot be written the answer says why, and nothing has changed."""
    before = chosen(machine)
    client = Client(machine)
    client.offer("Still offered")
    file(machine).unlink()
    file(machine).mkdir()
    for name, value in (("Enabled", GLib.Variant("b", False)), ("ShowUnhandledOffers", GLib.Variant("b", True)),
                        ("DeviceName", GLib.Variant("s", "Other")), ("Port", GLib.Variant("q", 45731))):
        with refused("Failed", containing=("handoff.conf",)):
            choose(machine, name, value)
    with refused("Failed", "ApplicationFailed", containing=("handoff.conf",)):
        machine.session.set(BRIDGE_ROOT, "Bridge.DeviceName", GLib.Variant("s", "Other"))
    assert chosen(machine) == before
    assert machine.session.get(BRIDGE_ROOT, "Bridge.DeviceName") == "desk"


def test_wrong_type_is_refused(machine: Machine) -> None:
    """A value of another type is refused."""
    for name, value in (("Enabled", GLib.Variant("s", "off")), ("Port", GLib.Variant("i", 70000))):
        with refused("InvalidArgs", containing=(name,)):
            choose(machine, name, value)


def test_changes_are_announced(machine: Machine) -> None:
    """Who follows the broker hears of each change, and the bridge does what it says."""
    dock = Dock(machine)
    choose(machine, "DeviceName", GLib.Variant("s", "Other"))
    choose(machine, "Enabled", GLib.Variant("b", False))

    def announced(name: str, value: Any) -> bool:
        return any(event.member == "PropertiesChanged" and event.path == ROOT
                   and event.arguments.unpack()[0] == f"{BROKER}.Preferences"
                   and event.arguments.unpack()[1].get(name) == value for event in dock.events)

    wait(lambda: announced("DeviceName", "Other") and announced("Enabled", False), "both changes")
    wait(lambda: machine.session.get(BRIDGE_ROOT, "Bridge.DeviceName") == "Other", "the bridge to hear of the name")
    wait(lambda: not machine.session.get(BRIDGE_ROOT, "Bridge.Port"), "the bridge to hear of the switch")


def test_peers_see_a_new_name(machines: Machines) -> None:
    """A name that is chosen, here or at the bridge, is what peers see at once."""
    desk, lap = machines
    Client(lap)
    dock = Dock(lap)
    Client(desk).offer("A letter")
    path = dock.offer("A letter")
    choose(desk, "DeviceName", GLib.Variant("s", "First"))
    wait(lambda: dock.offers[path]["DeviceName"] == "First", "the name")
    desk.session.set(BRIDGE_ROOT, "Bridge.DeviceName", GLib.Variant("s", "Second"))
    assert desk.session.get(BRIDGE_ROOT, "Bridge.DeviceName") == "Second"
    assert chosen(desk)["DeviceName"] == "Second"
    wait(lambda: dock.offers[path]["DeviceName"] == "Second", "the name")


def test_name_without_a_broker(machine: Machine) -> None:
    """Without a broker nobody keeps a new name: the bridge says so, and what to do."""
    before = file(machine).read_text()
    machine.kill("handoffd")
    wait(lambda: not machine.session.owner(BROKER), "the broker to be gone")
    with refused("ConnectionUnavailable", containing=("handoffd",)):
        machine.session.set(BRIDGE_ROOT, "Bridge.DeviceName", GLib.Variant("s", "Other"))
    assert machine.session.get(BRIDGE_ROOT, "Bridge.DeviceName") == "desk"
    assert file(machine).read_text() == before


def test_port(machine: Machine) -> None:
    """The bridge listens on the port that is chosen, at once and after a restart."""
    # None of those that other bridges draw meanwhile, or that the kernel gives to sockets which name none.
    chosen = 25893
    machine.kill("handoff-bridge")
    machine.start("handoff-bridge", "--no-discovery")
    machine.wait_for(f"{BROKER}.Bridge", "handoff-bridge")

    def port() -> int:
        return machine.session.get(BRIDGE_ROOT, "Bridge.Port")

    wait(port, "a port")
    choose(machine, "Port", GLib.Variant("q", chosen))
    wait(lambda: port() == chosen, "the chosen port")
    machine.kill("handoff-bridge")
    machine.start("handoff-bridge", "--no-discovery")
    machine.wait_for(f"{BROKER}.Bridge", "handoff-bridge")
    wait(lambda: port() == chosen, "the chosen port")
    choose(machine, "Port", GLib.Variant("q", 0))
    wait(lambda: port() not in (0, chosen), "another port")


def test_file_with_nonsense(machine_list: list[Machine]) -> None:
    """A name that is none and a port that is none count as not chosen, and can be put right."""
    machine = start_machine(machine_list, "desk")
    file(machine).write_text("[Device]\nName=\\x\n[Network]\nPort=70000\n")
    restarted(machine)
    assert (chosen(machine)["DeviceName"], chosen(machine)["Port"]) == ("", 0)
    choose(machine, "DeviceName", GLib.Variant("s", "desk"))
    assert chosen(machine)["DeviceName"] == "desk"


def hidden(machine: Machine) -> list[dict[str, Any]]:
    return machine.session.get(ROOT, "Manager.HiddenOffers")


def test_hidden_offers(machines: Machines) -> None:
    """What nothing here continues is not listed but told of, with the reason; ShowUnhandledOffers lists it, at once."""
    desk, lap = machines
    dock = Dock(lap)
    activity = Client(desk).offer("A letter")
    (offer,) = wait(lambda: hidden(lap), "a hidden offer")
    assert {name: offer[name] for name in ("DeviceId", "DeviceName", "ActivityId", "Title", "ActivityType")} == {
        "DeviceId": desk.device_id, "DeviceName": "desk", "ActivityId": activity.id, "Title": "A letter",
        "ActivityType": "com.example.editor.edit"}
    assert offer["ApplicationId"] == "com.example.editor" and offer["Since"] > 0
    assert "com.example.editor.edit" in offer["Reason"] and "Install" in offer["Reason"]

    def told() -> list[Any]:
        return [event.arguments.unpack()[1]["HiddenOffers"] for event in dock.events
                if event.member == "PropertiesChanged" and "HiddenOffers" in event.arguments.unpack()[1]]

    wait(lambda: told() and told()[-1] == [offer], "its announcement")
    assert not dock.offers
    dock.follow()
    assert not dock.offers, "it is not listed either"
    choose(lap, "ShowUnhandledOffers", GLib.Variant("b", True))
    with refused("NoApplication", containing=("com.example.editor.edit",)):
        dock.continue_offer(dock.offer("A letter"))
    assert hidden(lap) == []
    choose(lap, "ShowUnhandledOffers", GLib.Variant("b", False))
    wait(lambda: not dock.offers and len(hidden(lap)) == 1, "it to be hidden again")
    Client(lap)
    dock.offer("A letter")
    assert hidden(lap) == []
    wait(lambda: told()[-1] == [], "the announcement that none is hidden")
