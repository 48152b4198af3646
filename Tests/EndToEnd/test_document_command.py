# SPDX-License-Identifier: LGPL-2.1-or-later
"""Documents and pages in a shell: handoff publish --document, --web, and the bar of handoff continue."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from gi.repository import Gio, GLib
from buses import BROKER, BUS, ROOT, wait
from clients import ACTIVITY_TYPE, interface_without
from support import Machine
from terminal import Terminal
from test_command import done, listed, printed

Machines = tuple[Machine, Machine]
OBJECT_MANAGER = f"""<node><interface name="{BUS}.ObjectManager"><method name="GetManagedObjects">
<arg type="a{{oa{{sa{{sv}}}}}}" direction="out"/></method></interface></node>"""
OFFER = f"{ROOT}/remote/{'1' * 64}/{'2' * 32}"


def published(machine: Machine) -> dict[str, GLib.Variant]:
    """What the current activity is, as far as everybody may know."""
    return next(interfaces[f"{BROKER}.Activity"] for interfaces in machine.session.managed_objects().values()
                if f"{BROKER}.Activity" in interfaces)


def test_document(machines: Machines) -> None:
    """“handoff publish” needs nothing but the file: it is offered under its name, whichever way it was named."""
    desk, lap = machines
    (desk.folder / "a folder").mkdir()
    (desk.folder / "a folder" / "Bericht – ü.txt").write_text("hello")
    (desk.folder / "link.txt").symlink_to("a folder/Bericht – ü.txt")
    for path in ("a folder/../a folder/Bericht – ü.txt", str(desk.folder / "a folder" / "Bericht – ü.txt"), "link.txt"):
        desk.start("handoff", "publish", *(["--document"] if path.startswith("a folder") else []), path)
        offers = wait(lambda: {activity["Title"] for activity in [published(desk)]} if
                      any("activities" in path for path in desk.session.managed_objects()) else None, "an activity")
        assert offers == {Path(path).name}
        activity = published(desk)
        assert activity["ActivityType"] == "org.example.Handoff.Document"
        assert activity["ApplicationId"] == "org.example.Handoff.Command"
        assert desk.kill("handoff", signal.SIGINT) == 0


@pytest.mark.parametrize("option", [(b"--document",), ()])
def test_document_whose_name_is_no_text(machines: Machines, option: tuple[bytes, ...]) -> None:
    """A document whose name is not UTF-8 is published: its URL names the very bytes, and its title shows that some are no
    text."""
    desk, lap = machines
    application = ("--app-id", "org.example.Handoff.Command", "--type", "org.example.Handoff.Document")
    lap.start("handoff", "receive", *application, "--once")
    printed(lap, "Waiting")
    name = b"Bericht-\xfc\xff.txt"
    path = os.fsencode(desk.folder) + b"/" + name
    Path(os.fsdecode(path)).write_text("hello")
    argument = os.fsdecode(path if option else b"--document=" + path)
    desk.start("handoff", "publish", *(os.fsdecode(text) for text in option), argument)
    wait(lambda: any("activities" in path for path in desk.session.managed_objects()), "an activity")
    assert published(desk)["Title"] == "Bericht-\ufffd\ufffd.txt"
    done(lap.run("handoff", "continue", listed(lap, "Bericht-\ufffd\ufffd.txt")["activityId"]))
    process = lap.processes.pop("handoff")
    wait(lambda: process.poll() is not None, "the end of handoff receive --once")
    received = json.loads(next(line for line in lap.log("handoff").splitlines() if line.startswith("{")))
    assert Path(received["documentPath"]).read_text() == "hello"


def test_document_with_more(machines: Machines) -> None:
    """A document may have a type, a title, a state and a page of its own, like any activity."""
    desk, lap = machines
    (desk.folder / "a.txt").write_text("hello")
    application = ("--app-id", "org.example.Shell", "--type", "org.example.shell.text")
    lap.start("handoff", "receive", *application)
    printed(lap, "Waiting")
    desk.start("handoff", "publish", *application, "--document", "a.txt", "--title", "Mine", "--user-info", "line:=7",
               "--web", "https://example.com/a")
    offer = listed(lap, "Mine")
    assert (offer["activityType"], offer["applicationId"]) == ("org.example.shell.text", "org.example.Shell")


def test_receive_says_where_the_document_is(machines: Machines) -> None:
    """“handoff receive” prints where the document is on this machine, as a URL and as a path, and for people."""
    desk, lap = machines
    for machine in machines:
        folder = machine.folder / "Cloud"
        folder.mkdir()
        machine.session.set(ROOT, "Preferences.SharedFolders", GLib.Variant("a{ss}", {"Cloud": str(folder)}))
        (folder / "a letter.txt").write_text("hello")
        os.utime(folder / "a letter.txt", (0, 0))
    application = ("--app-id", "org.example.Shell", "--type", "org.example.shell.text")
    lap.start("handoff", "receive", *application, "--once")
    printed(lap, "Waiting")
    desk.start("handoff", "publish", *application, "--document", "Cloud/a letter.txt")
    assert "a letter.txt" in done(lap.run("handoff", "continue", listed(lap, "a letter.txt")["activityId"]))
    process = lap.processes.pop("handoff")
    wait(lambda: process.poll() is not None, "the end of handoff receive --once")
    received = json.loads(next(line for line in lap.log("handoff").splitlines() if line.startswith("{")))
    path = lap.folder / "Cloud" / "a letter.txt"
    assert (received["documentURL"], received["documentPath"]) == (path.as_uri(), str(path))
    assert f"The document is “{path}”." in lap.log("handoff")


def test_page(machines: Machines) -> None:
    """“handoff publish --web” needs nothing but the address: that is its title, and its type that of browsers."""
    desk, _lap = machines
    desk.start("handoff", "publish", "--web", "https://www.example.com/a?b")
    activity = wait(lambda: any("activities" in path for path in desk.session.managed_objects()) and published(desk),
                    "an activity")
    assert activity["ActivityType"] == "org.example.Handoff.BrowsingWeb"
    assert activity["Title"] == "https://www.example.com/a?b"
    assert desk.kill("handoff", signal.SIGINT) == 0
    refused = desk.run("handoff", "publish", "--web", "javascript:alert(1)")
    assert refused.returncode == 1 and "http" in refused.stderr


def test_what_is_no_document(machine: Machine) -> None:
    """What is missing, no regular file or not readable is refused before anything is offered, saying why."""
    os.mkfifo(machine.folder / "pipe")
    (machine.folder / "loop").symlink_to("loop")
    (machine.folder / "a.txt").write_text("hello")
    for name, reason in (("missing", "No such file"), (".", "folder"), ("pipe", "regular"), ("/dev/null", "regular"),
                         ("loop", "links"), ("", "empty"), ("a.txt/b", "Not a directory")):
        path = name and str(machine.folder / name)
        result = machine.run("handoff", "publish", "--document", path)
        assert result.returncode != 0 and reason in result.stderr, (path, result.stderr)
    both = machine.run("handoff", "publish", "--web", "https://a.example/", "--webpage", "https://b.example/")
    assert both.returncode == 2 and "--webpage" in both.stderr
    neither = machine.run("handoff", "publish", "--title", "Nothing")
    assert neither.returncode == 2 and "--type" in neither.stderr


class PretendedBroker:
    """A broker that offers one activity, and whose continuation goes as the test says."""

    def __init__(self, machine: Machine, activity_type: str = ACTIVITY_TYPE) -> None:
        self.activity_type = activity_type
        self.session = machine.connect()
        self.connection = self.session.connection
        # Who continues, once somebody does.
        self.caller = ""
        # Whether it answers Cancel, and the calls that it has not answered.
        self.answers = True
        self.unanswered: list[Gio.DBusMethodInvocation] = []
        manager = Gio.DBusNodeInfo.new_for_xml(OBJECT_MANAGER).interfaces[0]
        self.connection.register_object(ROOT, manager, self._called, None, None)
        self.connection.register_object(OFFER, interface_without("RemoteActivity", ()), self._called, self._get, None)
        self.session.call("/org/freedesktop/DBus", f"{BUS}.RequestName", GLib.Variant("(su)", (BROKER, 0)),
                          destination=BUS)

    def _called(self, _connection: Gio.DBusConnection, sender: str, _path: str, _interface: str, method: str,
                _arguments: GLib.Variant, invocation: Gio.DBusMethodInvocation) -> None:
        if method == "GetManagedObjects":
            about = {"Title": GLib.Variant("s", "Report"), "DeviceName": GLib.Variant("s", "desk"),
                     "Progress": GLib.Variant("d", -1), "ActivityType": GLib.Variant("s", self.activity_type)}
            objects = {OFFER: {f"{BROKER}.RemoteActivity": about}}
            invocation.return_value(GLib.Variant("(a{oa{sa{sv}}})", (objects,)))
        elif method == "Cancel" and not self.answers:
            self.unanswered.append(invocation)
        else:
            self.caller = sender
            invocation.return_value(None)

    def _get(self, *_arguments: object) -> None:
        return None

    def _emit(self, interface: str, member: str, arguments: GLib.Variant) -> None:
        self.connection.emit_signal(self.caller, OFFER, interface, member, arguments)

    def progress(self, share: float) -> None:
        changed = {"Progress": GLib.Variant("d", share)}
        self._emit(f"{BUS}.Properties", "PropertiesChanged",
                   GLib.Variant("(sa{sv}as)", (f"{BROKER}.RemoteActivity", changed, [])))

    def finish(self) -> None:
        self._emit(f"{BROKER}.RemoteActivity", "ContinueFinished", GLib.Variant("(sss)", ("org.example.Editor", "", "")))


@pytest.fixture
def bare(machine_list: list[Machine]) -> Machine:
    """A machine without daemons."""
    machine = Machine("bare")
    machine_list.append(machine)
    return machine


def continuing(bare: Machine, start: Callable[[], object], activity_type: str = ACTIVITY_TYPE) -> PretendedBroker:
    broker = PretendedBroker(bare, activity_type)
    start()
    wait(lambda: broker.caller, "Continue")
    return broker


@pytest.mark.parametrize("locale, full, empty", [("C.UTF-8", "█", "░"), ("C", "#", "-")])
def test_bar(bare: Machine, locale: str, full: str, empty: str) -> None:
    """On a terminal “handoff continue” shows how much of a document is here, as far as that is known, in the characters
    that the terminal has, and at the end nothing of that is left."""
    bare.environment["LANG"] = locale
    terminals: list[Terminal] = []
    broker = continuing(bare, lambda: terminals.append(Terminal(bare, "handoff", "continue", "2" * 32)))
    terminal = terminals[0]
    broker.progress(0.5)
    terminal.until(f"\\r\\[{full * 20}{empty * 20}\\]  50 %")
    broker.progress(-1)
    terminal.until("50 %.*\r\x1b\\[K$")
    for number in range(1000):
        broker.progress(number / 1000)
    terminal.until("99 %")
    assert terminal.text.count("%") < 100, "it is drawn too often"
    broker.finish()
    assert terminal.end() == 0
    said = "Continued “Report” of “desk” in org.example.Editor."
    assert terminal.text.rpartition("\r\x1b[K")[2].strip() == (said if full == "█" else re.sub("[“”]", '"', said))


def test_no_bar(bare: Machine) -> None:
    """Without a terminal, no bar is shown; with --json there is nothing but the object."""
    for options in ((), ("--json",)):
        broker = continuing(bare, lambda: bare.start("handoff", "continue", "2" * 32, *options))
        for share in (0.1, 0.9):
            broker.progress(share)
        broker.finish()
        process = bare.processes.pop("handoff")
        wait(lambda: process.poll() is not None, "the end of handoff continue")
        text = bare.log("handoff")
        assert process.returncode == 0 and "%" not in text and "\r" not in text
        if options:
            assert json.loads(text.splitlines()[-1])["error"] is None
        broker.session.close()
        wait(lambda: not bare.session.owner(BROKER), "the name to be free")


@pytest.mark.parametrize("activity_type, word", [
    (ACTIVITY_TYPE, "Continued"), ("org.example.Handoff.BrowsingWeb", "Opened"),
    ("org.example.Handoff.Document", "Opened")])
def test_what_was_done(bare: Machine, activity_type: str, word: str) -> None:
    """What is nothing but a page or a document is said to be opened, anything else to be continued, and in which
    application."""
    broker = continuing(bare, lambda: bare.start("handoff", "continue", "2" * 32), activity_type)
    broker.finish()
    process = bare.processes.pop("handoff")
    wait(lambda: process.poll() is not None, "the end of handoff continue")
    assert bare.log("handoff") == f"{word} “Report” of “desk” in org.example.Editor.\n"
