# SPDX-License-Identifier: LGPL-2.1-or-later
"""The address book with windows, and others who mean it no good."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable

import pytest
from buses import BROKER, BUS, HANDOFF_ERROR, BusError, properties, wait
from clients import Client, Dock
from contacts import APPLICATION_ID, PROGRAM, Contacts, begin, contact, file_of, not_built, store, stored
from gi.repository import GLib
from streams import Background
from support import Machine, memory, pair, processor_time, start_machine
from test_contacts_handoff import TYPES, Machines, seen

if reason := not_built():
    pytest.skip(reason, allow_module_level=True)

__all__ = ["seen"]
NEVER = 2**63 - 1


def variant(value: object) -> GLib.Variant:
    """A value as a program in Swift sends it."""
    if isinstance(value, GLib.Variant):
        return value
    if isinstance(value, dict):
        return GLib.Variant("a{sv}", {name: variant(entry) for name, entry in value.items()})
    return GLib.Variant({str: "s", int: "x", bool: "b", float: "d"}[type(value)], value)


def form(number: int, modified: int = 1, **values: object) -> dict[str, GLib.Variant]:
    """A contact as it is in an activity."""
    return {"id": variant(f"{number:032x}"), "modified": variant(modified), "values": variant(values)}


def draft(contact: dict[str, GLib.Variant], **values: object) -> dict[str, GLib.Variant]:
    """A form as it is in an activity."""
    everything = {"contact": contact, "base": 1, "cursor": 0, "field": "name", "isChanged": True} | values
    return {name: variant(value) for name, value in everything.items()}


class Peer:
    """A program on another machine that says it is the address book."""

    def __init__(self, machine: Machine, dock: Dock) -> None:
        self.origin, self.dock = Client(machine, application_id=APPLICATION_ID, types=TYPES), dock
        self.count = 0

    def send(self, kind: str, user_info: dict[str, GLib.Variant], **values: object) -> str:
        """Has the other side continue this, and returns the error of the outcome."""
        self.count += 1
        title = f"{kind} {self.count}"
        activity = self.origin.create(f"org.example.contacts.{kind}",
                                      **properties(Title=title, UserInfo=user_info, **values))
        activity.become_current()
        self.dock.continue_offer(self.dock.offer(title))
        wait(lambda: len(self.dock.finished()) >= self.count, f"the outcome of {title}")
        if kind != "list":
            # The streams of a list would end with it.
            activity.invalidate()
        return self.dock.finished()[-1][1]


def test_hostile_forms(seen: Machines) -> None:
    """Forms that are none are refused, and what is one is shown as text and stores nothing"""
    desk, lap = seen
    mine = [contact(1, name="Mine")]
    store(lap, mine)
    window = Contacts(lap, lap.screen)
    window.wait_until(lambda: window.names() == ["Mine"], "the list")
    peer = Peer(desk, Dock(lap))
    good = form(1, name="Ada")
    for user_info in (
            draft({}), draft(form(1), field="__proto__"), draft(form(1), field=7), draft(form(1), cursor="1"),
            draft(form(1), cursor=GLib.Variant("t", 2**64 - 1)), draft(form(1), base=GLib.Variant("d", float("nan"))),
            draft(form(1, name=7)), draft(form(1, name="x" * 100_000)), draft(form(1, name={"a": {"b": "c"}})),
            draft(good | {"id": variant("../../etc/passwd")}), draft(good | {"modified": GLib.Variant("d", 1e300)}),
            draft(form(1, **{f"f{number}": "" for number in range(1_000)}))):
        assert peer.send("edit", user_info) == f"{HANDOFF_ERROR}.ApplicationFailed", user_info
        window.wait_for("label", "Couldn’t Continue from desk")
    assert window.process.poll() is None
    for cursor in (-1, -(2**63), NEVER):
        assert not peer.send("edit", draft(form(2, note="n", name="<b>A&amp;\u202eda</b>\x07"), cursor=cursor, isChanged=False))
        window.wait_for_form(name="<b>A&amp; da</b> ", note="n")
    assert not peer.send("view", form(2, name="<b>A&amp;</b>", note="<span size='999999'>"))
    window.wait_for("label", "<b>A&amp;</b>")
    assert json.loads(file_of(lap).read_text())["contacts"] == mine


def test_end_of_time(seen: Machines) -> None:
    """A contact that another device has changed at the end of time can be edited and stored"""
    desk, lap = seen
    window = Contacts(lap, lap.screen)
    peer = Peer(desk, Dock(lap))
    assert not peer.send("edit", draft(form(1, NEVER, name="Ada"), base=NEVER))
    window.wait_for_form(name="Ada")
    window.focus()
    window.keys("End")
    window.type("X")
    window.keys("ctrl+s")
    window.wait_for_stored("AdaX")


def test_hostile_search(seen: Machines) -> None:
    """What another device has searched for does not stop the window, however much it is"""
    desk, lap = seen
    store(lap, [contact(number, name=f"a b c d {number}", note="a " * 400) for number in range(5_000)])
    window = Contacts(lap, lap.screen)
    window.wait_until(lambda: len(window.names()) > 5, "the list")
    peer = Peer(desk, Dock(lap))

    def begin_stream(_: GLib.Variant) -> None:
        peer.origin.streams[-1].sendall(b'{"version":1,"count":0}\n')
        peer.origin.streams.pop().close()

    peer.origin.answers["DidReceiveStream"] = begin_stream
    before = processor_time(window.process.pid)
    assert not peer.send("list", {"query": variant("a " * 60_000)}, SupportsContinuationStreams=True)
    window.wait_for("label", "All contacts were here already")
    assert processor_time(window.process.pid) - before < 5
    assert len(stored(lap)) == 5_000


def test_hostile_lists(seen: Machines) -> None:
    """Contacts that break off, do not end, or are none change nothing, and take no memory to speak of"""
    desk, lap = seen
    mine = [contact(1, name="Mine")]
    store(lap, mine)
    window = Contacts(lap, lap.screen)
    window.wait_until(lambda: window.names() == ["Mine"], "the list")
    peer = Peer(desk, Dock(lap))
    one = json.dumps({"id": f"{9:032x}", "modified": NEVER, "values": {"name": "Theirs"}}).encode() + b"\n"
    before = memory(lap, PROGRAM)

    def pieces(first: bytes, rest: bytes = b"") -> Callable[[socket.socket], None]:
        def feed(end: socket.socket) -> None:
            end.settimeout(20)
            try:
                end.sendall(first)
                while rest:
                    end.sendall(rest)
            except OSError:
                pass
            end.close()
        return feed

    header = b'{"version":1,"count":%d}\n'
    note = b"x" * 60_000
    big = b'{"id":"%032x","modified":1,"values":{"note":"' + note + b'"}}\n'
    for feed in (
            pieces(b""), pieces(b"\x00" * 100), pieces(b"\xff\xfe\n"), pieces(header % 10_000_000), pieces(header % -1),
            pieces(header % 2 + one), pieces(header % 2 + one + one[:20]), pieces(header % 1 + one + one),
            pieces(header % 2 + one + b"[" * 500_000 + b"\n"), pieces(header % 2 + one + b"{" * 20 + b"\n"),
            pieces(header % 2, b"y" * 65_536), pieces(b"", b"\n"), pieces(header % 100_000, big % 5)):
        feeding: list[Background] = []

        def begin_feeding(_: GLib.Variant) -> None:
            feeding.append(Background(lambda: feed(peer.origin.streams.pop())))

        peer.origin.answers["DidReceiveStream"] = begin_feeding
        assert not peer.send("list", {}, SupportsContinuationStreams=True)
        window.wait_for("label", "Couldn’t Receive Contacts")
        window.answer("Close")
        feeding[0].result(30)
    assert json.loads(file_of(lap).read_text())["contacts"] == mine
    assert memory(lap, PROGRAM) - before < 200 << 20


def connections(machine: Machine, pid: int) -> list[str]:
    """The connections that a process has to the bus: GTK's, and that of Handoff's library."""
    def ask(member: str, *arguments: str) -> object:
        parameters = GLib.Variant("(s)", arguments) if arguments else None
        return machine.session.call("/org/freedesktop/DBus", f"{BUS}.{member}", parameters, destination=BUS).unpack()[0]

    return [name for name in ask("ListNames") if name.startswith(":") and ask("GetConnectionUnixProcessID", name) == pid]


def test_strangers(seen: Machines) -> None:
    """Calls and signals of somebody who is not the broker change nothing"""
    desk, lap = seen
    Client(desk, application_id=APPLICATION_ID, types=TYPES)
    window, dock = Contacts(lap, lap.screen), Dock(desk)
    begin(window, name="Grace")
    path, stranger = dock.offer("Grace"), lap.connect()
    context = {"Continuation": GLib.Variant("o", "/x"), "DeviceName": variant("evil")}
    activity = {"ActivityType": variant(TYPES[0]), "UserInfo": variant(draft(form(1, name="Evil")))}
    object_path = "/org/example/Handoff/activities/1"
    names = connections(lap, window.process.pid)
    assert len(names) == 2
    for name in names:
        for member, arguments in (
                ("Application.ContinueActivity", GLib.Variant("(a{sv}a{sv})", (activity, context))),
                ("Application.WillContinueActivity", GLib.Variant("(sa{sv})", (TYPES[0], context))),
                ("Application.DidFailToContinueActivity", GLib.Variant("(sss)", (TYPES[0], "a.b", "c"))),
                ("ActivityDelegate.WillSave", GLib.Variant("(o)", (object_path,)))):
            with pytest.raises(BusError, match="AccessDenied|UnknownMethod"):
                stranger.call("/org/example/Handoff/client", f"{BROKER}.{member}", arguments, destination=name)
        for where, interface, member, arguments in (
                ("/org/freedesktop/DBus", BUS, "NameOwnerChanged",
                 GLib.Variant("(sss)", (BROKER, lap.session.owner(BROKER), ""))),
                ("/org/example/Handoff", f"{BROKER}.Manager", "RegistrationEnded",
                 GLib.Variant("(ss)", (APPLICATION_ID, "x"))),
                (object_path, f"{BUS}.Properties", "PropertiesChanged",
                 GLib.Variant("(sa{sv}as)", (f"{BROKER}.Activity", {"Current": variant(False)}, [])))):
            for _ in range(200):
                stranger.connection.emit_signal(name, where, interface, member, arguments)
        # What was sent before has been read once this is answered.
        stranger.call("/", f"{BUS}.Peer.Ping", destination=name)
    assert path in dock.offers
    assert window.form() == {"Name": "Grace"}


def test_typing_while_the_broker_dies(seen: Machines) -> None:
    """Nothing that is typed gets lost, however often the broker is killed meanwhile"""
    desk, lap = seen
    window = Contacts(desk, desk.screen)
    Client(lap, application_id=APPLICATION_ID, types=TYPES)
    begin(window, name="A")
    text = "A"
    for number in range(8):
        desk.kill("handoffd")
        window.type(f"b{number}")
        text += f"b{number}"
        desk.start_broker()
        window.type("c")
        text += "c"
    window.wait_for_form(name=text)
    dock = Dock(lap)
    dock.offer(text)
    window.keys("ctrl+s")
    window.wait_for_stored(text)
