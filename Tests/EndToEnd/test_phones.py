# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is current goes to a telephone that KDE Connect, GSConnect or Valent reaches."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from buses import BUS, ROOT, wait
from clients import Client
from editors import started
from gi.repository import GLib
from notifications import PlainServer
from phones import Phone, PlayedPhone, crowd
from support import SANITIZED, Machine, private_memory, refused
from surfaces import PanelHost, start_agent
from test_command import done
from test_desktop_entries import have_bus_start, install
from vendor import filled, own_id

ADAPTER = own_id("Phone")
ANNA, BERT = Phone("anna", "Anna"), Phone("bert", "Bert")
PAGE = "https://example.org/a%20b?c=d"


@pytest.fixture
def desk(machine: Machine) -> Machine:
    """A machine on which the bus starts the adapter, and KDE Connect and its like have desktop entries."""
    have_bus_start(machine, ADAPTER, started(machine, "phone"))
    for entry in ("org.kde.kdeconnect.app", "org.gnome.Shell.Extensions.GSConnect", "ca.andyholmes.Valent"):
        install(machine, entry, Implements="")
    return machine


def begin(machine: Machine) -> None:
    """Has the bus start the adapter, as the agent does."""
    machine.session.call("/org/freedesktop/DBus", "org.freedesktop.DBus.StartServiceByName",
                         GLib.Variant("(su)", (ADAPTER, 0)), destination="org.freedesktop.DBus")


def listed(machine: Machine) -> list[str]:
    """The names of the telephones that something can be sent to."""
    return [phone["Name"] for phone in machine.session.get(ROOT, "Phones.Phones")]


def send(machine: Machine, phone_id: str) -> None:
    machine.session.call(ROOT, "Phones.Send", GLib.Variant("(s)", (phone_id,)))


def show_page(machine: Machine) -> Client:
    client = Client(machine)
    client.create(Title="A page", WebpageURL=PAGE).become_current()
    return client


@pytest.mark.parametrize("shape", ("kdeconnect-old", "kdeconnect", "gsconnect", "valent"))
def test_page_and_document(desk: Machine, shape: str) -> None:
    """A page or a document that is current goes to a telephone that is reached and paired, and to no other; by its name on the
    command line."""
    there = PlayedPhone(desk, ANNA, BERT._replace(reachable=False), Phone("carl", "Carl", paired=False), shape=shape)
    client = show_page(desk)
    begin(desk)
    wait(lambda: listed(desk) == [ANNA.name], "the telephone")
    assert ANNA.name in done(desk.run("handoff", "send", ANNA.name.upper()))
    document = desk.folder / "A letter #1.txt"
    document.write_text("Dear all")
    client.create(Title="A letter", DocumentURL=document.as_uri()).become_current()
    answer = json.loads(done(desk.run("handoff", "send", "--json", ANNA.name)))
    assert answer["name"] == ANNA.name and answer["phone"].endswith("/anna")
    assert there.shared == [("anna", PAGE), ("anna", document.as_uri())]


def test_list_follows(desk: Machine) -> None:
    """The list follows the telephones that come, go and are renamed, and is empty while what is current is neither a page nor a
    document, while Handoff is off, and when nobody reaches them any more; then the adapter ends."""
    there = PlayedPhone(desk, ANNA)
    begin(desk)
    client = Client(desk)
    client.create(Title="Nothing to be sent").become_current()
    assert listed(desk) == []
    client.create(Title="A page", WebpageURL=PAGE).become_current()
    wait(lambda: listed(desk) == [ANNA.name], "the telephone")
    there.add(BERT)
    wait(lambda: set(listed(desk)) == {ANNA.name, BERT.name}, "both")
    there.change("anna", reachable=False)
    wait(lambda: listed(desk) == [BERT.name], "the one that is left")
    there.change("bert", shares=False)
    wait(lambda: listed(desk) == [], "none that takes anything")
    there.change("bert", shares=True, name="Berta")
    wait(lambda: listed(desk) == ["Berta"], "its new name")
    desk.session.set(ROOT, "Preferences.Enabled", GLib.Variant("b", False))
    wait(lambda: listed(desk) == [], "nothing while Handoff is off")
    desk.session.set(ROOT, "Preferences.Enabled", GLib.Variant("b", True))
    wait(lambda: listed(desk) == ["Berta"], "it again")
    there.vanish()
    wait(lambda: listed(desk) == [], "the end of the list")
    wait(lambda: not desk.session.owner(ADAPTER), "the end of the adapter", 20)


def test_refused(desk: Machine) -> None:
    """What is no page of the web, and a file that is empty, a folder or gone, is not handed on, and the user is told why; so are
    a telephone that has left and a program that refuses."""
    there = PlayedPhone(desk, ANNA)
    client = show_page(desk)
    begin(desk)
    wait(lambda: listed(desk), "the telephone")
    empty = desk.folder / "empty.txt"
    empty.write_text("")
    for url in (empty.as_uri(), desk.folder.as_uri(), (desk.folder / "gone.txt").as_uri()):
        client.create(Title="Bad", DocumentURL=url).become_current()
        assert "Only pages and documents" in desk.run("handoff", "send", ANNA.name).stderr
    client.create(Title="A page", WebpageURL=PAGE).become_current()
    with refused("UnknownObject", containing=("nobody",)):
        send(desk, "nobody")
    there.behave("error", "shareUrl")
    assert "did not take it" in desk.run("handoff", "send", ANNA.name).stderr
    assert there.shared == []
    client.create(Title="Nothing to be sent").become_current()
    with refused("NotSupported"):
        send(desk, "org.kde.kdeconnect/anna")


@pytest.mark.parametrize("how", ("hang", "answer", "crowd", "names"))
def test_false_program(desk: Machine, how: str) -> None:
    """A program that calls itself KDE Connect and hangs, answers nonsense, has ten thousand telephones, or names them so that it
    could steer something, harms nobody: at most sixteen are shown, as text."""
    there = PlayedPhone(desk, *(crowd(10_000) if how == "crowd" else [ANNA]))
    if how == "hang":
        there.behave("hang", "deviceNames")
    elif how == "answer":
        there.behave("reply", "deviceNames", value="(['a', 'b'],)")
    elif how == "names":
        there.have(Phone("../../x", "Path"), Phone("a b", "Space"), Phone("x" * 500, "Long"),
                   Phone("bad", "\u001b[2J<b>" + "n" * 1_000_000 + "\n"))
    show_page(desk)
    begin(desk)
    adapter = wait(lambda: desk.session.owner(ADAPTER), "the adapter")
    if how in ("hang", "answer"):
        wait(lambda: there.count("deviceNames"), "it to be asked")
        assert listed(desk) == []
        there.behave("", "deviceNames")
        there.release()
        there.add(BERT)
        wait(lambda: BERT.name in listed(desk), "what it says in the end")
    elif how == "crowd":
        wait(lambda: len(listed(desk)) == 16, "sixteen of them", 20)
    else:
        name = wait(lambda: listed(desk), "the one that has an id")[0]
        assert len(name) <= 64 and "\u001b" not in name and "\n" not in name
    process = desk.session.call("/org/freedesktop/DBus", f"{BUS}.GetConnectionUnixProcessID", GLib.Variant("(s)", (adapter,)),
                                destination=BUS).unpack()[0]
    assert SANITIZED or private_memory(process) < 16 << 20


def test_two_programs(desk: Machine) -> None:
    """A telephone that two programs reach is shown once; what is sent to it by one of them goes to no telephone that calls itself
    so at the other. A program that the user keeps Handoff out of is not asked."""
    kde, gnome = PlayedPhone(desk, ANNA), PlayedPhone(desk, ANNA, BERT, shape="gsconnect")
    show_page(desk)
    begin(desk)
    wait(lambda: sorted(listed(desk)) == [ANNA.name, BERT.name], "both")
    with refused("UnknownObject"):
        send(desk, "org.gnome.Shell.Extensions.GSConnect/anna")
    send(desk, "org.kde.kdeconnect/anna")
    assert (kde.shared, gnome.shared) == ([("anna", PAGE)], [])
    desk.session.set(ROOT, "Preferences.ExcludedApplications", GLib.Variant("as", ["org.kde.kdeconnect.app"]))
    # It is another telephone to its user: what was meant for the one does not go to the other.
    with refused("UnknownObject"):
        send(desk, "org.kde.kdeconnect/anna")
    send(desk, "org.gnome.Shell.Extensions.GSConnect/anna")
    assert (len(kde.shared), gnome.shared) == (1, [("anna", PAGE)])


def test_panel(desk: Machine) -> None:
    """The agent starts the adapter when KDE Connect is there, and the menu in the panel has the telephone below “Send to…”; a
    failure is a notification."""
    folder = Path(desk.environment["XDG_DATA_HOME"], "handoff/adapters")
    folder.mkdir(parents=True)
    (folder / "phone.adapter").write_text(filled(Path(__file__).parents[2] / "data/adapters/phone.adapter.in"))
    there = PlayedPhone(desk, ANNA)
    host, server = PanelHost(desk), PlainServer(desk)
    start_agent(desk)
    show_page(desk)
    wait(lambda: listed(desk) == [ANNA.name], "the telephone")
    host.click(host.wait_for_entry(f"Send to…/{ANNA.name}"))
    wait(lambda: there.shared == [("anna", PAGE)], "the page on the telephone")
    there.behave("error", "shareUrl")
    host.click(host.wait_for_entry(f"Send to…/{ANNA.name}"))
    server.wait_for("Nothing was sent", "did not take it")


def test_adapter_that_is_switched_off(desk: Machine) -> None:
    """The user can switch the adapter off: it ends, and no telephone is shown."""
    PlayedPhone(desk, ANNA)
    show_page(desk)
    begin(desk)
    wait(lambda: listed(desk), "the telephone")
    desk.session.set(ROOT, "Preferences.DisabledAdapters", GLib.Variant("as", ["phone"]))
    wait(lambda: listed(desk) == [] and not desk.session.owner(ADAPTER), "its end")
